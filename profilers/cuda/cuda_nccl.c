/*
 * profilers/cuda/cuda_nccl.c - collectives by NCCL, all ranks of one process:
 * rank r is device r.
 *
 * A run is several collectives one after the other, behind a kernel that spins
 * on every device until all are queued; its time is the slowest rank's between
 * two events, over their number. So it is the time of a collective in a row, as
 * nccl-tests have it, without what a launch of all ranks takes.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <nccl.h>
#include <stdlib.h>
#include <string.h>

#define RANKS_MAX 64

/* Of large messages one is long enough. */
#define IN_A_ROW    20
#define LARGE       ((uint64_t)64 << 20)
#define SPIN_US     200 /* and twice what queueing took the last time */
#define SPIN_MAX_US 100000

struct rank {
    cudaStream_t stream;
    cudaEvent_t begin, end;
    void *in, *out;
};

struct msim_nccl {
    int ranks; /* of the communicators there are; 0: none */
    ncclComm_t comms[RANKS_MAX];
};

struct collective {
    struct msim_cuda *cuda;
    enum msim_collective what;
    ncclDataType_t type;
    uint64_t in, out; /* elements of a rank */
    uint32_t each;    /* bytes of an element */
    int ranks, in_a_row;
    double spin_us;
    struct rank rank[RANKS_MAX];
    cudaStream_t first; /* where rank 0 runs, unless on its own stream */
};

static enum msim_status check(ncclResult_t r, const char *call,
                              struct msim_error *err)
{
    return r == ncclSuccess
               ? MSIM_OK
               : msim_cuda_failed(call, ncclGetErrorString(r), err);
}

#define NCCL(call) check((call), #call, err)

/* ---- the library --------------------------------------------------------- */

void msim_nccl_version(struct msim_json *out)
{
    char text[32] = "unknown";
    int v = 0;

    if (ncclGetVersion(&v) == ncclSuccess)
        snprintf(text, sizeof(text), "%d.%d.%d", v / 10000, v / 100 % 100,
                 v % 100);
    msim_json_text(out, "NCCL", text);
}

static void drop_comms(struct msim_nccl *n)
{
    for (int i = 0; i < n->ranks; i++)
        (void)ncclCommDestroy(n->comms[i]);
    n->ranks = 0;
}

void msim_nccl_free(struct msim_nccl *n)
{
    if (n)
        drop_comms(n);
    free(n);
}

/* Communicators of so many ranks; those of another number are given up. */
static enum msim_status get_comms(struct msim_cuda *c, int ranks,
                                  struct msim_error *err)
{
    int devices[RANKS_MAX];
    enum msim_status status;

    if (!c->nccl)
        c->nccl = calloc(1, sizeof(*c->nccl));
    if (!c->nccl)
        return MSIM_ENOMEM;
    if (c->nccl->ranks == ranks)
        return MSIM_OK;
    drop_comms(c->nccl);
    /* what NCCL_DEBUG asks for: standard output has the answers */
    (void)setenv("NCCL_DEBUG_FILE", "/dev/stderr", 0);
    for (int i = 0; i < ranks; i++)
        devices[i] = i;
    status = NCCL(ncclCommInitAll(c->nccl->comms, ranks, devices));
    if (status == MSIM_OK)
        c->nccl->ranks = ranks;
    return status;
}

/* ---- one collective ------------------------------------------------------ */

static cudaStream_t stream_of(const struct collective *k, int r)
{
    return r == 0 && k->first ? k->first : k->rank[r].stream;
}

/* Every rank sends a share to every other; NCCL has a call of its own for that
 * in newer versions only. */
static enum msim_status all_to_all(struct collective *k, int r,
                                   struct msim_error *err)
{
    uint64_t share = k->in / (uint64_t)k->ranks, bytes = share * k->each;
    struct rank *me = &k->rank[r];
    ncclComm_t comm = k->cuda->nccl->comms[r];
    cudaStream_t stream = stream_of(k, r);

    for (int i = 0; i < k->ranks; i++) {
        MSIM_TRY(NCCL(ncclSend((char *)me->in + (size_t)i * bytes, share,
                               k->type, i, comm, stream)));
        MSIM_TRY(NCCL(ncclRecv((char *)me->out + (size_t)i * bytes, share,
                               k->type, i, comm, stream)));
    }
    return MSIM_OK;
}

/* To the next rank, from the one before, around the ring. */
static enum msim_status send_on(struct collective *k, int r,
                                struct msim_error *err)
{
    struct rank *me = &k->rank[r];
    ncclComm_t comm = k->cuda->nccl->comms[r];
    cudaStream_t stream = stream_of(k, r);

    MSIM_TRY(NCCL(
        ncclSend(me->in, k->in, k->type, (r + 1) % k->ranks, comm, stream)));
    return NCCL(ncclRecv(me->out, k->out, k->type,
                         (r + k->ranks - 1) % k->ranks, comm, stream));
}

static enum msim_status call_rank(struct collective *k, int r,
                                  struct msim_error *err)
{
    struct rank *me = &k->rank[r];
    ncclComm_t comm = k->cuda->nccl->comms[r];
    cudaStream_t stream = stream_of(k, r);

    switch (k->what) {
    case MSIM_COLL_ALL_REDUCE:
        return NCCL(ncclAllReduce(me->in, me->out, k->in, k->type, ncclSum,
                                  comm, stream));
    case MSIM_COLL_ALL_GATHER:
        return NCCL(
            ncclAllGather(me->in, me->out, k->in, k->type, comm, stream));
    case MSIM_COLL_REDUCE_SCATTER:
        return NCCL(ncclReduceScatter(me->in, me->out, k->out, k->type, ncclSum,
                                      comm, stream));
    case MSIM_COLL_BROADCAST:
        return NCCL(
            ncclBroadcast(me->in, me->out, k->in, k->type, 0, comm, stream));
    case MSIM_COLL_REDUCE:
        return NCCL(ncclReduce(me->in, me->out, k->in, k->type, ncclSum, 0,
                               comm, stream));
    case MSIM_COLL_ALL_TO_ALL:
        return all_to_all(k, r, err);
    case MSIM_COLL_SEND:
        return send_on(k, r, err);
    default:
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no such collective of NCCL");
    }
}

/* All ranks of one collective at once; the group is closed whatever happens. */
static enum msim_status call_all(struct collective *k, struct msim_error *err)
{
    enum msim_status status, ended;

    MSIM_TRY(NCCL(ncclGroupStart()));
    status = MSIM_OK;
    for (int r = 0; r < k->ranks && status == MSIM_OK; r++)
        status = call_rank(k, r, err);
    ended = NCCL(ncclGroupEnd());
    return status == MSIM_OK ? ended : status;
}

/* ---- one run ------------------------------------------------------------- */

static enum msim_status spin_all(struct collective *k, struct msim_error *err)
{
    for (int r = 0; r < k->ranks; r++) {
        MSIM_TRY(MSIM_CUDA(cudaSetDevice(r)));
        MSIM_TRY(MSIM_CUDA(msim_kernel_spin(1, k->spin_us, k->rank[r].stream)));
        MSIM_TRY(
            MSIM_CUDA(cudaEventRecord(k->rank[r].begin, k->rank[r].stream)));
    }
    return MSIM_OK;
}

static enum msim_status slowest(struct collective *k, double *us,
                                struct msim_error *err)
{
    *us = 0;
    for (int r = 0; r < k->ranks; r++) {
        float ms = 0;

        MSIM_TRY(MSIM_CUDA(cudaSetDevice(r)));
        MSIM_TRY(MSIM_CUDA(cudaEventSynchronize(k->rank[r].end)));
        MSIM_TRY(MSIM_CUDA(
            cudaEventElapsedTime(&ms, k->rank[r].begin, k->rank[r].end)));
        if (1e3 * (double)ms > *us)
            *us = 1e3 * (double)ms;
    }
    return MSIM_CUDA(cudaSetDevice(0));
}

static enum msim_status time_collective(void *state, double *us,
                                        struct msim_error *err)
{
    struct collective *k = state;
    double begin = msim_cuda_now_us(), queued_us;

    MSIM_TRY(spin_all(k, err));
    for (int i = 0; i < k->in_a_row; i++)
        MSIM_TRY(call_all(k, err));
    for (int r = 0; r < k->ranks; r++) {
        MSIM_TRY(MSIM_CUDA(cudaSetDevice(r)));
        MSIM_TRY(MSIM_CUDA(cudaEventRecord(k->rank[r].end, k->rank[r].stream)));
    }
    queued_us = msim_cuda_now_us() - begin;
    MSIM_TRY(slowest(k, us, err));
    *us /= k->in_a_row;
    k->spin_us = 2 * queued_us + SPIN_US;
    if (k->spin_us > SPIN_MAX_US)
        k->spin_us = SPIN_MAX_US;
    k->cuda->timed.runs++;
    k->cuda->timed.event_us += *us;
    return MSIM_OK;
}

/* ---- the case ------------------------------------------------------------ */

static void release_ranks(void *state)
{
    struct collective *k = state;

    for (int r = 0; r < k->ranks; r++) {
        struct rank *me = &k->rank[r];

        (void)cudaSetDevice(r);
        (void)cudaDeviceSynchronize(); /* what failed was said by then */
        (void)cudaFree(me->in);
        (void)cudaFree(me->out);
        if (me->begin)
            (void)cudaEventDestroy(me->begin);
        if (me->end)
            (void)cudaEventDestroy(me->end);
        if (me->stream)
            (void)cudaStreamDestroy(me->stream);
    }
    (void)cudaSetDevice(0);
    free(k);
}

static enum msim_status make_rank(struct collective *k, int r,
                                  enum msim_dtype dtype, struct msim_error *err)
{
    struct rank *me = &k->rank[r];

    MSIM_TRY(MSIM_CUDA(cudaSetDevice(r)));
    MSIM_TRY(MSIM_CUDA(
        cudaStreamCreateWithFlags(&me->stream, cudaStreamNonBlocking)));
    MSIM_TRY(MSIM_CUDA(cudaEventCreate(&me->begin)));
    MSIM_TRY(MSIM_CUDA(cudaEventCreate(&me->end)));
    MSIM_TRY(msim_cuda_random(&me->in, k->in, dtype, 0, 1, err));
    return msim_cuda_alloc(&me->out, (size_t)k->out * k->each, err);
}

static enum msim_status make_ranks(struct collective *k, enum msim_dtype dtype,
                                   struct msim_error *err)
{
    for (int r = 0; r < k->ranks; r++)
        MSIM_TRY(make_rank(k, r, dtype, err));
    return MSIM_CUDA(cudaSetDevice(0));
}

static bool find_type(enum msim_dtype dtype, ncclDataType_t *out)
{
    static const struct {
        enum msim_dtype dtype;
        ncclDataType_t type;
    } TYPES[] = {
        {MSIM_DT_F64, ncclFloat64}, {MSIM_DT_F32, ncclFloat32},
        {MSIM_DT_F16, ncclFloat16}, {MSIM_DT_BF16, ncclBfloat16},
        {MSIM_DT_I64, ncclInt64},   {MSIM_DT_I32, ncclInt32},
        {MSIM_DT_I8, ncclInt8},     {MSIM_DT_U8, ncclUint8},
    };

    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++) {
        *out = TYPES[i].type;
        if (TYPES[i].dtype == dtype)
            return true;
    }
    return false;
}

static enum msim_status make_collective(struct msim_cuda *c,
                                        const struct msim_experiment *e,
                                        struct collective **out,
                                        struct msim_error *err)
{
    struct collective *k;
    enum msim_status status;
    ncclDataType_t type;

    if (!find_type(e->dtype, &type) || e->work.u.coll.ranks > RANKS_MAX)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no collectives of %s over %lld ranks here",
                         msim_experiment_dtype(e),
                         (long long)e->work.u.coll.ranks);
    MSIM_TRY(get_comms(c, (int)e->work.u.coll.ranks, err));
    k = calloc(1, sizeof(*k));
    if (!k)
        return MSIM_ENOMEM;
    k->cuda = c;
    k->what = e->work.u.coll.collective;
    k->type = type;
    k->each = msim_dtype_bytes(e->dtype);
    k->ranks = (int)e->work.u.coll.ranks;
    k->in_a_row = e->work.u.coll.bytes < LARGE ? IN_A_ROW : 1;
    k->spin_us = SPIN_US;
    msim_collective_elems(k->what, e->work.u.coll.bytes, k->ranks, k->each,
                          &k->in, &k->out);
    status = make_ranks(k, e->dtype, err);
    if (status == MSIM_OK)
        *out = k;
    else
        release_ranks(k);
    return status;
}

/* While they are timed, by events, CUPTI sees nothing: it would make the gaps
 * between them longer. */
static void release(void *state)
{
    struct collective *k = state;
    struct msim_cuda *c = k->cuda;

    release_ranks(k);
    msim_cuda_seen_again(c);
}

enum msim_status msim_cuda_collective(struct msim_cuda *c,
                                      const struct msim_experiment *e,
                                      struct msim_case *out,
                                      struct msim_error *err)
{
    struct collective *k;
    enum msim_status status;

    MSIM_TRY(make_collective(c, e, &k, err));
    status = msim_cuda_unseen(c, err);
    if (status == MSIM_OK)
        *out = (struct msim_case){
            .state = k, .time = time_collective, .release = release};
    else
        release(k);
    return status;
}

static enum msim_status launch(void *state, cudaStream_t stream,
                               struct msim_error *err)
{
    struct collective *k = state;

    k->first = stream;
    return call_all(k, err);
}

enum msim_status msim_cuda_collective_op(struct msim_cuda *c,
                                         const struct msim_experiment *e,
                                         struct msim_cuda_op *out,
                                         struct msim_error *err)
{
    struct collective *k;

    MSIM_TRY(make_collective(c, e, &k, err));
    *out = (struct msim_cuda_op){k, launch, release_ranks, false};
    return MSIM_OK;
}

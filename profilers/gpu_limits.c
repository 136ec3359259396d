/*
 * profilers/gpu_limits.c - which experiments an NVIDIA GPU can run.
 */
#include "profilers/experiment.h"

#include <stdio.h>
#include <string.h>

/* A kind of number, and the tables that have it. */
struct number {
    const char *text;
    enum msim_dtype dtype;
    bool tf32;
    int capability; /* from which on */
    bool gemm, conv, vector;
};

/*
 * "CUDA C++ Programming Guide", "Arithmetic instructions" and "Tensor core
 * operations by compute capability": tensor cores take fp16 from 7.0 on, int8
 * from 7.2, bfloat16 and tf32 from 8.0, fp8 from 8.9. cuBLAS multiplies
 * bfloat16 on older ones, too, but converts it first.
 */
static const struct number NUMBERS[] = {
    {"fp64", MSIM_DT_F64, false, 0, true, false, true},
    {"fp32", MSIM_DT_F32, false, 0, true, true, true},
    {"tf32", MSIM_DT_F32, true, 80, true, true, false},
    {"fp16", MSIM_DT_F16, false, 53, true, true, true},
    {"bfloat16", MSIM_DT_BF16, false, 80, true, true, true},
    {"int8", MSIM_DT_I8, false, 72, true, false, false},
    {"fp8", MSIM_DT_F8, false, 89, true, false, false},
};
#define N_NUMBERS (sizeof(NUMBERS) / sizeof(*NUMBERS))

static bool of_table(const struct number *n, enum msim_table table)
{
    switch (table) {
    case MSIM_TABLE_GEMM:
        return n->gemm;
    case MSIM_TABLE_CONV:
        return n->conv;
    case MSIM_TABLE_VECTOR:
        return n->vector;
    default:
        return false;
    }
}

static enum msim_status no(struct msim_error *err, const char *what)
{
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "%s", what);
}

static enum msim_status check_dtype(const struct msim_gpu_limits *l,
                                    const struct msim_experiment *e,
                                    struct msim_error *err)
{
    for (size_t i = 0; i < N_NUMBERS; i++) {
        const struct number *n = &NUMBERS[i];

        if (n->dtype != e->dtype || n->tf32 != e->tf32 ||
            !of_table(n, e->table))
            continue;
        if (l->capability >= n->capability)
            return MSIM_OK;
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "%s wants compute capability %d.%d, this is %d.%d",
                         n->text, n->capability / 10, n->capability % 10,
                         l->capability / 10, l->capability % 10);
    }
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "no '%s' of %s here", msim_table_text(e->table),
                     msim_experiment_dtype(e));
}

/* cuBLASLt, "cublasLtMatmul(): supported types": products of 8-bit numbers want
 * k innermost in both, and sizes that are whole vectors. */
static enum msim_status check_gemm(const struct msim_experiment *e,
                                   struct msim_error *err)
{
    int whole = e->dtype == MSIM_DT_F8 ? 16 : 4;

    if (e->dtype != MSIM_DT_F8 && e->dtype != MSIM_DT_I8)
        return MSIM_OK;
    if (e->work.u.gemm.a_transposed || !e->work.u.gemm.b_transposed)
        return no(err, "products of 8-bit numbers want layout NT");
    if (e->work.u.gemm.m % whole || e->work.u.gemm.n % whole ||
        e->work.u.gemm.k % whole)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "products of %s want m, n and k in multiples of %d",
                         msim_experiment_dtype(e), whole);
    return MSIM_OK;
}

static enum msim_status check_ranks(const struct msim_gpu_limits *l,
                                    const struct msim_experiment *e,
                                    struct msim_error *err)
{
    if (e->work.u.coll.nodes > 1)
        return no(err, "not run: 1 node");
    if ((int64_t)e->work.u.coll.ranks > l->gpus)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "not run: %d GPU%s", l->gpus, l->gpus == 1 ? "" : "s");
    if (e->work.u.coll.collective == MSIM_COLL_SEND && e->work.u.coll.ranks < 2)
        return no(err, "a rank alone sends to nobody");
    return MSIM_OK;
}

static enum msim_status check_copy(const struct msim_gpu_limits *l,
                                   const struct msim_experiment *e,
                                   struct msim_error *err)
{
    bool host =
        e->u.copy.op == MSIM_COPY_WAY_H2D || e->u.copy.op == MSIM_COPY_WAY_D2H;

    if (e->u.copy.op == MSIM_COPY_WAY_P2P && l->gpus < 2)
        return no(err, "not run: 1 GPU");
    if (e->u.copy.pageable && !host)
        return no(err, "no memory of the host takes part in that");
    return MSIM_OK;
}

/* A tenth is left for scratch memory and for what runs beside. */
#define ROOM 0.9

static enum msim_status check_room(const struct msim_gpu_limits *l,
                                   const struct msim_experiment *e,
                                   struct msim_error *err)
{
    double bytes = msim_experiment_bytes(e);

    if (bytes <= ROOM * l->free_bytes)
        return MSIM_OK;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                     "takes %.3g GB, %.3g GB are free", bytes * 1e-9,
                     l->free_bytes * 1e-9);
}

enum msim_status msim_gpu_limits_check(const struct msim_gpu_limits *l,
                                       const struct msim_experiment *e,
                                       struct msim_error *err)
{
    switch (e->table) {
    case MSIM_TABLE_GEMM:
        MSIM_TRY(check_dtype(l, e, err));
        MSIM_TRY(check_gemm(e, err));
        break;
    case MSIM_TABLE_CONV:
    case MSIM_TABLE_VECTOR:
        MSIM_TRY(check_dtype(l, e, err));
        break;
    case MSIM_TABLE_COLLECTIVE:
        MSIM_TRY(check_ranks(l, e, err));
        break;
    case MSIM_TABLE_COPY:
        MSIM_TRY(check_copy(l, e, err));
        break;
    case MSIM_TABLE_LATENCY:
        if (e->u.latency >= MSIM_LATENCY_CALL)
            return no(err, "that is a latency of a processor");
        break;
    default:
        break;
    }
    return check_room(l, e, err);
}

/* ---- what a greeting lists ----------------------------------------------- */

/* One vector operator of each sort. More can be asked for (experiment.h), also
 * in fp64. */
static const enum msim_vector_op VECTORS[] = {
    MSIM_VOP_COPY,       MSIM_VOP_ADD,     MSIM_VOP_MUL,          MSIM_VOP_ADDU,
    MSIM_VOP_RELU,       MSIM_VOP_GELU,    MSIM_VOP_TANH,         MSIM_VOP_SUM,
    MSIM_VOP_LAYER_NORM, MSIM_VOP_SOFTMAX, MSIM_VOP_INDEX_SELECT,
};
#define N_VECTORS (sizeof(VECTORS) / sizeof(*VECTORS))

static const char *const CONV[] = {"conv2d_fwd", "conv2d_bwd_data",
                                   "conv2d_bwd_weight"};

/* The last wants somebody to send to. */
static const char *const COLLECTIVES[] = {
    "all_reduce", "all_gather", "reduce_scatter", "broadcast",
    "reduce",     "alltoall",   "send_recv"};
#define N_COLLECTIVES (sizeof(COLLECTIVES) / sizeof(*COLLECTIVES))

/* The last wants two devices. */
static const char *const COPIES[] = {"d2d",   "h2d",          "h2d:pageable",
                                     "d2h",   "d2h:pageable", "read",
                                     "write", "p2p"};
#define N_COPIES (sizeof(COPIES) / sizeof(*COPIES))

/* The `i`-th kind of number that a table lists here, or NULL. */
static const char *number_text(const struct msim_gpu_limits *l,
                               enum msim_table table, uint32_t i)
{
    for (size_t k = 0; k < N_NUMBERS; k++) {
        const struct number *n = &NUMBERS[k];
        bool listed = of_table(n, table) && l->capability >= n->capability &&
                      (table != MSIM_TABLE_VECTOR || n->dtype != MSIM_DT_F64);

        if (listed && i-- == 0)
            return n->text;
    }
    return NULL;
}

static const char *name_of(const struct msim_gpu_limits *l,
                           enum msim_table table, uint32_t i)
{
    bool alone = l->gpus < 2;

    switch (table) {
    case MSIM_TABLE_CONV:
        return i < sizeof(CONV) / sizeof(*CONV) ? CONV[i] : NULL;
    case MSIM_TABLE_VECTOR:
        return i < N_VECTORS ? msim_vector_op_text(VECTORS[i]) : NULL;
    case MSIM_TABLE_COLLECTIVE:
        return i < N_COLLECTIVES - alone ? COLLECTIVES[i] : NULL;
    case MSIM_TABLE_COPY:
        return i < N_COPIES - alone ? COPIES[i] : NULL;
    case MSIM_TABLE_LATENCY: /* what comes after is a processor's */
        return i < MSIM_LATENCY_CALL ? msim_latency_text((enum msim_latency)i)
                                     : NULL;
    default:
        return NULL;
    }
}

bool msim_gpu_limits_kind(const struct msim_gpu_limits *l,
                          enum msim_table table, uint32_t i, char *text,
                          size_t size)
{
    uint32_t n = 0;
    const char *name;

    while (number_text(l, table, n))
        n++;
    if (table == MSIM_TABLE_GEMM) {
        name = number_text(l, table, i);
        if (name)
            snprintf(text, size, "%s", name);
        return name != NULL;
    }
    name = name_of(l, table, n ? i / n : i);
    if (name && n)
        snprintf(text, size, "%s:%s", name, number_text(l, table, i % n));
    else if (name)
        snprintf(text, size, "%s", name);
    return name != NULL;
}

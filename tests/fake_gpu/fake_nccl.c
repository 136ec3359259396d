/*
 * tests/fake_gpu/fake_nccl.c - NCCL of the made-up GPUs.
 *
 * What ranks call between ncclGroupStart() and ncclGroupEnd() begins when the
 * last of them is ready, and ends on all at once.
 */
#include "tests/fake_gpu/fake.h"

#include <math.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL_NS   1500
#define LAUNCH_NS 4500
#define BUS       380e9 /* bytes/s that a rank sends */
#define BASE_US   8.0
#define STEP_US   2.5 /* a doubling of ranks */
#define ALONE     1.5e12

struct ncclComm {
    int rank, ranks;
};

/* What a rank has called for in this group. */
static struct {
    int depth;
    struct {
        cudaStream_t stream;
        double wire; /* bytes */
        int ranks;
        bool called;
    } of[FAKE_GPUS];
} group;

#define CALL(error)                                                            \
    do {                                                                       \
        if (!fake_call(__func__, CALL_NS))                                     \
            return (error);                                                    \
    } while (0)

ncclResult_t ncclGetVersion(int *version)
{
    CALL(ncclSystemError);
    *version = 22809;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static char text[48];

    snprintf(text, sizeof(text), "made-up NCCL error %d", (int)result);
    return text;
}

ncclResult_t ncclCommInitAll(ncclComm_t *comms, int n, const int *devices)
{
    CALL(ncclSystemError);
    for (int i = 0; i < n; i++) {
        if (devices[i] >= fake_devices())
            return ncclInvalidArgument;
        comms[i] = calloc(1, sizeof(*comms[i]));
        if (!comms[i])
            return ncclSystemError;
        *comms[i] = (struct ncclComm){devices[i], n};
    }
    /* as NCCL says it where it is asked to, and where it is told */
    if (getenv("NCCL_DEBUG"))
        fprintf(getenv("NCCL_DEBUG_FILE") ? stderr : stdout,
                "fake NCCL INFO %d ranks\n", n);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    CALL(ncclInvalidArgument);
    free(comm);
    return ncclSuccess;
}

/* ---- groups -------------------------------------------------------------- */

static double seconds(double wire, int ranks)
{
    double us = BASE_US + STEP_US * log2(ranks > 1 ? ranks : 1);

    return 1e-6 * us + wire / (ranks > 1 ? BUS : ALONE);
}

/* Put on every stream what was called for, from the same moment on. */
static void run_group(void)
{
    uint64_t ready = 0;

    for (int r = 0; r < FAKE_GPUS; r++)
        if (group.of[r].called &&
            fake_stream(group.of[r].stream)->free_at > ready)
            ready = fake_stream(group.of[r].stream)->free_at;
    for (int r = 0; r < FAKE_GPUS; r++) {
        struct fake_work w = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                              .name = "ncclDevKernel_fake",
                              .grid = 16,
                              .block = 512,
                              .load = 0.2};

        if (!group.of[r].called)
            continue;
        group.of[r].called = false;
        w.least_us = 1e6 * seconds(group.of[r].wire, group.of[r].ranks);
        group.of[r].wire = 0;
        (void)fake_call("cuLaunchKernelEx", LAUNCH_NS);
        (void)fake_submit_at(group.of[r].stream, &w, ready);
    }
}

ncclResult_t ncclGroupStart(void)
{
    CALL(ncclSystemError);
    group.depth++;
    return ncclSuccess;
}

ncclResult_t ncclGroupEnd(void)
{
    CALL(ncclUnhandledCudaError);
    if (--group.depth == 0)
        run_group();
    return ncclSuccess;
}

static double size_of(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
    case ncclUint8:
        return 1;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt64:
    case ncclFloat64:
        return 8;
    default:
        return 4;
    }
}

/* `wire` bytes that a rank sends; its buffers have so many elements. */
static ncclResult_t add(ncclComm_t comm, cudaStream_t stream, double wire,
                        const void *in, double in_bytes, const void *out,
                        double out_bytes)
{
    int r = comm->rank;

    if ((in && !fake_owns(in, in_bytes)) || (out && !fake_owns(out, out_bytes)))
        return ncclUnhandledCudaError;
    group.of[r].called = true;
    group.of[r].stream = stream;
    group.of[r].ranks = comm->ranks;
    group.of[r].wire += wire;
    if (group.depth == 0)
        run_group();
    return ncclSuccess;
}

/* ---- collectives --------------------------------------------------------- */

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream)
{
    double bytes = (double)count * size_of(type), n = comm->ranks;

    (void)op;
    CALL(ncclUnhandledCudaError);
    return add(comm, stream, n > 1 ? 2 * (n - 1) / n * bytes : bytes, in, bytes,
               out, bytes);
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t sent,
                           ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    double bytes = (double)sent * size_of(type), n = comm->ranks;

    CALL(ncclUnhandledCudaError);
    return add(comm, stream, (n - 1) * bytes, in, bytes, out, n * bytes);
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t received,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, cudaStream_t stream)
{
    double bytes = (double)received * size_of(type), n = comm->ranks;

    (void)op;
    CALL(ncclUnhandledCudaError);
    return add(comm, stream, (n - 1) * bytes, in, n * bytes, out, bytes);
}

ncclResult_t ncclBroadcast(const void *in, void *out, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream)
{
    double bytes = (double)count * size_of(type);

    CALL(ncclUnhandledCudaError);
    return add(comm, stream, bytes, comm->rank == root ? in : NULL, bytes, out,
               bytes);
}

ncclResult_t ncclReduce(const void *in, void *out, size_t count,
                        ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, cudaStream_t stream)
{
    double bytes = (double)count * size_of(type);

    (void)op;
    CALL(ncclUnhandledCudaError);
    return add(comm, stream, bytes, in, bytes, comm->rank == root ? out : NULL,
               bytes);
}

ncclResult_t ncclSend(const void *in, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, cudaStream_t stream)
{
    double bytes = (double)count * size_of(type);

    CALL(ncclUnhandledCudaError);
    return add(comm, stream, peer == comm->rank ? 0 : bytes, in, bytes, NULL,
               0);
}

ncclResult_t ncclRecv(void *out, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream)
{
    (void)peer;
    CALL(ncclUnhandledCudaError);
    return add(comm, stream, 0, NULL, 0, out, (double)count * size_of(type));
}

/*
 * profilers/cuda/cuda_copy.c - copies between host and device, within a device
 * and between two, and reading or writing alone.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

struct copy {
    enum msim_copy_way op;
    size_t bytes;
    unsigned sms;
    void *from, *to; /* on the device, or the host's side of a copy */
    bool pageable;
};

static enum msim_status launch(void *state, cudaStream_t stream,
                               struct msim_error *err)
{
    const struct copy *k = state;

    switch (k->op) {
    case MSIM_COPY_WAY_H2D:
        return MSIM_CUDA(cudaMemcpyAsync(k->to, k->from, k->bytes,
                                         cudaMemcpyHostToDevice, stream));
    case MSIM_COPY_WAY_D2H:
        return MSIM_CUDA(cudaMemcpyAsync(k->to, k->from, k->bytes,
                                         cudaMemcpyDeviceToHost, stream));
    case MSIM_COPY_WAY_D2D:
        return MSIM_CUDA(cudaMemcpyAsync(k->to, k->from, k->bytes,
                                         cudaMemcpyDeviceToDevice, stream));
    case MSIM_COPY_WAY_P2P:
        return MSIM_CUDA(
            cudaMemcpyPeerAsync(k->to, 1, k->from, 0, k->bytes, stream));
    case MSIM_COPY_WAY_READ:
        return MSIM_CUDA(
            msim_kernel_read(k->from, k->to, k->bytes, k->sms, stream));
    default:
        return MSIM_CUDA(msim_kernel_write(k->to, k->bytes, k->sms, stream));
    }
}

static void free_host(const struct copy *k, void *p)
{
    if (k->pageable)
        free(p);
    else
        (void)cudaFreeHost(p);
}

static void release(void *state)
{
    struct copy *k = state;

    if (k->op == MSIM_COPY_WAY_H2D)
        free_host(k, k->from);
    else
        (void)cudaFree(k->from);
    if (k->op == MSIM_COPY_WAY_D2H)
        free_host(k, k->to);
    else
        (void)cudaFree(k->to);
    free(k);
}

/* Touched, so that every page is there; whole words, as there may be many. */
static enum msim_status make_host(const struct copy *k, void **out,
                                  struct msim_error *err)
{
    if (k->pageable)
        *out = malloc(k->bytes);
    else
        MSIM_TRY(MSIM_CUDA(cudaMallocHost(out, k->bytes)));
    if (!*out)
        return MSIM_ENOMEM;
    for (size_t i = 0; i < k->bytes / sizeof(uint64_t); i++)
        ((uint64_t *)*out)[i] = i * UINT64_C(0x9e3779b97f4a7c15);
    return MSIM_OK;
}

/* Memory of device 1, for what device 0 writes there. */
static enum msim_status make_peer(const struct copy *k, void **out,
                                  struct msim_error *err)
{
    enum msim_status status;
    int can = 0;

    MSIM_TRY(MSIM_CUDA(cudaDeviceCanAccessPeer(&can, 0, 1)));
    if (can) {
        cudaError_t e = cudaDeviceEnablePeerAccess(1, 0);

        if (e == cudaErrorPeerAccessAlreadyEnabled)
            (void)cudaGetLastError(); /* it is none */
        else
            MSIM_TRY(msim_cuda_status(e, "cudaDeviceEnablePeerAccess", err));
    }
    MSIM_TRY(MSIM_CUDA(cudaSetDevice(1)));
    status = msim_cuda_alloc(out, k->bytes, err);
    if (status == MSIM_OK)
        return MSIM_CUDA(cudaSetDevice(0));
    (void)cudaSetDevice(0);
    return status;
}

static enum msim_status make_operands(struct copy *k, struct msim_error *err)
{
    size_t bytes = k->bytes;

    /* kernels move 16 bytes at a time */
    if (k->op == MSIM_COPY_WAY_H2D)
        MSIM_TRY(make_host(k, &k->from, err));
    else if (k->op != MSIM_COPY_WAY_WRITE)
        MSIM_TRY(
            msim_cuda_random(&k->from, bytes + 16, MSIM_DT_U8, 0, 256, err));
    if (k->op == MSIM_COPY_WAY_D2H)
        return make_host(k, &k->to, err);
    if (k->op == MSIM_COPY_WAY_P2P)
        return make_peer(k, &k->to, err);
    if (k->op == MSIM_COPY_WAY_READ)
        bytes = 16;
    return msim_cuda_alloc(&k->to, bytes + 16, err);
}

enum msim_status msim_cuda_copy(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err)
{
    struct copy *k = calloc(1, sizeof(*k));
    enum msim_status status;

    if (!k)
        return MSIM_ENOMEM;
    k->op = e->u.copy.op;
    k->bytes = (size_t)e->u.copy.bytes;
    k->pageable = e->u.copy.pageable;
    k->sms = (unsigned)c->device.multiProcessorCount;
    status = make_operands(k, err);
    /* A copy of pageable memory waits for what is queued before it: nothing
     * must spin there. */
    if (status == MSIM_OK)
        *out = (struct msim_cuda_op){k, launch, release, k->pageable};
    else
        release(k);
    return status;
}

/*
 * profilers/cuda/cuda_base.c - what all cases of the CUDA backend use: errors,
 * memory, and a device that is awake.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <string.h>
#include <time.h>

/* ---- errors and memory --------------------------------------------------- */

/* The call's name alone, without its arguments. */
static int name_length(const char *call)
{
    return (int)strcspn(call, "(");
}

enum msim_status msim_cuda_failed(const char *call, const char *what,
                                  struct msim_error *err)
{
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE, "%.*s: %s",
                     name_length(call), call, what);
}

enum msim_status msim_cuda_status(cudaError_t e, const char *call,
                                  struct msim_error *err)
{
    enum msim_status status = MSIM_EINTERNAL;

    if (e == cudaSuccess)
        return MSIM_OK;
    if (e == cudaErrorMemoryAllocation)
        status = MSIM_ENOMEM;
    else if (e == cudaErrorNotSupported || e == cudaErrorNoKernelImageForDevice)
        status = MSIM_ENOMODEL;
    return msim_fail(err, status, NULL, MSIM_OFFSET_NONE, "%.*s: %s",
                     name_length(call), call, cudaGetErrorString(e));
}

enum msim_status msim_cuda_alloc(void **out, size_t bytes,
                                 struct msim_error *err)
{
    *out = NULL;
    return MSIM_CUDA(cudaMalloc(out, bytes ? bytes : 1));
}

enum msim_status msim_cuda_random(void **out, size_t elems,
                                  enum msim_dtype dtype, double low,
                                  double high, struct msim_error *err)
{
    MSIM_TRY(msim_cuda_alloc(out, elems * msim_dtype_bytes(dtype), err));
    /* the address tells operands of one size apart */
    MSIM_TRY(MSIM_CUDA(msim_kernel_fill(*out, elems, dtype, low, high,
                                        (uint64_t)(uintptr_t)*out, NULL)));
    /* other streams do not wait for this one */
    return MSIM_CUDA(cudaStreamSynchronize(NULL));
}

/* A clock that fell while nothing ran rises under work, in steps of some
 * milliseconds. Between two experiments it hardly falls. */
#define WAKE_US    5000
#define WAKE_STEPS 60
#define GLANCE_US  500
#define STILL_HIGH 0.97

static enum msim_status work_for(struct msim_cuda *c, double us,
                                 struct msim_error *err)
{
    unsigned sms = (unsigned)c->device.multiProcessorCount;

    MSIM_TRY(MSIM_CUDA(msim_kernel_spin(sms, us, c->stream)));
    return MSIM_CUDA(cudaStreamSynchronize(c->stream));
}

enum msim_status msim_cuda_wake(struct msim_cuda *c, struct msim_error *err)
{
    unsigned mhz, best = 0;
    int steady = 0;

    if (c->awake) {
        MSIM_TRY(work_for(c, GLANCE_US, err));
        mhz = msim_nvml_read(c->nvml).sm_mhz;
        if (mhz >= STILL_HIGH * c->awake_mhz)
            return MSIM_OK;
    }
    for (int i = 0; i < WAKE_STEPS && steady < 3; i++) {
        MSIM_TRY(work_for(c, WAKE_US, err));
        mhz = msim_nvml_read_now(c->nvml).sm_mhz;
        steady = mhz > best ? 0 : steady + 1;
        best = mhz > best ? mhz : best;
    }
    c->awake = true;
    c->awake_mhz = best;
    return MSIM_OK;
}

double msim_cuda_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

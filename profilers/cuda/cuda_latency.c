/*
 * profilers/cuda/cuda_latency.c - latencies of launches, waits and events.
 *
 * Host times are of this thread's clock; a time that is too short for it is of
 * many calls. The gap between kernels comes from events around two rows of
 * empty kernels of different length: their difference is of kernels alone.
 * CUPTI is paused meanwhile, since recording makes calls and gaps longer. Times
 * from host to device and back are of CUPTI's clock, which both share.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <stdlib.h>

#define MANY 100 /* launches in a row; a queue has room for about 1000 */
#define FEW  10
#define SPIN 1000 /* us: all of them are queued by then */

struct latency {
    struct msim_cuda *cuda;
    bool unseen; /* CUPTI does not look on */
    enum msim_latency what;
    char *memory; /* 2 KiB, of memsets and copies */
};

static enum msim_status idle(struct msim_error *err)
{
    return MSIM_CUDA(cudaDeviceSynchronize());
}

/* ---- a kernel that does nothing, as an operation ------------------------- */

static enum msim_status launch_empty(void *state, cudaStream_t stream,
                                     struct msim_error *err)
{
    (void)state;
    return MSIM_CUDA(msim_kernel_empty(stream));
}

struct msim_cuda_op msim_cuda_empty(void)
{
    return (struct msim_cuda_op){.launch = launch_empty};
}

/* ---- the host's side ----------------------------------------------------- */

static enum msim_status call_once(struct latency *l, struct msim_error *err)
{
    struct msim_cuda *c = l->cuda;

    switch (l->what) {
    case MSIM_LATENCY_SYNC_STREAM:
        return MSIM_CUDA(cudaStreamSynchronize(c->stream));
    case MSIM_LATENCY_SYNC_DEVICE:
        return MSIM_CUDA(cudaDeviceSynchronize());
    case MSIM_LATENCY_EVENT_RECORD:
        return MSIM_CUDA(cudaEventRecord(c->begin, c->stream));
    case MSIM_LATENCY_EVENT_WAIT:
        return MSIM_CUDA(cudaStreamWaitEvent(c->concurrent, c->begin, 0));
    case MSIM_LATENCY_MEMSET:
        return MSIM_CUDA(cudaMemsetAsync(l->memory, 1, 1024, c->stream));
    case MSIM_LATENCY_MEMCPY:
        return MSIM_CUDA(cudaMemcpyAsync(l->memory, l->memory + 1024, 1024,
                                         cudaMemcpyDeviceToDevice, c->stream));
    default:
        return MSIM_CUDA(msim_kernel_empty(c->stream));
    }
}

/* `times` calls in a row, a call. */
static enum msim_status time_calls(struct latency *l, int times, double *us,
                                   struct msim_error *err)
{
    double begin;

    MSIM_TRY(idle(err));
    begin = msim_cuda_now_us();
    for (int i = 0; i < times; i++)
        MSIM_TRY(call_once(l, err));
    *us = (msim_cuda_now_us() - begin) / times;
    return idle(err);
}

/* One kernel; where on CUPTI's clock it was called for, and waited for. */
static enum msim_status see_one(struct latency *l, double spin_us,
                                uint64_t *called, uint64_t *through,
                                struct msim_cuda_seen *seen,
                                struct msim_error *err)
{
    struct msim_cuda *c = l->cuda;

    MSIM_TRY(idle(err));
    MSIM_TRY(msim_cuda_look(c, 0, 0, seen, err)); /* what was before */
    MSIM_TRY(msim_cuda_cupti_ns(called, err));
    MSIM_TRY(MSIM_CUDA(msim_kernel_busy(spin_us, c->stream)));
    MSIM_TRY(MSIM_CUDA(cudaStreamSynchronize(c->stream)));
    MSIM_TRY(msim_cuda_cupti_ns(through, err));
    MSIM_TRY(msim_cuda_look(c, *called, 1, seen, err));
    if (seen->n == 1)
        return MSIM_OK;
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "CUPTI saw %u kernels, want 1", seen->n);
}

/* From the call to the kernel's start, the device idle; or from the end of a
 * kernel, long enough that the host waits by then, to the end of the wait. */
static enum msim_status time_seen(struct latency *l, double *us,
                                  struct msim_error *err)
{
    bool wake = l->what == MSIM_LATENCY_SYNC_WAKE;
    struct msim_cuda_seen seen;
    uint64_t called, through;
    int64_t ns;

    MSIM_TRY(see_one(l, wake ? SPIN : 0, &called, &through, &seen, err));
    /* whole numbers first: these are times since 1970, 256 ns apart as doubles
     */
    ns = (int64_t)(wake ? through - seen.last_end : seen.first_start - called);
    *us = 1e-3 * (double)ns;
    if (*us > 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "the clocks of host and device are %g us apart", -*us);
}

/* ---- the device's side --------------------------------------------------- */

static enum msim_status queue_row(struct latency *l, int n,
                                  struct msim_error *err)
{
    struct msim_cuda *c = l->cuda;

    for (int i = 0; i < n; i++) {
        MSIM_TRY(MSIM_CUDA(msim_kernel_empty(c->stream)));
        if (l->what != MSIM_LATENCY_EVENT_GAP)
            continue;
        /* there and back: two gaps, and a kernel on the other stream */
        MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->concurrent_end, c->stream)));
        MSIM_TRY(MSIM_CUDA(
            cudaStreamWaitEvent(c->concurrent, c->concurrent_end, 0)));
        MSIM_TRY(MSIM_CUDA(msim_kernel_empty(c->concurrent)));
        MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->concurrent_end, c->concurrent)));
        MSIM_TRY(
            MSIM_CUDA(cudaStreamWaitEvent(c->stream, c->concurrent_end, 0)));
    }
    return MSIM_OK;
}

static enum msim_status time_row(struct latency *l, int n, double *us,
                                 struct msim_error *err)
{
    struct msim_cuda *c = l->cuda;
    float ms = 0;

    MSIM_TRY(MSIM_CUDA(msim_kernel_spin(1, SPIN, c->stream)));
    MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->begin, c->stream)));
    MSIM_TRY(queue_row(l, n, err));
    MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->end, c->stream)));
    MSIM_TRY(idle(err));
    MSIM_TRY(MSIM_CUDA(cudaEventElapsedTime(&ms, c->begin, c->end)));
    *us = 1e3 * (double)ms;
    return MSIM_OK;
}

/* One kernel and the gap after it; between streams half a round. */
static enum msim_status time_gap(struct latency *l, double *us,
                                 struct msim_error *err)
{
    int many = l->what == MSIM_LATENCY_EVENT_GAP ? 3 * FEW : MANY;
    double shorter, longer;

    MSIM_TRY(time_row(l, FEW, &shorter, err));
    MSIM_TRY(time_row(l, many, &longer, err));
    *us = (longer - shorter) / (many - FEW);
    if (l->what == MSIM_LATENCY_EVENT_GAP)
        *us /= 2;
    return MSIM_OK;
}

/* ---- the case ------------------------------------------------------------ */

static enum msim_status time_latency(void *state, double *us,
                                     struct msim_error *err)
{
    struct latency *l = state;

    switch (l->what) {
    case MSIM_LATENCY_LAUNCH:
        return time_calls(l, 1, us, err);
    case MSIM_LATENCY_LAUNCH_START:
    case MSIM_LATENCY_SYNC_WAKE:
        return time_seen(l, us, err);
    case MSIM_LATENCY_KERNEL_GAP:
    case MSIM_LATENCY_EVENT_GAP:
        return time_gap(l, us, err);
    default:
        return time_calls(l, MANY, us, err);
    }
}

static void release(void *state)
{
    struct latency *l = state;

    (void)cudaDeviceSynchronize(); /* what failed was said by then */
    (void)cudaFree(l->memory);
    if (l->unseen)
        msim_cuda_seen_again(l->cuda);
    free(l);
}

enum msim_status msim_cuda_latency(struct msim_cuda *c,
                                   const struct msim_experiment *e,
                                   struct msim_case *out,
                                   struct msim_error *err)
{
    bool seen = e->u.latency == MSIM_LATENCY_LAUNCH_START ||
                e->u.latency == MSIM_LATENCY_SYNC_WAKE;
    enum msim_status status;
    struct latency *l;
    void *memory;

    if (seen && !c->cupti)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "not without CUPTI: %s", c->cupti_why);
    l = calloc(1, sizeof(*l));
    if (!l)
        return MSIM_ENOMEM;
    l->cuda = c;
    l->what = e->u.latency;
    status = msim_cuda_alloc(&memory, 2048, err);
    if (status == MSIM_OK) {
        l->memory = memory;
        status = MSIM_CUDA(msim_kernel_empty(c->stream));
    }
    if (status == MSIM_OK)
        status = MSIM_CUDA(cudaDeviceSynchronize());
    if (status == MSIM_OK && !seen) {
        status = msim_cuda_unseen(c, err);
        l->unseen = true;
    }
    if (status == MSIM_OK)
        *out = (struct msim_case){
            .state = l, .time = time_latency, .release = release};
    else
        release(l);
    return status;
}

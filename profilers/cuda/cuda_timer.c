/*
 * profilers/cuda/cuda_timer.c - one run of an operation, timed.
 *
 * A run is, on one stream: read a buffer of twice the L2 cache, so that nothing
 * of the operands is left there; spin until everything is queued; the
 * operation, between two events. Its time is the sum of what CUPTI saw of its
 * kernels, copies and memsets; where CUPTI sees nothing, it is the time between
 * the events, which is 1 to 3 us more. Both are kept, so that an answer says
 * how far apart they were.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <stdlib.h>

/* Beyond twice what the first launch took: a thread that is interrupted. */
#define SPIN_US     20
#define SPIN_MAX_US 20000

/* Runs beside, when the first guess ended too early, are doubled so often. */
#define DOUBLINGS 12

/* Of a run that CUPTI did not see whole; then the events must do. */
#define RUNS_UNSEEN 3

struct timed_op {
    struct msim_cuda *cuda;
    struct msim_cuda_op op, concurrent;
    bool warm, has_concurrent;
    uint32_t concurrent_runs;
    double spin_us;    /* 0: not known yet */
    uint64_t since_ns; /* of the run, on CUPTI's clock */
};

/*
 * The time of the run that just ended; 0 where CUPTI did not see it whole. A
 * run has as many records as the one that had most.
 */
static enum msim_status read_cupti(struct timed_op *t, double *us,
                                   struct msim_error *err)
{
    struct msim_cuda_timed *timed = &t->cuda->timed;
    uint32_t wanted = timed->kernels ? timed->kernels : 1;
    struct msim_cuda_seen seen;

    MSIM_TRY(msim_cuda_look(t->cuda, t->since_ns, wanted, &seen, err));
    *us = seen.n >= wanted ? seen.us : 0;
    if (seen.n > timed->kernels)
        timed->kernels = seen.n;
    return MSIM_OK;
}

/* ---- one run ------------------------------------------------------------- */

static enum msim_status run_concurrent(struct timed_op *t,
                                       struct msim_error *err)
{
    struct msim_cuda *c = t->cuda;

    for (uint32_t i = 0; i < t->concurrent_runs; i++)
        MSIM_TRY(t->concurrent.launch(t->concurrent.state, c->concurrent, err));
    return MSIM_CUDA(cudaEventRecord(c->concurrent_end, c->concurrent));
}

/* Queue everything of a run; `*queue_us` is what calling for the operation
 * took. */
static enum msim_status queue(struct timed_op *t, double *queue_us,
                              struct msim_error *err)
{
    struct msim_cuda *c = t->cuda;
    unsigned sms = (unsigned)c->device.multiProcessorCount;

    if (!t->warm)
        MSIM_TRY(MSIM_CUDA(
            msim_kernel_flush(c->flush, c->flush_bytes, sms, c->stream)));
    if (t->has_concurrent)
        MSIM_TRY(run_concurrent(t, err));
    if (!t->op.waits && t->spin_us > 0)
        MSIM_TRY(MSIM_CUDA(msim_kernel_spin(1, t->spin_us, c->stream)));
    MSIM_TRY(MSIM_CUDA(cudaEventRecord(c->begin, c->stream)));
    *queue_us = -msim_cuda_now_us();
    MSIM_TRY(t->op.launch(t->op.state, c->stream, err));
    *queue_us += msim_cuda_now_us();
    return MSIM_CUDA(cudaEventRecord(c->end, c->stream));
}

/* Whether what runs beside was still running at the end; it is waited for. */
static enum msim_status outlasted(struct timed_op *t, bool *yes,
                                  struct msim_error *err)
{
    cudaError_t e = cudaEventQuery(t->cuda->concurrent_end);

    *yes = e == cudaErrorNotReady;
    if (e != cudaSuccess && e != cudaErrorNotReady)
        return msim_cuda_status(e, "cudaEventQuery", err);
    return MSIM_CUDA(cudaStreamSynchronize(t->cuda->concurrent));
}

static enum msim_status run_once(struct timed_op *t, double *event_us,
                                 bool *whole, struct msim_error *err)
{
    struct msim_cuda *c = t->cuda;
    double queue_us = 0;
    float ms = 0;

    *whole = true;
    if (c->cupti)
        MSIM_TRY(msim_cuda_cupti_ns(&t->since_ns, err));
    MSIM_TRY(queue(t, &queue_us, err));
    MSIM_TRY(MSIM_CUDA(cudaEventSynchronize(c->end)));
    if (t->has_concurrent)
        MSIM_TRY(outlasted(t, whole, err));
    MSIM_TRY(MSIM_CUDA(cudaEventElapsedTime(&ms, c->begin, c->end)));
    *event_us = 1e3 * (double)ms;
    if (t->spin_us <= 0) { /* the first one: it was not queued ahead */
        t->spin_us = 2 * queue_us + SPIN_US;
        if (t->spin_us > SPIN_MAX_US)
            t->spin_us = SPIN_MAX_US;
    }
    return MSIM_OK;
}

/* Run until what runs beside outlasts it. */
static enum msim_status run_whole(struct timed_op *t, double *event_us,
                                  struct msim_error *err)
{
    bool whole = false;

    for (int i = 0; i <= DOUBLINGS; i++) {
        t->concurrent_runs *= i > 0 ? 2 : 1;
        MSIM_TRY(run_once(t, event_us, &whole, err));
        if (whole)
            return MSIM_OK;
    }
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE,
                     "what runs beside always ends first");
}

static enum msim_status time_op(void *state, double *us, struct msim_error *err)
{
    struct timed_op *t = state;
    struct msim_cuda_timed *timed = &t->cuda->timed;
    double event_us = 0, cupti_us = 0;
    int runs = 0;

    do {
        MSIM_TRY(run_whole(t, &event_us, err));
        if (t->cuda->cupti)
            MSIM_TRY(read_cupti(t, &cupti_us, err));
    } while (t->cuda->cupti && cupti_us <= 0 && ++runs < RUNS_UNSEEN);
    *us = cupti_us > 0 ? cupti_us : event_us;
    timed->runs++;
    timed->seen += cupti_us > 0;
    timed->event_us += event_us;
    timed->cupti_us += cupti_us;
    timed->after = msim_nvml_read(t->cuda->nvml);
    return MSIM_OK;
}

/* Without what runs beside; the state of an answer is that of runs with it. */
static enum msim_status time_alone(void *state, double *us,
                                   struct msim_error *err)
{
    struct timed_op *t = state;
    const struct msim_cuda_timed kept = t->cuda->timed;
    enum msim_status status;

    t->has_concurrent = false;
    status = time_op(state, us, err);
    t->has_concurrent = true;
    t->cuda->timed = kept;
    return status;
}

/* ---- the case ------------------------------------------------------------ */

static void release_op(struct msim_cuda_op *op)
{
    if (op->release)
        op->release(op->state);
}

static void release(void *state)
{
    struct timed_op *t = state;

    (void)cudaDeviceSynchronize(); /* what failed was said by then */
    release_op(&t->op);
    release_op(&t->concurrent);
    free(t);
}

/* The first launch loads code, and says how long a launch takes; without the
 * spinning kernel in front. */
static enum msim_status first_run(struct timed_op *t, struct msim_error *err)
{
    struct msim_cuda_seen forgotten;
    double event_us;
    bool whole;

    MSIM_TRY(t->op.launch(t->op.state, t->cuda->stream, err));
    if (t->has_concurrent)
        MSIM_TRY(t->concurrent.launch(t->concurrent.state, t->cuda->concurrent,
                                      err));
    MSIM_TRY(MSIM_CUDA(cudaDeviceSynchronize()));
    MSIM_TRY(run_once(t, &event_us, &whole, err));
    MSIM_TRY(MSIM_CUDA(cudaDeviceSynchronize()));
    return t->cuda->cupti ? msim_cuda_look(t->cuda, 0, 1, &forgotten, err)
                          : MSIM_OK;
}

enum msim_status msim_cuda_time(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *op,
                                struct msim_cuda_op *concurrent,
                                struct msim_case *out, struct msim_error *err)
{
    struct timed_op *t = calloc(1, sizeof(*t));
    enum msim_status status = MSIM_ENOMEM;

    if (!t) {
        release_op(op);
        if (concurrent)
            release_op(concurrent);
        return status;
    }
    t->cuda = c;
    t->op = *op;
    t->warm = e->warm;
    t->has_concurrent = concurrent != NULL;
    t->concurrent_runs = 1;
    if (concurrent)
        t->concurrent = *concurrent;
    status = first_run(t, err);
    if (status == MSIM_OK)
        *out = (struct msim_case){.state = t,
                                  .time = time_op,
                                  .release = release,
                                  .alone = concurrent ? time_alone : NULL};
    else
        release(t);
    return status;
}

struct msim_cuda_op *msim_cuda_case_op(const struct msim_case *c)
{
    struct timed_op *t = c->state;

    return c->time == time_op && !t->has_concurrent ? &t->op : NULL;
}

enum msim_status msim_cuda_count_case(const struct msim_case *c,
                                      struct msim_counts *out,
                                      struct msim_error *err)
{
    const char *why = NULL;
    struct timed_op *t = c->state;

    if (c->time != time_op)
        why = "of latencies and collectives";
    else if (t->has_concurrent)
        why = "of two operations at a time";
    else if (t->op.waits)
        why = "of copies of pageable memory";
    if (why)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "nothing is counted %s", why);
    return msim_cuda_count(t->cuda, &t->op, t->warm, out, err);
}

/*
 * profilers/cuda/cuda_seen.c - the activities that CUPTI recorded of a run.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/cupti/cupti_trace.h"
#include "profilers/cuda/kernels/kernels.h"

#include <cupti.h>
#include <string.h>
#include <time.h>

/* Times to ask for all records of a run, and what to wait before the second;
 * twice that before the third, and so on: 3 ms in all. */
#define LOOKS  9
#define NAP_NS 12000

/* CUPTI's clock of the device may be off against the host's; a run ends, and
 * the host hears of it, more than that before the next one. */
#define CLOCKS_APART_NS 5000

static bool counts(const struct msim_cuda *c, uint64_t since_ns,
                   const struct msim_gpu_trace *t,
                   const struct msim_gpu_event *e)
{
    return e->kind <= MSIM_GPU_EVENT_SET &&
           e->start_ns + CLOCKS_APART_NS >= since_ns && e->device == 0 &&
           e->stream == c->stream_id &&
           !strstr(msim_strtab_text(t->strings, e->name), MSIM_AUX_PREFIX);
}

static void add(struct msim_cuda_seen *s, const struct msim_gpu_event *e)
{
    if (e->end_ns > e->start_ns)
        s->us += 1e-3 * (double)(e->end_ns - e->start_ns);
    if (s->n == 0 || e->start_ns < s->first_start)
        s->first_start = e->start_ns;
    if (e->end_ns > s->last_end)
        s->last_end = e->end_ns;
    s->n++;
}

/* Add up what was collected, and forget it. */
static enum msim_status take(struct msim_cuda *c, uint64_t since_ns,
                             struct msim_cuda_seen *out)
{
    enum msim_status status;
    struct msim_gpu_trace *t = msim_cupti_lock(&status);

    for (uint32_t i = 0; status == MSIM_OK && i < t->n_events; i++)
        if (counts(c, since_ns, t, &t->events[i]))
            add(out, &t->events[i]);
    if (t)
        msim_gpu_trace_clear(t);
    msim_cupti_unlock();
    return status;
}

/* What CUPTI does not hand over now it never does. */
static enum msim_status heard(struct msim_cuda *c, enum msim_status status)
{
    c->broken |= status != MSIM_OK;
    return status;
}

enum msim_status msim_cuda_look(struct msim_cuda *c, uint64_t since_ns,
                                uint32_t n, struct msim_cuda_seen *out,
                                struct msim_error *err)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    enum msim_status status;

    *out = (struct msim_cuda_seen){0};
    for (int i = 0; i < LOOKS && (i == 0 || out->n < n); i++) {
        if (i > 0) {
            nanosleep(&nap, NULL);
            nap.tv_nsec *= 2;
        }
        /* at last what still is not complete, or it would come to later runs */
        status = msim_cupti_flush(i == LOOKS - 1, err);
        if (status == MSIM_OK)
            status = take(c, since_ns, out);
        MSIM_TRY(heard(c, status));
    }
    return MSIM_OK;
}

enum msim_status msim_cuda_unseen(struct msim_cuda *c, struct msim_error *err)
{
    return heard(c, c->cupti ? msim_cupti_pause(err) : MSIM_OK);
}

void msim_cuda_seen_again(struct msim_cuda *c)
{
    struct msim_error why = {0};

    /* Times without records would be others than those before. */
    if (c->cupti && msim_cupti_resume(&why) != MSIM_OK)
        c->broken = true;
}

enum msim_status msim_cuda_cupti_ns(uint64_t *ns, struct msim_error *err)
{
    if (cuptiGetTimestamp(ns) == CUPTI_SUCCESS)
        return MSIM_OK;
    return msim_cuda_failed("cuptiGetTimestamp", "failed", err);
}

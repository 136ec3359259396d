/*
 * core/graph/rules/graph_company.c - what ran on other streams when a GPU
 * activity began.
 */
#include "core/graph/rules/graph_rules_internal.h"

#include "core/base/containers.h"
#include "core/graph/contention.h"

#include <math.h>
#include <stdlib.h>

/* The activities of one device, which are a range of the trace's. */
struct sweep {
    const struct msim_trace *t;
    const struct msim_company *out;
    struct msim_keyed *starts, *ends, *fillers;
    uint32_t first, n_starts, n_ends, n_fillers;
    struct msim_evq filling; /* by stream; seq counts from `first` */
};

/* From this instant on kernel `k` may have been what others waited for, while
 * it runs; INT64_MAX: never. */
static msim_ps fills_from(const struct msim_trace *t, uint32_t k)
{
    const struct msim_gpu *e = &t->gpu[k];
    double tail = msim_occupancy_tail(t, k), reach;
    msim_ps from;

    if (!(tail * (double)e->dur < (double)e->dur))
        return INT64_MAX;
    reach = 1.5 * tail * (double)e->dur + (double)MSIM_EVENT_MAX;
    from = msim_gpu_end(e) - (msim_ps)ceil(reach);
    return from > e->start ? from : e->start;
}

static void collect(struct sweep *s, uint32_t end)
{
    const struct msim_trace *t = s->t;

    s->n_starts = s->n_ends = s->n_fillers = 0;
    for (uint32_t i = s->first; i < end; i++) {
        msim_ps from = fills_from(t, i);

        s->starts[s->n_starts++] = (struct msim_keyed){t->gpu[i].start, i};
        if (t->gpu[i].dur > 0)
            s->ends[s->n_ends++] =
                (struct msim_keyed){msim_gpu_end(&t->gpu[i]), i};
        if (from != INT64_MAX)
            s->fillers[s->n_fillers++] = (struct msim_keyed){from, i};
    }
    msim_keyed_sort(s->starts, s->n_starts);
    msim_keyed_sort(s->ends, s->n_ends);
    msim_keyed_sort(s->fillers, s->n_fillers);
}

/* What fills the device at `at`, on the first stream that is not `stream`. What
 * is over, or was followed on its stream, is forgotten. */
static uint32_t filler_at(struct sweep *s, msim_ps at, uint32_t stream)
{
    while (s->filling.length) {
        uint32_t k = s->first + msim_evq_first(&s->filling).seq;
        uint32_t own = s->t->gpu[k].stream;

        if (own != stream && msim_graph_running(s->t, own, at) == k)
            return k;
        (void)msim_evq_pop(&s->filling);
    }
    return MSIM_NONE;
}

static void pass(struct sweep *s)
{
    const struct msim_trace *t = s->t;
    uint32_t begun = 0, running = 0, ended = 0, filled = 0;

    for (uint32_t q = 0; q < s->n_starts; q++) {
        uint32_t i = s->starts[q].index, stream = t->gpu[i].stream;
        msim_ps at = s->starts[q].key;

        for (; s->starts[begun].key < at; begun++)
            running += t->gpu[s->starts[begun].index].dur > 0;
        for (; ended < s->n_ends && s->ends[ended].key <= at; ended++)
            running--;
        for (; filled < s->n_fillers && s->fillers[filled].key < at; filled++) {
            uint32_t k = s->fillers[filled].index;

            msim_evq_push(&s->filling, t->gpu[k].stream, k - s->first);
        }
        s->out->filled_by[i] = filler_at(s, at, stream);
        s->out->busy[i] =
            running > (msim_graph_running(t, stream, at) != MSIM_NONE);
    }
}

static enum msim_status sweep_device(struct sweep *s, uint32_t end)
{
    MSIM_TRY(msim_evq_init(&s->filling, end - s->first));
    collect(s, end);
    pass(s);
    msim_evq_release(&s->filling);
    return MSIM_OK;
}

static int64_t device_of(const struct msim_trace *t, uint32_t i)
{
    return t->streams[t->gpu[i].stream].device;
}

/* GPU events come device by device, and stream by stream. */
static enum msim_status sweep_all(struct sweep *s)
{
    const struct msim_trace *t = s->t;

    for (uint32_t end; s->first < t->n_gpu; s->first = end) {
        end = s->first + 1;
        while (end < t->n_gpu && device_of(t, end) == device_of(t, s->first))
            end++;
        MSIM_TRY(sweep_device(s, end));
    }
    return MSIM_OK;
}

enum msim_status msim_company_init(struct msim_company *c,
                                   const struct msim_trace *t)
{
    size_t n = (size_t)t->n_gpu + 1;
    struct sweep s = {
        .t = t, .out = c, .starts = malloc(3 * n * sizeof(*s.starts))};
    enum msim_status status = MSIM_ENOMEM;

    c->filled_by = malloc(n * sizeof(*c->filled_by));
    c->busy = malloc(n * sizeof(*c->busy));
    if (s.starts && c->filled_by && c->busy) {
        s.ends = s.starts + n;
        s.fillers = s.ends + n;
        status = sweep_all(&s);
    }
    free(s.starts);
    return status;
}

void msim_company_release(struct msim_company *c)
{
    free(c->filled_by);
    free(c->busy);
}

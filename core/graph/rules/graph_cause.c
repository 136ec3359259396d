/*
 * core/graph/rules/graph_cause.c - why a GPU activity started when it did.
 */
#include "core/graph/rules/graph_rules_internal.h"

#include <stdlib.h>
#include <string.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/*
 * Clocks of CPU and GPU in one trace agree to about a microsecond, and old
 * traces are rounded to one. A start that is later than this after all its
 * known causes has another one.
 */
#define UNEXPLAINED_MIN (2 * US)
/* More than this from launch or predecessor to start is not a latency. */
#define LATENCY_MAX (100 * US)

/* ---- typical latencies -------------------------------------------------- */

/* So long after a launch a start may still be its latency: the call may have
 * loaded a module or grown a pool before it launched. */
static msim_ps launch_max(const struct msim_trace *t, uint32_t i)
{
    return t->calls[t->gpu[i].call].dur + LATENCY_MAX;
}

/*
 * The 10th percentile is what remains when nothing else delays a start; the
 * median is the usual latency.
 */
static void percentiles(struct msim_keyed *v, uint32_t n, msim_ps otherwise,
                        msim_ps *low, msim_ps *usual)
{
    msim_keyed_sort(v, n);
    *low = n ? v[n / 10].key : otherwise;
    *usual = n ? v[n / 2].key : otherwise;
}

static enum msim_status find_typical(struct msim_causes *c)
{
    const struct msim_trace *t = c->t;
    struct msim_keyed *latency = calloc((size_t)t->n_gpu + 1, sizeof(*latency));
    struct msim_keyed *gap = calloc((size_t)t->n_gpu + 1, sizeof(*gap));
    uint32_t n_latency = 0, n_gap = 0;

    if (!latency || !gap) {
        free(latency);
        free(gap);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];
        bool first = i == t->streams[e->stream].gpu_begin;
        msim_ps before = first ? INT64_MIN / 2 : msim_gpu_end(e - 1), launch;

        if (e->call == MSIM_NONE)
            continue;
        launch = t->calls[e->call].start;
        /* Launched into an idle stream: the time to the start is the latency,
         * unless it is too long for one. */
        if (before < launch && e->start >= launch &&
            e->start - launch <= launch_max(t, i))
            latency[n_latency++].key = e->start - launch;
        /* Queued behind its predecessor: the gap is the device's own, unless
         * it is too long for one: then it waited for another stream. */
        if (launch + LATENCY_MAX < before && e->start >= before &&
            e->start - before <= LATENCY_MAX)
            gap[n_gap++].key = e->start - before;
    }
    percentiles(latency, n_latency, 5 * US, &c->latency, &c->usual_latency);
    percentiles(gap, n_gap, US, &c->gap, &c->usual_gap);
    free(latency);
    free(gap);
    return MSIM_OK;
}

/* ---- other streams ------------------------------------------------------ */

/* A strict order of causes and effects, so that no cycle can be inferred. */
static bool earlier(const struct msim_trace *t, uint32_t a, uint32_t b)
{
    msim_ps x = t->gpu[a].start, y = t->gpu[b].start;

    return x != y ? x < y : a < b;
}

static bool on_other_stream(const struct msim_trace *t, uint32_t a, uint32_t b)
{
    uint32_t s = t->gpu[a].stream, r = t->gpu[b].stream;

    return s != r && t->streams[s].device == t->streams[r].device;
}

/* The latest activity on another stream that ended at `since` or later and
 * before GPU event `i` began, or NONE. */
static uint32_t ended_since(const struct msim_causes *c, uint32_t i,
                            msim_ps since)
{
    const struct msim_trace *t = c->t;
    msim_ps at = t->gpu[i].start + US;

    for (uint32_t k = msim_graph_ended_by(c->r, at); k-- > 0;) {
        uint32_t other = c->r->by_end[k];

        if (msim_gpu_end(&t->gpu[other]) < since)
            break;
        if (on_other_stream(t, other, i) && earlier(t, other, i))
            return other;
    }
    return MSIM_NONE;
}

/* ---- the cause ---------------------------------------------------------- */

static msim_ps least(msim_ps a, msim_ps b)
{
    return a < b ? a : b;
}

/* How long before GPU event `i`, and after `ready`, its device was idle. */
static msim_ps idle_before(const struct msim_causes *c, uint32_t i,
                           msim_ps ready)
{
    const struct msim_trace *t = c->t;
    msim_ps at = t->gpu[i].start;

    if (c->company.busy[i])
        return 0;
    for (uint32_t k = msim_graph_ended_by(c->r, at); k-- > 0;) {
        uint32_t other = c->r->by_end[k];
        msim_ps end = msim_gpu_end(&t->gpu[other]);

        if (end <= ready)
            break;
        if (on_other_stream(t, other, i))
            return at - end;
    }
    return at - ready;
}

/* The later of launch and predecessor keeps its latency, if it is short enough
 * for one. */
static void keep_latency(const struct msim_causes *c, uint32_t i,
                         bool by_stream, struct msim_cause *out)
{
    msim_ps at = c->t->gpu[i].start, lag, max;
    bool launched = out->launch != MSIM_TIME_NONE &&
                    at - out->launch <= launch_max(c->t, i);

    /* A call that took long may have launched after its predecessor ended. */
    if (by_stream && at - out->before > LATENCY_MAX && launched)
        by_stream = false;
    lag = at - (by_stream ? out->before : out->launch);
    max = by_stream ? LATENCY_MAX : launch_max(c->t, i);
    if (lag > max) {
        out->kind = MSIM_CAUSE_UNKNOWN;
        /* The delay that remains when the edge's lag is taken off. */
        out->unknown = lag - (by_stream ? out->stream_lag : out->launch_lag);
        out->after_stream = by_stream;
        out->idle = idle_before(c, i, c->t->gpu[i].start - out->unknown);
        return;
    }
    out->kind = by_stream ? MSIM_CAUSE_STREAM : MSIM_CAUSE_LAUNCH;
    if (by_stream)
        out->stream_lag = lag;
    else
        out->launch_lag = lag;
}

/* When launch and stream order alone would have let it start. */
static msim_ps ready(const struct msim_causes *c, const struct msim_cause *k)
{
    msim_ps at = MSIM_TIME_NONE;

    if (k->launch != MSIM_TIME_NONE)
        at = k->launch + c->latency;
    if (k->before != MSIM_TIME_NONE && k->before + c->gap > at)
        at = k->before + c->gap;
    return at;
}

static struct msim_cause unbound(const struct msim_causes *c, uint32_t i,
                                 bool launched)
{
    const struct msim_gpu *e = &c->t->gpu[i];
    bool first = i == c->t->streams[e->stream].gpu_begin;
    struct msim_cause k = {
        .launch = launched ? c->t->calls[e->call].start : MSIM_TIME_NONE,
        .before = first ? MSIM_TIME_NONE : msim_gpu_end(e - 1),
        .event = MSIM_NONE,
    };

    if (launched)
        k.launch_lag = least(e->start - k.launch, c->usual_latency);
    if (!first)
        k.stream_lag = least(e->start - k.before, c->usual_gap);
    return k;
}

/*
 * The device was full, and the event became ready after the kernel that filled
 * it had begun. Either its latency was that long, or it also waited for an
 * event: for the activity that ended last while the device was full.
 */
static void come_second(const struct msim_causes *c, uint32_t i, uint32_t full,
                        bool by_stream, struct msim_cause *k)
{
    msim_ps from = by_stream ? k->before : k->launch;
    msim_ps *lag = by_stream ? &k->stream_lag : &k->launch_lag;
    msim_ps least_lag = c->t->gpu[full].start - from + 1000;

    if (least_lag <= *lag)
        return;
    if (least_lag < LATENCY_MAX)
        *lag = least_lag;
    else if (!c->recorded)
        k->event = ended_since(c, i, c->t->gpu[full].start - MSIM_EVENT_MAX);
}

struct msim_cause msim_cause_of(const struct msim_causes *c, uint32_t i,
                                bool launched, msim_ps recorded_end)
{
    const struct msim_gpu *e = &c->t->gpu[i];
    struct msim_cause k = unbound(c, i, launched);
    msim_ps at = ready(c, &k), end;
    uint32_t full;
    bool by_stream = k.launch == MSIM_TIME_NONE ||
                     (k.before != MSIM_TIME_NONE &&
                      k.before + c->gap > k.launch + c->latency);

    if (at == MSIM_TIME_NONE) {
        k.kind = MSIM_CAUSE_LAUNCH;
        return k;
    }
    if (recorded_end != MSIM_TIME_NONE && recorded_end > at) {
        k.kind = MSIM_CAUSE_EVENT;
        return k;
    }
    if (e->start - at > UNEXPLAINED_MIN && !c->recorded)
        k.event = ended_since(c, i, e->start + US - MSIM_EVENT_MAX);
    end = k.event == MSIM_NONE ? 0 : msim_gpu_end(&c->t->gpu[k.event]);
    if (k.event != MSIM_NONE && end > k.before && end > k.launch) {
        k.kind = MSIM_CAUSE_EVENT;
        k.event_lag = e->start - end;
        return k;
    }
    k.event = MSIM_NONE;
    full =
        e->start - at > UNEXPLAINED_MIN ? c->company.filled_by[i] : MSIM_NONE;
    if (full != MSIM_NONE) {
        k.kind = MSIM_CAUSE_FULL;
        come_second(c, i, full, by_stream, &k);
        return k;
    }
    keep_latency(c, i, by_stream, &k);
    return k;
}

enum msim_status msim_causes_init(struct msim_causes *c,
                                  const struct msim_rank_tasks *r)
{
    const struct msim_trace *t = r->trace;
    enum msim_status status;

    memset(c, 0, sizeof(*c));
    c->r = r;
    c->t = t;
    for (uint32_t i = 0; i < t->n_syncs; i++)
        c->recorded |= t->syncs[i].kind == MSIM_CALL_STREAM_WAIT;
    status = find_typical(c);
    return status == MSIM_OK ? msim_company_init(&c->company, t) : status;
}

void msim_causes_release(struct msim_causes *c)
{
    msim_company_release(&c->company);
}

/*
 * core/graph/rules/graph_queue.c - the launch queue of a stream.
 *
 * A stream holds a limited number of launches that have not finished; one more
 * blocks the launching thread until the oldest has. So the call that launches
 * the nth waits for the (n - depth)th to end:
 *
 *     end(call of n) >= end(activity n - depth)
 *
 * A CUDA graph is one launch, however many kernels it has.
 *
 * The depth is not documented, and differs: queues also hold what no trace
 * shows, such as records of events and waits for them. Where GPU times may be
 * read, it is found from calls that blocked. These take long, and return with
 * about the same backlog, the launches of their stream that have not finished
 * yet, which is the largest there is; and they return just after an activity
 * has ended. Each of them waits for that activity. The median of their backlogs
 * is the depth for all other calls; a call that returned with more has a depth
 * of its own. So no edge contradicts the traced run, and an entry more or less
 * that the trace does not show changes when a call may return by one activity.
 *
 * Long calls at that backlog which end with nothing are counted, and said.
 */
#include "core/base/quantile.h"
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>

#define US ((msim_ps)MSIM_PS_PER_US)
/* Of a queue that is never seen full. CUDA does not document it; its users
 * measure 1,024. */
#define DEPTH 1024
/* Clocks of CPU and GPU agree to about this. */
#define JITTER (2 * US)
/* A launch that blocks takes longer than one that does not: 5 to 10 us. */
#define LONG_MIN (20 * US)
/* From the end that makes room to the return of the call; 5 to 12 us in
 * traces. */
#define RETURN_MAX (25 * US)
/*
 * A full queue: so many long calls at a backlog not more than an eighth below
 * the largest, half of those at half of it, and no smaller than that. A backlog
 * that grows and shrinks is at any other value as often.
 */
#define CALLS_MIN   8
#define BACKLOG_MIN 128
#define NEAR(most)  ((most) - (most) / 8)
/* Say so where calls that nothing explains take this share of a rank's host
 * time. */
#define WARN_SHARE 100

/* One launch of the stream at hand, in the order of the stream. */
struct launch {
    uint32_t call;    /* NONE: not recorded */
    uint32_t last;    /* its last GPU event */
    uint32_t backlog; /* launches not over when its call returned, itself
                         included; 0: unknown */
};

struct queue {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    const struct msim_trace *t;
    uint32_t stream;
    struct launch *launches;
    uint32_t n;
    double *backlogs; /* of calls: scratch */
    uint32_t depth;
    uint32_t least; /* long calls gather at this backlog and above, or NONE */
    bool full;      /* ... as they found the queue full */
    uint32_t n_unexplained, at; /* at this backlog at least */
    msim_ps unexplained;
};

static msim_ps call_end(const struct msim_call *c)
{
    return c->start + c->dur;
}

/* ---- launches and backlogs ---------------------------------------------- */

static void find_launches(struct queue *q)
{
    const struct msim_stream *s = &q->t->streams[q->stream];

    q->n = 0;
    for (uint32_t i = s->gpu_begin; i < s->gpu_end; i++) {
        uint32_t call = q->t->gpu[i].call;

        if (q->n && call != MSIM_NONE && q->launches[q->n - 1].call == call)
            q->launches[q->n - 1].last = i; /* a graph's next */
        else
            q->launches[q->n++] = (struct launch){call, i, 0};
    }
}

/* How many of the first `n` launches are over at `at`. */
static uint32_t over_by(const struct queue *q, uint32_t n, msim_ps at)
{
    uint32_t lo = 0, hi = n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (msim_gpu_end(&q->t->gpu[q->launches[mid].last]) <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void find_backlogs(struct queue *q)
{
    for (uint32_t k = 0; k < q->n; k++) {
        uint32_t call = q->launches[k].call;

        if (call != MSIM_NONE && q->r->of_call[call] != MSIM_NONE)
            q->launches[k].backlog =
                k + 1 - over_by(q, k, call_end(&q->t->calls[call]) + JITTER);
    }
}

/* Did its call take long, and is no other wait known? */
static bool is_long(const struct queue *q, const struct launch *l)
{
    return l->backlog && q->b->g->traced[q->r->of_call[l->call]] >= LONG_MIN;
}

/* ---- what a blocked call waited for ------------------------------------- */

/* The activity of a stream that ended last while `c` ran, and just before it
 * returned; NONE where none did. */
static uint32_t ended_with(const struct queue *q, uint32_t stream,
                           const struct msim_call *c)
{
    const struct msim_stream *s = &q->t->streams[stream];
    uint32_t lo = s->gpu_begin, hi = s->gpu_end;
    msim_ps end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (msim_gpu_end(&q->t->gpu[mid]) <= call_end(c) + JITTER)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == s->gpu_begin)
        return MSIM_NONE;
    end = msim_gpu_end(&q->t->gpu[lo - 1]);
    return end > c->start && end + RETURN_MAX >= call_end(c) ? lo - 1
                                                             : MSIM_NONE;
}

/* An entry of the queue may also have waited for another stream. */
static uint32_t made_room(const struct queue *q, const struct msim_call *c)
{
    const struct msim_stream *s = q->t->streams;
    uint32_t best = ended_with(q, q->stream, c);

    for (uint32_t i = 0; i < q->t->n_streams && best == MSIM_NONE; i++)
        if (s[i].device == s[q->stream].device)
            best = ended_with(q, i, c);
    return best;
}

/* ---- the depth ---------------------------------------------------------- */

/* Backlogs from `least` on of long calls, into q->backlogs; `explained`: of
 * those that ended with an activity. */
static uint32_t count_long(struct queue *q, uint32_t least, bool explained)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < q->n; k++) {
        const struct launch *l = &q->launches[k];

        if (l->backlog >= least && is_long(q, l) &&
            (!explained || made_room(q, &q->t->calls[l->call]) != MSIM_NONE))
            q->backlogs[n++] = l->backlog;
    }
    return n;
}

/* What was never found full may be deeper than all that was in it. */
static void assume_depth(struct queue *q)
{
    q->depth = DEPTH;
    q->least = MSIM_NONE;
    q->full = false;
    for (uint32_t k = 0; k < q->n; k++)
        if (q->launches[k].backlog > q->depth)
            q->depth = q->launches[k].backlog;
}

static void find_depth(struct queue *q)
{
    uint32_t n = count_long(q, BACKLOG_MIN, false), most = 0, full;

    assume_depth(q);
    if (n < CALLS_MIN)
        return;
    for (uint32_t i = 0; i < n; i++)
        most = q->backlogs[i] > most ? (uint32_t)q->backlogs[i] : most;
    full = count_long(q, NEAR(most), false);
    if (full < CALLS_MIN || 2 * full < count_long(q, most / 2, false))
        return;
    q->least = NEAR(most);
    n = count_long(q, q->least, true);
    q->full = n >= CALLS_MIN && 2 * n >= full;
    if (q->full)
        q->depth = (uint32_t)msim_median(q->backlogs, n);
}

/* ---- edges -------------------------------------------------------------- */

static enum msim_status wait_for(const struct queue *q, uint32_t call,
                                 uint32_t activity, enum msim_edge_source from)
{
    const struct msim_rank_tasks *r = q->r;
    msim_ps end = call_end(&q->t->calls[call]), lag = 0;
    msim_ps room = msim_gpu_end(&q->t->gpu[activity]);

    if (q->b->opt->device_times) {
        lag = room > end ? end - room : 0;
        msim_builder_waited(q->b, r->of_call[call], room + lag);
    }
    return msim_builder_edge(q->b, MSIM_EDGE_QUEUE, from, r->of_gpu[activity],
                             r->of_call[call], lag);
}

/* What a long call at the largest backlog waited for; NONE: it is not known to
 * have waited, or not for what. */
static uint32_t blocked_by(struct queue *q, const struct launch *l)
{
    uint32_t activity = MSIM_NONE;

    if (q->least == MSIM_NONE || l->backlog < q->least || !is_long(q, l))
        return MSIM_NONE;
    if (q->full)
        activity = made_room(q, &q->t->calls[l->call]);
    if (activity == MSIM_NONE) {
        q->n_unexplained++;
        q->unexplained += q->b->g->traced[q->r->of_call[l->call]];
        q->at = q->least;
    }
    return activity;
}

static enum msim_status link_launch(struct queue *q, uint32_t k)
{
    const struct launch *l = &q->launches[k];
    uint32_t depth = l->backlog > q->depth ? l->backlog : q->depth, activity;

    if (l->call == MSIM_NONE || q->r->of_call[l->call] == MSIM_NONE)
        return MSIM_OK;
    activity = blocked_by(q, l);
    if (activity != MSIM_NONE)
        return wait_for(q, l->call, activity, MSIM_FROM_TIMES);
    return k < depth ? MSIM_OK
                     : wait_for(q, l->call, q->launches[k - depth].last,
                                MSIM_FROM_ORDER);
}

static enum msim_status link_stream(struct queue *q)
{
    find_launches(q);
    if (q->b->opt->device_times)
        find_backlogs(q);
    find_depth(q);
    for (uint32_t k = 0; k < q->n; k++)
        MSIM_TRY(link_launch(q, k));
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

static void warn_unexplained(const struct queue *q)
{
    msim_ps host = 0;

    for (uint32_t i = 0; i < q->t->n_calls; i++)
        host += q->t->calls[i].dur;
    if (q->n_unexplained < CALLS_MIN || q->unexplained * WARN_SHARE < host)
        return;
    msim_job_warn(q->b->job,
                  "%u launches of rank %u took %.1f ms in all with the launch "
                  "queue at %u or more, and no activity ended just before "
                  "they returned: their time counts as host work",
                  q->n_unexplained, q->r->rank, (double)q->unexplained / 1e9,
                  q->at);
}

enum msim_status msim_graph_queue(struct msim_graph_builder *b,
                                  struct msim_rank_tasks *r)
{
    size_t room = (size_t)r->trace->n_gpu + 1;
    struct queue q = {.b = b, .r = r, .t = r->trace};
    enum msim_status status = MSIM_OK;

    q.launches = malloc(room * sizeof(*q.launches));
    q.backlogs = malloc(room * sizeof(*q.backlogs));
    if (!q.launches || !q.backlogs)
        status = MSIM_ENOMEM;
    for (; q.stream < q.t->n_streams && status == MSIM_OK; q.stream++)
        status = link_stream(&q);
    if (status == MSIM_OK)
        warn_unexplained(&q);
    free(q.launches);
    free(q.backlogs);
    return status;
}

/*
 * predict/edit/edit_tasks.c - work that is inserted or takes another time, and
 * ranks of differing speed.
 */
#include "predict/edit/edit_internal.h"

#include <math.h>

/* What the edit says that the work takes. */
static enum msim_status cost_of(struct msim_remake *d,
                                struct msim_cost_added *cost)
{
    if (d->edit->op.name)
        return msim_price_op(d, &d->edit->op, cost);
    *cost = msim_remake_given(d->edit->us);
    return MSIM_OK;
}

static enum msim_status want_gpu(struct msim_remake *d, const char *what)
{
    for (uint32_t t = 0; t < d->g->n_tasks; t++)
        if (d->selected[t] && !msim_remake_is_gpu(d, t))
            return msim_remake_refuse(
                d, "'%s' selects work of the host, want work of the GPU to %s",
                d->edit->chosen, what);
    return MSIM_OK;
}

/* ---- replace ------------------------------------------------------------- */

/* The first activity of a call takes all of the time. */
enum msim_status msim_edit_replace(struct msim_remake *d)
{
    struct msim_cost_added cost;

    MSIM_TRY(cost_of(d, &cost));
    if (d->edit->op.name)
        MSIM_TRY(want_gpu(d, "replace"));
    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        if (!d->selected[t])
            continue;
        if (msim_remake_is_gpu(d, t) && !msim_remake_call_begins(d, t))
            msim_remake_remove(d, t, true);
        else
            msim_remake_set(d, t, &cost);
    }
    return MSIM_OK;
}

/* ---- insert -------------------------------------------------------------- */

/* The lane of the rank's stream of that number, or NONE. */
static uint32_t lane_of(const struct msim_remake *d, uint32_t rank)
{
    const struct msim_trace *t = d->g->job->ranks[rank];

    for (uint32_t l = 0; l < d->g->n_lanes; l++)
        if (d->g->lanes[l].device && d->g->lanes[l].rank == rank &&
            d->g->lanes[l].index < t->n_streams &&
            t->streams[d->g->lanes[l].index].id == d->edit->stream)
            return l;
    return MSIM_NONE;
}

/* On a stream that is not the selected work's: after that work, and in the
 * order of its own stream. */
struct aside {
    uint32_t lane, last; /* last: what was inserted there before */
    uint32_t next;       /* tasks before it are looked at */
    uint32_t before;     /* of those the last of the lane, or NONE */
};

/*
 * When an activity began (or, of `end`, ended) in the trace; without GPU events
 * the task that launched it, which counts as well. So what is put behind one
 * activity and before a later one makes no circle.
 */
static msim_ps comes_at(const struct msim_remake *d, uint32_t task, bool end)
{
    const struct msim_task_ref *ref = &d->g->refs[task];
    const struct msim_trace *t = d->g->job->ranks[ref->rank];
    uint32_t host;
    msim_ps lag;

    if (ref->index != MSIM_NONE)
        return t->gpu[ref->index].start + (end ? t->gpu[ref->index].dur : 0);
    host = msim_remake_launcher(d, task, &lag);
    return host == MSIM_NONE ? INT64_MIN : (msim_ps)host;
}

/* The last activity of the lane that begins before task `at` ends. Activities
 * of a stream are in order, so that one walk finds all. */
static uint32_t begun_before(const struct msim_remake *d, struct aside *on,
                             uint32_t at)
{
    msim_ps now = comes_at(d, at, true);

    for (; on->next < d->g->n_tasks; on->next++) {
        uint32_t t = on->next;

        if (d->g->lane[t] != on->lane || !msim_remake_is_gpu(d, t))
            continue;
        if (comes_at(d, t, false) > now)
            break;
        on->before = t;
    }
    return on->before;
}

/* Order on its stream: behind `before` or what was inserted there, and ahead of
 * what comes next. Nothing else waits for it. */
static enum msim_status insert_aside(struct msim_remake *d, uint32_t at,
                                     struct aside *on,
                                     const struct msim_remake_kernel *k)
{
    const struct msim_overlay_task t = {.at = at,
                                        .place = MSIM_OVERLAY_BESIDE,
                                        .kind = MSIM_TASK_KERNEL,
                                        .lane = on->lane,
                                        .op = k->op,
                                        .name = k->name};
    bool there = on->lane < d->g->n_lanes;
    uint32_t before = there ? begun_before(d, on, at) : MSIM_NONE, id;

    MSIM_TRY(msim_remake_add(d, t, &k->cost, &id));
    MSIM_TRY(msim_overlay_tie(&d->overlay, at, id, MSIM_EDGE_EVENT, 0));
    if (before != MSIM_NONE)
        MSIM_TRY(
            msim_overlay_tie(&d->overlay, before, id, MSIM_EDGE_PROGRAM, 0));
    if (on->last != MSIM_NONE)
        MSIM_TRY(
            msim_overlay_tie(&d->overlay, on->last, id, MSIM_EDGE_PROGRAM, 0));
    on->last = id;
    if (!there || on->next >= d->g->n_tasks)
        return MSIM_OK;
    return msim_overlay_tie(&d->overlay, id, msim_remake_begin(d, on->next),
                            MSIM_EDGE_PROGRAM, 0);
}

static enum msim_status find_aside(struct msim_remake *d, uint32_t rank,
                                   struct aside *on)
{
    int64_t number = d->g->job->ranks[rank]->rank;

    if (d->edit->on == MSIM_ON_NEW)
        return msim_overlay_lane(&d->overlay, rank, &on->lane);
    on->lane = lane_of(d, rank);
    if (on->lane != MSIM_NONE)
        return MSIM_OK;
    return number < 0 ? msim_remake_refuse(d, "the trace has no stream %lld",
                                           (long long)d->edit->stream)
                      : msim_remake_refuse(d, "rank %lld has no stream %lld",
                                           (long long)number,
                                           (long long)d->edit->stream);
}

static enum msim_status insert_at(struct msim_remake *d, uint32_t task,
                                  struct aside *on,
                                  struct msim_remake_kernel *k)
{
    uint32_t end = msim_remake_call_end(d, task), id;

    k->at = d->edit->before ? task : end;
    k->before = d->edit->before;
    if (d->edit->on == MSIM_ON_SAME || on->lane == d->g->lane[task])
        return msim_remake_insert(d, k, &id);
    return insert_aside(d, end, on, k);
}

enum msim_status msim_edit_insert(struct msim_remake *d)
{
    const struct msim_edit *e = d->edit;
    struct msim_remake_kernel k = {.op = MSIM_NONE};
    struct aside on = {MSIM_NONE, MSIM_NONE, 0, MSIM_NONE};
    uint32_t lane = MSIM_NONE;

    MSIM_TRY(want_gpu(d, "insert beside"));
    MSIM_TRY(cost_of(d, &k.cost));
    k.name = msim_remake_name(d, e->op.name ? e->op.name : "inserted");
    k.host = msim_remake_given(e->host_us).mid;
    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        uint32_t of = d->g->refs[t].rank;

        if (!d->selected[t] || !msim_remake_call_begins(d, t))
            continue;
        /* Streams are walked one after the other: each has its own. */
        if (d->g->lane[t] != lane && e->on != MSIM_ON_SAME) {
            on = (struct aside){MSIM_NONE, MSIM_NONE, 0, MSIM_NONE};
            MSIM_TRY(find_aside(d, of, &on));
        }
        lane = d->g->lane[t];
        if (e->op.name)
            k.host = d->host_ps[of];
        MSIM_TRY(insert_at(d, t, &on, &k));
    }
    return MSIM_OK;
}

/* ---- straggle ------------------------------------------------------------ */

/* splitmix64: Steele et al., Fast splittable pseudorandom number generators,
 * OOPSLA 2014. */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A normal deviate of a rank: Box and Muller, 1958. */
static double normal(uint64_t seed, int64_t rank)
{
    uint64_t state = seed ^ ((uint64_t)rank * 0xd1342543de82ef95u);
    double u = ((double)(mix(&state) >> 11) + 1) / 9007199254740993.0;
    double v = (double)(mix(&state) >> 11) / 9007199254740992.0;

    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

static msim_ps times(msim_ps t, double factor)
{
    double ps = (double)t * factor;

    return ps < (double)MSIM_RUN_MAX ? (msim_ps)llround(ps) : MSIM_RUN_MAX;
}

/* Kernels, copies and the host of each rank take longer or shorter. */
enum msim_status msim_edit_straggle(struct msim_remake *d)
{
    const struct msim_job *job = d->g->job;

    if (job->n_ranks < 2)
        return msim_remake_refuse(
            d, "the traces are of one rank, which no other is compared with; "
               "want those of all ranks, or a rank and a factor");
    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        const struct msim_trace *rank = job->ranks[d->g->refs[t].rank];
        double factor;

        if (d->g->kind[t] == MSIM_TASK_COMM || d->g->kind[t] == MSIM_TASK_JOIN)
            continue;
        factor = exp(d->edit->sigma * normal(d->edit->seed, rank->rank));
        d->costs->mid[t] = times(d->costs->mid[t], factor);
        d->costs->low[t] = times(d->costs->low[t], factor);
        d->costs->high[t] = times(d->costs->high[t], factor);
    }
    return MSIM_OK;
}

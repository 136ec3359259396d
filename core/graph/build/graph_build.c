/*
 * core/graph/build/graph_build.c - a graph from its ranks: build each, let
 * them meet, put it in order.
 */
#include "core/graph/build/graph_build.h"

#include "core/base/containers.h"
#include "core/graph/build/graph_break_cycles.h"
#include "core/graph/contention/graph_contention.h"
#include "core/graph/rules/graph_rules.h"
#include "core/job/job.h"

#include <stdlib.h>
#include <string.h>

static void release_rank(struct msim_rank_tasks *r)
{
    free(r->of_call);
    free(r->of_gpu);
    free(r->of_gpu_begin);
    free(r->thread_first);
    free(r->thread_end);
    free(r->waits);
    free(r->recorded_end);
    free(r->launched);
    free(r->by_end);
    free(r->cause);
}

static enum msim_status init_rank(struct msim_rank_tasks *r, uint32_t rank,
                                  const struct msim_trace *t)
{
    memset(r, 0, sizeof(*r));
    r->rank = rank;
    r->trace = t;
    r->of_call = malloc(((size_t)t->n_calls + 1) * sizeof(*r->of_call));
    r->of_gpu = malloc(((size_t)t->n_gpu + 1) * sizeof(*r->of_gpu));
    r->of_gpu_begin = malloc(((size_t)t->n_gpu + 1) * sizeof(*r->of_gpu_begin));
    r->thread_first = calloc((size_t)t->n_threads + 1, sizeof(uint32_t));
    r->thread_end = calloc((size_t)t->n_threads + 1, sizeof(uint32_t));
    r->recorded_end = malloc(((size_t)t->n_gpu + 1) * sizeof(msim_ps));
    r->launched = malloc(((size_t)t->n_gpu + 1) * sizeof(msim_ps));
    r->cause = calloc((size_t)t->n_gpu + 1, 1);
    if (!r->of_call || !r->of_gpu || !r->of_gpu_begin || !r->thread_first ||
        !r->thread_end || !r->recorded_end || !r->launched || !r->cause)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        r->recorded_end[i] = MSIM_TIME_NONE;
    memset(r->of_call, 0xff, (size_t)t->n_calls * sizeof(*r->of_call));
    return MSIM_OK;
}

/* When a rank's host was recorded, on its own clock; from its first mark. */
struct span {
    msim_ps begin, end;
};

static void extend(struct span *s, msim_ps start, msim_ps dur)
{
    s->begin = start < s->begin ? start : s->begin;
    s->end = start + dur > s->end ? start + dur : s->end;
}

static struct span host_span(const struct msim_trace *t)
{
    struct span s = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < t->n_ops && t->has_times; i++)
        extend(&s, t->ops[i].start - t->clock_shift, t->ops[i].dur);
    for (uint32_t i = 0; i < t->n_calls; i++)
        extend(&s, t->calls[i].start - t->clock_shift, t->calls[i].dur);
    if (t->n_steps && t->has_times)
        s.begin = t->steps[0].start - t->clock_shift;
    if (s.begin > s.end)
        s = (struct span){0, 0};
    return s;
}

/* By how much is not read; that it is off is known of the recording. */
static bool is_off(const struct msim_trace *t)
{
    return t->clock_shift > MSIM_CLOCKS_AGREE ||
           t->clock_shift < -MSIM_CLOCKS_AGREE;
}

/*
 * Clocks of different hosts are aligned on the ends of collectives, which are
 * GPU times. Where these may not be read, the hosts' own clocks count if none
 * is off and the ranks ran at the same time by them. Else all ranks begin their
 * first iteration when the last one does.
 */
static void compare_clocks(struct msim_graph_builder *b)
{
    msim_ps first_end = INT64_MAX, longest = 0;
    bool agree = true;

    for (uint32_t i = 0; i < b->job->n_ranks; i++) {
        struct span s = host_span(b->job->ranks[i]);

        if (s.begin > b->last_begin)
            b->last_begin = s.begin;
        first_end = s.end < first_end ? s.end : first_end;
        longest = s.end - s.begin > longest ? s.end - s.begin : longest;
        agree = agree && !is_off(b->job->ranks[i]);
    }
    b->side_by_side = agree && first_end - b->last_begin > longest / 2;
}

/* What is added to a rank's times of release. */
static msim_ps rank_base(const struct msim_graph_builder *b, uint32_t rank)
{
    const struct msim_trace *t = b->job->ranks[rank];

    if (b->opt->device_times)
        return 0;
    if (b->side_by_side)
        return -t->clock_shift;
    return b->last_begin - host_span(t).begin - t->clock_shift;
}

static enum msim_status build_timed(struct msim_graph_builder *b, uint32_t rank)
{
    struct msim_rank_tasks r;
    enum msim_status status = init_rank(&r, rank, b->job->ranks[rank]);

    r.base = rank_base(b, rank);
    if (status == MSIM_OK)
        msim_graph_find_launches(b, &r);
    if (status == MSIM_OK && b->opt->device_times)
        status = msim_graph_sort_ends(&r);
    if (status == MSIM_OK)
        status = msim_graph_host(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_loader(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_handover(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_device(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_wait(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_sync(b, &r);
    if (status == MSIM_OK)
        status = msim_graph_queue(b, &r);
    release_rank(&r);
    return status;
}

/* Iterations by number, windows by iteration and rank. */
static int compare_windows(const void *a, const void *b)
{
    const struct msim_window *x = a, *y = b;

    if (x->iteration != y->iteration)
        return MSIM_ORDER(x->iteration, y->iteration);
    return MSIM_ORDER(x->rank, y->rank);
}

/*
 * Sorting moves windows, so the tasks' windows are renumbered. A window is
 * identified by (iteration, rank).
 */
static enum msim_status sort_windows(struct msim_graph *g)
{
    struct msim_window *old;
    uint32_t *place;

    if (!g->n_windows)
        return MSIM_OK;
    old = malloc(g->n_windows * sizeof(*old));
    place = malloc(g->n_windows * sizeof(*place));
    if (!old || !place) {
        free(old);
        free(place);
        return MSIM_ENOMEM;
    }
    memcpy(old, g->windows, g->n_windows * sizeof(*old));
    qsort(g->windows, g->n_windows, sizeof(*g->windows), compare_windows);
    for (uint32_t i = 0; i < g->n_windows; i++) {
        const struct msim_window *w =
            bsearch(&old[i], g->windows, g->n_windows, sizeof(*g->windows),
                    compare_windows);

        place[i] = w ? (uint32_t)(w - g->windows) : MSIM_NONE;
    }
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->window[t] != MSIM_NONE)
            g->window[t] = place[g->window[t]];
    free(old);
    free(place);
    return MSIM_OK;
}

/*
 * Work by kind of task; the latencies were counted where they were made.
 * Hand-overs and returns are work of gaps and calls, and counted apart from
 * them.
 */
static void sum_copied(struct msim_graph *g)
{
    static const enum msim_copied OF_KIND[] = {
        [MSIM_TASK_HOST] = MSIM_COPIED_HOST,
        [MSIM_TASK_GAP] = MSIM_COPIED_GAP,
        [MSIM_TASK_CALL] = MSIM_COPIED_CALL,
        [MSIM_TASK_KERNEL] = MSIM_COPIED_KERNEL,
        [MSIM_TASK_COPY] = MSIM_COPIED_COPY,
        [MSIM_TASK_COMM] = MSIM_COPIED_TRANSFER,
    };

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] != MSIM_TASK_JOIN && g->traced[t] > 0)
            g->copied[OF_KIND[g->kind[t]]] +=
                g->traced[t] * msim_job_alike(g->job, g->refs[t].rank);
    g->copied[MSIM_COPIED_CALL] -= g->copied[MSIM_COPIED_RETURN];
    g->copied[MSIM_COPIED_GAP] -=
        g->copied[MSIM_COPIED_HANDOVER] + g->copied[MSIM_COPIED_LOADER];
}

/* What was counted of a rank since `before` is of all that are like it. */
static void count_alike(struct msim_graph *g, const struct msim_graph *before,
                        uint32_t rank)
{
    uint32_t n = msim_job_alike(g->job, rank);

    for (int k = 0; k < MSIM_COPIED_KINDS; k++)
        g->copied[k] += (g->copied[k] - before->copied[k]) * (n - 1);
    g->n_unexplained += (g->n_unexplained - before->n_unexplained) * (n - 1);
    g->queued_idle.n += (g->queued_idle.n - before->queued_idle.n) * (n - 1);
    g->queued_idle.total +=
        (g->queued_idle.total - before->queued_idle.total) * (n - 1);
}

static enum msim_status build(struct msim_graph_builder *b)
{
    b->g = calloc(1, sizeof(*b->g));
    if (!b->g)
        return MSIM_ENOMEM;
    b->g->job = b->job;
    compare_clocks(b);
    for (uint32_t rank = 0; rank < b->job->n_ranks; rank++) {
        const struct msim_launch_plan *plan =
            b->opt->launch_plans ? b->opt->launch_plans[rank] : NULL;
        const struct msim_graph before = *b->g;

        if (plan)
            MSIM_TRY(msim_graph_launch_plan(b, rank, plan));
        else
            MSIM_TRY(build_timed(b, rank));
        count_alike(b->g, &before, rank);
    }
    MSIM_TRY(msim_graph_begin(b));
    MSIM_TRY(msim_graph_comm(b));
    MSIM_TRY(msim_graph_contention(b));
    sum_copied(b->g);
    MSIM_TRY(sort_windows(b->g));
    return msim_builder_finish(b);
}

static void release(struct msim_graph_builder *b)
{
    free(b->tstart);
    free(b->tend);
    free(b->edges);
    free(b->meetings);
    free(b->shortest);
    msim_idmap_release(&b->calls);
    msim_idmap_release(&b->iterations);
}

/*
 * Which call of one rank meets which call of another is recorded, or follows
 * from counting calls. Recordings that begin at different calls count wrong,
 * and can make ranks wait for each other in a circle. Then ranks meet only
 * where it is recorded.
 */
static enum msim_status build_apart(struct msim_graph_builder *b,
                                    uint32_t n_warnings)
{
    const struct msim_graph_builder again = {
        .job = b->job, .opt = b->opt, .err = b->err, .apart = true};

    release(b);
    msim_graph_free(b->g);
    *b = again;
    b->job->n_warnings = n_warnings;
    msim_job_warn(b->job,
                  "collectives that are matched by counting them would make "
                  "ranks wait for each other in a circle: they are simulated "
                  "without waiting for each other");
    return build(b);
}

enum msim_status msim_graph_build(struct msim_graph **out, struct msim_job *job,
                                  const struct msim_graph_options *opt,
                                  struct msim_error *err)
{
    struct msim_graph_builder b = {.job = job, .opt = opt, .err = err};
    uint32_t n_warnings = job->n_warnings;
    bool meetings = false;
    enum msim_status status;

    *out = NULL;
    status = build(&b);
    if (status == MSIM_OK)
        status = msim_graph_break_cycles(&b, &meetings);
    if (status == MSIM_OK && meetings)
        status = build_apart(&b, n_warnings);
    if (status == MSIM_OK && b.apart)
        status = msim_graph_break_cycles(&b, &meetings);
    release(&b);
    if (status != MSIM_OK) {
        msim_graph_free(b.g);
        return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                         "cannot build the dependency graph: %s",
                         msim_status_text(status));
    }
    *out = b.g;
    return MSIM_OK;
}

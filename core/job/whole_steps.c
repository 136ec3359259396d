/*
 * core/job/whole_steps.c - steps of which a part is not recorded.
 *
 * Buffers of a profiler run full, and replays of graphs may not be recorded at
 * all. What is left of such a step looks like a host that waits for nothing.
 * And the recording ends within a step, or the file does: its last step then is
 * the beginning of one.
 */
#include "core/job/job_internal.h"

#include "core/base/containers.h"
#include "core/trace/trace_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Recordings lose a few launches at their edges: a smaller share is no loss. */
#define LOST_MAX 0.05

/* Launches of a step or of all. */
struct launches {
    uint64_t all, lost;
    bool graph; /* a graph's kernels are lost: many at once */
};

static bool is_partial(const struct launches *l)
{
    return l->graph || (double)l->lost > LOST_MAX * (double)l->all;
}

static bool starts_kernels(const struct msim_call *c)
{
    return c->kind == MSIM_CALL_LAUNCH || c->kind == MSIM_CALL_GRAPH_LAUNCH;
}

static void count(struct launches *l, const struct msim_call *c)
{
    l->all += c->lost || (c->gpu != MSIM_NONE && starts_kernels(c));
    l->lost += c->lost;
    l->graph |= c->lost && c->kind == MSIM_CALL_GRAPH_LAUNCH;
}

static bool is_among(const struct msim_vec *numbers, int64_t number)
{
    const int64_t *n = numbers->data;

    for (uint32_t i = 0; i < numbers->n; i++)
        if (n[i] == number)
            return true;
    return false;
}

/* Once, though several ranks name it. */
static enum msim_status add_number(struct msim_vec *numbers, int64_t number)
{
    int64_t *to;

    if (is_among(numbers, number))
        return MSIM_OK;
    to = msim_vec_add(numbers, sizeof(*to));
    if (!to)
        return MSIM_ENOMEM;
    *to = number;
    return MSIM_OK;
}

/* Numbers of the partial steps of `t`, into `numbers`. */
static enum msim_status find_partial(const struct msim_trace *t,
                                     struct msim_vec *numbers)
{
    struct launches *of = calloc((size_t)t->n_steps + 1, sizeof(*of));
    enum msim_status status = MSIM_OK;

    if (!t->has_gpu_events) {
        free(of);
        return MSIM_OK;
    }
    if (!of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        uint32_t s = msim_step_at(t, t->calls[i].start);

        if (s != MSIM_NONE)
            count(&of[s], &t->calls[i]);
    }
    for (uint32_t s = 0; s < t->n_steps && status == MSIM_OK; s++)
        if (is_partial(&of[s]))
            status = add_number(numbers, t->steps[s].number);
    free(of);
    return status;
}

/* ---- the recording ends within a step ------------------------------------ */

/* What the thread of a step does in it. */
struct deed {
    uint32_t end;  /* one past its last name */
    msim_ps quiet; /* from the end of all that it does to its own */
};

struct deeds {
    struct msim_vec names; /* uint32_t, of all steps: kernels by their launches;
                              where nothing is launched, operators */
    struct deed *of;
};

static enum msim_status add_name(struct deeds *d, uint32_t name)
{
    uint32_t *to = msim_vec_add(&d->names, sizeof(*to));

    if (!to)
        return MSIM_ENOMEM;
    *to = name;
    return MSIM_OK;
}

static void note_end(struct deed *d, const struct msim_step *s, msim_ps end)
{
    msim_ps quiet = s->start + s->dur - end;

    d->quiet = quiet < d->quiet ? quiet : d->quiet;
}

static msim_ps end_of(const struct msim_step *s)
{
    return s->start + s->dur;
}

/* Calls of a thread are by start, and steps follow each other. */
static enum msim_status list_launches(const struct msim_trace *t,
                                      struct deeds *d)
{
    const struct msim_thread *on = &t->threads[t->ops[t->steps[0].op].thread];
    uint32_t i = on->call_begin;

    for (uint32_t s = 0; s < t->n_steps; s++) {
        for (; i < on->call_end && t->calls[i].start < end_of(&t->steps[s]);
             i++) {
            const struct msim_call *c = &t->calls[i];

            if (c->start < t->steps[s].start)
                continue;
            note_end(&d->of[s], &t->steps[s], c->start + c->dur);
            if (starts_kernels(c) && (c->lost || c->gpu != MSIM_NONE))
                MSIM_TRY(add_name(d, c->name));
        }
        d->of[s].end = d->names.n;
    }
    return MSIM_OK;
}

static enum msim_status list_operators(const struct msim_trace *t, bool names,
                                       struct deeds *d)
{
    for (uint32_t s = 0; s < t->n_steps; s++) {
        uint32_t op = t->steps[s].op;

        for (uint32_t i = op + 1; i < t->ops[op].end; i++) {
            note_end(&d->of[s], &t->steps[s], t->ops[i].start + t->ops[i].dur);
            if (names && t->topmost[i] == i)
                MSIM_TRY(add_name(d, t->ops[i].name));
        }
        d->of[s].end = names ? d->names.n : d->of[s].end;
    }
    return MSIM_OK;
}

static uint32_t n_deeds(const struct deeds *d, uint32_t s)
{
    return d->of[s].end - (s ? d->of[s - 1].end : 0);
}

/* Does the last step do less than all others, and all that it does as the one
 * before it begins? */
static bool begins_as_others(const struct deeds *d, uint32_t last)
{
    const uint32_t *names = d->names.data;
    uint32_t n = n_deeds(d, last), least = UINT32_MAX;

    for (uint32_t s = 0; s < last; s++)
        least = n_deeds(d, s) < least ? n_deeds(d, s) : least;
    return n < (1 - LOST_MAX) * least &&
           (!n || !memcmp(&names[d->of[last].end - n],
                          &names[d->of[last - 1].end - n_deeds(d, last - 1)],
                          n * sizeof(*names)));
}

/* Does its mark go on for longer than those of others when nothing else of it
 * is recorded any more? */
static bool ends_early(const struct msim_trace *t, const struct deeds *d,
                       uint32_t last)
{
    msim_ps most = 0, slack = INT64_MAX;

    for (uint32_t s = 0; s < last; s++) {
        msim_ps share = (msim_ps)(LOST_MAX * (double)t->steps[s].dur);

        most = d->of[s].quiet > most ? d->of[s].quiet : most;
        slack = share < slack ? share : slack;
    }
    return d->of[last].quiet == t->steps[last].dur ||
           d->of[last].quiet > most + slack;
}

static enum msim_status list_deeds(const struct msim_trace *t, struct deeds *d)
{
    for (uint32_t s = 0; s < t->n_steps; s++)
        d->of[s].quiet = t->steps[s].dur;
    MSIM_TRY(list_launches(t, d));
    return list_operators(t, !d->names.n, d);
}

/* The last step of `t`, where the recording ends within it, into `numbers`. */
static enum msim_status find_cut(const struct msim_trace *t,
                                 struct msim_vec *numbers)
{
    uint32_t last = t->n_steps - 1;
    struct deeds d = {.of = calloc((size_t)t->n_steps + 1, sizeof(*d.of))};
    enum msim_status status = d.of ? MSIM_OK : MSIM_ENOMEM;

    if (t->n_steps > 1 && t->has_times && status == MSIM_OK) {
        status = list_deeds(t, &d);
        if (status == MSIM_OK && begins_as_others(&d, last) &&
            ends_early(t, &d, last))
            status = add_number(numbers, t->steps[last].number);
    }
    free(d.names.data);
    free(d.of);
    return status;
}

/* ---- without them -------------------------------------------------------- */

static uint32_t n_whole(const struct msim_trace *t,
                        const struct msim_vec *partial)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++)
        n += !is_among(partial, t->steps[s].number);
    return n;
}

static bool is_kept(void *partial, int64_t number)
{
    return !is_among(partial, number);
}

/* "BEFORE iterations 1, 2BEHIND: these are left out", of the numbers. */
static void warn(struct msim_job *job, const struct msim_vec *numbers,
                 const char *before, const char *behind)
{
    const int64_t *n = numbers->data;
    char text[256];
    size_t used = 0;

    for (uint32_t i = 0; i < numbers->n && used < sizeof(text) - 32; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld",
                                 i ? ", " : "", (long long)n[i]);
    msim_job_warn(job, "%s iteration%s %s%s: %s left out", before,
                  numbers->n == 1 ? "" : "s", text, behind,
                  numbers->n == 1 ? "it is" : "these are");
}

/* Is so much of the whole not recorded that nothing can be said of what bounds
 * the job? */
static bool is_job_partial(const struct msim_job *job)
{
    struct launches l = {0};
    uint64_t unlinked = 0, gpu = 0;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        for (uint32_t i = 0; i < t->n_calls && t->has_gpu_events; i++)
            if (!t->n_steps || msim_step_at(t, t->calls[i].start) != MSIM_NONE)
                count(&l, &t->calls[i]);
        gpu += t->n_gpu;
        for (uint32_t i = 0; i < t->n_gpu; i++)
            unlinked += t->gpu[i].call == MSIM_NONE && !t->gpu[i].early;
    }
    return is_partial(&l) || (double)unlinked > LOST_MAX * (double)gpu;
}

static bool is_unrecorded(const struct msim_trace *t)
{
    uint32_t i = 0;

    while (i < t->n_calls && !t->calls[i].lost)
        i++;
    return !t->has_gpu_events && i < t->n_calls;
}

/* Steps that `find` names of a rank are none of the job, while one is left. */
static enum msim_status keep_whole(
    struct msim_job *job,
    enum msim_status (*find)(const struct msim_trace *, struct msim_vec *),
    enum msim_left_why why, const char *before, const char *behind)
{
    struct msim_vec partial = {0};
    enum msim_status status = MSIM_OK;
    bool keep = true;
    uint32_t r;

    for (r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = find(job->ranks[r], &partial);
    for (r = 0; r < job->n_ranks; r++)
        keep = keep &&
               (!job->ranks[r]->n_steps || n_whole(job->ranks[r], &partial));
    if (status == MSIM_OK && partial.n && keep) {
        for (r = 0; r < job->n_ranks && status == MSIM_OK; r++)
            status = msim_steps_keep(job->ranks[r], is_kept, &partial, why);
        warn(job, &partial, before, behind);
    }
    free(partial.data);
    return status;
}

/* ---- steps without anything ---------------------------------------------- */

static void note_busy(const struct msim_trace *t, bool *busy, int64_t moment)
{
    uint32_t s = msim_step_at(t, moment);

    if (s != MSIM_NONE)
        busy[s] = true;
}

/* Numbers of the steps in which an operator or a call began, or an activity of
 * the GPU that is known by its time alone. */
static enum msim_status find_busy(const struct msim_trace *t,
                                  struct msim_idmap *numbers)
{
    bool *busy = calloc((size_t)t->n_steps + 1, sizeof(*busy));
    enum msim_status status = busy ? MSIM_OK : MSIM_ENOMEM;
    uint32_t *slot;

    for (uint32_t i = 0; status == MSIM_OK && i < t->n_ops; i++)
        if (t->ops[i].kind == MSIM_OP_OPERATOR)
            note_busy(t, busy, msim_moment(t, i));
    for (uint32_t i = 0; status == MSIM_OK && i < t->n_calls; i++)
        note_busy(t, busy, t->calls[i].start);
    for (uint32_t i = 0; status == MSIM_OK && i < t->n_gpu; i++)
        if (t->gpu[i].call == MSIM_NONE)
            note_busy(t, busy, t->gpu[i].start);
    for (uint32_t s = 0; status == MSIM_OK && s < t->n_steps; s++)
        if (busy[s])
            status =
                msim_idmap_put(numbers, (uint64_t)t->steps[s].number, s, &slot);
    free(busy);
    return status;
}

struct idle {
    const struct msim_idmap *busy;
    struct msim_vec dropped; /* int64_t, of the last rank with steps */
    enum msim_status status;
};

static bool is_busy(void *of, int64_t number)
{
    struct idle *x = of;
    enum msim_status status;

    if (msim_idmap_get(x->busy, (uint64_t)number) != MSIM_NONE)
        return true;
    status = add_number(&x->dropped, number);
    if (status != MSIM_OK)
        x->status = status;
    return false;
}

/*
 * The mark that is open when a recording ends has nothing in it, and would make
 * every mean shorter. Of ranks, one that did something is enough.
 */
enum msim_status msim_job_keep_busy(struct msim_job *job)
{
    struct msim_idmap busy = {0};
    struct idle idle = {.busy = &busy};
    enum msim_status status = MSIM_OK;

    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = find_busy(job->ranks[r], &busy);
    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK && busy.count;
         r++) {
        struct msim_vec *dropped = &idle.dropped;

        dropped->n = job->ranks[r]->n_steps ? 0 : dropped->n; /* the same */
        status = msim_steps_keep(job->ranks[r], is_busy, &idle, MSIM_LEFT_IDLE);
        status = status == MSIM_OK ? idle.status : status;
    }
    if (status == MSIM_OK && idle.dropped.n)
        warn(job, &idle.dropped, "in", " nothing was recorded");
    msim_idmap_release(&busy);
    free(idle.dropped.data);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

enum msim_status msim_job_keep_whole(struct msim_job *job)
{
    MSIM_TRY(keep_whole(job, find_cut, MSIM_LEFT_CUT,
                        "incomplete trace: the recording ends within", ""));
    MSIM_TRY(keep_whole(job, find_partial, MSIM_LEFT_LOST,
                        "incomplete trace: kernels that were launched in",
                        " are not recorded"));
    job->partial = is_job_partial(job);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        job->unrecorded |= is_unrecorded(job->ranks[r]);
    return MSIM_OK;
}

/*
 * core/job/whole_steps.c - steps of which the GPU's part is not recorded.
 *
 * Buffers of a profiler run full, and replays of graphs may not be recorded at
 * all. What is left of such a step looks like a host that waits for nothing.
 */
#include "core/job/whole_steps.h"

#include "core/base/idmap.h"
#include "core/base/vec.h"
#include "core/trace/step.h"

#include <stdio.h>
#include <stdlib.h>

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

static void count(struct launches *l, const struct msim_call *c)
{
    l->all +=
        c->lost || (c->gpu != MSIM_NONE && (c->kind == MSIM_CALL_LAUNCH ||
                                            c->kind == MSIM_CALL_GRAPH_LAUNCH));
    l->lost += c->lost;
    l->graph |= c->lost && c->kind == MSIM_CALL_GRAPH_LAUNCH;
}

/* Numbers of the partial steps of `t`, into `numbers`. */
static enum msim_status find_partial(const struct msim_trace *t,
                                     struct msim_vec *numbers)
{
    struct launches *of = calloc((size_t)t->n_steps + 1, sizeof(*of));
    int64_t *number;

    if (!of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        uint32_t s = msim_step_at(t, t->calls[i].start);

        if (s != MSIM_NONE)
            count(&of[s], &t->calls[i]);
    }
    for (uint32_t s = 0; s < t->n_steps; s++) {
        if (!is_partial(&of[s]))
            continue;
        number = msim_vec_add(numbers, sizeof(*number));
        if (!number) {
            free(of);
            return MSIM_ENOMEM;
        }
        *number = t->steps[s].number;
    }
    free(of);
    return MSIM_OK;
}

static bool is_among(const struct msim_vec *numbers, int64_t number)
{
    const int64_t *n = numbers->data;

    for (uint32_t i = 0; i < numbers->n; i++)
        if (n[i] == number)
            return true;
    return false;
}

static uint32_t n_whole(const struct msim_trace *t,
                        const struct msim_vec *partial)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++)
        n += !is_among(partial, t->steps[s].number);
    return n;
}

static void leave_out(struct msim_trace *t, const struct msim_vec *partial)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++)
        if (!is_among(partial, t->steps[s].number))
            t->steps[n++] = t->steps[s];
    t->n_steps = n;
}

/* `what`: two parts of a sentence, around the numbers. */
static void warn(struct msim_job *job, const struct msim_vec *numbers,
                 const char *const what[2])
{
    const int64_t *n = numbers->data;
    char text[256];
    size_t used = 0;

    for (uint32_t i = 0; i < numbers->n && used < sizeof(text) - 32; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%lld",
                                 i ? ", " : "", (long long)n[i]);
    msim_job_warn(job, "%s iterations %s %s: these are left out", what[0], text,
                  what[1]);
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

static enum msim_status keep_whole(struct msim_job *job,
                                   struct msim_vec *partial)
{
    static const char *const WHAT[] = {
        "incomplete trace: kernels that were launched in", "are not recorded"};
    uint32_t r;

    for (r = 0; r < job->n_ranks; r++)
        if (job->ranks[r]->has_gpu_events)
            MSIM_TRY(find_partial(job->ranks[r], partial));
    for (r = 0; r < job->n_ranks && partial->n; r++)
        if (job->ranks[r]->n_steps && !n_whole(job->ranks[r], partial))
            return MSIM_OK;
    for (r = 0; r < job->n_ranks && partial->n; r++)
        leave_out(job->ranks[r], partial);
    if (partial->n)
        warn(job, partial, WHAT);
    return MSIM_OK;
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

static enum msim_status drop_idle(struct msim_trace *t,
                                  const struct msim_idmap *busy,
                                  struct msim_vec *dropped)
{
    uint32_t n = 0;

    for (uint32_t s = 0; s < t->n_steps; s++) {
        int64_t *number;

        if (msim_idmap_get(busy, (uint64_t)t->steps[s].number) != MSIM_NONE) {
            t->steps[n++] = t->steps[s];
            continue;
        }
        number = msim_vec_add(dropped, sizeof(*number));
        if (!number)
            return MSIM_ENOMEM;
        *number = t->steps[s].number;
    }
    t->n_steps = n;
    return MSIM_OK;
}

/*
 * The mark that is open when a recording ends has nothing in it, and would make
 * every mean shorter. Of ranks, one that did something is enough.
 */
enum msim_status msim_job_keep_busy(struct msim_job *job)
{
    static const char *const WHAT[] = {"in", "nothing was recorded"};
    struct msim_idmap busy = {0};
    struct msim_vec dropped = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = find_busy(job->ranks[r], &busy);
    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK && busy.count;
         r++) {
        dropped.n = job->ranks[r]->n_steps ? 0 : dropped.n; /* the same ones */
        status = drop_idle(job->ranks[r], &busy, &dropped);
    }
    if (status == MSIM_OK && dropped.n)
        warn(job, &dropped, WHAT);
    msim_idmap_release(&busy);
    free(dropped.data);
    return status;
}

/* ---- all ----------------------------------------------------------------- */

enum msim_status msim_job_keep_whole(struct msim_job *job)
{
    struct msim_vec partial = {0};
    enum msim_status status = keep_whole(job, &partial);

    free(partial.data);
    job->partial = is_job_partial(job);
    return status;
}

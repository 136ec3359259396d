/*
 * core/job/common_steps.c - the steps that all ranks of a job recorded.
 *
 * Profilers start by a counter of their own process, so windows of ranks
 * differ. In a step that one rank lacks nothing is known of their meetings: it
 * is no iteration of the job. Collectives are counted from the first common
 * step.
 */
#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>

/* A step of the job: how many ranks recorded it, and which of them last. */
struct step {
    uint32_t ranks, last;
};

struct tally {
    struct msim_idmap at; /* step number to index in `steps` */
    struct msim_vec steps;
    uint32_t of; /* ranks with steps */
};

/* A step that stands twice in one trace counts once. */
static enum msim_status count(struct tally *all, const struct msim_trace *t)
{
    all->of += t->n_steps > 0;
    for (uint32_t i = 0; i < t->n_steps; i++) {
        uint32_t *at, fresh = all->at.count;
        struct step *s;

        MSIM_TRY(
            msim_idmap_put(&all->at, (uint64_t)t->steps[i].number, fresh, &at));
        if (*at == fresh) {
            s = msim_vec_add(&all->steps, sizeof(*s));
            if (!s)
                return MSIM_ENOMEM;
            *s = (struct step){0};
        }
        s = (struct step *)all->steps.data + *at;
        s->ranks += s->last != all->of;
        s->last = all->of;
    }
    return MSIM_OK;
}

static bool is_common(void *of, int64_t number)
{
    const struct tally *all = of;
    const struct step *steps = all->steps.data;

    return steps[msim_idmap_get(&all->at, (uint64_t)number)].ranks == all->of;
}

static enum msim_status keep_steps(struct msim_job *job, struct tally *all)
{
    uint32_t common = 0;

    for (uint32_t i = 0; i < all->steps.n; i++)
        common += ((const struct step *)all->steps.data)[i].ranks == all->of;
    if (common == 0 || common == all->steps.n)
        return MSIM_OK;
    msim_job_warn(job,
                  "the ranks recorded different steps: of %u only the %u that "
                  "all of them have count",
                  all->steps.n, common);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        MSIM_TRY(
            msim_steps_keep(job->ranks[r], is_common, all, MSIM_LEFT_UNCOMMON));
    return MSIM_OK;
}

enum msim_status msim_job_keep_common_steps(struct msim_job *job)
{
    struct tally all = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = count(&all, job->ranks[r]);
    if (status == MSIM_OK)
        status = keep_steps(job, &all);
    msim_idmap_release(&all.at);
    free(all.steps.data);
    return status;
}

static bool has_step(const struct msim_trace *t, int64_t number)
{
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].number == number)
            return true;
    return false;
}

enum msim_status msim_job_check_steps(const struct msim_job *job,
                                      struct msim_error *err)
{
    const struct msim_trace *first = NULL;

    for (uint32_t r = 0; r < job->n_ranks; r++) {
        const struct msim_trace *t = job->ranks[r];

        if (!t->n_steps)
            continue;
        if (!first)
            first = t;
        if (!has_step(t, first->steps[0].number))
            return msim_fail(
                err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                "rank %lld recorded steps from ProfilerStep#%lld on, rank %lld "
                "from #%lld on, and no step is common to all ranks, want "
                "recordings of the same steps, or one rank alone",
                (long long)first->rank, (long long)first->steps[0].number,
                (long long)t->rank, (long long)t->steps[0].number);
    }
    return MSIM_OK;
}

/*
 * plan/memory/job_memory.c - whether a described job fits into a GPU.
 */
#include "plan/memory/job_memory.h"

#include "plan/describe/strategy.h"

#include <math.h>

/* `ranks` that lie `apart` GPUs from each other: ranks of a tensor parallel
 * group are next to one another, then come those of contexts and data, and
 * stages are farthest. */
static struct msim_beside_group group_of(double ranks, double apart,
                                         const struct msim_strategy *s)
{
    return (struct msim_beside_group){
        .ranks = ranks,
        .near = fmin(fmax(floor((double)s->gpus_a_node / apart), 1), ranks)};
}

struct msim_beside msim_job_beside(const struct msim_strategy *s,
                                   const struct msim_memory_gpu *gpu)
{
    double tp = (double)s->tp, ep = (double)s->ep, pp = (double)s->pp;
    double apart = (double)msim_expert_copies_apart(s);
    double data = (double)(s->dp * s->cp);
    const struct msim_beside_group layer = group_of(tp, 1, s),
                                   contexts = group_of((double)s->cp, tp, s),
                                   shards = group_of(data, tp, s),
                                   experts = group_of(
                                       ep, (double)msim_expert_shares(s), s),
                                   expert_shards = group_of(
                                       (double)msim_expert_copies(s), apart, s),
                                   stages = group_of(pp, tp * data, s);
    struct msim_beside b = {.context = MSIM_BESIDE_CONTEXT};

    b.nccl = msim_beside_collective(&layer, gpu->link) +
             msim_beside_collective(&contexts, gpu->link) +
             msim_beside_collective(&shards, gpu->link) +
             msim_beside_messages(&experts, ep - 1, gpu->link) +
             msim_beside_messages(&stages, fmin(pp - 1, 2), gpu->link);
    if (!msim_expert_copies_are_usual(s))
        b.nccl += msim_beside_collective(&expert_shards, gpu->link);
    return b;
}

struct msim_job_memory msim_job_memory_of(const struct msim_described *m,
                                          const struct msim_strategy *s,
                                          const struct msim_memory_fit *fit,
                                          const struct msim_memory_gpu *gpu)
{
    struct msim_job_memory j = {.at = msim_memory_of(m, s, &fit->constants),
                                .interval =
                                    fit->interval[msim_memory_class_of(s)],
                                .beside = msim_job_beside(s, gpu)};

    j.low = j.at.most / j.interval.low;
    j.high = j.at.most * j.interval.high;
    j.room = gpu->usable - msim_beside_bytes(&j.beside);
    j.fits = msim_memory_fits(j.low, j.high, j.room);
    return j;
}

struct msim_job_memory msim_job_memory_given(const struct msim_described *m,
                                             const struct msim_strategy *s,
                                             uint64_t given,
                                             const struct msim_memory_fit *fit,
                                             const struct msim_memory_gpu *gpu)
{
    struct msim_job_memory j = msim_job_memory_of(m, s, fit, gpu);
    struct msim_strategy least = *s;

    if (given >> MSIM_GIVEN_recompute & 1 || !msim_again_most(&least, NULL, 0))
        return j;
    j.low = fmin(j.low, msim_job_memory_of(m, &least, fit, gpu).low);
    j.fits = msim_memory_fits(j.low, j.high, j.room);
    return j;
}

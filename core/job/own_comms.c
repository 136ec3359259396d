/*
 * core/job/own_comms.c - each name is matched once, then every kernel looks its
 * name up.
 */
#include "core/job/job_internal.h"

#include <fnmatch.h>
#include <stdlib.h>

/* What is known of the strings of a job. */
struct own {
    struct msim_job *job;
    const char *pattern;
    uint8_t *known; /* by number of string: 0 not yet, 1 no, 2 yes */
    bool found;
};

static bool matches(struct own *o, uint32_t name)
{
    const char *text = msim_strtab_text(o->job->strings, name);

    if (!o->known[name])
        o->known[name] = fnmatch(o->pattern, text, 0) == 0 ? 2 : 1;
    return o->known[name] == 2;
}

static void mark(struct own *o, struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        struct msim_gpu *g = &t->gpu[i];

        if (g->kind != MSIM_GPU_KERNEL && g->kind != MSIM_GPU_COMM)
            continue;
        if (!matches(o, g->name))
            continue;
        o->found = true;
        g->kind = MSIM_GPU_COMM;
    }
}

static enum msim_status apply(struct msim_job *job, const char *pattern)
{
    struct own o = {.job = job, .pattern = pattern};

    o.known = calloc((size_t)msim_strtab_count(job->strings) + 1, 1);
    if (!o.known)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_ranks; i++)
        mark(&o, job->ranks[i]);
    free(o.known);
    if (!o.found)
        msim_job_warn(job,
                      "option '--communication' is '%s', which matches "
                      "the name of no kernel",
                      pattern);
    return MSIM_OK;
}

enum msim_status msim_job_own_comms(struct msim_job *job,
                                    const struct msim_load_options *opt)
{
    for (uint32_t i = 0; i < opt->n_communication; i++)
        MSIM_TRY(apply(job, opt->communication[i]));
    return MSIM_OK;
}

/*
 * core/job/job_groups.c - process groups across ranks: a name that means the
 * same on all of them.
 */
#include "core/job/link.h"

#include <stdio.h>
#include <string.h>

/* Old ETs name a group by its address in that process. */
static bool is_address(const char *name)
{
    return strlen(name) >= 9 && strspn(name, "0123456789") == strlen(name);
}

/* Groups of one job are made in the same order on every rank. */
static enum msim_status name_addresses(struct msim_job *job,
                                       struct msim_trace *t)
{
    uint32_t i, n = 0;
    char text[32];
    int len;

    for (i = 0; i < t->n_groups; i++) {
        if (!is_address(msim_trace_text(t, t->groups[i].name)))
            continue;
        len = snprintf(text, sizeof(text), "pg %u", n++);
        MSIM_TRY(msim_strtab_add(job->strings, text, (size_t)len,
                                 &t->groups[i].name));
    }
    return MSIM_OK;
}

/* A single group of unknown size that all ranks have spans the job. */
static void size_groups(struct msim_job *job, struct msim_trace *t)
{
    if (t->n_groups == 1 && t->groups[0].size == 0)
        t->groups[0].size = t->world_size ? t->world_size : job->n_ranks;
    if (t->world_size == 0)
        for (uint32_t i = 0; i < t->n_groups; i++)
            if (t->groups[i].size > t->world_size &&
                t->groups[i].size <= 1u << 24)
                t->world_size = t->groups[i].size;
}

enum msim_status msim_job_name_groups(struct msim_job *job)
{
    uint32_t i;

    for (i = 0; i < job->n_ranks; i++) {
        MSIM_TRY(name_addresses(job, job->ranks[i]));
        size_groups(job, job->ranks[i]);
    }
    return MSIM_OK;
}

/*
 * core/job/job.c - a loaded job: its warnings and its end.
 */
#include "core/job/job.h"

#include "core/base/containers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void msim_job_warn(struct msim_job *job, const char *fmt, ...)
{
    char text[1024];
    const char **list;
    char *copy;
    va_list ap;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    if (len < 0 ||
        msim_grow((void **)&job->warnings, &job->cap_warnings, job->n_warnings,
                  sizeof(*job->warnings)) != MSIM_OK)
        return;
    copy = msim_arena_alloc(&job->arena, strlen(text) + 1);
    if (!copy)
        return;
    memcpy(copy, text, strlen(text) + 1);
    list = job->warnings;
    list[job->n_warnings++] = copy;
}

void msim_job_free(struct msim_job *job)
{
    uint32_t i;

    if (!job)
        return;
    for (i = 0; i < job->n_ranks; i++)
        msim_trace_free(job->ranks[i]);
    free(job->ranks);
    free(job->members);
    free(job->alike);
    free(job->files);
    free(job->warnings);
    msim_strtab_free(job->strings);
    msim_arena_release(&job->arena);
    free(job);
}

uint32_t msim_job_world(const struct msim_job *job)
{
    uint32_t n = msim_job_traced(job);

    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->world_size > n)
            n = job->ranks[i]->world_size;
    return n;
}

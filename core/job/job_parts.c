/*
 * core/job/job_parts.c - the traces of a job's files, before they become ranks.
 */
#include "core/job/job_internal.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>

static void count_rows(const struct msim_trace *t, struct msim_file_info *info)
{
    uint32_t i;

    for (i = 0; i < t->n_ops; i++)
        info->ops += t->ops[i].kind == MSIM_OP_OPERATOR;
    for (i = 0; i < t->n_gpu; i++)
        info->kernels += t->gpu[i].kind == MSIM_GPU_KERNEL ||
                         t->gpu[i].kind == MSIM_GPU_COMM;
    info->steps = t->n_steps;
    info->gpus = t->gpus;
    info->linked = NAN;
    if (t->n_gpu)
        info->linked = 1.0 - (double)t->unlinked_gpu / (double)t->n_gpu;
}

static enum msim_status describe(struct msim_job_part *p, struct msim_job *job,
                                 const struct msim_read_result *read,
                                 const char *path)
{
    const struct msim_strtab *strings = job->strings;
    const struct msim_trace *t = p->trace;

    p->info = (struct msim_file_info){
        .path = msim_arena_text(&job->arena, path),
        .format = read->format,
        .version = msim_strtab_text(strings, read->version),
        .gpu = msim_strtab_text(strings, t->gpu_properties.name),
        .events = t->import.records,
        .salvaged = read->salvaged,
        .rank = read->rank,
    };
    if (!p->info.path)
        return MSIM_ENOMEM;
    count_rows(t, &p->info);
    return msim_recorded_memory_find(t, &MSIM_TIME_RANGE_ALL, 1, &job->arena,
                                     &p->info.memory);
}

/* ---- ranks that are equal ----------------------------------------------- */

/* Ranks are not equal after all: each has a trace of its own. */
static enum msim_status unfold(struct msim_job_parts *parts)
{
    parts->folds = false;
    for (uint32_t i = 0; i < parts->n; i++) {
        struct msim_job_part *p = &parts->all[i];

        if (p->trace)
            continue;
        MSIM_TRY(msim_trace_copy(&p->trace, parts->fold.kinds[p->kind].trace,
                                 p->info.rank));
        p->trace->import = msim_fold_as_read(p->log);
    }
    return MSIM_OK;
}

static bool may_fold(const struct msim_job_parts *parts,
                     const struct msim_job_part *p)
{
    const struct msim_trace_clock *first = &parts->all[0].clock,
                                  *own = &p->clock;

    return p->info.format == MSIM_FORMAT_KINETO && !p->info.further &&
           !p->info.salvaged && own->known == first->known &&
           own->us == first->us && own->ps == first->ps;
}

/* Keep the trace of the part that was read last where no other says the same.
 */
static enum msim_status fold(struct msim_job_parts *parts)
{
    struct msim_job_part *p = &parts->all[parts->n - 1];

    p->kind = MSIM_NONE;
    if (!parts->folds)
        return MSIM_OK;
    p->trace->rank = p->info.rank;
    if (may_fold(parts, p))
        p->kind = msim_fold_kind_of(&parts->fold, p->trace);
    if (p->kind == MSIM_NONE)
        return unfold(parts);
    if (parts->fold.kinds[p->kind].trace == p->trace)
        return MSIM_OK;
    MSIM_TRY(msim_fold_records_new(&p->log, &p->trace->import));
    msim_trace_free(p->trace);
    p->trace = NULL;
    return MSIM_OK;
}

struct msim_import_log msim_job_part_log(const struct msim_job_parts *parts,
                                         const struct msim_job_part *p)
{
    return p->trace ? p->trace->import
                    : msim_fold_log(&parts->fold.kinds[p->kind], p->log);
}

/* ---- all ---------------------------------------------------------------- */

enum msim_status msim_job_parts_add(struct msim_job_parts *parts,
                                    struct msim_job *job,
                                    const struct msim_read_result *read,
                                    struct msim_trace **trace, const char *path)
{
    struct msim_job_part *p;

    MSIM_TRY(msim_grow((void **)&parts->all, &parts->cap, parts->n,
                       sizeof(*parts->all)));
    p = &parts->all[parts->n++];
    *p = (struct msim_job_part){
        .trace = *trace,
        .clock = {read->has_origin, read->origin_us, read->origin_ps}};
    *trace = NULL;
    MSIM_TRY(describe(p, job, read, path));
    p->info.further = trace != &read->trace;
    return fold(parts);
}

void msim_job_parts_release(struct msim_job_parts *parts)
{
    for (uint32_t i = 0; i < parts->n; i++) {
        if (!parts->all[i].taken)
            msim_trace_free(parts->all[i].trace);
        free(parts->all[i].log);
    }
    free(parts->all);
}

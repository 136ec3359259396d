/*
 * predict/learn/learn.c - traces to factors, and the errors that remain.
 */
#include "predict/learn/learn.h"

#include "core/base/containers.h"
#include "core/job/job_files.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "predict/learn/learn_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHAPE_FOLDS 5

struct learning {
    struct msim_learned *out;
    const struct msim_learn_options *o;
    struct msim_platform *p; /* the base */
    struct msim_learn_rows rows;
    struct msim_error *err;
};

static const char *keep(struct learning *l, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(&l->out->arena, size);

    return copy ? memcpy(copy, text, size) : "";
}

/* ---- the base ------------------------------------------------------------ */

/* The platform that a rank ran on; where it is not known, the nearest. */
static const char *gpu_of(struct learning *l, const struct msim_trace *t,
                          bool *nearest)
{
    const struct msim_gpu_properties *g = &t->gpu_properties;
    const char *gpu = msim_trace_text(t, g->name);
    const char *name = msim_platform_match(&l->out->arena, l->o->data, gpu,
                                           g->memory_bytes, g->sms);

    *nearest = !name;
    return name ? name
                : msim_platform_nearest(&l->out->arena, l->o->data, gpu, g);
}

static enum msim_status set_base(struct learning *l, const char *name)
{
    MSIM_TRY(msim_platform_load(&l->p, l->o->data, name, l->err));
    snprintf(l->out->base, sizeof(l->out->base), "%.*s",
             (int)strcspn(l->p->name, "@"), l->p->name);
    snprintf(l->out->base_file, sizeof(l->out->base_file), "%s",
             msim_platform_file(l->p));
    return MSIM_OK;
}

/* The base that the first trace names; the others must agree. */
static enum msim_status check_base(struct learning *l,
                                   const struct msim_job *job, const char *path)
{
    bool nearest;
    const char *name;

    if (l->o->base)
        return MSIM_OK;
    name = gpu_of(l, job->ranks[0], &nearest);
    if (!name)
        return msim_fail(
            l->err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
            "its GPU '%s' is not known: --platform names the one "
            "that it is most like",
            msim_trace_text(job->ranks[0], job->ranks[0]->gpu_properties.name));
    if (!l->p) {
        l->out->nearest = nearest;
        return set_base(l, name);
    }
    if (strcmp(name, l->out->base) == 0)
        return MSIM_OK;
    return msim_fail(l->err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE,
                     "ran on %s, and traces before it on %s: want traces of "
                     "one machine, or --platform for all of them",
                     name, l->out->base);
}

/* ---- traces -------------------------------------------------------------- */

static bool is_timed(const struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++)
        if (job->ranks[r]->has_gpu_events)
            return true;
    return false;
}

static enum msim_status add_trace(struct learning *l,
                                  const struct msim_job *job, const char *path)
{
    struct msim_learned *out = l->out;
    const struct msim_trace *t = job->ranks[0];
    struct msim_learned_trace *row;

    if (is_timed(job))
        MSIM_TRY(check_base(l, job, path));
    MSIM_TRY(msim_grow((void **)&out->traces, &out->cap_traces, out->n_traces,
                       sizeof(*out->traces)));
    row = &out->traces[out->n_traces];
    *row = (struct msim_learned_trace){
        .path = keep(l, path),
        .gpu = keep(l, msim_trace_text(t, t->gpu_properties.name))};
    out->n_traces++;
    return is_timed(job) ? msim_learn_observe(&l->rows, job, out->n_traces - 1,
                                              l->p, l->err)
                         : MSIM_OK;
}

static enum msim_status read_job(struct learning *l, const char *path)
{
    struct msim_job *job;
    enum msim_status status;

    MSIM_TRY(msim_job_load(&job, &path, 1, &l->o->load, l->err));
    status = add_trace(l, job, path);
    msim_job_free(job);
    return status;
}

/* Every trace of a folder by itself. */
static enum msim_status read_each(struct learning *l, const char *folder)
{
    struct msim_job_files files = {0};
    enum msim_status status = msim_job_files_find(&files, &folder, 1, l->err);

    for (uint32_t i = 0; status == MSIM_OK && i < files.n; i++)
        if (msim_job_looks_like_trace(files.all[i].path))
            status = read_job(l, files.all[i].path);
    msim_job_files_release(&files);
    return status;
}

/* A folder whose files are one job is one; else each of them is. */
static enum msim_status read_path(struct learning *l, const char *path)
{
    struct msim_error first = {0}, *err = l->err;
    struct stat s;
    enum msim_status status;

    if (stat(path, &s) != 0 || !S_ISDIR(s.st_mode))
        return read_job(l, path);
    l->err = &first;
    status = read_job(l, path);
    l->err = err;
    if (status == MSIM_OK || status == MSIM_ENOMEM)
        return status;
    return read_each(l, path);
}

static enum msim_status read_all(struct learning *l)
{
    if (l->o->base)
        MSIM_TRY(set_base(l, l->o->base));
    for (uint32_t i = 0; i < l->o->n_paths; i++)
        MSIM_TRY(read_path(l, l->o->paths[i]));
    if (l->rows.n == 0)
        return msim_fail(l->err, MSIM_EFORMAT, l->o->paths[0], MSIM_OFFSET_NONE,
                         "no trace has kernels of operators with shapes: "
                         "record with record_shapes=True, or add the "
                         "execution trace");
    return MSIM_OK;
}

/* ---- what remains -------------------------------------------------------- */

static double *sum_of(struct msim_learned_trace *t, int which)
{
    double *const sums[] = {&t->us, &t->base_us, &t->fitted_us,
                            &t->held_out_us};

    return sums[which];
}

enum { MEASURED, BASE, FITTED, HELD_OUT };

static void add_up(struct learning *l, const struct msim_learn_fit *fit,
                   const struct msim_learn_split *split, int which)
{
    for (uint32_t i = 0; i < l->rows.n; i++) {
        const struct msim_learn_row *r = &l->rows.rows[i];
        double us = which == MEASURED ? r->us
                    : which == BASE   ? r->model_us[0]
                                      : msim_learn_us(fit, r);

        if (which == HELD_OUT && split->fold[i] != split->without)
            continue;
        *sum_of(&l->out->traces[r->trace], which) += r->times * us;
    }
}

/* Fold of each row: its trace, or, of one trace alone, its shape. */
static uint32_t set_folds(const struct learning *l, uint32_t *fold)
{
    uint32_t seen = 0;

    for (uint32_t t = 0; t < l->out->n_traces; t++)
        seen += l->out->traces[t].observations > 0;
    l->out->by_shapes = seen < 2;
    for (uint32_t i = 0; i < l->rows.n; i++)
        fold[i] = seen < 2 ? i % SHAPE_FOLDS : l->rows.rows[i].trace;
    return seen < 2 ? SHAPE_FOLDS : l->out->n_traces;
}

static enum msim_status hold_out(struct learning *l,
                                 struct msim_learn_split *split, uint32_t folds)
{
    for (uint32_t f = 0; f < folds; f++) {
        struct msim_learn_fit fit;
        enum msim_status status;

        split->without = f;
        status = msim_learn_fit_rows(&fit, &l->rows, split);
        if (status == MSIM_OK)
            add_up(l, &fit, split, HELD_OUT);
        msim_levels_release(&fit.levels);
        MSIM_TRY(status);
    }
    split->without = UINT32_MAX;
    return MSIM_OK;
}

static void find_errors(struct msim_learned *out)
{
    double n = 0;

    for (uint32_t i = 0; i < out->n_traces; i++) {
        const struct msim_learned_trace *t = &out->traces[i];

        if (t->observations == 0)
            continue;
        n++;
        out->error_base += fabs(t->base_us / t->us - 1);
        out->error_fitted += fabs(t->fitted_us / t->us - 1);
        out->error_held_out += fabs(t->held_out_us / t->us - 1);
    }
    out->error_base /= n;
    out->error_fitted /= n;
    out->error_held_out /= n;
}

static enum msim_status fit_folds(struct learning *l, uint32_t *fold)
{
    struct msim_learn_split split = {fold, UINT32_MAX};
    struct msim_learn_fit fit;
    uint32_t folds;

    for (uint32_t i = 0; i < l->rows.n; i++)
        l->out->traces[l->rows.rows[i].trace].observations +=
            (uint32_t)l->rows.rows[i].times;
    folds = set_folds(l, fold);
    MSIM_TRY(hold_out(l, &split, folds));
    MSIM_TRY(msim_learn_fit_rows(&fit, &l->rows, &split));
    for (int which = MEASURED; which <= FITTED; which++)
        add_up(l, &fit, &split, which);
    l->out->levels = fit.levels;
    l->out->clock = msim_learn_clocks[fit.clock];
    find_errors(l->out);
    return MSIM_OK;
}

static enum msim_status fit(struct learning *l)
{
    uint32_t *fold = calloc((size_t)l->rows.n + 1, sizeof(*fold));
    enum msim_status status = fold ? fit_folds(l, fold) : MSIM_ENOMEM;

    free(fold);
    return status;
}

enum msim_status msim_learn(struct msim_learned *out,
                            const struct msim_learn_options *o,
                            struct msim_error *err)
{
    struct learning l = {.out = out, .o = o, .err = err};
    enum msim_status status;

    *out = (struct msim_learned){0};
    msim_arena_init(&out->arena);
    MSIM_TRY(msim_strtab_new(&out->kinds));
    l.rows.kinds = out->kinds;
    status = read_all(&l);
    if (status == MSIM_OK)
        status = fit(&l);
    free(l.rows.rows);
    msim_platform_free(l.p);
    return status;
}

void msim_learned_release(struct msim_learned *l)
{
    msim_arena_release(&l->arena);
    msim_strtab_free(l->kinds);
    msim_levels_release(&l->levels);
    free(l->traces);
    *l = (struct msim_learned){0};
}

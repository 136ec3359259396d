/*
 * calibrate/platform/platform_fit.c - one platform file from a data sheet and
 * tables.
 *
 * Fits do not depend on one another, so threads take them one by one; they are
 * written in a fixed order.
 */
#include "calibrate/platform/platform_fit.h"

#include "calibrate/collective/coll_fit.h"
#include "calibrate/fit/law_fit.h"
#include "core/base/containers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MIN        20 /* of a fit */
#define FIT_THREADS_MAX 64

static void add_ratio(cJSON *o, const char *key,
                      const struct msim_conv_ratio *r)
{
    cJSON *p = cJSON_AddObjectToObject(o, key);

    msim_number_add(p, "value", r->median);
    cJSON_AddStringToObject(p, "unit", "1");
    cJSON_AddStringToObject(p, "how",
                            "median over pairs of rows with the same shape, "
                            "full tiles and no Winograd: this gradient over "
                            "the forward pass");
    cJSON_AddNumberToObject(p, "rows", r->pairs);
    msim_number_add(p, "p10", r->p10);
    msim_number_add(p, "p90", r->p90);
}

static bool names_gpu(const cJSON *sheet, const char *gpu)
{
    const cJSON *t;

    cJSON_ArrayForEach(t, cJSON_GetObjectItemCaseSensitive(sheet, "tables"))
    {
        if (cJSON_IsString(t) && strcmp(t->valuestring, gpu) == 0)
            return true;
    }
    return false;
}

struct job {
    const struct msim_sample *own;
    uint32_t n_own;
    struct msim_fit_result fit;                     /* owned, or zero */
    const struct msim_coll_fit_result *collectives; /* else */
    enum msim_status status;
};

struct fit_run {
    const char *name;
    struct msim_data_sheet sheet;
    const struct msim_samples *samples;
    const struct msim_coll_fits *collectives;
    struct job *jobs;
    uint32_t n_jobs;
    uint32_t too_few; /* rows that are in no fit for that */
    atomic_uint next_job;
};

/* Collectives were fitted together: their fit is looked up. */
static enum msim_status fit_rows_of(const struct fit_run *run, struct job *job)
{
    struct msim_sample *rows;
    enum msim_status status;

    if (job->own->law == &MSIM_LAW_COLLECTIVE) {
        uint32_t i = msim_coll_fits_find(run->collectives, job->own);

        job->collectives = &run->collectives->fits[i];
        return i == UINT32_MAX ? MSIM_EINTERNAL : MSIM_OK;
    }
    rows = malloc(job->n_own * sizeof(*rows));
    if (!rows)
        return MSIM_ENOMEM;
    memcpy(rows, job->own, job->n_own * sizeof(*rows));
    for (uint32_t i = 0; i < job->n_own; i++)
        rows[i].sheet = &run->sheet;
    status = msim_fit_one(&job->fit, rows, job->n_own);
    free(rows);
    return status;
}

/* One of several threads: take the next job until there is none. */
static void *work(void *arg)
{
    struct fit_run *run = arg;

    for (;;) {
        uint32_t i = atomic_fetch_add(&run->next_job, 1);

        if (i >= run->n_jobs)
            return NULL;
        run->jobs[i].status = fit_rows_of(run, &run->jobs[i]);
    }
}

/* A job for each fit of this platform's GPUs, in the order of the samples. */
static enum msim_status make_jobs(struct fit_run *run, const cJSON *sheet)
{
    const struct msim_samples *s = run->samples;
    uint32_t begin = 0, capacity = 0;

    while (begin < s->n) {
        bool ours = names_gpu(sheet, s->rows[begin].gpu);
        uint32_t end = begin + 1;

        while (end < s->n &&
               msim_sample_same_fit(&s->rows[begin], &s->rows[end]))
            end++;
        if (ours && end - begin < ROWS_MIN) {
            run->too_few += end - begin;
        } else if (ours) {
            MSIM_TRY(msim_grow((void **)&run->jobs, &capacity, run->n_jobs,
                               sizeof(*run->jobs)));
            run->jobs[run->n_jobs++] =
                (struct job){.own = &s->rows[begin], .n_own = end - begin};
        }
        begin = end;
    }
    return MSIM_OK;
}

static void run_jobs(struct fit_run *run, uint32_t threads)
{
    pthread_t ids[FIT_THREADS_MAX];
    uint32_t started = 0;

    while (started + 1 < threads && started < FIT_THREADS_MAX &&
           pthread_create(&ids[started], NULL, work, run) == 0)
        started++;
    (void)work(run);
    while (started > 0)
        pthread_join(ids[--started], NULL);
}

static enum msim_status write_rows(const struct fit_run *run,
                                   const struct job *job, struct msim_file *out)
{
    if (job->collectives)
        return msim_coll_rows_write(out, run->name, run->collectives,
                                    job->collectives);
    for (uint32_t i = 0; i < job->n_own; i++)
        MSIM_TRY(msim_held_out_row_write(out, run->name, job->own->law->name,
                                         &job->own[i], &job->fit.held[i]));
    return MSIM_OK;
}

static enum msim_status write_job(const struct fit_run *run,
                                  const struct job *job, cJSON *fits,
                                  const struct msim_fit_options *options)
{
    FILE *report = options->report;
    const struct msim_coll_fit_result *c = job->collectives;

    MSIM_TRY(msim_fit_write(fits, job->own, c ? &c->fit : &job->fit));
    if (c)
        MSIM_TRY(msim_coll_logs_write(fits, run->collectives, c));
    if (report && c)
        msim_coll_report(report, run->name, job->own, c);
    else if (report)
        msim_fit_report(report, run->name, job->own->law->name, job->own,
                        &job->fit);
    return options->rows ? write_rows(run, job, options->rows) : MSIM_OK;
}

/* Write the results in the order of the jobs. */
static enum msim_status write_jobs(struct fit_run *run, cJSON *fits,
                                   const struct msim_fit_options *options)
{
    for (uint32_t i = 0; i < run->n_jobs; i++) {
        struct job *job = &run->jobs[i];

        if (job->status == MSIM_OK)
            job->status = write_job(run, job, fits, options);
        if (job->status != MSIM_OK)
            return job->status;
    }
    return MSIM_OK;
}

static enum msim_status fit_all(struct fit_run *run, const cJSON *sheet,
                                cJSON *fits,
                                const struct msim_fit_options *options)
{
    enum msim_status status = make_jobs(run, sheet);

    if (status == MSIM_OK) {
        run_jobs(run, options->threads);
        status = write_jobs(run, fits, options);
    }
    if (options->too_few)
        *options->too_few = run->too_few;
    for (uint32_t i = 0; i < run->n_jobs; i++)
        msim_fit_result_release(&run->jobs[i].fit);
    free(run->jobs);
    return status;
}

/* All members before the fits, in the order in which people read them. */
static enum msim_status make_head(cJSON *o, const cJSON *sheet,
                                  const struct msim_conv_ratios *ratios)
{
    static const char *const COPIED[] = {
        "name",     "kind",    "title",   "generation", "stand_ins",
        "links_of", "aliases", "devices", "data_sheet"};
    cJSON *more;

    cJSON_AddStringToObject(o, "schema", "mystique-sim/platform/1");
    for (size_t i = 0; i < sizeof(COPIED) / sizeof(*COPIED); i++) {
        const cJSON *from = cJSON_GetObjectItemCaseSensitive(sheet, COPIED[i]);

        if (from &&
            !cJSON_AddItemToObject(o, COPIED[i], cJSON_Duplicate(from, 1)))
            return MSIM_ENOMEM;
    }
    more = cJSON_AddObjectToObject(o, "parameters");
    add_ratio(more, "conv_strided_data_gradient", &ratios->strided_data);
    add_ratio(more, "conv_weight_gradient", &ratios->weight);
    return MSIM_OK;
}

enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_options *options,
                                   struct msim_error *err)
{
    struct fit_run run = {.name = msim_json_get_text(sheet, "name"),
                          .samples = samples,
                          .collectives = options->collectives};
    cJSON *o, *fits;
    enum msim_status status;

    *out = NULL;
    if (!run.name)
        return msim_fail(err, MSIM_EFORMAT, sheet_file, MSIM_OFFSET_NONE,
                         "a platform has no 'name'");
    MSIM_TRY(msim_data_sheet_read(
        &run.sheet, cJSON_GetObjectItemCaseSensitive(sheet, "data_sheet"), NULL,
        sheet_file, err));
    o = cJSON_CreateObject();
    if (!o)
        return MSIM_ENOMEM;
    status = make_head(o, sheet, options->ratios);
    fits = cJSON_AddArrayToObject(o, "cells");
    if (status == MSIM_OK)
        status = fits ? fit_all(&run, sheet, fits, options) : MSIM_ENOMEM;
    if (status != MSIM_OK) {
        cJSON_Delete(o);
        return status;
    }
    *out = o;
    return MSIM_OK;
}

/*
 * calibrate/platform_fit.c - one platform file from a data sheet and tables.
 *
 * Cells do not depend on one another, so threads take them one by one; they
 * are written in a fixed order.
 */
#include "calibrate/platform_fit.h"

#include "calibrate/cell_write.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEAST_ROWS       20 /* of a cell */
#define FIT_THREADS_MOST 64

static void add_ratio(cJSON *o, const char *key,
                      const struct msim_conv_ratio *r)
{
    cJSON *p = cJSON_AddObjectToObject(o, key);

    msim_number_add(p, "value", r->median);
    cJSON_AddStringToObject(p, "unit", "1");
    cJSON_AddStringToObject(p, "how",
                            "median over pairs of rows with the same shape, "
                            "this pass over the forward pass");
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
    struct msim_cell_fit fit;
    enum msim_status status;
};

struct fit_run {
    const char *name;
    struct msim_spec spec, sibling; /* sibling: whose rows are borrowed */
    const char *sibling_gpu;        /* NULL: nobody's */
    const struct msim_samples *samples;
    struct job *jobs;
    uint32_t n_jobs;
    atomic_uint next_job;
};

/*
 * Rank counts are few and whole ones are missing, so collectives borrow. From
 * a GPU whose links are of the same kind: rows of the same stack, and of the
 * same algorithm, which is what follows the link's name in the key. And where
 * ranks share a PCIe tree, whose crowding hits all alike, for a stack's own
 * all-reduce: NCCL's.
 */
static enum msim_borrowed borrowing(const struct fit_run *run,
                                    const struct msim_sample *own,
                                    const struct msim_sample *r)
{
    const char *a = strchr(own->key, '/');
    const char *b = strchr(r->key, '/');

    if (own->law != &MSIM_LAW_COLLECTIVE || r->law != own->law)
        return MSIM_BORROWED_NOT;
    if (run->sibling_gpu && strcmp(r->gpu, run->sibling_gpu) == 0 &&
        strcmp(r->framework, own->framework) == 0 &&
        strcasecmp(a ? a : "", b ? b : "") == 0)
        return MSIM_BORROWED_FROM_GPU;
    if (own->work.u.coll.algorithm && !b && strncmp(own->key, "PCIe", 4) == 0 &&
        strcmp(r->gpu, own->gpu) == 0 &&
        r->work.u.coll.collective == MSIM_COLL_ALL_REDUCE &&
        strncmp(r->key, own->key, (size_t)(a - own->key)) == 0 &&
        r->key[a - own->key] == '\0')
        return MSIM_BORROWED_FROM_STACK;
    return MSIM_BORROWED_NOT;
}

/* The cell's rows and those that it borrows; `*rows` is the caller's. */
static enum msim_status gather(const struct fit_run *run,
                               const struct msim_sample *own, uint32_t n_own,
                               struct msim_sample **rows, uint32_t *n)
{
    const struct msim_samples *s = run->samples;
    uint32_t count = n_own;

    for (uint32_t i = 0; i < s->n; i++)
        count += borrowing(run, own, &s->rows[i]) != MSIM_BORROWED_NOT;
    *rows = malloc(count * sizeof(**rows));
    if (!*rows)
        return MSIM_ENOMEM;
    memcpy(*rows, own, n_own * sizeof(**rows));
    *n = n_own;
    for (uint32_t i = 0; i < n_own; i++)
        (*rows)[i].spec = &run->spec;
    for (uint32_t i = 0; i < s->n; i++) {
        enum msim_borrowed from = borrowing(run, own, &s->rows[i]);
        struct msim_sample *r = &(*rows)[*n];

        if (from == MSIM_BORROWED_NOT)
            continue;
        *r = s->rows[i];
        r->borrowed = from;
        r->spec = from == MSIM_BORROWED_FROM_GPU ? &run->sibling : &run->spec;
        (*n)++;
    }
    return MSIM_OK;
}

static enum msim_status fit_cell(const struct fit_run *run, struct job *job)
{
    struct msim_sample *rows;
    enum msim_status status;
    uint32_t n;

    MSIM_TRY(gather(run, job->own, job->n_own, &rows, &n));
    status = msim_cell_fit(&job->fit, rows, job->n_own, n);
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
        run->jobs[i].status = fit_cell(run, &run->jobs[i]);
    }
}

/* The cells of this platform's GPUs, in the order of the samples. */
static enum msim_status make_jobs(struct fit_run *run, const cJSON *sheet)
{
    const struct msim_samples *s = run->samples;
    uint32_t begin = 0, capacity = 0;

    while (begin < s->n) {
        uint32_t end = begin + 1;

        while (end < s->n &&
               msim_sample_same_cell(&s->rows[begin], &s->rows[end]))
            end++;
        if (end - begin >= LEAST_ROWS && names_gpu(sheet, s->rows[begin].gpu)) {
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
    pthread_t ids[FIT_THREADS_MOST];
    uint32_t started = 0;

    while (started + 1 < threads && started < FIT_THREADS_MOST &&
           pthread_create(&ids[started], NULL, work, run) == 0)
        started++;
    (void)work(run);
    while (started > 0)
        pthread_join(ids[--started], NULL);
}

/* What came out, in the order of the jobs, whoever did them. */
static enum msim_status write_jobs(struct fit_run *run, cJSON *cells,
                                   FILE *report)
{
    for (uint32_t i = 0; i < run->n_jobs; i++) {
        struct job *job = &run->jobs[i];

        if (job->status == MSIM_OK)
            job->status = msim_cell_write(cells, job->own, &job->fit);
        if (job->status != MSIM_OK)
            return job->status;
        if (report)
            msim_cell_report(report, run->name, job->own, &job->fit);
    }
    return MSIM_OK;
}

static enum msim_status fit_cells(struct fit_run *run, const cJSON *sheet,
                                  cJSON *cells,
                                  const struct msim_fit_options *options)
{
    enum msim_status status = make_jobs(run, sheet);

    if (status == MSIM_OK) {
        run_jobs(run, options->threads);
        status = write_jobs(run, cells, options->report);
    }
    for (uint32_t i = 0; i < run->n_jobs; i++)
        msim_cell_fit_release(&run->jobs[i].fit);
    free(run->jobs);
    return status;
}

/* Everything but the cells, in the order in which people read it. */
static enum msim_status make_head(cJSON *o, const cJSON *sheet,
                                  const struct msim_conv_ratios *ratios)
{
    static const char *const COPIED[] = {"name",      "title",   "generation",
                                         "stand_ins", "aliases", "devices",
                                         "data_sheet"};
    cJSON *more;

    cJSON_AddStringToObject(o, "schema", "mystique-sim/platform/1");
    for (size_t i = 0; i < sizeof(COPIED) / sizeof(*COPIED); i++) {
        const cJSON *from = cJSON_GetObjectItemCaseSensitive(sheet, COPIED[i]);

        if (from &&
            !cJSON_AddItemToObject(o, COPIED[i], cJSON_Duplicate(from, 1)))
            return MSIM_ENOMEM;
    }
    more = cJSON_AddObjectToObject(o, "parameters");
    add_ratio(more, "conv_backward_data", &ratios->backward_data);
    add_ratio(more, "conv_backward_weight", &ratios->backward_weight);
    return MSIM_OK;
}

/* "link_sibling" names the platform whose links are of the same kind. */
static enum msim_status find_sibling(struct fit_run *run, const cJSON *sheet,
                                     const cJSON *sheets,
                                     const char *sheet_file,
                                     struct msim_error *err)
{
    const char *wanted = msim_json_get_text(sheet, "link_sibling");
    const cJSON *other;

    if (!wanted)
        return MSIM_OK;
    cJSON_ArrayForEach(other, sheets)
    {
        const char *name = msim_json_get_text(other, "name");

        if (!name || strcmp(name, wanted) != 0)
            continue;
        run->sibling_gpu = cJSON_GetStringValue(cJSON_GetArrayItem(
            cJSON_GetObjectItemCaseSensitive(other, "tables"), 0));
        return msim_spec_read(
            &run->sibling,
            cJSON_GetObjectItemCaseSensitive(other, "data_sheet"), NULL,
            sheet_file, err);
    }
    return msim_fail(err, MSIM_EFORMAT, sheet_file, MSIM_OFFSET_NONE,
                     "platform '%s' has link_sibling '%s', which is not there",
                     run->name, wanted);
}

enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const cJSON *sheets, const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_options *options,
                                   struct msim_error *err)
{
    struct fit_run run = {.name = msim_json_get_text(sheet, "name"),
                          .samples = samples};
    cJSON *o, *cells;
    enum msim_status status;

    *out = NULL;
    if (!run.name)
        return msim_fail(err, MSIM_EFORMAT, sheet_file, MSIM_OFFSET_NONE,
                         "a platform has no 'name'");
    MSIM_TRY(msim_spec_read(
        &run.spec, cJSON_GetObjectItemCaseSensitive(sheet, "data_sheet"), NULL,
        sheet_file, err));
    MSIM_TRY(find_sibling(&run, sheet, sheets, sheet_file, err));
    o = cJSON_CreateObject();
    if (!o)
        return MSIM_ENOMEM;
    status = make_head(o, sheet, options->ratios);
    cells = cJSON_AddArrayToObject(o, "cells");
    if (status == MSIM_OK)
        status = cells ? fit_cells(&run, sheet, cells, options) : MSIM_ENOMEM;
    if (status != MSIM_OK) {
        cJSON_Delete(o);
        return status;
    }
    *out = o;
    return MSIM_OK;
}

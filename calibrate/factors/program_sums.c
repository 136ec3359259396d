/*
 * calibrate/factors/program_sums.c - programs, loaded and priced.
 */
#include "calibrate/factors/factor_fit.h"

#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/job/job.h"
#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/platform/platform_data.h"

#include <stdlib.h>
#include <string.h>

#define PLATFORMS_MAX 64

/* The trace that was loaded last: tables have the rows of one in a run. */
struct reading {
    struct msim_program_sums *out;
    const char *folder, *data;
    struct msim_platform *platforms[PLATFORMS_MAX];
    char path[1024];
    struct msim_job *job;
    struct msim_works **works;
    struct msim_error *err;
};

static enum msim_status number_of(struct msim_program_names *names,
                                  const char *text, uint32_t *out)
{
    for (*out = 0; *out < names->n; (*out)++)
        if (strcmp(names->text[*out], text) == 0)
            return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&names->text, &names->cap, names->n,
                       sizeof(*names->text)));
    snprintf(names->text[names->n++], sizeof(*names->text), "%s", text);
    return MSIM_OK;
}

static void forget_job(struct reading *r)
{
    if (r->job)
        msim_works_free_ranks(r->works, r->job->n_ranks);
    msim_job_free(r->job);
    r->works = NULL;
    r->job = NULL;
}

static enum msim_status load_job(struct reading *r, const char *trace)
{
    const struct msim_load_options options = {.threads = 1};
    const char *paths[] = {r->path};
    char path[sizeof(r->path)];

    snprintf(path, sizeof(path), "%s/%s", r->folder, trace);
    if (r->job && strcmp(path, r->path) == 0)
        return MSIM_OK;
    forget_job(r);
    memcpy(r->path, path, sizeof(path));
    MSIM_TRY(msim_job_load(&r->job, paths, 1, &options, r->err));
    return msim_works_new_ranks(&r->works, r->job->ranks, r->job->n_ranks, NULL,
                                false);
}

/* The laws alone are asked: factors are what is looked for. */
static enum msim_status load_platform(struct reading *r, const char *name,
                                      uint32_t number)
{
    struct msim_platform *p;

    if (number >= PLATFORMS_MAX)
        return msim_fail(r->err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "more than %d platforms", PLATFORMS_MAX);
    if (r->platforms[number])
        return MSIM_OK;
    MSIM_TRY(msim_platform_load(&r->platforms[number], r->data, name, r->err));
    p = r->platforms[number];
    for (int k = 0; k < MSIM_FACTOR_COUNT; k++)
        p->programs.time[k] = 1;
    return MSIM_OK;
}

/* The part of `row`, whose parts are the last of the list, that a work adds to;
 * a new one where there is none. */
static enum msim_status part_of(struct msim_program_sums *s,
                                struct msim_program_sum *row,
                                const struct msim_work *w,
                                struct msim_program_part **out)
{
    const struct msim_program_part want = {.factor = msim_factor_of(w),
                                           .spread = msim_spread_of(w),
                                           .family = w->family};

    for (uint32_t i = row->parts; i < row->parts + row->n_parts; i++) {
        *out = &s->parts[i];
        if ((*out)->factor == want.factor && (*out)->spread == want.spread &&
            (*out)->family == want.family)
            return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&s->parts, &s->parts_cap, s->n_parts,
                       sizeof(*s->parts)));
    row->n_parts++;
    *out = &s->parts[s->n_parts++];
    **out = want;
    return MSIM_OK;
}

static enum msim_status add_operator(const struct reading *r, uint32_t op,
                                     struct msim_program_sum *row)
{
    const struct msim_work *works;
    uint32_t n;

    (void)msim_works_of(r->works[0], op, &works, &n);
    for (uint32_t i = 0; i < n; i++) {
        enum msim_factor kind = msim_factor_of(&works[i]);
        struct msim_program_part *part;
        struct msim_estimate e;

        MSIM_TRY(msim_model_predict(r->platforms[row->platform], &works[i],
                                    false, &e, r->err));
        *(kind < MSIM_FACTOR_COUNT ? &row->kind[kind] : &row->other) += e.us;
        MSIM_TRY(part_of(r->out, row, &works[i], &part));
        part->us += e.us;
        part->low_us += e.low_us;
        part->high_us += e.high_us;
    }
    return MSIM_OK;
}

static enum msim_status add_row(struct reading *r, const char *trace,
                                const char *platform, double us,
                                const char *group, const char *source)
{
    struct msim_program_sums *out = r->out;
    struct msim_program_sum row = {.us = us, .parts = out->n_parts};

    MSIM_TRY(number_of(&out->platforms, platform, &row.platform));
    MSIM_TRY(number_of(&out->groups, group, &row.group));
    MSIM_TRY(number_of(&out->sources, source, &row.source));
    MSIM_TRY(load_platform(r, platform, row.platform));
    MSIM_TRY(load_job(r, trace));
    for (uint32_t op = 0; op < r->job->ranks[0]->n_ops; op++)
        MSIM_TRY(add_operator(r, op, &row));
    MSIM_TRY(
        msim_grow((void **)&out->rows, &out->cap, out->n, sizeof(*out->rows)));
    out->rows[out->n++] = row;
    return MSIM_OK;
}

static enum msim_status read_rows(struct reading *r, struct msim_csv *csv,
                                  const char *table)
{
    static const char *const NAMES[] = {"trace", "platform", "us", "group",
                                        "source"};
    enum { TRACE, PLATFORM, US, GROUP, SOURCE, N };
    uint32_t column[N];
    char *const *f;

    for (int i = 0; i < N; i++) {
        column[i] = msim_csv_find(csv, NAMES[i]);
        if (column[i] == UINT32_MAX)
            return msim_fail(r->err, MSIM_EFORMAT, table, MSIM_OFFSET_NONE,
                             "no column '%s', want trace, platform, us, group "
                             "and source",
                             NAMES[i]);
    }
    for (;;) {
        double us;

        MSIM_TRY(msim_csv_next(csv, &f, r->err));
        if (!f)
            return MSIM_OK;
        us = strtod(f[column[US]], NULL);
        if (!(us > 0))
            return msim_fail(r->err, MSIM_EFORMAT, table, msim_csv_line(csv),
                             "'us' is '%s', want a time above 0",
                             f[column[US]]);
        MSIM_TRY(add_row(r, f[column[TRACE]], f[column[PLATFORM]], us,
                         f[column[GROUP]], f[column[SOURCE]]));
    }
}

/* The programs of a platform in turns, whatever those of others are. */
static enum msim_status deal_folds(struct msim_program_sums *s)
{
    uint32_t *fold = malloc(((size_t)s->groups.n + 1) * sizeof(*fold));

    if (!fold)
        return MSIM_ENOMEM;
    for (uint32_t p = 0; p < s->platforms.n; p++) {
        uint32_t n = 0;

        memset(fold, 0xff, s->groups.n * sizeof(*fold));
        for (uint32_t i = 0; i < s->n; i++) {
            struct msim_program_sum *row = &s->rows[i];

            if (row->platform != p)
                continue;
            if (fold[row->group] == UINT32_MAX)
                fold[row->group] = n++ % MSIM_PROGRAM_FOLDS;
            row->fold = fold[row->group];
        }
    }
    free(fold);
    return MSIM_OK;
}

enum msim_status msim_program_sums_read(struct msim_program_sums *s,
                                        const char *table, const char *folder,
                                        const char *data,
                                        struct msim_error *err)
{
    struct reading r = {.out = s, .folder = folder, .data = data, .err = err};
    struct msim_csv *csv = NULL;
    enum msim_status status;

    memset(s, 0, sizeof(*s));
    status = msim_csv_open(&csv, table, err);
    if (status == MSIM_OK)
        status = read_rows(&r, csv, table);
    if (status == MSIM_OK)
        status = deal_folds(s);
    msim_csv_close(csv);
    forget_job(&r);
    for (int i = 0; i < PLATFORMS_MAX; i++)
        msim_platform_free(r.platforms[i]);
    return status;
}

void msim_program_sums_release(struct msim_program_sums *s)
{
    free(s->rows);
    free(s->parts);
    free(s->platforms.text);
    free(s->groups.text);
    free(s->sources.text);
    memset(s, 0, sizeof(*s));
}

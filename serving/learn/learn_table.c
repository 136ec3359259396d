/*
 * serving/learn/learn_table.c - counters to rows.
 */
#include "serving/learn/learn_table.h"

#include "core/base/files.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one run ----------------------------------------------------- */

static enum msim_status add_numbers(struct msim_runs_table *t,
                                    const struct msim_watch *w)
{
    const struct msim_history *h = &w->history;
    double *row;

    for (uint32_t i = 0; i < t->width; i++) {
        double *x = msim_vec_add(&t->x, sizeof(*x));

        if (!x)
            return MSIM_ENOMEM;
        *x = i < MSIM_FEATURES ? w->x[i] : 0;
    }
    if (t->width == MSIM_FEATURES)
        return MSIM_OK;
    row = (double *)t->x.data + t->x.n - t->width;
    for (uint32_t s = 0; s < h->n_stages; s++)
        for (uint32_t f = 0; f < MSIM_STAGE_FEATURES; f++)
            row[msim_runs_column((struct msim_watch_column){s, f})] =
                msim_stage_feature_of(h, s, f, w->limit_ms);
    for (uint32_t f = 0; f < MSIM_E2E_FEATURES; f++)
        row[msim_runs_column((struct msim_watch_column){h->n_stages, f})] =
            msim_e2e_feature_of(h, f, w->limit_ms);
    return MSIM_OK;
}

/* Replicas of all stages together with their places, so that a move counts. */
static double replicas_of(const struct msim_watch *w)
{
    double sum = 0;

    for (uint32_t s = 0; s < w->app->n_stages; s++) {
        double n = w->seconds.stages[s].v[MSIM_COUNTER_REPLICAS];

        if (!isnan(n))
            sum += n * (1 + 0.001 * s);
    }
    return sum;
}

/* Until the end of the run is known, `next` holds the replicas. */
static enum msim_status add_second(struct msim_runs_table *t,
                                   const struct msim_watch *w)
{
    struct msim_runs_row *r = msim_vec_add(&t->rows, sizeof(*r));
    double p99 = w->seconds.stages[w->app->n_stages].v[MSIM_COUNTER_P99_MS];

    if (!r)
        return MSIM_ENOMEM;
    *r = (struct msim_runs_row){.run = t->n_runs,
                                .part =
                                    t->part == MSIM_NONE ? t->n_runs : t->part,
                                .t = w->seconds.t,
                                .log_p99 = log(p99 / w->limit_ms),
                                .next = replicas_of(w)};
    return add_numbers(t, w);
}

/* What came after each of the rows from `first` on, a run. */
void msim_runs_look_ahead(struct msim_runs_table *t, uint32_t first,
                          double horizon_s)
{
    struct msim_runs_row *r = t->rows.data;
    uint32_t end = t->rows.n;

    for (uint32_t i = first; i < end; i++) {
        double replicas = r[i].next, until = r[i].t + horizon_s + 1e-6;
        uint32_t j = i + 1;

        r[i].violation = 0;
        r[i].steady = true;
        for (; j < end && r[j].t <= until; j++) {
            if (r[j].log_p99 > 0)
                r[i].violation = 1;
            if (r[j].next != replicas)
                r[i].steady = false;
        }
        r[i].calm = r[i].steady && !(r[i].log_p99 > 0);
        if (j == end && r[end - 1].t + 1e-6 < r[i].t + horizon_s)
            r[i].violation = NAN;
    }
    for (uint32_t i = first; i < end; i++)
        r[i].next = i + 1 < end ? r[i + 1].log_p99 : NAN;
}

enum msim_status msim_runs_take(struct msim_runs_table *t, struct msim_watch *w,
                                const struct msim_counters_row *row)
{
    struct msim_verdict v;

    return msim_watch_add(w, row, &v) ? add_second(t, w) : MSIM_OK;
}

/* `kept`: the rows, where they are to be observed. */
static enum msim_status read_rows(struct msim_runs_table *t,
                                  struct msim_watch *w, struct msim_counters *c,
                                  struct msim_vec *kept, struct msim_error *err)
{
    struct msim_counters_row row;
    bool found;

    for (;;) {
        MSIM_TRY(msim_counters_next(c, &row, &found, err));
        if (!found)
            return MSIM_OK;
        MSIM_TRY(msim_runs_take(t, w, &row));
        if (t->observe) {
            struct msim_counters_row *to = msim_vec_add(kept, sizeof(*to));

            if (!to)
                return MSIM_ENOMEM;
            *to = row;
        }
    }
}

/* What the rows tell of the application, if it is all. */
static enum msim_status observe(struct msim_runs_table *t,
                                const struct msim_app *app,
                                const struct msim_vec *rows)
{
    struct msim_observed o, *to;
    bool whole;
    enum msim_status status =
        msim_observed_make(&o, &whole, app, rows->data, rows->n);

    o.part = t->part == MSIM_NONE ? t->n_runs : t->part;
    to = status == MSIM_OK && whole ? msim_vec_add(&t->observed, sizeof(*to))
                                    : NULL;
    if (to)
        *to = o;
    else
        msim_observed_release(&o);
    return status == MSIM_OK && whole && !to ? MSIM_ENOMEM : status;
}

static const char **names_of(const struct msim_app *app)
{
    const char **names = calloc(app->n_stages, sizeof(*names));

    for (uint32_t s = 0; names && s < app->n_stages; s++)
        names[s] = app->stages[s].name;
    return names;
}

enum msim_status msim_runs_add_run(struct msim_runs_table *t,
                                   const struct msim_app *app,
                                   const struct msim_watch_model *general,
                                   const char *path, double horizon_s,
                                   struct msim_error *err)
{
    struct msim_counters *c = NULL;
    struct msim_watch w;
    struct msim_vec rows = {0};
    const char **names = names_of(app);
    uint32_t first = t->rows.n;
    enum msim_status status =
        msim_watch_init(&w, app, general, NULL, horizon_s, err);

    if (!names)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = msim_watch_check_e2e(app, err);
    if (status == MSIM_OK)
        status = msim_counters_open(&c, path, names, app->n_stages, err);
    if (status == MSIM_OK)
        status = read_rows(t, &w, c, &rows, err);
    if (status == MSIM_OK && t->observe)
        status = observe(t, app, &rows);
    if (status == MSIM_OK)
        msim_runs_look_ahead(t, first, horizon_s);
    t->n_runs++;
    msim_counters_close(c);
    msim_watch_release(&w);
    free(rows.data);
    free(names);
    return status;
}

/* ---- a folder ---------------------------------------------------- */

static int is_counters(const struct dirent *e)
{
    size_t n = strlen(e->d_name);

    return e->d_name[0] != '.' && n > 4 &&
           strcmp(e->d_name + n - 4, ".csv") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

enum msim_status msim_runs_add_folder(struct msim_runs_table *t,
                                      const struct msim_app *app,
                                      const struct msim_watch_model *general,
                                      const char *folder, double horizon_s,
                                      uint32_t *n, struct msim_error *err)
{
    struct dirent **files = NULL;
    int found = scandir(folder, &files, is_counters, by_name);
    enum msim_status status = MSIM_OK;

    *n = 0;
    if (found < 0)
        return msim_fail(err, MSIM_EIO, folder, MSIM_OFFSET_NONE,
                         "no folder to be read: %s", strerror(errno));
    if (found == 0)
        status = msim_fail(err, MSIM_EFORMAT, folder, MSIM_OFFSET_NONE,
                           "no file ends in .csv, want counters of runs");
    for (int i = 0; i < found; i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", folder, files[i]->d_name);
        if (status == MSIM_OK)
            status = msim_runs_add_run(t, app, general, path, horizon_s, err);
        free(files[i]);
    }
    free(files);
    *n = status == MSIM_OK ? (uint32_t)found : 0;
    return status;
}

void msim_runs_table_release(struct msim_runs_table *t)
{
    free(t->rows.data);
    free(t->x.data);
    for (uint32_t i = 0; i < t->observed.n; i++)
        msim_observed_release((struct msim_observed *)t->observed.data + i);
    free(t->observed.data);
    memset(t, 0, sizeof(*t));
}

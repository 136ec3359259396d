/*
 * calibrate/machine/machine_fit.c - fit a platform file to a journal.
 */
#include "calibrate/machine/machine.h"

#include "calibrate/fit/law_fit.h"
#include "calibrate/machine/machine_internal.h"
#include "calibrate/measure/journal.h"
#include "calibrate/platform/platform_fit.h"
#include "calibrate/rows/samples.h"
#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/base/quantile.h"
#include "core/stream/input.h"
#include "models/platform/platform_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---------------------------------------------------------------- */

static bool is_cpu(const struct msim_cal_journal *j)
{
    return msim_cal_is_cpu(cJSON_GetObjectItemCaseSensitive(
        msim_cal_journal_greeting(j, NULL), "device"));
}

/* Journals may hold such collectives; nothing follows from them. */
static bool is_of_one_rank(const struct msim_work *w)
{
    return w->family == MSIM_FAMILY_COLLECTIVE && w->u.coll.ranks < 2;
}

static enum msim_status add_entry(struct msim_samples *s,
                                  const struct msim_cal_entry *e,
                                  const char *gpu)
{
    const struct msim_work *w = msim_cal_work(&e->experiment);

    return w && msim_cal_entry_is_row(e) && !is_of_one_rank(w)
               ? msim_samples_add_work(s, w, gpu, msim_cal_entry_us(e))
               : MSIM_OK;
}

/* The rows of a journal, sorted for fitting; those of `backend` alone where it
 * is not NULL. On success release them. */
static enum msim_status make_samples(struct msim_samples *out,
                                     const struct msim_cal_journal *j,
                                     const char *backend)
{
    char gpu[96];
    enum msim_status status = msim_samples_init(out);

    msim_cal_device_name(gpu, j);
    out->host = is_cpu(j);
    for (uint32_t i = 0; status == MSIM_OK && i < j->n; i++)
        if (!backend || strcmp(j->entries[i].backend, backend) == 0)
            status = add_entry(out, &j->entries[i], gpu);
    if (status == MSIM_OK)
        msim_samples_sort(out);
    else
        msim_samples_release(out);
    return status;
}

/* ---- scores -------------------------------------------------------------- */

struct held {
    double error;
    bool inside;
};

struct held_group {
    struct msim_cal_score *score;
    struct held *rows;
    uint32_t n, capacity;
};

static int by_error(const void *pa, const void *pb)
{
    const struct held *a = pa, *b = pb;

    return MSIM_ORDER(a->error, b->error);
}

static struct held_group *group_of(struct held_group *groups,
                                   struct msim_cal_scores *v, const char *law,
                                   const char *framework)
{
    struct msim_cal_score *one;

    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->list[i].law, law) == 0 &&
            strcmp(v->list[i].framework, framework) == 0)
            return &groups[i];
    if (v->n == MSIM_CAL_SCORES)
        return NULL;
    one = &v->list[v->n];
    *one = (struct msim_cal_score){0};
    snprintf(one->law, sizeof(one->law), "%s", law);
    snprintf(one->framework, sizeof(one->framework), "%s", framework);
    groups[v->n].score = one;
    return &groups[v->n++];
}

static enum msim_status add_held(struct held_group *g, double measured,
                                 double predicted, double low, double high)
{
    MSIM_TRY(
        msim_grow((void **)&g->rows, &g->capacity, g->n, sizeof(*g->rows)));
    g->rows[g->n++] = (struct held){fabs(predicted / measured - 1),
                                    measured >= low && measured <= high};
    return MSIM_OK;
}

static void summarise(struct held_group *g)
{
    struct msim_cal_score *v = g->score;

    qsort(g->rows, g->n, sizeof(*g->rows), by_error);
    v->rows = g->n;
    v->median = g->rows[g->n / 2].error;
    v->p90 = g->rows[(uint32_t)(0.9 * g->n)].error;
    for (uint32_t i = 0; i < g->n; i++) {
        v->mean += g->rows[i].error / g->n;
        v->coverage += g->rows[i].inside ? 1.0 / g->n : 0;
    }
}

/* Fields `at`: family, framework, measured, predicted, low, high. */
static enum msim_status add_row(struct msim_cal_scores *v,
                                struct held_group *groups, const char *law,
                                char *const *f, const uint32_t *at)
{
    struct held_group *g = group_of(groups, v, law, f[at[1]]);

    return g ? add_held(g, strtod(f[at[2]], NULL), strtod(f[at[3]], NULL),
                        strtod(f[at[4]], NULL), strtod(f[at[5]], NULL))
             : MSIM_OK;
}

static enum msim_status read_held_rows(struct msim_cal_scores *v,
                                       struct held_group *groups,
                                       struct msim_csv *csv,
                                       struct msim_error *err)
{
    static const char *const NAMES[] = {"family",      "framework",
                                        "measured_us", "predicted_us",
                                        "low_us",      "high_us"};
    uint32_t at[6];
    char *const *f;

    for (int i = 0; i < 6; i++)
        at[i] = msim_csv_find(csv, NAMES[i]);
    for (;;) {
        MSIM_TRY(msim_csv_next(csv, &f, err));
        if (!f)
            return MSIM_OK;
        if (strcmp(f[at[0]], "collective_gpu") == 0)
            continue; /* without its only device a fit knows nothing */
        MSIM_TRY(add_row(v, groups, f[at[0]], f, at));
        if (strncmp(f[at[0]], "collective", 10) != 0)
            MSIM_TRY(add_row(v, groups, MSIM_CAL_ALL, f, at));
    }
}

/* Whether an entry is of the law and backend of a score: collectives have
 * several laws. */
static bool is_scored(const struct msim_cal_entry *e,
                      const struct msim_cal_score *s, bool host)
{
    const struct msim_work *w = msim_cal_work(&e->experiment);
    const struct msim_law *law;

    if (!w || !msim_cal_entry_is_row(e) ||
        strcmp(e->backend, s->framework) != 0)
        return false;
    law = msim_law_of(w->family, host);
    return strcmp(s->law, MSIM_CAL_ALL) == 0 ||
           (law && strncmp(s->law, law->name, strlen(law->name)) == 0);
}

static enum msim_status score_repeats(struct msim_cal_scores *v,
                                      const struct msim_cal_journal *j)
{
    double *ratios = malloc(((size_t)j->n + 1) * sizeof(*ratios));

    for (uint32_t i = 0; ratios && i < v->n; i++) {
        uint32_t n = 0;

        for (uint32_t k = 0; k < j->n; k++) {
            const struct msim_cal_entry *e = &j->entries[k];

            if (e->timed > 1 && is_scored(e, &v->list[i], is_cpu(j)))
                ratios[n++] = msim_cal_entry_repeatability(e);
        }
        v->list[i].repeats = n ? msim_median(ratios, n) : NAN;
    }
    free(ratios);
    return ratios ? MSIM_OK : MSIM_ENOMEM;
}

/* Scores by backend and law, from the file of held-out rows. */
static enum msim_status evaluate(struct msim_cal_scores *v, const char *held,
                                 struct msim_error *err)
{
    struct held_group groups[MSIM_CAL_SCORES] = {{0}};
    struct msim_csv *csv;
    enum msim_status status;

    v->n = 0;
    MSIM_TRY(msim_csv_open(&csv, held, err));
    status = read_held_rows(v, groups, csv, err);
    msim_csv_close(csv);
    for (uint32_t i = 0; i < v->n; i++) {
        if (status == MSIM_OK && groups[i].n)
            summarise(&groups[i]);
        free(groups[i].rows);
    }
    return status;
}

static void write_scores(cJSON *platform, const struct msim_cal_scores *v)
{
    cJSON *list = cJSON_AddArrayToObject(platform, "validation");

    for (uint32_t i = 0; list && i < v->n; i++) {
        const struct msim_cal_score *one = &v->list[i];
        cJSON *o = cJSON_CreateObject();

        cJSON_AddItemToArray(list, o);
        cJSON_AddStringToObject(o, "law", one->law);
        cJSON_AddStringToObject(o, "framework", one->framework);
        cJSON_AddNumberToObject(o, "rows_held_back", one->rows);
        msim_number_add(o, "error_median", one->median);
        msim_number_add(o, "error_mean", one->mean);
        msim_number_add(o, "error_p90", one->p90);
        msim_number_add(o, "interval_coverage", one->coverage);
        if (!isnan(one->repeats))
            msim_number_add(o, "repeats_high_over_low", one->repeats);
    }
}

static enum msim_status write_differences(cJSON *platform,
                                          const struct msim_cal_journal *j)
{
    struct msim_cal_differences d;
    cJSON *list;

    MSIM_TRY(msim_cal_compare(&d, j));
    list = d.n ? cJSON_AddArrayToObject(platform, "differences") : NULL;
    for (uint32_t i = 0; list && i < d.n; i++) {
        cJSON *o = cJSON_CreateObject();

        cJSON_AddItemToArray(list, o);
        cJSON_AddStringToObject(o, "table", msim_table_text(d.list[i].table));
        cJSON_AddStringToObject(o, "backend", d.list[i].backend);
        cJSON_AddStringToObject(o, "over", d.list[i].other);
        cJSON_AddNumberToObject(o, "pairs", d.list[i].pairs);
        msim_number_add(o, "median", d.list[i].median);
        msim_number_add(o, "p10", d.list[i].p10);
        msim_number_add(o, "p90", d.list[i].p90);
    }
    return MSIM_OK;
}

static void write_ratio(cJSON *o, const char *key,
                        const struct msim_cal_ratio *r)
{
    cJSON *to = r->n ? cJSON_AddObjectToObject(o, key) : NULL;

    if (to)
        msim_cal_ratio_write(to, r);
}

static enum msim_status write_counters(cJSON *platform,
                                       const struct msim_cal_journal *j)
{
    struct msim_cal_counts c;
    cJSON *list;

    MSIM_TRY(msim_cal_count(&c, j));
    list = c.n ? cJSON_AddArrayToObject(platform, "counters") : NULL;
    for (uint32_t i = 0; list && i < c.n; i++) {
        cJSON *o = cJSON_CreateObject();

        cJSON_AddItemToArray(list, o);
        cJSON_AddStringToObject(o, "table", msim_table_text(c.list[i].table));
        cJSON_AddStringToObject(o, "backend", c.list[i].backend);
        cJSON_AddNumberToObject(o, "experiments", c.list[i].experiments);
        write_ratio(o, "read_over_assumed", &c.list[i].read);
        write_ratio(o, "written_over_assumed", &c.list[i].written);
        write_ratio(o, "operations_over_assumed", &c.list[i].flops);
    }
    return MSIM_OK;
}

static enum msim_status write_concurrent(cJSON *platform,
                                         const struct msim_cal_journal *j)
{
    struct msim_cal_concurrents b;

    MSIM_TRY(msim_cal_concurrent(&b, j));
    msim_cal_concurrent_write(platform, &b);
    return MSIM_OK;
}

static enum msim_status write_sustained(cJSON *platform,
                                        const struct msim_cal_journal *j)
{
    struct msim_cal_sustained s;

    MSIM_TRY(msim_cal_sustain(&s, j));
    msim_cal_sustained_write(platform, &s);
    return MSIM_OK;
}

static double or_zero(double v)
{
    return isnan(v) ? 0 : v;
}

static cJSON *make_latency(const struct msim_cal_entry *e)
{
    const struct msim_experiment *x = &e->experiment.timed;
    cJSON *o = cJSON_CreateObject();

    cJSON_AddStringToObject(o, "table", msim_table_text(x->table));
    cJSON_AddStringToObject(o, "op", x->op);
    cJSON_AddStringToObject(o, "backend", e->backend);
    msim_number_add(o, "us", e->answer.us);
    msim_number_add(o, "low_us", or_zero(e->answer.low_us));
    msim_number_add(o, "high_us", or_zero(e->answer.high_us));
    return o;
}

/* What has no sizes, and so no law: latencies, and what PyTorch takes to
 * dispatch. */
static void write_latencies(cJSON *platform, const struct msim_cal_journal *j)
{
    cJSON *list = cJSON_AddArrayToObject(platform, "latencies");

    for (uint32_t i = 0; list && i < j->n; i++) {
        const struct msim_cal_entry *e = &j->entries[i];
        enum msim_table table = e->experiment.timed.table;

        if (msim_cal_entry_is_row(e) &&
            (table == MSIM_TABLE_LATENCY || table == MSIM_TABLE_DISPATCH))
            cJSON_AddItemToArray(list, make_latency(e));
    }
}

/* ---- rows themselves ----------------------------------------------------- */

/* Deciles of the runs and the visits, whichever are farther. */
static struct msim_estimate took_of(const struct msim_cal_entry *e)
{
    struct msim_estimate t = {.us = msim_cal_entry_us(e)};

    t.low_us = t.high_us = t.us;
    if (e->answer.low_us > 0)
        t.low_us = fmin(t.us, e->answer.low_us);
    if (e->answer.high_us > 0)
        t.high_us = fmax(t.us, e->answer.high_us);
    for (uint32_t i = 0; i < e->timed; i++) {
        t.low_us = fmin(t.low_us, e->us[i]);
        t.high_us = fmax(t.high_us, e->us[i]);
    }
    return t;
}

static void write_timed_row(cJSON *list, const struct msim_cal_entry *e,
                            bool host)
{
    const struct msim_work *w = msim_cal_work(&e->experiment);
    struct msim_estimate took;
    cJSON *o;

    if (!w || !msim_cal_entry_is_row(e) || e->experiment.timed.warm)
        return;
    o = msim_timed_row_new(w, host);
    if (!o)
        return;
    took = took_of(e);
    msim_number_add(o, "bytes", w->bytes_read + w->bytes_written);
    msim_number_add(o, "us", took.us);
    msim_number_add(o, "low_us", took.low_us);
    msim_number_add(o, "high_us", took.high_us);
    cJSON_AddItemToArray(list, o);
}

/* What was timed is its own answer, whatever laws make of it. */
static void write_timed(cJSON *platform, const struct msim_cal_journal *j)
{
    cJSON *list = cJSON_AddArrayToObject(platform, "timed");

    for (uint32_t i = 0; list && i < j->n; i++)
        write_timed_row(list, &j->entries[i], is_cpu(j));
}

/* ---- provenance ---------------------------------------------------------- */

static void copy_member(cJSON *to, const cJSON *from, const char *key)
{
    const cJSON *member = cJSON_GetObjectItemCaseSensitive(from, key);

    if (member)
        cJSON_AddItemToObject(to, key, cJSON_Duplicate(member, true));
}

static uint32_t count_rows(const struct msim_cal_journal *j,
                           const char *backend)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < j->n; i++)
        n += strcmp(j->entries[i].backend, backend) == 0 &&
             msim_cal_entry_is_row(&j->entries[i]);
    return n;
}

static void write_provenance(cJSON *platform, const struct msim_cal_journal *j)
{
    cJSON *o = cJSON_AddObjectToObject(platform, "provenance");
    cJSON *backends;

    cJSON_AddStringToObject(o, "program",
                            "mystique-sim calibrate " MSIM_VERSION);
    cJSON_AddStringToObject(
        o, "method",
        "profilers/README.md: median of runs on operands out of the caches");
    cJSON_AddStringToObject(o, "rows_file", msim_path_name(j->path));
    msim_number_add(o, "measuring_seconds", msim_cal_journal_seconds(j, NULL));
    backends = cJSON_AddArrayToObject(o, "backends");
    for (uint32_t i = 0; i < j->n_greetings; i++) {
        const cJSON *line = j->greetings[i];
        const cJSON *greeting =
            cJSON_GetObjectItemCaseSensitive(line, "greeting");
        cJSON *one = cJSON_CreateObject();

        cJSON_AddItemToArray(backends, one);
        copy_member(one, line, "backend");
        copy_member(one, line, "date");
        copy_member(one, greeting, "version");
        copy_member(one, greeting, "device");
        copy_member(one, greeting, "libraries");
        cJSON_AddNumberToObject(
            one, "rows", count_rows(j, msim_json_get_text(line, "backend")));
    }
}

/* ---- all of it ----------------------------------------------------------- */

/* A platform of nothing is none. */
static enum msim_status check_fits(const cJSON *platform,
                                   const struct msim_cal_journal *j,
                                   struct msim_error *err)
{
    char asked[400];

    if (cJSON_GetArraySize(
            cJSON_GetObjectItemCaseSensitive(platform, "cells")) > 0)
        return MSIM_OK;
    MSIM_TRY(msim_cal_failures_tell(asked, sizeof(asked), j));
    return msim_fail(err, MSIM_ECHECK, j->path, MSIM_OFFSET_NONE,
                     "too few rows of any kind to fit a law to: %s; give more "
                     "--budget",
                     asked);
}

/* Fit, and write held-out rows to a file where that is wanted. */
static enum msim_status
fit_platform(cJSON **out, const struct msim_cal_journal *j, const cJSON *sheet,
             const struct msim_samples *s, struct msim_fit_options *options,
             const char *held, struct msim_error *err)
{
    enum msim_status status = MSIM_OK;

    if (held) {
        MSIM_TRY(msim_file_open(&options->rows, held, NULL, err));
        status = msim_held_out_header_write(options->rows);
    }
    if (status == MSIM_OK)
        status = msim_platform_fit(out, sheet, "the journal", s, options, err);
    if (status == MSIM_OK)
        status = check_fits(*out, j, err);
    return msim_file_close(options->rows, status, err);
}

static enum msim_status fit_samples(cJSON **out,
                                    const struct msim_cal_journal *j,
                                    cJSON *sheet, const struct msim_samples *s,
                                    const struct msim_cal_fit_options *o,
                                    uint32_t *too_few, struct msim_error *err)
{
    struct msim_conv_ratios ratios;
    struct msim_coll_fits collectives;
    struct msim_fit_options options = {.ratios = &ratios,
                                       .collectives = &collectives,
                                       .threads = o->threads,
                                       .too_few = too_few};
    cJSON *sheets = cJSON_CreateArray();
    enum msim_status status;

    if (!sheets || !cJSON_AddItemReferenceToArray(sheets, sheet)) {
        cJSON_Delete(sheets);
        return MSIM_ENOMEM;
    }
    msim_conv_ratios_make(&ratios, s);
    status = msim_coll_fit(&collectives, s, o->collectives, sheets,
                           "the journal", err);
    if (status == MSIM_OK) {
        status = fit_platform(out, j, sheet, s, &options, o->held, err);
        msim_coll_fits_release(&collectives);
    }
    cJSON_Delete(sheets);
    return status;
}

enum msim_status msim_cal_fit(cJSON **out, const struct msim_cal_journal *j,
                              const struct msim_cal_fit_options *options,
                              struct msim_cal_scores *scores,
                              struct msim_error *err)
{
    struct msim_cal_scores own, *v = scores ? scores : &own;
    struct msim_samples s;
    cJSON *sheet;
    enum msim_status status;

    *out = NULL;
    v->n = 0;
    MSIM_TRY(msim_cal_sheet(&sheet, j, options->name, options->data, err));
    status = make_samples(&s, j, options->backend);
    if (status == MSIM_OK) {
        status = fit_samples(out, j, sheet, &s, options, &v->too_few, err);
        msim_samples_release(&s);
    }
    if (status == MSIM_OK) {
        write_provenance(*out, j);
        write_latencies(*out, j);
    }
    if (status == MSIM_OK && options->held) {
        status = evaluate(v, options->held, err);
        if (status == MSIM_OK)
            status = score_repeats(v, j);
        write_scores(*out, v);
        if (status == MSIM_OK)
            status = write_differences(*out, j);
        if (status == MSIM_OK)
            status = write_counters(*out, j);
        if (status == MSIM_OK)
            status = write_concurrent(*out, j);
        if (status == MSIM_OK)
            status = write_sustained(*out, j);
        write_timed(*out, j);
    }
    cJSON_Delete(sheet);
    if (status != MSIM_OK) {
        cJSON_Delete(*out);
        *out = NULL;
    }
    return status;
}

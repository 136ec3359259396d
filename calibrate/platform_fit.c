/*
 * calibrate/platform_fit.c - one platform file from a data sheet and tables.
 */
#include "calibrate/platform_fit.h"

#include "calibrate/cell_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEAST_ROWS 20 /* of a cell */

const char MSIM_FIT_REPORT_HEADER[] =
    "platform,table_gpu,family,framework,cell,rows,groups,"
    "fitted_mean_pct,law_alone_mean_pct,mean_pct,median_pct,p90_pct,worst_pct,"
    "interval_coverage_pct,interval_high_over_low\n";

/* Six significant digits are more than a fit knows, and read back alike. */
static void add_number(cJSON *o, const char *key, double v)
{
    char text[32];

    snprintf(text, sizeof(text), "%.6g", v);
    cJSON_AddNumberToObject(o, key, strtod(text, NULL));
}

/* ---- convolutions' backward passes ----------------------------------------
 */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool same_conv(const struct msim_sample *a, const struct msim_sample *b)
{
    struct msim_work w = b->work;

    w.u.conv.pass = a->work.u.conv.pass;
    return strcmp(a->gpu, b->gpu) == 0 && a->work.dtype == b->work.dtype &&
           strcmp(a->framework, b->framework) == 0 &&
           memcmp(&a->work.u.conv, &w.u.conv, sizeof(w.u.conv)) == 0;
}

static void pass_ratio(struct msim_fit_ratio *out, const struct msim_samples *s,
                       enum msim_conv_pass pass)
{
    double *ratios = malloc(((size_t)s->n + 1) * sizeof(*ratios));
    uint32_t n = 0;

    *out = (struct msim_fit_ratio){.median = 1, .p10 = 1, .p90 = 1};
    for (uint32_t i = 0; ratios && i < s->n; i++) {
        if (s->rows[i].law != &MSIM_LAW_CONV ||
            s->rows[i].work.u.conv.pass != pass)
            continue;
        for (uint32_t j = 0; j < s->n; j++) {
            if (s->rows[j].law == &MSIM_LAW_CONV &&
                s->rows[j].work.u.conv.pass == MSIM_CONV_FORWARD &&
                same_conv(&s->rows[i], &s->rows[j])) {
                ratios[n++] = s->rows[i].us / s->rows[j].us;
                break;
            }
        }
    }
    if (n > 0) {
        qsort(ratios, n, sizeof(*ratios), by_value);
        out->median = ratios[n / 2];
        out->p10 = ratios[n / 10];
        out->p90 = ratios[n - 1 - n / 10];
        out->pairs = n;
    }
    free(ratios);
}

void msim_fit_shared_make(struct msim_fit_shared *shared,
                          const struct msim_samples *s)
{
    pass_ratio(&shared->backward_data, s, MSIM_CONV_BACKWARD_DATA);
    pass_ratio(&shared->backward_weight, s, MSIM_CONV_BACKWARD_WEIGHT);
}

static void add_ratio(cJSON *o, const char *key, const struct msim_fit_ratio *r)
{
    cJSON *p = cJSON_AddObjectToObject(o, key);

    add_number(p, "value", r->median);
    cJSON_AddStringToObject(p, "unit", "1");
    cJSON_AddStringToObject(p, "how",
                            "median over pairs of rows with the same shape, "
                            "this pass over the forward pass");
    cJSON_AddNumberToObject(p, "rows", r->pairs);
    add_number(p, "p10", r->p10);
    add_number(p, "p90", r->p90);
}

/* ---- one cell
 * ----------------------------------------------------------------
 */

static void add_constants(cJSON *cell, const struct msim_law *law,
                          const struct msim_cell_fit *f)
{
    cJSON *o = cJSON_AddObjectToObject(cell, "constants");

    for (uint32_t i = 0; i < law->n_params; i++) {
        cJSON *p = cJSON_AddObjectToObject(o, law->params[i].name);

        add_number(p, "value", f->constants.params[i]);
        cJSON_AddStringToObject(p, "unit", law->params[i].unit);
    }
    if (f->constants.gap_us > 0) {
        cJSON *p = cJSON_AddObjectToObject(o, "launch_gap");

        add_number(p, "value", f->constants.gap_us);
        cJSON_AddStringToObject(p, "unit", "us");
        cJSON_AddStringToObject(
            p, "how",
            "fitted with the others; the source times calls from "
            "the host, and t0, which that hides, is "
            "kernel_floor_us");
    }
}

static void add_range(cJSON *cell, const struct msim_law *law,
                      const struct msim_cell_fit *f)
{
    cJSON *o = cJSON_AddObjectToObject(cell, "range");

    for (uint32_t i = 0; i < law->n_sizes; i++) {
        char text[64];

        snprintf(text, sizeof(text), "[%.5g,%.5g]", f->range_low[i],
                 f->range_high[i]);
        cJSON_AddRawToObject(o, law->features[i], text);
    }
}

static void add_interval(cJSON *cell, const struct msim_cell_fit *f)
{
    cJSON *bins = cJSON_AddArrayToObject(cell, "interval");

    for (uint32_t i = 0; i < f->n_bins; i++) {
        char text[96];
        char upto[32] = "";

        if (isfinite(f->bins[i].upto_us))
            snprintf(upto, sizeof(upto), "\"upto_us\":%.5g,",
                     f->bins[i].upto_us);
        snprintf(text, sizeof(text), "{%s\"low\":%.4g,\"high\":%.4g}", upto,
                 f->bins[i].low, f->bins[i].high);
        cJSON_AddItemToArray(bins, cJSON_CreateRaw(text));
    }
}

/* The trees on one line: nobody reads them. */
static enum msim_status add_forest(cJSON *cell, const cJSON *forest)
{
    char *text;

    if (!forest)
        return MSIM_OK;
    text = cJSON_PrintUnformatted(forest);
    if (!text)
        return MSIM_ENOMEM;
    cJSON_AddRawToObject(cell, "forest", text);
    cJSON_free(text);
    return MSIM_OK;
}

static enum msim_status add_cell(cJSON *cells, const struct msim_sample *r,
                                 const struct msim_cell_fit *f)
{
    cJSON *cell = cJSON_CreateObject();
    char source[128];

    if (!cell || !cJSON_AddItemToArray(cells, cell))
        return MSIM_ENOMEM;
    cJSON_AddStringToObject(cell, "law", r->law->name);
    cJSON_AddStringToObject(cell, "framework", r->framework);
    cJSON_AddStringToObject(cell, "key", r->key);
    cJSON_AddStringToObject(cell, "table_gpu", r->gpu);
    snprintf(source, sizeof(source),
             "least mean |log error| over rows of %s (GSL simplex), trees on "
             "what is left",
             r->work.source ? r->work.source : r->framework);
    cJSON_AddStringToObject(cell, "how", source);
    cJSON_AddNumberToObject(cell, "rows", f->rows);
    cJSON_AddNumberToObject(cell, "groups", f->groups);
    if (f->borrowed)
        cJSON_AddNumberToObject(cell, "rows_borrowed", f->borrowed);
    add_number(cell, "error_fitted", f->fitted.mean);
    add_number(cell, "error_held_back", f->held_back.mean);
    add_number(cell, "error_held_back_median", f->held_back.median);
    add_number(cell, "error_held_back_p90", f->held_back.p90);
    add_number(cell, "interval_coverage", f->coverage);
    add_constants(cell, r->law, f);
    add_range(cell, r->law, f);
    add_interval(cell, f);
    return add_forest(cell, f->forest);
}

static void report_cell(FILE *out, const char *platform,
                        const struct msim_sample *r,
                        const struct msim_cell_fit *f)
{
    fprintf(out,
            "%s,%s,%s,%s,%s,%u,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f,%.3f\n",
            platform, r->gpu, r->law->name, r->framework, r->key, f->rows,
            f->groups, 100 * f->fitted.mean, 100 * f->law_held_back.mean,
            100 * f->held_back.mean, 100 * f->held_back.median,
            100 * f->held_back.p90, 100 * f->held_back.worst, 100 * f->coverage,
            f->width);
}

/* ---- one platform
 * ---------------------------------------------------------------
 */

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

static bool same_cell(const struct msim_sample *a, const struct msim_sample *b)
{
    return a->law == b->law && strcmp(a->gpu, b->gpu) == 0 &&
           strcmp(a->framework, b->framework) == 0 &&
           strcmp(a->key, b->key) == 0;
}

struct fit_run {
    const char *name;
    struct msim_spec spec, sibling; /* sibling: whose rows are borrowed */
    const char *sibling_gpu;        /* NULL: nobody's */
    cJSON *cells;
    const struct msim_samples *samples;
    FILE *report, *progress;
};

/*
 * Rank counts are few and whole ones are missing, so collectives borrow from
 * a GPU whose links are of the same kind: rows of the same stack, and of the
 * same algorithm, which is what follows the link's name in the key.
 */
static bool may_borrow(const struct fit_run *run, const struct msim_sample *own,
                       const struct msim_sample *r)
{
    const char *a = strchr(own->key, '/');
    const char *b = strchr(r->key, '/');

    return run->sibling_gpu && own->law == &MSIM_LAW_COLLECTIVE &&
           r->law == own->law && strcmp(r->gpu, run->sibling_gpu) == 0 &&
           strcmp(r->framework, own->framework) == 0 &&
           strcasecmp(a ? a : "", b ? b : "") == 0;
}

/* The cell's rows and those that it borrows; `*rows` is the caller's. */
static enum msim_status gather(const struct fit_run *run,
                               const struct msim_sample *own, uint32_t n_own,
                               struct msim_sample **rows, uint32_t *n)
{
    const struct msim_samples *s = run->samples;
    uint32_t count = n_own;

    for (uint32_t i = 0; i < s->n; i++)
        count += may_borrow(run, own, &s->rows[i]);
    *rows = malloc(count * sizeof(**rows));
    if (!*rows)
        return MSIM_ENOMEM;
    memcpy(*rows, own, n_own * sizeof(**rows));
    *n = n_own;
    for (uint32_t i = 0; i < s->n; i++)
        if (may_borrow(run, own, &s->rows[i]))
            (*rows)[(*n)++] = s->rows[i];
    for (uint32_t i = 0; i < *n; i++) {
        (*rows)[i].borrowed = i >= n_own;
        (*rows)[i].spec = i >= n_own ? &run->sibling : &run->spec;
    }
    return MSIM_OK;
}

static enum msim_status report_and_add(struct fit_run *run,
                                       const struct msim_sample *r,
                                       struct msim_cell_fit *f)
{
    enum msim_status status = add_cell(run->cells, r, f);

    if (run->report)
        report_cell(run->report, run->name, r, f);
    if (run->progress)
        report_cell(run->progress, run->name, r, f);
    msim_cell_fit_release(f);
    return status;
}

static enum msim_status fit_cell(struct fit_run *run,
                                 const struct msim_sample *own, uint32_t n_own)
{
    struct msim_cell_fit f;
    struct msim_sample *rows;
    enum msim_status status;
    uint32_t n;

    if (n_own < LEAST_ROWS)
        return MSIM_OK;
    MSIM_TRY(gather(run, own, n_own, &rows, &n));
    status = msim_cell_fit(&f, rows, n_own, n);
    if (status == MSIM_OK)
        status = report_and_add(run, rows, &f);
    free(rows);
    return status;
}

static enum msim_status fit_cells(struct fit_run *run, const cJSON *sheet)
{
    const struct msim_samples *s = run->samples;
    uint32_t begin = 0;

    while (begin < s->n) {
        uint32_t end = begin + 1;

        while (end < s->n && same_cell(&s->rows[begin], &s->rows[end]))
            end++;
        if (names_gpu(sheet, s->rows[begin].gpu))
            MSIM_TRY(fit_cell(run, &s->rows[begin], end - begin));
        begin = end;
    }
    return MSIM_OK;
}

/* Everything but the cells, in the order in which people read it. */
static enum msim_status make_head(cJSON *o, const cJSON *sheet,
                                  const struct msim_fit_shared *shared)
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
    add_ratio(more, "conv_backward_data", &shared->backward_data);
    add_ratio(more, "conv_backward_weight", &shared->backward_weight);
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
            cJSON_GetObjectItemCaseSensitive(other, "data_sheet"), sheet_file,
            err);
    }
    return msim_fail(err, MSIM_EFORMAT, sheet_file, MSIM_OFFSET_NONE,
                     "platform '%s' has link_sibling '%s', which is not there",
                     run->name, wanted);
}

enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const cJSON *sheets, const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_shared *shared,
                                   FILE *report, FILE *progress,
                                   struct msim_error *err)
{
    struct fit_run run = {.name = msim_json_get_text(sheet, "name"),
                          .samples = samples,
                          .report = report,
                          .progress = progress};
    cJSON *o;
    enum msim_status status;

    *out = NULL;
    if (!run.name)
        return msim_fail(err, MSIM_EFORMAT, sheet_file, MSIM_OFFSET_NONE,
                         "a platform has no 'name'");
    MSIM_TRY(msim_spec_read(
        &run.spec, cJSON_GetObjectItemCaseSensitive(sheet, "data_sheet"),
        sheet_file, err));
    MSIM_TRY(find_sibling(&run, sheet, sheets, sheet_file, err));
    o = cJSON_CreateObject();
    if (!o)
        return MSIM_ENOMEM;
    status = make_head(o, sheet, shared);
    run.cells = cJSON_AddArrayToObject(o, "cells");
    if (status == MSIM_OK)
        status = run.cells ? fit_cells(&run, sheet) : MSIM_ENOMEM;
    if (status != MSIM_OK) {
        cJSON_Delete(o);
        return status;
    }
    *out = o;
    return MSIM_OK;
}

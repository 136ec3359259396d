/*
 * calibrate/programs/fit_steps_main.c - msim-fit-steps: the constants of the
 * step law, fitted to tables of measured training jobs.
 *
 *     msim-fit-steps DATA JOBS.csv... [--out STEPS.json] [--errors ERRORS.csv]
 *                    [--fits FITS.csv]
 *
 * DATA is the folder with platforms/ and models/. Writes the fit on all
 * sources, and one without each of them. ERRORS.csv gets the errors of rows
 * that a fit saw, and of models, hidden sizes, scales and whole sources that it
 * did not see. FITS.csv gets how many jobs that ran, and that failed, are
 * called fitting into their GPUs.
 */
#include "calibrate/programs/fit_steps.h"
#include "calibrate/rows/samples.h"
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A fit: its constants, and the rows that it saw. */
struct fitted {
    struct msim_step_constants c;
    struct msim_neighbour *rows; /* in order */
    uint32_t n;
};

/* The job's row: the one of `f` that came from it, NULL where it saw none. */
static const struct msim_neighbour *own_row(const struct fitted *f,
                                            const struct msim_neighbour *of)
{
    return bsearch(of, f->rows, f->n, sizeof(*f->rows), msim_neighbour_order);
}

static struct msim_neighbour row_of(const struct msim_step_sample *s,
                                    const struct msim_step_constants *c)
{
    struct msim_neighbour row = msim_neighbour_of(&s->terms);

    /* Beyond a factor of e a network was broken. */
    row.residual = (float)fmin(fmax(msim_step_residual(s, c), -1), 1);
    return row;
}

/* log(measured / predicted) by the law and the neighbours, but for the row
 * itself. */
static double left_over(struct msim_steps_run *r, const struct fitted *f,
                        uint32_t i)
{
    struct msim_neighbour of = row_of(&r->s.rows[i], &f->c);

    r->class[i] = msim_step_class_by(
        &r->s.rows[i].terms,
        msim_neighbour_evidence(&of, f->rows, f->n, own_row(f, &of)));
    return msim_step_residual(&r->s.rows[i], &f->c) -
           msim_neighbour_correction(&of, f->rows, f->n, own_row(f, &of));
}

static bool is_source(const struct msim_steps_run *r, uint32_t row,
                      const char *name)
{
    return strcmp(r->s.sources[r->s.rows[row].source], name) == 0;
}

/* Tensor parallel ranks on several nodes of nanotron's met a network that took
 * up to ten times as long for short messages: rows with fewer than 16 sequences
 * in a micro batch tell no constants. They are neighbours all the same. */
static bool tells_constants(const struct msim_steps_run *r, uint32_t row)
{
    const struct msim_terms *t = &r->s.rows[row].terms;

    return !is_source(r, row, "nanotron") || !t->tp_far || t->micro_batch >= 16;
}

/* Fit without the rows of `held`, and take their residuals. */
static struct fitted hold_out(struct msim_steps_run *r, const uint8_t *held,
                              double *residual)
{
    struct fitted f = {.rows = calloc(r->s.n + 1, sizeof(*f.rows))};

    for (uint32_t i = 0; i < r->s.n; i++)
        r->use[i] = !held[i] && tells_constants(r, i);
    f.c = msim_step_constants_fit(&r->s, r->use);
    for (uint32_t i = 0; f.rows && i < r->s.n; i++)
        if (!held[i])
            f.rows[f.n++] = row_of(&r->s.rows[i], &f.c);
    if (f.rows)
        qsort(f.rows, f.n, sizeof(*f.rows), msim_neighbour_order);
    for (uint32_t i = 0; f.rows && i < r->s.n; i++)
        if (held[i])
            residual[i] = left_over(r, &f, i);
    return f;
}

/* ---- what is judged ------------------------------------------------------ */

/* The rows that are reported: of nanotron those whose tensor parallel ranks
 * are in one node and that have one stage. */
static bool is_judged(const struct msim_steps_run *r, uint32_t row)
{
    const struct msim_terms *t = &r->s.rows[row].terms;

    return !is_source(r, row, "nanotron") || (t->tp <= 8 && t->pp == 1);
}

/* Some of nanotron's jobs on several nodes with pipeline stages met a broken
 * network, and took up to 30 times as long: intervals are of networks that
 * work. */
static bool is_sound(const struct msim_steps_run *r, uint32_t row)
{
    const struct msim_strategy *s = &r->s.rows[row].strategy;

    return is_judged(r, row) ||
           (s->tp <= 8 && s->nodes == 1 && r->s.rows[row].terms.pp > 1);
}

/* Keep the residuals of sound rows that were held out, their whole source
 * (without another one, too) or a model. */
static void keep(struct msim_steps_run *r, const uint8_t *held,
                 const double *residual, bool whole, uint32_t without)
{
    for (uint32_t i = 0; i < r->s.n; i++)
        if (held[i] && is_sound(r, i) &&
            msim_grow((void **)&r->left.of, &r->left.cap, r->left.n,
                      sizeof(*r->left.of)) == MSIM_OK)
            r->left.of[r->left.n++] =
                (struct msim_left_over){.row = i,
                                        .source = r->s.rows[i].source,
                                        .without = without,
                                        .whole = whole,
                                        .class = r->class[i],
                                        .residual = residual[i]};
}

/* The intervals of rows by residuals of other models. */
static void judge(struct msim_steps_run *r, const uint8_t *pick,
                  uint32_t without)
{
    struct msim_step_interval v;
    uint32_t last = UINT32_MAX;

    for (uint32_t i = 0; i < r->s.n; i++) {
        if (!pick[i])
            continue;
        if (last == UINT32_MAX ||
            r->s.rows[i].source != r->s.rows[last].source ||
            strcmp(r->s.rows[i].model, r->s.rows[last].model) != 0) {
            if (msim_step_interval_of(&v, &r->left, &r->s, without, i) !=
                MSIM_OK)
                return;
            last = i;
        }
        r->low[i] = v.low[r->class[i]];
        r->high[i] = v.high[r->class[i]];
    }
}

static void forget(struct msim_steps_run *r)
{
    for (uint32_t i = 0; i < r->s.n; i++)
        r->low[i] = r->high[i] = -1;
}

/* Every model of a source held out in turn: residuals into r->residual. */
static void by_model(struct msim_steps_run *r, uint32_t source)
{
    uint8_t *held = calloc(r->s.n + 1, 1), *seen = calloc(r->s.n + 1, 1);

    for (uint32_t i = 0; held && seen && i < r->s.n; i++) {
        if (seen[i] || r->s.rows[i].source != source)
            continue;
        for (uint32_t j = 0; j < r->s.n; j++) {
            held[j] = r->s.rows[j].source == source &&
                      strcmp(r->s.rows[j].model, r->s.rows[i].model) == 0;
            seen[j] |= held[j];
        }
        free(hold_out(r, held, r->residual).rows);
        keep(r, held, r->residual, false, MSIM_NO_SOURCE);
    }
    free(held);
    free(seen);
}

static void by_scale(struct msim_steps_run *r, uint32_t source, double gpus,
                     const char *split)
{
    uint8_t *held = calloc(r->s.n + 1, 1);
    double *residual = calloc(r->s.n + 1, sizeof(*residual));

    for (uint32_t i = 0; held && residual && i < r->s.n; i++)
        held[i] = r->s.rows[i].source == source && r->s.rows[i].gpus > gpus;
    if (held && residual) {
        free(hold_out(r, held, residual).rows);
        forget(r);
        judge(r, held, MSIM_NO_SOURCE);
        msim_steps_write_source(r, source, split, held, residual);
    }
    free(held);
    free(residual);
}

/* ---- the file ------------------------------------------------------------ */

/* Factors that hold 90 % of the residuals of a class. */
static cJSON *intervals(const struct msim_steps_run *r, uint32_t without)
{
    cJSON *all = cJSON_CreateObject();
    struct msim_step_interval v = {0};

    if (msim_step_interval_of(&v, &r->left, &r->s, without, UINT32_MAX) !=
        MSIM_OK)
        return all;
    for (int class = 0; class < MSIM_STEP_CLASSES; class ++) {
        cJSON *one = cJSON_AddObjectToObject(
            all, msim_step_class_text((enum msim_step_class) class));

        cJSON_AddNumberToObject(one, "low",
                                round(1e3 * exp(v.low[class])) / 1e3);
        cJSON_AddNumberToObject(one, "high",
                                round(1e3 * exp(v.high[class])) / 1e3);
        cJSON_AddNumberToObject(one, "rows", v.rows[class]);
    }
    return all;
}

/* Rows as arrays: kind, sizes, residual. */
static void add_rows(cJSON *fit, const struct fitted *f)
{
    cJSON *rows = cJSON_AddArrayToObject(fit, "rows");

    for (uint32_t i = 0; i < f->n; i++) {
        char text[256];
        size_t used = (size_t)snprintf(text, sizeof(text), "[%u, %u",
                                       f->rows[i].kind, f->rows[i].format);

        for (int k = 0; k < MSIM_NEIGHBOUR_SIZES; k++)
            used += (size_t)snprintf(text + used, sizeof(text) - used, ",%.4g",
                                     (double)f->rows[i].size[k]);
        snprintf(text + used, sizeof(text) - used, ",%.3g]",
                 (double)f->rows[i].residual);
        cJSON_AddItemToArray(rows, cJSON_CreateRaw(text));
    }
}

static void add_fit(cJSON *fits, const struct msim_steps_run *r,
                    const char *without, const struct fitted *f,
                    cJSON *interval)
{
    cJSON *fit = cJSON_CreateObject(), *object, *sources;
    double values[MSIM_STEP_CONSTANTS];

    memcpy(values, &f->c, sizeof(values));
    cJSON_AddStringToObject(fit, "without", without);
    sources = cJSON_AddArrayToObject(fit, "sources");
    for (uint32_t i = 0; i < r->s.n_sources; i++)
        if (strcmp(without, r->s.sources[i]) != 0)
            cJSON_AddItemToArray(sources, cJSON_CreateString(r->s.sources[i]));
    object = cJSON_AddObjectToObject(fit, "constants");
    for (uint32_t i = 0; i < MSIM_STEP_CONSTANTS; i++)
        msim_steps_add_number(object, msim_step_constant_text(i), values[i]);
    cJSON_AddItemToObject(fit, "interval", interval);
    add_rows(fit, f);
    cJSON_AddItemToArray(fits, fit);
}

/* ---- all of it ----------------------------------------------------------- */

/* A source and each other one held out: what a fit without the first says of
 * a source that it did not see either. */
static void pairs(struct msim_steps_run *r, uint8_t *held, double *residual)
{
    for (uint32_t a = 0; a < r->s.n_sources; a++)
        for (uint32_t b = a + 1; b < r->s.n_sources; b++) {
            for (uint32_t i = 0; i < r->s.n; i++)
                held[i] = r->s.rows[i].source == a || r->s.rows[i].source == b;
            free(hold_out(r, held, residual).rows);
            for (uint32_t side = 0; side < 2; side++) {
                for (uint32_t i = 0; i < r->s.n; i++)
                    held[i] = r->s.rows[i].source == (side ? a : b);
                keep(r, held, residual, true, side ? b : a);
            }
        }
}

/* Fits without each source; lines of them. */
static void each_source(struct msim_steps_run *r, cJSON *fits)
{
    uint8_t *held = calloc(r->s.n + 1, 1), *judged = calloc(r->s.n + 1, 1);
    double *residual = calloc(r->s.n + 1, sizeof(*residual));

    if (held && judged && residual)
        pairs(r, held, residual);
    for (uint32_t source = 0;
         held && judged && residual && source < r->s.n_sources; source++) {
        struct fitted f;

        for (uint32_t i = 0; i < r->s.n; i++) {
            held[i] = r->s.rows[i].source == source;
            judged[i] = held[i] && is_judged(r, i);
        }
        f = hold_out(r, held, residual);
        forget(r);
        judge(r, judged, source);
        msim_steps_write_source(r, source, "the source held out", judged,
                                residual);
        keep(r, held, residual, true, MSIM_NO_SOURCE);
        add_fit(fits, r, r->s.sources[source], &f, intervals(r, source));
        free(f.rows);
    }
    free(held);
    free(judged);
    free(residual);
}

/* Lines of the fit on all, of models and of scales held out. */
static void write_seen(struct msim_steps_run *r, const struct fitted *f,
                       uint8_t *pick, double *seen)
{
    for (uint32_t source = 0; source < r->s.n_sources; source++) {
        forget(r);
        for (uint32_t i = 0; i < r->s.n; i++) {
            pick[i] = r->s.rows[i].source == source && is_judged(r, i);
            seen[i] = left_over(r, f, i);
        }
        msim_steps_write_source(r, source, "all but the row", pick, seen);
        if (strcmp(r->s.sources[source], "training_steps") == 0)
            msim_steps_write_sizes(r, source, pick, seen);
        for (uint32_t i = 0; i < r->left.n; i++)
            if (!r->left.of[i].whole)
                r->class[r->left.of[i].row] = r->left.of[i].class;
        judge(r, pick, MSIM_NO_SOURCE);
        msim_steps_write_source(r, source, "a model held out", pick,
                                r->residual);
    }
}

static enum msim_status fit_all(struct msim_steps_run *r, const char *out,
                                struct msim_error *err)
{
    cJSON *json = cJSON_CreateObject(), *fits;
    uint8_t *all = calloc(r->s.n + 1, 1), *pick = calloc(r->s.n + 1, 1);
    double *seen = calloc(r->s.n + 1, sizeof(*seen));
    struct fitted f;
    enum msim_status status = MSIM_OK;

    if (!all || !pick || !seen || !json)
        return MSIM_ENOMEM;
    fprintf(r->errors, "figure,source,split,rows,mean,median,p90,worst,inside,"
                       "score\n");
    cJSON_AddStringToObject(json, "schema", "mystique-sim/steps/1");
    cJSON_AddStringToObject(json, "how", "msim-fit-steps");
    fits = cJSON_AddArrayToObject(json, "fits");
    f = hold_out(r, all, seen); /* nothing is held out */
    for (uint32_t source = 0; source < r->s.n_sources; source++)
        by_model(r, source);
    each_source(r, fits);
    write_seen(r, &f, pick, seen);
    for (uint32_t source = 0; source < r->s.n_sources; source++) {
        if (strcmp(r->s.sources[source], "training_steps") == 0)
            by_scale(r, source, 8, "more than 8 GPUs held out");
        if (strcmp(r->s.sources[source], "llm-foundry") == 0)
            by_scale(r, source, 64, "more than 64 GPUs held out");
    }
    add_fit(fits, r, "", &f, intervals(r, MSIM_NO_SOURCE));
    free(f.rows);
    forget(r);
    msim_steps_fit_memory(r, json);
    if (out)
        status = msim_tree_renew(json, out, err);
    cJSON_Delete(json);
    free(all);
    free(pick);
    free(seen);
    return status;
}

static int usage(struct msim_step_samples *s) /* of tables before */
{
    msim_step_samples_release(s);
    fputs("usage: msim-fit-steps DATA JOBS.csv... [--out STEPS.json] "
          "[--errors ERRORS.csv] [--fits FITS.csv]\n",
          stderr);
    return 2;
}

int main(int argc, char **argv)
{
    struct msim_steps_run r = {.errors = stdout};
    struct msim_error err = {0};
    enum msim_status status = MSIM_OK;
    const char *data = NULL, *out = NULL, *errors = NULL, *fits = NULL;
    int n_tables = 0; /* moved to argv[1] and on */

    for (int i = 1; i < argc && status == MSIM_OK; i++) {
        if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
            out = argv[++i];
        else if (strcmp(argv[i], "--errors") == 0 && i + 1 < argc)
            errors = argv[++i];
        else if (strcmp(argv[i], "--fits") == 0 && i + 1 < argc)
            fits = argv[++i];
        else if (argv[i][0] == '-')
            return usage(&r.s);
        else if (!data)
            data = argv[i];
        else {
            argv[++n_tables] = argv[i];
            status = msim_step_samples_read(&r.s, argv[i], data, &err);
        }
    }
    if (status == MSIM_OK && r.s.n == 0)
        return usage(&r.s);
    if (status == MSIM_OK && errors && !(r.errors = fopen(errors, "w")))
        status = msim_fail(&err, MSIM_EWRITE, errors, MSIM_OFFSET_NONE,
                           "cannot be written");
    r.use = calloc(r.s.n + 1, 1);
    r.residual = calloc(r.s.n + 1, sizeof(*r.residual));
    r.class = calloc(r.s.n + 1, sizeof(*r.class));
    r.low = calloc(r.s.n + 1, sizeof(*r.low));
    r.high = calloc(r.s.n + 1, sizeof(*r.high));
    if (status == MSIM_OK)
        status = r.use && r.residual && r.class && r.low && r.high
                     ? fit_all(&r, out, &err)
                     : MSIM_ENOMEM;
    if (status == MSIM_OK && fits)
        status =
            msim_steps_count_fits(&r, argv + 1, n_tables, data, fits, &err);
    if (status != MSIM_OK)
        msim_print(stderr, "msim-fit-steps: %s: %s\n", err.file,
                   *err.text ? err.text : msim_status_text(status));
    free(r.use);
    free(r.residual);
    free(r.class);
    free(r.low);
    free(r.high);
    free(r.left.of);
    msim_step_samples_release(&r.s);
    if (r.errors && r.errors != stdout && fclose(r.errors) != 0)
        return 4;
    return status == MSIM_OK ? 0 : 3;
}

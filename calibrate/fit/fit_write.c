/*
 * calibrate/fit/fit_write.c - a fit as JSON and as a line of the report.
 */
#include "calibrate/fit/law_fit.h"

#include "core/base/csv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char MSIM_FIT_REPORT_HEADER[] =
    "platform,table_gpu,family,framework,cell,rows,groups,"
    "fitted_mean_pct,law_alone_mean_pct,mean_pct,median_pct,p90_pct,worst_pct,"
    "interval_coverage_pct,interval_high_over_low,"
    "interval_score_over_error\n";

/* Rounded to `digits` significant digits. */
static double rounded(double v, int digits)
{
    char text[32];

    snprintf(text, sizeof(text), "%.*g", digits, v);
    return strtod(text, NULL);
}

void msim_number_add(cJSON *o, const char *key, double v)
{
    cJSON_AddNumberToObject(o, key, rounded(v, 6));
}

static void add_us(cJSON *o, const char *name, double us, const char *how)
{
    cJSON *p = cJSON_AddObjectToObject(o, name);

    msim_number_add(p, "value", us);
    cJSON_AddStringToObject(p, "unit", "us");
    cJSON_AddStringToObject(p, "how", how);
}

static void add_constants(cJSON *fit, const struct msim_law *law,
                          const struct msim_fit_result *f)
{
    cJSON *o = cJSON_AddObjectToObject(fit, "constants");

    for (uint32_t i = 0; i < law->n_params; i++) {
        cJSON *p = cJSON_AddObjectToObject(o, law->params[i].name);

        msim_number_add(p, "value", f->constants.params[i]);
        cJSON_AddStringToObject(p, "unit", law->params[i].unit);
    }
    if (f->constants.gap.least_us > 0) {
        add_us(o, "launch_gap", f->constants.gap.least_us,
               "fitted with the others; the source times calls from the host, "
               "and t0, which that hides, is kernel_floor_us");
        add_us(o, "launch_added", f->constants.gap.added_us,
               "fitted with the others; what the source adds to longer "
               "kernels");
    }
}

static void add_range(cJSON *fit, const struct msim_law *law,
                      const struct msim_fit_result *f)
{
    cJSON *o = cJSON_AddObjectToObject(fit, "range");

    for (uint32_t i = 0; i < law->n_sizes; i++) {
        char text[64];

        snprintf(text, sizeof(text), "[%.5g,%.5g]", f->range_low[i],
                 f->range_high[i]);
        cJSON_AddRawToObject(o, law->features[i], text);
    }
}

static void add_interval(cJSON *fit, const struct msim_fit_result *f)
{
    cJSON *bins = cJSON_AddArrayToObject(fit, "interval");

    for (uint32_t i = 0; i < f->n_bins; i++) {
        char text[96];
        char upto[48] = "";

        if (isfinite(f->bins[i].upto_us))
            snprintf(upto, sizeof(upto), "\"upto_us\":%.15g,",
                     rounded(f->bins[i].upto_us, 5));
        snprintf(text, sizeof(text), "{%s\"low\":%.4g,\"high\":%.4g}", upto,
                 f->bins[i].low, f->bins[i].high);
        cJSON_AddItemToArray(bins, cJSON_CreateRaw(text));
    }
}

static enum msim_status add_line(cJSON *o, const char *key, cJSON *line)
{
    char *text = cJSON_PrintUnformatted(line);

    cJSON_Delete(line);
    if (!text)
        return MSIM_ENOMEM;
    cJSON_AddRawToObject(o, key, text);
    cJSON_free(text);
    return MSIM_OK;
}

static cJSON *numbers(const double *v, uint32_t n, int digits)
{
    cJSON *array = cJSON_CreateArray();

    for (uint32_t i = 0; array && i < n; i++)
        cJSON_AddItemToArray(array, cJSON_CreateNumber(rounded(v[i], digits)));
    return array;
}

/* One line for all points of a curve: people read only which curve it is. */
static enum msim_status add_curves(cJSON *fit, const struct msim_curves *c)
{
    cJSON *curves = c->n ? cJSON_AddArrayToObject(fit, "curves") : NULL;

    for (uint32_t i = 0; i < c->n; i++) {
        const struct msim_curve *from = &c->list[i];
        cJSON *o = cJSON_CreateObject();

        if (!curves || !o)
            return MSIM_ENOMEM;
        cJSON_AddItemToArray(curves, o);
        cJSON_AddStringToObject(o, "collective",
                                msim_collective_text(from->collective));
        cJSON_AddNumberToObject(o, "ranks", from->ranks);
        cJSON_AddNumberToObject(o, "nodes", from->nodes);
        cJSON_AddBoolToObject(o, "measured", from->measured);
        MSIM_TRY(add_line(o, "bytes", numbers(from->bytes, from->n, 12)));
        MSIM_TRY(add_line(o, "us", numbers(from->us, from->n, 4)));
        MSIM_TRY(add_line(o, "spread", numbers(from->half_width, from->n, 2)));
    }
    return MSIM_OK;
}

static enum msim_status add_variants(cJSON *fit, const struct msim_curves *c)
{
    cJSON *list =
        c->n_variants ? cJSON_AddArrayToObject(fit, "variants") : NULL;

    for (uint32_t i = 0; i < c->n_variants; i++) {
        const struct msim_curve_variant *v = &c->variants[i];
        double factor[MSIM_VARIANT_BINS];
        cJSON *o = cJSON_CreateObject();

        if (!list || !o)
            return MSIM_ENOMEM;
        cJSON_AddItemToArray(list, o);
        cJSON_AddStringToObject(o, "collective",
                                msim_collective_text(v->collective));
        cJSON_AddStringToObject(o, "version", v->version);
        cJSON_AddStringToObject(o, "dtype", msim_dtype_text(v->dtype));
        for (int b = 0; b < MSIM_VARIANT_BINS; b++)
            factor[b] = exp(v->log_factor[b]);
        MSIM_TRY(add_line(o, "factor", numbers(factor, MSIM_VARIANT_BINS, 3)));
    }
    return MSIM_OK;
}

/* One line for all trees or rows: nobody reads them. */
static enum msim_status add_learned(cJSON *fit, const struct msim_fit_result *f)
{
    if (f->forest)
        return add_line(fit, "forest", cJSON_Duplicate(f->forest, 1));
    if (f->kriging)
        return add_line(fit, "nearby", cJSON_Duplicate(f->kriging, 1));
    return MSIM_OK;
}

static enum msim_status add_members(cJSON *fit, const struct msim_sample *r,
                                    const struct msim_fit_result *f,
                                    const char *how)
{
    cJSON_AddStringToObject(fit, "law", r->law->name);
    cJSON_AddStringToObject(fit, "framework", r->framework);
    cJSON_AddStringToObject(fit, "key", r->key);
    cJSON_AddStringToObject(fit, "table_gpu", r->gpu);
    cJSON_AddStringToObject(fit, "how", how);
    cJSON_AddNumberToObject(fit, "rows", f->rows);
    cJSON_AddNumberToObject(fit, "groups", f->groups);
    if (f->models)
        cJSON_AddNumberToObject(fit, "models", f->models);
    msim_number_add(fit, "error_fitted", f->fitted.mean);
    msim_number_add(fit, "error_held_back", f->held_out.mean);
    msim_number_add(fit, "error_held_back_median", f->held_out.median);
    msim_number_add(fit, "error_held_back_p90", f->held_out.p90);
    msim_number_add(fit, "error_held_back_worst", f->held_out.worst);
    msim_number_add(fit, "interval_coverage", f->coverage);
    msim_number_add(fit, "interval_high_over_low", f->width);
    add_constants(fit, r->law, f);
    add_range(fit, r->law, f);
    add_interval(fit, f);
    MSIM_TRY(add_curves(fit, &f->curves));
    MSIM_TRY(add_variants(fit, &f->curves));
    return add_learned(fit, f);
}

enum msim_status msim_fit_write_as(cJSON *fits, const struct msim_sample *r,
                                   const struct msim_fit_result *f,
                                   const char *how)
{
    cJSON *fit = cJSON_CreateObject();

    if (!fit || !cJSON_AddItemToArray(fits, fit))
        return MSIM_ENOMEM;
    return add_members(fit, r, f, how);
}

enum msim_status msim_fit_write(cJSON *fits, const struct msim_sample *r,
                                const struct msim_fit_result *f)
{
    char how[160];

    snprintf(how, sizeof(how),
             "least mean |log error| over rows of %s (GSL simplex), %s",
             r->work.source ? r->work.source : r->framework,
             f->curves.n  ? "curves by kriging over all GPUs' collectives"
             : f->kriging ? "kriging of what is left"
                          : "XGBoost trees on what is left");
    return msim_fit_write_as(fits, r, f, how);
}

void msim_fit_report(FILE *out, const char *platform, const char *family,
                     const struct msim_sample *r,
                     const struct msim_fit_result *f)
{
    msim_csv_print(
        out,
        "%s,%s,%s,%s,%s,%u,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.1f,%.1f,%.3f,%.2f\n",
        platform, r->gpu, family, r->framework, r->key, f->rows, f->groups,
        100 * f->fitted.mean, 100 * f->law_held_out.mean,
        100 * f->held_out.mean, 100 * f->held_out.median, 100 * f->held_out.p90,
        100 * f->held_out.worst, 100 * f->coverage, f->width, f->score);
}

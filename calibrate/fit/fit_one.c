/*
 * calibrate/fit/fit_one.c - the fit of one GPU, stack and kind.
 */
#include "calibrate/fit/law_fit.h"

#include "calibrate/fit/kriging_fit.h"
#include "calibrate/stat/boost.h"
#include "core/base/quantile.h"

#include <math.h>
#include <stack_rows.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_FOR_TREES_MIN 40
#define FEW_GROUPS         1.5 /* intervals widen by this over the groups */
#define BIN_ROWS           150 /* rows of an interval's bin, at least */

struct work_area {
    const struct msim_law *law;
    const struct msim_sample *rows;
    uint32_t n;
    uint32_t features; /* of the law */
    uint32_t groups;
    uint8_t *fold;
    double *x;       /* features of all rows */
    double *train_x; /* of those fitted on */
    double *train_y; /* log(measured / law) of those */
    uint64_t *train_group;
    double *law_us;    /* law alone, rows held out */
    double *predicted; /* rows held out */
    double *fitted;    /* all rows, by the fit on all of them */
    /* Standard deviations over that of the interval, of both predictions. */
    double *sd_ratio, *fitted_sd_ratio;
    double *scratch;
};

static enum msim_status allocate(struct work_area *a)
{
    size_t n = a->n;
    size_t f = a->features;

    a->fold = malloc(n);
    a->x = malloc(n * f * sizeof(double));
    a->train_x = malloc(n * f * sizeof(double));
    a->train_y = malloc(n * sizeof(double));
    a->train_group = malloc(n * sizeof(*a->train_group));
    a->law_us = malloc(n * sizeof(double));
    a->predicted = malloc(n * sizeof(double));
    a->fitted = malloc(n * sizeof(double));
    a->sd_ratio = malloc(n * sizeof(double));
    a->fitted_sd_ratio = malloc(n * sizeof(double));
    a->scratch = malloc(n * sizeof(double));
    return a->fold && a->x && a->train_x && a->train_y && a->train_group &&
                   a->law_us && a->predicted && a->fitted && a->sd_ratio &&
                   a->fitted_sd_ratio && a->scratch
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static void release(struct work_area *a)
{
    free(a->fold);
    free(a->x);
    free(a->train_x);
    free(a->train_y);
    free(a->train_group);
    free(a->law_us);
    free(a->predicted);
    free(a->fitted);
    free(a->sd_ratio);
    free(a->fitted_sd_ratio);
    free(a->scratch);
}

/*
 * Deal whole groups to folds in the order of their hashes; returns the number
 * of groups. Where all rows are one group (a point-to-point transfer always has
 * two ranks), single rows are dealt.
 */
static uint32_t deal_folds(struct work_area *a)
{
    uint32_t groups = 0;

    for (uint32_t i = 0; i < a->n; i++) {
        if (i > 0 && a->rows[i].group != a->rows[i - 1].group)
            groups++;
        a->fold[i] = (uint8_t)(groups % MSIM_FOLDS);
    }
    for (uint32_t i = 0; groups == 0 && i < a->n; i++)
        a->fold[i] = (uint8_t)(i % MSIM_FOLDS);
    return groups + 1;
}

static bool is_cpu_law(const struct msim_law *law)
{
    return law == &MSIM_LAW_CPU_GEMM || law == &MSIM_LAW_CPU_CONV ||
           law == &MSIM_LAW_CPU_VECTOR;
}

/* A machine's own calibration has some hundred rows a fit, spread over the
 * whole space: few are near each other, and two or three show a step. */
static const struct msim_boost_options CPU_OPTIONS = {.trees = 80,
                                                      .leaves = 8,
                                                      .rate = 0.1,
                                                      .penalty = 2,
                                                      .least = 2,
                                                      .weighted = true,
                                                      .clip = 0.05};

/*
 * Choices of libraries make many steps, and the tables of products, attention
 * and convolutions are large: more and larger trees have smaller errors on
 * held-out rows. Little depth keeps them fast. Products have outliers, where a
 * library chose badly: a small `clip` lets these weigh no more than other rows.
 */
static struct msim_boost_options options_for(const struct msim_law *law,
                                             uint32_t n)
{
    struct msim_boost_options o = {.trees = 48,
                                   .leaves = 16,
                                   .rate = 0.14,
                                   .penalty = 2,
                                   .least = 6,
                                   .clip = 0.6};

    if (is_cpu_law(law))
        return CPU_OPTIONS;
    if (n < 2000) {
        o.leaves = 10;
        o.least = 5;
    } else if (law == &MSIM_LAW_GEMM || law == &MSIM_LAW_ATTENTION ||
               law == &MSIM_LAW_CONV) {
        o.trees = 128;
        o.leaves = 31;
        o.depth = 7;
        o.weighted = true;
        o.clip = law == &MSIM_LAW_GEMM ? 0.08 : 0.5;
    }
    if (n < 500) {
        o.trees = 40;
        o.leaves = 6;
        o.least = 4;
        o.rate = 0.12;
    }
    return o;
}

/* Its rows are of whole calls from the host, launches included. */
static bool has_gap(const struct work_area *a)
{
    static const char *const WHOLE[] = {MSIM_STACKS_WHOLE_CALL};

    for (int i = 0; WHOLE[i]; i++)
        if (strcmp(a->rows[0].framework, WHOLE[i]) == 0)
            return true;
    return false;
}

/* A law and its correction: trees, kriging, or none. */
struct part {
    struct msim_law_constants constants;
    cJSON *forest_json, *kriging_json;
    struct msim_forest forest;
    struct msim_kriging kriging;
};

static void release_part(struct part *p)
{
    cJSON_Delete(p->forest_json);
    cJSON_Delete(p->kriging_json);
    msim_forest_release(&p->forest);
    msim_kriging_release(&p->kriging);
}

/* From the first `n` rows to train on. */
static enum msim_status learn(struct work_area *a, uint32_t n, struct part *p)
{
    struct msim_boost_options options = options_for(a->law, n);

    if (a->n < MSIM_KRIGING_ROWS && msim_kriging_suits(a->law)) {
        MSIM_TRY(msim_kriging_fit(&p->kriging_json, a->law, a->train_x,
                                  a->train_y, a->train_group, n));
        return msim_kriging_read(&p->kriging, p->kriging_json, a->law);
    }
    if (n < ROWS_FOR_TREES_MIN)
        return MSIM_OK;
    MSIM_TRY(msim_boost_fit(&p->forest_json, a->train_x, a->train_y, n,
                            a->features, &options, NULL));
    return msim_forest_read(&p->forest, p->forest_json, a->features);
}

/* Fit on the rows whose fold is not `held_out`. */
static enum msim_status fit_part(struct work_area *a, int held_out,
                                 struct part *p)
{
    uint32_t features = a->features;
    uint32_t n = 0;

    memset(p, 0, sizeof(*p));
    MSIM_TRY(msim_law_fit(&p->constants, a->law, a->rows, a->fold, a->n,
                          held_out, has_gap(a)));
    for (uint32_t i = 0; i < a->n; i++) {
        double us;

        if (a->fold[i] == held_out)
            continue;
        us = msim_law_measured(&p->constants, &a->rows[i]);
        memcpy(a->train_x + (size_t)n * features, a->x + (size_t)i * features,
               features * sizeof(double));
        for (uint32_t f = 0; f < a->law->n_names; f++)
            a->train_x[(size_t)n * features + f] = 0; /* nothing to split at */
        a->train_group[n] = a->rows[i].group;
        a->train_y[n++] = log(a->rows[i].us / us);
    }
    return learn(a, n, p);
}

static double correct(const struct part *p, const double *x, double *sd_ratio)
{
    struct msim_kriging_answer a;

    *sd_ratio = 1;
    if (p->kriging.n == 0)
        return msim_forest_eval(&p->forest, x);
    a = msim_kriging_correct(&p->kriging, x, 1);
    *sd_ratio = a.sd_ratio;
    return a.log;
}

/* Predict the rows of fold `which` (-1: of all) into `out`. */
static void predict(const struct work_area *a, int which, const struct part *p,
                    double *law_us, double *out, double *sd_ratio)
{
    for (uint32_t i = 0; i < a->n; i++) {
        double us;

        if (which >= 0 && a->fold[i] != which)
            continue;
        us = msim_law_measured(&p->constants, &a->rows[i]);
        if (law_us)
            law_us[i] = us;
        out[i] =
            us * exp(correct(p, a->x + (size_t)i * a->features, &sd_ratio[i]));
    }
}

static enum msim_status hold_out(struct work_area *a, uint32_t folds)
{
    for (uint32_t k = 0; k < folds; k++) {
        struct part part;
        enum msim_status status = fit_part(a, (int)k, &part);

        if (status == MSIM_OK)
            predict(a, (int)k, &part, a->law_us, a->predicted, a->sd_ratio);
        release_part(&part);
        if (status != MSIM_OK)
            return status;
    }
    return MSIM_OK;
}

static struct msim_error_summary summarise(const struct work_area *a,
                                           const double *predicted)
{
    struct msim_error_summary s = {0};

    for (uint32_t i = 0; i < a->n; i++) {
        a->scratch[i] = fabs(predicted[i] / a->rows[i].us - 1);
        s.mean += a->scratch[i] / a->n;
    }
    msim_sort_values(a->scratch, a->n);
    s.median = a->scratch[a->n / 2];
    s.p90 = a->scratch[(uint32_t)(0.9 * a->n)];
    s.worst = a->scratch[a->n - 1];
    return s;
}

/* ---- intervals ----------------------------------------------------------- */

/* Edges that split the held-out predictions into bins of equal numbers. */
static uint32_t bin_edges(const struct work_area *a, struct msim_fit_bin *bins)
{
    uint32_t count = a->n / BIN_ROWS;

    if (count > MSIM_FIT_BINS)
        count = MSIM_FIT_BINS;
    if (count < 1)
        count = 1;
    memcpy(a->scratch, a->predicted, a->n * sizeof(double));
    msim_sort_values(a->scratch, a->n);
    for (uint32_t i = 0; i < count; i++)
        bins[i].upto_us = i + 1 < count
                              ? a->scratch[(uint64_t)a->n * (i + 1) / count]
                              : INFINITY;
    return count;
}

static uint32_t bin_of(const struct msim_fit_bin *bins, uint32_t count,
                       double us)
{
    uint32_t i = 0;

    while (i + 1 < count && us > bins[i].upto_us)
        i++;
    return i;
}

/* Widen low..high to hold 90 % of log(measured / `predicted`) over its
 * sd_ratio, of the rows in bin `which` that are not of fold `without`; false
 * where there are none. */
static bool widen(const struct work_area *a, const double *predicted,
                  const double *sd_ratio, const struct msim_fit_bin *bins,
                  uint32_t count, uint32_t which, int without, double *low,
                  double *high)
{
    uint32_t n = 0;

    for (uint32_t r = 0; r < a->n; r++)
        if (a->fold[r] != without && bin_of(bins, count, predicted[r]) == which)
            a->scratch[n++] = log(a->rows[r].us / predicted[r]) / sd_ratio[r];
    if (n == 0)
        return false;
    msim_sort_values(a->scratch, n);
    *low = fmin(*low, msim_quantile(a->scratch, n, 0.05));
    *high = fmax(*high, msim_quantile(a->scratch, n, 0.95));
    return true;
}

/*
 * Residual quantiles of held-out rows, and of the rows fitted on, because a few
 * held-out groups may all err to one side. Few groups show little of the next
 * one: with 3 numbers of ranks, intervals are half as wide again.
 */
static bool quantiles(const struct work_area *a,
                      const struct msim_fit_bin *bins, uint32_t count,
                      uint32_t which, int without, double *low, double *high)
{
    /* Where all rows are one group, single rows were held out. */
    double wider = 1 + FEW_GROUPS / (a->groups > 1 ? a->groups : a->n);

    *low = *high = 0;
    if (!widen(a, a->predicted, a->sd_ratio, bins, count, which, without, low,
               high))
        return false;
    (void)widen(a, a->fitted, a->fitted_sd_ratio, bins, count, which, without,
                low, high);
    *low *= wider;
    *high *= wider;
    return true;
}

/* The interval score of one row over its time (law_fit.h). Arguments are
 * logarithms of times over the predicted one. */
static double score(double measured, double low, double high)
{
    double outside =
        fmax(exp(low) - exp(measured), 0) + fmax(exp(measured) - exp(high), 0);

    return (exp(high) - exp(low) + 2 / 0.1 * outside) / exp(measured);
}

/* Score the intervals, each fold by quantiles of the others. */
static void score_intervals(const struct work_area *a,
                            struct msim_fit_result *out, uint32_t folds)
{
    uint32_t inside = 0, counted = 0;

    for (uint32_t b = 0; b < out->n_bins; b++) {
        for (uint32_t k = 0; k < folds; k++) {
            double low, high;

            if (!quantiles(a, out->bins, out->n_bins, b, (int)k, &low, &high))
                continue;
            for (uint32_t i = 0; i < a->n; i++) {
                double r = log(a->rows[i].us / a->predicted[i]);
                double from = fmin(low, 0) * a->sd_ratio[i];
                double to = fmax(high, 0) * a->sd_ratio[i];

                if (a->fold[i] != k ||
                    bin_of(out->bins, out->n_bins, a->predicted[i]) != b)
                    continue;
                counted++;
                inside += r >= from && r <= to;
                out->width += exp(to - from);
                out->score += score(r, from, to);
                out->held[i] = msim_held_out_row_of(
                    a->rows[i].us, a->predicted[i], from, to, k);
            }
        }
    }
    if (counted) {
        out->coverage = (double)inside / counted;
        out->width /= counted;
        if (out->held_out.mean > 0)
            out->score /= counted * out->held_out.mean;
    }
}

static void make_intervals(const struct work_area *a,
                           struct msim_fit_result *out, uint32_t folds)
{
    out->n_bins = bin_edges(a, out->bins);
    score_intervals(a, out, folds);
    for (uint32_t i = 0; i < out->n_bins; i++)
        if (!quantiles(a, out->bins, out->n_bins, i, -1, &out->bins[i].low,
                       &out->bins[i].high))
            out->bins[i].low = out->bins[i].high = 0;
}

static void make_range(const struct work_area *a, struct msim_fit_result *out)
{
    uint32_t features = a->features;

    for (uint32_t f = 0; f < a->law->n_sizes; f++) {
        out->range_low[f] = INFINITY;
        out->range_high[f] = -INFINITY;
        for (uint32_t i = 0; i < a->n; i++) {
            double v = a->x[(size_t)i * features + f];

            out->range_low[f] = fmin(out->range_low[f], v);
            out->range_high[f] = fmax(out->range_high[f], v);
        }
    }
}

/* The fit that files get: on all rows. */
static enum msim_status fit_all(struct work_area *a,
                                struct msim_fit_result *out)
{
    struct part part;
    enum msim_status status = fit_part(a, -1, &part);

    if (status == MSIM_OK) {
        predict(a, -1, &part, NULL, a->fitted, a->fitted_sd_ratio);
        out->constants = part.constants;
        out->forest = part.forest_json;
        out->kriging = part.kriging_json;
        part.forest_json = part.kriging_json = NULL;
    }
    release_part(&part);
    return status;
}

static enum msim_status run(struct work_area *a, struct msim_fit_result *out)
{
    uint32_t folds;

    for (uint32_t i = 0; i < a->n; i++) {
        double *x = a->x + (size_t)i * a->features;

        a->law->describe(a->rows[i].sheet, &a->rows[i].work, x);
    }
    out->rows = a->n;
    out->models = a->rows[0].models;
    out->groups = a->groups = deal_folds(a);
    folds =
        out->groups > 1 && out->groups < MSIM_FOLDS ? out->groups : MSIM_FOLDS;
    MSIM_TRY(fit_all(a, out));
    out->fitted = summarise(a, a->fitted);
    make_range(a, out);
    MSIM_TRY(hold_out(a, folds));
    out->held = calloc(a->n, sizeof(*out->held));
    if (!out->held)
        return MSIM_ENOMEM;
    out->law_held_out = summarise(a, a->law_us);
    out->held_out = summarise(a, a->predicted);
    make_intervals(a, out, folds);
    return MSIM_OK;
}

enum msim_status msim_fit_one(struct msim_fit_result *out,
                              const struct msim_sample *rows, uint32_t n)
{
    struct work_area a = {.law = rows[0].law,
                          .rows = rows,
                          .n = n,
                          .features = rows[0].law->n_features};
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    status = allocate(&a);
    if (status == MSIM_OK)
        status = run(&a, out);
    release(&a);
    if (status != MSIM_OK)
        msim_fit_result_release(out);
    return status;
}

void msim_fit_result_release(struct msim_fit_result *f)
{
    cJSON_Delete(f->forest);
    cJSON_Delete(f->kriging);
    f->forest = f->kriging = NULL;
    msim_curves_release(&f->curves);
    free(f->held);
    f->held = NULL;
}

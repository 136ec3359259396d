/*
 * The fit of few rows by a law that has nothing to fit: folds, errors and
 * intervals, against a second account of them.
 */
#include "calibrate/fit/law_fit.h"

#include "core/base/quantile.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 39 /* without trees */

/* The time is the operations, whatever the rows say. */
static double exact_us(const struct msim_data_sheet *s,
                       const struct msim_work *w, const double *params)
{
    (void)s;
    return params[0] * w->flops;
}

static void describe(const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x)
{
    (void)s;
    x[0] = log(w->flops);
    x[1] = -w->flops;
}

static const struct msim_param ONE[] = {{"one", "", 1, 1, 1}};
static const char *const NAMES[] = {"log_flops", "less"};
static const struct msim_law EXACT = {.name = "exact",
                                      .params = ONE,
                                      .n_params = 1,
                                      .features = NAMES,
                                      .n_features = 2,
                                      .n_sizes = 2,
                                      .time_us = exact_us,
                                      .describe = describe};

static const struct msim_data_sheet SHEET = {.floor_us = 1};
static struct msim_sample rows[MOST];
static double off[MOST]; /* log(measured / predicted) */
static uint32_t folds[MOST];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Rows in so many groups of like size, off by up to 0.2 either way. */
static void make_rows(uint32_t n, uint32_t groups)
{
    for (uint32_t i = 0; i < n; i++) {
        off[i] = ((double)(i * 7919 % 101) - 45) / 250;
        folds[i] = (groups > 1 ? i * groups / n : i) % MSIM_FOLDS;
        rows[i] = (struct msim_sample){.law = &EXACT,
                                       .sheet = &SHEET,
                                       .framework = "f",
                                       .group = 5 + i * groups / n,
                                       .models = 2,
                                       .work = {.flops = 10 + i * 13 % 31}};
        rows[i].us = rows[i].work.flops * exp(off[i]);
    }
}

/* 90 % of what rows of other folds are off, around 0, and wider where few
 * groups show little. */
static void interval(uint32_t n, uint32_t wider_by, uint32_t without,
                     double *low, double *high)
{
    double r[MOST];
    uint32_t m = 0;

    for (uint32_t i = 0; i < n; i++)
        if (folds[i] != without)
            r[m++] = off[i];
    qsort(r, m, sizeof(*r), by_value);
    *low = fmin(msim_quantile(r, m, 0.05), 0) * (1 + 1.5 / wider_by);
    *high = fmax(msim_quantile(r, m, 0.95), 0) * (1 + 1.5 / wider_by);
}

static void check_summary_of(const struct msim_error_summary *s, uint32_t n)
{
    double missed[MOST], sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        missed[i] = fabs(exp(-off[i]) - 1);
        sum += missed[i];
    }
    qsort(missed, n, sizeof(*missed), by_value);
    CHECK_REL(s->mean, sum / n, 1e-9);
    CHECK_REL(s->median, missed[n / 2], 1e-9);
    CHECK_REL(s->p90, missed[n * 9 / 10], 1e-9);
    CHECK_REL(s->worst, missed[n - 1], 1e-9);
}

static void check_fit(uint32_t n, uint32_t groups)
{
    uint32_t wider_by = groups > 1 ? groups : n, inside = 0;
    double low, high, width = 0, score = 0;
    struct msim_fit_result f;

    make_rows(n, groups);
    REQUIRE(msim_fit_one(&f, rows, n) == MSIM_OK);
    CHECK_UINT(f.rows, n);
    CHECK_UINT(f.groups, groups);
    CHECK_UINT(f.models, 2);
    CHECK(!f.forest && !f.kriging);
    CHECK_REL(f.constants.params[0], 1, 0);
    CHECK_REL(f.range_low[0], log(10), 1e-12);
    CHECK_REL(f.range_high[1], -10, 1e-12);
    check_summary_of(&f.fitted, n);
    check_summary_of(&f.held_out, n);
    check_summary_of(&f.law_held_out, n);
    CHECK_UINT(f.n_bins, 1);
    CHECK(isinf(f.bins[0].upto_us));
    interval(n, wider_by, UINT32_MAX, &low, &high);
    CHECK_REL(f.bins[0].low, low, 1e-9);
    CHECK_REL(f.bins[0].high, high, 1e-9);
    for (uint32_t i = 0; i < n; i++) {
        double p = rows[i].work.flops, outside;

        interval(n, wider_by, folds[i], &low, &high);
        outside =
            fmax(exp(low) - exp(off[i]), 0) + fmax(exp(off[i]) - exp(high), 0);
        inside += !(outside > 0);
        width += exp(high - low) / n;
        score += (exp(high) - exp(low) + 20 * outside) / exp(off[i]) / n;
        CHECK_UINT(f.held[i].fold, folds[i]);
        CHECK_REL(f.held[i].measured_us, rows[i].us, 0);
        CHECK_REL(f.held[i].predicted_us, p, 1e-12);
        CHECK_REL(f.held[i].low_us, p * exp(low), 1e-9);
        CHECK_REL(f.held[i].high_us, p * exp(high), 1e-9);
    }
    CHECK_REL(f.coverage, (double)inside / n, 1e-12);
    CHECK_REL(f.width, width, 1e-9);
    CHECK_REL(f.score, score / f.held_out.mean, 1e-9);
    msim_fit_result_release(&f);
    CHECK(!f.held && !f.forest);
}

/* Fifths of the groups are held out, each group by itself where there are
 * fewer; of one group single rows. */
static void test_fit_one__folds_and_intervals(void)
{
    check_fit(39, 13);
    check_fit(36, 6);
    check_fit(30, 5);
    check_fit(30, 3);
    check_fit(30, 2);
    check_fit(30, 1);
}

/* Rows of whole calls have a launch gap; those of kernels none. */
static void test_fit_one__launch_gaps(void)
{
    struct msim_fit_result f;

    make_rows(30, 6);
    for (uint32_t i = 0; i < 30; i++)
        rows[i].framework = "NeuSight";
    REQUIRE(msim_fit_one(&f, rows, 30) == MSIM_OK);
    CHECK(f.constants.gap.least_us > 0);
    msim_fit_result_release(&f);
    make_rows(30, 6);
    REQUIRE(msim_fit_one(&f, rows, 30) == MSIM_OK);
    CHECK_REL(f.constants.gap.least_us, 0, 0);
    msim_fit_result_release(&f);
}

int main(void)
{
    RUN(test_fit_one__folds_and_intervals);
    RUN(test_fit_one__launch_gaps);
    return check_summary();
}

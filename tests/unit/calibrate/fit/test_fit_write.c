/*
 * Constants of a law that was made up, from rows that follow it, and a fit as
 * JSON and as a line of the report.
 */
#include "calibrate/fit/law_fit.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- a law --------------------------------------------------------------- */

/* t0 + elements / rate */
static double time_us(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params)
{
    (void)s;
    return params[0] + (double)w->u.vector.elems / params[1];
}

static const struct msim_param PARAMS[] = {{"t0", "us", 2, 0.1, 100},
                                           {"rate", "1/us", 1, 0.01, 100}};
static const char *const FEATURES[] = {"log_elems", "log_rows", "tail"};
static const struct msim_law MADE = {.name = "made",
                                     .params = PARAMS,
                                     .n_params = 2,
                                     .features = FEATURES,
                                     .n_features = 3,
                                     .n_sizes = 2,
                                     .time_us = time_us};
static const struct msim_data_sheet SHEET = {.floor_us = 4};

#define ROWS 2400

static struct msim_sample rows[ROWS];
static uint8_t folds[ROWS];

static struct msim_sample row(double elems, double us)
{
    struct msim_sample r = {.law = &MADE, .sheet = &SHEET, .us = us};

    r.work.u.vector.elems = (int64_t)elems;
    return r;
}

/* `n` rows of 1 to 10^5 elements by these constants. */
static void fill(uint32_t n, double t0, double rate, struct msim_gap gap)
{
    for (uint32_t i = 0; i < n; i++) {
        double elems = floor(pow(10, 5.0 * (i * 37 % n) / n));

        rows[i] = row(elems, msim_with_gap(t0 + elems / rate, gap));
        folds[i] = 0;
    }
}

static const struct msim_gap NONE = {0, 0};

static void check_fit(uint32_t n, int held_out, bool has_gap, double t0,
                      double rate, struct msim_gap gap)
{
    struct msim_law_constants c = {.params = {0}};

    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, n, held_out, has_gap),
              MSIM_OK);
    CHECK_REL(c.params[0], t0, 0.01);
    CHECK_REL(c.params[1], rate, 0.01);
    CHECK_REL(c.gap.least_us, gap.least_us, 0.03);
    CHECK_REL(c.gap.added_us, gap.added_us, 0.03);
}

static void test_law_fit__finds_constants(void)
{
    fill(200, 5, 3, NONE);
    check_fit(200, -1, false, 5, 3, NONE);
    fill(200, 0.3, 70, NONE);
    check_fit(200, -1, false, 0.3, 70, NONE);
}

/* Rows of the fold that is held out count for nothing, those of others do. */
static void test_law_fit__without_a_fold(void)
{
    struct msim_law_constants c;

    fill(300, 5, 3, NONE);
    for (uint32_t i = 0; i < 300; i += 3) {
        folds[i] = 2;
        rows[i].us *= 50;
    }
    check_fit(300, 2, false, 5, 3, NONE);
    /* and with half of them the other way round */
    for (uint32_t i = 0; i < 300; i++)
        folds[i] = 2 - folds[i];
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 300, 2, false), MSIM_OK);
    CHECK(c.params[0] > 50); /* of the rows that take fifty times as long */
    for (uint32_t i = 0; i < 300; i++)
        folds[i] = 2;
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 300, 2, false),
              MSIM_EINTERNAL);
}

/* A thousand rows at most, spread evenly: of 2400 every third one. */
static void test_law_fit__a_thousand_rows(void)
{
    fill(ROWS, 5, 3, NONE);
    for (uint32_t i = 0; i < ROWS; i++)
        if (i % 3 != 0)
            rows[i].us *= 50;
    check_fit(ROWS, -1, false, 5, 3, NONE);
    fill(1000, 5, 3, NONE);
    for (uint32_t i = 0; i < 1000; i += 2)
        rows[i].us *= 50;
    {
        struct msim_law_constants c;

        CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 1000, -1, false),
                  MSIM_OK);
        CHECK(fabs(c.params[0] / 5 - 1) > 0.05 ||
              fabs(c.params[1] / 3 - 1) > 0.05); /* all of them */
    }
}

/* A constant stays in its bounds; one that the rows do not tell, where it
 * starts. */
static void test_law_fit__bounds_and_starts(void)
{
    struct msim_law_constants c;

    fill(200, 0.01, 400, NONE);
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 200, -1, false), MSIM_OK);
    CHECK(c.params[0] >= 0.1 * (1 - 1e-12));
    CHECK(c.params[1] <= 100 * (1 + 1e-12));
    for (uint32_t i = 0; i < 200; i++)
        rows[i] = row(0, 7);
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 200, -1, false), MSIM_OK);
    CHECK_REL(c.params[0], 7, 0.01);
    CHECK_REL(c.params[1], 1, 0.05);
}

/* A launch gap is seen where many rows are short; then the constant part is the
 * shortest kernel's. Else it stays where it starts, at 30 and 15 us. */
static void test_law_fit__launch_gaps(void)
{
    const struct msim_gap gap = {20, 8};
    struct msim_law_constants c;

    fill(400, 4, 3, gap);
    check_fit(400, -1, true, 4, 3, gap);
    fill(400, 90, 3, NONE); /* too long for a gap */
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 400, -1, true), MSIM_OK);
    CHECK_REL(c.gap.least_us, 30, 1e-12);
    CHECK_REL(c.gap.added_us, 15, 1e-12);
    CHECK_REL(c.params[0], 4, 1e-12); /* the data sheet's */
    for (int i = 0; i < 400; i++)     /* few are as short as the shortest */
        rows[i] = row(10 * pow(1.06, i), 4 + 10 * pow(1.06, i));
    CHECK_INT(msim_law_fit(&c, &MADE, rows, folds, 400, -1, true), MSIM_OK);
    CHECK_REL(c.gap.least_us, 30, 1e-12);
}

/* What is measured: the kernel by its own start, and the gap that its source
 * has, or else the fit's. */
static void test_law_measured__start_and_gap(void)
{
    struct msim_law_constants c = {.params = {4, 2}, .gap = {0, 0}};
    struct msim_sample r = row(100, 1);

    CHECK_REL(msim_law_measured(&c, &r), 54, 1e-12);
    r.start = 1.5;
    CHECK_REL(msim_law_measured(&c, &r), 56, 1e-12);
    c.gap = (struct msim_gap){60, 5};
    CHECK_REL(msim_law_measured(&c, &r), msim_with_gap(56, c.gap), 1e-12);
    CHECK(msim_law_measured(&c, &r) > 60);
    r.gap = (struct msim_gap){200, 1};
    CHECK_REL(msim_law_measured(&c, &r), msim_with_gap(56, r.gap), 1e-12);
    CHECK_REL(c.params[0], 4, 0);
}

/* ---- as JSON ------------------------------------------------------------- */

static char *as_text(const struct msim_sample *r,
                     const struct msim_fit_result *f, const char *how)
{
    cJSON *fits = cJSON_CreateArray();
    char *text;

    CHECK_INT(how ? msim_fit_write_as(fits, r, f, how)
                  : msim_fit_write(fits, r, f),
              MSIM_OK);
    text = cJSON_PrintUnformatted(fits);
    cJSON_Delete(fits);
    return text;
}

static struct msim_fit_result result(void)
{
    return (struct msim_fit_result){
        .constants = {.params = {1.23456789, 3}},
        .range_low = {1.2345678, 0},
        .range_high = {9.8765432, 7},
        .bins = {{12.345678, 0.123456, 2.5}, {INFINITY, 0.5, 1.5}},
        .n_bins = 2,
        .rows = 100,
        .groups = 20,
        .fitted = {0.01, 0, 0, 0},
        .law_held_out = {0.09, 0, 0, 0},
        .held_out = {0.02, 0.03, 0.04, 0.05},
        .coverage = 0.91,
        .width = 1.234,
        .score = 3.5};
}

#define HEAD                                                                   \
    "[{\"law\":\"made\",\"framework\":\"torch\",\"key\":\"k\","                \
    "\"table_gpu\":\"H100\",\"how\":"
#define ERRORS                                                                 \
    "\"error_fitted\":0.01,\"error_held_back\":0.02,"                          \
    "\"error_held_back_median\":0.03,\"error_held_back_p90\":0.04,"            \
    "\"error_held_back_worst\":0.05,\"interval_coverage\":0.91,"               \
    "\"interval_high_over_low\":1.234,\"constants\":{\"t0\":{\"value\":"       \
    "1.23457,\"unit\":\"us\"},\"rate\":{\"value\":3,\"unit\":\"1/us\"}"
#define TAIL                                                                   \
    "},\"range\":{\"log_elems\":[1.2346,9.8765],\"log_rows\":[0,7]},"          \
    "\"interval\":[{\"upto_us\":12.346,\"low\":0.1235,\"high\":2.5},"          \
    "{\"low\":0.5,\"high\":1.5}]"

static const struct msim_sample SAMPLE = {
    .law = &MADE, .framework = "torch", .key = "k", .gpu = "H100"};

static void test_fit_write__members(void)
{
    struct msim_fit_result f = result();
    char *text = as_text(&SAMPLE, &f, "by hand");

    CHECK_STR(text,
              HEAD "\"by hand\",\"rows\":100,\"groups\":20," ERRORS TAIL "}]");
    free(text);
    f.models = 2;
    f.constants.gap = (struct msim_gap){20, 8};
    text = as_text(&SAMPLE, &f, "by hand");
    CHECK_STR(text, HEAD
              "\"by hand\",\"rows\":100,\"groups\":20,\"models\":2," ERRORS
              ",\"launch_gap\":{\"value\":20,\"unit\":\"us\",\"how\":\"fitted "
              "with the others; the source times calls from the host, and t0, "
              "which that hides, is kernel_floor_us\"},\"launch_added\":{"
              "\"value\":8,\"unit\":\"us\",\"how\":\"fitted with the others; "
              "what the source adds to longer kernels\"}" TAIL "}]");
    free(text);
}

/* Where a correction comes from, and what it is. */
static void test_fit_write__what_was_learned(void)
{
    struct msim_fit_result f = result();
    struct msim_sample r = SAMPLE;
    char *text = as_text(&r, &f, NULL);

    CHECK(strstr(text, "\"how\":\"least mean |log error| over rows of torch "
                       "(GSL simplex), XGBoost trees on what is left\""));
    CHECK(!strstr(text, "forest") && !strstr(text, "nearby"));
    free(text);
    r.work.source = "table.csv";
    f.kriging = cJSON_Parse("{\"a\":1}");
    text = as_text(&r, &f, NULL);
    CHECK(strstr(text, "over rows of table.csv (GSL simplex), kriging of what "
                       "is left\""));
    CHECK(strstr(text, TAIL ",\"nearby\":{\"a\":1}}]"));
    free(text);
    f.forest = cJSON_Parse("{\"b\":[2]}");
    text = as_text(&r, &f, NULL);
    CHECK(strstr(text, TAIL ",\"forest\":{\"b\":[2]}}]"));
    free(text);
    cJSON_Delete(f.forest);
    cJSON_Delete(f.kriging);
}

static void test_fit_write__curves_and_variants(void)
{
    double numbers[] = {1024, 1 << 30, 12.3456, 1234.5, 0.123, 0.05};
    struct msim_curve list[] = {
        {.collective = MSIM_COLL_ALL_REDUCE,
         .ranks = 8,
         .nodes = 2,
         .n = 2,
         .measured = true,
         .bytes = numbers,
         .us = numbers + 2,
         .half_width = numbers + 4},
        {.collective = MSIM_COLL_ALL_GATHER, .ranks = 4, .nodes = 1}};
    struct msim_curve_variant variant = {.version = "2.19",
                                         .dtype = MSIM_DT_F16,
                                         .collective = MSIM_COLL_ALL_REDUCE};
    struct msim_fit_result f = result();
    char *text;

    for (int i = 0; i < MSIM_VARIANT_BINS; i++)
        variant.log_factor[i] = log(1 + i / 8.0);
    f.curves = (struct msim_curves){
        .list = list, .n = 2, .variants = &variant, .n_variants = 1};
    text = as_text(&SAMPLE, &f, NULL);
    CHECK(strstr(text, "curves by kriging over all GPUs' collectives\""));
    CHECK(strstr(
        text, TAIL
        ",\"curves\":[{\"collective\":\"all_reduce\",\"ranks\":8,\"nodes\":2,"
        "\"measured\":true,\"bytes\":[1024,1073741824],\"us\":[12.35,1234],"
        "\"spread\":[0.12,0.05]},{\"collective\":\"all_gather\",\"ranks\":4,"
        "\"nodes\":1,\"measured\":false,\"bytes\":[],\"us\":[],\"spread\":[]}],"
        "\"variants\":[{\"collective\":\"all_reduce\",\"version\":\"2.19\","
        "\"dtype\":\"fp16\",\"factor\":[1,1.12,1.25,1.38,1.5,1.62,1.75]}]}]"));
    free(text);
}

/* Percentages under the names of the header. */
static void test_fit_report__a_line(void)
{
    struct msim_fit_result f = result();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    msim_fit_report(out, "h100", "gemm", &SAMPLE, &f);
    fclose(out);
    CHECK_STR(text, "h100,H100,gemm,torch,k,100,20,1.00,9.00,2.00,3.00,4.00,"
                    "5.0,91.0,1.234,3.50\n");
    free(text);
    CHECK_STR(MSIM_FIT_REPORT_HEADER,
              "platform,table_gpu,family,framework,cell,rows,groups,"
              "fitted_mean_pct,law_alone_mean_pct,mean_pct,median_pct,p90_pct,"
              "worst_pct,interval_coverage_pct,interval_high_over_low,"
              "interval_score_over_error\n");
}

int main(void)
{
    RUN(test_law_fit__finds_constants);
    RUN(test_law_fit__without_a_fold);
    RUN(test_law_fit__a_thousand_rows);
    RUN(test_law_fit__bounds_and_starts);
    RUN(test_law_fit__launch_gaps);
    RUN(test_law_measured__start_and_gap);
    RUN(test_fit_write__members);
    RUN(test_fit_write__what_was_learned);
    RUN(test_fit_write__curves_and_variants);
    RUN(test_fit_report__a_line);
    return check_summary();
}

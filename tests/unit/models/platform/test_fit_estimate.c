/*
 * models/platform/fit_estimate.c: a fit's constants, correction and interval,
 * by a made-up law of two constants:
 *
 *     time = t0 + flops / (bandwidth * rate)
 *
 * whose one feature is what the work reads. Figures of the interval are rows of
 * data/laws/kernels.csv: outside,log_sd 0.08, at most 0.4; outside,fade 3;
 * shared_law,floor_us 2.
 */
#include "models/platform/fit.h"

#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>

static double time_us(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params)
{
    return params[0] + w->flops / (s->bandwidth * params[1]);
}

static void describe(const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x)
{
    (void)s;
    x[0] = w->bytes_read;
}

static void carry(const struct msim_data_sheet *to, double *params)
{
    params[1] += to->sms;
}

static const struct msim_param PARAMS[] = {{"t0", "us", 1, 0.1, 10},
                                           {"rate", "1", 1, 0.1, 10}};
static const char *const FEATURES[] = {"read"};

static struct msim_law law(void)
{
    return (struct msim_law){.name = "made",
                             .params = PARAMS,
                             .n_params = 2,
                             .features = FEATURES,
                             .n_features = 1,
                             .n_sizes = 1,
                             .carried_low = {0, 0.7},
                             .time_us = time_us,
                             .describe = describe};
}

static struct msim_fit fit(const struct msim_law *l)
{
    return (struct msim_fit){.law = l,
                             .framework = "stack",
                             .key = "kind",
                             .params = {3, 0.5},
                             .range_low = {10},
                             .range_high = {20},
                             .bins = {{(double)INFINITY, -0.1, 0.2}},
                             .n_bins = 1,
                             .rows = 40,
                             .table = "card",
                             .error = 0.05,
                             .heldout = 0.08};
}

/* 4 FLOP us of bandwidth: at rate 0.5 a work of 20 takes 10 us more than t0. */
static struct msim_platform gpu(const char *name)
{
    struct msim_platform p = {.clock = {.ratio = 0}};

    snprintf(p.name, sizeof(p.name), "%s", name);
    p.sheet.bandwidth = 4;
    p.sheet.sms = 2;
    p.sheet.floor_us = 6;
    return p;
}

static struct msim_work work(double read)
{
    return (struct msim_work){
        .family = MSIM_FAMILY_CONV, .flops = 20, .bytes_read = read};
}

/* Ends of the interval around `us`: 0.1 down and 0.2 up, with a deviation more
 * at right angles. */
static void check(const struct msim_estimate *e, double us, double start_us,
                  double log_sd)
{
    CHECK_REL(e->us, us, 1e-12);
    CHECK_REL(e->start_us, start_us, 1e-12);
    CHECK_REL(e->low_us, us * exp(-hypot(0.1, 1.645 * log_sd)), 1e-12);
    CHECK_REL(e->high_us, us * exp(hypot(0.2, 1.645 * log_sd)), 1e-12);
    CHECK_INT(e->source, MSIM_SOURCE_LAW);
    CHECK_INT(e->family, MSIM_FAMILY_CONV);
}

static void test_fit_estimate__of_its_own(void)
{
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p");
    struct msim_pick pick = {.fit = &f, .platform = &p, .bare = true};
    struct msim_adjust adjust = {.factor = 2, .log_sd = 0.3};
    struct msim_work w = work(15);
    struct msim_estimate e = {0};

    pick.trees = true;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13, 3, 0);
    pick.variance = 0.04;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13, 3, 0.2);
    msim_fit_estimate(&p, &pick, &w, &adjust, &e);
    check(&e, 26, 6, sqrt(0.04 + 0.09));
    /* the constant part is at least so long */
    pick.variance = 0;
    adjust = (struct msim_adjust){.factor = 1, .least_us = 5};
    msim_fit_estimate(&p, &pick, &w, &adjust, &e);
    check(&e, 15, 5, 0);
    adjust.least_us = 2;
    msim_fit_estimate(&p, &pick, &w, &adjust, &e);
    check(&e, 13, 3, 0);
    /* each kernel beyond the first starts, too */
    w.kernels = 1;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13, 3, 0);
    w.kernels = 3;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 19, 9, 0);
}

/* Each e-fold outside of the range widens by 0.08, up to 0.4. */
static void test_fit_estimate__outside(void)
{
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p");
    struct msim_pick pick = {
        .fit = &f, .platform = &p, .bare = true, .trees = true};
    static const double READS[][2] = {{10, 0},   {20, 0},      {22, 0.16},
                                      {7, 0.24}, {24.5, 0.36}, {90, 0.4}};
    struct msim_estimate e = {0};

    for (size_t i = 0; i < sizeof(READS) / sizeof(*READS); i++) {
        struct msim_work w = work(READS[i][0]);

        msim_fit_estimate(&p, &pick, &w, NULL, &e);
        check(&e, 13, 3, READS[i][1]);
    }
}

/* On another GPU: without trees a constant is at least what carries, and those
 * that follow other figures are set. */
static void test_fit_estimate__carried(void)
{
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p"), of = gpu("of");
    struct msim_pick pick = {.fit = &f, .platform = &of, .bare = true};
    struct msim_work w = work(15);
    struct msim_estimate e = {0};

    of.sheet.floor_us = 4;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 3 + 5 / 0.7, 3, 0);
    l.carry = carry;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 3 + 5 / 2.7, 3, 0);
    pick.platform = &p; /* its own constants follow nothing */
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 3 + 5 / 0.7, 3, 0);
    pick.platform = &of;
    pick.trees = true; /* its kernels are the same */
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13, 3, 0);
    l.start_follows_floor = true; /* 6 over 4 us, and over 2 of shared laws */
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 14.5, 4.5, 0);
    pick.platform = NULL;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 19, 9, 0);
}

/* Trees that add 0.1 everywhere: on what was measured, so that of a bare kernel
 * only the share counts that a change of it would show. Outside they fade. */
static void test_fit_estimate__corrected(void)
{
    cJSON *json = cJSON_Parse("{\"low\":-1,\"high\":1,\"cuts\":\"\","
                              "\"splits\":\"0\",\"leaves\":\"1000\"}");
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p");
    struct msim_pick pick = {
        .fit = &f, .platform = &p, .bare = true, .trees = true};
    struct msim_work w = work(15), out = work(23);
    struct msim_estimate e = {0};
    double share;

    REQUIRE(msim_forest_read(&f.forest, json, 1) == MSIM_OK);
    cJSON_Delete(json);
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13 * exp(0.1), 3 * exp(0.1), 0);
    msim_fit_estimate(&p, &pick, &out, NULL, &e);
    CHECK_REL(e.us, 13 * exp(0.1 * exp(-1)), 1e-6);
    f.gap = (struct msim_gap){13, 2};
    share = msim_gap_share(13, f.gap);
    CHECK(share < 0.7);
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    check(&e, 13 * exp(0.1 * share), 3 * exp(0.1 * share), 0);
    pick.bare = false;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    CHECK_REL(e.us, msim_with_gap(13, f.gap) * exp(0.1), 1e-6);
    pick.trees = false;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    CHECK_REL(e.us, msim_with_gap(3 + 5 / 0.7, f.gap), 1e-12);
    msim_forest_release(&f.forest);
}

/* At half the clock constants in microseconds double; the launch gap stays. */
static void test_fit_estimate__clocked(void)
{
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p");
    struct msim_pick pick = {
        .fit = &f, .platform = &p, .bare = true, .trees = true};
    const struct msim_adjust least = {.factor = 1, .least_us = 8};
    struct msim_work w = work(15);
    struct msim_estimate e = {0};
    double half;

    p.usual = p.sheet;
    p.clock.ratio = 0.5;
    p.clock.width_ratio = 0.5;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    half = msim_clock_half_width(&p.clock, 16.0 / 13);
    CHECK(half > 0);
    check(&e, 16, 6, half / 1.645);
    /* as callers give it at this clock: 4 us at the usual one */
    msim_fit_estimate(&p, &pick, &w, &least, &e);
    half = msim_clock_half_width(&p.clock, 18.0 / 14);
    check(&e, 18, 8, half / 1.645);
    f.gap = (struct msim_gap){13, 2};
    pick.bare = false;
    msim_fit_estimate(&p, &pick, &w, NULL, &e);
    CHECK_REL(e.us, msim_with_gap(16, f.gap), 1e-12);
}

/* One row of a similar size, whose correction is a tenth: all of it on its GPU,
 * 0.9 of it on another (other_gpu,correlation), none where only the law holds.
 * The interval is the fit's times what kriging says of the distance. */
static void test_fit_estimate__by_nearby_rows(void)
{
    cJSON *json =
        cJSON_Parse("{\"reach\":{\"read\":2},\"rows\":\"14\",\"weights\":"
                    "\"0.1\",\"noise\":0.05,\"low\":-1,\"high\":1}");
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p"), of = gpu("of");
    struct msim_pick pick = {
        .fit = &f, .platform = &p, .bare = true, .trees = true};
    struct msim_work w = work(15);
    struct msim_estimate e = {0};

    REQUIRE(msim_kriging_read(&f.kriging, json, &l) == MSIM_OK);
    cJSON_Delete(json);
    for (int i = 0; i < 3; i++) {
        struct msim_kriging_answer a = msim_kriging_correct(
            &f.kriging, (const double[]){15}, i == 1 ? 0.9 : 1);
        double us = 13;

        pick.platform = i ? &of : &p;
        pick.trees = i < 2;
        if (i == 2) {
            a = (struct msim_kriging_answer){0, msim_kriging_far(&f.kriging)};
            us = 3 + 5 / 0.7;
        }
        msim_fit_estimate(&p, &pick, &w, NULL, &e);
        CHECK(i == 2 || (a.log > 0 && !(fabs(a.sd_ratio - 1) < 1e-6)));
        CHECK_REL(e.us, us * exp(a.log), 1e-12);
        CHECK_REL(e.low_us, e.us * exp(-0.1 * a.sd_ratio), 1e-12);
        CHECK_REL(e.high_us, e.us * exp(0.2 * a.sd_ratio), 1e-12);
        CHECK_INT(e.source, MSIM_SOURCE_LAW);
    }
    msim_kriging_release(&f.kriging);
}

static struct msim_work all_reduce(enum msim_collective what, uint32_t ranks)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_COLLECTIVE, .flops = 20, .bytes_read = 15};

    w.u.coll.collective = what;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = 1;
    w.u.coll.bytes = 2048;
    return w;
}

/* Curves of two ranks, measured, and of eight, made from other GPUs': 13 and 26
 * us, with half widths of 0.1 and 0.3. */
static void test_fit_estimate__by_curves(void)
{
    static const struct {
        enum msim_collective what;
        uint32_t ranks;
        bool other, clocked;
        enum msim_source source;
        double log_sd;
    } ROWS[] = {
        {MSIM_COLL_ALL_REDUCE, 2, false, false, MSIM_SOURCE_TABLE, 0},
        {MSIM_COLL_ALL_REDUCE, 2, true, false, MSIM_SOURCE_LAW, 0},
        {MSIM_COLL_ALL_REDUCE, 2, false, true, MSIM_SOURCE_LAW, 0},
        {MSIM_COLL_ALL_REDUCE, 8, false, false, MSIM_SOURCE_NOT_RUN, 0},
        {MSIM_COLL_ALL_REDUCE, 8, true, false, MSIM_SOURCE_LAW, 0},
        {MSIM_COLL_BARRIER, 2, true, false, MSIM_SOURCE_LAW, 0.2},
    };
    cJSON *json = cJSON_Parse(
        "{\"curves\":[{\"collective\":\"all_reduce\",\"ranks\":2,\"nodes\":1,"
        "\"measured\":true,\"bytes\":[1024,4096],\"us\":[13,13],"
        "\"spread\":[0.1,0.1]},{\"collective\":\"all_reduce\",\"ranks\":8,"
        "\"nodes\":1,\"measured\":false,\"bytes\":[1024,4096],\"us\":[26,26],"
        "\"spread\":[0.3,0.3]}]}");
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p"), of = gpu("of");
    struct msim_pick pick = {.fit = &f, .bare = true, .trees = true};

    REQUIRE(msim_curves_read(&f.curves, json) == MSIM_OK);
    cJSON_Delete(json);
    p.usual = p.sheet;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work w = all_reduce(ROWS[i].what, ROWS[i].ranks);
        struct msim_curve_answer a;
        struct msim_estimate e = {0};

        pick.platform = ROWS[i].other ? &of : &p;
        p.clock.ratio = ROWS[i].clocked ? 0.5 : 0;
        CHECK(msim_curves_ask(&f.curves, &l, &p.sheet, f.params, &w, &a));
        CHECK_INT(a.stand_in, ROWS[i].log_sd > 0);
        msim_fit_estimate(&p, &pick, &w, NULL, &e);
        CHECK_INT(e.source, ROWS[i].source);
        if (ROWS[i].clocked)
            continue;
        CHECK_REL(e.us, 13 * exp(a.correction), 1e-12);
        CHECK_REL(e.high_us,
                  e.us * exp(hypot(a.half_width, 1.645 * ROWS[i].log_sd)),
                  1e-12);
        CHECK_REL(e.low_us * e.high_us, e.us * e.us, 1e-12);
    }
    msim_curves_release(&f.curves);
}

/* ---- in words ------------------------------------------------------------ */

static void check_words(const struct msim_platform *p,
                        const struct msim_pick *pick, double read,
                        const char *want)
{
    struct msim_work w = work(read);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_fit_explain(p, pick, &w, out);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

static void test_fit_explain__words(void)
{
    struct msim_law l = law();
    struct msim_fit f = fit(&l);
    struct msim_platform p = gpu("p"), of = gpu("of");
    struct msim_pick pick = {
        .fit = &f, .platform = &p, .bare = true, .trees = true};

    check_words(&p, &pick, 15,
                "rows: 40 of kind by stack on card\n"
                "error: mean 5.0 % on rows fitted on, 8.0 % on held-out rows\n"
                "constants: t0 3 us, rate 0.5 1\n"
                "time: law 13 us, correction +0.0 %\n");
    f.gap = (struct msim_gap){13, 2};
    check_words(&p, &pick, 23,
                "rows: 40 of kind by stack on card\n"
                "error: mean 5.0 % on rows fitted on, 8.0 % on held-out rows\n"
                "constants: t0 3 us, rate 0.5 1\n"
                "time: law 13 us, launch gap of the source 13 us, 2 us more a "
                "kernel (left out), correction +0.0 %\n"
                "warning: sizes lie outside the fitted range by 3.00 e-folds; "
                "the interval is wider for it\n");
    f.gap = (struct msim_gap){0, 0};
    pick.platform = &of;
    check_words(&p, &pick, 15,
                "rows: 40 of kind by stack on card (platform of stands in, "
                "scaled by the data sheets)\n"
                "error: mean 5.0 % on rows fitted on, 8.0 % on held-out rows\n"
                "constants: t0 3 us, rate 0.5 1\n"
                "time: law 13 us, correction +0.0 %\n");
    pick.trees = false;
    check_words(&p, &pick, 15,
                "rows: 40 of kind by stack on card (platform of stands in, "
                "scaled by the data sheets, law alone)\n"
                "error: mean 5.0 % on rows fitted on, 8.0 % on held-out rows\n"
                "constants: t0 3 us, rate 0.7 1\n"
                "time: law 10.14 us, correction +0.0 %\n");
    pick.platform = NULL;
    check_words(&p, &pick, 15,
                "rows: 40 of kind by stack on card (a law that all GPUs share, "
                "scaled by the data sheet)\n"
                "error: mean 5.0 % on rows fitted on, 8.0 % on held-out GPUs\n"
                "constants: t0 3 us, rate 0.7 1\n"
                "time: law 10.14 us, correction +0.0 %\n");
}

int main(void)
{
    RUN(test_fit_estimate__by_curves);
    RUN(test_fit_estimate__by_nearby_rows);
    RUN(test_fit_estimate__carried);
    RUN(test_fit_estimate__clocked);
    RUN(test_fit_estimate__corrected);
    RUN(test_fit_estimate__of_its_own);
    RUN(test_fit_estimate__outside);
    RUN(test_fit_explain__words);
    return check_summary();
}

/*
 * What is timed next: candidates by the width of their intervals, their
 * distance from what was timed and the weight of their kind, against a second
 * account of the same draws.
 */
#include "calibrate/machine/machine_internal.h"

#include "core/work/data_sheet.h"
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "tests/check.h"

#include <stdlib.h>

/* Additions have a fit, wide from 100 us on; products and copies have none. */
#define PLATFORM                                                               \
    "{\"kind\":\"gpu\",\"data_sheet\":{\"fp32_flops\":1e13,\"sms\":100,"       \
    "\"memory_bytes\":1e10,\"l2_bytes\":1e6,\"memory_bandwidth\":1e12},"       \
    "\"cells\":[{\"law\":\"vector\",\"framework\":\"b\",\"key\":\"add\","      \
    "\"table_gpu\":\"G\",\"rows\":40,\"constants\":{\"t0\":1,"                 \
    "\"bandwidth_efficiency\":1,\"cache_speedup\":1,\"cache_share\":1,"        \
    "\"row\":0.001,\"norm\":2},\"interval\":[{\"upto_us\":100,\"low\":-0.05,"  \
    "\"high\":0.05},{\"low\":-0.5,\"high\":0.5}]}]}"
#define GREETING                                                               \
    "{\"device\":{\"kind\":\"gpu\",\"sms\":100,\"memory_bytes\":8e10},"        \
    "\"tables\":{\"vector\":[\"add:fp32\",\"mul:fp32\"],\"gemm\":[\"fp64\"],"  \
    "\"copy\":[\"d2d\"]}}"

#define DRAWS 40 /* of a kind */
#define MOST  200

struct candidate {
    struct msim_cal_experiment e;
    uint32_t kind;
    double score;
};

static struct msim_cal_space space;
static struct msim_cal_design *design;
static struct msim_cal_widths *widths;

static bool begin(void)
{
    cJSON *greeting = cJSON_Parse(GREETING), *platform = cJSON_Parse(PLATFORM);
    bool ok = msim_cal_space_read(&space, greeting, 5e4, NULL) == MSIM_OK &&
              msim_cal_design_new(&design, &space, 1) == MSIM_OK &&
              msim_cal_widths_new(&widths, platform, NULL) == MSIM_OK;

    cJSON_Delete(greeting);
    cJSON_Delete(platform);
    return ok;
}

static void end(void)
{
    msim_cal_widths_free(widths);
    msim_cal_design_free(design);
}

/* The largest e-folds between two of one law and key; else INFINITY. */
static double between(const struct msim_work *a, const struct msim_work *b)
{
    static const struct msim_data_sheet SHEET = {.sms = 100};
    const struct msim_law *law = msim_law_of(a->family, false);
    double x[MSIM_LAW_FEATURES], y[MSIM_LAW_FEATURES], most = 0;
    char of_a[MSIM_FIT_KEY], of_b[MSIM_FIT_KEY];

    if (law != msim_law_of(b->family, false))
        return INFINITY;
    law->key(a, of_a, sizeof(of_a));
    law->key(b, of_b, sizeof(of_b));
    if (strcmp(of_a, of_b) != 0)
        return INFINITY;
    law->describe(&SHEET, a, x);
    law->describe(&SHEET, b, y);
    for (uint32_t i = 0; i < law->n_sizes; i++)
        most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Its width, 3 at most, less where something near was timed: in full from 0.7
 * e-folds on. 0: it is not to be timed. */
static double score_of(const struct msim_cal_experiment *e,
                       const struct msim_cal_journal *j)
{
    double width = msim_cal_width(widths, e, "b"), nearest = 0.7;

    for (uint32_t i = 0; i < j->n; i++)
        if (strcmp(j->entries[i].backend, "b") == 0 &&
            msim_cal_work(&j->entries[i].experiment))
            nearest = fmin(nearest,
                           between(msim_cal_work(e),
                                   msim_cal_work(&j->entries[i].experiment)));
    return fmin(width, 3) * nearest / 0.7;
}

/* As many as there are into `out`; each choice leaves its kind 0.93 of what it
 * weighed. */
static uint32_t choose(struct msim_cal_experiment *out, uint32_t n,
                       const struct msim_cal_journal *j, uint64_t random,
                       double *mean)
{
    static struct candidate list[MOST];
    double weight[4], sum = 0;
    uint32_t m = 0, widths_known = 0, chosen = 0;

    for (uint32_t k = 0; k < space.n; k++)
        weight[k] = space.kinds[k].weight;
    for (uint32_t i = 0; i < DRAWS * space.n; i++) {
        struct candidate c = {.kind = i / DRAWS};
        double width;

        if (!msim_cal_design_draw(design, c.kind, msim_cal_design_uniform,
                                  &random, &c.e) ||
            !msim_cal_work(&c.e) ||
            msim_cal_journal_find(j, msim_cal_hash(&c.e, "b")))
            continue;
        width = msim_cal_width(widths, &c.e, "b");
        if (isfinite(width)) {
            sum += width;
            widths_known++;
        }
        c.score = score_of(&c.e, j);
        list[m++] = c;
    }
    *mean = widths_known ? sum / widths_known : INFINITY;
    while (chosen < n) {
        struct candidate *best = NULL;

        for (uint32_t i = 0; i < m; i++)
            if (list[i].score > 0 &&
                (!best || list[i].score * weight[list[i].kind] >
                              best->score * weight[best->kind]))
                best = &list[i];
        if (!best)
            break;
        out[chosen++] = best->e;
        weight[best->kind] *= 0.93;
        best->score = 0;
    }
    return chosen;
}

static void check_choice(const struct msim_cal_journal *j, uint64_t random,
                         uint32_t n)
{
    static struct msim_cal_experiment got[MOST], want[MOST];
    double mean, expected;
    uint64_t state = random;
    uint32_t m = choose(want, n, j, random, &expected);

    CHECK_UINT(
        msim_cal_widest(widths, design, &space, j, "b", &state, got, n, &mean),
        m);
    CHECK(isinf(expected) ? isinf(mean) : fabs(mean - expected) < 1e-9);
    for (uint32_t i = 0; i < m; i++)
        CHECK(msim_cal_hash(&got[i], "") == msim_cal_hash(&want[i], ""));
    CHECK((state != random) == (space.n > 0));
}

static void add(struct msim_cal_journal *j, const char *backend,
                const struct msim_cal_experiment *e)
{
    CHECK_INT(msim_cal_journal_add(j, backend, e,
                                   cJSON_Parse("{\"time_us\":1}"), 1, NULL),
              MSIM_OK);
}

static void test_interval_width__chooses(void)
{
    static struct msim_cal_experiment first[MOST];
    struct msim_cal_journal j;
    uint64_t random = 5;
    double mean;

    REQUIRE(begin());
    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    check_choice(&j, 5, 5);
    check_choice(&j, 6, 60);
    check_choice(&j, 7, MOST); /* all there are */
    /* what was timed, by this backend and by another, counts next time */
    REQUIRE(msim_cal_widest(widths, design, &space, &j, "b", &random, first, 60,
                            &mean) == 60);
    for (int i = 0; i < 60; i++)
        add(&j, i % 2 ? "b" : "c", &first[i]);
    check_choice(&j, 5, 60);
    check_choice(&j, 8, 60);
    /* of no kinds nothing is chosen, and no width is known */
    space.n = 0;
    check_choice(&j, 8, 0);
    space.n = 4;
    msim_cal_journal_close(&j);
    end();
}

/* By hand: log(high / low) of either bin; another stack's fit is not asked. */
static void test_interval_width__of_fits(void)
{
    static const struct {
        const char *line, *backend;
        double width;
    } CASES[] = {
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\",\"shape\":"
         "\"1x1000\"}",
         "b", 0.1},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\",\"shape\":"
         "\"10000x10000\"}",
         "b", 1},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\",\"shape\":"
         "\"1x1000\"}",
         "c", INFINITY},
        {"{\"table\":\"vector\",\"op\":\"mul\",\"dtype\":\"fp32\",\"shape\":"
         "\"1x1000\"}",
         "b", INFINITY},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":9,\"n\":9,\"k\":9}", "b",
         INFINITY},
        {"{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":9}", "b", NAN},
    };
    cJSON *none = cJSON_Parse("{\"cells\":[]}");
    struct msim_cal_widths *w;

    REQUIRE(begin());
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *line = cJSON_Parse(CASES[i].line);
        struct msim_cal_experiment e;
        double width;

        msim_cal_experiment_read(&e, line);
        width = msim_cal_width(widths, &e, CASES[i].backend);
        CHECK(isfinite(CASES[i].width) ? fabs(width - CASES[i].width) < 1e-6
              : isnan(CASES[i].width)  ? isnan(width)
                                       : isinf(width));
        cJSON_Delete(line);
    }
    end();
    CHECK(msim_cal_widths_new(&w, none, NULL) != MSIM_OK); /* no data sheet */
    CHECK(!w);
    cJSON_Delete(none);
}

int main(void)
{
    RUN(test_interval_width__chooses);
    RUN(test_interval_width__of_fits);
    return check_summary();
}

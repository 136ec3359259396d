/* Specs and searches: what is refused, and that the search finds what trying
 * every point by itself finds. */
#include "models/platform/platform.h"
#include "plan/memory/job_memory.h"
#include "plan/search/plan.h"
#include "tests/check.h"
#include "tests/unit/read_spec.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct msim_error err;

static enum msim_status read_text(struct msim_spec *spec, const char *text)
{
    char path[] = "msim-test-spec-XXXXXX";
    int fd = mkstemp(path);
    enum msim_status status = MSIM_EIO;

    err = (struct msim_error){0};
    if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text))
        status = read_spec_at(spec, path, MSIM_DATA, &err);
    if (fd >= 0)
        close(fd);
    unlink(path);
    return status;
}

#define SMALL                                                                  \
    "{\"model\": \"llama3-8b\", \"global_batch\": 64, \"tokens\": 1e9, "       \
    "\"platforms\": [{\"name\": \"h100\", \"price_per_gpu_hour\": 2}, "        \
    "{\"name\": \"a100\", \"price_per_gpu_hour\": 1.2}], "                     \
    "\"gpus\": [8, 16, 32], \"pp\": [1, 2, 3]}"

static void test_spec__names_what_is_wrong(void)
{
    static const struct {
        const char *text, *want;
    } CASES[] = {
        {"{\"global_batch\": 64, \"platforms\": [\"h100\"], \"gpus\": 8}",
         "model is missing"},
        {"{\"model\": \"llama3-8b\", \"platforms\": [\"h100\"], \"gpus\": 8}",
         "global_batch is missing"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8}",
         "platforms is missing"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"platforms\": "
         "[\"h100\"]}",
         "gpus is missing"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [{\"name\": \"h100\", \"price_per_gpu_hour\": -1}]}",
         "platforms[0].price_per_gpu_hour is -1, want a number above 0"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": [8, 0], "
         "\"platforms\": [\"h100\"]}",
         "gpus[1] is 0, want a whole number from 1"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"zeros\": 1}",
         "zeros is not known, did you mean zero?"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"recompute\": \"some\"}",
         "recompute is \"some\", want one of none full"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"limits\": {\"days\": 3}}",
         "tokens is missing"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"optimizer_bits\": [null, 7]}",
         "optimizer_bits[1] is 7, want one of 8 16 32, null (not stated), or "
         "an array of them"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"tp\": [2, null]}",
         "tp[1] is null, want a whole number from 1"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"compile\": [true, false, true]}",
         "compile[2] is true, want every value once"},
        {"{\"model\": \"llama3-8b\", \"global_batch\": 64, \"gpus\": 8, "
         "\"platforms\": [\"h100\"], \"most_points\": 1e13}",
         "most_points is 10000000000000, want at most 100000000: every "
         "feasible point is kept"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_spec spec;

        CHECK(read_text(&spec, CASES[i].text) == MSIM_EFORMAT);
        if (!strstr(err.text, CASES[i].want))
            printf("got '%s'\n", err.text);
        CHECK(strstr(err.text, CASES[i].want) != NULL);
    }
}

static void test_spec__asks_for_a_bound(void)
{
    struct msim_spec spec;

    CHECK_INT(read_text(&spec,
                        "{\"model\": \"llama3-8b\", \"global_batch\": 64, "
                        "\"platforms\": [\"h100\", \"a100\"], "
                        "\"gpus\": [1,2,3,4,5,6,7,8,9,10], "
                        "\"tp\": [1,2,3,4,5,6,7,8,9,10], "
                        "\"pp\": [1,2,3,4,5,6,7,8,9,10], "
                        "\"vp\": [1,2,3,4,5,6,7,8,9,10], "
                        "\"cp\": [1,2,3,4,5,6,7,8,9,10], "
                        "\"ep\": [1,2,3,4,5,6,7,8,9,10]}"),
              MSIM_ELIMIT);
    CHECK(strstr(err.text, "most_points") != NULL);
}

/* The point of the same GPU and strategy without a technique. */
static const struct msim_plan_point *
without_technique(const struct msim_plan *plan, const struct msim_plan_point *p)
{
    struct msim_strategy s = p->strategy;

    s.technique = (struct msim_techniques){0};
    for (uint32_t i = 0; i < plan->n; i++)
        if (plan->points[i].platform == p->platform &&
            memcmp(&plan->points[i].strategy, &s, sizeof(s)) == 0)
            return &plan->points[i];
    return NULL;
}

static void search_with(struct msim_plan *plan, const char *members)
{
    struct msim_spec spec;
    char text[1024];

    snprintf(text, sizeof(text), "%.*s%s}", (int)strlen(SMALL) - 1, SMALL,
             members);
    REQUIRE(read_text(&spec, text) == MSIM_OK);
    REQUIRE(msim_plan_search(plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
}

/* A technique that is not stated changes no point. States of 8 bits need less
 * memory than those of 32, whatever else a point is. */
static void test_search__takes_techniques(void)
{
    struct msim_plan plain, none, narrow;
    uint32_t pairs = 0;

    search_with(&plain, "");
    search_with(&none, ", \"lora_rank\": null, \"offload\": \"none\"");
    search_with(&narrow, ", \"optimizer_bits\": [null, 8]");
    CHECK_UINT(none.n, plain.n);
    for (uint32_t i = 0; i < none.n && i < plain.n; i++)
        CHECK(none.points[i].us == plain.points[i].us);
    CHECK_UINT(narrow.looked_at, 2 * plain.looked_at);
    for (uint32_t i = 0; i < narrow.n; i++) {
        const struct msim_plan_point *p = &narrow.points[i], *wide;

        wide = p->strategy.technique.optimizer_bits
                   ? without_technique(&narrow, p)
                   : NULL;
        pairs += wide != NULL;
        CHECK(!wide || p->peak_gib < wide->peak_gib);
    }
    CHECK(pairs > 10);
    msim_plan_release(&plain);
    msim_plan_release(&none);
    msim_plan_release(&narrow);
}

static bool beats(const struct msim_plan_point *a,
                  const struct msim_plan_point *b)
{
    return a->us <= b->us && a->cost <= b->cost &&
           (a->us < b->us || a->cost < b->cost);
}

/* The frontier and what is expected to cost least of what is sure, by comparing
 * every point with every other. */
static void test_search__finds_what_trying_all_finds(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    REQUIRE(read_text(&spec, SMALL) == MSIM_OK);
    REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 2},
                             &err) == MSIM_OK);
    CHECK(plan.n > 20);
    CHECK_UINT(plan.n + plan.left_out[0] + plan.left_out[1] + plan.left_out[2],
               plan.looked_at);
    for (uint32_t i = 0; i < plan.n; i++) {
        bool beaten = false, on = false;

        CHECK(!msim_plan_is_sure(&plan.points[i]) ||
              msim_plan_expected_cost(&plan.points[i]) >=
                  msim_plan_expected_cost(&plan.points[plan.best]));
        for (uint32_t k = 0; k < plan.n; k++)
            beaten |= beats(&plan.points[k], &plan.points[i]);
        for (uint32_t k = 0; k < plan.n_frontier; k++) {
            const struct msim_plan_point *f = &plan.points[plan.frontier[k]];

            /* Equal points stand there once. */
            on |= f->us == plan.points[i].us && f->cost == plan.points[i].cost;
        }
        CHECK(on == !beaten);
    }
    msim_plan_release(&plan);
}

static void test_search__is_the_same_on_any_threads(void)
{
    struct msim_spec spec;
    struct msim_plan one, four;

    REQUIRE(read_text(&spec, SMALL) == MSIM_OK);
    REQUIRE(msim_plan_search(&one, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
    REQUIRE(msim_plan_search(&four, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 4},
                             &err) == MSIM_OK);
    CHECK_UINT(one.n, four.n);
    for (uint32_t i = 0; i < one.n && i < four.n; i++)
        CHECK(one.points[i].number == four.points[i].number &&
              one.points[i].us == four.points[i].us &&
              one.points[i].peak_gib == four.points[i].peak_gib);
    CHECK_UINT(one.best, four.best);
    msim_plan_release(&one);
    msim_plan_release(&four);
}

/* A point of a search is the row of a table: the same step, the same peak. */
static void test_search__prices_like_a_single_job(void)
{
    struct msim_spec spec;
    struct msim_plan plan;
    struct msim_platform *h100;
    struct msim_pricer pricer = {0};
    struct msim_terms terms;
    struct msim_step_fit fit;
    const struct msim_plan_point *p;

    REQUIRE(read_text(&spec, SMALL) == MSIM_OK);
    REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
    REQUIRE(msim_platform_load(&h100, MSIM_DATA, "h100", &err) == MSIM_OK);
    REQUIRE(msim_steps_read(&fit, NULL, MSIM_DATA, NULL, &err) == MSIM_OK);
    p = &plan.points[0];
    CHECK_UINT(p->platform, 0);
    pricer.platform = h100;
    CHECK(msim_terms_make(&terms, &pricer, &spec.model, &p->strategy, &err) ==
          MSIM_OK);
    CHECK_REL(msim_step_predict(&terms, &fit).us, p->us, 1e-12);
    CHECK_REL(p->days, 1e9 / p->rate / 86400, 1e-9);
    CHECK_REL(p->cost, p->days * 24 * 2 * (double)p->strategy.gpus, 1e-9);
    msim_step_fit_release(&fit);
    msim_pricer_release(&pricer);
    msim_platform_free(h100);
    msim_plan_release(&plan);
}

/*
 * Of 20 [16, 25] a twentieth lies above 25 and one below 16, a half below 20;
 * 25 ^ 0.5 x 20 ^ 0.5 is half of 1.645 standard deviations up: 0.7946 of a
 * normal distribution lie below.
 */
static void test_chance__follows_the_interval(void)
{
    CHECK_REL(msim_chance_below(20, 20, 16, 25), 0.5, 1e-9);
    CHECK_REL(msim_chance_below(25, 20, 16, 25), 0.95, 1e-3);
    CHECK_REL(msim_chance_below(16, 20, 16, 25), 0.05, 1e-2);
    CHECK_REL(msim_chance_below(22.3607, 20, 16, 25), 0.7946, 1e-3);
    CHECK_REL(msim_chance_below(20, 20, 20, 20), 1, 1e-9);
}

/* Of what surely fits. */
#define ROOMY                                                                  \
    "{\"model\": \"llama3-8b\", \"global_batch\": 64, \"tokens\": 1e9, "       \
    "\"platforms\": [{\"name\": \"h100\", \"price_per_gpu_hour\": 2}, "        \
    "{\"name\": \"a100\", \"price_per_gpu_hour\": 1.2}], "                     \
    "\"gpus\": [8, 16, 32], \"pp\": [1, 2, 3], \"micro_batch\": 1}"

/* A limit above the best point's time, just so far that another one keeps it
 * surely: the best keeps it as predicted, but not surely. What is recommended
 * does, and costs no less. */
static void test_search__recommends_what_is_sure(void)
{
    struct msim_spec spec;
    struct msim_plan plan;
    const struct msim_plan_point *best, *cheaper;
    double cost, days;

    REQUIRE(read_text(&spec, ROOMY) == MSIM_OK);
    spec.platforms[1].price = 0.3; /* the slower one is cheapest */
    REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
    best = &plan.points[plan.best];
    CHECK(isnan(best->chance) && plan.cheaper == UINT32_MAX);
    cost = msim_plan_expected_cost(best);
    days = best->days;
    for (double more = 1.01; more < 2 && plan.cheaper == UINT32_MAX;
         more *= 1.02) {
        spec.most_days = days * more;
        msim_plan_release(&plan);
        REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                                 &(struct msim_plan_options){.threads = 1},
                                 &err) == MSIM_OK);
    }
    best = &plan.points[plan.best];
    CHECK(best->chance >= MSIM_PLAN_SAFE && best->fits == MSIM_FITS_YES);
    REQUIRE(plan.cheaper != UINT32_MAX);
    cheaper = &plan.points[plan.cheaper];
    CHECK(cheaper->chance > 0.5 && cheaper->chance < MSIM_PLAN_SAFE);
    CHECK_REL(msim_plan_expected_cost(cheaper), cost, 1e-12);
    CHECK(msim_plan_expected_cost(best) >= cost);
    CHECK_UINT(plan.best_of[best->platform], plan.best);
    msim_plan_release(&plan);
}

/* Points by hand: money, the interval of a step, whether they fit. */
static struct msim_plan_point point_of(uint64_t number, double cost,
                                       double factor, enum msim_fits fits)
{
    return (struct msim_plan_point){.number = number,
                                    .us = 100,
                                    .low_us = 100 / factor,
                                    .high_us = 100 * factor,
                                    .time = 100,
                                    .cost = cost,
                                    .chance = NAN,
                                    .correction = 1,
                                    .fits = fits,
                                    .allowed = true};
}

/* The least known does not win by its width; what may not fit stands beside;
 * of two too close to call the wider one is to be run, after which the other's
 * own half is left. */
static void test_recommend__expects(void)
{
    struct msim_plan_point points[] = {point_of(0, 98, 3, MSIM_FITS_YES),
                                       point_of(1, 100, 1.2, MSIM_FITS_YES),
                                       point_of(2, 80, 1.2, MSIM_FITS_EDGE),
                                       point_of(3, 200, 1.2, MSIM_FITS_YES)};
    struct msim_plan plan = {.points = points, .n = 4};
    double sd = log(3) / 1.645;

    CHECK_REL(msim_plan_expected_cost(&points[0]), 98 * exp(sd * sd / 2),
              1e-12);
    REQUIRE(msim_plan_recommend(&plan) == MSIM_OK);
    CHECK_UINT(plan.best, 1);
    CHECK_UINT(plan.runner_up, 0);
    CHECK_UINT(plan.cheaper, 2);
    CHECK_UINT(plan.test, 0);
    CHECK_REL(plan.after_test, exp(log(1.2) * M_SQRT1_2), 1e-12);
    free(plan.frontier);
    /* Far apart there is nothing to be run. */
    points[0].cost = 1000;
    REQUIRE(msim_plan_recommend(&plan) == MSIM_OK);
    CHECK_UINT(plan.runner_up, 3);
    CHECK_UINT(plan.test, UINT32_MAX);
    free(plan.frontier);
    /* Nothing is sure: the cheapest, and nothing beside it. */
    for (int i = 0; i < 4; i++)
        points[i].fits = MSIM_FITS_EDGE;
    REQUIRE(msim_plan_recommend(&plan) == MSIM_OK);
    CHECK_UINT(plan.best, 2);
    CHECK_UINT(plan.cheaper, UINT32_MAX);
    free(plan.frontier);
}

/* GPUs and throughput are limits, too. */
static void test_search__keeps_to_gpus_and_throughput(void)
{
    struct msim_spec spec;
    struct msim_plan plan;

    REQUIRE(read_text(&spec, SMALL) == MSIM_OK);
    spec.most_gpus = 16;
    spec.least_rate = 1e5;
    REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
    for (uint32_t i = 0; i < plan.n; i++)
        CHECK(plan.points[i].allowed == (plan.points[i].strategy.gpus <= 16 &&
                                         plan.points[i].rate >= 1e5));
    CHECK(plan.n_frontier > 0);
    msim_plan_release(&plan);
}

/* Of two platforms one has no price: its GPU time is no money, so that it is
 * predicted and not compared, however short it is. */
static void test_search__compares_money_with_money(void)
{
    struct msim_spec spec;
    struct msim_plan plan;
    uint32_t unpriced = 0;

    REQUIRE(read_text(&spec, SMALL) == MSIM_OK);
    spec.platforms[0].price = 0;
    REQUIRE(msim_plan_search(&plan, &spec, MSIM_DATA,
                             &(struct msim_plan_options){.threads = 1},
                             &err) == MSIM_OK);
    for (uint32_t i = 0; i < plan.n; i++)
        unpriced += plan.points[i].platform == 0;
    CHECK(unpriced > 0 && plan.priced);
    REQUIRE(plan.best != UINT32_MAX);
    CHECK_UINT(plan.points[plan.best].platform, 1);
    CHECK_UINT(plan.best_of[0], UINT32_MAX);
    for (uint32_t i = 0; i < plan.n_frontier; i++)
        CHECK_UINT(plan.points[plan.frontier[i]].platform, 1);
    msim_plan_release(&plan);
}

int main(void)
{
    RUN(test_search__compares_money_with_money);
    RUN(test_chance__follows_the_interval);
    RUN(test_search__recommends_what_is_sure);
    RUN(test_recommend__expects);
    RUN(test_search__keeps_to_gpus_and_throughput);
    RUN(test_spec__names_what_is_wrong);
    RUN(test_spec__asks_for_a_bound);
    RUN(test_search__takes_techniques);
    RUN(test_search__finds_what_trying_all_finds);
    RUN(test_search__is_the_same_on_any_threads);
    RUN(test_search__prices_like_a_single_job);
    return check_summary();
}

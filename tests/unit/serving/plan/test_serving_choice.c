/* serving/plan/serving_choice.c: what is taken of all configurations of small
 * plans, found a second time by looking at each. */
#include "serving/plan/serving_choice.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <math.h>

static struct msim_error err;
static struct msim_serving_spec spec;
static struct msim_serving_choice c;

/* Its text uses ' for ". */
static bool choose(const char *members, uint32_t threads)
{
    char text[2048], *at;
    cJSON *json;

    snprintf(text, sizeof(text),
             "{'workload': 'serving', 'model': 'llama3-8b', 'rate': 40, "
             "'input_tokens': {'exponential': 800}, 'output_tokens': "
             "{'exponential': 100}, 'requests': 200, %s}",
             members);
    for (at = text; *at; at++)
        if (*at == '\'')
            *at = '"';
    json = cJSON_Parse(text);
    CHECK(json != NULL);
    err = (struct msim_error){0};
    return CHECK_INT(msim_serving_spec_of_json(&spec, json, "spec.json",
                                               MSIM_DATA, &err),
                     MSIM_OK) &&
           CHECK_INT(msim_serving_choose(&c, &spec, MSIM_DATA, threads, NULL,
                                         NULL, &err),
                     MSIM_OK);
}

static void release(void)
{
    msim_serving_choice_release(&c);
    msim_serving_spec_release(&spec);
}

static double price(const struct msim_fleet_point *p)
{
    return c.priced ? p->cost_per_hour : p->gpus;
}

/* Is a point one that counts: it keeps the promises, and is not the same
 * number of replicas said twice? */
static bool counts(uint32_t config, int kind)
{
    const struct msim_fleet_point *all = c.fleets[config].points;

    return all[kind].replicas > 0 &&
           (kind != MSIM_FLEET_SURE ||
            all[kind].replicas != all[MSIM_FLEET_MIDDLE].replicas);
}

static const struct msim_fleet_point *cheapest(int kind)
{
    const struct msim_fleet_point *best = NULL;

    for (uint32_t i = 0; i < c.n; i++) {
        const struct msim_fleet_point *p = &c.fleets[i].points[kind];

        if (p->replicas > 0 && p->within_limits && !isnan(price(p)) &&
            (!best || price(p) < price(best) ||
             (price(p) == price(best) &&
              p->of_limit.high < best->of_limit.high)))
            best = p;
    }
    return best;
}

/* Neither dearer nor later than another that counts, and one of both less. */
static bool beaten(const struct msim_fleet_point *p)
{
    for (uint32_t i = 0; i < c.n; i++)
        for (int k = 0; k < MSIM_FLEET_KINDS; k++) {
            const struct msim_fleet_point *q = &c.fleets[i].points[k];

            if (counts(i, k) && q->within_limits && price(q) <= price(p) &&
                q->of_limit.middle <= p->of_limit.middle &&
                (price(q) < price(p) ||
                 q->of_limit.middle < p->of_limit.middle))
                return true;
        }
    return false;
}

static void check_choice(void)
{
    const struct msim_fleet_point *sure = cheapest(MSIM_FLEET_SURE), *p;
    const struct msim_fleet_point *middle = cheapest(MSIM_FLEET_MIDDLE);
    uint32_t at = 0, n = 0;

    CHECK(c.best == (sure ? sure : middle));
    CHECK_INT(c.sure, sure != NULL);
    CHECK(c.cheaper ==
          (sure && middle && price(middle) < price(sure) ? middle : NULL));
    for (uint32_t i = 0; i < c.n; i++)
        for (int k = 0; k < MSIM_FLEET_KINDS; k++) {
            p = &c.fleets[i].points[k];
            CHECK_INT(p->frontier, p->replicas > 0 && p->within_limits &&
                                       !isnan(price(p)) && !beaten(p));
            if (p->replicas > 0 && !isnan(price(p)))
                CHECK_REL(msim_serving_choice_price(&c, p), price(p), 0);
            if (!counts(i, k))
                continue;
            CHECK(msim_serving_choice_next(&c, &at) == p);
            n++;
        }
    CHECK(!msim_serving_choice_next(&c, &at));
    CHECK(n > 0 || !c.best);
}

#define SLO "'slo': [{'metric': 'ttft', 'percentile': 90, 'limit_ms': 1000}]"
#define PRICED                                                                 \
    "'platforms': [{'name': 'a100', 'price_per_gpu_hour': 2}, {'name': "       \
    "'h100', 'price_per_gpu_hour': 3}]"

static void test_serving_choice__by_price(void)
{
    if (choose(SLO ", " PRICED ", 'tp': [1, 2]", 1)) {
        CHECK_INT(c.n, 4);
        CHECK(c.priced);
        CHECK(c.best != NULL);
        CHECK(!c.nearest);
        check_choice();
    }
    release();
    CHECK(!c.fleets && !c.best);
}

/* Without prices by GPUs; one price makes it money, for what has one. */
static void test_serving_choice__by_gpus(void)
{
    if (choose(SLO ", 'platforms': ['a100', 'h100'], 'tp': [1, 2]", 2)) {
        CHECK(!c.priced);
        CHECK(c.best != NULL);
        check_choice();
    }
    release();
    if (choose(SLO ", 'platforms': ['a100', {'name': 'h100', "
                   "'price_per_gpu_hour': 3}], 'tp': 1",
               2)) {
        CHECK(c.priced);
        CHECK(c.best != NULL && c.best->config == 1);
        check_choice();
    }
    release();
}

/* Limits that the cheapest breaks, or all. */
static void test_serving_choice__within_limits(void)
{
    double least = 0;

    if (choose(SLO ", " PRICED ", 'tp': 1", 1) && c.best)
        least = c.best->cost_per_hour;
    release();
    CHECK(least > 0);
    if (choose(SLO ", " PRICED ", 'tp': 1, 'limits': {'cost_per_hour': 0.5}",
               1)) {
        CHECK(!c.best && !c.sure && !c.cheaper);
        check_choice();
        /* whose lone request comes nearest is told then */
        CHECK(c.nearest != NULL);
        for (uint32_t i = 0; c.nearest && i < c.n; i++)
            CHECK(!(c.fleets[i].alone < c.nearest->alone));
    }
    release();
}

/* What no GPU is quick enough for; and a model that fits none. */
static void test_serving_choice__nothing(void)
{
    if (choose("'slo': [{'metric': 'ttft', 'percentile': 90, 'limit_ms': "
               "0.001}], " PRICED ", 'tp': [1, 2]",
               1)) {
        CHECK(!c.best);
        CHECK(c.nearest != NULL && c.nearest->fits);
        for (uint32_t i = 0; c.nearest && i < c.n; i++)
            CHECK(!(c.fleets[i].alone < c.nearest->alone));
        check_choice();
    }
    release();
    if (choose(SLO ", 'platforms': ['t4'], 'tp': 1", 1)) {
        CHECK(!c.best && !c.nearest);
        CHECK(!c.fleets[0].fits);
        check_choice();
    }
    release();
}

static uint32_t told;

static void tell(void *ctx, uint32_t done, uint32_t total)
{
    CHECK(ctx == &told);
    CHECK_INT(done, ++told);
    CHECK_INT(total, 2);
}

static void test_serving_choice__tells(void)
{
    if (choose(SLO ", 'platforms': ['h100'], 'tp': [1, 2]", 1)) {
        msim_serving_choice_release(&c);
        CHECK_INT(
            msim_serving_choose(&c, &spec, MSIM_DATA, 2, tell, &told, &err),
            MSIM_OK);
        CHECK_INT(told, 2);
    }
    release();
}

/* Of one configuration the fewest replicas are the cheapest. */
static void test_serving_choice__of_one(void)
{
    if (choose(SLO ", 'platforms': ['h100'], 'tp': 1", 1)) {
        CHECK_INT(c.n, 1);
        CHECK(c.fleets[0].points[MSIM_FLEET_MIDDLE].frontier);
        check_choice();
    }
    release();
}

int main(void)
{
    RUN(test_serving_choice__by_price);
    RUN(test_serving_choice__by_gpus);
    RUN(test_serving_choice__within_limits);
    RUN(test_serving_choice__nothing);
    RUN(test_serving_choice__tells);
    RUN(test_serving_choice__of_one);
    return check_summary();
}

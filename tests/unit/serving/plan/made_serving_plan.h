/*
 * tests/unit/serving/plan/made_serving_plan.h - a plan of serving that is made
 * up: four configurations, of which the first two keep the promises.
 */
#ifndef MSIM_TESTS_UNIT_SERVING_PLAN_MADE_SERVING_PLAN_H
#define MSIM_TESTS_UNIT_SERVING_PLAN_MADE_SERVING_PLAN_H
#include "serving/plan/serving_choice.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define GIB 1073741824.0

enum { H100_TP1, H100_TP2, B200_TP1, B200_TP2, CONFIGS };

static const struct msim_app_class classes[] = {{.name = "chat"},
                                                {.name = "code"}};
static const struct msim_promise promises[] = {
    {MSIM_CLASS_ALL, MSIM_PROMISE_TTFT, 90, 500},
    {1, MSIM_PROMISE_E2E, 99.9, 20000}};
static struct msim_serving_spec spec;
static struct msim_served_fleet fleets[CONFIGS];
static struct msim_serving_choice c;
static char text[16384];

static inline struct msim_fleet_point point(uint32_t config, int64_t replicas,
                                            double high, double cost)
{
    return (struct msim_fleet_point){
        .config = config,
        .replicas = replicas,
        .gpus = 2.0 * (double)replicas,
        .load = 0.75,
        .promised = {{200, 150, 250}, {4000, 3000, 5000}},
        .of_limit = {0.4, 0.3, high},
        .cost_per_hour = cost,
        .cost_per_1000 = cost / 4,
        .cost_per_million_tokens = cost / 8,
        .power_kw = NAN,
        .within_limits = true};
}

static inline void begin(void)
{
    spec = (struct msim_serving_spec){
        .model = "m8", .currency = "EUR", .rate = 40, .n_platforms = 2};
    spec.platforms[0].name = "h100";
    spec.platforms[1].name = "b200";
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++)
        spec.n[d] = 1;
    spec.values[MSIM_SERVING_TP] = cJSON_Parse("[1, 2]");
    spec.n[MSIM_SERVING_TP] = 2;
    spec.values[MSIM_SERVING_PRECISION] = cJSON_Parse("\"fp8\"");
    spec.values[MSIM_SERVING_KV] = cJSON_Parse("\"fp8\"");
    spec.values[MSIM_SERVING_CHUNKED] = cJSON_Parse("[true]");
    memset(fleets, 0, sizeof(fleets));
    for (int i = 0; i < CONFIGS; i++) {
        fleets[i].gpus = i % 2 ? 2 : 1;
        fleets[i].memory.weights = 8 * GIB;
        fleets[i].memory.workspace = GIB / 2;
        fleets[i].memory.kv_tokens = 100000;
        fleets[i].capacity = (struct msim_fleet_figure){12.5, 10, 15};
        fleets[i].tokens = (struct msim_fleet_figure){1250, 1000, 1500};
    }
    fleets[H100_TP1].points[MSIM_FLEET_MIDDLE] = point(H100_TP1, 3, 1.1, 7.5);
    fleets[H100_TP1].points[MSIM_FLEET_SURE] = point(H100_TP1, 4, 1, 10);
    fleets[H100_TP1].points[MSIM_FLEET_SURE].power_kw = 5.25;
    fleets[H100_TP1].points[MSIM_FLEET_SURE].frontier = true;
    fleets[H100_TP2].points[MSIM_FLEET_MIDDLE] = point(H100_TP2, 3, 0.9, NAN);
    snprintf(fleets[B200_TP1].why, sizeof(fleets[0].why), "too large");
    snprintf(fleets[B200_TP2].why, sizeof(fleets[0].why), "too slow");
    c = (struct msim_serving_choice){
        .spec = &spec,
        .app = {.classes = classes,
                .n_classes = 2,
                .promises = promises,
                .n_promises = 2},
        .fleets = fleets,
        .n = CONFIGS,
        .best = &fleets[H100_TP1].points[MSIM_FLEET_SURE],
        .sure = true,
        .cheaper = &fleets[H100_TP1].points[MSIM_FLEET_MIDDLE]};
}

static inline void end(void)
{
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++)
        cJSON_Delete((cJSON *)(uintptr_t)spec.values[d]);
}

/* The words of a configuration behind its GPU. */
#define MADE_REST ", fp8, kv_cache_dtype fp8, enable_chunked_prefill true"
#define TP1       "tp 1" MADE_REST
#define TP2       "tp 2" MADE_REST

#endif

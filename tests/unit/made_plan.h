/*
 * tests/unit/made_plan.h - a made-up plan, and what is written of it.
 */
#ifndef MSIM_TESTS_UNIT_MADE_PLAN_H
#define MSIM_TESTS_UNIT_MADE_PLAN_H
#include "core/base/units.h"
#include "plan/search/plan.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_POINTS 16

static struct {
    struct msim_plan plan;
    struct msim_spec spec;
    struct msim_plan_point points[MADE_POINTS];
    uint32_t frontier[MADE_POINTS];
    char *text; /* that was written last */
} made_plan;

/* A step of `us`, and 0.8 to 1.5 of that, on so many GPUs: half of it
 * computes, a quarter is idle and a quarter exchanges. Of 40 GiB, and 36 to 44,
 * it has 60 beside a context of 1 and buffers of 2. */
static inline struct msim_plan_point made_plan_point(int64_t gpus, double us)
{
    return (struct msim_plan_point){
        .strategy = {.nodes = 1,
                     .tp = 1,
                     .pp = 1,
                     .vp = 1,
                     .cp = 1,
                     .ep = 1,
                     .etp = 1,
                     .gpus = gpus,
                     .dp = gpus,
                     .micro_batch = 1,
                     .grad_accum = 1,
                     .precision = MSIM_PRECISION_BF16},
        .us = us,
        .low_us = 0.8 * us,
        .high_us = 1.5 * us,
        .part_us = {us / 2, us / 4, us / 4},
        .exchange = {us / 2, us / 4, us / 8, us},
        .peak_gib = 40,
        .low_gib = 36,
        .high_gib = 44,
        .room_gib = 60,
        .beside = {.context = MSIM_GIB, .nccl = 2 * MSIM_GIB},
        .part_gib = {30, 10},
        .fits = MSIM_FITS_YES,
        .rate = 1e6 / us,
        .mfu = 0.4,
        .time = us,
        .gpu_us = us * (double)gpus,
        .days = NAN,
        .cost = NAN,
        .kwh = NAN,
        .chance = NAN,
        .allowed = true,
        .correction = 1,
    };
}

/* 8 GPUs of the first platform in 4 s, recommended, and 16 of the second in 3,
 * of a model that is called small; no limits, no prices. */
static inline void made_plan_begin(void)
{
    static const char *const STEPS[] = {"compute", "idle", "exchanges", NULL};
    static const char *const MEMORY[] = {"weights", "the rest", NULL};
    struct msim_spec *s = &made_plan.spec;
    struct msim_plan *p = &made_plan.plan;

    *s = (struct msim_spec){.name = "small",
                            .sequence = 512,
                            .global_batch = 32,
                            .n_platforms = 2,
                            .platforms = {{.name = "h100"}, {.name = "a100"}},
                            .most_days = INFINITY,
                            .most_cost = INFINITY,
                            .most_memory_gib = INFINITY,
                            .most_gpus = INFINITY,
                            .most_latency_us = INFINITY};
    made_plan.points[0] = made_plan_point(8, 4e6);
    made_plan.points[1] = made_plan_point(16, 3e6);
    made_plan.points[1].platform = 1;
    made_plan.frontier[0] = 1;
    made_plan.frontier[1] = 0;
    *p = (struct msim_plan){.points = made_plan.points,
                            .n = 2,
                            .looked_at = 9,
                            .left_out = {2, 3, 4},
                            .step_parts = STEPS,
                            .memory_parts = MEMORY,
                            .frontier = made_plan.frontier,
                            .n_frontier = 2,
                            .best = 0,
                            .runner_up = UINT32_MAX,
                            .cheaper = UINT32_MAX,
                            .best_of = {0, 1},
                            .test = UINT32_MAX};
}

/* What a function of the outcome writes of it; until the next call. */
typedef void made_plan_writes(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out);
static inline const char *made_plan_says(made_plan_writes *write)
{
    size_t size;
    FILE *out;

    free(made_plan.text);
    made_plan.text = NULL;
    out = open_memstream(&made_plan.text, &size);
    if (!CHECK(out != NULL))
        return "";
    write(&made_plan.plan, &made_plan.spec, out);
    fclose(out);
    return made_plan.text;
}

/* Is each of these, up to NULL, in the text, one behind the other? */
static inline bool made_plan_has(const char *const *parts)
{
    const char *at = made_plan.text;

    for (; *parts; at += strlen(*parts++)) {
        at = strstr(at, *parts);
        if (!at) {
            CHECK_STR(made_plan.text, *parts);
            return false;
        }
    }
    return true;
}

#endif

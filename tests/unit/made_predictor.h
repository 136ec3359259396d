/*
 * tests/unit/made_predictor.h - a spec of 24 points, and a predictor that is
 * made up: what it is asked is counted, what it answers follows from a point's
 * number.
 */
#ifndef MSIM_TESTS_UNIT_MADE_PREDICTOR_H
#define MSIM_TESTS_UNIT_MADE_PREDICTOR_H
#include "core/base/files.h"
#include "plan/search/plan.h"
#include "tests/check.h"
#include "tests/unit/read_spec.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCK 7
/* Numbers: tp + 3 zero + 6 gpus + 12 platform, by their places; the last block
 * has three. */
#define POINTS 24
#define SPEC                                                                   \
    "{\"model\": \"llama3-8b\", \"global_batch\": 64, \"sequence\": 100, "     \
    "\"tokens\": 1e9, \"platforms\": [{\"name\": \"titan-xp\", "               \
    "\"price_per_gpu_hour\": 0.5, \"power_w\": 0.5}, \"m40\"], "               \
    "\"gpus\": [8, 16], \"tp\": [1, 2, 3], \"zero\": [1, 3], \"pp\": 1, "      \
    "\"micro_batch\": 1, \"recompute\": \"none\"}"
#define TRACED                                                                 \
    "{\"trace\": \"x.json\", %s, \"gpus\": [8, 16], \"platforms\": "           \
    "[{\"name\": \"titan-xp\", \"price_per_gpu_hour\": 0.5, "                  \
    "\"power_w\": 0.5}, \"m40\"]}"

static const char *data_dir; /* main() sets it */
static struct msim_error err;
static char folder[] = P_tmpdir "/msim-shared-XXXXXX";

static inline void read_spec(struct msim_spec *spec, const char *text)
{
    char path[96];
    FILE *f;

    snprintf(path, sizeof(path), "%s/spec.json", folder);
    f = fopen(path, "w");
    REQUIRE(f);
    fputs(text, f);
    fclose(f);
    CHECK(read_spec_at(spec, path, data_dir, &err) == MSIM_OK);
    CHECK(unlink(path) == 0);
    msim_files_read_release(); /* it is gone, and parts are of what is there */
    spec->file = "spec.json";
}

/* ---- the predictor ------------------------------------------------------- */

static struct {
    uint32_t splits, memories, steps, ways, begun, ended;
    bool nothing_fits, alike, all_differ, slow, odd;
    pthread_t first;
    enum msim_status fails;
} asked;

static enum msim_status begin(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *e)
{
    (void)platforms;
    *thread = own;
    if (asked.slow && !pthread_equal(asked.first, pthread_self()))
        usleep(3000);
    __atomic_add_fetch(&asked.begun, 1, __ATOMIC_RELAXED);
    return asked.fails == MSIM_OK
               ? MSIM_OK
               : msim_fail(e, asked.fails, NULL, MSIM_OFFSET_NONE, "it fails");
}

static void end(void *thread)
{
    __atomic_add_fetch(&asked.ended, thread == &asked, __ATOMIC_RELAXED);
}

/* Splits by three are refused on the first platform. */
static bool split(void *thread, struct msim_plan_point *p,
                  char why[MSIM_PLAN_WHY])
{
    struct msim_strategy *s = &p->strategy;

    (void)thread;
    __atomic_add_fetch(&asked.splits, 1, __ATOMIC_RELAXED);
    if (asked.all_differ) {
        snprintf(why, MSIM_PLAN_WHY, "not %d", (int)p->number);
        return false;
    }
    s->dp = s->gpus / (s->tp ? s->tp : 1);
    if (!s->global_batch)
        s->global_batch = 4 * s->gpus;
    if (s->tp != 3 || p->platform > 0)
        return true;
    snprintf(why, MSIM_PLAN_WHY, "tp 3 and zero %d", (int)s->zero);
    return false;
}

/* Six do not fit, five of them by their peaks. */
static bool memory(void *thread, struct msim_plan_point *p,
                   char why[MSIM_PLAN_WHY])
{
    (void)thread;
    (void)why;
    __atomic_add_fetch(&asked.memories, 1, __ATOMIC_RELAXED);
    p->peak_gib = 5;
    p->fits = MSIM_FITS_YES;
    if ((p->platform > 0 && p->strategy.zero == 1) || asked.nothing_fits) {
        p->peak_gib = p->number == 18 ? 9 : 100 + (double)(p->number * 7 % 24);
        p->fits = p->number == 18 ? MSIM_FITS_NO : MSIM_FITS_EDGE;
        if (asked.alike)
            p->peak_gib = 100;
    }
    return true;
}

/* Two have no model. */
static bool step(void *thread, struct msim_plan_point *p,
                 char why[MSIM_PLAN_WHY])
{
    (void)thread;
    __atomic_add_fetch(&asked.steps, 1, __ATOMIC_RELAXED);
    p->us = 1e6 + 1e4 * (double)(p->number * 7 % 24);
    if (asked.odd && p->strategy.gpus == 16)
        p->us /= 3;
    p->low_us = 0.9 * p->us;
    p->high_us = 1.2 * p->us;
    p->mfu = 0.5;
    p->correction = 1;
    snprintf(why, MSIM_PLAN_WHY, "no model of %d GPUs", (int)p->strategy.gpus);
    return p->number % 11 != 4;
}

static void find_ways(void *thread, const struct msim_plan_point *p,
                      struct msim_plan_ways *out)
{
    (void)thread;
    asked.ways++;
    *out = (struct msim_plan_ways){.n = 1};
    snprintf(out->text, sizeof(out->text), "of %d", (int)p->number);
}

static const char *const PARTS[] = {"all", NULL};
static const struct msim_plan_predictor MADE = {.own = &asked,
                                                .block = BLOCK,
                                                .says_why = true,
                                                .step_parts = PARTS,
                                                .memory_parts = PARTS,
                                                .begin = begin,
                                                .end = end,
                                                .split = split,
                                                .memory = memory,
                                                .step = step,
                                                .ways = find_ways};

static uint32_t block = BLOCK;

static inline enum msim_status search(struct msim_plan *plan,
                                      const struct msim_spec *spec,
                                      uint32_t threads,
                                      const struct msim_plan_share *share)
{
    struct msim_plan_predictor made = MADE;
    const struct msim_plan_options o = {
        .threads = threads, .predictor = &made, .share = share};

    made.block = block;
    asked.splits = asked.memories = asked.steps = asked.ways = 0;
    asked.begun = asked.ended = 0;
    asked.first = pthread_self();
    err = (struct msim_error){0};
    return msim_plan_search(plan, spec, data_dir, &o, &err);
}

/* ---- what follows -------------------------------------------------------- */

static inline void check_refusal(const struct msim_plan *plan, uint32_t i,
                                 const char *text, uint64_t points,
                                 uint64_t first)
{
    const struct msim_plan_refusal *r = &plan->refusals.of[i];

    CHECK_STR(r->text, text);
    CHECK_UINT(r->points, points);
    CHECK_UINT(r->first, first);
    CHECK_UINT(plan->refused[i].number, first);
    CHECK_INT(plan->refused[i].strategy.zero, first / 3 % 2 ? 3 : 1);
}

static inline void check_left_out(const struct msim_plan *plan)
{
    CHECK_UINT(plan->looked_at, POINTS);
    CHECK_UINT(plan->left_out[MSIM_PLAN_SPLIT], 4);
    CHECK_UINT(plan->left_out[MSIM_PLAN_MEMORY], 6);
    CHECK_UINT(plan->left_out[MSIM_PLAN_NO_MODEL], 2);
    CHECK_UINT(plan->n, POINTS - 12);
    REQUIRE(plan->refusals.n == 3);
    CHECK_UINT(plan->refusals.others, 0);
    check_refusal(plan, 0, "tp 3 and zero 1", 2, 2);
    check_refusal(plan, 1, "no model of 8 GPUs", 2, 4);
    check_refusal(plan, 2, "tp 3 and zero 3", 2, 5);
}

#endif

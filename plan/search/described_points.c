/*
 * plan/search/described_points.c - predicting points of a described model.
 */
#include "plan/search/plan.h"

#include "core/base/units.h"
#include "plan/memory/job_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 2048 /* points: a fraction of a millisecond each */

static const char *const STEP_PARTS[] = {
    "compute",         "host",      "tensor parallel",
    "context/experts", "bubble",    "gradients",
    "copies",          "optimizer", NULL};
static const char *const MEMORY_PARTS[] = {
    "parameters", "gradients",          "optimizer", "activations",
    "loss",       "step's temporaries", "all else",  NULL};

/* One thread: prices are kept by platform. */
struct asking {
    const struct msim_described_points *of;
    struct msim_platform *const *platforms;
    struct msim_pricer pricers[MSIM_SPEC_PLATFORMS];
};

static enum msim_status begin(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *err)
{
    struct asking *a = calloc(1, sizeof(*a));

    (void)err;
    *thread = a;
    if (!a)
        return MSIM_ENOMEM;
    a->of = own;
    a->platforms = platforms;
    for (uint32_t i = 0; i < a->of->spec->n_platforms; i++) {
        a->pricers[i].platform = platforms[i];
    }
    return MSIM_OK;
}

static void end(void *thread)
{
    struct asking *a = thread;

    for (uint32_t i = 0; a && i < a->of->spec->n_platforms; i++)
        msim_pricer_release(&a->pricers[i]);
    free(a);
}

static bool split(void *thread, struct msim_plan_point *p,
                  char why[MSIM_PLAN_WHY])
{
    const struct asking *a = thread;
    uint64_t given = (1ULL << MSIM_GIVEN_COUNT) - 1;
    char defaults[256];

    given &= ~(1ULL << MSIM_GIVEN_dp | 1ULL << MSIM_GIVEN_grad_accum);
    if (!p->strategy.nodes)
        given &= ~(1ULL << MSIM_GIVEN_nodes);
    return !msim_strategy_complete(
        &p->strategy, given, &a->of->spec->model,
        msim_platform_gpus_a_node(a->platforms[p->platform]), defaults,
        sizeof(defaults), why, MSIM_PLAN_WHY);
}

/* The GPU that a point is on, of which programs get `usable` GiB. */
static struct msim_memory_gpu
gpu_of(const struct asking *a, const struct msim_plan_point *p, double usable)
{
    return (struct msim_memory_gpu){
        .usable = usable * MSIM_GIB,
        .link = msim_platform_link_rate(a->platforms[p->platform])};
}

static bool memory(void *thread, struct msim_plan_point *p,
                   char why[MSIM_PLAN_WHY])
{
    const struct asking *a = thread;
    struct msim_memory_gpu gpu = gpu_of(a, p, p->room_gib);
    struct msim_job_memory j = msim_job_memory_of(
        &a->of->spec->model, &p->strategy, a->of->memory, &gpu);
    const struct msim_memory *m = &j.at;
    bool backward = m->activations + m->loss >= m->temporary;
    const double parts[] = {
        m->parameters,          m->gradients,
        m->optimizer,           backward ? m->activations : 0,
        backward ? m->loss : 0, backward ? 0 : m->temporary};
    size_t n = sizeof(parts) / sizeof(parts[0]);
    double rest = m->most;

    (void)why;
    for (size_t i = 0; i < n; i++) {
        p->part_gib[i] = parts[i] / MSIM_GIB;
        rest -= parts[i];
    }
    p->part_gib[n] = fmax(rest, 0) / MSIM_GIB;
    p->peak_gib = m->most / MSIM_GIB;
    p->low_gib = j.low / MSIM_GIB;
    p->high_gib = j.high / MSIM_GIB;
    p->room_gib = j.room / MSIM_GIB;
    p->beside = j.beside;
    p->fits = j.fits;
    return true;
}

static bool step(void *thread, struct msim_plan_point *p,
                 char why[MSIM_PLAN_WHY])
{
    struct asking *a = thread;
    struct msim_error error = {0};
    struct msim_terms terms;
    struct msim_step_estimate e;

    if (msim_terms_make(&terms, &a->pricers[p->platform], &a->of->spec->model,
                        &p->strategy, &error) != MSIM_OK) {
        snprintf(why, MSIM_PLAN_WHY, "%.200s", error.text);
        return false;
    }
    e = msim_step_predict(&terms, a->of->fit);
    p->us = e.us;
    p->low_us = e.low_us;
    p->high_us = e.high_us;
    p->mfu = msim_step_mfu(&e, a->platforms[p->platform], &p->strategy);
    p->correction = e.correction;
    p->measured = e.near;
    p->class = e.class;
    memcpy(p->part_us,
           (const double[MSIM_PLAN_PARTS]){e.parts.compute, e.parts.host,
                                           e.parts.tp, e.parts.cp + e.parts.ep,
                                           e.parts.bubble, e.parts.gradients,
                                           e.parts.copies, e.parts.optimizer},
           sizeof(p->part_us));
    p->exchange = (struct msim_plan_exchange){
        e.exchange.in_flight, e.parts.gradients, e.exchange.waits_low,
        e.exchange.waits_high};
    return true;
}

static void ways(void *thread, const struct msim_plan_point *p,
                 struct msim_plan_ways *out)
{
    const struct asking *a = thread;
    struct msim_memory_ways found;

    msim_memory_ways_find(
        &found,
        &(struct msim_memory_asked){
            &a->of->spec->model, &p->strategy, a->of->memory,
            gpu_of(a, p,
                   p->room_gib + msim_beside_bytes(&p->beside) / MSIM_GIB)});
    *out = (struct msim_plan_ways){.n = found.n};
    for (uint32_t i = 0; i < found.n; i++) {
        out->way[i] = (struct msim_plan_way){.peak = found.ways[i].peak,
                                             .fits = found.ways[i].fits};
        snprintf(out->way[i].change, sizeof(out->way[i].change), "%s",
                 found.ways[i].change);
    }
    msim_memory_ways_text(&found, out->text);
}

_Static_assert(MSIM_PLAN_WAYS == MSIM_MEMORY_WAYS, "all ways have room");

struct msim_plan_predictor
msim_described_predictor(struct msim_described_points *of)
{
    return (struct msim_plan_predictor){.own = of,
                                        .block = BLOCK,
                                        .step_parts = STEP_PARTS,
                                        .memory_parts = MEMORY_PARTS,
                                        .begin = begin,
                                        .end = end,
                                        .split = split,
                                        .memory = memory,
                                        .step = step,
                                        .ways = ways};
}

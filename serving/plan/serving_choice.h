/*
 * serving/plan/serving_choice.h - all configurations of a plan of serving, and
 * which of them to take.
 *
 * Recommended is the cheapest that keeps the promises also where steps take as
 * long as the end of their interval says; without prices the one with the
 * fewest GPUs. What may be cheaper stands beside it.
 */
#ifndef MSIM_SERVING_PLAN_SERVING_CHOICE_H
#define MSIM_SERVING_PLAN_SERVING_CHOICE_H
#include "serving/plan/serving_fleet.h"

struct msim_serving_choice {
    const struct msim_serving_spec *spec;
    struct msim_app app; /* configuration 0: classes and promises */
    struct msim_served_fleet *fleets; /* one a configuration */
    uint32_t n;
    bool priced; /* cost is compared, of what has a price; else GPUs */
    const struct msim_fleet_point *best;     /* NULL: none */
    bool sure;                               /* best is a MSIM_FLEET_SURE */
    const struct msim_fleet_point *cheaper;  /* as predicted; NULL: none */
    const struct msim_served_fleet *nearest; /* none keeps the promises: whose
                                         lone request comes nearest; NULL: none
                                         fits, or there is a best */
};

/* `done` of `total` configurations are through; one thread at a time. */
typedef void msim_serving_progress(void *ctx, uint32_t done, uint32_t total);

/* `spec` outlives it. On success `c` goes to msim_serving_choice_release(); on
 * failure it holds nothing: ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_serving_choose(struct msim_serving_choice *c,
                                     const struct msim_serving_spec *spec,
                                     const char *data_dir, uint32_t threads,
                                     msim_serving_progress *progress, void *ctx,
                                     struct msim_error *err);
void msim_serving_choice_release(struct msim_serving_choice *c);

/* Points of all configurations that keep the promises, in order: call with
 * `*at` 0, until NULL. */
const struct msim_fleet_point *
msim_serving_choice_next(const struct msim_serving_choice *c, uint32_t *at);

/* What is compared: cost an hour, or GPUs; NAN: it has no price. */
double msim_serving_choice_price(const struct msim_serving_choice *c,
                                 const struct msim_fleet_point *p);

/* Is `a` cheaper than `b` (NULL: nothing), or costs as much with more to spare?
 * What has no price is the dearest. */
bool msim_serving_choice_is_better(const struct msim_serving_choice *c,
                                   const struct msim_fleet_point *a,
                                   const struct msim_fleet_point *b);

#endif

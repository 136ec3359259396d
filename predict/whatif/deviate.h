/*
 * predict/whatif/deviate.h - the period of a job while one thing deviates.
 *
 * What is uncertain are a few deviations: one for each family of operators, one
 * for the host, and one for the whole GPU. Each alone goes to one end of its
 * 90 % interval, and the job is simulated again. The largest SEPARATE families
 * deviate by themselves, the others as one, with the share of their sum that
 * independent deviations leave (scenarios.h).
 */
#ifndef MSIM_PREDICT_WHATIF_DEVIATE_H
#define MSIM_PREDICT_WHATIF_DEVIATE_H
#include "core/report/analyse/outcome.h"
#include "predict/cost.h"

#define MSIM_DEVIATE_SEPARATE 5

/* A job, as one of those that are compared. */
struct msim_ratio_side {
    const struct msim_outcome *outcome; /* its middle run */
    const struct msim_costs *costs;
    uint32_t iteration; /* index, or UINT32_MAX: all */
    bool exact;         /* it is known that no duration of it deviates, */
    double period_us;   /* and its period; else 0 */
};

/* What deviates: a family (an index as costs.made_by), or one of these. */
#define MSIM_DEVIATE_GPU    (MSIM_MADE_BY_MAX + 0) /* all kernels together */
#define MSIM_DEVIATE_OTHERS (MSIM_MADE_BY_MAX + 1) /* families not named */

/* Which families of some jobs deviate by themselves, and the rest. */
struct msim_deviations {
    uint32_t separate; /* bits of 1 << family */
    uint32_t others;   /* likewise */
    bool gpu;
    double share; /* of each of the others */
};

/* How some jobs deviate together. */
void msim_deviations_choose(struct msim_deviations *d,
                            const struct msim_ratio_side *const *sides,
                            uint32_t n_sides);

/* A job while it deviates: what its runs need, and the periods found. */
struct msim_deviating; /* opaque */

/* What `side` points to must outlive it, and so must `beside`: another job, or
 * NULL. Where both are of one graph and iteration, with the same states, it
 * runs with what that one runs with, by turns. On success `*out` is owned by
 * the caller; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_new(struct msim_deviating **out,
                                    const struct msim_ratio_side *side,
                                    struct msim_deviating *beside);
void msim_deviating_free(struct msim_deviating *x); /* accepts NULL */
const struct msim_ratio_side *
msim_deviating_side(const struct msim_deviating *x);

/* The period of the job (us) as predicted. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_middle(struct msim_deviating *x, double *us);
/* Its period while `what` is at one end; simulated when it is first asked for,
 * that of others again where other families or shares of them are. */
MSIM_MUST_CHECK
enum msim_status msim_deviating_period(struct msim_deviating *x,
                                       const struct msim_deviations *d,
                                       unsigned what, bool high, double *us,
                                       struct msim_error *err);

#endif

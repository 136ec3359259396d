/*
 * serving/size/rehearsal.h - a plan tried out: requests are simulated through
 * the application under it (serving/sim). Plans are compared on the same
 * requests. Two threads simulate a seed each; the result does not depend on
 * it.
 */
#ifndef MSIM_SERVING_SIZE_REHEARSAL_H
#define MSIM_SERVING_SIZE_REHEARSAL_H
#include "serving/explore/demand.h"

#define MSIM_REHEARSAL_RUNS 4 /* seeds of a thorough one; of a quick one 2 */

struct msim_rehearsal {
    const struct msim_stage_demand *load;
    uint64_t seed;
    uint64_t requests; /* a seed */
    double allowed;    /* nearly 1; more where no number of replicas keeps a
                          promise for sure: `late` is over that */
    double push;       /* of the rate, in runs that ask for more */
    bool searched;     /* distributions found no plan: simulation did */
    struct msim_serving *sims[2];
    /* Of the last one. */
    double late;   /* largest share of late requests over what a promise allows,
                      of the mean and, with some patience, of each seed */
    double *above; /* [promise][class]: share of late requests; NAN: not
                      promised; owned */
    double *p99_ms;   /* by class; owned */
    double *wait_ms;  /* by stage: of a request; owned */
    uint64_t *served; /* by class: requests that it is of; owned */
    uint32_t runs;
};

/* ENOMEM, EFORMAT. Release in all cases. */
MSIM_MUST_CHECK
enum msim_status msim_rehearsal_init(struct msim_rehearsal *r,
                                     const struct msim_stage_demand *load,
                                     uint64_t seed, struct msim_error *err);
void msim_rehearsal_release(struct msim_rehearsal *r);

/* Try out a plan; `thorough`: with all seeds. */
MSIM_MUST_CHECK
enum msim_status msim_rehearsal_run(struct msim_rehearsal *r,
                                    const int64_t *replicas, bool thorough,
                                    struct msim_error *err);

#endif

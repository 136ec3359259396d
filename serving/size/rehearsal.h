/*
 * serving/size/rehearsal.h - a plan tried out: requests are simulated through
 * the application under it (serving/sim). Plans are compared on the same
 * requests. Two threads simulate a run each; the result does not depend on
 * it.
 *
 * Every run has other requests, and services that are drawn anew, with
 * replacement, from the samples that they are known by (the bootstrap: Efron
 * 1979, Annals of Statistics 7:1): runs differ as much as what was explored,
 * and chance, let the real thing differ. So no margin is wanted beside them:
 * of 20 runs the worst is exceeded by one more with chance 1/21, whatever the
 * distribution, and the best and the worst hold it with chance 19/21: its 90 %
 * interval.
 *
 * A plan keeps a promise where as many requests are late as it allows, or
 * fewer, on the average, and in the worst run no more than PATIENCE times as
 * many: the tolerance that a measured run is judged with.
 */
#ifndef MSIM_SERVING_SIZE_REHEARSAL_H
#define MSIM_SERVING_SIZE_REHEARSAL_H
#include "serving/explore/demand.h"

#define MSIM_REHEARSAL_RUNS 20

/* How many runs. */
enum msim_rehearsal_depth {
    MSIM_REHEARSAL_QUICK, /* 2 */
    MSIM_REHEARSAL_FEW,   /* 6: to tell plans apart */
    MSIM_REHEARSAL_CHECK, /* all, or until one breaks a promise */
    MSIM_REHEARSAL_ALL    /* all */
};

struct msim_rehearsal_actor; /* a thread's simulator, with its services */

struct msim_rehearsal {
    const struct msim_stage_demand *load;
    uint64_t seed;
    uint64_t requests; /* a seed */
    /* Late requests over what a promise allows, at most: of the mean, 1, and of
     * the worst run, PATIENCE; more where no number of replicas does it. */
    double allowed, allowed_worst;
    bool searched; /* distributions found no plan: simulation did */
    struct msim_rehearsal_actor *actors; /* owned */
    /* Of the last one. */
    double late; /* largest share of late requests over what a promise allows:
                    of the mean over `allowed`, or of the worst run over
                    `allowed_worst`, whichever is more */
    double late_mean, late_best, late_worst; /* of the mean and of one run,
                                                over what a promise allows */
    double late_sure;     /* standard error of the mean over runs */
    double *above;        /* [promise][class]: share of late requests; owned */
    double *least, *most; /* the same of the best and the worst run; owned */
    double *p99_ms;       /* by class; owned */
    double *wait_ms;      /* by stage: of a request; owned */
    uint64_t *served;     /* by class: requests that it is of; owned */
    uint32_t runs;
};

/* ENOMEM, EFORMAT. Release in all cases. */
MSIM_MUST_CHECK
enum msim_status msim_rehearsal_init(struct msim_rehearsal *r,
                                     const struct msim_stage_demand *load,
                                     uint64_t seed, struct msim_error *err);
void msim_rehearsal_release(struct msim_rehearsal *r);

/* Try out a plan. */
MSIM_MUST_CHECK
enum msim_status msim_rehearsal_run(struct msim_rehearsal *r,
                                    const int64_t *replicas,
                                    enum msim_rehearsal_depth depth,
                                    struct msim_error *err);

#endif

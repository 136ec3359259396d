/*
 * plan/whatif/job_change.h - what a scenario changes of a described job, before
 * it is settled: so that the order of changes does not matter.
 *
 *     {"world": 64}    wants 64 GPUs; what that makes of dp and the global
 *                      batch is settled when all changes are read
 *
 * A kind of change is a row of the table in job_change.c: its name and what
 * reads it. A member that is wrong is refused by its path; the first failure
 * stays.
 */
#ifndef MSIM_PLAN_WHATIF_JOB_CHANGE_H
#define MSIM_PLAN_WHATIF_JOB_CHANGE_H
#include "core/json/fields.h"
#include "plan/describe/job_model.h"
#include "plan/describe/strategy.h"

/* Factors of what a step consists of; 1: as it is. */
struct msim_job_factors {
    double kernels, communication, copies, host;
    double overlap; /* share of compute that hides exchanges; below 0: as it
                       is */
    bool graph;     /* no launches inside layers */
};

struct msim_job_change {
    struct msim_strategy strategy;    /* of the base, with members set */
    uint32_t given;                   /* members that changes set */
    char platform[256], network[256]; /* "": the base's */
    int64_t world;                    /* 0: not changed */
    struct msim_job_model model;
    struct msim_job_factors factors;
    char reason[256]; /* why no described job has such a change; "" */
};

/* The names of all kinds; the end is NULL. */
extern const char *const msim_job_change_names[];

/* Of the base. */
void msim_job_change_begin(struct msim_job_change *c,
                           const struct msim_strategy *base);
/* Read the change `key` of `f`, one of the names. */
void msim_job_change_read(struct msim_job_change *c, struct msim_fields *f,
                          const char *key);

/*
 * The strategy that the changes make of the complete `base`, of which `given`
 * was stated; not complete: `*now_given` says what is set. Data parallel ranks
 * follow from GPUs and splits. The global batch stays where the base states it;
 * else, and where `world` changes, every rank keeps its own.
 */
void msim_job_change_settle(struct msim_strategy *out, uint32_t *now_given,
                            const struct msim_job_change *c,
                            const struct msim_strategy *base, uint32_t given);

#endif

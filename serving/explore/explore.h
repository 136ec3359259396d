/*
 * serving/explore/explore.h - learn the services of an application's stages
 * from a user's explorer, or from tables of what one answered before.
 *
 * A stage is asked two or three times: for a second, to know how long it takes;
 * then with one replica at a load near what a plan will bear, for as many
 * visits as the tail of its services wants; a stage with batches at three
 * loads, so that small and full ones are seen. What was learnt is put into the
 * application: stages[].service, class_factor, size_power, batching.law, and
 * the sizes of requests.
 */
#ifndef MSIM_SERVING_EXPLORE_EXPLORE_H
#define MSIM_SERVING_EXPLORE_EXPLORE_H
#include "serving/app/app.h"

struct msim_explore_how {
    const char *command; /* NULL: tables alone */
    const char *tables;  /* folder of answers, "S,c,r.csv"; NULL: none */
    double patience;     /* seconds beyond the load */
    uint64_t seed;
    /* Told before each question; may be NULL. */
    void (*before)(void *ctx, uint32_t stage, uint32_t n_stages);
    void *ctx;
};

struct msim_explored {
    double replica_seconds;
    uint32_t runs;                       /* of the explorer */
    uint32_t stages;                     /* that were learnt */
    bool no_waits, no_sizes, no_batches; /* what some answers did not tell */
};

/*
 * Learn every stage that is visited and has no service. `*done` counts what was
 * spent, on failure, too. EIO, ELIMIT, EFORMAT, ETRUNCATED as the command and
 * its rows have them, or where too few visits came.
 */
MSIM_MUST_CHECK
enum msim_status msim_explore_app(struct msim_app *app, double rate,
                                  const struct msim_explore_how *how,
                                  struct msim_explored *done,
                                  struct msim_error *err);

#endif

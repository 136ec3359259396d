/*
 * serving/explore/explore.h - what an application asks of its stages, and their
 * services learned from an explorer.
 */
#ifndef MSIM_SERVING_EXPLORE_EXPLORE_H
#define MSIM_SERVING_EXPLORE_EXPLORE_H
#include "serving/app/app.h"

/* ---- demand -------------------------------------------------------------- */
/*
 * What an application asks of its stages, as numbers: visits, services, and the
 * sizes that requests have in common.
 *
 * Visits of stage s by one request of class k follow from the flow: those of
 * its callers, times the chance of the call, its copies and its loops. Calls
 * that are made again for want of an answer come on top (streams.h).
 *
 * Sizes are cut into bins of a few sizes each, narrow where the late ones are:
 * within a bin all are alike, so what a request's size does to all its stages
 * is kept.
 */

/* Bins of sizes, at most. */
#define MSIM_SIZE_BINS 10

struct msim_demand_stage {
    double *base; /* services of a visit of size 1 and factor 1, ms, ascending;
                     NULL: the stage has none */
    uint32_t n_base;
    double mean;                 /* of base */
    double size[MSIM_SIZE_BINS]; /* what the size does to the service, by bin */
    double *law;                 /* of batches of n, at n - 1 */
    uint32_t most;               /* served together */
    double visits;               /* a request, over all classes */
};

struct msim_stage_demand {
    const struct msim_app *app;
    double rate;     /* requests a second */
    uint32_t *order; /* stages, callers before those that they call */
    double *visits;  /* [class * n_stages + stage] a request of it */
    uint32_t n_bins; /* 1: sizes do nothing */
    double weight[MSIM_SIZE_BINS]; /* of a bin; sum 1 */
    double
        upper[MSIM_SIZE_BINS]; /* largest size of a bin; the last: infinite */
    struct msim_demand_stage *stages;
    struct msim_arena arena;
};

/*
 * Visits alone, for an application whose services are not known yet: `order`,
 * `visits` and stages[].visits. Release in all cases.
 */
MSIM_MUST_CHECK
enum msim_status msim_demand_visits(struct msim_stage_demand *l,
                                    const struct msim_app *app, double rate);

/* All of it; services are drawn with a seed of their own. EFORMAT where a
 * stage that is visited has no service. Release in all cases. */
MSIM_MUST_CHECK
enum msim_status msim_demand_init(struct msim_stage_demand *l,
                                  const struct msim_app *app, double rate,
                                  struct msim_error *err);
void msim_demand_release(struct msim_stage_demand *l);

/* Worker-seconds a second that visits of `s` take, before any calls; batches
 * are full. */
double msim_demand_offered(const struct msim_stage_demand *l, uint32_t s);

/* The bin of a size. */
static inline uint32_t msim_demand_bin(const struct msim_stage_demand *l,
                                       double size)
{
    uint32_t b = 0;

    while (b + 1 < l->n_bins && size > l->upper[b])
        b++;
    return b;
}

/* Law of a batch of n, from an application's points. */
double msim_demand_law(const struct msim_dyn_batching *b, double n);

/* ---- explore ------------------------------------------------------------- */
/*
 * Learn the services of an application's stages from a user's explorer, or from
 * tables of what one answered before.
 *
 * A stage is asked two or three times: for a second, to know how long it takes;
 * then with one replica at a load near what a plan will bear, for as many
 * visits as the tail of its services wants; a stage with batches at three
 * loads, so that small and full ones are seen. What was learnt is put into the
 * application: stages[].service, class_factor, size_power, batching.law, and
 * the sizes of requests.
 */

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

/*
 * serving/size/size_plan_internal.h - what the files of serving/size share; no
 * other room includes it.
 */
#ifndef MSIM_SERVING_SIZE_SIZE_PLAN_INTERNAL_H
#define MSIM_SERVING_SIZE_SIZE_PLAN_INTERNAL_H
#include "core/base/containers.h"
#include "core/base/status.h"
#include "serving/app/app.h"
#include "serving/explore/explore.h"
#include "serving/size/size_plan.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- alone --------------------------------------------------------------- */
/*
 * One stage by itself: visits that arrive at known times, wait for workers, and
 * are served.
 *
 * A worker is held for the service, and with `rpc` for what the visit then
 * waits for its calls (`rest_ms`), too. Routing, priorities and batches are
 * those of serving plants: a batch begins when it is full, or its first visit
 * has waited max_wait.
 */

struct msim_alone_visit {
    double at_ms;   /* arrival; visits are in that order */
    double base_ms; /* service of size and factor 1 */
    double rest_ms; /* held on top, where the stage is called by rpc */
    float factor;   /* of the service, by size and class */
    uint32_t level; /* of priority, 0 first; less than MSIM_ALONE_LEVELS */
    uint32_t request, group; /* the caller's */
    uint64_t key;            /* of its random numbers */
    /* What comes out. */
    double wait_ms, service_ms;
    float batch_factor; /* service over the base: law and largest factor */
};

#define MSIM_ALONE_LEVELS 8

struct msim_alone_stage {
    const struct msim_stage *def;
    const double *law; /* of batches of n, at n - 1 */
    uint32_t most;     /* served together; 1: no batches */
    int64_t replicas;
};

/* Serve `n` visits. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_alone_run(const struct msim_alone_stage *stage,
                                struct msim_alone_visit *visits, uint32_t n);

/* ---- pmf ----------------------------------------------------------------- */
/*
 * Distributions of latencies on a grid, and their algebra.
 *
 * A distribution is `n` masses; mass i is the chance of i * step ms. What lies
 * beyond the last cell is missing from their sum: it is later than anything
 * that is asked. A sample between two cells is split between them, so that
 * means are exact.
 *
 *     in series          X + Y             msim_pmf_add()
 *     all of a join      max(X, Y)         product of the cumulative chances
 *     any, k of a join                     msim_pmf_join()
 *     again with chance a, m times at most msim_pmf_loop()
 *     asked again after t, first counts    msim_pmf_retry()
 *
 * Parts are taken as independent: whoever uses these conditions on what they
 * have in common (class and size of the request) and mixes the results.
 */

struct msim_pmf_grid {
    double step;  /* ms */
    uint32_t n;   /* cells; a power of two */
    double *wave; /* cosines and sines of 2 n points; owned */
    double *work; /* 8 n numbers; owned */
};

/* A grid of `n` cells up to `horizon` ms. Release in all cases. */
MSIM_MUST_CHECK
enum msim_status msim_pmf_grid_init(struct msim_pmf_grid *g, double horizon,
                                    uint32_t n);
void msim_pmf_grid_release(struct msim_pmf_grid *g);

/* Masses are arrays of g->n; `out` may be an input unless it is said. */

/* Always `ms`. */
void msim_pmf_constant(const struct msim_pmf_grid *g, double ms, double *out);
/* Add to `out` the mass `weight` of each of `n` samples, times `factor`. */
void msim_pmf_put(const struct msim_pmf_grid *g, const double *ms, uint32_t n,
                  double factor, double weight, double *out);
/* X + Y. */
void msim_pmf_add(struct msim_pmf_grid *g, const double *x, const double *y,
                  double *out);
/* X with chance `p`, else 0 ms. */
void msim_pmf_maybe(const struct msim_pmf_grid *g, double p, double *x);
/* The largest of `n` alike X; `n` need not be whole. */
void msim_pmf_largest(const struct msim_pmf_grid *g, double n, double *x);
/* The largest of 1, 2, ... alike X, of a geometric number with that mean. */
void msim_pmf_largest_geometric(const struct msim_pmf_grid *g, double mean,
                                double *x);
/* The larger of X and Y. */
void msim_pmf_max(const struct msim_pmf_grid *g, const double *x,
                  const double *y, double *out);
/* X, and with chance `again` once more, at most `most` times in all. `x` is
 * not `out`. */
void msim_pmf_loop(struct msim_pmf_grid *g, const double *x, double again,
                   int64_t most, double *out);
/* X, asked again after `timeout` ms, `most` times at most; the first answer
 * counts. `x` is not `out`. */
void msim_pmf_retry(const struct msim_pmf_grid *g, const double *x,
                    double timeout, int64_t most, double *out);

/* Calls that are made at once. */
struct msim_pmf_call {
    const double *x; /* each takes that */
    double prob;     /* that they are made, all or none */
    uint32_t copies;
};

/*
 * When `wait` answers of those calls are there (all of them, where fewer are
 * made; 0 ms where none is). `out` is none of the inputs. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_pmf_join(const struct msim_pmf_grid *g,
                               const struct msim_pmf_call *calls, uint32_t n,
                               uint32_t wait, double *out);

/* Chance of more than `ms`; mass of a cell lies evenly half a step around. */
double msim_pmf_above(const struct msim_pmf_grid *g, const double *x,
                      double ms);
/* The time that is exceeded with chance 1 - p; the horizon where it is beyond.
 */
double msim_pmf_quantile(const struct msim_pmf_grid *g, const double *x,
                         double p);
/* Of what is on the grid; what is beyond counts as the horizon. */
double msim_pmf_mean(const struct msim_pmf_grid *g, const double *x);

/* ---- latency ------------------------------------------------------------- */
/*
 * Latencies of an application under a plan, from its stages one by one.
 *
 * Each stage is simulated alone with the visits that its callers send it
 * ("alone"): that gives its waits. Latencies are put together from waits,
 * services and calls ("pmf"), for each class of requests and each bin of sizes:
 *
 *     visit = network + wait + service + step 1 + step 2 + ...
 *     step  = join of its calls; call = visits, again where it is a loop
 *
 * Arrivals go down the flow: a stage's visits come when their caller's service,
 * and the steps before, are over. Holds go up it: a worker that calls by rpc is
 * held as long as its calls take, which makes its stage's queue. So a pass
 * goes down, then up.
 *
 * Waits of different stages are taken as independent of each other. Copies of
 * one call wait together: all as long as the last of them.
 */

/* What is known of a stage. Arrays of distributions are by class and bin:
 * [(class * n_bins + bin) * grid.n]. */
struct msim_latency_stage {
    struct msim_vec visits;        /* struct msim_alone_visit, by time */
    struct msim_vec edge_of_group; /* uint32_t; of calls with copies */
    uint32_t n_steps;
    double *wait;    /* by class alone; all one where priorities are alike */
    double *service; /* by class and bin */
    double *served;  /* network, service and calls */
    double *visit;   /* with the wait */
    double *steps;   /* [step]: cumulative, to draw from */
    double *numbers; /* of all of these; owned */
    size_t n_numbers;
    double busy;    /* share of workers held */
    double wait_ms; /* mean */
};

struct msim_latency_request {
    double at_ms;
    float size;
    uint16_t cls, bin;
};

struct msim_latency_sum {
    const struct msim_stage_demand *load;
    struct msim_pmf_grid grid;
    int64_t *replicas;                 /* by stage; owned */
    struct msim_latency_stage *stages; /* owned */
    double *group;   /* [edge][class]: longest wait of its copies; owned */
    double *apart;   /* [edge]: services that its copies are in, on the average;
                        copies of one batch are one; owned */
    double *scratch; /* four distributions; owned */
    double *kept;    /* what a trial puts back; owned */
    size_t n_kept;
    struct msim_latency_request *requests; /* owned */
    uint32_t n_requests;
    double span_s; /* in which they arrive */
    /* What trials look at; msim_latency_late() unless a method changes it. */
    double (*measure)(const struct msim_latency_sum *l, void *ctx);
    void *ctx;
};

/*
 * For the plan of `replicas` (copied), with the grid's horizon at twice the
 * longest limit of a promise. ENOMEM, EFORMAT. Release in all cases.
 */
MSIM_MUST_CHECK
enum msim_status msim_latency_init(struct msim_latency_sum *l,
                                   const struct msim_stage_demand *load,
                                   uint32_t n_requests, uint64_t seed,
                                   struct msim_error *err);
void msim_latency_release(struct msim_latency_sum *l);

/* Everything for the replicas that stand in `l`: down, then up. */
MSIM_MUST_CHECK
enum msim_status msim_latency_pass(struct msim_latency_sum *l);

/*
 * What if stage `s` had `replicas`? Arrivals stay; its waits and all above it
 * are made again. `*late` is the measure. With `keep` it stays so, else all is
 * as it was.
 */
MSIM_MUST_CHECK
enum msim_status msim_latency_try(struct msim_latency_sum *l, uint32_t s,
                                  int64_t replicas, bool keep, double *late);

/* The share of requests of class `cls` that take longer than `limit_ms`. */
double msim_latency_above(const struct msim_latency_sum *l, uint32_t cls,
                          double limit_ms);
/* The largest share of late requests over what a promise allows. */
double msim_latency_late(const struct msim_latency_sum *l);
/* Percentile `p` (0 to 1) of class `cls`, ms. */
double msim_latency_quantile(struct msim_latency_sum *l, uint32_t cls,
                             double p);

/* ---- latency_stage.c ----------------------------------------------------- */

/* A distribution of class `cls` and `bin` in one of the arrays. */
static inline double *msim_latency_at(const struct msim_latency_sum *l,
                                      double *array, uint32_t cls, uint32_t bin)
{
    return array + ((size_t)cls * l->load->n_bins + bin) * l->grid.n;
}

/* Put stage `s` together from its waits and the stages that it calls. */
MSIM_MUST_CHECK
enum msim_status msim_latency_compose(struct msim_latency_sum *l, uint32_t s);
/* Services without batches; once. */
void msim_latency_services(struct msim_latency_sum *l, uint32_t s);

/* ---- latency_stream.c ---------------------------------------------------- */

/* Requests, as they arrive; n_requests falls where a log has no more. */
MSIM_MUST_CHECK
enum msim_status msim_latency_arrivals(struct msim_latency_sum *l,
                                       uint64_t seed, struct msim_error *err);
/* Simulate stage `s` with the visits that it has: waits, batches. */
MSIM_MUST_CHECK
enum msim_status msim_latency_simulate(struct msim_latency_sum *l, uint32_t s);
/* Sort its visits, which are complete, by time. */
MSIM_MUST_CHECK
enum msim_status msim_latency_sort(struct msim_latency_sum *l, uint32_t s);
/* Send the visits that those of `s` call for to their stages. */
MSIM_MUST_CHECK
enum msim_status msim_latency_send(struct msim_latency_sum *l, uint32_t s);
/* Begin anew: only the first stage has visits. */
MSIM_MUST_CHECK
enum msim_status msim_latency_begin(struct msim_latency_sum *l);

/* ---- rehearsal ----------------------------------------------------------- */
/*
 * A plan tried out: requests are simulated through the application under it
 * (serving/sim). Plans are compared on the same requests. Two threads simulate
 * a run each; the result does not depend on it.
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

/* ---- sizing parts -------------------------------------------------------- */
/* The methods of sizing, and what they share. */

struct msim_sizing_union; /* opaque */

/* What one more replica costs: its price, or 1 where not all have one. */
double msim_sizing_price(const struct msim_app *app, uint32_t s);
/* Workers of `s` that are held on the average, as `l` stands. */
double msim_sizing_held(struct msim_latency_sum *l, uint32_t s);
/* Do so many replicas of `s` bear what comes, as `l` stands? A simulation of a
 * few services' time does not tell: a queue without end begins small. */
bool msim_sizing_bears(struct msim_latency_sum *l, uint32_t s,
                       int64_t replicas);
/* So many replicas that all stages have a steady state, and some room. */
MSIM_MUST_CHECK
enum msim_status msim_sizing_start(struct msim_latency_sum *l,
                                   double most_held);
/* The stage whose visits take most of a request's time of class `cls`, and how
 * long that is. */
uint32_t msim_sizing_slowest(const struct msim_latency_sum *l, uint32_t cls,
                             double *ms);
/* ECHECK: no number of replicas keeps the promises; says why. */
enum msim_status msim_sizing_refuse(struct msim_latency_sum *l,
                                    struct msim_error *err);
/* Fill in stages as `l` stands. */
void msim_sizing_fill(struct msim_sizing *out, struct msim_latency_sum *l);

/*
 * Let the measure of `l` be the bound of union.c, and replicas so many that it
 * keeps the promises. ECHECK where no number does. `*out` is the caller's, and
 * `l` is not to be measured after its end.
 */
MSIM_MUST_CHECK
enum msim_status msim_sizing_union_begin(struct msim_sizing_union **out,
                                         struct msim_latency_sum *l,
                                         struct msim_error *err);
/* ENOMEM: a measure since then was none. */
MSIM_MUST_CHECK
enum msim_status msim_sizing_union_status(const struct msim_sizing_union *u);
/* Accepts NULL. */
void msim_sizing_union_free(struct msim_sizing_union *u);

/* The replicas that stand in `l` afterwards are the plan's; the promises are
 * kept with their allowance times `room`. */
MSIM_MUST_CHECK
enum msim_status msim_sizing_convolution(struct msim_latency_sum *l,
                                         double room, struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_sizing_search(struct msim_latency_sum *l,
                                    struct msim_rehearsal *r,
                                    struct msim_error *err);

#endif

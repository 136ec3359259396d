/*
 * serving/size/latency.h - latencies of an application under a plan, from its
 * stages one by one.
 *
 * Each stage is simulated alone with the visits that its callers send it
 * (alone.h): that gives its waits. Latencies are put together from waits,
 * services and calls (pmf.h), for each class of requests and each bin of sizes:
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
#ifndef MSIM_SERVING_SIZE_LATENCY_H
#define MSIM_SERVING_SIZE_LATENCY_H
#include "core/base/containers.h"
#include "serving/explore/demand.h"
#include "serving/size/alone.h"
#include "serving/size/pmf.h"

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

#endif

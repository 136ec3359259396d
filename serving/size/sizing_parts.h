/*
 * serving/size/sizing_parts.h - the methods of sizing, and what they share.
 * Private to serving/size.
 */
#ifndef MSIM_SERVING_SIZE_SIZING_PARTS_H
#define MSIM_SERVING_SIZE_SIZING_PARTS_H
#include "serving/size/latency.h"
#include "serving/size/rehearsal.h"
#include "serving/size/sizing.h"

/* What one more replica costs: its price, or 1 where not all have one. */
double msim_sizing_price(const struct msim_app *app, uint32_t s);
/* Workers of `s` that are held on the average, as `l` stands. */
double msim_sizing_held(struct msim_latency_sum *l, uint32_t s);
/* So many replicas that all stages have a steady state, and some room. */
MSIM_MUST_CHECK
enum msim_status msim_sizing_start(struct msim_latency_sum *l,
                                   double most_held);
/* ECHECK: no number of replicas keeps the promises; says why. */
enum msim_status msim_sizing_refuse(struct msim_latency_sum *l,
                                    struct msim_error *err);
/* Fill in stages and classes as `l` stands, at `percentile` of stages. */
void msim_sizing_fill(struct msim_sizing *out, struct msim_latency_sum *l);
/* 90 % of a share that `n` visits tell of, into `low` and `high`. */
void msim_sizing_interval(struct msim_sizing_class *c, double n);

/* Visits that the services which matter to a class were learnt from. */
double msim_sizing_known_by(struct msim_latency_sum *l, uint32_t cls);

MSIM_MUST_CHECK
enum msim_status msim_sizing_union(struct msim_sizing *out,
                                   struct msim_latency_sum *l,
                                   struct msim_error *err);
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

/*
 * serving/size/sizing_parts.h - the methods of sizing, and what they share.
 * Private to serving/size.
 */
#ifndef MSIM_SERVING_SIZE_SIZING_PARTS_H
#define MSIM_SERVING_SIZE_SIZING_PARTS_H
#include "serving/size/latency.h"
#include "serving/size/rehearsal.h"
#include "serving/size/sizing.h"

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

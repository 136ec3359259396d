/*
 * plan/step/price.h - times of the parts of a step on a platform.
 *
 * Works repeat from strategy to strategy, so that each is estimated once.
 */
#ifndef MSIM_PLAN_STEP_PRICE_H
#define MSIM_PLAN_STEP_PRICE_H
#include "models/estimate/model.h"
#include "plan/parts/parts.h"

struct msim_platform; /* models/platform/platform.h */

/* Not thread-safe: one a thread. Release with msim_pricer_release(). */
struct msim_pricer {
    const struct msim_platform *platform;
    int64_t gpus_a_node; /* of the job that is priced */
    struct msim_estimate_cache cache;
};

void msim_pricer_release(struct msim_pricer *p);

/* One layer, or the embedding, or the head, in us. */
struct msim_priced {
    double us[MSIM_PART_OP_COUNT][MSIM_PASS_COUNT];
    double again_us; /* what selective recomputation repeats */
    /* Launched by the host. */
    double kernels[MSIM_PART_OP_COUNT][MSIM_PASS_COUNT];
    double comm_us[3][MSIM_PASS_COUNT]; /* by enum msim_part_group */
    double comms[MSIM_PASS_COUNT];      /* collectives */
};

/* ENOMODEL where the platform cannot run the works. */
MSIM_MUST_CHECK
enum msim_status msim_price_part(struct msim_priced *out, struct msim_pricer *p,
                                 const struct msim_parts *parts,
                                 const struct msim_part *part,
                                 const struct msim_strategy *s,
                                 struct msim_error *err);

/* One work of the description: what it says is asked for, so that a work of
 * more than the GPU's memory keeps its law's time. */
MSIM_MUST_CHECK
enum msim_status msim_price_described(double *us, struct msim_pricer *p,
                                      const struct msim_work *w,
                                      struct msim_error *err);

/*
 * One collective over `ranks` ranks that are `stride` ranks apart: with a
 * stride of tp, the data parallel group of a job whose tensor parallel ranks
 * are neighbours. 0 for one rank.
 */
MSIM_MUST_CHECK
enum msim_status msim_price_collective(double *us, struct msim_pricer *p,
                                       enum msim_collective c, double bytes,
                                       int64_t ranks, int64_t stride,
                                       struct msim_error *err);
/* Of an all-reduce over such ranks: half of the 90 % interval of its logarithm,
 * 0 where they are on one node; and msim_collective_shortfall(). */
MSIM_MUST_CHECK
enum msim_status msim_price_network(double *half, double *shortfall,
                                    struct msim_pricer *p, double bytes,
                                    int64_t ranks, int64_t stride,
                                    struct msim_error *err);

/* An operation on `elems` elements that moves so many bytes (an optimizer's
 * step, a sum of gradients). */
MSIM_MUST_CHECK
enum msim_status msim_price_bytes(double *us, struct msim_pricer *p,
                                  double elems, double read, double written,
                                  struct msim_error *err);

#endif

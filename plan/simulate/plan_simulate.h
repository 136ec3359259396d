/*
 * plan/simulate/plan_simulate.h - what a plan recommends, simulated.
 *
 * The law ranks thousands of points a millisecond; the few at the top are run
 * by the engine as well, as `synth` and `predict` would (job_graph.h).
 */
#ifndef MSIM_PLAN_SIMULATE_PLAN_SIMULATE_H
#define MSIM_PLAN_SIMULATE_PLAN_SIMULATE_H
#include "plan/search/plan.h"
#include "plan/search/spec.h"

/* Fill in plan->simulated, on `threads` threads; nothing of a traced step,
 * whose points are simulations. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_simulate(struct msim_plan *plan,
                                    const struct msim_spec *spec,
                                    const char *data_dir, uint32_t threads,
                                    struct msim_error *err);

#endif

/*
 * replay/run/replay_plan.h - what is run for a step: experiments of a backend,
 * in the order of the step's operators.
 *
 * Equal works are one experiment. Example: mm, relu, mm with equal shapes are
 * two experiments and the order 0, 1, 0.
 */
#ifndef MSIM_REPLAY_RUN_REPLAY_PLAN_H
#define MSIM_REPLAY_RUN_REPLAY_PLAN_H
#include "core/base/containers.h"
#include "core/trace/trace_steps.h"
#include "core/work/opmap/opmap.h"
#include "replay/run/work_runs.h"

/* An operator with works: it runs `n` elements of the order from `first` on. */
struct msim_plan_op {
    uint32_t op;
    uint32_t first, n;
    uint8_t how;     /* msim_run_how: the one least like the original */
    uint8_t family;  /* msim_family, of its first work */
    const char *why; /* how it is not like the original; NULL: native */
};

struct msim_replay_plan {
    const struct msim_trace *trace;
    struct msim_works *works;    /* owned */
    uint32_t step;               /* of trace->steps, or NONE */
    struct msim_vec ops;         /* struct msim_plan_op */
    struct msim_vec order;       /* uint32_t: experiments */
    struct msim_vec experiments; /* struct msim_experiment */
    struct msim_idmap seen;      /* hash of an experiment -> its number */
    char (*notes)[200];          /* why an experiment was replaced; owned */
};

struct msim_replay_wish {
    uint32_t step; /* of trace->steps, or NONE: the whole trace */
    struct msim_choice choice;
    bool warm; /* operands stay in the caches that the run before left */
};

/*
 * Plan the step on the backend with that greeting; the trace and the greeting
 * must outlive the plan. Release it in any case.
 * EFORMAT: nothing to run, or sizes that no number holds; ELIMIT: more memory
 * than the device has. The last two name the operator, and its node.
 */
MSIM_MUST_CHECK
enum msim_status msim_replay_plan_make(struct msim_replay_plan *p,
                                       const struct msim_trace *trace,
                                       const struct msim_replay_wish *wish,
                                       const cJSON *greeting,
                                       struct msim_error *err);
void msim_replay_plan_release(struct msim_replay_plan *p);

/* The backend cannot do an experiment after all: run its bytes. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_replay_plan_replace(struct msim_replay_plan *p,
                                          uint32_t experiment, const char *why);

/* ---- its rows ----------------------------------------------------------- */

static inline struct msim_plan_op *
msim_plan_op(const struct msim_replay_plan *p, uint32_t i)
{
    return (struct msim_plan_op *)p->ops.data + i;
}

static inline uint32_t msim_plan_order(const struct msim_replay_plan *p,
                                       uint32_t i)
{
    return ((const uint32_t *)p->order.data)[i];
}

static inline struct msim_experiment *
msim_plan_experiment(const struct msim_replay_plan *p, uint32_t i)
{
    return (struct msim_experiment *)p->experiments.data + i;
}

/* ---- the operators of one step, as they began ---------------------------- */

/*
 * The operators of `step` (of trace->steps, or NONE: the whole trace) that are
 * in the choice: themselves, or through an operator around them whose name is
 * wanted. `ops` gets their indices as uint32_t. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_ops(struct msim_vec *ops, const struct msim_trace *t,
                               uint32_t step, const struct msim_choice *choice);

#endif

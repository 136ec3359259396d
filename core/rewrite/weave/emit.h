/*
 * core/rewrite/weave/emit.h - operators that a change inserts: buffers, copies,
 * messages.
 *
 * Each adds to the draft behind what is there. A flat tensor is so many
 * elements of a type in a storage.
 */
#ifndef MSIM_CORE_REWRITE_WEAVE_EMIT_H
#define MSIM_CORE_REWRITE_WEAVE_EMIT_H
#include "core/rewrite/weave/draft.h"

/* What autograd calls the operator that runs behind a gradient; messages below
 * it overlap backward (core/graph/rules/graph_launch_plan.c). */
#define MSIM_EMIT_BEHIND_GRADIENT                                              \
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"

/* What runs in backward, so that it counts as that: forward once more, rows
 * that are gathered and rows that go to experts, all for the statement behind.
 */
#define MSIM_EMIT_BACKWARD "autograd::engine::evaluate_function: "
#define MSIM_EMIT_AGAIN    MSIM_EMIT_BACKWARD "CheckpointBackward"
#define MSIM_EMIT_GATHER   MSIM_EMIT_BACKWARD "TensorParallelGather"
#define MSIM_EMIT_DISPATCH MSIM_EMIT_BACKWARD "ExpertParallelDispatch"

struct msim_emit_flat {
    int64_t elems;
    uint32_t storage;
    uint8_t dtype, device; /* enum msim_dtype, msim_device */
};

/* aten::empty: memory that is there from now on. */
MSIM_MUST_CHECK
enum msim_status msim_emit_empty(struct msim_draft *d,
                                 struct msim_draft_place at,
                                 const struct msim_emit_flat *x);

/* aten::copy_, between types and devices, too. */
MSIM_MUST_CHECK
enum msim_status msim_emit_copy(struct msim_draft *d,
                                struct msim_draft_place at,
                                const struct msim_emit_flat *to,
                                const struct msim_emit_flat *from);

/* Operator `name` of `in` and, unless that is NULL, `with`, whose result is in
 * `out`. */
MSIM_MUST_CHECK
enum msim_status msim_emit_op(struct msim_draft *d, struct msim_draft_place at,
                              const char *name,
                              const struct msim_emit_flat *out,
                              const struct msim_emit_flat *in,
                              const struct msim_emit_flat *with);

/* A collective of the draft's group, called `name`; its number is `sequence`.
 */
struct msim_emit_message {
    const char *name;
    enum msim_collective collective;
    int64_t sequence;
    struct msim_emit_flat in, out;
    int64_t elems; /* of the message; 0: those of `in`, and `out` */
};
/* What c10d records of `op`, which has a message: record_param_comms, and in it
 * the label of what NCCL does, `name`: "nccl:send". */
MSIM_MUST_CHECK
enum msim_status msim_emit_recorded(struct msim_draft *d,
                                    struct msim_draft_op op, const char *name);

/* A name that begins with "nccl:" is one that is recorded so. */
MSIM_MUST_CHECK
enum msim_status msim_emit_collective(struct msim_draft *d,
                                      struct msim_draft_place at,
                                      const struct msim_emit_message *m);

/* Later kernels wait for the collective of that number; the second as c10d
 * records it. */
MSIM_MUST_CHECK
enum msim_status msim_emit_wait(struct msim_draft *d,
                                struct msim_draft_place at, int64_t sequence);

MSIM_MUST_CHECK
enum msim_status msim_emit_recorded_wait(struct msim_draft *d,
                                         struct msim_draft_place at,
                                         int64_t sequence);

#endif

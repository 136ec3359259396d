/*
 * core/rewrite/weave/draft.h - a new trace in the making, and what is written
 * into it.
 */
#ifndef MSIM_CORE_REWRITE_WEAVE_DRAFT_H
#define MSIM_CORE_REWRITE_WEAVE_DRAFT_H
#include "core/lives/lives.h"
#include "core/trace/trace_columns.h"

/* ---- draft --------------------------------------------------------------- */
/*
 * A trace in the making: operators of a recorded trace, once, often or not at
 * all, and operators of one's own between them.
 *
 * Operators are added in the order in which they would begin; an operator comes
 * after the one around it. Every life (core/lives) of the recorded trace has a
 * storage of its own in the new one, which may change on the way: what is
 * computed again is other memory.
 *
 *     copy relu              storage 7 comes out
 *     msim_draft_renew(7)
 *     copy relu again        storage 12 comes out, and 12 is what later
 *                            copies of operators that read 7 read
 *
 * The new trace has no times and no GPU activities: it is an execution trace.
 */

struct msim_draft {
    const struct msim_trace *t;
    struct msim_strtab *strings; /* the job's; names of inserted operators */
    struct msim_trace *out; /* ops in the order of entry, parents in `out` */
    struct msim_lives lives;
    uint32_t *storage; /* by life: what it has now */
    uint32_t last_storage;
    uint32_t *placed; /* by op of `t`: its last copy, or NONE */
    uint32_t group;   /* of the collectives that a change inserts ("emit"): an
                         index of out->groups; NONE: all ranks */
    struct msim_argpool pool;
    struct msim_arg *args; /* one list that is made */
    uint32_t cap_args;
};

/* Where an operator goes: `parent` in `out`, or NONE. */
struct msim_draft_place {
    uint32_t parent, thread;
};

/* A tensor of an inserted operator; `n` 0 and dims NULL: one number. */
struct msim_draft_tensor {
    uint8_t dtype, device; /* enum msim_dtype, enum msim_device */
    uint32_t n, storage;
    const int64_t *dims;
    bool none; /* None instead of a tensor */
};

struct msim_draft_op {
    const char *name;
    bool label;     /* an annotation */
    uint32_t et_id; /* of the node that it stands for; 0: none */
    struct msim_draft_place at;
    const struct msim_draft_tensor *in, *out;
    uint32_t n_in, n_out;
    uint32_t list; /* above 0: so many tensors after the other are one list, in
                      and out */
    const struct msim_arg *plain; /* arguments behind the tensors: numbers */
    uint32_t n_plain;
    const struct msim_comm *comm; /* of record_param_comms; NULL: none */
};

/* Release in any case. `t` must live as long. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_draft_begin(struct msim_draft *d,
                                  const struct msim_trace *t,
                                  struct msim_strtab *strings);
void msim_draft_release(struct msim_draft *d);

/* Where the copy of `op` stands by itself. */
struct msim_draft_place msim_draft_own_place(const struct msim_draft *d,
                                             uint32_t op);

/* The sizes of tensor `arg`, with id `id` (a row of the recorded trace's
 * tensor_ids), as a copy has them: `dims` has those that are recorded. */
typedef void msim_draft_resize_fn(void *ctx, const struct msim_arg *arg,
                                  uint32_t id, int64_t *dims);

/* How a copy differs. */
struct msim_draft_how {
    struct msim_draft_place at;
    uint32_t share; /* above 1: its tensors are one share of so many, flat,
                       the rest rounded up */
    uint32_t other_share;  /* likewise of those that are marked in `others` */
    const uint8_t *others; /* by life; NULL: none is */
    uint8_t from, to; /* enum msim_dtype: tensors of `from` are of `to`; both
                         UNKNOWN: as they are */
    uint8_t device;   /* enum msim_device of its tensors; UNKNOWN: as it is */
    const uint8_t *types; /* by life: enum msim_dtype; UNKNOWN: as it is; NULL:
                             all are as they are */
    uint32_t pick; /* above 0: lists of several tensors are cut to one of them,
                      counted from 1 */
    const uint8_t *kept; /* lists of `n_kept` tensors are cut to those whose
                            place in the list is marked; NULL: to none */
    uint32_t n_kept;
    int32_t later; /* is added to the number that autograd gave, if any */
    msim_draft_resize_fn *resize; /* NULL: all sizes are as recorded */
    void *ctx;                    /* its own */
};

/* Add a copy of `op`. */
MSIM_MUST_CHECK
enum msim_status msim_draft_copy(struct msim_draft *d, uint32_t op,
                                 const struct msim_draft_how *how);

/* One argument of a copy, in preorder. */
struct msim_draft_part {
    uint32_t arg;     /* the recorded one, in trace->args */
    uint32_t id;      /* of a tensor, in trace->tensor_ids; NONE: it has none */
    uint32_t storage; /* of a tensor; 0: what its life has */
    int64_t count;    /* of a list of tensors: how many there are; of a tensor
                         of one dimension: its size; 0: as recorded */
    bool moved;       /* `at` counts: where in its storage a tensor begins; of a
                         number what it is */
    int64_t at;
};

/* Both lists of a copy, part by part. */
struct msim_draft_parts {
    const struct msim_draft_part *in, *out;
    uint32_t n_in, n_out;
};

/* Add a copy of `op` that has these arguments; of `how` the place and the
 * number count. */
MSIM_MUST_CHECK
enum msim_status msim_draft_copy_parts(struct msim_draft *d, uint32_t op,
                                       const struct msim_draft_how *how,
                                       const struct msim_draft_parts *parts);

/* Add an operator of one's own; `*index` in out->ops may be NULL. */
MSIM_MUST_CHECK
enum msim_status msim_draft_add(struct msim_draft *d,
                                const struct msim_draft_op *op,
                                uint32_t *index);

/* A group of `size` ranks from `first` on, `step` apart: its index. Larger ones
 * list no ranks. */
#define MSIM_DRAFT_LISTED 4096
MSIM_MUST_CHECK
enum msim_status msim_draft_add_group(struct msim_draft *d, const char *name,
                                      uint32_t size, int64_t first,
                                      int64_t step, uint32_t *index);

/* A storage that nothing has; the first of `n` such, one after the other; one
 * for `life`, which has it from now on. */
uint32_t msim_draft_fresh(struct msim_draft *d);
uint32_t msim_draft_fresh_run(struct msim_draft *d, uint32_t n);
void msim_draft_renew(struct msim_draft *d, uint32_t life);

/* What the first tensor on `life` that `op` is given looks like, `dims` in the
 * recorded trace; false where it is given none. */
bool msim_draft_given(const struct msim_draft *d, uint32_t op, uint32_t life,
                      struct msim_draft_tensor *out);

/* The trace, which the caller frees with msim_trace_free(). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_draft_finish(struct msim_draft *d,
                                   struct msim_trace **out);

/* ---- emit ---------------------------------------------------------------- */
/*
 * Operators that a change inserts: buffers, copies, messages.
 *
 * Each adds to the draft behind what is there. A flat tensor is so many
 * elements of a type in a storage.
 */

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

/*
 * plan/synth/synth_internal.h - what the files of plan/synth share; no other
 * room includes it.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_INTERNAL_H
#define MSIM_PLAN_SYNTH_SYNTH_INTERNAL_H
#include "core/pipeline/pipeline_schedule.h"
#include "plan/describe/strategy.h"
#include "plan/parts/parts.h"
#include "plan/synth/et_writer.h"

/* ---- synth state --------------------------------------------------------- */
/*
 * What the layers of one rank share, and what each keeps between forward and
 * backward.
 */

struct msim_synth_group {
    const char *name;
    uint32_t size, start, stride;
    int64_t calls; /* so far: what numbers them, on all ranks alike */
};

/* What of backward: all of it, or gradients of what layers are given first and
 * those of weights later. */
enum msim_synth_half {
    MSIM_SYNTH_WHOLE,
    MSIM_SYNTH_INPUTS,
    MSIM_SYNTH_WEIGHTS
};

/* What the layers of one rank share. */
struct msim_synth {
    struct msim_etw *e;
    const struct msim_described *m;
    const struct msim_strategy *s;
    const struct msim_parts *parts;
    enum msim_dtype dtype; /* of parameters and activations */
    int64_t rank;
    struct msim_synth_group groups[3]; /* by enum msim_part_group */
};

static inline struct msim_etw_arg msim_synth_none(void)
{
    return (struct msim_etw_arg){MSIM_ETW_NONE, 0, {.i = 0}};
}

static inline struct msim_etw_arg msim_synth_flag(bool b)
{
    return (struct msim_etw_arg){MSIM_ETW_BOOL, 0, {.i = b}};
}

static inline struct msim_etw_arg msim_synth_real(double f)
{
    return (struct msim_etw_arg){MSIM_ETW_REAL, 0, {.f = f}};
}

/* PyTorch's number of a type (c10/core/ScalarType.h). */
int64_t msim_synth_scalar_type(enum msim_dtype t);

/* Write the aten::empty that makes `t`. */
void msim_synth_write_empty(struct msim_etw *e,
                            const struct msim_etw_tensor *t);

/* What follows waits for a group's call of that number. */
void msim_synth_wait(struct msim_synth *y, const struct msim_synth_group *g,
                     int64_t call);

/* The word for a type in a collective's attributes. */
const char *msim_synth_dtype_text(enum msim_dtype t);

/* What one operator of forward was given and made. */
struct msim_synth_kept {
    struct msim_etw_tensor in, other, out, extra;
    struct msim_etw_tensor rows; /* a rank's own, of which `in` was gathered */
    struct msim_etw_tensor grad; /* of the result, for a later pass */
};

/* A parameter and its gradient. */
struct msim_synth_parameter {
    struct msim_etw_tensor weight, grad;   /* weight's id 0: there is none;
                                              grad's: backward makes it */
    struct msim_etw_tensor narrow, turned; /* the weight in 8 bits, and in the
                                              other order; id 0: not yet */
    bool is_expert;
    struct msim_synth_parameter *tied; /* the one that this is; or NULL */
};

/* What an operator may have: a weight and a bias. */
#define MSIM_SYNTH_OWN 2
enum { MSIM_SYNTH_WEIGHT, MSIM_SYNTH_BIAS };

/* A layer, the embedding or the head. Arrays are by operator of the part. */
struct msim_synth_layer {
    const struct msim_part *part;
    struct msim_synth_parameter (*own)[MSIM_SYNTH_OWN];
    struct msim_synth_kept *kept;   /* of micro batch b from b * n_ops on */
    struct msim_etw_tensor *inputs; /* by micro batch: what is computed again
                                       is given */
};

static inline struct msim_synth_parameter *
msim_synth_own(const struct msim_synth_layer *l, uint32_t at, int which)
{
    struct msim_synth_parameter *p = &l->own[at][which];

    return p->tied ? p->tied : p;
}

/* Whether the optimizer updates copies of the weights in fp32. In fp32 it
 * updates the weights themselves. */
static inline bool msim_synth_has_masters(const struct msim_synth *y)
{
    return y->dtype != MSIM_DT_F32;
}

/* The type of gradients that are kept over micro batches. */
static inline enum msim_dtype
msim_synth_gradient_type(const struct msim_synth *y)
{
    return msim_framework_of(y->s)->gradient > 2 ? MSIM_DT_F32 : y->dtype;
}

/* Whether gradients are shared out as soon as they are there, so that no rank
 * keeps all of them (ZeRO 2 and 3). */
static inline bool msim_synth_shares_at_once(const struct msim_synth *y)
{
    return y->s->zero >= 2 && msim_exchanges_each_micro_batch(y->s);
}

/* ---- synth walk ---------------------------------------------------------- */
/*
 * What the files that write a layer share.
 *
 * `op` is the operator of the part, `at` the index of the one of forward that
 * it is or goes back through.
 */

/* One layer on its way. */
struct msim_synth_walk {
    struct msim_synth *y;
    struct msim_synth_layer *l;
    enum msim_synth_half half;
    struct msim_synth_kept *kept;  /* of the micro batch */
    struct msim_etw_tensor cur;    /* what the last operator made */
    struct msim_etw_tensor stream; /* what residuals add to */
    struct msim_etw_tensor normed; /* the last norm's output */
    struct msim_etw_tensor last;   /* of a head: what the layers made; backward
                                      its gradient by classes, id 0: none */
};

/* `of` in the type of `out`, which has as many elements. */
void msim_synth_write_to_copy(struct msim_etw *e,
                              const struct msim_etw_tensor *of,
                              const struct msim_etw_tensor *out);

/* plan/synth/synth_tensor.c */
struct msim_etw_tensor msim_synth_new2(const struct msim_synth_walk *w,
                                       int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_empty(const struct msim_synth_walk *w,
                                        enum msim_dtype dtype, int64_t rows,
                                        int64_t cols);
struct msim_etw_tensor msim_synth_view2(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *of,
                                        int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_flat(const struct msim_synth_walk *w,
                                       const struct msim_etw_tensor *of);
bool msim_synth_has_elems(const struct msim_etw_tensor *t, int64_t rows,
                          int64_t cols);
struct msim_etw_tensor msim_synth_given(const struct msim_synth_walk *w,
                                        int64_t rows, int64_t cols);
struct msim_etw_tensor msim_synth_transposed(const struct msim_synth_walk *w,
                                             const struct msim_etw_tensor *of);
struct msim_etw_tensor msim_synth_add(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *a,
                                      const struct msim_etw_tensor *b);
struct msim_etw_tensor msim_synth_to_type(const struct msim_synth_walk *w,
                                          const struct msim_etw_tensor *of,
                                          enum msim_dtype dtype);
struct msim_etw_tensor msim_synth_mm(const struct msim_synth_walk *w,
                                     const struct msim_etw_tensor *a,
                                     const struct msim_etw_tensor *b);
/* Which of two tensors of matrices is read in the other order. */
enum msim_synth_turned {
    MSIM_SYNTH_NONE_TURNED,
    MSIM_SYNTH_FIRST_TURNED,
    MSIM_SYNTH_SECOND_TURNED
};
struct msim_etw_tensor msim_synth_bmm(const struct msim_synth_walk *w,
                                      enum msim_synth_turned turned,
                                      int64_t batch, int64_t m, int64_t k,
                                      int64_t n,
                                      const struct msim_etw_tensor *a_of,
                                      const struct msim_etw_tensor *b_of);

struct msim_etw_tensor msim_synth_addmm(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *bias,
                                        const struct msim_etw_tensor *a,
                                        const struct msim_etw_tensor *b);
struct msim_etw_tensor msim_synth_sum(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *of,
                                      int64_t dim);
struct msim_etw_tensor msim_synth_cat(const struct msim_synth_walk *w,
                                      const struct msim_etw_tensor *parts,
                                      uint32_t n, int64_t dim);

/* plan/synth/synth_comm.c */
bool msim_synth_gather(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t);
void msim_synth_reduce(struct msim_synth_walk *w, enum msim_pass pass,
                       struct msim_etw_tensor *t);
void msim_synth_sum_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t);
void msim_synth_all_rows(struct msim_synth_walk *w, struct msim_etw_tensor *t);
void msim_synth_sum_numbers(struct msim_synth_walk *w, int64_t rows, int times);
void msim_synth_context(struct msim_synth_walk *w, enum msim_pass pass);
void msim_synth_expert_rows(struct msim_synth_walk *w, enum msim_pass pass,
                            bool exchanged, int64_t rows);
void msim_synth_expert_sum(struct msim_synth_walk *w, enum msim_pass pass,
                           bool exchanged, int64_t rows);
void msim_synth_dispatch(struct msim_synth_walk *w, enum msim_pass pass);
bool msim_synth_takes_whole(const struct msim_part_op *op);
bool msim_synth_makes_sum(const struct msim_part_op *op);

/* plan/synth/synth_linear.c */
void msim_synth_linear_forward(struct msim_synth_walk *w,
                               const struct msim_part_op *op, uint32_t at);
void msim_synth_accumulate(struct msim_synth_walk *w,
                           const struct msim_etw_tensor *gradient,
                           struct msim_synth_parameter *into);
void msim_synth_linear_backward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at);
void msim_synth_permute(struct msim_synth_walk *w,
                        const struct msim_part_op *op);
void msim_synth_experts_forward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at);
void msim_synth_experts_backward(struct msim_synth_walk *w,
                                 const struct msim_part_op *op, uint32_t at);

/* plan/synth/synth_attention.c */
void msim_synth_norm(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at);
void msim_synth_attention(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at);
void msim_synth_scores(struct msim_synth_walk *w,
                       const struct msim_part_op *op);

/* plan/synth/synth_pointwise.c */
void msim_synth_pointwise(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at);

/* plan/synth/synth_input.c */
void msim_synth_table(struct msim_synth *y, const struct msim_part_op *op,
                      struct msim_etw_tensor own[MSIM_SYNTH_OWN]);
void msim_synth_input(struct msim_synth_walk *w, const struct msim_part_op *op,
                      uint32_t at);

/* plan/synth/synth_loss.c */
void msim_synth_loss(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at);
void msim_synth_first_tokens(struct msim_synth_walk *w,
                             const struct msim_part_op *op);

/* ---- synth layer --------------------------------------------------------- */
/*
 * One layer of a described model as PyTorch's operators, forward and backward.
 *
 * The operators are those of plan/parts, one for one: a linear layer is
 * aten::linear around aten::t and aten::mm, attention is
 * aten::scaled_dot_product_attention around the flash kernel, a gated
 * activation is aten::glu. What forward keeps, backward names, so that tensors
 * live as long as they would. Where sizes of neighbours do not meet (a rank of
 * a context group has a part of the pairs), aten::empty makes what the next
 * operator is given.
 */

/* The parameters of `l`, there before the trace. */
void msim_synth_parameters(struct msim_synth *y, struct msim_synth_layer *l);

/* The head's logits have the table of `input` for their weight. */
void msim_synth_tie(struct msim_synth_layer *head,
                    struct msim_synth_layer *input);

/* Micro batch `b` through the layer: from its input to its output. */
struct msim_etw_tensor msim_synth_forward(struct msim_synth *y,
                                          struct msim_synth_layer *l,
                                          uint32_t b, struct msim_etw_tensor x);
/* Back: from the gradient of its output to that of its input. Computes forward
 * again first, as the strategy says. Gradients of weights need no `grad`: what
 * INPUTS went through is kept for them. */
struct msim_etw_tensor msim_synth_backward(struct msim_synth *y,
                                           struct msim_synth_layer *l,
                                           uint32_t b,
                                           enum msim_synth_half half,
                                           struct msim_etw_tensor grad);

/* ---- synth optimizer ----------------------------------------------------- */
/*
 * The optimizer's states and its step.
 *
 * In 16 bits it updates fp32 copies of the weights from fp32 gradients, and
 * copies them back. In fp32 it updates the weights themselves, from what
 * backward made.
 */

struct msim_synth_optimizer {
    struct msim_synth *y;
    const struct msim_synth_parameter **of;
    /* One a parameter. */
    struct msim_etw_tensor *steps, *master, *first, *second, *grads, *weights;
    uint32_t n;
};

/* For at most `most` parameters; release it, also where that fails. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_optimizer_init(struct msim_synth_optimizer *o,
                                           struct msim_synth *y, size_t most);
/* `share`: elements of the parameter that this rank updates. */
void msim_synth_optimizer_add(struct msim_synth_optimizer *o,
                              const struct msim_synth_parameter *p,
                              int64_t share);
void msim_synth_optimizer_step(struct msim_synth_optimizer *o);
void msim_synth_optimizer_release(struct msim_synth_optimizer *o);

/* ---- synth rank ---------------------------------------------------------- */
/*
 * One rank's step: its layers, its optimizer, what it exchanges, in which
 * order.
 */

#define MSIM_SYNTH_GROUPS 9
enum { MSIM_SYNTH_AHEAD, MSIM_SYNTH_BEHIND };
enum { MSIM_SYNTH_FORWARD, MSIM_SYNTH_BACKWARD };

/* One rank. */
struct msim_synth_rank {
    struct msim_synth y;
    struct msim_synth_group dp;      /* that share parameters */
    struct msim_synth_group experts; /* that share those of experts */
    /* With the next stage and the one before, of several chunks in a ring. Each
     * way has a group of its own, so that sends and receives of both meet in
     * order. */
    struct msim_synth_group pipeline[2][2];
    char names[MSIM_SYNTH_GROUPS][48]; /* of all of these */
    struct msim_parts parts;
    int64_t number, stage;
    struct msim_pipeline_schedule schedule;
    struct msim_synth_layer *layers; /* of its chunks, in order */
    uint32_t *first;                 /* of each chunk; one more: the end */
    uint32_t n;
    struct msim_synth_optimizer optimizer;
    /* Of each chunk and micro batch, forward and backward: what the pass is
     * given, and what it makes. */
    struct msim_etw_tensor *given[2], *made[2];
};

/* The layers of the rank's stage, and what its optimizer keeps, all there
 * before the trace. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_rank_layers(struct msim_synth_rank *r);
MSIM_MUST_CHECK
enum msim_status msim_synth_rank_states(struct msim_synth_rank *r);
/* Write one step. */
void msim_synth_rank_step(struct msim_synth_rank *r);
void msim_synth_rank_release(struct msim_synth_rank *r);

#endif

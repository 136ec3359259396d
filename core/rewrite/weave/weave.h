/*
 * core/rewrite/weave/weave.h - what a step is made of: its passes, its blocks
 * of layers, what repeats.
 */
#ifndef MSIM_CORE_REWRITE_WEAVE_WEAVE_H
#define MSIM_CORE_REWRITE_WEAVE_WEAVE_H
#include "core/lives/lives.h"
#include "core/rewrite/weave/draft.h"

/* ---- anatomy ------------------------------------------------------------- */
/*
 * What a recorded training is made of: passes, and the blocks of layers in
 * each.
 *
 * A statement is an outermost operator: what the program called. A pass is
 * forward, backward, and what comes after it:
 *
 *     conv relu  conv relu  linear loss | LossBackward ... | Optimizer.step
 *     block 0    block 1    (no block)
 *
 * A block that is computed again before its backward pass is of that.
 *
 * Blocks are found where one tensor alone goes on to what comes later: the
 * forward pass is cut there, pieces without a product or a convolution go to
 * the one before, and pieces whose operators repeat are blocks. Where attention
 * and an MLP alternate, the two together are one.
 *
 * A backward operator has the sequence number of the forward one, so that
 * backward of a block is from its greatest number to its least.
 */

enum msim_anatomy_role {
    MSIM_ANATOMY_OTHER,
    MSIM_ANATOMY_FORWARD,
    MSIM_ANATOMY_BACKWARD,
    MSIM_ANATOMY_TAIL, /* after backward: gradients are clipped, ... */
    MSIM_ANATOMY_OPTIMIZER,
};

struct msim_anatomy_statement {
    uint32_t op, pass, block; /* block NONE: in none */
    uint8_t role;             /* enum msim_anatomy_role */
};

/* Statements [forward, backward), [backward, tail) and [tail, end). */
struct msim_anatomy_pass {
    uint32_t forward, backward, tail, end;
};

/* Statements [first, end) of a forward pass. */
struct msim_anatomy_block {
    uint32_t first, end, pass;
};

struct msim_anatomy {
    const struct msim_trace *t;
    const struct msim_lives *lives;
    uint32_t *order;     /* by place of entry: the operator */
    uint32_t *statement; /* by operator: the statement it is, or NONE */
    struct msim_anatomy_statement *rows;
    uint32_t n, cap;
    struct msim_anatomy_pass *passes;
    uint32_t n_passes, cap_passes;
    struct msim_anatomy_block *blocks;
    uint32_t n_blocks, cap_blocks;
};

/* Release in any case; `t` and `lives` must live as long. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_anatomy_find(struct msim_anatomy *out,
                                   const struct msim_trace *t,
                                   const struct msim_lives *lives);
/* All statements are one pass without backward. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_anatomy_forward_pass(struct msim_anatomy *a);
void msim_anatomy_release(struct msim_anatomy *a);

/* Is there a step of the optimizer before pass `p`, behind the one before it?
 * That `p` may be one past the last. */
bool msim_anatomy_steps_before(const struct msim_anatomy *a, uint32_t p);

/* One past the last operator of a statement, which begins with its own. */
uint32_t msim_anatomy_end(const struct msim_anatomy *a, uint32_t statement);

/* Is it autograd's? What a block computes again in backward is not. */
bool msim_anatomy_is_autograd(const struct msim_anatomy *a, uint32_t statement);

/* The sequence number of a backward statement, -1: none. */
int32_t msim_anatomy_sequence(const struct msim_anatomy *a, uint32_t statement);

/* The least of all below a statement, INT32_MAX: none. */
int32_t msim_anatomy_least_sequence(const struct msim_anatomy *a,
                                    uint32_t statement);

/* By statement, the forward one that a backward one is of: the last of its pass
 * whose least number is not above its own. NONE: it has no number, or is not
 * backward. `forward` has room for all. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_anatomy_forward(const struct msim_anatomy *a,
                                      uint32_t *forward);

/* Find the blocks of all passes, and of which a backward statement is. ENOMEM,
 * ELIMIT. In core/rewrite/weave/blocks.c. */
MSIM_MUST_CHECK
enum msim_status msim_anatomy_blocks(struct msim_anatomy *a);

/* Of which block each backward statement of a pass is, whose forward ones are
 * placed. ENOMEM. In core/rewrite/weave/backward.c. */
MSIM_MUST_CHECK
enum msim_status msim_anatomy_place_backward(struct msim_anatomy *a,
                                             uint32_t pass);

/* ---- weave --------------------------------------------------------------- */
/*
 * One change of a recorded step on its way: the trace, what it is made of, and
 * the draft of the changed one.
 *
 * A change walks the trace in the order of entry. Labels are copied; for each
 * statement it decides what stands there: a copy, several, others around it.
 *
 *     status = msim_weave_open(&w, t, strings, err);
 *     if (status == MSIM_OK)
 *         status = msim_weave_walk(&w, &ctx, visit);   visit(ctx, statement)
 *     if (status == MSIM_OK)
 *         status = msim_weave_finish(&w, &out);
 *     msim_weave_close(&w);
 */

enum msim_life_kind {
    MSIM_LIFE_OTHER,
    MSIM_LIFE_PARAMETER, /* there before; forward reads it, a step updates it */
    MSIM_LIFE_GRADIENT,  /* what AccumulateGrad keeps */
    MSIM_LIFE_STATE,     /* only steps of the optimizer name it */
};

struct msim_weave {
    const struct msim_trace *t;
    struct msim_draft d;
    struct msim_anatomy a;
    uint8_t *kind;      /* by life: enum msim_life_kind */
    uint32_t *gradient; /* by statement: the life that its AccumulateGrad keeps,
                           or NONE */
    const bool *elsewhere; /* by operator, or NULL: what stands outside of all
                              statements and is made with one of them */
    struct msim_error *err;
};

/* Close in any case. EUSAGE, with the reason, where `t` holds no training step
 * or no execution trace; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_weave_open(struct msim_weave *w,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings,
                                 struct msim_error *err);
/* Likewise of a trace of a forward pass alone, which is one pass without
 * backward. */
MSIM_MUST_CHECK
enum msim_status msim_weave_open_forward(struct msim_weave *w,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         struct msim_error *err);
void msim_weave_close(struct msim_weave *w);

typedef enum msim_status msim_weave_visit_fn(void *ctx, uint32_t statement);
MSIM_MUST_CHECK
enum msim_status msim_weave_walk(struct msim_weave *w, void *ctx,
                                 msim_weave_visit_fn *visit);
MSIM_MUST_CHECK
enum msim_status msim_weave_finish(struct msim_weave *w,
                                   struct msim_trace **out);

/* Where the copy of a statement stands by itself. */
struct msim_draft_place msim_weave_place(const struct msim_weave *w,
                                         uint32_t statement);

/* A copy of a statement where it stands, and one anywhere. */
MSIM_MUST_CHECK
enum msim_status msim_weave_copy(struct msim_weave *w, uint32_t statement);
MSIM_MUST_CHECK
enum msim_status msim_weave_copy_as(struct msim_weave *w, uint32_t statement,
                                    const struct msim_draft_how *how);

/* It runs once more: what it makes is other memory, which later copies name. */
MSIM_MUST_CHECK
enum msim_status msim_weave_again(struct msim_weave *w, uint32_t statement,
                                  struct msim_draft_place at);

/* An operator that holds what follows; `*place` is inside it. */
MSIM_MUST_CHECK
enum msim_status msim_weave_hold(struct msim_weave *w, const char *name,
                                 struct msim_draft_place at,
                                 struct msim_draft_place *place);

/* Does the name of operator `op` begin with `with`, contain `part`? */
bool msim_weave_begins(const struct msim_weave *w, uint32_t op,
                       const char *with);
bool msim_weave_contains(const struct msim_weave *w, uint32_t op,
                         const char *part);
/* Does it change what it is given (a name that ends in _)? */
bool msim_weave_is_in_place(const struct msim_weave *w, uint32_t op);

/* The gradient that the AccumulateGrad of statement `s` is given, as tensor
 * `arg` of operator `op` on life `life`; false where no operator names it. */
struct msim_weave_given {
    uint32_t accumulate, op, life;
    const struct msim_arg *arg;
};
bool msim_weave_find_given(const struct msim_weave *w, uint32_t s,
                           struct msim_weave_given *out);

/* Was the gradient that statement `s` keeps made in this pass? Else the trace
 * accumulates already. */
bool msim_weave_makes_gradient(const struct msim_weave *w, uint32_t s);

/* Statement `s` of a further micro batch: without what is below AccumulateGrad,
 * and the sum there, into `storage`. */
MSIM_MUST_CHECK
enum msim_status msim_weave_add_up(struct msim_weave *w, uint32_t s,
                                   uint32_t storage);

/* Is the statement in a step of the optimizer (not in its zero_grad)? */
bool msim_weave_is_step(const struct msim_weave *w, uint32_t statement);

/* The group of data parallel ranks, where a change made one: its name begins
 * so. */
#define MSIM_WEAVE_DATA_GROUP "data parallel"

/* The changed trace is of one of `world` ranks, of which collectives are; those
 * of a group of data parallel ranks are of that. EUSAGE where no number is
 * given or the recorded one is of several already. */
MSIM_MUST_CHECK
enum msim_status msim_weave_spread(struct msim_weave *w, uint32_t world);

/* "TEXT": why the trace cannot be changed so. Returns EUSAGE. */
MSIM_PRINTF(2, 3)
enum msim_status msim_weave_refuse(struct msim_weave *w, const char *fmt, ...);

/* ---- repeats ------------------------------------------------------------- */
/*
 * Which blocks of layers are one after the other of the same kind: the
 * repetitions of a forward pass.
 *
 *     embedding  A A A A  norm  B B B B  head
 *                encoder        decoder
 *
 * Blocks are alike where their operators are, with equal types and sizes of
 * tensors. At its ends a repetition may have a block that is longer or shorter
 * by something at the front or behind: a mask that the first one makes, a norm
 * that the last one lacks.
 *
 * A trace does not tell names of modules. One repetition is called "blocks".
 * Where one of two reads in all of its blocks what the other has made, they are
 * "encoder" and "decoder", else "blocks-1", "blocks-2", in order.
 */

#define MSIM_REPEAT_NAME 24

/* Blocks [first, first + n) of the first pass; two or more. */
struct msim_repeat {
    uint32_t first, n;
    char name[MSIM_REPEAT_NAME];
};

struct msim_repeats {
    struct msim_repeat *rows;
    uint32_t n, cap;
};

/* Those of an open weave. Release in any case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_repeats_find(struct msim_repeats *out,
                                   const struct msim_weave *w);
void msim_repeats_release(struct msim_repeats *r);

/*
 * The one called `name`; NULL or "": the only one. `*out` is its row, valid as
 * long as `r`. EUSAGE, with what there is, where there is none, or several and
 * no name.
 */
MSIM_MUST_CHECK
enum msim_status msim_repeats_choose(const struct msim_repeat **out,
                                     const struct msim_repeats *r,
                                     struct msim_weave *w, const char *name);

/* The place of statement `s` in a repetition: 1 for its first block, 0: in
 * none. Blocks count alike in all passes. */
uint32_t msim_repeat_place(const struct msim_repeat *r,
                           const struct msim_anatomy *a, uint32_t s);

/* Are two statements, with all that is below them, called the same, and given
 * and making tensors of equal types and sizes? */
bool msim_repeats_like(const struct msim_anatomy *a, uint32_t s, uint32_t k);

#endif

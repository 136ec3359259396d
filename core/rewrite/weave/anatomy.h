/*
 * core/rewrite/weave/anatomy.h - what a recorded training is made of: passes,
 * and the blocks of layers in each.
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
#ifndef MSIM_CORE_REWRITE_WEAVE_ANATOMY_H
#define MSIM_CORE_REWRITE_WEAVE_ANATOMY_H
#include "core/lives/lives.h"

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

#endif

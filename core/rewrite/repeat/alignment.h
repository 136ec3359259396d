/*
 * core/rewrite/repeat/alignment.h - which tensor of a block plays the part that
 * another one plays in the block before.
 *
 * Statements of two blocks that are alike are laid side by side, forward,
 * backward and in the optimizer's step; what stands in one place is linked:
 *
 *     block 2   y2 = mm(x2, w2)        w1 - w2 - w3
 *     block 3   y3 = mm(y2, w3)        x2 - y2 - y3
 *
 * Links make chains. A block names members of one at places of its own: block
 * b reads number b and makes number b + 1 of the second chain. Whoever repeats
 * a block, or leaves it out, so knows what its copies name.
 *
 * Collectives are linked, too: who waits for one names it. They are items
 * behind the lives: item = lives.n + index of the collective.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_ALIGNMENT_H
#define MSIM_CORE_REWRITE_REPEAT_ALIGNMENT_H
#include "core/rewrite/repeat/block_owners.h"

/* Statements that go through the blocks once: a forward pass, a backward pass,
 * a stretch of the step that goes through parameters one by one. */
struct msim_alignment_phase {
    bool descends; /* from the last block to the first */
};

struct msim_alignment {
    struct msim_weave *w;
    const struct msim_repeat *r;
    uint32_t *place; /* by statement: its block, counted from 1; 0: none */
    uint32_t *phase; /* by statement; NONE */
    struct msim_alignment_phase *phases;
    uint32_t n_phases, cap_phases;
    uint32_t *body;       /* statements by phase and block */
    uint32_t *body_first; /* [phase * n + block - 1] */
    bool *aligned;        /* likewise: is it like that of the next block? */
    struct msim_block_owners owners;
    uint32_t *of_comm;     /* by collective or wait: the collective, or NONE */
    uint32_t n_items;      /* lives, then collectives */
    uint32_t *next, *prev; /* by item, or NONE */
    bool *pinned;          /* by item: all blocks name this one */
    /* After msim_alignment_anchor(): */
    uint32_t at;      /* block */
    uint32_t *chain;  /* by item, or NONE */
    int32_t *index;   /* by item: its number in the chain */
    uint32_t *anchor; /* by chain: the item with number `at` */
    uint32_t n_chains;
};

/* Release in any case; `w` and `r` live as long. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_alignment_find(struct msim_alignment *a,
                                     struct msim_weave *w,
                                     const struct msim_repeat *r);
void msim_alignment_release(struct msim_alignment *a);

/* Statements of a block in a phase. */
struct msim_alignment_body {
    const uint32_t *s;
    uint32_t n;
};
struct msim_alignment_body
msim_alignment_body_of(const struct msim_alignment *a, uint32_t phase,
                       uint32_t block);

/* Is block `b` like the one behind it, everywhere? */
bool msim_alignment_like(const struct msim_alignment *a, uint32_t b);

/* Number the members of all chains that block `b` names. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_alignment_anchor(struct msim_alignment *a, uint32_t b);

/* The member of the chain of `item` that has number `index`; where the chain
 * ends before, the last on the way. */
uint32_t msim_alignment_member(const struct msim_alignment *a, uint32_t item,
                               int32_t index);

/* What an operator names in turn: lives that go in, that come out, its
 * collective; NONE where a tensor is on no life. */
struct msim_alignment_each {
    const struct msim_alignment *a;
    struct msim_lives_each in, out;
    uint32_t comm, item;
};
struct msim_alignment_each msim_alignment_items(const struct msim_alignment *a,
                                                uint32_t op);
bool msim_alignment_next(struct msim_alignment_each *e);

#endif

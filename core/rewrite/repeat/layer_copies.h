/*
 * core/rewrite/repeat/layer_copies.h - operators of a trace whose repetition
 * has more or fewer blocks: what each names, and copies of it.
 *
 * With `more` copies of block b, what block j > b has in a chain
 * (alignment.h) is `more` further on; with `fewer` blocks it is so much
 * nearer:
 *
 *     w1 w2 w3          b = 2, more 2
 *     w1 w2 . . w3      w3 has number 5; 3 and 4 are storages of their own
 *
 * Names follow from the place of a block alone, so that a copy reads what the
 * one before it has made, and the block behind reads what the last copy has.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_LAYER_COPIES_H
#define MSIM_CORE_REWRITE_REPEAT_LAYER_COPIES_H
#include "core/rewrite/repeat/alignment.h"

/* A tensor of one dimension that goes with the number of parameters. */
struct msim_layer_size {
    int64_t from, to; /* 0: it does not */
};

/* Which copy of a block: 0 is the recorded one, which has the place `block`. */
struct msim_layer_place {
    uint32_t block, copy, pass; /* block 0: of none; pass NONE: of none */
};

/* A member of lists, as they stand in the changed trace: the recorded one, and
 * of which block it is. */
struct msim_layer_member {
    uint32_t member;
    struct msim_layer_place at;
};

struct msim_layer_copies {
    struct msim_weave *w;
    struct msim_alignment a;
    uint32_t more, fewer; /* one of them is 0 */
    uint32_t *fresh;      /* by chain and copy: the id of a name, 0: none yet */
    uint32_t last_comm;   /* id of a collective */
    int64_t *numbers;     /* by id of a collective: its number, -1: none yet */
    uint32_t cap_numbers;
    int64_t *counters; /* by group, the last is that of none */
    int64_t *least;    /* by pass: the least number of autograd in the block
                          behind the copies, or behind what is left out */
    int64_t *by;       /* by pass: what later ones are further on, a copy */
    struct msim_layer_size *sizes;     /* by life */
    struct msim_layer_member *members; /* of msim_layer_members() */
    uint32_t n_members, cap_members;
    struct msim_draft_part *parts[2]; /* of one operator, in and out */
    uint32_t cap_parts[2];
};

/* `c->a` is found and anchored at the block that is copied, or at the one
 * before those that are left out. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_layer_copies_open(struct msim_layer_copies *c);
void msim_layer_copies_close(struct msim_layer_copies *c);

/* Which members stand in the lists of an operator: c->members [first, first +
 * n); `row` NULL: it is as recorded. */
struct msim_layer_lists {
    const struct msim_block_owners_lists *row;
    uint32_t first, n;
};

/* A copy of operator `op` there, without what is below it. */
MSIM_MUST_CHECK
enum msim_status msim_layer_copy_op(struct msim_layer_copies *c, uint32_t op,
                                    const struct msim_layer_place *at,
                                    const struct msim_layer_lists *l);

/* A copy of statement `s` there, with all that is below it. */
MSIM_MUST_CHECK
enum msim_status msim_layer_copy(struct msim_layer_copies *c, uint32_t s,
                                 const struct msim_layer_place *at);

/* A copy of statement `s`, which is of no block: its lists grow or shrink. Of
 * this and what follows: layer_frame.c. */
MSIM_MUST_CHECK
enum msim_status msim_layer_copy_frame(struct msim_layer_copies *c, uint32_t s);

/* The step's pieces that statement `s` is of; NULL: of none. And all of them,
 * made anew. */
const struct msim_chunk_row *
msim_layer_chunks_at(const struct msim_layer_copies *c, uint32_t s);
MSIM_MUST_CHECK
enum msim_status msim_layer_copy_chunks(struct msim_layer_copies *c,
                                        const struct msim_chunk_row *r);

/* c->members of lists. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_layer_members(struct msim_layer_copies *c,
                                    const struct msim_block_owners_lists *row);

/* Is block `b` left out? */
bool msim_layer_is_out(const struct msim_layer_copies *c, uint32_t b);

#endif

/*
 * core/rewrite/repeat/layer_copies.h - blocks of layers laid side by side, and
 * copies of them.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_LAYER_COPIES_H
#define MSIM_CORE_REWRITE_REPEAT_LAYER_COPIES_H
#include "core/rewrite/weave/weave.h"

/* ---- chunks -------------------------------------------------------------- */
/*
 * A step of the optimizer that takes its parameters in pieces of so many, and
 * operators on lists of each piece.
 *
 *     cast g1   cast g2   _fused_adamw_([p1, p2], [g1, g2], ...)
 *     cast g3   cast g4   _fused_adamw_([p3, p4], [g3, g4], ...)
 *     cast g5             _fused_adamw_([p5], [g5], ...)
 *
 * Five members in pieces of two, with one statement alone for each. Where the
 * number of parameters changes, pieces are made anew, since what a piece casts
 * is held while the piece is worked on.
 */

/* Statements [first, end): pieces of `alone` x size statements and `lists`
 * ones, the last with as many members as are left. */
struct msim_chunk_row {
    uint32_t first, end, size, members, alone, lists;
};

struct msim_chunks {
    struct msim_chunk_row *rows;
    uint32_t n, cap;
};

/* Release in any case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_chunks_find(struct msim_chunks *c,
                                  const struct msim_weave *w);
void msim_chunks_release(struct msim_chunks *c);

/* The `alone`-th statement of a member, and the `list`-th of its piece. */
uint32_t msim_chunk_alone(const struct msim_chunk_row *r, uint32_t member,
                          uint32_t alone);
uint32_t msim_chunk_list(const struct msim_chunk_row *r, uint32_t member,
                         uint32_t list);

/* Lists of tensors that an operator is given and makes: `arg` is where one
 * stands, `id` the tensor id of its first member. */
#define MSIM_CHUNKS_LISTS 16
struct msim_lists {
    struct msim_list {
        uint32_t arg, id, n; /* arg: in trace->args */
        bool out;            /* of what comes out */
    } rows[MSIM_CHUNKS_LISTS];
    uint32_t n;  /* what is beyond the most is left out */
    uint32_t of; /* the operator, counted from 1; 0: none yet */
};
/* `f` is all zero, or has lists of an operator of `t`. */
void msim_lists_look(struct msim_lists *f, const struct msim_trace *t,
                     uint32_t op);

/* ---- block owners -------------------------------------------------------- */
/*
 * Which block of a repetition a tensor of the optimizer's step is of.
 *
 * Steps name no layers. A parameter is of the block whose forward pass alone
 * reads it, a gradient of the one whose backward pass keeps it, and all else of
 * the one that it stands beside: in one operator, or in one place of its lists.
 *
 *     _foreach_lerp_([m1, m2], [g1, g2])   m1 is of the block that g1 is of
 *     _foreach_add_([n1, n2], 1)           by the place in lists as long as
 *                                          this one, of the same step
 */

/* Of no block, or of several. 0: not known. */
#define MSIM_BLOCK_OWNERS_FRAME UINT32_MAX

/* Lists that are equally long, in and out, with members of several blocks: of
 * one operator, or of those of several pieces ("chunks"). Places of members are
 * pool[at .. at + n). */
struct msim_block_owners_lists {
    uint32_t op, n, at; /* of the first piece */
    uint32_t chunk;     /* row of chunks, NONE: `op` has all members */
    uint32_t list;      /* which statement of a piece it is */
};

/* Where a member stands: the operator, and its place in the lists of that. */
struct msim_block_owners_member {
    uint32_t op, n, i; /* n: members of those lists */
};

struct msim_block_owners {
    const struct msim_weave *w;
    uint32_t blocks; /* how many there are */
    struct msim_chunks chunks;
    uint32_t *of;     /* by life: its block, counted from 1 */
    uint8_t *rank;    /* by life: how it is known; the less, the better */
    uint32_t *listed; /* by life: the last place (lives) where it stands in
                         lists, plus one; 0: nowhere */
    uint32_t *lists;  /* by op: its row, or NONE */
    struct msim_block_owners_lists *rows;
    uint32_t n_rows, cap_rows;
    uint32_t *pool;
    uint32_t n_pool, cap_pool;
    bool changed;
};

/* Of a repetition of so many blocks; `place` has the block of each statement of
 * forward and backward passes. Release in any case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_block_owners_find(struct msim_block_owners *o,
                                        const struct msim_weave *w,
                                        uint32_t blocks, const uint32_t *place);
void msim_block_owners_release(struct msim_block_owners *o);

/* Member `i` of lists, from 0. */
struct msim_block_owners_member
msim_block_owners_member_at(const struct msim_block_owners *o,
                            const struct msim_block_owners_lists *row,
                            uint32_t i);

/* The block of what operators [first, end) name; 0 where one of them has lists
 * of several blocks, or where it is not known. */
uint32_t msim_block_owners_ops(const struct msim_block_owners *o,
                               uint32_t first, uint32_t end);

/* ---- alignment ----------------------------------------------------------- */
/*
 * Which tensor of a block plays the part that another one plays in the block
 * before.
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

/* ---- layer copies -------------------------------------------------------- */
/*
 * Operators of a trace whose repetition has more or fewer blocks: what each
 * names, and copies of it.
 *
 * With `more` copies of block b, what block j > b has in a chain
 * ("alignment") is `more` further on; with `fewer` blocks it is so much
 * nearer:
 *
 *     w1 w2 w3          b = 2, more 2
 *     w1 w2 . . w3      w3 has number 5; 3 and 4 are storages of their own
 *
 * Names follow from the place of a block alone, so that a copy reads what the
 * one before it has made, and the block behind reads what the last copy has.
 */

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

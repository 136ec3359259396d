/*
 * core/rewrite/repeat/chunks.h - a step of the optimizer that takes its
 * parameters in pieces of so many, and operators on lists of each piece.
 *
 *     cast g1   cast g2   _fused_adamw_([p1, p2], [g1, g2], ...)
 *     cast g3   cast g4   _fused_adamw_([p3, p4], [g3, g4], ...)
 *     cast g5             _fused_adamw_([p5], [g5], ...)
 *
 * Five members in pieces of two, with one statement alone for each. Where the
 * number of parameters changes, pieces are made anew, since what a piece casts
 * is held while the piece is worked on.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_CHUNKS_H
#define MSIM_CORE_REWRITE_REPEAT_CHUNKS_H
#include "core/rewrite/weave/weave.h"

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

#endif

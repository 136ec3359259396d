/*
 * replay/emit/batch.h - which sizes of a program grow with its batch.
 *
 * The batch is the size that most inputs share, and first of all as their first
 * one. A tensor grows with it where it is such an input or is made of one and
 * its first size is a multiple of the batch; so tables, masks and positions do
 * not. A benchmark writes such sizes as multiples of a constant, so that
 * another batch can be asked for.
 */
#ifndef MSIM_REPLAY_EMIT_BATCH_H
#define MSIM_REPLAY_EMIT_BATCH_H
#include "replay/program/program.h"

struct msim_batch {
    int64_t size; /* 0: no input tells */
    bool *grows;  /* of a value */
    uint8_t *dim; /* of a tensor from outside: the size that grows, or
                     MSIM_BATCH_NONE */
};
#define MSIM_BATCH_NONE 255

/* ENOMEM. Release with msim_batch_release(). */
MSIM_MUST_CHECK
enum msim_status msim_batch_find(struct msim_batch *out,
                                 const struct msim_program *p);
void msim_batch_release(struct msim_batch *b);

/*
 * Does `first`, the first of the sizes that argument `a` of a statement asks
 * for, grow with the batch? (view, reshape, expand, zeros, ...)
 */
bool msim_batch_grows(const struct msim_batch *b, const struct msim_program *p,
                      const struct msim_statement *s,
                      const struct msim_schema_arg *a, int64_t first);

#endif

/*
 * core/rewrite/weave/repeats.h - which blocks of layers are one after the other
 * of the same kind: the repetitions of a forward pass.
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
#ifndef MSIM_CORE_REWRITE_WEAVE_REPEATS_H
#define MSIM_CORE_REWRITE_WEAVE_REPEATS_H
#include "core/rewrite/weave/weave.h"

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

/* Are two operators of the trace called the same, and given and making tensors
 * of equal types and sizes? */
bool msim_repeats_like_ops(const struct msim_trace *t, uint32_t a, uint32_t b);

/* Likewise of two statements, with all that is below them. */
bool msim_repeats_like(const struct msim_anatomy *a, uint32_t s, uint32_t k);

#endif

/*
 * core/rewrite/split/owners.h - of which place the tensors of an optimizer's
 * step are: parameters, gradients, states, and what the step makes of them.
 *
 * A parameter is where forward reads it, a gradient where it is kept. The step
 * names them together with all else of the same parameter: at one index of the
 * lists of one operator, or in one statement:
 *
 *     _fused_adamw_([p0, p1], [g0, g1], [m0, m1], ...)    m1 is where p1 is
 *     addcdiv_(p0, m0, v0)                                so is v0, where p0 is
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_OWNERS_H
#define MSIM_CORE_REWRITE_SPLIT_OWNERS_H
#include "core/rewrite/split/places.h"

/* Of two places, such as a table that embedding and head share: so many pairs
 * below NONE. What is of more is of all. */
#define MSIM_OWNED_BY_ALL   (MSIM_NONE - 1)
#define MSIM_OWNER_PAIRS    64
#define MSIM_OWNED_BY_PAIRS (MSIM_OWNED_BY_ALL - MSIM_OWNER_PAIRS)

struct msim_owners {
    const struct msim_places *p;
    uint32_t *of; /* by life: its place, a pair, ALL, or NONE: not known */
    uint32_t pairs[MSIM_OWNER_PAIRS][2], n_pairs;
    uint32_t *statement; /* by statement of tail and step: the place whose
                            alone it is; NONE: of all */
    /* Room for the longest list, of the operator at hand: what is kept, who
     * owns what; and who owns what is in no list. */
    uint8_t *kept;
    uint32_t *row, alone;
};

/* Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_owners_find(struct msim_owners *o,
                                  const struct msim_places *p);
void msim_owners_release(struct msim_owners *o);

/* A copy of statement `s`, of tail or step, as one stage of `stages` runs it:
 * of lists what is its own, and nothing where nothing is. */
MSIM_MUST_CHECK
enum msim_status msim_owners_copy(struct msim_owners *o, uint32_t s,
                                  uint32_t stages, uint32_t stage);

#endif

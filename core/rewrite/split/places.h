/*
 * core/rewrite/split/places.h - a recorded pass cut into places: what one chunk
 * of layers of one pipeline stage does of it, and what goes from one place to
 * the next.
 *
 * Chunk c of stage s is place c * stages + s on a micro batch's way. The blocks
 * of layers (weave/anatomy.h) are spread over the places; what is before the
 * first block is of the first place, what is behind the last of the last one:
 *
 *     embedding  block 0  block 1 | block 2  block 3  loss
 *     place 0                     | place 1
 *
 * Backward operators are where their forward ones are. A tensor that one place
 * makes and another reads goes through all places between them. What is light
 * is not sent: operators before the first block that read no parameter and no
 * result of one, such as a mask or the positions of tokens, run on each place
 * that reads their results. Nor is what backward makes of a parameter that two
 * places read, such as a table that embedding and head share: each of them has
 * one of its own.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_PLACES_H
#define MSIM_CORE_REWRITE_SPLIT_PLACES_H
#include "core/rewrite/weave/weave.h"

/* A tensor of pass `pass` on its way, up in forward, down in backward. */
struct msim_crossing {
    uint32_t life, pass, from, to;
    uint8_t back;
    uint8_t dtype, device;
    uint32_t dims, n_dims; /* of the largest tensor that is read of it: the
                              first in the trace's dims, and how many */
};

/* A parameter that two places read: `life` is the gradient that the first in
 * backward makes of it, `gradient` what the other one keeps. */
struct msim_tied {
    uint32_t life, pass, from, to, gradient;
    uint32_t adds;      /* the statement that adds up what both make */
    uint32_t part, sum; /* what else it is given, and what it makes */
    int64_t elems;
    uint32_t storage; /* of the sum over micro batches where `life` is made */
    uint32_t group;   /* of both ranks */
    uint8_t dtype, device;
};

struct msim_places {
    struct msim_weave *w;
    uint32_t n;
    uint32_t *of;    /* by statement of a pass: its place; else NONE */
    uint8_t *light;  /* by statement: it runs where it is read */
    uint32_t *maker; /* by life: the statement of a pass that makes it, or
                        NONE */
    struct msim_crossing *crossings;
    uint32_t n_crossings, cap_crossings;
    struct msim_tied *tied;
    uint32_t n_tied, cap_tied;
};

/*
 * Spread the blocks of each pass over `stages` stages of `chunks` chunks, of
 * which `blocks` says how many each stage has; NULL: as many, or nearly so.
 * Release in any case. EUSAGE where there are fewer blocks than places, or not
 * so many as `blocks` has in all; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_places_find(struct msim_places *p, struct msim_weave *w,
                                  uint32_t stages, uint32_t chunks,
                                  const uint32_t *blocks);
void msim_places_release(struct msim_places *p);

/* Mark in `in`, which has room for all statements, those that `place` runs in
 * pass `pass`. */
void msim_places_mark(const struct msim_places *p, uint32_t place,
                      uint32_t pass, uint8_t *in);

/* Is operator `op` a product, a convolution, a look-up? */
bool msim_places_is_product(const struct msim_weave *w, uint32_t op);

/* Does it go from `place` to the next one on its way? */
static inline bool msim_crossing_leaves(const struct msim_crossing *c,
                                        uint32_t place)
{
    return c->back ? place <= c->from && place > c->to
                   : place >= c->from && place < c->to;
}

#endif

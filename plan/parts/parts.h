/*
 * plan/parts/parts.h - what one rank does for one micro batch, as works.
 *
 * A described transformer under a strategy consists of parts: the embedding,
 * layers (dense, or with experts; windowed or not) and the head with the loss.
 * Equal layers are one part. A part lists its operators forward and backward
 * with their sizes on one rank, its collectives inside tensor, context and
 * expert groups, its parameters, and what forward keeps for backward. Nothing
 * here is a time: plan/step prices the works, plan/memory adds the bytes.
 *
 * With tensor parallelism sequences are split, too (Korthikanti et al.,
 * "Reducing Activation Recomputation in Large Transformer Models", 2022): norms
 * and residuals see tokens / tp, and a layer gathers and scatters instead of
 * reducing to all. The bytes on the wire are the same.
 */
#ifndef MSIM_PLAN_PARTS_PARTS_H
#define MSIM_PLAN_PARTS_PARTS_H
#include "plan/parts/part.h"

#define MSIM_PARTS_MOST 6

struct msim_parts {
    struct msim_part part[MSIM_PARTS_MOST];
    uint32_t n;
    /* Of a layer with experts, for exchanges of tokens. */
    int64_t hidden, topk, experts;
    double tokens;     /* of one micro batch on one rank */
    double seq_tokens; /* of those, where sequences are split by tp */
};

/* The type of activations and of what products of 16 or 32 bits read. */
enum msim_dtype msim_precision_dtype(enum msim_precision p);

/* The parts of `m` under the complete strategy `s`. */
void msim_parts_make(struct msim_parts *p, const struct msim_described *m,
                     const struct msim_strategy *s);

/* The same on memory that is NULL before; NULL where there is none left. */
const struct msim_part *msim_parts_find(const struct msim_parts *p,
                                        enum msim_part_kind kind);

#endif

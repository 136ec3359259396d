/*
 * core/rewrite/split/expert_sizes.h - which sizes of a trace count experts, and
 * the rows that they are given.
 *
 * Weights of several experts are one tensor, and one operator multiplies by all
 * of them:
 *
 *     bmm([e, m, k], [e, k, n]) -> [e, m, n]      m rows for each of e experts
 *     _grouped_mm([r, k], [e, k, n]) -> [r, n]    r rows of all of them
 *
 * What is routed to them is a tensor of r = e x m rows, which others read so.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERT_SIZES_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERT_SIZES_H
#include "core/sizes/sizes.h"

enum msim_expert_size {
    MSIM_EXPERT_NONE,
    MSIM_EXPERT_COUNT,  /* experts */
    MSIM_EXPERT_EACH,   /* rows of each */
    MSIM_EXPERT_ROWS,   /* rows of all */
    MSIM_EXPERT_INSIDE, /* of each, between two products */
    MSIM_EXPERT_WIDTH,  /* of what they are given and make */
    MSIM_EXPERT_BESIDE  /* the inside of an MLP that is given the same tokens,
                           such as a shared expert */
};

struct msim_expert_sizes {
    const struct msim_sizes *s;
    uint8_t *of;      /* by class: enum msim_expert_size */
    uint8_t *product; /* by operator: it multiplies by weights of experts, or
                         makes gradients of them */
    uint64_t *rows;   /* by life of the sizes: elements of what experts are
                         given or make; 0: it is none */
    uint32_t op;      /* the first such; NONE: there are no experts */
    uint32_t lone;    /* one whose experts are given one row each, a size that
                         is in no class; NONE: none is */
    uint32_t single;  /* likewise one that has one expert */
    uint32_t narrow;  /* the first product of experts in 8 bits: its weights are
                         casts, and say nothing of whose they are; NONE */
};

/* `s` must live as long. Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_expert_sizes_find(struct msim_expert_sizes *x,
                                        const struct msim_sizes *s);
void msim_expert_sizes_release(struct msim_expert_sizes *x);

/* Do ranks of `group`, which share layers, share each expert? Then they gather
 * what experts are given, or what that is made of. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_expert_sizes_are_split(bool *out,
                                             const struct msim_expert_sizes *x,
                                             uint32_t group);

/* EUSAGE where experts are multiplied by in 8 bits: their rows are not told. */
MSIM_MUST_CHECK
enum msim_status msim_expert_sizes_told(const struct msim_expert_sizes *x,
                                        struct msim_error *err);

/* All sizes of kind `kind` times num / den into `to`, which has one a class.
 * EUSAGE where one is no whole number then, or has a role that `to` has another
 * size for already: of one expert a token rows are tokens. */
MSIM_MUST_CHECK
enum msim_status msim_expert_sizes_scale(const struct msim_expert_sizes *x,
                                         enum msim_expert_size kind,
                                         int64_t num, int64_t den, int64_t *to,
                                         struct msim_error *err);

#endif

/*
 * core/sizes/sizes.h - which size of which tensor is which axis of the model:
 * its width, its heads, its vocabulary.
 *
 * Sizes are told apart by where they come from, not by their numbers. In a
 * model of width 1024 that is run with 1024 tokens,
 *
 *     mm([m, k], [k, n]) -> [m, n]     the two k are one size, and so on
 *     view([a, b]) -> [a, c, d]        b = c x d
 *     split([a, b]) -> [a, c], [a, d]  b = c + d
 *
 * so that every size of every tensor is in a class of equals, and classes are
 * tied by products and sums. Two classes may have one number by chance. What
 * operators mean names some classes (roles): attention has heads and the size
 * of one, normalisations the width, losses the vocabulary. Whoever gives some
 * classes other sizes has those of all others from msim_sizes_solve().
 *
 * Sizes of 1 are in no class: they are spread over others.
 */
#ifndef MSIM_CORE_SIZES_SIZES_H
#define MSIM_CORE_SIZES_SIZES_H
#include "core/lives/lives.h"

/* X(name, word) */
#define MSIM_SIZE_ROLE_MAP(X)                                                  \
    X(NONE, "no role")                                                         \
    X(BATCH, "batch")                                                          \
    X(SEQUENCE, "sequence")                                                    \
    X(TOKENS, "tokens")       /* of all samples, in a row */                   \
    X(HIDDEN, "hidden")       /* the width of what blocks add to */            \
    X(HEADS, "heads")         /* of queries */                                 \
    X(KV_HEADS, "kv_heads")   /* of keys and values, where they are fewer */   \
    X(HEAD_SIZE, "head size") /* of one head */                                \
    X(FFN, "ffn")             /* between the linear layers of an MLP */        \
    X(INNER, "inner")         /* of another layer that follows the width */    \
    X(VOCAB, "vocab")

enum msim_size_role {
#define X(name, text) MSIM_SIZE_##name,
    MSIM_SIZE_ROLE_MAP(X) MSIM_SIZE_ROLES
#undef X
};
const char *msim_size_role_text(enum msim_size_role r);

/* A class of sizes that are one. */
struct msim_size_class {
    int64_t size;
    uint8_t role;   /* enum msim_size_role */
    uint8_t also;   /* another role that it has by other operators, which
                       cannot be: two sizes were taken for one; NONE */
    uint8_t layer;  /* a layer goes from it, or to it */
    uint8_t weight; /* parameters have it */
    uint32_t op;    /* the first that has it, or that says its role */
};

/* Product of `n_left` classes = that of `n_right`; or, if `sum`, one class =
 * the sum of others and `rest`. Classes are in `terms` from `first` on, those
 * of the left first. `op` says so. */
struct msim_size_tie {
    uint32_t first, op;
    uint32_t n_left, n_right;
    bool sum, flat; /* flat: how many elements a tensor has in a row */
    uint8_t share;  /* the right is a part of the left (a slice), which follows
                       where nothing else says what it is */
    int64_t rest;
};

struct msim_sizes {
    const struct msim_trace *t;
    struct msim_lives lives;
    /* By row of trace->tensor_ids: its first place in `places`, one a
     * dimension; NONE: no operator names it. */
    uint32_t *of_id;
    uint32_t *places; /* the class of each, MSIM_NONE: a size of 1 */
    struct msim_size_class *classes;
    struct msim_size_tie *ties;
    uint32_t *terms;
    uint32_t n_places, cap_places, n_classes, cap_classes, n_ties, cap_ties,
        n_terms, cap_terms;
};

/*
 * Learn the sizes of `t`, which must live as long. Release in any case. EUSAGE
 * where it has no ids of tensors, with the reason in `err`; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_sizes_learn(struct msim_sizes *out,
                                  const struct msim_trace *t,
                                  struct msim_error *err);
void msim_sizes_release(struct msim_sizes *s);

/* The class of dimension `dim` of the tensor with row `id` of
 * trace->tensor_ids, MSIM_NONE: none. */
static inline uint32_t msim_size_class_of(const struct msim_sizes *s,
                                          uint32_t id, uint32_t dim)
{
    uint32_t at = id == MSIM_NONE ? MSIM_NONE : s->of_id[id];

    return at == MSIM_NONE ? MSIM_NONE : s->places[at + dim];
}

/*
 * The sizes of all classes where some are given: `to` has one a class, 0 where
 * it is not given. What ties do not say stays as it is. EUSAGE where they
 * cannot all be kept, with the operator in `err`; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_sizes_solve(const struct msim_sizes *s, int64_t *to,
                                  struct msim_error *err);

/* EUSAGE where class `c` has two roles, with the operator in `err`: it is not
 * known which of its sizes are which. */
MSIM_MUST_CHECK
enum msim_status msim_size_is_one(const struct msim_sizes *s, uint32_t c,
                                  struct msim_error *err);

/*
 * All classes of `role` times num / den into `to`, which has one a class: heads
 * over ranks of tensor parallelism are {HEADS, KV_HEADS, FFN, VOCAB} x 1 / tp,
 * with HIDDEN and HEAD_SIZE x 1 so that they stay. EUSAGE where one of them is
 * no whole number then; `*n` are they.
 */
MSIM_MUST_CHECK
enum msim_status msim_sizes_scale(const struct msim_sizes *s,
                                  enum msim_size_role role, int64_t num,
                                  int64_t den, int64_t *to, uint32_t *n,
                                  struct msim_error *err);

/*
 * A view of the trace with these sizes, all of them known (msim_sizes_solve()):
 * operators, arguments, places in storages and messages are its own, all else
 * is the trace's; operator i of it is operator i of the trace. Sizes among the
 * numbers that operators are given follow. The caller owns `*out`, release it
 * with msim_resized_free(). ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_resized_new(struct msim_trace **out,
                                  const struct msim_sizes *s,
                                  const int64_t *to);
void msim_resized_free(struct msim_trace *view); /* accepts NULL */

#endif

/*
 * core/sizes/sizes_internal.h - what the files of core/sizes share; no other
 * room includes it.
 */
#ifndef MSIM_CORE_SIZES_SIZES_INTERNAL_H
#define MSIM_CORE_SIZES_SIZES_INTERNAL_H
#include "core/base/containers.h"
#include "core/sizes/sizes.h"
#include "core/trace/trace.h"

/* ---- numbers ------------------------------------------------------------- */
/*
 * Sizes among the numbers that operators are given: of a view, of parts, of
 * what is made.
 */

/* A call as it was and as it is to be: lists of arguments and results, of which
 * the new ones have their tensors' sizes already. Their numbers follow those in
 * `args`. */
struct msim_number_call {
    const struct msim_trace *t, *view; /* whose sizes are the old, the new */
    const char *name;
    const struct msim_arg *was; /* arguments, n of them */
    struct msim_arg *args;
    uint32_t n;
    const struct msim_arg *outs_were, *outs; /* m of them */
    uint32_t m;
};

void msim_numbers_follow(const struct msim_number_call *c);

/* ---- learning ------------------------------------------------------------ */
/*
 * What the parts of learning share: sizes as they are being tied, one call of
 * an operator after the other.
 *
 * A place is one dimension of one tensor. Places that are one are united; all
 * else that operators say of them is kept as a tie.
 */

/* One tensor, however often it is named. */
struct msim_size_value {
    uint32_t at; /* its first place */
    uint32_t life, n, op;
    int64_t offset;
    uint64_t elems, shape; /* a hash of its sizes and of how they lie */
    bool made;             /* an operator made it: `op` */
    uint32_t given_to;     /* the last that it was given to */
};

/* Attention that reads a storage through views that no operator made: places of
 * samples, tokens, heads, heads of keys, and the size of a head. */
struct msim_size_heads {
    uint32_t life, op, b, t, h, g, d;
};

/* A gradient as it was added to its parameter's. */
struct msim_size_gradient {
    uint32_t op, value;
};

struct msim_size_learning {
    struct msim_sizes *s;
    uint32_t *parent;        /* by class, as they are united */
    struct msim_idmap known; /* tensor -> its value */
    struct msim_size_value *values;
    uint32_t cap_parent, n_values, cap_values;
    uint32_t op;
    bool laid_out; /* the trace says which tensors are turned */
    struct msim_size_tensor *tensors; /* of the call */
    uint32_t cap_tensors;
    struct msim_size_heads *heads;
    uint32_t n_heads, cap_heads;
    struct msim_size_gradient *gradients, *buckets; /* what was added up, and
                                    vectors that are messages; in order */
    uint32_t n_gradients, cap_gradients, n_buckets, cap_buckets;
};

/* A tensor of a call. */
struct msim_size_tensor {
    const int64_t *dims;
    uint32_t n, at; /* sizes; first place, MSIM_NONE: it has no id */
    uint32_t value; /* of those, too */
    uint32_t top;   /* which argument, or result */
    uint32_t item;  /* of a list; MSIM_NONE: it is none of a list */
};

/* A call: what goes in, and what comes out. */
struct msim_size_call {
    const struct msim_trace *t;
    const struct msim_op *op;
    const char *name;
    const struct msim_size_tensor *in, *out;
    uint32_t n_in, n_out;
};

/* The class that class `c` is united with as yet, the least of them. */
uint32_t msim_size_united(struct msim_size_learning *l, uint32_t c);
/* The class of a place as it is now; NONE for a size of 1. */
uint32_t msim_size_root(struct msim_size_learning *l, uint32_t place);

/* The number of a place. */
int64_t msim_size_at(struct msim_size_learning *l, uint32_t place);

/* Two classes are one; so are two places. Nothing is done where their numbers
 * differ. */
void msim_size_unite_classes(struct msim_size_learning *l, uint32_t x,
                             uint32_t y);
void msim_size_unite(struct msim_size_learning *l, uint32_t a, uint32_t b);

/* The product of `n` places is that of `m` others. One and one are united.
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_tie_product(struct msim_size_learning *l,
                                       const uint32_t *left, uint32_t n,
                                       const uint32_t *right, uint32_t m);
/* Place `large` is `small` times a number that stays, rounded up if `round`:
 * what is shared out is. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_tie_times(struct msim_size_learning *l,
                                     uint32_t large, uint32_t small,
                                     bool round);

/* Place `whole` is the sum of `parts` and what is left. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_tie_sum(struct msim_size_learning *l, uint32_t whole,
                                   const uint32_t *parts, uint32_t n);

/* Place `part` is a part of `whole`. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_tie_share(struct msim_size_learning *l,
                                     uint32_t whole, uint32_t part);

/* A place of its own, for a number that no tensor has as a size. ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_add_place(struct msim_size_learning *l, int64_t size,
                                     uint32_t *place);

/* A place for how many elements a value has. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_count(struct msim_size_learning *l,
                                 const struct msim_size_value *v,
                                 uint32_t *place);

/* signature.c: what the operator's row says, or that of its kind. False: there
 * is none. */
bool msim_size_signature(struct msim_size_learning *l,
                         const struct msim_size_call *c);
/* Sizes in the same place from the right are one. */
void msim_size_spread(struct msim_size_learning *l,
                      const struct msim_size_call *c);

/* shapes.c: operators that give a tensor another shape. `*is` tells whether
 * this is one. */
MSIM_MUST_CHECK
enum msim_status msim_size_shape(struct msim_size_learning *l,
                                 const struct msim_size_call *c, bool *is);

/* flat.c: what shares storages with others: buckets, and tensors that no
 * operator made. */
MSIM_MUST_CHECK
enum msim_status msim_size_flat(struct msim_size_learning *l);

/* heads.c: what attention reads through views. Note a call; use all of them.
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_note_heads(struct msim_size_learning *l,
                                      const struct msim_size_call *c);
MSIM_MUST_CHECK
enum msim_status msim_size_tie_heads(struct msim_size_learning *l);

/* buckets.c: messages that are gradients one behind the other, although no
 * tensor shows it. Note a call; use all of them. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_size_note_bucket(struct msim_size_learning *l,
                                       const struct msim_size_call *c);
MSIM_MUST_CHECK
enum msim_status msim_size_tie_buckets(struct msim_size_learning *l);

/* alike.c: what is divided as another one of its class is. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_size_unite_alike(struct msim_size_learning *l);

/* roles.c: names for classes. */
MSIM_MUST_CHECK
enum msim_status msim_size_roles(struct msim_sizes *s);
/* tokens.c: samples times tokens of each are tokens in a row. */
void msim_size_name_tokens(struct msim_sizes *s);

#endif

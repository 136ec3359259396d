/*
 * core/rewrite/split/shares.h - a recorded step as one of several tensor
 * parallel ranks has it: what of each tensor is its share.
 *
 * Heads, the inside of MLPs and the vocabulary are divided; the width and the
 * size of a head stay. All other sizes follow (core/sizes). From that follows
 * where ranks meet:
 *
 *     mm([m, k], [k, n]), k divided    each rank has a part of the sum: the
 *                                      results are reduced
 *     table [v, h], v divided          likewise: each rank has its tokens' rows
 *
 * In sequence parallelism what stands between such products, as wide as the
 * model, has a share of the tokens on each rank (a row). A product that has a
 * divided size wants all rows: they are gathered before it, and where it makes
 * parts of sums in rows these are reduced and scattered.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_SHARES_H
#define MSIM_CORE_REWRITE_SPLIT_SHARES_H
#include "core/rewrite/split/expert_sizes.h"
#include "core/rewrite/weave/weave.h"

struct msim_shares {
    struct msim_sizes sizes;
    struct msim_expert_sizes experts;
    int64_t *to;             /* by class */
    struct msim_trace *view; /* the trace with these sizes */
    uint32_t ranks;
    uint8_t *rows;  /* by life of the weave: it has a share of the tokens */
    bool named;     /* operators say which sizes count tokens */
    bool split;     /* ranks share each expert, too */
    int64_t uneven; /* a number of tokens that ranks do not divide; 0: none */
};

/* How many tensor parallel ranks `t` is one of already, and whether they share
 * out tokens between products, too; 0: of none. These reduce what forward
 * makes; copies reduce gradients alone. */
uint32_t msim_shares_recorded_ranks(const struct msim_trace *t, bool *rows);

/* How many copies of it, which reduce gradients, a rank is one of already; 0:
 * of none, or of different numbers. */
uint32_t msim_shares_recorded_copies(const struct msim_trace *t);

/* Their group; only where there are such ranks. */
uint32_t msim_shares_recorded_group(const struct msim_trace *t);

/*
 * The sizes of `t` over `ranks`. In sequence parallelism, `rows`, each has all
 * experts and gives them its own tokens; or with `split` its share of each, to
 * which it gives the tokens of all (split/experts.h gathers them). Release in
 * any case. EUSAGE where they do not divide, or the trace does not say which
 * they are, with the reason in `err`; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_shares_find(struct msim_shares *s,
                                  const struct msim_trace *t, uint32_t ranks,
                                  bool rows, bool split,
                                  struct msim_error *err);
/* Which lives of `w`, a weave of the view, have a share of the tokens. EUSAGE
 * where these do not divide; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_shares_rows(struct msim_shares *s, struct msim_weave *w);
void msim_shares_release(struct msim_shares *s);

/* Does a size of the tensor with id `id` of `n` dimensions differ? */
bool msim_shares_is_divided(const struct msim_shares *s, uint32_t id,
                            uint32_t n);

/* The dimension that counts tokens of a tensor of `n`; where no operator says
 * which do, the last but one. NONE: none does. */
uint32_t msim_shares_tokens(const struct msim_shares *s, uint32_t id,
                            uint32_t n);

/* What ranks do at operator `op` of the view. */
enum msim_shares_meet {
    MSIM_SHARES_NOT,
    MSIM_SHARES_WHOLE, /* it wants all rows */
    MSIM_SHARES_SUM,   /* likewise, and what it makes is a part of a sum */
    MSIM_SHARES_MAX,   /* a maximum and a sum over what is divided, one of each
                        row */
    MSIM_SHARES_ROWS,  /* a sum of each row alone */
};
enum msim_shares_meet msim_shares_meet_at(const struct msim_shares *s,
                                          uint32_t op);

#endif

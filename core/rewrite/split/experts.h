/*
 * core/rewrite/split/experts.h - experts of a mixture: whose they are, how
 * large, and traces with them split or joined.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#include "core/rewrite/weave/weave.h"
#include "core/sizes/sizes.h"
#include "core/trace/trace.h"

/* ---- expert lives -------------------------------------------------------- */
/*
 * What of a step's memory is of experts, whom its gradients are reduced with,
 * and which statements are theirs.
 */

/* The group of ranks that have the same experts: its name. */
#define MSIM_EXPERTS_DATA_GROUP "expert data"

/* That group of `t`; NONE: no other rank has the same, or a rank is a group of
 * its own. */
uint32_t msim_experts_data_group(const struct msim_trace *t);

/*
 * By life: 1 where it is a parameter of experts (the second matrices of a
 * batched product), the gradient of one, or a state: what the optimizer names
 * with one of these at one place of its lists, or in one statement and as
 * large. The caller frees `*out`. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_expert_lives_find(uint8_t **out,
                                        const struct msim_weave *w);

/* Statements [first, last] of one direction: from the first product of a
 * block's experts to the last. */
struct msim_expert_region {
    uint32_t first, last;
    bool back;
};

struct msim_expert_regions {
    struct msim_expert_region *of;
    uint32_t n;
    uint32_t *at; /* by statement, an index of `of`; NONE: of none */
};

/* `product`: by operator, whether it is one of experts. Release in any case.
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_expert_regions_find(struct msim_expert_regions *x,
                                          const struct msim_weave *w,
                                          const uint8_t *product);
void msim_expert_regions_release(struct msim_expert_regions *x);

/* The statement that made `life`; NONE: none was seen to. */
uint32_t msim_expert_maker(const struct msim_weave *w, uint32_t life);
/* Is it of the region? */
bool msim_expert_region_makes(const struct msim_weave *w,
                              const struct msim_expert_region *r,
                              uint32_t life);

/* Does the operator multiply several matrices by several others? */
bool msim_is_batched_product(const struct msim_trace *t, uint32_t op);

/* ---- expert sizes -------------------------------------------------------- */
/*
 * Which sizes of a trace count experts, and the rows that they are given.
 *
 * Weights of several experts are one tensor, and one operator multiplies by all
 * of them:
 *
 *     bmm([e, m, k], [e, k, n]) -> [e, m, n]      m rows for each of e experts
 *     _grouped_mm([r, k], [e, k, n]) -> [r, n]    r rows of all of them
 *
 * What is routed to them is a tensor of r = e x m rows, which others read so.
 */

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

/* ---- experts ------------------------------------------------------------- */
/*
 * Experts spread over ranks that have different tokens: each has some of the
 * experts, and rows go to where theirs are.
 *
 *     forward                     backward
 *     permute        own rows     ...            own rows
 *     all_to_all     to experts   all_to_all     to experts
 *     bmm, ..., bmm               bmm, ..., bmm
 *     all_to_all     and back     all_to_all     and back
 *
 * These ranks are copies of all but the experts, which reduce their gradients
 * over those ranks alone that have the same ones.
 *
 * Tensor parallel ranks may share each expert. They gather what these are
 * given, and scatter sums of what they make: tokens, or with ranks that have
 * different experts the rows that each was sent.
 *
 *     all_gather     tokens       permute        own rows
 *     permute        all rows     all_to_all     to experts
 *     bmm, ..., bmm               all_gather     all rows
 *     reduce_scatter tokens       bmm, ..., bmm
 *                                 reduce_scatter own rows
 *                                 all_to_all     and back
 */

/* Ranks that have different experts, and how many copies there are, of which
 * these are: data parallel ones, each on so many that share sequences. */
struct msim_experts_how {
    uint32_t ranks, dp, cp;
    uint32_t tp;     /* tensor parallel ranks that were made; 0: as recorded */
    uint32_t shares; /* of these, that share each expert: 1, or all; whole ones
                        are on tensor parallel ranks, too */
    bool said;       /* that is stated */
};

/*
 * A rank's share of `t` where how->ranks ranks have the experts. On success the
 * caller owns `*out` (msim_trace_free()); NULL: there are none, and none are
 * asked for. EUSAGE, with what was found, where
 * there are no experts, they do not divide, or copies are not a multiple of
 * how->ranks; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_experts_spread_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         const struct msim_experts_how *how,
                                         struct msim_error *err);

/* ---- experts joined ------------------------------------------------------ */
/*
 * More experts a rank: those of several recorded ranks.
 *
 * Rows are exchanged among fewer ranks, or by one with nobody; more ranks have
 * the same experts, and reduce gradients of these together.
 */

/* Over how many ranks the experts of `t` are spread already; 0: it has none, or
 * they are on each. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_experts_recorded_ranks(uint32_t *out,
                                             const struct msim_trace *t);

/*
 * A rank of `t` with the experts of `ratio` ranks, which divides the recorded
 * number. On success the caller owns `*out` (msim_trace_free()), and where no
 * rank had the same experts the group of those that do now
 * ("expert lives") has no messages yet. EUSAGE, with what was found; ENOMEM,
 * ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_experts_joined_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         uint32_t ratio,
                                         struct msim_error *err);

/* ---- shares -------------------------------------------------------------- */
/*
 * A recorded step as one of several tensor parallel ranks has it: what of each
 * tensor is its share.
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

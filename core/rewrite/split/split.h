/*
 * core/rewrite/split/split.h - which rank has what of a step that several
 * share: places of tensors, owners, groups; halves, and wholes again.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_SPLIT_H
#define MSIM_CORE_REWRITE_SPLIT_SPLIT_H
#include "core/rewrite/weave/weave.h"
#include "core/trace/trace.h"

/* ---- context ------------------------------------------------------------- */
/*
 * A recorded step as one of several context parallel ranks runs it: each has so
 * many tokens of every sequence, and keys and values of all of them for
 * attention.
 *
 *     linear      S / n tokens                 linear     S / n
 *     all_gather  keys and values of S         all_gather keys and values of S
 *     attention                                attention  backward
 *     linear      S / n                        reduce_scatter their gradients
 *                                              linear     S / n
 *
 * A rank has two pieces of a sequence, one from each end, so that all have as
 * many pairs of the causal half: S^2 / n of S^2, those of a sequence that is
 * shorter by the root of n. As such its attention stands in the trace, as in
 * what is written of a described job (plan/synth).
 */

/* `t` with sequences of one rank of `ranks`. On success the caller owns `*out`
 * (msim_trace_free()). EUSAGE where `t` cannot be split so, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_context_shorten_new(struct msim_trace **out,
                                          const struct msim_trace *t,
                                          struct msim_strtab *strings,
                                          uint32_t ranks,
                                          struct msim_error *err);

/* Attention of such a trace, and what `ranks` ranks exchange for it, each
 * `step` behind the one before. EUSAGE where it does not stand by itself;
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_context_exchange(struct msim_weave *w, uint32_t ranks,
                                       uint32_t step);

/* ---- halves -------------------------------------------------------------- */
/*
 * Which operators of a backward pass are for gradients of what layers are
 * given, and which for those of weights alone.
 *
 *     MmBackward: mm (for the layer before)   inputs
 *                 mm (the weight's gradient)  weights
 *     AccumulateGrad                          weights
 *
 * What a gradient of weights is cast or copied from is for weights, too; what
 * it is a product or a sum of is a gradient of inputs, also where the first
 * layer has nobody to give that to.
 */

#define MSIM_HALF_INPUTS  1
#define MSIM_HALF_WEIGHTS 2
#define MSIM_HALF_BOTH    3

/* By operator, of which half it is: of both where those below it are. All that
 * is not backward is of both. `half` has room for all. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_halves_find(const struct msim_weave *w, uint8_t *half);

/* ---- joined -------------------------------------------------------------- */
/*
 * The trace of one of several tensor parallel ranks as that of one of fewer,
 * which have larger shares.
 *
 *     8 heads of 32, rows 512 of 2048, 4 ranks     as 2 ranks: 16 heads, rows
 *                                                  1024
 *                                                  as one: 32 heads, all rows
 *
 * Where one rank remains it exchanges nothing: what it gathered or scattered is
 * what it has.
 */

/* That of a rank with the shares of `ratio` recorded ones, which divides their
 * number. On success the caller owns `*out` (msim_trace_free()). EUSAGE where
 * the trace does not say which of its sizes are shares, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_joined_new(struct msim_trace **out,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings, uint32_t ratio,
                                 struct msim_error *err);

/* ---- places -------------------------------------------------------------- */
/*
 * A recorded pass cut into places: what one chunk of layers of one pipeline
 * stage does of it, and what goes from one place to the next.
 *
 * Chunk c of stage s is place c * stages + s on a micro batch's way. The blocks
 * of layers (weave/weave.h) are spread over the places; what is before the
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

/* ---- owners -------------------------------------------------------------- */
/*
 * Of which place the tensors of an optimizer's step are: parameters, gradients,
 * states, and what the step makes of them.
 *
 * A parameter is where forward reads it, a gradient where it is kept. The step
 * names them together with all else of the same parameter: at one index of the
 * lists of one operator, or in one statement:
 *
 *     _fused_adamw_([p0, p1], [g0, g1], [m0, m1], ...)    m1 is where p1 is
 *     addcdiv_(p0, m0, v0)                                so is v0, where p0 is
 */

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

/* ---- rank groups --------------------------------------------------------- */
/*
 * The ranks of a recorded job once more for each data parallel rank and each
 * stage of a pipeline, and their groups.
 *
 * Ranks count the recorded ones first, then data parallel ones, then stages:
 *
 *     2 recorded, dp 2, pp 2    stage 0: 0 1 | 2 3    stage 1: 4 5 | 6 7
 *
 * The first data parallel rank of each stage is made; it stands for all.
 */

struct msim_rank_layout {
    uint32_t recorded, dp, stages, stage;
};

/* The draft's rank, and the groups that the recorded trace names. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_begin(struct msim_weave *w,
                                        const struct msim_rank_layout *l);

/* What the recorded messages name, once all are copied. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_end(struct msim_weave *w,
                                      const struct msim_rank_layout *l);

/* A group of the rank and the same one of another stage, called `kind` and the
 * lesser of both; `*place` is the other's in it. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_pair(struct msim_weave *w,
                                       const struct msim_rank_layout *l,
                                       const char *kind, uint32_t stage,
                                       uint32_t *group, int32_t *place);

/* ---- tied ---------------------------------------------------------------- */
/*
 * Parameters that two places share, such as a table that embedding and head
 * have in common.
 *
 * Autograd adds up what both make, and keeps the sum where the last of them is:
 *
 *     place 1    mm            a gradient of the table, from the head
 *     place 0    embedding_dense_backward, add, AccumulateGrad
 *
 * On stages each has a table of its own and adds up its own gradients; the two
 * stages reduce them before the step, so that both tables stay the same.
 */

/* Crossings that are gradients of such parameters are no crossings, but tied.
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_tied_find(struct msim_places *p);

/* The groups of both stages, and the storages of sums. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_tied_begin(struct msim_places *p,
                                 const struct msim_rank_layout *l);

/* Storages of micro batch `batch`, once those of all other lives are set. */
void msim_tied_put(const struct msim_places *p, uint32_t pass, uint32_t batch);

/* Is statement `s` one that adds up what two places make? It is left out. */
bool msim_tied_leaves_out(const struct msim_places *p, uint32_t s);

/* Behind statement `s` of micro batch `batch`: the sum. */
MSIM_MUST_CHECK
enum msim_status msim_tied_add(const struct msim_places *p, uint32_t s,
                               uint32_t batch);

/* Before the step: both stages reduce, and the optimizer has the sum. */
MSIM_MUST_CHECK
enum msim_status msim_tied_reduce(const struct msim_places *p,
                                  const struct msim_rank_layout *l,
                                  struct msim_draft_place at);

/* ---- whole --------------------------------------------------------------- */
/*
 * The stages of a recorded pipeline as one rank that has all layers.
 *
 *     stage 0   F0 send F1 send recv B0 recv B1 step       F0 F0' B0' B0
 *     stage 1   recv F0' B0' send recv F1' B1' send step   F1 F1' B1' B1 step
 *
 * Micro batches run one after the other, forward and backward; what one stage
 * sent is what the next one reads. Lists of the optimizer are those of all
 * stages.
 */

/* How many stages of one pipeline are among traces `ts`, each with a message
 * to the next; 0: none are. */
uint32_t msim_whole_stages(const struct msim_trace *const *ts, uint32_t n);

/* That of traces `ts`, one a stage, in whatever order. On success the caller
 * owns `*out` (msim_trace_free()). EUSAGE where they are not all stages of one
 * pipeline, or exchange more than messages, with the reason in `err`; ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_whole_new(struct msim_trace **out,
                                const struct msim_trace *const *ts, uint32_t n,
                                struct msim_strtab *strings,
                                struct msim_error *err);

#endif

/*
 * core/rewrite/weave/weave.h - one change of a recorded step on its way: the
 * trace, what it is made of, and the draft of the changed one.
 *
 * A change walks the trace in the order of entry. Labels are copied; for each
 * statement it decides what stands there: a copy, several, others around it.
 *
 *     status = msim_weave_open(&w, t, strings, err);
 *     if (status == MSIM_OK)
 *         status = msim_weave_walk(&w, &ctx, visit);   visit(ctx, statement)
 *     if (status == MSIM_OK)
 *         status = msim_weave_finish(&w, &out);
 *     msim_weave_close(&w);
 */
#ifndef MSIM_CORE_REWRITE_WEAVE_WEAVE_H
#define MSIM_CORE_REWRITE_WEAVE_WEAVE_H
#include "core/rewrite/weave/anatomy.h"
#include "core/rewrite/weave/draft.h"

enum msim_life_kind {
    MSIM_LIFE_OTHER,
    MSIM_LIFE_PARAMETER, /* there before; forward reads it, a step updates it */
    MSIM_LIFE_GRADIENT,  /* what AccumulateGrad keeps */
    MSIM_LIFE_STATE,     /* only steps of the optimizer name it */
};

struct msim_weave {
    const struct msim_trace *t;
    struct msim_draft d;
    struct msim_anatomy a;
    uint8_t *kind;      /* by life: enum msim_life_kind */
    uint32_t *gradient; /* by statement: the life that its AccumulateGrad keeps,
                           or NONE */
    const bool *elsewhere; /* by operator, or NULL: what stands outside of all
                              statements and is made with one of them */
    struct msim_error *err;
};

/* Close in any case. EUSAGE, with the reason, where `t` holds no training step
 * or no execution trace; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_weave_open(struct msim_weave *w,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings,
                                 struct msim_error *err);
/* Likewise of a trace of a forward pass alone, which is one pass without
 * backward. */
MSIM_MUST_CHECK
enum msim_status msim_weave_open_forward(struct msim_weave *w,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         struct msim_error *err);
void msim_weave_close(struct msim_weave *w);

typedef enum msim_status msim_weave_visit_fn(void *ctx, uint32_t statement);
MSIM_MUST_CHECK
enum msim_status msim_weave_walk(struct msim_weave *w, void *ctx,
                                 msim_weave_visit_fn *visit);
MSIM_MUST_CHECK
enum msim_status msim_weave_finish(struct msim_weave *w,
                                   struct msim_trace **out);

/* Where the copy of a statement stands by itself. */
struct msim_draft_place msim_weave_place(const struct msim_weave *w,
                                         uint32_t statement);

/* A copy of a statement where it stands, and one anywhere. */
MSIM_MUST_CHECK
enum msim_status msim_weave_copy(struct msim_weave *w, uint32_t statement);
MSIM_MUST_CHECK
enum msim_status msim_weave_copy_as(struct msim_weave *w, uint32_t statement,
                                    const struct msim_draft_how *how);

/* It runs once more: what it makes is other memory, which later copies name. */
MSIM_MUST_CHECK
enum msim_status msim_weave_again(struct msim_weave *w, uint32_t statement,
                                  struct msim_draft_place at);

/* An operator that holds what follows; `*place` is inside it. */
MSIM_MUST_CHECK
enum msim_status msim_weave_hold(struct msim_weave *w, const char *name,
                                 struct msim_draft_place at,
                                 struct msim_draft_place *place);

/* Does the name of operator `op` begin with `with`, contain `part`? */
bool msim_weave_begins(const struct msim_weave *w, uint32_t op,
                       const char *with);
bool msim_weave_contains(const struct msim_weave *w, uint32_t op,
                         const char *part);
/* Does it change what it is given (a name that ends in _)? */
bool msim_weave_is_in_place(const struct msim_weave *w, uint32_t op);

/* The gradient that the AccumulateGrad of statement `s` is given, as tensor
 * `arg` of operator `op` on life `life`; false where no operator names it. */
struct msim_weave_given {
    uint32_t accumulate, op, life;
    const struct msim_arg *arg;
};
bool msim_weave_find_given(const struct msim_weave *w, uint32_t s,
                           struct msim_weave_given *out);

/* Was the gradient that statement `s` keeps made in this pass? Else the trace
 * accumulates already. */
bool msim_weave_makes_gradient(const struct msim_weave *w, uint32_t s);

/* Statement `s` of a further micro batch: without what is below AccumulateGrad,
 * and the sum there, into `storage`. */
MSIM_MUST_CHECK
enum msim_status msim_weave_add_up(struct msim_weave *w, uint32_t s,
                                   uint32_t storage);

/* Is the statement in a step of the optimizer (not in its zero_grad)? */
bool msim_weave_is_step(const struct msim_weave *w, uint32_t statement);

/* The group of data parallel ranks, where a change made one: its name begins
 * so. */
#define MSIM_WEAVE_DATA_GROUP "data parallel"

/* The changed trace is of one of `world` ranks, of which collectives are; those
 * of a group of data parallel ranks are of that. EUSAGE where no number is
 * given or the recorded one is of several already. */
MSIM_MUST_CHECK
enum msim_status msim_weave_spread(struct msim_weave *w, uint32_t world);

/* "TEXT": why the trace cannot be changed so. Returns EUSAGE. */
MSIM_PRINTF(2, 3)
enum msim_status msim_weave_refuse(struct msim_weave *w, const char *fmt, ...);

#endif

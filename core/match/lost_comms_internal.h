/*
 * core/match/lost_comms_internal.h - what the files of core/match share; no
 * other room includes it.
 */
#ifndef MSIM_CORE_MATCH_LOST_COMMS_INTERNAL_H
#define MSIM_CORE_MATCH_LOST_COMMS_INTERNAL_H
#include "core/base/containers.h"
#include "core/trace/trace.h"

/* ---- same calls ---------------------------------------------------------- */
/*
 * Which calls of two ranks are one collective, or the two ends of one message,
 * where neither has a number.
 *
 * Two calls can be one where their kinds and sizes agree and, of a collective
 * that nobody leaves before all have come, where both were on their GPUs at one
 * time.
 */

/* A call of one rank. */
struct msim_match_call {
    uint64_t group;
    int64_t span;  /* what of the recording it is in */
    int64_t place; /* when it was launched */
    double part;   /* of its span that was over by then */
    msim_ps from,
        to; /* on the GPU, on a clock of the job; from > to: unknown */
    const struct msim_comm *is;
    uint32_t rank, comm;
    struct msim_match_call *as; /* the same, of the first rank that has it */
    int64_t number;
};

/* Those of one span, of some ranks and of one more, in order of launch. */
struct msim_match_lists {
    struct msim_match_call **list, **other;
    uint32_t n, m;
};

/* Is it known when it ran, and does no rank leave it before all have come? */
bool msim_match_is_timed(const struct msim_match_call *c);

/* How many of the nth can be the nth. */
uint32_t msim_match_in_order(const struct msim_match_lists *l);

/* How many can be one at most if their order holds in both lists. */
MSIM_MUST_CHECK
enum msim_status msim_match_count(const struct msim_match_lists *l,
                                  uint32_t *n);

/* Has each call one that it can be, if none keeps its order? */
MSIM_MUST_CHECK
enum msim_status msim_match_any_order(const struct msim_match_lists *l,
                                      bool *all);

/*
 * Add the other list to the list, which has room for both: as many as can are
 * one; of several ways that whose launches lie at the most similar parts of
 * their spans. `as` of the other's calls says which they are.
 */
MSIM_MUST_CHECK
enum msim_status msim_match_join(struct msim_match_lists *l);

/* ---- rank calls ---------------------------------------------------------- */
/* The collectives and messages of one rank, as others look for the same. */

/*
 * Add to `out` (struct msim_match_call) those of `t`, which is rank `rank` of
 * `n_ranks` by its place in the job. Spans are 0 before the first step, 2 i + 1
 * of step i, and 2 i + 2 behind it, for calls that are launched before the
 * next. A recording without marks of steps is one.
 */
MSIM_MUST_CHECK
enum msim_status msim_match_rank_calls(const struct msim_trace *t,
                                       uint32_t rank, uint32_t n_ranks,
                                       struct msim_vec *out);

#endif

/*
 * core/rewrite/split/experts.h - experts spread over ranks that have different
 * tokens: each has some of the experts, and rows go to where theirs are.
 *
 *     forward                     backward
 *     permute        own rows     ...            own rows
 *     all_to_all     to experts   all_to_all     to experts
 *     bmm, ..., bmm               bmm, ..., bmm
 *     all_to_all     and back     all_to_all     and back
 *
 * These ranks are copies of all but the experts, which reduce their gradients
 * over those ranks alone that have the same ones.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#include "core/rewrite/weave/weave.h"

/* Ranks that have different experts, and how many copies there are, of which
 * these are: data parallel ones, each on so many that share sequences. */
struct msim_experts_how {
    uint32_t ranks, dp, cp;
};

/*
 * A rank's share of `t` where how->ranks ranks have the experts. On success the
 * caller owns `*out` (msim_trace_free()). EUSAGE, with what was found, where
 * there are no experts, they do not divide, or copies are not a multiple of
 * how->ranks; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_experts_spread_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         const struct msim_experts_how *how,
                                         struct msim_error *err);

#endif

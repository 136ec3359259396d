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
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERTS_H
#include "core/rewrite/weave/weave.h"

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

#endif

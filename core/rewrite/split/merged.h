/*
 * core/rewrite/split/merged.h - statements of several stages' traces, which are
 * one behind the other (lined_up.h), as those of one rank.
 *
 * Labels around them are opened once for all that follow each other in labels
 * called the same. A step on lists that all stages have is one, whose lists are
 * theirs, stage after stage.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_MERGED_H
#define MSIM_CORE_REWRITE_SPLIT_MERGED_H
#include "core/rewrite/weave/weave.h"

#define MSIM_MERGED_LABELS 64

struct msim_merged {
    struct msim_weave *w;
    struct {
        uint32_t op, out; /* of the trace, and its copy */
    } open[MSIM_MERGED_LABELS];
    uint32_t n_open;
    uint32_t *at, *id; /* by stage: the argument, and the tensor at hand */
    struct msim_draft_part *parts;
    uint32_t n_parts, cap_parts;
};

/* Close in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_merged_open(struct msim_merged *m, struct msim_weave *w,
                                  uint32_t stages);
void msim_merged_close(struct msim_merged *m);

/* Labels below that of a step are opened anew. */
void msim_merged_anew(struct msim_merged *m);

/* A copy of statement `s`. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_merged_copy(struct msim_merged *m, uint32_t s);

/* `n` statements of each of `stages` stages: where all of them are called the
 * same as those of the next and have lists, they are one each; else one stage
 * after the other. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_merged_region(struct msim_merged *m, const uint32_t *list,
                                    uint32_t n, uint32_t stages);

#endif

/*
 * core/rewrite/split/split_internal.h - what the files of core/rewrite/split
 * share; no other room includes it.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_SPLIT_INTERNAL_H
#define MSIM_CORE_REWRITE_SPLIT_SPLIT_INTERNAL_H
#include "core/rewrite/weave/weave.h"
#include "core/sizes/sizes.h"
#include "core/trace/trace.h"

/* ---- lined up ------------------------------------------------------------ */
/*
 * Traces of several ranks one behind the other, as if one rank had run them
 * all.
 *
 * Operators of trace k are [first[k], first[k + 1]). Nothing is shared:
 * tensors, storages and autograd's numbers of one are none of another. Groups
 * are left out, and so are times.
 */

/* `first` has room for n + 1. On success the caller owns `*out`
 * (msim_trace_free()). ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_lined_up_new(struct msim_trace **out, uint32_t *first,
                                   const struct msim_trace *const *ts,
                                   uint32_t n);

/* ---- merged -------------------------------------------------------------- */
/*
 * Statements of several stages' traces, which are one behind the other
 * ("lined up"), as those of one rank.
 *
 * Labels around them are opened once for all that follow each other in labels
 * called the same. A step on lists that all stages have is one, whose lists are
 * theirs, stage after stage.
 */

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

/* ---- resizing ------------------------------------------------------------ */
/*
 * A step with other sizes, and what is made of that: sizes are learnt, some are
 * given, the others follow, and a change walks the step that has them.
 *
 *     status = msim_resizing_learn(&c.r, t, &why);
 *     ...                                             c.r.to, by class
 *     status = msim_resizing_open(&c.r, strings, &why);
 *     ...                                             c.r.w is walked
 *     return msim_resizing_end(&c.r, status, "parallel.cp is 2", &why, err);
 */

struct msim_resizing {
    struct msim_sizes sizes;
    int64_t *to;             /* by class; 0: what follows */
    struct msim_trace *view; /* the step with these sizes */
    struct msim_weave w;     /* of the view */
};

/* The sizes of `t`, which must live as long. EUSAGE, with the reason; ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_resizing_learn(struct msim_resizing *r,
                                     const struct msim_trace *t,
                                     struct msim_error *why);

/* The step with sizes `to`, all of which are given. EUSAGE, with the reason;
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_resizing_open(struct msim_resizing *r,
                                    struct msim_strtab *strings,
                                    struct msim_error *why);

/* Release it, in any case, and return `status`: of EUSAGE `err` has what was
 * asked for, a sentence's begin, before the reason `why`. */
MSIM_MUST_CHECK
enum msim_status msim_resizing_end(struct msim_resizing *r,
                                   enum msim_status status, const char *asked,
                                   const struct msim_error *why,
                                   struct msim_error *err);

#endif

/*
 * core/rewrite/split/resizing.h - a step with other sizes, and what is made of
 * that: sizes are learnt, some are given, the others follow, and a change walks
 * the step that has them.
 *
 *     status = msim_resizing_learn(&c.r, t, &why);
 *     ...                                             c.r.to, by class
 *     status = msim_resizing_open(&c.r, strings, &why);
 *     ...                                             c.r.w is walked
 *     return msim_resizing_end(&c.r, status, "parallel.cp is 2", &why, err);
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_RESIZING_H
#define MSIM_CORE_REWRITE_SPLIT_RESIZING_H
#include "core/rewrite/weave/weave.h"
#include "core/sizes/sizes.h"

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

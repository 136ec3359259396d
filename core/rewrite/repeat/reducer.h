/*
 * core/rewrite/repeat/reducer.h - buckets in which DDP's reducer sums gradients
 * over ranks, made anew for other gradients.
 *
 * A bucket has gradients of several blocks, and is sent behind the last of
 * them:
 *
 *     AccumulateGrad g1   mul_out (into the bucket)
 *     AccumulateGrad g2   mul_out  allreduce_
 *     ...
 *     behind backward     as_strided 1, as_strided 2, copy_ g1, copy_ g2
 *
 * So no two blocks are alike. With buckets apart each gradient has one of its
 * own, what is behind backward goes gradient by gradient, and the last message
 * stays, so that another change may repeat blocks. Put together again, buckets
 * are filled by PyTorch's rule (Reducer::rebuild_buckets): gradients in the
 * order in which they become ready, and a bucket is full as soon as it has its
 * size. How large that is follows from the recorded ones: a full bucket has
 * reached it, and had not without its last gradient.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_REDUCER_H
#define MSIM_CORE_REWRITE_REPEAT_REDUCER_H
#include "core/rewrite/repeat/bucketed.h"

/*
 * `t` with buckets of one gradient each; `*out` NULL where it has no buckets of
 * several gradients, or none that are filled by the rule. `caps` 0: they are
 * found. The caller owns `*out` (msim_trace_free()); EUSAGE where `t` is no
 * training step; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_reducer_apart(struct msim_trace **out,
                                    const struct msim_trace *t,
                                    struct msim_strtab *strings,
                                    struct msim_bucket_caps *caps,
                                    struct msim_error *err);

/* A trace whose buckets are apart with such of these sizes. Likewise. */
MSIM_MUST_CHECK
enum msim_status msim_reducer_together(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_bucket_caps *caps,
                                       struct msim_error *err);

/*
 * Would buckets of `t` have other gradients with the sizes of `view`, a view of
 * it? `*caps` are those of `t`; 0: it has none that are filled by the rule.
 * ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_reducer_differ(bool *differ,
                                     struct msim_bucket_caps *caps,
                                     const struct msim_trace *t,
                                     const struct msim_trace *view,
                                     struct msim_strtab *strings);

#endif

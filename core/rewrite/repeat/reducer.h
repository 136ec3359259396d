/*
 * core/rewrite/repeat/reducer.h - gradients in buckets: what a recorded step
 * has of them, and those of another one.
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_REDUCER_H
#define MSIM_CORE_REWRITE_REPEAT_REDUCER_H
#include "core/base/containers.h"
#include "core/rewrite/weave/weave.h"

/* ---- bucketed ------------------------------------------------------------ */
/*
 * Which gradients stand in which of DDP's buckets, and at which size a bucket
 * is full.
 *
 * In the statement of its AccumulateGrad a gradient is written to its part of a
 * bucket, memory that is there all the time; with the last of them the bucket
 * is sent. What names parts behind backward are steps of theirs ("reducer").
 */

/* PyTorch's defaults, as torch/csrc/distributed/c10d/reducer.hpp and the
 * documentation of DistributedDataParallel state them. */
#define MSIM_BUCKET_FIRST_MIB 1.0  /* kDefaultFirstBucketBytes */
#define MSIM_BUCKET_MIB       25.0 /* bucket_cap_mb */

/* Bytes at which a bucket is full: the first one of a pass, and others. */
struct msim_bucket_caps {
    int64_t first, others;
};

/* In the order in which gradients become ready. */
struct msim_bucketed_gradient {
    uint32_t pass, life; /* of its bucket */
    int64_t offset;      /* there */
    int64_t elems, bytes;
    uint32_t message;             /* sends the bucket, or NONE */
    uint32_t first_step, n_steps; /* in `steps` */
    uint32_t bucket, storage;     /* as it is to be, and where it begins */
    int64_t at;
    uint8_t dtype;
};

struct msim_bucketed_one {
    uint32_t pass, first, n; /* gradients */
    int64_t elems;
};

struct msim_bucketed {
    const struct msim_weave *w;
    struct msim_bucketed_gradient *gradients;
    struct msim_bucketed_one *buckets;
    uint32_t n, cap, n_buckets, cap_buckets;
    uint32_t *of;    /* by statement: its gradient, or NONE */
    uint32_t *steps; /* statements behind backward, gradient by gradient */
    bool *strays; /* by operator: a backend's own thread sends a bucket there,
                     below whatever goes on meanwhile */
    bool *is_bucket;            /* by life */
    struct msim_idmap parts_of; /* life and place -> the gradient there */
    bool clash;                 /* two of a pass are at one place */
};

/* Gradients of `r->w`, an open weave; all else is zero. Release in any case.
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_bucketed_find(struct msim_bucketed *r);
void msim_bucketed_release(struct msim_bucketed *r);

/* Buckets as they are recorded: each ends with a message. `*are`: there are
 * some, of several gradients in their order, and nothing else names them.
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_bucketed_recorded(struct msim_bucketed *r, bool *are);

/* Which sizes made the recorded buckets: PyTorch's own where they did; else one
 * for all of them, as a program asks for; else the first is PyTorch's. False:
 * none did. */
bool msim_bucketed_caps(const struct msim_bucketed *r,
                        struct msim_bucket_caps *caps);

/* Buckets by such sizes instead. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_bucketed_fill(struct msim_bucketed *r,
                                    const struct msim_bucket_caps *caps);

/* The gradient that tensor `id` is the part of a bucket of, or NONE. */
uint32_t msim_bucketed_part(const struct msim_bucketed *r, uint32_t id);

/* Of as_strided() a whole bucket goes in, and a part comes out. */
bool msim_bucketed_is_strided(const struct msim_bucketed *r, uint32_t op);

/* The life that operator `op` is given first, or NONE. */
uint32_t msim_bucketed_given(const struct msim_bucketed *r, uint32_t op);

/* What a message sends, on life `*life`: elements. */
int64_t msim_bucketed_sent(const struct msim_bucketed *r, uint32_t message,
                           uint32_t *life);

/* ---- reducer ------------------------------------------------------------- */
/*
 * Buckets in which DDP's reducer sums gradients over ranks, made anew for other
 * gradients.
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

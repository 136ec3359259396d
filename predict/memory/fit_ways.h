/*
 * predict/memory/fit_ways.h - what would make a job fit that does not: known
 * changes, each with the peak that it would have.
 *
 * Nothing is guessed: every change is made (core/reshape, core/rewrite) and the
 * memory of the changed traces is found as that of the job was. The batch is
 * the largest that fits, found by bisection.
 */
#ifndef MSIM_PREDICT_MEMORY_FIT_WAYS_H
#define MSIM_PREDICT_MEMORY_FIT_WAYS_H
#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "predict/memory/rank_memory.h"

struct msim_fit_change {
    struct msim_reshape reshape;
    struct msim_rewrite rewrite;
};

/* A job that does not fit: its ranks, as they are asked, and what they were
 * made of, so that a change is made together with those that were asked. */
struct msim_fit_job {
    struct msim_trace *const *ranks;
    struct msim_trace *const *origins; /* `ranks`, where `made` is nothing */
    struct msim_fit_change made;
    struct msim_strtab *strings;
    const struct msim_platform *platform;
    const struct msim_rank_memory *memory;
};

#define MSIM_FIT_WAYS     32
#define MSIM_FIT_WAY_TEXT 96

struct msim_fit_way {
    char change[MSIM_FIT_WAY_TEXT]; /* "batch 16 instead of 64" */
    struct msim_memory_peak peak;   /* of the rank that then reserves most of
                                       those that do not fit now */
    double needed;                  /* of its GPU's memory */
    bool fits;
};

struct msim_fit_ways {
    struct msim_fit_way ways[MSIM_FIT_WAYS];
    uint32_t n;
};

/* Changes of one kind, the smallest first; where none of them is enough, of
 * two. A change that the traces do not allow is left out. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_fit_ways_find(struct msim_fit_ways *out,
                                    const struct msim_fit_job *job);

/* Into the prediction, in its arena. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_fit_ways_note(const struct msim_fit_ways *w,
                                    struct msim_prediction *p);

/* Does the job that `m` is the memory of not fit? */
bool msim_rank_memory_exceeds(const struct msim_rank_memory *m);

#endif

/*
 * predict/memory/rank_memory.h - the memory of a rank: by its tensors, beside
 * them, and what would make it fit.
 */
#ifndef MSIM_PREDICT_MEMORY_RANK_MEMORY_H
#define MSIM_PREDICT_MEMORY_RANK_MEMORY_H
#include "core/graph/graph.h"
#include "core/job/job.h"
#include "core/memory/life_memory.h"
#include "core/report/analyse/prediction.h"
#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "core/trace/trace.h"
#include "models/platform/platform.h"

/* ---- rank beside --------------------------------------------------------- */
/*
 * What a rank of a traced job holds beside its tensors: CUDA's context, and
 * NCCL's buffers for every group that its trace communicates in.
 *
 * A trace that counts no groups has one: all ranks. Groups that only send and
 * receive have buffers for as many peers as the trace names, two where it names
 * none.
 */

/* Of a rank on `platform`; a CPU, or NULL: nothing. */
struct msim_beside msim_rank_beside(const struct msim_trace *t,
                                    const struct msim_platform *platform);

/* ---- rank memory --------------------------------------------------------- */
/* The memory of the ranks of a job. */

struct msim_held_rank {
    bool known; /* it has an execution trace that names tensors */
    struct msim_memory_peak peak;
    struct msim_beside beside;
    struct msim_memory_line line;
    uint32_t ops[MSIM_MEMORY_POINTS]; /* by point of the line: the operator, or
                                         NONE: after all */
};

struct msim_rank_memory {
    struct msim_held_rank *ranks;
    uint32_t n;
    uint32_t most; /* the rank that reserves most, an index; NONE: not known */
    double capacity; /* that programs get of the platform's memory; NAN: as
                        traced */
    /* What was made of the traces' own peaks, and the 90 % interval, as factors
     * of a peak and of what is reserved for it. */
    double factor, low, high, reserved_high;
    bool as_measured; /* by msim_rank_memory_scale() */
};

/* What a rank takes of its GPU's memory: as reserved, and beside that. */
double msim_rank_needs(const struct msim_held_rank *r);

/* Of `n` ranks on `platform`, NULL: the traced device. Release in any case.
 * ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_rank_memory_find(struct msim_rank_memory *out,
                                       struct msim_trace *const *ranks,
                                       uint32_t n,
                                       const struct msim_platform *platform);
void msim_rank_memory_release(struct msim_rank_memory *m);

/* Multiply all that is held: measured jobs hold so much (predict/
 * pipeline.h), with the interval `low` to `high`, as factors. What is
 * reserved beyond a peak is in it. */
void msim_rank_memory_scale(struct msim_rank_memory *m, double factor,
                            double low, double high);
/* The peak of a changed trace likewise. */
void msim_rank_memory_scale_peak(const struct msim_rank_memory *m,
                                 struct msim_memory_peak *peak);

/* The peak of the rank that holds most, with its 90 % interval; bytes. */
struct msim_held_most {
    double peak, low, high, by[MSIM_HELD_COUNT];
    double reserved, reserved_high; /* for it, and of its interval */
    struct msim_beside beside;
};
/* False where no rank's is known. */
bool msim_rank_memory_most(const struct msim_rank_memory *m,
                           struct msim_held_most *out);

/* The peak of one trace there. */
MSIM_MUST_CHECK
enum msim_status msim_trace_memory(struct msim_memory_peak *peak,
                                   const struct msim_trace *t,
                                   const struct msim_platform *platform);

/*
 * Into the prediction, in its arena: the rank that holds most, and every rank's
 * in `ranks_detail`. With the graph and the starts of its tasks in a run, also
 * when operators begin, so that there are time lines; NULL: without. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_rank_memory_note(const struct msim_rank_memory *m,
                                       const struct msim_graph *g,
                                       const msim_ps *start,
                                       struct msim_prediction *p);

/* What the traces of the job recorded in one of its iterations, by index, or in
 * all of them (UINT32_MAX), beside that. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_memory_recorded(const struct msim_graph *g,
                                           uint32_t iteration,
                                           struct msim_prediction *p);

/* ---- fit ways ------------------------------------------------------------ */
/*
 * What would make a job fit that does not: known changes, each with the peak
 * that it would have.
 *
 * Nothing is guessed: every change is made (core/reshape, core/rewrite) and the
 * memory of the changed traces is found as that of the job was. The batch is
 * the largest that fits, found by bisection.
 */

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

/*
 * plan/memory/peak_memory.h - the peak memory of one rank of a described job.
 *
 * Of the first pipeline stage, which has most micro batches in flight:
 *
 *     parameters, gradients and optimizer state, sharded as ZeRO says
 *     + what forward keeps for backward, of as many micro batches as are in
 *       flight (1F1B: one a stage)
 *     + the loss on logits, where the stage has the head
 * or at the optimizer's step
 *     parameters, gradients, optimizer state + its temporaries
 *
 * whichever is more. The last stage has one micro batch in flight and the
 * logits: with large micro batches it needs more than the first. Constants say
 * what differs between programs; they are fitted to measured peaks
 * (msim-fit-steps, data/laws/steps.json).
 */
#ifndef MSIM_PLAN_MEMORY_PEAK_MEMORY_H
#define MSIM_PLAN_MEMORY_PEAK_MEMORY_H
#include "core/memory/life_memory.h"
#include "plan/parts/parts.h"

/* X(name, where a fit begins, what it is) */
#define MSIM_MEMORY_CONSTANT_MAP(X)                                            \
    X(gradient, 6, "bytes of a parameter's gradients: 16 bits, sums in 32")    \
    X(optimizer, 12, "bytes of its optimizer state: Adam, weights in 32 bits") \
    X(temporary, 8, "bytes that the optimizer's step needs beside that")       \
    X(activations, 1, "what is kept for backward, over its least")             \
    X(gathered, 1, "share of gathered inputs that is kept")                    \
    X(loss, 1, "logits and loss, over one copy in 32 bits")                    \
    X(fixed_gib, 0.5, "all else, GiB")

struct msim_memory_constants {
#define X(name, start, text) double name;
    MSIM_MEMORY_CONSTANT_MAP(X)
#undef X
};
#define MSIM_MEMORY_CONSTANTS                                                  \
    (sizeof(struct msim_memory_constants) / sizeof(double))
const char *msim_memory_constant_text(uint32_t i);
/* Where a fit begins. */
struct msim_memory_constants msim_memory_constants_start(void);

/* Bytes of one rank. */
struct msim_memory {
    double parameters, gradients, optimizer, activations, loss, temporary,
        other;
    double
        peak; /* of a rank of the first stage: what torch reports of rank 0 */
    double most; /* of the stage that needs most: the first, or the last with
                    its logits */
};

struct msim_memory msim_memory_of(const struct msim_described *m,
                                  const struct msim_strategy *s,
                                  const struct msim_memory_constants *fitted);

/* X(name, text): jobs whose peaks are as sure as one another's. */
#define MSIM_MEMORY_CLASS_MAP(X)                                               \
    X(ALONE, "alone")       /* whole layers on a rank */                       \
    X(TENSOR, "tensor")     /* split layers, one stage */                      \
    X(PIPELINE, "pipeline") /* split layers, several stages */                 \
    X(OTHER, "other")       /* unlike all measured ones: as the least sure */

enum msim_memory_class {
#define X(name, text) MSIM_MEMORY_##name,
    MSIM_MEMORY_CLASS_MAP(X)
#undef X
        MSIM_MEMORY_CLASSES
};
const char *msim_memory_class_text(enum msim_memory_class c);
/* Those with sharded gradients or weights, or with techniques that change what
 * is held, are unlike all measured ones. */
enum msim_memory_class msim_memory_class_of(const struct msim_strategy *s);

/* 90 % of peaks lie between predicted / low and predicted * high. */
struct msim_memory_interval {
    double low, high;
};

struct msim_memory_fit {
    struct msim_memory_constants constants;
    struct msim_memory_interval interval[MSIM_MEMORY_CLASSES];
};

/*
 * The fit from what was read of `path`, a steps file (steps_read.h); without
 * the peaks of `without` (NULL: the fit on all) where that source had any.
 */
struct cJSON;
MSIM_MUST_CHECK
enum msim_status msim_memory_fit_of(struct msim_memory_fit *fit,
                                    const struct cJSON *json, const char *path,
                                    const char *without,
                                    struct msim_error *err);

#endif

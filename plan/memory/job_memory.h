/*
 * plan/memory/job_memory.h - the peak memory of a rank, by formula, and what
 * would make it fit.
 */
#ifndef MSIM_PLAN_MEMORY_JOB_MEMORY_H
#define MSIM_PLAN_MEMORY_JOB_MEMORY_H
#include "core/memory/life_memory.h"
#include "plan/parts/parts.h"
#include "plan/step/step_law.h"

/* ---- peak memory --------------------------------------------------------- */
/*
 * The peak memory of one rank of a described job.
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

/* X(name, where a fit begins, what it is) */
#define MSIM_MEMORY_CONSTANT_MAP(X)                                            \
    X(gradient, 6, "bytes of a parameter's gradients: 16 bits, sums in 32")    \
    X(optimizer, 12, "bytes of its optimizer state: Adam, weights in 32 bits") \
    X(temporary, 8, "bytes that the optimizer's step needs beside that")       \
    X(activations, 1, "what is kept for backward, over its least")             \
    X(gathered, 1, "share of what tensor ranks exchange that is held")         \
    X(pace, 1, "TFLOP of a layer, forward, that let the host go ahead")        \
    X(pieces, 0.1, "free memory in pieces, of what is kept")                   \
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
 * The fit from what was read of `path`, a steps file ("steps read"); without
 * the peaks of `without` (NULL: the fit on all) where that source had any.
 */
struct cJSON;
MSIM_MUST_CHECK
enum msim_status msim_memory_fit_of(struct msim_memory_fit *fit,
                                    const struct cJSON *json, const char *path,
                                    const char *without,
                                    struct msim_error *err);

/* ---- steps read ---------------------------------------------------------- */
/*
 * Both fits of a steps file, which is read once.
 *
 * The file has half a megabyte, and who predicts the time of a described step
 * also wants its memory.
 */

/*
 * Read `data_dir`/laws/steps.json without the rows of `without` (NULL or "":
 * the fits on all): both fits, or the one that is not NULL. EUNKNOWN lists the
 * sources. Release `*step` in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_steps_read(struct msim_step_fit *step,
                                 struct msim_memory_fit *memory,
                                 const char *data_dir, const char *without,
                                 struct msim_error *err);

/* ---- job line ------------------------------------------------------------ */
/*
 * How the memory of a described job goes up and down within a step, on a rank
 * of the first stage.
 *
 * By formula, as the peak is ("peak memory"). Stages run one forward and one
 * backward pass in turn, once as many micro batches as there are stages are in
 * flight; a backward pass takes twice a forward one, and three times with
 * recomputation. A pass adds or gives back its activations evenly. Logits are
 * there between both, where the stage has the head. Then gradients are
 * exchanged, and the optimizer has its temporaries.
 *
 * Example: one stage and two micro batches: up, down, up, down, the optimizer.
 *
 * Thread-safe; nothing is allocated.
 */

/* Micro batches that a line has at most: of more, those in the middle, which
 * are like their neighbours, are left out. */
#define MSIM_JOB_LINE_BATCHES 32
#define MSIM_JOB_LINE_POINTS  (4 * MSIM_JOB_LINE_BATCHES + 8)

/* Joined by straight lines; two at one time are a step. */
struct msim_job_line_point {
    double at; /* share of the step */
    double activations, loss, temporary;
};

struct msim_job_line {
    struct msim_job_line_point points[MSIM_JOB_LINE_POINTS];
    uint32_t n;
    int64_t batches; /* that are in it */
    double held;     /* bytes all the time: all else of the peak */
};

/* `passes`: the share of the step until gradients are exchanged; `update`: that
 * of the optimizer, at its end. */
void msim_job_line_find(struct msim_job_line *out, const struct msim_memory *m,
                        const struct msim_strategy *s, double passes,
                        double update);

/* ---- job memory ---------------------------------------------------------- */
/*
 * Whether a described job fits into a GPU: its peak with an interval, what lies
 * beside the framework's memory, and the GPU's.
 *
 * It fits where the upper end of the peak of the stage that needs most, the
 * context of CUDA and NCCL's buffers are together at most what programs get of
 * the GPU's memory.
 *
 * Thread-safe; nothing is allocated.
 */

/* What memory follows from of a platform. */
struct msim_memory_gpu {
    double usable; /* bytes that programs get */
    double link;   /* bytes/s inside a node */
};

struct msim_job_memory {
    struct msim_memory at; /* the first stage; and the most of any */
    struct msim_memory_interval interval; /* as factors */
    double low, high;                     /* 90 % interval of at.most */
    struct msim_beside beside;
    double room; /* of the GPU: what is left for the peak */
    enum msim_fits fits;
};

/* Communicators of tensor, context, data and expert parallel ranks, and
 * messages between stages. A program that opens more of them holds more. */
struct msim_beside msim_job_beside(const struct msim_strategy *s,
                                   const struct msim_memory_gpu *gpu);

struct msim_job_memory msim_job_memory_of(const struct msim_described *m,
                                          const struct msim_strategy *s,
                                          const struct msim_memory_fit *fit,
                                          const struct msim_memory_gpu *gpu);

/* The same of a job of which nobody states what is computed again (no bit of it
 * in `given`): `low` and `fits` are then those of whatever it may be. */
struct msim_job_memory msim_job_memory_given(const struct msim_described *m,
                                             const struct msim_strategy *s,
                                             uint64_t given,
                                             const struct msim_memory_fit *fit,
                                             const struct msim_memory_gpu *gpu);

/* ---- memory ways --------------------------------------------------------- */
/*
 * What would make a described job fit that does not: changes of its strategy,
 * each with the peak that it would have.
 *
 * Changes keep the model, the number of GPUs and the batch of a step. One is
 * tried at a time; where none is enough two at once, then three, and more GPUs
 * come last. So the changes that are found are the smallest that are enough.
 */

/* What does not fit. */
struct msim_memory_asked {
    const struct msim_described *model;
    const struct msim_strategy *strategy; /* complete */
    const struct msim_memory_fit *fit;
    struct msim_memory_gpu gpu;
};

struct msim_strategy_way {
    char change[96]; /* "recompute full, zero 3" */
    struct msim_strategy strategy;
    double peak; /* bytes; of the stage that needs most */
    double room; /* for it, with this strategy */
    enum msim_fits fits;
};

#define MSIM_MEMORY_WAYS 8

struct msim_memory_ways {
    struct msim_strategy_way ways[MSIM_MEMORY_WAYS]; /* the least peak first */
    uint32_t n;       /* 0: nothing that was tried is enough */
    uint32_t changes; /* how many go together in each */
    /* Of all that was tried, what holds least. */
    struct msim_strategy_way least;
};

void msim_memory_ways_find(struct msim_memory_ways *out,
                           const struct msim_memory_asked *a);

#define MSIM_MEMORY_WAYS_TEXT 640

/* "recompute full (54.1 GiB); zero 3 (61.2 GiB, edge)", or, where nothing is
 * enough, what holds least. */
void msim_memory_ways_text(const struct msim_memory_ways *w,
                           char text[MSIM_MEMORY_WAYS_TEXT]);

#endif

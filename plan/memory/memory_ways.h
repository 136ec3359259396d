/*
 * plan/memory/memory_ways.h - what would make a described job fit that does
 * not: changes of its strategy, each with the peak that it would have.
 *
 * Changes keep the model, the number of GPUs and the batch of a step. One is
 * tried at a time; where none is enough two at once, then three, and more GPUs
 * come last. So the changes that are found are the smallest that are enough.
 */
#ifndef MSIM_PLAN_MEMORY_MEMORY_WAYS_H
#define MSIM_PLAN_MEMORY_MEMORY_WAYS_H
#include "plan/memory/job_memory.h"

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

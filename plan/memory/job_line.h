/*
 * plan/memory/job_line.h - how the memory of a described job goes up and down
 * within a step, on a rank of the first stage.
 *
 * By formula, as the peak is (peak_memory.h). Stages run one forward and one
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
#ifndef MSIM_PLAN_MEMORY_JOB_LINE_H
#define MSIM_PLAN_MEMORY_JOB_LINE_H
#include "plan/memory/peak_memory.h"

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

#endif

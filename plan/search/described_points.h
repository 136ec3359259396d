/*
 * plan/search/described_points.h - points of a plan of a described model: peak
 * memory by formula, steps by the step law.
 */
#ifndef MSIM_PLAN_SEARCH_DESCRIBED_POINTS_H
#define MSIM_PLAN_SEARCH_DESCRIBED_POINTS_H
#include "plan/memory/job_memory.h"
#include "plan/search/predictor.h"
#include "plan/step/steps_file.h"

/* Places in part_us. */
enum { MSIM_DESCRIBED_GRADIENTS = 5, MSIM_DESCRIBED_OPTIMIZER = 7 };

/* What its answers stand on; `spec`, `fit` and `memory` live as long. */
struct msim_described_points {
    const struct msim_spec *spec;
    const struct msim_step_fit *fit;
    const struct msim_memory_fit *memory;
};

/* The predictor of them, whose `own` is `of`. */
struct msim_plan_predictor
msim_described_predictor(struct msim_described_points *of);

#endif

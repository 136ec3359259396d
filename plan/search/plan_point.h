/*
 * plan/search/plan_point.h - one point of a plan, predicted.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_POINT_H
#define MSIM_PLAN_SEARCH_PLAN_POINT_H
#include "plan/memory/job_memory.h"
#include "plan/search/spec.h"
#include "plan/step/step_law.h"

struct msim_plan_point {
    uint64_t number; /* in the spec's order */
    uint32_t platform;
    struct msim_strategy strategy;
    double us, low_us, high_us; /* of a step */
    struct msim_step_parts parts;
    double peak_gib, low_gib, high_gib; /* of the stage that needs most */
    double room_gib; /* of the GPU, beside CUDA's context and NCCL's buffers */
    struct msim_beside beside;
    enum msim_fits fits; /* yes or edge */
    double tokens_per_second, mfu;
    double days, cost, kwh; /* of the whole training; NAN: not known */
    bool allowed;           /* it keeps all limits, as predicted */
    double chance;     /* that it keeps those of time and cost; NAN: none */
    double correction; /* what measured jobs like it took, over the law's time;
                          1: no such job */
};

enum msim_plan_reason {
    MSIM_PLAN_SPLIT,    /* model and batch cannot be split so */
    MSIM_PLAN_MEMORY,   /* does not fit */
    MSIM_PLAN_NO_MODEL, /* the platform cannot run it */
    MSIM_PLAN_REASONS
};

/* Where points are kept while a plan is made, and who makes it. */
struct msim_plan_share {
    const char *folder; /* that is there; NULL: nowhere, by one process */
    const char *text;   /* the spec's and the laws' own: what is kept of other
                           texts is not taken */
    uint32_t process, processes;
};

#endif

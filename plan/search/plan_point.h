/*
 * plan/search/plan_point.h - one point of a plan, predicted.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_POINT_H
#define MSIM_PLAN_SEARCH_PLAN_POINT_H
#include "core/guard/guard.h"
#include "core/memory/life_memory.h"
#include "plan/search/spec.h"
#include "plan/step/steps_file.h"

#define MSIM_PLAN_PARTS 8

/* What GPUs exchange in a step, us: in flight, whether compute hides it or not,
 * and what the step waits of it, with its 90 % interval. NAN: not known. */
struct msim_plan_exchange {
    double in_flight, waits, low, high;
};

struct msim_plan_point {
    uint64_t number; /* in the spec's order */
    uint32_t platform;
    struct msim_strategy strategy;
    /* Of a traced step: indices of words and numbers, by place of
     * msim_spec_place. */
    int64_t traced[MSIM_SPEC_PLACES - MSIM_GIVEN_COUNT];
    double us, low_us, high_us;         /* of a step */
    double part_us[MSIM_PLAN_PARTS];    /* where it goes, by the predictor's
                                           names */
    struct msim_plan_exchange exchange; /* of gradients; of a traced step all
                                           communication */
    double peak_gib, low_gib, high_gib; /* of the rank that needs most; NAN: not
                                           known */
    double room_gib; /* of the GPU, beside CUDA's context and NCCL's buffers */
    struct msim_beside beside;
    double part_gib[MSIM_PLAN_PARTS]; /* likewise */
    enum msim_fits fits; /* yes or edge; edge where the peak is not known
                            and not as much ran */
    bool ran;            /* as much was recorded on a GPU with no more memory */
    double rate, mfu;    /* units a second; NAN: not known */
    double time;         /* what points are compared by: us of a step, or of a
                            sample, where the batch of a step differs */
    double gpu_us;       /* GPU time of the same: us */
    double days, cost, kwh; /* of all the work, or the last two of an hour; NAN:
                               not known */
    bool allowed;           /* it keeps all limits, as predicted */
    double chance;     /* that it keeps those of time and cost; NAN: none */
    double correction; /* what measured jobs like it took, over the law's time;
                          1: no such job */
    bool measured;     /* there is one */
    enum msim_step_class class; /* of described models: what its interval goes
                                 * by
                                 */
    msim_guard_marks marks;     /* guards that it trips */
};

/* Set or read the value of a dimension. */
void msim_plan_point_put(struct msim_plan_point *p,
                         const struct msim_spec_dimension *d, int64_t v);
int64_t msim_plan_point_value(const struct msim_plan_point *p,
                              const struct msim_spec_dimension *d);

/* Why points were left out. X(name, member of the JSON) */
#define MSIM_PLAN_REASON_MAP(X)                                                \
    X(SPLIT, "not_split")   /* the workload cannot be run so */                \
    X(MEMORY, "no_memory")  /* does not fit */                                 \
    X(NO_MODEL, "no_model") /* the platform cannot run it */

enum msim_plan_reason {
#define X(name, text) MSIM_PLAN_##name,
    MSIM_PLAN_REASON_MAP(X)
#undef X
        MSIM_PLAN_REASONS
};

/* A reason in words, how many points it left out, and the first by number. */
struct msim_plan_refusal {
    char text[200];
    uint64_t points, first;
};

#define MSIM_PLAN_REFUSALS 8

/* Reasons in the order in which they were met; those after the first few are
 * counted alone. */
struct msim_plan_refusals {
    struct msim_plan_refusal *of; /* owned */
    uint32_t n, cap;
    uint64_t others; /* points */
};

/* Add a reason, or its points to those of the same text. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_refuse(struct msim_plan_refusals *r,
                                  const struct msim_plan_refusal *why);

/* Where points are kept while a plan is made, and who makes it. */
struct msim_plan_share {
    const char *folder; /* that is there; NULL: nowhere, by one process */
    uint32_t process, processes;
};

#endif

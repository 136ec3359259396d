/*
 * plan/search/plan.h - a plan: its feasible points, which of them to take, and
 * what their figures stand on.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_H
#define MSIM_PLAN_SEARCH_PLAN_H
#include "plan/memory/peak_memory.h"
#include "plan/search/plan_ways.h"
#include "plan/step/steps_file.h"

#define MSIM_PLAN_SAFE 0.95 /* a chance that is called sure */

/* The traced step that a plan is of. */
struct msim_plan_traced {
    double memory;     /* bytes of the GPU that it ran on; 0: not known */
    int64_t batch;     /* of one rank and micro batch */
    int64_t passes;    /* micro batches of a step */
    int64_t ranks;     /* of the job that was recorded */
    bool serves;       /* it answers requests */
    bool knows_memory; /* it is an execution trace */
    char host[256];    /* of all points; "": the trace's own */
    char platform[96]; /* that it ran on, where that is known; else "" */
    /* The traced run, us: as measured there, and as models predict it from its
     * shapes; NAN: not known. */
    double measured_us, predicted_us, low_us, high_us;
};

/* What the figures of a plan stand on. */
struct msim_plan_basis {
    struct {
        char title[96];           /* the product */
        double memory, bandwidth; /* bytes, bytes/s */
        uint64_t rows;            /* measured on that GPU; 0: laws of others */
        uint32_t gpus_a_node;
        char network[96]; /* between nodes; "": the data sheet's */
    } platforms[MSIM_SPEC_PLATFORMS];
    struct msim_step_fit fit;            /* of described models; owned */
    double memory_low, memory_high;      /* factors of the widest interval of a
                                            peak */
    struct msim_memory_constants memory; /* of described models: what peaks were
                                            found with */
    struct msim_plan_traced traced;
};

/* Most points that are simulated: the three cheapest, the three shortest, and
 * what may be cheaper. */
#define MSIM_PLAN_SIMULATED 7

/* What the graph of a point's job takes and holds by itself
 * (plan/simulate). */
struct msim_plan_simulated {
    uint32_t point; /* its index */
    bool known;
    char why[256];       /* not */
    double us, peak_gib; /* of a step; of the rank that needs most */
    uint32_t graphs;     /* that say so */
};

struct msim_plan {
    struct msim_plan_point *points; /* feasible ones, by number */
    uint32_t n, cap;
    uint64_t looked_at, left_out[MSIM_PLAN_REASONS];
    struct msim_plan_refusals refusals; /* of what cannot be, but memory */
    struct msim_plan_point refused[MSIM_PLAN_REFUSALS];  /* the first of each */
    const char *const *step_parts, *const *memory_parts; /* the predictor's */
    struct msim_guard_count marked; /* points that trip guards */
    bool priced;        /* a point has a cost: those without are not compared */
    uint32_t *frontier; /* indices into points: shorter or cheaper than all
                           others that keep the limits; by time */
    uint32_t n_frontier;
    /* Indices; UINT32_MAX: none. The best surely fits and keeps the limits with
     * a chance of MSIM_PLAN_SAFE, where any point does, and is expected to cost
     * least of those. */
    uint32_t best, runner_up;
    uint32_t cheaper; /* expected to cost less than the best, and not sure */
    uint32_t best_of[MSIM_SPEC_PLATFORMS]; /* of each platform */
    /* Time of the best over the runner-up's, 90 %: errors of one law and one
     * model go together, so the ratio is surer than either time. */
    double ratio, ratio_low, ratio_high;
    /* Which of the two is to be run where that includes 1 (UINT32_MAX:
     * neither), and the factor that the ratio is off by then, either way, 90 %.
     */
    uint32_t test;
    double after_test;
    /* Where no point is feasible and some do not fit: the one that is nearest
     * to it, the memory there is, and what would make it fit. */
    bool has_nearest;
    struct msim_plan_point nearest;
    double nearest_share;
    struct msim_plan_ways nearest_ways;
    struct msim_plan_basis basis;
    struct msim_plan_simulated simulated[MSIM_PLAN_SIMULATED];
    uint32_t n_simulated; /* 0: the law alone was asked */
};

#endif

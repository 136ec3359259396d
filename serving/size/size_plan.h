/*
 * serving/size/size_plan.h - how many replicas of each stage keep the promises
 * of an application.
 */
#ifndef MSIM_SERVING_SIZE_SIZE_PLAN_H
#define MSIM_SERVING_SIZE_SIZE_PLAN_H
#include "serving/explore/explore.h"

#include <stdio.h>

/* ---- sizing -------------------------------------------------------------- */
/*
 * How many replicas of each stage keep the promises of an application, in three
 * ways.
 *
 * | method | what it adds up | what it cannot see |
 * | union | percentiles of queues, as if all were long at once; services as
 * distributions | that queues are seldom long together: it asks for more than
 * is needed |
 * | convolution | distributions of stages in series and joins | waits of
 * different stages that rise together |
 * | search | nothing: requests are simulated | what was not explored |
 *
 * A plan of any of them is rehearsed before it is given (rehearsal.c).
 *
 * union: after Zhang et al. 2024, "Analytically-Driven Resource Management for
 * Cloud-Native Microservices" (Ursa, HPCA).
 */

#define MSIM_SIZING_METHOD_MAP(X)                                              \
    X(UNION, "union")                                                          \
    X(CONVOLUTION, "convolution")                                              \
    X(SEARCH, "search")
#define X(name, text) MSIM_SIZING_##name,
enum msim_sizing_method { MSIM_SIZING_METHOD_MAP(X) };
#undef X

struct msim_sizing_stage {
    int64_t replicas;
    double visits_per_s; /* of the stage */
    double percentile;   /* 0 to 100, and the latency of a visit without its
                            calls at it; NAN: not visited */
    double latency_ms;
};

/* What becomes of a class under the plan. */
struct msim_sizing_class {
    /* Share within the limit, of a run as rehearsed (rehearsal.c), 90 %; NAN:
     * no promise. */
    double within, low, high;
    double p99_ms;
};

struct msim_sizing {
    enum msim_sizing_method method;
    bool searched; /* convolution: its sums found no plan, simulation did */
    struct msim_sizing_stage *stages;  /* owned */
    struct msim_sizing_class *classes; /* owned */
    double cost_per_hour;              /* NAN: prices are not stated */
    int64_t total;                     /* replicas */
};

/* May `app` be sized at all? Before anything is measured for it. EFORMAT where
 * a promise is not about e2e, a stage is an engine, or clients wait. */
MSIM_MUST_CHECK
enum msim_status msim_sizing_check(const struct msim_app *app,
                                   struct msim_error *err);

/*
 * A plan for `load`. ECHECK where none keeps the promises: which stage, by how
 * much. EFORMAT as msim_sizing_check().
 * Release in all cases.
 */
MSIM_MUST_CHECK
enum msim_status msim_sizing_make(struct msim_sizing *out,
                                  const struct msim_stage_demand *load,
                                  enum msim_sizing_method method, uint64_t seed,
                                  struct msim_error *err);
void msim_sizing_release(struct msim_sizing *z);

/* The word of the command line. */
const char *msim_sizing_method_text(enum msim_sizing_method m);

/* ---- size plan ----------------------------------------------------------- */
/*
 * A sizing as PLAN.json (schema mystique-sim/serving-plan/1), or as text for
 * people.
 */

/* A sizing, what it is of, and what was spent on it. */
struct msim_size_plan {
    const struct msim_sizing *sizing;
    const struct msim_stage_demand *load;
    const struct msim_explored *explored;
};

/* Through a sink of core/base/json.h. */
MSIM_MUST_CHECK
enum msim_status
msim_size_plan_json(const struct msim_size_plan *p,
                    enum msim_status (*sink)(void *, const char *, size_t),
                    void *ctx);
/* The same into the file `path`. */
MSIM_MUST_CHECK
enum msim_status msim_size_plan_save(const struct msim_size_plan *p,
                                     const char *path, struct msim_error *err);

void msim_size_plan_text(const struct msim_size_plan *p, FILE *out);

#endif

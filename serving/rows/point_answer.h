/*
 * serving/rows/point_answer.h - what a served point takes: a simulated closed
 * loop on its engine, with the law's times of steps.
 *
 * Requests take the law's `arrival_us` until they are at the engine.
 */
#ifndef MSIM_SERVING_ROWS_POINT_ANSWER_H
#define MSIM_SERVING_ROWS_POINT_ANSWER_H
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"
#include "serving/rows/served_point.h"

struct msim_point_time { /* ms; 90 % interval */
    double ms, low, high;
};

struct msim_point_answer {
    bool answered;
    struct msim_point_time ttft, tpot; /* tpot 0: one token */
    bool uses_rows;
    char defaults[MSIM_POINT_TEXT]; /* what was assumed */
    char reason[MSIM_POINT_TEXT];   /* why it is not answered */
};

/* What all points share; read only. */
struct msim_point_world {
    const struct msim_llm_law *law;
    const struct msim_described *model;
    const struct msim_platform *platform;
};

/* Served models that were made for the points before, for those that are split
 * alike; zeroed at the start. */
struct msim_point_shelf {
    struct msim_llm *llm[2];
    struct msim_llm_setup setup[2];
};

/* How the replicas of `side` are set up, with what the engine takes where the
 * point does not say it. The setup has no padding that is not zero: setups that
 * are alike are equal as bytes. */
void msim_point_setup(struct msim_llm_setup *out,
                      const struct msim_served_point *p,
                      const struct msim_point_side *side,
                      const struct msim_point_world *world);

/* `a` has the defaults of reading the row already. A point that cannot be
 * answered has a reason; ENOMEM alone is a failure. */
MSIM_MUST_CHECK
enum msim_status msim_point_answer_make(struct msim_point_answer *a,
                                        const struct msim_served_point *p,
                                        const struct msim_point_world *world,
                                        struct msim_point_shelf *shelf);
void msim_point_shelf_release(struct msim_point_shelf *shelf);

#endif

/*
 * plan/search/predictor.h - what predicts the points of a plan: described
 * models have one (described_points.h), a traced step another (plan/traced).
 *
 * The search numbers points, hands them to threads and processes, keeps and
 * compares them. Of each it asks a predictor three things, and goes on while
 * the answer is yes:
 *
 *     split    can the workload be run so? What follows from other members is
 *              filled in
 *     memory   the peak of a GPU; what does not fit is not asked for its step
 *     step     the time of a step, and where it goes
 *
 * Answers depend on the point alone, not on what was asked before: plans have
 * the same bytes on any number of threads and processes.
 */
#ifndef MSIM_PLAN_SEARCH_PREDICTOR_H
#define MSIM_PLAN_SEARCH_PREDICTOR_H
#include "models/platform/platform.h"
#include "plan/search/plan_ways.h"

#define MSIM_PLAN_WHY 256

struct msim_plan_predictor {
    void *own;
    uint32_t block; /* points that a thread takes at once */
    bool says_why;  /* reasons are few: they are kept */
    const char *const *step_parts, *const *memory_parts; /* names,
                          MSIM_PLAN_PARTS at most; the end is NULL */
    /* One thread begins: `*thread` is what it asks with; end() releases it in
     * any case. `platforms` are the spec's, with their networks. Every file
     * that answers depend on is read then. */
    enum msim_status (*begin)(void **thread, void *own,
                              struct msim_platform *const *platforms,
                              struct msim_error *err);
    void (*end)(void *thread);
    /* False: it cannot be, and `why` has a reason. `point->strategy` holds the
     * spec's values, room_gib what programs get of the GPU. split() completes
     * the strategy; memory() fills in the peak, its parts and whether it
     * fits, and takes what lies beside it from the room; step() fills in the
     * time and its parts, mfu and correction. */
    bool (*split)(void *thread, struct msim_plan_point *point,
                  char why[MSIM_PLAN_WHY]);
    bool (*memory)(void *thread, struct msim_plan_point *point,
                   char why[MSIM_PLAN_WHY]);
    bool (*step)(void *thread, struct msim_plan_point *point,
                 char why[MSIM_PLAN_WHY]);
    /* What would make a point fit that does not: the last that this thread was
     * asked for. */
    void (*ways)(void *thread, const struct msim_plan_point *point,
                 struct msim_plan_ways *out);
};

#endif

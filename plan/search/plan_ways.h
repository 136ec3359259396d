/*
 * plan/search/plan_ways.h - what would make a point fit that does not.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_WAYS_H
#define MSIM_PLAN_SEARCH_PLAN_WAYS_H
#include "plan/search/plan_point.h"

#define MSIM_PLAN_WAYS 8

struct msim_plan_way {
    char change[96]; /* "recompute full, zero 3" */
    double peak;     /* bytes */
    enum msim_fits fits;
};

struct msim_plan_ways {
    struct msim_plan_way way[MSIM_PLAN_WAYS]; /* the least peak first */
    uint32_t n;     /* 0: nothing that was tried is enough */
    char text[640]; /* all of them in a line, or what holds least */
};

#endif

/*
 * core/report/compare/judged_wish.h - what else is asked of predictions that
 * were judged: a picture, and a limit.
 *
 * The picture has predicted against measured: a dot a job, its interval, and
 * the line on which both are equal; a panel of steps and one of peaks.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_JUDGED_WISH_H
#define MSIM_CORE_REPORT_COMPARE_JUDGED_WISH_H
#include "core/report/compare/judged.h"

struct msim_judged_wish {
    const char *chart; /* the picture's path; NULL: none */
    double limit;      /* of the mean error of all steps, percent; 0: none */
};

/*
 * Draw, and hold the mean to its limit: ECHECK past it; EFORMAT where nothing
 * is measured that could be drawn or held.
 */
MSIM_MUST_CHECK
enum msim_status msim_judged_grant(const struct msim_judged_groups *g,
                                   const struct msim_judged_wish *wish,
                                   struct msim_error *err);

#endif

/*
 * core/report/compare/judged.h - predictions against what was measured, as
 * errors by group.
 *
 *     step  nanotron    predicted 95, 80 to 120, measured 100
 *
 * is an error of -5 %, inside its interval. A group is a text, such as a source
 * or a way to train. The table has a line for each group and figure: mean,
 * median, 90th percentile and worst of |error|, the share inside.
 *
 * Not thread-safe. Grows on the heap; release it.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_JUDGED_H
#define MSIM_CORE_REPORT_COMPARE_JUDGED_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdio.h>

enum msim_judged_figure { MSIM_JUDGED_STEP, MSIM_JUDGED_MEMORY };

/* One prediction. */
struct msim_judged {
    uint32_t group; /* index of its name */
    enum msim_judged_figure figure;
    double measured, predicted, low, high;
};

struct msim_judged_groups {
    struct msim_judged *all;
    uint32_t n, cap;
    char (*names)[48];
    uint32_t n_names, cap_names;
};

/* A prediction with its interval; a `measured` of 0 counts nothing. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_judged_add(struct msim_judged_groups *g,
                                 const char *group,
                                 enum msim_judged_figure figure,
                                 double measured, double predicted, double low,
                                 double high);

/* Its error, in percent of what was measured. */
double msim_judged_error(const struct msim_judged *j);

/* The table, with a line for all of several groups; `note` gives the last
 * column of a group, headed `note_head`. NULL: there is none. */
MSIM_MUST_CHECK
enum msim_status
msim_judged_write(const struct msim_judged_groups *g, const char *group_head,
                  const char *note_head,
                  const char *(*note)(const void *ctx, const char *group),
                  const void *ctx, FILE *out);
void msim_judged_release(struct msim_judged_groups *g);

#endif

/*
 * calibrate/machine/machine_json.h - what a calibration left, or would ask, as
 * JSON (docs/json.md).
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_JSON_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_JSON_H
#include "calibrate/machine/machine_fit.h"
#include "core/base/json.h"

struct msim_cal_left {
    const char *platform, *host, *network; /* files; NULL: not written */
    const struct msim_cal_journal *journal;
    const char *journal_path;
    const struct msim_cal_scores *scores; /* NULL: nothing was fitted */
};

MSIM_MUST_CHECK
enum msim_status msim_cal_left_json(FILE *out,
                                    const struct msim_cal_left *left);

/* Experiments that would be timed: begin, one each, and end, which returns how
 * the writing went. */
void msim_cal_questions_begin(struct msim_json *j, FILE *out);
void msim_cal_questions_add(struct msim_json *j, const char *backend,
                            const char *experiment, double run_us,
                            double seconds);
MSIM_MUST_CHECK
enum msim_status msim_cal_questions_end(struct msim_json *j, double seconds);

#endif

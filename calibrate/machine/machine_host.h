/*
 * calibrate/machine/machine_host.h - fit a host file (--host) to a journal.
 *
 * Answers of the table "dispatch" have each operator's own time, in single
 * calls and in steps of small models. All single calls are one recording, and
 * each model is one. msim_host_fit treats recordings as it treats hosts for the
 * shipped file: operator k takes a_k * s_r in recording r, and the error on a
 * held-out recording gives the width of intervals.
 *
 * Figures that were not timed come from the general host, and say so. Its
 * operators are multiplied by this host's speed, which is the ratio of sums
 * over the operators that both know; its other figures are taken as they are.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_HOST_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_HOST_H
#include "calibrate/measure/journal.h"

/* Figures of the fit, besides the file. */
struct msim_cal_host {
    uint32_t recordings;
    uint32_t timed, taken; /* operators: timed here, and of the general host */
    double speed;          /* this host's times over the general host's */
    double factor;         /* 90 % interval of `timed`: up or down by this */
    double factor_taken;
};

/*
 * Fit the host file's tree; `*out` is the caller's, NULL with MSIM_OK where the
 * journal has fewer than two recordings. `generic` is the general host's file.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_host_fit(cJSON **out, struct msim_cal_host *result,
                                   const struct msim_cal_journal *j,
                                   const cJSON *generic, const char *name);

#endif

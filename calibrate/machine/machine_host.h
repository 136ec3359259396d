/*
 * calibrate/machine/machine_host.h - what a backend timed of the host, as a
 * file that
 * --host takes.
 *
 * Answers of the table "dispatch" say what each operator took of its own, in
 * single calls and in steps of small models. All single calls together, and
 * each model, are one recording; recordings are to msim_host_fit what hosts are
 * to the shipped file: a recording takes a_k * s_r, and how far the fit is from
 * a recording left out says how wide intervals are.
 *
 * What was not timed here comes from the general host, and says so: operators
 * as many times as long as those that both know take here, in sum over what
 * the general host counted; the rest as it is.
 */
#ifndef MSIM_CALIBRATE_MACHINE_MACHINE_HOST_H
#define MSIM_CALIBRATE_MACHINE_MACHINE_HOST_H
#include "calibrate/measure/journal.h"

/* What came out, besides the file. */
struct msim_cal_host {
    uint32_t recordings, timed, taken; /* operators: by name, and not timed */
    double speed;                      /* times of the general host's */
    double factor;                     /* either way, of operators timed here */
    double factor_taken;
};

/*
 * The host file's tree; `*out` is the caller's. NULL with MSIM_OK where the
 * journal holds fewer than two recordings. `generic` is the general host's
 * file.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_host(cJSON **out, struct msim_cal_host *result,
                               const struct msim_cal_journal *j,
                               const cJSON *generic, const char *name);

#endif

/*
 * calibrate/measure/find_backends.h - the programs that time on this machine:
 * found beside this one, and PyTorch's.
 */
#ifndef MSIM_CALIBRATE_MEASURE_FIND_BACKENDS_H
#define MSIM_CALIBRATE_MEASURE_FIND_BACKENDS_H
#include "calibrate/measure/cal_options.h"

struct msim_cal_backends {
    char commands[MSIM_CAL_BACKENDS][1400];
    struct msim_cal_backend list[MSIM_CAL_BACKENDS];
    uint32_t n;
    const char *warning; /* static text for the user; NULL: none */
};

/*
 * Those that `names` lists: torch, cuda, cpu, or command lines, with commas in
 * between; NULL: what times this machine's GPU, else its CPU, PyTorch first.
 * `*b`, which is not to be moved, has their command lines and shares of the
 * budget. ENOMODEL where one is not there.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_backends_find(struct msim_cal_backends *b,
                                        const char *names,
                                        struct msim_error *err);

#endif

/*
 * calibrate/measure/find_backends.h - find the backends of this machine: the
 * profilers in this program's folder, and PyTorch's.
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
 * The backends in `names`: torch, cuda, cpu, or command lines, separated by
 * commas. NULL: those that time this machine's GPU, else its CPU, PyTorch
 * first. `*b` gets their command lines and shares of the budget, and must not
 * be moved afterwards. ENOMODEL where a backend is not there.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_backends_find(struct msim_cal_backends *b,
                                        const char *names,
                                        struct msim_error *err);

#endif

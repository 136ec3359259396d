/*
 * calibrate/measure/backend_child.h - a backend as a process that is asked over
 * pipes.
 */
#ifndef MSIM_CALIBRATE_MEASURE_BACKEND_CHILD_H
#define MSIM_CALIBRATE_MEASURE_BACKEND_CHILD_H
#include "core/base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Seconds of a clock that is never set. */
double msim_cal_now(void);

struct msim_cal_child {
    pid_t pid; /* 0: not running */
    int to, from;
    char *buffer; /* what was read and not yet handed out; owned */
    size_t used, size;
};

/*
 * Start `command` by the shell and read its greeting, which is the caller's.
 * Its input ends with this process, however that ends, and so should it. EIO
 * where it ends instead of greeting, ELIMIT where it does not within `seconds`.
 * `c` is zeroed before the first start, and stopped after the last.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_child_start(struct msim_cal_child *c,
                                      const char *command, double seconds,
                                      cJSON **greeting, struct msim_error *err);

/*
 * Send one line and read the answer, which is the caller's. EIO where it died
 * ("killed by signal 11"), ELIMIT where it did not answer within `seconds`,
 * ESYNTAX where it answered with something else; it is stopped then.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_child_ask(struct msim_cal_child *c,
                                    const cJSON *question, double seconds,
                                    cJSON **answer, struct msim_error *err);

/* Close its input, and end it where that does not end it soon. */
void msim_cal_child_stop(struct msim_cal_child *c);

#endif

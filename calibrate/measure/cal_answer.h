/*
 * calibrate/measure/cal_answer.h - what a backend answered, read once
 * (profilers/serve.h has the members).
 */
#ifndef MSIM_CALIBRATE_MEASURE_CAL_ANSWER_H
#define MSIM_CALIBRATE_MEASURE_CAL_ANSWER_H
#include "core/base/json.h"
#include "profilers/counters.h"

#include <stdbool.h>

/* An operator of what the table "dispatch" times. */
struct msim_cal_operator {
    const char *name;
    bool leaf; /* it calls no other */
    double count;
    double self_us, calls_us; /* of its own, and in calls of the runtime */
};

struct msim_cal_answer {
    double us;                  /* 0: it failed */
    double low_us, high_us;     /* deciles; NAN: not said */
    double alone_us;            /* 0: it ran beside nothing */
    double sustained_us;        /* of a run among many; 0: it was not asked */
    double sm_mhz, power_w;     /* while many ran; NAN: not said */
    const char *error;          /* why it failed; NULL: it did not */
    bool crashed;               /* the backend ended, or was ended */
    bool unsupported;           /* the device cannot do it */
    bool counted;               /* counters were read, or tried to */
    struct msim_counts *counts; /* owned; NULL: none were read */
    /* Of "dispatch" alone. */
    double rounds;                       /* over which `count` is the mean */
    struct msim_cal_operator *operators; /* owned */
    uint32_t n_operators;
    bool has_operators;                          /* perhaps none */
    double after_operator_us, after_autograd_us; /* pauses; NAN: not said */
};

/*
 * Can it be true? With a time: 0 < low_us <= time_us <= high_us, all finite,
 * where it has them; without one it has an error. EFORMAT says what it has.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_answer_check(const cJSON *answer,
                                       struct msim_error *err);

/* Texts point into `answer`; one that cannot be true has failed. ENOMEM;
 * release it after a success. */
MSIM_MUST_CHECK
enum msim_status msim_cal_answer_read(struct msim_cal_answer *out,
                                      const cJSON *answer);
void msim_cal_answer_release(struct msim_cal_answer *a);

#endif

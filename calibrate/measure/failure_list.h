/*
 * calibrate/measure/failure_list.h - distinct failures of experiments, and how
 * often each came.
 */
#ifndef MSIM_CALIBRATE_MEASURE_FAILURE_LIST_H
#define MSIM_CALIBRATE_MEASURE_FAILURE_LIST_H
#include "calibrate/measure/journal.h"

struct msim_cal_failure {
    uint64_t hash;   /* msim_cal_failure_hash() */
    char text[200];  /* of the first */
    char first[160]; /* the experiment that it came of */
    uint32_t n;
};

/* Zeroed at first, released at the end. */
struct msim_cal_failures {
    struct msim_cal_failure *list; /* owned; in the order of the first ones */
    uint32_t n, capacity;
};

/*
 * A hash of what a failure says but for its numbers: "takes 1.5 GB, 1 are free"
 * and "takes 0.3 GB, 0.2 are free" are one failure.
 */
uint64_t msim_cal_failure_hash(const char *text);

MSIM_MUST_CHECK
enum msim_status msim_cal_failures_add(struct msim_cal_failures *f,
                                       const char *text,
                                       const struct msim_cal_experiment *e);
void msim_cal_failures_release(struct msim_cal_failures *f);

/* "58 experiments were asked, and 42 failed, 40 of them with 'out of memory'":
 * what a journal's first visits came to; cut to `size`. */
MSIM_MUST_CHECK
enum msim_status msim_cal_failures_tell(char *text, size_t size,
                                        const struct msim_cal_journal *j);

#endif

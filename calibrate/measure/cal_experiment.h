/*
 * calibrate/measure/cal_experiment.h - what is to be timed, as a JSON object.
 *
 * An experiment has the columns of its table as members (profilers/backend.h).
 * Two are the same when those members are: what a process adds to send them
 * (id, policy, raw, counters) is no part of it.
 */
#ifndef MSIM_CALIBRATE_MEASURE_CAL_EXPERIMENT_H
#define MSIM_CALIBRATE_MEASURE_CAL_EXPERIMENT_H
#include "core/base/json.h"
#include "core/work/work.h"

#define MSIM_CAL_FIELDS 24

/* Room for the texts that a work points to. */
struct msim_cal_texts {
    char numbers[MSIM_CAL_FIELDS][32];
};

/*
 * The work of an experiment by the stack `framework`; its texts point into
 * the experiment, `framework` and `texts`. False where it is none: a copy, a
 * latency, what ran beside something, or something that no table has.
 */
bool msim_cal_work(const cJSON *experiment, const char *framework,
                   struct msim_cal_texts *texts, struct msim_work *w);

/* A hash of what makes it the experiment that it is, by this backend. */
uint64_t msim_cal_hash(const cJSON *experiment, const char *backend);

/* "gemm fp32 m 512 n 64 k 1024", for people; cut to `size`. */
void msim_cal_describe(const cJSON *experiment, char *text, size_t size);

/* What a device may reach before anything is known of it. */
struct msim_cal_guess {
    double flops;     /* FLOP/s in fp32 */
    double bandwidth; /* bytes/s */
    double floor_us;
};

/* Whether the "device" of a greeting is a CPU. */
bool msim_cal_is_cpu(const cJSON *device);

/* A guess from the "device" of a greeting. */
struct msim_cal_guess msim_cal_guess_of(const cJSON *device);

/* What one run takes by a roofline, in microseconds. */
double msim_cal_expected_us(const cJSON *experiment,
                            const struct msim_cal_guess *g);

/* Bytes of memory that its operands take. */
double msim_cal_bytes(const cJSON *experiment);

#endif

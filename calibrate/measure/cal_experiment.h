/*
 * calibrate/measure/cal_experiment.h - what is to be timed: an experiment of a
 * backend, perhaps beside a collective.
 *
 * Experiments are made and compared as structures. As JSON they are only sent
 * and kept: msim_cal_experiment_json() writes the members that
 * profilers/experiment.h reads.
 */
#ifndef MSIM_CALIBRATE_MEASURE_CAL_EXPERIMENT_H
#define MSIM_CALIBRATE_MEASURE_CAL_EXPERIMENT_H
#include "profilers/experiment.h"

struct msim_cal_experiment {
    struct msim_experiment timed;
    bool is_pair; /* beside `concurrent`, which runs on and on */
    struct msim_experiment concurrent;
};

/* The experiment of a question, or of a journal's line: as much as is known of
 * it. Its texts point into `line`. */
void msim_cal_experiment_read(struct msim_cal_experiment *out,
                              const cJSON *line);

/* Its members as an object of the caller's; NULL without memory. */
cJSON *msim_cal_experiment_json(const struct msim_cal_experiment *e);

/* Its work, to which laws apply; NULL where it has none: a copy, a latency, or
 * what ran beside something. */
const struct msim_work *msim_cal_work(const struct msim_cal_experiment *e);

/* A hash of what makes it the experiment that it is, by this backend; with ""
 * whatever the backend. */
uint64_t msim_cal_hash(const struct msim_cal_experiment *e,
                       const char *backend);

/* The same of an object as msim_cal_experiment_json() makes them; what a
 * process adds to send it (id, policy, raw, counters, sustained) counts for
 * nothing. */
uint64_t msim_cal_hash_json(const cJSON *experiment, const char *backend);

/* "gemm fp32 m 512 n 64 k 1024", for people; cut to `size`. */
void msim_cal_describe(const struct msim_cal_experiment *e, char *text,
                       size_t size);

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
double msim_cal_expected_us(const struct msim_cal_experiment *e,
                            const struct msim_cal_guess *g);

#endif

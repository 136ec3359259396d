/*
 * calibrate/measure/trace_experiments.h - the shapes of a trace as experiments,
 * so that what counts for one job is timed first (--for).
 */
#ifndef MSIM_CALIBRATE_MEASURE_TRACE_EXPERIMENTS_H
#define MSIM_CALIBRATE_MEASURE_TRACE_EXPERIMENTS_H
#include "calibrate/measure/experiment_space.h"

/* Experiments in order; release them. */
struct msim_cal_shapes {
    struct msim_cal_experiment *list; /* owned */
    uint32_t n;
};

/*
 * The distinct operators of the traces at `path` (a file or a folder), longest
 * expected time of all calls first. A trace that was captured on a CPU gives
 * the operators that a CPU runs and those that a GPU would run. Operators that
 * no table has columns for (two strides, gradients of attention) are skipped.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_trace_shapes(struct msim_cal_shapes *out,
                                       const char *path,
                                       struct msim_error *err);
void msim_cal_shapes_release(struct msim_cal_shapes *s);

/*
 * The experiment that stands for a work; its texts are static. False where
 * there is none. A vector operator that no backend has is replaced by one of
 * its family. On a CPU an operator in place is an experiment of its own.
 */
bool msim_cal_of_work(struct msim_cal_experiment *out,
                      const struct msim_work *w, bool on_cpu);

/* Whether a backend offers the kind of `e`, and `e` is not far beyond the
 * limits: it may take ten times as long as an experiment of the design. */
bool msim_cal_space_offers(const struct msim_cal_space *s,
                           const struct msim_cal_experiment *e);

#endif

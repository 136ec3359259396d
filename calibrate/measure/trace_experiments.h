/*
 * calibrate/measure/trace_experiments.h - the shapes of a trace as experiments:
 * what counts for one job is timed first.
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
 * The distinct operators of the traces at `path` (a file or a folder), those
 * first that take longest in all by a guess; of a trace that was captured on a
 * CPU both those that a CPU runs and those that a GPU would. Operators of which
 * a table has no columns (strides of two kinds, gradients of attention) are
 * left out.
 */
MSIM_MUST_CHECK
enum msim_status msim_cal_trace_shapes(struct msim_cal_shapes *out,
                                       const char *path,
                                       struct msim_error *err);
void msim_cal_shapes_release(struct msim_cal_shapes *s);

/*
 * The experiment that stands for a work; its texts are static. False where
 * there is none. Kinds of vector operators that no table has are stood for by
 * one of their family. On a CPU what is changed in place is an experiment of
 * its own.
 */
bool msim_cal_of_work(struct msim_cal_experiment *out,
                      const struct msim_work *w, bool on_cpu);

/* Whether a backend has a kind for it, and it is not far beyond the limits: a
 * trace may ask for more time and memory than a design would. */
bool msim_cal_space_offers(const struct msim_cal_space *s,
                           const struct msim_cal_experiment *e);

#endif

/*
 * predict/whatif/sensitivity.h - what bounds a job: how much shorter its period
 * would be if kernels, communication, copies or the host took half the time.
 *
 * Each is one more run over the same graph, as `--scale SELECT=0.5` would make
 * it. One more halves kernels, communication and copies at once. What bounds
 * the job all the time saves half of the period, what bounds nothing saves
 * nothing, however busy it is. The verdict is the first of these that holds:
 *
 *     "GPU-bound, by work that overlaps"
 *                 GPU work at once saves a quarter, and over 1.5 times as much
 *                 as its kinds one by one: each hides behind the others
 *     "bound by A and B together"
 *                 the two that save most save a quarter, in sum, and the second
 *                 over 0.6 of the first
 *     "A-bound"   the one that saves most saves a quarter
 *     "host-bound", "GPU-bound"
 *                 a thread or the GPU is busy all the time (`period.bounds`):
 *                 half of its work saves less, for another bounds the job then
 *     "held up by ranks without a trace, which arrive when they did"
 *                 there are such ranks, at instants, and no kind of work saves
 *                 2 %
 *     "held up by 'W'"
 *                 the largest wait or latency is a quarter of the critical
 *                 path, or there is one and no kind of work saves 2 %
 *     "no one kind of work bounds the job"
 *
 * Behind it come the savings: of copies where they are 2 %, of all GPU work
 * where it overlaps or no kind saves a quarter. Of a job that is recorded in
 * part (msim_job.partial, unrecorded) there is no verdict: a wait for what is
 * not recorded looks like work of the host.
 */
#ifndef MSIM_PREDICT_WHATIF_SENSITIVITY_H
#define MSIM_PREDICT_WHATIF_SENSITIVITY_H
#include "predict/pipeline.h"

/* Fill in `sensitivity` and `verdict` of the run's prediction. Kinds of work
 * that the job does not have get no row. */
MSIM_MUST_CHECK
enum msim_status msim_sensitivity_find(struct msim_prediction_run *run,
                                       struct msim_error *err);

#endif

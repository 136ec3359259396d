/*
 * predict/whatif/whatif.h - a prediction that says what it changes.
 *
 * What is compared with what:
 *
 *     another GPU (scaled costs)    with the traced run
 *     --scale, a clock, a power     with the prediction of the same job in the
 *     cap, a network, nodes,        same mode, on the same GPU and by the same
 *     ranks, a host, a skew,        costs, without these
 *     a part of the run
 *
 * Both are periods (core/report/analyse/period.c), over the same iterations.
 */
#ifndef MSIM_PREDICT_WHATIF_WHATIF_H
#define MSIM_PREDICT_WHATIF_WHATIF_H
#include "predict/pipeline.h"

/*
 * msim_predict(), and what it is a change to: fills in `scenario` and
 * `elsewhere` of the prediction. Without a change it costs no more. The run
 * owns what it was made from, but for `in` and `to`.
 */
MSIM_MUST_CHECK
enum msim_status msim_whatif_predict(struct msim_prediction_run *run,
                                     const struct msim_predict_settings *s,
                                     const struct msim_inputs *in,
                                     const struct msim_target *to,
                                     struct msim_error *err);

#endif

/*
 * predict/describe_run.h - the texts that a prediction has from its settings
 * and its target: GPU, host, clock, links, network.
 */
#ifndef MSIM_PREDICT_DESCRIBE_RUN_H
#define MSIM_PREDICT_DESCRIBE_RUN_H
#include "core/report/analyse/prediction.h"
#include "predict/target.h"

/* Into `p`, in its arena. `planned`: the first rank has a launch plan, so that
 * its host is modelled. */
void msim_run_describe(struct msim_prediction *p,
                       const struct msim_predict_settings *s,
                       const struct msim_inputs *in,
                       const struct msim_target *to, bool planned);

/*
 * Take the measured figures out of a prediction. Model costs read no GPU time,
 * and a report under them holds none either: the same shapes give the same
 * bytes. (A step's own mark is host time, which stays: `marked`.) What was
 * scaled to another GPU was not measured there.
 */
void msim_run_drop_measured(struct msim_prediction *p, bool marked);

#endif

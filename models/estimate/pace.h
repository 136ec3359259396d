/*
 * models/estimate/pace.h - estimates by memory's pace, where the SMs may be the
 * slower ones.
 */
#ifndef MSIM_MODELS_ESTIMATE_PACE_H
#define MSIM_MODELS_ESTIMATE_PACE_H
#include "core/work/estimate.h"

/* Join the time `sms_us` of the SMs (models/law/sm_pace.h) to an estimate that
 * memory's pace gives: about the longer of both. The interval is wider where
 * the SMs take longer. 0 changes nothing. */
void msim_pace_join(double sms_us, struct msim_estimate *e);

/* Another pass of `us` after it. */
void msim_pace_add(double us, struct msim_estimate *e);

#endif

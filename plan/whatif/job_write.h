/*
 * plan/whatif/job_write.h - scenarios of a described job as what `synth` writes
 * of each: DIR/SCENARIO/rank-N.et.json and synth.json.
 */
#ifndef MSIM_PLAN_WHATIF_JOB_WRITE_H
#define MSIM_PLAN_WHATIF_JOB_WRITE_H
#include "plan/whatif/job_whatif.h"
#include "predict/write/scenario_write.h"

/* As msim_scenarios_write_look(). */
MSIM_MUST_CHECK
enum msim_status msim_job_write_look(const struct msim_job_whatif *w,
                                     const char *dir, struct msim_error *err);

/* As msim_scenarios_write(); `source` is the model's file, JSON on one line. */
MSIM_MUST_CHECK
enum msim_status msim_jobs_write(struct msim_scenario_written **out,
                                 const struct msim_job_whatif *w,
                                 const char *source, const char *dir,
                                 struct msim_error *err);

#endif

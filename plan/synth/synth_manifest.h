/*
 * plan/synth/synth_manifest.h - synth.json: what written traces are of, and
 * what they stand for, so that plan/written can read the job again.
 *
 *     {"described": {"model": ..., "changes": [{"hidden": 1536}],
 *                    "strategy": {"gpus": "8", ...}}, "ranks_a_file": 8, ...}
 *
 * `model` is as its file has it; `changes`, where there are any, make the
 * model of it that the traces are of (plan/describe/job_model.h).
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_MANIFEST_H
#define MSIM_PLAN_SYNTH_SYNTH_MANIFEST_H
#include "core/base/files.h"
#include "core/base/json.h"
#include "plan/synth/synth_options.h"

/* Write it into a folder that was begun; each file stands for `a_file` ranks.
 * EIO, EWRITE, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_manifest(struct msim_folder *folder,
                                     const struct msim_synth_options *o,
                                     int64_t a_file, struct msim_error *err);

#endif

/*
 * plan/memory/steps_read.h - both fits of a steps file, which is read once.
 *
 * The file has half a megabyte, and who predicts the time of a described step
 * also wants its memory.
 */
#ifndef MSIM_PLAN_MEMORY_STEPS_READ_H
#define MSIM_PLAN_MEMORY_STEPS_READ_H
#include "plan/memory/peak_memory.h"
#include "plan/step/steps_file.h"

/*
 * Read `data_dir`/laws/steps.json without the rows of `without` (NULL or "":
 * the fits on all): both fits, or the one that is not NULL. EUNKNOWN lists the
 * sources. Release `*step` in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_steps_read(struct msim_step_fit *step,
                                 struct msim_memory_fit *memory,
                                 const char *data_dir, const char *without,
                                 struct msim_error *err);

#endif

/*
 * core/job/open_input.h - a file of a job as bytes: as it is, or what a
 * database becomes.
 */
#ifndef MSIM_CORE_JOB_OPEN_INPUT_H
#define MSIM_CORE_JOB_OPEN_INPUT_H
#include "core/job/job.h"
#include "core/read/format.h"
#include "core/stream/input.h"

/*
 * Open a file, or the bytes that it has. `*text` is what the input stands on,
 * or NULL: the caller frees it after closing the input.
 */
MSIM_MUST_CHECK
enum msim_status msim_open_input(struct msim_input **out, char **text,
                                 const struct msim_job_text *from,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err);

#endif

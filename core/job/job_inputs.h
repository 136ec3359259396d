/*
 * core/job/job_inputs.h - the files of a job: as bytes, and all of them read,
 * several at a time.
 */
#ifndef MSIM_CORE_JOB_JOB_INPUTS_H
#define MSIM_CORE_JOB_JOB_INPUTS_H
#include "core/job/job.h"
#include "core/read/format.h"
#include "core/read/reader.h"
#include "core/stream/input.h"

/*
 * Open a file, or the bytes that it has: as they are, or what a database
 * becomes. `*text` is what the input stands on, or NULL: the caller frees it
 * after closing the input.
 */
MSIM_MUST_CHECK
enum msim_status msim_open_input(struct msim_input **out, char **text,
                                 const struct msim_job_text *from,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err);

/*
 * Input `i` was read, as msim_read_file() says: `status` and `err` of that, and
 * what was found, with its texts in the table of all. Traces that it keeps it
 * sets to NULL in `read`.
 */
typedef enum msim_status msim_take_input(void *ctx, uint32_t i,
                                         enum msim_status status,
                                         struct msim_read_result *read,
                                         struct msim_error *err);

/*
 * Read `n` inputs by up to opt->threads threads, and hand them to `take` in
 * their order, one at a time. Each is read with a table of texts of its own,
 * which then join `strings` in order: so numbers of texts, and all else, do not
 * hang on how many threads there are. One thread reads where an input is a
 * pipe, since several of these may be one. The first failure of `take` ends the
 * reading and is returned; else OK or ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_inputs_read(const struct msim_job_text *from,
                                      uint32_t n, struct msim_strtab *strings,
                                      const struct msim_load_options *opt,
                                      msim_take_input *take, void *ctx);

#endif

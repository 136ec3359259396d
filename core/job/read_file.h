/*
 * core/job/read_file.h - one trace file, from bytes to columns.
 *
 * A file is read in one pass. Its first bytes and its top level show its
 * format; the rest goes to that format's functions (core/read/reader.h). The
 * result is one file's trace: msim_job_load() links files and aligns clocks.
 *
 * The faults of core/stream/json_repair.h end the pass, unless it is run with
 * `repair`: looking for them costs time that sound files need not pay.
 */
#ifndef MSIM_CORE_JOB_READ_FILE_H
#define MSIM_CORE_JOB_READ_FILE_H
#include "core/read/reader.h"
#include "core/stream/input.h"

/*
 * Read a whole input. The trace's times start near 0; its columns are in the
 * order that trace.h promises. A well-formed JSON file that holds no trace
 * gives MSIM_OK and a NULL trace. On failure nothing is left to release, and
 * `err` has the offset and the remedy.
 */
MSIM_MUST_CHECK
enum msim_status msim_read_file(struct msim_read_result *out,
                                struct msim_input *in,
                                struct msim_strtab *strings,
                                const struct msim_load_options *opt,
                                bool repair, struct msim_error *err);

#endif

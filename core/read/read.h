/*
 * core/read/read.h - one trace file, from bytes to columns.
 *
 * A file is read in one pass: read_file.c feeds the pieces of an input to the
 * JSON parser and handles the top level; the array that holds the records is
 * handled by read_et.c or read_kineto.c, whichever the content calls for. The
 * messages of a Chakra file go to read_chakra.c instead.
 * What comes out still is one file's: msim_job_load() links and aligns.
 */
#ifndef MSIM_CORE_READ_READ_H
#define MSIM_CORE_READ_READ_H
#include "core/base/input.h"
#include "core/job/job.h"

/* What was found in a file. */
struct msim_read_result {
    struct msim_trace *trace; /* owned by the caller; NULL: not a trace */
    enum msim_format format;
    uint32_t version; /* string */
    int64_t rank;     /* -1 unknown */
    uint64_t events;  /* all entries of traceEvents, or nodes */
    uint64_t dropped; /* of these: kinds that nothing is made of */
    uint64_t orphans; /* nodes whose parent is not in the file */
    /* Where the trace's time 0 lies on the writer's clock. */
    bool has_origin;
    int64_t origin_us;
    int32_t origin_ps;
    bool salvaged;
    struct msim_error damage; /* salvaged: what was wrong */
};

/*
 * Read a whole input. The trace's times start near 0; its columns are in the
 * order that trace.h promises. A well-formed JSON file that holds no trace
 * gives MSIM_OK and a NULL trace. On failure nothing is left to release.
 */
MSIM_MUST_CHECK
enum msim_status msim_read(struct msim_read_result *out, struct msim_input *in,
                           struct msim_strtab *strings,
                           const struct msim_load_options *opt,
                           struct msim_error *err);

#endif

/*
 * core/chakra/write_chakra.h - a job as Chakra execution traces (protobuf,
 * .et), for simulators that read them.
 *
 * One file a rank, as those simulators want them. One rank goes to PATH;
 * several go to PREFIX.RANK.et, where PATH is PREFIX or PREFIX.et (and .gz, if
 * it ends so). What was read from Chakra with keep_source is written message by
 * message as it came. All else is written with what Chakra has for it, and with
 * attributes of this project (core/read/chakra/read_chakra.h) from which it
 * can be read back: times in whole nanoseconds, dependencies with their delays.
 *
 * duration_micros and duration_ns are a node's own work, without its callees
 * and without waiting: a simulator that starts a node when its data_deps have
 * ended computes the waiting again.
 */
#ifndef MSIM_CORE_CHAKRA_WRITE_CHAKRA_H
#define MSIM_CORE_CHAKRA_WRITE_CHAKRA_H
#include "core/job/job.h"

/* ---- chakra work --------------------------------------------------------- */
/* What a caller knows of an operator's work. */

/* What an operator asks of the GPU; zero where that is not known. */
struct msim_chakra_work {
    double flops, bytes;
};

/* ---- write chakra -------------------------------------------------------- */

struct msim_chakra_options {
    /* For each rank of the job the works of its operators, from which num_ops
     * and tensor_size follow. NULL: these are left out. */
    const struct msim_chakra_work *const *works;
    /* Called for every file that is complete; NULL: silence. */
    void (*written)(void *ctx, const char *path, uint64_t nodes);
    void *ctx;
};

/* What was written, and what Chakra has no place for. */
struct msim_chakra_summary {
    uint32_t files, copied; /* copied: of these, message by message */
    uint64_t nodes;
    uint64_t delays;   /* dependencies with a delay */
    int64_t delay_ns;  /* their sum */
    uint64_t releases; /* nodes whose start no dependency explains */
    uint64_t rounded;  /* times that are not whole nanoseconds */
    bool without_times;
};

/*
 * Write `job` to `path`. On failure `err` has the reason, and files that were
 * there before are as they were; unless the very last step, renaming several
 * files into place, failed between two of them.
 */
MSIM_MUST_CHECK
enum msim_status msim_chakra_write(struct msim_job *job, const char *path,
                                   const struct msim_chakra_options *opt,
                                   struct msim_chakra_summary *summary,
                                   struct msim_error *err);

#endif

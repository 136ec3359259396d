/*
 * core/read/format.h - the formats of trace files, and how they are to be
 * read.
 */
#ifndef MSIM_CORE_READ_FORMAT_H
#define MSIM_CORE_READ_FORMAT_H
#include <stdbool.h>
#include <stdint.h>

enum msim_format { MSIM_FORMAT_ET, MSIM_FORMAT_KINETO, MSIM_FORMAT_CHAKRA };
const char *msim_format_text(enum msim_format f);

#define MSIM_OWN_COMMS_MAX 32

struct msim_load_options {
    bool salvage;       /* keep the complete records of a broken file */
    bool stand_for_all; /* ranks that are not there do as these do */
    bool keep_source;   /* keep a Chakra file's messages for writing it again */
    bool fold;          /* keep the trace of ranks that are all equal once:
                           struct msim_job_member of core/job/job.h */
    bool details;       /* of an ET: schemas, strides and value ranges, which
                           replay needs and costs do not */
    uint64_t memory;    /* bytes that may be taken; 0: half the machine's, since
                           the graph and its runs take as much again */
    uint32_t threads;   /* that read files, each its own; of one file, or of
                           pipes: 1 inflates and parses in turn, 2 overlap */
    /* Called now and then, by one thread at a time, with bytes of input read so
     * far and in all (0: not known); NULL: silence. */
    void (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    /* Patterns of kernels that are communication, besides those whose names
     * are known. */
    const char *communication[MSIM_OWN_COMMS_MAX];
    uint32_t n_communication;
};

#endif

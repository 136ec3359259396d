/*
 * core/job/read_top.h - the top level of a JSON trace file: which format it
 * is, and what stands beside the list of records. For read_file.c.
 *
 * An ET is an object with `nodes`, a Kineto trace one with `traceEvents`, or
 * (2020) a bare array of events. Members come in any order, so the array of
 * records switches the parser to its format's handler by its key, and
 * msim_read_records_end() switches back.
 */
#ifndef MSIM_CORE_JOB_READ_TOP_H
#define MSIM_CORE_JOB_READ_TOP_H
#include "core/read/keyword.h"
#include "core/read/reader.h"

struct msim_read_top {
    struct msim_reader reader; /* first: a callback's context is both */
    struct msim_keyset keys;
    uint8_t place, key;
    struct msim_vec devices; /* struct msim_device_spec */
    struct msim_group_spec group;
};

struct msim_device_spec {
    int64_t id;
    struct msim_gpu_properties p;
};

/* Prepare `top` for a file; undone by msim_read_top_release(). */
void msim_read_top_init(struct msim_read_top *top);
void msim_read_top_release(struct msim_read_top *top);

/* For msim_sax_new(); the context is a struct msim_read_top. */
extern const struct msim_sax_handler msim_read_top_handler;

#endif

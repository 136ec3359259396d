/*
 * core/prediction.h - what a simulation says, ready to be written.
 *
 * Filled by core/analysis.c from a simulated graph; written by the report_*
 * files as text, JSON (schema mystique-sim/prediction/1), CSV, a timeline and
 * a chart. Times here are microseconds as double; NAN means unknown and is
 * written as null.
 */
#ifndef MSIM_CORE_PREDICTION_H
#define MSIM_CORE_PREDICTION_H
#include "core/trace.h"

struct msim_figure {
    double predicted, low, high, measured;
};

struct msim_iteration {
    const char *name;
    struct msim_figure us;
};

/* Five classes that sum to the rank's iteration. */
struct msim_breakdown {
    double compute, communication, memory_copy, host, idle;
};

/* A topmost operator name and all its calls in one iteration. */
struct msim_op_row {
    const char *name;   /* topmost operator, or the kernel's name without one */
    const char *model;  /* family that made most of its time; "measured" */
    const char *source; /* "measured", "table", "law" or "bound" */
    double calls;       /* a mean over iterations */
    struct msim_figure us; /* kernel time of the calls */
    bool communication;    /* not part of kernel_us */
};

/* What --explain and the "not covered" list need: one family's share. */
struct msim_family_row {
    const char *model;
    double calls;
    struct msim_figure us;
};

struct msim_rank_row {
    int64_t rank;
    struct msim_figure iteration_us;
    struct msim_figure kernel_us;
    double transfer_us, wait_us;
    struct msim_breakdown breakdown_us;
};

struct msim_prediction {
    struct msim_arena arena; /* owns everything below */
    const char *version, *platform /* NULL under measured */, *costs, *host;
    const char *const *inputs; /* paths as given */
    uint32_t n_inputs;
    uint32_t ranks;
    struct msim_iteration *iterations;
    uint32_t n_iterations;
    struct msim_figure iteration_us, kernel_us;
    double transfer_us, wait_us, external_wait_us;
    struct msim_breakdown breakdown_us;
    double overlapped_communication_us, overlapped_copy_us;
    double coverage_ops, coverage_time;
    double memory_peak_bytes, flops, mfu; /* NAN unknown */
    struct msim_op_row *ops;              /* most predicted time first */
    uint32_t n_ops;
    struct msim_family_row *families; /* most predicted time first */
    uint32_t n_families;
    struct msim_op_row *uncovered; /* the part of `ops` that only a bound or
                                      nothing stands for, likewise sorted */
    uint32_t n_uncovered;
    struct msim_rank_row *ranks_detail;
    uint32_t n_ranks_detail;
    const char **warnings;
    uint32_t n_warnings;
    double seconds; /* wall time of the prediction; in the text report only */
};

/* One bar of the timeline, in the order (rank, lane, start). */
struct msim_span {
    const char *name, *category; /* cpu_op, cuda_runtime, kernel, ... */
    const char *detail;          /* model that made the duration, or "" */
    msim_ps start, dur;
    uint32_t rank, lane; /* lane indexes msim_timeline.lanes */
};

struct msim_lane_info {
    int64_t rank;
    bool device;      /* a stream, else a CPU thread */
    const char *name; /* "stream 7", "thread 123" */
};

struct msim_timeline {
    struct msim_arena arena;
    struct msim_span *spans;
    uint32_t n_spans;
    struct msim_lane_info *lanes;
    uint32_t n_lanes;
};

void msim_prediction_free(struct msim_prediction *p); /* accepts NULL */
void msim_timeline_free(struct msim_timeline *t);     /* accepts NULL */

#endif

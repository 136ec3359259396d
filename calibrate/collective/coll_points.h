/*
 * calibrate/collective/coll_points.h - measured collectives as points to fit.
 *
 * A point is one collective of one stack on one GPU, with one number of ranks
 * and nodes and one size (rounded to a quarter of an octave). Its value is the
 * mean over its rows of log(time / typical time), where the typical time is the
 * law's with typical constants. Between nodes, logs of the same transfer differ
 * by their configuration: there the time of a size is the lower quartile over
 * the logs. Points of one GPU, stack and kind are a group, which becomes one
 * fit.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_POINTS_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_POINTS_H
#include "calibrate/rows/samples.h"
#include "core/base/json.h"

/* A GPU that the tables name. */
struct msim_coll_gpu {
    const char *table, *generation;
    struct msim_data_sheet sheet;
};

/* One log of a cluster: NCCL version and environment. */
struct msim_coll_log {
    const char *version, *setting; /* the samples' */
    uint32_t group, rows;
    double factor; /* median of its times over the lower quartile of all */
    bool misconfigured;
};

/* The points of one GPU, stack and kind. */
struct msim_coll_group {
    const struct msim_sample *first; /* rows lie together in the samples */
    uint32_t n_rows, gpu;
};

/* A measurement: what points are made of and predictions are scored by. */
struct msim_coll_target {
    const struct msim_sample *row;
    double us;
    double factor; /* of a misconfigured log (msim_coll_log); else 1 */
    uint32_t point;
};

struct msim_coll_point {
    struct msim_work work; /* its size is the point's */
    uint32_t group, gpu, n;
    double y;           /* mean log(time / law) */
    double host_share;  /* 0..1: how much the host, not the GPU, decides */
    double wire_share;  /* 0..1: of the GPU's time, what the wires take */
    uint64_t ranks_key; /* of what is held out together: a number of ranks */
    uint64_t size_key;  /* and a size at it */
    uint64_t source; /* who measured, and over which link, where that is not the
                        usual one */
    bool own_link;   /* the one that the data sheet names */
    bool custom, on_pcie, eager;
};

struct msim_coll_points {
    struct msim_coll_gpu *gpus;
    struct msim_coll_group *groups;
    struct msim_coll_log *logs;
    struct msim_coll_target *targets; /* of one point together */
    struct msim_coll_point *points;   /* of one group together */
    uint32_t n_gpus, n_groups, n_logs, n_targets, n_points;
    uint32_t cap_gpus, cap_groups, cap_logs, cap_targets, cap_points;
};

/*
 * Gather the points of all collectives in `samples` (sorted) whose GPU is in
 * `sheets`, the array of data sheets; both must outlive `p`. Release it in any
 * case.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_points_make(struct msim_coll_points *p,
                                       const struct msim_samples *samples,
                                       const cJSON *sheets,
                                       const char *sheet_file,
                                       struct msim_error *err);
void msim_coll_points_release(struct msim_coll_points *p);

/* The typical time of a work: values of points are relative to it. */
double msim_coll_typical_us(const struct msim_data_sheet *s,
                            const struct msim_work *w);

/* Fill the attributes of a point that follow from its work. */
void msim_coll_point_fill(struct msim_coll_point *p,
                          const struct msim_coll_gpu *gpu);

#endif

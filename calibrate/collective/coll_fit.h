/*
 * calibrate/collective/coll_fit.h - a fit of all collectives of all GPUs
 * together: its points, its constants, what comes of it, and how that is
 * written.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#include "calibrate/fit/law_fit.h"
#include "calibrate/rows/samples.h"
#include "core/base/json.h"

#include <stdint.h>
#include <stdio.h>

/* ---- coll points --------------------------------------------------------- */
/*
 * Measured collectives as points to fit.
 *
 * A point is one collective of one stack on one GPU, with one number of ranks
 * and nodes and one size (rounded to a quarter of an octave). Its value is the
 * mean over its rows of log(time / typical time), where the typical time is the
 * law's with typical constants. Between nodes, logs of the same transfer differ
 * by their configuration: there the time of a size is the lower quartile over
 * the logs. Points of one GPU, stack and kind are a group, which becomes one
 * fit.
 */

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

/* ---- coll constants ------------------------------------------------------ */
/*
 * The constants that fits of collectives are made with:
 * data/laws/collectives.json.
 *
 * The covariance's constants are those of greatest likelihood;
 * msim-fit-collectives finds them again (coll_covariance.h). The weights of
 * intervals were chosen by the interval score of held-out rows; the same
 * program scores others.
 */

/* What decides the shape of a time: switched links and bridges, PCIe trees, or
 * networks between nodes. Each has constants of its own. */
enum msim_coll_fabric {
    MSIM_COLL_SWITCHED,
    MSIM_COLL_PCIE,
    MSIM_COLL_NETWORK,
    MSIM_COLL_FABRICS
};

/* The part of a time that a component of the covariance is about. */
enum msim_coll_regime {
    MSIM_COLL_START,   /* what a collective takes without data */
    MSIM_COLL_WIRE,    /* what the transfer of the data takes */
    MSIM_COLL_BETWEEN, /* where both matter, and libraries change protocols */
    MSIM_COLL_HOST,    /* what the launch of single calls takes */
    MSIM_COLL_REGIMES
};

/* How the covariance falls with the distance of two sizes. */
enum msim_coll_shape {
    MSIM_COLL_SMOOTH, /* Matern 3/2 */
    MSIM_COLL_ROUGH,  /* exponential */
    MSIM_COLL_TREND,  /* Matern 3/2, and linear in the octaves of ranks */
    MSIM_COLL_SHAPES
};

struct msim_coll_component {
    enum msim_coll_regime regime;
    enum msim_coll_shape shape;
    double log_sd; /* standard deviation of the logarithm of the time */
    /* Length scales, in octaves: of bytes, of ranks inside a node, of nodes. A
     * trend has none of ranks. */
    double size, ranks, nodes;
    /* Correlations (0..1) of two points that differ in one of these. */
    double gpu, generation, source, stack, mode, collective;
};

#define MSIM_COLL_COMPONENTS 8

struct msim_coll_process {
    double noise; /* log_sd of a point that no other point explains */
    struct msim_coll_component components[MSIM_COLL_COMPONENTS];
    uint32_t n_components;
};

/* How misses of held-out rows are weighed for the interval of a point. */
struct msim_coll_weights {
    double octaves;         /* of sizes, over which a weight falls by e */
    double log_sd_ratio;    /* the same of expected deviations, a logarithm */
    double own_gpu;         /* factors for rows of the point's own GPU, */
    double own_group;       /* of its group of points, */
    double same_collective; /* of its collective, */
    double same_ranks;      /* and of its number of ranks */
    double prior;           /* groups' worth of a normal distribution */
    double next;            /* octaves within which sizes are neighbours */
    double change_share;    /* of a curve's change that counts as a deviation */
};

struct msim_coll_constants {
    struct msim_coll_process fabrics[MSIM_COLL_FABRICS];
    struct msim_coll_weights weights;
};

/* The word of a fabric in files: "switched", "pcie", "network". */
const char *msim_coll_fabric_text(enum msim_coll_fabric f);

/* Read a file of constants; nothing to release. EFORMAT where one is missing or
 * out of its range. */
MSIM_MUST_CHECK
enum msim_status msim_coll_constants_read(struct msim_coll_constants *out,
                                          const char *file,
                                          struct msim_error *err);

/* Put the constants of fabric `f`, found at `date`, and the log-likelihood that
 * they have over `points` points into the tree of a file of constants. */
MSIM_MUST_CHECK
enum msim_status msim_coll_constants_put(cJSON *tree, enum msim_coll_fabric f,
                                         const struct msim_coll_process *p,
                                         uint32_t points, double log_likelihood,
                                         const char *date);

/* ---- coll result --------------------------------------------------------- */
/* What a fit of collectives results in: curves, and scores on held-out rows. */

/*
 * What is held out as a whole. A number of ranks and a size are held out of one
 * GPU, for all stacks together. A cluster exists between nodes only, and a GPU
 * is held out inside a node only.
 */
enum msim_coll_holdout {
    MSIM_COLL_HOLD_OUT_RANKS,
    MSIM_COLL_HOLD_OUT_SIZES,
    MSIM_COLL_HOLD_OUT_CLUSTER,
    MSIM_COLL_HOLD_OUT_GPU,
    MSIM_COLL_HOLDOUTS
};

/* The errors of one group's predictions on rows that were held out in one way.
 * rows 0: the group is not scored in this way. */
struct msim_coll_score {
    uint32_t rows;
    uint32_t groups; /* collectives and numbers of ranks that the group has */
    struct msim_error_summary error;
    double coverage, width, score; /* as in msim_fit_result */
};

struct msim_coll_fit_result {
    struct msim_fit_result fit; /* scored by held-out ranks; owns its curves */
    struct msim_coll_score scores[MSIM_COLL_HOLDOUTS];
};

/* Release it with msim_coll_fits_release() ("coll fit"). */
struct msim_coll_fits {
    struct msim_coll_points points;
    struct msim_coll_fit_result *fits; /* one for each of points.groups */
    /* Predictions of points.targets, one array for each way; zeros where a
     * target was not held out. */
    struct msim_held_out_row *held_out[MSIM_COLL_HOLDOUTS];
};

/* ---- coll fit ------------------------------------------------------------ */
/*
 * A fit of all collectives of all GPUs together.
 *
 * No GPU is measured at every number of ranks. What is missing is learned from
 * the same GPU's other numbers of ranks and other collectives, and from other
 * GPUs of its generation: by a Gaussian process over the points of all GPUs
 * (kriging_solve.h) with the covariances of coll_covariance.h. The result is a
 * curve with its interval for every number of ranks, measured or inferred.
 */

/*
 * Gather the points of all collectives in `samples` (sorted) whose GPU is in
 * `sheets`, the array of data sheets, with room for their fits; nothing is
 * fitted yet. `samples` and `sheets` must outlive `out`. On success release it.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_fits_init(struct msim_coll_fits *out,
                                     const struct msim_samples *samples,
                                     const cJSON *sheets,
                                     const char *sheet_file,
                                     struct msim_error *err);
void msim_coll_fits_release(struct msim_coll_fits *f);

/* The same, fitted with `constants`, which may be NULL where `samples` holds no
 * collectives; EUNKNOWN where it does. On success release it. */
MSIM_MUST_CHECK
enum msim_status msim_coll_fit(struct msim_coll_fits *out,
                               const struct msim_samples *samples,
                               const struct msim_coll_constants *constants,
                               const cJSON *sheets, const char *sheet_file,
                               struct msim_error *err);

/* Whether groups of fabric `f` are scored with `what` held out. */
bool msim_coll_is_scored(enum msim_coll_fabric f, enum msim_coll_holdout what);

/* The index of the group that begins with row `first`, or UINT32_MAX. */
uint32_t msim_coll_fits_find(const struct msim_coll_fits *f,
                             const struct msim_sample *first);

/* ---- coll write ---------------------------------------------------------- */
/* What files and reports hold of fitted collectives beside their fits. */

/* Add the logs of fit `c` of `all`, if it has any, to the last of the array
 * `fits` of a platform file. */
MSIM_MUST_CHECK
enum msim_status msim_coll_logs_write(cJSON *fits,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* Write the held-out rows of fit `c` of `all`, once for each way to hold out
 * (samples.h). */
MSIM_MUST_CHECK
enum msim_status msim_coll_rows_write(struct msim_file *out,
                                      const char *platform,
                                      const struct msim_coll_fits *all,
                                      const struct msim_coll_fit_result *c);

/* Write a line of the report for each way to hold out: the families collective
 * (numbers of ranks), collective_sizes, collective_cluster and collective_gpu.
 */
void msim_coll_report(FILE *out, const char *platform,
                      const struct msim_sample *first,
                      const struct msim_coll_fit_result *c);

#endif

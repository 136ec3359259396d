/*
 * calibrate/collective/coll_constants.h - the constants that fits of
 * collectives are made with: data/laws/collectives.json.
 *
 * The covariance's constants are those of greatest likelihood;
 * msim-fit-collectives finds them again (coll_likelihood.h). The weights of
 * intervals were chosen by the interval score of held-out rows; the same
 * program scores others.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_CONSTANTS_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_CONSTANTS_H
#include "core/base/json.h"

#include <stdint.h>

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

#endif

/*
 * calibrate/coll_alike.h - how alike two points of collectives are.
 *
 * A covariance is a sum of components, each a product of: how near the sizes
 * and the numbers of ranks are, and a factor for each thing in which the two
 * differ (GPU, generation, source, library, mode of launching, collective).
 * There is a level and slow drift that related GPUs share; a trend over ranks;
 * what one GPU does at some number of ranks whatever runs there, as a PCIe tree
 * makes it; what the host takes where calls are timed one by one; and the jumps
 * where libraries change protocols.
 *
 * The constants were found by a random search for the least mean error over
 * cells, both with sizes and with numbers of ranks held back. There are three
 * sets of them, for what shapes a time differs: switched links and bridges,
 * PCIe trees, networks.
 */
#ifndef MSIM_CALIBRATE_COLL_ALIKE_H
#define MSIM_CALIBRATE_COLL_ALIKE_H
#include "calibrate/coll_points.h"

enum msim_coll_fabric {
    MSIM_COLL_SWITCHED,
    MSIM_COLL_PCIE,
    MSIM_COLL_NETWORK,
    MSIM_COLL_FABRICS
};

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p);

/* Covariance of two points of one fabric, without noise. */
double msim_coll_alike(enum msim_coll_fabric f,
                       const struct msim_coll_points *all,
                       const struct msim_coll_point *a,
                       const struct msim_coll_point *b);

/* Variance of a point's mean over its rows that no other point explains. */
double msim_coll_noise(enum msim_coll_fabric f);

#endif

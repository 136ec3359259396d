/*
 * calibrate/collective/coll_covariance.h - how alike two points of collectives
 * are.
 *
 * A time is a start plus what wires take, t = s + w, so that small changes add
 * up as d log t = (s / t) d log s + (w / t) d log w: what is known of one start
 * tells of another start, and nothing of bulk transfers. A covariance is a sum
 * of components, each a product of
 *
 *   regime   the shares of both points in it: of their starts, of their wires,
 *            of both (where libraries change protocols), of the host that
 *            launches calls one by one;
 *   size     how near the sizes are, in octaves;
 *   ranks    how near the numbers of ranks and nodes are; or a trend over
 *            ranks, linear in their octaves;
 *   factors  one for each thing in which the two differ: GPU, generation,
 *            source, library, mode of launching, collective.
 *
 * The constants maximise the likelihood of the points (Rasmussen and Williams,
 * 2006, section 5.4.1), by its gradient, with those that are far off weighed
 * down as coll_block.h has them; errors on rows held back were not looked at.
 * There are three sets of them, for what shapes a time differs: switched links
 * and bridges, PCIe trees, networks.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#include "calibrate/collective/coll_points.h"

enum msim_coll_fabric {
    MSIM_COLL_SWITCHED,
    MSIM_COLL_PCIE,
    MSIM_COLL_NETWORK,
    MSIM_COLL_FABRICS
};

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p);

/* Covariance of two points of one fabric, without noise. */
double msim_coll_covariance(enum msim_coll_fabric f,
                            const struct msim_coll_points *all,
                            const struct msim_coll_point *a,
                            const struct msim_coll_point *b);

/* Variance of a point's mean over its rows that no other point explains. */
double msim_coll_noise(enum msim_coll_fabric f);

#endif

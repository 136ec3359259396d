/*
 * core/work/axes.h - works that differ in one size alone.
 *
 * A work has an axis for each of its sizes. Two works lie on one axis, of the
 * same `kind`, where all else about them is the same: so the one that is larger
 * there takes no less time.
 *
 *     mm 128 x 64 x 512    on axis n, of all mm 128 x ? x 512: at 64
 *     mm 128 x 80 x 512    on the same axis: at 80
 */
#ifndef MSIM_CORE_WORK_AXES_H
#define MSIM_CORE_WORK_AXES_H
#include "core/work/work.h"

#define MSIM_WORK_AXES 6

struct msim_work_axis {
    uint64_t kind; /* a hash: of equal words, on every machine of a kind */
    double size;
};

/* Fill in `axes`; how many there are. Bytes and FLOPs follow from sizes, and
 * are not looked at. */
uint32_t msim_work_axes(const struct msim_work *w,
                        struct msim_work_axis axes[MSIM_WORK_AXES]);

/*
 * Axis `i` of the work as a number by which kinds are put into an order: which
 * of several contradictions is marked (core/guard/guard.h) depends on it. It is
 * the same for works of a kind, and takes longer than all axes do.
 */
uint64_t msim_work_axis_order(const struct msim_work *w, uint32_t i);

#endif

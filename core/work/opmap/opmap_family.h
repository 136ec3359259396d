/*
 * core/work/opmap/opmap_family.h - the family of each GPU activity of a trace.
 *
 * A measured duration needs no model, but a breakdown by family does need the
 * family: that of the works of the operator that launched the activity, or,
 * where its shapes are not recorded, that of the operator's name. BOUND means
 * not known.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_FAMILY_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_FAMILY_H
#include "core/work/opmap/works.h"

/* That of an operator's own kernels. */
enum msim_family msim_op_family(const struct msim_works *w, uint32_t op);

/* `family` has room for one msim_family a GPU activity of the trace of `w`. */
void msim_gpu_families(const struct msim_works *w, uint8_t *family);

#endif

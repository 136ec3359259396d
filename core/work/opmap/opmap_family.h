/*
 * core/work/opmap/opmap_family.h - what kind of work each GPU activity of a
 * trace does.
 *
 * A measured duration needs no model, but a table by kind of work does: the
 * kind follows from the operator that launched the activity, as a model would
 * take it, or from the operator's name where its shapes are not recorded.
 * BOUND stands for what is not known.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_FAMILY_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_FAMILY_H
#include "core/work/opmap/works.h"

/* `family` has room for one msim_family a GPU activity of the trace of `w`. */
void msim_gpu_families(const struct msim_works *w, uint8_t *family);

#endif

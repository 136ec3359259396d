/*
 * models/platform/platform_nearest.h - what stands in for a traced GPU that is
 * not known.
 *
 * The nearest of the known GPUs is one of the same maker with the nearest
 * compute capability, and among these the one whose numbers of multiprocessors
 * and bytes of memory are nearest. Names of kernels and times are not read.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_NEAREST_H
#define MSIM_MODELS_PLATFORM_PLATFORM_NEAREST_H
#include "core/base/containers.h"
#include "core/trace/trace.h"
#include "models/platform/platform.h"

/*
 * The name of the platform that is nearest to the GPU `gpu` with properties
 * `g`, owned by `arena`. NULL where the trace does not have its number of
 * multiprocessors or its compute capability, or where its maker has none.
 */
const char *msim_platform_nearest(struct msim_arena *arena,
                                  const char *data_dir, const char *gpu,
                                  const struct msim_gpu_properties *g);

/*
 * Make a loaded platform the GPU with properties `g` that it is nearest to: as
 * many multiprocessors, rates in proportion, its memory. The bandwidth is not
 * in a trace and stays; the interval of all kernels is wider for that. Its name
 * becomes "near NAME". Before platforms are paired and clocks set.
 */
void msim_platform_liken(struct msim_platform *p,
                         const struct msim_gpu_properties *g);

#endif

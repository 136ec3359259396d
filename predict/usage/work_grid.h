/*
 * predict/usage/work_grid.h - the grid of a kernel of which only the work is
 * known.
 *
 * Libraries choose a grid by the size of what they are given, so that it
 * follows from the work: tiles of an output, elements a thread, rows a block.
 * It is an estimate: which tile a library takes, and in how many parts it sums,
 * is its own choice. Whether a grid fills the GPU hardly depends on that; how
 * many warps it holds there does.
 *
 * Example: a product of 512 x 1024 on 108 SMs has 32 tiles of 128 x 128 and 128
 * of 64 x 64: the tiles are the largest that give every SM one.
 */
#ifndef MSIM_PREDICT_USAGE_WORK_GRID_H
#define MSIM_PREDICT_USAGE_WORK_GRID_H
#include "core/graph/contention.h"
#include "core/work/work.h"

/* {0} where nothing is known, and of copies, which hold no SM. */
struct msim_residency msim_work_grid(const struct msim_gpu_properties *gpu,
                                     const struct msim_work *w);

#endif

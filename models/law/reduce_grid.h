/*
 * models/law/reduce_grid.h - the grid of PyTorch's kernel for reductions.
 *
 * The one kernel for sums, means, norms and extrema (reduce_kernel) gives each
 * thread a part of the inputs of an output; a thread has four loads in flight
 * at a time. Few outputs therefore make few blocks, whose threads wait: 512
 * rows of 1024 columns, summed over rows, are 8 blocks of 128 threads, and each
 * thread loads 128 / 4 = 32 times, one after the other, on 8 of a GPU's SMs.
 */
#ifndef MSIM_MODELS_LAW_REDUCE_GRID_H
#define MSIM_MODELS_LAW_REDUCE_GRID_H
#include <stdbool.h>

struct msim_reduce_grid {
    double blocks;  /* of the grid */
    double threads; /* of a block */
    double rounds;  /* loads of a thread that wait for each other */
    bool split;     /* several blocks share an output and add up their sums */
};

/*
 * The grid for `outputs` results of `inputs` numbers each, both at least 1, on
 * a GPU of `sms` SMs. `across`: the inputs of an output lie a row apart in
 * memory (sums over rows); else they are adjacent.
 */
struct msim_reduce_grid msim_reduce_grid_of(double outputs, double inputs,
                                            bool across, double sms);

#endif

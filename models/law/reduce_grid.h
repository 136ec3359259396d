/*
 * models/law/reduce_grid.h - how PyTorch spreads a reduction over a GPU.
 *
 * Its one kernel for sums, means, norms and extrema (reduce_kernel) gives each
 * thread a run of the inputs of an output, of which it has four loads under way
 * at a time. Where outputs are few that is all there is to run side by side:
 * 512 rows of 1024 columns, summed over rows, are 8 blocks of 128 threads, and
 * each thread loads 128 / 4 = 32 times, one after the other, on 8 of a GPU's
 * SMs.
 */
#ifndef MSIM_MODELS_LAW_REDUCE_GRID_H
#define MSIM_MODELS_LAW_REDUCE_GRID_H
#include <stdbool.h>

struct msim_reduce_grid {
    double blocks;  /* of all outputs */
    double threads; /* of a block */
    double rounds;  /* loads of a thread that wait for each other */
    bool split;     /* several blocks for an output, whose sums are summed */
};

/*
 * The grid for `outputs` results of `inputs` numbers each, both at least 1, on
 * a GPU of `sms`. `across`: an output's inputs lie a row apart in memory (sums
 * over rows), else side by side.
 */
struct msim_reduce_grid msim_reduce_grid_of(double outputs, double inputs,
                                            bool across, double sms);

#endif

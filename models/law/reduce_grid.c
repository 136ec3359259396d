/*
 * models/law/reduce_grid.c - the rules of setReduceConfig() in PyTorch's
 * aten/src/ATen/native/cuda/Reduce.cuh, as they have been since version 1.5.
 */
#include "models/law/law.h"

#include "core/work/kernel_fact.h"

#include <math.h>

static double power_of_two_below(double x)
{
    return exp2(floor(log2(fmax(x, 1))));
}

/* Outputs of a thread: several where they are adjacent in memory. */
static double outputs_at_once(double outputs, bool across)
{
    if (!across || fmod(outputs, 2) > 0)
        return 1;
    return fmod(outputs, 4) > 0 ? 2 : 4;
}

/* The number of blocks that share an output: above 1 where there would be too
 * few blocks to fill the GPU. */
static double shares(double blocks, double threads, double values, double sms)
{
    double wanted = sms * floor(MSIM_FACT(NULL, SM_THREADS) / threads);
    double few = ceil(wanted / blocks);
    double values_min = MSIM_FACT(NULL, REDUCE_VALUES_MIN);
    double values_max = MSIM_FACT(NULL, REDUCE_VALUES_MAX);

    if (values < values_max || blocks > wanted)
        return 1;
    return fmax(fmin(few, ceil(values / values_min)),
                ceil(values / values_max));
}

struct msim_reduce_grid msim_reduce_grid_of(double outputs, double inputs,
                                            bool across, double sms)
{
    double each = outputs_at_once(outputs, across);
    double most = MSIM_FACT(NULL, REDUCE_THREADS) / each;
    double wide =
        fmin(power_of_two_below(across ? outputs / each : inputs), most);
    double high = fmin(power_of_two_below(across ? inputs : outputs), most);
    double width = fmin(wide, MSIM_FACT(NULL, SM_WARP));
    double height = fmin(high, most / width);
    double values, blocks, share;

    width = fmin(wide, most / height);
    values = across ? inputs : ceil(inputs / width);
    blocks = across ? ceil(outputs / each / width) : outputs;
    if (values >= height * MSIM_FACT(NULL, REDUCE_VALUES_MIN) ||
        values >= MSIM_FACT(NULL, REDUCE_VALUES_MAX))
        values = ceil(values / height);
    else
        blocks = ceil(blocks / height);
    share = shares(blocks, width * height, values, sms);
    return (struct msim_reduce_grid){
        .blocks = blocks * share,
        .threads = width * height,
        .rounds = ceil(ceil(values / share) / MSIM_FACT(NULL, REDUCE_LOADS)),
        .split = share > 1,
    };
}

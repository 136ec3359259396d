/*
 * models/law/reduce_grid.c - the rules of setReduceConfig() in PyTorch's
 * aten/src/ATen/native/cuda/Reduce.cuh, as they have been since version 1.5.
 */
#include "models/law/reduce_grid.h"

#include <math.h>

#define THREADS_MAX   512.0 /* of a block */
#define WARP          32.0
#define LOADS_AT_ONCE 4.0
#define VALUES_MIN    16.0 /* of a thread where blocks share an output */
#define VALUES_MAX    256.0
#define SM_THREADS    2048.0

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
    double wanted = sms * floor(SM_THREADS / threads);
    double few = ceil(wanted / blocks);

    if (values < VALUES_MAX || blocks > wanted)
        return 1;
    return fmax(fmin(few, ceil(values / VALUES_MIN)),
                ceil(values / VALUES_MAX));
}

struct msim_reduce_grid msim_reduce_grid_of(double outputs, double inputs,
                                            bool across, double sms)
{
    double each = outputs_at_once(outputs, across);
    double most = THREADS_MAX / each;
    double wide =
        fmin(power_of_two_below(across ? outputs / each : inputs), most);
    double high = fmin(power_of_two_below(across ? inputs : outputs), most);
    double width = fmin(wide, WARP);
    double height = fmin(high, most / width);
    double values, blocks, share;

    width = fmin(wide, most / height);
    values = across ? inputs : ceil(inputs / width);
    blocks = across ? ceil(outputs / each / width) : outputs;
    if (values >= height * VALUES_MIN || values >= VALUES_MAX)
        values = ceil(values / height);
    else
        blocks = ceil(blocks / height);
    share = shares(blocks, width * height, values, sms);
    return (struct msim_reduce_grid){
        .blocks = blocks * share,
        .threads = width * height,
        .rounds = ceil(ceil(values / share) / LOADS_AT_ONCE),
        .split = share > 1,
    };
}

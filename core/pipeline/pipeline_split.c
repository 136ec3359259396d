/*
 * core/pipeline/pipeline_split.c - how many layers each stage of a pipeline
 * has.
 */
#include "core/pipeline/pipeline_schedule.h"

int64_t msim_pipeline_layers(int64_t layers, int64_t stages, int64_t stage)
{
    int64_t most = (layers + stages - 1) / stages;
    int64_t last = layers - most * (stages - 1);
    int64_t others = stages - 1;

    if (last < 0)
        last = 0;
    if (stage == others)
        return last;
    return (layers - last) / others + (stage < (layers - last) % others);
}

int64_t msim_pipeline_chunk_layers(int64_t layers, int64_t chunks,
                                   int64_t chunk)
{
    return layers / chunks + (chunk < layers % chunks);
}

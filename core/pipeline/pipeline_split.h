/*
 * core/pipeline/pipeline_split.h - how many layers each stage of a pipeline
 * has.
 *
 * Layers that do not divide leave the last stage room for the head, as far as
 * no other stage becomes fuller for it:
 *
 *     10 layers, 4 stages    3 3 3 1
 *
 * A stage that is cut into chunks has its layers in them, the first ones one
 * more. Chunk c of stage s is number c * stages + s on a micro batch's way.
 */
#ifndef MSIM_CORE_PIPELINE_PIPELINE_SPLIT_H
#define MSIM_CORE_PIPELINE_PIPELINE_SPLIT_H
#include <stdint.h>

/* Of stage `stage`, from 0. */
int64_t msim_pipeline_layers(int64_t layers, int64_t stages, int64_t stage);

/* Of chunk `chunk` of `chunks` of a stage that has `layers`. */
int64_t msim_pipeline_chunk_layers(int64_t layers, int64_t chunks,
                                   int64_t chunk);

#endif

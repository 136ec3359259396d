/*
 * core/pipeline/pipeline_schedule.h - the stages of a pipeline: how many layers
 * each has, and what it does in which order.
 */
#ifndef MSIM_CORE_PIPELINE_PIPELINE_SCHEDULE_H
#define MSIM_CORE_PIPELINE_PIPELINE_SCHEDULE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- pipeline split ------------------------------------------------------ */
/*
 * How many layers each stage of a pipeline has.
 *
 * Layers that do not divide leave the last stage room for the head, as far as
 * no other stage becomes fuller for it:
 *
 *     10 layers, 4 stages    3 3 3 1
 *
 * A stage that is cut into chunks has its layers in them, the first ones one
 * more. Chunk c of stage s is number c * stages + s on a micro batch's way.
 */

/* Of stage `stage`, from 0. */
int64_t msim_pipeline_layers(int64_t layers, int64_t stages, int64_t stage);

/* Of chunk `chunk` of `chunks` of a stage that has `layers`. */
int64_t msim_pipeline_chunk_layers(int64_t layers, int64_t chunks,
                                   int64_t chunk);

/* ---- pipeline schedule --------------------------------------------------- */
/*
 * What a pipeline stage does in which order, whether its traces are written of
 * a description (plan/synth) or made of a recorded step (core/rewrite).
 *
 * One forward, one backward (Narayanan et al., "PipeDream", 2019): a stage runs
 * as many micro batches ahead as stages follow it. With several chunks of
 * layers a stage (Narayanan et al., "Efficient Large-Scale Language Model
 * Training on GPU Clusters", 2021) micro batches go through all stages once for
 * each chunk, in groups of as many as there are stages:
 *
 *     2 stages, 2 chunks, stage 0:  F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 ...
 *                                   (chunk.micro batch)
 *
 * GPipe (Huang et al., "GPipe: Efficient Training of Giant Neural Networks
 * using Pipeline Parallelism", 2019) runs all micro batches forward, then all
 * of them backward, each in the order in which they came.
 *
 * Without bubbles (Qi et al., "Zero Bubble Pipeline Parallelism", 2023: ZB-H1)
 * gradients of weights are a pass of their own, which runs where a stage would
 * wait: no more micro batches are in flight than the first stage has with one
 * forward, one backward.
 *
 * A stage receives right before the pass that begins with it, sends right
 * behind the pass that made it, and goes on meanwhile, as PyTorch's schedules
 * and Megatron-LM's do:
 *
 *     3 stages, 1F1B, stage 1:  receive F0 send  receive F1 send  receive B0
 *                               send  receive F2 send  receive B1 send ...
 *
 * What a stage sends one way goes to one other stage, which receives it in the
 * same order, so that no two stages wait for each other.
 */

enum msim_turn_kind { /* passes, then messages */
                      MSIM_TURN_RUN,
                      MSIM_TURN_WEIGHTS,
                      MSIM_TURN_SEND,
                      MSIM_TURN_RECEIVE
};

/* A pass of one chunk on one micro batch, or its gradients of weights; or what
 * the pass makes is sent to the stage that goes on with it; or what it needs is
 * received from where that was made. */
struct msim_turn {
    enum msim_turn_kind kind;
    bool back;
    uint32_t chunk, batch;
};

struct msim_pipeline_schedule {
    struct msim_turn *turns;
    uint32_t n;
    uint32_t kept; /* micro batches of one chunk that are in flight at most */
};

struct msim_pipeline {
    uint32_t stages, chunks, batches;
    bool split; /* gradients of weights are passes of their own; one chunk */
    bool gpipe; /* no pass goes back before all went forward; one chunk */
};

/* Of stage `stage`. With several chunks `batches` is a multiple of `stages`.
 * Release it, also where this fails. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_pipeline_schedule_make(struct msim_pipeline_schedule *s,
                                             const struct msim_pipeline *of,
                                             uint32_t stage);
void msim_pipeline_schedule_release(struct msim_pipeline_schedule *s);

#endif

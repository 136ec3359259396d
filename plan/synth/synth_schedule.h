/*
 * plan/synth/synth_schedule.h - what a pipeline stage does in which order.
 * Private to plan/synth.
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
 * Sends and receives wait for each other. Those of all stages are in one order,
 * by when the results would be there if forward took 1 and backward 2, so that
 * no two stages wait for each other's next one.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_SCHEDULE_H
#define MSIM_PLAN_SYNTH_SYNTH_SCHEDULE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum msim_turn_kind { MSIM_TURN_RUN, MSIM_TURN_SEND, MSIM_TURN_RECEIVE };

/* A pass of one chunk on one micro batch; or what it makes is sent to the stage
 * that goes on with it; or what it needs is received from where that was made.
 */
struct msim_turn {
    enum msim_turn_kind kind;
    bool back;
    uint32_t chunk, batch;
};

struct msim_synth_schedule {
    struct msim_turn *turns;
    uint32_t n;
    uint32_t kept; /* micro batches of one chunk that wait for backward at most
                    */
};

/* Of stage `stage`. With several chunks `batches` is a multiple of `stages`.
 * Release it, also where this fails. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_schedule_make(struct msim_synth_schedule *s,
                                          uint32_t stages, uint32_t chunks,
                                          uint32_t batches, uint32_t stage);
void msim_synth_schedule_release(struct msim_synth_schedule *s);

#endif

/*
 * plan/synth/synth_rank.h - one rank's step: its layers, its optimizer, what it
 * exchanges, in which order. Private to plan/synth.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_RANK_H
#define MSIM_PLAN_SYNTH_SYNTH_RANK_H
#include "core/pipeline/pipeline_schedule.h"
#include "plan/synth/synth_layer.h"
#include "plan/synth/synth_optimizer.h"

#define MSIM_SYNTH_GROUPS 9
enum { MSIM_SYNTH_AHEAD, MSIM_SYNTH_BEHIND };
enum { MSIM_SYNTH_FORWARD, MSIM_SYNTH_BACKWARD };

/* One rank. */
struct msim_synth_rank {
    struct msim_synth y;
    struct msim_synth_group dp;      /* that share parameters */
    struct msim_synth_group experts; /* that share those of experts */
    /* With the next stage and the one before, of several chunks in a ring. Each
     * way has a group of its own, so that sends and receives of both meet in
     * order. */
    struct msim_synth_group pipeline[2][2];
    char names[MSIM_SYNTH_GROUPS][48]; /* of all of these */
    struct msim_parts parts;
    int64_t number, stage;
    struct msim_pipeline_schedule schedule;
    struct msim_synth_layer *layers; /* of its chunks, in order */
    uint32_t *first;                 /* of each chunk; one more: the end */
    uint32_t n;
    struct msim_synth_optimizer optimizer;
    /* Of each chunk and micro batch, forward and backward: what the pass is
     * given, and what it makes. */
    struct msim_etw_tensor *given[2], *made[2];
};

/* The layers of the rank's stage, and what its optimizer keeps, all there
 * before the trace. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_rank_layers(struct msim_synth_rank *r);
MSIM_MUST_CHECK
enum msim_status msim_synth_rank_states(struct msim_synth_rank *r);
/* Write one step. */
void msim_synth_rank_step(struct msim_synth_rank *r);
void msim_synth_rank_release(struct msim_synth_rank *r);

#endif

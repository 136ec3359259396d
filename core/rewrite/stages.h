/*
 * core/rewrite/stages.h - the changes that rewrite.c does one after the other,
 * each from a trace to a draft. Private to core/rewrite.
 */
#ifndef MSIM_CORE_REWRITE_STAGES_H
#define MSIM_CORE_REWRITE_STAGES_H
#include "core/rewrite/rewrite_options.h"
#include "core/rewrite/weave/weave.h"

typedef enum msim_status msim_stage_fn(struct msim_weave *w,
                                       const struct msim_rewrite *r);

/* More or fewer blocks of layers. */
msim_stage_fn msim_stage_repeat;

/* Automatic mixed precision: casts around what computes in a narrower type. */
msim_stage_fn msim_stage_mixed;

/* Products of linear layers in 8 bits. */
msim_stage_fn msim_stage_fp8;

/* A capture of a CPU as a GPU runs it: attention and dropout; the optimizer's
 * step, by lists of parameters. */
msim_stage_fn msim_stage_gpu, msim_stage_lists;

/* Activation checkpointing: a block keeps its inputs, and its forward pass runs
 * again before its backward one. */
msim_stage_fn msim_stage_recompute;

/* What forward keeps for backward waits in the host's memory. */
msim_stage_fn msim_stage_offload_activations;

/* Gradient accumulation: forward and backward run once for each micro batch,
 * gradients are added up in place, the optimizer steps once. */
msim_stage_fn msim_stage_accumulate;

/* One stage of a pipeline, whose ranks stand once more for each data parallel
 * one. */
msim_stage_fn msim_stage_pipeline;

/* Data parallel: gradients are all-reduced in buckets (DDP), or parameters,
 * gradients and states are shared out (ZeRO, FSDP). */
msim_stage_fn msim_stage_ddp, msim_stage_shard;

/* The optimizer: on the host; with states of 8 bits; parameter by parameter in
 * backward. */
msim_stage_fn msim_stage_offload, msim_stage_optimizer_bits,
    msim_stage_in_backward;

#endif

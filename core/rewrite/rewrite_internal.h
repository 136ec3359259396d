/*
 * core/rewrite/rewrite_internal.h - what the files of core/rewrite share; no
 * other room includes it.
 */
#ifndef MSIM_CORE_REWRITE_REWRITE_INTERNAL_H
#define MSIM_CORE_REWRITE_REWRITE_INTERNAL_H
#include "core/rewrite/rewrite.h"
#include "core/rewrite/weave/weave.h"

/* ---- stages -------------------------------------------------------------- */
/*
 * The changes that rewrite.c does one after the other, each from a trace to a
 * draft.
 */

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

/* ---- shard units --------------------------------------------------------- */
/*
 * What is shared out together: the parameters of one block of layers, those of
 * no block (the root, unit 0), and where asked for those of one batch norm.
 */

struct msim_shard_unit {
    int64_t elems;   /* of its parameters */
    uint32_t whole;  /* a storage for all of them */
    uint8_t dtype;   /* that most of them are computed with */
    uint8_t kept_as; /* and that the optimizer has */
    uint8_t device;
};

/* Where a pass needs a unit: statements, NONE where it does not. */
struct msim_shard_span {
    uint32_t forward, forward_last, backward, backward_last;
    uint32_t gradient_last; /* the last AccumulateGrad of it */
};

struct msim_shard_units {
    struct msim_weave *w;
    struct msim_shard_unit *rows;
    uint32_t n;
    uint32_t together;    /* unit i + together has what of unit i is apart */
    const uint8_t *apart; /* by life; NULL: none is, and there are no such */
    uint32_t *of;         /* by life: of a parameter, else NONE */
    uint32_t *in_pass;    /* by block: its number in its pass, from 1 */
    uint32_t *norm;       /* by statement: the unit of a batch norm, or
                             NONE */
    uint32_t *members, *first; /* lives of unit i: [first[i], first[i + 1]) */
    struct msim_shard_span *span; /* by pass and unit */
};

/*
 * With `norms` each batch norm is a unit of its own, as FSDP's automatic
 * wrapping makes it under mixed precision (MixedPrecision:
 * _module_classes_to_ignore). Parameters that are marked in `apart`, by life,
 * which other ranks share, are units of their own. Release in any case. EUSAGE
 * where no parameter is found; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_find(struct msim_shard_units *u,
                                       struct msim_weave *w, bool norms,
                                       const uint8_t *apart);
void msim_shard_units_release(struct msim_shard_units *u);

/* Name every unit as a whole: its parameters are views of one tensor. */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_view(struct msim_shard_units *u,
                                       struct msim_draft_place at);

/* From now on parameters of `unit` are in `storage`. */
void msim_shard_units_put(struct msim_shard_units *u, uint32_t unit,
                          uint32_t storage);

/*
 * Each of `ranks` has updated one share of every unit, of those that are apart
 * or of the others, which is whole on all of them: all-gather the shares, and
 * wait. `*sequence` counts collectives.
 */
MSIM_MUST_CHECK
enum msim_status msim_shard_units_gather(struct msim_shard_units *u, bool apart,
                                         uint32_t ranks,
                                         struct msim_draft_place at,
                                         int64_t *sequence);

/* Where pass `pass` needs unit `unit`. */
struct msim_shard_span *msim_shard_units_span(const struct msim_shard_units *u,
                                              uint32_t pass, uint32_t unit);

/* The unit that statement `s` of a pass belongs to. */
uint32_t msim_shard_units_of(const struct msim_shard_units *u, uint32_t s);

#endif

/*
 * core/rewrite/rewrite.h - another way to train, made of a recorded step.
 */
#ifndef MSIM_CORE_REWRITE_REWRITE_H
#define MSIM_CORE_REWRITE_REWRITE_H
#include "core/trace/trace.h"

#include <stdbool.h>

/* ---- rewrite options ----------------------------------------------------- */
/* What a rewritten step does otherwise. All zero: nothing. */

#define MSIM_REWRITE_GLOB  128
#define MSIM_REWRITE_BLOCK 64

/* How ranks of data parallel share the model. X(name, word of a scenario) */
#define MSIM_SHARD_MAP(X)                                                      \
    X(DDP, "ddp")                                                              \
    X(ZERO1, "zero1")                                                          \
    X(ZERO2, "zero2")                                                          \
    X(NO_SHARD, "no_shard")                                                    \
    X(GRAD_OP, "shard_grad_op")                                                \
    X(FULL, "fsdp")

enum msim_shard {
    MSIM_SHARD_NONE,
#define X(name, text) MSIM_SHARD_##name,
    MSIM_SHARD_MAP(X)
#undef X
};

/* In which order micro batches go through pipeline stages
 * (core/pipeline/pipeline_schedule.h). X(name, word of a scenario) */
#define MSIM_TURNS_MAP(X)                                                      \
    X(1F1B, "1f1b")                                                            \
    X(INTERLEAVED, "interleaved")                                              \
    X(ZERO_BUBBLE, "zero-bubble")                                              \
    X(GPIPE, "gpipe")

enum msim_turns_order {
#define X(name, text) MSIM_TURNS_##name,
    MSIM_TURNS_MAP(X)
#undef X
};

/* How ranks split the model. 0: as recorded. */
struct msim_split {
    uint32_t tp, pp, vp;
    uint32_t cp;            /* ranks that share every sequence */
    uint32_t dp;            /* as msim_rewrite.world, which is as many */
    uint32_t ep;            /* of the copies, ranks that have different experts
                             */
    uint32_t etp;           /* ranks that share each expert: 1, or all of tp; 0:
                               as msim_split_expert_shares() */
    uint32_t micro_batches; /* of a step, each of the recorded batch */
    bool rows;      /* with tp: tokens are shared out between products, too */
    bool rows_said; /* that is stated */
    bool dtensor;   /* with tp: as PyTorch's parallelize_module does it */
    uint8_t order;  /* enum msim_turns_order */
    const uint32_t *blocks; /* of layers, by stage: `pp` numbers; NULL: evenly.
                               Whoever sets it owns it */
    bool whole;             /* recorded stages of a pipeline become one rank */
    uint32_t joins; /* recorded tensor parallel ranks that become one; 0, 1:
                       none do */
    uint32_t experts_join; /* recorded ranks whose experts one has; 0, 1: as
                              recorded */
    uint32_t recorded;     /* ranks of the recorded job; 0: one */
    uint32_t stage;        /* whose trace is made, from 0 */
};

/*
 * Ranks that share each expert where tp ranks are made: as many, if ep divides
 * dp x cp (Megatron-Core's default); else ep takes tensor parallel ranks, too,
 * and each has whole experts.
 */
static inline uint32_t msim_split_expert_shares(const struct msim_split *p)
{
    uint64_t copies = (uint64_t)(p->dp ? p->dp : 1) * (p->cp ? p->cp : 1);

    if (p->etp)
        return p->etp;
    return p->tp > 1 && (p->ep <= 1 || copies % p->ep == 0) ? p->tp : 1;
}

/* Repetitions of one trace that are changed beside the first. */
#define MSIM_REWRITE_REPEATS 3

struct msim_rewrite_layers {
    uint32_t to; /* 0: as many as recorded */
    char block[MSIM_REWRITE_BLOCK];
};

struct msim_rewrite {
    /* Blocks of layers of the repetition that is so called (weave/weave.h);
     * without a name of the only one. 0: as many as recorded. */
    uint32_t layers;
    char layers_block[MSIM_REWRITE_BLOCK];
    /* Of other repetitions: a decoder beside an encoder. */
    struct msim_rewrite_layers more_layers[MSIM_REWRITE_REPEATS];
    uint32_t n_more_layers;
    /* Blocks whose forward pass is computed again in backward: one of so many;
     * 0: none. With a GLOB only operators that match it are. */
    uint32_t recompute_every;
    char recompute_ops[MSIM_REWRITE_GLOB];
    bool anew; /* a trace of its own even where nothing else is asked for, so
                  that it can be held against those where something is */
    uint32_t accumulate; /* micro batches of a step; 0: as recorded */
    uint8_t autocast;    /* enum msim_dtype that PyTorch's autocast casts fp32
                            to; UNKNOWN: none */
    uint8_t mixed;       /* likewise of FSDP's MixedPrecision */
    bool fp8;            /* products of linear layers in 8 bits */
    uint32_t world;      /* ranks, each with the recorded batch; 0: as recorded;
                            above 1 without `shard`: DDP */
    enum msim_shard shard;
    struct msim_split parallel;
    double bucket_mib; /* of DDP's buckets; 0: 25 */
    /* Bytes at which recorded ones are full, which are filled anew: the first,
     * and others (msim_rewrite_settle_buckets()). 0: as they are */
    int64_t bucket_first, bucket_others;
    bool bucket_views;        /* gradients are views of DDP's buckets */
    bool offload_activations; /* what backward reads waits on the host */
    bool offload_states; /* the optimizer runs on the host, with its states;
                            sharded parameters are there, too */
    bool optimizer_8bit; /* its states */
    bool in_backward;    /* a parameter is updated when its gradient is there
                          */
};

/* How much of forward is computed again: 0 nothing, 1 a part, 2 all of it. */
static inline int msim_rewrite_again(const struct msim_rewrite *r)
{
    return !r->recompute_every                           ? 0
           : r->recompute_every > 1 || *r->recompute_ops ? 1
                                                         : 2;
}

/* Ranks that have the same parameters: those of a sequence, too, reduce
 * gradients. 0: not said. */
static inline uint32_t msim_rewrite_copies(const struct msim_rewrite *r)
{
    uint32_t cp = r->parallel.cp ? r->parallel.cp : 1;

    return r->world || cp > 1 ? (r->world ? r->world : 1) * cp : 0;
}

/* ---- tensor -------------------------------------------------------------- */
/* A recorded step as one of several tensor parallel ranks runs it. */

/* That of how->tp ranks. On success the caller owns `*out`
 * (msim_trace_free()). EUSAGE where `t` cannot be split so, with the reason in
 * `err`; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_tensor_split_new(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_split *how,
                                       struct msim_error *err);

/* Can a trace of ranks that split the model already be what is asked for?
 * EUSAGE where ranks do not divide, or tokens are shared out otherwise than
 * recorded. */
MSIM_MUST_CHECK
enum msim_status msim_tensor_check_recorded(const struct msim_trace *t,
                                            const struct msim_split *how,
                                            struct msim_error *err);

/* ---- gpu form ------------------------------------------------------------ */
/* What a trace has whose CPU form is another than that of a GPU. */

#define MSIM_GPU_FORM_MATH    "aten::_scaled_dot_product_attention_math"
#define MSIM_GPU_FORM_DROPOUT "aten::dropout"

/* "Optimizer.step#AdamW.step": is it a step that goes by lists on a GPU? */
bool msim_step_takes_lists(const char *label);

/* ---- rewrite ------------------------------------------------------------- */
/*
 * Another way to train, made of a recorded step: activations computed again,
 * gradients accumulated, parameters shared out.
 *
 * The result is an execution trace of its own, without times: operators of the
 * recorded one once, often or not at all, and those that the change brings. The
 * recorded trace is never edited. What is asked for is done in one order,
 * whatever the order in which it was asked:
 *
 *     more or fewer layers, casts of mixed precision and of 8 bits, recompute,
 *     activations to the host, accumulate, stages of a pipeline, shard over
 *     ranks, the optimizer
 */

bool msim_rewrite_is_none(const struct msim_rewrite *r);

/* How many traces, one a stage, a recorded one becomes. */
uint32_t msim_rewrite_stages(const struct msim_rewrite *r);

/*
 * The trace of `t` changed so, that of r->parallel.stage where there are
 * several; `strings` is the table of its job. On success
 * the caller owns `*out` (msim_trace_free()). EUSAGE, with the reason in `err`,
 * where `t` cannot be changed so; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewritten_new(struct msim_trace **out,
                                    const struct msim_trace *t,
                                    struct msim_strtab *strings,
                                    const struct msim_rewrite *r,
                                    struct msim_error *err);

/* Those of all stages, msim_rewrite_stages() of them, whatever
 * r->parallel.stage: what comes before stages is done once. After a failure all
 * of `out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_rewritten_stages_new(struct msim_trace **out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const struct msim_rewrite *r,
                                           struct msim_error *err);

/*
 * How many micro batches a step of `t` has: forward passes up to the first step
 * of the optimizer; 0: steps have different numbers, or there is no such step.
 * EUSAGE where the trace does not say what its passes are; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_count_passes(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           struct msim_error *err);

/*
 * How many blocks of layers the repetition `block` of `t` has (rewrite_options'
 * layers_block). EUSAGE, with what was found, where there is none; ENOMEM,
 * ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_count_layers(uint32_t *out,
                                           const struct msim_trace *t,
                                           struct msim_strtab *strings,
                                           const char *block,
                                           struct msim_error *err);

/*
 * Where DDP's buckets of `t` would have other gradients with the sizes of
 * `view`, a view of it, or `r` changes layers, too, `r` fills them anew.
 * ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_rewrite_settle_buckets(struct msim_rewrite *r,
                                             const struct msim_trace *t,
                                             const struct msim_trace *view,
                                             struct msim_strtab *strings);

/*
 * A trace that was captured on a CPU, as a GPU runs it (gpu_form.c). Where it
 * would be no different `*out` is NULL: not of a CPU, without ids of tensors or
 * backward, without what the two run in different ways. ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_gpu_form_new(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   struct msim_strtab *strings);

/* Is that form of other operators, attention or dropout, and not of another
 * optimizer's step alone? */
bool msim_gpu_form_is_other(const struct msim_trace *t);

#endif

/*
 * plan/parts/parts.h - what one rank does for one micro batch, as works and
 * collectives.
 */
#ifndef MSIM_PLAN_PARTS_PARTS_H
#define MSIM_PLAN_PARTS_PARTS_H
#include "core/work/work.h"
#include "plan/describe/strategy.h"

/* ---- part ---------------------------------------------------------------- */
/*
 * One part of a model: its operators with their sizes on one rank, its
 * collectives, what it keeps.
 */

enum msim_part_kind {
    MSIM_PART_EMBEDDING,
    MSIM_PART_DENSE,   /* attention and a feed-forward network */
    MSIM_PART_EXPERTS, /* attention and experts */
    MSIM_PART_HEAD,    /* the last norm, the logits, the loss */
    MSIM_PART_COUNT
};

enum msim_pass { MSIM_PASS_FORWARD, MSIM_PASS_BACKWARD, MSIM_PASS_COUNT };

/* What an operator does: what constants of the step law go by, and what synth
 * writes. */
enum msim_part_op_kind {
    MSIM_PART_OP_LINEAR,
    MSIM_PART_OP_ATTENTION,
    MSIM_PART_OP_EXPERT,
    MSIM_PART_OP_SCORES,
    MSIM_PART_OP_NORM,
    MSIM_PART_OP_POINTWISE,
    MSIM_PART_OP_LOSS,
    MSIM_PART_OP_EMBEDDING,
    MSIM_PART_OP_QUANTISE,
    MSIM_PART_OP_PLAIN, /* PyTorch's own kernels, as single ones are estimated
                         */
    MSIM_PART_OP_COUNT
};

struct msim_part_op {
    enum msim_part_op_kind kind;
    const char *name; /* static: "qkv", "attention", "residual" */
    enum msim_pass pass;
    bool selective; /* selective recomputation runs it again in backward */
    struct msim_work work;
};

enum msim_part_group {
    MSIM_PART_GROUP_TP,
    MSIM_PART_GROUP_CP,
    MSIM_PART_GROUP_EP
};

struct msim_part_comm {
    enum msim_collective collective; /* of EP: a dispatch and its combine */
    enum msim_part_group group;
    enum msim_pass pass;
    double bytes; /* size column of nccl-tests */
    double count;
};

#define MSIM_PART_OPS   128
#define MSIM_PART_COMMS 20

struct msim_part {
    enum msim_part_kind kind;
    double layers; /* of the model that are this part; 1 for the others */
    struct msim_part_op ops[MSIM_PART_OPS];
    uint32_t n_ops;
    struct msim_part_comm comms[MSIM_PART_COMMS];
    uint32_t n_comms;
    /* Elements on one rank, of one layer. */
    double parameters;        /* spread over data parallel ranks alike */
    double expert_parameters; /* of experts: over msim_expert_copies() ranks */
    double adapters; /* of `parameters`: all that is trained, with LoRA */
    double narrow;   /* of `parameters`: frozen, in technique.base_bits */
    /* Bytes that forward of one micro batch keeps for backward, one layer: */
    double saved;    /* all of it */
    double gathered; /* of it: inputs gathered from tensor parallel ranks,
                        which backward may gather again */
    double saved_selective; /* what selective recomputation does not keep */
    double delayed; /* what gradients of weights need where they run later:
                       inputs of layers with weights, gradients of what those
                       made */
    double input;   /* the layer's input: all that full keeps */
    double working; /* the largest that backward needs beside it */
    /* The most that a stated program has at once for its loss; 0: the program
     * is not stated. */
    double loss;
};

/* ---- parts --------------------------------------------------------------- */
/*
 * What one rank does for one micro batch, as works.
 *
 * A described transformer under a strategy consists of parts: the embedding,
 * layers (dense, or with experts; windowed or not) and the head with the loss.
 * Equal layers are one part. A part lists its operators forward and backward
 * with their sizes on one rank, its collectives inside tensor, context and
 * expert groups, its parameters, and what forward keeps for backward. Nothing
 * here is a time: plan/step prices the works, plan/memory adds the bytes.
 *
 * With tensor parallelism sequences are split, too (Korthikanti et al.,
 * "Reducing Activation Recomputation in Large Transformer Models", 2022): norms
 * and residuals see tokens / tp, and a layer gathers and scatters instead of
 * reducing to all. The bytes on the wire are the same.
 */

#define MSIM_PARTS_MOST 6

struct msim_parts {
    struct msim_part part[MSIM_PARTS_MOST];
    uint32_t n;
    /* Of a layer with experts, for exchanges of tokens. */
    int64_t hidden, topk, experts, topk_groups, groups;
    double tokens;     /* of one micro batch on one rank */
    double seq_tokens; /* of those, where sequences are split by tp */
};

/* The type of activations and of what products of 16 or 32 bits read. */
enum msim_dtype msim_precision_dtype(enum msim_precision p);

/* The parts of `m` under the complete strategy `s`. */
void msim_parts_make(struct msim_parts *p, const struct msim_described *m,
                     const struct msim_strategy *s);

/* The same on memory that is NULL before; NULL where there is none left. */
const struct msim_part *msim_parts_find(const struct msim_parts *p,
                                        enum msim_part_kind kind);

#endif

/*
 * plan/parts/parts_maker.h - what the files that make parts share. Private to
 * plan/parts.
 *
 * A maker adds operators to one part: their works, and what they keep.
 */
#ifndef MSIM_PLAN_PARTS_PARTS_MAKER_H
#define MSIM_PLAN_PARTS_PARTS_MAKER_H
#include "plan/parts/parts.h"

struct msim_parts_maker {
    const struct msim_described *m;
    const struct msim_strategy *s;
    struct msim_part *part;
    enum msim_dtype dtype;      /* of activations, and what products read */
    const char *linear_variant; /* "tf32", or NULL */
    bool narrow; /* the layer at hand multiplies in 8 or 4 bits */
    double tokens, seq_tokens;
    double each; /* bytes of an activation's element */
};

/* plan/parts/parts_maker.c */
struct msim_work *msim_parts_add(struct msim_parts_maker *k,
                                 enum msim_part_op_kind kind, const char *name,
                                 enum msim_pass pass);
void msim_parts_vector(struct msim_parts_maker *k, enum msim_part_op_kind kind,
                       const char *name, enum msim_pass pass,
                       enum msim_family family, const char *variant,
                       double elems, double read, double written);
/* Reads `inputs` tensors of `elems` elements and writes `outputs`. */
void msim_parts_pointwise(struct msim_parts_maker *k, const char *name,
                          enum msim_pass pass, const char *variant,
                          double elems, double inputs, double outputs);
void msim_parts_product(struct msim_parts_maker *k, const char *name,
                        enum msim_pass pass, double m, double n, double kk);
/*
 * Whether a layer of `in` x `out` weights multiplies `rows` rows in 8 or 4 bits
 * where the strategy does: all linear layers of a block (attention,
 * feed-forward networks, experts), in forward and in both products of backward,
 * as Transformer Engine does it; not the router nor what stands before and
 * behind the blocks. Kernels want sizes in sixteens (torch._scaled_mm).
 */
bool msim_parts_is_narrow(const struct msim_parts_maker *k, const char *name,
                          double rows, double in, double out);
/*
 * What narrow products of a linear layer need beside them, one kernel a work
 * (MSIM_PART_OP_QUANTISE); nothing where they are not narrow. Of `input`,
 * `weight` and `gradient` elements: casts of input and weight forward, of the
 * gradient backward, and there all three in the other order. Scales are those
 * that earlier steps gave (Transformer Engine's DelayedScaling, its default) or
 * those of blocks: nobody reads an operand to find its scale first.
 */
void msim_parts_casts(struct msim_parts_maker *k, const char *name,
                      double input, double weight, double gradient);
void msim_parts_comm(struct msim_parts_maker *k, enum msim_collective c,
                     enum msim_part_group g, enum msim_pass pass, double bytes,
                     double count);
void msim_parts_tensor_parallel(struct msim_parts_maker *k);

/* Dropout of a layer's width, in the same kernel as bias and sum. */
void msim_parts_dropout(struct msim_parts_maker *k);

/* plan/parts/parts_weights.c */
void msim_parts_linear(struct msim_parts_maker *k, const char *name,
                       double rows, double in, double out);
void msim_parts_norm(struct msim_parts_maker *k, const char *name, double rows,
                     double cols);

/* plan/parts/parts_tuned.c */
/* A linear layer of a model with adapters: frozen, with two narrow layers
 * beside it where it is a target. */
void msim_parts_adapted(struct msim_parts_maker *k, const char *name,
                        double rows, double in, double out);
/* What a program that runs operator by operator reads, writes and keeps beyond
 * fused kernels; of PyTorch's usual code for each. Nothing where a strategy
 * does not state `compile` as no. */
void msim_parts_plain_norm(struct msim_parts_maker *k, const char *name,
                           double elems);
void msim_parts_plain_rope(struct msim_parts_maker *k, double elems);
void msim_parts_plain_activation(struct msim_parts_maker *k, double elems);
void msim_parts_plain_sums(struct msim_parts_maker *k, double elems);
/* Keys and values once a head, of grouped queries. */
void msim_parts_repeat(struct msim_parts_maker *k, double elems);
/* The loss on `elems` logits of a program whose `compile` or chunks are
 * stated; false: neither is. */
bool msim_parts_tuned_loss(struct msim_parts_maker *k, double elems);

/* plan/parts/parts_ends.c */
void msim_parts_embedding(struct msim_parts_maker *k);
void msim_parts_head(struct msim_parts_maker *k);
/* The loss on `elems` logits. */
void msim_parts_loss(struct msim_parts_maker *k, double elems);

/* plan/parts/parts_encoder.c: the same of encoders. */
void msim_parts_encoder_input(struct msim_parts_maker *k);
void msim_parts_encoder_head(struct msim_parts_maker *k);

#endif

/*
 * core/reshape/axis.h - which sizes of a trace's tensors are one axis of its
 * data: the batch, or the sequence.
 *
 * A trace has numbers, not names: in a model of hidden size 512, run with 8
 * samples of 43 tokens,
 *
 *     [8, 43, 512]   has the batch as its first size
 *     [344, 512]     has it inside 344, which is 8 x 43 of the tensor above
 *     [512, 128]     is a weight, although 8 divides 512
 *
 * So five things are learned: what is a weight and keeps its sizes
 * (weights.h); what layers take and give, which is no axis; sizes equal to it;
 * products of neighbouring sizes with one of those among them, which flattening
 * makes; and how many rows of data with the axis are chosen by its values
 * (aten::nonzero: the tokens of an expert; indices of embedding_bag), which go
 * with it in proportion.
 */
#ifndef MSIM_CORE_RESHAPE_AXIS_H
#define MSIM_CORE_RESHAPE_AXIS_H
#include "core/base/idmap.h"
#include "core/lives/weights.h"

struct msim_axis {
    int64_t from, to; /* sizes, at least 1 */
    bool every; /* all sizes equal to `from` belong to it (a sequence: scores
                   of attention have two), not the first of a tensor alone */
};

/* A size that holds the axis `times` times: 43 x 8 holds 8 once. */
struct msim_axis_size {
    int64_t size;
    uint32_t times;
};

struct msim_axis_sizes {
    const struct msim_trace *t;
    struct msim_axis axis;
    struct msim_weights weights;
    uint8_t *seen; /* by index of trace->args: its products are among `flat` */
    struct msim_axis_size *flat; /* products, in order of size */
    uint32_t n, cap;
    struct msim_idmap features; /* sizes that layers take and give */
};

/* Learn the sizes of `axis` in `t`, which must live as long. Release in any
 * case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_axis_sizes_find(struct msim_axis_sizes *out,
                                      const struct msim_trace *t,
                                      const struct msim_axis *axis);
void msim_axis_sizes_release(struct msim_axis_sizes *s);

/*
 * The batch of `t`: the first size most common among what convolutions,
 * embeddings, normalisations and losses are given; 0 where none of them is
 * there. Where those have tokens of all samples in a row, as many as attention
 * has of some samples, the batch is of samples.
 */
int64_t msim_axis_batch_of(const struct msim_trace *t);

/* Is it attention as PyTorch has it, whose tensors are [samples, heads, tokens,
 * channels]? */
bool msim_op_is_attention(const struct msim_trace *t, const struct msim_op *op);

/* The first operator that reads data with the axis in a tensor that counts as a
 * weight, since it is shaped as one (msim_weights_doubtful()), and that tensor.
 * False: none. */
bool msim_axis_doubtful(const struct msim_axis_sizes *s, uint32_t *op,
                        const struct msim_arg **data);

/* How often `size` holds the axis; 0: not at all. */
uint32_t msim_axis_times(const struct msim_axis_sizes *s, int64_t size);

/*
 * Which size of tensor `a` of an operator of that name is of features, and does
 * not hold the axis: the last one of rows of numbers, or of transposed rows the
 * first, where layers take or give as many; NONE: any may hold it. 8 x 64
 * tokens of width 512 are [8, 64, 512], and [512, 512].
 */
uint32_t msim_axis_feature(const struct msim_axis_sizes *s,
                           const struct msim_arg *a, const char *name);

/* `size`, which holds the axis `times` times, with the axis as it is to be; of
 * what is no multiple of the axis the part as well, at least 1. */
int64_t msim_axis_changed(const struct msim_axis *a, int64_t size,
                          uint32_t times);

#endif

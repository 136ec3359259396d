/*
 * core/reshape/reshape.h - a trace with another batch, sequence or type, and
 * what a recorded pass was of.
 */
#ifndef MSIM_CORE_RESHAPE_RESHAPE_H
#define MSIM_CORE_RESHAPE_RESHAPE_H
#include "core/base/containers.h"
#include "core/lives/lives.h"
#include "core/sizes/sizes.h"
#include "core/trace/trace.h"

/* ---- axis ---------------------------------------------------------------- */
/*
 * Which sizes of a trace's tensors are one axis of its data: the batch, or the
 * sequence.
 *
 * A trace has numbers, not names: in a model of hidden size 512, run with 8
 * samples of 43 tokens,
 *
 *     [8, 43, 512]   has the batch as its first size
 *     [344, 512]     has it inside 344, which is 8 x 43 of the tensor above
 *     [512, 128]     is a weight, although 8 divides 512
 *
 * So five things are learned: what is a weight and keeps its sizes
 * (lives.h); what layers take and give, which is no axis; sizes equal to it;
 * products of neighbouring sizes with one of those among them, which flattening
 * makes; and how many rows of data with the axis are chosen by its values
 * (aten::nonzero: the tokens of an expert; indices of embedding_bag), which go
 * with it in proportion.
 */

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

/* ---- model sizes --------------------------------------------------------- */
/*
 * A model of another width, of other heads, another MLP, another vocabulary:
 * what all sizes of its trace are then.
 *
 *     hidden   768 -> 1024   heads stay as many, each as much wider; MLPs are
 *                            as much wider, unless `ffn` says otherwise
 *     heads     12 -> 16     the width stays, so that heads are narrower; heads
 *                            of keys and values go with them
 *     ffn, vocab             these alone
 */

struct msim_model_size {
    uint8_t role; /* HIDDEN, HEADS, FFN or VOCAB of enum msim_size_role */
    int64_t from; /* 0: the one that there is */
    int64_t to;   /* at least 1 */
};

/*
 * A view of `t` (msim_resized_free()) with `n` sizes of the model changed.
 * EUSAGE where the trace has no such size or cannot have it, with what was
 * found in `err`; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_model_resized_new(struct msim_trace **out,
                                        const struct msim_trace *t,
                                        const struct msim_model_size *sizes,
                                        uint32_t n, struct msim_error *err);

/* ---- pass sizes ---------------------------------------------------------- */
/*
 * What a recorded pass of a model was of: how many samples, of how many tokens,
 * behind how many earlier ones.
 */

struct msim_pass_sizes {
    int64_t batch;   /* samples; 0: the trace does not tell */
    int64_t tokens;  /* of each; 0: likewise, or it has none */
    int64_t context; /* tokens before them, whose keys attention reads; -1: no
                        attention tells */
    bool trains;     /* there is a backward pass: it is a step of training */
};

/* By the widest look-up of a matrix of indices, [samples, tokens], and by
 * attention, [samples, heads, tokens, channels]; samples alone by
 * msim_axis_batch_of(). */
void msim_pass_sizes_of(struct msim_pass_sizes *out,
                        const struct msim_trace *t);

/* ---- reshape ------------------------------------------------------------- */
/*
 * A trace with other sizes: what its operators would be given with another
 * batch, another sequence, another width of the model, or another type.
 *
 * The trace itself is never edited. The result is a view of it: operators,
 * their arguments and the sizes of messages are its own, all else is the
 * trace's. Operator i of the view is operator i of the trace, so that what is
 * known of one (its kernels, its place in a graph) is known of the other.
 *
 * What stays: how often an operator is called, and, but where sizes of the
 * model change, what scalars and lists of numbers say.
 */

#define MSIM_RESHAPE_AXES  16
#define MSIM_RESHAPE_SIZES 8

struct msim_reshape {
    struct msim_axis axes[MSIM_RESHAPE_AXES]; /* changed in this order; one that
                                                 goes from 0 is the batch */
    uint32_t n_axes;
    struct msim_model_size sizes[MSIM_RESHAPE_SIZES]; /* of the model, changed
                                                         before all axes */
    uint32_t n_sizes;
    enum msim_dtype dtype; /* of what is fp32 in the trace, outside optimizers;
                              UNKNOWN: as it is */
    bool tf32;             /* products of fp32 are rounded to TF32 */
};

bool msim_reshape_is_none(const struct msim_reshape *r);

/*
 * A view of `t`, which must live as long. On success the caller owns `*out`;
 * release it with msim_reshaped_free(). EUSAGE where no tensor of the trace has
 * the axis, with the reason in `err`; ENOMEM, ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_reshaped_new(struct msim_trace **out,
                                   const struct msim_trace *t,
                                   const struct msim_reshape *r,
                                   struct msim_error *err);
void msim_reshaped_free(struct msim_trace *view); /* accepts NULL */

#define MSIM_RESHAPE_DOUBT 256

/* What is not sure of such a view, as a sentence for a warning; "": nothing is.
 * Without ids of tensors, data of the shape of a weight keeps its sizes.
 * EUSAGE where a batch is asked for that the trace does not tell; ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_reshape_doubt(char text[MSIM_RESHAPE_DOUBT],
                                    const struct msim_trace *t,
                                    const struct msim_reshape *r,
                                    struct msim_error *err);

/* How many times as many bytes operator `op` is given in the view as in the
 * trace; 1 where that is not known. */
double msim_reshaped_growth(const struct msim_trace *view,
                            const struct msim_trace *t, uint32_t op);

/* The views of `n` ranks; msim_reshaped_free_ranks() releases them. */
MSIM_MUST_CHECK
enum msim_status msim_reshaped_ranks(struct msim_trace ***out,
                                     struct msim_trace *const *ranks,
                                     uint32_t n, const struct msim_reshape *r,
                                     struct msim_error *err);
void msim_reshaped_free_ranks(struct msim_trace **views, uint32_t n);

#endif

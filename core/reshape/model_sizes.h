/*
 * core/reshape/model_sizes.h - a model of another width, of other heads,
 * another MLP, another vocabulary: what all sizes of its trace are then.
 *
 *     hidden   768 -> 1024   heads stay as many, each as much wider; MLPs are
 *                            as much wider, unless `ffn` says otherwise
 *     heads     12 -> 16     the width stays, so that heads are narrower; heads
 *                            of keys and values go with them
 *     ffn, vocab             these alone
 */
#ifndef MSIM_CORE_RESHAPE_MODEL_SIZES_H
#define MSIM_CORE_RESHAPE_MODEL_SIZES_H
#include "core/sizes/sizes.h"

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

#endif

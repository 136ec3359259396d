/*
 * core/reshape/reshape.h - a trace with other sizes: what its operators would
 * be given with another batch, another sequence, another width of the model, or
 * another type.
 *
 * The trace itself is never edited. The result is a view of it: operators,
 * their arguments and the sizes of messages are its own, all else is the
 * trace's. Operator i of the view is operator i of the trace, so that what is
 * known of one (its kernels, its place in a graph) is known of the other.
 *
 * What stays: how often an operator is called, and, but where sizes of the
 * model change, what scalars and lists of numbers say.
 */
#ifndef MSIM_CORE_RESHAPE_RESHAPE_H
#define MSIM_CORE_RESHAPE_RESHAPE_H
#include "core/reshape/axis.h"
#include "core/reshape/model_sizes.h"

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

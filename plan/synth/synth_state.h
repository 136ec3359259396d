/*
 * plan/synth/synth_state.h - what the layers of one rank share, and what each
 * keeps between forward and backward.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_STATE_H
#define MSIM_PLAN_SYNTH_SYNTH_STATE_H
#include "plan/describe/framework.h"
#include "plan/parts/parts.h"
#include "plan/synth/et_writer.h"

struct msim_synth_group {
    const char *name;
    uint32_t size, start, stride;
    int64_t calls; /* so far: what numbers them, on all ranks alike */
};

/* What of backward: all of it, or gradients of what layers are given first and
 * those of weights later. */
enum msim_synth_half {
    MSIM_SYNTH_WHOLE,
    MSIM_SYNTH_INPUTS,
    MSIM_SYNTH_WEIGHTS
};

/* What the layers of one rank share. */
struct msim_synth {
    struct msim_etw *e;
    const struct msim_described *m;
    const struct msim_strategy *s;
    const struct msim_parts *parts;
    enum msim_dtype dtype; /* of parameters and activations */
    int64_t rank;
    struct msim_synth_group groups[3]; /* by enum msim_part_group */
};

static inline struct msim_etw_arg msim_synth_none(void)
{
    return (struct msim_etw_arg){MSIM_ETW_NONE, 0, {.i = 0}};
}

static inline struct msim_etw_arg msim_synth_flag(bool b)
{
    return (struct msim_etw_arg){MSIM_ETW_BOOL, 0, {.i = b}};
}

static inline struct msim_etw_arg msim_synth_real(double f)
{
    return (struct msim_etw_arg){MSIM_ETW_REAL, 0, {.f = f}};
}

/* PyTorch's number of a type (c10/core/ScalarType.h). */
int64_t msim_synth_scalar_type(enum msim_dtype t);

/* Write the aten::empty that makes `t`. */
void msim_synth_write_empty(struct msim_etw *e,
                            const struct msim_etw_tensor *t);

/* What follows waits for a group's call of that number. */
void msim_synth_wait(struct msim_synth *y, const struct msim_synth_group *g,
                     int64_t call);

/* The word for a type in a collective's attributes. */
const char *msim_synth_dtype_text(enum msim_dtype t);

/* What one operator of forward was given and made. */
struct msim_synth_kept {
    struct msim_etw_tensor in, other, out, extra;
    struct msim_etw_tensor rows; /* a rank's own, of which `in` was gathered */
    struct msim_etw_tensor grad; /* of the result, for a later pass */
};

/* A parameter and its gradient. */
struct msim_synth_parameter {
    struct msim_etw_tensor weight, grad;   /* weight's id 0: there is none;
                                              grad's: backward makes it */
    struct msim_etw_tensor narrow, turned; /* the weight in 8 bits, and in the
                                              other order; id 0: not yet */
    bool is_expert;
    struct msim_synth_parameter *tied; /* the one that this is; or NULL */
};

/* What an operator may have: a weight and a bias. */
#define MSIM_SYNTH_OWN 2
enum { MSIM_SYNTH_WEIGHT, MSIM_SYNTH_BIAS };

/* A layer, the embedding or the head. Arrays are by operator of the part. */
struct msim_synth_layer {
    const struct msim_part *part;
    struct msim_synth_parameter (*own)[MSIM_SYNTH_OWN];
    struct msim_synth_kept *kept;   /* of micro batch b from b * n_ops on */
    struct msim_etw_tensor *inputs; /* by micro batch: what is computed again
                                       is given */
};

static inline struct msim_synth_parameter *
msim_synth_own(const struct msim_synth_layer *l, uint32_t at, int which)
{
    struct msim_synth_parameter *p = &l->own[at][which];

    return p->tied ? p->tied : p;
}

/* Whether the optimizer updates copies of the weights in fp32. In fp32 it
 * updates the weights themselves. */
static inline bool msim_synth_has_masters(const struct msim_synth *y)
{
    return y->dtype != MSIM_DT_F32;
}

/* The type of gradients that are kept over micro batches. */
static inline enum msim_dtype
msim_synth_gradient_type(const struct msim_synth *y)
{
    return msim_framework_of(y->s)->gradient > 2 ? MSIM_DT_F32 : y->dtype;
}

/* Whether gradients are shared out as soon as they are there, so that no rank
 * keeps all of them (ZeRO 2 and 3). */
static inline bool msim_synth_shares_at_once(const struct msim_synth *y)
{
    return y->s->zero >= 2 && msim_exchanges_each_micro_batch(y->s);
}

#endif

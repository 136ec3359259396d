/*
 * plan/synth/synth_state.h - what the layers of one rank share, and what each
 * keeps between forward and backward.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_STATE_H
#define MSIM_PLAN_SYNTH_SYNTH_STATE_H
#include "plan/parts/parts.h"
#include "plan/synth/et_writer.h"

struct msim_synth_group {
    const char *name;
    uint32_t size, start, stride;
    int64_t calls; /* so far: what numbers them, on all ranks alike */
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

#define MSIM_SYNTH_EMPTY                                                       \
    "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, "     \
    "Layout? layout=None, Device? device=None, bool? pin_memory=None, "        \
    "MemoryFormat? memory_format=None) -> Tensor"

/* The word for a type in a collective's attributes. */
const char *msim_synth_dtype_text(enum msim_dtype t);

/* What one operator of forward was given and made. */
struct msim_synth_kept {
    struct msim_etw_tensor in, other, out, extra;
};

/* A layer, the embedding or the head. Arrays are by operator of the part. */
struct msim_synth_layer {
    const struct msim_part *part;
    struct msim_etw_tensor *weights, *grads; /* id 0: the operator has none */
    struct msim_synth_kept *kept;   /* of micro batch b from b * n_ops on */
    struct msim_etw_tensor *inputs; /* of each micro batch */
};

#endif

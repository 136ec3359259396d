/*
 * models/host/host_gpu.c - what a GPU's host calls where a trace has something
 * else.
 *
 * Seen in traces of GPUs (PyTorch 1.9 to 2.3): what is inside convolutions and
 * batch normalisations by cuDNN, and inside relu and arange.
 */
#include "models/host/host_gpu.h"

#include "core/trace/trace_columns.h"
#include "core/work/opmap/opmap.h"

#include <string.h>

#define INSIDE_MAX 8

static const struct on_gpu {
    const char *cpu, *gpu;          /* names */
    const char *inside[INSIDE_MAX]; /* what it calls */
    bool is_kernel;                 /* what a CPU has inside it is not called */
} ROWS[] = {
    {"aten::native_batch_norm",
     "aten::cudnn_batch_norm",
     {"aten::empty_like", "aten::empty", "aten::view", "aten::empty",
      "aten::empty", "aten::empty", "aten::empty"},
     true},
    {"aten::native_batch_norm_backward",
     "aten::cudnn_batch_norm_backward",
     {"aten::empty", "aten::empty", "aten::empty", "aten::view", "aten::empty"},
     true},
    {"NativeBatchNormBackward0", "CudnnBatchNormBackward0", {0}, false},
    {"autograd::engine::evaluate_function: NativeBatchNormBackward0",
     "autograd::engine::evaluate_function: CudnnBatchNormBackward0",
     {0},
     false},
    {"aten::mkldnn_convolution", "aten::cudnn_convolution", {0}, true},
    {"aten::convolution_backward",
     "aten::convolution_backward",
     {"aten::empty", "aten::empty"},
     true},
    {"aten::arange",
     "aten::arange",
     {"aten::empty", "aten::arange", "aten::resize_"},
     false},
    {"aten::relu", "aten::relu", {"aten::clamp_min"}, false},
    {"aten::relu_", "aten::relu_", {"aten::clamp_min_"}, false},
};

static const char *name_of(const struct msim_trace *t, uint32_t op)
{
    return msim_trace_text(t, t->ops[op].name);
}

static const struct on_gpu *row_of(const struct msim_trace *t, uint32_t op)
{
    const char *name = name_of(t, op);

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        if (strcmp(name, ROWS[i].cpu) == 0 || strcmp(name, ROWS[i].gpu) == 0)
            return &ROWS[i];
    return NULL;
}

/* Tensors of a block: all in the host's memory? Their bytes are added. */
static bool is_offloaded(const struct msim_trace *t, uint32_t block,
                         double *bytes)
{
    const struct msim_arg_block *b = &t->blocks[block];
    bool any = false;

    for (uint32_t k = 0; k < b->count; k++) {
        const struct msim_arg *a = &t->args[b->first + k];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        if (a->device != MSIM_DEV_HOST)
            return false;
        any = true;
        *bytes += (double)msim_arg_elems(t, a) *
                  msim_dtype_bytes((enum msim_dtype)a->dtype);
    }
    return any;
}

static bool is_step_offloaded(const struct msim_trace *t, uint32_t op)
{
    double bytes = 0;

    return t->ops[op].args != MSIM_NONE &&
           is_offloaded(t, t->ops[op].args, &bytes);
}

/*
 * A list operator goes tensor by tensor on a CPU; on a GPU one kernel takes
 * them all, so that what a CPU capture has inside it is not called
 * (PyTorch: ForeachOpsKernels.cpp has the slow route, ForeachUnaryOp.cu the
 * fast one).
 */
static uint32_t list_operator_of(const struct msim_trace *t, uint32_t op)
{
    uint32_t i = t->ops[op].parent;

    while (i != MSIM_NONE && !msim_name_is_list(name_of(t, i)))
        i = t->ops[i].parent;
    return i;
}

bool msim_host_gpu_calls(const struct msim_trace *t, uint32_t op)
{
    uint32_t parent = t->ops[op].parent, list;
    const struct on_gpu *row;

    if (!t->cpu_only)
        return true;
    list = list_operator_of(t, op);
    if (list != MSIM_NONE)
        return is_step_offloaded(t, list);
    row = parent == MSIM_NONE ? NULL : row_of(t, parent);
    return !(row && row->is_kernel) && !msim_opmap_is_in_kernel(t, op);
}

const char *msim_host_gpu_name(const struct msim_trace *t, uint32_t op)
{
    const struct on_gpu *row = t->cpu_only ? row_of(t, op) : NULL;

    return row ? row->gpu : name_of(t, op);
}

/* On the meta device a convolution calls cuDNN's directly. */
static bool is_direct(const struct msim_trace *t, uint32_t op)
{
    uint32_t parent = t->ops[op].parent;

    return strcmp(name_of(t, op), "aten::cudnn_convolution") == 0 &&
           parent != MSIM_NONE &&
           strcmp(name_of(t, parent), "aten::convolution") == 0;
}

const char *const *msim_host_gpu_inside(const struct msim_trace *t, uint32_t op)
{
    static const char *const NOTHING[] = {NULL};
    static const char *const BETWEEN[] = {"aten::_convolution", NULL};
    bool leaf = t->ops[op].end == op + 1;
    const struct on_gpu *row = leaf || t->cpu_only ? row_of(t, op) : NULL;

    if (leaf && is_direct(t, op))
        return BETWEEN;
    return row && (leaf || (row->is_kernel && t->cpu_only)) ? row->inside
                                                            : NOTHING;
}

static bool is_in_step(const struct msim_trace *t, uint32_t op)
{
    static const char STEP[] = "Optimizer.step";
    uint32_t i = t->ops[op].parent;

    for (; i != MSIM_NONE; i = t->ops[i].parent)
        if (strncmp(name_of(t, i), STEP, sizeof(STEP) - 1) == 0)
            return true;
    return false;
}

double msim_host_step_bytes(const struct msim_trace *t, uint32_t op)
{
    const struct msim_op *o = &t->ops[op];
    double bytes = 0;

    if (o->end != op + 1 || o->args == MSIM_NONE || !is_in_step(t, op) ||
        !is_offloaded(t, o->args, &bytes))
        return 0;
    return o->outs == MSIM_NONE || is_offloaded(t, o->outs, &bytes) ? bytes : 0;
}

/* Does a block have a tensor, and none on a GPU? */
static bool is_on_host(const struct msim_trace *t, uint32_t block)
{
    const struct msim_arg_block *b;
    bool any = false;

    if (block == MSIM_NONE)
        return false;
    b = &t->blocks[block];
    for (uint32_t k = b->first; k < b->first + b->count; k++) {
        const struct msim_arg *a = &t->args[k];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        if (a->device != MSIM_DEV_HOST && a->device != MSIM_DEV_CPU)
            return false;
        any = true;
    }
    return any;
}

static bool is_any(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

/*
 * A number that the CPU has anyway is read without a call, and the next one
 * follows in a loop, not in another module. Where a GPU ran, or would, the
 * tensor says so; in a capture of a CPU alone it is the numbers of an
 * optimizer's step, such as its count of steps. To make the 1 that an
 * optimizer's step adds to its counts is one call of Python (torch.tensor).
 */
bool msim_host_is_number(const struct msim_trace *t, uint32_t op)
{
    static const char *const READ[] = {"aten::item",
                                       "aten::_local_scalar_dense", NULL};
    static const char *const MADE[] = {"aten::empty",   "aten::to",
                                       "aten::detach_", "aten::lift_fresh",
                                       "detach_",       NULL};
    const struct msim_op *o = &t->ops[op];

    if (is_any(name_of(t, op), READ))
        return t->cpu_only ? is_in_step(t, op) : is_on_host(t, o->args);
    return is_any(name_of(t, op), MADE) && is_in_step(t, op) && !t->cpu_only &&
           is_on_host(t, o->outs);
}

bool msim_host_is_in_backward(const struct msim_trace *t, uint32_t op)
{
    static const char ENGINE[] = "autograd::";

    for (uint32_t i = op; i != MSIM_NONE; i = t->ops[i].parent)
        if (strncmp(name_of(t, i), ENGINE, sizeof(ENGINE) - 1) == 0)
            return true;
    return false;
}

/*
 * replay/program/program_check.c - tensors that no machine can hold, or that
 * nobody made: a broken trace, which must not become a program.
 */
#include "replay/program/program_internal.h"

#include <stdio.h>
#include <string.h>

#define MOST_LOG2 46

/* a * b, as long as that is not far too much. */
static uint64_t times(uint64_t a, uint64_t b)
{
    return a > (UINT64_C(1) << MOST_LOG2) || b > (UINT64_C(1) << MOST_LOG2) ||
                   (b && a > (UINT64_C(1) << MOST_LOG2) / b)
               ? UINT64_C(1) << 62
               : a * b;
}

static bool fits(const struct msim_trace *t, const struct msim_tensor_at *at)
{
    const int64_t *dims = msim_arg_dims(t, at->arg), *strides = NULL;
    int64_t offset = t->tensor_ids[at->id].offset;
    uint64_t bytes = msim_dtype_bytes((enum msim_dtype)at->arg->dtype);
    uint64_t elements = 1, end = offset > 0 ? (uint64_t)offset + 1 : 1;

    if (t->n_tensor_strides && t->tensor_strides[at->id] != MSIM_NONE)
        strides = t->dims + t->tensor_strides[at->id];
    for (uint32_t i = 0; i < at->arg->n && end < UINT64_C(1) << 62; i++) {
        uint64_t size = dims[i] > 0 ? (uint64_t)dims[i] : 1;

        elements = times(elements, size);
        end += strides ? times(size - 1, (uint64_t)strides[i]) : 0;
    }
    return offset >= 0 && elements <= UINT64_C(1) << MOST_LOG2 &&
           times(strides ? end : end + elements, bytes ? bytes : 1) <=
               UINT64_C(1) << MOST_LOG2;
}

static enum msim_status refuse(const struct msim_builder *b, uint32_t op,
                               const struct msim_tensor_at *at)
{
    const struct msim_op *o = &b->t->ops[op];
    char sizes[128] = "";
    size_t n = 0;

    for (uint32_t i = 0; i < at->arg->n && n + 24 < sizeof(sizes); i++)
        n += (size_t)snprintf(sizes + n, sizeof(sizes) - n, "%s%lld",
                              i ? ", " : "",
                              (long long)msim_arg_dims(b->t, at->arg)[i]);
    return msim_fail(b->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                     "node %u '%.80s': its tensor of sizes [%s] and offset "
                     "%lld is more than any machine holds, want at most 2^%d "
                     "bytes",
                     o->et_id, msim_trace_text(b->t, o->name), sizes,
                     (long long)b->t->tensor_ids[at->id].offset, MOST_LOG2);
}

static enum msim_status check_sizes(const struct msim_builder *b, uint32_t op)
{
    const struct msim_op *o = &b->t->ops[op];

    for (int side = 0; side < 2; side++) {
        struct msim_tensor_walk walk = {0};
        struct msim_tensor_at at;

        while (msim_tensor_next(b->t, side ? o->outs : o->args,
                                side ? o->out_ids : o->ids, &walk, &at))
            if (!fits(b->t, &at))
                return refuse(b, op, &at);
    }
    return MSIM_OK;
}

static bool is_absent(const struct msim_schema_arg *want,
                      const struct msim_arg *given)
{
    return want->kind == MSIM_SCHEMA_TENSOR && !want->list && !want->optional &&
           given->kind == MSIM_ARG_NONE;
}

static enum msim_status check_made(const struct msim_builder *b, uint32_t op,
                                   uint32_t schema)
{
    const struct msim_schema *s = msim_program_schema(b->p, schema);
    const struct msim_op *o = &b->t->ops[op];
    const struct msim_arg *given;

    if (strstr(s->name, "backward"))
        return MSIM_OK;
    for (uint32_t i = 0;
         i < s->n_args && (given = msim_args_get(b->t, o->args, i)); i++)
        if (is_absent(&s->args[i], given))
            return msim_fail(b->err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                             "node %u '%.80s': its tensor '%.*s' was never "
                             "made, want one with an id and sizes",
                             o->et_id, msim_trace_text(b->t, o->name),
                             (int)s->args[i].name.len, s->args[i].name.at);
    return MSIM_OK;
}

enum msim_status msim_builder_check(const struct msim_builder *b, uint32_t op,
                                    uint32_t schema)
{
    MSIM_TRY(check_sizes(b, op));
    return check_made(b, op, schema);
}

/*
 * core/trace/op_shapes.c - the sizes of an operator's tensors as a text.
 */
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPES_BYTES 256

static void add_shape(char *text, size_t *used, const struct msim_trace *t,
                      const struct msim_arg *a)
{
    const int64_t *dims = msim_arg_dims(t, a);

    if (*used + 64 > SHAPES_BYTES)
        return;
    *used += (size_t)snprintf(text + *used, SHAPES_BYTES - *used, "%s[",
                              *used ? " " : "");
    for (uint32_t i = 0; i < a->n && *used + 32 < SHAPES_BYTES; i++)
        *used += (size_t)snprintf(text + *used, SHAPES_BYTES - *used, "%s%lld",
                                  i ? "," : "", (long long)dims[i]);
    *used += (size_t)snprintf(text + *used, SHAPES_BYTES - *used, "]");
}

/* The tensors among the arguments, in lists, too. */
static const char *shapes_text(struct msim_op_shapes *s, uint32_t block)
{
    const struct msim_arg_block *b = &s->t->blocks[block];
    char text[SHAPES_BYTES];
    size_t used = 0;
    char *copy;

    for (uint32_t i = 0; i < b->count; i++)
        if (s->t->args[b->first + i].kind == MSIM_ARG_TENSOR)
            add_shape(text, &used, s->t, &s->t->args[b->first + i]);
    if (!used)
        return "";
    copy = msim_arena_alloc(s->arena, used + 1);
    return copy ? memcpy(copy, text, used + 1) : "";
}

/* Parents come before their children. */
enum msim_status msim_op_shapes_init(struct msim_op_shapes *s,
                                     const struct msim_trace *t,
                                     struct msim_arena *arena)
{
    *s = (struct msim_op_shapes){.t = t, .arena = arena};
    s->of_op = malloc(((size_t)t->n_ops + 1) * sizeof(*s->of_op));
    s->text = calloc((size_t)t->n_blocks + 1, sizeof(*s->text));
    if (!s->of_op || !s->text)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        s->of_op[i] = op->args != MSIM_NONE || op->parent == MSIM_NONE
                          ? op->args
                          : s->of_op[op->parent];
    }
    return MSIM_OK;
}

void msim_op_shapes_release(struct msim_op_shapes *s)
{
    free(s->of_op);
    free(s->text);
}

const char *msim_op_shapes_of(struct msim_op_shapes *s, uint32_t op)
{
    uint32_t block = op == MSIM_NONE ? MSIM_NONE : s->of_op[op];

    if (block == MSIM_NONE)
        return NULL;
    if (!s->text[block])
        s->text[block] = shapes_text(s, block);
    return s->text[block][0] ? s->text[block] : NULL;
}

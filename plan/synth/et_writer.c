/*
 * plan/synth/et_writer.c - an execution trace in PyTorch's own format.
 */
#include "plan/synth/et_writer.h"

#include "core/write_et/write_et.h"

#include <stdarg.h>
#include <string.h>

/* ---- tensors --------------------------------------------------------------
 */

static struct msim_etw_tensor sized(struct msim_etw *e, enum msim_dtype dtype,
                                    uint32_t n, va_list ap)
{
    struct msim_etw_tensor t = {
        .id = ++e->last, .dtype = (uint8_t)dtype, .n = (uint8_t)n};

    for (uint32_t i = 0; i < n && i < MSIM_ETW_SIZES; i++)
        t.dims[i] = va_arg(ap, int64_t);
    return t;
}

struct msim_etw_tensor msim_etw_new(struct msim_etw *e, enum msim_dtype dtype,
                                    uint32_t n, ...)
{
    struct msim_etw_tensor t;
    va_list ap;

    va_start(ap, n);
    t = sized(e, dtype, n, ap);
    va_end(ap);
    t.storage = ++e->last;
    return t;
}

struct msim_etw_tensor msim_etw_view(struct msim_etw *e,
                                     const struct msim_etw_tensor *of,
                                     uint32_t n, ...)
{
    struct msim_etw_tensor t;
    va_list ap;

    va_start(ap, n);
    t = sized(e, (enum msim_dtype)of->dtype, n, ap);
    va_end(ap);
    t.storage = of->storage;
    return t;
}

uint64_t msim_etw_elems(const struct msim_etw_tensor *t)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < t->n; i++)
        n *= (uint64_t)t->dims[i];
    return n;
}

static const char *tensor_type(const struct msim_etw_tensor *t)
{
    return msim_et_tensor_type((enum msim_dtype)t->dtype);
}

/* ---- one argument, four ways ----------------------------------------------
 */

static void put_tensor(struct msim_json *j, const struct msim_etw_tensor *t)
{
    if (!t->id) {
        msim_json_text(j, NULL, "<None>");
        return;
    }
    msim_json_open(j, NULL, '[', false);
    msim_json_unsigned(j, NULL, t->id);
    msim_json_unsigned(j, NULL, t->storage);
    msim_json_unsigned(j, NULL, 0);
    msim_json_unsigned(j, NULL, msim_etw_elems(t));
    msim_json_unsigned(j, NULL, msim_dtype_bytes((enum msim_dtype)t->dtype));
    msim_json_text(j, NULL, "cuda:0");
    msim_json_close(j);
}

static void put_value(struct msim_json *j, const struct msim_etw_arg *a)
{
    switch (a->kind) {
    case MSIM_ETW_TENSOR:
        put_tensor(j, a->v.tensors);
        return;
    case MSIM_ETW_TENSORS:
        msim_json_open(j, NULL, '[', false);
        for (uint32_t i = 0; i < a->n; i++)
            put_tensor(j, &a->v.tensors[i]);
        msim_json_close(j);
        return;
    case MSIM_ETW_INT:
        msim_json_integer(j, NULL, a->v.i);
        return;
    case MSIM_ETW_INTS:
    case MSIM_ETW_BOOLS:
        msim_json_open(j, NULL, '[', false);
        for (uint32_t i = 0; i < a->n; i++)
            if (a->kind == MSIM_ETW_BOOLS)
                msim_json_bool(j, NULL, a->v.ints[i] != 0);
            else
                msim_json_integer(j, NULL, a->v.ints[i]);
        msim_json_close(j);
        return;
    case MSIM_ETW_REAL:
        msim_json_number(j, NULL, a->v.f);
        return;
    case MSIM_ETW_BOOL:
        msim_json_bool(j, NULL, a->v.i != 0);
        return;
    case MSIM_ETW_TEXT:
    case MSIM_ETW_DEVICE:
        msim_json_text(j, NULL, a->v.text[0]);
        return;
    case MSIM_ETW_PAIR:
        msim_json_open(j, NULL, '[', false);
        msim_json_text(j, NULL, a->v.text[0]);
        msim_json_text(j, NULL, a->v.text[1]);
        msim_json_close(j);
        return;
    case MSIM_ETW_NONE:
    case MSIM_ETW_OBJECT:
        msim_json_text(j, NULL,
                       a->kind == MSIM_ETW_NONE ? "<None>" : "<Object>");
    }
}

/* Sizes, or with `strides` the strides, of one tensor. */
static void put_sizes(struct msim_json *j, const struct msim_etw_tensor *t,
                      bool strides)
{
    int64_t stride[MSIM_ETW_SIZES], next = 1;

    for (uint32_t i = t->n; i-- > 0; next *= t->dims[i])
        stride[i] = next;
    if (t->transposed && t->n >= 2) {
        stride[t->n - 2] = 1;
        stride[t->n - 1] = t->dims[t->n - 2];
    }
    msim_json_open(j, NULL, '[', false);
    for (uint32_t i = 0; i < t->n; i++)
        msim_json_integer(j, NULL, strides ? stride[i] : t->dims[i]);
    msim_json_close(j);
}

static bool is_list(const struct msim_etw_arg *a)
{
    return a->kind == MSIM_ETW_TENSORS || a->kind == MSIM_ETW_INTS ||
           a->kind == MSIM_ETW_BOOLS;
}

static void put_shape(struct msim_json *j, const struct msim_etw_arg *a,
                      bool strides)
{
    uint32_t n = a->kind == MSIM_ETW_PAIR ? 2 : is_list(a) ? a->n : 0;

    if (a->kind == MSIM_ETW_TENSOR) {
        put_sizes(j, a->v.tensors, strides);
        return;
    }
    msim_json_open(j, NULL, '[', false);
    for (uint32_t i = 0; i < n; i++) {
        if (a->kind == MSIM_ETW_TENSORS) {
            put_sizes(j, &a->v.tensors[i], strides);
            continue;
        }
        msim_json_open(j, NULL, '[', false);
        msim_json_close(j);
    }
    msim_json_close(j);
}

#define TYPE_CHARS 65536

/* "GenericList[Tensor(float),Tensor(float)]" */
static void put_list_type(struct msim_json *j, const struct msim_etw_arg *a)
{
    char text[TYPE_CHARS];
    size_t n = (size_t)snprintf(text, sizeof(text), "GenericList[");

    for (uint32_t i = 0; i < a->n && n + 40 < sizeof(text); i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
                              a->kind == MSIM_ETW_INTS    ? "Int"
                              : a->kind == MSIM_ETW_BOOLS ? "Bool"
                              : !a->v.tensors[i].id
                                  ? "None"
                                  : tensor_type(&a->v.tensors[i]));
    snprintf(text + n, sizeof(text) - n, "]");
    msim_json_text(j, NULL, text);
}

static void put_type(struct msim_json *j, const struct msim_etw_arg *a)
{
    static const char *const WORDS[] = {[MSIM_ETW_NONE] = "None",
                                        [MSIM_ETW_INT] = "Int",
                                        [MSIM_ETW_REAL] = "Double",
                                        [MSIM_ETW_BOOL] = "Bool",
                                        [MSIM_ETW_TEXT] = "String",
                                        [MSIM_ETW_DEVICE] = "Device",
                                        [MSIM_ETW_PAIR] =
                                            "Tuple[String,String]",
                                        [MSIM_ETW_OBJECT] = "Object"};

    if (a->kind == MSIM_ETW_TENSOR)
        msim_json_text(j, NULL, tensor_type(a->v.tensors));
    else if (is_list(a))
        put_list_type(j, a);
    else
        msim_json_text(j, NULL, WORDS[a->kind]);
}

/* One side of a node. */
struct side {
    const struct msim_etw_arg *args;
    uint32_t n;
};

static void put_column(struct msim_json *j, const void *of,
                       enum msim_et_column c)
{
    const struct side *s = of;

    for (uint32_t i = 0; i < s->n; i++)
        if (c == MSIM_ET_VALUES)
            put_value(j, &s->args[i]);
        else if (c == MSIM_ET_TYPES)
            put_type(j, &s->args[i]);
        else
            put_shape(j, &s->args[i], c == MSIM_ET_STRIDES);
}

/* ---- nodes ----------------------------------------------------------------
 */

static void put_node(struct msim_etw *e, const struct msim_etw_node *n,
                     const struct msim_etw_tensor *outs, uint32_t n_outs,
                     const struct msim_etw_comm *c)
{
    struct msim_etw_arg out[MSIM_ETW_ARGS];
    struct side sides[2] = {{n->args, n->n_args}, {out, n_outs}};
    struct msim_et_message message;

    if (msim_etw_has_failed(e))
        return;
    for (uint32_t i = 0; i < n_outs && i < MSIM_ETW_ARGS; i++)
        out[i] = msim_etw_of(&outs[i]);
    if (c)
        message = (struct msim_et_message){.name = c->name,
                                           .dtype = c->dtype,
                                           .group = c->group,
                                           .in_elems = c->in_elems,
                                           .out_elems = c->out_elems,
                                           .size = c->size,
                                           .start = c->start,
                                           .stride = c->stride};
    msim_et_file_node(&e->json, &(struct msim_et_record){
                                    .id = n->id,
                                    .parent = n->parent,
                                    .rf_id = n->thread ? ++e->last_rf : 0,
                                    .sequence = n->sequence,
                                    .thread = n->thread ? n->thread : 1,
                                    .fw_thread = n->scope == 1,
                                    .name = n->name,
                                    .schema = n->schema,
                                    .scope = n->scope,
                                    .in = {put_column, &sides[0]},
                                    .out = {put_column, &sides[1]},
                                    .message = c ? &message : NULL});
    e->nodes++;
}

static struct msim_etw_node *push(struct msim_etw *e, const char *name,
                                  const char *schema, uint8_t scope)
{
    struct msim_etw_node *parent = e->depth ? &e->open[e->depth - 1] : NULL;
    struct msim_etw_node *n = &e->open[e->depth++];

    *n = (struct msim_etw_node){.id = ++e->last,
                                .parent = parent ? parent->id : 1,
                                .thread = parent ? parent->thread : 0,
                                .name = name,
                                .schema = schema,
                                .sequence = -1,
                                .scope = scope};
    return n;
}

void msim_etw_open(struct msim_etw *e, const char *name, const char *schema,
                   const struct msim_etw_arg *args, uint32_t n)
{
    struct msim_etw_node *node = push(e, name, schema, 0);

    node->n_args = n < MSIM_ETW_ARGS ? n : MSIM_ETW_ARGS;
    if (n)
        memcpy(node->args, args, node->n_args * sizeof(*args));
}

void msim_etw_close(struct msim_etw *e, const struct msim_etw_tensor *outs,
                    uint32_t n)
{
    put_node(e, &e->open[--e->depth], outs, n, NULL);
}

void msim_etw_leaf(struct msim_etw *e, const char *name, const char *schema,
                   const struct msim_etw_arg *args, uint32_t n_args,
                   const struct msim_etw_tensor *outs, uint32_t n_outs)
{
    msim_etw_open(e, name, schema, args, n_args);
    msim_etw_close(e, outs, n_outs);
}

void msim_etw_label(struct msim_etw *e, const char *name)
{
    push(e, name, NULL, 7);
}

void msim_etw_backward(struct msim_etw *e, const char *name)
{
    push(e, name, NULL, 1);
}

void msim_etw_backward_of(struct msim_etw *e, const char *name,
                          const struct msim_etw_tensor *grad, int64_t sequence)
{
    struct msim_etw_node *n = push(e, name, NULL, 1);

    n->args[n->n_args++] = msim_etw_of(grad);
    n->sequence = sequence;
}

void msim_etw_sequence(struct msim_etw *e, int64_t sequence)
{
    e->open[e->depth - 1].sequence = sequence;
}

void msim_etw_collective(struct msim_etw *e, const struct msim_etw_comm *c,
                         const struct msim_etw_tensor *t,
                         const struct msim_etw_tensor *out, int64_t rank)
{
    struct msim_etw_node *n = push(e, "record_param_comms", NULL, 0);
    char nccl[48];

    n->args[n->n_args++] =
        (struct msim_etw_arg){MSIM_ETW_TENSORS, 1, {.tensors = t}};
    n->args[n->n_args++] = msim_etw_int(c->sequence);
    n->args[n->n_args++] =
        (struct msim_etw_arg){MSIM_ETW_PAIR, 2, {.text = {c->group, c->group}}};
    n->args[n->n_args++] = msim_etw_int(rank);
    n->args[n->n_args++] =
        (struct msim_etw_arg){MSIM_ETW_TEXT, 0, {.text = {c->name, NULL}}};
    n->args[n->n_args++] =
        (struct msim_etw_arg){MSIM_ETW_INTS, 0, {.ints = NULL}};
    n->args[n->n_args++] =
        (struct msim_etw_arg){MSIM_ETW_INTS, 0, {.ints = NULL}};
    n->args[n->n_args++] = msim_etw_int(c->start);
    n->args[n->n_args++] = msim_etw_int(c->stride);
    n->args[n->n_args++] = msim_etw_int(c->size);
    snprintf(nccl, sizeof(nccl), "nccl:%.40s", c->name);
    msim_etw_label(e, nccl);
    msim_etw_close(e, NULL, 0);
    put_node(e, &e->open[--e->depth], out, 1, c);
}

/* ---- the file -------------------------------------------------------------
 */

void msim_etw_begin(struct msim_etw *e,
                    enum msim_status (*sink)(void *, const char *, size_t),
                    void *ctx, int64_t process)
{
    *e = (struct msim_etw){.last = MSIM_ET_ROOT};
    msim_et_file_begin(&e->json, sink, ctx, "mystique-sim/synth", process);
}

void msim_etw_thread(struct msim_etw *e, uint32_t thread)
{
    struct msim_etw_node *n;

    while (e->depth)
        msim_etw_close(e, NULL, 0);
    n = push(e, MSIM_ET_THREAD_NAME, NULL, 7);
    n->thread = thread;
}

enum msim_status msim_etw_end(struct msim_etw *e)
{
    while (e->depth)
        msim_etw_close(e, NULL, 0);
    e->nodes += e->json.status == MSIM_OK; /* the process's root */
    return msim_et_file_end(&e->json);
}

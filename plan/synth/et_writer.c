/*
 * plan/synth/et_writer.c - an execution trace in PyTorch's own format.
 */
#include "plan/synth/et_writer.h"

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
    switch ((enum msim_dtype)t->dtype) {
    case MSIM_DT_F32:
        return "Tensor(float)";
    case MSIM_DT_F16:
        return "Tensor(c10::Half)";
    case MSIM_DT_F8:
        return "Tensor(c10::Float8_e4m3fn)";
    case MSIM_DT_I64:
        return "Tensor(long int)";
    case MSIM_DT_I32:
        return "Tensor(int)";
    case MSIM_DT_BOOL:
        return "Tensor(bool)";
    default:
        return "Tensor(c10::BFloat16)";
    }
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

static void put_args(struct msim_json *j, const char *key,
                     const struct msim_etw_arg *args, uint32_t n)
{
    msim_json_open(j, key, '{', false);
    msim_json_open(j, "values", '[', false);
    for (uint32_t i = 0; i < n; i++)
        put_value(j, &args[i]);
    msim_json_close(j);
    msim_json_open(j, "shapes", '[', false);
    for (uint32_t i = 0; i < n; i++)
        put_shape(j, &args[i], false);
    msim_json_close(j);
    msim_json_open(j, "types", '[', false);
    for (uint32_t i = 0; i < n; i++)
        put_type(j, &args[i]);
    msim_json_close(j);
    msim_json_open(j, "strides", '[', false);
    for (uint32_t i = 0; i < n; i++)
        put_shape(j, &args[i], true);
    msim_json_close(j);
    msim_json_close(j);
}

/* ---- nodes ----------------------------------------------------------------
 */

static void open_attr(struct msim_json *j, const char *name, const char *type)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "name", name);
    msim_json_text(j, "type", type);
}

static void attr_number(struct msim_json *j, const char *name, int64_t value,
                        bool is_signed)
{
    open_attr(j, name, is_signed ? "int64" : "uint64");
    msim_json_integer(j, "value", value);
    msim_json_close(j);
}

static void attr_text(struct msim_json *j, const char *name, const char *value)
{
    open_attr(j, name, "string");
    msim_json_text(j, "value", value);
    msim_json_close(j);
}

static void comm_attrs(struct msim_json *j, const struct msim_etw_comm *c)
{
    attr_text(j, "collective_name", c->name);
    attr_text(j, "dtype", c->dtype);
    attr_number(j, "in_msg_nelems", (int64_t)c->in_elems, false);
    attr_number(j, "out_msg_nelems", (int64_t)c->out_elems, false);
    attr_text(j, "in_split_size", "[]");
    attr_text(j, "out_split_size", "[]");
    attr_number(j, "global_rank_start", c->start, false);
    attr_number(j, "global_rank_stride", c->stride, false);
    attr_text(j, "pg_name", c->group);
    attr_text(j, "pg_desc", c->group);
    attr_number(j, "pg_size", c->size, false);
}

static void put_node(struct msim_etw *e, const struct msim_etw_node *n,
                     const struct msim_etw_tensor *outs, uint32_t n_outs,
                     const struct msim_etw_comm *comm)
{
    struct msim_json *j = &e->json;
    struct msim_etw_arg out[MSIM_ETW_ARGS];

    if (j->status != MSIM_OK) /* nobody will read the rest */
        return;
    for (uint32_t i = 0; i < n_outs && i < MSIM_ETW_ARGS; i++)
        out[i] = msim_etw_of(&outs[i]);
    msim_json_open(j, NULL, '{', false);
    msim_json_unsigned(j, "id", n->id);
    msim_json_text(j, "name", n->name);
    msim_json_unsigned(j, "ctrl_deps", n->parent);
    put_args(j, "inputs", n->args, n->n_args);
    put_args(j, "outputs", out, n_outs);
    msim_json_open(j, "attrs", '[', false);
    attr_number(j, "rf_id", n->thread ? ++e->last_rf : 0, false);
    attr_number(j, "fw_parent", 0, false);
    attr_number(j, "seq_id", n->sequence, true);
    attr_number(j, "scope", n->scope, false);
    attr_number(j, "tid", n->thread ? n->thread : n->id == 1 ? 0 : 1, false);
    attr_number(j, "fw_tid", n->scope == 1, false);
    attr_text(j, "op_schema", n->schema ? n->schema : "");
    attr_text(j, "kernel_backend", "");
    attr_text(j, "kernel_file", "");
    if (comm)
        comm_attrs(j, comm);
    msim_json_close(j);
    msim_json_close(j);
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
    *e = (struct msim_etw){.last = 1};
    msim_json_begin(&e->json, sink, ctx);
    msim_json_open(&e->json, NULL, '{', true);
    msim_json_text(&e->json, "schema", "1.1.1-chakra.0.0.4");
    msim_json_text(&e->json, "generator", "mystique-sim/synth");
    msim_json_integer(&e->json, "pid", process);
    msim_json_text(&e->json, "time", "1970-01-01 00:00:00");
    msim_json_integer(&e->json, "start_ts", 0);
    msim_json_open(&e->json, "nodes", '[', true);
}

void msim_etw_thread(struct msim_etw *e, uint32_t thread)
{
    struct msim_etw_node *n;

    while (e->depth)
        msim_etw_close(e, NULL, 0);
    n = push(e, "[pytorch|profiler|execution_trace|thread]", NULL, 7);
    n->thread = thread;
}

enum msim_status msim_etw_end(struct msim_etw *e)
{
    struct msim_etw_node root = {
        .id = 1,
        .parent = 1,
        .name = "[pytorch|profiler|execution_trace|process]",
        .sequence = -1,
        .scope = 7};

    while (e->depth)
        msim_etw_close(e, NULL, 0);
    put_node(e, &root, NULL, 0, NULL);
    msim_json_close(&e->json);
    msim_json_integer(&e->json, "finish_ts", 1);
    msim_json_close(&e->json);
    return msim_json_end(&e->json);
}

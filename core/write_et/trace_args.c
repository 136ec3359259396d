/*
 * core/write_et/trace_args.c - arguments, column by column.
 */
#include "core/write_et/write_et_internal.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A walk over the arguments of a side, in preorder. */
struct walk {
    struct msim_json *j;
    const struct msim_et_names *names;
    const struct msim_arg *at, *end;
    uint32_t id; /* row of the next tensor, or NONE */
};

/* ---- tensors -------------------------------------------------------------
 */

static const char *device_text(const struct msim_arg *a)
{
    switch ((enum msim_device)a->device) {
    case MSIM_DEV_GPU:
        return "cuda:0";
    case MSIM_DEV_CPU:
    case MSIM_DEV_HOST:
        return "cpu";
    default:
        return "";
    }
}

static void put_tuple(const struct walk *w, const struct msim_arg *a)
{
    const struct msim_trace *t = w->names->t;
    struct msim_tensor_id id = {0};

    if (w->id != MSIM_NONE)
        id = t->tensor_ids[w->id];
    msim_json_open(w->j, NULL, '[', false);
    msim_json_unsigned(w->j, NULL,
                       w->id == MSIM_NONE ? 0 : w->names->tensor[w->id]);
    msim_json_unsigned(w->j, NULL, id.storage);
    msim_json_integer(w->j, NULL, id.offset);
    msim_json_unsigned(w->j, NULL, msim_arg_elems(t, a));
    msim_json_unsigned(w->j, NULL, msim_dtype_bytes((enum msim_dtype)a->dtype));
    msim_json_text(w->j, NULL, device_text(a));
    msim_json_close(w->j);
}

static void put_dims(struct msim_json *j, const int64_t *dims, uint32_t n)
{
    msim_json_open(j, NULL, '[', false);
    for (uint32_t i = 0; i < n; i++)
        msim_json_integer(j, NULL, dims[i]);
    msim_json_close(j);
}

/* ---- strides -------------------------------------------------------------
 */

#define SIZES 32 /* of a tensor whose strides are worked out */

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;

    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* The sizes from the innermost outwards: by the strides that were recorded,
 * else in the order of rows, which TURNED turns around. */
static void order_sizes(uint32_t *order, const struct msim_arg *a,
                        const int64_t *recorded)
{
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t at = i;
        bool turned = a->layout == MSIM_LAYOUT_TURNED;

        order[i] = turned && !recorded ? i : a->n - 1 - i;
        for (; recorded && at && recorded[order[at - 1]] > recorded[order[at]];
             at--) {
            uint32_t other = order[at];

            order[at] = order[at - 1];
            order[at - 1] = other;
        }
    }
}

/* What a->layout says, with the gaps that were recorded where they fit. */
static void find_strides(int64_t *strides, const struct msim_arg *a,
                         const int64_t *dims, const int64_t *recorded)
{
    bool gaps = a->layout == MSIM_LAYOUT_GAPS;
    int64_t next = gaps && !recorded ? 2 : 1;
    uint32_t order[SIZES];

    order_sizes(order, a, a->layout == MSIM_LAYOUT_PLAIN ? NULL : recorded);
    for (uint32_t k = 0; k < a->n; k++) {
        uint32_t i = order[k];
        int64_t stride = next;

        if (gaps && recorded && (recorded[i] == 0 || recorded[i] > next))
            stride = recorded[i];
        strides[i] = stride;
        if (dims[i] > 0 && stride)
            next = times(stride, dims[i]);
    }
}

static void put_strides(const struct walk *w, const struct msim_arg *a)
{
    const struct msim_trace *t = w->names->t;
    const int64_t *dims = msim_arg_dims(t, a), *recorded = NULL;
    int64_t strides[SIZES];

    if (a->n > SIZES) { /* nothing is said of them */
        put_dims(w->j, NULL, 0);
        return;
    }
    if (w->id != MSIM_NONE && w->id < t->n_tensor_strides &&
        t->tensor_strides[w->id] != MSIM_NONE)
        recorded = t->dims + t->tensor_strides[w->id];
    if (recorded && msim_layout_of(dims, recorded, a->n) != a->layout)
        recorded = NULL;
    find_strides(strides, a, dims, recorded);
    put_dims(w->j, strides, a->n);
}

/* ---- values --------------------------------------------------------------
 */

static void put_real(struct msim_json *j, double f)
{
    if (isfinite(f))
        msim_json_number(j, NULL, f);
    else /* as PyTorch quotes them */
        msim_json_text(j, NULL, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
}

static void put_value(const struct walk *w, const struct msim_arg *a)
{
    switch ((enum msim_arg_kind)a->kind) {
    case MSIM_ARG_TENSOR:
        put_tuple(w, a);
        return;
    case MSIM_ARG_INT:
        msim_json_integer(w->j, NULL, a->v.i);
        return;
    case MSIM_ARG_REAL:
        put_real(w->j, a->v.f);
        return;
    case MSIM_ARG_BOOL:
        msim_json_bool(w->j, NULL, a->v.i != 0);
        return;
    case MSIM_ARG_STR:
        msim_json_text(w->j, NULL,
                       msim_trace_text(w->names->t, (uint32_t)a->v.i));
        return;
    default:
        msim_json_text(w->j, NULL, "<None>");
    }
}

static void put_plain(const struct walk *w, const struct msim_arg *a,
                      enum msim_et_column c)
{
    const struct msim_trace *t = w->names->t;

    if (c == MSIM_ET_VALUES)
        put_value(w, a);
    else if (a->kind != MSIM_ARG_TENSOR)
        put_dims(w->j, NULL, 0);
    else if (c == MSIM_ET_SHAPES)
        put_dims(w->j, msim_arg_dims(t, a), a->n);
    else
        put_strides(w, a);
}

/* Values, sizes or strides; lists are as deep as their own. */
static void put_args(struct walk *w, enum msim_et_column c)
{
    const struct msim_arg *ends[MSIM_ET_LISTS];
    uint32_t depth = 0;

    while (w->at < w->end) {
        const struct msim_arg *a = w->at++;

        if (a->kind == MSIM_ARG_LIST && depth < MSIM_ET_LISTS) {
            msim_json_open(w->j, NULL, '[', false);
            ends[depth++] = a + 1 + a->v.i;
        } else if (a->kind != MSIM_ARG_LIST) {
            put_plain(w, a, c);
            w->id += a->kind == MSIM_ARG_TENSOR && w->id != MSIM_NONE;
        }
        while (depth && w->at >= ends[depth - 1]) {
            msim_json_close(w->j);
            depth--;
        }
    }
}

/* ---- types ---------------------------------------------------------------
 */

static enum msim_status add_text(struct msim_vec *v, const char *text)
{
    struct msim_text_piece piece;

    return msim_vec_text(v, text, strlen(text), &piece);
}

static const char *type_of(const struct msim_arg *a)
{
    static const char *const WORDS[] = {[MSIM_ARG_NONE] = "None",
                                        [MSIM_ARG_INT] = "Int",
                                        [MSIM_ARG_REAL] = "Double",
                                        [MSIM_ARG_BOOL] = "Bool",
                                        [MSIM_ARG_STR] = "String"};

    return a->kind == MSIM_ARG_TENSOR
               ? msim_et_tensor_type((enum msim_dtype)a->dtype)
               : WORDS[a->kind];
}

/* "GenericList[Tensor(float),GenericList[Int,Int]]" of the argument at `w`. */
static enum msim_status add_type(struct walk *w, struct msim_vec *text)
{
    const struct msim_arg *ends[MSIM_ET_LISTS];
    uint32_t depth = 0;
    bool first = true;

    do {
        const struct msim_arg *a = w->at++;

        if (!first)
            MSIM_TRY(add_text(text, ","));
        first = a->kind == MSIM_ARG_LIST;
        if (first && depth < MSIM_ET_LISTS) {
            MSIM_TRY(add_text(text, "GenericList["));
            ends[depth++] = a + 1 + a->v.i;
        } else {
            MSIM_TRY(add_text(text, type_of(a)));
        }
        while (depth && w->at >= ends[depth - 1]) {
            MSIM_TRY(add_text(text, "]"));
            first = false;
            depth--;
        }
    } while (depth);
    return MSIM_OK;
}

static void put_types(struct walk *w)
{
    struct msim_vec text = {0};
    enum msim_status status = MSIM_OK;

    while (w->at < w->end && status == MSIM_OK) {
        text.n = 0;
        status = add_type(w, &text);
        if (status != MSIM_OK)
            break;
        ((char *)text.data)[text.n] = '\0';
        msim_json_text(w->j, NULL, text.data);
    }
    free(text.data);
    if (status != MSIM_OK && w->j->status == MSIM_OK)
        w->j->status = status;
}

/* ---- a side --------------------------------------------------------------
 */

void msim_et_block_put(struct msim_json *j, const void *of,
                       enum msim_et_column c)
{
    const struct msim_et_block *b = of;
    const struct msim_trace *t = b->names->t;
    struct walk w = {.j = j, .names = b->names, .id = b->ids};

    if (b->block == MSIM_NONE || !t->blocks[b->block].count)
        return;
    w.at = t->args + t->blocks[b->block].first;
    w.end = w.at + t->blocks[b->block].count;
    if (c == MSIM_ET_TYPES)
        put_types(&w);
    else
        put_args(&w, c);
}

uint32_t msim_et_block_depth(const struct msim_trace *t, uint32_t block)
{
    uint32_t depth = 0, most = 0, ends[MSIM_ET_LISTS + 1];

    if (block == MSIM_NONE)
        return 0;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        while (depth && i >= ends[depth - 1])
            depth--;
        if (a->kind != MSIM_ARG_LIST)
            continue;
        if (depth > MSIM_ET_LISTS)
            return depth;
        ends[depth++] = i + 1 + (uint32_t)a->v.i;
        most = depth > most ? depth : most;
    }
    return most;
}

/*
 * core/chakra/chakra_repr.c - lists as Python prints them.
 */
#include "core/chakra/write_chakra_internal.h"

#include "core/base/json.h"
#include "core/base/print.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As deep as our own readers go. */
#define MAX_DEPTH 520

struct print {
    struct msim_chakra_lists *l;
    const struct msim_trace *t;
    const struct msim_tensor_id *ids; /* of the next tensor, or NULL */
    int64_t device;
    const struct msim_arg *ends[MAX_DEPTH]; /* of the open lists */
    uint32_t depth;
    bool failed;
};

void msim_chakra_lists_release(struct msim_chakra_lists *l)
{
    free(l->values.data);
    free(l->shapes.data);
    free(l->types.data);
    *l = (struct msim_chakra_lists){0};
}

static enum msim_status put(struct msim_vec *to, const char *text)
{
    struct msim_text_piece piece;

    return msim_vec_text(to, text, strlen(text), &piece);
}

static void add(struct print *p, struct msim_vec *to, const char *fmt, ...)
    MSIM_PRINTF(3, 4);

/* For short texts; a failure is remembered. */
static void add(struct print *p, struct msim_vec *to, const char *fmt, ...)
{
    char text[256];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    p->failed |= put(to, text) != MSIM_OK;
}

/* As Python's repr(): in single quotes, with escapes for what needs them. */
static enum msim_status quote(struct msim_vec *to, const char *s)
{
    char escape[8];

    MSIM_TRY(put(to, "'"));
    while (*s) {
        struct msim_text_piece piece;
        size_t n = msim_utf8_length(s);

        if (n && (unsigned char)*s >= 0x20 && !strchr("'\\\x7f", *s)) {
            MSIM_TRY(msim_vec_text(to, s, n, &piece));
            s += n;
            continue;
        }
        if (*s == '\'' || *s == '\\')
            snprintf(escape, sizeof(escape), "\\%c", *s);
        else
            snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)*s);
        MSIM_TRY(put(to, escape));
        s++;
    }
    return put(to, "'");
}

const char *msim_chakra_dtype_text(enum msim_dtype t)
{
    switch (t) {
    case MSIM_DT_UNKNOWN:
        break;
    case MSIM_DT_F64:
        return "double";
    case MSIM_DT_F32:
        return "float";
    case MSIM_DT_F16:
        return "c10::Half";
    case MSIM_DT_BF16:
        return "c10::BFloat16";
    case MSIM_DT_F8:
        return "c10::Float8_e4m3fn";
    case MSIM_DT_I64:
        return "long int";
    case MSIM_DT_I32:
        return "int";
    case MSIM_DT_I16:
        return "short int";
    case MSIM_DT_I8:
        return "signed char";
    case MSIM_DT_U8:
        return "unsigned char";
    case MSIM_DT_BOOL:
        return "bool";
    case MSIM_DT_C64:
        return "c10::complex<float>";
    case MSIM_DT_C128:
        return "c10::complex<double>";
    case MSIM_DT_F4X2:
        return "c10::Float4_e2m1fn_x2";
    case MSIM_DT_ODD:
        return "odd";
    }
    return "unknown";
}

/* ---- one argument ------------------------------------------------------- */

/* [tensor, storage, offset, elements, bytes of one, device], and how it lies
 * where that is not in the order of its sizes: Chakra has no strides. */
static void add_tensor(struct print *p, const struct msim_arg *a)
{
    const struct msim_tensor_id none = {0}, *id = p->ids ? p->ids++ : &none;
    const int64_t *dims = msim_arg_dims(p->t, a);
    uint32_t bytes = msim_dtype_bytes((enum msim_dtype)a->dtype);

    /* An element of a tensor of unknown type still has a size. */
    add(p, &p->l->values, "[%u, %u, %" PRId64 ", %" PRIu64 ", %u, ", id->tensor,
        id->storage, id->offset, msim_arg_elems(p->t, a), bytes ? bytes : 1);
    if (a->device == MSIM_DEV_GPU)
        add(p, &p->l->values, "'cuda:%" PRId64 "'", p->device);
    else
        add(p, &p->l->values, "%s", a->device == MSIM_DEV_CPU ? "'cpu'" : "''");
    if (a->layout != MSIM_LAYOUT_PLAIN)
        add(p, &p->l->values, ", %u", a->layout);
    add(p, &p->l->values, "]");
    add(p, &p->l->shapes, "[");
    for (uint32_t i = 0; i < a->n; i++)
        add(p, &p->l->shapes, "%s%" PRId64, i ? ", " : "", dims[i]);
    add(p, &p->l->shapes, "]");
    add(p, &p->l->types, "Tensor(%s)",
        msim_chakra_dtype_text((enum msim_dtype)a->dtype));
}

static void add_real(struct print *p, double v)
{
    char text[32];

    if (!isfinite(v)) {
        add(p, &p->l->values, "'%s'",
            isnan(v)  ? "nan"
            : v > 0.0 ? "inf"
                      : "-inf");
        return;
    }
    msim_number_text(text, v);
    add(p, &p->l->values, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void add_scalar(struct print *p, const struct msim_arg *a)
{
    const char *type = "None";

    switch ((enum msim_arg_kind)a->kind) {
    case MSIM_ARG_INT:
        add(p, &p->l->values, "%" PRId64, a->v.i);
        type = "Int";
        break;
    case MSIM_ARG_REAL:
        add_real(p, a->v.f);
        type = "Double";
        break;
    case MSIM_ARG_BOOL:
        add(p, &p->l->values, "%s", a->v.i ? "True" : "False");
        type = "Bool";
        break;
    case MSIM_ARG_STR:
        p->failed |= quote(&p->l->values,
                           msim_trace_text(p->t, (uint32_t)a->v.i)) != MSIM_OK;
        type = "String";
        break;
    default:
        add(p, &p->l->values, "'<None>'");
        break;
    }
    add(p, &p->l->shapes, "[]");
    add(p, &p->l->types, "%s", type);
}

/* ---- lists -------------------------------------------------------------- */

/* Types are quoted whole at the top, and spelled out within a list. */
static void before(struct print *p, bool first)
{
    const char *comma = first ? "" : ", ";

    add(p, &p->l->values, "%s", comma);
    add(p, &p->l->shapes, "%s", comma);
    if (p->depth == 0)
        add(p, &p->l->types, "%s'", comma);
    else
        add(p, &p->l->types, "%s", first ? "" : ",");
}

static void close_list(struct print *p)
{
    p->depth--;
    add(p, &p->l->values, "]");
    add(p, &p->l->shapes, "]");
    add(p, &p->l->types, p->depth == 0 ? "]'" : "]");
}

static void open_list(struct print *p, const struct msim_arg *end)
{
    add(p, &p->l->values, "[");
    add(p, &p->l->shapes, "[");
    add(p, &p->l->types, "GenericList[");
    p->ends[p->depth++] = end;
}

static void print_args(struct print *p, const struct msim_arg *a,
                       const struct msim_arg *end)
{
    bool first = true;

    while (a < end || p->depth) {
        while (p->depth && a >= p->ends[p->depth - 1]) {
            close_list(p);
            first = false;
        }
        if (a >= end)
            break;
        before(p, first);
        if (a->kind == MSIM_ARG_LIST && p->depth < MAX_DEPTH) {
            open_list(p, a + 1 + a->v.i);
            first = true;
            a++;
            continue;
        }
        if (a->kind == MSIM_ARG_TENSOR)
            add_tensor(p, a);
        else
            add_scalar(p, a);
        if (p->depth == 0)
            add(p, &p->l->types, "'");
        first = false;
        a++;
    }
}

enum msim_status msim_chakra_print(struct msim_chakra_lists *l,
                                   const struct msim_trace *t, uint32_t block,
                                   uint32_t ids, int64_t device)
{
    struct print p = {.l = l, .t = t, .device = device};
    const struct msim_arg_block *b = &t->blocks[block];

    l->values.n = l->shapes.n = l->types.n = 0;
    if (ids != MSIM_NONE)
        p.ids = &t->tensor_ids[ids];
    add(&p, &l->values, "[");
    add(&p, &l->shapes, "[");
    add(&p, &l->types, "[");
    if (b->count)
        print_args(&p, t->args + b->first, t->args + b->first + b->count);
    add(&p, &l->values, "]");
    add(&p, &l->shapes, "]");
    add(&p, &l->types, "]");
    if (p.failed)
        return MSIM_ENOMEM;
    ((char *)l->values.data)[l->values.n] = '\0';
    ((char *)l->shapes.data)[l->shapes.n] = '\0';
    ((char *)l->types.data)[l->types.n] = '\0';
    return MSIM_OK;
}

enum msim_status msim_chakra_print_text(struct msim_vec *to, const char *text)
{
    MSIM_TRY(put(to, "["));
    MSIM_TRY(quote(to, text));
    MSIM_TRY(put(to, "]"));
    ((char *)to->data)[to->n] = '\0';
    return MSIM_OK;
}

/*
 * core/read/kineto/kineto_args.c - the inputs of an operator, and numbers as
 * Kineto writes them.
 *
 * `Input Dims`, `Input Strides`, `Input type` and `Concrete Inputs` are lists
 * side by side; strides are in newer files only. Types decide what an entry is.
 * Files of 2020 have none: there an entry with sizes is a tensor.
 */
#include "core/base/hash.h"
#include "core/base/texts.h"
#include "core/read/kineto/read_kineto_internal.h"
#include "core/trace/trace_columns.h"

#include <math.h>
#include <string.h>

/* Type codes: an element type means a tensor; others begin here. */
enum { TYPE_NOTHING = 64, TYPE_SCALAR, TYPE_LIST, TYPE_TENSORS, TYPE_MISSING };
/* Names that nobody knows: an element type where the entry has sizes. */
#define TYPE_ODD 128

static const struct msim_keyword types[] = {
    {"", TYPE_NOTHING},
    {"Scalar", TYPE_SCALAR},
    {"Int", TYPE_SCALAR},
    {"Bool", TYPE_SCALAR},
    {"Double", TYPE_SCALAR},
    {"String", TYPE_SCALAR},
    {"Device", TYPE_SCALAR},
    {"None", TYPE_NOTHING},
    {"Generator", TYPE_NOTHING},
    {"Object", TYPE_NOTHING},
    {"ScalarList", TYPE_LIST},
    {"GenericList", TYPE_LIST},
    {"TensorList", TYPE_TENSORS},
    {"float", MSIM_DT_F32},
    {"double", MSIM_DT_F64},
    {"c10::Half", MSIM_DT_F16},
    {"c10::BFloat16", MSIM_DT_BF16},
    {"long int", MSIM_DT_I64},
    {"long", MSIM_DT_I64},
    {"int", MSIM_DT_I32},
    {"bool", MSIM_DT_BOOL},
    {"unsigned char", MSIM_DT_U8},
    {NULL, 0},
};

void msim_kineto_types_init(struct msim_kineto *k)
{
    msim_keyset_init(&k->types, types);
}

int msim_kineto_type(struct msim_reader *r, const char *s, size_t len,
                     uint8_t *code)
{
    *code = msim_keyset_find(&msim_kineto_of(r)->types, s, len);
    if (!*code)
        *code = (uint8_t)msim_name_dtype(s, len);
    if (*code)
        return MSIM_OK;
    MSIM_TRY(msim_read_odd_type(r, s, len, code));
    *code += TYPE_ODD;
    return MSIM_OK;
}

static int add_arg(struct msim_kineto *k, struct msim_arg arg)
{
    struct msim_arg *a = msim_vec_add(&k->args, sizeof(*a));

    if (!a)
        return MSIM_ENOMEM;
    *a = arg;
    return 0;
}

/* ---- values as text ----------------------------------------------------- */

static bool is(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(s, word, len);
}

static int scalar_value(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_arg a = {.kind = MSIM_ARG_NONE};
    uint32_t id;

    if (len == 0 || is(s, len, "None"))
        return add_arg(k, a);
    if (is(s, len, "True") || is(s, len, "False")) {
        a.kind = MSIM_ARG_BOOL;
        a.v.i = *s == 'T';
    } else if (msim_decimal_int(s, len, &a.v.i)) {
        a.kind = MSIM_ARG_INT;
    } else if (msim_decimal_real(s, len, &a.v.f)) {
        a.kind = MSIM_ARG_REAL;
        if (isnan(a.v.f))
            a.v.f = NAN; /* one bit pattern, so that equal lists are equal */
    } else {
        if (len >= 2 && (*s == '"' || *s == '\'') && s[len - 1] == *s) {
            s++;
            len -= 2;
        }
        MSIM_TRY(msim_strtab_add(r->strings, s, len, &id));
        a.kind = MSIM_ARG_STR;
        a.v.i = id;
    }
    return add_arg(k, a);
}

/* "[1, 2, 3]", flat. A nested list, or what is no list, is kept as one
 * value. */
static int list_value(struct msim_reader *r, const char *s, size_t len)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const char *end = s + len;
    uint32_t at = k->args.n;
    struct msim_arg *list;

    if (len < 2 || *s != '[' || end[-1] != ']' || memchr(s + 1, '[', len - 1))
        return scalar_value(r, s, len);
    MSIM_TRY(add_arg(k, (struct msim_arg){.kind = MSIM_ARG_LIST}));
    for (s++, end--; s < end;) {
        const char *comma = memchr(s, ',', (size_t)(end - s));
        const char *stop = comma ? comma : end, *last = stop;

        while (s < last && *s == ' ')
            s++;
        while (last > s && last[-1] == ' ')
            last--;
        MSIM_TRY(scalar_value(r, s, (size_t)(last - s)));
        list = (struct msim_arg *)k->args.data + at;
        list->n++;
        list->v.i++;
        s = stop + (comma != NULL);
    }
    return 0;
}

/* ---- tensors ------------------------------------------------------------ */

/* One tensor whose sizes are dims[from .. to); false where it is a list. */
static bool is_flat(const int64_t *dims, uint32_t from, uint32_t to)
{
    for (; from < to; from++)
        if (dims[from] == MSIM_KDIMS_OPEN)
            return false;
    return true;
}

/* How the tensor lies whose `n` sizes are at `dims`: its strides have the same
 * place in their list, between the same marks. */
static enum msim_layout layout_at(const struct msim_kineto *k,
                                  const int64_t *dims, uint32_t n)
{
    const int64_t *strides;

    if (n == 0 || k->strides.n != k->dims.n)
        return MSIM_LAYOUT_PLAIN;
    strides = (const int64_t *)k->strides.data +
              (dims - (const int64_t *)k->dims.data);
    return strides[-1] == dims[-1] && strides[n] == dims[n]
               ? msim_layout_of(dims, strides, n)
               : MSIM_LAYOUT_PLAIN;
}

static int add_tensor(struct msim_reader *r, const int64_t *dims, uint32_t n,
                      uint8_t dtype)
{
    struct msim_kineto *k = msim_kineto_of(r);
    struct msim_arg a = {.kind = MSIM_ARG_TENSOR,
                         .dtype = dtype,
                         .layout = (uint8_t)layout_at(k, dims, n),
                         .n = n};
    uint32_t index;

    MSIM_TRY(msim_argpool_dims(&r->pool, dims, n, &index));
    a.v.i = index;
    return add_arg(k, a);
}

/* [[2, 3], [4]]: a list of tensors; deeper nesting does not occur and is
   flattened. */
static int add_tensors(struct msim_reader *r, const int64_t *dims,
                       uint32_t from, uint32_t to)
{
    struct msim_kineto *k = msim_kineto_of(r);
    uint32_t at = k->args.n, start;
    struct msim_arg *list;

    MSIM_TRY(add_arg(k, (struct msim_arg){.kind = MSIM_ARG_LIST}));
    while (from < to) {
        if (dims[from] == MSIM_KDIMS_OPEN || dims[from] == MSIM_KDIMS_CLOSE) {
            from++;
            if (dims[from - 1] == MSIM_KDIMS_CLOSE ||
                (from < to && dims[from] == MSIM_KDIMS_OPEN))
                continue;
        }
        start = from;
        while (from < to && dims[from] != MSIM_KDIMS_OPEN &&
               dims[from] != MSIM_KDIMS_CLOSE)
            from++;
        MSIM_TRY(add_tensor(r, dims + start, from - start, MSIM_DT_UNKNOWN));
        list = (struct msim_arg *)k->args.data + at;
        list->n++;
        list->v.i++;
    }
    return 0;
}

/* Sizes and marks of the operator at hand; an array also where there are none,
 * of which every input is an empty part then. */
static const int64_t *dims_of(const struct msim_kineto *k)
{
    static const int64_t NONE[1];

    return k->dims.data ? k->dims.data : NONE;
}

static int add_input(struct msim_reader *r, uint32_t i, uint32_t from,
                     uint32_t to)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const int64_t *dims = dims_of(k);
    const uint8_t *codes = k->types_in.data;
    const struct msim_text_piece *values = k->values.data;
    struct msim_text_piece v = {0, 0};
    const char *text = "";
    uint8_t type = TYPE_MISSING;

    if (i < k->types_in.n)
        type = codes[i];
    if (i < k->values.n) {
        v = values[i];
        text = (const char *)k->text.data + v.at;
    }
    if (type >= TYPE_ODD) {
        r->out->odd_types[type - TYPE_ODD].n += from != to;
        type = from == to ? MSIM_DT_UNKNOWN : MSIM_DT_ODD;
    }
    switch (type) {
    case TYPE_SCALAR:
        return scalar_value(r, text, v.len);
    case TYPE_NOTHING:
    case TYPE_LIST:
        return list_value(r, text, v.len);
    case TYPE_TENSORS:
        return add_tensors(r, dims, from, to);
    case TYPE_MISSING:
        if (from == to)
            return list_value(r, text, v.len);
        type = MSIM_DT_UNKNOWN;
        r->out->untyped++;
        break;
    default:
        break;
    }
    if (!is_flat(dims, from, to))
        return add_tensors(r, dims, from, to);
    return add_tensor(r, dims + from, to - from, type);
}

enum msim_status msim_kineto_args(struct msim_reader *r, uint32_t *block)
{
    struct msim_kineto *k = msim_kineto_of(r);
    const int64_t *dims = dims_of(k);
    uint32_t at = 0, i,
             n = k->types_in.n > k->values.n ? k->types_in.n : k->values.n;
    int result = 0;

    k->args.n = 0;
    for (i = 0; (i < n || at < k->dims.n) && !result; i++) {
        uint32_t from = at, depth = 0;

        /* Entry i of the sizes is one balanced pair of marks. */
        while (at < k->dims.n) {
            depth += dims[at] == MSIM_KDIMS_OPEN;
            if (dims[at++] == MSIM_KDIMS_CLOSE && --depth == 0)
                break;
            if (depth == 0)
                break;
        }
        if (at - from >= 2)
            result = add_input(r, i, from + 1, at - 1);
        else
            result = add_input(r, i, at, at);
    }
    if (result)
        return (enum msim_status)result;
    return msim_argpool_block(&r->pool, k->args.data, k->args.n, block);
}

bool msim_kineto_is_odd(const struct msim_kineto *k)
{
    const uint8_t *codes = k->types_in.data;

    for (uint32_t i = 0; i < k->types_in.n; i++)
        if (codes[i] >= TYPE_ODD)
            return true;
    return false;
}

int64_t msim_kineto_int(const char *s, size_t len)
{
    int64_t n = 0;
    double x;

    if (len == 0 || msim_decimal_int(s, len, &n))
        return n;
    if (len > 7 && !memcmp(s, "stream ", 7) &&
        msim_decimal_int(s + 7, len - 7, &n))
        return n;
    if (msim_decimal_real(s, len, &x) && x > -9e18 && x < 9e18)
        return (int64_t)x;
    /* The hash of a name, made negative. */
    return (int64_t)(msim_hash_bytes(MSIM_HASH_START, s, len) | 1ull << 63);
}

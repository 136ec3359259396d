/*
 * core/read/et/et_args.c - inputs and outputs of a node: values, shapes and
 * types side by side.
 *
 * The type decides: `GenericList[Tensor(float),Int]` spells out every element
 * of a list, `Tensor(float)` makes a tensor of the tuple [tensor, storage,
 * offset, numel, itemsize, device]. The writer cuts lists longer than 4096,
 * values and types not always at the same place; where the type string ends
 * early, the value decides. No recursion: a stack of open lists.
 */
#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/read/et/read_et.h"
#include "core/trace/trace_columns.h"

#include <math.h>
#include <string.h>

#define MAX_LISTS 64

/* Shapes or strides, from where the walk is. */
struct sizes {
    const struct msim_et_token *at, *end;
};

/* A walk over one side of a node. */
struct walk {
    struct msim_reader *r;
    const struct msim_et_token *v, *v_end; /* values */
    struct sizes shapes, strides;
    const char *type, *type_end;
    uint32_t open[MAX_LISTS]; /* argument numbers of the open lists */
    uint32_t depth;
    struct msim_et_size *size;
    uint32_t *ids;
    bool inputs; /* of which details are wanted */
    enum msim_et_spot_kind side;
};

static const char *text_of(const struct msim_reader *r,
                           struct msim_text_piece p)
{
    return msim_et_of(r)->text.data
               ? (const char *)msim_et_of(r)->text.data + p.at
               : "";
}

static bool type_is(const struct walk *w, const char *prefix)
{
    size_t len = strlen(prefix);

    return (size_t)(w->type_end - w->type) >= len &&
           !memcmp(w->type, prefix, len);
}

/* Past one type without brackets, such as Tensor(nullptr (uninitialized)). */
static void skip_type(struct walk *w)
{
    int parens = 0;

    for (; w->type < w->type_end; w->type++) {
        if (*w->type == '(')
            parens++;
        else if (*w->type == ')')
            parens--;
        else if (parens <= 0 && (*w->type == ',' || *w->type == ']'))
            break;
    }
}

static void skip_comma(struct walk *w)
{
    if (w->type < w->type_end && *w->type == ',')
        w->type++;
}

/* Add an argument to the open list, if there is one. */
static int add_arg(struct walk *w, struct msim_arg arg)
{
    struct msim_vec *args = &msim_et_of(w->r)->args;
    struct msim_arg *a = msim_vec_add(args, sizeof(*a)), *all;
    uint32_t i;

    if (!a)
        return MSIM_ENOMEM;
    *a = arg;
    all = args->data;
    for (i = 0; i < w->depth; i++)
        all[w->open[i]].v.i++;
    if (w->depth)
        all[w->open[w->depth - 1]].n++;
    return 0;
}

/* ---- scalars ------------------------------------------------------------ */

static int add_number(struct walk *w, const char *s, size_t len, bool real)
{
    struct msim_arg a = {.kind = MSIM_ARG_INT};

    if (!real && msim_decimal_int(s, len, &a.v.i))
        return add_arg(w, a);
    if (!msim_decimal_real(s, len, &a.v.f))
        return add_arg(w, (struct msim_arg){.kind = MSIM_ARG_NONE});
    if (isnan(a.v.f))
        a.v.f = NAN;
    a.kind = MSIM_ARG_REAL;
    return add_arg(w, a);
}

static int add_string(struct walk *w, const char *s, size_t len)
{
    struct msim_arg a = {.kind = MSIM_ARG_STR};
    uint32_t id;

    /* "<None>", "<Generator>", "<Object>": the kind is all there is. */
    if (type_is(w, "None") || type_is(w, "Object") || type_is(w, "Stream") ||
        type_is(w, "Generator") || type_is(w, "Storage") ||
        (len == 6 && !memcmp(s, "<None>", 6)))
        return add_arg(w, (struct msim_arg){.kind = MSIM_ARG_NONE});
    if (type_is(w, "Double")) /* "inf", "-inf", "nan" are quoted */
        return add_number(w, s, len, true);
    MSIM_TRY(msim_strtab_add(w->r->strings, s, len, &id));
    a.v.i = id;
    return add_arg(w, a);
}

/* A number that was just added may be another one in a node that is alike. */
static int note_number(struct walk *w, const struct msim_et_token *v)
{
    const struct msim_vec *args = &msim_et_of(w->r)->args;
    const struct msim_arg *all = args->data;

    if (all[args->n - 1].kind != MSIM_ARG_INT ||
        v->text.len > MSIM_ALIKE_DIGITS)
        return 0;
    return msim_et_alike_note(&msim_et_of(w->r)->alike, w->side, args->n - 1,
                              v->from, v->text.len);
}

static int add_scalar(struct walk *w)
{
    const struct msim_et_token *v = w->v++;
    const char *s = text_of(w->r, v->text);
    int result;

    switch (v->kind) {
    case MSIM_ETOK_NUMBER:
        result = type_is(w, "Bool")
                     ? add_arg(w, (struct msim_arg){.kind = MSIM_ARG_BOOL,
                                                    .v.i = *s != '0'})
                     : add_number(w, s, v->text.len, type_is(w, "Double"));
        if (!result)
            result = note_number(w, v);
        break;
    case MSIM_ETOK_BOOL:
        result = add_arg(
            w, (struct msim_arg){.kind = MSIM_ARG_BOOL, .v.i = v->text.len});
        break;
    case MSIM_ETOK_STRING:
        result = add_string(w, s, v->text.len);
        break;
    default:
        result = add_arg(w, (struct msim_arg){.kind = MSIM_ARG_NONE});
        break;
    }
    skip_type(w);
    return result;
}

/* Past one entry, a scalar or a balanced list. */
static void skip_entry(struct sizes *s)
{
    uint32_t depth = 0;

    while (s->at < s->end) {
        uint32_t kind = s->at->kind;

        if (kind == MSIM_ETOK_CLOSE && depth == 0)
            return;
        s->at++;
        if (kind == MSIM_ETOK_OPEN)
            depth++;
        else if (kind == MSIM_ETOK_CLOSE && --depth == 0)
            return;
        else if (depth == 0)
            return;
    }
}

/* ---- tensors ------------------------------------------------------------ */

static uint8_t device_of(const char *s, size_t len)
{
    if (len == 0 || (len >= 4 && !memcmp(s, "meta", 4)))
        return MSIM_DEV_UNKNOWN;
    return len >= 3 && !memcmp(s, "cpu", 3) ? MSIM_DEV_CPU : MSIM_DEV_GPU;
}

/* The bit of "cuda:1". */
static uint64_t gpu_bit(const char *s, size_t len)
{
    const char *colon = memchr(s, ':', len);
    int64_t n;

    if (!colon || device_of(s, len) != MSIM_DEV_GPU ||
        !msim_decimal_int(colon + 1, len - (size_t)(colon + 1 - s), &n))
        return 0;
    return n >= 0 && n < 64 ? 1ull << n : 0;
}

/* Put the sizes of one entry on the scratch stack. `*broken`: there is none, or
 * some of its sizes is none, and stands there as 0. */
static int read_dims(struct walk *w, struct sizes *from, struct msim_vec *dims,
                     bool *broken)
{
    uint32_t depth = 0;
    int64_t *slot;

    dims->n = 0;
    *broken = from->at == from->end || from->at->kind == MSIM_ETOK_CLOSE;
    while (from->at < from->end) {
        const struct msim_et_token *s = from->at;

        if (s->kind == MSIM_ETOK_CLOSE && depth == 0)
            break;
        from->at++;
        depth += s->kind == MSIM_ETOK_OPEN;
        if (s->kind == MSIM_ETOK_CLOSE && --depth == 0)
            break;
        if (s->kind != MSIM_ETOK_OPEN && s->kind != MSIM_ETOK_CLOSE) {
            slot = msim_vec_add(dims, sizeof(*slot));
            if (!slot)
                return MSIM_ENOMEM;
            if (s->kind != MSIM_ETOK_NUMBER ||
                !msim_decimal_int(text_of(w->r, s->text), s->text.len, slot) ||
                *slot < 0) {
                *slot = 0;
                *broken = true;
            }
        }
        if (depth == 0)
            break;
    }
    return 0;
}

/* The strides of tensor `a`: its layout, and where in dims they are, NONE where
 * they are not in the file. */
static int read_strides(struct walk *w, struct msim_arg *a, uint32_t *index)
{
    struct msim_vec *dims = &msim_et_of(w->r)->dims;
    const struct msim_et_token *from = w->strides.at;
    bool listed = from < w->strides.end && from->kind == MSIM_ETOK_OPEN;
    bool broken;

    *index = MSIM_NONE;
    MSIM_TRY(read_dims(w, &w->strides, dims, &broken));
    if (!listed || dims->n != a->n || broken)
        return 0;
    a->layout = (uint8_t)msim_layout_of(msim_arg_dims(w->r->trace, a),
                                        dims->data, a->n);
    return msim_et_of(w->r)->details
               ? msim_argpool_dims(&w->r->pool, dims->data, a->n, index)
               : 0;
}

/* Strides of a tensor, beside its row of tensor_ids. */
static int add_strides(struct walk *w, uint32_t index)
{
    struct msim_trace *t = w->r->trace;

    MSIM_TRY(msim_grow((void **)&t->tensor_strides, &t->cap_tensor_strides,
                       t->n_tensor_strides, sizeof(*t->tensor_strides)));
    t->tensor_strides[t->n_tensor_strides++] = index;
    return 0;
}

/* Note a tensor for msim_et_ranges(). */
static int add_input(struct walk *w, uint32_t id)
{
    struct msim_et_input *in;

    if (!w->inputs)
        return 0;
    in = msim_vec_add(&msim_et_of(w->r)->inputs, sizeof(*in));
    if (!in)
        return MSIM_ENOMEM;
    *in = (struct msim_et_input){.id = id};
    return 0;
}

static int add_id(struct walk *w, const int64_t *tuple)
{
    struct msim_trace *t = w->r->trace;

    MSIM_TRY(msim_grow((void **)&t->tensor_ids, &t->cap_tensor_ids,
                       t->n_tensor_ids, sizeof(*t->tensor_ids)));
    if (*w->ids == MSIM_NONE)
        *w->ids = t->n_tensor_ids;
    t->tensor_ids[t->n_tensor_ids++] = (struct msim_tensor_id){
        (uint32_t)tuple[0], (uint32_t)tuple[1], tuple[2]};
    return 0;
}

/* Number `n` of a tensor. The first three name it, as no other is named. */
static int read_number(struct walk *w, const struct msim_et_token *v,
                       uint32_t n, int64_t *value)
{
    if (!msim_decimal_int(text_of(w->r, v->text), v->text.len, value))
        *value = 0;
    return n < 3 ? msim_et_alike_note(
                       &msim_et_of(w->r)->alike, MSIM_ET_SPOT_TENSOR + n,
                       w->r->trace->n_tensor_ids, v->from, v->text.len)
                 : 0;
}

/* [tensor, storage, offset, numel, itemsize, device]; no device before 2022.
 * Behind it may be the layout, which core/chakra writes. */
static int read_tuple(struct walk *w, int64_t tuple[6], uint8_t *device)
{
    uint32_t depth = 0, n = 0;

    memset(tuple, 0, 6 * sizeof(*tuple));
    *device = MSIM_DEV_UNKNOWN;
    while (w->v < w->v_end) {
        const struct msim_et_token *v = w->v;

        if (v->kind == MSIM_ETOK_CLOSE && depth == 0)
            return 0;
        w->v++;
        depth += v->kind == MSIM_ETOK_OPEN;
        if (v->kind == MSIM_ETOK_CLOSE && --depth == 0)
            return 0;
        if (v->kind == MSIM_ETOK_NUMBER && n < 6)
            MSIM_TRY(read_number(w, v, n, &tuple[n]));
        n += v->kind == MSIM_ETOK_NUMBER;
        if (v->kind == MSIM_ETOK_STRING) {
            const char *text = text_of(w->r, v->text);

            *device = device_of(text, v->text.len);
            msim_et_of(w->r)->gpus |= gpu_bit(text, v->text.len);
        }
        if (depth == 0)
            return 0;
    }
    return 0;
}

static bool begins(const char *s, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

/* An undefined tensor is "nullptr (uninitialized)", and "unknown" is what
 * msim_chakra_dtype_text() says of a type that a file did not name. */
static enum msim_status dtype_of(struct msim_reader *r, const char *name,
                                 size_t len, uint8_t *dtype)
{
    uint8_t slot;

    *dtype = (uint8_t)msim_name_dtype(name, len);
    if (*dtype || len == 0 || begins(name, len, "nullptr") ||
        begins(name, len, "unknown"))
        return MSIM_OK;
    MSIM_TRY(msim_read_odd_type(r, name, len, &slot));
    msim_et_of(r)->alike.odd = true;
    r->out->odd_types[slot].n++;
    *dtype = MSIM_DT_ODD;
    return MSIM_OK;
}

static int add_tensor(struct walk *w)
{
    struct msim_arg a = {.kind = MSIM_ARG_TENSOR};
    struct msim_vec *dims = &msim_et_of(w->r)->dims;
    int64_t tuple[6];
    uint32_t index, strides, n_spots = msim_et_of(w->r)->alike.texts.spots.n;
    bool broken;
    const char *name = w->type + sizeof "Tensor(" - 1;

    skip_type(w);
    if (w->type > name && w->type[-1] == ')')
        MSIM_TRY(dtype_of(w->r, name, (size_t)(w->type - 1 - name), &a.dtype));
    MSIM_TRY(read_tuple(w, tuple, &a.device));
    MSIM_TRY(read_dims(w, &w->shapes, dims, &broken));
    msim_import_add(&w->r->trace->import, MSIM_IMPORT_SIZES, broken);
    if (broken ||
        (tuple[4] == 0 && tuple[3] == 0 && a.device == MSIM_DEV_UNKNOWN &&
         a.dtype == MSIM_DT_UNKNOWN)) {
        skip_entry(&w->strides);
        msim_et_of(w->r)->alike.texts.spots.n = n_spots;
        msim_et_of(w->r)->alike.odd |= broken;
        MSIM_TRY(add_input(w, MSIM_NONE));
        return add_arg(w, (struct msim_arg){.kind = MSIM_ARG_NONE});
    }
    if (tuple[5] == MSIM_LAYOUT_TURNED || tuple[5] == MSIM_LAYOUT_GAPS)
        a.layout = (uint8_t)tuple[5];
    a.n = dims->n;
    MSIM_TRY(msim_argpool_dims(&w->r->pool, dims->data, dims->n, &index));
    a.v.i = index;
    if (w->size->dtype == MSIM_DT_UNKNOWN)
        w->size->dtype = a.dtype;
    w->size->elems += msim_arg_elems(w->r->trace, &a);
    MSIM_TRY(read_strides(w, &a, &strides));
    MSIM_TRY(add_arg(w, a));
    MSIM_TRY(add_input(w, w->r->trace->n_tensor_ids));
    MSIM_TRY(add_id(w, tuple));
    return msim_et_of(w->r)->details ? add_strides(w, strides) : 0;
}

/* ---- the walk ----------------------------------------------------------- */

static void open_entry(struct sizes *s)
{
    if (s->at < s->end && s->at->kind == MSIM_ETOK_OPEN)
        s->at++;
}

/* Past what is left of an open list. */
static void close_entry(struct sizes *s)
{
    while (s->at < s->end && s->at->kind != MSIM_ETOK_CLOSE)
        skip_entry(s);
    if (s->at < s->end)
        s->at++;
}

static int open_list(struct walk *w)
{
    const char *bracket;
    struct msim_vec *args = &msim_et_of(w->r)->args;

    if (w->depth == MAX_LISTS)
        return msim_read_problem(
            w->r, MSIM_ELIMIT, "node %llu: lists nested deeper than %d",
            (unsigned long long)msim_et_of(w->r)->node.id, MAX_LISTS);
    MSIM_TRY(add_arg(w, (struct msim_arg){.kind = MSIM_ARG_LIST}));
    w->open[w->depth++] = args->n - 1;
    w->v++;
    bracket = w->type < w->type_end
                  ? memchr(w->type, '[', (size_t)(w->type_end - w->type))
                  : NULL;
    if (bracket && (type_is(w, "GenericList") || type_is(w, "Tuple")))
        w->type = bracket + 1;
    open_entry(&w->shapes);
    open_entry(&w->strides);
    return 0;
}

static void close_list(struct walk *w)
{
    uint32_t depth = 0;

    w->depth--;
    w->v++;
    /* Past the rest of this list's types, shapes and strides. */
    for (; w->type < w->type_end; w->type++) {
        if (*w->type == '[')
            depth++;
        if (*w->type == ']' && depth-- == 0) {
            w->type++;
            break;
        }
    }
    close_entry(&w->shapes);
    close_entry(&w->strides);
    skip_comma(w);
}

static int add_value(struct walk *w)
{
    int result;

    if (type_is(w, "Tensor("))
        result = add_tensor(w);
    else if (w->v->kind == MSIM_ETOK_OPEN)
        return open_list(w);
    else {
        skip_entry(&w->shapes);
        skip_entry(&w->strides);
        result = add_scalar(w);
    }
    skip_comma(w);
    return result;
}

static struct sizes sizes_of(const struct msim_vec *tokens)
{
    const struct msim_et_token *at = tokens->data;

    return (struct sizes){at, tokens->n ? at + tokens->n : at};
}

enum msim_status msim_et_args(struct msim_reader *r,
                              const struct msim_et_values *v, uint32_t *block,
                              uint32_t *ids, struct msim_et_size *size)
{
    const struct msim_text_piece *types = v->types.data;
    struct walk w = {.r = r, .size = size, .ids = ids};
    uint32_t i = 0;

    msim_et_of(r)->args.n = 0;
    if (v->values.n) {
        w.v = v->values.data;
        w.v_end = w.v + v->values.n;
    }
    w.shapes = sizes_of(&v->shapes);
    w.strides = sizes_of(&v->strides);
    w.inputs = msim_et_of(r)->details && v == &msim_et_of(r)->in;
    w.side = v == &msim_et_of(r)->in ? MSIM_ET_SPOT_INPUT : MSIM_ET_SPOT_OUTPUT;
    w.type = w.type_end = "";
    while (w.v < w.v_end) {
        int result = 0;

        if (w.depth == 0) {
            w.type = i < v->types.n ? text_of(r, types[i]) : "";
            w.type_end = w.type + (i < v->types.n ? types[i].len : 0);
            i++;
        }
        if (w.v->kind == MSIM_ETOK_CLOSE && w.depth)
            close_list(&w);
        else if (w.v->kind == MSIM_ETOK_CLOSE)
            w.v++;
        else
            result = add_value(&w);
        if (result)
            return (enum msim_status)result;
    }
    return msim_argpool_block(&r->pool, msim_et_of(r)->args.data,
                              msim_et_of(r)->args.n, block);
}

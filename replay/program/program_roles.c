/*
 * replay/program/program_roles.c - what the tensors from outside are for, as
 * far as their uses tell: parameters, state, indices with their range, inputs.
 * And which of them share storage.
 */
#include "replay/program/program_internal.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* What is known of one tensor from outside after all its uses. */
struct uses {
    bool recorded; /* read before a backward */
    bool written;  /* by anyone */
    bool trained;  /* written, and not by what autograd records */
    bool buffer;   /* a running mean: written without a mark in the signature */
    bool positive; /* a variance, a norm's weight, a count */
    bool offsets, index;
    int64_t rows;  /* what an index may point at, 0 unknown */
    int64_t total; /* indices that offsets divide */
};

struct roles {
    struct msim_idmap source; /* life -> the tensor from outside in it */
    struct msim_builder *b;
    struct msim_program *p;
    const struct msim_trace *t;
    struct uses *uses;
    uint32_t last_backward; /* statement, or NONE */
};

static bool is_float(uint8_t dtype)
{
    return dtype >= MSIM_DT_F64 && dtype <= MSIM_DT_F8;
}

/* ---- uses --------------------------------------------------------------- */

static bool one_of(const struct msim_schema_arg *a, const char *const *names)
{
    for (; *names; names++)
        if (msim_schema_is(a, *names))
            return true;
    return false;
}

static const struct msim_arg *argument_named(const struct roles *r,
                                             const struct msim_statement *s,
                                             const char *name)
{
    const struct msim_schema *schema = msim_program_schema(r->p, s->schema);

    for (uint32_t i = 0; i < schema->n_args; i++)
        if (msim_schema_is(&schema->args[i], name))
            return msim_args_get(r->t, r->t->ops[s->op].args, i);
    return NULL;
}

static int64_t size_of(const struct roles *r, const struct msim_arg *a,
                       int64_t dim)
{
    if (!a || a->kind != MSIM_ARG_TENSOR || a->n == 0)
        return 0;
    if (dim < 0)
        dim += a->n;
    return dim >= 0 && dim < a->n ? msim_arg_dims(r->t, a)[dim] : 0;
}

/*
 * How many rows an index of this call can point at: of a table its rows; of a
 * loss the classes, dimension 1 of its scores (0 where there is no batch); of
 * gather, scatter and their like the dimension that they name.
 */
static int64_t rows_of(const struct roles *r, const struct msim_statement *s)
{
    const struct msim_arg *weight = argument_named(r, s, "weight");
    const struct msim_arg *self = argument_named(r, s, "self");
    const struct msim_arg *dim = argument_named(r, s, "dim");
    const char *name = msim_program_schema(r->p, s->schema)->name;

    if (strstr(name, "loss") || strstr(name, "cross_entropy"))
        return size_of(r, self, self && self->n > 1 ? 1 : 0);
    if (strstr(name, "embedding"))
        return size_of(r, weight, 0);
    return size_of(r, self, dim && dim->kind == MSIM_ARG_INT ? dim->v.i : 0);
}

/* x[:, i, j]: which size each list element points into is not looked at; the
 * least one is safe. */
static int64_t least_size(const struct roles *r, const struct msim_statement *s)
{
    const struct msim_arg *self = argument_named(r, s, "self");
    int64_t least = size_of(r, self, 0);

    for (uint32_t i = 1; self && i < self->n; i++)
        if (size_of(r, self, i) < least)
            least = size_of(r, self, i);
    return least;
}

/* Does this use say what whole numbers in the tensor mean? */
static void note_meaning(struct roles *r, struct uses *u,
                         const struct msim_statement *s,
                         const struct msim_schema_arg *a)
{
    static const char *const index[] = {"indices", "index", "target", NULL};
    const struct msim_arg *indices;
    int64_t rows;

    if (msim_schema_is(a, "offsets")) {
        indices = argument_named(r, s, "indices");
        u->offsets = true;
        if (indices && indices->kind == MSIM_ARG_TENSOR)
            u->total = (int64_t)msim_arg_elems(r->t, indices);
    }
    if (!one_of(a, index))
        return;
    u->index = true;
    rows = a->list ? least_size(r, s) : rows_of(r, s);
    if (rows > 0 && (u->rows == 0 || rows < u->rows))
        u->rows = rows;
}

static void note_use(struct roles *r, struct uses *u, uint32_t number,
                     const struct msim_schema_arg *a)
{
    static const char *const positive[] = {
        "running_var", "weight", "max_norm", "rstd", "save_invstd", NULL};
    bool before = r->last_backward != MSIM_NONE && number < r->last_backward;

    u->recorded |= before;
    u->written |= a->written;
    u->trained |= a->written && !before;
    u->positive |= one_of(a, positive);
    u->buffer |= msim_schema_is(a, "running_mean");
}

/* The tensor from outside that an operand is, looks at or was copied from. */
static uint32_t source_of(const struct roles *r, struct msim_program_input o,
                          uint32_t id)
{
    uint32_t life = r->b->p->lives.of[id];

    if (o.kind == MSIM_INPUT_OUTSIDE)
        return o.index;
    return o.kind == MSIM_INPUT_VALUE && life != MSIM_NONE
               ? msim_idmap_get(&r->source, life)
               : MSIM_NONE;
}

/* Copies mean what their source means: indices come by way of the CPU. */
static enum msim_status
note_source(struct roles *r, const struct msim_statement *s, uint32_t source)
{
    static const char *const copies[] = {"aten::to",         "aten::_to_copy",
                                         "aten::clone",      "aten::contiguous",
                                         "aten::pin_memory", NULL};
    const char *name = msim_program_schema(r->p, s->schema)->name;
    uint32_t life, *slot;

    for (const char *const *p = copies; *p; p++) {
        if (strcmp(name, *p) != 0 || s->n_out != 1)
            continue;
        life = r->p->lives.of[msim_program_value(r->p, s->first_out)->id];
        if (life == MSIM_NONE)
            return MSIM_OK;
        MSIM_TRY(msim_idmap_put(&r->source, life, source, &slot));
        *slot = source;
    }
    return MSIM_OK;
}

static enum msim_status note_uses(struct roles *r, uint32_t number)
{
    const struct msim_statement *s = msim_program_statement(r->p, number);
    const struct msim_op *op = &r->t->ops[s->op];
    static const struct msim_schema_arg none;
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;
    const struct msim_schema *schema;

    if (s->schema == MSIM_NONE)
        return MSIM_OK;
    schema = msim_program_schema(r->p, s->schema);
    for (uint32_t k = 0; msim_tensor_next(r->t, op->args, op->ids, &walk, &at);
         k++) {
        struct msim_program_input o =
            *msim_program_operand(r->p, s->first_in + k);
        const struct msim_schema_arg *a =
            at.argument < schema->n_args ? &schema->args[at.argument] : &none;
        uint32_t source = source_of(r, o, at.id);

        if (source == MSIM_NONE)
            continue;
        note_meaning(r, &r->uses[source], s, a);
        if (o.kind == MSIM_INPUT_OUTSIDE)
            note_use(r, &r->uses[source], number, a);
        MSIM_TRY(note_source(r, s, source));
    }
    return MSIM_OK;
}

/* ---- parameters --------------------------------------------------------- */

static bool may_train(const struct roles *r, uint32_t i)
{
    return is_float(msim_program_outside(r->p, i)->dtype) &&
           r->uses[i].recorded;
}

/* Candidates that something but forward writes: the optimizer. */
static uint32_t mark_written(struct roles *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->p->outside.n; i++)
        if (may_train(r, i) && r->uses[i].trained) {
            msim_program_outside(r->p, i)->role = MSIM_ROLE_PARAMETER;
            n++;
        }
    return n;
}

/* No optimizer ran: every tensor whose look a gradient has, in order, as often
 * as gradients have it. */
static enum msim_status mark_alike(struct roles *r, uint32_t *n)
{
    struct msim_idmap wanted = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *slot;

    *n = 0;
    for (uint32_t i = 0; i < r->b->n_order && status == MSIM_OK; i++) {
        const struct msim_op *op = &r->t->ops[r->b->order[i]];
        const struct msim_arg *a;

        if (strcmp(msim_trace_text(r->t, op->name),
                   "torch::autograd::AccumulateGrad") != 0)
            continue;
        a = msim_args_get(r->t, op->args, 0);
        if (!a || a->kind != MSIM_ARG_TENSOR)
            continue;
        status = msim_idmap_put(&wanted, (uint64_t)a->v.i, 0, &slot);
        if (status == MSIM_OK)
            ++*slot;
    }
    for (uint32_t i = 0; i < r->p->outside.n && status == MSIM_OK; i++) {
        struct msim_outside *o = msim_program_outside(r->p, i);

        if (!may_train(r, i) || msim_idmap_get(&wanted, o->dims) == MSIM_NONE)
            continue;
        status = msim_idmap_put(&wanted, o->dims, 0, &slot);
        if (status != MSIM_OK || *slot == 0)
            continue;
        --*slot;
        o->role = MSIM_ROLE_PARAMETER;
        ++*n;
    }
    msim_idmap_release(&wanted);
    return status;
}

/* As many parameters as backward made gradients? */
static enum msim_status find_parameters(struct roles *r, bool *known)
{
    uint32_t backwards = msim_program_backwards(r->p), n = mark_written(r);

    if (n == 0)
        MSIM_TRY(mark_alike(r, &n));
    *known = n > 0 && backwards > 0 && n * backwards == r->p->n_gradients;
    return MSIM_OK;
}

/* ---- all others --------------------------------------------------------- */

static void set_role(struct roles *r, uint32_t i)
{
    struct msim_outside *o = msim_program_outside(r->p, i);
    const struct uses *u = &r->uses[i];

    o->positive = u->positive && o->n_dims <= 1 && is_float(o->dtype);
    if (o->role == MSIM_ROLE_PARAMETER)
        return;
    if (u->offsets)
        o->role = MSIM_ROLE_OFFSETS;
    else if (u->index && !is_float(o->dtype))
        o->role = MSIM_ROLE_INDEX;
    else if (o->positive)
        o->role = MSIM_ROLE_POSITIVE;
    else if (u->written || u->buffer)
        o->role = MSIM_ROLE_STATE;
    if (o->role == MSIM_ROLE_INDEX && o->low == 0 && o->high == 0)
        o->high = u->rows > 0 ? u->rows - 1 : 0;
    if (o->role == MSIM_ROLE_OFFSETS)
        o->high = u->total;
}

/* ---- shared storage ----------------------------------------------------- */

static int64_t elements_of(const struct roles *r, const struct msim_outside *o)
{
    const int64_t *dims = r->t->dims + o->dims;
    int64_t last = 0, size = 1;

    for (uint32_t i = o->n_dims; i-- > 0;) {
        int64_t stride =
            o->strides == MSIM_NONE ? size : r->t->dims[o->strides + i];

        if (dims[i] == 0)
            return 0;
        last += (dims[i] - 1) * stride;
        size *= dims[i];
    }
    return o->offset + last + 1;
}

static enum msim_status add_storage(struct roles *r, uint32_t first,
                                    uint32_t *base)
{
    struct msim_outside *row = msim_vec_add(&r->p->outside, sizeof(*row));

    if (!row)
        return MSIM_ENOMEM;
    *row = *msim_program_outside(r->p, first);
    row->role = MSIM_ROLE_MEMORY;
    row->n_dims = 0;
    row->offset = row->elements = 0;
    *base = r->p->outside.n - 1;
    return MSIM_OK;
}

/* Two looks at one life of one type become views of one piece of memory. */
static enum msim_status share_storage(struct roles *r, uint32_t n,
                                      struct msim_idmap *first_of)
{
    for (uint32_t i = 0; i < n; i++) {
        struct msim_outside *o = msim_program_outside(r->p, i), *first;
        uint32_t *slot, base;

        if (o->life == MSIM_NONE)
            continue;
        MSIM_TRY(msim_idmap_put(first_of, o->life, i, &slot));
        first = msim_program_outside(r->p, *slot);
        if (*slot == i || first->dtype != o->dtype)
            continue;
        if (first->base == MSIM_NONE) {
            uint32_t place = *slot;

            MSIM_TRY(add_storage(r, place, &base));
            msim_program_outside(r->p, place)->base = base;
        }
        first = msim_program_outside(r->p, *slot);
        msim_program_outside(r->p, i)->base = first->base;
    }
    return MSIM_OK;
}

static void measure_storage(struct roles *r, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct msim_outside *o = msim_program_outside(r->p, i);
        int64_t elements = elements_of(r, o);

        if (o->base == MSIM_NONE)
            continue;
        o = msim_program_outside(r->p, o->base);
        if (o->elements < elements)
            o->elements = elements;
    }
}

/* ---- all ---------------------------------------------------------------- */

static uint32_t last_backward(const struct msim_program *p)
{
    for (uint32_t i = p->statements.n; i-- > 0;)
        if (msim_program_statement(p, i)->kind == MSIM_STATEMENT_BACKWARD)
            return i;
    return MSIM_NONE;
}

static enum msim_status find_sources(struct roles *r)
{
    for (uint32_t i = 0; i < r->p->outside.n; i++) {
        uint32_t life = msim_program_outside(r->p, i)->life, *slot;

        if (life != MSIM_NONE)
            MSIM_TRY(msim_idmap_put(&r->source, life, i, &slot));
    }
    return MSIM_OK;
}

enum msim_status msim_builder_roles(struct msim_builder *b, bool *known)
{
    struct msim_program *p = b->p;
    struct roles r = {.b = b, .p = p, .t = b->t};
    struct msim_idmap first_of = {0};
    uint32_t n = p->outside.n;
    enum msim_status status;

    r.last_backward = last_backward(p);
    r.uses = calloc((size_t)n + 1, sizeof(*r.uses));
    status = r.uses ? find_sources(&r) : MSIM_ENOMEM;
    for (uint32_t i = 0; status == MSIM_OK && i < p->statements.n; i++)
        status = note_uses(&r, i);
    *known = false;
    if (status == MSIM_OK && b->autograd)
        status = find_parameters(&r, known);
    if (status == MSIM_OK && (*known || !b->autograd)) {
        for (uint32_t i = 0; i < n; i++)
            set_role(&r, i);
        status = share_storage(&r, n, &first_of);
        measure_storage(&r, n);
    }
    msim_idmap_release(&first_of);
    msim_idmap_release(&r.source);
    free(r.uses);
    return status;
}

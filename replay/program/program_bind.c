/*
 * replay/program/program_bind.c - which result each tensor of a statement is.
 *
 * A tensor is known by its life, its place in it and its look; the id of its
 * TensorImpl comes first, since x and x.detach() differ in nothing else. A
 * tensor that no statement shows was made inside one that can be opened, is a
 * gradient, a number that PyTorch wrapped, or comes from outside.
 */
#include "replay/program/program_internal.h"

#include <string.h>

#define KIND_SHIFT 29 /* of an operand in one number */

static uint32_t pack(struct msim_program_input o)
{
    return (uint32_t)o.kind << KIND_SHIFT | o.index;
}

static struct msim_program_input unpack(uint32_t packed)
{
    return (struct msim_program_input){(uint8_t)(packed >> KIND_SHIFT),
                                       packed & ((1u << KIND_SHIFT) - 1)};
}

/* From now on `key` is `operand`. */
static enum msim_status show(struct msim_builder *b,
                             const struct msim_tensor_key *key,
                             struct msim_program_input operand)
{
    uint32_t *slot;

    MSIM_TRY(msim_idmap_put(&b->visible, key->look, 0, &slot));
    *slot = pack(operand);
    MSIM_TRY(msim_idmap_put(&b->visible, key->exact, 0, &slot));
    *slot = pack(operand);
    return MSIM_OK;
}

static uint32_t find(const struct msim_idmap *map,
                     const struct msim_tensor_key *key)
{
    uint32_t found = msim_idmap_get(map, key->exact);

    return found != MSIM_NONE ? found : msim_idmap_get(map, key->look);
}

/* ---- tensors that no statement shows ------------------------------------ */

static uint64_t life_key(uint32_t life)
{
    return UINT64_C(0x6c69666500000000) | life;
}

static bool is_gradient(const struct msim_builder *b,
                        const struct msim_tensor_key *key, uint32_t life,
                        uint32_t *number)
{
    *number = find(&b->gradient, key);
    if (*number == MSIM_NONE && life != MSIM_NONE)
        *number = msim_idmap_get(&b->gradient, life_key(life));
    return *number != MSIM_NONE;
}

static bool may_open(const struct msim_builder *b, uint32_t op, uint32_t schema)
{
    const struct msim_schema *s = msim_program_schema(b->p, schema);

    return b->t->ops[op].end > op + 1 && msim_composite(s->name, s->overload);
}

/* Was it made inside a statement that can be opened? Then it is from the next
 * round on. */
static enum msim_status open_maker(struct msim_builder *b, uint32_t op,
                                   bool *opened)
{
    uint32_t unit = op == MSIM_NONE ? MSIM_NONE : b->unit[op], *slot;
    const struct msim_statement *s;

    *opened = false;
    if (unit == MSIM_NONE || unit >= b->p->statements.n)
        return MSIM_OK;
    s = msim_program_statement(b->p, unit);
    if (s->schema == MSIM_NONE || !may_open(b, s->op, s->schema))
        return MSIM_OK;
    MSIM_TRY(msim_idmap_put(&b->opened, s->schema, 1, &slot));
    b->opened_more = *opened = true;
    return MSIM_OK;
}

/*
 * `x * 0.9` shows a tensor of one double without a value: PyTorch wraps Python
 * numbers. It has the type of a Python number and no size, and is returned and
 * written by nobody. A whole number could also be a counter from outside; a
 * wrapped one is seen in this operator alone, or is called `other`.
 */
static bool is_number(const struct msim_builder *b, uint32_t op,
                      const struct msim_schema_arg *argument,
                      const struct msim_tensor_at *at, uint32_t maker)
{
    uint32_t life = b->p->lives.of[at->id];
    const struct msim_life *l;

    if (at->arg->n || argument->list || argument->written ||
        maker != MSIM_NONE || life == MSIM_NONE)
        return false;
    if (at->arg->dtype == MSIM_DT_F64)
        return true;
    if (at->arg->dtype != MSIM_DT_I64 && at->arg->dtype != MSIM_DT_BOOL)
        return false;
    l = &b->p->lives.rows[life];
    return (l->first >= op && l->last < b->t->ops[op].end) ||
           msim_schema_is(argument, "other");
}

/* What the trace says of whole numbers in tensor `id`. */
static bool range_of(const struct msim_trace *t, uint32_t id, int64_t *low,
                     int64_t *high)
{
    for (uint32_t lo = 0, hi = t->n_ranges; lo < hi;) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (t->ranges[mid].id == id) {
            *low = t->ranges[mid].low;
            *high = t->ranges[mid].high;
            return true;
        }
        if (t->ranges[mid].id < id)
            lo = mid + 1;
        else
            hi = mid;
    }
    return false;
}

/* One, which neither grows nor ends a sum; the trace's value where it has it.
 */
static struct msim_arg number_of(const struct msim_trace *t,
                                 const struct msim_tensor_at *at)
{
    int64_t low = 1, high = 1;

    if (at->arg->dtype == MSIM_DT_F64)
        return (struct msim_arg){.kind = MSIM_ARG_REAL, .v.f = 1.0};
    range_of(t, at->id, &low, &high);
    return (struct msim_arg){
        .kind = at->arg->dtype == MSIM_DT_BOOL ? MSIM_ARG_BOOL : MSIM_ARG_INT,
        .v.i = high};
}

/* Equal numbers are one, so that loops see that they are; there are few. */
static enum msim_status add_number(struct msim_builder *b,
                                   const struct msim_tensor_at *at,
                                   struct msim_program_input *out)
{
    struct msim_arg number = number_of(b->t, at), *row = b->p->numbers.data;
    uint32_t i = 0;

    while (i < b->p->numbers.n && memcmp(&row[i], &number, sizeof(number)) != 0)
        i++;
    *out = (struct msim_program_input){MSIM_INPUT_NUMBER, i};
    if (i < b->p->numbers.n)
        return MSIM_OK;
    row = msim_vec_add(&b->p->numbers, sizeof(*row));
    if (!row)
        return MSIM_ENOMEM;
    *row = number;
    return MSIM_OK;
}

static enum msim_status add_outside(struct msim_builder *b,
                                    const struct msim_tensor_at *at,
                                    struct msim_program_input *out)
{
    const struct msim_trace *t = b->t;
    struct msim_outside *row = msim_vec_add(&b->p->outside, sizeof(*row));

    if (!row)
        return MSIM_ENOMEM;
    *row = (struct msim_outside){
        .id = at->id,
        .life = b->p->lives.of[at->id],
        .base = MSIM_NONE,
        .role = MSIM_ROLE_INPUT,
        .dtype = at->arg->dtype,
        .device = at->arg->device,
        .n_dims = at->arg->n,
        .dims = (uint32_t)at->arg->v.i,
        .strides = t->n_tensor_strides ? t->tensor_strides[at->id] : MSIM_NONE,
        .offset = t->tensor_ids[at->id].offset};
    range_of(t, at->id, &row->low, &row->high);
    *out = (struct msim_program_input){MSIM_INPUT_OUTSIDE, b->p->outside.n - 1};
    return MSIM_OK;
}

static enum msim_status note_hidden(struct msim_builder *b, uint32_t op,
                                    uint32_t maker)
{
    const struct msim_trace *t = b->t;

    if (maker == MSIM_NONE || b->unit[maker] == MSIM_NONE)
        return MSIM_OK;
    return msim_program_note(
        b->p,
        "node %u '%s' reads a tensor that '%s' (node %u) makes inside: it "
        "comes from outside here",
        t->ops[op].et_id, msim_trace_text(t, t->ops[op].name),
        msim_trace_text(t, t->ops[maker].name), t->ops[maker].et_id);
}

/* ---- statements --------------------------------------------------------- */

static enum msim_status bind(struct msim_builder *b, uint32_t op,
                             const struct msim_schema_arg *argument,
                             const struct msim_tensor_at *at,
                             struct msim_program_input *out)
{
    struct msim_tensor_key key = msim_tensor_key_of(b, at);
    uint32_t life = b->p->lives.of[at->id], number, maker;
    uint32_t known = find(&b->visible, &key);
    bool opened;

    if (known != MSIM_NONE) {
        *out = unpack(known);
        return MSIM_OK;
    }
    if (b->autograd && is_gradient(b, &key, life, &number)) {
        *out = (struct msim_program_input){MSIM_INPUT_GRADIENT, number};
        return MSIM_OK;
    }
    maker = find(&b->made, &key);
    if (is_number(b, op, argument, at, maker))
        return add_number(b, at, out);
    if (maker == MSIM_NONE && life != MSIM_NONE)
        maker = b->p->lives.rows[life].born;
    MSIM_TRY(open_maker(b, maker, &opened));
    if (!opened)
        MSIM_TRY(note_hidden(b, op, maker));
    MSIM_TRY(add_outside(b, at, out));
    return show(b, &key, *out);
}

static enum msim_status add_operands(struct msim_builder *b,
                                     struct msim_statement *s)
{
    const struct msim_op *op = &b->t->ops[s->op];
    const struct msim_schema *schema = msim_program_schema(b->p, s->schema);
    static const struct msim_schema_arg none;
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;
    struct msim_program_input operand, *row;

    s->first_in = b->p->operands.n;
    while (msim_tensor_next(b->t, op->args, op->ids, &walk, &at)) {
        const struct msim_schema_arg *argument =
            at.argument < schema->n_args ? &schema->args[at.argument] : &none;

        MSIM_TRY(bind(b, s->op, argument, &at, &operand));
        row = msim_vec_add(&b->p->operands, sizeof(*row));
        if (!row)
            return MSIM_ENOMEM;
        *row = operand;
    }
    s->n_in = b->p->operands.n - s->first_in;
    return MSIM_OK;
}

/* Is result `at` an argument that is written, as it was handed in? */
static bool is_written(struct msim_builder *b, const struct msim_statement *s,
                       const struct msim_tensor_key *key)
{
    const struct msim_op *op = &b->t->ops[s->op];
    const struct msim_schema *schema = msim_program_schema(b->p, s->schema);
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    while (msim_tensor_next(b->t, op->args, op->ids, &walk, &at))
        if (at.argument < schema->n_args && schema->args[at.argument].written &&
            b->t->tensor_ids[at.id].tensor == b->t->tensor_ids[key->id].tensor)
            return true;
    return false;
}

static enum msim_status add_values(struct msim_builder *b,
                                   struct msim_statement *s, uint32_t number)
{
    const struct msim_op *op = &b->t->ops[s->op];
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    s->first_out = b->p->values.n;
    while (msim_tensor_next(b->t, op->outs, op->out_ids, &walk, &at)) {
        struct msim_program_value *v = msim_vec_add(&b->p->values, sizeof(*v));
        struct msim_tensor_key key = msim_tensor_key_of(b, &at);

        if (!v)
            return MSIM_ENOMEM;
        *v = (struct msim_program_value){number, s->n_out++, at.id, number,
                                         is_written(b, s, &key)};
    }
    return MSIM_OK;
}

/* The results of a statement are there from now on. */
static enum msim_status show_values(struct msim_builder *b,
                                    const struct msim_statement *s)
{
    const struct msim_op *op = &b->t->ops[s->op];
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    for (uint32_t i = 0;
         msim_tensor_next(b->t, op->outs, op->out_ids, &walk, &at); i++) {
        struct msim_tensor_key key = msim_tensor_key_of(b, &at);
        const struct msim_program_value *v =
            msim_program_value(b->p, s->first_out + i);
        struct msim_program_input o = {MSIM_INPUT_VALUE, s->first_out + i};

        /* Written in place and still looking the same: the name it has. */
        if (v->same && find(&b->visible, &key) != MSIM_NONE)
            continue;
        MSIM_TRY(show(b, &key, o));
    }
    return MSIM_OK;
}

/* Who returned which tensor, also inside the statement. */
static enum msim_status note_makers(struct msim_builder *b, uint32_t op)
{
    for (uint32_t i = op; i < b->t->ops[op].end; i++) {
        struct msim_tensor_walk walk = {0};
        struct msim_tensor_at at;
        uint32_t *slot;

        while (msim_tensor_next(b->t, b->t->ops[i].outs, b->t->ops[i].out_ids,
                                &walk, &at)) {
            struct msim_tensor_key key = msim_tensor_key_of(b, &at);

            MSIM_TRY(msim_idmap_put(&b->made, key.look, i, &slot));
            *slot = i;
            MSIM_TRY(msim_idmap_put(&b->made, key.exact, i, &slot));
            *slot = i;
        }
    }
    return MSIM_OK;
}

enum msim_status msim_builder_call(struct msim_builder *b, uint32_t op,
                                   uint32_t schema)
{
    struct msim_statement s = {.op = op, .schema = schema}, *row;

    s.comm = MSIM_NONE;
    MSIM_TRY(add_operands(b, &s));
    if (msim_program_schema(b->p, schema)->collective)
        MSIM_TRY(msim_builder_collective(b, &s));
    else {
        MSIM_TRY(add_values(b, &s, b->p->statements.n));
        MSIM_TRY(show_values(b, &s));
        MSIM_TRY(note_makers(b, op));
    }
    row = msim_vec_add(&b->p->statements, sizeof(*row));
    if (!row)
        return MSIM_ENOMEM;
    *row = s;
    return MSIM_OK;
}

/* ---- backward ----------------------------------------------------------- */

/* The results of a statement are not there any more. */
static enum msim_status hide_values(struct msim_builder *b,
                                    const struct msim_statement *s)
{
    const struct msim_op *op = &b->t->ops[s->op];
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    while (msim_tensor_next(b->t, op->outs, op->out_ids, &walk, &at)) {
        struct msim_tensor_key key = msim_tensor_key_of(b, &at);
        uint32_t *slot;

        MSIM_TRY(msim_idmap_put(&b->visible, key.look, MSIM_NONE, &slot));
        *slot = MSIM_NONE;
        MSIM_TRY(msim_idmap_put(&b->visible, key.exact, MSIM_NONE, &slot));
        *slot = MSIM_NONE;
    }
    return MSIM_OK;
}

/* `loss.backward()` begins with the gradient of the loss: ones like it, which
 * autograd makes and no statement. False: the last statement makes none. */
static bool finds_ones(const struct msim_builder *b,
                       struct msim_program_input *loss)
{
    const struct msim_program *p = b->p;
    const struct msim_statement *s;

    if (p->statements.n == 0)
        return false;
    s = msim_program_statement(p, p->statements.n - 1);
    if (s->schema == MSIM_NONE || s->n_in != 1 ||
        strcmp(msim_program_schema(p, s->schema)->name, "aten::ones_like") != 0)
        return false;
    *loss = *msim_program_operand(p, s->first_in);
    return loss->kind == MSIM_INPUT_VALUE;
}

static enum msim_status take_back_last(struct msim_builder *b)
{
    struct msim_program *p = b->p;
    struct msim_statement s = *msim_program_statement(p, p->statements.n - 1);

    p->operands.n = s.first_in;
    p->values.n = s.first_out;
    p->statements.n--;
    return hide_values(b, &s);
}

static enum msim_status begin_backward(struct msim_builder *b, uint32_t op)
{
    struct msim_program_input loss;

    if (!finds_ones(b, &loss)) {
        b->p->why_direct = "backward does not begin at one loss";
        b->backward_open = true;
        return MSIM_OK;
    }
    MSIM_TRY(take_back_last(b));
    MSIM_TRY(msim_builder_wait_all(b));
    MSIM_TRY(msim_builder_add(b, MSIM_STATEMENT_BACKWARD, op, loss));
    b->backward_open = true;
    return MSIM_OK;
}

/* AccumulateGrad gets the gradient, and may copy it: both are its number. */
static enum msim_status note_gradient(struct msim_builder *b, uint32_t op)
{
    uint32_t number = b->p->n_gradients++, *slot;

    for (uint32_t i = op; i < b->t->ops[op].end; i++)
        for (int side = 0; side < 2; side++) {
            const struct msim_op *o = &b->t->ops[i];
            struct msim_tensor_walk walk = {0};
            struct msim_tensor_at at;

            while (msim_tensor_next(b->t, side ? o->outs : o->args,
                                    side ? o->out_ids : o->ids, &walk, &at)) {
                struct msim_tensor_key key = msim_tensor_key_of(b, &at);

                MSIM_TRY(msim_idmap_put(&b->gradient, key.look, number, &slot));
                *slot = number;
                if (b->p->lives.of[at.id] == MSIM_NONE)
                    continue;
                MSIM_TRY(msim_idmap_put(&b->gradient,
                                        life_key(b->p->lives.of[at.id]), number,
                                        &slot));
                *slot = number;
            }
        }
    return MSIM_OK;
}

/* A step begins without gradients, so that only a second backward adds to what
 * is there. */
static bool adds_to_earlier_step(const struct msim_builder *b, uint32_t op)
{
    for (uint32_t i = op + 1; i < b->t->ops[op].end; i++)
        if (!strcmp(msim_trace_text(b->t, b->t->ops[i].name), "aten::add_"))
            return msim_program_backwards(b->p) == 1;
    return false;
}

enum msim_status msim_builder_backward(struct msim_builder *b, uint32_t i)
{
    const struct msim_trace *t = b->t;

    if (!b->backward_open)
        MSIM_TRY(begin_backward(b, i));
    for (uint32_t k = i; k < t->ops[i].end; k++) {
        const char *name = msim_trace_text(t, t->ops[k].name);

        if (!strncmp(name, "c10d::", 6))
            b->p->why_direct = "collectives run inside backward";
        if (strcmp(name, "torch::autograd::AccumulateGrad") != 0)
            continue;
        if (adds_to_earlier_step(b, k))
            b->p->why_direct = "gradients of an earlier step are added to";
        MSIM_TRY(note_gradient(b, k));
        k = t->ops[k].end - 1;
    }
    return MSIM_OK;
}

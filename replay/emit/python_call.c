/*
 * replay/emit/python_call.c - one call of an operator as Python text:
 *
 *     aten.linear.default(x1, X[4], X[5])
 *
 * Arguments that are what the signature gives them anyway are left out. Numbers
 * keep their type, since 1 and 1.0 make other operators run.
 */
#include "replay/emit/python_call.h"

#include "replay/emit/python_scalar.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors ------------------------------------------------------------ */

/* The list of what result `v` of a loop's first run was in each run. */
void msim_body_kept(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_statement *s =
        msim_program_statement(b->p, msim_program_value(b->p, v)->statement);

    msim_text_add(out, "k%u", msim_names_list(b->p, s) ? s->first_out : v);
}

/* Where a result of a list stands in it, once the list is named. */
static void add_slot(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_program_value *value = msim_program_value(b->p, v);

    if (msim_names_list(b->p, msim_program_statement(b->p, value->statement)))
        msim_text_add(out, "[%u]", value->slot);
}

void msim_body_value(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    msim_text_add(out, "x%u", b->names.name[msim_names_holder(&b->names, v)]);
    add_slot(b, out, v);
}

/* A result outside of its loop: of the last run by name, else from the list. */
static void add_result(struct msim_body *b, struct msim_text *out, uint32_t v)
{
    const struct msim_loop *loops = b->fold->loops.data;
    uint32_t run, first;

    if (msim_loops_place(b->fold, v, &run, &first)) {
        uint32_t statement = msim_program_value(b->p, v)->statement;

        if (run + 1 < loops[b->fold->loop_of[statement]].count) {
            msim_body_kept(b, out, first);
            msim_text_add(out, "[%u]", run);
            add_slot(b, out, first);
            return;
        }
    }
    msim_body_value(b, out, v);
}

void msim_body_plain(struct msim_body *b, struct msim_text *out,
                     struct msim_program_input o)
{
    const struct msim_arg *number;

    switch (o.kind) {
    case MSIM_INPUT_VALUE:
        add_result(b, out, o.index);
        break;
    case MSIM_INPUT_OUTSIDE:
        msim_text_add(out, "X[%u]", o.index);
        break;
    case MSIM_INPUT_GRADIENT:
        msim_text_add(out, "G[%u]", o.index);
        break;
    default:
        number = msim_program_number(b->p, o.index);
        msim_body_scalar(b, out, &(struct msim_schema_arg){0}, number);
    }
}

/* first + step * i, as short as it goes. */
static void add_index(struct msim_text *out, int64_t first, int64_t step)
{
    if (step < 0)
        msim_text_add(out, "%lld - ", (long long)first);
    else if (first != 0)
        msim_text_add(out, "%lld + ", (long long)first);
    if (step != 1 && step != -1)
        msim_text_add(out, "%lld * ", (long long)(step < 0 ? -step : step));
    msim_text_add(out, "i");
}

/* One operand of each run, which nothing but a list can say. */
static void add_by_run(struct msim_body *b, struct msim_text *out,
                       const struct msim_loop *l, struct msim_body_place at,
                       uint32_t k)
{
    int64_t *numbers = malloc(l->count * sizeof(*numbers));
    struct msim_program_input o = {0};
    uint32_t list;

    for (uint32_t r = 0; numbers && r < l->count; r++) {
        const struct msim_statement *s =
            msim_program_statement(b->p, at.statement + r * l->period);

        o = *msim_program_operand(b->p, s->first_in + k);
        numbers[r] = o.index;
    }
    if (!numbers)
        out->status = MSIM_ENOMEM;
    else if (o.kind == MSIM_INPUT_NUMBER) {
        msim_text_add(out, "(");
        for (uint32_t r = 0; r < l->count; r++) {
            o.index = (uint32_t)numbers[r];
            msim_body_plain(b, out, o);
            msim_text_add(out, ", ");
        }
        msim_text_add(out, ")[i]");
    } else {
        list = msim_body_list(b, numbers, l->count);
        msim_text_add(out, "%c[L[%u][i]]",
                      o.kind == MSIM_INPUT_OUTSIDE ? 'X' : 'G', list);
    }
    free(numbers);
}

void msim_body_operand(struct msim_body *b, struct msim_text *out,
                       struct msim_body_place at, uint32_t k)
{
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    const struct msim_loop *l;
    const struct msim_carry *carry;
    struct msim_loop_ref ref;

    if (at.loop == MSIM_NONE) {
        msim_body_plain(b, out, *msim_program_operand(b->p, s->first_in + k));
        return;
    }
    l = (const struct msim_loop *)b->fold->loops.data + at.loop;
    ref = msim_loops_operand(b->fold, l, at.statement - l->first, k);
    switch (ref.kind) {
    case MSIM_LOOP_LOCAL:
        msim_body_value(b, out, ref.value);
        break;
    case MSIM_LOOP_CARRIED:
        carry = msim_names_carry(&b->names, at.loop, &ref);
        msim_text_add(
            out, "x%u",
            b->names.name[msim_names_holder(&b->names, carry->holder)]);
        break;
    case MSIM_LOOP_STEP:
        msim_text_add(out, "%c[",
                      ref.first.kind == MSIM_INPUT_OUTSIDE ? 'X' : 'G');
        add_index(out, ref.first.index, ref.step);
        msim_text_add(out, "]");
        break;
    case MSIM_LOOP_KEPT:
        msim_body_kept(b, out, ref.value);
        msim_text_add(out, "[");
        add_index(out, ref.run, ref.step);
        msim_text_add(out, "]");
        add_slot(b, out, ref.value);
        break;
    case MSIM_LOOP_LIST:
        add_by_run(b, out, l, at, k);
        break;
    default:
        msim_body_plain(b, out, ref.first);
    }
}

/* ---- lists of tensors --------------------------------------------------- */

#define SHORT_LIST 4

/* Operands first .. first + n - 1 outside of loops: do their numbers rise by a
 * constant step? */
static bool is_row(const struct msim_body *b, const struct msim_statement *s,
                   uint32_t first, uint32_t n, int64_t *step)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);

    *step = n > 1 ? (int64_t)o[1].index - o[0].index : 1;
    for (uint32_t i = 0; i < n; i++)
        if (o[i].kind != o[0].kind ||
            (int64_t)o[i].index != o[0].index + *step * i)
            return false;
    return true;
}

/* A row of a list that a statement returned, from its beginning to its end. */
static bool add_whole(struct msim_body *b, struct msim_text *out,
                      const struct msim_program_input *o, uint32_t n)
{
    const struct msim_program_value *v = msim_program_value(b->p, o->index);
    const struct msim_statement *s = msim_program_statement(b->p, v->statement);

    if (!msim_names_list(b->p, s) || v->slot != 0 || s->n_out != n)
        return false;
    msim_text_add(out, "x%u",
                  b->names.name[msim_names_holder(&b->names, o->index)]);
    return true;
}

static bool add_slice(struct msim_body *b, struct msim_text *out,
                      const struct msim_statement *s, uint32_t first,
                      uint32_t n)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);
    int64_t step;

    if (n < SHORT_LIST || !is_row(b, s, first, n, &step))
        return false;
    if (o->kind == MSIM_INPUT_VALUE)
        return step == 1 && add_whole(b, out, o, n);
    if (o->kind == MSIM_INPUT_NUMBER || step <= 0)
        return false;
    msim_text_add(out, "%c[%u:%lld", o->kind == MSIM_INPUT_OUTSIDE ? 'X' : 'G',
                  o->index, (long long)(o->index + step * (n - 1) + 1));
    if (step != 1)
        msim_text_add(out, ":%lld", (long long)step);
    msim_text_add(out, "]");
    return true;
}

/* A long list of tensors of one kind, in any order, from the data file. */
static bool add_picked(struct msim_body *b, struct msim_text *out,
                       const struct msim_statement *s, uint32_t first,
                       uint32_t n)
{
    const struct msim_program_input *o =
        msim_program_operand(b->p, s->first_in + first);
    int64_t *numbers;
    uint32_t list;

    if (n < 2 * SHORT_LIST || o->kind == MSIM_INPUT_VALUE ||
        o->kind == MSIM_INPUT_NUMBER)
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (o[i].kind != o->kind)
            return false;
    numbers = malloc(n * sizeof(*numbers));
    if (!numbers) {
        out->status = MSIM_ENOMEM;
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        numbers[i] = o[i].index;
    list = msim_body_list(b, numbers, n);
    free(numbers);
    msim_text_add(out, "[%c[j] for j in L[%u]]",
                  o->kind == MSIM_INPUT_OUTSIDE ? 'X' : 'G', list);
    return true;
}

/* ---- arguments ---------------------------------------------------------- */

struct call {
    struct msim_body *b;
    struct msim_text *out;
    struct msim_body_place at;
    const struct msim_statement *s;
    const struct msim_schema *schema;
    uint32_t tensor; /* operands printed so far */
};

static uint32_t tensors_below(const struct msim_arg *a)
{
    uint32_t n = 0, entries = a->kind == MSIM_ARG_LIST ? (uint32_t)a->v.i : 0;

    for (uint32_t i = 0; i <= entries; i++)
        n += a[i].kind == MSIM_ARG_TENSOR;
    return n;
}

static void add_value(struct call *c, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a);

static bool add_batch(const struct call *c, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a)
{
    const struct msim_batch *b = &c->b->batch;

    if (a->kind != MSIM_ARG_INT ||
        !msim_batch_grows(b, c->b->p, c->s, type, a->v.i))
        return false;
    msim_text_add(out, "BATCH");
    if (a->v.i != b->size)
        msim_text_add(out, " * %lld", (long long)(a->v.i / b->size));
    return true;
}

static void add_list(struct call *c, struct msim_text *out,
                     const struct msim_schema_arg *type,
                     const struct msim_arg *a)
{
    const struct msim_arg *element = a + 1;
    uint32_t n = tensors_below(a);

    if (n == a->n && c->at.loop == MSIM_NONE &&
        (add_slice(c->b, out, c->s, c->tensor, n) ||
         add_picked(c->b, out, c->s, c->tensor, n))) {
        c->tensor += n;
        return;
    }
    msim_text_add(out, "[");
    for (uint32_t i = 0; i < a->n; i++) {
        if (i)
            msim_text_add(out, ", ");
        if (i == 0 && add_batch(c, out, type, element))
            ; /* the first size, as a multiple of the batch */
        else
            add_value(c, out, type, element);
        element = msim_arg_next(element);
    }
    msim_text_add(out, "]");
}

static void add_value(struct call *c, struct msim_text *out,
                      const struct msim_schema_arg *type,
                      const struct msim_arg *a)
{
    if (a->kind == MSIM_ARG_TENSOR)
        msim_body_operand(c->b, out, c->at, c->tensor++);
    else if (a->kind == MSIM_ARG_LIST)
        add_list(c, out, type, a);
    else
        msim_body_scalar(c->b, out, type, a);
}

static const struct msim_arg *argument_of(const struct call *c, uint32_t run,
                                          uint32_t i)
{
    const struct msim_loop *l;
    uint32_t statement = c->at.statement;

    if (run) {
        l = (const struct msim_loop *)c->b->fold->loops.data + c->at.loop;
        statement += run * l->period;
    }
    return msim_args_get(
        c->b->p->trace,
        c->b->p->trace->ops[msim_program_statement(c->b->p, statement)->op]
            .args,
        i);
}

/* Do two arguments without tensors say the same? */
static bool equal_args(const struct msim_arg *a, const struct msim_arg *b)
{
    uint32_t n = a->kind == MSIM_ARG_LIST ? (uint32_t)a->v.i : 0;

    if (b->kind == MSIM_ARG_LIST && a->kind == MSIM_ARG_LIST &&
        a->v.i != b->v.i)
        return false;
    return !memcmp(a, b, (n + 1) * sizeof(*a));
}

static bool differs_by_run(const struct call *c, uint32_t i)
{
    const struct msim_loop *l;
    const struct msim_arg *first = argument_of(c, 0, i);

    if (c->at.loop == MSIM_NONE || tensors_below(first))
        return false;
    l = (const struct msim_loop *)c->b->fold->loops.data + c->at.loop;
    for (uint32_t r = 1; r < l->count; r++)
        if (!equal_args(first, argument_of(c, r, i)))
            return true;
    return false;
}

static void add_argument(struct call *c, struct msim_text *out, uint32_t i)
{
    const struct msim_schema_arg *type = &c->schema->args[i];
    const struct msim_loop *l;

    if (!differs_by_run(c, i)) {
        add_value(c, out, type, argument_of(c, 0, i));
        return;
    }
    l = (const struct msim_loop *)c->b->fold->loops.data + c->at.loop;
    msim_text_add(out, "(");
    for (uint32_t r = 0; r < l->count; r++) {
        if (r)
            msim_text_add(out, ", ");
        add_value(c, out, type, argument_of(c, r, i));
    }
    msim_text_add(out, ")[i]");
}

/* ---- defaults ----------------------------------------------------------- */

/* `[1, 1]` against the signature's `1`, which stands for each element. */
static bool list_is(const struct msim_arg *a, const char *word)
{
    double all = strtod(word, NULL);

    if (*word == '[')
        return a->n == 0 && word[1] == ']';
    for (uint32_t i = 1; i <= a->n; i++)
        if (a[i].kind != MSIM_ARG_INT || (double)a[i].v.i != all)
            return false;
    return a->n > 0;
}

static bool is_default(const struct msim_schema_arg *type,
                       const struct msim_arg *a)
{
    char word[64];

    if (type->missing.len == 0 || type->missing.len >= sizeof(word))
        return false;
    memcpy(word, type->missing.at, type->missing.len);
    word[type->missing.len] = '\0';
    switch (a->kind) {
    case MSIM_ARG_NONE:
        return !strcmp(word, "None");
    case MSIM_ARG_BOOL:
        return !strcmp(word, a->v.i ? "True" : "False");
    case MSIM_ARG_INT:
        return strpbrk(word, "0123456789") && !strpbrk(word, ".ax") &&
               strtoll(word, NULL, 10) == a->v.i;
    case MSIM_ARG_REAL:
        return strpbrk(word, "0123456789") && strtod(word, NULL) == a->v.f &&
               strpbrk(word, ".e");
    case MSIM_ARG_LIST:
        return list_is(a, word);
    default:
        return false;
    }
}

static bool left_out(const struct call *c, uint32_t i)
{
    const struct msim_schema_arg *type = &c->schema->args[i];

    if (type->kind == MSIM_SCHEMA_GENERATOR && type->missing.len)
        return true;
    return !differs_by_run(c, i) && is_default(type, argument_of(c, 0, i));
}

/* One past the last argument that has to be given by place. */
static uint32_t places(const struct call *c, uint32_t given)
{
    uint32_t n = given < c->schema->n_args ? given : c->schema->n_args;

    while (n && c->schema->args[n - 1].by_name)
        n--;
    while (n && left_out(c, n - 1))
        n--;
    return n;
}

void msim_body_call(struct msim_body *b, struct msim_text *out,
                    struct msim_body_place at)
{
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    struct call c = {b, out, at, s, msim_program_schema(b->p, s->schema), 0};
    uint32_t given = msim_args_count(b->p->trace, b->p->trace->ops[s->op].args);
    uint32_t n = places(&c, given);
    const char *colons = strstr(c.schema->name, "::");

    msim_text_add(out, "%.*s.%s.%s(", (int)(colons - c.schema->name),
                  c.schema->name, colons + 2,
                  c.schema->overload[0] ? c.schema->overload : "default");
    for (uint32_t i = 0, some = 0; i < given && i < c.schema->n_args; i++) {
        const struct msim_schema_arg *type = &c.schema->args[i];

        if (i >= n && (!type->by_name || left_out(&c, i))) {
            c.tensor += tensors_below(argument_of(&c, 0, i));
            continue;
        }
        msim_text_add(out, "%s", some++ ? ", " : "");
        if (type->by_name)
            msim_text_add(out, "%.*s=", (int)type->name.len, type->name.at);
        add_argument(&c, out, i);
    }
    msim_text_add(out, ")");
}

/* ---- collectives -------------------------------------------------------- */

/* What bench.py fills in, or what says nothing. */
static bool is_filled_in(const struct msim_schema_arg *type,
                         const struct msim_arg *a)
{
    static const char *const names[] = {"async_op",    "asyncOp",    "timeout",
                                        "root_tensor", "device_ids", NULL};

    for (const char *const *name = names; *name; name++)
        if (msim_schema_is(type, *name))
            return true;
    return type->kind == MSIM_SCHEMA_OBJECT || a->kind == MSIM_ARG_NONE;
}

void msim_body_collective(struct msim_body *b, struct msim_text *out,
                          struct msim_body_place at)
{
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    struct call c = {b, out, at, s, msim_program_schema(b->p, s->schema), 0};
    uint32_t given = msim_args_count(b->p->trace, b->p->trace->ops[s->op].args);

    msim_text_add(out, "collective('%s'", strstr(c.schema->name, "::") + 2);
    for (uint32_t i = 0; i < given && i < c.schema->n_args; i++) {
        if (is_filled_in(&c.schema->args[i], argument_of(&c, 0, i)))
            continue;
        msim_text_add(out, ", ");
        add_argument(&c, out, i);
    }
    if (msim_program_group(b->p, s) != MSIM_NONE)
        msim_text_add(out, ", group=%u", msim_program_group(b->p, s));
    msim_text_add(out, "%s)", s->sync ? ", sync=True" : "");
}

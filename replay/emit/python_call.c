/*
 * replay/emit/python_call.c - one call of an operator as Python text:
 *
 *     aten.linear.default(x1, X[4], X[5])
 *
 * Arguments that are what the signature gives them anyway are left out. Numbers
 * keep their type, since 1 and 1.0 make other operators run.
 */
#include "replay/emit/emit_python_internal.h"

#include "replay/program/program.h"

#include <stdlib.h>
#include <string.h>

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
        msim_body_row(c->b, out, c->s, c->tensor, n)) {
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

    if (type->kind == MSIM_SCHEMA_STORAGE) { /* it grows as it must */
        msim_text_add(out, "torch.UntypedStorage()");
        return;
    }
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

/* `from` is an overload of aten::random_, and a word of Python's own. */
static bool is_odd(const char *name)
{
    return msim_is_python_keyword(name, strlen(name));
}

static void add_member(struct msim_text *out, const char *name, bool odd)
{
    if (odd) {
        msim_text_add(out, ", %s)", name);
        return;
    }
    msim_text_put(out, ".");
    msim_text_word(out, name, strlen(name));
}

/* `aten.add.Tensor`, or getattr(aten.random_, 'from'). */
static void add_operator(struct msim_text *out, const struct msim_schema *s)
{
    const char *colons = strstr(s->name, "::"), *name = colons + 2;
    const char *overload = s->overload[0] ? s->overload : "default";
    bool odd[] = {is_odd(name), is_odd(overload)};
    size_t space = (size_t)(colons - s->name);
    bool known = msim_is_known_space(s->name, space);

    msim_text_put(out, odd[1] ? "getattr(" : "");
    msim_text_put(out, odd[0] ? "getattr(" : "");
    msim_text_put(out, known ? "" : "torch.ops.");
    msim_text_word(out, s->name, space);
    add_member(out, name, odd[0]);
    add_member(out, overload, odd[1]);
}

void msim_body_call(struct msim_body *b, struct msim_text *out,
                    struct msim_body_place at)
{
    const struct msim_statement *s = msim_program_statement(b->p, at.statement);
    struct call c = {b, out, at, s, msim_program_schema(b->p, s->schema), 0};
    uint32_t given = msim_args_count(b->p->trace, b->p->trace->ops[s->op].args);
    uint32_t n = places(&c, given);

    add_operator(out, c.schema);
    msim_text_add(out, "(");
    for (uint32_t i = 0, some = 0; i < given && i < c.schema->n_args; i++) {
        const struct msim_schema_arg *type = &c.schema->args[i];

        if (i >= n && (!type->by_name || left_out(&c, i))) {
            c.tensor += tensors_below(argument_of(&c, 0, i));
            continue;
        }
        msim_text_put(out, some++ ? ", " : "");
        if (type->by_name) {
            msim_text_word(out, type->name.at, type->name.len);
            msim_text_put(out, "=");
        }
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

    msim_text_add(out, "collective(%s", strstr(c.schema->name, "::") + 2);
    for (uint32_t i = 0; i < given && i < c.schema->n_args; i++) {
        if (is_filled_in(&c.schema->args[i], argument_of(&c, 0, i)))
            continue;
        msim_text_add(out, ", ");
        add_argument(&c, out, i);
    }
    if (msim_program_group(b->p, s) != MSIM_NONE)
        msim_text_add(out, ", group=%u", msim_program_group(b->p, s));
    msim_text_put(out, s->sync ? ", sync=True)" : ")");
}

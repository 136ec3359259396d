/*
 * core/work/opmap/ops_expr.c - a recursive descent into postfix steps, and a
 * stack.
 */
#include "core/work/opmap/ops_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 32 /* parentheses */

/* ---- parsing ------------------------------------------------------------- */

struct parser {
    struct msim_ops_expr *e;
    const char *begin, *at;
    char *why;
    size_t size;
    int depth;
    bool failed;
};

static void fail(struct parser *p, const char *want)
{
    if (p->failed)
        return;
    p->failed = true;
    snprintf(p->why, p->size, "'%.24s' at column %d of '%.60s', want %s",
             *p->at ? p->at : "the end", (int)(p->at - p->begin) + 1, p->begin,
             want);
}

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool take(struct parser *p, char c)
{
    skip_blanks(p);
    if (p->failed || *p->at != c)
        return false;
    p->at++;
    return true;
}

static void need(struct parser *p, char c, const char *want)
{
    if (!p->failed && !take(p, c))
        fail(p, want);
}

static void add(struct parser *p, struct msim_ops_step step)
{
    if (p->failed)
        return;
    if (p->e->n == MSIM_OPS_EXPR_STEPS)
        fail(p, "a shorter formula");
    else
        p->e->steps[p->e->n++] = step;
}

/* A word of letters, and whether it is `word`. */
static bool take_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);

    skip_blanks(p);
    if (p->failed || strncmp(p->at, word, n) != 0 ||
        isalpha((unsigned char)p->at[n]))
        return false;
    p->at += n;
    return true;
}

/* Digits, or -1 where there are none. */
static int32_t take_index(struct parser *p)
{
    int32_t v = 0;

    if (!isdigit((unsigned char)*p->at))
        return -1;
    for (; isdigit((unsigned char)*p->at) && v < 100000; p->at++)
        v = 10 * v + (*p->at - '0');
    return v;
}

/* in, in0, out, out0, list0 */
static void tensor(struct parser *p, struct msim_ops_step *step, bool one)
{
    if (take_word(p, "in"))
        step->what = MSIM_WHAT_IN;
    else if (take_word(p, "out"))
        step->what = MSIM_WHAT_OUT;
    else if (take_word(p, "list"))
        step->what = MSIM_WHAT_LIST;
    else
        fail(p, "a tensor: in0, out0, list0, or in and out for all");
    if (p->failed)
        return;
    step->which = take_index(p);
    if (step->which < 0 && step->what == MSIM_WHAT_LIST)
        fail(p, "the place of the list among the arguments, as list0");
    else if (one && (step->which < 0 || step->what == MSIM_WHAT_LIST))
        fail(p, "one tensor, as in0 or out0");
}

static int32_t whole(struct parser *p)
{
    bool negative = take(p, '-');
    int32_t v;

    skip_blanks(p);
    v = take_index(p);
    if (v < 0)
        fail(p, "a whole number");
    return negative ? -v : v;
}

static void sum(struct parser *p);

static void pair(struct parser *p, enum msim_ops_step_kind kind)
{
    need(p, '(', "'('");
    sum(p);
    need(p, ',', "','");
    sum(p);
    need(p, ')', "')'");
    add(p, (struct msim_ops_step){.kind = (uint8_t)kind});
}

static bool function(struct parser *p)
{
    struct msim_ops_step step = {0};

    if (take_word(p, "min")) {
        pair(p, MSIM_STEP_MIN);
        return true;
    }
    if (take_word(p, "max")) {
        pair(p, MSIM_STEP_MAX);
        return true;
    }
    if (take_word(p, "bytes"))
        step.kind = MSIM_STEP_BYTES;
    else if (take_word(p, "elems"))
        step.kind = MSIM_STEP_ELEMS;
    else if (take_word(p, "dim"))
        step.kind = MSIM_STEP_DIM;
    else if (take_word(p, "arg"))
        step.kind = MSIM_STEP_ARG;
    else
        return false;
    need(p, '(', "'('");
    if (step.kind == MSIM_STEP_ARG) {
        step.which = whole(p);
    } else {
        tensor(p, &step, step.kind == MSIM_STEP_DIM);
        if (step.kind == MSIM_STEP_DIM) {
            need(p, ',', "',' and which of its sizes");
            step.dim = whole(p);
        }
    }
    need(p, ')', "')'");
    add(p, step);
    return true;
}

static void number(struct parser *p)
{
    struct msim_ops_step step = {.kind = MSIM_STEP_NUMBER};
    char *end;

    if (!isdigit((unsigned char)*p->at) && *p->at != '.') {
        fail(p, "a number, a function (bytes, elems, dim, arg, min, max) or "
                "'('");
        return;
    }
    step.number = strtod(p->at, &end);
    if (end == p->at || !isfinite(step.number)) {
        fail(p, "a number");
        return;
    }
    p->at = end;
    add(p, step);
}

static void factor(struct parser *p)
{
    skip_blanks(p);
    if (p->failed)
        return;
    if (++p->depth > DEEPEST) {
        fail(p, "fewer parentheses");
    } else if (take(p, '(')) {
        sum(p);
        need(p, ')', "')'");
    } else if (take(p, '-')) {
        add(p, (struct msim_ops_step){.kind = MSIM_STEP_NUMBER});
        factor(p);
        add(p, (struct msim_ops_step){.kind = MSIM_STEP_SUBTRACT});
    } else if (!function(p)) {
        number(p);
    }
    p->depth--;
}

static void product(struct parser *p)
{
    factor(p);
    while (!p->failed) {
        enum msim_ops_step_kind kind = MSIM_STEP_MULTIPLY;

        if (!take(p, '*')) {
            if (!take(p, '/'))
                return;
            kind = MSIM_STEP_DIVIDE;
        }
        factor(p);
        add(p, (struct msim_ops_step){.kind = (uint8_t)kind});
    }
}

static void sum(struct parser *p)
{
    product(p);
    while (!p->failed) {
        enum msim_ops_step_kind kind = MSIM_STEP_ADD;

        if (!take(p, '+')) {
            if (!take(p, '-'))
                return;
            kind = MSIM_STEP_SUBTRACT;
        }
        product(p);
        add(p, (struct msim_ops_step){.kind = (uint8_t)kind});
    }
}

enum msim_status msim_ops_expr_parse(struct msim_ops_expr *e, const char *text,
                                     char *why, size_t size)
{
    struct parser p = {
        .e = e, .begin = text, .at = text, .why = why, .size = size};

    memset(e, 0, sizeof(*e));
    sum(&p);
    skip_blanks(&p);
    if (*p.at)
        fail(&p, "an operator (+ - * /) or the end");
    if (p.failed)
        e->n = 0;
    return p.failed ? MSIM_EFORMAT : MSIM_OK;
}

/* ---- values -------------------------------------------------------------- */

static bool largest_input(const struct msim_opmap_ctx *c,
                          struct msim_operand *largest)
{
    struct msim_operand o;
    bool found = false;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++)
        if (!found || o.bytes > largest->bytes) {
            *largest = o;
            found = true;
        }
    return found;
}

/* The k-th tensor of a kind. */
static bool one_of(const struct msim_opmap_ctx *c, uint8_t what, uint32_t k,
                   struct msim_operand *o)
{
    if (what == MSIM_WHAT_IN)
        return msim_opmap_nth_tensor(c, k, o);
    if (c->op->outs == MSIM_NONE)
        return k == 0 && largest_input(c, o);
    return msim_opmap_output(c, k, o);
}

static bool amount(const struct msim_ops_step *s,
                   const struct msim_opmap_ctx *c, double *v)
{
    bool in_bytes = s->kind == MSIM_STEP_BYTES;
    struct msim_tensor_list l;
    struct msim_operand o;
    uint32_t k = 0;

    if (s->what == MSIM_WHAT_LIST) {
        if (!msim_opmap_list(c, (uint32_t)s->which, &l))
            return false;
        *v = in_bytes ? l.bytes : l.elems;
        return true;
    }
    if (s->which >= 0) {
        if (!one_of(c, s->what, (uint32_t)s->which, &o))
            return false;
        *v = in_bytes ? o.bytes : o.elems;
        return true;
    }
    for (*v = 0; one_of(c, s->what, k, &o); k++)
        *v += in_bytes ? o.bytes : o.elems;
    return k > 0;
}

static bool leaf(const struct msim_ops_step *s, const struct msim_opmap_ctx *c,
                 double *v)
{
    struct msim_operand o;

    switch ((enum msim_ops_step_kind)s->kind) {
    case MSIM_STEP_NUMBER:
        *v = s->number;
        return true;
    case MSIM_STEP_ARG:
        return s->which >= 0 && msim_opmap_real(c, (uint32_t)s->which, v);
    case MSIM_STEP_DIM:
        if (!one_of(c, s->what, (uint32_t)s->which, &o) ||
            s->dim >= (int32_t)o.rank || s->dim < -(int32_t)o.rank)
            return false;
        *v = (double)msim_operand_dim(&o, s->dim);
        return true;
    default:
        return amount(s, c, v);
    }
}

static double combine(enum msim_ops_step_kind kind, double a, double b)
{
    switch (kind) {
    case MSIM_STEP_ADD:
        return a + b;
    case MSIM_STEP_SUBTRACT:
        return a - b;
    case MSIM_STEP_MULTIPLY:
        return a * b;
    case MSIM_STEP_DIVIDE:
        return a / b;
    case MSIM_STEP_MIN:
        return fmin(a, b);
    default:
        return fmax(a, b);
    }
}

bool msim_ops_expr_value(const struct msim_ops_expr *e,
                         const struct msim_opmap_ctx *c, double *v)
{
    double stack[MSIM_OPS_EXPR_STEPS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < e->n; i++) {
        const struct msim_ops_step *s = &e->steps[i];

        if (s->kind < MSIM_STEP_ADD) {
            if (!leaf(s, c, &stack[n++]))
                return false;
        } else {
            n--;
            stack[n - 1] = combine((enum msim_ops_step_kind)s->kind,
                                   stack[n - 1], stack[n]);
        }
    }
    if (n != 1 || !isfinite(stack[0]) || stack[0] < 0)
        return false;
    *v = stack[0];
    return true;
}

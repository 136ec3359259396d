/*
 * replay/program/make_program.c - from a trace to a program: rounds of
 * selecting and binding until no statement reads what another one hides.
 */

#include "core/base/containers.h"
#include "core/trace/trace_steps.h"
#include "replay/program/program_internal.h"

#include <stdlib.h>
#include <string.h>

/* Opening goes by kind of operator, so that it ends: each round opens one. */
#define MOST_ROUNDS 64

/* ---- which operators ---------------------------------------------------- */

static bool earlier(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    if (t->ops[a].et_id != t->ops[b].et_id)
        return t->ops[a].et_id < t->ops[b].et_id;
    return a < b;
}

/* Step ops by node, whatever their threads. */
static enum msim_status order_ops(struct msim_builder *b, uint32_t step)
{
    const struct msim_trace *t = b->t;
    struct msim_step_window w = msim_step_window_of(t, step);
    uint32_t *scratch;
    size_t bytes = ((size_t)t->n_ops + 1) * sizeof(*b->order);

    b->order = malloc(bytes);
    b->unit = malloc(bytes);
    b->taken = calloc((size_t)t->n_ops + 1, sizeof(*b->taken));
    scratch = malloc(bytes);
    if (!b->order || !b->unit || !b->taken || !scratch) {
        free(scratch);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (t->ops[i].et_id && msim_step_holds(&w, msim_moment(t, i)))
            b->order[b->n_order++] = i;
    }
    msim_sort_index(b->order, scratch, b->n_order, earlier, t);
    free(scratch);
    return MSIM_OK;
}

/* ---- rounds ------------------------------------------------------------- */

static void forget_round(struct msim_builder *b)
{
    struct msim_program *p = b->p;

    p->statements.n = p->operands.n = p->values.n = 0;
    p->outside.n = p->numbers.n = p->left_out.n = 0;
    p->n_gradients = p->n_waits = p->n_collectives = 0;
    if (b->autograd)
        p->why_direct = NULL;
    for (uint32_t i = 0; i < p->notes.n; i++)
        free(((char **)p->notes.data)[i]);
    p->notes.n = 0;
    msim_idmap_release(&b->visible);
    msim_idmap_release(&b->made);
    msim_idmap_release(&b->gradient);
    memset(b->taken, 0, (b->t->n_ops + (size_t)1) * sizeof(*b->taken));
    memset(b->unit, 0xff, (b->t->n_ops + (size_t)1) * sizeof(*b->unit));
    b->busy_id = 0;
    b->pending.n = 0;
    b->backward_open = b->opened_more = false;
}

static enum msim_status run_rounds(struct msim_builder *b)
{
    for (int round = 0; round < MOST_ROUNDS; round++) {
        forget_round(b);
        MSIM_TRY(msim_builder_round(b));
        if (!b->opened_more)
            break;
    }
    return MSIM_OK;
}

static bool has_backward(const struct msim_program *p)
{
    for (uint32_t i = 0; i < p->statements.n; i++)
        if (msim_program_statement(p, i)->kind == MSIM_STATEMENT_BACKWARD)
            return true;
    return false;
}

/* The autograd form where there is a backward that can be rebuilt. */
static enum msim_status choose_form(struct msim_builder *b)
{
    bool known = false;

    MSIM_TRY(run_rounds(b));
    if (b->autograd && (has_backward(b->p) || b->p->why_direct)) {
        if (!b->p->why_direct)
            MSIM_TRY(msim_builder_roles(b, &known));
        if (known)
            return MSIM_OK;
        if (!b->p->why_direct)
            b->p->why_direct = "the parameters cannot be told from the other "
                               "tensors that forward reads";
        b->autograd = false;
        msim_idmap_release(&b->opened);
        MSIM_TRY(run_rounds(b));
    }
    b->autograd = false;
    b->p->form = MSIM_FORM_DIRECT;
    return msim_builder_roles(b, &known);
}

/* Last reads of values, and what autograd records. */
static void finish(struct msim_program *p)
{
    bool later = false;

    for (uint32_t i = p->statements.n; i-- > 0;) {
        struct msim_statement *s = msim_program_statement(p, i);

        later |= s->kind == MSIM_STATEMENT_BACKWARD;
        s->recorded = later && p->form == MSIM_FORM_AUTOGRAD;
        for (uint32_t k = 0; k < s->n_in; k++) {
            struct msim_program_input o =
                *msim_program_operand(p, s->first_in + k);
            struct msim_program_value *v;

            if (o.kind != MSIM_INPUT_VALUE)
                continue;
            v = msim_program_value(p, o.index);
            if (v->last < i)
                v->last = i;
        }
    }
}

static enum msim_status build(struct msim_builder *b,
                              const struct msim_program_options *options)
{
    MSIM_TRY(msim_lives_find(&b->p->lives, b->t));
    MSIM_TRY(order_ops(b, options->step));
    MSIM_TRY(msim_builder_find_waits(b));
    MSIM_TRY(choose_form(b));
    b->p->n_opened = b->opened.count;
    finish(b->p);
    return MSIM_OK;
}

static void release(struct msim_builder *b)
{
    free(b->order);
    free(b->unit);
    free(b->taken);
    msim_idmap_release(&b->schema_of);
    msim_idmap_release(&b->opened);
    msim_idmap_release(&b->visible);
    msim_idmap_release(&b->made);
    msim_idmap_release(&b->gradient);
    msim_idmap_release(&b->waits);
    free(b->pending.data);
}

enum msim_status msim_program_new(struct msim_program **out,
                                  const struct msim_trace *trace,
                                  const struct msim_program_options *options,
                                  struct msim_error *err)
{
    struct msim_builder b = {.t = trace,
                             .choice = &options->choice,
                             .namespaces = options->namespaces,
                             .err = err};
    enum msim_status status;

    *out = NULL;
    if (!trace->has_et)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "found no execution trace (ET), want one: a profile "
                         "alone does not say which tensor is which; record "
                         "both with scripts/capture.py");
    b.autograd = !options->direct && msim_choice_is_all(b.choice);
    b.p = calloc(1, sizeof(*b.p));
    if (!b.p)
        return MSIM_ENOMEM;
    b.p->trace = trace;
    b.p->step = options->step;
    b.p->part = !msim_choice_is_all(b.choice);
    status = build(&b, options);
    release(&b);
    if (status == MSIM_OK && b.p->statements.n == 0)
        status = msim_fail(
            err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
            "found no operator with a signature (op_schema), "
            "or none that was chosen%s%s; want at least one to "
            "call",
            b.p->left_out.n ? ", or none that may be called: " : "",
            b.p->left_out.n ? msim_program_left_out(b.p, 0)->reason : "");
    if (status == MSIM_OK)
        *out = b.p;
    else
        msim_program_free(b.p);
    return status;
}

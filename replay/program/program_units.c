/*
 * replay/program/program_units.c - which operators are called: the outermost
 * with a signature, in the order of their node ids over all threads. Labels,
 * and what is opened, are passed through.
 */
#include "replay/program/program_internal.h"

#include <string.h>

/* The profiler's own marks are operators too, with signatures. */
static bool is_mark(const struct msim_schema *s)
{
    return !strncmp(s->name, "profiler::", 10);
}

static bool is_engine(const struct msim_trace *t, uint32_t i)
{
    return !strncmp(msim_trace_text(t, t->ops[i].name),
                    "autograd::engine::", 18);
}

static enum msim_status note_left_out(struct msim_builder *b, uint32_t i,
                                      const char *reason)
{
    struct msim_left_out *row = msim_vec_add(&b->p->left_out, sizeof(*row));

    if (!row)
        return MSIM_ENOMEM;
    *row = (struct msim_left_out){i, reason};
    return MSIM_OK;
}

/* Of an operator without a signature and without operators below it. */
static enum msim_status leave_out(struct msim_builder *b, uint32_t i)
{
    const struct msim_op *op = &b->t->ops[i];
    const char *name = msim_trace_text(b->t, op->name);
    const char *reason;
    bool known;

    if (!msim_choice_has(b->choice, b->t, i))
        return MSIM_OK;
    MSIM_TRY(msim_builder_wait(b, i, &known));
    if (known)
        return MSIM_OK;
    if (op->comm != MSIM_NONE)
        reason = b->t->comms[op->comm].collective == MSIM_COLL_WAIT
                     ? "a wait for a collective that began before"
                     : "a collective without the operator that called it";
    else if (!strncmp(name, "triton_", 7))
        reason = "generated code, of which a trace has the name alone";
    else if (op->outs != MSIM_NONE && op->out_ids != MSIM_NONE &&
             strstr(name, "::") && !strchr(name, '(')) /* no kernel's name */
        reason = "the trace has no signature of it (op_schema)";
    else
        return MSIM_OK; /* a label */
    return note_left_out(b, i, reason);
}

/* The last node id that op `i` saw: tensors have ids of the same counter, and
 * what it returns has one when it ends at the latest. */
static uint32_t last_id(const struct msim_trace *t, uint32_t i)
{
    uint32_t last = t->ops[t->ops[i].end - 1].et_id;
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    while (msim_tensor_next(t, t->ops[i].outs, t->ops[i].out_ids, &walk, &at))
        if (t->tensor_ids[at.id].tensor > last)
            last = t->tensor_ids[at.id].tensor;
    return last;
}

/*
 * The sub-tree of op `i` is taken. Threads that PyTorch starts inside an
 * operator (OpenMP) show as threads of their own: what they do until it ends is
 * its. So is what the recording of a gloo collective, which ends on a thread of
 * gloo's, puts beside the operator that it ran in.
 */
static void take_tree(struct msim_builder *b, uint32_t i)
{
    const struct msim_op *op = &b->t->ops[i];

    memset(b->taken + i, true, (op->end - i) * sizeof(*b->taken));
    if (b->busy_id < last_id(b->t, i))
        b->busy_id = last_id(b->t, i);
}

static enum msim_status take(struct msim_builder *b, uint32_t i,
                             uint32_t schema)
{
    const struct msim_op *op = &b->t->ops[i];

    take_tree(b, i);
    MSIM_TRY(msim_builder_check(b, i, schema));
    MSIM_TRY(msim_builder_waits_before(b, i, schema));
    for (uint32_t k = i; k < op->end; k++)
        b->unit[k] = b->p->statements.n;
    b->backward_open = false;
    return msim_builder_call(b, i, schema);
}

/*
 * An operator made of others may choose among them by whether autograd records
 * (embedding_bag, matmul, scaled_dot_product_attention): what chose so in the
 * trace is called through its choice where nothing is recorded here.
 */
static bool chose_for_autograd(const struct msim_builder *b, uint32_t i,
                               uint32_t schema)
{
    const struct msim_schema *s = msim_program_schema(b->p, schema);
    const struct msim_op *op = &b->t->ops[i];

    return !b->autograd && op->seq >= 0 && op->end > i + 1 &&
           msim_composite(s->name, s->overload);
}

/* Autocast casts what an operator reads and calls it once more: a program calls
 * the casts and the inner one. */
static bool is_autocast(const struct msim_trace *t, uint32_t i)
{
    for (uint32_t k = i + 1; k < t->ops[i].end; k = t->ops[k].end)
        if (t->ops[k].schema == t->ops[i].schema)
            return true;
    return false;
}

static enum msim_status visit(struct msim_builder *b, uint32_t i)
{
    const struct msim_op *op = &b->t->ops[i];
    const char *why;
    uint32_t schema;

    if (b->taken[i])
        return MSIM_OK;
    if (op->et_id < b->busy_id) {
        take_tree(b, i);
        return MSIM_OK;
    }
    if (b->autograd && is_engine(b->t, i)) {
        take_tree(b, i);
        return msim_builder_backward(b, i);
    }
    if (op->kind != MSIM_OP_OPERATOR)
        return MSIM_OK;
    MSIM_TRY(msim_builder_schema(b, i, &schema));
    if (schema == MSIM_NONE)
        return op->end == i + 1 ? leave_out(b, i) : MSIM_OK;
    if (is_mark(msim_program_schema(b->p, schema)) ||
        msim_idmap_get(&b->opened, schema) != MSIM_NONE ||
        is_autocast(b->t, i) || chose_for_autograd(b, i, schema))
        return MSIM_OK;
    if (!msim_choice_has(b->choice, b->t, i)) {
        take_tree(b, i);
        return MSIM_OK;
    }
    why = msim_why_not_callable(b->t, i, msim_program_schema(b->p, schema),
                                b->namespaces);
    /* What it calls may be called all the same. */
    return why ? note_left_out(b, i, why) : take(b, i, schema);
}

enum msim_status msim_builder_round(struct msim_builder *b)
{
    for (uint32_t i = 0; i < b->n_order; i++)
        MSIM_TRY(visit(b, b->order[i]));
    return msim_builder_wait_all(b);
}

/*
 * replay/program/program_collective.c - collectives and the waits for them.
 *
 * NCCL's traces record waits as nodes of their own, with the sequence number of
 * the collective. gloo's and those of DDP's reducer do not: there the next use
 * of the same memory says when the wait was over at the latest.
 */
#include "replay/program/program_internal.h"

#include <string.h>

/* A collective that has begun. */
struct msim_pending {
    uint32_t statement;
    int64_t sequence; /* -1 unknown */
    bool recorded;    /* the trace has a wait for it */
};

static const struct msim_comm *wait_at(const struct msim_trace *t, uint32_t i)
{
    const struct msim_comm *c =
        t->ops[i].comm == MSIM_NONE ? NULL : &t->comms[t->ops[i].comm];

    return c && c->collective == MSIM_COLL_WAIT && c->sequence >= 0 ? c : NULL;
}

enum msim_status msim_builder_find_waits(struct msim_builder *b)
{
    for (uint32_t i = 0; i < b->n_order; i++) {
        const struct msim_comm *c = wait_at(b->t, b->order[i]);
        uint32_t *slot;

        if (c)
            MSIM_TRY(
                msim_idmap_put(&b->waits, (uint64_t)c->sequence, 0, &slot));
        if (c)
            *slot = b->t->ops[b->order[i]].et_id; /* the last one */
    }
    return MSIM_OK;
}

/* ---- waits -------------------------------------------------------------- */

static struct msim_pending *pending(const struct msim_builder *b, uint32_t i)
{
    return (struct msim_pending *)b->pending.data + i;
}

/* The statement that waits for pending collective `i`, which is over then. */
static enum msim_status add_wait(struct msim_builder *b, uint32_t i,
                                 uint32_t op)
{
    const struct msim_statement *of =
        msim_program_statement(b->p, pending(b, i)->statement);

    MSIM_TRY(msim_builder_add(
        b, MSIM_STATEMENT_WAIT, op,
        (struct msim_program_input){MSIM_INPUT_VALUE, of->first_out}));
    memmove(pending(b, i), pending(b, i + 1),
            (--b->pending.n - i) * sizeof(struct msim_pending));
    return MSIM_OK;
}

enum msim_status msim_builder_wait(struct msim_builder *b, uint32_t op,
                                   bool *known)
{
    const struct msim_comm *c = wait_at(b->t, op);

    *known = false;
    for (uint32_t i = b->pending.n; c && i-- > 0;)
        if (pending(b, i)->sequence == c->sequence) {
            *known = true;
            return add_wait(b, i, op);
        }
    return MSIM_OK;
}

static enum msim_status infer_wait(struct msim_builder *b, uint32_t i,
                                   uint32_t op)
{
    b->p->n_waits++;
    return add_wait(b, i, op);
}

enum msim_status msim_builder_wait_all(struct msim_builder *b)
{
    while (b->pending.n)
        MSIM_TRY(infer_wait(
            b, 0, msim_program_statement(b->p, pending(b, 0)->statement)->op));
    return MSIM_OK;
}

/* ---- who needs them ----------------------------------------------------- */

static bool is_written(const struct msim_schema *s, uint32_t argument)
{
    return argument < s->n_args && s->args[argument].written;
}

/* Does a collective name that life, such that it and somebody who writes it, or
 * only reads it, must not run at once? */
static bool clashes(const struct msim_builder *b,
                    const struct msim_statement *s, uint32_t life, bool written)
{
    const struct msim_op *op = &b->t->ops[s->op];
    const struct msim_schema *schema = msim_program_schema(b->p, s->schema);
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    while (msim_tensor_next(b->t, op->args, op->ids, &walk, &at))
        if (b->p->lives.of[at.id] == life &&
            (written || is_written(schema, at.argument)))
            return true;
    return false;
}

enum msim_status msim_builder_waits_before(struct msim_builder *b, uint32_t op,
                                           uint32_t schema)
{
    const struct msim_op *reader = &b->t->ops[op];
    struct msim_tensor_walk walk = {0};
    struct msim_tensor_at at;

    while (b->pending.n &&
           msim_tensor_next(b->t, reader->args, reader->ids, &walk, &at)) {
        uint32_t life = b->p->lives.of[at.id];
        bool written =
            is_written(msim_program_schema(b->p, schema), at.argument);

        for (uint32_t i = b->pending.n; life != MSIM_NONE && i-- > 0;)
            if (!pending(b, i)->recorded &&
                clashes(b,
                        msim_program_statement(b->p, pending(b, i)->statement),
                        life, written))
                MSIM_TRY(infer_wait(b, i, op));
    }
    return MSIM_OK;
}

/* ---- collectives -------------------------------------------------------- */

static uint32_t comm_below(const struct msim_trace *t, uint32_t op)
{
    for (uint32_t i = op; i < t->ops[op].end; i++)
        if (t->ops[i].comm != MSIM_NONE && !wait_at(t, i))
            return t->ops[i].comm;
    return MSIM_NONE;
}

/* `async_op=False`: the caller has waited when the operator returns. */
static bool is_sync(const struct msim_builder *b,
                    const struct msim_statement *s)
{
    const struct msim_schema *schema = msim_program_schema(b->p, s->schema);

    for (uint32_t i = 0; i < schema->n_args; i++) {
        const struct msim_arg *a =
            msim_args_get(b->t, b->t->ops[s->op].args, i);

        if ((msim_schema_is(&schema->args[i], "async_op") ||
             msim_schema_is(&schema->args[i], "asyncOp")) &&
            a && a->kind == MSIM_ARG_BOOL)
            return a->v.i == 0;
    }
    return false;
}

static bool is_waited_for(const struct msim_builder *b, uint32_t op,
                          int64_t sequence)
{
    uint32_t wait = sequence < 0
                        ? MSIM_NONE
                        : msim_idmap_get(&b->waits, (uint64_t)sequence);

    return wait != MSIM_NONE && wait > b->t->ops[op].et_id;
}

enum msim_status msim_builder_collective(struct msim_builder *b,
                                         struct msim_statement *s)
{
    struct msim_pending begun = {b->p->statements.n, -1, false}, *row;
    struct msim_program_value *work;

    s->kind = MSIM_STATEMENT_COLLECTIVE;
    b->p->n_collectives++;
    s->comm = comm_below(b->t, s->op);
    s->first_out = b->p->values.n;
    if (s->comm != MSIM_NONE)
        begun.sequence = b->t->comms[s->comm].sequence;
    begun.recorded = is_waited_for(b, s->op, begun.sequence);
    /* No memory says when a barrier is waited for: nearly always at once. */
    s->sync =
        !begun.recorded &&
        (is_sync(b, s) ||
         !strcmp(msim_program_schema(b->p, s->schema)->name, "c10d::barrier"));
    if (s->sync)
        return MSIM_OK;
    work = msim_vec_add(&b->p->values, sizeof(*work));
    row = msim_vec_add(&b->pending, sizeof(*row));
    if (!work || !row)
        return MSIM_ENOMEM;
    *work = (struct msim_program_value){begun.statement, s->n_out++, MSIM_NONE,
                                        begun.statement, false};
    *row = begun;
    return MSIM_OK;
}

/*
 * core/rewrite/weave/weave.c - one change of a recorded step on its way.
 */
#include "core/rewrite/weave/weave.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool msim_weave_begins(const struct msim_weave *w, uint32_t op,
                       const char *with)
{
    return !strncmp(msim_trace_text(w->t, w->t->ops[op].name), with,
                    strlen(with));
}

bool msim_weave_contains(const struct msim_weave *w, uint32_t op,
                         const char *part)
{
    return strstr(msim_trace_text(w->t, w->t->ops[op].name), part) != NULL;
}

bool msim_weave_is_in_place(const struct msim_weave *w, uint32_t op)
{
    const char *name = msim_trace_text(w->t, w->t->ops[op].name);
    size_t n = strlen(name);

    return n && name[n - 1] == '_';
}

enum msim_status msim_weave_refuse(struct msim_weave *w, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return msim_fail(w->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s", text);
}

/* ---- what lives are for --------------------------------------------------
 */

static uint32_t first_life(struct msim_lives_each e)
{
    return msim_lives_next(&e) ? e.life : MSIM_NONE;
}

/* The tensor that AccumulateGrad `op` keeps: the one that it is given, or that
 * which it adds or copies it to. */
static uint32_t kept_by(const struct msim_weave *w, uint32_t op)
{
    const struct msim_lives *l = &w->d.lives;
    uint32_t life = first_life(msim_lives_inputs(l, w->t, op));

    for (uint32_t i = op + 1; i < w->t->ops[op].end; i++) {
        const char *name = msim_trace_text(w->t, w->t->ops[i].name);

        if (!strcmp(name, "aten::add_") || !strcmp(name, "aten::copy_"))
            life = first_life(msim_lives_inputs(l, w->t, i));
        else if (!strcmp(name, "aten::add") || !strcmp(name, "aten::clone"))
            life = first_life(msim_lives_outputs(l, w->t, i));
    }
    return life;
}

static void find_gradients(struct msim_weave *w)
{
    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            if (strcmp(msim_trace_text(w->t, w->t->ops[i].name),
                       "torch::autograd::AccumulateGrad") != 0)
                continue;
            w->gradient[s] = kept_by(w, i);
            if (w->gradient[s] != MSIM_NONE)
                w->kind[w->gradient[s]] = MSIM_LIFE_GRADIENT;
        }
}

#define READ_FORWARD 1
#define READ_IN_STEP 2
#define READ_ELSE    4

static uint8_t reader(uint8_t role)
{
    return role == MSIM_ANATOMY_FORWARD     ? READ_FORWARD
           : role == MSIM_ANATOMY_OPTIMIZER ? READ_IN_STEP
                                            : READ_ELSE;
}

static void note_readers(const struct msim_weave *w, uint8_t *readers)
{
    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

            while (msim_lives_next(&e))
                if (e.life != MSIM_NONE)
                    readers[e.life] |= reader(w->a.rows[s].role);
        }
}

static enum msim_status find_kinds(struct msim_weave *w)
{
    const struct msim_lives *l = &w->d.lives;
    size_t n = (size_t)l->n + 1, statements = (size_t)w->a.n + 1;
    uint8_t *readers = calloc(n, 1);

    w->kind = calloc(n, 1);
    w->gradient = malloc(statements * sizeof(*w->gradient));
    if (!readers || !w->kind || !w->gradient) {
        free(readers);
        return MSIM_ENOMEM;
    }
    memset(w->gradient, 0xff, statements * sizeof(*w->gradient));
    find_gradients(w);
    note_readers(w, readers);
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->rows[i].born != MSIM_NONE || w->kind[i])
            continue;
        if (readers[i] == READ_IN_STEP)
            w->kind[i] = MSIM_LIFE_STATE;
        else if (readers[i] & READ_FORWARD && readers[i] & READ_IN_STEP)
            w->kind[i] = MSIM_LIFE_PARAMETER;
    }
    free(readers);
    return MSIM_OK;
}

/* ---- from beginning to end -----------------------------------------------
 */

static enum msim_status open_any(struct msim_weave *w,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings, bool forward,
                                 struct msim_error *err)
{
    *w = (struct msim_weave){.t = t, .err = err};
    if (!t->has_et || !t->n_tensor_ids)
        return msim_weave_refuse(w, "the trace has no ids of tensors, which "
                                    "say what is computed from what; want an "
                                    "execution trace");
    MSIM_TRY(msim_draft_begin(&w->d, t, strings));
    MSIM_TRY(msim_anatomy_find(&w->a, t, &w->d.lives));
    if (forward && !w->a.n_passes)
        MSIM_TRY(msim_anatomy_forward_pass(&w->a));
    if (!w->a.n_passes)
        return msim_weave_refuse(w, "the trace has no backward pass; want the "
                                    "execution trace of a training step");
    MSIM_TRY(msim_anatomy_blocks(&w->a));
    return find_kinds(w);
}

enum msim_status msim_weave_open(struct msim_weave *w,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings,
                                 struct msim_error *err)
{
    return open_any(w, t, strings, false, err);
}

enum msim_status msim_weave_open_forward(struct msim_weave *w,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         struct msim_error *err)
{
    return open_any(w, t, strings, true, err);
}

void msim_weave_close(struct msim_weave *w)
{
    msim_draft_release(&w->d);
    msim_anatomy_release(&w->a);
    free(w->kind);
    free(w->gradient);
    *w = (struct msim_weave){0};
}

enum msim_status msim_weave_walk(struct msim_weave *w, void *ctx,
                                 msim_weave_visit_fn *visit)
{
    for (uint32_t k = 0; k < w->t->n_ops; k++) {
        uint32_t op = w->a.order[k], top = msim_op_topmost(w->t, op);

        if (top == MSIM_NONE && w->elsewhere && w->elsewhere[op])
            continue;
        if (top == MSIM_NONE)
            MSIM_TRY(
                msim_draft_copy(&w->d, op,
                                &(struct msim_draft_how){
                                    .at = msim_draft_own_place(&w->d, op)}));
        else if (top == op)
            MSIM_TRY(visit(ctx, w->a.statement[op]));
    }
    return MSIM_OK;
}

enum msim_status msim_weave_finish(struct msim_weave *w,
                                   struct msim_trace **out)
{
    return msim_draft_finish(&w->d, out);
}

/* ---- copies --------------------------------------------------------------
 */

struct msim_draft_place msim_weave_place(const struct msim_weave *w,
                                         uint32_t statement)
{
    return msim_draft_own_place(&w->d, w->a.rows[statement].op);
}

/* Operators below the statement stand below the copies of their parents. */
static enum msim_status copy_op(struct msim_weave *w, uint32_t op, uint32_t top,
                                const struct msim_draft_how *how)
{
    struct msim_draft_how own = *how;

    if (op != top)
        own.at.parent = w->d.placed[w->t->ops[op].parent];
    return msim_draft_copy(&w->d, op, &own);
}

enum msim_status msim_weave_copy_as(struct msim_weave *w, uint32_t statement,
                                    const struct msim_draft_how *how)
{
    uint32_t top = w->a.rows[statement].op;

    for (uint32_t i = top; i < msim_anatomy_end(&w->a, statement); i++)
        MSIM_TRY(copy_op(w, i, top, how));
    return MSIM_OK;
}

enum msim_status msim_weave_copy(struct msim_weave *w, uint32_t statement)
{
    return msim_weave_copy_as(
        w, statement,
        &(struct msim_draft_how){.at = msim_weave_place(w, statement)});
}

/* The statement that operator `op` is of, or NONE. */
static uint32_t statement_of(const struct msim_weave *w, uint32_t op)
{
    uint32_t top = msim_op_topmost(w->t, op);

    return top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];
}

/* Memory that no operator was seen to take, and that backward of one pass alone
 * names, is made there, too: a result that is cleared before it is written. */
static bool is_made_unseen(const struct msim_weave *w, uint32_t op,
                           uint32_t life)
{
    const struct msim_life *row = &w->d.lives.rows[life];
    uint32_t a, z;

    if (row->born != MSIM_NONE || row->first != op)
        return false;
    a = statement_of(w, op);
    z = statement_of(w, row->last);
    return z != MSIM_NONE && w->a.rows[a].role == MSIM_ANATOMY_BACKWARD &&
           w->a.rows[z].role == MSIM_ANATOMY_BACKWARD &&
           w->a.rows[a].pass == w->a.rows[z].pass;
}

/* Lives that operator `op` began begin anew. */
static void renew_made(struct msim_weave *w, uint32_t op)
{
    struct msim_lives_each in = msim_lives_inputs(&w->d.lives, w->t, op);
    struct msim_lives_each out = msim_lives_outputs(&w->d.lives, w->t, op);

    while (msim_lives_next(&in))
        if (in.life != MSIM_NONE && is_made_unseen(w, op, in.life))
            msim_draft_renew(&w->d, in.life);
    while (msim_lives_next(&out))
        if (out.life != MSIM_NONE && w->d.lives.rows[out.life].born == op)
            msim_draft_renew(&w->d, out.life);
}

enum msim_status msim_weave_again(struct msim_weave *w, uint32_t statement,
                                  struct msim_draft_place at)
{
    for (uint32_t i = w->a.rows[statement].op;
         i < msim_anatomy_end(&w->a, statement); i++)
        renew_made(w, i);
    return msim_weave_copy_as(w, statement, &(struct msim_draft_how){.at = at});
}

enum msim_status msim_weave_hold(struct msim_weave *w, const char *name,
                                 struct msim_draft_place at,
                                 struct msim_draft_place *place)
{
    const struct msim_draft_op op = {.name = name, .at = at};

    *place = at;
    return msim_draft_add(&w->d, &op, &place->parent);
}

/* ---- gradients -----------------------------------------------------------
 */

static bool is_accumulate(const struct msim_weave *w, uint32_t op)
{
    return !strcmp(msim_trace_text(w->t, w->t->ops[op].name),
                   "torch::autograd::AccumulateGrad");
}

/* Tensor `k` of `op`, from 0. */
static bool nth_given(const struct msim_weave *w, uint32_t op, uint32_t k,
                      struct msim_weave_given *out)
{
    struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, op);

    while (msim_lives_next(&e))
        if (k-- == 0) {
            out->op = op;
            out->life = e.life;
            out->arg = e.arg;
            return e.life != MSIM_NONE;
        }
    return false;
}

bool msim_weave_find_given(const struct msim_weave *w, uint32_t s,
                           struct msim_weave_given *out)
{
    uint32_t op = w->a.rows[s].op, end = msim_anatomy_end(&w->a, s);

    while (op < end && !is_accumulate(w, op))
        op++;
    out->accumulate = op;
    if (op == end)
        return false;
    if (nth_given(w, op, 0, out))
        return true;
    /* It names nothing itself: what it adds or copies is the second. */
    while (++op < end)
        if (nth_given(w, op, 1, out))
            return true;
    return false;
}

bool msim_weave_makes_gradient(const struct msim_weave *w, uint32_t s)
{
    uint32_t born = w->d.lives.rows[w->gradient[s]].born;
    uint32_t in = born == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, born);

    return in != MSIM_NONE &&
           w->a.rows[w->a.statement[in]].pass == w->a.rows[s].pass;
}

enum msim_status msim_weave_add_up(struct msim_weave *w, uint32_t s,
                                   uint32_t storage)
{
    uint32_t top = w->a.rows[s].op;
    struct msim_draft_how how = {.at = msim_weave_place(w, s)};
    struct msim_weave_given g;
    struct msim_draft_tensor both[2];
    struct msim_draft_op sum = {.name = "aten::add_",
                                .at = how.at,
                                .in = both,
                                .out = both,
                                .n_in = 2,
                                .n_out = 1};

    if (!msim_weave_find_given(w, s, &g) ||
        !msim_draft_given(&w->d, g.op, g.life, &both[1]))
        return MSIM_OK;
    both[0] = both[1];
    both[0].storage = storage;
    for (uint32_t i = top; i <= g.accumulate; i++) {
        if (i != top)
            how.at.parent = w->d.placed[w->t->ops[i].parent];
        MSIM_TRY(msim_draft_copy(&w->d, i, &how));
    }
    sum.at.parent = w->d.placed[g.accumulate];
    return msim_draft_add(&w->d, &sum, NULL);
}

/* ---- ranks ---------------------------------------------------------------
 */

bool msim_weave_is_step(const struct msim_weave *w, uint32_t statement)
{
    uint32_t op = w->a.rows[statement].op;

    while ((op = w->t->ops[op].parent) != MSIM_NONE)
        if (msim_weave_begins(w, op, "Optimizer.step"))
            return true;
    return false;
}

/* The last one: a job that was spread before may have another. */
static uint32_t data_group(const struct msim_weave *w)
{
    for (uint32_t i = w->t->n_groups; i-- > 0;)
        if (!strncmp(msim_trace_text(w->t, w->t->groups[i].name),
                     MSIM_WEAVE_DATA_GROUP, strlen(MSIM_WEAVE_DATA_GROUP)))
            return i;
    return MSIM_NONE;
}

enum msim_status msim_weave_spread(struct msim_weave *w, uint32_t world)
{
    uint32_t ranks = w->t->world_size;

    w->d.group = data_group(w);
    if (w->d.group != MSIM_NONE)
        return MSIM_OK;
    if (ranks > 1 || w->t->n_comms)
        return msim_weave_refuse(
            w, "the trace is of a job of several ranks already; want the trace "
               "of one that is trained alone");
    if (!world)
        return msim_weave_refuse(w, "how many ranks share is not said; want "
                                    "{\"world\": 8} beside \"shard\"");
    w->d.out->world_size = world;
    return MSIM_OK;
}

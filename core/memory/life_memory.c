/*
 * core/memory/life_memory.c - how much memory the tensors of an execution trace
 * hold, from their lives.
 */
#include "core/memory/life_memory.h"

#include "core/base/containers.h"
#include "core/lives/lives.h"

#include <stdlib.h>
#include <string.h>

/* What the operators that name it say of a life. */
struct use {
    uint32_t to;         /* the last operator below one that names it */
    uint32_t to_outside; /* the same, without what optimizers do */
    uint32_t gathered;   /* where autograd last added to it, plus one */
    uint32_t step;       /* the last optimizer's step that names it, plus one */
    uint32_t born_in;    /* the step that it was made in, plus one */
    bool outside; /* something but the optimizer and a collective reads it */
    bool sent, parameter;
};

struct picture {
    const struct msim_trace *t;
    const struct msim_memory_options *o;
    struct msim_memory_picture *out;
    struct msim_lives lives;
    struct use *uses; /* by life */
    uint8_t *weight;  /* likewise: operators take it as one */
    uint32_t *step;   /* by operator: the step around it, plus one; 0: none */
    uint32_t n_steps; /* of optimizers */
    uint32_t *zero;   /* places where gradients are set to zero */
    uint32_t n_zero, cap_zero;
    struct msim_idmap sizes; /* of gradients: how many, plus one */
    struct msim_idmap found; /* likewise of parameters */
};

const char *msim_held_text(enum msim_held h)
{
    static const char *const text[] = {
#define X(name, text) text,
        MSIM_HELD_MAP(X)
#undef X
    };

    return text[h];
}

static bool begins(const struct msim_trace *t, uint32_t op, const char *with)
{
    return !strncmp(msim_trace_text(t, t->ops[op].name), with, strlen(with));
}

static bool is(const struct msim_trace *t, uint32_t op, const char *name)
{
    return !strcmp(msim_trace_text(t, t->ops[op].name), name);
}

/* ---- marks of the optimizer --------------------------------------------- */

static enum msim_status find_marks(struct picture *p)
{
    const struct msim_trace *t = p->t;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        if (begins(t, i, "Optimizer.step#") && !p->step[i]) {
            p->n_steps++;
            for (uint32_t k = i; k < t->ops[i].end; k++)
                p->step[k] = p->n_steps;
        } else if (begins(t, i, "Optimizer.zero_grad#")) {
            MSIM_TRY(msim_grow((void **)&p->zero, &p->cap_zero, p->n_zero,
                               sizeof(*p->zero)));
            p->zero[p->n_zero++] = p->lives.place[i];
        }
    }
    return MSIM_OK;
}

/* ---- uses --------------------------------------------------------------- */

static void note_use(struct picture *p, uint32_t op, uint32_t life)
{
    struct use *u = &p->uses[life];
    uint32_t last = p->lives.place[p->t->ops[op].end - 1];

    if (last > u->to)
        u->to = last;
    if (!p->step[op] && last > u->to_outside)
        u->to_outside = last;
    if (p->t->ops[op].comm != MSIM_NONE)
        u->sent = true;
    else if (p->step[op])
        u->step = p->step[op] > u->step ? p->step[op] : u->step;
    else
        u->outside = true;
}

/* Every tensor of a block of `op`. */
static void note_block(struct picture *p, uint32_t op, uint32_t block,
                       uint32_t ids)
{
    const struct msim_trace *t = p->t;
    uint32_t life;

    if (block == MSIM_NONE || ids == MSIM_NONE)
        return;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        if (t->args[t->blocks[block].first + i].kind != MSIM_ARG_TENSOR)
            continue;
        life = p->lives.of[ids++];
        if (life != MSIM_NONE)
            note_use(p, op, life);
    }
}

/* The tensor that this AccumulateGrad keeps: its own, or that which it adds or
 * copies to. */
static uint32_t kept_by(const struct picture *p, uint32_t op)
{
    const struct msim_trace *t = p->t;
    uint32_t ids = t->ops[op].ids;

    for (uint32_t i = op + 1; i < t->ops[op].end; i++) {
        if (is(t, i, "aten::add_") || is(t, i, "aten::copy_"))
            ids = t->ops[i].ids;
        else if (is(t, i, "aten::add") || is(t, i, "aten::clone"))
            ids = t->ops[i].out_ids;
    }
    return ids == MSIM_NONE ? MSIM_NONE : p->lives.of[ids];
}

static enum msim_status note_gradient(struct picture *p, uint32_t op)
{
    uint32_t life = kept_by(p, op), *count;

    if (life == MSIM_NONE)
        return MSIM_OK;
    if (!p->uses[life].gathered) {
        MSIM_TRY(
            msim_idmap_put(&p->sizes, p->lives.rows[life].bytes, 1, &count));
        ++*count;
    }
    if (p->lives.place[op] + 1 > p->uses[life].gathered)
        p->uses[life].gathered = p->lives.place[op] + 1;
    return MSIM_OK;
}

/* The second matrix of a product, where it was there before and nothing is
 * differentiated, is a weight, whichever layer multiplies. */
static void note_product(struct picture *p, uint32_t op)
{
    const struct msim_trace *t = p->t;
    struct msim_lives_each e = msim_lives_inputs(&p->lives, t, op);
    uint32_t place = is(t, op, "aten::mm") ? 1 : 2;
    const struct msim_arg *a;

    if (place == 2 && !is(t, op, "aten::addmm") &&
        !is(t, op, "aten::_addmm_activation"))
        return;
    a = msim_args_get(t, t->ops[op].args, place);
    while (a && msim_lives_next(&e))
        if (e.arg == a && e.life != MSIM_NONE)
            p->weight[e.life] = 1;
}

static enum msim_status note_all(struct picture *p)
{
    const struct msim_trace *t = p->t;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct msim_op *op = &t->ops[i];

        note_block(p, i, op->args, op->ids);
        note_block(p, i, op->outs, op->out_ids);
        if (is(t, i, "torch::autograd::AccumulateGrad") && op->ids != MSIM_NONE)
            MSIM_TRY(note_gradient(p, i));
        note_product(p, i);
    }
    for (uint32_t i = 0; i < p->lives.n; i++)
        if (p->lives.rows[i].born != MSIM_NONE)
            p->uses[i].born_in = p->step[p->lives.rows[i].born];
    return MSIM_OK;
}

/* ---- pieces ------------------------------------------------------------- */

/* May it be a parameter? Where steps are marked, they name it, too. */
static bool may_train(const struct picture *p, uint32_t life)
{
    const struct use *u = &p->uses[life];

    return p->lives.rows[life].born == MSIM_NONE && !u->gathered &&
           u->outside && (u->step || !p->n_steps);
}

/* The first of each size, as many as a step has gradients of it. */
static enum msim_status find_parameters(struct picture *p)
{
    uint32_t steps = p->n_steps ? p->n_steps : 1, gradients, *count;

    for (uint32_t i = 0; i < p->lives.n; i++) {
        gradients = msim_idmap_get(&p->sizes, p->lives.rows[i].bytes);
        if (!may_train(p, i) || gradients == MSIM_NONE)
            continue;
        MSIM_TRY(msim_idmap_put(&p->found, p->lives.rows[i].bytes, 1, &count));
        if ((*count - 1) * (uint64_t)steps >= gradients - 1)
            continue;
        ++*count;
        p->uses[i].parameter = true;
    }
    return MSIM_OK;
}

/* Are there no gradients, which would tell parameters, nor a step that names
 * them? */
static bool is_forward(const struct picture *p)
{
    return !p->sizes.count && !p->n_steps;
}

static enum msim_held held_from_before(const struct picture *p, uint32_t life)
{
    const struct use *u = &p->uses[life];

    if (u->gathered)
        return MSIM_HELD_GRADIENT;
    if (u->step && !u->outside)
        return MSIM_HELD_STATE;
    if (u->parameter || (is_forward(p) && p->weight[life] && !u->sent))
        return MSIM_HELD_PARAMETER;
    return u->sent ? MSIM_HELD_COMMUNICATION : MSIM_HELD_INPUT;
}

static uint32_t next_zero(const struct picture *p, uint32_t place)
{
    uint32_t first = p->t->n_ops;

    for (uint32_t i = 0; i < p->n_zero; i++)
        if (p->zero[i] > place && p->zero[i] < first)
            first = p->zero[i];
    return first;
}

static struct msim_held_piece piece_of(const struct picture *p, uint32_t life)
{
    const struct msim_life *row = &p->lives.rows[life];
    const struct use *u = &p->uses[life];
    struct msim_held_piece piece = {
        .bytes = row->bytes, .to = u->to, .held = MSIM_HELD_ACTIVATION};

    if (row->born == MSIM_NONE) {
        piece.held = (uint8_t)held_from_before(p, life);
        if (piece.held == MSIM_HELD_INPUT) {
            piece.from = p->lives.place[row->first];
            piece.to = u->outside ? u->to_outside : u->to;
        } else
            piece.to = p->t->n_ops;
        return piece;
    }
    piece.from = p->lives.place[row->born];
    if (u->gathered) {
        uint32_t zero = next_zero(p, u->gathered);

        piece.held = MSIM_HELD_GRADIENT;
        piece.to = zero > u->to ? zero : u->to;
    } else if (u->born_in && u->step > u->born_in) {
        piece.held = MSIM_HELD_STATE;
        piece.to = p->t->n_ops;
    } else if (u->outside) {
        piece.to = u->to_outside > piece.from ? u->to_outside : u->to;
    }
    return piece;
}

/* Uses outside the optimizer may all lie before the operator that names the
 * piece first in the order of entry, where threads overlap: it ends no sooner
 * than it begins. */
static enum msim_status add(struct picture *p, struct msim_held_piece piece)
{
    if (piece.to < piece.from)
        piece.to = piece.from;
    MSIM_TRY(msim_grow((void **)&p->out->pieces, &p->out->cap, p->out->n,
                       sizeof(*p->out->pieces)));
    p->out->pieces[p->out->n++] = piece;
    return MSIM_OK;
}

static bool multiplies(const struct msim_trace *t, uint32_t op)
{
    static const char *const names[] = {"aten::mm", "aten::addmm", "aten::bmm",
                                        "aten::baddbmm", NULL};

    for (const char *const *n = names; *n; n++)
        if (is(t, op, *n))
            return true;
    return false;
}

/* Each thread has a cuBLAS handle of its own. */
static enum msim_status add_workspaces(struct picture *p)
{
    const struct msim_trace *t = p->t;
    uint32_t last = MSIM_NONE;

    for (uint32_t i = 0; p->o->workspace && i < t->n_ops; i++) {
        if (t->ops[i].thread == last || !multiplies(t, i))
            continue;
        last = t->ops[i].thread; /* operators come by thread */
        MSIM_TRY(add(p, (struct msim_held_piece){.bytes = p->o->workspace,
                                                 .from = p->lives.place[i],
                                                 .to = t->n_ops,
                                                 .held = MSIM_HELD_WORKSPACE}));
    }
    return MSIM_OK;
}

/* What is on the device: all of it where the trace was recorded on a CPU, which
 * did what the device would do, but what was offloaded. */
static bool counts(const struct picture *p, uint32_t life)
{
    uint8_t device = p->lives.rows[life].device;

    return device == MSIM_DEV_GPU ||
           (p->t->cpu_only && device != MSIM_DEV_HOST);
}

static enum msim_status draw(struct picture *p)
{
    p->uses = calloc((size_t)p->lives.n + 1, sizeof(*p->uses));
    p->step = calloc((size_t)p->t->n_ops + 1, sizeof(*p->step));
    if (!p->uses || !p->step)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_weights_by_life(&p->weight, &p->lives, p->t));
    MSIM_TRY(find_marks(p));
    MSIM_TRY(note_all(p));
    MSIM_TRY(find_parameters(p));
    for (uint32_t i = 0; i < p->lives.n; i++)
        if (counts(p, i) && p->lives.rows[i].bytes)
            MSIM_TRY(add(p, piece_of(p, i)));
    p->out->order = malloc(((size_t)p->t->n_ops + 1) * sizeof(uint32_t));
    if (!p->out->order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->t->n_ops; i++)
        p->out->order[p->lives.place[i]] = i;
    return add_workspaces(p);
}

enum msim_status msim_memory_picture_find(struct msim_memory_picture *out,
                                          const struct msim_trace *t,
                                          const struct msim_memory_options *o)
{
    struct picture p = {.t = t, .o = o, .out = out};
    enum msim_status status;

    *out = (struct msim_memory_picture){.end = t->n_ops};
    status = msim_lives_find(&p.lives, t);
    if (status == MSIM_OK)
        status = draw(&p);
    msim_lives_release(&p.lives);
    msim_idmap_release(&p.sizes);
    msim_idmap_release(&p.found);
    free(p.weight);
    free(p.uses);
    free(p.step);
    free(p.zero);
    return status;
}

void msim_memory_picture_release(struct msim_memory_picture *m)
{
    free(m->pieces);
    free(m->order);
    *m = (struct msim_memory_picture){0};
}

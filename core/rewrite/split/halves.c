/*
 * core/rewrite/split/halves.c - gradients of inputs and gradients of weights.
 *
 * Operators are looked at from the last to the first, so that whoever reads a
 * result has been looked at before what makes it.
 */
#include "core/rewrite/split/split.h"

#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

struct halving {
    const struct msim_weave *w;
    uint8_t *half;
    uint8_t
        *wanted; /* by life: it is no gradient of weights, by who reads it */
    uint8_t *needed; /* by life: an operator of inputs reads it */
};

/* One tensor, by its number and by how it is read: a change has one number for
 * all views of some memory. */
static bool is_same(const struct msim_trace *t, const struct msim_lives_each *a,
                    const struct msim_lives_each *b)
{
    return t->tensor_ids[a->id - 1].tensor == t->tensor_ids[b->id - 1].tensor &&
           a->arg->layout == b->arg->layout && a->arg->n == b->arg->n &&
           !memcmp(msim_arg_dims(t, a->arg), msim_arg_dims(t, b->arg),
                   a->arg->n * sizeof(int64_t));
}

/* Is a view that `op` makes read behind it in its statement, by operators of
 * weights alone? */
static bool is_read_for_weights(const struct halving *h, uint32_t op)
{
    const struct msim_trace *t = h->w->t;
    const struct msim_lives *l = &h->w->d.lives;
    struct msim_lives_each view = msim_lives_outputs(l, t, op);
    bool any = false;

    if (!msim_lives_next(&view))
        return false;
    for (uint32_t i = t->ops[op].end; i < t->ops[msim_op_topmost(t, op)].end;
         i++) {
        struct msim_lives_each in = msim_lives_inputs(l, t, i);

        while (msim_lives_next(&in)) {
            if (!is_same(t, &view, &in))
                continue;
            if (h->half[i] != MSIM_HALF_WEIGHTS)
                return false;
            any = true;
        }
    }
    return any;
}

/* Does anything behind its statement read what `op` makes on `life`? Of a
 * product somebody does, whether that is recorded or not. */
static bool is_read(const struct halving *h, uint32_t op, uint32_t life)
{
    const struct msim_trace *t = h->w->t;
    uint32_t last = h->w->d.lives.rows[life].last;

    return msim_places_is_product(h->w, op) ||
           msim_op_topmost(t, last) != msim_op_topmost(t, op);
}

/* Does it make what is read, and not by inputs, or change that? What makes
 * nothing and changes nothing is for whoever reads it, and where nobody does
 * for inputs. */
static bool is_for_weights(const struct halving *h, uint32_t op)
{
    const struct msim_lives *l = &h->w->d.lives;
    struct msim_lives_each out = msim_lives_outputs(l, h->w->t, op);
    struct msim_lives_each in = msim_lives_inputs(l, h->w->t, op);
    bool makes = false;

    if (msim_weave_is_in_place(h->w, op) && msim_lives_next(&in))
        return in.life != MSIM_NONE && !h->wanted[in.life];
    while (msim_lives_next(&out)) {
        if (out.life == MSIM_NONE || l->rows[out.life].born != op)
            continue;
        if (h->wanted[out.life])
            return false;
        makes |= is_read(h, op, out.life);
    }
    return makes || is_read_for_weights(h, op);
}

static int64_t elems_made(const struct halving *h, uint32_t op)
{
    struct msim_lives_each out =
        msim_lives_outputs(&h->w->d.lives, h->w->t, op);

    return msim_lives_next(&out) ? (int64_t)msim_arg_elems(h->w->t, out.arg)
                                 : -1;
}

/* Who is of inputs wants all that it reads; who is of weights what it does not
 * only copy. */
static void want(struct halving *h, uint32_t op)
{
    struct msim_lives_each in = msim_lives_inputs(&h->w->d.lives, h->w->t, op);
    bool inputs =
        h->half[op] == MSIM_HALF_INPUTS || msim_places_is_product(h->w, op);
    int64_t made = elems_made(h, op);

    while (msim_lives_next(&in)) {
        if (in.life != MSIM_NONE && h->half[op] == MSIM_HALF_INPUTS)
            h->needed[in.life] = 1;
        if (in.life != MSIM_NONE &&
            (inputs || (int64_t)msim_arg_elems(h->w->t, in.arg) != made))
            h->wanted[in.life] = 1;
    }
}

/* An operator that is one piece of work for both is for inputs, with all that
 * is below it: only nodes of autograd are taken apart. */
static void keep_together(struct halving *h, uint32_t op)
{
    for (uint32_t i = op; i < h->w->t->ops[op].end; i++) {
        h->half[i] = MSIM_HALF_INPUTS;
        want(h, i);
    }
}

/* Gathered rows are for whoever reads them: what comes out of the message is
 * its last tensor. */
static void look_at_gather(struct halving *h, uint32_t op)
{
    const struct msim_op *ops = h->w->t->ops;
    uint32_t at = op, out = MSIM_NONE;
    struct msim_lives_each in;

    while (at < ops[op].end && ops[at].comm == MSIM_NONE)
        at++;
    if (at == ops[op].end)
        return;
    in = msim_lives_inputs(&h->w->d.lives, h->w->t, at);
    while (msim_lives_next(&in))
        out = in.life;
    if (out == MSIM_NONE || h->needed[out])
        keep_together(h, op);
    else
        memset(&h->half[op], MSIM_HALF_WEIGHTS, ops[op].end - op);
}

/* One operator, behind those below it. A message reads what it sends, whatever
 * is below it. */
static void look(struct halving *h, uint32_t op, bool keeps)
{
    const struct msim_op *ops = h->w->t->ops;
    uint8_t below = 0;

    for (uint32_t i = op + 1; i < ops[op].end; i = ops[i].end)
        below |= h->half[i];
    if (keeps)
        h->half[op] = MSIM_HALF_WEIGHTS;
    else if (below)
        h->half[op] = below;
    else
        h->half[op] =
            is_for_weights(h, op) ? MSIM_HALF_WEIGHTS : MSIM_HALF_INPUTS;
    if (h->half[op] == MSIM_HALF_BOTH && msim_weave_begins(h->w, op, "aten::"))
        keep_together(h, op);
    else if ((!below || ops[op].comm != MSIM_NONE) && !keeps)
        want(h, op);
}

static void look_at_pass(struct halving *h, const struct msim_anatomy_pass *p)
{
    const struct msim_anatomy *a = &h->w->a;

    memset(h->wanted, 0, h->w->d.lives.n);
    memset(h->needed, 0, h->w->d.lives.n);
    for (uint32_t s = p->tail; s-- > p->backward;) {
        uint32_t op = a->rows[s].op;

        if (!strcmp(msim_trace_text(h->w->t, h->w->t->ops[op].name),
                    MSIM_EMIT_GATHER)) {
            look_at_gather(h, op);
            continue;
        }
        for (uint32_t i = msim_anatomy_end(a, s); i-- > a->rows[s].op;)
            look(h, i, h->w->gradient[s] != MSIM_NONE);
    }
}

/* What keeps a gradient runs where that is made: a norm makes its own with that
 * of its input. */
static void keep_where_made(struct halving *h, uint32_t s)
{
    const struct msim_weave *w = h->w;
    struct msim_weave_given g;
    uint32_t born;

    if (w->gradient[s] == MSIM_NONE || !msim_weave_find_given(w, s, &g))
        return;
    born = w->d.lives.rows[g.life].born;
    if (born != MSIM_NONE && h->half[born] == MSIM_HALF_INPUTS)
        memset(&h->half[w->a.rows[s].op], MSIM_HALF_INPUTS,
               msim_anatomy_end(&w->a, s) - w->a.rows[s].op);
}

enum msim_status msim_halves_find(const struct msim_weave *w, uint8_t *half)
{
    size_t lives = (size_t)w->d.lives.n + 1;
    struct halving h = {w, half, calloc(lives, 1), calloc(lives, 1)};
    bool room = h.wanted && h.needed;

    memset(half, MSIM_HALF_BOTH, w->t->n_ops);
    for (uint32_t p = 0; p < w->a.n_passes && room; p++)
        look_at_pass(&h, &w->a.passes[p]);
    for (uint32_t s = 0; s < w->a.n && room; s++)
        keep_where_made(&h, s);
    free(h.wanted);
    free(h.needed);
    return room ? MSIM_OK : MSIM_ENOMEM;
}

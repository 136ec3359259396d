/*
 * core/rewrite/split/halves.c - gradients of inputs and gradients of weights.
 *
 * Operators are looked at from the last to the first, so that whoever reads a
 * result has been looked at before what makes it.
 */
#include "core/rewrite/split/halves.h"

#include "core/rewrite/split/places.h"
#include "core/rewrite/weave/emit.h"

#include <stdlib.h>
#include <string.h>

struct halving {
    const struct msim_weave *w;
    uint8_t *half;
    uint8_t
        *wanted; /* by life: it is no gradient of weights, by who reads it */
    uint8_t *needed; /* by life: an operator of inputs reads it */
};

/* Does it make what nothing of inputs reads, or change that? What makes nothing
 * and changes nothing takes no time: it stays with inputs. */
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
        makes = true;
    }
    return makes;
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

enum msim_status msim_halves_find(const struct msim_weave *w, uint8_t *half)
{
    size_t lives = (size_t)w->d.lives.n + 1;
    struct halving h = {w, half, calloc(lives, 1), calloc(lives, 1)};
    bool room = h.wanted && h.needed;

    memset(half, MSIM_HALF_BOTH, w->t->n_ops);
    for (uint32_t p = 0; p < w->a.n_passes && room; p++)
        look_at_pass(&h, &w->a.passes[p]);
    free(h.wanted);
    free(h.needed);
    return room ? MSIM_OK : MSIM_ENOMEM;
}

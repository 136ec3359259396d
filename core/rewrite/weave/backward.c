/*
 * core/rewrite/weave/backward.c - of which block a backward statement is.
 */
#include "core/rewrite/weave/weave.h"

#include <stdlib.h>

/* ---- by numbers ----------------------------------------------------------
 */

/* The block that made sequence number `seq`; NONE: no block. Statements from
 * the last with a number that is not above it on are later ones. `least` has
 * those of the forward pass. */
static uint32_t block_of(const struct msim_anatomy *a,
                         const struct msim_anatomy_pass *p,
                         const int32_t *least, int32_t seq)
{
    for (uint32_t s = p->backward; s-- > p->forward;)
        if (least[s - p->forward] <= seq)
            return a->rows[s].block;
    return MSIM_NONE;
}

static bool is_numbered(const struct msim_anatomy *a,
                        const struct msim_anatomy_pass *p)
{
    for (uint32_t s = p->backward; s < p->tail; s++)
        if (msim_anatomy_sequence(a, s) >= 0)
            return true;
    return false;
}

static enum msim_status place_numbered(struct msim_anatomy *a,
                                       const struct msim_anatomy_pass *p)
{
    size_t n = (size_t)(p->backward - p->forward) + 1;
    int32_t *least = malloc(n * sizeof(*least));
    uint32_t block = MSIM_NONE;

    if (!least)
        return MSIM_ENOMEM;
    for (uint32_t s = p->forward; s < p->backward; s++)
        least[s - p->forward] = msim_anatomy_least_sequence(a, s);
    for (uint32_t s = p->backward; s < p->tail; s++) {
        int32_t seq = msim_anatomy_sequence(a, s);

        if (seq >= 0)
            block = block_of(a, p, least, seq);
        a->rows[s].block = block;
    }
    free(least);
    return MSIM_OK;
}

/* ---- by data -------------------------------------------------------------
 */

/* Where forward names a life, one past the statement; 0: nowhere. */
struct named {
    uint32_t first, last;
    bool made; /* by the first */
    bool sent; /* a collective names it: weights that are gathered ahead */
};

static void note_sent(const struct msim_anatomy *a, uint32_t op,
                      struct named *names)
{
    struct msim_lives_each e = msim_lives_outputs(a->lives, a->t, op);

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && e.arg->n == 1)
            names[e.life].sent = true;
}

static void note_name(struct named *n, uint32_t at, bool made)
{
    n->first = at;
    n->made = made;
    if (!n->last)
        n->last = at;
}

static void note_names(const struct msim_anatomy *a,
                       const struct msim_anatomy_pass *p, struct named *names)
{
    for (uint32_t s = p->backward; s-- > p->forward;)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
            struct msim_lives_each in = msim_lives_inputs(a->lives, a->t, i);
            struct msim_lives_each out = msim_lives_outputs(a->lives, a->t, i);

            if (a->t->ops[i].comm != MSIM_NONE)
                continue;
            while (msim_lives_next(&in))
                if (in.life != MSIM_NONE)
                    note_name(&names[in.life], s + 1, false);
            while (msim_lives_next(&out))
                if (out.life != MSIM_NONE && !names[out.life].sent)
                    note_name(&names[out.life], s + 1, true);
        }
}

/* A weight that is used before and behind a block, such as a table that
 * embedding and head share, does not say which of them reads it. */
static bool is_shared(const struct msim_anatomy *a, const struct named *n)
{
    for (uint32_t s = n->first; !n->made && s < n->last; s++)
        if (a->rows[s].block != a->rows[n->first - 1].block)
            return true;
    return false;
}

/* The last forward statement, plus one, that first names what statement `s`
 * reads; 0: it reads nothing of forward. */
static uint32_t reads_of(const struct msim_anatomy *a,
                         const struct named *names, uint32_t s)
{
    uint32_t last = 0;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++) {
        struct msim_lives_each in = msim_lives_inputs(a->lives, a->t, i);

        if (a->t->ops[i].comm != MSIM_NONE)
            continue; /* weights are gathered ahead */
        while (msim_lives_next(&in))
            if (in.life != MSIM_NONE && names[in.life].first > last &&
                !is_shared(a, &names[in.life]))
                last = names[in.life].first;
    }
    return last;
}

/* One past statement `s`, or past all that follow it of what a block computes
 * again: each by itself may read no more than what the block before made. */
static uint32_t stretch_end(const struct msim_anatomy *a, uint32_t s,
                            uint32_t end)
{
    if (msim_anatomy_is_autograd(a, s))
        return s + 1;
    while (s < end && !msim_anatomy_is_autograd(a, s))
        s++;
    return s;
}

/* Without numbers: what a backward operator reads of forward says where it
 * belongs; they go from the last statement to the first. */
static enum msim_status place_by_data(struct msim_anatomy *a,
                                      const struct msim_anatomy_pass *p)
{
    struct named *names = calloc((size_t)a->lives->n + 1, sizeof(*names));
    uint32_t at = p->backward, end;

    if (!names)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->t->n_ops; i++)
        if (a->t->ops[i].comm != MSIM_NONE)
            note_sent(a, i, names);
    note_names(a, p, names);
    for (uint32_t s = p->backward; s < p->tail; s = end) {
        uint32_t last = 0;

        end = stretch_end(a, s, p->tail);
        for (uint32_t i = s; i < end; i++) {
            uint32_t here = reads_of(a, names, i);

            last = here > last ? here : last;
        }
        if (last && last < at)
            at = last;
        for (uint32_t i = s; i < end; i++)
            a->rows[i].block =
                at > p->forward ? a->rows[at - 1].block : MSIM_NONE;
    }
    free(names);
    return MSIM_OK;
}

enum msim_status msim_anatomy_place_backward(struct msim_anatomy *a,
                                             uint32_t pass)
{
    const struct msim_anatomy_pass *p = &a->passes[pass];

    return is_numbered(a, p) ? place_numbered(a, p) : place_by_data(a, p);
}

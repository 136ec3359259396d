/*
 * core/rewrite/split/expert_lives.c - what of a step is of experts: its memory,
 * its statements.
 */
#include "core/rewrite/split/experts.h"

#include <stdlib.h>
#include <string.h>

uint32_t msim_experts_data_group(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_groups; i++)
        if (t->groups[i].size > 1 &&
            !strncmp(msim_trace_text(t, t->groups[i].name),
                     MSIM_EXPERTS_DATA_GROUP, strlen(MSIM_EXPERTS_DATA_GROUP)))
            return i;
    return MSIM_NONE;
}

bool msim_is_batched_product(const struct msim_trace *t, uint32_t op)
{
    static const char *const NAMES[] = {"aten::bmm", "aten::_grouped_mm",
                                        "aten::_scaled_grouped_mm", NULL};

    for (const char *const *n = NAMES; *n; n++)
        if (!strcmp(*n, msim_trace_text(t, t->ops[op].name)))
            return true;
    return false;
}

struct marking {
    const struct msim_weave *w;
    uint8_t *expert; /* by life */
    uint8_t *at;     /* by place in lists of the operator at hand */
    uint32_t places; /* as many as the longest list has */
    uint64_t elems;  /* of what is marked in no list of it */
    bool more;
};

static void mark(struct marking *m, uint32_t life)
{
    if (life == MSIM_NONE || m->expert[life])
        return;
    m->expert[life] = 1;
    m->more = true;
}

/* ---- parameters and gradients ---------------------------------------------
 */

static void mark_parameters(struct marking *m)
{
    const struct msim_weave *w = m->w;

    for (uint32_t i = 0; i < w->t->n_ops; i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        if (!msim_is_batched_product(w->t, i) || !msim_lives_next(&e) ||
            !msim_lives_next(&e) || e.life == MSIM_NONE || e.arg->n != 3)
            continue;
        if (w->kind[e.life] == MSIM_LIFE_PARAMETER)
            mark(m, e.life);
    }
}

static void mark_gradients(struct marking *m)
{
    const struct msim_weave *w = m->w;

    for (uint32_t s = 0; s < w->a.n; s++) {
        struct msim_weave_given g;
        uint32_t born;

        if (w->gradient[s] == MSIM_NONE || !msim_weave_find_given(w, s, &g))
            continue;
        born = w->d.lives.rows[g.life].born;
        if (born != MSIM_NONE && msim_is_batched_product(w->t, born))
            mark(m, w->gradient[s]);
    }
}

/* ---- the optimizer --------------------------------------------------------
 */

/* Tensors of operator `op` in turn, with the place of each in the list that it
 * is in, NONE: in none. Calls `visit` for each that has a life. */
static void each_tensor(struct marking *m, uint32_t op,
                        void (*visit)(struct marking *, uint32_t life,
                                      uint32_t place, uint64_t elems))
{
    const struct msim_trace *t = m->w->t;
    const struct msim_op *o = &t->ops[op];
    const uint32_t blocks[] = {o->args, o->outs}, ids[] = {o->ids, o->out_ids};

    for (int side = 0; side < 2; side++) {
        uint32_t id = ids[side], left = 0, of = 0;

        for (uint32_t i = 0; blocks[side] != MSIM_NONE && id != MSIM_NONE &&
                             i < t->blocks[blocks[side]].count;
             i++) {
            const struct msim_arg *a =
                &t->args[t->blocks[blocks[side]].first + i];
            uint32_t place = left ? of - left-- : MSIM_NONE;

            if (a->kind == MSIM_ARG_LIST)
                left = of = a->n;
            if (a->kind != MSIM_ARG_TENSOR)
                continue;
            if (m->w->d.lives.of[id] != MSIM_NONE)
                visit(m, m->w->d.lives.of[id], place, msim_arg_elems(t, a));
            id++;
        }
    }
}

static void look(struct marking *m, uint32_t life, uint32_t place,
                 uint64_t elems)
{
    if (m->expert[life] && place != MSIM_NONE)
        m->at[place] = 1;
    else if (m->expert[life] && elems > 1)
        m->elems = elems;
}

static void spread(struct marking *m, uint32_t life, uint32_t place,
                   uint64_t elems)
{
    if (place != MSIM_NONE ? m->at[place] : elems == m->elems)
        mark(m, life);
}

static void mark_states(struct marking *m)
{
    const struct msim_weave *w = m->w;

    for (uint32_t s = 0; s < w->a.n; s++) {
        if (w->a.rows[s].role != MSIM_ANATOMY_OPTIMIZER)
            continue;
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            memset(m->at, 0, m->places);
            m->elems = 0;
            each_tensor(m, i, look);
            each_tensor(m, i, spread);
        }
    }
}

static uint32_t longest_list(const struct msim_trace *t)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_LIST && t->args[i].n > most)
            most = t->args[i].n;
    return most;
}

enum msim_status msim_expert_lives_find(uint8_t **out,
                                        const struct msim_weave *w)
{
    struct marking m = {.w = w,
                        .expert = calloc((size_t)w->d.lives.n + 1, 1),
                        .places = longest_list(w->t) + 1};

    m.at = calloc(m.places, 1);
    *out = m.expert;
    if (!m.expert || !m.at) {
        free(m.expert);
        free(m.at);
        *out = NULL;
        return MSIM_ENOMEM;
    }
    mark_parameters(&m);
    mark_gradients(&m);
    do {
        m.more = false;
        mark_states(&m);
    } while (m.more);
    free(m.at);
    return MSIM_OK;
}

/* ---- regions -------------------------------------------------------------
 */

static bool has_product(const struct msim_weave *w, const uint8_t *product,
                        uint32_t s)
{
    const struct msim_anatomy *a = &w->a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
        if (product[i])
            return true;
    return false;
}

/* Another layer's, where blocks are not known? */
static bool has_attention(const struct msim_weave *w, uint32_t from,
                          uint32_t to)
{
    const struct msim_anatomy *a = &w->a;

    for (uint32_t s = from; s < to; s++)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
            if (msim_weave_contains(w, i, "attention"))
                return true;
    return false;
}

static bool goes_on(const struct msim_weave *w,
                    const struct msim_expert_region *r, uint32_t s)
{
    const struct msim_anatomy_statement *a = &w->a.rows[r->last],
                                        *b = &w->a.rows[s];

    return a->pass == b->pass && a->role == b->role && a->block == b->block &&
           r->back == msim_anatomy_is_autograd(&w->a, s) &&
           !has_attention(w, r->last, s);
}

static uint32_t statement_of(const struct msim_weave *w, uint32_t op)
{
    uint32_t top = op == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, op);

    return top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];
}

uint32_t msim_expert_maker(const struct msim_weave *w, uint32_t life)
{
    return statement_of(w, w->d.lives.rows[life].born);
}

bool msim_expert_region_makes(const struct msim_weave *w,
                              const struct msim_expert_region *r, uint32_t life)
{
    uint32_t s = life == MSIM_NONE ? MSIM_NONE : msim_expert_maker(w, life);

    return s != MSIM_NONE && s >= r->first && s <= r->last;
}

/* Sums of what products of the region made, as of two layers that read one
 * tensor, are of it. */
static bool adds_up(const struct msim_weave *w,
                    const struct msim_expert_region *r, uint32_t s)
{
    uint32_t op = w->a.rows[s].op, n = 0;
    struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, op);

    if (!msim_weave_begins(w, op, "aten::add"))
        return false;
    for (; msim_lives_next(&e); n++)
        if (!msim_expert_region_makes(w, r, e.life))
            return false;
    return n > 1;
}

static void find_regions(struct msim_expert_regions *x,
                         const struct msim_weave *w, const uint8_t *product)
{
    struct msim_expert_region *r = NULL;

    for (uint32_t s = 0; s < w->a.n; s++) {
        if (w->a.rows[s].pass == MSIM_NONE ||
            w->a.rows[s].role > MSIM_ANATOMY_BACKWARD ||
            !has_product(w, product, s))
            continue;
        if (!r || !goes_on(w, r, s)) {
            r = &x->of[x->n++];
            *r = (struct msim_expert_region){
                .first = s, .back = msim_anatomy_is_autograd(&w->a, s)};
        }
        r->last = s;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        r = &x->of[i];
        while (r->last + 1 < w->a.n && adds_up(w, r, r->last + 1))
            r->last++;
        for (uint32_t s = r->first; s <= r->last; s++)
            x->at[s] = i;
    }
}

enum msim_status msim_expert_regions_find(struct msim_expert_regions *x,
                                          const struct msim_weave *w,
                                          const uint8_t *product)
{
    size_t n = (size_t)w->a.n + 1;

    x->n = 0;
    x->of = calloc(n, sizeof(*x->of));
    x->at = malloc(n * sizeof(*x->at));
    if (!x->of || !x->at)
        return MSIM_ENOMEM;
    memset(x->at, 0xff, n * sizeof(*x->at));
    find_regions(x, w, product);
    return MSIM_OK;
}

void msim_expert_regions_release(struct msim_expert_regions *x)
{
    free(x->of);
    free(x->at);
    *x = (struct msim_expert_regions){0};
}

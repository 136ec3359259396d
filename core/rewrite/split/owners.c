/*
 * core/rewrite/split/owners.c - of which place the tensors of an optimizer's
 * step are.
 */
#include "core/rewrite/split/split.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS                                                                 \
    8 /* until what is known goes through a step: few operators                \
         stand between a state and its parameter */

/* ---- tensors of an operator ----------------------------------------------
 */

/* One tensor of an operator: its index in its list, from 0; NONE: in none. */
struct member {
    uint32_t life, index, list; /* how many the list has */
    const struct msim_arg *arg;
};

/* The tensors of one side in turn. */
struct members {
    struct msim_lives_each e;
    const struct msim_arg *at; /* the next argument that is no tensor of a list
                                  that was begun */
    uint32_t left, list;
};

static struct members members_of(struct msim_lives_each e)
{
    return (struct members){.e = e, .at = e.next};
}

static bool is_list(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_LIST && a->n && a->v.i == (int64_t)a->n &&
           a[1].kind == MSIM_ARG_TENSOR;
}

static bool next_member(struct members *m, struct member *out)
{
    if (!msim_lives_next(&m->e))
        return false;
    while (m->at < m->e.arg) {
        if (!m->left && is_list(m->at))
            m->left = m->list = m->at->n;
        m->at++;
    }
    *out = (struct member){m->e.life, MSIM_NONE, 0, m->e.arg};
    if (m->left) {
        out->index = m->list - m->left--;
        out->list = m->list;
    }
    m->at = m->e.arg + 1;
    return true;
}

/* ---- what is known of the start ------------------------------------------
 */

static uint32_t pair_of(struct msim_owners *o, uint32_t a, uint32_t b)
{
    uint32_t i = 0;

    while (i < o->n_pairs && (o->pairs[i][0] != a || o->pairs[i][1] != b))
        i++;
    if (i == MSIM_OWNER_PAIRS)
        return MSIM_OWNED_BY_ALL;
    if (i == o->n_pairs) {
        o->pairs[i][0] = a;
        o->pairs[i][1] = b;
        o->n_pairs++;
    }
    return MSIM_OWNED_BY_PAIRS + i;
}

static bool is_pair(uint32_t owner)
{
    return owner >= MSIM_OWNED_BY_PAIRS && owner < MSIM_OWNED_BY_ALL;
}

static bool is_in(const struct msim_owners *o, uint32_t owner, uint32_t place)
{
    return owner == place ||
           (is_pair(owner) &&
            (o->pairs[owner - MSIM_OWNED_BY_PAIRS][0] == place ||
             o->pairs[owner - MSIM_OWNED_BY_PAIRS][1] == place));
}

static void own(struct msim_owners *o, uint32_t life, uint32_t place)
{
    uint32_t is = life == MSIM_NONE ? MSIM_NONE : o->of[life];

    if (life == MSIM_NONE || is_in(o, is, place))
        return;
    if (is == MSIM_NONE)
        o->of[life] = place;
    else if (is < MSIM_OWNED_BY_PAIRS)
        o->of[life] =
            is < place ? pair_of(o, is, place) : pair_of(o, place, is);
    else
        o->of[life] = MSIM_OWNED_BY_ALL;
}

static void note_forward(struct msim_owners *o, uint32_t s)
{
    const struct msim_weave *w = o->p->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && w->kind[e.life] == MSIM_LIFE_PARAMETER)
                own(o, e.life, o->p->of[s]);
    }
}

static void begin(struct msim_owners *o)
{
    const struct msim_weave *w = o->p->w;

    for (uint32_t s = 0; s < w->a.n; s++) {
        if (o->p->of[s] == MSIM_NONE)
            continue;
        if (w->a.rows[s].role == MSIM_ANATOMY_FORWARD)
            note_forward(o, s);
        if (w->gradient[s] != MSIM_NONE)
            own(o, w->gradient[s], o->p->of[s]);
    }
    for (uint32_t i = 0; i < o->p->n_tied; i++)
        own(o, o->p->tied[i].gradient, o->p->tied[i].from);
}

/* ---- from one tensor to those beside it ----------------------------------
 */

static bool is_of_step(const struct msim_weave *w, uint32_t s)
{
    return w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER ||
           w->a.rows[s].role == MSIM_ANATOMY_TAIL;
}

/* How many the longest list that `op` is given has. */
static uint32_t longest_list(const struct msim_owners *o, uint32_t op)
{
    const struct msim_weave *w = o->p->w;
    struct members m = members_of(msim_lives_inputs(&w->d.lives, w->t, op));
    struct member x;
    uint32_t most = 0;

    while (next_member(&m, &x))
        most = x.list > most ? x.list : most;
    return most;
}

/* Does tensor `x` of an operator say whose it is? A number in no list,
 * such as a learning rate, is everybody's. */
static bool says(const struct msim_weave *w, const struct member *x)
{
    return x->life != MSIM_NONE &&
           (x->index != MSIM_NONE || msim_arg_elems(w->t, x->arg) > 1);
}

static struct members side_of(const struct msim_owners *o, uint32_t op,
                              int side)
{
    const struct msim_weave *w = o->p->w;

    return members_of(side ? msim_lives_outputs(&w->d.lives, w->t, op)
                           : msim_lives_inputs(&w->d.lives, w->t, op));
}

/* Where the owner of what stands beside `x` in its operator is kept. */
static uint32_t *seat(struct msim_owners *o, const struct member *x)
{
    return x->index == MSIM_NONE ? &o->alone : &o->row[x->index];
}

/* Who owns what is at each index of the lists of `op`, and what is in none: the
 * first of which it is known. Returns how long its lists are. */
static uint32_t look(struct msim_owners *o, uint32_t op)
{
    uint32_t n = longest_list(o, op);

    memset(o->row, 0xff, n * sizeof(*o->row));
    o->alone = MSIM_NONE;
    for (int side = 0; side < 2; side++) {
        struct members m = side_of(o, op, side);
        struct member x;

        while (next_member(&m, &x))
            if (says(o->p->w, &x) && x.list <= n && *seat(o, &x) == MSIM_NONE)
                *seat(o, &x) = o->of[x.life];
    }
    return n;
}

static bool spread_op(struct msim_owners *o, uint32_t op)
{
    uint32_t n = look(o, op);
    bool any = false;

    for (int side = 0; side < 2; side++) {
        struct members m = side_of(o, op, side);
        struct member x;

        while (next_member(&m, &x)) {
            if (!says(o->p->w, &x) || x.list > n ||
                o->of[x.life] != MSIM_NONE || *seat(o, &x) == MSIM_NONE)
                continue;
            o->of[x.life] = *seat(o, &x);
            any = true;
        }
    }
    return any;
}

static void spread(struct msim_owners *o)
{
    const struct msim_weave *w = o->p->w;
    bool any = true;

    for (int round = 0; round < ROUNDS && any; round++) {
        any = false;
        for (uint32_t s = 0; s < w->a.n; s++)
            for (uint32_t i = w->a.rows[s].op;
                 is_of_step(w, s) && i < msim_anatomy_end(&w->a, s); i++)
                any |= spread_op(o, i);
    }
}

/* ---- statements ----------------------------------------------------------
 */

/* The place of a statement without lists: that of what it names. */
static uint32_t place_alone(struct msim_owners *o, uint32_t s, bool *open)
{
    const struct msim_weave *w = o->p->w;
    uint32_t owner = MSIM_NONE;

    *open = true;
    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        if (look(o, i))
            *open = false;
        if (owner == MSIM_NONE)
            owner = o->alone;
    }
    return owner;
}

/* Numbers, such as the count of steps of one parameter, stand before what they
 * are used for. */
static void place_statements(struct msim_owners *o)
{
    const struct msim_weave *w = o->p->w;
    uint32_t next = MSIM_NONE;

    for (uint32_t s = w->a.n; s-- > 0;) {
        bool open;

        if (!is_of_step(w, s)) {
            next = MSIM_NONE;
            continue;
        }
        o->statement[s] = place_alone(o, s, &open);
        if (!open) {
            o->statement[s] = next = MSIM_NONE;
            continue;
        }
        if (o->statement[s] == MSIM_NONE)
            o->statement[s] = next;
        next = o->statement[s];
    }
}

enum msim_status msim_owners_find(struct msim_owners *o,
                                  const struct msim_places *p)
{
    const struct msim_weave *w = p->w;
    size_t lives = (size_t)w->d.lives.n + 1, statements = (size_t)w->a.n + 1;
    uint32_t most = 0;

    *o = (struct msim_owners){.p = p};
    for (uint32_t i = 0; i < w->t->n_ops; i++)
        most = longest_list(o, i) > most ? longest_list(o, i) : most;
    o->of = malloc(lives * sizeof(*o->of));
    o->statement = malloc(statements * sizeof(*o->statement));
    o->kept = malloc((size_t)most + 1);
    o->row = malloc(((size_t)most + 1) * sizeof(*o->row));
    if (!o->of || !o->statement || !o->kept || !o->row)
        return MSIM_ENOMEM;
    memset(o->of, 0xff, lives * sizeof(*o->of));
    memset(o->statement, 0xff, statements * sizeof(*o->statement));
    begin(o);
    spread(o);
    place_statements(o);
    return MSIM_OK;
}

void msim_owners_release(struct msim_owners *o)
{
    free(o->of);
    free(o->statement);
    free(o->kept);
    free(o->row);
    *o = (struct msim_owners){0};
}

/* ---- copies --------------------------------------------------------------
 */

static bool is_own(const struct msim_owners *o, uint32_t owner, uint32_t stages,
                   uint32_t stage)
{
    const uint32_t *pair;

    if (owner >= MSIM_OWNED_BY_ALL)
        return true;
    if (!is_pair(owner))
        return owner % stages == stage;
    pair = o->pairs[owner - MSIM_OWNED_BY_PAIRS];
    return pair[0] % stages == stage || pair[1] % stages == stage;
}

/* Is a part of the lists of `op` the stage's own? Where it has none: is what it
 * names? */
static bool mark(struct msim_owners *o, uint32_t op, uint32_t stages,
                 uint32_t stage, uint32_t *n)
{
    bool any = false;

    *n = look(o, op);
    for (uint32_t i = 0; i < *n; i++) {
        o->kept[i] = is_own(o, o->row[i], stages, stage);
        any |= o->kept[i] != 0;
    }
    return *n ? any : is_own(o, o->alone, stages, stage);
}

enum msim_status msim_owners_copy(struct msim_owners *o, uint32_t s,
                                  uint32_t stages, uint32_t stage)
{
    struct msim_weave *w = o->p->w;
    uint32_t top = w->a.rows[s].op;

    if (!is_own(o, o->statement[s], stages, stage))
        return MSIM_OK;
    for (uint32_t i = top; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_draft_how how = {.at = msim_draft_own_place(&w->d, i)};

        if (!mark(o, i, stages, stage, &how.n_kept)) {
            i = w->t->ops[i].end - 1;
            continue;
        }
        how.kept = how.n_kept ? o->kept : NULL;
        MSIM_TRY(msim_draft_copy(&w->d, i, &how));
    }
    return MSIM_OK;
}

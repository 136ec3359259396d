/*
 * core/rewrite/split/joined.c - larger shares of fewer ranks.
 *
 * Heads, the inside of MLPs and the vocabulary are shares; so are rows that
 * ranks exchange: in a gathering those that go in, in a scattering those that
 * come out. All other sizes follow (core/sizes).
 */
#include "core/rewrite/split/split.h"

#include "core/rewrite/split/experts.h"
#include "core/rewrite/split/split_internal.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

struct joining {
    const struct msim_trace *t;
    struct msim_resizing r;
    struct msim_expert_sizes x;
    uint32_t group, ratio;
    bool alone; /* one rank remains */
};

static bool is_theirs(const struct joining *c, uint32_t op)
{
    uint32_t comm = c->t->ops[op].comm;

    return comm != MSIM_NONE && c->t->comms[comm].group == c->group;
}

/* ---- sizes ---------------------------------------------------------------
 */

/* The tensors of an exchange with least and most elements. */
static bool ends_of(const struct msim_trace *t, const struct msim_lives *lives,
                    uint32_t op, struct msim_lives_each *small,
                    struct msim_lives_each *large)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (int out = 0; out < 2; out++) {
        struct msim_lives_each e = out ? msim_lives_outputs(lives, t, op)
                                       : msim_lives_inputs(lives, t, op);

        while (msim_lives_next(&e)) {
            uint64_t n = msim_arg_elems(t, e.arg);

            if (n < least) {
                *small = e;
                least = n;
            }
            if (n > most) {
                *large = e;
                most = n;
            }
        }
    }
    return least < most;
}

static void set_rows(struct joining *c, uint32_t id)
{
    uint32_t k = msim_size_class_of(&c->r.sizes, id, 0);

    if (k != MSIM_NONE)
        c->r.to[k] = c->r.sizes.classes[k].size * c->ratio;
}

/* The rows that each rank has of what all exchange, and the memory that was
 * made for them. */
static void scale_rows(struct joining *c, uint32_t op)
{
    const struct msim_lives *lives = &c->r.sizes.lives;
    struct msim_lives_each small, large, made;
    uint32_t born;

    if (!ends_of(c->t, lives, op, &small, &large) || !small.arg->n)
        return;
    set_rows(c, small.id - 1);
    born = small.life == MSIM_NONE ? MSIM_NONE : lives->rows[small.life].born;
    if (born == MSIM_NONE || c->t->ops[born].parent != c->t->ops[op].parent)
        return;
    made = msim_lives_outputs(lives, c->t, born);
    if (msim_lives_next(&made) && made.life == small.life)
        set_rows(c, made.id - 1);
}

/* One head of keys and values beside several of queries may be a share, or all
 * that there are: a size of one says nothing. */
static enum msim_status check_one_head(const struct joining *c,
                                       struct msim_error *err)
{
    for (uint32_t i = 0; i < c->t->n_ops; i++) {
        struct msim_lives_each e =
            msim_lives_inputs(&c->r.sizes.lives, c->t, i);
        const char *name = msim_trace_text(c->t, c->t->ops[i].name);
        int64_t heads[2] = {0};

        for (int k = 0; k < 2 && strstr(name, "dot_product") &&
                        msim_lives_next(&e) && e.arg->n == 4;
             k++)
            heads[k] = msim_arg_dims(c->t, e.arg)[1];
        if (heads[0] > 1 && heads[1] == 1)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "operator %u, %s, has one head of keys and "
                             "values, which may be a share or all of them",
                             i, name);
    }
    return MSIM_OK;
}

/* What they exchange is no more as many times a share as there were ranks. */
static void untie(struct joining *c)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < c->r.sizes.n_ties; i++)
        if (!is_theirs(c, c->r.sizes.ties[i].op))
            c->r.sizes.ties[kept++] = c->r.sizes.ties[i];
    c->r.sizes.n_ties = kept;
}

/* Experts are whole on each rank, and have the tokens of more ranks; or shared
 * out, and have those of all. */
static enum msim_status scale_experts(struct joining *c, struct msim_error *err)
{
    int64_t rows, inside;
    bool split;

    MSIM_TRY(msim_expert_sizes_told(&c->x, err));
    MSIM_TRY(msim_expert_sizes_are_split(&split, &c->x, c->group));
    if (c->x.op != MSIM_NONE && !split &&
        msim_experts_data_group(c->t) != MSIM_NONE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "ranks have whole experts, whose gradients tensor "
                         "parallel ones may reduce, too; want the trace of one "
                         "that is trained alone");
    rows = split ? 1 : c->ratio;
    inside = split ? c->ratio : 1;
    MSIM_TRY(
        msim_expert_sizes_scale(&c->x, MSIM_EXPERT_COUNT, 1, 1, c->r.to, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_INSIDE, inside, 1,
                                     c->r.to, err));
    MSIM_TRY(
        msim_expert_sizes_scale(&c->x, MSIM_EXPERT_WIDTH, 1, 1, c->r.to, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_EACH, rows, 1, c->r.to,
                                     err));
    return msim_expert_sizes_scale(&c->x, MSIM_EXPERT_ROWS, rows, 1, c->r.to,
                                   err);
}

static enum msim_status scale(struct joining *c, struct msim_error *err)
{
    static const struct {
        enum msim_size_role role;
        bool share;
    } ROLES[] = {{MSIM_SIZE_HEADS, true},     {MSIM_SIZE_KV_HEADS, true},
                 {MSIM_SIZE_FFN, true},       {MSIM_SIZE_VOCAB, true},
                 {MSIM_SIZE_HIDDEN, false},   {MSIM_SIZE_HEAD_SIZE, false},
                 {MSIM_SIZE_INNER, false},    {MSIM_SIZE_BATCH, false},
                 {MSIM_SIZE_SEQUENCE, false}, {MSIM_SIZE_TOKENS, false}};
    uint32_t n[MSIM_SIZE_ROLES];

    for (size_t i = 0; i < sizeof(ROLES) / sizeof(*ROLES); i++)
        MSIM_TRY(msim_sizes_scale(&c->r.sizes, ROLES[i].role,
                                  ROLES[i].share ? c->ratio : 1, 1, c->r.to,
                                  &n[ROLES[i].role], err));
    if (!n[MSIM_SIZE_HEADS] || !n[MSIM_SIZE_VOCAB] ||
        (!n[MSIM_SIZE_FFN] && c->x.op == MSIM_NONE))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "operators of the trace say of %u sizes that they are "
                         "heads, of %u the inside of an MLP, of %u the "
                         "vocabulary; want all three, which may be shares",
                         n[MSIM_SIZE_HEADS], n[MSIM_SIZE_FFN],
                         n[MSIM_SIZE_VOCAB]);
    MSIM_TRY(scale_experts(c, err));
    MSIM_TRY(check_one_head(c, err));
    for (uint32_t i = 0; i < c->t->n_ops; i++)
        if (is_theirs(c, i))
            scale_rows(c, i);
    untie(c);
    return msim_sizes_solve(&c->r.sizes, c->r.to, err);
}

/* What goes in and comes out is as large as its tensors. */
static void size_messages(struct joining *c)
{
    for (uint32_t i = 0; i < c->r.view->n_comms; i++) {
        struct msim_comm *m = &c->r.view->comms[i];
        struct msim_lives_each small, large;
        bool gathers = m->collective == MSIM_COLL_ALL_GATHER;
        uint64_t most, least;

        if (m->op == MSIM_NONE || !is_theirs(c, m->op) ||
            !ends_of(c->t, &c->r.sizes.lives, m->op, &small, &large))
            continue;
        most = msim_arg_elems(c->t, large.arg);
        least = msim_arg_elems(c->t, small.arg) * c->ratio;
        m->in_elems = gathers ? least : most;
        m->out_elems = gathers ? most : least;
    }
}

/* ---- statements ----------------------------------------------------------
 */

/* One rank has what it would exchange: what comes out is what goes in. */
static void let_be(struct joining *c, uint32_t op)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_lives_each small, large;
    bool gathers =
        c->t->comms[c->t->ops[op].comm].collective == MSIM_COLL_ALL_GATHER;

    if (!ends_of(c->t, &d->lives, op, &small, &large) ||
        small.life == MSIM_NONE || large.life == MSIM_NONE)
        return;
    if (gathers)
        d->storage[large.life] = d->storage[small.life];
    else
        d->storage[small.life] = d->storage[large.life];
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct joining *c = ctx;
    struct msim_weave *w = &c->r.w;
    uint32_t end = msim_anatomy_end(&w->a, s), first = w->a.rows[s].op;
    bool any = false;

    /* Which ranks a group has is another list now, which writers of traces
     * write where no operator has one. */
    if (msim_weave_begins(w, first, "## process_group:init"))
        return MSIM_OK;
    for (uint32_t i = first; i < end && c->alone; i++)
        any |= is_theirs(c, i);
    if (!any)
        return msim_weave_copy(w, s);
    for (uint32_t i = first; i < end; i++) {
        if (msim_weave_begins(w, i, "aten::") && msim_places_is_product(w, i))
            return msim_weave_refuse(
                w, "what ranks exchange stands inside of operator %u, %s", i,
                msim_trace_text(w->t, w->t->ops[first].name));
        if (is_theirs(c, i) &&
            c->t->comms[c->t->ops[i].comm].collective != MSIM_COLL_WAIT)
            let_be(c, i);
    }
    return MSIM_OK;
}

/* ---- ranks ---------------------------------------------------------------
 */

/* Tensor parallel ranks follow each other: one stands for `ratio`. */
static void number_ranks(struct joining *c)
{
    struct msim_trace *o = c->r.w.d.out;
    struct msim_group *g = &o->groups[c->group];

    for (uint32_t i = 0; i < o->n_group_ranks; i++)
        o->group_ranks[i] /= (int32_t)c->ratio;
    for (uint32_t i = 0; i < o->n_groups; i++)
        if (i != c->group && o->world_size > 1 &&
            o->groups[i].size == o->world_size && !o->groups[i].count)
            o->groups[i].size /= c->ratio; /* of all ranks */
    g->size /= c->ratio;
    if (g->count)
        g->count = g->size;
    for (uint32_t i = 0; i < g->count; i++)
        o->group_ranks[g->first + i] = o->group_ranks[g->first] + (int32_t)i;
    if (o->rank > 0)
        o->rank /= c->ratio;
    if (o->world_size > 1)
        o->world_size /= c->ratio;
}

static enum msim_status join(struct joining *c, struct msim_strtab *strings,
                             struct msim_trace **out, struct msim_error *err)
{
    if (msim_has_messages(c->t))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "the trace is of one stage of a pipeline (it sends "
                         "and receives), which has some of the layers; want "
                         "one of all");
    MSIM_TRY(msim_resizing_learn(&c->r, c->t, err));
    MSIM_TRY(msim_expert_sizes_find(&c->x, &c->r.sizes));
    MSIM_TRY(scale(c, err));
    MSIM_TRY(msim_resized_new(&c->r.view, &c->r.sizes, c->r.to));
    size_messages(c);
    MSIM_TRY(msim_weave_open_forward(&c->r.w, c->r.view, strings, err));
    number_ranks(c);
    MSIM_TRY(msim_weave_walk(&c->r.w, c, visit));
    return msim_weave_finish(&c->r.w, out);
}

enum msim_status msim_joined_new(struct msim_trace **out,
                                 const struct msim_trace *t,
                                 struct msim_strtab *strings, uint32_t ratio,
                                 struct msim_error *err)
{
    struct joining c = {
        .t = t, .ratio = ratio, .group = msim_shares_recorded_group(t)};
    struct msim_error why = {0};
    enum msim_status status;

    *out = NULL;
    c.alone = t->groups[c.group].size == ratio;
    status = join(&c, strings, out, &why);
    msim_expert_sizes_release(&c.x);
    return msim_resizing_end(&c.r, status, "parallel.tp is less than recorded",
                             &why, err);
}

/*
 * core/rewrite/split/experts_joined.c - more experts a rank.
 */
#include "core/rewrite/split/experts.h"

#include "core/base/containers.h"
#include "core/rewrite/split/split_internal.h"
#include "core/rewrite/weave/weave.h"

#include <stdlib.h>
#include <string.h>

struct joining {
    const struct msim_trace *t;
    struct msim_resizing r;
    struct msim_expert_sizes x;
    uint32_t group;  /* that exchanges rows */
    uint32_t copies; /* that has the same experts; NONE: nobody has */
    uint32_t ratio;
    bool alone;     /* one rank has all experts */
    uint8_t *other; /* by life: what rows are exchanged into */
};

static bool is_of(const struct msim_trace *t, uint32_t op, uint32_t group)
{
    uint32_t comm = t->ops[op].comm;

    return comm != MSIM_NONE && t->comms[comm].group == group;
}

/* ---- what is recorded -----------------------------------------------------
 */

static uint32_t exchanging(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].collective == MSIM_COLL_ALL_TO_ALL &&
            t->comms[i].group != MSIM_NONE)
            return t->comms[i].group;
    return MSIM_NONE;
}

enum msim_status msim_experts_recorded_ranks(uint32_t *out,
                                             const struct msim_trace *t)
{
    uint32_t group = exchanging(t);
    struct msim_expert_sizes x = {0};
    struct msim_sizes s = {0};
    enum msim_status status;

    *out = 0;
    if (group == MSIM_NONE || t->groups[group].size < 2)
        return MSIM_OK;
    status = msim_sizes_learn(&s, t, NULL);
    if (status == MSIM_OK)
        status = msim_expert_sizes_find(&x, &s);
    if (status == MSIM_OK && (x.op != MSIM_NONE || x.single != MSIM_NONE))
        *out = t->groups[group].size;
    msim_expert_sizes_release(&x);
    msim_sizes_release(&s);
    /* without ids: whoever needs them says so */
    return status == MSIM_EUSAGE ? MSIM_OK : status;
}

static uint32_t end_of_step(const struct msim_trace *t)
{
    uint32_t end = MSIM_NONE;

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (!strncmp(msim_trace_text(t, t->ops[i].name), "Optimizer.step", 14))
            end = t->ops[i].end;
    return end;
}

/* Ranks that share out states gather parameters behind the step. More ranks
 * with the same experts would share these out, too. */
static enum msim_status check_shares(const struct joining *c,
                                     struct msim_error *err)
{
    uint32_t end = end_of_step(c->t);

    for (uint32_t i = 0; i < c->t->n_comms; i++) {
        const struct msim_comm *m = &c->t->comms[i];

        if (m->collective == MSIM_COLL_ALL_GATHER && m->op != MSIM_NONE &&
            end != MSIM_NONE && m->op >= end)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "ranks share out states, and gather parameters "
                             "behind the step (operator %u); want ranks that "
                             "have all states of their own",
                             m->op);
    }
    return MSIM_OK;
}

/* ---- sizes ----------------------------------------------------------------
 */

/* What copies reduce, where it is memory of its own, is as much larger. */
static void scale_sums(struct joining *c, uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&c->r.sizes.lives, c->t, op);

    while (msim_lives_next(&e)) {
        uint32_t k = e.arg->n == 1
                         ? msim_size_class_of(&c->r.sizes, e.id - 1, 0)
                         : MSIM_NONE;

        if (k != MSIM_NONE && e.life != MSIM_NONE &&
            c->r.sizes.lives.rows[e.life].born != MSIM_NONE &&
            strstr(
                msim_trace_text(
                    c->t, c->t->ops[c->r.sizes.lives.rows[e.life].born].name),
                "empty"))
            c->r.to[k] = c->r.sizes.classes[k].size * c->ratio;
    }
}

/* Rows that tensor parallel ranks gather behind an exchange would be tokens
 * without one. */
static enum msim_status check_split(const struct joining *c,
                                    struct msim_error *err)
{
    bool rows, split = false;

    if (c->alone && msim_shares_recorded_ranks(c->t, &rows) > 1)
        MSIM_TRY(msim_expert_sizes_are_split(&split, &c->x,
                                             msim_shares_recorded_group(c->t)));
    return split ? msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "tensor parallel ranks share each expert, and "
                             "gather what they were sent; want \"ep\" above 1, "
                             "or the trace of one that is trained alone")
                 : MSIM_OK;
}

static enum msim_status scale(struct joining *c, struct msim_error *err)
{
    uint32_t n, one = c->x.single;

    if (one != MSIM_NONE)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "operator %u, %s, multiplies by the weights of one "
                         "expert, which no size says; want ranks with several",
                         one, msim_trace_text(c->t, c->t->ops[one].name));
    MSIM_TRY(check_shares(c, err));
    MSIM_TRY(check_split(c, err));
    for (int role = MSIM_SIZE_NONE + 1; role < MSIM_SIZE_ROLES; role++)
        MSIM_TRY(msim_sizes_scale(&c->r.sizes, (enum msim_size_role)role, 1, 1,
                                  c->r.to, &n, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_COUNT, c->ratio, 1,
                                     c->r.to, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_EACH, 1, c->ratio,
                                     c->r.to, err));
    MSIM_TRY(
        msim_expert_sizes_scale(&c->x, MSIM_EXPERT_ROWS, 1, 1, c->r.to, err));
    for (uint32_t i = 0; i < c->t->n_ops && c->copies != MSIM_NONE; i++)
        if (is_of(c->t, i, c->copies))
            scale_sums(c, i);
    return msim_sizes_solve(&c->r.sizes, c->r.to, err);
}

/* ---- statements -----------------------------------------------------------
 */

/* What goes in, and the last other tensor: what comes out. */
static bool ends_of(const struct joining *c, uint32_t op, uint32_t *from,
                    uint32_t *to)
{
    const struct msim_lives *l = &c->r.w.d.lives;

    *from = *to = MSIM_NONE;
    for (int out = 0; out < 2; out++) {
        struct msim_lives_each e = out ? msim_lives_outputs(l, c->r.w.t, op)
                                       : msim_lives_inputs(l, c->r.w.t, op);

        while (msim_lives_next(&e)) {
            if (e.life == MSIM_NONE)
                continue;
            if (*from == MSIM_NONE)
                *from = e.life;
            else if (e.life != *from)
                *to = e.life;
        }
    }
    return *to != MSIM_NONE;
}

static bool exchanges(const struct joining *c, uint32_t op)
{
    return is_of(c->t, op, c->group) &&
           c->t->comms[c->t->ops[op].comm].collective != MSIM_COLL_WAIT;
}

static void find_others(struct joining *c)
{
    uint32_t from, to;

    for (uint32_t i = 0; i < c->t->n_ops; i++)
        if (exchanges(c, i) && ends_of(c, i, &from, &to))
            c->other[to] = 1;
}

/* Is it of the exchange, or the memory for one? */
static bool is_left_out(const struct joining *c, uint32_t s)
{
    const struct msim_weave *w = &c->r.w;
    uint32_t first = w->a.rows[s].op;
    struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, first);

    for (uint32_t i = first; i < msim_anatomy_end(&w->a, s); i++)
        if (is_of(c->t, i, c->group))
            return true;
    return msim_weave_begins(w, first, "aten::empty") && msim_lives_next(&e) &&
           e.life != MSIM_NONE && c->other[e.life];
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct joining *c = ctx;
    struct msim_weave *w = &c->r.w;
    uint32_t first = w->a.rows[s].op, from, to;

    /* groups are others now, and listed by whoever writes the trace */
    if (msim_weave_begins(w, first, "## process_group:init"))
        return MSIM_OK;
    if (!c->alone || !is_left_out(c, s))
        return msim_weave_copy(w, s);
    for (uint32_t i = first; i < msim_anatomy_end(&w->a, s); i++)
        if (exchanges(c, i) && ends_of(c, i, &from, &to))
            w->d.storage[to] = w->d.storage[from];
    return MSIM_OK;
}

/* ---- ranks ----------------------------------------------------------------
 */

/* How far ranks of the group that exchanges are apart. */
static int64_t apart(const struct joining *c)
{
    const struct msim_group *g = &c->t->groups[c->group];
    const int32_t *ranks = c->t->group_ranks + g->first;

    return g->count > 1 ? ranks[1] - ranks[0] : 1;
}

/* Groups are listed anew: fewer exchange, more have the same experts. */
static enum msim_status begin_ranks(struct joining *c)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_trace *o = d->out;
    uint32_t left = c->t->groups[c->group].size / c->ratio, made;
    uint32_t same = c->copies == MSIM_NONE ? 1 : c->t->groups[c->copies].size;
    int64_t rank = o->rank < 0 ? 0 : o->rank, step = apart(c);

    MSIM_TRY(msim_draft_add_group(d, "expert", left, rank, step, &made));
    o->groups[c->group] = o->groups[made];
    o->n_groups = made;
    MSIM_TRY(msim_draft_add_group(d, MSIM_EXPERTS_DATA_GROUP, same * c->ratio,
                                  rank, step * left, &made));
    if (c->copies == MSIM_NONE)
        return MSIM_OK;
    o->groups[c->copies] = o->groups[made];
    o->n_groups = made;
    return MSIM_OK;
}

/* ---- from beginning to end ------------------------------------------------
 */

static enum msim_status join(struct joining *c, struct msim_strtab *strings,
                             struct msim_trace **out, struct msim_error *err)
{
    MSIM_TRY(msim_resizing_learn(&c->r, c->t, err));
    MSIM_TRY(msim_expert_sizes_find(&c->x, &c->r.sizes));
    MSIM_TRY(scale(c, err));
    MSIM_TRY(msim_resizing_open(&c->r, strings, err));
    c->other = calloc((size_t)c->r.w.d.lives.n + 1, 1);
    if (!c->other)
        return MSIM_ENOMEM;
    find_others(c);
    MSIM_TRY(begin_ranks(c));
    MSIM_TRY(msim_weave_walk(&c->r.w, c, visit));
    return msim_weave_finish(&c->r.w, out);
}

enum msim_status msim_experts_joined_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         uint32_t ratio, struct msim_error *err)
{
    struct joining c = {.t = t,
                        .ratio = ratio,
                        .group = exchanging(t),
                        .copies = msim_experts_data_group(t)};
    struct msim_error why = {0};
    enum msim_status status;

    *out = NULL;
    c.alone = t->groups[c.group].size == ratio;
    status = join(&c, strings, out, &why);
    msim_expert_sizes_release(&c.x);
    free(c.other);
    return msim_resizing_end(&c.r, status, "parallel.ep is less than recorded",
                             &why, err);
}

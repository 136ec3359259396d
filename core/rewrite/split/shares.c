/*
 * core/rewrite/split/shares.c - what of each tensor is one rank's share.
 */
#include "core/rewrite/split/experts.h"

#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is recorded -----------------------------------------------------
 */

static bool is_backward(const struct msim_trace *t, uint32_t op)
{
    return t->ops[op].scope == 1 ||
           !strncmp(msim_trace_text(t, t->ops[op].name), MSIM_EMIT_BACKWARD,
                    strlen(MSIM_EMIT_BACKWARD));
}

/* One number, such as a mean loss, is summed by copies, too. */
static bool sums_tensor(const struct msim_comm *c)
{
    return c->op != MSIM_NONE && c->in_elems > 1 &&
           (c->collective == MSIM_COLL_ALL_REDUCE ||
            c->collective == MSIM_COLL_REDUCE_SCATTER);
}

/* The first sum that forward makes over several ranks. NULL: none. */
static const struct msim_comm *first_sum(const struct msim_trace *t)
{
    uint32_t backward = 0;

    while (backward < t->n_ops && !is_backward(t, backward))
        backward++;
    for (uint32_t i = 0; i < t->n_comms; i++) {
        const struct msim_comm *c = &t->comms[i];

        if (sums_tensor(c) && c->op < backward && c->group != MSIM_NONE &&
            t->groups[c->group].size > 1)
            return c;
    }
    return NULL;
}

uint32_t msim_shares_recorded_ranks(const struct msim_trace *t, bool *rows)
{
    const struct msim_comm *c = first_sum(t);

    *rows = c && c->collective == MSIM_COLL_REDUCE_SCATTER;
    return c ? t->groups[c->group].size : 0;
}

uint32_t msim_shares_recorded_copies(const struct msim_trace *t)
{
    const struct msim_comm *shared = first_sum(t);
    uint32_t group = MSIM_NONE;

    for (uint32_t i = 0; i < t->n_comms; i++) {
        const struct msim_comm *c = &t->comms[i];

        if (!sums_tensor(c) || (shared && c->group == shared->group))
            continue;
        if (group != MSIM_NONE && c->group != group)
            return 0;
        group = c->group;
    }
    return group == MSIM_NONE ? 0 : t->groups[group].size;
}

uint32_t msim_shares_recorded_group(const struct msim_trace *t)
{
    return first_sum(t)->group;
}

/* ---- sizes ---------------------------------------------------------------
 */

/* Heads of keys and values that are fewer than ranks are held by several. */
static enum msim_status share_kv_heads(struct msim_shares *s, uint32_t *n,
                                       struct msim_error *err)
{
    for (uint32_t c = 0; c < s->sizes.n_classes; c++) {
        const struct msim_size_class *k = &s->sizes.classes[c];

        if (k->role == MSIM_SIZE_KV_HEADS && k->size < s->ranks &&
            s->ranks % k->size == 0) {
            s->to[c] = 1;
            ++*n;
            return MSIM_OK;
        }
    }
    return msim_sizes_scale(&s->sizes, MSIM_SIZE_KV_HEADS, 1, s->ranks, s->to,
                            n, err);
}

/* A vocabulary that does not divide is padded. */
static enum msim_status share_vocabulary(struct msim_shares *s,
                                         struct msim_error *err)
{
    for (uint32_t c = 0; c < s->sizes.n_classes; c++) {
        if (s->sizes.classes[c].role != MSIM_SIZE_VOCAB)
            continue;
        MSIM_TRY(msim_size_is_one(&s->sizes, c, err));
        s->to[c] = (s->sizes.classes[c].size + s->ranks - 1) / s->ranks;
    }
    return MSIM_OK;
}

/* Experts stay whole, and are given the tokens of a rank alone; or each is
 * shared out, and given those of all ranks. */
static enum msim_status share_experts(struct msim_shares *s, bool rows,
                                      struct msim_error *err)
{
    static const enum msim_expert_size ROWS[] = {MSIM_EXPERT_EACH,
                                                 MSIM_EXPERT_ROWS};

    MSIM_TRY(msim_expert_sizes_told(&s->experts, err));
    /* Rows that are not told from tokens are refused, shared out or not. */
    MSIM_TRY(msim_expert_sizes_scale(&s->experts, MSIM_EXPERT_ROWS, 1,
                                     rows ? s->ranks : 1, s->to, err));
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS) && rows; i++)
        MSIM_TRY(msim_expert_sizes_scale(&s->experts, ROWS[i], 1,
                                         s->split ? 1 : s->ranks, s->to, err));
    MSIM_TRY(msim_expert_sizes_scale(&s->experts, MSIM_EXPERT_INSIDE, 1,
                                     s->split ? s->ranks : 1, s->to, err));
    MSIM_TRY(msim_expert_sizes_scale(&s->experts, MSIM_EXPERT_WIDTH, 1, 1,
                                     s->to, err));
    return msim_expert_sizes_scale(&s->experts, MSIM_EXPERT_COUNT, 1, 1, s->to,
                                   err);
}

static enum msim_status share(struct msim_shares *s, bool rows,
                              struct msim_error *err)
{
    static const enum msim_size_role DIVIDED[] = {MSIM_SIZE_HEADS,
                                                  MSIM_SIZE_FFN};
    static const enum msim_size_role KEPT[] = {
        MSIM_SIZE_HIDDEN, MSIM_SIZE_HEAD_SIZE, MSIM_SIZE_INNER,
        MSIM_SIZE_BATCH,  MSIM_SIZE_SEQUENCE,  MSIM_SIZE_TOKENS};
    uint32_t found = 0, n;

    for (size_t i = 0; i < sizeof(DIVIDED) / sizeof(*DIVIDED); i++) {
        MSIM_TRY(msim_sizes_scale(&s->sizes, DIVIDED[i], 1, s->ranks, s->to, &n,
                                  err));
        found += n;
    }
    MSIM_TRY(share_kv_heads(s, &n, err));
    MSIM_TRY(share_vocabulary(s, err));
    for (size_t i = 0; i < sizeof(KEPT) / sizeof(*KEPT); i++)
        MSIM_TRY(msim_sizes_scale(&s->sizes, KEPT[i], 1, 1, s->to, &n, err));
    MSIM_TRY(share_experts(s, rows, err));
    if (!found)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no operator of the trace says which of its sizes are "
                         "heads or the inside of an MLP, want attention or an "
                         "MLP of two linear layers");
    return msim_sizes_solve(&s->sizes, s->to, err);
}

void msim_shares_release(struct msim_shares *s)
{
    msim_resized_free(s->view);
    msim_expert_sizes_release(&s->experts);
    msim_sizes_release(&s->sizes);
    free(s->to);
    free(s->rows);
    *s = (struct msim_shares){0};
}

static bool is_divided(const struct msim_shares *s, uint32_t c)
{
    return c != MSIM_NONE && s->to[c] != s->sizes.classes[c].size;
}

bool msim_shares_is_divided(const struct msim_shares *s, uint32_t id,
                            uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_divided(s, msim_size_class_of(&s->sizes, id, i)))
            return true;
    return false;
}

static uint8_t role_of(const struct msim_shares *s, uint32_t id, uint32_t dim)
{
    uint32_t c = msim_size_class_of(&s->sizes, id, dim);

    return c == MSIM_NONE ? MSIM_SIZE_NONE : s->sizes.classes[c].role;
}

uint32_t msim_shares_tokens(const struct msim_shares *s, uint32_t id,
                            uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint8_t role = role_of(s, id, i);

        if (role == MSIM_SIZE_TOKENS || role == MSIM_SIZE_SEQUENCE)
            return i;
    }
    return !s->named && n > 1 && role_of(s, id, n - 2) == MSIM_SIZE_NONE
               ? n - 2
               : MSIM_NONE;
}

/* ---- operators -----------------------------------------------------------
 */

/* Tensor `k` of what `op` is given, from 0. */
static bool tensor_of(const struct msim_shares *s, uint32_t op, uint32_t k,
                      const struct msim_arg **arg, uint32_t *id)
{
    const struct msim_trace *t = s->view;
    const struct msim_op *o = &t->ops[op];

    *id = o->ids;
    for (uint32_t i = 0; o->args != MSIM_NONE && o->ids != MSIM_NONE &&
                         i < t->blocks[o->args].count;
         i++) {
        *arg = &t->args[t->blocks[o->args].first + i];
        if ((*arg)->kind != MSIM_ARG_TENSOR)
            continue;
        if (k-- == 0)
            return true;
        ++*id;
    }
    return false;
}

static bool divided_at(const struct msim_shares *s, uint32_t op, uint32_t k,
                       bool first)
{
    const struct msim_arg *a;
    uint32_t id;

    return tensor_of(s, op, k, &a, &id) && a->n &&
           is_divided(s,
                      msim_size_class_of(&s->sizes, id, first ? 0 : a->n - 1));
}

/* Is any tensor that it is given divided? */
static bool has_divided(const struct msim_shares *s, uint32_t op)
{
    const struct msim_arg *a;
    uint32_t id;

    for (uint32_t k = 0; tensor_of(s, op, k, &a, &id); k++)
        if (msim_shares_is_divided(s, id, a->n))
            return true;
    return false;
}

static bool is_named(const struct msim_shares *s, uint32_t op,
                     const char *const *names)
{
    const char *name = msim_trace_text(s->view, s->view->ops[op].name);

    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

enum msim_shares_meet msim_shares_meet_at(const struct msim_shares *s,
                                          uint32_t op)
{
    static const char *const PRODUCTS[] = {"aten::mm", "aten::bmm",
                                           "aten::_scaled_mm", NULL};
    static const char *const ADDED[] = {"aten::addmm", "aten::baddbmm", NULL};
    static const char *const TABLES[] = {"aten::embedding", NULL};
    static const char *const BACK[] = {"aten::embedding_dense_backward", NULL};
    static const char *const SOFTMAX[] = {"aten::_log_softmax", NULL};
    static const char *const LOSSES[] = {"aten::nll_loss_forward",
                                         "aten::nll_loss2d_forward", NULL};

    if (s->experts.product[op])
        return MSIM_SHARES_NOT;
    if (is_named(s, op, PRODUCTS))
        return divided_at(s, op, 0, false) ? MSIM_SHARES_SUM
               : has_divided(s, op)        ? MSIM_SHARES_WHOLE
                                           : MSIM_SHARES_NOT;
    if (is_named(s, op, ADDED))
        return divided_at(s, op, 1, false) ? MSIM_SHARES_SUM
               : has_divided(s, op)        ? MSIM_SHARES_WHOLE
                                           : MSIM_SHARES_NOT;
    if (is_named(s, op, TABLES))
        return divided_at(s, op, 0, true) ? MSIM_SHARES_SUM : MSIM_SHARES_NOT;
    if (is_named(s, op, SOFTMAX))
        return divided_at(s, op, 0, false) ? MSIM_SHARES_MAX : MSIM_SHARES_NOT;
    if (is_named(s, op, LOSSES))
        return has_divided(s, op) ? MSIM_SHARES_ROWS : MSIM_SHARES_NOT;
    return is_named(s, op, BACK) ? MSIM_SHARES_WHOLE : MSIM_SHARES_NOT;
}

/* ---- experts -------------------------------------------------------------
 */

/* Is it there before the step? Views are of the memory that they look at. */
static bool is_kept(const struct msim_shares *s, uint32_t id)
{
    uint32_t life = s->sizes.lives.of[id];

    return life != MSIM_NONE && s->sizes.lives.rows[life].born == MSIM_NONE;
}

/* Weights of several layers at once that no size of a share goes through: each
 * rank would multiply all tokens by all of them, unless it is known which rows
 * are tokens, of which each has its own. */
static enum msim_status check_experts(const struct msim_shares *s, bool rows,
                                      struct msim_error *err)
{
    const struct msim_arg *a;
    uint32_t id;

    for (uint32_t op = 0; op < s->view->n_ops; op++) {
        bool known = s->experts.product[op];
        const int64_t *dims;

        if (!msim_is_batched_product(s->view, op) ||
            !tensor_of(s, op, 1, &a, &id) || a->n != 3 || !is_kept(s, id) ||
            (known ? rows : has_divided(s, op)))
            continue;
        dims = msim_arg_dims(s->view, a);
        return msim_fail(
            err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
            "operator %u, %s, multiplies by weights of [%lld, %lld, %lld], as "
            "experts have them, of which no size is shared out; want %s",
            op, msim_trace_text(s->view, s->view->ops[op].name),
            (long long)dims[0], (long long)dims[1], (long long)dims[2],
            known ? "\"sequence_parallel\", so that ranks have tokens of their "
                    "own"
                  : "a step that updates them, or a model that is described");
    }
    return MSIM_OK;
}

/* The reason of whoever knows sizes, behind what was asked for. */
static enum msim_status name_member(enum msim_status status, uint32_t ranks,
                                    const struct msim_error *why,
                                    struct msim_error *err)
{
    return status == MSIM_EUSAGE
               ? msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                           "parallel.tp is %u: %.200s", ranks, why->text)
               : status;
}

enum msim_status msim_shares_find(struct msim_shares *s,
                                  const struct msim_trace *t, uint32_t ranks,
                                  bool rows, bool split, struct msim_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;

    *s = (struct msim_shares){.ranks = ranks, .split = split};
    status = msim_sizes_learn(&s->sizes, t, &why);
    if (status == MSIM_OK)
        status = msim_expert_sizes_find(&s->experts, &s->sizes);
    if (status == MSIM_OK) {
        s->to = calloc((size_t)s->sizes.n_classes + 1, sizeof(*s->to));
        status = s->to ? share(s, rows, &why) : MSIM_ENOMEM;
    }
    if (status == MSIM_OK)
        status = msim_resized_new(&s->view, &s->sizes, s->to);
    if (status == MSIM_OK)
        status = check_experts(s, rows, &why);
    return name_member(status, ranks, &why, err);
}

/* ---- rows ----------------------------------------------------------------
 */

static bool is_wide(const struct msim_shares *s, uint32_t id, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (role_of(s, id, i) == MSIM_SIZE_HIDDEN)
            return true;
    return false;
}

/* As wide as the model, with tokens, and undivided; or of `more`, what is made
 * beside such a tensor or of one: the statistics of a normalisation, what a
 * router says of tokens. */
static bool has_rows(const struct msim_shares *s,
                     const struct msim_lives_each *e, bool more)
{
    uint32_t id = e->id - 1;
    uint32_t life = s->split ? s->sizes.lives.of[id] : MSIM_NONE;

    if (life != MSIM_NONE && s->experts.rows[life])
        return false; /* those of all ranks */
    return ((more && e->arg->n > 1) || is_wide(s, id, e->arg->n)) &&
           !msim_shares_is_divided(s, id, e->arg->n) &&
           msim_shares_tokens(s, id, e->arg->n) != MSIM_NONE;
}

static bool is_made_in_pass(const struct msim_weave *w, uint32_t op)
{
    uint32_t top = msim_op_topmost(w->t, op);
    uint32_t s = top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];

    return s != MSIM_NONE && w->a.rows[s].role <= MSIM_ANATOMY_BACKWARD &&
           w->a.rows[s].pass != MSIM_NONE;
}

static void note_uneven(struct msim_shares *s, const struct msim_lives_each *e)
{
    uint32_t at = msim_shares_tokens(s, e->id - 1, e->arg->n);
    int64_t tokens = msim_arg_dims(s->view, e->arg)[at];

    if (tokens > 1 && tokens % s->ranks)
        s->uneven = tokens;
}

/* Is it given rows that it does not want whole? */
static bool takes_rows(const struct msim_shares *s, const struct msim_weave *w,
                       uint32_t op)
{
    struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, op);

    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE && s->rows[e.life])
            return msim_shares_meet_at(s, op) == MSIM_SHARES_NOT;
    return false;
}

/* A sum over tokens, of which one factor has a share, is of that share of the
 * other one, too. */
static void mark_factors(struct msim_shares *s, const struct msim_weave *w,
                         uint32_t op)
{
    static const char *const PRODUCTS[] = {"aten::mm", NULL};
    struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, op), a;

    if (!takes_rows(s, w, op) || !is_named(s, op, PRODUCTS) ||
        !msim_lives_next(&e))
        return;
    a = e;
    if (!msim_lives_next(&e) || a.arg->n != 2 ||
        msim_shares_tokens(s, a.id - 1, 2) != 1)
        return;
    for (const struct msim_lives_each *x = &a;; x = &e) {
        if (x->life != MSIM_NONE && has_rows(s, x, true) &&
            w->d.lives.rows[x->life].born != MSIM_NONE)
            s->rows[x->life] = 1;
        if (x == &e)
            return;
    }
}

static void mark_rows(struct msim_shares *s, const struct msim_weave *w,
                      uint32_t op)
{
    for (int more = takes_rows(s, w, op); more < 2; more++) {
        struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, op);
        bool any = false;

        while (msim_lives_next(&e)) {
            if (e.life == MSIM_NONE || w->d.lives.rows[e.life].born != op ||
                w->kind[e.life] == MSIM_LIFE_GRADIENT || !has_rows(s, &e, more))
                continue;
            s->rows[e.life] = 1;
            any = true;
            note_uneven(s, &e);
        }
        if (!any)
            return;
    }
}

enum msim_status msim_shares_rows(struct msim_shares *s, struct msim_weave *w)
{
    for (uint32_t c = 0; c < s->sizes.n_classes; c++)
        s->named |= s->sizes.classes[c].role == MSIM_SIZE_TOKENS ||
                    s->sizes.classes[c].role == MSIM_SIZE_SEQUENCE;
    s->rows = calloc((size_t)w->d.lives.n + 1, 1);
    if (!s->rows)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < w->t->n_ops; i++)
        if (is_made_in_pass(w, i)) {
            mark_rows(s, w, i);
            mark_factors(s, w, i);
        }
    if (s->uneven)
        return msim_weave_refuse(
            w,
            "parallel.tp is %u, which does not divide the %lld tokens of the "
            "trace; want so many that it does, or \"sequence_parallel\": false",
            s->ranks, (long long)s->uneven);
    return MSIM_OK;
}

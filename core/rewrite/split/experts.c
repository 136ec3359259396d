/*
 * core/rewrite/split/experts.c - experts spread over ranks.
 *
 * Rows that an expert is given are as many times more as there are ranks, and
 * all that a rank's experts are given stay as many. What is sent is found in
 * the data flow: a region is from the first product of a block's experts to the
 * last, forward or back. What is made before it and read by a product goes to
 * the experts, what is made in it and read behind it comes back.
 *
 * Where tensor parallel ranks share each expert, what is in a region are the
 * rows of all of them, and what is before and behind it a rank's own. Without
 * other ranks to send them to, ranks gather tokens before whoever makes rows of
 * them.
 */
#include "core/rewrite/split/experts.h"

#include "core/rewrite/split/split_internal.h"
#include "core/rewrite/weave/draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "expert"

struct spreading {
    const struct msim_trace *t;
    struct msim_resizing r;
    struct msim_expert_sizes x;
    uint32_t ranks, tp;
    uint32_t shares;               /* ranks that share each expert */
    uint32_t group;                /* of these */
    int64_t shared;                /* messages that they have sent */
    struct msim_emit_flat tokens;  /* those of all of them; no elements: not
                                      known yet */
    bool made;                     /* the region at hand gives rows back */
    struct msim_expert_regions of; /* products */
    uint8_t *forward;              /* by life: forward gives it to experts */
    uint8_t *swapped;  /* by life: what experts have is in its place */
    uint32_t *outside; /* by life: behind the last statement of no region that
                          reads it */
    uint32_t *sent;    /* by life: the storage of what experts have of it; 0 */
    uint8_t *gathers;  /* by statement: tokens are gathered before it */
    int64_t calls;
};

/* ---- sizes ---------------------------------------------------------------
 */

/* A layer of another kind that would be divided has a size that was taken for
 * the number of experts. */
static enum msim_status check_layers(const struct spreading *c,
                                     struct msim_error *err)
{
    for (uint32_t i = 0; i < c->r.sizes.n_classes; i++) {
        const struct msim_size_class *k = &c->r.sizes.classes[i];

        if (k->layer && k->weight && c->r.to[i] != k->size &&
            c->x.of[i] == MSIM_EXPERT_NONE)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "operator %u, %s, has a size of %lld that nothing "
                             "tells from the number of experts",
                             k->op,
                             msim_trace_text(c->t, c->t->ops[k->op].name),
                             (long long)k->size);
    }
    return MSIM_OK;
}

static enum msim_status divide(struct spreading *c, struct msim_error *err)
{
    uint32_t n;

    MSIM_TRY(msim_expert_sizes_told(&c->x, err));
    if (c->x.op == MSIM_NONE) /* and some are asked for */
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no operator of the trace multiplies by weights of "
                         "several experts at once (aten::bmm, "
                         "aten::_grouped_mm); want a model that has some");
    for (int role = MSIM_SIZE_NONE + 1; role < MSIM_SIZE_ROLES; role++)
        MSIM_TRY(msim_sizes_scale(&c->r.sizes, (enum msim_size_role)role, 1, 1,
                                  c->r.to, &n, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_COUNT, 1, c->ranks,
                                     c->r.to, err));
    MSIM_TRY(msim_expert_sizes_scale(&c->x, MSIM_EXPERT_EACH, c->ranks, 1,
                                     c->r.to, err));
    MSIM_TRY(
        msim_expert_sizes_scale(&c->x, MSIM_EXPERT_ROWS, 1, 1, c->r.to, err));
    MSIM_TRY(msim_sizes_solve(&c->r.sizes, c->r.to, err));
    return check_layers(c, err);
}

/* ---- what is given and made -----------------------------------------------
 */

static bool has_rows(const struct spreading *c, const struct msim_lives_each *e)
{
    uint32_t life = c->r.sizes.lives.of[e->id - 1];

    return e->life != MSIM_NONE && life != MSIM_NONE && c->x.rows[life];
}

static void find_readers(struct spreading *c)
{
    const struct msim_weave *w = &c->r.w;

    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);
            bool gives = c->x.product[i] && c->of.at[s] != MSIM_NONE &&
                         !c->of.of[c->of.at[s]].back;

            while (msim_lives_next(&e)) {
                if (e.life != MSIM_NONE && c->of.at[s] == MSIM_NONE)
                    c->outside[e.life] = s + 1;
                if (e.life != MSIM_NONE && gives)
                    c->forward[e.life] = 1;
            }
        }
}

/* ---- messages ------------------------------------------------------------
 */

/* All rows of `e`, in `storage`; or those of one rank. */
static struct msim_emit_flat rows_of(const struct spreading *c,
                                     const struct msim_lives_each *e,
                                     uint32_t storage, bool own)
{
    int64_t all = (int64_t)msim_arg_elems(c->r.w.t, e->arg);

    return (struct msim_emit_flat){own ? all / c->shares : all, storage,
                                   e->arg->dtype, e->arg->device};
}

/* Between ranks that share each expert, at statement `s`. */
static enum msim_status share(struct spreading *c, uint32_t s,
                              const struct msim_emit_flat *in,
                              const struct msim_emit_flat *out)
{
    static const char *const NAMES[2][2] = {
        {"TensorParallelReduce", MSIM_EMIT_BACKWARD "TensorParallelReduce"},
        {"TensorParallelGather", MSIM_EMIT_GATHER}};
    struct msim_draft *d = &c->r.w.d;
    bool gathers = out->elems > in->elems;
    bool back = c->r.w.a.rows[s].role == MSIM_ANATOMY_BACKWARD;
    const struct msim_emit_message m = {
        .name = gathers ? "nccl:_all_gather_base" : "nccl:_reduce_scatter_base",
        .collective = gathers ? MSIM_COLL_ALL_GATHER : MSIM_COLL_REDUCE_SCATTER,
        .sequence = c->shared++,
        .in = *in,
        .out = *out};
    uint32_t group = d->group;
    enum msim_status status;
    struct msim_draft_place at;

    MSIM_TRY(msim_weave_hold(&c->r.w, NAMES[gathers][back],
                             msim_weave_place(&c->r.w, s), &at));
    MSIM_TRY(msim_emit_empty(d, at, out));
    d->group = c->group;
    status = msim_emit_collective(d, at, &m);
    if (status == MSIM_OK)
        status = msim_emit_recorded_wait(d, at, m.sequence);
    d->group = group;
    return status;
}

/* Tokens of all ranks that share experts, or back to a rank's own. What they
 * are of, and what becomes of them, is not told. */
static enum msim_status share_tokens(struct spreading *c, uint32_t s,
                                     bool gathers)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_emit_flat all = c->tokens, own;

    all.storage = msim_draft_fresh(d);
    own = all;
    own.elems /= c->shares;
    if (gathers)
        return share(c, s, &own, &all);
    own.storage = msim_draft_fresh(d);
    MSIM_TRY(msim_emit_empty(d, msim_weave_place(&c->r.w, s), &all));
    return share(c, s, &all, &own);
}

static enum msim_status exchange(struct spreading *c, uint32_t s,
                                 const char *name,
                                 const struct msim_emit_flat *of,
                                 uint32_t storage)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_emit_flat in = *of;
    struct msim_emit_message m = {.name = "nccl:all_to_allv",
                                  .collective = MSIM_COLL_ALL_TO_ALL,
                                  .sequence = c->calls++,
                                  .in = in,
                                  .out = in};
    struct msim_draft_place at;

    m.out.storage = storage;
    MSIM_TRY(msim_weave_hold(&c->r.w, name, msim_weave_place(&c->r.w, s), &at));
    MSIM_TRY(msim_emit_empty(d, at, &m.out));
    MSIM_TRY(msim_emit_collective(d, at, &m));
    return msim_emit_recorded_wait(d, at, m.sequence);
}

typedef enum msim_status each_fn(struct spreading *c,
                                 const struct msim_expert_region *r,
                                 const struct msim_lives_each *e);

/* Rows that products of region `r` are given. */
static enum msim_status each_given(struct spreading *c,
                                   const struct msim_expert_region *r,
                                   each_fn *visit)
{
    const struct msim_weave *w = &c->r.w;

    for (uint32_t i = w->a.rows[r->first].op;
         i < msim_anatomy_end(&w->a, r->last); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        while (c->x.product[i] && msim_lives_next(&e))
            if (has_rows(c, &e))
                MSIM_TRY(visit(c, r, &e));
    }
    return MSIM_OK;
}

/* Is it what nobody has sent? Backward has what forward was given already. */
static bool is_news(const struct spreading *c,
                    const struct msim_expert_region *r,
                    const struct msim_lives_each *e)
{
    return !c->sent[e->life] &&
           !msim_expert_region_makes(&c->r.w, r, e->life) &&
           !(r->back && c->forward[e->life]);
}

/* To where their experts are. */
static enum msim_status dispatch(struct spreading *c,
                                 const struct msim_expert_region *r,
                                 const struct msim_lives_each *e)
{
    struct msim_emit_flat own, all;

    if (!is_news(c, r, e))
        return MSIM_OK;
    own = rows_of(c, e, c->r.w.d.storage[e->life], true);
    c->sent[e->life] = msim_draft_fresh(&c->r.w.d);
    MSIM_TRY(exchange(c, r->first,
                      r->back ? MSIM_EMIT_DISPATCH : "ExpertParallelDispatch",
                      &own, c->sent[e->life]));
    if (c->shares == 1)
        return MSIM_OK;
    own.storage = c->sent[e->life];
    c->sent[e->life] = msim_draft_fresh(&c->r.w.d);
    all = rows_of(c, e, c->sent[e->life], false);
    return share(c, r->first, &own, &all);
}

/* In the region experts' rows stand for a rank's own, and `sent` has these. */
static void swap(struct spreading *c, uint32_t life)
{
    uint32_t own = c->r.w.d.storage[life];

    c->r.w.d.storage[life] = c->sent[life];
    c->sent[life] = own;
    c->swapped[life] = !c->swapped[life];
}

static enum msim_status swap_in(struct spreading *c,
                                const struct msim_expert_region *r,
                                const struct msim_lives_each *e)
{
    (void)r;
    if (c->sent[e->life] && !c->swapped[e->life])
        swap(c, e->life);
    return MSIM_OK;
}

static enum msim_status swap_out(struct spreading *c,
                                 const struct msim_expert_region *r,
                                 const struct msim_lives_each *e)
{
    (void)r;
    if (c->swapped[e->life])
        swap(c, e->life);
    return MSIM_OK;
}

/* Back to where they came from. */
static enum msim_status combine(struct spreading *c,
                                const struct msim_expert_region *r,
                                const struct msim_lives_each *e)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_emit_flat all = rows_of(c, e, d->storage[e->life], false),
                          own = all;
    uint32_t storage;

    if (c->shares > 1) {
        own = rows_of(c, e, msim_draft_fresh(d), true);
        MSIM_TRY(share(c, r->last, &all, &own));
    }
    storage = msim_draft_fresh(d);
    MSIM_TRY(exchange(c, r->last,
                      r->back ? MSIM_EMIT_BACKWARD "ExpertParallelCombine"
                              : "ExpertParallelCombine",
                      &own, storage));
    d->storage[e->life] = storage;
    return MSIM_OK;
}

static enum msim_status each_made(struct spreading *c,
                                  const struct msim_expert_region *r,
                                  each_fn *visit)
{
    const struct msim_weave *w = &c->r.w;

    for (uint32_t i = w->a.rows[r->first].op;
         i < msim_anatomy_end(&w->a, r->last); i++) {
        struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && w->d.lives.rows[e.life].born == i &&
                has_rows(c, &e) && c->outside[e.life] > r->last + 1)
                MSIM_TRY(visit(c, r, &e));
    }
    return MSIM_OK;
}

/* ---- tokens of ranks that share each expert ------------------------------
 */

/* How many elements they have: of what rows are made of. */
static void count_tokens(struct spreading *c,
                         const struct msim_lives_each *rows)
{
    const struct msim_weave *w = &c->r.w;
    int64_t all = (int64_t)msim_arg_elems(w->t, rows->arg);
    uint32_t op = w->d.lives.rows[rows->life].born;
    struct msim_lives_each e;

    if (op == MSIM_NONE || c->tokens.elems)
        return;
    e = msim_lives_inputs(&w->d.lives, w->t, op);
    while (msim_lives_next(&e)) {
        int64_t elems = (int64_t)msim_arg_elems(w->t, e.arg) * c->shares;

        if (e.arg->n > 1 && elems <= all && all % elems == 0) {
            c->tokens = rows_of(c, rows, 0, false);
            c->tokens.elems = elems;
            return;
        }
    }
}

/* Whoever makes rows of tokens has those of all ranks. */
static enum msim_status mark_gather(struct spreading *c,
                                    const struct msim_expert_region *r,
                                    const struct msim_lives_each *e)
{
    uint32_t s;

    if (!is_news(c, r, e))
        return MSIM_OK;
    c->sent[e->life] = 1;
    s = msim_expert_maker(&c->r.w, e->life);
    count_tokens(c, e);
    c->gathers[s != MSIM_NONE && s < r->first ? s : r->first] = 1;
    return MSIM_OK;
}

static enum msim_status mark_gathers(struct spreading *c,
                                     struct msim_error *err)
{
    for (uint32_t i = 0; i < c->of.n; i++)
        MSIM_TRY(each_given(c, &c->of.of[i], mark_gather));
    if (c->tokens.elems)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "operator %u, %s, is given rows that nothing says the "
                     "tokens of; want \"etp\": 1, or a model that is described",
                     c->x.op, msim_trace_text(c->t, c->t->ops[c->x.op].name));
}

static enum msim_status note_made(struct spreading *c,
                                  const struct msim_expert_region *r,
                                  const struct msim_lives_each *e)
{
    (void)r;
    (void)e;
    c->made = true;
    return MSIM_OK;
}

/* Around a region there are tokens alone. */
static enum msim_status visit_tokens(struct spreading *c,
                                     const struct msim_expert_region *r,
                                     uint32_t s)
{
    if (c->gathers[s])
        MSIM_TRY(share_tokens(c, s, true));
    MSIM_TRY(msim_weave_copy(&c->r.w, s));
    if (!r || s != r->last)
        return MSIM_OK;
    c->made = !r->back;
    MSIM_TRY(each_made(c, r, note_made));
    return c->made ? share_tokens(c, s, false) : MSIM_OK;
}

/* ---- statements ----------------------------------------------------------
 */

/* Outside of regions rows are a rank's own. */
static void resize(void *ctx, const struct msim_arg *arg, uint32_t id,
                   int64_t *dims)
{
    const struct spreading *c = ctx;

    for (uint32_t i = 0; i < arg->n; i++) {
        uint32_t k = msim_size_class_of(&c->r.sizes, id, i);
        bool rows = k != MSIM_NONE && (c->x.of[k] == MSIM_EXPERT_ROWS ||
                                       c->x.of[k] == MSIM_EXPERT_EACH);

        if (rows && dims[i] % c->shares == 0)
            dims[i] /= c->shares;
    }
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct spreading *c = ctx;
    const struct msim_expert_region *r =
        c->of.at[s] == MSIM_NONE ? NULL : &c->of.of[c->of.at[s]];
    const struct msim_draft_how how = {
        .at = msim_weave_place(&c->r.w, s), .resize = resize, .ctx = c};

    if (c->ranks == 1)
        return c->shares > 1 ? visit_tokens(c, r, s)
                             : msim_weave_copy(&c->r.w, s);
    if (r && s == r->first) {
        MSIM_TRY(each_given(c, r, dispatch));
        MSIM_TRY(each_given(c, r, swap_in));
    }
    MSIM_TRY(!r && c->shares > 1 ? msim_weave_copy_as(&c->r.w, s, &how)
                                 : msim_weave_copy(&c->r.w, s));
    if (!r || s != r->last)
        return MSIM_OK;
    MSIM_TRY(each_given(c, r, swap_out));
    return each_made(c, r, combine);
}

/* ---- ranks ---------------------------------------------------------------
 */

/* Ranks that share experts follow each other among copies; those that have the
 * same ones are so many apart. */
static enum msim_status begin_ranks(struct spreading *c,
                                    const struct msim_experts_how *how)
{
    struct msim_trace *o = c->r.w.d.out;
    uint32_t step = c->shares, group;
    uint32_t copies = how->dp * how->cp * c->tp / c->shares;
    int64_t rank = o->rank < 0 ? 0 : o->rank;

    if (c->ranks > 1)
        o->world_size = step * copies;
    else if (c->shares == c->tp)
        return MSIM_OK; /* copies are those of all else */
    if (copies > c->ranks)
        MSIM_TRY(msim_draft_add_group(&c->r.w.d, MSIM_EXPERTS_DATA_GROUP,
                                      copies / c->ranks, rank,
                                      (int64_t)step * c->ranks, &group));
    if (c->ranks == 1)
        return MSIM_OK;
    return msim_draft_add_group(&c->r.w.d, GROUP, c->ranks, rank, step,
                                &c->r.w.d.group);
}

/* Tensor parallel ranks, and those that share sequences, are there by now. */
static enum msim_status check(struct spreading *c,
                              const struct msim_experts_how *how,
                              struct msim_error *err)
{
    uint32_t cp = how->cp, dp = how->dp, world = c->t->world_size;
    bool rows, split;

    c->tp = msim_shares_recorded_ranks(c->t, &rows);
    c->tp = c->tp ? c->tp : 1;
    if (world > c->tp * cp || (c->tp * cp == 1 && c->t->n_comms))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "the trace is of a job of %u ranks already, of which "
                         "%u are tensor parallel; want the trace of one that "
                         "is trained alone, or of tensor parallel ranks alone",
                         world, c->tp);
    c->shares = how->shares > 1 ? how->shares : 1;
    if (c->tp > 1) {
        c->group = msim_shares_recorded_group(c->t);
        MSIM_TRY(msim_expert_sizes_are_split(&split, &c->x, c->group));
        if (split)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "recorded tensor parallel ranks share each expert "
                             "already; want the trace of one that is trained "
                             "alone");
    }
    if (c->tp / c->shares * dp * cp % c->ranks == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "dp x cp is %u x %u%s, which %u ranks with different "
                     "experts do not divide",
                     dp, cp,
                     c->tp > c->shares ? ", with tensor parallel ranks" : "",
                     c->ranks);
}

/* ---- from beginning to end -----------------------------------------------
 */

static enum msim_status take_memory(struct spreading *c)
{
    size_t lives = (size_t)c->r.w.d.lives.n + 1,
           statements = (size_t)c->r.w.a.n + 1;

    c->forward = calloc(lives, 1);
    c->swapped = calloc(lives, 1);
    c->outside = calloc(lives, sizeof(*c->outside));
    c->sent = calloc(lives, sizeof(*c->sent));
    c->gathers = calloc(statements, 1);
    if (!c->forward || !c->swapped || !c->outside || !c->sent || !c->gathers)
        return MSIM_ENOMEM;
    return MSIM_OK;
}

static enum msim_status spread(struct spreading *c,
                               const struct msim_experts_how *how,
                               struct msim_strtab *strings,
                               struct msim_trace **out, struct msim_error *err)
{
    MSIM_TRY(msim_resizing_learn(&c->r, c->t, err));
    MSIM_TRY(msim_expert_sizes_find(&c->x, &c->r.sizes));
    if (c->x.op == MSIM_NONE && c->ranks == 1 && !how->said)
        return MSIM_OK;
    MSIM_TRY(divide(c, err));
    MSIM_TRY(check(c, how, err));
    MSIM_TRY(msim_resizing_open(&c->r, strings, err));
    MSIM_TRY(take_memory(c));
    MSIM_TRY(msim_expert_regions_find(&c->of, &c->r.w, c->x.product));
    find_readers(c);
    if (c->shares > 1 && c->ranks == 1)
        MSIM_TRY(mark_gathers(c, err));
    MSIM_TRY(begin_ranks(c, how));
    MSIM_TRY(msim_weave_walk(&c->r.w, c, visit));
    return msim_weave_finish(&c->r.w, out);
}

/* Of what is sent next by any group: numbers are taken once. */
static int64_t calls_of(const struct msim_trace *t)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < t->n_comms; i++)
        if (t->comms[i].sequence >= n)
            n = t->comms[i].sequence + 1;
    return n;
}

enum msim_status msim_experts_spread_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         const struct msim_experts_how *how,
                                         struct msim_error *err)
{
    struct spreading c = {
        .t = t, .ranks = how->ranks, .shares = 1, .shared = calls_of(t)};
    struct msim_error why = {0};
    char asked[64];
    enum msim_status status;

    *out = NULL;
    status = spread(&c, how, strings, out, &why);

    msim_expert_sizes_release(&c.x);
    msim_expert_regions_release(&c.of);
    free(c.forward);
    free(c.swapped);
    free(c.outside);
    free(c.sent);
    free(c.gathers);
    if (how->ranks > 1)
        snprintf(asked, sizeof(asked), "parallel.ep is %u", how->ranks);
    else
        snprintf(asked, sizeof(asked), "parallel.tp is %u", how->tp);
    return msim_resizing_end(&c.r, status, asked, &why, err);
}

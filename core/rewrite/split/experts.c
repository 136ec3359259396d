/*
 * core/rewrite/split/experts.c - experts spread over ranks.
 *
 * Rows that an expert is given are as many times more as there are ranks, and
 * all that a rank's experts are given stay as many. What is sent is found in
 * the data flow: a region is from the first product of a block's experts to the
 * last, forward or back. What is made before it and read by a product goes to
 * the experts, what is made in it and read behind it comes back.
 */
#include "core/rewrite/split/experts.h"

#include "core/rewrite/split/expert_lives.h"
#include "core/rewrite/split/expert_sizes.h"
#include "core/rewrite/split/resizing.h"
#include "core/rewrite/split/shares.h"
#include "core/rewrite/weave/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUP "expert"

/* Statements [first, last] of one direction. */
struct region {
    uint32_t first, last;
    bool back;
};

struct spreading {
    const struct msim_trace *t;
    struct msim_resizing r;
    struct msim_expert_sizes x;
    uint32_t ranks, tp;
    struct region *regions;
    uint32_t n_regions;
    uint32_t *region;  /* by statement, NONE: of none */
    uint8_t *forward;  /* by life: forward gives it to experts */
    uint8_t *swapped;  /* by life: what experts have is in its place */
    uint32_t *outside; /* by life: behind the last statement of no region that
                          reads it */
    uint32_t *sent;    /* by life: the storage of what experts have of it; 0 */
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
    if (c->x.op == MSIM_NONE)
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

/* ---- regions -------------------------------------------------------------
 */

static bool has_product(const struct spreading *c, uint32_t s)
{
    const struct msim_anatomy *a = &c->r.w.a;

    for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
        if (c->x.product[i])
            return true;
    return false;
}

/* Another layer's, where blocks are not known? */
static bool has_attention(const struct spreading *c, uint32_t from, uint32_t to)
{
    const struct msim_anatomy *a = &c->r.w.a;

    for (uint32_t s = from; s < to; s++)
        for (uint32_t i = a->rows[s].op; i < msim_anatomy_end(a, s); i++)
            if (msim_weave_contains(&c->r.w, i, "attention"))
                return true;
    return false;
}

static bool goes_on(const struct spreading *c, const struct region *r,
                    uint32_t s)
{
    const struct msim_anatomy_statement *a = &c->r.w.a.rows[r->last],
                                        *b = &c->r.w.a.rows[s];

    return a->pass == b->pass && a->role == b->role && a->block == b->block &&
           r->back == msim_anatomy_is_autograd(&c->r.w.a, s) &&
           !has_attention(c, r->last, s);
}

static uint32_t statement_of(const struct msim_weave *w, uint32_t op)
{
    uint32_t top = op == MSIM_NONE ? MSIM_NONE : msim_op_topmost(w->t, op);

    return top == MSIM_NONE ? MSIM_NONE : w->a.statement[top];
}

/* Where a life was made; NONE: no operator was seen to. */
static uint32_t maker_of(const struct spreading *c, uint32_t life)
{
    return statement_of(&c->r.w, c->r.w.d.lives.rows[life].born);
}

static bool is_made_in(const struct spreading *c, const struct region *r,
                       uint32_t life)
{
    uint32_t s = life == MSIM_NONE ? MSIM_NONE : maker_of(c, life);

    return s != MSIM_NONE && s >= r->first && s <= r->last;
}

static bool has_rows(const struct spreading *c, const struct msim_lives_each *e)
{
    uint32_t life = c->r.sizes.lives.of[e->id - 1];

    return e->life != MSIM_NONE && life != MSIM_NONE && c->x.rows[life];
}

/* Sums of what products of the region made, as of two layers that read one
 * tensor, are of it. */
static bool adds_up(const struct spreading *c, const struct region *r,
                    uint32_t s)
{
    uint32_t op = c->r.w.a.rows[s].op, n = 0;
    struct msim_lives_each e = msim_lives_inputs(&c->r.w.d.lives, c->r.w.t, op);

    if (!msim_weave_begins(&c->r.w, op, "aten::add"))
        return false;
    for (; msim_lives_next(&e); n++)
        if (!is_made_in(c, r, e.life))
            return false;
    return n > 1;
}

static void find_regions(struct spreading *c)
{
    const struct msim_anatomy *a = &c->r.w.a;
    struct region *r = NULL;

    for (uint32_t s = 0; s < a->n; s++) {
        if (a->rows[s].pass == MSIM_NONE ||
            a->rows[s].role > MSIM_ANATOMY_BACKWARD || !has_product(c, s))
            continue;
        if (!r || !goes_on(c, r, s)) {
            r = &c->regions[c->n_regions++];
            *r = (struct region){
                .first = s, .back = msim_anatomy_is_autograd(&c->r.w.a, s)};
        }
        r->last = s;
    }
    for (uint32_t i = 0; i < c->n_regions; i++) {
        r = &c->regions[i];
        while (r->last + 1 < a->n && adds_up(c, r, r->last + 1))
            r->last++;
        for (uint32_t s = r->first; s <= r->last; s++)
            c->region[s] = i;
    }
}

static void find_readers(struct spreading *c)
{
    const struct msim_weave *w = &c->r.w;

    for (uint32_t s = 0; s < w->a.n; s++)
        for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s);
             i++) {
            struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);
            bool gives = c->x.product[i] && c->region[s] != MSIM_NONE &&
                         !c->regions[c->region[s]].back;

            while (msim_lives_next(&e)) {
                if (e.life != MSIM_NONE && c->region[s] == MSIM_NONE)
                    c->outside[e.life] = s + 1;
                if (e.life != MSIM_NONE && gives)
                    c->forward[e.life] = 1;
            }
        }
}

/* ---- messages ------------------------------------------------------------
 */

static enum msim_status exchange(struct spreading *c, uint32_t s,
                                 const char *name,
                                 const struct msim_lives_each *e,
                                 uint32_t storage)
{
    struct msim_draft *d = &c->r.w.d;
    struct msim_emit_flat in = {(int64_t)msim_arg_elems(c->r.w.t, e->arg),
                                d->storage[e->life], e->arg->dtype,
                                e->arg->device};
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

typedef enum msim_status each_fn(struct spreading *c, const struct region *r,
                                 const struct msim_lives_each *e);

/* Rows that products of region `r` are given. */
static enum msim_status each_given(struct spreading *c, const struct region *r,
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

/* To where their experts are; backward has what forward was given already. */
static enum msim_status dispatch(struct spreading *c, const struct region *r,
                                 const struct msim_lives_each *e)
{
    if (c->sent[e->life] || is_made_in(c, r, e->life) ||
        (r->back && c->forward[e->life]))
        return MSIM_OK;
    c->sent[e->life] = msim_draft_fresh(&c->r.w.d);
    return exchange(c, r->first,
                    r->back ? MSIM_EMIT_DISPATCH : "ExpertParallelDispatch", e,
                    c->sent[e->life]);
}

/* In the region experts' rows stand for a rank's own, and `sent` has these. */
static void swap(struct spreading *c, uint32_t life)
{
    uint32_t own = c->r.w.d.storage[life];

    c->r.w.d.storage[life] = c->sent[life];
    c->sent[life] = own;
    c->swapped[life] = !c->swapped[life];
}

static enum msim_status swap_in(struct spreading *c, const struct region *r,
                                const struct msim_lives_each *e)
{
    (void)r;
    if (c->sent[e->life] && !c->swapped[e->life])
        swap(c, e->life);
    return MSIM_OK;
}

static enum msim_status swap_out(struct spreading *c, const struct region *r,
                                 const struct msim_lives_each *e)
{
    (void)r;
    if (c->swapped[e->life])
        swap(c, e->life);
    return MSIM_OK;
}

/* Back to where they came from. */
static enum msim_status combine(struct spreading *c, const struct region *r,
                                const struct msim_lives_each *e)
{
    uint32_t storage = msim_draft_fresh(&c->r.w.d);

    MSIM_TRY(exchange(c, r->last,
                      r->back ? MSIM_EMIT_BACKWARD "ExpertParallelCombine"
                              : "ExpertParallelCombine",
                      e, storage));
    c->r.w.d.storage[e->life] = storage;
    return MSIM_OK;
}

static enum msim_status combine_all(struct spreading *c, const struct region *r)
{
    const struct msim_weave *w = &c->r.w;

    for (uint32_t i = w->a.rows[r->first].op;
         i < msim_anatomy_end(&w->a, r->last); i++) {
        struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, i);

        while (msim_lives_next(&e))
            if (e.life != MSIM_NONE && w->d.lives.rows[e.life].born == i &&
                has_rows(c, &e) && c->outside[e.life] > r->last + 1)
                MSIM_TRY(combine(c, r, &e));
    }
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct spreading *c = ctx;
    const struct region *r =
        c->region[s] == MSIM_NONE ? NULL : &c->regions[c->region[s]];

    if (r && s == r->first) {
        MSIM_TRY(each_given(c, r, dispatch));
        MSIM_TRY(each_given(c, r, swap_in));
    }
    MSIM_TRY(msim_weave_copy(&c->r.w, s));
    if (!r || s != r->last)
        return MSIM_OK;
    MSIM_TRY(each_given(c, r, swap_out));
    return combine_all(c, r);
}

/* ---- ranks ---------------------------------------------------------------
 */

/* Ranks that share experts follow each other among copies; those that have the
 * same ones are so many apart. */
static enum msim_status begin_ranks(struct spreading *c,
                                    const struct msim_experts_how *how)
{
    struct msim_trace *o = c->r.w.d.out;
    uint32_t step = c->tp, group;
    uint32_t copies = how->dp * how->cp;
    int64_t rank = o->rank < 0 ? 0 : o->rank;

    o->world_size = step * copies;
    if (copies > c->ranks)
        MSIM_TRY(msim_draft_add_group(&c->r.w.d, MSIM_EXPERTS_DATA_GROUP,
                                      copies / c->ranks, rank,
                                      (int64_t)step * c->ranks, &group));
    return msim_draft_add_group(&c->r.w.d, GROUP, c->ranks, rank, step,
                                &c->r.w.d.group);
}

/* Tensor parallel ranks, and those that share sequences, are there by now. */
static enum msim_status check(struct spreading *c,
                              const struct msim_experts_how *how,
                              struct msim_error *err)
{
    uint32_t cp = how->cp, dp = how->dp, world = c->t->world_size;
    bool rows;

    c->tp = msim_shares_recorded_ranks(c->t, &rows);
    c->tp = c->tp ? c->tp : 1;
    if (world > c->tp * cp || (c->tp * cp == 1 && c->t->n_comms))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "the trace is of a job of %u ranks already, of which "
                         "%u are tensor parallel; want the trace of one that "
                         "is trained alone, or of tensor parallel ranks alone",
                         world, c->tp);
    if (dp * cp % c->ranks == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "dp x cp is %u x %u, which %u ranks with different "
                     "experts do not divide",
                     dp, cp, c->ranks);
}

/* ---- from beginning to end -----------------------------------------------
 */

static enum msim_status take_memory(struct spreading *c)
{
    size_t lives = (size_t)c->r.w.d.lives.n + 1,
           statements = (size_t)c->r.w.a.n + 1;

    c->regions = calloc(statements, sizeof(*c->regions));
    c->region = malloc(statements * sizeof(*c->region));
    c->forward = calloc(lives, 1);
    c->swapped = calloc(lives, 1);
    c->outside = calloc(lives, sizeof(*c->outside));
    c->sent = calloc(lives, sizeof(*c->sent));
    if (!c->regions || !c->region || !c->forward || !c->swapped ||
        !c->outside || !c->sent)
        return MSIM_ENOMEM;
    memset(c->region, 0xff, statements * sizeof(*c->region));
    return MSIM_OK;
}

static enum msim_status spread(struct spreading *c,
                               const struct msim_experts_how *how,
                               struct msim_strtab *strings,
                               struct msim_trace **out, struct msim_error *err)
{
    MSIM_TRY(msim_resizing_learn(&c->r, c->t, err));
    MSIM_TRY(msim_expert_sizes_find(&c->x, &c->r.sizes));
    MSIM_TRY(divide(c, err));
    MSIM_TRY(check(c, how, err));
    MSIM_TRY(msim_resizing_open(&c->r, strings, err));
    MSIM_TRY(take_memory(c));
    find_regions(c);
    find_readers(c);
    MSIM_TRY(begin_ranks(c, how));
    MSIM_TRY(msim_weave_walk(&c->r.w, c, visit));
    return msim_weave_finish(&c->r.w, out);
}

enum msim_status msim_experts_spread_new(struct msim_trace **out,
                                         const struct msim_trace *t,
                                         struct msim_strtab *strings,
                                         const struct msim_experts_how *how,
                                         struct msim_error *err)
{
    struct spreading c = {.t = t, .ranks = how->ranks};
    struct msim_error why = {0};
    char asked[64];
    enum msim_status status = spread(&c, how, strings, out, &why);

    if (status != MSIM_OK)
        *out = NULL;
    msim_expert_sizes_release(&c.x);
    free(c.regions);
    free(c.region);
    free(c.forward);
    free(c.swapped);
    free(c.outside);
    free(c.sent);
    snprintf(asked, sizeof(asked), "parallel.ep is %u", how->ranks);
    return msim_resizing_end(&c.r, status, asked, &why, err);
}

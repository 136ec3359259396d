/*
 * core/rewrite/ddp.c - gradients all-reduced in buckets, as
 * DistributedDataParallel does, and ZeRO 1 on top of it.
 *
 * Gradients go into buckets in the order in which they become ready, as after
 * DDP's first step; a bucket is full when it has reached its size, which is 1
 * MiB for the first. A full one is all-reduced while backward goes on:
 *
 *     AccumulateGrad: mul (into the bucket), ..., all_reduce
 *     last:           wait; copy_ of each gradient out of its bucket
 *
 * Buckets are there all the time, beside the gradients, unless these are views
 * of them, or are kept in memory of the program's own (main gradients), which
 * is reduced where it is. Only the last backward pass before a step sends;
 * where a stage of a pipeline goes back through several micro batches in it,
 * the last of these. What the stage before waits for is sent before the sums
 * are waited for.
 *
 * Where ranks have different experts, gradients of these have buckets of their
 * own, which the ranks reduce that have the same ones.
 */
#include "core/base/units.h"
#include "core/rewrite/repeat/reducer.h"
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/split/experts.h"
#include "core/rewrite/weave/draft.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>

/* Of a gradient, by the place of its statement. */
struct placed {
    struct msim_emit_flat gradient;
    uint32_t bucket; /* NONE: none */
    bool closes;     /* the bucket is full with it */
    bool expert;
};

struct bucket {
    struct msim_emit_flat flat;
};

/* Ranks that have the same parameters: of all, or of experts. */
struct copies {
    uint32_t ranks, group;
    int64_t sequence;
};

struct ddp {
    struct msim_weave *w;
    const struct msim_rewrite *r;
    struct placed *placed; /* by statement */
    struct bucket *buckets;
    /* Of the pass at hand: buckets, and the statement behind which what they
     * sum is waited for. */
    uint32_t pass, n_buckets, end;
    uint32_t *last;  /* by life: the last statement of a pass that keeps it */
    uint8_t *expert; /* by life: other ranks have the same; NULL: none has */
    struct copies copies[2];   /* by whether it is */
    struct msim_shard_units u; /* ZeRO 1 */
};

/* ---- buckets -------------------------------------------------------------
 */

static bool gradient_of(const struct ddp *c, uint32_t s,
                        struct msim_emit_flat *x)
{
    struct msim_weave_given g;

    if (c->w->gradient[s] == MSIM_NONE || !msim_weave_find_given(c->w, s, &g))
        return false;
    *x = (struct msim_emit_flat){(int64_t)msim_arg_elems(c->w->t, g.arg), 0,
                                 g.arg->dtype, g.arg->device};
    return true;
}

static bool trains(const struct msim_weave *w, uint32_t p)
{
    return w->a.passes[p].tail > w->a.passes[p].backward;
}

/* Does pass `p` send, or is it followed by another without a step between? */
static bool sends(const struct msim_weave *w, uint32_t p)
{
    uint32_t end = p + 1 < w->a.n_passes ? w->a.passes[p + 1].forward : w->a.n;

    for (uint32_t s = w->a.passes[p].tail; s < end; s++)
        if (w->a.rows[s].role == MSIM_ANATOMY_OPTIMIZER)
            return true;
    return end == w->a.n;
}

/* A bucket that is being filled, and the last statement that did. */
struct filling {
    uint32_t bucket, last; /* NONE: there is none */
    double bytes;
};

/* Into the bucket that is open, or a new one of the `*n`. */
static void fill(const struct ddp *c, struct filling *f, uint32_t s,
                 uint32_t *n)
{
    struct placed *x = &c->placed[s];
    double cap = c->r->bucket_mib > 0 ? c->r->bucket_mib : MSIM_BUCKET_MIB;

    if (f->bucket == MSIM_NONE)
        *f = (struct filling){.bucket = (*n)++};
    x->bucket = f->bucket;
    f->last = s;
    f->bytes += (double)x->gradient.elems *
                msim_dtype_bytes((enum msim_dtype)x->gradient.dtype);
    if (f->bytes < (f->bucket ? cap : MSIM_BUCKET_FIRST_MIB) * MSIM_MIB)
        return;
    x->closes = true;
    f->bucket = MSIM_NONE;
}

/* Buckets are the same memory in all passes: the storage of bucket i of one
 * pass is that of another. */
static void place(struct ddp *c, uint32_t p)
{
    const struct msim_anatomy_pass *pass = &c->w->a.passes[p];
    struct filling open[2] = {{.bucket = MSIM_NONE}, {.bucket = MSIM_NONE}};
    uint32_t n = 0;

    for (uint32_t s = pass->backward; s < pass->tail; s++)
        if (c->w->gradient[s] != MSIM_NONE)
            c->last[c->w->gradient[s]] = s;
    for (uint32_t s = pass->backward; s < pass->tail; s++) {
        struct placed *x = &c->placed[s];

        if (!gradient_of(c, s, &x->gradient) || c->last[c->w->gradient[s]] != s)
            continue;
        x->expert = c->expert && c->expert[c->w->gradient[s]];
        if (c->copies[x->expert].ranks > 1)
            fill(c, &open[x->expert], s, &n);
    }
    for (int k = 0; k < 2; k++)
        if (open[k].bucket != MSIM_NONE)
            c->placed[open[k].last].closes = true;
}

static bool sends_message(const struct msim_weave *w, uint32_t s)
{
    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++)
        if (w->t->ops[i].comm != MSIM_NONE &&
            msim_is_message(w->t->comms[w->t->ops[i].comm].collective))
            return true;
    return false;
}

/* The last statement of backward of pass `p`; or of what goes on to the stage
 * before, which need not wait for the sums. */
static uint32_t end_of(const struct msim_weave *w, uint32_t p)
{
    uint32_t end = w->a.passes[p].tail - 1;

    for (uint32_t s = end + 1;
         s < w->a.passes[p].end && w->a.rows[s].role != MSIM_ANATOMY_OPTIMIZER;
         s++)
        if (sends_message(w, s))
            end = s;
    return end;
}

static void begin_pass(struct ddp *c, uint32_t p)
{
    const struct msim_anatomy_pass *pass = &c->w->a.passes[p];

    c->pass = p;
    c->end = end_of(c->w, p);
    c->n_buckets = 0;
    for (uint32_t s = pass->backward; s < pass->tail; s++) {
        const struct placed *x = &c->placed[s];

        if (x->bucket == MSIM_NONE)
            continue;
        if (x->bucket == c->n_buckets) {
            uint32_t storage = c->buckets[x->bucket].flat.storage;

            c->buckets[c->n_buckets++].flat = x->gradient;
            c->buckets[x->bucket].flat.elems = 0;
            c->buckets[x->bucket].flat.storage =
                storage ? storage : msim_draft_fresh(&c->w->d);
        }
        c->buckets[x->bucket].flat.elems += x->gradient.elems;
    }
}

/* ---- statements ----------------------------------------------------------
 */

/* Memory for gradients that was there before the step, as the main gradients
 * that a program keeps itself, is the bucket. */
static bool is_kept(const struct ddp *c, uint32_t s)
{
    return c->w->d.lives.rows[c->w->gradient[s]].born == MSIM_NONE;
}

static struct msim_emit_flat own_gradient(const struct ddp *c, uint32_t s)
{
    struct msim_emit_flat x = c->placed[s].gradient;

    x.storage = c->w->d.storage[c->w->gradient[s]];
    return x;
}

/* Into the bucket; a full one is sent. */
static enum msim_status send(struct ddp *c, uint32_t s)
{
    struct msim_draft *d = &c->w->d;
    const struct placed *x = &c->placed[s];
    struct bucket *b = &c->buckets[x->bucket];
    struct msim_emit_flat from = own_gradient(c, s), to = from;
    struct msim_draft_place at = msim_weave_place(c->w, s);
    struct copies *among = &c->copies[x->expert];
    uint32_t group = d->group;
    enum msim_status status;
    struct msim_weave_given g;
    struct msim_emit_message m = {"c10d::allreduce_",
                                  MSIM_COLL_ALL_REDUCE,
                                  among->sequence + 1,
                                  b->flat,
                                  b->flat,
                                  0};
    bool kept = is_kept(c, s);

    to.storage = b->flat.storage;
    if (msim_weave_find_given(c->w, s, &g))
        at.parent = d->placed[g.accumulate];
    if (kept) {
        m.in = m.out = from;
        m.elems = b->flat.elems;
    } else {
        MSIM_TRY(msim_emit_op(d, at, "aten::mul", &to, &from, &to));
    }
    if (c->r->bucket_views && !kept)
        d->storage[c->w->gradient[s]] = to.storage;
    if (!x->closes)
        return MSIM_OK;
    among->sequence++;
    d->group = among->group;
    status = msim_emit_collective(d, at, &m);
    d->group = group;
    return status;
}

static enum msim_status wait_for(struct ddp *c, const struct copies *among,
                                 struct msim_draft_place at)
{
    uint32_t group = c->w->d.group;
    enum msim_status status;

    c->w->d.group = among->group;
    status = msim_emit_wait(&c->w->d, at, among->sequence);
    c->w->d.group = group;
    return status;
}

/* After the last: what was summed goes back to the gradients. */
static enum msim_status finish(struct ddp *c)
{
    const struct msim_anatomy_pass *pass = &c->w->a.passes[c->pass];
    struct msim_draft_place at = msim_weave_place(c->w, c->end);

    for (int k = 0; k < 2; k++)
        if (c->copies[k].sequence)
            MSIM_TRY(wait_for(c, &c->copies[k], at));
    for (uint32_t s = pass->backward; s < pass->tail && !c->r->bucket_views;
         s++) {
        struct msim_emit_flat to, from;

        if (c->placed[s].bucket == MSIM_NONE || is_kept(c, s))
            continue;
        to = from = own_gradient(c, s);
        from.storage = c->buckets[c->placed[s].bucket].flat.storage;
        MSIM_TRY(msim_emit_copy(&c->w->d, at, &to, &from));
    }
    return MSIM_OK;
}

/* The shares of other ranks. */
static enum msim_status gather(struct ddp *c, bool experts,
                               struct msim_draft_place at)
{
    struct copies *among = &c->copies[experts];
    uint32_t group = c->w->d.group;
    enum msim_status status;

    if (among->ranks <= 1)
        return MSIM_OK;
    c->w->d.group = among->group;
    status = msim_shard_units_gather(&c->u, experts, among->ranks, at,
                                     &among->sequence);
    c->w->d.group = group;
    return status;
}

/* ZeRO 1: one share of the step, then the other ranks' shares. */
static enum msim_status update(struct ddp *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    const struct msim_draft_how how = {.at = msim_weave_place(w, s),
                                       .share = c->copies[0].ranks,
                                       .other_share = c->copies[1].ranks,
                                       .others = c->expert};

    MSIM_TRY(msim_weave_copy_as(w, s, &how));
    if (!msim_weave_is_step(w, s) ||
        (s + 1 < w->a.n && w->a.rows[s + 1].role == MSIM_ANATOMY_OPTIMIZER))
        return MSIM_OK;
    MSIM_TRY(gather(c, false, how.at));
    return gather(c, true, how.at);
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct ddp *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];
    bool sends_here = row->pass != MSIM_NONE && trains(c->w, row->pass) &&
                      sends(c->w, row->pass);

    if (c->r->shard == MSIM_SHARD_ZERO1 && row->role == MSIM_ANATOMY_OPTIMIZER)
        return update(c, s);
    if (c->r->shard == MSIM_SHARD_ZERO1 && row->pass != MSIM_NONE &&
        s == c->w->a.passes[row->pass].forward)
        MSIM_TRY(msim_shard_units_view(&c->u, msim_weave_place(c->w, s)));
    if (sends_here && s == c->w->a.passes[row->pass].backward)
        begin_pass(c, row->pass);
    MSIM_TRY(msim_weave_copy(c->w, s));
    if (sends_here && c->placed[s].bucket != MSIM_NONE)
        MSIM_TRY(send(c, s));
    return s == c->end ? finish(c) : MSIM_OK;
}

/* Ranks that have had experts of their own and have the same ones now reduce
 * gradients of these; what else they reduce is recorded. */
static enum msim_status find_joined(struct ddp *c)
{
    const struct msim_trace *t = c->w->t;
    uint32_t group = msim_experts_data_group(t);
    bool reduces = false;

    for (uint32_t i = 0; i < t->n_comms; i++)
        reduces |= group != MSIM_NONE && t->comms[i].group == group;
    if (group != MSIM_NONE && !reduces)
        c->copies[1] = (struct copies){t->groups[group].size, group, 0};
    return msim_expert_lives_find(&c->expert, c->w);
}

static enum msim_status find_copies(struct ddp *c)
{
    const struct msim_split *p = &c->r->parallel;
    uint32_t copies = msim_rewrite_copies(c->r), group;
    bool whole = p->tp > 1 && msim_split_expert_shares(p) == 1;

    if (p->experts_join > 1 && copies <= 1)
        return find_joined(c);
    if (copies > 1 || !whole) {
        MSIM_TRY(msim_weave_spread(c->w, copies));
        c->copies[0] = (struct copies){copies, c->w->d.group, 0};
    }
    if (p->ep <= 1 && !whole)
        return MSIM_OK;
    group = msim_experts_data_group(c->w->t);
    c->copies[1] = (struct copies){
        group == MSIM_NONE ? 1 : c->w->t->groups[group].size, group, 0};
    return msim_expert_lives_find(&c->expert, c->w);
}

static enum msim_status open(struct ddp *c)
{
    size_t n = (size_t)c->w->a.n + 1;

    MSIM_TRY(find_copies(c));
    if (c->r->offload_states && c->r->shard == MSIM_SHARD_ZERO1)
        return msim_weave_refuse(c->w, "\"offload\" is not known of "
                                       "\"zero1\"; want it with \"fsdp\" or "
                                       "\"ddp\"");
    if (c->r->shard == MSIM_SHARD_ZERO1)
        MSIM_TRY(msim_shard_units_find(&c->u, c->w, false, c->expert));
    c->placed = malloc(n * sizeof(*c->placed));
    c->buckets = calloc(n, sizeof(*c->buckets));
    c->last = calloc((size_t)c->w->d.lives.n + 1, sizeof(*c->last));
    if (!c->placed || !c->buckets || !c->last)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < c->w->a.n; s++)
        c->placed[s] = (struct placed){.bucket = MSIM_NONE};
    for (uint32_t p = 0; p < c->w->a.n_passes; p++)
        place(c, p);
    return MSIM_OK;
}

enum msim_status msim_stage_ddp(struct msim_weave *w,
                                const struct msim_rewrite *r)
{
    struct ddp c = {.w = w, .r = r, .end = MSIM_NONE};
    enum msim_status status = open(&c);

    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    if (status == MSIM_OK && !c.copies[0].sequence && c.copies[0].ranks > 1 &&
        trains(w, 0))
        status = msim_weave_refuse(w, "no operator of the trace keeps a "
                                      "gradient (AccumulateGrad), so that "
                                      "none can be all-reduced");
    msim_shard_units_release(&c.u);
    free(c.expert);
    free(c.placed);
    free(c.buckets);
    free(c.last);
    return status;
}

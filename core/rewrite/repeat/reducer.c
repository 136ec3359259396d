/*
 * core/rewrite/repeat/reducer.c - DDP's buckets, taken apart and filled anew.
 */
#include "core/rewrite/repeat/reducer.h"

#include "core/base/containers.h"

#include <stdlib.h>

struct reducing {
    struct msim_weave w;
    struct msim_bucketed b;
    bool together; /* buckets are put together, not taken apart */
    int64_t later; /* added to the numbers of collectives from here on */
    struct msim_draft_part *parts[2]; /* of one operator, in and out */
    uint32_t cap_parts[2];
};

/* ---- places -----------------------------------------------------------------
 */

/* Storages: a gradient's own, or its bucket's; those of a later pass as of the
 * first. */
static void place(struct reducing *r)
{
    uint32_t from = 0, first = 0;

    for (uint32_t i = 0; i < r->b.n; i++) {
        struct msim_bucketed_gradient *g = &r->b.gradients[i];

        if (g->pass != r->b.gradients[from].pass)
            from = i;
        first = from ? first : i + 1; /* gradients of the first pass */
        if (r->together && g->at)
            g->storage = g[-1].storage;
        else if (from && i - from < first)
            g->storage = r->b.gradients[i - from].storage;
        else
            g->storage = msim_draft_fresh(&r->w.d);
    }
}
/* ---- copies
 * -------------------------------------------------------------------
 */

/* Where a whole bucket is: on life `life`, of `elems`, in `storage`; and where
 * the part begins that a statement is of. */
struct moving {
    uint32_t life, storage;
    int64_t at, elems;
    bool message; /* which names nothing else */
};

static struct msim_draft_part whole(const struct moving *m, uint32_t arg,
                                    uint32_t id)
{
    return (struct msim_draft_part){.arg = arg,
                                    .id = id,
                                    .storage = m->storage,
                                    .moved = true,
                                    .count = m->elems};
}

static struct msim_draft_part part(const struct msim_bucketed_gradient *g,
                                   uint32_t arg, uint32_t id)
{
    return (struct msim_draft_part){.arg = arg,
                                    .id = id,
                                    .storage = g->storage,
                                    .moved = true,
                                    .at = g->at};
}

/* Arguments or results of an operator; `*any`: some of them move. */
static enum msim_status move_side(struct reducing *r, const struct moving *m,
                                  uint32_t op, int side, bool *any)
{
    const struct msim_trace *t = r->w.t;
    const struct msim_op *o = &t->ops[op];
    uint32_t block = side ? o->outs : o->args, id = side ? o->out_ids : o->ids;
    uint32_t n = block == MSIM_NONE ? 0 : t->blocks[block].count, g;
    bool strided = m && !side && msim_bucketed_is_strided(&r->b, op);

    while (r->cap_parts[side] < n || !r->parts[side])
        MSIM_TRY(msim_grow((void **)&r->parts[side], &r->cap_parts[side],
                           r->cap_parts[side], sizeof(*r->parts[side])));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t arg = t->blocks[block].first + i;
        bool tensor = t->args[arg].kind == MSIM_ARG_TENSOR && id != MSIM_NONE;
        struct msim_draft_part x = {.arg = arg, .id = tensor ? id : MSIM_NONE};

        if (tensor && m && (m->message || strided) &&
            r->w.d.lives.of[id] == m->life)
            x = whole(m, arg, id);
        else if (tensor && (g = msim_bucketed_part(&r->b, id)) != MSIM_NONE)
            x = part(&r->b.gradients[g], arg, id);
        *any |= x.moved;
        if (strided && *any && i + 1 == n) { /* where the part begins */
            x.moved = true;
            x.at = m->at;
        }
        r->parts[side][i] = x;
        id += tensor;
    }
    return MSIM_OK;
}

static enum msim_status copy_op(struct reducing *r, uint32_t op,
                                struct msim_draft_place at,
                                const struct moving *m)
{
    const struct msim_op *o = &r->w.t->ops[op];
    const struct msim_arg_block *blocks = r->w.t->blocks;
    const struct msim_draft_how how = {.at = at};
    struct msim_trace *out = r->w.d.out;
    bool any = false;

    MSIM_TRY(move_side(r, m, op, 0, &any));
    MSIM_TRY(move_side(r, m, op, 1, &any));
    if (any)
        MSIM_TRY(msim_draft_copy_parts(
            &r->w.d, op, &how,
            &(struct msim_draft_parts){
                r->parts[0], r->parts[1],
                o->args == MSIM_NONE ? 0 : blocks[o->args].count,
                o->outs == MSIM_NONE ? 0 : blocks[o->outs].count}));
    else
        MSIM_TRY(msim_draft_copy(&r->w.d, op, &how));
    if (o->comm == MSIM_NONE)
        return MSIM_OK;
    if (out->comms[out->n_comms - 1].sequence >= 0)
        out->comms[out->n_comms - 1].sequence += r->later;
    if (m && m->message)
        out->comms[out->n_comms - 1].in_elems =
            out->comms[out->n_comms - 1].out_elems = (uint64_t)m->elems;
    return MSIM_OK;
}

/* Operators [first, end), the first of them at `at`; `m` NULL: nothing moves.
 */
static enum msim_status copy_ops(struct reducing *r, uint32_t first,
                                 uint32_t end, struct msim_draft_place at,
                                 const struct moving *m)
{
    for (uint32_t i = first; i < end; i++) {
        if (r->b.strays[i] && !(m && m->message))
            continue;
        if (i > first)
            at.parent = r->w.d.placed[r->w.t->ops[i].parent];
        MSIM_TRY(copy_op(r, i, at, m));
    }
    return MSIM_OK;
}

/* Statement `s`, which is of a gradient, without its operators from `end` on.
 */
static enum msim_status copy_statement(struct reducing *r, uint32_t s,
                                       uint32_t end)
{
    const struct msim_bucketed_gradient *g = &r->b.gradients[r->b.of[s]];
    const struct moving m = {
        g->life, g->storage, g->at,
        r->together ? r->b.buckets[g->bucket].elems : g->elems, false};

    return copy_ops(r, r->w.a.rows[s].op, end, msim_weave_place(&r->w, s), &m);
}

/* `message` as that of bucket `b` behind statement `s`; with buckets apart it
 * has memory of its own. */
static enum msim_status copy_message(struct reducing *r, uint32_t s,
                                     uint32_t message,
                                     const struct msim_bucketed_one *b)
{
    struct msim_draft_place at = msim_weave_place(&r->w, s);
    struct moving m = {.elems = b->elems, .message = true};

    (void)msim_bucketed_sent(&r->b, message, &m.life);
    m.storage = r->together ? r->b.gradients[b->first].storage
                            : msim_draft_fresh(&r->w.d);
    at.parent = r->w.d.placed[r->w.a.rows[s].op];
    MSIM_TRY(copy_ops(r, message, r->w.t->ops[message].end, at, &m));
    at.parent = r->w.d.placed[message];
    for (uint32_t i = r->w.t->ops[message].end; i < r->w.t->n_ops; i++)
        if (r->b.strays[i] && msim_bucketed_given(&r->b, i) == m.life)
            return copy_op(r, i, at, &m);
    return MSIM_OK;
}

/* The message of a pass's last gradient, if that is apart, is that of all. */
static uint32_t message_of(const struct reducing *r, uint32_t i)
{
    while (r->b.gradients[i].message == MSIM_NONE && i + 1 < r->b.n)
        i++;
    return r->b.gradients[i].message;
}

static enum msim_status copy_gradient(struct reducing *r, uint32_t s)
{
    uint32_t i = r->b.of[s], end = msim_anatomy_end(&r->w.a, s);
    const struct msim_bucketed_gradient *g = &r->b.gradients[i];
    const struct msim_bucketed_one *b = &r->b.buckets[g->bucket];
    bool closes = i + 1 == b->first + b->n;
    bool last = i + 1 == r->b.n || g[1].pass != g->pass;

    MSIM_TRY(copy_statement(r, s, g->message == MSIM_NONE ? end : g->message));
    if (closes && (r->together || last))
        MSIM_TRY(copy_message(r, s, message_of(r, i), b));
    if (closes && !last)
        r->later += r->together ? 1 : -1;
    return MSIM_OK;
}

/* Gradients [first, end) behind backward: step by step for all of them. */
static enum msim_status copy_steps(struct reducing *r, uint32_t first,
                                   uint32_t end)
{
    bool more = true;

    for (uint32_t k = 0; more; k++) {
        more = false;
        for (uint32_t i = first; i < end; i++) {
            const struct msim_bucketed_gradient *g = &r->b.gradients[i];
            uint32_t s = r->b.steps[g->first_step + k];

            if (k >= g->n_steps)
                continue;
            more = true;
            MSIM_TRY(copy_statement(r, s, msim_anatomy_end(&r->w.a, s)));
        }
    }
    return MSIM_OK;
}

/* All of them, bucket by bucket, where the first one stands. */
static enum msim_status copy_behind(struct reducing *r, uint32_t s)
{
    uint32_t i = r->b.of[s], pass = r->b.gradients[i].pass, n;

    if (i && r->b.gradients[i - 1].pass == pass)
        return MSIM_OK;
    if (r->b.steps[r->b.gradients[i].first_step] != s)
        return MSIM_OK;
    for (; i < r->b.n && r->b.gradients[i].pass == pass; i += n) {
        n = r->together ? r->b.buckets[r->b.gradients[i].bucket].n : 1;
        MSIM_TRY(copy_steps(r, i, i + n));
    }
    return MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct reducing *r = ctx;

    if (r->b.of[s] == MSIM_NONE)
        return copy_ops(r, r->w.a.rows[s].op, msim_anatomy_end(&r->w.a, s),
                        msim_weave_place(&r->w, s), NULL);
    return r->w.a.rows[s].role == MSIM_ANATOMY_TAIL ? copy_behind(r, s)
                                                    : copy_gradient(r, s);
}

/* ---- all of it
 * ----------------------------------------------------------------
 */

static enum msim_status make(struct reducing *r, struct msim_trace **out)
{
    place(r);
    r->w.elsewhere = r->b.strays; /* copied with their messages */
    MSIM_TRY(msim_weave_walk(&r->w, r, visit));
    return msim_weave_finish(&r->w, out);
}

static void release(struct reducing *r)
{
    msim_bucketed_release(&r->b);
    msim_weave_close(&r->w);
    free(r->parts[0]);
    free(r->parts[1]);
}

/* The buckets of an open weave as they are recorded, and what fills them. */
static enum msim_status look(struct reducing *r, struct msim_bucket_caps *caps,
                             bool *are)
{
    *are = false;
    MSIM_TRY(msim_bucketed_find(&r->b));
    MSIM_TRY(msim_bucketed_recorded(&r->b, are));
    *are = *are && (caps->first || msim_bucketed_caps(&r->b, caps));
    return MSIM_OK;
}

enum msim_status msim_reducer_apart(struct msim_trace **out,
                                    const struct msim_trace *t,
                                    struct msim_strtab *strings,
                                    struct msim_bucket_caps *caps,
                                    struct msim_error *err)
{
    struct reducing r = {.b.w = &r.w};
    enum msim_status status = msim_weave_open_forward(&r.w, t, strings, err);
    bool are = false;

    *out = NULL;
    if (status == MSIM_OK)
        status = look(&r, caps, &are);
    if (status == MSIM_OK && are)
        status = make(&r, out);
    release(&r);
    return status;
}

enum msim_status msim_reducer_together(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_bucket_caps *caps,
                                       struct msim_error *err)
{
    struct reducing r = {.b.w = &r.w, .together = true};
    enum msim_status status = msim_weave_open(&r.w, t, strings, err);

    *out = NULL;
    if (status == MSIM_OK)
        status = msim_bucketed_find(&r.b);
    if (status == MSIM_OK)
        status = msim_bucketed_fill(&r.b, caps);
    if (status == MSIM_OK)
        status = make(&r, out);
    release(&r);
    return status;
}

/* Buckets of `view` as they are, and behind them as they would be filled. */
static enum msim_status refill(struct reducing *r,
                               struct msim_bucket_caps *caps, bool *differ)
{
    uint32_t n;
    bool are;

    MSIM_TRY(look(r, caps, &are));
    n = r->b.n_buckets;
    if (!are)
        return MSIM_OK;
    MSIM_TRY(msim_bucketed_fill(&r->b, caps));
    *differ = r->b.n_buckets != 2 * n;
    for (uint32_t i = 0; i < n && !*differ; i++)
        *differ = r->b.buckets[i].n != r->b.buckets[n + i].n;
    return MSIM_OK;
}

enum msim_status msim_reducer_differ(bool *differ,
                                     struct msim_bucket_caps *caps,
                                     const struct msim_trace *t,
                                     const struct msim_trace *view,
                                     struct msim_strtab *strings)
{
    const struct msim_trace *both[2] = {t, view};
    enum msim_status status = MSIM_OK;

    *caps = (struct msim_bucket_caps){0, 0};
    *differ = false;
    for (int i = 0; i < 2 && status == MSIM_OK && (!i || caps->first); i++) {
        struct reducing r = {.b.w = &r.w};
        bool are;

        status = msim_weave_open_forward(&r.w, both[i], strings, NULL);
        if (status == MSIM_OK)
            status = i ? refill(&r, caps, differ) : look(&r, caps, &are);
        release(&r);
    }
    return status == MSIM_EUSAGE ? MSIM_OK : status;
}

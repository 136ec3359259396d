/*
 * core/rewrite/tensor.c - a recorded step as one of several tensor parallel
 * ranks runs it.
 *
 * What each tensor's share is, and where ranks meet, is told by
 * split/experts.h. A statement that wants all rows has them gathered before it;
 * one that makes parts of sums has them summed behind it:
 *
 *     norm           rows             norm           whole
 *     all_gather     rows to whole    linear         a share
 *     linear         a share          attention      a share
 *     attention      a share          linear         part of a sum
 *     linear         part of a sum    all_reduce     whole
 *     reduce_scatter sum to rows
 *
 * on the left with sequence parallelism. What was gathered in forward is not
 * kept: backward gathers again (Korthikanti et al., "Reducing Activation
 * Recomputation in Large Transformer Models", 2022), once for all statements
 * that read it, and so does what is computed again. A vocabulary that is shared
 * out takes three reductions of one number a token in the loss: maximum, sum,
 * and what its target has (Shoeybi et al., "Megatron-LM", 2019, 3).
 */
#include "core/rewrite/rewrite.h"

#include "core/rewrite/meet/dtensor.h"
#include "core/rewrite/meet/part_sums.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>
#include <string.h>

struct sharing {
    struct msim_weave w;
    struct msim_shares s;
    struct msim_dtensor x;
    bool rows;          /* sequence parallel */
    bool dtensor;       /* by PyTorch's DTensor */
    uint8_t *partial;   /* by life: a gradient that ranks have parts of */
    uint32_t *gathered; /* by life: the storage of all rows; 0: none */
    uint32_t *since;    /* by life: in which part of a pass it was */
    uint8_t *whole;     /* by life: the statement at hand has all rows of it */
    uint32_t *own;      /* by such a life: the storage of its rows */
    uint32_t *list, n;  /* such lives */
    struct msim_part_sums parts;
    int64_t calls;
};

/* ---- messages ------------------------------------------------------------
 */

/* Where what is inserted at statement `s` stands: in one statement, so that
 * blocks of layers look as before, and a backward pass does not end there. */
static enum msim_status place_of(struct sharing *c, uint32_t s, bool gathers,
                                 struct msim_draft_place *at)
{
    static const char *const NAMES[2][2] = {
        {"TensorParallelReduce", MSIM_EMIT_BACKWARD "TensorParallelReduce"},
        {"TensorParallelGather", MSIM_EMIT_GATHER}};
    bool back = c->w.a.rows[s].role == MSIM_ANATOMY_BACKWARD;

    return msim_weave_hold(&c->w, NAMES[gathers][back],
                           msim_weave_place(&c->w, s), at);
}

/* What a message is of: rows, each as wide as the tensor is. */
struct rows {
    int64_t dims[2];
    uint32_t storage;
    uint8_t dtype, device;
};

static struct msim_draft_tensor tensor_of(const struct rows *x)
{
    return (struct msim_draft_tensor){.dtype = x->dtype,
                                      .device = x->device,
                                      .n = 2,
                                      .storage = x->storage,
                                      .dims = x->dims};
}

static enum msim_status make(struct sharing *c, struct msim_draft_place at,
                             const struct rows *x)
{
    const struct msim_draft_tensor out = tensor_of(x);

    return msim_draft_add(
        &c->w.d,
        &(struct msim_draft_op){
            .name = "aten::empty", .at = at, .out = &out, .n_out = 1},
        NULL);
}

static enum msim_status send(struct sharing *c, struct msim_draft_place at,
                             const char *name, enum msim_collective what,
                             const struct rows *in, const struct rows *out)
{
    const struct msim_draft_tensor both[2] = {tensor_of(in), tensor_of(out)};
    const struct msim_comm comm = {
        .in_elems = (uint64_t)(in->dims[0] * in->dims[1]),
        .out_elems = (uint64_t)(out->dims[0] * out->dims[1]),
        .sequence = c->calls,
        .peer = -1,
        .group = c->w.d.group,
        .op = MSIM_NONE,
        .collective = (uint8_t)what,
        .dtype = in->dtype};

    MSIM_TRY(msim_emit_recorded(
        &c->w.d,
        (struct msim_draft_op){.at = at, .in = both, .n_in = 2, .comm = &comm},
        name));
    return msim_emit_recorded_wait(&c->w.d, at, c->calls++);
}

/* All of a tensor, or one rank's `share` of its rows. Whoever reads it first
 * may see it turned, with tokens last. */
static struct rows rows_of(const struct sharing *c,
                           const struct msim_lives_each *e, uint32_t storage,
                           bool share)
{
    const struct msim_arg *a = e->arg;
    int64_t elems = (int64_t)msim_arg_elems(c->w.t, a);
    int64_t width = a->n ? msim_arg_dims(c->w.t, a)[a->n - 1] : 1;

    if (a->n > 1 && width > 1 &&
        msim_shares_tokens(&c->s, e->id - 1, a->n) == a->n - 1)
        width = elems / width;
    if (width < 1)
        width = 1;
    return (struct rows){{elems / width / (share ? c->s.ranks : 1), width},
                         storage,
                         a->dtype,
                         a->device};
}

/* ---- rows to whole tensors -----------------------------------------------
 */

/* Forward, what backward computes again, or backward, of all passes. Each gives
 * back what it gathered. */
static uint32_t part_of(const struct sharing *c, uint32_t s)
{
    const struct msim_anatomy_statement *row = &c->w.a.rows[s];
    bool back = row->role == MSIM_ANATOMY_BACKWARD;

    return 3 * row->pass + back +
           (back && msim_anatomy_is_autograd(&c->w.a, s)) + 1;
}

/* From here to the end of the statement `life` is whole, in `storage`. */
static void put_whole(struct sharing *c, uint32_t life, uint32_t storage)
{
    c->own[life] = c->w.d.storage[life];
    c->w.d.storage[life] = storage;
    c->whole[life] = 1;
    c->list[c->n++] = life;
}

/* DTensors keep for backward what was gathered in forward. */
static bool is_gathered(const struct sharing *c, uint32_t s, uint32_t life)
{
    uint32_t since = c->since[life], part = part_of(c, s);

    return since == part ||
           (c->dtensor && since && (since - 1) / 3 == (part - 1) / 3);
}

static enum msim_status gather(struct sharing *c, uint32_t s,
                               const struct msim_lives_each *e)
{
    struct msim_draft *d = &c->w.d;
    struct msim_draft_place at;
    struct rows in, out;

    if (!is_gathered(c, s, e->life)) {
        c->since[e->life] = part_of(c, s);
        c->gathered[e->life] = msim_draft_fresh(d);
        in = rows_of(c, e, d->storage[e->life], true);
        out = rows_of(c, e, c->gathered[e->life], false);
        MSIM_TRY(place_of(c, s, true, &at));
        MSIM_TRY(make(c, at, &out));
        MSIM_TRY(send(c, at, "nccl:_all_gather_base", MSIM_COLL_ALL_GATHER, &in,
                      &out));
    }
    put_whole(c, e->life, c->gathered[e->life]);
    return MSIM_OK;
}

/* What statement `s` has written in place is gathered anew. */
static void forget_written(struct sharing *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        if (msim_weave_is_in_place(w, i) && msim_lives_next(&e) &&
            e.life != MSIM_NONE)
            c->since[e.life] = 0;
    }
}

/* A cast that the statement makes itself cannot be gathered before it. */
static bool is_made_in(const struct sharing *c, uint32_t s, uint32_t life)
{
    uint32_t born = c->w.d.lives.rows[life].born;

    return born != MSIM_NONE && born > c->w.a.rows[s].op &&
           born < msim_anatomy_end(&c->w.a, s);
}

static enum msim_status refuse_made(struct sharing *c, uint32_t op)
{
    return msim_weave_refuse(
        &c->w,
        "parallel.tp is %u: operator %u, %s, is given tokens that its caller "
        "cast; want a step in 16 bits, and \"dtype\": \"fp8\" beside, or "
        "\"sequence_parallel\": false",
        c->s.ranks, op, msim_trace_text(c->w.t, c->w.t->ops[op].name));
}

/* What operators of statement `s` want whole, and is there in rows. */
static enum msim_status gather_all(struct sharing *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        enum msim_shares_meet meet = msim_shares_meet_at(&c->s, i);
        struct msim_lives_each e = msim_lives_inputs(&w->d.lives, w->t, i);

        if (meet != MSIM_SHARES_WHOLE && meet != MSIM_SHARES_SUM)
            continue;
        while (msim_lives_next(&e)) {
            if (e.life == MSIM_NONE || !c->s.rows[e.life] || c->whole[e.life])
                continue;
            if (e.arg->dtype == MSIM_DT_F8 && is_made_in(c, s, e.life))
                return refuse_made(c, i);
            MSIM_TRY(gather(c, s, &e));
        }
    }
    return MSIM_OK;
}

/* ---- sums ----------------------------------------------------------------
 */

/* Parts of sums in rows are made whole first. */
static void prepare_sums(struct sharing *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each e;

        if (msim_part_sums_makes(&c->parts, i, &e) && c->s.rows[e.life] &&
            !c->whole[e.life])
            put_whole(c, e.life, msim_draft_fresh(&c->w.d));
    }
}

static enum msim_status sum(struct sharing *c, uint32_t s,
                            const struct msim_lives_each *e)
{
    struct msim_draft *d = &c->w.d;
    struct rows in = rows_of(c, e, d->storage[e->life], false), out;
    struct msim_draft_place at;

    MSIM_TRY(place_of(c, s, false, &at));
    if (!c->s.rows[e->life])
        return send(c, at, "nccl:all_reduce", MSIM_COLL_ALL_REDUCE, &in, &in);
    out = rows_of(c, e, c->own[e->life], true);
    MSIM_TRY(make(c, at, &out));
    return send(c, at, "nccl:_reduce_scatter_base", MSIM_COLL_REDUCE_SCATTER,
                &in, &out);
}

/* `times` reductions of one number for each row of what `op` is given. */
static enum msim_status sum_rows(struct sharing *c, uint32_t s, uint32_t op,
                                 int times)
{
    struct msim_lives_each e = msim_lives_inputs(&c->w.d.lives, c->w.t, op);
    struct msim_draft_place at;
    struct rows x;

    if (!msim_lives_next(&e) || !e.arg->n)
        return MSIM_OK;
    x = rows_of(c, &e, msim_draft_fresh(&c->w.d), false);
    x.dims[1] = 1;
    MSIM_TRY(place_of(c, s, false, &at));
    MSIM_TRY(make(c, at, &x));
    for (int i = 0; i < times; i++)
        MSIM_TRY(send(c, at, "nccl:all_reduce", MSIM_COLL_ALL_REDUCE, &x, &x));
    return MSIM_OK;
}

static enum msim_status sum_all(struct sharing *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        enum msim_shares_meet meet = msim_shares_meet_at(&c->s, i);
        struct msim_lives_each e;

        if (msim_part_sums_makes(&c->parts, i, &e))
            MSIM_TRY(msim_part_sums_made(&c->parts, i, e.life) ? MSIM_OK
                                                               : sum(c, s, &e));
        else if (meet == MSIM_SHARES_MAX || meet == MSIM_SHARES_ROWS)
            MSIM_TRY(sum_rows(c, s, i, meet == MSIM_SHARES_MAX ? 2 : 1));
    }
    return MSIM_OK;
}

/* ---- statements ----------------------------------------------------------
 */

static void resize(void *ctx, const struct msim_arg *arg, uint32_t id,
                   int64_t *dims)
{
    const struct sharing *c = ctx;
    uint32_t life = c->w.d.lives.of[id], at;

    if (life == MSIM_NONE || !c->s.rows[life] || c->whole[life])
        return;
    at = msim_shares_tokens(&c->s, id, arg->n);
    if (at != MSIM_NONE)
        dims[at] /= c->s.ranks;
}

static enum msim_status copy_as(struct sharing *c, uint32_t s,
                                const struct msim_draft_how *how)
{
    return c->dtensor ? msim_dtensor_copy(&c->x, s, how)
                      : msim_weave_copy_as(&c->w, s, how);
}

/* Ranks have parts of gradients that statement `s` makes of their rows alone,
 * as a norm's. */
static void note_partial(struct sharing *c, uint32_t s)
{
    const struct msim_weave *w = &c->w;

    for (uint32_t i = w->a.rows[s].op; i < msim_anatomy_end(&w->a, s); i++) {
        struct msim_lives_each in = msim_lives_inputs(&w->d.lives, w->t, i);
        struct msim_lives_each e = msim_lives_outputs(&w->d.lives, w->t, i);
        bool rows = false;

        while (msim_lives_next(&in))
            rows |= in.life != MSIM_NONE && c->s.rows[in.life] &&
                    !c->whole[in.life];
        while (rows && msim_lives_next(&e))
            if (e.life != MSIM_NONE && w->kind[e.life] == MSIM_LIFE_GRADIENT &&
                !msim_shares_is_divided(&c->s, e.id - 1, e.arg->n))
                c->partial[e.life] = 1;
    }
}

/* Behind backward. DTensor sums such a gradient for each operator that reads
 * it, as often as that does. */
static enum msim_status update(struct sharing *c, uint32_t s)
{
    struct msim_weave *w = &c->w;
    struct msim_lives_each e =
        msim_lives_inputs(&w->d.lives, w->t, w->a.rows[s].op);
    const struct msim_draft_how how = {.at = msim_weave_place(w, s)};

    while (c->dtensor && msim_lives_next(&e)) {
        struct msim_draft_place at;
        struct rows x;

        if (e.life == MSIM_NONE || !c->partial[e.life])
            continue;
        x = rows_of(c, &e, msim_draft_fresh(&w->d), false);
        MSIM_TRY(place_of(c, s, false, &at));
        MSIM_TRY(make(c, at, &x));
        MSIM_TRY(send(c, at, "nccl:all_reduce", MSIM_COLL_ALL_REDUCE, &x, &x));
    }
    return copy_as(c, s, &how);
}

/* But for parts that wait for others. */
static void end_whole(struct sharing *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t life = c->list[i];

        if (c->parts.waits[life]) {
            c->list[n++] = life;
            continue;
        }
        c->w.d.storage[life] = c->own[life];
        c->whole[life] = 0;
    }
    c->n = n;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct sharing *c = ctx;
    struct msim_weave *w = &c->w;
    const struct msim_draft_how how = {
        .at = msim_weave_place(w, s), .resize = resize, .ctx = c};

    if (w->a.rows[s].pass == MSIM_NONE ||
        w->a.rows[s].role > MSIM_ANATOMY_BACKWARD)
        return update(c, s);
    MSIM_TRY(gather_all(c, s));
    prepare_sums(c, s);
    MSIM_TRY(copy_as(c, s, &how));
    note_partial(c, s);
    MSIM_TRY(sum_all(c, s));
    forget_written(c, s);
    end_whole(c);
    return MSIM_OK;
}

/* ---- from beginning to end -----------------------------------------------
 */

static enum msim_status check_alone(const struct msim_trace *t, uint32_t ranks,
                                    struct msim_error *err)
{
    if (t->world_size <= 1 && !t->n_comms)
        return MSIM_OK;
    return msim_fail(
        err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
        "parallel.tp is %u, but the trace is of a job of %u ranks that "
        "exchange tensors already; want the trace of one that is trained "
        "alone, or of so many tensor parallel ranks",
        ranks, t->world_size);
}

/* The ranks are a group of their own. */
static enum msim_status begin_ranks(struct sharing *c)
{
    struct msim_trace *o = c->w.d.out;

    o->world_size = c->s.ranks;
    return msim_draft_add_group(&c->w.d, "tensor parallel", c->s.ranks, 0, 1,
                                &c->w.d.group);
}

static enum msim_status take_memory(struct sharing *c)
{
    size_t n = (size_t)c->w.d.lives.n + 1;

    c->gathered = calloc(n, sizeof(*c->gathered));
    c->since = calloc(n, sizeof(*c->since));
    c->own = calloc(n, sizeof(*c->own));
    c->list = calloc(n, sizeof(*c->list));
    c->whole = calloc(n, 1);
    c->partial = calloc(n, 1);
    if (!c->s.rows)
        c->s.rows = calloc(n, 1);
    return c->gathered && c->since && c->own && c->list && c->whole &&
                   c->partial && c->s.rows
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static enum msim_status split(struct sharing *c, struct msim_trace **out)
{
    MSIM_TRY(begin_ranks(c));
    if (c->rows)
        MSIM_TRY(msim_shares_rows(&c->s, &c->w));
    MSIM_TRY(take_memory(c));
    MSIM_TRY(msim_part_sums_begin(&c->parts, &c->s, &c->w));
    if (c->dtensor)
        MSIM_TRY(msim_dtensor_find(&c->x, &c->s, &c->w));
    MSIM_TRY(msim_weave_walk(&c->w, c, visit));
    return msim_weave_finish(&c->w, out);
}

enum msim_status msim_tensor_split_new(struct msim_trace **out,
                                       const struct msim_trace *t,
                                       struct msim_strtab *strings,
                                       const struct msim_split *how,
                                       struct msim_error *err)
{
    struct sharing c = {.rows = how->rows, .dtensor = how->dtensor};
    enum msim_status status = check_alone(t, how->tp, err);

    *out = NULL;
    if (status == MSIM_OK)
        status = msim_shares_find(&c.s, t, how->tp, how->rows,
                                  msim_split_expert_shares(how) > 1, err);
    if (status == MSIM_OK)
        status = msim_weave_open_forward(&c.w, c.s.view, strings, err);
    if (status == MSIM_OK)
        status = split(&c, out);
    free(c.gathered);
    free(c.since);
    free(c.own);
    free(c.list);
    free(c.whole);
    msim_part_sums_release(&c.parts);
    free(c.partial);
    msim_dtensor_release(&c.x);
    msim_weave_close(&c.w);
    msim_shares_release(&c.s);
    return status;
}

enum msim_status msim_tensor_check_recorded(const struct msim_trace *t,
                                            const struct msim_split *how,
                                            struct msim_error *err)
{
    bool rows;
    uint32_t ranks = msim_shares_recorded_ranks(t, &rows);

    if (ranks && how->tp && how->tp < ranks && ranks % how->tp)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "parallel.tp is %u, but the trace is of one of %u "
                         "tensor parallel ranks; want a number that divides "
                         "these",
                         how->tp, ranks);
    if (!ranks || !how->rows_said || how->rows == rows)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "parallel.sequence_parallel is %s, but the recorded %u "
                     "tensor parallel ranks %s tokens between products",
                     how->rows ? "true" : "false", ranks,
                     rows ? "share" : "do not share");
}

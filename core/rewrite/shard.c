/*
 * core/rewrite/shard.c - parameters, gradients and states shared out over the
 * ranks of data parallel: ZeRO 2, and FSDP.
 *
 *     fsdp           a unit is gathered before forward and before backward,
 *                    freed after each; gradients are reduce-scattered
 *     shard_grad_op  a unit is gathered before forward, freed after backward
 *     no_shard       whole parameters, gradients all-reduced unit by unit
 *     zero2          whole parameters; gradients reduce-scattered; gathered
 *                    after the optimizer's step
 *
 * As in PyTorch's FSDP the next unit is gathered while one is computed, the
 * root stays until backward has ended, gradients of a unit are put into one
 * tensor, and reduced when the last of them is there. The optimizer has a share
 * of each tensor.
 */
#include "core/base/containers.h"
#include "core/rewrite/rewrite_internal.h"
#include "core/rewrite/weave/draft.h"

#include <stdlib.h>

/* A gradient that waits for the others of its unit. */
struct taken {
    struct msim_draft_tensor tensor;
    uint32_t unit, kept; /* the life that later operators name */
};

struct holding {
    uint32_t shard, whole, gradient; /* storages; gradient 0: none yet */
    bool present;
    int64_t waits_for; /* number of a collective; 0: none */
};

struct sharding {
    struct msim_weave *w;
    const struct msim_rewrite *r;
    struct msim_shard_units u;
    struct holding *held; /* by unit */
    struct taken *taken;
    uint32_t n_taken, cap_taken;
    struct msim_draft_tensor *list; /* of one unit */
    uint32_t cap_list;
    int64_t sequence;
    bool gathers, scatters; /* parameters; gradients */
    bool reduced;           /* a unit's gradients */
};

static int64_t share_of(const struct sharding *c, uint32_t unit)
{
    int64_t ranks = c->scatters ? c->r->world : 1;

    return (c->u.rows[unit].elems + ranks - 1) / ranks;
}

static uint8_t home(const struct sharding *c, uint32_t unit)
{
    return c->r->offload_states ? MSIM_DEV_HOST : c->u.rows[unit].device;
}

/* ---- FSDP's own work -----------------------------------------------------
 */

/*
 * What FSDP's Python does around a unit, and for each parameter of it: hooks,
 * views of parameters. They are operators without tensors, named as FSDP
 * records them, whose time data/hosts has.
 */
static enum msim_status hook(struct sharding *c, uint32_t unit,
                             struct msim_draft_place at, const char *name,
                             const char *each)
{
    uint32_t n = c->u.first[unit + 1] - c->u.first[unit];

    if (c->r->shard == MSIM_SHARD_ZERO2 || !c->u.rows[unit].elems)
        return MSIM_OK;
    MSIM_TRY(msim_draft_add(
        &c->w->d, &(struct msim_draft_op){.name = name, .at = at}, NULL));
    for (uint32_t i = 0; each && i < n; i++)
        MSIM_TRY(msim_draft_add(
            &c->w->d, &(struct msim_draft_op){.name = each, .at = at}, NULL));
    return MSIM_OK;
}

/* Nothing is gathered before backward where forward has freed nothing. */
static enum msim_status hook_before(struct sharding *c, uint32_t unit,
                                    uint32_t s, bool forward)
{
    struct msim_draft_place at = msim_weave_place(c->w, s);

    if (forward)
        return hook(c, unit, at, "FullyShardedDataParallel._pre_forward",
                    "FlatParamHandle._use_unsharded_views");
    return c->r->shard == MSIM_SHARD_GRAD_OP
               ? MSIM_OK
               : hook(c, unit, at,
                      "FullyShardedDataParallel._pre_backward_hook", NULL);
}

/* ---- gathering -----------------------------------------------------------
 */

/* The share that is sent: on the GPU, of the type that is computed with. */
static enum msim_status ready_share(struct sharding *c, uint32_t unit,
                                    struct msim_draft_place at,
                                    struct msim_emit_flat *x)
{
    const struct msim_shard_unit *row = &c->u.rows[unit];
    struct msim_draft *d = &c->w->d;
    const struct msim_emit_flat own = {share_of(c, unit), c->held[unit].shard,
                                       row->kept_as, home(c, unit)};

    *x = own;
    if (row->dtype == row->kept_as && own.device != MSIM_DEV_HOST)
        return msim_emit_op(d, at, "aten::view", &own, &own, NULL);
    x->storage = msim_draft_fresh(d);
    x->dtype = row->dtype;
    x->device = row->device;
    MSIM_TRY(msim_emit_empty(d, at, x));
    return msim_emit_copy(d, at, x, &own);
}

static enum msim_status gather(struct sharding *c, uint32_t unit,
                               struct msim_draft_place at)
{
    const struct msim_shard_unit *row = &c->u.rows[unit];
    struct holding *h = &c->held[unit];
    struct msim_emit_message m = {"c10d::_allgather_base_",
                                  MSIM_COLL_ALL_GATHER,
                                  ++c->sequence,
                                  {0},
                                  {row->elems, 0, row->dtype, row->device},
                                  0};

    h->present = true;
    h->waits_for = c->sequence;
    m.out.storage = h->whole = msim_draft_fresh(&c->w->d);
    MSIM_TRY(ready_share(c, unit, at, &m.in));
    MSIM_TRY(msim_emit_empty(&c->w->d, at, &m.out));
    MSIM_TRY(msim_emit_collective(&c->w->d, at, &m));
    msim_shard_units_put(&c->u, unit, h->whole);
    return MSIM_OK;
}

/* The unit whose pass begins first after `s`; NONE: no more. */
static uint32_t next_unit(const struct sharding *c, uint32_t s, bool forward)
{
    uint32_t pass = c->w->a.rows[s].pass, next = MSIM_NONE, least = MSIM_NONE;

    for (uint32_t i = 0; i < c->u.n; i++) {
        const struct msim_shard_span *x = msim_shard_units_span(&c->u, pass, i);
        uint32_t at = forward ? x->forward : x->backward;

        if (at != MSIM_NONE && at > s && at < least) {
            least = at;
            next = i;
        }
    }
    return next;
}

/* Unit `unit` is computed with from statement `s` on. */
static enum msim_status use(struct sharding *c, uint32_t unit, uint32_t s)
{
    struct msim_draft_place at = msim_weave_place(c->w, s);
    struct holding *h = &c->held[unit];
    uint32_t next;

    if (!c->gathers || !c->u.rows[unit].elems)
        return MSIM_OK;
    if (!h->present)
        MSIM_TRY(gather(c, unit, at));
    if (h->waits_for)
        MSIM_TRY(msim_emit_wait(&c->w->d, at, h->waits_for));
    h->waits_for = 0;
    next = next_unit(c, s, c->w->a.rows[s].role == MSIM_ANATOMY_FORWARD);
    return next == MSIM_NONE || c->held[next].present || !c->u.rows[next].elems
               ? MSIM_OK
               : gather(c, next, at);
}

static void drop(struct sharding *c, uint32_t unit)
{
    if (!c->gathers || !c->held[unit].present)
        return;
    c->held[unit].present = false;
    msim_shard_units_put(&c->u, unit, c->held[unit].shard);
}

/* ---- gradients -----------------------------------------------------------
 */

/* The gradient that AccumulateGrad is given waits. */
static enum msim_status take(struct sharding *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    struct taken x = {.unit = msim_shard_units_of(&c->u, s),
                      .kept = w->gradient[s]};
    struct msim_weave_given g;

    if (!msim_weave_find_given(w, s, &g) ||
        !msim_draft_given(&w->d, g.op, g.life, &x.tensor))
        return msim_weave_copy(w, s);
    MSIM_TRY(msim_grow((void **)&c->taken, &c->cap_taken, c->n_taken,
                       sizeof(*c->taken)));
    c->taken[c->n_taken++] = x;
    return MSIM_OK;
}

/* Those of a unit into one tensor, which is `flat`. */
static enum msim_status put_together(struct sharding *c, uint32_t unit,
                                     struct msim_draft_place at,
                                     struct msim_emit_flat *flat)
{
    struct msim_draft_tensor out;
    uint32_t n = 0;

    flat->elems = 0;
    for (uint32_t i = 0; i < c->n_taken; i++) {
        int64_t elems = 1;

        if (c->taken[i].unit != unit)
            continue;
        MSIM_TRY(
            msim_grow((void **)&c->list, &c->cap_list, n, sizeof(*c->list)));
        c->list[n++] = c->taken[i].tensor;
        for (uint32_t k = 0; k < c->taken[i].tensor.n; k++)
            elems *= c->taken[i].tensor.dims[k];
        flat->elems += elems;
        flat->dtype = c->taken[i].tensor.dtype;
    }
    out = (struct msim_draft_tensor){.dtype = flat->dtype,
                                     .device = flat->device,
                                     .n = 1,
                                     .storage = flat->storage,
                                     .dims = &flat->elems};
    return msim_draft_add(&c->w->d,
                          &(struct msim_draft_op){.name = "aten::cat",
                                                  .at = at,
                                                  .in = c->list,
                                                  .n_in = n,
                                                  .out = &out,
                                                  .n_out = 1},
                          NULL);
}

/* `x`, as the optimizer has it: of its type, on its device. */
static enum msim_status bring_home(struct sharding *c, uint32_t unit,
                                   struct msim_draft_place at,
                                   struct msim_emit_flat *x)
{
    struct msim_emit_flat to = *x;

    to.dtype = c->u.rows[unit].kept_as;
    to.device = home(c, unit);
    if (to.dtype == x->dtype && to.device == x->device)
        return MSIM_OK;
    to.storage = msim_draft_fresh(&c->w->d);
    MSIM_TRY(msim_emit_empty(&c->w->d, at, &to));
    MSIM_TRY(msim_emit_copy(&c->w->d, at, &to, x));
    *x = to;
    return MSIM_OK;
}

/* The mean over ranks of `flat`, which becomes this rank's share. */
static enum msim_status exchange(struct sharding *c, uint32_t unit,
                                 struct msim_draft_place at,
                                 struct msim_emit_flat *flat)
{
    struct msim_draft *d = &c->w->d;
    struct msim_emit_message m = {"c10d::allreduce_",
                                  MSIM_COLL_ALL_REDUCE,
                                  ++c->sequence,
                                  *flat,
                                  *flat,
                                  0};

    MSIM_TRY(msim_emit_op(d, at, "aten::div_", flat, flat, NULL));
    if (c->scatters) {
        m.name = "c10d::_reduce_scatter_base_";
        m.collective = MSIM_COLL_REDUCE_SCATTER;
        m.out.storage = msim_draft_fresh(d);
        m.out.elems = share_of(c, unit);
        MSIM_TRY(msim_emit_empty(d, at, &m.out));
    }
    MSIM_TRY(msim_emit_collective(d, at, &m));
    *flat = m.out;
    return MSIM_OK;
}

/* The share is the gradient, or is added to that of earlier micro batches. */
static enum msim_status keep(struct sharding *c, uint32_t unit,
                             struct msim_draft_place at,
                             const struct msim_emit_flat *x)
{
    struct msim_emit_flat sum = *x;

    if (!c->held[unit].gradient) {
        c->held[unit].gradient = x->storage;
        return msim_emit_op(&c->w->d, at, "torch::autograd::AccumulateGrad", x,
                            x, NULL);
    }
    sum.storage = c->held[unit].gradient;
    MSIM_TRY(msim_weave_hold(c->w, "torch::autograd::AccumulateGrad", at, &at));
    return msim_emit_op(&c->w->d, at, "aten::add_", &sum, &sum, x);
}

/* Later operators that name a gradient of the unit name the share. */
static void settle(struct sharding *c, uint32_t unit)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n_taken; i++) {
        if (c->taken[i].unit == unit)
            c->w->d.storage[c->taken[i].kept] = c->held[unit].gradient;
        else
            c->taken[n++] = c->taken[i];
    }
    c->n_taken = n;
}

static enum msim_status reduce(struct sharding *c, uint32_t unit, uint32_t s)
{
    struct msim_draft_place at = msim_weave_place(c->w, s), in;
    struct msim_emit_flat x = {0, msim_draft_fresh(&c->w->d),
                               c->u.rows[unit].dtype, c->u.rows[unit].device};

    MSIM_TRY(hook(c, unit, at, "FullyShardedDataParallel._post_backward_hook",
                  "FlatParamHandle._use_sharded_views"));
    MSIM_TRY(msim_weave_hold(
        c->w, "autograd::engine::evaluate_function: SplitWithSizesBackward0",
        at, &in));
    MSIM_TRY(put_together(c, unit, in, &x));
    MSIM_TRY(msim_weave_hold(c->w, MSIM_EMIT_BEHIND_GRADIENT, at, &in));
    MSIM_TRY(exchange(c, unit, in, &x));
    MSIM_TRY(bring_home(c, unit, in, &x));
    MSIM_TRY(keep(c, unit, in, &x));
    settle(c, unit);
    c->reduced = true;
    return MSIM_OK;
}

/* ---- statements ----------------------------------------------------------
 */

static bool ends(const struct msim_shard_span *x, uint32_t s)
{
    uint32_t last = x->backward_last;

    if (x->gradient_last != MSIM_NONE &&
        (last == MSIM_NONE || x->gradient_last > last))
        last = x->gradient_last;
    return s == last;
}

/* The root is there from the beginning of a pass to its end. */
static enum msim_status before(struct sharding *c, uint32_t s)
{
    uint32_t pass = c->w->a.rows[s].pass;

    bool begins = s == c->w->a.passes[pass].forward;

    if (begins)
        MSIM_TRY(c->gathers
                     ? use(c, 0, s)
                     : msim_shard_units_view(&c->u, msim_weave_place(c->w, s)));
    for (uint32_t i = 0; i < c->u.n; i++) {
        const struct msim_shard_span *x = msim_shard_units_span(&c->u, pass, i);
        bool forward = i ? x->forward == s : begins;

        if (forward || x->backward == s)
            MSIM_TRY(hook_before(c, i, s, forward));
        if (i && (forward || x->backward == s))
            MSIM_TRY(use(c, i, s));
    }
    return MSIM_OK;
}

static enum msim_status after(struct sharding *c, uint32_t s)
{
    uint32_t pass = c->w->a.rows[s].pass;
    bool last = s + 1 == c->w->a.passes[pass].tail;

    for (uint32_t i = 0; i < c->u.n; i++) {
        const struct msim_shard_span *x = msim_shard_units_span(&c->u, pass, i);

        if (x->gradient_last == s)
            MSIM_TRY(reduce(c, i, s));
        if (c->gathers && c->r->shard == MSIM_SHARD_FULL &&
            x->forward_last == s)
            MSIM_TRY(hook(c, i, msim_weave_place(c->w, s),
                          "FullyShardedDataParallel._post_forward", NULL));
        if (last || (i && ends(x, s)) ||
            (i && c->r->shard == MSIM_SHARD_FULL && x->forward_last == s))
            drop(c, i);
    }
    return last && c->sequence
               ? msim_emit_wait(&c->w->d, msim_weave_place(c->w, s),
                                c->sequence)
               : MSIM_OK;
}

/* The optimizer, and what is done with gradients before it. */
static enum msim_status update(struct sharding *c, uint32_t s)
{
    struct msim_weave *w = c->w;
    const struct msim_draft_how how = {
        .at = msim_weave_place(w, s),
        .share = c->scatters ? c->r->world : 1,
        .device = c->r->offload_states ? MSIM_DEV_HOST : MSIM_DEV_UNKNOWN};
    bool last =
        s + 1 == w->a.n || w->a.rows[s + 1].role != MSIM_ANATOMY_OPTIMIZER;

    MSIM_TRY(msim_weave_copy_as(w, s, &how));
    if (w->a.rows[s].role != MSIM_ANATOMY_OPTIMIZER || !last)
        return MSIM_OK;
    for (uint32_t i = 0; i < c->u.n; i++)
        c->held[i].gradient = 0;
    return c->r->shard == MSIM_SHARD_ZERO2 && msim_weave_is_step(w, s)
               ? msim_shard_units_gather(&c->u, false, c->r->world, how.at,
                                         &c->sequence)
               : MSIM_OK;
}

static enum msim_status visit(void *ctx, uint32_t s)
{
    struct sharding *c = ctx;
    const struct msim_anatomy_statement *row = &c->w->a.rows[s];

    if (row->role == MSIM_ANATOMY_OPTIMIZER || row->role == MSIM_ANATOMY_TAIL)
        return update(c, s);
    if (row->pass == MSIM_NONE)
        return msim_weave_copy(c->w, s);
    MSIM_TRY(before(c, s));
    if (c->w->gradient[s] != MSIM_NONE)
        MSIM_TRY(take(c, s));
    else
        MSIM_TRY(msim_weave_copy(c->w, s));
    return after(c, s);
}

static enum msim_status open(struct sharding *c)
{
    MSIM_TRY(msim_weave_spread(c->w, c->r->world));
    if (c->r->offload_states && !c->gathers)
        return msim_weave_refuse(
            c->w, "what is offloaded must be shared out; want \"offload\" with "
                  "\"fsdp\" or \"shard_grad_op\" of several ranks, with "
                  "\"ddp\", or alone");
    MSIM_TRY(msim_shard_units_find(&c->u, c->w, c->r->mixed != 0, NULL));
    c->held = calloc((size_t)c->u.n + 1, sizeof(*c->held));
    if (!c->held)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; c->gathers && i < c->u.n; i++) {
        c->held[i].shard = msim_draft_fresh(&c->w->d);
        msim_shard_units_put(&c->u, i, c->held[i].shard);
    }
    return MSIM_OK;
}

enum msim_status msim_stage_shard(struct msim_weave *w,
                                  const struct msim_rewrite *r)
{
    bool alone = r->world == 1; /* FSDP switches to no_shard */
    struct sharding c = {.w = w,
                         .r = r,
                         .gathers = !alone && (r->shard == MSIM_SHARD_FULL ||
                                               r->shard == MSIM_SHARD_GRAD_OP),
                         .scatters = !alone && r->shard != MSIM_SHARD_NO_SHARD};
    enum msim_status status = open(&c);

    if (status == MSIM_OK)
        status = msim_weave_walk(w, &c, visit);
    if (status == MSIM_OK && !c.reduced)
        status = msim_weave_refuse(w, "no operator of the trace keeps a "
                                      "gradient (AccumulateGrad), so that "
                                      "none can be shared out");
    msim_shard_units_release(&c.u);
    free(c.held);
    free(c.taken);
    free(c.list);
    return status;
}

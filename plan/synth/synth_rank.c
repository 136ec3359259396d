/*
 * plan/synth/synth_rank.c - one rank's step.
 */
#include "plan/synth/synth_rank.h"

#include <stdlib.h>

/* ---- layers of a stage ----------------------------------------------------
 */

static const struct msim_part *part_of(const struct msim_parts *p,
                                       enum msim_part_kind kind, bool windowed)
{
    const struct msim_part *found = NULL;

    for (uint32_t i = 0; i < p->n; i++)
        if (p->part[i].kind == kind && (!found || windowed))
            found = &p->part[i];
    return found;
}

/* The part that layer `i` of the model is; layers with a window come every
 * `window_every`. */
static const struct msim_part *layer_part(const struct msim_synth_rank *r,
                                          int64_t i)
{
    const struct msim_described *m = r->y.m;
    bool experts = m->moe.experts && i >= m->moe.dense_layers;
    bool windowed = m->window && m->window_every && i % m->window_every == 0;

    return part_of(&r->parts, experts ? MSIM_PART_EXPERTS : MSIM_PART_DENSE,
                   windowed);
}

/* Layers before stage `stage`: as even as they go. */
static int64_t layers_before(const struct msim_synth_rank *r, int64_t stage)
{
    int64_t pp = r->y.s->pp, each = r->y.m->layers / pp;
    int64_t more = r->y.m->layers % pp;

    return stage * each + (stage < more ? stage : more);
}

static enum msim_status add_layer(struct msim_synth_rank *r,
                                  const struct msim_part *part)
{
    struct msim_synth_layer *l = &r->layers[r->n++];
    size_t ops = part->n_ops;

    *l = (struct msim_synth_layer){
        .part = part,
        .own = calloc(ops, sizeof(*l->own)),
        .kept = calloc(ops * r->batches, sizeof(*l->kept)),
        .inputs = calloc(r->batches, sizeof(*l->inputs)),
    };
    if (!l->own || !l->kept || !l->inputs)
        return MSIM_ENOMEM;
    msim_synth_parameters(&r->y, l);
    return MSIM_OK;
}

enum msim_status msim_synth_rank_layers(struct msim_synth_rank *r)
{
    int64_t begin = layers_before(r, r->stage);
    int64_t end = layers_before(r, r->stage + 1);

    r->layers = calloc((size_t)(end - begin) + 2, sizeof(*r->layers));
    r->between = calloc(r->batches, sizeof(*r->between));
    if (!r->layers || !r->between)
        return MSIM_ENOMEM;
    if (r->stage == 0)
        MSIM_TRY(add_layer(r, msim_parts_find(&r->parts, MSIM_PART_EMBEDDING)));
    for (int64_t i = begin; i < end; i++)
        MSIM_TRY(add_layer(r, layer_part(r, i)));
    if (r->stage + 1 == r->y.s->pp)
        MSIM_TRY(add_layer(r, msim_parts_find(&r->parts, MSIM_PART_HEAD)));
    /* With stages both ends have a table of their own. */
    if (r->y.m->tied && r->y.s->pp == 1)
        msim_synth_tie(&r->layers[r->n - 1], &r->layers[0]);
    return MSIM_OK;
}

/* ---- parameters -----------------------------------------------------------
 */

/* The ranks that have the same parameter. */
static const struct msim_synth_group *
group_of(const struct msim_synth_rank *r, const struct msim_synth_parameter *p)
{
    return p->is_expert ? &r->experts : &r->dp;
}

/* A rank's share of a parameter's elements. */
static int64_t share_of(const struct msim_synth_rank *r,
                        const struct msim_synth_parameter *p)
{
    int64_t elems = (int64_t)msim_etw_elems(&p->weight),
            n = group_of(r, p)->size;

    return r->y.s->zero ? (elems + n - 1) / n : elems;
}

enum msim_status msim_synth_rank_states(struct msim_synth_rank *r)
{
    size_t most = 0;

    for (uint32_t i = 0; i < r->n; i++)
        most += (size_t)r->layers[i].part->n_ops * MSIM_SYNTH_OWN;
    MSIM_TRY(msim_synth_optimizer_init(&r->optimizer, &r->y, most));
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->layers[i].part->n_ops; k++)
            for (int w = 0; w < MSIM_SYNTH_OWN; w++) {
                struct msim_synth_parameter *p = &r->layers[i].own[k][w];

                if (p->weight.id)
                    msim_synth_optimizer_add(&r->optimizer, p, share_of(r, p));
            }
    return MSIM_OK;
}

/* ---- collectives of data parallel ranks and stages ------------------------
 */

/* Memory on its own, which an operator makes: a collective makes none. */
static struct msim_etw_tensor buffer(struct msim_synth_rank *r,
                                     enum msim_dtype dtype, int64_t elems)
{
    struct msim_etw_tensor t = msim_etw_new(r->y.e, dtype, 1, elems);

    msim_synth_write_empty(r->y.e, &t);
    return t;
}

/* From `in` elements to `out`; what it wrote. */
static struct msim_etw_tensor collective(struct msim_synth_rank *r,
                                         const char *name,
                                         struct msim_synth_group *g,
                                         enum msim_dtype dtype, int64_t in,
                                         int64_t out, int64_t in_group)
{
    struct msim_etw_tensor a = buffer(r, dtype, in);
    struct msim_etw_tensor b = in == out ? a : buffer(r, dtype, out);
    struct msim_etw_comm c = {.name = name,
                              .dtype = msim_synth_dtype_text(dtype),
                              .group = g->name,
                              .in_elems = (uint64_t)in,
                              .out_elems = (uint64_t)out,
                              .size = g->size,
                              .start = g->start,
                              .stride = g->stride,
                              .sequence = g->calls++};

    msim_etw_collective(r->y.e, &c, &a, &b, in_group);
    return b;
}

/* Parameters of a layer that the ranks of a group share. */
static int64_t elements(const struct msim_synth_rank *r,
                        const struct msim_synth_layer *l,
                        const struct msim_synth_group *g)
{
    int64_t n = 0;

    for (uint32_t i = 0; i < l->part->n_ops; i++)
        for (int k = 0; k < MSIM_SYNTH_OWN; k++)
            if (l->own[i][k].weight.id && group_of(r, &l->own[i][k]) == g)
                n += (int64_t)msim_etw_elems(&l->own[i][k].weight);
    return n;
}

static int64_t place_in(const struct msim_synth_rank *r,
                        const struct msim_synth_group *g)
{
    return (r->number - g->start) / g->stride;
}

static void sum_over(struct msim_synth_rank *r,
                     const struct msim_synth_layer *l,
                     struct msim_synth_group *g)
{
    int64_t n = elements(r, l, g), share = (n + g->size - 1) / g->size;

    if (g->size == 1 || !n)
        return;
    if (r->y.s->zero)
        collective(r, "_reduce_scatter_base", g, MSIM_DT_F32, share * g->size,
                   share, place_in(r, g));
    else
        collective(r, "allreduce", g, MSIM_DT_F32, n, n, place_in(r, g));
}

/* Gradients of a layer, once its last micro batch is back. */
static void sum_gradients(struct msim_synth_rank *r,
                          const struct msim_synth_layer *l)
{
    sum_over(r, l, &r->dp);
    sum_over(r, l, &r->experts);
}

/* With ZeRO 3 a layer's weights are in what was gathered last. */
static void gather_over(struct msim_synth_rank *r, struct msim_synth_layer *l,
                        struct msim_synth_group *g)
{
    int64_t n = elements(r, l, g), share = (n + g->size - 1) / g->size;
    struct msim_etw_tensor whole;

    if (g->size == 1 || !n)
        return;
    whole = collective(r, "_allgather_base", g, r->y.dtype, share,
                       share * g->size, place_in(r, g));
    for (uint32_t i = 0; i < l->part->n_ops && r->y.s->zero >= 3; i++)
        for (int k = 0; k < MSIM_SYNTH_OWN; k++) {
            struct msim_etw_tensor *t = &l->own[i][k].weight;

            if (!t->id || group_of(r, &l->own[i][k]) != g)
                continue;
            t->id = ++r->y.e->last;
            t->storage = whole.storage;
        }
}

/* Parameters of a layer from all ranks. */
static void gather_layer(struct msim_synth_rank *r, struct msim_synth_layer *l)
{
    gather_over(r, l, &r->dp);
    gather_over(r, l, &r->experts);
}

/* ---- one step -------------------------------------------------------------
 */

static bool is_first(const struct msim_synth_rank *r)
{
    return r->stage == 0;
}

static bool is_last(const struct msim_synth_rank *r)
{
    return r->stage + 1 == r->y.s->pp;
}

static void pass_on(struct msim_synth_rank *r, const char *name, int to,
                    int way)
{
    int64_t elems = (int64_t)r->parts.seq_tokens * r->y.m->hidden;

    collective(r, name, &r->pipeline[to][way], r->y.dtype, elems, elems,
               to == MSIM_SYNTH_AHEAD);
}

static struct msim_etw_tensor received(struct msim_synth_rank *r)
{
    return msim_etw_new(r->y.e, r->y.dtype, 2, (int64_t)r->parts.seq_tokens,
                        r->y.m->hidden);
}

static void receive_forward(struct msim_synth_rank *r)
{
    if (!is_first(r))
        pass_on(r, "recv", MSIM_SYNTH_BEHIND, MSIM_SYNTH_FORWARD);
}

static void send_backward(struct msim_synth_rank *r)
{
    if (!is_first(r))
        pass_on(r, "send", MSIM_SYNTH_BEHIND, MSIM_SYNTH_BACKWARD);
}

static void forward(struct msim_synth_rank *r, uint32_t batch)
{
    uint32_t slot = batch % r->batches;
    struct msim_etw_tensor x = received(r);

    msim_etw_label(r->y.e, "forward");
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->y.s->zero >= 3)
            gather_layer(r, &r->layers[i]);
        x = msim_synth_forward(&r->y, &r->layers[i], slot, x);
    }
    r->between[slot] = x;
    msim_etw_close(r->y.e, NULL, 0);
    if (!is_last(r))
        pass_on(r, "send", MSIM_SYNTH_AHEAD, MSIM_SYNTH_FORWARD);
}

static void backward(struct msim_synth_rank *r, uint32_t batch)
{
    bool last_batch = (int64_t)batch + 1 == r->y.s->grad_accum;
    uint32_t slot = batch % r->batches;
    struct msim_etw_tensor g;

    if (!is_last(r))
        pass_on(r, "recv", MSIM_SYNTH_AHEAD, MSIM_SYNTH_BACKWARD);
    g = is_last(r) ? r->between[slot] : received(r);
    msim_etw_label(r->y.e, "backward");
    for (uint32_t i = r->n; i-- > 0;) {
        if (r->y.s->zero >= 3)
            gather_layer(r, &r->layers[i]);
        g = msim_synth_backward(&r->y, &r->layers[i], slot, g);
        if (last_batch || r->y.s->zero >= 2)
            sum_gradients(r, &r->layers[i]);
    }
    msim_etw_close(r->y.e, NULL, 0);
}

/*
 * One forward, one backward (Narayanan et al., "PipeDream", 2019): a stage runs
 * as many ahead as stages follow it. A stage takes the next micro batch before
 * it hands a gradient back, so that stages which wait for each other's call do
 * so in the same order.
 */
static void micro_batches(struct msim_synth_rank *r)
{
    uint32_t n = (uint32_t)r->y.s->grad_accum;
    uint32_t ahead = (uint32_t)(r->y.s->pp - 1 - r->stage);

    if (ahead > n)
        ahead = n;
    for (uint32_t i = 0; i < ahead; i++) {
        receive_forward(r);
        forward(r, i);
    }
    if (ahead < n)
        receive_forward(r);
    for (uint32_t i = 0; i < n; i++) {
        if (i + ahead < n)
            forward(r, i + ahead);
        backward(r, i);
        if (i + ahead + 1 < n)
            receive_forward(r);
        send_backward(r);
    }
}

void msim_synth_rank_step(struct msim_synth_rank *r)
{
    msim_etw_label(r->y.e, "ProfilerStep#1");
    micro_batches(r);
    msim_synth_optimizer_step(&r->optimizer);
    if (r->y.s->zero == 1 || r->y.s->zero == 2)
        for (uint32_t i = 0; i < r->n; i++)
            gather_layer(r, &r->layers[i]);
    msim_etw_close(r->y.e, NULL, 0);
}

void msim_synth_rank_release(struct msim_synth_rank *r)
{
    for (uint32_t i = 0; r->layers && i < r->n; i++) {
        free(r->layers[i].own);
        free(r->layers[i].kept);
        free(r->layers[i].inputs);
    }
    free(r->layers);
    free(r->between);
    msim_synth_optimizer_release(&r->optimizer);
}

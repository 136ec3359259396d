/*
 * plan/synth/synth_rank.c - one rank's step.
 */
#include "plan/synth/synth_internal.h"

#include "core/base/containers.h"
#include "plan/describe/strategy.h"

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

/* The part that layer `i` of the model is. */
static const struct msim_part *layer_part(const struct msim_synth_rank *r,
                                          int64_t i)
{
    const struct msim_described *m = r->y.m;
    bool experts = m->moe.experts && i >= m->moe.dense_layers;

    return part_of(&r->parts, experts ? MSIM_PART_EXPERTS : MSIM_PART_DENSE,
                   msim_described_windowed(m, i, i + 1) > 0);
}

/* Chunk c of stage s is number c x pp + s on a micro batch's way. */
static int64_t place_of(const struct msim_synth_rank *r, int64_t chunk)
{
    return chunk * r->y.s->pp + r->stage;
}

static bool is_first(const struct msim_synth_rank *r, int64_t chunk)
{
    return place_of(r, chunk) == 0;
}

static bool is_last(const struct msim_synth_rank *r, int64_t chunk)
{
    return place_of(r, chunk) + 1 == r->y.s->pp * r->y.s->vp;
}

/* Layers before `place` on a micro batch's way. */
static int64_t layers_before(const struct msim_synth_rank *r, int64_t place)
{
    int64_t pp = r->y.s->pp, sum = 0;

    for (int64_t i = 0; i < place; i++)
        sum += msim_chunk_layers(r->y.m, r->y.s, i % pp, i / pp);
    return sum;
}

static enum msim_status add_layer(struct msim_synth_rank *r,
                                  const struct msim_part *part)
{
    struct msim_synth_layer *l = &r->layers[r->n++];
    size_t ops = part->n_ops;

    *l = (struct msim_synth_layer){
        .part = part,
        .own = calloc(ops, sizeof(*l->own)),
        .kept = calloc(ops * r->schedule.kept, sizeof(*l->kept)),
        .inputs = calloc(r->schedule.kept, sizeof(*l->inputs)),
    };
    if (!l->own || !l->kept || !l->inputs)
        return MSIM_ENOMEM;
    msim_synth_parameters(&r->y, l);
    return MSIM_OK;
}

static enum msim_status add_chunk(struct msim_synth_rank *r, int64_t chunk)
{
    int64_t place = place_of(r, chunk), end = layers_before(r, place + 1);

    r->first[chunk] = r->n;
    if (is_first(r, chunk))
        MSIM_TRY(add_layer(r, msim_parts_find(&r->parts, MSIM_PART_EMBEDDING)));
    for (int64_t i = layers_before(r, place); i < end; i++)
        MSIM_TRY(add_layer(r, layer_part(r, i)));
    if (is_last(r, chunk))
        MSIM_TRY(add_layer(r, msim_parts_find(&r->parts, MSIM_PART_HEAD)));
    r->first[chunk + 1] = r->n;
    return MSIM_OK;
}

/* Are gradients of weights a pass of their own? */
static bool is_split(const struct msim_strategy *s)
{
    return s->technique.schedule == MSIM_SCHEDULE_ZERO_BUBBLE;
}

enum msim_status msim_synth_rank_layers(struct msim_synth_rank *r)
{
    const struct msim_strategy *s = r->y.s;
    size_t passes = (size_t)(s->vp * s->grad_accum);
    const struct msim_pipeline pipeline = {.stages = (uint32_t)s->pp,
                                           .chunks = (uint32_t)s->vp,
                                           .batches = (uint32_t)s->grad_accum,
                                           .split = is_split(s)};

    MSIM_TRY(msim_pipeline_schedule_make(&r->schedule, &pipeline,
                                         (uint32_t)r->stage));
    r->layers = calloc((size_t)r->y.m->layers + 2, sizeof(*r->layers));
    r->first = calloc((size_t)s->vp + 1, sizeof(*r->first));
    for (int way = 0; way < 2; way++) {
        r->given[way] = calloc(passes, sizeof(*r->given[way]));
        r->made[way] = calloc(passes, sizeof(*r->made[way]));
        if (!r->given[way] || !r->made[way])
            return MSIM_ENOMEM;
    }
    if (!r->layers || !r->first)
        return MSIM_ENOMEM;
    for (int64_t chunk = 0; chunk < s->vp; chunk++)
        MSIM_TRY(add_chunk(r, chunk));
    /* With stages both ends have a table of their own. */
    if (r->y.m->tied && s->pp == 1)
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
        collective(r, "_reduce_scatter_base", g, r->y.dtype, share * g->size,
                   share, place_in(r, g));
    else
        collective(r, "allreduce", g, r->y.dtype, n, n, place_in(r, g));
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

static struct msim_etw_tensor *at(struct msim_synth_rank *r,
                                  struct msim_etw_tensor *const of[2],
                                  const struct msim_turn *t)
{
    return &of[t->back][(int64_t)t->chunk * r->y.s->grad_accum + t->batch];
}

/* What a pass made goes to the stage that goes on with it, or comes from it. */
static void transfer(struct msim_synth_rank *r, const struct msim_turn *t)
{
    bool send = t->kind == MSIM_TURN_SEND;
    int to = send != t->back ? MSIM_SYNTH_AHEAD : MSIM_SYNTH_BEHIND;
    struct msim_synth_group *g = &r->pipeline[to][t->back];
    int64_t rows = (int64_t)r->parts.seq_tokens, h = r->y.m->hidden;
    struct msim_etw_tensor *what = at(r, send ? r->made : r->given, t);
    struct msim_etw_comm c = {.name = send ? "send" : "recv",
                              .dtype = msim_synth_dtype_text(r->y.dtype),
                              .group = g->name,
                              .in_elems = (uint64_t)(rows * h),
                              .out_elems = (uint64_t)(rows * h),
                              .size = g->size,
                              .start = g->start,
                              .stride = g->stride,
                              .sequence = g->calls++};

    if (!send) {
        *what = msim_etw_new(r->y.e, r->y.dtype, 2, rows, h);
        msim_synth_write_empty(r->y.e, what);
    }
    /* The other one's place among two. */
    msim_etw_collective(r->y.e, &c, what, what, g->start == r->number);
    if (!send)
        msim_synth_wait(&r->y, g, c.sequence);
}

/* With ZeRO 3 the next layer's weights come while one works. */
static void gather_ahead(struct msim_synth_rank *r, uint32_t layer)
{
    if (r->y.s->zero >= 3)
        gather_layer(r, &r->layers[layer]);
}

/* The calls of both groups that end with such a gather. */
struct calls {
    int64_t dp, experts;
};

static struct calls calls_of(const struct msim_synth_rank *r)
{
    return (struct calls){r->dp.calls - 1, r->experts.calls - 1};
}

static void wait_for(struct msim_synth_rank *r, const struct calls *c)
{
    if (c->dp >= 0)
        msim_synth_wait(&r->y, &r->dp, c->dp);
    if (c->experts >= 0)
        msim_synth_wait(&r->y, &r->experts, c->experts);
}

/* Layers from `from` to `to`, up or down: what `work` does with each has its
 * weights, and those of the next are on their way. */
static void with_weights(struct msim_synth_rank *r, uint32_t from, uint32_t to,
                         void (*work)(struct msim_synth_rank *, uint32_t,
                                      void *),
                         void *ctx)
{
    int32_t step = MSIM_ORDER(to, from);

    gather_ahead(r, from);
    for (uint32_t i = from;; i += (uint32_t)step) {
        struct calls here = calls_of(r);

        if (i != to)
            gather_ahead(r, i + (uint32_t)step);
        if (r->y.s->zero >= 3)
            wait_for(r, &here);
        work(r, i, ctx);
        if (i == to)
            return;
    }
}

struct forward_pass {
    const struct msim_turn *turn;
    struct msim_etw_tensor x;
};

static void forward_layer(struct msim_synth_rank *r, uint32_t layer, void *ctx)
{
    struct forward_pass *p = ctx;

    p->x = msim_synth_forward(&r->y, &r->layers[layer],
                              p->turn->batch % r->schedule.kept, p->x);
}

static void forward(struct msim_synth_rank *r, const struct msim_turn *t)
{
    uint32_t begin = r->first[t->chunk], end = r->first[t->chunk + 1];
    struct forward_pass p = {t, *at(r, r->given, t)};

    msim_etw_label(r->y.e, "forward");
    if (begin < end)
        with_weights(r, begin, end - 1, forward_layer, &p);
    *at(r, r->made, t) = p.x;
    msim_etw_close(r->y.e, NULL, 0);
}

/* The last place begins with what its loss made. */
static struct msim_etw_tensor gradient(struct msim_synth_rank *r,
                                       const struct msim_turn *t)
{
    const struct msim_turn there = {MSIM_TURN_RUN, false, t->chunk, t->batch};

    return is_last(r, t->chunk) ? *at(r, r->made, &there) : *at(r, r->given, t);
}

struct backward_pass {
    const struct msim_turn *turn;
    enum msim_synth_half half;
    bool sums;
    struct msim_etw_tensor g;
};

static void backward_layer(struct msim_synth_rank *r, uint32_t layer, void *ctx)
{
    struct backward_pass *p = ctx;

    p->g =
        msim_synth_backward(&r->y, &r->layers[layer],
                            p->turn->batch % r->schedule.kept, p->half, p->g);
    if (p->sums)
        sum_gradients(r, &r->layers[layer]);
}

/* Backward through a chunk, or half of it; gradients are summed once all are
 * there. */
static struct msim_etw_tensor back_through(struct msim_synth_rank *r,
                                           const struct msim_turn *t,
                                           enum msim_synth_half half,
                                           struct msim_etw_tensor g)
{
    uint32_t begin = r->first[t->chunk], end = r->first[t->chunk + 1];
    bool last_batch = (int64_t)t->batch + 1 == r->y.s->grad_accum;
    struct backward_pass p = {
        t, half,
        half != MSIM_SYNTH_INPUTS &&
            (last_batch || msim_exchanges_each_micro_batch(r->y.s)),
        g};

    msim_etw_label(r->y.e, "backward");
    if (half != MSIM_SYNTH_WEIGHTS && begin < end)
        with_weights(r, end - 1, begin, backward_layer, &p);
    for (uint32_t i = end; half == MSIM_SYNTH_WEIGHTS && i-- > begin;)
        backward_layer(r, i, &p);
    msim_etw_close(r->y.e, NULL, 0);
    return p.g;
}

static void backward(struct msim_synth_rank *r, const struct msim_turn *t)
{
    *at(r, r->made, t) = back_through(
        r, t, is_split(r->y.s) ? MSIM_SYNTH_INPUTS : MSIM_SYNTH_WHOLE,
        gradient(r, t));
}

static void weights(struct msim_synth_rank *r, const struct msim_turn *t)
{
    (void)back_through(r, t, MSIM_SYNTH_WEIGHTS, (struct msim_etw_tensor){0});
}

static void micro_batches(struct msim_synth_rank *r)
{
    for (uint32_t i = 0; i < r->schedule.n && !msim_etw_has_failed(r->y.e);
         i++) {
        const struct msim_turn *t = &r->schedule.turns[i];

        if (t->kind == MSIM_TURN_SEND || t->kind == MSIM_TURN_RECEIVE)
            transfer(r, t);
        else if (t->kind == MSIM_TURN_WEIGHTS)
            weights(r, t);
        else
            (t->back ? backward : forward)(r, t);
    }
}

void msim_synth_rank_step(struct msim_synth_rank *r)
{
    struct calls all;

    msim_etw_label(r->y.e, "ProfilerStep#1");
    micro_batches(r);
    all = calls_of(r);
    wait_for(r, &all);
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
    free(r->first);
    for (int way = 0; way < 2; way++) {
        free(r->given[way]);
        free(r->made[way]);
    }
    msim_pipeline_schedule_release(&r->schedule);
    msim_synth_optimizer_release(&r->optimizer);
}

/*
 * predict/memory/fit_ways.c - what would make a job fit.
 */
#include "predict/memory/rank_memory.h"

#include "core/base/containers.h"
#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a job holds then: of the rank that needs most of those that do not fit
 * now. */
struct held {
    struct msim_memory_peak peak;
    double needed;
};

struct finding {
    const struct msim_fit_job *job;
    struct msim_fit_ways *out;
    double capacity;
    int64_t batch; /* 0: not known */
    /* A rank's trace, and as it is with the layers that the job was asked for:
     * every change begins with it. NULL: none yet. */
    const struct msim_trace *origin;
    struct msim_trace *layered;
};

bool msim_rank_memory_exceeds(const struct msim_rank_memory *m)
{
    return m->most != MSIM_NONE &&
           msim_rank_needs(&m->ranks[m->most]) > m->capacity;
}

/* ---- one change ---------------------------------------------------------- */

/* Both of `a` and `b`; false: they say different things of the same. Ranks that
 * share something may share more. */
static bool join(struct msim_fit_change *out, const struct msim_fit_change *a,
                 const struct msim_fit_change *b)
{
    const struct msim_rewrite *x = &a->rewrite, *y = &b->rewrite;
    struct msim_rewrite *to = &out->rewrite;
    uint32_t axes = a->reshape.n_axes + b->reshape.n_axes;

    if ((y->shard && y->shard <= x->shard) ||
        (x->recompute_every && y->recompute_every) ||
        (x->accumulate && y->accumulate) || axes > MSIM_RESHAPE_AXES ||
        ((x->autocast || x->mixed || a->reshape.dtype) &&
         (y->autocast || b->reshape.dtype)))
        return false;
    *out = *a;
    to->in_backward |= y->in_backward;
    to->offload_states |= y->offload_states;
    to->offload_activations |= y->offload_activations;
    to->optimizer_8bit |= y->optimizer_8bit;
    to->shard = y->shard ? y->shard : x->shard;
    to->recompute_every += y->recompute_every;
    to->accumulate += y->accumulate;
    to->autocast = y->autocast ? y->autocast : x->autocast;
    for (uint32_t i = 0; i < b->reshape.n_axes; i++)
        out->reshape.axes[out->reshape.n_axes++] = b->reshape.axes[i];
    if (b->reshape.dtype)
        out->reshape.dtype = b->reshape.dtype;
    return true;
}

/* Layers come first, whatever else is changed: `t` with those of `r`, which is
 * what is left then. */
static enum msim_status begin(struct finding *f, const struct msim_trace **t,
                              struct msim_rewrite *r)
{
    struct msim_rewrite layers = {.layers = r->layers,
                                  .n_more_layers = r->n_more_layers,
                                  .parallel.joins = r->parallel.joins};
    struct msim_error why = {0};

    memcpy(layers.layers_block, r->layers_block, sizeof(r->layers_block));
    memcpy(layers.more_layers, r->more_layers, sizeof(r->more_layers));
    if (msim_rewrite_is_none(&layers))
        return MSIM_OK;
    if (f->origin != *t) {
        msim_trace_free(f->layered);
        f->origin = NULL;
        MSIM_TRY(msim_rewritten_new(&f->layered, *t, f->job->strings, &layers,
                                    &why));
        f->origin = *t;
    }
    r->layers = r->n_more_layers = r->parallel.joins = 0;
    *t = f->layered;
    return MSIM_OK;
}

static enum msim_status rewrite_one(struct msim_memory_peak *peak,
                                    const struct finding *f,
                                    const struct msim_trace *t,
                                    const struct msim_rewrite *r)
{
    struct msim_error why = {0};
    struct msim_trace *made;
    enum msim_status status;

    if (msim_rewrite_is_none(r))
        return msim_trace_memory(peak, t, f->job->platform);
    MSIM_TRY(msim_rewritten_new(&made, t, f->job->strings, r, &why));
    status = msim_trace_memory(peak, made, f->job->platform);
    msim_trace_free(made);
    return status;
}

static enum msim_status change_one(struct msim_memory_peak *peak,
                                   struct finding *f,
                                   const struct msim_trace *t,
                                   const struct msim_fit_change *c)
{
    struct msim_rewrite r = c->rewrite;
    struct msim_error why = {0};
    struct msim_trace *view;
    enum msim_status status;

    if (msim_reshape_is_none(&c->reshape)) {
        MSIM_TRY(begin(f, &t, &r));
        return rewrite_one(peak, f, t, &r);
    }
    MSIM_TRY(msim_reshaped_new(&view, t, &c->reshape, &why));
    status = rewrite_one(peak, f, view, &c->rewrite);
    msim_reshaped_free(view);
    return status;
}

/* Of the ranks that do not fit as they are; EUSAGE where they cannot be changed
 * so. */
static enum msim_status held_with(struct held *held, struct finding *f,
                                  const struct msim_fit_change *c)
{
    const struct msim_rank_memory *m = f->job->memory;
    struct msim_fit_change all;

    *held = (struct held){0};
    if (!join(&all, &f->job->made, c))
        return MSIM_EUSAGE;
    for (uint32_t i = 0; i < m->n; i++) {
        struct msim_held_rank one = m->ranks[i];
        enum msim_status status;

        if (!one.known || msim_rank_needs(&one) <= f->capacity)
            continue;
        status = change_one(&one.peak, f, f->job->origins[i], &all);
        if (status != MSIM_OK)
            return status == MSIM_ENOMEM || status == MSIM_ELIMIT ? status
                                                                  : MSIM_EUSAGE;
        msim_rank_memory_scale_peak(m, &one.peak);
        if (msim_rank_needs(&one) > held->needed)
            *held = (struct held){one.peak, msim_rank_needs(&one)};
    }
    return MSIM_OK;
}

static bool fits(const struct finding *f, const struct held *h)
{
    return h->needed <= f->capacity;
}

static bool any_fits(const struct finding *f)
{
    for (uint32_t i = 0; i < f->out->n; i++)
        if (f->out->ways[i].fits)
            return true;
    return false;
}

static void add(struct finding *f, const char *text, const struct held *held)
{
    struct msim_fit_way *way = &f->out->ways[f->out->n];

    if (f->out->n == MSIM_FIT_WAYS)
        return;
    f->out->n++;
    *way = (struct msim_fit_way){
        .peak = held->peak, .needed = held->needed, .fits = fits(f, held)};
    snprintf(way->change, sizeof(way->change), "%s", text);
}

/* ---- the batch ----------------------------------------------------------- */

static void set_batch(struct msim_fit_change *c, int64_t batch)
{
    c->reshape.n_axes = 1;
    c->reshape.axes[0] = (struct msim_axis){.to = batch};
}

/* The largest batch below the job's that fits with `c`, or 1. EUSAGE where the
 * job has none. */
static enum msim_status largest_batch(struct finding *f,
                                      struct msim_fit_change *c, int64_t *batch,
                                      struct held *held)
{
    int64_t low = 1, high = f->batch; /* low fits, or is 1; high does not */

    if (f->batch < 2)
        return MSIM_EUSAGE;
    set_batch(c, low);
    MSIM_TRY(held_with(held, f, c));
    while (fits(f, held) && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        struct held at;

        set_batch(c, middle);
        MSIM_TRY(held_with(&at, f, c));
        if (fits(f, &at)) {
            low = middle;
            *held = at;
        } else {
            high = middle;
        }
    }
    *batch = low;
    set_batch(c, low);
    return MSIM_OK;
}

/* Micro batches that tell what any number of them holds: from the second on the
 * gradients are there. */
#define ALIKE 3

/* As many samples a step, in the largest micro batches from `batch` down that
 * fit: gradients stay between them, so that they hold more than such a batch
 * alone. */
static enum msim_status try_accumulate(struct finding *f,
                                       struct msim_fit_change c, int64_t batch)
{
    struct held held = {0};
    char text[MSIM_FIT_WAY_TEXT];
    int64_t at = 0;

    for (int64_t parts = 2; parts <= f->batch; parts++) {
        enum msim_status status;

        if (f->batch % parts != 0 || f->batch / parts > batch)
            continue;
        at = parts;
        set_batch(&c, f->batch / parts);
        c.rewrite.accumulate = (uint32_t)(parts < ALIKE ? parts : ALIKE);
        status = held_with(&held, f, &c);
        if (status != MSIM_OK)
            return status == MSIM_EUSAGE ? MSIM_OK : status;
        if (fits(f, &held))
            break;
    }
    if (!at)
        return MSIM_OK;
    snprintf(text, sizeof(text), "accumulate %lld micro batches of %lld",
             (long long)at, (long long)(f->batch / at));
    add(f, text, &held);
    return MSIM_OK;
}

/* A smaller batch, and the same batch in pieces; with what `c` and `with`
 * already say. */
static enum msim_status try_batch(struct finding *f, struct msim_fit_change c,
                                  const char *with)
{
    struct held held;
    char text[MSIM_FIT_WAY_TEXT];
    int64_t batch;
    enum msim_status status = largest_batch(f, &c, &batch, &held);

    if (status != MSIM_OK)
        return status == MSIM_EUSAGE ? MSIM_OK : status;
    snprintf(text, sizeof(text), "%s%sbatch %lld instead of %lld", with,
             *with ? " and " : "", (long long)batch, (long long)f->batch);
    add(f, text, &held);
    if (*with || !fits(f, &held))
        return MSIM_OK;
    return try_accumulate(f, c, batch);
}

/* ---- changes that are made or not ---------------------------------------- */

/* The smallest first: what leaves the numbers of a training as they are and
 * takes little time; then what takes time; then what changes numbers. */
static const struct {
    const char *text;
    struct msim_fit_change change;
} SWITCHES[] = {
    {"updates in backward", {.rewrite.in_backward = true}},
    {"zero1", {.rewrite.shard = MSIM_SHARD_ZERO1}},
    {"zero2", {.rewrite.shard = MSIM_SHARD_ZERO2}},
    {"fsdp", {.rewrite.shard = MSIM_SHARD_FULL}},
    {"recompute every second block", {.rewrite.recompute_every = 2}},
    {"recompute all blocks", {.rewrite.recompute_every = 1}},
    {"offload the optimizer", {.rewrite.offload_states = true}},
    {"offload activations", {.rewrite.offload_activations = true}},
    {"8-bit optimizer states", {.rewrite.optimizer_8bit = true}},
    {"autocast to bf16", {.rewrite.autocast = MSIM_DT_BF16}},
    {"bf16 of what is fp32", {.reshape.dtype = MSIM_DT_BF16}},
};
#define SWITCHES_N (sizeof(SWITCHES) / sizeof(SWITCHES[0]))

/* A switch that the job allows, with what it holds then. */
struct tried {
    size_t i;
    struct held held;
};

/* Every switch alone; `tried` gets those that hold less than the job does. */
static enum msim_status try_switches(struct finding *f, struct tried *tried,
                                     size_t *n)
{
    const struct msim_rank_memory *m = f->job->memory;
    double now = msim_rank_needs(&m->ranks[m->most]);

    *n = 0;
    for (size_t i = 0; i < SWITCHES_N; i++) {
        struct held held;
        enum msim_status status = held_with(&held, f, &SWITCHES[i].change);

        if (status == MSIM_EUSAGE || held.needed >= now)
            continue;
        if (status != MSIM_OK)
            return status;
        add(f, SWITCHES[i].text, &held);
        tried[(*n)++] = (struct tried){i, held};
    }
    return MSIM_OK;
}

static int by_needed(const void *a, const void *b)
{
    const struct tried *x = a, *y = b;

    if (x->held.needed != y->held.needed)
        return MSIM_ORDER(x->held.needed, y->held.needed);
    return MSIM_ORDER(x->i, y->i);
}

#define PAIRED 5 /* switches: those that leave least */

/* Of pairs those that fit become ways; of the others what leaves least stays
 * in `least`. */
static enum msim_status try_pair(struct finding *f, size_t a, size_t b,
                                 struct msim_fit_way *least)
{
    size_t first = a < b ? a : b, second = a < b ? b : a;
    struct msim_fit_way way = {0};
    struct msim_fit_change both;
    struct held held;
    enum msim_status status;

    if (!join(&both, &SWITCHES[first].change, &SWITCHES[second].change))
        return MSIM_OK;
    status = held_with(&held, f, &both);
    if (status != MSIM_OK)
        return status == MSIM_EUSAGE ? MSIM_OK : status;
    snprintf(way.change, sizeof(way.change), "%s and %s", SWITCHES[first].text,
             SWITCHES[second].text);
    way.peak = held.peak;
    way.needed = held.needed;
    if (fits(f, &held))
        add(f, way.change, &held);
    else if (!least->needed || way.needed < least->needed)
        *least = way;
    return MSIM_OK;
}

static enum msim_status try_two(struct finding *f, struct tried *tried,
                                size_t n)
{
    struct msim_fit_way least = {0};

    if (n > 1)
        qsort(tried, n, sizeof(*tried), by_needed);
    for (size_t i = 0; i < n && i < PAIRED; i++)
        for (size_t j = 0; j < i; j++)
            MSIM_TRY(try_pair(f, tried[i].i, tried[j].i, &least));
    if (least.needed && !any_fits(f) && f->out->n < MSIM_FIT_WAYS)
        f->out->ways[f->out->n++] = least;
    return n ? try_batch(f, SWITCHES[tried[0].i].change,
                         SWITCHES[tried[0].i].text)
             : MSIM_OK;
}

/* ---- all ----------------------------------------------------------------- */

static enum msim_status try_all(struct finding *f)
{
    const struct msim_fit_change none = {0};
    struct tried tried[SWITCHES_N];
    size_t n;

    MSIM_TRY(try_batch(f, none, ""));
    MSIM_TRY(try_switches(f, tried, &n));
    return any_fits(f) ? MSIM_OK : try_two(f, tried, n);
}

enum msim_status msim_fit_ways_find(struct msim_fit_ways *out,
                                    const struct msim_fit_job *job)
{
    struct finding f = {
        .job = job, .out = out, .capacity = job->memory->capacity};
    enum msim_status status;

    out->n = 0;
    if (!msim_rank_memory_exceeds(job->memory))
        return MSIM_OK;
    f.batch = msim_axis_batch_of(job->ranks[job->memory->most]);
    status = try_all(&f);
    msim_trace_free(f.layered);
    return status;
}

enum msim_status msim_fit_ways_note(const struct msim_fit_ways *w,
                                    struct msim_prediction *p)
{
    struct msim_memory_note *m = &p->memory;

    if (!w->n)
        return MSIM_OK;
    m->ways = msim_arena_alloc(&p->arena, w->n * sizeof(*m->ways));
    if (!m->ways)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < w->n; i++) {
        char *text = msim_arena_alloc(&p->arena, MSIM_FIT_WAY_TEXT);

        if (!text)
            return MSIM_ENOMEM;
        memcpy(text, w->ways[i].change, MSIM_FIT_WAY_TEXT);
        m->ways[m->n_ways++] =
            (struct msim_memory_way){text, (double)w->ways[i].peak.allocated,
                                     (double)w->ways[i].peak.reserved,
                                     w->ways[i].needed, w->ways[i].fits};
    }
    return MSIM_OK;
}

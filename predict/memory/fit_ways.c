/*
 * predict/memory/fit_ways.c - what would make a job fit.
 */
#include "predict/memory/fit_ways.h"

#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"

#include <stdio.h>
#include <string.h>

struct change {
    struct msim_reshape reshape;
    struct msim_rewrite rewrite;
};

struct finding {
    const struct msim_fit_job *job;
    struct msim_fit_ways *out;
    double capacity;
    int64_t batch; /* 0: not known */
};

bool msim_rank_memory_exceeds(const struct msim_rank_memory *m)
{
    return m->most != MSIM_NONE &&
           (double)m->ranks[m->most].peak.reserved > m->capacity;
}

/* ---- one change ---------------------------------------------------------- */

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
                                   const struct finding *f,
                                   const struct msim_trace *t,
                                   const struct change *c)
{
    struct msim_error why = {0};
    struct msim_trace *view;
    enum msim_status status;

    if (msim_reshape_is_none(&c->reshape))
        return rewrite_one(peak, f, t, &c->rewrite);
    MSIM_TRY(msim_reshaped_new(&view, t, &c->reshape, &why));
    status = rewrite_one(peak, f, view, &c->rewrite);
    msim_reshaped_free(view);
    return status;
}

/* The peak of the ranks that do not fit as they are; EUSAGE where they cannot
 * be changed so. */
static enum msim_status peak_of(struct msim_memory_peak *peak,
                                const struct finding *f, const struct change *c)
{
    const struct msim_rank_memory *m = f->job->memory;
    struct msim_memory_peak one;

    *peak = (struct msim_memory_peak){0};
    for (uint32_t i = 0; i < m->n; i++) {
        if (!m->ranks[i].known ||
            (double)m->ranks[i].peak.reserved <= f->capacity)
            continue;
        MSIM_TRY(change_one(&one, f, f->job->ranks[i], c));
        if (one.reserved > peak->reserved)
            *peak = one;
    }
    return MSIM_OK;
}

static bool fits(const struct finding *f, const struct msim_memory_peak *p)
{
    return (double)p->reserved <= f->capacity;
}

static void add(struct finding *f, const char *text,
                const struct msim_memory_peak *peak)
{
    struct msim_fit_way *way = &f->out->ways[f->out->n];

    if (f->out->n == MSIM_FIT_WAYS)
        return;
    f->out->n++;
    *way = (struct msim_fit_way){.peak = *peak, .fits = fits(f, peak)};
    snprintf(way->change, sizeof(way->change), "%s", text);
}

/* A change that the traces allow becomes a way. */
static enum msim_status try(struct finding *f, const char *text,
                            const struct change *c)
{
    struct msim_memory_peak peak;
    enum msim_status status = peak_of(&peak, f, c);

    if (status == MSIM_OK)
        add(f, text, &peak);
    return status == MSIM_EUSAGE ? MSIM_OK : status;
}

/* ---- the batch ----------------------------------------------------------- */

static void set_batch(struct change *c, int64_t batch)
{
    c->reshape.n_axes = 1;
    c->reshape.axes[0] = (struct msim_axis){.to = batch};
}

/* The largest batch below the job's that fits with `c`, or 1. EUSAGE where the
 * job has none. */
static enum msim_status largest_batch(struct finding *f, struct change *c,
                                      int64_t *batch,
                                      struct msim_memory_peak *peak)
{
    int64_t low = 1, high = f->batch; /* low fits, or is 1; high does not */

    if (f->batch < 2)
        return MSIM_EUSAGE;
    set_batch(c, low);
    MSIM_TRY(peak_of(peak, f, c));
    while (fits(f, peak) && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        struct msim_memory_peak at;

        set_batch(c, middle);
        MSIM_TRY(peak_of(&at, f, c));
        if (fits(f, &at)) {
            low = middle;
            *peak = at;
        } else {
            high = middle;
        }
    }
    *batch = low;
    set_batch(c, low);
    return MSIM_OK;
}

/* As many samples a step, in the largest micro batches from `batch` down that
 * fit: gradients stay between them, so that they hold more than such a batch
 * alone. */
static enum msim_status try_accumulate(struct finding *f, struct change c,
                                       int64_t batch)
{
    struct msim_memory_peak peak = {0};
    char text[MSIM_FIT_WAY_TEXT];
    int64_t at = 0;

    for (int64_t parts = 2; parts <= f->batch; parts++) {
        enum msim_status status;

        if (f->batch % parts != 0 || f->batch / parts > batch)
            continue;
        at = parts;
        set_batch(&c, f->batch / parts);
        c.rewrite.accumulate = (uint32_t)parts;
        status = peak_of(&peak, f, &c);
        if (status != MSIM_OK)
            return status == MSIM_EUSAGE ? MSIM_OK : status;
        if (fits(f, &peak))
            break;
    }
    if (!at)
        return MSIM_OK;
    snprintf(text, sizeof(text), "accumulate %lld micro batches of %lld",
             (long long)at, (long long)(f->batch / at));
    add(f, text, &peak);
    return MSIM_OK;
}

/* A smaller batch, and the same batch in pieces; with what `c` and `with`
 * already say. */
static enum msim_status try_batch(struct finding *f, struct change c,
                                  const char *with)
{
    struct msim_memory_peak peak;
    char text[MSIM_FIT_WAY_TEXT];
    int64_t batch;
    enum msim_status status = largest_batch(f, &c, &batch, &peak);

    if (status != MSIM_OK)
        return status == MSIM_EUSAGE ? MSIM_OK : status;
    snprintf(text, sizeof(text), "%s%sbatch %lld instead of %lld", with,
             *with ? " and " : "", (long long)batch, (long long)f->batch);
    add(f, text, &peak);
    if (*with || !fits(f, &peak))
        return MSIM_OK;
    return try_accumulate(f, c, batch);
}

/* ---- all ----------------------------------------------------------------- */

#define RECOMPUTE "recompute all blocks"

static bool any_fits(const struct finding *f)
{
    for (uint32_t i = 0; i < f->out->n; i++)
        if (f->out->ways[i].fits)
            return true;
    return false;
}

static enum msim_status try_one(struct finding *f)
{
    const struct change none = {0}, recompute = {.rewrite.recompute_every = 1},
                        half = {.reshape.dtype = MSIM_DT_BF16};

    MSIM_TRY(try_batch(f, none, ""));
    MSIM_TRY(try(f, RECOMPUTE, &recompute));
    return try(f, "bf16 of what is fp32", &half);
}

static enum msim_status try_two(struct finding *f)
{
    const struct change recompute = {.rewrite.recompute_every = 1},
                        both = {.reshape.dtype = MSIM_DT_BF16,
                                .rewrite.recompute_every = 1};

    MSIM_TRY(try_batch(f, recompute, RECOMPUTE));
    return try(f, RECOMPUTE " and bf16 of what is fp32", &both);
}

enum msim_status msim_fit_ways_find(struct msim_fit_ways *out,
                                    const struct msim_fit_job *job)
{
    struct finding f = {job, out, job->memory->capacity, 0};

    out->n = 0;
    if (!msim_rank_memory_exceeds(job->memory))
        return MSIM_OK;
    f.batch = msim_axis_batch_of(job->ranks[job->memory->most]);
    MSIM_TRY(try_one(&f));
    return any_fits(&f) ? MSIM_OK : try_two(&f);
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
        m->ways[m->n_ways++] = (struct msim_memory_way){
            text, (double)w->ways[i].peak.allocated,
            (double)w->ways[i].peak.reserved, w->ways[i].fits};
    }
    return MSIM_OK;
}

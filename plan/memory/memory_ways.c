/*
 * plan/memory/memory_ways.c - what would make a described job fit.
 */
#include "plan/memory/job_memory.h"

#include "core/base/containers.h"
#include "core/base/units.h"
#include "plan/describe/strategy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST    3   /* changes at once */
#define TP_MOST 8   /* ranks of a layer: those of a node */
#define TRIED   512 /* strategies of so many changes */

struct search {
    const struct msim_memory_asked *a;
    struct msim_memory_ways *out;
    struct msim_strategy_way *now, *next; /* of so many changes, and one more */
    uint32_t n_now, n_next;
};

/* ---- one change ---------------------------------------------------------- */

/* Makes `s` hold less, and says how; false: it cannot. */
typedef bool change_fn(struct msim_strategy *s, char *text, size_t size);

static bool set_zero(struct msim_strategy *s, int64_t zero, char *text,
                     size_t size)
{
    if (s->zero >= zero || s->dp * s->cp < 2)
        return false;
    s->zero = zero;
    snprintf(text, size, "zero %" PRId64, zero);
    return true;
}

static bool change_shard(struct msim_strategy *s, char *text, size_t size)
{
    return set_zero(s, s->zero + 1 < 3 ? s->zero + 1 : 3, text, size);
}

static bool change_shard_all(struct msim_strategy *s, char *text, size_t size)
{
    return s->zero < 2 && set_zero(s, 3, text, size);
}

static bool change_micro_batch(struct msim_strategy *s, char *text, size_t size)
{
    if (s->micro_batch < 2)
        return false;
    s->micro_batch = 1;
    snprintf(text, size, "micro batch 1");
    return true;
}

static bool change_tensor_parallel(struct msim_strategy *s, char *text,
                                   size_t size)
{
    if (s->tp * 2 > TP_MOST)
        return false;
    s->tp *= 2;
    snprintf(text, size, "tp %" PRId64, s->tp);
    return true;
}

static bool change_pipeline(struct msim_strategy *s, char *text, size_t size)
{
    s->pp *= 2;
    snprintf(text, size, "pp %" PRId64, s->pp);
    return true;
}

static bool change_offload(struct msim_strategy *s, char *text, size_t size)
{
    if (s->offload != MSIM_OFFLOAD_NONE)
        return false;
    s->offload = MSIM_OFFLOAD_OPTIMIZER;
    snprintf(text, size, "offload optimizer");
    return true;
}

static bool change_gpus(struct msim_strategy *s, char *text, size_t size)
{
    s->gpus *= 2;
    snprintf(text, size, "%" PRId64 " GPUs", s->gpus);
    return true;
}

static change_fn *const FUNCTIONS[] = {
    msim_again_most,        change_shard,
    change_shard_all,       change_micro_batch,
    change_tensor_parallel, change_pipeline,
    change_offload,         change_gpus,
};
#define N_FUNCTIONS (sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]))
#define MORE_GPUS   (N_FUNCTIONS - 1) /* the last */

/* ---- several ------------------------------------------------------------- */

/* Does model, batch and GPUs allow it? What follows from others is found anew.
 */
static bool complete(const struct search *k, struct msim_strategy *s)
{
    uint64_t given = (1ULL << MSIM_GIVEN_COUNT) - 1;
    bool whole = k->a->strategy->etp < k->a->strategy->tp;
    char defaults[256], reason[256];

    given &= ~(1ULL << MSIM_GIVEN_nodes | 1ULL << MSIM_GIVEN_dp |
               1ULL << MSIM_GIVEN_grad_accum);
    s->nodes = s->dp = s->grad_accum = 0;
    if (!whole) /* experts that are not whole are split as layers are */
        s->etp = 0;
    return !msim_strategy_complete(s, given, k->a->model, s->gpus_a_node,
                                   defaults, sizeof(defaults), reason,
                                   sizeof(reason));
}

static void judge(const struct search *k, struct msim_strategy_way *w)
{
    struct msim_job_memory m =
        msim_job_memory_of(k->a->model, &w->strategy, k->a->fit, &k->a->gpu);

    w->peak = m.at.most;
    w->room = m.room;
    w->fits = m.fits;
}

static bool is_enough(const struct msim_strategy_way *w)
{
    return w->fits != MSIM_FITS_NO && w->peak <= w->room;
}

/* Changes in another order make the same strategy. */
static bool is_known(const struct search *k, const struct msim_strategy *s)
{
    for (uint32_t i = 0; i < k->n_next; i++)
        if (!memcmp(&k->next[i].strategy, s, sizeof(*s)))
            return true;
    return false;
}

/* One change more than `from` has, if that is a strategy and holds less. */
static void extend(struct search *k, const struct msim_strategy_way *from,
                   size_t change)
{
    struct msim_strategy_way w = *from;
    char text[48];

    if (k->n_next == TRIED ||
        !FUNCTIONS[change](&w.strategy, text, sizeof(text)) ||
        !complete(k, &w.strategy))
        return;
    snprintf(w.change, sizeof(w.change), "%.40s%s%.44s", from->change,
             *from->change ? ", " : "", text);
    judge(k, &w);
    if (w.peak >= from->peak || is_known(k, &w.strategy))
        return;
    if (w.peak < k->out->least.peak)
        k->out->least = w;
    k->next[k->n_next++] = w;
}

static int by_peak(const void *a, const void *b)
{
    const struct msim_strategy_way *x = a, *y = b;

    if (x->peak != y->peak)
        return MSIM_ORDER(x->peak, y->peak);
    return strcmp(x->change, y->change);
}

/* Those of the last round that are enough. */
static void keep(struct search *k)
{
    struct msim_memory_ways *out = k->out;

    if (k->n_next)
        qsort(k->next, k->n_next, sizeof(*k->next), by_peak);
    for (uint32_t i = 0; i < k->n_next && out->n < MSIM_MEMORY_WAYS; i++)
        if (is_enough(&k->next[i]))
            out->ways[out->n++] = k->next[i];
}

/* One more change to all that is there; more GPUs where nothing else helps. */
static void round_of(struct search *k, uint32_t changes, bool gpus)
{
    size_t end = gpus ? N_FUNCTIONS : MORE_GPUS;

    k->n_next = 0;
    for (uint32_t i = 0; i < k->n_now; i++)
        for (size_t c = 0; c < end; c++)
            extend(k, &k->now[i], c);
    k->out->changes = changes;
    keep(k);
}

static void search(struct search *k, bool gpus)
{
    struct msim_strategy_way *swap;

    memset(&k->now[0], 0, sizeof(k->now[0]));
    k->now[0].strategy = *k->a->strategy;
    judge(k, &k->now[0]);
    k->n_now = 1;
    k->out->least = k->now[0];
    for (uint32_t changes = 1; changes <= MOST && !k->out->n; changes++) {
        round_of(k, changes, gpus);
        swap = k->now;
        k->now = k->next;
        k->next = swap;
        k->n_now = k->n_next;
    }
}

void msim_memory_ways_find(struct msim_memory_ways *out,
                           const struct msim_memory_asked *a)
{
    struct search k = {.a = a, .out = out};
    struct msim_strategy_way *room = malloc(2 * TRIED * sizeof(*room));

    memset(out, 0, sizeof(*out));
    if (!room) /* nothing is offered */
        return;
    k.now = room;
    k.next = room + TRIED;
    search(&k, false);
    if (!out->n)
        search(&k, true);
    free(room);
}

void msim_memory_ways_text(const struct msim_memory_ways *w,
                           char text[MSIM_MEMORY_WAYS_TEXT])
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < w->n; i++)
        used += (size_t)snprintf(
            text + used, MSIM_MEMORY_WAYS_TEXT - used, "%s%s (%.1f GiB%s)",
            i ? "; " : "", w->ways[i].change, w->ways[i].peak / MSIM_GIB,
            w->ways[i].fits == MSIM_FITS_EDGE ? ", edge" : "");
    if (!w->n && *w->least.change)
        snprintf(text, MSIM_MEMORY_WAYS_TEXT,
                 "nothing that was tried; least with %s (%.1f GiB)",
                 w->least.change, w->least.peak / MSIM_GIB);
}

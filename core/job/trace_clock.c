/*
 * core/job/trace_clock.c - one clock for all ranks.
 *
 * On one host the writers' clocks agree and their difference is real: a rank
 * that started later did start later. On different hosts clocks differ by up to
 * seconds, so such ranks are moved until the ends of matched collectives agree
 * in the median. For all ranks of a collective end within a few milliseconds,
 * however far apart they arrive.
 *
 * The first rank's clock is the job's. It passes from rank to rank, nearest
 * first: of a grid of ranks, those of other rows and columns share no
 * collective with the first.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/job/job.h"
#include "core/match/lost_comms.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* Less than this is none, as messages say it. */
#define LEAST_PS ((msim_ps)500 * 1000)
/* Fewer collectives prove nothing. */
#define MATCHES_MIN 3
/* Origins further apart than this are not of one clock. */
#define SAME_CLOCK_US ((int64_t)3600 * 1000 * 1000)

static void shift(struct msim_trace *t, msim_ps by)
{
    uint32_t i;

    if (by == 0)
        return;
    for (i = 0; i < t->n_ops; i++)
        t->ops[i].start += by;
    for (i = 0; i < t->n_calls; i++)
        t->calls[i].start += by;
    for (i = 0; i < t->n_gpu; i++)
        t->gpu[i].start += by;
    for (i = 0; i < t->n_syncs; i++)
        t->syncs[i].start += by;
    for (i = 0; i < t->n_steps; i++)
        t->steps[i].start += by;
    for (i = 0; i < t->n_memory; i++)
        t->memory[i].at += by;
}

/* ---- ends of collectives ------------------------------------------------ */

/* One transfer of a rank: what it is, and when it ended. */
struct transfer {
    uint64_t key;     /* kind, group: equal on all ranks */
    int64_t sequence; /* as recorded; -1: not */
    msim_ps end;
};

struct transfers {
    struct transfer *all;
    uint32_t n;
};

static uint64_t key_of(const struct msim_trace *t, const struct msim_comm *c,
                       uint32_t n_ranks)
{
    return msim_hash_mix(msim_meeting_key(t, c, n_ranks), c->collective);
}

static int by_key(const void *a, const void *b)
{
    const struct transfer *x = a, *y = b;

    if (x->key != y->key)
        return MSIM_ORDER(x->key, y->key);
    return MSIM_ORDER(x->end, y->end);
}

/* Launched before the steps that all ranks have: others may have none for it.
 */
static bool is_early(const struct msim_trace *t, const struct msim_gpu *g)
{
    return t->n_steps && g->call != MSIM_NONE &&
           t->calls[g->call].start < t->steps[0].start;
}

/* Ends of the job's collectives on one rank, by key and then by time. */
static enum msim_status collect(const struct msim_trace *t, uint32_t n_ranks,
                                struct transfers *out)
{
    uint32_t i, n = 0;
    msim_ps *ends;

    *out = (struct transfers){0};
    if (t->n_comms == 0)
        return MSIM_OK;
    ends = malloc(t->n_comms * sizeof(*ends));
    out->all = malloc(t->n_comms * sizeof(*out->all));
    if (!ends || !out->all) {
        free(ends);
        free(out->all);
        out->all = NULL;
        return MSIM_ENOMEM;
    }
    for (i = 0; i < t->n_comms; i++)
        ends[i] = MSIM_TIME_NONE;
    for (i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];

        if (g->comm != MSIM_NONE && !is_early(t, g) &&
            g->start + g->dur > ends[g->comm])
            ends[g->comm] = g->start + g->dur;
    }
    for (i = 0; i < t->n_comms; i++) {
        const struct msim_comm *c = &t->comms[i];

        if (ends[i] == MSIM_TIME_NONE || c->collective >= MSIM_COLL_SEND)
            continue;
        out->all[n++] =
            (struct transfer){key_of(t, c, n_ranks), c->sequence, ends[i]};
    }
    free(ends);
    out->n = n;
    qsort(out->all, n, sizeof(*out->all), by_key);
    return MSIM_OK;
}

static int by_time(const void *a, const void *b)
{
    const msim_ps *x = a, *y = b;

    return MSIM_ORDER(*x, *y);
}

/* The first behind those of its key. */
static uint32_t skip_key(const struct transfers *t, uint32_t i)
{
    uint32_t lo = i, hi = t->n;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (t->all[mid].key == t->all[i].key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/*
 * The median of how much later `b` ends the collectives of `a`; false where
 * too few match. From the first common step on the n-th of a kind and group
 * matches the n-th, unless both have sequence numbers and these differ.
 */
static bool median_lag(const struct transfers *a, const struct transfers *b,
                       msim_ps *lag, bool *ok)
{
    uint32_t i = 0, j = 0, n = 0;
    msim_ps *lags = malloc(((size_t)a->n + 1) * sizeof(*lags));

    *ok = lags != NULL;
    if (!lags)
        return false;
    while (i < a->n && j < b->n) {
        const struct transfer *x = &a->all[i], *y = &b->all[j];
        bool numbered = x->sequence >= 0 && y->sequence >= 0;

        if (x->key < y->key) {
            i = skip_key(a, i);
        } else if (x->key > y->key) {
            j = skip_key(b, j);
        } else if (numbered && x->sequence != y->sequence) {
            i += x->sequence < y->sequence;
            j += x->sequence > y->sequence;
        } else {
            lags[n++] = y->end - x->end;
            i++;
            j++;
        }
    }
    if (n >= MATCHES_MIN) {
        qsort(lags, n, sizeof(*lags), by_time);
        *lag = lags[n / 2];
    }
    free(lags);
    return n >= MATCHES_MIN;
}

/* ---- one origin --------------------------------------------------------- */

static msim_ps difference(const struct msim_trace_clock *from,
                          const struct msim_trace_clock *to)
{
    return (to->us - from->us) * MSIM_PS_PER_US + (to->ps - from->ps);
}

static bool close_clocks(const struct msim_trace_clock *a,
                         const struct msim_trace_clock *b)
{
    int64_t us;

    return a->known && b->known && !__builtin_sub_overflow(a->us, b->us, &us) &&
           us < SAME_CLOCK_US && us > -SAME_CLOCK_US;
}

enum msim_status msim_job_match_lost(struct msim_job *job,
                                     const struct msim_trace_clock *clocks)
{
    uint32_t first = 0, n = job->n_ranks;
    msim_ps *origins = malloc(((size_t)n + 1) * sizeof(*origins));
    enum msim_status status;

    if (!origins)
        return MSIM_ENOMEM;
    while (first < n && !clocks[first].known)
        first++;
    for (uint32_t i = 0; i < n; i++)
        origins[i] = first < n && close_clocks(&clocks[first], &clocks[i])
                         ? difference(&clocks[first], &clocks[i])
                         : MSIM_TIME_NONE;
    status = msim_match_lost(job->ranks, n, msim_job_traced(job), origins);
    free(origins);
    return status;
}

/* The earliest event of the job becomes 0. */
static void rebase(struct msim_job *job)
{
    msim_ps first = INT64_MAX;
    uint32_t i, k;

    for (i = 0; i < job->n_ranks; i++) {
        const struct msim_trace *t = job->ranks[i];

        if (!t->has_times)
            continue;
        for (k = 0; k < t->n_ops; k++)
            first = t->ops[k].start < first ? t->ops[k].start : first;
        for (k = 0; k < t->n_calls; k++)
            first = t->calls[k].start < first ? t->calls[k].start : first;
        for (k = 0; k < t->n_gpu; k++)
            first = t->gpu[k].start < first ? t->gpu[k].start : first;
    }
    if (first == INT64_MAX || first == 0)
        return;
    for (i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->has_times)
            shift(job->ranks[i], -first);
}

/* ---- from rank to rank --------------------------------------------------- */

/* A rank on its way to the job's clock. */
struct rank {
    struct transfers ends; /* as recorded */
    msim_ps moved;         /* since then */
    uint32_t root;         /* whose clock it has, in the end */
    bool placed;
};

struct alignment {
    struct msim_job *job;
    const struct msim_trace_clock *clocks;
    struct rank *ranks;
    uint32_t *order; /* ranks as they were placed */
    uint32_t n;
};

static bool same_clock(const struct alignment *a, uint32_t i, uint32_t j)
{
    return close_clocks(&a->clocks[i], &a->clocks[j]);
}

static bool other_host(const struct alignment *a, uint32_t i, uint32_t j)
{
    uint32_t x = a->job->ranks[i]->host, y = a->job->ranks[j]->host;

    return x && y && x != y;
}

static bool one_host(const struct alignment *a, uint32_t i, uint32_t j)
{
    return a->job->ranks[i]->host && same_clock(a, i, j) &&
           a->job->ranks[i]->host == a->job->ranks[j]->host;
}

/* How rank `i` moves if its clock is that of `ref`. */
static msim_ps as_recorded(const struct alignment *a, uint32_t ref, uint32_t i)
{
    return a->ranks[ref].moved + difference(&a->clocks[ref], &a->clocks[i]);
}

static void place(struct alignment *a, uint32_t i, msim_ps moved, uint32_t root)
{
    a->ranks[i].moved = moved;
    a->ranks[i].root = root;
    a->ranks[i].placed = true;
    a->order[a->n++] = i;
    shift(a->job->ranks[i], moved);
}

static void note(struct alignment *a, uint32_t i, bool same)
{
    uint32_t root = a->ranks[i].root;
    struct msim_trace *t = a->job->ranks[i];
    long long rank = t->rank, its = a->job->ranks[root]->rank;

    msim_import_add(&t->import, MSIM_IMPORT_CLOCK, 1);
    if (same)
        msim_job_warn(a->job,
                      "rank %lld: its clock is %.3f ms off rank %lld's; "
                      "aligned on the ends of their collectives",
                      rank, (double)-t->clock_shift / 1e9, its);
    else
        msim_job_warn(a->job,
                      "rank %lld: its clock is another one than rank %lld's; "
                      "aligned on the ends of their collectives",
                      rank, its);
}

/* Rank `i` follows `ref`, if anything tells how. */
static bool follow(struct alignment *a, uint32_t ref, uint32_t i, bool *ok)
{
    struct rank *of = &a->ranks[ref];
    bool same = same_clock(a, ref, i), known;
    msim_ps agree = !same                   ? 0
                    : other_host(a, ref, i) ? LEAST_PS
                                            : MSIM_CLOCKS_AGREE;
    msim_ps moved = same ? as_recorded(a, ref, i) : 0, lag = 0;

    known = median_lag(&of->ends, &a->ranks[i].ends, &lag, ok);
    if (!*ok || (!known && !one_host(a, ref, i)))
        return false;
    if (known)
        lag += moved - of->moved;
    if (lag < agree && lag > -agree)
        lag = 0;
    a->job->ranks[i]->clock_shift =
        (same ? a->job->ranks[ref]->clock_shift : 0) - lag;
    place(a, i, moved - lag, of->root);
    if (!same || a->job->ranks[i]->clock_shift)
        note(a, i, same);
    return true;
}

/* No rank with a place leads to rank `i`. */
static void place_alone(struct alignment *a, uint32_t i)
{
    uint32_t first = a->n ? a->order[0] : i;
    bool same = same_clock(a, first, i);

    place(a, i, same ? as_recorded(a, first, i) : 0, i);
    if (i != first && (!same || other_host(a, first, i)))
        msim_job_warn(a->job,
                      "rank %lld and rank %lld are on different clocks and "
                      "share no collective to align them by",
                      (long long)a->job->ranks[first]->rank,
                      (long long)a->job->ranks[i]->rank);
}

static bool is_open(const struct alignment *a, uint32_t i)
{
    return a->job->ranks[i]->has_times && !a->ranks[i].placed;
}

static enum msim_status place_all(struct alignment *a)
{
    bool ok = true;
    uint32_t at = 0;

    for (uint32_t from = 0; from < a->job->n_ranks; from++) {
        if (is_open(a, from))
            place_alone(a, from);
        for (; at < a->n; at++)
            for (uint32_t i = 0; i < a->job->n_ranks && ok; i++)
                if (is_open(a, i))
                    follow(a, a->order[at], i, &ok);
    }
    return ok ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status align(struct alignment *a)
{
    uint32_t n = a->job->n_ranks;

    a->ranks = calloc(n, sizeof(*a->ranks));
    a->order = malloc(n * sizeof(*a->order));
    if (!a->ranks || !a->order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        if (a->job->ranks[i]->has_times)
            MSIM_TRY(collect(a->job->ranks[i], msim_job_traced(a->job),
                             &a->ranks[i].ends));
    return place_all(a);
}

enum msim_status msim_clock_align(struct msim_job *job,
                                  const struct msim_trace_clock *clocks)
{
    struct alignment a = {.job = job, .clocks = clocks};
    enum msim_status status;

    if (job->n_ranks < 2)
        return MSIM_OK;
    status = align(&a);
    for (uint32_t i = 0; a.ranks && i < job->n_ranks; i++)
        free(a.ranks[i].ends.all);
    free(a.ranks);
    free(a.order);
    if (status == MSIM_OK)
        rebase(job);
    return status;
}

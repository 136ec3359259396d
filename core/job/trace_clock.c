/*
 * core/job/trace_clock.c - one clock for all ranks.
 *
 * On one host the writers' clocks agree and their difference is real: a rank
 * that started later did start later. On different hosts clocks differ by up to
 * seconds, so such ranks are moved until the ends of matched collectives agree
 * in the median. For all ranks of a collective end within a few milliseconds,
 * however far apart they arrive.
 */
#include "core/base/hash.h"
#include "core/base/sort.h"
#include "core/job/link.h"
#include "core/trace/meets.h"

#include <stdlib.h>
#include <string.h>

/* On one host single ends differ by up to 4 ms, but their medians by less than
 * 0.1 ms in real traces. A larger median shows a clock that is off. */
#define AGREE_PS ((msim_ps)1000 * MSIM_PS_PER_US)
/* Fewer collectives prove nothing. */
#define MATCHES_MIN 3
/* Origins further apart than this are not of one clock. */
#define SAME_CLOCK_US ((int64_t)3600 * 1000 * 1000)

static void shift(struct msim_trace *t, msim_ps by)
{
    uint32_t i;

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
        return x->key < y->key ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
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

    return *x < *y ? -1 : *x > *y;
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

        if (x->key != y->key) {
            i += x->key < y->key;
            j += x->key > y->key;
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

/* Move rank `i` onto the clock of rank `ref` if theirs do not agree. */
static enum msim_status align_pair(struct msim_job *job, uint32_t ref,
                                   uint32_t i, const struct transfers *at_ref,
                                   bool same_clock)
{
    struct msim_trace *a = job->ranks[ref], *b = job->ranks[i];
    bool other_host = a->host && b->host && a->host != b->host;
    struct transfers mine;
    msim_ps lag = 0;
    bool known, ok = true;

    MSIM_TRY(collect(b, job->n_ranks, &mine));
    known = median_lag(at_ref, &mine, &lag, &ok);
    free(mine.all);
    if (!ok)
        return MSIM_ENOMEM;
    if (!known) {
        if (!same_clock || other_host)
            msim_job_warn(job,
                          "rank %lld and rank %lld are on different clocks "
                          "and share no collective to align them by",
                          (long long)a->rank, (long long)b->rank);
        return MSIM_OK;
    }
    if (same_clock && !other_host && lag < AGREE_PS && lag > -AGREE_PS)
        return MSIM_OK;
    shift(b, -lag);
    b->clock_shift = -lag;
    msim_import_add(&b->import, MSIM_IMPORT_CLOCK, 1);
    msim_job_warn(job,
                  "rank %lld: its clock is %.3f ms off rank %lld's; aligned "
                  "on the ends of their collectives",
                  (long long)b->rank, (double)lag / 1e9, (long long)a->rank);
    return MSIM_OK;
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

enum msim_status msim_clock_align(struct msim_job *job,
                                  const struct msim_trace_clock *clocks)
{
    struct transfers at_ref = {0};
    enum msim_status status = MSIM_OK;
    uint32_t ref = 0, i;

    while (ref < job->n_ranks && !job->ranks[ref]->has_times)
        ref++;
    if (ref == job->n_ranks || job->n_ranks < 2)
        return MSIM_OK;
    status = collect(job->ranks[ref], job->n_ranks, &at_ref);
    for (i = ref + 1; i < job->n_ranks && status == MSIM_OK; i++) {
        bool same = close_clocks(&clocks[ref], &clocks[i]);

        if (!job->ranks[i]->has_times)
            continue;
        if (same)
            shift(job->ranks[i], difference(&clocks[ref], &clocks[i]));
        status = align_pair(job, ref, i, &at_ref, same);
    }
    free(at_ref.all);
    if (status == MSIM_OK)
        rebase(job);
    return status;
}

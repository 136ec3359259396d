/*
 * core/match/lost_comms.c - collectives of which one rank has no record.
 *
 * Without sequence numbers the nth call of a group meets the nth: one that a
 * rank lost would shift all that follow. All ranks of a group call the same
 * collectives in a step, and what one sends another receives; so a step in
 * which their numbers differ has lost some. There calls meet by kind and size,
 * in order, as many as can; of several ways the one whose launches lie at the
 * most similar parts of their steps. All calls of the group then have numbers,
 * as if these were recorded. Recordings without marks of steps are one step.
 *
 * Ranks that lost equally many show it where the nth cannot be the nth, by
 * kind, size or time, and more meet otherwise. Times of the GPU tell only which
 * record is which; durations and order are not of them. Two clocks differ by
 * nothing, or by what the ends of the nth do in the median: that by which more
 * meet. Where not even half of them does, times tell nothing.
 *
 * Where numbers are recorded, those that a rank lacks are counted.
 */
#include "core/match/lost_comms.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"
#include "core/match/lost_comms_internal.h"
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>
#include <string.h>

struct calls {
    struct msim_vec of; /* struct msim_match_call */
    struct msim_trace *const *ranks;
    uint32_t n_ranks;
    const msim_ps *origins; /* of ranks */
};

static int by_span(const void *a, const void *b)
{
    const struct msim_match_call *x = a, *y = b;

    if (x->group != y->group)
        return MSIM_ORDER(x->group, y->group);
    if (x->span != y->span)
        return MSIM_ORDER(x->span, y->span);
    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    if (x->place != y->place)
        return MSIM_ORDER(x->place, y->place);
    return MSIM_ORDER(x->comm, y->comm);
}

static struct msim_comm *comm_of(const struct calls *all,
                                 const struct msim_match_call *c)
{
    return &all->ranks[c->rank]->comms[c->comm];
}

/* ---- one group ----------------------------------------------------------- */

struct group {
    struct calls *all;
    struct msim_match_call *of; /* by span, rank, launch */
    uint32_t n;
    uint32_t *ranks; /* that call any */
    uint32_t n_ranks;
    int64_t next;                  /* number */
    struct msim_match_call **room; /* for twice the calls */
};

/* [from, to) of `g`: the calls of one span, in it those of one rank. */
struct piece {
    uint32_t from, to;
};

/* The first call of a span that is not of a rank below. */
static uint32_t first_of(const struct group *g, struct piece span,
                         uint32_t rank)
{
    uint32_t lo = span.from, hi = span.to;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (g->of[mid].rank < rank)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct piece of_rank(const struct group *g, struct piece span,
                            uint32_t rank)
{
    return (struct piece){first_of(g, span, rank), first_of(g, span, rank + 1)};
}

static struct piece span_at(const struct group *g, uint32_t from)
{
    struct piece p = {from, from};

    while (p.to < g->n && g->of[p.to].span == g->of[from].span)
        p.to++;
    return p;
}

static uint32_t longest(const struct group *g, struct piece span, bool *differ)
{
    uint32_t most = 0, least = UINT32_MAX;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, span, g->ranks[r]);
        uint32_t n = p.to - p.from;

        most = n > most ? n : most;
        least = n < least ? n : least;
    }
    *differ = most != least;
    return most;
}

static bool is_step(const struct group *g, struct piece span)
{
    return g->of[span.from].span % 2 == 1;
}

/* The nth is the nth; before the first step they are counted from it. */
static void number_in_order(struct group *g, struct piece span, uint32_t most)
{
    bool early = g->of[span.from].span == 0;

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, span, g->ranks[r]);
        uint32_t first = early ? most - (p.to - p.from) : 0;

        for (uint32_t i = p.from; i < p.to; i++)
            comm_of(g->all, &g->of[i])->sequence =
                g->next + first + (i - p.from);
    }
    g->next += most;
}

static void note(struct group *g, uint32_t rank, uint32_t own, uint32_t all)
{
    struct msim_import_log *log = &g->all->ranks[rank]->import;

    msim_import_add(log, MSIM_IMPORT_LOST_COMM, all - own);
    msim_import_add(log, MSIM_IMPORT_COMM_MATCH, own < all ? own : 0);
}

/* Each rank's calls join those of the ranks before it. */
static enum msim_status number_matched(struct group *g, struct piece span)
{
    struct msim_match_lists l = {.list = g->room, .other = g->room + g->n};

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, span, g->ranks[r]);

        for (uint32_t i = p.from; i < p.to; i++) {
            g->of[i].as = &g->of[i];
            l.other[i - p.from] = &g->of[i];
        }
        l.m = p.to - p.from;
        MSIM_TRY(msim_match_join(&l));
    }
    for (uint32_t i = 0; i < l.n; i++)
        l.list[i]->number = g->next + i;
    g->next += l.n;
    for (uint32_t i = span.from; i < span.to; i++)
        comm_of(g->all, &g->of[i])->sequence = g->of[i].as->number;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, span, g->ranks[r]);

        note(g, g->ranks[r], p.to - p.from, l.n);
    }
    return MSIM_OK;
}

/* ---- which spans lost any ------------------------------------------------ */

/* Of the first rank of the group, and of its rank `r`. */
static struct msim_match_lists lists_of(const struct group *g,
                                        struct piece span, uint32_t r)
{
    struct piece first = of_rank(g, span, g->ranks[0]);
    struct piece p = of_rank(g, span, g->ranks[r]);
    struct msim_match_lists l = {.list = g->room, .other = g->room + g->n};

    for (uint32_t i = first.from; i < first.to; i++)
        l.list[l.n++] = &g->of[i];
    for (uint32_t i = p.from; i < p.to; i++)
        l.other[l.m++] = &g->of[i];
    return l;
}

/* Do the ranks' numbers differ, or can the nth not be the nth where others can?
 * Calls of two threads may only have another order. */
static enum msim_status is_doubtful(const struct group *g, struct piece span,
                                    bool *doubtful)
{
    uint32_t met, most = longest(g, span, doubtful);

    for (uint32_t r = 1; r < g->n_ranks && !*doubtful; r++) {
        struct msim_match_lists l = lists_of(g, span, r);
        uint32_t in_order = msim_match_in_order(&l);
        bool all = true;

        if (in_order == most)
            continue;
        MSIM_TRY(msim_match_count(&l, &met));
        if (met > in_order)
            MSIM_TRY(msim_match_any_order(&l, &all));
        *doubtful = !all;
    }
    *doubtful = *doubtful && is_step(g, span);
    return MSIM_OK;
}

static enum msim_status number_span(struct group *g, struct piece span)
{
    bool doubtful, differ;

    MSIM_TRY(is_doubtful(g, span, &doubtful));
    if (doubtful)
        return number_matched(g, span);
    number_in_order(g, span, longest(g, span, &differ));
    return MSIM_OK;
}

static bool are_comparable(const struct group *g)
{
    struct msim_trace *const *ranks = g->all->ranks;

    for (uint32_t r = 1; r < g->n_ranks; r++)
        if (!msim_steps_alike(ranks[g->ranks[0]], ranks[g->ranks[r]]))
            return false;
    return g->n_ranks > 1;
}

static enum msim_status has_lost(const struct group *g, bool *lost)
{
    *lost = false;
    for (uint32_t i = 0; i < g->n && !*lost;) {
        struct piece span = span_at(g, i);

        MSIM_TRY(is_doubtful(g, span, lost));
        i = span.to;
    }
    return MSIM_OK;
}

/* ---- two clocks ----------------------------------------------------------
 */

/* Let the calls of a rank be so much later. */
static void move(const struct group *g, uint32_t rank, msim_ps by)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct msim_match_call *c = &g->of[i];

        if (c->rank != rank || c->from > c->to)
            continue;
        c->from += by;
        c->to += by;
    }
}

static void forget(const struct group *g, uint32_t rank)
{
    for (uint32_t i = 0; i < g->n; i++)
        if (g->of[i].rank == rank)
            g->of[i].to = INT64_MIN;
}

/* By how much the ends of the nth differ in the median. */
static enum msim_status median_lag(const struct group *g, uint32_t r,
                                   bool *known, msim_ps *lag)
{
    double *lags = malloc(((size_t)g->n + 1) * sizeof(*lags));
    uint32_t n = 0;

    if (!lags)
        return MSIM_ENOMEM;
    for (uint32_t at = 0; at < g->n;) {
        struct piece span = span_at(g, at);
        struct msim_match_lists l = lists_of(g, span, r);

        for (uint32_t i = 0; i < l.n && i < l.m && is_step(g, span); i++)
            if (msim_match_is_timed(l.list[i]) &&
                msim_match_is_timed(l.other[i]))
                lags[n++] = (double)(l.other[i]->to - l.list[i]->to);
        at = span.to;
    }
    *known = n > 0;
    *lag = (msim_ps)msim_median(lags, n);
    free(lags);
    return MSIM_OK;
}

/* How many calls of the steps are one with one of the first rank's. */
struct met {
    uint32_t in_order, most, of;
};

static enum msim_status count_met(const struct group *g, uint32_t r,
                                  struct met *met)
{
    uint32_t n;

    *met = (struct met){0};
    for (uint32_t at = 0; at < g->n;) {
        struct piece span = span_at(g, at);
        struct msim_match_lists l = lists_of(g, span, r);

        at = span.to;
        if (!is_step(g, span))
            continue;
        n = msim_match_in_order(&l);
        met->in_order += n;
        met->of += l.n < l.m ? l.n : l.m;
        if (n < l.n || n < l.m)
            MSIM_TRY(msim_match_count(&l, &n));
        met->most += n;
    }
    return MSIM_OK;
}

/* Put the calls of rank `r` of the group on the clock of the first. */
static enum msim_status share_clock(const struct group *g, uint32_t r)
{
    uint32_t rank = g->ranks[r], n = 0;
    msim_ps first = g->all->origins[g->ranks[0]];
    msim_ps own = g->all->origins[rank], by[2], best = 0, lag;
    struct met met, most = {0};
    bool known;

    MSIM_TRY(median_lag(g, r, &known, &lag));
    if (!known)
        return MSIM_OK;
    if (first != MSIM_TIME_NONE && own != MSIM_TIME_NONE)
        by[n++] = own - first;
    by[n++] = -lag;
    for (uint32_t i = 0; i < n && (i == 0 || most.in_order < most.of); i++) {
        move(g, rank, by[i]);
        MSIM_TRY(count_met(g, r, &met));
        move(g, rank, -by[i]);
        if (i && met.most <= most.most)
            continue;
        most = met;
        best = by[i];
    }
    move(g, rank, best);
    if (2 * most.most < most.of)
        forget(g, rank);
    return MSIM_OK;
}

/* ---- calls that have numbers ----------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    const struct msim_match_call *x = a, *y = b;

    if (x->number != y->number)
        return MSIM_ORDER(x->number, y->number);
    return MSIM_ORDER(x->rank, y->rank);
}

/* The calls of one number, once they are sorted so. */
static struct piece number_at(const struct group *g, uint32_t from)
{
    struct piece p = {from, from};

    while (p.to < g->n && g->of[p.to].number == g->of[from].number)
        p.to++;
    return p;
}

/* Numbers count the group's calls only where most are on all ranks, and none
 * twice on one. */
static bool are_of_group(const struct group *g)
{
    uint32_t whole = 0, all = 0;

    for (uint32_t i = 0; i < g->n; all++) {
        struct piece p = number_at(g, i);

        for (uint32_t k = p.from + 1; k < p.to; k++)
            if (g->of[k].rank == g->of[k - 1].rank)
                return false;
        whole += p.to - p.from == g->n_ranks;
        i = p.to;
    }
    return whole > all / 2;
}

/* Recordings without steps need not begin and end together: numbers that all
 * were there for. */
static struct msim_step_window numbers_of(const struct group *g)
{
    struct msim_step_window w = {INT64_MIN, INT64_MAX};
    struct piece all = {0, g->n};

    if (g->all->ranks[g->ranks[0]]->n_steps)
        return w;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, all, g->ranks[r]);

        if (p.from == p.to)
            continue;
        if (g->of[p.from].number > w.from)
            w.from = g->of[p.from].number;
        if (g->of[p.to - 1].number < w.to)
            w.to = g->of[p.to - 1].number;
    }
    return w;
}

/* A step's number that a rank has nowhere is of a call that it lost. */
static void note_without(struct group *g, struct piece p)
{
    uint32_t k = p.from;

    for (uint32_t i = p.from; i < p.to; i++)
        if (g->of[i].span % 2 == 0)
            return;
    for (uint32_t r = 0; r < g->n_ranks; r++)
        if (k < p.to && g->of[k].rank == g->ranks[r])
            k++;
        else
            note(g, g->ranks[r], 0, 1);
}

/* False where the numbers are not the group's: a rank counts its messages with
 * all others. */
static bool note_numbers(struct group *g)
{
    struct msim_step_window there;
    bool of_group;

    for (uint32_t i = 0; i < g->n; i++)
        g->of[i].number = g->of[i].is->sequence;
    there = numbers_of(g);
    qsort(g->of, g->n, sizeof(*g->of), by_number);
    of_group = are_of_group(g);
    for (uint32_t i = of_group ? 0 : g->n; i < g->n;) {
        struct piece p = number_at(g, i);

        if (msim_step_holds(&there, g->of[i].number))
            note_without(g, p);
        i = p.to;
    }
    if (!of_group)
        qsort(g->of, g->n, sizeof(*g->of), by_span);
    return of_group;
}

/* ---- all groups ---------------------------------------------------------- */

static enum msim_status number_group(struct group *g)
{
    uint32_t numbered = 0;
    bool lost;

    if (!are_comparable(g))
        return MSIM_OK;
    for (uint32_t i = 0; i < g->n; i++)
        numbered += comm_of(g->all, &g->of[i])->sequence >= 0;
    if (numbered == g->n && !note_numbers(g) &&
        msim_is_message(g->of->is->collective))
        numbered = 0;
    if (numbered)
        return MSIM_OK;
    for (uint32_t r = 1; r < g->n_ranks; r++)
        MSIM_TRY(share_clock(g, r));
    MSIM_TRY(has_lost(g, &lost));
    if (!lost)
        return MSIM_OK;
    for (uint32_t i = 0; i < g->n;) {
        struct piece span = span_at(g, i);

        MSIM_TRY(number_span(g, span));
        i = span.to;
    }
    return MSIM_OK;
}

/* Both ends of a message have it, if one of them has lost all. */
static void find_ends(const struct group *g, bool *seen)
{
    struct msim_trace *const *ranks = g->all->ranks;
    struct msim_message m;

    if (!msim_message_of(ranks[g->of->rank], comm_of(g->all, g->of), &m))
        return;
    for (uint32_t r = 0; r < g->all->n_ranks; r++)
        if (ranks[r]->rank == m.from || ranks[r]->rank == m.to)
            seen[r] |= msim_names_peers(ranks[r]);
}

static void find_ranks(struct group *g, bool *seen)
{
    memset(seen, 0, g->all->n_ranks);
    for (uint32_t i = 0; i < g->n; i++)
        seen[g->of[i].rank] = true;
    find_ends(g, seen);
    g->n_ranks = 0;
    for (uint32_t r = 0; r < g->all->n_ranks; r++)
        if (seen[r])
            g->ranks[g->n_ranks++] = r;
}

static enum msim_status number_groups(struct calls *all)
{
    struct msim_match_call *of = all->of.data;
    size_t ranks = (size_t)all->n_ranks + 1;
    struct group g = {.all = all, .ranks = malloc(ranks * sizeof(*g.ranks))};
    bool *seen = malloc(ranks);
    enum msim_status status = g.ranks && seen ? MSIM_OK : MSIM_ENOMEM;

    g.room = malloc(2 * ((size_t)all->of.n + 1) * sizeof(*g.room));
    if (!g.room)
        status = MSIM_ENOMEM;

    for (uint32_t i = 0; i < all->of.n && status == MSIM_OK; i += g.n) {
        g.of = &of[i];
        g.n = 1;
        g.next = 0;
        while (i + g.n < all->of.n && of[i + g.n].group == of[i].group)
            g.n++;
        find_ranks(&g, seen);
        status = number_group(&g);
    }
    free(g.ranks);
    free(g.room);
    free(seen);
    return status;
}

enum msim_status msim_match_lost(struct msim_trace *const *ranks, uint32_t n,
                                 uint32_t n_traced, const msim_ps *origins)
{
    struct calls all = {.ranks = ranks, .n_ranks = n, .origins = origins};
    enum msim_status status = MSIM_OK;

    if (n < 2)
        return MSIM_OK;
    for (uint32_t r = 0; r < n && status == MSIM_OK; r++)
        status = msim_match_rank_calls(ranks[r], r, n_traced, &all.of);
    if (status == MSIM_OK && all.of.n) {
        qsort(all.of.data, all.of.n, sizeof(struct msim_match_call), by_span);
        status = number_groups(&all);
    }
    free(all.of.data);
    return status;
}

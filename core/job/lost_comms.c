/*
 * core/job/lost_comms.c - collectives of which one rank has no record.
 *
 * Without sequence numbers the nth call of a group meets the nth: one that a
 * rank lost would shift all that follow. All ranks of a group call the same
 * collectives in a step, and what one sends another receives; so a step in
 * which their numbers differ has lost some. There calls meet by kind and size,
 * in order, as many as can; of several ways the one whose launches lie at the
 * most similar parts of their steps. All calls of the group then have numbers,
 * as if these were recorded. Recordings without marks of steps are one step.
 * Where numbers are recorded, those that a rank lacks are counted.
 */
#include "core/base/vec.h"
#include "core/job/link.h"
#include "core/trace/meets.h"
#include "core/trace/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Behind a step's own calls come those that are launched before the next. */
struct call {
    uint64_t group;
    int64_t span;  /* 0: before the first step; 2 i + 1: step i; 2 i + 2 */
    int64_t place; /* when it was launched */
    double part;   /* of its step that was over by then */
    uint32_t rank, comm;
    struct call *as; /* the same collective, of the first rank that has it */
    int64_t number;
};

struct calls {
    struct msim_vec of; /* struct call */
    struct msim_job *job;
};

/* Above so many cells the table of a step is not made; its calls meet in order.
 */
#define CELLS_MAX (1u << 24)

static bool is_counted(const struct msim_trace *t, const struct msim_comm *c)
{
    struct msim_message m;

    if (msim_is_message(c->collective))
        return msim_message_of(t, c, &m);
    return c->group != MSIM_NONE && c->collective != MSIM_COLL_UNKNOWN &&
           c->collective != MSIM_COLL_WAIT;
}

static enum msim_status add_call(struct calls *all, uint32_t rank,
                                 uint32_t comm, int64_t place,
                                 struct msim_step_window recording)
{
    const struct msim_trace *t = all->job->ranks[rank];
    uint32_t begun = t->n_steps ? msim_steps_begun(t, place) : 1;
    struct msim_step_window w = recording;
    struct call *c = msim_vec_add(&all->of, sizeof(*c));

    if (!c)
        return MSIM_ENOMEM;
    if (t->n_steps && begun)
        w = msim_step_window_of(t, begun - 1);
    *c = (struct call){
        .group = msim_meeting_key(t, &t->comms[comm], all->job->n_ranks),
        .span = 2 * (int64_t)begun - (begun && msim_step_holds(&w, place)),
        .place = place,
        .part = (double)(place - w.from) / (double)(w.to - w.from),
        .rank = rank,
        .comm = comm};
    return MSIM_OK;
}

static int64_t launch_of(const struct msim_trace *t, const struct msim_gpu *g)
{
    return g->call == MSIM_NONE ? g->start : t->calls[g->call].start;
}

/* Collectives that ran, by their first launch; without a GPU those that were
 * called. */
static void find_places(const struct msim_trace *t, int64_t *place)
{
    for (uint32_t i = 0; i < t->n_comms; i++)
        place[i] = INT64_MAX;
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *g = &t->gpu[i];

        if (g->comm != MSIM_NONE && launch_of(t, g) < place[g->comm])
            place[g->comm] = launch_of(t, g);
    }
    for (uint32_t i = 0; i < t->n_comms && !t->has_gpu_events; i++)
        if (t->comms[i].op != MSIM_NONE)
            place[i] = msim_moment(t, t->comms[i].op);
}

static void widen(struct msim_step_window *w, int64_t at)
{
    w->from = at < w->from ? at : w->from;
    w->to = at >= w->to ? at + 1 : w->to;
}

/* From the first thing that was done to the last: a call that is lost at either
 * end moves no other. */
static struct msim_step_window window_of(const struct msim_trace *t)
{
    struct msim_step_window w = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->has_times || !t->has_gpu_events)
            widen(&w, msim_moment(t, i));
    for (uint32_t i = 0; i < t->n_gpu; i++)
        widen(&w, launch_of(t, &t->gpu[i]));
    return w;
}

static enum msim_status add_calls(struct calls *all, uint32_t rank)
{
    const struct msim_trace *t = all->job->ranks[rank];
    int64_t *place = malloc(((size_t)t->n_comms + 1) * sizeof(*place));
    enum msim_status status = place ? MSIM_OK : MSIM_ENOMEM;
    struct msim_step_window recording = window_of(t);

    if (place)
        find_places(t, place);
    for (uint32_t i = 0; i < t->n_comms && status == MSIM_OK; i++)
        if (place[i] != INT64_MAX && is_counted(t, &t->comms[i]))
            status = add_call(all, rank, i, place[i], recording);
    free(place);
    return status;
}

static int by_span(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->span != y->span)
        return x->span < y->span ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->place != y->place)
        return x->place < y->place ? -1 : 1;
    return (x->comm > y->comm) - (x->comm < y->comm);
}

static struct msim_comm *comm_of(const struct calls *all, const struct call *c)
{
    return &all->job->ranks[c->rank]->comms[c->comm];
}

/* ---- two lists ----------------------------------------------------------- */

enum move { BOTH, LIST_ALONE, OTHER_ALONE };

struct lists {
    const struct calls *all;
    struct call **list, **other; /* in order of launch */
    uint32_t n, m;
};

static double gain_of(const struct lists *l, uint32_t i, uint32_t k)
{
    const struct call *x = l->list[i], *y = l->other[k];

    if (!msim_comms_may_meet(comm_of(l->all, x), comm_of(l->all, y)))
        return -INFINITY;
    /* One more that meets is worth more than any likeness of parts. */
    return 1 - fmin(fabs(x->part - y->part), 1) / (2.0 * (l->n + l->m));
}

/* The moves from the begin of both lists that gain most: `moves` has a row for
 * each of 0..n calls of the list, `best` one row. */
static void find_moves(const struct lists *l, uint8_t *moves, double *best)
{
    size_t width = (size_t)l->m + 1;

    for (uint32_t i = 0; i <= l->n; i++) {
        double diagonal = 0;

        for (uint32_t k = 0; k <= l->m; k++) {
            double above = i ? best[k] : -INFINITY, to = above;
            enum move move = LIST_ALONE;

            if (k && best[k - 1] > to) {
                to = best[k - 1];
                move = OTHER_ALONE;
            }
            if (i && k && diagonal + gain_of(l, i - 1, k - 1) > to) {
                to = diagonal + gain_of(l, i - 1, k - 1);
                move = BOTH;
            }
            diagonal = above;
            best[k] = i || k ? to : 0;
            moves[i * width + k] = (uint8_t)move;
        }
    }
}

/* The calls of both, in an order that both keep, into `out`; what of the other
 * list met one of the list is the same. */
static uint32_t merge(const struct lists *l, const uint8_t *moves,
                      struct call **out)
{
    size_t width = (size_t)l->m + 1;
    uint32_t i = l->n, k = l->m, room = l->n + l->m, at = room;

    while (i || k) {
        enum move move = (enum move)moves[i * width + k];

        i -= move != OTHER_ALONE;
        k -= move != LIST_ALONE;
        out[--at] = move == OTHER_ALONE ? l->other[k] : l->list[i];
        if (move != LIST_ALONE)
            l->other[k]->as = out[at];
    }
    memmove(out, out + at, (room - at) * sizeof(struct call *));
    return room - at;
}

/* Without room for a table the nth is the nth. */
static void pair_in_order(const struct lists *l)
{
    for (uint32_t k = 0; k < l->m && k < l->n; k++)
        l->other[k]->as = l->list[k];
}

/* Add the other list to the list, which has room for both. */
static enum msim_status join(struct lists *l)
{
    size_t cells = ((size_t)l->n + 1) * ((size_t)l->m + 1);
    bool fits = cells <= CELLS_MAX;
    uint8_t *moves = malloc(fits ? cells : 1);
    double *best = malloc(((size_t)l->m + 1) * sizeof(*best));
    struct call **out = malloc(((size_t)l->n + l->m + 1) * sizeof(*out));
    enum msim_status status = moves && best && out ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK && fits) {
        find_moves(l, moves, best);
        l->n = merge(l, moves, out);
        memcpy(l->list, out, l->n * sizeof(struct call *));
    } else if (status == MSIM_OK) {
        pair_in_order(l);
    }
    free(moves);
    free(best);
    free(out);
    return status;
}

/* ---- one group ----------------------------------------------------------- */

struct group {
    struct calls *all;
    struct call *of; /* by span, rank, launch */
    uint32_t n;
    uint32_t *ranks; /* that call any */
    uint32_t n_ranks;
    int64_t next; /* number */
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
    struct msim_import_log *log = &g->all->job->ranks[rank]->import;

    msim_import_add(log, MSIM_IMPORT_LOST_COMM, all - own);
    msim_import_add(log, MSIM_IMPORT_COMM_MATCH, own < all ? own : 0);
}

/* Each rank's calls join those of the ranks before it. */
static enum msim_status number_matched(struct group *g, struct piece span,
                                       struct call **list, struct call **other)
{
    struct lists l = {.all = g->all, .list = list, .other = other};

    for (uint32_t r = 0; r < g->n_ranks; r++) {
        struct piece p = of_rank(g, span, g->ranks[r]);

        for (uint32_t i = p.from; i < p.to; i++) {
            g->of[i].as = &g->of[i];
            other[i - p.from] = &g->of[i];
        }
        l.m = p.to - p.from;
        MSIM_TRY(join(&l));
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

static enum msim_status number_span(struct group *g, struct piece span)
{
    bool differ;
    uint32_t most = longest(g, span, &differ), n = span.to - span.from;
    struct call **room;
    enum msim_status status;

    if (!differ || !is_step(g, span)) {
        number_in_order(g, span, most);
        return MSIM_OK;
    }
    room = malloc(2 * (size_t)n * sizeof(struct call *));
    if (!room)
        return MSIM_ENOMEM;
    status = number_matched(g, span, room, room + n);
    free(room);
    return status;
}

static bool are_comparable(const struct group *g)
{
    struct msim_trace *const *ranks = g->all->job->ranks;

    for (uint32_t r = 1; r < g->n_ranks; r++)
        if (!msim_steps_alike(ranks[g->ranks[0]], ranks[g->ranks[r]]))
            return false;
    return g->n_ranks > 1;
}

/* Are there steps of which a rank has fewer calls than another? */
static bool has_lost(const struct group *g)
{
    bool differ, lost = false;

    for (uint32_t i = 0; i < g->n && !lost;) {
        struct piece span = span_at(g, i);

        longest(g, span, &differ);
        lost = differ && is_step(g, span);
        i = span.to;
    }
    return lost;
}

/* ---- calls that have numbers ----------------------------------------------
 */

static int by_number(const void *a, const void *b)
{
    const struct call *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
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

    if (g->all->job->ranks[g->ranks[0]]->n_steps)
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

static void note_numbers(struct group *g)
{
    struct msim_step_window there;

    for (uint32_t i = 0; i < g->n; i++)
        g->of[i].number = comm_of(g->all, &g->of[i])->sequence;
    there = numbers_of(g);
    qsort(g->of, g->n, sizeof(*g->of), by_number);
    for (uint32_t i = are_of_group(g) ? 0 : g->n; i < g->n;) {
        struct piece p = number_at(g, i);

        if (msim_step_holds(&there, g->of[i].number))
            note_without(g, p);
        i = p.to;
    }
}

/* ---- all groups ---------------------------------------------------------- */

static enum msim_status number_group(struct group *g)
{
    uint32_t numbered = 0;

    if (!are_comparable(g))
        return MSIM_OK;
    for (uint32_t i = 0; i < g->n; i++)
        numbered += comm_of(g->all, &g->of[i])->sequence >= 0;
    if (numbered == g->n)
        note_numbers(g);
    if (numbered || !has_lost(g))
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
    struct msim_trace *const *ranks = g->all->job->ranks;
    struct msim_message m;

    if (!msim_message_of(ranks[g->of->rank], comm_of(g->all, g->of), &m))
        return;
    for (uint32_t r = 0; r < g->all->job->n_ranks; r++)
        if (ranks[r]->rank == m.from || ranks[r]->rank == m.to)
            seen[r] |= msim_names_peers(ranks[r]);
}

static void find_ranks(struct group *g, bool *seen)
{
    memset(seen, 0, g->all->job->n_ranks);
    for (uint32_t i = 0; i < g->n; i++)
        seen[g->of[i].rank] = true;
    find_ends(g, seen);
    g->n_ranks = 0;
    for (uint32_t r = 0; r < g->all->job->n_ranks; r++)
        if (seen[r])
            g->ranks[g->n_ranks++] = r;
}

static enum msim_status number_groups(struct calls *all)
{
    struct call *of = all->of.data;
    size_t ranks = (size_t)all->job->n_ranks + 1;
    struct group g = {.all = all, .ranks = malloc(ranks * sizeof(*g.ranks))};
    bool *seen = malloc(ranks);
    enum msim_status status = g.ranks && seen ? MSIM_OK : MSIM_ENOMEM;

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
    free(seen);
    return status;
}

enum msim_status msim_job_match_lost(struct msim_job *job)
{
    struct calls all = {.job = job};
    enum msim_status status = MSIM_OK;

    if (job->n_ranks < 2)
        return MSIM_OK;
    for (uint32_t r = 0; r < job->n_ranks && status == MSIM_OK; r++)
        status = add_calls(&all, r);
    if (status == MSIM_OK && all.of.n) {
        qsort(all.of.data, all.of.n, sizeof(struct call), by_span);
        status = number_groups(&all);
    }
    free(all.of.data);
    return status;
}

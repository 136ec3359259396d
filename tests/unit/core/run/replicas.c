/*
 * tests/unit/core/run/replicas.c - ranks simulated one by one.
 *
 * Replicas take turns: each is walked in topological order until all that is
 * left of it waits for collectives of the whole job, then the next one is. A
 * replica's starts and counts stay in the cache while it is walked, and the
 * graph stays there throughout. A collective that all have arrived at goes on
 * a list, which every replica reads when it is its turn.
 */
#include "tests/unit/core/run/replicas.h"

#include <stdlib.h>
#include <string.h>

struct msim_replicas {
    const struct msim_graph *g;
    uint32_t n;
    msim_ps *start;    /* n x n_tasks */
    uint16_t *missing; /* likewise: predecessors that were not visited yet */
    uint32_t *ready;   /* a stack, empty between turns */
    uint32_t *read;    /* of each replica: how far it has read `gathered` */
    /* Collectives of the whole job, by number. */
    uint32_t *whole_of; /* of each task, or NONE */
    uint32_t n_whole;
    uint32_t *whole_task;
    uint32_t *whole_missing; /* arrivals of all replicas */
    msim_ps *whole_start;
    uint32_t *gathered, n_gathered; /* those that all have arrived at */
};

/* ---- which collectives are of the whole job ----------------------------- */

/*
 * A set bit for each rank whose arrival leads to each join; `words` a task
 * that is a join, numbered by whole_of for now.
 */
static void mark_ranks(const struct msim_replicas *r, uint64_t *seen,
                       uint32_t words)
{
    const struct msim_graph *g = r->g;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            uint32_t join = r->whole_of[g->edges[i].to];
            uint32_t rank = g->refs[t].rank;

            if (join != MSIM_NONE &&
                msim_edge_kind_of(g->edge_kind[i]) == MSIM_EDGE_COLLECTIVE)
                seen[(size_t)join * words + rank / 64] |= 1ull << rank % 64;
        }
    }
}

static uint32_t count_bits(const uint64_t *seen, uint32_t words)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < words; i++)
        n += (uint32_t)__builtin_popcountll(seen[i]);
    return n;
}

/* Number the joins on no lane: candidates. */
static uint32_t number_joins(struct msim_replicas *r)
{
    const struct msim_graph *g = r->g;
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        r->whole_of[t] = g->kind[t] == MSIM_TASK_JOIN && g->lane[t] == MSIM_NONE
                             ? n++
                             : MSIM_NONE;
    return n;
}

/* Keep those that every traced rank arrives at. */
static enum msim_status find_whole(struct msim_replicas *r)
{
    const struct msim_graph *g = r->g;
    uint32_t ranks = g->job->n_ranks, words = ranks / 64 + 1;
    uint32_t joins = number_joins(r);
    uint64_t *seen = calloc((size_t)joins * words + 1, sizeof(*seen));

    if (!seen)
        return MSIM_ENOMEM;
    mark_ranks(r, seen, words);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        uint32_t join = r->whole_of[t];

        if (join == MSIM_NONE)
            continue;
        r->whole_of[t] = count_bits(seen + (size_t)join * words, words) == ranks
                             ? r->n_whole++
                             : MSIM_NONE;
    }
    free(seen);
    return MSIM_OK;
}

static enum msim_status list_whole(struct msim_replicas *r)
{
    size_t n = (size_t)r->n_whole + 1;

    r->whole_task = malloc(n * sizeof(*r->whole_task));
    r->whole_missing = malloc(n * sizeof(*r->whole_missing));
    r->whole_start = malloc(n * sizeof(*r->whole_start));
    r->gathered = malloc(n * sizeof(*r->gathered));
    if (!r->whole_task || !r->whole_missing || !r->whole_start || !r->gathered)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < r->g->n_tasks; t++) {
        if (r->whole_of[t] == MSIM_NONE)
            continue;
        if ((uint64_t)r->g->n_preds[t] * r->n > UINT32_MAX)
            return MSIM_ELIMIT;
        r->whole_task[r->whole_of[t]] = t;
    }
    return MSIM_OK;
}

/* ---- workspace ---------------------------------------------------------- */

static enum msim_status allocate(struct msim_replicas *r)
{
    size_t tasks = r->g->n_tasks, all = tasks * r->n + 1;

    for (uint32_t t = 0; t < r->g->n_tasks; t++)
        if (r->g->n_preds[t] > UINT16_MAX)
            return MSIM_ELIMIT;
    r->start = malloc(all * sizeof(*r->start));
    r->missing = malloc(all * sizeof(*r->missing));
    r->ready = malloc((tasks + 1) * sizeof(*r->ready));
    r->read = malloc(((size_t)r->n + 1) * sizeof(*r->read));
    r->whole_of = malloc((tasks + 1) * sizeof(*r->whole_of));
    if (!r->start || !r->missing || !r->ready || !r->read || !r->whole_of)
        return MSIM_ENOMEM;
    MSIM_TRY(find_whole(r));
    return list_whole(r);
}

enum msim_status msim_replicas_new(struct msim_replicas **out,
                                   const struct msim_graph *g, uint32_t n)
{
    struct msim_replicas *r = calloc(1, sizeof(*r));
    enum msim_status status;

    *out = NULL;
    if (!r)
        return MSIM_ENOMEM;
    r->g = g;
    r->n = n;
    status = allocate(r);
    if (status != MSIM_OK) {
        msim_replicas_free(r);
        return status;
    }
    *out = r;
    return MSIM_OK;
}

void msim_replicas_free(struct msim_replicas *r)
{
    if (!r)
        return;
    free(r->start);
    free(r->missing);
    free(r->ready);
    free(r->read);
    free(r->whole_of);
    free(r->whole_task);
    free(r->whole_missing);
    free(r->whole_start);
    free(r->gathered);
    free(r);
}

const msim_ps *msim_replicas_start(const struct msim_replicas *r,
                                   uint32_t replica)
{
    return r->start + (size_t)replica * r->g->n_tasks;
}

size_t msim_replicas_bytes(const struct msim_replicas *r)
{
    size_t tasks = r->g->n_tasks;
    size_t whole = sizeof(*r->whole_task) + sizeof(*r->whole_missing) +
                   sizeof(*r->whole_start) + sizeof(*r->gathered);

    return sizeof(*r) + r->n * sizeof(*r->read) +
           tasks * r->n * (sizeof(*r->start) + sizeof(*r->missing)) +
           tasks * (sizeof(*r->ready) + sizeof(*r->whole_of)) +
           r->n_whole * whole;
}

/* ---- running ------------------------------------------------------------ */

/* One replica whose turn it is. */
struct turn {
    struct msim_replicas *r;
    const msim_ps *dur, *lag;
    msim_ps *start;
    uint16_t *missing;
    uint32_t n_ready;
};

static void begin(struct msim_replicas *r)
{
    const struct msim_graph *g = r->g;
    size_t tasks = g->n_tasks;

    memset(r->start, 0, tasks * sizeof(*r->start));
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (r->start[g->releases[i].task] < g->releases[i].at)
            r->start[g->releases[i].task] = g->releases[i].at;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        r->missing[t] = (uint16_t)g->n_preds[t];
    for (uint32_t i = 1; i < r->n; i++) {
        memcpy(r->start + i * tasks, r->start, tasks * sizeof(*r->start));
        memcpy(r->missing + i * tasks, r->missing, tasks * sizeof(*r->missing));
    }
    memset(r->read, 0, r->n * sizeof(*r->read));
    r->n_gathered = 0;
    for (uint32_t w = 0; w < r->n_whole; w++) {
        r->whole_start[w] = r->start[r->whole_task[w]];
        r->whole_missing[w] = r->n * g->n_preds[r->whole_task[w]];
    }
}

/* An arrival at a collective of the whole job, which ends at `at`. */
static void arrive(struct msim_replicas *r, uint32_t whole, msim_ps at)
{
    if (r->whole_start[whole] < at)
        r->whole_start[whole] = at;
    if (!--r->whole_missing[whole])
        r->gathered[r->n_gathered++] = whole;
}

static void reach(struct turn *k, uint32_t to, msim_ps at)
{
    struct msim_replicas *r = k->r;

    if (r->whole_of[to] != MSIM_NONE) {
        arrive(r, r->whole_of[to], at);
        return;
    }
    if (k->start[to] < at)
        k->start[to] = at;
    if (!--k->missing[to])
        r->ready[k->n_ready++] = to;
}

static uint32_t walk(struct turn *k)
{
    const struct msim_graph *g = k->r->g;
    uint32_t visited = 0;

    while (k->n_ready > 0) {
        uint32_t t = k->r->ready[--k->n_ready], last = g->edge_begin[t + 1];
        msim_ps end = k->start[t] + k->dur[t];

        visited++;
        for (uint32_t i = g->edge_begin[t]; i < last; i++) {
            msim_ps lag = k->lag[msim_edge_kind_of(g->edge_kind[i])];

            if (lag < 0)
                lag = g->edges[i].lag;
            reach(k, g->edges[i].to, end + lag);
        }
    }
    return visited;
}

/* Collectives that were gathered since this replica's last turn. */
static void read_gathered(struct turn *k, uint32_t replica)
{
    struct msim_replicas *r = k->r;

    while (r->read[replica] < r->n_gathered) {
        uint32_t whole = r->gathered[r->read[replica]++];
        uint32_t task = r->whole_task[whole];

        k->start[task] = r->whole_start[whole];
        r->ready[k->n_ready++] = task;
    }
}

static void first_ready(struct turn *k)
{
    const struct msim_graph *g = k->r->g;

    for (uint32_t t = g->n_tasks; t-- > 0;)
        if (!g->n_preds[t])
            k->r->ready[k->n_ready++] = t;
}

enum msim_status msim_replicas_run(struct msim_replicas *r,
                                   const msim_ps *const *dur,
                                   const msim_ps lag[MSIM_EDGE_KINDS],
                                   struct msim_error *err)
{
    uint64_t all = (uint64_t)r->g->n_tasks * r->n, visited = 0, before;
    bool first = true;

    begin(r);
    do {
        before = visited;
        for (uint32_t i = 0; i < r->n; i++) {
            struct turn k = {
                .r = r,
                .dur = dur[i],
                .lag = lag,
                .start = r->start + (size_t)i * r->g->n_tasks,
                .missing = r->missing + (size_t)i * r->g->n_tasks,
            };

            if (first)
                first_ready(&k);
            read_gathered(&k, i);
            visited += walk(&k);
        }
        first = false;
    } while (visited > before);
    if (visited == all)
        return MSIM_OK;
    return msim_fail(err, MSIM_ECYCLE, NULL, MSIM_OFFSET_NONE,
                     "%llu of %llu tasks of %u replicas wait for each other",
                     (unsigned long long)(all - visited),
                     (unsigned long long)all, r->n);
}

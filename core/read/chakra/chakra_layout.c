/*
 * core/read/chakra/chakra_layout.c - when nodes without a start begin.
 *
 * Chakra files of other tools have durations and dependencies, seldom starts.
 * The run that they describe is laid out: nodes in an order that respects the
 * dependencies and otherwise is that of the file. A thread and a stream do one
 * thing at a time; a node starts as soon as it can. An operator's own time
 * comes first, its callees after it.
 */
#include "core/base/containers.h"
#include "core/read/chakra/read_chakra_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every node has a length, so that what it launches lies within it. */
#define WORK_MIN ((msim_ps)2)

struct layout {
    struct msim_reader *r;
    struct msim_chakra *c;
    struct msim_chakra_node *nodes;
    const uint64_t *deps;
    uint32_t n;
    /* Successors of a node: next[first[i]..] as lists of edges. */
    uint32_t *first, *next, *to, *missing;
};

static uint32_t node_of(const struct layout *l, uint64_t id)
{
    return msim_idmap_get(&l->c->ids, id);
}

static bool on_gpu(const struct msim_chakra_node *n)
{
    return n->event >= MSIM_CHAKRA_KERNEL_EVENT &&
           n->event <= MSIM_CHAKRA_MEMSET_EVENT;
}

/* ---- an order ----------------------------------------------------------- */

static int fail_missing(struct layout *l, const struct msim_chakra_node *n,
                        uint64_t id)
{
    msim_read_problem(l->r, MSIM_EFORMAT,
                      "node %llu '%.80s' depends on node %llu, which is not "
                      "there",
                      (unsigned long long)n->id,
                      msim_strtab_text(l->r->strings, n->name),
                      (unsigned long long)id);
    l->r->problem.offset = n->at;
    return MSIM_EFORMAT;
}

/* Edges by their source; `missing` counts what each node waits for. */
static enum msim_status list_edges(struct layout *l)
{
    uint32_t edges = 0;

    memset(l->first, 0xff, l->n * sizeof(*l->first));
    for (uint32_t i = 0; i < l->n; i++) {
        const struct msim_chakra_node *n = &l->nodes[i];

        l->missing[i] = 0;
        for (uint32_t k = 0; k < n->n_deps; k++) {
            uint32_t from = node_of(l, l->deps[n->deps + k]);

            /* A node that --salvage lost is no reason to lose the rest. */
            if (from == MSIM_NONE && l->r->out->salvaged)
                continue;
            if (from == MSIM_NONE)
                return (enum msim_status)fail_missing(l, n,
                                                      l->deps[n->deps + k]);
            l->to[edges] = i;
            l->next[edges] = l->first[from];
            l->first[from] = edges++;
            l->missing[i]++;
        }
    }
    return MSIM_OK;
}

/* A node of `l` that waits for `i` and was not reached. */
static uint32_t unmet(const struct layout *l, uint32_t i)
{
    const struct msim_chakra_node *n = &l->nodes[i];

    for (uint32_t k = 0; k < n->n_deps; k++) {
        uint32_t from = node_of(l, l->deps[n->deps + k]);

        if (from != MSIM_NONE && l->missing[from])
            return from;
    }
    return MSIM_NONE;
}

/* Some nodes wait for each other: follow what they wait for. */
static int fail_cycle(struct layout *l)
{
    char text[320];
    size_t len = 0;
    uint32_t i = 0, start, step;

    while (!l->missing[i])
        i++;
    for (step = 0; step < l->n; step++)
        i = unmet(l, i); /* surely on a cycle now */
    start = i;
    for (step = 0; step < 6 && (step == 0 || i != start); step++) {
        len +=
            (size_t)snprintf(text + len, sizeof(text) - len, "%llu '%.24s' -> ",
                             (unsigned long long)l->nodes[i].id,
                             msim_strtab_text(l->r->strings, l->nodes[i].name));
        i = unmet(l, i);
    }
    msim_read_problem(l->r, MSIM_ECYCLE,
                      "the data_deps of nodes form a cycle: %s%s%llu", text,
                      i == start ? "" : "... -> ",
                      (unsigned long long)l->nodes[start].id);
    l->r->problem.offset = l->nodes[start].at;
    return MSIM_ECYCLE;
}

/* Take nodes that wait for nothing; of several, the first in the file. */
static enum msim_status walk(struct layout *l, uint32_t *order)
{
    struct msim_evq ready;
    uint32_t done = 0;

    MSIM_TRY(msim_evq_init(&ready, l->n));
    for (uint32_t i = 0; i < l->n; i++)
        if (!l->missing[i])
            msim_evq_push(&ready, i, i);
    while (ready.length) {
        uint32_t i = msim_evq_pop(&ready).seq;

        order[done++] = i;
        for (uint32_t e = l->first[i]; e != MSIM_NONE; e = l->next[e])
            if (--l->missing[l->to[e]] == 0)
                msim_evq_push(&ready, l->to[e], l->to[e]);
    }
    msim_evq_release(&ready);
    return done == l->n ? MSIM_OK : (enum msim_status)fail_cycle(l);
}

enum msim_status msim_chakra_order(struct msim_reader *r, uint32_t *order)
{
    struct msim_chakra *c = msim_chakra_of(r);
    struct layout l = {.r = r,
                       .c = c,
                       .nodes = c->nodes.data,
                       .deps = c->deps.data,
                       .n = c->nodes.n};
    size_t n = (size_t)c->nodes.n + 1, edges = (size_t)c->deps.n + 1;
    uint32_t *memory = malloc((n * 2 + edges * 2) * sizeof(*memory));
    enum msim_status status;

    if (!memory)
        return MSIM_ENOMEM;
    l.first = memory;
    l.missing = memory + n;
    l.next = memory + n * 2;
    l.to = memory + n * 2 + edges;
    status = list_edges(&l);
    if (status == MSIM_OK)
        status = walk(&l, order);
    free(memory);
    return status;
}

/* ---- times -------------------------------------------------------------- */

static int fail_long(struct layout *l, const struct msim_chakra_node *n)
{
    msim_read_problem(l->r, MSIM_EFORMAT,
                      "node %llu would end after more than 100 days, want "
                      "durations in microseconds",
                      (unsigned long long)n->id);
    l->r->problem.offset = n->at;
    return MSIM_EFORMAT;
}

/* When the thread or stream of `n` is free again; NULL where it has none. */
static msim_ps *lane_of(const struct layout *l,
                        const struct msim_chakra_node *n, msim_ps *threads,
                        msim_ps *streams)
{
    const struct msim_trace *t = l->r->trace;

    if (n->row == MSIM_NONE)
        return NULL;
    if (on_gpu(n))
        return &streams[t->gpu[n->row].stream];
    return &threads[t->ops[n->row].thread];
}

/* When all that `n` waits for has ended: dependencies, and its launch. */
static msim_ps ready_at(const struct layout *l,
                        const struct msim_chakra_node *n)
{
    msim_ps at = 0;

    for (uint32_t d = 0; d <= n->n_deps; d++) {
        uint32_t from = MSIM_NONE;
        const struct msim_chakra_node *p;

        if (d < n->n_deps)
            from = node_of(l, l->deps[n->deps + d]);
        else if (on_gpu(n) && n->has_parent)
            from = node_of(l, n->parent);
        if (from == MSIM_NONE || l->nodes[from].start == MSIM_TIME_NONE)
            continue;
        p = &l->nodes[from];
        at = p->start + p->span > at ? p->start + p->span : at;
    }
    return at;
}

static enum msim_status place(struct layout *l, const uint32_t *order,
                              msim_ps *threads, msim_ps *streams)
{
    for (uint32_t k = 0; k < l->n; k++) {
        struct msim_chakra_node *n = &l->nodes[order[k]];
        msim_ps *lane = lane_of(l, n, threads, streams);
        msim_ps work = n->own > WORK_MIN ? n->own : WORK_MIN;

        n->start = ready_at(l, n);
        if (lane && *lane > n->start)
            n->start = *lane;
        /* A quarter of the range: sums of two times cannot overflow. */
        if (n->start > INT64_MAX / 4 || work > INT64_MAX / 4)
            return (enum msim_status)fail_long(l, n);
        n->span = work;
        if (lane)
            *lane = n->start + work;
    }
    return MSIM_OK;
}

/* An operator lasts until the last of its callees has ended. */
static void cover_callees(struct layout *l, const uint32_t *order)
{
    const struct msim_trace *t = l->r->trace;

    for (uint32_t k = l->n; k-- > 0;) {
        const struct msim_chakra_node *n = &l->nodes[order[k]];
        struct msim_chakra_node *p;
        uint32_t parent = n->has_parent ? node_of(l, n->parent) : MSIM_NONE;

        if (parent == MSIM_NONE || n->row == MSIM_NONE || on_gpu(n))
            continue;
        p = &l->nodes[parent];
        if (p->row == MSIM_NONE || on_gpu(p) || n->start < p->start ||
            t->ops[n->row].thread != t->ops[p->row].thread)
            continue;
        if (n->start + n->span > p->start + p->span)
            p->span = n->start + n->span - p->start;
    }
}

enum msim_status msim_chakra_layout(struct msim_reader *r,
                                    const uint32_t *order)
{
    struct msim_chakra *c = msim_chakra_of(r);
    struct layout l = {.r = r,
                       .c = c,
                       .nodes = c->nodes.data,
                       .deps = c->deps.data,
                       .n = c->nodes.n};
    size_t n_threads = (size_t)r->trace->n_threads + 1;
    msim_ps *lanes =
        calloc(n_threads + r->trace->n_streams + 1, sizeof(*lanes));
    enum msim_status status;

    if (!lanes)
        return MSIM_ENOMEM;
    status = place(&l, order, lanes, lanes + n_threads);
    if (status == MSIM_OK)
        cover_callees(&l, order);
    free(lanes);
    return status;
}

/*
 * tests/unit/made_graph.h - random graphs for tests of the engine, and a
 * second way to compute what it must find.
 *
 * Tasks are numbered so that edges go from lower to higher: a longest path is
 * then one pass. Private to tests.
 */
#ifndef MSIM_TESTS_UNIT_MADE_GRAPH_H
#define MSIM_TESTS_UNIT_MADE_GRAPH_H
#include "core/run/engine.h"

#include <stdlib.h>

struct made_graph {
    struct msim_graph g;
    msim_ps *dur;
    uint8_t *removed; /* tasks removed from the scenario; NULL: none */
};

/* xorshift: the same sequence everywhere. */
static inline uint32_t made_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)(*state >> 32);
}

static inline void made_graph_free(struct made_graph *m)
{
    free(m->g.edge_begin);
    free(m->g.n_preds);
    free(m->g.edges);
    free(m->g.edge_kind);
    free(m->g.releases);
    free(m->removed);
    free(m->dur);
}

/*
 * `n` tasks on `lanes` lanes: each follows the one before on its lane, and
 * every third waits for a random earlier task as well. Durations 0..999 ns.
 */
static inline struct made_graph made_graph_new(uint32_t n, uint32_t lanes,
                                               uint64_t seed)
{
    struct made_graph m = {0};
    uint32_t edges = 0;

    m.g.n_tasks = n;
    m.g.edge_begin = calloc((size_t)n + 2, sizeof(*m.g.edge_begin));
    m.g.n_preds = calloc((size_t)n + 1, sizeof(*m.g.n_preds));
    m.g.edges = malloc(((size_t)n * 2 + 1) * sizeof(*m.g.edges));
    m.g.edge_kind = calloc((size_t)n * 2 + 1, 1);
    m.dur = malloc(((size_t)n + 1) * sizeof(*m.dur));
    for (uint32_t t = 0; t < n; t++) {
        m.g.edge_begin[t] = edges;
        m.dur[t] = made_random(&seed) % 1000 * 1000;
        if (t + lanes < n) {
            m.g.edges[edges++] = (struct msim_edge){t + lanes, 0};
            m.g.n_preds[t + lanes]++;
        }
        if (t % 3 == 0 && t + 1 < n) {
            uint32_t ahead = n - 1 - t < 4 * lanes ? n - 1 - t : 4 * lanes;
            uint32_t to = t + 1 + made_random(&seed) % ahead;

            m.g.edges[edges++] =
                (struct msim_edge){to, made_random(&seed) % 50 * 1000};
            m.g.n_preds[to]++;
        }
    }
    m.g.edge_begin[n] = edges;
    m.g.n_edges = edges;
    return m;
}

/* Edges of random kinds, a few releases, and every `one_in`th task out. */
static inline void made_graph_mix(struct made_graph *m, uint64_t seed,
                                  uint32_t one_in)
{
    uint32_t n = m->g.n_tasks;

    m->removed = calloc((size_t)n + 1, 1);
    m->g.releases = malloc(((size_t)n + 1) * sizeof(*m->g.releases));
    for (uint32_t i = 0; i < m->g.n_edges; i++)
        m->g.edge_kind[i] = MSIM_EDGE_BYTE(made_random(&seed) % MSIM_EDGE_KINDS,
                                           made_random(&seed) % 3);
    for (uint32_t t = 0; t < n; t++) {
        m->removed[t] = made_random(&seed) % one_in == 0;
        if (made_random(&seed) % 8 == 0)
            m->g.releases[m->g.n_releases++] = (struct msim_release){
                t, made_random(&seed) % 100000 * 1000, false, 0};
    }
}

/* When edge `i` lets its successor start: engine.h, `out`. */
static inline msim_ps made_graph_edge(const struct made_graph *m, uint32_t i,
                                      msim_ps end)
{
    enum msim_edge_kind kind = msim_edge_kind_of(m->g.edge_kind[i]);

    if (!m->removed || !m->removed[m->g.edges[i].to])
        return end + m->g.edges[i].lag;
    return kind == MSIM_EDGE_COLLECTIVE || kind == MSIM_EDGE_POINT_TO_POINT
               ? 0
               : end;
}

/* Starts by the definition in graph.h, in one pass over tasks in order. */
static inline void made_graph_longest(const struct made_graph *m,
                                      msim_ps *start)
{
    for (uint32_t t = 0; t < m->g.n_tasks; t++)
        start[t] = 0;
    for (uint32_t i = 0; i < m->g.n_releases; i++) {
        const struct msim_release *r = &m->g.releases[i];

        if ((!m->removed || !m->removed[r->task]) && start[r->task] < r->at)
            start[r->task] = r->at;
    }
    for (uint32_t t = 0; t < m->g.n_tasks; t++)
        for (uint32_t i = m->g.edge_begin[t]; i < m->g.edge_begin[t + 1]; i++) {
            msim_ps dur = m->removed && m->removed[t] ? 0 : m->dur[t];
            msim_ps at = made_graph_edge(m, i, start[t] + dur);

            if (at > start[m->g.edges[i].to])
                start[m->g.edges[i].to] = at;
        }
}

static inline struct msim_scenario
made_graph_scenario(const struct made_graph *m)
{
    struct msim_scenario s = {.dur = m->dur, .removed = m->removed};

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    return s;
}

#endif

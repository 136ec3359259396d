/*
 * tests/unit/made_contention.h - small graphs whose tasks share a device, for
 * tests of the engine. Task t has demand t; times are in ps. Private to tests.
 */
#ifndef MSIM_TESTS_UNIT_MADE_CONTENTION_H
#define MSIM_TESTS_UNIT_MADE_CONTENTION_H
#include "tests/check.h"
#include "tests/unit/made_graph.h"

#include <math.h>

/* Room for what the cases by hand need. */
#define MADE_TASKS 8

/*
 * Up to MADE_TASKS tasks of one device, each on a stream of its own and
 * released at a time of its own; edges are the test's business.
 */
struct made_contention {
    struct msim_graph g;
    struct msim_sharing s;
    struct msim_shared_device device;
    struct msim_demand demands[MADE_TASKS];
    uint32_t of_task[MADE_TASKS], lane[MADE_TASKS];
    uint32_t edge_begin[MADE_TASKS + 1], n_preds[MADE_TASKS];
    struct msim_edge edges[MADE_TASKS];
    uint8_t edge_kind[MADE_TASKS];
    struct msim_release releases[MADE_TASKS];
    msim_ps dur[MADE_TASKS], start[MADE_TASKS], took[MADE_TASKS];
    uint32_t held_by[MADE_TASKS];
    uint8_t out[MADE_TASKS];
};

static inline void made_contention_init(struct made_contention *m)
{
    memset(m, 0, sizeof(*m));
    m->device = (struct msim_shared_device){
        .host_link = {1, {0.5, 0.5}},
        .interconnect = {1, {1, 1}},
        .slowdown = 2,
        .engines = {1, 1},
    };
    m->s.rules = (1u << MSIM_CONTENTION_RULES) - 1;
    m->s.of_task = m->of_task;
    m->s.demands = m->demands;
    m->s.devices = &m->device;
    m->s.n_devices = 1;
    m->g.lane = m->lane;
    m->g.edge_begin = m->edge_begin;
    m->g.n_preds = m->n_preds;
    m->g.edges = m->edges;
    m->g.edge_kind = m->edge_kind;
    m->g.releases = m->releases;
    m->g.sharing = &m->s;
}

/* A task that could start at `at` and takes `dur` alone. */
static inline uint32_t made_contention_add(struct made_contention *m,
                                           enum msim_demand_kind kind,
                                           msim_ps at, msim_ps dur)
{
    uint32_t t = m->g.n_tasks++;

    m->s.n_demands = m->g.n_releases = m->g.n_tasks;
    m->of_task[t] = m->lane[t] = t;
    m->demands[t] = (struct msim_demand){
        .alone = 1, .tail = 1, .task = t, .kind = (uint8_t)kind};
    m->releases[t] = (struct msim_release){t, at, false, 0};
    m->dur[t] = dur;
    return t;
}

/* The one edge of a graph by hand, of no lag. */
static inline void made_contention_edge(struct made_contention *m,
                                        uint32_t from, uint32_t to)
{
    m->edges[0] = (struct msim_edge){to, 0};
    m->n_preds[to] = 1;
    m->g.n_edges = 1;
    for (uint32_t t = from + 1; t <= m->g.n_tasks; t++)
        m->edge_begin[t] = 1;
}

static inline void made_contention_run(struct made_contention *m)
{
    struct msim_scenario s = {.dur = m->dur, .removed = m->out};
    struct msim_times times = {m->start, m->took, m->held_by};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    REQUIRE(msim_engine_new(&e, &m->g) == MSIM_OK);
    CHECK_INT(msim_engine_simulate(e, &s, &times, NULL), MSIM_OK);
    msim_engine_free(e);
}

/*
 * Let every task of a random graph share one of two devices: kernels of one
 * to eight waves, copies both ways, transfers, and some that share nothing.
 */
static inline void made_contention_random(struct made_graph *m, uint32_t lanes,
                                          uint64_t seed)
{
    uint32_t n = m->g.n_tasks;
    struct msim_sharing *s = calloc(1, sizeof(*s));

    s->rules = (1u << MSIM_CONTENTION_RULES) - 1;
    s->of_task = malloc(((size_t)n + 1) * sizeof(*s->of_task));
    s->demands = malloc(((size_t)n + 1) * sizeof(*s->demands));
    s->devices = calloc(2, sizeof(*s->devices));
    s->n_devices = 2;
    for (int i = 0; i < 2; i++)
        s->devices[i] = (struct msim_shared_device){
            .host_link = {1, {0.5, 0.5}},
            .interconnect = {1, {1, 1}},
            .slowdown = 1.25,
            .engines = {1, 1},
        };
    m->g.lane = malloc(((size_t)n + 1) * sizeof(*m->g.lane));
    for (uint32_t t = 0; t < n; t++) {
        static const uint8_t KINDS[] = {
            MSIM_DEMAND_KERNEL, MSIM_DEMAND_KERNEL, MSIM_DEMAND_TO_DEVICE,
            MSIM_DEMAND_TO_HOST, MSIM_DEMAND_TRANSFER};
        uint32_t pick = made_random(&seed) % 6;

        m->g.lane[t] = t % lanes;
        s->of_task[t] = MSIM_NONE;
        if (pick == 5)
            continue;
        s->of_task[t] = s->n_demands;
        s->demands[s->n_demands++] = (struct msim_demand){
            .alone = 1,
            .tail = 1 / (float)(1 + made_random(&seed) % 8),
            .task = t,
            .device = t % lanes % 2,
            .kind = KINDS[pick],
            .first = t % lanes == 3,
        };
    }
    m->g.sharing = s;
}

/* Of such a graph: as many devices as ranks, four lanes each. */
static inline void made_contention_spread(struct made_graph *m, uint32_t lanes)
{
    struct msim_sharing *s = m->g.sharing;

    free(s->devices);
    s->n_devices = lanes / 4;
    s->devices = calloc(s->n_devices, sizeof(*s->devices));
    for (uint32_t i = 0; s->devices && i < s->n_devices; i++)
        s->devices[i] = (struct msim_shared_device){
            .host_link = {1, {0.5, 0.5}},
            .interconnect = {1, {1, 1}},
            .slowdown = 1.25,
            .engines = {1, 1},
        };
    for (uint32_t d = 0; d < s->n_demands; d++)
        s->demands[d].device = s->demands[d].task % lanes / 4;
}

static inline void made_contention_random_free(struct made_graph *m)
{
    free(m->g.lane);
    msim_sharing_free(m->g.sharing);
    made_graph_free(m);
}

#endif

/*
 * core/graph/overlay.c: a graph and its differences, run by the engine.
 */
#include "core/graph/graph.h"

#include "tests/check.h"
#include "tests/unit/engine_starts.h"
#include "tests/unit/made_graph.h"

#include <string.h>

#define LANES 5

/* A random graph of one rank with all that an overlay reads: kernels on
 * streams. */
static struct made_graph made(uint32_t n, uint64_t seed, struct msim_job *job)
{
    struct made_graph m = made_graph_new(n, LANES, seed);
    size_t size = (size_t)n + 1;

    m.g.job = job;
    m.g.kind = malloc(size);
    m.g.lane = calloc(size, sizeof(*m.g.lane));
    m.g.window = calloc(size, sizeof(*m.g.window));
    m.g.traced = calloc(size, sizeof(*m.g.traced));
    m.g.refs = calloc(size, sizeof(*m.g.refs));
    m.g.lanes = calloc(LANES, sizeof(*m.g.lanes));
    m.g.n_lanes = LANES;
    memset(m.g.kind, MSIM_TASK_KERNEL, size);
    for (uint32_t t = 0; t < n; t++)
        m.g.lane[t] = t % LANES;
    return m;
}

static void release(struct made_graph *m)
{
    free(m->g.kind);
    free(m->g.lane);
    free(m->g.window);
    free(m->g.traced);
    free(m->g.refs);
    free(m->g.lanes);
    made_graph_free(m);
}

/* Starts by the engine; the caller frees. */
static msim_ps *starts(const struct msim_graph *g, const msim_ps *dur)
{
    msim_ps *start = calloc((size_t)g->n_tasks + 1, sizeof(*start));
    struct msim_scenario s = {.dur = dur};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    CHECK_INT(msim_engine_new(&e, g), MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    msim_engine_free(e);
    return start;
}

static uint32_t insert(struct msim_overlay *o, uint32_t at,
                       enum msim_overlay_place place, uint32_t lane)
{
    uint32_t id = 0;

    CHECK_INT(
        msim_overlay_add(o,
                         (struct msim_overlay_task){.at = at,
                                                    .place = (uint8_t)place,
                                                    .kind = MSIM_TASK_KERNEL,
                                                    .lane = lane,
                                                    .op = MSIM_NONE},
                         &id),
        MSIM_OK);
    return id;
}

/* The starts of the base's tasks under the overlay, where inserted task i takes
 * added[i]; the caller frees. */
static msim_ps *starts_with(const struct msim_overlay *o, const msim_ps *dur,
                            const msim_ps *added)
{
    uint32_t n = o->base->n_tasks, *from;
    msim_ps *all, *own = calloc((size_t)n + o->n_tasks + 1, sizeof(*own)), *d;
    struct msim_graph *g;

    CHECK_INT(msim_graph_overlaid(&g, &from, o), MSIM_OK);
    d = calloc((size_t)g->n_tasks + 1, sizeof(*d));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        d[t] = from[t] < n ? dur[from[t]] : added[from[t] - n];
    all = starts(g, d);
    for (uint32_t t = 0; t < g->n_tasks; t++)
        own[from[t]] = all[t];
    msim_graph_free(g);
    free(from);
    free(all);
    free(d);
    return own;
}

/* A task that takes no time changes no start, wherever it stands; one at each
 * task, two at every third. */
static void test_overlay__no_time_changes_nothing(void)
{
    static const msim_ps NONE[2000];

    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = (uint32_t)(seed * 7 % 400);
        struct msim_job job = {.n_ranks = 1};
        struct made_graph m = made(n, seed, &job);
        msim_ps *want = starts(&m.g, m.dur), *got;
        struct msim_overlay o;
        uint32_t lane = 0;

        CHECK_INT(msim_overlay_init(&o, &m.g), MSIM_OK);
        CHECK(msim_overlay_is_empty(&o));
        CHECK_INT(msim_overlay_lane(&o, 0, &lane), MSIM_OK);
        for (uint32_t t = 0; t < n; t++) {
            uint32_t place = (uint32_t)(seed + t) % 3;

            insert(&o, t, (enum msim_overlay_place)place,
                   place == MSIM_OVERLAY_BESIDE ? lane : m.g.lane[t]);
            if (t % 3 == 0)
                insert(&o, t, MSIM_OVERLAY_AFTER, m.g.lane[t]);
        }
        CHECK(!n || !msim_overlay_is_empty(&o));
        got = starts_with(&o, m.dur, NONE);
        CHECK(!memcmp(got, want, n * sizeof(*want)));
        msim_overlay_release(&o);
        free(got);
        free(want);
        release(&m);
    }
}

/*
 * Behind a task of 5 that becomes 5 + 7, others start as if the task itself
 * took 12. Before it they do, too, and it starts 7 later.
 */
static void test_overlay__takes_time_with_its_neighbour(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = (uint32_t)(5 + seed * 7 % 400);
        uint32_t at = (uint32_t)(seed * 31 % n), place = seed % 2;
        struct msim_job job = {.n_ranks = 1};
        struct made_graph m = made(n, seed, &job);
        msim_ps added[] = {4000, 3000}, *want, *got;
        struct msim_overlay o;

        CHECK_INT(msim_overlay_init(&o, &m.g), MSIM_OK);
        insert(&o, at, (enum msim_overlay_place)place, m.g.lane[at]);
        insert(&o, at, (enum msim_overlay_place)place, m.g.lane[at]);
        got = starts_with(&o, m.dur, added);
        m.dur[at] += 7000;
        want = starts(&m.g, m.dur);
        want[at] += place == MSIM_OVERLAY_BEFORE ? 7000 : 0;
        CHECK(!memcmp(got, want, n * sizeof(*want)));
        /* They follow each other in the order in which they were added. */
        CHECK_INT(got[n + 1], got[n] + 4000);
        msim_overlay_release(&o);
        free(got);
        free(want);
        release(&m);
    }
}

/* Fewer dependencies never delay. */
static void test_overlay__dropped_edges_never_delay(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = (uint32_t)(5 + seed * 7 % 400);
        struct msim_job job = {.n_ranks = 1};
        struct made_graph m = made(n, seed, &job);
        msim_ps *was = starts(&m.g, m.dur), *is;
        uint64_t state = seed;
        struct msim_overlay o;

        CHECK_INT(msim_overlay_init(&o, &m.g), MSIM_OK);
        for (uint32_t e = 0; e < m.g.n_edges; e++)
            o.dropped[e] = made_random(&state) % 4 == 0;
        is = starts_with(&o, m.dur, NULL);
        for (uint32_t t = 0; t < n; t++)
            CHECK(is[t] <= was[t]);
        msim_overlay_release(&o);
        free(was);
        free(is);
        release(&m);
    }
}

/*
 * Two tasks of 10 and 20 on one stream. The first is renamed and moves to a
 * stream of its own, and an edge holds the second behind a task beside it of 5:
 * it starts at 15, when that has ended (10 + 5).
 */
static void test_overlay__moves_and_ties(void)
{
    uint32_t begin[] = {0, 1, 1}, preds[] = {0, 1}, lane[] = {0, 0}, new_lane;
    uint32_t window[] = {0, 0}, *from, id;
    uint8_t kind[] = {MSIM_TASK_KERNEL, MSIM_TASK_KERNEL}, edge_kind[] = {0};
    struct msim_edge edges[] = {{1, 0}};
    struct msim_task_ref refs[2] = {{.op = MSIM_NONE}, {.op = MSIM_NONE}};
    struct msim_lane lanes[] = {{0, 0, true}};
    struct msim_job job = {.n_ranks = 1};
    msim_ps traced[2] = {0}, dur[] = {10000, 20000}, added[] = {5000}, *got;
    struct msim_graph g = {.job = &job,
                           .n_tasks = 2,
                           .n_edges = 1,
                           .kind = kind,
                           .lane = lane,
                           .window = window,
                           .n_preds = preds,
                           .edge_begin = begin,
                           .edges = edges,
                           .edge_kind = edge_kind,
                           .traced = traced,
                           .refs = refs,
                           .lanes = lanes,
                           .n_lanes = 1};
    struct msim_graph *out;
    struct msim_overlay o;

    CHECK_INT(msim_overlay_init(&o, &g), MSIM_OK);
    CHECK_INT(msim_overlay_lane(&o, 0, &new_lane), MSIM_OK);
    o.dropped[0] = 1;
    o.lane[0] = new_lane;
    o.name[0] = 42;
    id = insert(&o, 0, MSIM_OVERLAY_BESIDE, new_lane);
    CHECK_INT(msim_overlay_tie(&o, 0, id, MSIM_EDGE_STREAM, 0), MSIM_OK);
    CHECK_INT(msim_overlay_tie(&o, id, 1, MSIM_EDGE_EVENT, 0), MSIM_OK);
    got = starts_with(&o, dur, added);
    CHECK_INT(got[0], 0);
    CHECK_INT(got[2], 10000);
    CHECK_INT(got[1], 15000);
    CHECK_INT(msim_graph_overlaid(&out, &from, &o), MSIM_OK);
    CHECK_INT(out->n_lanes, 2);
    CHECK_INT(out->lane[0], new_lane);
    CHECK_INT(out->own_name[0], 42);
    CHECK_INT(out->lane[2], 0);
    msim_graph_free(out);
    free(from);
    free(got);
    msim_overlay_release(&o);
}

int main(void)
{
    test_overlay__no_time_changes_nothing();
    test_overlay__takes_time_with_its_neighbour();
    test_overlay__dropped_edges_never_delay();
    test_overlay__moves_and_ties();
    return check_summary();
}

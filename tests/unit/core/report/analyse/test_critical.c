/*
 * tests/unit/core/report/analyse/test_critical.c - what holds tasks, critical
 * paths and waits.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"
#include "tests/unit/made_graph.h"

#define US MSIM_PS_PER_US

/* A made-up graph that ran, on one rank, in windows. */
struct ran {
    struct made_graph m;
    msim_ps *start;
    struct msim_run run;
    struct msim_window windows[2];
    struct msim_window_times times[2];
};

static void simulate(struct ran *r)
{
    made_graph_longest(&r->m, r->start);
    r->run = (struct msim_run){
        .start = r->start, .dur = r->m.dur, .removed = r->m.removed};
}

/* Two windows: up to the middle task, and on to the last one. */
static void ran_new(struct ran *r, uint32_t n, uint32_t lanes, uint64_t seed,
                    uint32_t one_in)
{
    r->m = made_graph_new(n, lanes, seed);
    if (one_in)
        made_graph_mix(&r->m, seed + 1, one_in);
    r->start = calloc((size_t)n + 1, sizeof(*r->start));
    r->m.g.refs = calloc((size_t)n + 1, sizeof(*r->m.g.refs));
    r->m.g.lane = calloc((size_t)n + 1, sizeof(*r->m.g.lane));
    simulate(r);
    r->windows[0] = (struct msim_window){.last = n / 2, .step = MSIM_NONE};
    r->windows[1] = (struct msim_window){
        .first = n / 2, .last = n - 1, .iteration = 1, .step = MSIM_NONE};
    r->m.g.windows = r->windows;
    r->m.g.n_windows = 2;
    msim_window_bounds(&r->m.g, &r->run, r->times);
}

static void ran_free(struct ran *r)
{
    free(r->start);
    free(r->m.g.refs);
    free(r->m.g.lane);
    made_graph_free(&r->m);
}

/* ---- binding ------------------------------------------------------------ */

static bool own_order(const struct msim_graph *g, uint32_t edge)
{
    enum msim_edge_kind kind = msim_edge_kind_of(g->edge_kind[edge]);

    return kind == MSIM_EDGE_PROGRAM || kind == MSIM_EDGE_STREAM;
}

/* Of all edges into `to` that end just at its start, the first that is of its
 * own thread or stream, else the first. */
static uint32_t binding_of(const struct ran *r, uint32_t to, uint32_t *from)
{
    const struct msim_graph *g = &r->m.g;
    uint32_t best = MSIM_BY_NOTHING;

    *from = MSIM_NONE;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            msim_ps end = msim_run_end(&r->run, t);
            bool out = r->m.removed && r->m.removed[to];

            if (g->edges[i].to != to ||
                made_graph_edge(&r->m, i, end) != r->start[to] ||
                (out && made_graph_edge(&r->m, i, 1) == 0))
                continue;
            if (best == MSIM_BY_NOTHING ||
                (own_order(g, i) && !own_order(g, best))) {
                best = i;
                *from = t;
            }
        }
    return best;
}

static void test_binding__agrees_with_search(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = 2 + (uint32_t)(seed * 7 % 100), from, wrong = 0;
        struct msim_binding b = {NULL, NULL};
        struct ran r;

        ran_new(&r, n, 1 + (uint32_t)(seed % 7), seed,
                1 + (uint32_t)(seed % 6));
        CHECK_INT(msim_binding_init(&b, &r.m.g, &r.run), MSIM_OK);
        for (uint32_t t = 0; t < n; t++) {
            uint32_t by = binding_of(&r, t, &from);

            if (by == MSIM_BY_NOTHING) /* a release or the begin */
                wrong += b.by[t] !=
                         (r.start[t] > 0 ? MSIM_BY_RECORD : MSIM_BY_NOTHING);
            else
                wrong += b.by[t] != by || b.from[t] != from;
        }
        CHECK_INT(wrong, 0);
        msim_binding_release(&b);
        ran_free(&r);
    }
}

/* ---- path --------------------------------------------------------------- */

/* The longest way from any begin to the start of `to`, trying all. */
static msim_ps longest_way(const struct ran *r, uint32_t to)
{
    const struct msim_graph *g = &r->m.g;
    msim_ps best = 0;

    for (uint32_t t = 0; t < to; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            msim_ps way;

            if (g->edges[i].to != to)
                continue;
            way = longest_way(r, t) + r->m.dur[t] + g->edges[i].lag;
            best = way > best ? way : best;
        }
    return best;
}

/* What the path's own tasks and edges come to, each taken whole. */
static msim_ps way_of(const struct ran *r, const struct msim_path *p)
{
    const struct msim_graph *g = &r->m.g;
    msim_ps sum = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        const struct msim_piece *piece = &p->pieces[i];

        if (piece->kind != MSIM_PIECE_WORK)
            continue;
        sum += r->m.dur[piece->task];
        if (piece->by < g->n_edges)
            sum += g->edges[piece->by].lag;
    }
    return sum;
}

/*
 * Tasks of 10 and 20 us before one that was held until 30 us, as recorded: the
 * one that ended last comes before it on the path. One that starts half a
 * nanosecond late, without an edge, is held by what nobody knows.
 */
static void test_binding__held(void)
{
    uint32_t begin[] = {0, 1, 2, 2, 2};
    struct msim_edge edges[] = {{.to = 2}, {.to = 2}};
    uint8_t kinds[] = {0, 0}, task_kinds[4] = {0};
    uint32_t lanes[4] = {0};
    struct msim_release release = {.task = 2, .at = 30 * US};
    msim_ps start[] = {0, 0, 30 * US, 500};
    msim_ps dur[] = {20 * US, 10 * US, 5 * US, US};
    struct msim_graph g = {.n_tasks = 4,
                           .n_edges = 2,
                           .kind = task_kinds,
                           .lane = lanes,
                           .edge_begin = begin,
                           .edges = edges,
                           .edge_kind = kinds,
                           .releases = &release,
                           .n_releases = 1};
    struct msim_run run = {.start = start, .dur = dur};
    struct msim_binding b = {0};

    REQUIRE(msim_binding_init(&b, &g, &run) == MSIM_OK);
    CHECK_INT(b.by[2], MSIM_BY_RECORD);
    CHECK_INT(b.from[2], 0);
    CHECK_INT(b.by[3], MSIM_BY_UNKNOWN);
    msim_binding_release(&b);
    dur[0] = 10 * US;
    dur[1] = 20 * US;
    REQUIRE(msim_binding_init(&b, &g, &run) == MSIM_OK);
    CHECK_INT(b.from[2], 1);
    msim_binding_release(&b);
}

static void test_path__is_the_longest_way(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = 2 + (uint32_t)(seed % 16);
        struct msim_binding b = {NULL, NULL};
        struct msim_path p = {0};
        struct ran r;

        ran_new(&r, n, 1 + (uint32_t)(seed % 3), seed, 0);
        r.windows[1].first = 0; /* from the begin of everything */
        msim_window_bounds(&r.m.g, &r.run, r.times);
        CHECK_INT(msim_binding_init(&b, &r.m.g, &r.run), MSIM_OK);
        CHECK_INT(msim_path_find(&p, &r.m.g, &r.run, &b, 1, r.times), MSIM_OK);
        CHECK_INT(way_of(&r, &p), longest_way(&r, n - 1) + r.m.dur[n - 1]);
        msim_path_release(&p);
        msim_binding_release(&b);
        ran_free(&r);
    }
}

/* Pieces from begin to end without a gap, whatever edges, releases and cuts. */
static void check_whole(const struct ran *r, uint32_t w,
                        const struct msim_path *p)
{
    msim_ps at = r->times[w].begin;
    uint32_t gaps = 0;

    for (uint32_t i = 0; i < p->n; i++) {
        gaps += p->pieces[i].start != at || p->pieces[i].dur < 0;
        at += p->pieces[i].dur;
    }
    CHECK_INT(gaps, 0);
    if (r->times[w].end > r->times[w].begin)
        CHECK_INT(at, r->times[w].end);
}

static void test_path__sums_to_the_window(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint32_t n = 2 + (uint32_t)(seed * 13 % 300);
        struct msim_binding b = {NULL, NULL};
        struct msim_path p = {0};
        struct ran r;

        ran_new(&r, n, 1 + (uint32_t)(seed % 9), seed,
                1 + (uint32_t)(seed % 6));
        CHECK_INT(msim_binding_init(&b, &r.m.g, &r.run), MSIM_OK);
        for (uint32_t w = 0; w < 2; w++) {
            CHECK_INT(msim_path_find(&p, &r.m.g, &r.run, &b, w, r.times),
                      MSIM_OK);
            check_whole(&r, w, &p);
        }
        msim_path_release(&p);
        msim_binding_release(&b);
        ran_free(&r);
    }
}

/* A rank without marks ends with its last task; of two that end at one time the
 * first is it. */
static void test_path__ends_with_the_first_of_two(void)
{
    struct msim_binding b = {NULL, NULL};
    struct msim_path p = {0};
    struct ran r;

    ran_new(&r, 2, 2, 1, 0);
    r.m.dur[0] = 5 * US;
    r.m.dur[1] = 0;
    r.m.g.edges[0] = (struct msim_edge){1, 0}; /* right behind the first */
    simulate(&r);
    r.windows[0].first = r.windows[0].last = MSIM_NONE;
    msim_window_bounds(&r.m.g, &r.run, r.times);
    CHECK_INT(msim_binding_init(&b, &r.m.g, &r.run), MSIM_OK);
    CHECK_INT(msim_path_find(&p, &r.m.g, &r.run, &b, 0, r.times), MSIM_OK);
    CHECK_INT(p.n, 1);
    CHECK_INT(p.pieces[0].task, 0);
    msim_path_release(&p);
    msim_binding_release(&b);
    ran_free(&r);
}

/* ---- slack -------------------------------------------------------------- */

struct ends {
    msim_ps window[2], all;
};

static struct ends ends_of(const struct ran *r)
{
    struct ends e = {{0, 0}, 0};

    for (int w = 0; w < 2; w++)
        e.window[w] = msim_run_end(&r->run, r->windows[w].last);
    for (uint32_t t = 0; t < r->m.g.n_tasks; t++)
        if (msim_run_end(&r->run, t) > e.all)
            e.all = msim_run_end(&r->run, t);
    return e;
}

/* Does anything that counts end later when `task` takes `more`? */
static bool ends_later(struct ran *r, const struct ends *before, uint32_t task,
                       msim_ps more)
{
    struct ends e;

    r->m.dur[task] += more;
    simulate(r);
    e = ends_of(r);
    r->m.dur[task] -= more;
    simulate(r);
    return e.window[0] > before->window[0] || e.window[1] > before->window[1] ||
           e.all > before->all;
}

/* Slack moves no end, one picosecond more moves one. */
static void test_slack__is_what_is_free(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint32_t n = 2 + (uint32_t)(seed * 11 % 90), wrong = 0;
        msim_ps *slack = calloc((size_t)n + 1, sizeof(*slack));
        struct msim_binding b = {NULL, NULL};
        struct ends e;
        struct ran r;

        ran_new(&r, n, 1 + (uint32_t)(seed % 5), seed, (uint32_t)(seed % 6));
        e = ends_of(&r);
        CHECK_INT(msim_binding_init(&b, &r.m.g, &r.run), MSIM_OK);
        CHECK_INT(msim_slack(&r.m.g, &r.run, &b, r.times, slack), MSIM_OK);
        for (uint32_t t = 0; t < n; t++)
            if (!r.m.removed || !r.m.removed[t])
                wrong += ends_later(&r, &e, t, slack[t]) ||
                         !ends_later(&r, &e, t, slack[t] + 1);
        CHECK_INT(wrong, 0);
        msim_binding_release(&b);
        free(slack);
        ran_free(&r);
    }
}

/* ---- waits -------------------------------------------------------------- */

/*
 * A thread works 10 us, launches (2 us) a kernel of 100 us that starts 5 us
 * after, synchronises (1 us of its own) and works 5 us more. A kernel on
 * another stream, launched with it, finds no room until the first is over.
 *
 *     thread   0 host | 10 launch | 12 waits | 115 sync | 116 host | 121
 *     stream 1 15 kernel | 115
 *     stream 2 15 tiny | 16 waits | 115 kernel | 135
 */
enum { HOST, LAUNCH, SYNC, TAIL, KERNEL, TINY, OTHER, TASKS };

static struct msim_edge edges[] = {
    {LAUNCH, 0}, {KERNEL, 5 * US}, {TINY, 5 * US}, {OTHER, 5 * US}, /* HOST */
    {SYNC, 0},  /* of LAUNCH */
    {TAIL, 0},  /* of SYNC */
    {SYNC, 0},  /* of KERNEL */
    {OTHER, 0}, /* of TINY */
};
static uint8_t edge_kind[] = {
    MSIM_EDGE_PROGRAM,
    MSIM_EDGE_LAUNCH,
    MSIM_EDGE_LAUNCH,
    MSIM_EDGE_LAUNCH,
    MSIM_EDGE_PROGRAM,
    MSIM_EDGE_PROGRAM,
    MSIM_EDGE_BYTE(MSIM_EDGE_DEVICE_SYNC, MSIM_FROM_IDS),
    MSIM_EDGE_STREAM};
static uint32_t edge_begin[] = {0, 4, 5, 6, 6, 7, 8, 8};
static uint32_t n_preds[] = {0, 1, 2, 1, 1, 1, 2};
static uint8_t kinds[] = {MSIM_TASK_HOST,  MSIM_TASK_CALL,   MSIM_TASK_CALL,
                          MSIM_TASK_HOST,  MSIM_TASK_KERNEL, MSIM_TASK_KERNEL,
                          MSIM_TASK_KERNEL};
static uint32_t lane[] = {0, 0, 0, 0, 1, 2, 2};
static uint32_t window[] = {MSIM_NONE, MSIM_NONE, MSIM_NONE, MSIM_NONE,
                            0,         0,         0};
static struct msim_lane lanes[] = {{0, 0, false}, {0, 0, true}, {0, 1, true}};
static struct msim_task_ref refs[TASKS];
static struct msim_window windows[] = {
    {.first = HOST, .last = TAIL, .step = MSIM_NONE}};
static const msim_ps start[] = {0,       10 * US, 115 * US, 116 * US,
                                15 * US, 15 * US, 115 * US};
static const msim_ps dur[] = {10 * US,  2 * US, 1 * US, 5 * US,
                              100 * US, 1 * US, 20 * US};
static const uint32_t held_by[] = {MSIM_NONE, MSIM_NONE, MSIM_NONE, MSIM_NONE,
                                   MSIM_NONE, MSIM_NONE, KERNEL};

static struct msim_job one_rank = {.n_ranks = 1};
static msim_ps traced[TASKS]; /* no matter: the window names the thread */

static const struct msim_graph small = {
    .job = &one_rank,
    .traced = traced,
    .n_tasks = TASKS,
    .n_edges = 8,
    .kind = kinds,
    .lane = lane,
    .window = window,
    .n_preds = n_preds,
    .edge_begin = edge_begin,
    .edges = edges,
    .edge_kind = edge_kind,
    .refs = refs,
    .lanes = lanes,
    .n_lanes = 3,
    .windows = windows,
    .n_windows = 1,
};
static const struct msim_run ran = {
    .start = start, .dur = dur, .held_by = held_by};

static void test_waits__by_what_held(void)
{
    struct msim_window_times times;
    struct msim_binding b = {NULL, NULL};
    struct msim_waits w;
    msim_ps total = 0;

    msim_window_bounds(&small, &ran, &times);
    CHECK_INT(times.end, 121 * US);
    CHECK_INT(msim_binding_init(&b, &small, &ran), MSIM_OK);
    CHECK_INT(msim_waits_find(&small, &ran, &b, &times, &w), MSIM_OK);
    CHECK_INT(w.main[MSIM_EDGE_DEVICE_SYNC], 103 * US);
    CHECK_INT(w.host[MSIM_EDGE_DEVICE_SYNC], 103 * US);
    CHECK_INT(w.idle[MSIM_EDGE_LAUNCH], 15 * US);
    CHECK_INT(w.device[MSIM_HOLD_SM], 99 * US);
    for (unsigned h = 0; h < MSIM_HOLDS; h++)
        total += w.main[h] + w.host[h] + w.idle[h] + w.device[h];
    CHECK_INT(total, (103 + 103 + 15 + 99) * US);
    msim_binding_release(&b);
}

/* Back from the thread's end over the synchronisation to the launch. */
static void test_path__crosses_to_the_gpu_and_back(void)
{
    static const struct {
        uint32_t task;
        uint8_t kind;
        msim_ps us;
    } want[] = {{HOST, MSIM_PIECE_WORK, 10},
                {KERNEL, MSIM_PIECE_LAG, 5},
                {KERNEL, MSIM_PIECE_WORK, 100},
                {SYNC, MSIM_PIECE_WORK, 1},
                {TAIL, MSIM_PIECE_WORK, 5}};
    struct msim_window_times times;
    struct msim_binding b = {NULL, NULL};
    struct msim_path p = {0};

    msim_window_bounds(&small, &ran, &times);
    CHECK_INT(msim_binding_init(&b, &small, &ran), MSIM_OK);
    CHECK_INT(msim_path_find(&p, &small, &ran, &b, 0, &times), MSIM_OK);
    REQUIRE(p.n == 5);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_INT(p.pieces[i].task, want[i].task);
        CHECK_INT(p.pieces[i].kind, want[i].kind);
        CHECK_INT(p.pieces[i].dur, want[i].us * US);
    }
    CHECK_STR(msim_hold_text(msim_hold_of(&small, p.pieces[3].by)),
              "device synchronisation");
    CHECK_STR(msim_hold_source(&small, p.pieces[3].by), "recorded ids");
    msim_path_release(&p);
    msim_binding_release(&b);
}

/* The run ends at 135 with OTHER: TINY could take 99 us more before OTHER,
 * which is held until 115, comes later; TAIL none, as the iteration ends. */
static void test_slack__counts_resources(void)
{
    struct msim_window_times times;
    struct msim_binding b = {NULL, NULL};
    msim_ps slack[TASKS];

    msim_window_bounds(&small, &ran, &times);
    CHECK_INT(msim_binding_init(&b, &small, &ran), MSIM_OK);
    CHECK_INT(b.by[OTHER], MSIM_BY_SM);
    CHECK_INT(b.from[OTHER], KERNEL);
    CHECK_INT(msim_slack(&small, &ran, &b, &times, slack), MSIM_OK);
    CHECK_INT(slack[TINY], 99 * US);
    CHECK_INT(slack[OTHER], 0);
    CHECK_INT(slack[KERNEL], 0);
    CHECK_INT(slack[LAUNCH], 103 * US);
    CHECK_INT(slack[TAIL], 0);
    msim_binding_release(&b);
}

/*
 * With the GPU's work taken out (engine.h) nothing waits for the GPU: the
 * kernels are over when they are launched, at 10.
 */
static void test_waits__none_on_nothing(void)
{
    static const msim_ps at[] = {0,       10 * US, 12 * US, 13 * US,
                                 10 * US, 10 * US, 10 * US};
    static const uint8_t out[] = {0, 0, 0, 0, 1, 1, 1};
    struct msim_run run = {.start = at, .dur = dur, .removed = out};
    struct msim_window_times times;
    struct msim_binding b = {NULL, NULL};
    struct msim_waits w;
    msim_ps total = 0;

    msim_window_bounds(&small, &run, &times);
    CHECK_INT(msim_binding_init(&b, &small, &run), MSIM_OK);
    CHECK_INT(msim_waits_find(&small, &run, &b, &times, &w), MSIM_OK);
    for (unsigned h = 0; h < MSIM_HOLDS; h++)
        total += w.main[h] + w.host[h] + w.device[h];
    CHECK_INT(total, 0);
    msim_binding_release(&b);
}

int main(void)
{
    RUN(test_binding__agrees_with_search);
    RUN(test_binding__held);
    RUN(test_path__is_the_longest_way);
    RUN(test_path__sums_to_the_window);
    RUN(test_path__ends_with_the_first_of_two);
    RUN(test_slack__is_what_is_free);
    RUN(test_waits__by_what_held);
    RUN(test_path__crosses_to_the_gpu_and_back);
    RUN(test_slack__counts_resources);
    RUN(test_waits__none_on_nothing);
    return check_summary();
}

/*
 * tests/unit/core/run/test_engine.c - the engine against small graphs and by
 * hand.
 */
#include "tests/check.h"
#include "tests/unit/engine_starts.h"
#include "tests/unit/made_graph.h"

/* Run and return the starts; the caller frees. */
static msim_ps *run(const struct made_graph *m)
{
    msim_ps *start = malloc(((size_t)m->g.n_tasks + 1) * sizeof(*start));
    struct msim_scenario s = made_graph_scenario(m);
    struct msim_engine *e;

    CHECK_INT(msim_engine_new(&e, &m->g), MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    msim_engine_free(e);
    return start;
}

/* Any shape, from one chain to all apart, to the picosecond. */
static void test_engine__agrees_with_longest_path(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint32_t n = (uint32_t)(seed * 7 % 500), lanes = (uint32_t)(seed % 17);
        struct made_graph m = made_graph_new(n, lanes + 1, seed);
        msim_ps *want = malloc(((size_t)n + 1) * sizeof(*want));
        msim_ps *got = run(&m);

        made_graph_longest(&m, want);
        CHECK(!memcmp(got, want, n * sizeof(*want)));
        free(got);
        free(want);
        made_graph_free(&m);
    }
}

/* The same with every kind of edge, releases, and tasks taken out. */
static void test_engine__agrees_with_tasks_out(void)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint32_t n = (uint32_t)(seed * 7 % 500), lanes = (uint32_t)(seed % 17);
        struct made_graph m = made_graph_new(n, lanes + 1, seed);
        msim_ps *want = malloc(((size_t)n + 1) * sizeof(*want)), *got;

        made_graph_mix(&m, seed + 1, 1 + (uint32_t)(seed % 5));
        got = run(&m);
        made_graph_longest(&m, want);
        CHECK(!memcmp(got, want, n * sizeof(*want)));
        free(got);
        free(want);
        made_graph_free(&m);
    }
}

#define TURNED 300

/* Tens of tasks turned round: edges ascend within one, and descend between. */
static uint32_t turned_at(uint32_t t)
{
    return (TURNED / 10 - 1 - t / 10) * 10 + t % 10;
}

/* The same tasks by such numbers. */
static struct made_graph turned(const struct made_graph *m)
{
    uint32_t n = TURNED, edges = 0;
    struct made_graph r = made_graph_new(n, 1, 1); /* for its room */

    r.removed = calloc((size_t)n + 1, 1);
    for (uint32_t t = 0; t < n; t++) {
        uint32_t from = turned_at(t);

        r.g.edge_begin[t] = edges;
        r.g.n_preds[t] = m->g.n_preds[from];
        r.dur[t] = m->dur[from];
        r.removed[t] = m->removed[from];
        for (uint32_t i = m->g.edge_begin[from]; i < m->g.edge_begin[from + 1];
             i++) {
            r.g.edges[edges] = (struct msim_edge){turned_at(m->g.edges[i].to),
                                                  m->g.edges[i].lag};
            r.g.edge_kind[edges++] = m->g.edge_kind[i];
        }
    }
    r.g.edge_begin[n] = r.g.n_edges = edges;
    return r;
}

/* Does the engine of `r`, which is `m` turned, start its tasks as the longest
 * paths of `m` say? */
static void check_turned(struct msim_engine *e, const struct made_graph *m,
                         const struct made_graph *r)
{
    struct msim_scenario s = made_graph_scenario(r);
    msim_ps start[TURNED], want[TURNED];

    made_graph_longest(m, want);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    for (uint32_t t = 0; t < TURNED; t++)
        CHECK_INT(start[turned_at(t)], want[t]);
}

/*
 * Where edges do not ascend, the first run finds an order, and the second, with
 * other durations and other tasks out, follows it.
 */
static void test_engine__sweeps_again_as_it_walked(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint32_t lanes = 1 + (uint32_t)(seed % 5);
        struct made_graph m = made_graph_new(TURNED, lanes, seed), r;
        struct msim_engine *e;

        made_graph_mix(&m, seed + 1, 5);
        m.g.n_releases = 0;
        r = turned(&m);
        REQUIRE(msim_engine_new(&e, &r.g) == MSIM_OK);
        check_turned(e, &m, &r);
        for (uint32_t t = 0; t < TURNED; t++) {
            m.dur[t] = r.dur[turned_at(t)] = (msim_ps)(t * seed % 31) * 1000;
            m.removed[t] = r.removed[turned_at(t)] = t % 7 == 0;
        }
        check_turned(e, &m, &r);
        memset(m.removed, 0, TURNED);
        memset(r.removed, 0, TURNED);
        check_turned(e, &m, &r);
        msim_engine_free(e);
        made_graph_free(&m);
        made_graph_free(&r);
    }
}

/* Chains say of each task what its longest path does, where edges ascend or
 * not; `anew` false: no duration has changed since. */
static void test_engine__lays_what_it_simulates(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct made_graph m =
            made_graph_new(TURNED, 1 + (uint32_t)(seed % 3), seed);
        struct made_graph of[2];
        msim_ps want[TURNED];

        made_graph_mix(&m, seed + 1, 1 + (uint32_t)(seed % 9));
        m.g.n_releases = 0;
        if (seed % 3 == 0)
            memset(m.g.edge_kind, MSIM_EDGE_PROGRAM, m.g.n_edges);
        made_graph_longest(&m, want);
        of[0] = m;
        of[1] = turned(&m);
        for (int k = 0; k < 2; k++) {
            struct msim_scenario s = made_graph_scenario(&of[k]);
            struct msim_engine *e;
            struct msim_laid laid;

            REQUIRE(msim_engine_new(&e, &of[k].g) == MSIM_OK);
            for (int again = 0; again < 3; again++) {
                REQUIRE(msim_engine_lay(e, &s, !again, &laid, NULL) == MSIM_OK);
                for (uint32_t t = 0; t < TURNED; t++) {
                    uint32_t at = k ? turned_at(t) : t;

                    CHECK_INT(msim_laid_start(&laid, at), want[t]);
                    CHECK_INT(msim_laid_took(&laid, at),
                              m.removed[t] ? 0 : m.dur[t]);
                    CHECK_INT(msim_laid_end(&laid, at),
                              want[t] + (m.removed[t] ? 0 : m.dur[t]));
                }
            }
            msim_engine_free(e);
        }
        made_graph_free(&of[1]);
        made_graph_free(&m);
    }
}

/*
 * Task 1 is a collective: its stream gives it work at 10 ns over a lag of 2,
 * its peers at 50, and it is released at 99. Taken out it passes on the 10.
 */
/* Engines of one course are those of its graph, beside each other; that of
 * another graph does without it. */
static void test_engine__of_a_course(void)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint32_t n = (uint32_t)(seed * 7 % 200 + 2);
        struct made_graph m = made_graph_new(n, (uint32_t)(seed % 7) + 1, seed);
        struct made_graph other = made_graph_new(n, 3, seed + 1);
        const struct made_graph *of[] = {&m, &m, &other};
        struct msim_engine *e[3];
        struct msim_course *course;

        if (seed % 2)
            made_graph_mix(&m, seed + 1, 2);
        REQUIRE(msim_course_new(&course, &m.g) == MSIM_OK);
        for (int i = 0; i < 3; i++)
            REQUIRE(msim_engine_on(&e[i], course, &of[i]->g) == MSIM_OK);
        for (int i = 0; i < 6; i++) { /* twice each */
            struct msim_scenario s = made_graph_scenario(of[i % 3]);
            msim_ps *got = malloc(n * sizeof(*got)), *want = run(of[i % 3]);

            CHECK_INT(engine_starts(e[i % 3], &s, got, NULL), MSIM_OK);
            CHECK(!memcmp(got, want, n * sizeof(*want)));
            free(got);
            free(want);
        }
        for (int i = 0; i < 3; i++)
            msim_engine_free(e[i]);
        msim_course_free(course);
        made_graph_free(&other);
        made_graph_free(&m);
    }
}

static void test_engine__takes_a_task_out(void)
{
    uint32_t begin[] = {0, 1, 2, 3, 3}, preds[] = {0, 2, 0, 1};
    struct msim_edge edges[] = {{1, 2000}, {3, 0}, {1, 0}};
    uint8_t kinds[] = {MSIM_EDGE_STREAM, MSIM_EDGE_STREAM,
                       MSIM_EDGE_COLLECTIVE};
    msim_ps dur[] = {10000, 7000, 50000, 0}, start[4];
    uint8_t out[] = {0, 1, 0, 0};
    struct msim_release release = {1, 99000, true, 0};
    struct msim_graph g = {.n_tasks = 4,
                           .n_edges = 3,
                           .edge_begin = begin,
                           .n_preds = preds,
                           .edges = edges,
                           .edge_kind = kinds,
                           .releases = &release,
                           .n_releases = 1};
    struct msim_scenario s = {.dur = dur};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    REQUIRE(msim_engine_new(&e, &g) == MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    CHECK_INT(start[1], 99000);
    CHECK_INT(start[3], 106000);
    s.removed = out;
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    CHECK_INT(start[1], 10000);
    CHECK_INT(start[3], 10000);
    msim_engine_free(e);
}

/* A task released at 5 us starts then, and what follows starts after it. */
static void test_engine__honours_releases(void)
{
    struct made_graph m = made_graph_new(3, 1, 9);
    struct msim_release r = {1, 5000000, false, 0};
    msim_ps *start;

    m.dur[0] = 1000;
    m.g.releases = malloc(sizeof(r));
    m.g.releases[0] = r;
    m.g.n_releases = 1;
    start = run(&m);
    CHECK_INT(start[0], 0);
    CHECK_INT(start[1], 5000000);
    CHECK(start[2] >= 5000000 + m.dur[1]);
    free(start);
    made_graph_free(&m);
}

/*
 * A lag of 0 for one kind of edge leaves the others: task 0 (dur 10 ns) gives
 * 1 over a PROGRAM edge of 7 ns and 2 over a LAUNCH edge of 7 ns.
 */
static void test_engine__overrides_lags_by_kind(void)
{
    uint32_t begin[] = {0, 2, 2, 2}, preds[] = {0, 1, 1};
    struct msim_edge edges[] = {{1, 7000}, {2, 7000}};
    uint8_t kinds[] = {MSIM_EDGE_PROGRAM, MSIM_EDGE_LAUNCH};
    msim_ps dur[] = {10000, 0, 0}, start[3];
    struct msim_graph g = {.n_tasks = 3,
                           .n_edges = 2,
                           .edge_begin = begin,
                           .n_preds = preds,
                           .edges = edges,
                           .edge_kind = kinds};
    struct msim_scenario s = {.dur = dur};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    s.lag[MSIM_EDGE_LAUNCH] = 3000;
    REQUIRE(msim_engine_new(&e, &g) == MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    CHECK_INT(start[1], 17000);
    CHECK_INT(start[2], 13000);
    s.stretch[MSIM_EDGE_PROGRAM] = 1.5; /* the graph's own, not the other */
    s.stretch[MSIM_EDGE_LAUNCH] = 1.5;
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    CHECK_INT(start[1], 20500);
    CHECK_INT(start[2], 13000);
    msim_engine_free(e);
}

/* 1 -> 2 -> 1, and 3 behind them: said so, with those two named, instead of
 * hung on. */
static void test_engine__names_a_cycle(void)
{
    uint32_t begin[] = {0, 1, 2, 4, 4}, preds[] = {0, 2, 1, 1};
    struct msim_edge edges[] = {{1, 0}, {2, 0}, {1, 0}, {3, 0}};
    uint8_t kinds[] = {MSIM_EDGE_PROGRAM, MSIM_EDGE_LAUNCH,
                       MSIM_EDGE_STREAM_SYNC, MSIM_EDGE_PROGRAM};
    uint8_t task_kinds[] = {MSIM_TASK_HOST, MSIM_TASK_HOST, MSIM_TASK_HOST,
                            MSIM_TASK_HOST};
    uint32_t lanes[] = {MSIM_NONE, MSIM_NONE, MSIM_NONE, MSIM_NONE};
    msim_ps dur[] = {1, 1, 1, 1}, start[4];
    struct msim_op op = {.name = 0};
    struct msim_strtab *strings;
    struct msim_trace trace = {.ops = &op, .n_ops = 1}, *ranks[] = {&trace};
    struct msim_task_ref refs[4] = {{0}};
    struct msim_job job = {.ranks = ranks, .n_ranks = 1};
    struct msim_graph g = {.job = &job,
                           .n_tasks = 4,
                           .n_edges = 4,
                           .kind = task_kinds,
                           .lane = lanes,
                           .refs = refs,
                           .edge_begin = begin,
                           .n_preds = preds,
                           .edges = edges,
                           .edge_kind = kinds};
    struct msim_scenario s = {.dur = dur};
    struct msim_error err = {0};
    struct msim_engine *e;

    REQUIRE(msim_strtab_new(&strings) == MSIM_OK);
    trace.strings = strings;
    REQUIRE(msim_engine_new(&e, &g) == MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, &err), MSIM_ECYCLE);
    CHECK(strstr(err.text, "3 of 4 tasks") != NULL);
    CHECK(strstr(err.text, "host 1 ") && strstr(err.text, "host 2 "));
    CHECK(strstr(err.text, ": launch") && strstr(err.text, ": stream sync"));
    CHECK(!strstr(err.text, "host 3 "));
    msim_engine_free(e);
    msim_strtab_free(strings);
}

/* Two tasks of 20 days after each other: refused, not counted beyond the end
 * of the range of times. */
static void test_engine__refuses_what_takes_too_long(void)
{
    const msim_ps days = (msim_ps)20 * 24 * 3600 * 1000 * 1000000000;
    uint32_t begin[] = {0, 1, 1}, preds[] = {0, 1};
    struct msim_edge edges[] = {{1, 0}};
    uint8_t kinds[] = {MSIM_EDGE_PROGRAM};
    msim_ps dur[] = {days, days}, start[2];
    struct msim_graph g = {.n_tasks = 2,
                           .n_edges = 1,
                           .edge_begin = begin,
                           .n_preds = preds,
                           .edges = edges,
                           .edge_kind = kinds};
    struct msim_scenario s = {.dur = dur};
    struct msim_error err = {0};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    REQUIRE(msim_engine_new(&e, &g) == MSIM_OK);
    CHECK_INT(engine_starts(e, &s, start, &err), MSIM_ELIMIT);
    CHECK(strstr(err.text, "more than 26 days") != NULL);
    dur[1] = 1;
    CHECK_INT(engine_starts(e, &s, start, NULL), MSIM_OK);
    msim_engine_free(e);
}

/* A chain of nine tasks of 20 days: their sum is more than 64 bits hold. */
static void test_engine__refuses_a_chain_that_takes_too_long(void)
{
    struct made_graph m = made_graph_new(9, 1, 1);
    struct msim_scenario s = made_graph_scenario(&m);
    struct msim_laid laid;
    struct msim_engine *e;

    for (uint32_t t = 0; t < 9; t++) {
        m.g.edges[t] = (struct msim_edge){t + 1, 0};
        m.g.edge_begin[t] = t;
        m.g.n_preds[t] = t > 0;
        m.dur[t] = MSIM_RUN_MAX - 1;
    }
    m.g.edge_begin[9] = m.g.n_edges = 8;
    REQUIRE(msim_engine_new(&e, &m.g) == MSIM_OK);
    CHECK_INT(msim_engine_lay(e, &s, true, &laid, NULL), MSIM_ELIMIT);
    msim_engine_free(e);
    made_graph_free(&m);
}

int main(void)
{
    RUN(test_engine__agrees_with_longest_path);
    RUN(test_engine__agrees_with_tasks_out);
    RUN(test_engine__sweeps_again_as_it_walked);
    RUN(test_engine__lays_what_it_simulates);
    RUN(test_engine__of_a_course);
    RUN(test_engine__takes_a_task_out);
    RUN(test_engine__honours_releases);
    RUN(test_engine__overrides_lags_by_kind);
    RUN(test_engine__names_a_cycle);
    RUN(test_engine__refuses_what_takes_too_long);
    RUN(test_engine__refuses_a_chain_that_takes_too_long);
    return check_summary();
}

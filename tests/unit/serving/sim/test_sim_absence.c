/*
 * Replicas that start late, go and come back, against schedules worked by hand:
 * every service takes 10 ms.
 */
#include "tests/unit/serving/sim/made_run.h"

#define CHECK_MS(got, want) CHECK_REL(got, want, 1e-9)

static void run(struct made_run *m, const char *stage, const char *log,
                unsigned keep)
{
    char stages[256];

    snprintf(stages, sizeof(stages),
             "'s': {'kind': 'measured', 'service': 10, %s}", stage);
    made_run(m, "", stages, "'start': 's'", log,
             (struct msim_serving_how){.keep = keep});
}

/*
 * Two workers; one goes at 5 ms and is back at 50. A 0 to 10, B 1 to 11. C came
 * at 2: when A ends there is one worker, which B has; 11 to 21. D 21 to 31, E
 * to 41, F to 51; G, there since 15, begins as the worker comes back.
 */
static void test_sim_absence__workers_of_one_queue(void)
{
    static const double MS[] = {10, 10, 19, 19, 28, 37, 45};
    struct made_run m;

    run(&m, "'replicas': 2, 'absent': [{'from_s': 0.005, 'until_s': 0.05}]",
        "t_s\n0\n0.001\n0.002\n0.012\n0.013\n0.014\n0.015\n", 0);
    for (uint64_t i = 0; i < 7; i++)
        CHECK_MS(made_ms(&m, i), MS[i]);
    made_run_end(&m);
}

/* The second replica starts at 20 ms: A, B and C are served by the first, one
 * after the other, until 30; D, in turn, by the second. */
static void test_sim_absence__starts_late(void)
{
    struct made_run m;

    run(&m, "'replicas': 2, 'routing': 'round', 'absent': [{'until_s': 0.02}]",
        "t_s\n0\n0.001\n0.002\n0.021\n", 0);
    CHECK_MS(made_ms(&m, 0), 10);
    CHECK_MS(made_ms(&m, 1), 19);
    CHECK_MS(made_ms(&m, 2), 28);
    CHECK_MS(made_ms(&m, 3), 10);
    made_run_end(&m);
}

/* The only one goes at 5: A, which it has, it ends; B, at 6, is served when it
 * is back, at 30, or never. Two absences at once take no more than there are.
 */
static void test_sim_absence__nobody_is_left(void)
{
    static const char *const ROUTING[] = {"shared", "least", "random"};
    char stage[160];
    struct made_run m;

    for (int i = 0; i < 3; i++) {
        snprintf(stage, sizeof(stage),
                 "'routing': '%s', 'absent': [{'from_s': 0.005, 'until_s': "
                 "0.03}, {'from_s': 0.01, 'until_s': 0.02}]",
                 ROUTING[i]);
        run(&m, stage, "t_s\n0\n0.006\n", 0);
        CHECK_MS(made_ms(&m, 0), 10);
        CHECK_MS(made_ms(&m, 1), 34);
        made_run_end(&m);
        snprintf(stage, sizeof(stage),
                 "'routing': '%s', 'absent': [{'from_s': 0.005}]", ROUTING[i]);
        run(&m, stage, "t_s\n0\n0.006\n", 0);
        CHECK_MS(made_ms(&m, 0), 10);
        CHECK(m.r.requests[1].ended == MSIM_TIME_NONE);
        made_run_end(&m);
    }
}

/* Counters have those that are there, and the share of their workers. */
static void test_sim_absence__counters(void)
{
    struct made_run m;

    run(&m, "'replicas': 4, 'absent': [{'until_s': 0.15, 'replicas': 3}]",
        "t_s\n0.1\n0.11\n0.55\n", MSIM_KEEP_WINDOWS);
    REQUIRE(m.r.n_windows >= 2);
    CHECK_UINT(m.r.windows[0].replicas, 4);
    CHECK_REL(m.r.windows[0].busy, 20 / (4 * 200.0), 1e-9);
    made_run_end(&m);
    run(&m,
        "'replicas': 4, 'absent': [{'until_s': 0.25, 'replicas': 3}, "
        "{'from_s': 900}]",
        "t_s\n0.1\n0.11\n0.55\n", MSIM_KEEP_WINDOWS);
    CHECK(m.r.n_windows <= 4); /* none behind the last request */
    CHECK_UINT(m.r.windows[0].replicas, 1);
    CHECK_REL(m.r.windows[0].busy, 20 / 200.0, 1e-9);
    made_run_end(&m);
}

static void test_sim_absence__refuses(void)
{
    struct msim_app app;

    CHECK(made_read(&app, "",
                    "'s': {'kind': 'measured', 'service': 1, 'absent': "
                    "[{'from_s': 3, 'until_s': 2}]}",
                    "'start': 's'") == MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "stages.s.absent[0].until_s"));
    CHECK(made_read(&app, "",
                    "'s': {'kind': 'measured', 'service': 1, 'absent': "
                    "[{'until_s': 3}, {'from_s': 9, 'replicas': 3}], "
                    "'replicas': 2}",
                    "'start': 's'") == MSIM_EFORMAT);
    CHECK(strstr(made_error.text,
                 "stages.s.absent[1].replicas is 3, want at most 2"));
    CHECK(made_read(&app, "",
                    "'s': {'kind': 'measured', 'service': 1, 'absent': "
                    "[{'for_s': 3}]}",
                    "'start': 's'") == MSIM_EFORMAT);
    CHECK(made_read(&app, "",
                    "'s': {'kind': 'measured', 'service': 1, 'absent': [5]}",
                    "'start': 's'") == MSIM_EFORMAT);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "log.csv", NULL};

    made_begin();
    RUN(test_sim_absence__workers_of_one_queue);
    RUN(test_sim_absence__starts_late);
    RUN(test_sim_absence__nobody_is_left);
    RUN(test_sim_absence__counters);
    RUN(test_sim_absence__refuses);
    made_end(FILES);
    return check_summary();
}

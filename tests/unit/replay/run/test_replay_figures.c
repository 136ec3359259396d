/*
 * Figures of a replay whose times were made up, and the operators of a step.
 */
#include "replay/run/replay_plan.h"

#include "tests/check.h"
#include "tests/unit/made_job.h"

#include <math.h>
#include <stdlib.h>

/* ---- figures ------------------------------------------------------------- */

#define ROUNDS 11

struct replay {
    struct msim_replay_plan plan;
    struct msim_plan_op ops[3];
    struct msim_replay_runs runs;
    struct msim_replay_round rounds[ROUNDS];
    double times[ROUNDS][4];
};

/* Three operators of one, two and one elements; round k of 1 to 11, which come
 * in another order, takes k, k + 2 k and 10 us, and 5 between them. */
static void begin(struct replay *r)
{
    *r = (struct replay){
        .ops = {{.op = 4, .first = 0, .n = 1, .how = 0, .family = 0},
                {.op = 5, .first = 1, .n = 2, .how = 1, .family = 0},
                {.op = 6, .first = 3, .n = 1, .how = 0, .family = 2}}};
    r->plan.ops = (struct msim_vec){.data = r->ops, .n = 3};
    r->runs.rounds = r->rounds;
    r->runs.n = ROUNDS;
    for (int i = 0; i < ROUNDS; i++) {
        int k = (i * 4 + 3) % ROUNDS + 1;
        double *us = r->times[i];

        us[0] = k;
        us[1] = k;
        us[2] = 2 * k;
        us[3] = 10;
        r->rounds[i] =
            (struct msim_replay_round){.us = 4 * k + 10 + 5, .time_us = us};
    }
}

static void end(struct replay *r)
{
    for (int i = 0; i < ROUNDS; i++)
        cJSON_Delete(r->rounds[i].line);
}

static void check_time(struct msim_replay_time t, double us, double low,
                       double high)
{
    CHECK_REL(t.us, us, 1e-12);
    CHECK_REL(t.low_us, low, 1e-12);
    CHECK_REL(t.high_us, high, 1e-12);
}

/* Of 1 to 11 the mean and the median are 6, the deciles 2 and 10. */
static void test_figures__means_add_up(void)
{
    struct msim_replay_figures f;
    struct replay r;

    begin(&r);
    REQUIRE(msim_replay_figures_make(&f, &r.plan, &r.runs, NULL) == MSIM_OK);
    check_time(f.ops[0], 6, 2, 10);
    check_time(f.ops[1], 18, 6, 30);
    check_time(f.ops[2], 10, 10, 10);
    check_time(f.step, 39, 23, 55);
    CHECK_REL(f.sum_us, 34, 1e-12);
    CHECK_REL(f.gap_us, 5, 1e-12);
    CHECK_UINT(f.how[0].ops, 2);
    CHECK_REL(f.how[0].us, 16, 1e-12);
    CHECK_UINT(f.how[1].ops, 1);
    CHECK_REL(f.how[1].us, 18, 1e-12);
    CHECK_UINT(f.family[0].ops, 2);
    CHECK_REL(f.family[0].us, 24, 1e-12);
    CHECK_UINT(f.family[2].ops, 1);
    CHECK_REL(f.family[2].us, 10, 1e-12);
    CHECK_REL(f.together_us, 0, 0);
    CHECK_UINT(f.n_system, 0);
    CHECK(isnan(f.utilization));
    CHECK(isnan(msim_replay_metric(&f, "cpu_us")));
    msim_replay_figures_release(&f);
    CHECK(f.ops == NULL);
    /* The step's is the median: one long round moves the mean alone. */
    for (int i = 0; i < ROUNDS; i++)
        r.rounds[i].us += r.rounds[i].us > 58 ? 110 : 0;
    REQUIRE(msim_replay_figures_make(&f, &r.plan, &r.runs, NULL) == MSIM_OK);
    check_time(f.step, 39, 23, 55);
    CHECK_REL(f.gap_us, 5 + 10, 1e-12);
    msim_replay_figures_release(&f);
    end(&r);
}

/* Sums in another order differ by the last digits: that is no gap; more than
 * 1e-9 of the time, of 34 us here, is one, on either side. */
static void test_figures__no_gap(void)
{
    static const double GAPS[] = {1e-9,   -1e-9,   3.3e-8, -3.3e-8,
                                  3.5e-8, -3.5e-8, 1e-6,   -1e-6};

    for (int i = 0; i < 8; i++) {
        struct msim_replay_figures f;
        struct replay r;

        begin(&r);
        for (int k = 0; k < ROUNDS; k++)
            r.rounds[k].us -= 5 - GAPS[i];
        REQUIRE(msim_replay_figures_make(&f, &r.plan, &r.runs, NULL) ==
                MSIM_OK);
        CHECK_REL(f.gap_us, i < 4 ? 0 : GAPS[i], 1e-5);
        msim_replay_figures_release(&f);
        end(&r);
    }
}

/* Means of every number that a round's line has, but of what tells which round
 * it is and its times. */
static void test_figures__of_the_machine(void)
{
    cJSON *greeting = cJSON_Parse("{\"device\":{\"threads\":4}}");
    struct msim_replay_figures f;
    struct replay r;
    char text[256];

    begin(&r);
    for (int i = 0; i < ROUNDS; i++) {
        /* 78 us of processors in 39: half of four */
        snprintf(text, sizeof(text),
                 "{\"id\":7,\"iteration\":%d,\"us\":3,\"together_us\":%d,"
                 "\"cpu_us\":78,\"name\":\"x\",\"faults\":%d,"
                 "\"state\":{\"mhz\":%d,\"id\":1}}",
                 i, 20 + i, i == 3 ? 22 : 0, 1000 + i);
        r.rounds[i].line = cJSON_Parse(text);
    }
    REQUIRE(msim_replay_figures_make(&f, &r.plan, &r.runs, greeting) ==
            MSIM_OK);
    CHECK_UINT(f.n_system, 3);
    CHECK_STR(f.system[0].name, "cpu_us");
    CHECK_STR(f.system[1].name, "faults");
    CHECK_STR(f.system[2].name, "mhz");
    CHECK_REL(msim_replay_metric(&f, "cpu_us"), 78, 1e-12);
    CHECK_REL(msim_replay_metric(&f, "faults"), 2, 1e-12);
    CHECK_REL(msim_replay_metric(&f, "mhz"), 1005, 1e-12);
    CHECK_REL(f.together_us, 25, 1e-12);
    CHECK_REL(f.utilization, 0.5, 1e-12);
    msim_replay_figures_release(&f);
    end(&r);
    cJSON_Delete(greeting);
}

/* As many as there is room for; those behind them are left out, and those that
 * are there go on. */
static void test_figures__many_metrics(void)
{
    struct msim_replay_figures f;
    struct replay r;
    char name[8];

    begin(&r);
    for (int i = 0; i < ROUNDS; i++) {
        r.rounds[i].line = cJSON_CreateObject();
        for (int k = 0; k < MSIM_REPLAY_SYSTEM + 1; k++) {
            snprintf(name, sizeof(name), "m%d", k);
            cJSON_AddNumberToObject(r.rounds[i].line, name, k + 1);
        }
    }
    REQUIRE(msim_replay_figures_make(&f, &r.plan, &r.runs, NULL) == MSIM_OK);
    REQUIRE(f.n_system == MSIM_REPLAY_SYSTEM);
    for (int k = 0; k < MSIM_REPLAY_SYSTEM; k++)
        CHECK_REL(f.system[k].value, k + 1, 1e-12);
    CHECK(isnan(msim_replay_metric(&f, "m24")));
    CHECK_REL(msim_replay_metric(&f, "m23"), 24, 1e-12);
    msim_replay_figures_release(&f);
    end(&r);
}

/* ---- operators of a step ------------------------------------------------- */

/* The names, with blanks between them. */
static void check_ops(const struct msim_trace *t, uint32_t step,
                      struct msim_choice choice, const char *want)
{
    struct msim_vec ops = {.n = 5};
    char got[256] = "";

    CHECK_INT(msim_step_ops(&ops, t, step, &choice), MSIM_OK);
    for (uint32_t i = 0; i < ops.n; i++) {
        uint32_t op = ((const uint32_t *)ops.data)[i];
        size_t n = strlen(got);

        snprintf(got + n, sizeof(got) - n, "%s%s", n ? " " : "",
                 msim_trace_text(t, t->ops[op].name));
    }
    CHECK_STR(got, want);
    free(ops.data);
}

/* In the order in which they began, whatever the thread; of what was asked for
 * by name, with what is inside it. */
static void test_step_ops__in_order(void)
{
    struct made m = made_trace(0, 1);
    struct made_job j;
    const struct msim_trace *t;

    made_step(&m, 1, 1, 0, 100);
    made_op(&m, 1, "a", 10, 30);
    made_op(&m, 1, "b", 15, 5);
    made_op(&m, 1, "c", 50, 5);
    made_op(&m, 2, "d", 12, 5);
    made_op(&m, 2, "e", 52, 5);
    made_step(&m, 1, 2, 100, 100);
    made_op(&m, 1, "b", 100, 5);
    made_op(&m, 2, "f", 99, 5);
    made_op(&m, 2, "g", 300, 5);
    REQUIRE(made_load(&j, &m, 1));
    t = j.job->ranks[0];
    check_ops(t, 0, (struct msim_choice){.ops = NULL}, "a d b c e f");
    check_ops(t, 1, (struct msim_choice){.ops = NULL}, "b");
    check_ops(t, MSIM_NONE, (struct msim_choice){.ops = NULL},
              "a d b c e f b g");
    check_ops(t, 0, (struct msim_choice){.ops = "a"}, "a b");
    check_ops(t, 0, (struct msim_choice){.ops = "b"}, "b");
    check_ops(t, 0, (struct msim_choice){.exclude = "a"}, "d c e f");
    check_ops(t, 0, (struct msim_choice){.ops = "a", .exclude = "b"}, "a");
    check_ops(t, 0, (struct msim_choice){.ops = "x"}, "");
    made_unload(&j);
}

int main(void)
{
    RUN(test_figures__means_add_up);
    RUN(test_figures__no_gap);
    RUN(test_figures__of_the_machine);
    RUN(test_figures__many_metrics);
    RUN(test_step_ops__in_order);
    return check_summary();
}

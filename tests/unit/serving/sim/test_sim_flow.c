/*
 * Schedules worked out by hand: constant services, a few requests. Times are
 * ms; logs have seconds.
 */
#include "tests/unit/serving/sim/made_run.h"

#define ONE  "'arrivals': {'process': 'poisson', 'rate': 1}, "
#define GATE "'gate': {'kind': 'measured', 'service': 1, 'workers': 1, "

/* Both are picoseconds, but the product with ms is a double. */
#define CHECK_MS(got, want) CHECK_REL(got, want, 1e-9)

/* Gate 1, back 10; requests at 0 and 1. The first ends at 11. rpc: the second
 * has the gate at 11 to 12 and back at 12 to 22. queue: gate 1 to 2, back 11 to
 * 21. */
static void test_sim_flow__rpc_holds_the_worker(void)
{
    const char *back = "'call': 'rpc'}, 'back': {'kind': 'measured', "
                       "'service': 10}";
    const char *flow = "'start': 'gate', 'edges': [{'from': 'gate', 'to': "
                       "'back'}]";
    char stages[512];
    struct made_run m;

    snprintf(stages, sizeof(stages), GATE "%s", back);
    made_run(&m, ONE, stages, flow, "t_s\n0\n0.001\n",
             (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 11);
    CHECK_MS(made_ms(&m, 1), 21);
    CHECK_MS(m.r.stages[0].wait_ps, 10e9);
    CHECK_MS(m.r.stages[1].wait_ps + 1, 1);
    made_run_end(&m);
    snprintf(stages, sizeof(stages),
             GATE "'call': 'queue'}, 'back': {'kind': 'measured', 'service': "
                  "10}");
    made_run(&m, ONE, stages, flow, "t_s\n0\n0.001\n",
             (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 11);
    CHECK_MS(made_ms(&m, 1), 20);
    CHECK_MS(m.r.stages[1].wait_ps, 9e9);
    made_run_end(&m);
}

static const char STEPS[] =
    GATE "'call': 'queue'}, 'b': {'kind': 'measured', 'service': 5}, "
         "'c': {'kind': 'measured', 'service': 3, 'workers': 9}, "
         "'d': {'kind': 'measured', 'service': 2, 'workers': 9}";

/* Gate 0 to 1, b 1 to 6 and c 1 to 4 at once, d 6 to 8: c delays nothing. */
static void test_sim_flow__steps(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b'}, {'from': "
             "'gate', 'to': 'c'}, {'from': 'gate', 'to': 'd', 'step': 2}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 8);
    CHECK_MS(m.r.stages[0].critical_ps, 1e9);
    CHECK_MS(m.r.stages[1].critical_ps, 5e9);
    CHECK(m.r.stages[2].critical_ps == 0);
    CHECK_MS(m.r.stages[3].critical_ps, 2e9);
    made_run_end(&m);
}

/* One answer is enough: c at 4, d 4 to 6. b runs on until 6, so that the b of
 * the second request, called at 2, waits 4; its c answers at 5 again. */
static void test_sim_flow__any(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', 'wait': "
             "'any'}, {'from': 'gate', 'to': 'c', 'wait': 'any'}, {'from': "
             "'gate', 'to': 'd', 'step': 2}]",
             "t_s\n0\n0.001\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 6);
    CHECK_MS(made_ms(&m, 1), 6);
    CHECK_MS(m.r.stages[1].wait_ps, 4e9);
    CHECK(m.r.stages[1].critical_ps == 0);
    CHECK(m.r.stages[1].visits == 2);
    made_run_end(&m);
}

/* Three calls of b, which has one worker: answers at 6, 11, 16. */
static void test_sim_flow__copies(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', "
             "'copies': 3}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 16);
    made_run_end(&m);
    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', "
             "'copies': 3, 'wait': 2}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 11);
    made_run_end(&m);
}

/* It is always made again, three times in all: 1 + 3 x 5. */
static void test_sim_flow__loop(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', 'loop': "
             "{'again': 1, 'most': 3}}, {'from': 'gate', 'to': 'd', 'step': "
             "2}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 18);
    CHECK_MS(m.r.stages[1].critical_ps, 15e9);
    made_run_end(&m);
}

/* b takes 5 and is asked again after 2. The first answer comes at 6; the second
 * attempt, made at 3, has the worker from 6 to 11 all the same. The second
 * request, at 6, calls at 7: its attempts are served 11 to 16 and, made at 9,
 * 16 to 21. */
static void test_sim_flow__retry(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', 'retry': "
             "{'timeout_ms': 2, 'most': 1}}]",
             "t_s\n0\n0.006\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 6);
    CHECK_MS(made_ms(&m, 1), 10);
    CHECK(m.r.stages[1].visits == 4);
    made_run_end(&m);
}

/* Two replicas in turn, the second free. The slow request has the first from 1
 * to 31; the request at 1 goes to the second and ends at 12; that at 2 queues
 * behind the slow one, is asked again at 14 (timeout 11 from 3), which is the
 * second's turn: 14 to 24, and ends with that answer. Its first attempt is
 * served 31 to 41 and dropped. */
static void test_sim_flow__the_second_attempt_answers(void)
{
    struct made_run m;

    made_run(&m,
             "'classes': [{'name': 'slow', 'share': 0.5}, {'name': 'fast', "
             "'share': 0.5}], " ONE,
             "'gate': {'kind': 'measured', 'service': 1, 'workers': 9}, 'b': "
             "{'kind': 'measured', 'service': 10, 'replicas': 2, 'routing': "
             "'round', 'class_factor': {'slow': 3}}",
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', "
             "'classes': ['slow']}, {'from': 'gate', 'to': 'b', 'classes': "
             "['fast'], 'retry': {'timeout_ms': 11, 'most': 1}}]",
             "t_s,class\n0,slow\n0.0005,fast\n0.002,fast\n",
             (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 31);
    CHECK_MS(made_ms(&m, 1), 11);
    CHECK_MS(made_ms(&m, 2), 22);
    made_run_end(&m);
}

/* b answers twice, at 6 and at 11, c once, at 31: the step waits for both. */
static void test_sim_flow__answers_of_attempts_are_one(void)
{
    struct made_run m;

    made_run(&m, ONE,
             GATE "'call': 'queue'}, 'b': {'kind': 'measured', 'service': 5}, "
                  "'c': {'kind': 'measured', 'service': 30}",
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b', 'retry': "
             "{'timeout_ms': 2, 'most': 1}}, {'from': 'gate', 'to': 'c'}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 31);
    made_run_end(&m);
}

/* Both are served by the gate until 1; the one that came first is first at b.
 */
static void test_sim_flow__first_come_first_served(void)
{
    struct made_run m;

    made_run(&m,
             "'classes': [{'name': 'slow', 'share': 0.5}, {'name': 'fast', "
             "'share': 0.5}], " ONE,
             "'gate': {'kind': 'measured', 'service': 1, 'workers': 9}, 'b': "
             "{'kind': 'measured', 'service': 10, 'class_factor': {'slow': 3}}",
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b'}]",
             "t_s,class\n0,slow\n0,fast\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 31);
    CHECK_MS(made_ms(&m, 1), 41);
    made_run_end(&m);
}

/* 0 to 10 the first, then the one that goes first, then the second. */
static void test_sim_flow__priorities_do_not_preempt(void)
{
    struct made_run m;

    made_run(&m,
             "'classes': [{'name': 'hi', 'share': 0.5, 'priority': 0}, "
             "{'name': 'lo', 'share': 0.5, 'priority': 1}], " ONE,
             "'s': {'kind': 'measured', 'service': 10}", "'start': 's'",
             "t_s,class\n0,lo\n0.001,lo\n0.002,hi\n",
             (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 10);
    CHECK_MS(made_ms(&m, 1), 29);
    CHECK_MS(made_ms(&m, 2), 18);
    made_run_end(&m);
}

/* A batch of two takes 15. Full at 1: 1 to 16. The third waits 4 for company
 * that does not come: 24 to 34. */
static void test_sim_flow__batches(void)
{
    struct made_run m;

    made_run(&m, ONE,
             "'s': {'kind': 'measured', 'service': 10, 'batching': {'policy': "
             "'dynamic', 'max_batch': 2, 'max_wait_ms': 4, 'law': [[1, 1], [2, "
             "1.5]]}}",
             "'start': 's'", "t_s\n0\n0.001\n0.02\n",
             (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 16);
    CHECK_MS(made_ms(&m, 1), 15);
    CHECK_MS(made_ms(&m, 2), 14);
    made_run_end(&m);
}

/* The first is slow (30) on replica 0, the second ends at 11 on replica 1. The
 * third, at 12: in turn it waits for replica 0 until 30; the one with least
 * before it is free. */
static void test_sim_flow__routing(void)
{
    static const char *const ROUTING[] = {"round", "least", "shared"};
    static const double THIRD[] = {28, 10, 10};
    char stages[256];
    struct made_run m;

    for (int i = 0; i < 3; i++) {
        snprintf(stages, sizeof(stages),
                 "'s': {'kind': 'measured', 'service': 10, 'replicas': 2, "
                 "'routing': '%s', 'class_factor': {'slow': 3}}",
                 ROUTING[i]);
        made_run(&m,
                 "'classes': [{'name': 'slow', 'share': 0.5}, {'name': "
                 "'fast', 'share': 0.5}], " ONE,
                 stages, "'start': 's'",
                 "t_s,class\n0,slow\n0.001,fast\n0.012,fast\n",
                 (struct msim_serving_how){0});
        CHECK_MS(made_ms(&m, 0), 30);
        CHECK_MS(made_ms(&m, 1), 10);
        CHECK_MS(made_ms(&m, 2), THIRD[i]);
        made_run_end(&m);
    }
}

/* Gate 1, 2 on the way, 5; the way is part of what the end waits for. */
static void test_sim_flow__network(void)
{
    struct made_run m;

    made_run(&m, ONE,
             GATE "'call': 'rpc'}, 'b': {'kind': 'measured', 'service': 5, "
                  "'network_ms': 2}",
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b'}]",
             "t_s\n0\n", (struct msim_serving_how){0});
    CHECK_MS(made_ms(&m, 0), 8);
    CHECK_MS(m.r.stages[1].critical_ps, 7e9);
    made_run_end(&m);
}

/* b free of time: 1, then d's 2; the others keep what they draw. */
static void test_sim_flow__a_free_stage(void)
{
    struct made_run m;

    made_run(&m, ONE, STEPS,
             "'start': 'gate', 'edges': [{'from': 'gate', 'to': 'b'}, {'from': "
             "'gate', 'to': 'd', 'step': 2}]",
             "t_s\n0\n0.001\n", (struct msim_serving_how){.free_stage_1 = 2});
    CHECK_MS(made_ms(&m, 0), 3);
    CHECK_MS(made_ms(&m, 1), 3);
    made_run_end(&m);
}

/* Two clients, 10 a request, 5 of thought, one worker: 0 to 10, 10 to 20 (the
 * second client), 20 to 30 (the first came back at 15), 30 to 40 (the second at
 * 25). */
static void test_sim_flow__closed(void)
{
    struct made_run m;

    made_run(&m,
             "'arrivals': {'process': 'closed', 'concurrency': 2, 'think_ms': "
             "5}, ",
             "'s': {'kind': 'measured', 'service': 10}", "'start': 's'", NULL,
             (struct msim_serving_how){.requests = 4});
    CHECK(m.r.n_requests == 4);
    CHECK_MS(made_ms(&m, 0), 10);
    CHECK_MS(made_ms(&m, 1), 20);
    CHECK_MS(made_ms(&m, 2), 15);
    CHECK_MS(made_ms(&m, 3), 15);
    made_run_end(&m);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "log.csv", NULL};

    made_begin();
    RUN(test_sim_flow__rpc_holds_the_worker);
    RUN(test_sim_flow__steps);
    RUN(test_sim_flow__any);
    RUN(test_sim_flow__copies);
    RUN(test_sim_flow__loop);
    RUN(test_sim_flow__retry);
    RUN(test_sim_flow__the_second_attempt_answers);
    RUN(test_sim_flow__answers_of_attempts_are_one);
    RUN(test_sim_flow__first_come_first_served);
    RUN(test_sim_flow__priorities_do_not_preempt);
    RUN(test_sim_flow__batches);
    RUN(test_sim_flow__routing);
    RUN(test_sim_flow__network);
    RUN(test_sim_flow__a_free_stage);
    RUN(test_sim_flow__closed);
    made_end(FILES);
    return check_summary();
}

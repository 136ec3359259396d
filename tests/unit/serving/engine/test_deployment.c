/*
 * tests/unit/serving/engine/test_deployment.c - replicas on one clock, against
 * schedules that were worked by hand: 100 us a step, 1 us a token of a prompt,
 * 10 us a sequence that decodes.
 */
#include "serving/engine/replica.h"
#include "tests/check.h"
#include "tests/unit/serving/engine/made_up_step.h"

static const struct msim_replica_rules rules = {.policy = MSIM_BATCH_MIXED,
                                                .chunked_prefill = true,
                                                .max_num_seqs = 8,
                                                .max_num_batched_tokens = 100,
                                                .block_size = 4,
                                                .ranks = 1};
static const struct msim_llm_times times[2] = {{NULL, made_up_us, 4000, 0, 0},
                                               {NULL, made_up_us, 4000, 0, 0}};

static double first_us[8], last_us[8];

static msim_ps us(double x)
{
    return (msim_ps)(x * MSIM_PS_PER_US);
}

static void add(struct msim_deployment *d, double at, uint32_t input,
                uint32_t output, uint32_t handle, uint32_t replica)
{
    struct msim_llm_request request = {.input_tokens = input,
                                       .output_tokens = output};

    CHECK(msim_deployment_add(d, us(at), &request, handle, replica) == MSIM_OK);
}

/* All that happens before `until` (us). */
static void run(struct msim_deployment *d, double until)
{
    msim_ps now;

    while ((now = msim_deployment_next(d)) != MSIM_TIME_NONE &&
           now < us(until)) {
        uint32_t n;
        const struct msim_llm_token *t = msim_deployment_step(d, &n);

        for (; n; n--, t++) {
            if (t->first)
                first_us[t->handle] = (double)now / MSIM_PS_PER_US;
            if (t->last)
                last_us[t->handle] = (double)now / MSIM_PS_PER_US;
        }
    }
}

#define CHECK_TIMES(i, first, last)                                            \
    do {                                                                       \
        CHECK_REL(first_us[i], first, 1e-12);                                  \
        CHECK_REL(last_us[i], last, 1e-12);                                    \
    } while (0)

/*
 * Two replicas. A (100 in, 2 out), B (10, 2) and C (10, 1) come at 0; A and C
 * are on the first, in one step as far as the budget of 100 goes.
 * first:  A 100                    at 200 A's first
 *         A decodes, C 10          at 320 A's last, C ends
 * second: B 10; B decodes          at 110, 220
 * D comes to the first at 320, when its step ends, and is in the next one:
 *         D 10                     at 430
 */
static void test_deployment__spreads_requests(void)
{
    struct msim_deployment_setup setup = {.serve = {&rules, times, 2}};
    struct msim_deployment *d;

    REQUIRE(msim_deployment_new(&d, &setup) == MSIM_OK);
    CHECK(msim_deployment_next(d) == MSIM_TIME_NONE);
    add(d, 0, 100, 2, 0, MSIM_NONE);
    add(d, 0, 10, 2, 1, MSIM_NONE);
    add(d, 0, 10, 1, 2, MSIM_NONE);
    run(d, 320);
    CHECK(msim_deployment_next(d) == us(320));
    add(d, 320, 10, 1, 3, 0);
    run(d, 1e9);
    CHECK_TIMES(0, 200, 320);
    CHECK_TIMES(1, 110, 220);
    CHECK_TIMES(2, 320, 320);
    CHECK_TIMES(3, 430, 430);
    CHECK_UINT(msim_replica_running(msim_deployment_replica(d, 0)), 0);
    msim_deployment_free(d);
}

/*
 * One replica prefills, one decodes; 1,000 bytes a token at 1 GB/s: 1 us a
 * token. A (100 in, 3 out) and B (50, 2) come at 0.
 * prefill: A 100              at 200; sent till 300: A's first
 *          B 50               at 350; sent till 400: B's first
 * decode:  A                  300 to 410; B waits
 *          A, B               410 to 530: both last
 * C and D (50, 2 each) come at 1000; E (10, 1) at 1200 needs no decoding.
 * prefill: C, D               at 1200; sent till 1250 and, after it, 1300
 *          E                  at 1310, first and last
 * decode:  C                  1250 to 1360
 *          D                  1360 to 1470
 */
static void test_deployment__sends_what_was_prefilled(void)
{
    struct msim_deployment_setup setup = {.serve = {&rules, times, 1},
                                          .decode = {&rules, times + 1, 1},
                                          .kv_token_bytes = 1000,
                                          .kv_transfer_gbps = 1};
    struct msim_replica_figures figures;
    struct msim_deployment *d;

    REQUIRE(msim_deployment_new(&d, &setup) == MSIM_OK);
    add(d, 0, 100, 3, 0, MSIM_NONE);
    add(d, 0, 50, 2, 1, MSIM_NONE);
    run(d, 1000);
    add(d, 1000, 50, 2, 2, MSIM_NONE);
    add(d, 1000, 50, 2, 3, MSIM_NONE);
    run(d, 1200);
    add(d, 1200, 10, 1, 4, MSIM_NONE);
    run(d, 1e9);
    CHECK_TIMES(0, 300, 530);
    CHECK_TIMES(1, 400, 530);
    CHECK_TIMES(2, 1250, 1360);
    CHECK_TIMES(3, 1300, 1470);
    CHECK_TIMES(4, 1310, 1310);
    msim_replica_figures_of(msim_deployment_replica(d, 1), &figures);
    CHECK_UINT(figures.steps, 4);
    CHECK_REL(figures.busy_us, 450, 1e-12);
    msim_deployment_free(d);
}

/*
 * On its way for 50 us: A (100 in, 1 out) and B (50, 1) at 0 are there at 50, A
 * has the whole step: 200 us. C (50, 1) at 100 comes in time for the next, with
 * B: 200 again. What no replica holds is refused at once.
 */
static void test_deployment__requests_take_a_while(void)
{
    struct msim_deployment_setup setup = {.serve = {&rules, times, 1},
                                          .arrival_us = 50};
    struct msim_llm_request large = {.input_tokens = 5000, .output_tokens = 1};
    struct msim_deployment *d;

    REQUIRE(msim_deployment_new(&d, &setup) == MSIM_OK);
    add(d, 0, 100, 1, 0, MSIM_NONE);
    add(d, 0, 50, 1, 1, MSIM_NONE);
    CHECK(msim_deployment_next(d) == us(50));
    run(d, 100);
    add(d, 100, 50, 1, 2, 0);
    CHECK(msim_deployment_add(d, us(100), &large, 3, MSIM_NONE) == MSIM_ELIMIT);
    run(d, 1e9);
    CHECK_TIMES(0, 250, 250);
    CHECK_TIMES(1, 450, 450);
    CHECK_TIMES(2, 450, 450);
    msim_deployment_free(d);
}

/* A decode replica without room for the output ends it with what came. */
static void test_deployment__cuts_what_cannot_be_decoded(void)
{
    struct msim_llm_times small = {NULL, made_up_us, 8, 0, 0};
    struct msim_deployment_setup setup = {.serve = {&rules, times, 1},
                                          .decode = {&rules, &small, 1}};
    struct msim_deployment *d;

    REQUIRE(msim_deployment_new(&d, &setup) == MSIM_OK);
    add(d, 0, 100, 3, 0, MSIM_NONE);
    run(d, 1e9);
    CHECK_TIMES(0, 200, 200);
    msim_deployment_free(d);
    setup.serve.replicas = 0;
    CHECK(msim_deployment_new(&d, &setup) == MSIM_EUSAGE);
}

/*
 * Requests are on their way for 50 us. Whoever sends them knows how many it has
 * sent: three at once go to three replicas, and the fourth to the first again.
 * They wait until they are there (50 us), and then run.
 */
static void test_deployment__counts_what_is_on_its_way(void)
{
    struct msim_llm_times three[3] = {times[0], times[0], times[0]};
    struct msim_deployment_setup setup = {.serve = {&rules, three, 3},
                                          .arrival_us = 50};
    struct msim_deployment *d;

    REQUIRE(msim_deployment_new(&d, &setup) == MSIM_OK);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t least = msim_deployment_least(d, UINT32_MAX);

        CHECK_UINT(least, i % 3);
        add(d, 0, 100, 1, i, least);
        CHECK_UINT(msim_deployment_changed(d), least);
    }
    CHECK_UINT(msim_deployment_waiting(d), 4);
    CHECK_UINT(msim_deployment_waiting_at(d, 0), 2);
    CHECK_UINT(msim_deployment_waiting_at(d, 2), 1);
    CHECK_UINT(msim_deployment_running(d), 0);
    run(d, 60);
    CHECK_UINT(msim_deployment_waiting_at(d, 2), 0);
    CHECK_UINT(msim_deployment_running(d), 3);
    run(d, 1e9);
    CHECK_UINT(msim_deployment_waiting(d), 0);
    CHECK_UINT(msim_deployment_running(d), 0);
    CHECK_UINT(msim_deployment_least(d, UINT32_MAX), 0);
    msim_deployment_free(d);
}

int main(void)
{
    RUN(test_deployment__spreads_requests);
    RUN(test_deployment__sends_what_was_prefilled);
    RUN(test_deployment__requests_take_a_while);
    RUN(test_deployment__cuts_what_cannot_be_decoded);
    RUN(test_deployment__counts_what_is_on_its_way);
    return check_summary();
}

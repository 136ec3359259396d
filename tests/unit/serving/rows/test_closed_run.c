/*
 * tests/unit/serving/rows/test_closed_run.c - closed loops against means that
 * were worked by hand: 100 us a step, 1 us a token of a prompt, 10 us a
 * sequence that decodes.
 */
#include "serving/rows/serve_rows.h"
#include "tests/check.h"
#include "tests/unit/serving/engine/made_up_step.h"

static struct msim_replica_rules rules = {.policy = MSIM_BATCH_MIXED,
                                          .chunked_prefill = true,
                                          .max_num_seqs = 64,
                                          .max_num_batched_tokens = 100,
                                          .block_size = 4,
                                          .ranks = 1};
static const struct msim_llm_times times = {0, made_up_us, 40000, 0, 0};

static struct msim_closed_figures run(uint32_t clients, uint32_t input,
                                      uint32_t output, double spread,
                                      double arrival_us)
{
    struct msim_closed_loop_setup setup = {
        .served = {.serve = {&rules, &times, 1}},
        .clients = clients,
        .prompts = {input, input},
        .outputs = {output * (1 - spread), output * (1 + spread)},
        .arrival_us = arrival_us};
    struct msim_closed_figures out = {0, 0};

    CHECK(msim_closed_run(&out, &setup) == MSIM_OK);
    return out;
}

/* One client: its prompt's step, and steps of one sequence. */
static void test_closed_run__one_client(void)
{
    struct msim_closed_figures f = run(1, 100, 3, 0, 0);

    CHECK_REL(f.ttft_ms, 0.2, 1e-9);
    CHECK_REL(f.tpot_ms, 0.11, 1e-9);
    f = run(1, 100, 1, 0, 0);
    CHECK_REL(f.ttft_ms, 0.2, 1e-9);
    CHECK(f.tpot_ms == 0);
}

/* Two of 50 tokens are in one step, and end together, each time. */
static void test_closed_run__two_in_step(void)
{
    struct msim_closed_figures f = run(2, 50, 3, 0, 0);

    CHECK_REL(f.ttft_ms, 0.2, 1e-9);
    CHECK_REL(f.tpot_ms, 0.12, 1e-9);
}

/* Prompts first, a step each: A's first token at 200 us, B's at 400, and then
 * two steps of 120. Both end at 640, so it comes again: TTFT 200 and 400; TPOT
 * (640 - 200) / 2 and 120. */
static void test_closed_run__prompts_first_stay_in_step(void)
{
    struct msim_closed_figures f;

    rules.policy = MSIM_BATCH_PREFILL_FIRST;
    f = run(2, 100, 3, 0, 0);
    CHECK_REL(f.ttft_ms, 0.3, 1e-9);
    CHECK_REL(f.tpot_ms, 0.17, 1e-9);
    rules.policy = MSIM_BATCH_MIXED;
}

/*
 * Of one client the mean of 10 waits is in TTFT alone. The prompts of 20
 * clients in step are one step of 2,100 us, each time; out of step, the first
 * wave apart, most see a step with their own prompt and 19 that decode, 390 us.
 */
static void test_closed_run__out_of_step(void)
{
    struct msim_closed_figures one = run(1, 100, 3, 0, 50), same, drawn;

    CHECK(one.ttft_ms > 0.21 && one.ttft_ms < 0.35);
    CHECK_REL(one.tpot_ms, 0.11, 1e-9);
    rules.max_num_batched_tokens = 2000;
    same = run(20, 100, 400, 0, 0);
    drawn = run(20, 100, 400, 0.1, 0);
    rules.max_num_batched_tokens = 100;
    CHECK_REL(same.ttft_ms, 2.1, 1e-9);
    CHECK(drawn.ttft_ms > 0.9 * 0.39 + 0.1 * 2.1);
    CHECK(drawn.ttft_ms < 0.9 * 0.6 + 0.1 * 2.1);
    CHECK_REL(drawn.tpot_ms, same.tpot_ms, 0.1);
}

/* A prompt that no replica holds. */
static void test_closed_run__refuses(void)
{
    struct msim_closed_loop_setup setup = {
        .served = {.serve = {&rules, &times, 1}},
        .clients = 1,
        .prompts = {50000, 50000},
        .outputs = {1, 1}};
    struct msim_closed_figures out;

    CHECK(msim_closed_run(&out, &setup) == MSIM_ELIMIT);
}

int main(void)
{
    RUN(test_closed_run__one_client);
    RUN(test_closed_run__two_in_step);
    RUN(test_closed_run__prompts_first_stay_in_step);
    RUN(test_closed_run__out_of_step);
    RUN(test_closed_run__refuses);
    return check_summary();
}

/* serving/llm/closed_loop.c: the sums of a loop's prefill and decoding, term by
 * term, and its figures, worked by hand. */

#include "serving/llm/llm_internal.h"
#include "tests/check.h"

static struct msim_llm_rank rank_of(enum msim_llm_engine e, int64_t dp)
{
    return (struct msim_llm_rank){
        .s = {.engine = e, .dp = dp, .max_num_batched_tokens = 1000}};
}

static void check_term(const struct msim_loop_sum *sum, uint32_t i,
                       enum msim_llm_part part, double times, double a,
                       double b)
{
    REQUIRE(i < sum->n);
    CHECK_INT(sum->of[i].part, part);
    CHECK_REL(sum->of[i].times, times, 1e-15);
    CHECK_REL(sum->of[i].a, a, 1e-15);
    CHECK_REL(sum->of[i].b, b, 1e-15);
}

/* 2,400 tokens are three chunks of 800, beside 4 sequences that decode anyway:
 * two steps more, and what the tokens add to a step. Chunks behind the first
 * have half of the prompt before them, in the mean. */
static void test_closed_loop__prefill_beside_decoding(void)
{
    struct msim_llm_rank r = rank_of(MSIM_LLM_VLLM, 1);
    struct msim_closed_loop loop = {2400, 100, 4, 0};
    struct msim_loop_sum sum;

    msim_loop_prefill(&sum, &r, &loop);
    CHECK_REL(sum.steps, 2, 0);
    CHECK_REL(sum.seqs, 1, 0);
    CHECK_INT(sum.n, 6);
    check_term(&sum, 0, MSIM_LLM_PART_TOKENS, 3, 804, 0);
    check_term(&sum, 1, MSIM_LLM_PART_EXPERTS, 3, 804, 0);
    check_term(&sum, 2, MSIM_LLM_PART_TOKENS, -3, 4, 0);
    check_term(&sum, 3, MSIM_LLM_PART_EXPERTS, -3, 4, 0);
    check_term(&sum, 4, MSIM_LLM_PART_CHUNK, 1, 800, 0);
    check_term(&sum, 5, MSIM_LLM_PART_CHUNK, 2, 800, 1200);
    r = rank_of(MSIM_LLM_TRTLLM, 1);
    msim_loop_prefill(&sum, &r, &loop);
    CHECK_REL(sum.steps, 2, 0);
}

/* One prompt on each of two ranks, in a step of its own, which ends in as many
 * tokens. 1,000 tokens are one chunk; nobody decodes beside it. */
static void test_closed_loop__prefill_of_its_own(void)
{
    struct msim_llm_rank r = rank_of(MSIM_LLM_SGLANG, 2);
    struct msim_closed_loop loop = {1000, 100, 4, 0};
    struct msim_loop_sum sum;

    msim_loop_prefill(&sum, &r, &loop);
    CHECK_REL(sum.steps, 1, 0);
    CHECK_REL(sum.seqs, 2, 0);
    CHECK_INT(sum.n, 4);
    check_term(&sum, 0, MSIM_LLM_PART_TOKENS, 1, 2000, 0);
    check_term(&sum, 1, MSIM_LLM_PART_EXPERTS, 1, 2000, 0);
    check_term(&sum, 2, MSIM_LLM_PART_CHUNK, 1, 1000, 0);
    check_term(&sum, 3, MSIM_LLM_PART_HEAD, 1, 2, 0);
    loop.input_tokens = 1001;
    msim_loop_prefill(&sum, &r, &loop);
    CHECK_REL(sum.steps, 2, 0);
    CHECK_INT(sum.n, 5);
    check_term(&sum, 3, MSIM_LLM_PART_CHUNK, 1, 500.5, 500.5);
    loop.input_tokens = 0; /* counts as 1 */
    msim_loop_prefill(&sum, &r, &loop);
    check_term(&sum, 2, MSIM_LLM_PART_CHUNK, 1, 1, 0);
}

/* Four sequences in the middle of their answers of 100 tokens. */
static void test_closed_loop__decoding(void)
{
    struct msim_llm_rank r = rank_of(MSIM_LLM_VLLM, 1);
    struct msim_closed_loop loop = {2400, 100, 4, 0};
    struct msim_loop_sum sum;

    msim_loop_decode(&sum, &r, &loop);
    CHECK_REL(sum.steps, 1, 0);
    CHECK_REL(sum.seqs, 4, 0);
    CHECK_INT(sum.n, 4);
    check_term(&sum, 0, MSIM_LLM_PART_TOKENS, 1, 4, 0);
    check_term(&sum, 1, MSIM_LLM_PART_EXPERTS, 1, 4, 0);
    check_term(&sum, 2, MSIM_LLM_PART_HEAD, 1, 4, 0);
    check_term(&sum, 3, MSIM_LLM_PART_DECODE, 1, 4, 2450);
    loop.seqs = 0; /* counts as 1 */
    msim_loop_decode(&sum, &r, &loop);
    CHECK_REL(sum.seqs, 1, 0);
    check_term(&sum, 0, MSIM_LLM_PART_TOKENS, 1, 1, 0);
}

static struct msim_closed_loop_answer
figures(struct msim_closed_loop loop, double dp, double first_wave,
        double arrival_us, double prefill_us, double decode_us)
{
    struct msim_closed_loop_answer a;
    struct msim_llm_law law = {0};

    law.first_wave[MSIM_LLM_SGLANG] = first_wave;
    law.arrival_us[MSIM_LLM_SGLANG] = arrival_us;
    msim_loop_figures(&a, &law, MSIM_LLM_SGLANG, &loop, dp, prefill_us,
                      decode_us);
    return a;
}

/* P = 20 ms, D = 10 ms, 100 gaps, 4 sequences on each of two ranks, a quarter
 * of the requests in the first wave, 0.5 ms on the host:
 *     busy 80 / (80 + 1,000) = 2 / 27, wait 20 x 2 / 27 / (2 x 25 / 27) = 0.8
 *     TTFT 0.75 (20 + 5 + 0.8) + 0.25 x 5 / 2 x 20 + 0.5 = 32.35
 *     TPOT 10 + 0.875 x 3 x 20 / 100 = 10.525
 * With two more clients than the 8 that are served, each waits for a quarter of
 * an answer, 32.35 + 100 x 10.525 = 1,084.85. */
static void test_closed_loop__figures(void)
{
    struct msim_closed_loop loop = {1000, 101, 8, 0};
    struct msim_closed_loop_answer a = figures(loop, 2, 0.25, 500, 2e4, 1e4);

    CHECK_REL(a.prefill_ms, 20, 1e-12);
    CHECK_REL(a.decode_ms, 10, 1e-12);
    CHECK_REL(a.ttft_ms, 32.35, 1e-12);
    CHECK_REL(a.tpot_ms, 10.525, 1e-12);
    loop.waiting = 2;
    a = figures(loop, 2, 0.25, 500, 2e4, 1e4);
    CHECK_REL(a.ttft_ms, 32.35 + 1084.85 / 4, 1e-12);
    CHECK_REL(a.tpot_ms, 10.525, 1e-12);
    /* a share of the first wave is 1 at most: 5 / 2 x 20, half of each gap */
    loop.waiting = 0;
    a = figures(loop, 2, 3, 0, 2e4, 1e4);
    CHECK_REL(a.ttft_ms, 50, 1e-12);
    CHECK_REL(a.tpot_ms, 10 + 0.5 * 3 * 20 / 100, 1e-12);
}

/* No request waits for more than half of the others' prompts (3 sequences, one
 * gap: a queue that is busy for 6 / 7 would have it wait for 60 ms), and no
 * queue is busier than 95 %. */
static void test_closed_loop__figures_of_a_busy_replica(void)
{
    struct msim_closed_loop loop = {1000, 2, 3, 0};
    struct msim_closed_loop_answer a = figures(loop, 1, 0, 0, 2e4, 1e4);

    CHECK_REL(a.ttft_ms, 20 + 5 + 20, 1e-12);
    CHECK_REL(a.tpot_ms, 10 + 2 * 20, 1e-12);
    loop.seqs = 100;
    a = figures(loop, 1, 0, 0, 2e4, 1e3);
    CHECK_REL(a.ttft_ms, 20.5 + 20 * (2000.0 / 2001) / 0.1, 1e-12);
}

/* What is not positive counts as 1: sequences, gaps, microseconds. */
static void test_closed_loop__figures_of_nothing(void)
{
    struct msim_closed_loop loop = {0, 0, 0, -1};
    struct msim_closed_loop_answer a = figures(loop, 1, 1, 0, 0, 0);

    CHECK_REL(a.prefill_ms, 1e-3, 1e-12);
    CHECK_REL(a.decode_ms, 1e-3, 1e-12);
    CHECK_REL(a.tpot_ms, 1e-3, 1e-12);
    CHECK_REL(a.ttft_ms, 1e-3, 1e-12);
    loop.seqs = 0.5;
    loop.waiting = 3; /* for one that is served */
    a = figures(loop, 1, 1, 0, 0, 0);
    CHECK_REL(a.ttft_ms, 1e-3 + 3 * 2e-3, 1e-12);
}

/* Sequences: clients, places, what the cache has room for, and one at least. */
static void test_closed_loop__sequences(void)
{
    struct msim_llm_rank r = rank_of(MSIM_LLM_VLLM, 2);
    struct msim_closed_loop l = msim_closed_loop_of(&r, 1 << 30, 0, 7, 4, 3);

    CHECK_REL(l.input_tokens, 7, 0);
    CHECK_REL(l.output_tokens, 4, 0);
    CHECK_REL(l.seqs, 3, 0);
    CHECK_REL(l.waiting, 0, 0);
    l = msim_closed_loop_of(&r, 1 << 30, 0, 7, 4, 600); /* 256 a rank */
    CHECK_REL(l.seqs, 512, 0);
    CHECK_REL(l.waiting, 88, 0);
    l = msim_closed_loop_of(&r, 1 << 30, 1, 7, 4, 600);
    CHECK_REL(l.seqs, 1, 0);
    l = msim_closed_loop_of(&r, 99, 0, 7, 4, 600); /* of 7 + 4 / 2 tokens */
    CHECK_REL(l.seqs, 11, 0);
    l = msim_closed_loop_of(&r, 8, 0, 7, 4, 600);
    CHECK_REL(l.seqs, 1, 0);
    CHECK_REL(l.waiting, 599, 0);
    l = msim_closed_loop_of(&r, 5, 0, 0, 1, 600); /* no less than a token */
    CHECK_REL(l.seqs, 5, 0);
    r = rank_of(MSIM_LLM_TRTLLM, 2);
    l = msim_closed_loop_of(&r, 99, 0, 7, 4, 600); /* of 7 + 4 tokens */
    CHECK_REL(l.seqs, 9, 0);
}

int main(void)
{
    RUN(test_closed_loop__prefill_beside_decoding);
    RUN(test_closed_loop__prefill_of_its_own);
    RUN(test_closed_loop__decoding);
    RUN(test_closed_loop__figures);
    RUN(test_closed_loop__figures_of_a_busy_replica);
    RUN(test_closed_loop__figures_of_nothing);
    RUN(test_closed_loop__sequences);
    return check_summary();
}

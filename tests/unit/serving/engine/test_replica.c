/*
 * tests/unit/serving/engine/test_replica.c - schedules of one replica that were
 * worked by hand: 100 us a step, 1 us a token of a prompt, 10 us a sequence
 * that decodes.
 */
#include "serving/engine/replica.h"
#include "tests/check.h"
#include "tests/unit/serving/engine/made_schedule.h"

#include <stdlib.h>

static struct asked ask_first(uint32_t input, uint32_t output, double at,
                              int32_t priority)
{
    struct asked a = ask(input, output, at);

    a.request.priority = priority;
    return a;
}

/* With hashes of its first two blocks. */
static struct asked ask_again(uint32_t input, double at)
{
    struct asked a = ask(input, 1, at);

    a.hashes[0] = 11;
    a.hashes[1] = 12;
    a.request.n_hashes = 2;
    return a;
}

/*
 * A 50 tokens in, 2 out; B 160 in, 2 out; 100 tokens a step:
 * 1: A 50, B 50 of 160            200 us          at 200 A's first
 * 2: A decodes, B 99: the rest    100 + 99 + 10   at 409 A's last
 * 3: B 11                         111             at 520 B's first
 * 4: B decodes                    110             at 630 B's last
 */
static void test_replica__cuts_prompts_at_the_budget(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(50, 2, 0), ask(160, 2, 0)};

    serve(&rules, 4000, asked, 2);
    CHECK_TIMES(asked[0], 200, 409);
    CHECK_TIMES(asked[1], 520, 630);
    CHECK_UINT(figures.steps, 4);
    CHECK_UINT(figures.step_seqs, 6);
    CHECK_REL(figures.busy_us, 630, 1e-12);
}

/*
 * Whole prompts: A 60 in, 2 out; B 60 in, 2 out.
 * 1: A 60                160   at 160 A's first; B would be 20 too many
 * 2: A decodes, B 60     170   at 330 A's last, B's first
 * 3: B decodes           110   at 440
 * C has 250 tokens, above any budget: alone with what decodes, at 500:
 * 4: C 250               350   at 850
 */
static void test_replica__whole_prompts_wait_for_a_step(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(60, 2, 0), ask(60, 2, 0), ask(250, 1, 500)};

    rules.chunked_prefill = false;
    serve(&rules, 4000, asked, 3);
    CHECK_TIMES(asked[0], 160, 330);
    CHECK_TIMES(asked[1], 330, 440);
    CHECK_TIMES(asked[2], 850, 850);
}

/* Two places: C's prompt begins when A, of one token, has ended. */
static void test_replica__runs_max_num_seqs(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(10, 1, 0), ask(10, 3, 0), ask(10, 1, 0)};

    rules.max_num_seqs = 2;
    serve(&rules, 4000, asked, 3);
    CHECK_TIMES(asked[0], 120, 120); /* 100 + 20 */
    CHECK_TIMES(asked[2], 240, 240); /* 100 + 10 + 10 for B */
    CHECK_TIMES(asked[1], 120, 350);
}

/*
 * 5 blocks of 4; A and B each 7 tokens in, 6 out: 12 tokens are computed of
 * each, 3 blocks, and only one of them can have 3.
 * 1: both prompts, 2 blocks each             114   at 114 both first
 * 2: both decode their 8th token             120   at 234
 * 3: A takes the last block for its 9th; B gets none, is the last to arrive,
 *    and loses its 2                         110   at 344
 * 4-6: A decodes; B waits for 3 blocks       330   at 674 A's last
 * 7: B's 7 + 2 tokens again                  109   at 783
 * 8-10: B decodes                            330   at 1113
 */
static void test_replica__preempts_the_last_to_arrive(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(7, 6, 0), ask(7, 6, 0)};

    serve(&rules, 20, asked, 2);
    CHECK_TIMES(asked[0], 114, 674);
    CHECK_TIMES(asked[1], 114, 1113);
    CHECK_UINT(figures.preemptions, 1);
    CHECK_REL(figures.kv_peak_share, 1, 1e-12);
}

/*
 * The same with 8 tokens a step:
 * 1: A's prompt, 1 of B's                    108   at 108 A's first
 * 2: A decodes, B 6                          116   at 224 B's first
 * 3: both decode, A in the last block        120   at 344
 * 4: B's 9th gets none: preempted. Two blocks are free, for 7 of its tokens,
 *    but nothing is admitted in that step    110   at 454
 * 5: A decodes; 7 of B's 9                   117   at 571
 * 6: A decodes; B is preempted again         110   at 681 A's last
 * 7, 8: B 8, and 1                           209   at 890
 * 9-11: B decodes                            330   at 1220
 */
static void test_replica__admits_nothing_beside_a_preemption(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(7, 6, 0), ask(7, 6, 0)};

    rules.max_num_batched_tokens = 8;
    serve(&rules, 20, asked, 2);
    CHECK_TIMES(asked[0], 108, 681);
    CHECK_TIMES(asked[1], 224, 1220);
    CHECK_UINT(figures.preemptions, 2);
}

/*
 * 6 blocks; A, 7 in and 6 out, is less important than B, the same, and C, 1 in
 * and 3 out, which come at 50.
 * 1: A's prompt                              107   at 107 A's first
 * 2: A decodes, the prompts of B and C       118   at 225 both first
 * 3: all decode; A's 9th token in the last block   130   at 355
 * 4: A is let decode; B's 9th needs a block, and A loses all 3; B and C
 *    decode                                  120   at 475 C's last
 * 5: B decodes; A's 7 + 3 tokens again       120   at 595
 * 6, 7: both decode                          240   at 835 both last
 */
static void test_replica__preempts_the_least_important(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask_first(7, 6, 0, 1), ask(7, 6, 50),
                            ask(1, 3, 50)};

    rules.by_priority = true;
    serve(&rules, 24, asked, 3);
    CHECK_TIMES(asked[0], 107, 835);
    CHECK_TIMES(asked[1], 225, 835);
    CHECK_TIMES(asked[2], 225, 475);
    CHECK_UINT(figures.preemptions, 1);
}

/* One place, 110 us each: the most important first, then in order of arrival.
 */
static void test_replica__serves_the_important_first(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask_first(10, 1, 0, 2), ask_first(10, 1, 0, 1),
                            ask_first(10, 1, 0, 1), ask_first(10, 1, 0, 0)};

    rules.max_num_seqs = 1;
    rules.by_priority = true;
    serve(&rules, 4000, asked, 4);
    CHECK_REL(asked[3].last, 110, 1e-12);
    CHECK_REL(asked[1].last, 220, 1e-12);
    CHECK_REL(asked[2].last, 330, 1e-12);
    CHECK_REL(asked[0].last, 440, 1e-12);
    rules.by_priority = false;
    serve(&rules, 4000, asked, 4);
    for (int i = 0; i < 4; i++)
        CHECK_REL(asked[i].last, 110 * (i + 1), 1e-12);
}

/*
 * A 10 tokens, of which two blocks have hashes: all computed, 110.
 * B, the same at 200: 8 are there, 2 computed: 102.
 * C, at 400, ends with its second block: that one is computed again, as
 * something has to yield a token: 104.
 */
static void test_replica__takes_prefixes_from_the_cache(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask_again(10, 0), ask_again(10, 200),
                            ask_again(8, 400)};

    rules.prefix_caching = true;
    serve(&rules, 4000, asked, 3);
    CHECK_TIMES(asked[0], 110, 110);
    CHECK_TIMES(asked[1], 302, 302);
    CHECK_TIMES(asked[2], 504, 504);
    CHECK_UINT(figures.hit_tokens, 12);
    CHECK_UINT(figures.prompt_tokens, 28);
}

/*
 * 3 blocks: A's 8 tokens leave two units in them. B has 12 other tokens and
 * takes all three; so A's prompt is computed whole when it comes again.
 */
static void test_replica__forgets_prefixes_for_room(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask_again(8, 0), ask(12, 1, 200),
                            ask_again(9, 400)};

    rules.prefix_caching = true;
    serve(&rules, 12, asked, 3);
    CHECK_TIMES(asked[1], 312, 312);
    CHECK_TIMES(asked[2], 509, 509);
    CHECK_UINT(figures.hit_tokens, 0);
}

/*
 * Two ranks in step. A (300 tokens, at the budget of 1000) goes to the first,
 * B (10) to the second, C (20) to the first again: equal loads.
 * 1: 420 on the first, 110 on the second     at 420 all first
 * 2: A, C decode 120; B 110                  at 540
 */
static void test_replica__ranks_wait_for_the_slowest(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(300, 2, 0), ask(10, 2, 0), ask(20, 2, 0)};

    rules.max_num_batched_tokens = 1000;
    rules.ranks = 2;
    serve(&rules, 4000, asked, 3);
    for (int i = 0; i < 3; i++)
        CHECK_TIMES(asked[i], 420, 540);
    CHECK_UINT(figures.steps, 2);
}

/* The memory is the replica's: of 20 blocks each rank has 10, 40 tokens. */
static void test_replica__ranks_share_its_memory(void)
{
    struct msim_llm_times times = {NULL, made_up_us, 80, 0, 0};
    struct msim_replica_rules rules = vllm();
    struct msim_llm_request request = ask(41, 1, 0).request;
    struct msim_replica *r;

    rules.ranks = 2;
    REQUIRE(msim_replica_new(&r, &rules, &times) == MSIM_OK);
    CHECK(msim_replica_add(r, &request, 0) == MSIM_ELIMIT);
    request.input_tokens = 40;
    CHECK(msim_replica_add(r, &request, 0) == MSIM_OK);
    msim_replica_free(r);
}

/* Its prompt came computed with its first token: two tokens, two steps, for
 * which 8 + 2 tokens, 3 blocks, are taken. */
static void test_replica__decodes_what_others_prefilled(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(8, 3, 0)};

    asked[0].request.prefilled = true;
    rules.max_num_batched_tokens = 1;
    serve(&rules, 40, asked, 1);
    CHECK(asked[0].first == 0);
    CHECK_REL(asked[0].last, 220, 1e-12);
    CHECK_REL(figures.kv_peak_share, 0.3, 1e-12);
}

/*
 * Two places; A 10 in, 3 out; B 20 in, 1 out; C 5 in, 1 out, all at 0.
 * 1: A, B                 130   at 130 both first, B's last
 * 2, 3: A, and B's place  240   at 370 A's last
 * 4: C                    105   at 475
 */
static void test_replica__a_static_batch_waits_for_its_longest(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(10, 3, 0), ask(20, 1, 0), ask(5, 1, 0)};

    rules.policy = MSIM_BATCH_STATIC;
    rules.max_num_seqs = 2;
    serve(&rules, 4000, asked, 3);
    CHECK_TIMES(asked[0], 130, 370);
    CHECK_TIMES(asked[1], 130, 130);
    CHECK_TIMES(asked[2], 475, 475);
}

/*
 * The blocks of the preemption above, reserved: B starts when A has ended.
 * A: 107, and 5 steps of 110: 657. B: the same again. So does a static batch.
 */
static void test_replica__reserves_outputs(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(7, 6, 0), ask(7, 6, 0)};

    rules.reserve_output = true;
    rules.chunked_prefill = false;
    for (int i = 0; i < 2; i++) {
        serve(&rules, 20, asked, 2);
        CHECK_TIMES(asked[0], 107, 657);
        CHECK_TIMES(asked[1], 764, 1314);
        CHECK_UINT(figures.preemptions, 0);
        rules.policy = MSIM_BATCH_STATIC;
        rules.reserve_output = false;
    }
}

/*
 * A 10 in, 3 out; B 20 in, 1 out; with the same first 8 tokens. B finds nothing
 * cached, since both prompts are in one step: 130, and two steps of 120. C, at
 * 10, finds them: 12 of its 20 are left. What B held is its own until it ends,
 * though it stays in the batch.
 */
static void test_replica__static_batches_share_prefixes(void)
{
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask_again(10, 0), ask_again(20, 0),
                            ask_again(20, 10)};

    asked[0].request.output_tokens = 3;
    rules.policy = MSIM_BATCH_STATIC;
    rules.prefix_caching = true;
    serve(&rules, 4000, asked, 3);
    CHECK_TIMES(asked[0], 122, 362);
    CHECK_TIMES(asked[1], 122, 122);
    CHECK_TIMES(asked[2], 474, 474);
}

static struct msim_replica_rules sglang(void)
{
    struct msim_replica_rules rules = vllm();

    rules.policy = MSIM_BATCH_PREFILL_FIRST;
    rules.block_size = 1;
    return rules;
}

/*
 * A 50 in, 2 out, at 0; C 150 in, 1 out, at 10; chunks of 100:
 * 1: A                  150   at 150 A's first
 * 2: 100 of C           200   at 350
 * 3: 50 of C            150   at 500 C ends
 * 4: A decodes          110   at 610
 */
static void test_replica__prompts_first(void)
{
    struct msim_replica_rules rules = sglang();
    struct asked asked[] = {ask(50, 2, 0), ask(150, 1, 10)};

    serve(&rules, 4000, asked, 2);
    CHECK_TIMES(asked[0], 150, 610);
    CHECK_TIMES(asked[1], 500, 500);
}

/*
 * A and B, 100 in and 500 out, 1,040 tokens of memory. B wants 600. After k
 * steps A holds 100 + k and may want 499 - k, of which 0.7 - 0.602 k / 600
 * counts: 599.95 are left for k = 72, and 600.0016 for k = 73.
 * A's prompt 200, 73 steps of 110: 8,230; then B's prompt, 200.
 */
static void test_replica__counts_a_part_of_outputs(void)
{
    struct msim_replica_rules rules = sglang();
    struct asked asked[] = {ask(100, 500, 0), ask(100, 500, 0)};

    serve(&rules, 1040, asked, 2);
    CHECK_REL(asked[0].first, 200, 1e-12);
    CHECK_REL(asked[1].first, 8430, 1e-12);
}

/*
 * A and B, 10 in and 100 out, 190 tokens. Once A decodes, B's 110 fit beside
 * 10 + 0.7 x 99: prompts at 110 and 220. 85 steps of both fill the memory with
 * 95 tokens each: 220 + 85 x 120 = 10,420. Both have made 86; the later one, B,
 * is retracted. A goes on alone for 14: 11,960. B's 96 tokens again: 196, one
 * token, and 13 steps: 13,586.
 */
static void test_replica__retracts_the_least_made(void)
{
    struct msim_replica_rules rules = sglang();
    struct asked asked[] = {ask(10, 100, 0), ask(10, 100, 0)};

    serve(&rules, 190, asked, 2);
    CHECK_TIMES(asked[0], 110, 11960);
    CHECK_TIMES(asked[1], 220, 13586);
    CHECK_UINT(figures.preemptions, 1);
}

/* max_model_len cuts outputs, and refuses prompts that leave no room. */
static void test_replica__cuts_at_max_model_len(void)
{
    struct msim_llm_times times = {NULL, made_up_us, 4000, 0, 0};
    struct msim_replica_rules rules = vllm();
    struct asked asked[] = {ask(10, 50, 0)};
    struct msim_llm_request request = ask(12, 1, 0).request;
    struct msim_replica *r;

    rules.max_model_len = 12;
    serve(&rules, 4000, asked, 1);
    CHECK_TIMES(asked[0], 110, 220);
    REQUIRE(msim_replica_new(&r, &rules, &times) == MSIM_OK);
    CHECK(msim_replica_add(r, &request, 0) == MSIM_ELIMIT);
    msim_replica_free(r);
    rules.ranks = 0;
    CHECK(msim_replica_new(&r, &rules, &times) == MSIM_EUSAGE);
    CHECK(r == NULL);
}

static uint32_t drawn(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Whatever the policy: all of 3,000 requests under little memory end, each no
 * sooner than its own work alone would. */
static void test_replica__all_end(void)
{
    static uint64_t hashes[64];
    static struct asked asked[3000];

    for (uint32_t i = 0; i < 64; i++)
        hashes[i] = 500 + i;
    for (uint32_t kind = 0; kind < 8; kind++) {
        struct msim_replica_rules rules = vllm();
        uint32_t state = kind;

        rules.policy =
            kind < 5 ? MSIM_BATCH_MIXED : (enum msim_batch_policy)(kind % 3);
        rules.by_priority = kind == 1;
        rules.reserve_output = kind == 2;
        rules.chunked_prefill = kind != 2 && kind != 4;
        rules.ranks = kind == 3 ? 3 : 1;
        rules.prefix_caching = kind % 2;
        rules.max_num_seqs = 40;
        for (uint32_t i = 0; i < 3000; i++) {
            uint32_t first = drawn(&state, 8) * 8;

            asked[i] = ask_first(1 + drawn(&state, 90), 1 + drawn(&state, 60),
                                 i * 300.0, (int32_t)drawn(&state, 3));
            asked[i].request.hashes = hashes + first;
            asked[i].request.n_hashes = 8;
        }
        serve(&rules, 900, asked, 3000);
        for (uint32_t i = 0; i < 3000; i++) {
            const struct msim_llm_request *q = &asked[i].request;

            CHECK(asked[i].last >=
                  asked[i].at + 101 + 110.0 * (q->output_tokens - 1));
        }
        CHECK(figures.preemptions > 0 || kind == 2 || rules.policy == 2);
        CHECK((figures.hit_tokens > 0) == rules.prefix_caching);
    }
}

int main(void)
{
    RUN(test_replica__cuts_prompts_at_the_budget);
    RUN(test_replica__whole_prompts_wait_for_a_step);
    RUN(test_replica__runs_max_num_seqs);
    RUN(test_replica__preempts_the_last_to_arrive);
    RUN(test_replica__admits_nothing_beside_a_preemption);
    RUN(test_replica__preempts_the_least_important);
    RUN(test_replica__serves_the_important_first);
    RUN(test_replica__takes_prefixes_from_the_cache);
    RUN(test_replica__forgets_prefixes_for_room);
    RUN(test_replica__ranks_wait_for_the_slowest);
    RUN(test_replica__ranks_share_its_memory);
    RUN(test_replica__decodes_what_others_prefilled);
    RUN(test_replica__a_static_batch_waits_for_its_longest);
    RUN(test_replica__reserves_outputs);
    RUN(test_replica__static_batches_share_prefixes);
    RUN(test_replica__prompts_first);
    RUN(test_replica__counts_a_part_of_outputs);
    RUN(test_replica__retracts_the_least_made);
    RUN(test_replica__cuts_at_max_model_len);
    RUN(test_replica__all_end);
    return check_summary();
}

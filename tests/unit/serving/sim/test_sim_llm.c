/*
 * LLM and model stages in a flow: steps of 10 ms whatever is in them, passes of
 * 1 ms a token of the batch.
 */
#include "tests/unit/serving/sim/made_run.h"

#define CHECK_MS(got, want) CHECK_REL(got, want, 1e-9)

static double ten_ms(void *ctx, const struct msim_llm_step *step)
{
    (void)ctx;
    return step->decode_seqs || step->n_chunks ? 10000 : 0;
}

static double one_ms_a_token(void *ctx, const struct msim_llm_step *step)
{
    uint64_t tokens = 0;

    (void)ctx;
    for (uint32_t i = 0; i < step->n_chunks; i++)
        tokens += step->chunks[i].tokens;
    return 1000 * (double)tokens;
}

static const char MORE[] =
    "'classes': [{'name': 'all', 'share': 1, 'input_tokens': 100, "
    "'output_tokens': 3}], 'arrivals': {'process': 'poisson', 'rate': 1}, ";

static const char STAGES[] =
    "'gate': {'kind': 'tool', 'workers': 9, 'call': 'queue', 'service': 1}, "
    "'llm': {'kind': 'llm', 'model': 'llama3-8b', 'platform': 'h100', "
    "'replicas': 1}";

static const char *stages = STAGES;

static struct msim_serving_llm made_llm(uint32_t seqs)
{
    return (struct msim_serving_llm){
        .serve = {.policy = MSIM_BATCH_MIXED,
                  .chunked_prefill = true,
                  .prefix_caching = true,
                  .max_num_seqs = seqs,
                  .max_num_batched_tokens = 2048,
                  .block_size = 16,
                  .ranks = 1},
        .serve_times = {.step_us = ten_ms, .kv_tokens = 16000},
        .serve_replicas = 1};
}

static void run_llm(struct made_run *m, const char *log, uint32_t seqs,
                    struct msim_serving_how how)
{
    struct msim_serving_llm llm = made_llm(seqs);
    static char path[128];

    memset(m, 0, sizeof(*m));
    made_put("log.csv", log);
    snprintf(path, sizeof(path), "%s", made_path("log.csv"));
    how.log = path;
    REQUIRE(made_read(&m->app, MORE, stages,
                      "'start': 'gate', 'edges': [{'from': 'gate', 'to': "
                      "'llm'}]") == MSIM_OK);
    REQUIRE(msim_serving_new(&m->sim, &m->app, &made_error) == MSIM_OK);
    REQUIRE(msim_serving_set_llm(m->sim, 1, &llm) == MSIM_OK);
    REQUIRE(msim_serving_run(m->sim, &how, &m->r, &made_error) == MSIM_OK);
}

static double first_ms(const struct made_run *m, uint64_t i)
{
    return (double)(m->r.requests[i].first - m->r.requests[i].arrived) / 1e9;
}

/* Gate 0 to 1; steps 1 to 11 (the prompt: one token), 11 to 21, 21 to 31. The
 * second is at the llm at 6, waits for the step to end: 11 to 21 its prompt,
 * 31, 41. */
static void test_sim_llm__steps_are_shared(void)
{
    struct made_run m;

    run_llm(&m, "t_s\n0\n0.005\n", 8, (struct msim_serving_how){0});
    CHECK_MS(first_ms(&m, 0), 11);
    CHECK_MS(made_ms(&m, 0), 31);
    CHECK_MS(first_ms(&m, 1), 16);
    CHECK_MS(made_ms(&m, 1), 36);
    CHECK_MS(m.r.stages[1].critical_ps, 65e9);
    CHECK(m.r.stages[1].llm.is_llm);
    CHECK_MS(m.r.stages[1].llm.step_ms, 10);
    CHECK_MS(m.r.stages[1].llm.batch_mean, 6.0 / 4);
    made_run_end(&m);
}

/* One place: the second, there at 6, begins when the first has ended, at 31.
 * Two replicas: neither waits. */
static void test_sim_llm__places_and_replicas(void)
{
    int64_t two[] = {1, 2};
    struct made_run m;

    run_llm(&m, "t_s\n0\n0.005\n", 1, (struct msim_serving_how){0});
    CHECK_MS(first_ms(&m, 1), 36);
    CHECK_MS((double)m.r.requests[1].queued, 25e9);
    CHECK_MS(made_ms(&m, 1), 56);
    made_run_end(&m);
    run_llm(&m, "t_s\n0\n0.005\n", 1,
            (struct msim_serving_how){.replicas = two});
    CHECK_MS(first_ms(&m, 1), 11);
    CHECK_MS(made_ms(&m, 1), 31);
    made_run_end(&m);
}

/* The second of two replicas is gone before the second request comes, which
 * waits as if there were one; it came back for the third, there at 26. */
static void test_sim_llm__absent_replicas(void)
{
    static const char TWO[] =
        "'gate': {'kind': 'tool', 'workers': 9, 'call': 'queue', 'service': 1},"
        " 'llm': {'kind': 'llm', 'model': 'llama3-8b', 'platform': 'h100', "
        "'replicas': 2, 'routing': 'least', "
        "'absent': [{'from_s': 0.0055, 'until_s': 0.02}]}";
    struct made_run m;

    stages = TWO;
    run_llm(&m, "t_s\n0\n0.005\n0.025\n", 1, (struct msim_serving_how){0});
    stages = STAGES;
    CHECK_MS(made_ms(&m, 0), 31);
    CHECK_MS(made_ms(&m, 1), 56);
    CHECK_MS(made_ms(&m, 2), 31);
    made_run_end(&m);
}

/* Free of time it answers at once, and has no tokens. */
static void test_sim_llm__free(void)
{
    struct made_run m;

    run_llm(&m, "t_s\n0\n0.005\n", 1,
            (struct msim_serving_how){.free_stage_1 = 2});
    CHECK_MS(made_ms(&m, 0), 1);
    CHECK_MS(made_ms(&m, 1), 1);
    CHECK(m.r.requests[0].first == MSIM_TIME_NONE);
    made_run_end(&m);
}

/* Prompts longer than the cache never end, and the run does. */
static void test_sim_llm__what_fits_nowhere(void)
{
    struct made_run m;

    run_llm(&m, "t_s,input_tokens,output_tokens\n0,20000,3\n0.1,100,3\n", 8,
            (struct msim_serving_how){.keep = MSIM_KEEP_WINDOWS});
    CHECK(m.r.requests[0].ended == MSIM_TIME_NONE);
    CHECK_MS(made_ms(&m, 1), 31);
    CHECK_REL(msim_serving_within(&m.r, MSIM_NONE, 100), 0.5, 1e-9);
    made_run_end(&m);
}

/* An answer that the cache has no room for ends there, and has those tokens. */
static void test_sim_llm__cut_answers(void)
{
    struct made_run m;

    run_llm(&m, "t_s,input_tokens,output_tokens\n0,15900,300\n60,15900,3\n", 8,
            (struct msim_serving_how){0});
    CHECK(m.r.requests[0].cut);
    CHECK(m.r.requests[0].ended != MSIM_TIME_NONE);
    CHECK_UINT(m.r.requests[0].output_tokens, 101);
    CHECK(!m.r.requests[1].cut);
    CHECK_UINT(m.r.requests[1].output_tokens, 3);
    made_run_end(&m);
}

/* Places for two, a step of 10 ms, three steps a request: 2 in 30 ms. */
static void test_sim_llm__capacity(void)
{
    struct made_run m;
    double visits, tokens;

    run_llm(&m, "t_s\n0\n0.005\n", 2, (struct msim_serving_how){0});
    CHECK(msim_serving_llm_capacity(m.sim, 1, &visits, &tokens, &made_error) ==
          MSIM_OK);
    CHECK_REL(visits, 2 / 0.03, 1e-9);
    CHECK_REL(tokens, 6 / 0.03, 1e-9);
    made_run_end(&m);
}

/* Batches of two: 100 tokens each, 200 ms. The third is alone: 100. */
static void test_sim_llm__a_pass_of_a_model(void)
{
    struct msim_llm_times times = {.step_us = one_ms_a_token};
    struct msim_serving_how how = {0};
    struct made_run m = {0};
    static char path[128];

    made_put("log.csv", "t_s\n0\n0\n1\n");
    snprintf(path, sizeof(path), "%s", made_path("log.csv"));
    how.log = path;
    REQUIRE(made_read(&m.app, MORE,
                      "'embed': {'kind': 'model', 'model': 'bert-large', "
                      "'platform': 'a100', 'batching': {'policy': 'dynamic', "
                      "'max_batch': 2, 'max_wait_ms': 5}}",
                      "'start': 'embed'") == MSIM_OK);
    REQUIRE(msim_serving_new(&m.sim, &m.app, &made_error) == MSIM_OK);
    REQUIRE(msim_serving_set_model(m.sim, 0, &times) == MSIM_OK);
    REQUIRE(msim_serving_run(m.sim, &how, &m.r, &made_error) == MSIM_OK);
    CHECK_MS(made_ms(&m, 0), 200);
    CHECK_MS(made_ms(&m, 1), 200);
    CHECK_MS(made_ms(&m, 2), 105);
    made_run_end(&m);
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "log.csv", NULL};

    made_begin();
    RUN(test_sim_llm__steps_are_shared);
    RUN(test_sim_llm__places_and_replicas);
    RUN(test_sim_llm__absent_replicas);
    RUN(test_sim_llm__free);
    RUN(test_sim_llm__what_fits_nowhere);
    RUN(test_sim_llm__cut_answers);
    RUN(test_sim_llm__capacity);
    RUN(test_sim_llm__a_pass_of_a_model);
    made_end(FILES);
    return check_summary();
}

/* The law of served models: its file, its names, its reading of closed loops.
 */
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static struct msim_error err;

static void test_llm_law__is_shipped(void)
{
    struct msim_llm_law law;

    REQUIRE(msim_llm_law_load(&law, MSIM_DATA, &err) == MSIM_OK);
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        CHECK(law.engines[e]);
        CHECK(law.host_us[e] > 50 && law.host_us[e] < 2000);
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            CHECK(law.factor[e][p] > 0.3 && law.factor[e][p] < 3);
    }
    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        CHECK(law.half[f].seen > 0);
        CHECK(law.half[f].other_model >= law.half[f].seen);
        CHECK(law.half[f].other >= law.half[f].other_gpu);
    }
}

static void test_llm_law__names_what_is_wrong(void)
{
    char path[] = "msim-test-law-XXXXXX";
    int fd = mkstemp(path);
    struct msim_llm_law law;
    const char *text = "{\"engines\": {\"vllm\": {\"host_us\": -3}}}";

    REQUIRE(fd >= 0);
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    err = (struct msim_error){0};
    CHECK(msim_llm_law_read(&law, path, &err) == MSIM_EFORMAT);
    CHECK(strstr(err.text, "engines.vllm.host_us") != NULL);
    unlink(path);
}

/* One prompt's prefill of 20 ms, a step of 10 ms, 101 tokens out. */
static void test_llm_law__reads_closed_loops(void)
{
    struct msim_closed_loop loop = {1000, 101, 1, 0};
    struct msim_closed_loop_answer a;
    struct msim_llm_law law;

    msim_llm_law_init(&law);
    law.first_wave[0] = 1;
    law.arrival_us[0] = 0;
    /* alone: no other's prompt in between, no queue */
    msim_loop_figures(&a, &law, (enum msim_llm_engine)0, &loop, 1, 20000,
                      10000);
    CHECK_REL(a.tpot_ms, 10, 1e-12);
    CHECK_REL(a.ttft_ms, 20, 1e-12);
    /* five at once: the k-th waits for k prompts, 60 ms in the mean; half of
     * the four others' prompts come after one's own */
    loop.seqs = 5;
    msim_loop_figures(&a, &law, (enum msim_llm_engine)0, &loop, 1, 20000,
                      10000);
    CHECK_REL(a.ttft_ms, 60, 1e-12);
    CHECK_REL(a.tpot_ms, 10 + 0.5 * 4 * 20 / 100, 1e-12);
    /* as many wait as are served: each waits for one answer */
    loop.waiting = 5;
    msim_loop_figures(&a, &law, (enum msim_llm_engine)0, &loop, 1, 20000,
                      10000);
    CHECK_REL(a.ttft_ms, 60 + 60 + 100 * a.tpot_ms, 1e-12);
}

/* Sequences are as many as the cache holds: 1,000 + 500 / 2 tokens each. */
static void test_llm_law__caches_bound_loops(void)
{
    struct msim_llm_rank r = {.s = {.engine = MSIM_LLM_VLLM, .dp = 1}};
    struct msim_closed_loop loop =
        msim_closed_loop_of(&r, 12600, 0, 1000, 500, 64);

    CHECK(loop.seqs == 10 && loop.waiting == 54);
    loop = msim_closed_loop_of(&r, 1 << 30, 8, 1000, 500, 64);
    CHECK(loop.seqs == 8 && loop.waiting == 56);
    r.s.engine = MSIM_LLM_TRTLLM; /* keeps room for all of an answer */
    loop = msim_closed_loop_of(&r, 12600, 0, 1000, 500, 64);
    CHECK(loop.seqs == 8);
}

static void test_llm_law__finds_models(void)
{
    static const struct {
        const char *name, *file;
    } CASES[] = {{"meta-llama/Meta-Llama-3-8B-Instruct", "llama3-8b.json"},
                 {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3.json"},
                 {"Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b.json"},
                 {"nvidia/Llama-3.1-405B-Instruct-FP8", "llama3.1-405b.json"},
                 {"openai/gpt-oss-120b", "gpt-oss-120b.json"}};
    char path[4096];

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        REQUIRE(msim_model_name_find(path, sizeof(path), MSIM_DATA "/models",
                                     MSIM_DATA, CASES[i].name,
                                     MSIM_MODEL_REST_ANY, &err) == MSIM_OK);
        CHECK_STR(strrchr(path, '/') + 1, CASES[i].file);
    }
    CHECK(msim_model_name_find(path, sizeof(path), MSIM_DATA "/models",
                               MSIM_DATA, "nobody/Other-7B",
                               MSIM_MODEL_REST_ANY, &err) == MSIM_EUNKNOWN);
}

int main(void)
{
    RUN(test_llm_law__is_shipped);
    RUN(test_llm_law__names_what_is_wrong);
    RUN(test_llm_law__reads_closed_loops);
    RUN(test_llm_law__caches_bound_loops);
    RUN(test_llm_law__finds_models);
    return check_summary();
}

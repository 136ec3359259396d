/* plan/describe/model_names.c: names as makers and people write them, and what
 * the models that they mean have. */
#include "plan/describe/describe.h"
#include "tests/check.h"

#include <string.h>

static struct msim_error err;

/* The file that a name means without its folder; "": none. */
static const char *meant(const char *name, enum msim_model_rest rest)
{
    static char path[4096];

    if (msim_model_name_find(path, sizeof(path), MSIM_DATA "/models", MSIM_DATA,
                             name, rest, &err) != MSIM_OK)
        return "";
    return strrchr(path, '/') + 1;
}

static void test_model_names__as_written(void)
{
    static const struct {
        const char *name, *file;
    } CASES[] = {
        {"meta-llama/Llama-3.1-8B-Instruct", "llama3.1-8b.json"},
        {"Meta-Llama-3-70B", "llama3-70b.json"},
        {"llama_3_8b", "llama3-8b.json"},
        {"meta-llama/Llama-2-7b-chat-hf", "llama2-7b.json"},
        {"mistralai/Mistral-7B-Instruct-v0.2", "mistral-7b.json"},
        {"Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "qwen3-235b-a22b.json"},
        {"google-bert/bert-base-uncased", "bert-base.json"},
        {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3.json"},
        {"DeepSeek-R1-Distill-Llama-3.1-8B", "llama3.1-8b.json"},
        {"gpt2-xl", "gpt2-xl.json"},
        {"GPT2", "gpt2.json"},
        /* no guess: another size or version is another model */
        {"gpt2-xxl", ""},
        {"llama-3.1", ""},
        {"deepseek-v3.1", ""},
        {"qwen3-8b-vl", ""},
        {"llama3-8b-25", ""},
        {"llama3-8b-v", ""},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(meant(CASES[i].name, MSIM_MODEL_REST_KNOWN), CASES[i].file);
    CHECK_STR(meant("llama-3.1-8b-w4a16-ours", MSIM_MODEL_REST_ANY),
              "llama3.1-8b.json");
}

/* Billions, as the makers print them. */
static void test_model_names__sizes(void)
{
    static const struct {
        const char *name;
        double billions;
    } CASES[] = {
        {"Llama-2-7b", 6.74},     {"Llama-2-13b", 13.02},
        {"Llama-2-70b", 68.98},   {"Llama-3.1-8B", 8.03},
        {"Llama-3.1-70B", 70.55}, {"Llama-3.2-1B", 1.24},
        {"Llama-3.3-70B", 70.55}, {"Mistral-7B", 7.24},
        {"Mixtral-8x7B", 46.7},   {"Mixtral-8x22B", 140.6},
        {"Qwen2.5-0.5B", 0.494},  {"Qwen2.5-1.5B", 1.54},
        {"Qwen2.5-3B", 3.09},     {"Qwen2.5-7B", 7.62},
        {"Qwen2.5-14B", 14.77},   {"Qwen2.5-32B", 32.76},
        {"Qwen2.5-72B", 72.71},   {"Qwen3-0.6B", 0.596},
        {"Qwen3-1.7B", 1.72},     {"Qwen3-4B", 4.02},
        {"Qwen3-8B", 8.19},       {"Qwen3-14B", 14.77},
        {"Qwen3-32B", 32.76},     {"phi-4", 14.66},
        {"gemma2-9b", 9.24},      {"gemma2-27b", 27.23},
        {"gpt-oss-20b", 20.91},   {"gpt3-175b", 174.6},
    };
    struct msim_described m;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        REQUIRE(msim_described_find(&m, CASES[i].name, MSIM_DATA, NULL, &err) ==
                MSIM_OK);
        CHECK_REL(msim_described_parameters(&m) / 1e9, CASES[i].billions, 0.01);
    }
}

static void test_model_names__or_paths(void)
{
    struct msim_described m;

    CHECK(msim_described_may_be_name("Qwen/Qwen3-8B"));
    CHECK(msim_described_may_be_name("gpt2"));
    CHECK(!msim_described_may_be_name("Qwen/Qwen3-8B.json"));
    CHECK(!msim_described_may_be_name("./Qwen3-8B"));
    CHECK(!msim_described_may_be_name("/Qwen3-8B"));
    CHECK(!msim_described_may_be_name("a/b/c"));
    CHECK(msim_described_is("Qwen/Qwen3-8B", MSIM_DATA));
    CHECK(!msim_described_is("nobody/Other-7B", MSIM_DATA));
    err = (struct msim_error){0};
    CHECK_INT(msim_described_find(&m, "nobody/Other-7B", MSIM_DATA, NULL, &err),
              MSIM_EIO);
    CHECK_STR(err.file, "nobody/Other-7B");
}

int main(void)
{
    RUN(test_model_names__as_written);
    RUN(test_model_names__sizes);
    RUN(test_model_names__or_paths);
    return check_summary();
}

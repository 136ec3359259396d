/* serving/llm/llm_words.c and plan/describe/model_names.c: every word of
 * engines, of types of weights, and what names of models stand for. */
#include "plan/describe/describe.h"
#include "serving/llm/llm.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_llm_words__engines(void)
{
    static const char *const WORDS[] = {"vllm", "sglang", "trtllm"};

    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        CHECK_STR(msim_llm_engine_text((enum msim_llm_engine)e), WORDS[e]);
        CHECK_INT(msim_llm_engine_parse(WORDS[e]), e);
    }
    CHECK_INT(msim_llm_engine_parse("SGLang"), MSIM_LLM_SGLANG);
    CHECK_INT(msim_llm_engine_parse("tgi"), MSIM_LLM_ENGINES);
    CHECK_INT(msim_llm_engine_parse(""), MSIM_LLM_ENGINES);
    CHECK_INT(msim_llm_engine_parse(NULL), MSIM_LLM_ENGINES);
}

static void test_llm_words__types(void)
{
    static const struct {
        const char *word;
        enum msim_quant is;
    } OTHERS[] = {
        {"auto", MSIM_QUANT_OWN},
        {"bfloat16", MSIM_QUANT_BF16},
        {"fp16", MSIM_QUANT_BF16},
        {"float16", MSIM_QUANT_BF16},
        {"half", MSIM_QUANT_BF16},
        {"fp8_e4m3", MSIM_QUANT_FP8},
        {"fp8_e5m2", MSIM_QUANT_FP8},
        {"int8", MSIM_QUANT_INT8},
        {"w8a16", MSIM_QUANT_INT8},
        {"int4", MSIM_QUANT_INT4},
        {"w4a16", MSIM_QUANT_INT4},
        {"awq", MSIM_QUANT_INT4},
        {"gptq", MSIM_QUANT_INT4},
        {"fp4", MSIM_QUANT_NVFP4},
        {"w4a16_mxfp4", MSIM_QUANT_MXFP4},
        {"BF16", MSIM_QUANT_BF16},
        {"Auto", MSIM_QUANT_OWN},
        {"fp6", MSIM_QUANTS},
        {"bf", MSIM_QUANTS},
        {NULL, MSIM_QUANT_OWN},
    };
    static const char *const OWN[] = {"",      "bf16",  "fp8",     "fp8_block",
                                      "nvfp4", "mxfp4", "int8_wo", "int4_wo"};

    for (int q = 0; q < MSIM_QUANTS; q++) {
        CHECK_STR(msim_quant_text((enum msim_quant)q), OWN[q]);
        CHECK_INT(msim_quant_parse(OWN[q]), q);
    }
    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++)
        CHECK_INT(msim_quant_parse(OTHERS[i].word), OTHERS[i].is);
}

/* ---- names of models ----------------------------------------------------- */

static char folder[] = "msim-test-models-XXXXXX";
static struct msim_error err;

/* An empty file of that name in the folder, or away with it. */
static void file(const char *name, bool there)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (!there) {
        CHECK_INT(unlink(path), 0);
        return;
    }
    f = fopen(path, "w");
    if (CHECK(f != NULL))
        fclose(f);
}

/* The file's name, "" where there is none. */
static const char *found(const char *name)
{
    static char path[256];

    err = (struct msim_error){0};
    if (msim_model_name_find(path, sizeof(path), folder, MSIM_DATA, name,
                             MSIM_MODEL_REST_ANY, &err) != MSIM_OK)
        return "";
    CHECK(strncmp(path, folder, strlen(folder)) == 0);
    return strrchr(path, '/') + 1;
}

static const char *const FILES[] = {
    "llama-3.1-8b.json", "llama-3.1.json", "deepseek-v3.json", "kimi-k2.5.json",
    "qwen2.5-7b.json",   "x.json",         "gpt-oss-20b.txt",  ".json",
};

static void test_llm_words__models(void)
{
    static const struct {
        const char *name, *file;
    } CASES[] = {
        {"llama-3.1-8b", "llama-3.1-8b.json"},
        {"meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b.json"},
        {"a/b/LLAMA_3_1_8B", "llama-3.1-8b.json"},
        {"Meta-Llama-3.1-70B", "llama-3.1.json"}, /* the longest that fits */
        {"deepseek-ai/DeepSeek-R1-0528", "deepseek-v3.json"},
        {"DeepSeek-V3", "deepseek-v3.json"},
        {"Kimi-K2-Thinking", "kimi-k2.5.json"},
        {"Kimi-K2-Instruct-0905", "kimi-k2.5.json"},
        /* a distilled model has the shape of what it was distilled to */
        {"DeepSeek-R1-Distill-Qwen2.5-7B", "qwen2.5-7b.json"},
        {"X-1", "x.json"},
        {"gpt-oss-20b", ""}, /* no .json */
        {"lama-3.1-8b", ""},
    };

    REQUIRE(mkdtemp(folder) != NULL);
    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++)
        file(FILES[i], true);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(found(CASES[i].name), CASES[i].file);
    CHECK_STR(found("llama"), "");
    CHECK_INT(err.status, MSIM_EUNKNOWN);
    CHECK_STR(err.text, "no file for the model 'llama', want one that its name "
                        "begins with");
    CHECK_STR(err.file, folder);
    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++)
        file(FILES[i], false);
    CHECK_INT(rmdir(folder), 0);
    CHECK_STR(found("llama"), "");
    CHECK_INT(err.status, MSIM_EIO);
    CHECK_STR(err.text, "cannot read the folder: No such file or directory");
}

int main(void)
{
    RUN(test_llm_words__engines);
    RUN(test_llm_words__types);
    RUN(test_llm_words__models);
    return check_summary();
}

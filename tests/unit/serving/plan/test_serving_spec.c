/* serving/plan/serving_spec.c: the question of a plan of serving, its
 * configurations as applications, and what is refused by the spec's own
 * members. */
#include "serving/plan/serving_choice.h"
#include "tests/check.h"

#include <math.h>

static struct msim_error err;
static struct msim_serving_spec spec;

/* Its text uses ' for ". "" or what is wrong. */
static const char *read_text(const char *text)
{
    char json[4096];
    enum msim_status status;
    size_t n = 0;

    for (; *text && n + 1 < sizeof(json); text++)
        json[n++] = *text == '\'' ? '"' : *text;
    json[n] = '\0';
    msim_serving_spec_release(&spec);
    err = (struct msim_error){0};
    status = msim_serving_spec_of_json(&spec, cJSON_Parse(json), "spec.json",
                                       MSIM_DATA, &err);
    CHECK_INT(status, err.status);
    CHECK((status == MSIM_OK) == (spec.json != NULL)); /* holds nothing */
    return err.text;
}

#define MODEL "'workload': 'serving', 'model': 'llama3-8b', "
#define RATE  "'rate': 10, "
#define LONG  "'input_tokens': 100, 'output_tokens': 10, "
#define SLO   "'slo': [{'metric': 'ttft', 'percentile': 90, 'limit_ms': 500}], "
#define ON    "'platforms': ['h100']"

/* A usual spec with those members behind. */
static const char *with(const char *members)
{
    char text[3500];

    snprintf(text, sizeof(text), "{" MODEL RATE LONG SLO ON "%s%s}",
             *members ? ", " : "", members);
    return read_text(text);
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- what it says -------------------------------------------------------- */

static void test_serving_spec__usual(void)
{
    CHECK_STR(with(""), "");
    CHECK_STR(spec.file, "spec.json");
    CHECK_STR(spec.model, "llama3-8b");
    CHECK_STR(spec.currency, "USD");
    CHECK_REL(spec.rate, 10, 0);
    CHECK_REL(spec.cv, 1, 0);
    CHECK_INT(spec.n_platforms, 1);
    CHECK_STR(spec.platforms[0].name, "h100");
    CHECK(isnan(spec.platforms[0].price) && isnan(spec.platforms[0].power_w));
    CHECK(isinf(spec.most_gpus) && isinf(spec.most_cost));
    CHECK_INT(spec.requests, 0);
    CHECK_INT(spec.seed, 0);
    CHECK_INT(msim_serving_spec_configs(&spec), 4); /* tp 1, 2, 4, 8 */
    for (uint32_t i = 0; i < 4; i++) {
        const cJSON *v = msim_serving_spec_value(&spec, i, MSIM_SERVING_TP);

        CHECK_INT(v->valueint, 1 << i);
        CHECK(!msim_serving_spec_value(&spec, i, MSIM_SERVING_PP));
        CHECK_INT(msim_serving_spec_platform(&spec, i), 0);
    }
    CHECK_STR(msim_serving_dimension_text(MSIM_SERVING_TP), "tp");
    CHECK_STR(msim_serving_dimension_text(MSIM_SERVING_LENGTH),
              "max_model_len");
}

static void test_serving_spec__members(void)
{
    CHECK_STR(
        read_text("{" MODEL LONG SLO
                  "'arrivals': {'process': 'gamma', 'rate': 1e7, 'cv': 100}, "
                  "'currency': 'EUR', 'requests': 100, 'seed': "
                  "9007199254740992, 'limits': {'gpus': 16, 'cost_per_hour': "
                  "2.5}, 'platforms': [{'name': 'a100', 'price_per_gpu_hour': "
                  "1.5, 'power_w': 500}, 'h100'], 'tp': 2}"),
        "");
    CHECK_REL(spec.rate, 1e7, 0);
    CHECK_REL(spec.cv, 100, 0);
    CHECK_STR(spec.currency, "EUR");
    CHECK_INT(spec.requests, 100);
    CHECK_INT(spec.seed, INT64_C(9007199254740992));
    CHECK_REL(spec.most_gpus, 16, 0);
    CHECK_REL(spec.most_cost, 2.5, 0);
    CHECK_STR(spec.platforms[0].name, "a100");
    CHECK_REL(spec.platforms[0].price, 1.5, 0);
    CHECK_REL(spec.platforms[0].power_w, 500, 0);
    CHECK_INT(msim_serving_spec_configs(&spec), 2);
    CHECK_STR(read_text("{" MODEL LONG SLO ON
                        ", 'arrivals': {'process': 'constant'}, 'rate': 5}"),
              "");
    CHECK_REL(spec.cv, 0, 0);
    CHECK_REL(spec.rate, 5, 0);
    CHECK_STR(read_text("{" MODEL RATE LONG SLO ON
                        ", 'arrivals': {'process': 'gamma', 'rate': 0.001}}"),
              "");
    CHECK_REL(spec.cv, 1, 0);
    CHECK_REL(spec.rate, 0.001, 0);
}

/* Two GPUs, two values of tp, two of precision, three of sequences: the last
 * dimension is the fastest, the GPU the slowest. */
static void test_serving_spec__configurations(void)
{
    CHECK_STR(read_text("{" MODEL RATE LONG SLO
                        "'platforms': ['a100', 'h100'], 'tp': [1, 2], "
                        "'precision': [null, 'fp8'], 'max_num_seqs': [5, 6, "
                        "7]}"),
              "");
    CHECK_INT(msim_serving_spec_configs(&spec), 24);
    for (uint32_t i = 0; i < 24; i++) {
        const cJSON *v =
            msim_serving_spec_value(&spec, i, MSIM_SERVING_PRECISION);

        CHECK_INT(msim_serving_spec_platform(&spec, i), i / 12);
        CHECK_INT(msim_serving_spec_value(&spec, i, MSIM_SERVING_TP)->valueint,
                  1 + i / 6 % 2);
        if (i / 3 % 2)
            CHECK_STR(cJSON_GetStringValue(v), "fp8");
        else
            CHECK(!v);
        CHECK_INT(
            msim_serving_spec_value(&spec, i, MSIM_SERVING_SEQS)->valueint,
            5 + i % 3);
    }
}

/* An application of one stage, whose replica is the configuration. */
static void test_serving_spec__as_an_application(void)
{
    const struct msim_stage *s;
    struct msim_app app;

    CHECK_STR(
        read_text("{" MODEL RATE LONG SLO
                  "'platforms': [{'name': 'h100', 'price_per_gpu_hour': 2.5, "
                  "'power_w': 900}], 'tp': [1, 2], 'pp': 3, 'dp': 4, 'ep': 2, "
                  "'precision': 'fp8', 'kv_cache_dtype': 'fp8', 'engine': "
                  "'sglang', 'max_num_seqs': 5, 'max_num_batched_tokens': 600, "
                  "'enable_chunked_prefill': false, 'enable_prefix_caching': "
                  "false, 'block_size': 7, 'gpu_memory_utilization': 0.5, "
                  "'max_model_len': 500}"),
        "");
    REQUIRE(msim_serving_spec_app(&app, &spec, 1, &err) == MSIM_OK);
    CHECK_REL(app.arrivals.rate, 10, 0);
    CHECK_INT(app.arrivals.process, MSIM_ARRIVAL_GAMMA);
    CHECK_REL(app.arrivals.cv, 1, 0);
    CHECK_INT(app.n_classes, 1);
    CHECK_STR(app.classes[0].name, "all");
    CHECK_REL(app.classes[0].share, 1, 0);
    CHECK_REL(app.classes[0].input_tokens.mean, 100, 0);
    CHECK_REL(app.classes[0].output_tokens.mean, 10, 0);
    CHECK_INT(app.n_promises, 1);
    CHECK_INT(app.promises[0].metric, MSIM_PROMISE_TTFT);
    REQUIRE(app.n_stages == 1);
    s = app.stages;
    CHECK_INT(s->kind, MSIM_STAGE_LLM);
    CHECK_INT(s->call, MSIM_CALL_QUEUE);
    CHECK_INT(s->replicas, 1);
    CHECK_STR(s->model, "llama3-8b");
    CHECK_STR(s->platform, "h100");
    CHECK_REL(s->price_per_hour, 2.5, 0);
    CHECK_REL(s->power_w, 900, 0);
    CHECK_INT(s->parallel.tp, 2);
    CHECK_INT(s->parallel.pp, 3);
    CHECK_INT(s->parallel.dp, 4);
    CHECK_INT(s->parallel.ep, 2);
    CHECK_INT(s->precision, MSIM_QUANT_FP8);
    CHECK_INT(s->kv_cache, MSIM_QUANT_FP8);
    CHECK_INT(s->engine.engine, MSIM_LLM_SGLANG);
    CHECK_INT(s->engine.max_num_seqs, 5);
    CHECK_INT(s->engine.max_num_batched_tokens, 600);
    CHECK(!s->engine.chunked_prefill && !s->engine.prefix_caching);
    CHECK_INT(s->engine.block_size, 7);
    CHECK_REL(s->engine.gpu_memory_utilization, 0.5, 0);
    CHECK_INT(s->engine.max_model_len, 500);
    msim_app_release(&app);
    CHECK_STR(read_text("{" MODEL RATE SLO ON
                        ", 'classes': [{'name': 'x', 'share': 0.5, "
                        "'input_tokens': 1, 'output_tokens': 1}, {'name': "
                        "'y', 'share': 0.5, 'input_tokens': 2, "
                        "'output_tokens': 2}]}"),
              "");
    REQUIRE(msim_serving_spec_app(&app, &spec, 0, &err) == MSIM_OK);
    CHECK_INT(app.n_classes, 2);
    CHECK(isnan(app.stages[0].price_per_hour));
    msim_app_release(&app);
}

static bool is_serving(const char *json)
{
    cJSON *read = cJSON_Parse(json);
    bool is = msim_serving_spec_is(read);

    cJSON_Delete(read);
    return is;
}

static void test_serving_spec__is_told(void)
{
    CHECK(is_serving("{\"workload\": \"serving\"}"));
    CHECK(!is_serving("{\"workload\": \"training\"}"));
    CHECK(!is_serving("{}"));
    CHECK(!is_serving("[\"workload\"]"));
    CHECK(!msim_serving_spec_is(NULL));
}

/* ---- what is refused ----------------------------------------------------- */

static void test_serving_spec__refuses_members(void)
{
    static const struct {
        const char *members, *says;
    } CASES[] = {
        {"'modle': 1", "modle is not known, did you mean model?"},
        {"'classes': []", "input_tokens is 100, want none beside \"classes\""},
        {"'requests': 99", "requests is 99, want a number from 100 to 1000000"},
        {"'seed': -1", "seed is -1, want a number from 0 to 9.007199255e+15"},
        {"'arrivals': {'cv': 2}",
         "arrivals.cv is 2, want it with \"process\": \"gamma\" alone"},
        {"'arrivals': {'process': 'constant', 'cv': 1}",
         "arrivals.cv is 1, want it with \"process\": \"gamma\" alone"},
        {"'arrivals': {'process': 'closed'}",
         "arrivals.process is \"closed\", want poisson, gamma or constant"},
        {"'arrivals': {'process': 'gamma', 'cv': 0.0009}",
         "arrivals.cv is 0.0009, want a number from 0.001 to 100"},
        {"'arrivals': {'rate': 0.0009}",
         "arrivals.rate is 0.0009, want a number from 0.001 to 10000000"},
        {"'arrivals': 3", "arrivals is 3, want an object"},
        {"'tp': []", "tp is [], want a value, or an array of 1 to 24 of them"},
        {"'limits': {'gpus': 0}", "limits.gpus is 0, want a number above 0"},
        {"'limits': {'days': 1}",
         "limits.days is not known, want gpus or cost_per_hour"},
        {"'most_points': 3",
         "the spec has 4 configurations, and \"most_points\" is 3: give fewer "
         "values, or a larger bound"},
        {"'most_points': 1000001",
         "most_points is 1000001, want a number from 1 to 1000000"},
        /* as applications have them, by the spec's own path */
        {"'tp': [1, 0]", "tp[1] is 0, want a whole number from 1"},
        {"'tp': 4097", "tp is 4097, want at most 4096"},
        {"'tp': [1, 2], 'pp': [1, 2, 0]",
         "pp[2] is 0, want a whole number from 1"},
        {"'max_num_seqs': [1, 2, 'x'], 'block_size': [1, 2]",
         "max_num_seqs[2] is \"x\", want a whole number from 1"},
        {"'precision': ['fp8', 'fp6']",
         "precision[1] is \"fp6\", want bf16, fp8, fp8_block, nvfp4, mxfp4, "
         "int8 or int4"},
        {"'engine': 'tgi'", "engine is \"tgi\", want vllm, sglang or trtllm"},
        {"'gpu_memory_utilization': [0.9, 2]",
         "gpu_memory_utilization[1] is 2, want a number from 0.01 to 1"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++)
        CHECK_STR(with(CASES[i].members), CASES[i].says);
    CHECK_STR(with("'most_points': 4"), "");
}

static void test_serving_spec__refuses(void)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"[]", "this is not a JSON object, want a plan's spec"},
        {"{" RATE LONG SLO ON "}",
         "model is missing, want a name of data/models, or a config.json"},
        {"{" MODEL LONG SLO ON "}", "rate is missing, want requests a second"},
        {"{" MODEL RATE SLO ON "}",
         "input_tokens is missing, want a number of tokens, a distribution of "
         "it, or \"classes\""},
        {"{" MODEL RATE "'input_tokens': 1, " SLO ON "}",
         "output_tokens is missing, want a number of tokens, a distribution of "
         "it, or \"classes\""},
        {"{" MODEL RATE LONG ON "}",
         "slo is missing, want promises: [{\"metric\": \"ttft\", "
         "\"percentile\": 90, \"limit_ms\": 500}]"},
        {"{" MODEL RATE LONG ON ", 'slo': []}",
         "slo is [], want at least one promise"},
        {"{" MODEL RATE LONG SLO "'platforms': []}",
         "platforms is [], want a name, {\"name\": ..., "
         "\"price_per_gpu_hour\": ...}, or an array of them"},
        {"{" MODEL RATE LONG SLO "'platforms': [3]}",
         "platforms[0] is 3, want an object"},
        {"{" MODEL RATE LONG SLO "'platforms': [{}]}",
         "platforms[0].name is missing, want a GPU that 'platforms' lists"},
        {"{" MODEL RATE LONG SLO
         "'platforms': [{'name': 'h100', 'power_w': 0}]}",
         "platforms[0].power_w is 0, want a number above 0"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++)
        CHECK_STR(read_text(CASES[i].text), CASES[i].says);
    /* names that nothing has, with their member */
    (void)read_text("{" MODEL RATE LONG SLO "'platforms': ['h100', 'h1']}");
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK(strncmp(err.text, "platforms[1]: ", 14) == 0);
    CHECK(strstr(err.text, "'h1'") != NULL);
    CHECK_STR(err.file, "spec.json");
    (void)read_text("{'model': 'lama', " RATE LONG SLO ON "}");
    CHECK_INT(err.status, MSIM_EFORMAT);
    CHECK(strncmp(err.text, "model: ", 7) == 0);
    CHECK(strstr(err.text, "'lama'") != NULL);
    (void)read_text("{" MODEL RATE LONG SLO "'platforms': ['no/such.json']}");
    CHECK_INT(err.status, MSIM_EIO); /* a file says its own name */
    CHECK(strstr(err.text, "platforms[") == NULL);
}

/* 24 GPUs, 24 values of a dimension, 16 promises, and no more. */
static void test_serving_spec__many(void)
{
    char text[3000];

    for (int n = 24; n <= 25; n++) {
        snprintf(text, sizeof(text),
                 "{" MODEL RATE LONG SLO "'tp': 1, 'platforms': ['h100'");
        for (int i = 1; i < n; i++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
                     ", 'h100'");
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
        CHECK_INT(strstr(read_text(text), "want at most 24 of them") != NULL,
                  n > 24);
        snprintf(text, sizeof(text), "'tp': 1, 'block_size': [1");
        for (int i = 2; i <= n; i++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), ", %d",
                     i);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]");
        CHECK_INT(strstr(with(text), "or an array of 1 to 24 of them") != NULL,
                  n > 24);
    }
    for (int n = 16; n <= 17; n++) {
        snprintf(text, sizeof(text), "{" MODEL RATE LONG ON ", 'slo': [");
        for (int i = 0; i < n; i++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     "%s{'percentile': 90, 'limit_ms': %d}", i ? ", " : "",
                     i + 1);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
        CHECK_STR(read_text(text),
                  n > 16 ? "slo has 17 promises, want at most 16" : "");
    }
}

int main(void)
{
    RUN(test_serving_spec__usual);
    RUN(test_serving_spec__members);
    RUN(test_serving_spec__configurations);
    RUN(test_serving_spec__as_an_application);
    RUN(test_serving_spec__is_told);
    RUN(test_serving_spec__refuses_members);
    RUN(test_serving_spec__refuses);
    RUN(test_serving_spec__many);
    msim_serving_spec_release(&spec);
    return check_summary();
}

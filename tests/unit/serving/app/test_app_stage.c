/* serving/app/app_stage.c and app_llm.c: members of stages and arguments of
 * engines at their limits, and what is refused of them. */
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;
static const struct msim_stage *s;

static const char *stage(const char *text)
{
    const char *wrong = made_stage(&app, text);

    s = &app.stages[0];
    return wrong;
}

struct refused {
    const char *text, *says;
};

static void check_refused(const struct refused *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK_STR(stage(cases[i].text), cases[i].says);
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- all kinds ----------------------------------------------------------- */

static void test_app_stage__common(void)
{
    CHECK_STR(stage("'kind': 'tool'"), "");
    CHECK_STR(s->name, "a");
    CHECK_INT(s->kind, MSIM_STAGE_TOOL);
    CHECK_INT(s->replicas, 1);
    CHECK_INT(s->workers, 1);
    CHECK_INT(s->call, MSIM_CALL_RPC);
    CHECK_INT(s->routing, MSIM_ROUTING_SHARED);
    CHECK_INT(s->network_ms.kind, MSIM_DIST_NONE);
    CHECK_INT(s->service.kind, MSIM_DIST_NONE);
    CHECK(isnan(s->price_per_hour) && isnan(s->power_w));
    CHECK_REL(s->size_power, 0, 0);
    CHECK_REL(s->class_factor[0], 1, 0);
    CHECK(!s->batching.on);
    CHECK_INT(s->n_absences, 0);
    CHECK_INT(s->parallel.tp * s->parallel.pp * s->parallel.dp * s->parallel.ep,
              1);
    CHECK_STR(stage("'kind': 'measured', 'replicas': 1000000, 'workers': "
                    "1000000, 'call': 'queue', 'routing': 'random', "
                    "'network_ms': 0.5, 'price_per_hour': 0, 'power_w': 300, "
                    "'service': 2, 'class_factor': {'all': 0}, 'size_power': "
                    "-10"),
              "");
    CHECK_INT(s->kind, MSIM_STAGE_MEASURED);
    CHECK_INT(s->replicas, 1000000);
    CHECK_INT(s->workers, 1000000);
    CHECK_INT(s->call, MSIM_CALL_QUEUE);
    CHECK_INT(s->routing, MSIM_ROUTING_ANY);
    CHECK_REL(s->network_ms.mean, 0.5, 0);
    CHECK_REL(s->price_per_hour, 0, 0);
    CHECK_REL(s->power_w, 300, 0);
    CHECK_REL(s->size_power, -10, 0);
    CHECK_REL(s->class_factor[0], 0, 0);
    CHECK_STR(stage("'kind': 'tool', 'size_power': 10, 'routing': 'round', "
                    "'class_factor': {'all': 1e9}"),
              "");
    CHECK_INT(s->routing, MSIM_ROUTING_ROUND);
    CHECK_REL(s->class_factor[0], 1e9, 0);
}

static void test_app_stage__batching(void)
{
    CHECK_STR(stage("'kind': 'tool', 'batching': {'policy': 'dynamic', "
                    "'max_batch': 1000000, 'max_wait_ms': 2.5, 'law': [[1, "
                    "1], [1000000, 0.001]]}"),
              "");
    CHECK(s->batching.on);
    CHECK_INT(s->batching.max_batch, 1000000);
    CHECK_REL(s->batching.max_wait_ms, 2.5, 0);
    REQUIRE(s->batching.n_law == 2);
    CHECK_REL(s->batching.law[1].batch, 1e6, 0);
    CHECK_REL(s->batching.law[1].factor, 0.001, 0);
    CHECK_STR(stage("'kind': 'tool', 'batching': {'max_batch': 1, 'law': []}"),
              "");
    CHECK_REL(s->batching.max_wait_ms, 0, 0);
    CHECK_INT(s->batching.n_law, 0);
}

static void test_app_stage__absences(void)
{
    CHECK_STR(stage("'kind': 'tool', 'replicas': 3, 'absent': [{}, {'from_s': "
                    "1, 'until_s': 1e6, 'replicas': 3}]"),
              "");
    REQUIRE(s->n_absences == 2);
    CHECK_REL(s->absences[0].from_s, 0, 0);
    CHECK(isinf(s->absences[0].until_s));
    CHECK_INT(s->absences[0].replicas, 1);
    CHECK_REL(s->absences[1].from_s, 1, 0);
    CHECK_REL(s->absences[1].until_s, 1e6, 0);
    CHECK_INT(s->absences[1].replicas, 3);
}

/* 1,000 absences, and no more. */
static void test_app_stage__many_absences(void)
{
    for (int n = 1000; n <= 1001; n++) {
        FILE *f = fopen(made_path("app.json"), "w");

        REQUIRE(f != NULL);
        fprintf(f, "{\"schema\": \"mystique-sim/app/1\", \"flow\": {\"start\": "
                   "\"a\"}, \"stages\": {\"a\": {\"kind\": \"tool\", "
                   "\"absent\": [{}");
        for (int i = 1; i < n; i++)
            fputs(",{}", f);
        fputs("]}}}", f);
        fclose(f);
        msim_app_release(&app);
        made_error = (struct msim_error){0};
        CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
                  n > 1000 ? MSIM_EFORMAT : MSIM_OK);
    }
    CHECK(strstr(made_error.text, "want at most 1000 of them") != NULL);
}

#define TOOL "'kind': 'tool', "
#define LAW                                                                    \
    ", want [requests, service over that of one]: requests from 1 and above "  \
    "the ones before, the factor above 0"

static void test_app_stage__refuses(void)
{
    static const struct refused CASES[] = {
        {"", "stages.a.kind is missing, want measured, tool, model or llm"},
        {"'kind': 'x'",
         "stages.a.kind is \"x\", want measured, tool, model or llm"},
        {TOOL "'replicas': 1000001",
         "stages.a.replicas is 1000001, want at most 1000000"},
        {TOOL "'workers': 0",
         "stages.a.workers is 0, want a whole number from 1"},
        {TOOL "'workers': 1000001",
         "stages.a.workers is 1000001, want at most 1000000"},
        {TOOL "'call': 'x'", "stages.a.call is \"x\", want rpc or queue"},
        {TOOL "'routing': 'x'",
         "stages.a.routing is \"x\", want shared, least, round or random"},
        {TOOL "'price_per_hour': -1",
         "stages.a.price_per_hour is -1, want a number from 0"},
        {TOOL "'power_w': -1", "stages.a.power_w is -1, want a number from 0"},
        {TOOL "'size_power': 10.1",
         "stages.a.size_power is 10.1, want a number from -10 to 10"},
        {TOOL "'size_power': -10.1",
         "stages.a.size_power is -10.1, want a number from -10 to 10"},
        {TOOL "'class_factor': {'all': 1000000001}",
         "stages.a.class_factor.all is 1000000001, want a number from 0 to "
         "1000000000"},
        {TOOL "'class_factor': {'al': 1}",
         "stages.a.class_factor.al is not known, did you mean all?"},
        {TOOL "'batching': {}",
         "stages.a.batching.max_batch is missing, want a whole number from 1"},
        {TOOL "'batching': {'max_batch': 1000001}",
         "stages.a.batching.max_batch is 1000001, want at most 1000000"},
        {TOOL "'batching': {'max_batch': 2, 'max_wait_ms': -1}",
         "stages.a.batching.max_wait_ms is -1, want a number from 0"},
        {TOOL "'batching': {'max_batch': 2, 'policy': 'static'}",
         "stages.a.batching.policy is \"static\", want dynamic"},
        {TOOL "'batching': {'max_batch': 2, 'law': [[1, 1], [1, 2]]}",
         "stages.a.batching.law[1] is [1,2]" LAW},
        {TOOL "'batching': {'max_batch': 2, 'law': [[0.9, 1]]}",
         "stages.a.batching.law[0] is [0.9,1]" LAW},
        {TOOL "'batching': {'max_batch': 2, 'law': [[1, 0]]}",
         "stages.a.batching.law[0] is [1,0]" LAW},
        {TOOL "'batching': {'max_batch': 2, 'law': [[1000001, 1]]}",
         "stages.a.batching.law[0] is [1000001,1]" LAW},
        {TOOL "'batching': {'max_batch': 2, 'law': [[1, 1, 1]]}",
         "stages.a.batching.law[0] is [1,1,1]" LAW},
        {TOOL "'batching': {'max_batch': 2, 'law': [[1]]}",
         "stages.a.batching.law[0] is [1]" LAW},
        {TOOL "'absent': [{'from_s': 5, 'until_s': 5}]",
         "stages.a.absent[0].until_s is 5, want a time behind \"from_s\""},
        {TOOL "'absent': [{'from_s': -1}]",
         "stages.a.absent[0].from_s is -1, want a number from 0 to 1000000"},
        {TOOL "'absent': [{'until_s': 1000001}]",
         "stages.a.absent[0].until_s is 1000001, want a number from 0 to "
         "1000000"},
        {TOOL "'replicas': 2, 'absent': [{'replicas': 3}]",
         "stages.a.absent[0].replicas is 3, want at most 2, which the stage "
         "has"},
        {TOOL "'absent': [3]", "stages.a.absent[0] is 3, want an object"},
        {TOOL "'trace': 'x'",
         "stages.a.trace is not known, want kind, replicas, workers, call, "
         "routing, network_ms, price_per_hour, power_w, absent, service, "
         "class_factor, size_power or batching"},
        {"'kind': 'llm', 'trace': 'x'",
         "stages.a.trace is \"x\", want {\"prefill\": [...], \"decode\": "
         "[...]}: files of recorded passes"},
    };

    check_refused(CASES, COUNT(CASES));
}

/* Names are neither empty nor that of the whole, nor there twice. */
static void test_app_stage__names(void)
{
    static const struct refused CASES[] = {
        {"'': {'kind': 'tool'}",
         "stages. is {\"kind\":\"tool\"}, want another name: not empty, not "
         "\"e2e\", not twice"},
        {"'e2e': {'kind': 'tool'}",
         "stages.e2e is {\"kind\":\"tool\"}, want another name: not empty, not "
         "\"e2e\", not twice"},
        {"'a': {'kind': 'tool'}, 'a': {'kind': 'tool'}",
         "stages.a is {\"kind\":\"tool\"}, want another name: not empty, not "
         "\"e2e\", not twice"},
        {"'a': 3", "stages.a is 3, want an object"},
        {"", "stages is {}, want an object of 1 to 1000 stages: {\"name\": "
             "{...}, ...}"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        msim_app_release(&app);
        CHECK_INT(made_read(&app, "", CASES[i].text, "'start': 'a'"),
                  MSIM_EFORMAT);
        CHECK_STR(made_error.text, CASES[i].says);
    }
}

/* ---- models -------------------------------------------------------------- */

#define MODEL "'model': 'llama3-8b', 'platform': 'h100'"

/* A path lies in the file's folder, a name does not. */
static void test_app_stage__models(void)
{
    CHECK_STR(stage("'kind': 'model', " MODEL), "");
    CHECK_STR(s->model, "llama3-8b");
    CHECK_STR(s->platform, "h100");
    CHECK_INT(s->precision, MSIM_QUANT_OWN);
    CHECK_STR(stage("'kind': 'model', 'model': 'm.json', 'platform': "
                    "'h100@stack', 'precision': 'fp8', 'parallel': {'tp': "
                    "4096, 'pipeline_parallel_size': 2, 'dp_size': 3, 'ep': "
                    "5}"),
              "");
    CHECK_STR(s->model, made_path("m.json"));
    CHECK_STR(s->platform, "h100@stack");
    CHECK_INT(s->precision, MSIM_QUANT_FP8);
    CHECK_INT(s->parallel.tp, 4096);
    CHECK_INT(s->parallel.pp, 2);
    CHECK_INT(s->parallel.dp, 3);
    CHECK_INT(s->parallel.ep, 5);
}

static void test_app_stage__refuses_models(void)
{
    static const struct refused CASES[] = {
        {"'kind': 'model', 'platform': 'h100'",
         "stages.a.model is missing, want a config.json, or a name of "
         "data/models"},
        {"'kind': 'model', 'model': '', 'platform': 'h100'",
         "stages.a.model is \"\", want a config.json, or a name of "
         "data/models"},
        {"'kind': 'model', 'model': 'x'",
         "stages.a.platform is missing, want a GPU that 'platforms' lists"},
        {"'kind': 'model', 'model': 'x', 'platform': ''",
         "stages.a.platform is \"\", want a GPU that 'platforms' lists"},
        {"'kind': 'model', " MODEL ", 'precision': 'fp6'",
         "stages.a.precision is \"fp6\", want bf16, fp8, fp8_block, nvfp4, "
         "mxfp4, int8 or int4"},
        {"'kind': 'model', " MODEL ", 'parallel': {'tp': 4097}",
         "stages.a.parallel.tp is 4097, want at most 4096"},
        {"'kind': 'model', " MODEL ", 'parallel': {'pp': 0}",
         "stages.a.parallel.pp is 0, want a whole number from 1"},
        {"'kind': 'model', " MODEL ", 'parallel': {'tp': 1, 'tp_size': 1}",
         "stages.a.parallel.tp_size is 1, want it once: another member says "
         "the same"},
        {"'kind': 'model', " MODEL ", 'batching': {'max_batch': 2, 'law': "
         "[]}",
         "stages.a.batching.law is not known, want policy, max_batch or "
         "max_wait_ms"},
        {"'kind': 'model', " MODEL ", 'engine': 'vllm'",
         "stages.a.engine is not known, want kind, replicas, workers, call, "
         "routing, network_ms, price_per_hour, power_w, absent, model, trace, "
         "platform, batching, precision or parallel"},
    };

    check_refused(CASES, COUNT(CASES));
}

/* ---- engines ------------------------------------------------------------- */

/* An LLM of that engine with those members of its batching. */
static const char *llm(const char *engine, const char *batching)
{
    char text[1024];

    snprintf(text, sizeof(text),
             "'kind': 'llm', " MODEL ", 'engine': '%s', 'batching': {%s}",
             engine, batching);
    return stage(text);
}

static void test_app_llm__names_of_vllm(void)
{
    const struct msim_engine_settings *e;

    CHECK_STR(llm("vllm", "'max_num_seqs': 7, 'max_num_batched_tokens': 9, "
                          "'enable_chunked_prefill': false, "
                          "'enable_prefix_caching': false, 'block_size': 32, "
                          "'max_model_len': 100, 'gpu_memory_utilization': "
                          "0.01, 'scheduling_policy': 'priority'"),
              "");
    e = &s->engine;
    CHECK_INT(e->engine, MSIM_LLM_VLLM);
    CHECK_INT(e->max_num_seqs, 7);
    CHECK_INT(e->max_num_batched_tokens, 9);
    CHECK(!e->chunked_prefill && !e->prefix_caching && e->by_priority);
    CHECK(e->mixed && !e->is_static);
    CHECK_INT(e->block_size, 32);
    CHECK_INT(e->max_model_len, 100);
    CHECK_REL(e->gpu_memory_utilization, 0.01, 0);
    CHECK(!e->share_is_of_rest);
    CHECK_INT(app.n_assumed, 0);
    CHECK_STR(llm("vllm", "'policy': 'static', 'scheduling_policy': 'fcfs'"),
              "");
    CHECK(s->engine.is_static && !s->engine.by_priority);
}

static void test_app_llm__names_of_sglang(void)
{
    const struct msim_engine_settings *e;

    CHECK_STR(llm("sglang", "'max_running_requests': 7, "
                            "'chunked_prefill_size': 9, 'enable_mixed_chunk': "
                            "true, 'disable_radix_cache': true, 'page_size': "
                            "64, 'context_length': 100, 'mem_fraction_static': "
                            "1, 'schedule_policy': 'lpm'"),
              "");
    e = &s->engine;
    CHECK_INT(e->engine, MSIM_LLM_SGLANG);
    CHECK_INT(e->max_num_seqs, 7);
    CHECK_INT(e->max_num_batched_tokens, 9);
    CHECK(e->mixed && !e->prefix_caching && !e->by_priority);
    CHECK(e->chunked_prefill);
    CHECK_INT(e->block_size, 64);
    CHECK_INT(e->max_model_len, 100);
    CHECK_REL(e->gpu_memory_utilization, 1, 0);
    CHECK(!e->share_is_of_rest);
    /* -1: prompts are never split */
    CHECK_STR(llm("sglang", "'chunked_prefill_size': -1, 'schedule_policy': "
                            "'priority', 'disable_radix_cache': false"),
              "");
    CHECK(!s->engine.chunked_prefill && s->engine.by_priority);
    CHECK(s->engine.prefix_caching);
    CHECK_INT(s->engine.max_num_batched_tokens, 8192);
}

static void test_app_llm__names_of_trtllm(void)
{
    const struct msim_engine_settings *e;

    CHECK_STR(llm("trtllm",
                  "'max_batch_size': 7, 'max_num_tokens': 9, "
                  "'enable_chunked_context': true, 'enable_block_reuse': "
                  "false, 'tokens_per_block': 64, 'max_seq_len': 100, "
                  "'free_gpu_memory_fraction': 0.5, "
                  "'capacity_scheduler_policy': 'MAX_UTILIZATION', "
                  "'batch_wait_timeout_iters': 3, "
                  "'batch_wait_max_tokens_ratio': 0.25"),
              "");
    e = &s->engine;
    CHECK_INT(e->engine, MSIM_LLM_TRTLLM);
    CHECK_INT(e->max_num_seqs, 7);
    CHECK_INT(e->max_num_batched_tokens, 9);
    CHECK(e->chunked_prefill && !e->prefix_caching && !e->no_evict);
    CHECK_INT(e->block_size, 64);
    CHECK_INT(e->max_model_len, 100);
    CHECK_REL(e->gpu_memory_utilization, 0.5, 0);
    CHECK(e->share_is_of_rest);
    CHECK_INT(e->wait_steps, 3);
    CHECK_REL(e->wait_tokens, 0.25, 0);
    CHECK_STR(llm("trtllm", "'gpu_memory_utilization': 0.5, "
                            "'capacity_scheduler_policy': 'STATIC_BATCH'"),
              "");
    CHECK(!s->engine.share_is_of_rest); /* by vLLM's name it is vLLM's share */
    CHECK(s->engine.is_static && s->engine.no_evict);
    CHECK_STR(llm("trtllm", "'capacity_scheduler_policy': "
                            "'GUARANTEED_NO_EVICT', 'batch_wait_timeout_iters':"
                            " 0, 'batch_wait_max_tokens_ratio': 1"),
              "");
    CHECK(!s->engine.is_static && s->engine.no_evict);
    CHECK_REL(s->engine.wait_tokens, 1, 0);
}

/* What is assumed of member `name` of 'batching'; NULL: nothing. */
static const char *assumed(const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "stages.a.batching.%s", name);
    for (uint32_t i = 0; i < app.n_assumed; i++)
        if (strcmp(app.assumed[i].path, path) == 0)
            return app.assumed[i].value;
    return NULL;
}

/* Defaults are told under vLLM's names, with whose they are. */
static void test_app_llm__tells_defaults(void)
{
    CHECK_STR(stage("'kind': 'llm', " MODEL), "");
    CHECK_INT(s->engine.engine, MSIM_LLM_VLLM);
    CHECK_STR(app.assumed[0].path, "stages.a.engine");
    CHECK_STR(app.assumed[0].value, "vllm");
    CHECK_INT(app.n_assumed, 9);
    CHECK_STR(app.assumed[1].why, "vllm");
    CHECK_STR(assumed("max_num_seqs"), "256");
    CHECK_STR(assumed("max_num_batched_tokens"),
              "8192 from GPUs of 80 GB on, else 2048");
    CHECK_STR(assumed("enable_chunked_prefill"), "true");
    CHECK_STR(assumed("enable_prefix_caching"), "true");
    CHECK_STR(assumed("block_size"), "16");
    CHECK_STR(assumed("max_model_len"),
              "max_position_embeddings of config.json, else what the KV cache "
              "holds");
    CHECK_STR(assumed("gpu_memory_utilization"), "0.9");
    CHECK_STR(assumed("scheduling_policy"), "fcfs");
    CHECK_STR(llm("sglang", "'page_size': 3"), "");
    CHECK_STR(assumed("max_num_seqs"), "by the memory for KV caches");
    CHECK_STR(assumed("max_num_batched_tokens"), "8192");
    CHECK(!assumed("block_size")); /* another name says it */
    CHECK_STR(llm("trtllm", ""), "");
    CHECK_STR(assumed("enable_chunked_prefill"), "false");
    CHECK_STR(app.assumed[0].why, "trtllm");
}

static void test_app_llm__refuses(void)
{
    static const struct {
        const char *engine, *batching, *says;
    } CASES[] = {
        {"vllm", "'max_num_seqs': 0",
         "max_num_seqs is 0, want a whole number from 1"},
        {"vllm", "'max_num_batched_tokens': -1",
         "max_num_batched_tokens is -1, want a whole number from 1"},
        {"sglang", "'max_num_batched_tokens': -1",
         "max_num_batched_tokens is -1, want a whole number from 1"},
        {"sglang", "'chunked_prefill_size': 0",
         "chunked_prefill_size is 0, want a whole number from 1"},
        {"vllm", "'block_size': 0",
         "block_size is 0, want a whole number from 1"},
        {"vllm", "'max_model_len': 0",
         "max_model_len is 0, want a whole number from 1"},
        {"vllm", "'gpu_memory_utilization': 0.009",
         "gpu_memory_utilization is 0.009, want a number from 0.01 to 1"},
        {"vllm", "'gpu_memory_utilization': 1.1",
         "gpu_memory_utilization is 1.1, want a number from 0.01 to 1"},
        {"vllm", "'scheduling_policy': 'lpm'",
         "scheduling_policy is \"lpm\", want fcfs or priority"},
        {"sglang", "'schedule_policy': 'x'",
         "schedule_policy is \"x\", want fcfs, priority, lpm, dfs-weight or "
         "lof"},
        {"trtllm", "'capacity_scheduler_policy': 'x'",
         "capacity_scheduler_policy is \"x\", want GUARANTEED_NO_EVICT, "
         "MAX_UTILIZATION or STATIC_BATCH"},
        {"trtllm", "'batch_wait_timeout_iters': -1",
         "batch_wait_timeout_iters is -1, want a whole number from 0"},
        {"trtllm", "'batch_wait_max_tokens_ratio': 1.1",
         "batch_wait_max_tokens_ratio is 1.1, want a number from 0 to 1"},
        {"vllm", "'policy': 'x'", "policy is \"x\", want continuous or static"},
        {"sglang", "'max_num_seqs': 1, 'max_running_requests': 1",
         "max_running_requests is 1, want it once: another member says the "
         "same"},
        {"vllm", "'enable_chunked_prefill': 1",
         "enable_chunked_prefill is 1, want true or false"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        char want[256];

        snprintf(want, sizeof(want), "stages.a.batching.%s", CASES[i].says);
        CHECK_STR(llm(CASES[i].engine, CASES[i].batching), want);
    }
    /* names of one program are not those of another */
    CHECK(strstr(llm("vllm", "'max_batch_size': 1"),
                 "stages.a.batching.max_batch_size is not known") != NULL);
    CHECK(strstr(llm("trtllm", "'page_size': 1"),
                 "stages.a.batching.page_size is not known") != NULL);
    CHECK_STR(stage("'kind': 'llm', " MODEL ", 'engine': 'tgi'"),
              "stages.a.engine is \"tgi\", want vllm, sglang or trtllm");
    CHECK_STR(stage("'kind': 'llm', " MODEL ", 'kv_cache_dtype': 'int8'"),
              "stages.a.kv_cache_dtype is \"int8\", want auto or fp8");
}

/* ---- two pools ----------------------------------------------------------- */

#define POOLS(prefill, decode)                                                 \
    "'kind': 'llm', " MODEL ", 'engine': 'sglang', 'kv_cache_dtype': 'fp8', "  \
    "'parallel': {'tp': 2}, 'disaggregated': {'prefill': " prefill             \
    ", 'decode': " decode "}"

/* A pool has what its stage has where it does not say it. */
static void test_app_llm__pools(void)
{
    const struct msim_disaggregated *d;

    CHECK_STR(stage(POOLS("{}", "{'replicas': 1000000, 'platform': 'a100', "
                                "'parallel': {'pp': 3}, 'batching': "
                                "{'page_size': 5}}")),
              "");
    CHECK_INT(s->kv_cache, MSIM_QUANT_FP8);
    d = s->disaggregated;
    REQUIRE(d != NULL);
    CHECK_INT(d->prefill.replicas, 1);
    CHECK_STR(d->prefill.platform, "h100");
    CHECK_INT(d->prefill.parallel.tp, 2);
    CHECK_INT(d->prefill.engine.engine, MSIM_LLM_SGLANG);
    CHECK_INT(d->prefill.engine.block_size, 1);
    CHECK_INT(d->decode.replicas, 1000000);
    CHECK_STR(d->decode.platform, "a100");
    CHECK_INT(d->decode.parallel.tp, 1);
    CHECK_INT(d->decode.parallel.pp, 3);
    CHECK_INT(d->decode.engine.engine, MSIM_LLM_SGLANG);
    CHECK_INT(d->decode.engine.block_size, 5);
    CHECK_REL(d->kv_transfer_gbps, 50, 0);
    CHECK_STR(app.assumed[app.n_assumed - 1].path,
              "stages.a.disaggregated.kv_transfer_gbps");
    CHECK_STR(app.assumed[app.n_assumed - 1].value, "50");
    CHECK_STR(app.assumed[app.n_assumed - 1].why, "a network of 400 Gbit/s");
    CHECK_STR(stage(POOLS("{}", "{}, 'kv_transfer_gbps': 9")), "");
    CHECK_REL(s->disaggregated->kv_transfer_gbps, 9, 0);
    CHECK(strcmp(app.assumed[app.n_assumed - 1].path,
                 "stages.a.disaggregated.kv_transfer_gbps") != 0);
}

static void test_app_llm__refuses_pools(void)
{
    static const struct refused CASES[] = {
        {"'kind': 'llm', " MODEL ", 'disaggregated': {'prefill': {}}",
         "stages.a.disaggregated.decode is missing, want an object: replicas, "
         "platform, parallel, batching of that pool"},
        {POOLS("{'replicas': 0}", "{}"),
         "stages.a.disaggregated.prefill.replicas is 0, want a whole number "
         "from 1"},
        {POOLS("{'replicas': 1000001}", "{}"),
         "stages.a.disaggregated.prefill.replicas is 1000001, want at most "
         "1000000"},
        {POOLS("{}", "{}, 'kv_transfer_gbps': 0"),
         "stages.a.disaggregated.kv_transfer_gbps is 0, want a number above "
         "0"},
        {POOLS("{}", "{}") ", 'absent': [{}]",
         "stages.a.absent is [{}], want none where two pools serve"},
    };

    check_refused(CASES, COUNT(CASES));
}

int main(void)
{
    made_begin();
    RUN(test_app_stage__common);
    RUN(test_app_stage__batching);
    RUN(test_app_stage__absences);
    RUN(test_app_stage__many_absences);
    RUN(test_app_stage__refuses);
    RUN(test_app_stage__names);
    RUN(test_app_stage__models);
    RUN(test_app_stage__refuses_models);
    RUN(test_app_llm__names_of_vllm);
    RUN(test_app_llm__names_of_sglang);
    RUN(test_app_llm__names_of_trtllm);
    RUN(test_app_llm__tells_defaults);
    RUN(test_app_llm__refuses);
    RUN(test_app_llm__pools);
    RUN(test_app_llm__refuses_pools);
    msim_app_release(&app);
    made_end((const char *const[]){"app.json", NULL});
    return check_summary();
}

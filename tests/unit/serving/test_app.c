/*
 * tests/unit/serving/test_app.c - tests of serving/app/app.h: what an
 * application says, and what is refused with the path of the member.
 */
#include "tests/unit/serving/made_app.h"

#define CLASSES                                                                \
    "'classes': [{'name': 'read', 'share': 0.7}, {'name': 'write', 'share': "  \
    "0.3, 'priority': 2}], "
#define POISSON "'arrivals': {'process': 'poisson', 'rate': 10}, "
#define STAGES                                                                 \
    "'a': {'kind': 'measured', 'workers': 4, 'call': 'rpc', 'service': 2}, "   \
    "'b': {'kind': 'tool', 'call': 'queue', 'routing': 'least', "              \
    "'class_factor': {'write': 2}}"
#define STAGES_XY                                                              \
    "'a': {'kind': 'tool'}, 'b': {'kind': 'tool'}, 'c': {'kind': 'tool'}"
#define FLOW "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}]"

static void test_app__says_what_the_file_says(void)
{
    struct msim_app app;
    const struct msim_flow_edge *e;
    uint32_t n;

    REQUIRE(made_read(&app,
                      "'name': 'x', 'currency': 'EUR', 'slo': [{'class': "
                      "'write', 'metric': 'e2e', 'percentile': 95, "
                      "'limit_ms': 40}], " CLASSES POISSON,
                      STAGES,
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', "
                      "'step': 2, 'copies': 3, 'wait': 'any'}, {'from': 'a', "
                      "'to': 'b', 'prob': 0.5, 'classes': ['write'], 'loop': "
                      "{'again': 0.25, 'most': 3}, 'retry': {'timeout_ms': "
                      "7, 'most': 2}}]") == MSIM_OK);
    CHECK_STR(app.name, "x");
    CHECK_STR(app.currency, "EUR");
    CHECK_UINT(app.n_promises, 1);
    CHECK_UINT(app.promises[0].cls, 1);
    CHECK_INT(app.promises[0].metric, MSIM_PROMISE_E2E);
    CHECK_REL(app.promises[0].limit_ms, 40, 0);
    CHECK_REL(app.classes[0].share, 0.7, 1e-15);
    CHECK_INT(app.classes[1].priority, 2);
    CHECK_REL(app.arrivals.rate, 10, 0);
    CHECK_INT(app.stages[0].workers, 4);
    CHECK_INT(app.stages[0].service.kind, MSIM_DIST_CONSTANT);
    CHECK_INT(app.stages[1].service.kind, MSIM_DIST_NONE);
    CHECK_INT(app.stages[1].routing, MSIM_ROUTING_LEAST);
    CHECK_REL(app.stages[1].class_factor[1], 2, 0);
    CHECK_REL(app.stages[1].class_factor[0], 1, 0);
    CHECK_UINT(app.start, 0);
    e = msim_app_edges_of(&app, 0, &n);
    REQUIRE(n == 2); /* by step */
    CHECK_REL(e[0].prob, 0.5, 0);
    CHECK(!msim_flow_edge_takes(&e[0], 0) && msim_flow_edge_takes(&e[0], 1));
    CHECK_REL(e[0].again, 0.25, 0);
    CHECK_INT(e[0].most, 3);
    CHECK_REL(e[0].timeout_ms, 7, 0);
    CHECK_INT(e[0].retries, 2);
    CHECK_REL(e[1].copies, 3, 0);
    CHECK_INT(e[1].wait, 1);
    CHECK(msim_flow_edge_takes(&e[1], 0));
    (void)msim_app_edges_of(&app, 1, &n);
    CHECK_UINT(n, 0);
    msim_app_release(&app);
}

static void test_app__engines_have_their_own_defaults(void)
{
    static const char MORE[] =
        "'classes': [{'name': 'all', 'share': 1, 'input_tokens': 100, "
        "'output_tokens': {'lognormal': {'mean': 200, 'cv': 1}}}], " POISSON;
    struct msim_app app;

    REQUIRE(made_read(&app, MORE,
                      "'v': {'kind': 'llm', 'model': 'llama3-8b', 'platform': "
                      "'h100', 'parallel': {'tp': 2}}, 's': {'kind': 'llm', "
                      "'model': 'm/config.json', 'platform': 'h100', "
                      "'engine': 'sglang', 'batching': "
                      "{'max_running_requests': 64, 'disable_radix_cache': "
                      "true}}, 't': {'kind': 'llm', 'model': '/m.json', "
                      "'platform': 'b200', 'engine': 'trtllm', 'batching': "
                      "{'capacity_scheduler_policy': 'MAX_UTILIZATION'}}",
                      "'start': 'v'") == MSIM_OK);
    CHECK_STR(app.stages[0].model, "llama3-8b");
    CHECK_STR(app.stages[1].model, made_path("m/config.json"));
    CHECK_STR(app.stages[2].model, "/m.json");
    CHECK_INT(app.stages[0].parallel.tp, 2);
    CHECK_INT(app.stages[0].engine.max_num_seqs, 256);
    CHECK(app.stages[0].engine.prefix_caching && app.stages[0].engine.mixed);
    CHECK_INT(app.stages[1].engine.max_num_seqs, 64);
    CHECK(!app.stages[1].engine.prefix_caching);
    CHECK_REL(app.stages[1].engine.gpu_memory_utilization, 0.88, 0);
    CHECK_INT(app.stages[2].engine.max_num_seqs, 2048);
    CHECK(!app.stages[2].engine.no_evict);
    CHECK_STR(app.assumed[0].path, "stages.v.engine");
    msim_engine_settings_settle(&app.stages[0].engine, 79, 1 << 20, 4096);
    CHECK_INT(app.stages[0].engine.max_num_batched_tokens, 8192);
    CHECK_INT(app.stages[0].engine.max_model_len, 4096);
    msim_app_release(&app);
}

/* SGLang's -1 splits no prompt, so that the longest must have room; it admits
 * 512 sequences for each that fills the cache: 2^20 tokens hold 256 of 4096, so
 * 131,072, more than its 4,096; 2^13 hold 2, so 1,024, less than its 2,048. */
static void test_app__settings_go_with_the_machine(void)
{
    struct msim_engine_settings s;
    struct msim_app app;

    REQUIRE(made_read(&app, POISSON,
                      "'s': {'kind': 'llm', 'model': 'm', 'platform': 'h100', "
                      "'engine': 'sglang', 'batching': {'chunked_prefill_size'"
                      ": -1}}",
                      "'start': 's'") == MSIM_OK);
    s = app.stages[0].engine;
    CHECK(!s.chunked_prefill);
    msim_engine_settings_settle(&s, 40, 1 << 20, 32768);
    CHECK_INT(s.max_num_seqs, 4096);
    CHECK_INT(s.max_num_batched_tokens, 32768);
    s = app.stages[0].engine;
    msim_engine_settings_settle(&s, 40, 1 << 13, 4096);
    CHECK_INT(s.max_num_seqs, 2048);
    s = msim_engine_settings_of(MSIM_LLM_VLLM);
    msim_engine_settings_settle(&s, 40, 1 << 14, 4096);
    CHECK_INT(s.max_num_batched_tokens, 2048);
    msim_app_release(&app);
}

/* What is not stated is told, edges of one step keep their order, and shares
 * that were rounded add up. */
static void test_app__fills_in(void)
{
    struct msim_app app;
    const struct msim_flow_edge *e;
    uint32_t n;

    REQUIRE(made_read(&app,
                      "'classes': [{'name': 'x', 'share': 0.3333}, {'name': "
                      "'y', 'share': 0.66665}], 'arrivals': {'process': "
                      "'mmpp', 'rate': 9, 'on_s': 2}, ",
                      STAGES_XY,
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'c', "
                      "'loop': {'again': 0.5}}, {'from': 'a', 'to': 'b'}]") ==
            MSIM_OK);
    CHECK_REL(app.classes[0].share + app.classes[1].share, 1, 1e-15);
    e = msim_app_edges_of(&app, 0, &n);
    REQUIRE(n == 2);
    CHECK_UINT(e[0].to, 2);
    CHECK_UINT(e[1].to, 1);
    CHECK_INT(e[0].most, 8);
    REQUIRE(app.n_assumed == 3);
    CHECK_STR(app.assumed[0].path, "arrivals.factor");
    CHECK_STR(app.assumed[1].path, "arrivals.off_s");
    CHECK_STR(app.assumed[1].value, "15");
    CHECK_STR(app.assumed[2].path, "flow.edges[0].loop.most");
    msim_app_release(&app);
}

/* Members that APP.json has, one of them wrong, and the path that the message
 * has to begin with. */
static const struct {
    const char *more, *stages, *flow, *says;
} WRONG[] = {
#define IN_STAGE(text) "", "'a': {'kind': 'measured', " text "}", "'start': 'a'"
#define IN_EDGE(text)                                                          \
    CLASSES, STAGES,                                                           \
        "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', " text "}]"
#define IN_TOP(text) text ", ", STAGES, FLOW
#define IN_SLO(text) CLASSES "'slo': [{" text "}], ", STAGES, FLOW
#define IN_LLM(text)                                                           \
    "", "'a': {'kind': 'llm', 'model': 'm', 'platform': 'h100', " text "}",    \
        "'start': 'a'"
    {IN_STAGE("'wrokers': 2"), "stages.a.wrokers is not known, did you mean "
                               "workers?"},
    {IN_STAGE("'workers': 0"), "stages.a.workers is 0, want"},
    {IN_STAGE("'replicas': 1.5"), "stages.a.replicas is 1.5, want"},
    {IN_STAGE("'service': -1"), "stages.a.service is -1, want"},
    {IN_STAGE("'service': {'lognormal': {'mean': -3, 'cv': 1}}"),
     "stages.a.service.lognormal.mean is -3, want"},
    {IN_STAGE("'service': {'lognormal': {'mean': 3}}"),
     "stages.a.service.lognormal.cv is missing, want"},
    {IN_STAGE("'service': {'lognorm': {'mean': 3}}"),
     "stages.a.service.lognorm is not known, did you mean lognormal?"},
    {IN_STAGE("'service': {'quantiles': [[0, 1], [0.5, 0.5]]}"),
     "stages.a.service.quantiles[1] is [0.5,0.5], want"},
    {IN_STAGE("'service': {'quantiles': [[0.5, 1], [0.5, 2]]}"),
     "stages.a.service.quantiles[1] is [0.5,2], want"},
    {IN_STAGE("'service': {'samples': []}"),
     "stages.a.service.samples is [], want"},
    {IN_STAGE("'service': {'bimodal': {'mean': 1, 'slow': 5, 'share': 2}}"),
     "stages.a.service.bimodal.share is 2, want"},
    {IN_STAGE("'service': {'pareto': {'mean': 1, 'alpha': 1}}"),
     "stages.a.service.pareto.cap is missing, want"},
    {IN_STAGE("'call': 'async'"), "stages.a.call is \"async\", want"},
    {IN_STAGE("'class_factor': {'nobody': 2}"),
     "stages.a.class_factor.nobody is not known"},
    {IN_STAGE("'batching': {'max_batch': 0}"),
     "stages.a.batching.max_batch is 0, want"},
    {IN_STAGE("'batching': {'max_batch': 4, 'law': [[1, 1], [1, 2]]}"),
     "stages.a.batching.law[1] is [1,2], want"},
    {IN_STAGE("'platform': 'h100'"), "stages.a.platform is not known"},
    {"", "'e2e': {'kind': 'tool'}", "'start': 'e2e'", "stages.e2e is"},
    {"", "'a': {'kind': 'tool'}, 'a': {'kind': 'tool'}", "'start': 'a'",
     "stages.a is"},
    {"", "", "'start': 'a'", "stages is {}, want"},
    {"", "'a': 3", "'start': 'a'", "stages.a is 3, want an object"},
    {"", "'a': {'service': 3}", "'start': 'a'", "stages.a.kind is missing"},
    {IN_EDGE("'prob': 1.5"), "flow.edges[0].prob is 1.5, want"},
    {IN_EDGE("'copies': 0"), "flow.edges[0].copies is 0, want"},
    {IN_EDGE("'copies': {'geometric': 0.5}"),
     "flow.edges[0].copies.geometric is 0.5, want"},
    {IN_EDGE("'wait': 'some'"), "flow.edges[0].wait is \"some\", want"},
    {IN_EDGE("'loop': {'again': 2}"), "flow.edges[0].loop.again is 2, want"},
    {IN_EDGE("'retry': {'timeout_ms': 0}"),
     "flow.edges[0].retry.timeout_ms is 0, want"},
    {IN_EDGE("'classes': ['nobody']"),
     "flow.edges[0].classes[0] is \"nobody\", want"},
    {IN_EDGE("'step': 0"), "flow.edges[0].step is 0, want"},
    {IN_EDGE("'weight': 0"), "flow.edges[0].weight is not known"},
    {CLASSES, STAGES, "'start': 'c'", "flow.start is \"c\", want"},
    {CLASSES, STAGES, "'start': 'a', 'edges': [{'from': 'a', 'to': 'nowhere'}]",
     "flow.edges[0].to is \"nowhere\", want"},
    {CLASSES, STAGES,
     "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}, {'from': 'b', 'to': "
     "'a'}]",
     "flow.edges lead from stage 'a' back to it"},
    {CLASSES, STAGES, "'start': 'a', 'edges': [{'from': 'b', 'to': 'b'}]",
     "flow.edges lead from stage 'b' back to it"},
    {CLASSES, STAGES,
     "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'copies': 1000, 'loop': "
     "{'again': 1, 'most': 600}, 'retry': {'timeout_ms': 9}}]",
     "flow.edges make 1.2e+06 visits for one request, want at most 1000000"},
    {CLASSES, STAGES ", 'c': {'kind': 'tool'}",
     "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'copies': 1000, 'loop': "
     "{'again': 1, 'most': 1000}}, {'from': 'b', 'to': 'c', 'copies': 3}]",
     "flow.edges make 4e+06 visits for one request, want at most 1000000"},
    {IN_TOP("'classes': [{'name': 'x', 'share': 0.5}, {'name': 'y', "
            "'share': 0.4}]"),
     "classes[].share add up to 0.9, want 1"},
    {IN_TOP("'classes': [{'name': 'x', 'share': 0.5}, {'name': 'x', "
            "'share': 0.5}]"),
     "classes[1].name is \"x\", want"},
    {IN_TOP("'classes': [{'name': 'x', 'share': -1}]"),
     "classes[0].share is -1, want"},
    {IN_TOP("'classes': [{'name': 'x', 'input_token': 1}]"),
     "classes[0].input_token is not known, did you mean input_tokens?"},
    {IN_TOP("'size': 3"), "size is 3, want"},
    {IN_TOP("'claases': []"), "claases is not known, did you mean classes?"},
    {IN_SLO("'metric': 'tpot', 'percentile': 99, 'limit_ms': 5"),
     "slo[0].metric is \"tpot\", want \"e2e\": no stage is of kind llm"},
    {IN_SLO("'class': 'gold', 'percentile': 99, 'limit_ms': 5"),
     "slo[0].class is \"gold\", want one of classes: read, write"},
    {IN_SLO("'class': 'read', 'percentile': 0.99, 'limit_ms': 5"),
     "slo[0].percentile is 0.99, want a number from 50 to 99.999: 0.99 is "
     "meant as 99"},
    {IN_SLO("'class': 'read', 'percentile': 100, 'limit_ms': 5"),
     "slo[0].percentile is 100, want"},
    {IN_SLO("'class': 'read', 'percentile': 99, 'limit_ms': -5"),
     "slo[0].limit_ms is -5, want"},
    {IN_SLO("'class': 'read', 'percentile': 99"),
     "slo[0].limit_ms is missing, want"},
    {IN_TOP("'arrivals': {'process': 'uniform'}"),
     "arrivals.process is \"uniform\", want"},
    {IN_TOP("'arrivals': {'process': 'poisson', 'rate': -1}"),
     "arrivals.rate is -1, want"},
    {IN_TOP("'arrivals': {'process': 'poisson', 'cv': 2}"),
     "arrivals.cv is 2, want"},
    {IN_TOP("'arrivals': {'process': 'log'}"), "arrivals.file is missing"},
    {IN_TOP("'arrivals': {'process': 'mmpp', 'factor': 9}"),
     "arrivals.factor is 9, want at most"},
    {IN_TOP("'arrivals': {'rate': 1, 'profile': [[5, 1], [4, 1]]}"),
     "arrivals.profile[1] is [4,1], want"},
    {IN_LLM("'batching': {'max_num_seq': 3}"),
     "stages.a.batching.max_num_seq is not known, did you mean max_num_seqs?"},
    {IN_LLM("'batching': {'max_batch_size': 3}"),
     "stages.a.batching.max_batch_size is not known"},
    {IN_LLM("'engine': 'trtllm', 'batching': {'max_batch_size': 3, "
            "'max_num_seqs': 3}"),
     "stages.a.batching.max_batch_size is 3, want it once"},
    {IN_LLM("'parallel': {'tp': 0}"), "stages.a.parallel.tp is 0, want"},
    {IN_LLM("'precision': 'fp7'"), "stages.a.precision is \"fp7\", want"},
    {IN_LLM("'disaggregated': {'prefill': {}}"),
     "stages.a.disaggregated.decode is missing"},
    {IN_LLM("'service': 3"), "stages.a.service is not known"},
    {"", "'a': {'kind': 'llm', 'platform': 'h100'}", "'start': 'a'",
     "stages.a.model is missing"},
    {"", "'a': {'kind': 'llm', 'model': 'm'}", "'start': 'a'",
     "stages.a.platform is missing"},
};

static void test_app__refuses_by_path(void)
{
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        const char *says = WRONG[i].says;
        struct msim_app app;
        char got[1024];

        CHECK_INT(
            made_read(&app, WRONG[i].more, WRONG[i].stages, WRONG[i].flow),
            MSIM_EFORMAT);
        snprintf(got, sizeof(got), "%.*s", (int)strlen(says), made_error.text);
        CHECK_STR(got, says);
        CHECK_STR(made_error.file, made_path("app.json"));
        CHECK(!app.arena.chunks);
    }
}

/* A file with more stages than any application has takes no time. */
static void test_app__refuses_too_many(void)
{
    static char stages[40000];
    struct msim_app app;
    size_t used = 0;
    FILE *f = fopen(made_path("app.json"), "w");

    REQUIRE(f);
    for (int i = 0; i < 1001; i++)
        used += (size_t)snprintf(stages + used, sizeof(stages) - used,
                                 "%s\"s%d\": {\"kind\": \"tool\"}",
                                 i ? ", " : "", i);
    fprintf(f,
            "{\"schema\": \"mystique-sim/app/1\", \"stages\": {%s}, "
            "\"flow\": {\"start\": \"s0\"}}",
            stages);
    fclose(f);
    made_error = (struct msim_error){0};
    CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
              MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "want an object of 1 to 1000 stages"));
}

static void test_app__refuses_another_schema(void)
{
    struct msim_app app;

    made_error = (struct msim_error){0};
    made_put("app.json", "{'schema': 'mystique-sim/app/2'}");
    CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
              MSIM_EFORMAT);
    CHECK(strstr(made_error.text, "schema is \"mystique-sim/app/2\""));
    made_error = (struct msim_error){0};
    made_put("app.json", "[]");
    CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
              MSIM_EFORMAT);
    made_error = (struct msim_error){0};
    made_put("app.json", "{");
    CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
              MSIM_ESYNTAX);
}

/* A file that an application names lies beside it. */
static void test_app__finds_samples_beside_it(void)
{
    struct msim_app app;

    made_put("s.csv", "value\n1\n2\n6\n");
    REQUIRE(made_read(&app, "",
                      "'a': {'kind': 'tool', 'service': {'samples': "
                      "'s.csv'}}",
                      "'start': 'a'") == MSIM_OK);
    CHECK_INT(app.stages[0].service.kind, MSIM_DIST_SAMPLES);
    CHECK_REL(msim_dist_mean(&app.stages[0].service), 3, 1e-15);
    msim_app_release(&app);
    made_put("s.csv", "value\n1\n-2\n");
    CHECK_INT(made_read(&app, "",
                        "'a': {'kind': 'tool', 'service': "
                        "{'samples': 's.csv'}}",
                        "'start': 'a'"),
              MSIM_EFORMAT);
    CHECK_STR(made_error.file, made_path("s.csv"));
    CHECK(strstr(made_error.text, "line 3: '-2'"));
}

/* What the applications of the shared measurements say is read. */
static void test_app__reads_topologies(void)
{
    static const char *const NAMES[] = {
        "agent-1",    "hotel-1",   "media-1",    "rag-1",
        "random5-1",  "random8-1", "random14-1", "random20-1",
        "random30-1", "recsys-1",  "social-1",   "video-1"};

    if (!*MSIM_TRACES)
        SKIP("no MSIM_TRACES");
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        char path[512];
        struct msim_app app;
        struct msim_error err = {0};

        snprintf(path, sizeof(path), "%s/serving/topologies/%s.app.json",
                 MSIM_TRACES, NAMES[i]);
        REQUIRE(msim_app_read(&app, path, &err) == MSIM_OK);
        CHECK_STR(app.name, NAMES[i]);
        CHECK(app.n_promises && app.n_edges && app.arrivals.rate > 0);
        msim_app_release(&app);
    }
}

/* What is shipped is read, and takes nothing for granted that matters. */
static void test_app__reads_what_is_shipped(void)
{
    static const char *const NAMES[] = {
        "agent", "chat", "image-to-text", "rag", "recommendation", "summarise"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        char path[512];
        struct msim_app app;
        struct msim_error err = {0};

        snprintf(path, sizeof(path), "%s/apps/%s.json", MSIM_DATA, NAMES[i]);
        CHECK_INT(msim_app_read(&app, path, &err), MSIM_OK);
        CHECK_STR(err.text, "");
        CHECK_STR(app.name, NAMES[i]);
        CHECK(app.n_promises && app.arrivals.rate > 0);
        for (uint32_t s = 0; s < app.n_stages; s++)
            CHECK(app.stages[s].kind == MSIM_STAGE_LLM ||
                  app.stages[s].service.kind != MSIM_DIST_NONE);
        msim_app_release(&app);
    }
}

int main(void)
{
    static const char *const FILES[] = {"app.json", "s.csv", NULL};

    made_begin();
    RUN(test_app__says_what_the_file_says);
    RUN(test_app__engines_have_their_own_defaults);
    RUN(test_app__settings_go_with_the_machine);
    RUN(test_app__fills_in);
    RUN(test_app__refuses_by_path);
    RUN(test_app__refuses_too_many);
    RUN(test_app__refuses_another_schema);
    RUN(test_app__finds_samples_beside_it);
    RUN(test_app__reads_topologies);
    RUN(test_app__reads_what_is_shipped);
    made_end(FILES);
    return check_summary();
}

/* plan/search/spec.c: the question of a plan, member by member, of a described
 * model and of a traced step, and what is refused. */
#include "plan/search/spec.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct msim_error err;
static struct msim_spec spec;

/* Its text uses ' for ". "" or what is wrong. */
static const char *read_as(const char *path, const char *text)
{
    char json[4096];
    size_t n = 0;
    enum msim_status status;
    cJSON *read;

    for (; *text && n + 1 < sizeof(json); text++)
        json[n++] = *text == '\'' ? '"' : *text;
    json[n] = '\0';
    read = cJSON_Parse(json);
    CHECK(read != NULL);
    err = (struct msim_error){0};
    status = msim_spec_of_json(&spec, read, path, MSIM_DATA, &err);
    CHECK_INT(status, err.status);
    cJSON_Delete(read);
    return err.text;
}

#define HEAD "'model': 'llama3-8b', 'global_batch': 64, 'gpus': 8, "
#define ON   "'platforms': ['h100']"

/* A described model with those members; a traced step. */
static const char *of_model(const char *members)
{
    char text[3000];

    snprintf(text, sizeof(text), "{" HEAD ON "%s%s}", *members ? ", " : "",
             members);
    return read_as("dir/spec.json", text);
}

static const char *of_trace(const char *members)
{
    char text[3000];

    snprintf(text, sizeof(text), "{'trace': 't.json', 'gpus': 8, " ON "%s%s}",
             *members ? ", " : "", members);
    return read_as("dir/spec.json", text);
}

struct refused {
    const char *members, *says;
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- a described model --------------------------------------------------- */

static void test_spec__of_a_model(void)
{
    CHECK_STR(of_model(""), "");
    CHECK_STR(spec.file, "dir/spec.json");
    CHECK_STR(spec.name, "llama3-8b");
    CHECK_INT(spec.model.layers, 32);
    CHECK(!spec.traced);
    CHECK_INT(spec.sequence, 4096);
    CHECK_INT(spec.global_batch, 64);
    CHECK_REL(spec.total, 0, 0);
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_TOKENS);
    CHECK_STR(spec.currency, "USD");
    CHECK_REL(spec.most_points, 1e6, 0);
    CHECK(isinf(spec.most_days) && isinf(spec.most_cost) &&
          isinf(spec.most_gpus) && isinf(spec.most_memory_gib) &&
          isinf(spec.most_latency_us));
    CHECK_REL(spec.least_rate, 0, 0);
    CHECK(!msim_spec_is_limited(&spec));
    CHECK(!msim_spec_batch_varies(&spec));
    CHECK_INT(spec.n_platforms, 1);
    CHECK_STR(spec.platforms[0].name, "h100");
    CHECK_STR(spec.platforms[0].network, "");
    CHECK_REL(spec.platforms[0].price, 0, 0);
    CHECK_INT(msim_spec_gpus(&spec)->n, 1);
    CHECK_INT(msim_spec_gpus(&spec)->v[0], 8);
    /* tp 4, pp 5, zero 2, micro batches 4, recompute 2 */
    CHECK_REL(msim_spec_points(&spec), 4 * 5 * 2 * 4 * 2, 0);
}

/* Values of "ep" as text. */
static const char *spread(const char *model, const char *members)
{
    static char text[256];
    uint32_t d = 0;

    snprintf(text, sizeof(text),
             "{'model': '%s', 'global_batch': 64, 'gpus': 8, " ON "%s}", model,
             members);
    CHECK_STR(read_as("dir/spec.json", text), "");
    while (msim_spec_dimension_at(false, d)->place != MSIM_GIVEN_ep)
        d++;
    text[0] = '\0';
    for (uint32_t i = 0; i < spec.values[d].n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %lld",
                 (long long)spec.values[d].v[i]);
    return text;
}

static void test_spec__experts(void)
{
    CHECK_STR(spread("llama3-8b", ""), " 1");
    CHECK_STR(spread("mixtral-8x7b", ""), " 1 2 4 8");
    CHECK_STR(spread("qwen3-30b-a3b", ""), " 1 2 4 8 16 32 64");
    CHECK_STR(spread("qwen3-30b-a3b", ", 'ep': [1, 5]"), " 1 5");
    /* They count as points. */
    CHECK_STR(spread("mixtral-8x7b", ", 'most_points': 1280"), " 1 2 4 8");
    CHECK(strstr(read_as("dir/spec.json",
                         "{'model': 'mixtral-8x7b', 'global_batch': 64, "
                         "'gpus': 8, " ON ", 'most_points': 1279}"),
                 "the spec has 1280 points") != NULL);
}

static void test_spec__members(void)
{
    CHECK_STR(
        read_as("spec.json",
                "{" HEAD "'tokens': 1e12, 'sequence': 8192, 'currency': "
                "'fifteen letters', 'most_points': 1e8, 'platforms': [{'name': "
                "'a100', 'network': 'ethernet-100', 'price_per_gpu_hour': 2.5, "
                "'power_w': 900}, 'h100'], 'limits': {'days': 30, 'cost': 2e6, "
                "'gpus': 512, 'memory_gib': 70, 'tokens_per_second': 5}}"),
        "");
    CHECK_REL(spec.total, 1e12, 0);
    CHECK_INT(spec.sequence, 8192);
    CHECK_STR(spec.currency, "fifteen letters");
    CHECK_REL(spec.most_points, 1e8, 0);
    CHECK_INT(spec.n_platforms, 2);
    CHECK_STR(spec.platforms[0].name, "a100");
    CHECK_STR(spec.platforms[0].network, "ethernet-100");
    CHECK_REL(spec.platforms[0].price, 2.5, 0);
    CHECK_REL(spec.platforms[0].power_w, 900, 0);
    CHECK_REL(spec.most_days, 30, 0);
    CHECK_REL(spec.most_cost, 2e6, 0);
    CHECK_REL(spec.most_gpus, 512, 0);
    CHECK_REL(spec.most_memory_gib, 70, 0);
    CHECK_REL(spec.least_rate, 5, 0);
    CHECK(msim_spec_is_limited(&spec));
    CHECK_REL(msim_spec_points(&spec), 2 * 320, 0);
}

/* Each limit alone is one, but for that of memory. */
static void test_spec__is_limited(void)
{
    static const char *const LIMITS[] = {
        "'tokens': 1, 'limits': {'days': 1}", "'limits': {'gpus': 1}",
        "'limits': {'tokens_per_second': 0.5}"};

    for (size_t i = 0; i < COUNT(LIMITS); i++) {
        CHECK_STR(of_model(LIMITS[i]), "");
        CHECK(msim_spec_is_limited(&spec));
    }
    CHECK_STR(of_model("'limits': {'memory_gib': 1}"), "");
    CHECK(!msim_spec_is_limited(&spec));
    CHECK_STR(read_as("s", "{" HEAD "'tokens': 1, 'limits': {'cost': 1}, "
                           "'platforms': ['a100', {'name': 'h100', "
                           "'price_per_gpu_hour': 1}]}"),
              "");
    CHECK(msim_spec_is_limited(&spec));
    CHECK_STR(of_trace("'limits': {'latency_ms': 1}"), "");
    CHECK(msim_spec_is_limited(&spec));
}

#define OF_TRACED                                                              \
    ", want nothing: it is a member of traced steps, and this is a described " \
    "model"

static void test_spec__refuses_of_models(void)
{
    static const struct refused CASES[] = {
        {"'modle': 3", "modle is not known, did you mean model?"},
        {"'samples': 3", "samples is 3" OF_TRACED},
        {"'host': 'x'", "host is \"x\"" OF_TRACED},
        {"'shard': 'ddp'", "shard is \"ddp\"" OF_TRACED},
        {"'layers': 3", "layers is 3" OF_TRACED},
        {"'sequence': 0", "sequence is 0, want a whole number from 1"},
        {"'tokens': 0", "tokens is 0, want a number above 0"},
        {"'most_points': 100000001",
         "most_points is 100000001, want at most 100000000: every feasible "
         "point is kept; give fewer values, or several specs"},
        {"'currency': 'sixteen letters!'",
         "currency is \"sixteen letters!\", want a short name, such as "
         "\"EUR\""},
        {"'limits': {'days': 3}",
         "tokens is missing, want a number, since limits.days is of all the "
         "work"},
        {"'limits': {'cost': 3}",
         "tokens is missing, want a number, since limits.cost is of all the "
         "work"},
        {"'tokens': 1, 'limits': {'cost': 3}",
         "platforms is [\"h100\"], want one with \"price_per_gpu_hour\", since "
         "limits.cost is of money"},
        {"'limits': {'latency_ms': 3}",
         "limits.latency_ms is not known, want days, cost, gpus, memory_gib or "
         "tokens_per_second"},
        {"'limits': {'days': 0}", "limits.days is 0, want a number above 0"},
        {"'limits': 3", "limits is 3, want an object"},
        {"'most_points': 319",
         "the spec has 320 points, and \"most_points\" is 319: give fewer "
         "values, or a larger bound"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++)
        CHECK_STR(of_model(CASES[i].members), CASES[i].says);
    CHECK_INT(err.status, MSIM_ELIMIT);
    CHECK_STR(of_model("'most_points': 320"), "");
}

static void test_spec__refuses(void)
{
    static const struct refused CASES[] = {
        {"[]", "this is not a JSON object, want a plan's spec"},
        {"{'global_batch': 1, 'gpus': 8, " ON "}",
         "model is missing, want a name of data/models, a file, or an object "
         "with the model's numbers; or want "
         "\"trace\""},
        {"{'model': 'llama3-8b', 'gpus': 8, " ON "}",
         "global_batch is missing, want a whole number from 1"},
        {"{" HEAD "'platforms': []}",
         "platforms is [], want a name, {\"name\": ..., "
         "\"price_per_gpu_hour\": ...}, or an array of them"},
        {"{" HEAD "'platforms': 3}",
         "platforms is 3, want a name, {\"name\": ..., "
         "\"price_per_gpu_hour\": ...}, or an array of them"},
        {"{" HEAD "'platforms': ['h100', {}]}",
         "platforms[1].name is missing, want a GPU that 'platforms' lists"},
        {"{" HEAD "'platforms': [{'name': 'h100', 'prize': 1}]}",
         "platforms[0].prize is not known, want name, network, "
         "price_per_gpu_hour or power_w"},
        {"{" HEAD "'platforms': [{'name': 'h100', 'price_per_gpu_hour': 0}]}",
         "platforms[0].price_per_gpu_hour is 0, want a number above 0"},
        {"{'model': 'dlrm-mlperf', 'global_batch': 64, 'gpus': 8, " ON "}",
         "model is \"dlrm-mlperf\", want a transformer: of a dlrm, synth "
         "writes traces, and predict takes them"},
        /* 14 x 14 patches and a class */
        {"{'model': 'vit-b-16', 'sequence': 7, 'global_batch': 64, 'gpus': "
         "8, " ON "}",
         "sequence is 7, want what the model takes, 197, or nothing"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        CHECK_STR(read_as("spec.json", CASES[i].members), CASES[i].says);
        CHECK(err.status != MSIM_OK);
    }
}

/* 24 platforms, and no more. */
static void test_spec__many_platforms(void)
{
    char text[1000] = "{" HEAD "'platforms': ['h100'";

    for (int i = 1; i < 24; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
                 ", 'h100'");
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
    CHECK_STR(read_as("spec.json", text), "");
    CHECK_INT(spec.n_platforms, 24);
    snprintf(text + strlen(text) - 2, sizeof(text) - strlen(text), "%s",
             ", 'h100']}");
    CHECK(strstr(read_as("spec.json", text), "want at most 24 of them") !=
          NULL);
}

/* A file beside the spec is meant first; else it is where the program runs. */
static void test_spec__models_of_files(void)
{
    char folder[] = P_tmpdir "/msim-spec-XXXXXX", path[128], file[128];
    FILE *f;

    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/spec.json", folder);
    snprintf(file, sizeof(file), "%s/m.json", folder);
    f = fopen(file, "w");
    REQUIRE(f != NULL);
    fputs("{\"hidden_size\": 64, \"num_hidden_layers\": 2, "
          "\"num_attention_heads\": 4, \"intermediate_size\": 128, "
          "\"vocab_size\": 1000, \"model_type\": \"llama\"}",
          f);
    fclose(f);
    CHECK_STR(read_as(path, "{'model': 'm.json', 'global_batch': 1, 'gpus': 1, "
                            "'sequence': 16, " ON "}"),
              "");
    CHECK_INT(spec.model.hidden, 64);
    CHECK_INT(unlink(file), 0);
    CHECK_INT(rmdir(folder), 0);
    (void)read_as(path,
                  "{'model': 'm.json', 'global_batch': 1, 'gpus': 1, " ON "}");
    CHECK_INT(err.status, MSIM_EIO);
    CHECK_STR(err.file, "m.json");
}

/* ---- a traced step ------------------------------------------------------- */

static void test_spec__of_a_trace(void)
{
    CHECK_STR(of_trace(""), "");
    CHECK(spec.traced);
    CHECK_STR(spec.name, "t.json");
    CHECK_INT(spec.n_traces, 1);
    CHECK_STR(spec.trace[0], "dir/t.json");
    CHECK_INT(spec.sequence, 1);
    CHECK_INT(spec.global_batch, 0);
    CHECK(msim_spec_batch_varies(&spec));
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_SAMPLES);
    CHECK(!spec.unit_given);
    CHECK_REL(spec.most_points, 1e4, 0);
    CHECK_REL(msim_spec_points(&spec), 1, 0);
    CHECK_STR(of_trace("'global_batch': 5, 'traced_batch': 7, 'host': 'x', "
                       "'samples': 1e9, 'most_points': 1e6, 'limits': "
                       "{'samples_per_second': 9}"),
              "");
    CHECK(!msim_spec_batch_varies(&spec));
    CHECK_INT(spec.traced_batch, 7);
    CHECK_STR(spec.host, "x");
    CHECK_REL(spec.total, 1e9, 0);
    CHECK_REL(spec.least_rate, 9, 0);
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_SAMPLES);
    CHECK(spec.unit_given);
    CHECK_STR(spec.unit_member, "limits.samples_per_second");
    CHECK_STR(of_trace("'samples': 3"), "");
    CHECK_STR(spec.unit_member, "samples");
}

/* Whose answers are counted, it serves: cost is of a million, or of an hour. */
static void test_spec__of_requests(void)
{
    CHECK_STR(of_trace("'requests': 3"), "");
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_REQUESTS);
    CHECK(!msim_spec_is_hourly(&spec));
    CHECK_STR(of_trace("'limits': {'latency_ms': 2.5}"), "");
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_REQUESTS);
    CHECK_REL(spec.most_latency_us, 2500, 0);
    CHECK_STR(spec.unit_member, "limits.latency_ms");
    CHECK(msim_spec_is_hourly(&spec));
    msim_spec_serve(&spec);
    CHECK_REL(spec.total, 1e6, 0);
    CHECK(!msim_spec_is_hourly(&spec));
    CHECK_STR(of_trace("'limits': {'requests_per_second': 0.5}"), "");
    CHECK_REL(spec.least_rate, 0.5, 0);
    msim_spec_serve(&spec);
    CHECK_REL(spec.total, 0, 0);
    CHECK(msim_spec_is_hourly(&spec));
    CHECK_STR(of_trace("'samples': 5"), "");
    CHECK(!msim_spec_is_hourly(&spec));
    msim_spec_serve(&spec);
    CHECK_INT(spec.unit, MSIM_SPEC_UNIT_REQUESTS);
    CHECK_REL(spec.total, 5, 0);
    /* by the hour, a limit of cost needs no total */
    CHECK_STR(read_as("s", "{'trace': 't', 'gpus': 8, 'limits': {'cost': 1, "
                           "'requests_per_second': 4}, 'platforms': [{'name': "
                           "'h100', 'price_per_gpu_hour': 1}]}"),
              "");
    CHECK_STR(msim_spec_unit_text(MSIM_SPEC_UNIT_TOKENS), "tokens");
    CHECK_STR(msim_spec_unit_text(MSIM_SPEC_UNIT_SAMPLES), "samples");
    CHECK_STR(msim_spec_unit_text(MSIM_SPEC_UNIT_REQUESTS), "requests");
}

/* Paths lie in the spec's folder, but those from the root; 16 at most. */
static void test_spec__traces(void)
{
    char text[600] = "{'gpus': 8, " ON ", 'trace': ['a/', '/b/c.json'", name[4];

    for (int i = 2; i < 16; i++) {
        snprintf(name, sizeof(name), "%c", 'a' + i);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), ", '%s'",
                 name);
    }
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
    CHECK_STR(read_as("x/y/s.json", text), "");
    CHECK_INT(spec.n_traces, 16);
    CHECK_STR(spec.trace[0], "x/y/a/");
    CHECK_STR(spec.trace[1], "/b/c.json");
    CHECK_STR(spec.trace[15], "x/y/p");
    CHECK_STR(spec.name, "x/y/a/"); /* a folder has its whole path */
    snprintf(text + strlen(text) - 2, sizeof(text) - strlen(text), "%s",
             ", 'q']}");
    CHECK(strstr(read_as("s.json", text),
                 "want a path, or an array of 16 paths at most") != NULL);
    CHECK_STR(read_as("s.json", "{'gpus': 8, " ON ", 'trace': '/b/c.json'}"),
              "");
    CHECK_STR(spec.name, "c.json");
    CHECK_STR(spec.trace[0], "/b/c.json");
    CHECK_STR(read_as("s.json", "{'gpus': 8, " ON ", 'trace': 'x/t'}"), "");
    CHECK_STR(spec.name, "t");
}

#define OF_DESCRIBED                                                           \
    ", want nothing: it is a member of described models, and this is a "       \
    "traced step"

static void test_spec__refuses_of_traces(void)
{
    static const struct refused CASES[] = {
        {"'model': 'x'", "model is \"x\"" OF_DESCRIBED},
        {"'tokens': 3", "tokens is 3" OF_DESCRIBED},
        {"'zero': 3", "zero is 3" OF_DESCRIBED},
        {"'global_batch': 0", "global_batch is 0, want a whole number from 1"},
        {"'traced_batch': 0", "traced_batch is 0, want a whole number from 1"},
        {"'samples': 1, 'requests': 1",
         "requests is 1, want none, since another member counts in samples"},
        {"'samples': 1, 'limits': {'latency_ms': 1}",
         "limits.latency_ms is 1, want none, since another member counts in "
         "samples"},
        {"'limits': {'samples_per_second': 1, 'requests_per_second': 1}",
         "limits.requests_per_second is 1, want none, since another member "
         "counts in samples"},
        {"'limits': {'tokens_per_second': 1}",
         "limits.tokens_per_second is not known, did you mean "
         "samples_per_second?"},
        {"'limits': {'days': 1}",
         "samples is missing, want a number, since limits.days is of all the "
         "work"},
        {"'most_points': 1000001",
         "most_points is 1000001, want at most 1000000: every point is a "
         "simulation; give fewer values, or several specs"},
    };

    for (size_t i = 0; i < COUNT(CASES); i++) {
        CHECK_STR(of_trace(CASES[i].members), CASES[i].says);
        CHECK_INT(err.status, MSIM_EFORMAT);
    }
    CHECK_STR(read_as("s", "{'trace': '', 'gpus': 8, " ON "}"),
              "trace is \"\", want a path, or an array of 16 paths at most");
    CHECK_STR(read_as("s", "{'trace': [], 'gpus': 8, " ON "}"),
              "trace is [], want a path, or an array of 16 paths at most");
    CHECK_STR(read_as("s", "{'trace': ['x', 3], 'gpus': 8, " ON "}"),
              "trace is [\"x\",3], want a path, or an array of 16 paths at "
              "most");
}

int main(void)
{
    RUN(test_spec__of_a_model);
    RUN(test_spec__members);
    RUN(test_spec__experts);
    RUN(test_spec__is_limited);
    RUN(test_spec__refuses_of_models);
    RUN(test_spec__refuses);
    RUN(test_spec__many_platforms);
    RUN(test_spec__models_of_files);
    RUN(test_spec__of_a_trace);
    RUN(test_spec__of_requests);
    RUN(test_spec__traces);
    RUN(test_spec__refuses_of_traces);
    return check_summary();
}

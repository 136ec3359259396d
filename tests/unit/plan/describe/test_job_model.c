/* plan/describe/job_model.c and describe_dlrm.c: models of other sizes, and
 * recommendation models, at their limits and as they are refused. */
#include "plan/describe/describe_internal.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_error err;
static char text_of[8192];

/* Its text uses ' for ". */
static cJSON *json_of(const char *text)
{
    size_t n = 0;
    cJSON *json;

    for (; *text && n + 1 < sizeof(text_of); text++)
        text_of[n++] = *text == '\'' ? '"' : *text;
    text_of[n] = '\0';
    json = cJSON_Parse(text_of);
    CHECK(json != NULL);
    return json;
}

/* ---- other sizes --------------------------------------------------------- */

static struct msim_job_model change;

/* Read each member, twice where `twice`; "" or what is wrong. */
static const char *read_change(const char *text, bool twice)
{
    cJSON *json = json_of(text), *item;
    struct msim_fields f;

    change = (struct msim_job_model){0};
    err = (struct msim_error){0};
    f = msim_fields_of(json, "s.json", &err);
    for (int i = 0; i <= twice; i++)
        cJSON_ArrayForEach(item, json)
            msim_job_model_read(&change, &f, item->string);
    CHECK_INT(f.status, err.status);
    cJSON_Delete(json);
    return err.text;
}

static void test_job_model__is_read(void)
{
    CHECK_STR(read_change("{}", false), "");
    CHECK(msim_job_model_is_same(&change));
    CHECK(msim_job_model_has_same_sizes(&change));
    CHECK_STR(read_change("{'hidden': 1000000000, 'heads': {'from': 8, 'to': "
                          "16}, 'ffn': {'to': 5}, 'vocab': 7, 'layers': 10000}",
                          false),
              "");
    CHECK_INT(change.hidden.from, 0);
    CHECK_INT(change.hidden.to, 1000000000);
    CHECK_INT(change.heads.from, 8);
    CHECK_INT(change.heads.to, 16);
    CHECK_INT(change.ffn.from, 0);
    CHECK_INT(change.ffn.to, 5);
    CHECK_INT(change.vocab.to, 7);
    CHECK_INT(change.layers, 10000);
    CHECK(!msim_job_model_is_same(&change));
    CHECK(!msim_job_model_has_same_sizes(&change));
    CHECK_STR(read_change("{'layers': {'block': 'blocks', 'to': 3}}", false),
              "");
    CHECK_INT(change.layers, 3);
    CHECK(msim_job_model_has_same_sizes(&change));
    CHECK(!msim_job_model_is_same(&change));
    CHECK_STR(read_change("{'vocab': 3}", false), "");
    CHECK(!msim_job_model_has_same_sizes(&change));
}

static void test_job_model__is_refused(void)
{
    static const char *const CASES[][2] = {
        {"{'hidden': 0}", "hidden is 0, want a whole number from 1"},
        {"{'hidden': 'x'}",
         "hidden is \"x\", want a number, or {\"from\": 8, \"to\": 64}"},
        {"{'hidden': 1000000001}",
         "hidden is 1000000001, want sizes of at most 1,000,000,000"},
        {"{'heads': {'from': 1000000001, 'to': 1}}",
         "heads is {\"from\":1000000001,\"to\":1}, want sizes of at most "
         "1,000,000,000"},
        {"{'heads': {'from': 1}}",
         "heads.to is missing, want a whole number from 1"},
        {"{'layers': 10001}", "layers is 10001, want at most 10,000 layers"},
        {"{'layers': 0}", "layers is 0, want a whole number from 1"},
        {"{'layers': {'to': 10001}}",
         "layers.to is 10001, want at most 10,000 layers"},
        {"{'layers': {'block': 'x', 'to': 1}}",
         "layers.block is \"x\", want blocks"}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(read_change(CASES[i][0], false), CASES[i][1]);
    CHECK(strncmp(read_change("{'heads': {'of': 1, 'to': 2}}", false),
                  "heads.of is not known", 21) == 0);
    CHECK_STR(read_change("{'vocab': 3}", true),
              "vocab is 3, want each size once a scenario");
    CHECK_STR(read_change("{'layers': 3}", true),
              "layers is 3, want the number of layers once a scenario");
}

static struct msim_described base, made;
static char why[200];

/* Eight heads of 8, four of keys, in a width of 64; a network of 160. */
static const char *make(const char *text)
{
    CHECK_STR(read_change(text, false), "");
    return msim_job_model_make(&made, &base, &change, why, sizeof(why)) ? ""
                                                                        : why;
}

static void begin(void)
{
    base = (struct msim_described){.layers = 4,
                                   .hidden = 64,
                                   .heads = 8,
                                   .kv_heads = 4,
                                   .head_dim = 8,
                                   .ffn = 160,
                                   .vocab = 100};
    base.moe.ffn = 32;
}

static void test_job_model__follows(void)
{
    begin();
    CHECK_STR(make("{}"), "");
    CHECK(memcmp(&made, &base, sizeof(made)) == 0);
    CHECK_STR(make("{'hidden': {'from': 64, 'to': 96}}"), "");
    CHECK_INT(made.hidden, 96);
    CHECK_INT(made.head_dim, 12); /* as many heads */
    CHECK_INT(made.heads, 8);
    CHECK_INT(made.ffn, 240);
    CHECK_INT(made.moe.ffn, 48);
    CHECK_STR(make("{'heads': 16}"), "");
    CHECK_INT(made.head_dim, 4);
    CHECK_INT(made.kv_heads, 8);
    CHECK_INT(made.ffn, 160);
    CHECK_STR(make("{'hidden': 128, 'ffn': 5, 'vocab': 9, 'layers': 7}"), "");
    CHECK_INT(made.ffn, 5);
    CHECK_INT(made.moe.ffn, 32);
    CHECK_INT(made.vocab, 9);
    CHECK_INT(made.layers, 7);
    CHECK_STR(make("{'layers': 4}"), "");
}

static void test_job_model__cannot_be(void)
{
    begin();
    CHECK_STR(make("{'hidden': {'from': 32, 'to': 96}}"),
              "hidden: the model's is 64, not 32");
    CHECK_STR(make("{'vocab': {'from': 99, 'to': 1}}"),
              "vocab: the model's is 100, not 99");
    CHECK_STR(make("{'hidden': 68}"),
              "heads do not divide the width: 8 heads in a width of 68");
    CHECK_STR(make("{'heads': 3}"),
              "heads do not divide the width: 3 heads in a width of 64");
    base.kv_heads = 3;
    CHECK_STR(make("{'heads': 4}"),
              "kv_heads of 3 would be of 3 * 4 / 8, which "
              "is no whole number");
    begin();
    base.ffn = 161;
    CHECK_STR(make("{'hidden': 96}"), "ffn of 161 would be no whole number");
    base.ffn = 160;
    base.moe.ffn = 33;
    CHECK_STR(make("{'hidden': 96}"), "ffn of 160 would be no whole number");
    begin();
    base.moe.dense_layers = 3;
    CHECK_STR(make("{'layers': 3}"),
              "the first 3 layers have no experts; want more layers than "
              "those, found 3");
    CHECK_STR(make("{'layers': 5}"), "");
    for (int i = 0; i < 4; i++) {
        begin();
        if (i == 0)
            base.mla.kv_rank = 1;
        if (i == 1)
            base.linear.layers = 1;
        if (i == 2)
            base.index.topk = 1;
        if (i == 3)
            base.window_layers = 1;
        CHECK_STR(make("{'heads': 16}"),
                  i < 3 ? "the model has heads of several sizes, which do not "
                          "follow from its width"
                        : "");
        CHECK_STR(make("{'vocab': 3}"), "");
        CHECK_STR(make("{'layers': 5}"),
                  i % 2 ? "the model has layers of several kinds, of which "
                          "none is repeated alone"
                        : "");
    }
}

/* ---- recommendation models ----------------------------------------------- */

static const char *dlrm(const char *text)
{
    cJSON *json = json_of(text);
    struct msim_fields f;

    made = (struct msim_described){0};
    err = (struct msim_error){0};
    f = msim_fields_of(json, "m.json", &err);
    msim_described_read_dlrm(&made, &f);
    CHECK_INT(f.status, err.status);
    cJSON_Delete(json);
    return err.text;
}

#define SIZES  "'dense': 13, 'dim': 64, "
#define MLPS   "'bottom': [512, 64], 'top': [256, 1], "
#define TABLES "'tables': [{'rows': 100}]"

static void test_describe_dlrm__is_read(void)
{
    CHECK_STR(dlrm("{'name': 'x', 'type': 'dlrm', 'dense': 1000000, 'dim': "
                   "10000, 'bottom': [1000000, 10000], 'top': [1], 'lookups': "
                   "'separate', 'tables': [{'rows': 1000, 'pooling': 10000, "
                   "'count': 10000}, {'rows': 7}]}"),
              "");
    CHECK(made.bias && made.dlrm.separate);
    CHECK_INT(made.dlrm.dense, 1000000);
    CHECK_INT(made.dlrm.dim, 10000);
    CHECK_INT(made.dlrm.n_bottom, 2);
    CHECK_INT(made.dlrm.bottom[0], 1000000);
    CHECK_INT(made.dlrm.n_top, 1);
    CHECK_INT(made.dlrm.n_kinds, 2);
    CHECK_INT(made.dlrm.tables[0].rows, 1000);
    CHECK_INT(made.dlrm.tables[0].pooling, 10000);
    CHECK_INT(made.dlrm.tables[0].count, 10000);
    CHECK_INT(made.dlrm.tables[1].pooling, 1);
    CHECK_INT(made.dlrm.tables[1].count, 1);
    CHECK_STR(dlrm("{" SIZES MLPS TABLES "}"), "");
    CHECK(!made.dlrm.separate);
    CHECK_STR(dlrm("{" SIZES MLPS "'tables': [{'rows': 1e13}]}"), "");
}

#define MLP                                                                    \
    ", want 1 to 16 whole numbers from 1 to 1000000, the outputs of its "      \
    "layers: [512, 256, 64]"

static void test_describe_dlrm__is_refused(void)
{
    static const char *const CASES[][2] = {
        {"{'dim': 64, " MLPS TABLES "}",
         "dense is missing, want a whole number from 1"},
        {"{'dense': 1000001, 'dim': 64, " MLPS TABLES "}",
         "dense is 1000001, want at most 1000000"},
        {"{'dense': 13, 'dim': 10001, " MLPS TABLES "}",
         "dim is 10001, want at most 10000"},
        {"{" SIZES "'bottom': [], 'top': [1], " TABLES "}", "bottom is []" MLP},
        {"{" SIZES "'bottom': ['x', 64], 'top': [1], " TABLES "}",
         "bottom is [\"x\",64]" MLP},
        {"{" SIZES "'bottom': 64, 'top': [1], " TABLES "}", "bottom is 64" MLP},
        {"{" SIZES "'bottom': [0, 64], 'top': [1], " TABLES "}",
         "bottom is [0,64]" MLP},
        {"{" SIZES "'bottom': [1000001, 64], 'top': [1], " TABLES "}",
         "bottom is [1000001,64]" MLP},
        {"{" SIZES "'bottom': [1.5, 64], 'top': [1], " TABLES "}",
         "bottom is [1.5,64]" MLP},
        {"{" SIZES "'bottom': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,64], 'top': "
         "[1], " TABLES "}",
         "bottom is [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,64]" MLP},
        {"{" SIZES "'bottom': [63], 'top': [1], " TABLES "}",
         "bottom is [63], want \"dim\" last: its vector meets those of "
         "tables"},
        {"{" SIZES "'bottom': [64], 'top': [2], " TABLES "}",
         "top is [2], want 1 last: a click's logit"},
        {"{" SIZES MLPS "'tables': []}",
         "tables is [], want a list of 1 to 64 objects: [{\"rows\": 100000, "
         "\"pooling\": 8, \"count\": 26}]"},
        {"{" SIZES MLPS "'tables': [{}]}",
         "tables[0].rows is missing, want a whole number from 1"},
        {"{" SIZES MLPS "'tables': [{'rows': 1}, {'rows': 1, 'pooling': "
         "10001}]}",
         "tables[1].pooling is 10001, want at most 10000"},
        {"{" SIZES MLPS "'tables': [{'rows': 1, 'count': 10001}]}",
         "tables[0].count is 10001, want at most 10000"},
        {"{" SIZES MLPS TABLES ", 'lookups': 'x'}",
         "lookups is \"x\", want fused or separate"},
        {"{" SIZES MLPS TABLES ", 'size': 1}", "size is not known, want name, "
                                               "type, dense, dim, bottom, top, "
                                               "tables or lookups"}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(dlrm(CASES[i][0]), CASES[i][1]);
    /* of all tables together */
    CHECK(strstr(dlrm("{" SIZES MLPS "'tables': [{'rows': 6e9, 'count': 1000}, "
                      "{'rows': 6e12}]}"),
                 "want at most 10^13 rows together") != NULL);
    CHECK_STR(dlrm("{" SIZES "'bottom': [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,64], "
                   "'top': [1], " TABLES "}"),
              "");
}

/* 64 kinds of tables, and no more. */
static void test_describe_dlrm__many_tables(void)
{
    char text[3000] = "{" SIZES MLPS "'tables': [{'rows': 1}";

    for (int i = 1; i < 64; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s",
                 ", {'rows': 1}");
    snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s", "]}");
    CHECK_STR(dlrm(text), "");
    CHECK_INT(made.dlrm.n_kinds, 64);
    snprintf(text + strlen(text) - 2, sizeof(text) - strlen(text), "%s",
             ", {'rows': 1}]}");
    CHECK(strstr(dlrm(text), "want a list of 1 to 64 objects") != NULL);
}

int main(void)
{
    RUN(test_job_model__is_read);
    RUN(test_job_model__is_refused);
    RUN(test_job_model__follows);
    RUN(test_job_model__cannot_be);
    RUN(test_describe_dlrm__is_read);
    RUN(test_describe_dlrm__is_refused);
    RUN(test_describe_dlrm__many_tables);
    return check_summary();
}

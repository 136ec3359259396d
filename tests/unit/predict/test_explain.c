/*
 * predict/explain.c: which works of which operators are explained, how often
 * each, and what there is nothing to say of.
 */
#include "predict/pipeline.h"

#include "core/base/json.h"
#include "models/estimate/model.h"
#include "tests/unit/made_ops.h"

#include <stdlib.h>

static struct build b;
static struct msim_trace *ranks[1] = {&b.t};
static struct msim_job job;
static struct msim_platform *platform;
static struct msim_target to;
static struct msim_error err;

/* Product `i` of rows that differ, at a depth. */
static uint32_t product(uint32_t depth, int i)
{
    char args[64];

    snprintf(args, sizeof(args), "f16[%d,512] f16[512,512]", 64 * (i + 1));
    return build_op(&b, depth, "aten::mm", args, NULL);
}

static void begin(void)
{
    build_init(&b);
    job = (struct msim_job){.strings = b.strings, .ranks = ranks, .n_ranks = 1};
    to = (struct msim_target){
        .platform = platform, .costs = MSIM_COSTS_MODEL, .gpus_a_node = 8};
    err = (struct msim_error){0};
}

static char *explain(const char *op, bool json, enum msim_status want)
{
    static const char *const PATHS[] = {"x.json"};
    const struct msim_predict_settings s = {.paths = PATHS, .n_paths = 1};
    const struct msim_inputs in = {.job = &job};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CHECK_INT(msim_explain(op, &s, &in, &to, json, out, &err), want);
    fclose(out);
    return text;
}

static bool has(const char *text, const char *part)
{
    if (strstr(text, part))
        return true;
    CHECK_STR(text, part);
    return false;
}

/* Two products of one shape and one of another; those below an operator are
 * its, too, and one inside another of the name is no call of its own. */
static void test_explain__counts_calls(void)
{
    char *text;

    begin();
    (void)build_op(&b, 0, "aten::linear", "", NULL);
    (void)product(1, 0);
    (void)build_op(&b, 0, "aten::linear", "", NULL);
    (void)build_op(&b, 1, "aten::linear", "", NULL);
    (void)product(2, 0);
    (void)product(1, 1);
    (void)product(0, 2);
    text = explain("aten::linear", false, MSIM_OK);
    CHECK(has(text, "aten::linear on a100: 2 calls, 2 distinct shapes\n"));
    CHECK(has(text, "\n2 x aten::mm, model: gemm on a100\n"));
    CHECK(has(text, "m 64, n 512, k 512"));
    CHECK(has(text, "\n1 x aten::mm, model: gemm on a100\n"));
    CHECK(has(text, "m 128, n 512, k 512"));
    CHECK(!strstr(text, "m 192,") && !strstr(text, "other shapes"));
    CHECK(!strstr(text, "sizes: not recorded"));
    free(text);
    text = explain("aten::mm", false, MSIM_OK);
    CHECK(has(text, "aten::mm on a100: 4 calls, 3 distinct shapes\n"));
    CHECK(has(text, "\n2 x model: gemm on a100\n")); /* its own name */
    free(text);
    build_release(&b);
}

/* Twenty works are shown at most, of others how many there were. */
static void test_explain__shows_most(void)
{
    for (int n = 20; n <= 22; n++) {
        char *text, want[64];

        begin();
        for (int i = 0; i < n; i++)
            (void)product(0, i);
        text = explain("aten::mm", false, MSIM_OK);
        snprintf(want, sizeof(want), "aten::mm on a100: %d calls, 20 distinct",
                 n);
        CHECK(has(text, want));
        snprintf(want, sizeof(want), "\nand %d calls of other shapes\n",
                 n - 20);
        if (n > 20)
            CHECK(has(text, want));
        else
            CHECK(!strstr(text, "other shapes"));
        free(text);
        build_release(&b);
    }
}

static void test_explain__refuses(void)
{
    begin();
    (void)build_op(&b, 0, "aten::view", "f16[8]", NULL);
    (void)build_op(&b, 0, "aten::view", "f16[8]", NULL);
    free(explain("aten::mm", false, MSIM_EUNKNOWN));
    CHECK_STR(err.text, "no operator 'aten::mm' in the trace; want a name as "
                        "the report or '--csv' shows it");
    CHECK_STR(err.file, "x.json");
    err = (struct msim_error){0};
    free(explain("aten::view", true, MSIM_EUNKNOWN));
    CHECK_STR(err.text, "operator 'aten::view' launches no kernel in 2 calls, "
                        "nor does any that it calls");
    err = (struct msim_error){0};
    to.platform = NULL;
    free(explain("aten::view", false, MSIM_EUSAGE));
    CHECK_STR(err.text, "'--explain' is about models; want a '--platform'");
    build_release(&b);
}

/* A backward node by its own name, or as reports show it. */
static void test_explain__knows_shown_names(void)
{
    static const char *const NAME[] = {
        "autograd::engine::evaluate_function: MmBackward0", "MmBackward0"};

    for (int i = 0; i < 2; i++) {
        begin();
        (void)build_op(&b, 0, NAME[0], "", NULL);
        (void)product(1, 0);
        free(explain(NAME[i], false, MSIM_OK));
        build_release(&b);
    }
}

/* A collective is on as many nodes as the target places it. */
static void test_explain__places_collectives(void)
{
    for (uint32_t a_node = 4; a_node <= 8; a_node += 4) {
        char *text;

        begin();
        (void)build_op(&b, 0, "record_param_comms", "f32[1000]", NULL);
        b.comms[0] = (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                                        .dtype = MSIM_DT_F32,
                                        .in_elems = 1000,
                                        .out_elems = 1000,
                                        .sequence = -1,
                                        .peer = -1,
                                        .group = MSIM_NONE,
                                        .op = 0};
        b.t.n_comms = 1;
        b.t.world_size = 8;
        b.ops[0].comm = 0;
        to.gpus_a_node = a_node;
        text = explain("record_param_comms", false, MSIM_OK);
        CHECK(has(text, a_node == 8
                            ? "all_reduce of 4000 bytes over 8 ranks on 1 nodes"
                            : "all_reduce of 4000 bytes over 8 ranks on 2 "
                              "nodes"));
        free(text);
        build_release(&b);
    }
}

static double number(const cJSON *of, const char *key)
{
    return msim_json_get_number(of, key, -1);
}

/* As JSON the same, with what the models predict, and each line of the
 * explanation as what it is about and its text. */
static void test_explain__writes_json(void)
{
    const cJSON *works, *w, *because;
    struct msim_estimate e;
    struct msim_work asked = {.family = MSIM_FAMILY_GEMM,
                              .dtype = MSIM_DT_F16,
                              .u.gemm = {64, 512, 512, 1, false, false}};
    cJSON *json;
    char *text;

    begin();
    (void)product(0, 0);
    (void)product(0, 0);
    (void)product(0, 1);
    text = explain("aten::mm", true, MSIM_OK);
    json = cJSON_Parse(text);
    REQUIRE(json != NULL);
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/explanation/1");
    CHECK_STR(msim_json_get_text(json, "platform"), "a100");
    CHECK_STR(msim_json_get_text(json, "asked"), "aten::mm");
    CHECK(cJSON_IsNull(cJSON_GetObjectItem(json, "clock")));
    CHECK_REL(number(json, "calls"), 3, 0);
    CHECK_REL(number(json, "calls_of_other_shapes"), 0, 0);
    works = cJSON_GetObjectItem(json, "works");
    REQUIRE(cJSON_GetArraySize(works) == 2);
    w = cJSON_GetArrayItem(works, 0);
    CHECK_STR(msim_json_get_text(w, "operator"), "aten::mm");
    CHECK_STR(msim_json_get_text(w, "model"), "gemm");
    CHECK_STR(msim_json_get_text(w, "source"), "law");
    CHECK_REL(number(w, "calls"), 2, 0);
    msim_work_count(&asked);
    CHECK_INT(msim_model_predict(platform, &asked, false, &e, NULL), MSIM_OK);
    CHECK_REL(number(w, "predicted_us"), e.us, 1e-6);
    CHECK_REL(number(w, "low_us"), e.low_us, 1e-6);
    CHECK_REL(number(w, "high_us"), e.high_us, 1e-6);
    CHECK_REL(number(w, "flops"), 2.0 * 64 * 512 * 512, 1e-9);
    CHECK_REL(number(w, "bytes"), 2.0 * (64 * 512 * 2 + 512 * 512), 1e-9);
    CHECK_REL(number(w, "sizes_within"), 1, 0);
    because = cJSON_GetObjectItem(w, "because");
    REQUIRE(cJSON_GetArraySize(because) > 2);
    CHECK_STR(msim_json_get_text(cJSON_GetArrayItem(because, 0), "what"),
              "model");
    CHECK_STR(msim_json_get_text(cJSON_GetArrayItem(because, 0), "text"),
              "gemm on a100");
    cJSON_Delete(json);
    free(text);
    build_release(&b);
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&platform, MSIM_DATA, "a100", NULL),
                   MSIM_OK))
        return check_summary();
    RUN(test_explain__counts_calls);
    RUN(test_explain__shows_most);
    RUN(test_explain__refuses);
    RUN(test_explain__knows_shown_names);
    RUN(test_explain__places_collectives);
    RUN(test_explain__writes_json);
    msim_platform_free(platform);
    return check_summary();
}

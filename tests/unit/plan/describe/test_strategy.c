/* plan/describe/strategy.c: every member by its text, its place and its JSON,
 * at its limits. */
#include "core/base/json.h"
#include "plan/describe/strategy.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char reason[256];

/* Set from a text; "" or why not. */
static const char *set(struct msim_strategy *s, enum msim_given g,
                       const char *text, uint64_t *given)
{
    return msim_strategy_set(s, g, text, given, reason, sizeof(reason)) ? reason
                                                                        : "";
}

static const char *text_of(const struct msim_strategy *s, enum msim_given g)
{
    static char text[64];

    msim_strategy_text(s, g, text, sizeof(text));
    return text;
}

/* Each member has a place, a name, and a text that comes back; no other one
 * moves. */
static void test_strategy__members_by_place(void)
{
    for (int g = 0; g < MSIM_GIVEN_COUNT; g++) {
        struct msim_strategy s = {0}, read = {0};
        uint64_t given = 0;

        msim_strategy_put(&s, (enum msim_given)g, 1);
        for (int k = 0; k < MSIM_GIVEN_COUNT; k++)
            CHECK_INT(msim_strategy_value(&s, (enum msim_given)k), k == g);
        if (g == MSIM_GIVEN_base_bits || g == MSIM_GIVEN_optimizer_bits ||
            g == MSIM_GIVEN_gradient_bits || g == MSIM_GIVEN_weight_bits ||
            g == MSIM_GIVEN_dispatch_bits)
            msim_strategy_put(&s, (enum msim_given)g, 8);
        CHECK_STR(set(&read, (enum msim_given)g,
                      text_of(&s, (enum msim_given)g), &given),
                  "");
        CHECK_UINT(given, 1ULL << g);
        CHECK_INT(msim_strategy_value(&read, (enum msim_given)g),
                  msim_strategy_value(&s, (enum msim_given)g));
    }
}

static void test_strategy__words(void)
{
    static const char *const PRECISIONS[] = {
        "fp32",     "tf32",    "fp16", "bf16",  "amp_fp16",
        "amp_bf16", "amp_fp8", "fp8",  "mxfp8", "nvfp4"};
    static const char *const RECOMPUTES[] = {"none", "full", "selective",
                                             "selective-op"};
    static const char *const OFFLOADS[] = {"none", "activations", "optimizer",
                                           "weights"};
    static const char *const OPTIMIZERS[] = {"adamw", "sgd", "adagrad"};
    struct msim_strategy s = {0};
    uint64_t given = 0;

    for (int i = 0; i < MSIM_PRECISION_COUNT; i++) {
        enum msim_precision p = (enum msim_precision)i;

        CHECK_STR(set(&s, MSIM_GIVEN_precision, PRECISIONS[i], &given), "");
        CHECK_STR(text_of(&s, MSIM_GIVEN_precision), PRECISIONS[i]);
        CHECK_INT(s.precision, i);
        CHECK_INT(msim_precision_is_full(p), i < 2);
        CHECK_INT(msim_precision_is_narrow(p), i >= 6);
    }
    for (int i = 0; i < MSIM_RECOMPUTE_COUNT; i++) {
        CHECK_STR(set(&s, MSIM_GIVEN_recompute, RECOMPUTES[i], &given), "");
        CHECK_STR(text_of(&s, MSIM_GIVEN_recompute), RECOMPUTES[i]);
        CHECK_INT(s.recompute, i);
    }
    for (int i = 0; i < MSIM_OFFLOAD_COUNT; i++) {
        CHECK_STR(set(&s, MSIM_GIVEN_offload, OFFLOADS[i], &given), "");
        CHECK_INT(s.offload, i);
    }
    for (int i = 0; i < MSIM_OPTIMIZER_COUNT; i++)
        CHECK_STR(msim_optimizer_text((enum msim_optimizer)i), OPTIMIZERS[i]);
    CHECK_UINT(given, 1ULL << MSIM_GIVEN_precision |
                          1ULL << MSIM_GIVEN_recompute |
                          1ULL << MSIM_GIVEN_offload);
}

/* Whole numbers from 1 to 10^9; of ZeRO 0 to 3. Nothing is said of what is
 * empty or refused. */
static void test_strategy__limits(void)
{
    struct msim_strategy s = {.tp = 7};
    uint64_t given = 0;

    CHECK_STR(set(&s, MSIM_GIVEN_tp, "", &given), "");
    CHECK_STR(set(&s, MSIM_GIVEN_tp, "0", &given),
              "tp is '0', want a whole number from 1 to 1000000000");
    CHECK_STR(set(&s, MSIM_GIVEN_tp, "1000000001", &given),
              "tp is '1000000001', want a whole number from 1 to 1000000000");
    CHECK_STR(set(&s, MSIM_GIVEN_tp, "7.5", &given),
              "tp is '7.5', want a whole number from 1 to 1000000000");
    CHECK_STR(set(&s, MSIM_GIVEN_tp, "2x", &given),
              "tp is '2x', want a whole number from 1 to 1000000000");
    CHECK_STR(set(&s, MSIM_GIVEN_zero, "4", &given),
              "zero is '4', want a whole number from 0 to 3");
    CHECK_STR(set(&s, MSIM_GIVEN_zero, "-1", &given),
              "zero is '-1', want a whole number from 0 to 3");
    CHECK_STR(set(&s, MSIM_GIVEN_recompute, "some", &given),
              "recompute is 'some', want one of none full selective "
              "selective-op");
    CHECK_STR(set(&s, MSIM_GIVEN_offload, "all", &given),
              "offload is 'all', want one of none activations optimizer "
              "weights");
    CHECK_STR(set(&s, MSIM_GIVEN_compile, "maybe", &given),
              "compile is 'maybe', want one of no yes");
    CHECK_UINT(given, 0);
    CHECK_INT(s.tp, 7);
    CHECK_STR(set(&s, MSIM_GIVEN_tp, "1000000000", &given), "");
    CHECK_INT(s.tp, 1000000000);
    CHECK_STR(set(&s, MSIM_GIVEN_zero, "0", &given), "");
    CHECK_STR(set(&s, MSIM_GIVEN_zero, "3", &given), "");
    CHECK_INT(s.zero, 3);
}

/* ---- JSON ---------------------------------------------------------------- */

static struct msim_error err;
static uint64_t given;

/* "" or what is wrong; texts use ' for ". */
static const char *parse(struct msim_strategy *s, const char *text)
{
    char json[1024];
    enum msim_status status;
    size_t n = 0;
    cJSON *read;

    for (; *text && n + 1 < sizeof(json); text++)
        json[n++] = *text == '\'' ? '"' : *text;
    json[n] = '\0';
    read = cJSON_Parse(json);
    CHECK(read != NULL);
    *s = (struct msim_strategy){0};
    given = 0;
    err = (struct msim_error){0};
    status = msim_strategy_parse(s, &given, read, "s.json", &err);
    CHECK_INT(status, err.status);
    cJSON_Delete(read);
    return err.text;
}

static void test_strategy__of_json(void)
{
    struct msim_strategy s;

    CHECK_STR(parse(&s, "{}"), "");
    CHECK_UINT(given, 0);
    CHECK_INT(s.optimizer, MSIM_OPTIMIZER_ADAMW);
    CHECK_INT(s.table_optimizer, MSIM_TABLE_OPTIMIZER_ROWWISE_ADAGRAD);
    CHECK_STR(parse(&s, "{'gpus': 8, 'tp': '2', 'precision': 'fp8', 'compile': "
                        "true, 'master_weights': false, 'optimizer': 'sgd', "
                        "'table_optimizer': 'sgd', 'lora_rank': 16}"),
              "");
    CHECK_INT(s.gpus, 8);
    CHECK_INT(s.tp, 2);
    CHECK_INT(s.precision, MSIM_PRECISION_FP8);
    CHECK_INT(s.technique.compile, MSIM_STATED_YES);
    CHECK_INT(s.technique.master_weights, MSIM_STATED_NO);
    CHECK_INT(s.technique.lora_rank, 16);
    CHECK_INT(s.optimizer, MSIM_OPTIMIZER_SGD);
    CHECK_INT(s.table_optimizer, MSIM_TABLE_OPTIMIZER_SGD);
    CHECK_UINT(given, 1ULL << MSIM_GIVEN_gpus | 1ULL << MSIM_GIVEN_tp |
                          1ULL << MSIM_GIVEN_precision |
                          1ULL << MSIM_GIVEN_compile |
                          1ULL << MSIM_GIVEN_master_weights |
                          1ULL << MSIM_GIVEN_lora_rank);
}

static void test_strategy__refuses_json(void)
{
    static const char *const CASES[][2] = {
        {"[]", "this is not a JSON object, want {\"gpus\": 8, \"tp\": 2}"},
        {"{'gpu': 8}", "gpu is not known, did you mean gpus?"},
        {"{'tp': 0}", "tp is 0, want a whole number from 1 to 1000000000"},
        {"{'tp': 1.5}", "tp is 1.5, want a whole number from 1 to 1000000000"},
        {"{'tp': true}",
         "tp is true, want a whole number from 1 to 1000000000"},
        {"{'tp': ''}", "tp is \"\", want a whole number from 1 to 1000000000"},
        {"{'tp': []}", "tp is [], want a whole number from 1 to 1000000000"},
        {"{'compile': 1}", "compile is 1, want one of no yes"},
        {"{'optimizer': 'lion'}",
         "optimizer is \"lion\", want adamw, sgd or adagrad"},
        {"{'table_optimizer': 'x'}",
         "table_optimizer is \"x\", want rowwise_adagrad or sgd"}};
    struct msim_strategy s;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        CHECK_STR(parse(&s, CASES[i][0]), CASES[i][1]);
        CHECK_INT(err.status, MSIM_EFORMAT);
        CHECK_STR(err.file, "s.json");
    }
}

static void test_strategy__of_a_file(void)
{
    char path[] = P_tmpdir "/msim-strategy-XXXXXX";
    int fd = mkstemp(path);
    struct msim_strategy s = {0};

    REQUIRE(fd >= 0);
    CHECK(write(fd, "{\"gpus\": 3}", 11) == 11);
    close(fd);
    given = 0;
    err = (struct msim_error){0};
    CHECK_INT(msim_strategy_read(&s, &given, path, &err), MSIM_OK);
    CHECK_INT(s.gpus, 3);
    CHECK_UINT(given, 1ULL << MSIM_GIVEN_gpus);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(msim_strategy_read(&s, &given, path, &err), MSIM_EIO);
}

/* What each word computes again; the most is layers, and is said once. */
static void test_strategy__again(void)
{
    static const enum msim_again AGAIN[MSIM_RECOMPUTE_COUNT] = {
        [MSIM_RECOMPUTE_FULL] = MSIM_AGAIN_LAYERS,
        [MSIM_RECOMPUTE_SELECTIVE] = MSIM_AGAIN_OPERATORS,
        [MSIM_RECOMPUTE_SELECTIVE_OP] = MSIM_AGAIN_OPERATORS};
    struct msim_strategy s = {0};
    char text[32] = "";

    for (int i = 0; i < MSIM_RECOMPUTE_COUNT; i++) {
        s.recompute = (enum msim_recompute)i;
        CHECK_INT(msim_again_of(&s), AGAIN[i]);
    }
    CHECK(msim_again_most(&s, text, sizeof(text)));
    CHECK_STR(text, "recompute full");
    CHECK(!msim_again_most(&s, text, sizeof(text)));
    msim_again_set_nothing(&s);
    CHECK_INT(msim_again_of(&s), MSIM_AGAIN_NOTHING);
    msim_again_set_usual(&s);
    CHECK_INT(msim_again_of(&s), MSIM_AGAIN_NOTHING);
    s.unfused = true;
    s.nodes = 2;
    msim_again_set_usual(&s);
    CHECK_INT(msim_again_of(&s), MSIM_AGAIN_LAYERS);
}

int main(void)
{
    RUN(test_strategy__again);
    RUN(test_strategy__members_by_place);
    RUN(test_strategy__words);
    RUN(test_strategy__limits);
    RUN(test_strategy__of_json);
    RUN(test_strategy__refuses_json);
    RUN(test_strategy__of_a_file);
    return check_summary();
}

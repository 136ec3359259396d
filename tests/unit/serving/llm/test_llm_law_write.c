/* serving/llm/llm_law_write.c and llm_law.c: a law goes through its file and
 * comes back, number by number; what its sums and intervals are. */
#include "serving/llm/llm_law.h"

#include "core/base/files.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-law-XXXXXX";
static struct msim_error err;

static const struct msim_llm_law_source FROM = {.how = "by hand",
                                                .command = "none",
                                                .file = "rows.csv",
                                                .used = 5,
                                                .left_out = 6,
                                                .failed = 7};

/* Every number another one, of up to four digits. */
static struct msim_llm_law made(void)
{
    struct msim_llm_law law;
    double next = 1.5;

    msim_llm_law_init(&law);
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        law.engines[e] = true;
        law.host_us[e] = next++;
        law.sequence_us[e] = next++;
        law.ranks_us[e] = next++;
        law.first_wave[e] = next++;
        law.arrival_us[e] = next++;
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            law.factor[e][p] = next++;
    }
    for (int q = 1; q < MSIM_QUANTS; q++) {
        law.type[q] = next++;
        law.type_many[q] = next++;
    }
    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        law.half[f] =
            (struct msim_llm_halves){next, next + 1, next + 2, next + 3};
        next += 4;
    }
    law.types[MSIM_QUANT_BF16] = law.types[MSIM_QUANT_INT4] = true;
    snprintf(law.models[0], sizeof(law.models[0]), "%s", "a");
    snprintf(law.models[1], sizeof(law.models[1]), "%s", "b.c");
    law.n_models = 2;
    snprintf(law.gpus[0], sizeof(law.gpus[0]), "%s", "h100");
    law.n_gpus = 1;
    return law;
}

/* ---- the file ------------------------------------------------------------ */

static void test_llm_law_write__comes_back(void)
{
    struct msim_llm_law law = made(), got;

    REQUIRE(msim_llm_law_write(&law, &FROM, path, &err) == MSIM_OK);
    REQUIRE(msim_llm_law_read(&got, path, &err) == MSIM_OK);
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        CHECK(got.engines[e]);
        CHECK_REL(got.host_us[e], law.host_us[e], 0);
        CHECK_REL(got.sequence_us[e], law.sequence_us[e], 0);
        CHECK_REL(got.ranks_us[e], law.ranks_us[e], 0);
        CHECK_REL(got.first_wave[e], law.first_wave[e], 0);
        CHECK_REL(got.arrival_us[e], law.arrival_us[e], 0);
        for (int p = 0; p < MSIM_LLM_PIECES; p++)
            CHECK_REL(got.factor[e][p], law.factor[e][p], 0);
    }
    for (int q = 0; q < MSIM_QUANTS; q++) {
        CHECK_REL(got.type[q], law.type[q], 0);
        CHECK_REL(got.type_many[q], law.type_many[q], 0);
        CHECK_INT(got.types[q], law.types[q]);
    }
    for (int f = 0; f < MSIM_LLM_FIGURES; f++) {
        CHECK_REL(got.half[f].seen, law.half[f].seen, 0);
        CHECK_REL(got.half[f].other_model, law.half[f].other_model, 0);
        CHECK_REL(got.half[f].other_gpu, law.half[f].other_gpu, 0);
        CHECK_REL(got.half[f].other, law.half[f].other, 0);
    }
    CHECK_INT(got.n_models, 2);
    CHECK_STR(got.models[1], "b.c");
    CHECK_INT(got.n_gpus, 1);
    CHECK_STR(got.gpus[0], "h100");
}

static double number(const cJSON *of, const char *a, const char *b)
{
    const cJSON *item = cJSON_GetObjectItem(cJSON_GetObjectItem(of, a), b);

    CHECK(cJSON_IsNumber(item) || cJSON_IsRaw(item));
    return cJSON_IsRaw(item) ? strtod(item->valuestring, NULL)
                             : item->valuedouble;
}

static const char *word(const cJSON *of, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(of, key));

    return text ? text : "";
}

/* Where it is from; four digits; no engine that there were no rows of. */
static void test_llm_law_write__says_where_from(void)
{
    struct msim_llm_law law = made(), got;
    cJSON *json;

    law.engines[MSIM_LLM_SGLANG] = false;
    law.type[MSIM_QUANT_FP8] = 1.23456;
    json = msim_llm_law_json(&law, &FROM);
    REQUIRE(json != NULL);
    CHECK_STR(word(json, "schema"), "mystique-sim/serving-law/1");
    CHECK_STR(word(json, "how"), "by hand");
    CHECK_STR(word(json, "command"), "none");
    CHECK(*word(json, "what"));
    CHECK_STR(word(cJSON_GetObjectItem(json, "rows"), "file"), "rows.csv");
    CHECK_REL(number(json, "rows", "used"), 5, 0);
    CHECK_REL(number(json, "rows", "left_out"), 6, 0);
    CHECK_REL(number(json, "rows", "failed"), 7, 0);
    CHECK_REL(number(json, "types", "fp8"), 1.235, 1e-12);
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(
                  cJSON_GetObjectItem(json, "rows"), "types")),
              2);
    CHECK(!cJSON_GetObjectItem(cJSON_GetObjectItem(json, "engines"), "sglang"));
    CHECK(!cJSON_GetObjectItem(cJSON_GetObjectItem(json, "types"), ""));
    cJSON_Delete(json);
    msim_files_read_release(); /* else it is an input, and spared */
    REQUIRE(msim_llm_law_write(&law, &FROM, path, &err) == MSIM_OK);
    REQUIRE(msim_llm_law_read(&got, path, &err) == MSIM_OK);
    CHECK(!got.engines[MSIM_LLM_SGLANG] && got.engines[MSIM_LLM_TRTLLM]);
    CHECK_REL(got.host_us[MSIM_LLM_SGLANG], 400, 0); /* as of nothing fitted */
    CHECK_INT(msim_llm_law_write(&law, &FROM, "no/such/folder/x", &err),
              MSIM_EIO);
}

/* What a file does not have is that of nothing fitted; names are 64 at most,
 * and words that are no type say nothing. */
static void test_llm_law__of_a_small_file(void)
{
    struct msim_llm_law law;
    FILE *f = fopen(path, "w");

    REQUIRE(f != NULL);
    msim_llm_law_init(&law);
    for (int q = 0; q < MSIM_QUANTS; q++) {
        CHECK_REL(law.type[q], 1, 0);
        CHECK_REL(law.type_many[q], 1, 0);
    }
    fputs("{\"types\": {\"fp8\": 2}, \"rows\": {\"types\": [\"int8\", \"x\"], "
          "\"gpus\": [3, \"t4\"], \"models\": [\"m\"",
          f);
    for (int i = 1; i < 70; i++)
        fputs(",\"m\"", f);
    fputs("]}}", f);
    fclose(f);
    REQUIRE(msim_llm_law_read(&law, path, &err) == MSIM_OK);
    CHECK_REL(law.type[MSIM_QUANT_FP8], 2, 0);
    CHECK_REL(law.type_many[MSIM_QUANT_FP8], 1, 0);
    CHECK_REL(law.type[MSIM_QUANT_INT8], 1, 0);
    for (int q = 0; q < MSIM_QUANTS; q++)
        CHECK_INT(law.types[q], q == MSIM_QUANT_INT8);
    CHECK_INT(law.n_gpus, 1);
    CHECK_STR(law.gpus[0], "t4");
    CHECK_INT(law.n_models, 64);
    for (int e = 0; e < MSIM_LLM_ENGINES; e++) {
        CHECK(!law.engines[e]);
        CHECK_REL(law.host_us[e], 400, 0);
        CHECK_REL(law.sequence_us[e], 5, 0);
        CHECK_REL(law.ranks_us[e], 100, 0);
        CHECK_REL(law.first_wave[e], 0.1, 0);
        CHECK_REL(law.arrival_us[e], 10000, 0);
        CHECK_REL(law.factor[e][MSIM_LLM_EXCHANGE], 1, 0);
    }
    CHECK_REL(law.half[MSIM_LLM_TTFT].other, 0.6, 0);
    CHECK_REL(law.half[MSIM_LLM_TPOT].seen, 0.6, 0);
}

/* Each number above 0 or the member's name. */
static void test_llm_law__refuses(void)
{
    static const char *const CASES[][2] = {
        {"{\"engines\": {\"vllm\": {\"products\": 0}}}",
         "engines.vllm.products is 0, want a number above 0"},
        {"{\"engines\": {\"trtllm\": {\"first_wave\": -1}}}",
         "engines.trtllm.first_wave is -1, want a number above 0"},
        {"{\"engines\": 3}", "engines is 3, want an object"},
        {"{\"types\": {\"nvfp4\": 0}}",
         "types.nvfp4 is 0, want a number above 0"},
        {"{\"types_of_many\": {\"bf16\": 0}}",
         "types_of_many.bf16 is 0, want a number above 0"},
        {"{\"half_intervals\": {\"ttft\": {\"seen\": 0}}}",
         "half_intervals.ttft.seen is 0, want a number above 0"},
        {"{\"rows\": 3}", "rows is 3, want an object"}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        FILE *f = fopen(path, "w");
        struct msim_llm_law law;

        REQUIRE(f != NULL);
        fputs(CASES[i][0], f);
        fclose(f);
        err = (struct msim_error){0};
        CHECK_INT(msim_llm_law_read(&law, path, &err), MSIM_EFORMAT);
        CHECK_STR(err.text, CASES[i][1]);
    }
}

/* ---- sums ---------------------------------------------------------------- */

/* Of 2 x 4 x 1 ranks log2 is 3; products have a factor of their type, too. */
static void test_llm_law__sums(void)
{
    struct msim_llm_law law = made();
    struct msim_llm_rank r = {
        .s = {.engine = MSIM_LLM_TRTLLM, .tp = 2, .dp = 4, .pp = 1}};
    struct msim_llm_pieces p = {{{0}}};
    const double *f = law.factor[MSIM_LLM_TRTLLM];

    CHECK_REL(msim_llm_law_host_us(&law, &r, 7, 11),
              7 * (law.host_us[2] + 3 * law.ranks_us[2]) +
                  11 * law.sequence_us[2],
              1e-12);
    r.s.pp = 2;
    CHECK_REL(msim_llm_law_host_us(&law, &r, 1, 0),
              law.host_us[2] + 4 * law.ranks_us[2], 1e-12);
    p.us[MSIM_LLM_PRODUCT_FEW][MSIM_QUANT_FP8] = 3;
    p.us[MSIM_LLM_PRODUCT_MANY][MSIM_QUANT_INT4] = 5;
    p.us[MSIM_LLM_EXPERT_MANY][MSIM_QUANT_FP8] = 7;
    p.us[MSIM_LLM_LAUNCH][MSIM_QUANT_BF16] = 9;
    p.us[MSIM_LLM_PRODUCT_FEW][MSIM_QUANT_INT4] = 11;
    CHECK_REL(msim_llm_law_us(&law, MSIM_LLM_TRTLLM, &p),
              3 * f[MSIM_LLM_PRODUCT_FEW] * law.type[MSIM_QUANT_FP8] +
                  11 * f[MSIM_LLM_PRODUCT_FEW] * law.type[MSIM_QUANT_INT4] +
                  5 * f[MSIM_LLM_PRODUCT_MANY] *
                      law.type_many[MSIM_QUANT_INT4] +
                  7 * f[MSIM_LLM_EXPERT_MANY] + 9 * f[MSIM_LLM_LAUNCH],
              1e-12);
}

/* ---- intervals ----------------------------------------------------------- */

static struct msim_described model;
static struct msim_platform *h100, *a100;

/* The half of TTFT for a model of that name, and whether rows are used. */
static double half(const struct msim_llm_law *law, const char *name,
                   const struct msim_platform *on, enum msim_quant dense,
                   enum msim_quant experts, bool uses)
{
    struct msim_llm_rank r = {
        .s = {.platform = on}, .m = &model, .dense = dense, .experts = experts};
    bool got = !uses;
    double h;

    snprintf(model.name, sizeof(model.name), "%s", name);
    h = msim_llm_law_half(law, &r, MSIM_LLM_TTFT, &got);
    CHECK_INT(got, uses);
    return h;
}

static void test_llm_law__intervals(void)
{
    const enum msim_quant B = MSIM_QUANT_BF16, I = MSIM_QUANT_INT4,
                          F = MSIM_QUANT_FP8;
    struct msim_llm_law law = made();
    const struct msim_llm_halves *h = &law.half[MSIM_LLM_TTFT];

    CHECK_REL(half(&law, "a", h100, B, B, true), h->seen, 0);
    CHECK_REL(half(&law, "a.json", h100, I, I, true), h->seen, 0);
    CHECK_REL(half(&law, "b.c", h100, B, B, true), h->seen, 0);
    CHECK_REL(half(&law, "a.jso", h100, B, B, false), h->other_model, 0);
    CHECK_REL(half(&law, "aa", h100, B, B, false), h->other_model, 0);
    CHECK_REL(half(&law, "", h100, B, B, false), h->other_model, 0);
    CHECK_REL(half(&law, "a", a100, B, B, false), h->other_gpu, 0);
    CHECK_REL(half(&law, "x", a100, B, B, false), h->other, 0);
    CHECK_REL(half(&law, "a", h100, F, B, true), h->other, 0);
    CHECK_REL(half(&law, "a", h100, B, F, true), h->other, 0);
    law.engines[0] = false;
    CHECK_REL(half(&law, "a", h100, B, B, true), h->other, 0);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0 ||
        msim_platform_load(&h100, MSIM_DATA, "h100", &err) != MSIM_OK ||
        msim_platform_load(&a100, MSIM_DATA, "a100", &err) != MSIM_OK)
        return 1;
    close(fd);
    RUN(test_llm_law_write__comes_back);
    RUN(test_llm_law_write__says_where_from);
    RUN(test_llm_law__of_a_small_file);
    RUN(test_llm_law__refuses);
    RUN(test_llm_law__sums);
    RUN(test_llm_law__intervals);
    msim_platform_free(h100);
    msim_platform_free(a100);
    CHECK_INT(unlink(path), 0);
    return check_summary();
}

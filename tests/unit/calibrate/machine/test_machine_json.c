/*
 * What a calibration left, and what it would ask, as JSON; and the network file
 * of a platform's collectives.
 */
#include "calibrate/machine/machine.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

/* ---- JSON ---------------------------------------------------------------- */

static const cJSON *at(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static cJSON *left_json(const struct msim_cal_left *left)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    cJSON *json;

    CHECK_INT(msim_cal_left_json(out, left), MSIM_OK);
    fclose(out);
    json = cJSON_Parse(text);
    free(text);
    return json;
}

/* The fields that docs/json.md lists, in both states. */
static void test_left__every_field(void)
{
    struct msim_cal_scores scores = {
        .list = {{"gemm", "cuda", 7, 0.01, 0.02, 0.03, 0.9, 1.25},
                 {"all", "torch", 8, 0.04, 0.05, 0.06, 0.8, NAN}},
        .n = 2,
        .too_few = 5};
    struct msim_cal_journal j = {.n = 12};
    struct msim_cal_left left = {.platform = "p.json",
                                 .host = "h.json",
                                 .network = "n.json",
                                 .journal = &j,
                                 .journal_path = "j.jsonl",
                                 .scores = &scores};
    cJSON *json = left_json(&left);
    const cJSON *one;

    REQUIRE(json);
    CHECK_INT(cJSON_GetArraySize(json), 9);
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/calibrated/1");
    CHECK(msim_json_get_text(json, "version"));
    CHECK_STR(msim_json_get_text(json, "platform"), "p.json");
    CHECK_STR(msim_json_get_text(json, "host"), "h.json");
    CHECK_STR(msim_json_get_text(json, "network"), "n.json");
    CHECK_STR(msim_json_get_text(json, "journal"), "j.jsonl");
    CHECK_REL(msim_json_get_number(json, "experiments", 0), 12, 0);
    CHECK_REL(msim_json_get_number(json, "in_no_fit", 0), 5, 0);
    REQUIRE(cJSON_GetArraySize(at(json, "validation")) == 2);
    one = cJSON_GetArrayItem(at(json, "validation"), 0);
    CHECK_INT(cJSON_GetArraySize(one), 8);
    CHECK_STR(msim_json_get_text(one, "law"), "gemm");
    CHECK_STR(msim_json_get_text(one, "backend"), "cuda");
    CHECK_REL(msim_json_get_number(one, "rows_held_back", 0), 7, 0);
    CHECK_REL(msim_json_get_number(one, "error_median", 0), 0.01, 1e-12);
    CHECK_REL(msim_json_get_number(one, "error_mean", 0), 0.02, 1e-12);
    CHECK_REL(msim_json_get_number(one, "error_p90", 0), 0.03, 1e-12);
    CHECK_REL(msim_json_get_number(one, "interval_coverage", 0), 0.9, 1e-12);
    CHECK_REL(msim_json_get_number(one, "repeats_high_over_low", 0), 1.25,
              1e-12);
    one = cJSON_GetArrayItem(at(json, "validation"), 1);
    CHECK_STR(msim_json_get_text(one, "law"), "all");
    CHECK(cJSON_IsNull(at(one, "repeats_high_over_low"))); /* not known */
    cJSON_Delete(json);
    /* nothing was fitted */
    left = (struct msim_cal_left){.journal = &j, .journal_path = "j.jsonl"};
    json = left_json(&left);
    REQUIRE(json);
    CHECK(cJSON_IsNull(at(json, "platform")));
    CHECK(cJSON_IsNull(at(json, "host")) && cJSON_IsNull(at(json, "network")));
    CHECK_REL(msim_json_get_number(json, "in_no_fit", 1), 0, 0);
    CHECK_INT(cJSON_GetArraySize(at(json, "validation")), 0);
    cJSON_Delete(json);
}

static void test_questions__one_record_each(void)
{
    struct msim_json j;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const cJSON *one;
    cJSON *json;

    msim_cal_questions_begin(&j, out);
    msim_cal_questions_add(&j, "cuda", "gemm fp16 m 8", 2.5, 0.25);
    msim_cal_questions_add(&j, "cpu", "latency call", 1.5, 0.5);
    CHECK_INT(msim_cal_questions_end(&j, 0.75), MSIM_OK);
    fclose(out);
    json = cJSON_Parse(text);
    free(text);
    REQUIRE(json);
    CHECK_INT(cJSON_GetArraySize(json), 4);
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/experiments/1");
    CHECK(msim_json_get_text(json, "version"));
    CHECK_REL(msim_json_get_number(json, "seconds", 0), 0.75, 1e-12);
    REQUIRE(cJSON_GetArraySize(at(json, "experiments")) == 2);
    one = cJSON_GetArrayItem(at(json, "experiments"), 0);
    CHECK_INT(cJSON_GetArraySize(one), 4);
    CHECK_STR(msim_json_get_text(one, "backend"), "cuda");
    CHECK_STR(msim_json_get_text(one, "experiment"), "gemm fp16 m 8");
    CHECK_REL(msim_json_get_number(one, "run_us", 0), 2.5, 1e-12);
    CHECK_REL(msim_json_get_number(one, "seconds", 0), 0.25, 1e-12);
    one = cJSON_GetArrayItem(at(json, "experiments"), 1);
    CHECK_STR(msim_json_get_text(one, "backend"), "cpu");
    cJSON_Delete(json);
}

/* ---- the network file ---------------------------------------------------- */

static char *network_of(const char *platform)
{
    cJSON *p = cJSON_Parse(platform), *network = p;
    char *text = NULL;

    CHECK_INT(msim_cal_network(&network, p), MSIM_OK);
    if (network) {
        CHECK(strstr(msim_json_get_text(network, "note"), "one machine"));
        cJSON_DeleteItemFromObject(network, "note");
        text = cJSON_PrintUnformatted(network);
    }
    cJSON_Delete(network);
    cJSON_Delete(p);
    return text;
}

static void test_network__what_is_of_collectives(void)
{
    char *text = network_of(
        "{\"schema\":\"mystique-sim/platform/1\",\"name\":\"n\",\"kind\":"
        "\"gpu\",\"title\":\"t\",\"generation\":\"g\",\"stand_ins\":[1],"
        "\"data_sheet\":{\"sms\":{\"value\":8}},\"provenance\":\"made\","
        "\"host\":\"h\",\"cells\":[{\"law\":\"gemm\",\"a\":1},"
        "{\"law\":\"collective\",\"a\":2},{\"law\":\"collectiv\"},{\"a\":4},"
        "{\"law\":\"collective\",\"a\":3}],"
        "\"validation\":[{\"law\":\"gemm\"},{\"law\":\"collective: sizes\"}]}");

    CHECK_STR(text,
              "{\"schema\":\"mystique-sim/network/1\",\"name\":\"n\","
              "\"kind\":\"gpu\",\"title\":\"t\",\"generation\":\"g\","
              "\"stand_ins\":[1],\"data_sheet\":{\"sms\":{\"value\":8}},"
              "\"provenance\":\"made\",\"cells\":[{\"law\":\"collective\","
              "\"a\":2},{\"law\":\"collective\",\"a\":3}],\"validation\":["
              "{\"law\":\"collective: sizes\"}]}");
    free(text);
    /* what a platform has not, the file has not either */
    text = network_of("{\"name\":\"n\",\"cells\":[{\"law\":\"collective\"}]}");
    CHECK_STR(text, "{\"schema\":\"mystique-sim/network/1\",\"name\":\"n\","
                    "\"cells\":[{\"law\":\"collective\"}],\"validation\":[]}");
    free(text);
}

static void test_network__none_was_measured(void)
{
    CHECK(network_of("{\"name\":\"n\",\"cells\":[{\"law\":\"gemm\"}],"
                     "\"validation\":[{\"law\":\"collective\"}]}") == NULL);
    CHECK(network_of("{\"name\":\"n\"}") == NULL);
}

int main(void)
{
    RUN(test_left__every_field);
    RUN(test_questions__one_record_each);
    RUN(test_network__what_is_of_collectives);
    RUN(test_network__none_was_measured);
    return check_summary();
}

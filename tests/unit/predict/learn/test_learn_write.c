/*
 * predict/learn/learn_write.c: the platform file says of each trace how far
 * models were off, before and behind.
 */
#include "predict/learn/learn.h"
#include "tests/check.h"

#include <math.h>

#define BASE MSIM_DATA "/platforms/a100.json"

static double number(const cJSON *json, const char *member)
{
    return msim_json_get_number(json, member, NAN);
}

/* 100 us measured: 120 by the base are a fifth too many, 95 and 90 with factors
 * a twentieth and a tenth too few. A trace without kernels has no errors. */
static void test_learned__errors_of_traces(void)
{
    struct msim_learned_trace traces[] = {
        {"of/a.json", "NVIDIA A100", 7, 100, 120, 95, 90},
        {"b.json", "", 0, 0, 0, 0, 0}};
    const struct msim_learned l = {.base = "a100",
                                   .base_file = BASE,
                                   .traces = traces,
                                   .n_traces = 2,
                                   .levels.all = {log(2), log(0.5)},
                                   .clock = 0.9,
                                   .error_base = 0.2,
                                   .error_fitted = 0.05,
                                   .error_held_out = 0.1};
    struct msim_error err = {0};
    const cJSON *evidence, *trace;
    cJSON *json;

    REQUIRE(msim_learned_json(&json, &l, "mine", &err) == MSIM_OK);
    CHECK_STR(msim_json_get_text(json, "name"), "mine");
    CHECK_STR(msim_json_get_text(json, "base"), "a100");
    evidence = cJSON_GetObjectItemCaseSensitive(json, "evidence");
    CHECK_REL(number(evidence, "clock"), 0.9, 1e-12);
    CHECK_REL(number(evidence, "error_base"), 0.2, 1e-12);
    CHECK_REL(number(evidence, "error_fitted"), 0.05, 1e-12);
    CHECK_REL(number(evidence, "error_held_out"), 0.1, 1e-12);
    trace = cJSON_GetObjectItemCaseSensitive(evidence, "all");
    CHECK_REL(cJSON_GetArrayItem(trace, 0)->valuedouble, 2, 1e-12);
    CHECK_REL(cJSON_GetArrayItem(trace, 1)->valuedouble, 0.5, 1e-12);
    trace = cJSON_GetObjectItemCaseSensitive(evidence, "traces")->child;
    REQUIRE(trace != NULL);
    CHECK_STR(msim_json_get_text(trace, "file"), "a.json");
    CHECK_STR(msim_json_get_text(trace, "gpu"), "NVIDIA A100");
    CHECK_REL(number(trace, "kernels"), 7, 0);
    CHECK_REL(number(trace, "us"), 100, 1e-12);
    CHECK_REL(number(trace, "error_base"), 0.2, 1e-12);
    CHECK_REL(number(trace, "error_fitted"), -0.05, 1e-12);
    CHECK_REL(number(trace, "error_held_out"), -0.1, 1e-12);
    trace = trace->next;
    REQUIRE(trace != NULL && !trace->next);
    CHECK(isnan(number(trace, "error_fitted")));
    cJSON_Delete(json);
}

int main(void)
{
    RUN(test_learned__errors_of_traces);
    return check_summary();
}

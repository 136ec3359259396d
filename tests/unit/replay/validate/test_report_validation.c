/*
 * A validation that was made up, as text, as CSV and as JSON (docs/replay.md).
 */
#include "core/base/json.h"
#include "replay/validate/validation.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static const struct msim_family_times TIMES[] = {
    {.step_us = 1500, .operators_us = 900, .number = 7},
    {.step_us = 500, .operators_us = 500, .number = 8}};
static const struct msim_validation_side SIDES[2];

/* Errors are binary fractions. A step of 1 ms, replayed in 1.25; operators of
 * 0.8 that nothing predicts; products that were not measured. */
static struct msim_validation made(void)
{
    struct msim_validation v = {
        .platform = "h100",
        .rows = {{"step", 0, 1000, 1250, 937.5},
                 {"operators", 12, 800, 800, NAN},
                 {"gemm", 5, NAN, 600, 300}},
        .n = 3,
        .iterations = TIMES,
        .n_iterations = 2,
        .system = {{"busy", NAN, 0.25}, {"cpu_us", 1234567, NAN}},
        .n_system = 2,
        .sides = {&SIDES[0], &SIDES[1]}};

    return v;
}

static char *printed(const struct msim_validation *v,
                     void (*print)(const struct msim_validation *v, FILE *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    print(v, out);
    fclose(out);
    return text;
}

#define ROWS                                                                   \
    "ms             ops    measured    replayed   predicted    replay "        \
    "predicted\n"                                                              \
    "                                                       /measured "        \
    "/replayed\n"                                                              \
    "step                     1.000       1.250       0.938    +25.0%    "     \
    "-25.0%\n"                                                                 \
    "operators       12       0.800       0.800           -     +0.0%        " \
    " "                                                                        \
    "-\n"                                                                      \
    "gemm             5           -       0.600       0.300         -    "     \
    "-50.0%\n"

static void test_text__rows_iterations_and_system(void)
{
    struct msim_validation v = made();
    char *text = printed(&v, msim_validation_text);

    CHECK_STR(text,
              ROWS "\n"
                   "iteration        step ms /measured   operators /measured\n"
                   "7                  1.500    +50.0%       0.900    +12.5%\n"
                   "8                  0.500    -50.0%       0.500    -37.5%\n"
                   "\n"
                   "system                          measured        replayed\n"
                   "busy                                   -            0.25\n"
                   "cpu_us                       1.23457e+06               "
                   "-\n");
    free(text);
    v.n_iterations = v.n_system = 0;
    text = printed(&v, msim_validation_text);
    CHECK_STR(text, ROWS);
    free(text);
}

/* Iterations are rows of a step, of which nothing else is known. */
static void test_csv__every_row(void)
{
    struct msim_validation v = made();
    char *text = printed(&v, msim_validation_csv);

    CHECK_STR(text, "name,operators,measured_us,replayed_us,predicted_us,"
                    "replay_error,prediction_error\n"
                    "step,0,1000,1250,937.5,0.25,-0.25\n"
                    "operators,12,800,800,,0,\n"
                    "gemm,5,,600,300,,-0.5\n"
                    "iteration 7,0,1000,1500,937.5,0.5,-0.375\n"
                    "iteration 8,0,1000,500,937.5,-0.5,0.875\n");
    free(text);
}

static void test_json__every_member(void)
{
    struct msim_validation v = made();
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct msim_json j;
    cJSON *json;

    msim_json_begin(&j, msim_sink_file, out);
    msim_validation_json(&v, &j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    json = cJSON_Parse(text);
    free(text);
    REQUIRE(json);
    CHECK(cJSON_HasObjectItem(json, "version"));
    CHECK(cJSON_HasObjectItem(json, "trace_import"));
    CHECK(cJSON_HasObjectItem(json, "replayed_import"));
    cJSON_DeleteItemFromObject(json, "version");
    cJSON_DeleteItemFromObject(json, "trace_import");
    cJSON_DeleteItemFromObject(json, "replayed_import");
    text = cJSON_PrintUnformatted(json);
    CHECK_STR(
        text,
        "{\"schema\":\"mystique-sim/validation/1\",\"platform\":\"h100\","
        "\"rows\":[{\"name\":\"step\",\"operators\":0,\"measured_us\":1000,"
        "\"replayed_us\":1250,\"predicted_us\":937.5,\"replay_error\":0.25,"
        "\"prediction_error\":-0.25},{\"name\":\"operators\",\"operators\":12,"
        "\"measured_us\":800,\"replayed_us\":800,\"predicted_us\":null,"
        "\"replay_error\":0,\"prediction_error\":null},{\"name\":\"gemm\","
        "\"operators\":5,\"measured_us\":null,\"replayed_us\":600,"
        "\"predicted_us\":300,\"replay_error\":null,\"prediction_error\":-0.5}"
        "],\"iterations\":[{\"number\":7,\"step_us\":1500,\"step_error\":0.5,"
        "\"operators_us\":900,\"operators_error\":0.125},{\"number\":8,"
        "\"step_us\":500,\"step_error\":-0.5,\"operators_us\":500,"
        "\"operators_error\":-0.375}],\"system\":[{\"name\":\"busy\","
        "\"measured\":null,\"replayed\":0.25},{\"name\":\"cpu_us\","
        "\"measured\":1234567,\"replayed\":null}]}");
    cJSON_free(text);
    cJSON_Delete(json);
}

int main(void)
{
    RUN(test_text__rows_iterations_and_system);
    RUN(test_csv__every_row);
    RUN(test_json__every_member);
    return check_summary();
}

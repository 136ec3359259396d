/*
 * predict/scenario/scenario_report.c: scenarios side by side, on rows made by
 * hand.
 */
#include "predict/scenario/scenario.h"

#include "core/base/json.h"
#include "tests/check.h"

#include <stdlib.h>

#define GIB 1073741824.0

/* A figure of which all that can differ does. */
static struct msim_figure figure(double v)
{
    return (struct msim_figure){
        .predicted = v, .low = v * 0.9, .high = v * 1.2};
}

/* A row of 10 ms or so: half of it compute, an eighth communication, the rest
 * host and nothing. */
static struct msim_scenario_row row(const char *name, double us)
{
    struct msim_scenario_row r = {.name = name};

    r.period = figure(us);
    r.iteration = figure(us);
    r.kernels = figure(us / 2);
    r.ratio = (struct msim_figure){us / 10000, us / 12500, us / 8000, NAN};
    r.transfer_us = 7;
    r.wait_us = 9;
    r.breakdown = (struct msim_breakdown){.compute = us / 2,
                                          .communication = us / 8,
                                          .memory_copy = us / 16,
                                          .host = us / 4,
                                          .idle = us / 16};
    r.memory = MSIM_MEMORY_NOT_KNOWN;
    return r;
}

static struct msim_scenarios made(struct msim_scenario_row rows[3])
{
    struct msim_scenarios s = {.rows = rows, .n = 3};

    s.base = row("base", 10000);
    rows[0] = row("shorter", 8000);
    rows[1] = row("longer", 16000);
    rows[1].marks = MSIM_GUARD_BIT(LARGER);
    rows[2] = row("not so", 1);
    snprintf(rows[2].reason, sizeof(rows[2].reason), "it cannot");
    return s;
}

static void set_memory(struct msim_scenario_row *r, double gib, double needed,
                       const char *fits)
{
    r->memory.peak = gib * GIB;
    r->memory.low = gib * GIB / 2;
    r->memory.high = gib * GIB * 2;
    r->memory.reserved = gib * GIB;
    r->memory.needed = needed * GIB;
    r->memory.capacity = 16 * GIB;
    r->memory.fits = fits;
}

static char *written(const struct msim_scenarios *s, char how)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (how == 'c')
        msim_scenarios_csv(s, out);
    else if (how == 't')
        msim_scenarios_text(s, out);
    else
        CHECK_INT(msim_scenarios_json(s, out), MSIM_OK);
    fclose(out);
    return text;
}

static void check_has(const char *text, const char *want)
{
    if (!CHECK(strstr(text, want) != NULL))
        fprintf(stderr, "%s\nhas no\n%s\n", text, want);
}

static void test_scenario_report__text(void)
{
    struct msim_scenario_row rows[3];
    struct msim_scenarios s = made(rows);
    char *text = written(&s, 't');

    check_has(text,
              "\nbase                            10.000 ms  x 1.000 "
              "[0.800-1.250]     10.000 ms     5.000 ms  50.0  12.5  31.2      "
              "   -\n");
    check_has(text,
              "\nshorter                          8.000 ms  x 0.800 "
              "[0.640-1.000]      8.000 ms     4.000 ms  50.0  12.5  31.2      "
              "   -\n");
    check_has(text, "31.2         -  larger\n");
    check_has(text,
              "\nnot so                       no prediction: it cannot\n");
    CHECK(strstr(text, "memory of the GPU") == NULL);
    free(text);
}

/* "?" where it is not sure, "!" where it does not fit, each told once. */
static void test_scenario_report__memory(void)
{
    struct msim_scenario_row rows[3];
    struct msim_scenarios s = made(rows);
    char *text;

    set_memory(&s.base, 12, 15, "yes");
    set_memory(&rows[0], 14, 15.5, "edge");
    set_memory(&rows[1], 15, 17, "no");
    text = written(&s, 't');
    check_has(text, "31.2     12.00\n");
    check_has(text, "31.2   14.00 ?\n");
    check_has(text, "31.2   15.00 !  larger\n");
    check_has(text, "\n?: not sure to fit into the memory of the GPU\n");
    check_has(text, "\n!: not expected to fit into the memory of the GPU\n\n"
                    "longer ");
    free(text);
    rows[1].memory = rows[0].memory = s.base.memory;
    text = written(&s, 't');
    CHECK(!strstr(text, "not sure") && !strstr(text, "not expected"));
    free(text);
    /* an edge of a row without a prediction is none */
    set_memory(&rows[2], 14, 15.5, "edge");
    text = written(&s, 't');
    CHECK(!strstr(text, "not sure"));
    free(text);
}

/* Kernels whose number or time is not the base's, those that are new, and those
 * that are gone. */
static void test_scenario_report__kernels(void)
{
    static struct msim_kernel_row before[] = {
        {.name = "same", .kind = "kernel", .calls = 2, .us = 10},
        {.name = "slower", .kind = "kernel", .calls = 2, .us = 20},
        {.name = "more", .kind = "kernel", .calls = 2, .us = 30},
        {.name = "gone", .kind = "kernel", .calls = 4, .us = 40}};
    static struct msim_kernel_row after[] = {
        {.name = "same", .kind = "kernel", .calls = 2, .us = 10},
        {.name = "slower", .kind = "kernel", .calls = 2, .us = 25},
        {.name = "more", .kind = "kernel", .calls = 3, .us = 30},
        {.name = "gone", .kind = "other", .calls = 6, .us = 60}};
    struct msim_scenario_row rows[3];
    struct msim_scenarios s = made(rows);
    const char *at;
    char *text;

    s.kernels = true;
    s.n = 1;
    s.base.kernels_by = before;
    s.base.n_kernels_by = 4;
    rows[0].kernels_by = after;
    rows[0].n_kernels_by = 4;
    text = written(&s, 't');
    at = strstr(text, "\nshorter: kernels an iteration, in the base and "
                      "changed\n");
    if (CHECK(at != NULL)) {
        CHECK(strstr(at, "  same\n") == NULL);
        check_has(at, "          2      20.0 us          2      25.0 us  "
                      "slower\n");
        check_has(at,
                  "          2      30.0 us          3      30.0 us  more\n");
        check_has(at,
                  "          0       0.0 us          6      60.0 us  gone\n");
        check_has(at,
                  "          4      40.0 us          0       0.0 us  gone\n");
    }
    free(text);
    text = written(&s, 'j');
    check_has(text, "{\"name\": \"gone\", \"kind\": \"other\", \"calls\": 6, "
                    "\"predicted_us\": 60}");
    free(text);
    /* Time without names is of operators made anew; without time all are gone.
     */
    rows[0].n_kernels_by = 0;
    text = written(&s, 't');
    check_has(text,
              "\nshorter: its operators are made anew, which does not say "
              "kernels by name\n");
    CHECK(!strstr(text, "kernels an iteration"));
    free(text);
    s.base.n_kernels_by = 0; /* of a trace without GPU activities */
    text = written(&s, 't');
    CHECK(!strstr(text, "made anew"));
    free(text);
    s.base.n_kernels_by = 4;
    rows[0].kernels.predicted = 0;
    text = written(&s, 't');
    check_has(text, "          4      40.0 us          0       0.0 us  gone\n");
    free(text);
}

static void test_scenario_report__csv(void)
{
    static struct msim_memory_way ways[] = {
        {.change = "batch 2", .needed = 7 * GIB, .is_enough = true},
        {.change = "zero1", .needed = 20 * GIB},
        {.change = "batch 1", .needed = 4 * GIB, .is_enough = true}};
    struct msim_scenario_row rows[3];
    struct msim_scenarios s = made(rows);
    char *text;

    set_memory(&s.base, 1, 2, "yes");
    rows[1].memory.ways = ways;
    rows[1].memory.n_ways = 3;
    text = written(&s, 'c');
    check_has(text, "\nbase,10000,9000,12000,1,0.8,1.25,10000,5000,7,9,5000,"
                    "1250,625,2500,625,1073741824,536870912,2147483648,"
                    "1073741824,2147483648,17179869184,,,yes,,,\n");
    check_has(text, "\nshorter,8000,7200,9600,0.8,0.64,1,8000,4000,7,9,4000,"
                    "1000,500,2000,500,,,,,,,,,,,,\n");
    check_has(text,
              ",1000,,,,,,,,,,\"batch 2 (7.00 GiB); batch 1 (4.00 GiB)\",,"
              "larger\n");
    check_has(text, "\nnot so,,,,,,,,,,,,,,,,,,,,,,,,,,it cannot,\n");
    CHECK(strncmp(text, "scenario,period_us,period_low_us,", 33) == 0);
    free(text);
}

static double number(const cJSON *json, const char *object, const char *key)
{
    return msim_json_get_number(cJSON_GetObjectItemCaseSensitive(json, object),
                                key, -1);
}

static void test_scenario_report__json(void)
{
    struct msim_scenario_row rows[3];
    struct msim_scenarios s = made(rows);
    char *text = written(&s, 'j');
    cJSON *json = cJSON_Parse(text);
    const cJSON *list, *one;

    REQUIRE(json != NULL);
    CHECK_STR(msim_json_get_text(json, "schema"), "mystique-sim/whatif/1");
    one = cJSON_GetObjectItemCaseSensitive(json, "base");
    CHECK_STR(msim_json_get_text(one, "name"), "base");
    CHECK_REL(number(one, "period_us", "predicted"), 10000, 1e-9);
    CHECK_REL(number(one, "period_us", "low"), 9000, 1e-9);
    CHECK_REL(number(one, "period_us", "high"), 12000, 1e-9);
    CHECK_REL(number(one, "ratio", "low"), 0.8, 1e-9);
    CHECK_REL(number(one, "iteration_us", "predicted"), 10000, 1e-9);
    CHECK_REL(number(one, "kernel_us", "predicted"), 5000, 1e-9);
    CHECK_REL(number(one, "communication_us", "transfer"), 7, 1e-9);
    CHECK_REL(number(one, "communication_us", "wait"), 9, 1e-9);
    CHECK_REL(number(one, "breakdown_us", "compute"), 5000, 1e-9);
    CHECK_REL(number(one, "breakdown_us", "communication"), 1250, 1e-9);
    CHECK_REL(number(one, "breakdown_us", "memory_copy"), 625, 1e-9);
    CHECK_REL(number(one, "breakdown_us", "host"), 2500, 1e-9);
    CHECK_REL(number(one, "breakdown_us", "idle"), 625, 1e-9);
    CHECK(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(one, "reason")));
    list = cJSON_GetObjectItemCaseSensitive(json, "scenarios");
    CHECK_INT(cJSON_GetArraySize(list), 3);
    one = cJSON_GetArrayItem(list, 2);
    CHECK_STR(msim_json_get_text(one, "reason"), "it cannot");
    CHECK(!cJSON_HasObjectItem(one, "period_us"));
    CHECK_STR(msim_json_get_text(cJSON_GetArrayItem(list, 1), "name"),
              "longer");
    cJSON_Delete(json);
    free(text);
}

int main(void)
{
    RUN(test_scenario_report__csv);
    RUN(test_scenario_report__json);
    RUN(test_scenario_report__kernels);
    RUN(test_scenario_report__memory);
    RUN(test_scenario_report__text);
    return check_summary();
}

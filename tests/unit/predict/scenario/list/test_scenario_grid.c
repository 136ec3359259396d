/*
 * predict/scenario/list: names, changes and grids of a file of scenarios.
 */
#include "predict/scenario/list/scenario_list.h"

#include "tests/unit/appended.h"
#include "tests/unit/predict/scenario/made_change.h"

#include <stdlib.h>

/* ---- the list ------------------------------------------------------------ */

static void check_file(const char *text, const char *want)
{
    struct made_change m = made_change_file(text);

    CHECK_INT(m.status, MSIM_EFORMAT);
    CHECK_STR(m.err.text, want);
    CHECK_STR(m.err.file, "s.json");
    made_change_free(&m);
}

static void test_list__forms(void)
{
    static const char LIST[] =
        ", want an array of {\"name\": ..., \"changes\": [...]}, or \"grid\"";
    char want[256];

    check_file("[]", "this is not a JSON object, want {\"scenarios\": [...]} "
                     "or {\"grid\": {...}}");
    snprintf(want, sizeof(want), "scenarios is missing%s", LIST);
    check_file("{}", want);
    snprintf(want, sizeof(want), "scenarios is []%s", LIST);
    check_file("{\"scenarios\":[]}", want);
    snprintf(want, sizeof(want), "scenarios is 4%s", LIST);
    check_file("{\"scenarios\":4,\"grid\":{\"gpu\":[\"a\"]}}", want);
    check_file("{\"scenarios\":[{\"changes\":[]}]}",
               "scenarios[0].name is missing, want a text");
    check_file("{\"scenarios\":[{\"name\":\"\",\"changes\":[]}]}",
               "scenarios[0].name is \"\", want a text");
    check_file("{\"scenarios\":[{\"name\":\"a\",\"changes\":[]},"
               "{\"name\":\"b\"}]}",
               "scenarios[1].changes is missing, want an array of changes");
    check_file("{\"scenarios\":[{\"name\":\"a\",\"changes\":[1]}]}",
               "scenarios[0].changes is [1], want an array of objects");
    check_file("{\"scenarios\":[{\"name\":\"a\",\"changes\":[{\"gpu\":\"a\"},"
               "{\"nodes\":2,\"ranks\":3}]}]}",
               "scenarios[0].changes[1] has 2 members, want one change");
    check_file("{\"scenarios\":[{\"name\":\"a\",\"changes\":[{}]}]}",
               "scenarios[0].changes[0] has 0 members, want one change");
}

/* How ranks split a model is one change, with all its members. */
static void test_list__parts_of_parallel(void)
{
    static const char *const PARTS[] = {
        "tp",  "pp", "vp",     "dp",       "ep",
        "etp", "cp", "stages", "schedule", "micro_batches"};
    char text[256], want[256];

    for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        snprintf(text, sizeof(text),
                 "{\"scenarios\":[{\"name\":\"a\",\"changes\":[{\"%s\":2}]}]}",
                 PARTS[i]);
        snprintf(want, sizeof(want),
                 "scenarios[0].changes[0].%s is no change, want {\"%s\":2} as "
                 "a value of parallel",
                 PARTS[i], PARTS[i]);
        check_file(text, want);
    }
    check_file("{\"grid\":{\"tp\":[2]}}",
               "grid.tp is no change, want {\"tp\":2} as a value of parallel");
}

static void test_list__hyphens(void)
{
    struct made_change m = made_change("{\"power-cap\":300},"
                                       "{\"optimizer-in-backward\":true}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_REL(m.settings->clock.watts, 300, 0);
    CHECK(m.settings->rewrite.in_backward);
    made_change_free(&m);
}

/* ---- grids --------------------------------------------------------------- */

/* The last axis turns fastest, behind the scenarios that have names. */
static void test_grid__points(void)
{
    static const char *const NAMES[] = {"named",
                                        "gpu a, kernels 1, host x",
                                        "gpu a, kernels 1, host 0.5",
                                        "gpu a, kernels 0.5, host x",
                                        "gpu a, kernels 0.5, host 0.5",
                                        "gpu b, kernels 1, host x",
                                        "gpu b, kernels 1, host 0.5",
                                        "gpu b, kernels 0.5, host x",
                                        "gpu b, kernels 0.5, host 0.5"};
    struct made_change m = made_change_file(
        "{\"scenarios\":[{\"name\":\"named\",\"changes\":[]}],\"grid\":{"
        "\"gpu\":[\"a\",\"b\"],\"kernels\":[1,0.5],\"host\":[\"x\",0.5]}}");

    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.all.grid.first, 1);
    CHECK_INT(m.all.grid.width, 28);
    if (CHECK_UINT(m.all.n, 9))
        for (uint32_t i = 0; i < 9; i++) {
            const struct msim_scenario_row *row = &m.all.rows[i];

            CHECK_STR(row->name, NAMES[i]);
            if (i == 0)
                continue;
            CHECK_STR(row->settings.platform, i < 5 ? "a" : "b");
            /* a number is a factor, a word the name of a host */
            CHECK_UINT(row->settings.n_scales, i % 2 ? 1 : 2);
            CHECK_STR(row->settings.host, i % 2 ? "x" : NULL);
        }
    made_change_free(&m);
}

static void test_grid__refuses(void)
{
    static const char *const KINDS[] = {"kernels", "communication", "copies"};
    char text[128], want[256];

    check_file("{\"grid\":[]}",
               "grid is no object of changes with their values, want "
               "{\"gpu\": [\"a100\", \"h100\"], \"batch\": [8, 16]}");
    check_file("{\"grid\":{}}",
               "grid is no object of changes with their values, want "
               "{\"gpu\": [\"a100\", \"h100\"], \"batch\": [8, 16]}");
    check_file("{\"grid\":{\"gpu\":\"a\"}}",
               "grid.gpu is no array of values, want one or more");
    check_file("{\"grid\":{\"gpu\":[]}}",
               "grid.gpu is no array of values, want one or more");
    check_file("{\"grid\":{\"gpu\":[\"a\",\"b\",\"a\"]}}",
               "grid.gpu has a twice, want each value once");
    check_file("{\"grid\":{\"batch\":[1,{\"to\":2},{\"to\":2}]}}",
               "grid.batch has {\"to\":2} twice, want each value once");
    check_file("{\"grid\":{\"host\":[0]}}",
               "grid.host is 0, want a number above 0: a factor of such "
               "durations");
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "{\"grid\":{\"%s\":[1,\"x\"]}}", KINDS[i]);
        snprintf(want, sizeof(want),
                 "grid.%s is \"x\", want a number above 0: a factor of such "
                 "durations",
                 KINDS[i]);
        check_file(text, want);
    }
    check_file("{\"grid\":{\"nodes\":[0]}}",
               "grid.nodes is 0, want a whole number from 1");
}

/* 10,000 points, and no more. */
static void test_grid__most(void)
{
    static char text[4096];

    for (int n = 100; n <= 101; n++) {
        struct made_change m;

        snprintf(text, sizeof(text), "%s", "{\"grid\":{\"nodes\":[1");
        for (int i = 2; i <= 100; i++)
            APPEND(text, ",%d", i);
        APPEND(text, "%s", "],\"ranks\":[1");
        for (int i = 2; i <= n; i++)
            APPEND(text, ",%d", i);
        APPEND(text, "%s", "]}}");
        if (n > 100) {
            check_file(text, "grid has 10100 points, want at most 10000");
            continue;
        }
        m = made_change_file(text);
        CHECK_INT(m.status, MSIM_OK);
        CHECK_UINT(m.all.n, 10000);
        made_change_free(&m);
    }
}

/* ---- answers ------------------------------------------------------------- */

static void check_answers(const struct msim_scenario_grid *g, uint32_t index,
                          const char *json, const char *csv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_scenario_grid_json(g, index, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    CHECK_STR(text, json);
    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    msim_scenario_grid_csv(g, index, out);
    fclose(out);
    CHECK_STR(text, csv);
    free(text);
}

static void test_grid__answers(void)
{
    struct made_change m = made_change_file(
        "{\"scenarios\":[{\"name\":\"named\",\"changes\":[]}],\"grid\":{"
        "\"gpu\":[\"a\"],\"batch\":[4,{\"to\":8}],"
        "\"optimizer_in_backward\":[true,false]}}");
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    CHECK_INT(m.status, MSIM_OK);
    msim_scenario_grid_csv_head(&m.all.grid, out);
    fclose(out);
    CHECK_STR(text, ",grid.gpu,grid.batch,grid.optimizer_in_backward");
    free(text);
    check_answers(&m.all.grid, MSIM_GRID_BASE, "{}\n", ",,,");
    check_answers(&m.all.grid, 0, "{}\n", ",,,");
    check_answers(&m.all.grid, 1,
                  "{\"grid\": {\"gpu\": \"a\", \"batch\": 4, "
                  "\"optimizer_in_backward\": true}}\n",
                  ",a,4,true");
    check_answers(&m.all.grid, 4,
                  "{\"grid\": {\"gpu\": \"a\", \"batch\": {\"to\": 8}, "
                  "\"optimizer_in_backward\": false}}\n",
                  ",a,\"{\"\"to\"\":8}\",false");
    made_change_free(&m);
}

/* Names of points are shown in full, up to a width. */
static void test_grid__width(void)
{
    static const int WIDTHS[][2] = {{0, 28},  {27, 28}, {28, 28}, {29, 29},
                                    {71, 71}, {72, 72}, {73, 72}, {500, 72}};

    for (size_t i = 0; i < sizeof(WIDTHS) / sizeof(*WIDTHS); i++) {
        const struct msim_scenario_grid g = {.width = WIDTHS[i][0]};

        CHECK_INT(msim_scenario_grid_width(&g), WIDTHS[i][1]);
    }
}

int main(void)
{
    RUN(test_grid__answers);
    RUN(test_grid__most);
    RUN(test_grid__points);
    RUN(test_grid__refuses);
    RUN(test_grid__width);
    RUN(test_list__forms);
    RUN(test_list__hyphens);
    RUN(test_list__parts_of_parallel);
    return check_summary();
}

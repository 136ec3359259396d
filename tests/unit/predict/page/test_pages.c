/*
 * predict/page: what-ifs as Markdown, and a prediction as one file.
 */
#include "predict/page/prediction_page.h"

#include "core/base/units.h"
#include "core/report/write/report.h"
#include "tests/unit/predict/made_steps.h"

#include <math.h>

/* A base of 100 ms and two scenarios: one of half of it, of which memory is
 * known, and one without an answer. */
static void test_pages__scenarios(void)
{
    struct msim_scenario_row rows[2] = {
        {.name = "faster",
         .period = {.predicted = 50000},
         .kernels = {.predicted = 40000},
         .ratio = {.predicted = 0.5, .low = 0.4, .high = 0.7},
         .memory = {.peak = 3 * MSIM_GIB, .fits = "yes"},
         .marks = MSIM_GUARD_BIT(PEAK)},
        {.name = "other",
         .period = {.predicted = NAN},
         .kernels = {.predicted = NAN},
         .ratio = {NAN, NAN, NAN, NAN},
         .memory = {.peak = NAN},
         .reason = "it cannot be"}};
    struct msim_scenarios s = {
        .base = {.name = "base",
                 .period = {.predicted = 100000},
                 .kernels = {.predicted = 90000},
                 .ratio = {1, 1, 1, NAN},
                 .memory = {.peak = 4 * MSIM_GIB, .fits = "no"}},
        .rows = rows,
        .n = 2};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_scenarios_markdown(&s, out);
    fclose(out);
    CHECK_STR(text,
              "| scenario | period | of the base | 90 % | kernels | memory | "
              "fits | marked |\n"
              "|---|---:|---:|---:|---:|---:|---|---|\n"
              "| as it is | 100.000 ms | 1 |  | 90.000 ms | 4.00 GiB | no |  "
              "|\n"
              "| faster | 50.000 ms | 0.500 | 0.400 to 0.700 | 40.000 ms | "
              "3.00 GiB | yes | peak |\n"
              "\n- other cannot be predicted: it cannot be\n");
    free(text);
}

/* The page has the title; the pieces of the path, which it leaves out, stay in
 * the prediction. */
static void test_pages__prediction(void)
{
    static const struct step STEP = {.before = 10, .kernel = 200, .after = 10};
    static const char PATH[] = "msim-test-page.html";
    char *page = NULL, title[512];
    const struct msim_planes none = {.n = 0};
    struct made_run r;
    size_t size;

    if (run_steps(&r, &STEP, MSIM_DATA)) {
        struct msim_prediction shown = *r.run.prediction;
        uint32_t pieces = shown.n_path;
        FILE *out = open_memstream(&page, &size), *in;
        int c;

        CHECK(pieces > 0);
        CHECK_INT(msim_prediction_page(&r.run, &none, PATH, NULL), MSIM_OK);
        CHECK_INT(r.run.prediction->n_path, pieces);
        in = fopen(PATH, "r");
        REQUIRE(in && out);
        while ((c = fgetc(in)) != EOF)
            fputc(c, out);
        fclose(in);
        fclose(out);
        unlink(PATH);
        msim_format_title(title, sizeof(title), &shown);
        CHECK(strstr(page, title) != NULL);
        free(page);
    }
    run_free(&r);
}

int main(void)
{
    RUN(test_pages__scenarios);
    RUN(test_pages__prediction);
    return check_summary();
}

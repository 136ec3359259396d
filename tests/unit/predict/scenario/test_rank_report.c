/*
 * predict/scenario/rank_report.c, predict/page/scenarios_page.c and
 * predict/rows/trace_report.c: what is written of scenarios, on rows made by
 * hand.
 */
#include "predict/scenario/scenario_internal.h"

#include "predict/page/prediction_page.h"
#include "predict/rows/trace_rows.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_scale scales[2] = {{.text = "op:a=b*=0.9"},
                                      {.text = "kernels=0.9"}};

/* A base of 10 ms; a part that gains 0.5 ms of the 8 ms that it takes, and one
 * that cannot be predicted. */
static struct msim_scenarios ranking(struct msim_scenario_row rows[2])
{
    struct msim_scenarios s = {.rows = rows, .n = 2, .ranked = true};

    s.base = (struct msim_scenario_row){
        .name = "base", .period = {.predicted = 10000}, .arena = NULL};
    rows[0] = (struct msim_scenario_row){
        .name = "op:a=b*",
        .group = "operator",
        .scales = &scales[0],
        .work_us = 8000,
        .period = {.predicted = 9500},
        .ratio = {.predicted = 0.95, .low = 0.94, .high = 0.975}};
    rows[1] = (struct msim_scenario_row){.name = "kernels",
                                         .group = "kind",
                                         .scales = &scales[1],
                                         .work_us = 4000};
    snprintf(rows[1].reason, sizeof(rows[1].reason), "no, \"it\" cannot");
    return s;
}

/* What a tenth less gains is over a tenth of the work: 500 of 800 us. */
static void test_ranking__text(void)
{
    struct msim_scenario_row rows[2];
    struct msim_scenarios s = ranking(rows);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_ranking_text(&s, out);
    fclose(out);
    CHECK(strstr(text, "period 10.000 ms; with a tenth less of one part it "
                       "would be shorter by the gain\n\n") == text);
    CHECK(strstr(text,
                 "\nop:a=b*                             8.000 ms  "
                 "  500.0 us    5.00 % [ 2.50- 6.00]     0.63\n") != NULL);
    CHECK(strstr(text, "\nkernels                          no prediction: no, "
                       "\"it\" cannot\n") != NULL);
    CHECK(strstr(text, "no part shortens it alone") == NULL);
    free(text);
    text = NULL;
    out = open_memstream(&text, &size);
    s.n = 0;
    msim_ranking_text(&s, out);
    fclose(out);
    CHECK(strstr(text, "\nno part shortens it alone\n") != NULL);
    free(text);
}

static void check_csv(const struct msim_scenarios *s,
                      const struct msim_scenario_row *row, const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_ranking_csv(s, row, out);
    fclose(out);
    /* a tenth has no end in binary digits: the last one may be any */
    CHECK(strncmp(text, want, strlen(want)) == 0);
    free(text);
}

/* The selection is all in front of the last '='. */
static void test_ranking__csv(void)
{
    struct msim_scenario_row rows[2];
    struct msim_scenarios s = ranking(rows);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_ranking_csv_head(out);
    fclose(out);
    CHECK_STR(text, ",group,select,work_us,gain_us,exposed");
    free(text);
    check_csv(&s, &rows[0], ",operator,op:a=b*,8000,500,0.625");
    check_csv(&s, &rows[1], ",kind,kernels,4000,,");
    check_csv(&s, &s.base, ",,,,,");
}

static void check_json(const struct msim_scenarios *s,
                       const struct msim_scenario_row *row, const char *want)
{
    struct msim_json j;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_ranking_json(&j, s, row);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    /* a tenth has no end in binary digits: the last one may be any */
    CHECK(strncmp(text, want, strlen(want)) == 0);
    free(text);
}

static void test_ranking__json(void)
{
    struct msim_scenario_row rows[2];
    struct msim_scenarios s = ranking(rows);

    check_json(&s, &rows[0],
               "{\"group\": \"operator\", \"select\": \"op:a=b*\", "
               "\"work_us\": 8000, \"gain_us\": 500, \"exposed\": 0.625");
    check_json(&s, &rows[1],
               "{\"group\": \"kind\", \"select\": \"kernels\", \"work_us\": "
               "4000}\n");
}

/* ---- Markdown ------------------------------------------------------------ */

static void test_scenarios_page__rows(void)
{
    struct msim_scenario_row rows[2];
    struct msim_scenarios s = ranking(rows);
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    s.base.kernels.predicted = 7000;
    s.base.ratio = (struct msim_figure){.predicted = 1, .low = 1, .high = 1};
    s.base.memory.peak = (double)NAN;
    rows[0].kernels.predicted = 6000;
    rows[0].memory.peak = 3.0 * (1 << 30);
    rows[0].memory.fits = "yes";
    rows[1].memory.peak = (double)NAN;
    msim_scenarios_markdown(&s, out);
    fclose(out);
    CHECK_STR(text,
              "| scenario | period | of the base | 90 % | kernels | memory | "
              "fits | marked |\n"
              "|---|---:|---:|---:|---:|---:|---|---|\n"
              "| as it is | 10.000 ms | 1 |  | 7.000 ms |  |  |  |\n"
              "| `op:a=b*` | 9.500 ms | 0.950 | 0.940 to 0.975 | 6.000 ms | "
              "3.00 GiB | yes |  |\n"
              "\n- kernels cannot be predicted: `no, \"it\" cannot`\n");
    free(text);
}

/* ---- rows of a table ----------------------------------------------------- */

#define GIB 1073741824.0

/* Two measured jobs, the second of which has no prediction, and one that was
 * not measured. */
struct table {
    struct msim_trace_rows t;
    struct msim_scenario_row scenarios[3];
    struct msim_trace_row rows[3];
};

static void make_table(struct table *x)
{
    static const char *const COLUMNS[] = {"model", "gpus"};
    static const char *const FIELDS[][2] = {
        {"a,b", "1"}, {"c", "2"}, {"d", ""}};

    memset(x, 0, sizeof(*x));
    x->t.columns = COLUMNS;
    x->t.n_columns = 2;
    x->t.n = 3;
    x->t.rows = x->rows;
    x->t.scenarios.rows = x->scenarios;
    for (int i = 0; i < 3; i++) {
        x->rows[i] = (struct msim_trace_row){
            .fields = FIELDS[i], .kind = "ddp", .defaults = i ? "" : "gpus 1"};
        x->scenarios[i] = (struct msim_scenario_row){
            .period = {.predicted = 110000, .low = 90000, .high = 130000}};
    }
    x->rows[0].step_ms = 100;
    x->rows[0].memory_gib = 4;
    x->scenarios[0].memory.peak = 3 * GIB;
    x->scenarios[0].memory.low = 2 * GIB;
    x->scenarios[0].memory.high = 5 * GIB;
    x->scenarios[0].memory.fits = "edge";
    x->scenarios[0].marks = MSIM_GUARD_BIT(LARGER);
    x->rows[1].step_ms = 100;
    x->scenarios[1].marks = MSIM_GUARD_BIT(PEAK);
    snprintf(x->scenarios[1].reason, sizeof(x->scenarios[1].reason),
             "it has no batch");
}

static char *report(const struct table *x, bool csv, double limit,
                    enum msim_status status, struct msim_error *err)
{
    const struct msim_judged_wish wish = {.limit = limit};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    *err = (struct msim_error){0};
    CHECK_INT(msim_trace_rows_report(&x->t, csv, &wish, out, err), status);
    fclose(out);
    return text;
}

static void test_trace_report__csv(void)
{
    struct msim_error err;
    struct table x;
    char *text;

    make_table(&x);
    text = report(&x, true, 0, MSIM_OK, &err);
    CHECK_STR(text,
              "model,gpus,predicted_ms,low_ms,high_ms,predicted_memory_gib,"
              "fits,uses_rows,defaults,reason,guards\n"
              "\"a,b\",1,110,90,130,3,edge,0,gpus 1,,larger\n"
              "c,2,,,,,,,,it has no batch,\n"
              "d,,110,90,130,,,0,,,\n");
    free(text);
}

/* The first of them is off by a tenth, and by a quarter of its memory. */
static void test_trace_report__text(void)
{
    struct msim_error err;
    struct table x;
    char *text;

    make_table(&x);
    text = report(&x, false, 0, MSIM_OK, &err);
    CHECK(strstr(text, "\n\n2 of 3 jobs predicted\nthe first without a "
                       "prediction: it has no batch\n"));
    CHECK(strstr(text, "10.0") && strstr(text, "25.0"));
    free(text);
    /* past a limit of the mean error, in percent */
    free(report(&x, false, 10.5, MSIM_OK, &err));
    free(report(&x, false, 9.5, MSIM_ECHECK, &err));
    x.rows[0].step_ms = x.rows[0].memory_gib = 0;
    text = report(&x, false, 0, MSIM_OK, &err);
    CHECK(strstr(text, "no row has a measured time\n"));
    free(text);
}

/* Memory that is not known is not judged; no prediction at all is a failure. */
static void test_trace_report__nothing_predicted(void)
{
    struct msim_error err;
    struct table x;
    char *text;

    make_table(&x);
    for (int i = 0; i < 3; i++)
        snprintf(x.scenarios[i].reason, sizeof(x.scenarios[i].reason), "why %d",
                 i);
    text = report(&x, false, 0, MSIM_ECHECK, &err);
    CHECK(strstr(text, "\n\n0 of 3 jobs predicted\nthe first without a "
                       "prediction: why 0\n"));
    CHECK(strstr(err.text, "0 of 3 jobs") != NULL);
    free(text);
}

int main(void)
{
    RUN(test_ranking__csv);
    RUN(test_ranking__json);
    RUN(test_ranking__text);
    RUN(test_scenarios_page__rows);
    RUN(test_trace_report__csv);
    RUN(test_trace_report__nothing_predicted);
    RUN(test_trace_report__text);
    return check_summary();
}

/*
 * predict/rows/trace_report.c: a table of jobs as CSV, and its errors as text.
 */
#include "predict/rows/trace_rows.h"

#include "core/base/units.h"
#include "core/report/compare/compare.h"
#include "tests/check.h"

#include <stdlib.h>

enum { N = 3 };

/* A job that was measured, one without a prediction, and one that trips a guard
 * and of which nothing was measured. */
static struct msim_scenario_row scenarios[N];
static struct msim_trace_row rows[N];

static struct msim_trace_rows table(void)
{
    static const char *const COLUMNS[] = {"model", "a, b"};
    static const char *const FIELDS[N][2] = {
        {"resnet", "x"}, {"gpt2", "y,\"z\""}, {"vit", ""}};

    memset(scenarios, 0, sizeof(scenarios));
    memset(rows, 0, sizeof(rows));
    for (int i = 0; i < N; i++) {
        rows[i].fields = FIELDS[i];
        rows[i].kind = "ddp";
        rows[i].defaults = "";
        rows[i].gpus = 2;
        scenarios[i].period = (struct msim_figure){
            .predicted = 20000, .low = 18000, .high = 25000};
        scenarios[i].memory.peak = 3 * MSIM_GIB;
        scenarios[i].memory.low = 2.5 * MSIM_GIB;
        scenarios[i].memory.high = 3.5 * MSIM_GIB;
        scenarios[i].memory.fits = "yes";
    }
    scenarios[0].settings.platform = "l40s";
    rows[0].step_ms = 16;
    rows[0].memory_gib = 2;
    rows[0].defaults = "grad_accum 1, more";
    rows[1].step_ms = 99; /* measured, but not predicted */
    snprintf(scenarios[1].reason, sizeof(scenarios[1].reason), "not, so");
    scenarios[1].marks = MSIM_GUARD_BIT(LARGER);
    scenarios[2].marks = MSIM_GUARD_BIT(PEAK);
    scenarios[2].memory.peak = 0;
    scenarios[2].memory.fits = NULL;
    return (struct msim_trace_rows){
        .columns = COLUMNS,
        .n_columns = 2,
        .n = N,
        .rows = rows,
        .scenarios = {.rows = scenarios, .n = N, .marked = {0}}};
}

/* What is written; the caller frees it. */
static char *report(const struct msim_trace_rows *t, bool csv,
                    const struct msim_judged_wish *wish,
                    enum msim_status status, struct msim_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    *err = (struct msim_error){0};
    CHECK_INT(msim_trace_rows_report(t, csv, wish, out, err), status);
    fclose(out);
    return text;
}

static void test_trace_report__csv(void)
{
    static const struct msim_judged_wish none = {NULL, 0};
    struct msim_trace_rows t = table();
    struct msim_error err;
    char *text = report(&t, true, &none, MSIM_OK, &err);

    CHECK_STR(text,
              "model,\"a, b\",predicted_ms,low_ms,high_ms,"
              "predicted_memory_gib,fits,uses_rows,defaults,reason,guards\n"
              "resnet,x,20,18,25,3,yes,0,\"grad_accum 1, more\",,\n"
              "gpt2,\"y,\"\"z\"\"\",,,,,,,,\"not, so\",\n"
              "vit,,20,18,25,,,0,,,peak\n");
    free(text);
}

/* The job that has both: 20 ms for 16, 3 GiB for 2. */
static char *judged(const char *head)
{
    struct msim_judged_groups g = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    fputs(head, out);
    CHECK_INT(msim_judged_add(&g, "ddp", MSIM_JUDGED_STEP, 16, 20, 18, 25),
              MSIM_OK);
    CHECK_INT(msim_judged_add(&g, "ddp", MSIM_JUDGED_MEMORY, 2, 3, 2.5, 3.5),
              MSIM_OK);
    CHECK_INT(msim_judged_write(&g, "trained by", NULL, NULL, NULL, out),
              MSIM_OK);
    msim_judged_release(&g);
    fclose(out);
    return text;
}

/* The list above the errors: a job with all figures, one with a reason, one of
 * which no memory is known. */
#define HEAD                                                                   \
    " row  job                                   measured   predicted  90 %  " \
    "                      error     GiB  fits\n"
#define FIRST                                                                  \
    "   1  ddp, 2 x l40s                        16.000 ms   20.000 ms  "       \
    "18.000 ms to 25.000 ms    "
#define SECOND "   2  ddp, 2 x the traced GPU            not, so\n"
#define THIRD                                                                  \
    "   3  ddp, 2 x the traced GPU                      -   20.000 ms  "       \
    "18.000 ms to 25.000 ms          -       -  -\n"

static void test_trace_report__text(void)
{
    static const struct msim_judged_wish none = {NULL, 0};
    struct msim_trace_rows t = table();
    struct msim_error err;
    char *text = report(&t, false, &none, MSIM_OK, &err);
    char *want = judged(HEAD FIRST "+25.0 %     3.0  yes\n" SECOND THIRD
                                   "\n2 of 3 jobs predicted\n"
                                   "the first without a prediction: not, so\n");

    CHECK_STR(text, want);
    free(text);
    free(want);
    /* the first reason is said, and nothing is judged that was not measured */
    snprintf(scenarios[2].reason, sizeof(scenarios[2].reason), "second");
    rows[0].step_ms = rows[0].memory_gib = 0;
    text = report(&t, false, &none, MSIM_OK, &err);
    CHECK(strstr(text, "\n   3  ddp, 2 x the traced GPU            second\n"
                       "\n1 of 3 jobs predicted\n"
                       "the first without a prediction: not, so\n"
                       "no row has a measured time\n"));
    free(text);
    /* memory that is not predicted is not judged */
    rows[0].memory_gib = 2;
    scenarios[0].memory.peak = 0;
    text = report(&t, false, &none, MSIM_OK, &err);
    CHECK(strstr(text, "no row has a measured time"));
    free(text);
}

/* No job at all is a failure, and so is a mean error past its limit: 25 %. */
static void test_trace_report__fails(void)
{
    static const struct msim_judged_wish none = {NULL, 0};
    static const struct {
        double limit;
        enum msim_status status;
    } WISH[] = {{26, MSIM_OK}, {24, MSIM_ECHECK}};
    struct msim_trace_rows t = table();
    struct msim_error err;

    for (int i = 0; i < 2; i++) {
        const struct msim_judged_wish wish = {NULL, WISH[i].limit};

        free(report(&t, i == 0, &wish, WISH[i].status, &err));
    }
    for (int i = 0; i < N; i++)
        snprintf(scenarios[i].reason, sizeof(scenarios[i].reason), "no");
    free(report(&t, true, &none, MSIM_ECHECK, &err));
    CHECK(*err.text);
}

/* Marked predictions are counted below. */
static void test_trace_report__counts_marks(void)
{
    static const struct msim_judged_wish none = {NULL, 0};
    struct msim_trace_rows t = table();
    char marked[MSIM_GUARD_SENTENCE];
    struct msim_error err;
    char *text, *at;

    msim_guard_add(&t.scenarios.marked, 0);
    msim_guard_add(&t.scenarios.marked, MSIM_GUARD_BIT(PEAK));
    msim_guard_sentence(&t.scenarios.marked, "predictions", marked);
    text = report(&t, false, &none, MSIM_OK, &err);
    at = strstr(text, marked);
    CHECK(*marked && at && at[-1] == '\n' && at[-2] == '\n');
    if (at)
        CHECK_STR(at + strlen(marked), "\n");
    free(text);
}

int main(void)
{
    RUN(test_trace_report__csv);
    RUN(test_trace_report__text);
    RUN(test_trace_report__fails);
    RUN(test_trace_report__counts_marks);
    return check_summary();
}

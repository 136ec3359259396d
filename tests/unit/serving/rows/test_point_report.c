/* serving/rows/point_report.c: an answered table of three rows, as CSV and as
 * lines for people. */
#include "serving/rows/serve_rows.h"
#include "tests/check.h"

#include <stdlib.h>

/* A table's texts are its own, so that they may be written to. */
static char texts[4][4][12] = {{"model", "ttft_ms", "tpot_ms", "note"},
                               {"llama", "12.5", "3", "a,b"},
                               {"qwen", "", "", ""},
                               {"gpt", "1", "2", "c"}};
static char *cells[4][4];
static struct msim_point_row rows[3];

/* Answered, of several clients; answered, one token; not answered. */
static struct msim_point_table table(void)
{
    for (int i = 0; i < 16; i++)
        cells[i / 4][i % 4] = texts[i / 4][i % 4];
    for (int i = 0; i < 3; i++)
        rows[i] = (struct msim_point_row){
            .fields = cells[i + 1],
            .point = {.model = cells[i + 1][0],
                      .platform = "h100",
                      .engine = MSIM_LLM_SGLANG,
                      .isl = 1000,
                      .osl = 200,
                      .clients = i ? 1 : 8},
            .answer = {.answered = i < 2,
                       .ttft = {i ? 0.5 : 100.125, 0.25, 120.5},
                       .tpot = {i ? 0 : 7.5, 6, 9}}};
    rows[0].answer.uses_rows = true;
    snprintf(rows[0].answer.defaults, sizeof(rows[0].answer.defaults), "%s",
             "tp is 1; \"x\"");
    snprintf(rows[2].answer.reason, sizeof(rows[2].answer.reason), "%s",
             "tp is 3");
    rows[2].point.model = NULL;
    rows[2].point.platform = NULL;
    return (struct msim_point_table){
        .header = cells[0], .columns = 4, .rows = rows, .n = 3};
}

static char text[2048];

static void print(const struct msim_point_table *t,
                  void (*write)(const struct msim_point_table *, FILE *))
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return;
    write(t, out);
    fclose(out);
}

/* What was measured has another name in the copy; times that there are not are
 * empty. */
static void test_point_report__csv(void)
{
    struct msim_point_table t = table();

    print(&t, msim_point_table_csv);
    CHECK_STR(text, "model,measured_ttft_ms,measured_tpot_ms,note,ttft_ms,"
                    "ttft_low_ms,ttft_high_ms,tpot_ms,tpot_low_ms,"
                    "tpot_high_ms,uses_rows,defaults,reason\n"
                    "llama,12.5,3,\"a,b\",100.125,0.25,120.5,7.5,6,9,1,"
                    "\"tp is 1; \"\"x\"\"\",\n"
                    "qwen,,,,0.5,0.25,120.5,,,,0,,\n"
                    "gpt,1,2,c,,,,,,,0,,tp is 3\n");
}

static void test_point_report__text(void)
{
    struct msim_point_table t = table();

    print(&t, msim_point_table_text);
    CHECK_STR(
        text,
        "   1  llama on h100, sglang, 1000 x 200 tokens, 8 clients\n"
        "      TTFT ms    100.12 (0.25 to 120.5)   TPOT ms      7.50 (6 to "
        "9)\n"
        "   2  qwen on h100, sglang, 1000 x 200 tokens, 1 client\n"
        "      TTFT ms      0.50 (0.25 to 120.5)   TPOT ms         -\n"
        "   3  ? on ?: no answer: tp is 3\n"
        "2 of 3 rows answered\n");
    t.n = 0;
    print(&t, msim_point_table_text);
    CHECK_STR(text, "0 of 0 rows answered\n");
}

int main(void)
{
    RUN(test_point_report__csv);
    RUN(test_point_report__text);
    return check_summary();
}

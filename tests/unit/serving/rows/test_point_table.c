/* serving/rows/point_table.c: rows that one served model answers are alike, and
 * stand together whatever their order; names are read once. */
#include "serving/rows/serve_rows.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define N 14

/* Rows that differ from the first in one thing each, to be more than it. */
static void make_rows(struct msim_point_row *rows)
{
    for (int i = 0; i < N; i++) {
        struct msim_served_point *p = &rows[i].point;

        *p = (struct msim_served_point){.model = i == 1 ? "n" : "m",
                                        .platform = i == 2 ? "q" : "p",
                                        .isl = i,
                                        .clients = N - i,
                                        .osl = 3};
        p->engine = i == 3;
        p->products = i == 4;
        p->experts = i == 5;
        p->kv = i == 6;
        p->max_num_batched_tokens = i == 7;
        p->serve.tp = i == 8;
        p->serve.pp = i == 9;
        p->serve.dp = i == 10;
        p->serve.moe_tp = i == 11;
        p->serve.ep = i == 12;
        p->decode.tp = i == 13;
    }
}

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

/* What comes first in the order decides: of two rows with one thing each, the
 * one whose thing comes first is more. */
static void test_point_table__order(void)
{
    struct msim_point_row rows[N] = {0};

    make_rows(rows);
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) {
            int want = a == b ? 0 : a == 0 ? -1 : b == 0 ? 1 : a < b ? 1 : -1;

            CHECK_INT(sign(msim_point_row_compare(&rows[a], &rows[b])), want);
        }
    /* How many ask for how long is no matter; a row without a name is less. */
    rows[1].point = rows[0].point;
    rows[1].point.isl = rows[1].point.clients = 77;
    CHECK_INT(msim_point_row_compare(&rows[0], &rows[1]), 0);
    rows[1].point.model = NULL;
    CHECK_INT(sign(msim_point_row_compare(&rows[0], &rows[1])), 1);
    CHECK_INT(sign(msim_point_row_compare(&rows[1], &rows[0])), -1);
    rows[0].point.model = NULL;
    CHECK_INT(msim_point_row_compare(&rows[0], &rows[1]), 0);
}

static void test_point_table__reads(void)
{
    char path[] = P_tmpdir "/msim-points-XXXXXX";
    struct msim_point_table t;
    struct msim_error err = {0};
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    REQUIRE(f != NULL);
    fputs("model,gpu,tp,mine\n"
          "llama3-8b,h100,2,a\n"
          "no-such,h100,1,b\n"
          "llama3-8b,h100,1,c\n"
          "llama3-8b,no-gpu,1,d\n"
          "llama3-8b,h100,2,e\n"
          "llama3-8b,h100,x,f\n",
          f);
    fclose(f);
    CHECK_INT(msim_point_table_read(&t, path, NULL, MSIM_DATA, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    CHECK_INT(t.n, 6);
    CHECK_INT(t.columns, 4);
    CHECK_STR(t.header[3], "mine");
    CHECK_INT(t.n_models, 2);
    CHECK_INT(t.n_platforms, 2);
    REQUIRE(t.n == 6);
    CHECK_STR(t.rows[4].fields[3], "e");
    CHECK(t.rows[0].model == t.rows[4].model &&
          t.rows[0].model->reason[0] == 0);
    CHECK(t.rows[0].platform == t.rows[4].platform);
    CHECK(t.rows[1].model != t.rows[0].model);
    CHECK(strncmp(t.rows[1].answer.reason, "model 'no-such': ", 17) == 0);
    CHECK(strncmp(t.rows[3].answer.reason, "platform 'no-gpu': ", 19) == 0);
    CHECK(t.rows[5].answer.reason[0] && !t.rows[5].model);
    CHECK(t.rows[0].answer.reason[0] == 0 && t.rows[0].answer.defaults[0]);
    /* the last row has no names that were read; then tp 1, and tp 2 as written
     */
    for (uint32_t i = 0, at = 0; i < t.n; i++)
        if (t.rows[t.order[i]].answer.reason[0] == 0) {
            static const uint32_t WANT[] = {2, 0, 4};

            CHECK_INT(t.order[i], WANT[at++]);
        }
    msim_point_table_release(&t);
    CHECK_INT(unlink(path), 0);
}

int main(void)
{
    RUN(test_point_table__order);
    RUN(test_point_table__reads);
    return check_summary();
}

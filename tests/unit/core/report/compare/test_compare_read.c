/*
 * tests/unit/core/report/compare/test_compare_read.c - every field of a
 * prediction's file, and what is refused.
 */
#include "core/report/compare/compare.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-read-XXXXXX";

static void write_file(const char *text)
{
    FILE *f = fopen(path, "w");

    REQUIRE(f != NULL);
    fputs(text, f);
    fclose(f);
}

#define CHECK_FIGURE(f, p, l, h, m)                                            \
    do {                                                                       \
        CHECK_REL((f).predicted, p, 0);                                        \
        CHECK_REL((f).low, l, 0);                                              \
        CHECK_REL((f).high, h, 0);                                             \
        CHECK_REL((f).measured, m, 0);                                         \
    } while (0)

#define FIGURE(key, p, l, h, m)                                                \
    "\"" key "\": {\"predicted\": " p ", \"low\": " l ", \"high\": " h         \
    ", \"measured\": " m "}, "
#define US(p, l, h, m)                                                         \
    "\"predicted_us\": " p ", \"low_us\": " l ", \"high_us\": " h              \
    ", \"measured_us\": " m "}"
#define BREAKDOWN(a, b, c, d, e)                                               \
    "\"breakdown_us\": {\"compute\": " a ", \"communication\": " b             \
    ", \"memory_copy\": " c ", \"host\": " d ", \"idle\": " e "}"
#define SCHEMA "{\"schema\": \"mystique-sim/prediction/1\", "

/* A number of its own in each field. */
/* clang-format off */
static const char WHOLE[] = SCHEMA
    "\"version\": \"v\", \"platform\": \"p\", \"costs\": \"c\", \"host\": "
    "\"h\", \"ranks\": 3, \"measured_jobs\": {\"factor\": 61, \"graph_us\": "
    "62, \"memory_factor\": 63}, \"scenario\": {\"options\": [\"--a\", 5, "
    "\"b\"], \"baseline_us\": 64, \"ratio\": 65, \"ratio_low\": 66, "
    "\"ratio_high\": 67}, "
    FIGURE("iteration_us", "1", "2", "3", "4")
    FIGURE("period_us", "5", "6", "7", "8")
    FIGURE("kernel_us", "9", "10", "11", "12")
    "\"communication_us\": {\"transfer\": 13, \"wait\": 14}, "
    "\"external_wait_us\": 15, \"overlapped_us\": {\"communication\": 16, "
    "\"memory_copy\": 17}, "
    BREAKDOWN("18", "19", "20", "21", "22")
    ", \"iterations\": [{\"name\": \"i\", " US("23", "24", "25", "26")
    "], \"ops\": [{\"name\": \"o\", \"model\": \"m\", \"source\": \"s\", "
    "\"calls\": 27, \"communication\": true, " US("28", "29", "30", "31")
    "], \"families\": [{\"model\": \"f\", \"calls\": 32, "
    US("33", "34", "35", "36")
    "], \"host_ops\": [{\"name\": \"w\", \"kind\": \"host\", \"calls\": 37, "
    US("38", "39", "40", "41")
    "], \"critical_owners\": [{\"name\": \"n\", \"kind\": \"k\", \"op\": "
    "\"op\", \"us\": 42, \"share\": 43, \"pieces\": 44}], \"ranks_detail\": "
    "[{\"rank\": 7, "
    FIGURE("iteration_us", "45", "46", "47", "48")
    FIGURE("kernel_us", "49", "50", "51", "52")
    "\"communication_us\": {\"transfer\": 53, \"wait\": 54}, "
    BREAKDOWN("55", "56", "57", "58", "59")
    "}, {\"rank\": 0}, {\"rank\": 1e15}, {\"rank\": -1}], \"waits_us\": "
    "{\"main_thread\": {\"launch\": 60, \"no\": null, \"event\": 68}, "
    "\"gpu_idle\": {\"idle\": 69}}, \"warnings\": [\"x\", 1, \"y\"]}";
/* clang-format on */

static void check_top(const struct msim_prediction *p)
{
    CHECK_STR(p->version, "v");
    CHECK_STR(p->platform, "p");
    CHECK_STR(p->costs, "c");
    CHECK_STR(p->host, "h");
    CHECK_UINT(p->ranks, 3);
    REQUIRE(p->n_inputs == 1);
    CHECK_STR(p->inputs[0], path);
    CHECK_REL(p->step.factor, 61, 0);
    CHECK_REL(p->step.graph_us, 62, 0);
    CHECK_REL(p->step.memory_factor, 63, 0);
    REQUIRE(p->scenario.n_options == 2);
    CHECK_STR(p->scenario.options[0], "--a");
    CHECK_STR(p->scenario.options[1], "b");
    CHECK_REL(p->scenario.baseline_us, 64, 0);
    CHECK_REL(p->scenario.ratio, 65, 0);
    CHECK_REL(p->scenario.ratio_low, 66, 0);
    CHECK_REL(p->scenario.ratio_high, 67, 0);
    CHECK_FIGURE(p->iteration_us, 1, 2, 3, 4);
    CHECK_FIGURE(p->period.us, 5, 6, 7, 8);
    CHECK_FIGURE(p->kernel_us, 9, 10, 11, 12);
    CHECK_REL(p->transfer_us, 13, 0);
    CHECK_REL(p->wait_us, 14, 0);
    CHECK_REL(p->external_wait_us, 15, 0);
    CHECK_REL(p->overlapped_communication_us, 16, 0);
    CHECK_REL(p->overlapped_copy_us, 17, 0);
    REQUIRE(p->n_warnings == 2);
    CHECK_STR(p->warnings[0], "x");
    CHECK_STR(p->warnings[1], "y");
}

static void check_breakdown(const struct msim_breakdown *b, double from)
{
    CHECK_REL(b->compute, from, 0);
    CHECK_REL(b->communication, from + 1, 0);
    CHECK_REL(b->memory_copy, from + 2, 0);
    CHECK_REL(b->host, from + 3, 0);
    CHECK_REL(b->idle, from + 4, 0);
}

static void check_rows(const struct msim_prediction *p)
{
    REQUIRE(p->n_iterations == 1 && p->n_ops == 1 && p->n_families == 1 &&
            p->n_host_ops == 1 && p->n_owners == 1);
    CHECK_STR(p->iterations[0].name, "i");
    CHECK_FIGURE(p->iterations[0].us, 23, 24, 25, 26);
    CHECK_STR(p->ops[0].name, "o");
    CHECK_STR(p->ops[0].model, "m");
    CHECK_STR(p->ops[0].source, "s");
    CHECK_REL(p->ops[0].calls, 27, 0);
    CHECK(p->ops[0].communication);
    CHECK_FIGURE(p->ops[0].us, 28, 29, 30, 31);
    CHECK_STR(p->families[0].model, "f");
    CHECK_REL(p->families[0].calls, 32, 0);
    CHECK_FIGURE(p->families[0].us, 33, 34, 35, 36);
    CHECK_STR(p->host_ops[0].name, "w");
    CHECK_STR(p->host_ops[0].kind, "host");
    CHECK_REL(p->host_ops[0].calls, 37, 0);
    CHECK_FIGURE(p->host_ops[0].us, 38, 39, 40, 41);
    CHECK_STR(p->owners[0].name, "n");
    CHECK_STR(p->owners[0].kind, "k");
    CHECK_STR(p->owners[0].op, "op");
    CHECK_REL(p->owners[0].us, 42, 0);
    CHECK_REL(p->owners[0].share, 43, 0);
    CHECK_REL(p->owners[0].pieces, 44, 0);
}

static void check_ranks(const struct msim_prediction *p)
{
    const struct msim_rank_row *r = p->ranks_detail;

    REQUIRE(p->n_ranks_detail == 4);
    CHECK_INT(r[0].rank, 7);
    CHECK_FIGURE(r[0].iteration_us, 45, 46, 47, 48);
    CHECK_FIGURE(r[0].kernel_us, 49, 50, 51, 52);
    CHECK_REL(r[0].transfer_us, 53, 0);
    CHECK_REL(r[0].wait_us, 54, 0);
    check_breakdown(&r[0].breakdown_us, 55);
    CHECK_INT(r[1].rank, 0);
    CHECK_INT(r[2].rank, -1); /* none can be */
    CHECK_INT(r[3].rank, -1);
    CHECK(isnan(r[1].wait_us) && isnan(r[1].iteration_us.predicted));
    REQUIRE(p->waits.main_thread.n == 2 && p->waits.gpu_idle.n == 1);
    CHECK_STR(p->waits.main_thread.rows[0].name, "launch");
    CHECK_REL(p->waits.main_thread.rows[0].us, 60, 0);
    CHECK_STR(p->waits.main_thread.rows[1].name, "event");
    CHECK_REL(p->waits.main_thread.rows[1].us, 68, 0);
    CHECK_STR(p->waits.gpu_idle.rows[0].name, "idle");
    CHECK_REL(p->waits.gpu_idle.rows[0].us, 69, 0);
}

static void test_compare_read__whole(void)
{
    struct msim_prediction *p = NULL;
    struct msim_error err = {0};

    write_file(WHOLE);
    CHECK(msim_prediction_is_file(path));
    REQUIRE(msim_prediction_read(&p, path, &err) == MSIM_OK);
    check_top(p);
    check_breakdown(&p->breakdown_us, 18);
    check_rows(p);
    check_ranks(p);
    msim_prediction_free(p);
}

#define LEAST                                                                  \
    SCHEMA "\"iteration_us\": {\"predicted\": 1}, \"kernel_us\": "             \
           "{\"predicted\": 1}, \"iterations\": [], \"ops\": []"

/* The least; how many ranks where that is no number of ranks. */
static void test_compare_read__least(void)
{
    static const struct {
        const char *more;
        uint32_t ranks;
    } ROWS[] = {{"}", 1},
                {", \"ranks\": 0.5}", 1},
                {", \"ranks\": 1}", 1},
                {", \"ranks\": 4294967294}", UINT32_MAX - 1},
                {", \"ranks\": 4294967295}", 1},
                {", \"scenario\": null, \"measured_jobs\": {}}", 1}};
    char text[512];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_prediction *p = NULL;
        struct msim_error err = {0};

        snprintf(text, sizeof(text), "%s%s", LEAST, ROWS[i].more);
        write_file(text);
        REQUIRE(msim_prediction_read(&p, path, &err) == MSIM_OK);
        CHECK_UINT(p->ranks, ROWS[i].ranks);
        CHECK(!p->host_ops && !p->owners && !p->scenario.options);
        CHECK(!p->waits.main_thread.rows && !p->waits.gpu_idle.rows);
        CHECK_UINT(p->n_warnings + p->n_ranks_detail + p->n_families, 0);
        CHECK(isnan(p->period.us.predicted) && isnan(p->transfer_us));
        msim_prediction_free(p);
    }
}

/* A row without its name, or its time. */
static void test_compare_read__refused_rows(void)
{
    static const struct {
        const char *of, *name, *us;
    } ROWS[] = {{"iterations", "name", "predicted_us"},
                {"ops", "name", "predicted_us"},
                {"families", "model", "predicted_us"},
                {"host_ops", "name", "predicted_us"},
                {"critical_owners", "name", "us"}};
    char text[1024], want[256];

    for (size_t i = 0; i < 2 * sizeof(ROWS) / sizeof(*ROWS); i++) {
        const char *key = ROWS[i / 2].of;
        struct msim_prediction *p = NULL;
        struct msim_error err = {0};
        char row[96];

        snprintf(row, sizeof(row), i % 2 ? "{\"%s\": \"x\"}" : "{\"%s\": 1}",
                 i % 2 ? ROWS[i / 2].name : ROWS[i / 2].us);
        snprintf(text, sizeof(text),
                 SCHEMA "\"iteration_us\": {\"predicted\": 1}, \"kernel_us\": "
                        "{\"predicted\": 1}, \"iterations\": [%s], \"ops\": "
                        "[%s], \"%s\": [%s]}",
                 strcmp(key, "iterations") ? "" : row,
                 strcmp(key, "ops") ? "" : row, key, row);
        write_file(text);
        CHECK_INT(msim_prediction_read(&p, path, &err), MSIM_EFORMAT);
        CHECK(p == NULL);
        snprintf(want, sizeof(want),
                 "a prediction without '%s' or '%s' in one of '%s'; want a "
                 "text and a number",
                 ROWS[i / 2].name, ROWS[i / 2].us, key);
        CHECK_STR(err.text, want);
    }
}

static void test_compare_read__refused_figures(void)
{
    static const char *const TIMES[][2] = {{"null", "1"}, {"1", "null"}};
    struct msim_prediction *p = NULL;
    char text[512];

    for (int i = 0; i < 2; i++) {
        struct msim_error err = {0};

        snprintf(text, sizeof(text),
                 SCHEMA "\"iteration_us\": {\"predicted\": %s}, \"kernel_us\": "
                        "{\"predicted\": %s}, \"iterations\": [], \"ops\": []}",
                 TIMES[i][0], TIMES[i][1]);
        write_file(text);
        CHECK_INT(msim_prediction_read(&p, path, &err), MSIM_EFORMAT);
        CHECK_STR(err.text, "a prediction without 'predicted' in "
                            "'iteration_us' or 'kernel_us'; want a number");
    }
}

/* Any schema of ours is a file of ours; whose version is another is told so. */
static void test_compare_read__schemas(void)
{
    static const struct {
        const char *text;
        bool ours;
    } ROWS[] = {{"{\"schema\": \"mystique-sim/\"}", true},
                {"{\"schema\": \"mystique-sim/plan/9\"}", true},
                {"{\"schema\": \"mystique-sim\"}", false},
                {"{\"schema\": \"other\"}", false},
                {"{\"schema\": 1}", false},
                {"{}", false},
                {"{", false}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_prediction *p = NULL;

        write_file(ROWS[i].text);
        CHECK(msim_prediction_is_file(path) == ROWS[i].ours);
        CHECK(msim_prediction_read(&p, path, NULL) != MSIM_OK);
    }
    CHECK(!msim_prediction_is_file("/nowhere/at/all"));
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_compare_read__whole);
    RUN(test_compare_read__least);
    RUN(test_compare_read__refused_rows);
    RUN(test_compare_read__refused_figures);
    RUN(test_compare_read__schemas);
    CHECK(unlink(path) == 0);
    return check_summary();
}

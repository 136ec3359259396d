/*
 * tests/unit/plan/test_job_marks.c - tests of plan/rows/job_marks.h.
 */
#include "plan/rows/job_marks.h"

#include "models/platform/platform.h"
#include "tests/check.h"

#include <stdlib.h>

#define ROWS 2500

static const struct msim_described MODEL = {
    .name = "tiny", .layers = 2, .hidden = 64, .heads = 4, .vocab = 99};
static struct msim_platform *gpu, *other;

/* Row i, unlike all others but for its recomputation: `us` on `on`, of no FLOPs
 * to speak of. */
static enum msim_status add(struct msim_job_marks *m, int64_t i,
                            enum msim_recompute again, double us, bool near,
                            const struct msim_platform *on,
                            const struct msim_described *model)
{
    const struct msim_job_row row = {
        .model = model, .strategy = {.gpus = i + 1, .recompute = again}};
    const struct msim_job_priced priced = {.on = on};
    const struct msim_step_estimate e = {
        .us = us, .low_us = us, .high_us = us, .near = near, .flops = 1};
    char text[32], *owned;

    snprintf(text, sizeof(text), "row %d", (int)i);
    owned = strdup(text);
    if (!owned)
        return MSIM_ENOMEM;
    return msim_job_marks_add(m, owned, &row, on ? &priced : NULL, &e);
}

#define FULL MSIM_RECOMPUTE_FULL

/* Lines of `text`, by number. */
static const char *line_of(const char *text, int number)
{
    static char line[64];

    while (number-- > 0 && text)
        text = strchr(text, '\n') + 1;
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"), text);
    return line;
}

/* Rows are held against those of their block of 1024 and the last before it:
 * here every one against its neighbour, one of which is marked. */
static void test_job_marks__compares_neighbours(void)
{
    struct msim_job_marks m = {0};
    char *text = NULL;
    size_t size = 0;

    m.out = open_memstream(&text, &size);
    REQUIRE(m.out);
    for (int i = 0; i < ROWS; i++) {
        CHECK(add(&m, i, 0, 100, false, gpu, &MODEL) == MSIM_OK);
        if (i % 7 == 0) /* shorter, though it computes more */
            CHECK(add(&m, i, FULL, 50, false, gpu, &MODEL) == MSIM_OK);
    }
    CHECK(m.n <= 1025);
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    CHECK(fclose(m.out) == 0);
    for (int i = 0, k = 0; i < ROWS; i++, k++) {
        char want[64];

        snprintf(want, sizeof(want), "row %d,", i);
        if (k % 97 == 0) /* lines are found from the begin */
            CHECK_STR(line_of(text, k), want);
        if (i % 7 == 0) {
            snprintf(want, sizeof(want), "row %d,recompute", i);
            k++;
            if (i % 49 == 0 || (k > 1020 && k < 1030) || (k > 2044 && k < 2054))
                CHECK_STR(line_of(text, k), want);
        }
    }
    CHECK_UINT(m.count.answers, ROWS + (ROWS + 6) / 7);
    CHECK_UINT(m.count.marked, (ROWS + 6) / 7);
    CHECK_UINT(m.count.by[MSIM_GUARD_RECOMPUTE], (ROWS + 6) / 7);
    msim_job_marks_release(&m);
    free(text);
}

/* Another GPU or model is another job; a row far away is not looked at; what
 * was not predicted is neither counted nor marked. */
static void test_job_marks__leaves_other_rows(void)
{
    static const struct msim_described LIKE[] = {
        {.name = "tinz", .layers = 2, .hidden = 64, .heads = 4, .vocab = 99},
        {.name = "tiny", .layers = 3, .hidden = 64, .heads = 4, .vocab = 99},
        {.name = "tiny", .layers = 2, .hidden = 65, .heads = 4, .vocab = 99},
        {.name = "tiny", .layers = 2, .hidden = 64, .heads = 5, .vocab = 99},
        {.name = "tiny", .layers = 2, .hidden = 64, .heads = 4, .vocab = 98}};
    struct msim_job_marks m = {0};

    CHECK(add(&m, 0, 0, 100, false, gpu, &MODEL) == MSIM_OK);
    CHECK(add(&m, 0, 0, 40, false, other, &MODEL) == MSIM_OK);
    for (int i = 0; i < 5; i++)
        CHECK(add(&m, 0, FULL, 50, false, gpu, &LIKE[i]) == MSIM_OK);
    for (int i = 1; i < 1100; i++)
        CHECK(add(&m, i, 0, 100, false, NULL, &MODEL) == MSIM_OK);
    CHECK(add(&m, 0, FULL, 50, false, gpu, &MODEL) == MSIM_OK);
    CHECK(add(&m, 0, FULL, 10, false, other, &MODEL) == MSIM_OK);
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    CHECK_UINT(m.count.answers, 9);
    CHECK_UINT(m.count.marked, 0);
    msim_job_marks_release(&m);
}

/* Of two that contradict each other it is the one that is unlike measured
 * jobs. */
static void test_job_marks__trusts_what_is_measured(void)
{
    struct msim_job_marks m = {0};

    CHECK(add(&m, 0, 0, 100, false, gpu, &MODEL) == MSIM_OK);
    CHECK(add(&m, 0, FULL, 50, true, gpu, &MODEL) == MSIM_OK);
    m.out = tmpfile();
    REQUIRE(m.out);
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    rewind(m.out);
    for (int i = 0; i < 2; i++) {
        char line[64] = "";

        CHECK(fgets(line, sizeof(line), m.out));
        CHECK_STR(line, i ? "row 0,\n" : "row 0,recompute\n");
    }
    CHECK(fclose(m.out) == 0);
    msim_job_marks_release(&m);
}

/* A step that takes no time, or less than its FLOPs do, cannot be. */
static void test_job_marks__checks_each_row(void)
{
    struct msim_job_marks m = {0};
    const struct msim_job_row row = {.model = &MODEL, .strategy = {.gpus = 1}};
    const struct msim_job_priced priced = {.on = gpu};
    const struct msim_step_estimate wrong = {
        .us = 5, .low_us = 6, .high_us = 7, .flops = 1e30};

    CHECK(msim_job_marks_add(&m, NULL, &row, &priced, &wrong) == MSIM_OK);
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    CHECK_UINT(m.count.by[MSIM_GUARD_ORDER], 1);
    CHECK_UINT(m.count.by[MSIM_GUARD_PEAK], 1);
    CHECK_UINT(m.count.marked, 1);
    msim_job_marks_release(&m);
    m = (struct msim_job_marks){0};
    CHECK(msim_job_marks_flush(&m) == MSIM_OK);
    CHECK_UINT(m.n + m.before, 0);
    msim_job_marks_release(&m);
}

int main(void)
{
    struct msim_error err = {0};

    if (msim_platform_load(&gpu, MSIM_DATA, "titan-xp", &err) != MSIM_OK ||
        msim_platform_load(&other, MSIM_DATA, "m40", &err) != MSIM_OK)
        return 1;
    RUN(test_job_marks__compares_neighbours);
    RUN(test_job_marks__leaves_other_rows);
    RUN(test_job_marks__trusts_what_is_measured);
    RUN(test_job_marks__checks_each_row);
    msim_platform_free(gpu);
    msim_platform_free(other);
    return check_summary();
}

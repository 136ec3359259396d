/*
 * Distinct failures: the same but for their sizes are one, and a journal's are
 * told in a sentence.
 */
#include "calibrate/measure/journal.h"
#include "tests/check.h"

static const struct msim_cal_experiment GEMM = {
    .timed = {.table = MSIM_TABLE_GEMM, .dtype_word = "fp32"}};
static const struct msim_cal_experiment CALL = {
    .timed = {.table = MSIM_TABLE_LATENCY, .op = "call"}};

static void test_failures__same_but_for_sizes(void)
{
    struct msim_cal_failures f = {.n = 0};

    REQUIRE(msim_cal_failures_add(&f, "no memory: want 1024 bytes", &GEMM) ==
            MSIM_OK);
    REQUIRE(msim_cal_failures_add(&f, "no device", &CALL) == MSIM_OK);
    REQUIRE(msim_cal_failures_add(&f, "no memory: want 20 bytes", &CALL) ==
            MSIM_OK);
    CHECK_UINT(f.n, 2);
    CHECK_STR(f.list[0].text, "no memory: want 1024 bytes");
    CHECK(strstr(f.list[0].first, "gemm fp32"));
    CHECK_UINT(f.list[0].n, 2);
    CHECK_UINT(f.list[1].n, 1);
    msim_cal_failures_release(&f);
    /* wherever they are */
    CHECK(msim_cal_failure_hash("takes 0.00139 GB, 0.002 are free") ==
          msim_cal_failure_hash("takes 480 GB, 79.1 are free"));
    CHECK(msim_cal_failure_hash("takes 2 GB, 1 are free") !=
          msim_cal_failure_hash("takes 2 s, 1 is left"));
    /* a number in a name is no size */
    CHECK(msim_cal_failure_hash("conv2d: bad") !=
          msim_cal_failure_hash("conv3d: bad"));
}

static void answer(struct msim_cal_journal *j, int m, const char *text)
{
    struct msim_cal_experiment e = GEMM;

    e.timed.work.u.gemm.m = m;
    CHECK_INT(
        msim_cal_journal_add(j, "made-up", &e, cJSON_Parse(text), 1, NULL),
        MSIM_OK);
}

static void test_failures__of_a_journal(void)
{
    struct msim_cal_journal j;
    char text[200];

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    answer(&j, 1, "{\"time_us\":1}");
    REQUIRE(msim_cal_failures_tell(text, sizeof(text), &j) == MSIM_OK);
    CHECK_STR(text, "1 experiments were asked, and none failed");
    answer(&j, 2, "{\"error\":\"rare\"}");
    REQUIRE(msim_cal_failures_tell(text, sizeof(text), &j) == MSIM_OK);
    CHECK_STR(text, "2 experiments were asked, and 1 failed: 'rare'");
    answer(&j, 3, "{\"error\":\"usual\"}");
    answer(&j, 4, "{\"error\":\"usual\"}");
    REQUIRE(msim_cal_failures_tell(text, sizeof(text), &j) == MSIM_OK);
    CHECK_STR(text, "4 experiments were asked, and 3 failed, 2 of them with "
                    "'usual'");
    msim_cal_journal_close(&j);
}

int main(void)
{
    RUN(test_failures__same_but_for_sizes);
    RUN(test_failures__of_a_journal);
    return check_summary();
}

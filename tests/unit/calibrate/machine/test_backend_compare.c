/*
 * What a journal's rows say when two backends timed the same experiments, as
 * figures and as text, and the median and deciles of ratios.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/machine/machine_internal.h"
#include "tests/check.h"

#include <stdlib.h>

/* 1 to 19 in another order. */
static int shuffled(int i)
{
    return (i * 7 + 3) % 19 + 1;
}

/* The numbers from 1 to 19: of 20 ranks a tenth is the second one, half the
 * tenth, and nine tenths the eighteenth. */
static void test_ratios__median_and_deciles(void)
{
    struct msim_cal_ratios r = {.n = 0};
    struct msim_cal_ratio of = msim_cal_ratio_of(&r);
    cJSON *o = cJSON_CreateObject();

    CHECK_UINT(of.n, 0);
    CHECK_REL(of.median, 0, 0);
    for (int i = 0; i < 19; i++)
        REQUIRE(msim_cal_ratios_add(&r, shuffled(i)) == MSIM_OK);
    of = msim_cal_ratio_of(&r);
    CHECK_UINT(of.n, 19);
    CHECK_REL(of.median, 10, 0);
    CHECK_REL(of.p10, 2, 0);
    CHECK_REL(of.p90, 18, 0);
    msim_cal_ratio_write(o, &of);
    CHECK_REL(msim_json_get_number(o, "experiments", 0), 19, 0);
    CHECK_REL(msim_json_get_number(o, "median", 0), 10, 0);
    CHECK_REL(msim_json_get_number(o, "p10", 0), 2, 0);
    CHECK_REL(msim_json_get_number(o, "p90", 0), 18, 0);
    cJSON_Delete(o);
    msim_cal_ratios_release(&r);
    CHECK(r.list == NULL);
    CHECK_UINT(r.n, 0);
    CHECK_UINT(r.capacity, 0);
    /* one value is all three */
    REQUIRE(msim_cal_ratios_add(&r, 0.25) == MSIM_OK);
    of = msim_cal_ratio_of(&r);
    CHECK_UINT(of.n, 1);
    CHECK_REL(of.median, 0.25, 0);
    CHECK_REL(of.p10, 0.25, 0);
    CHECK_REL(of.p90, 0.25, 0);
    msim_cal_ratios_release(&r);
}

static void add(struct msim_cal_journal *j, const char *backend,
                enum msim_table table, int m, const char *answer)
{
    struct msim_cal_experiment e = {
        .timed = {.table = table, .dtype_word = "fp16"}};

    e.timed.work.u.gemm.m = m;
    CHECK_INT(
        msim_cal_journal_add(j, backend, &e, cJSON_Parse(answer), 1, NULL),
        MSIM_OK);
}

static void greet(struct msim_cal_journal *j, const char *backend)
{
    CHECK_INT(msim_cal_journal_greet(j, backend, cJSON_Parse("{\"device\":{}}"),
                                     NULL),
              MSIM_OK);
}

static void time_of(char *text, size_t size, int us)
{
    snprintf(text, size, "{\"time_us\":%d}", us);
}

/* Times of "a" are 1 to 19 times those of "b", which was asked later. */
static void add_all(struct msim_cal_journal *j)
{
    char text[64];

    for (int i = 0; i < 19; i++) {
        time_of(text, sizeof(text), 10 * shuffled(i));
        add(j, "a", MSIM_TABLE_GEMM, i + 1, text);
    }
    for (int i = 0; i < 19; i++)
        add(j, "b", MSIM_TABLE_GEMM, i + 1, "{\"time_us\":10}");
}

static void test_compare__the_first_over_the_later(void)
{
    struct msim_cal_differences d = {.n = 7};
    struct msim_cal_journal j;

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    greet(&j, "a");
    add_all(&j);
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    CHECK_UINT(d.n, 0); /* but one said what it is */
    greet(&j, "b");
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    REQUIRE(d.n == 1);
    CHECK_INT(d.list[0].table, MSIM_TABLE_GEMM);
    CHECK_STR(d.list[0].backend, "a");
    CHECK_STR(d.list[0].other, "b");
    CHECK_UINT(d.list[0].pairs, 19);
    CHECK_REL(d.list[0].median, 10, 1e-12);
    CHECK_REL(d.list[0].p10, 2, 1e-12);
    CHECK_REL(d.list[0].p90, 18, 1e-12);
    msim_cal_journal_close(&j);
}

/* No ratio of what failed, whichever of both it is, of what one alone timed,
 * of two sizes, and of one backend with itself. */
static void test_compare__rows_of_both_alone(void)
{
    struct msim_cal_differences d;
    struct msim_cal_journal j;

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    greet(&j, "a");
    greet(&j, "b");
    greet(&j, "c");
    add(&j, "a", MSIM_TABLE_GEMM, 1, "{\"error\":\"no\"}");
    add(&j, "b", MSIM_TABLE_GEMM, 1, "{\"time_us\":1}");
    add(&j, "a", MSIM_TABLE_GEMM, 2, "{\"time_us\":1}");
    add(&j, "b", MSIM_TABLE_GEMM, 2, "{\"error\":\"no\"}");
    add(&j, "a", MSIM_TABLE_GEMM, 3, "{\"time_us\":1}");
    add(&j, "b", MSIM_TABLE_GEMM, 4, "{\"time_us\":1}");
    /* two more visits */
    add(&j, "a", MSIM_TABLE_GEMM, 3, "{\"time_us\":2}");
    add(&j, "a", MSIM_TABLE_GEMM, 3, "{\"time_us\":9}");
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    CHECK_UINT(d.n, 0);
    /* each table by itself, and each pair of backends */
    add(&j, "c", MSIM_TABLE_GEMM, 3, "{\"time_us\":4}");
    add(&j, "c", MSIM_TABLE_GEMM, 4, "{\"time_us\":4}");
    add(&j, "b", MSIM_TABLE_MOE, 1, "{\"time_us\":8}");
    add(&j, "a", MSIM_TABLE_MOE, 1, "{\"time_us\":2}");
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    REQUIRE(d.n == 3);
    CHECK_STR(d.list[0].backend, "a");
    CHECK_STR(d.list[0].other, "c");
    CHECK_REL(d.list[0].median, 0.5, 1e-12); /* visits of 1, 2 and 9, over 4 */
    CHECK_STR(d.list[1].backend, "b");
    CHECK_STR(d.list[1].other, "c");
    CHECK_REL(d.list[1].median, 0.25, 1e-12);
    CHECK_STR(d.list[2].backend, "b");
    CHECK_STR(d.list[2].other, "a");
    CHECK_INT(d.list[2].table, MSIM_TABLE_MOE);
    CHECK_REL(d.list[2].median, 4, 1e-12);
    for (int i = 0; i < 3; i++)
        CHECK_UINT(d.list[i].pairs, 1);
    msim_cal_journal_close(&j);
}

/* Nine backends are 36 pairs: the first 32 of them are told, and those that
 * come later do not join another pair's. */
static void test_compare__as_many_as_there_is_room_for(void)
{
    struct msim_cal_differences d;
    struct msim_cal_journal j;
    char name[8], text[64];

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    for (int b = 0; b < 9; b++) {
        snprintf(name, sizeof(name), "b%d", b);
        time_of(text, sizeof(text), 1 << b);
        greet(&j, name);
        add(&j, name, MSIM_TABLE_GEMM, 1, text);
    }
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    REQUIRE(d.n == MSIM_CAL_DIFFERENCES);
    CHECK_STR(d.list[31].backend, "b3"); /* 28 of the first eight */
    CHECK_STR(d.list[31].other, "b8");
    CHECK_REL(d.list[31].median, 1.0 / 32, 1e-12);
    for (uint32_t i = 0; i < d.n; i++)
        CHECK_UINT(d.list[i].pairs, 1);
    msim_cal_journal_close(&j);
}

static void shown(const struct msim_cal_journal *j, const char *want)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out);
    CHECK_INT(msim_cal_show(out, j), MSIM_OK);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

static void test_show__each_where_it_was_timed(void)
{
    struct msim_cal_experiment e;
    struct msim_cal_journal j;
    cJSON *line;

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    shown(&j, "");
    greet(&j, "a");
    greet(&j, "b");
    add_all(&j);
    shown(&j, "gemm: a takes x 10.00 of b's times (median of 19 same "
              "experiments; 80 %: 2.00 to 18.00)\n");
    add(&j, "a", MSIM_TABLE_GEMM, 20,
        "{\"time_us\":10,\"sustained\":{\"time_us\":15}}");
    line = cJSON_Parse(
        "{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":8,\"n\":32,\"k\":16,"
        "\"batch\":1,\"layout\":\"NT\",\"beside\":{\"table\":\"collective\","
        "\"collective\":\"all_reduce\",\"ranks\":2,\"nodes\":1,\"bytes\":8}}");
    msim_cal_experiment_read(&e, line);
    CHECK_INT(msim_cal_journal_add(
                  &j, "a", &e, cJSON_Parse("{\"time_us\":6,\"alone_us\":4}"), 1,
                  NULL),
              MSIM_OK);
    cJSON_Delete(line);
    /* A product of 8 x 32 x 16 in fp32 reads 4 (8 x 16 + 16 x 32) = 2560
     * bytes, writes 1024 and does 8192 operations. */
    line = cJSON_Parse("{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":8,"
                       "\"n\":32,\"k\":16,\"batch\":1,\"layout\":\"NT\"}");
    msim_cal_experiment_read(&e, line);
    CHECK_INT(msim_cal_journal_add(
                  &j, "a", &e,
                  cJSON_Parse("{\"time_us\":6,\"counters\":{"
                              "\"dram_read_bytes\":5120,"
                              "\"dram_write_bytes\":3072,"
                              "\"flops_fp64\":0,\"flops_fp32\":10240,"
                              "\"flops_fp16\":0,\"flops_tensor\":0,"
                              "\"ops_tensor_int8\":0}}"),
                  1, NULL),
              MSIM_OK);
    cJSON_Delete(line);
    shown(&j,
          "gemm: a takes x 10.00 of b's times (median of 19 same "
          "experiments; 80 %: 2.00 to 18.00)\n"
          "computing: x 1.50 as long beside a collective (median of 1 "
          "experiments; 80 %: 1.50 to 1.50)\n"
          "products: x 1.50 as long back to back (median of 1; 80 %: 1.50 to "
          "1.50)\n"
          "gemm: a counted x 2.00 of the bytes read that works assume (median "
          "of 1 experiments; 80 %: 2.00 to 2.00)\n"
          "gemm: a counted x 3.00 of the bytes written that works assume "
          "(median of 1 experiments; 80 %: 3.00 to 3.00)\n"
          "gemm: a counted x 1.25 of the operations that works assume (median "
          "of 1 experiments; 80 %: 1.25 to 1.25)\n");
    msim_cal_journal_close(&j);
}

int main(void)
{
    RUN(test_ratios__median_and_deciles);
    RUN(test_compare__the_first_over_the_later);
    RUN(test_compare__rows_of_both_alone);
    RUN(test_compare__as_many_as_there_is_room_for);
    RUN(test_show__each_where_it_was_timed);
    return check_summary();
}

/*
 * Hardware counters against what works assume: which experiments are asked for,
 * and ratios of answers that were made up.
 */
#include "calibrate/machine/machine_internal.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"gpu\",\"sms\":100,\"memory_bytes\":8e10},"        \
    "\"tables\":{\"gemm\":[\"fp32\",\"fp16\"],\"vector\":[\"add:fp32\"],"      \
    "\"latency\":[\"launch\"],\"copy\":[\"h2d\",\"read\",\"d2d\"]}}"

/* Tables in turn, and their kinds: six times gemm, vector, copy, of which a GPU
 * counts two kinds. */
static void test_count__takes_turns(void)
{
    static const enum msim_table TABLES[] = {MSIM_TABLE_GEMM, MSIM_TABLE_VECTOR,
                                             MSIM_TABLE_COPY};
    static const char *const KINDS[2][3] = {{"fp32", "add", "read"},
                                            {"fp16", "add", "d2d"}};
    struct msim_cal_counting a = {.random = 7}, b = {.random = 7};
    struct msim_cal_experiment e, same;
    cJSON *greeting = cJSON_Parse(GREETING);
    struct msim_cal_design *design;
    struct msim_cal_space s;

    REQUIRE(msim_cal_space_read(&s, greeting, 1e5, NULL) == MSIM_OK);
    REQUIRE(msim_cal_design_new(&design, &s, 1) == MSIM_OK);
    for (int i = 0; i < 18; i++) {
        REQUIRE(msim_cal_count_next(&a, &s, design, &e));
        REQUIRE(msim_cal_count_next(&b, &s, design, &same));
        CHECK_INT(e.timed.table, TABLES[i % 3]);
        CHECK_STR(i % 3 ? e.timed.op : e.timed.dtype_word,
                  KINDS[i / 3 % 2][i % 3]);
        CHECK(msim_cal_hash(&e, "") == msim_cal_hash(&same, ""));
    }
    msim_cal_design_drop(design, 0);
    msim_cal_design_drop(design, 1);
    for (int i = 0; i < 500; i++) { /* it ends, and none are of products */
        bool found = msim_cal_count_next(&a, &s, design, &e);

        CHECK(!found || (i < 300 && e.timed.table != MSIM_TABLE_GEMM));
    }
    msim_cal_design_free(design);
    cJSON_Delete(greeting);
}

static void add(struct msim_cal_journal *j, const char *experiment,
                const char *answer)
{
    cJSON *line = cJSON_Parse(experiment);
    struct msim_cal_experiment e;

    msim_cal_experiment_read(&e, line);
    CHECK_INT(
        msim_cal_journal_add(j, "made-up", &e, cJSON_Parse(answer), 1, NULL),
        MSIM_OK);
    cJSON_Delete(line);
}

/* The works: (8 x 16)(16 x 32) in fp32 reads 4 (128 + 512), writes 4 x 256
 * bytes, and is 2 x 4096 operations. */
static void add_rows(struct msim_cal_journal *j)
{
#define GEMM(m)                                                                \
    "{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":" #m ",\"n\":32,\"k\":16}"
#define OPS(fp32)                                                              \
    "\"flops_fp64\":0,\"flops_fp32\":" #fp32 ",\"flops_fp16\":0,"              \
    "\"flops_tensor\":0,\"ops_tensor_int8\":0"
    add(j, GEMM(8),
        "{\"time_us\":1,\"counters\":{\"dram_read_bytes\":5120,"
        "\"dram_write_bytes\":1024," OPS(8192) "}}");
    /* a figure that is missing has no ratio, nor has an answer without any */
    add(j, GEMM(16),
        "{\"time_us\":1,\"counters\":{\"dram_read_bytes\":9216,"
        "\"flops_fp32\":16384}}");
    add(j, GEMM(24), "{\"time_us\":1,\"counters_error\":\"no\"}");
    add(j, "{\"table\":\"copy\",\"op\":\"write\",\"bytes\":1000}",
        "{\"time_us\":1,\"counters\":{\"dram_read_bytes\":10,"
        "\"dram_write_bytes\":1100," OPS(0) "}}");
    add(j, "{\"table\":\"latency\",\"op\":\"kernel\"}",
        "{\"time_us\":1,\"counters\":{\"dram_read_bytes\":10}}");
}

static void test_count__compares(void)
{
    char path[] = "msim-test-cal-count-XXXXXX";
    struct msim_cal_journal j;
    struct msim_cal_counts c;
    int fd = mkstemp(path);

    REQUIRE(fd >= 0);
    close(fd);
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    add_rows(&j);
    REQUIRE(msim_cal_count(&c, &j) == MSIM_OK);
    REQUIRE(c.n == 2);
    CHECK_INT(c.list[0].table, MSIM_TABLE_GEMM);
    CHECK_STR(c.list[0].backend, "made-up");
    CHECK_UINT(c.list[0].experiments, 2);
    /* 5120 / 2560, and 9216 / (4 (256 + 512)) */
    CHECK_UINT(c.list[0].read.n, 2);
    CHECK_REL(c.list[0].read.p10, 2, 1e-12);
    CHECK_REL(c.list[0].read.p90, 3, 1e-12);
    CHECK_UINT(c.list[0].written.n, 1);
    CHECK_REL(c.list[0].written.median, 1, 1e-12);
    CHECK_UINT(c.list[0].flops.n, 1);
    CHECK_REL(c.list[0].flops.median, 1, 1e-12);
    CHECK_INT(c.list[1].table, MSIM_TABLE_COPY);
    CHECK_UINT(c.list[1].read.n, 0);
    CHECK_REL(c.list[1].written.median, 1.1, 1e-12);
    CHECK_UINT(c.list[1].flops.n, 0);
    msim_cal_journal_close(&j);
    unlink(path);
}

int main(void)
{
    RUN(test_count__takes_turns);
    RUN(test_count__compares);
    return check_summary();
}

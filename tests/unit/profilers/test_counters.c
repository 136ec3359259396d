/*
 * Figures of hardware counters: which metrics of a chip they are made of, and
 * who may read them.
 */
#include "profilers/counters.h"

#include "tests/check.h"

#include <math.h>

#define OP(op) "sm__sass_thread_inst_executed_op_" op "_pred_on"

/* Some of what an H100 (GH100) lists, and what must not be taken: shares of
 * others, and what is counted for sampling. */
static const char *const GH100[] = {
    "dram__bytes",
    "dram__bytes_read",
    "dram__bytes_write",
    "lts__t_bytes",
    "lts__t_bytes_equiv_l1sectormiss",
    OP("dadd"),
    OP("dfma"),
    OP("dmul"),
    OP("fadd"),
    OP("ffma"),
    OP("fmul"),
    OP("hadd"),
    OP("hfma"),
    OP("hmul"),
    "sm__inst_executed_pipe_tensor",
    "sm__inst_executed_pipe_tensor_op_gmma",
    "sm__ops_path_tensor_op_hgmma_src_fp16",
    "sm__ops_path_tensor_src_bf16_dst_fp32",
    "sm__ops_path_tensor_src_fp16",
    "sm__ops_path_tensor_src_fp16_sparsity_off",
    "sm__ops_path_tensor_src_fp16_realtime",
    "sm__ops_path_tensor_src_int1",
    "sm__ops_path_tensor_src_int8",
    "smsp__ops_path_tensor_src_fp64",
};

static void offer(struct msim_metrics *m, const char *const *names, size_t n)
{
    *m = (struct msim_metrics){.n = 0};
    for (size_t i = 0; i < n; i++)
        msim_metrics_offer(m, names[i]);
}

static double value_of(const struct msim_metrics *m, const char *name,
                       double *values)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].name, name) == 0)
            return values[i] = 1000;
    return 0;
}

static void test_metrics__makes_figures(void)
{
    struct msim_metrics m;
    struct msim_counts c;
    double values[MSIM_METRICS];

    offer(&m, GH100, sizeof(GH100) / sizeof(*GH100));
    CHECK_UINT(m.n, 16); /* 2 + 1 + 9 + 1 + 2 kinds of floats + int8 */
    for (uint32_t i = 0; i < m.n; i++)
        values[i] = 1;
    CHECK_REL(value_of(&m, "dram__bytes_write.sum", values), 1000, 0);
    msim_metrics_sum(&m, values, &c);
    CHECK_REL(c.of[MSIM_FIGURE_DRAM_READ], 1, 0);
    CHECK_REL(c.of[MSIM_FIGURE_DRAM_WRITE], 1000, 0);
    CHECK_REL(c.of[MSIM_FIGURE_L2], 1, 0);
    /* an addition, a product, and both at once */
    CHECK_REL(c.of[MSIM_FIGURE_FP64], 4, 0);
    CHECK_REL(c.of[MSIM_FIGURE_FP32], 4, 0);
    CHECK_REL(c.of[MSIM_FIGURE_FP16], 4, 0);
    CHECK_REL(c.of[MSIM_FIGURE_TENSOR], 2, 0);
    CHECK_REL(c.of[MSIM_FIGURE_TENSOR_INT8], 1, 0);
    CHECK_REL(c.of[MSIM_FIGURE_TENSOR_INSTRUCTIONS], 1, 0);
}

/* A figure without one of its parts is not known; newer chips have other names,
 * and of two names for one thing one counts. */
static void test_metrics__says_what_is_missing(void)
{
    static const char *const NAMES[] = {
        "dram__bytes_op_read", "dram__bytes_read", "dram__bytes_op_write",
        OP("fadd"), OP("fmul")};
    const double values[] = {3, 5, 7, 9};
    struct msim_metrics m;
    struct msim_counts c;

    offer(&m, NAMES, sizeof(NAMES) / sizeof(*NAMES));
    CHECK_UINT(m.n, 4);
    msim_metrics_sum(&m, values, &c);
    CHECK_REL(c.of[MSIM_FIGURE_DRAM_READ], 3, 0);
    CHECK_REL(c.of[MSIM_FIGURE_DRAM_WRITE], 5, 0);
    CHECK(isnan(c.of[MSIM_FIGURE_FP32])); /* no FFMA */
    CHECK(isnan(c.of[MSIM_FIGURE_L2]));
    CHECK(isnan(c.of[MSIM_FIGURE_TENSOR]));
}

static void test_counts__are_written(void)
{
    struct msim_counts c = {.passes = 6};
    struct msim_json j;
    char text[512] = "";
    FILE *to = fmemopen(text, sizeof(text), "w");

    REQUIRE(to != NULL);
    for (int f = 0; f < MSIM_FIGURE_COUNT; f++)
        c.of[f] = f == MSIM_FIGURE_L2 ? (double)NAN : f;
    msim_json_begin(&j, msim_sink_file, to);
    msim_json_open(&j, NULL, '{', false);
    msim_counts_write(&c, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(to);
    CHECK(strstr(text, "\"dram_write_bytes\": 1"));
    CHECK(strstr(text, "\"passes\": 6"));
    CHECK(strstr(text, "\"missing\": [\"l2_bytes\"]"));
}

static void test_counters__permission(void)
{
    static const char OPEN[] = "EnableMSI: 1\nRmProfilingAdminOnly: 0\n";
    static const char SHUT[] = "EnableMSI: 1\nRmProfilingAdminOnly: 1\n";
    static const char NOBODY[] = "Name:\tx\nCapEff:\t0000000000000000\n";
    static const char DOCKER[] = "Name:\tx\nCapEff:\t00000000a80425fb\n";
    static const char ADMIN[] = "Name:\tx\nCapEff:\t000001ffffffffff\n";
    static const char PERFMON[] = "Name:\tx\nCapEff:\t0000004000000000\n";

    CHECK(msim_counters_allowed(OPEN, NOBODY));
    CHECK(!msim_counters_allowed(SHUT, NOBODY));
    CHECK(!msim_counters_allowed(SHUT, DOCKER)); /* root of a container */
    CHECK(msim_counters_allowed(SHUT, ADMIN));
    CHECK(msim_counters_allowed(SHUT, PERFMON));
    CHECK(msim_counters_allowed(NULL, NOBODY)); /* it does not say */
    CHECK(msim_counters_allowed(SHUT, NULL));
    CHECK(msim_counters_allowed("xRmProfilingAdminOnly: 1\n", NOBODY));
}

int main(void)
{
    RUN(test_metrics__makes_figures);
    RUN(test_metrics__says_what_is_missing);
    RUN(test_counts__are_written);
    RUN(test_counters__permission);
    return check_summary();
}

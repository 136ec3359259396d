/*
 * What follows from a work's sizes: flops, bytes, pairs, output sizes.
 */
#include "core/work/work.h"
#include "tests/check.h"

static void test_work__counts_gemm(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                          .dtype = MSIM_DT_F16,
                          .u.gemm = {.m = 2, .n = 3, .k = 5, .batch = 7}};

    msim_work_count(&w);
    CHECK_REL(w.flops, 2 * 2 * 3 * 5 * 7, 0);
    CHECK_REL(w.bytes_read, 7 * (2 * 5 + 3 * 5) * 2, 0);
    CHECK_REL(w.bytes_written, 7 * 2 * 3 * 2, 0);
    /* fp8 inputs, a 16-bit output */
    w.dtype = MSIM_DT_F8;
    msim_work_count(&w);
    CHECK_REL(w.bytes_read, 7 * (2 * 5 + 3 * 5), 0);
    CHECK_REL(w.bytes_written, 7 * 2 * 3 * 2, 0);
}

/* Causal: query i of 4 sees i + 1 keys, 1 + 2 + 3 + 4. After 2 cached keys
 * 3 + 4 + 5 + 6. With a window of 2 and nothing cached 1 + 2 + 2 + 2. */
static void test_work__counts_pairs(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .u.attention = {.phase = MSIM_ATTENTION_PREFILL,
                                          .q_len = 4,
                                          .kv_len = 4}};

    CHECK_REL(msim_attention_pairs(&w), 10, 0);
    w.u.attention.kv_len = 6;
    CHECK_REL(msim_attention_pairs(&w), 18, 0);
    w.u.attention.kv_len = 4;
    w.u.attention.window = 2;
    CHECK_REL(msim_attention_pairs(&w), 7, 0);
    w.u.attention.phase = MSIM_ATTENTION_ENCODER;
    w.u.attention.window = 0;
    CHECK_REL(msim_attention_pairs(&w), 16, 0);
}

/* ResNet's first layer: 224 x 224 -> 112 x 112, 7 x 7, 3 -> 64. */
static void test_work__counts_conv(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F32,
                          .u.conv = {.n = 2,
                                     .c = 3,
                                     .h = 224,
                                     .w = 224,
                                     .k = 64,
                                     .r = 7,
                                     .s = 7,
                                     .stride_h = 2,
                                     .stride_w = 2,
                                     .pad_h = 3,
                                     .pad_w = 3}};
    int64_t p, q;

    msim_conv_output(&w, &p, &q);
    CHECK_INT(p, 112);
    CHECK_INT(q, 112);
    msim_work_count(&w);
    CHECK_REL(w.flops, 2.0 * 2 * 112 * 112 * 64 * 3 * 49, 0);
    CHECK_REL(w.bytes_written, 4.0 * 2 * 64 * 112 * 112, 0);
    /* a transposed one of stride 2 doubles the size: (112 - 1) 2 + 2 = 224 */
    w.u.conv = (typeof(w.u.conv)){.n = 1,
                                  .c = 8,
                                  .h = 112,
                                  .w = 112,
                                  .k = 4,
                                  .r = 2,
                                  .s = 2,
                                  .stride_h = 2,
                                  .stride_w = 2,
                                  .transposed = true};
    msim_conv_output(&w, &p, &q);
    CHECK_INT(p, 224);
    msim_work_count(&w);
    CHECK_REL(w.flops, 2.0 * 112 * 112 * 8 * 4 * 4, 0);
}

/* Sizes of a broken trace: no overflow, an output of at least 1. */
static void test_work__survives_any_sizes(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};
    int64_t p, q;

    msim_conv_output(&w, &p, &q);
    CHECK(p >= 1 && q >= 1);
    w.u.conv.h = w.u.conv.r = INT64_MAX;
    w.u.conv.pad_h = INT64_MIN;
    w.u.conv.dilation_h = INT64_MAX;
    msim_conv_output(&w, &p, &q);
    CHECK(p >= 1 && q >= 1);
    msim_work_count(&w);
    CHECK(!isnan(w.flops));
}

/* Of a load that is there flops and bytes follow; where none is, it is made. */
static void test_work__keeps_a_load(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_MOE, .dtype = MSIM_DT_BF16}, c;
    double pairs;

    w.u.moe.hidden = w.u.moe.inter = 1024;
    w.u.moe.routing = (struct msim_moe_routing){
        .tokens = 64, .topk = 2, .experts = 8, .ep = 1};
    c = msim_work_counted(&w);
    pairs = c.u.moe.load.pairs;
    CHECK(pairs > 0);
    CHECK_REL(c.flops, 2 * 3 * pairs * 1024 * 1024, 1e-12);
    w.u.moe.load.pairs = 7;
    c = msim_work_counted(&w);
    CHECK_REL(c.flops, 2.0 * 3 * 7 * 1024 * 1024, 1e-12);
    msim_work_count(&w);
    CHECK_REL(w.u.moe.load.pairs, pairs, 0);
}

int main(void)
{
    RUN(test_work__counts_gemm);
    RUN(test_work__counts_pairs);
    RUN(test_work__counts_conv);
    RUN(test_work__survives_any_sizes);
    RUN(test_work__keeps_a_load);
    return check_summary();
}

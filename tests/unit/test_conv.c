/*
 * Convolutions as products, and the law's choice of algorithms: constants are
 * plain ones, so that what is checked are the formulas.
 */
#include "models/conv_shape.h"
#include "models/law.h"
#include "tests/check.h"

/* A GPU of 100 SMs, 10 Tflop/s and 1 TB/s. */
static const struct msim_spec GPU = {
    .rate = {[MSIM_RATE_FP32] = 10e12, [MSIM_RATE_FP16] = 10e12},
    .sustained = 1,
    .sms = 100,
    .bandwidth = 1e12,
};

/* In the order of the law: t0, compute, memory, norm, depth, narrow tiles,
 * adding up, gain and transforms of Winograd's, least area. */
static const double CONSTANTS[MSIM_LAW_PARAMS] = {1, 1, 1,   8,   1,
                                                  1, 5, 1.8, 1.5, 0.1};

static struct msim_work conv(int64_t n, int64_t c, int64_t size, int64_t k,
                             int64_t filter, int64_t stride)
{
    return (struct msim_work){.family = MSIM_FAMILY_CONV,
                              .dtype = MSIM_DT_F32,
                              .u.conv = {.n = n,
                                         .c = c,
                                         .h = size,
                                         .w = size,
                                         .k = k,
                                         .r = filter,
                                         .s = filter,
                                         .stride_h = stride,
                                         .stride_w = stride,
                                         .pad_h = filter / 2,
                                         .pad_w = filter / 2,
                                         .dilation_h = 1,
                                         .dilation_w = 1,
                                         .groups = 1}};
}

static double time_of(struct msim_work w, enum msim_conv_pass pass)
{
    w.u.conv.pass = pass;
    msim_work_count(&w);
    return MSIM_LAW_CONV.time_us(&GPU, &w, CONSTANTS);
}

/* All passes have as many multiplications. */
static void test_conv__products_of_passes(void)
{
    struct msim_work w = conv(4, 32, 56, 64, 3, 2);
    struct msim_conv_shape s;
    struct msim_conv_product g;

    msim_conv_shape(&w, &s);
    msim_conv_product(&s, &g);
    CHECK_REL(g.m, 4 * 28 * 28, 0);
    CHECK_REL(g.n, 64, 0);
    CHECK_REL(g.k, 32 * 9, 0);
    s.pass = MSIM_CONV_BACKWARD_DATA;
    msim_conv_product(&s, &g);
    CHECK_REL(g.m, 4 * 56 * 56, 0);
    CHECK_REL(g.n, 32, 0);
    CHECK_REL(g.k, 64 * 9 / 4.0, 1e-12);
    s.pass = MSIM_CONV_BACKWARD_WEIGHT;
    msim_conv_product(&s, &g);
    CHECK_REL(g.m, 64, 0);
    CHECK_REL(g.n, 32 * 9, 0);
    CHECK_REL(g.k, 4 * 28 * 28, 0);
}

/* A transposed convolution is the data gradient of the one that leads back. */
static void test_conv__transposed_is_a_data_gradient(void)
{
    struct msim_work up = conv(2, 64, 14, 32, 2, 2);
    struct msim_work down = conv(2, 32, 28, 64, 2, 2);
    struct msim_conv_shape a, b;

    up.u.conv.transposed = true;
    up.u.conv.pad_h = up.u.conv.pad_w = 0;
    down.u.conv.pad_h = down.u.conv.pad_w = 0;
    down.u.conv.pass = MSIM_CONV_BACKWARD_DATA;
    msim_conv_shape(&up, &a);
    msim_conv_shape(&down, &b);
    CHECK_INT(a.pass, MSIM_CONV_BACKWARD_DATA);
    CHECK_REL(a.c, b.c, 0);
    CHECK_REL(a.k, b.k, 0);
    CHECK_REL(a.h, b.h, 0);
    CHECK_REL(a.p, b.p, 0);
    CHECK_REL(time_of(up, MSIM_CONV_FORWARD),
              time_of(down, MSIM_CONV_BACKWARD_DATA), 1e-12);
}

/* Sizes that make no sense are 1. */
static void test_conv__empty_sizes(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV};
    struct msim_conv_shape s;

    msim_conv_shape(&w, &s);
    CHECK_REL(s.n * s.c * s.h * s.w * s.k * s.p * s.q * s.groups, 1, 0);
}

/* 3 x 3 filters take less a multiplication than 1 x 1 ones of the same
 * product, as Winograd's algorithm does away with some. */
static void test_conv__winograd_gains(void)
{
    double plain = time_of(conv(16, 9 * 256, 28, 256, 1, 1), MSIM_CONV_FORWARD);
    double winograd = time_of(conv(16, 256, 28, 256, 3, 1), MSIM_CONV_FORWARD);
    double strided = time_of(conv(64, 256, 28, 256, 3, 2), MSIM_CONV_FORWARD);

    CHECK(winograd < plain / 1.5);
    CHECK_REL(strided, plain, 0.1);
}

/* 64 channels leave half of a tile's rows empty, in the weight gradient of
 * both sides. */
static void test_conv__weight_gradient_pads_channels(void)
{
    struct msim_work narrow = conv(16, 64, 112, 64, 1, 1);
    double forward = time_of(narrow, MSIM_CONV_FORWARD);
    double weight = time_of(narrow, MSIM_CONV_BACKWARD_WEIGHT);

    CHECK(weight > forward);
    /* One tile is split over the SMs. */
    CHECK(weight < 10 * forward);
}

/* Between strides a data gradient has zeros, or adds up in memory. */
static void test_conv__strided_data_gradient(void)
{
    struct msim_work w = conv(16, 128, 56, 128, 5, 2);

    CHECK(time_of(w, MSIM_CONV_BACKWARD_DATA) >
          1.3 * time_of(w, MSIM_CONV_FORWARD));
}

/* One channel fills a tile no better than 32 do. */
static void test_conv__waves_and_narrow_tiles(void)
{
    double one = time_of(conv(8, 64, 64, 1, 1, 1), MSIM_CONV_FORWARD);
    double many = time_of(conv(8, 64, 64, 32, 1, 1), MSIM_CONV_FORWARD);

    CHECK(one < many);
    CHECK(one > 0.5 * many);
}

int main(void)
{
    RUN(test_conv__products_of_passes);
    RUN(test_conv__transposed_is_a_data_gradient);
    RUN(test_conv__empty_sizes);
    RUN(test_conv__winograd_gains);
    RUN(test_conv__weight_gradient_pads_channels);
    RUN(test_conv__strided_data_gradient);
    RUN(test_conv__waves_and_narrow_tiles);
    return check_summary();
}

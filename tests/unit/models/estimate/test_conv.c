/*
 * Convolutions as products, and the law's choice of algorithms: constants are
 * plain ones, so that what is checked are the formulas. Then what convolutions
 * without rows take on an A100: products, and the layouts that these want.
 */
#include "core/work/work.h"
#include "models/estimate/model.h"
#include "models/law/law.h"
#include "models/platform/platform.h"
#include "tests/check.h"

/* A GPU of 100 SMs, 10 Tflop/s and 1 TB/s. */
static const struct msim_data_sheet GPU = {
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

static double time_on(const struct msim_data_sheet *gpu, struct msim_work w,
                      enum msim_conv_pass pass)
{
    w.u.conv.pass = pass;
    msim_work_count(&w);
    return MSIM_LAW_CONV.time_us(gpu, &w, CONSTANTS);
}

static double time_of(struct msim_work w, enum msim_conv_pass pass)
{
    return time_on(&GPU, w, pass);
}

/* All passes have as many multiplications. */
static void test_conv__products_of_passes(void)
{
    struct msim_work w = conv(4, 32, 56, 64, 3, 2);
    struct msim_conv_shape s;
    struct msim_conv_product g;

    msim_conv_shape_of(&w, &s);
    msim_conv_product_of(&s, &g);
    CHECK_REL(g.m, 4 * 28 * 28, 0);
    CHECK_REL(g.n, 64, 0);
    CHECK_REL(g.k, 32 * 9, 0);
    s.pass = MSIM_CONV_BACKWARD_DATA;
    msim_conv_product_of(&s, &g);
    CHECK_REL(g.m, 4 * 56 * 56, 0);
    CHECK_REL(g.n, 32, 0);
    CHECK_REL(g.k, 64 * 9 / 4.0, 1e-12);
    s.pass = MSIM_CONV_BACKWARD_WEIGHT;
    msim_conv_product_of(&s, &g);
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
    msim_conv_shape_of(&up, &a);
    msim_conv_shape_of(&down, &b);
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

    msim_conv_shape_of(&w, &s);
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

/* 5 x 5 filters are four of 3 x 3 to MIOpen's kernel: 16 multiplications an
 * output in place of 25; of stride 2, as many. 16 channels of one filter are
 * too few for it. */
static void test_conv__miopen_takes_filters_apart(void)
{
    struct msim_data_sheet amd = GPU;
    const struct msim_work wide = conv(16, 256, 28, 256, 5, 1);
    const struct msim_work strided = conv(16, 256, 56, 256, 5, 2);
    const struct msim_work few = conv(16, 16, 112, 256, 3, 1);
    enum msim_conv_pass pass = MSIM_CONV_FORWARD;

    amd.miopen = true;
    CHECK_REL(time_of(wide, pass) / time_on(&amd, wide, pass),
              25.0 / 36 * CONSTANTS[7], 0.05);
    CHECK_REL(time_on(&amd, strided, pass), time_on(&amd, wide, pass), 0.05);
    CHECK(time_on(&amd, few, pass) > 1.5 * time_of(few, pass));
}

/* MIOpen has no kernel for 1 x 1 filters with padding: images follow each
 * other, and each is too small to fill the GPU. */
static void test_conv__miopen_pads_image_by_image(void)
{
    struct msim_data_sheet amd = GPU;
    struct msim_work w = conv(8, 2048, 7, 512, 1, 2);
    double t0 = CONSTANTS[0], one;

    amd.miopen = true;
    CHECK_REL(time_on(&amd, w, MSIM_CONV_FORWARD),
              time_of(w, MSIM_CONV_FORWARD), 0);
    w.u.conv.pad_h = w.u.conv.pad_w = 3;
    CHECK(time_on(&amd, w, MSIM_CONV_FORWARD) >
          4 * time_of(w, MSIM_CONV_FORWARD));
    w.u.conv.n = 1;
    one = time_on(&amd, w, MSIM_CONV_FORWARD) - t0;
    w.u.conv.n = 8;
    CHECK_REL(time_on(&amd, w, MSIM_CONV_FORWARD) - t0, 8 * one, 1e-3);
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

/* ---- without rows ------------------------------------------------------- */

static struct msim_platform *platform;

static struct msim_estimate estimated(struct msim_work w)
{
    struct msim_estimate e = {0};
    struct msim_error err = {0};

    CHECK_INT(msim_model_predict(platform, &w, true, &e, &err), MSIM_OK);
    CHECK_INT(e.family, MSIM_FAMILY_CONV);
    CHECK(e.low_us > 0 && e.low_us <= e.us && e.us <= e.high_us);
    return e;
}

static double predicted(struct msim_work w)
{
    return estimated(w).us;
}

static struct msim_work tf32(struct msim_work w)
{
    w.variant = "tf32";
    return w;
}

static struct msim_work channels_last(struct msim_work w)
{
    w.u.conv.channels_last = true;
    return w;
}

/* 28 x 28 numbers of an image are whole steps of 16 bytes, 7 x 7 are not. */
static void test_conv__transposes_what_kernels_cannot_read(void)
{
    struct msim_work even = tf32(conv(32, 256, 28, 256, 1, 1));
    struct msim_work odd = tf32(conv(32, 256, 7, 256, 1, 1));
    struct msim_work wide = tf32(conv(32, 256, 28, 256, 3, 1));

    CHECK_REL(predicted(even), predicted(channels_last(even)), 1e-12);
    CHECK(predicted(odd) > predicted(channels_last(odd)));
    CHECK(predicted(wide) > predicted(channels_last(wide)));
}

/* An image of three colours has no step of four channels. */
static void test_conv__few_channels_are_not_for_tensor_cores(void)
{
    struct msim_work stem = conv(32, 3, 224, 64, 7, 2);
    struct msim_work wide = conv(32, 4, 224, 64, 7, 2);

    CHECK_REL(predicted(tf32(stem)), predicted(stem), 1e-12);
    CHECK(predicted(tf32(wide)) < predicted(wide));
    CHECK(predicted(channels_last(tf32(stem))) < predicted(stem));
}

/* Sums over places are split, so that a small filter's gradient does not take
 * the time of one SM. */
static void test_conv__gradients_over_forward(void)
{
    struct msim_work w = channels_last(tf32(conv(32, 64, 56, 64, 3, 1)));
    struct msim_work strided =
        channels_last(tf32(conv(32, 256, 56, 512, 3, 2)));
    double forward = predicted(w);
    double across = predicted(strided);

    w.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    CHECK(predicted(w) > 0.5 * forward && predicted(w) < 3 * forward);
    strided.u.conv.pass = MSIM_CONV_BACKWARD_DATA;
    CHECK(predicted(strided) > across && predicted(strided) < 4 * across);
}

/* 3 x 3 over each channel by itself: more than it takes to read and write the
 * images, and far less than padded products. In fp32 PyTorch's own kernel loads
 * every input nine times; for the weights' gradient from the L2 cache, in which
 * nine loads of two numbers take six times as long as one from memory. */
static void test_conv__depthwise_is_no_product(void)
{
    struct msim_work w = conv(32, 256, 56, 256, 3, 1);
    double bytes = 2.0 * 32 * 256 * 56 * 56 * 4;
    struct msim_work in_half;

    w.u.conv.groups = 256;
    CHECK(predicted(w) > bytes / 1.555e12 * 1e6);
    CHECK(predicted(w) < 5 * bytes / 1.555e12 * 1e6);
    in_half = w;
    in_half.dtype = MSIM_DT_F16;
    CHECK(predicted(in_half) < 0.7 * predicted(w));
    w.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    CHECK(predicted(w) > 5 * bytes / 1.555e12 * 1e6);
    CHECK(predicted(w) < 8 * bytes / 1.555e12 * 1e6);
}

static struct msim_estimate estimated_on(const char *name, struct msim_work w)
{
    struct msim_platform *mine = platform;
    struct msim_estimate e = {0};

    CHECK_INT(msim_platform_load(&platform, MSIM_DATA, name, NULL), MSIM_OK);
    if (platform)
        e = estimated(w);
    msim_platform_free(platform);
    platform = mine;
    return e;
}

static double predicted_on(const char *name, struct msim_work w)
{
    return estimated_on(name, w).us;
}

static struct msim_work a_filter_a_channel(int64_t channels, int64_t filter,
                                           int64_t stride,
                                           enum msim_dtype dtype)
{
    struct msim_work w = conv(256, channels, 56, channels, filter, stride);

    w.u.conv.groups = channels;
    w.dtype = dtype;
    return w;
}

/*
 * Gradients with channels last go tap by tap: of 5 x 5 they take 25 / 9 of 3 x
 * 3, on an A100 as on an RTX 3090 by clock and SMs (108 of 1,410 MHz, 82 of
 * 1,695), though its memory is twice as fast. Forward memory sets the pace.
 */
static void test_conv__gradients_of_channels_last_count_taps(void)
{
    struct msim_work small = a_filter_a_channel(64, 3, 1, MSIM_DT_F16);
    struct msim_work large = a_filter_a_channel(64, 5, 1, MSIM_DT_F16);

    small.u.conv.channels_last = large.u.conv.channels_last = true;
    CHECK_REL(predicted_on("a100", large), predicted_on("a100", small), 0.01);
    small.u.conv.pass = large.u.conv.pass = MSIM_CONV_BACKWARD_DATA;
    CHECK_REL(predicted_on("a100", large) / predicted_on("a100", small),
              25.0 / 9, 0.1);
    CHECK_REL(predicted_on("a100", large) / predicted_on("rtx-3090", large),
              82 * 1695.0 / (108 * 1410.0), 0.1);
    small.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    CHECK_REL(predicted_on("a100", small),
              256.0 * 64 * 56 * 56 * 9 / 5.5 / (108 * 1410.0), 0.15);
}

/*
 * In half precision with channels first PyTorch asks cuDNN, which is as fast as
 * memory, where it has seen it to be the faster one: in fp16 for squares of 5,
 * not for bf16, strides with few channels, dilations, or squares of 7. Its own
 * kernel takes 25 taps of 3.8 a cycle, on SMs that hold 1,536 threads.
 */
static void test_conv__who_computes_a_filter_a_channel(void)
{
    double outputs = 256.0 * 64 * 56 * 56;
    double own_us = outputs * 25 / 3.8 / (128 * 2.52e3 * 0.75);
    struct msim_work w = a_filter_a_channel(64, 5, 1, MSIM_DT_F16);
    double asked = predicted_on("rtx-4090", w);
    double few, many;

    CHECK(asked < 0.3 * own_us);
    w.u.conv.channels_last = true;
    CHECK_REL(predicted_on("rtx-4090", w), asked, 0.01);
    w = a_filter_a_channel(64, 5, 1, MSIM_DT_BF16);
    CHECK(predicted_on("rtx-4090", w) > 0.8 * own_us);
    w = a_filter_a_channel(64, 7, 1, MSIM_DT_F16);
    CHECK(predicted_on("rtx-4090", w) > 3 * asked);
    CHECK(predicted_on("rtx-4090", w) < 1.3 * own_us);
    w = a_filter_a_channel(64, 5, 1, MSIM_DT_F16);
    w.u.conv.dilation_h = w.u.conv.dilation_w = 2;
    CHECK(predicted_on("rtx-4090", w) > 3 * asked);
    few = predicted_on("rtx-4090", a_filter_a_channel(64, 5, 2, MSIM_DT_F16));
    many = predicted_on("rtx-4090", a_filter_a_channel(512, 5, 2, MSIM_DT_F16));
    CHECK(few / 64 > 1.5 * many / 512);
    /* of one image cuDNN is asked for strides, too; no sizes are for bf16 */
    w = a_filter_a_channel(64, 5, 2, MSIM_DT_F16);
    w.u.conv.n = 1;
    w.u.conv.h = w.u.conv.w = 1024;
    asked = predicted_on("rtx-4090", w);
    w.dtype = MSIM_DT_BF16;
    CHECK(asked < 0.6 * predicted_on("rtx-4090", w));
}

/* To 16 channels by strides of 2: 9 / 4 additions of every element, 3.4 cycles
 * of 108 SMs at 1.41 GHz each, are longer than the product; with 64 channels
 * and with channels last there are kernels that need none. */
static void test_conv__few_gradients_are_added_up(void)
{
    struct msim_work few = tf32(conv(128, 32, 64, 16, 3, 2));
    struct msim_work many = tf32(conv(128, 32, 64, 64, 3, 2));
    double elements = 128.0 * 16 * 127 * 127;
    double added_us = elements * 9 / 4 * 3.4 / (108 * 1.41e3);

    few.u.conv.transposed = many.u.conv.transposed = true;
    CHECK_REL(predicted(few), added_us, 0.25);
    CHECK(predicted(many) < 2 * predicted(few));
    CHECK(predicted(channels_last(few)) < 0.5 * predicted(few));
}

/* 3 channels to 64 by filters of 1 x 1 pass by at the rate of memory, although
 * the nearest rows, of another A100, are of kernels that reach a quarter of it.
 */
static void test_conv__short_sums(void)
{
    struct msim_work w = conv(16, 3, 256, 64, 1, 1);
    double bytes = 16.0 * 256 * 256 * (3 + 64) * 4;

    CHECK(predicted(w) < 2 * bytes / 1.555e12 * 1e6);
}

/* A filter of 3 x 3 x 3 over 3 channels is one of 3 x 3 over 9 by its counts,
 * but has no kernel for three channels on tensor cores, and no Winograd's. */
static void test_conv__three_dimensions(void)
{
    struct msim_work flat = tf32(conv(1792, 12, 32, 16, 3, 1)), deep = flat;

    deep.u.conv.deep = true;
    deep.u.conv.depth = 4;
    CHECK(predicted(deep) > 2 * predicted(flat));
}

/*
 * A data gradient of 3 x 3 x 3 in half sums over 32 channels, which tensor
 * cores take whatever the depth: no longer than the same sums in the plane.
 * Taps are no elements of its image: 32 channels are transposed for 3 x 32,
 * beside the gradient's 32.
 */
static void test_conv__deep_gradients_in_half(void)
{
    struct msim_work flat = conv(896, 96, 64, 32, 3, 1), deep;
    double moved, fewer;

    flat.dtype = MSIM_DT_F16;
    flat.u.conv.pass = MSIM_CONV_BACKWARD_DATA;
    deep = flat;
    deep.u.conv.deep = true;
    deep.u.conv.depth = 3;
    moved = predicted(flat);
    fewer = predicted(deep);
    CHECK(fewer < moved && fewer > 0.3 * moved);
    flat.u.conv.channels_last = deep.u.conv.channels_last = true;
    /* over the product, which has a factor of its own where it is deep */
    moved = moved / predicted(flat) - 1;
    fewer = fewer / predicted(deep) - 1;
    CHECK_REL(fewer / moved, (32.0 + 32) / (96 + 32), 0.05);
}

/* ---- by GPU ------------------------------------------------------------- */

/* A transposed convolution of three dimensions, by a filter of 3 x 3 x 3. */
static struct msim_work deep_transposed(int64_t in, int64_t out)
{
    struct msim_work w = tf32(conv(16 * 18, in * 3, 64, out, 3, 1));

    w.u.conv.transposed = w.u.conv.deep = true;
    w.u.conv.depth = 3;
    return w;
}

/* Gradients without strides compute 128 channels, of 32 terms a tap; forward
 * passes pad neither. */
static void test_conv__deep_gradients_fill_tiles(void)
{
    double full = predicted(deep_transposed(32, 128));

    CHECK_REL(predicted(deep_transposed(32, 64)), full, 0.4);
    CHECK_REL(predicted(deep_transposed(32, 16)), full, 0.6);
    CHECK(predicted(deep_transposed(32, 256)) > 1.7 * full);
    CHECK_REL(predicted(deep_transposed(4, 64)),
              predicted(deep_transposed(32, 64)), 0.5);
}

/* GA10x adds 64 channels up in memory, not 48: 27 additions an element by 84
 * SMs at 1.8 GHz, 3.4 cycles each. */
static void test_conv__deep_gradients_of_ga10x(void)
{
    double taps = 16.0 * 18 * 64 * 64 * 64 * 27;
    double us = predicted_on("rtx-a6000", deep_transposed(32, 64));

    CHECK(us > 0.8 * taps * 3.4 / (84 * 1.8e3));
    CHECK(predicted_on("rtx-a6000", deep_transposed(32, 48)) < 0.4 * us);
    CHECK(predicted_on("l40s", deep_transposed(32, 64)) < 0.4 * us);
}

/* One version of cuDNN does so, another takes the kernel of L40S; on Hopper one
 * takes four times as long as another. */
static void test_conv__deep_gradients_by_version(void)
{
    struct msim_work w = deep_transposed(32, 64);
    struct msim_estimate e = estimated_on("rtx-a6000", w);

    CHECK(e.low_us < 0.2 * e.us);
    e = estimated_on("h100", w);
    CHECK(e.high_us >= 4 * e.us);
    CHECK(predicted_on("h100@pytorch-2.9", w) > 2 * e.us);
    CHECK_REL(predicted_on("h100@pytorch-2.5", w), e.us, 1e-12);
    CHECK(predicted_on("rtx-a6000@pytorch-2.9", w) <
          0.3 * predicted_on("rtx-a6000@pytorch-2.5", w));
}

/* Plain kernels of three dimensions do far better with sums over 105 taps than
 * over 27, as products do; not so on GA10x and Ada. */
static void test_conv__deep_sums(void)
{
    struct msim_work few = conv(16 * 62, 9, 62, 64, 3, 1), many = few;

    few.u.conv.deep = many.u.conv.deep = true;
    few.u.conv.depth = many.u.conv.depth = 3;
    many.u.conv.r = 5;
    many.u.conv.s = 7;
    CHECK(predicted(many) < 1.9 * predicted(few));
    CHECK(predicted_on("t4", many) < 1.9 * predicted_on("t4", few));
    CHECK(predicted_on("l40s", many) > 1.9 * predicted_on("l40s", few));
}

/* Three groups of 40 to 160 channels on a T4 take many times as long as one;
 * on a GPU with TF32 they do not. */
static void test_conv__groups_without_tensor_cores(void)
{
    struct msim_work one = tf32(conv(10, 120, 224, 480, 1, 1)), three = one;

    three.u.conv.groups = 3;
    CHECK(predicted_on("t4", three) > 5 * predicted_on("t4", one));
    CHECK(predicted_on("l4", three) < 2 * predicted_on("l4", one));
}

/* On Hopper moving a result of 8.6 GB once more takes longer than an older
 * kernel that writes it as it is. */
static void test_conv__large_results_of_hopper(void)
{
    struct msim_work w = tf32(conv(16, 16, 1024, 128, 3, 1));
    double moved = 16.0 * 128 * 1022 * 1022 * 4;

    CHECK(predicted_on("h100", w) <
          predicted_on("h100", channels_last(w)) + 2 * moved / 3.35e12 * 1e6);
}

/* MIOpen has no kernel of its own for a filter a channel; factors of whole
 * programs go on top. */
static void test_conv__depthwise_of_miopen(void)
{
    struct msim_work w = conv(16, 3, 256, 3, 3, 1);

    w.u.conv.groups = 3;
    CHECK(predicted_on("mi250", w) > 400);
    CHECK(predicted_on("t4", w) < 600);
}

/* A filter as large as the image: its 411 MB are read, or written, once at up
 * to 484 GB/s, whichever the pass, where the GPU has fits of convolutions. */
static void test_conv__as_large_as_the_image(void)
{
    struct msim_work w = conv(16, 512, 7, 4096, 7, 1);

    w.u.conv.pad_h = w.u.conv.pad_w = 0;
    for (int pass = 0; pass <= MSIM_CONV_BACKWARD_WEIGHT; pass++) {
        w.u.conv.pass = (enum msim_conv_pass)pass;
        CHECK(predicted_on("gtx-1080-ti", w) > 850);
        CHECK(predicted_on("gtx-1080-ti", w) < 2500);
    }
}

int main(void)
{
    RUN(test_conv__products_of_passes);
    RUN(test_conv__transposed_is_a_data_gradient);
    RUN(test_conv__empty_sizes);
    RUN(test_conv__winograd_gains);
    RUN(test_conv__miopen_takes_filters_apart);
    RUN(test_conv__miopen_pads_image_by_image);
    RUN(test_conv__weight_gradient_pads_channels);
    RUN(test_conv__strided_data_gradient);
    RUN(test_conv__waves_and_narrow_tiles);
    if (msim_platform_load(&platform, MSIM_DATA, "a100-40gb", NULL) !=
        MSIM_OK) {
        fprintf(stderr, "platform 'a100-40gb' cannot be loaded\n");
        return 1;
    }
    RUN(test_conv__transposes_what_kernels_cannot_read);
    RUN(test_conv__few_channels_are_not_for_tensor_cores);
    RUN(test_conv__gradients_over_forward);
    RUN(test_conv__depthwise_is_no_product);
    RUN(test_conv__gradients_of_channels_last_count_taps);
    RUN(test_conv__who_computes_a_filter_a_channel);
    RUN(test_conv__few_gradients_are_added_up);
    RUN(test_conv__short_sums);
    RUN(test_conv__three_dimensions);
    RUN(test_conv__deep_gradients_in_half);
    RUN(test_conv__deep_gradients_fill_tiles);
    RUN(test_conv__deep_gradients_of_ga10x);
    RUN(test_conv__deep_gradients_by_version);
    RUN(test_conv__deep_sums);
    RUN(test_conv__groups_without_tensor_cores);
    RUN(test_conv__large_results_of_hopper);
    RUN(test_conv__depthwise_of_miopen);
    RUN(test_conv__as_large_as_the_image);
    msim_platform_free(platform);
    return check_summary();
}

/*
 * models/law/scatter_law.c: transposed convolutions of KernelBench (level 2,
 * strides of 2), microseconds by CUDA events less the program's other kernels.
 */
#include "models/law/law.h"
#include "tests/check.h"

static const struct msim_data_sheet A100 = {
    .sms = 108, .clock_hz = 1.41e9, .bandwidth = 2.04e12};
static const struct msim_data_sheet A6000 = {
    .sms = 84, .clock_hz = 1.8e9, .bandwidth = 7.68e11};
static const struct msim_data_sheet L40S = {
    .sms = 142, .clock_hz = 2.52e9, .bandwidth = 8.64e11};
static const struct msim_data_sheet H100 = {.sms = 132,
                                            .clock_hz = 1.98e9,
                                            .bandwidth = 3.35e12,
                                            .generation = "hopper"};

/* 128 images of 3 x 16 x 32 x 32 to 16 x 31 x 63 x 63 by 3 x 3 x 3 taps. */
static struct msim_work deep(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.n = 128 * 31;
    w.u.conv.c = 3 * 3;
    w.u.conv.depth = 3;
    w.u.conv.h = w.u.conv.w = 32;
    w.u.conv.k = 16;
    w.u.conv.r = w.u.conv.s = 3;
    w.u.conv.stride_h = w.u.conv.stride_w = 2;
    w.u.conv.pad_h = w.u.conv.pad_w = 1;
    w.u.conv.transposed = w.u.conv.deep = true;
    w.flops = 2.0 * 128 * 3 * 16 * 32 * 32 * 16 * 27;
    return w;
}

/* 50_ConvTranspose3d: 18,400 us on A100, 19,500 on A6000, 16,700 on L40S, and
 * 3,700 on H100, which adds by vectors. */
static void test_scatter_law__as_timed(void)
{
    struct msim_work w = deep();

    CHECK_REL(msim_scatter_us(&A100, &w), 18400, 0.15);
    CHECK_REL(msim_scatter_us(&A6000, &w), 19500, 0.15);
    CHECK_REL(msim_scatter_us(&L40S, &w), 16700, 0.15);
    CHECK_REL(msim_scatter_us(&H100, &w), 3700, 0.2);
}

/* Hopper has no kernel by vectors for groups: they take 3.4 cycles an addition,
 * 1.2 without them; Blackwell has one. */
static void test_scatter_law__groups(void)
{
    struct msim_data_sheet gpu = H100;
    struct msim_work one = deep(), two = deep();

    two.u.conv.groups = 2;
    two.flops /= 2;
    CHECK_REL(msim_scatter_us(&gpu, &two) / msim_scatter_us(&gpu, &one),
              3.4 / 1.2, 1e-9);
    snprintf(gpu.generation, sizeof(gpu.generation), "blackwell");
    CHECK_REL(msim_scatter_us(&gpu, &two), msim_scatter_us(&gpu, &one), 1e-9);
}

/* A channel more to sum over is no addition more: its product has it. */
static void test_scatter_law__input_channels(void)
{
    struct msim_work few = deep(), many = deep();

    many.u.conv.c *= 8;
    many.flops *= 8;
    CHECK_REL(msim_scatter_us(&A100, &many), msim_scatter_us(&A100, &few),
              1e-9);
}

/* Columns of a forward pass: 1,612,800 places of 81 values of 12 bytes. */
static void test_scatter_law__columns(void)
{
    static const struct msim_data_sheet MI250 = {.bandwidth = 1.6384e12};
    struct msim_work w = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    w.u.conv.n = 1792;
    w.u.conv.c = 9;
    w.u.conv.depth = 3;
    w.u.conv.h = w.u.conv.w = 32;
    w.u.conv.k = 16;
    w.u.conv.r = w.u.conv.s = 3;
    w.u.conv.deep = true;
    w.flops = 2.0 * 1612800 * 81 * 16;
    CHECK_REL(msim_columns_us(&MI250, &w), 1612800 * 81 * 12 / 1.6384e6, 1e-9);
}

int main(void)
{
    RUN(test_scatter_law__as_timed);
    RUN(test_scatter_law__input_channels);
    RUN(test_scatter_law__groups);
    RUN(test_scatter_law__columns);
    return check_summary();
}

/*
 * models/law/conv_law.c: features and keys by hand, and the time where one
 * algorithm alone is there.
 */
#include "models/law/law.h"

#include "tests/check.h"

/* 3 images of 96 channels and 30 x 50 places in two groups, to 160 channels by
 * filters of 5 x 3 with a stride of 2 and a padding of 1: 14 x 50 places. */
static struct msim_work filters(enum msim_conv_pass pass)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F16,
                          .flops = 7e8,
                          .bytes_read = 3e6,
                          .bytes_written = 1e6};

    w.u.conv.pass = pass;
    w.u.conv.n = 3;
    w.u.conv.c = 96;
    w.u.conv.h = 30;
    w.u.conv.w = 50;
    w.u.conv.k = 160;
    w.u.conv.r = 5;
    w.u.conv.s = 3;
    w.u.conv.stride_h = 2;
    w.u.conv.stride_w = 1;
    w.u.conv.pad_h = 1;
    w.u.conv.pad_w = 1;
    w.u.conv.dilation_h = w.u.conv.dilation_w = 1;
    w.u.conv.groups = 2;
    return w;
}

static struct msim_data_sheet sheet(void)
{
    return (struct msim_data_sheet){.rate = {[MSIM_RATE_FP16] = 1e12},
                                    .sustained = 1,
                                    .sms = 10,
                                    .bandwidth = 2e12};
}

/* 14 x 50 outputs: (30 + 2 - 5) / 2 + 1 and 50 + 2 - 3 + 1. */
static void test_conv_law__features(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = filters(MSIM_CONV_FORWARD);
    double places = 3 * 14 * 50; /* 2,100 */
    double full[3] = {33 * 2 * 2 / 10.0, 17 * 1 * 2 / 10.0, 17 * 3 * 2 / 10.0};
    const double want[] = {log(3),
                           log(96),
                           log(1500),
                           log(160),
                           log(7e8),
                           log(4e6),
                           log(places),
                           log(48 * 15),
                           log(15),
                           2,
                           log(full[0]),
                           ceil(full[0]) / full[0],
                           log(full[1]),
                           ceil(full[1]) / full[1],
                           log(full[2]),
                           ceil(full[2]) / full[2],
                           log(32),
                           log(32),
                           log(14),
                           1,
                           16 * 52 / 700.0,
                           log(2),
                           1,
                           log(80 / 48.0)};
    const uint32_t n = sizeof(want) / sizeof(*want);
    double x[MSIM_LAW_FEATURES];

    CHECK_UINT(MSIM_LAW_CONV.n_features, n);
    MSIM_LAW_CONV.describe(&s, &w, x);
    for (uint32_t i = 0; i < n; i++)
        if (!CHECK_REL(x[i], want[i], 1e-12))
            fprintf(stderr, "%s\n", MSIM_LAW_CONV.features[i]);
}

static void test_conv_law__keys(void)
{
    static const char *const PASSES[] = {"forward", "backward_data",
                                         "backward_weight"};
    char key[64], want[64];

    for (int i = 0; i < 3; i++) {
        struct msim_work w = filters((enum msim_conv_pass)i);

        MSIM_LAW_CONV.key(&w, key, sizeof(key));
        snprintf(want, sizeof(want), "%s/%s", PASSES[i],
                 msim_dtype_text(MSIM_DT_F16));
        CHECK_STR(key, want);
    }
}

/* t0, rate, bandwidth, norm, depth of a tile's pipeline, what narrow tiles and
 * sums in memory cost, gain and cost of Winograd's, and the least area. */
static const double P[MSIM_LAW_PARAMS] = {5, 0.5, 0.8, 1, 32, 16, 5, 1.5, 2, 2};

/* Microseconds of `tiles` tiles of m x n with `k` terms, by hand: a term of an
 * output takes 2 x 10 SMs over half of 10^6 FLOP/us. */
static double tiled(double tiles, double m, double n, double k)
{
    double area = ceil(tiles / 10) * m * n, least = 2 * 64 * 64;
    double loads = 1 / m + 1 / n - 1 / 64.0;

    return (area > least ? area : least) * (k + 32) * (20 / 5e5) *
           (1 + 16 * loads);
}

static double best(double a, double b, double c)
{
    double least = a < b ? a : b;

    return least < c ? least : c;
}

/* A forward pass by strides is a product of places by filters: of each group
 * 2,100 x 80 with 48 x 15 terms. Its rows of five cover the stride of two. */
static void test_conv_law__forward(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = filters(MSIM_CONV_FORWARD);
    double product =
        best(tiled(17 * 2, 128, 128, 720), tiled(17 * 2 * 2, 128, 64, 720),
             tiled(17 * 3 * 2, 128, 32, 720));
    double memory = 4e6 / (2e6 * 0.8);

    CHECK_REL(MSIM_LAW_CONV.time_us(&s, &w, P), 5 + product + memory, 1e-12);
    /* filters of one row skip every other row of the image */
    w.u.conv.r = 1;
    w.u.conv.pad_h = 0; /* 15 rows of outputs */
    memory = (4e6 - 3 * 96 * 1500 * 0.5 * 2) / (2e6 * 0.8);
    product =
        best(tiled(18 * 2, 128, 128, 144), tiled(18 * 2 * 2, 128, 64, 144),
             tiled(18 * 3 * 2, 128, 32, 144));
    CHECK_REL(MSIM_LAW_CONV.time_us(&s, &w, P), 5 + product + memory, 1e-12);
}

/* A data gradient multiplies the zeros between strides, too: 4,500 places by 48
 * channels with 80 x 15 terms; or scatters 2,100 places by 720 taps with 80
 * terms, adding them up in memory, which is cleared before. */
static void test_conv_law__data_gradient(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = filters(MSIM_CONV_BACKWARD_DATA);
    double memory = 4e6 / (2e6 * 0.8);
    double gathered =
        best(tiled(36 * 2, 128, 128, 1200), tiled(36 * 2, 128, 64, 1200),
             tiled(36 * 2 * 2, 128, 32, 1200));
    double scattered =
        best(tiled(17 * 6 * 2, 128, 128, 80), tiled(17 * 12 * 2, 128, 64, 80),
             tiled(17 * 23 * 2, 128, 32, 80)) +
        2100.0 * 720 * 2 * 2 * 5 / 2e6 + 3 * 96 * 1500 * 2 / 2e6 / 0.8;

    CHECK_REL(MSIM_LAW_CONV.time_us(&s, &w, P),
              5 + memory + (gathered < scattered ? gathered : scattered),
              1e-12);
    s.bandwidth = 2e15; /* where memory is fast, scattering wins */
    memory /= 1000;
    scattered =
        best(tiled(17 * 6 * 2, 128, 128, 80), tiled(17 * 12 * 2, 128, 64, 80),
             tiled(17 * 23 * 2, 128, 32, 80)) +
        2100.0 * 720 * 2 * 2 * 5 / 2e9 + 3 * 96 * 1500 * 2 / 2e9 / 0.8;
    CHECK(scattered < gathered);
    CHECK_REL(MSIM_LAW_CONV.time_us(&s, &w, P), 5 + memory + scattered, 1e-12);
}

int main(void)
{
    RUN(test_conv_law__data_gradient);
    RUN(test_conv_law__features);
    RUN(test_conv_law__forward);
    RUN(test_conv_law__keys);
    return check_summary();
}

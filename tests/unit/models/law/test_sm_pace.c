/*
 * models/law/sm_pace.c: one-operator programs of KernelBench (level 1) that
 * were timed on several GPUs, microseconds by CUDA events.
 */
#include "models/law/law.h"
#include "tests/check.h"

static const struct msim_data_sheet H100 = {.sms = 132,
                                            .clock_hz = 1.98e9,
                                            .bandwidth = 3.35e12,
                                            .l2_bytes = 52e6,
                                            .sustained = 1};
static const struct msim_data_sheet H100_PCIE = {
    .sms = 114, .clock_hz = 1.755e9, .bandwidth = 2.0e12, .l2_bytes = 52e6};
static const struct msim_data_sheet A100 = {
    .sms = 108, .clock_hz = 1.41e9, .bandwidth = 2.04e12, .l2_bytes = 42e6};
static const struct msim_data_sheet T4 = {.sms = 40,
                                          .clock_hz = 1.59e9,
                                          .bandwidth = 3.2e11,
                                          .l2_bytes = 4e6,
                                          .sustained = 0.5,
                                          .generation = "turing"};
static const struct msim_data_sheet MI250 = {.sms = 104,
                                             .clock_hz = 1.7e9,
                                             .bandwidth = 1.64e12,
                                             .l2_bytes = 8e6,
                                             .sustained = 1,
                                             .miopen = true};

static const struct msim_data_sheet MI300X = {.sms = 304,
                                              .floor_us = 2.2,
                                              .clock_hz = 2.1e9,
                                              .bandwidth = 5.3e12,
                                              .l2_bytes = 268e6,
                                              .miopen = true};

static struct msim_work norm(const char *variant, int64_t rows, int64_t cols)
{
    double bytes = 4.0 * (double)rows * (double)cols;
    struct msim_work w = {.family = MSIM_FAMILY_NORM,
                          .dtype = MSIM_DT_F32,
                          .variant = variant,
                          .bytes_read = bytes,
                          .bytes_written = bytes};

    w.u.vector.rows = rows;
    w.u.vector.cols = cols;
    w.u.vector.elems = rows * cols;
    return w;
}

/* Average pooling of 16 x 32 x 128 x 128 x 256 by windows of 3 with stride 2,
 * and of 16 x 32 x 64 x 64 x 64 on the A100 and the MI250. */
static void test_sm_pace__windows(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE};

    w.u.vector.taps = 16.0 * 32 * 64 * 64 * 128 * 27;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 8690, 0.15);
    CHECK_REL(msim_sm_pace_us(&H100_PCIE, &w), 11300, 0.15);
    w.u.vector.taps = 16.0 * 32 * 32 * 32 * 32 * 27;
    CHECK_REL(msim_sm_pace_us(&A100, &w), 1040, 0.15);
    CHECK_REL(msim_sm_pace_us(&MI250, &w), 1500, 0.15);
}

/* 16 rows of 4 million values: 16 blocks, whose threads wait for each value. */
static void test_sm_pace__long_rows(void)
{
    struct msim_work w = norm("layer_norm", 16, 4194304);

    CHECK_REL(msim_sm_pace_us(&H100, &w), 8120, 0.15);
    CHECK_REL(msim_sm_pace_us(&A100, &w), 10200, 0.15);
    CHECK_REL(msim_sm_pace_us(&T4, &w), 9350, 0.15);
    CHECK_REL(msim_sm_pace_us(&MI250, &w), 4510, 0.15);
}

/* TimeSformer's 25,088 rows of 768 in a trace of an H100. Of long rows memory
 * is slower. */
static void test_sm_pace__many_rows(void)
{
    struct msim_work w = norm("layer_norm", 25088, 768);

    CHECK_REL(msim_sm_pace_us(&H100, &w), 59.6, 0.25);
    w = norm("layer_norm", 25088, 8192);
    CHECK(msim_sm_pace_us(&A100, &w) <
          (w.bytes_read + w.bytes_written) * 1e6 / A100.bandwidth);
}

/* 16 x 64 x 256 x 256 in eight groups. */
static void test_sm_pace__groups(void)
{
    struct msim_work w = norm("group_norm", 128, 524288);

    CHECK_REL(msim_sm_pace_us(&A100, &w), 1150, 0.2);
    CHECK_REL(msim_sm_pace_us(&H100, &w), 675, 0.2);
}

static void test_sm_pace__others_have_none(void)
{
    struct msim_work w = norm("rms_norm", 128, 524288);

    CHECK_REL(msim_sm_pace_us(&A100, &w), 0, 0);
}

static struct msim_work depthwise(int64_t n, int64_t c, int64_t h, int64_t w,
                                  int64_t s)
{
    struct msim_work d = {.family = MSIM_FAMILY_CONV, .dtype = MSIM_DT_F32};

    d.u.conv.n = n;
    d.u.conv.c = d.u.conv.k = d.u.conv.groups = c;
    d.u.conv.h = h;
    d.u.conv.w = w;
    d.u.conv.r = 3;
    d.u.conv.s = s;
    return d;
}

/* Filters of 3 x 3 have a loop of their own, those of 3 x 1 have not. An SM of
 * a T4 holds half as many threads as one of an H100. */
static void test_sm_pace__depthwise(void)
{
    struct msim_work square = depthwise(64, 128, 256, 512, 3);
    struct msim_work tall = depthwise(64, 8, 512, 512, 1);

    CHECK_REL(msim_sm_pace_depthwise_us(&H100, &square), 10100, 0.15);
    CHECK_REL(msim_sm_pace_depthwise_us(&H100, &tall), 1530, 0.15);
    /* 49 taps, which are most of it: 2.6 times the 3, not 16 times */
    tall.u.conv.r = tall.u.conv.s = 7;
    tall.u.conv.pad_h = tall.u.conv.pad_w = 3;
    CHECK_REL(msim_sm_pace_depthwise_us(&H100, &tall), 2.6 * 1530, 0.15);
    square = depthwise(16, 3, 128, 256, 3);
    tall = depthwise(16, 3, 256, 256, 1);
    CHECK_REL(msim_sm_pace_depthwise_us(&T4, &square), 206, 0.25);
    CHECK_REL(msim_sm_pace_depthwise_us(&T4, &tall), 477, 0.25);
}

/* The gradient of weights goes over all outputs once a tap, of filters of any
 * size: an SM issues its instructions in 0.28 cycles, and two numbers come from
 * the L2 cache at 15 bytes a cycle. In half precision, or with half as many
 * threads, it waits for the former. */
static void test_sm_pace__depthwise_weights(void)
{
    struct msim_work row = depthwise(48, 512, 1, 835, 75);
    double taps = 75.0 * 48 * 512 * 835, cycle;
    struct msim_data_sheet turing = A100;

    row.u.conv.r = 1;
    row.u.conv.pad_w = 37;
    row.u.conv.pass = MSIM_CONV_BACKWARD_WEIGHT;
    cycle = 1e6 / (A100.sms * A100.clock_hz);
    CHECK_REL(msim_sm_pace_depthwise_us(&A100, &row), taps * 8 / 15 * cycle,
              0.01);
    row.dtype = MSIM_DT_F16;
    CHECK_REL(msim_sm_pace_depthwise_us(&A100, &row), taps * 36 / 128 * cycle,
              0.01);
    snprintf(turing.generation, sizeof(turing.generation), "turing");
    CHECK_REL(msim_sm_pace_depthwise_us(&turing, &row),
              2 * taps * 36 / 128 * cycle, 0.01);
}

/* The same on an MI250: 48 images, a block each. Sixteen times as many blocks
 * still run at once, 160 times as many do not. */
static void test_sm_pace__naive(void)
{
    struct msim_work square = depthwise(16, 3, 128, 256, 3);
    struct msim_work tall = depthwise(16, 3, 256, 256, 1);
    double us = msim_sm_pace_naive_us(&MI250, &square);

    CHECK_REL(us, 337, 0.15);
    CHECK_REL(msim_sm_pace_naive_us(&MI250, &tall), 450, 0.15);
    square.u.conv.n *= 16;
    CHECK_REL(msim_sm_pace_naive_us(&MI250, &square), us, 1e-12);
    square.u.conv.n *= 10;
    CHECK_REL(msim_sm_pace_naive_us(&MI250, &square), us * 7680 / 832, 1e-9);
}

/* A row of 1.5 MB is read twice, one of 16 kB once. Over another dimension rows
 * of 16 MB in all threads are read three times. */
static void test_sm_pace__softmax_reads_again(void)
{
    struct msim_work w = norm("softmax", 4096, 393216);

    w.family = MSIM_FAMILY_SOFTMAX;
    CHECK_REL(msim_softmax_again(&H100, &w), w.bytes_read, 0.05);
    w = norm("softmax", 4096, 4096);
    w.family = MSIM_FAMILY_SOFTMAX;
    CHECK_REL(msim_softmax_again(&H100, &w), 0, 0);
    CHECK_REL(msim_sm_pace_us(&H100, &w), 0, 0);
}

/* Over 64 channels of 2,097,152 places, a thread each: 1,300 us on H100 and
 * 2,500 on A100 (49_ConvTranspose3d_Softmax_Sigmoid less its other kernels);
 * all but what the L2 cache keeps is read three times. */
static void test_sm_pace__softmax_over_channels(void)
{
    struct msim_work w = norm("softmax", 2097152, 64);

    w.family = MSIM_FAMILY_SOFTMAX;
    w.u.vector.fold = MSIM_FOLD_ACROSS;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 1300, 0.15);
    CHECK_REL(msim_sm_pace_us(&A100, &w), 2500, 0.15);
    CHECK(msim_softmax_again(&H100, &w) > w.bytes_read);
    CHECK(msim_softmax_again(&H100, &w) < 2 * w.bytes_read);
}

/* Rows of fp32 on an A100 whose times show what is read again (Liger, 16,384
 * rows of log_softmax and 4,096 of layer norm, at 1.8 TB/s): rows of 64 KB are
 * in the cache, of 512 KB are read three times in all, by later versions twice;
 * a gradient reads its two operands twice. A norm reads rows of 64 KB twice,
 * and once what fits. */
static void test_sm_pace__rows_pass_by(void)
{
    struct msim_work w = norm("softmax", 16384, 131072);

    w.family = MSIM_FAMILY_SOFTMAX;
    CHECK_REL(msim_rows_again(&A100, &w), 1.5 * w.bytes_read, 0.05);
    w.variant = "softmax_backward";
    w.bytes_read *= 2;
    CHECK_REL(msim_rows_again(&A100, &w), w.bytes_read, 0.05);
    w = norm("softmax", 16384, 16384);
    w.family = MSIM_FAMILY_SOFTMAX;
    CHECK(msim_rows_again(&A100, &w) < 0.5 * w.bytes_read);
    w = norm("softmax", 16384, 8192);
    w.family = MSIM_FAMILY_SOFTMAX;
    CHECK_REL(msim_rows_again(&A100, &w), 0, 0);
    w = norm("layer_norm", 4096, 16384);
    CHECK_REL(msim_rows_again(&A100, &w), w.bytes_read, 0.05);
    w = norm("layer_norm", 4096, 1024);
    CHECK(msim_rows_again(&A100, &w) < 0.05 * w.bytes_read);
}

/* 9,984 rows of 4,096 on A100 and 992 of 8,192 on H100 (vidur, fp16). */
static void test_sm_pace__look_ups(void)
{
    struct msim_work w = norm("embedding", 9984, 4096);

    w.family = MSIM_FAMILY_EMBEDDING;
    CHECK_REL(msim_sm_pace_us(&A100, &w), 565, 0.15);
    w = norm("index_select", 992, 8192);
    w.family = MSIM_FAMILY_EMBEDDING;
    CHECK_REL(msim_sm_pace_us(&H100_PCIE, &w), 50 * 132.0 / 114, 0.3);
}

/* Gradients of tables on an A100, 16,384 look-ups of 4,096 values of fp32
 * (Liger; the whole pass less its forward one and what clears and adds up the
 * table): the fewer rows the table has, the oftener one comes, and the fewer
 * sums are written. */
static void test_sm_pace__added_rows(void)
{
    static const struct {
        double table, us;
    } CASES[] = {{1024, 750}, {4096, 950}, {16384, 1650}};
    struct msim_work w = norm("embedding_backward", 16384, 4096);
    double unknown;

    w.family = MSIM_FAMILY_EMBEDDING;
    unknown = msim_sm_pace_us(&A100, &w);
    w.u.vector.lookups = 16384;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        w.u.vector.table_rows = CASES[i].table;
        CHECK_REL(msim_sm_pace_us(&A100, &w), CASES[i].us, 0.35);
    }
    w.u.vector.table_rows = 1024;
    CHECK(msim_sm_pace_us(&A100, &w) < 0.6 * unknown);
    w.u.vector.table_rows = 1e9; /* hardly a row twice */
    CHECK(msim_sm_pace_us(&A100, &w) > 1.5 * unknown);
}

/* Gradients of maximum pools in traces: 32 x 64 x 112 x 112 by windows of 3
 * with stride 2 on an A100, recorded or not, and 512 x 64 x 224 x 224 by
 * windows of 2 with stride 2 on an H100. */
static void test_sm_pace__pool_gradients(void)
{
    struct msim_work w =
        norm("max_pool2d_with_indices_backward", 1, 32 * 64 * 112 * 112);

    w.family = MSIM_FAMILY_POINTWISE;
    CHECK_REL(msim_sm_pace_us(&A100, &w), 599, 0.05);
    w.u.vector.taps = 32.0 * 64 * 56 * 56 * 9;
    CHECK_REL(msim_sm_pace_us(&A100, &w), 599, 0.05);
    w.u.vector.elems = 512LL * 64 * 224 * 224;
    w.u.vector.taps = 512.0 * 64 * 112 * 112 * 4;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 17433, 0.05);
}

/* silu of a half of each row: 268 million values of bf16 on H100 (Liger; 0.73
 * ms with memory's time). */
static void test_sm_pace__addresses(void)
{
    struct msim_work w = norm("silu", 1, 268435456);

    w.family = MSIM_FAMILY_POINTWISE;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 0, 0);
    w.u.vector.addressed = true;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 650, 0.15);
}

/* A copy of permuted rows is addressed as other kernels are; tensors that are
 * joined take longer. TimeSformer's 25,096 rows of 768 on an H100: 57 us. */
static void test_sm_pace__copies(void)
{
    struct msim_work w = norm("copy", 1, 25096 * 768);

    w.family = MSIM_FAMILY_COPY;
    w.u.vector.addressed = true;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 57, 0.3);
    w.variant = "cat";
    CHECK(msim_sm_pace_us(&H100, &w) > 100);
}

/* 32,768 rows: between 0.1 ms and 1.1 ms, by the version of PyTorch. */
static void test_sm_pace__picked_loss(void)
{
    struct msim_work w = norm("nll_loss_mean", 1, 32768);
    struct msim_data_sheet named = H100;

    w.family = MSIM_FAMILY_REDUCTION;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 358, 0.05);
    named.pytorch = 2.5;
    CHECK_REL(msim_sm_pace_us(&named, &w), 820, 0.05);
    named.pytorch = 2.9;
    CHECK_REL(msim_sm_pace_us(&named, &w), 102, 0.05);
}

/* TimeSformer's rows of 3,137 in a trace of an H100. */
static void test_sm_pace__softmax_of_odd_rows(void)
{
    struct msim_work w = norm("softmax", 301152, 3137);

    w.family = MSIM_FAMILY_SOFTMAX;
    w.dtype = MSIM_DT_BF16;
    CHECK_REL(msim_sm_pace_us(&H100, &w), 5724, 0.15);
}

static struct msim_work product(int64_t m, int64_t n, int64_t k, int64_t batch)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_BF16};

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    w.u.gemm.batch = batch;
    return w;
}

/* TimeSformer's scores and their product with values, 3,137 tokens in 96 heads,
 * in traces of an H100 and an MI300X. */
static void test_sm_pace__odd_products(void)
{
    struct msim_work scores = product(3137, 3137, 64, 96);
    struct msim_work values = product(3137, 64, 3137, 96);

    CHECK_REL(msim_sm_pace_product_us(&H100, &scores), 1902, 0.15);
    CHECK_REL(msim_sm_pace_product_us(&H100, &values), 1699, 0.15);
    CHECK_REL(msim_sm_pace_product_us(&MI300X, &scores), 1212, 0.15);
    CHECK_REL(msim_sm_pace_product_us(&MI300X, &values), 810, 0.15);
}

/* Rows begin on 16 bytes, on four, on two: nothing to say, and twice as long on
 * two as on four. What is not the length of a row does not count. */
static void test_sm_pace__widths(void)
{
    struct msim_work whole = product(141, 30528, 512, 1);
    struct msim_work two = product(141, 30522, 512, 1);
    struct msim_work one = product(141, 30521, 512, 1);
    struct msim_work by_k = product(128, 512, 141, 1);

    CHECK_REL(msim_sm_pace_product_us(&H100, &whole), 0, 0);
    CHECK_REL(msim_sm_pace_product_us(&H100, &one),
              2 * msim_sm_pace_product_us(&H100, &two), 0.01);
    CHECK(msim_sm_pace_product_us(&H100, &by_k) > 0);
    by_k.u.gemm.a_transposed = true;
    CHECK_REL(msim_sm_pace_product_us(&H100, &by_k), 0, 0);
    by_k.u.gemm.b_transposed = true;
    CHECK(msim_sm_pace_product_us(&H100, &by_k) > 0);
}

/* One tile of a long sum is shared by all SMs, down to parts of 1,024 terms. */
static void test_sm_pace__shared_sums(void)
{
    struct msim_work all = product(64, 33, 1024 * 132, 1);
    struct msim_work part = product(64, 33, 1024, 1);

    CHECK_REL(msim_sm_pace_product_us(&H100, &all),
              msim_sm_pace_product_us(&H100, &part), 0.05);
}

/* A wave of full tiles takes 10.7 us beside its multiplications (TimeSformer on
 * an MI300X), on top of the shortest kernel and the first fill; half the side,
 * half of it. Others hide it. */
static void test_sm_pace__tiles(void)
{
    struct msim_work full = product(213 * 19, 213 * 16, 768, 1);
    struct msim_work half = product(213 * 19, 213 * 4, 768, 1);
    double start = 2.2 + 1.7;

    CHECK_REL(msim_sm_pace_tiles_us(&MI300X, &full) - start, 10.7, 0.02);
    CHECK_REL(msim_sm_pace_tiles_us(&MI300X, &half) - start, 5.35, 0.02);
    CHECK_REL(msim_sm_pace_tiles_us(&H100, &full), 0, 0);
}

/* 37,632 products of 8 x 64 and of 8 x 8 there: 280 and 1,143 us. */
static void test_sm_pace__tiles_of_a_batch(void)
{
    struct msim_work w = product(8, 64, 8, 37632);
    double us = msim_sm_pace_tiles_us(&MI300X, &w);

    CHECK(us > 280 && us < 1143);
}

/* TimeSformer on an MI300X: rows of a layer norm and odd rows of a softmax. */
static void test_sm_pace__compute_units(void)
{
    struct msim_work w = norm("layer_norm", 25088, 768);

    CHECK_REL(msim_sm_pace_us(&MI300X, &w), 65.9, 0.15);
    w = norm("softmax", 301152, 3137);
    w.family = MSIM_FAMILY_SOFTMAX;
    w.dtype = MSIM_DT_BF16;
    CHECK_REL(msim_sm_pace_us(&MI300X, &w), 3477, 0.15);
}

/* 32 images of 112 x 112 places in a trace of an A100 (resnet50-ddp): 386 us
 * forward and 803 us backward, nearly all of it the blocks' own pace. As many
 * places of twice the channels take 1.25 times as long: 20 SMs have two. With
 * channels last a channel is no block's. */
static void test_sm_pace__channels_of_a_batch(void)
{
    struct msim_work w = norm("batch_norm", 64, 32 * 112 * 112);
    double alone = msim_sm_pace_us(&A100, &w);

    CHECK_REL(alone, 386, 0.1);
    w.u.vector.rows = 128;
    CHECK_REL(msim_sm_pace_us(&A100, &w), 1.25 * alone, 1e-9);
    w = norm("batch_norm_backward", 64, 32 * 112 * 112);
    CHECK_REL(msim_sm_pace_us(&A100, &w), 803, 0.1);
    w.u.vector.fold = MSIM_FOLD_ACROSS;
    CHECK(msim_sm_pace_us(&A100, &w) == 0);
}

int main(void)
{
    RUN(test_sm_pace__tiles);
    RUN(test_sm_pace__tiles_of_a_batch);
    RUN(test_sm_pace__compute_units);
    RUN(test_sm_pace__odd_products);
    RUN(test_sm_pace__widths);
    RUN(test_sm_pace__shared_sums);
    RUN(test_sm_pace__windows);
    RUN(test_sm_pace__long_rows);
    RUN(test_sm_pace__many_rows);
    RUN(test_sm_pace__groups);
    RUN(test_sm_pace__others_have_none);
    RUN(test_sm_pace__depthwise);
    RUN(test_sm_pace__depthwise_weights);
    RUN(test_sm_pace__naive);
    RUN(test_sm_pace__softmax_reads_again);
    RUN(test_sm_pace__softmax_of_odd_rows);
    RUN(test_sm_pace__softmax_over_channels);
    RUN(test_sm_pace__rows_pass_by);
    RUN(test_sm_pace__look_ups);
    RUN(test_sm_pace__added_rows);
    RUN(test_sm_pace__addresses);
    RUN(test_sm_pace__copies);
    RUN(test_sm_pace__pool_gradients);
    RUN(test_sm_pace__picked_loss);
    RUN(test_sm_pace__channels_of_a_batch);
    return check_summary();
}

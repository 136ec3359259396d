/*
 * core/work/kernel/infer.h: works of kernels whose operators have no shapes.
 */
#include "core/work/kernel/infer.h"

#include "tests/unit/made_ops.h"

#define ADD                                                                    \
    "void at::native::vectorized_elementwise_kernel<4, "                       \
    "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"
#define CAT "void at::native::CatArrayBatchedCopy<float, unsigned int, 2>"

static struct build b;
static struct msim_infer l;

static void begin(void)
{
    build_init(&b);
    b.t.gpu_properties.sms = 80;
}

static void finish(void)
{
    CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
}

static void end(void)
{
    msim_infer_release(&l);
    build_release(&b);
}

/* A kernel of an operator of its own, in launch order; its index. */
static uint32_t add(const char *op, int seq, bool backward, const char *kernel,
                    uint32_t x, uint32_t y, uint32_t z)
{
    uint32_t i = build_op(&b, 0, op, "", NULL);
    struct msim_gpu *g = build_kernel(&b, i, kernel, x, 128);

    b.ops[i].seq = seq;
    b.ops[i].scope = backward;
    b.configs[g->config].grid[1] = y;
    b.configs[g->config].grid[2] = z;
    return (uint32_t)(g - b.gpu);
}

static struct msim_work work(uint32_t i)
{
    struct msim_work w = {0};
    double spread;

    CHECK(msim_infer_work(&l, i, &w, &spread));
    CHECK(spread > 0);
    return w;
}

/* 1000 blocks of 128 threads of 4 elements, two read and one written. */
static void test_launch__elements(void)
{
    struct msim_work w;
    uint32_t i;

    begin();
    i = add("aten::add", -1, false, ADD, 1000, 1, 1);
    finish();
    CHECK(l.shapeless);
    w = work(i);
    CHECK_INT(w.family, MSIM_FAMILY_POINTWISE);
    CHECK_INT(w.u.vector.elems, 512000);
    CHECK_REL(w.bytes_read, 2 * 4 * 512000.0, 0);
    CHECK_REL(w.bytes_written, 4 * 512000.0, 0);
    end();
}

/* A grid of twice the multiprocessors moves what was made before it; one that
 * is none says itself how much. */
static void test_launch__neighbours(void)
{
    uint32_t full, own;

    begin();
    (void)add("aten::add", -1, false, ADD, 1000, 1, 1);
    full = add("aten::cat", -1, false, CAT, 160, 1, 1);
    own = add("aten::cat", -1, false, CAT, 3, 1, 1);
    finish();
    CHECK_INT(work(full).u.vector.elems, 512000);
    CHECK_INT(work(own).u.vector.elems, 3 * 128);
    end();
}

/*
 * The example of core/work/kernel/infer.h: from 2048 to 1024 for 4096 rows.
 * Forward 8 x 64 tiles of 128 x 64, the gradient of the input 16 x 64, of the
 * weights 8 x 32.
 */
static void test_launch__layer(void)
{
    static const int64_t WANT[3][3] = {
        {1024, 4096, 2048}, {2048, 4096, 1024}, {1024, 2048, 4096}};
    uint32_t i[3];

    begin();
    i[0] = add("aten::addmm", 5, false, "volta_sgemm_128x64_tn", 8, 64, 1);
    i[1] = add("AddmmBackward0", 5, true, "volta_sgemm_128x64_nn", 16, 64, 1);
    i[2] = add("AddmmBackward0", 5, true, "volta_sgemm_128x64_nt", 8, 32, 1);
    finish();
    for (int j = 0; j < 3; j++) {
        struct msim_work w = work(i[j]);

        CHECK_INT(w.family, MSIM_FAMILY_GEMM);
        CHECK_INT(w.u.gemm.m, WANT[j][0]);
        CHECK_INT(w.u.gemm.n, WANT[j][1]);
        CHECK_INT(w.u.gemm.k, WANT[j][2]);
        CHECK_INT(w.u.gemm.batch, 1);
    }
    end();
}

/*
 * A convolution of one position from 64 to 256 channels for 32 images of 56 x
 * 56: forward a product for each image (49 x 4 tiles of 64 x 64, 32 of them),
 * the gradient of the input one of all 100,352 positions (784 tiles of 128 x
 * 64). Both sum over what the other has as columns, whatever 64 and 256 have in
 * common.
 */
static void test_launch__images(void)
{
    uint32_t f, d;

    begin();
    f = add("aten::conv2d", 5, false, "volta_sgemm_64x64_nn", 49, 4, 32);
    d = add("ConvolutionBackward0", 5, true,
            "volta_scudnn_128x64_stridedB_interior_nn_v1", 784, 1, 1);
    finish();
    CHECK_REL(l.products[f].k, 64, 0.02);
    CHECK_REL(l.products[d].k, 256, 0.02);
    end();
}

/* From 64 to 64 channels both sides agree: the positions count, since nothing
 * is summed over 100,000 of them. */
static void test_launch__square_filter(void)
{
    uint32_t f, d;

    begin();
    f = add("aten::conv2d", 5, false, "volta_scudnn_128x64_relu_interior_nn_v1",
            784, 1, 1);
    d = add("ConvolutionBackward0", 5, true, "volta_sgemm_64x64_nt", 49, 1, 32);
    finish();
    CHECK_REL(l.products[f].k, 64, 0.02);
    CHECK_REL(l.products[d].k, 64, 0.02);
    end();
}

/* Parts of a gradient of weights, one an image (256 x 1024, 32 of them), are no
 * positions: with 6,272 x 1,024 forward, 196 positions an image. */
static void test_launch__parts(void)
{
    uint32_t f, w, sum;

    begin();
    f = add("aten::conv2d", 5, false, "volta_scudnn_128x128_relu_small_nn_v1",
            49, 8, 1);
    w = add("ConvolutionBackward0", 5, true, "volta_sgemm_32x128_tn", 8, 8, 32);
    sum = add("ConvolutionBackward0", 5, true,
              "void cudnn::cnn::reduce_wgrad_nchw_helper<float>", 2048, 1, 1);
    finish();
    CHECK_REL(l.products[f].k, 256, 0.02);
    CHECK_REL(l.products[w].k, 196, 0.02);
    CHECK_REL(work(sum).bytes_read, 32 * work(sum).bytes_written, 1e-9);
    end();
}

/* A convolution that nobody needs the input's gradient of sees an image: 3 x 7
 * x 7, whatever was multiplied before. */
static void test_launch__first(void)
{
    uint32_t f;

    begin();
    (void)add("aten::addmm", -1, false, "volta_sgemm_128x64_tn", 8, 64, 1);
    f = add("aten::conv2d", 5, false, "volta_scudnn_128x64_relu_xregs_nn_v1",
            3136, 1, 1);
    (void)add("ConvolutionBackward0", 5, true, "void wgrad_alg0_engine<float>",
              5, 2, 800);
    finish();
    CHECK_REL(l.products[f].k, 3 * 49, 0);
    end();
}

/* Winograd's gradient of a filter of 64 x 64 channels sums over tiles: 0.8 of
 * the threads of a transform, by its channels. */
static void test_launch__winograd(void)
{
    uint32_t w;

    begin();
    (void)add("ConvolutionBackward0", 5, true,
              "void cudnn::winograd_nonfused::winogradWgradData4x4<float>", 112,
              32, 1);
    (void)add("ConvolutionBackward0", 5, true,
              "void cudnn::winograd_nonfused::winogradWgradDelta4x4<float>",
              112, 32, 1);
    w = add("ConvolutionBackward0", 5, true, "volta_sgemm_64x64_nt", 1, 1, 36);
    finish();
    CHECK_REL(l.products[w].k, 112 * 32 * 128 * 0.8 / 64, 1e-9);
    end();
}

/* The gradient of a norm has the elements of its forward pass (what an addition
 * wrote before it), not of a copied weight that happens to precede it. */
static void test_launch__norm_gradient(void)
{
    uint32_t backward;

    begin();
    (void)add("aten::add", -1, false, ADD, 1000, 1, 1);
    (void)add("aten::batch_norm", 5, false, "void cudnn::bn_fw_tr_1C11", 64, 1,
              1);
    (void)add("AccumulateGrad", 7, true, ADD, 100, 1, 1);
    backward =
        add("BatchNormBackward", 5, true, "void cudnn::bn_bw_1C11", 64, 1, 1);
    finish();
    CHECK_INT(work(backward).u.vector.elems, 512000);
    end();
}

/*
 * Blocks of grouped products stay: their rows are the tokens that a kernel
 * before them takes, a block each, and their columns as many as a norm's name
 * says that a row has.
 */
static void test_launch__persistent(void)
{
    struct msim_work w;
    uint32_t p, cast;

    begin();
    (void)add("LayerNorm", -1, false,
              "void layer_norm::ln_fwd_kernel<layer_norm::Kernel_traits<bf16, "
              "unsigned int, 7168u, 1u> >",
              396, 1, 1);
    cast = add("cast", -1, false, "void cuda::per_token_cast_to_fp8<bf16>",
               4096, 1, 1);
    p = add("mm", -1, false,
            "void cutlass::device_kernel<grouped_gemm::fp8::GemmKernel>", 112,
            1, 1);
    finish();
    CHECK_INT(work(cast).u.vector.elems, 4096 * 7168);
    w = work(p);
    CHECK_INT(w.u.gemm.m, 4096);
    CHECK_INT(w.u.gemm.n, 7168);
    end();
}

/* The backward pass alone says the same: 2048 is in both outputs. */
static void test_launch__gradients(void)
{
    uint32_t i, j;

    begin();
    i = add("AddmmBackward0", 5, true, "volta_sgemm_128x64_nn", 16, 64, 1);
    j = add("AddmmBackward0", 5, true, "volta_sgemm_128x64_nt", 8, 32, 1);
    finish();
    CHECK_INT(work(i).u.gemm.k, 1024);
    CHECK_INT(work(j).u.gemm.k, 4096);
    end();
}

/* The library took this kernel because no row begins on 16 bytes: the largest
 * such sizes that have as many tiles. */
static void test_launch__odd_sizes(void)
{
    struct msim_work w;
    uint32_t i;

    begin();
    i = add("AddmmBackward0", 5, true,
            "cutlass_80_tensorop_s1688gemm_128x64_16x6_nt_align1", 16, 64, 1);
    finish();
    w = work(i);
    CHECK_INT(w.u.gemm.m % 2, 1);
    CHECK_INT(w.u.gemm.n % 2, 1);
    CHECK_INT(w.u.gemm.k % 2, 1);
    end();
    begin();
    i = add("AddmmBackward0", 5, true,
            "cutlass_80_tensorop_s16816gemm_128x64_16x6_nt_align16", 16, 64, 1);
    finish();
    CHECK_INT(work(i).u.gemm.k % 2, 0);
    end();
}

/* Of a batch, each product is alike: 64 x 64 x 128 in 4096 of them. */
static void test_launch__batch(void)
{
    uint32_t i, j;

    begin();
    i = add("aten::bmm", 3, false, "volta_sgemm_64x64_tn", 1, 1, 4096);
    (void)add("aten::bmm", 3, true, "volta_sgemm_64x64_nn", 2, 1, 4096);
    j = add("aten::bmm", 3, true, "volta_sgemm_64x64_nt", 1, 2, 4096);
    finish();
    CHECK_INT(work(i).u.gemm.k, 128);
    CHECK_INT(work(j).u.gemm.k, 64);
    CHECK_INT(work(j).u.gemm.batch, 4096);
    end();
}

/*
 * A filter of 3 x 3 from 64 to 64 channels over 32 maps of 56 x 56: 392 tiles
 * of 256 positions, 9 tiles of 64 for the 576 of channels x filter, taken for
 * the 544 in the middle of the last. From the three outputs the filter
 * follows.
 */
static void test_launch__convolution(void)
{
    struct msim_work w;
    uint32_t i;

    begin();
    i = add("aten::conv2d", 7, false,
            "sm80_xmma_fprop_implicit_gemm_tf32f32_tilesize256x64x32", 1, 392,
            1);
    (void)add("ConvolutionBackward0", 7, true,
              "sm80_xmma_dgrad_implicit_gemm_tf32f32_tilesize256x64x32", 1, 392,
              1);
    (void)add("ConvolutionBackward0", 7, true,
              "sm80_xmma_wgrad_implicit_gemm_tf32f32_tilesize64x64x64", 9, 1,
              11);
    finish();
    w = work(i);
    CHECK_INT(w.family, MSIM_FAMILY_CONV);
    CHECK_STR(w.variant, "tf32");
    CHECK_INT(w.u.conv.k, 64);
    CHECK_INT(w.u.conv.r, 3);
    CHECK_REL((double)w.u.conv.c, 64, 0.06);
    CHECK_REL(w.flops, 2 * 100352.0 * 64 * 576, 0.06);
    end();
}

/* Without gradients all operators show the same number: no layer. */
static void test_launch__same_number(void)
{
    uint32_t i;

    begin();
    (void)add("aten::linear", 4, false, "ampere_sgemm_128x64_tn", 32, 8, 1);
    i = add("aten::linear", 4, false, "ampere_sgemm_128x64_tn", 8, 8, 1);
    finish();
    CHECK_INT(work(i).u.gemm.k, 4096);
    end();
}

/* What no layer explains sums over what the one before it made. */
static void test_launch__chain(void)
{
    uint32_t i;

    begin();
    (void)add("aten::linear", -1, false, "ampere_sgemm_128x64_tn", 24, 8, 1);
    i = add("aten::linear", -1, false, "ampere_sgemm_128x64_tn", 8, 8, 1);
    finish();
    CHECK_REL((double)work(i).u.gemm.k, 3072, 0.03);
    end();
}

/* Not even a launch: a size of some kind, no collective, no crash. */
static void test_launch__nothing(void)
{
    struct msim_work w;
    double spread;
    uint32_t i, j;

    begin();
    i = add("x", -1, false, "unheard_of", 1, 1, 1);
    j = add("y", -1, false, "ncclDevKernel_SendRecv(ncclDevComm*)", 1, 1, 1);
    b.gpu[i].config = b.gpu[j].config = MSIM_NONE;
    finish();
    CHECK(msim_infer_work(&l, i, &w, &spread));
    CHECK(w.u.vector.elems > 0);
    CHECK(!msim_infer_work(&l, j, &w, &spread));
    end();
}

/* A transfer without a size moves what was made before it; one with a size
 * keeps it. */
static void test_launch__transfer(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};
    double spread;
    uint32_t i;

    begin();
    (void)add("aten::add", -1, false, ADD, 1000, 1, 1);
    i = add("c10d::allreduce_", -1, false, "ncclDevKernel_AllReduce", 8, 1, 1);
    finish();
    msim_infer_comm(&l, i, &w, &spread);
    CHECK_UINT(w.u.coll.bytes, 4 * 512000);
    CHECK(spread > 0);
    w.u.coll.bytes = 7;
    msim_infer_comm(&l, i, &w, &spread);
    CHECK_UINT(w.u.coll.bytes, 7);
    CHECK_REL(spread + 1, 1, 0);
    end();
}

/*
 * Launches decide where no operator has a shape, but against a user's own
 * table; and of unknown operators, unless only their tensors are known.
 */
static void test_launch__decides(void)
{
    struct msim_op_kernels by_op = {0};
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE};
    const enum msim_opmap_result known = MSIM_OPMAP_WORKS;

    for (int shapes = 0; shapes < 2; shapes++) {
        begin();
        if (shapes)
            (void)build_op(&b, 0, "aten::mm", "f32[8,4] f32[4,2]", NULL);
        build_kernel(&b, build_op(&b, 0, "x::y", "", NULL), ADD, 10, 128);
        finish();
        CHECK_INT(msim_op_kernels_init(&by_op, &b.t), MSIM_OK);
        w.user.origin = NULL;
        CHECK_INT(msim_infer_decides(&l, &by_op, b.t.n_ops - 1, known, &w, 1),
                  !shapes);
        CHECK(msim_infer_decides(&l, &by_op, b.t.n_ops - 1, MSIM_OPMAP_UNKNOWN,
                                 &w, 1));
        w.user.origin = "ops.csv:2";
        CHECK(!msim_infer_decides(&l, &by_op, b.t.n_ops - 1, known, &w, 1));
        w.user.origin = NULL;
        b.gpu[0].config = MSIM_NONE;
        CHECK_INT(msim_infer_decides(&l, &by_op, b.t.n_ops - 1,
                                     MSIM_OPMAP_UNKNOWN, &w, 1),
                  !shapes);
        msim_op_kernels_release(&by_op);
        end();
    }
}

/* 10 us of 8 to 12.5, twice as wide each way for a spread of log(2) / 1.645,
 * give or take what both do together. */
static void test_launch__doubt(void)
{
    struct msim_estimate e = {
        .us = 10, .low_us = 8, .high_us = 12.5, .source = MSIM_SOURCE_LAW};

    msim_infer_widen(&e, 0.4214);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.low_us, 10 * 0.482, 0.01);
    CHECK_REL(e.high_us, 10 / 0.482, 0.01);
    CHECK_STR(msim_source_text(e.source), "launch");
}

int main(void)
{
    RUN(test_launch__elements);
    RUN(test_launch__neighbours);
    RUN(test_launch__layer);
    RUN(test_launch__images);
    RUN(test_launch__square_filter);
    RUN(test_launch__parts);
    RUN(test_launch__first);
    RUN(test_launch__winograd);
    RUN(test_launch__norm_gradient);
    RUN(test_launch__persistent);
    RUN(test_launch__gradients);
    RUN(test_launch__odd_sizes);
    RUN(test_launch__batch);
    RUN(test_launch__convolution);
    RUN(test_launch__same_number);
    RUN(test_launch__chain);
    RUN(test_launch__nothing);
    RUN(test_launch__transfer);
    RUN(test_launch__decides);
    RUN(test_launch__doubt);
    return check_summary();
}

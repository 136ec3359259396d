/* Which operators launch, and what their works hold. */
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/opmap_internal.h"
#include "core/work/rules/opmap_rule.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

/* The result for one operator of a trace without GPU events. */
static enum msim_opmap_result map(const char *name, const char *args,
                                  const char *outs)
{
    enum msim_opmap_result r;

    build_init(&b);
    build_op(&b, 0, name, args, outs);
    r = msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n);
    build_release(&b);
    return r;
}

static void check_vector(enum msim_family family, const char *variant,
                         int64_t rows, int64_t cols, double bytes_read,
                         double bytes_written)
{
    CHECK_INT(n, 1);
    CHECK_INT(w[0].family, family);
    CHECK_STR(w[0].variant, variant);
    CHECK_INT(w[0].u.vector.rows, rows);
    CHECK_INT(w[0].u.vector.cols, cols);
    CHECK_INT(w[0].bytes_read, bytes_read);
    CHECK_INT(w[0].bytes_written, bytes_written);
    CHECK(w[0].kernels >= 1);
}

static void test_opmap__views_and_wrappers_launch_nothing(void)
{
    CHECK_INT(map("aten::view", "f32[2,3] (3 2)", "f32[3,2]"),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("aten::linear", "f32[2,3] f32[4,3] f32[4]", "f32[2,4]"),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("aten::dropout", "f32[2,3] 0.1 false", "f32[2,3]"),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("AddmmBackward0", "f32[2,3]", NULL), MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("autograd::engine::evaluate_function: X", "", NULL),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("some label", "", NULL), MSIM_OPMAP_NO_KERNEL);
}

/* 2 m n k flops; a, b and the product once; the bias of addmm too. */
static void test_opmap__products(void)
{
    CHECK_INT(map("aten::mm", "f16[8,4] f16[4,2]", "f16[8,2]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].family, MSIM_FAMILY_GEMM);
    CHECK_INT(w[0].dtype, MSIM_DT_F16);
    CHECK_INT(w[0].flops, 2 * 8 * 4 * 2);
    CHECK_INT(w[0].bytes_read, 2 * (8 * 4 + 4 * 2));
    CHECK_INT(w[0].bytes_written, 2 * 8 * 2);
    CHECK_INT(map("aten::addmm", "f32[5] f32[8,4] f32[4,5] 1 1", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.gemm.m, 8);
    CHECK_INT(w[0].u.gemm.n, 5);
    CHECK_INT(w[0].u.gemm.k, 4);
    CHECK_INT(w[0].bytes_read, 4 * (5 + 8 * 4 + 4 * 5));
    CHECK_INT(
        map("aten::baddbmm", "f32[7,8,5] f32[7,8,4] f32[7,4,5] 1 1", NULL),
        MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.gemm.batch, 7);
    CHECK_INT(w[0].flops, 2 * 7 * 8 * 4 * 5);
}

/* 16 tokens to 2 of 8 experts of 3 x 64 x 32: the first product makes gate and
 * input of the second side by side. Packed weights show sizes of their own. */
static void test_opmap__experts(void)
{
    CHECK_INT(map("vllm::inplace_fused_experts",
                  "bf16[16,64] bf16[8,64,64] bf16[8,64,32] f32[16,2] i32[16,2]",
                  NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].family, MSIM_FAMILY_MOE);
    CHECK_INT(w[0].dtype, MSIM_DT_BF16);
    CHECK_INT(w[0].flops, 2 * 3 * 32 * 64 * 32);
    CHECK_INT(w[0].u.moe.routing.experts, 8);
    CHECK_INT(w[0].u.moe.routing.topk, 2);
    CHECK_INT(w[0].u.moe.inter, 32);
    CHECK(!w[0].u.moe.plain);
    map("sglang::outplace_fused_experts",
        "bf16[16,64] bf16[8,32,64] bf16[8,64,32] f32[16,2] i32[16,2]", NULL);
    CHECK(w[0].u.moe.plain);
    map("sglang::outplace_fused_experts",
        "bf16[16,64] i32[8,8,64] i32[8,64,8] f32[16,2] i32[16,2]", NULL);
    CHECK_INT(n == 0 || w[0].family == MSIM_FAMILY_BOUND, 1);
}

/* A weight that aten::t has just turned is read the other way round. */
static void test_opmap__transposed_factor(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::linear", "f32[8,4] f32[5,4] f32[5]", "f32[8,5]");
    build_op(&b, 1, "aten::t", "f32[5,4]", "f32[4,5]");
    build_op(&b, 1, "aten::addmm", "f32[5] f32[8,4] f32[4,5] 1 1", "f32[8,5]");
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK(w[0].u.gemm.b_transposed);
    CHECK(!w[0].u.gemm.a_transposed);
    build_release(&b);
}

/* Output (8 + 2 - 3) / 2 + 1 = 4 wide: 2 * 2*6*4*4 * (4/2)*3*3 flops. */
static void test_opmap__convolution(void)
{
    CHECK_INT(map("aten::cudnn_convolution",
                  "f32[2,4,8,8] f32[6,2,3,3] (1 1) (2 2) (1 1) 2 false false "
                  "true",
                  NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].family, MSIM_FAMILY_CONV);
    CHECK_INT(w[0].flops, 2 * (2 * 6 * 4 * 4) * 2 * 9);
    CHECK_INT(w[0].bytes_read, 4 * (2 * 4 * 8 * 8 + 6 * 2 * 9));
    CHECK_INT(w[0].bytes_written, 4 * 2 * 6 * 4 * 4);
    CHECK_INT(w[0].u.conv.groups, 2);
    CHECK_INT(w[0].u.conv.c, 4);
    CHECK_INT(w[0].u.conv.k, 6);
    CHECK_INT(w[0].u.conv.stride_w, 2);
    CHECK_STR(w[0].variant, "tf32");
}

/* Only what the mask asks for: here the filter's gradient alone. */
static void test_opmap__convolution_backward_mask(void)
{
    static const char args[] =
        "f32[2,6,4,4] f32[2,4,8,8] f32[6,4,3,3] none (2 2) (1 1) (1 1) false "
        "(0 0) 1 ";
    char all[200];

    snprintf(all, sizeof(all), "%s(false true false)", args);
    CHECK_INT(map("aten::convolution_backward", all, NULL), MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].u.conv.pass, MSIM_CONV_BACKWARD_WEIGHT);
    CHECK_INT(w[0].bytes_written, 4 * 6 * 4 * 9);
    snprintf(all, sizeof(all), "%s(true true true)", args);
    CHECK_INT(map("aten::convolution_backward", all, NULL), MSIM_OPMAP_WORKS);
    CHECK_INT(n, 2);
    CHECK_INT(w[0].u.conv.pass, MSIM_CONV_BACKWARD_DATA);
    CHECK_INT(w[0].flops, 2 * (2 * 6 * 4 * 4) * 4 * 9);
    CHECK_INT(w[1].flops, w[0].flops);
}

/* Without recorded settings the next operator shows the output's size. */
static void test_opmap__convolution_without_settings(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::cudnn_convolution",
             "f32[2,4,8,8]? f32[6,4,3,3]? none none none none none", NULL);
    build_op(&b, 0, "aten::add_", "i64[]? none none", NULL);
    build_op(&b, 0, "aten::batch_norm", "f32[2,6,4,4]? f32[6]?", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.conv.stride_h, 2);
    CHECK_INT(w[0].u.conv.pad_h, 1);
    CHECK_INT(w[0].flops, 2 * (2 * 6 * 4 * 4) * 4 * 9);
    build_release(&b);
}

/* 4 B H D flops a query-key pair; causal: (S + 1) / 2 keys a query. */
static void test_opmap__attention(void)
{
    CHECK_INT(map("aten::_flash_attention_forward",
                  "bf16[2,16,4,8] bf16[2,16,2,8] bf16[2,16,2,8] none none 16 "
                  "16 0.0 true false none",
                  NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].family, MSIM_FAMILY_ATTENTION);
    CHECK_INT(w[0].u.attention.phase, MSIM_ATTENTION_PREFILL);
    CHECK_INT(w[0].u.attention.heads, 4);
    CHECK_INT(w[0].u.attention.kv_heads, 2);
    CHECK_REL(w[0].flops, 4 * 2 * 4 * 16 * 8.5 * 8, 1e-12);
    CHECK_INT(w[0].bytes_read, 2 * (2 * 16 * 4 * 8 + 2 * (2 * 16 * 2 * 8)));
    CHECK_INT(map("aten::_scaled_dot_product_flash_attention_for_cpu",
                  "f32[2,4,16,8]@ f32[2,4,16,8]@ f32[2,4,16,8]@ 0.0 false",
                  NULL),
              MSIM_OPMAP_NO_KERNEL);
}

/* The operator that calls the kernel's operator launches nothing itself. */
static void test_opmap__attention_inside_attention(void)
{
    const char *args = "f16[1,2,3,4] f16[1,2,3,4] f16[1,2,3,4] 0.0 false";

    build_init(&b);
    build_op(&b, 0, "aten::_scaled_dot_product_flash_attention", args, NULL);
    build_op(&b, 1, "aten::transpose", "f16[1,2,3,4] 1 2", "f16[1,3,2,4]");
    build_op(&b, 1, "aten::_flash_attention_forward",
             "f16[1,3,2,4] f16[1,3,2,4] f16[1,3,2,4] none none 3 3 0.0 false",
             NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.attention.q_len, 3);
    CHECK_INT(w[0].u.attention.heads, 2);
    build_release(&b);
}

static void test_opmap__pointwise(void)
{
    CHECK_INT(map("aten::add", "f16[8,4] f16[4] 1", "f16[8,4]"),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "add", 1, 32, 2 * (32 + 4), 2 * 32);
    /* broadcasting both ways; no output recorded */
    CHECK_INT(map("aten::mul", "f32[8,1]? f32[4]?", NULL), MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "mul", 1, 32, 4 * (8 + 4), 4 * 32);
    /* a number for the second operand */
    CHECK_INT(map("aten::mul", "f32[8,4] f32[]@", NULL), MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "mulu", 1, 32, 128 + 4, 128);
    CHECK_INT(map("aten::lt", "f32[8] 1.0", NULL), MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "lt", 1, 8, 32, 8);
    /* in place: the type stays */
    CHECK_INT(map("aten::add_", "f16[8] f32[8] 1", NULL), MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "add", 1, 8, 16 + 32, 16);
    /* written only */
    CHECK_INT(map("aten::normal_", "f32[8] 0 1", NULL), MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "normal_", 1, 8, 0, 32);
}

static void test_opmap__rows_and_columns(void)
{
    CHECK_INT(map("aten::sum", "f32[8,4,2] (0 1) false none", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_REDUCTION, "sum", 2, 32, 256, 8);
    CHECK_INT(map("aten::_softmax", "f16[8,4] -1 false", "f16[8,4]"),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_SOFTMAX, "softmax", 8, 4, 64, 64);
    CHECK_INT(
        map("aten::native_layer_norm", "f32[2,3,4] (4) f32[4] f32[4]", NULL),
        MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_NORM, "layer_norm", 6, 4, 96, 96);
    CHECK_INT(map("aten::cudnn_batch_norm", "f32[2,3,4,4] f32[3] f32[3]", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_NORM, "batch_norm", 3, 32, 384, 384);
    CHECK_INT(map("aten::index_select", "f16[9,2048] 0 i64[5]", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_EMBEDDING, "index_select", 5, 2048,
                 5 * 2048 * 2 + 40, 5 * 2048 * 2);
    /* narrow rows: a block of threads takes 1024 elements */
    CHECK_INT(map("aten::index_select", "f16[900,8] 0 i64[500]", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_EMBEDDING, "index_select", 4, 1024,
                 500 * 8 * 2 + 4000, 500 * 8 * 2);
}

/* A loss of each element, then its mean; rsub is what it calls. */
static void test_opmap__losses(void)
{
    CHECK_INT(map("aten::mse_loss", "f32[8,4] f32[8,4] 1", "f32[]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 2);
    CHECK_INT(w[0].bytes_read, 2 * 128);
    CHECK_INT(w[0].bytes_written, 128);
    CHECK_INT(w[1].family, MSIM_FAMILY_REDUCTION);
    CHECK_INT(w[1].bytes_read, 128);
    CHECK_INT(map("aten::mse_loss", "f32[8,4] f32[8,4] 0", "f32[8,4]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
}

/* 2 x 3 x 16 x 16 by windows of 3 x 3 with stride 2: 8 x 8 windows. */
static void test_opmap__windows(void)
{
    CHECK_INT(map("aten::avg_pool2d",
                  "f32[2,3,16,16] (3 3) (2 2) (1 1) false true", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_REL(w[0].u.vector.taps, 2.0 * 3 * 8 * 8 * 9, 1e-9);
    CHECK_INT(map("aten::max_pool2d_with_indices_backward",
                  "f32[2,3,8,8] f32[2,3,16,16] (3 3) (2 2) (1 1) (1 1) false "
                  "i64[2,3,8,8]",
                  NULL),
              MSIM_OPMAP_WORKS);
    CHECK_REL(w[0].u.vector.taps, 2.0 * 3 * 8 * 8 * 9, 1e-9);
}

/* Two layers of 64 in both directions over 10 x 7 of 32: an LSTM has four
 * gates, and 7 steps of four layers follow each other. */
static void test_opmap__recurrent(void)
{
    CHECK_INT(map("aten::_cudnn_rnn",
                  "f32[7,10,32] (f32[256,32]) 4 none f32[4,10,64] "
                  "f32[4,10,64] 2 64 0 2 false 0.0 true true",
                  NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 4);
    CHECK_INT(w[0].u.gemm.m, 70);
    CHECK_INT(w[0].u.gemm.n, 256);
    CHECK_INT(w[0].u.gemm.k, 32);
    CHECK_INT(w[0].u.gemm.batch, 2);
    CHECK_INT(w[1].u.gemm.k, 128);
    CHECK_INT(w[2].u.gemm.m, 10);
    CHECK_INT(w[2].u.gemm.k, 64);
    CHECK_INT(w[2].repeats, 7 * 2 * 2);
    CHECK_INT(w[3].family, MSIM_FAMILY_POINTWISE);
    CHECK_INT(w[3].repeats, 7 * 2 * 2);
    /* no layer is so large: a bound, and no overflow */
    CHECK_INT(map("aten::_cudnn_rnn",
                  "f32[7,10,32] (f32[256,32]) 4 none f32[4,10,64] "
                  "f32[4,10,64] 2 9000000000000000000 0 2 false 0.0 true true",
                  NULL),
              MSIM_OPMAP_UNKNOWN);
}

static void test_opmap__copies(void)
{
    CHECK_INT(map("aten::copy_", "f32[8] f16[8] false", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_COPY, "copy", 1, 8, 16, 32);
    CHECK_INT(w[0].u.vector.copy, MSIM_COPY_D2D);
    CHECK_INT(map("aten::copy_", "f32[8] f32[8]@ false", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.copy, MSIM_COPY_H2D);
    CHECK_INT(map("aten::_local_scalar_dense", "f32[]", NULL),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.copy, MSIM_COPY_D2H);
    CHECK_INT(map("aten::copy_", "f32[8]@ f32[8]@ false", NULL),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(map("aten::cat", "(f32[2,3] f32[4,3]) 0", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_COPY, "cat", 1, 18, 72, 72);
}

static void test_opmap__optimizer_lists(void)
{
    CHECK_INT(map("aten::_foreach_addcmul_",
                  "(f32[8] f32[2,2]) (f32[8] f32[2,2]) (f32[8] f32[2,2]) 0.1",
                  NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_OPTIMIZER, "_foreach_addcmul", 1, 12, 3 * 48, 48);
    /* parameters, gradients, two moments; the third list is empty */
    CHECK_INT(map("aten::_fused_adam_",
                  "(f32[8]) (f32[8]) (f32[8]) (f32[8]) () (f32[])", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_OPTIMIZER, "_fused_adam_", 1, 8, 4 * 32, 3 * 32);
}

/* Where kernels were seen, what launched none asks for nothing, whatever its
 * name; launches go to the works. */
static void test_opmap__launches_that_were_seen(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::mm", "f32[8,4]? f32[4,2]?", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 0, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 2, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].kernels, 2);
    CHECK_STR(w[0].variant, "");
    build_kernel(&b, 0, "ampere_tf32_s1688gemm_128x128", 1, 128);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "tf32");
    build_release(&b);
}

/* Sizes that were not recorded, after the launch: 10 blocks of 128 threads
 * with 4 elements each. */
static void test_opmap__sizes_from_the_launch(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::relu", "", NULL);
    build_kernel(&b, 0, "void vectorized_elementwise_kernel<4>", 10, 128);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.elems, 5120);
    CHECK_INT(w[0].bytes_read, 20480);
    build_release(&b);
}

static void test_opmap__copy_after_the_transfer(void)
{
    struct msim_gpu *g;

    build_init(&b);
    build_op(&b, 0, "aten::copy_", "f32[8]? f32[8]? false", NULL);
    g = build_kernel(&b, 0, "Memcpy HtoD (Pageable -> Device)", 0, 0);
    g->kind = MSIM_GPU_MEMCPY;
    g->copy_kind = MSIM_COPY_H2D;
    g->pageable = true;
    g->bytes = 32;
    g->config = MSIM_NONE;
    CHECK_INT(msim_opmap(&b.t, NULL, 0, 1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.copy, MSIM_COPY_H2D);
    CHECK(w[0].u.vector.pageable);
    CHECK_INT(w[0].bytes_read, 32);
    build_release(&b);
}

/* aten::add_ calls its out= form: one kernel, not two. */
static void test_opmap__operator_inside_itself(void)
{
    build_init(&b);
    build_op(&b, 0, "aten::mul", "f32[8] f32[]@", "f32[8]");
    build_op(&b, 1, "aten::mul", "f32[8] f32[]@", "f32[8]");
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    build_release(&b);
}

/* Unknown names: a leaf on the GPU is a bound; what calls others is not. */
static void test_opmap__unknown_operators(void)
{
    CHECK_INT(map("mylib::thing", "f32[8] f32[8]", "f32[4]"),
              MSIM_OPMAP_UNKNOWN);
    check_vector(MSIM_FAMILY_BOUND, "", 1, 8, 64, 16);
    CHECK_INT(map("mylib::thing", "f32[8]@", NULL), MSIM_OPMAP_NO_KERNEL);
    build_init(&b);
    build_op(&b, 0, "mylib::thing", "f32[8]", NULL);
    build_op(&b, 1, "aten::view", "f32[8] (2 4)", NULL);
    build_op(&b, 1, "aten::neg", "f32[8]", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    build_release(&b);
}

/* A generated kernel without arguments: what was allocated before it is
 * written, what the function around it took is read. */
static void test_opmap__generated_kernels(void)
{
    CHECK_INT(map("triton_poi_fused_add_0", "f32[4] f32[4] f32[4] 4 1", NULL),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "triton", 1, 4, 32, 16);
    build_init(&b);
    build_op(&b, 0, "GeLUFunction", "f16[8,4] f16[4]", NULL);
    build_op(&b, 1, "Torch-Compiled Region", "", NULL);
    build_op(&b, 2, "aten::empty", "(8 4)", "f16[8,4]");
    build_op(&b, 2, "triton_poi_fused_add_mul_tanh_0", "", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 3, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    check_vector(MSIM_FAMILY_POINTWISE, "triton", 1, 32, 64 + 8, 64);
    build_release(&b);
}

/* Kernels that a compiled region launches itself are the generated code's, of
 * whatever operands the region has; with no kernel seen it launches none. */
static void test_opmap__compiled_regions(void)
{
    static const char *const NAMES[] = {"CompiledFunction",
                                        "CompiledFunctionBackward",
                                        "Torch-Compiled Region: 0/0"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        build_init(&b);
        build_op(&b, 0, NAMES[i], "f32[8,4] f32[4]", NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, 2, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_COMPILED_REGION);
        CHECK_INT(n, 0);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        build_release(&b);
    }
}

/* record_param_comms carries the transfer, its neighbours none; the size is
 * the whole buffer. */
static void test_opmap__collectives(void)
{
    build_init(&b);
    build_op(&b, 0, "c10d::allgather_", "(f16[8])", NULL);
    build_op(&b, 1, "record_param_comms", "(f16[8])", NULL);
    build_op(&b, 2, "nccl:all_gather", "f16[8]", NULL);
    b.ops[1].comm = 0;
    b.comms[0] = (struct msim_comm){.in_elems = 8,
                                    .out_elems = 128,
                                    .group = 0,
                                    .collective = MSIM_COLL_ALL_GATHER,
                                    .dtype = MSIM_DT_F16};
    b.groups[0].size = 16;
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].family, MSIM_FAMILY_COLLECTIVE);
    CHECK_UINT(w[0].u.coll.bytes, 256);
    CHECK_INT(w[0].u.coll.ranks, 16);
    CHECK_INT(w[0].u.coll.nodes, 2);
    CHECK_INT(msim_opmap(&b.t, NULL, 2, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    b.comms[0].collective = MSIM_COLL_WAIT;
    CHECK_INT(msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_NO_KERNEL);
    build_release(&b);
}

/* Sizes no real tensor has: no overflow, no division by zero. */
static void test_opmap__absurd_sizes(void)
{
    static const char *const args[] = {
        "f32[0,0] f32[0,0] f32[0,0]",
        "f32[-1,4] f32[4,-9]",
        "f32[9223372036854775807,9223372036854775807] f32[1,2]",
        "f32[0,0,0,0] f32[0,0,0,0] (0 0) (0 0) (0 0) 0",
        "f32[9223372036854775807,1,1,1] f32[1,1,9223372036854775807,1] "
        "(9223372036854775807 1) (9223372036854775807 1) (1 1) 0",
        "f32[] f32[] f32[]",
        "",
        "(f32[0]) (f32[0]) 7",
    };

    for (uint32_t j = 0; j < msim_opmap_names.n; j++)
        for (size_t a = 0; a < sizeof(args) / sizeof(args[0]); a++) {
            enum msim_opmap_result r =
                map(msim_opmap_names.rows[j].name, args[a], NULL);

            CHECK(r == MSIM_OPMAP_NO_KERNEL || n <= MSIM_OPMAP_MAX);
            for (uint32_t q = 0; q < n; q++)
                CHECK(w[q].flops >= 0 && w[q].bytes_read >= 0 &&
                      w[q].bytes_written >= 0);
        }
}

int main(void)
{
    RUN(test_opmap__views_and_wrappers_launch_nothing);
    RUN(test_opmap__products);
    RUN(test_opmap__experts);
    RUN(test_opmap__transposed_factor);
    RUN(test_opmap__convolution);
    RUN(test_opmap__convolution_backward_mask);
    RUN(test_opmap__convolution_without_settings);
    RUN(test_opmap__attention);
    RUN(test_opmap__attention_inside_attention);
    RUN(test_opmap__pointwise);
    RUN(test_opmap__rows_and_columns);
    RUN(test_opmap__losses);
    RUN(test_opmap__windows);
    RUN(test_opmap__recurrent);
    RUN(test_opmap__copies);
    RUN(test_opmap__optimizer_lists);
    RUN(test_opmap__launches_that_were_seen);
    RUN(test_opmap__sizes_from_the_launch);
    RUN(test_opmap__copy_after_the_transfer);
    RUN(test_opmap__operator_inside_itself);
    RUN(test_opmap__unknown_operators);
    RUN(test_opmap__generated_kernels);
    RUN(test_opmap__compiled_regions);
    RUN(test_opmap__collectives);
    RUN(test_opmap__absurd_sizes);
    return check_summary();
}

/*
 * Matrix products: their sizes, what is read and written, which factor lies
 * turned. Sizes are small primes, so that each product tells which ones are in
 * it.
 */
#include "tests/unit/made_works.h"

/* (3 x 5)(5 x 7): 2 x 105 FLOPs, 15 and 35 numbers read and 21 written. An
 * addend of 7 is read where its factor is not 0; a batch of 2 x 11 has all of
 * it so often. */
static void test_opmap_gemm__products(void)
{
    static const struct works_row rows[] = {
        {"aten::mm", "f32[3,5] f32[5,7]", NULL, "gemm fp32 3x7x5 210/200/84"},
        {"aten::mm", "f16[3,5] f16[5,7]", "f32[3,7]",
         "gemm fp16 3x7x5 210/100/84"},
        {"aten::addmm", "f32[7] f32[3,5] f32[5,7] 1 1", NULL,
         "gemm fp32 3x7x5 210/228/84"},
        {"aten::addmm", "f32[7] f32[3,5] f32[5,7] 0 1", NULL,
         "gemm fp32 3x7x5 210/200/84"},
        {"aten::addmm", "f32[7] f32[3,5] f32[5,7] 0.5 1", NULL,
         "gemm fp32 3x7x5 210/228/84"},
        {"aten::addmm", "none f32[3,5] f32[5,7] 1 1", NULL,
         "gemm fp32 3x7x5 210/200/84"},
        {"aten::bmm", "f32[2,11,3,5] f32[2,11,5,7]", NULL,
         "gemm fp32 22*3x7x5 4620/4400/1848"},
        {"aten::mm", "f32[5] f32[5,7]", NULL, "unknown"},
        {"aten::mm", "f32[3,5] f32[5]", NULL, "unknown"},
        {"aten::mm", "f32[3,5] none", NULL, "unknown"},
        {"aten::addmv", "f32[3] f32[3,5] f32[5] 1 1", NULL,
         "gemm fp32 3x1x5 30/80/12"},
        {"aten::mv", "f32[3,5] f32[5]", NULL, "gemm fp32 3x1x5 30/80/12"},
        {"aten::mv", "f32[5] f32[5]", NULL, "unknown"},
        {"aten::dot", "f16[5] f16[5]", NULL,
         "reduction:dot fp16 1x5 along 10/20/2 kernels 2"},
        {"aten::dot", "f16[5] none", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* Two complex rows are four real ones of twice the depth; a byte of the 4-bit
 * type has two numbers of the depth, and the product is of 2 bytes. */
static void test_opmap_gemm__arithmetic(void)
{
    static const struct works_row rows[] = {
        {"aten::mm", "c64[3,5] c64[5,7]", NULL, "gemm fp32 6x7x10 840/400/168"},
        {"aten::mm", "c128[3,5] c128[5,7]", NULL,
         "gemm fp64 6x7x10 840/800/336"},
        {"aten::_scaled_mm", "f4x2[3,5] f4x2[5,7]", NULL,
         "gemm:nvfp4 fp8 3x7x10 420/50/42"},
        {"aten::_scaled_mm", "f8[3,5] f8[5,7]", "bf16[3,7]",
         "gemm fp8 3x7x5 210/50/42"},
    };

    WORKS_CHECK(rows);
}

/* (11 x 3 x 5) times the transpose of (7 x 5); of a library's function the
 * weight is the matrix whose columns another tensor has last. */
static void test_opmap_gemm__linear_layers(void)
{
    static const struct works_row rows[] = {
        {"aten::mkldnn_linear", "f32[11,3,5] f32[7,5] f32[7]", NULL,
         "gemm fp32 33x7x5 bt 2310/800/924"},
        {"aten::mkldnn_linear", "f32[5] f32[7,5]", NULL,
         "gemm fp32 1x7x5 bt 70/160/28"},
        {"aten::mkldnn_linear", "f32[] f32[7,5]", NULL, "unknown"},
        {"aten::mkldnn_linear", "f32[11,3,5] f32[5]", NULL, "unknown"},
        {"_Linear", "f32[7,5] none f32[11,3,5]", NULL,
         "gemm fp32 33x7x5 2310/800/924"},
        {"_Linear", "f32[11,3,5] f32[7] f32[7,5]", NULL,
         "gemm fp32 33x7x5 2310/800/924"},
        {"_Linear", "f32[7] f32[2,3] f32[7,5] f32[3,5]", NULL,
         "gemm fp32 3x7x5 210/200/84"},
        {"_Linear", "f32[7,5] f32[5]", NULL, "unknown"},
        {"_Linear", "f32[7,5] f32[11,3]", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* A view within 12 operators before, of the same thread, whose two last sizes
 * are the factor's turned. */
static void test_opmap_gemm__turned_factors(void)
{
    static const struct {
        const char *view, *args;
        uint32_t between;
        const char *want;
    } cases[] = {
        {"aten::t", "f32[7,5]", 11, "gemm fp32 3x7x5 bt 210/200/84"},
        {"aten::t", "f32[7,5]", 12, "gemm fp32 3x7x5 210/200/84"},
        {"aten::transpose", "f32[5,3] 0 1", 0, "gemm fp32 3x7x5 at 210/200/84"},
        {"aten::transpose", "f32[1,5,3] 0 1", 0, "gemm fp32 3x7x5 210/200/84"},
        {"aten::t", "f32[7,3]", 0, "gemm fp32 3x7x5 210/200/84"},
        {"aten::t", "f32[5,7]", 0, "gemm fp32 3x7x5 210/200/84"},
        {"aten::permute", "f32[7,5]", 0, "gemm fp32 3x7x5 210/200/84"},
    };
    static struct build b;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t op;

        build_init(&b);
        build_op(&b, 0, cases[i].view, cases[i].args, NULL);
        for (uint32_t k = 0; k < cases[i].between; k++)
            build_op(&b, 0, "aten::view", "f32[2]", NULL);
        op = build_op(&b, 0, "aten::mm", "f32[3,5] f32[5,7]", NULL);
        works_check(&b.t, op, cases[i].want);
        b.ops[op].thread = 1;
        works_check(&b.t, op, "gemm fp32 3x7x5 210/200/84");
        build_release(&b);
    }
}

/* Kernels that are named for tensor cores round fp32. */
static void test_opmap_gemm__tf32(void)
{
    static const struct {
        const char *kernel;
        bool whole; /* the trace allows it */
        const char *want;
    } cases[] = {
        {"ampere_sgemm_128x64_nn", false, "gemm fp32 3x7x5 210/200/84"},
        {"ampere_sgemm_128x64_nn", true, "gemm:tf32 fp32 3x7x5 210/200/84"},
        {"sm80_xmma_gemm_f32f32_tf32f32_f32", false,
         "gemm:tf32 fp32 3x7x5 210/200/84"},
        {"cutlass_80_tensorop_s1688gemm", false,
         "gemm:tf32 fp32 3x7x5 210/200/84"},
    };
    static struct build b;
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        b.t.tf32 = cases[i].whole;
        build_op(&b, 0, "aten::mm", "f32[3,5] f32[5,7]", NULL);
        build_kernel(&b, 0, cases[i].kernel, 1, 128);
        works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
        CHECK_STR(x.s, cases[i].want);
        build_release(&b);
    }
}

/*
 * Templates of Inductor name no operand: (3 x 5)(5 x 7) in whatever order, with
 * what is added, in front of the 3 x 7 of the result. Groups differ in size:
 * 12 rows in 4.
 */
static void test_opmap_gemm__templates(void)
{
    static const struct works_row rows[] = {
        {"triton_tem_fused_mm_0", "f32[3,5] f32[5,7] f32[3,7]", NULL,
         "gemm fp32 3x7x5 210/200/84"},
        {"triton_tem_fused_mm_0", "f32[7] f32[3,5] f32[5,7] f32[3,7] 5", NULL,
         "gemm fp32 3x7x5 210/228/84"},
        {"triton_tem_fused_addmm_0", "f32[7,5] f32[11] f32[5,3] f32[7,3] f32[]",
         NULL, "gemm fp32 7x3x5 210/244/84"},
        {"triton_tem_fused_bmm_0", "f32[2,3,5] f32[2,5,7] f32[2,3,7]", NULL,
         "gemm fp32 2*3x7x5 420/400/168"},
        {"triton_tem_fused_mm_0", "f32[3,5] f32[6,7] f32[3,7]", NULL,
         "unknown"},
        {"triton_tem_fused_mm_0", "f32[15] f32[5,7] f32[3,7]", NULL, "unknown"},
        {"triton_tem_fused_mm_0", "f32[3,5] f32[3,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[12,5] f32[4,5,7] i32[4] f32[12,7]", NULL,
         "gemm fp32 4*3x7x5 840/816/336 nearest"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[3,5] f32[4,5,7] i32[4] f32[3,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[12,5] f32[4,6,7] i32[4] f32[12,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[12,5] f32[4,5,6] i32[4] f32[12,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[2,6,5] f32[4,5,7] i32[4] f32[12,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0",
         "f32[12,5] f32[5,7] i32[4] f32[12,7]", NULL, "unknown"},
        {"triton_tem_fused__grouped_mm_0", "f32[12,1] f32[4,1,7] f32[12,7]",
         NULL, "gemm fp32 4*3x7x1 168/160/336 nearest"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_gemm__products);
    RUN(test_opmap_gemm__arithmetic);
    RUN(test_opmap_gemm__linear_layers);
    RUN(test_opmap_gemm__turned_factors);
    RUN(test_opmap_gemm__tf32);
    RUN(test_opmap_gemm__templates);
    return check_summary();
}

/*
 * Operators whose names are made while a program runs: generated kernels and
 * templates.
 */
#include "tests/unit/made_works.h"

static struct build b;

/* All tensors but the last are read, the last is written; one alone is both.
 * 4 FLOPs for each element of the largest. A reduction has as many rows as the
 * smallest has elements. */
static void test_opmap_prefix__compiled_kernels(void)
{
    static const struct works_row rows[] = {
        {"triton_poi_fused_add_0", "f32[3,5] f16[5] f32[3,5] 15", NULL,
         "pointwise:triton fp32 1x15 60/70/60"},
        {"triton_poi_fused_add_0", "f16[3,5] 15", NULL,
         "pointwise:triton fp16 1x15 60/30/30"},
        {"triton_red_fused_sum_0", "f32[3,5] f32[3] 3 5", NULL,
         "reduction:triton fp32 3x5 60/60/12"},
        {"triton_per_fused_sum_0", "f32[3,5] f32[15] f32[3] f32[15]", NULL,
         "reduction:triton fp32 3x5 60/132/60"},
        {"triton_red_fused_sum_0", "f32[3,5] f32[] 3 5", NULL,
         "reduction:triton fp32 1x15 60/60/4"},
        {"triton_poi_fused_add_0", "15", NULL, "unknown"},
        {"fbgemm::regroup_keyed_tensor", "(f16[3,5] f16[2]) i64[7]", "f16[17]",
         "pointwise:permute fp16 1x24 0/90/34"},
        {"fbgemm::regroup_keyed_tensor", "f16[3,5] (f32[2])", NULL,
         "pointwise:permute fp32 1x17 0/38/38"},
        {"fbgemm::regroup_keyed_tensor", "3", NULL, "unknown"},
        {"triton_tem_fused_0", "f32[3,5] f32[5,7] f32[3,7]", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* Early compilers record no arguments: the result was allocated just before, in
 * the same region; what is read came into the region. */
static void test_opmap_prefix__neighbours(void)
{
    static const struct {
        const char *region, *maker, *out, *want;
    } cases[] = {
        {"f32[3,5] f32[5]", "aten::empty", "f16[7]",
         "pointwise:triton fp32 1x15 60/80/14"},
        {"f32[3,5] f32[5]", "aten::empty_strided", "f16[7]",
         "pointwise:triton fp32 1x15 60/80/14"},
        {"f32[3,5] f32[5]", "aten::new_empty_strided", "f16[7]",
         "pointwise:triton fp32 1x15 60/80/14"},
        {"f32[3,5] f32[5]", "aten::relu", "f16[7]",
         "pointwise:triton fp32 1x15 60/80/60"},
        {"f32[3,5] f32[5]", "aten::empty", NULL,
         "pointwise:triton fp32 1x15 60/80/60"},
        {"", "aten::empty", "f16[7]", "pointwise:triton fp16 1x7 28/28/14"},
        {"", "aten::relu", "f16[7]", "unknown"},
    };
    struct works_text x;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t op;

        build_init(&b);
        build_op(&b, 0, "Function", cases[i].region, NULL);
        build_op(&b, 1, cases[i].maker, "", cases[i].out);
        build_op(&b, 2, "aten::empty", "", "f64[11]"); /* not of the region */
        op = build_op(&b, 1, "triton_poi_fused_0", "15", NULL);
        works_of(&x, &b.t, op, 1, MSIM_OPMAP_AS_TRACED);
        CHECK_STR(x.s, cases[i].want);
        build_release(&b);
    }
}

/* The nearest region of up to four that took tensors, below the root. */
static void test_opmap_prefix__regions(void)
{
    for (uint32_t depth = 1; depth <= 5; depth++)
        for (int root = 0; root < 2; root++) {
            struct works_text x;

            build_init(&b);
            build_op(&b, 0, "Function", "f32[3,5]", NULL);
            b.ops[0].kind = root ? MSIM_OP_ROOT : MSIM_OP_OPERATOR;
            for (uint32_t k = 1; k < depth; k++)
                build_op(&b, k, "Function", "", NULL);
            build_op(&b, depth, "triton_poi_fused_0", "15", NULL);
            works_of(&x, &b.t, depth, 1, MSIM_OPMAP_AS_TRACED);
            CHECK_STR(x.s, depth <= 4 && !root
                               ? "pointwise:triton fp32 1x15 60/60/60"
                               : "unknown");
            build_release(&b);
        }
}

/*
 * 2 x 4 x 9 x 11 by 6 x 2 x 3 x 5, result of 7 x 11: steps of 1 that reach
 * (7 - 1) + 3 - 9 = 0 over the border, and (11 - 1) + 5 - 11 = 4: half on each
 * side, rounded up.
 */
static void test_opmap_prefix__convolutions(void)
{
    static const struct works_row rows[] = {
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,2,3,5] f32[2,6,7,11]", NULL,
         "conv fp32 2,4,9,11 by 6,3,5 stride 1,1 pad 0,2 dilation 1,1 groups 2 "
         "channels_last 55440/3888/3696"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,3,5] f32[6] f32[2,6,4,5]", NULL,
         "conv fp32 2,4,9,11 by 6,3,5 stride 2,2 pad 0,1 dilation 1,1 groups 1 "
         "channels_last 28800/4608/960"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,4,4] f32[2,6,9,11]", NULL,
         "conv fp32 2,4,9,11 by 6,4,4 stride 1,1 pad 2,2 dilation 1,1 groups 1 "
         "channels_last 184320/4704/5760"},
        {"triton_tem_fused_convolution_0", "f32[2,4,9,11] f32[6,4,3,5]", NULL,
         "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,3,5] f32[3,6,4,5]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,3,5] f32[2,7,4,5]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,3,3,5] f32[2,6,4,5]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,99] f32[6,4,3,5] f32[2,6,4,5]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,15] f32[2,6,4,5]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,4,3,5] f32[2,6,20]", NULL, "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,1000000,1000000000] f32[6,4,3,5] f32[2,6,4,5]", NULL,
         "unknown"},
        {"triton_tem_fused_convolution_0",
         "f32[2,4,9,11] f32[6,0,3,5] f32[2,6,4,5]", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_prefix__compiled_kernels);
    RUN(test_opmap_prefix__neighbours);
    RUN(test_opmap_prefix__regions);
    RUN(test_opmap_prefix__convolutions);
    return check_summary();
}

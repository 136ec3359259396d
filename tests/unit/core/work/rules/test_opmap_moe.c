/*
 * Layers of experts and products of groups: what is refused, and the sizes of
 * what is not.
 */
#include "tests/unit/made_works.h"

#define GOOD "bf16[16,64] bf16[8,96,64] bf16[8,64,48] f32[16,2]"

/* 16 tokens of 64 go to 2 of 8 experts of 64 x 48, gate and input side by
 * side; all on this rank. */
static void test_opmap_moe__experts(void)
{
    static struct build b;
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n;

    build_init(&b);
    build_op(&b, 0, "vllm::inplace_fused_experts", GOOD, NULL);
    build_op(&b, 0, "vllm::inplace_fused_experts",
             "bf16[16,64] bf16[8,48,64] bf16[8,64,48] f32[16,2]", NULL);
    CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
              MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].backend, "triton");
    CHECK_INT(w[0].u.moe.hidden, 64);
    CHECK_INT(w[0].u.moe.inter, 48);
    CHECK_INT(w[0].u.moe.tp, 1);
    CHECK_INT(w[0].u.moe.routing.tokens, 16);
    CHECK_INT(w[0].u.moe.routing.topk, 2);
    CHECK_INT(w[0].u.moe.routing.experts, 8);
    CHECK_INT(w[0].u.moe.routing.ep, 1);
    CHECK(!w[0].u.moe.plain);
    CHECK_INT((int64_t)w[0].flops, 16 * 2 * 2 * 3 * 64 * 48);
    msim_opmap(&b.t, NULL, 1, -1, MSIM_OPMAP_AS_TRACED, w, &n);
    CHECK(w[0].u.moe.plain);
    build_release(&b);
}

/* Packed weights, operands that are missing or of other ranks. */
static void test_opmap_moe__refused(void)
{
    static const char *const cases[] = {
        "bf16[16,64] i8[8,96,64] bf16[8,64,48] f32[16,2]",
        "bf16[16,64] u8[8,96,64] bf16[8,64,48] f32[16,2]",
        "bf16[16,64] i32[8,96,64] bf16[8,64,48] f32[16,2]",
        "none bf16[8,96,64] bf16[8,64,48] f32[16,2]",
        "bf16[16,64] none bf16[8,64,48] f32[16,2]",
        "bf16[16,64] bf16[8,96,64] none f32[16,2]",
        "bf16[16,64] bf16[8,96,64] bf16[8,64,48] none",
        "bf16[4,4,64] bf16[8,96,64] bf16[8,64,48] f32[16,2]",
        "bf16[16,64] bf16[96,64] bf16[8,64,48] f32[16,2]",
        "bf16[16,64] bf16[8,96,64] bf16[64,48] f32[16,2]",
        "bf16[16,64] bf16[8,96,64] bf16[8,64,48] f32[16]",
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct works_row row = {"vllm::inplace_fused_experts", cases[i], NULL,
                                "unknown"};

        works_check_rows(&row, 1);
    }
}

/*
 * 4 groups cut 10 rows, columns or sums into 3 each, rounded up: a batch of
 * products. A scaled one has both scales before its offsets.
 */
static void test_opmap_moe__grouped_products(void)
{
    static const struct works_row rows[] = {
        {"aten::_grouped_mm", "bf16[10,5] bf16[4,5,7] i32[4]", NULL,
         "gemm bfloat16 4*3x7x5 840/400/168"},
        {"aten::_grouped_mm", "bf16[4,7,5] bf16[5,10] i32[4]", NULL,
         "gemm bfloat16 4*7x3x5 840/400/168"},
        {"aten::_grouped_mm", "bf16[7,10] bf16[10,5] i32[4]", NULL,
         "gemm bfloat16 4*7x5x3 840/288/280"},
        {"aten::_grouped_mm", "bf16[4,3,5] bf16[4,5,7]", NULL,
         "gemm bfloat16 4*3x7x5 840/400/168"},
        {"aten::_scaled_grouped_mm",
         "bf16[7,10] bf16[10,5] f32[7] f32[5] i32[4]", NULL,
         "gemm bfloat16 4*7x5x3 840/288/280"},
        {"aten::_scaled_grouped_mm", "bf16[7,10] bf16[10,5] f32[7] f32[5]",
         NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[7,10] bf16[10,5]", NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[7] bf16[10,5] i32[4]", NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[1,4,3,5] bf16[4,5,7]", NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[4,3,5] bf16[5]", NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[4,3,5] bf16[1,4,5,7]", NULL, "unknown"},
        {"aten::_grouped_mm", "none bf16[4,5,7]", NULL, "unknown"},
        {"aten::_grouped_mm", "bf16[4,3,5] none", NULL, "unknown"},
        {"aten::_grouped_mm", "c64[10,5] c64[4,5,7]", NULL,
         "gemm fp32 4*5x7x10 2800/1920/560"},
        {"aten::_grouped_mm", "bf16[7,10] bf16[10,5] i32[1]", NULL,
         "gemm bfloat16 7x5x10 700/240/70"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_moe__experts);
    RUN(test_opmap_moe__refused);
    RUN(test_opmap_moe__grouped_products);
    return check_summary();
}

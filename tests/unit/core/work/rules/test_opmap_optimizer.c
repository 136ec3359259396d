/*
 * Optimizer steps: what a list counts for, and how many kernels it takes.
 */
#include "tests/unit/made_works.h"

static void test_opmap_optimizer__lists(void)
{
    static const struct works_row rows[] = {
        /* 15 + 6 numbers; a factor of 1 FLOP; one list is written */
        {"aten::_foreach_mul_", "(f32[3,5] f32[6]) 2", NULL,
         "optimizer:_foreach_mul fp32 1x21 21/84/84 in_place"},
        {"aten::_foreach_add", "(f32[3,5] f32[6]) (f32[3,5] f32[6]) 1", NULL,
         "optimizer:_foreach_add fp32 1x21 21/168/84"},
        {"aten::_foreach_addcmul_",
         "(f32[3,5]) (f16[3,5]) (f32[3,5]) (f32[3,5])", NULL,
         "optimizer:_foreach_addcmul fp32 1x15 45/150/60 in_place"},
        {"aten::_fused_adam_",
         "(f32[15]) (f16[15]) (f32[15]) (f32[15]) () (f32[]) f32[] 0.9", NULL,
         "optimizer:_fused_adam_ fp32 1x15 210/210/180 in_place"},
        {"aten::_fused_adam_",
         "(f32[15]) (f16[15]) (f32[15]) (f32[15]) (f32[15]) (f32[]) 0.9", NULL,
         "optimizer:_fused_adam_ fp32 1x15 210/270/180 in_place"},
        {"aten::_foreach_norm", "(f32[3,5] f32[6]) 2", NULL,
         "optimizer:_foreach_norm fp32 1x21 42/84/0"},
        {"aten::_foreach_zero_", "(f32[3,5] f32[6])", NULL,
         "optimizer:zero fp32 1x21 0/0/84 in_place"},
        {"aten::_foreach_add", "none none", NULL, "unknown"},
        {"aten::_foreach_add", "() 2", NULL, "unknown"},
        {"aten::_foreach_add", "(3 f32[7] none) 2", NULL,
         "optimizer:_foreach_add fp32 1x7 7/28/28"},
        /* 320 blocks of 65,536 are the most of a kernel, one block more for
         * what is left */
        {"aten::_foreach_mul_", "(f32[20971519]) 2", NULL,
         "optimizer:_foreach_mul fp32 1x20971519 20971519/83886076/83886076 "
         "in_place"},
        {"aten::_foreach_mul_", "(f32[20971520]) 2", NULL,
         "optimizer:_foreach_mul fp32 1x20971520 20971520/83886080/83886080 "
         "kernels 2 in_place"},
        /* and a million kernels are the most of an operator */
        {"aten::_foreach_mul_", "(f32[20000000000000]) 2", NULL,
         "optimizer:_foreach_mul fp32 1x20000000000000 2e+13/8e+13/8e+13 "
         "kernels 953675 in_place"},
        {"aten::_foreach_mul_", "(f32[40000000000000]) 2", NULL,
         "optimizer:_foreach_mul fp32 1x40000000000000 4e+13/1.6e+14/1.6e+14 "
         "kernels 1000000 in_place"},
        {"aten::_amp_update_scale_", "f32[] i32[] f32[] 2.0 0.5 2000", NULL,
         "pointwise:amp fp32 1x1 2/12/4 in_place"},
    };

    WORKS_CHECK(rows);
}

/* 110 tensors of one list are a kernel's arguments, 64 pairs. */
static void test_opmap_optimizer__many_tensors(void)
{
    static const struct {
        uint32_t tensors, lists, kernels;
    } cases[] = {
        {110, 1, 1}, {111, 1, 2}, {64, 2, 1}, {65, 2, 2},
        {48, 3, 1},  {49, 3, 2},  {36, 4, 1}, {37, 4, 2},
    };
    static const char *const names[] = {
        "", "aten::_foreach_mul_", "aten::_foreach_add",
        "aten::_foreach_addcmul", "aten::_fused_adam_"};
    static struct build b;
    struct msim_work w[MSIM_OPMAP_MAX];
    char args[4096];
    uint32_t n;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t at = 0;

        for (uint32_t l = 0; l < cases[i].lists; l++) {
            for (uint32_t k = 0; k < cases[i].tensors; k++)
                at += (size_t)snprintf(args + at, sizeof(args) - at, "%sf32[7]",
                                       k ? " " : "(");
            at += (size_t)snprintf(args + at, sizeof(args) - at, ") ");
        }
        build_init(&b);
        build_op(&b, 0, names[cases[i].lists], args, NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_WORKS);
        CHECK_INT(w[0].kernels, cases[i].kernels);
        CHECK_INT((int64_t)w[0].bytes_read,
                  cases[i].lists * cases[i].tensors * 28);
        build_release(&b);
    }
}

/* Sizes that are not recorded: 5 blocks of 65,536 numbers, in as many lists as
 * the operator has. */
static void test_opmap_optimizer__launches(void)
{
    static struct build b;
    struct works_text x;

    build_init(&b);
    build_op(&b, 0, "aten::_fused_sgd_", "none", NULL);
    build_kernel(&b, 0, "void at::native::multi_tensor_apply_kernel<>", 5, 512);
    works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(
        x.s,
        "optimizer:_fused_sgd_ fp32 1x327680 1310720/3932160/2621440 in_place");
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "unknown");
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_optimizer__lists);
    RUN(test_opmap_optimizer__many_tensors);
    RUN(test_opmap_optimizer__launches);
    return check_summary();
}

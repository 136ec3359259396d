/*
 * Convolutions: every layout of arguments that PyTorch has, and what sizes
 * follow from where settings are not recorded.
 */
#include "tests/unit/made_works.h"

/*
 * 2 x 4 x 9 x 11 by 6 filters of 4 x 3 x 5 with stride 2,3, pad 1,2 and
 * dilation 1,2: (9 + 2 - 3) / 2 + 1 = 5 by (11 + 4 - 9) / 3 + 1 = 3 results.
 * Those are 2 x 6 x 5 x 3 = 180 of 4 x 15 products: 21600 FLOPs; 792 inputs,
 * 360 weights.
 */
static void test_opmap_conv__layouts(void)
{
    static const struct works_row rows[] = {
        {"aten::cudnn_convolution",
         "f32[2,4,9,11] f32[6,4,3,5] (1 2) (2 3) (1 2) 1 false false true",
         NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 21600/4608/720"},
        {"aten::cudnn_convolution",
         "f32[2,4,9,11] f32[6,4,3,5] (1 2) (2 3) (1 2) 1 false false false",
         NULL,
         "conv fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 groups 1 "
         "depth 1 21600/4608/720"},
        {"aten::mkldnn_convolution",
         "f32[2,4,9,11] f32[6,4,3,5] f32[6] (1 2) (2 3) (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 21600/4608/720"},
        {"aten::slow_conv_dilated2d",
         "f16[2,4,9,11] f16[6,4,3,5] (3 5) f16[6] (2 3) (1 2) (1 2)", NULL,
         "conv fp16 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 groups 1 "
         "depth 1 21600/2304/360"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[6,4,3,5] f32[6] (2 3) (1 2) (1 2) false (0 0) 1",
         NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 21600/4608/720"},
        {"aten::cudnn_convolution_relu",
         "f32[2,4,9,11] f32[6,4,3,5] f32[6] (2 3) (1 2) (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 21600/4608/720"},
        {"aten::cudnn_convolution_add_relu",
         "f32[2,4,9,11] f32[6,4,3,5] f32[2,6,5,3] 1 f32[6] (2 3) (1 2) (1 2) 1",
         NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 21600/4608/720"},
        {"aten::convolution_backward",
         "f32[2,6,5,3] f32[2,4,9,11] f32[6,4,3,5] (6) (2 3) (1 2) (1 2) false "
         "(0 0) 1 (true true false)",
         NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 data stride 2,3 pad 1,2 dilation "
         "1,2 groups 1 depth 1 21600/2160/3168; conv:tf32 fp32 2,4,9,11 by "
         "6,3,5 weight stride 2,3 pad 1,2 dilation 1,2 groups 1 depth 1 "
         "21600/3888/1440"},
        {"aten::cudnn_convolution_backward_input",
         "(2 4 9 11) f32[2,6,5,3] f32[6,4,3,5] (1 2) (2 3) (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 data stride 2,3 pad 1,2 dilation "
         "1,2 groups 1 depth 1 21600/2160/3168"},
        {"aten::cudnn_convolution_backward_weight",
         "(6 4 3 5) f32[2,6,5,3] f32[2,4,9,11] (1 2) (2 3) (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 weight stride 2,3 pad 1,2 dilation "
         "1,2 groups 1 depth 1 21600/3888/1440"},
    };

    WORKS_CHECK(rows);
}

/*
 * Transposed: 9 and 11 spread to 8 x 2 - 2 + 3 + 1 = 18 by
 * 10 x 3 - 4 + 9 + 2 = 37, 2 x 6 x 666 results of 4 bytes; each of 792 inputs
 * goes to 6 x 15 of them.
 */
static void test_opmap_conv__transposed(void)
{
    static const struct works_row rows[] = {
        {"aten::cudnn_convolution_transpose",
         "f32[2,4,9,11] f32[4,6,3,5] (1 2) (1 2) (2 3) (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 transposed 142560/4608/31968"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[4,6,3,5] none (2 3) (1 2) (1 2) true (1 2) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 transposed 142560/4608/31968"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[4,3,3,5] none (2 3) (1 2) (1 2) true (1 2) 2", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 2 depth 1 transposed 71280/3888/31968"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[4,6,3,5] none (2 3) (1 2) (1 2) true (1 2) none",
         NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 1 transposed 142560/4608/31968"},
    };

    WORKS_CHECK(rows);
}

/* One spatial size is the width; of three the first folds: places of the result
 * into the batch, taps into the channels. One number stands for all. */
static void test_opmap_conv__dimensions(void)
{
    static const struct works_row rows[] = {
        {"aten::convolution",
         "f32[2,4,9] f32[6,4,3] none (2) (1) (1) false (0) 1", NULL,
         "conv:tf32 fp32 2,4,1,9 by 6,1,3 stride 1,2 pad 0,1 dilation 1,1 "
         "groups 1 depth 1 1440/576/240"},
        {"aten::convolution",
         "f32[2,4,7,9,11] f32[6,4,2,3,5] none (1 2 3) (0 1 2) (1 1 2) false "
         "(0 0 0) 1",
         NULL,
         "conv:tf32 fp32 12,8,9,11 by 6,3,5 stride 2,3 pad 1,2 dilation 1,2 "
         "groups 1 depth 2 deep 259200/25056/4320"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[6,4,3,3] none (2) (1) (1) false (0) 1", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,3 stride 2,2 pad 1,1 dilation 1,1 "
         "groups 1 depth 1 25920/4032/1440"},
        /* groups by the sizes: 4 channels of which a filter has 2 */
        {"aten::convolution",
         "f32[2,4,9,11] f32[6,2,3,3] none (2) (1) (1) false (0) none", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,3 stride 2,2 pad 1,1 dilation 1,1 "
         "groups 2 depth 1 12960/3600/1440"},
        {"aten::convolution",
         "f32[2,4,9,11] f32[6,2,3,3] none (2) (1) (1) false (0) 0", NULL,
         "conv:tf32 fp32 2,4,9,11 by 6,3,3 stride 2,2 pad 1,1 dilation 1,1 "
         "groups 1 depth 1 25920/3600/1440"},
        {"aten::convolution", "f32[2,4,9,11] f32[6,4,3] none", NULL, "unknown"},
        {"aten::convolution", "f32[2,4] f32[6,4] none", NULL, "unknown"},
        {"aten::convolution",
         "f32[2,4,1,1,1,1] f32[6,4,1,1,1,1] none (1) (0) (1)", NULL, "unknown"},
        {"aten::cudnn_convolution_backward_input",
         "(2 4) f32[2,6,5] f32[6,4,3]", NULL, "unknown"},
        /* no result is smaller than one place, no step shorter than one */
        {"aten::convolution",
         "f32[2,4,2] f32[6,4,5] none (1) (0) (1) false (0) 1", NULL,
         "conv:tf32 fp32 2,4,1,2 by 6,1,5 stride 1,1 pad 0,0 dilation 1,1 "
         "groups 1 depth 1 480/544/48"},
        {"aten::convolution",
         "f32[2,4,9] f32[6,4,3] none (0) (1) (1) false (0) 1", NULL,
         "conv:tf32 fp32 2,4,1,9 by 6,1,3 stride 1,0 pad 0,1 dilation 1,1 "
         "groups 1 depth 1 2592/576/432"},
    };

    WORKS_CHECK(rows);
}

/*
 * Without settings the result tells them: of 9 places 5 are made by steps of
 * ceil(9 / 5) = 2, and 3 taps then reach (4 x 2 + 3 - 9) / 2 = 1 over the
 * border. Without one, the next tensor of the right batch and channels within
 * 32 operators is taken, or the input's size.
 */
static void test_opmap_conv__settings_that_are_not_recorded(void)
{
    static const struct works_row rows[] = {
        {"aten::cudnn_convolution", "f32[2,4,9,9] f32[6,4,3,3]", "f32[2,6,5,5]",
         "conv:tf32 fp32 2,4,9,9 by 6,3,3 stride 2,2 pad 1,1 dilation 1,1 "
         "groups 1 depth 1 21600/3456/1200"},
        {"aten::cudnn_convolution", "f32[2,4,9,9] f32[6,4,3,3]", "f32[2,6,7,7]",
         "conv:tf32 fp32 2,4,9,9 by 6,3,3 stride 2,2 pad 3,3 dilation 1,1 "
         "groups 1 depth 1 42336/3456/2352"},
        {"aten::cudnn_convolution", "f32[2,4,9,9] f32[6,4,4,4]", "f32[2,6,9,9]",
         "conv:tf32 fp32 2,4,9,9 by 6,4,4 stride 1,1 pad 2,2 dilation 1,1 "
         "groups 1 depth 1 124416/4128/3888"},
        {"aten::cudnn_convolution", "f32[2,4,9,9] f32[6,4,5,3]", NULL,
         "conv:tf32 fp32 2,4,9,9 by 6,5,3 stride 1,1 pad 2,1 dilation 1,1 "
         "groups 1 depth 1 116640/4032/3888"},
        {"aten::cudnn_convolution", "f32[2,4,1,9] f32[6,4,3,3]", "f32[2,6,1,9]",
         "conv:tf32 fp32 2,4,1,9 by 6,3,3 stride 1,1 pad 1,1 dilation 1,1 "
         "groups 1 depth 1 7776/1152/432"},
        {"aten::convolution_backward", "f32[2,6,5,5] f32[2,4,9,9] f32[6,4,3,3]",
         NULL,
         "conv:tf32 fp32 2,4,9,9 by 6,3,3 data stride 2,2 pad 1,1 dilation 1,1 "
         "groups 1 depth 1 21600/2064/2592; conv:tf32 fp32 2,4,9,9 by 6,3,3 "
         "weight stride 2,2 pad 1,1 dilation 1,1 groups 1 depth 1 "
         "21600/3792/864"},
    };
    static const struct {
        const char *later;
        uint32_t between;
        bool taken;
    } cases[] = {
        {"f32[2,6,5,5]", 0, true},   {"f32[2,6,5,5]", 31, true},
        {"f32[2,6,5,5]", 32, false}, {"f32[3,6,5,5]", 0, false},
        {"f32[2,7,5,5]", 0, false},  {"f32[2,6,5]", 0, false},
        {"f32[2,6,15,5]", 0, true},  {"f32[2,6,16,5]", 0, false},
    };
    static struct build b;
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n;

    WORKS_CHECK(rows);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        build_init(&b);
        build_op(&b, 0, "aten::cudnn_convolution", "f32[2,4,9,9] f32[6,4,3,3]",
                 NULL);
        for (uint32_t k = 0; k < cases[i].between; k++)
            build_op(&b, 0, "aten::view", "f32[2]", NULL);
        build_op(&b, 0, "aten::relu", cases[i].later, NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, 0, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_WORKS);
        if (!CHECK_INT(w[0].u.conv.stride_w == 2, cases[i].taken))
            fprintf(stderr, "  %s\n", cases[i].later);
        build_release(&b);
    }
}

/* Sizes that the operator has not are those of the one around it, or of the one
 * around that: (input, gradient, weight). */
static void test_opmap_conv__sizes_of_the_parent(void)
{
    static struct build b;
    static const char *const want[] = {
        "conv:tf32 fp32 2,4,1,9 by 6,1,3 data stride 1,1 pad 0,1 dilation 1,1 "
        "groups 1 depth 1 2592/720/288",
        "conv:tf32 fp32 2,4,1,9 by 6,1,3 data stride 1,1 pad 0,1 dilation 1,1 "
        "groups 1 depth 1 2592/720/288",
        "unknown"};

    for (uint32_t depth = 1; depth <= 3; depth++) {
        build_init(&b);
        build_op(&b, 0, "aten::cudnn_convolution_backward",
                 "f32[2,4,9] f32[2,6,9] f32[6,4,3]", NULL);
        for (uint32_t k = 1; k <= depth; k++)
            build_op(&b, k, "aten::cudnn_convolution_backward_input",
                     "none f32[2,6,9] none (1) (1) (1) 1", NULL);
        works_check(&b.t, depth, want[depth - 1]);
        build_release(&b);
    }
}

/* Those of more than three dimensions are no convolution's. */
static void test_opmap_conv__sizes_of_another_parent(void)
{
    static struct build b;

    build_init(&b);
    build_op(&b, 0, "Node", "f32[2,4,1,1,1,9] none f32[6,4,1,1,1,3]", NULL);
    build_op(&b, 1, "aten::cudnn_convolution_backward_input",
             "none f32[2,6,9] none (1) (1) (1) 1", NULL);
    works_check(&b.t, 1, "unknown");
    build_release(&b);
}

/* What only one of both tells, or the place where it runs. */
static void test_opmap_conv__places(void)
{
    static const char args[] =
        "f32[2,4,9] f32[6,4,3] f32[6] (1) (1) (1) false (0) 1";
    static struct build b;
    struct works_text x;

    build_init(&b);
    build_op(&b, 0, "aten::convolution", args, NULL);
    build_op(&b, 0, "aten::convolution_backward",
             "f32[2,6,9] f32[2,4,9] f32[6,4,3] (6) (1) (1) (1) false (0) 1 "
             "(true false true)",
             NULL);
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_ON_GPU);
    CHECK_STR(
        x.s,
        "conv:tf32 fp32 2,4,1,9 by 6,1,3 stride 1,1 pad 0,1 dilation 1,1 "
        "groups 1 depth 1 2592/576/432; pointwise:add fp32 1x108 108/432/432");
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_ON_CPU);
    CHECK_STR(x.s, "conv fp32 2,4,1,9 by 6,1,3 stride 1,1 pad 0,1 dilation 1,1 "
                   "groups 1 depth 1 2592/576/432");
    works_of(&x, &b.t, 1, -1, MSIM_OPMAP_ON_GPU);
    CHECK_STR(x.s, "conv:tf32 fp32 2,4,1,9 by 6,1,3 data stride 1,1 pad 0,1 "
                   "dilation 1,1 groups 1 depth 1 2592/720/288; reduction:sum "
                   "fp32 6x18 along 108/432/24");
    works_of(&x, &b.t, 1, -1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "conv:tf32 fp32 2,4,1,9 by 6,1,3 data stride 1,1 pad 0,1 "
                   "dilation 1,1 groups 1 depth 1 2592/720/288");
    for (int k = 0; k < 2; k++) {
        b.args[0].layout = k == 0 ? MSIM_LAYOUT_TURNED : MSIM_LAYOUT_PLAIN;
        b.args[1].layout = k == 1 ? MSIM_LAYOUT_TURNED : MSIM_LAYOUT_PLAIN;
        works_of(&x, &b.t, 0, -1, MSIM_OPMAP_AS_TRACED);
        CHECK(strstr(x.s, "channels_last"));
    }
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_conv__layouts);
    RUN(test_opmap_conv__transposed);
    RUN(test_opmap_conv__dimensions);
    RUN(test_opmap_conv__settings_that_are_not_recorded);
    RUN(test_opmap_conv__sizes_of_the_parent);
    RUN(test_opmap_conv__sizes_of_another_parent);
    RUN(test_opmap_conv__places);
    return check_summary();
}

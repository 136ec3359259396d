/*
 * Normalisations: which elements share a mean, how often all are read, and what
 * is a kernel of its own.
 */
#include "tests/unit/made_works.h"

/* 2 x 3 x 4 numbers of 4 bytes are 96. Forward makes 8 FLOPs each and reads
 * them once; backward makes 12, reads two and sums weights in a second
 * kernel. */
static void test_opmap_norm__rows_of_layers(void)
{
    static const struct works_row rows[] = {
        {"aten::native_layer_norm", "f32[2,3,4] (4) f32[4] f32[4]", NULL,
         "norm:layer_norm fp32 6x4 192/96/96"},
        {"aten::native_layer_norm", "f32[2,3,4] (3 4) f32[3,4]", NULL,
         "norm:layer_norm fp32 2x12 192/96/96"},
        {"aten::native_layer_norm", "f32[2,3,4] () f32[3,4]", NULL,
         "norm:layer_norm fp32 2x12 192/96/96"},
        {"aten::native_layer_norm", "f32[2,3,4] () none", NULL,
         "norm:layer_norm fp32 6x4 192/96/96"},
        {"aten::native_layer_norm_backward",
         "f32[2,3,4] f32[2,3,4] (4) f32[2,3] f32[2,3] f32[4]", NULL,
         "norm:layer_norm_backward fp32 6x4 288/192/96 kernels 2"},
        {"aten::native_layer_norm_backward",
         "f32[2,3,4] f32[2,3,4] () f32[2] f32[2] f32[3,4]", NULL,
         "norm:layer_norm_backward fp32 2x12 288/192/96 kernels 2"},
        {"aten::native_layer_norm_backward",
         "f32[2,3,4] f32[2,3,4] (3 4) f32[2] f32[2] none", NULL,
         "norm:layer_norm_backward fp32 2x12 288/192/96 kernels 2"},
        {"FastLayerNormFN", "f32[2,3,4] f32[12]", NULL,
         "norm:layer_norm fp32 2x12 192/96/96"},
        {"FastLayerNormFN", "f32[2,3,4] f32[3,4]", NULL,
         "norm:layer_norm fp32 6x4 192/96/96"},
        {"_C::rms_norm", "f32[9] f16[2,3,4] f16[4]", NULL,
         "norm:rms_norm fp16 6x4 192/48/48"},
        {"_C::fused_add_rms_norm", "f16[2,3,4] f16[2,3,4] f16[4]", NULL,
         "norm:rms_norm fp16 6x4 192/96/48"},
        /* 8 dimensions are the most that a shape has here */
        {"aten::native_layer_norm", "f32[1,2,1,2,1,2,1,3] (2 1 2 1 2 1 3)",
         NULL, "norm:layer_norm fp32 1x24 192/96/96"},
        {"aten::native_layer_norm", "f32[1,2,1,2,1,2,1,3] (1 2 1 2 1 2 1 3)",
         NULL, "norm:layer_norm fp32 1x24 192/96/96"},
    };

    WORKS_CHECK(rows);
}

/* 2 x 6 x 5 in 3 groups: each of 2 x 3 has 10. Gradients are first summed for
 * each of 2 x 6 channels. */
static void test_opmap_norm__groups(void)
{
    static const struct works_row rows[] = {
        {"aten::native_group_norm", "f32[2,6,5] f32[6] f32[6] 2 6 5 3 0.1",
         NULL, "norm:group_norm fp32 6x10 480/240/240"},
        {"aten::native_group_norm", "f32[2,6,5] f32[6] f32[6] 2 6 5 1 0.1",
         NULL, "norm:group_norm fp32 2x30 480/240/240"},
        {"aten::native_group_norm", "f32[2,6,5] f32[6] f32[6] 2 6 5 0 0.1",
         NULL, "norm:group_norm fp32 12x5 480/240/240"},
        {"aten::native_group_norm", "f32[1,6,5] f32[6] f32[6] 1 6 5 3 0.1",
         NULL, "norm:group_norm fp32 3x10 240/120/120"},
        {"aten::native_group_norm_backward", "f32[1,1,5] f32[1,1,5]", NULL,
         "norm:group_norm_backward fp32 1x5 60/40/20 kernels 2"},
        {"aten::native_group_norm_backward",
         "f32[2,6,5] f32[2,6,5] f32[2,3] f32[2,3]", NULL,
         "norm:group_norm_backward fp32 12x5 720/480/240 kernels 2"},
    };

    WORKS_CHECK(rows);
}

/* 3 channels of 2 x 4 x 5, that lie along memory; a vector is one of each. In
 * evaluation no moments are made; a gradient is that of training. */
static void test_opmap_norm__channels(void)
{
    static const struct works_row rows[] = {
        {"aten::cudnn_batch_norm", "f32[2,3,4,5] f32[3]", NULL,
         "norm:batch_norm fp32 3x40 along 960/480/480"},
        {"aten::native_batch_norm",
         "f32[2,3,4,5] f32[3] f32[3] f32[3] f32[3] false", NULL,
         "norm:batch_norm_elemt fp32 3x40 along 960/480/480"},
        {"aten::native_batch_norm",
         "f32[2,3,4,5] f32[3] f32[3] f32[3] f32[3] true", NULL,
         "norm:batch_norm fp32 3x40 along 960/480/480"},
        {"aten::native_batch_norm_backward",
         "f32[2,3,4,5] f32[2,3,4,5] f32[3] f32[3] f32[3] false", NULL,
         "norm:batch_norm_backward fp32 3x40 along 1440/960/480"},
        {"aten::cudnn_batch_norm", "f32[6] f32[6]", NULL,
         "norm:batch_norm fp32 6x1 along 48/24/24"},
        {"aten::cudnn_batch_norm", "f32[6,5] f32[5]", NULL,
         "norm:batch_norm fp32 5x6 along 240/120/120"},
        {"aten::batch_norm_stats", "f16[2,3,4,5]", NULL,
         "norm:batch_norm_stats fp16 3x40 along 480/240/24"},
        {"aten::_weight_norm_interface", "f32[6,5] f32[6,1]", NULL,
         "norm:weight_norm fp32 6x5 240/120/120"},
        {"aten::_weight_norm_interface_backward", "f32[6,5] f32[6,5] f32[6,1]",
         NULL, "norm:weight_norm_backward fp32 6x5 360/240/120 kernels 2"},
    };
    static struct build b;

    WORKS_CHECK(rows);
    build_init(&b);
    build_op(&b, 0, "aten::cudnn_batch_norm", "f32[2,3,4,5] f32[3]", NULL);
    b.args[0].layout = MSIM_LAYOUT_TURNED;
    works_check(&b.t, 0, "norm:batch_norm fp32 3x40 across 960/480/480");
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_norm__rows_of_layers);
    RUN(test_opmap_norm__groups);
    RUN(test_opmap_norm__channels);
    return check_summary();
}

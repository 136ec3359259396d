/*
 * Pooling, interpolation, padding and Fourier transforms: how many results
 * there are, and what each takes.
 */
#include "tests/unit/made_works.h"

/*
 * 2 x 3 x 9 x 11 (594 numbers). Windows of 3 x 4 with steps of 2 x 3 and
 * borders of 1 x 2 are (9 + 2 - 3) / 2 + 1 = 5 by (11 + 4 - 4) / 3 + 1 = 4: 120
 * results of 12 inputs each. Without windows a side is halved.
 */
static void test_opmap_resample__pooling(void)
{
    static const struct works_row rows[] = {
        {"aten::avg_pool2d", "f32[2,3,9,11] (3 4) (2 3) (1 2) false true", NULL,
         "pointwise:avg_pool2d fp32 1x594 taps 1440 2376/2376/480"},
        {"aten::avg_pool2d", "f32[2,3,9,11] (3 4) (2 3) (1 2) false true",
         "f32[2,3,6,5]",
         "pointwise:avg_pool2d fp32 1x594 taps 2160 2376/2376/720"},
        {"aten::avg_pool2d", "f32[2,3,9,11] (3) (2) (1)", NULL,
         "pointwise:avg_pool2d fp32 1x594 taps 1620 2376/2376/720"},
        {"aten::avg_pool2d", "f32[2,3,9,11] (3 4) () (1 2)", NULL,
         "pointwise:avg_pool2d fp32 1x594 taps 648 2376/2376/216"},
        {"aten::avg_pool2d", "f32[2,3,9,11] none none none", NULL,
         "pointwise:avg_pool2d fp32 1x594 taps 120 2376/2376/480"},
        {"aten::avg_pool2d", "f32[2,3,9,11] (3 4) (0 0) (0 0)", NULL,
         "pointwise:avg_pool2d fp32 1x594 taps 7128 2376/2376/2376"},
        {"aten::avg_pool3d", "f32[2,3,4,9,11] (2 3 4) (1 2 3) (0 1 2)", NULL,
         "pointwise:avg_pool3d fp32 1x2376 taps 8640 19008/9504/1440"},
        /* three sizes are pooled at most: 1 x 2 x 4 of 3 x 4 x 9 */
        {"aten::avg_pool3d", "f32[1,2,3,4,9,11] (2)", NULL,
         "pointwise:avg_pool3d fp32 1x2376 taps 1408 19008/9504/704"},
        {"aten::max_pool2d_with_indices", "f16[2,3,9,11] (3 4) (2 3) (1 2)",
         NULL,
         "pointwise:max_pool2d_with_indices fp16 1x594 taps 1440 "
         "2376/1188/1200"},
        {"aten::max_pool1d", "f16[2,3,9] (3) (2) (1)", NULL,
         "pointwise:max_pool2d_with_indices fp16 1x54 taps 90 216/108/300"},
        {"aten::avg_pool2d", "f32[3,9] (3 4)", NULL,
         "pointwise:avg_pool2d fp32 1x27 taps 27 108/108/108"},
        {"aten::max_pool2d_with_indices_backward",
         "f16[2,3,5,4] f16[2,3,9,11] (3 4) (2 3) (1 2)", NULL,
         "pointwise:max_pool2d_with_indices_backward fp16 1x594 taps 1440 "
         "594/1200/1188"},
        {"aten::max_pool2d_with_indices_backward", "f16[2,3,5,4] f16[2,3,9,11]",
         NULL,
         "pointwise:max_pool2d_with_indices_backward fp16 1x594 594/1200/1188"},
        {"aten::avg_pool2d_backward",
         "f16[2,3,5,4] f16[2,3,9,11] (3 4) (2 3) (1 2)", NULL,
         "pointwise:avg_pool2d_backward fp16 1x594 2376/240/1188"},
        {"aten::avg_pool2d_backward", "f16[2,3,5,4]", NULL,
         "pointwise:avg_pool2d_backward fp16 1x120 480/240/240"},
        {"aten::fractional_max_pool2d", "f32[2,3,9,11] (2 3) (4 5) f32[2,3,2]",
         NULL,
         "pointwise:fractional_max_pool2d fp32 1x594 taps 720 2376/2376/1440"},
        {"aten::max_unpool2d", "f32[2,3,5,4] i64[2,3,5,4] (9 11)", NULL,
         "pointwise:max_unpool2d fp32 1x594 594/1440/2376"},
        {"aten::avg_pool2d", "none (3 4)", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* The last sizes become 5 x 7, of which 2 x 3 maps have 210 numbers. A thread
 * goes through those maps where they are not the last in memory. */
static void test_opmap_resample__sizes(void)
{
    static const struct works_row rows[] = {
        {"aten::upsample_nearest2d", "f32[2,3,9,11] (5 7)", NULL,
         "pointwise:upsample_nearest2d fp32 1x594 594/2376/840"},
        {"aten::upsample_nearest2d", "f32[2,3,2,2] (5 7)", NULL,
         "pointwise:upsample_nearest2d fp32 1x210 210/96/840"},
        {"aten::upsample_bilinear2d", "f32[2,3,2,2] (5 7) false", NULL,
         "pointwise:upsample_bilinear2d fp32 1x210 turns 6 threads 35 "
         "2520/96/840"},
        {"aten::upsample_nearest2d", "f32[2,3,9,11] none", NULL,
         "pointwise:upsample_nearest2d fp32 1x594 594/2376/2376"},
        {"aten::upsample_nearest2d", "f32[5] (5 7)", NULL,
         "pointwise:upsample_nearest2d fp32 1x5 5/20/20"},
        {"aten::upsample_nearest2d", "f32[3,9] (5 7)", NULL,
         "pointwise:upsample_nearest2d fp32 1x35 35/108/140"},
        {"aten::upsample_bilinear2d_backward",
         "f32[2,3,5,7] (5 7) (2 3 9 11) false", NULL,
         "pointwise:upsample_bilinear2d_backward fp32 1x594 7128/840/2376"},
        {"aten::upsample_bilinear2d_backward", "f32[2,3,5,7] (5 7)", NULL,
         "pointwise:upsample_bilinear2d_backward fp32 1x210 2520/840/840"},
        {"aten::_adaptive_avg_pool2d", "f32[2,3,9,11] (5 7)", NULL,
         "pointwise:_adaptive_avg_pool2d fp32 1x594 taps 594 594/2376/840"},
        {"aten::grid_sampler_2d", "f32[2,3,9,11] f32[2,5,7,2] 0 0 false", NULL,
         "pointwise:grid_sampler_2d fp32 1x594 taps 840 7128/2376/840"},
        {"aten::grid_sampler_3d", "f32[2,3,4,9,11] f32[2,4,5,7,3] 0 0 false",
         NULL,
         "pointwise:grid_sampler_3d fp32 1x2376 taps 6720 57024/9504/3360"},
        {"aten::grid_sampler_2d", "f32[2,3,9,11]", NULL,
         "pointwise:grid_sampler_2d fp32 1x594 taps 2376 7128/2376/2376"},
        {"aten::im2col", "f32[2,3,9,11] (3 4) (1 1) (0 0) (1 1)", NULL,
         "pointwise:im2col fp32 1x7128 taps 7128 7128/2376/28512"},
        {"aten::col2im", "f32[2,36,35] (9 11) (3 4)", NULL,
         "pointwise:col2im fp32 1x2520 taps 2520 2520/10080/792"},
    };
    static struct build b;

    WORKS_CHECK(rows);
    build_init(&b);
    build_op(&b, 0, "aten::upsample_bilinear2d", "f32[2,3,2,2] (5 7) false",
             NULL);
    b.args[0].layout = MSIM_LAYOUT_TURNED;
    works_check(&b.t, 0,
                "pointwise:upsample_bilinear2d fp32 1x210 2520/96/840");
    build_release(&b);
}

/* Borders are two numbers a dimension, the last one's first. */
static void test_opmap_resample__padding(void)
{
    static const struct works_row rows[] = {
        {"aten::reflection_pad1d", "f32[2,3,11] (1 2)", NULL,
         "pointwise:reflection_pad1d fp32 1x84 84/264/336"},
        {"aten::reflection_pad2d", "f32[2,3,9,11] (1 2 3 4)", NULL,
         "pointwise:reflection_pad2d fp32 1x1344 1344/2376/5376"},
        {"aten::reflection_pad3d", "f32[2,3,5,9,11] (1 2 3 4 5 6)", NULL,
         "pointwise:reflection_pad3d fp32 1x21504 21504/11880/86016"},
        {"aten::reflection_pad2d", "f32[2,3,9,11] none", NULL,
         "pointwise:reflection_pad2d fp32 1x594 594/2376/2376"},
        {"aten::reflection_pad1d_backward", "f32[2,3,14] f32[2,3,11] (1 2)",
         NULL, "pointwise:reflection_pad1d_backward fp32 1x84 84/336/264"},
    };

    WORKS_CHECK(rows);
}

/*
 * 5 n log2(n) FLOPs of n = 3 x 1024: steps of 10. A kernel transforms up to
 * FFT_LENGTH numbers; real ones are half as long in one of both.
 */
static void test_opmap_resample__fourier(void)
{
    static const struct works_row rows[] = {
        {"aten::_fft_c2c", "c64[3,1024] (1) 0 true", "c64[3,1024]",
         "pointwise:fft fp32 1x3072 153600/24576/24576"},
        {"aten::_fft_c2c", "c64[3,1024] (-1) 0 true", NULL,
         "pointwise:fft fp32 1x3072 153600/24576/24576"},
        {"aten::_fft_c2c", "c64[64,1024] (0 1) 0 true", NULL,
         "pointwise:fft fp32 1x65536 5242880/1048576/1048576 kernels 2"},
        {"aten::_fft_r2c", "f32[3,1024] (1) 0 true", "c64[3,513]",
         "pointwise:fft fp32 1x3072 153600/12288/12312"},
        {"aten::_fft_c2r", "c64[3,513] (1) 0 1024", "f32[3,1024]",
         "pointwise:fft fp32 1x3072 153600/12312/12288"},
        {"aten::_fft_c2c", "c64[3,1] (1) 0 true", NULL,
         "pointwise:fft fp32 1x3 15/24/24"},
        {"aten::_fft_c2c", "c64[3,65536] (1) 0 true", NULL,
         "pointwise:fft fp32 1x196608 15728640/3145728/3145728 kernels 2"},
        {"aten::_fft_c2c", "c64[3,1024] () 0 true", NULL, "unknown"},
        {"aten::_fft_c2c", "none (1) 0 true", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

int main(void)
{
    RUN(test_opmap_resample__pooling);
    RUN(test_opmap_resample__sizes);
    RUN(test_opmap_resample__padding);
    RUN(test_opmap_resample__fourier);
    return check_summary();
}

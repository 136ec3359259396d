/*
 * Reductions, softmax, scans, sorts and searches: what is a row, and what lies
 * side by side in it.
 */
#include "tests/unit/made_works.h"

/* 3 x 5 x 7 numbers, 420 bytes. */
static void test_opmap_reduction__dimensions(void)
{
    static const struct works_row rows[] = {
        {"aten::sum", "f32[3,5,7] (2)", NULL,
         "reduction:sum fp32 15x7 along 105/420/60"},
        {"aten::sum", "f32[3,5,7] (-1 0)", NULL,
         "reduction:sum fp32 5x21 along 105/420/20"},
        {"aten::sum", "f32[3,5,7] (0)", NULL,
         "reduction:sum fp32 35x3 across 105/420/140"},
        {"aten::sum", "f32[3,5,7] 1", NULL,
         "reduction:sum fp32 21x5 across 105/420/84"},
        {"aten::sum", "f32[3,5,7] ()", NULL,
         "reduction:sum fp32 1x105 along 105/420/4"},
        {"aten::sum", "f32[3,5,7] none", NULL,
         "reduction:sum fp32 1x105 along 105/420/4"},
        {"aten::sum", "f32[3,5,7] (-3)", NULL,
         "reduction:sum fp32 35x3 across 105/420/140"},
        {"aten::sum", "f32[3,5,7] (-4)", NULL,
         "reduction:sum fp32 105x1 across 105/420/420"},
        {"aten::sum", "f32[3,5,7] (3)", NULL,
         "reduction:sum fp32 105x1 across 105/420/420"},
        {"aten::sum", "f32[3,5,1] (1)", NULL,
         "reduction:sum fp32 3x5 along 15/60/12"},
        {"aten::sum", "f32[1,1] (0)", NULL,
         "reduction:sum fp32 1x1 along 1/4/4"},
        {"aten::sum", "f32[3,5,7] (2) false none", "f16[3,5]",
         "reduction:sum fp32 15x7 along 105/420/30"},
        {"aten::any", "f32[3,5,7] (2)", NULL,
         "reduction:any fp32 15x7 along 105/420/15"},
        {"aten::max", "f32[3,5,7] (2)", NULL,
         "reduction:max fp32 15x7 along 105/420/180"},
        {"aten::max", "f32[3,5,7]", NULL,
         "reduction:max fp32 1x105 along 105/420/4"},
        {"aten::linalg_vector_norm", "f32[3,5,7] 2 (0)", NULL,
         "reduction:norm fp32 35x3 across 210/420/140"},
        {"aten::sum", "none (2)", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

static void test_opmap_reduction__softmax(void)
{
    static const struct works_row rows[] = {
        {"aten::_softmax", "f32[3,5,7] 1 false", NULL,
         "softmax:softmax fp32 21x5 across 840/420/420"},
        {"aten::_softmax", "f32[3,5,7]", NULL,
         "softmax:softmax fp32 15x7 along 840/420/420"},
        {"aten::_softmax", "f16[3,5,7] 2 true", "f32[3,5,7]",
         "softmax:softmax fp16 15x7 along 840/210/420"},
        {"aten::_softmax", "f32[] 0 false", NULL,
         "softmax:softmax fp32 1x1 along 8/4/4"},
        {"aten::_softmax_backward_data", "f32[3,5,7] f16[3,5,7] 0", NULL,
         "softmax:softmax_backward fp32 35x3 across 420/630/420"},
        {"aten::_softmax_backward_data", "f32[3,5,7] none -1", NULL,
         "softmax:softmax_backward fp32 15x7 along 420/840/420"},
        {"aten::_softmax", "none 1", NULL, "unknown"},
        {"ScaledMaskedSoftmax", "f16[3,5,7] bool[5,7]", NULL,
         "softmax:softmax fp16 15x7 630/245/210"},
        {"ScaledMaskedSoftmaxBackward", "f16[3,5,7] f16[3,5,7]", NULL,
         "softmax:softmax_backward fp16 15x7 525/420/210"},
        {"ScaledUpperTriangMaskedSoftmax", "f16[3,7,7] f16[7]", NULL,
         "softmax:softmax fp16 21x7 882/147/294"},
        {"ScaledUpperTriangMaskedSoftmaxBackward", "f16[3,7,7]", NULL,
         "softmax:softmax_backward fp16 21x7 735/294/294"},
        {"ScaledMaskedSoftmax", "none 1", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

static void test_opmap_reduction__scans(void)
{
    static const struct works_row rows[] = {
        {"aten::cumsum", "f32[3,5,7] 2 none", NULL,
         "reduction:cumsum fp32 15x7 105/420/420"},
        {"aten::cumsum", "f32[3,5,7]", NULL,
         "reduction:cumsum fp32 15x7 105/420/420"},
        {"aten::cumsum", "f32[3,5,7] 1 none", NULL,
         "reduction:cumsum fp32 21x5 across turns 5 threads 21 105/420/420"},
        {"aten::cumsum", "i32[105] 0 none", "i64[105]",
         "reduction:cumsum int32 1x105 105/420/840 kernels 2"},
        {"aten::cumsum", "f32[] 0 none", NULL,
         "reduction:cumsum fp32 1x1 1/4/4 kernels 2"},
        {"aten::cumsum", "none 0", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* Places are 8 bytes. Rows of at most 4096 are sorted in blocks, behind two
 * copies; longer ones in a pass for each byte of the key. */
static void test_opmap_reduction__sorts(void)
{
    static const struct works_row rows[] = {
        {"aten::sort", "f32[3,5,7] 2 false", NULL,
         "reduction:sort_in_block fp32 15x7 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[3,5,7] 1 false", NULL,
         "reduction:sort_in_block fp32 21x5 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[3,5,7] true 0 false", NULL,
         "reduction:sort_in_block fp32 35x3 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[3,5,7] 3 false", NULL,
         "reduction:sort_in_block fp32 15x7 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[3,5,7] -3 false", NULL,
         "reduction:sort_in_block fp32 35x3 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[3,5,7] -4 false", NULL,
         "reduction:sort_in_block fp32 15x7 420/1680/2520 kernels 3"},
        {"aten::sort", "f32[2,4096] -1 false", NULL,
         "reduction:sort_in_block fp32 2x4096 32768/131072/196608 kernels 3"},
        {"aten::sort", "f32[2,4097] -1 false", NULL,
         "reduction:sort fp32 2x4097 32776/393312/393312 kernels 5"},
        {"aten::sort", "i64[2,5000] -1 false", NULL,
         "reduction:sort int64 2x5000 80000/1280000/1280000 kernels 9"},
        {"aten::topk", "f16[3,5] 2 -1 true true", NULL,
         "reduction:topk fp16 3x5 30/60/0 kernels 2"},
        {"aten::mode", "f32[3,5] -1 false", NULL,
         "reduction:sort fp32 3x5 60/720/720 kernels 5 nearest"},
        {"aten::sort", "none -1 false", NULL, "unknown"},
    };
    static struct build b;
    struct works_text x;

    WORKS_CHECK(rows);
    build_init(&b);
    build_op(&b, 0, "aten::sort", "f32[3,5,7] 2 false", NULL);
    works_of(&x, &b.t, 0, 1, MSIM_OPMAP_AS_TRACED);
    CHECK_STR(x.s, "reduction:sort_in_block fp32 15x7 420/1260/1260");
    works_of(&x, &b.t, 0, -1, MSIM_OPMAP_ON_CPU);
    CHECK_STR(x.s, "reduction:sort fp32 15x7 420/5040/5040 kernels 5");
    build_release(&b);
}

/* Among 7 sorted numbers a place is found in 3 steps, among 8 in 4. */
static void test_opmap_reduction__searches(void)
{
    static const struct works_row rows[] = {
        {"aten::bucketize", "f32[3,5] f32[7]", NULL,
         "pointwise:bucketize fp32 1x15 taps 45 45/88/120"},
        {"aten::bucketize", "f32[3,5] f32[8]", "i32[3,5]",
         "pointwise:bucketize fp32 1x15 taps 60 60/92/60"},
        {"aten::searchsorted", "f16[7] f32[3,5]", NULL,
         "pointwise:searchsorted fp32 1x15 taps 45 45/74/120"},
        {"aten::searchsorted", "f16[7] 3", NULL, "unknown"},
        {"aten::searchsorted", "none f32[3,5]", NULL, "unknown"},
    };

    WORKS_CHECK(rows);
}

/* Euclidean distances of more than 25 rows are a product with 2 columns
 * more. */
static void test_opmap_reduction__distances(void)
{
    static const struct works_row rows[] = {
        {"aten::_cdist_forward", "f32[25,5] f32[7,5] 2.0 none", "f32[25,7]",
         "reduction:distance fp32 175x5 2625/1000/700"},
        {"aten::_cdist_forward", "f32[26,5] f32[7,5] 2.0 none", "f32[26,7]",
         "gemm fp32 26x7x7 bt 2548/660/728; pointwise:sqrt fp32 1x182 "
         "364/1456/1456 kernels 2"},
        {"aten::_cdist_forward", "f32[3,7,5] f32[3,26,5] 2.0 none",
         "f32[3,7,26]",
         "gemm fp32 3*7x26x7 bt 7644/1980/2184; pointwise:sqrt fp32 1x546 "
         "1092/4368/4368 kernels 2"},
        {"aten::_cdist_forward", "f32[26,5] f32[7,5] 1.0 none", "f32[26,7]",
         "reduction:distance fp32 182x5 2730/1040/728"},
        {"aten::_cdist_forward", "f32[26,5] f32[7,5]", "f32[26,7]",
         "reduction:distance fp32 182x5 2730/1040/728"},
        {"aten::_cdist_forward", "f32[26,5] none 2.0", "f32[26,7]",
         "reduction:distance fp32 182x5 2730/1040/728"},
        {"aten::_cdist_forward", "f32[26,5] f32[7,5] 2.0", NULL, "unknown"},
        {"aten::_cdist_forward", "f32[26] f32[7,5] 2.0", "f32[26,7]",
         "unknown"},
        {"aten::_pdist_forward", "f32[4,5] 2.0", "f32[6]",
         "reduction:distance fp32 6x5 90/80/24"},
    };

    WORKS_CHECK(rows);
}

/* Steps of 11: two sequences of 5 classes have 11 x 2 x 7 states. */
static void test_opmap_reduction__losses(void)
{
    static const struct works_row rows[] = {
        {"aten::_ctc_loss", "f32[11,2,5] i64[2,3]", "f32[2] f32[2,11,7]",
         "pointwise:ctc_loss fp32 1x154 turns 22 threads 14 1540/1232/616"},
        {"aten::_ctc_loss", "f32[11,2,5] i64[2,3]", "f32[2]", "unknown"},
        {"aten::_ctc_loss_backward",
         "f32[2] f32[11,2,5] i64[2,3] none none f32[2] f32[2,11,7]", NULL,
         "pointwise:ctc_loss fp32 1x110 turns 22 threads 14 1540/1672/1056 "
         "kernels 2"},
        {"aten::_ctc_loss_backward", "f32[2] f32[11,2,5] i64[2,3]", NULL,
         "unknown"},
        {"aten::nll_loss_forward", "f32[3,5] i64[3] none 1 -100", NULL,
         "reduction:nll_loss_mean fp32 1x3 3/36/0"},
        {"aten::nll_loss_forward", "f32[3,5] none", NULL, "unknown"},
        {"aten::nll_loss_backward", "f32[] f32[3,5] i64[3]", NULL,
         "reduction:nll_loss fp32 1x3 3/24/60"},
        {"aten::nll_loss_backward", "f32[] f32[3,5] none", NULL, "unknown"},
    };
    static struct build b;

    WORKS_CHECK(rows);
    /* zero_() writes what is not picked, with whatever it calls */
    build_init(&b);
    build_op(&b, 0, "aten::nll_loss_backward", "f32[] f32[3,5] i64[3]", NULL);
    build_op(&b, 1, "aten::empty", "", NULL);
    build_op(&b, 1, "aten::zero_", "f32[3,5]", NULL);
    build_op(&b, 2, "aten::fill_", "f32[3,5] 0", NULL);
    build_op(&b, 0, "aten::nll_loss_backward", "f32[] f32[3,5] i64[3]", NULL);
    build_op(&b, 0, "aten::zero_", "f32[3,5]", NULL);
    works_check(&b.t, 0, "reduction:nll_loss fp32 1x3 3/24/12");
    works_check(&b.t, 4, "reduction:nll_loss fp32 1x3 3/24/60");
    build_release(&b);
}

int main(void)
{
    RUN(test_opmap_reduction__dimensions);
    RUN(test_opmap_reduction__softmax);
    RUN(test_opmap_reduction__scans);
    RUN(test_opmap_reduction__sorts);
    RUN(test_opmap_reduction__searches);
    RUN(test_opmap_reduction__distances);
    RUN(test_opmap_reduction__losses);
    return check_summary();
}

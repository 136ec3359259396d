/* What rules know of the kernels of single operators, and what they do not. */
#include "core/work/opmap/opmap.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_work w[MSIM_OPMAP_MAX];
static uint32_t n;

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

/* Whose kernels no rule knows says so; a kernel an element has its own law. */
static void test_opmap_kernels__nearest(void)
{
    CHECK_INT(map("aten::histc", "f32[1000] 100 0. 0.", "f32[100]"),
              MSIM_OPMAP_WORKS);
    CHECK(w[0].nearest);
    CHECK_INT(map("aten::gelu", "f32[1000]", "f32[1000]"), MSIM_OPMAP_WORKS);
    CHECK(!w[0].nearest);
}

/* 16 rows of 500 keys lie in shared memory: 12 bytes a key and place in and
 * out, after a copy of the keys. Rows of 5,000 go through memory for each byte.
 */
static void test_opmap_kernels__sorts(void)
{
    CHECK_INT(
        map("aten::sort", "f32[16,500] -1 false", "f32[16,500] i64[16,500]"),
        MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "sort_in_block");
    CHECK_INT(w[0].u.vector.cols, 500);
    CHECK_INT(w[0].bytes_read, 16 * 500 * (12 + 4));
    CHECK_INT(w[0].bytes_written, 16 * 500 * (12 + 12));
    CHECK_INT(
        map("aten::sort", "f32[500,16] 0 false", "f32[500,16] i64[500,16]"),
        MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.cols, 500);
    CHECK_INT(
        map("aten::sort", "f32[16,5000] -1 false", "f32[16,5000] i64[16,5000]"),
        MSIM_OPMAP_WORKS);
    CHECK_STR(w[0].variant, "sort");
    CHECK_INT(w[0].bytes_read, 4 * 16 * 5000 * 12);
}

/* Down the columns a thread takes each, value by value; along rows blocks do.
 */
static void test_opmap_kernels__scans(void)
{
    CHECK_INT(map("aten::cumsum", "f32[600,70] 0", "f32[600,70]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.turns, 600);
    CHECK_INT(w[0].u.vector.threads, 70);
    CHECK_INT(map("aten::cumsum", "f32[600,70] 1", "f32[600,70]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.turns, 0);
}

/* A thread for each place goes through all maps of all samples. */
static void test_opmap_kernels__blends(void)
{
    CHECK_INT(map("aten::upsample_bilinear2d", "f32[4,8,5,5] (10 10) false",
                  "f32[4,8,10,10]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].u.vector.turns, 4 * 8);
    CHECK_INT(w[0].u.vector.threads, 100);
}

/* 30 x 40 distances: by a product with two columns more where a 2-norm is
 * wanted, and by a block each elsewhere. */
static void test_opmap_kernels__distances(void)
{
    CHECK_INT(map("aten::_cdist_forward", "f32[2,30,8] f32[2,40,8] 2.",
                  "f32[2,30,40]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 2);
    CHECK_INT(w[0].family, MSIM_FAMILY_GEMM);
    CHECK_INT(w[0].u.gemm.k, 10);
    CHECK_INT(w[0].u.gemm.batch, 2);
    CHECK_INT(map("aten::_cdist_forward", "f32[2,30,8] f32[2,40,8] 1.",
                  "f32[2,30,40]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(n, 1);
    CHECK_INT(w[0].u.vector.rows, 2 * 30 * 40);
    CHECK_INT(w[0].u.vector.cols, 8);
}

/* Rows of 128 and columns of 64 are a pass over all each. */
static void test_opmap_kernels__transforms(void)
{
    double whole = 64 * 128 * 4;

    CHECK_INT(map("aten::_fft_c2c", "f32[64,128] (0 1) 0 true", "f32[64,128]"),
              MSIM_OPMAP_WORKS);
    CHECK_INT(w[0].bytes_read, 2 * whole);
    CHECK_INT(w[0].bytes_written, 2 * whole);
    CHECK_INT(w[0].kernels, 2);
    CHECK(!w[0].nearest);
}

int main(void)
{
    RUN(test_opmap_kernels__nearest);
    RUN(test_opmap_kernels__sorts);
    RUN(test_opmap_kernels__scans);
    RUN(test_opmap_kernels__blends);
    RUN(test_opmap_kernels__distances);
    RUN(test_opmap_kernels__transforms);
    return check_summary();
}

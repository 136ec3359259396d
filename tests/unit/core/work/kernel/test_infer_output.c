/*
 * Rows, columns and batch of a product's output: by grids of each way to number
 * tiles, with tiles of 128 x 64 where nothing else is said.
 */
#include "core/work/kernel/infer.h"
#include "tests/unit/made_ops.h"

static struct build b;
static struct msim_kernel_name name;

static void begin(uint32_t x, uint32_t y, uint32_t z)
{
    build_init(&b);
    build_op(&b, 0, "aten::mm", "", "");
    build_kernel(&b, 0, "k", 1, 256);
    b.configs[0].grid[0] = x;
    b.configs[0].grid[1] = y;
    b.configs[0].grid[2] = z;
    name = (struct msim_kernel_name){.kind = MSIM_KERNEL_MATRIX,
                                     .tile = {128, 64}};
}

static struct msim_infer_product output(void)
{
    uint32_t name_of = 0;
    const struct msim_infer l = {
        .t = &b.t, .names = &name, .name_of = &name_of};
    struct msim_infer_product p = {0};

    msim_infer_output(&l, 0, &p);
    return p;
}

static void end(double m, double n, double batch)
{
    struct msim_infer_product p = output();

    CHECK_REL(p.m, m, 1e-12);
    CHECK_REL(p.n, n, 1e-12);
    CHECK_REL(p.batch, batch, 1e-12);
    build_release(&b);
}

/* Powers of two are full, of others the last tile is a half; in steps of 8. */
static void test_infer_output__tiles(void)
{
    double usual;

    begin(4, 2, 1);
    end(512, 128, 1);
    begin(3, 1, 1);
    end(320, 64, 1);
    begin(1, 5, 1);
    end(128, 288, 1);
    begin(3, 7, 1);
    name.tile[0] = 20;
    name.tile[1] = 12;
    end(48, 72, 1); /* 2.5 * 20 = 50, 6.5 * 12 = 78 */
    begin(4, 2, 1);
    name.channels_first = true;
    end(256, 256, 1);
    begin(3, 2, 1);
    name.channels_first = true;
    end(256, 160, 1);
    /* a vector: a block an element, at least one */
    begin(64, 3, 1);
    name.kind = MSIM_KERNEL_GEMV;
    end(64, 1, 1);
    /* no tile is stated: the usual one, a square */
    begin(1, 1, 1);
    name.tile[0] = 0;
    usual = output().m;
    CHECK(usual >= 8);
    end(usual, usual, 1);
    begin(2, 4, 1);
    name.tile[0] = 0;
    end(2 * usual, 4 * usual, 1);
}

/* Blocks behind each other: a batch by the operator's name, or by their number;
 * not where the name says that sums are split, or of a convolution. */
static void test_infer_output__batches(void)
{
    uint32_t many = 0; /* more are a batch */
    double batch = 1;

    while (batch == 1 && many < 1000) {
        begin(4, 2, ++many + 1);
        batch = output().batch;
        CHECK(batch == 1 || batch == many + 1);
        build_release(&b);
    }
    CHECK(many >= 2 && many < 1000);
    begin(4, 2, many + 1);
    end(512, 128, many + 1);
    begin(4, 2, 2);
    b.ops[0].name = build_text(&b, "aten::bmm");
    end(512, 128, 2);
    begin(4, 2, 1);
    b.ops[0].name = build_text(&b, "aten::bmm");
    end(512, 128, 1);
    begin(4, 2, many + 1);
    b.gpu[0].op = MSIM_NONE;
    end(512, 128, many + 1);
    begin(4, 2, many + 1);
    name.splits = true;
    end(512, 128, 1);
    begin(4, 2, many + 1);
    name.kind = MSIM_KERNEL_CONV;
    end(512, 128, 1);
}

/* Where sums are split and no block lies behind another, two are of a tile. */
static void test_infer_output__splits(void)
{
    begin(8, 2, 1);
    name.splits = true;
    end(512, 128, 1);
    begin(1, 2, 1);
    name.splits = true;
    end(128, 128, 1);
    begin(8, 2, 2);
    name.splits = true;
    end(1024, 128, 1);
    begin(8, 2, 1);
    name.splits = true;
    name.kind = MSIM_KERNEL_CONV;
    end(1024, 128, 1);
}

/* As many blocks as the GPU has multiprocessors. */
static void test_infer_output__no_launch(void)
{
    begin(4, 2, 9);
    b.gpu[0].config = MSIM_NONE;
    b.t.gpu_properties.sms = 128;
    end(128 * 128, 64, 1);
    begin(4, 2, 9);
    b.gpu[0].config = MSIM_NONE;
    name.counts_threads = true;
    b.t.gpu_properties.sms = 128;
    end(128 * 128, 64, 1);
}

/* A row of blocks is no batch. */
static void test_infer_output__no_launch_of_a_batch(void)
{
    begin(4, 2, 9);
    b.gpu[0].config = MSIM_NONE;
    b.t.gpu_properties.sms = 128;
    b.ops[0].name = build_text(&b, "aten::bmm");
    end(128 * 128, 64, 1);
}

/* Tensile: 12 blocks of 256 threads, 3 rows of 4; a square of 2 x 8 where tiles
 * are not; one column of narrow ones. */
static void test_infer_output__threads(void)
{
    begin(12 * 256, 1, 1);
    name.counts_threads = true;
    name.tile[1] = 128;
    end(320, 512, 1);
    begin(16 * 256, 1, 1);
    name.counts_threads = true;
    name.tile[0] = 256;
    end(512, 512, 1);
    begin(16 * 256, 1, 1);
    name.counts_threads = true;
    name.tile[1] = 8;
    end(16 * 128, 8, 1);
    begin(12, 1, 1); /* blocks of one thread */
    b.configs[0].block[0] = 1;
    name.counts_threads = true;
    name.tile[1] = 128;
    end(320, 512, 1);
    begin(100, 1, 1); /* less than a block */
    name.counts_threads = true;
    end(128, 64, 1);
}

/* CUTLASS: columns times 8, 4, 2 or 1 along x. */
static void test_infer_output__swizzled(void)
{
    static const struct {
        uint32_t x, y;
        double m, n;
    } CASES[] = {
        {16, 4, 27.5 * 128, 2 * 64},   /* 8 x 3.5 rows, 2 columns */
        {12, 4, 13.5 * 128, 2.5 * 64}, /* 4 x 3.5 rows, 3 columns */
        {16, 1, 4 * 128, 4 * 64},      /* one row of eight: four at most */
        {2, 1, 2 * 128, 64},           {5, 1, 128, 288},
        {6, 2, 2.5 * 128, 2.5 * 64}, /* 2 x 1.5 rows, 3 columns */
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        begin(CASES[i].x, CASES[i].y, 1);
        name.swizzles = true;
        end(CASES[i].m, CASES[i].n, 1);
    }
    begin(16, 4, 1);
    name.swizzles = true;
    name.kind = MSIM_KERNEL_CONV;
    end(16 * 128, 4 * 64, 1);
}

/* Experts along y, of which a share has tokens; each has one column of tiles.
 */
static void test_infer_output__experts(void)
{
    double active;

    begin(4, 64, 1);
    name.experts = true;
    active = output().batch / 64;
    CHECK(active > 1.0 / 64 && active <= 1);
    end(512, 64, 64 * active);
    begin(4, 128, 1);
    name.experts = true;
    end(512, 64, 128 * active);
    begin(4, 1, 1);
    name.experts = true;
    end(512, 64, 1);
}

int main(void)
{
    RUN(test_infer_output__tiles);
    RUN(test_infer_output__batches);
    RUN(test_infer_output__splits);
    RUN(test_infer_output__no_launch);
    RUN(test_infer_output__no_launch_of_a_batch);
    RUN(test_infer_output__threads);
    RUN(test_infer_output__swizzled);
    RUN(test_infer_output__experts);
    return check_summary();
}

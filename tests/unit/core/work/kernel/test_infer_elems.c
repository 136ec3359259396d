/*
 * How many elements a kernel touches: by its launch, by what is launched next
 * to it, or by one wave of threads.
 */
#include "core/work/kernel/infer.h"
#include "tests/unit/made_ops.h"

#define ADD                                                                    \
    "void at::native::vectorized_elementwise_kernel<4, "                       \
    "at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >"
#define CAT    "void at::native::CatArrayBatchedCopy<float, unsigned int, 2>"
#define REDUCE "void at::native::reduce_kernel<512, 1, float>"
#define CONV   "implicit_convolve_sgemm"

static struct build b;
static struct msim_infer l;

static void begin(void)
{
    build_init(&b);
    b.t.gpu_properties.sms = 80;
}

static void add(const char *kernel, uint32_t blocks)
{
    build_kernel(&b, build_op(&b, 0, "x", "", NULL), kernel, blocks, 128);
}

static void check(uint32_t i, int64_t want)
{
    CHECK_INT(msim_infer_init(&l, &b.t), MSIM_OK);
    CHECK_INT((int64_t)msim_infer_elems(&l, i), want);
    msim_infer_release(&l);
    build_release(&b);
}

/* An addition of 1000 blocks has 512,000 numbers. A full grid of copies, a
 * multiple of 80 blocks, takes what is near: among the nearest two of each side
 * that are as large as its threads (10,240 of 80 blocks). */
static void test_infer_elems__neighbours(void)
{
    static const struct {
        uint32_t before[3], after[3]; /* blocks, from outside in; 0: none */
        int64_t want;
    } cases[] = {
        {{0, 0, 1000}, {0, 0, 0}, 512000},
        {{0, 0, 0}, {1000, 0, 0}, 512000},
        {{0, 0, 1000}, {3000, 0, 0}, 3 * 512000},
        {{0, 3000, 1000}, {0, 0, 0}, 3 * 512000},
        /* a third one is too far */
        {{3000, 1000, 1000}, {0, 0, 0}, 512000},
        {{0, 0, 0}, {1000, 1000, 3000}, 512000},
        /* those that are smaller do not count */
        {{3000, 1000, 10}, {0, 0, 0}, 3 * 512000},
        {{0, 0, 20}, {0, 0, 0}, 10240},
        {{0, 0, 19}, {0, 0, 0}, 10240},
        {{0, 0, 0}, {0, 0, 0}, 10240},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t at;

        begin();
        for (int k = 0; k < 3; k++)
            if (cases[i].before[k])
                add(ADD, cases[i].before[k]);
        at = b.t.n_gpu;
        add(CAT, 80);
        for (int k = 0; k < 3; k++)
            if (cases[i].after[k])
                add(ADD, cases[i].after[k]);
        check(at, cases[i].want);
    }
}

/* 16 launches are near, and nothing is seen past a convolution of which the
 * output is not known. */
static void test_infer_elems__how_near(void)
{
    for (uint32_t between = 14; between <= 16; between++) {
        begin();
        add(ADD, 1000);
        for (uint32_t k = 0; k < between; k++)
            add(ADD, 1);
        add(CAT, 80);
        check(1 + between, between <= 15 ? 512000 : 10240);
    }
    begin();
    add(ADD, 1000);
    add(CONV, 7);
    add(CAT, 80);
    check(2, 10240);
}

/*
 * A sum takes what was written before it, if that is as large as its threads;
 * at most 256 values a thread as long as half of the GPU is idle (2048 threads
 * an SM). Where nothing is known it is 16 values a thread.
 */
static void test_infer_elems__sums(void)
{
    static const struct {
        uint32_t before, blocks;
        int64_t want;
    } cases[] = {{1000, 100, 512000},      {1000, 10, 256 * 1280},
                 {20, 20, 10240},          {0, 100, 16 * 12800},
                 {20, 1000, 16 * 128000},  {50000, 640, 512 * 50000},
                 {50000, 639, 256 * 81792}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin();
        if (cases[i].before)
            add(ADD, cases[i].before);
        add(REDUCE, cases[i].blocks);
        check(b.t.n_gpu - 1, cases[i].want);
    }
}

/* A product reads its factors: 128 x 64 of 2048 terms each, so that what is
 * copied for it is 2048 x 128. Of two copies the second has what the first
 * moved. */
static void test_infer_elems__products_and_copies(void)
{
    begin();
    add(CAT, 80);
    add("volta_sgemm_128x64_tn", 1);
    check(0, 2048 * 128);
    begin();
    add(CAT, 160);
    add(CAT, 80);
    check(1, 160 * 128);
}

/* One launch joins tensors one behind the other, as many as its grid is high;
 * all of one size. */
static void test_infer_elems__joins(void)
{
    static const struct {
        uint32_t high, other;
        int64_t want;
    } cases[] = {
        {3, 1000, 3 * 512000},                       /* of four alike */
        {4, 1000, 4 * 512000}, {4, 500, 3 * 512000}, /* the first differs */
        {9, 1000, 4 * 512000}, {1, 1000, 512000},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin();
        add(ADD, cases[i].other);
        for (int k = 0; k < 3; k++)
            add(ADD, 1000);
        add(CAT, 80);
        b.configs[4].grid[1] = cases[i].high;
        check(4, cases[i].want);
    }
}

/* Nothing recorded: a wave of 2048 threads on each of the SMs, 100 where those
 * are not known either. */
static void test_infer_elems__waves(void)
{
    begin();
    add(ADD, 1000);
    b.gpu[0].config = MSIM_NONE;
    check(0, 2048 * 80);
    begin();
    b.t.gpu_properties.sms = 0;
    add(ADD, 1000);
    b.gpu[0].config = MSIM_NONE;
    check(0, 2048 * 100);
}

int main(void)
{
    RUN(test_infer_elems__neighbours);
    RUN(test_infer_elems__how_near);
    RUN(test_infer_elems__sums);
    RUN(test_infer_elems__products_and_copies);
    RUN(test_infer_elems__joins);
    RUN(test_infer_elems__waves);
    return check_summary();
}

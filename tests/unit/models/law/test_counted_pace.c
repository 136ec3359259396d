/*
 * models/law/counted_pace.c: what the comments there count, on a GPU of ten SMs
 * at 1 GHz: 20,480 threads at once, 10,000 cycles of an SM in a microsecond.
 */
#include "models/law/law.h"
#include "tests/check.h"

static const struct msim_data_sheet GPU = {.sms = 10, .clock_hz = 1e9};

static struct msim_work rows_of(const char *variant, int64_t rows, int64_t cols)
{
    struct msim_work w = {.family = MSIM_FAMILY_REDUCTION,
                          .dtype = MSIM_DT_F32,
                          .variant = variant};

    w.u.vector.rows = rows;
    w.u.vector.cols = cols;
    return w;
}

/* Twelve loads of half a microsecond in turn; threads that find no place come
 * after the others. */
static void test_counted_pace__turns(void)
{
    struct msim_work w = rows_of("upsample", 1, 1);

    w.u.vector.turns = 12;
    w.u.vector.threads = 1;
    CHECK(msim_is_counted(&w));
    CHECK_REL(msim_counted_us(&GPU, &w), 6, 1e-12);
    w.u.vector.threads = 20480;
    CHECK_REL(msim_counted_us(&GPU, &w), 6, 1e-12);
    w.u.vector.threads = 3 * 20480;
    CHECK_REL(msim_counted_us(&GPU, &w), 18, 1e-12);
}

/* Of 8,000 pairs 80 blocks of 256 threads run at once, 100 after each other: of
 * eight halvings of 30 cycles and two loads, at the 1.5 GHz of most GPUs 1.16
 * us. Of rows of 512 a thread loads once more. */
static void test_counted_pace__pairs(void)
{
    struct msim_work one = rows_of("distance", 8000, 256);
    struct msim_work two = rows_of("distance", 8000, 512);
    double us = msim_counted_us(&GPU, &one);

    CHECK(msim_is_counted(&one));
    CHECK_REL(us, 100 * (8 * 30 / 1.5e3 + 2 * 0.5), 0.05);
    CHECK_REL(msim_counted_us(&GPU, &two) - us, 100 * 0.5, 1e-9);
}

/* 1,000 rows of 1,024 keys in eight passes of four bits, each 20 words of the
 * 32 a cycle and SM: half as many passes in half precision. Rows are filled up
 * to a power of two, 32 at least. */
static void test_counted_pace__sorts(void)
{
    struct msim_work w = rows_of("sort_in_block", 1000, 1024);
    double us = 1000.0 * 1024 * 8 * 20 / 32 / 1e4;

    CHECK(msim_is_counted(&w));
    CHECK_REL(msim_counted_us(&GPU, &w), us, 1e-12);
    w.u.vector.cols = 513;
    CHECK_REL(msim_counted_us(&GPU, &w), us, 1e-12);
    w.dtype = MSIM_DT_F16;
    CHECK_REL(msim_counted_us(&GPU, &w), us / 2, 1e-12);
    w.u.vector.cols = 3;
    CHECK_REL(msim_counted_us(&GPU, &w), us / 2 / 32, 1e-12);
}

static void test_counted_pace__others(void)
{
    struct msim_work w = rows_of("sort", 1000, 1024);

    CHECK(!msim_is_counted(&w));
}

int main(void)
{
    RUN(test_counted_pace__turns);
    RUN(test_counted_pace__pairs);
    RUN(test_counted_pace__sorts);
    RUN(test_counted_pace__others);
    return check_summary();
}

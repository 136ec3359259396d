/*
 * models/law/vector_law.c: what a reduction's grid costs, where memory takes
 * next to nothing.
 */
#include "models/law/law.h"
#include "models/law/vector_law.h"
#include "tests/check.h"

/* In microseconds, without a start and almost without bytes. */
static double reduction(int64_t rows, int64_t cols)
{
    struct msim_data_sheet s = {.sms = 108, .bandwidth = 1e15, .l2_bytes = 1e9};
    struct msim_work w = {.family = MSIM_FAMILY_REDUCTION,
                          .dtype = MSIM_DT_F32,
                          .bytes_read = 1,
                          .u.vector = {.rows = rows,
                                       .cols = cols,
                                       .elems = rows * cols,
                                       .fold = MSIM_FOLD_ALONG}};
    /* t0, bandwidth, cache speedup and share, row, norm */
    double p[MSIM_LAW_PARAMS] = {0, 1, 1, 1, 0, 1};

    return MSIM_LAW_VECTOR.time_us(&s, &w, p);
}

/* One sum of 1,007,616 numbers: 123 blocks with 4 loads of each thread in turn,
 * and 3 more to add their sums up. 123 sums of 8,192: the same 4 loads, and no
 * more. A load takes half a microsecond. */
static void test_vector_law__split_loads(void)
{
    CHECK_REL(reduction(1, 1007616), (4 + 3) * 0.5, 1e-6);
    CHECK_REL(reduction(123, 8192), 4 * 0.5, 1e-6);
}

/* us of moving bytes at 1 byte/us of memory and 100 of a cache of 1000 bytes.
 */
static double moved(struct msim_work *w, double bytes)
{
    struct msim_data_sheet s = {.sms = 10, .bandwidth = 1e6, .l2_bytes = 1000};
    double p[MSIM_LAW_PARAMS] = {0, 1, 100, 1, 0, 1};

    w->dtype = MSIM_DT_F32;
    w->bytes_read = w->bytes_written = bytes;
    return MSIM_LAW_VECTOR.time_us(&s, w, p);
}

/*
 * 1000 bytes read and as many written are twice the cache: 1 / (1 + 2^4) of
 * them hit. In place they are as much as the cache: half of them hit.
 */
static void test_vector_law__in_place_takes_half_the_room(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE};
    double hit = 2000 / 17.0;

    CHECK_REL(moved(&w, 1000), 2000 - hit + hit / 100, 1e-9);
    w.in_place = true;
    CHECK_REL(moved(&w, 1000), 1000 + 1000 / 100.0, 1e-9);
}

/*
 * A batch norm of 1000 channels reads 100,000 bytes twice, 20 channels at once:
 * their 4,000 bytes, read and written, are four times the cache and 1 / (1 +
 * 4^4) of the second read hits; next to nothing of the first one does. Of
 * channels of a tenth, 400 bytes run at once, and most of it hits.
 */
static void test_vector_law__channels_are_read_again(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_NORM,
                          .variant = "batch_norm",
                          .u.vector = {.rows = 1000, .cols = 25}};
    double hit = 1e5 / 257;

    CHECK_REL(moved(&w, 1e5), 3e5 - hit + hit / 100, 1e-5);
    hit = 1e4 / (1 + 0.4 * 0.4 * 0.4 * 0.4);
    CHECK_REL(moved(&w, 1e4), 3e4 - hit + hit / 100, 1e-3);
}

/* Carried to a GPU of 10 SMs at 1 GHz and 30 GB/s of memory, of which it uses
 * half: 15 bytes a cycle and SM are 150 GB/s, ten times the 15 of memory. */
static void test_vector_law__the_cache_goes_by_sms(void)
{
    struct msim_data_sheet s = {
        .sms = 10, .clock_hz = 1e9, .bandwidth = 30e9, .l2_bytes = 1000};
    double p[MSIM_LAW_PARAMS] = {0, 0.5, 2, 1.5, 0, 1};

    MSIM_LAW_VECTOR.carry(&s, p);
    CHECK_REL(p[2], 10, 1e-12);
    CHECK_REL(p[3], 1, 1e-12);
}

/* Behind the memory's side of the chip it gives nothing. */
static void test_vector_law__no_cache_of_memory(void)
{
    struct msim_data_sheet s = {.sms = 10,
                                .clock_hz = 1e9,
                                .bandwidth = 30e9,
                                .l2_bytes = 1000,
                                .miopen = true};
    double p[MSIM_LAW_PARAMS] = {0, 0.5, 2, 1.5, 0, 1};

    MSIM_LAW_VECTOR.carry(&s, p);
    CHECK_REL(p[2], 1, 1e-12);
}

int main(void)
{
    RUN(test_vector_law__in_place_takes_half_the_room);
    RUN(test_vector_law__channels_are_read_again);
    RUN(test_vector_law__the_cache_goes_by_sms);
    RUN(test_vector_law__no_cache_of_memory);
    RUN(test_vector_law__split_loads);
    return check_summary();
}

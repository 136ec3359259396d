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

int main(void)
{
    RUN(test_vector_law__split_loads);
    return check_summary();
}

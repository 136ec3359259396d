/*
 * Laws of CPUs: what adds up, with constants of one, so that formulas are
 * checked.
 */
#include "models/law/law.h"
#include "tests/check.h"

/* Four cores, 100 Gflop/s, 10 GB/s. */
static const struct msim_data_sheet CPU = {
    .rate = {[MSIM_RATE_FP32] = 100e9, [MSIM_RATE_FP64] = 50e9},
    .sustained = 1,
    .sms = 4,
    .l2_bytes = 32e6,
    .bandwidth = 10e9,
};

static double time_of(const struct msim_law *law, struct msim_work w,
                      const double *constants)
{
    msim_work_count(&w);
    return law->time_us(&CPU, &w, constants);
}

static struct msim_work product(int64_t m, int64_t n, int64_t k, int64_t batch)
{
    return (struct msim_work){
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F32,
        .u.gemm = {.m = m, .n = n, .k = k, .batch = batch}};
}

static void test_cpu_law__a_batch_is_one_product_after_the_other(void)
{
    const double c[MSIM_LAW_PARAMS] = {2, 0.5, 4, 5, 6, 1, 2, 3, 1};
    double one = time_of(&MSIM_LAW_CPU_GEMM, product(100, 50, 20, 1), c);
    double compute = 2.0 * 100 * 50 * 20 / 50e3; /* us at half the rate */
    double bytes = 4.0 * (1 * 100 * 20 + 2 * 20 * 50 + 3 * 100 * 50);

    CHECK_REL(one,
              2 + compute * (1 + 4 / 100.0 + 5 / 50.0 + 6 / 20.0) + bytes / 1e4,
              1e-12);
    CHECK_REL(time_of(&MSIM_LAW_CPU_GEMM, product(100, 50, 20, 7), c), 7 * one,
              1e-12);
}

/* Of 24 channels two vectors of 16, of three no more than these. */
static void test_cpu_law__channels_fill_vectors(void)
{
    const double c[MSIM_LAW_PARAMS] = {3, 1, 100, 2, 4, 2, 3, 4, 1};
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F32,
                          .u.conv = {.n = 5,
                                     .c = 24,
                                     .h = 10,
                                     .w = 10,
                                     .k = 16,
                                     .r = 3,
                                     .s = 3,
                                     .stride_h = 1,
                                     .stride_w = 1,
                                     .pad_h = 1,
                                     .pad_w = 1,
                                     .dilation_h = 1,
                                     .dilation_w = 1,
                                     .groups = 1}};
    double places = 500, filters = 16,
           moved =
               2 * 24 * places + 3 * 24 * 9 * filters + 4 * filters * places;

    CHECK_REL(time_of(&MSIM_LAW_CPU_CONV, w, c),
              3 +
                  2 * filters * places * 32 * 9 / 100e3 *
                      (1 + 100 / places + 2 / filters + 4 / 32.0) +
                  4 * moved / 1e4,
              1e-12);
    w.u.conv.c = 3;
    moved = 2 * 3 * places + 3 * 3 * 9 * filters + 4 * filters * places;
    CHECK_REL(time_of(&MSIM_LAW_CPU_CONV, w, c),
              3 +
                  2 * filters * places * 3 * 9 / 100e3 *
                      (1 + 100 / places + 2 / filters + 4 / 3.0) +
                  4 * moved / 1e4,
              1e-12);
}

/* From 32768 elements on a second core takes part, of rows only whole ones. */
static void test_cpu_law__cores_take_part(void)
{
    const double c[MSIM_LAW_PARAMS] = {1, 1, 1, 2};
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .dtype = MSIM_DT_F32,
                          .bytes_read = 1e6,
                          .u.vector = {.rows = 1, .cols = 65535}};
    const struct msim_law *law = &MSIM_LAW_CPU_VECTOR;

    w.u.vector.elems = 65535;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + 100 * 4, 1e-12);
    w.u.vector.elems = 65536;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + 100 * 2, 1e-12);
    w.u.vector.elems = 1 << 20;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + 100, 1e-12);

    w.family = MSIM_FAMILY_SOFTMAX;
    w.u.vector.rows = 2;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + 100 * 2 + 2, 1e-12);
    w.u.vector.rows = 40;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + 100 + 20, 1e-12);
}

/* Results above 32 MiB are new pages, unless they are written in place. */
static void test_cpu_law__new_pages(void)
{
    const double c[MSIM_LAW_PARAMS] = {1, 1, 1, 2, 0.5};
    struct msim_work w = {
        .family = MSIM_FAMILY_POINTWISE,
        .dtype = MSIM_DT_F32,
        .bytes_written = 32 << 20,
        .u.vector = {.rows = 1, .cols = 8 << 20, .elems = 8 << 20}};
    const struct msim_law *law = &MSIM_LAW_CPU_VECTOR;

    CHECK_REL(law->time_us(&CPU, &w, c), 1 + (32 << 20) / 1e4, 1e-12);
    w.bytes_written += 4096;
    CHECK_REL(law->time_us(&CPU, &w, c),
              1 + ((32 << 20) + 4096) / 1e4 + 8193 * 0.5, 1e-12);
    w.in_place = true;
    CHECK_REL(law->time_us(&CPU, &w, c), 1 + ((32 << 20) + 4096) / 1e4, 1e-12);
}

static void check_key(const char *variant, bool in_place, const char *key)
{
    struct msim_work w = {.family = MSIM_FAMILY_POINTWISE,
                          .variant = variant,
                          .in_place = in_place};
    char text[64];

    MSIM_LAW_CPU_VECTOR.key(&w, text, sizeof(text));
    CHECK_STR(text, key);
}

/* In place is another operator, as PyTorch names it; once is enough. */
static void test_cpu_law__in_place(void)
{
    check_key("add", false, "add");
    check_key("add", true, "add_");
    check_key("add_", true, "add_");
    check_key("", true, "");
}

/* Rows that are dealt out are those looked up, not those that are fetched in
 * pieces of a thousand. */
static void test_cpu_law__look_ups(void)
{
    const double c[MSIM_LAW_PARAMS] = {1, 1, 1, 2};
    struct msim_work w = {
        .family = MSIM_FAMILY_EMBEDDING,
        .dtype = MSIM_DT_F32,
        .bytes_read = 1e6,
        .u.vector = {
            .rows = 1, .cols = 1 << 20, .elems = 1 << 20, .lookups = 40}};

    CHECK_REL(MSIM_LAW_CPU_VECTOR.time_us(&CPU, &w, c), 1 + 100 + 20, 1e-12);
}

int main(void)
{
    RUN(test_cpu_law__a_batch_is_one_product_after_the_other);
    RUN(test_cpu_law__channels_fill_vectors);
    RUN(test_cpu_law__cores_take_part);
    RUN(test_cpu_law__new_pages);
    RUN(test_cpu_law__in_place);
    RUN(test_cpu_law__look_ups);
    return check_summary();
}

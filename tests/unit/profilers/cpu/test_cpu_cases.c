/*
 * What the CPU backend times: that operands are what they are said to be, and
 * that results are right.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"
#include "tests/unit/made_cpu.h"

#include <string.h>

/* Takes lie one behind the other, on lines of 64 bytes, until the end of an
 * area of 2 * 65536 + 512 bytes; a third of 50000 begins again. */
static void test_cpu_operands__move_on(void)
{
    struct msim_operands o;
    char *first, *second, *third;

    msim_operands_init(&o, CACHE);
    REQUIRE(msim_operands_reserve(&o, MSIM_OPERAND_F32, 1) == MSIM_OK);
    first = msim_operands_take(&o, MSIM_OPERAND_F32, 50001);
    second = msim_operands_take(&o, MSIM_OPERAND_F32, 50000);
    third = msim_operands_take(&o, MSIM_OPERAND_F32, 50000);
    CHECK_INT(second - first, 50048);
    CHECK(third == first);
    msim_operands_begin(&o, true);
    CHECK(msim_operands_take(&o, MSIM_OPERAND_F32, 8) == first);
    msim_operands_release(&o);
}

/* What fills the area is the end of it: the next begins again. */
static void test_cpu_operands__fill(void)
{
    struct msim_operands o;
    char *first;
    size_t size;

    msim_operands_init(&o, CACHE);
    REQUIRE(msim_operands_reserve(&o, MSIM_OPERAND_OUT, 200000) == MSIM_OK);
    size = o.areas[MSIM_OPERAND_OUT].size;
    CHECK_UINT(size, 200000 + 8 * 64);
    first = msim_operands_take(&o, MSIM_OPERAND_OUT, 64);
    CHECK(first == o.areas[MSIM_OPERAND_OUT].bytes);
    CHECK(msim_operands_take(&o, MSIM_OPERAND_OUT, size - 64) == first + 64);
    CHECK(msim_operands_take(&o, MSIM_OPERAND_OUT, 64) == first);
    /* Not warm: behind the last run's. */
    msim_operands_begin(&o, false);
    CHECK(msim_operands_take(&o, MSIM_OPERAND_OUT, 1) == first + 64);
    /* What is there is enough for less, and is not made again. */
    REQUIRE(msim_operands_reserve(&o, MSIM_OPERAND_OUT, 200000) == MSIM_OK);
    CHECK(o.areas[MSIM_OPERAND_OUT].bytes == first);
    for (size_t i = 0; i < size; i++)
        REQUIRE(first[i] == 0);
    msim_operands_release(&o);
    CHECK(o.areas[MSIM_OPERAND_OUT].bytes == NULL);
}

/* xorshift from 88172645463325252, by Marsaglia's paper: 8748534153485358512,
 * 3040900993826735515, 3453997556048239312. Numbers are (2^-52 times the signed
 * value of the upper 53 bits) - 1, indices the upper 32 bits. */
static void test_cpu_operands__random(void)
{
    static const uint64_t DRAWN[] = {UINT64_C(8748534153485358512),
                                     UINT64_C(3040900993826735515),
                                     UINT64_C(3453997556048239312)};
    struct msim_operands o;
    const uint32_t *index;
    const float *f32;
    const double *f64;
    const uint16_t *bf16;

    msim_operands_init(&o, CACHE);
    for (int i = 0; i < MSIM_OPERAND_OUT; i++)
        REQUIRE(msim_operands_reserve(&o, i, 1) == MSIM_OK);
    f32 = msim_operands_take(&o, MSIM_OPERAND_F32, 64);
    f64 = msim_operands_take(&o, MSIM_OPERAND_F64, 64);
    bf16 = msim_operands_take(&o, MSIM_OPERAND_BF16, 64);
    index = msim_operands_take(&o, MSIM_OPERAND_INDEX, 64);
    for (int i = 0; i < 3; i++) {
        double want = (double)(DRAWN[i] >> 11) * 0x1p-52 - 1;
        float half;
        uint32_t bits = (uint32_t)bf16[i] << 16;

        memcpy(&half, &bits, sizeof(half));
        CHECK_REL(f64[i], want, 1e-15);
        CHECK_REL(f32[i], want, 1e-7);
        CHECK(fabs(half - want) <= 0x1p-7 * fabs(want));
        CHECK_UINT(index[i], DRAWN[i] >> 32);
    }
    msim_operands_release(&o);
}

/* 2^32 - 1 is the largest number, and the last row's. */
static void test_cpu_operands__rows(void)
{
    CHECK_UINT(msim_operand_row(0, 1000), 0);
    CHECK_UINT(msim_operand_row(UINT32_MAX, 1000), 999);
    CHECK_UINT(msim_operand_row(UINT32_C(1) << 31, 1000), 500);
    CHECK_UINT(msim_operand_row(UINT32_MAX, 1), 0);
}

/* The row of a table of 16 columns that `row` is a copy of, or -1. */
static int64_t find_row(const float *table, int64_t rows, const float *row)
{
    for (int64_t i = 0; i < rows; i++)
        if (memcmp(table + 16 * i, row, 16 * sizeof(*row)) == 0)
            return i;
    return -1;
}

/*
 * A table of 4000 rows fills its area, and so is the same in both runs; 100
 * rows of each are looked up. Of two draws of 100 rows 2.5 are expected to be
 * in both; with the same rows drawn again all would be.
 */
static void test_cpu_vector__looks_up_other_rows(void)
{
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c =
        prepare(msim_cpu_vector, cpu,
                "{\"table\":\"vector\",\"op\":\"index_select\",\"dtype\""
                ":\"fp32\",\"shape\":\"100x16\","
                "\"table_rows\":4000}");
    const float *table, *out;
    uint32_t again = 0;
    bool seen[4000] = {false};

    run(&c);
    run(&c);
    table = taken(cpu, MSIM_OPERAND_F32, 0);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    for (int i = 0; i < 200; i++) {
        int64_t row = find_row(table, 4000, out + 16 * i);

        REQUIRE(row >= 0);
        again += i >= 100 && seen[row];
        seen[row] |= i < 100;
    }
    CHECK(again < 20);
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

/* ---- rows, by whatever has them: oneDNN or our own loops ----------------- */

static void test_cpu_vector__works_on_rows(void)
{
    made_cpu_check_rows();
}

/* ---- shares ---------------------------------------------------------------
 */

struct seen {
    _Atomic int64_t ranges, times[100];
};

static void see(void *ctx, int64_t from, int64_t to)
{
    struct seen *s = ctx;

    s->ranges++;
    for (int64_t i = from; i < to; i++)
        s->times[i]++;
}

/* How many ranges there are of `n` items, each of which is worked on once. */
static int64_t ranges_of(uint32_t threads, int64_t n, int64_t grain)
{
    struct seen s = {0};

    msim_contention_threads(threads);
    msim_contention(see, &s, n, grain);
    for (int64_t i = 0; i < 100; i++)
        CHECK_INT(s.times[i], i < n);
    return s.ranges;
}

static void test_cpu_share__ranges(void)
{
    CHECK_INT(ranges_of(1, 100, 1), 1);
    CHECK_INT(ranges_of(3, 100, 1), 3);
    CHECK_INT(ranges_of(3, 100, 0), 3);
    CHECK_INT(ranges_of(3, 2, 1), 2);
    CHECK_INT(ranges_of(3, 99, 50), 1);
    CHECK_INT(ranges_of(3, 100, 50), 2);
    CHECK_INT(ranges_of(3, 0, 1), 1);
}

/* ---- elements -------------------------------------------------------------
 */

static double of_element(const char *op, double a, double b)
{
    return strcmp(op, "add") == 0    ? a + b
           : strcmp(op, "mul") == 0  ? a * b
           : strcmp(op, "relu") == 0 ? fmax(a, 0)
           : strcmp(op, "tanh") == 0 ? tanh(a)
           : strcmp(op, "gelu") == 0 ? a * (1 + erf(a / sqrt(2))) / 2
                                     : a;
}

/* 65552 numbers are two of the ranges that a thread is woken for, and whole
 * lines, so that a second operand lies behind the first. */
static void check_elements(const char *op)
{
    enum { N = 65552 };
    struct msim_cpu *cpu = new_cpu();
    const bool has_two = strcmp(op, "add") == 0 || strcmp(op, "mul") == 0;
    const float *a, *out;
    struct msim_case c;
    char line[128];

    msim_contention_threads(2);
    snprintf(line, sizeof(line),
             "{\"table\":\"vector\",\"op\":\"%s\",\"dtype\":\"fp32\","
             "\"shape\":\"16x4097\"}",
             op);
    c = prepare(msim_cpu_vector, cpu, line);
    run(&c);
    a = taken(cpu, MSIM_OPERAND_F32, 0);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    for (int i = 0; i < N; i++) {
        double want = of_element(op, a[i], has_two ? a[N + i] : 0);

        REQUIRE(fabs(out[i] - want) <= 1e-6 * (1 + fabs(want)));
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_vector__works_on_elements(void)
{
    check_elements("add");
    check_elements("mul");
    check_elements("relu");
    check_elements("tanh");
    check_elements("gelu");
    check_elements("copy");
}

/* A sum of each of 3 rows of 40000, which are ranges of their own. */
static void test_cpu_vector__sums_rows(void)
{
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c =
        prepare(msim_cpu_vector, cpu,
                "{\"table\":\"vector\",\"op\":\"sum\",\"dtype\":\"fp32\","
                "\"shape\":\"3x40000\"}");
    const float *a, *out;

    msim_contention_threads(3);
    run(&c);
    a = taken(cpu, MSIM_OPERAND_F32, 0);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    for (int row = 0; row < 3; row++) {
        double sum = 0;

        for (int i = 0; i < 40000; i++)
            sum += a[40000 * row + i];
        CHECK(fabs(out[row] - sum) < 1e-4 * 40000 * 0.1);
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

/* Cold runs move on, warm ones do not; a copy is one. */
static void check_copy(bool warm)
{
    enum { BYTES = 20000, PLACE = 20032 };
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c =
        prepare(msim_cpu_copy, cpu,
                warm ? "{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":20000,"
                       "\"cache\":\"warm\"}"
                     : "{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":20000}");
    const char *from, *to;

    run(&c);
    run(&c);
    from = cpu->operands.areas[MSIM_OPERAND_F32].bytes;
    to = cpu->operands.areas[MSIM_OPERAND_OUT].bytes;
    CHECK_UINT(cpu->operands.areas[MSIM_OPERAND_OUT].at,
               warm ? PLACE : 2 * PLACE);
    CHECK_INT(memcmp(from, to, BYTES), 0);
    CHECK(warm || memcmp(from + PLACE, to + PLACE, BYTES) == 0);
    CHECK(to[BYTES] == 0 && to[BYTES + 1] == 0);
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_copy__copies(void)
{
    check_copy(true);
    check_copy(false);
}

/* ---- products ------------------------------------------------------------ */

static double bfloat16(const struct msim_cpu *cpu, enum msim_operand_kind of,
                       size_t i)
{
    const char *bytes = cpu->operands.areas[of].bytes;
    uint32_t bits = (uint32_t)((const uint16_t *)(const void *)bytes)[i] << 16;
    float number;

    memcpy(&number, &bits, sizeof(number));
    return number;
}

/*
 * Two products of (8 x 32) by (32 x 16), both stored transposed, so that
 * a(i, k) is number 8 k + i of its matrix and b(k, j) number 32 j + k of its.
 * Sums of 32 products of numbers from -1 to 1, rounded to 8 binary digits.
 */
static void test_cpu_gemm__multiplies_bfloat16(void)
{
    const enum msim_operand_kind in = MSIM_OPERAND_BF16;
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c;

    if (!msim_cpu_has_bfloat16(cpu)) {
        msim_operands_release(&cpu->operands);
        SKIP("no products of bfloat16 here");
    }
    c = prepare(msim_cpu_gemm, cpu,
                "{\"table\":\"gemm\",\"dtype\":\"bfloat16\",\"m\":8,"
                "\"n\":16,\"k\":32,\"batch\":2,\"layout\":\"TT\"}");
    run(&c);
    for (size_t i = 0; i < 2 * 8 * 16; i++) {
        size_t one = i / 128, row = i % 128 / 16, col = i % 16;
        double sum = 0;

        for (size_t k = 0; k < 32; k++)
            sum += bfloat16(cpu, in, one * 256 + 8 * k + row) *
                   bfloat16(cpu, in, 512 + one * 512 + 32 * col + k);
        CHECK(fabs(bfloat16(cpu, MSIM_OPERAND_OUT, i) - sum) <=
              0x1p-8 * (1 + fabs(sum)));
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static double number_at(const struct msim_cpu *cpu, enum msim_operand_kind of,
                        bool is_double, size_t i)
{
    const void *bytes = cpu->operands.areas[of].bytes;

    return is_double ? ((const double *)bytes)[i] : ((const float *)bytes)[i];
}

/* Two products of (8 x 32) by (32 x 16), each matrix whole lines; T: it is
 * stored transposed. */
static void check_gemm(bool is_double, const char *layout)
{
    const enum msim_operand_kind in =
        is_double ? MSIM_OPERAND_F64 : MSIM_OPERAND_F32;
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c;
    char line[160];

    snprintf(line, sizeof(line),
             "{\"table\":\"gemm\",\"dtype\":\"%s\",\"m\":8,\"n\":16,\"k\":32,"
             "\"batch\":2,\"layout\":\"%s\"}",
             is_double ? "fp64" : "fp32", layout);
    c = prepare(msim_cpu_gemm, cpu, line);
    run(&c);
    for (size_t i = 0; i < 2 * 8 * 16; i++) {
        size_t one = i / 128, row = i % 128 / 16, col = i % 16;
        double sum = 0;

        for (size_t k = 0; k < 32; k++) {
            size_t a = layout[0] == 'T' ? 8 * k + row : 32 * row + k;
            size_t b = layout[1] == 'T' ? 32 * col + k : 16 * k + col;

            sum += number_at(cpu, in, is_double, one * 256 + a) *
                   number_at(cpu, in, is_double, 512 + one * 512 + b);
        }
        CHECK(fabs(number_at(cpu, MSIM_OPERAND_OUT, is_double, i) - sum) <=
              (is_double ? 1e-13 : 1e-5));
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_gemm__multiplies(void)
{
    static const char *const LAYOUTS[] = {"NN", "NT", "TN", "TT"};

    for (int i = 0; i < 4; i++) {
        check_gemm(false, LAYOUTS[i]);
        check_gemm(true, LAYOUTS[i]);
    }
}

int main(void)
{
    RUN(test_cpu_operands__move_on);
    RUN(test_cpu_operands__fill);
    RUN(test_cpu_operands__random);
    RUN(test_cpu_operands__rows);
    RUN(test_cpu_share__ranges);
    RUN(test_cpu_vector__looks_up_other_rows);
    RUN(test_cpu_vector__works_on_rows);
    RUN(test_cpu_vector__works_on_elements);
    RUN(test_cpu_vector__sums_rows);
    RUN(test_cpu_copy__copies);
    RUN(test_cpu_gemm__multiplies);
    RUN(test_cpu_gemm__multiplies_bfloat16);
    return check_summary();
}

/*
 * What the CPU backend times: that operands are what they are said to be, and
 * that results are right.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"

#include <string.h>

#define CACHE 65536 /* bytes: areas of twice that */

static struct msim_cpu *new_cpu(void)
{
    static struct msim_cpu cpu;

    memset(&cpu, 0, sizeof(cpu));
    cpu.device.cores = 1;
    msim_operands_init(&cpu.operands, CACHE);
    msim_contention_threads(1);
    return &cpu;
}

/* An experiment's case, from its line. */
static struct msim_case prepare(
    enum msim_status (*make)(struct msim_cpu *, const struct msim_experiment *,
                             struct msim_case *, struct msim_error *),
    struct msim_cpu *cpu, const char *line)
{
    cJSON *o = cJSON_Parse(line);
    struct msim_error err = {0};
    struct msim_experiment e;
    struct msim_case c = {0};

    CHECK(msim_experiment_read(&e, o, &err) == MSIM_OK);
    CHECK(make(cpu, &e, &c, &err) == MSIM_OK);
    CHECK_STR(err.text, "");
    cJSON_Delete(o);
    return c;
}

static void run(const struct msim_case *c)
{
    double us = 0;

    REQUIRE(c->time && c->time(c->state, &us, NULL) == MSIM_OK);
    CHECK(us > 0);
}

static const float *taken(const struct msim_cpu *cpu, enum msim_operand_kind of,
                          size_t at)
{
    return (const float *)(const void *)(cpu->operands.areas[of].bytes + at);
}

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

#define COLS 48

enum { SOFTMAX, LOG_SOFTMAX, LN, RMS_NORM };

/* `a` normed, with weights (and for LN as many biases) from `w`. */
static double expected(int op, const float *a, const float *w, int i)
{
    double most = a[0], sum = 0, mean = 0, square = 0, scale;

    for (int k = 0; k < COLS; k++)
        most = a[k] > most ? a[k] : most;
    for (int k = 0; k < COLS; k++) {
        sum += exp(a[k] - most);
        mean += op == LN ? a[k] / (double)COLS : 0;
    }
    for (int k = 0; k < COLS; k++)
        square += (a[k] - mean) * (a[k] - mean) / COLS;
    scale = 1 / sqrt(square + 1e-5);
    switch (op) {
    case SOFTMAX:
        return exp(a[i] - most) / sum;
    case LOG_SOFTMAX:
        return a[i] - most - log(sum);
    case LN:
        return (a[i] - mean) * scale * w[i] + w[COLS + i];
    default:
        return a[i] * scale * w[i];
    }
}

/* Seven rows, the weights behind them: 7 * 48 and 48 floats are whole lines, so
 * that operands lie side by side. fp32 has 7 digits, sums of 48 keep 5. */
static void check_rows(int op, const char *name)
{
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c;
    const float *a, *out;
    char line[128];

    snprintf(line, sizeof(line),
             "{\"table\":\"vector\",\"op\":\"%s\",\"dtype\":\"fp32\","
             "\"shape\":\"7x%d\"}",
             name, COLS);
    c = prepare(msim_cpu_vector, cpu, line);
    run(&c);
    a = taken(cpu, MSIM_OPERAND_F32, 0);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    for (int i = 0; i < 7 * COLS; i++) {
        double want = expected(op, a + i / COLS * COLS, a + 7 * COLS, i % COLS);

        CHECK(fabs(out[i] - want) <= 1e-5 * (1 + fabs(want)));
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_vector__works_on_rows(void)
{
    check_rows(SOFTMAX, "softmax");
    check_rows(LOG_SOFTMAX, "log_softmax");
    check_rows(LN, "layer_norm");
    check_rows(RMS_NORM, "rms_norm");
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

int main(void)
{
    RUN(test_cpu_operands__move_on);
    RUN(test_cpu_operands__rows);
    RUN(test_cpu_vector__looks_up_other_rows);
    RUN(test_cpu_vector__works_on_rows);
    RUN(test_cpu_gemm__multiplies_bfloat16);
    return check_summary();
}

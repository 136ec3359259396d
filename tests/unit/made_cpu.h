/*
 * tests/unit/made_cpu.h - cases of the CPU backend on a made-up processor of
 * one core, and what operators on rows result in.
 */
#ifndef MSIM_TESTS_UNIT_MADE_CPU_H
#define MSIM_TESTS_UNIT_MADE_CPU_H
#include "profilers/cpu/cpu.h"
#include "tests/check.h"

#include <string.h>

#define CACHE 65536 /* bytes: areas of twice that */

static inline struct msim_cpu *new_cpu(void)
{
    static struct msim_cpu cpu;

    memset(&cpu, 0, sizeof(cpu));
    cpu.device.cores = 1;
    msim_operands_init(&cpu.operands, CACHE);
    msim_contention_threads(1);
    return &cpu;
}

/* An experiment's case, from its line. */
static inline struct msim_case prepare(
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

static inline void run(const struct msim_case *c)
{
    double us = 0;

    REQUIRE(c->time && c->time(c->state, &us, NULL) == MSIM_OK);
    CHECK(us > 0);
}

static inline const float *taken(const struct msim_cpu *cpu,
                                 enum msim_operand_kind of, size_t at)
{
    return (const float *)(const void *)(cpu->operands.areas[of].bytes + at);
}

/* ---- rows ----------------------------------------------------------------
 */

#define COLS 48

enum { SOFTMAX, LOG_SOFTMAX, LN, RMS_NORM };

/* `a` normed, with weights (and for LN as many biases) from `w`. */
static inline double made_cpu_expected(int op, const float *a, const float *w,
                                       int i)
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
static inline void made_cpu_check_one(int op, const char *name)
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
        double want =
            made_cpu_expected(op, a + i / COLS * COLS, a + 7 * COLS, i % COLS);

        CHECK(fabs(out[i] - want) <= 1e-5 * (1 + fabs(want)));
    }
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

/* Each operator on rows, by whatever has it. */
static inline void made_cpu_check_rows(void)
{
    made_cpu_check_one(SOFTMAX, "softmax");
    made_cpu_check_one(LOG_SOFTMAX, "log_softmax");
    made_cpu_check_one(LN, "layer_norm");
    made_cpu_check_one(RMS_NORM, "rms_norm");
}

#endif

/*
 * profilers/cpu/cpu_vector.c - operators that move bytes and compute little,
 * as loops of our own where oneDNN has no primitive (msim_cpu_has_rows()).
 */
#include "profilers/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements below which a second thread is not worth waking, as PyTorch has
 * it (at::internal::GRAIN_SIZE). */
#define GRAIN 32768

struct operation;

/* The second operand: none, one as large as the first, or a weight for each
 * column and then a bias for each. */
enum second { NONE, SAME, COLUMNS };

struct vector {
    struct msim_cpu *cpu;
    const struct operation *op;
    int64_t rows, cols;
    const float *a, *b;
    float *out;
    const uint32_t *index; /* of a gather: msim_operand_row() */
    int64_t table_rows;    /* that it looks up in */
    bool warm;
};

struct operation {
    enum msim_vector_op op;
    enum second second;
    bool by_rows; /* items are rows, else elements */
    msim_range_fn *run;
};

#define EACH_ELEMENT(name, expression)                                         \
    static void name(void *ctx, int64_t from, int64_t to)                      \
    {                                                                          \
        const struct vector *v = ctx;                                          \
        const float *restrict a = v->a;                                        \
        const float *restrict b = v->b;                                        \
        float *restrict out = v->out;                                          \
                                                                               \
        (void)b;                                                               \
        for (int64_t i = from; i < to; i++)                                    \
            out[i] = (expression);                                             \
    }

EACH_ELEMENT(run_add, a[i] + b[i])
EACH_ELEMENT(run_mul, a[i] * b[i])
EACH_ELEMENT(run_relu, a[i] > 0 ? a[i] : 0)
EACH_ELEMENT(run_tanh, tanhf(a[i]))
/* Hendrycks and Gimpel, 2016: x times the normal distribution's integral. */
EACH_ELEMENT(run_gelu, 0.5f * a[i] * (1 + erff(a[i] * 0.70710678f)))

static float largest(const float *a, int64_t n)
{
    float most = a[0];

    for (int64_t i = 1; i < n; i++)
        most = a[i] > most ? a[i] : most;
    return most;
}

static void softmax_row(const float *a, float *out, int64_t n)
{
    float most = largest(a, n), sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += out[i] = expf(a[i] - most);
    for (int64_t i = 0; i < n; i++)
        out[i] /= sum;
}

static void log_softmax_row(const float *a, float *out, int64_t n)
{
    float most = largest(a, n), sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += expf(a[i] - most);
    most += logf(sum);
    for (int64_t i = 0; i < n; i++)
        out[i] = a[i] - most;
}

static void norm_row(const float *a, const float *weight, float *out, int64_t n)
{
    const float *bias = weight + n;
    float mean = 0, square = 0, scale;

    for (int64_t i = 0; i < n; i++)
        mean += a[i];
    mean /= (float)n;
    for (int64_t i = 0; i < n; i++)
        square += (a[i] - mean) * (a[i] - mean);
    scale = 1 / sqrtf(square / (float)n + MSIM_NORM_EPSILON);
    for (int64_t i = 0; i < n; i++)
        out[i] = (a[i] - mean) * scale * weight[i] + bias[i];
}

/* Without a mean, and without a bias (Zhang and Sennrich, 2019). */
static void rms_norm_row(const float *a, const float *weight, float *out,
                         int64_t n)
{
    float square = 0, scale;

    for (int64_t i = 0; i < n; i++)
        square += a[i] * a[i];
    scale = 1 / sqrtf(square / (float)n + MSIM_NORM_EPSILON);
    for (int64_t i = 0; i < n; i++)
        out[i] = a[i] * scale * weight[i];
}

#define EACH_ROW(name, call)                                                   \
    static void name(void *ctx, int64_t from, int64_t to)                      \
    {                                                                          \
        const struct vector *v = ctx;                                          \
                                                                               \
        for (int64_t row = from; row < to; row++) {                            \
            const float *a = v->a + row * v->cols;                             \
            float *out = v->out + row * v->cols;                               \
                                                                               \
            call;                                                              \
        }                                                                      \
    }

EACH_ROW(run_softmax, softmax_row(a, out, v->cols))
EACH_ROW(run_log_softmax, log_softmax_row(a, out, v->cols))
EACH_ROW(run_norm, norm_row(a, v->b, out, v->cols))
EACH_ROW(run_rms_norm, rms_norm_row(a, v->b, out, v->cols))

static void run_sum(void *ctx, int64_t from, int64_t to)
{
    const struct vector *v = ctx;

    for (int64_t row = from; row < to; row++) {
        const float *a = v->a + row * v->cols;
        float sum = 0;

        for (int64_t i = 0; i < v->cols; i++)
            sum += a[i];
        v->out[row] = sum;
    }
}

static void run_gather(void *ctx, int64_t from, int64_t to)
{
    const struct vector *v = ctx;

    for (int64_t row = from; row < to; row++) {
        uint64_t at = msim_operand_row(v->index[row], (uint64_t)v->table_rows);

        memcpy(v->out + row * v->cols, v->a + at * (uint64_t)v->cols,
               (size_t)v->cols * sizeof(float));
    }
}

static void run_copy(void *ctx, int64_t from, int64_t to)
{
    const struct vector *v = ctx;

    memcpy(v->out + from, v->a + from, (size_t)(to - from) * sizeof(float));
}

static const struct operation OPERATIONS[] = {
    {MSIM_VOP_ADD, SAME, false, run_add},
    {MSIM_VOP_MUL, SAME, false, run_mul},
    {MSIM_VOP_RELU, NONE, false, run_relu},
    {MSIM_VOP_GELU, NONE, false, run_gelu},
    {MSIM_VOP_TANH, NONE, false, run_tanh},
    {MSIM_VOP_COPY, NONE, false, run_copy},
    {MSIM_VOP_SOFTMAX, NONE, true, run_softmax},
    {MSIM_VOP_LOG_SOFTMAX, NONE, true, run_log_softmax},
    {MSIM_VOP_LAYER_NORM, COLUMNS, true, run_norm},
    {MSIM_VOP_RMS_NORM, COLUMNS, true, run_rms_norm},
    {MSIM_VOP_SUM, NONE, true, run_sum},
    {MSIM_VOP_INDEX_SELECT, NONE, true, run_gather},
};
#define N_OPERATIONS (sizeof(OPERATIONS) / sizeof(*OPERATIONS))

const char *msim_cpu_vector_name(uint32_t i)
{
    return i < N_OPERATIONS ? msim_vector_op_text(OPERATIONS[i].op) : NULL;
}

static size_t bytes_of(const struct vector *v)
{
    return (size_t)(v->rows * v->cols) * sizeof(float);
}

/* The first operand, which of a gather is the table. */
static size_t first_bytes(const struct vector *v)
{
    return v->op->run == run_gather
               ? (size_t)(v->table_rows * v->cols) * sizeof(float)
               : bytes_of(v);
}

static size_t second_bytes(const struct vector *v)
{
    size_t columns = 2 * (size_t)v->cols * sizeof(float);

    return v->op->second == SAME      ? bytes_of(v)
           : v->op->second == COLUMNS ? columns
                                      : 0;
}

/* Of a gather: each run looks up other rows, since a table that is larger than
 * the caches does not move on, and rows looked up before may be in them. */
static size_t index_bytes(const struct vector *v)
{
    return v->op->run == run_gather ? (size_t)v->rows * sizeof(*v->index) : 0;
}

static enum msim_status time_vector(void *state, double *us,
                                    struct msim_error *err)
{
    struct vector *v = state;
    struct msim_operands *o = &v->cpu->operands;
    int64_t items = v->op->by_rows ? v->rows : v->rows * v->cols;
    int64_t grain = v->op->by_rows ? GRAIN / v->cols + 1 : GRAIN;
    double begin;

    (void)err;
    msim_operands_begin(o, v->warm);
    v->a = msim_operands_take(o, MSIM_OPERAND_F32, first_bytes(v));
    if (v->op->second != NONE)
        v->b = msim_operands_take(o, MSIM_OPERAND_F32, second_bytes(v));
    if (v->op->run == run_gather)
        v->index = msim_operands_take(o, MSIM_OPERAND_INDEX, index_bytes(v));
    v->out = msim_operands_take(o, MSIM_OPERAND_OUT, bytes_of(v));
    begin = msim_cpu_now_us();
    msim_contention(v->op->run, v, items, grain);
    *us = msim_cpu_now_us() - begin;
    return MSIM_OK;
}

static enum msim_status reserve(const struct vector *v)
{
    struct msim_operands *o = &v->cpu->operands;

    if (v->op->run == run_gather)
        MSIM_TRY(msim_operands_reserve(o, MSIM_OPERAND_INDEX, index_bytes(v)));
    MSIM_TRY(msim_operands_reserve(o, MSIM_OPERAND_F32,
                                   first_bytes(v) + second_bytes(v)));
    return msim_operands_reserve(o, MSIM_OPERAND_OUT, bytes_of(v));
}

static const struct operation *find(const struct msim_experiment *e)
{
    for (size_t i = 0; e->dtype == MSIM_DT_F32 && i < N_OPERATIONS; i++)
        if (OPERATIONS[i].op == e->u.vector.op)
            return &OPERATIONS[i];
    return NULL;
}

enum msim_status msim_cpu_vector(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err)
{
    const struct operation *op = find(e);
    struct vector *v;

    if (!op)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no operator '%s' of '%s' here",
                         msim_vector_op_text(e->u.vector.op),
                         msim_experiment_dtype(e));
    if (msim_cpu_has_rows(op->op))
        return msim_cpu_rows(cpu, e, out, err);
    v = calloc(1, sizeof(*v));
    if (!v)
        return MSIM_ENOMEM;
    *out = (struct msim_case){.state = v, .time = time_vector, .release = free};
    v->cpu = cpu;
    v->op = op;
    v->rows = e->work.u.vector.rows;
    v->cols = e->work.u.vector.cols;
    v->table_rows = msim_experiment_table_rows(e);
    v->warm = e->warm;
    return reserve(v);
}

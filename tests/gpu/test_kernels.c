/*
 * What our own kernels compute, against the same in plain loops of doubles: a
 * kernel that does something else would take another time, too. Skips without
 * a GPU.
 */
#include "profilers/cuda/kernels/kernels.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define TABLE 97 /* rows that a gather draws from */
#define SMS   16 /* so that few rows are split */

/* Both sides of every boundary: vectors of 16 bytes, warps, rows that are a
 * warp's (1024), rows that are split (8192). */
static const struct {
    int64_t rows, cols;
} SHAPES[] = {{1, 1},    {3, 7},    {130, 33}, {5, 1024},
              {4, 1025}, {2, 8193}, {1, 70000}};
#define N_SHAPES (sizeof(SHAPES) / sizeof(*SHAPES))

/* Numbers that all kinds hold exactly: sixteenths from 0.5 to 1.4375. */
static double number(int64_t i)
{
    return 0.5 + (double)((i * 7919) % 16) / 16;
}

/* ---- kinds of numbers, on the host ----------------------------------------
 */

static void put(void *to, enum msim_dtype dtype, int64_t i, double v)
{
    float f = (float)v;
    uint32_t bits;

    memcpy(&bits, &f, sizeof(bits));
    if (dtype == MSIM_DT_F64)
        ((double *)to)[i] = v;
    else if (dtype == MSIM_DT_F32)
        ((float *)to)[i] = f;
    else
        ((uint16_t *)to)[i] = (uint16_t)(bits >> 16);
}

static double get(const void *from, enum msim_dtype dtype, int64_t i)
{
    uint32_t bits;
    float f;

    if (dtype == MSIM_DT_F64)
        return ((const double *)from)[i];
    if (dtype == MSIM_DT_F32)
        return (double)((const float *)from)[i];
    bits = (uint32_t)((const uint16_t *)from)[i] << 16;
    memcpy(&f, &bits, sizeof(f));
    return (double)f;
}

/* bfloat16 keeps 8 bits; sums of many numbers in fp32 lose some of 24. */
static double tolerance(enum msim_dtype dtype)
{
    return dtype == MSIM_DT_F64 ? 1e-12 : dtype == MSIM_DT_F32 ? 2e-5 : 1e-2;
}

/* ---- what it should be -----------------------------------------------------
 */

#define U ((double)1.7f) /* the number of operators with a u */

static double sigmoid(double a)
{
    return 1 / (1 + exp(-a));
}

static double pointwise(enum msim_vector_op op, double a, double b)
{
    switch (op) {
    case MSIM_VOP_ADDU:
        return a + U;
    case MSIM_VOP_MULU:
        return a * U;
    case MSIM_VOP_DIVU:
        return a / U;
    case MSIM_VOP_POWU:
        return pow(a, U);
    case MSIM_VOP_GELU:
        return a * 0.5 * (1 + erf(a * M_SQRT1_2));
    case MSIM_VOP_TANH:
        return tanh(a);
    case MSIM_VOP_SIGMOID:
        return sigmoid(a);
    case MSIM_VOP_SILU:
        return a * sigmoid(a);
    case MSIM_VOP_EXP:
        return exp(a);
    case MSIM_VOP_ADD:
        return a + b;
    case MSIM_VOP_SUB:
        return a - b;
    case MSIM_VOP_MUL:
        return a * b;
    case MSIM_VOP_DIV:
        return a / b;
    case MSIM_VOP_POW:
        return pow(a, b);
    case MSIM_VOP_SILU_MUL:
        return a * sigmoid(a) * b;
    default: /* copy; relu of what is above 0 */
        return a;
    }
}

/* What the operators over rows need of one. */
struct row {
    double sum, squares, most, exps;
};

static struct row sum_row(int64_t first, int64_t cols)
{
    struct row r = {.most = -INFINITY};

    for (int64_t i = first; i < first + cols; i++) {
        r.sum += number(i);
        r.squares += number(i) * number(i);
        r.most = fmax(r.most, number(i));
    }
    for (int64_t i = first; i < first + cols; i++)
        r.exps += exp(number(i) - r.most);
    return r;
}

/* Element `i` of the result; weights and offsets are numbers, too. */
static double wanted(enum msim_vector_op op, const struct row *r, int64_t i,
                     int64_t cols)
{
    double n = (double)cols, a = number(i), mean = r->sum / n;
    int64_t col = i % cols, row = i / cols;

    switch (op) {
    case MSIM_VOP_SUM:
        return r->sum;
    case MSIM_VOP_MEAN:
        return mean;
    case MSIM_VOP_AMAX:
        return r->most;
    case MSIM_VOP_SOFTMAX:
        return exp(a - r->most) / r->exps;
    case MSIM_VOP_LOG_SOFTMAX:
        return a - r->most - log(r->exps);
    case MSIM_VOP_LAYER_NORM:
        return (a - mean) / sqrt(r->squares / n - mean * mean + 1e-5) *
                   number(col) +
               number(col);
    case MSIM_VOP_RMS_NORM:
        return a / sqrt(r->squares / n + 1e-5) * number(col);
    case MSIM_VOP_INDEX_SELECT:
        return number(row * 31 % TABLE * cols + col);
    default:
        return pointwise(op, a, number(i + 5));
    }
}

/* ---- one operator -----------------------------------------------------------
 */

/* Device memory full of numbers from the `from`-th on; NULL on failure. */
static void *upload(enum msim_dtype dtype, int64_t n, int64_t from)
{
    size_t bytes = (size_t)n * msim_dtype_bytes(dtype);
    void *host = malloc(bytes), *device = NULL;

    for (int64_t i = 0; host && i < n; i++)
        put(host, dtype, i, number(i + from));
    CHECK_INT(cudaMalloc(&device, bytes), cudaSuccess);
    if (CHECK(host))
        CHECK_INT(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice),
                  cudaSuccess);
    free(host);
    return device;
}

static void *upload_index(int64_t rows)
{
    void *device = NULL;

    CHECK_INT(cudaMalloc(&device, (size_t)rows * 8), cudaSuccess);
    for (int64_t i = 0; i < rows; i++) {
        int64_t at = i * 31 % TABLE;

        CHECK_INT(
            cudaMemcpy((int64_t *)device + i, &at, 8, cudaMemcpyHostToDevice),
            cudaSuccess);
    }
    return device;
}

static cudaError_t run(const struct msim_vector_operands *v)
{
    switch (msim_vector_op_kind(v->op)) {
    case MSIM_VECTOR_UNARY:
    case MSIM_VECTOR_BINARY:
        return msim_kernel_pointwise(v, NULL);
    case MSIM_VECTOR_REDUCE:
        return msim_kernel_reduce(v, NULL);
    default:
        return msim_kernel_rows(v, NULL);
    }
}

/* The largest error over what is allowed; 1 and more is too much. */
static double worst(const struct msim_vector_operands *v, const void *host)
{
    bool reduce = msim_vector_op_kind(v->op) == MSIM_VECTOR_REDUCE;
    double most = 0;

    for (int64_t row = 0; row < v->rows; row++) {
        struct row r = sum_row(row * v->cols, v->cols);

        for (int64_t col = 0; col < (reduce ? 1 : v->cols); col++) {
            int64_t i = row * v->cols + col;
            double want = wanted(v->op, &r, i, v->cols);
            double got = get(host, v->dtype, reduce ? row : i);
            double off = fabs(got - want) / (fabs(want) + 1e-2);

            most = off < most ? most : off; /* not a number counts, too */
        }
    }
    return most / tolerance(v->dtype);
}

static void check_op(enum msim_vector_op op, enum msim_dtype dtype,
                     int64_t rows, int64_t cols)
{
    bool gather = op == MSIM_VOP_INDEX_SELECT;
    struct msim_vector_operands v = {
        .op = op, .dtype = dtype, .rows = rows, .cols = cols, .sms = SMS};
    size_t bytes = (size_t)(rows * cols) * msim_dtype_bytes(dtype);
    void *a = upload(dtype, (gather ? TABLE : rows) * cols, 0);
    void *b = gather ? upload_index(rows) : upload(dtype, rows * cols, 5);
    void *weight = upload(dtype, cols, 0), *part = NULL, *out = NULL;
    void *host = calloc(1, bytes);

    v.a = a;
    v.b = b;
    v.weight = v.offset = weight;
    CHECK_INT(cudaMalloc(&part, msim_kernel_part_bytes(&v)), cudaSuccess);
    CHECK_INT(cudaMalloc(&out, bytes), cudaSuccess);
    v.part = part;
    v.out = out;
    CHECK_INT(run(&v), cudaSuccess);
    CHECK_INT(cudaMemcpy(host, out, bytes, cudaMemcpyDeviceToHost),
              cudaSuccess);
    if (!CHECK(worst(&v, host) < 1))
        printf("%s of %s, %lld x %lld: %g times what is allowed\n",
               msim_vector_op_text(op), msim_dtype_text(dtype), (long long)rows,
               (long long)cols, worst(&v, host));
    free(host);
    cudaFree(a);
    cudaFree(b);
    cudaFree(weight);
    cudaFree(part);
    cudaFree(out);
}

static bool no_gpu(void)
{
    int n = 0;

    return cudaGetDeviceCount(&n) != cudaSuccess || n < 1;
}

static void test_kernels__compute(void)
{
    static const enum msim_dtype KINDS[] = {MSIM_DT_F64, MSIM_DT_F32,
                                            MSIM_DT_BF16};

    if (no_gpu())
        SKIP("no NVIDIA GPU");
    for (int op = 0; op < MSIM_VOP_COUNT; op++)
        for (size_t k = 0; k < sizeof(KINDS) / sizeof(*KINDS); k++)
            for (size_t i = 0; i < N_SHAPES; i++)
                check_op((enum msim_vector_op)op, KINDS[k], SHAPES[i].rows,
                         SHAPES[i].cols);
}

/* Numbers are within their limits, and differ. */
static void test_kernels__random(void)
{
    float host[1000], low = 2, high = -2;
    void *device = NULL;

    if (no_gpu())
        SKIP("no NVIDIA GPU");
    CHECK_INT(cudaMalloc(&device, sizeof(host)), cudaSuccess);
    CHECK_INT(msim_kernel_fill(device, 1000, MSIM_DT_F32, -1, 1, 42, NULL),
              cudaSuccess);
    CHECK_INT(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost),
              cudaSuccess);
    for (int i = 0; i < 1000; i++) {
        low = host[i] < low ? host[i] : low;
        high = host[i] > high ? host[i] : high;
    }
    CHECK(low >= -1 && low < -0.9F && high <= 1 && high > 0.9F);
    cudaFree(device);
}

int main(void)
{
    RUN(test_kernels__compute);
    RUN(test_kernels__random);
    return check_summary();
}

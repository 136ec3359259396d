/*
 * Convolutions of the CPU backend against a sum over all products, in each
 * pass.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"
#include "tests/unit/made_cpu.h"

/* Two groups, filters of 3 x 2, every second place, a border of one. */
enum {
    N = 2,
    C = 4,
    H = 9,
    W = 8,
    K = 6,
    R = 3,
    S = 2,
    GROUPS = 2,
    P = 5,
    Q = 5
};
enum { IMAGES = N * C * H * W, FILTERS = K * C / GROUPS * R * S };
enum { PLACES = N * K * P * Q };

/* Bytes of a tensor, in lines of 64. */
#define LINES(numbers) (((numbers)*4 + 63) / 64 * 64)

static double sums[IMAGES + FILTERS + PLACES];

/* Add each product of two of the tensors to where it belongs in the third,
 * which is the one without numbers. */
static void add_up(const float *x, const float *w, const float *y)
{
    memset(sums, 0, sizeof(sums));
    for (int i = 0; i < PLACES * C / GROUPS * R * S; i++) {
        int s = i % S, r = i / S % R, c = i / S / R % (C / GROUPS);
        int to = i / S / R / (C / GROUPS);
        int q = to % Q, p = to / Q % P, k = to / Q / P % K, n = to / Q / P / K;
        int row = 2 * p - 1 + r, col = 2 * q - 1 + s;
        int channel = k / (K / GROUPS) * (C / GROUPS) + c;
        int from = ((n * C + channel) * H + row) * W + col;
        int by = ((k * (C / GROUPS) + c) * R + r) * S + s;

        if (row < 0 || row >= H || col < 0 || col >= W)
            continue;
        sums[!x   ? from
             : !w ? by
                  : to] +=
            (double)(x ? x[from] : 1) * (w ? w[by] : 1) * (y ? y[to] : 1);
    }
}

static void check_pass(const char *op, int n, bool has_x, bool has_w)
{
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c;
    const float *x = NULL, *w = NULL, *y = NULL, *out;
    char line[256];
    size_t at = 0;

    snprintf(line, sizeof(line),
             "{\"table\":\"conv\",\"op\":\"%s\",\"dtype\":\"fp32\",\"n\":2,"
             "\"c\":4,\"h\":9,\"w\":8,\"k\":6,\"r\":3,\"s\":2,\"stride\":2,"
             "\"pad\":1,\"groups\":2}",
             op);
    c = prepare(msim_cpu_conv, cpu, line);
    run(&c);
    if (has_x) {
        x = taken(cpu, MSIM_OPERAND_F32, at);
        at += LINES(IMAGES);
    }
    if (has_w) {
        w = taken(cpu, MSIM_OPERAND_F32, at);
        at += LINES(FILTERS);
    }
    if (!has_x || !has_w)
        y = taken(cpu, MSIM_OPERAND_F32, at);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    add_up(x, w, y);
    for (int i = 0; i < n; i++)
        CHECK(fabs(out[i] - sums[i]) < 1e-4);
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_conv__each_pass(void)
{
    if (!*msim_cpu_conv_kinds())
        SKIP("built without oneDNN");
    check_pass("conv2d_fwd", PLACES, true, true);
    check_pass("conv2d_bwd_data", IMAGES, false, true);
    check_pass("conv2d_bwd_weight", FILTERS, true, false);
}

static void test_cpu_conv__of_fp32_alone(void)
{
    cJSON *o = cJSON_Parse(
        "{\"table\":\"conv\",\"op\":\"conv2d_fwd\",\"dtype\":\"fp16\",\"n\":2,"
        "\"c\":4,\"h\":9,\"w\":8,\"k\":6,\"r\":3,\"s\":2,\"stride\":2,"
        "\"pad\":1,\"groups\":2}");
    struct msim_error err = {0};
    struct msim_experiment e;
    struct msim_case c = {0};

    if (!*msim_cpu_conv_kinds())
        SKIP("built without oneDNN");
    REQUIRE(msim_experiment_read(&e, o, NULL) == MSIM_OK);
    CHECK_INT(msim_cpu_conv(new_cpu(), &e, &c, &err), MSIM_ENOMODEL);
    CHECK_STR(err.text, "no convolutions of 'fp16' here, want fp32");
    cJSON_Delete(o);
}

int main(void)
{
    RUN(test_cpu_conv__each_pass);
    RUN(test_cpu_conv__of_fp32_alone);
    return check_summary();
}

/*
 * Convolutions of the CPU backend against a sum over all products, in each
 * pass.
 */
#include "profilers/cpu/cpu.h"
#include "tests/check.h"
#include "tests/unit/made_cpu.h"

/* Two groups, filters of 3 x 2, every second place, a border of one; and as
 * many channels as oneDNN has a layout of its own for. */
static const struct shape {
    int n, c, h, w, k, r, s, stride, pad, groups, p, q;
} SHAPES[] = {{2, 4, 9, 8, 6, 3, 2, 2, 1, 2, 5, 5},
              {1, 32, 9, 8, 64, 3, 3, 1, 1, 1, 9, 8}};

enum { MOST = 64 * 32 * 9 };
static double sums[MOST];

static int images(const struct shape *f)
{
    return f->n * f->c * f->h * f->w;
}

static int filters(const struct shape *f)
{
    return f->k * f->c / f->groups * f->r * f->s;
}

static int places(const struct shape *f)
{
    return f->n * f->k * f->p * f->q;
}

/* Bytes of a tensor, in lines of 64. */
static size_t lines(int numbers)
{
    return ((size_t)numbers * 4 + 63) / 64 * 64;
}

/* Add each product of two of the tensors to where it belongs in the third,
 * which is the one without numbers. */
static void add_up(const struct shape *f, const float *x, const float *w,
                   const float *y)
{
    int channels = f->c / f->groups;

    memset(sums, 0, sizeof(sums));
    for (int i = 0; i < places(f) * channels * f->r * f->s; i++) {
        int s = i % f->s, r = i / f->s % f->r, c = i / f->s / f->r % channels;
        int to = i / f->s / f->r / channels;
        int q = to % f->q, p = to / f->q % f->p, k = to / f->q / f->p % f->k;
        int n = to / f->q / f->p / f->k;
        int row = f->stride * p - f->pad + r, col = f->stride * q - f->pad + s;
        int channel = k / (f->k / f->groups) * channels + c;
        int from = ((n * f->c + channel) * f->h + row) * f->w + col;
        int by = ((k * channels + c) * f->r + r) * f->s + s;

        if (row < 0 || row >= f->h || col < 0 || col >= f->w)
            continue;
        sums[!x   ? from
             : !w ? by
                  : to] +=
            (double)(x ? x[from] : 1) * (w ? w[by] : 1) * (y ? y[to] : 1);
    }
}

static void check_pass(const struct shape *f, const char *op, int n, bool has_x,
                       bool has_w)
{
    struct msim_cpu *cpu = new_cpu();
    struct msim_case c;
    const float *x = NULL, *w = NULL, *y = NULL, *out;
    char line[256];
    size_t at = 0;

    snprintf(line, sizeof(line),
             "{\"table\":\"conv\",\"op\":\"%s\",\"dtype\":\"fp32\",\"n\":%d,"
             "\"c\":%d,\"h\":%d,\"w\":%d,\"k\":%d,\"r\":%d,\"s\":%d,"
             "\"stride\":%d,\"pad\":%d,\"groups\":%d}",
             op, f->n, f->c, f->h, f->w, f->k, f->r, f->s, f->stride, f->pad,
             f->groups);
    c = prepare(msim_cpu_conv, cpu, line);
    run(&c);
    if (has_x) {
        x = taken(cpu, MSIM_OPERAND_F32, at);
        at += lines(images(f));
    }
    if (has_w) {
        w = taken(cpu, MSIM_OPERAND_F32, at);
        at += lines(filters(f));
    }
    if (!has_x || !has_w)
        y = taken(cpu, MSIM_OPERAND_F32, at);
    out = taken(cpu, MSIM_OPERAND_OUT, 0);
    add_up(f, x, w, y);
    for (int i = 0; i < n; i++)
        CHECK(fabs(out[i] - sums[i]) < 1e-3);
    c.release(c.state);
    msim_operands_release(&cpu->operands);
}

static void test_cpu_conv__each_pass(void)
{
    if (!*msim_cpu_conv_kinds())
        SKIP("built without oneDNN");
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof(*SHAPES); i++) {
        const struct shape *f = &SHAPES[i];

        check_pass(f, "conv2d_fwd", places(f), true, true);
        check_pass(f, "conv2d_bwd_data", images(f), false, true);
        check_pass(f, "conv2d_bwd_weight", filters(f), true, false);
    }
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

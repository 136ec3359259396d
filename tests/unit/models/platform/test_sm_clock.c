/*
 * models/platform/sm_clock.c, and what other clocks do to predictions.
 */
#include "models/platform/sm_clock.h"

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "predict/carry/scaled.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

static const struct msim_data_sheet CARD = {
    .rate = {[MSIM_RATE_FP32] = 20e12, [MSIM_RATE_FP16] = 300e12},
    .sustained = 1,
    .bandwidth = 2e12,
    .link = 300e9,
    .floor_us = 2,
    .clock_hz = 1.4e9,
    .power_watts = 300,
};

static struct msim_clock_wish parsed(const char *value)
{
    struct msim_clock_wish w = {0};

    CHECK_INT(msim_clock_parse(&w, value, NULL), MSIM_OK);
    return w;
}

static void test_sm_clock__parses(void)
{
    static const char *const WRONG[] = {"",     "0",     "-1",   "20",
                                        "fast", "1.1X",  "nan",  "inf",
                                        "0MHz", "2000%", "1e99", "11ghz"};
    struct msim_clock_wish w;

    CHECK_REL(parsed("0.8").ratio, 0.8, 1e-12);
    CHECK_REL(parsed("80%").ratio, 0.8, 1e-12);
    CHECK_REL(parsed("1").ratio, 1, 1e-12);
    CHECK_REL(parsed("1100").hz, 1.1e9, 1e-12);
    CHECK_REL(parsed("1100MHz").hz, 1.1e9, 1e-12);
    CHECK_REL(parsed("1.1GHz").hz, 1.1e9, 1e-12);
    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++)
        if (!CHECK_INT(msim_clock_parse(&w, WRONG[i], NULL), MSIM_EUSAGE))
            fprintf(stderr, "  of '%s'\n", WRONG[i]);
    CHECK_INT(msim_power_cap_parse(&w, "250W", NULL), MSIM_OK);
    CHECK_REL(w.watts, 250, 1e-12);
    CHECK_INT(msim_power_cap_parse(&w, "much", NULL), MSIM_EUSAGE);
    CHECK_INT(msim_power_cap_parse(&w, "-3", NULL), MSIM_EUSAGE);
}

/* The header's example: (175 / 225)^0.4 = 0.9043. Of a clock and a cap the
 * slower counts. */
static void test_sm_clock__solves(void)
{
    struct msim_sm_clock c;

    CHECK_INT(msim_clock_solve(&c, &(struct msim_clock_wish){.watts = 250},
                               &CARD, "card", NULL),
              MSIM_OK);
    CHECK_REL(c.ratio, 0.9043, 1e-4);
    CHECK_INT(msim_clock_solve(&c, &(struct msim_clock_wish){.watts = 300},
                               &CARD, "card", NULL),
              MSIM_OK);
    CHECK(c.ratio >= 1 && c.ratio <= 1);
    CHECK_INT(msim_clock_solve(&c, &(struct msim_clock_wish){.hz = 0.7e9},
                               &CARD, "card", NULL),
              MSIM_OK);
    CHECK_REL(c.ratio, 0.5, 1e-12);
    CHECK_INT(msim_clock_solve(
                  &c, &(struct msim_clock_wish){.hz = 0.7e9, .watts = 250},
                  &CARD, "card", NULL),
              MSIM_OK);
    CHECK_REL(c.ratio, 0.5, 1e-12);
    CHECK_INT(msim_clock_solve(
                  &c, &(struct msim_clock_wish){.ratio = 1.5, .watts = 250},
                  &CARD, "card", NULL),
              MSIM_OK);
    CHECK_REL(c.ratio, 0.9043, 1e-4);
}

static void refuse(const struct msim_clock_wish *w,
                   const struct msim_data_sheet *s, const char *want)
{
    struct msim_error err = {0};
    struct msim_sm_clock c;

    CHECK_INT(msim_clock_solve(&c, w, s, "card", &err), MSIM_EUSAGE);
    if (!CHECK(strstr(err.text, want) != NULL))
        fprintf(stderr, "  '%s' in '%s'\n", want, err.text);
}

static void test_sm_clock__says_what_is_missing(void)
{
    struct msim_data_sheet bare = CARD;

    refuse(&(struct msim_clock_wish){.watts = 80}, &CARD, "want 90 to the 300");
    refuse(&(struct msim_clock_wish){.watts = 301}, &CARD, "is 301 W");
    bare.clock_hz = bare.power_watts = 0;
    refuse(&(struct msim_clock_wish){.hz = 1e9}, &bare, "no 'boost_clock'");
    refuse(&(struct msim_clock_wish){.watts = 250}, &bare, "no 'power_limit'");
}

/* A constant of a law at half the clock, where that is 3 as usual. */
static double at_half(const struct msim_law *law, const char *name,
                      double usual_value)
{
    double usual[MSIM_LAW_PARAMS], at[MSIM_LAW_PARAMS];
    uint32_t which = MSIM_LAW_PARAMS;

    for (uint32_t i = 0; i < law->n_params; i++) {
        usual[i] = usual_value;
        if (strcmp(law->params[i].name, name) == 0)
            which = i;
    }
    if (!CHECK(which < law->n_params))
        return -1;
    msim_clock_constants(law, usual, 0.5, at);
    return at[which];
}

/* At half the clock SMs do half, memory and links the same; a constant that is
 * a time doubles; an L2 cache of three times memory's rate keeps 1.5 of it, and
 * is never slower than memory. */
static void test_sm_clock__what_goes_with_it(void)
{
    struct msim_data_sheet s = msim_clock_sheet(&CARD, 0.5);

    CHECK_REL(s.rate[MSIM_RATE_FP16], 150e12, 1e-12);
    CHECK_REL(s.floor_us, 4, 1e-12);
    CHECK_REL(s.bandwidth, 2e12, 1e-12);
    CHECK_REL(s.link, 300e9, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_GEMM, "depth", 3), 6, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_VECTOR, "cache_speedup", 3), 1.5, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_VECTOR, "cache_speedup", 1.5), 1, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_GEMM, "norm", 3), 3, 1e-12);
    /* products have no constant for the cache: a rate above memory's is its */
    CHECK_REL(at_half(&MSIM_LAW_GEMM, "bandwidth_efficiency", 3), 1.5, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_GEMM, "bandwidth_efficiency", 0.8), 0.8, 1e-12);
    CHECK_REL(at_half(&MSIM_LAW_VECTOR, "bandwidth_efficiency", 1.2), 1.2,
              1e-12);
}

/* ---- predictions ----------------------------------------------------------
 */

static struct msim_platform *load_gpu(const char *name, double ratio)
{
    struct msim_platform *p = NULL;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, name, NULL), MSIM_OK);
    if (p && ratio > 0)
        CHECK_INT(msim_platform_set_clock(
                      p, &(struct msim_clock_wish){.ratio = ratio}, NULL),
                  MSIM_OK);
    return p;
}

static struct msim_platform *load(double ratio)
{
    return load_gpu("a100", ratio);
}

static struct msim_work product(int64_t side, const char *framework)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F16,
        .framework = framework,
        .u.gemm = {.m = side, .n = side, .k = side, .batch = 1}};

    return w;
}

static struct msim_work addition(int64_t elems)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_POINTWISE,
        .dtype = MSIM_DT_F32,
        .variant = "add",
        .bytes_read = 8.0 * (double)elems,
        .bytes_written = 4.0 * (double)elems,
        .u.vector = {.elems = elems, .rows = 1, .cols = elems}};

    return w;
}

static struct msim_estimate predict(const struct msim_platform *p,
                                    const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, w, false, &e, NULL), MSIM_OK);
    return e;
}

/* Half the clock: products and kernels of one block take twice as long, what
 * memory bounds as long as before; within the share that is something else. */
static void test_sm_clock__physics(void)
{
    struct msim_platform *usual = load(0), *half = load(0.5);
    struct msim_work large = product(8192, NULL), tiny = addition(256);
    struct msim_work wide = addition(1 << 28);

    CHECK_REL(predict(half, &large).us / predict(usual, &large).us, 2, 0.03);
    CHECK_REL(predict(half, &tiny).us / predict(usual, &tiny).us, 2, 0.01);
    CHECK_REL(predict(half, &wide).us / predict(usual, &wide).us, 1, 0.01);
    msim_platform_free(usual);
    msim_platform_free(half);
}

static const char *const STACKS[] = {NULL, "vllm", "trtllm", "vidur"};

/* A works of the properties below: products, additions, attention, experts,
 * collectives, copies and what no law covers, of any size. */
static struct msim_work any(uint32_t i)
{
    int64_t size = INT64_C(1) << (4 + i % 9);
    const char *stack = STACKS[i / 7 % 4];
    struct msim_work w;

    switch (i % 7) {
    case 0:
        return product(size, stack);
    case 1:
        return addition(size * size);
    case 2:
        return (struct msim_work){.family = MSIM_FAMILY_ATTENTION,
                                  .dtype = MSIM_DT_F16,
                                  .framework = stack,
                                  .u.attention = {.batch = 2,
                                                  .heads = 16,
                                                  .kv_heads = 4,
                                                  .q_len = size,
                                                  .kv_len = size,
                                                  .head_dim = 64}};
    case 3:
        return (struct msim_work){.family = MSIM_FAMILY_COLLECTIVE,
                                  .dtype = MSIM_DT_F16,
                                  .u.coll = {.collective = MSIM_COLL_ALL_REDUCE,
                                             .ranks = 8,
                                             .nodes = 1,
                                             .bytes = (uint64_t)(size * size)}};
    case 4:
        return (struct msim_work){.family = MSIM_FAMILY_CONV,
                                  .dtype = i % 2 ? MSIM_DT_F16 : MSIM_DT_F32,
                                  .u.conv = {.n = 4,
                                             .c = size,
                                             .h = 28,
                                             .w = 28,
                                             .k = size,
                                             .r = 3,
                                             .s = 3,
                                             .stride_h = 1,
                                             .stride_w = 1,
                                             .pad_h = 1,
                                             .pad_w = 1,
                                             .groups = 1}};
    case 5:
        w = addition(size * 64);
        w.family = MSIM_FAMILY_NORM;
        w.u.vector.rows = 64;
        w.u.vector.cols = size;
        return w;
    default:
        w = addition(size * size);
        w.family = MSIM_FAMILY_BOUND;
        w.flops = 1e3 * (double)(size * size);
        return w;
    }
}

/* A higher clock never makes anything longer, and never shorter than by its
 * ratio. */
static void check_gpu(const char *gpu)
{
    static const double RATIOS[] = {0.1, 0.2, 0.4, 0.8, 1, 1.6, 3.2};
    double last[126];

    for (size_t r = 0; r < sizeof(RATIOS) / sizeof(*RATIOS); r++) {
        struct msim_platform *p = load_gpu(gpu, RATIOS[r]);

        for (uint32_t i = 0; p && i < 126; i++) {
            struct msim_work w = any(i);
            struct msim_estimate e = predict(p, &w);

            if (!CHECK(e.low_us <= e.us && e.us <= e.high_us) ||
                (r > 0 &&
                 !CHECK(e.us <= last[i] * (1 + 1e-12) &&
                        e.us >= last[i] * RATIOS[r - 1] / RATIOS[r] * 0.999)))
                fprintf(stderr, "  work %u on %s at %g of its clock\n", i, gpu,
                        RATIOS[r]);
            last[i] = e.us;
        }
        msim_platform_free(p);
    }
}

static void test_sm_clock__is_monotone(void)
{
    check_gpu("a100");
    check_gpu("h100");
    check_gpu("t4");
    check_gpu("mi300x");
    check_gpu("gb300");
}

/* Its own clock changes no bit, not even of the interval. */
static void test_sm_clock__usual_is_the_identity(void)
{
    struct msim_platform *usual = load(0), *one = load(1);

    for (uint32_t i = 0; i < 126; i++) {
        struct msim_work w = any(i);
        struct msim_estimate a = predict(usual, &w), b = predict(one, &w);

        CHECK(memcmp(&a.us, &b.us, sizeof(a.us)) == 0 &&
              memcmp(&a.low_us, &b.low_us, sizeof(a.us)) == 0 &&
              memcmp(&a.high_us, &b.high_us, sizeof(a.us)) == 0);
    }
    CHECK(msim_scaled_same(usual, one));
    msim_platform_free(usual);
    msim_platform_free(one);
}

/* The interval of a work that follows the clock is wider by the known factor;
 * that of a cap includes the time without a slowdown. */
static void test_sm_clock__widens(void)
{
    struct msim_platform *usual = load(0), *slow = load(0.5), *capped = load(0);
    struct msim_work w = product(8192, NULL);
    struct msim_estimate a, b, c;

    CHECK_INT(msim_platform_set_clock(
                  capped, &(struct msim_clock_wish){.watts = 250}, NULL),
              MSIM_OK);
    a = predict(usual, &w);
    b = predict(slow, &w);
    c = predict(capped, &w);
    CHECK(b.high_us / b.us > a.high_us / a.us);
    CHECK_REL(exp(msim_clock_half_width(msim_platform_clock(slow), 2)),
              pow(2, 0.35), 1e-9);
    CHECK(c.us > 1.2 * a.us && c.low_us < a.us);
    msim_platform_free(usual);
    msim_platform_free(slow);
    msim_platform_free(capped);
}

/* 10 us at the usual clock, where models say 2 us then and 3 us at half of it:
 * 15 us; the interval is that of the clock only. */
static void test_sm_clock__scales_what_was_measured(void)
{
    struct msim_platform *usual = load(0), *half = load(0.5);
    struct msim_scaling s = {.source = usual,
                             .target = half,
                             .from = {.us = 2, .low_us = 1, .high_us = 4},
                             .to = {.us = 3, .low_us = 1, .high_us = 9}};
    struct msim_kernel_facts tensor = {"gemm_bf16_128x128", NULL, 100, false};
    struct msim_kernel_facts memory = {"elementwise", NULL, 100, false};
    struct msim_estimate e;
    double half_width = msim_clock_half_width(msim_platform_clock(half), 1.5);

    CHECK(!msim_scaled_same(usual, half));
    CHECK(msim_scaled_factor(usual, half) <= 1);
    msim_scaled_by_model(&s, 10, &e);
    CHECK_REL(e.us, 15, 1e-12);
    CHECK_REL(e.high_us, 15 * exp(half_width), 1e-9);
    CHECK_REL(e.low_us, 15 / exp(half_width), 1e-9);

    /* without shapes: 5 us of start double, the rest by its class */
    msim_scaled_by_class(usual, half, &tensor, &e);
    CHECK_REL(e.us, 200, 1e-9);
    CHECK_REL(e.low_us, 100, 1e-9);
    msim_scaled_by_class(usual, half, &memory, &e);
    CHECK_REL(e.us, 105, 1e-9);
    msim_platform_free(usual);
    msim_platform_free(half);
}

/* The law of sm_clock.h: an A100 of 300 W at a cap of 250 W draws 250 at most,
 * at the clock that makes it so, and a quarter of its limit where it idles. */
static void test_sm_clock__watts(void)
{
    struct msim_sm_clock usual = {0}, capped = {.ratio = pow(175.0 / 225, 0.4),
                                                .watts = 250};

    CHECK_REL(msim_clock_watts(&usual, 300, 1), 300, 1e-12);
    CHECK_REL(msim_clock_watts(&usual, 300, 0), 75, 1e-12);
    CHECK_REL(msim_clock_watts(&usual, 300, 0.5), 187.5, 1e-12);
    CHECK_REL(msim_clock_watts(&capped, 300, 1), 250, 1e-5);
    capped.watts = 0;
    CHECK_REL(msim_clock_watts(&capped, 300, 1), 250, 1e-5);
    capped.ratio = 0.5;
    CHECK_REL(msim_clock_watts(&capped, 300, 1), 75 + 225 * 0.1767767, 1e-6);
}

int main(void)
{
    RUN(test_sm_clock__watts);
    RUN(test_sm_clock__parses);
    RUN(test_sm_clock__solves);
    RUN(test_sm_clock__says_what_is_missing);
    RUN(test_sm_clock__what_goes_with_it);
    RUN(test_sm_clock__physics);
    RUN(test_sm_clock__is_monotone);
    RUN(test_sm_clock__usual_is_the_identity);
    RUN(test_sm_clock__widens);
    RUN(test_sm_clock__scales_what_was_measured);
    return check_summary();
}

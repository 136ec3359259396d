/* predict/learn/trace_correction.c: what a machine's own trace says of other
 * shapes. */
#include "predict/learn/learn.h"

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/unit/made_job.h"

#include <math.h>

/* A product of rows x 512 by 512 x 512 in half precision: of few rows nearly
 * all start. */
static struct msim_work product(int rows)
{
    return (struct msim_work){
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F16,
        .variant = "",
        .kernels = 1,
        .u.gemm = {.m = rows, .n = 512, .k = 512, .batch = 1}};
}

static struct msim_estimate predict(const struct msim_platform *p, int rows)
{
    const struct msim_work w = product(rows);
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(p, &w, true, &e, NULL), MSIM_OK);
    return e;
}

/* Products of these rows, each `start` times as long to start and `rate` times
 * as long for the rest as models say of `p`, to the microsecond. */
struct ran {
    const int *rows; /* 0 ends them */
    double start, rate;
};

static void made_products(struct made *m, const struct msim_platform *p,
                          const struct ran *ran)
{
    int at = 0, i = 1;

    for (const int *r = ran->rows; *r; r++, i++) {
        struct msim_estimate e = predict(p, *r);
        double us = ran->start * e.start_us + ran->rate * (e.us - e.start_us);
        int dur = (int)lround(us);

        made_event(m, "cpu_op", "aten::mm", MADE_HOST, 1, at, 10);
        made_add(m,
                 "\"Input Dims\":[[%d,512],[512,512]],"
                 "\"Input type\":[\"c10::Half\",\"c10::Half\"]}},",
                 *r);
        made_call(m, 1, "cudaLaunchKernel", at + 2, 2, i);
        made_kernel(m, 7, "gemm", at + 10, dur, i);
        at += dur + 20;
    }
}

static struct msim_correction *learned(struct msim_platform *p,
                                       const struct ran *ran)
{
    struct made m = made_trace(0, 1);
    struct msim_correction *out = NULL;
    struct made_job j;

    made_products(&m, p, ran);
    if (!CHECK(made_load(&j, &m, 1)))
        return NULL;
    CHECK_INT(msim_correction_new(&out, j.job, NULL, p, NULL), MSIM_OK);
    made_unload(&j);
    return out;
}

static double applied(const struct msim_correction *m, const char *name,
                      struct msim_estimate e)
{
    double low = e.low_us / e.us, high = e.high_us / e.us;

    msim_correction_apply(m, name, &e);
    CHECK_REL(e.low_us / e.us, low, 1e-9);
    CHECK_REL(e.high_us / e.us, high, 1e-9);
    return e.us;
}

static struct msim_platform *load(void)
{
    struct msim_platform *p = NULL;

    CHECK_INT(msim_platform_load(&p, MSIM_DATA, "a100", NULL), MSIM_OK);
    return p;
}

static void set_clock(struct msim_platform *p, double ratio)
{
    const struct msim_clock_wish wish = {.ratio = ratio};

    CHECK_INT(msim_platform_set_clock(p, &wish, NULL), MSIM_OK);
}

/* What models say at the clock of the machine. */
static struct msim_estimate at_its_clock(const struct msim_correction *m,
                                         struct msim_platform *p, int rows)
{
    struct msim_estimate e;

    set_clock(p, msim_correction_clock(m));
    e = predict(p, rows);
    set_clock(p, 1);
    return e;
}

#define TEN_OF(n) n, n, n, n, n, n, n, n, n, n

/* Small and large products tell both factors apart: what lies between and
 * beyond follows. Whole microseconds and the pull towards the models leave a
 * few percent. */
static void test_machine__both_factors(void)
{
    static const int ROWS[] = {TEN_OF(16), TEN_OF(32), TEN_OF(1 << 18),
                               TEN_OF(1 << 20), 0};
    struct msim_platform *p = load();
    struct msim_correction *m = learned(p, &(struct ran){ROWS, 3, 1.5});
    struct msim_estimate e = predict(p, 1 << 22);

    REQUIRE(m);
    CHECK_REL(applied(m, "aten::mm", at_its_clock(m, p, 1 << 22)),
              3 * e.start_us + 1.5 * (e.us - e.start_us), 0.04);
    e = predict(p, 1 << 14);
    CHECK_REL(applied(m, "aten::mm", at_its_clock(m, p, 1 << 14)),
              3 * e.start_us + 1.5 * (e.us - e.start_us), 0.08);
    CHECK(msim_correction_is_on(m, p));
    msim_correction_free(m);
    msim_platform_free(p);
}

/* A machine that is as the models say stays so. */
static void test_machine__as_models_say(void)
{
    static const int ROWS[] = {TEN_OF(64), TEN_OF(1 << 18), 0};
    struct msim_platform *p = load();
    struct msim_correction *m = learned(p, &(struct ran){ROWS, 1, 1});
    struct msim_estimate e = predict(p, 1 << 20);

    REQUIRE(m);
    CHECK_REL(msim_correction_clock(m), 1, 0);
    CHECK_REL(applied(m, "aten::mm", e), e.us, 0.02);
    msim_correction_free(m);
    msim_platform_free(p);
}

/* One that is as they say of another clock is known to run at it, and the
 * platform is left as it was. */
static void test_machine__clock(void)
{
    static const int ROWS[] = {TEN_OF(64), TEN_OF(1 << 18), 0};
    struct msim_platform *p = load();
    double usual = predict(p, 1 << 20).us;
    struct msim_correction *m;

    set_clock(p, 0.5);
    m = learned(p, &(struct ran){ROWS, 1, 1});
    REQUIRE(m);
    CHECK_REL(msim_platform_clock(p)->ratio, 0.5, 0);
    CHECK_REL(msim_correction_clock(m), 0.5, 1e-9);
    CHECK_REL(applied(m, "aten::mm", predict(p, 1 << 20)),
              predict(p, 1 << 20).us, 0.02);
    set_clock(p, 1);
    CHECK_REL(predict(p, 1 << 20).us, usual, 1e-12);
    msim_correction_free(m);
    msim_platform_free(p);
}

/* An operator that was not seen goes by its family, a family that was not seen
 * by all: each by less than what was seen of the products, which took half as
 * long, as no clock explains. Without any evidence the models stand. */
static void test_machine__levels(void)
{
    static const int ROWS[] = {TEN_OF(1 << 18), TEN_OF(1 << 20), 0};
    static const int NONE[] = {0};
    struct msim_platform *p = load();
    struct msim_correction *m = learned(p, &(struct ran){ROWS, 0.5, 0.5});
    struct msim_correction *blank = learned(p, &(struct ran){NONE, 0.5, 0.5});
    struct msim_estimate e = predict(p, 1 << 18), other = e;
    double own, family, all;

    REQUIRE(m && blank);
    other.family = MSIM_FAMILY_NORM;
    own = applied(m, "aten::mm", e) / e.us;
    family = applied(m, "aten::addmm", e) / e.us;
    all = applied(m, "aten::layer_norm", other) / e.us;
    CHECK_REL(own, 0.5, 0.05);
    CHECK(0.85 > all && all > family && family > own);
    CHECK_REL(applied(blank, "aten::mm", e), e.us, 1e-9);
    /* A bound is no statement about a machine. */
    other.family = MSIM_FAMILY_BOUND;
    CHECK_REL(applied(m, "aten::mm", other), e.us, 1e-9);
    msim_correction_free(m);
    msim_correction_free(blank);
    msim_platform_free(p);
}

/* However odd the times, factors stay within e^2, results above 0. */
static void test_machine__limits(void)
{
    static const int ROWS[] = {TEN_OF(64), TEN_OF(1 << 18), 0};
    struct msim_platform *p = load();
    struct msim_correction *slow = learned(p, &(struct ran){ROWS, 900, 900});
    struct msim_correction *fast = learned(p, &(struct ran){ROWS, 0.01, 0.01});
    struct msim_estimate e = predict(p, 1 << 18);

    REQUIRE(slow && fast);
    CHECK(applied(slow, "aten::mm", e) <= e.us * exp(2) * 1.0001);
    CHECK(applied(slow, "aten::mm", e) > e.us * 5);
    CHECK_REL(msim_correction_clock(slow), 1, 0); /* no clock explains it */
    CHECK(applied(fast, "aten::mm", e) >= e.us * exp(-2) * 0.9999);
    CHECK(applied(fast, "aten::mm", e) < e.us / 5);
    msim_correction_free(slow);
    msim_correction_free(fast);
    msim_correction_free(NULL);
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_machine__both_factors);
    RUN(test_machine__as_models_say);
    RUN(test_machine__clock);
    RUN(test_machine__levels);
    RUN(test_machine__limits);
    return check_summary();
}

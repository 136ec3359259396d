/*
 * predict/whatif/ratio.c: ratios of two GPUs from the parts of each, and what
 * factors of measured jobs add. Numbers by hand, from the formulas of ratio.c.
 */
#include "predict/whatif/whatif.h"
#include "tests/check.h"

#include <math.h>

static void test_ratio__of_gpus(void)
{
    struct msim_ratio_parts base = {100, 0.1, 0.3, 0.05, 0.06};
    struct msim_ratio_parts changed = {50, 0.4, 0.2, 0.02, 0.11};
    struct msim_figure r = msim_ratio_of_gpus(&base, &changed, false);

    CHECK_REL(r.predicted, 0.5, 1e-12);
    CHECK(isnan(r.measured));
    CHECK_REL(log(r.predicted / r.low),
              sqrt(0.02 * 0.02 + 0.06 * 0.06 + 0.4 * 0.4 + 0.3 * 0.3), 1e-12);
    CHECK_REL(log(r.high / r.predicted),
              sqrt(0.11 * 0.11 + 0.05 * 0.05 + 0.2 * 0.2 + 0.1 * 0.1), 1e-12);
    /* on one host the larger of the differences, 0.05 of 0.03 and 0.05 */
    r = msim_ratio_of_gpus(&base, &changed, true);
    CHECK_REL(log(r.predicted / r.low),
              sqrt(0.05 * 0.05 + 0.4 * 0.4 + 0.3 * 0.3), 1e-12);
    CHECK_REL(log(r.high / r.predicted),
              sqrt(0.05 * 0.05 + 0.2 * 0.2 + 0.1 * 0.1), 1e-12);
    base.host_down = 0.32;
    r = msim_ratio_of_gpus(&base, &changed, true);
    CHECK_REL(log(r.high / r.predicted),
              sqrt(0.3 * 0.3 + 0.2 * 0.2 + 0.1 * 0.1), 1e-12);
}

/* A part that has no work takes as long as before. */
static void test_ratio__of_nothing(void)
{
    static const struct msim_ratio_parts NOTHING = {0};

    CHECK_REL(msim_ratio_of_gpus(&NOTHING, &NOTHING, true).predicted, 1, 0);
}

static struct msim_figure widened(struct msim_figure r, double base,
                                  double factor)
{
    msim_ratio_widen(&r, base, factor);
    return r;
}

static void test_ratio__widened(void)
{
    static const struct msim_figure R = {2, 1.6, 2.6, NAN};
    double by = log(1.5), down = log(2 / 1.6), up = log(2.6 / 2);
    struct msim_figure w = widened(R, 2, 3);

    CHECK_REL(w.predicted, 2, 0);
    CHECK_REL(log(2 / w.low), hypot(down, by), 1e-12);
    CHECK_REL(log(w.high / 2), hypot(up, by), 1e-12);
    w = widened(R, 3, 2); /* which is the larger is the same */
    CHECK_REL(log(w.high / 2), hypot(up, by), 1e-12);
}

/* Without factors, or with one for both, it stays; without a low end, that is
 * as far off as the factors are. */
static void test_ratio__stays(void)
{
    static const struct msim_figure R = {2, 1.6, 2.6, NAN};
    struct msim_figure open = {2, 0, 2.6, NAN}, none = {0, 0, 1, NAN};

    CHECK_REL(widened(R, 3, 3).low, 1.6, 0);
    CHECK_REL(widened(R, 0, 3).low, 1.6, 0);
    CHECK_REL(widened(R, 3, 0).high, 2.6, 0);
    CHECK_REL(widened(R, NAN, 3).high, 2.6, 0);
    CHECK_REL(widened(R, 3, NAN).high, 2.6, 0);
    CHECK_REL(widened(none, 2, 3).high, 1, 0);
    CHECK_REL(log(2 / widened(open, 2, 3).low), hypot(log(1.5), log(1.5)),
              1e-12);
}

int main(void)
{
    RUN(test_ratio__of_gpus);
    RUN(test_ratio__of_nothing);
    RUN(test_ratio__widened);
    RUN(test_ratio__stays);
    return check_summary();
}

/*
 * predict/whatif/rescale.c, sensitivity.c and plane_search.c: the period of a
 * run with other durations, what bounds it, and the planes that stand for its
 * simulations; on three alike steps whose every time is known.
 */
#include "predict/whatif/whatif.h"

#include "predict/whatif/rescale.h"
#include "tests/unit/predict/made_steps.h"

/* ---- other durations ----------------------------------------------------- */

static double period(struct msim_rescaler *x, const char *words)
{
    struct msim_scale scales[4];
    char text[128];
    uint32_t n;
    double us = -1;

    snprintf(text, sizeof(text), "%s", words);
    n = made_scales(text, scales);
    CHECK_INT(msim_rescaler_period(x, scales, n, &us, NULL), MSIM_OK);
    return us;
}

/* 10 us of host, 5 to the kernel, 200 of it, and 5 and 10 of host. */
static const struct step KERNEL = {.before = 10, .kernel = 200, .after = 10};

static void test_rescale__periods(void)
{
    struct msim_rescaler x = {0};
    struct made_run r;

    if (run_steps(&r, &KERNEL, MSIM_DATA)) {
        CHECK_INT(msim_rescaler_init(&x, &r.run), MSIM_OK);
        CHECK_REL(x.base_us, 230, 1e-9);
        CHECK_REL(period(&x, ""), 230, 1e-9);
        CHECK_REL(period(&x, "kernels=0.5"), 130, 1e-9);
        CHECK_REL(period(&x, "kernels=2"), 430, 1e-9);
        CHECK_REL(period(&x, "host=3"), 280, 1e-9);
        CHECK_REL(period(&x, "kernels=2 host=3"), 480, 1e-9);
        CHECK_REL(period(&x, "kernels=2 kernels=0.5"), 230, 1e-9);
        CHECK_REL(period(&x, "copies=5"), 230, 1e-9);
        CHECK_REL(period(&x, ""), 230, 1e-9); /* nothing of it stays */
        CHECK_REL(r.run.prediction->period.us.predicted, 230, 1e-9);
        msim_rescaler_release(&x);
    }
    run_free(&r);
}

/* ---- what bounds it ------------------------------------------------------ */

static void check_verdict(struct step s, const char *want)
{
    struct made_run r;

    if (run_steps(&r, &s, MSIM_DATA) &&
        CHECK_INT(msim_sensitivity_find(&r.run, NULL), MSIM_OK))
        CHECK_STR(r.run.prediction->verdict, want);
    run_free(&r);
}

static void test_sensitivity__rows(void)
{
    struct step s = KERNEL;
    struct made_run r;

    s.copy = 60;
    if (run_steps(&r, &s, MSIM_DATA) &&
        CHECK_INT(msim_sensitivity_find(&r.run, NULL), MSIM_OK) &&
        CHECK_UINT(r.run.prediction->n_sensitivity, 4)) {
        static const char *const SELECTS[] = {"kernels", "host", "copies",
                                              "gpu"};
        static const double PERIODS[] = {190, 277.5, 260, 160};

        for (int i = 0; i < 4; i++) {
            const struct msim_sensitivity_row *row =
                &r.run.prediction->sensitivity[i];

            CHECK_STR(row->select, SELECTS[i]);
            CHECK_REL(row->factor, 0.5, 0);
            CHECK_REL(row->period_us, PERIODS[i], 1e-9);
            CHECK_REL(row->ratio, PERIODS[i] / 290, 1e-9);
        }
    }
    run_free(&r);
}

/* Each saves half of what of it nothing else hides, over the period. */
static void test_sensitivity__verdicts(void)
{
    /* 100 and 12.5 of 230 */
    check_verdict(KERNEL, "GPU-bound: twice as fast kernels would save 43 %, "
                          "host 5 %");
    /* 10 and 102.5 of 230 */
    check_verdict((struct step){.before = 190, .kernel = 20, .after = 10},
                  "host-bound: twice as fast kernels would save 4 %, host 45 "
                  "%");
    /* 50 and 52.5 of 210 */
    check_verdict((struct step){.before = 50, .kernel = 100, .after = 50},
                  "bound by host and kernels together: twice as fast kernels "
                  "would save 24 %, host 25 %");
    /* 10, 12.5 and 100 of 250 */
    check_verdict(
        (struct step){.before = 10, .kernel = 20, .copy = 200, .after = 10},
        "copy-bound: twice as fast kernels would save 4 %, host 5 %, copies "
        "40 %");
}

/* Kernels and copies of 200 us side by side: one alone saves nothing, both save
 * 100 of 230. */
static void test_sensitivity__overlap(void)
{
    check_verdict((struct step){.before = 10,
                                .kernel = 200,
                                .copy = 200,
                                .after = 10,
                                .aside = true},
                  "GPU-bound, by work that overlaps: twice as fast kernels "
                  "would save 0 %, host 5 %, all GPU work 43 %");
}

/* A quarter is a lot: kernels of 110 and 130 of 230 us, where the host takes
 * the rest. */
static void test_sensitivity__a_quarter(void)
{
    struct step s = {.before = 60, .kernel = 110, .after = 50};

    /* 55 and 57.5 of 230: each alone less than a quarter */
    check_verdict(s, "bound by host and kernels together: twice as fast "
                     "kernels would save 24 %, host 25 %");
    s = (struct step){.before = 40, .kernel = 150, .after = 30};
    /* 75 and 37.5: half of it, which is below six tenths */
    check_verdict(s, "GPU-bound: twice as fast kernels would save 33 %, host "
                     "16 %");
    s = (struct step){.before = 50, .kernel = 140, .after = 30};
    /* 70 and 42.5 of 230: just above six tenths */
    check_verdict(s, "bound by kernels and host together: twice as fast "
                     "kernels would save 30 %, host 18 %");
}

/* ---- planes -------------------------------------------------------------- */

static double on_planes(const struct msim_planes *p, double kernels,
                        double host)
{
    const double f[MSIM_PLANE_CLASSES] = {kernels, host, 1, 1};

    return msim_planes_period(p, f);
}

/* The step is 5 us of latency, its host and its kernel; work beside the
 * kernel makes a second plane, whose kernel is hidden. */
static void test_planes__stand_for_simulations(void)
{
    static const struct step BESIDE = {
        .before = 10, .kernel = 200, .beside = 150, .after = 10};
    struct msim_planes p;
    struct made_run r;

    if (run_steps(&r, &BESIDE, MSIM_DATA)) {
        CHECK_INT(msim_plane_search(&p, &r.run, NULL), MSIM_OK);
        CHECK(p.has[MSIM_PLANE_KERNELS] && p.has[MSIM_PLANE_HOST]);
        CHECK(!p.has[MSIM_PLANE_LINK] && !p.has[MSIM_PLANE_NETWORK]);
        CHECK_REL(p.least, 0.1, 0);
        CHECK_REL(p.most, 4, 0);
        CHECK(p.n >= 2);
        CHECK_UINT(p.checked, 24);
        CHECK(p.deviation < 0.01);
        CHECK_REL(on_planes(&p, 1, 1), 230, 0.01);
        CHECK_REL(on_planes(&p, 2, 1), 430, 0.01);
        CHECK_REL(on_planes(&p, 4, 0.1), 1 + 5 + 800 + 0.5 + 1, 0.01);
        CHECK_REL(on_planes(&p, 1, 4), 40 + 8 + 600 + 20 + 40, 0.01);
        CHECK_REL(on_planes(&p, 0.1, 1), 10 + 2 + 150 + 5 + 10, 0.01);
        msim_planes_release(&p);
    }
    run_free(&r);
}

int main(void)
{
    RUN(test_planes__stand_for_simulations);
    RUN(test_rescale__periods);
    RUN(test_sensitivity__a_quarter);
    RUN(test_sensitivity__overlap);
    RUN(test_sensitivity__rows);
    RUN(test_sensitivity__verdicts);
    return check_summary();
}

/*
 * predict/whatif/rescale.c, sensitivity.c and plane_search.c: the period of a
 * run with other durations, what bounds it, and the planes that stand for its
 * simulations; on three alike steps whose every time is known.
 */
#include "predict/whatif/sensitivity.h"

#include "predict/pipeline.h"
#include "predict/whatif/plane_search.h"
#include "predict/whatif/rescale.h"
#include "tests/unit/made_job.h"

#include <stdlib.h>

#define STEPS 3

/* What a step does, in microseconds: the host works in an operator, which
 * launches, works on, and waits. The kernel starts 5 after its launch began,
 * whatever is faster, and the wait ends 5 after the GPU has, which are the
 * host's. */
struct step {
    int before, kernel, beside, after; /* beside: while the kernel runs */
    int copy;                          /* behind the kernel, on its stream */
};

static int length_of(const struct step *s)
{
    int gpu = s->before + 5 + s->kernel + s->copy;
    int host = s->before + 2 + s->beside;

    return (gpu > host ? gpu : host) + 5 + s->after;
}

static void add_step(struct made *m, const struct step *s, int n)
{
    int at = n * length_of(s), gpu = at + s->before + 5;
    int wait = at + s->before + 2 + s->beside;
    int end = at + length_of(s) - s->after;

    made_step(m, 1, n + 1, at, length_of(s));
    made_op(m, 1, "aten::mm", at, s->before + 2 + s->beside);
    made_call(m, 1, "cudaLaunchKernel", at + s->before, s->copy ? 1 : 2,
              10 * n + 1);
    if (s->copy)
        made_call(m, 1, "cudaMemcpyAsync", at + s->before + 1, 1, 10 * n + 2);
    made_call(m, 1, "cudaDeviceSynchronize", wait, end - wait, 10 * n + 3);
    made_op(m, 1, "aten::view", end, s->after);
    made_kernel(m, 7, "gemm", gpu, s->kernel, 10 * n + 1);
    if (s->copy)
        made_copy(m, 7, "HtoD (Pinned -> Device)", gpu + s->kernel, s->copy,
                  10 * n + 2, 1000);
}

struct made_run {
    char *text;
    struct msim_job_text file;
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_prediction_run run;
};

static bool run_steps(struct made_run *r, const struct step *s)
{
    static const char *const PATHS[] = {"made.json"};
    struct made m = made_trace(0, 1);
    struct msim_error err = {0};

    memset(r, 0, sizeof(*r));
    for (int n = 0; n < STEPS; n++)
        add_step(&m, s, n);
    r->text = made_text(&m);
    made_free(&m);
    r->file = (struct msim_job_text){"made.json", r->text, strlen(r->text)};
    r->s = (struct msim_predict_settings){.data = MSIM_DATA,
                                          .paths = PATHS,
                                          .n_paths = 1,
                                          .texts = &r->file,
                                          .n_texts = 1,
                                          .load = {.threads = 1},
                                          .costs = MSIM_COSTS_MEASURED,
                                          .groups = true,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
    return CHECK_INT(msim_predict_load(&r->in, &r->to, &r->s, &err), MSIM_OK) &&
           CHECK_INT(msim_predict(&r->run, &r->s, &r->in, &r->to, &err),
                     MSIM_OK);
}

static void run_free(struct made_run *r)
{
    msim_prediction_run_release(&r->run);
    msim_target_release(&r->to);
    msim_inputs_release(&r->in);
    free(r->text);
}

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

    if (run_steps(&r, &KERNEL)) {
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

    if (run_steps(&r, &s) &&
        CHECK_INT(msim_sensitivity_find(&r.run, NULL), MSIM_OK))
        CHECK_STR(r.run.prediction->verdict, want);
    run_free(&r);
}

static void test_sensitivity__rows(void)
{
    struct step s = KERNEL;
    struct made_run r;

    s.copy = 60;
    if (run_steps(&r, &s) &&
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

    if (run_steps(&r, &BESIDE)) {
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
    RUN(test_sensitivity__rows);
    RUN(test_sensitivity__verdicts);
    return check_summary();
}

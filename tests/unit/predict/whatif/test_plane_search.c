/*
 * predict/whatif/plane_search.c: planes that agree with simulations of a step
 * whose period is known for any factors.
 */
#include "predict/whatif/whatif.h"

#include "tests/unit/predict/made_steps.h"

#include <math.h>

/* The host works 10 us, launches a kernel of 200 (5 us from the call's begin,
 * whatever is faster), launches and works for 2 + 150 beside it, is back from
 * waiting 5 after both, and works 10. */
static const struct step STEP = {
    .before = 10, .kernel = 200, .beside = 150, .after = 10};

static double period_of(double kernels, double host)
{
    return fmax(10 * host + 5 + 200 * kernels, 162 * host) + 15 * host;
}

/* Most of one class, some of others: of each factor from its least to its
 * most. */
static void test_plane_search__agrees(void)
{
    static const double FACTOR[] = {0.1, 0.25, 0.5, 0.8, 1, 1.25, 2, 4};
    const size_t n = sizeof(FACTOR) / sizeof(*FACTOR);
    struct msim_planes p = {.n = 9};
    struct made_run r;

    if (run_steps(&r, &STEP, MSIM_DATA)) {
        CHECK_INT(msim_plane_search(&p, &r.run, NULL), MSIM_OK);
        CHECK(p.has[MSIM_PLANE_KERNELS] && p.has[MSIM_PLANE_HOST]);
        CHECK(!p.has[MSIM_PLANE_LINK] && !p.has[MSIM_PLANE_NETWORK]);
        CHECK_REL(p.least, 0.1, 0);
        CHECK_REL(p.most, 4, 0);
        CHECK_INT(p.checked, 24);
        CHECK(p.deviation <= MSIM_PLANES_OFF);
        /* one where the kernel is waited for, and one where the host is */
        CHECK(p.n >= 2 && p.n <= 4);
        for (size_t i = 0; i < n * n; i++) {
            double f[MSIM_PLANE_CLASSES] = {1, 1, 1, 1};
            double kernels = FACTOR[i % n], host = FACTOR[i / n];

            f[MSIM_PLANE_KERNELS] = kernels;
            f[MSIM_PLANE_HOST] = host;
            CHECK_REL(msim_planes_period(&p, f), period_of(kernels, host),
                      MSIM_PLANES_OFF);
        }
        for (uint32_t i = 0; i < p.n; i++) {
            CHECK_REL(p.planes[i].us[MSIM_PLANE_LINK], 0, 0);
            CHECK_REL(p.planes[i].us[MSIM_PLANE_NETWORK], 0, 0);
        }
    }
    msim_planes_release(&p);
    run_free(&r);
}

/* Of two ranks that all-reduce: over links of a node, or between nodes. */
static void test_plane_search__tells_links(void)
{
    static const char *const DDP[] = {MSIM_DATA "/traces/dlrm-ddp-2ranks"};

    for (uint32_t nodes = 1; nodes <= 2; nodes++) {
        struct msim_predict_settings s = {.data = MSIM_DATA,
                                          .paths = DDP,
                                          .n_paths = 1,
                                          .load = {.threads = 1},
                                          .platform = "a100",
                                          .nodes = nodes,
                                          .groups = true,
                                          .peers = MSIM_PEERS_FIXED,
                                          .iteration = MSIM_ITERATION_ALL};
        struct msim_prediction_run run;
        struct msim_planes p = {.n = 0};
        struct msim_inputs in;
        struct msim_target to;

        if (CHECK_INT(msim_predict_load(&in, &to, &s, NULL), MSIM_OK) &&
            CHECK_INT(msim_predict(&run, &s, &in, &to, NULL), MSIM_OK)) {
            const double one[MSIM_PLANE_CLASSES] = {1, 1, 1, 1};

            CHECK_INT(msim_plane_search(&p, &run, NULL), MSIM_OK);
            CHECK_INT(p.has[MSIM_PLANE_LINK], nodes == 1);
            CHECK_INT(p.has[MSIM_PLANE_NETWORK], nodes == 2);
            CHECK_REL(msim_planes_period(&p, one),
                      run.prediction->period.us.predicted, MSIM_PLANES_OFF);
            msim_prediction_run_release(&run);
        }
        msim_planes_release(&p);
        msim_target_release(&to);
        msim_inputs_release(&in);
    }
}

int main(void)
{
    RUN(test_plane_search__agrees);
    RUN(test_plane_search__tells_links);
    return check_summary();
}

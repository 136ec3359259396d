/*
 * predict/whatif/rescale.c: the period with other durations, asked again and
 * again.
 */
#include "predict/whatif/rescale.h"

#include "tests/unit/predict/made_steps.h"

/* 10 us of host, 5 to the kernel, 200 of it, 60 of a copy, 5 to the end of the
 * wait and 10 of host: 290. Calls and operators of the host are 27 of it, of
 * which 25 count: two of them are beside the GPU. */
static const struct step STEP = {
    .before = 10, .kernel = 200, .copy = 60, .after = 10};

static void test_rescale__asks_again(void)
{
    static const struct {
        const char *scale[2];
        uint32_t n;
        double us;
    } CASE[] = {
        {{NULL, NULL}, 0, 290},
        {{"kernels=0.5", NULL}, 1, 190},
        {{"copies=2", NULL}, 1, 350},
        {{"kernels=0.5", "copies=2"}, 2, 250},
        {{"kernels=0.5", "kernels=2"}, 2, 290},
        {{"kernels=0", NULL}, 1, 91},  /* the copy's own launch is 1 later */
        {{"kernels=1", NULL}, 1, 290}, /* nothing is left of before */
    };
    struct msim_rescaler x;
    struct made_run r;

    if (run_steps(&r, &STEP, MSIM_DATA)) {
        REQUIRE(msim_rescaler_init(&x, &r.run) == MSIM_OK);
        CHECK_REL(x.base_us, 290, 1e-9);
        for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
            struct msim_scale scales[2];
            double us = -1;

            for (uint32_t k = 0; k < CASE[i].n; k++)
                CHECK_INT(msim_scale_parse(&scales[k], CASE[i].scale[k], NULL),
                          MSIM_OK);
            CHECK_INT(msim_rescaler_period(&x, scales, CASE[i].n, &us, NULL),
                      MSIM_OK);
            CHECK_REL(us, CASE[i].us, 1e-9);
        }
        msim_rescaler_release(&x);
    }
    run_free(&r);
}

int main(void)
{
    RUN(test_rescale__asks_again);
    return check_summary();
}

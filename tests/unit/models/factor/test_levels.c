/*
 * models/factor/levels.c: which level answers for a name.
 */
#include "core/base/units.h"
#include "models/factor/levels.h"
#include "tests/check.h"

enum { WARP, BLOCK, SOFTMAX, OTHER, N_NAMES };

/* Kernels of 100 us, none of it start, that took `factor` times as long. */
static struct msim_observation seen(uint32_t name, uint32_t kin, double factor)
{
    return (struct msim_observation){name,         kin, MSIM_FAMILY_SOFTMAX,
                                     factor * 100, 100, 0};
}

/*
 * Ten warps' rows took twice as long. A level whose one name took r times as
 * long, above which 1 stands with equal weight, has r^(1/2): all, then the
 * family between that and r, (1/2 + 1) / 2 = 3/4 of the logarithm, then kin
 * with 7/8. The name itself has ten against that one: 10/11 + 7/8/11.
 */
static void test_levels__kin_answers_for_names_not_seen(void)
{
    struct msim_observation all[10];
    struct msim_levels l;

    for (int i = 0; i < 10; i++)
        all[i] = seen(WARP, SOFTMAX, 2);
    CHECK_INT(msim_levels_fit(&l, all, 10, N_NAMES), MSIM_OK);
    CHECK_REL(msim_levels_of(&l, WARP, SOFTMAX, MSIM_FAMILY_SOFTMAX)->rate,
              (10 + 7.0 / 8) / 11 * log(2), 1e-3);
    CHECK_REL(msim_levels_of(&l, BLOCK, SOFTMAX, MSIM_FAMILY_SOFTMAX)->rate,
              7.0 / 8 * log(2), 1e-3);
    CHECK_REL(msim_levels_of(&l, OTHER, MSIM_NONE, MSIM_FAMILY_SOFTMAX)->rate,
              3.0 / 4 * log(2), 1e-3);
    CHECK_REL(msim_levels_of(&l, MSIM_NONE, MSIM_NONE, MSIM_FAMILY_GEMM)->rate,
              1.0 / 2 * log(2), 1e-3);
    msim_levels_release(&l);
}

/* Without kin a name leans on its family: (10 + 3 / 4) / 11. */
static void test_levels__without_kin(void)
{
    struct msim_observation all[10];
    struct msim_levels l;

    for (int i = 0; i < 10; i++)
        all[i] = seen(WARP, MSIM_NONE, 2);
    CHECK_INT(msim_levels_fit(&l, all, 10, N_NAMES), MSIM_OK);
    CHECK_REL(msim_levels_of(&l, WARP, MSIM_NONE, MSIM_FAMILY_SOFTMAX)->rate,
              (10 + 3.0 / 4) / 11 * log(2), 1e-3);
    msim_levels_release(&l);
}

static void check_level(const struct msim_level *x, double start, double rate)
{
    CHECK_REL(x->start, start, 1e-9);
    CHECK_REL(x->rate, rate, 1e-9);
}

/* Kernels with a start: the numbers are those of the equations of levels.h,
 * worked out apart. A name of two observations counts as one above itself. */
static void test_levels__both_factors(void)
{
    static const struct msim_observation all[] = {
        {WARP, SOFTMAX, MSIM_FAMILY_SOFTMAX, 30, 20, 8},
        {WARP, SOFTMAX, MSIM_FAMILY_SOFTMAX, 90, 100, 8},
        {OTHER, MSIM_NONE, MSIM_FAMILY_GEMM, 12, 5, 4},
    };
    struct msim_levels l;

    CHECK_INT(msim_levels_fit(&l, all, 3, N_NAMES), MSIM_OK);
    check_level(&l.all, 0.46892954465056946, -0.027513313942931338);
    check_level(&l.families[MSIM_FAMILY_NORM], 0.46892954465056946,
                -0.027513313942931338);
    check_level(&l.families[MSIM_FAMILY_SOFTMAX], 0.5130911251954245,
                -0.050761481920798567);
    check_level(&l.families[MSIM_FAMILY_GEMM], 0.7129066316944205,
                -0.02751291488618715);
    check_level(&l.kin[SOFTMAX], 0.5552248595342855, -0.07071024377506736);
    check_level(&l.names[WARP], 0.6286935513728268, -0.10174138880578827);
    check_level(&l.names[OTHER], 0.8491828336738321, -0.027512809526704225);
    msim_levels_release(&l);
}

/* Times that are off by a thousand: each step goes half of what is left to the
 * most that an observation counts, 1; a name with forty goes to the end. */
static void test_levels__far_off(void)
{
    for (int i = 0; i < 4; i++) {
        double sign = i % 2 ? -1 : 1, start = i < 2 ? 0 : 100;
        double far = sign * 0.99609375; /* 1 - 1 / 2^8 */
        struct msim_observation all[40];
        struct msim_levels l;

        for (int k = 0; k < 40; k++)
            all[k] = (struct msim_observation){
                WARP, MSIM_NONE, MSIM_FAMILY_GEMM, i % 2 ? 0.1 : 1e5,
                100,  start};
        CHECK_INT(msim_levels_fit(&l, all, 40, N_NAMES), MSIM_OK);
        check_level(&l.all, i < 2 ? 0 : far, i < 2 ? far : 0);
        check_level(&l.families[MSIM_FAMILY_GEMM], i < 2 ? 0 : 2 * far,
                    i < 2 ? 2 * far : 0);
        check_level(&l.names[WARP], i < 2 ? 0 : sign * 2, i < 2 ? sign * 2 : 0);
        msim_levels_release(&l);
    }
}

/* 2 us of 10 are start: e times as long, the rest e^2 times; a start of more
 * than the time is all of it. */
static void test_levels__apply(void)
{
    const struct msim_level x = {1, 2};
    double start = 0;

    CHECK_REL(msim_level_apply(&x, 10, 2, &start), 2 * exp(1) + 8 * exp(2),
              1e-12);
    CHECK_REL(start, 2 * exp(1), 1e-12);
    CHECK_REL(msim_level_apply(&x, 10, 12, NULL), 10 * exp(1), 1e-12);
}

int main(void)
{
    RUN(test_levels__kin_answers_for_names_not_seen);
    RUN(test_levels__without_kin);
    RUN(test_levels__both_factors);
    RUN(test_levels__far_off);
    RUN(test_levels__apply);
    return check_summary();
}

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

int main(void)
{
    RUN(test_levels__kin_answers_for_names_not_seen);
    RUN(test_levels__without_kin);
    return check_summary();
}

/* Tables of a recommendation model on ranks. */
#include "plan/synth/synth_dlrm.h"
#include "tests/check.h"

/* 2 tables of 9 look-ups and 3 of 1, on 2 ranks: there and back is 9 | 9 1 | 1
 * to the first, second, second, first, first. */
static void test_spread__deals_there_and_back(void)
{
    struct msim_described m = {
        .type = MSIM_MODEL_DLRM,
        .dlrm = {.dim = 4, .n_kinds = 2, .tables = {{5, 1, 3}, {7, 9, 2}}}};
    struct msim_dlrm_share s[2];

    msim_dlrm_spread(&m, 2, s);
    CHECK_INT(s[0].tables, 3); /* 9, and the last two of 1 */
    CHECK_INT(s[0].pooling, 9 + 1 + 1);
    CHECK_INT(s[0].rows, 7 + 5 + 5);
    CHECK_INT(s[1].tables, 2);
    CHECK_INT(s[1].pooling, 9 + 1);
}

int main(void)
{
    RUN(test_spread__deals_there_and_back);
    return check_summary();
}

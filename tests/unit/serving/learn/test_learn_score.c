/*
 * Figures of predictions, against values worked by hand.
 */
#include "serving/learn/learn_table_internal.h"
#include "tests/check.h"

#include <math.h>

/* Pairs of a true and a false one: (0.9, 0.1) (0.9, 0.4) (0.4, 0.1) win, (0.4,
 * 0.4) is half: 3.5 of 4. */
static void test_score__auc_counts_pairs(void)
{
    const double score[] = {0.9, 0.1, 0.4, 0.4};
    const bool truth[] = {true, false, true, false};
    const bool all[] = {true, true, true, true};

    CHECK_REL(msim_score_auc(score, truth, 4), 3.5 / 4, 1e-12);
    CHECK(isnan(msim_score_auc(score, all, 4)));
    CHECK(isnan(msim_score_auc(score, truth, 0)));
}

/* Two at 0.05 of which one came true, |0.1 - 1|; two at 0.85 that both did,
 * |1.7 - 2|: 1.2 of 4. */
static void test_score__calibration_by_classes(void)
{
    const double p[] = {0.05, 0.05, 0.85, 0.85};
    const bool truth[] = {false, true, true, true};

    CHECK_REL(msim_score_calibration(p, truth, 4), 1.2 / 4, 1e-12);
    CHECK(isnan(msim_score_calibration(p, truth, 0)));
}

/* 10 %, 20 % and 50 % too much. */
static void test_score__error_is_a_median(void)
{
    const double guess[] = {log(1.1), log(2.4), log(4.5)};
    const double truth[] = {0, log(2), log(3)};

    CHECK_REL(msim_score_log_error(guess, truth, 3), 0.2, 1e-9);
    CHECK(isnan(msim_score_log_error(guess, truth, 0)));
}

int main(void)
{
    RUN(test_score__auc_counts_pairs);
    RUN(test_score__calibration_by_classes);
    RUN(test_score__error_is_a_median);
    return check_summary();
}

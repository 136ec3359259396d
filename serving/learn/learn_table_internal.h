/*
 * serving/learn/learn_table_internal.h - what the files of serving/learn share;
 * no other room includes it.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_TABLE_INTERNAL_H
#define MSIM_SERVING_LEARN_LEARN_TABLE_INTERNAL_H
#include <stdbool.h>
#include <stdint.h>

/* ---- learn score --------------------------------------------------------- */
/*
 * How good predictions of violations and of the next second were, on runs that
 * they were not learned from.
 */

/*
 * The area under the curve of true over false alarms: how often a second before
 * a violation scores higher than one before none; equals count half (Mann and
 * Whitney). NAN where one kind is missing. Reorders nothing.
 */
double msim_score_auc(const double *score, const bool *truth, uint32_t n);

/* The mean distance of a probability from how often it came true, over ten
 * equal classes of probability, weighted by their seconds. */
double msim_score_calibration(const double *p, const bool *truth, uint32_t n);

/* The median of |exp(guess - truth) - 1|: both are logarithms. NAN: n is 0. */
double msim_score_log_error(const double *guess, const double *truth,
                            uint32_t n);

/* ---- logistic ------------------------------------------------------------ */
/*
 * How what is known moves the odds: logistic regression on a few numbers, by
 * Newton's method.
 */

#define MSIM_LOGISTIC_MOST 4 /* numbers of a row */

/*
 * The weights `w` (k of them) of the log odds w x of `truth`, from `n` rows of
 * k numbers each. A row's worth of nothing keeps them finite where the numbers
 * tell both kinds apart.
 */
void msim_logistic_fit(double *w, const double *x, const bool *truth,
                       uint32_t n, uint32_t k);

#endif

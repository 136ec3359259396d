/*
 * serving/learn/learn_score.h - how good predictions of violations and of the
 * next second were, on runs that they were not learned from.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_SCORE_H
#define MSIM_SERVING_LEARN_LEARN_SCORE_H
#include <stdbool.h>
#include <stdint.h>

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

#endif

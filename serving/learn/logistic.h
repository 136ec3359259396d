/*
 * serving/learn/logistic.h - how what is known moves the odds: logistic
 * regression on a few numbers, by Newton's method.
 */
#ifndef MSIM_SERVING_LEARN_LOGISTIC_H
#define MSIM_SERVING_LEARN_LOGISTIC_H
#include <stdbool.h>
#include <stdint.h>

#define MSIM_LOGISTIC_MOST 4 /* numbers of a row */

/*
 * The weights `w` (k of them) of the log odds w x of `truth`, from `n` rows of
 * k numbers each. A row's worth of nothing keeps them finite where the numbers
 * tell both kinds apart.
 */
void msim_logistic_fit(double *w, const double *x, const bool *truth,
                       uint32_t n, uint32_t k);

#endif

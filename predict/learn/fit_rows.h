/*
 * predict/learn/fit_rows.h - clock and factors from rows, with some held out.
 */
#ifndef MSIM_PREDICT_LEARN_FIT_ROWS_H
#define MSIM_PREDICT_LEARN_FIT_ROWS_H
#include "predict/learn/observe.h"

/* Clock, as an index, and factors. */
struct msim_learn_fit {
    int clock;
    struct msim_levels levels;
};

/* Which rows count: those whose fold is not `without`. */
struct msim_learn_split {
    const uint32_t *fold; /* by row */
    uint32_t without;     /* UINT32_MAX: all count */
};

/* ENOMEM; release out->levels in any case. */
MSIM_MUST_CHECK
enum msim_status msim_learn_fit_rows(struct msim_learn_fit *out,
                                     const struct msim_learn_rows *rows,
                                     const struct msim_learn_split *split);

/* The time of a row by a fit. */
double msim_learn_us(const struct msim_learn_fit *fit,
                     const struct msim_learn_row *row);

#endif

/*
 * calibrate/factors/spread_fit.h - how uncertain whole programs are, by what
 * they are made of and on which GPU.
 *
 * The interval of a program is made of its works' as reports make it
 * (core/report/analyse): within a family widths add; those of families, and
 * what all kernels share on the GPU, add in squares:
 *
 *     high / predicted = 1 + |e^shared - 1,
 *                             sum over a family of share * (e^slower - 1), ...|
 *
 * and likewise down, with e^-shared and e^-faster. Example: 0.6 of a program is
 * of products (slower 0.1), 0.4 pointwise (slower 0.05), and 0.05 is shared: it
 * may take 1 + |0.051, 0.6 * 0.105, 0.4 * 0.051| = 1.084 times as long.
 *
 * Widths of kinds are those of least interval score (the width of an interval
 * and 20 times what is outside, of logarithms; Gneiting and Raftery, Journal of
 * the American Statistical Association 102, 2007, eq. 43), which asks for
 * quantiles and no distribution. Errors are those of programs that the factors
 * were found without. A kind of few programs has the widths of its neighbour
 * (thin products those of all products). What is shared is found last, by GPU:
 * the least for which as many programs are inside as wanted, with widths found
 * without them; some of those of other GPUs count beside its own.
 */
#ifndef MSIM_CALIBRATE_FACTORS_SPREAD_FIT_H
#define MSIM_CALIBRATE_FACTORS_SPREAD_FIT_H
#include "calibrate/factors/factor_fit.h"

/* A row, its interval found without its program. */
struct msim_spread_judged {
    double off;       /* log(measured / predicted) */
    double low, high; /* logarithms: inside from -low to high */
    double score;     /* as above */
    bool inside;
};

struct msim_spread_fit {
    struct msim_spread_width kind[MSIM_SPREAD_COUNT];
    uint32_t programs[MSIM_SPREAD_COUNT]; /* on a GPU each, of which the kind
                                             is a tenth or more */
    double *shared;                       /* by platform; owned */
    double others; /* the same of GPUs without programs, by those that have
                      some: each as if it were not known */
    struct msim_spread_judged *rows; /* as in the list; owned */
};

/*
 * Fit. `fits` are the factors of each platform, and `unknown` what each would
 * have if it were not known. ENOMEM; release with msim_spread_fit_release() in
 * any case.
 */
MSIM_MUST_CHECK
enum msim_status
msim_spread_fit_make(struct msim_spread_fit *out,
                     const struct msim_program_sums *s,
                     const struct msim_factor_fit *fits,
                     const struct msim_program_factors *unknown);
void msim_spread_fit_release(struct msim_spread_fit *f);

#endif

/*
 * serving/size/pmf.h - distributions of latencies on a grid, and their algebra.
 *
 * A distribution is `n` masses; mass i is the chance of i * step ms. What lies
 * beyond the last cell is missing from their sum: it is later than anything
 * that is asked. A sample between two cells is split between them, so that
 * means are exact.
 *
 *     in series          X + Y             msim_pmf_add()
 *     all of a join      max(X, Y)         product of the cumulative chances
 *     any, k of a join                     msim_pmf_join()
 *     again with chance a, m times at most msim_pmf_loop()
 *     asked again after t, first counts    msim_pmf_retry()
 *
 * Parts are taken as independent: whoever uses these conditions on what they
 * have in common (class and size of the request) and mixes the results.
 */
#ifndef MSIM_SERVING_SIZE_PMF_H
#define MSIM_SERVING_SIZE_PMF_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct msim_pmf_grid {
    double step;  /* ms */
    uint32_t n;   /* cells; a power of two */
    double *wave; /* cosines and sines of 2 n points; owned */
    double *work; /* 8 n numbers; owned */
};

/* A grid of `n` cells up to `horizon` ms. Release in all cases. */
MSIM_MUST_CHECK
enum msim_status msim_pmf_grid_init(struct msim_pmf_grid *g, double horizon,
                                    uint32_t n);
void msim_pmf_grid_release(struct msim_pmf_grid *g);

/* Masses are arrays of g->n; `out` may be an input unless it is said. */

/* Always `ms`. */
void msim_pmf_constant(const struct msim_pmf_grid *g, double ms, double *out);
/* Add to `out` the mass `weight` of each of `n` samples, times `factor`. */
void msim_pmf_put(const struct msim_pmf_grid *g, const double *ms, uint32_t n,
                  double factor, double weight, double *out);
/* X + Y. */
void msim_pmf_add(struct msim_pmf_grid *g, const double *x, const double *y,
                  double *out);
/* X with chance `p`, else 0 ms. */
void msim_pmf_maybe(const struct msim_pmf_grid *g, double p, double *x);
/* The largest of `n` alike X; `n` need not be whole. */
void msim_pmf_largest(const struct msim_pmf_grid *g, double n, double *x);
/* The largest of 1, 2, ... alike X, of a geometric number with that mean. */
void msim_pmf_largest_geometric(const struct msim_pmf_grid *g, double mean,
                                double *x);
/* The larger of X and Y. */
void msim_pmf_max(const struct msim_pmf_grid *g, const double *x,
                  const double *y, double *out);
/* X, and with chance `again` once more, at most `most` times in all. `x` is
 * not `out`. */
void msim_pmf_loop(struct msim_pmf_grid *g, const double *x, double again,
                   int64_t most, double *out);
/* X, asked again after `timeout` ms, `most` times at most; the first answer
 * counts. `x` is not `out`. */
void msim_pmf_retry(const struct msim_pmf_grid *g, const double *x,
                    double timeout, int64_t most, double *out);

/* Calls that are made at once. */
struct msim_pmf_call {
    const double *x; /* each takes that */
    double prob;     /* that they are made, all or none */
    uint32_t copies;
};

/*
 * When `wait` answers of those calls are there (all of them, where fewer are
 * made; 0 ms where none is). `out` is none of the inputs. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_pmf_join(const struct msim_pmf_grid *g,
                               const struct msim_pmf_call *calls, uint32_t n,
                               uint32_t wait, double *out);

/* Chance of more than `ms`; mass of a cell lies evenly half a step around. */
double msim_pmf_above(const struct msim_pmf_grid *g, const double *x,
                      double ms);
/* The time that is exceeded with chance 1 - p; the horizon where it is beyond.
 */
double msim_pmf_quantile(const struct msim_pmf_grid *g, const double *x,
                         double p);
/* Of what is on the grid; what is beyond counts as the horizon. */
double msim_pmf_mean(const struct msim_pmf_grid *g, const double *x);

#endif

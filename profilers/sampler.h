/*
 * profilers/sampler.h - time a case until its median is known, and summarise
 * the samples.
 */
#ifndef MSIM_PROFILERS_SAMPLER_H
#define MSIM_PROFILERS_SAMPLER_H
#include "profilers/backend.h"

#define MSIM_SAMPLES_MAX 1000

/* When to stop; of zeros: the defaults of msim_sample_case(). */
struct msim_policy {
    uint32_t warm_up;     /* runs before the first that counts */
    uint32_t least, most; /* runs that count */
    double spread;        /* of the median, that is small enough */
    double seconds;       /* after them no further run begins */
};

struct msim_sampled {
    uint32_t n;        /* runs that counted */
    uint32_t outliers; /* of these, further than 3 interquartile ranges off;
                          they count */
    double us;         /* median */
    double low_us, high_us; /* first and last decile */
    /* Half the width of the median's 95 % interval (order statistics, binomial)
     * over the median. */
    double spread;
    double alone_us; /* median without the concurrent experiment; 0: none */
    double seconds;  /* all runs took */
    double samples[MSIM_SAMPLES_MAX]; /* in the order of time */
    double alone[MSIM_SAMPLES_MAX];   /* sorted, where alone_us is not 0 */
};

/*
 * Time `c` until its median is known to within `policy->spread`, or the budget
 * is spent: at least `least` runs (5), at most `most` (1000) or `seconds` (1),
 * after `warm_up` (2); spread 0.01. With a concurrent experiment, runs with and
 * without it alternate, so that a shared machine slows both alike. Fails as the
 * case fails.
 */
MSIM_MUST_CHECK
enum msim_status msim_sample_case(const struct msim_case *c,
                                  const struct msim_policy *policy,
                                  struct msim_sampled *out,
                                  struct msim_error *err);

/* Fill in all members that follow from the samples: all but `seconds` and
 * `alone_us`. */
void msim_sampled_summarise(struct msim_sampled *s);

#endif

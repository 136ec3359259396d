/*
 * models/estimate/model.h - models: one a family of works; which answers, from
 * which source, remembered, emulated, of a whole job.
 */
#ifndef MSIM_MODELS_ESTIMATE_MODEL_H
#define MSIM_MODELS_ESTIMATE_MODEL_H
#include "core/work/estimate.h"
#include "models/platform/platform.h"

#include <stdio.h>

/* ---- model --------------------------------------------------------------- */
/*
 * The models that make estimates of works.
 *
 * There is a model for each family of works: it picks a fit (fit.h),
 * evaluates it (fit.h), adds what the fit does not know, and explains
 * the result. The laws themselves are in models/law. model.c lists the models.
 * A work that no model covers gets a bound, with a wide interval and
 * MSIM_SOURCE_BOUND, never 0; one whose kernels no law knows
 * (msim_work.nearest) the law of its family, a wide interval and
 * MSIM_SOURCE_NEAREST.
 */

struct msim_platform; /* models/platform/platform.h */

struct msim_model {
    const char *name; /* the word in reports */
    bool (*covers)(const struct msim_platform *p, const struct msim_work *w);
    /* ENOMODEL: the platform has no constants for it. */
    enum msim_status (*predict)(const struct msim_platform *p,
                                const struct msim_work *w,
                                struct msim_estimate *out);
    /* For --explain: append to `out` the law, its inputs for this work, and the
     * rows that it was fitted on. */
    void (*explain)(const struct msim_platform *p, const struct msim_work *w,
                    FILE *out);
};

/*
 * The best estimate for `w` on `p`: the first model that covers it, else the
 * bound. With `strict` a work without a model, or with that of the nearest kind
 * of kernel only, is ENOMODEL and `err` names it.
 * Times are above 0 and finite: at most 100 s where a trace's sizes make no
 * sense.
 */
MSIM_MUST_CHECK
enum msim_status msim_model_predict(const struct msim_platform *p,
                                    const struct msim_work *w, bool strict,
                                    struct msim_estimate *out,
                                    struct msim_error *err);

/* What the times of collectives over `ranks` ranks on `nodes` nodes rest on, in
 * words: a GPU that was measured, or figures that are assumed. */
void msim_collective_links(const struct msim_platform *p, uint32_t ranks,
                           uint32_t nodes, char *text, size_t size);

/*
 * What an estimate of the collective `w` is over what the data sheet's card and
 * links give, because few networks reach that: 1 where nothing is added, since
 * rows of the network are at hand, or no network is between the ranks.
 */
double msim_collective_shortfall(const struct msim_platform *p,
                                 const struct msim_work *w);

/* Of `places` that have equal shares of `all`, those that have one of `chosen`,
 * drawn without repetition, in the mean. */
double msim_dispatch_places(int64_t chosen, int64_t all, int64_t places);

/* Of the SMs of `p` those that a library's exchange of tokens keeps busy. */
double msim_dispatch_share(const struct msim_platform *p);

/*
 * Widen the estimate of a collective inside a node that stands by itself.
 * Rows are of one machine; others with the same GPU and links take as long for
 * large messages, and up to twice as long, or half, for small ones. So who asks
 * for a GPU by its name, and names no links, gets an interval that has both, at
 * least.
 * What jobs deviate by has that of their machines already
 * ("whole job").
 */
void msim_collective_of_any_machine(const struct msim_platform *p,
                                    const struct msim_work *w,
                                    struct msim_estimate *e);

/* Append to `out` how the estimate for `w` on `p` is made, and the estimate. */
void msim_model_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out);

/* ---- estimate cache ------------------------------------------------------ */
/*
 * A cache of estimates: works repeat, layer by layer and step by step.
 *
 * Works are compared by their bytes, so that callers must zero them before they
 * set members. Not thread-safe.
 */

struct msim_estimate_cache {
    struct msim_work *works;
    struct msim_estimate *estimates;
    uint32_t *slots; /* a hash table: index of a work + 1; 0: free */
    uint32_t n, cap_works, cap_estimates, mask;
};

/* A zeroed cache is ready for use. After a release it is empty. */
void msim_estimate_cache_release(struct msim_estimate_cache *m);

/* As msim_model_predict(), from the cache where it holds `w`. `p` and `strict`
 * must be the same in all calls. Also ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_estimate_cache_predict(struct msim_estimate_cache *m,
                                             const struct msim_platform *p,
                                             const struct msim_work *w,
                                             bool strict,
                                             struct msim_estimate *out,
                                             struct msim_error *err);

/* ---- emulated ------------------------------------------------------------ */
/*
 * Products in types that a GPU has no units for.
 *
 *   bfloat16  PyTorch and cuBLAS compute it in fp32, on cores that are no
 * tensor cores: they widen what they load (pytorch/pytorch pull request
 *             148322). On a T4 that takes as long as fp32 or more than twice as
 *             long, by version (openxla/xla issue 12429, jax-ml/jax issue
 *             21212).
 *   int8      runs at the rate of the next wider type
 *   fp8, fp4  no library has kernels: PyTorch refuses them. They are priced at
 *             the rate of the next wider type, for a job that would be changed.
 *
 * A type for which the GPU has rows of its own is not emulated.
 */

enum msim_emulation {
    MSIM_EMULATED_NO,
    MSIM_EMULATED_BF16,
    MSIM_EMULATED_INT8,
    MSIM_EMULATED_FP8,
    MSIM_EMULATED_FP4,
};

/* How `w` runs on `p`. */
enum msim_emulation msim_emulation_of(const struct msim_platform *p,
                                      const struct msim_work *w);

/* Whether no library runs it. */
bool msim_emulation_is_refused(enum msim_emulation e);

#define MSIM_EMULATION_TEXT 128

/* "bfloat16 is not supported on t4: computed in fp32", into `text`. */
void msim_emulation_text(enum msim_emulation e, const struct msim_platform *p,
                         char *text, size_t size);

/* The work that stands for `w`, which runs as `e`; `w` itself where it is not
 * emulated. */
struct msim_work msim_emulated_work(enum msim_emulation e,
                                    const struct msim_work *w);

/* Make the estimate of that work one of the emulated work. */
void msim_emulated_widen(enum msim_emulation e, struct msim_estimate *out);

/* ---- whole job ----------------------------------------------------------- */
/*
 * Intervals of sums over the kernels of a whole job.
 *
 * An estimate's own interval is that of one operator, as rows of tables judge
 * it. What whole jobs deviate by was seen on two kinds of them.
 *
 * A job that was traced on GPUs ran with all that goes with that: input, other
 * streams and ranks, a machine that may be throttled. All operators of a family
 * share a deviation there, and all kernels that of the machine
 * (models/platform/platform_data.h): a prediction widens its estimates by the
 * first, and its sums by the second.
 *
 * A program that runs alone on one GPU, again and again, is what an execution
 * trace without GPU activities describes. Its estimates have the intervals that
 * whole programs had by kind of work, and its sums what all kernels of a
 * program shared on that GPU (models/factor/program_factors.h).
 */

/* The 90 % interval, as factors from 1 on, of all kernels' time over the
 * prediction: up to `slower` times, and down to 1 / `faster`. */
struct msim_whole_job_machine {
    double slower, faster;
};

/* That of a job, or of a program that runs `alone`, on this GPU. Where no file
 * of spreads is, and on a CPU, the data sheet's trace_factor both ways. */
struct msim_whole_job_machine
msim_whole_job_machine_of(const struct msim_platform *p, bool alone);

/* Give the estimate of a work of a job, or of a program that runs `alone`, the
 * interval that it has there. A time of a user's table stays. */
void msim_whole_job_widen(const struct msim_platform *p,
                          const struct msim_work *w, bool alone,
                          struct msim_estimate *e);

#endif

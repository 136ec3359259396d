/*
 * models/estimate/model.h - the models that make estimates of works.
 *
 * There is a model for each family of works: it picks a fit (fit_index.h),
 * evaluates it (fit_estimate.h), adds what the fit does not know, and explains
 * the result. The laws themselves are in models/law. model.c lists the models.
 * A work that no model covers gets a bound, with a wide interval and
 * MSIM_SOURCE_BOUND, never 0; one whose kernels no law knows
 * (msim_work.nearest) the law of its family, a wide interval and
 * MSIM_SOURCE_NEAREST.
 */
#ifndef MSIM_MODELS_ESTIMATE_MODEL_H
#define MSIM_MODELS_ESTIMATE_MODEL_H
#include "core/work/estimate.h"

#include <stdio.h>

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

/*
 * Widen the estimate of a collective inside a node that stands by itself.
 * Rows are of one machine; others with the same GPU and links take as long for
 * large messages, and up to twice as long, or half, for small ones. So who asks
 * for a GPU by its name, and names no links, gets an interval that has both, at
 * least.
 * What jobs deviate by has that of their machines already
 * (models/estimate/whole_job.h).
 */
void msim_collective_of_any_machine(const struct msim_platform *p,
                                    const struct msim_work *w,
                                    struct msim_estimate *e);

/* Append to `out` how the estimate for `w` on `p` is made, and the estimate. */
void msim_model_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out);

#endif

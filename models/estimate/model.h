/*
 * models/estimate/model.h - the models that make estimates of works.
 *
 * One file per law, each behind this vtable; model.c holds the registry in
 * order of priority. A work that no model covers gets the bandwidth bound:
 * labelled, with a wide interval, never 0.
 */
#ifndef MSIM_MODELS_ESTIMATE_MODEL_H
#define MSIM_MODELS_ESTIMATE_MODEL_H
#include "core/work/estimate.h"

#include <stdio.h>

struct msim_platform; /* models/platform/platform.h */

struct msim_model {
    const char *name; /* the word in reports */
    bool (*covers)(const struct msim_platform *p, const struct msim_work *w);
    enum msim_status (*predict)(const struct msim_platform *p,
                                const struct msim_work *w,
                                struct msim_estimate *out);
    /* Human explanation for --explain: the law, its inputs for this work, the
     * rows that it stands on. Appends to a stdio stream. */
    void (*explain)(const struct msim_platform *p, const struct msim_work *w,
                    FILE *out);
};

/*
 * The best estimate for `w` on `p`: the first model that covers it, else the
 * bound. With `strict` a work without a model is ENOMODEL and `err` names it.
 * Times are above 0 and finite: at most 100 s, where sizes make no sense.
 */
MSIM_MUST_CHECK
enum msim_status msim_model_predict(const struct msim_platform *p,
                                    const struct msim_work *w, bool strict,
                                    struct msim_estimate *out,
                                    struct msim_error *err);

void msim_model_explain(const struct msim_platform *p,
                        const struct msim_work *w, FILE *out);

#endif

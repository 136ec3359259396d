/*
 * models/estimate/model.h - estimates and the models that make them.
 *
 * One file per law, each behind this vtable; model.c holds the registry in
 * order of priority. A work that no model covers gets the bandwidth bound:
 * labelled, with a wide interval, never 0.
 */
#ifndef MSIM_MODELS_ESTIMATE_MODEL_H
#define MSIM_MODELS_ESTIMATE_MODEL_H
#include "core/work/work.h"

#include <stdio.h>

struct msim_platform; /* models/platform/platform.h */

enum msim_source {
    MSIM_SOURCE_MEASURED,
    MSIM_SOURCE_TABLE,
    MSIM_SOURCE_LAW,
    MSIM_SOURCE_NOT_RUN,  /* a law, and curves of other numbers of ranks than a
                             collective has: nobody ran it on this GPU */
    MSIM_SOURCE_SCALED,   /* measured on another GPU, times a ratio of laws */
    MSIM_SOURCE_INFERRED, /* a law, of sizes that a kernel's name, launch and
                           neighbours tell (core/work/kernel/infer.h) */
    MSIM_SOURCE_BOUND,    /* from here on no law or table stands behind it */
    MSIM_SOURCE_CLASS,    /* measured on another GPU, times a ratio of rates */
    MSIM_SOURCE_COUNT
};
const char *msim_source_text(enum msim_source s);

/* low..high is a 90 % interval; low <= us <= high, all microseconds. */
struct msim_estimate {
    double us, low_us, high_us;
    double start_us; /* of `us`, what launch and latency take, whatever the
                        size; 0: not known */
    enum msim_source source;
    enum msim_family family; /* whose law it was */
};

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

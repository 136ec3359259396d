/*
 * plan/step/steps_file.h - the constants of the step law, as fitted.
 *
 * data/laws/steps.json has a fit on all sources of measured jobs, one without
 * each source, and one on none: the constants as they begin.
 */
#ifndef MSIM_PLAN_STEP_STEPS_FILE_H
#define MSIM_PLAN_STEP_STEPS_FILE_H
#include "plan/step/neighbours.h"
#include "plan/step/step_law.h"

/* What the error of a step goes by: the kind of program (the first that fits),
 * and whether some row of the fit is near the job: X(NAME, text), a kind and
 * behind it the same unlike all rows. */
#define MSIM_STEP_CLASS_MAP(X)                                                 \
    X(EXPERTS, "experts")                                                      \
    X(EXPERTS_FAR, "experts, unlike all rows")                                 \
    X(UNFUSED, "unfused")                                                      \
    X(UNFUSED_FAR, "unfused, unlike all rows")                                 \
    X(NARROW, "8 or 4 bits")                                                   \
    X(NARROW_FAR, "8 or 4 bits, unlike all rows")                              \
    X(SHARDED, "sharded")                                                      \
    X(SHARDED_FAR, "sharded, unlike all rows")                                 \
    X(STAGED, "usual, in stages")                                              \
    X(STAGED_FAR, "usual, in stages, unlike all rows")                         \
    X(USUAL, "usual")                                                          \
    X(USUAL_FAR, "usual, unlike all rows")

enum msim_step_class {
#define X(name, text) MSIM_STEP_CLASS_##name,
    MSIM_STEP_CLASS_MAP(X)
#undef X
        MSIM_STEP_CLASSES
};
const char *msim_step_class_text(enum msim_step_class c);
/* By the job alone: as if a row were near. */
enum msim_step_class msim_step_class_of(const struct msim_terms *t);
/* Unlike all rows where none of a fit is near (msim_neighbour_evidence()). */
enum msim_step_class msim_step_class_by(const struct msim_terms *t,
                                        double evidence);

#define MSIM_STEP_SOURCES 12

struct msim_step_fit {
    struct msim_step_constants constants;
    /* 90 % of measured steps lie between predicted / low and predicted * high,
     * of models or sources that the fit did not see. */
    double low[MSIM_STEP_CLASSES], high[MSIM_STEP_CLASSES];
    char sources[MSIM_STEP_SOURCES][48]; /* whose rows it saw */
    uint32_t n_sources;
    struct msim_neighbour *rows; /* that it saw, in order; owned */
    uint32_t n_rows;
};

void msim_step_fit_release(struct msim_step_fit *fit);

/* Whether the steps file of `data_dir`, whose text has `hash`
 * (msim_hash_words()), is as it was shipped. */
bool msim_steps_are_shipped(const char *data_dir, uint64_t hash);

/*
 * The fit without the rows of `without` (NULL or "": the one on all) from what
 * was read of `path`, a steps file (plan/memory/steps_read.h). EUNKNOWN lists
 * the sources. Release in any case.
 */
struct cJSON;
MSIM_MUST_CHECK
enum msim_status msim_step_fit_of(struct msim_step_fit *fit,
                                  const struct cJSON *json, const char *path,
                                  const char *without, struct msim_error *err);

/* Whether rows of `source` entered the fit. */
bool msim_step_fit_uses(const struct msim_step_fit *fit, const char *source);

/* A step with its 90 % interval, us. */
struct msim_step_estimate {
    double us, low_us, high_us;
    struct msim_step_parts parts;
    struct msim_step_exchange exchange; /* 90 % of what waits for it */
    double flops;                       /* a rank and step */
    double correction; /* what neighbours make of the law's time, a factor */
    bool near;         /* some row of the fit is like it */
    enum msim_step_class class; /* whose interval it has, or more */
};
struct msim_step_estimate msim_step_predict(const struct msim_terms *t,
                                            const struct msim_step_fit *fit);

/* Its FLOPs over those of the data sheet's dense rate, in what the products run
 * in. */
double msim_step_mfu(const struct msim_step_estimate *e,
                     const struct msim_platform *on,
                     const struct msim_strategy *s);

/*
 * The ratio of a step to one that measured jobs correct otherwise holds that
 * difference, `over` = correction / the other's. Widen its interval as far as
 * the ratio without corrections; false: they hardly differ.
 */
bool msim_step_ratio_widen(double over, double ratio, double *low,
                           double *high);

#endif

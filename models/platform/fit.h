/*
 * models/platform/fit.h - a fit: the constants of one law for one GPU, stack
 * and kind of work; its curve or correction, its interval, and how it is found
 * and asked.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_H
#define MSIM_MODELS_PLATFORM_FIT_H
#include "core/work/estimate.h"
#include "models/forest/forest.h"
#include "models/law/law.h"

#include <stdio.h>

/* ---- curve --------------------------------------------------------------- */
/*
 * curves: times of a collective by size, for one number of ranks. Points are
 * measured, or inferred from other curves (calibrate/collective).
 *
 * A curve corrects a law. log(time / law) is interpolated between points and
 * between curves, linearly in the logarithm of bytes and of ranks; beyond the
 * outermost points it is constant. Between numbers of ranks and beyond points
 * the interval is wider.
 *
 * In a platform file, a fit of collectives has
 *   "curves"    collective, ranks, nodes
 *               measured: from rows of this GPU (true), or inferred from its
 *               other curves and from other GPUs (false)
 *               bytes, us: the points
 *               spread: half of the 90 % interval of log(measured / us) of each
 *   "variants"  factors of a version and dtype on a collective's curves, by
 * size "logs"      of clusters: version and setting as their rows have them,
 * the factor, and whether the cluster was misconfigured; curves do not use
 * misconfigured logs
 */

struct msim_curve_law;

struct msim_curve {
    enum msim_collective collective;
    uint32_t ranks, nodes, n;
    bool measured;
    double *bytes, *us, *half_width; /* n each, one allocation, of `bytes` */
    /* Of curves that were read: */
    double log_inside; /* the logarithm of its ranks a node */
    uint32_t next;     /* 1 + the next curve of its kind with as many ranks a
                          node; 0: there is none */
    uint32_t other;    /* of the first of these: of those with as many others */
    uint32_t later;    /* on several nodes: 1 + the next of its collective in
                          the order of the list */
    struct msim_curve_law *_Atomic law; /* by the first question; NULL: none */
};

/* A log of a misconfigured cluster; `factor` is its times over the usual ones.
 */
struct msim_curve_log {
    char version[32], setting[48];
    double factor;
};

#define MSIM_VARIANT_BINS 7

/* The logarithm that one version of a library and one dtype add to a
 * collective's curves, by size. */
struct msim_curve_variant {
    char version[32];
    enum msim_dtype dtype;
    enum msim_collective collective;
    double log_factor[MSIM_VARIANT_BINS];
};

/* The bin of a size: four octaves each; the first and the last are open. */
uint32_t msim_variant_bin(uint64_t bytes);

struct msim_curves {
    struct msim_curve *list;
    /* 1 + the first curve of a kind: of a collective, on one node and on
     * several; 0: there is none. Of curves that were read. */
    uint32_t first[MSIM_COLL_WAIT][2];
    uint32_t earliest[MSIM_COLL_WAIT]; /* the same of msim_curve.later */
    struct msim_curve_variant *variants;
    struct msim_curve_log *logs;
    uint32_t n, n_variants, n_logs;
};

/* The correction of a law by curves. */
struct msim_curve_answer {
    double correction; /* log(time / law) */
    double half_width; /* half of a 90 % interval of log(measured / time) */
    bool measured;     /* a measured curve has these ranks, and the size lies
                          between its points */
    bool ranks_run;    /* a measured curve has these ranks */
    bool stand_in;     /* the curves are another collective's */
};

/*
 * The correction for work `w` of a law with `params` on the data sheet `sheet`.
 * False where there is no curve for such groups (on one node, or on several).
 */
bool msim_curves_ask(const struct msim_curves *c, const struct msim_law *law,
                     const struct msim_data_sheet *sheet, const double *params,
                     const struct msim_work *w, struct msim_curve_answer *out);

/* Whether the collective of `w` was measured in its group, in any size. */
bool msim_curves_measured(const struct msim_curves *c,
                          const struct msim_work *w);

/*
 * Work `w` in a group that is spread wider, and was measured with its bytes
 * between the points: over more nodes, of no fewer ranks in all and no more on
 * a node; of messages, of more ranks or nodes. The next such curve behind
 * `*i`, which starts at 0; false behind the last.
 */
bool msim_curves_wider(const struct msim_curves *c, const struct msim_work *w,
                       uint32_t *i, struct msim_work *out);

/* Write a line that names the curves that answer for work `w`. */
void msim_curves_explain(const struct msim_curves *c, const struct msim_work *w,
                         FILE *out);

/* The logarithm to add for the version and dtype of a work; 0 where they are
 * not known. */
double msim_curves_variant(const struct msim_curves *c,
                           const struct msim_work *w);

/* The factor of the misconfigured log that a work names; 1 where it names none.
 */
double msim_curves_log_factor(const struct msim_curves *c,
                              const struct msim_work *w);

/* Read "curves", "variants" and "logs" of the fit `fit`, if it has any. On
 * failure EFORMAT or ENOMEM, and `c` is empty. Release with
 * msim_curves_release(). */
MSIM_MUST_CHECK
enum msim_status msim_curves_read(struct msim_curves *c, const cJSON *fit);
void msim_curves_release(struct msim_curves *c);

/* Remove the inferred curves, which were made from rows of other GPUs, too. */
void msim_curves_keep_measured(struct msim_curves *c);

/* ---- kriging ------------------------------------------------------------- */
/*
 * The correction of a law where rows are few, by rows of similar sizes.
 *
 * Trees need hundreds of rows until their steps lie where the library's do.
 * With fewer rows log(measured / law) is modelled as a smooth function
 * (kriging):
 *
 *     correction(x) = sum over rows i of weight_i k(d_i)
 *     d_i^2         = sum over features f of ((x_f - x_if) / length_scale_f)^2
 *     k(d)          = (1 + sqrt(3) d) exp(-sqrt(3) d)
 *
 * k is the Matern correlation of order 3/2 (Rasmussen and Williams, Gaussian
 * Processes for Machine Learning, 2006, eq. 4.17). Far from all rows the
 * correction is 0: the law alone. calibrate/fit/kriging_fit.h finds the weights
 * and length scales.
 *
 * The variance depends on the row with the largest correlation k: given this
 * row alone, it is in proportion to noise + 1 - k^2 (eq. 2.26).
 *
 * In a platform file, "nearby" has "reach" (an object: the length scale of each
 * feature, in the unit of the feature), "rows" (a text: these features of one
 * row after the other), "weights" (a text: one a row), "noise", and "low" and
 * "high" as in models/forest/forest.h.
 */

struct msim_kriging {
    uint32_t n, n_features;
    uint32_t features[MSIM_LAW_FEATURES]; /* indices into those of the law */
    double length_scale[MSIM_LAW_FEATURES];
    double *rows;    /* n x n_features, over their length scales */
    double *weights; /* n */
    double noise, low, high;
};

/* The correction, limited to low..high, and its standard deviation over that of
 * the fit, which the fit's interval has. */
struct msim_kriging_answer {
    double log, sd_ratio;
};

/* k(d), where `distance2` is d^2. */
double msim_kriging_correlation(double distance2);

/* The correction for the law's features `x`. `correlation` is that between
 * corrections on the rows' GPU and on the GPU that is asked for: 1 where both
 * are the same. */
struct msim_kriging_answer msim_kriging_correct(const struct msim_kriging *m,
                                                const double *x,
                                                double correlation);

/* The sd_ratio where no row is near. */
double msim_kriging_far(const struct msim_kriging *m);

/*
 * Read the "nearby" object of a fit of `law`. On failure EFORMAT or ENOMEM, and
 * `m` is released.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_read(struct msim_kriging *m, const cJSON *json,
                                   const struct msim_law *law);
void msim_kriging_release(struct msim_kriging *m);

/* ---- fit ----------------------------------------------------------------- */
/*
 * A fit: the constants of one law for one stack on one GPU and the correction
 * of that law, as a platform file holds them.
 */

struct msim_platform; /* models/platform/platform.h */
struct msim_fit_left; /* below */

#define MSIM_FIT_BINS 4
#define MSIM_FIT_KEY  72 /* bytes of a key at most */

/* 5 % and 95 % points of log(measured / predicted) on held-out rows, for
 * predictions up to `upto_us`. Where kriging corrects the law, both are over
 * the sd_ratio of its answer ("kriging"). */
struct msim_fit_bin {
    double upto_us, low, high;
};

struct msim_fit {
    const struct msim_law *law;
    char framework[24], key[MSIM_FIT_KEY];
    double params[MSIM_LAW_PARAMS];
    struct msim_gap gap; /* of the measurements */
    struct msim_forest forest;
    struct msim_kriging kriging; /* instead of a forest, where rows are few */
    struct msim_curves curves;   /* of collectives */
    /* of the first msim_law.n_sizes features, on rows fitted on */
    double range_low[MSIM_LAW_FEATURES], range_high[MSIM_LAW_FEATURES];
    struct msim_fit_bin bins[MSIM_FIT_BINS];
    uint32_t n_bins, rows;
    uint32_t models;     /* in the rows, where these are one or two; else 0, and
                            the held-out rows were whole models */
    char table[48];      /* the column `gpu` of the rows */
    uint32_t over_nodes; /* 1 + the next fit of the platform's collectives over
                            nodes, whatever links join them; 0: none */
    double error, heldout; /* mean |predicted / measured - 1| */
    /* Where it is not read yet, and has law, framework, key, rows, over_nodes
     * and maybe bins alone: msim_fit_whole() has the rest; or
     * NULL. */
    struct msim_fit_left *left;
};

/* What becomes of a fit's trees, which take most of the time to read. */
enum msim_fit_trees {
    MSIM_TREES_LEFT, /* it has none */
    MSIM_TREES_READ,
    MSIM_TREES_LATER, /* read when they are needed: texts of `json` stay, and
                         were looked at before */
};

/*
 * Read a fit of a platform file, or of a file of shared laws. EFORMAT, naming
 * `file`, where it is not valid; on failure `c` is empty. Release with
 * msim_fit_release().
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               enum msim_fit_trees trees, const char *file,
                               struct msim_error *err);
void msim_fit_release(struct msim_fit *c);

/*
 * ---- fits that are left ----------------------------------------------------
 *
 * A run asks for a few of a platform's fits, and those of up to five others
 * stand in. So of files that are as they were shipped, loading looks at what a
 * choice among fits goes by (law, framework, key, rows), and leaves all else as
 * text: constants, ranges, intervals, curves, corrections. Files that users
 * make are read at once, for they may have errors.
 */
struct msim_fits_left; /* opaque: of one platform */

/* For up to `n` fits, with the trees of them that their reading reads, and
 * whether the choice goes by their intervals, too; NULL without memory. Free
 * behind the fits. */
struct msim_fits_left *msim_fits_left_new(uint32_t n, enum msim_fit_trees trees,
                                          bool intervals);
/* Accepts NULL. */
void msim_fits_left_free(struct msim_fits_left *all);

/*
 * Leave the fit of the text that `json` (cJSON_Raw) has, which stays and was
 * looked at before: `c` has what the choice goes by, and nothing else. EFORMAT,
 * naming `file`, where it lacks one of the first three, or an interval is
 * wrong.
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_leave(struct msim_fit *c, struct msim_fits_left *all,
                                const cJSON *json, const char *file,
                                struct msim_error *err);

/* The fit with all that it has: `c` itself, or what its text is read to, by the
 * first thread that asks; `c` owns it. NULL without memory. */
const struct msim_fit *msim_fit_whole(const struct msim_fit *c);

/* The same for good: `c` is the whole fit, for whoever changes it. ENOMEM. Not
 * while another thread asks. */
MSIM_MUST_CHECK
enum msim_status msim_fit_complete(struct msim_fit *c);

/* ---- fit index ----------------------------------------------------------- */
/*
 * The fits that a platform can use, and the choice of one of them for a work.
 *
 * A platform uses its own fits, those of platforms that stand in for it, and
 * the laws that all GPUs share. The choice takes the fit with the least
 * variance: another GPU, another stack and another key add a variance each.
 * Every row of `op` picks a fit, a million of them in a run, so the index is
 * sorted by a hash of law and key, and keeps answers: few questions differ.
 */

struct msim_fit_index; /* likewise */

/* A fit that was picked, and how it differs from what was asked for. */
struct msim_pick {
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* that the fit is of; NULL: a shared
                                             law */
    bool other_key;                       /* another dtype or kind stands in */
    bool other_framework;                 /* another stack stands in */
    bool bare;       /* of a kernel without the fit's launch gap */
    bool trees;      /* correct by the fit's trees or kriging */
    double variance; /* of the logarithm, to add to the fit's own */
};

/*
 * Pick the fit of law `law` with the least variance for the stack `framework`
 * among `keys` (ended by NULL, the wanted one first). `framework` NULL or
 * "pytorch": a bare kernel by any stack, those of `prefer` (ended by NULL)
 * first. Of equal variances the earlier key, platform and stack win. False
 * where there is no fit, or no memory to read it. The words of `prefer` are
 * constants: the answer may be one that was given for an array at the same
 * place.
 */
bool msim_fit_pick(const struct msim_platform *p, const struct msim_law *law,
                   const char *framework, const char *const *prefer,
                   const char *const *keys, struct msim_pick *out);

/* Whether a platform has, or inherits, a fit of a law with this key. */
bool msim_fit_has_key(const struct msim_platform *p, const struct msim_law *law,
                      const char *key);

/*
 * Make the index of `p` from its fits, those of the platforms that stand in for
 * it, its shared laws and the fits of `partner` (NULL: none), which come right
 * after its own (msim_platform_pair()). All of these must stay where they are
 * in memory. An earlier index is replaced. ENOMEM; release with
 * msim_fit_index_release().
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_index_make(struct msim_platform *p,
                                     const struct msim_platform *partner);
void msim_fit_index_release(struct msim_fit_index *index);

/*
 * Iterate over what a platform inherits: for each law, stack and key that it
 * has no fit of, the fit that is used. `*at` is 0 before the first call; false
 * at the end.
 */
bool msim_fit_index_inherited(const struct msim_platform *p, uint32_t *at,
                              struct msim_pick *out);

/* The mean |predicted / measured - 1| of such fits on held-out GPUs; NAN where
 * it is not known. */
double msim_pick_held_out_error(const struct msim_platform *p,
                                const struct msim_pick *pick);

/* Half of the 90 % interval inside the fitted sizes, a logarithm. */
double msim_pick_half_width(const struct msim_pick *pick);

/* ---- interval ------------------------------------------------------------ */
/*
 * 90 % intervals around a prediction.
 *
 * The base is quantiles of log(measured / predicted) on held-out rows. Other
 * reasons (another GPU's constants, sizes outside the fitted range) are
 * standard deviations of the logarithm, which are added in quadrature to each
 * side.
 */

/* The quantiles for a prediction of `us` microseconds, as logarithms. */
void msim_interval_base(const struct msim_fit *c, double us, double *low,
                        double *high);

/* The largest distance of a size among the features `x` from the fitted range,
 * a logarithm; 0 inside. */
double msim_interval_outside(const struct msim_fit *c, const double *x);

/* Set the interval of `e` around e->us from the quantiles `low` and `high` and
 * a further standard deviation, all of the logarithm. */
void msim_interval_set(struct msim_estimate *e, double low, double high,
                       double log_sd);

/* ---- fit estimate -------------------------------------------------------- */
/* The estimate that a picked fit makes of a work. */

/* How an operation differs from the one that the fit is of. */
struct msim_adjust {
    double factor;   /* its time over that of the fit's operation */
    double least_us; /* least constant part; 0: that of the fit */
    double log_sd;   /* standard deviation of the logarithm of `factor` */
};

/* The estimate of work `w` from a picked fit on the GPU of `p`; `adjust` may be
 * NULL: the same operation. */
void msim_fit_estimate(const struct msim_platform *p,
                       const struct msim_pick *pick, const struct msim_work *w,
                       const struct msim_adjust *adjust,
                       struct msim_estimate *out);

/* The time alone of that estimate, microseconds, without `adjust`. */
double msim_fit_us(const struct msim_platform *p, const struct msim_pick *pick,
                   const struct msim_work *w);

/* For --explain: write the fit, its constants, its rows and its errors. */
void msim_fit_explain(const struct msim_platform *p,
                      const struct msim_pick *pick, const struct msim_work *w,
                      FILE *out);

#endif

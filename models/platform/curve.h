/*
 * models/platform/curve.h - curves: times of a collective by size, for one
 * number of ranks. Points are measured, or inferred from other curves
 * (calibrate/collective).
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
#ifndef MSIM_MODELS_PLATFORM_CURVE_H
#define MSIM_MODELS_PLATFORM_CURVE_H
#include "models/law/law.h"

#include <stdio.h>

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

#endif

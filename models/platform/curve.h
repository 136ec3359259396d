/*
 * models/platform/curve.h - times of collectives by size, one curve for each
 * number of ranks: measured points, and points inferred from others
 * (calibrate/).
 *
 * A curve corrects a law: what is interpolated between its points, and between
 * curves, is log(time / law), linearly in the logarithm of bytes and of ranks.
 * Beyond the outermost points the correction stays what it is there. Between
 * numbers of ranks, and beyond points, the interval widens.
 *
 * In a platform file, "curves" of a cell:
 *   collective, ranks, nodes   whose
 *   measured    true: rows of this GPU, false: inferred from its other curves
 *               and from its kin
 *   bytes, us   the points
 *   spread      half of the 90 % interval of log(measured / us) at each
 * "variants": factors of a version and dtype on a collective's curves, by size;
 * and "logs", of clusters: version and setting as their rows have them, factor,
 * and whether they were misconfigured, which the curves leave out.
 */
#ifndef MSIM_MODELS_PLATFORM_CURVE_H
#define MSIM_MODELS_PLATFORM_CURVE_H
#include "models/law/law.h"

#include <stdio.h>

struct msim_curve {
    enum msim_collective collective;
    uint32_t ranks, nodes, n;
    bool measured;
    double *bytes, *us, *half_width; /* n each, one allocation, of `bytes` */
};

/* A log of a cluster that ran misconfigured: its times over the usual ones. */
struct msim_curve_log {
    char version[32], setting[48];
    double factor;
};

#define MSIM_VARIANT_BINS 7

/* What one version of a library and one dtype add to a collective's curves: a
 * logarithm, by size. */
struct msim_curve_variant {
    char version[32];
    enum msim_dtype dtype;
    enum msim_collective collective;
    double log_factor[MSIM_VARIANT_BINS];
};

/* Four octaves each; the first and the last are open. */
uint32_t msim_variant_bin(uint64_t bytes);

struct msim_curves {
    struct msim_curve *list;
    struct msim_curve_variant *variants;
    struct msim_curve_log *logs;
    uint32_t n, n_variants, n_logs;
};

/* What curves say of a work. */
struct msim_curve_answer {
    double correction; /* log(time / law) */
    double half_width; /* half of a 90 % interval of log(measured / time) */
    bool measured;     /* the ranks are a measured curve's, the size lies
                          between its points */
    bool ranks_run;    /* the ranks are a measured curve's, of any size */
    bool stand_in;     /* another collective's curves */
};

/*
 * What the curves of a law with `params` on `spec` say of work `w`. False
 * where there are none for groups like it, on one node or on several.
 */
bool msim_curves_ask(const struct msim_curves *c, const struct msim_law *law,
                     const struct msim_data_sheet *sheet, const double *params,
                     const struct msim_work *w, struct msim_curve_answer *out);

/* Say in a line which curves answer for work `w`, measured or inferred. */
void msim_curves_explain(const struct msim_curves *c, const struct msim_work *w,
                         FILE *out);

/* What the version and dtype that a work names add: a logarithm; 0: nothing is
 * known of them. */
double msim_curves_variant(const struct msim_curves *c,
                           const struct msim_work *w);

/* How much longer the log that a work names took than others; 1: not known to
 * be misconfigured. */
double msim_curves_log_factor(const struct msim_curves *c,
                              const struct msim_work *w);

/* Read "curves", "variants" and "logs" of a cell, if it has any. On failure
 * EFORMAT or ENOMEM, and `c` is empty. */
MSIM_MUST_CHECK
enum msim_status msim_curves_read(struct msim_curves *c, const cJSON *fit);
void msim_curves_release(struct msim_curves *c);

/* Forget the curves that are inferred: they know of other GPUs' rows. */
void msim_curves_keep_measured(struct msim_curves *c);

#endif

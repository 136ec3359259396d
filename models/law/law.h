/*
 * models/law/law.h - a law: time as a formula of a data sheet, a work and a few
 * constants, and the features that its correction depends on.
 *
 *     time = law(data sheet, work, constants) * exp(correction(features))
 *
 * The constants and the correction for one stack on one GPU are a fit
 * (models/platform/fit.h). Calibration (calibrate/) and prediction use the same
 * functions. A law is pure: it knows no platform and keeps no state.
 *
 * A new law is a file models/law/NAME_law.c and a line in models/law/law.c.
 */
#ifndef MSIM_MODELS_LAW_LAW_H
#define MSIM_MODELS_LAW_LAW_H
#include "core/work/data_sheet.h"

#define MSIM_LAW_PARAMS   10
#define MSIM_LAW_FEATURES 32

struct msim_param {
    const char *name, *unit;
    double start;     /* where a fit starts; a typical value */
    double low, high; /* bounds of a fit, both above 0 */
};

struct msim_law {
    const char *name;
    const struct msim_param *params;
    uint32_t n_params;
    const char *const *features;
    uint32_t n_features;
    /* The first `n_sizes` features are logarithms of sizes. They define the
     * range that a fit covers. */
    uint32_t n_sizes;
    /* The first `n_names` of these identify a model (hidden size, experts)
     * rather than a size that a kernel sees. They define the range, too, but
     * trees do not split at them: they would learn models by heart. */
    uint32_t n_names;
    /* Standard deviation of the logarithm of one work's time between stacks on
     * the same GPU. It is added where another stack's fit stands in, and for
     * bare kernels, whose library is not known. */
    double stack_log_sd;
    /* The same between keys, `wanted` and `found`; NULL: other_key,log_sd
     * for all pairs. */
    double (*key_log_sd)(const char *wanted, const char *found);
    /* On another GPU the constant part scales with the time of its shortest
     * kernel. Seen in products: with each of six GPUs held out, fits of other
     * generations err by 18.7 % with it and by 21.3 % without it. In attention
     * it makes no difference. */
    bool start_follows_floor;
    /* Where a fit is used without its correction, on another GPU, a constant is
     * at least this; 0: as fitted. Rows of small sizes tell some constants
     * badly, for which the correction makes up. */
    double carried_low[MSIM_LAW_PARAMS];
    /* Where a fit is used without its correction, on another GPU: set the
     * constants that follow other figures of the data sheet `to`. NULL: none
     * do. */
    void (*carry)(const struct msim_data_sheet *to, double *params);
    /* The time in microseconds, above 0. params[0] is always the constant
     * part, in microseconds. */
    double (*time_us)(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params);
    /* Fill the `n_features` features `x`. */
    void (*describe)(const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x);
    /* Fill the first `n_sizes` of these alone, which most works need where
     * nothing corrects the law; NULL: there are few others. */
    void (*sizes)(const struct msim_data_sheet *s, const struct msim_work *w,
                  double *x);
    /* The key of the work's fit among those of one law and framework, at most
     * `size` bytes. */
    void (*key)(const struct msim_work *w, char *text, size_t size);
};

extern const struct msim_law MSIM_LAW_GEMM;
extern const struct msim_law MSIM_LAW_ATTENTION;
extern const struct msim_law MSIM_LAW_CONV;
extern const struct msim_law MSIM_LAW_VECTOR;
extern const struct msim_law MSIM_LAW_MOE;
extern const struct msim_law MSIM_LAW_COLLECTIVE;
extern const struct msim_law MSIM_LAW_DISPATCH;
/* For CPUs. */
extern const struct msim_law MSIM_LAW_CPU_GEMM;
extern const struct msim_law MSIM_LAW_CPU_CONV;
extern const struct msim_law MSIM_LAW_CPU_VECTOR;

/* The law with this name, or NULL. */
const struct msim_law *msim_law_find(const char *name);
/* The law for a family of works on a CPU (`host`) or a GPU; NULL where there is
 * none. */
const struct msim_law *msim_law_of(enum msim_family f, bool host);

/*
 * What a measurement of whole calls adds to the time of a kernel: calls take at
 * least `least_us` each, and a longer kernel takes `added_us` more than by
 * itself (events, the way to the GPU). Zeros: it adds nothing.
 */
struct msim_gap {
    double least_us, added_us;
};

/* The time of a call that is measured so, microseconds: the smooth maximum of
 * `least_us` and the kernel with `added_us`. */
double msim_with_gap(double kernel_us, struct msim_gap gap);
/* The share, 0..1, of a relative change of the kernel's time that shows in
 * msim_with_gap(). */
double msim_gap_share(double kernel_us, struct msim_gap gap);

/* (a^p + b^p)^(1/p), the smooth maximum of two times, for p >= 1. */
double msim_norm2(double a, double b, double p);

#endif

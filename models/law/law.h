/*
 * models/law/law.h - a law: time as a formula of a data sheet, a work and a few
 * constants, and the features that its correction looks at.
 *
 * time = law(spec, work, constants) * exp(forest(features))
 *
 * The constants and the forest of one stack on one GPU form a cell
 * (models/platform/fit.h). The same functions fit (calibrate/) and predict.
 */
#ifndef MSIM_MODELS_LAW_LAW_H
#define MSIM_MODELS_LAW_LAW_H
#include "core/work/data_sheet.h"

#define MSIM_LAW_PARAMS   10
#define MSIM_LAW_FEATURES 32

/* Kinds of one law differ by about as much, as rows of GPUs show that have no
 * cell of the kind (experts of other formats, passes of convolutions). */
#define MSIM_LAW_KEY_LOG_SD 0.35

struct msim_param {
    const char *name, *unit;
    double start;     /* where a fit begins; in use where nothing is fitted */
    double low, high; /* bounds of a fit, both above 0 */
};

struct msim_law {
    const char *name;
    const struct msim_param *params;
    uint32_t n_params;
    const char *const *features;
    uint32_t n_features;
    /* The first `n_sizes` features are logarithms of sizes: the range that
     * was fitted is judged by these. */
    uint32_t n_sizes;
    /* The first `n_names` of those tell models apart rather than sizes that a
     * kernel sees: they bound the range, and trees do not split at them. */
    uint32_t n_names;
    /* How much the same work differs between stacks on the same GPU: a
     * standard deviation of the logarithm. It counts where another stack's
     * rows stand in, and for bare kernels, whose library is not known. */
    double stack_log_sd;
    /* The same for a cell of another key; NULL: MSIM_LAW_KEY_LOG_SD. */
    double (*key_log_sd)(const char *wanted, const char *found);
    /* On another GPU the constant part goes with its shortest kernel. Seen in
     * products: with each of six GPUs left out, kin of other generations are
     * off by 18.7 % so, 21.3 % without; in attention it makes no difference. */
    bool start_follows_floor;
    /* Microseconds, above 0. params[0] is always the constant part, us. */
    double (*time_us)(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params);
    void (*describe)(const struct msim_data_sheet *s, const struct msim_work *w,
                     double *x);
    /* Which cell the work belongs to, within a framework. */
    void (*key)(const struct msim_work *w, char *text, size_t size);
};

extern const struct msim_law MSIM_LAW_GEMM;
extern const struct msim_law MSIM_LAW_ATTENTION;
extern const struct msim_law MSIM_LAW_CONV;
extern const struct msim_law MSIM_LAW_VECTOR;
extern const struct msim_law MSIM_LAW_MOE;
extern const struct msim_law MSIM_LAW_COLLECTIVE;
extern const struct msim_law MSIM_LAW_DISPATCH;
/* Of CPUs. */
extern const struct msim_law MSIM_LAW_CPU_GEMM;
extern const struct msim_law MSIM_LAW_CPU_CONV;
extern const struct msim_law MSIM_LAW_CPU_VECTOR;

/* The law with this name, or NULL. */
const struct msim_law *msim_law_find(const char *name);
/* The law that rows of a family are fitted by, of a CPU (`host`) or a GPU; NULL
 * where there is none. */
const struct msim_law *msim_law_of(enum msim_family f, bool host);

/*
 * What a source adds that times whole calls: it launches no faster than one in
 * `least_us`, and longer kernels take `added_us` more than themselves (its
 * events, the way to the GPU). Zeros: nothing.
 */
struct msim_gap {
    double least_us, added_us;
};

/* What such a source measures of a kernel: the longer of both, smoothly. */
double msim_with_gap(double kernel_us, struct msim_gap gap);
/* How much of a relative change of the kernel shows in that, 0..1. */
double msim_gap_share(double kernel_us, struct msim_gap gap);

/* (a^p + b^p)^(1/p), the smooth maximum of two times, p >= 1. */
double msim_norm2(double a, double b, double p);

#endif

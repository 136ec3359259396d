/*
 * models/platform/shared_laws.h - what a GPU without rows of its own inherits.
 *
 * From GPUs of its own generation whole cells, trees too, since they run the
 * same kernels; from all others laws alone, with constants that are common to
 * all GPUs: fractions of data-sheet rates, fitted on every GPU's rows with
 * equal weight. How far off both are was seen by leaving out one GPU after the
 * other (calibrate/platform/shared_laws_fit.h); data/laws/common.json holds
 * constants and figures, each with its provenance.
 */
#ifndef MSIM_MODELS_PLATFORM_SHARED_LAWS_H
#define MSIM_MODELS_PLATFORM_SHARED_LAWS_H
#include "models/platform/fit.h"

/* Doubt in a cell of another GPU, beside its own interval: standard deviations
 * of the logarithm. */
struct msim_shared_sd {
    const struct msim_law *law; /* NULL: of laws that are not named */
    double generation;          /* the other GPU is of the same generation */
    double other;               /* it is not */
    /* Mean |predicted / measured - 1| of that, in the mean over cells of GPUs
     * left out; NAN where it was not seen. */
    double generation_error, other_error;
};

#define MSIM_SHARED_LAWS 16

/* The shortest kernel that constants of common laws go with, where the start
 * follows it (models/law/law.h). */
#define MSIM_COMMON_FLOOR_US 2.0

struct msim_shared_laws {
    struct msim_fit *fits; /* without trees */
    uint32_t n_fits;
    struct msim_shared_sd sd[MSIM_SHARED_LAWS];
    uint32_t n_sd;
};

/*
 * Read a file of common laws; one that is not there is empty, since a folder
 * of platforms is of use without. Release with msim_shared_laws_release(), also
 * after a failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_shared_laws_read(struct msim_shared_laws *c,
                                       const char *file,
                                       struct msim_error *err);
void msim_shared_laws_release(struct msim_shared_laws *c);

/* The doubt for a law; that of laws without rows where it is not named. */
struct msim_shared_sd msim_shared_laws_sd(const struct msim_shared_laws *c,
                                          const struct msim_law *law);

#endif

/*
 * models/platform/shared_laws.h - the laws that all GPUs share, and the errors
 * of a GPU that uses other GPUs' fits.
 *
 * A GPU without fits of its own uses whole fits, corrections included, of GPUs
 * of its generation, since they run the same kernels. Otherwise it uses shared
 * laws, whose constants are fractions of data-sheet rates, fitted on the rows
 * of all GPUs with equal weight. The errors of both were found by holding out
 * one GPU after the other (calibrate/platform/shared_laws_fit.h).
 * data/laws/common.json has the constants and the errors, each with its
 * provenance.
 */
#ifndef MSIM_MODELS_PLATFORM_SHARED_LAWS_H
#define MSIM_MODELS_PLATFORM_SHARED_LAWS_H
#include "models/platform/fit.h"

/* Standard deviations of the logarithm for using the fit of another GPU, to add
 * to its own interval. */
struct msim_shared_sd {
    const struct msim_law *law; /* NULL: any law that the file does not name */
    double generation;          /* of a GPU of the same generation */
    double other;               /* of another GPU */
    /* Mean |predicted / measured - 1| of both, over fits of held-out GPUs; NAN
     * where it is not known. */
    double generation_error, other_error;
};

#define MSIM_SHARED_LAWS 16

/* What kernels of libraries do, whatever the GPU's fits
 * (data/laws/kernels.json). A folder without that file adds nothing. */
struct msim_library_facts {
    double graph_start_us; /* hidden in rows of products in CUDA graphs */
    char generations[128], frameworks[128]; /* of such rows: " a b " */
    /* Taps a cycle and SM of gradients of a filter a channel with channels
     * last; 0: memory's pace. */
    double last_gradient;
};

struct msim_shared_laws {
    struct msim_library_facts kernels;
    struct msim_fit *fits; /* without trees */
    uint32_t n_fits;
    /* Of a file whose fits are read when they are needed, and where they stand;
     * or NULL. */
    struct msim_fits_left *left;
    char *text;
    struct msim_shared_sd sd[MSIM_SHARED_LAWS];
    uint32_t n_sd;
};

/*
 * Read a file of shared laws. A file that does not exist is empty: a folder of
 * platforms can be used without. Where it is as `data_dir` (NULL: none) was
 * shipped with it, its fits are left (fit.h). EFORMAT or ENOMEM; release
 * with msim_shared_laws_release(), also after a failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_shared_laws_read(struct msim_shared_laws *c,
                                       const char *file, const char *data_dir,
                                       struct msim_error *err);
/* Read the facts of kernels; likewise. */
MSIM_MUST_CHECK
enum msim_status msim_library_facts_read(struct msim_library_facts *k,
                                         const char *file,
                                         struct msim_error *err);
void msim_shared_laws_release(struct msim_shared_laws *c);

/* The figures for a law; typical ones where the file does not name it. */
struct msim_shared_sd msim_shared_laws_sd(const struct msim_shared_laws *c,
                                          const struct msim_law *law);

#endif

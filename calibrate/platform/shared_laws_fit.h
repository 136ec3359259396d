/*
 * calibrate/platform/shared_laws_fit.h - laws that are common to all GPUs, and
 * how far off they are on a GPU of a generation that was left out.
 *
 * Every law, stack and key with rows on GPUs of two generations gets constants
 * that minimise the mean of |log(measured / law)| over all of them, each GPU
 * with as many rows as the others. The same is done again without each
 * generation; what is left on its rows says how good the law is on a GPU that
 * nobody has measured.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_SHARED_LAWS_FIT_H
#define MSIM_CALIBRATE_PLATFORM_SHARED_LAWS_FIT_H
#include "calibrate/fit/law_fit.h"
#include "models/platform/platform_data.h"

#define MSIM_SHARED_PLATFORMS   64
#define MSIM_SHARED_GENERATIONS 32
#define MSIM_SHARED_ROWS        200 /* of a cell, at most, on one GPU */

/* One row, and the platform whose GPU it is of. */
struct msim_shared_row {
    struct msim_sample sample;
    uint32_t platform, order; /* order: in the samples */
    uint8_t generation;
    bool shows_gap; /* rows of this GPU are short enough for it */
    /* By the law fitted without this row's generation; us is 0 where nothing
     * is left to fit on. */
    double us, residual; /* log(measured / us) */
};

/* Whether both are of one law, stack and key, on whatever GPUs. */
bool msim_shared_same_group(const struct msim_shared_row *a,
                            const struct msim_shared_row *b);

/* Rows of one law, stack and key: platforms one after the other. */
struct msim_shared_group {
    uint32_t begin, end;
    uint32_t platforms, generations;
    struct msim_law_constants all, without[MSIM_SHARED_GENERATIONS];
};

struct msim_shared_fit {
    const cJSON *sheets; /* entries of the data-sheet file */
    struct msim_platform *platforms[MSIM_SHARED_PLATFORMS];
    uint8_t generation[MSIM_SHARED_PLATFORMS];
    uint32_t n_platforms, n_generations;
    struct msim_shared_row *rows;
    uint32_t n_rows, cap_rows;
    struct msim_shared_group *fits;
    uint32_t n_fits, cap_fits;
};

/*
 * Load every platform of `sheets` from the folder `data` and take the rows of
 * `samples` (sorted) that are of their GPUs, evenly spread. On failure, too,
 * release with msim_shared_fit_release(). `sheets` and `samples` must live as
 * long.
 */
MSIM_MUST_CHECK
enum msim_status msim_shared_fit_init(struct msim_shared_fit *k,
                                      const cJSON *sheets, const char *data,
                                      const struct msim_samples *samples,
                                      struct msim_error *err);
void msim_shared_fit_release(struct msim_shared_fit *k);

/* Fit the laws, all of them and without each generation, on `threads`. */
MSIM_MUST_CHECK
enum msim_status msim_shared_fit_run(struct msim_shared_fit *k,
                                     uint32_t threads);

/*
 * The laws as cells for the models, into an `out` of zeros, which must be
 * released also after a failure. Their intervals are what was left on
 * generations that were left out. Of generation `without` (below 0: none)
 * nothing went into constants or intervals.
 */
MSIM_MUST_CHECK
enum msim_status msim_shared_fit_laws(const struct msim_shared_fit *k,
                                      int without,
                                      struct msim_shared_laws *out);

#endif

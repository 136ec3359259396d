/*
 * calibrate/platform/shared_laws_fit.h - laws that all GPUs share, and their
 * errors on generations that were held out.
 *
 * Every law, stack and kind with rows on GPUs of two generations gets constants
 * that minimise the mean of |log(measured / law)| over all rows, with about
 * equally many rows of each GPU. The constants are fitted again without each
 * generation; the residuals on its rows show the law's error on a GPU that
 * nobody has measured.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_SHARED_LAWS_FIT_H
#define MSIM_CALIBRATE_PLATFORM_SHARED_LAWS_FIT_H
#include "calibrate/fit/law_fit.h"
#include "models/platform/platform_data.h"

#define MSIM_SHARED_PLATFORMS   64
#define MSIM_SHARED_GENERATIONS 32
#define MSIM_SHARED_ROWS        200 /* of a kind on one GPU, at most */

/* One row, and the platform whose GPU it is of. */
struct msim_shared_row {
    struct msim_sample sample;
    uint32_t platform; /* index in msim_shared_fit.platforms */
    uint32_t order;    /* in the samples */
    uint8_t generation;
    bool shows_gap; /* rows of this GPU and kind are short enough for it */
    /* By the law fitted without this row's generation; us is 0 where no other
     * generation has rows. */
    double us, residual; /* log(measured / us) */
};

/* Whether both are of one law, stack and kind, on any GPUs. */
bool msim_shared_same_group(const struct msim_shared_row *a,
                            const struct msim_shared_row *b);

/* The rows of one law, stack and kind: one platform after the other. */
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
    struct msim_shared_group *groups;
    uint32_t n_groups, cap_groups;
};

/*
 * Load every platform of `sheets` from the folder `data` and take rows of their
 * GPUs, evenly spread, from `samples` (sorted). Release `k` also on failure;
 * `sheets` and `samples` must outlive it.
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
 * Fill `out`, all zeros before, with the laws as fits for the models; release
 * it also on failure. Intervals come from residuals on held-out generations.
 * Rows of generation `without` (below 0: none) are not used.
 */
MSIM_MUST_CHECK
enum msim_status msim_shared_fit_laws(const struct msim_shared_fit *k,
                                      int without,
                                      struct msim_shared_laws *out);

#endif

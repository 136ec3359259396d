/*
 * calibrate/platform/platform_fit.h - platform files from data sheets and
 * tables: one GPU, laws that all share, what held-out GPUs say of them.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_PLATFORM_FIT_H
#define MSIM_CALIBRATE_PLATFORM_PLATFORM_FIT_H
#include "calibrate/collective/coll_fit.h"
#include "calibrate/fit/law_fit.h"
#include "calibrate/rows/samples.h"
#include "core/base/json.h"
#include "models/platform/platform_data.h"

#include <stdio.h>

/* ---- platform fit -------------------------------------------------------- */
/* One platform file from a data sheet and tables. */

struct msim_fit_options {
    const struct msim_conv_ratios *ratios;
    const struct msim_coll_fits *collectives; /* of the same samples */
    uint32_t threads; /* at least 1; what comes out does not depend on it */
    FILE *report;     /* gets a CSV line for each fit; NULL: none */
    struct msim_file *rows; /* gets a line for each held-out row; NULL: none */
    uint32_t *too_few; /* gets the number of rows that are in no fit, because
                          there are too few of their kind; may be NULL */
};

/*
 * Fit all stacks and kinds of the GPUs that `sheet`, an entry of the data-sheet
 * file, names, and make the platform file's tree: `*out` is owned by the
 * caller, NULL on failure. `samples` are sorted.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_fit(cJSON **out, const cJSON *sheet,
                                   const char *sheet_file,
                                   const struct msim_samples *samples,
                                   const struct msim_fit_options *options,
                                   struct msim_error *err);

/* ---- shared laws fit ----------------------------------------------------- */
/*
 * Laws that all GPUs share, and their errors on generations that were held out.
 *
 * Every law, stack and kind with rows on GPUs of two generations gets constants
 * that minimise the mean of |log(measured / law)| over all rows, with about
 * equally many rows of each GPU. The constants are fitted again without each
 * generation; the residuals on its rows show the law's error on a GPU that
 * nobody has measured.
 */

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

/* ---- cross validate ------------------------------------------------------ */
/*
 * leave-one-GPU-out cross-validation.
 *
 * A GPU is predicted as if nobody had measured it: by its data sheet, the fits
 * of other GPUs of its generation, and the laws shared by all GPUs, fitted
 * without its generation. Its rows then show the error of such a prediction. A
 * whole generation is held out in the same way.
 */

enum msim_held_out_kind {
    MSIM_WITHOUT_GPU,        /* other GPUs of its generation stay */
    MSIM_WITHOUT_GENERATION, /* they are held out, too */
};

/*
 * For each law with such rows: the standard deviation of the logarithm that is
 * added to a fit of another GPU, so that 90 % of the rows of held-out GPUs lie
 * inside the interval. They go to `out`, in the place of those that it has.
 * Rows of generation `without` (below 0: none) are not used. `rows` gets the
 * number of rows behind each, with a fit of the same generation and of another;
 * may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cross_validate_sds(const struct msim_shared_fit *k,
                                         int without,
                                         struct msim_shared_laws *out,
                                         uint32_t (*rows)[2]);

/* Write a line of the report for each fit of each held-out GPU. */
extern const char MSIM_CROSS_VALIDATE_HEADER[];
MSIM_MUST_CHECK
enum msim_status msim_cross_validate(const struct msim_shared_fit *k,
                                     enum msim_held_out_kind what, FILE *out);

/* ---- platform merge ------------------------------------------------------ */
/*
 * Keeping the rest of a platform file and a report where only some tables are
 * fitted again.
 *
 * Fits of laws that have no rows among the samples stay in the platform file as
 * they are, and so do their lines of the report.
 */

/* Move what is kept of `old`, the platform file before, into `json`, the new
 * one, in the order of the laws' names. EFORMAT where a fit's law is unknown.
 */
MSIM_MUST_CHECK
enum msim_status msim_platform_merge(cJSON *json, cJSON *old,
                                     const struct msim_samples *s);

/*
 * Write the report `path`: the line `header`, then the lines of `fresh` and
 * those kept of the file as it was, if there is one, by platform in the order
 * of `sheets` and by law.
 */
MSIM_MUST_CHECK
enum msim_status msim_report_merge(const char *path, const char *header,
                                   const char *fresh, const cJSON *sheets,
                                   const struct msim_samples *s,
                                   struct msim_error *err);

#endif

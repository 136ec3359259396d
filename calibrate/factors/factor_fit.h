/*
 * calibrate/factors/factor_fit.h - what whole programs tell of GPUs: factors,
 * spreads, and both as files.
 */
#ifndef MSIM_CALIBRATE_FACTORS_FACTOR_FIT_H
#define MSIM_CALIBRATE_FACTORS_FACTOR_FIT_H
#include "core/base/json.h"
#include "models/factor/program_factors.h"
#include "models/platform/platform.h"

#include <stdio.h>

/* ---- program sums -------------------------------------------------------- */
/*
 * Whole programs: what each took on a GPU, and what the laws say that its kinds
 * of work take there.
 */

/* What works of one factor, spread and family take together. */
struct msim_program_part {
    enum msim_factor factor; /* COUNT: of none */
    enum msim_spread spread; /* likewise */
    enum msim_family family;
    double us, low_us, high_us; /* by the laws; low_us..high_us as an estimate
                                   has them */
};

/* Programs are left out by fifths. */
#define MSIM_PROGRAM_FOLDS 5

struct msim_program_sum {
    uint32_t fold; /* of the platform's programs, taken in turns */
    uint32_t platform, group, source; /* into the names of the list */
    double us;                        /* measured */
    double kind[MSIM_FACTOR_COUNT];   /* by the laws, microseconds */
    double other;                     /* of no kind */
    uint32_t parts, n_parts; /* the same time: a run of the list's parts */
};

struct msim_program_names {
    char (*text)[96];
    uint32_t n, cap;
};

struct msim_program_sums {
    struct msim_program_sum *rows;
    uint32_t n, cap;
    struct msim_program_part *parts;
    uint32_t n_parts, parts_cap;
    struct msim_program_names platforms, groups, sources;
};

/*
 * Read a table of programs: columns trace (a path below `folder`), platform,
 * us, group (rows of one program, held out together) and source. Each trace is
 * loaded once, and its kernels are priced by the laws of `data` alone, without
 * factors. Release with msim_program_sums_release(), also after a failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_sums_read(struct msim_program_sums *s,
                                        const char *table, const char *folder,
                                        const char *data,
                                        struct msim_error *err);
void msim_program_sums_release(struct msim_program_sums *s);

/* ---- factor fit ---------------------------------------------------------- */
/*
 * The factors that whole programs tell of one GPU, and the errors that remain.
 */

struct msim_factor_fit {
    double time[MSIM_FACTOR_COUNT];
    /* Found without the programs of a fold. */
    double without[MSIM_PROGRAM_FOLDS][MSIM_FACTOR_COUNT];
    double share[MSIM_FACTOR_COUNT]; /* of the programs' time by the laws; 0:
                                        the programs do not tell the factor */
    uint32_t rows, groups;
    /* Mean |predicted / measured - 1|, a group counting once: by the laws
     * alone, with the factors, and with factors found without the group. */
    double error_laws, error_fitted, error_held_out;
};

/*
 * Fit the factors of platform `platform` of `s`: least sum over groups of a
 * robust loss of the logarithm of predicted over measured, with a pull of each
 * factor to 1; those of `fixed` kinds (bits) stay 1. ENOMEM, or EINTERNAL where
 * the search fails.
 */
MSIM_MUST_CHECK
enum msim_status msim_factor_fit_make(struct msim_factor_fit *out,
                                      const struct msim_program_sums *s,
                                      uint32_t platform, uint32_t fixed);

/* ---- spread fit ---------------------------------------------------------- */
/*
 * How uncertain whole programs are, by what they are made of and on which GPU.
 *
 * The interval of a program is made of its works' as reports make it
 * (core/report/analyse): within a family widths add; those of families, and
 * what all kernels share on the GPU, add in squares:
 *
 *     high / predicted = 1 + |e^shared - 1,
 *                             sum over a family of share * (e^slower - 1), ...|
 *
 * and likewise down, with e^-shared and e^-faster. Example: 0.6 of a program is
 * of products (slower 0.1), 0.4 pointwise (slower 0.05), and 0.05 is shared: it
 * may take 1 + |0.051, 0.6 * 0.105, 0.4 * 0.051| = 1.084 times as long.
 *
 * Widths of kinds are those of least interval score (the width of an interval
 * and 20 times what is outside, of logarithms; Gneiting and Raftery, Journal of
 * the American Statistical Association 102, 2007, eq. 43), which asks for
 * quantiles and no distribution. Errors are those of programs that the factors
 * were found without. A kind of few programs has the widths of its neighbour
 * (thin products those of all products). What is shared is found last, by GPU:
 * the least for which as many programs are inside as wanted, with widths found
 * without them; some of those of other GPUs count beside its own.
 */

/* A row, its interval found without its program. */
struct msim_spread_judged {
    double off;       /* log(measured / predicted) */
    double low, high; /* logarithms: inside from -low to high */
    double score;     /* as above */
    bool inside;
};

struct msim_spread_fit {
    struct msim_spread_width kind[MSIM_SPREAD_COUNT];
    uint32_t programs[MSIM_SPREAD_COUNT]; /* on a GPU each, of which the kind
                                             is a tenth or more */
    double *shared;                       /* by platform; owned */
    double others; /* the same of GPUs without programs, by those that have
                      some: each as if it were not known */
    struct msim_spread_judged *rows; /* as in the list; owned */
};

/*
 * Fit. `fits` are the factors of each platform, and `unknown` what each would
 * have if it were not known. ENOMEM; release with msim_spread_fit_release() in
 * any case.
 */
MSIM_MUST_CHECK
enum msim_status
msim_spread_fit_make(struct msim_spread_fit *out,
                     const struct msim_program_sums *s,
                     const struct msim_factor_fit *fits,
                     const struct msim_program_factors *unknown);
void msim_spread_fit_release(struct msim_spread_fit *f);

/* ---- spread write -------------------------------------------------------- */
/* Spreads of whole programs as JSON, and how good they are as a table. */

/* Add the member "spread" to `json`, and what is shared to each of its
 * platforms, which are those of `s`, with the figures of the report. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_spread_write(cJSON *json,
                                   const struct msim_program_sums *s,
                                   const struct msim_spread_fit *f);

/* A line of Markdown for each source and GPU: how many are inside, the median
 * of high / low, the mean score, all held out. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_spread_report(FILE *out,
                                    const struct msim_program_sums *s,
                                    const struct msim_spread_fit *f);

#endif

/*
 * calibrate/factors/program_sums.h - whole programs: what each took on a GPU,
 * and what the laws say that its kinds of work take there.
 */
#ifndef MSIM_CALIBRATE_FACTORS_PROGRAM_SUMS_H
#define MSIM_CALIBRATE_FACTORS_PROGRAM_SUMS_H
#include "models/factor/program_factors.h"
#include "models/platform/platform.h"

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

#endif

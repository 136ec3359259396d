/*
 * cli/platforms/platform_page.h - what `platforms NAME` says of one GPU.
 *
 * A summary first: what it is, and how good predictions for it are, family by
 * family; then its data sheet, the cells fitted to its own rows, what it
 * inherits, and where all that came from. At most 100 columns.
 */
#ifndef MSIM_CLI_PLATFORMS_PLATFORM_PAGE_H
#define MSIM_CLI_PLATFORMS_PLATFORM_PAGE_H
#include "core/base/json.h"
#include "models/platform/fit_index.h"
#include "models/platform/platform.h"

#include <stdio.h>

#define MSIM_PLATFORM_PAGE_FAMILIES 7

/* Means over the cells of one family, and what is inherited beside them; the
 * figures are shares, NAN where there are none. */
struct msim_platform_page_family {
    const char *law;
    uint32_t fits, inherited;
    double rows;
    double mean, median, p90, worst; /* errors on rows held back */
    double inside, width;            /* of the 90 % interval; high over low */
    double left_out;                 /* error of what is inherited */
    double within;                   /* its interval: a factor either way */
};

/* What hardly differs inside a generation may be missing in a data sheet. */
#define MSIM_PLATFORM_PAGE_TAKEN 6

struct msim_platform_page_taken {
    const char *key, *unit;
    double value;
};

struct msim_platform_page {
    const struct msim_platform *p;
    const cJSON *file;       /* of the platform */
    struct msim_pick *picks; /* all that is inherited, sorted; owned */
    uint32_t n_picks;
    struct msim_platform_page_family families[MSIM_PLATFORM_PAGE_FAMILIES];
    struct msim_platform_page_taken
        taken[MSIM_PLATFORM_PAGE_TAKEN]; /* that are missing */
    uint32_t n_taken;
    const char *taken_from; /* the platform; NULL: what is typical */
};

/* Whether a law, which may be a CPU's ("cpu_gemm"), is one of a family
 * ("gemm"). */
bool msim_platform_page_belongs(const char *law, const char *family);

/* Gather; `p` and `file` must live as long. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_platform_page_make(struct msim_platform_page *page,
                                         const struct msim_platform *p,
                                         const cJSON *file);
void msim_platform_page_release(struct msim_platform_page *page);

/* Whose cell answers. */
const char *msim_platform_page_whose(const struct msim_pick *pick);

/* Print what timed a machine that was calibrated; nothing of others. */
void msim_platform_page_put_calibration(const cJSON *file, FILE *out);

/* Print it, with `constants` those of every law. */
MSIM_MUST_CHECK
enum msim_status msim_platform_page_print(const struct msim_platform_page *page,
                                          bool constants, FILE *out);

#endif

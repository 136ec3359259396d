/*
 * cli/platforms/platform_page.h - what `platforms NAME` shows of one GPU.
 *
 * The page begins with a summary: what the GPU is, and how good predictions for
 * it are, family by family. Then come its data sheet, the fits to its own rows,
 * the fits that it inherits, and the sources of all figures. It is at most 100
 * columns wide.
 */
#ifndef MSIM_CLI_PLATFORMS_PLATFORM_PAGE_H
#define MSIM_CLI_PLATFORMS_PLATFORM_PAGE_H
#include "core/base/json.h"
#include "models/platform/fit.h"
#include "models/platform/platform.h"

#include <stdio.h>

#define MSIM_PLATFORM_PAGE_FAMILIES 7

/* Means over the fits of one family, own and inherited. Errors and coverage are
 * shares (0.05 is 5 %); NAN where there are none. */
struct msim_platform_page_family {
    const char *law;
    uint32_t fits, inherited;
    double rows;
    double mean, median, p90, worst; /* errors on held-out rows */
    double inside, width;            /* of the 90 % interval; high over low */
    double held_out;        /* error of inherited fits on held-out GPUs */
    double interval_factor; /* of inherited fits: either way */
};

/* Figures that a data sheet may lack: they differ little between GPUs of one
 * generation, and the page shows what is taken instead. */
#define MSIM_PLATFORM_PAGE_TAKEN 6

struct msim_platform_page_taken {
    const char *key, *unit;
    double value;
};

struct msim_platform_page {
    const struct msim_platform *p;
    const cJSON *file;       /* of the platform */
    struct msim_pick *picks; /* inherited fits, sorted; owned */
    uint32_t n_picks;
    struct msim_platform_page_family families[MSIM_PLATFORM_PAGE_FAMILIES];
    struct msim_platform_page_taken
        taken[MSIM_PLATFORM_PAGE_TAKEN]; /* missing in the file */
    uint32_t n_taken;
    const char *taken_from; /* a platform; NULL: typical values */
};

/* Whether a law, which may be a CPU's ("cpu_gemm"), is one of a family
 * ("gemm"). */
bool msim_platform_page_belongs(const char *law, const char *family);

/* Gather what the page shows; `p` and `file` must outlive it. Release in any
 * case. */
MSIM_MUST_CHECK
enum msim_status msim_platform_page_make(struct msim_platform_page *page,
                                         const struct msim_platform *p,
                                         const cJSON *file);
void msim_platform_page_release(struct msim_platform_page *page);

/* The name of the GPU whose fit answers. */
const char *msim_platform_page_whose(const struct msim_pick *pick);

/* Print how a machine was calibrated; nothing for a GPU that was not. */
void msim_platform_page_put_calibration(const cJSON *file, FILE *out);

/* Print the page; `constants`: with the constants of every law. */
MSIM_MUST_CHECK
enum msim_status msim_platform_page_print(const struct msim_platform_page *page,
                                          bool constants, FILE *out);

#endif

/*
 * models/platform/platform_data.h - what a loaded platform holds, for the
 * models.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#define MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#include "models/platform/fit.h"
#include "models/platform/shared_laws.h"
#include "models/platform/sm_clock.h"

struct msim_fit_index_entry {
    uint64_t key, framework; /* hashes */
    uint32_t order;          /* own cells first, common laws last */
    bool trees;
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* NULL: common to all */
    /* For being another GPU's, of the logarithm: to choose by, and to add to
     * the cell's interval (which for a common law has it already). */
    double variance, added;
};

struct msim_fit_index {
    struct msim_fit_index_entry *entries; /* sorted by key, then order */
    uint32_t n;
};

struct msim_platform {
    char name[48], title[96], generation[24];
    char path[1024];
    struct msim_data_sheet sheet;
    struct msim_sm_clock
        clock; /* at which `spec` is; with none asked for, the */
    struct msim_data_sheet usual; /* usual one, and this is not filled */
    /* Times of a convolution's gradients over the forward pass, for the same
     * arithmetic: of the data where there is a stride, of the weight. */
    double conv_strided_data, conv_weight;
    double slowdown; /* msim_platform_slowdown() */
    bool is_host;    /* a CPU */
    bool joined;     /* by a network other than its own: no rows are of it */
    const struct msim_platform *links; /* whose collectives it has; NULL: own */
    struct msim_fit *fits;
    uint32_t n_fits;
    /* Where rows of this GPU are missing, those of others stand in: a list in
     * order of preference; owned. */
    struct msim_platform *next;
    /* Of the platform that was asked for, not of those that stand in: */
    struct msim_shared_laws common;
    struct msim_fit_index index; /* of all cells in reach */
};

/* The data sheet at the usual clock. */
static inline const struct msim_data_sheet *
msim_platform_usual(const struct msim_platform *p)
{
    return p->clock.ratio > 0 ? &p->usual : &p->sheet;
}

/* SM clock over the usual one. */
static inline double msim_platform_clock_ratio(const struct msim_platform *p)
{
    return p->clock.ratio > 0 ? p->clock.ratio : 1;
}

#endif

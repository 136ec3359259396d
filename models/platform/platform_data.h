/*
 * models/platform/platform_data.h - the members of a loaded platform. Private
 * to models/ and calibrate/; others ask platform.h.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#define MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#include "models/factor/evidence.h"
#include "models/factor/program_factors.h"
#include "models/factor/program_spread.h"
#include "models/platform/fit.h"
#include "models/platform/job_spread.h"
#include "models/platform/shared_laws.h"
#include "models/platform/sm_clock.h"
#include "models/platform/timed_rows.h"

struct msim_fit_index_entry {
    uint64_t key, framework; /* hashes */
    uint32_t order;          /* own fits first, shared laws last */
    bool trees;              /* its correction holds on this platform */
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* NULL: a shared law */
    /* Of the logarithm, for being another GPU's: in the choice, and to add to
     * the interval (which for a shared law has it already). */
    double variance, added;
    double least_behind; /* variance, of its key from this entry on */
};

#define MSIM_FIT_BUCKETS (UINT8_MAX + 1) /* by the first bits of a key */
#define MSIM_PICKS_KEPT  256

struct msim_pick_kept; /* a question and its answer */

struct msim_fit_index {
    /* By the hashes of questions: MSIM_PICKS_KEPT, or NULL. */
    struct msim_pick_kept *_Atomic *kept;
    struct msim_fit_index_entry *entries; /* sorted by key, then order */
    uint32_t n;
    uint32_t begins[MSIM_FIT_BUCKETS]; /* the first whose key begins so, or
                                          with more */
};

struct msim_platform {
    char name[48], title[96];
    char path[1024];
    char base[48];                /* whose file it was made from; "": its own */
    struct msim_data_sheet sheet; /* at `clock` */
    struct msim_sm_clock clock;   /* ratio 0: the usual one */
    struct msim_data_sheet usual; /* at the usual clock; empty where clock.ratio
                                     is 0: msim_platform_usual() */
    /* Times of a convolution's gradients over that of a forward pass with the
     * same arithmetic: the data gradient with a stride, the weight gradient. */
    double conv_strided_data, conv_weight;
    double slowdown; /* msim_platform_slowdown() */
    bool is_named;   /* a name was asked for, not a file: of no one machine */
    bool is_host;    /* a CPU */
    bool is_copy;    /* only its index is its own */
    bool joined;     /* by a network that its fits were not measured with */
    const struct msim_platform *links; /* msim_platform_link(); NULL: none */
    char links_of[48]; /* the platform whose links its file says it has; "" */
    struct msim_platform *named_links; /* that platform; owned */
    struct msim_fit *fits;
    uint32_t n_fits;
    struct msim_timed_rows timed; /* of this machine itself */
    bool paired;                  /* by msim_platform_pair() */
    uint32_t over_nodes;          /* 1 + the first of msim_fit.over_nodes */
    /* Of a file whose fits are read later; else NULL. */
    struct msim_fits_left *left;
    char *text; /* where they stand */
    /* The platforms that stand in where it has no fit, a list in order of
     * preference; owned. */
    struct msim_platform *next;
    /* Only of a platform that was loaded, not of those that stand in: */
    struct msim_shared_laws shared;
    struct msim_job_spread jobs;
    struct msim_program_factors programs;
    struct msim_program_spread spread;
    struct msim_evidence evidence;
    struct msim_fit_index index;
};

/* The data sheet at the usual clock. */
static inline const struct msim_data_sheet *
msim_platform_usual(const struct msim_platform *p)
{
    return p->clock.ratio > 0 ? &p->usual : &p->sheet;
}

/* The SM clock over the usual one. */
static inline double msim_platform_clock_ratio(const struct msim_platform *p)
{
    return p->clock.ratio > 0 ? p->clock.ratio : 1;
}

#endif

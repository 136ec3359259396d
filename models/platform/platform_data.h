/*
 * models/platform/platform_data.h - what a platform file holds, for those who
 * read and write it.
 */
#ifndef MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#define MSIM_MODELS_PLATFORM_PLATFORM_DATA_H
#include "core/base/json.h"
#include "core/base/status.h"
#include "core/work/estimate.h"
#include "core/work/work.h"
#include "models/factor/levels.h"
#include "models/factor/program_factors.h"
#include "models/platform/fit.h"
#include "models/platform/sm_clock.h"

/* ---- job spread ---------------------------------------------------------- */
/*
 * What the kernels of one whole job have in common beyond what rows of a table
 * show.
 *
 * Two things go wrong for all kernels of a job at once. The machine takes
 * longer than the one that the tables were timed on: it is throttled, shared or
 * its caches are cold. And the law of a family is off for the sizes that this
 * job has. Both were found between jobs, by real traces that were grouped by
 * the program that they ran (scripts/accuracy/job_spread.py).
 * data/laws/jobs.json has them. They are standard deviations of logarithms,
 * that of the machine one for each side, since a job can hardly be faster than
 * an idle GPU.
 */

struct msim_job_spread {
    bool known;            /* false: no file, all others are 0 */
    double slower, faster; /* of the whole machine */
    double family[MSIM_FAMILY_COUNT];
};

/* Read a file of spreads. One that does not exist leaves `known` false.
 * EFORMAT or ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_job_spread_read(struct msim_job_spread *s,
                                      const char *file, struct msim_error *err);

/* ---- shared laws --------------------------------------------------------- */
/*
 * The laws that all GPUs share, and the errors of a GPU that uses other GPUs'
 * fits.
 *
 * A GPU without fits of its own uses whole fits, corrections included, of GPUs
 * of its generation, since they run the same kernels. Otherwise it uses shared
 * laws, whose constants are fractions of data-sheet rates, fitted on the rows
 * of all GPUs with equal weight. The errors of both were found by holding out
 * one GPU after the other (calibrate/platform/platform_fit.h).
 * data/laws/common.json has the constants and the errors, each with its
 * provenance.
 */

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

/* ---- timed rows ---------------------------------------------------------- */
/*
 * Operators that a calibration timed on its machine, each with its shape: the
 * answer for exactly that operator and shape, whatever a law says, and also
 * where its kind has too few rows for a law.
 *
 * In a platform file,
 *   "timed": [{"law", "framework", "key", "dtype": texts,
 *              "sizes": those of core/work/work.h,
 *              "bytes": that the row counts as read and written,
 *              "us", "low_us", "high_us"}, ...]
 */

struct msim_timed_row;

/* Sorted by what they answer; zeros: none. */
struct msim_timed_rows {
    struct msim_timed_row *list; /* owned */
    uint32_t n;
};

/*
 * A row for `w` on a CPU (`host`) or a GPU with the members from "law" to
 * "sizes", the caller's to add the others to. NULL where a shape does not say
 * all of it, no law is for it, or there is no memory.
 */
cJSON *msim_timed_row_new(const struct msim_work *w, bool host);

/* Read "timed" of a platform file, if it has any. EFORMAT, naming `file`, or
 * ENOMEM; on failure there are none. Release them. */
MSIM_MUST_CHECK
enum msim_status msim_timed_rows_read(struct msim_timed_rows *out,
                                      const cJSON *platform, const char *file,
                                      struct msim_error *err);
void msim_timed_rows_release(struct msim_timed_rows *rows);

/*
 * The time of a work on the machine, a CPU (`host`) or a GPU, that the rows are
 * of. Of a work without a framework PyTorch's own row comes before those of
 * other backends. False where there is none.
 */
bool msim_timed_rows_ask(const struct msim_timed_rows *rows, bool host,
                         const struct msim_work *w, struct msim_estimate *out);

/* ---- platform data ------------------------------------------------------- */
/*
 * The members of a loaded platform. Private to models/ and calibrate/; others
 * ask platform.h.
 */

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

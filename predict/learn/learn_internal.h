/*
 * predict/learn/learn_internal.h - what the files of predict/learn share; no
 * other room includes it.
 */
#ifndef MSIM_PREDICT_LEARN_LEARN_INTERNAL_H
#define MSIM_PREDICT_LEARN_LEARN_INTERNAL_H
#include "core/base/containers.h"
#include "core/job/job.h"
#include "models/factor/levels.h"
#include "models/platform/platform.h"

/* ---- observe ------------------------------------------------------------- */
/*
 * The kernels of traces as observations, with what the models say of each at
 * every clock that is tried.
 */

/* Shares of the usual clock that are tried; the first is the usual one. */
#define MSIM_LEARN_CLOCKS 13
extern const double msim_learn_clocks[MSIM_LEARN_CLOCKS];

/* One operator's kernels, or one of them where works and kernels pair up. */
struct msim_learn_row {
    uint32_t name, kin; /* kind of work, and without its kernel */
    uint32_t trace;     /* its number */
    enum msim_family family;
    double us;
    double model_us[MSIM_LEARN_CLOCKS], start_us[MSIM_LEARN_CLOCKS];
    double times; /* equal shapes of a trace are one row: how many */
};

struct msim_learn_rows {
    struct msim_learn_row *rows; /* owned */
    uint32_t n, cap;
    struct msim_strtab *kinds; /* borrowed */
};

/*
 * Add the rows of `job` as trace `trace`: operators with shapes and timed
 * kernels, and copies. The clock of `p` is afterwards as it was. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_learn_observe(struct msim_learn_rows *out,
                                    const struct msim_job *job, uint32_t trace,
                                    struct msim_platform *p,
                                    struct msim_error *err);

/* ---- fit rows ------------------------------------------------------------ */
/* Clock and factors from rows, with some held out. */

/* Clock, as an index, and factors. */
struct msim_learn_fit {
    int clock;
    struct msim_levels levels;
};

/* Which rows count: those whose fold is not `without`. */
struct msim_learn_split {
    const uint32_t *fold; /* by row */
    uint32_t without;     /* UINT32_MAX: all count */
};

/* ENOMEM; release out->levels in any case. */
MSIM_MUST_CHECK
enum msim_status msim_learn_fit_rows(struct msim_learn_fit *out,
                                     const struct msim_learn_rows *rows,
                                     const struct msim_learn_split *split);

/* The time of a row by a fit. */
double msim_learn_us(const struct msim_learn_fit *fit,
                     const struct msim_learn_row *row);

#endif

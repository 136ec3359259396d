/*
 * plan/rows/job_rows.h - tables of training jobs, answered row by row.
 */
#ifndef MSIM_PLAN_ROWS_JOB_ROWS_H
#define MSIM_PLAN_ROWS_JOB_ROWS_H
#include "core/base/csv.h"
#include "core/report/compare/compare.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/step/step_law.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- job rows ------------------------------------------------------------ */
/*
 * Rows of a table of training jobs: what was run, and what was measured of it.
 *
 * Columns are model, platform, network (between nodes: of data/networks, or a
 * file), those of a strategy (plan/describe/strategy.h), precision, recompute,
 * offload, framework; or hidden, heads, layers instead of a model: a GPT by its
 * numbers, as Megatron-LM trained it before 2023. Optional and never read for a
 * prediction: source, status, step_ms, iteration_ms, memory_gib. Any other
 * column is an error.
 */

/* Rows without a column `source` that describe models by numbers. */
#define MSIM_ROWS_BY_NUMBERS "training_steps"

struct msim_job_rows {
    struct msim_csv *csv;
    uint32_t column[64]; /* private: by what it holds */
    char path[1024];
    char beside[1024]; /* the folder of models beside the table */
    const char *data_dir;
    struct msim_described *models; /* read so far, and their names */
    char (*names)[96];
    uint32_t n_models, cap_models, cap_names;
};

struct msim_job_row {
    const struct msim_described *model;
    struct msim_described by_numbers; /* what `model` points to, if so */
    struct msim_strategy strategy;    /* not complete */
    uint64_t given;                   /* of it */
    const char *named;                /* the model, as the row says it; "" */
    const char *platform;             /* NULL: the row names none */
    const char *network;        /* NULL: the platform's own, else its maker's */
    const char *source;         /* NULL: none */
    bool failed;                /* its status is not "ok" */
    double step_ms, memory_gib; /* measured; 0: not */
    char reason[256];           /* why it cannot be predicted; "" */
};

/* `data_dir` must live as long. Release in any case. EFORMAT names a column
 * that is not known, with the nearest one that is. */
MSIM_MUST_CHECK
enum msim_status msim_job_rows_open(struct msim_job_rows *t, const char *path,
                                    const char *data_dir,
                                    struct msim_error *err);
void msim_job_rows_release(struct msim_job_rows *t);

/* The next row; `*fields` is NULL at the end. Texts are valid until the next
 * call. A row that cannot be read has a reason. */
MSIM_MUST_CHECK
enum msim_status msim_job_rows_next(struct msim_job_rows *t,
                                    struct msim_job_row *row,
                                    char *const **fields,
                                    struct msim_error *err);

/* ---- job prices ---------------------------------------------------------- */
/*
 * Terms of jobs on platforms that are named row by row: each platform is loaded
 * once.
 */

struct msim_job_prices {
    const char *data_dir;
    struct msim_job_platform *platforms; /* private */
    uint32_t n, cap;
};

void msim_job_prices_release(struct msim_job_prices *p);

/* What a job is priced from. */
struct msim_job_priced {
    const struct msim_platform *on; /* owned by struct msim_job_prices */
    struct msim_memory_gpu gpu;     /* what its memory follows from */
    struct msim_terms terms;
    char defaults[256]; /* what was assumed */
};

/*
 * Complete the row's strategy and price it on the platform it names, else on
 * `platform` (may be NULL). Where that cannot be done, `row->reason` says why,
 * and of `*out` the defaults alone can be used. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_price(struct msim_job_prices *p,
                                struct msim_job_row *row, const char *platform,
                                struct msim_job_priced *out);

/* ---- job report ---------------------------------------------------------- */
/*
 * Predictions of a table of jobs, row by row, and how far they are from what
 * was measured.
 */

struct msim_job_report_options {
    const char *data_dir;
    const char *platform; /* of rows that name none; NULL: such have a reason */
    const char *without;  /* the source whose rows no constant may know; NULL */
    bool csv;             /* else text: errors by source */
    bool would_fit;       /* with a column more */
    bool simulate;        /* with two columns more */
    struct msim_judged_wish wish; /* of measured rows */
};

/*
 * Read the table at `path` and write the report to `out`; ECHECK past a limit,
 * or where no row has a prediction, once all is written.
 *
 * CSV: every row, in order, its columns kept, with
 *   predicted_ms, low_ms, high_ms   one optimizer step, a 90 % interval
 *   predicted_memory_gib  the peak of one rank of the first pipeline stage
 *   fits         yes, no; edge: the GPU's memory lies inside the interval of
 *                the peak
 *   uses_rows    1: rows of its source entered the fit
 *   defaults     what was assumed
 *   reason       why there is no prediction; then the figures are empty
 *   would_fit    if asked for: the smallest changes that would make it fit
 *   simulated_ms, simulated_memory_gib  if asked for: what the graph of the job
 *                takes and holds by itself (plan/simulate/job_graph.h)
 *   guards       what cannot be, as words (core/guard/guard.h)
 * Text: for every source the errors of its measured rows, of steps and of
 * peaks; how many runs and failures were called to fit; how many rows trip
 * guards.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_report(const struct msim_job_report_options *o,
                                 const char *path, FILE *out,
                                 struct msim_error *err);

#endif

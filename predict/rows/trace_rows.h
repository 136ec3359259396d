/*
 * predict/rows/trace_rows.h - a table of jobs, each as changes of one traced
 * step: read, answered, judged.
 */
#ifndef MSIM_PREDICT_ROWS_TRACE_ROWS_H
#define MSIM_PREDICT_ROWS_TRACE_ROWS_H
#include "core/base/csv.h"
#include "core/report/compare/compare.h"
#include "predict/scenario/scenario.h"

/* ---- trace job ----------------------------------------------------------- */
/*
 * One job that trains a traced model, as changes of the trace: the one place
 * where columns of tables, and points of plans, become changes.
 *
 *     strategy ddp, gpus 2, batch_per_gpu 32, gpu L40S
 *
 * becomes {"gpu": "L40S"}, {"batch": 32}, {"world": 2}, {"shard": "ddp"}, as a
 * file of `whatif` would have them (predict/scenario).
 */

/* X(name): columns that say what is run, then those that are copied. */
#define MSIM_TRACE_COLUMN_MAP(X)                                               \
    X(gpu)                                                                     \
    X(platform)                                                                \
    X(strategy)                                                                \
    X(zero)                                                                    \
    X(gpus)                                                                    \
    X(nodes)                                                                   \
    X(dp)                                                                      \
    X(tp)                                                                      \
    X(pp)                                                                      \
    X(cp)                                                                      \
    X(ep)                                                                      \
    X(etp)                                                                     \
    X(vp)                                                                      \
    X(batch_per_gpu)                                                           \
    X(micro_batch)                                                             \
    X(grad_accum)                                                              \
    X(global_batch)                                                            \
    X(sequence)                                                                \
    X(layers)                                                                  \
    X(hidden)                                                                  \
    X(amp)                                                                     \
    X(precision)                                                               \
    X(activation_checkpointing)                                                \
    X(recompute)                                                               \
    X(cpu_offload)                                                             \
    X(offload)                                                                 \
    X(optimizer_bits)                                                          \
    X(optimizer_in_backward)                                                   \
    X(step_ms)                                                                 \
    X(iteration_ms)                                                            \
    X(peak_memory_gb)                                                          \
    X(memory_gib)                                                              \
    X(status)                                                                  \
    X(source)                                                                  \
    X(framework)                                                               \
    X(model)

enum msim_trace_column {
#define X(name) MSIM_TRACE_COLUMN_##name,
    MSIM_TRACE_COLUMN_MAP(X)
#undef X
        MSIM_TRACE_COLUMNS
};

extern const char *const msim_trace_column_names[MSIM_TRACE_COLUMNS];

struct msim_trace_job {
    /* One a column; "": empty, a default; NULL: there is no such column. */
    const char *field[MSIM_TRACE_COLUMNS];
    char defaults[256]; /* what was assumed: "grad_accum 1" */
    char kind[96];      /* "fsdp_full amp": how it trains */
    int64_t gpus;       /* of the whole job */
};

/*
 * Read a job's changes into `to`, which has begun a row (predict/scenario).
 * What cannot be said so is the row's reason.
 */
void msim_trace_job_read(struct msim_trace_job *job,
                         struct msim_change_reader *to);

/* The one of two columns that say the same which is there. */
enum msim_trace_column msim_trace_job_either(const struct msim_trace_job *job,
                                             enum msim_trace_column a,
                                             enum msim_trace_column b);

/* ---- trace rows ---------------------------------------------------------- */
/*
 * A table of jobs that train one traced model: each row as changes of the
 * trace.
 *
 *     model,strategy,gpus,batch_per_gpu,gpu
 *     resnet50,ddp,2,32,L40S
 *
 * What each column becomes stands in "trace job". The columns are those of two
 * public tables and may be mixed.
 * A column that is not known is an error; an empty field is a default, which is
 * named; measured columns are copied and read for nothing but errors.
 *
 * Not thread-safe. Texts live as long as the rows.
 */

struct msim_trace_row {
    const char *const *fields;  /* as read, one a column */
    const char *kind;           /* "fsdp_full amp": how it trains */
    int64_t gpus;               /* of the whole job */
    const char *defaults;       /* what was assumed: "grad_accum 1" */
    double step_ms, memory_gib; /* measured; 0: not */
};

struct msim_trace_rows {
    const char *const *columns;
    uint32_t n_columns, n;
    struct msim_trace_row *rows;
    struct msim_scenarios scenarios; /* one a row; a row that cannot be read has
                                        a reason */
    const char *path;                /* private from here on */
    struct msim_csv *csv;
    uint32_t column[64], cap;
    struct msim_error *err;
};

/*
 * Read the table at `path` as changes to `s`. Without a platform in `s` the
 * base takes that of the first row. EFORMAT names a column that is not known.
 * Release in any case; `s` must live as long.
 */
MSIM_MUST_CHECK
enum msim_status msim_trace_rows_read(struct msim_trace_rows *t,
                                      const char *path,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err);
void msim_trace_rows_release(struct msim_trace_rows *t);

/* ---- trace report -------------------------------------------------------- */
/*
 * Predictions of a table of jobs from the trace of one, row by row, and how far
 * they are from what was measured.
 */

/*
 * Write rows that were predicted (msim_scenarios_run()), then do what is wished
 * of those that were measured; ECHECK past a limit, or where no row has a
 * prediction. As CSV: every row, in order, its columns kept, with predicted_ms,
 * low_ms, high_ms   one optimizer step, a 90 % interval predicted_memory_gib
 * the peak of the rank fits yes, no; edge: the GPU's memory lies inside the
 * interval of the peak uses_rows 0: no row of a job entered a fit defaults what
 * was assumed reason       why there is no prediction; then the figures are
 * empty guards       what cannot be, as words (core/guard/guard.h) Else as
 * text: errors by the way to train.
 */
MSIM_MUST_CHECK
enum msim_status msim_trace_rows_report(const struct msim_trace_rows *t,
                                        bool csv,
                                        const struct msim_judged_wish *wish,
                                        FILE *out, struct msim_error *err);

#endif

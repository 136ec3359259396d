/*
 * predict/rows/trace_rows.h - a table of jobs that train one traced model: each
 * row as changes of the trace.
 *
 *     model,strategy,gpus,batch_per_gpu,gpu
 *     resnet50,ddp,2,32,L40S
 *
 * What each column becomes stands in trace_job.h. The columns are those of two
 * public tables and may be mixed.
 * A column that is not known is an error; an empty field is a default, which is
 * named; measured columns are copied and read for nothing but errors.
 *
 * Not thread-safe. Texts live as long as the rows.
 */
#ifndef MSIM_PREDICT_ROWS_TRACE_ROWS_H
#define MSIM_PREDICT_ROWS_TRACE_ROWS_H
#include "core/base/csv.h"
#include "predict/scenario/scenario.h"

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

#endif

/*
 * predict/rows/trace_job.h - one job that trains a traced model, as changes of
 * the trace: the one place where columns of tables, and points of plans, become
 * changes.
 *
 *     strategy ddp, gpus 2, batch_per_gpu 32, gpu L40S
 *
 * becomes {"gpu": "L40S"}, {"batch": 32}, {"world": 2}, {"shard": "ddp"}, as a
 * file of `whatif` would have them (predict/scenario).
 */
#ifndef MSIM_PREDICT_ROWS_TRACE_JOB_H
#define MSIM_PREDICT_ROWS_TRACE_JOB_H
#include "predict/scenario/change.h"

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

#endif

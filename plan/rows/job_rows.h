/*
 * plan/rows/job_rows.h - rows of a table of training jobs: what was run, and
 * what was measured of it.
 *
 * Columns are model, platform, network (between nodes: of data/networks, or a
 * file), those of a strategy (plan/describe/strategy.h), precision, recompute,
 * offload, framework; or hidden, heads, layers instead of a model: a GPT by its
 * numbers, as Megatron-LM trained it before 2023. Optional and never read for a
 * prediction: source, status, step_ms, iteration_ms, memory_gib. Any other
 * column is an error.
 */
#ifndef MSIM_PLAN_ROWS_JOB_ROWS_H
#define MSIM_PLAN_ROWS_JOB_ROWS_H
#include "core/base/csv.h"
#include "plan/describe/strategy.h"

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
    uint32_t given;                   /* of it */
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

#endif

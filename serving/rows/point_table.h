/*
 * serving/rows/point_table.h - a table of served points in memory, with the
 * models and platforms that its rows name, and their answers.
 */
#ifndef MSIM_SERVING_ROWS_POINT_TABLE_H
#define MSIM_SERVING_ROWS_POINT_TABLE_H
#include "core/base/containers.h"
#include "plan/describe/describe.h"
#include "serving/rows/point_answer.h"
#include "serving/rows/point_benchmark.h"

/* What a name in the table stands for; a name that stands for nothing has a
 * reason, which all its rows get. */
struct msim_point_model {
    const char *name;
    char reason[MSIM_POINT_TEXT];
    struct msim_described described;
};

struct msim_point_platform {
    const char *name;
    char reason[MSIM_POINT_TEXT];
    struct msim_platform *platform; /* owned */
};

struct msim_point_row {
    char *const *fields; /* as many as the table has columns */
    struct msim_served_point point;
    const struct msim_point_model *model;
    const struct msim_point_platform *platform;
    struct msim_point_answer answer;
};

struct msim_point_table {
    struct msim_arena arena;
    char *const *header;
    uint32_t columns;
    struct msim_point_row *rows;
    uint32_t n, cap;
    uint32_t *order; /* of rows, those that are served alike together */
    struct msim_point_model **models;
    uint32_t n_models, cap_models;
    struct msim_point_platform **platforms;
    uint32_t n_platforms, cap_platforms;
    struct msim_llm_law *law;
    struct msim_point_benchmarks benchmarks;
};

/* Release in any case. Statuses of msim_serve_rows(). */
MSIM_MUST_CHECK
enum msim_status msim_point_table_read(struct msim_point_table *t,
                                       const char *path, const char *models,
                                       const char *data_dir,
                                       struct msim_error *err);
void msim_point_table_release(struct msim_point_table *t);

/* 0: one served model serves both. */
int msim_point_row_compare(const struct msim_point_row *a,
                           const struct msim_point_row *b);

void msim_point_table_csv(const struct msim_point_table *t, FILE *out);
void msim_point_table_text(const struct msim_point_table *t, FILE *out);

#endif

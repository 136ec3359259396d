/*
 * calibrate/rows/samples.h - tables of measured times: read, kept in memory,
 * and predictions of held-out rows.
 */
#ifndef MSIM_CALIBRATE_ROWS_SAMPLES_H
#define MSIM_CALIBRATE_ROWS_SAMPLES_H
#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/work/rows.h"
#include "models/law/law.h"

/* ---- samples ------------------------------------------------------------- */
/* Tables of measured times in memory. */

/* One measured row. */
struct msim_sample {
    struct msim_work work; /* its texts are the arena's */
    double us;
    const char *gpu;       /* the table's name of it */
    const char *framework; /* "" where none is given */
    const char *key;       /* the kind within the framework */
    const struct msim_law *law;
    /* Rows of one group are held out together: a whole weight shape, head
     * layout, shape, or collective and number of ranks. */
    uint64_t group;
    /* Models that the rows of the fit are of, where they are too few to hold
     * out a whole one: a group is then one model's share on one rank; else 0.
     */
    uint32_t models;
    /* The data sheet of the row's GPU, set when it is fitted; borrowed. */
    const struct msim_data_sheet *sheet;
    /* The launch gap of the row's source on its GPU, where an earlier fit found
     * one; else 0. */
    struct msim_gap gap;
    /* When a law is fitted for all GPUs and its start follows the GPU's
     * shortest kernel: that over shared_law,floor_us; else 0. */
    double start;
};

struct msim_samples {
    struct msim_arena arena;
    struct msim_strtab *texts;
    struct msim_sample *rows;
    uint32_t n, capacity;
    bool host; /* rows of a CPU */
};

MSIM_MUST_CHECK
enum msim_status msim_samples_init(struct msim_samples *s);
void msim_samples_release(struct msim_samples *s);

/* Append the rows of the table `path` that a law covers and whose time is above
 * 0. */
MSIM_MUST_CHECK
enum msim_status msim_samples_add(struct msim_samples *s, const char *path,
                                  struct msim_error *err);

/* Append one row, which took `us` on `gpu`, unless no law covers it. Texts are
 * copied. */
MSIM_MUST_CHECK
enum msim_status msim_samples_add_work(struct msim_samples *s,
                                       const struct msim_work *w,
                                       const char *gpu, double us);

/* Whether both rows are fitted together: law, GPU, framework and key. */
bool msim_sample_same_fit(const struct msim_sample *a,
                          const struct msim_sample *b);

/* Bring the rows of one fit together, in an order that does not depend on their
 * order in the file. */
void msim_samples_sort(struct msim_samples *s);

/* ---- tables -------------------------------------------------------------- */
/* What the programs that fit read and write. */

#define MSIM_TABLES 7

/* A choice of tables; zeros choose all. */
struct msim_tables {
    bool some, chosen[MSIM_TABLES];
};

/* Add the table `name` to the choice; false, with the known names in `err`,
 * where there is none. */
bool msim_tables_choose(struct msim_tables *t, const char *name,
                        struct msim_error *err);

/* Append the rows of the chosen tables in `folder`, and sort. */
MSIM_MUST_CHECK
enum msim_status msim_tables_read(struct msim_samples *s, const char *folder,
                                  const struct msim_tables *t,
                                  struct msim_error *err);

/* Write a tree to `path`, completely or not at all. */
MSIM_MUST_CHECK
enum msim_status msim_tree_write(const cJSON *json, const char *path,
                                 struct msim_error *err);

/* The same, where this program may have read `path`: what it read is brought up
 * to date. */
MSIM_MUST_CHECK
enum msim_status msim_tree_renew(const cJSON *json, const char *path,
                                 struct msim_error *err);

/* ---- held out rows ------------------------------------------------------- */
/*
 * Predictions of held-out rows, one by one.
 *
 * These are the figures behind every mean of the report, for charts:
 * `msim-fit --rows`.
 */

/* A row's prediction by a fit without its group; predicted_us 0: none. */
struct msim_held_out_row {
    double measured_us, predicted_us;
    double low_us, high_us; /* 90 % interval, by residuals of other groups */
    uint32_t fold;
};

/* `low` and `high` are logarithms, relative to the prediction. */
struct msim_held_out_row msim_held_out_row_of(double measured_us,
                                              double predicted_us, double low,
                                              double high, uint32_t fold);

/* The header line of the table, and the line of row `s` of a platform, which is
 * scored as one of `family`; no line where nothing was predicted. */
MSIM_MUST_CHECK
enum msim_status msim_held_out_header_write(struct msim_file *out);
MSIM_MUST_CHECK
enum msim_status msim_held_out_row_write(struct msim_file *out,
                                         const char *platform,
                                         const char *family,
                                         const struct msim_sample *s,
                                         const struct msim_held_out_row *h);

#endif

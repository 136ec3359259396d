/*
 * core/report/compare/compare.h - predictions beside each other: two of them
 * compared, many in a list, and one beside what was measured.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_COMPARE_H
#define MSIM_CORE_REPORT_COMPARE_COMPARE_H
#include "core/base/status.h"
#include "core/report/analyse/outcome.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- compare side -------------------------------------------------------- */
/*
 * One side of a comparison: the figures of a trace or a prediction, without the
 * trace.
 *
 * A side owns all its data, so that a job can be released before the next one
 * is loaded.
 */

/* A name and what it takes in one iteration of one side. */
struct msim_side_row {
    const char *name;
    const char *kind; /* tells rows of one name apart, or NULL */
    double calls;     /* NAN: it is not called */
    struct msim_figure us;
};

struct msim_side_rows {
    struct msim_side_row *rows;
    uint32_t n;
    const char *absent; /* why the table is absent; NULL: it is there */
};

/* What is kept of a trace or a prediction. */
struct msim_side {
    struct msim_arena arena; /* owns everything below */
    bool is_file;            /* read from a prediction's file */
    const char *input;
    uint32_t n_inputs;
    const char *platform, *costs, *host; /* NULL: unknown */
    uint32_t ranks;
    int64_t rank;        /* the rank of the figures, -1 unknown */
    const char *options; /* that made it, where it changes something; or NULL */
    double baseline_us, ratio, ratio_low, ratio_high; /* msim_scenario_note */
    struct msim_step_note step;                       /* of a described job */
    struct msim_figure iteration_us, period_us, kernel_us;
    double transfer_us, wait_us, external_wait_us;
    struct msim_breakdown breakdown_us;
    double overlapped_communication_us, overlapped_copy_us;
    struct msim_side_rows iterations, families, ops, kernels, streams;
    struct msim_side_rows host_ops, owners; /* owners of the critical path */
    struct msim_side_rows main_waits, gpu_idle; /* by what was waited for */
    struct msim_rank_row *ranks_detail;
    uint32_t n_ranks_detail;
    const char **warnings;
    uint32_t n_warnings;
    struct msim_file_info *files; /* what became of their records */
    uint32_t n_files;
};

/* Copy the figures of a prediction; `*out` is the caller's, NULL on failure. */
MSIM_MUST_CHECK
enum msim_status msim_side_new(struct msim_side **out,
                               const struct msim_prediction *p, bool is_file);
void msim_side_free(struct msim_side *s); /* accepts NULL */

/* Kinds of GPU activities, for durations that do not show them. */
struct msim_side_families {
    const uint8_t *of_gpu; /* index into `names`, one a GPU activity of the
                              rank that the side is of */
    const char *const *names;
    uint32_t n_names;
};

/*
 * Add what only the simulated tasks know: kernels and streams over the
 * selected iteration (an index, or UINT32_MAX: all), and, with `families`, the
 * kind of operator of each kernel.
 */
MSIM_MUST_CHECK
enum msim_status msim_side_add_tasks(struct msim_side *s,
                                     const struct msim_outcome *o,
                                     uint32_t iteration,
                                     const struct msim_side_families *families);

/*
 * Read back a file that `--json` wrote. EFORMAT where it is JSON of another
 * kind. `*out` is the caller's and owns all its texts; NULL on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_prediction_read(struct msim_prediction **out,
                                      const char *path, struct msim_error *err);

/* Is it JSON whose schema is one of ours, in any version? */
bool msim_prediction_is_file(const char *path);

/* ---- compare ------------------------------------------------------------- */
/*
 * Two traces or predictions, and what changed.
 *
 * Each side is reduced to its figures (struct msim_side), so that the traces
 * of one are gone before those of the other are loaded; then rows of one name
 * are paired. Every figure is a mean over the side's selected iterations, and
 * with several ranks of its slowest rank, as in a prediction. The rows of a
 * table sum to its total, and so do their differences:
 *
 *     A: mm 4 calls, 800 us      B: mm 4 calls, 500 us    difference -300
 *     A: add 2 calls, 100 us     B: fused 2, 60 us        gone -100, new +60
 *     total 900                  560                      -340
 *
 * families and ops sum kernels and the transfers of collectives; kernels and
 * streams sum copies and memsets as well. A prediction's file has no kernels
 * and no streams, and a model estimates operators, not their kernels: tables
 * that one side lacks are absent, and say why.
 *
 * A difference is beyond the intervals where the 90 % intervals of the two
 * sides do not meet. On two predictions by one platform file this is stricter
 * than it need be: they share its errors.
 *
 * JSON, schema mystique-sim/comparison/1 (unknown is null):
 *     version
 *     a, b            input, inputs (how many), kind ("trace" or
 *                     "prediction"), platform, costs, host, ranks, rank (that
 *                     the tables are of), iterations (how many)
 *     iteration_us, period_us, measured_us (of the iteration), kernel_us,
 *     communication_us {transfer, wait}, external_wait_us,
 *     overlapped_us {communication, memory_copy}
 *                     each {a, b, difference, ratio, beyond_intervals}:
 *                     difference is b - a, ratio b / a, beyond_intervals null
 *                     where neither side has an interval
 *     breakdown_us    a table whose rows are the five classes
 *     main_thread_waits, gpu_idle
 *                     tables by what was waited for: by the thread that bears
 *                     the iteration, and while nothing ran on the GPU
 *     iterations      a table, by name where sides share one, else by order
 *     families, ops, kernels, streams, host_ops, critical_path
 *                     tables, largest difference first
 *     ranks           one record a rank: rank, only, iteration_us, kernel_us,
 *                     communication_us, breakdown_us, each figure as above
 *     warnings
 *   A table is {of, absent, a_us, b_us, difference_us, rows}; absent is null
 *   or says why there are no rows; a row is {name, b_name (iterations paired
 *   by order), kind ("kernel", "communication", "copy"), only (null, "a":
 *   gone, "b": new), a_calls, b_calls, a_us, b_us, difference_us, ratio,
 *   share (of the table's difference; null where that is 0),
 *   beyond_intervals}.
 */

enum msim_beyond { MSIM_BEYOND_UNKNOWN, MSIM_BEYOND_NO, MSIM_BEYOND_YES };

/* One row of a table: index 0 is A, 1 is B. */
struct msim_change {
    const char *name[2]; /* NULL: not on that side */
    const char *kind;
    double calls[2];
    struct msim_figure us[2]; /* 0 where it is not on that side */
    double difference;        /* us */
    enum msim_beyond beyond;
};

struct msim_changes {
    const char *key; /* "ops" */
    const char *of;  /* what the rows are and sum to */
    struct msim_change *rows;
    uint32_t n;
    struct msim_change total;
    const char *absent; /* as in msim_side_rows */
};

struct msim_rank_change {
    int64_t rank;
    bool on[2]; /* which side has it */
    struct msim_change iteration, kernel, transfer, wait;
    struct msim_change breakdown[5]; /* in the order of MSIM_CLASSES */
};

#define MSIM_CLASSES 5
extern const char *const MSIM_CLASS_NAMES[MSIM_CLASSES];

struct msim_comparison {
    struct msim_arena arena;
    const struct msim_side *side[2]; /* the caller's */
    struct msim_change iteration, period, measured, kernel, transfer, wait,
        external;
    struct msim_change overlapped_communication, overlapped_copy;
    struct msim_changes breakdown, iterations, main_waits, gpu_idle;
    struct msim_changes families, ops, kernels, streams;
    struct msim_changes host_ops, owners; /* owners of the critical path */
    struct msim_rank_change *ranks;       /* by number; none: one rank each */
    uint32_t n_ranks;
    const char **warnings;
    uint32_t n_warnings;
    const char *odd; /* that of them that one iteration has most of the change;
                        NULL: none */
};

/* Pair the sides, which must outlive the result; `*out` is the caller's. */
MSIM_MUST_CHECK
enum msim_status msim_compare(struct msim_comparison **out,
                              const struct msim_side *a,
                              const struct msim_side *b);
void msim_comparison_free(struct msim_comparison *c); /* accepts NULL */

/* b / a; NAN where it means nothing. */
double msim_change_ratio(const struct msim_change *c);
/* Share of a table's difference; NAN where that is 0. */
double msim_change_share(const struct msim_changes *t,
                         const struct msim_change *c);

MSIM_MUST_CHECK
enum msim_status msim_report_compare_text(const struct msim_comparison *c,
                                          FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_report_compare_json(const struct msim_comparison *c,
                                          FILE *out);
/* Write one CSV line for each row of each table; the first column names the
 * table. */
MSIM_MUST_CHECK
enum msim_status msim_report_compare_csv(const struct msim_comparison *c,
                                         FILE *out);

/* ---- job list ------------------------------------------------------------ */
/*
 * A table of jobs: its first rows as text, a line a job, of what is predicted
 * beside what was measured; all as CSV.
 */

#define MSIM_JOB_LIST_ROWS 20 /* what fits on a screen */

struct msim_listed_job {
    const char *job;    /* which model, how many GPUs, how */
    const char *reason; /* why there is no prediction; "" */
    double measured_ms; /* a step; 0: not measured */
    double us, low_us, high_us;
    double gib;       /* at the peak; 0 or NAN: not known */
    const char *fits; /* word, NULL: not known */
};

/* The heading of a list. */
void msim_job_list_begin(FILE *out);
/* Row `number` of the table, from 1; nothing beyond the first rows. */
void msim_job_list_add(FILE *out, uint64_t number,
                       const struct msim_listed_job *line);
/* How many rows of `n` the list has left out, and how many are `predicted`; why
 * the first of the others is not. */
void msim_job_list_end(FILE *out, uint64_t predicted, uint64_t n,
                       const char *why);

/* What a table of jobs gets as CSV, behind its own columns. */
struct msim_job_answer {
    double ms, low_ms, high_ms; /* a step, and its 90 % interval */
    double gib;                 /* at the peak; NAN: not known */
    const char *fits;           /* word; NULL: not known */
    const char *uses_rows;      /* "1": of a job that a fit has seen */
    const char *defaults;       /* what was assumed */
    const char *reason;         /* with one, what is above is left empty; "" */
};
void msim_job_answer_head(FILE *out);
void msim_job_answer_csv(FILE *out, const struct msim_job_answer *a);

/* ---- judged -------------------------------------------------------------- */
/*
 * Predictions against what was measured, as errors by group.
 *
 *     step  nanotron    predicted 95, 80 to 120, measured 100
 *
 * is an error of -5 %, inside its interval. A group is a text, such as a source
 * or a way to train. The table has a line for each group and figure: mean,
 * median, 90th percentile and worst of |error|, the share inside.
 *
 * Not thread-safe. Grows on the heap; release it.
 */

enum msim_judged_figure { MSIM_JUDGED_STEP, MSIM_JUDGED_MEMORY };

/* One prediction. */
struct msim_judged {
    uint32_t group; /* index of its name */
    enum msim_judged_figure figure;
    double measured, predicted, low, high;
};

struct msim_judged_groups {
    struct msim_judged *all;
    uint32_t n, cap;
    char (*names)[48];
    uint32_t n_names, cap_names;
};

/* A prediction with its interval; a `measured` of 0 counts nothing. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_judged_add(struct msim_judged_groups *g,
                                 const char *group,
                                 enum msim_judged_figure figure,
                                 double measured, double predicted, double low,
                                 double high);

/* Its error, in percent of what was measured. */
double msim_judged_error(const struct msim_judged *j);

/* The table, with a line for all of several groups; `note` gives the last
 * column of a group, headed `note_head`. NULL: there is none. */
MSIM_MUST_CHECK
enum msim_status
msim_judged_write(const struct msim_judged_groups *g, const char *group_head,
                  const char *note_head,
                  const char *(*note)(const void *ctx, const char *group),
                  const void *ctx, FILE *out);
void msim_judged_release(struct msim_judged_groups *g);

/* ---- judged wish --------------------------------------------------------- */
/*
 * What else is asked of predictions that were judged: a picture, and a limit.
 *
 * The picture has predicted against measured: a dot a job, its interval, and
 * the line on which both are equal; a panel of steps and one of peaks.
 */

struct msim_judged_wish {
    const char *chart; /* the picture's path; NULL: none */
    double limit;      /* of the mean error of all steps, percent; 0: none */
};

/*
 * Draw, and hold the mean to its limit: ECHECK past it; EFORMAT where nothing
 * is measured that could be drawn or held.
 */
MSIM_MUST_CHECK
enum msim_status msim_judged_grant(const struct msim_judged_groups *g,
                                   const struct msim_judged_wish *wish,
                                   struct msim_error *err);

#endif

/*
 * core/report/compare/compare.h - two traces or predictions, and what changed.
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
#ifndef MSIM_CORE_REPORT_COMPARE_COMPARE_H
#define MSIM_CORE_REPORT_COMPARE_COMPARE_H
#include "core/report/compare/compare_side.h"

#include <stdio.h>

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

#endif

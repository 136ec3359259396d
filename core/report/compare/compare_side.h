/*
 * core/report/compare/compare_side.h - one side of a comparison: the figures of
 * a trace or a prediction, without the trace.
 *
 * A side owns all its data, so that a job can be released before the next one
 * is loaded.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_COMPARE_SIDE_H
#define MSIM_CORE_REPORT_COMPARE_COMPARE_SIDE_H
#include "core/report/analyse/outcome.h"

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

#endif

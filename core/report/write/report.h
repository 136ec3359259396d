/*
 * core/report/write/report.h - a prediction as text, JSON, CSV, timeline and
 * chart; and the forms of numbers in them.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_H
#define MSIM_CORE_REPORT_WRITE_REPORT_H
#include "core/base/json.h"
#include "core/job/job.h"
#include "core/report/analyse/prediction.h"

#include <stddef.h>

/* ---- report format ------------------------------------------------------- */
/*
 * Figures and names as people read them.
 *
 * For all text that people read: reports, explanations, the page of a platform.
 */

#define MSIM_CELL 32 /* bytes that any formatted figure fits into */

#define MSIM_FIGURE 192 /* and one with interval and measured time */

/* A unit of time and how many decimals it is shown with. */
struct msim_unit {
    const char *name;
    double us; /* microseconds in one */
    int decimals;
};

/* The unit in which `us` (NAN counts as 0) has 1 to 999 before the point. */
const struct msim_unit *msim_unit_for(double us);

/* "12.3", without the unit; "-" for NAN. */
void msim_format_in(char cell[MSIM_CELL], const struct msim_unit *u, double us);

/* "12.3 ms" in its own unit; "-" for NAN. */
void msim_format_time(char cell[MSIM_CELL], double us);

/* "12.3 %" for 0.123; "-" for NAN. */
void msim_format_share(char cell[MSIM_CELL], double share);

/* "+2.8 %": predicted against measured; "-" where either is unknown. */
void msim_format_error(char cell[MSIM_CELL], const struct msim_figure *f);

/*
 * "10.0 ms 90 %: 8.0 to 13.0 ms measured 9.8 ms, error +2.0 %", as far as it
 * is known; no interval where it is a point. The first figure is padded to
 * nine columns. With `elsewhere` (msim_prediction) what was measured is of
 * another run: "traced 9.8 ms, change +2.0 %".
 */
void msim_format_figure(char text[MSIM_FIGURE], const struct msim_figure *f,
                        bool elsewhere);

/*
 * What a prediction changes: "traced 112.2 ms -> predicted 56.1 ms, x 0.500
 * (90 %: 0.480 to 0.510)" of the period, as far as it is known. Empty without a
 * change.
 */
void msim_format_scenario(char text[MSIM_FIGURE],
                          const struct msim_prediction *p);

/* The options that made a prediction, separated by blanks, or "". */
void msim_format_options(char *out, size_t size,
                         const struct msim_scenario_note *n);

/* "1.23 T" with the prefixes k, M, G, T, P, E; "-" for NAN. */
void msim_format_large(char cell[MSIM_CELL], double value);
/* Memory that is held: "1.23 GiB", in powers of 1024; "-" for NAN. */
void msim_format_memory(char cell[MSIM_CELL], double bytes);

/*
 * `name` made fit to print. Bytes that are not UTF-8 and control characters
 * become '?'; the middle of a name longer than `columns` characters becomes
 * "...". Truncates to `size` bytes as well, never inside a character. A
 * character counts as one column. Returns the columns used.
 */
unsigned msim_format_name(char *out, size_t size, const char *name,
                          unsigned columns);

/*
 * msim_format_name() for an operator or a kernel, without words that say
 * little: those before every backward operator; of a C++ kernel `void`,
 * parameters, anonymous namespaces and PyTorch's own. A long kernel loses its
 * end.
 */
unsigned msim_format_op(char *out, size_t size, const char *name,
                        unsigned columns);

/* "12", "0.67": how often, as a mean. */
void msim_format_calls(char cell[MSIM_CELL], double calls);

/* The first line of a report: what was predicted, and for what. */
void msim_format_title(char *out, size_t size, const struct msim_prediction *p);

/* ---- report -------------------------------------------------------------- */
/*
 * A prediction as text, JSON, CSV, timeline and chart.
 *
 * The writers print nothing but the report. A file is written beside its place
 * and renamed into it, so that a failure leaves the old one. EIO where writing
 * fails.
 */

/* For people: how long it takes, where the time goes, what is not covered. */
MSIM_MUST_CHECK
enum msim_status msim_report_text(const struct msim_prediction *p, FILE *out);
/* Its first part alone: what bounds the job, its times, where they go. */
MSIM_MUST_CHECK
enum msim_status msim_report_brief(const struct msim_prediction *p, FILE *out);
/* One object, schema mystique-sim/prediction/1, keys in contract order. */
MSIM_MUST_CHECK
enum msim_status msim_report_json(const struct msim_prediction *p, FILE *out);
/* Its member `breakdown_us`, and one of a figure with its interval. */
void msim_report_json_breakdown(struct msim_json *j,
                                const struct msim_breakdown *b);
void msim_report_json_range(struct msim_json *j, const char *key,
                            double predicted, double low, double high);
/* RFC 4180, one line an operator. */
MSIM_MUST_CHECK
enum msim_status msim_report_csv(const struct msim_prediction *p, FILE *out);
/* A member: what became of the records of each file. `timeless`: where nothing
 * may follow from the times in it, neither lengths nor places in the file. */
void msim_report_json_import(struct msim_json *j, const char *key,
                             const struct msim_file_info *files, uint32_t n,
                             bool timeless);
/* Its member `measured_jobs`, of a job that is described. */
void msim_report_json_step(struct msim_json *j, const struct msim_step_note *s);
/* The same as a phrase: "x 1.65 of the 724.8 ms that the graph takes by
 * itself"; "" where nothing is described. */
#define MSIM_STEP_TEXT 96
void msim_report_step_text(const struct msim_step_note *s,
                           char text[MSIM_STEP_TEXT]);
/* Its member `memory_bytes`, and that of one of its ranks. */
void msim_report_json_memory(struct msim_json *j,
                             const struct msim_memory_note *m);
void msim_report_json_rank_memory(struct msim_json *j,
                                  const struct msim_memory_note *m);
/* What it is called in JSON and CSV: "sm_busy". */
const char *msim_usage_key(enum msim_usage of);
/* What GPUs do over time: means over all of them in one record; and a member of
 * all of them with quantiles and curves. */
void msim_report_json_usage_means(struct msim_json *j, const char *key,
                                  const double means[MSIM_USAGES]);
void msim_report_json_usage(struct msim_json *j,
                            const struct msim_prediction *p);
/* Means over all GPUs; NAN where one of them is not known, or there is none. */
void msim_usage_means(const struct msim_prediction *p,
                      double means[MSIM_USAGES]);
/* As a phrase: "SMs busy 41.0 %, warps held 22.0 %, 312 GB/s, 4.1 TFLOP/s, 180
 * W"; "" where nothing is known. */
#define MSIM_USAGE_TEXT 160
void msim_usage_text(const double means[MSIM_USAGES],
                     char text[MSIM_USAGE_TEXT]);
/* What was measured, on each GPU where there are several; as text, "" where
 * nothing was, and as a member, or null. */
#define MSIM_RECORDED_TEXT 1024
void msim_report_recorded_text(const struct msim_recorded_list *l,
                               char text[MSIM_RECORDED_TEXT]);
void msim_report_json_recorded(struct msim_json *j, const char *key,
                               const struct msim_recorded_list *l);
/* '!' where it is not expected to fit, '?' where it is, but the GPU's memory
 * lies inside the interval of what is needed; else '\0'. */
char msim_report_memory_mark(const struct msim_memory_note *m);
/* A line that says what that sign means; none of '\0'. */
void msim_report_memory_key(char mark, FILE *out);
/* The peak in GiB with that mark; "-" where it is not known. */
void msim_report_memory_cell(char cell[MSIM_CELL],
                             const struct msim_memory_note *m);
/* Where it does not fit: what it needs, of what, and what would make it fit, in
 * lines; `indent` before all but the first. */
void msim_report_memory_text(const struct msim_memory_note *m,
                             const char *indent, FILE *out);
/* Sentences with "warning: " before each, apart from what is above. */
void msim_report_warnings(const char *const *warnings, uint32_t n, FILE *out);
/* Chrome trace format; opens in the Perfetto UI. `path` may end in .gz. */
MSIM_MUST_CHECK
enum msim_status msim_report_timeline(const struct msim_timeline *t,
                                      const char *path, struct msim_error *err);
/* gnuplot; the suffix of `path` (.svg or .png) chooses the format. */
MSIM_MUST_CHECK
enum msim_status msim_report_chart(const struct msim_prediction *p,
                                   const char *path, struct msim_error *err);

/* `info`: what is in the files and what is missing. */
MSIM_MUST_CHECK
enum msim_status msim_info_text(const struct msim_job *job, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_info_json(const struct msim_job *job, FILE *out);

#endif

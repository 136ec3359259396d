/*
 * core/report/write/report.h - a prediction as text, JSON, CSV, timeline and
 * chart.
 *
 * The writers print nothing but the report. A file is written beside its place
 * and renamed into it, so that a failure leaves the old one. EIO where writing
 * fails.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_H
#define MSIM_CORE_REPORT_WRITE_REPORT_H
#include "core/base/json_out.h"
#include "core/job/job.h"
#include "core/report/analyse/prediction.h"
#include "core/report/write/report_format.h"

/* For people: how long it takes, where the time goes, what is not covered. */
MSIM_MUST_CHECK
enum msim_status msim_report_text(const struct msim_prediction *p, FILE *out);
/* Its first part alone: what bounds the job, its times, where they go. */
MSIM_MUST_CHECK
enum msim_status msim_report_brief(const struct msim_prediction *p, FILE *out);
/* One object, schema mystique-sim/prediction/1, keys in contract order. */
MSIM_MUST_CHECK
enum msim_status msim_report_json(const struct msim_prediction *p, FILE *out);
/* RFC 4180, one line an operator. */
MSIM_MUST_CHECK
enum msim_status msim_report_csv(const struct msim_prediction *p, FILE *out);
/* A member: what became of the records of each file. `timeless`: where nothing
 * may follow from the times in it, neither lengths nor places in the file. */
void msim_report_json_import(struct msim_json *j, const char *key,
                             const struct msim_file_info *files, uint32_t n,
                             bool timeless);
/* Members of a record of operators: what they compute and move, and how fast
 * (docs/json.md). */
void msim_report_json_sizes(struct msim_json *j, const struct msim_op_sizes *s);
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
/* What was measured, on each GPU where there are several; as text, and as a
 * member, or null. */
void msim_report_put_recorded(const struct msim_recorded_list *l, FILE *out);
void msim_report_json_recorded(struct msim_json *j, const char *key,
                               const struct msim_recorded_list *l);
/* '!' where it is not expected to fit, '?' where it is, but the GPU's memory
 * lies inside the interval of what is needed; else '\0'. */
char msim_report_memory_mark(const struct msim_memory_note *m);
/* The peak in GiB with that mark; "-" where it is not known. */
void msim_report_memory_cell(char cell[MSIM_CELL],
                             const struct msim_memory_note *m);
/* Where it does not fit: what it needs, of what, and what would make it fit, in
 * lines; `indent` before all but the first. */
void msim_report_memory_text(const struct msim_memory_note *m,
                             const char *indent, FILE *out);
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

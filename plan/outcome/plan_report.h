/*
 * plan/outcome/plan_report.h - a plan as text, tables, JSON and charts.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#define MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#include "core/report/page/page.h"
#include "plan/search/plan.h"

#include <stdio.h>

/* ---- plan words ---------------------------------------------------------- */
/* Figures of a plan as people write them. */

#define MSIM_PLAN_STRATEGY_TEXT 512

/* "tp 4, pp 2, dp 8, zero 1, micro batch 2, recompute none, bf16", and the
 * techniques that are stated; of a traced step, "batch 32, zero3, amp_bf16". */
void msim_plan_strategy_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size);

#define MSIM_PLAN_PLATFORM_TEXT 192

/* A platform's name in a chart: that of a file may be a long path. */
void msim_plan_platform_text(const struct msim_spec *spec, uint32_t platform,
                             char *text, size_t size);

/* A figure of a point, with its 90 % interval; all NAN: not known. */
struct msim_plan_figure {
    double middle, low, high;
};

/* `v` of point `p`, which goes with the time of a step. */
struct msim_plan_figure msim_plan_figure_of(const struct msim_plan_point *p,
                                            double v);

/* The same of what goes with the inverse of that time, as a rate does. */
struct msim_plan_figure msim_plan_inverse_of(const struct msim_plan_point *p,
                                             double v);

/* "335.6 k", "1.23 M", "-" */
void msim_plan_amount_text(double v, char *text, size_t size);

/* "57.4 GiB", "48 MiB" */
void msim_plan_memory_text(double gib, char *text, size_t size);

/* "171 MWh", "0.25 kWh" */
void msim_plan_energy_text(double kwh, char *text, size_t size);

/* "1.25 s", "340 ms" */
void msim_plan_time_text(double us, char *text, size_t size);

/* "12.3", "0.57", "-" */
void msim_plan_days_text(double days, char *text, size_t size);

/* What GPUs exchange before overlap, and what the step waits of it: "gradients
 * 12 % of the step before overlap, of which it waits for 0 % [0-9]"; "" where
 * nothing is exchanged. */
void msim_plan_exchange_text(const struct msim_spec *spec,
                             const struct msim_plan_point *p, char *text,
                             size_t size);
#define MSIM_PLAN_EXCHANGE_TEXT 128

/* "step", or "latency" of a traced step that answers requests. */
const char *msim_plan_step_word(const struct msim_spec *spec);

/* What MSIM_PLAN_SPLIT says of points: "cannot be split so". */
const char *msim_plan_split_word(const struct msim_spec *spec);

/* "96 %", "above 99 %", "below 1 %" */
void msim_plan_chance_text(double chance, char *text, size_t size);

/* "cost", "cost an hour", or "GPU time" where the spec has no price. */
const char *msim_plan_cost_word(const struct msim_spec *spec,
                                const struct msim_plan_point *p);

/* Of a plan that recommends nothing, in a few words: "no way keeps the limits".
 */
const char *msim_plan_none_word(const struct msim_plan *plan);

/* Why nothing is recommended. */
const char *msim_plan_none_text(const struct msim_plan *plan,
                                const struct msim_spec *spec);

/* ---- which limit of a plan is in the way --------------------------------- */

/*
 * Of a plan whose feasible points all break a limit, a line for each limit of
 * time, cost, throughput and GPUs: how many points keep it, and what comes
 * nearest. One more where each is kept, but not all at once.
 */
void msim_plan_limits_text(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out);

/* ---- plan report --------------------------------------------------------- */
/* A plan as text, CSV, JSON and one HTML page. */

/* What tells files of a plan from others. */
#define MSIM_PLAN_HTML_MARK MSIM_PAGE_MARK("plan")
#define MSIM_PLAN_CSV_MARK  ",predicted_memory_gib,fits,"
#define MSIM_PLAN_JSON_MARK "\"schema\": \"mystique-sim/plan/"

/* Where no point is feasible: the one that is nearest to it, and what would
 * make it fit. */
void msim_plan_nearest_text(const struct msim_plan *plan,
                            const struct msim_spec *spec, FILE *out);

/* What is recommended and those next to it, by the law and by the graph of
 * their jobs; nothing where the law alone was asked. The JSON is the members
 * "law" and "simulated" of one of them. */
struct msim_json;
void msim_plan_simulated_text(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out);
void msim_plan_simulated_json(struct msim_json *j, const struct msim_plan *plan,
                              const struct msim_plan_simulated *s);

/* The first screen: what is recommended, why, the frontier. */
void msim_plan_text(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out);

/* Feasible points, or those of the frontier alone; MSIM_PLAN_CSV_MARK is in the
 * header. */
void msim_plan_csv(const struct msim_plan *plan, const struct msim_spec *spec,
                   bool frontier, FILE *out);

MSIM_MUST_CHECK
enum msim_status msim_plan_json(const struct msim_plan *plan,
                                const struct msim_spec *spec, FILE *out);

/*
 * One page without links to other files: the answer, its charts as SVG, the
 * frontier, assumptions. `charts`: SVG texts, one a chart, NULL where gnuplot
 * is missing. MSIM_PLAN_HTML_MARK is near its beginning.
 */
void msim_plan_html(const struct msim_plan *plan, const struct msim_spec *spec,
                    const char *const *charts, FILE *out);

/* That page, from the file `html`, as a PDF of `*n` bytes by WeasyPrint;
 * `*pdf` is the caller's. EIO says what to install. */
MSIM_MUST_CHECK
enum msim_status msim_plan_pdf(const char *html, char **pdf, size_t *n,
                               struct msim_error *err);

/* A chart of the report, drawn by gnuplot; `*svg` is the caller's, and stays
 * NULL where the plan has nothing for it. */
typedef enum msim_status msim_plan_draw(const struct msim_plan *plan,
                                        const struct msim_spec *spec,
                                        char **svg, struct msim_error *err);
struct msim_plan_chart {
    const char *file, *caption;
    msim_plan_draw *draw;
    bool described; /* of described models alone */
};
#define MSIM_PLAN_CHARTS 4
/* In the order of the report. */
extern const struct msim_plan_chart msim_plan_charts[MSIM_PLAN_CHARTS];

/* ---- plan draw ----------------------------------------------------------- */
/*
 * What the charts of a plan share: a script for gnuplot, how it begins, and
 * drawing it.
 */

/* The colour of a part or platform by its number, as "#rrggbb". */
const char *msim_plan_color(uint32_t i);

/* An empty script; NULL, with `err`, where there is no room for it. */
FILE *msim_plan_script(struct msim_error *err);
/* Settings that all charts have; `height` in pixels. */
void msim_plan_script_begin(FILE *script, int height);
/* Draw it; the script is closed, `*svg` the caller's. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_plan_script_draw(FILE *script, char **svg,
                                       struct msim_error *err);

/* ---- plan frame ---------------------------------------------------------- */
/* How the page of a plan begins. */

/* How the page of a plan begins: its title and style, and
 * MSIM_PLAN_HTML_MARK, which tells it from other files. */
void msim_html_begin(const char *name, FILE *out);

#endif

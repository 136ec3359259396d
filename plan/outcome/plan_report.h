/*
 * plan/outcome/plan_report.h - a plan as text, CSV, JSON and one HTML page.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#define MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#include "core/report/page/page.h"
#include "plan/search/plan.h"

#include <stdio.h>

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

#endif

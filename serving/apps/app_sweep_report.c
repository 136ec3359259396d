/*
 * serving/apps/app_sweep_report.c - points as text for people, and as JSON and
 * CSV for programs.
 */
#include "serving/apps/app_sweep.h"

#include "core/base/json.h"
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"

#include <math.h>

static const struct msim_suite_app *app_of(const struct msim_app_sweep_runs *r,
                                           const struct msim_app_sweep_point *p)
{
    return &r->suite->apps[p->app];
}

/* ---- columns ------------------------------------------------------------- */

struct row {
    const char *app, *reason, *kept, *promise;
    const cJSON *item[MSIM_APP_SWEEP_AXES];
    double rate; /* that was asked, else what arrived */
    char p99[MSIM_CELL + 1];
    struct msim_app_sweep_point point;
};

#define LAST 2 /* columns behind a point's stages in JSON */

static const struct msim_column COLUMNS[] = {
    MSIM_COLUMN(struct row, app, "app", .heading = "application",
                .type = MSIM_COLUMN_TEXT, .width = -16),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_SCHEDULER], "scheduler",
                .type = MSIM_COLUMN_JSON),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_PLATFORM], "platform",
                .type = MSIM_COLUMN_JSON),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_RATE], "rate",
                .type = MSIM_COLUMN_JSON),
    MSIM_COLUMN(struct row, rate, NULL, .heading = "rate", .gap = 2, .width = 8,
                .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_PLATFORM], NULL,
                .heading = "platform", .type = MSIM_COLUMN_JSON, .gap = 2,
                .width = -14, .none = "as stated"),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_REPLICAS], "replicas",
                .heading = "replicas", .type = MSIM_COLUMN_JSON, .gap = 2,
                .width = 9, .none = "as stated"),
    MSIM_COLUMN(struct row, point.feasible, "feasible",
                .type = MSIM_COLUMN_FLAG),
    MSIM_COLUMN(struct row, reason, "reason", .type = MSIM_COLUMN_TEXT),
    MSIM_COLUMN(struct row, point.rate, "arrived_rps"),
    MSIM_COLUMN(struct row, point.p50_ms, "p50_ms"),
    MSIM_COLUMN(struct row, point.p99_ms, "p99_ms"),
    MSIM_COLUMN(struct row, point.gpus, NULL, .heading = "GPUs", .gap = 2,
                .width = 5, .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct row, p99, NULL, .heading = "p99",
                .type = MSIM_COLUMN_CELL, .gap = 2, .width = 12),
    MSIM_COLUMN(struct row, promise, NULL, .heading = "promise",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -7),
    MSIM_COLUMN(struct row, point.goodput_rps, "goodput_rps",
                .heading = "goodput/s", .gap = 2, .width = 10, .style = 'g',
                .decimals = 4),
    MSIM_COLUMN(struct row, point.violations, "violations"),
    MSIM_COLUMN(struct row, kept, "kept", .type = MSIM_COLUMN_TEXT),
    MSIM_COLUMN(struct row, point.cost_per_1000, "cost_per_1000",
                .heading = "cost/1000", .gap = 2, .width = 10, .style = 'g',
                .decimals = 4),
    MSIM_COLUMN(struct row, point.energy_wh_per_1000, "energy_wh_per_1000",
                .heading = "Wh/1000", .gap = 2, .width = 10, .style = 'g',
                .decimals = 4),
    MSIM_COLUMN(struct row, point.gpus, "gpus"),
    MSIM_COLUMN(struct row, item[MSIM_APP_SWEEP_SCHEDULER], NULL,
                .heading = "scheduler", .type = MSIM_COLUMN_JSON, .gap = 2,
                .none = "as stated"),
    MSIM_COLUMN(struct row, point.pareto, "pareto", .type = MSIM_COLUMN_FLAG),
    MSIM_COLUMN(struct row, point.cheapest, "cheapest",
                .type = MSIM_COLUMN_FLAG)};

#define COUNT (sizeof(COLUMNS) / sizeof(*COLUMNS))

static struct row row_of(const struct msim_app_sweep_runs *r,
                         const struct msim_app_sweep_point *p)
{
    struct row row = {.app = app_of(r, p)->name,
                      .reason = *p->reason ? p->reason : NULL,
                      .point = *p};
    const cJSON *rate;

    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        row.item[a] = msim_app_sweep_item(r->sweep, p->index,
                                          (enum msim_app_sweep_axis)a, NULL);
    rate = row.item[MSIM_APP_SWEEP_RATE];
    row.rate = rate ? rate->valuedouble : p->rate;
    if (!isnan(p->worst))
        row.kept = p->worst <= 1 ? "yes" : "no";
    row.promise = !row.kept ? "none" : p->worst <= 1 ? "kept" : "broken";
    msim_format_time(row.p99, p->p99_ms * 1e3);
    if (!p->ran)
        row.point.gpus = (double)NAN;
    return row;
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_stages(struct msim_json *j,
                       const struct msim_app_sweep_point *p)
{
    msim_json_open(j, "stages", '{', false);
    for (uint32_t i = 0; i < p->n_stages; i++) {
        msim_json_open(j, p->stages[i].name, '{', false);
        msim_json_number(j, "critical_share", p->stages[i].critical_share);
        msim_json_number(j, "utilisation", p->stages[i].utilisation);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void put_point(struct msim_json *j, const struct msim_app_sweep_runs *r,
                      const struct msim_app_sweep_point *p)
{
    struct row row = row_of(r, p);

    msim_json_open(j, NULL, '{', false);
    msim_record_json(j, COLUMNS, COUNT - LAST, &row);
    put_stages(j, p);
    msim_record_json(j, COLUMNS + COUNT - LAST, LAST, &row);
    msim_json_close(j);
}

static uint32_t count_few(const struct msim_app_sweep_runs *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        n += r->points[i].ran && r->points[i].few;
    return n;
}

static uint32_t count_guessed(const struct msim_app_sweep_runs *r)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->n; i++)
        n += r->points[i].guessed;
    return n;
}

/* The `k`th warning; false: there is none. */
static bool warning(char text[256], const struct msim_app_sweep_runs *r, int k)
{
    uint32_t n = k ? count_guessed(r) : count_few(r);

    snprintf(text, 256,
             k ? "%u points take the price or the power that their application "
                 "states for another platform, want \"price_per_hour\" and "
                 "\"power_w\" of theirs"
               : "%u points have percentiles of fewer than 10,000 requests, "
                 "want --num-requests 10000 for a p99",
             n);
    return n > 0;
}

static void put_rules(struct msim_json *j, const struct msim_app_sweep_runs *r)
{
    struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES];
    char text[256];

    msim_app_sweep_rules(rules, r);
    msim_json_open(j, "rules", '[', true);
    for (int i = 0; i < MSIM_APP_SWEEP_RULES; i++) {
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "text", rules[i].text);
        msim_json_unsigned(j, "holds", rules[i].holds);
        msim_json_unsigned(j, "of", rules[i].of);
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_open(j, "warnings", '[', true);
    for (int k = 0; k < 2; k++)
        if (warning(text, r, k))
            msim_json_text(j, NULL, text);
    msim_json_close(j);
}

enum msim_status msim_app_sweep_json(const struct msim_app_sweep_runs *r,
                                     FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/apps/1");
    msim_json_open(&j, "points", '[', true);
    for (uint32_t i = 0; i < r->n; i++)
        put_point(&j, r, &r->points[i]);
    msim_json_close(&j);
    put_rules(&j, r);
    return msim_json_end(&j);
}

/* ---- CSV ----------------------------------------------------------------- */

void msim_app_sweep_csv(const struct msim_app_sweep_runs *r, FILE *out)
{
    msim_record_csv_head(out, COLUMNS, COUNT);
    for (uint32_t i = 0; i < r->n; i++) {
        struct row row = row_of(r, &r->points[i]);

        putc('\n', out);
        msim_record_csv(out, COLUMNS, COUNT, &row);
    }
    putc('\n', out);
}

/* ---- text ---------------------------------------------------------------- */

static void put_infeasible(const struct msim_app_sweep_runs *r, FILE *out)
{
    uint32_t n = 0;
    const struct msim_app_sweep_point *first = NULL;

    for (uint32_t i = 0; i < r->n; i++)
        if (!r->points[i].feasible) {
            n++;
            first = first ? first : &r->points[i];
        }
    if (first)
        msim_print(out,
                   "\n%u of %u points are not feasible; the first, of %s: "
                   "%s\n",
                   n, r->n, app_of(r, first)->name, first->reason);
}

static void put_rules_text(const struct msim_app_sweep_runs *r, FILE *out)
{
    struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES];
    char text[256];

    msim_app_sweep_rules(rules, r);
    msim_print_title(out, "rules, and where they hold");
    for (int i = 0; i < MSIM_APP_SWEEP_RULES; i++)
        if (rules[i].of > 0)
            msim_print(out, "  %6u of %-6u  %s\n", rules[i].holds, rules[i].of,
                       rules[i].text);
    for (int k = 0; k < 2; k++)
        if (warning(text, r, k))
            msim_print_title(out, "warning: %s", text);
}

static void put_table(const struct msim_app_sweep_runs *r, bool cheapest,
                      FILE *out)
{
    msim_record_text_head(out, COLUMNS, COUNT);
    for (uint32_t i = 0; i < r->n; i++) {
        struct row row = row_of(r, &r->points[i]);

        if (cheapest ? row.point.cheapest : row.point.pareto)
            msim_record_text(out, COLUMNS, COUNT, &row);
    }
}

void msim_app_sweep_text(const struct msim_app_sweep_runs *r, FILE *out)
{
    uint32_t cheapest = 0, pareto = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        cheapest += r->points[i].cheapest;
        pareto += r->points[i].pareto;
    }
    msim_print(out,
               cheapest ? "%u points of %u applications; the cheapest that "
                          "keeps its promises, at each rate:\n\n"
                        : "%u points of %u applications; none keeps a promise "
                          "at a known cost\n",
               r->n, r->suite->n);
    if (cheapest > 0)
        put_table(r, true, out);
    if (pareto > 0) {
        msim_print_title(
            out, "beaten by no other in both p99 and cost at their rate");
        put_table(r, false, out);
    }
    put_infeasible(r, out);
    put_rules_text(r, out);
}

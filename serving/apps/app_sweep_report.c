/*
 * serving/apps/app_sweep_report.c - points as text for people, and as JSON and
 * CSV for programs.
 */
#include "serving/apps/app_sweep.h"

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/report/write/report.h"

#include <math.h>
#include <stdlib.h>

static const struct msim_suite_app *app_of(const struct msim_app_sweep_runs *r,
                                           const struct msim_app_sweep_point *p)
{
    return &r->suite->apps[p->app];
}

/* Are the application's promises kept? NULL: it makes none, or did not run. */
static const char *kept(const struct msim_app_sweep_point *p)
{
    return isnan(p->worst) ? NULL : p->worst <= 1 ? "yes" : "no";
}

/* The item as a text, the caller's; NULL: as the application has it (or out of
 * memory, which leaves a cell empty). */
static char *item_text(const struct msim_app_sweep_runs *r,
                       const struct msim_app_sweep_point *p,
                       enum msim_app_sweep_axis axis)
{
    const cJSON *item = msim_app_sweep_item(r->sweep, p->index, axis, NULL);

    return item ? cJSON_PrintUnformatted(item) : NULL;
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_item(struct msim_json *j, const char *key,
                     const struct msim_app_sweep_runs *r,
                     const struct msim_app_sweep_point *p,
                     enum msim_app_sweep_axis axis)
{
    const cJSON *item = msim_app_sweep_item(r->sweep, p->index, axis, NULL);
    char *text;

    if (!item || cJSON_IsString(item)) {
        msim_json_text(j, key, item ? item->valuestring : NULL);
        return;
    }
    text = item_text(r, p, axis);
    msim_json_value(j, key, text);
    free(text);
}

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
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "app", app_of(r, p)->name);
    put_item(j, "scheduler", r, p, MSIM_APP_SWEEP_SCHEDULER);
    put_item(j, "platform", r, p, MSIM_APP_SWEEP_PLATFORM);
    put_item(j, "rate", r, p, MSIM_APP_SWEEP_RATE);
    put_item(j, "replicas", r, p, MSIM_APP_SWEEP_REPLICAS);
    msim_json_bool(j, "feasible", p->feasible);
    msim_json_text(j, "reason", *p->reason ? p->reason : NULL);
    msim_json_number(j, "arrived_rps", p->rate);
    msim_json_number(j, "p50_ms", p->p50_ms);
    msim_json_number(j, "p99_ms", p->p99_ms);
    msim_json_number(j, "goodput_rps", p->goodput_rps);
    msim_json_number(j, "violations", p->violations);
    msim_json_text(j, "kept", kept(p));
    msim_json_number(j, "cost_per_1000", p->cost_per_1000);
    msim_json_number(j, "energy_wh_per_1000", p->energy_wh_per_1000);
    msim_json_number(j, "gpus", p->ran ? p->gpus : (double)NAN);
    put_stages(j, p);
    msim_json_bool(j, "pareto", p->pareto);
    msim_json_bool(j, "cheapest", p->cheapest);
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

static void add_item(FILE *out, const struct msim_app_sweep_runs *r,
                     const struct msim_app_sweep_point *p,
                     enum msim_app_sweep_axis axis)
{
    const cJSON *item = msim_app_sweep_item(r->sweep, p->index, axis, NULL);
    char *text = cJSON_IsString(item) ? NULL : item_text(r, p, axis);

    msim_csv_add(out, cJSON_IsString(item) ? item->valuestring
                      : text               ? text
                                           : "");
    free(text);
}

void msim_app_sweep_csv(const struct msim_app_sweep_runs *r, FILE *out)
{
    fputs(MSIM_APP_SWEEP_CSV_MARK
          ",reason,arrived_rps,p50_ms,p99_ms,goodput_rps,violations,kept,"
          "cost_per_1000,energy_wh_per_1000,gpus,pareto,cheapest\n",
          out);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct msim_app_sweep_point *p = &r->points[i];

        msim_csv_write(out, app_of(r, p)->name);
        for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
            add_item(out, r, p, a);
        msim_csv_add(out, p->feasible ? "yes" : "no");
        msim_csv_add(out, p->reason);
        msim_csv_add_number(out, p->rate);
        msim_csv_add_number(out, p->p50_ms);
        msim_csv_add_number(out, p->p99_ms);
        msim_csv_add_number(out, p->goodput_rps);
        msim_csv_add_number(out, p->violations);
        msim_csv_add(out, kept(p) ? kept(p) : "");
        msim_csv_add_number(out, p->cost_per_1000);
        msim_csv_add_number(out, p->energy_wh_per_1000);
        msim_csv_add_number(out, p->ran ? p->gpus : (double)NAN);
        msim_csv_add(out, p->pareto ? "yes" : "no");
        msim_csv_add(out, p->cheapest ? "yes" : "no");
        fputs("\n", out);
    }
}

/* ---- text ---------------------------------------------------------------- */

static void put_number(FILE *out, double x)
{
    if (isnan(x))
        fputs("           -", out);
    else
        msim_print(out, "  %10.4g", x);
}

static void put_line(const struct msim_app_sweep_runs *r,
                     const struct msim_app_sweep_point *p, FILE *out)
{
    const cJSON *platform =
        msim_app_sweep_item(r->sweep, p->index, MSIM_APP_SWEEP_PLATFORM, NULL);
    const cJSON *replicas =
        msim_app_sweep_item(r->sweep, p->index, MSIM_APP_SWEEP_REPLICAS, NULL);
    const cJSON *rate =
        msim_app_sweep_item(r->sweep, p->index, MSIM_APP_SWEEP_RATE, NULL);
    char *scheduler = item_text(r, p, MSIM_APP_SWEEP_SCHEDULER);
    char cell[MSIM_CELL + 1];

    msim_print(out, "%-16s  %8.4g  %-14s", app_of(r, p)->name,
               rate ? rate->valuedouble : p->rate,
               platform ? platform->valuestring : "as stated");
    if (replicas)
        msim_print(out, "  %8d", replicas->valueint);
    else
        fputs("  as stated", out);
    msim_print(out, "  %5.4g", p->gpus);
    msim_format_time(cell, p->p99_ms * 1e3);
    msim_print(out, "  %12s  %-7s", cell,
               !kept(p)        ? "none"
               : p->worst <= 1 ? "kept"
                               : "broken");
    put_number(out, p->goodput_rps);
    put_number(out, p->cost_per_1000);
    put_number(out, p->energy_wh_per_1000);
    msim_print(out, "  %s\n", scheduler ? scheduler : "as stated");
    free(scheduler);
}

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
    fputs("\nrules, and where they hold\n", out);
    for (int i = 0; i < MSIM_APP_SWEEP_RULES; i++)
        if (rules[i].of > 0)
            msim_print(out, "  %6u of %-6u  %s\n", rules[i].holds, rules[i].of,
                       rules[i].text);
    for (int k = 0; k < 2; k++)
        if (warning(text, r, k))
            msim_print(out, "\nwarning: %s\n", text);
}

static void put_table(const struct msim_app_sweep_runs *r, bool cheapest,
                      FILE *out)
{
    fputs("application           rate  platform        replicas   GPUs         "
          "  p99  promise   goodput/s   cost/1000    Wh/1000  scheduler\n",
          out);
    for (uint32_t i = 0; i < r->n; i++)
        if (cheapest ? r->points[i].cheapest : r->points[i].pareto)
            put_line(r, &r->points[i], out);
}

void msim_app_sweep_text(const struct msim_app_sweep_runs *r, FILE *out)
{
    uint32_t cheapest = 0, pareto = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        cheapest += r->points[i].cheapest;
        pareto += r->points[i].pareto;
    }
    msim_print(out, "%u points of %u applications", r->n, r->suite->n);
    if (cheapest > 0) {
        fputs("; the cheapest that keeps its promises, at each rate:\n\n", out);
        put_table(r, true, out);
    } else {
        fputs("; none keeps a promise at a known cost\n", out);
    }
    if (pareto > 0) {
        fputs("\nbeaten by no other in both p99 and cost at their rate\n", out);
        put_table(r, false, out);
    }
    put_infeasible(r, out);
    put_rules_text(r, out);
}

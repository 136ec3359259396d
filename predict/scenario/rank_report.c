/*
 * predict/scenario/rank_report.c - what a tenth less of each part brings, as
 * text and CSV.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/report/write/report.h"
#include "predict/scenario/scenario_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEGEND                                                                 \
    "\ntakes: in one iteration, on the rank where it is longest\n"             \
    "exposed: the gain over a tenth of that; 0: it hides behind other work\n"  \
    "parts are words of --scale; those of different kinds meet\n"

static void text_row(const struct msim_scenarios *s,
                     const struct msim_scenario_row *r, FILE *out)
{
    char takes[MSIM_CELL], gain[MSIM_CELL], text[256] = "no prediction: ";

    msim_format_time(takes, r->work_us);
    msim_format_time(gain, s->base.period.predicted - r->period.predicted);
    if (!*r->reason)
        snprintf(text, sizeof(text), "%11s %11s  %6.2f %% [%5.2f-%5.2f] %8.2f",
                 takes, gain, 100 * (1 - r->ratio.predicted),
                 100 * (1 - r->ratio.high), 100 * (1 - r->ratio.low),
                 msim_scenario_exposed(s, r));
    msim_print(out, "%-32.32s %s%s\n", r->name, text, r->reason);
}

void msim_ranking_text(const struct msim_scenarios *s, FILE *out)
{
    char period[MSIM_CELL];

    msim_format_time(period, s->base.period.predicted);
    msim_print(
        out,
        "period %s; with a tenth less of one part it would be shorter by "
        "the gain\n\n"
        "part                                   takes        gain  of the "
        "period [90 %%]  exposed\n",
        period);
    for (uint32_t i = 0; i < s->n; i++)
        text_row(s, &s->rows[i], out);
    fputs(s->n ? LEGEND : "no part shortens it alone\n" LEGEND, out);
}

/* ---- CSV ----------------------------------------------------------------- */

void msim_ranking_csv_head(FILE *out)
{
    fputs(",group,select,work_us,gain_us,exposed", out);
}

/* What a ranked row selects, as `--scale` takes it. */
static void find_select(const struct msim_scenario_row *r, char *text,
                        size_t size)
{
    const char *all = r->scales->text, *equals = strrchr(all, '=');

    snprintf(text, size, "%.*s", (int)(equals - all), all);
}

void msim_ranking_csv(const struct msim_scenarios *s,
                      const struct msim_scenario_row *r, FILE *out)
{
    bool answered = r->group && !*r->reason;
    char select[512] = "";

    if (r->group)
        find_select(r, select, sizeof(select));
    msim_csv_add(out, r->group);
    msim_csv_add(out, select);
    msim_csv_add_number(out, r->group ? r->work_us : (double)NAN);
    msim_csv_add_number(out, answered ? s->base.period.predicted -
                                            r->period.predicted
                                      : (double)NAN);
    msim_csv_add_number(out,
                        answered ? msim_scenario_exposed(s, r) : (double)NAN);
}

/* ---- JSON ---------------------------------------------------------------- */

void msim_ranking_json(struct msim_json *j, const struct msim_scenarios *s,
                       const struct msim_scenario_row *r)
{
    char select[512];

    find_select(r, select, sizeof(select));
    msim_json_text(j, "group", r->group);
    msim_json_text(j, "select", select);
    msim_json_number(j, "work_us", r->work_us);
    if (*r->reason)
        return;
    msim_json_number(j, "gain_us",
                     s->base.period.predicted - r->period.predicted);
    msim_json_number(j, "exposed", msim_scenario_exposed(s, r));
}

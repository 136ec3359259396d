/*
 * serving/rows/point_report.c - answered tables of served points, as CSV and as
 * lines for people.
 */
#include "core/base/print.h"
#include "serving/rows/serve_rows.h"

#include <math.h>
#include <string.h>

static void add_time(FILE *out, const struct msim_point_row *row,
                     const struct msim_point_time *t)
{
    bool none = !row->answer.answered || t->ms <= 0;

    msim_csv_add_number(out, none ? NAN : t->ms);
    msim_csv_add_number(out, none ? NAN : t->low);
    msim_csv_add_number(out, none ? NAN : t->high);
}

/* What was measured makes room for what is predicted. */
static const char *name_in_copy(const char *name)
{
    return strcmp(name, "ttft_ms") == 0   ? "measured_ttft_ms"
           : strcmp(name, "tpot_ms") == 0 ? "measured_tpot_ms"
                                          : name;
}

static void write_header(const struct msim_point_table *t, FILE *out)
{
    for (uint32_t i = 0; i < t->columns; i++)
        msim_csv_print(out, i ? ",%s" : "%s", name_in_copy(t->header[i]));
    msim_csv_print(out, ",ttft_ms,ttft_low_ms,ttft_high_ms,tpot_ms,tpot_low_ms,"
                        "tpot_high_ms,uses_rows,defaults,reason\n");
}

void msim_point_table_csv(const struct msim_point_table *t, FILE *out)
{
    write_header(t, out);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct msim_point_row *row = &t->rows[i];

        for (uint32_t c = 0; c < t->columns; c++)
            msim_csv_print(out, c ? ",%s" : "%s", row->fields[c]);
        add_time(out, row, &row->answer.ttft);
        add_time(out, row, &row->answer.tpot);
        msim_csv_print(out, ",%d,%s,%s\n", row->answer.uses_rows,
                       row->answer.defaults, row->answer.reason);
    }
}

static void time_text(char text[64], const struct msim_point_time *t)
{
    if (t->ms > 0)
        snprintf(text, 64, "%10.2f (%.4g to %.4g)", t->ms, t->low, t->high);
    else
        snprintf(text, 64, "%10s", "-");
}

static void write_row(const struct msim_point_row *row, FILE *out)
{
    const struct msim_served_point *p = &row->point;
    char ttft[64], tpot[64];

    time_text(ttft, &row->answer.ttft);
    time_text(tpot, &row->answer.tpot);
    if (row->answer.answered)
        msim_print(out,
                   ", %s, %lld x %lld tokens, %lld client%s\n"
                   "      TTFT ms%s   TPOT ms%s\n",
                   msim_llm_engine_text(p->engine), (long long)p->isl,
                   (long long)p->osl, (long long)p->clients,
                   p->clients == 1 ? "" : "s", ttft, tpot);
    else
        msim_print(out, ": no answer: %s\n", row->answer.reason);
}

void msim_point_table_text(const struct msim_point_table *t, FILE *out)
{
    uint32_t answered = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        const struct msim_served_point *p = &t->rows[i].point;

        answered += t->rows[i].answer.answered;
        msim_print(out, "%4u  %s on %s", i + 1, p->model ? p->model : "?",
                   p->platform ? p->platform : "?");
        write_row(&t->rows[i], out);
    }
    msim_print(out, "%u of %u rows answered\n", answered, t->n);
}

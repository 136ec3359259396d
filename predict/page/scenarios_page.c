/*
 * predict/page/scenarios_page.c - what-ifs of a traced job as Markdown.
 */
#include "predict/page/scenarios_page.h"

#include "core/report/markdown/markdown.h"
#include "core/report/write/report_format.h"

#include <math.h>

static void put_row(const struct msim_scenario_row *r, bool is_base, FILE *out)
{
    char period[MSIM_CELL], kernels[MSIM_CELL], ratio[MSIM_CELL] = "1";
    char range[2 * MSIM_CELL] = "", memory[MSIM_CELL] = "";
    char guards[MSIM_GUARD_WORDS];

    msim_format_time(period, r->period.predicted);
    msim_format_time(kernels, r->kernels.predicted);
    if (!is_base) {
        snprintf(ratio, sizeof(ratio), "%.3f", r->ratio.predicted);
        snprintf(range, sizeof(range), "%.3f to %.3f", r->ratio.low,
                 r->ratio.high);
    }
    if (!isnan(r->memory.peak))
        snprintf(memory, sizeof(memory), "%.2f GB", r->memory.peak / 1e9);
    msim_guard_words(r->marks, guards);
    msim_markdown_print(out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
                        is_base ? "as it is" : r->name, period, ratio, range,
                        kernels, memory, r->memory.fits ? r->memory.fits : "",
                        guards);
}

void msim_scenarios_markdown(const struct msim_scenarios *s, FILE *out)
{
    char marked[MSIM_GUARD_SENTENCE];
    bool refused = false;

    fputs("| scenario | period | of the base | 90 % | kernels | memory | fits "
          "| marked |\n|---|---:|---:|---:|---:|---:|---|---|\n",
          out);
    put_row(&s->base, true, out);
    for (uint32_t i = 0; i < s->n; i++)
        if (!*s->rows[i].reason)
            put_row(&s->rows[i], false, out);
    msim_guard_sentence(&s->marked, "predictions", marked);
    if (*marked)
        msim_markdown_print(out, "\n%s\n", marked);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!*s->rows[i].reason)
            continue;
        if (!refused)
            fputc('\n', out);
        msim_markdown_print(out, "- %s cannot be predicted: %s\n",
                            s->rows[i].name, s->rows[i].reason);
        refused = true;
    }
}

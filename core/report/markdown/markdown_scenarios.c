/*
 * core/report/markdown/markdown_scenarios.c - scenarios side by side as
 * Markdown.
 */
#include "core/report/markdown/markdown.h"

static void put_row(const struct msim_markdown_scenario *r, bool is_base,
                    FILE *out)
{
    char time[MSIM_CELL], ratio[MSIM_CELL] = "1", range[2 * MSIM_CELL] = "";
    char guards[MSIM_GUARD_WORDS];

    msim_format_time(time, r->us);
    if (!is_base) {
        snprintf(ratio, sizeof(ratio), "%.3f", r->ratio);
        snprintf(range, sizeof(range), "%.3f to %.3f", r->low, r->high);
    }
    msim_guard_words(r->marks, guards);
    msim_markdown_print(out, "| %s | %s | %s | %s | %s | %s | %s | %s |\n",
                        is_base ? "as it is" : r->name, time, ratio, range,
                        r->work, r->memory, r->fits ? r->fits : "", guards);
}

void msim_markdown_scenarios(const struct msim_scenario_table *s, FILE *out)
{
    struct msim_markdown_scenario r;
    char marked[MSIM_GUARD_SENTENCE];
    bool refused = false;

    msim_markdown_print(
        out,
        "| scenario | %s | of the base | 90 %% | %s | memory | fits "
        "| marked |\n|---|---:|---:|---:|---:|---:|---|---|\n",
        s->time, s->work);
    for (uint32_t i = 0; i <= s->n; i++) {
        r = s->row(s->of, i);
        if (!*r.reason)
            put_row(&r, i == 0, out);
    }
    msim_guard_sentence(s->marked, "predictions", marked);
    if (*marked)
        msim_markdown_print(out, "\n%s\n", marked);
    for (uint32_t i = 1; i <= s->n; i++) {
        r = s->row(s->of, i);
        if (!*r.reason)
            continue;
        if (!refused)
            fputc('\n', out);
        msim_markdown_print(out, "- %s cannot be predicted: %s\n", r.name,
                            r.reason);
        refused = true;
    }
}

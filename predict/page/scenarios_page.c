/*
 * predict/page/scenarios_page.c - what-ifs of a traced job as Markdown.
 */
#include "predict/page/prediction_page.h"

#include "core/report/markdown/markdown.h"

#include <math.h>

static struct msim_markdown_scenario row_of(const void *of, uint32_t i)
{
    const struct msim_scenarios *s = of;
    const struct msim_scenario_row *r = i ? &s->rows[i - 1] : &s->base;
    struct msim_markdown_scenario row = {.name = r->name,
                                         .reason = r->reason,
                                         .us = r->period.predicted,
                                         .ratio = r->ratio.predicted,
                                         .low = r->ratio.low,
                                         .high = r->ratio.high,
                                         .fits = r->memory.fits,
                                         .marks = r->marks};

    msim_format_time(row.work, r->kernels.predicted);
    if (!isnan(r->memory.peak))
        msim_format_memory(row.memory, r->memory.peak);
    return row;
}

void msim_scenarios_markdown(const struct msim_scenarios *s, FILE *out)
{
    msim_markdown_scenarios(&(struct msim_scenario_table){.of = s,
                                                          .n = s->n,
                                                          .time = "period",
                                                          .work = "kernels",
                                                          .marked = &s->marked,
                                                          .row = row_of},
                            out);
}

/*
 * predict/page/scenarios_page.h - what-ifs of a traced job as Markdown.
 */
#ifndef MSIM_PREDICT_PAGE_SCENARIOS_PAGE_H
#define MSIM_PREDICT_PAGE_SCENARIOS_PAGE_H
#include "predict/scenario/scenario.h"

/* A row a scenario, and why the others cannot be predicted. */
void msim_scenarios_markdown(const struct msim_scenarios *s, FILE *out);

#endif

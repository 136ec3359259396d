/*
 * predict/page/prediction_page.h - predictions, and scenarios side by side, as
 * pages.
 */
#ifndef MSIM_PREDICT_PAGE_PREDICTION_PAGE_H
#define MSIM_PREDICT_PAGE_PREDICTION_PAGE_H
#include "core/report/page/page.h"
#include "predict/pipeline.h"
#include "predict/scenario/scenario.h"

/* ---- prediction page ----------------------------------------------------- */
/* A prediction as one page for a browser. */

/*
 * Write `path`: the prediction as JSON has it, but for the pieces of the
 * critical path, which its bars show. EIO, EWRITE, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_prediction_page(const struct msim_prediction_run *run,
                                      const struct msim_planes *planes,
                                      const char *path, struct msim_error *err);

/* ---- scenarios page ------------------------------------------------------ */
/* what-ifs of a traced job as Markdown. */

/* A row a scenario, and why the others cannot be predicted. */
void msim_scenarios_markdown(const struct msim_scenarios *s, FILE *out);

#endif

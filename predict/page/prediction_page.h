/*
 * predict/page/prediction_page.h - a prediction as one page for a browser.
 */
#ifndef MSIM_PREDICT_PAGE_PREDICTION_PAGE_H
#define MSIM_PREDICT_PAGE_PREDICTION_PAGE_H
#include "core/report/page/page.h"
#include "predict/pipeline.h"

/*
 * Write `path`: the prediction as JSON has it, but for the pieces of the
 * critical path, which its bars show. EIO, EWRITE, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_prediction_page(const struct msim_prediction_run *run,
                                      const struct msim_planes *planes,
                                      const char *path, struct msim_error *err);

#endif

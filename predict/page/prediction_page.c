/*
 * predict/page/prediction_page.c - a prediction as one page for a browser.
 */
#include "predict/page/prediction_page.h"

#include "core/report/page/page.h"
#include "core/report/write/report.h"

#include <stdlib.h>

/* On success the caller frees `*text`. */
static enum msim_status as_json(const struct msim_prediction *p, char **text,
                                size_t *size)
{
    struct msim_prediction shown = *p;
    FILE *out = open_memstream(text, size);
    enum msim_status status;

    if (!out)
        return MSIM_ENOMEM;
    shown.n_path = 0;
    status = msim_report_json(&shown, out);
    if (fclose(out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    return status;
}

enum msim_status msim_prediction_page(const struct msim_prediction_run *run,
                                      const struct msim_planes *planes,
                                      const char *path, struct msim_error *err)
{
    struct msim_timeline *bars = NULL;
    char title[512], *json = NULL;
    size_t size = 0;
    enum msim_status status = as_json(run->prediction, &json, &size);

    msim_format_title(title, sizeof(title), run->prediction);
    if (status == MSIM_OK)
        status = msim_timeline_new(&bars, &run->outcome);
    if (status == MSIM_OK)
        status = msim_page_save(&(struct msim_page_parts){.title = title,
                                                          .json = json,
                                                          .json_size = size,
                                                          .timeline = bars,
                                                          .planes = planes},
                                path, err);
    msim_timeline_free(bars);
    free(json);
    return status;
}

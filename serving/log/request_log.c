/*
 * serving/log/request_log.c - a log as a whole.
 */
#include "serving/log/request_log.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void msim_request_log_release(struct msim_request_log *log)
{
    free(log->rows);
    free(log->blocks);
    msim_strtab_free(log->classes);
    memset(log, 0, sizeof(*log));
}

const char *msim_request_log_class(const struct msim_request_log *log,
                                   uint32_t cls)
{
    return msim_strtab_text(log->classes, cls);
}

double msim_request_log_seconds(const struct msim_request_log *log)
{
    return log->n ? log->rows[log->n - 1].t_s - log->rows[0].t_s : 0;
}

double msim_request_log_rate(const struct msim_request_log *log)
{
    double seconds = msim_request_log_seconds(log);

    return seconds > 0 ? (log->n - 1) / seconds : NAN;
}

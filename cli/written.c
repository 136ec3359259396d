/*
 * cli/written.c - the description beside written traces.
 */
#include "cli/cmd.h"

#include <limits.h>
#include <string.h>

enum msim_status msim_written_settings(struct msim_written_job *job,
                                       struct msim_predict_settings *s,
                                       struct msim_error *err)
{
    char data[PATH_MAX];

    memset(job, 0, sizeof(*job));
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    return msim_written_job_let_know(job, s, data, err);
}

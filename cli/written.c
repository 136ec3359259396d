/*
 * cli/written.c - the description beside written traces.
 */
#include "cli/written.h"

#include "cli/datadir.h"

#include <limits.h>
#include <string.h>

enum msim_status msim_written_settings(struct msim_written_job *job,
                                       struct msim_predict_settings *s,
                                       struct msim_error *err)
{
    char data[PATH_MAX];
    bool is;

    memset(job, 0, sizeof(*job));
    if (s->n_paths != 1)
        return MSIM_OK;
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(msim_written_job_open(job, &is, s->paths[0], data, err));
    if (is) {
        s->described = &job->source;
        s->gpus_a_node = job->gpus_a_node;
        s->load.stand_for_all = true;
    }
    return MSIM_OK;
}

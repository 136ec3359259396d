/*
 * cli/replay/validate_trace.c - tables of jobs from the trace of one.
 */
#include "cli/replay/cli_replay_internal.h"

#include "cli/cmd.h"
#include "predict/rows/trace_rows.h"

/* A mistyped column fails before the trace is read. */
enum msim_status msim_validate_trace(const struct msim_validate_rows *v,
                                     const char *trace, struct msim_error *err)
{
    char data[1024];
    struct msim_predict_settings s = {.data = data,
                                      .paths = &trace,
                                      .n_paths = 1,
                                      .load = {.threads = 2},
                                      .platform = v->platform,
                                      .peers = MSIM_PEERS_FOLLOW,
                                      .iteration = MSIM_ITERATION_ALL};
    struct msim_trace_rows t = {0};
    struct msim_written_job job = {0};
    struct msim_inputs in = {0};
    struct msim_target to = {0};
    enum msim_status status = msim_datadir_find(data, sizeof(data), err);

    if (status == MSIM_OK)
        status = msim_written_settings(&job, &s, err);
    if (status == MSIM_OK)
        status = msim_trace_rows_read(&t, v->rows, &s, err);
    if (status == MSIM_OK)
        status =
            msim_load_prediction(&in, &to, &t.scenarios.base.settings, err);
    if (status == MSIM_OK)
        status = msim_scenarios_run(&t.scenarios, &in, &to, err);
    if (status == MSIM_OK)
        status = msim_trace_rows_report(&t, v->csv, &v->wish, stdout, err);
    msim_target_release(&to);
    msim_inputs_release(&in);
    msim_trace_rows_release(&t);
    msim_written_job_release(&job);
    return status;
}

/*
 * cli/cmd_info.c - `info`: what is in traces and what is missing.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "core/report/write/report.h"
#include "replay/fleet/fleet.h"

struct settings {
    enum msim_output output;
    struct msim_load_options load;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, output, ONE_OF, "json", .value = MSIM_OUTPUT_JSON,
        .help = "print JSON (schema mystique-sim/info/1) instead of text"),
    MSIM_OPTION(
        struct settings, output, ONE_OF, "csv", .value = MSIM_OUTPUT_CSV,
        .help =
            "print CSV instead, one line an operator, label, call and activity "
            "of a GPU, for other programs (scripts/fleet/to_parquet.py)"),
    MSIM_OPTION_COMMUNICATION_ROW(struct settings, load),
    MSIM_OPTION_SALVAGE_ROW(struct settings, load.salvage),
    MSIM_OPTION_THREADS_ROW(struct settings, load.threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim info trace.json.gz",
    "mystique-sim info --json run/",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "info",
    .operands = "TRACE|DIR...",
    .summary = "Say what is in traces and what is missing.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
};

static enum msim_status print(const struct msim_job *job,
                              enum msim_output output)
{
    if (output == MSIM_OUTPUT_CSV)
        return msim_activities_csv(job, stdout);
    return output == MSIM_OUTPUT_JSON ? msim_info_json(job, stdout)
                                      : msim_info_text(job, stdout);
}

int msim_cmd_info(int argc, char **argv)
{
    struct settings s = {.load = {.threads = 2}};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_job *job;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    s.load.fold = s.output != MSIM_OUTPUT_CSV; /* whose rows are of ranks */
    status = msim_load_job(&job, &files, &s.load, &err);
    if (status == MSIM_OK)
        status = print(job, s.output);
    if (status == MSIM_OK)
        msim_message_warnings(job->warnings, job->n_warnings,
                              s.output == MSIM_OUTPUT_TEXT);
    msim_job_free(job);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

/*
 * cli/serving/cmd_apps.c - `apps`: a suite of applications, swept across
 * schedulers, GPUs, rates and replicas.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/serving/cli_serving_internal.h"
#include "core/base/files.h"
#include "serving/apps/app_sweep.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    const char *sweep, *folder, *chart;
    uint32_t requests, seed, threads;
    enum msim_output output;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, sweep, TEXT, "sweep", .metavar = "SWEEP.json",
        .help = "lists of what is swept: \"scheduler\" (members of batching), "
                "\"platform\", \"rate\", \"replicas\"; besides "
                "\"price_per_hour\" and \"power_w\" of a GPU, by platform",
        .dflt = "each application as it is"),
    MSIM_OPTION(struct settings, folder, TEXT, "o", .metavar = "DIR",
                .help = "write apps.json and points.csv there"),
    MSIM_OPTION(struct settings, requests, COUNT, "num-requests",
                .metavar = "N", .min = 1, .max = 100000000,
                .help = "requests that arrive at each point", .dflt = "400"),
    MSIM_OPTION(
        struct settings, seed, COUNT, "seed", .metavar = "N", .min = 0,
        .max = 2147483647,
        .help =
            "of the random numbers; all points of an application see the same "
            "requests",
        .dflt = "0"),
    MSIM_OPTION(
        struct settings, output, ONE_OF, "json", .value = MSIM_OUTPUT_JSON,
        .help = "print JSON (schema mystique-sim/apps/1) instead of text"),
    MSIM_OPTION(struct settings, output, ONE_OF, "csv",
                .value = MSIM_OUTPUT_CSV,
                .help = "print CSV, one line a point, instead of text"),
    MSIM_OPTION_CHART_ROW(struct settings, chart),
    MSIM_OPTION_THREADS_ROW(struct settings, threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim apps data/apps",
    "mystique-sim apps data/apps --sweep sweep.json --chart cost.svg",
    "mystique-sim apps chat.json --sweep sweep.json -o swept",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "apps",
    .operands = "SUITE",
    .summary =
        "Simulate every application of a folder (or one APP.json) at every "
        "point of a\nsweep: latency, cost and energy of a request, which "
        "points no other beats, and\nwhich rules of design hold.\n\n"
        "A point is feasible where its models fit and no stage is overloaded. "
        "It is on the\nPareto frontier where no other of its application and "
        "rate has both a shorter p99\nand a lower cost.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

/* ---- the folder ---------------------------------------------------------- */

static const struct msim_folder_kind FILES[] = {
    {"apps.json", MSIM_APP_SWEEP_JSON_MARK},
    {"points.csv", MSIM_APP_SWEEP_CSV_MARK},
};
static const struct msim_folder_kinds KINDS = {FILES, 2};

static enum msim_status print_csv(const struct msim_app_sweep_runs *r,
                                  FILE *out)
{
    msim_app_sweep_csv(r, out);
    return MSIM_OK;
}

static enum msim_status
put_file(struct msim_folder *folder, const char *name,
         const struct msim_app_sweep_runs *r,
         enum msim_status (*print)(const struct msim_app_sweep_runs *, FILE *),
         struct msim_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = out ? print(r, out) : MSIM_ENOMEM;
    struct msim_file *file;

    if (out && fclose(out) != 0 && status == MSIM_OK)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK)
        status = msim_folder_file(&file, folder, name, err);
    if (status == MSIM_OK)
        status = msim_file_close(file, msim_file_write(file, text, size), err);
    free(text);
    return status;
}

static enum msim_status put_folder(const struct msim_app_sweep_runs *r,
                                   const char *path, struct msim_error *err)
{
    struct msim_folder folder;
    enum msim_status status = msim_folder_begin(&folder, path, &KINDS, err);

    if (status == MSIM_OK)
        status = put_file(&folder, "apps.json", r, msim_app_sweep_json, err);
    if (status == MSIM_OK)
        status = put_file(&folder, "points.csv", r, print_csv, err);
    return msim_folder_end(&folder, status, err);
}

/* ---- the verb ------------------------------------------------------------ */

static enum msim_status report(const struct msim_app_sweep_runs *r,
                               const struct settings *s, struct msim_error *err)
{
    if (s->folder)
        MSIM_TRY(put_folder(r, s->folder, err));
    if (s->chart)
        MSIM_TRY(msim_app_sweep_chart(r, s->chart, err));
    if (s->output == MSIM_OUTPUT_JSON)
        return msim_app_sweep_json(r, stdout);
    if (s->output == MSIM_OUTPUT_CSV)
        msim_app_sweep_csv(r, stdout);
    else
        msim_app_sweep_text(r, stdout);
    return MSIM_OK;
}

static enum msim_status sweep(const struct msim_suite *suite,
                              const struct msim_app_sweep *sw,
                              const struct settings *s, struct msim_error *err)
{
    char data[1024];
    struct msim_app_sweep_how how = {.data_dir = data,
                                     .requests = s->requests,
                                     .seed = s->seed,
                                     .threads = s->threads};
    struct msim_pass_reader *reader;
    struct msim_app_sweep_runs runs;
    enum msim_status status;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(msim_pass_reader_new(&reader, data));
    how.recorder = msim_pass_reader_recorder(reader);
    status = msim_app_sweep_run(&runs, suite, sw, &how, err);
    if (status == MSIM_OK) {
        status = report(&runs, s, err);
        msim_app_sweep_runs_release(&runs);
    }
    msim_pass_reader_free(reader);
    return status;
}

static enum msim_status apps(const char *path, const struct settings *s,
                             struct msim_error *err)
{
    struct msim_suite suite;
    struct msim_app_sweep sw;
    enum msim_status status;

    if (s->chart)
        MSIM_TRY(msim_option_check_chart(s->chart, err));
    MSIM_TRY(msim_app_sweep_read(&sw, s->sweep, err));
    status = msim_suite_read(&suite, path, err);
    if (status == MSIM_OK && s->folder)
        status = msim_folder_look(s->folder, &KINDS, err);
    if (status == MSIM_OK)
        status = sweep(&suite, &sw, s, err);
    msim_suite_release(&suite);
    msim_app_sweep_release(&sw);
    return status;
}

int msim_cmd_apps(int argc, char **argv)
{
    struct settings s = {.requests = 400, .threads = 2};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status = apps(files.items[0], &s, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

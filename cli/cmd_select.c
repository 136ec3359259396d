/*
 * cli/cmd_select.c - `select`: of many traced jobs, the few that stand for
 * all.
 */
#include "cli/cmd.h"
#include "replay/fleet/fleet.h"

#include <inttypes.h>
#include <string.h>

#define USUAL       4 /* jobs that are chosen */
#define MOST        1000
#define FIELD(name) .field = offsetof(struct settings, name)

struct settings {
    uint32_t k; /* 0: not given */
    bool merge;
    const char *weight, *chart;
    enum msim_output output;
    struct msim_load_options load;
};

static const struct msim_option OPTIONS[] = {
    {.name = "k",
     .type = MSIM_OPTION_COUNT,
     FIELD(k),
     .metavar = "N",
     .min = 1,
     .max = MOST,
     .help = "how many jobs to choose",
     .dflt = "4, or all where there are fewer"},
    {.name = "weight",
     .type = MSIM_OPTION_TEXT,
     FIELD(weight),
     .metavar = "traced|job|FILE",
     .help = "what a job counts for: its traced time, the same as every other "
             "job, or what a CSV table with the columns job and weight says "
             "(GPU hours, say; names as --csv prints them, and jobs without a "
             "row count for nothing)",
     .dflt = "traced"},
    {.name = "json",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_JSON,
     .help = "print JSON (schema mystique-sim/selection/1) instead of text"},
    {.name = "csv",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_CSV,
     .help = "print CSV, one line a job, instead of text"},
    {.name = "merge",
     .type = MSIM_OPTION_FLAG,
     FIELD(merge),
     .help = "the files are answers of select --json: put the jobs of all of "
             "them together, as if their traces had been read at once"},
    MSIM_OPTION_CHART_ROW(struct settings, chart),
    MSIM_OPTION_COMMUNICATION_ROW(struct settings, load),
    MSIM_OPTION_SALVAGE_ROW(struct settings, load.salvage),
    MSIM_OPTION_THREADS_ROW(struct settings, load.threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim select traces/ -k 4",
    "mystique-sim select --csv traces/ > jobs.csv",
    "mystique-sim select --weight hours.csv --chart fleet.svg traces/",
    "mystique-sim select --merge part-1.json part-2.json",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "select",
    .operands = "TRACE|DIR...",
    .summary =
        "Choose the few jobs that stand for a fleet, with weights: together "
        "they spend\ntheir time as the fleet does, on gemm, attention, "
        "collectives, nothing, ...\n\n"
        "Directories are searched. One job are files of one directory whose "
        "names differ\nin the rank alone (rank-0.json, rank-1.json); files "
        "that say in themselves\ndifferent ranks of equally many; and traces "
        "with execution traces (ET) of the\nsame names, beside each other or "
        "in DIR/kineto and DIR/et. Every other file is\na job by itself. A "
        "job without times, such as an ET alone, is left out.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
};

static enum msim_status load(struct msim_fleet **out, const struct settings *s,
                             const struct msim_cli_operands *files,
                             struct msim_error *err)
{
    struct msim_progress progress;
    struct msim_fleet_options opt = {
        .load = s->load, .before = msim_progress_count, .ctx = &progress};
    enum msim_status status;

    if (s->merge)
        return msim_fleet_merge(out, (const char *const *)files->items,
                                (uint32_t)files->n, err);
    msim_progress_start(&progress, "reading");
    status = msim_fleet_load(out, (const char *const *)files->items,
                             (uint32_t)files->n, &opt, err);
    msim_progress_end(&progress);
    return status;
}

static enum msim_status weigh(struct msim_fleet *fleet, const char *weight,
                              struct msim_error *err)
{
    if (!weight || !strcmp(weight, "traced"))
        return MSIM_OK;
    if (strcmp(weight, "job") != 0)
        return msim_fleet_weigh_by(fleet, weight, err);
    msim_fleet_weigh_alike(fleet);
    return MSIM_OK;
}

static enum msim_status choose(struct msim_selection **out,
                               const struct msim_fleet *fleet, uint32_t k,
                               uint32_t threads, struct msim_error *err)
{
    if (k > fleet->n_jobs)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '-k' is %" PRIu32 ", want %" PRIu32
                         " at most: so many jobs have times",
                         k, fleet->n_jobs);
    if (!k)
        k = fleet->n_jobs < USUAL ? fleet->n_jobs : USUAL;
    return msim_selection_new(out, fleet, k, threads);
}

static enum msim_status write_report(const struct msim_selection *selection,
                                     enum msim_output output)
{
    switch (output) {
    case MSIM_OUTPUT_JSON:
        return msim_selection_json(selection, stdout);
    case MSIM_OUTPUT_CSV:
        return msim_selection_csv(selection, stdout);
    case MSIM_OUTPUT_MARKDOWN:
    case MSIM_OUTPUT_TEXT:
        break;
    }
    return msim_selection_text(selection, stdout);
}

static enum msim_status report(const struct settings *s,
                               const struct msim_selection *selection,
                               struct msim_error *err)
{
    if (s->chart)
        MSIM_TRY(msim_selection_chart(selection, s->chart, err));
    return write_report(selection, s->output);
}

static enum msim_status select_jobs(const struct settings *s,
                                    const struct msim_cli_operands *files,
                                    struct msim_error *err)
{
    struct msim_selection *selection = NULL;
    struct msim_fleet *fleet;
    enum msim_status status;

    MSIM_TRY(load(&fleet, s, files, err));
    for (uint32_t i = 0; i < fleet->n_left_out; i++)
        msim_message("left out %s: %s", fleet->left_out[i].path,
                     fleet->left_out[i].reason);
    status = weigh(fleet, s->weight, err);
    if (status == MSIM_OK)
        status = choose(&selection, fleet, s->k, s->load.threads, err);
    if (status == MSIM_OK)
        status = report(s, selection, err);
    msim_selection_free(selection);
    msim_fleet_free(fleet);
    return status;
}

int msim_cmd_select(int argc, char **argv)
{
    struct settings s = {.load = {.threads = 2}};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status = MSIM_OK;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (s.chart)
        status = msim_option_check_chart(s.chart, &err);
    if (status == MSIM_OK)
        status = select_jobs(&s, &files, &err);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

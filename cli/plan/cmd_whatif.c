/*
 * cli/plan/cmd_whatif.c - `whatif`: scenarios of one job, traced or described,
 * side by side.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/plan/option_values.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/guard/guard.h"
#include "core/report/page/page.h"
#include "core/report/write/report.h"
#include "plan/whatif/job_whatif.h"
#include "predict/page/prediction_page.h"
#include "predict/scenario/scenario.h"
#include "predict/write/scenario_write.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEPT (1 << 30) /* bytes */

struct settings {
    const char *platform, *host, *network, *strategy, *write, *html;
    enum msim_output output;
    bool sensitivity, kernels, usage, simulate;
    uint32_t threads;
    cJSON *grid; /* the file that --grid stands for; NULL: a file is given */
};

static enum msim_status parse_grid(void *settings, const char *value,
                                   struct msim_error *err)
{
    return msim_grid_option(&((struct settings *)settings)->grid, value, err);
}

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(struct settings, platform, TEXT, "platform",
                .metavar = "NAME|FILE",
                .help = "the GPU of the base, and of scenarios without "
                        "\"gpu\"; " MSIM_PLATFORM_STACK_HELP,
                .dflt = "the traced one, as traced"),
    MSIM_OPTION(struct settings, host, TEXT, "host", .metavar = "NAME|FILE",
                .help = "the host of the base"),
    MSIM_OPTION(struct settings, network, TEXT, "network",
                .metavar = "NAME|FILE", .help = "the network of the base"),
    MSIM_OPTION(
        struct settings, strategy, TEXT, "strategy", .metavar = "S.json",
        .help =
            "of a described model: GPUs, splits, batch, precision, techniques "
            "as the columns of a table of jobs (docs/jobs.md) [default: one "
            "GPU]"),
    MSIM_OPTION(
        struct settings, sensitivity, FLAG, "sensitivity",
        .help =
            "no scenarios: what a tenth less of each kind of work, family, "
            "stream, link, part of the host and large operator brings, most "
            "first"),
    {.name = "grid",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_grid,
     .metavar = "CHANGE=VALUE,...",
     .help = "no file: a scenario for each of these values of a change "
             "(gpu=a100,h100); given again, for all combinations. A number for "
             "kernels, communication, copies or host is a factor of such "
             "durations"},
    MSIM_OPTION(
        struct settings, kernels, FLAG, "kernels",
        .help =
            "list kernels by name and number: in text those that a scenario "
            "changes, in JSON all"),
    MSIM_OPTION(
        struct settings, usage, FLAG, "usage",
        .help =
            "also what GPUs do on average: SMs that are busy, warps that they "
            "hold, memory bandwidth, arithmetic and power"),
    MSIM_OPTION(
        struct settings, simulate, FLAG, "simulate",
        .help =
            "of a described model: what the graph of the base takes and holds "
            "by itself, too, as synth writes it"),
    MSIM_OPTION(struct settings, write, TEXT, "write", .metavar = "DIR",
                .help = "write the changed traces, too, as execution traces: "
                        "DIR/SCENARIO/rank-N.et.json"),
    MSIM_OPTION(
        struct settings, output, ONE_OF, "json", .value = MSIM_OUTPUT_JSON,
        .help = "print JSON (schema mystique-sim/whatif/1) instead of text"),
    MSIM_OPTION(struct settings, output, ONE_OF, "csv",
                .value = MSIM_OUTPUT_CSV,
                .help = "print CSV, one line a scenario, instead of text"),
    MSIM_OPTION_MARKDOWN_ROW(struct settings, output),
    MSIM_OPTION_HTML_ROW(struct settings, html),
    MSIM_OPTION_THREADS_ROW(struct settings, threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim whatif scenarios.json run",
    "mystique-sim whatif --sensitivity run",
    "mystique-sim whatif --grid gpu=a100,h100 --grid batch=8,16,32 run",
    "mystique-sim whatif --platform a100 scenarios.json trace.json --csv",
    "mystique-sim whatif scenarios.json run --write changed",
    "mystique-sim whatif scenarios.json llama3-8b --strategy s.json --platform "
    "h100",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "whatif",
    .operands =
        "SCENARIOS.json|--grid C=V,...|--sensitivity TRACE|DIR...|MODEL",
    .summary =
        "Predict changes to one job, traced or described, side by side: other "
        "durations, "
        "sizes, GPU,\nnetwork, host, clock, numbers of nodes and ranks "
        "(docs/whatif.md).",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .axes = msim_change_names,
    .min_operands = 1,
};

static enum msim_status report(const struct msim_scenarios *s,
                               enum msim_output output)
{
    if (output == MSIM_OUTPUT_JSON)
        return msim_scenarios_json(s, stdout);
    if (output == MSIM_OUTPUT_CSV)
        msim_scenarios_csv(s, stdout);
    else if (output == MSIM_OUTPUT_MARKDOWN)
        msim_scenarios_markdown(s, stdout);
    else
        msim_scenarios_text(s, stdout);
    return MSIM_OK;
}

/* A ranking has none that could not be predicted. */
static enum msim_status some_scenario(const struct msim_scenarios *s,
                                      struct msim_error *err)
{
    uint64_t answers = 0;

    for (uint32_t i = 0; i < s->n; i++)
        answers += !*s->rows[i].reason;
    return msim_guard_some(answers, s->n, "scenarios", err);
}

static enum msim_status some_job(const struct msim_job_whatif *w,
                                 struct msim_error *err)
{
    uint64_t answers = 0;

    for (uint32_t i = 0; i < w->n; i++)
        answers += !*w->rows[i].reason;
    return msim_guard_some(answers, w->n, "scenarios", err);
}

static enum msim_status scenarios_json(const void *of, FILE *out)
{
    return msim_scenarios_json(of, out);
}

static enum msim_status jobs_json(const void *of, FILE *out)
{
    return msim_job_whatif_json(of, out);
}

static enum msim_status write_html(const struct settings *s, const char *job,
                                   enum msim_status (*json)(const void *,
                                                            FILE *),
                                   const void *of, struct msim_error *err)
{
    char name[256], title[272];

    if (!s->html)
        return MSIM_OK;
    msim_format_name(name, sizeof(name), job, 120);
    snprintf(title, sizeof(title), "What-ifs of %s", name);
    return msim_page_save_json(title, json, of, s->html, err);
}

/* What became of the traces of a scenario. */
static void say_written(const char *name, const struct msim_scenario_written *w)
{
    if (!w->folder) {
        msim_message("note: '%s' is not written: %s", name, w->why);
        return;
    }
    msim_message("written: %" PRIu32 " execution trace%s, %" PRIu64
                 " nodes, in %s",
                 w->files, w->files == 1 ? "" : "s", w->nodes, w->folder);
    if (*w->why)
        msim_message("note: of '%s' all is written but one thing: %s", name,
                     w->why);
}

/* ---- a described job ------------------------------------------------------
 */

/* Why an option does not go with a described model; NULL: all do. */
static const char *unfit(const struct settings *s, int n_jobs)
{
    return s->sensitivity ? "--sensitivity ranks parts of a traced job"
           : s->usage     ? "--usage is of a traced job: write the traces of a "
                            "described one (synth), and predict those"
           : s->kernels   ? "--kernels is of a traced job: a described one has "
                            "no kernels by name"
           : s->host    ? "--host is of a traced job: a described one has the "
                          "host of the jobs that its law was fitted to"
           : n_jobs > 1 ? "a described model goes alone"
           : !s->platform ? "want --platform: a described model has no GPU of "
                            "its own"
                          : NULL;
}

static enum msim_status write_jobs(const struct msim_job_whatif *w,
                                   const char *model, const struct settings *s,
                                   const char *data, struct msim_error *err)
{
    struct msim_scenario_written *rows = NULL;
    char *source = NULL;
    enum msim_status status = msim_described_source(&source, model, data, err);

    if (status == MSIM_OK)
        status = msim_jobs_write(&rows, w, source, s->write, err);
    for (uint32_t i = 0; status == MSIM_OK && i < w->n; i++)
        say_written(w->rows[i].name, &rows[i]);
    msim_scenarios_written_free(rows, w->n);
    free(source);
    return status;
}

static enum msim_status report_jobs(const struct msim_job_whatif *w,
                                    enum msim_output output)
{
    if (output == MSIM_OUTPUT_JSON)
        return msim_job_whatif_json(w, stdout);
    if (output == MSIM_OUTPUT_CSV)
        msim_job_whatif_csv(w, stdout);
    else if (output == MSIM_OUTPUT_MARKDOWN)
        msim_job_whatif_markdown(w, stdout);
    else
        msim_job_whatif_text(w, stdout);
    return MSIM_OK;
}

static enum msim_status describe(const struct msim_scenario_source *scenarios,
                                 const char *model, const struct settings *s,
                                 const char *data, struct msim_error *err)
{
    struct msim_job_question q = {*scenarios, model, s->strategy, s->platform,
                                  s->network, data,  s->simulate};
    struct msim_job_whatif w;
    enum msim_status status = msim_job_whatif_run(&w, &q, err);

    if (status == MSIM_OK && s->write)
        status = msim_job_write_look(&w, s->write, err);
    if (status == MSIM_OK)
        status = write_html(s, model, jobs_json, &w, err);
    if (status == MSIM_OK)
        status = report_jobs(&w, s->output);
    if (status == MSIM_OK && s->write)
        status = write_jobs(&w, model, s, data, err);
    if (status == MSIM_OK)
        status = some_job(&w, err);
    msim_job_whatif_release(&w);
    return status;
}

/* ---- a traced job ---------------------------------------------------------
 */

static void show_doubts(const struct msim_scenarios *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].doubt[0])
            msim_message_warning("scenario '%s': %s", s->rows[i].name,
                                 s->rows[i].doubt);
}

static enum msim_status write_description(void *own, struct msim_folder *folder,
                                          const struct msim_step_change *by,
                                          uint32_t files,
                                          struct msim_error *err)
{
    return msim_written_job_write(own, folder, by, files, err);
}

static enum msim_status write_traces(const struct msim_scenarios *s,
                                     const struct msim_inputs *in,
                                     struct msim_written_job *job,
                                     const char *dir, struct msim_error *err)
{
    const struct msim_scenario_describer with = {job, write_description};
    struct msim_scenario_written *rows;

    MSIM_TRY(
        msim_scenarios_write(&rows, s, in, job->file ? &with : NULL, dir, err));
    for (uint32_t i = 0; i < s->n; i++)
        say_written(s->rows[i].name, &rows[i]);
    msim_scenarios_written_free(rows, s->n);
    return MSIM_OK;
}

/* A folder is read with all below it: what is written there would be of the job
 * from then on. */
static enum msim_status look_apart(const struct msim_predict_settings *s,
                                   const char *dir, struct msim_error *err)
{
    for (uint32_t i = 0; i < s->n_paths; i++)
        if (msim_folder_is_within(dir, s->paths[i]))
            return msim_fail(err, MSIM_EUSAGE, dir, MSIM_OFFSET_NONE,
                             "is in '%s', which is read with all that is in "
                             "it; want another folder",
                             s->paths[i]);
    return MSIM_OK;
}

/* A mistyped scenario fails before a trace is read. Where `from` is NULL the
 * scenarios are our own. */
static enum msim_status run(const struct msim_scenario_source *from,
                            struct msim_predict_settings *settings,
                            const struct settings *cli, struct msim_error *err)
{
    struct msim_inputs in = {0};
    struct msim_target to = {0};
    struct msim_scenarios s = {0};
    struct msim_written_job job;
    enum msim_status status = msim_written_settings(&job, settings, err);

    if (status == MSIM_OK && from)
        status = msim_scenarios_read(&s, from, settings, err);
    if (status == MSIM_OK && cli->write)
        status = look_apart(settings, cli->write, err);
    if (status == MSIM_OK && cli->write)
        status = msim_scenarios_write_look(&s, cli->write, err);
    s.kernels = cli->kernels;
    if (status == MSIM_OK)
        status = msim_load_prediction(&in, &to, settings, err);
    if (status == MSIM_OK)
        status = from ? msim_scenarios_run(&s, &in, &to, err)
                      : msim_scenarios_rank(&s, settings, &in, &to, err);
    if (status == MSIM_OK) {
        show_doubts(&s);
        status = write_html(cli, settings->paths[0], scenarios_json, &s, err);
    }
    if (status == MSIM_OK)
        status = report(&s, cli->output);
    if (status == MSIM_OK && cli->write)
        status = write_traces(&s, &in, &job, cli->write, err);
    if (status == MSIM_OK)
        status = some_scenario(&s, err);
    msim_target_release(&to);
    msim_inputs_release(&in);
    msim_scenarios_release(&s);
    msim_written_job_release(&job);
    return status;
}

/* Scenarios have a few kilobytes, traces many. */
#define SCENARIOS_MAX (1 << 20)

static bool holds_scenarios(const char *path)
{
    struct msim_error why = {0};
    struct stat st;
    cJSON *json;
    bool is;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        st.st_size > SCENARIOS_MAX ||
        msim_json_read(&json, path, &why) != MSIM_OK)
        return false;
    is = cJSON_IsArray(cJSON_GetObjectItemCaseSensitive(json, "scenarios")) ||
         cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(json, "grid"));
    cJSON_Delete(json);
    return is;
}

#define GRID_OPTION "--grid" /* stands for a file of scenarios in messages */

/* Most other verbs have the trace first; what is wrong in an option is so in
 * the question, not in a file. */
static int fail(enum msim_status status, struct msim_error *err,
                const struct msim_cli_operands *files)
{
    const char *last = files->items[files->n - 1];

    if (files->n > 1 && holds_scenarios(last) &&
        !holds_scenarios(files->items[0])) {
        *err = (struct msim_error){0};
        status = msim_fail(err, MSIM_EUSAGE, last, MSIM_OFFSET_NONE,
                           "holds scenarios and stands where the trace is "
                           "wanted: 'mystique-sim whatif %s %s'",
                           last, files->items[0]);
    } else if (status == MSIM_EFORMAT && strcmp(err->file, GRID_OPTION) == 0)
        status = MSIM_EUSAGE;
    return msim_message_error(status, err);
}

/* What does not go with scenarios of our own, or with a traced job; NULL: all
 * goes. */
static const char *unfit_traced(const struct settings *s)
{
    return s->grid && s->sensitivity
               ? "--grid has scenarios, and --sensitivity its own"
           : s->write && s->sensitivity
               ? "--sensitivity changes durations alone, and --write writes "
                 "changed traces"
           : s->kernels && s->sensitivity
               ? "--sensitivity changes durations alone, and --kernels lists "
                 "what scenarios change"
           : s->simulate ? "--simulate is of a described model: what is "
                           "predicted of traces is simulated"
                         : NULL;
}

static enum msim_status trace(const struct msim_scenario_source *from,
                              const struct msim_cli_operands *files, int first,
                              const struct settings *s, const char *data,
                              struct msim_error *err)
{
    struct msim_predict_settings settings = {
        .data = data,
        .peers = MSIM_PEERS_FOLLOW,
        .iteration = MSIM_ITERATION_ALL,
        .paths = (const char *const *)&files->items[first],
        .n_paths = (uint32_t)(files->n - first),
        .platform = s->platform,
        .host = s->host,
        .network = s->network,
        .load.threads = s->threads,
        .load.details = s->write != NULL, /* schemas, value ranges */
        .usage = s->usage};

    return run(from, &settings, s, err);
}

static enum msim_status ask(const struct settings *s,
                            const struct msim_cli_operands *files,
                            struct msim_error *err)
{
    const int first = s->sensitivity || s->grid ? 0 : 1; /* of the job */
    const struct msim_scenario_source from = {
        s->grid ? GRID_OPTION : files->items[0], s->grid};
    const char *last = files->items[files->n - 1], *why;
    char data[1024];
    bool described;

    MSIM_TRY(msim_option_check_html(s->html, err));
    if (files->n <= first)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got '%s' alone, want SCENARIOS.json and a trace, or "
                         "--sensitivity or --grid and a trace",
                         files->items[0]);
    if (s->grid && files->n > 1 && holds_scenarios(files->items[0]))
        return msim_fail(err, MSIM_EUSAGE, files->items[0], MSIM_OFFSET_NONE,
                         "holds scenarios, and --grid has some; want one of "
                         "them: a file may have a \"grid\", too");
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    described = s->strategy || msim_described_is(last, data);
    why = described ? unfit(s, files->n - first) : unfit_traced(s);
    if (why)
        return msim_fail(err, MSIM_EUSAGE, last, MSIM_OFFSET_NONE, "%s", why);
    return described ? describe(&from, files->items[first], s, data, err)
                     : trace(s->sensitivity ? NULL : &from, files, first, s,
                             data, err);
}

int msim_cmd_whatif(int argc, char **argv)
{
    struct settings s = {.threads = 2};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc < 0) {
        /* Arrays of a million tasks come and go with every scenario: keep their
         * pages instead of asking for them anew. */
        (void)mallopt(M_MMAP_THRESHOLD, KEPT);
        (void)mallopt(M_TRIM_THRESHOLD, KEPT);
        status = ask(&s, &files, &err);
        rc = status == MSIM_OK ? MSIM_EXIT_OK : fail(status, &err, &files);
    }
    cJSON_Delete(s.grid);
    return rc;
}

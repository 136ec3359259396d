/*
 * cli/replay/cmd_replay.c - `replay`: a traced step on this machine's hardware.
 *
 * The operators run in a backend, which is a process of its own: this program
 * plans them, asks, and reports.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/replay/cli_replay_internal.h"
#include "core/base/files.h"
#include "core/report/write/report.h"
#include "profilers/ask/backend_child.h"
#include "replay/run/replay_plan.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    const char *backend, *out, *iteration;
    struct msim_choice choice;
    uint32_t iterations, warm_up;
    double patience;
    bool salvage, json, warm;
};

static enum msim_status parse_range(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct settings *s = settings;

    return msim_choice_parse_range(&s->choice, value, err);
}

static enum msim_status parse_cache(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct settings *s = settings;

    s->warm = strcmp(value, "warm") == 0;
    if (s->warm || strcmp(value, "cold") == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--cache' is '%s', want cold or warm", value);
}

static enum msim_status parse_patience(void *settings, const char *value,
                                       struct msim_error *err)
{
    struct settings *s = settings;
    char *end;

    s->patience = strtod(value, &end);
    if (end != value && *end == '\0' && s->patience > 0 && s->patience < 1e9)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--patience' is '%s', want a number of seconds "
                     "above 0",
                     value);
}

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, backend, TEXT, "backend", .metavar = "NAME",
        .help =
            "the program that runs operators: cpu, cuda, or the command line\n"
            "of another (it holds a space or a '/')",
        .dflt = "cuda where there is a GPU, else cpu"),
    MSIM_OPTION(struct settings, iterations, COUNT, "iterations",
                .metavar = "N", .help = "how often the step is run and timed",
                .dflt = "10", .min = 1, .max = 10000),
    MSIM_OPTION(struct settings, warm_up, COUNT, "warmup", .metavar = "N",
                .help = "how often before", .dflt = "2", .min = 0, .max = 1000),
    {.name = "cache",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_cache,
     .metavar = "cold|warm",
     .help =
         "where each operator's operands are: out of the caches, or as the\n"
         "run before left them",
     .dflt = "cold"},
    {.name = "patience",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_patience,
     .metavar = "SECONDS",
     .help = "time after which one iteration counts as hung",
     .dflt = "60"},
    MSIM_OPTION(
        struct settings, out, TEXT, "o", .metavar = "FILE",
        .help = "write a trace of what was run, as PyTorch's profiler writes "
                "them; packed where FILE ends in .gz"),
    MSIM_OPTION_CHOICE_ROWS(struct settings, parse_range, ""),
    MSIM_OPTION(
        struct settings, json, FLAG, "json",
        .help = "print JSON instead of text, with the time of every operator"),
    MSIM_OPTION_SALVAGE_ROW(struct settings, salvage),
};

static const char *const EXAMPLES[] = {
    "mystique-sim replay --backend cpu data/traces/dlrm",
    "mystique-sim replay --kind compute -o replayed.json.gz run/et",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "replay",
    .operands = "TRACE|DIR...",
    .summary =
        "Run the operators of a traced step on this machine, without PyTorch, "
        "and time\neach of them and the whole. An operator without a routine "
        "is run as a copy of as\nmany bytes; the report says which, and what "
        "part of the time they are.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
};

/* ---- output -------------------------------------------------------------- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

static enum msim_status write_trace(const struct msim_replay *r,
                                    const char *path, struct msim_error *err)
{
    struct msim_file *f;
    struct msim_json j;

    MSIM_TRY(msim_file_open(
        &f, path, &(struct msim_file_how){.gzip = ends_in(path, ".gz")}, err));
    msim_json_begin(&j, msim_file_write, f);
    msim_replay_write_trace(r, &j);
    return msim_file_close(f, msim_json_end(&j), err);
}

static enum msim_status report(const struct msim_replay *r,
                               const struct msim_job *job,
                               const struct settings *s, struct msim_error *err)
{
    struct msim_json j;

    if (s->out)
        MSIM_TRY(write_trace(r, s->out, err));
    if (!s->json) {
        msim_replay_write_text(r, stdout);
        return MSIM_OK;
    }
    msim_json_begin(&j, msim_sink_file, stdout);
    msim_json_open(&j, NULL, '{', true);
    msim_replay_write_json(r, &j);
    msim_report_json_import(&j, "import", job->files, job->n_files, false);
    return msim_json_end(&j);
}

/* ---- running ------------------------------------------------------------- */

static enum msim_status
run_plan(struct msim_replay *r, struct msim_replay_plan *p,
         struct msim_child *child, const struct msim_job *job,
         const struct settings *s, struct msim_error *err)
{
    struct msim_replay_runs runs;
    struct msim_replay_figures figures = {.ops = NULL};
    enum msim_status status = msim_replay_run(
        &runs, p, child, r->greeting,
        &(struct msim_replay_how){s->warm_up, s->iterations, s->patience}, err);

    if (status == MSIM_OK)
        status = msim_replay_figures_make(&figures, p, &runs, r->greeting);
    r->runs = &runs;
    r->figures = &figures;
    if (status == MSIM_OK)
        status = report(r, job, s, err);
    msim_replay_figures_release(&figures);
    msim_replay_runs_release(&runs);
    return status;
}

static enum msim_status
run_trace(const struct msim_trace *t, const struct msim_job *job,
          struct msim_child *child, const cJSON *greeting,
          const struct settings *s, struct msim_error *err)
{
    struct msim_replay_wish wish = {MSIM_NONE, s->choice, s->warm};
    struct msim_replay_plan plan;
    struct msim_replay r = {.path = job->n_files ? job->files[0].path : "",
                            .plan = &plan,
                            .greeting = greeting,
                            .warm = s->warm};
    enum msim_status status;

    MSIM_TRY(msim_choice_find_step(t, s->iteration, &wish.step, err));
    status = msim_replay_plan_make(&plan, t, &wish, greeting, err);
    if (status == MSIM_OK)
        status = run_plan(&r, &plan, child, job, s, err);
    msim_replay_plan_release(&plan);
    return status;
}

static enum msim_status start(struct msim_child *child,
                              const struct settings *s, cJSON **greeting,
                              struct msim_error *err)
{
    const char *backend = s->backend;
    double seconds = MSIM_CHILD_START * s->patience;
    struct msim_backends found;

    if (backend && strpbrk(backend, " /"))
        return msim_child_start(child, backend, seconds, greeting, err);
    if (backend && strchr(backend, ','))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--backend' is '%s', want one backend",
                         backend);
    MSIM_TRY(msim_backends_find(
        &found, backend ? backend : msim_backends_device(), err));
    return msim_child_start(child, found.list[0].command, seconds, greeting,
                            err);
}

static enum msim_status replay(const struct msim_job *job,
                               const struct settings *s, struct msim_error *err)
{
    const struct msim_trace *t = msim_choice_trace(job);
    struct msim_child child = {0};
    cJSON *greeting = NULL;
    enum msim_status status;

    if (!t)
        return MSIM_EFORMAT;
    if (s->out)
        MSIM_TRY(msim_files_read_spare(s->out, err));
    status = start(&child, s, &greeting, err);
    if (status == MSIM_OK)
        status = run_trace(t, job, &child, greeting, s, err);
    cJSON_Delete(greeting);
    msim_child_stop(&child);
    return status;
}

int msim_cmd_replay(int argc, char **argv)
{
    struct settings s = {.iterations = 10, .warm_up = 2, .patience = 60};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status =
        msim_load_job(&job, &files,
                      &(struct msim_load_options){
                          .salvage = s.salvage, .details = true, .threads = 2},
                      &err);
    if (status == MSIM_OK)
        status = replay(job, &s, &err);
    if (status == MSIM_OK)
        msim_message_warnings(job->warnings, job->n_warnings, false);
    msim_job_free(job);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

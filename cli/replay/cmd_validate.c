/*
 * cli/replay/cmd_validate.c - `validate`: predicted, replayed and originally
 * measured, side by side.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/plan/validate_rows.h"
#include "cli/replay/cli_replay_internal.h"
#include "core/job/job.h"
#include "replay/validate/validation.h"

#include <math.h>
#include <stdlib.h>

struct settings {
    const char *platform, *iteration, *max_error, *chart, *rows, *no_rows,
        *trace;
    bool would_fit, simulate;
    enum msim_output output;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, rows, TEXT, "rows", .metavar = "ROWS.csv",
        .help =
            "instead of traces, a table of training jobs: model, platform,\n"
            "gpus, tp, pp, micro_batch and more (docs/jobs.md)"),
    MSIM_OPTION(
        struct settings, trace, TEXT, "trace", .metavar = "ET",
        .help =
            "with --rows: each job as changes of this traced training step:\n"
            "batch, gpus, strategy, amp, recompute, offload and more"),
    MSIM_OPTION(
        struct settings, no_rows, TEXT, "no-rows", .metavar = "SOURCE",
        .help = "with --rows: constants that were fitted without the jobs of\n"
                "that source"),
    MSIM_OPTION(
        struct settings, would_fit, FLAG, "would-fit",
        .help =
            "with --rows and --csv: a column of changes that would make a job\n"
            "fit that does not"),
    MSIM_OPTION(
        struct settings, simulate, FLAG, "simulate",
        .help =
            "with --rows and --csv: columns of what the graph of a job takes\n"
            "and holds by itself, as synth writes it"),
    MSIM_OPTION(
        struct settings, platform, TEXT, "platform", .metavar = "NAME|FILE",
        .help =
            "predict for this device too: a name that 'platforms' lists, or a "
            "file of 'calibrate' for the machine that "
            "replayed; " MSIM_PLATFORM_STACK_HELP),
    MSIM_OPTION(
        struct settings, iteration, TEXT, "iteration", .metavar = "N",
        .help = "the step of TRACE: ProfilerStep#N, else the N-th from zero",
        .dflt = "the last whole one, which 'replay' runs"),
    MSIM_OPTION(
        struct settings, max_error, TEXT, "max-error", .metavar = "PERCENT",
        .help = "exit 1 where the time of all operators, as replayed or as\n"
                "predicted, is further from what it is compared with; with\n"
                "--rows: the mean error of measured steps"),
    MSIM_OPTION_CHART_ROW(struct settings, chart),
    MSIM_OPTION(struct settings, output, ONE_OF, "json",
                .value = MSIM_OUTPUT_JSON,
                .help = "print JSON instead of text"),
    MSIM_OPTION(struct settings, output, ONE_OF, "csv",
                .value = MSIM_OUTPUT_CSV,
                .help = "print a table instead of text"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim replay -o replay.json.gz run",
    "mystique-sim validate --platform ./mine.json --max-error 15 run "
    "replay.json.gz",
    "mystique-sim validate --chart replay.svg run replay.json.gz",
    "mystique-sim validate --rows jobs.csv --csv > predicted.csv",
    "mystique-sim validate --rows jobs.csv --chart jobs.svg --max-error 20",
    "mystique-sim validate --rows jobs.csv --trace et.json.gz",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "validate",
    .operands = "TRACE|DIR REPLAYED | --rows ROWS.csv",
    .summary = "Compare a traced step with its replay on this or another "
               "machine, and with a\nprediction: all operators together, and "
               "by their family. Or predict a table of\ntraining jobs, and "
               "compare with the times measured there.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 2,
};

/* ---- output -------------------------------------------------------------- */

static enum msim_status write_report(const struct msim_validation *v,
                                     const struct settings *s,
                                     struct msim_error *err)
{
    struct msim_json j;

    if (s->chart)
        MSIM_TRY(msim_validation_chart(v, s->chart, err));
    if (s->output == MSIM_OUTPUT_JSON) {
        msim_json_begin(&j, msim_sink_file, stdout);
        msim_validation_json(v, &j);
        return msim_json_end(&j);
    }
    if (s->output == MSIM_OUTPUT_CSV)
        msim_validation_csv(v, stdout);
    else
        msim_validation_text(v, stdout);
    return MSIM_OK;
}

/* In percent; 0: none. */
static double limit_of(const struct settings *s)
{
    return s->max_error ? strtod(s->max_error, NULL) : 0;
}

/* ECHECK past the limit. */
static enum msim_status judge(const struct msim_validation *v,
                              const struct settings *s, struct msim_error *err)
{
    const struct msim_validation_row *all = &v->rows[1];
    double limit = s->max_error ? limit_of(s) / 100 : INFINITY;
    double replay = msim_replay_error(all);
    double prediction = msim_prediction_error(all);

    if (fabs(prediction) > limit)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "operators were predicted %+.1f %% from what they "
                         "took, want at most %s %%",
                         100 * prediction, s->max_error);
    if (!s->platform && fabs(replay) > limit)
        return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                         "operators took %+.1f %% from what was traced, want "
                         "at most %s %%",
                         100 * replay, s->max_error);
    return MSIM_OK;
}

/* ---- loading ------------------------------------------------------------- */

/* What is compared: a step of the trace, and all steps of the replay. */
enum part { ONE_STEP, ALL_STEPS };

static enum msim_status find_times(struct msim_validation_side *out,
                                   const struct msim_trace *t, enum part part,
                                   const char *iteration,
                                   struct msim_error *err)
{
    uint32_t step = MSIM_NONE;

    if (part == ONE_STEP)
        MSIM_TRY(msim_choice_find_step(t, iteration, &step, err));
    MSIM_TRY(msim_family_times_of(&out->times, t, step, err));
    if (part == ALL_STEPS)
        MSIM_TRY(msim_family_times_each(&out->each, &out->n_each, t));
    return MSIM_OK;
}

static enum msim_status load(struct msim_validation_side *out, char **path,
                             enum part part, const char *iteration,
                             struct msim_error *err)
{
    struct msim_cli_operands one = {path, 1};
    struct msim_job *job = NULL;
    enum msim_status status = msim_load_job(
        &job, &one, &(struct msim_load_options){.threads = 2}, err);

    if (status == MSIM_OK && !(job->n_ranks && job->ranks[0]))
        status = MSIM_EFORMAT;
    if (status == MSIM_OK)
        status = find_times(out, job->ranks[0], part, iteration, err);
    for (uint32_t i = 0; status == MSIM_OK && i < job->n_files; i++)
        if (out->system.n == 0)
            msim_system_figures_read(&out->system, job->files[i].path);
    if (status == MSIM_OK) {
        status = msim_import_copy(&out->arena, job->files, job->n_files,
                                  &out->files);
        out->n_files = job->n_files;
    }
    msim_job_free(job);
    return status;
}

/* A replay runs the operators of its step, less a few that no benchmark can. A
 * rule of reading: no time depends on it. */
#define SHARED_LEAST 0.5

static void warn_other(const struct msim_validation *v, char **paths)
{
    double share = msim_validation_shared(v);

    if (share < SHARED_LEAST)
        msim_message_warning(
            "%s: shares %.0f %% of its operators with a step of "
            "'%s', by family and number: is it a replay of that?",
            paths[1], 100 * share, paths[0]);
}

static enum msim_status compare(const struct settings *s, char **paths,
                                const struct msim_prediction *p,
                                const struct msim_validation_side *measured,
                                struct msim_error *err)
{
    struct msim_validation_side replayed = {.each = NULL};
    struct msim_validation v;
    enum msim_status status = load(&replayed, &paths[1], ALL_STEPS, NULL, err);

    if (status == MSIM_OK) {
        msim_validation_make(&v, measured, &replayed, p);
        v.platform = s->platform;
        warn_other(&v, paths);
        status = write_report(&v, s, err);
    }
    if (status == MSIM_OK)
        status = judge(&v, s, err);
    free(replayed.each);
    msim_arena_release(&replayed.arena);
    return status;
}

static enum msim_status predict(const struct settings *s, char **paths,
                                const struct msim_validation_side *measured,
                                struct msim_error *err)
{
    const char *path = paths[0];
    struct msim_predict_settings settings = {
        .paths = &path,
        .n_paths = 1,
        .load = {.threads = 2},
        .platform = s->platform,
        .costs = MSIM_COSTS_MODEL,
        .peers = MSIM_PEERS_FOLLOW,
        .iteration = measured->times.number < 0 ? MSIM_ITERATION_ALL
                                                : measured->times.number};
    struct msim_inputs in;
    struct msim_target to;
    struct msim_prediction_run run = {0};
    enum msim_status status = msim_load_prediction(&in, &to, &settings, err);

    if (status == MSIM_OK)
        status = msim_predict(&run, &settings, &in, &to, err);
    if (status == MSIM_OK)
        status = compare(s, paths, run.prediction, measured, err);
    msim_prediction_run_release(&run);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return status;
}

static bool is_percent(const char *text)
{
    char *end;
    double v = text ? strtod(text, &end) : 0;

    return !text || (end != text && *end == '\0' && v > 0 && v < 1e6);
}

/* An option that is given and would change nothing. */
static const char *idle_option(const struct settings *s, const char **want)
{
    bool csv = s->output == MSIM_OUTPUT_CSV;
    const struct {
        bool given, works;
        const char *name, *want;
    } options[] = {
        {s->trace, s->rows, "trace", "for --rows ROWS.csv"},
        {s->no_rows, s->rows && !s->trace, "no-rows",
         s->trace ? "for --rows ROWS.csv without --trace"
                  : "for --rows ROWS.csv"},
        {s->would_fit, s->rows && !s->trace && csv, "would-fit",
         s->trace ? "for --rows ROWS.csv --csv without --trace"
                  : "for --rows ROWS.csv --csv"},
        {s->simulate, s->rows && !s->trace && csv, "simulate",
         s->trace ? "for --rows ROWS.csv --csv without --trace"
                  : "for --rows ROWS.csv --csv"},
        {s->iteration, !s->rows, "iteration", "for TRACE REPLAYED"},
        {s->output == MSIM_OUTPUT_JSON, !s->rows, "json",
         "for TRACE REPLAYED; --rows has --csv"},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
        if (options[i].given && !options[i].works) {
            *want = options[i].want;
            return options[i].name;
        }
    return NULL;
}

/* Traces and tables exclude each other; the exit code, or -1 to go on. */
static int check_usage(const struct settings *s, int n)
{
    const char *idle, *want;

    if (!is_percent(s->max_error)) {
        msim_message("--max-error is '%s', want a number above 0",
                     s->max_error);
        return MSIM_EXIT_USAGE;
    }
    if (s->rows && n > 0) {
        msim_message("--rows stands alone, without TRACE and REPLAYED");
        return MSIM_EXIT_USAGE;
    }
    if (!s->rows && n != 2) {
        msim_message("want TRACE and REPLAYED, or --rows ROWS.csv");
        return MSIM_EXIT_USAGE;
    }
    idle = idle_option(s, &want);
    if (idle) {
        msim_message("--%s is %s", idle, want);
        return MSIM_EXIT_USAGE;
    }
    return -1;
}

int msim_cmd_validate(int argc, char **argv)
{
    struct settings s = {.platform = NULL};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_validation_side measured = {.each = NULL};
    enum msim_status status = MSIM_OK;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    rc = check_usage(&s, files.n);
    if (rc >= 0)
        return rc;
    if (s.chart)
        status = msim_option_check_chart(s.chart, &err);
    if (s.rows) {
        const struct msim_validate_rows v = {.rows = s.rows,
                                             .platform = s.platform,
                                             .without = s.no_rows,
                                             .csv = s.output == MSIM_OUTPUT_CSV,
                                             .would_fit = s.would_fit,
                                             .simulate = s.simulate,
                                             .wish = {s.chart, limit_of(&s)}};

        if (status == MSIM_OK)
            status = s.trace ? msim_validate_trace(&v, s.trace, &err)
                             : msim_validate_rows(&v, &err);
        return status == MSIM_OK ? MSIM_EXIT_OK
                                 : msim_message_error(status, &err);
    }
    if (status == MSIM_OK)
        status = load(&measured, &files.items[0], ONE_STEP, s.iteration, &err);
    if (status == MSIM_OK)
        status = s.platform ? predict(&s, files.items, &measured, &err)
                            : compare(&s, files.items, NULL, &measured, &err);
    msim_arena_release(&measured.arena);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

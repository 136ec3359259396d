/*
 * cli/cmd_compare.c - `compare A B`: what changed from one run to another.
 *
 * A side is loaded, simulated, reduced to its figures and released before the
 * next one is loaded.
 */
#include "cli/cmd.h"
#include "cli/predict_options.h"
#include "core/report/compare/compare.h"
#include "core/report/markdown/markdown.h"
#include "core/report/page/page.h"
#include "core/report/write/report.h"
#include "core/work/opmap/opmap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAIL_MAX    10000 /* percent */
#define FIELD(name) .field = offsetof(struct settings, name)

struct settings {
    char *platform[2]; /* heap, NULL: not given */
    int64_t iteration[2];
    bool iteration_given;
    const char *host, *ops, *html;
    struct msim_clock_wish clock[2];
    enum msim_cost_mode costs;
    enum msim_output output;
    struct msim_load_options load;
    double fail_above; /* share, e.g. 0.05; NAN: not given */
};

/* ---- options ----------------------------------------------------------- */

/* "A,B" as two texts, or one for both; the caller frees them. */
static enum msim_status split(const char *value, char *out[2])
{
    size_t comma = strcspn(value, ",");

    out[0] = strndup(value, comma);
    out[1] = strdup(value[comma] ? value + comma + 1 : value);
    if (out[0] && out[1])
        return MSIM_OK;
    free(out[0]);
    free(out[1]);
    out[0] = out[1] = NULL;
    return MSIM_ENOMEM;
}

static enum msim_status parse_platform(void *settings, const char *value,
                                       struct msim_error *err)
{
    struct settings *s = settings;

    free(s->platform[0]);
    free(s->platform[1]);
    MSIM_TRY(split(value, s->platform));
    if (s->platform[0][0] && s->platform[1][0])
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--platform' is '%s', want NAME or NAME,NAME",
                     value);
}

static enum msim_status parse_iteration(void *settings, const char *value,
                                        struct msim_error *err)
{
    struct settings *s = settings;
    char *of[2];
    enum msim_status status;

    MSIM_TRY(split(value, of));
    s->iteration_given = true;
    status = msim_iteration_parse(&s->iteration[0], of[0], err);
    if (status == MSIM_OK)
        status = msim_iteration_parse(&s->iteration[1], of[1], err);
    free(of[0]);
    free(of[1]);
    return status;
}

/* One value or one for each side, by the parser of `predict`. */
static enum msim_status
parse_clocks(struct settings *s, const char *value,
             enum msim_status (*parse)(struct msim_clock_wish *, const char *,
                                       struct msim_error *),
             struct msim_error *err)
{
    char *of[2];
    enum msim_status status;

    MSIM_TRY(split(value, of));
    status = parse(&s->clock[0], of[0], err);
    if (status == MSIM_OK)
        status = parse(&s->clock[1], of[1], err);
    free(of[0]);
    free(of[1]);
    return status;
}

static enum msim_status parse_clock(void *settings, const char *value,
                                    struct msim_error *err)
{
    return parse_clocks(settings, value, msim_clock_parse, err);
}

static enum msim_status parse_power_cap(void *settings, const char *value,
                                        struct msim_error *err)
{
    return parse_clocks(settings, value, msim_power_cap_parse, err);
}

/* "5%" or "5". */
static enum msim_status parse_fail_above(void *settings, const char *value,
                                         struct msim_error *err)
{
    struct settings *s = settings;
    char *end;
    double percent = strtod(value, &end);

    end += *end == '%';
    if (value[0] < '0' || value[0] > '9' || *end || !(percent <= FAIL_MAX))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--fail-above' is '%s', want a percentage "
                         "from 0 to %d, e.g. 5%%",
                         value, FAIL_MAX);
    s->fail_above = percent / 100;
    return MSIM_OK;
}

static const char *const COSTS[] = {[MSIM_COSTS_AUTO] = "auto",
                                    [MSIM_COSTS_MEASURED] = "measured",
                                    [MSIM_COSTS_MODEL] = "model",
                                    [MSIM_COSTS_SCALED] = "scaled",
                                    NULL};

static const struct msim_option OPTIONS[] = {
    {.name = "platform",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_platform,
     .metavar = "P[,P]",
     .help = "predict the traces for GPU P (a name or a file); P,P: one for "
             "each side; " MSIM_PLATFORM_STACK_HELP},
    {.name = "costs",
     .type = MSIM_OPTION_CHOICE,
     FIELD(costs),
     .choices = COSTS,
     .help = "where the traces' durations come from: their own times, a "
             "platform's models, or their own times as they would be on the "
             "platform (scaled)",
     .dflt = "auto: measured, but model with --platform or without times"},
    {.name = "host",
     .type = MSIM_OPTION_TEXT,
     FIELD(host),
     .metavar = "NAME|FILE",
     .help = "host (CPU side) to predict for",
     .dflt = "each trace's own host times, else generic"},
    {.name = "clock",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_clock,
     .metavar = "C[,C]",
     .help = "SM clock in MHz or as a share of the usual one, as for predict; "
             "C,C: one for each side"},
    {.name = "power-cap",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_power_cap,
     .metavar = "W[,W]",
     .help = "power limit in watts; W,W: one for each side"},
    {.name = "ops",
     .type = MSIM_OPTION_TEXT,
     FIELD(ops),
     .metavar = "FILE",
     .help = "your own table of operators, as for predict"},
    {.name = "iteration",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_iteration,
     .metavar = "N[,N]",
     .help = "only the iteration ProfilerStep#N of each trace, or the one "
             "with index N; N,N: one for each side",
     .dflt = "all"},
    MSIM_OPTION_COMMUNICATION_ROW(struct settings, load),
    MSIM_OPTION_SALVAGE_ROW(struct settings, load.salvage),
    {.name = "fail-above",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_fail_above,
     .metavar = "PERCENT",
     .help = "exit with 1 if the period of B is longer than that of A by more "
             "than PERCENT, else with 0"},
    {.name = "json",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_JSON,
     .help = "print JSON (schema mystique-sim/comparison/1) instead of text"},
    {.name = "csv",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_CSV,
     .help = "print CSV, one line a row of every table, instead of text"},
    MSIM_OPTION_MARKDOWN_ROW(struct settings, output),
    MSIM_OPTION_HTML_ROW(struct settings, html),
    MSIM_OPTION_THREADS_ROW(struct settings, load.threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim compare before.json.gz after.json.gz",
    "mystique-sim compare --platform a100,h100 trace.json.gz trace.json.gz",
    "mystique-sim compare --platform a100 --clock 1,0.8 trace.json trace.json",
    "mystique-sim compare --iteration 7,8 trace.json.gz trace.json.gz",
    "mystique-sim compare --json yesterday.json run/ > changes.json",
    "mystique-sim compare --fail-above 5% yesterday.json run/ > changes.txt",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "compare",
    .operands = "A B",
    .summary =
        "Say what changed from A to B: by kind of work, operator, kernel, "
        "stream, rank.\n"
        "Each is a trace, a directory (one job), or a prediction that "
        "--json wrote.\n"
        "Times are means over iterations; with several ranks, of the slowest.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 2,
    .max_operands = 2,
};

/* ---- one side ---------------------------------------------------------- */

/* With a platform both sides are predictions: a change must not be the error
 * of a model against a measurement. */
static enum msim_cost_mode costs_of(const struct settings *s)
{
    if (s->costs == MSIM_COSTS_AUTO && s->platform[0])
        return MSIM_COSTS_MODEL;
    return s->costs;
}

static struct msim_predict_settings
settings_of(const struct settings *s, int side, const char *const *path)
{
    return (struct msim_predict_settings){
        .platform = s->platform[side],
        .host = s->host,
        .ops = s->ops,
        .clock = s->clock[side],
        .costs = costs_of(s),
        .peers = MSIM_PEERS_FOLLOW,
        .iteration = s->iteration[side],
        .load = s->load,
        .paths = path,
        .n_paths = 1,
    };
}

/* The trace of the rank that the side is of. */
static const struct msim_trace *trace_of(const struct msim_job *job,
                                         const struct msim_side *side)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (job->ranks[i]->rank == side->rank)
            return job->ranks[i];
    return NULL;
}

/* Model costs know the kind of work of every task. Under measured costs it is
 * looked up here, for the same table. */
static enum msim_status add_tasks(struct msim_side *side,
                                  const struct msim_inputs *in,
                                  const struct msim_prediction_run *run)
{
    const struct msim_trace *t = trace_of(in->job, side);
    const char *names[MSIM_FAMILY_COUNT];
    struct msim_side_families families = {.names = names,
                                          .n_names = MSIM_FAMILY_COUNT};
    enum msim_status status;
    struct msim_works *works;
    uint8_t *of_gpu;

    if (!t || !run->outcome.measured)
        return msim_side_add_tasks(side, &run->outcome, run->iteration, NULL);
    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        names[i] = msim_family_text((enum msim_family)i);
    of_gpu = malloc((size_t)t->n_gpu + 1);
    if (!of_gpu)
        return MSIM_ENOMEM;
    families.of_gpu = of_gpu;
    status =
        msim_works_new(&works, t, in->ops[0], msim_opmap_place_of(t, false));
    if (status == MSIM_OK) {
        msim_gpu_families(works, of_gpu);
        status =
            msim_side_add_tasks(side, &run->outcome, run->iteration, &families);
    }
    msim_works_free(works);
    free(of_gpu);
    return status;
}

static enum msim_status predict_side(struct msim_side **side,
                                     const struct msim_predict_settings *s,
                                     const struct msim_inputs *in,
                                     const struct msim_target *to,
                                     struct msim_error *err)
{
    struct msim_prediction_run run;
    enum msim_status status = msim_predict(&run, s, in, to, err);

    *side = NULL;
    if (status == MSIM_OK)
        status = msim_side_new(side, run.prediction, false);
    if (status == MSIM_OK)
        status = add_tasks(*side, in, &run);
    if (status != MSIM_OK) {
        msim_side_free(*side);
        *side = NULL;
    }
    msim_prediction_run_release(&run);
    return status;
}

static enum msim_status from_file(struct msim_side **side, const char *path,
                                  struct msim_error *err)
{
    struct msim_prediction *p;
    enum msim_status status;

    MSIM_TRY(msim_prediction_read(&p, path, err));
    status = msim_side_new(side, p, true);
    msim_prediction_free(p);
    return status;
}

static bool is_file(const char *path)
{
    struct stat status;

    return strcmp(path, "-") != 0 && stat(path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

/* Most sides are traces: a file is read as a prediction only where it is none,
 * and where it has our schema. */
static enum msim_status load_side(struct msim_side **side,
                                  const struct settings *settings, int which,
                                  const char *path, struct msim_error *err)
{
    struct msim_predict_settings s = settings_of(settings, which, &path);
    struct msim_error no_trace = {0};
    struct msim_written_job job;
    struct msim_inputs in = {0};
    struct msim_target to = {0};
    enum msim_status status = msim_written_settings(&job, &s, &no_trace);
    bool is_trace;

    if (status == MSIM_OK)
        status = msim_load_prediction(&in, &to, &s, &no_trace);
    is_trace = in.job != NULL;
    if (status == MSIM_OK)
        status = predict_side(side, &s, &in, &to, &no_trace);
    msim_target_release(&to);
    msim_inputs_release(&in);
    msim_written_job_release(&job);
    if (status == MSIM_EFORMAT && !is_trace && is_file(path)) {
        if (msim_prediction_is_file(path))
            return from_file(side, path, err);
        return msim_fail(err, status, no_trace.file, no_trace.offset,
                         "neither a trace nor a prediction: %s", no_trace.text);
    }
    *err = no_trace;
    return status;
}

/* ---- both -------------------------------------------------------------- */

static enum msim_status check(char *const *paths, struct msim_error *err)
{
    struct stat status;

    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "both sides are '-', want standard input for one");
    /* Before the first is loaded, which may take long. */
    for (int side = 0; side < 2; side++)
        if (strcmp(paths[side], "-") != 0 && stat(paths[side], &status) != 0)
            return msim_fail(err, MSIM_EIO, paths[side], MSIM_OFFSET_NONE,
                             "cannot open: %s", strerror(errno));
    return MSIM_OK;
}

/* Figures from a file cannot be made again: options for traces then do
 * nothing. */
static enum msim_status check_sides(const struct settings *s,
                                    struct msim_side *const side[2],
                                    struct msim_error *err)
{
    const char *option = s->platform[0]                      ? "platform"
                         : s->costs != MSIM_COSTS_AUTO       ? "costs"
                         : s->host                           ? "host"
                         : s->ops                            ? "ops"
                         : s->clock[0].watts > 0             ? "power-cap"
                         : msim_clock_is_asked(&s->clock[0]) ? "clock"
                         : s->iteration_given                ? "iteration"
                                                             : NULL;

    if (!option || !side[0]->is_file || !side[1]->is_file)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--%s' is for traces, and both sides are "
                     "predictions",
                     option);
}

static enum msim_status write_report(const struct msim_comparison *c,
                                     enum msim_output output)
{
    switch (output) {
    case MSIM_OUTPUT_JSON:
        return msim_report_compare_json(c, stdout);
    case MSIM_OUTPUT_CSV:
        return msim_report_compare_csv(c, stdout);
    case MSIM_OUTPUT_MARKDOWN:
        return msim_markdown_comparison(c, stdout);
    case MSIM_OUTPUT_TEXT:
        break;
    }
    return msim_report_compare_text(c, stdout);
}

static enum msim_status as_json(const void *comparison, FILE *out)
{
    return msim_report_compare_json(comparison, out);
}

static enum msim_status write_html(const struct settings *s,
                                   const struct msim_comparison *c,
                                   struct msim_error *err)
{
    return s->html ? msim_page_save_json("Changes from A to B", as_json, c,
                                         s->html, err)
                   : MSIM_OK;
}

/* Is B slower than it may be? Both figures are said in any case. */
static enum msim_status judge(const struct settings *s,
                              const struct msim_comparison *c, bool *failed,
                              struct msim_error *err)
{
    const struct msim_change *p = &c->period;
    double more = msim_change_ratio(p) - 1;
    char a[MSIM_CELL], b[MSIM_CELL];

    if (isnan(s->fail_above))
        return MSIM_OK;
    if (!isfinite(more))
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "no period to compare; want two sides with one: a "
                         "prediction of an older version has none");
    msim_format_time(a, p->us[0].predicted);
    msim_format_time(b, p->us[1].predicted);
    *failed = more > s->fail_above;
    msim_message("%s: period %s in A, %s in B: %+.1f %%, allowed are %+.1f %%",
                 *failed ? "check failed" : "check passed", a, b, 100 * more,
                 100 * s->fail_above);
    return MSIM_OK;
}

static enum msim_status report(const struct settings *s,
                               struct msim_side *const side[2], bool *failed,
                               struct msim_error *err)
{
    struct msim_comparison *c;
    enum msim_status status;

    MSIM_TRY(check_sides(s, side, err));
    MSIM_TRY(msim_compare(&c, side[0], side[1]));
    status = write_html(s, c, err);
    if (status == MSIM_OK)
        status = write_report(c, s->output);
    if (status == MSIM_OK)
        msim_message_warnings(c->warnings, c->n_warnings,
                              s->output != MSIM_OUTPUT_CSV);
    if (status == MSIM_OK)
        status = judge(s, c, failed, err);
    msim_comparison_free(c);
    return status;
}

static enum msim_status compare(const struct settings *s, char *const *paths,
                                bool *failed, struct msim_error *err)
{
    struct msim_side *side[2] = {NULL, NULL};
    enum msim_status status = msim_option_check_html(s->html, err);

    if (status == MSIM_OK)
        status = check(paths, err);
    for (int i = 0; i < 2 && status == MSIM_OK; i++)
        status = load_side(&side[i], s, i, paths[i], err);
    if (status == MSIM_OK)
        status = report(s, side, failed, err);
    msim_side_free(side[0]);
    msim_side_free(side[1]);
    return status;
}

int msim_cmd_compare(int argc, char **argv)
{
    struct settings s = {.fail_above = (double)NAN,
                         .iteration = {MSIM_ITERATION_ALL, MSIM_ITERATION_ALL},
                         .load = {.threads = 2}};
    struct msim_cli_operands sides;
    struct msim_error err = {0};
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &sides);

    if (rc < 0) {
        bool failed = false;
        enum msim_status status = compare(&s, sides.items, &failed, &err);

        rc = status != MSIM_OK ? msim_message_error(status, &err)
             : failed          ? MSIM_EXIT_CHECK
                               : MSIM_EXIT_OK;
    }
    free(s.platform[0]);
    free(s.platform[1]);
    return rc;
}

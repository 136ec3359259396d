/*
 * cli/predict_options.c - the command line of `predict`: one row an option, in
 * the order of --help.
 */
#include "cli/predict_options.h"

#include "cli/cmd.h"
#include "cli/options.h"
#include "core/base/containers.h"
#include "predict/scenario/scenario.h"
#include "predict/whatif/whatif.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ten times the GPUs of the largest machine. */
#define RANKS_MAX     (1u << 20)
#define RATE_MAX      1e15
#define FIELD(name)   .field = offsetof(struct msim_predict_options, name)
#define SETTING(name) FIELD(settings.name)

static enum msim_status parse_scale(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    MSIM_TRY(msim_grow((void **)&o->scales, &o->cap_scales,
                       o->settings.n_scales, sizeof(*o->scales)));
    o->settings.scales = o->scales;
    MSIM_TRY(msim_scale_parse(&o->scales[o->settings.n_scales], value, err));
    o->settings.n_scales++;
    return MSIM_OK;
}

enum msim_status msim_iteration_parse(int64_t *out, const char *value,
                                      struct msim_error *err)
{
    char *end;
    long long n;

    if (strcmp(value, "all") == 0) {
        *out = MSIM_ITERATION_ALL;
        return MSIM_OK;
    }
    errno = 0;
    n = strtoll(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--iteration' is '%s', want 'all' or the "
                         "number of a step",
                         value);
    *out = n;
    return MSIM_OK;
}

static enum msim_status parse_iteration(void *settings, const char *value,
                                        struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    return msim_iteration_parse(&o->settings.iteration, value, err);
}

static enum msim_status parse_clock(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    return msim_clock_parse(&o->settings.clock, value, err);
}

static enum msim_status parse_power_cap(void *settings, const char *value,
                                        struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    return msim_power_cap_parse(&o->settings.clock, value, err);
}

/* With a larger exponent nearly all look-ups read one row. */
#define SKEW_MAX 10

static enum msim_status parse_index_skew(void *settings, const char *value,
                                         struct msim_error *err)
{
    struct msim_predict_options *o = settings;
    char *end;

    o->settings.index_skew = strtod(value, &end);
    if (value[0] < '0' || value[0] > '9' || *end ||
        !(o->settings.index_skew <= SKEW_MAX))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--index-skew' is '%s', want a number from 0 "
                         "(uniform) to %d",
                         value, SKEW_MAX);
    return MSIM_OK;
}

/* A positive number, and where it ends. */
static enum msim_status parse_positive(double *out, const char *option,
                                       const char *value, const char *want,
                                       char **end, struct msim_error *err)
{
    *out = strtod(value, end);
    if (value[0] >= '0' && value[0] <= '9' && *out > 0 && *out <= RATE_MAX)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--%s' is '%s', want %s", option, value, want);
}

/* "32", or "4096 tokens". */
static enum msim_status parse_per_iteration(void *settings, const char *value,
                                            struct msim_error *err)
{
    static const char WANT[] = "a number above 0, and a unit if you like: "
                               "'32 samples'";
    struct msim_predict_options *o = settings;
    char *end;

    MSIM_TRY(parse_positive(&o->rates.per_iteration, "per-iteration", value,
                            WANT, &end, err));
    if (*end && *end != ' ')
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--per-iteration' is '%s', want %s", value,
                         WANT);
    end += strspn(end, " ");
    o->rates.unit = *end ? end : NULL;
    return MSIM_OK;
}

/* One number for all platforms, or one each: "2.5,1.1". */
static enum msim_status parse_each(struct msim_each_platform *out,
                                   const char *option, const char *value,
                                   const char *want, struct msim_error *err)
{
    const char *at = value;

    for (out->n = 0; out->n < MSIM_PLATFORMS_MAX;) {
        char *end = NULL;
        double v = strtod(at, &end);

        if (!(at[0] >= '0' && at[0] <= '9' && v > 0 && v <= RATE_MAX) ||
            (*end && *end != ','))
            break;
        out->of[out->n++] = v;
        if (!*end)
            return MSIM_OK;
        at = end + 1;
    }
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--%s' is '%s', want %s", option, value, want);
}

static enum msim_status parse_price(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    o->price_file = NULL;
    if (value[strspn(value, "0123456789.,")] && access(value, F_OK) == 0) {
        o->price_file = value; /* read when the platforms are known */
        return MSIM_OK;
    }
    return parse_each(&o->prices, "price", value,
                      "US dollars an hour for one GPU, above 0; with several "
                      "platforms, one for each: 2.5,1.1; or a table of prices",
                      err);
}

static enum msim_status parse_power(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    return parse_each(&o->watts, "power", value,
                      "the mean power of one GPU in watts, above 0; or, with "
                      "several platforms, one for each: 700,350",
                      err);
}

/* A file is the user's table; nothing else that is typed here names one. */
static enum msim_status parse_ops(void *settings, const char *value,
                                  struct msim_error *err)
{
    struct msim_predict_settings *s =
        &((struct msim_predict_options *)settings)->settings;

    (void)err;
    if (access(value, F_OK) == 0)
        s->ops = value;
    else
        s->choice.ops = value;
    return MSIM_OK;
}

static enum msim_status parse_range(void *settings, const char *value,
                                    struct msim_error *err)
{
    struct msim_predict_options *o = settings;

    return msim_choice_parse_range(&o->settings.choice, value, err);
}

static const char *const COSTS[] = {[MSIM_COSTS_AUTO] = "auto",
                                    [MSIM_COSTS_MEASURED] = "measured",
                                    [MSIM_COSTS_MODEL] = "model",
                                    [MSIM_COSTS_SCALED] = "scaled",
                                    NULL};
static const char *const PEERS[] = {"follow", "fixed", NULL};
static const enum msim_peers PEERS_OF[] = {MSIM_PEERS_FOLLOW, MSIM_PEERS_FIXED};

static const struct msim_option OPTIONS[] = {
    {.name = "platform",
     .type = MSIM_OPTION_TEXT,
     SETTING(platform),
     .metavar = "NAME|FILE[,...]",
     .help = "GPU to predict for; 'mystique-sim platforms' lists them; with "
             "several a table, best first; " MSIM_PLATFORM_STACK_HELP,
     .dflt = "the GPU of the trace"},
    {.name = "model",
     .type = MSIM_OPTION_TEXT,
     FIELD(model),
     .metavar = "MODULE:FUNCTION",
     .help =
         "predict a PyTorch model instead of a trace: a module or .py file, "
         "and a function that returns (model, inputs[, loss[, "
         "optimizer]]); also a config.json of Hugging Face, or timm:NAME. "
         "Settings follow behind commas (',batch=8,precision=bf16,"
         "training'). It is recorded without a GPU and without weights, by "
         "PyTorch in the environment's PYTHON"},
    {.name = "costs",
     .type = MSIM_OPTION_CHOICE,
     SETTING(costs),
     .choices = COSTS,
     .help = "where durations come from: the trace's own times (measured), "
             "the platform's models, from shapes or else from kernels' names "
             "and launches (model), or the trace's times as they would be on "
             "the platform (scaled)",
     .dflt = "auto: measured on the GPU that was traced, scaled from a known "
             "one to another, else model"},
    {.name = "source-platform",
     .type = MSIM_OPTION_TEXT,
     SETTING(source_platform),
     .metavar = "NAME|FILE",
     .help = "GPU that the trace was recorded on, whose times are scaled",
     .dflt = "what the trace says"},
    {.name = "source-trace",
     .type = MSIM_OPTION_TEXT,
     SETTING(source_trace),
     .metavar = "TRACE|DIR",
     .help = "another trace of the same machine, of any shapes: the ratio of "
             "its GPU times to those of the models corrects the models",
     .dflt = "the trace itself"},
    {.name = "host",
     .type = MSIM_OPTION_TEXT,
     SETTING(host),
     .metavar = "NAME|FILE",
     .help = "host (CPU side) to predict for; 'generic' is a host without a "
             "profiler",
     .dflt = "the trace's own host times, else generic"},
    {.name = "network",
     .type = MSIM_OPTION_TEXT,
     SETTING(network),
     .metavar = "NAME|FILE",
     .help = "network between nodes: one of data/networks, or a file of "
             "collectives that calibrate wrote; not with measured costs",
     .dflt = "the network that the platform was measured on, else that of its "
             "data sheet"},
    {.name = "nodes",
     .type = MSIM_OPTION_COUNT,
     SETTING(nodes),
     .metavar = "N",
     .min = 1,
     .max = RANKS_MAX,
     .help = "nodes that the job's ranks are spread over, in their order; not "
             "with measured costs",
     .dflt = "as many as the ranks need; a node has as many GPUs as the "
             "network says, else 8"},
    {.name = "ops",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_ops,
     .metavar = "FILE|GLOB",
     .help = "an existing FILE: your own table of operators, which is asked "
             "before the built-in one (CSV, docs/operators.md); else only "
             "operators whose names match, such as 'aten::*mm'"},
    MSIM_OPTION_CLOCK_ROW(parse_clock),
    MSIM_OPTION_POWER_CAP_ROW(parse_power_cap),
    {.name = "index-skew",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_index_skew,
     .metavar = "S",
     .help = "skew of embedding look-ups: row i of a table is read in "
             "proportion to i^-S (1: Zipf's law), and popular rows stay in the "
             "L2 cache",
     .dflt = "0: every row equally often"},
    {.name = "scale",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_scale,
     .metavar = "SELECT=FACTOR",
     .help = "multiply durations; may be repeated. SELECT is kernels, "
             "communication, copies, host, op:GLOB (GPU time of operators), "
             "host:GLOB (their host time), family:WORD, stream:ID, link:WORD "
             "or host-part:WORD; 0 removes the work"},
    {.name = "peers",
     .type = MSIM_OPTION_CHOICE,
     FIELD(peers),
     .choices = PEERS,
     .help =
         "when ranks without a trace arrive at collectives: at the recorded "
         "distance from this rank (follow), or at the recorded time (fixed); "
         "measured costs only",
     .dflt = "follow"},
    {.name = "ranks",
     .type = MSIM_OPTION_COUNT,
     SETTING(ranks),
     .metavar = "N",
     .min = 1,
     .max = RANKS_MAX,
     .help = "predict a job of N ranks, a multiple of the traced ones: groups "
             "of all ranks grow to N (models cost them so), smaller groups are "
             "repeated",
     .dflt = "those in the traces"},
    {.name = "iteration",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_iteration,
     .metavar = "N|all",
     .help = "only ProfilerStep#N, or the N-th from 0 where there is none",
     .dflt = "all"},
    MSIM_OPTION_PART_ROWS(struct msim_predict_options, settings.choice,
                          parse_range),
    MSIM_OPTION_EXCLUDE_ROW(struct msim_predict_options, settings.choice,
                            "; what is not chosen takes no time"),
    {.name = "per-iteration",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_per_iteration,
     .metavar = "N[ UNIT]",
     .help = "samples or tokens that the whole job works through in one "
             "iteration: reports them a second"},
    {.name = "price",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_price,
     .metavar = "USD[,USD]...|FILE",
     .help = "price of one GPU for an hour, one for each platform, or a table "
             "of them (CSV: platform, gpus, usd_per_hour): reports what an "
             "iteration costs"},
    {.name = "power",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_power,
     .metavar = "WATT[,WATT]...",
     .help = "mean power of one GPU while the job runs, or one for each "
             "platform: reports the energy of an iteration"},
    {.name = "usage",
     .type = MSIM_OPTION_FLAG,
     SETTING(usage),
     .help = "also what every GPU does over time: SMs that are busy, warps "
             "that they hold, memory bandwidth, arithmetic and power; in text, "
             "JSON, timeline and chart"},
    MSIM_OPTION_COMMUNICATION_ROW(struct msim_predict_options, settings.load),
    MSIM_OPTION_SALVAGE_ROW(struct msim_predict_options, settings.load.salvage),
    {.name = "strict",
     .type = MSIM_OPTION_FLAG,
     SETTING(strict),
     .help = "fail on an operation that no model covers, instead of bounding "
             "its time by its memory traffic"},
    {.name = "explain",
     .type = MSIM_OPTION_TEXT,
     FIELD(explain),
     .metavar = "OP",
     .help = "explain the time of operator OP: its law, the inputs of the law, "
             "and the measured rows behind it; with --json as JSON (schema "
             "mystique-sim/explanation/1)"},
    {.name = "json",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_JSON,
     .help = "print JSON (schema mystique-sim/prediction/1) instead of text"},
    {.name = "csv",
     .type = MSIM_OPTION_ONE_OF,
     FIELD(output),
     .value = MSIM_OUTPUT_CSV,
     .help = "print CSV, one line an operator, instead of text"},
    MSIM_OPTION_MARKDOWN_ROW(struct msim_predict_options, output),
    {.name = "brief",
     .type = MSIM_OPTION_FLAG,
     FIELD(brief),
     .help = "of the text only what bounds the job, its times and where an "
             "iteration goes"},
    {.name = "timeline",
     .type = MSIM_OPTION_TEXT,
     FIELD(timeline),
     .metavar = "FILE",
     .help = "write the predicted run as a Chrome trace for the Perfetto UI; "
             "compressed where FILE ends in .gz"},
    MSIM_OPTION_CHART_ROW(struct msim_predict_options, chart),
    MSIM_OPTION_HTML_ROW(struct msim_predict_options, html),
    MSIM_OPTION_THREADS_ROW(struct msim_predict_options, settings.load.threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim --platform a100 trace.json.gz",
    "mystique-sim --platform h100 --chart run.svg --json run/ > run.json",
    "mystique-sim --platform h100 --model net.py:build",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "predict",
    .operands = "TRACE|DIR...",
    .summary = "Predict how long a traced job takes, and where the time goes. "
               "'predict' may be\nleft out. Files and directories together "
               "are one job; '-' is standard input.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .axes = msim_change_names,
    .min_operands = 0, /* with --model there is none */
};

/* A number for each platform, or one for all. */
static enum msim_status check_each(const struct msim_each_platform *each,
                                   const char *option, const char *platforms,
                                   struct msim_error *err)
{
    uint32_t n = 1;

    for (const char *c = platforms ? platforms : ""; *c; c++)
        n += *c == ',';
    if (each->n <= 1 || each->n == n)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--%s' has %u numbers for %u platform%s, want one "
                     "for all or one for each",
                     option, each->n, n, n > 1 ? "s" : "");
}

struct msim_rates
msim_predict_options_rates(const struct msim_predict_options *o, uint32_t i)
{
    struct msim_rates r = o->rates;

    r.usd_per_hour = o->prices.of[o->prices.n > 1 ? i : 0];
    r.watts = o->watts.of[o->watts.n > 1 ? i : 0];
    return r;
}

/* Prices of a table, in the order of the platforms. */
static enum msim_status read_prices(struct msim_predict_options *o,
                                    struct msim_error *err)
{
    const char *platforms = o->settings.platform;
    char data[PATH_MAX];
    uint32_t n = 1;

    if (!platforms)
        return msim_fail(err, MSIM_EUSAGE, o->price_file, MSIM_OFFSET_NONE,
                         "is a table of prices, want --platform, which says "
                         "whose");
    for (const char *c = platforms; *c; c++)
        n += *c == ',';
    if (n > MSIM_PLATFORMS_MAX)
        return MSIM_OK; /* refused where platforms are read */
    o->prices.n = n;
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    return msim_price_list_read(o->prices.of, RATE_MAX, o->price_file,
                                platforms, data, err);
}

/* What is asked for besides --explain, which does not print it; NULL: nothing.
 */
static const char *beside_explain(const struct msim_predict_options *o)
{
    return o->html                             ? "html"
           : o->timeline                       ? "timeline"
           : o->chart                          ? "chart"
           : o->brief                          ? "brief"
           : o->output == MSIM_OUTPUT_CSV      ? "csv"
           : o->output == MSIM_OUTPUT_MARKDOWN ? "markdown"
                                               : NULL;
}

/* Rules that concern several options. */
/* A table of several platforms is text, CSV or JSON, and all there is. */
static enum msim_status check_table(const struct msim_predict_options *o,
                                    struct msim_error *err)
{
    const char *other = o->explain                          ? "explain"
                        : o->brief                          ? "brief"
                        : o->timeline                       ? "timeline"
                        : o->chart                          ? "chart"
                        : o->html                           ? "html"
                        : o->output == MSIM_OUTPUT_MARKDOWN ? "markdown"
                                                            : NULL;

    if (!other || !o->settings.platform || !strchr(o->settings.platform, ','))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "got --%s with several platforms, want one", other);
}

static enum msim_status check_together(struct msim_predict_options *o,
                                       struct msim_error *err)
{
    const struct msim_predict_settings *s = &o->settings;

    if (!o->model && s->n_paths == 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "'predict' wants TRACE|DIR..., got nothing (nor "
                         "--model); see 'mystique-sim predict --help'");
    if (o->model && s->n_paths)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got --model and '%s', want one of them", s->paths[0]);
    if (o->price_file)
        MSIM_TRY(read_prices(o, err));
    MSIM_TRY(check_each(&o->prices, "price", s->platform, err));
    MSIM_TRY(check_each(&o->watts, "power", s->platform, err));
    MSIM_TRY(check_table(o, err));
    if (o->chart)
        MSIM_TRY(msim_option_check_chart(o->chart, err));
    MSIM_TRY(msim_option_check_html(o->html, err));
    if (o->explain && beside_explain(o))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got --%s with --explain, which prints text or JSON",
                         beside_explain(o));
    if (o->brief && o->output != MSIM_OUTPUT_TEXT)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got --brief with --%s, want it with the text report",
                         o->output == MSIM_OUTPUT_JSON  ? "json"
                         : o->output == MSIM_OUTPUT_CSV ? "csv"
                                                        : "markdown");
    if (o->timeline && strcmp(o->timeline, "-") == 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--timeline' is '-', want a file");
    if ((s->source_platform || s->source_trace) &&
        (s->costs == MSIM_COSTS_MEASURED || s->costs == MSIM_COSTS_MODEL))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got --source-%s with '--costs %s', want it with "
                         "'--costs scaled' or auto",
                         s->source_platform ? "platform" : "trace",
                         msim_cost_mode_text(s->costs));
    return MSIM_OK;
}

int msim_predict_options_parse(struct msim_predict_options *o, int argc,
                               char **argv)
{
    struct msim_cli_operands files;
    struct msim_error err = {0};
    int rc;

    memset(o, 0, sizeof(*o));
    o->settings.iteration = MSIM_ITERATION_ALL;
    o->settings.load.threads = 2;
    rc = msim_command_start(&COMMAND, argc, argv, o, &files);
    if (rc >= 0)
        return rc;
    o->settings.paths = (const char *const *)files.items;
    o->settings.n_paths = (uint32_t)files.n;
    o->settings.peers = PEERS_OF[o->peers];
    o->settings.groups = o->html != NULL; /* a slider is of the network */
    o->settings.shapes = o->html || o->output == MSIM_OUTPUT_JSON;
    rc = msim_status_exit(check_together(o, &err));
    return rc ? msim_message_error(err.status, &err) : -1;
}

void msim_predict_options_release(struct msim_predict_options *o)
{
    free(o->scales);
    o->scales = NULL;
    o->settings.scales = NULL;
    o->settings.n_scales = o->cap_scales = 0;
}

void msim_predict_options_help(FILE *out)
{
    msim_command_help_options(&COMMAND, out);
}

/*
 * cli/serving/cmd_size.c - `size`: how many replicas of each stage keep the
 * promises of an application.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "core/base/json.h"
#include "serving/size/size_plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIELD(name) .field = offsetof(struct settings, name)

struct settings {
    double rate;
    const char *method, *explore, *tables, *out;
    double patience;
    uint32_t seed;
    bool json;
};

static enum msim_status parse_number(double *to, const char *option,
                                     const char *value, struct msim_error *err)
{
    char *end;

    *to = strtod(value, &end);
    if (!*value || *end || !isfinite(*to) || *to <= 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--%s' is '%s', want a number above 0", option,
                         value);
    return MSIM_OK;
}

static enum msim_status parse_rate(void *settings, const char *value,
                                   struct msim_error *err)
{
    return parse_number(&((struct settings *)settings)->rate, "rate", value,
                        err);
}

static enum msim_status parse_patience(void *settings, const char *value,
                                       struct msim_error *err)
{
    return parse_number(&((struct settings *)settings)->patience, "patience",
                        value, err);
}

static const struct msim_option OPTIONS[] = {
    {.name = "rate",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_rate,
     .metavar = "R",
     .help = "requests a second that the plan is for",
     .dflt = "arrivals.rate of the application"},
    {.name = "request-rate",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_rate,
     .metavar = "R",
     .help = "the same"},
    {.name = "method",
     .type = MSIM_OPTION_TEXT,
     FIELD(method),
     .metavar = "union|convolution|search",
     .help = "add percentiles of stages, add distributions of stages, or "
             "simulate requests: each is closer than the one before",
     .dflt = "convolution"},
    {.name = "explore",
     .type = MSIM_OPTION_TEXT,
     FIELD(explore),
     .metavar = "COMMAND",
     .help = "learn the stages' services: the command is run with --stage S "
             "--replicas c --rate r --seconds n --seed s appended, loads that "
             "stage alone with Poisson arrivals in the mix of classes, and "
             "prints CSV: t_s,class,latency_ms,wait_ms,batch,size (the last "
             "three and class may be missing)"},
    {.name = "tables",
     .type = MSIM_OPTION_TEXT,
     FIELD(tables),
     .metavar = "DIR",
     .help = "keep such answers in DIR (S,c,r.csv) and read those that are "
             "there; without --explore they are all there is"},
    {.name = "patience",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_patience,
     .metavar = "SECONDS",
     .help = "how long the command may take beyond the seconds of load",
     .dflt = "300"},
    {.name = "seed",
     .type = MSIM_OPTION_COUNT,
     FIELD(seed),
     .metavar = "N",
     .min = 0,
     .max = 1000000000,
     .help = "of random numbers; the same seed gives the same plan",
     .dflt = "1"},
    {.name = "o",
     .type = MSIM_OPTION_TEXT,
     FIELD(out),
     .metavar = "PLAN.json",
     .help = "write the plan (schema mystique-sim/serving-plan/1)"},
    {.name = "json",
     .type = MSIM_OPTION_FLAG,
     FIELD(json),
     .help = "print the plan as JSON instead of text"},
};

static const char *const EXAMPLES[] = {
    "mystique-sim size app.json --rate 200 -o plan.json",
    "mystique-sim size app.json --rate 200 --method union "
    "--explore './measure --cluster test' --tables answers/ -o plan.json",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "size",
    .operands = "APP.json",
    .summary =
        "How many replicas of each stage of an application keep its promises "
        "(slo) at a\nrate of requests. What a visit takes stands in the "
        "application (stages.S.service)\nor is learnt by --explore: each stage "
        "alone, for a minute or so.\n\n"
        "Where no number of replicas keeps a promise, the exit code is 1 and "
        "the message\nnames the stage that takes most of the time, and by how "
        "much the limit is missed.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

static enum msim_status find_method(enum msim_sizing_method *m,
                                    const char *name, struct msim_error *err)
{
    static const char *const WORDS[] = {
#define X(constant, text) text,
        MSIM_SIZING_METHOD_MAP(X)
#undef X
    };
    const size_t n = sizeof(WORDS) / sizeof(WORDS[0]);
    const char *near;

    for (size_t i = 0; i < n; i++)
        if (!strcmp(name, WORDS[i])) {
            *m = (enum msim_sizing_method)i;
            return MSIM_OK;
        }
    near = msim_nearest_word(name, WORDS, n);
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "option '--method' is '%s', want union, convolution or "
                     "search%s%s%s",
                     name, near ? "; did you mean '" : "", near ? near : "",
                     near ? "'?" : "");
}

static enum msim_status explore(const struct settings *s, struct msim_app *app,
                                double rate, struct msim_explored *done,
                                struct msim_error *err)
{
    struct msim_progress progress;
    const struct msim_explore_how how = {.command = s->explore,
                                         .tables = s->tables,
                                         .patience = s->patience,
                                         .seed = s->seed,
                                         .before = msim_progress_count,
                                         .ctx = &progress};
    enum msim_status status;

    if (!s->explore && !s->tables)
        return MSIM_OK;
    msim_progress_start(&progress, "exploring");
    status = msim_explore_app(app, rate, &how, done, err);
    msim_progress_end(&progress);
    return status;
}

static enum msim_status report(const struct settings *s,
                               const struct msim_size_plan *plan,
                               struct msim_error *err)
{
    if (s->out)
        MSIM_TRY(msim_size_plan_save(plan, s->out, err));
    if (s->json)
        return msim_size_plan_json(plan, msim_sink_file, stdout);
    msim_size_plan_text(plan, stdout);
    return MSIM_OK;
}

static enum msim_status size_app(const struct settings *s, struct msim_app *app,
                                 enum msim_sizing_method method,
                                 struct msim_error *err)
{
    double rate = s->rate > 0 ? s->rate : app->arrivals.rate;
    struct msim_explored explored = {0};
    struct msim_sizing sizing = {0};
    struct msim_stage_demand load = {0};
    const struct msim_size_plan plan = {
        .sizing = &sizing, .load = &load, .explored = &explored};
    enum msim_status status = MSIM_OK;

    if (!(rate > 0))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "want --rate: the application states none");
    MSIM_TRY(msim_sizing_check(app, err));
    MSIM_TRY(explore(s, app, rate, &explored, err));
    status = msim_demand_init(&load, app, rate, err);
    if (status == MSIM_OK)
        status = msim_sizing_make(&sizing, &load, method, s->seed, err);
    if (status == MSIM_OK)
        status = report(s, &plan, err);
    msim_sizing_release(&sizing);
    msim_demand_release(&load);
    return status;
}

int msim_cmd_size(int argc, char **argv)
{
    struct settings s = {.method = "convolution", .patience = 300, .seed = 1};
    enum msim_sizing_method method = MSIM_SIZING_CONVOLUTION;
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct msim_app app;
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status = find_method(&method, s.method, &err);
    if (status == MSIM_OK)
        status = msim_app_read(&app, files.items[0], &err);
    if (status == MSIM_OK) {
        status = size_app(&s, &app, method, &err);
        msim_app_release(&app);
    }
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

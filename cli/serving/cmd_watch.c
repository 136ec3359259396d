/*
 * cli/serving/cmd_watch.c - `watch`: an application's counters, and what comes.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "serving/app/app.h"
#include "serving/watch/watch.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

struct settings {
    const char *counters, *model, *plan;
    uint32_t horizon; /* 0: the model's, else 5 s */
    bool advise;
    enum msim_output output;
};

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(
        struct settings, counters, TEXT, "counters", .metavar = "FILE|-",
        .help =
            "counters of the application, csv as serve --counters writes "
            "them, or scrapes of vLLM's or SGLang's /metrics, each behind a "
            "line '# at SECONDS STAGE'; - reads a pipe while it is written"),
    MSIM_OPTION(struct settings, model, TEXT, "model", .metavar = "MODEL.json",
                .help = "what learn --runs wrote of this application",
                .dflt = "trees of many applications, over what is usual here"),
    MSIM_OPTION(
        struct settings, plan, TEXT, "plan", .metavar = "PLAN.json",
        .help = "replicas of the stages, where the counters do not have them",
        .dflt = "those of APP.json"),
    MSIM_OPTION(struct settings, horizon, COUNT, "horizon",
                .metavar = "SECONDS", .min = 1, .max = 60,
                .help = "how far ahead a violation counts",
                .dflt = "5, or the model's"),
    MSIM_OPTION(
        struct settings, advise, FLAG, "advise",
        .help = "say, too, what to do: JSON lines get \"replicas\" (changes "
                "only) and \"do\": scale, move, restart or shed"),
    MSIM_OPTION(struct settings, output, ONE_OF, "json",
                .value = MSIM_OUTPUT_JSON,
                .help = "print a JSON object a second, with why"),
    MSIM_OPTION(
        struct settings, output, ONE_OF, "csv", .value = MSIM_OUTPUT_CSV,
        .help = "print t,p_violation,stage,resource,lead_s,p99_next_ms"),
};

static const char *const EXAMPLES[] = {
    "mystique-sim watch app.json --counters counters.csv --csv",
    "collector | mystique-sim watch app.json --counters - --advise --json",
    "while date '+# at %s.%N'; curl -s localhost:8000/metrics; do echo '# "
    "end'; "
    "sleep 1; done | mystique-sim watch app.json --counters -",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "watch",
    .operands = "APP.json",
    .summary = "Say each second how likely a violation is within the horizon, "
               "which stage starts it, and what that has too little of.",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 1,
    .max_operands = 1,
};

struct watching {
    const struct settings *s;
    struct msim_app app;
    const char **names;
    struct msim_watch_model general, model;
    struct msim_counters *counters;
    struct msim_watch watch;
    struct msim_advice advice;
    struct msim_error *err;
};

static enum msim_status read_model(struct watching *k, double *horizon)
{
    char data[PATH_MAX], path[PATH_MAX + 32];
    double wanted = k->s->horizon;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), k->err));
    snprintf(path, sizeof(path), "%s/laws/watch.json", data);
    MSIM_TRY(msim_watch_model_read(&k->general, path, NULL, k->err));
    if (k->s->model)
        MSIM_TRY(
            msim_watch_model_read(&k->model, k->s->model, &k->app, k->err));
    *horizon = wanted > 0    ? wanted
               : k->s->model ? k->model.horizon_s
                             : k->general.horizon_s;
    if (k->s->model && k->model.horizon_s != *horizon)
        return msim_fail(k->err, MSIM_EUSAGE, k->s->model, MSIM_OFFSET_NONE,
                         "--horizon is %g s, and the model was learned for "
                         "%g s",
                         *horizon, k->model.horizon_s);
    return MSIM_OK;
}

static enum msim_status read_plan(struct watching *k)
{
    int64_t *replicas;
    enum msim_status status;

    if (!k->s->plan)
        return MSIM_OK;
    replicas = calloc(k->app.n_stages, sizeof(*replicas));
    if (!replicas)
        return MSIM_ENOMEM;
    status = msim_serving_plan_read(replicas, &k->app, k->s->plan, k->err);
    for (uint32_t i = 0; status == MSIM_OK && i < k->app.n_stages; i++)
        k->app.stages[i].replicas = replicas[i];
    free(replicas);
    return status;
}

/* The one stage that an engine serves, or n_stages. */
static uint32_t engine_of(const struct msim_app *app)
{
    uint32_t found = app->n_stages;

    for (uint32_t i = 0; i < app->n_stages; i++) {
        if (app->stages[i].kind != MSIM_STAGE_LLM)
            continue;
        if (found < app->n_stages)
            return app->n_stages;
        found = i;
    }
    return found;
}

/* csv, or scrapes of engines. */
static enum msim_status open_counters(struct watching *k)
{
    static const enum msim_engine_metric PROMISED[] = {
        [MSIM_PROMISE_E2E] = MSIM_ENGINE_METRIC_LATENCY,
        [MSIM_PROMISE_TTFT] = MSIM_ENGINE_METRIC_FIRST_TOKEN,
        [MSIM_PROMISE_TPOT] = MSIM_ENGINE_METRIC_TOKEN};
    const struct msim_app *app = &k->app;
    struct msim_metrics_how how = {.stages = k->names,
                                   .n_stages = app->n_stages,
                                   .start = app->start,
                                   .engine = engine_of(app),
                                   .promised =
                                       PROMISED[msim_watch_metric(app)]};
    double *seats = calloc(app->n_stages, sizeof(*seats));
    char data[PATH_MAX], table[PATH_MAX + 32];
    enum msim_status status = seats ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; seats && i < app->n_stages; i++)
        if (app->stages[i].kind == MSIM_STAGE_LLM)
            seats[i] = (double)app->stages[i].engine.max_num_seqs;
    how.seats = seats;
    how.table = table;
    if (status == MSIM_OK)
        status = msim_datadir_find(data, sizeof(data), k->err);
    if (status == MSIM_OK) {
        snprintf(table, sizeof(table), "%s/laws/engine_metrics.csv", data);
        status =
            msim_counters_open_any(&k->counters, k->s->counters, &how, k->err);
    }
    free(seats);
    if (status == MSIM_OK && !msim_counters_are_metrics(k->counters))
        status = msim_watch_check_e2e(app, k->err);
    return status;
}

static enum msim_status begin(struct watching *k, const char *path)
{
    double horizon;

    MSIM_TRY(msim_app_read(&k->app, path, k->err));
    k->names = calloc(k->app.n_stages, sizeof(*k->names));
    if (!k->names)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->app.n_stages; i++)
        k->names[i] = k->app.stages[i].name;
    MSIM_TRY(read_plan(k));
    MSIM_TRY(read_model(k, &horizon));
    MSIM_TRY(msim_watch_init(&k->watch, &k->app, &k->general,
                             k->s->model ? &k->model : NULL, horizon, k->err));
    MSIM_TRY(msim_advice_init(&k->advice, &k->watch));
    return open_counters(k);
}

static enum msim_status print(struct watching *k, const struct msim_verdict *v)
{
    enum msim_status status = MSIM_OK;

    if (k->s->advise)
        msim_advice_decide(&k->advice, &k->watch, v);
    if (k->s->output == MSIM_OUTPUT_JSON)
        status = msim_watch_json_line(stdout, &k->watch, v,
                                      k->s->advise ? &k->advice : NULL);
    else if (k->s->output == MSIM_OUTPUT_CSV)
        msim_watch_csv_line(stdout, &k->watch, v);
    else
        msim_watch_text_line(stdout, &k->watch, v);
    /* Whoever reads a pipe acts on this line before the next second. */
    if (status == MSIM_OK && fflush(stdout) != 0)
        status = MSIM_EWRITE;
    return status;
}

static enum msim_status watch(struct watching *k)
{
    struct msim_counters_row row;
    struct msim_verdict v;
    uint32_t seconds = 0;
    bool found;

    if (k->s->output == MSIM_OUTPUT_CSV)
        msim_watch_csv_header(stdout);
    for (;;) {
        MSIM_TRY(msim_counters_next(k->counters, &row, &found, k->err));
        if (!found)
            break;
        if (!msim_watch_add(&k->watch, &row, &v))
            continue;
        seconds++;
        MSIM_TRY(print(k, &v));
    }
    if (seconds == 0)
        return msim_fail(k->err, MSIM_EFORMAT, k->s->counters, MSIM_OFFSET_NONE,
                         "no second ends: want rows of stage 'e2e'");
    return MSIM_OK;
}

static void warn_left_out(const struct msim_counters *c)
{
    if (c && msim_counters_left_out(c) > 0)
        msim_message_warning("%llu lines of counters were left out, the first "
                             "is line %llu: %s",
                             (unsigned long long)msim_counters_left_out(c),
                             (unsigned long long)msim_counters_first_line(c),
                             msim_counters_first_reason(c));
}

static void release(struct watching *k)
{
    msim_counters_close(k->counters);
    msim_watch_release(&k->watch);
    msim_advice_release(&k->advice);
    msim_watch_model_release(&k->model);
    msim_watch_model_release(&k->general);
    msim_app_release(&k->app);
    free(k->names);
}

int msim_cmd_watch(int argc, char **argv)
{
    struct settings s = {0};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    struct watching k = {.s = &s, .err = &err};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    if (!s.counters) {
        msim_message("--counters is missing, want a file, or - for a pipe");
        return MSIM_EXIT_USAGE;
    }
    if (s.advise && s.output != MSIM_OUTPUT_JSON) {
        msim_message("--advise is part of the JSON lines, want --json with it");
        return MSIM_EXIT_USAGE;
    }
    status = begin(&k, files.items[0]);
    if (status == MSIM_OK)
        status = watch(&k);
    warn_left_out(k.counters);
    release(&k);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

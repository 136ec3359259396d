/*
 * cli/serving/cmd_serve.c - `serve`: an application under load: latencies,
 * promises kept, which stage is to blame, how much it can bear.
 */
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/serving/cli_serving_internal.h"
#include "core/base/files.h"
#include "core/base/texts.h"
#include "serving/outcome/serving_outcome.h"
#include "serving/rows/serve_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_REQUESTS 20000
#define REQUESTS_MOST    5e7  /* 3 GB of them */
#define DEFAULT_LLM      1000 /* where steps of engines are simulated */
#define ROUNDS           10   /* of each client, at least */
#define GOODPUTS_MOST    16

struct settings {
    double rate, concurrency, requests, seconds, warmup, seed;
    const char *log, *plan, *plans, *fit, *free_stage, *counters, *timeline,
        *chart;
    const char *rows, *models;
    struct msim_promise goodput[GOODPUTS_MOST];
    uint32_t n_goodput;
    struct msim_served_words words;
    cJSON *set; /* that words.set lends */
    uint32_t threads;
    enum msim_output output;
};

/* ---- values of options --------------------------------------------------- */

static enum msim_status number(const char *option, const char *value,
                               double least, double most, bool whole,
                               const char *want, double *out,
                               struct msim_error *err)
{
    double v;

    if (!msim_decimal_real(value, strlen(value), &v) || !(v >= least) ||
        !(v <= most) || (whole && v != floor(v)))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "option '--%s' is '%s', want %s", option, value, want);
    *out = v;
    return MSIM_OK;
}

#define NUMBER(name, option, member, least, most, whole, want)                 \
    static enum msim_status parse_##name(void *settings, const char *value,    \
                                         struct msim_error *err)               \
    {                                                                          \
        struct settings *s = settings;                                         \
                                                                               \
        return number(option, value, least, most, whole, want, &s->member,     \
                      err);                                                    \
    }

/* An option that is the same as another is named as that one. */
NUMBER(rate, "rate", rate, 1e-6, 1e9, false,
       "requests a second, above 0 and at most 1e9")
NUMBER(concurrency, "concurrency", concurrency, 1, 1e6, true,
       "clients, from 1 to 1000000")
NUMBER(requests, "num-requests", requests, 1, REQUESTS_MOST, true,
       "requests, from 1 to 50000000")
NUMBER(seconds, "seconds", seconds, 1e-6, 1e7, false,
       "seconds, above 0 and at most 1e7")
NUMBER(warmup, "warmup", warmup, 0, 1e7, false, "seconds, from 0 to 1e7")
NUMBER(input, "input-tokens", words.input_tokens, 1, 1e7, true,
       "tokens, from 1 to 10000000")
NUMBER(output, "output-tokens", words.output_tokens, 1, 1e7, true,
       "tokens, from 1 to 10000000")
NUMBER(seed, "seed", seed, 0, 9007199254740992.0, true,
       "a whole number, from 0")

/* It is said of the application once that is read. */
static enum msim_status parse_set(void *settings, const char *value,
                                  struct msim_error *err)
{
    struct settings *s = settings;

    (void)err;
    if (!s->set)
        s->words.set = s->set = cJSON_CreateArray();
    return cJSON_AddItemToArray(s->set, cJSON_CreateStringReference(value))
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* "ttft:500": a promise to every class. */
static enum msim_status parse_goodput(void *settings, const char *value,
                                      struct msim_error *err)
{
    static const char *const WORDS[] = {"e2e", "e2el", "ttft", "tpot"};
    static const enum msim_promise_metric METRICS[] = {
        MSIM_PROMISE_E2E, MSIM_PROMISE_E2E, MSIM_PROMISE_TTFT,
        MSIM_PROMISE_TPOT};
    struct settings *s = settings;
    const char *colon = strchr(value, ':');
    size_t n = colon ? (size_t)(colon - value) : 0;

    for (int i = 0; i < 4 && s->n_goodput < GOODPUTS_MOST; i++)
        if (n == strlen(WORDS[i]) && memcmp(WORDS[i], value, n) == 0) {
            struct msim_promise *p = &s->goodput[s->n_goodput++];

            *p = (struct msim_promise){MSIM_CLASS_ALL, METRICS[i], 99, 0};
            return number("goodput", colon + 1, 1e-6, 1e12, false,
                          "a limit in ms, above 0", &p->limit_ms, err);
        }
    return msim_fail(
        err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
        "option '--goodput' is '%s', want METRIC:MS, with e2e, ttft or tpot",
        value);
}

/* ---- the table ----------------------------------------------------------- */

#define NUMBER_ROW(row_name, parser, meta, text)                               \
    {                                                                          \
        .name = (row_name), .type = MSIM_OPTION_CUSTOM, .parse = (parser),     \
        .metavar = (meta), .help = (text),                                     \
    }

static const struct msim_option OPTIONS[] = {
    MSIM_OPTION(struct settings, words.platform, TEXT, "platform",
                .metavar = "NAME|FILE",
                .help = "of a model: the GPU that serves it"),
    NUMBER_ROW("input-tokens", parse_input, "N",
               "of a model: tokens of a prompt [default: 1024]"),
    NUMBER_ROW("output-tokens", parse_output, "N",
               "of a model: tokens of an answer [default: 128]"),
    {.name = "set",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_set,
     .metavar = "MEMBER=VALUE",
     .help = "a member of the application, also instead of the file's "
             "(stages.answer.tp=2); of a model, of its stage: tp=2, "
             "engine=sglang, precision=fp8, replicas=4. May be given "
             "repeatedly"},
    NUMBER_ROW("rate", parse_rate, "R",
               "requests a second, instead of the application's"),
    NUMBER_ROW("request-rate", parse_rate, "R", "the same as --rate"),
    NUMBER_ROW("concurrency", parse_concurrency, "N",
               "so many clients, each with one request at a time, instead of "
               "a rate"),
    NUMBER_ROW("max-concurrency", parse_concurrency, "N",
               "the same as --concurrency"),
    MSIM_OPTION(
        struct settings, log, TEXT, "requests", .metavar = "LOG",
        .help =
            "requests as that log has them (csv or jsonl), at --rate if that "
            "is given"),
    NUMBER_ROW("num-requests", parse_requests, "N",
               "requests that arrive [default: until --seconds, or 20000, 1000 "
               "where a stage is an LLM, and ten of each client]"),
    NUMBER_ROW("num-prompts", parse_requests, "N",
               "the same as --num-requests"),
    NUMBER_ROW("seconds", parse_seconds, "S", "how long requests arrive"),
    NUMBER_ROW("warmup", parse_warmup, "S",
               "requests that arrive in the first S seconds are in no figure"),
    NUMBER_ROW("seed", parse_seed, "N",
               "of the random numbers; a request draws the same in every run "
               "with that seed, whatever serves it"),
    MSIM_OPTION(struct settings, plan, TEXT, "plan", .metavar = "PLAN.json",
                .help = "replicas of stages, as size writes them"),
    MSIM_OPTION(
        struct settings, plans, TEXT, "plans", .metavar = "PLANS.jsonl",
        .help =
            "a plan a line: print CSV, one line a plan, of the same requests"),
    MSIM_OPTION(struct settings, fit, TEXT, "fit", .metavar = "FIT.json",
                .help =
                    "constants of engines, instead of data/laws/serving.json"),
    MSIM_OPTION(
        struct settings, free_stage, TEXT, "free", .metavar = "STAGE",
        .help = "as if visits of that stage took no time: neither waiting nor "
                "service; its calls are made"),
    {.name = "goodput",
     .type = MSIM_OPTION_CUSTOM,
     .parse = parse_goodput,
     .metavar = "METRIC:MS",
     .help = "promise every class e2e, ttft or tpot within MS for 99 % of its "
             "requests, instead of the application's promises; may be given "
             "again"},
    MSIM_OPTION(
        struct settings, output, ONE_OF, "json", .value = MSIM_OUTPUT_JSON,
        .help = "print JSON (schema mystique-sim/serving/1) instead of text"),
    MSIM_OPTION(struct settings, output, ONE_OF, "csv",
                .value = MSIM_OUTPUT_CSV,
                .help = "print CSV, one line a request, instead of text"),
    MSIM_OPTION(
        struct settings, rows, TEXT, "rows", .metavar = "POINTS.csv",
        .help =
            "instead of an application: a table of served models, each in a "
            "closed loop of batch_size clients on one replica; every row is "
            "copied with its TTFT and TPOT (text, or --csv)"),
    MSIM_OPTION(
        struct settings, models, TEXT, "models", .metavar = "DIR",
        .help = "with --rows: config.json files, named as the models without "
                "organisation and suffixes (llama-3.1-70b.json)",
        .dflt = "the known models"),
    MSIM_OPTION(
        struct settings, counters, TEXT, "counters", .metavar = "FILE",
        .help = "write the counters of windows of 0.2 s, as watch reads them"),
    MSIM_OPTION(struct settings, timeline, TEXT, "timeline", .metavar = "FILE",
                .help =
                    "write a trace for the Perfetto UI; FILE may end in .gz"),
    MSIM_OPTION_CHART_ROW(struct settings, chart),
    MSIM_OPTION_THREADS_ROW(struct settings, threads),
};

static const char *const EXAMPLES[] = {
    "mystique-sim serve llama3-8b --platform h100 --rate 10",
    "mystique-sim serve app.json --rate 200",
    "mystique-sim serve app.json --num-requests 200000 --json",
    "mystique-sim serve app.json --free rerank",
    "mystique-sim serve --rows points.csv --models configs --csv",
    NULL,
};

static const struct msim_command COMMAND = {
    .name = "serve",
    .operands = "[APP.json|MODEL]",
    .summary =
        "Simulate the requests of an application, stage by stage: latencies, "
        "promises,\nthe stage to blame, capacity. A model, by its name or its "
        "config.json, is an\napplication of one replica (docs/serving.md).\n\n"
        "  arrival     the request reaches the first stage; latencies begin "
        "here\n"
        "  TTFT        first output token minus arrival\n"
        "  e2e         last output token, or the end of the flow, minus "
        "arrival\n"
        "  TPOT        (e2e - TTFT) / (output tokens - 1), one number a "
        "request\n"
        "  percentile  over requests that arrived after the warm-up and ended; "
        "those\n              that never end are unfinished\n"
        "  throughput  requests that end, a second, between the warm-up and "
        "the last\n              arrival\n"
        "  goodput     the same, of requests that keep every promise of their "
        "class\n"
        "  violations  share of requests that break a promise\n"
        "  capacity    the highest rate with a steady state\n"
        "  critical    share of the latency for which the end of a request "
        "waited for\n              this stage\n"
        "  p99 without it  as with --free STAGE",
    MSIM_OPTIONS(OPTIONS),
    .examples = EXAMPLES,
    .min_operands = 0,
    .max_operands = 1,
};

/* ---- the verb ------------------------------------------------------------ */

/* One of them would be lost. */
static enum msim_status check_outputs(const struct settings *s,
                                      struct msim_error *err)
{
    const struct {
        const char *option, *path;
    } OUT[] = {{"--counters", s->counters},
               {"--timeline", s->timeline},
               {"--chart", s->chart}};

    for (int i = 1; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (OUT[i].path && OUT[k].path &&
                msim_file_is_same(OUT[i].path, OUT[k].path))
                return msim_fail(err, MSIM_EUSAGE, OUT[i].path,
                                 MSIM_OFFSET_NONE,
                                 "is what '%s' and '%s' would both write; want "
                                 "two files",
                                 OUT[k].option, OUT[i].option);
    return MSIM_OK;
}

static enum msim_status check(const struct settings *s, struct msim_error *err)
{
    if (s->rate > 0 && s->concurrency > 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "--rate and --concurrency exclude each other");
    if (s->log && s->concurrency > 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "--requests and --concurrency exclude each other");
    if (s->plans && (s->plan || s->output == MSIM_OUTPUT_JSON || s->counters ||
                     s->timeline || s->chart))
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "--plans prints CSV, one line a plan: it goes without "
                         "--plan, --json, --counters, --timeline, --chart");
    MSIM_TRY(check_outputs(s, err));
    return s->chart ? msim_option_check_chart(s->chart, err) : MSIM_OK;
}

/* A log ends where it ends. */
static bool from_log(const struct settings *s, const struct msim_app *app)
{
    return s->log ||
           (app->arrivals.process == MSIM_ARRIVAL_LOG && s->concurrency <= 0);
}

/* So many seconds may be more requests than memory holds. */
static enum msim_status check_seconds(const struct settings *s,
                                      const struct msim_app *app,
                                      struct msim_error *err)
{
    double rate = s->rate > 0 ? s->rate : app->arrivals.rate;

    if (s->concurrency > 0 || s->requests > 0 ||
        !(rate * s->seconds > REQUESTS_MOST))
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%g seconds of %g requests a second are more than %.0f, "
                     "want less of either",
                     s->seconds, rate, REQUESTS_MOST);
}

static bool has_llm(const struct msim_app *app)
{
    for (uint32_t i = 0; i < app->n_stages; i++)
        if (app->stages[i].kind == MSIM_STAGE_LLM)
            return true;
    return false;
}

static enum msim_status wish_of(const struct settings *s,
                                const struct msim_app *app,
                                struct msim_serving_wish *w,
                                struct msim_error *err)
{
    *w = (struct msim_serving_wish){
        .app = app,
        .how = {.rate = s->rate,
                .concurrency = (int64_t)s->concurrency,
                .log = s->log,
                .seed = (uint64_t)s->seed,
                .requests = (uint64_t)s->requests,
                .seconds = s->seconds,
                .warmup_s = s->warmup,
                .keep = (s->counters ? MSIM_KEEP_WINDOWS : 0) |
                        (s->timeline ? MSIM_KEEP_SPANS : 0)},
        .goodput = s->goodput,
        .n_goodput = s->n_goodput,
        .threads = s->threads,
        .counterfactuals = s->output != MSIM_OUTPUT_CSV,
        .capacities = s->output != MSIM_OUTPUT_CSV};
    if (s->requests <= 0 && s->seconds <= 0 && !from_log(s, app))
        w->how.requests =
            (uint64_t)fmax(has_llm(app) ? DEFAULT_LLM : DEFAULT_REQUESTS,
                           ROUNDS * s->concurrency);
    MSIM_TRY(check_seconds(s, app, err));
    if (!s->free_stage)
        return MSIM_OK;
    w->how.free_stage_1 = msim_app_stage_find(app, s->free_stage) + 1;
    w->counterfactuals = false;
    if (w->how.free_stage_1 == 0)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "--free: %s has no stage '%s'", app->path,
                         s->free_stage);
    return MSIM_OK;
}

static enum msim_status write_files(const struct msim_serving_outcome *o,
                                    const struct settings *s,
                                    struct msim_error *err)
{
    if (s->counters)
        MSIM_TRY(msim_serving_counters(o, s->counters, err));
    if (s->timeline)
        MSIM_TRY(msim_serving_timeline(o, s->timeline, err));
    return s->chart ? msim_serving_chart(o, s->chart, err) : MSIM_OK;
}

static enum msim_status report(const struct msim_serving_outcome *o,
                               const struct settings *s, struct msim_error *err)
{
    MSIM_TRY(write_files(o, s, err));
    if (s->output == MSIM_OUTPUT_JSON)
        return msim_serving_json(o, stdout);
    if (s->output == MSIM_OUTPUT_CSV)
        msim_serving_csv(o, stdout);
    else
        msim_serving_text(o, stdout);
    return MSIM_OK;
}

static enum msim_status serve_plans(const struct msim_serving_wish *w,
                                    const struct settings *s,
                                    struct msim_error *err)
{
    struct msim_serving_plans plans;
    enum msim_status status;

    MSIM_TRY(msim_serving_plans_read(&plans, w->app, s->plans, err));
    status = msim_serving_plans_csv(w, &plans, stdout, err);
    msim_serving_plans_release(&plans);
    return status;
}

static enum msim_status serve_one(const struct msim_serving_wish *w,
                                  const struct settings *s,
                                  struct msim_error *err)
{
    struct msim_serving_outcome o;
    enum msim_status status;

    MSIM_TRY(msim_serving_outcome_make(&o, w, err));
    status = report(&o, s, err);
    msim_serving_outcome_release(&o);
    return status;
}

/* The replicas of a plan, in place of the application's. */
static enum msim_status put_plan(struct msim_app *app, const char *path,
                                 struct msim_error *err)
{
    int64_t *replicas = calloc(app->n_stages, sizeof(*replicas));
    enum msim_status status =
        replicas ? msim_serving_plan_read(replicas, app, path, err)
                 : MSIM_ENOMEM;

    for (uint32_t i = 0; i < app->n_stages && status == MSIM_OK; i++)
        app->stages[i].replicas = replicas[i];
    free(replicas);
    return status;
}

/* What stages name: models, platforms, recorded passes. */
struct served {
    char data[1024];
    struct msim_pass_reader *reader;
    struct msim_deploy *deploy;
};

static enum msim_status deploy(struct served *to, const struct msim_app *app,
                               const struct settings *s, struct msim_error *err)
{
    if (msim_deploy_needs(app))
        MSIM_TRY(msim_datadir_find(to->data, sizeof(to->data), err));
    MSIM_TRY(msim_pass_reader_new(&to->reader, to->data));
    return msim_deploy_open(&to->deploy, app, to->data, s->fit,
                            msim_pass_reader_recorder(to->reader), err);
}

static void served_release(struct served *of)
{
    msim_deploy_free(of->deploy);
    msim_pass_reader_free(of->reader);
}

static enum msim_status serve_app(struct msim_app *app,
                                  const struct settings *s,
                                  struct msim_error *err)
{
    struct served to = {0};
    struct msim_serving_wish w;
    enum msim_status status = wish_of(s, app, &w, err);

    if (status == MSIM_OK && s->plan)
        status = put_plan(app, s->plan, err);
    if (status == MSIM_OK)
        status = deploy(&to, app, s, err);
    w.deploy = to.deploy;
    if (status == MSIM_OK)
        status = s->plans ? serve_plans(&w, s, err) : serve_one(&w, s, err);
    served_release(&to);
    return status;
}

static enum msim_status serve(const char *path, const struct settings *s,
                              struct msim_error *err)
{
    struct msim_app app;
    enum msim_status status;

    MSIM_TRY(check(s, err));
    MSIM_TRY(msim_served_app_read(&app, path, &s->words, err));
    status = serve_app(&app, s, err);
    msim_app_release(&app);
    return status;
}

/* ---- a table ------------------------------------------------------------- */

static enum msim_status check_operands(const struct settings *s, int n,
                                       struct msim_error *err)
{
    const char *wrong = NULL;

    if (!s->rows && n == 0)
        wrong = "want APP.json, a model, or --rows POINTS.csv";
    else if (s->rows && n > 0)
        wrong = "--rows takes no application";
    else if (s->rows && s->output == MSIM_OUTPUT_JSON)
        wrong = "--rows is printed as text or CSV";
    else if (s->models && !s->rows)
        wrong = "--models goes with --rows";
    if (wrong)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE, "%s", wrong);
    return MSIM_OK;
}

static enum msim_status serve_rows(const struct settings *s,
                                   struct msim_error *err)
{
    char data_dir[1024];
    struct msim_serve_rows_wish wish = {.path = s->rows,
                                        .models = s->models,
                                        .data_dir = data_dir,
                                        .csv = s->output == MSIM_OUTPUT_CSV,
                                        .threads = s->threads};

    MSIM_TRY(msim_datadir_find(data_dir, sizeof(data_dir), err));
    return msim_serve_rows(&wish, stdout, err);
}

int msim_cmd_serve(int argc, char **argv)
{
    struct settings s = {.threads = 2};
    struct msim_cli_operands files;
    struct msim_error err = {0};
    enum msim_status status;
    int rc = msim_command_start(&COMMAND, argc, argv, &s, &files);

    if (rc >= 0)
        return rc;
    status = check_operands(&s, files.n, &err);
    if (status == MSIM_OK)
        status =
            s.rows ? serve_rows(&s, &err) : serve(files.items[0], &s, &err);
    cJSON_Delete(s.set);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

/*
 * calibrate/programs/calibrate_main.c - msim-calibrate: make a platform file of
 * this machine.
 *
 *     mystique-sim calibrate [--backend LIST] [--budget MINUTES] --out FILE ...
 *
 * starts it with its own options, in the form --NAME=VALUE. It is a program of
 * its own because it links GSL, which mystique-sim does not. Answers are kept
 * in a journal next to FILE, from which an interrupted calibration continues.
 */
#include "calibrate/collective/coll_fit.h"
#include "calibrate/machine/machine.h"
#include "calibrate/measure/experiment_space.h"
#include "calibrate/measure/journal.h"
#include "calibrate/rows/samples.h"
#include "core/base/files.h"
#include "core/base/print.h"
#include "profilers/ask/backend_child.h"

#include <errno.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE     60.0 /* seconds */
#define REFRESH      0.1  /* of the line on a terminal */
#define REPORTS      30.0 /* between lines where there is none */
#define UNREPEATABLE 1.2  /* an experiment's longest time over its shortest */

struct command {
    struct msim_coll_constants collectives;
    const char *program; /* in front of messages */
    const char *backend, *out;
    const char *trace; /* NULL: none */
    const char *data;  /* folder that holds hosts/, laws/ and platforms/ */
    double budget_minutes, target, patience;
    uint64_t seed;
    bool dry_run, measure_only, fit_only, json;
    /* made of these */
    struct msim_backends backends;
    char journal[1100], held[1100], host[1100], network[1100], name[64];
    bool cut_short; /* the measuring, by failures */
    bool terminal, shown;
    double last; /* when progress was shown */
    struct msim_cal_failures failures;
    struct msim_json questions; /* of a dry run, with --json */
    double expected;            /* its seconds */
    uint32_t listed;
};

static void say(struct command *c, const char *fmt, ...) MSIM_PRINTF(2, 3);

static void clear_line(struct command *c)
{
    if (c->shown)
        fputs("\r\033[K", stderr);
    c->shown = false;
}

static void say(struct command *c, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, sizeof(text), fmt, args);
    va_end(args);
    clear_line(c);
    msim_print(stderr, "%s: %s\n", c->program, text);
}

/* ---- arguments ----------------------------------------------------------- */

/* The value where `arg` is --NAME=VALUE, else NULL. */
static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);

    return strncmp(arg, "--", 2) == 0 && strncmp(arg + 2, name, n) == 0 &&
                   arg[2 + n] == '='
               ? arg + 3 + n
               : NULL;
}

static bool take_number(double *to, const char *text)
{
    char *end;
    double v = strtod(text, &end);

    if (end == text || *end || !(v >= 0) || !isfinite(v))
        return false;
    *to = v;
    return true;
}

static bool take_argument(struct command *c, const char *arg)
{
    double seed;
    const char *v;

    if (strcmp(arg, "--dry-run") == 0)
        return c->dry_run = true;
    if (strcmp(arg, "--measure-only") == 0)
        return c->measure_only = true;
    if (strcmp(arg, "--fit-only") == 0)
        return c->fit_only = true;
    if (strcmp(arg, "--json") == 0)
        return c->json = true;
    if ((v = value_of(arg, "backend")))
        return (c->backend = v)[0] != '\0';
    if ((v = value_of(arg, "out")))
        return (c->out = v)[0] != '\0';
    if ((v = value_of(arg, "for")))
        return (c->trace = v)[0] != '\0';
    if ((v = value_of(arg, "data")))
        return (c->data = v)[0] != '\0';
    if ((v = value_of(arg, "budget")))
        return take_number(&c->budget_minutes, v) && c->budget_minutes > 0;
    if ((v = value_of(arg, "target-interval")))
        return take_number(&c->target, v);
    if ((v = value_of(arg, "patience")))
        return take_number(&c->patience, v) && c->patience > 0;
    if (!(v = value_of(arg, "seed")) || !take_number(&seed, v))
        return false;
    c->seed = (uint64_t)seed;
    return true;
}

static bool parse(struct command *c, int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');

    c->program = slash ? slash + 1 : argv[0];
    for (int i = 1; i < argc; i++) {
        if (take_argument(c, argv[i]))
            continue;
        say(c, "wrong argument '%s', see 'mystique-sim calibrate --help'",
            argv[i]);
        return false;
    }
    if (c->dry_run && !c->out)
        c->out = "dry-run.json"; /* nothing is written */
    if (!c->out || !c->data)
        say(c, "--%s is missing, want the %s", c->out ? "data" : "out",
            c->out ? "folder that holds hosts/" : "platform file to write");
    return c->out && c->data;
}

/* Names of the files next to FILE: FILE without .json, and an ending. */
static void name_files(struct command *c)
{
    const char *slash = strrchr(c->out, '/');
    const char *base = slash ? slash + 1 : c->out;
    size_t n = strlen(c->out);
    size_t stem = n > 5 && strcmp(c->out + n - 5, ".json") == 0 ? n - 5 : n;

    snprintf(c->journal, sizeof(c->journal), "%.*s.journal.jsonl", (int)stem,
             c->out);
    snprintf(c->host, sizeof(c->host), "%.*s.host.json", (int)stem, c->out);
    snprintf(c->network, sizeof(c->network), "%.*s.network.json", (int)stem,
             c->out);
    snprintf(c->held, sizeof(c->held), "%.*s.held.csv", (int)stem, c->out);
    snprintf(c->name, sizeof(c->name), "%.*s",
             (int)(stem - (size_t)(base - c->out)), base);
}

/* ---- what is shown ------------------------------------------------------- */

static void show_progress(void *ctx, const struct msim_cal_progress *p)
{
    struct command *c = ctx;
    double left = p->budget - p->seconds, at;
    char text[160];

    msim_cal_describe(p->experiment, text, sizeof(text));
    if (p->error &&
        msim_cal_failures_add(&c->failures, p->error, p->experiment) != MSIM_OK)
        say(c, "failed: %s: %s", text, p->error); /* no memory: at once */
    at = msim_child_now();
    if (at - c->last < (c->terminal ? REFRESH : REPORTS))
        return;
    c->last = at;
    c->shown = c->terminal;
    fputs(c->terminal ? "\r" : "", stderr);
    msim_print(stderr, "%s: %s: %u rows, %u failed, %.0f:%02.0f left: %.40s",
               c->program, p->backend, p->rows, p->failed,
               floor(fmax(left, 0) / 60), floor(fmod(fmax(left, 0), 60)), text);
    fputs(c->terminal ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

static void show_warning(void *ctx, const char *text)
{
    say(ctx, "warning: %s", text);
}

/* Each that is like no other. */
static void show_failures(struct command *c)
{
    for (uint32_t i = 0; i < c->failures.n; i++) {
        const struct msim_cal_failure *f = &c->failures.list[i];

        if (f->n == 1)
            say(c, "failed: %s: %s", f->first, f->text);
        else
            say(c, "failed %u times, first %s: %s", f->n, f->first, f->text);
    }
    msim_cal_failures_release(&c->failures);
}

static void show_question(void *ctx, const char *backend,
                          const struct msim_cal_experiment *e,
                          double expected_us, double expected_seconds)
{
    struct command *c = ctx;
    char text[160];

    msim_cal_describe(e, text, sizeof(text));
    if (c->json)
        msim_cal_questions_add(&c->questions, backend, text, expected_us,
                               expected_seconds);
    else
        msim_print(stdout, "%-6s %10.4g us a run  %7.3f s  %s\n", backend,
                   expected_us, expected_seconds, text);
    c->expected += expected_seconds;
    c->listed++;
}

static void show_score(const struct msim_cal_score *v)
{
    msim_print(stdout, "%-18s %-10s %6u %7.1f %% %7.1f %% %7.1f %% %8.0f %% ",
               v->law, v->framework, v->rows, 100 * v->median, 100 * v->mean,
               100 * v->p90, 100 * v->coverage);
    if (isnan(v->repeats))
        msim_print(stdout, "%9s\n", "-");
    else
        printf("x %7.2f\n", v->repeats);
}

static void show_scores(const struct msim_cal_scores *v)
{
    msim_print(stdout, "%-18s %-10s %6s %9s %9s %9s %10s %9s\n", "table",
               "backend", "rows", "median", "mean", "p90", "inside 90%",
               "repeats");
    for (uint32_t i = 0; i < v->n; i++)
        show_score(&v->list[i]);
}

/* The table tells it, too, but not what it means. */
static void warn_unrepeatable(struct command *c,
                              const struct msim_cal_scores *v)
{
    const struct msim_cal_score *worst = NULL;

    for (uint32_t i = 0; i < v->n; i++)
        if (strcmp(v->list[i].law, MSIM_CAL_ALL) != 0 &&
            v->list[i].repeats >= (worst ? worst->repeats : UNREPEATABLE))
            worst = &v->list[i];
    if (worst)
        say(c,
            "warning: half of the experiments of %s took %.2f times as long at "
            "one moment as at another; if other programs ran, end them and "
            "calibrate again (remove %s first)",
            worst->law, worst->repeats, c->journal);
}

/* ---- all of it ----------------------------------------------------------- */

static enum msim_status show_results(struct command *c,
                                     const struct msim_cal_journal *j,
                                     const cJSON *platform,
                                     const struct msim_cal_scores *v)
{
    printf("errors on held-out rows; repeats: an experiment's longest time "
           "over its shortest, of visits seconds apart\n");
    show_scores(v);
    if (v->too_few)
        printf("%u experiments are in no fit, as there are few of their kind; "
               "more --budget adds to them\n",
               v->too_few);
    msim_cal_known_show(stdout, platform);
    MSIM_TRY(msim_cal_show(stdout, j));
    msim_print(stdout, "written: %s, of the %u experiments in %s\n", c->out,
               j->n, c->journal);
    return MSIM_OK;
}

/* Where something of the host was timed. */
static enum msim_status write_host(struct command *c,
                                   const struct msim_cal_journal *j,
                                   const char **written, struct msim_error *err)
{
    struct msim_cal_host result;
    cJSON *generic, *host;
    char path[1400];
    enum msim_status status;

    snprintf(path, sizeof(path), "%s/hosts/generic.json", c->data);
    MSIM_TRY(msim_json_read(&generic, path, err));
    status = msim_cal_host_fit(&host, &result, j, generic, c->name);
    cJSON_Delete(generic);
    if (status != MSIM_OK)
        return status;
    if (!host) {
        if (!c->json)
            printf("no host file: nothing timed what operators take of the "
                   "host (the backend torch does)\n");
        return MSIM_OK;
    }
    *written = c->host;
    status = msim_tree_write(host, c->host, err);
    cJSON_Delete(host);
    if (status == MSIM_OK && !c->json)
        msim_print(
            stdout,
            "written: %s: %u operators timed, within a factor of %.2f; %u "
            "as of host generic, %.2f times as long, within %.2f\n",
            c->host, result.timed, result.factor, result.taken, result.speed,
            result.factor_taken);
    return status;
}

/* Where collectives were timed. */
static enum msim_status write_network(struct command *c, const cJSON *platform,
                                      const char **written,
                                      struct msim_error *err)
{
    enum msim_status status;
    cJSON *network;

    MSIM_TRY(msim_cal_network(&network, platform));
    if (!network)
        return MSIM_OK;
    *written = c->network;
    status = msim_tree_write(network, c->network, err);
    cJSON_Delete(network);
    if (status == MSIM_OK && !c->json)
        msim_print(stdout, "written: %s: its collectives\n", c->network);
    return status;
}

static enum msim_status finish(struct command *c,
                               const struct msim_cal_journal *j,
                               struct msim_error *err)
{
    struct msim_cal_fit_options options = {.name = c->name,
                                           .data = c->data,
                                           .held = c->held,
                                           .threads = 2,
                                           .collectives = &c->collectives};
    struct msim_cal_scores scores;
    struct msim_cal_left left = {.platform = c->out,
                                 .journal = j,
                                 .journal_path = c->journal,
                                 .scores = &scores};
    cJSON *platform;
    enum msim_status status;

    MSIM_TRY(msim_cal_fit(&platform, j, &options, &scores, err));
    status = msim_tree_write(platform, c->out, err);
    if (status == MSIM_OK && !c->json)
        status = show_results(c, j, platform, &scores);
    if (status == MSIM_OK)
        warn_unrepeatable(c, &scores);
    if (status == MSIM_OK)
        status = write_network(c, platform, &left.network, err);
    if (status == MSIM_OK)
        status = write_host(c, j, &left.host, err);
    if (status == MSIM_OK && c->json)
        status = msim_cal_left_json(stdout, &left);
    cJSON_Delete(platform);
    return status;
}

/* Say what --fit-only finds. ECHECK where that is nothing, or failures ended
 * the measuring early. */
static enum msim_status end_measuring(struct command *c,
                                      const struct msim_cal_journal *j,
                                      struct msim_error *err)
{
    char text[400];

    MSIM_TRY(msim_cal_failures_tell(text, sizeof(text), j));
    if (!msim_cal_journal_has_rows(j, NULL))
        return msim_fail(err, MSIM_ECHECK, c->journal, MSIM_OFFSET_NONE,
                         "nothing was timed: %s", text);
    if (c->json)
        MSIM_TRY(msim_cal_left_json(
            stdout,
            &(struct msim_cal_left){.journal = j, .journal_path = c->journal}));
    else
        msim_print(stdout,
                   "kept: %s: %s; 'calibrate --fit-only --out %s' fits them\n",
                   c->journal, text, c->out);
    if (c->cut_short)
        return msim_fail(err, MSIM_ECHECK, c->journal, MSIM_OFFSET_NONE,
                         "failures ended the measuring early: part of what it "
                         "was to time is missing");
    return MSIM_OK;
}

static enum msim_status dry_run(struct command *c, struct msim_cal_journal *j,
                                const struct msim_cal_options *options,
                                struct msim_error *err)
{
    enum msim_status status;

    if (c->json)
        msim_cal_questions_begin(&c->questions, stdout);
    status = msim_cal_dry_run(j, options, err);
    if (c->json)
        return status == MSIM_OK
                   ? msim_cal_questions_end(&c->questions, c->expected)
                   : status;
    printf("%u experiments, expected to take %.0f s; the rest of the budget "
           "goes to what is known least\n",
           c->listed, c->expected);
    return status;
}

static enum msim_status measure(struct command *c, struct msim_cal_journal *j,
                                const struct msim_cal_shapes *first,
                                struct msim_error *err)
{
    struct msim_cal_options options = {.backends = c->backends.list,
                                       .n_backends = c->backends.n,
                                       .budget = 60 * c->budget_minutes,
                                       .target = c->target / 100,
                                       .no_fits = c->measure_only,
                                       .seed = c->seed,
                                       .patience = c->patience,
                                       .name = c->name,
                                       .data = c->data,
                                       .threads = 2,
                                       .collectives = &c->collectives,
                                       .first = first,
                                       .progress = show_progress,
                                       .would_ask = show_question,
                                       .warn = show_warning,
                                       .ctx = c};
    enum msim_status status;

    if (j->n > 0)
        say(c, "goes on with the %u experiments in '%s'", j->n, c->journal);
    if (c->dry_run)
        return dry_run(c, j, &options, err);
    status = msim_cal_run(j, &options, &c->cut_short, err);
    clear_line(c);
    show_failures(c);
    return status;
}

static enum msim_status run(struct command *c,
                            const struct msim_cal_shapes *first,
                            struct msim_error *err)
{
    bool fresh = access(c->journal, F_OK) != 0;
    struct msim_cal_journal j;
    enum msim_status status = MSIM_OK;

    if (c->fit_only && fresh)
        return msim_fail(err, MSIM_EIO, c->journal, MSIM_OFFSET_NONE,
                         "there is no such file, want the journal of a "
                         "calibration, as --measure-only writes it");
    /* To look writes nothing. */
    MSIM_TRY(msim_cal_journal_open(&j, c->dry_run && fresh ? NULL : c->journal,
                                   err));
    if (!c->fit_only)
        status = measure(c, &j, first, err);
    if (status == MSIM_OK && c->measure_only)
        status = end_measuring(c, &j, err);
    else if (status == MSIM_OK && !c->dry_run)
        status = finish(c, &j, err);
    msim_cal_journal_close(&j);
    return status;
}

/* Before anything is timed. The journal is an output, and then an input. */
static enum msim_status spare_inputs(const struct command *c,
                                     struct msim_error *err)
{
    const struct {
        const char *path, *mark;
    } beside[] = {{c->held, "platform,table_gpu,family"},
                  {c->host, "mystique-sim/host/"},
                  {c->network, "mystique-sim/network/"}};

    MSIM_TRY(msim_files_read_spare(c->journal, err));
    MSIM_TRY(msim_files_read_note(c->journal, err));
    MSIM_TRY(msim_files_read_spare(c->out, err));
    for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++)
        MSIM_TRY(msim_folder_spare(beside[i].path, beside[i].mark, err));
    return MSIM_OK;
}

/* With the shapes of a trace first, where there is one. */
static enum msim_status run_for(struct command *c, struct msim_error *err)
{
    struct msim_cal_shapes first = {.n = 0};
    char path[1400];
    enum msim_status status;

    snprintf(path, sizeof(path), "%s/laws/collectives.json", c->data);
    MSIM_TRY(msim_coll_constants_read(&c->collectives, path, err));
    if (c->trace) {
        MSIM_TRY(msim_cal_trace_shapes(&first, c->trace, err));
        say(c, "%u shapes in '%s'", first.n, c->trace);
    }
    status = c->dry_run ? MSIM_OK : spare_inputs(c, err);
    if (status == MSIM_OK)
        status = run(c, &first, err);
    msim_cal_shapes_release(&first);
    return status;
}

/* What times; false where that is not there. */
static bool find_backends(struct command *c)
{
    struct msim_error err = {0};

    if (msim_backends_find(&c->backends, c->backend, &err) != MSIM_OK) {
        say(c, "%s", err.text);
        return false;
    }
    if (c->backends.warning)
        say(c, "warning: %s", c->backends.warning);
    return true;
}

/* Say what went wrong, last that results could not be written. */
static int end(struct command *c, enum msim_status status,
               const struct msim_error *err)
{
    clear_line(c);
    if (status != MSIM_OK)
        say(c, "%s%s%s", err->file, *err->file ? ": " : "",
            *err->text ? err->text : msim_status_text(status));
    if (fflush(stdout) == 0 && !ferror(stdout))
        return msim_status_exit(status);
    errno = 0; /* the reason is that of one more byte */
    (void)(putchar('\n') == EOF || fflush(stdout) != 0);
    say(c, "cannot write to standard output: %s",
        errno ? strerror(errno) : "an earlier write failed");
    return msim_status_exit(MSIM_EWRITE);
}

int main(int argc, char **argv)
{
    static struct command c = {
        .budget_minutes = 10, .patience = PATIENCE, .seed = 1};
    struct msim_error err = {0};
    enum msim_status status;

    (void)gsl_set_error_handler_off();
    signal(SIGPIPE, SIG_IGN); /* a backend that died is reported as such */
    signal(SIGXFSZ, SIG_IGN); /* as a full disk is */
    if (!parse(&c, argc, argv) || (!c.fit_only && !find_backends(&c)))
        return 2;
    name_files(&c);
    c.terminal = isatty(STDERR_FILENO);
    status = run_for(&c, &err);
    return end(&c, status, &err);
}

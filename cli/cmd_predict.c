/*
 * cli/cmd_predict.c - `predict`: how long a traced job takes.
 */
#include "cli/capture/capture_model.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/predict_options.h"
#include "core/base/files.h"
#include "core/report/markdown/markdown.h"
#include "core/report/write/report.h"
#include "predict/page/prediction_page.h"
#include "predict/pipeline.h"
#include "predict/whatif/whatif.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double seconds_since(const struct timespec *begin)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) +
           (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static enum msim_status write_files(const struct msim_predict_options *o,
                                    const struct msim_prediction_run *run,
                                    struct msim_error *err)
{
    struct msim_timeline *tl;
    enum msim_status status = MSIM_OK;

    if (o->chart)
        MSIM_TRY(msim_report_chart(run->prediction, o->chart, err));
    if (!o->timeline)
        return MSIM_OK;
    MSIM_TRY(msim_timeline_new(&tl, &run->outcome));
    tl->of = run->prediction;
    status = msim_report_timeline(tl, o->timeline, err);
    msim_timeline_free(tl);
    return status;
}

/* What is printed besides, with bars and sliders. */
static enum msim_status write_html(const struct msim_predict_options *o,
                                   const struct msim_prediction_run *run,
                                   struct msim_error *err)
{
    struct msim_planes planes = {.n = 0};
    enum msim_status status;

    if (!o->html)
        return MSIM_OK;
    status = msim_plane_search(&planes, run, err);
    if (status == MSIM_OK)
        status = msim_prediction_page(run, &planes, o->html, err);
    msim_planes_release(&planes);
    return status;
}

/* How far off the prediction is. Under model costs the report itself holds no
 * measured time (msim_run_drop_measured()). */
static void say_measured(const struct msim_figure *kernels)
{
    char measured[MSIM_CELL], predicted[MSIM_CELL];

    if (!(kernels->measured > 0))
        return;
    msim_format_time(measured, kernels->measured);
    msim_format_time(predicted, kernels->predicted);
    msim_message("note: the traced GPU took %s for the kernels, predicted are "
                 "%s (x %.2f)",
                 measured, predicted, kernels->predicted / kernels->measured);
}

static enum msim_status write_report(const struct msim_predict_options *o,
                                     const struct msim_prediction *p)
{
    switch (o->output) {
    case MSIM_OUTPUT_JSON:
        return msim_report_json(p, stdout);
    case MSIM_OUTPUT_CSV:
        return msim_report_csv(p, stdout);
    case MSIM_OUTPUT_MARKDOWN:
        return msim_markdown_prediction(p, stdout);
    case MSIM_OUTPUT_TEXT:
        break;
    }
    return o->brief ? msim_report_brief(p, stdout)
                    : msim_report_text(p, stdout);
}

static enum msim_status report(const struct msim_predict_options *o,
                               const struct msim_target *to,
                               struct msim_prediction_run *run,
                               struct msim_error *err)
{
    struct msim_prediction *p = run->prediction;

    MSIM_TRY(write_files(o, run, err));
    if (!msim_target_replays(to)) {
        say_measured(&p->kernel_us);
        msim_run_drop_measured(run->prediction, run->graph->iterations[0] >= 0);
    }
    MSIM_TRY(write_html(o, run, err));
    MSIM_TRY(write_report(o, p));
    msim_message_warnings(p->warnings, p->n_warnings,
                          o->output != MSIM_OUTPUT_CSV);
    return MSIM_OK;
}

/* Before one of them is written: no two are one file, none is an input. */
static enum msim_status look_at_outputs(const struct msim_predict_options *o,
                                        struct msim_error *err)
{
    const struct {
        const char *option, *path;
    } of[] = {{"--chart", o->chart},
              {"--timeline", o->timeline},
              {"--html", o->html}};

    for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
        for (size_t k = 0; of[i].path && k < i; k++)
            if (of[k].path && msim_file_is_same(of[k].path, of[i].path))
                return msim_fail(err, MSIM_EUSAGE, of[k].path, MSIM_OFFSET_NONE,
                                 "is what '%s' and '%s' would both write; want "
                                 "two files",
                                 of[k].option, of[i].option);
        if (of[i].path)
            MSIM_TRY(msim_files_read_spare(of[i].path, err));
    }
    return MSIM_OK;
}

static enum msim_status predict(const struct msim_predict_options *o,
                                const struct msim_inputs *in,
                                const struct msim_target *to,
                                const struct timespec *begin,
                                struct msim_error *err)
{
    struct msim_prediction_run run;
    enum msim_status status;

    MSIM_TRY(look_at_outputs(o, err));
    status = msim_whatif_predict(&run, &o->settings, in, to, err);

    if (status == MSIM_OK && (o->html || o->output != MSIM_OUTPUT_CSV))
        status = msim_sensitivity_find(&run, err);
    if (status == MSIM_OK) {
        run.prediction->rates = msim_predict_options_rates(o, 0);
        run.prediction->seconds = seconds_since(begin);
        if (o->model)
            run.prediction->inputs = &o->model;
        status = report(o, to, &run, err);
    }
    msim_prediction_run_release(&run);
    return status;
}

static enum msim_status write_sweep(const struct msim_predict_options *o,
                                    const struct msim_sweep *w)
{
    switch (o->output) {
    case MSIM_OUTPUT_JSON:
        return msim_sweep_json(w, stdout);
    case MSIM_OUTPUT_CSV:
        return msim_sweep_csv(w, stdout);
    case MSIM_OUTPUT_MARKDOWN:
    case MSIM_OUTPUT_TEXT:
        break;
    }
    return msim_sweep_text(w, stdout);
}

/* The prediction of a platform says what it is of and what it costs. */
static void name_row(const struct msim_predict_options *o,
                     struct msim_sweep_row *row)
{
    row->prediction->rates = msim_predict_options_rates(o, row->index);
    if (o->model)
        row->prediction->inputs = &o->model;
}

/* One table of several platforms. */
static enum msim_status sweep(const struct msim_predict_options *o,
                              struct msim_error *err)
{
    struct msim_sweep w;
    enum msim_status status =
        msim_sweep_run(&w, o->settings.platform, &o->settings, err);

    for (uint32_t i = 0; status == MSIM_OK && i < w.n; i++)
        name_row(o, &w.rows[i]);
    if (status == MSIM_OK)
        status = write_sweep(o, &w);
    for (uint32_t i = 0; status == MSIM_OK && i < w.n; i++)
        msim_message_warnings(w.rows[i].prediction->warnings,
                              w.rows[i].prediction->n_warnings,
                              o->output == MSIM_OUTPUT_JSON);
    msim_sweep_release(&w);
    return status;
}

static enum msim_status predict_one(struct msim_predict_options *o,
                                    const struct timespec *begin,
                                    struct msim_error *err)
{
    struct msim_inputs in;
    struct msim_target to;
    enum msim_status status;

    status = msim_load_prediction(&in, &to, &o->settings, err);
    if (status == MSIM_OK)
        status = o->explain
                     ? msim_explain(o->explain, &o->settings, &in, &to,
                                    o->output == MSIM_OUTPUT_JSON, stdout, err)
                     : predict(o, &in, &to, begin, err);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return status;
}

static enum msim_status predict_traces(struct msim_predict_options *o,
                                       struct msim_error *err)
{
    const char *platform = o->settings.platform;
    struct timespec begin;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    return platform && strchr(platform, ',') ? sweep(o, err)
                                             : predict_one(o, &begin, err);
}

static void show_warning(const char *text)
{
    msim_message_warning("%s", text);
}

/* Can all platforms be read? Before a recording, which takes longer. */
static enum msim_status check_platforms(const struct msim_predict_options *o,
                                        struct msim_error *err)
{
    struct msim_predict_settings s = o->settings;
    const char *at = o->settings.platform;
    enum msim_status status = MSIM_OK;
    char name[PATH_MAX];

    s.source_trace = NULL; /* read once, with the job */
    while (at && *at && status == MSIM_OK) {
        size_t n = strcspn(at, ",");
        struct msim_target to;

        snprintf(name, sizeof(name), "%.*s", (int)n, at);
        s.platform = name;
        status = msim_target_load(&to, &s, err);
        msim_target_release(&to);
        at += n + (at[n] == ',');
    }
    return status;
}

/* A model is recorded first; its trace is gone afterwards. */
static enum msim_status predict_model(struct msim_predict_options *o,
                                      struct msim_error *err)
{
    struct msim_captured captured = {{0}, {0}, {0}};
    const char *path = captured.path;
    enum msim_status status = check_platforms(o, err);

    if (status == MSIM_OK)
        status = msim_capture_model(&captured, o->settings.data, o->model, err);
    o->settings.paths = &path;
    o->settings.n_paths = 1;
    if (status == MSIM_OK) {
        msim_captured_warnings(&captured, show_warning);
        status = predict_traces(o, err);
    }
    msim_captured_release(&captured);
    return status;
}

/* Is `name` one of the folders of data/traces? Its path is `at` then. */
static bool is_sample(char at[PATH_MAX], const char *data, const char *name)
{
    int n = snprintf(at, PATH_MAX, "%s/traces/%s", data, name);
    struct stat info;

    return *name && *name != '.' && !strchr(name, '/') && n > 0 &&
           n < PATH_MAX && stat(at, &info) == 0 && S_ISDIR(info.st_mode);
}

/* What is no file may be a word of ours in the wrong place. */
static enum msim_status check_operands(const struct msim_predict_options *o,
                                       const char *data, struct msim_error *err)
{
    char model[PATH_MAX], sample[PATH_MAX];

    for (uint32_t i = 0; i < o->settings.n_paths; i++) {
        const char *path = o->settings.paths[i];
        int n;

        if (access(path, F_OK) == 0)
            continue;
        if (msim_verb_find(path))
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "'%s' is a verb, want it first: 'mystique-sim %s "
                             "[OPTION]...'",
                             path, path);
        if (is_sample(sample, data, path))
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "no file '%s' is here, want '%s' for the sample "
                             "of that name",
                             path, sample);
        n = snprintf(model, sizeof(model), "%s/models/%s.json", data, path);
        if (n > 0 && n < PATH_MAX && access(model, F_OK) == 0)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "'%s' is a described model, want a trace; "
                             "'whatif', 'synth' and 'plan' take models",
                             path);
    }
    return MSIM_OK;
}

/* Does what is asked for hang on no rank's number? Then ranks that are equal
 * are read once. */
static bool may_fold(const struct msim_predict_options *o)
{
    const struct msim_predict_settings *s = &o->settings;

    return !o->timeline && !o->html && !o->explain && !s->usage && !s->ranks &&
           !s->nodes && !s->n_scales && !s->source_trace && !s->described &&
           msim_choice_is_all(&s->choice) &&
           msim_reshape_is_none(&s->reshape) &&
           !(s->platform && strchr(s->platform, ','));
}

static enum msim_status load_and_predict(struct msim_predict_options *o,
                                         struct msim_error *err)
{
    char data[PATH_MAX]; /* a baseline loads its own host and platform */
    struct msim_written_job job;
    enum msim_status status;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(check_operands(o, data, err));
    o->settings.data = data;
    status = msim_written_settings(&job, &o->settings, err);
    o->settings.load.fold = may_fold(o);
    if (status == MSIM_OK)
        status = o->model ? predict_model(o, err) : predict_traces(o, err);
    msim_written_job_release(&job);
    return status;
}

int msim_cmd_predict(int argc, char **argv)
{
    struct msim_predict_options o;
    struct msim_error err = {0};
    int rc = msim_predict_options_parse(&o, argc, argv);

    if (rc < 0) {
        enum msim_status status = load_and_predict(&o, &err);

        rc =
            status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
    }
    msim_predict_options_release(&o);
    return rc;
}

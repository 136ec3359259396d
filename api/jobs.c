/*
 * api/jobs.c - a job, loaded once, and what is asked of it.
 */
#include "api/handles.h"
#include "core/report/write/report.h"
#include "predict/op/op_table.h"
#include "predict/pipeline.h"
#include "predict/scenario/scenario.h"
#include "predict/whatif/whatif.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a job ----------------------------------------------------------------
 */

static enum msim_status keep_paths(struct mystique_job *job,
                                   const char *const *paths, size_t n,
                                   struct msim_error *err)
{
    bool all = paths && n && n <= UINT32_MAX;

    for (size_t i = 0; all && i < n; i++)
        all = paths[i] != NULL;
    if (!all)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no traces, or one is NULL, want files or folders of "
                         "one job");
    job->paths = calloc(n + 1, sizeof(*job->paths));
    for (size_t i = 0; job->paths && i < n; i++) {
        job->paths[i] = strdup(paths[i]);
        if (!job->paths[i])
            return MSIM_ENOMEM;
    }
    job->settings.paths = (const char *const *)job->paths;
    job->settings.n_paths = (uint32_t)n;
    return job->paths ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status load(struct mystique_job *job, const mystique *m,
                             const char *const *paths, size_t n,
                             const char *options, struct msim_error *err)
{
    job->data = strdup(m->data);
    if (!job->data)
        return MSIM_ENOMEM;
    job->settings.data = job->data;
    job->settings.shelf = &job->shelf;
    MSIM_TRY(keep_paths(job, paths, n, err));
    MSIM_TRY(msim_load_options_read(job, options, err));
    MSIM_TRY(msim_written_job_let_know(&job->written, &job->settings, job->data,
                                       err));
    MSIM_TRY(msim_inputs_load(&job->inputs, &job->settings, err));
    job->shelf.job = job->inputs.job;
    return MSIM_OK;
}

int mystique_load(mystique_job **out, const mystique *m,
                  const char *const *paths, size_t n, const char *options,
                  mystique_error *err)
{
    struct msim_error why = {0};
    enum msim_status status;
    mystique_job *job;

    if (!out)
        return msim_api_null("out", "where the job goes", err);
    *out = NULL;
    if (!m)
        return msim_api_null("m", "what mystique_open() made", err);
    job = calloc(1, sizeof(*job));
    if (!job)
        return msim_api_status(MSIM_ENOMEM, &why, err);
    pthread_mutex_init(&job->lock, NULL);
    status = load(job, m, paths, n, options, &why);
    if (status == MSIM_OK) {
        *out = job;
        job = NULL;
    }
    mystique_job_free(job);
    return msim_api_status(status, &why, err);
}

void mystique_job_free(mystique_job *job)
{
    if (!job)
        return;
    msim_shelf_release(&job->shelf);
    msim_inputs_release(&job->inputs);
    msim_written_job_release(&job->written);
    for (size_t i = 0; job->paths && job->paths[i]; i++)
        free(job->paths[i]);
    for (size_t i = 0; i < MSIM_OWN_COMMS_MAX; i++)
        free(job->communication[i]);
    free(job->paths);
    free(job->ops);
    free(job->source_trace);
    free(job->data);
    pthread_mutex_destroy(&job->lock);
    free(job);
}

/* Names first, then what the traces decide. */
static enum msim_status choose(struct msim_target *to, mystique_job *job,
                               const struct msim_predict_settings *s,
                               struct msim_error *err)
{
    MSIM_TRY(msim_target_load(to, s, err));
    return msim_target_settle(to, s, &job->inputs, err);
}

/* What is asked of a job on a target; `text`: scenarios, of whatif alone. */
typedef enum msim_status (*answer_fn)(const struct msim_call_options *o,
                                      mystique_job *job,
                                      const struct msim_target *to,
                                      const char *text, FILE *out,
                                      struct msim_error *err);

static enum msim_status answer(struct msim_call_options *o, mystique_job *job,
                               const char *options, const char *text,
                               answer_fn fn, FILE *out, struct msim_error *err)
{
    struct msim_target to = {0};
    enum msim_status status;

    o->settings = job->settings;
    o->settings.shapes = !text; /* as `predict --json` has them */
    status = msim_call_options_read(
        o, text ? MSIM_API_WHATIF : MSIM_API_PREDICT, options, err);
    if (status == MSIM_OK)
        status = choose(&to, job, &o->settings, err);
    if (status == MSIM_OK)
        status = fn(o, job, &to, text, out, err);
    msim_target_release(&to);
    return status;
}

static int ask(mystique_result **out, mystique_job *job, const char *options,
               const char *text, answer_fn fn, mystique_error *err)
{
    struct msim_call_options o = {0};
    struct msim_error why = {0};
    struct msim_answer a;
    enum msim_status status = MSIM_ENOMEM;

    if (!out)
        return msim_api_null("out", "where the answer goes", err);
    *out = NULL;
    if (!job)
        return msim_api_null("job", "what mystique_load() made", err);
    msim_answer_begin(&a);
    pthread_mutex_lock(&job->lock);
    if (a.out)
        status = answer(&o, job, options, text, fn, a.out, &why);
    pthread_mutex_unlock(&job->lock);
    msim_call_options_release(&o);
    status = msim_answer_end(&a, out, status);
    return msim_api_status(status, &why, err);
}

/* ---- a prediction ---------------------------------------------------------
 */

static enum msim_status predict(const struct msim_call_options *o,
                                mystique_job *job, const struct msim_target *to,
                                const char *text, FILE *out,
                                struct msim_error *err)
{
    struct msim_prediction_run run;
    enum msim_status status =
        msim_whatif_predict(&run, &o->settings, &job->inputs, to, err);

    (void)text;
    if (status == MSIM_OK)
        status = msim_sensitivity_find(&run, err);
    if (status == MSIM_OK && !msim_target_replays(to))
        msim_run_drop_measured(run.prediction, run.graph->iterations[0] >= 0);
    if (status == MSIM_OK)
        status = msim_report_json(run.prediction, out);
    msim_prediction_run_release(&run);
    return status;
}

int mystique_predict(mystique_result **out, mystique_job *job,
                     const char *options, mystique_error *err)
{
    return ask(out, job, options, NULL, predict, err);
}

/* ---- scenarios ------------------------------------------------------------
 */

/* What is wrong in a text has no file. */
static void name_text(struct msim_error *err, const char *path,
                      const char *name)
{
    if (strcmp(err->file, path) == 0)
        snprintf(err->file, sizeof(err->file), "%s", name);
}

static enum msim_status scenarios(const struct msim_call_options *o,
                                  mystique_job *job,
                                  const struct msim_target *to,
                                  const char *text, FILE *out,
                                  struct msim_error *err)
{
    struct msim_scenarios s;
    enum msim_status status;
    char path[64];
    int fd = msim_text_file(path, text);

    if (fd < 0)
        return MSIM_ENOMEM;
    status = msim_scenarios_read(
        &s, &(struct msim_scenario_source){.path = path}, &o->settings, err);
    s.kernels = o->kernels;
    if (status == MSIM_OK)
        status = msim_scenarios_run(&s, &job->inputs, to, err);
    if (status == MSIM_OK)
        status = msim_scenarios_json(&s, out);
    msim_scenarios_release(&s);
    close(fd);
    name_text(err, path, "scenarios");
    return status;
}

int mystique_whatif(mystique_result **out, mystique_job *job, const char *text,
                    const char *options, mystique_error *err)
{
    if (out)
        *out = NULL;
    if (!text)
        return msim_api_null("scenarios", "the text of their file", err);
    return ask(out, job, options, text, scenarios, err);
}

/* ---- rows of a table ------------------------------------------------------
 */

static enum msim_status op(const struct msim_predict_settings *s,
                           const char *rows, FILE *out, struct msim_error *err)
{
    struct msim_platform *p = NULL;
    enum msim_status status = MSIM_OK;
    struct msim_guard_count count = {0};
    char path[64];
    int fd;

    if (!s->platform)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "no \"platform\" in the options, want one");
    MSIM_TRY(msim_platform_load(&p, s->data, s->platform, err));
    fd = msim_text_file(path, rows);
    if (fd < 0)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && msim_clock_is_asked(&s->clock))
        status = msim_platform_set_clock(p, &s->clock, err);
    if (status == MSIM_OK)
        status = msim_op_table(p, path, false, out, &count, err);
    if (fd >= 0)
        close(fd);
    msim_platform_free(p);
    name_text(err, path, "rows");
    return status;
}

int mystique_op(mystique_result **out, const mystique *m, const char *rows,
                const char *options, mystique_error *err)
{
    struct msim_call_options o = {0};
    struct msim_error why = {0};
    struct msim_answer a;
    enum msim_status status = MSIM_ENOMEM;

    if (!out)
        return msim_api_null("out", "where the answer goes", err);
    *out = NULL;
    if (!m)
        return msim_api_null("m", "what mystique_open() made", err);
    if (!rows)
        return msim_api_null("rows", "the text of a table", err);
    o.settings.data = m->data;
    msim_answer_begin(&a);
    if (a.out)
        status = msim_call_options_read(&o, MSIM_API_OP, options, &why);
    if (status == MSIM_OK)
        status = op(&o.settings, rows, a.out, &why);
    msim_call_options_release(&o);
    status = msim_answer_end(&a, out, status);
    return msim_api_status(status, &why, err);
}

/*
 * calibrate/programs/learn_main.c - msim-learn: trees that foresee violations,
 * from counters of runs.
 *
 *     msim-learn --out=MODEL.json --data=data [--horizon=S] [--json] \
 *                APP.json RUNS
 *
 * The verb `learn --runs` starts it with one application; it is a program of
 * its own because it links XGBoost. With several pairs of application and
 * folder the model is of all applications:
 *
 *     msim-learn --out=data/laws/watch.json a.json a-runs b.json b-runs ...
 */
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "serving/learn/learn_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VISITS  1.5e8 /* of stages, simulated: a minute or two */
#define THREADS 2
#define PARTS   4 /* of the runs; each is held back once */

struct learning {
    const char *out, *data; /* data: NULL for a model of all applications */
    struct msim_watch_model general;
    double horizon_s;
    bool json;
    char **pairs;
    int n_pairs;
    struct msim_runs_table table;
    struct msim_error *err;
};

static enum msim_status save(const struct learning *l, const cJSON *model)
{
    char *text = cJSON_Print(model);
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    status = msim_file_save(l->out, text, strlen(text), NULL, l->err);
    cJSON_free(text);
    return status;
}

static enum msim_status report(const struct learning *l,
                               const struct msim_runs_figures *f)
{
    if (l->json)
        return msim_runs_json(stdout, f, l->horizon_s);
    msim_runs_text(stdout, f, l->horizon_s);
    return MSIM_OK;
}

/* Figures from fits without the runs that are held back, then the model from
 * all of them. */
static enum msim_status fit(struct learning *l, const struct msim_app *app)
{
    uint32_t n = l->table.n_runs, parts = n < PARTS ? n : PARTS;
    struct msim_runs_figures figures = {0};
    cJSON *model = NULL;
    enum msim_status status = MSIM_OK;

    if (n < 2)
        return msim_fail(l->err, MSIM_EFORMAT, l->pairs[1], MSIM_OFFSET_NONE,
                         "one run, want two or more: some are held back");
    if (app) /* a model of all applications is judged by others */
        status = msim_runs_judge(&figures, &l->table, app, parts, l->horizon_s,
                                 l->err);
    if (status == MSIM_OK)
        status =
            msim_runs_fit(&model, &l->table, app, 0, 0, l->horizon_s, l->err);
    if (status == MSIM_OK)
        status = save(l, model);
    cJSON_Delete(model);
    return status == MSIM_OK && app ? report(l, &figures) : status;
}

/* The trees of all applications, whose answer is one of the numbers. */
static enum msim_status read_general(struct learning *l)
{
    char path[4096];

    if (!l->data)
        return MSIM_OK;
    snprintf(path, sizeof(path), "%s/laws/watch.json", l->data);
    return msim_watch_model_read(&l->general, path, NULL, l->err);
}

static enum msim_status learn_one(struct learning *l)
{
    struct msim_app app;
    uint32_t n;
    enum msim_status status = msim_app_read(&app, l->pairs[0], l->err);

    if (status != MSIM_OK)
        return status;
    l->table.width = msim_runs_width(&app, true);
    l->table.part = MSIM_NONE;
    l->table.observe = true;
    status = msim_runs_add_folder(&l->table, &app, l->data ? &l->general : NULL,
                                  l->pairs[1], l->horizon_s, &n, l->err);
    if (status == MSIM_OK)
        status = msim_runs_repeat(&l->table, &app, l->data ? &l->general : NULL,
                                  l->horizon_s, VISITS, THREADS, l->err);
    if (status == MSIM_OK)
        status = fit(l, &app);
    msim_app_release(&app);
    return status;
}

static enum msim_status add_pair(struct learning *l, char **pair)
{
    struct msim_app app;
    uint32_t n;
    enum msim_status status = msim_app_read(&app, pair[0], l->err);

    if (status != MSIM_OK)
        return status;
    l->table.width = msim_runs_width(NULL, false);
    status = msim_runs_add_folder(&l->table, &app, NULL, pair[1], l->horizon_s,
                                  &n, l->err);
    msim_app_release(&app);
    return status;
}

static enum msim_status learn_all(struct learning *l)
{
    for (int i = 0; i < l->n_pairs; i++) {
        char **pair = l->pairs + 2 * i;

        l->table.part += i > 0 && strcmp(pair[0], pair[-2]) != 0;
        MSIM_TRY(add_pair(l, pair));
    }
    return fit(l, NULL);
}

static int fail(enum msim_status status, const struct msim_error *err)
{
    msim_print(stderr, "mystique-sim: ");
    if (err->file[0])
        msim_print(stderr, "%s: ", err->file);
    msim_print(stderr, "%s\n",
               err->text[0] ? err->text : msim_status_text(status));
    return status == MSIM_EUSAGE      ? 2
           : status == MSIM_ENOMEM    ? 4
           : status == MSIM_EINTERNAL ? 4
           : status == MSIM_EWRITE    ? 4
                                      : 3;
}

static enum msim_status read_option(struct learning *l, const char *text)
{
    if (strncmp(text, "--out=", 6) == 0)
        l->out = text + 6;
    else if (strncmp(text, "--horizon=", 10) == 0)
        l->horizon_s = strtod(text + 10, NULL);
    else if (strncmp(text, "--data=", 7) == 0)
        l->data = text + 7;
    else if (strcmp(text, "--json") == 0)
        l->json = true;
    else
        return msim_fail(l->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "unknown option '%s'", text);
    return MSIM_OK;
}

int main(int argc, char **argv)
{
    struct msim_error err = {0};
    struct learning l = {.horizon_s = 5, .err = &err};
    enum msim_status status = MSIM_OK;
    int at = 1;

    for (; at < argc && strncmp(argv[at], "--", 2) == 0 && argv[at][2]; at++)
        if (status == MSIM_OK)
            status = read_option(&l, argv[at]);
    at += at < argc && strcmp(argv[at], "--") == 0;
    l.pairs = argv + at;
    l.n_pairs = (argc - at) / 2;
    if (status == MSIM_OK &&
        (!l.out || !(l.horizon_s > 0) || l.n_pairs < 1 || (argc - at) % 2))
        status = msim_fail(&err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                           "usage: msim-learn --out=MODEL.json [--horizon=S] "
                           "[--json] APP.json RUNS ...");
    if (status == MSIM_OK)
        status = read_general(&l);
    if (status == MSIM_OK)
        status = l.n_pairs == 1 ? learn_one(&l) : learn_all(&l);
    msim_runs_table_release(&l.table);
    msim_watch_model_release(&l.general);
    return status == MSIM_OK ? 0 : fail(status, &err);
}

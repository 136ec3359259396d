/*
 * cli/calibrate/calibrate_from.c - learning from traces, and what is said.
 */
#include "cli/calibrate/calibrate_from.h"

#include "cli/cmd.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "predict/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void show_trace(const struct msim_learned_trace *t)
{
    if (t->observations == 0) {
        msim_print(stdout, "%12s %10s %8s %8s %8s  %s\n", "-", "-", "-", "-",
                   "-", t->path);
        return;
    }
    msim_print(stdout, "%9.3f ms %10u %+7.1f%% %+7.1f%% %+7.1f%%  %s\n",
               t->us / 1e3, t->observations, 100 * (t->base_us / t->us - 1),
               100 * (t->fitted_us / t->us - 1),
               100 * (t->held_out_us / t->us - 1), t->path);
}

static void show(const struct msim_learned *l, const char *out)
{
    msim_print(
        stdout,
        "time of kernels with shapes, predicted over measured: by %s, as "
        "learned from all traces,\nand as learned without %s\n\n",
        l->base,
        l->by_shapes ? "the shapes that are predicted"
                     : "the trace that is predicted");
    msim_print(stdout, "%12s %10s %8s %8s %8s  %s\n", "measured", "kernels",
               "base", "learned", "held out", "trace");
    for (uint32_t i = 0; i < l->n_traces; i++)
        show_trace(&l->traces[i]);
    msim_print(
        stdout,
        "\nmean error: %.1f %% by %s, %.1f %% learned, %.1f %% held out\n",
        100 * l->error_base, l->base, 100 * l->error_fitted,
        100 * l->error_held_out);
    if (l->clock < 1)
        printf("the machine seems to run at %.0f %% of its usual SM clock\n",
               100 * l->clock);
    if (l->nearest)
        msim_print(stdout,
                   "the traces' GPU is not known: %s is the nearest one\n",
                   l->base);
    msim_print(stdout, "written: %s\n", out);
}

static void put_trace(struct msim_json *j, const struct msim_learned_trace *t)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "path", t->path);
    msim_json_text(j, "gpu", *t->gpu ? t->gpu : NULL);
    msim_json_unsigned(j, "kernels", t->observations);
    msim_json_number(j, "measured_us", t->us);
    msim_json_number(j, "base_us", t->base_us);
    msim_json_number(j, "learned_us", t->fitted_us);
    msim_json_number(j, "held_out_us", t->held_out_us);
    msim_json_close(j);
}

static enum msim_status print_json(const struct msim_learned *l,
                                   const char *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, stdout, "mystique-sim/evidence/1");
    msim_json_text(&j, "platform", out);
    msim_json_text(&j, "base", l->base);
    msim_json_bool(&j, "base_is_nearest", l->nearest);
    msim_json_text(&j, "held_out", l->by_shapes ? "shapes" : "traces");
    msim_json_number(&j, "clock", l->clock);
    msim_json_number(&j, "error_base", l->error_base);
    msim_json_number(&j, "error_learned", l->error_fitted);
    msim_json_number(&j, "error_held_out", l->error_held_out);
    msim_json_open(&j, "traces", '[', true);
    for (uint32_t i = 0; i < l->n_traces; i++)
        put_trace(&j, &l->traces[i]);
    msim_json_close(&j);
    return msim_json_end(&j);
}

static enum msim_status report(const struct msim_learned *l, const char *out,
                               bool json)
{
    if (l->error_held_out > l->error_base)
        msim_message_warning("what was learned does not carry from one of "
                             "these traces to another; for work unlike theirs "
                             "'%s' errs less",
                             l->base);
    if (json)
        return print_json(l, out);
    show(l, out);
    return MSIM_OK;
}

/* FILE without folders and without .json. */
static void name_of(char *name, size_t size, const char *out)
{
    const char *slash = strrchr(out, '/');
    const char *file = slash ? slash + 1 : out;
    size_t n = strlen(file);

    if (n > 5 && strcmp(file + n - 5, ".json") == 0)
        n -= 5;
    snprintf(name, size, "%.*s", (int)n, file);
}

static enum msim_status write_tree(const cJSON *json, const char *out,
                                   struct msim_error *err)
{
    char *text = cJSON_Print(json);
    enum msim_status status;

    if (!text)
        return MSIM_ENOMEM;
    status = msim_file_save(out, text, strlen(text), NULL, err);
    cJSON_free(text);
    return status;
}

static enum msim_status learn(const struct msim_learn_options *o,
                              const char *out, bool json,
                              struct msim_error *err)
{
    struct msim_learned learned;
    cJSON *platform = NULL;
    char name[48];
    enum msim_status status = msim_learn(&learned, o, err);

    name_of(name, sizeof(name), out);
    if (status == MSIM_OK)
        status = msim_learned_json(&platform, &learned, name, err);
    if (status == MSIM_OK)
        status = write_tree(platform, out, err);
    if (status == MSIM_OK)
        status = report(&learned, out, json);
    cJSON_Delete(platform);
    msim_learned_release(&learned);
    return status;
}

int msim_calibrate_from(const char *first, const struct msim_cli_operands *more,
                        const char *base, const char *out, bool json)
{
    struct msim_learn_options o = {.base = base, .load = {.threads = 2}};
    const char **paths = calloc((size_t)more->n + 1, sizeof(*paths));
    struct msim_error err = {0};
    char data[1024];
    enum msim_status status;

    if (!paths)
        return msim_message_error(MSIM_ENOMEM, &err);
    paths[0] = first;
    for (int i = 0; i < more->n; i++)
        paths[i + 1] = more->items[i];
    o.paths = paths;
    o.n_paths = (uint32_t)more->n + 1;
    o.data = data;
    status = msim_datadir_find(data, sizeof(data), &err);
    if (status == MSIM_OK)
        status = learn(&o, out, json, &err);
    free(paths);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

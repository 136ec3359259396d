/*
 * cli/serving/learn_requests.c - `learn --requests`: the constants of an engine
 * from a measured run.
 */
#include "cli/serving/cli_serving_internal.h"

#include "cli/cmd.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "serving/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>

static void print_text(const struct msim_tuned *t)
{
    enum msim_llm_engine e = t->engine;

    printf("%u requests, the last %u held back\n", t->requests, t->tail);
    msim_print(stdout,
               "%s: %.0f us of the host a step (x %.2f), %.2f us a sequence "
               "(x %.2f), decode x %.2f, prefill x %.2f\n",
               msim_llm_engine_text(e), t->law.host_us[e], t->host,
               t->law.sequence_us[e], t->sequence, t->decode, t->prefill);
    printf("off by, in the middle of those held back: TPOT %.1f %% "
           "(before %.1f %%), TTFT %.1f %% (%.1f %%), latency %.1f %% "
           "(%.1f %%)\n",
           100 * t->after.tpot, 100 * t->before.tpot, 100 * t->after.ttft,
           100 * t->before.ttft, 100 * t->after.e2e, 100 * t->before.e2e);
}

static void add_error(struct msim_json *j, const char *key,
                      const struct msim_tune_error *e)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "tpot", e->tpot);
    msim_json_number(j, "ttft", e->ttft);
    msim_json_number(j, "e2e", e->e2e);
    msim_json_close(j);
}

static enum msim_status print_json(const struct msim_tuned *t)
{
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, stdout);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/tuned/1");
    msim_json_text(&j, "engine", msim_llm_engine_text(t->engine));
    msim_json_unsigned(&j, "requests", t->requests);
    msim_json_unsigned(&j, "held_back", t->tail);
    msim_json_number(&j, "host_us", t->law.host_us[t->engine]);
    msim_json_number(&j, "sequence_us", t->law.sequence_us[t->engine]);
    msim_json_open(&j, "factors", '{', false);
    msim_json_number(&j, "host", t->host);
    msim_json_number(&j, "sequence", t->sequence);
    msim_json_number(&j, "decode", t->decode);
    msim_json_number(&j, "prefill", t->prefill);
    msim_json_close(&j);
    add_error(&j, "error_before", &t->before);
    add_error(&j, "error", &t->after);
    return msim_json_end(&j);
}

static enum msim_status learn(struct msim_tuned *t, const char *path,
                              const char *log, const char *out,
                              struct msim_error *err)
{
    char data[1024];
    struct msim_deploy *d = NULL;
    struct msim_app app;
    enum msim_status status;

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    MSIM_TRY(msim_app_read(&app, path, err));
    status = msim_deploy_open(&d, &app, data, NULL, NULL, err);
    if (status == MSIM_OK)
        status = msim_tune(t, &app, d, log, err);
    if (status == MSIM_OK)
        status = msim_tuned_write(t, log, out, err);
    msim_deploy_free(d);
    msim_app_release(&app);
    return status;
}

int msim_learn_requests(const char *app, const char *log, const char *out,
                        bool json)
{
    struct msim_tuned *t = calloc(1, sizeof(*t));
    struct msim_error err = {0};
    enum msim_status status = t ? learn(t, app, log, out, &err) : MSIM_ENOMEM;

    if (status == MSIM_OK && json)
        status = print_json(t);
    else if (status == MSIM_OK)
        print_text(t);
    free(t);
    return status == MSIM_OK ? MSIM_EXIT_OK : msim_message_error(status, &err);
}

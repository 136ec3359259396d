/*
 * api/call_options.c - options of calls: JSON objects with the words of the
 * command line.
 */
#include "api/handles.h"
#include "core/json/fields.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_MAX (1 << 20) /* ranks, nodes */
#define SKEW_MAX  10

static enum msim_status parse(cJSON **json, const char *text,
                              struct msim_error *err)
{
    size_t at = 0;
    enum msim_status status;

    *json = NULL;
    if (!text)
        return MSIM_OK;
    status = msim_json_parse(json, text, strlen(text), &at);
    if (status == MSIM_ESYNTAX)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "options are not JSON from byte %zu on, want an "
                         "object: {\"platform\": \"h100\"}",
                         at);
    if (status == MSIM_OK && !cJSON_IsObject(*json))
        status = msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                           "options are JSON and no object, want one: "
                           "{\"platform\": \"h100\"}");
    return status;
}

/* An error about a member is one of usage: there is no file. */
static enum msim_status verdict(const struct msim_fields *f,
                                struct msim_error *err)
{
    if (f->status != MSIM_EFORMAT)
        return f->status;
    err->status = MSIM_EUSAGE;
    return MSIM_EUSAGE;
}

/* A whole number from `least` to `most`. */
static uint32_t read_count(struct msim_fields *f, const char *key,
                           uint32_t least, uint32_t most, uint32_t missing)
{
    double n = msim_field_between(f, key, least, most, missing);

    if (n != (uint32_t)n)
        msim_field_refuse(f, key, "a whole number");
    return (uint32_t)n;
}

/* ---- of loading -----------------------------------------------------------
 */

static enum msim_status keep(char **out, const char *text)
{
    *out = text ? strdup(text) : NULL;
    return text && !*out ? MSIM_ENOMEM : MSIM_OK;
}

static enum msim_status keep_patterns(struct mystique_job *job,
                                      struct msim_fields *f)
{
    struct msim_load_options *load = &job->settings.load;
    const cJSON *item, *list = msim_field_array(f, "communication");

    cJSON_ArrayForEach(item, list)
    {
        char **own = &job->communication[load->n_communication];

        if (load->n_communication == MSIM_OWN_COMMS_MAX ||
            !cJSON_IsString(item) || !*item->valuestring) {
            msim_field_refuse(f, "communication",
                              "an array of names or patterns of kernels");
            return MSIM_OK;
        }
        MSIM_TRY(keep(own, item->valuestring));
        load->communication[load->n_communication++] = *own;
    }
    return MSIM_OK;
}

static enum msim_status read_load(struct mystique_job *job,
                                  struct msim_fields *f)
{
    static const char *const NAMES[] = {"salvage",      "communication", "ops",
                                        "source_trace", "threads",       NULL};
    struct msim_predict_settings *s = &job->settings;

    msim_fields_only(f, NAMES);
    s->load.salvage = msim_field_bool(f, "salvage", false);
    s->load.threads = read_count(f, "threads", 1, 2, 2);
    MSIM_TRY(keep_patterns(job, f));
    MSIM_TRY(keep(&job->ops, msim_field_text(f, "ops")));
    MSIM_TRY(keep(&job->source_trace, msim_field_text(f, "source_trace")));
    s->ops = job->ops;
    s->source_trace = job->source_trace;
    return MSIM_OK;
}

enum msim_status msim_load_options_read(struct mystique_job *job,
                                        const char *text,
                                        struct msim_error *err)
{
    struct msim_fields f;
    enum msim_status status;
    cJSON *json;

    status = parse(&json, text, err);
    f = msim_fields_of(json, NULL, err);
    if (status == MSIM_OK)
        status = read_load(job, &f);
    if (status == MSIM_OK)
        status = verdict(&f, err);
    cJSON_Delete(json);
    return status;
}

/* ---- of a prediction ------------------------------------------------------
 */

static enum msim_status read_scales(struct msim_call_options *o,
                                    struct msim_fields *f,
                                    struct msim_error *err)
{
    const cJSON *item, *list = msim_field_array(f, "scale");

    o->scales =
        calloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*o->scales));
    if (!o->scales)
        return MSIM_ENOMEM;
    o->settings.scales = o->scales;
    cJSON_ArrayForEach(item, list)
    {
        if (!cJSON_IsString(item)) {
            msim_field_refuse(f, "scale", "an array of \"SELECT=FACTOR\"");
            return MSIM_OK;
        }
        MSIM_TRY(msim_scale_parse(&o->scales[o->settings.n_scales],
                                  item->valuestring, err));
        o->settings.n_scales++;
    }
    return MSIM_OK;
}

static void read_target(struct msim_predict_settings *s, struct msim_fields *f)
{
    static const char *const COSTS[] = {[MSIM_COSTS_AUTO] = "auto",
                                        [MSIM_COSTS_MEASURED] = "measured",
                                        [MSIM_COSTS_MODEL] = "model",
                                        [MSIM_COSTS_SCALED] = "scaled",
                                        NULL};

    s->platform = msim_field_text(f, "platform");
    s->source_platform = msim_field_text(f, "source_platform");
    s->host = msim_field_text(f, "host");
    s->network = msim_field_text(f, "network");
    s->costs = (enum msim_cost_mode)msim_field_word(f, "costs", COSTS,
                                                    MSIM_COSTS_AUTO);
    if (s->platform && strchr(s->platform, ','))
        msim_field_refuse(f, "platform", "one name or file a call");
    s->ranks = read_count(f, "ranks", 0, COUNT_MAX, 0);
    s->nodes = read_count(f, "nodes", 0, COUNT_MAX, 0);
    s->index_skew = msim_field_between(f, "index_skew", 0, SKEW_MAX, 0);
}

static void read_run(struct msim_call_options *o, struct msim_fields *f)
{
    static const char *const PEERS[] = {"follow", "fixed", NULL};
    struct msim_predict_settings *s = &o->settings;

    s->peers = msim_field_word(f, "peers", PEERS, 0) ? MSIM_PEERS_FIXED
                                                     : MSIM_PEERS_FOLLOW;
    s->iteration = msim_field_int(f, "iteration", 0, MSIM_ITERATION_ALL);
    s->usage = msim_field_bool(f, "usage", false);
    s->strict = msim_field_bool(f, "strict", false);
    o->kernels = msim_field_bool(f, "kernels", false);
}

/* What a call would not look at is refused: it would be lost in silence. */
static const char *const *names_of(enum msim_api_call call)
{
    /* a prediction takes all but the first of these */
    static const char *const WHATIF[] = {
        "kernels",    "platform", "source_platform", "host",  "network",
        "costs",      "clock",    "power_cap",       "scale", "ranks",
        "nodes",      "peers",    "iteration",       "usage", "strict",
        "index_skew", NULL};
    static const char *const OP[] = {"platform", "clock", "power_cap", NULL};

    return call == MSIM_API_OP       ? OP
           : call == MSIM_API_WHATIF ? WHATIF
                                     : WHATIF + 1;
}

static enum msim_status read_call(struct msim_call_options *o,
                                  enum msim_api_call call,
                                  struct msim_fields *f, struct msim_error *err)
{
    const char *clock = msim_field_text(f, "clock");
    const char *watts = msim_field_text(f, "power_cap");

    msim_fields_only(f, names_of(call));
    read_target(&o->settings, f);
    read_run(o, f);
    if (clock)
        MSIM_TRY(msim_clock_parse(&o->settings.clock, clock, err));
    if (watts)
        MSIM_TRY(msim_power_cap_parse(&o->settings.clock, watts, err));
    return read_scales(o, f, err);
}

enum msim_status msim_call_options_read(struct msim_call_options *o,
                                        enum msim_api_call call,
                                        const char *text,
                                        struct msim_error *err)
{
    struct msim_fields f;
    enum msim_status status = parse(&o->json, text, err);

    f = msim_fields_of(o->json, NULL, err);
    if (status == MSIM_OK)
        status = read_call(o, call, &f, err);
    return status == MSIM_OK ? verdict(&f, err) : status;
}

void msim_call_options_release(struct msim_call_options *o)
{
    cJSON_Delete(o->json);
    free(o->scales);
    *o = (struct msim_call_options){0};
}

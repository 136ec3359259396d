/*
 * serving/plan/serving_plan_data.c - a plan of serving as CSV and JSON.
 */
#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/base/units.h"
#include "serving/plan/serving_choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "tp_90", as a member: "ttft_p90_ms". */
static void promise_member(const struct msim_serving_choice *c, uint32_t i,
                           char *text, size_t size)
{
    const struct msim_promise *p = &c->app.promises[i];

    snprintf(text, size, "%s%s%s_p%g_ms",
             p->cls == MSIM_CLASS_ALL ? "" : c->app.classes[p->cls].name,
             p->cls == MSIM_CLASS_ALL ? "" : "_",
             msim_promise_metric_text(p->metric), p->percentile);
}

/* A value of the spec as a field; "" where it is not stated. */
static char *value_text(const struct msim_serving_choice *c, uint32_t config,
                        int d)
{
    const cJSON *v = msim_serving_spec_value(c->spec, config,
                                             (enum msim_serving_dimension)d);
    const char *text = cJSON_GetStringValue(v);

    return text ? strdup(text) : v ? cJSON_PrintUnformatted(v) : NULL;
}

static double memory_gib(const struct msim_served_fleet *f)
{
    return (f->memory.weights + f->memory.workspace) / MSIM_GIB;
}

/* ---- CSV ----------------------------------------------------------------- */

static void put_head(const struct msim_serving_choice *c, FILE *out)
{
    char text[300], column[320];

    fputs("platform,gpus,replicas,gpus_per_replica", out);
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++)
        msim_csv_add(
            out, msim_serving_dimension_text((enum msim_serving_dimension)d));
    fputs(",predicted_memory_gib,fits,kv_cache_tokens,load,"
          "replica_capacity_rps",
          out);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        static const char *const OF[] = {"", "_low", "_high"};

        promise_member(c, i, text, sizeof(text));
        for (int k = 0; k < 3; k++) {
            snprintf(column, sizeof(column), "%s%s", text, OF[k]);
            msim_csv_add(out, column);
        }
    }
    fputs(",of_limit,of_limit_low,of_limit_high,sure,within_limits,"
          "cost_per_hour,cost_per_1000_requests,cost_per_million_output_tokens,"
          "power_kw,frontier\n",
          out);
}

static void put_figure(const struct msim_fleet_figure *f, FILE *out)
{
    msim_csv_add_number(out, f->middle);
    msim_csv_add_number(out, f->low);
    msim_csv_add_number(out, f->high);
}

static void put_row(const struct msim_serving_choice *c,
                    const struct msim_fleet_point *p, FILE *out)
{
    const struct msim_served_fleet *f = &c->fleets[p->config];
    uint32_t platform = msim_serving_spec_platform(c->spec, p->config);

    msim_csv_write(out, c->spec->platforms[platform].name);
    msim_csv_add_number(out, p->gpus);
    msim_csv_add_number(out, (double)p->replicas);
    msim_csv_add_number(out, f->gpus);
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++) {
        char *text = value_text(c, p->config, d);

        msim_csv_add(out, text);
        free(text);
    }
    msim_csv_add_number(out, memory_gib(f));
    msim_csv_add(out, "1");
    msim_csv_add_number(out, (double)f->memory.kv_tokens);
    msim_csv_add_number(out, p->load);
    msim_csv_add_number(out, f->capacity.middle);
    for (uint32_t i = 0; i < c->app.n_promises; i++)
        put_figure(&p->promised[i], out);
    put_figure(&p->of_limit, out);
    msim_csv_add(out, p->of_limit.high <= 1 ? "1" : "0");
    msim_csv_add(out, p->within_limits ? "1" : "0");
    msim_csv_add_number(out, p->cost_per_hour);
    msim_csv_add_number(out, p->cost_per_1000);
    msim_csv_add_number(out, p->cost_per_million_tokens);
    msim_csv_add_number(out, p->power_kw);
    msim_csv_add(out, p->frontier ? "1" : "0");
    fputs("\n", out);
}

void msim_serving_plan_csv(const struct msim_serving_choice *c, bool frontier,
                           FILE *out)
{
    const struct msim_fleet_point *p;
    uint32_t at = 0;

    put_head(c, out);
    while ((p = msim_serving_choice_next(c, &at)))
        if (!frontier || p->frontier)
            put_row(c, p, out);
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_figure(struct msim_json *j, const char *key,
                        const struct msim_fleet_figure *f)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "value", f->middle);
    msim_json_number(j, "low", f->low);
    msim_json_number(j, "high", f->high);
    msim_json_close(j);
}

static void json_config(struct msim_json *j,
                        const struct msim_serving_choice *c, uint32_t config)
{
    uint32_t platform = msim_serving_spec_platform(c->spec, config);

    msim_json_text(j, "platform", c->spec->platforms[platform].name);
    for (int d = 0; d < MSIM_SERVING_DIMENSIONS; d++) {
        const cJSON *v = msim_serving_spec_value(
            c->spec, config, (enum msim_serving_dimension)d);
        const char *name =
            msim_serving_dimension_text((enum msim_serving_dimension)d);

        if (cJSON_IsString(v))
            msim_json_text(j, name, v->valuestring);
        else if (cJSON_IsBool(v))
            msim_json_bool(j, name, cJSON_IsTrue(v));
        else if (cJSON_IsNumber(v))
            msim_json_number(j, name, v->valuedouble);
    }
}

static void json_point(struct msim_json *j, const char *key,
                       const struct msim_serving_choice *c,
                       const struct msim_fleet_point *p)
{
    char text[300];

    if (!p) {
        msim_json_text(j, key, NULL);
        return;
    }
    msim_json_open(j, key, '{', true);
    json_config(j, c, p->config);
    msim_json_integer(j, "replicas", p->replicas);
    msim_json_number(j, "gpus", p->gpus);
    msim_json_number(j, "memory_gib", memory_gib(&c->fleets[p->config]));
    msim_json_integer(j, "kv_cache_tokens",
                      c->fleets[p->config].memory.kv_tokens);
    msim_json_number(j, "load", p->load);
    json_figure(j, "replica_capacity_rps", &c->fleets[p->config].capacity);
    json_figure(j, "replica_capacity_tokens_per_s",
                &c->fleets[p->config].tokens);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        promise_member(c, i, text, sizeof(text));
        json_figure(j, text, &p->promised[i]);
    }
    json_figure(j, "of_limit", &p->of_limit);
    msim_json_bool(j, "sure", p->of_limit.high <= 1);
    msim_json_number(j, "cost_per_hour", p->cost_per_hour);
    msim_json_number(j, "cost_per_1000_requests", p->cost_per_1000);
    msim_json_number(j, "cost_per_million_output_tokens",
                     p->cost_per_million_tokens);
    msim_json_number(j, "power_kw", p->power_kw);
    msim_json_close(j);
}

static void json_promises(struct msim_json *j,
                          const struct msim_serving_choice *c)
{
    msim_json_open(j, "slo", '[', true);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        const struct msim_promise *p = &c->app.promises[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "class",
                       p->cls == MSIM_CLASS_ALL ? "all"
                                                : c->app.classes[p->cls].name);
        msim_json_text(j, "metric", msim_promise_metric_text(p->metric));
        msim_json_number(j, "percentile", p->percentile);
        msim_json_number(j, "limit_ms", p->limit_ms);
        msim_json_close(j);
    }
    msim_json_close(j);
}

/* What no number of replicas helps, with the reason. */
static void json_left_out(struct msim_json *j,
                          const struct msim_serving_choice *c)
{
    msim_json_open(j, "left_out", '[', true);
    for (uint32_t i = 0; i < c->n; i++) {
        if (!*c->fleets[i].why)
            continue;
        msim_json_open(j, NULL, '{', false);
        json_config(j, c, i);
        msim_json_text(j, "reason", c->fleets[i].why);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void json_frontier(struct msim_json *j,
                          const struct msim_serving_choice *c)
{
    const struct msim_fleet_point *p;
    uint32_t at = 0;

    msim_json_open(j, "frontier", '[', true);
    while ((p = msim_serving_choice_next(c, &at)))
        if (p->frontier)
            json_point(j, NULL, c, p);
    msim_json_close(j);
}

enum msim_status msim_serving_plan_json(const struct msim_serving_choice *c,
                                        FILE *out)
{
    struct msim_json j;
    char text[600];

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "schema", "mystique-sim/plan/serving/1");
    msim_json_text(&j, "workload", "serving");
    msim_json_text(&j, "model", c->spec->model);
    msim_json_number(&j, "rate", c->spec->rate);
    msim_json_text(&j, "currency", c->spec->currency);
    json_promises(&j, c);
    msim_json_unsigned(&j, "configurations", c->n);
    json_point(&j, "recommended", c, c->best);
    msim_json_bool(&j, "sure", c->sure);
    json_point(&j, "cheaper", c, c->cheaper);
    if (!c->best) {
        msim_serving_none_text(c, text, sizeof(text));
        msim_json_text(&j, "why_none", text);
    }
    json_frontier(&j, c);
    json_left_out(&j, c);
    return msim_json_end(&j);
}

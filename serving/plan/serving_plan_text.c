/*
 * serving/plan/serving_plan_text.c - a plan of serving as people read it.
 */
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/record/record.h"
#include "core/report/write/report.h"
#include "serving/plan/serving_choice.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- words --------------------------------------------------------------- */

void msim_serving_config_text(const struct msim_serving_spec *s,
                              uint32_t config, char *text, size_t size)
{
    *text = '\0';
    msim_text_append(text, size, "%s",
                     s->platforms[msim_serving_spec_platform(s, config)].name);
    for (int i = 0; i < MSIM_SERVING_DIMENSIONS; i++) {
        enum msim_serving_dimension d = (enum msim_serving_dimension)i;
        const cJSON *v = msim_serving_spec_value(s, config, d);
        const char *name = msim_serving_dimension_text(d);

        if (cJSON_IsString(v))
            msim_text_append(text, size, ", %s%s%s",
                             d == MSIM_SERVING_KV ? name : "",
                             d == MSIM_SERVING_KV ? " " : "", v->valuestring);
        else if (cJSON_IsNumber(v))
            msim_text_append(text, size, ", %s %g", name, v->valuedouble);
        else if (cJSON_IsBool(v))
            msim_text_append(text, size, ", %s %s", name,
                             cJSON_IsTrue(v) ? "true" : "false");
    }
}

void msim_serving_promise_text(const struct msim_serving_choice *c,
                               uint32_t promise, char *text, size_t size)
{
    const struct msim_promise *p = &c->app.promises[promise];

    *text = '\0';
    if (p->metric == MSIM_PROMISE_E2E)
        msim_text_append(text, size, "e2e");
    else
        for (const char *s = msim_promise_metric_text(p->metric); *s; s++)
            msim_text_append(text, size, "%c", toupper((unsigned char)*s));
    msim_text_append(text, size, " p%g", p->percentile);
    if (p->cls != MSIM_CLASS_ALL && c->app.n_classes > 1)
        msim_text_append(text, size, " of %s", c->app.classes[p->cls].name);
}

void msim_serving_question_text(const struct msim_serving_choice *c, char *text,
                                size_t size)
{
    char what[200];

    *text = '\0';
    msim_text_append(text, size, "%.6g requests/s to %s", c->spec->rate,
                     c->spec->model);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        msim_serving_promise_text(c, i, what, sizeof(what));
        msim_text_append(text, size, "%s %s within %.6g ms", i ? "," : ":",
                         what, c->app.promises[i].limit_ms);
    }
}

void msim_serving_none_text(const struct msim_serving_choice *c, char *text,
                            size_t size)
{
    const struct msim_served_fleet *near = c->nearest;
    uint32_t at = 0, config = (uint32_t)(near ? near - c->fleets : 0);
    char name[300];

    *text = '\0';
    if (msim_serving_choice_next(c, &at)) {
        msim_text_append(
            text, size,
            "what keeps the promises does not keep the limits of the spec");
        return;
    }
    msim_serving_config_text(c->spec, config, name, sizeof(name));
    msim_text_append(
        text, size,
        near ? "no number of replicas keeps the promises; the nearest is %s: "
               "%s"
             : "nothing can be served: %s: %s",
        name, c->fleets[config].why);
}

/* "12.3 USD", "-" */
static void money(const struct msim_serving_choice *c, double v, char *text,
                  size_t size)
{
    *text = '\0';
    if (isnan(v))
        msim_text_append(text, size, "-");
    else
        msim_text_append(text, size, v < 10 ? "%.3g %s" : "%.1f %s", v,
                         c->spec->currency);
}

/* ---- what to take -------------------------------------------------------- */

MSIM_PRINTF(3, 4)
static void put_line(FILE *out, const char *label, const char *fmt, ...)
{
    char text[400];
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, sizeof(text), fmt, args);
    va_end(args);
    msim_print(out, "  %-12s %s\n", label, text);
}

static void put_promises(const struct msim_serving_choice *c,
                         const struct msim_fleet_point *p, FILE *out)
{
    char what[200], cells[4][MSIM_CELL];

    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        const struct msim_fleet_figure *f = &p->promised[i];

        msim_serving_promise_text(c, i, what, sizeof(what));
        msim_format_time(cells[0], f->middle * 1e3);
        msim_format_time(cells[1], f->low * 1e3);
        msim_format_time(cells[2], f->high * 1e3);
        msim_format_time(cells[3], c->app.promises[i].limit_ms * 1e3);
        put_line(out, what, "%10s  90 %%: %s to %s, promised %s", cells[0],
                 cells[1], cells[2], cells[3]);
    }
}

static void put_replica(const struct msim_serving_choice *c,
                        const struct msim_fleet_point *p, FILE *out)
{
    const struct msim_served_fleet *f = &c->fleets[p->config];

    put_line(out, "capacity",
             "%10.4g  requests/s each (90 %%: %.4g to %.4g), %.4g output "
             "tokens/s; %.0f %% of it used",
             f->capacity.middle, f->capacity.low, f->capacity.high,
             f->tokens.middle, 100 * p->load);
    put_line(out, "memory",
             "%10.1f  GiB a GPU for weights and workspace; KV cache of %lld "
             "tokens a replica",
             (f->memory.weights + f->memory.workspace) / MSIM_GIB,
             (long long)f->memory.kv_tokens);
}

static void put_cost(const struct msim_serving_choice *c,
                     const struct msim_fleet_point *p, FILE *out)
{
    char hour[64], thousand[64], tokens[64];

    if (!isnan(p->cost_per_hour)) {
        money(c, p->cost_per_hour, hour, sizeof(hour));
        money(c, p->cost_per_1000, thousand, sizeof(thousand));
        money(c, p->cost_per_million_tokens, tokens, sizeof(tokens));
        put_line(out, "cost",
                 "%10s  an hour; %s for 1,000 requests, %s for a million "
                 "output tokens",
                 hour, thousand, tokens);
    }
    if (!isnan(p->power_kw))
        put_line(out, "power", "%10.4g  kW", p->power_kw);
}

/* "take 3 x h100, tp 2: 6 GPUs", and what there is to say of it. */
static void put_point(const struct msim_serving_choice *c, const char *what,
                      const struct msim_fleet_point *p, const char *more,
                      FILE *out)
{
    char name[300];

    msim_serving_config_text(c->spec, p->config, name, sizeof(name));
    msim_print(out, "%s %lld x %s: %.0f GPU%s%s\n", what,
               (long long)p->replicas, name, p->gpus, p->gpus == 1 ? "" : "s",
               more);
}

static void put_best(const struct msim_serving_choice *c, FILE *out)
{
    char cost[64], more[256] = "";

    put_point(c, "take", c->best,
              c->sure ? ""
                      : " (not sure: it keeps the promises as predicted, and "
                        "nothing does at the end of the interval)",
              out);
    put_promises(c, c->best, out);
    put_replica(c, c->best, out);
    put_cost(c, c->best, out);
    if (!c->cheaper)
        return;
    money(c, c->cheaper->cost_per_hour, cost, sizeof(cost));
    msim_text_append(more, sizeof(more),
                     ", %s an hour. The promises are kept as predicted, and "
                     "not where steps take as long as the end of their 90 %% "
                     "interval says",
                     cost);
    put_point(c, "cheaper?", c->cheaper, more, out);
}

/* ---- tables -------------------------------------------------------------- */

static bool is_sure(const struct msim_fleet_point *p)
{
    return p->of_limit.high <= 1;
}

struct row {
    char name[300], cost[64], of_limit[64];
    int64_t replicas;
    double gpus, used;
};

static const struct msim_column COLUMNS[] = {
    MSIM_COLUMN(struct row, name, NULL, .heading = "", .width = -36,
                .type = MSIM_COLUMN_CELL),
    MSIM_COLUMN(struct row, replicas, NULL, .heading = "replicas", .gap = 1,
                .width = 8, .type = MSIM_COLUMN_COUNT),
    MSIM_COLUMN(struct row, gpus, NULL, .heading = "GPUs", .gap = 1,
                .width = 6),
    MSIM_COLUMN(struct row, cost, NULL, .heading = "cost an hour", .gap = 1,
                .width = 14, .type = MSIM_COLUMN_CELL),
    MSIM_COLUMN(struct row, used, NULL, .heading = "% used", .gap = 1,
                .width = 7, .unit = 100),
    MSIM_COLUMN(struct row, of_limit, NULL, .heading = "of limit, 90 %",
                .gap = 1, .width = 14, .type = MSIM_COLUMN_CELL)};

static void put_row(const struct msim_serving_choice *c,
                    const struct msim_fleet_point *p, FILE *out)
{
    struct row r = {
        .replicas = p->replicas, .gpus = p->gpus, .used = p->of_limit.middle};

    msim_serving_config_text(c->spec, p->config, r.name, sizeof(r.name));
    money(c, p->cost_per_hour, r.cost, sizeof(r.cost));
    snprintf(r.of_limit, sizeof(r.of_limit), "%6.0f to %4.0f  %s",
             100 * p->of_limit.low, 100 * p->of_limit.high,
             is_sure(p) ? "sure" : "");
    msim_record_text(out, MSIM_COLUMNS(COLUMNS), &r);
}

static void put_head(const char *what, FILE *out)
{
    struct msim_column columns[sizeof(COLUMNS) / sizeof(*COLUMNS)];

    memcpy(columns, COLUMNS, sizeof(columns));
    columns[0].heading = what;
    putc('\n', out);
    msim_record_text_head(out, MSIM_COLUMNS(columns));
}

/* As it is recommended: within the limits, and of that what is sure. */
static int standing(const struct msim_fleet_point *p)
{
    return 2 * p->within_limits + is_sure(p);
}

/* The cheapest of each GPU that is sure, else as predicted. */
static void put_platforms(const struct msim_serving_choice *c, FILE *out)
{
    put_head("the best of each GPU", out);
    for (uint32_t g = 0; g < c->spec->n_platforms; g++) {
        const struct msim_fleet_point *best = NULL;

        for (uint32_t i = 0; i < c->n; i++) {
            const struct msim_fleet_point *of = c->fleets[i].points;
            const struct msim_fleet_point *p = &of[MSIM_FLEET_SURE];

            if (msim_serving_spec_platform(c->spec, i) != g)
                continue;
            if (p->replicas == 0)
                p = &of[MSIM_FLEET_MIDDLE];
            if (p->replicas > 0 &&
                (!best || standing(p) > standing(best) ||
                 (standing(p) == standing(best) &&
                  msim_serving_choice_is_better(c, p, best))))
                best = p;
        }
        if (best)
            put_row(c, best, out);
        else
            msim_print(out, "%-36s        -\n", c->spec->platforms[g].name);
    }
}

static void put_frontier(const struct msim_serving_choice *c, FILE *out)
{
    const struct msim_fleet_point *p;
    uint32_t at = 0;

    put_head("the frontier", out);
    while ((p = msim_serving_choice_next(c, &at)))
        if (p->frontier)
            put_row(c, p, out);
}

static void put_left_out(const struct msim_serving_choice *c, FILE *out)
{
    char name[300];
    bool first = true;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!*c->fleets[i].why)
            continue;
        msim_serving_config_text(c->spec, i, name, sizeof(name));
        if (first && c->best)
            putc('\n', out);
        msim_print(out, "left out: %s: %s\n", name, c->fleets[i].why);
        first = false;
    }
}

void msim_serving_plan_text(const struct msim_serving_choice *c, FILE *out)
{
    char text[800];

    msim_serving_question_text(c, text, sizeof(text));
    msim_print(out, "%s\n\n", text);
    if (c->best) {
        put_best(c, out);
        put_platforms(c, out);
        put_frontier(c, out);
    }
    put_left_out(c, out);
}

/* serving/size/size_plan.c - plans of replicas, written. */
#include "serving/size/size_plan.h"

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/base/print.h"
#include "core/record/record.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- what it cannot see -------------------------------------------------- */

/* How the plan was found, and what that leaves out. */
static const char *method_why(enum msim_sizing_method m)
{
    switch (m) {
    case MSIM_SIZING_UNION:
        return "Percentiles of queues are added, as if all were long at once, "
               "which is the worst that they can have in common; services are "
               "distributions, for each class and size of request. More "
               "replicas are asked for than queues that are seldom long "
               "together would need. What is predicted is of simulated "
               "requests.";
    case MSIM_SIZING_CONVOLUTION:
        return "Distributions of stages are added in series and joined where "
               "calls run at once, for each class and size of request. Waits "
               "of different stages are taken as independent, so that the "
               "plan was tried out by simulation, and made again with less "
               "room where more requests were late there; what is predicted "
               "is of the simulation.";
    case MSIM_SIZING_SEARCH:
        break;
    }
    return "Requests were simulated through all stages with the services that "
           "were learnt; what visits of a stage have in common with those of "
           "another, except class and size, is not seen.";
}

static bool sizes_used(const struct msim_stage_demand *l)
{
    for (uint32_t s = 0; s < l->app->n_stages; s++)
        if (l->app->stages[s].size_power != 0)
            return true;
    return false;
}

static bool has_edges(const struct msim_app *app, bool retry)
{
    for (uint32_t i = 0; i < app->n_edges; i++)
        if (retry ? app->edges[i].timeout_ms > 0 : app->edges[i].again > 0)
            return true;
    return false;
}

static bool has_rpc(const struct msim_app *app)
{
    for (uint32_t i = 0; i < app->n_edges; i++)
        if (app->stages[app->edges[i].from].call == MSIM_CALL_RPC)
            return true;
    return false;
}

/* All of it, into `text`. */
static void say_why(const struct msim_size_plan *p, char *text, size_t size)
{
    const struct msim_stage_demand *l = p->load;
    const struct msim_explored *x = p->explored;
    size_t at = 0;

#define SAY(when, what)                                                        \
    do {                                                                       \
        if ((when) && at < size)                                               \
            at += (size_t)snprintf(text + at, size - at, "%s%s",               \
                                   at ? " " : "", what);                       \
    } while (0)
    SAY(true, method_why(p->sizing->method));
    SAY(p->sizing->searched, "No sum of distributions kept the promises in "
                             "that simulation: this plan was found by search.");
    SAY(has_rpc(l->app), "Workers that call by rpc are held until their calls "
                         "have answered; that is in their queues.");
    SAY(sizes_used(l), "Services go with the size of a request in all its "
                       "stages alike.");
    SAY(x->no_sizes, "Some answers do not tell the size of requests: if what "
                     "is slow in one stage is slow in the next, more requests "
                     "are late than predicted.");
    SAY(x->no_waits, "Some answers do not tell how long visits waited: their "
                     "latency at a low load is taken for the service.");
    SAY(x->no_batches, "Some answers do not tell how many were served "
                       "together: those batches are taken to last as long as "
                       "one visit.");
    SAY(has_edges(l->app, true) && p->sizing->method == MSIM_SIZING_UNION,
        "Calls that are made again are counted as load, not as a shorter "
        "latency.");
#undef SAY
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_stages(struct msim_json *j, const struct msim_size_plan *p)
{
    const struct msim_app *app = p->load->app;

    msim_json_open(j, "stages", '{', true);
    for (uint32_t s = 0; s < app->n_stages; s++) {
        const struct msim_sizing_stage *st = &p->sizing->stages[s];

        msim_json_open(j, app->stages[s].name, '{', false);
        msim_json_integer(j, "replicas", st->replicas);
        msim_json_text(j, "platform", app->stages[s].platform);
        msim_json_number(j, "load_per_replica",
                         st->visits_per_s / (double)st->replicas);
        msim_json_number(j, "percentile", st->percentile);
        msim_json_number(j, "latency_ms", st->latency_ms);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void put_predicted(struct msim_json *j, const struct msim_size_plan *p)
{
    const struct msim_app *app = p->load->app;

    msim_json_open(j, "predicted", '{', true);
    msim_json_open(j, "classes", '{', true);
    for (uint32_t k = 0; k < app->n_classes; k++) {
        const struct msim_sizing_class *c = &p->sizing->classes[k];

        msim_json_open(j, app->classes[k].name, '{', false);
        msim_json_number(j, "within", c->within);
        msim_json_number(j, "low", c->low);
        msim_json_number(j, "high", c->high);
        msim_json_number(j, "p99_ms", c->p99_ms);
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_close(j);
}

enum msim_status
msim_size_plan_json(const struct msim_size_plan *p,
                    enum msim_status (*sink)(void *, const char *, size_t),
                    void *ctx)
{
    char why[4096];
    struct msim_json j;

    say_why(p, why, sizeof(why));
    msim_json_document(&j, sink, ctx, "mystique-sim/serving-plan/1");
    msim_json_text(&j, "app", p->load->app->name);
    msim_json_number(&j, "rate", p->load->rate);
    put_stages(&j, p);
    put_predicted(&j, p);
    msim_json_integer(&j, "replicas", p->sizing->total);
    msim_json_number(&j, "cost_per_hour", p->sizing->cost_per_hour);
    msim_json_text(&j, "method", msim_sizing_method_text(p->sizing->method));
    msim_json_open(&j, "explored", '{', false);
    msim_json_number(&j, "replica_seconds", p->explored->replica_seconds);
    msim_json_unsigned(&j, "runs", p->explored->runs);
    msim_json_close(&j);
    msim_json_text(&j, "why", why);
    return msim_json_end(&j);
}

enum msim_status msim_size_plan_save(const struct msim_size_plan *p,
                                     const char *path, struct msim_error *err)
{
    struct msim_file *f;

    MSIM_TRY(msim_file_open(&f, path, NULL, err));
    return msim_file_close(f, msim_size_plan_json(p, msim_file_write, f), err);
}

/* ---- text ---------------------------------------------------------------- */

struct stage {
    const char *name;
    int64_t replicas;
    double visits, each, p99;
};

static const struct msim_column STAGES[] = {
    MSIM_COLUMN(struct stage, name, NULL, .heading = "stage",
                .type = MSIM_COLUMN_TEXT, .width = -20),
    MSIM_COLUMN(struct stage, replicas, NULL, .heading = "replicas",
                .type = MSIM_COLUMN_COUNT, .gap = 1, .width = 8),
    MSIM_COLUMN(struct stage, visits, NULL, .heading = "visits/s", .gap = 1,
                .width = 12, .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct stage, each, NULL, .heading = "a replica", .gap = 1,
                .width = 10, .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct stage, p99, NULL, .heading = "p99 ms", .gap = 1,
                .width = 12, .style = 'g', .decimals = 4)};

static void put_table(const struct msim_size_plan *p, FILE *out)
{
    const struct msim_app *app = p->load->app;

    msim_record_text_head(out, MSIM_COLUMNS(STAGES));
    for (uint32_t s = 0; s < app->n_stages; s++) {
        const struct msim_sizing_stage *st = &p->sizing->stages[s];

        msim_record_text(
            out, MSIM_COLUMNS(STAGES),
            &(struct stage){app->stages[s].name, st->replicas, st->visits_per_s,
                            st->visits_per_s / (double)st->replicas,
                            st->latency_ms});
    }
}

void msim_size_plan_text(const struct msim_size_plan *p, FILE *out)
{
    const struct msim_app *app = p->load->app;
    char why[4096], cost[128] = "";

    if (isfinite(p->sizing->cost_per_hour))
        snprintf(cost, sizeof(cost), ", %.4g %s an hour",
                 p->sizing->cost_per_hour, app->currency ? app->currency : "");
    msim_print(out,
               "%s at %g requests/s: %" PRId64 " replicas%s (method %s)\n\n",
               app->name, p->load->rate, p->sizing->total, cost,
               msim_sizing_method_text(p->sizing->method));
    put_table(p, out);
    msim_print(out, "\n");
    for (uint32_t k = 0; k < app->n_classes; k++) {
        const struct msim_sizing_class *c = &p->sizing->classes[k];

        if (isnan(c->within))
            continue;
        msim_print(out,
                   "class %s: %.2f %% within the limit (%.2f to %.2f), p99 "
                   "%.4g ms\n",
                   app->classes[k].name, 100 * c->within, 100 * c->low,
                   100 * c->high, c->p99_ms);
    }
    if (p->explored->runs)
        msim_print(out,
                   "explored: %" PRIu32 " stages in %" PRIu32
                   " runs, %.4g replica-seconds\n",
                   p->explored->stages, p->explored->runs,
                   p->explored->replica_seconds);
    say_why(p, why, sizeof(why));
    msim_print_title(out, "%s", why);
}

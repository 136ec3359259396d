/*
 * serving/outcome/outcome_text.c - an outcome as text: the verdict, the
 * classes, the stages.
 */
#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>
#include <string.h>

/* "12.3 ms", and a star where it is of a run without a steady state. */
static const char *time_cell(char cell[MSIM_CELL + 1], double ms, bool star)
{
    size_t n = 0;

    msim_format_time(cell, ms * 1e3);
    while (cell[n])
        n++;
    if (star && n < MSIM_CELL && !isnan(ms)) {
        cell[n] = '*';
        cell[n + 1] = '\0';
    }
    return cell;
}

/* ---- the verdict --------------------------------------------------------- */

struct text {
    char of[1024];
};

#define SAY(t, ...) msim_text_append((t)->of, sizeof((t)->of), __VA_ARGS__)

/* Clients send as fast as they are answered: the rate is that of what ends. */
static void say_clients(struct text *t, const struct msim_serving_outcome *o)
{
    double rate = 0;

    for (uint32_t i = 0; i < o->app->n_classes; i++)
        if (isfinite(o->classes[i].throughput_rps))
            rate += o->classes[i].throughput_rps;
    if (rate > 0)
        SAY(t, "%.4g requests/s of ", rate);
    SAY(t, "%lld client%s", (long long)o->clients, o->clients == 1 ? "" : "s");
}

/* "50 requests/s (51.5 arrived)". What was asked is what a reader looks for; a
 * run has no rate where all came at once. */
static void say_rate(struct text *t, const struct msim_serving_outcome *o)
{
    char asked[MSIM_CELL], arrived[MSIM_CELL];

    if (o->clients > 0) {
        say_clients(t, o);
        return;
    }
    snprintf(asked, sizeof(asked), "%.4g", o->asked);
    snprintf(arrived, sizeof(arrived), "%.4g", o->rate);
    if (isfinite(o->asked) && isfinite(o->rate) && strcmp(asked, arrived) != 0)
        SAY(t, "%s requests/s (%s arrived)", asked, arrived);
    else if (isfinite(o->rate))
        SAY(t, "%s requests/s", arrived);
    else
        SAY(t, "requests that come all at once");
}

static void say_saturated(struct text *t, const struct msim_serving_outcome *o)
{
    const char *between = "";

    SAY(t, "overloaded: ");
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->stages[i].saturated) {
            SAY(t, "%s%s", between, o->stages[i].name);
            between = ", ";
        }
    SAY(t, " cannot keep up with ");
    say_rate(t, o);
}

static void say_too_few(struct text *t, const struct msim_class_outcome *c)
{
    uint64_t n = c->requests + c->unfinished;

    SAY(t, ", by %llu request%s of %s: too few to tell", (unsigned long long)n,
        n == 1 ? "" : "s", c->name);
}

/* What became of promises, some request of which was measured. */
static void say_promises(struct text *t, const struct msim_serving_outcome *o)
{
    const struct msim_class_outcome *c = &o->classes[o->worst_class];
    bool kept = c->worst <= 1;
    uint32_t i = 0;

    if (kept)
        SAY(t, "every promise is kept at ");
    else
        SAY(t, "the promise to %s is not kept at ", c->name);
    say_rate(t, o);
    if (!kept)
        SAY(t, ": %.3g %% are late", 100 * c->violations);
    while (kept && i < o->app->n_classes && !o->classes[i].few)
        i++;
    if (!kept && c->few)
        say_too_few(t, c);
    else if (kept && i < o->app->n_classes)
        say_too_few(t, &o->classes[i]);
}

static bool is_served(const struct msim_serving_outcome *o)
{
    uint64_t ended = 0, never = 0;

    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        ended += o->classes[i].requests;
        never += o->classes[i].unfinished;
    }
    return ended || !never;
}

static void put_verdict(const struct msim_serving_outcome *o, FILE *out)
{
    struct text t = {""};

    if (!is_served(o)) {
        say_rate(&t, o);
        SAY(&t, "%s", ": no request ever ends");
    } else if (o->saturated) {
        say_saturated(&t, o);
    } else if (isnan(o->classes[o->worst_class].worst)) {
        say_rate(&t, o);
        SAY(&t, "%s",
            o->promised ? ": no request to which something is promised was "
                          "measured"
                        : " are served; nothing was promised");
    } else {
        say_promises(&t, o);
    }
    if (o->capacity_by != MSIM_NONE)
        SAY(&t, "; capacity %.4g requests/s, by %s", o->capacity.mean,
            o->app->stages[o->capacity_by].name);
    msim_print(out, "%s\n", t.of);
}

/* ---- classes ------------------------------------------------------------- */

/* A latency of a class, below a line for the class. */
struct latency {
    const char *what;
    char mean[MSIM_CELL + 1], p50[MSIM_CELL + 1], p90[MSIM_CELL + 1],
        p99[MSIM_CELL + 1], interval[2 * MSIM_CELL + 4];
};

#define TIME(member)                                                           \
    MSIM_COLUMN(struct latency, member, NULL, .heading = #member,              \
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 12)

static const struct msim_column LATENCY[] = {
    MSIM_COLUMN(struct latency, what, NULL, .heading = "latency",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -6),
    TIME(mean),
    MSIM_COLUMN(struct latency, interval, NULL, .heading = "90 %",
                .type = MSIM_COLUMN_CELL, .gap = 1),
    TIME(p50),
    TIME(p90),
    TIME(p99)};

static void put_row(const struct msim_serving_outcome *o, const char *what,
                    const struct msim_serving_figure *f, FILE *out)
{
    struct latency l = {.what = what};
    char low[MSIM_CELL + 1], high[MSIM_CELL + 1];
    bool star = o->saturated;

    if (isnan(f->mean))
        return;
    time_cell(l.mean, f->mean, star);
    time_cell(l.p50, f->p50, star);
    time_cell(l.p90, f->p90, star);
    time_cell(l.p99, f->p99, star);
    snprintf(l.interval, sizeof(l.interval), "[%s-%s]",
             time_cell(low, f->low, false), time_cell(high, f->high, false));
    msim_record_text(out, MSIM_COLUMNS(LATENCY), &l);
}

/* "12.3", or "-" where it is not known. */
static void say_number(struct text *t, double value)
{
    if (isfinite(value))
        SAY(t, "%.4g", value);
    else
        SAY(t, "-");
}

static void put_class(const struct msim_class_outcome *c, FILE *out)
{
    struct text t = {""};

    SAY(&t, "%s: %llu requests, %llu unfinished, ", c->name,
        (unsigned long long)c->requests, (unsigned long long)c->unfinished);
    say_number(&t, c->throughput_rps);
    SAY(&t, "/s");
    if (!isnan(c->violations)) {
        SAY(&t, ", goodput ");
        say_number(&t, c->goodput_rps);
        SAY(&t, "/s, %.3g %% late", 100 * c->violations);
    }
    msim_print(out, "%s\n", t.of);
}

static void put_classes(const struct msim_serving_outcome *o, FILE *out)
{
    msim_print_title(out, "latency          mean [90 %%]                   p50"
                          "          p90          p99");
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        put_class(&o->classes[i], out);
        put_row(o, "e2e", &o->classes[i].e2e, out);
        put_row(o, "TTFT", &o->classes[i].ttft, out);
        put_row(o, "TPOT", &o->classes[i].tpot, out);
    }
}

/* ---- stages -------------------------------------------------------------- */

struct stage {
    const char *name, *saturated;
    double replicas, visits, held, busy, critical, capacity;
    char queue[MSIM_CELL + 1], self[MSIM_CELL + 1], without[MSIM_CELL + 1];
};

static const struct msim_column STAGES[] = {
    MSIM_COLUMN(struct stage, name, NULL, .heading = "stage",
                .type = MSIM_COLUMN_TEXT, .width = -20, .most = 20),
    MSIM_COLUMN(struct stage, replicas, NULL, .heading = "replicas", .gap = 1,
                .width = 9),
    MSIM_COLUMN(struct stage, visits, NULL, .heading = "visits/s", .gap = 1,
                .width = 9, .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct stage, held, NULL, .heading = "held %", .gap = 1,
                .width = 7, .unit = 100, .decimals = 1),
    MSIM_COLUMN(struct stage, busy, NULL, .heading = "busy %", .gap = 1,
                .width = 7, .unit = 100, .decimals = 1),
    MSIM_COLUMN(struct stage, queue, NULL, .heading = "queue (mean)",
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 13),
    MSIM_COLUMN(struct stage, self, NULL, .heading = "self (mean)",
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 14),
    MSIM_COLUMN(struct stage, critical, NULL, .heading = "critical %", .gap = 1,
                .width = 11, .unit = 100, .decimals = 1),
    MSIM_COLUMN(struct stage, capacity, NULL, .heading = "capacity/s", .gap = 1,
                .width = 11, .style = 'g', .decimals = 4),
    MSIM_COLUMN(struct stage, without, NULL, .heading = "p99 without it",
                .type = MSIM_COLUMN_CELL, .gap = 1, .width = 15),
    MSIM_COLUMN(struct stage, saturated, NULL, .heading = "",
                .type = MSIM_COLUMN_TEXT)};

static void put_stages(const struct msim_serving_outcome *o, FILE *out)
{
    msim_print(out, "\n");
    msim_record_text_head(out, MSIM_COLUMNS(STAGES));
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        const struct msim_stage_outcome *s = &o->stages[i];
        struct stage row = {s->name,
                            s->saturated ? "  saturated" : "",
                            s->replicas,
                            s->visits_per_s,
                            s->utilisation,
                            s->computing,
                            s->critical_share,
                            s->capacity_rps,
                            "",
                            "",
                            ""};

        time_cell(row.queue, s->queue.mean, o->saturated);
        time_cell(row.self, s->self.mean, false);
        time_cell(row.without, s->counterfactual_p99, false);
        msim_record_text(out, MSIM_COLUMNS(STAGES), &row);
    }
}

void msim_serving_text(const struct msim_serving_outcome *o, FILE *out)
{
    put_verdict(o, out);
    put_classes(o, out);
    put_stages(o, out);
    if (o->saturated)
        msim_print_title(out, "* of this run: without a steady state "
                              "latencies grow with its length");
    msim_report_warnings((const char *const *)o->warnings, o->n_warnings, out);
    msim_print(out, "\n%llu events in %.2f s\n", (unsigned long long)o->events,
               o->seconds);
}

/*
 * serving/outcome/outcome_text.c - an outcome as text: the verdict, the
 * classes, the stages.
 */
#include "core/base/print.h"
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

/* Clients send as fast as they are answered: the rate is that of what ends. */
static void put_clients(const struct msim_serving_outcome *o, FILE *out)
{
    double rate = 0;

    for (uint32_t i = 0; i < o->app->n_classes; i++)
        if (isfinite(o->classes[i].throughput_rps))
            rate += o->classes[i].throughput_rps;
    if (rate > 0)
        msim_print(out, "%.4g requests/s of ", rate);
    msim_print(out, "%lld client%s", (long long)o->clients,
               o->clients == 1 ? "" : "s");
}

/* "50 requests/s (51.5 arrived)". What was asked is what a reader looks for; a
 * run has no rate where all came at once. */
static void put_rate(const struct msim_serving_outcome *o, FILE *out)
{
    char asked[MSIM_CELL], arrived[MSIM_CELL];

    if (o->clients > 0) {
        put_clients(o, out);
        return;
    }
    snprintf(asked, sizeof(asked), "%.4g", o->asked);
    snprintf(arrived, sizeof(arrived), "%.4g", o->rate);
    if (isfinite(o->asked) && isfinite(o->rate) && strcmp(asked, arrived) != 0)
        msim_print(out, "%s requests/s (%s arrived)", asked, arrived);
    else if (isfinite(o->rate))
        msim_print(out, "%s requests/s", arrived);
    else
        fputs("requests that come all at once", out);
}

static void put_saturated(const struct msim_serving_outcome *o, FILE *out)
{
    const char *between = "";

    fputs("overloaded: ", out);
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->stages[i].saturated) {
            msim_print(out, "%s%s", between, o->stages[i].name);
            between = ", ";
        }
    fputs(" cannot keep up with ", out);
    put_rate(o, out);
}

static void put_too_few(const struct msim_class_outcome *c, FILE *out)
{
    uint64_t n = c->requests + c->unfinished;

    msim_print(out, ", by %llu request%s of %s: too few to tell",
               (unsigned long long)n, n == 1 ? "" : "s", c->name);
}

/* What became of promises, some request of which was measured. */
static void put_promises(const struct msim_serving_outcome *o, FILE *out)
{
    const struct msim_class_outcome *c = &o->classes[o->worst_class];
    bool kept = c->worst <= 1;
    uint32_t i = 0;

    if (kept)
        fputs("every promise is kept at ", out);
    else
        msim_print(out, "the promise to %s is not kept at ", c->name);
    put_rate(o, out);
    if (!kept)
        msim_print(out, ": %.3g %% are late", 100 * c->violations);
    while (kept && i < o->app->n_classes && !o->classes[i].few)
        i++;
    if (!kept && c->few)
        put_too_few(c, out);
    else if (kept && i < o->app->n_classes)
        put_too_few(&o->classes[i], out);
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
    if (!is_served(o)) {
        put_rate(o, out);
        fputs(": no request ever ends", out);
    } else if (o->saturated) {
        put_saturated(o, out);
    } else if (isnan(o->classes[o->worst_class].worst)) {
        put_rate(o, out);
        fputs(o->promised ? ": no request to which something is promised was "
                            "measured"
                          : " are served; nothing was promised",
              out);
    } else {
        put_promises(o, out);
    }
    if (o->capacity_by != MSIM_NONE)
        msim_print(out, "; capacity %.4g requests/s, by %s", o->capacity.mean,
                   o->app->stages[o->capacity_by].name);
    fputs("\n", out);
}

static void put_row(const struct msim_serving_outcome *o, const char *what,
                    const struct msim_serving_figure *f, FILE *out)
{
    char mean[MSIM_CELL + 1], p50[MSIM_CELL + 1], p90[MSIM_CELL + 1],
        p99[MSIM_CELL + 1], low[MSIM_CELL + 1], high[MSIM_CELL + 1];
    bool star = o->saturated;

    if (isnan(f->mean))
        return;
    msim_print(out, "  %-6s %12s [%s-%s] %12s %12s %12s\n", what,
               time_cell(mean, f->mean, star), time_cell(low, f->low, false),
               time_cell(high, f->high, false), time_cell(p50, f->p50, star),
               time_cell(p90, f->p90, star), time_cell(p99, f->p99, star));
}

/* "12.3", or "-" where it is not known. */
static const char *cell(char text[MSIM_CELL], const char *fmt, double value)
    __attribute__((format(printf, 2, 0)));

static const char *cell(char text[MSIM_CELL], const char *fmt, double value)
{
    if (isfinite(value))
        snprintf(text, MSIM_CELL, fmt, value);
    else
        snprintf(text, MSIM_CELL, "-");
    return text;
}

static void put_classes(const struct msim_serving_outcome *o, FILE *out)
{
    fputs("\nlatency          mean [90 %]                   p50          p90  "
          "        p99\n",
          out);
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        const struct msim_class_outcome *c = &o->classes[i];
        char rate[MSIM_CELL];

        msim_print(out, "%s: %llu requests, %llu unfinished, %s/s", c->name,
                   (unsigned long long)c->requests,
                   (unsigned long long)c->unfinished,
                   cell(rate, "%.4g", c->throughput_rps));
        if (!isnan(c->violations))
            msim_print(out, ", goodput %s/s, %.3g %% late",
                       cell(rate, "%.4g", c->goodput_rps), 100 * c->violations);
        fputs("\n", out);
        put_row(o, "e2e", &c->e2e, out);
        put_row(o, "TTFT", &c->ttft, out);
        put_row(o, "TPOT", &c->tpot, out);
    }
}

static void put_stage(const struct msim_serving_outcome *o,
                      const struct msim_stage_outcome *s, FILE *out)
{
    char queue[MSIM_CELL + 1], self[MSIM_CELL + 1], without[MSIM_CELL + 1];
    char visits[MSIM_CELL], held[MSIM_CELL], busy[MSIM_CELL], share[MSIM_CELL],
        capacity[MSIM_CELL];

    msim_print(out, "%-20.20s %9.0f %9s %7s %7s %13s %14s %11s %11s %15s%s\n",
               s->name, s->replicas, cell(visits, "%.4g", s->visits_per_s),
               cell(held, "%.1f", 100 * s->utilisation),
               cell(busy, "%.1f", 100 * s->computing),
               time_cell(queue, s->queue.mean, o->saturated),
               time_cell(self, s->self.mean, false),
               cell(share, "%.1f", 100 * s->critical_share),
               cell(capacity, "%.4g", s->capacity_rps),
               time_cell(without, s->counterfactual_p99, false),
               s->saturated ? "  saturated" : "");
}

static void put_stages(const struct msim_serving_outcome *o, FILE *out)
{
    fputs("\nstage                 replicas  visits/s  held %  busy %  queue "
          "(mean)    self (mean)  critical %  capacity/s  p99 without it\n",
          out);
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        put_stage(o, &o->stages[i], out);
}

void msim_serving_text(const struct msim_serving_outcome *o, FILE *out)
{
    put_verdict(o, out);
    put_classes(o, out);
    put_stages(o, out);
    if (o->saturated)
        fputs("\n* of this run: without a steady state latencies grow with its "
              "length\n",
              out);
    if (o->n_warnings)
        fputs("\n", out);
    for (uint32_t i = 0; i < o->n_warnings; i++)
        msim_print(out, "warning: %s\n", o->warnings[i]);
    msim_print(out, "\n%llu events in %.2f s\n", (unsigned long long)o->events,
               o->seconds);
}

/*
 * serving/watch/watch_line.c - verdicts as lines.
 */
#include "serving/watch/watch.h"

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/base/print.h"

#include <math.h>
#include <stdarg.h>

void msim_watch_csv_header(FILE *out)
{
    msim_csv_print(out, "t,p_violation,stage,resource,lead_s,p99_next_ms\n");
}

static double rounded(double v, double unit)
{
    return isnan(v) ? v : round(v * unit) / unit;
}

void msim_watch_csv_line(FILE *out, const struct msim_watch *w,
                         const struct msim_verdict *v)
{
    msim_csv_print(out, "%g,%.4f,%s,%s", rounded(v->t, 1000), v->p_violation,
                   w->app->stages[v->stage].name,
                   msim_resource_text(v->resource));
    msim_csv_add_number(out, rounded(v->lead_s, 10));
    msim_csv_add_number(out, rounded(v->p99_next_ms, 1000));
    msim_csv_print(out, "\n");
}

/* ---- why --------------------------------------------------------- */

#define PLAIN 3 /* standard errors: below, nothing is to be seen */

static double usual_of(const struct msim_watch *w, uint32_t stage,
                       enum msim_track track)
{
    double v = msim_history_usual(&w->history, stage, track)->median;

    return isnan(v) ? 0 : v;
}

static double now_of(const struct msim_watch *w, uint32_t stage,
                     enum msim_track track)
{
    double v = msim_history_mean(&w->history, stage, track, 3);

    return isnan(v) ? 0 : v;
}

static void say(char *text, size_t size, const char *fmt, ...)
    MSIM_PRINTF(3, 4);
static void say(char *text, size_t size, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    msim_vprint_text(text, size, fmt, args);
    va_end(args);
}

static void say_service(char *text, size_t size, const struct msim_watch *w,
                        const char *name, const struct msim_verdict *v)
{
    static const char *const PRESSURE[] = {"CPU", "memory", "I/O"};
    const struct msim_blame *b = &w->blame;
    uint32_t i = v->resource == MSIM_RESOURCE_MEMORY ? 1
                 : v->resource == MSIM_RESOURCE_DISK ? 2
                                                     : 0;
    double ratio = exp(now_of(w, v->stage, MSIM_TRACK_SELF) -
                       usual_of(w, v->stage, MSIM_TRACK_SELF));

    if (b->z_psi[i] > PLAIN)
        say(text, size,
            "service at '%s' takes %.2f times as long as usual, and its "
            "pressure on %s is %.0f standard errors above",
            name, ratio, PRESSURE[i], fmin(b->z_psi[i], 99));
    else
        say(text, size, "service at '%s' takes %.2f times as long as usual",
            name, ratio);
}

/* Is anything of the stage that is named far from usual? */
static bool is_plain(const struct msim_watch *w, uint32_t stage)
{
    const struct msim_blame *b = &w->blame;
    double wait =
        msim_history_deviation(&w->history, stage, MSIM_TRACK_WAIT_LOG, 0).z;

    return fmax(fmax(b->z_self, b->z_net), fmax(b->z_rate, wait)) > PLAIN;
}

static void say_why(char *text, size_t size, const struct msim_watch *w,
                    const struct msim_verdict *v)
{
    const char *name = w->app->stages[v->stage].name;
    uint32_t s = v->stage;

    if (!is_plain(w, s)) {
        say(text, size, "no stage is far from what is usual");
        return;
    }
    switch (v->resource) {
    case MSIM_RESOURCE_NETWORK:
        say(text, size,
            "a call takes %.3g ms on the network to '%s', usually %.3g ms",
            now_of(w, s, MSIM_TRACK_NET), name, usual_of(w, s, MSIM_TRACK_NET));
        return;
    case MSIM_RESOURCE_WORKERS:
        say(text, size,
            "visits wait %.3g ms at '%s', usually %.3g ms, though neither "
            "arrivals nor service grew",
            now_of(w, s, MSIM_TRACK_WAIT), name,
            usual_of(w, s, MSIM_TRACK_WAIT));
        return;
    case MSIM_RESOURCE_LOAD:
        say(text, size,
            "arrivals at '%s' are %.2f times as many as usual, its workers "
            "are held %.0f %% of the time",
            name,
            exp(now_of(w, s, MSIM_TRACK_RATE) -
                usual_of(w, s, MSIM_TRACK_RATE)),
            100 * now_of(w, s, MSIM_TRACK_BUSY));
        return;
    default:
        say_service(text, size, w, name, v);
        return;
    }
}

/* ---- for people, and JSON ---------------------------------------- */

void msim_watch_text_line(FILE *out, const struct msim_watch *w,
                          const struct msim_verdict *v)
{
    char why[512];

    say_why(why, sizeof(why), w, v);
    msim_print(out, "%7.1f s  violation %3.0f %%  p99 next %8.4g ms  %s (%s)",
               v->t, 100 * v->p_violation, v->p99_next_ms,
               w->app->stages[v->stage].name, msim_resource_text(v->resource));
    if (!isnan(v->lead_s))
        msim_print(out, ", in %.1f s", v->lead_s);
    msim_print(out, ": %s\n", why);
}

static void add_advice(struct msim_json *j, const struct msim_watch *w,
                       const struct msim_advice *a)
{
    msim_json_open(j, "replicas", '{', false);
    for (uint32_t s = 0; s < w->app->n_stages; s++)
        if (a->replicas[s] > 0)
            msim_json_integer(j, w->app->stages[s].name, a->replicas[s]);
    msim_json_close(j);
    msim_json_text(j, "do", msim_action_text(a->action));
}

enum msim_status msim_watch_json_line(FILE *out, const struct msim_watch *w,
                                      const struct msim_verdict *v,
                                      const struct msim_advice *advice)
{
    struct msim_json j;
    char why[512];

    say_why(why, sizeof(why), w, v);
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_json_number(&j, "t", rounded(v->t, 1000));
    msim_json_number(&j, "p_violation", rounded(v->p_violation, 10000));
    msim_json_text(&j, "stage", w->app->stages[v->stage].name);
    msim_json_text(&j, "resource", msim_resource_text(v->resource));
    msim_json_number(&j, "lead_s", rounded(v->lead_s, 10));
    msim_json_number(&j, "p99_next_ms", rounded(v->p99_next_ms, 1000));
    msim_json_text(&j, "why", why);
    if (advice)
        add_advice(&j, w, advice);
    return msim_json_end(&j);
}

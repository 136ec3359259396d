/*
 * serving/outcome/outcome_timeline.c - a run in Chrome's trace event format,
 * which the Perfetto UI opens (core/report/write/report_timeline.c has the
 * rules): a process a stage, a track a worker, and how many wait as a counter.
 *
 * Workers are not told apart by the simulator: a service goes to the first
 * track that is free, which shows as many as work at once.
 */
#include "core/base/containers.h"
#include "core/base/files.h"
#include "core/base/json.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <stdlib.h>
#include <string.h>

/* Tracks of a stage; the services beyond share the last. */
#define TRACKS_MOST 512

/* A service, and how long its worker waited for calls then. */
struct hold {
    msim_ps begin, served, end;
    uint32_t stage, request;
};

/* Something begins to wait, or ends to. */
struct change {
    msim_ps at;
    uint32_t stage;
    int32_t by;
};

struct lists {
    struct hold *holds;
    struct change *changes;
    uint32_t n_holds, n_changes;
};

static bool hold_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct hold *h = ctx;

    return h[a].stage != h[b].stage ? h[a].stage < h[b].stage
                                    : h[a].begin < h[b].begin;
}

static bool change_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct change *c = ctx;

    return c[a].stage != c[b].stage ? c[a].stage < c[b].stage
           : c[a].at != c[b].at     ? c[a].at < c[b].at
                                    : c[a].by < c[b].by;
}

/* The spans of one visit stand behind each other. */
static void collect(const struct msim_serving_outcome *o, struct lists *l)
{
    for (uint32_t i = 0; i < o->run.n_spans; i++) {
        const struct msim_span_row *s = &o->run.spans[i];
        bool rpc = o->app->stages[s->stage].call == MSIM_CALL_RPC;

        if (s->what == MSIM_SPAN_WAIT) {
            l->changes[l->n_changes++] = (struct change){s->begin, s->stage, 1};
            l->changes[l->n_changes++] = (struct change){s->end, s->stage, -1};
        } else if (s->what == MSIM_SPAN_SERVICE) {
            l->holds[l->n_holds++] =
                (struct hold){s->begin, s->end, s->end, s->stage, s->request};
        } else if (rpc && l->n_holds &&
                   l->holds[l->n_holds - 1].request == s->request &&
                   l->holds[l->n_holds - 1].stage == s->stage &&
                   l->holds[l->n_holds - 1].end == s->begin) {
            l->holds[l->n_holds - 1].end = s->end;
        }
    }
}

/* ---- events -------------------------------------------------------------- */

static void put_meta(struct msim_json *j, const char *what, uint32_t pid,
                     uint32_t tid, const char *name)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "M");
    msim_json_text(j, "name", what);
    msim_json_unsigned(j, "pid", pid);
    msim_json_unsigned(j, "tid", tid);
    msim_json_open(j, "args", '{', false);
    msim_json_text(j, "name", name);
    msim_json_close(j);
    msim_json_close(j);
}

static void put_bar(struct msim_json *j, const struct hold *h, uint32_t tid,
                    const char *name, msim_ps begin, msim_ps end)
{
    if (begin == end)
        return;
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "X");
    msim_json_text(j, "name", name);
    msim_json_unsigned(j, "pid", h->stage + 1);
    msim_json_unsigned(j, "tid", tid);
    msim_json_time(j, "ts", begin);
    msim_json_time(j, "dur", end - begin);
    msim_json_open(j, "args", '{', false);
    msim_json_unsigned(j, "request", h->request);
    msim_json_close(j);
    msim_json_close(j);
}

/* Thread ids are unique over all stages. */
static uint32_t track_of(uint32_t stage, uint32_t track)
{
    return stage * TRACKS_MOST + track + 1;
}

static void put_hold(struct msim_json *j, const struct hold *h,
                     msim_ps free_at[TRACKS_MOST])
{
    uint32_t track = 0;
    char name[32];

    while (track + 1 < TRACKS_MOST && free_at[track] > h->begin)
        track++;
    if (free_at[track] == MSIM_TIME_NONE) {
        snprintf(name, sizeof(name), "worker %u", track + 1);
        put_meta(j, "thread_name", h->stage + 1, track_of(h->stage, track),
                 name);
    }
    free_at[track] = h->end;
    put_bar(j, h, track_of(h->stage, track), "service", h->begin, h->served);
    put_bar(j, h, track_of(h->stage, track), "calls", h->served, h->end);
}

static void put_change(struct msim_json *j, const struct change *c, int64_t now)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "C");
    msim_json_text(j, "name", "waiting");
    msim_json_unsigned(j, "pid", c->stage + 1);
    msim_json_time(j, "ts", c->at);
    msim_json_open(j, "args", '{', false);
    msim_json_integer(j, "visits", now);
    msim_json_close(j);
    msim_json_close(j);
}

static void put_events(const struct msim_serving_outcome *o,
                       const struct lists *l, struct msim_json *j)
{
    msim_ps free_at[TRACKS_MOST];
    int64_t waiting = 0;

    for (uint32_t i = 0; i < o->app->n_stages; i++)
        put_meta(j, "process_name", i + 1, track_of(i, 0),
                 o->app->stages[i].name);
    for (uint32_t i = 0; i < l->n_holds; i++) {
        if (i == 0 || l->holds[i].stage != l->holds[i - 1].stage)
            for (uint32_t k = 0; k < TRACKS_MOST; k++)
                free_at[k] = MSIM_TIME_NONE;
        put_hold(j, &l->holds[i], free_at);
    }
    for (uint32_t i = 0; i < l->n_changes; i++) {
        const struct change *c = &l->changes[i];

        if (i == 0 || c->stage != c[-1].stage)
            waiting = 0;
        waiting += c->by;
        put_change(j, c, waiting);
    }
}

static enum msim_status put_all(const struct msim_serving_outcome *o,
                                struct lists *l, struct msim_file *f)
{
    struct msim_json j;

    collect(o, l);
    MSIM_TRY(msim_sort_rows(l->holds, l->n_holds, sizeof(*l->holds),
                            hold_before, l->holds));
    MSIM_TRY(msim_sort_rows(l->changes, l->n_changes, sizeof(*l->changes),
                            change_before, l->changes));
    msim_json_begin(&j, msim_file_write, f);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "displayTimeUnit", "ms");
    msim_json_text(&j, "program", "mystique-sim " MSIM_VERSION);
    msim_json_text(&j, "title", o->app->name);
    msim_json_open(&j, "traceEvents", '[', true);
    put_events(o, l, &j);
    msim_json_close(&j);
    return msim_json_end(&j);
}

enum msim_status msim_serving_timeline(const struct msim_serving_outcome *o,
                                       const char *path, struct msim_error *err)
{
    size_t n = strlen(path), spans = o->run.n_spans;
    bool gzip = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    struct lists l = {malloc((spans + 1) * sizeof(*l.holds)),
                      malloc((2 * spans + 1) * sizeof(*l.changes)), 0, 0};
    struct msim_file *f;
    enum msim_status status = l.holds && l.changes ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK)
        status = msim_file_open(&f, path, &(struct msim_file_how){.gzip = gzip},
                                err);
    if (status == MSIM_OK)
        status = msim_file_close(f, put_all(o, &l, f), err);
    free(l.holds);
    free(l.changes);
    return status;
}

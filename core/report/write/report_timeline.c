/*
 * core/report/write/report_timeline.c - Chrome's trace event format, which the
 * Perfetto UI opens ("Trace Event Format", Google, 2016: complete events `X`,
 * metadata events `M`, flow events `s` and `f`).
 *
 * A rank is a process, a lane a thread. The waits of a lane, the steps of a
 * rank and the critical path, which goes through all ranks, are threads, too:
 * colours and flags of bars are not shown by all viewers, tracks are. Ids count
 * from 1: for Perfetto process 0 and thread 0 are the kernel's idle task.
 * Thread ids are unique over all ranks, because viewers disagree on whether a
 * process scopes them.
 */
#include "core/base/files.h"
#include "core/base/json.h"
#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int64_t process_of(const struct msim_lane_info *lane)
{
    return lane->rank < 0 ? 1 : lane->rank + 1;
}

static void write_meta(struct msim_json *j, const char *what, int64_t pid,
                       uint32_t tid, const char *name, int64_t sort)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "M");
    msim_json_text(j, "name", what);
    msim_json_integer(j, "pid", pid);
    msim_json_unsigned(j, "tid", tid);
    msim_json_open(j, "args", '{', false);
    if (name)
        msim_json_text(j, "name", name);
    else
        msim_json_integer(j, "sort_index", sort);
    msim_json_close(j);
    msim_json_close(j);
}

static void write_lane(struct msim_json *j, const struct msim_timeline *t,
                       uint32_t i)
{
    const struct msim_lane_info *lane = &t->lanes[i];
    int64_t pid = process_of(lane);
    char name[32] = "trace";

    if (i == 0 || lane->rank != t->lanes[i - 1].rank) {
        if (lane->rank >= 0)
            snprintf(name, sizeof(name), "rank %" PRId64, lane->rank);
        write_meta(j, "process_name", pid, i + 1, name, 0);
        write_meta(j, "process_sort_index", pid, i + 1, NULL, pid);
    }
    write_meta(j, "thread_name", pid, i + 1, lane->name, 0);
    /* CPU threads above the streams that they feed. */
    write_meta(j, "thread_sort_index", pid, i + 1, NULL,
               (lane->device ? INT64_C(100000) : 0) + i);
}

/* ---- tracks -------------------------------------------------------------- */

static uint32_t wait_track(const struct msim_timeline *t, uint32_t lane)
{
    return t->n_lanes + lane + 1;
}

static uint32_t path_track(const struct msim_timeline *t)
{
    return 2 * t->n_lanes + 1;
}

static uint32_t step_track(const struct msim_timeline *t, int64_t pid)
{
    return 2 * t->n_lanes + 1 + (uint32_t)pid;
}

static int64_t process_of_rank(int64_t rank)
{
    return rank < 0 ? 1 : rank + 1;
}

/* The process of the critical path comes after all ranks. */
static int64_t path_process(const struct msim_timeline *t)
{
    int64_t last = 1;

    for (uint32_t i = 0; i < t->n_lanes; i++)
        if (process_of(&t->lanes[i]) > last)
            last = process_of(&t->lanes[i]);
    return last + 1;
}

static void write_track(struct msim_json *j, int64_t pid, uint32_t tid,
                        const char *name, int64_t sort)
{
    write_meta(j, "thread_name", pid, tid, name, 0);
    write_meta(j, "thread_sort_index", pid, tid, NULL, sort);
}

/* Only tracks that have bars. Above a rank's threads: its steps; behind a lane:
 * its waits. */
static void write_tracks(struct msim_json *j, const struct msim_timeline *t)
{
    uint32_t last = MSIM_NONE;
    char name[96];

    for (uint32_t i = 0; i < t->n_spans; i++) {
        const struct msim_span *s = &t->spans[i];
        const struct msim_lane_info *lane = &t->lanes[s->lane];

        if (strcmp(s->category, "wait") != 0 || s->lane == last)
            continue;
        last = s->lane;
        snprintf(name, sizeof(name), "waits of %.64s", lane->name);
        write_track(j, process_of(lane), wait_track(t, last), name,
                    (lane->device ? INT64_C(100000) : 0) + last);
    }
    for (uint32_t i = 0; i < t->n_steps; i++) {
        int64_t pid = process_of_rank(t->steps[i].rank);

        write_track(j, pid, step_track(t, pid), "steps", -2);
    }
    if (!t->n_path)
        return;
    write_meta(j, "process_name", path_process(t), path_track(t),
               "critical path", 0);
    write_meta(j, "process_sort_index", path_process(t), path_track(t), NULL,
               0);
    write_track(j, path_process(t), path_track(t), "critical path", 0);
}

static void write_mark(struct msim_json *j, const struct msim_timeline *t,
                       const struct msim_mark *m, int64_t pid, uint32_t tid)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "X");
    msim_json_text(j, "name", m->name);
    msim_json_text(j, "cat", m->kind);
    msim_json_integer(j, "pid", pid);
    msim_json_unsigned(j, "tid", tid);
    msim_json_time(j, "ts", m->start);
    msim_json_time(j, "dur", m->dur);
    if (m->lane != MSIM_NONE) {
        msim_json_open(j, "args", '{', false);
        msim_json_text(j, "lane", t->lanes[m->lane].name);
        if (m->rank >= 0)
            msim_json_integer(j, "rank", m->rank);
        msim_json_bool(j, "critical", true);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void write_count(struct msim_json *j, const struct msim_load *l,
                        const char *name, int32_t value)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "C");
    msim_json_text(j, "name", name);
    msim_json_integer(j, "pid", process_of_rank(l->rank));
    msim_json_time(j, "ts", l->at);
    msim_json_open(j, "args", '{', false);
    msim_json_integer(j, "activities", value);
    msim_json_close(j);
    msim_json_close(j);
}

/* Counters: what runs on the GPU, and how much is queued. */
static void write_loads(struct msim_json *j, const struct msim_timeline *t)
{
    for (uint32_t i = 0; i < t->n_loads; i++) {
        const struct msim_load *l = &t->loads[i];
        bool first = i == 0 || t->loads[i - 1].rank != l->rank;

        if (first || t->loads[i - 1].busy != l->busy)
            write_count(j, l, "GPU busy", l->busy);
        if (first || t->loads[i - 1].queued != l->queued)
            write_count(j, l, "launch queue", l->queued);
    }
}

/* Bytes of one rank at one instant, a curve each. */
static void write_bytes(struct msim_json *j, int64_t rank,
                        const struct msim_memory_note *m,
                        const struct msim_memory_note_point *p)
{
    double all = 0;

    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "C");
    msim_json_text(j, "name", "memory");
    msim_json_integer(j, "pid", process_of_rank(rank));
    msim_json_time(j, "ts", p->at);
    msim_json_open(j, "args", '{', false);
    for (uint32_t i = 0; i < m->n_by; i++) {
        msim_json_number(j, p->by[i].name, p->by[i].bytes);
        all += p->by[i].bytes;
    }
    msim_json_close(j);
    msim_json_close(j);
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "C");
    msim_json_text(j, "name", "memory held");
    msim_json_integer(j, "pid", process_of_rank(rank));
    msim_json_time(j, "ts", p->at);
    msim_json_open(j, "args", '{', false);
    msim_json_number(j, "bytes", all);
    msim_json_close(j);
    msim_json_close(j);
}

/* Counters: what every rank holds, all together and by what it is for. */
static void write_memory(struct msim_json *j, const struct msim_prediction *p)
{
    for (uint32_t i = 0; p && i < p->n_ranks_detail; i++)
        for (uint32_t k = 0; k < p->ranks_detail[i].memory.n_points; k++)
            write_bytes(j, p->ranks_detail[i].rank, &p->ranks_detail[i].memory,
                        &p->ranks_detail[i].memory.points[k]);
}

/* Counters: what a GPU does, a track each. */
static void write_usage_step(struct msim_json *j,
                             const struct msim_usage_note *n,
                             const struct msim_usage_step *s,
                             const struct msim_usage_step *before)
{
    static const struct {
        const char *name, *unit;
        double scale;
    } TRACKS[MSIM_USAGES] = {
        [MSIM_USAGE_SMS] = {"SMs busy", "%", 100},
        [MSIM_USAGE_OCCUPANCY] = {"warps held", "%", 100},
        [MSIM_USAGE_MEMORY] = {"memory", "GB/s", 1e-9},
        [MSIM_USAGE_FLOPS] = {"arithmetic", "TFLOP/s", 1e-12},
        [MSIM_USAGE_POWER] = {"power", "W", 1}};
    char name[64];

    for (int i = 0; i < MSIM_USAGES; i++) {
        if (isnan(n->of[i].mean) ||
            (before && !memcmp(&before->of[i], &s->of[i], sizeof(s->of[i]))))
            continue;
        snprintf(name, sizeof(name), "GPU %lld %s (%s)", (long long)n->device,
                 TRACKS[i].name, TRACKS[i].unit);
        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "ph", "C");
        msim_json_text(j, "name", name);
        msim_json_integer(j, "pid", process_of_rank(n->rank));
        msim_json_time(j, "ts", s->at);
        msim_json_open(j, "args", '{', false);
        msim_json_number(j, TRACKS[i].unit, (double)s->of[i] * TRACKS[i].scale);
        msim_json_close(j);
        msim_json_close(j);
    }
}

static void write_usage(struct msim_json *j, const struct msim_prediction *p)
{
    for (uint32_t i = 0; p && i < p->n_usage; i++)
        for (uint32_t k = 0; k < p->usage[i].n_steps; k++)
            write_usage_step(j, &p->usage[i], &p->usage[i].steps[k],
                             k ? &p->usage[i].steps[k - 1] : NULL);
}

static void write_three(struct msim_json *j, const char *key,
                        const uint32_t three[3])
{
    msim_json_open(j, key, '[', false);
    for (int i = 0; i < 3; i++)
        msim_json_unsigned(j, NULL, three[i]);
    msim_json_close(j);
}

/* What a kernel is, in the words of Kineto where it has some. */
static void write_kernel(struct msim_json *j, const struct msim_timeline *t,
                         const struct msim_span *s)
{
    if (!t->lanes[s->lane].device || !s->work)
        return;
    msim_json_text(j, "stream", t->lanes[s->lane].name);
    if (s->op)
        msim_json_text(j, "operator", s->op);
    if (s->shapes)
        msim_json_text(j, "shapes", s->shapes);
    if (s->config) {
        write_three(j, "grid", s->config->grid);
        write_three(j, "block", s->config->block);
    }
    if (s->correlation)
        msim_json_unsigned(j, "correlation", s->correlation);
}

static void write_args(struct msim_json *j, const struct msim_timeline *t,
                       const struct msim_span *s)
{
    bool named = s->detail && s->detail[0];

    if (!named && !s->work)
        return;
    msim_json_open(j, "args", '{', false);
    if (named)
        msim_json_text(j, "model", s->detail);
    if (s->work) {
        if (s->critical)
            msim_json_bool(j, "critical", true);
        msim_json_time(j, "slack_us", s->slack);
        if (s->arrival != s->start)
            msim_json_time(j, "arrival_us", s->arrival);
        if (s->traced != MSIM_TIME_NONE)
            msim_json_time(j, "traced_us", s->traced);
    }
    write_kernel(j, t, s);
    msim_json_close(j);
}

static void write_span(struct msim_json *j, const struct msim_timeline *t,
                       const struct msim_span *s)
{
    msim_json_open(j, NULL, '{', false);
    msim_json_text(j, "ph", "X");
    msim_json_text(j, "name", s->name);
    msim_json_text(j, "cat", s->category);
    msim_json_integer(j, "pid", process_of(&t->lanes[s->lane]));
    msim_json_unsigned(j, "tid",
                       strcmp(s->category, "wait") == 0 ? wait_track(t, s->lane)
                                                        : s->lane + 1);
    msim_json_time(j, "ts", s->start);
    msim_json_time(j, "dur", s->dur);
    write_args(j, t, s);
    msim_json_close(j);
}

/* A flow: `s` where it begins, `f` where it ends ("bp": "e", at the bar around
 * that instant). */
static void write_arrow(struct msim_json *j, const struct msim_timeline *t,
                        const struct msim_arrow *a, const char *category,
                        uint32_t id)
{
    for (int end = 0; end < 2; end++) {
        uint32_t lane = end ? a->to_lane : a->from_lane;

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "ph", end ? "f" : "s");
        if (end)
            msim_json_text(j, "bp", "e");
        msim_json_unsigned(j, "id", id);
        msim_json_text(j, "name", a->name);
        msim_json_text(j, "cat", category);
        msim_json_integer(j, "pid", process_of(&t->lanes[lane]));
        msim_json_unsigned(j, "tid",
                           end && a->to_wait ? wait_track(t, lane) : lane + 1);
        msim_json_time(j, "ts", end ? a->to_at : a->from_at);
        msim_json_close(j);
    }
}

/* What was predicted, and what that changes. */
static void write_options(struct msim_json *j, const struct msim_prediction *p)
{
    char title[512], change[MSIM_FIGURE];

    if (!p)
        return;
    msim_format_title(title, sizeof(title), p);
    msim_format_scenario(change, p);
    msim_json_text(j, "title", title);
    msim_json_open(j, "options", '[', false);
    for (uint32_t i = 0; i < p->scenario.n_options; i++)
        msim_json_text(j, NULL, p->scenario.options[i]);
    msim_json_close(j);
    if (change[0])
        msim_json_text(j, "change", change);
}

static enum msim_status write_all(const struct msim_timeline *t,
                                  struct msim_file *f)
{
    int64_t path = path_process(t);
    struct msim_json j;

    msim_json_begin(&j, msim_file_write, f);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "displayTimeUnit", "ms");
    msim_json_text(&j, "program", "mystique-sim " MSIM_VERSION);
    write_options(&j, t->of);
    msim_json_open(&j, "traceEvents", '[', true);
    for (uint32_t i = 0; i < t->n_lanes; i++)
        write_lane(&j, t, i);
    write_tracks(&j, t);
    for (uint32_t i = 0; i < t->n_spans; i++)
        write_span(&j, t, &t->spans[i]);
    for (uint32_t i = 0; i < t->n_arrows; i++)
        write_arrow(&j, t, &t->arrows[i], "critical path", i + 1);
    for (uint32_t i = 0; i < t->n_launches; i++) /* as PyTorch calls them */
        write_arrow(&j, t, &t->launches[i], "ac2g", t->n_arrows + i + 1);
    for (uint32_t i = 0; i < t->n_path; i++)
        write_mark(&j, t, &t->path[i], path, path_track(t));
    for (uint32_t i = 0; i < t->n_steps; i++)
        write_mark(&j, t, &t->steps[i], process_of_rank(t->steps[i].rank),
                   step_track(t, process_of_rank(t->steps[i].rank)));
    write_loads(&j, t);
    write_memory(&j, t->of);
    write_usage(&j, t->of);
    msim_json_close(&j);
    return msim_json_end(&j);
}

enum msim_status msim_report_timeline(const struct msim_timeline *t,
                                      const char *path, struct msim_error *err)
{
    size_t n = strlen(path);
    bool gzip = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    struct msim_file *f;

    MSIM_TRY(
        msim_file_open(&f, path, &(struct msim_file_how){.gzip = gzip}, err));
    return msim_file_close(f, write_all(t, f), err);
}

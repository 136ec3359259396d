/*
 * core/report/write/report_timeline.c - Chrome's trace event format, which the
 * Perfetto UI opens ("Trace Event Format", Google, 2016: complete events `X`,
 * metadata events `M`, flow events `s` and `f`).
 *
 * A rank is a process, a lane a thread. Ids count from 1: for Perfetto process
 * 0 and thread 0 are the kernel's idle task. Thread ids are unique over all
 * ranks, because viewers disagree on whether a process scopes them.
 */
#include "core/base/json_out.h"
#include "core/base/write_file.h"
#include "core/report/write/report.h"
#include "core/report/write/report_format.h"

#include <inttypes.h>
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

static void write_args(struct msim_json *j, const struct msim_span *s)
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
    msim_json_unsigned(j, "tid", s->lane + 1);
    msim_json_time(j, "ts", s->start);
    msim_json_time(j, "dur", s->dur);
    if (s->critical) /* names of colours that the format knows: red, grey */
        msim_json_text(j, "cname", "terrible");
    else if (strcmp(s->category, "wait") == 0)
        msim_json_text(j, "cname", "grey");
    write_args(j, s);
    msim_json_close(j);
}

/* A flow: `s` where it begins, `f` where it ends ("bp": "e", at the bar around
 * that instant). */
static void write_arrow(struct msim_json *j, const struct msim_timeline *t,
                        uint32_t i)
{
    const struct msim_arrow *a = &t->arrows[i];

    for (int end = 0; end < 2; end++) {
        uint32_t lane = end ? a->to_lane : a->from_lane;

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "ph", end ? "f" : "s");
        if (end)
            msim_json_text(j, "bp", "e");
        msim_json_unsigned(j, "id", i + 1);
        msim_json_text(j, "name", a->name);
        msim_json_text(j, "cat", "critical path");
        msim_json_integer(j, "pid", process_of(&t->lanes[lane]));
        msim_json_unsigned(j, "tid", lane + 1);
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
    struct msim_json j;

    msim_json_begin(&j, msim_file_write, f);
    msim_json_open(&j, NULL, '{', true);
    msim_json_text(&j, "displayTimeUnit", "ms");
    msim_json_text(&j, "program", "mystique-sim " MSIM_VERSION);
    write_options(&j, t->of);
    msim_json_open(&j, "traceEvents", '[', true);
    for (uint32_t i = 0; i < t->n_lanes; i++)
        write_lane(&j, t, i);
    for (uint32_t i = 0; i < t->n_spans; i++)
        write_span(&j, t, &t->spans[i]);
    for (uint32_t i = 0; i < t->n_arrows; i++)
        write_arrow(&j, t, i);
    msim_json_close(&j);
    msim_json_close(&j);
    return msim_json_end(&j);
}

enum msim_status msim_report_timeline(const struct msim_timeline *t,
                                      const char *path, struct msim_error *err)
{
    size_t n = strlen(path);
    bool gzip = n > 3 && strcmp(path + n - 3, ".gz") == 0;
    struct msim_file *f;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&f, path, gzip, err));
    status = write_all(t, f);
    if (status == MSIM_OK)
        return msim_file_commit(f, err);
    msim_file_abandon(f);
    return msim_fail(err, status, path, MSIM_OFFSET_NONE,
                     "cannot write the timeline");
}

/*
 * tests/unit/core/report/write/test_report_timeline.c - the timeline.
 */
#include "core/report/write/report.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

static char path[128] = P_tmpdir "/msim-timeline-XXXXXX";

static struct msim_lane_info lanes[] = {
    {0, false, "thread 1"}, {0, true, "stream 7"}, {1, true, "stream 7"}};
static struct msim_span spans[] = {
    {.name = "aten::mm", .category = "cpu_op", .detail = "", .dur = 2000000},
    {.name = "gemm \"x\"",
     .category = "kernel",
     .detail = "gemm",
     .start = 1500000,
     .dur = 10000001,
     .lane = 1,
     .critical = true,
     .work = true,
     .slack = 2000000,
     .arrival = 1000000,
     .traced = 1250000},
    {.name = "\xff",
     .category = "wait",
     .start = 1500000,
     .rank = 1,
     .lane = 2}};
static struct msim_arrow arrows[] = {{"launch", 1000000, 1500000, 0, 1, false}};

static struct msim_timeline timeline = {.spans = spans,
                                        .n_spans = 3,
                                        .lanes = lanes,
                                        .n_lanes = 3,
                                        .arrows = arrows,
                                        .n_arrows = 1};

static cJSON *written(const char *to)
{
    static char text[1 << 16];
    gzFile f;
    int n;

    CHECK_INT(msim_report_timeline(&timeline, to, NULL), MSIM_OK);
    f = gzopen(to, "rb");
    n = f ? gzread(f, text, sizeof(text) - 1) : 0;
    if (f)
        gzclose(f);
    unlink(to);
    text[n > 0 ? n : 0] = '\0';
    return cJSON_Parse(text);
}

static const cJSON *at(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* Two ranks are two processes with a name and a place (4 events), three lanes
 * likewise (6), and so has the track of waits (2); three spans and the two ends
 * of an arrow follow. */
static void test_report_timeline__events(void)
{
    cJSON *o = written(path);
    const cJSON *events = at(o, "traceEvents"), *e;

    REQUIRE(cJSON_GetArraySize(events) == 17);
    e = cJSON_GetArrayItem(events, 0);
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "process_name");
    CHECK_STR(cJSON_GetStringValue(at(at(e, "args"), "name")), "rank 0");
    e = cJSON_GetArrayItem(events, 13);
    CHECK_STR(cJSON_GetStringValue(at(e, "ph")), "X");
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "gemm \"x\"");
    CHECK_STR(cJSON_GetStringValue(at(e, "cat")), "kernel");
    CHECK_REL(cJSON_GetNumberValue(at(e, "ts")), 1.5, 0);
    CHECK_REL(cJSON_GetNumberValue(at(e, "dur")), 10.000001, 0);
    CHECK_STR(cJSON_GetStringValue(at(at(e, "args"), "model")), "gemm");
    CHECK(cJSON_IsTrue(at(at(e, "args"), "critical")));
    CHECK_REL(cJSON_GetNumberValue(at(at(e, "args"), "slack_us")), 2, 0);
    CHECK_REL(cJSON_GetNumberValue(at(at(e, "args"), "arrival_us")), 1, 0);
    CHECK_REL(cJSON_GetNumberValue(at(at(e, "args"), "traced_us")), 1.25, 0);
    e = cJSON_GetArrayItem(events, 14);
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "\xef\xbf\xbd");
    CHECK_INT(cJSON_GetNumberValue(at(e, "pid")), 2);
    CHECK_INT(cJSON_GetNumberValue(at(e, "tid")), 3 + 3);
    CHECK(!at(e, "args"));
    cJSON_Delete(o);
}

/* An arrow leaves one lane and arrives on another under one number. */
static void test_report_timeline__arrows(void)
{
    cJSON *o = written(path);
    const cJSON *from, *to;

    from = cJSON_GetArrayItem(at(o, "traceEvents"), 15);
    to = cJSON_GetArrayItem(at(o, "traceEvents"), 16);
    REQUIRE(from && to);
    CHECK_STR(cJSON_GetStringValue(at(from, "ph")), "s");
    CHECK_STR(cJSON_GetStringValue(at(to, "ph")), "f");
    CHECK_STR(cJSON_GetStringValue(at(to, "bp")), "e");
    CHECK_INT(cJSON_GetNumberValue(at(from, "id")),
              cJSON_GetNumberValue(at(to, "id")));
    CHECK_INT(cJSON_GetNumberValue(at(from, "tid")), 1);
    CHECK_INT(cJSON_GetNumberValue(at(to, "tid")), 2);
    CHECK_REL(cJSON_GetNumberValue(at(to, "ts")), 1.5, 0);
    cJSON_Delete(o);
}

/* The path is a process behind the two ranks, with a name and a place for it
 * and its track (4); a step has a track of its rank (2); counters write what
 * changes. */
static void test_report_timeline__tracks(void)
{
    struct msim_mark path_mark = {"gemm", "kernel", 1000000, 500000, 1, 2};
    struct msim_mark step = {"ProfilerStep#3", "step", 0,
                             9000000,          0,      MSIM_NONE};
    struct msim_load loads[] = {{1000000, 0, 1, 0}, {2000000, 0, 1, 4}};
    struct msim_timeline saved = timeline;
    const cJSON *events, *e;
    cJSON *o;

    timeline.path = &path_mark;
    timeline.steps = &step;
    timeline.loads = loads;
    timeline.n_path = timeline.n_steps = 1;
    timeline.n_loads = 2;
    o = written(path);
    events = at(o, "traceEvents");
    REQUIRE(cJSON_GetArraySize(events) == 17 + 6 + 2 + 3);
    e = cJSON_GetArrayItem(events, 23);
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "gemm");
    CHECK_INT(cJSON_GetNumberValue(at(e, "pid")), 3);
    CHECK_STR(cJSON_GetStringValue(at(at(e, "args"), "lane")), "stream 7");
    e = cJSON_GetArrayItem(events, 24);
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "ProfilerStep#3");
    CHECK_INT(cJSON_GetNumberValue(at(e, "pid")), 1);
    e = cJSON_GetArrayItem(events, 27);
    CHECK_STR(cJSON_GetStringValue(at(e, "ph")), "C");
    CHECK_STR(cJSON_GetStringValue(at(e, "name")), "launch queue");
    CHECK_INT(cJSON_GetNumberValue(at(at(e, "args"), "activities")), 4);
    cJSON_Delete(o);
    timeline = saved;
}

static void test_report_timeline__gzip(void)
{
    char packed[sizeof(path) + 3];
    cJSON *o;

    snprintf(packed, sizeof(packed), "%s.gz", path);
    o = written(packed);
    CHECK_INT(cJSON_GetArraySize(at(o, "traceEvents")), 17);
    cJSON_Delete(o);
}

static void test_report_timeline__empty(void)
{
    struct msim_timeline saved = timeline;
    cJSON *o;

    timeline.n_spans = timeline.n_lanes = timeline.n_arrows = 0;
    o = written(path);
    CHECK(o && cJSON_GetArraySize(at(o, "traceEvents")) == 0);
    cJSON_Delete(o);
    timeline = saved;
}

static void test_report_timeline__cannot_write(void)
{
    struct msim_error err = {0};

    CHECK_INT(msim_report_timeline(&timeline, "/nowhere/t.json", &err),
              MSIM_EIO);
    CHECK_STR(err.file, "/nowhere/t.json");
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_report_timeline__events);
    RUN(test_report_timeline__arrows);
    RUN(test_report_timeline__tracks);
    RUN(test_report_timeline__gzip);
    RUN(test_report_timeline__empty);
    RUN(test_report_timeline__cannot_write);
    return check_summary();
}

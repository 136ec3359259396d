/*
 * The parts that other benches time, small enough to count their instructions:
 * `bench_counts PART`. What tests/bench/counts.sh counts is counted() alone,
 * not what makes its input.
 */
#include "core/job/job.h"
#include "core/report/analyse/analysis_internal.h"
#include "serving/sim/serving_run.h"
#include "tests/bench/bare_yajl.h"
#include "tests/bench/dressed.h"
#include "tests/bench/hold.h"
#include "tests/bench/ten_stages.h"
#include "tests/unit/engine_starts.h"
#include "tests/unit/made_contention.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define TRACE    "data/traces/gpt2/kineto/rank-0.json.gz" /* where it is run */
#define TASKS    20000u
#define RUNS     5
#define LANES    DRESSED_LANES
#define REQUESTS 5000u

/* What a part works on; each has what it needs. */
struct scene {
    struct dressed d;
    struct made_graph shared;
    struct msim_engine *walk, *share;
    msim_ps *start, *slack;
    struct hold hold;
    struct msim_app app;
    struct msim_serving *serving;
    char *trace;
    size_t trace_len;
};

static void must(enum msim_status status)
{
    if (status != MSIM_OK)
        abort();
}

static void *room(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        abort();
    return p;
}

static void read_trace(struct scene *s)
{
    const size_t most = 1 << 20;
    gzFile in = gzopen(TRACE, "rb");
    int len;

    s->trace = room(most, 1);
    len = in ? gzread(in, s->trace, most) : 0;
    if (len <= 0 || gzclose(in) != Z_OK)
        abort();
    s->trace_len = (size_t)len;
}

static void scene_init(struct scene *s)
{
    read_trace(s);
    dressed_init(&s->d, TASKS);
    s->shared = made_graph_new(TASKS, LANES, 42);
    made_contention_random(&s->shared, LANES, 42);
    made_contention_spread(&s->shared, LANES);
    s->start = room(TASKS, sizeof(*s->start));
    s->slack = room(TASKS, sizeof(*s->slack));
    s->hold.at = room(LANES + 1, sizeof(*s->hold.at));
    must(msim_engine_new(&s->walk, &s->d.m.g));
    must(msim_engine_new(&s->share, &s->shared.g));
    ten_stages_init(&s->app);
    must(msim_serving_new(&s->serving, &s->app, NULL));
}

static void scene_release(struct scene *s)
{
    msim_serving_free(s->serving);
    msim_app_release(&s->app);
    msim_engine_free(s->share);
    msim_engine_free(s->walk);
    free(s->trace);
    free(s->hold.at);
    free(s->slack);
    free(s->start);
    made_contention_random_free(&s->shared);
    dressed_release(&s->d);
}

/* ---- parts -------------------------------------------------------------- */

static void hold(struct scene *s)
{
    for (int i = 0; i < RUNS; i++)
        hold_run(&s->hold, s->d.m.dur, LANES, TASKS);
}

static void engine_new(struct scene *s)
{
    struct msim_engine *e;

    for (int i = 0; i < RUNS; i++) {
        must(msim_engine_new(&e, &s->d.m.g));
        msim_engine_free(e);
    }
}

static void runs(struct msim_engine *e, const struct made_graph *m,
                 msim_ps *start)
{
    struct msim_scenario scenario = made_graph_scenario(m);

    for (int i = 0; i < RUNS; i++)
        must(engine_starts(e, &scenario, start, NULL));
}

static void engine_static(struct scene *s)
{
    runs(s->walk, &s->d.m, s->start);
}

static void engine_shared(struct scene *s)
{
    runs(s->share, &s->shared, s->start);
}

/* What says why, over a run that is there. */
static void why(struct scene *s)
{
    const struct msim_graph *g = &s->d.m.g;
    struct msim_run run = {.start = s->start, .dur = s->d.m.dur};
    struct msim_binding b = {NULL, NULL};
    struct msim_path path = {0};
    struct msim_window_times times;
    struct msim_waits waits;

    msim_window_bounds(g, &run, &times);
    must(msim_binding_init(&b, g, &run));
    must(msim_slack(g, &run, &b, &times, s->slack));
    must(msim_waits_find(g, &run, &b, &times, &waits));
    must(msim_path_find(&path, g, &run, &b, 0, &times));
    msim_path_release(&path);
    msim_binding_release(&b);
}

static void serving(struct scene *s)
{
    struct msim_serving_how how = {.requests = REQUESTS,
                                   .keep = MSIM_KEEP_VISITS};
    struct msim_serving_result r = {0};

    must(msim_serving_run(s->serving, &how, &r, NULL));
}

static void yajl(struct scene *s)
{
    yajl_handle bare = bare_yajl();

    bare_parse(bare, s->trace, s->trace_len);
    yajl_free(bare);
}

static void load(struct scene *s)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_job *job;

    must(msim_job_load_memory(&job, TRACE, s->trace, s->trace_len, &opt, NULL));
    msim_job_free(job);
}

static const struct part {
    const char *name;
    void (*run)(struct scene *s);
} PARTS[] = {
    {"hold", hold},
    {"engine_new", engine_new},
    {"engine_static", engine_static},
    {"engine_shared", engine_shared},
    {"why", why},
    {"serving", serving},
    {"yajl", yajl},
    {"load", load},
};

/* Known to counts.sh by its name. */
__attribute__((noinline)) static void counted(void (*run)(struct scene *s),
                                              struct scene *s)
{
    run(s);
}

int main(int argc, char **argv)
{
    struct scene s;

    for (size_t i = 0; argc == 2 && i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        if (strcmp(argv[1], PARTS[i].name) != 0)
            continue;
        scene_init(&s);
        if (PARTS[i].run == why) /* of a run that is there */
            engine_static(&s);
        counted(PARTS[i].run, &s);
        scene_release(&s);
        return 0;
    }
    fprintf(stderr, "usage: bench_counts PART\n");
    return 2;
}

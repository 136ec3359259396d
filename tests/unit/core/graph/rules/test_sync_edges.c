/*
 * tests/unit/core/graph/rules/test_sync_edges.c - the critical path on real
 * traces with recorded synchronisations.
 *
 * The critical path on real traces that record what each synchronisation
 * waited for (cuda_sync events), against edges listed by hand.
 *
 * The lists were made from the files alone, before any run, by these rules:
 *
 *   Stream Sync       waits for the last activity launched before the call on
 *                     the `stream` of its cuda_sync event
 *   Event Sync        waits for the last activity launched on wait_on_stream
 *                     before the call whose correlation is
 *                     wait_on_cuda_event_record_corr_id; of a
 *                     cudaEventSynchronize only: cudaEventQuery asks, and
 *                     does not wait
 *   Stream Wait Event the next activity launched on `stream` waits for the
 *                     last one launched before the record on wait_on_stream
 *   Context Sync      waits for the last activity of every stream
 *
 * An edge is on the path if the activity ended after the call began (for a
 * stream's wait: after its launch and the activity before it on its stream),
 * and what waited leads to the end of the window: in these files everything
 * on the one host thread does. Times are microseconds in the file, from its
 * first event.
 */
#include "core/graph/build/graph_build.h"
#include "core/job/job.h"
#include "core/report/analyse/critical.h"
#include "core/run/engine.h"
#include "tests/check.h"
#include "tests/unit/engine_starts.h"

#include <stdlib.h>

/* A synchronisation by correlation ids: of the activity waited for, and of
 * the call or activity that waits. */
struct sync_edge {
    enum msim_edge_kind kind;
    uint32_t from, to;
};

struct loaded {
    struct msim_job *job;
    struct msim_graph *g;
    msim_ps *start;
    struct msim_run run;
    struct msim_binding binding;
    struct msim_window_times *times;
    struct msim_path path; /* of the first window */
};

static enum msim_status load(struct loaded *l, const char *file)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_graph_options how = {.device_times = true};
    struct msim_scenario s = {0};
    struct msim_engine *e;
    enum msim_status status;
    char path[512];
    const char *paths[] = {path};

    memset(l, 0, sizeof(*l));
    snprintf(path, sizeof(path), "%s/traces/sync-edges-a100/%s", MSIM_TRACES,
             file);
    MSIM_TRY(msim_job_load(&l->job, paths, 1, &opt, NULL));
    MSIM_TRY(msim_graph_build(&l->g, l->job, &how, NULL));
    l->start = calloc((size_t)l->g->n_tasks + 1, sizeof(*l->start));
    l->times = calloc((size_t)l->g->n_windows + 1, sizeof(*l->times));
    memset(s.lag, 0xff, sizeof(s.lag));
    s.dur = l->g->traced;
    MSIM_TRY(msim_engine_new(&e, l->g));
    status = engine_starts(e, &s, l->start, NULL);
    msim_engine_free(e);
    MSIM_TRY(status);
    l->run = (struct msim_run){.start = l->start, .dur = l->g->traced};
    msim_window_bounds(l->g, &l->run, l->times);
    MSIM_TRY(msim_binding_init(&l->binding, l->g, &l->run));
    return msim_path_find(&l->path, l->g, &l->run, &l->binding, 0, l->times);
}

static void unload(struct loaded *l)
{
    msim_path_release(&l->path);
    msim_binding_release(&l->binding);
    free(l->start);
    free(l->times);
    msim_graph_free(l->g);
    msim_job_free(l->job);
}

/* The correlation id of a call's or an activity's task, or 0. */
static uint32_t correlation(const struct loaded *l, uint32_t task)
{
    const struct msim_trace *t = l->job->ranks[0];
    uint32_t index = l->g->refs[task].index;

    switch (l->g->kind[task]) {
    case MSIM_TASK_CALL:
        return t->calls[index].correlation;
    case MSIM_TASK_KERNEL:
    case MSIM_TASK_COPY:
        return t->gpu[index].correlation;
    default:
        return 0;
    }
}

static bool is_recorded_kind(enum msim_edge_kind kind)
{
    return kind == MSIM_EDGE_EVENT || kind == MSIM_EDGE_STREAM_SYNC ||
           kind == MSIM_EDGE_EVENT_SYNC || kind == MSIM_EDGE_DEVICE_SYNC;
}

static bool same(const struct sync_edge *x, const struct sync_edge *y)
{
    return x->kind == y->kind && x->from == y->from && x->to == y->to;
}

static bool among(const struct sync_edge *e, const struct sync_edge *all,
                  uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (same(e, &all[i]))
            return true;
    return false;
}

static void complain(const char *what, const struct sync_edge *e)
{
    if (!CHECK(!*what))
        fprintf(stderr, "    %s: %s from %u to %u\n", what,
                msim_edge_text(e->kind), e->from, e->to);
}

/* Synchronisations on the path; at most `capacity`. */
static uint32_t found_on_path(const struct loaded *l, struct sync_edge *found,
                              uint32_t capacity)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->path.n; i++) {
        const struct msim_piece *p = &l->path.pieces[i];
        struct sync_edge e;

        if (p->kind != MSIM_PIECE_WORK || p->by >= l->g->n_edges)
            continue;
        e = (struct sync_edge){msim_edge_kind_of(l->g->edge_kind[p->by]),
                               correlation(l, l->binding.from[p->task]),
                               correlation(l, p->task)};
        if (is_recorded_kind(e.kind) && n < capacity)
            found[n++] = e;
    }
    return n;
}

/* The path has these, and no other that cuda_sync events would record. */
static void check_path(const struct loaded *l, const struct sync_edge *want,
                       uint32_t n)
{
    struct sync_edge found[64];
    uint32_t n_found = found_on_path(l, found, 64);

    for (uint32_t i = 0; i < n; i++)
        if (!among(&want[i], found, n_found))
            complain("not on the path", &want[i]);
    for (uint32_t i = 0; i < n_found; i++)
        if (!among(&found[i], want, n))
            complain("not wanted on the path", &found[i]);
    CHECK_UINT(n_found, n);
}

/* The graph has edge `e`, known by recorded ids (of a device synchronisation:
 * or by what the call means). */
static void check_edge(const struct loaded *l, const struct sync_edge *e)
{
    const struct msim_graph *g = l->g;
    const char *what = "no such edge";

    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            struct sync_edge is = {msim_edge_kind_of(g->edge_kind[i]),
                                   correlation(l, t),
                                   correlation(l, g->edges[i].to)};
            enum msim_edge_source source = msim_edge_source_of(g->edge_kind[i]);

            if (!same(&is, e))
                continue;
            what =
                source == MSIM_FROM_IDS || (e->kind == MSIM_EDGE_DEVICE_SYNC &&
                                            source == MSIM_FROM_ORDER)
                    ? ""
                    : "known in another way than by ids";
        }
    complain(what, e);
}

static void check_edges(const struct loaded *l, const struct sync_edge *want,
                        uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        check_edge(l, &want[i]);
}

#define COUNT(a) (uint32_t)(sizeof(a) / sizeof(a)[0])

/*
 * One stream, 7. In the order of the host thread:
 *
 *   1511 cudaMemcpyAsync (pageable, device to host) 2917..2946: copy ended at
 *        2937. It blocks, but no cuda_sync event says so.
 *   1512 Stream Sync on 7, 2947..2953: copy 1511 had ended at 2937. No wait.
 *   1536 Event Sync, 3047..3081, record 1533 (at 3041): the last launch before
 *        it is 1526 (at 3027), the kernel ran 3037..3073. On the path.
 *   1537 Event Sync of a cudaEventQuery: does not wait.
 *   1549 Context Sync, 3139..3147: 1526 had ended at 3073. No wait.
 */
static void test_sync_edges__event_synchronisation(void)
{
    static const struct sync_edge edges[] = {
        {MSIM_EDGE_STREAM_SYNC, 1511, 1512},
        {MSIM_EDGE_EVENT_SYNC, 1526, 1536},
        {MSIM_EDGE_DEVICE_SYNC, 1526, 1549}};
    static const struct sync_edge on_path[] = {
        {MSIM_EDGE_EVENT_SYNC, 1526, 1536}};
    struct loaded l;

    SKIP_WITHOUT_TRACES();
    if (CHECK_INT(load(&l, "cuda_event_sync.json.gz"), MSIM_OK)) {
        check_edges(&l, edges, COUNT(edges));
        check_path(&l, on_path, COUNT(on_path));
    }
    unload(&l);
}

/*
 * Streams 20, 28, 24, one kernel on each.
 *
 *   24, 54, 1410  Event Syncs of cudaEventQuery: do not wait.
 *   1389 Stream Wait Event: stream 24 waits for record 1385 (at 19410) on
 *        stream 20, where 27 was launched last (at 414; it ended at 567). The
 *        next on stream 24 is memset 1411, launched at 19764: an edge, no wait.
 *   1424 Context Sync, 19910..19930: 27 ended at 567, 57 (stream 28) at 964,
 *        1413 (stream 24) at 19917. The last of them is on the path.
 */
static void test_sync_edges__several_streams(void)
{
    static const struct sync_edge edges[] = {
        {MSIM_EDGE_EVENT, 27, 1411},
        {MSIM_EDGE_DEVICE_SYNC, 27, 1424},
        {MSIM_EDGE_DEVICE_SYNC, 57, 1424},
        {MSIM_EDGE_DEVICE_SYNC, 1413, 1424}};
    static const struct sync_edge on_path[] = {
        {MSIM_EDGE_DEVICE_SYNC, 1413, 1424}};
    struct loaded l;

    SKIP_WITHOUT_TRACES();
    if (CHECK_INT(load(&l, "cuda_event_sync_multi_stream.json.gz"), MSIM_OK)) {
        check_edges(&l, edges, COUNT(edges));
        check_path(&l, on_path, COUNT(on_path));
    }
    unload(&l);
}

/*
 * Streams 7 and 20 (21 to 27 are waited for, but nothing ran there).
 *
 *   16 Stream Syncs on 7, each right after the pageable copy that it waits
 *      for, and each copy ended after its call began: 14 ended at 30429364,
 *      15 began at 30429360, and so on. All on the path.
 *   5170 stream 20 waits for record 5169 on 7: 5144, ended at 42193454; next
 *        is 5181, launched at 43237316. No wait.
 *   5183 20 for 5180 on 7: 5178, ended 43237359; next 5188, launched
 *        43241427. No wait.
 *   5194 7 for 5193 on 20: 5190, ended 43242384; next 5213, launched
 *        43242704. No wait.
 *   5586 20 for 5585 on 7: 5560, ended 43331095; next 5597, launched
 *        43345803. No wait.
 *   5599 20 for 5596 on 7: 5594, ended 43345868; next 5604 began at 43345901,
 *        when 5597 before it on its stream had ended, at 43345900. No wait.
 *   5610 7 for 5609 on 20: 5606, ended 43346372; next 5629, launched at
 *        43345932, began at 43346373. On the path: from 5629 to 5889 stream 7
 *        is never idle for more than 3 us, everything was launched before
 *        43348720, and 5894 waits for 5889.
 *   225, 5503, 5511, 5909  Context Syncs when all had ended. No wait.
 *   5894 Context Sync, 43348720..43349604: 5889 (stream 7) ended at 43349596.
 *        On the path.
 */
static void test_sync_edges__alexnet(void)
{
    static const struct sync_edge edges[] = {
        {MSIM_EDGE_EVENT, 5144, 5181},
        {MSIM_EDGE_EVENT, 5178, 5188},
        {MSIM_EDGE_EVENT, 5190, 5213},
        {MSIM_EDGE_EVENT, 5560, 5597},
        {MSIM_EDGE_EVENT, 5594, 5604},
        {MSIM_EDGE_EVENT, 5606, 5629},
        {MSIM_EDGE_DEVICE_SYNC, 218, 225},
        {MSIM_EDGE_DEVICE_SYNC, 5498, 5503},
        {MSIM_EDGE_DEVICE_SYNC, 5889, 5894},
        {MSIM_EDGE_DEVICE_SYNC, 5889, 5909},
    };
    static const struct sync_edge on_path[] = {
        {MSIM_EDGE_STREAM_SYNC, 14, 15},   {MSIM_EDGE_STREAM_SYNC, 25, 26},
        {MSIM_EDGE_STREAM_SYNC, 40, 41},   {MSIM_EDGE_STREAM_SYNC, 51, 52},
        {MSIM_EDGE_STREAM_SYNC, 62, 63},   {MSIM_EDGE_STREAM_SYNC, 73, 74},
        {MSIM_EDGE_STREAM_SYNC, 84, 85},   {MSIM_EDGE_STREAM_SYNC, 95, 96},
        {MSIM_EDGE_STREAM_SYNC, 106, 107}, {MSIM_EDGE_STREAM_SYNC, 117, 118},
        {MSIM_EDGE_STREAM_SYNC, 132, 133}, {MSIM_EDGE_STREAM_SYNC, 143, 144},
        {MSIM_EDGE_STREAM_SYNC, 158, 159}, {MSIM_EDGE_STREAM_SYNC, 169, 170},
        {MSIM_EDGE_STREAM_SYNC, 184, 185}, {MSIM_EDGE_STREAM_SYNC, 195, 196},
        {MSIM_EDGE_EVENT, 5606, 5629},     {MSIM_EDGE_DEVICE_SYNC, 5889, 5894},
    };
    struct loaded l;

    SKIP_WITHOUT_TRACES();
    if (CHECK_INT(load(&l, "alexnet.json.gz"), MSIM_OK)) {
        check_edges(&l, edges, COUNT(edges));
        check_edges(&l, on_path, COUNT(on_path));
        check_path(&l, on_path, COUNT(on_path));
    }
    unload(&l);
}

int main(void)
{
    RUN(test_sync_edges__event_synchronisation);
    RUN(test_sync_edges__several_streams);
    RUN(test_sync_edges__alexnet);
    return check_summary();
}

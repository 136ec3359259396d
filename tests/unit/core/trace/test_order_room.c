/*
 * tests/unit/core/trace/test_order_room.c - activities that end where their
 * stream has no room for them.
 */
#include "core/trace/trace_columns.h"
#include "tests/check.h"

#define MOST 40
#define US   ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_trace t;
    struct msim_gpu gpu[MOST];
    struct msim_call calls[MOST];
    struct msim_stream streams[3];
};

static void make(struct made *m)
{
    memset(m, 0, sizeof(*m));
    m->t = (struct msim_trace){
        .gpu = m->gpu, .calls = m->calls, .streams = m->streams};
}

static void add_stream(struct made *m, int64_t device)
{
    m->streams[m->t.n_streams++] =
        (struct msim_stream){device, m->t.n_streams, m->t.n_gpu, m->t.n_gpu};
}

static void add(struct made *m, msim_ps start, msim_ps end)
{
    uint32_t i = m->t.n_gpu++;

    m->gpu[i] = (struct msim_gpu){.start = start * US,
                                  .dur = (end - start) * US,
                                  .name = 100 + i,
                                  .stream = m->t.n_streams - 1,
                                  .call = MSIM_NONE};
    m->streams[m->t.n_streams - 1].gpu_end = m->t.n_gpu;
}

/* [100 i, 100 i + 50) for `n` activities, which fill a stream. */
static void add_many(struct made *m, msim_ps from, int n)
{
    for (int i = 0; i < n; i++)
        add(m, from + 100 * i, from + 100 * i + 50);
}

static const struct msim_import_count *row(const struct made *m,
                                           enum msim_import_kind kind)
{
    return &m->t.import.rows[kind];
}

static void order(struct made *m)
{
    CHECK_INT(msim_order_room(&m->t), MSIM_OK);
}

/* An end of the first of six, in ps, and where it lies then. */
static void check_end(msim_ps end, msim_ps want)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 6); /* the next is [100, 150), then [200, 250) */
    m.gpu[0].dur = end;
    order(&m);
    CHECK_INT(m.gpu[0].dur, want);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, end != want);
    CHECK_UINT(row(&m, MSIM_IMPORT_BESIDE)->n, 0);
}

/* The very next may begin before the end, but not end before it: a microsecond
 * is below what times are cut to. */
static void test_order_room__next(void)
{
    check_end(100 * US, 100 * US);
    check_end(130 * US, 130 * US);
    check_end(150 * US, 150 * US);
    check_end(151 * US, 151 * US);
    check_end(151 * US + 1, 100 * US);
    check_end(9000 * US, 100 * US);
}

/* Nor may the one after begin before the end. */
static void test_order_room__one_after_next(void)
{
    for (msim_ps over = 0; over < 2; over++) {
        struct made m;

        make(&m);
        add_stream(&m, 0);
        add_many(&m, 0, 6);
        m.gpu[1].dur = 500 * US; /* ends at 600: puts itself right */
        m.gpu[0].dur = 201 * US + over;
        order(&m);
        CHECK_INT(m.gpu[0].dur, over ? 100 * US : 201 * US);
        CHECK_INT(m.gpu[1].dur, 100 * US);
        CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, 1 + over);
    }
}

/* What is said: how long they were too long, and the longest as an example. */
static void test_order_room__log(void)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 12);
    m.gpu[1].dur = 300 * US;
    m.gpu[5].dur = 400 * US;
    m.gpu[9].dur = 170 * US;
    order(&m);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, 3);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->us, 200 + 300 + 70);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->example, 105);
}

/* More than a third of a stream is no fault of a record: it is no queue. */
static void check_beside(int overruns, bool is_queue, bool branches)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 9);
    for (int i = 0; i < overruns; i++)
        m.gpu[2 * i].dur = 160 * US;
    if (branches)
        m.calls[m.t.n_calls++] = (struct msim_call){
            .kind = MSIM_CALL_GRAPH_LAUNCH, .gpu = MSIM_NONE};
    order(&m);
    CHECK_INT(m.gpu[0].dur, (is_queue ? 100 : 160) * US);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, is_queue ? overruns : 0);
    CHECK_UINT(row(&m, MSIM_IMPORT_BESIDE)->n,
               is_queue || branches ? 0 : overruns);
}

static void test_order_room__no_queue(void)
{
    check_beside(3, true, false);
    check_beside(4, false, false);
    check_beside(4, false, true); /* its branches may be on the stream */
    check_beside(3, true, true);
}

/* A graph that names what it started explains nothing, nor do other calls. */
static void test_order_room__no_branches(void)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 9);
    for (int i = 0; i < 4; i++)
        m.gpu[2 * i].dur = 160 * US;
    m.t.n_calls = 2;
    m.calls[0] = (struct msim_call){.kind = MSIM_CALL_GRAPH_LAUNCH, .gpu = 3};
    m.calls[1] = (struct msim_call){.kind = MSIM_CALL_LAUNCH, .gpu = MSIM_NONE};
    order(&m);
    CHECK_UINT(row(&m, MSIM_IMPORT_BESIDE)->n, 4);
}

/* Those of one graph run beside each other: next is what is behind it, and
 * each graph is its own. */
static void test_order_room__graphs(void)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 12);
    m.t.n_calls = 2;
    for (int i = 2; i < 8; i++) {
        m.gpu[i].in_graph = true;
        m.gpu[i].call = i < 5 ? 0 : 1;
    }
    m.gpu[2].dur = 240 * US; /* to 440, behind both that are beside it */
    m.gpu[5].dur = 900 * US; /* to 1400, far behind the next graph's end */
    order(&m);
    CHECK_INT(m.gpu[2].dur, 240 * US);
    CHECK_INT(m.gpu[5].dur, 300 * US); /* 800 is the first behind */
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, 1);
}

/* Each stream for itself: what follows in the next one is no neighbour. */
static void test_order_room__streams(void)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add_many(&m, 0, 4);
    m.gpu[3].dur = 9000 * US;
    add_stream(&m, 0);
    add_many(&m, 0, 4);
    m.gpu[5].dur = 160 * US;
    order(&m);
    CHECK_INT(m.gpu[3].dur, 9000 * US);
    CHECK_INT(m.gpu[5].dur, 100 * US);
    CHECK_UINT(row(&m, MSIM_IMPORT_OVERRUN)->n, 1);
}

/* ---- behind the last one ------------------------------------------------- */

static void add_call(struct made *m, uint8_t kind, msim_ps start, msim_ps end)
{
    m->calls[m->t.n_calls++] = (struct msim_call){.kind = kind,
                                                  .start = start * US,
                                                  .dur = (end - start) * US,
                                                  .gpu = MSIM_NONE};
}

/* A kernel [10, to) that a call [0, 5) launched, and a synchronisation. */
static void check_last(msim_ps sync, msim_ps back, msim_ps to, msim_ps want)
{
    struct made m;

    make(&m);
    add_stream(&m, 0);
    add(&m, 10, to);
    m.gpu[0].call = 0;
    add_call(&m, MSIM_CALL_LAUNCH, 0, 5);
    add_call(&m, MSIM_CALL_STREAM_SYNC, 5, 6); /* of one stream, who knows */
    add_call(&m, MSIM_CALL_DEVICE_SYNC, sync, back);
    order(&m);
    CHECK_INT(m.gpu[0].dur, (want - 10) * US);
    CHECK_UINT(row(&m, MSIM_IMPORT_OUTLASTS)->n, want != to);
    CHECK_UINT(row(&m, MSIM_IMPORT_OUTLASTS)->us, to - want);
    CHECK_UINT(row(&m, MSIM_IMPORT_OUTLASTS)->example, want != to ? 100 : 0);
}

/* Clocks agree to a millisecond; a synchronisation before the launch's end does
 * not wait for it, and work that begins behind it is not what it waited for. */
static void test_order_room__last(void)
{
    check_last(5, 20, 1020, 1020);
    check_last(5, 20, 1021, 20);
    check_last(400, 2000, 9000, 2000);
    check_last(4, 20, 9000, 9000);
    check_last(5, 11, 9000, 11);
    check_last(5, 10, 9000, 9000);
    check_last(5, 9, 9000, 9000);
}

/* The first to return of those behind the launch, in whatever order they are;
 * none of a job with two devices, and none of what no call launched. */
static void test_order_room__first_to_return(void)
{
    for (int what = 0; what < 3; what++) {
        struct made m;

        make(&m);
        add_stream(&m, 0);
        add(&m, 10, 9000);
        m.gpu[0].call = what == 1 ? MSIM_NONE : 0;
        add_call(&m, MSIM_CALL_LAUNCH, 0, 5);
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 50, 300);
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 40, 500);
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 60, 200);
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 1, 30);
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 70, 400);
        add_stream(&m, what == 2);
        order(&m);
        CHECK_INT(m.gpu[0].dur, (what ? 8990 : 190) * US);
    }
}

/* One that began as the launch ended waits for it; a picosecond earlier, not.
 * Calls may be in any order. */
static void test_order_room__begin_of_a_sync(void)
{
    for (msim_ps early = 0; early < 2; early++) {
        struct made m;

        make(&m);
        add_stream(&m, 0);
        add(&m, 10, 9000);
        m.gpu[0].call = 1;
        add_call(&m, MSIM_CALL_DEVICE_SYNC, 5, 200);
        add_call(&m, MSIM_CALL_LAUNCH, 0, 5);
        m.calls[0].start -= early;
        order(&m);
        CHECK_INT(m.gpu[0].dur, (early ? 8990 : 190) * US);
    }
}

int main(void)
{
    RUN(test_order_room__next);
    RUN(test_order_room__one_after_next);
    RUN(test_order_room__log);
    RUN(test_order_room__no_queue);
    RUN(test_order_room__no_branches);
    RUN(test_order_room__graphs);
    RUN(test_order_room__streams);
    RUN(test_order_room__last);
    RUN(test_order_room__first_to_return);
    RUN(test_order_room__begin_of_a_sync);
    return check_summary();
}

/*
 * tests/unit/core/report/analyse/test_period_sides.c - when iterations begin
 * and end in a run and in the trace, and which of them count.
 *
 * Two iterations of one rank: in the trace marks 0..100 and 100..200, in the
 * run 0..80 and 80..160.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define TASKS 16
#define CALLS 64

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_step steps[2];
    struct msim_gpu gpu[TASKS];
    struct msim_call calls[CALLS];
    uint8_t kind[TASKS], removed[TASKS], states[2], given[2];
    uint32_t lane[TASKS], window[TASKS], own_name[TASKS], launch_from[TASKS];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS], late[TASKS];
    struct msim_window windows[2];
    int64_t iterations[2];
    struct msim_window_times mid[2], low[2], high[2];
    struct msim_outcome o;
    struct msim_findings f;
    struct msim_period_finding k;
};

static struct made made;

static void make(void)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    m->job.n_ranks = 1;
    m->job.ranks = m->ranks;
    m->ranks[0] = &m->trace;
    m->trace = (struct msim_trace){.steps = m->steps,
                                   .n_steps = 2,
                                   .gpu = m->gpu,
                                   .calls = m->calls,
                                   .has_times = true,
                                   .has_gpu_events = true};
    for (uint32_t w = 0; w < 2; w++) {
        m->steps[w] = (struct msim_step){.start = 100 * w, .dur = 100};
        m->windows[w] =
            (struct msim_window){.iteration = w, .step = w, .measured = 100};
        m->iterations[w] = 5 + w;
        m->mid[w] =
            (struct msim_window_times){.begin = 80 * w, .end = 80 * (w + 1)};
        m->low[w] =
            (struct msim_window_times){.begin = 70 * w, .end = 70 * (w + 1)};
        m->high[w] =
            (struct msim_window_times){.begin = 90 * w, .end = 90 * (w + 1)};
    }
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .refs = m->refs,
                               .own_name = m->own_name,
                               .windows = m->windows,
                               .n_windows = 2,
                               .iterations = m->iterations,
                               .n_iterations = 2};
    m->o = (struct msim_outcome){
        .graph = &m->g,
        .mid = {.start = m->start, .dur = m->dur, .removed = m->removed},
        .gpu_times = true};
    m->o.low = m->o.high = m->o.mid;
    m->f = (struct msim_findings){.o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .mid = m->mid,
                                  .low = m->low,
                                  .high = m->high};
    m->k = (struct msim_period_finding){.f = &m->f,
                                        .g = &m->g,
                                        .wanted = 1u << MSIM_PERIOD_MID,
                                        .states = m->states};
}

/* [start, +dur) in the run, [at, +took) in the trace. */
static uint32_t add(uint8_t kind, uint32_t window, msim_ps start, msim_ps dur,
                    msim_ps at, msim_ps took)
{
    uint32_t t = made.g.n_tasks++;

    made.kind[t] = kind;
    made.window[t] = window;
    made.refs[t] = (struct msim_task_ref){.index = t};
    made.start[t] = start;
    made.dur[t] = dur;
    made.launch_from[t] = MSIM_NONE;
    made.gpu[t] =
        (struct msim_gpu){.start = at, .dur = took, .call = MSIM_NONE};
    return t;
}

static void check_range(enum msim_period_side side, uint32_t w, msim_ps begin,
                        msim_ps end, msim_ps gpu, msim_ps gpu_end, bool known)
{
    const struct msim_range *s = &made.k.sides[side].spans[w];

    CHECK_INT(s->known, known);
    CHECK_INT(s->host_begin, begin);
    CHECK_INT(s->host_end, end);
    CHECK_INT(s->gpu_begin, gpu);
    CHECK_INT(s->gpu_end, gpu_end);
}

/* ---- one activity -------------------------------------------------------- */

static void test_period__activity(void)
{
    struct msim_activity a;
    uint32_t join, t;

    make();
    join = add(MSIM_TASK_JOIN, 0, 10, 0, 0, 0);
    t = add(MSIM_TASK_COMM, 0, 30, 5, 300, 50);
    add(MSIM_TASK_KERNEL, 0, 2, 3, 0, 0);
    made.gpu[t].call = 1;
    made.calls[1] = (struct msim_call){.start = 200, .dur = 7};
    /* In the run from its arrival on; launched when that call was over. */
    CHECK(msim_period_activity(&made.k, MSIM_PERIOD_MID, t, &a));
    CHECK_INT(a.start, 10);
    CHECK_INT(a.end, 35);
    CHECK_INT(a.launched, MSIM_TIME_NONE);
    made.k.launch_from = made.launch_from;
    made.launch_from[join] = 2;
    CHECK(msim_period_activity(&made.k, MSIM_PERIOD_MID, t, &a));
    CHECK_INT(a.launched, 5);
    made.removed[t] = 1;
    CHECK(!msim_period_activity(&made.k, MSIM_PERIOD_MID, t, &a));
    /* In the trace as it was recorded. */
    CHECK(msim_period_activity(&made.k, MSIM_PERIOD_TRACED, t, &a));
    CHECK_INT(a.start, 300);
    CHECK_INT(a.end, 350);
    CHECK_INT(a.launched, 207);
    made.gpu[t].call = MSIM_NONE;
    CHECK(msim_period_activity(&made.k, MSIM_PERIOD_TRACED, t, &a));
    CHECK_INT(a.launched, MSIM_TIME_NONE);
    made.gpu[t].start = MSIM_TIME_NONE;
    CHECK(!msim_period_activity(&made.k, MSIM_PERIOD_TRACED, t, &a));
    made.refs[t].index = MSIM_NONE;
    CHECK(!msim_period_activity(&made.k, MSIM_PERIOD_TRACED, t, &a));
}

/* ---- ranges -------------------------------------------------------------- */

static void fill(void)
{
    make();
    add(MSIM_TASK_KERNEL, 1, 100, 90, 110, 95);
    add(MSIM_TASK_COPY, 0, 20, 10, 30, 10);
    add(MSIM_TASK_KERNEL, 0, 5, 10, 10, 10);
    add(MSIM_TASK_KERNEL, 0, 60, 30, 90, 25);
    /* No GPU work of an iteration. */
    add(MSIM_TASK_CALL, 0, 0, 500, 0, 500);
    add(MSIM_TASK_JOIN, 0, 0, 500, 0, 500);
    add(MSIM_TASK_KERNEL, MSIM_NONE, 0, 500, 0, 500);
}

static void test_period__ranges(void)
{
    fill();
    REQUIRE(msim_period_prepare(&made.k) == MSIM_OK);
    check_range(MSIM_PERIOD_TRACED, 0, 0, 100, 10, 115, true);
    check_range(MSIM_PERIOD_TRACED, 1, 100, 200, 110, 205, true);
    /* The first is over at 115, then it is what the second takes. */
    CHECK_INT(made.k.sides[MSIM_PERIOD_TRACED].took[0].ps, MSIM_TIME_NONE);
    CHECK_INT(made.k.sides[MSIM_PERIOD_TRACED].took[1].ps, 90);
    CHECK_UINT(made.k.gpu_begin[0], 0);
    CHECK_UINT(made.k.gpu_begin[1], 3);
    CHECK_UINT(made.k.gpu_begin[2], 4);
    CHECK_UINT(made.k.on_gpu[0], 1);
    CHECK_UINT(made.k.on_gpu[3], 0);
    REQUIRE(msim_period_find_side(&made.k, MSIM_PERIOD_MID) == MSIM_OK);
    check_range(MSIM_PERIOD_MID, 0, 0, 80, 5, 90, true);
    check_range(MSIM_PERIOD_MID, 1, 80, 160, 100, 190, true);
    CHECK_INT(made.k.sides[MSIM_PERIOD_MID].took[1].ps, 100);
    msim_period_release(&made.k);
}

/* Sides that nobody wants are not looked at; those that are the middle run are
 * taken from it. */
static void test_period__sides(void)
{
    fill();
    made.k.wanted |= 1u << MSIM_PERIOD_HIGH;
    REQUIRE(msim_period_prepare(&made.k) == MSIM_OK);
    for (int side = MSIM_PERIOD_MID; side <= MSIM_PERIOD_HIGH; side++)
        REQUIRE(msim_period_find_side(&made.k, (enum msim_period_side)side) ==
                MSIM_OK);
    check_range(MSIM_PERIOD_HIGH, 1, 80, 160, 100, 190, true);
    CHECK_INT(made.k.sides[MSIM_PERIOD_HIGH].took[1].ps, 100);
    check_range(MSIM_PERIOD_LOW, 1, 0, 0, 0, 0, false);
    for (uint32_t t = 0; t < made.g.n_tasks; t++)
        made.late[t] = made.start[t] + 1000;
    made.o.high.start = made.late;
    REQUIRE(msim_period_find_side(&made.k, MSIM_PERIOD_HIGH) == MSIM_OK);
    check_range(MSIM_PERIOD_HIGH, 1, 90, 180, 1100, 1190, true);
    made.o.low.start = made.late;
    made.k.wanted |= 1u << MSIM_PERIOD_LOW;
    REQUIRE(msim_period_find_side(&made.k, MSIM_PERIOD_LOW) == MSIM_OK);
    check_range(MSIM_PERIOD_LOW, 1, 70, 140, 1100, 1190, true);
    msim_period_release(&made.k);
}

/* A window without a mark is as long as it was measured; one of an empty mark,
 * one that was not measured and one whose work has no time are not known. */
static void test_period__traced(void)
{
    for (int what = 0; what < 6; what++) {
        uint32_t t;

        make();
        t = add(MSIM_TASK_KERNEL, 1, 100, 90, 110, 95);
        if (what == 0)
            made.windows[1].step = MSIM_NONE;
        else if (what == 1)
            made.windows[1].empty = true;
        else if (what == 2)
            made.windows[1].measured = MSIM_TIME_NONE;
        else if (what == 3)
            made.steps[1].start = MSIM_TIME_NONE;
        else
            made.refs[t].index = MSIM_NONE;
        if (what == 5)
            made.own_name[t] = 3; /* work that a what-if adds */
        REQUIRE(msim_period_prepare(&made.k) == MSIM_OK);
        if (what == 0)
            check_range(MSIM_PERIOD_TRACED, 1, 0, 100, 110, 205, true);
        CHECK_INT(made.k.sides[MSIM_PERIOD_TRACED].spans[1].known,
                  what == 0 || what == 5);
        CHECK(made.k.sides[MSIM_PERIOD_TRACED].spans[0].known);
        msim_period_release(&made.k);
    }
}

/* In a run an added or removed task changes no more than itself. */
static void test_period__removed(void)
{
    fill();
    made.removed[0] = made.removed[3] = 1;
    REQUIRE(msim_period_prepare(&made.k) == MSIM_OK);
    REQUIRE(msim_period_find_side(&made.k, MSIM_PERIOD_MID) == MSIM_OK);
    check_range(MSIM_PERIOD_MID, 0, 0, 80, 5, 30, true);
    check_range(MSIM_PERIOD_MID, 1, 80, 160, MSIM_TIME_NONE, MSIM_TIME_NONE,
                true);
    msim_period_release(&made.k);
}

/* ---- states -------------------------------------------------------------- */

static void add_call(msim_ps start, uint8_t kind, bool lost)
{
    made.calls[made.trace.n_calls++] = (struct msim_call){
        .start = start, .kind = kind, .gpu = lost ? MSIM_NONE : 0};
}

/* Of `n` launches of the second iteration `lost` have no work. */
static bool is_undrained(int n, int lost, uint8_t kind)
{
    bool undrained;

    for (int i = 0; i < n; i++)
        add_call(100 + i, kind, i < lost);
    CHECK_INT(msim_period_prepare(&made.k), MSIM_OK);
    undrained = made.k.undrained[1];
    CHECK(!made.k.undrained[0]);
    msim_period_release(&made.k);
    return undrained;
}

/* More than a twentieth, of launches in marks, of traces that have a GPU; a run
 * that is compared with another takes its states. */
static void test_period__undrained(void)
{
    make();
    CHECK(!is_undrained(20, 1, MSIM_CALL_LAUNCH));
    make();
    CHECK(is_undrained(19, 1, MSIM_CALL_LAUNCH));
    make();
    CHECK(is_undrained(2, 1, MSIM_CALL_GRAPH_LAUNCH));
    make();
    CHECK(!is_undrained(2, 2, MSIM_CALL_MEMCPY));
    make();
    made.trace.has_gpu_events = false;
    CHECK(!is_undrained(2, 2, MSIM_CALL_LAUNCH));
    make();
    made.windows[1].first = made.windows[1].last = MSIM_NONE; /* no mark */
    CHECK(!is_undrained(2, 2, MSIM_CALL_LAUNCH));
    make();
    made.o.states = made.given;
    CHECK(!is_undrained(2, 2, MSIM_CALL_LAUNCH));
    make();
    add_call(200, MSIM_CALL_LAUNCH, true); /* behind both */
    CHECK(!is_undrained(0, 0, MSIM_CALL_LAUNCH));
}

static void find_states(void)
{
    CHECK_INT(msim_period_prepare(&made.k), MSIM_OK);
    CHECK_INT(msim_period_find_side(&made.k, MSIM_PERIOD_MID), MSIM_OK);
    CHECK_INT(msim_period_find_states(&made.k), MSIM_OK);
}

/* By the trace, where all of it is known and may be read, else by the run: in
 * the trace the GPU falls behind, in the run it does not. */
static void test_period__judged(void)
{
    for (int what = 0; what < 4; what++) {
        make();
        add(MSIM_TASK_KERNEL, 0, 5, 10, 10, 20);
        add(MSIM_TASK_KERNEL, 1, 85, 10, 110, 190);
        if (what == 1)
            made.o.gpu_times = false;
        if (what == 2)
            made.windows[0].measured = MSIM_TIME_NONE;
        if (what == 3)
            made.o.states = made.given;
        made.given[0] = MSIM_ITERATION_UNDRAINED;
        made.given[1] = MSIM_ITERATION_EMPTY;
        find_states();
        CHECK_INT(made.states[0],
                  what == 3 ? MSIM_ITERATION_UNDRAINED : MSIM_ITERATION_FIRST);
        CHECK_INT(made.states[1], what == 0   ? MSIM_ITERATION_RUN_UP
                                  : what == 3 ? MSIM_ITERATION_EMPTY
                                              : MSIM_ITERATION_SETTLED);
        CHECK_INT(made.k.level,
                  what == 3 ? MSIM_ITERATION_UNDRAINED : made.states[1]);
        CHECK_INT(msim_period_counts(&made.k, 1), what != 3);
        CHECK_INT(msim_period_counts(&made.k, 0), what == 3);
        msim_period_release(&made.k);
    }
}

/* The best of the selected ones count. */
static void test_period__level(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        make();
        made.o.states = made.given;
        made.given[0] = MSIM_ITERATION_UNDRAINED;
        made.f.iteration = i;
        find_states();
        CHECK_INT(made.k.level,
                  i ? MSIM_ITERATION_SETTLED : MSIM_ITERATION_UNDRAINED);
        CHECK_INT(msim_period_counts(&made.k, 0), i == 0);
        CHECK_INT(msim_period_counts(&made.k, 1), i == 1);
        msim_period_release(&made.k);
    }
    make(); /* of nothing but empty ones they do */
    made.o.states = made.given;
    made.given[0] = made.given[1] = MSIM_ITERATION_EMPTY;
    find_states();
    CHECK_INT(made.k.level, MSIM_ITERATION_EMPTY);
    CHECK(msim_period_counts(&made.k, 0));
    msim_period_release(&made.k);
}

static void test_period__words(void)
{
    static const char *const WANT[] = {"settled", "run-up", "first",
                                       "undrained", "empty"};

    for (int i = 0; i < 5; i++)
        CHECK_STR(msim_iteration_state_text((enum msim_iteration_state)i),
                  WANT[i]);
}

int main(void)
{
    RUN(test_period__activity);
    RUN(test_period__ranges);
    RUN(test_period__sides);
    RUN(test_period__traced);
    RUN(test_period__removed);
    RUN(test_period__undrained);
    RUN(test_period__judged);
    RUN(test_period__level);
    RUN(test_period__words);
    return check_summary();
}

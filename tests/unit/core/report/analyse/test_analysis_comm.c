/*
 * tests/unit/core/report/analyse/test_analysis_comm.c - collectives, how far
 * apart ranks arrive at them, and who is last.
 *
 * A call is an arrival and a transfer on a stream of each of its ranks; where
 * ranks meet, all arrivals lead to one task of no lane. Times are in us.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define RANKS 3
#define TASKS 64
#define US    ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace traces[RANKS], *ranks[RANKS];
    struct msim_comm comms[RANKS][8];
    struct msim_group groups[3];
    struct msim_gpu gpu[RANKS][32];
    struct msim_op ops[RANKS][1];
    uint8_t kind[TASKS];
    uint32_t lane[TASKS], window[TASKS], edge_begin[TASKS + 1];
    struct msim_edge edges[TASKS];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS];
    struct msim_window windows[2 * RANKS];
    struct msim_outcome o;
    struct msim_prediction p;
    struct msim_findings f;
    struct msim_window_times times[2 * RANKS];
};

static struct made made;
static int32_t members[] = {0, 1, 2, 0, 1};

static void make(struct made *m)
{
    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = RANKS;
    m->job.ranks = m->ranks;
    m->groups[0] = (struct msim_group){.size = 3, .first = 0, .count = 3};
    m->groups[1] = (struct msim_group){.size = 2, .first = 3, .count = 2};
    m->groups[2] = (struct msim_group){.size = 2};
    CHECK_INT(msim_strtab_add(m->job.strings, "all", 3, &m->groups[0].name),
              MSIM_OK);
    for (uint32_t r = 0; r < RANKS; r++) {
        m->ranks[r] = &m->traces[r];
        m->traces[r] = (struct msim_trace){.comms = m->comms[r],
                                           .groups = m->groups,
                                           .group_ranks = members,
                                           .gpu = m->gpu[r],
                                           .ops = m->ops[r],
                                           .strings = m->job.strings,
                                           .rank = 10 + r};
    }
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .edge_begin = m->edge_begin,
                               .edges = m->edges,
                               .refs = m->refs,
                               .windows = m->windows,
                               .n_windows = 2 * RANKS,
                               .n_iterations = 2};
    for (uint32_t w = 0; w < 2 * RANKS; w++)
        m->windows[w] =
            (struct msim_window){.rank = w % RANKS, .iteration = w / RANKS};
    m->o.mid = (struct msim_run){.start = m->start, .dur = m->dur};
    msim_arena_init(&m->p.arena);
    m->f = (struct msim_findings){.p = &m->p,
                                  .o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .mid = m->times};
}

static void release(struct made *m)
{
    msim_arena_release(&m->p.arena);
    msim_strtab_free(m->job.strings);
}

static uint32_t add_task(struct made *m, uint8_t kind, uint32_t lane,
                         uint32_t window, msim_ps start, msim_ps dur)
{
    uint32_t t = m->g.n_tasks++;

    m->kind[t] = kind;
    m->lane[t] = lane;
    m->window[t] = window;
    m->start[t] = start * US;
    m->dur[t] = dur * US;
    m->refs[t] = (struct msim_task_ref){.index = MSIM_NONE, .op = MSIM_NONE};
    m->edge_begin[t + 1] = m->g.n_edges;
    return t;
}

/* Call `comm` of ranks 0 .. n - 1, who arrive at `at` and transfer [to, to +
 * dur); `meet`: they meet in one task. */
static void call(struct made *m, uint32_t comm, uint32_t iteration,
                 const msim_ps *at, uint32_t n, msim_ps to, msim_ps dur,
                 bool meet)
{
    uint32_t first = m->g.n_tasks;

    for (uint32_t r = 0; r < n; r++) {
        uint32_t t, gpu = m->traces[r].n_gpu++;

        add_task(m, MSIM_TASK_JOIN, r, iteration * RANKS + r, at[r], 0);
        if (meet) {
            m->edges[m->g.n_edges++] = (struct msim_edge){first + 2 * n, 0};
            m->edge_begin[m->g.n_tasks] = m->g.n_edges;
        }
        t = add_task(m, MSIM_TASK_COMM, r, iteration * RANKS + r, to, dur);
        m->gpu[r][gpu].comm = comm;
        m->refs[t - 1].rank = m->refs[t].rank = (uint16_t)r;
        m->refs[t].index = gpu;
    }
    if (meet)
        add_task(m, MSIM_TASK_JOIN, MSIM_NONE, MSIM_NONE, to, 0);
}

/* The same call of all ranks. */
static void set(struct made *m, uint32_t comm, struct msim_comm c)
{
    for (uint32_t r = 0; r < RANKS; r++)
        m->comms[r][comm] = c;
}

static void check_row(const struct msim_collective_row *c, const char *name,
                      double bytes, uint32_t ranks, double calls,
                      double transfer, double wait, double skew, double most,
                      int64_t last)
{
    CHECK_STR(c->name, name);
    if (isnan(bytes))
        CHECK(isnan(c->bytes));
    else
        CHECK_REL(c->bytes, bytes, 1e-12);
    CHECK_UINT(c->ranks, ranks);
    CHECK_REL(c->calls, calls, 1e-12);
    CHECK_REL(c->transfer_us, transfer, 1e-12);
    CHECK_REL(c->wait_us, wait, 1e-12);
    if (isnan(skew)) {
        CHECK(isnan(c->skew_mean_us));
        CHECK(isnan(c->skew_max_us));
    } else {
        CHECK_REL(c->skew_mean_us, skew, 1e-12);
        CHECK_REL(c->skew_max_us, most, 1e-12);
    }
    CHECK_INT(c->last_rank, last);
}

static const struct msim_comm REDUCE = {.collective = MSIM_COLL_ALL_REDUCE,
                                        .in_elems = 500,
                                        .out_elems = 1000,
                                        .dtype = MSIM_DT_BF16};

/* Two calls in two iterations: arrivals 0, 40, 10, then 130, 100, 100. */
static void test_analysis_comm__one(void)
{
    make(&made);
    set(&made, 0, REDUCE);
    call(&made, 0, 0, (msim_ps[]){0, 40, 10}, 3, 40, 6, true);
    call(&made, 0, 1, (msim_ps[]){130, 100, 100}, 3, 130, 12, true);
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 1);
    /* Waits: 40 + 0 + 30 and 0 + 30 + 30 over three ranks, two iterations. */
    check_row(&made.p.collectives[0], "all_reduce", 2000, 3, 1, 9,
              130.0 / 3 / 2, 35, 40, 10);
    CHECK_STR(made.p.collectives[0].group, "all");
    REQUIRE(made.p.n_stragglers == 2);
    CHECK_INT(made.p.stragglers[0].rank, 11);
    CHECK_REL(made.p.stragglers[0].last_in, 0.5, 1e-12);
    CHECK_REL(made.p.stragglers[0].wait_caused_us, 35, 1e-12);
    CHECK_INT(made.p.stragglers[1].rank, 10);
    CHECK_REL(made.p.stragglers[1].wait_caused_us, 30, 1e-12);
    release(&made);
}

/* Of one iteration alone. */
static void test_analysis_comm__selected(void)
{
    make(&made);
    set(&made, 0, REDUCE);
    call(&made, 0, 0, (msim_ps[]){0, 40, 10}, 3, 40, 6, true);
    call(&made, 0, 1, (msim_ps[]){130, 100, 100}, 3, 130, 12, true);
    made.f.iteration = 1;
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 1);
    check_row(&made.p.collectives[0], "all_reduce", 2000, 3, 1, 12, 20, 30, 30,
              10);
    REQUIRE(made.p.n_stragglers == 1);
    CHECK_REL(made.p.stragglers[0].last_in, 1, 1e-12);
    CHECK_REL(made.p.stragglers[0].wait_caused_us, 60, 1e-12);
    release(&made);
}

/* Who is last more often; equally often: the first. Nobody waits for one who
 * comes with all others. */
static void test_analysis_comm__last(void)
{
    make(&made);
    set(&made, 0, REDUCE);
    call(&made, 0, 0, (msim_ps[]){10, 10, 10}, 3, 10, 1, true);
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    check_row(&made.p.collectives[0], "all_reduce", 2000, 3, 0.5, 0.5, 0, 0, 0,
              -1);
    CHECK_UINT(made.p.n_stragglers, 0);
    release(&made);
    make(&made);
    set(&made, 0, REDUCE);
    call(&made, 0, 0, (msim_ps[]){0, 5, 0}, 3, 5, 1, true);
    call(&made, 0, 0, (msim_ps[]){0, 0, 5}, 3, 5, 1, true);
    call(&made, 0, 0, (msim_ps[]){0, 5, 5}, 3, 5, 1, true); /* the first */
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    CHECK_INT(made.p.collectives[0].last_rank, 11);
    REQUIRE(made.p.n_stragglers == 2);
    CHECK_INT(made.p.stragglers[0].rank, 11);
    CHECK_REL(made.p.stragglers[0].wait_caused_us, 7.5, 1e-12); /* 10 and 5 */
    CHECK_INT(made.p.stragglers[1].rank, 12);
    CHECK_REL(made.p.stragglers[1].wait_caused_us, 5, 1e-12);
    release(&made);
}

/* Equal stragglers are in the order of ranks. */
static void test_analysis_comm__equal_stragglers(void)
{
    make(&made);
    set(&made, 0, REDUCE);
    for (int last = 2; last >= 0; last--) {
        msim_ps at[3] = {0};

        at[last] = 4;
        call(&made, 0, 0, at, 3, 4, 1, true);
    }
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_stragglers == 3);
    for (int r = 0; r < 3; r++)
        CHECK_INT(made.p.stragglers[r].rank, 10 + r);
    CHECK_INT(made.p.collectives[0].last_rank, 10);
    release(&made);
}

/* Ranks that meet nobody: each call is one of its own rank, and has no skew.
 * What is not a collective's is left out. */
static void test_analysis_comm__alone(void)
{
    make(&made);
    set(&made, 0, REDUCE);
    call(&made, 0, 0, (msim_ps[]){0, 40}, 2, 50, 6, false);
    call(&made, MSIM_NONE, 0, (msim_ps[]){0}, 1, 50, 6, false);
    call(&made, 0, 0, (msim_ps[]){0}, 1, 50, 6, false);
    made.refs[made.g.n_tasks - 1].index = MSIM_NONE; /* of an operator */
    made.refs[made.g.n_tasks - 1].op = 0;
    made.ops[0][0].comm = 0;
    call(&made, 0, 0, (msim_ps[]){0}, 1, 50, 6, false);
    made.refs[made.g.n_tasks - 1].index = MSIM_NONE; /* of nothing */
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 1);
    check_row(&made.p.collectives[0], "all_reduce", 2000, 1, 1.5, 9, 55, NAN,
              NAN, -1);
    CHECK_UINT(made.p.n_stragglers, 0);
    release(&made);
}

/* A transfer without an arrival is its own; and of two kinds of calls each has
 * its last rank: none of a call alone, though one behind it meets. */
static void test_analysis_comm__beside(void)
{
    struct msim_comm c = REDUCE;
    uint32_t t;

    make(&made);
    set(&made, 0, REDUCE);
    c.in_elems = c.out_elems = 7;
    set(&made, 1, c);
    t = add_task(&made, MSIM_TASK_COMM, 0, 0, 0, 500);
    made.refs[t].index = made.traces[0].n_gpu++;
    call(&made, 0, 0, (msim_ps[]){500}, 1, 500, 500, false);
    call(&made, 1, 0, (msim_ps[]){900, 800}, 2, 900, 1, true);
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 2);
    check_row(&made.p.collectives[0], "all_reduce", 2000, 1, 1, 500, 0, NAN,
              NAN, -1);
    check_row(&made.p.collectives[1], "all_reduce", 14, 2, 0.5, 0.5, 25, 100,
              100, 10);
    release(&made);
}

/* By kind, bytes and group, which is its ranks, or its name and size. */
static void test_analysis_comm__rows(void)
{
    struct msim_comm c = REDUCE;

    make(&made);
    set(&made, 0, c);
    c.group = 1;
    set(&made, 1, c); /* of fewer ranks */
    c.group = 2;
    set(&made, 2, c); /* that does not list them */
    c.group = MSIM_NONE;
    set(&made, 3, c);
    c.out_elems = 400;
    set(&made, 4, c); /* 500 elements */
    c.collective = MSIM_COLL_BARRIER;
    c.in_elems = c.out_elems = 0;
    set(&made, 5, c);
    c = REDUCE;
    c.dtype = MSIM_DT_F32;
    c.out_elems = 500;
    set(&made, 6, c); /* the first again: as many bytes of another type */
    for (uint32_t i = 0; i < 7; i++)
        call(&made, i, 0, (msim_ps[]){0, 0}, 2, 1 + i, 2, true);
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 6);
    /* What takes longest first: the first and the last, 4 us and 1 + 7. */
    check_row(&made.p.collectives[0], "all_reduce", 2000, 2, 1, 2, 4, 0, 0, -1);
    check_row(&made.p.collectives[1], "barrier", NAN, 2, 0.5, 1, 3, 0, 0, -1);
    check_row(&made.p.collectives[2], "all_reduce", 1000, 2, 0.5, 1, 2.5, 0, 0,
              -1);
    for (int i = 3; i < 6; i++)
        check_row(&made.p.collectives[i], "all_reduce", 2000, 2, 0.5, 1,
                  2 - 0.5 * (i - 3), 0, 0, -1);
    CHECK_STR(made.p.collectives[0].group, "all");
    CHECK(made.p.collectives[3].group == NULL);
    CHECK_STR(made.p.collectives[4].group, "");
    release(&made);
}

/* Of equal times the larger is first, then the name decides. */
static void test_analysis_comm__ties(void)
{
    struct msim_comm c = REDUCE;

    make(&made);
    c.collective = MSIM_COLL_REDUCE;
    set(&made, 0, c);
    set(&made, 1, REDUCE);
    c.out_elems = 2000;
    set(&made, 2, c);
    for (uint32_t i = 0; i < 3; i++)
        call(&made, i, 0, (msim_ps[]){0, 0}, 2, 1, 2, true);
    REQUIRE(msim_analyse_comm(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_collectives == 3);
    CHECK_REL(made.p.collectives[0].bytes, 4000, 1e-12);
    CHECK_STR(made.p.collectives[1].name, "all_reduce");
    CHECK_STR(made.p.collectives[2].name, "reduce");
    release(&made);
}

/* ---- windows ------------------------------------------------------------- */

static void test_analysis__windows(void)
{
    struct msim_windows w;

    make(&made);
    CHECK_UINT(msim_findings_windows(&made.f, UINT32_MAX), 2);
    CHECK_UINT(msim_findings_windows(&made.f, 1), 2);
    CHECK_UINT(msim_findings_windows(&made.f, 7), 0);
    for (uint32_t i = 0; i < 2 * RANKS; i++)
        made.times[i] =
            (struct msim_window_times){.begin = 10 * i, .end = 10 * i + 5};
    REQUIRE(msim_findings_place(&w, &made.f, 1) == MSIM_OK);
    CHECK_UINT(w.n, 2);
    CHECK_UINT(msim_windows_at(&w, 1, 10), 1);
    CHECK_UINT(msim_windows_at(&w, 1, 44), 4);
    CHECK_UINT(msim_windows_at(&w, 1, 45), UINT32_MAX);
    CHECK_UINT(msim_windows_at(&w, 0, 0), UINT32_MAX);
    msim_windows_release(&w);
    made.f.iteration = 1;
    CHECK_UINT(msim_findings_windows(&made.f, UINT32_MAX), 1);
    CHECK_UINT(msim_findings_windows(&made.f, 1), 1);
    REQUIRE(msim_findings_place(&w, &made.f, 1) == MSIM_OK);
    CHECK_UINT(msim_windows_at(&w, 1, 10), UINT32_MAX);
    CHECK_UINT(msim_windows_at(&w, 1, 44), 4);
    msim_windows_release(&w);
    release(&made);
}

/* ---- what follows from a period ------------------------------------------ */

/* 256 samples in 500 us (400 to 800), two GPUs at 3.6 $ an hour and 300 W. */
static void test_prediction__rated(void)
{
    struct msim_prediction p = {
        .period = {.us = {500, 400, 800, NAN}},
        .rates = {.per_iteration = 256, .usd_per_hour = 3.6, .watts = 300},
        .gpus = 2};
    struct msim_rated r = msim_prediction_rated(&p);

    CHECK_REL(r.per_second.predicted, 512000, 1e-12);
    CHECK_REL(r.per_second.low, 320000, 1e-12);
    CHECK_REL(r.per_second.high, 640000, 1e-12);
    CHECK(isnan(r.per_second.measured));
    CHECK_REL(r.cost_usd, 1e-6, 1e-12); /* 0.001 $ a second each */
    CHECK_REL(r.joules, 0.3, 1e-12);
    CHECK(r.gpus == 2);
    p.rates = (struct msim_rates){.unit = NULL};
    p.gpus = 0;
    r = msim_prediction_rated(&p);
    CHECK(isnan(r.per_second.predicted));
    CHECK(isnan(r.per_second.low));
    CHECK(isnan(r.cost_usd));
    CHECK(isnan(r.joules));
    CHECK(r.gpus == 1);
    p.rates.per_iteration = 1; /* a sample, a dollar and a watt are some */
    p.rates.usd_per_hour = p.rates.watts = 1;
    r = msim_prediction_rated(&p);
    CHECK_REL(r.per_second.predicted, 2000, 1e-12);
    CHECK_REL(r.cost_usd, 500 / 3.6e9, 1e-12);
    CHECK_REL(r.joules, 5e-4, 1e-12);
    msim_prediction_free(NULL);
    msim_timeline_free(NULL);
}

int main(void)
{
    RUN(test_analysis_comm__one);
    RUN(test_analysis_comm__selected);
    RUN(test_analysis_comm__last);
    RUN(test_analysis_comm__equal_stragglers);
    RUN(test_analysis_comm__alone);
    RUN(test_analysis_comm__beside);
    RUN(test_analysis_comm__rows);
    RUN(test_analysis_comm__ties);
    RUN(test_analysis__windows);
    RUN(test_prediction__rated);
    return check_summary();
}

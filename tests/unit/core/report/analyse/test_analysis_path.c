/*
 * tests/unit/core/report/analyse/test_analysis_path.c - the critical path as
 * rows, and who owns it.
 *
 * A thread does one task after the other: all of them are the path.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define TASKS 20010
#define US    ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_op ops[1];
    struct msim_thread threads[1];
    struct msim_gpu gpu[4];
    struct msim_call calls[4];
    uint8_t kind[TASKS], edge_kind[TASKS];
    uint32_t lane[TASKS], n_preds[TASKS], edge_begin[TASKS + 1];
    struct msim_edge edges[TASKS];
    struct msim_lane lanes[1];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS];
    struct msim_window windows[2];
    struct msim_window_times times[2];
    struct msim_iteration iterations[2];
    struct msim_binding binding;
    struct msim_outcome o;
    struct msim_prediction p;
    struct msim_findings f;
};

static struct made made;
static uint32_t topmost[] = {0};

static uint32_t name_of(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(made.job.strings, text, strlen(text), &id),
              MSIM_OK);
    return id;
}

static void make(void)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = 1;
    m->job.ranks = m->ranks;
    m->ranks[0] = &m->trace;
    m->ops[0] = msim_op_empty();
    m->ops[0].name = name_of("aten::mm");
    m->threads[0].tid = 11;
    m->gpu[0].name = name_of("gemm");
    m->calls[0].name = name_of("launch it");
    m->calls[1].name = name_of("a call");
    m->trace = (struct msim_trace){.strings = m->job.strings,
                                   .ops = m->ops,
                                   .n_ops = 1,
                                   .topmost = topmost,
                                   .threads = m->threads,
                                   .n_threads = 1,
                                   .gpu = m->gpu,
                                   .calls = m->calls,
                                   .rank = 6};
    m->iterations[0].name = "first";
    m->iterations[1].name = "second";
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .n_preds = m->n_preds,
                               .edge_begin = m->edge_begin,
                               .edges = m->edges,
                               .edge_kind = m->edge_kind,
                               .refs = m->refs,
                               .lanes = m->lanes,
                               .n_lanes = 1,
                               .windows = m->windows};
    m->o = (struct msim_outcome){.graph = &m->g,
                                 .mid = {.start = m->start, .dur = m->dur}};
    msim_arena_init(&m->p.arena);
    m->p.iterations = m->iterations;
    m->f = (struct msim_findings){.p = &m->p,
                                  .o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .mid = m->times,
                                  .binding = &m->binding};
}

static void release(void)
{
    msim_binding_release(&made.binding);
    msim_arena_release(&made.p.arena);
    msim_strtab_free(made.job.strings);
}

/* Behind the last task, after a lag of a launch if that is not 0. */
static void add(uint8_t kind, uint32_t index, uint32_t op, msim_ps lag,
                msim_ps dur)
{
    uint32_t t = made.g.n_tasks++;

    made.kind[t] = kind;
    made.refs[t] = (struct msim_task_ref){.index = index, .op = op};
    made.dur[t] = dur;
    made.start[t] = t ? made.start[t - 1] + made.dur[t - 1] + lag : 0;
    made.n_preds[t] = t > 0;
    if (t) {
        made.edges[t - 1] = (struct msim_edge){t, lag};
        made.edge_kind[t - 1] = MSIM_EDGE_BYTE(
            lag ? MSIM_EDGE_LAUNCH : MSIM_EDGE_PROGRAM, MSIM_FROM_IDS);
        made.g.n_edges++;
    }
}

/* The tasks since the last iteration are one. */
static void end_iteration(void)
{
    uint32_t w = made.g.n_windows++, last = made.g.n_tasks - 1;

    made.windows[w] =
        (struct msim_window){.first = w ? made.windows[w - 1].last + 1 : 0,
                             .last = last,
                             .iteration = made.g.n_iterations++};
}

static void analyse(void)
{
    for (uint32_t t = 0; t <= made.g.n_tasks; t++)
        made.edge_begin[t] = t < made.g.n_edges ? t : made.g.n_edges;
    msim_window_bounds(&made.g, &made.o.mid, made.times);
    CHECK_INT(msim_binding_init(&made.binding, &made.g, &made.o.mid), MSIM_OK);
    CHECK_INT(msim_analyse_path(&made.f), MSIM_OK);
}

static void check_row(uint32_t i, const char *kind, const char *name,
                      const char *op, msim_ps start, msim_ps dur,
                      const char *edge)
{
    const struct msim_path_row *r = &made.p.path[i];

    if (!CHECK(i < made.p.n_path))
        return;
    CHECK_STR(r->kind, kind);
    CHECK_STR(r->name, name);
    CHECK_STR(r->op, op);
    CHECK_STR(r->lane, "thread 11");
    CHECK_INT(r->rank, 6);
    CHECK_INT(r->start, start);
    CHECK_INT(r->dur, dur);
    CHECK_STR(r->edge, edge);
    CHECK_STR(r->edge_source,
              edge ? msim_edge_source_text(MSIM_FROM_IDS) : NULL);
}

static void check_owner(uint32_t i, const char *kind, const char *name,
                        const char *op, double us, double share, double pieces)
{
    const struct msim_owner_row *r = &made.p.owners[i];

    if (!CHECK(i < made.p.n_owners))
        return;
    CHECK_STR(r->kind, kind);
    CHECK_STR(r->name, name);
    CHECK_STR(r->op, op);
    CHECK_REL(r->us, us, 1e-12);
    CHECK_REL(r->share, share, 1e-12);
    CHECK_REL(r->pieces, pieces, 1e-12);
}

/* Iterations of 44 and 38 us. */
static void fill(void)
{
    make();
    add(MSIM_TASK_HOST, MSIM_NONE, 0, 0, 10 * US);
    add(MSIM_TASK_CALL, 0, 0, 0, 2 * US);
    add(MSIM_TASK_GAP, MSIM_NONE, MSIM_NONE, 0, 3 * US);
    add(MSIM_TASK_KERNEL, 0, 0, 5 * US, 20 * US);
    add(MSIM_TASK_HOST, MSIM_NONE, MSIM_NONE, 0, 4 * US);
    end_iteration();
    add(MSIM_TASK_HOST, MSIM_NONE, 0, 0, 30 * US);
    add(MSIM_TASK_KERNEL, 0, 0, 0, 7 * US);
    add(MSIM_TASK_KERNEL, MSIM_NONE, MSIM_NONE, 0, 1 * US);
    end_iteration();
}

static void test_analysis_path__rows(void)
{
    fill();
    analyse();
    CHECK_STR(made.p.path_iteration, "first");
    CHECK_INT(made.p.path_length, 44 * US);
    REQUIRE(made.p.n_path == 6);
    check_row(0, "host", "aten::mm", "aten::mm", 0, 10 * US, NULL);
    check_row(1, "call", "launch it", "aten::mm", 10 * US, 2 * US,
              "program order");
    check_row(2, "gap", "between operators", NULL, 12 * US, 3 * US,
              "program order");
    check_row(3, "latency", "launch", "aten::mm", 15 * US, 5 * US, "launch");
    check_row(4, "kernel", "gemm", "aten::mm", 20 * US, 20 * US, "launch");
    check_row(5, "host", "no operator", NULL, 40 * US, 4 * US, "program order");
    release();
}

/* Means over iterations, shares of all; calls by their own name. */
static void test_analysis_path__owners(void)
{
    fill();
    analyse();
    REQUIRE(made.p.n_owners == 7);
    check_owner(0, "host", "aten::mm", "aten::mm", 20, 40.0 / 82, 1);
    check_owner(1, "kernel", "gemm", "aten::mm", 13.5, 27.0 / 82, 1);
    check_owner(2, "latency", "launch", NULL, 2.5, 5.0 / 82, 0.5);
    check_owner(3, "host", "no operator", NULL, 2, 4.0 / 82, 0.5);
    check_owner(4, "gap", "between operators", NULL, 1.5, 3.0 / 82, 0.5);
    check_owner(5, "call", "launch it", NULL, 1, 2.0 / 82, 0.5);
    check_owner(6, "kernel", "no name", NULL, 0.5, 1.0 / 82, 0.5);
    release();
}

/* What no task explains is a piece of its own, and so is the lag of any edge.
 */
static void test_analysis_path__held(void)
{
    make();
    add(MSIM_TASK_HOST, MSIM_NONE, 0, 0, 10);
    add(MSIM_TASK_HOST, MSIM_NONE, 0, 0, 4);
    made.start[1] += 5;
    add(MSIM_TASK_HOST, MSIM_NONE, 0, 6, 1);
    made.edge_kind[1] = MSIM_EDGE_BYTE(MSIM_EDGE_PROGRAM, MSIM_FROM_IDS);
    end_iteration();
    analyse();
    REQUIRE(made.p.n_path == 5);
    check_row(0, "host", "aten::mm", "aten::mm", 0, 10, NULL);
    CHECK_STR(made.p.path[1].kind, "held");
    CHECK_STR(made.p.path[1].name, "unknown");
    CHECK_INT(made.p.path[1].dur, 5);
    CHECK_INT(made.p.path[2].start, 15);
    check_row(3, "latency", "program order", "aten::mm", 19, 6,
              "program order");
    REQUIRE(made.p.n_owners == 3);
    check_owner(0, "host", "aten::mm", "aten::mm", 15e-6, 15.0 / 26, 3);
    check_owner(1, "latency", "program order", NULL, 6e-6, 6.0 / 26, 1);
    check_owner(2, "held", "unknown", NULL, 5e-6, 5.0 / 26, 1);
    release();
}

/* Of one iteration, which is then the only one that has a name. */
static void test_analysis_path__selected(void)
{
    fill();
    made.f.iteration = 1;
    made.iterations[0].name = "the selected one";
    analyse();
    CHECK_STR(made.p.path_iteration, "the selected one");
    CHECK_INT(made.p.path_length, 38 * US);
    REQUIRE(made.p.n_path == 3);
    REQUIRE(made.p.n_owners == 3);
    check_owner(0, "host", "aten::mm", "aten::mm", 30, 30.0 / 38, 1);
    release();
}

/* Of equal iterations the first; of equal owners by kind, then by name. What
 * takes no time owns nothing. */
static void test_analysis_path__ties(void)
{
    make();
    add(MSIM_TASK_KERNEL, 0, MSIM_NONE, 0, 5 * US);
    add(MSIM_TASK_CALL, 0, MSIM_NONE, 0, 5 * US);
    add(MSIM_TASK_HOST, MSIM_NONE, MSIM_NONE, 0, 0);
    end_iteration();
    add(MSIM_TASK_CALL, 1, MSIM_NONE, 0, 5 * US);
    add(MSIM_TASK_KERNEL, 0, 0, 0, 5 * US);
    end_iteration();
    analyse();
    CHECK_STR(made.p.path_iteration, "first");
    REQUIRE(made.p.n_owners == 4);
    CHECK_STR(made.p.owners[0].name, "a call");
    CHECK_STR(made.p.owners[1].name, "launch it");
    CHECK_STR(made.p.owners[2].op, NULL);
    CHECK_STR(made.p.owners[3].op, "aten::mm");
    release();
}

/* 20000 pieces have a row each. Of more the longest have, of equal ones the
 * first, and each run of others between them is one row. */
static void check_long(uint32_t n, uint32_t rows)
{
    make();
    for (uint32_t t = 0; t < n; t++)
        add(MSIM_TASK_HOST, MSIM_NONE, 0, 0,
            t == 5 || t == 7 || t == 8 || t == 10 ? 3 : 40);
    end_iteration();
    analyse();
    CHECK_UINT(made.p.n_path, rows);
    check_row(4, "host", "aten::mm", "aten::mm", 160, 40, "program order");
    check_row(5, "host", "aten::mm", "aten::mm", 200, 3, "program order");
    if (rows == n) {
        check_row(7, "host", "aten::mm", "aten::mm", 243, 3, "program order");
    } else {
        check_row(7, "several", "2 short pieces", NULL, 243, 6,
                  "program order");
        check_row(8, "host", "aten::mm", "aten::mm", 249, 40, "program order");
        check_row(9, "host", "aten::mm", "aten::mm", 289, 3, "program order");
        check_row(10, "host", "aten::mm", "aten::mm", 292, 40, "program order");
    }
    release();
}

static void test_analysis_path__long(void)
{
    check_long(20000, 20000);
    /* Of four short ones the first is kept; two of the others are one run. */
    check_long(20003, 20002);
}

int main(void)
{
    RUN(test_analysis_path__rows);
    RUN(test_analysis_path__owners);
    RUN(test_analysis_path__held);
    RUN(test_analysis_path__selected);
    RUN(test_analysis_path__ties);
    RUN(test_analysis_path__long);
    return check_summary();
}

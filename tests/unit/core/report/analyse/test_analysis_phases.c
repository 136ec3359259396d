/*
 * tests/unit/core/report/analyse/test_analysis_phases.c - forward, backward,
 * optimizer, and the regions that a job marks.
 *
 * One rank of three threads: operators are rows, of which one or a few launch
 * a kernel. Times are in us.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 32
#define US   ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_op ops[MOST];
    uint32_t topmost[MOST];
    struct msim_thread threads[3];
    struct msim_step steps[2];
    struct msim_gpu gpu[MOST];
    struct msim_call calls[MOST];
    uint8_t kind[MOST];
    uint32_t lane[MOST], window[MOST];
    struct msim_lane lanes[4];
    struct msim_task_ref refs[MOST];
    msim_ps start[MOST], dur[MOST], traced[MOST];
    struct msim_window windows[2];
    struct msim_window_times times[2];
    struct msim_outcome o;
    struct msim_prediction p;
    struct msim_findings f;
};

static struct made made;

static uint32_t name_of(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(made.job.strings, text, strlen(text), &id),
              MSIM_OK);
    return id;
}

/* Lanes 0 to 2 are the threads, 3 is a stream; `n` iterations of 1000 us. */
static void make(uint32_t n)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = 1;
    m->job.ranks = m->ranks;
    m->ranks[0] = &m->trace;
    m->trace = (struct msim_trace){.strings = m->job.strings,
                                   .ops = m->ops,
                                   .topmost = m->topmost,
                                   .threads = m->threads,
                                   .n_threads = 3,
                                   .steps = m->steps,
                                   .gpu = m->gpu,
                                   .calls = m->calls,
                                   .has_times = true};
    for (uint32_t i = 0; i < MOST; i++)
        m->topmost[i] = i;
    m->lanes[3].device = true;
    for (uint32_t w = 0; w < n; w++) {
        m->windows[w] =
            (struct msim_window){.iteration = w, .first = MSIM_NONE};
        m->times[w] = (struct msim_window_times){.begin = 1000 * w * US,
                                                 .end = 1000 * (w + 1) * US};
    }
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .refs = m->refs,
                               .traced = m->traced,
                               .lanes = m->lanes,
                               .n_lanes = 4,
                               .windows = m->windows,
                               .n_windows = n,
                               .n_iterations = n};
    m->o = (struct msim_outcome){.graph = &m->g,
                                 .mid = {.start = m->start, .dur = m->dur}};
    msim_arena_init(&m->p.arena);
    m->f = (struct msim_findings){.p = &m->p,
                                  .o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .mid = m->times};
}

static void release(void)
{
    msim_arena_release(&made.p.arena);
    msim_strtab_free(made.job.strings);
}

/* A label where the name begins with '#', which is no part of it. */
static uint32_t add_op(const char *name, uint32_t parent, uint32_t thread,
                       int32_t seq)
{
    uint32_t i = made.trace.n_ops++;
    bool label = name[0] == '#';

    made.ops[i] = msim_op_empty();
    made.ops[i].name = name_of(name + label);
    made.ops[i].parent = parent;
    made.ops[i].thread = thread;
    made.ops[i].seq = seq;
    made.ops[i].start = 10 * i * US;
    made.ops[i].kind = label ? MSIM_OP_ANNOTATION : MSIM_OP_OPERATOR;
    made.ops[i].end = i + 1;
    for (uint32_t p = parent; p != MSIM_NONE; p = made.ops[p].parent)
        made.ops[p].end = i + 1;
    return i;
}

static uint32_t add_task(uint8_t kind, uint32_t lane, uint32_t op,
                         msim_ps start, msim_ps dur)
{
    uint32_t t = made.g.n_tasks++;

    made.kind[t] = kind;
    made.lane[t] = lane;
    made.window[t] = start < 1000 ? 0 : 1;
    made.refs[t] = (struct msim_task_ref){.index = MSIM_NONE, .op = op};
    made.start[t] = start * US;
    made.dur[t] = dur * US;
    return t;
}

static void analyse(void)
{
    CHECK_INT(msim_analyse_phases(&made.f, 0), MSIM_OK);
}

static void check_phases(double forward, double backward, double optimizer,
                         double other, bool host)
{
    const double want[] = {forward, backward, optimizer, other};
    static const char *const NAMES[] = {"forward", "backward", "optimizer",
                                        "other"};

    if (!CHECK_UINT(made.p.n_phases, 4))
        return;
    for (int i = 0; i < 4; i++) {
        const struct msim_region_row *r = &made.p.phases[i];

        CHECK_STR(r->name, NAMES[i]);
        CHECK_REL(r->calls, 1, 1e-12);
        CHECK_REL(host ? r->host_us : r->gpu_us, want[i], 1e-12);
    }
}

/* ---- what names say ------------------------------------------------------ */

#define BACKWARD "autograd::engine::evaluate_function: MmBackward0"

/* A kernel of the second operator, which is in the first; a backward operator
 * of another thread makes it a training. 'f', 'b', 'o' or '-'. */
static void check_pair(const char *outer, const char *inner, int32_t seq,
                       char want)
{
    uint32_t o;

    make(1);
    o = add_op(outer, MSIM_NONE, 0, -1);
    add_task(MSIM_TASK_KERNEL, 3, add_op(inner, o, 0, seq), 0, 8);
    add_op(BACKWARD, MSIM_NONE, 1, -1);
    analyse();
    check_phases(want == 'f' ? 8 : 0, want == 'b' ? 8 : 0, want == 'o' ? 8 : 0,
                 want == '-' ? 8 : 0, false);
    release();
}

static void test_analysis_phases__names(void)
{
    check_pair("x", "aten::mm", -1, '-');
    check_pair("x", "aten::mm", 0, 'f');
    check_pair("#Optimizer.step#SGD.step", "aten::mm", 0, 'o');
    check_pair("#my optimizer", "aten::mm", -1, 'o');
    check_pair("optimizer", "aten::mm", -1, '-'); /* an operator's own name */
    check_pair("Optimizer.step#Adam", "aten::mm", -1, 'o');
    check_pair("#Zero_Grad", "aten::mm", -1, 'o');
    check_pair("zero_grad", "aten::mm", -1, '-');
    check_pair("#BACKWARD pass", "aten::mm", 0, 'b');
    check_pair("aten::_embedding_bag_backward", "aten::mm", -1, '-');
    check_pair("#DDP.forward", "aten::mm", -1, 'f');
    check_pair("forward", "aten::mm", -1, '-');
    check_pair(BACKWARD, "aten::mm", 5, 'b');
    check_pair("autograd::engine::evaluate", "aten::mm", -1, '-');
}

/* From the outside in: an optimizer inside of anything, and backward inside of
 * forward, which computes a forward pass again. */
static void test_analysis_phases__inside(void)
{
    check_pair("#forward", "#backward", -1, 'b');
    check_pair("#backward", "#forward", -1, 'b');
    check_pair("#optimizer", "#backward", -1, 'o');
    check_pair("#optimizer", "#forward", 1, 'o');
    check_pair("#forward", "#optimizer", -1, 'o');
    check_pair("#backward", "#optimizer", -1, 'o');
    check_pair("#step", "#forward", -1, 'f');
}

/* Where a mark says where the pass is, numbers of autograd say nothing. */
static void check_mark(const char *mark, char want)
{
    make(1);
    add_op(mark, MSIM_NONE, 0, -1);
    add_task(MSIM_TASK_KERNEL, 3, add_op("aten::mm", MSIM_NONE, 0, 3), 0, 8);
    add_op(BACKWARD, MSIM_NONE, 1, -1);
    analyse();
    check_phases(want == 'f' ? 8 : 0, 0, 0, want == '-' ? 8 : 0, false);
    release();
}

static void test_analysis_phases__marked(void)
{
    check_mark("### forward ###", '-');
    check_mark("#Forward_Pass", '-');
    check_mark("#DDP.forward", 'f');
    check_mark("#forward of the first model", 'f');
    check_mark("forward", 'f');
}

/* Of a thread that evaluates backward operators all is backward, unless it has
 * the marks of steps. */
static void test_analysis_phases__threads(void)
{
    for (int step = 0; step < 2; step++) {
        uint32_t mark;

        make(1);
        mark = add_op("#ProfilerStep#1", MSIM_NONE, step ? 1 : 0, -1);
        made.steps[0] = (struct msim_step){.op = mark, .dur = 1000 * US};
        made.trace.n_steps = 1;
        add_op(BACKWARD, MSIM_NONE, 1, -1);
        add_task(MSIM_TASK_KERNEL, 3, add_op("aten::mm", MSIM_NONE, 1, 4), 0,
                 8);
        analyse();
        check_phases(step ? 8 : 0, step ? 0 : 8, 0, 0, false);
        release();
    }
    make(1); /* a scope of backward says it, too */
    made.ops[add_op("x", MSIM_NONE, 1, -1)].scope = 1;
    add_task(MSIM_TASK_KERNEL, 3, 0, 0, 8);
    analyse();
    check_phases(0, 8, 0, 0, false);
    release();
}

/* Without anything backward a job does not train. */
static void test_analysis_phases__no_training(void)
{
    make(1);
    add_task(MSIM_TASK_KERNEL, 3, add_op("#forward", MSIM_NONE, 0, 3), 0, 8);
    analyse();
    CHECK_UINT(made.p.n_phases, 0);
    release();
}

/* What no operator launched is of what came before it on its thread. */
static void test_analysis_phases__before(void)
{
    for (int late = 0; late < 3; late++) {
        uint32_t t;

        make(1);
        add_op(BACKWARD, MSIM_NONE, 1, -1);
        add_op("#optimizer", MSIM_NONE, 0, -1);
        add_op("#forward", MSIM_NONE, 0, -1);
        made.threads[1] = (struct msim_thread){.op_begin = 0, .op_end = 1};
        made.threads[0] = (struct msim_thread){.op_begin = 1, .op_end = 3};
        t = add_task(MSIM_TASK_KERNEL, 3, MSIM_NONE, 0, 8);
        made.refs[t].index = 0;
        made.gpu[0].call = 0;
        made.calls[0] = (struct msim_call){
            .thread = 0, .op = MSIM_NONE, .start = (late * 10 + 5) * US};
        analyse(); /* the optimizer begins at 10, forward at 20 */
        check_phases(late == 2 ? 8 : 0, 0, late == 1 ? 8 : 0, late == 0 ? 8 : 0,
                     false);
        made.p.n_phases = 0;
        made.calls[0].thread = 1;
        analyse();
        check_phases(0, 8, 0, 0, false);
        made.p.n_phases = 0;
        made.gpu[0].call = MSIM_NONE;
        analyse();
        check_phases(0, 0, 0, 8, false);
        release();
    }
}

/* The host: what belongs to no operator is of the one before it on its lane;
 * gaps count on the thread that iterates, and all of what begins in an
 * iteration. */
static void test_analysis_phases__host(void)
{
    uint32_t back, opt;

    make(2);
    back = add_op("#backward", MSIM_NONE, 0, -1);
    opt = add_op("#optimizer", MSIM_NONE, 0, -1);
    add_op(BACKWARD, MSIM_NONE, 1, -1);
    add_task(MSIM_TASK_GAP, 0, MSIM_NONE, 0, 100);   /* other */
    add_task(MSIM_TASK_HOST, 0, back, 100, 20);      /* backward */
    add_task(MSIM_TASK_GAP, 0, MSIM_NONE, 120, 4);   /* backward */
    add_task(MSIM_TASK_CALL, 0, opt, 1100, 8);       /* optimizer */
    add_task(MSIM_TASK_CALL, 0, opt, 2000, 500);     /* of no iteration */
    add_task(MSIM_TASK_JOIN, 0, opt, 200, 500);      /* no work */
    add_task(MSIM_TASK_HOST, 1, MSIM_NONE, 300, 40); /* other: a new lane */
    add_task(MSIM_TASK_GAP, 1, MSIM_NONE, 400, 500); /* nobody's */
    for (uint32_t t = 0; t < made.g.n_tasks; t++)
        made.traced[t] = made.lane[t] == 0 ? 1 : 0;
    analyse();
    check_phases(0, 12, 4, 70, true);
    release();
}

/* ---- regions ------------------------------------------------------------- */

static void check_region(uint32_t i, const char *name, double calls, double gpu,
                         double host)
{
    const struct msim_region_row *r = &made.p.regions[i];

    if (!CHECK(i < made.p.n_regions))
        return;
    CHECK_STR(r->name, name);
    CHECK_REL(r->calls, calls, 1e-12);
    CHECK_REL(r->gpu_us, gpu, 1e-12);
    CHECK_REL(r->host_us, host, 1e-12);
}

/* Work is in the mark around it, and in those around that; one that is nested
 * in itself counts once. Most GPU time first, then host, then by name. */
static void test_analysis_phases__regions(void)
{
    uint32_t a, b, c, e;

    make(2);
    a = add_op("#model", MSIM_NONE, 0, -1);
    b = add_op("#layer#12", a, 0, -1);
    c = add_op("#layer#13", b, 0, -1);
    add_task(MSIM_TASK_KERNEL, 3, add_op("aten::mm", c, 0, -1), 0, 10);
    add_task(MSIM_TASK_HOST, 0, b, 100, 6);
    add_task(MSIM_TASK_KERNEL, 3, a, 50, 100);
    e = add_op("#layer#7", MSIM_NONE, 0, -1);
    add_task(MSIM_TASK_KERNEL, 3, e, 1010, 30);
    add_task(MSIM_TASK_HOST, 0, add_op("#b", MSIM_NONE, 0, -1), 200, 8);
    add_task(MSIM_TASK_HOST, 0, add_op("#a", MSIM_NONE, 0, -1), 300, 8);
    add_task(MSIM_TASK_HOST, 0, add_op("#c", MSIM_NONE, 0, -1), 400, 9);
    add_op("#idle", MSIM_NONE, 0, -1); /* nothing is in it */
    analyse();
    REQUIRE(made.p.n_regions == 5);
    check_region(0, "model", 0.5, 55, 3);
    check_region(1, "layer", 1.5, 20, 3);
    check_region(2, "c", 0.5, 0, 4.5);
    check_region(3, "a", 0.5, 0, 4);
    check_region(4, "b", 0.5, 0, 4);
    release();
}

/* Steps and labels of collectives are none, nor is what has no name; and only
 * the number behind a name is left out. */
static void check_name(const char *name, const char *want)
{
    make(1);
    add_task(MSIM_TASK_KERNEL, 3, add_op(name, MSIM_NONE, 0, -1), 0, 8);
    analyse();
    CHECK_UINT(made.p.n_regions, want != NULL);
    if (want)
        check_region(0, want, 1, 8, 0);
    release();
}

static void test_analysis_phases__names_of_regions(void)
{
    check_name("#part", "part");
    check_name("#part#", "part#");
    check_name("#part#1", "part");
    check_name("#part1", "part1");
    check_name("#part#1a", "part#1a");
    check_name("##12", "#12");
    check_name("#p#1", "p");
    check_name("#12", "12");
    check_name("part", NULL);
    check_name("#", NULL);
    check_name("#ProfilerStep#7", NULL);
    check_name("#ProfilerSteps", "ProfilerSteps");
    check_name("#nccl:all_reduce", NULL);
    check_name("#gloo:all_reduce", NULL);
    check_name("#nccl", "nccl");
}

/* Calls of iterations, where there are marks of some; kernels of the selected
 * one alone. */
static void test_analysis_phases__calls(void)
{
    make(2);
    made.trace.n_steps = 1;
    made.steps[0] =
        (struct msim_step){.op = 0, .start = 10 * US, .dur = 30 * US};
    for (int i = 0; i < 4; i++) /* at 0, 10, 20 and 30 */
        add_task(MSIM_TASK_KERNEL, 3, add_op("#part", MSIM_NONE, 0, -1),
                 i < 3 ? 0 : 1500, 8);
    analyse();
    REQUIRE(made.p.n_regions == 1);
    check_region(0, "part", 1.5, 16, 0);
    made.p.n_regions = 0;
    made.f.iteration = 1;
    analyse();
    check_region(0, "part", 1.5, 8, 0);
    made.trace.has_times = false; /* then all are */
    made.p.n_regions = 0;
    analyse();
    check_region(0, "part", 2, 8, 0);
    release();
}

int main(void)
{
    RUN(test_analysis_phases__names);
    RUN(test_analysis_phases__inside);
    RUN(test_analysis_phases__marked);
    RUN(test_analysis_phases__threads);
    RUN(test_analysis_phases__no_training);
    RUN(test_analysis_phases__before);
    RUN(test_analysis_phases__host);
    RUN(test_analysis_phases__regions);
    RUN(test_analysis_phases__names_of_regions);
    RUN(test_analysis_phases__calls);
    return check_summary();
}

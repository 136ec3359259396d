/*
 * tests/unit/core/report/analyse/test_analysis_ops.c - operators and families.
 *
 * One rank, two iterations; times are in us. Sources 0 and 1 cover a kernel,
 * 2 is a bound.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 16
#define US   ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_op ops[MOST];
    uint32_t topmost[MOST];
    struct msim_arg args[2];
    struct msim_arg_block blocks[2];
    struct msim_gpu gpu[MOST];
    struct msim_comm comms[MOST];
    uint8_t kind[MOST], made_by[MOST], source[MOST];
    uint32_t window[MOST];
    struct msim_task_ref refs[MOST];
    msim_ps start[MOST], dur[MOST], low[MOST], high[MOST], slack[MOST];
    float flops[MOST];
    struct msim_limits limits[MOST];
    struct msim_window windows[2];
    struct msim_outcome o;
    struct msim_prediction p;
    struct msim_findings f;
};

static struct made made;
static int64_t dims[] = {2, 3};
static const char *const MODELS[] = {"gemm", "copy", "bound"};
static const char *const SOURCES[] = {"law", "table", "bound"};

static uint32_t name_of(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(made.job.strings, text, strlen(text), &id),
              MSIM_OK);
    return id;
}

/* Operators 0 "mm" with 1 in it, 2 "add", 3 "comms". */
static void make(void)
{
    static const char *const NAMES[] = {"mm", "inner", "add",
                                        "record_param_comms"};
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = 1;
    m->job.ranks = m->ranks;
    m->ranks[0] = &m->trace;
    for (uint32_t i = 0; i < MOST; i++) {
        m->ops[i] = msim_op_empty();
        m->topmost[i] = i == 1 ? 0 : i;
        if (i < 4)
            m->ops[i].name = name_of(NAMES[i]);
        m->slack[i] = (100 - (msim_ps)i) * US;
    }
    m->ops[1].parent = 0;
    m->args[0] = (struct msim_arg){.kind = MSIM_ARG_TENSOR, .n = 2};
    m->args[1] = (struct msim_arg){.kind = MSIM_ARG_TENSOR, .n = 1};
    m->blocks[0] = (struct msim_arg_block){0, 1};
    m->blocks[1] = (struct msim_arg_block){1, 1};
    m->trace = (struct msim_trace){.strings = m->job.strings,
                                   .ops = m->ops,
                                   .n_ops = MOST,
                                   .topmost = m->topmost,
                                   .args = m->args,
                                   .blocks = m->blocks,
                                   .n_blocks = 2,
                                   .dims = dims,
                                   .gpu = m->gpu,
                                   .comms = m->comms,
                                   .has_times = true};
    m->windows[1].iteration = 1;
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .window = m->window,
                               .refs = m->refs,
                               .windows = m->windows,
                               .n_windows = 2,
                               .n_iterations = 2};
    m->o = (struct msim_outcome){.graph = &m->g,
                                 .mid = {.start = m->start, .dur = m->dur},
                                 .task_low = m->low,
                                 .task_high = m->high,
                                 .gpu_slower = 1,
                                 .gpu_faster = 1,
                                 .made_by = m->made_by,
                                 .made_by_names = MODELS,
                                 .n_made_by = 3,
                                 .source = m->source,
                                 .source_names = SOURCES,
                                 .source_uncovered = 2,
                                 .flops = m->flops};
    msim_arena_init(&m->p.arena);
    m->f = (struct msim_findings){.p = &m->p,
                                  .o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .slack = m->slack};
}

static void release(void)
{
    msim_arena_release(&made.p.arena);
    msim_strtab_free(made.job.strings);
}

/* A task whose interval is from 1 below to 2 above, and that took 10 more. */
static uint32_t add(uint8_t kind, uint32_t op, msim_ps us, uint8_t source)
{
    uint32_t t = made.g.n_tasks++;

    made.kind[t] = kind;
    made.refs[t] = (struct msim_task_ref){.index = t, .op = op};
    made.dur[t] = us * US;
    made.low[t] = (us - 1) * US;
    made.high[t] = (us + 2) * US;
    made.gpu[t] = (struct msim_gpu){
        .name = name_of("kernel"), .dur = (us + 10) * US, .comm = MSIM_NONE};
    made.made_by[t] = made.source[t] = source;
    return t;
}

static void analyse(void)
{
    CHECK_INT(msim_analyse_ops(&made.f, 0), MSIM_OK);
}

static void check_op(const struct msim_op_row *r, const char *name,
                     const char *model, const char *source, double calls,
                     double us, double low, double high, double measured)
{
    CHECK_STR(r->name, name);
    CHECK_STR(r->model, model);
    CHECK_STR(r->source, source);
    CHECK_REL(r->calls, calls, 1e-12);
    CHECK_REL(r->us.predicted, us, 1e-12);
    CHECK_REL(r->us.low, low, 1e-9);
    CHECK_REL(r->us.high, high, 1e-9);
    CHECK_REL(r->us.measured, measured, 1e-12);
}

/* By topmost operator; an operator is a call however many kernels it has. What
 * took most of its time says the model, the longest one the source. */
static void test_analysis_ops__rows(void)
{
    uint32_t t;

    make();
    add(MSIM_TASK_KERNEL, 0, 20, 1);
    add(MSIM_TASK_KERNEL, 1, 15, 0);
    t = add(MSIM_TASK_KERNEL, 0, 13, 0);
    made.window[t] = 1;
    add(MSIM_TASK_KERNEL, 2, 4, 2);
    add(MSIM_TASK_KERNEL, MSIM_NONE, 2, 0);
    add(MSIM_TASK_KERNEL, MSIM_NONE, 2, 0);
    /* None of it: known copies, the host's work, what no iteration has. */
    add(MSIM_TASK_COPY, 0, 500, 1);
    add(MSIM_TASK_CALL, 0, 500, 0);
    made.window[add(MSIM_TASK_KERNEL, 0, 500, 0)] = MSIM_NONE;
    analyse();
    REQUIRE(made.p.n_ops == 3);
    check_op(&made.p.ops[0], "mm", "gemm", "table", 0.5, 24, 22.5, 27, 39);
    check_op(&made.p.ops[1], "add", "bound", "bound", 0.5, 2, 1.5, 3, 7);
    check_op(&made.p.ops[2], "kernel", "gemm", "law", 1, 2, 1, 4, 12);
    CHECK(!made.p.ops[0].open && made.p.ops[1].open);
    CHECK_REL(made.p.ops[0].slack_us, 98, 1e-12); /* the least of its calls */
    CHECK(!made.p.ops[0].communication);
    CHECK(made.p.ops[0].shapes == NULL && made.p.ops[0].label == NULL);
    CHECK_UINT(made.p.n_shapes, 0);
    release();
}

/* Of operators by number (mm, its inner one, add, and two of none), of time
 * 24, 2 and 2. */
static void test_analysis_ops__coverage(void)
{
    make();
    add(MSIM_TASK_KERNEL, 0, 20, 1);
    add(MSIM_TASK_KERNEL, 1, 15, 0);
    add(MSIM_TASK_KERNEL, 0, 13, 0);
    add(MSIM_TASK_KERNEL, 2, 4, 2);
    add(MSIM_TASK_COPY, MSIM_NONE, 3, 2); /* nothing tells what it moves */
    analyse();
    CHECK_REL(made.p.coverage_ops, 2.0 / 4, 1e-12);
    CHECK_REL(made.p.coverage_time, 48.0 / 55, 1e-12);
    REQUIRE(made.p.n_uncovered == 2);
    check_op(&made.p.uncovered[0], "add", "bound", "bound", 0.5, 2, 1.5, 3, 7);
    check_op(&made.p.uncovered[1], "kernel", "bound", "bound", 0.5, 1.5, 1, 2.5,
             6.5);
    release();
    make(); /* of nothing all is covered */
    analyse();
    CHECK_REL(made.p.coverage_ops, 1, 0);
    CHECK_REL(made.p.coverage_time, 1, 0);
    release();
}

/* The part of a row that is bounded has its own time. */
static void test_analysis_ops__bound_part(void)
{
    make();
    add(MSIM_TASK_KERNEL, 0, 20, 0);
    add(MSIM_TASK_KERNEL, 0, 6, 2);
    analyse();
    REQUIRE(made.p.n_uncovered == 1);
    check_op(&made.p.uncovered[0], "mm", "gemm", "law", 0.5, 3, 2.5, 4, 23);
    release();
}

/* The whole GPU may be slower or faster, beside what each may be; but a link
 * is no GPU. */
static void test_analysis_ops__widened(void)
{
    make();
    made.o.gpu_slower = 1.5;
    made.o.gpu_faster = 2;
    add(MSIM_TASK_KERNEL, 0, 8, 2);
    add(MSIM_TASK_COMM, 0, 8, 2);
    analyse();
    REQUIRE(made.p.n_ops == 2 && made.p.n_uncovered == 2);
    for (int i = 0; i < 2; i++) {
        const struct msim_op_row *r = &made.p.ops[i];
        bool comm = r->communication;

        /* 4 less 0.5 and 2; 4 more 1 and 2. */
        CHECK_REL(r->us.low, comm ? 3.5 : 4 - sqrt(0.25 + 4), 1e-12);
        CHECK_REL(r->us.high, comm ? 5 : 4 + sqrt(1.0 + 4), 1e-12);
        r = &made.p.uncovered[i];
        comm = r->communication;
        CHECK_REL(r->us.low, comm ? 3.5 : 4 - sqrt(0.25 + 4), 1e-12);
        CHECK_REL(r->us.high, comm ? 5 : 4 + sqrt(1.0 + 4), 1e-12);
    }
    CHECK(made.p.ops[0].communication != made.p.ops[1].communication);
    release();
}

static void test_analysis_ops__families(void)
{
    make();
    add(MSIM_TASK_KERNEL, 0, 5, 1);
    add(MSIM_TASK_KERNEL, 0, 20, 0);
    add(MSIM_TASK_KERNEL, 2, 10, 0);
    analyse();
    REQUIRE(made.p.n_families == 2);
    CHECK_STR(made.p.families[0].model, "gemm");
    CHECK_REL(made.p.families[0].calls, 1, 1e-12);
    CHECK_REL(made.p.families[0].us.predicted, 15, 1e-12);
    CHECK_REL(made.p.families[0].us.low, 14, 1e-12);
    CHECK_REL(made.p.families[0].us.high, 17, 1e-12);
    CHECK_REL(made.p.families[0].us.measured, 25, 1e-12);
    CHECK_STR(made.p.families[1].model, "copy");
    release();
    make(); /* equal ones by name */
    add(MSIM_TASK_KERNEL, 0, 5, 0);
    add(MSIM_TASK_KERNEL, 0, 5, 1);
    analyse();
    CHECK_STR(made.p.families[0].model, "copy");
    release();
}

/* ---- limits -------------------------------------------------------------- */

/* 20 us of a kernel whose limits take so many us. */
static void check_limit(struct msim_limits l, const char *limit, double share)
{
    const struct msim_op_row *r;

    make();
    made.o.limits = made.limits;
    made.o.bandwidth = 1e12;
    made.limits[add(MSIM_TASK_KERNEL, 0, 20, 0)] = l;
    made.flops[0] = 4e9;
    analyse();
    r = made.p.ops;
    REQUIRE(made.p.n_ops == 1);
    CHECK_STR(r->limit, limit);
    if (isnan(share))
        CHECK(isnan(r->peak_share));
    else
        CHECK_REL(r->peak_share, share, 1e-6);
    CHECK_REL(r->sizes.us, 10, 1e-12);
    CHECK_REL(r->sizes.flops, 2e9, 1e-6);
    CHECK_REL(r->sizes.bytes, (double)l.memory / 2 * 1e6, 1e-6);
    if (l.tensor + l.vector > 0)
        CHECK_REL(r->sizes.peak_flops_per_second,
                  4e9 / (double)(l.tensor + l.vector) * 1e6, 1e-6);
    else
        CHECK(isnan(r->sizes.peak_flops_per_second));
    release();
}

/* What takes longest; bytes that take longer than the kernel are a cache's. */
static void test_analysis_ops__limits(void)
{
    check_limit((struct msim_limits){10, 1, 2, 3}, "tensor", 0.5);
    check_limit((struct msim_limits){1, 10, 2, 3}, "vector", 0.5);
    check_limit((struct msim_limits){1, 2, 10, 3}, "memory", 0.5);
    check_limit((struct msim_limits){0, 0, 1, 5}, "latency", 0.25);
    check_limit((struct msim_limits){5, 5, 5, 5}, "tensor", 0.25);
    check_limit((struct msim_limits){1, 2, 20, 3}, "memory", 1);
    check_limit((struct msim_limits){1, 2, 21, 3}, "cache", NAN);
    check_limit((struct msim_limits){21, 2, 1, 3}, "tensor", NAN);
}

/* Where half of the time has no sizes, nothing limits the row. */
static void test_analysis_ops__half_known(void)
{
    for (int more = 0; more < 2; more++) {
        make();
        made.o.limits = made.limits;
        made.limits[add(MSIM_TASK_KERNEL, 0, 10, 0)].memory = 5;
        made.limits[add(MSIM_TASK_KERNEL, 0, 10 - more, 2)].memory = 70;
        analyse();
        CHECK_STR(made.p.ops[0].limit, more ? "memory" : NULL);
        CHECK(isnan(made.p.ops[0].sizes.flops) == !more);
        release();
    }
    make(); /* nor a collective; nor anything without a platform */
    made.o.limits = made.limits;
    made.limits[add(MSIM_TASK_COMM, 0, 10, 0)].memory = 5;
    analyse();
    CHECK_STR(made.p.ops[0].limit, NULL);
    CHECK(isnan(made.p.ops[0].peak_share));
    release();
}

/* ---- collectives --------------------------------------------------------- */

/* `n` collectives of operator `name`. */
static void check_label(const char *name, const char *kernel, int a, int b,
                        const char *want)
{
    make();
    made.ops[3].name = name_of(name);
    for (int i = 0; i < 2; i++) {
        uint32_t t = add(MSIM_TASK_COMM, 3, 5, 0);

        made.gpu[t].name = name_of(kernel);
        made.gpu[t].comm = t;
        made.comms[t].collective = (uint8_t)(i ? b : a);
    }
    analyse();
    REQUIRE(made.p.n_ops == 1);
    CHECK(made.p.ops[0].communication);
    CHECK_REL(made.p.ops[0].calls, 1, 1e-12); /* each is a call */
    CHECK_STR(made.p.ops[0].label, want);
    release();
}

#define HOOK                                                                   \
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"

static void test_analysis_ops__labels(void)
{
    const int reduce = MSIM_COLL_ALL_REDUCE, scatter = MSIM_COLL_REDUCE_SCATTER;

    check_label("record_param_comms", "ncclKernel", reduce, reduce,
                "nccl all_reduce");
    check_label("record_param_comms", "k", reduce, reduce, "all_reduce");
    check_label(HOOK, "ncclKernel", reduce, reduce, "nccl all_reduce (DDP)");
    check_label(HOOK, "ncclKernel", scatter, scatter,
                "nccl reduce_scatter (FSDP)");
    check_label(HOOK, "nccl", MSIM_COLL_BARRIER, MSIM_COLL_BARRIER,
                "nccl barrier (torch::autograd::AccumulateGrad)");
    check_label("mine", "ncclKernel", reduce, scatter,
                "nccl collectives (mine)");
    check_label("mine", "k", reduce, scatter, NULL); /* its name says as much */
    check_label("mine", "k", reduce, reduce, "all_reduce (mine)");
}

/* An operator's own kernels and its collectives have a row each; without a GPU
 * the operator says which they are. */
static void test_analysis_ops__collectives_apart(void)
{
    uint32_t t;

    make();
    add(MSIM_TASK_KERNEL, 3, 5, 0);
    t = add(MSIM_TASK_COMM, 3, 9, 0);
    made.refs[t].index = MSIM_NONE;
    made.ops[3].comm = 2;
    made.comms[2].collective = MSIM_COLL_ALL_GATHER;
    analyse();
    REQUIRE(made.p.n_ops == 2);
    CHECK_STR(made.p.ops[0].label, "all_gather");
    CHECK(isnan(made.p.ops[0].us.measured));
    CHECK(made.p.ops[1].label == NULL && !made.p.ops[1].communication);
    release();
}

/* ---- by shape ------------------------------------------------------------ */

/* Of what the topmost operator is given, else the innermost; what is given
 * nothing is a row, too. */
static void test_analysis_ops__shapes(void)
{
    make();
    made.o.shapes = true;
    made.ops[0].args = MSIM_NONE;
    made.ops[1].args = 1;
    made.ops[2].args = 0;
    made.ops[3].name = made.ops[2].name; /* another "add" */
    made.ops[3].args = 1;
    add(MSIM_TASK_KERNEL, 1, 30, 0);
    add(MSIM_TASK_KERNEL, 2, 20, 0);
    add(MSIM_TASK_KERNEL, 2, 2, 0);
    add(MSIM_TASK_KERNEL, 3, 22, 0);
    add(MSIM_TASK_KERNEL, 0, 4, 0);
    analyse();
    CHECK_UINT(made.p.n_ops, 2);
    REQUIRE(made.p.n_shapes == 4);
    CHECK_STR(made.p.shapes[0].name, "mm");
    CHECK_STR(made.p.shapes[0].shapes, "[2]");
    CHECK_REL(made.p.shapes[0].us.predicted, 15, 1e-12);
    CHECK_STR(made.p.shapes[1].name, "add"); /* equal ones by their shapes */
    CHECK_STR(made.p.shapes[1].shapes, "[2,3]");
    CHECK_REL(made.p.shapes[1].calls, 0.5, 1e-12);
    CHECK_STR(made.p.shapes[2].shapes, "[2]");
    CHECK_STR(made.p.shapes[3].name, "mm");
    CHECK(made.p.shapes[3].shapes == NULL);
    release();
}

int main(void)
{
    RUN(test_analysis_ops__rows);
    RUN(test_analysis_ops__coverage);
    RUN(test_analysis_ops__bound_part);
    RUN(test_analysis_ops__widened);
    RUN(test_analysis_ops__families);
    RUN(test_analysis_ops__limits);
    RUN(test_analysis_ops__half_known);
    RUN(test_analysis_ops__labels);
    RUN(test_analysis_ops__collectives_apart);
    RUN(test_analysis_ops__shapes);
    return check_summary();
}

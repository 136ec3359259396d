/*
 * predict/cost_tasks.c: durations of the host's tasks, latencies, and costs of
 * a graph that an overlay makes.
 */
#include "predict/cost.h"

#include "tests/unit/made_remake.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct made_remake m;
static struct msim_platform *a100, *cpu;
static struct msim_host *host;

static msim_ps ps_of(double us)
{
    return (msim_ps)llround(us * MSIM_PS_PER_US);
}

/* The costs of `m`, whose tasks took what `traced` says. */
static struct msim_costs *costs(struct msim_cost_options opt)
{
    struct msim_costs *c = NULL;

    CHECK_INT(remake_begin(&m), MSIM_OK);
    opt.host = host;
    CHECK_INT(msim_costs_new(&c, &m.g, &opt, NULL), MSIM_OK);
    return c;
}

static void check(const struct msim_costs *c, uint32_t t, msim_ps mid,
                  msim_ps low, msim_ps high, uint8_t made_by)
{
    CHECK_INT(c->mid[t], mid);
    CHECK_INT(c->low[t], low);
    CHECK_INT(c->high[t], high);
    CHECK_INT(c->made_by[t], made_by);
}

/* What was measured has no interval, and what has no time takes none; next to
 * work of a GPU that is predicted the host does not repeat itself exactly. */
static void test_cost_tasks__as_traced(void)
{
    static const enum msim_task_kind KIND[] = {MSIM_TASK_HOST, MSIM_TASK_GAP,
                                               MSIM_TASK_JOIN};

    for (int predicted = 0; predicted < 2; predicted++) {
        struct msim_costs *c;
        double low = 1, high = 1;

        remake_new(&m, 1);
        for (uint32_t t = 0; t < 4; t++) {
            (void)remake_task(&m, KIND[t % 3], 0, 0);
            m.traced[t] = t == 3 ? -5 : 1000000 * (msim_ps)(t + 1);
        }
        c = costs(
            (struct msim_cost_options){.platform = predicted ? a100 : NULL});
        if (predicted)
            msim_host_repeat(host, &low, &high);
        CHECK_INT(low < 1 && high > 1, predicted);
        for (uint32_t t = 0; c && t < 4; t++) {
            msim_ps ps = t == 3 ? 0 : m.traced[t];

            check(c, t, ps, (msim_ps)llround((double)ps * low),
                  (msim_ps)llround((double)ps * high), MSIM_COST_TRACED);
            CHECK_INT(c->source[t], MSIM_SOURCE_MEASURED);
        }
        if (c) {
            CHECK_INT(isnan(c->bandwidth), !predicted);
            for (int k = 0; k < MSIM_EDGE_KINDS; k++) {
                double us = k == MSIM_EDGE_LAUNCH
                                ? msim_host_launch_latency(host).us
                                : msim_host_kernel_gap(host).us;
                bool own = predicted &&
                           (k == MSIM_EDGE_LAUNCH || k == MSIM_EDGE_STREAM);

                CHECK_INT(c->lag[k], own ? ps_of(us) : -1);
            }
            if (!predicted) {
                CHECK_REL(c->machine.slower, 1, 0);
                CHECK_REL(c->machine.faster, 1, 0);
            }
        }
        msim_costs_free(c);
        remake_done(&m);
    }
}

/* Times of calls that wait are the host's, where the trace's are longer; others
 * are the trace's, unless the host is modelled. Scaled costs read the waits. */
static void test_cost_tasks__of_calls(void)
{
    static const struct {
        enum msim_call_kind kind;
        bool waits;
    } CALL[] = {
        {MSIM_CALL_OTHER, false},        {MSIM_CALL_LAUNCH, false},
        {MSIM_CALL_GRAPH_LAUNCH, false}, {MSIM_CALL_MEMCPY, true},
        {MSIM_CALL_MEMCPY_SYNC, true},   {MSIM_CALL_MEMSET, false},
        {MSIM_CALL_DEVICE_SYNC, true},   {MSIM_CALL_STREAM_SYNC, true},
        {MSIM_CALL_EVENT_SYNC, true},    {MSIM_CALL_EVENT_RECORD, false},
        {MSIM_CALL_STREAM_WAIT, false},  {MSIM_CALL_EVENT_QUERY, false},
        {MSIM_CALL_EVENT_ELAPSED, true}, {MSIM_CALL_MALLOC, true},
        {MSIM_CALL_FREE, true}};
    const uint32_t n = sizeof(CALL) / sizeof(*CALL);

    for (int how = 0; how < 4; how++) {
        struct msim_cost_options opt = {.platform = how ? a100 : NULL,
                                        .source = how == 3 ? a100 : NULL,
                                        .host_modelled = how == 2};
        struct msim_costs *c;

        remake_new(&m, 1);
        for (uint32_t i = 0; i < 2 * n; i++) {
            struct msim_estimate e = msim_host_call(host, CALL[i % n].kind);

            m.b.calls[i].kind = (uint8_t)CALL[i % n].kind;
            m.refs[remake_task(&m, MSIM_TASK_CALL, 0, 0)].index = i;
            /* a little longer, and a little shorter than the host's */
            m.traced[i] = ps_of(e.us) + (i < n ? 1000 : -1000);
        }
        c = costs(opt);
        for (uint32_t i = 0; c && i < 2 * n; i++) {
            struct msim_estimate e = msim_host_call(host, CALL[i % n].kind);
            bool model = how == 2 || (how == 1 && CALL[i % n].waits && i < n);

            CHECK_INT(c->mid[i], model ? ps_of(e.us) : m.traced[i]);
            CHECK_INT(c->made_by[i], model ? MSIM_COST_HOST : MSIM_COST_TRACED);
            if (model)
                CHECK_INT(c->high[i], ps_of(e.high_us));
        }
        msim_costs_free(c);
        remake_done(&m);
    }
}

/* Work of operators that no trace timed, or of a host that is modelled: the sum
 * of what dispatching each takes. */
static void test_cost_tasks__of_operators(void)
{
    for (int modelled = 0; modelled < 2; modelled++) {
        struct msim_estimate sum = {0};
        struct msim_costs *c;

        remake_new(&m, 1);
        (void)build_op(&m.b, 0, "aten::relu", "f32[8]", "f32[8]");
        (void)build_op(&m.b, 0, "aten::mm", "f32[8,8] f32[8,8]", "f32[8,8]");
        (void)build_op(&m.b, 0, "aten::view", "f32[8,8]", "f32[64]");
        m.refs[remake_task(&m, MSIM_TASK_HOST, 0, 0)] =
            (struct msim_task_ref){.index = 0, .op_end = 2};
        m.refs[remake_task(&m, MSIM_TASK_HOST, 0, 0)] =
            (struct msim_task_ref){.index = 2, .op_end = 2}; /* none */
        m.traced[0] = modelled ? 77 : MSIM_TIME_NONE;
        m.traced[1] = 1234;
        c = costs((struct msim_cost_options){.platform = a100,
                                             .host_modelled = modelled});
        for (uint32_t i = 0; i < 2; i++) {
            struct msim_estimate e =
                msim_host_dispatch(host, &m.traces[0], i, true);

            sum.us += e.us;
            sum.low_us += e.low_us;
            sum.high_us += e.high_us;
        }
        if (c) {
            check(c, 0, ps_of(sum.us), ps_of(sum.low_us), ps_of(sum.high_us),
                  MSIM_COST_HOST);
            CHECK(sum.us > 0);
            CHECK_INT(c->mid[1], modelled ? 0 : 1234);
        }
        msim_costs_free(c);
        remake_done(&m);
    }
}

/* On a CPU an operator with works was timed as it is called, with what it
 * calls: of the host there remain pauses, and operators without works. */
static void test_cost_tasks__of_operators_on_a_cpu(void)
{
    struct msim_works **works = NULL;
    struct msim_costs *c = NULL;
    double us;

    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "aten::mul_", "f32[8] f32[8]", "f32[8]");
    (void)build_op(&m.b, 1, "aten::to", "f32[8]", "f32[8]");
    (void)build_op(&m.b, 0, "aten::view", "f32[8,8]", "f32[64]");
    m.refs[remake_task(&m, MSIM_TASK_HOST, 0, 0)] =
        (struct msim_task_ref){.index = 0, .op_end = 3};
    m.traced[0] = MSIM_TIME_NONE;
    REQUIRE(remake_begin(&m) == MSIM_OK);
    REQUIRE(msim_works_new_ranks(&works, m.ranks, 1, NULL, true) == MSIM_OK);
    CHECK_INT(msim_costs_new(&c, &m.g,
                             &(struct msim_cost_options){
                                 .platform = cpu, .works = works, .host = host},
                             NULL),
              MSIM_OK);
    us = msim_host_pause(host, &m.traces[0], 0).us +
         msim_host_pause(host, &m.traces[0], 1).us +
         msim_host_dispatch(host, &m.traces[0], 2, false).us;
    CHECK(us < msim_host_dispatch(host, &m.traces[0], 0, false).us +
                   msim_host_dispatch(host, &m.traces[0], 2, false).us);
    if (c)
        CHECK_INT(c->mid[0], ps_of(us));
    msim_costs_free(c);
    msim_works_free_ranks(works, 1);
    remake_done(&m);
}

/* Whoever is strict wants a law of every kernel: the error names the operator's
 * and what there is. */
static void test_cost_tasks__are_covered(void)
{
    struct msim_works **works = NULL;
    struct msim_costs *c = NULL;
    struct msim_error err = {0};

    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "my::own", "f32[1024]", "f32[1024]");
    m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 0)] =
        (struct msim_task_ref){.index = MSIM_NONE, .op = 0};
    CHECK_INT(remake_begin(&m), MSIM_OK);
    if (CHECK_INT(msim_works_new_ranks(&works, m.ranks, 1, NULL, false),
                  MSIM_OK)) {
        struct msim_cost_options opt = {
            .platform = a100, .works = works, .host = host};

        CHECK_INT(msim_costs_new(&c, &m.g, &opt, NULL), MSIM_OK);
        if (c && CHECK_INT(c->source[0], MSIM_SOURCE_BOUND)) {
            msim_costs_free(c);
            opt.strict = true;
            CHECK_INT(msim_costs_new(&c, &m.g, &opt, &err), MSIM_ENOMODEL);
            CHECK(c == NULL);
            CHECK_STR(err.text, "no model covers operator 'my::own' on 'a100'; "
                                "without --strict it is bounded by its memory "
                                "traffic");
        }
        msim_costs_free(c);
    }
    msim_works_free_ranks(works, 1);
    remake_done(&m);
}

/* Of a graph of the tasks 1, a new one, and 0. */
static void test_cost_tasks__overlaid(void)
{
    static const uint32_t FROM[] = {1, 2, 0};
    const struct msim_cost_added added = {.mid = 7,
                                          .low = 6,
                                          .high = 9,
                                          .source = MSIM_SOURCE_TABLE,
                                          .made_by = MSIM_FAMILY_NORM,
                                          .flops = 11,
                                          .limits = {.memory = 13}};
    struct msim_costs *c;

    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 100);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 200);
    m.removed[1] = 1;
    m.source[1] = MSIM_SOURCE_LAW;
    m.made_by[1] = MSIM_FAMILY_GEMM;
    m.flops[1] = 5;
    m.limits[1].tensor = 3;
    m.base.lag[MSIM_EDGE_LAUNCH] = 17;
    m.base.bandwidth = 19;
    m.base.machine = (struct msim_whole_job_machine){1.5, 2.5};
    m.base.step.factor = 23;
    m.base.marks = 1;
    REQUIRE(msim_costs_overlaid(&c, &m.base, 2, &added, FROM, 3) == MSIM_OK);
    check(c, 0, 200, 100, 300, MSIM_FAMILY_GEMM);
    CHECK_INT(c->removed[0], 1);
    CHECK_INT(c->source[0], MSIM_SOURCE_LAW);
    CHECK_REL(c->flops[0], 5, 0);
    CHECK_REL(c->limits[0].tensor, 3, 0);
    check(c, 1, 7, 6, 9, MSIM_FAMILY_NORM);
    CHECK_INT(c->removed[1], 0);
    CHECK_INT(c->source[1], MSIM_SOURCE_TABLE);
    CHECK_REL(c->flops[1], 11, 0);
    CHECK_REL(c->limits[1].memory, 13, 0);
    CHECK_INT(c->mid[2], 100);
    CHECK_INT(c->lag[MSIM_EDGE_LAUNCH], 17);
    CHECK_REL(c->bandwidth, 19, 0);
    CHECK_REL(c->machine.faster, 2.5, 0);
    CHECK_REL(c->step.factor, 23, 0);
    CHECK_INT(c->marks, 1);
    msim_costs_free(c);
    build_release(&m.b);
}

static void test_cost_tasks__has_words(void)
{
    CHECK_STR(msim_costs_text(MSIM_COST_TRACED), "measured");
    CHECK_STR(msim_costs_text(MSIM_COST_HOST), "host");
    CHECK_STR(msim_costs_text(MSIM_COST_CLASS), "class");
    CHECK_STR(msim_costs_text(MSIM_FAMILY_GEMM), "gemm");
    for (int i = 0; i < 4; i++) { /* one rank, without events */
        remake_new(&m, i & 1 ? 2 : 1);
        m.b.t.has_gpu_events = i > 1;
        CHECK_INT(remake_begin(&m), MSIM_OK);
        CHECK_INT(msim_costs_alone(&m.g), i == 0);
        remake_done(&m);
    }
}

/* What counts of it is that it is a CPU. */
static enum msim_status load_cpu(void)
{
    char path[] = "./msim-test-cpu-XXXXXX.json";
    enum msim_status status;
    int fd = mkstemps(path, 5);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

    if (!f)
        return MSIM_EIO;
    fputs("{\"name\":\"x\",\"kind\":\"cpu\",\"generation\":\"g\","
          "\"data_sheet\":{\"fp32_flops\":{\"value\":1e11},"
          "\"sms\":{\"value\":1},\"memory_bytes\":1e10,\"l2_bytes\":1e6,"
          "\"memory_bandwidth\":1e10,\"kernel_floor_us\":2,"
          "\"pcie_bandwidth\":1e10,\"pageable_bandwidth\":5e9,"
          "\"link_bandwidth\":1e11,\"network_bandwidth\":1e10,"
          "\"trace_factor\":1.5}}",
          f);
    fclose(f);
    status = msim_platform_load(&cpu, MSIM_DATA, path, NULL);
    unlink(path);
    return status;
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&a100, MSIM_DATA, "a100", NULL),
                   MSIM_OK) ||
        !CHECK_INT(load_cpu(), MSIM_OK) ||
        !CHECK_INT(msim_host_load(&host, MSIM_DATA, "generic", NULL), MSIM_OK))
        return check_summary();
    RUN(test_cost_tasks__as_traced);
    RUN(test_cost_tasks__of_calls);
    RUN(test_cost_tasks__of_operators);
    RUN(test_cost_tasks__of_operators_on_a_cpu);
    RUN(test_cost_tasks__are_covered);
    RUN(test_cost_tasks__overlaid);
    RUN(test_cost_tasks__has_words);
    msim_platform_free(a100);
    msim_platform_free(cpu);
    msim_host_free(host);
    return check_summary();
}

/*
 * predict/edit/remake.c and fuse.c: what a graph says backwards, and what is
 * changed of it.
 */
#include "predict/edit/edit_internal.h"

#include "tests/check.h"
#include "tests/unit/made_remake.h"

static struct made_remake m;

static struct msim_cost_added took(msim_ps mid)
{
    return (struct msim_cost_added){.mid = mid,
                                    .low = mid - 1,
                                    .high = mid + 2,
                                    .source = MSIM_SOURCE_LAW,
                                    .made_by = MSIM_FAMILY_GEMM,
                                    .flops = 5,
                                    .limits = {.tensor = 1, .memory = 2}};
}

/* ---- reading ------------------------------------------------------------- */

/* Every edge backwards, by the task that it leads to. */
static void test_remake__finds_causes(void)
{
    remake_new(&m, 1);
    for (int i = 0; i < 4; i++)
        (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 1);
    remake_edge(&m, 0, 3, MSIM_EDGE_STREAM, 0);
    remake_edge(&m, 1, 3, MSIM_EDGE_EVENT, 0);
    remake_edge(&m, 1, 2, MSIM_EDGE_EVENT, 0);
    remake_edge(&m, 0, 1, MSIM_EDGE_STREAM, 0);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        static const uint32_t BEGIN[] = {0, 0, 1, 2, 4};
        static const uint32_t FROM[] = {0, 1, 0, 1}, EDGE[] = {1, 3, 0, 2};

        for (int t = 0; t < 5; t++)
            CHECK_INT(m.d.cause_begin[t], BEGIN[t]);
        for (int i = 0; i < 4; i++) {
            CHECK_INT(m.d.causes[i].from, FROM[i]);
            CHECK_INT(m.d.causes[i].edge, EDGE[i]);
        }
    }
    remake_done(&m);
}

/* The stream with most kernels, of two alike the first; copies do not count, a
 * rank without kernels has none, and ranks are told apart. */
static void test_remake__finds_main_streams(void)
{
    static const struct {
        enum msim_task_kind kind;
        uint32_t lane;
    } TASK[] = {{MSIM_TASK_COPY, 1},   {MSIM_TASK_COPY, 1},
                {MSIM_TASK_COPY, 1},   {MSIM_TASK_KERNEL, 2},
                {MSIM_TASK_KERNEL, 2}, {MSIM_TASK_KERNEL, 3},
                {MSIM_TASK_KERNEL, 3}, {MSIM_TASK_KERNEL, 4},
                {MSIM_TASK_KERNEL, 5}, {MSIM_TASK_KERNEL, 5}};

    remake_new(&m, 3);
    m.lanes[4].rank = m.lanes[5].rank = 1;
    for (size_t i = 0; i < sizeof(TASK) / sizeof(*TASK); i++)
        (void)remake_task(&m, TASK[i].kind, TASK[i].lane, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, MSIM_NONE, 1);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(m.d.main_lane[0], 2);
        CHECK_INT(m.d.main_lane[1], 5);
        CHECK_UINT(m.d.main_lane[2], MSIM_NONE);
    }
    remake_done(&m);
}

/* The median of what the host does up to each launch: operators and calls, no
 * gaps; another thread begins anew, and so does what follows a launch. */
static void test_remake__finds_what_a_launch_takes(void)
{
    uint32_t kernel, launch[5];

    remake_new(&m, 2);
    (void)remake_task(&m, MSIM_TASK_HOST, 0, 7);
    (void)remake_task(&m, MSIM_TASK_GAP, 0, 1000);
    launch[0] = remake_task(&m, MSIM_TASK_CALL, 0, 4); /* 11 */
    (void)remake_task(&m, MSIM_TASK_HOST, 0, 100);
    launch[1] = remake_task(&m, MSIM_TASK_HOST, 6, 30); /* 30: its thread's */
    (void)remake_task(&m, MSIM_TASK_HOST, 6, 19);
    launch[2] = remake_task(&m, MSIM_TASK_CALL, 6, 1); /* 20 */
    launch[3] = remake_task(&m, MSIM_TASK_CALL, 6, 50);
    launch[4] = remake_task(&m, MSIM_TASK_CALL, 6, 12);
    kernel = remake_task(&m, MSIM_TASK_KERNEL, 1, 500);
    for (int i = 0; i < 5; i++)
        remake_edge(&m, launch[i], kernel, MSIM_EDGE_LAUNCH, 0);
    remake_edge(&m, 0, launch[0], MSIM_EDGE_PROGRAM, 0); /* no launch */
    m.refs[remake_task(&m, MSIM_TASK_HOST, 7, 9000)].rank = 1;
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(m.d.host_ps[0], 20);
        CHECK_INT(m.d.host_ps[1], 0); /* launches nothing */
    }
    remake_done(&m);
}

/* A collective starts with its arrival, if that is the task before, on its
 * stream; its launcher is the arrival's. */
static void test_remake__begins_and_launchers(void)
{
    msim_ps lag;

    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_COMM, 1, 1); /* 0: nothing before it */
    (void)remake_task(&m, MSIM_TASK_JOIN, 1, 0);
    (void)remake_task(&m, MSIM_TASK_COMM, 1, 1); /* 2 */
    (void)remake_task(&m, MSIM_TASK_JOIN, 2, 0);
    (void)remake_task(&m, MSIM_TASK_COMM, 1, 1);   /* 4: another stream's */
    (void)remake_task(&m, MSIM_TASK_COMM, 1, 1);   /* 5 */
    (void)remake_task(&m, MSIM_TASK_JOIN, 1, 0);   /* 6 */
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 1); /* 7: no collective */
    (void)remake_task(&m, MSIM_TASK_HOST, 0, 1);   /* 8 */
    remake_edge(&m, 0, 1, MSIM_EDGE_STREAM, 70);
    remake_edge(&m, 8, 1, MSIM_EDGE_LAUNCH, 30);
    remake_edge(&m, 1, 2, MSIM_EDGE_PROGRAM, 40);
    remake_edge(&m, 8, 7, MSIM_EDGE_EVENT, 50);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        static const uint32_t BEGIN[] = {0, 1, 1, 3, 4, 5, 6, 7};

        for (uint32_t t = 0; t < 8; t++)
            CHECK_INT(msim_remake_begin(&m.d, t), BEGIN[t]);
        lag = 9;
        CHECK_INT(msim_remake_launcher(&m.d, 2, &lag), 8);
        CHECK_INT(lag, 30);
        CHECK_UINT(msim_remake_launcher(&m.d, 7, &lag), MSIM_NONE);
        CHECK_INT(lag, 0);
        for (uint32_t t = 0; t < 9; t++) /* kernels, copies, transfers */
            CHECK_INT(msim_remake_is_gpu(&m.d, t),
                      m.kind[t] == MSIM_TASK_COMM ||
                          m.kind[t] == MSIM_TASK_KERNEL);
    }
    remake_done(&m);
}

/* Kernels of one call of the topmost operator that is selected, on one stream:
 * what is between them, not selected, ends it; host tasks do not. */
static void calls_of(const char *select, bool together)
{
    static const struct {
        enum msim_task_kind kind;
        uint32_t lane, op; /* 0 or 2: aten::a; 1 is below 0; 3: another */
    } TASK[] = {
        {MSIM_TASK_KERNEL, 1, 0}, {MSIM_TASK_KERNEL, 2, 0},
        {MSIM_TASK_JOIN, 1, 3},   {MSIM_TASK_KERNEL, 1, 1},
        {MSIM_TASK_KERNEL, 1, 2}, {MSIM_TASK_KERNEL, 1, 3},
        {MSIM_TASK_KERNEL, 1, 2}, {MSIM_TASK_KERNEL, 1, 2},
    };
    static const uint32_t END[] = {3, 1, 2, 3, 4, 5, 7, 7};
    static const bool BEGINS[] = {true, true, false, false,
                                  true, true, true,  false};
    char text[64];

    remake_new(&m, 1);
    build_op(&m.b, 0, "aten::a", "", NULL);
    build_op(&m.b, 1, "aten::below", "", NULL);
    build_op(&m.b, 0, "aten::a", "", NULL);
    build_op(&m.b, 0, "aten::other", "", NULL);
    for (size_t i = 0; i < sizeof(TASK) / sizeof(*TASK); i++)
        m.refs[remake_task(&m, TASK[i].kind, TASK[i].lane, 1)].op = TASK[i].op;
    remake_select(&m, select, text);
    if (CHECK_INT(remake_begin(&m), MSIM_OK))
        for (uint32_t t = 0; t < 8; t++) {
            if (!m.d.selected[t])
                continue;
            CHECK_INT(msim_remake_call_end(&m.d, t), together ? END[t] : t);
            CHECK_INT(msim_remake_call_begins(&m.d, t), !together || BEGINS[t]);
        }
    remake_done(&m);
}

static void test_remake__calls_of_operators(void)
{
    calls_of("op:aten::a", true);
    calls_of("kernels", false); /* of a class each is by itself */
}

static void test_remake__selects_nothing(void)
{
    char text[64];

    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 1);
    remake_select(&m, "copies", text);
    CHECK_INT(remake_begin(&m), MSIM_EUSAGE);
    CHECK_STR(m.err.text, "'copies' selects nothing");
    remake_done(&m);
}

/* ---- writing ------------------------------------------------------------- */

static void check_cost(uint32_t t, const struct msim_cost_added *want)
{
    const struct msim_costs *c = m.d.costs;

    CHECK_INT(c->mid[t], want->mid);
    CHECK_INT(c->low[t], want->low);
    CHECK_INT(c->high[t], want->high);
    CHECK_INT(c->source[t], want->source);
    CHECK_INT(c->made_by[t], want->made_by);
    CHECK_REL(c->flops[t], want->flops, 0);
    CHECK_REL(c->limits[t].tensor, want->limits.tensor, 0);
    CHECK_REL(c->limits[t].memory, want->limits.memory, 0);
}

/* host 0, call 1, host 2, call 3 launch kernels 4 (a collective's arrival), 5
 * (its transfer) and 6. */
static bool launched(void)
{
    remake_new(&m, 1);
    for (uint32_t i = 0; i < 4; i++)
        (void)remake_task(&m, i % 2 ? MSIM_TASK_CALL : MSIM_TASK_HOST, 0, 9);
    (void)remake_task(&m, MSIM_TASK_JOIN, 1, 0);
    (void)remake_task(&m, MSIM_TASK_COMM, 1, 20);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 30);
    remake_edge(&m, 0, 4, MSIM_EDGE_LAUNCH, 11);
    remake_edge(&m, 2, 6, MSIM_EDGE_LAUNCH, 12);
    return CHECK_INT(remake_begin(&m), MSIM_OK);
}

/* Behind a kernel the host launches it after the kernel's own call, before one
 * ahead of the call; on the stream's lane. */
static void test_remake__inserts(void)
{
    for (int before = 0; before < 2; before++) {
        struct msim_remake_kernel k = {
            .before = before, .name = 3, .op = 8, .host = 40, .cost = took(50)};
        const struct msim_overlay_task *t;
        uint32_t id = 0;

        if (launched()) {
            k.at = before ? 5 : 6;
            CHECK_INT(msim_remake_insert(&m.d, &k, &id), MSIM_OK);
            CHECK_INT(id, 7);
            REQUIRE(m.d.overlay.n_tasks == 2 && m.d.n_added == 2);
            t = m.d.overlay.tasks;
            CHECK_INT(t[0].at, before ? 4 : 6);
            CHECK_INT(t[0].place,
                      before ? MSIM_OVERLAY_BEFORE : MSIM_OVERLAY_AFTER);
            CHECK_INT(t[0].kind, MSIM_TASK_KERNEL);
            CHECK_INT(t[0].lane, 1);
            CHECK_INT(t[0].op, 8);
            CHECK_INT(t[0].name, 3);
            CHECK_INT(t[1].at, before ? 0 : 3);
            CHECK_INT(t[1].place, MSIM_OVERLAY_AFTER);
            CHECK_INT(t[1].kind, MSIM_TASK_HOST);
            CHECK_INT(t[1].lane, 0);
            CHECK_UINT(t[1].op, MSIM_NONE);
            CHECK_INT(remake_tied(&m, 8, 7, MSIM_EDGE_LAUNCH),
                      before ? 11 : 12);
            CHECK_INT(m.d.added[0].mid, 50);
            CHECK_INT(m.d.added[0].high, 52);
            CHECK_INT(m.d.added[1].mid, 40);
            CHECK_INT(m.d.added[1].low, 40);
            CHECK_INT(m.d.added[1].high, 40);
            CHECK_INT(m.d.added[1].source, MSIM_SOURCE_MEASURED);
            CHECK_INT(m.d.added[1].made_by, MSIM_COST_TRACED);
            /* work that costs the host nothing has no launch */
            k.host = 0;
            CHECK_INT(msim_remake_insert(&m.d, &k, &id), MSIM_OK);
            CHECK_INT(m.d.overlay.n_tasks, 3);
            k.host = 1;
            CHECK_INT(msim_remake_insert(&m.d, &k, &id), MSIM_OK);
            CHECK_INT(m.d.overlay.n_tasks, 5);
        }
        remake_done(&m);
    }
}

/* Without a launcher there is none for what is inserted, either. */
static void test_remake__inserts_what_nobody_launches(void)
{
    struct msim_remake_kernel k = {.host = 40, .cost = took(50)};
    uint32_t id;

    remake_new(&m, 1);
    (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 30);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        CHECK_INT(msim_remake_insert(&m.d, &k, &id), MSIM_OK);
        CHECK_INT(m.d.overlay.n_tasks, 1);
        CHECK_INT(m.d.overlay.n_edges, 0);
    }
    remake_done(&m);
}

/* What is taken out takes nothing and keeps where its time was from; with its
 * launch the call goes, and the host since the launch before, not before. */
static void test_remake__removes(void)
{
    for (int launch = 0; launch < 2; launch++) {
        if (launched()) {
            struct msim_cost_added none = {0};

            m.d.costs->source[6] = none.source = MSIM_SOURCE_CLASS;
            m.d.costs->made_by[6] = none.made_by = MSIM_FAMILY_CONV;
            m.d.costs->flops[6] = 8;
            msim_remake_remove(&m.d, 6, launch);
            check_cost(6, &none);
            CHECK_INT(m.d.costs->removed[6], 1);
            CHECK_INT(m.d.costs->removed[5], 0);
            none.source = MSIM_SOURCE_MEASURED;
            none.made_by = MSIM_COST_TRACED;
            if (launch)
                for (uint32_t t = 2; t < 4; t++)
                    check_cost(t, &none);
            for (uint32_t t = 0; t < (launch ? 2 : 4); t++)
                CHECK_INT(m.d.costs->mid[t], 9);
        }
        remake_done(&m);
    }
}

/* Host work of several stretches led to the launch; a gap and a call among them
 * keep their time, other threads and what is behind the launch too. */
static void test_remake__removes_what_led_to_a_launch(void)
{
    static const struct {
        enum msim_task_kind kind;
        uint32_t lane;
        msim_ps left;
    } TASK[] = {{MSIM_TASK_HOST, 2, 9}, {MSIM_TASK_HOST, 0, 0},
                {MSIM_TASK_CALL, 0, 9}, {MSIM_TASK_GAP, 0, 9},
                {MSIM_TASK_HOST, 0, 0}, {MSIM_TASK_HOST, 0, 9},
                {MSIM_TASK_CALL, 0, 9}};
    const uint32_t n = sizeof(TASK) / sizeof(*TASK);

    remake_new(&m, 1);
    for (uint32_t t = 0; t < n; t++)
        (void)remake_task(&m, TASK[t].kind, TASK[t].lane, 9);
    remake_edge(&m, 4, remake_task(&m, MSIM_TASK_KERNEL, 1, 5),
                MSIM_EDGE_LAUNCH, 0);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        msim_remake_remove(&m.d, n, true);
        for (uint32_t t = 0; t < n; t++)
            CHECK_INT(m.d.costs->mid[t], TASK[t].left);
    }
    remake_done(&m);
}

static void test_remake__sets_and_gives(void)
{
    struct msim_cost_added cost = took(77);

    if (launched()) {
        msim_remake_set(&m.d, 5, &cost);
        check_cost(5, &cost);
        CHECK_INT(m.d.costs->mid[6], 30);
    }
    remake_done(&m);
    cost = msim_remake_given(1.5e-6); /* to the nearest */
    CHECK_INT(cost.mid, 2);
    cost = msim_remake_given(2.5);
    CHECK_INT(cost.mid, 2500000);
    CHECK_INT(cost.low, 2500000);
    CHECK_INT(cost.high, 2500000);
    CHECK_INT(cost.source, MSIM_SOURCE_MEASURED);
    CHECK_INT(cost.made_by, MSIM_COST_TRACED);
    CHECK_INT(msim_remake_given(1e300).mid, MSIM_RUN_MAX);
}

/* ---- one kernel in the place of several ---------------------------------- */

static const char *fused(const char *const *names, uint32_t n)
{
    static char text[256];
    struct msim_cost_added cost = took(70);
    uint32_t tasks[16];

    remake_new(&m, 1);
    for (uint32_t i = 0; i < n; i++) {
        tasks[i] = remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
        if (names[i])
            m.refs[tasks[i]].op = build_op(&m.b, 0, names[i], "", NULL);
    }
    (void)remake_task(&m, MSIM_TASK_HOST, 0, 10);
    remake_edge(&m, n, n - 1, MSIM_EDGE_LAUNCH, 0);
    if (CHECK_INT(remake_begin(&m), MSIM_OK)) {
        msim_fuse_tasks(&m.d, tasks, n, &cost);
        check_cost(0, &cost);
        CHECK_INT(m.d.costs->removed[0], 0);
        for (uint32_t i = 1; i < n; i++) {
            CHECK_INT(m.d.costs->removed[i], 1);
            CHECK_INT(m.d.costs->mid[i], 0);
        }
        CHECK_INT(m.d.costs->mid[n], 0); /* its launch */
        snprintf(text, sizeof(text), "%s",
                 msim_strtab_text(m.b.strings, m.d.overlay.name[0]));
    }
    remake_done(&m);
    return text;
}

/* Each operator once, without its namespace, as long as there is room for it
 * and eight more in 160; without any, how many there are. */
static void test_fuse__names(void)
{
    char most[160] = "aten::", more[160] = "aten::", want[192];

    CHECK_STR(fused((const char *const[]){"aten::add", "relu", "aten::add"}, 3),
              "fused(add, relu)");
    CHECK_STR(fused((const char *const[]){NULL, "aten::mul", NULL}, 3),
              "fused(mul)");
    CHECK_STR(fused((const char *const[]){NULL, NULL}, 2), "fused(2 kernels)");
    memset(most + 6, 'x', 145); /* 6 + 145 + 8 < 160 */
    memset(more + 6, 'x', 146);
    snprintf(want, sizeof(want), "fused(%s)", most + 6);
    CHECK_STR(fused((const char *const[]){most, "aten::add"}, 2), want);
    CHECK_STR(fused((const char *const[]){more, "aten::add"}, 2), "fused(add)");
}

/* ---- the end ------------------------------------------------------------- */

/* Other durations alone leave the graph; a task more makes one of its own, with
 * groups where the base has some. */
static void test_remake__finishes(void)
{
    for (int what = 0; what < 3; what++) {
        uint8_t family[] = {1, 2, 3, 4, 5, 6, 7}, link[7] = {0}, part[7] = {0};
        const struct msim_task_groups of = {family, link, part};
        struct msim_remake_kernel k = {.at = 6, .cost = took(50)};
        struct msim_task_groups *groups;
        struct msim_costs *costs;
        struct msim_graph *g;
        uint32_t id;

        if (launched()) {
            m.d.costs->groups = what == 2 ? &of : NULL;
            m.d.costs->removed[5] = 1;
            if (what)
                CHECK_INT(msim_remake_insert(&m.d, &k, &id), MSIM_OK);
            REQUIRE(msim_remake_finish(&m.d, &g, &groups, &costs) == MSIM_OK);
            CHECK_INT(costs->removed[4], 1); /* the arrival of what is gone */
            CHECK_INT(costs->mid[6], 30);
            CHECK_INT(!g, what == 0);
            CHECK_INT(!groups, what < 2);
            if (g) {
                CHECK_INT(g->n_tasks, 8);
                CHECK_INT(costs->mid[7], 50);
                CHECK(costs->groups == groups);
            }
            if (groups) {
                CHECK_INT(groups->family[6], 7);
                CHECK_INT(groups->family[7], MSIM_FAMILY_GEMM);
            }
            msim_task_groups_free(groups);
            msim_costs_free(costs);
            msim_graph_free(g);
        }
        remake_done(&m);
    }
}

int main(void)
{
    RUN(test_remake__finds_causes);
    RUN(test_remake__finds_main_streams);
    RUN(test_remake__finds_what_a_launch_takes);
    RUN(test_remake__begins_and_launchers);
    RUN(test_remake__calls_of_operators);
    RUN(test_remake__selects_nothing);
    RUN(test_remake__inserts);
    RUN(test_remake__inserts_what_nobody_launches);
    RUN(test_remake__removes);
    RUN(test_remake__removes_what_led_to_a_launch);
    RUN(test_remake__sets_and_gives);
    RUN(test_fuse__names);
    RUN(test_remake__finishes);
    return check_summary();
}

/*
 * predict/cost_scale.c: which tasks a selection has, what they take, and which
 * collectives are waited for no more.
 */
#include "predict/cost.h"

#include "tests/unit/made_remake.h"

static struct made_remake m;
static struct msim_costs *costs;

enum { HOST, GAP, CALL, KERNEL, COPY, COMM, JOIN, OTHER, TASKS };

/* One task a kind, and a kernel of rank 1: operators aten::a (of the host, the
 * gap, the call and both kernels), below it aten::b (of the copy), and no
 * operator (of the transfer). Task t takes 10 (t + 1) us. */
static void begin(void)
{
    static const uint32_t LANE[TASKS] = {0, 0, 0, 1, 2, 2, MSIM_NONE, 3};
    static const uint32_t OP[TASKS] = {0, 0, 0, 0, 1, MSIM_NONE, MSIM_NONE, 0};

    remake_new(&m, 2);
    m.lanes[3].rank = 1;
    (void)build_op(&m.b, 0, "aten::a", "", NULL);
    (void)build_op(&m.b, 1, "aten::b", "", NULL);
    for (uint32_t t = 0; t < TASKS; t++) {
        (void)remake_task(
            &m, t == OTHER ? MSIM_TASK_KERNEL : (enum msim_task_kind)t, LANE[t],
            10000000 * (msim_ps)(t + 1));
        m.refs[t].op = OP[t];
    }
    m.refs[OTHER].rank = 1;
    m.refs[COMM].index = m.b.t.n_gpu++;
    m.b.gpu[0].name = build_text(&m.b, "ncclDevKernel_AllReduce");
    CHECK_INT(remake_begin(&m), MSIM_OK);
    costs = m.d.costs;
}

/* The tasks of a selection, as bits; all that is asked of it agrees. */
static uint32_t selected(const char *select)
{
    struct msim_scale scale;
    uint8_t *marks = NULL;
    msim_ps time = -1, by_rank[2] = {-1, -1}, sum[2] = {0, 0};
    uint32_t bits = 0, n = 0, count = 99;
    char text[64];

    snprintf(text, sizeof(text), "%s=2", select);
    if (!CHECK_INT(msim_scale_parse(&scale, text, NULL), MSIM_OK) ||
        !CHECK_INT(msim_scale_marks(&marks, &scale, costs, &m.g), MSIM_OK))
        return 0;
    CHECK_INT(msim_scale_time(&time, &scale, costs, &m.g), MSIM_OK);
    CHECK_INT(msim_scale_times(by_rank, &scale, costs, &m.g), MSIM_OK);
    CHECK_INT(msim_scale_count(&count, &scale, costs, &m.g), MSIM_OK);
    for (uint32_t t = 0; t < TASKS; t++) {
        bits |= (uint32_t)marks[t] << t;
        n += marks[t];
        sum[t == OTHER] += marks[t] ? costs->mid[t] : 0;
    }
    CHECK_INT(count, n);
    CHECK_INT(time, sum[0] + sum[1]);
    CHECK_INT(by_rank[0], sum[0]);
    CHECK_INT(by_rank[1], sum[1]);
    free(marks);
    return bits;
}

static void test_cost_scale__selects(void)
{
    static const struct {
        const char *select;
        uint32_t tasks;
    } CASE[] = {
        {"kernels", 1u << KERNEL | 1u << OTHER},
        {"copies", 1u << COPY},
        {"communication", 1u << COMM},
        {"host", 1u << HOST | 1u << GAP | 1u << CALL},
        {"kernels@0", 1u << KERNEL},
        {"kernels@1", 1u << OTHER},
        {"kernels@2", 0},
        {"op:aten::a", 1u << KERNEL | 1u << COPY | 1u << OTHER}, /* topmost */
        {"op:aten::b", 0},
        {"op:aten::a@1", 0},      /* a GLOB has no rank */
        {"op:nccl*", 1u << COMM}, /* without an operator its own name */
        {"op:*", 1u << KERNEL | 1u << COPY | 1u << COMM | 1u << OTHER},
        {"host:aten::a", 1u << HOST | 1u << GAP | 1u << CALL},
        {"host:aten::b", 0},
        {"stream:7", 1u << KERNEL},
        {"stream:8", 1u << COPY | 1u << COMM},
        {"stream:9", 1u << OTHER},
        {"stream:*", 1u << KERNEL | 1u << COPY | 1u << COMM | 1u << OTHER},
        {"stream:6", 0}, /* the host's thread is none */
        {"family:gemm", 0},
        {"link:node", 0},
        {"host-part:launch", 0}, /* groups are not known */
    };

    begin();
    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++)
        if (!CHECK_INT(selected(CASE[i].select), CASE[i].tasks))
            CHECK_STR(CASE[i].select, "");
    remake_done(&m);
}

/* By groups; the family of what a law priced is that law's, but for bounds and
 * what was measured, and what has no group has none of either. */
static void test_cost_scale__selects_groups(void)
{
    uint8_t family[TASKS], link[TASKS], part[TASKS];
    struct msim_task_groups of = {family, link, part};

    memset(family, MSIM_NO_GROUP, sizeof(family));
    memset(link, MSIM_NO_GROUP, sizeof(link));
    memset(part, MSIM_NO_GROUP, sizeof(part));
    family[KERNEL] = MSIM_FAMILY_GEMM;
    family[OTHER] = MSIM_FAMILY_GEMM;
    family[COPY] = MSIM_FAMILY_COPY;
    family[COMM] = MSIM_FAMILY_COLLECTIVE;
    link[COPY] = MSIM_LINK_H2D;
    link[COMM] = MSIM_LINK_NETWORK;
    part[CALL] = MSIM_HOST_PART_LAUNCH;
    begin();
    costs->groups = &of;
    for (int t = 0; t < TASKS; t++)
        costs->made_by[t] = MSIM_COST_TRACED;
    costs->made_by[HOST] = MSIM_FAMILY_GEMM; /* the host is of no family */
    CHECK_INT(selected("family:gemm"), 1u << KERNEL | 1u << OTHER);
    costs->made_by[OTHER] = MSIM_FAMILY_CONV;
    CHECK_INT(selected("family:gemm"), 1u << KERNEL);
    CHECK_INT(selected("family:conv"), 1u << OTHER);
    costs->made_by[OTHER] = MSIM_FAMILY_BOUND;
    CHECK_INT(selected("family:gemm"), 1u << KERNEL | 1u << OTHER);
    costs->made_by[OTHER] = MSIM_FAMILY_DISPATCH; /* the last below it */
    CHECK_INT(msim_costs_family(costs, OTHER), MSIM_FAMILY_DISPATCH);
    CHECK_INT(msim_costs_family(costs, HOST), MSIM_NO_GROUP);
    CHECK_INT(selected("link:h2d"), 1u << COPY);
    CHECK_INT(selected("link:network"), 1u << COMM);
    CHECK_INT(selected("link:network@1"), 0);
    CHECK_INT(selected("host-part:launch"), 1u << CALL);
    remake_done(&m);
}

/* Operators match as reports show them, too. */
static void test_cost_scale__matches_shown_names(void)
{
    remake_new(&m, 1);
    (void)build_op(&m.b, 0, "autograd::engine::evaluate_function: MmBackward0",
                   "", NULL);
    m.refs[remake_task(&m, MSIM_TASK_KERNEL, 1, 5)].op = 0;
    CHECK_INT(remake_begin(&m), MSIM_OK);
    for (int i = 0; i < 3; i++) {
        static const char *const TEXT[] = {
            "op:autograd::engine::evaluate_function: MmBackward0=2",
            "op:*MmBackward0=2", "op:MmBackward=2"};
        struct msim_scale scale;
        uint32_t n = 9;

        CHECK_INT(msim_scale_parse(&scale, TEXT[i], NULL), MSIM_OK);
        CHECK_INT(msim_scale_count(&n, &scale, m.d.costs, &m.g), MSIM_OK);
        CHECK_INT(n, i < 2);
    }
    remake_done(&m);
}

/* ---- durations ----------------------------------------------------------- */

/* Factors go on top of each other; by 0 work of the GPU is gone, the host's
 * takes no time. */
static void test_cost_scale__multiplies(void)
{
    static const char *const TEXT[] = {"kernels=0.5", "kernels@1=3", "copies=0",
                                       "host=0"};
    struct msim_scale scales[4];
    struct msim_costs *c;

    begin();
    for (int i = 0; i < 4; i++)
        CHECK_INT(msim_scale_parse(&scales[i], TEXT[i], NULL), MSIM_OK);
    REQUIRE(msim_costs_scaled(&c, costs, &m.g, scales, 4) == MSIM_OK);
    CHECK_INT(c->mid[KERNEL], 20000000);
    CHECK_INT(c->low[KERNEL], 10000000);
    CHECK_INT(c->high[KERNEL], 30000000);
    CHECK_INT(c->mid[OTHER], 120000000);
    CHECK_INT(c->mid[COMM], 60000000);
    CHECK_INT(c->mid[COPY] + c->low[COPY] + c->high[COPY], 0);
    for (int t = 0; t < TASKS; t++)
        CHECK_INT(c->removed[t], t == COPY || t == JOIN); /* of nobody */
    CHECK_INT(c->mid[HOST] + c->mid[GAP] + c->mid[CALL], 0);
    CHECK_INT(costs->mid[KERNEL], 40000000); /* the base stays */
    msim_costs_free(c);
    remake_done(&m);
}

/* A collective is not waited for where its transfer, the next task, is gone; a
 * meeting, on no lane, where all its transfers are. */
static void test_cost_scale__takes_out_joins(void)
{
    for (uint32_t gone = 0; gone < 4; gone++) {
        remake_new(&m, 1);
        for (uint32_t i = 0; i < 2; i++) { /* 0, 1 and 2, 3 */
            (void)remake_task(&m, MSIM_TASK_JOIN, 1 + i, 0);
            (void)remake_task(&m, MSIM_TASK_COMM, 1 + i, 10);
        }
        (void)remake_task(&m, MSIM_TASK_JOIN, MSIM_NONE, 0); /* 4 */
        (void)remake_task(&m, MSIM_TASK_KERNEL, 1, 10);
        remake_edge(&m, 4, 1, MSIM_EDGE_COLLECTIVE, 0);
        remake_edge(&m, 4, 3, MSIM_EDGE_COLLECTIVE, 0);
        remake_edge(&m, 1, 5, MSIM_EDGE_STREAM, 0);
        m.removed[1] = gone & 1;
        m.removed[3] = gone > 1;
        m.removed[0] = m.removed[4] = 1; /* of what was before */
        CHECK_INT(remake_begin(&m), MSIM_OK);
        msim_cost_take_out_joins(m.d.costs, &m.g);
        CHECK_INT(m.d.costs->removed[0], gone & 1);
        CHECK_INT(m.d.costs->removed[2], gone >> 1);
        CHECK_INT(m.d.costs->removed[4], gone == 3);
        CHECK_INT(m.d.costs->removed[5], 0);
        remake_done(&m);
    }
}

int main(void)
{
    RUN(test_cost_scale__selects);
    RUN(test_cost_scale__selects_groups);
    RUN(test_cost_scale__matches_shown_names);
    RUN(test_cost_scale__multiplies);
    RUN(test_cost_scale__takes_out_joins);
    return check_summary();
}

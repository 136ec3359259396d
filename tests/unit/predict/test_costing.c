/*
 * predict/costing.c and launch_plan.c: from estimates to durations, and what a
 * rank without GPU events would launch.
 */
#include "predict/predict_internal.h"

#include "tests/unit/made_ops.h"

/* ---- durations ----------------------------------------------------------- */

/* Never below 0, to the nearest picosecond, and at most the longest run. */
static void test_costing__picoseconds(void)
{
    CHECK_INT(msim_costing_ps(1), 1000000);
    CHECK_INT(msim_costing_ps(2.5e-6), 3);
    CHECK_INT(msim_costing_ps(2.4e-6), 2);
    CHECK_INT(msim_costing_ps(0), 0);
    CHECK_INT(msim_costing_ps(-7), 0);
    CHECK_INT(msim_costing_ps(1e300), MSIM_RUN_MAX);
    CHECK_INT(msim_costing_times(10, 1.26), 13);
    CHECK_INT(msim_costing_times(10, 0), 0);
    CHECK_INT(msim_costing_times(MSIM_RUN_MAX, 2), MSIM_RUN_MAX);
    CHECK_INT(msim_costing_times(3000000, 0.5), 1500000);
}

static void test_costing__shares(void)
{
    const struct msim_limits l = {1, 2, 4, 8};
    struct msim_limits half = msim_limits_share(&l, 0.5);

    CHECK_REL(half.tensor, 0.5, 0);
    CHECK_REL(half.vector, 1, 0);
    CHECK_REL(half.memory, 2, 0);
    CHECK_REL(half.latency, 4, 0);
}

/* A quarter of an estimate of 40 us, of the second of two tasks. */
static void test_costing__sets_a_task(void)
{
    msim_ps mid[2] = {0}, low[2] = {0}, high[2] = {0};
    uint8_t source[2] = {0}, made_by[2] = {0};
    float flops[2] = {0};
    struct msim_limits limits[2] = {{0}};
    struct msim_costs c = {.mid = mid,
                           .low = low,
                           .high = high,
                           .source = source,
                           .made_by = made_by,
                           .flops = flops,
                           .limits = limits};
    struct msim_costing k = {.c = &c};
    const struct msim_demand_estimate d = {.e = {.us = 40,
                                                 .low_us = 20,
                                                 .high_us = 100,
                                                 .source = MSIM_SOURCE_LAW,
                                                 .family = MSIM_FAMILY_CONV},
                                           .flops = 800,
                                           .limits = {4, 8, 12, 16}};

    msim_costing_set(&k, 1, &d, 0.25);
    CHECK_INT(mid[1], 10000000);
    CHECK_INT(low[1], 5000000);
    CHECK_INT(high[1], 25000000);
    CHECK_INT(source[1], MSIM_SOURCE_LAW);
    CHECK_INT(made_by[1], MSIM_FAMILY_CONV);
    CHECK_REL(flops[1], 200, 0);
    CHECK_REL(limits[1].tensor, 1, 0);
    CHECK_REL(limits[1].latency, 4, 0);
    CHECK(mid[0] == 0 && high[0] == 0);
}

/* A sum is of the family and source of its largest part; of equal ones, of the
 * first. What has been added up counts as one. */
static void test_costing__adds(void)
{
    const struct msim_estimate a = {.us = 3,
                                    .low_us = 2,
                                    .high_us = 7,
                                    .start_us = 1,
                                    .source = MSIM_SOURCE_TABLE,
                                    .family = MSIM_FAMILY_GEMM};
    const struct msim_estimate b = {.us = 5,
                                    .low_us = 4,
                                    .high_us = 6,
                                    .start_us = 2,
                                    .source = MSIM_SOURCE_LAW,
                                    .family = MSIM_FAMILY_NORM};
    const struct msim_estimate c = {
        .us = 8, .source = MSIM_SOURCE_BOUND, .family = MSIM_FAMILY_CONV};
    struct msim_estimate sum = {0};

    msim_costing_add(&sum, &a);
    CHECK_INT(sum.family, MSIM_FAMILY_GEMM);
    msim_costing_add(&sum, &b);
    CHECK_REL(sum.us, 8, 0);
    CHECK_REL(sum.low_us, 6, 0);
    CHECK_REL(sum.high_us, 13, 0);
    CHECK_REL(sum.start_us, 3, 0);
    CHECK_INT(sum.family, MSIM_FAMILY_NORM);
    CHECK_INT(sum.source, MSIM_SOURCE_LAW);
    msim_costing_add(&sum, &c);
    CHECK_INT(sum.family, MSIM_FAMILY_NORM);
    CHECK_REL(sum.us, 16, 0);
}

/* ---- launch plans -------------------------------------------------------- */

static struct build b;

/* The plan of the operators of `b`; the status, and what is said. */
static enum msim_status plan(struct msim_launch_plan **out, bool on_host,
                             struct msim_error *err)
{
    struct msim_trace *ranks[1] = {&b.t};
    struct msim_works **works;
    enum msim_status status;

    *err = (struct msim_error){0};
    if (msim_works_new_ranks(&works, ranks, 1, NULL, on_host) != MSIM_OK)
        return MSIM_ENOMEM;
    status = msim_launch_plan_new(out, works[0], on_host, "trace.json", err);
    msim_works_free_ranks(works, 1);
    return status;
}

/* Works of each operator lie one after the other. */
static void test_launch_plan__kinds(void)
{
    static const uint8_t WANT[] = {MSIM_LAUNCH_KERNEL, MSIM_LAUNCH_COPY,
                                   MSIM_LAUNCH_COPY_BACK, MSIM_LAUNCH_KERNEL};
    static const uint32_t FIRST[] = {0, 1, 1, 2, 3, 4};
    struct msim_launch_plan *p;
    struct msim_error err;

    build_init(&b);
    build_op(&b, 0, "aten::mm", "f16[8,4] f16[4,2]", "f16[8,2]");
    build_op(&b, 0, "aten::view", "f16[8,2]", "f16[16]");
    build_op(&b, 0, "aten::copy_", "f16[8,4] f16[8,4]@", "f16[8,4]");
    build_op(&b, 0, "aten::copy_", "f16[8,4]@ f16[8,4]", "f16[8,4]@");
    build_op(&b, 0, "aten::relu", "f16[8,4]", "f16[8,4]");
    REQUIRE(plan(&p, false, &err) == MSIM_OK);
    CHECK(!p->on_host);
    for (size_t i = 0; i < sizeof(FIRST) / sizeof(*FIRST); i++)
        CHECK_UINT(p->first[i], FIRST[i]);
    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++)
        CHECK_INT(p->kinds[i], WANT[i]);
    msim_launch_plan_free(p);
    REQUIRE(plan(&p, true, &err) == MSIM_OK);
    CHECK(p->on_host);
    msim_launch_plan_free(p);
    msim_launch_plan_free(NULL);
    build_release(&b);
}

/* A rank of operators without a shape says nothing of a device; one that has
 * no operators at all does nothing. */
static void test_launch_plan__without_shapes(void)
{
    struct msim_launch_plan *p;
    struct msim_error err;

    build_init(&b);
    REQUIRE(plan(&p, false, &err) == MSIM_OK);
    CHECK_UINT(p->first[0], 0);
    msim_launch_plan_free(p);
    build_op(&b, 0, "aten::mm", "", "");
    CHECK_INT(plan(&p, false, &err), MSIM_EFORMAT);
    CHECK(p == NULL);
    CHECK_STR(err.file, "trace.json");
    CHECK(strstr(err.text, "found operators without shapes and no GPU "
                           "activity") == err.text);
    build_op(&b, 0, "aten::neg", "f32[1]", "f32[1]");
    CHECK_INT(plan(&p, false, &err), MSIM_OK);
    msim_launch_plan_free(p);
    build_release(&b);
}

/* A shape is enough, even of an operator that launches nothing. A number that
 * is read back has no shape, and says nothing; a collective says all. */
static void test_launch_plan__with_little(void)
{
    struct msim_launch_plan *p;
    struct msim_error err;

    build_init(&b);
    build_op(&b, 0, "aten::view", "f16[8]", "");
    CHECK_INT(plan(&p, false, &err), MSIM_OK);
    if (p)
        CHECK_UINT(p->first[1], 0);
    msim_launch_plan_free(p);
    build_release(&b);
    build_init(&b);
    build_op(&b, 0, "aten::_local_scalar_dense", "", "");
    CHECK_INT(plan(&p, false, &err), MSIM_EFORMAT);
    build_op(&b, 0, "record_param_comms", "", "");
    b.t.world_size = 2;
    b.comms[0] = (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                                    .dtype = MSIM_DT_F32,
                                    .in_elems = 1000,
                                    .out_elems = 1000,
                                    .sequence = -1,
                                    .peer = -1,
                                    .group = MSIM_NONE,
                                    .op = 1};
    b.t.n_comms = 1;
    b.ops[1].comm = 0;
    CHECK_INT(plan(&p, false, &err), MSIM_OK);
    if (p) {
        CHECK_UINT(p->first[2], 2);
        CHECK_INT(p->kinds[0], MSIM_LAUNCH_COPY_BACK);
        CHECK_INT(p->kinds[1], MSIM_LAUNCH_COMM);
    }
    msim_launch_plan_free(p);
    build_release(&b);
}

int main(void)
{
    RUN(test_costing__adds);
    RUN(test_costing__picoseconds);
    RUN(test_costing__sets_a_task);
    RUN(test_costing__shares);
    RUN(test_launch_plan__kinds);
    RUN(test_launch_plan__with_little);
    RUN(test_launch_plan__without_shapes);
    return check_summary();
}

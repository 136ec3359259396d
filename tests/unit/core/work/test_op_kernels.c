/*
 * Kernels by the operator that launched them, what a launch of them was, and
 * which autograd node they are of.
 */
#include "core/work/estimate.h"
#include "core/work/kernel/infer.h"
#include "core/work/work.h"
#include "tests/unit/made_ops.h"

static struct build b;

static void begin(uint32_t n_ops)
{
    build_init(&b);
    for (uint32_t i = 0; i < n_ops; i++)
        build_op(&b, 0, "aten::relu", "f32[4]", NULL);
}

/* Of four operators the first launches one, the second none, the third two
 * around the one of the last. */
static void test_op_kernels__in_their_order(void)
{
    static const uint32_t OF[] = {2, 0, 3, 2};
    static const uint32_t BEGIN[] = {0, 1, 1, 3, 4}, GPU[] = {1, 0, 3, 2};
    struct msim_op_kernels l;

    begin(4);
    for (uint32_t i = 0; i < 4; i++)
        build_kernel(&b, OF[i], "k", 1, 1);
    CHECK_INT(msim_op_kernels_init(&l, &b.t), MSIM_OK);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(l.begin[i], BEGIN[i]);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_INT(l.gpu[i], GPU[i]);
    msim_op_kernels_release(&l);
    CHECK(!l.begin && !l.gpu);
    build_release(&b);
}

/* Copies, collectives and what nobody launched are of no operator. */
static void test_op_kernels__no_others(void)
{
    static const uint8_t KINDS[] = {MSIM_GPU_MEMCPY, MSIM_GPU_MEMSET,
                                    MSIM_GPU_COMM, MSIM_GPU_KERNEL,
                                    MSIM_GPU_KERNEL};
    struct msim_op_kernels l;

    begin(2);
    for (uint32_t i = 0; i < 5; i++)
        build_kernel(&b, 0, "k", 1, 1)->kind = KINDS[i];
    b.gpu[3].op = MSIM_NONE;
    CHECK_INT(msim_op_kernels_init(&l, &b.t), MSIM_OK);
    CHECK_INT(l.begin[0], 0);
    CHECK_INT(l.begin[1], 1);
    CHECK_INT(l.begin[2], 1);
    CHECK_INT(l.gpu[0], 4);
    msim_op_kernels_release(&l);
    build_release(&b);
}

static void test_op_kernels__of_nothing(void)
{
    struct msim_op_kernels l;

    begin(0);
    CHECK_INT(msim_op_kernels_init(&l, &b.t), MSIM_OK);
    CHECK_INT(l.begin[0], 0);
    msim_op_kernels_release(&l);
    build_release(&b);
}

/* A grid of 2 x 3 x 5 blocks of 7 x 11 x 13 threads. */
static void test_infer_state__launches(void)
{
    struct msim_infer l = {.t = &b.t};

    begin(1);
    build_kernel(&b, 0, "k", 1, 1);
    build_kernel(&b, 0, "k", 2, 7);
    b.configs[1] =
        (struct msim_launch_config){.grid = {2, 3, 5}, .block = {7, 11, 13}};
    CHECK_REL(msim_infer_blocks(&l, 1), 30, 0);
    CHECK_REL(msim_infer_threads(&l, 1), 30 * 1001, 0);
    CHECK_REL(msim_infer_threads(&l, 0), 1, 0);
    b.gpu[1].config = MSIM_NONE;
    CHECK(msim_infer_blocks(&l, 1) == 0);
    CHECK(msim_infer_threads(&l, 1) == 0);
    build_release(&b);
}

/* The next one outside that has a number, of which 0 is one. */
static void test_infer_state__nodes(void)
{
    int64_t node = -1;
    bool backward = true;

    build_init(&b);
    build_op(&b, 0, "outer", "", NULL);
    build_op(&b, 1, "node", "", NULL);
    build_op(&b, 2, "inner", "", NULL);
    build_kernel(&b, 2, "k", 1, 1);
    CHECK(!msim_infer_node(&b.t, 0, &node, &backward));
    b.ops[0].seq = 9;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward));
    CHECK_INT(node, 9);
    CHECK(!backward);
    b.ops[1].seq = 0;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward));
    CHECK_INT(node, 0);
    b.ops[1].scope = 1;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward) && backward);
    b.ops[1].scope = 7;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward) && !backward);
    b.ops[1].fw_thread = 0;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward) && backward);
    b.ops[2].seq = 5;
    CHECK(msim_infer_node(&b.t, 0, &node, &backward) && !backward);
    CHECK_INT(node, 5);
    b.gpu[0].op = MSIM_NONE;
    CHECK(!msim_infer_node(&b.t, 0, &node, &backward));
    build_release(&b);
}

static void test_estimate__words(void)
{
    static const char *const SOURCES[] = {
        [MSIM_SOURCE_MEASURED] = "measured", [MSIM_SOURCE_TABLE] = "table",
        [MSIM_SOURCE_LAW] = "law",           [MSIM_SOURCE_NOT_RUN] = "not run",
        [MSIM_SOURCE_SCALED] = "scaled",     [MSIM_SOURCE_INFERRED] = "launch",
        [MSIM_SOURCE_NEAREST] = "nearest",   [MSIM_SOURCE_BOUND] = "bound",
        [MSIM_SOURCE_CLASS] = "class"};

    CHECK_INT(sizeof(SOURCES) / sizeof(*SOURCES), MSIM_SOURCE_COUNT);
    for (int i = 0; i < MSIM_SOURCE_COUNT; i++)
        CHECK_STR(msim_source_text((enum msim_source)i), SOURCES[i]);
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_NOT), "");
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_MEMORY),
              "its sizes are more than the device's memory");
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_BELOW),
              "it was below half of what its bytes and FLOPs take at peak");
    CHECK_STR(msim_bounded_text(MSIM_BOUNDED_ABOVE),
              "it was above 20 times what its blocks, bytes and FLOPs explain");
}

int main(void)
{
    RUN(test_op_kernels__in_their_order);
    RUN(test_op_kernels__no_others);
    RUN(test_op_kernels__of_nothing);
    RUN(test_infer_state__launches);
    RUN(test_infer_state__nodes);
    RUN(test_estimate__words);
    return check_summary();
}

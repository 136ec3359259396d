/* models/host/host_class.c: classes of operators, by kind and name. */
#include "models/host/host.h"

#include "tests/unit/made_ops.h"

static struct build b;

static uint32_t op(const char *name, enum msim_op_kind kind, uint32_t parent)
{
    uint32_t i = b.t.n_ops++;

    b.ops[i] = msim_op_empty();
    CHECK_INT(msim_strtab_add(b.strings, name, strlen(name), &b.ops[i].name),
              MSIM_OK);
    b.ops[i].kind = (uint8_t)kind;
    b.ops[i].parent = parent;
    b.ops[i].end = i + 1;
    for (; parent != MSIM_NONE; parent = b.ops[parent].parent)
        b.ops[parent].end = i + 1;
    return i;
}

static void test_host_class__by_name(void)
{
    static const struct {
        const char *name;
        enum msim_host_class is; /* of a leaf */
    } ROWS[] = {
        {"aten::mm", MSIM_HOST_LEAF},
        {"autograd::engine::evaluate_function: MmBackward0", MSIM_HOST_ENGINE},
        {"torch::autograd::AccumulateGrad", MSIM_HOST_BACKWARD},
        {"MmBackward0", MSIM_HOST_BACKWARD},
        {"my::BackwardHook", MSIM_HOST_BACKWARD},
        {"c10d::allreduce_", MSIM_HOST_COLLECTIVE},
        {"nccl:all_reduce", MSIM_HOST_COLLECTIVE},
        {"c10d_functional::wait_tensor", MSIM_HOST_COLLECTIVE},
        {"_c10d_functional::all_reduce", MSIM_HOST_COLLECTIVE},
        {"record_param_comms", MSIM_HOST_COLLECTIVE},
        {"record_param_comms2", MSIM_HOST_LEAF},
        {"my_c10d::x", MSIM_HOST_LEAF},
        {"autograd", MSIM_HOST_LEAF},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        CHECK_INT(msim_host_class_of(ROWS[i].name, true), ROWS[i].is);
        CHECK_INT(msim_host_class_of(ROWS[i].name, false),
                  ROWS[i].is == MSIM_HOST_LEAF ? MSIM_HOST_COMPOSITE
                                               : ROWS[i].is);
    }
}

/* Roots and labels around operators take no time; a label inside of one is
 * its own, unless it communicates. */
static void test_host_class__of_operators(void)
{
    uint32_t root, label, linear, inside, leaf, comm, deep;

    build_init(&b);
    root = op("[pytorch|profiler|execution_trace|process]", MSIM_OP_ROOT,
              MSIM_NONE);
    label = op("forward", MSIM_OP_ANNOTATION, root);
    linear = op("aten::linear", MSIM_OP_OPERATOR, label);
    inside = op("my label", MSIM_OP_ANNOTATION, linear);
    leaf = op("aten::mm", MSIM_OP_OPERATOR, inside);
    comm = op("nccl:all_reduce", MSIM_OP_ANNOTATION, linear);
    deep = op("another", MSIM_OP_ANNOTATION, inside);
    CHECK_INT(msim_host_op_class(&b.t, root), MSIM_HOST_NOTHING);
    CHECK_INT(msim_host_op_class(&b.t, label), MSIM_HOST_NOTHING);
    CHECK_INT(msim_host_op_class(&b.t, linear), MSIM_HOST_COMPOSITE);
    CHECK_INT(msim_host_op_class(&b.t, inside), MSIM_HOST_LABEL);
    CHECK_INT(msim_host_op_class(&b.t, leaf), MSIM_HOST_LEAF);
    CHECK_INT(msim_host_op_class(&b.t, comm), MSIM_HOST_COLLECTIVE);
    CHECK_INT(msim_host_op_class(&b.t, deep), MSIM_HOST_LABEL);
    CHECK(msim_host_is_topmost(&b.t, root));
    CHECK(msim_host_is_topmost(&b.t, label));
    CHECK(msim_host_is_topmost(&b.t, linear));
    CHECK(!msim_host_is_topmost(&b.t, inside));
    CHECK(!msim_host_is_topmost(&b.t, leaf));
    build_release(&b);
}

/* A node of autograd without its number. */
static void test_host_class__length_of_names(void)
{
    static const struct {
        const char *name;
        size_t n;
    } ROWS[] = {{"MmBackward0", 10},  {"MmBackward12", 10},
                {"MmBackward", 10},   {"Backward7", 8},
                {"aten::conv2", 11},  {"Mm0", 3},
                {"MmBackward0x", 12}, {"", 0},
                {"123", 3},           {"MmBackwards0", 12}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        CHECK_UINT(msim_host_name_length(ROWS[i].name), ROWS[i].n);
}

/* What recording itself costs is the median of ten operators or more that do
 * nothing; of an even number the one above the middle. */
static void test_host_class__recording(void)
{
    uint32_t parent;

    build_init(&b);
    b.t.has_times = true;
    for (int i = 0; i < 9; i++)
        b.ops[op(i % 2 ? "aten::view" : "aten::as_strided", MSIM_OP_OPERATOR,
                 MSIM_NONE)]
            .dur = (9 - i) * 1000000;
    /* none of these counts */
    b.ops[op("aten::mm", MSIM_OP_OPERATOR, MSIM_NONE)].dur = 1;
    b.ops[op("aten::view", MSIM_OP_ANNOTATION, MSIM_NONE)].dur = 1;
    parent = op("aten::view", MSIM_OP_OPERATOR, MSIM_NONE);
    b.ops[parent].dur = 1;
    b.ops[op("aten::neg", MSIM_OP_OPERATOR, parent)].dur = 1;
    CHECK(isnan(msim_host_recording_us(&b.t)));
    b.ops[op("aten::view", MSIM_OP_OPERATOR, MSIM_NONE)].dur = 10000000;
    CHECK_REL(msim_host_recording_us(&b.t), 6, 0);
    b.t.has_times = false;
    CHECK(isnan(msim_host_recording_us(&b.t)));
    build_release(&b);
    CHECK(msim_host_does_nothing("aten::view"));
    CHECK(msim_host_does_nothing("aten::as_strided"));
    CHECK(!msim_host_does_nothing("aten::view_as"));
}

static void test_host_class__words(void)
{
    static const char *const CLASSES[] = {"leaf",     "composite",  "autograd",
                                          "backward", "collective", "label",
                                          "nothing"};

    for (int i = 0; i < MSIM_HOST_CLASSES; i++)
        CHECK_STR(msim_host_class_text((enum msim_host_class)i), CLASSES[i]);
}

int main(void)
{
    RUN(test_host_class__by_name);
    RUN(test_host_class__length_of_names);
    RUN(test_host_class__of_operators);
    RUN(test_host_class__recording);
    RUN(test_host_class__words);
    return check_summary();
}

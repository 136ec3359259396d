/*
 * tests/unit/core/chakra/test_chakra_fill.c - what one Chakra node says, for
 * each kind of row that it is made of.
 *
 * A node is spelled as its type, duration_micros and start_time_micros, then
 * its attributes: i is an int32, u an uint64, all other numbers are int64.
 */
#include "core/chakra/write_chakra_internal.h"

#include "tests/unit/loaded.h"

enum { OP = 1, INIT, GROUP }; /* strings */

static struct msim_thread threads[] = {{.tid = 11}, {.tid = 12}};
static struct msim_stream streams[] = {{.device = 2, .id = 7},
                                       {.device = 3, .id = 20}};
static struct msim_op ops[4];
static struct msim_call calls[] = {
    {.start = 4000000, .dur = 1000, .thread = 1, .correlation = 42},
    {.correlation = 43}};
static struct msim_launch_config configs[] = {{{0}, {0}, 0, 0},
                                              {{1, 2, 3}, {4, 5, 6}, 7, 8}};
static int32_t group_ranks[] = {4, 6};
static struct msim_group groups[] = {{.name = GROUP, .size = 2, .count = 2}};
static struct msim_comm comms[] = {
    {.collective = MSIM_COLL_ALL_REDUCE,
     .dtype = MSIM_DT_F16,
     .in_elems = 10,
     .out_elems = 12,
     .sequence = 0,
     .peer = 0,
     .group = 0,
     .by_place = true},
    {.collective = MSIM_COLL_SEND,
     .dtype = MSIM_DT_F32,
     .out_elems = 3,
     .sequence = -1,
     .peer = 0,
     .group = 0,
     .by_place = true},
    {.collective = MSIM_COLL_RECV,
     .dtype = MSIM_DT_F32,
     .in_elems = 3,
     .sequence = 9,
     .peer = -1,
     .group = MSIM_NONE},
    {.sequence = -1, .peer = -1, .group = MSIM_NONE},
    {.collective = MSIM_COLL_BARRIER,
     .dtype = MSIM_DT_F32,
     .in_elems = 1,
     .sequence = -1,
     .peer = -1,
     .group = 0},
};
static struct msim_gpu gpu[] = {
    {.kind = MSIM_GPU_KERNEL,
     .start = 9000,
     .dur = 2000,
     .stream = 1,
     .op = 0,
     .correlation = 5,
     .config = 1,
     .comm = MSIM_NONE},
    {.kind = MSIM_GPU_MEMCPY,
     .start = 9000,
     .dur = 2000,
     .stream = 0,
     .op = 0,
     .bytes = 1,
     .config = MSIM_NONE,
     .comm = MSIM_NONE},
    {.kind = MSIM_GPU_COMM,
     .start = 9000,
     .dur = 2000,
     .stream = 0,
     .op = 0,
     .config = MSIM_NONE,
     .comm = 1},
    {.kind = MSIM_GPU_KERNEL,
     .start = 9000,
     .dur = 2000,
     .stream = 0,
     .op = 1,
     .config = MSIM_NONE,
     .comm = MSIM_NONE},
    {.kind = MSIM_GPU_KERNEL,
     .start = 9000,
     .dur = 2000,
     .stream = 0,
     .op = MSIM_NONE,
     .config = MSIM_NONE,
     .comm = MSIM_NONE},
    {.kind = MSIM_GPU_KERNEL,
     .start = 9000,
     .dur = 2000,
     .op = 3,
     .config = MSIM_NONE,
     .comm = MSIM_NONE},
};
static struct msim_sync syncs[] = {
    {.start = 1000,
     .kind = 6,
     .call = MSIM_NONE,
     .stream = MSIM_NONE,
     .wait_stream = MSIM_NONE,
     .record_call = MSIM_NONE},
    {.start = 1000,
     .kind = 7,
     .call = MSIM_NONE,
     .stream = MSIM_NONE,
     .wait_stream = 1,
     .record_call = 1},
    {.start = 1000,
     .kind = 8,
     .call = 0,
     .stream = 0,
     .wait_stream = 1,
     .record_call = MSIM_NONE},
};
static struct msim_trace trace = {.rank = 6,
                                  .clock_shift = 1000,
                                  .threads = threads,
                                  .n_threads = 2,
                                  .streams = streams,
                                  .n_streams = 2,
                                  .ops = ops,
                                  .n_ops = 4,
                                  .calls = calls,
                                  .configs = configs,
                                  .groups = groups,
                                  .group_ranks = group_ranks,
                                  .comms = comms,
                                  .gpu = gpu,
                                  .syncs = syncs};
/* Of operators: two kernels share 9 flops and 5 bytes; no bytes; few flops. */
static const struct msim_chakra_work works[] = {
    {9, 5}, {7, 0}, {0.5, 1}, {0.9, 5}};
static uint32_t kernels[] = {2, 0, 0, 2};
static struct msim_chakra_builder b = {.t = &trace, .kernels = kernels};

static void spell_attr(struct spelled *to,
                       const ChakraProtoMsg__AttributeProto *a)
{
    spell(to, " %s=", a->name);
    if (a->value_case == CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL)
        spell(to, "%" PRId64, a->int64_val);
    else if (a->value_case ==
             CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL)
        spell(to, "i%d", a->int32_val);
    else if (a->value_case ==
             CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL)
        spell(to, "u%" PRIu64, a->uint64_val);
    else if (a->value_case ==
             CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL)
        spell(to, "%s", a->string_val);
    else if (a->value_case == CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL)
        spell(to, a->bool_val ? "true" : "false");
    else if (CHECK_INT(a->value_case,
                       CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_LIST))
        for (size_t i = 0; i < a->int64_list->n_values; i++)
            spell(to, "%s%" PRId64, i ? "," : "", a->int64_list->values[i]);
}

static void spell_side(struct spelled *to, const char *name,
                       const ChakraProtoMsg__IOInfo *side)
{
    if (side)
        spell(to, " %s %s %s %s", name, side->values, side->shapes,
              side->types);
}

static void check_node(struct msim_chakra_out_node n, const char *want)
{
    ChakraProtoMsg__Node node;
    struct spelled got = {"", 0};

    chakra_proto_msg__node__init(&node);
    node.type = CHAKRA_PROTO_MSG__NODE_TYPE__COMP_NODE;
    msim_chakra_begin(&b);
    CHECK_INT(msim_chakra_fill(&b, &node, &n), MSIM_OK);
    spell(&got, "%d %" PRIu64 " %" PRIu64 ":", (int)node.type,
          node.duration_micros, node.start_time_micros);
    for (size_t i = 0; i < b.n; i++)
        spell_attr(&got, b.list[i]);
    node.attr = b.list;
    node.n_attr = b.n;
    CHECK(chakra_proto_msg__node__get_packed_size(&node) > b.n);
    spell_side(&got, "in", node.inputs);
    spell_side(&got, "out", node.outputs);
    CHECK_STR(got.text, want);
}

static struct msim_chakra_out_node node_of(enum msim_chakra_event event,
                                           uint32_t row, msim_ps own)
{
    return (struct msim_chakra_out_node){.event = (uint8_t)event,
                                         .row = row,
                                         .own = own,
                                         .not_before = MSIM_TIME_NONE,
                                         .op = MSIM_NONE};
}

/* Nanoseconds are rounded down, microseconds of work to the nearest; a span
 * stands where it differs from the work. */
static void test_chakra_fill__times(void)
{
    static const struct {
        msim_ps start, dur, own, not_before;
        const char *want;
        unsigned rounded;
    } cases[] = {
        {1000, 2000000, 2000000, MSIM_TIME_NONE,
         "4 2 0: duration_ns=2000 start_ns=0", 0},
        {5001000, 1499000, 1499000, MSIM_TIME_NONE,
         "4 1 5: duration_ns=1499 start_ns=5000", 0},
        {5001000, 2000, 500000, MSIM_TIME_NONE,
         "4 1 5: duration_ns=500 start_ns=5000 span_ns=2", 0},
        {5001999, 1, 0, MSIM_TIME_NONE,
         "4 0 5: duration_ns=0 start_ns=5000 span_ns=1", 1},
        {0, 1000, 1500, MSIM_TIME_NONE, "4 0 0: duration_ns=1 start_ns=-1", 1},
        {-1500, 0, 0, 3000, "4 0 0: duration_ns=0 not_before_ns=2 start_ns=-3",
         2},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_chakra_out_node n =
            node_of(MSIM_CHAKRA_CALL_EVENT, 0, cases[i].own);
        char want[160];

        n.not_before = cases[i].not_before;
        calls[0].start = cases[i].start;
        calls[0].dur = cases[i].dur;
        b.rounded = 0;
        snprintf(want, sizeof(want), "%s tid=12 thread=1 correlation=42",
                 cases[i].want);
        check_node(n, want);
        CHECK_UINT(b.rounded, cases[i].rounded);
    }
    check_node(node_of(MSIM_CHAKRA_REST_EVENT, MSIM_NONE, 4000),
               "4 0 0: duration_ns=4");
}

static void test_chakra_fill__operators(void)
{
    static int64_t dims[] = {2, 3};
    static struct msim_arg args[] = {
        {.kind = MSIM_ARG_INT, .v.i = 5},
        {.kind = MSIM_ARG_TENSOR, .dtype = MSIM_DT_F32, .n = 2}};
    static struct msim_arg_block blocks[] = {{0, 1}, {1, 1}};

    trace.args = args;
    trace.n_args = 2;
    trace.blocks = blocks;
    trace.n_blocks = 2;
    trace.dims = dims;
    for (int i = 0; i < 4; i++) {
        ops[i] = msim_op_empty();
        ops[i].name = OP;
    }
    check_node(node_of(MSIM_CHAKRA_OPERATOR_EVENT, 0, 0),
               "4 0 0: duration_ns=0 rf_id=0 seq_id=-1 scope=0 tid=11 "
               "thread=0");
    ops[1].name = INIT;
    ops[1].rf_id = 3;
    ops[1].seq = 4;
    ops[1].scope = 7;
    ops[1].thread = 1;
    ops[1].fw_thread = 0;
    ops[1].et_id = 77;
    ops[1].comm = 0;
    ops[1].args = 0;
    ops[1].outs = 1;
    check_node(node_of(MSIM_CHAKRA_ANNOTATION_EVENT, 1, 0),
               "1 0 0: duration_ns=0 rf_id=3 seq_id=4 scope=7 tid=12 thread=1 "
               "fw_tid=11 fw_thread=0 et_id=77 comm=0 "
               "collective_name=all_reduce dtype=c10::Half in_msg_nelems=10 "
               "out_msg_nelems=12 comm_seq=0 comm_peer=4 pg_name=pg in [5] "
               "[[]] ['Int'] out [[0, 0, 0, 6, 4, '']] [[2, 3]] "
               "['Tensor(float)']");
    ops[2].comm = 3;
    check_node(node_of(MSIM_CHAKRA_ROOT_EVENT, 2, 0),
               "4 0 0: duration_ns=0 rf_id=0 seq_id=-1 scope=0 tid=11 thread=0 "
               "comm=3 in_msg_nelems=0 out_msg_nelems=0");
}

/* A kernel has its share of the operator's work. */
static void test_chakra_fill__activities(void)
{
#define TIMES "duration_ns=2 start_ns=8 "
    static const struct {
        enum msim_chakra_event event;
        uint32_t row;
        const char *want;
    } cases[] = {
        {MSIM_CHAKRA_KERNEL_EVENT, 0,
         "4 0 0: " TIMES "stream=20 device=3 correlation=5 grid=1,2,3 "
         "block=4,5,6 registers_per_thread=7 shared_memory=8 num_ops=4 "
         "tensor_size=u2"},
        {MSIM_CHAKRA_MEMCPY_EVENT, 1,
         "4 0 0: " TIMES "stream=7 device=2 correlation=0 bytes=1"},
        {MSIM_CHAKRA_COMM_EVENT, 2,
         "5 0 0: " TIMES "stream=7 device=2 correlation=0 comm=1 "
         "collective_name=send dtype=float in_msg_nelems=0 out_msg_nelems=3 "
         "comm_peer=4 pg_name=pg comm_src=i6 comm_dst=i4 comm_size=12"},
        {MSIM_CHAKRA_KERNEL_EVENT, 3,
         "4 0 0: " TIMES "stream=7 device=2 correlation=0"},
        {MSIM_CHAKRA_KERNEL_EVENT, 5,
         "4 0 0: " TIMES "stream=7 device=2 correlation=0 num_ops=1 "
         "tensor_size=u2"},
        {MSIM_CHAKRA_MEMSET_EVENT, 4,
         "4 0 0: " TIMES "stream=7 device=2 correlation=0"},
    };

    b.works = works;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        check_node(node_of(cases[i].event, cases[i].row, 2000), cases[i].want);
    b.works = NULL;
    check_node(node_of(MSIM_CHAKRA_KERNEL_EVENT, 0, 2000),
               "4 0 0: " TIMES "stream=20 device=3 correlation=5 grid=1,2,3 "
               "block=4,5,6 registers_per_thread=7 shared_memory=8");
}

static void test_chakra_fill__synchronisation(void)
{
    check_node(node_of(MSIM_CHAKRA_SYNC_EVENT, 0, 0),
               "0 0 0: duration_ns=0 start_ns=0 sync_kind=6");
    check_node(node_of(MSIM_CHAKRA_SYNC_EVENT, 1, 0),
               "0 0 0: duration_ns=0 start_ns=0 sync_kind=7 device=3 "
               "wait_stream=20 record_correlation=43");
    check_node(node_of(MSIM_CHAKRA_SYNC_EVENT, 2, 0),
               "0 0 0: duration_ns=0 start_ns=0 sync_kind=8 device=2 stream=7 "
               "wait_stream=20 correlation=42");
}

/* Of operators without times: work on stream 0, messages on stream 1. */
static void test_chakra_fill__made(void)
{
    static const struct {
        uint32_t row, op;
        const char *want;
    } cases[] = {
        {MSIM_NONE, 0, "4 0 0: stream=0 num_ops=9 tensor_size=u5"},
        {MSIM_NONE, 1, "4 0 0: stream=0"},
        {MSIM_NONE, 2, "4 0 0: stream=0 num_ops=1 tensor_size=u1"},
        {MSIM_NONE, MSIM_NONE, "4 0 0: stream=0"},
        {0, 0, "7 0 0: stream=1 comm_type=0 comm_size=20 pg_name=pg"},
        {1, 0,
         "5 0 0: stream=1 comm_src=i6 comm_dst=i4 comm_size=12 "
         "pg_name=pg"},
        {2, 0, "6 0 0: stream=1 comm_src=i-1 comm_dst=i6 comm_size=12"},
        {3, 0, "4 0 0: stream=1"},
        {4, 0, "7 0 0: stream=1 comm_type=9 comm_size=4 pg_name=pg"},
    };

    b.works = works;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_chakra_out_node n =
            node_of(MSIM_CHAKRA_MADE_EVENT, cases[i].row, 0);

        n.op = cases[i].op;
        check_node(n, cases[i].want);
    }
}

/* A rank that no int32 holds, or that is not known, counts as rank 0. */
static void test_chakra_fill__ranks(void)
{
    static const struct {
        int64_t rank;
        const char *want;
    } cases[] = {
        {-1, "i0"},
        {0, "i0"},
        {INT32_MAX, "i2147483647"},
        {(int64_t)INT32_MAX + 1, "i0"},
    };
    char want[96];

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        trace.rank = cases[i].rank;
        snprintf(want, sizeof(want),
                 "6 0 0: stream=1 comm_src=i-1 comm_dst=%s comm_size=12",
                 cases[i].want);
        check_node(node_of(MSIM_CHAKRA_MADE_EVENT, 2, 0), want);
    }
}

int main(void)
{
    static const char *const names[] = {"aten::mm", "## process_group:init ##",
                                        "pg"};
    struct msim_strtab *strings = NULL;
    uint32_t id;

    if (!CHECK(msim_strtab_new(&strings) == MSIM_OK))
        return check_summary();
    for (size_t i = 0; i < 3; i++)
        CHECK(msim_strtab_add(strings, names[i], strlen(names[i]), &id) ==
                  MSIM_OK &&
              id == i + 1);
    trace.strings = strings;
    RUN(test_chakra_fill__times);
    RUN(test_chakra_fill__operators);
    RUN(test_chakra_fill__activities);
    RUN(test_chakra_fill__synchronisation);
    RUN(test_chakra_fill__made);
    RUN(test_chakra_fill__ranks);
    msim_chakra_lists_release(&b.in);
    msim_chakra_lists_release(&b.out);
    msim_strtab_free(strings);
    return check_summary();
}

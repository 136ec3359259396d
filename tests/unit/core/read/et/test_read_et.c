/*
 * tests/unit/core/read/et/test_read_et.c - execution traces of every schema.
 */
#include "core/trace/trace_columns.h"
#include "tests/unit/loaded.h"

/* A flat node of schema 1.0.1. */
#define FLAT(id, parent, name, tid, scope, in, shapes, types)                  \
    "{\"name\":\"" name "\",\"id\":" id ",\"rf_id\":" id ",\"parent\":" parent \
    ",\"fw_parent\":0,\"seq_id\":-1,\"scope\":" scope ",\"tid\":" tid          \
    ",\"fw_tid\":0,\"op_schema\":\"\",\"inputs\":[" in                         \
    "],\"input_shapes\":[" shapes "],\"input_types\":[" types                  \
    "],\"outputs\":[],\"output_shapes\":[],\"output_types\":[]}"
#define NODE(id, parent, name) FLAT(id, parent, name, "1", "0", "", "", "")
#define ROOTS                                                                  \
    FLAT("2", "1", "[pytorch|profiler|execution_graph|thread]", "1", "7", "",  \
         "", "")                                                               \
    "," FLAT("1", "1", "[pytorch|profiler|execution_graph|process]", "0", "7", \
             "", "", "")
#define ET(nodes) "{\"schema\":\"1.0.1\",\"pid\":1,\"nodes\":[" nodes "]}"

static void test_read_et__orders_the_tree(void)
{
    /* Children before parents, not in order of id, roots last. */
    /* clang-format off */
    static const char text[] =
        ET(NODE("5", "4", "c") ","
        NODE("4", "3", "b") ","
        NODE("3", "2", "a") ","
        NODE("7", "2", "e") ","
        NODE("6", "3", "d") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;
    uint32_t i;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_ops == 6);
    for (i = 0; i < 6; i++)
        CHECK_UINT(t->ops[i].et_id, i + 2);
    CHECK_INT(t->ops[0].kind, MSIM_OP_ROOT);
    CHECK_UINT(t->ops[0].end, 6);
    CHECK_UINT(t->ops[1].end, 5); /* a: b, c, d */
    CHECK_UINT(t->ops[4].parent, 1);
    CHECK_UINT(t->ops[5].parent, 0);
    CHECK(t->ops[0].start == MSIM_TIME_NONE);
    CHECK(!t->has_times && t->has_et && t->cpu_only);
    CHECK_UINT(job->files[0].events, 7);
    CHECK_UINT(job->files[0].ops, 5);
    msim_job_free(job);
}

/* gloo's label ended on another thread and took the open node 7 away: what is
 * inside 7 has its parent 6, and later 3, which ended. The order of nodes says
 * 3 | 6 (7 (8 9)) 10. */
static void test_read_et__mends_parents_after_gloo(void)
{
    /* clang-format off */
    static const char text[] =
        ET(NODE("5", "3", "gloo:all_reduce") ","
        NODE("3", "2", "c10d::allreduce_") ","
        NODE("8", "6", "b") ","
        NODE("9", "3", "c") ","
        NODE("7", "6", "a") ","
        NODE("6", "2", "outer") ","
        NODE("10", "44", "after") ","
        ROOTS);
    /* The same nodes in order of their ids: nothing tells what was open. */
    static const char sorted[] =
        ET(ROOTS ","
        NODE("3", "2", "c10d::allreduce_") ","
        NODE("5", "3", "gloo:all_reduce") ","
        NODE("6", "2", "outer") ","
        NODE("7", "6", "a"));
    /* clang-format on */
    static const uint32_t parent[] = {MSIM_NONE, 0, 1, 0, 3, 4, 4, 0};
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    REQUIRE(job->ranks[0]->n_ops == 8);
    for (uint32_t i = 0; i < 8; i++)
        CHECK_UINT(job->ranks[0]->ops[i].parent, parent[i]);
    CHECK_UINT(job->ranks[0]->ops[3].end, 7);
    msim_job_free(job);
    job = load_text(sorted, false, &err);
    REQUIRE(job);
    REQUIRE(job->ranks[0]->n_ops == 5);
    CHECK_UINT(job->ranks[0]->ops[4].parent, 3);
    msim_job_free(job);
}

/* Operator 5 threw: it is not written, and stays on the observer's stack, so
 * that 7 and 8, which come after 3 ended, have 3 as their parent. The order of
 * nodes says 3 (4 6) | 7 (8). */
static void test_read_et__mends_parents_after_a_throw(void)
{
    /* clang-format off */
    static const char text[] =
        ET(NODE("4", "3", "a") ","
        NODE("6", "5", "b") ","
        NODE("3", "2", "outer") ","
        NODE("8", "7", "c") ","
        NODE("7", "3", "after") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->ops[find_op(t, "after", 0)].parent,
               t->ops[find_op(t, "outer", 0)].parent);
    CHECK_UINT(t->ops[find_op(t, "b", 0)].parent, find_op(t, "outer", 0));
    CHECK_UINT(t->ops[find_op(t, "c", 0)].parent, find_op(t, "after", 0));
    msim_job_free(job);
}

/* Nodes that a tool has put into another order do not say what was open: the
 * recorded parents stay, though 9 names one that is not there. */
static void test_read_et__keeps_parents_in_other_orders(void)
{
    /* clang-format off */
#define A NODE("3", "2", "outer")
#define B NODE("4", "3", "a")
#define C NODE("6", "3", "b")
#define D NODE("7", "2", "after")
#define E NODE("8", "7", "c")
#define ORPHAN NODE("9", "44", "alone")
    static const char *const text[] = {
        ET(A "," B "," C "," D "," E "," ORPHAN "," ROOTS), /* begun */
        ET(ORPHAN "," E "," D "," C "," B "," A "," ROOTS), /* turned around */
        ET(D "," ORPHAN "," B "," A "," E "," C "," ROOTS), /* shuffled */
    };
#undef A
#undef B
#undef C
#undef D
#undef E
#undef ORPHAN
    /* clang-format on */

    for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++) {
        struct msim_error err;
        struct msim_job *job = load_text(text[i], false, &err);
        const struct msim_trace *t;

        REQUIRE(job);
        t = job->ranks[0];
        CHECK_UINT(t->ops[find_op(t, "a", 0)].parent, find_op(t, "outer", 0));
        CHECK_UINT(t->ops[find_op(t, "b", 0)].parent, find_op(t, "outer", 0));
        CHECK_UINT(t->ops[find_op(t, "c", 0)].parent, find_op(t, "after", 0));
        CHECK_UINT(t->ops[find_op(t, "after", 0)].parent,
                   t->ops[find_op(t, "outer", 0)].parent);
        msim_job_free(job);
    }
}

static void test_read_et__flat_arguments(void)
{
    /* clang-format off */
    static const char text[] =
        ET(FLAT("3", "2", "op", "1", "0", "[3,4,0,6,4,\"cuda:0\"],[[5,6,7,2,"
        "8,\"cpu\"],[9,0,0,0,0,\"\"]],[1,2],true,0.5,\"<None>\",\"cuda:0\","
        "\"inf\"", "[2,3],[[2],[]],[[],[]],[],[],[],[],[]",
        "\"Tensor(float)\",\"GenericList[Tensor(long int),Tensor(nullptr (u"
        "ninitialized))]\",\"GenericList[Int,Int]\",\"Bool\",\"Double\",\"N"
        "one\",\"Device\",\"Double\"") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;
    const struct msim_op *op;

    REQUIRE(job);
    t = job->ranks[0];
    op = &t->ops[find_op(t, "op", 0)];
    CHECK_ARGS(t, op->args,
               "fp32[2,3]@gpu L2:2 int64[2]@cpu - L2:2 1 2 true 0.5r - "
               "'cuda:0' infr");
    REQUIRE(t->n_tensor_ids == 2);
    CHECK_UINT(t->tensor_ids[op->ids].tensor, 3);
    CHECK_UINT(t->tensor_ids[op->ids + 1].storage, 6);
    CHECK_INT(t->tensor_ids[op->ids + 1].offset, 7);
    CHECK(!t->cpu_only);
    msim_job_free(job);
}

#define ATTR(name, value) "{\"name\":\"" name "\",\"value\":" value "}"
#define NESTED(id, parent, name, in, attrs)                                    \
    "{\"id\":" id ",\"name\":\"" name "\",\"ctrl_deps\":" parent               \
    ",\"inputs\":{" in "},\"outputs\":{\"values\":[],\"shapes\":[],\"types\":" \
    "[]},\"attrs\":[" ATTR("rf_id", "7") "," ATTR("tid", "1") "," ATTR(        \
        "scope", "0") "," ATTR("seq_id", "12") attrs "]}"
#define ROOT_1_1                                                               \
    "{\"id\":2,\"name\":\"[pytorch|profiler|execution_trace|thread]\","        \
    "\"ctrl_deps\":1,\"inputs\":{},\"outputs\":{},\"attrs\":[" ATTR("tid",     \
                                                                    "1") "]}"

static void test_read_et__nested_arguments(void)
{
    /* clang-format off */
    static const char text[] =
        ET(NESTED("3", "2", "aten::view", "\"values\":[[8,9,0,64,2,\"cuda:1"
        "\"],[-1]],\"shapes\":[[64],[[]]],\"types\":[\"Tensor(c10::Half)\","
        "\"GenericList[Int]\"],\"strides\":[[1],[[]]]", "") ","
        ROOT_1_1);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    CHECK_ARGS(t, t->ops[1].args, "fp16[64]@gpu L1:1 -1");
    CHECK_UINT(t->ops[1].rf_id, 7);
    CHECK_INT(t->ops[1].seq, 12);
    msim_job_free(job);
}

/* Lists longer than 4096 are cut, in values and types not always alike. */
static void test_read_et__lists_of_unequal_length(void)
{
    /* clang-format off */
    static const char text[] =
        ET(FLAT("3", "2", "op", "1", "0", "[1,2,3],[4],5", "[[]],[[],[]],[]",
        "\"GenericList[Int]\",\"GenericList[Int,Int]\",\"Int\"") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    CHECK_ARGS(job->ranks[0],
               job->ranks[0]->ops[find_op(job->ranks[0], "op", 0)].args,
               "L3:3 1 2 3 L1:1 4 5");
    msim_job_free(job);
}

static void test_read_et__collectives_of_1_0_1(void)
{
    /* clang-format off */
    static const char text[] =
        ET(FLAT("3", "2", "record_param_comms", "1", "0",
        "[[131,132,0,24,2,\"cuda:0\"]],337,93825114103440,0,\"allreduce\",["
        "],[],8", "[[4,6]],[],[],[],[],[],[],[]", "\"GenericList[Tensor(c10:"
        ":Half)]\",\"Int\",\"Int\",\"Int\",\"String\",\"GenericList[]\",\"G"
        "enericList[]\",\"Int\"") ","
        FLAT("4", "2", "record_param_comms", "1", "0",
        "[5,6,0,6,4,\"cuda:0\"],338,93825114103440,0,\"all_to_allv\",[1,2],"
        "[3,4]", "[6],[],[],[],[],[[],[]],[[],[]]", "\"Tensor(float)\",\"Int"
        "\",\"Int\",\"Int\",\"String\",\"GenericList[Int,Int]\",\"GenericLi"
        "st[Int,Int]\"") ","
        FLAT("5", "2", "record_param_comms", "1", "0",
        "338,0,0,\"wait\",[],[]", "[],[],[],[],[],[]",
        "\"Int\",\"Int\",\"Int\",\"String\",\"GenericList[]\",\"GenericList"
        "[]\"") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 3 && t->n_groups == 1);
    CHECK_INT(t->comms[0].collective, MSIM_COLL_ALL_REDUCE);
    CHECK_UINT(t->comms[0].in_elems, 24);
    CHECK_INT(t->comms[0].dtype, MSIM_DT_F16);
    CHECK_INT(t->comms[0].sequence, 337);
    CHECK_INT(t->comms[0].peer, -1);
    CHECK_INT(t->comms[1].collective, MSIM_COLL_ALL_TO_ALL);
    CHECK_UINT(t->comms[1].in_elems, 6);
    CHECK_INT(t->comms[2].collective, MSIM_COLL_WAIT);
    CHECK_UINT(t->comms[2].group, MSIM_NONE);
    CHECK_UINT(t->groups[0].size, 8);
    /* An address means nothing on another rank. */
    CHECK_STR(msim_trace_text(t, t->groups[0].name), "pg 0");
    msim_job_free(job);
}

/* clang-format off */
/* One call in a group of two, in which the slot before its name is 1. */
#define CALL_1_1(ranks, name) \
    ET("{\"id\":3,\"name\":\"## process_group:init ##\",\"ctrl_deps\":2," \
    "\"inputs\":{\"values\":[\"[{\\\"pg_name\\\": \\\"0\\\", \\\"ranks" \
    "\\\": [" ranks "], \\\"group_size\\\": 2}]\"],\"shapes\":[[]]," \
    "\"types\":[\"" \
    "String\"]},\"outputs\":{},\"attrs\":[" ATTR("tid", "1") "]}," NESTED( \
    "4", "2", "record_param_comms", "\"values\":[[[434,435,0,5,4,\"cuda:" \
    "1\"]],[33,false],[\"0\",\"default_pg\"],1,\"" name "\",[],[],0,1," \
    "2],\"shapes\":[[[5]],[[],[]],[[],[]],[],[],[],[],[],[],[]],\"types" \
    "\":[\"GenericList[Tensor(float)]\",\"Tuple[Int,Bool]\",\"Tuple[Str" \
    "ing,String]\",\"Int\",\"String\",\"GenericList[]\",\"GenericList[]" \
    "\",\"Int\",\"Int\",\"Int\"]", "," \
    ATTR("in_msg_nelems", "5") "," \
    ATTR("out_msg_nelems", "50") "," \
    ATTR("pg_name", "\"0\"") "," \
    ATTR("pg_size", "2")) "," \
    ROOT_1_1)
/* clang-format on */

static void test_read_et__collectives_of_1_1_0(void)
{
    static const char text[] = CALL_1_1("", "allreduce");
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 1 && t->n_groups == 1);
    CHECK_INT(t->comms[0].sequence, 33);
    CHECK_UINT(t->comms[0].out_elems, 50);
    CHECK_UINT(t->groups[0].count, 2);
    CHECK_INT(t->rank, 1); /* start 0, stride 1, place 1 */
    CHECK_UINT(t->world_size, 2);
    msim_job_free(job);
}

/* The place of the receiver, which is rank 6. */
static void test_read_et__peers_are_places(void)
{
    static const char text[] = CALL_1_1("4, 6", "send");
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_comms == 1 && t->n_groups == 1);
    CHECK_INT(t->comms[0].peer, 1);
    CHECK_INT(msim_comm_peer(t, &t->comms[0]), 6);
    msim_job_free(job);
}

static void test_read_et__steps_have_no_times(void)
{
    /* clang-format off */
    static const char text[] =
        ET(FLAT("3", "2", "ProfilerStep#5", "1", "7", "", "", "") ","
        ROOTS);
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    REQUIRE(job->ranks[0]->n_steps == 1);
    CHECK_INT(job->ranks[0]->steps[0].number, 5);
    CHECK(job->ranks[0]->steps[0].start == MSIM_TIME_NONE);
    msim_job_free(job);
}

static void test_read_et__cycles_name_their_nodes(void)
{
    struct msim_error err;

    CHECK(!load_text(ET(NODE("3", "4", "a") "," NODE("4", "5", "b") "," NODE(
                         "5", "3", "c") "," NODE("6", "5", "d") "," ROOTS),
                     false, &err));
    CHECK_INT(err.status, MSIM_ECYCLE);
    CHECK(strstr(err.text, "3 'a'") && strstr(err.text, "4 'b'") &&
          strstr(err.text, "5 'c'"));
    CHECK(!load_text(ET(NODE("3", "3", "self") "," ROOTS), false, &err));
    CHECK_INT(err.status, MSIM_ECYCLE);
    CHECK(strstr(err.text, "3 'self' -> 3"));
}

static void test_read_et__refuses(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {ET(NODE("3", "2", "a") "," NODE("3", "2", "b") "," ROOTS),
         "two nodes have the id 3: 'b'"},
        {ET("{\"id\":3,\"name\":\"a\"}"), "neither 'parent' nor"},
        {ET("{\"name\":\"a\",\"parent\":2}"), "has no 'id'"},
        {ET("{\"id\":3,\"parent\":2}"), "has no 'name'"},
        {ET("{\"id\":99999999999,\"parent\":2,\"name\":\"a\"}"),
         "want less than 2^32"},
    };
    struct msim_error err;
    size_t i;

    for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        CHECK(load_text(bad[i].text, false, &err) == NULL);
        if (!strstr(err.text, bad[i].says))
            CHECK_STR(err.text, bad[i].says);
    }
}

/* Cut: the parents are not there yet, and the rest stands by itself. */
static void test_read_et__salvages(void)
{
    /* clang-format off */
    static const char text[] =
        "{\"schema\":\"1.0.1\",\"nodes\":[" NODE("5", "4", "c") ","
        NODE("4", "3", "b") ",{\"name\":\"a\"";
    /* clang-format on */
    struct msim_error err;
    struct msim_job *job = load_text(text, true, &err);

    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_ops, 2);
    CHECK_UINT(job->ranks[0]->ops[1].parent, 0);
    CHECK_UINT(job->n_warnings, 2);
    msim_job_free(job);
}

/* A node with attributes, which look like nodes up to their end. */
#define WITH_ATTRS(id, parent, name, value)                                    \
    "{\"id\":" id ",\"name\":\"" name "\",\"ctrl_deps\":" parent               \
    ",\"inputs\":{\"values\":[],\"shapes\":[],\"types\":[]},\"attrs\":["       \
    "{\"name\":\"rf_id\",\"type\":\"uint64\",\"value\":" value "},"            \
    "{\"name\":\"tid\",\"type\":\"uint64\",\"value\":1},"                      \
    "{\"name\":\"scope\",\"type\":\"uint64\",\"value\":0}]}"

/* One broken node of four, wherever it is broken, or without an id. */
static void test_read_et__salvages_what_follows(void)
{
    static const char *const broken[] = {
        WITH_ATTRS("6", "2", "b\"c", "6"), WITH_ATTRS("6", "2", "b", "?"),
        WITH_ATTRS("6", "2", "b", "6\"}"), "{\"id\":6,\"name\":\"b\",x}",
        "{\"name\":\"b\",\"ctrl_deps\":2}"};

    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        char text[4096];
        struct msim_error err;
        struct msim_job *job;

        snprintf(text, sizeof(text),
                 "{\"schema\":\"1.1.1-chakra.0.0.4\",\"nodes\":[" WITH_ATTRS(
                     "5", "4", "a",
                     "5") ",%s," WITH_ATTRS("4", "2", "c",
                                            "4") ", "
                                                 "" WITH_ATTRS("7", "2", "d",
                                                               "7") "]}",
                 broken[i]);
        CHECK(load_text(text, false, &err) == NULL);
        CHECK(strstr(err.text, "--salvage keeps the 1 complete nodes before it "
                               "and those behind it") != NULL);
        job = load_text(text, true, &err);
        REQUIRE(job);
        CHECK_UINT(job->files[0].events, 3);
        CHECK_UINT(job->files[0].import.read, 3);
        CHECK_UINT(job->ranks[0]->n_ops, 3);
        CHECK(strstr(job->warnings[0], "3 complete nodes beside 1 broken"));
        CHECK(job->ranks[0]->n_ops < 2 || job->ranks[0]->ops[1].parent == 0);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_read_et__orders_the_tree);
    RUN(test_read_et__mends_parents_after_gloo);
    RUN(test_read_et__mends_parents_after_a_throw);
    RUN(test_read_et__keeps_parents_in_other_orders);
    RUN(test_read_et__flat_arguments);
    RUN(test_read_et__nested_arguments);
    RUN(test_read_et__lists_of_unequal_length);
    RUN(test_read_et__collectives_of_1_0_1);
    RUN(test_read_et__collectives_of_1_1_0);
    RUN(test_read_et__peers_are_places);
    RUN(test_read_et__steps_have_no_times);
    RUN(test_read_et__cycles_name_their_nodes);
    RUN(test_read_et__refuses);
    RUN(test_read_et__salvages);
    RUN(test_read_et__salvages_what_follows);
    return check_summary();
}

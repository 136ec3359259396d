/*
 * predict/scenario/change_graph.c: edits of the graph, from the member of a
 * scenario to what is asked of predict/edit.
 */
#include "tests/unit/appended.h"
#include "tests/unit/predict/scenario/made_change.h"

#define ACCEPTED ", want " MSIM_SCALE_ACCEPTED

/* The only edit of a change that is accepted; NULL where it is not. */
static const struct msim_edit *edit_of(struct made_change *m,
                                       const char *change)
{
    *m = made_change(change);
    if (!CHECK_INT(m->status, MSIM_OK) || !CHECK_UINT(m->row->n_edits, 1)) {
        fprintf(stderr, "%s: %s\n", change, m->err.text);
        return NULL;
    }
    return m->row->edits;
}

static void test_insert__is_read(void)
{
    struct made_change m;
    const struct msim_edit *e =
        edit_of(&m, "{\"insert\":{\"after\":\"op:aten::mm\",\"microseconds\":0,"
                    "\"host_microseconds\":2.5,\"on\":\"stream:12\"}}");

    REQUIRE(e != NULL);
    CHECK_INT(e->kind, MSIM_EDIT_INSERT);
    CHECK(e->selects && !e->before);
    CHECK_STR(e->chosen, "op:aten::mm");
    CHECK_INT(e->select.select, MSIM_SELECT_OP);
    CHECK(e->us == 0);
    CHECK_REL(e->host_us, 2.5, 0);
    CHECK_INT(e->on, MSIM_ON_STREAM);
    CHECK_INT(e->stream, 12);
    CHECK(e->op.name == NULL);
    CHECK_STR(e->text, "{\"after\":\"op:aten::mm\",\"microseconds\":0,"
                       "\"host_microseconds\":2.5,\"on\":\"stream:12\"}");
    CHECK(!m.row->other_target);
    made_change_free(&m);
    e = edit_of(&m, "{\"insert\":{\"before\":\"kernels\",\"microseconds\":3,"
                    "\"on\":\"same stream\"}}");
    REQUIRE(e != NULL);
    CHECK(e->before && e->selects);
    CHECK_INT(e->select.select, MSIM_SELECT_KERNELS);
    CHECK_INT(e->on, MSIM_ON_SAME);
    CHECK(e->host_us == 0);
    made_change_free(&m);
    e = edit_of(&m, "{\"insert\":{\"after\":\"kernels\",\"microseconds\":3,"
                    "\"on\":\"new stream\"}}");
    REQUIRE(e != NULL);
    CHECK_INT(e->on, MSIM_ON_NEW);
    made_change_free(&m);
}

static void test_insert__refuses(void)
{
    static const char ON[] =
        ", want \"same stream\", \"new stream\" or \"stream:NUMBER\"";
    static const char *const WRONG[] = {"old stream", "stream:", "stream:x",
                                        "stream:1x"};
    char text[256], want[256];

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(*WRONG); i++) {
        snprintf(text, sizeof(text),
                 "{\"insert\":{\"after\":\"kernels\",\"microseconds\":3,"
                 "\"on\":\"%s\"}}",
                 WRONG[i]);
        snprintf(want, sizeof(want), "insert.on is \"%s\"%s", WRONG[i], ON);
        check_change_refused(text, want);
    }
    check_change_refused("{\"insert\":4}",
                         "insert is 4, want {\"after\": \"op:aten::mm\", "
                         "\"microseconds\": 10}");
    check_change_refused("{\"insert\":{\"after\":\"kernels\",\"before\":"
                         "\"kernels\",\"microseconds\":1}}",
                         "insert.before is \"kernels\", want either that or "
                         "\"after\"");
    check_change_refused("{\"insert\":{\"before\":\"kernels\",\"microseconds\":"
                         "1,\"on\":\"new stream\"}}",
                         "insert.on is \"new stream\", want \"after\" on "
                         "another stream");
    check_change_refused("{\"insert\":{\"microseconds\":1}}",
                         "insert.after is missing" ACCEPTED);
    check_change_refused("{\"insert\":{\"before\":\"gpus\",\"microseconds\":"
                         "1}}",
                         "insert.before is \"gpus\"" ACCEPTED);
    check_change_refused("{\"insert\":{\"after\":\"kernels\",\"microseconds\":"
                         "1,\"host_microseconds\":-1}}",
                         "insert.host_microseconds is -1, want a number from "
                         "0");
}

static void test_work__time_or_operator(void)
{
    check_change_refused("{\"replace\":{\"select\":\"kernels\"}}",
                         "replace.microseconds is missing, want a number from "
                         "0, or \"operator\" with \"sizes\"");
    check_change_refused("{\"replace\":{\"select\":\"kernels\","
                         "\"microseconds\":-2}}",
                         "replace.microseconds is -2, want a number from 0");
    check_change_refused("{\"replace\":{\"select\":\"kernels\","
                         "\"microseconds\":1e999}}",
                         "replace.microseconds is a number beyond 1.8e308, "
                         "want a number from 0");
    check_change_refused("{\"replace\":{\"select\":\"kernels\","
                         "\"microseconds\":0,\"operator\":\"aten::mm\","
                         "\"sizes\":[[1]]}}",
                         "replace.microseconds is 0, want either that or "
                         "\"operator\" with \"sizes\"");
    check_change_refused("{\"replace\":{\"microseconds\":1}}",
                         "replace.select is missing" ACCEPTED);
    check_change_refused("{\"replace\":\"kernels\"}",
                         "replace is \"kernels\", want {\"select\": "
                         "\"op:aten::mm\", \"microseconds\": 10}");
}

static void test_operator__is_read(void)
{
    struct made_change m;
    const struct msim_edit *e =
        edit_of(&m, "{\"replace\":{\"select\":\"op:aten::mm\",\"operator\":"
                    "\"aten::addmm\",\"dtype\":\"bf16\",\"sizes\":"
                    "[[0,1000000000000],[],[1,2,3,4,5,6,7,8]]}}");

    REQUIRE(e != NULL);
    CHECK_INT(e->kind, MSIM_EDIT_REPLACE);
    CHECK_STR(e->op.name, "aten::addmm");
    CHECK_UINT(e->op.n, 3);
    CHECK_UINT(e->op.tensors[0].n, 2);
    CHECK_INT(e->op.tensors[0].sizes[0], 0);
    CHECK_INT(e->op.tensors[0].sizes[1], 1000000000000);
    CHECK_UINT(e->op.tensors[1].n, 0);
    CHECK_UINT(e->op.tensors[2].n, 8);
    for (int i = 0; i < 8; i++)
        CHECK_INT(e->op.tensors[2].sizes[i], i + 1);
    for (int i = 0; i < 3; i++)
        CHECK_INT(e->op.tensors[i].dtype, MSIM_DT_BF16);
    made_change_free(&m);
    e = edit_of(&m, "{\"replace\":{\"select\":\"kernels\",\"operator\":\"a\","
                    "\"sizes\":[[1],[1],[1],[1],[1],[1],[1],[1]]}}");
    REQUIRE(e != NULL);
    CHECK_UINT(e->op.n, 8);
    CHECK_INT(e->op.tensors[7].dtype, MSIM_DT_F32);
    made_change_free(&m);
}

static void test_operator__refuses(void)
{
    static const char *const SIZES[] = {
        "4",
        "[]",
        "[4]",
        "[[-1]]",
        "[[1.5]]",
        "[[\"1\"]]",
        "[[1000000000001]]",
        "[[1,2,3,4,5,6,7,8,9]]",
        "[[1],[1],[1],[1],[1],[1],[1],[1],[1]]"};
    char text[256], want[256];

    for (size_t i = 0; i < sizeof(SIZES) / sizeof(*SIZES); i++) {
        snprintf(text, sizeof(text),
                 "{\"replace\":{\"select\":\"kernels\",\"operator\":\"a\","
                 "\"sizes\":%s}}",
                 SIZES[i]);
        snprintf(want, sizeof(want),
                 "replace.sizes is %s, want sizes of up to 8 tensors, such as "
                 "[[1024, 512], [512, 256]]",
                 SIZES[i]);
        check_change_refused(text, want);
    }
    check_change_refused("{\"replace\":{\"select\":\"kernels\",\"operator\":"
                         "\"\",\"sizes\":[[1]]}}",
                         "replace.operator is \"\", want a name, such as "
                         "\"aten::mm\"");
    check_change_refused("{\"replace\":{\"select\":\"kernels\",\"operator\":"
                         "\"a\",\"dtype\":\"bf17\",\"sizes\":[[1]]}}",
                         "replace.dtype is \"bf17\", want a type, such as "
                         "\"fp32\" or \"bf16\"");
}

static void test_fuse__words(void)
{
    static const struct {
        const char *word;
        enum msim_fuse is;
    } ROWS[] = {{"pointwise", MSIM_FUSE_POINTWISE},
                {"attention", MSIM_FUSE_ATTENTION},
                {"optimizer", MSIM_FUSE_OPTIMIZER}};
    static const char WANT[] = ", want \"pointwise\", \"attention\", "
                               "\"optimizer\" or {\"select\": \"op:GLOB\"}";
    struct made_change m;
    const struct msim_edit *e;
    char text[128];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        snprintf(text, sizeof(text), "{\"fuse\":\"%s\"}", ROWS[i].word);
        e = edit_of(&m, text);
        REQUIRE(e != NULL);
        CHECK_INT(e->kind, MSIM_EDIT_FUSE);
        CHECK_INT(e->fuse, ROWS[i].is);
        CHECK(!e->selects);
        made_change_free(&m);
    }
    e = edit_of(&m, "{\"fuse\":{\"select\":\"op:aten::add*\"}}");
    REQUIRE(e != NULL);
    CHECK_INT(e->fuse, MSIM_FUSE_SELECT);
    CHECK(e->selects);
    CHECK_STR(e->chosen, "op:aten::add*");
    made_change_free(&m);
    snprintf(text, sizeof(text), "fuse is \"all\"%s", WANT);
    check_change_refused("{\"fuse\":\"all\"}", text);
    snprintf(text, sizeof(text), "fuse is true%s", WANT);
    check_change_refused("{\"fuse\":true}", text);
    check_change_refused("{\"fuse\":{}}", "fuse.select is missing" ACCEPTED);
}

static void test_overlap__words(void)
{
    struct made_change m;
    const struct msim_edit *e = edit_of(&m, "{\"overlap\":true}");

    REQUIRE(e != NULL);
    CHECK_INT(e->kind, MSIM_EDIT_OVERLAP);
    CHECK(!e->selects);
    made_change_free(&m);
    e = edit_of(&m, "{\"overlap\":\"communication\"}");
    REQUIRE(e != NULL);
    CHECK(e->selects);
    CHECK_INT(e->select.select, MSIM_SELECT_COMMUNICATION);
    made_change_free(&m);
    check_change_refused("{\"overlap\":3}",
                         "overlap is 3, want true, or a selection of "
                         "communication");
    check_change_refused("{\"overlap\":\"talk\"}",
                         "overlap is \"talk\"" ACCEPTED);
}

static void test_quantise__types(void)
{
    static const struct {
        const char *value;
        enum msim_dtype forward, backward;
        bool selects;
    } ROWS[] = {
        {"\"fp16\"", MSIM_DT_F16, MSIM_DT_F16, false},
        {"\"bf16\"", MSIM_DT_BF16, MSIM_DT_BF16, false},
        {"\"int8\"", MSIM_DT_I8, MSIM_DT_I8, false},
        {"{\"forward\":\"fp16\"}", MSIM_DT_F16, MSIM_DT_UNKNOWN, false},
        {"{\"backward\":\"int8\"}", MSIM_DT_UNKNOWN, MSIM_DT_I8, false},
        {"{\"forward\":\"fp16\",\"backward\":\"bf16\",\"select\":"
         "\"link:network\"}",
         MSIM_DT_F16, MSIM_DT_BF16, true},
    };
    static const char WANT[] = ", want \"fp16\", \"bf16\", \"int8\" or "
                               "{\"forward\": \"fp16\", \"backward\": "
                               "\"bf16\"}";
    char text[256];

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made_change m;
        const struct msim_edit *e;

        snprintf(text, sizeof(text), "{\"quantise_comms\":%s}", ROWS[i].value);
        e = edit_of(&m, text);
        REQUIRE(e != NULL);
        CHECK_INT(e->kind, MSIM_EDIT_QUANTISE);
        CHECK_INT(e->forward, ROWS[i].forward);
        CHECK_INT(e->backward, ROWS[i].backward);
        CHECK_INT(e->selects, ROWS[i].selects);
        made_change_free(&m);
    }
    check_change_refused("{\"quantise_comms\":\"fp32\"}",
                         "quantise_comms is \"fp32\", want \"fp16\", \"bf16\" "
                         "or \"int8\"");
    check_change_refused("{\"quantise_comms\":{\"backward\":\"fp32\"}}",
                         "quantise_comms.backward is \"fp32\", want \"fp16\", "
                         "\"bf16\" or \"int8\"");
    snprintf(text, sizeof(text), "quantise_comms is {}%s", WANT);
    check_change_refused("{\"quantise_comms\":{}}", text);
    snprintf(text, sizeof(text), "quantise_comms is 8%s", WANT);
    check_change_refused("{\"quantise_comms\":8}", text);
}

/* 32 edits of a scenario. */
static void test_edits__most(void)
{
    char text[2048] = "";
    struct made_change m;

    for (int i = 0; i < 32; i++)
        APPEND(text, "%s{\"overlap\":true}", i ? "," : "");
    m = made_change(text);
    CHECK_INT(m.status, MSIM_OK);
    CHECK_UINT(m.row->n_edits, 32);
    made_change_free(&m);
    APPEND(text, "%s", ",{\"fuse\":\"pointwise\"}");
    check_change_refused_at(32, text,
                            "fuse is \"pointwise\", want at most 32 such "
                            "changes a scenario");
}

int main(void)
{
    RUN(test_edits__most);
    RUN(test_fuse__words);
    RUN(test_insert__is_read);
    RUN(test_insert__refuses);
    RUN(test_operator__is_read);
    RUN(test_operator__refuses);
    RUN(test_overlap__words);
    RUN(test_quantise__types);
    RUN(test_work__time_or_operator);
    return check_summary();
}

/*
 * tests/unit/core/read/et/test_et_details.c - schemas, strides and ranges of an
 * execution trace, which are kept on request.
 */
#include "tests/unit/loaded.h"

#define ATTR(name, value) "{\"name\":\"" name "\",\"value\":" value "}"
#define NODE(id, name, in, out, attrs)                                         \
    "{\"id\":" id ",\"name\":\"" name "\",\"ctrl_deps\":2,\"inputs\":{" in     \
    "},\"outputs\":{" out "},\"attrs\":[" ATTR("rf_id", id) "," ATTR(          \
        "tid", "1") "," ATTR("scope", "0") attrs "]}"
#define ROOT                                                                   \
    "{\"id\":2,\"name\":\"[pytorch|profiler|execution_trace|thread]\","        \
    "\"ctrl_deps\":1,\"inputs\":{},\"outputs\":{},\"attrs\":[" ATTR("tid",     \
                                                                    "1") "]}"
#define ET(nodes)    "{\"schema\":\"1.1.1\",\"pid\":1,\"nodes\":[" nodes "]}"
#define RANGES(text) "," ATTR("tensor_range", "\"" text "\"")

/* Three input tensors, the second undefined: [T, [undefined, T], 7]. */
#define INDEX_IN                                                               \
    "\"values\":[[5,6,0,40,4,\"cpu\"],[[35,0,0,0,0,\"\"],[28,33,0,3,8,"        \
    "\"cpu\"]],7],\"shapes\":[[10,4],[[],[3]],[]],\"types\":[\"Tensor(float)"  \
    "\",\"GenericList[Tensor(nullptr (uninitialized)),Tensor(long int)]\",\""  \
    "Int\"],\"strides\":[[4,1],[[],[1]],[]]"

static struct msim_job *load_details(const char *text)
{
    struct msim_error err;

    return load_text_as(text, (struct msim_load_options){.details = true},
                        &err);
}

/* The strides of a row of tensor_ids in words: "4,1"; "-": not in the file. */
static const char *strides(const struct msim_trace *t, uint32_t id,
                           uint32_t rank, char text[64])
{
    size_t len = 0;

    if (t->tensor_strides[id] == MSIM_NONE)
        return "-";
    text[0] = '\0';
    for (uint32_t i = 0; i < rank; i++)
        len +=
            (size_t)snprintf(text + len, 64 - len, "%s%" PRId64, i ? "," : "",
                             t->dims[t->tensor_strides[id] + i]);
    return text;
}

static void test_et_details__only_on_request(void)
{
    static const char text[] =
        ET(NODE("3", "aten::index", INDEX_IN, "",
                "," ATTR("op_schema", "\"aten::index(...)\"")
                    RANGES("{\\\"2\\\":[1,3]}")) "," ROOT);
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_tensor_ids, 2);
    CHECK_UINT(job->ranks[0]->n_tensor_strides, 0);
    CHECK_UINT(job->ranks[0]->n_ranges, 0);
    CHECK_UINT(job->ranks[0]->ops[1].schema, 0);
    msim_job_free(job);
}

static void test_et_details__schemas(void)
{
    static const char nested[] = ET(NODE(
        "3", "aten::t", "", "",
        "," ATTR(
            "op_schema",
            "\"aten::t(Tensor(a) self)\"")) "," NODE("4", "other", "", "",
                                                     "," ATTR(
                                                         "op_schema",
                                                         "\"\"")) "," ROOT);
    static const char flat[] =
        "{\"schema\":\"1.0.1\",\"nodes\":[{\"name\":\"aten::t\",\"id\":3,"
        "\"parent\":2,\"tid\":1,\"op_schema\":\"aten::t(Tensor(a) self)\"}]}";
    struct msim_job *job = load_details(nested);

    REQUIRE(job);
    CHECK_STR(msim_trace_text(job->ranks[0], job->ranks[0]->ops[1].schema),
              "aten::t(Tensor(a) self)");
    CHECK_UINT(job->ranks[0]->ops[2].schema, 0);
    msim_job_free(job);
    job = load_details(flat);
    REQUIRE(job);
    CHECK_STR(msim_trace_text(job->ranks[0], job->ranks[0]->ops[0].schema),
              "aten::t(Tensor(a) self)");
    msim_job_free(job);
}

static void test_et_details__strides_beside_sizes(void)
{
    /* An expanded tensor of two sizes, and a number; an output of none. */
    static const char text[] =
        ET(NODE("3", "aten::index", INDEX_IN,
                "\"values\":[[7,6,0,1,4,\"cpu\"]],\"shapes\":[[]],\"types\":["
                "\"Tensor(float)\"],\"strides\":[[]]",
                "") "," NODE("4", "op",
                             "\"values\":[[1,2],[8,6,0,6,4,\"cpu\"]],"
                             "\"shapes\":[[[],[]],[2,3]],\"types\":["
                             "\"GenericList[Int,Int]\",\"Tensor(float)\"],"
                             "\"strides\":[[[],[]],[0,1]]",
                             "", "") "," ROOT);
    struct msim_job *job = load_details(text);
    const struct msim_trace *t;
    char to[64];

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_tensor_strides == t->n_tensor_ids && t->n_tensor_ids == 4);
    CHECK_ARGS(t, t->ops[1].args, "fp32[10,4]@cpu L2:2 - int64[3]@cpu 7");
    CHECK_STR(strides(t, t->ops[1].ids, 2, to), "4,1");
    CHECK_STR(strides(t, t->ops[1].ids + 1, 1, to), "1");
    CHECK_STR(strides(t, t->ops[1].out_ids, 0, to), "");
    CHECK_STR(strides(t, t->ops[2].ids, 2, to), "0,1");
    msim_job_free(job);
}

/* 4 x 3 in order, in columns, as half of each row of 6, and one row four times;
 * a size of 1 has any stride. Without details, too. */
static void test_et_details__layouts(void)
{
#define OF(id, shape, strides)                                                 \
    NODE(id, "op",                                                             \
         "\"values\":[[8,6,0,12,4,\"cuda:0\"]],\"shapes\":[" shape             \
         "],\"types\":[\"Tensor(float)\"],\"strides\":[" strides "]",          \
         "", "")                                                               \
    ","
    static const char text[] =
        ET(OF("3", "[4,3]", "[3,1]") OF("4", "[4,3]", "[1,4]")
               OF("5", "[4,3]", "[6,1]") OF("6", "[4,3]", "[0,1]")
                   OF("7", "[4,1,3]", "[3,9,1]") OF("8", "[4,3]", "[]") ROOT);
#undef OF
    static const uint8_t want[] = {MSIM_LAYOUT_PLAIN, MSIM_LAYOUT_TURNED,
                                   MSIM_LAYOUT_GAPS,  MSIM_LAYOUT_GAPS,
                                   MSIM_LAYOUT_PLAIN, MSIM_LAYOUT_PLAIN};
    struct msim_error err;
    struct msim_job *job = load_text(text, false, &err);

    REQUIRE(job);
    REQUIRE(job->ranks[0]->n_ops == 7);
    for (uint32_t i = 0; i < 6; i++) {
        const struct msim_trace *t = job->ranks[0];

        CHECK_UINT(msim_args_get(t, t->ops[i + 1].args, 0)->layout, want[i]);
    }
    msim_job_free(job);
}

/* Triton kernels have one list less than values; older files have none. */
static void test_et_details__strides_not_in_the_file(void)
{
    static const char text[] =
        ET(NODE("3", "triton_poi",
                "\"values\":[[3,4,0,16,4,\"cuda:0\"],[5,6,0,16,4,\"cuda:0\"],[7"
                ",8,0,1,4,\"cuda:0\"]],\"shapes\":[[4,4],[4,4],[]],\"types\":["
                "\"Tensor(float)\",\"Tensor(float)\",\"Tensor(float)\"],"
                "\"strides\":[[4,1],[16]]",
                "\"values\":[[3,4,0,16,4,\"cuda:0\"]],\"shapes\":[[4,4]],"
                "\"types\":[\"Tensor(float)\"]",
                "") "," ROOT);
    struct msim_job *job = load_details(text);
    const struct msim_trace *t;
    char to[64];

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_tensor_strides == 4);
    CHECK_STR(strides(t, t->ops[1].ids, 2, to), "4,1");
    CHECK_STR(strides(t, t->ops[1].ids + 1, 2, to), "-"); /* too few */
    CHECK_STR(strides(t, t->ops[1].ids + 2, 0, to), "-");
    CHECK_STR(strides(t, t->ops[1].out_ids, 2, to), "-");
    msim_job_free(job);
}

static void test_et_details__ranges(void)
{
    /* Keys count undefined tensors, too, and come in any order. */
    static const char text[] = ET(NODE(
        "3", "a", INDEX_IN, "",
        RANGES("{\\\"2\\\":[-1,3], \\\"0\\\" : [ 5 "
               ", 5 ]}")) "," NODE("4", "b", INDEX_IN, "", RANGES("")) ","
                                                                       "" ROOT);
    struct msim_job *job = load_details(text);
    const struct msim_trace *t;

    REQUIRE(job);
    t = job->ranks[0];
    REQUIRE(t->n_ranges == 2);
    CHECK_UINT(t->ranges[0].id, t->ops[1].ids);
    CHECK_INT(t->ranges[0].low, 5);
    CHECK_UINT(t->ranges[1].id, t->ops[1].ids + 1);
    CHECK_INT(t->ranges[1].low, -1);
    CHECK_INT(t->ranges[1].high, 3);
    msim_job_free(job);
}

/* What is no range is left out; what comes behind it stays, if it is read. */
static void test_et_details__ranges_that_are_none(void)
{
    static const struct {
        const char *text;
        uint32_t kept;
    } cases[] = {
#define CASE(ranges, kept)                                                     \
    {ET(NODE("3", "a", INDEX_IN, "", RANGES(ranges)) "," ROOT), kept}
        CASE("{}", 0),
        CASE("nonsense", 0),
        CASE("{\\\"0\\\":[0.5,1],\\\"2\\\":[1,3]}", 1), /* not whole */
        CASE("{\\\"0\\\":[4,1],\\\"2\\\":[1,3]}", 1),   /* wrong way round */
        CASE("{\\\"1\\\":[1,3]}", 0),                   /* undefined */
        CASE("{\\\"3\\\":[1,3],\\\"2\\\":[1,3]}", 1),   /* not there */
        CASE("{\\\"-1\\\":[1,3]}", 0),
        CASE("{\\\"x\\\":[1,3],\\\"2\\\":[1,3]}", 1),
        CASE("{\\\"2\\\":[1,99999999999999999999]}", 0),
        CASE("{\\\"2\\\":[1", 0),
        CASE("{\\\"2\\\":[1,3", 0), /* cut, maybe within a number */
        CASE("{\\\"2\\\":{\\\"0\\\":[1,3]}}", 0),
        CASE("{\\\"2\\\":[1,3],\\\"2\\\":[2,4]}", 1),
#undef CASE
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct msim_job *job = load_details(cases[i].text);

        REQUIRE(job);
        CHECK_UINT(job->ranks[0]->n_ranges, cases[i].kept);
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_et_details__only_on_request);
    RUN(test_et_details__schemas);
    RUN(test_et_details__strides_beside_sizes);
    RUN(test_et_details__strides_not_in_the_file);
    RUN(test_et_details__layouts);
    RUN(test_et_details__ranges);
    RUN(test_et_details__ranges_that_are_none);
    return check_summary();
}

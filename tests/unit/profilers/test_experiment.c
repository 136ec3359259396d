/*
 * What an experiment's line asks for: every table, what is refused, sizes.
 */
#include "profilers/experiment.h"

#include "tests/check.h"

struct read {
    cJSON *line;
    struct msim_experiment e;
    struct msim_error err;
    enum msim_status status;
};

static struct read read_line(const char *text)
{
    struct read r = {.line = cJSON_Parse(text)};

    r.status = msim_experiment_read(&r.e, r.line, &r.err);
    return r;
}

static void done(struct read *r)
{
    cJSON_Delete(r->line);
}

/* Every table has a line that is one of its experiments, and the bytes that
 * its operands take, counted by hand. */
static const struct {
    const char *line;
    enum msim_table table;
    double bytes;
} GOOD[] = {
    /* 2 x (3 x 5 + 5 x 7 + 3 x 7) numbers of 2 bytes */
    {"{\"table\":\"gemm\",\"m\":3,\"n\":7,\"k\":5,\"batch\":2,"
     "\"dtype\":\"bfloat16\"}",
     MSIM_TABLE_GEMM, 284},
    /* the product of whole numbers has 4 bytes, of fp8 2 */
    {"{\"table\":\"gemm\",\"m\":4,\"n\":4,\"k\":8,\"dtype\":\"int8\"}",
     MSIM_TABLE_GEMM, 128},
    {"{\"table\":\"gemm\",\"m\":16,\"n\":16,\"k\":16,\"dtype\":\"fp8\"}",
     MSIM_TABLE_GEMM, 1024},
    /* queries and results of 8 heads, keys and values of 2 */
    {"{\"table\":\"attention\",\"phase\":\"prefill\",\"batch\":1,\"heads\":8,"
     "\"kv_heads\":2,\"q_len\":16,\"kv_len\":32,\"head_dim\":64,"
     "\"dtype\":\"fp16\"}",
     MSIM_TABLE_ATTENTION, 2 * (8 * 16 + 2 * 32) * 64 * 2},
    {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\","
     "\"shape\":\"10x20\"}",
     MSIM_TABLE_VECTOR, 3 * 200 * 4},
    {"{\"table\":\"vector\",\"op\":\"sum\",\"dtype\":\"fp32\","
     "\"shape\":\"10x20\"}",
     MSIM_TABLE_VECTOR, 210 * 4},
    /* 10 rows out, a table of 100, 10 numbers of 8 bytes */
    {"{\"table\":\"vector\",\"op\":\"index_select\",\"dtype\":\"fp16\","
     "\"shape\":\"10x20\",\"table_rows\":100}",
     MSIM_TABLE_VECTOR, (200 + 2000) * 2 + 80},
    /* a gradient of 10 rows, one of 100 that is cleared, 10 numbers */
    {"{\"table\":\"vector\",\"op\":\"embedding_backward\",\"dtype\":\"fp32\","
     "\"shape\":\"10x20\",\"table_rows\":100}",
     MSIM_TABLE_VECTOR, (200 + 2000) * 4 + 80},
    /* in place two of three are read, and one written on one of them */
    {"{\"table\":\"vector\",\"op\":\"add_\",\"dtype\":\"fp32\","
     "\"shape\":\"10x20\"}",
     MSIM_TABLE_VECTOR, 2 * 200 * 4},
    /* a result, a mask of bytes */
    {"{\"table\":\"vector\",\"op\":\"dropout\",\"dtype\":\"fp16\","
     "\"shape\":\"10x20\"}",
     MSIM_TABLE_VECTOR, 2 * 200 * 2 + 200},
    /* two in, one out; a weight, and gradients and moments of channels */
    {"{\"table\":\"vector\",\"op\":\"batch_norm_backward\",\"dtype\":\"fp32\","
     "\"shape\":\"10x20\"}",
     MSIM_TABLE_VECTOR, 3 * 200 * 4 + 7 * 10 * 4},
    /* 1 x 4 x 8 x 8 in, 1 x 6 x 4 x 4 out, 6 x 2 x 3 x 3 weights */
    {"{\"table\":\"conv\",\"n\":1,\"c\":4,\"h\":8,\"w\":8,\"k\":6,\"r\":3,"
     "\"s\":3,\"stride\":2,\"pad\":1,\"groups\":2}",
     MSIM_TABLE_CONV, 4 * (256 + 96 + 108)},
    /* the whole buffer goes in, a quarter comes out */
    {"{\"table\":\"collective\",\"collective\":\"reduce_scatter\",\"ranks\":4,"
     "\"bytes\":1024,\"dtype\":\"half\"}",
     MSIM_TABLE_COLLECTIVE, 1280},
    {"{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":1000}", MSIM_TABLE_COPY,
     2000},
    {"{\"table\":\"latency\",\"op\":\"launch\"}", MSIM_TABLE_LATENCY, 0},
};
#define N_GOOD (sizeof(GOOD) / sizeof(*GOOD))

static void test_experiment__every_table(void)
{
    unsigned seen = 0;

    for (size_t i = 0; i < N_GOOD; i++) {
        struct read r = read_line(GOOD[i].line);

        CHECK_STR(r.err.text, "");
        CHECK_INT(r.status, MSIM_OK);
        CHECK_INT(r.e.table, GOOD[i].table);
        CHECK_REL(msim_experiment_bytes(&r.e) + 1, GOOD[i].bytes + 1, 1e-12);
        seen |= 1u << r.e.table;
        done(&r);
    }
    CHECK_UINT(seen, 1u << MSIM_TABLE_GEMM | 1u << MSIM_TABLE_ATTENTION |
                         1u << MSIM_TABLE_VECTOR | 1u << MSIM_TABLE_CONV |
                         1u << MSIM_TABLE_COLLECTIVE | 1u << MSIM_TABLE_COPY |
                         1u << MSIM_TABLE_LATENCY);
}

static void test_experiment__what_is_not_said(void)
{
    struct read r = read_line("{\"table\":\"gemm\",\"m\":1,\"n\":2,\"k\":3,"
                              "\"dtype\":\"tf32\"}");

    CHECK_INT(r.e.work.u.gemm.batch, 1);
    CHECK(!r.e.work.u.gemm.a_transposed && r.e.work.u.gemm.b_transposed);
    CHECK(r.e.tf32 && r.e.dtype == MSIM_DT_F32);
    CHECK_STR(msim_experiment_dtype(&r.e), "tf32");
    CHECK(!r.e.warm && !r.e.concurrent);
    done(&r);
    r = read_line("{\"table\":\"copy\",\"op\":\"h2d\",\"bytes\":8,"
                  "\"memory\":\"pageable\",\"cache\":\"warm\",\"beside\":"
                  "{\"table\":\"copy\"}}");
    CHECK(r.e.u.copy.pageable && r.e.warm && r.e.concurrent);
    done(&r);
}

/* Another backend's words are taken as they are; what is no work is not said
 * to be one. */
static void test_experiment__of_another_backend(void)
{
    static const struct {
        const char *line;
        enum msim_table table;
        bool is_work;
    } LINES[] = {
        {"{\"table\":\"vector\",\"op\":\"frobnicate\",\"dtype\":\"half\","
         "\"shape\":\"3x4\"}",
         MSIM_TABLE_VECTOR, true},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp5\","
         "\"shape\":\"3x4\"}",
         MSIM_TABLE_VECTOR, false},
        {"{\"table\":\"gemm\",\"m\":1}", MSIM_TABLE_GEMM, false},
        {"{\"table\":\"dispatch\",\"op\":\"aten::mm\"}", MSIM_TABLE_DISPATCH,
         false},
        {"{\"table\":\"latency\",\"op\":\"lunch\"}", MSIM_TABLE_LATENCY, false},
        {"{\"table\":\"picnic\"}", MSIM_TABLE_COUNT, false},
    };

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        struct msim_experiment e;
        cJSON *o = cJSON_Parse(LINES[i].line);

        msim_experiment_read_any(&e, o);
        CHECK_INT(e.table, LINES[i].table);
        CHECK_INT(e.is_work, LINES[i].is_work);
        cJSON_Delete(o);
    }
}

/* A line's work is that of the row with the same columns. */
static void test_experiment__is_a_work(void)
{
    struct read r = read_line("{\"table\":\"vector\",\"op\":\"add\","
                              "\"dtype\":\"fp32\",\"shape\":\"10x20\"}");

    CHECK(r.e.is_work);
    CHECK_INT(r.e.work.family, MSIM_FAMILY_POINTWISE);
    CHECK_STR(r.e.work.variant, "add");
    CHECK_REL(r.e.work.bytes_read, 1600, 1e-12);
    CHECK_REL(r.e.work.bytes_written, 800, 1e-12);
    done(&r);
    r = read_line("{\"table\":\"gemm\",\"m\":2,\"n\":3,\"k\":5,"
                  "\"dtype\":\"tf32\"}");
    CHECK(r.e.is_work);
    CHECK_STR(r.e.work.variant, "tf32");
    CHECK_REL(r.e.work.flops, 60, 1e-12);
    done(&r);
    /* whose numbers are not said is asked of fp32, and any collective */
    r = read_line("{\"table\":\"collective\",\"collective\":\"broadcast\","
                  "\"ranks\":2,\"bytes\":8}");
    CHECK(r.e.is_work);
    CHECK_INT(r.e.dtype, MSIM_DT_F32);
    CHECK_INT(r.e.work.dtype, MSIM_DT_UNKNOWN);
    done(&r);
}

/* Of shapes with more than two sizes the last is the columns. */
static void test_experiment__shapes(void)
{
    struct read r = read_line("{\"table\":\"vector\",\"op\":\"softmax\","
                              "\"dtype\":\"fp32\",\"shape\":\"2x3x128\"}");

    CHECK_INT(r.e.work.u.vector.rows, 6);
    CHECK_INT(r.e.work.u.vector.cols, 128);
    CHECK_INT(r.e.work.u.vector.elems, 768);
    CHECK_INT(msim_vector_op_kind(r.e.u.vector.op), MSIM_VECTOR_SOFTMAX);
    done(&r);
}

static void test_experiment__refused(void)
{
    static const struct {
        const char *line, *why;
    } BAD[] = {
        {"{}", "'table' is '', which is not known"},
        {"{\"table\":\"moe\"}", "'table' is 'moe', which is not known"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"n\":1,\"k\":1}",
         "'m' is missing, want a whole number from 1"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":1.5,\"n\":1,\"k\":1}",
         "'m' is something else, want a whole number from 1"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":1e15,\"n\":1,\"k\":1}",
         "'m' is something else, want a whole number from 1 to below 1e15"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp5\",\"m\":1,\"n\":1,\"k\":1}",
         "'dtype' is 'fp5', which is not known"},
        {"{\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":1,\"n\":1,\"k\":1,"
         "\"layout\":\"N\"}",
         "'layout' is 'N', want NN, NT, TN or TT"},
        {"{\"table\":\"attention\",\"dtype\":\"fp16\"}",
         "'phase' is missing, want prefill, decode or encoder"},
        {"{\"table\":\"vector\",\"op\":\"frobnicate\",\"dtype\":\"fp32\"}",
         "'op' is 'frobnicate', which is not known"},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\","
         "\"shape\":\"3x\"}",
         "'shape' is '3x', want sizes such as 1000x512"},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\","
         "\"shape\":\"-3\"}",
         "'shape' is '-3', want sizes such as 1000x512"},
        {"{\"table\":\"conv\",\"n\":1,\"c\":4,\"h\":2,\"w\":8,\"k\":6,\"r\":3,"
         "\"s\":3}",
         "the filter is larger than the padded picture"},
        {"{\"table\":\"conv\",\"n\":1,\"c\":4,\"h\":8,\"w\":8,\"k\":6,\"r\":3,"
         "\"s\":3,\"groups\":4}",
         "4 groups do not divide the channels"},
        {"{\"table\":\"collective\",\"collective\":\"all_reduce\","
         "\"ranks\":0,\"bytes\":8}",
         "'ranks' is something else, want a whole number from 1"},
        {"{\"table\":\"copy\",\"op\":\"h2d\",\"bytes\":0}",
         "'bytes' is something else, want a whole number from 1"},
        {"{\"table\":\"copy\",\"op\":\"h2d\",\"bytes\":1,\"beside\":3}",
         "'beside' is something else, want an experiment"},
        {"{\"table\":\"latency\",\"op\":\"lunch\"}",
         "'op' is 'lunch', which is not known"},
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
        struct read r = read_line(BAD[i].line);

        CHECK_INT(r.status, MSIM_EFORMAT);
        CHECK_STR(r.err.text, BAD[i].why);
        done(&r);
    }
}

/* The conventions of nccl-tests (doc/PERFORMANCE.md there). */
static void test_experiment__sizes_of_collectives(void)
{
    uint64_t in, out;

    msim_collective_elems(MSIM_COLL_ALL_REDUCE, 4096, 4, 4, &in, &out);
    CHECK(in == 1024 && out == 1024);
    msim_collective_elems(MSIM_COLL_ALL_GATHER, 4096, 4, 4, &in, &out);
    CHECK(in == 256 && out == 1024);
    msim_collective_elems(MSIM_COLL_REDUCE_SCATTER, 4096, 4, 4, &in, &out);
    CHECK(in == 1024 && out == 256);
    msim_collective_elems(MSIM_COLL_ALL_TO_ALL, 4096, 4, 4, &in, &out);
    CHECK(in == 1024 && out == 1024);
    /* too little for one number each */
    msim_collective_elems(MSIM_COLL_ALL_GATHER, 4, 4, 4, &in, &out);
    CHECK(in == 1 && out == 4);
}

int main(void)
{
    RUN(test_experiment__every_table);
    RUN(test_experiment__what_is_not_said);
    RUN(test_experiment__of_another_backend);
    RUN(test_experiment__is_a_work);
    RUN(test_experiment__shapes);
    RUN(test_experiment__refused);
    RUN(test_experiment__sizes_of_collectives);
    return check_summary();
}

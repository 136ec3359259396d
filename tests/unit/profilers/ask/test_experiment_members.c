/*
 * The line of an experiment: its members, in order, of every table.
 */
#include "profilers/ask/backend_child.h"

#include "tests/check.h"

#include <stdlib.h>

/* What is read is written again, in this order, and nothing else. */
static void test_experiment_json__of_each_table(void)
{
    static const struct {
        const char *line, *want; /* NULL: the line */
    } CASES[] = {
        {"{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":2,\"n\":3,\"k\":4,"
         "\"batch\":5,\"layout\":\"NN\"}",
         NULL},
        {"{\"table\":\"gemm\",\"dtype\":\"tf32\",\"m\":2,\"n\":3,\"k\":4,"
         "\"batch\":1,\"layout\":\"TN\",\"cache\":\"warm\"}",
         NULL},
        {"{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":2,\"n\":3,\"k\":4,"
         "\"batch\":1,\"layout\":\"TT\"}",
         NULL},
        {"{\"m\":2,\"n\":3,\"k\":4,\"table\":\"gemm\",\"dtype\":\"fp16\"}",
         "{\"table\":\"gemm\",\"dtype\":\"fp16\",\"m\":2,\"n\":3,\"k\":4,"
         "\"batch\":1,\"layout\":\"NT\"}"},
        {"{\"table\":\"conv\",\"op\":\"conv2d_bwd_data\",\"dtype\":\"fp32\","
         "\"n\":1,\"c\":24,\"h\":13,\"w\":14,\"k\":36,\"r\":5,\"s\":6,"
         "\"stride\":2,\"pad\":3,\"groups\":12}",
         NULL},
        {"{\"table\":\"attention\",\"phase\":\"prefill\",\"dtype\":\"fp16\","
         "\"batch\":2,\"heads\":8,\"kv_heads\":4,\"q_len\":16,\"kv_len\":32,"
         "\"head_dim\":64}",
         NULL},
        {"{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp32\","
         "\"shape\":\"21x35\"}",
         NULL},
        {"{\"table\":\"vector\",\"op\":\"index_select\",\"dtype\":\"fp32\","
         "\"shape\":\"7x5\",\"table_rows\":9}",
         NULL},
        {"{\"table\":\"collective\",\"collective\":\"all_gather\","
         "\"dtype\":\"fp32\",\"ranks\":8,\"nodes\":2,\"interconnect\":"
         "\"NVLink4\",\"bytes\":4096}",
         NULL},
        {"{\"table\":\"copy\",\"op\":\"h2d\",\"memory\":\"pageable\","
         "\"bytes\":4096}",
         NULL},
        {"{\"table\":\"copy\",\"op\":\"h2d\",\"memory\":\"pinned\","
         "\"bytes\":4096}",
         "{\"table\":\"copy\",\"op\":\"h2d\",\"bytes\":4096}"},
        {"{\"table\":\"latency\",\"op\":\"kernel_gap\"}", NULL},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        cJSON *line = cJSON_Parse(CASES[i].line), *again;
        struct msim_experiment e;
        char *text;

        CHECK_INT(msim_experiment_read(&e, line, NULL), MSIM_OK);
        again = msim_experiment_json(&e);
        text = cJSON_PrintUnformatted(again);
        CHECK_STR(text, CASES[i].want ? CASES[i].want : CASES[i].line);
        cJSON_free(text);
        cJSON_Delete(again);
        cJSON_Delete(line);
    }
}

/* What the traces of a job have, and no line of a backend: a window, and the
 * bytes of what is not as its shape says. */
static void test_experiment_json__of_traces(void)
{
    struct msim_experiment e = {.table = MSIM_TABLE_ATTENTION};
    cJSON *o;

    o = msim_experiment_json(&e);
    CHECK(!cJSON_HasObjectItem(o, "window"));
    CHECK(!cJSON_HasObjectItem(o, "phase") && !cJSON_HasObjectItem(o, "dtype"));
    cJSON_Delete(o);
    e.work.u.attention.window = 1;
    o = msim_experiment_json(&e);
    CHECK_REL(msim_json_get_number(o, "window", 0), 1, 0);
    cJSON_Delete(o);
    e = (struct msim_experiment){.table = MSIM_TABLE_VECTOR};
    o = msim_experiment_json(&e);
    CHECK(!cJSON_HasObjectItem(o, "bytes"));
    CHECK(!cJSON_HasObjectItem(o, "table_rows"));
    cJSON_Delete(o);
    e.u.vector.bytes = 0.5;
    e.u.vector.table_rows = 1;
    o = msim_experiment_json(&e);
    CHECK_REL(msim_json_get_number(o, "bytes", 0), 0.5, 0);
    CHECK_REL(msim_json_get_number(o, "table_rows", 0), 1, 0);
    cJSON_Delete(o);
    e = (struct msim_experiment){.table = MSIM_TABLE_COUNT, .op = "x"};
    o = msim_experiment_json(&e); /* a table that is not known */
    CHECK_INT(cJSON_GetArraySize(o), 2);
    CHECK_STR(msim_json_get_text(o, "table"), "unknown");
    CHECK_STR(msim_json_get_text(o, "op"), "x");
    cJSON_Delete(o);
}

/* Every operator by its word, and none by another or by none. */
static void test_vector_op__words(void)
{
    for (int i = 0; i < MSIM_VOP_COUNT; i++) {
        enum msim_vector_op op = (enum msim_vector_op)i;

        CHECK_INT(msim_vector_op_parse(msim_vector_op_text(op)), op);
    }
    CHECK(msim_vector_op_text(MSIM_VOP_COUNT) == NULL);
    CHECK_INT(msim_vector_op_parse("ad"), MSIM_VOP_COUNT);
    CHECK_INT(msim_vector_op_parse(NULL), MSIM_VOP_COUNT);
    CHECK_INT(msim_vector_op_parse("copy"), MSIM_VOP_COPY);
    CHECK_INT(msim_vector_op_parse("embedding_backward"),
              MSIM_VOP_EMBEDDING_BACKWARD);
    CHECK_INT(msim_vector_op_kind(MSIM_VOP_ADD), MSIM_VECTOR_BINARY);
    CHECK_INT(msim_vector_op_kind(MSIM_VOP_COPY), MSIM_VECTOR_UNARY);
}

int main(void)
{
    RUN(test_experiment_json__of_each_table);
    RUN(test_experiment_json__of_traces);
    RUN(test_vector_op__words);
    return check_summary();
}

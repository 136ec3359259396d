/*
 * What GPUs can be asked for, by compute capability and number.
 */
#include "profilers/experiment.h"

#include "tests/check.h"

#define GB 1e9

/* "" where it can be timed, else why not; in `*err`. */
static const char *refusal(const struct msim_gpu_limits *l, const char *line,
                           struct msim_error *err)
{
    struct msim_experiment e;
    cJSON *o = cJSON_Parse(line);
    enum msim_status status;

    memset(err, 0, sizeof(*err));
    status = msim_experiment_read(&e, o, err);

    if (CHECK_INT(status, MSIM_OK)) {
        status = msim_gpu_limits_check(l, &e, err);
        CHECK(status == MSIM_OK || status == MSIM_ENOMODEL);
    }
    cJSON_Delete(o);
    return err->text;
}

#define GEMM(dtype, size)                                                      \
    "{\"table\":\"gemm\",\"dtype\":\"" dtype "\",\"m\":" size ",\"n\":64,"     \
    "\"k\":64}"

static void test_gpu_limits__numbers(void)
{
    static const struct {
        int capability;
        const char *line, *why;
    } CASES[] = {
        {75, GEMM("fp16", "1"), ""},
        {75, GEMM("int8", "4"), ""},
        {75, GEMM("tf32", "1"),
         "tf32 wants compute capability 8.0, this is 7.5"},
        {75, GEMM("bf16", "1"),
         "bfloat16 wants compute capability 8.0, this is 7.5"},
        {80, GEMM("tf32", "1"), ""},
        {86, GEMM("fp8", "16"),
         "fp8 wants compute capability 8.9, this is 8.6"},
        {89, GEMM("fp8", "16"), ""},
        {120, GEMM("fp8", "16"), ""},
        {90, GEMM("fp8", "24"),
         "products of fp8 want m, n and k in multiples of 16"},
        {90, GEMM("int64", "8"), "no 'gemm' of int64 here"},
        {90,
         "{\"table\":\"gemm\",\"dtype\":\"int8\",\"m\":16,\"n\":16,"
         "\"k\":16,\"layout\":\"NN\"}",
         "products of 8-bit numbers want layout NT"},
        {90,
         "{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp64\","
         "\"shape\":\"8\"}",
         ""},
        {90,
         "{\"table\":\"vector\",\"op\":\"add\",\"dtype\":\"fp8\","
         "\"shape\":\"8\"}",
         "no 'vector' of fp8 here"},
        {90,
         "{\"table\":\"conv\",\"dtype\":\"int8\",\"n\":1,\"c\":1,\"h\":8,"
         "\"w\":8,\"k\":1,\"r\":1,\"s\":1}",
         "no 'conv' of int8 here"},
        {90, "{\"table\":\"latency\",\"op\":\"wake\"}",
         "that is a latency of a processor"},
        {90, "{\"table\":\"latency\",\"op\":\"launch\"}", ""},
    };
    struct msim_error err;

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_gpu_limits l = {CASES[i].capability, 1, 10 * GB};

        CHECK_STR(refusal(&l, CASES[i].line, &err), CASES[i].why);
    }
}

#define PAGEABLE(way)                                                          \
    "{\"table\":\"copy\",\"op\":\"" way                                        \
    "\",\"bytes\":1024,\"memory\":\"pageable\"}"

/* One GPU: a rank alone, and nothing beyond is run or made up. */
static void test_gpu_limits__how_many(void)
{
    static const char ALONE[] = "{\"table\":\"collective\",\"collective\":"
                                "\"all_reduce\",\"ranks\":1,\"bytes\":1024}";
    static const char TWO[] = "{\"table\":\"collective\",\"collective\":"
                              "\"send_recv\",\"ranks\":2,\"bytes\":1024}";
    static const char NOBODY[] = "{\"table\":\"collective\",\"collective\":"
                                 "\"send_recv\",\"ranks\":1,\"bytes\":1024}";
    static const char NODES[] =
        "{\"table\":\"collective\",\"collective\":\"all_reduce\",\"ranks\":2,"
        "\"nodes\":2,\"bytes\":1024}";
    static const char PEER[] =
        "{\"table\":\"copy\",\"op\":\"p2p\",\"bytes\":1024}";
    struct msim_gpu_limits one = {90, 1, GB}, two = {90, 2, GB};
    struct msim_error err;

    CHECK_STR(refusal(&one, ALONE, &err), "");
    CHECK_STR(refusal(&one, TWO, &err), "not run: 1 GPU");
    CHECK_STR(refusal(&two, TWO, &err), "");
    CHECK_STR(refusal(&one, NOBODY, &err), "a rank alone sends to nobody");
    CHECK_STR(refusal(&two, NODES, &err), "not run: 1 node");
    CHECK_STR(refusal(&one, PEER, &err), "not run: 1 GPU");
    CHECK_STR(refusal(&two, PEER, &err), "");
    CHECK_STR(refusal(&one, PAGEABLE("h2d"), &err), "");
    CHECK_STR(refusal(&one, PAGEABLE("d2h"), &err), "");
    CHECK_STR(refusal(&one, PAGEABLE("d2d"), &err),
              "no memory of the host takes part in that");
    CHECK_STR(refusal(&two,
                      "{\"table\":\"copy\",\"op\":\"d2d\",\"bytes\":600000000}",
                      &err),
              "takes 1.2 GB, 1 GB are free");
}

/* Every kind that is listed can be timed, and is listed once. */
static void test_gpu_limits__what_is_listed(void)
{
    static const struct {
        struct msim_gpu_limits l;
        enum msim_table table;
        uint32_t n;
        const char *first, *last;
    } CASES[] = {
        {{75, 1, GB}, MSIM_TABLE_GEMM, 4, "fp64", "int8"},
        {{90, 1, GB}, MSIM_TABLE_GEMM, 7, "fp64", "fp8"},
        {{90, 1, GB},
         MSIM_TABLE_CONV,
         12,
         "conv2d_fwd:fp32",
         "conv2d_bwd_weight:bfloat16"},
        {{75, 1, GB}, MSIM_TABLE_VECTOR, 22, "copy:fp32", "index_select:fp16"},
        {{90, 1, GB}, MSIM_TABLE_COLLECTIVE, 6, "all_reduce", "alltoall"},
        {{90, 2, GB}, MSIM_TABLE_COLLECTIVE, 7, "all_reduce", "send_recv"},
        {{90, 1, GB}, MSIM_TABLE_COPY, 7, "d2d", "write"},
        {{90, 2, GB}, MSIM_TABLE_COPY, 8, "d2d", "p2p"},
        {{90, 1, GB}, MSIM_TABLE_LATENCY, 13, "launch", "memcpy"},
        {{90, 1, GB}, MSIM_TABLE_ATTENTION, 0, "", ""},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char kind[64] = "", first[64] = "";
        uint32_t n = 0;

        while (msim_gpu_limits_kind(&CASES[i].l, CASES[i].table, n, kind,
                                    sizeof(kind)))
            if (n++ == 0)
                snprintf(first, sizeof(first), "%s", kind);
        CHECK_UINT(n, CASES[i].n);
        CHECK_STR(first, CASES[i].first);
        CHECK_STR(kind, CASES[i].last);
    }
}

int main(void)
{
    RUN(test_gpu_limits__numbers);
    RUN(test_gpu_limits__how_many);
    RUN(test_gpu_limits__what_is_listed);
    return check_summary();
}

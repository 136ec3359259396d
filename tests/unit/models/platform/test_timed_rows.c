/*
 * models/platform/timed_rows.c: what was timed answers for exactly that
 * operator and shape, of a machine whose file has no law at all.
 */
#include "models/platform/platform_data.h"

#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define SHEET                                                                  \
    "\"data_sheet\":{\"fp32_flops\":{\"value\":1e11},\"sms\":{\"value\":1},"   \
    "\"memory_bytes\":1e10,\"l2_bytes\":1e6,\"memory_bandwidth\":1e10,"        \
    "\"kernel_floor_us\":2,\"pcie_bandwidth\":1e10,"                           \
    "\"pageable_bandwidth\":5e9,\"link_bandwidth\":1e11,"                      \
    "\"network_bandwidth\":1e10,\"trace_factor\":1.5}"
#define ROW(framework, key, sizes, bytes, us)                                  \
    "{\"law\":\"cpu_vector\",\"framework\":\"" framework "\",\"key\":\"" key   \
    "\",\"dtype\":\"fp32\",\"sizes\":[" sizes "],\"bytes\":" bytes             \
    ",\"us\":" us ",\"low_us\":" us ",\"high_us\":50}"

/* `*p`: to be freed, NULL on failure. */
static enum msim_status load(struct msim_platform **p, const char *rows,
                             struct msim_error *err)
{
    char path[] = "./msim-test-timed-XXXXXX.json";
    enum msim_status status;
    int fd = mkstemps(path, 5);
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;

    *p = NULL;
    if (!f)
        return MSIM_EIO;
    fprintf(f,
            "{\"name\":\"x\",\"kind\":\"cpu\",\"generation\":\"g\"," SHEET
            ",\"timed\":%s}",
            rows);
    fclose(f);
    status = msim_platform_load(p, MSIM_DATA, path, err);
    unlink(path);
    return status;
}

/* 128 numbers of fp32, read and written. */
static struct msim_work addcmul(int64_t elems)
{
    return (struct msim_work){.family = MSIM_FAMILY_POINTWISE,
                              .dtype = MSIM_DT_F32,
                              .variant = "addcmul_",
                              .in_place = true,
                              .bytes_read = 12.0 * (double)elems,
                              .bytes_written = 4.0 * (double)elems,
                              .u.vector = {.elems = elems}};
}

static double us_of(const struct msim_platform *p, const struct msim_work *w)
{
    struct msim_estimate e = {0};

    return msim_model_predict(p, w, false, &e, NULL) == MSIM_OK &&
                   e.source == MSIM_SOURCE_TABLE
               ? e.us
               : 0;
}

/* The law of such operators would be a bound: twice 2 us and 4 KB over 10 GB/s.
 */
static void test_timed_rows__answer_for_their_shape(void)
{
    struct msim_work w = addcmul(256);
    struct msim_platform *p;
    struct msim_estimate e;

    REQUIRE(load(&p,
                 "[" ROW("torch", "addcmul_", "1,256", "4096", "9") "," ROW(
                     "torch", "addcmul_", "1,128", "2048", "7") "]",
                 NULL) == MSIM_OK);
    REQUIRE(msim_model_predict(p, &w, true, &e, NULL) == MSIM_OK);
    CHECK_REL(e.us, 9, 0);
    CHECK_REL(e.low_us, 9, 0);
    CHECK_REL(e.high_us, 50, 0);
    CHECK_INT(e.source, MSIM_SOURCE_TABLE);
    CHECK_INT(e.family, MSIM_FAMILY_POINTWISE);
    w = addcmul(128);
    CHECK_REL(us_of(p, &w), 7, 0);
    /* by rows and columns it is the same shape */
    w.u.vector.rows = 8;
    w.u.vector.cols = 16;
    CHECK_REL(us_of(p, &w), 7, 0);
    msim_platform_free(p);
}

/* Another size, kind, dtype, place, or an operand that is broadcast: the third
 * of what is read is missing then. */
static void test_timed_rows__answer_for_nothing_else(void)
{
    struct msim_work works[] = {addcmul(129), addcmul(128), addcmul(128),
                                addcmul(128), addcmul(128)};
    struct msim_platform *p;
    struct msim_estimate e;

    REQUIRE(load(&p, "[" ROW("torch", "addcmul_", "1,128", "2048", "7") "]",
                 NULL) == MSIM_OK);
    works[1].variant = "addcdiv_";
    works[2].dtype = MSIM_DT_F64;
    works[3].bytes_read /= 1.5;
    works[4].framework = "made-up";
    for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++)
        CHECK_REL(us_of(p, &works[i]), 0, 0);
    REQUIRE(msim_model_predict(p, &works[0], false, &e, NULL) == MSIM_OK);
    CHECK_INT(e.source, MSIM_SOURCE_BOUND);
    msim_platform_free(p);
}

/* PyTorch's own row is the first, whatever order the file has, and a stack's
 * own that of what names it. */
static void test_timed_rows__of_several_backends(void)
{
    struct msim_work w = addcmul(128);
    struct msim_platform *p;

    REQUIRE(load(&p,
                 "[" ROW("cpu", "addcmul_", "1,128", "2048", "5") "," ROW(
                     "torch", "addcmul_", "1,128", "2048", "7") "]",
                 NULL) == MSIM_OK);
    CHECK_REL(us_of(p, &w), 7, 0);
    w.framework = "pytorch";
    CHECK_REL(us_of(p, &w), 7, 0);
    w.framework = "cpu";
    CHECK_REL(us_of(p, &w), 5, 0);
    msim_platform_free(p);
}

/* A ratio of two platforms wants laws on both sides; a copy is alone again. */
static void test_timed_rows__not_in_a_pair(void)
{
    static const char ROWS[] =
        "[" ROW("torch", "addcmul_", "1,128", "2048", "7") "]";
    struct msim_work w = addcmul(128);
    struct msim_platform *p, *other, *copy;

    REQUIRE(load(&p, ROWS, NULL) == MSIM_OK);
    REQUIRE(load(&other, ROWS, NULL) == MSIM_OK);
    REQUIRE(msim_platform_pair(p, other) == MSIM_OK);
    CHECK_REL(us_of(p, &w), 0, 0);
    CHECK_REL(us_of(other, &w), 0, 0);
    REQUIRE(msim_platform_copy(&copy, p) == MSIM_OK);
    CHECK_REL(us_of(copy, &w), 7, 0);
    msim_platform_free(copy);
    msim_platform_free(p);
    msim_platform_free(other);
}

/* What is written answers when it is read. */
static void test_timed_rows__there_and_back(void)
{
    struct msim_work w = {
        .family = MSIM_FAMILY_GEMM,
        .dtype = MSIM_DT_F32,
        .framework = "torch",
        .u.gemm = {
            .m = 96, .n = 128, .k = 512, .batch = 1, .b_transposed = true}};
    struct msim_work coll = {.family = MSIM_FAMILY_COLLECTIVE};
    struct msim_platform *p;
    char text[400] = {"["};
    cJSON *row = msim_timed_row_new(&w, true);

    CHECK(!msim_timed_row_new(&coll, true));
    REQUIRE(row != NULL);
    cJSON_AddNumberToObject(row, "us", 42);
    memset(text + 1, 0, sizeof(text) - 1);
    REQUIRE(cJSON_PrintPreallocated(row, text + 1, sizeof(text) - 8, 0));
    text[strlen(text)] = ']';
    cJSON_Delete(row);
    REQUIRE(load(&p, text, NULL) == MSIM_OK);
    CHECK_REL(us_of(p, &w), 42, 0);
    w.u.gemm.b_transposed = false;
    CHECK_REL(us_of(p, &w), 0, 0);
    msim_platform_free(p);
}

static void test_timed_rows__refuse_what_is_wrong(void)
{
    static const struct {
        const char *rows, *why;
    } CASES[] = {
        {"{}", "timed"},
        {"[{}]", "timed[0].law"},
        {"[" ROW("torch", "add", "1,\"x\"", "1", "7") "]", "timed[0].sizes"},
        {"[" ROW("torch", "add", "1,-2", "1", "7") "]", "timed[0].sizes"},
        {"[" ROW("torch", "add",
                 "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,"
                 "18,19,20",
                 "1", "7") "]",
         "timed[0].sizes"},
        {"[" ROW("torch", "add", "1,2", "-3", "7") "]", "timed[0].bytes"},
        {"[" ROW("torch", "add", "1,2", "3", "0") "]", "timed[0].us"},
        {"[" ROW("torch", "add", "1,2", "3", "60") "]", "timed[0].high_us"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_error err = {0};
        struct msim_platform *p;

        CHECK_INT(load(&p, CASES[i].rows, &err), MSIM_EFORMAT);
        if (!CHECK(strstr(err.text, CASES[i].why) != NULL))
            printf("%s\n", err.text);
        msim_platform_free(p);
    }
}

int main(void)
{
    RUN(test_timed_rows__answer_for_their_shape);
    RUN(test_timed_rows__answer_for_nothing_else);
    RUN(test_timed_rows__of_several_backends);
    RUN(test_timed_rows__not_in_a_pair);
    RUN(test_timed_rows__there_and_back);
    RUN(test_timed_rows__refuse_what_is_wrong);
    return check_summary();
}

/*
 * From a journal to a platform: of a made-up machine whose times are a formula,
 * the data sheet is found again and what is held back predicted; two backends
 * are compared; works and experiments are each other's.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/machine/machine_internal.h"
#include "calibrate/measure/experiment_space.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

#define GREETING                                                               \
    "{\"device\":{\"kind\":\"cpu\",\"name\":\"A, \\\"B\\\"\",\"sms\":2,"       \
    "\"memory_bytes\":8e9,\"l2_bytes\":1e6},\"libraries\":{\"x\":\"1\"},"      \
    "\"tables\":{\"gemm\":[\"fp32\"],\"vector\":[\"add:fp32\"],"               \
    "\"copy\":[\"d2d\"],\"latency\":[\"call\"]}}"

#define FLOPS     50e9
#define BANDWIDTH 8e9

/* 2 us, and the longer of arithmetic and memory. */
static double made_up_us(const struct msim_cal_experiment *e)
{
    static const struct msim_cal_guess MACHINE = {FLOPS, BANDWIDTH, 2};

    return msim_cal_expected_us(e, &MACHINE);
}

/* The first `n` experiments of a design, each taking `factor` of its time. */
static bool add_rows(struct msim_cal_journal *j, const char *backend, int n,
                     double factor)
{
    cJSON *greeting = cJSON_Parse(GREETING);
    struct msim_cal_design *d = NULL;
    struct msim_cal_experiment e;
    struct msim_cal_space s;
    uint32_t kind;
    bool ok;

    ok = msim_cal_space_read(&s, greeting, 5e4, NULL) == MSIM_OK &&
         msim_cal_design_new(&d, &s, 1) == MSIM_OK &&
         msim_cal_journal_greet(j, backend, greeting, NULL) == MSIM_OK;
    while (ok && n-- > 0 && msim_cal_design_next(d, &e, &kind)) {
        cJSON *answer = cJSON_CreateObject();

        cJSON_AddNumberToObject(answer, "time_us", factor * made_up_us(&e));
        ok = msim_cal_journal_add(j, backend, &e, answer, 0.1, NULL) == MSIM_OK;
    }
    msim_cal_design_free(d);
    return ok;
}

static bool open_journal(struct msim_cal_journal *j, char path[64])
{
    int fd;

    snprintf(path, 64, "msim-test-cal-fit-XXXXXX");
    fd = mkstemp(path);
    if (fd < 0)
        return false;
    close(fd);
    return msim_cal_journal_open(j, path, NULL) == MSIM_OK;
}

static double figure(const cJSON *platform, const char *key)
{
    return msim_json_get_number(
        cJSON_GetObjectItemCaseSensitive(platform, "data_sheet"), key, 0);
}

static void test_fit__finds_the_machine(void)
{
    struct msim_cal_scores v;
    struct msim_cal_journal j;
    cJSON *platform;
    char path[64], held[80];

    REQUIRE(open_journal(&j, path));
    REQUIRE(add_rows(&j, "made-up", 700, 1));
    snprintf(held, sizeof(held), "%s.held", path);
    REQUIRE(msim_cal_fit(&platform, &j,
                         &(struct msim_cal_fit_options){
                             .name = "mine", .held = held, .threads = 1},
                         &v, NULL) == MSIM_OK);
    CHECK_STR(msim_json_get_text(platform, "kind"), "cpu");
    CHECK_STR(msim_json_get_text(platform, "name"), "mine");
    CHECK_REL(figure(platform, "fp32_flops"), FLOPS, 0.02);
    CHECK_REL(figure(platform, "memory_bandwidth"), BANDWIDTH, 0.02);
    CHECK_REL(figure(platform, "sms"), 2, 0);
    /* the smallest additions move 10 KB: 1.25 us and the 2 us */
    CHECK(figure(platform, "kernel_floor_us") > 3.2 &&
          figure(platform, "kernel_floor_us") < 5);
    CHECK_UINT(v.n, 3); /* products, additions, all */
    for (uint32_t i = 0; i < v.n; i++) {
        CHECK_STR(v.list[i].framework, "made-up");
        CHECK(v.list[i].rows >= 40);
        CHECK(v.list[i].median < 0.06 && v.list[i].mean < 0.1);
        CHECK(v.list[i].coverage > 0.8 && v.list[i].coverage < 1 + 1e-9);
        CHECK(v.list[i].p90 >= v.list[i].median);
    }
    CHECK_INT(cJSON_GetArraySize(
                  cJSON_GetObjectItemCaseSensitive(platform, "validation")),
              3);
    CHECK_INT(cJSON_GetArraySize(
                  cJSON_GetObjectItemCaseSensitive(platform, "latencies")),
              1);
    cJSON_Delete(platform);
    msim_cal_journal_close(&j);
    unlink(held);
    unlink(path);
}

/* One row of a kind makes no law, and is its own answer. */
static void test_fit__keeps_what_was_timed(void)
{
    static const char LINE[] =
        "{\"table\":\"vector\",\"op\":\"addcmul_\",\"dtype\":\"fp32\","
        "\"shape\":\"1x128\"}";
    cJSON *line = cJSON_Parse(LINE), *answer = cJSON_CreateObject();
    const cJSON *row, *found = NULL;
    struct msim_cal_experiment e;
    struct msim_cal_journal j;
    cJSON *platform;
    char path[64], held[80];

    REQUIRE(open_journal(&j, path));
    REQUIRE(add_rows(&j, "made-up", 100, 1));
    cJSON_AddNumberToObject(answer, "time_us", 7);
    cJSON_AddNumberToObject(answer, "low_us", 6);
    cJSON_AddNumberToObject(answer, "high_us", 9);
    msim_cal_experiment_read(&e, line);
    REQUIRE(msim_cal_journal_add(&j, "made-up", &e, answer, 0.1, NULL) ==
            MSIM_OK);
    snprintf(held, sizeof(held), "%s.held", path);
    REQUIRE(msim_cal_fit(&platform, &j,
                         &(struct msim_cal_fit_options){
                             .name = "mine", .held = held, .threads = 1},
                         NULL, NULL) == MSIM_OK);
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(platform, "timed"))
    {
        if (strcmp(msim_json_get_text(row, "key"), "addcmul_") == 0)
            found = row;
    }
    REQUIRE(found != NULL);
    CHECK_STR(msim_json_get_text(found, "law"), "cpu_vector");
    CHECK_STR(msim_json_get_text(found, "framework"), "made-up");
    CHECK_REL(msim_json_get_number(found, "us", 0), 7, 0);
    CHECK_REL(msim_json_get_number(found, "low_us", 0), 6, 0);
    CHECK_REL(msim_json_get_number(found, "high_us", 0), 9, 0);
    /* three are read, and the first is written */
    CHECK_REL(msim_json_get_number(found, "bytes", 0), 4 * 4 * 128, 0);
    CHECK_INT(
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(found, "sizes")),
        2);
    cJSON_Delete(platform);
    cJSON_Delete(line);
    msim_cal_journal_close(&j);
    unlink(held);
    unlink(path);
}

/* Nothing can be said of a machine of which there are no rows. */
static void test_fit__wants_rows(void)
{
    struct msim_error err = {0};
    struct msim_cal_journal j;
    cJSON *platform;
    char path[64];

    REQUIRE(open_journal(&j, path));
    REQUIRE(add_rows(&j, "made-up", 1, 1));
    CHECK_INT(msim_cal_fit(
                  &platform, &j,
                  &(struct msim_cal_fit_options){.name = "mine", .threads = 1},
                  NULL, &err),
              MSIM_ECHECK);
    CHECK(platform == NULL && strstr(err.text, "--budget"));
    msim_cal_journal_close(&j);
    unlink(path);
}

static void test_compare__pairs_experiments(void)
{
    struct msim_cal_differences d;
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(open_journal(&j, path));
    REQUIRE(add_rows(&j, "first", 60, 2));
    REQUIRE(add_rows(&j, "second", 40, 1));
    REQUIRE(msim_cal_compare(&d, &j) == MSIM_OK);
    CHECK_UINT(d.n, 4); /* tables */
    for (uint32_t i = 0; i < d.n; i++) {
        CHECK_STR(d.list[i].backend, "first");
        CHECK_STR(d.list[i].other, "second");
        CHECK(d.list[i].pairs >= 1);
        CHECK_REL(d.list[i].median, 2, 1e-9);
    }
    msim_cal_journal_close(&j);
    unlink(path);
}

/* The work of an experiment is that experiment. */
static void test_trace__works_are_experiments(void)
{
    static const char *const LINES[] = {
        "{\"table\":\"gemm\",\"dtype\":\"tf32\",\"m\":3,\"n\":4,\"k\":5,"
        "\"batch\":2,\"layout\":\"TN\"}",
        "{\"table\":\"conv\",\"op\":\"conv2d_bwd_data\",\"dtype\":\"fp32\","
        "\"n\":1,\"c\":4,\"h\":9,\"w\":8,\"k\":6,\"r\":3,\"s\":3,\"stride\":2,"
        "\"pad\":1,\"groups\":2}",
        "{\"table\":\"attention\",\"phase\":\"decode\",\"dtype\":\"bfloat16\","
        "\"batch\":2,\"heads\":8,\"kv_heads\":2,\"q_len\":1,\"kv_len\":64,"
        "\"head_dim\":64}",
        "{\"table\":\"vector\",\"op\":\"gelu\",\"dtype\":\"fp16\",\"shape\":"
        "\"12x34\"}",
    };

    for (size_t i = 0; i < sizeof(LINES) / sizeof(*LINES); i++) {
        cJSON *line = cJSON_Parse(LINES[i]);
        struct msim_cal_experiment e, back;

        msim_cal_experiment_read(&e, line);
        REQUIRE(msim_cal_work(&e));
        REQUIRE(msim_cal_of_work(&back, msim_cal_work(&e), false));
        CHECK(msim_cal_hash(&back, "b") == msim_cal_hash_json(line, "b"));
        CHECK(msim_cal_hash(&e, "b") == msim_cal_hash_json(line, "b"));
        cJSON_Delete(line);
    }
}

static void test_trace__asks_what_is_offered(void)
{
    cJSON *greeting = cJSON_Parse(GREETING);
    struct msim_cal_shapes shapes;
    struct msim_cal_space s;
    int offered = 0, gemms = 0;

    REQUIRE(msim_cal_space_read(&s, greeting, 5e4, NULL) == MSIM_OK);
    REQUIRE(msim_cal_trace_shapes(&shapes, MSIM_DATA "/traces/gpt2", NULL) ==
            MSIM_OK);
    CHECK(shapes.n > 20);
    for (uint32_t i = 0; i < shapes.n; i++) {
        const struct msim_cal_experiment *e = &shapes.list[i];
        bool gemm = e->timed.table == MSIM_TABLE_GEMM;

        gemms += gemm;
        offered += gemm && msim_cal_space_offers(&s, e);
        if (!gemm && msim_cal_space_offers(&s, e))
            CHECK_STR(e->timed.op, "add");
    }
    CHECK(offered > 0 && offered <= gemms);
    msim_cal_shapes_release(&shapes);
    cJSON_Delete(greeting);
}

int main(void)
{
    RUN(test_fit__finds_the_machine);
    RUN(test_fit__keeps_what_was_timed);
    RUN(test_fit__wants_rows);
    RUN(test_compare__pairs_experiments);
    RUN(test_trace__works_are_experiments);
    RUN(test_trace__asks_what_is_offered);
    return check_summary();
}

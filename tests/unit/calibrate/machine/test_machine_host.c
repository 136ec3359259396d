/*
 * From a journal to a host file: of a made-up host that is half as slow as the
 * general one, whose file --host takes.
 */
#include "calibrate/machine/machine.h"
#include "calibrate/rows/samples.h"
#include "models/host/host.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three operators: two of them will be timed. */
#define GENERIC                                                                \
    "{\"name\":\"generic\",\"spread\":{\"low\":0.25,\"high\":4},"              \
    "\"launch_latency\":{\"us\":8,\"low_us\":4,\"high_us\":16},"               \
    "\"kernel_gap\":{\"us\":1,\"low_us\":1,\"high_us\":1},"                    \
    "\"after_topmost\":{\"operator\":{\"us\":10,\"low_us\":5,\"high_us\":20}," \
    "\"autograd\":{\"us\":6,\"low_us\":3,\"high_us\":12}},"                    \
    "\"operators\":{"                                                          \
    "\"aten::mm\":{\"self_us\":20,\"calls_us\":7,\"count\":100},"              \
    "\"aten::view\":{\"self_us\":2,\"calls_us\":0,\"count\":300},"             \
    "\"aten::fft\":{\"self_us\":30,\"calls_us\":5,\"count\":900}}}"

#define GREETING(kind)                                                         \
    "{\"device\":{\"kind\":\"" kind "\",\"name\":\"Made up\"},"                \
    "\"libraries\":{\"PyTorch\":\"3\"}}"

#define OPERATOR(name, self, calls)                                            \
    "{\"name\":\"" name "\",\"count\":4,\"leaf\":true,\"self_us\":" #self      \
    ",\"calls_us\":" #calls "}"

/* An answer's operators, and more members. */
#define ANSWER(list, more)                                                     \
    "{\"time_us\":50,\"rounds\":10,\"operators\":[" list "]" more "}"

struct row {
    enum msim_table table;
    const char *op, *answer;
};

/* Every operator half as long as on the general host. */
static const struct row SINGLE = {MSIM_TABLE_DISPATCH, "aten::mm",
                                  ANSWER(OPERATOR("aten::mm", 10, 3), "")};
static const struct row VIEW = {MSIM_TABLE_DISPATCH, "aten::view",
                                ANSWER(OPERATOR("aten::view", 1, 0), "")};
static const struct row STEP = {
    MSIM_TABLE_DISPATCH, "step: made up",
    ANSWER(OPERATOR("aten::mm", 10, 3) "," OPERATOR(
               "aten::view", 1, 0) "," OPERATOR("MmBackward0", 5, 0),
           ",\"pauses_us\":{\"operator\":7}")};
static const struct row LAUNCH = {MSIM_TABLE_LATENCY, "launch",
                                  "{\"time_us\":3,\"low_us\":2,\"high_us\":5}"};

static const struct row SHARED = {
    MSIM_TABLE_DISPATCH, "shared: made up",
    ANSWER(OPERATOR("PythonSubclass", 400, 0) "," OPERATOR("aten::mm", 90, 0),
           ",\"pauses_us\":{\"operator\":99}")};

static bool add_row(struct msim_cal_journal *j, const struct row *r)
{
    const struct msim_cal_experiment e = {
        .timed = {.table = r->table, .op = r->op}};

    return msim_cal_journal_add(j, "torch", &e, cJSON_Parse(r->answer), 0.1,
                                NULL) == MSIM_OK;
}

/* A host made of rows, ended by NULL; NULL where there is none. */
static cJSON *make(struct msim_cal_host *result, const char *greeting,
                   const struct row *const *rows)
{
    cJSON *generic = cJSON_Parse(GENERIC), *host = NULL;
    char path[] = "msim-test-cal-host-XXXXXX";
    struct msim_cal_journal j;
    int fd = mkstemp(path);
    bool ok;

    close(fd);
    ok = msim_cal_journal_open(&j, path, NULL) == MSIM_OK &&
         msim_cal_journal_greet(&j, "torch", cJSON_Parse(greeting), NULL) ==
             MSIM_OK;
    for (; ok && *rows; rows++)
        ok = add_row(&j, *rows);
    CHECK(ok &&
          msim_cal_host_fit(&host, result, &j, generic, "mine") == MSIM_OK);
    msim_cal_journal_close(&j);
    cJSON_Delete(generic);
    unlink(path);
    return host;
}

static const cJSON *member(const cJSON *host, const char *group,
                           const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(host, group), key);
}

static const char *source(const cJSON *host, const char *group, const char *key)
{
    const char *text = msim_json_get_text(member(host, group, key), "source");

    return text ? text : "";
}

static double number(const cJSON *host, const char *group, const char *key,
                     const char *of)
{
    return msim_json_get_number(member(host, group, key), of, -1);
}

static void test_host__says_what_was_timed_and_what_was_not(void)
{
    const struct row *rows[] = {&SINGLE, &VIEW, &STEP, &LAUNCH, NULL};
    struct msim_cal_host result;
    cJSON *host = make(&result, GREETING("gpu"), rows);

    REQUIRE(host);
    CHECK_UINT(result.recordings, 2);
    CHECK_UINT(result.timed, 3);
    CHECK_UINT(result.taken, 1);
    CHECK_REL(result.speed, 0.5, 1e-9);
    CHECK_REL(number(host, "operators", "aten::mm", "self_us"), 10, 1e-5);
    CHECK_REL(number(host, "operators", "aten::mm", "calls_us"), 3, 1e-5);
    CHECK(!strcmp(source(host, "operators", "aten::mm"), "timed"));
    /* the number of the overload is cut, as in traces */
    CHECK_REL(number(host, "operators", "MmBackward", "self_us"), 5, 1e-5);
    CHECK_REL(number(host, "operators", "aten::fft", "self_us"), 15, 1e-5);
    CHECK_REL(number(host, "operators", "aten::fft", "calls_us"), 5, 1e-5);
    CHECK(!!strstr(source(host, "operators", "aten::fft"), "generic"));
    CHECK_REL(number(host, "calls", "launch", "us"), 3, 1e-9);
    CHECK_REL(number(host, "calls", "launch", "high_us"), 5, 1e-9);
    CHECK(!strcmp(source(host, "calls", "launch"), "timed"));
    CHECK(!!strstr(source(host, "calls", "memcpy"), "generic"));
    CHECK_REL(number(host, "after_topmost", "operator", "us"), 7, 1e-9);
    CHECK_REL(number(host, "after_topmost", "autograd", "us"), 3, 1e-9);
    CHECK(!!strstr(source(host, "after_topmost", "autograd"), "generic"));
    cJSON_Delete(host);
}

/* What is beside operators is in no recording: all else is as without it. */
static void test_host__has_what_a_subclass_takes(void)
{
    const struct row *rows[] = {&SINGLE, &SHARED, &VIEW, &STEP, NULL};
    struct msim_cal_host result, other;
    cJSON *host = make(&result, GREETING("gpu"), rows);
    const struct row *without[] = {&SINGLE, &VIEW, &STEP, NULL};
    cJSON *plain = make(&other, GREETING("gpu"), without);

    REQUIRE(host && plain);
    CHECK_REL(number(host, "operators", "PythonSubclass", "self_us"), 400,
              1e-9);
    CHECK(!strcmp(source(host, "operators", "PythonSubclass"), "timed"));
    CHECK_REL(number(host, "operators", "aten::mm", "self_us"), 10, 1e-5);
    CHECK_REL(number(host, "after_topmost", "operator", "us"), 7, 1e-9);
    CHECK_UINT(result.timed, other.timed + 1);
    CHECK_UINT(result.recordings, other.recordings);
    CHECK_REL(result.factor, other.factor, 1e-12);
    CHECK_REL(result.speed, other.speed, 1e-12);
    cJSON_Delete(host);
    cJSON_Delete(plain);
}

/* Nothing is launched on a CPU: how long that takes is the general host's, and
 * what launches elsewhere is less sure. */
static void test_host__of_a_cpu_knows_no_launches(void)
{
    const struct row *rows[] = {&SINGLE, &VIEW, &STEP, NULL};
    struct msim_cal_host result;
    cJSON *host = make(&result, GREETING("cpu"), rows);

    REQUIRE(host);
    CHECK_REL(number(host, "operators", "aten::mm", "calls_us"), 7, 1e-9);
    CHECK_REL(number(host, "operators", "aten::mm", "within"),
              result.factor_taken, 1e-5);
    CHECK_REL(number(host, "operators", "aten::view", "within"), -1, 0);
    CHECK(!!strstr(source(host, "calls", "launch"), "generic"));
    cJSON_Delete(host);
}

static void test_host__wants_two_recordings(void)
{
    const struct row *single[] = {&SINGLE, &VIEW, &LAUNCH, NULL};
    struct msim_cal_host result;

    CHECK(!make(&result, GREETING("gpu"), single));
}

/* What the general host's file lacks here, the shipped one has. */
static void test_host__is_taken_by_its_reader(void)
{
    const struct row *rows[] = {&SINGLE, &VIEW, &STEP, &LAUNCH, NULL};
    char path[] = "msim-test-host-XXXXXX.json";
    struct msim_cal_journal j;
    struct msim_cal_host result;
    struct msim_host *h = NULL;
    cJSON *generic, *host;
    int fd = mkstemps(path, 5);

    close(fd);
    REQUIRE(msim_json_read(&generic, MSIM_DATA "/hosts/generic.json", NULL) ==
            MSIM_OK);
    REQUIRE(msim_cal_journal_open(&j, "/dev/null", NULL) == MSIM_OK);
    REQUIRE(msim_cal_journal_greet(&j, "torch", cJSON_Parse(GREETING("gpu")),
                                   NULL) == MSIM_OK);
    for (int i = 0; rows[i]; i++)
        CHECK(add_row(&j, rows[i]));
    REQUIRE(msim_cal_host_fit(&host, &result, &j, generic, "mine") == MSIM_OK);
    CHECK(msim_tree_write(host, path, NULL) == MSIM_OK);
    REQUIRE(msim_host_load(&h, MSIM_DATA, path, NULL) == MSIM_OK);
    CHECK(!strcmp(msim_host_name(h), "mine"));
    CHECK_REL(msim_host_call(h, MSIM_CALL_LAUNCH).us, 3, 1e-9);
    msim_host_free(h);
    cJSON_Delete(host);
    cJSON_Delete(generic);
    msim_cal_journal_close(&j);
    unlink(path);
}

int main(void)
{
    RUN(test_host__says_what_was_timed_and_what_was_not);
    RUN(test_host__has_what_a_subclass_takes);
    RUN(test_host__of_a_cpu_knows_no_launches);
    RUN(test_host__wants_two_recordings);
    RUN(test_host__is_taken_by_its_reader);
    return check_summary();
}

/*
 * tests/unit/core/read/test_nsys.c - exports of Nsight Systems: what their
 * texts say, and databases that are broken or made to do harm.
 */
#include "core/read/nsys/nsys.h"
#include "core/read/nsys/nsys_text.h"
#include "tests/check.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts --------------------------------------------------------------- */

static void check_step(const char *text, long long want)
{
    int word = -1;

    CHECK_INT(msim_nsys_step(text, &word), want);
    CHECK_INT(word >= 0, want >= 0);
}

static void test_nsys__steps(void)
{
    check_step("step 3", 3);
    check_step("Iteration_12", 12);
    check_step("iter#7", 7);
    check_step("ProfilerStep#0", 0);
    check_step("training step: 4", 4);
    check_step("batch5", 5);
    check_step("step", -1);
    check_step("step 3 of 4", -1);
    check_step("stepping 3", -1);
    check_step("step 9999999999999999999999", -1);
    check_step("", -1);
}

static void test_nsys__operators(void)
{
    const char *text = "aten::mm, seq = 3, op_id = 5, sizes = [[2, 3], []], "
                       "input_op_ids = [[1,0]]";
    struct msim_nsys_op op;

    REQUIRE(msim_nsys_op_find(&op, text));
    CHECK_INT(op.name, 8);
    CHECK_INT(op.n_sizes, strlen("[[2, 3], []]"));
    CHECK(strncmp(op.sizes, "[[2, 3], []]", op.n_sizes) == 0);
    REQUIRE(msim_nsys_op_find(&op, "f, op_id = 1, sizes = [[2], {\"a\": 1}]"));
    CHECK(op.sizes == NULL); /* it would be JSON of another kind */
    REQUIRE(msim_nsys_op_find(&op, "f, sizes = [[[2]]]"));
    CHECK(op.sizes == NULL);
    REQUIRE(msim_nsys_op_find(&op, "f, sizes = [[2]"));
    CHECK(op.sizes == NULL);
    CHECK(!msim_nsys_op_find(&op, "a label"));
    CHECK(!msim_nsys_op_find(&op, ", seq = 3"));
}

static void test_nsys__calls(void)
{
    CHECK_INT(msim_nsys_call("cudaLaunchKernel_v7000"), 16);
    CHECK_INT(msim_nsys_call("cuLaunchKernel"), 14);
    CHECK_INT(msim_nsys_call("a_v"), 3);
    CHECK_INT(msim_nsys_call("a_v1x"), 5);
}

/* ---- databases ----------------------------------------------------------- */

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

static const char TABLES[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'</script>\"gemm'),(2,'launch_v3020');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId,"
    " correlationId, globalPid, demangledName, gridX, gridY, gridZ, blockX,"
    " blockY, blockZ, registersPerThread, staticSharedMemory,"
    " dynamicSharedMemory);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid,"
    " correlationId, nameId);"
    "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid, "
    "textId);";

static const char ROWS[] =
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
    " (1500,2500,0,7,1,9,1,2,3,4,5,6,7,8,16,32);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000,1400,50331653,1,2);"
    "INSERT INTO NVTX_EVENTS VALUES (900,3000,59,'step 4',50331653,NULL),"
    " (950,2900,59,'aten::mm, op_id = 1, sizes = [[2,3]]',50331653,NULL),"
    " (10,20,34,'a mark',1,NULL), (10,NULL,59,'no end',1,NULL);";

/* A new database of these statements; its path stays until the next. */
static const char *made(const char *tables, const char *rows)
{
    static char path[64];
    sqlite3 *db;
    int file;

    snprintf(path, sizeof(path), "msim-nsys-XXXXXX");
    file = mkstemp(path);
    if (file >= 0)
        close(file);
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, tables, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    return path;
}

static enum msim_status status_of(const char *path, char why[256])
{
    struct msim_error err = {0};
    size_t size;
    char *text;
    enum msim_status status = msim_nsys_read(&text, &size, path, 1 << 24, &err);

    snprintf(why, 256, "%.255s", err.text);
    CHECK((status == MSIM_OK) == (text != NULL));
    free(text);
    return status;
}

static void refused(const char *tables, const char *rows, enum msim_status want,
                    const char *because)
{
    const char *path = made(tables, rows);
    char why[256];

    CHECK_INT(status_of(path, why), want);
    if (!strstr(why, because))
        CHECK_STR(why, because);
    unlink(path);
}

static const cJSON *event(const cJSON *o, int i)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItem(o, "traceEvents"), i);
}

static const char *text_at(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItem(o, key)->valuestring;
}

static void test_nsys__events(void)
{
    const char *path = made(TABLES, ROWS);
    struct msim_error err = {0};
    size_t size;
    char *text;
    const cJSON *args;
    cJSON *o;

    CHECK(msim_nsys_is(path));
    REQUIRE(msim_nsys_read(&text, &size, path, 1 << 20, &err) == MSIM_OK);
    o = cJSON_ParseWithLength(text, size);
    REQUIRE(o);
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(o, "traceEvents")), 4);
    CHECK_STR(text_at(event(o, 0), "name"), "ProfilerStep#4");
    CHECK_STR(text_at(event(o, 1), "name"), "aten::mm");
    args = cJSON_GetObjectItem(event(o, 1), "args");
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(args, "Input Dims")), 1);
    CHECK_STR(text_at(event(o, 2), "name"), "launch");
    CHECK_INT(cJSON_GetObjectItem(event(o, 2), "tid")->valueint, 5);
    CHECK_INT(cJSON_GetObjectItem(event(o, 2), "pid")->valueint, 3);
    CHECK_STR(text_at(event(o, 3), "name"), "</script>\"gemm");
    CHECK_REL(cJSON_GetObjectItem(event(o, 3), "ts")->valuedouble, 1.5, 1e-12);
    args = cJSON_GetObjectItem(event(o, 3), "args");
    CHECK_INT(cJSON_GetObjectItem(args, "shared memory")->valueint, 48);
    cJSON_Delete(o);
    free(text);
    CHECK_INT(msim_nsys_read(&text, &size, path, 300, &err), MSIM_ELIMIT);
    unlink(path);
}

static void test_nsys__refused(void)
{
    refused("CREATE TABLE t (a);", "", MSIM_EFORMAT, "without kernels");
    refused("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end);", "",
            MSIM_EFORMAT, "CUPTI_ACTIVITY_KIND_KERNEL");
    refused(TABLES,
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (9,2,1,1,2);",
            MSIM_EFORMAT, "want times");
    refused(TABLES,
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"
            " (0,9223372036854775807,1,1,2);",
            MSIM_EFORMAT, "want times");
    refused(TABLES,
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
            " (1,2,0,7,1,1,1,1,1,1,1,1,1,1,1,1),"
            " (1,2,0,7,1,2,1,1,1,1,1,1,1,1,1,1);",
            MSIM_EFORMAT, "2 processes");
    /* A view is no table: it would run what its maker wrote. */
    refused("CREATE TABLE StringIds (id, value);"
            "CREATE VIEW CUPTI_ACTIVITY_KIND_RUNTIME AS WITH RECURSIVE c(i) AS"
            " (SELECT 1 UNION ALL SELECT i FROM c) SELECT i AS start, i AS end,"
            " i AS globalTid, i AS correlationId, i AS nameId FROM c;",
            "", MSIM_EFORMAT, "without kernels");
    /* Names without a key: each row looks through all of them. */
    refused("CREATE TABLE StringIds (id TEXT, value);"
            "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid,"
            " textId);",
            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c"
            " WHERE i < 40000) INSERT INTO StringIds SELECT 0, 'a' FROM c;"
            "INSERT INTO NVTX_EVENTS SELECT 1, 2, 59, 'x', 1, a.rowid FROM"
            " StringIds a;",
            MSIM_OK, "");
}

/* Every byte of the file is another, one at a time, and every length. */
static void test_nsys__broken(void)
{
    const char *path = made(TABLES, ROWS);
    FILE *in = fopen(path, "rb");
    static char bytes[1 << 16];
    size_t n = in ? fread(bytes, 1, sizeof(bytes), in) : 0;
    char why[256];

    if (in)
        fclose(in);
    REQUIRE(n > 4096 && n < sizeof(bytes));
    for (size_t i = 0; i < n; i += i < 4200 ? 7 : 13) {
        char kept = bytes[i];
        FILE *out = fopen(path, "wb");
        size_t cut = i % 2 ? n : i;
        enum msim_status status;

        REQUIRE(out);
        bytes[i] = (char)(kept ^ (1 << i % 8 | 0x40));
        fwrite(bytes, 1, cut, out);
        fclose(out);
        bytes[i] = kept;
        status = status_of(path, why);
        CHECK(status == MSIM_OK || status == MSIM_EFORMAT ||
              status == MSIM_ELIMIT);
        CHECK(status == MSIM_OK || why[0]);
    }
    unlink(path);
}
#endif

int main(void)
{
    RUN(test_nsys__steps);
    RUN(test_nsys__operators);
    RUN(test_nsys__calls);
#if __has_include(<sqlite3.h>)
    RUN(test_nsys__events);
    RUN(test_nsys__refused);
    RUN(test_nsys__broken);
#endif
    return check_summary();
}

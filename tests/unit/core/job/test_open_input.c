/*
 * tests/unit/core/job/test_open_input.c - a job's file as bytes, and how much
 * memory there is for what a database becomes.
 */
#include "core/job/memory.h"
#include "core/job/open_input.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-open-XXXXXX";

/* ---- memory -------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

/* 64 MiB more once they are written, and no more than twice that. */
static void test_open_input__memory(void)
{
    uint64_t before = msim_memory_used(), after;
    uint64_t all =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    volatile char *block = malloc(64 * MIB);

    REQUIRE(block != NULL);
    for (size_t i = 0; i < 64 * MIB; i += 1024)
        block[i] = 1;
    after = msim_memory_used();
    CHECK(after > before + 60 * MIB);
    CHECK(after < before + 128 * MIB);
    CHECK_UINT(msim_memory_there(), all);
    CHECK(after < all);
    free((void *)block);
}

/* ---- files --------------------------------------------------------------- */

/* What an input that was opened holds, "" where that failed; closes all. */
static const char *content(struct msim_input *in, char *text)
{
    static char got[256];
    struct msim_error err = {0};
    const char *bytes;
    size_t n = 0, used = 0;

    got[0] = '\0';
    while (in && msim_input_next(in, &bytes, &n, &err) == MSIM_OK && n) {
        if (n > sizeof(got) - 1 - used)
            n = sizeof(got) - 1 - used;
        memcpy(got + used, bytes, n);
        used += n;
        got[used] = '\0';
        if (used == sizeof(got) - 1)
            break;
    }
    msim_input_close(in);
    free(text);
    return got;
}

static void test_open_input__bytes_and_files(void)
{
    for (uint32_t threads = 0; threads < 3; threads++) {
        const struct msim_load_options opt = {.threads = threads};
        const struct msim_job_text of[] = {
            {.name = "a name", .bytes = "of bytes", .len = 8}, {.name = path}};
        struct msim_error err = {0};
        struct msim_input *in;
        char *text;
        FILE *f = fopen(path, "w");

        REQUIRE(f != NULL);
        fputs("of a file", f);
        fclose(f);
        for (int i = 0; i < 2; i++) {
            CHECK_INT(msim_open_input(&in, &text, &of[i], &opt, &err), MSIM_OK);
            CHECK(text == NULL);
            CHECK_STR(msim_input_name(in), of[i].name);
            CHECK_STR(content(in, text), i ? "of a file" : "of bytes");
        }
    }
}

static void test_open_input__no_file(void)
{
    const struct msim_job_text of = {.name = "/nowhere/at/all"};
    const struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_input *in;
    char *text;

    CHECK_INT(msim_open_input(&in, &text, &of, &opt, &err), MSIM_EIO);
    CHECK(in == NULL && text == NULL);
}

/* ---- databases ----------------------------------------------------------- */

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

static void make_database(const char *sql)
{
    sqlite3 *db = NULL;

    unlink(path);
    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

/* It becomes events, in as many bytes as there may be; other databases are
 * refused. */
static void test_open_input__databases(void)
{
    static const struct {
        const char *sql;
        uint64_t memory;
        enum msim_status status;
    } ROWS[] = {
        {"CREATE TABLE other (a);", 0, MSIM_EFORMAT},
        {"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
         "INSERT INTO StringIds VALUES (1, 'launch');"
         "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, "
         "correlationId, nameId);"
         "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000,1400,1,1,1);",
         0, MSIM_OK},
        {NULL, 1 << 20, MSIM_OK}, /* the same */
        {NULL, 16, MSIM_ELIMIT},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        const struct msim_load_options opt = {.threads = 1,
                                              .memory = ROWS[i].memory};
        const struct msim_job_text of = {.name = path};
        struct msim_error err = {0};
        struct msim_input *in;
        char *text;

        if (ROWS[i].sql)
            make_database(ROWS[i].sql);
        CHECK_INT(msim_open_input(&in, &text, &of, &opt, &err), ROWS[i].status);
        CHECK((in != NULL) == (ROWS[i].status == MSIM_OK));
        CHECK((text != NULL) == (ROWS[i].status == MSIM_OK));
        if (in)
            CHECK_STR(msim_input_name(in), path);
        CHECK((strstr(content(in, text), "{") != NULL) ==
              (ROWS[i].status == MSIM_OK));
    }
}
#else
static void test_open_input__databases(void)
{
    SKIP("no SQLite");
}
#endif

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_open_input__memory);
    RUN(test_open_input__bytes_and_files);
    RUN(test_open_input__no_file);
    RUN(test_open_input__databases);
    CHECK(unlink(path) == 0);
    return check_summary();
}

/*
 * tests/unit/core/job/test_job_inputs.c - a job's file as bytes, how much
 * memory there is for what a database becomes, and files read by threads.
 */
#include "core/job/job_internal.h"
#include "core/stream/input.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = P_tmpdir "/msim-open-XXXXXX";

/* ---- memory -------------------------------------------------------------- */

#define MIB ((size_t)1 << 20)

/* 64 MiB more once they are written, and no more than twice that. */
static void test_job_inputs__memory(void)
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

static void test_job_inputs__bytes_and_files(void)
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

static void test_job_inputs__no_file(void)
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
static void test_job_inputs__databases(void)
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
static void test_job_inputs__databases(void)
{
    SKIP("no SQLite");
}
#endif

/* ---- all of them --------------------------------------------------------- */

#define MANY 40

struct taken {
    uint32_t n, ends_at; /* at which number taking fails */
    uint32_t names[MANY];
    struct msim_strtab *strings;
    struct msim_trace *traces[MANY];
};

/* Number 7 is broken, number 9 no trace; the others have an operator each. */
static enum msim_status take(void *ctx, uint32_t i, enum msim_status status,
                             struct msim_read_result *read,
                             struct msim_error *err)
{
    struct taken *t = ctx;
    char want[32];

    CHECK_UINT(i, t->n++);
    CHECK_INT(status, i == 7 ? MSIM_ETRUNCATED : MSIM_OK);
    CHECK((err->text[0] != '\0') == (i == 7));
    CHECK((read->trace == NULL) == (i == 7 || i == 9));
    if (read->trace) {
        snprintf(want, sizeof(want), "op %u", i % 30);
        CHECK(read->trace->strings == t->strings);
        t->names[i] = read->trace->ops[0].name;
        CHECK_STR(msim_strtab_text(t->strings, t->names[i]), want);
        t->traces[i] = read->trace;
        read->trace = NULL;
    }
    return i == t->ends_at ? MSIM_ECHECK : MSIM_OK;
}

static enum msim_status read_many(struct taken *t, uint32_t threads,
                                  uint32_t ends_at)
{
    struct msim_job_text of[MANY];
    const struct msim_load_options opt = {.threads = threads};
    char texts[MANY][256];
    enum msim_status status;

    *t = (struct taken){.ends_at = ends_at};
    CHECK_INT(msim_strtab_new(&t->strings), MSIM_OK);
    for (uint32_t i = 0; i < MANY; i++) {
        int n = snprintf(texts[i], sizeof(texts[i]),
                         i == 9 ? "{\"a\":%u}"
                                : "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":"
                                  "\"cpu_op\",\"name\":\"op %u\",\"pid\":9,"
                                  "\"tid\":1,\"ts\":1,\"dur\":2}]}",
                         i % 30);

        of[i] = (struct msim_job_text){"text", texts[i],
                                       (size_t)(i == 7 ? n - 2 : n)};
    }
    status = msim_job_inputs_read(of, MANY, t->strings, &opt, take, t);
    for (uint32_t i = 0; i < MANY; i++)
        msim_trace_free(t->traces[i]);
    return status;
}

/* In order, and with the same numbers of texts, however many threads read; what
 * comes behind a failure is not taken. */
static void test_job_inputs__any_threads(void)
{
    struct taken one, some;

    CHECK_INT(read_many(&one, 1, MANY), MSIM_OK);
    CHECK_UINT(one.n, MANY);
    for (uint32_t threads = 0; threads < 6; threads++) {
        CHECK_INT(read_many(&some, threads, MANY), MSIM_OK);
        CHECK(memcmp(some.names, one.names, sizeof(one.names)) == 0);
        CHECK_UINT(some.n, MANY);
        msim_strtab_free(some.strings);
        CHECK_INT(read_many(&some, threads, 11), MSIM_ECHECK);
        CHECK_UINT(some.n, 12);
        msim_strtab_free(some.strings);
    }
    msim_strtab_free(one.strings);
}

struct seen {
    uint64_t done, total;
};

static void see(void *ctx, uint64_t done, uint64_t total)
{
    struct seen *s = ctx;

    CHECK(done >= s->done && done <= total);
    *s = (struct seen){done, total};
}

static enum msim_status leave(void *ctx, uint32_t i, enum msim_status status,
                              struct msim_read_result *read,
                              struct msim_error *err)
{
    (void)ctx, (void)i, (void)read, (void)err;
    return status;
}

/* Of several inputs progress counts the bytes of all. */
static void test_job_inputs__progress(void)
{
    static const char TEXT[] = "{\"traceEvents\":[]}";
    const struct msim_job_text of[] = {{"a", TEXT, sizeof(TEXT) - 1},
                                       {"b", TEXT, sizeof(TEXT) - 1}};
    struct msim_strtab *strings;

    REQUIRE(msim_strtab_new(&strings) == MSIM_OK);
    for (uint32_t threads = 1; threads < 3; threads++)
        for (uint32_t n = 1; n < 3; n++) {
            struct seen s = {0};
            const struct msim_load_options opt = {
                .threads = threads, .progress = see, .progress_ctx = &s};

            CHECK_INT(msim_job_inputs_read(of, n, strings, &opt, leave, NULL),
                      MSIM_OK);
            CHECK_UINT(s.done, n * (sizeof(TEXT) - 1));
            CHECK_UINT(s.total, n * (sizeof(TEXT) - 1));
        }
    msim_strtab_free(strings);
}

int main(void)
{
    int fd = mkstemp(path);

    if (fd < 0)
        return 1;
    close(fd);
    RUN(test_job_inputs__memory);
    RUN(test_job_inputs__bytes_and_files);
    RUN(test_job_inputs__no_file);
    RUN(test_job_inputs__databases);
    RUN(test_job_inputs__any_threads);
    RUN(test_job_inputs__progress);
    CHECK(unlink(path) == 0);
    return check_summary();
}

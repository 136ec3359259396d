/*
 * core/read/nsys/nsys.c - SQLite exports of Nsight Systems as traces.
 */
#include "core/read/nsys/nsys.h"

#include "core/base/json.h"
#include "core/read/nsys/nsys_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool msim_nsys_is(const char *path)
{
    static const char MAGIC[16] = "SQLite format 3";
    struct stat st;
    char head[sizeof(MAGIC)];
    FILE *in = NULL;
    bool is;

    /* What comes through a pipe comes but once, and a database needs more. */
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        in = fopen(path, "rb");
    if (!in)
        return false;
    is = fread(head, 1, sizeof(head), in) == sizeof(head) &&
         memcmp(head, MAGIC, sizeof(head)) == 0;
    fclose(in);
    return is;
}

#ifndef MSIM_SQLITE
enum msim_status msim_nsys_read(char **text, size_t *size, const char *path,
                                size_t most, struct msim_error *err)
{
    (void)most;
    *text = NULL;
    *size = 0;
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                     "is an SQLite database, and this program was built "
                     "without SQLite (Debian: libsqlite3-dev)");
}
#else
#include <sqlite3.h>
#include <sys/stat.h>

#define TIME_MAX  ((int64_t)1 << 53) /* ns: a hundred days */
#define WORK_BYTE 400                /* steps of SQLite a byte of the file */
#define WORK_MORE 20000000
#define WORK_LOOK 10000 /* steps from look to look */
#define TEXT_MAX  (1 << 20)

struct nsys {
    sqlite3 *db;
    struct msim_json j;
    const char *path;
    struct msim_error *err;
    size_t most;
    int64_t work;     /* steps that are left, in WORK_LOOK */
    char *text;       /* heap */
    size_t size, cap; /* of it */
    bool too_long;
    int word; /* that names steps; -1: none so far */
};

struct table {
    const char *name, *sql;
    enum msim_status (*put)(struct nsys *x, sqlite3_stmt *row);
    uint64_t rows;
};

/* ---- what comes out ------------------------------------------------------ */

static enum msim_status sink(void *ctx, const char *bytes, size_t n)
{
    struct nsys *x = ctx;

    if (n > x->most - x->size) {
        x->too_long = true;
        return MSIM_ELIMIT;
    }
    if (n >= x->cap - x->size) {
        size_t cap = 2 * x->cap + n + 4096;
        char *more = realloc(x->text, cap);

        if (!more)
            return MSIM_ENOMEM;
        x->text = more;
        x->cap = cap;
    }
    memcpy(x->text + x->size, bytes, n);
    x->size += n;
    x->text[x->size] = '\0';
    return MSIM_OK;
}

static void open_event(struct nsys *x, const char *category, const char *name,
                       int64_t pid, int64_t tid)
{
    msim_json_open(&x->j, NULL, '{', false);
    msim_json_text(&x->j, "ph", "X");
    msim_json_text(&x->j, "cat", category);
    msim_json_text(&x->j, "name", name);
    msim_json_integer(&x->j, "pid", pid);
    msim_json_integer(&x->j, "tid", tid);
}

/* SQLite keeps a text in a column of integers, and reads it as 0. */
static bool is_number(sqlite3_stmt *row, int column)
{
    int type = sqlite3_column_type(row, column);

    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* Of every table the first two columns are begin and end, in ns. */
static enum msim_status put_times(struct nsys *x, sqlite3_stmt *row,
                                  const char *table)
{
    int64_t start = sqlite3_column_int64(row, 0);
    int64_t end = sqlite3_column_int64(row, 1);

    if (!is_number(row, 0) || !is_number(row, 1))
        return msim_fail(x->err, MSIM_EFORMAT, x->path, MSIM_OFFSET_NONE,
                         "a row of %s has a time that is no number, want ns",
                         table);
    if (start < 0 || end < start || end > TIME_MAX)
        return msim_fail(x->err, MSIM_EFORMAT, x->path, MSIM_OFFSET_NONE,
                         "a row of %s is from %lld to %lld ns, want times from "
                         "0 on, in that order",
                         table, (long long)start, (long long)end);
    msim_json_time(&x->j, "ts", start * 1000);
    msim_json_time(&x->j, "dur", (end - start) * 1000);
    return MSIM_OK;
}

static const char *text_of(sqlite3_stmt *row, int column, const char *without)
{
    const unsigned char *text = sqlite3_column_text(row, column);

    return text && *text ? (const char *)text : without;
}

/* The bits of a global id: hardware, virtual machine, process, thread. */
static int64_t process_of(int64_t global)
{
    return global >> 24 & 0xffffff;
}

static int64_t thread_of(int64_t global)
{
    return global & 0xffffff;
}

static void put_three(struct nsys *x, const char *key, sqlite3_stmt *row,
                      int first)
{
    msim_json_open(&x->j, key, '[', false);
    for (int i = 0; i < 3; i++)
        msim_json_integer(&x->j, NULL, sqlite3_column_int64(row, first + i));
    msim_json_close(&x->j);
}

/* The columns 2 to 4 of all activities: device, stream, correlation. */
static void open_activity(struct nsys *x, const char *category,
                          const char *name, sqlite3_stmt *row)
{
    open_event(x, category, name, sqlite3_column_int64(row, 2),
               sqlite3_column_int64(row, 3));
}

static void open_args(struct nsys *x, sqlite3_stmt *row)
{
    msim_json_open(&x->j, "args", '{', false);
    msim_json_integer(&x->j, "device", sqlite3_column_int64(row, 2));
    msim_json_integer(&x->j, "stream", sqlite3_column_int64(row, 3));
    msim_json_integer(&x->j, "correlation", sqlite3_column_int64(row, 4));
}

static void close_event(struct nsys *x)
{
    msim_json_close(&x->j);
    msim_json_close(&x->j);
}

/* ---- tables -------------------------------------------------------------- */

static enum msim_status put_kernel(struct nsys *x, sqlite3_stmt *row)
{
    open_activity(x, "kernel", text_of(row, 13, "kernel without a name"), row);
    MSIM_TRY(put_times(x, row, "CUPTI_ACTIVITY_KIND_KERNEL"));
    open_args(x, row);
    put_three(x, "grid", row, 5);
    put_three(x, "block", row, 8);
    msim_json_integer(&x->j, "registers per thread",
                      sqlite3_column_int64(row, 11));
    msim_json_integer(&x->j, "shared memory", sqlite3_column_int64(row, 12));
    close_event(x);
    return MSIM_OK;
}

static enum msim_status put_copy(struct nsys *x, sqlite3_stmt *row)
{
    static const char *const NAMES[] = {[1] = "Memcpy HtoD",
                                        [2] = "Memcpy DtoH",
                                        [8] = "Memcpy DtoD",
                                        [10] = "Memcpy PtoP"};
    int64_t kind = sqlite3_column_int64(row, 6);
    const char *name = kind >= 0 && kind <= 10 ? NAMES[kind] : NULL;

    open_activity(x, "gpu_memcpy", name ? name : "Memcpy", row);
    MSIM_TRY(put_times(x, row, "CUPTI_ACTIVITY_KIND_MEMCPY"));
    open_args(x, row);
    msim_json_integer(&x->j, "bytes", sqlite3_column_int64(row, 5));
    close_event(x);
    return MSIM_OK;
}

static enum msim_status put_set(struct nsys *x, sqlite3_stmt *row)
{
    open_activity(x, "gpu_memset", "Memset (Device)", row);
    MSIM_TRY(put_times(x, row, "CUPTI_ACTIVITY_KIND_MEMSET"));
    open_args(x, row);
    msim_json_integer(&x->j, "bytes", sqlite3_column_int64(row, 5));
    close_event(x);
    return MSIM_OK;
}

static void put_name(struct nsys *x, const char *category, const char *text,
                     size_t n, int64_t global)
{
    char *name = strndup(text, n);

    open_event(x, category, name ? name : "", process_of(global),
               thread_of(global));
    free(name);
}

static enum msim_status put_call(struct nsys *x, sqlite3_stmt *row)
{
    const char *name = text_of(row, 4, "call without a name");

    put_name(x, "cuda_runtime", name, msim_nsys_call(name),
             sqlite3_column_int64(row, 2));
    MSIM_TRY(put_times(x, row, "CUPTI_ACTIVITY_KIND_RUNTIME"));
    msim_json_open(&x->j, "args", '{', false);
    msim_json_integer(&x->j, "correlation", sqlite3_column_int64(row, 3));
    close_event(x);
    return MSIM_OK;
}

static void open_step(struct nsys *x, long long step, int64_t global)
{
    char name[48];

    snprintf(name, sizeof(name), "ProfilerStep#%lld", step);
    put_name(x, "user_annotation", name, strlen(name), global);
}

/* An operator, a step or a label; steps are named by one word. */
static enum msim_status put_range(struct nsys *x, sqlite3_stmt *row)
{
    const char *text = text_of(row, 3, "range without a name");
    int64_t global = sqlite3_column_int64(row, 2);
    struct msim_nsys_op op;
    int word = -1;
    long long step = msim_nsys_step(text, &word);

    if (step >= 0 && (x->word < 0 || x->word == word)) {
        x->word = word;
        open_step(x, step, global);
    } else if (msim_nsys_op_find(&op, text)) {
        put_name(x, "cpu_op", text, op.name, global);
    } else {
        op = (struct msim_nsys_op){0};
        put_name(x, "user_annotation", text, strlen(text), global);
    }
    MSIM_TRY(put_times(x, row, "NVTX_EVENTS"));
    msim_json_open(&x->j, "args", '{', false);
    if (step < 0 && op.sizes) {
        char *sizes = strndup(op.sizes, op.n_sizes);

        msim_json_value(&x->j, "Input Dims", sizes);
        free(sizes);
    }
    close_event(x);
    return MSIM_OK;
}

static enum msim_status put_gpu(struct nsys *x, sqlite3_stmt *row)
{
    msim_json_open(&x->j, NULL, '{', false);
    msim_json_integer(&x->j, "id", sqlite3_column_int64(row, 0));
    msim_json_text(&x->j, "name", text_of(row, 1, NULL));
    msim_json_integer(&x->j, "totalGlobalMem", sqlite3_column_int64(row, 2));
    msim_json_integer(&x->j, "numSms", sqlite3_column_int64(row, 3));
    msim_json_close(&x->j);
    return MSIM_OK;
}

/* ---- the database -------------------------------------------------------- */

static int look(void *ctx)
{
    struct nsys *x = ctx;

    return --x->work < 0;
}

static enum msim_status broken(struct nsys *x, const char *table)
{
    int code = sqlite3_errcode(x->db) & 0xff;

    if (code == SQLITE_NOMEM)
        return MSIM_ENOMEM;
    if (code == SQLITE_INTERRUPT)
        return msim_fail(x->err, MSIM_ELIMIT, x->path, MSIM_OFFSET_NONE,
                         "%s takes more work than a table of a file of this "
                         "size: it is none of Nsight Systems",
                         table);
    return msim_fail(x->err, MSIM_EFORMAT, x->path, MSIM_OFFSET_NONE,
                     "cannot read %s: %s; want an export of Nsight Systems "
                     "(nsys export --type sqlite)",
                     table, sqlite3_errmsg(x->db));
}

static enum msim_status is_there(struct nsys *x, const char *table, bool *is)
{
    sqlite3_stmt *row;
    int rc;

    *is = false;
    if (sqlite3_prepare_v2(x->db,
                           "SELECT 1 FROM sqlite_master WHERE type='table' "
                           "AND name=?",
                           -1, &row, NULL) != SQLITE_OK)
        return broken(x, "its tables");
    rc = sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(row);
    *is = rc == SQLITE_ROW;
    if (sqlite3_finalize(row) != SQLITE_OK)
        return broken(x, "its tables");
    return MSIM_OK;
}

/* Tables are made only where there is something to put in. */
static enum msim_status put_table(struct nsys *x, struct table *t)
{
    sqlite3_stmt *row;
    enum msim_status status = MSIM_OK;
    bool is;
    int rc;

    MSIM_TRY(is_there(x, t->name, &is));
    if (!is)
        return MSIM_OK;
    if (sqlite3_prepare_v2(x->db, t->sql, -1, &row, NULL) != SQLITE_OK)
        return broken(x, t->name);
    while ((rc = sqlite3_step(row)) == SQLITE_ROW && status == MSIM_OK) {
        status = t->put(x, row);
        if (status == MSIM_OK)
            status = x->j.status;
        t->rows++;
    }
    if (status == MSIM_OK && rc != SQLITE_DONE)
        status = broken(x, t->name);
    sqlite3_finalize(row);
    return status;
}

#define NAMED(column) " LEFT JOIN StringIds s ON s.id = " column

static enum msim_status put_events(struct nsys *x, uint64_t *rows)
{
    struct table tables[] = {
        {"NVTX_EVENTS",
         "SELECT e.start, e.end, e.globalTid, coalesce(e.text, s.value) FROM "
         "NVTX_EVENTS e" NAMED("e.textId") " WHERE e.eventType IN (59, 60) AND "
                                           "e.end IS NOT NULL",
         put_range, 0},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         "SELECT r.start, r.end, r.globalTid, r.correlationId, s.value FROM "
         "CUPTI_ACTIVITY_KIND_RUNTIME r" NAMED("r.nameId"),
         put_call, 0},
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         "SELECT k.start, k.end, k.deviceId, k.streamId, k.correlationId, "
         "k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, "
         "k.registersPerThread, k.staticSharedMemory + k.dynamicSharedMemory, "
         "s.value FROM CUPTI_ACTIVITY_KIND_KERNEL k" NAMED("k.demangledName"),
         put_kernel, 0},
        {"CUPTI_ACTIVITY_KIND_MEMCPY",
         "SELECT start, end, deviceId, streamId, correlationId, bytes, "
         "copyKind FROM CUPTI_ACTIVITY_KIND_MEMCPY",
         put_copy, 0},
        {"CUPTI_ACTIVITY_KIND_MEMSET",
         "SELECT start, end, deviceId, streamId, correlationId, bytes FROM "
         "CUPTI_ACTIVITY_KIND_MEMSET",
         put_set, 0}};

    msim_json_open(&x->j, "traceEvents", '[', true);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        MSIM_TRY(put_table(x, &tables[i]));
        *rows += tables[i].rows;
    }
    msim_json_close(&x->j);
    return MSIM_OK;
}

static enum msim_status put_gpus(struct nsys *x)
{
    struct table gpus = {
        "TARGET_INFO_GPU",
        "SELECT id, name, totalMemory, smCount FROM TARGET_INFO_GPU", put_gpu,
        0};

    msim_json_open(&x->j, "deviceProperties", '[', true);
    MSIM_TRY(put_table(x, &gpus));
    msim_json_close(&x->j);
    return MSIM_OK;
}

/* One process is one rank. */
static enum msim_status check_processes(struct nsys *x)
{
    static const char KERNELS[] = "CUPTI_ACTIVITY_KIND_KERNEL";
    sqlite3_stmt *row;
    int64_t n = 0;
    bool is;

    MSIM_TRY(is_there(x, KERNELS, &is));
    if (!is)
        return MSIM_OK;
    if (sqlite3_prepare_v2(x->db,
                           "SELECT count(DISTINCT globalPid) FROM "
                           "CUPTI_ACTIVITY_KIND_KERNEL",
                           -1, &row, NULL) != SQLITE_OK)
        return broken(x, KERNELS);
    if (sqlite3_step(row) == SQLITE_ROW)
        n = sqlite3_column_int64(row, 0);
    if (sqlite3_finalize(row) != SQLITE_OK)
        return broken(x, KERNELS);
    if (n <= 1)
        return MSIM_OK;
    return msim_fail(x->err, MSIM_EFORMAT, x->path, MSIM_OFFSET_NONE,
                     "holds the kernels of %lld processes, want one: record "
                     "each rank by 'nsys profile' of its own (torchrun "
                     "--no-python nsys profile -o rank-%%q{RANK} python ...)",
                     (long long)n);
}

static enum msim_status put_all(struct nsys *x)
{
    uint64_t rows = 0;
    enum msim_status status;

    MSIM_TRY(check_processes(x));
    msim_json_begin(&x->j, sink, x);
    msim_json_open(&x->j, NULL, '{', true);
    msim_json_integer(&x->j, "schemaVersion", 1);
    MSIM_TRY(put_gpus(x));
    MSIM_TRY(put_events(x, &rows));
    msim_json_close(&x->j);
    status = msim_json_end(&x->j);
    if (status == MSIM_OK && !rows)
        return msim_fail(x->err, MSIM_EFORMAT, x->path, MSIM_OFFSET_NONE,
                         "is an SQLite database without kernels, calls or "
                         "ranges of Nsight Systems; want what 'nsys export "
                         "--type sqlite' writes of a report with CUDA");
    return status;
}

/* "file:PATH?immutable=1": no lock, no journal, nothing is written. */
static char *address_of(const char *path)
{
    static const char DIGITS[] = "0123456789abcdef";
    char *text = malloc(3 * strlen(path) + 32), *to = text;

    if (!text)
        return NULL;
    to = stpcpy(to, "file:");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (strchr("?#%", c)) {
            *to++ = '%';
            *to++ = DIGITS[c >> 4];
            *to++ = DIGITS[c & 15];
        } else {
            *to++ = (char)c;
        }
    }
    memcpy(to, "?immutable=1", 13);
    return text;
}

static int64_t size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 0 ? status.st_size : 0;
}

static enum msim_status open_database(struct nsys *x)
{
    char *address = address_of(x->path);
    int rc;

    if (!address)
        return MSIM_ENOMEM;
    rc = sqlite3_open_v2(
        address, &x->db,
        SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    free(address);
    if (rc != SQLITE_OK)
        return x->db ? broken(x, "the database") : MSIM_ENOMEM;
    sqlite3_db_config(x->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(x->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(x->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_limit(x->db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    sqlite3_limit(x->db, SQLITE_LIMIT_ATTACHED, 0);
    x->work = (WORK_BYTE * size_of(x->path) + WORK_MORE) / WORK_LOOK;
    sqlite3_progress_handler(x->db, WORK_LOOK, look, x);
    if (sqlite3_exec(x->db, "PRAGMA cell_size_check=ON; PRAGMA temp_store=2",
                     NULL, NULL, NULL) != SQLITE_OK)
        return broken(x, "the database");
    return MSIM_OK;
}

enum msim_status msim_nsys_read(char **text, size_t *size, const char *path,
                                size_t most, struct msim_error *err)
{
    struct nsys x = {.path = path, .err = err, .most = most, .word = -1};
    enum msim_status status = open_database(&x);

    *text = NULL;
    *size = 0;
    if (status == MSIM_OK)
        status = put_all(&x);
    sqlite3_close(x.db);
    if (status == MSIM_OK) {
        *text = x.text;
        *size = x.size;
        return MSIM_OK;
    }
    free(x.text);
    if (x.too_long)
        return msim_fail(err, MSIM_ELIMIT, path, MSIM_OFFSET_NONE,
                         "its events take more than half of this machine's "
                         "memory; export a part of the report");
    return status == MSIM_ENOMEM
               ? msim_fail(err, status, path, MSIM_OFFSET_NONE, "out of memory")
               : status;
}
#endif

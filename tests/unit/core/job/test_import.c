/*
 * tests/unit/core/job/test_import.c - what became of the records of files, and
 * what is said of it.
 */
#include "core/job/job.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_job *make(void)
{
    struct msim_job *job = calloc(1, sizeof(*job));

    if (!CHECK(job != NULL))
        abort();
    msim_arena_init(&job->arena);
    CHECK_INT(msim_strtab_new(&job->strings), MSIM_OK);
    return job;
}

static uint32_t name(struct msim_job *job, const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(job->strings, text, strlen(text), &id), MSIM_OK);
    return id;
}

static void check_warned(const struct msim_job *job, uint32_t n,
                         const char *last)
{
    CHECK_UINT(job->n_warnings, n);
    if (n && job->n_warnings == n)
        CHECK_STR(job->warnings[n - 1], last);
}

/* ---- of a whole file ----------------------------------------------------- */

static void test_import__of_a_sound_file(void)
{
    struct msim_read_result read = {.rank = 1};
    struct msim_import_log log = {.read = 0}, none = {.read = 0};
    struct msim_job *job = make();

    CHECK_INT(msim_import_of_file(&read, job->strings, &log), MSIM_OK);
    CHECK(memcmp(&log, &none, sizeof(log)) == 0);
    msim_import_warn_file(job, "a.json", &read);
    check_warned(job, 0, NULL);
    msim_job_free(job);
}

static void check_count(const struct msim_import_log *log,
                        enum msim_import_kind kind, uint64_t n, int64_t byte,
                        const char *example, const struct msim_job *job)
{
    const struct msim_import_count *c = &log->rows[kind];

    CHECK_UINT(c->n, n);
    CHECK_INT(c->has_byte, byte >= 0);
    if (byte >= 0)
        CHECK_UINT(c->byte, byte);
    CHECK_STR(msim_strtab_text(job->strings, c->example), example);
    if (n)
        CHECK_INT(c->kind, kind);
}

/* Each repair has a kind of its own, in their order. */
static void test_import__of_a_file(void)
{
    struct msim_read_result read = {
        .repairs = {.count = {2, 0, 3, 4}, .first = {70, 99, 80, 90}},
        .n_others = 3,
        .note = "2 bytes behind the end",
        .salvaged = true,
        .broken = 5,
        .damage = {.offset = 123, .text = "want ','"}};
    struct msim_import_log log = {.read = 0};
    struct msim_job *job = make();

    CHECK_INT(msim_import_of_file(&read, job->strings, &log), MSIM_OK);
    check_count(&log, MSIM_IMPORT_NUMBER, 2, 70, "", job);
    check_count(&log, MSIM_IMPORT_ESCAPE, 0, -1, "", job);
    check_count(&log, MSIM_IMPORT_CONTROL, 3, 80, "", job);
    check_count(&log, MSIM_IMPORT_UTF8, 4, 90, "", job);
    check_count(&log, MSIM_IMPORT_PROCESS, 4, -1, "", job);
    check_count(&log, MSIM_IMPORT_TAIL, 1, -1, "2 bytes behind the end", job);
    check_count(&log, MSIM_IMPORT_DAMAGE, 5, 123, "want ','", job);
    read.broken = 0; /* cut: the place where it ends */
    CHECK_INT(msim_import_of_file(&read, job->strings, &log), MSIM_OK);
    check_count(&log, MSIM_IMPORT_DAMAGE, 6, 123, "want ','", job);
    msim_job_free(job);
}

static void test_import__warns_of_a_file(void)
{
    struct msim_trace trace = {.import = {.records = 77}};
    struct msim_read_result read = {
        .trace = &trace,
        .format = MSIM_FORMAT_KINETO,
        .salvaged = true,
        .damage = {.offset = 123, .text = "want ','"}};
    struct msim_job *job = make();

    msim_import_warn_file(job, "a.json", &read);
    check_warned(job, 1,
                 "a.json:123: want ','; kept the 77 complete events before");
    read.format = MSIM_FORMAT_ET;
    read.broken = 4;
    msim_import_warn_file(job, "a.json", &read);
    check_warned(job, 2,
                 "a.json:123: want ','; kept the 77 complete nodes beside 4 "
                 "broken ones");
    read.format = MSIM_FORMAT_CHAKRA;
    msim_import_warn_file(job, "b", &read);
    check_warned(job, 3,
                 "b:123: want ','; kept the 77 complete nodes beside 4 broken "
                 "ones");
    read.salvaged = false;
    memcpy(read.note, "9 bytes behind", 15);
    msim_import_warn_file(job, "b", &read);
    check_warned(job, 4, "b: 9 bytes behind");
    msim_job_free(job);
}

static void test_import__warns_of_types(void)
{
    struct msim_read_result read = {.untyped = 6};
    struct msim_job *job = make();

    msim_import_warn_file(job, "a", &read);
    check_warned(job, 1,
                 "a: 6 tensors have no element type: it is taken from the "
                 "names of their kernels; else what reads them has a bound, "
                 "and is not covered");
    read.untyped = 0;
    read.odd_types[0] = (struct msim_odd_type){name(job, "int3"), 8};
    read.odd_types[MSIM_READ_ODD_TYPES - 1] = (struct msim_odd_type){0, 9};
    msim_import_warn_file(job, "a", &read);
    check_warned(job, 3,
                 "a: 9 tensors of other types, which is not known: what reads "
                 "them has a bound, and is not covered");
    CHECK_STR(job->warnings[1],
              "a: 8 tensors of the element type 'int3', which is not known: "
              "what reads them has a bound, and is not covered");
    msim_job_free(job);
}

/* ---- rows ---------------------------------------------------------------- */

static void check_row(const struct msim_import_row *r,
                      enum msim_import_kind kind, const char *of,
                      const char *example, uint64_t n, uint64_t us,
                      int64_t byte)
{
    CHECK(r->kind == msim_import_about(kind));
    CHECK_STR(r->name, of);
    CHECK_STR(r->example, example);
    CHECK_UINT(r->n, n);
    CHECK_UINT(r->us, us);
    CHECK_INT(r->has_byte, byte >= 0);
    if (byte >= 0)
        CHECK_UINT(r->byte, byte);
}

/* The first kind, a name behind all kinds, and nothing that is of none. */
static void fill(struct msim_job *job, struct msim_import_log *log)
{
    struct msim_import_count *c;

    *log = (struct msim_import_log){.read = 50, .records = 99};
    msim_import_add(log, MSIM_IMPORT_METADATA, 3);
    c = msim_import_add(log, MSIM_IMPORT_UNSOUND, 2);
    c->example = name(job, "event 7: 'dur' is -1");
    msim_import_at(c, 640);
    c = msim_import_add_name(log, MSIM_IMPORT_CATEGORY, name(job, "odd"));
    c->us = 12;
}

static void test_import__rows(void)
{
    struct msim_job *job = make();
    struct msim_import_log log;
    struct msim_import out;

    fill(job, &log);
    REQUIRE(msim_import_keep(job, &log, &out) == MSIM_OK);
    CHECK_UINT(out.read, 50);
    REQUIRE(out.n == 3);
    check_row(&out.rows[0], MSIM_IMPORT_METADATA, "", "", 3, 0, -1);
    check_row(&out.rows[1], MSIM_IMPORT_UNSOUND, "", "event 7: 'dur' is -1", 2,
              0, 640);
    check_row(&out.rows[2], MSIM_IMPORT_CATEGORY, "odd", "", 1, 12, -1);
    msim_job_free(job);
}

/* A copy outlives its job. */
static void test_import__copies(void)
{
    struct msim_file_info files[2] = {{.path = "a", .events = 7},
                                      {.path = "b", .events = 8, .rank = 3}};
    struct msim_file_info *copies = NULL;
    struct msim_arena arena;
    struct msim_job *job = make();
    struct msim_import_log log;

    fill(job, &log);
    REQUIRE(msim_import_keep(job, &log, &files[1].import) == MSIM_OK);
    msim_arena_init(&arena);
    REQUIRE(msim_import_copy(&arena, files, 2, &copies) == MSIM_OK);
    msim_job_free(job);
    CHECK_STR(copies[0].path, "a");
    CHECK_UINT(copies[0].events, 7);
    CHECK_UINT(copies[0].import.n, 0);
    CHECK_STR(copies[1].path, "b");
    CHECK(copies[1].path != files[1].path);
    CHECK_UINT(copies[1].events, 8);
    CHECK_INT(copies[1].rank, 0);
    CHECK_UINT(copies[1].import.read, 50);
    REQUIRE(copies[1].import.n == 3);
    check_row(&copies[1].import.rows[1], MSIM_IMPORT_UNSOUND, "",
              "event 7: 'dur' is -1", 2, 0, 640);
    check_row(&copies[1].import.rows[2], MSIM_IMPORT_CATEGORY, "odd", "", 1, 12,
              -1);
    msim_arena_release(&arena);
}

/* ---- warnings ------------------------------------------------------------ */

/* `n` files that read 10 records each, and have one row each. */
static void warn(struct msim_job *job, const struct msim_import_row *rows,
                 uint32_t n)
{
    static const char *const PATHS[] = {"a", "b", "c"};

    job->files = calloc(n, sizeof(*job->files));
    job->n_files = n;
    for (uint32_t i = 0; i < n && job->files; i++)
        job->files[i] = (struct msim_file_info){
            .path = PATHS[i], .import = {.read = 10, .rows = &rows[i], .n = 1}};
    msim_job_warn_import(job);
    free(job->files);
    job->files = NULL;
    job->n_files = 0;
}

static struct msim_import_row row_of(enum msim_import_kind kind, const char *of,
                                     uint64_t n)
{
    return (struct msim_import_row){
        .kind = msim_import_about(kind), .name = of, .example = "", .n = n};
}

static void check_said(struct msim_import_row row, const char *want)
{
    struct msim_job *job = make();

    warn(job, &row, 1);
    check_warned(job, want != NULL, want);
    msim_job_free(job);
}

static void test_import__says(void)
{
    struct msim_import_row r = row_of(MSIM_IMPORT_CATEGORY, "odd", 1);

    check_said(row_of(MSIM_IMPORT_METADATA, "", 5), NULL);
    check_said(r, "a: 1 event of category 'odd' is not read");
    r.us = 12;
    r.n = 2;
    check_said(r, "a: 2 events of category 'odd' are not read (12 us)");
    r.name = "";
    r.has_byte = true;
    r.byte = 99;
    check_said(r, "a: 2 events of category '...' are not read (12 us), the "
                  "first before byte 99");
    /* Of what is dropped it is said how many there were. */
    r = row_of(MSIM_IMPORT_UNSOUND, "", 1);
    r.example = "event 7: 'dur' is -1";
    check_said(r, "a: 1 of 11 events is left out, for it cannot be: event 7: "
                  "'dur' is -1");
    /* The place of what is put right is where it is. */
    r = row_of(MSIM_IMPORT_CONTROL, "", 2);
    r.has_byte = true;
    r.byte = 70;
    check_said(r, "a: 2 control characters in strings, the first at byte 70, "
                  "are read as ' '");
}

/* Of all files: one warning a kind, and a name. */
static void test_import__says_once(void)
{
    struct msim_import_row rows[3] = {row_of(MSIM_IMPORT_UNSOUND, "", 1),
                                      row_of(MSIM_IMPORT_UNSOUND, "", 2),
                                      row_of(MSIM_IMPORT_UNSOUND, "", 4)};
    struct msim_job *job = make();

    rows[0].example = "first";
    rows[1].example = "second";
    rows[0].us = 3;
    rows[2].us = 4;
    warn(job, rows, 3);
    check_warned(job, 1,
                 "a and 2 more: 7 of 37 events are left out, for they cannot "
                 "be (7 us): first");
    rows[0] = row_of(MSIM_IMPORT_CATEGORY, "x", 1);
    rows[1] = row_of(MSIM_IMPORT_CATEGORY, "y", 1);
    rows[2] = row_of(MSIM_IMPORT_PHASE, "y", 1);
    warn(job, rows, 3);
    check_warned(job, 4, "c: 1 event of phase 'y' is not read");
    CHECK_STR(job->warnings[1], "a: 1 event of category 'x' is not read");
    CHECK_STR(job->warnings[2], "b: 1 event of category 'y' is not read");
    msim_job_free(job);
}

/* Names are a stranger's: 64 warnings at most. */
static void test_import__says_no_more(void)
{
    struct msim_import_row rows[66];
    struct msim_file_info file = {.path = "a",
                                  .import = {.rows = rows, .n = 66}};
    char names[66][8];
    struct msim_job *job = make();

    for (uint32_t i = 0; i < 66; i++) {
        snprintf(names[i], sizeof(names[i]), "n%u", i);
        rows[i] = row_of(MSIM_IMPORT_CATEGORY, names[i], 1);
    }
    snprintf(names[65], sizeof(names[65]), "n63"); /* still counted */
    job->files = &file;
    job->n_files = 1;
    msim_job_warn_import(job);
    job->files = NULL;
    job->n_files = 0;
    check_warned(job, 64,
                 "a and 1 more: 2 events of category 'n63' are not read");
    msim_job_free(job);
}

int main(void)
{
    RUN(test_import__of_a_sound_file);
    RUN(test_import__of_a_file);
    RUN(test_import__warns_of_a_file);
    RUN(test_import__warns_of_types);
    RUN(test_import__rows);
    RUN(test_import__copies);
    RUN(test_import__says);
    RUN(test_import__says_once);
    RUN(test_import__says_no_more);
    return check_summary();
}

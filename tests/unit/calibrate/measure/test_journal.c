/*
 * The journal of a calibration: what was added is there after whatever ended
 * it, once.
 */
#include "calibrate/measure/journal.h"
#include "tests/check.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool make_path(char path[64])
{
    int fd;

    snprintf(path, 64, "msim-test-journal-XXXXXX");
    fd = mkstemp(path);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static enum msim_status add(struct msim_cal_journal *j, const char *backend,
                            int m, double us)
{
    struct msim_cal_experiment e = {
        .timed = {.table = MSIM_TABLE_GEMM,
                  .dtype_word = "fp32",
                  .work.u.gemm = {.m = m, .n = 2, .k = 3, .batch = 1}}};
    cJSON *answer = cJSON_CreateObject();

    if (us > 0)
        cJSON_AddNumberToObject(answer, "time_us", us);
    else
        cJSON_AddStringToObject(answer, "error", "no");
    return msim_cal_journal_add(j, backend, &e, answer, 0.5, NULL);
}

static void append_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");

    if (!f)
        return;
    fputs(text, f);
    fclose(f);
}

static void test_journal__goes_on(void)
{
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK(msim_cal_journal_greet(&j, "b", cJSON_Parse("{\"device\":{}}"),
                                 NULL) == MSIM_OK);
    CHECK(add(&j, "b", 1, 10) == MSIM_OK);
    CHECK(add(&j, "b", 2, 0) == MSIM_OK);
    CHECK(add(&j, "c", 1, 30) == MSIM_OK); /* another backend: another row */
    CHECK(msim_cal_journal_fitted(&j, "b", 2, NULL) == MSIM_OK);
    CHECK_UINT(j.n, 3);
    msim_cal_journal_close(&j);

    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK_UINT(j.n, 3);
    CHECK_UINT(j.torn, 0);
    CHECK(msim_cal_entry_is_row(&j.entries[0]));
    CHECK(!msim_cal_entry_is_row(&j.entries[1]));
    CHECK(msim_cal_journal_find(&j, j.entries[2].hash) == &j.entries[2]);
    CHECK(msim_cal_journal_find(&j, 1) == NULL);
    CHECK(msim_cal_journal_greeting(&j, "b") != NULL);
    CHECK(msim_cal_journal_greeting(&j, "c") == NULL);
    CHECK_REL(msim_cal_journal_seconds(&j, "b"), 3, 1e-12);
    CHECK_REL(msim_cal_journal_seconds(&j, NULL), 3.5, 1e-12);
    msim_cal_journal_close(&j);
    unlink(path);
}

/* A line is cut wherever it may be: all before it stay, and what is added then
 * is a line of its own. */
static void test_journal__survives_a_torn_line(void)
{
    static const char *const TORN[] = {
        "{", "{\"backend\":\"b\",\"seconds\":0.5,\"experiment\":{\"table\"",
        ("{\"backend\":\"b\",\"seconds\":1,\"experiment\":{\"m\":9},"
         "\"answer\":{\"time_us\":4}}")};

    for (size_t i = 0; i < sizeof(TORN) / sizeof(*TORN); i++) {
        struct msim_cal_journal j;
        char path[64];

        REQUIRE(make_path(path));
        REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
        CHECK(add(&j, "b", 1, 10) == MSIM_OK);
        msim_cal_journal_close(&j);
        append_text(path, TORN[i]);
        REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
        CHECK_UINT(j.n, 1);
        CHECK_UINT(j.torn, strlen(TORN[i]));
        CHECK(add(&j, "b", 2, 20) == MSIM_OK);
        msim_cal_journal_close(&j);
        REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
        CHECK_UINT(j.n, 2);
        CHECK_UINT(j.torn, 0);
        msim_cal_journal_close(&j);
        unlink(path);
    }
}

/* Even the first line may be cut: then it begins anew. */
static void test_journal__survives_a_torn_beginning(void)
{
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    append_text(path, "{\"schema\":\"mystique-s");
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK(add(&j, "b", 1, 10) == MSIM_OK);
    msim_cal_journal_close(&j);
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK_UINT(j.n, 1);
    msim_cal_journal_close(&j);
    unlink(path);
}

static void test_journal__counts_an_experiment_once(void)
{
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK(add(&j, "b", 1, 10) == MSIM_OK);
    msim_cal_journal_close(&j);
    /* members in another order, and what a question adds: the same */
    append_text(path, "{\"backend\":\"b\",\"seconds\":1,\"experiment\":{\"m\":"
                      "1,\"layout\":\"NN\",\"batch\":1,\"k\":3,\"n\":2,"
                      "\"dtype\":\"fp32\",\"table\":\"gemm\",\"id\":7},"
                      "\"answer\":{\"time_us\":99}}\n");
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK_UINT(j.n, 1);
    CHECK_REL(j.entries[0].answer.us, 10, 0);
    msim_cal_journal_close(&j);
    unlink(path);
}

/* A line is read into what its readers want to know. */
static void test_journal__reads_a_line_once(void)
{
    struct msim_cal_journal j;
    const struct msim_cal_entry *e;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    msim_cal_journal_close(&j);
    append_text(
        path, "{\"backend\":\"b\",\"seconds\":1,\"experiment\":{\"table\":"
              "\"gemm\",\"dtype\":\"fp32\",\"m\":2,\"n\":3,\"k\":5,\"batch\":"
              "1,\"layout\":\"TN\",\"beside\":{\"table\":\"collective\","
              "\"collective\":\"all_reduce\",\"ranks\":2,\"nodes\":1,"
              "\"bytes\":64}},\"answer\":{\"time_us\":4,\"low_us\":3,"
              "\"alone_us\":2,\"counters\":{\"dram_read_bytes\":9}}}\n"
              "{\"backend\":\"b\",\"seconds\":1,\"experiment\":{\"table\":"
              "\"dispatch\",\"op\":\"aten::mm\"},\"answer\":{\"time_us\":9,"
              "\"rounds\":20,\"operators\":[{\"name\":\"aten::mm\",\"count\":1,"
              "\"leaf\":true,\"self_us\":4.5}]}}\n"
              "{\"backend\":\"b\",\"seconds\":60,\"experiment\":{\"table\":"
              "\"picnic\"},\"answer\":{\"error\":\"no\",\"lost\":true}}\n");
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    REQUIRE(j.n == 3);
    e = &j.entries[0];
    CHECK_INT(e->experiment.timed.table, MSIM_TABLE_GEMM);
    CHECK(e->experiment.is_pair && !msim_cal_work(&e->experiment));
    CHECK_REL(e->experiment.timed.work.flops, 60, 1e-12);
    CHECK_STR(e->experiment.timed.work.framework, "b");
    CHECK_UINT(e->experiment.concurrent.work.u.coll.ranks, 2);
    CHECK(e->hash == msim_cal_hash(&e->experiment, "b"));
    CHECK(e->experiment_hash == msim_cal_hash(&e->experiment, ""));
    CHECK_REL(e->answer.low_us, 3, 0);
    CHECK(isnan(e->answer.high_us));
    CHECK_REL(e->answer.alone_us, 2, 0);
    CHECK(e->answer.counted && e->answer.counts);
    CHECK_REL(e->answer.counts->of[MSIM_FIGURE_DRAM_READ], 9, 0);
    CHECK(isnan(e->answer.counts->of[MSIM_FIGURE_FP32]));
    e = &j.entries[1];
    REQUIRE(e->answer.n_operators == 1);
    CHECK_STR(e->answer.operators[0].name, "aten::mm");
    CHECK(e->answer.operators[0].leaf);
    CHECK_REL(e->answer.operators[0].self_us, 4.5, 0);
    CHECK_REL(e->answer.rounds, 20, 0);
    e = &j.entries[2];
    CHECK(!msim_cal_entry_is_row(e) && e->answer.crashed);
    CHECK_STR(e->answer.error, "no");
    msim_cal_journal_close(&j);
    unlink(path);
}

/* An experiment that is timed again is one entry, whose time is the median; and
 * so it is when the journal is read again. */
static void test_journal__merges_visits(void)
{
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK(add(&j, "b", 1, 10) == MSIM_OK);
    CHECK(isnan(msim_cal_entry_repeatability(&j.entries[0])));
    CHECK(add(&j, "b", 2, 5) == MSIM_OK);
    CHECK(add(&j, "b", 1, 30) == MSIM_OK);
    CHECK(add(&j, "b", 1, 0) == MSIM_OK); /* a visit that failed */
    CHECK(add(&j, "b", 1, 12) == MSIM_OK);
    for (int again = 0; again < 2; again++) {
        const struct msim_cal_entry *e = &j.entries[0];

        CHECK_UINT(j.n, 2);
        CHECK_UINT(e->visits, 4);
        CHECK_UINT(e->timed, 3);
        CHECK(msim_cal_entry_is_row(e));
        CHECK_REL(msim_cal_entry_us(e), 12, 1e-12);
        CHECK_REL(msim_cal_entry_repeatability(e), 3, 1e-12);
        CHECK_REL(msim_cal_journal_seconds(&j, "b"), 2.5, 1e-12);
        msim_cal_journal_close(&j);
        REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    }
    msim_cal_journal_close(&j);
    unlink(path);
}

/* A journal that was joined with itself: each visit counts once. */
static void test_journal__counts_a_visit_once(void)
{
    static const char line[] =
        "{\"backend\":\"b\",\"seconds\":1,\"visit\":1,\"experiment\":{"
        "\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":2,\"n\":3,\"k\":5},"
        "\"answer\":{\"time_us\":4}}\n";
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    msim_cal_journal_close(&j);
    append_text(path, line);
    append_text(path, line);
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    REQUIRE(j.n == 1);
    CHECK_UINT(j.entries[0].visits, 1);
    CHECK_UINT(j.entries[0].timed, 1);
    CHECK_REL(msim_cal_journal_seconds(&j, "b"), 1, 1e-12);
    msim_cal_journal_close(&j);
    unlink(path);
}

/* All that is written, the day apart. */
static void test_journal__writes(void)
{
    static const char *const PARTS[] = {
        "{\"schema\":\"mystique-sim/calibration/1\"}\n"
        "{\"backend\":\"b\",\"date\":\"",
        "\",\"greeting\":{\"device\":{}}}\n"
        "{\"backend\":\"b\",\"seconds\":0.5,\"experiment\":{\"table\":"
        "\"gemm\",\"dtype\":\"fp32\",\"m\":1,\"n\":2,\"k\":3,\"batch\":1,"
        "\"layout\":\"NN\"},\"answer\":{\"time_us\":10}}\n"
        "{\"backend\":\"b\",\"visit\":2,\"seconds\":0.5,\"experiment\":{"
        "\"table\":\"gemm\",\"dtype\":\"fp32\",\"m\":1,\"n\":2,\"k\":3,"
        "\"batch\":1,\"layout\":\"NN\"},\"answer\":{\"error\":\"no\"}}\n"
        "{\"backend\":\"b\",\"fitting_seconds\":2}\n"
        "{\"backend\":\"b\",\"date\":\"",
        "\",\"greeting\":{}}\n"};
    struct msim_cal_journal j;
    struct stat st;
    mode_t mask = umask(0);
    char path[64], text[2048] = "", *at = text;
    FILE *f = NULL;

    (void)umask(mask);
    REQUIRE(make_path(path));
    unlink(path);
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    for (int twice = 0; twice < 2; twice++) /* once it is kept */
        CHECK(msim_cal_journal_greet(&j, "b", cJSON_Parse("{\"device\":{}}"),
                                     NULL) == MSIM_OK);
    CHECK(add(&j, "b", 1, 10) == MSIM_OK);
    CHECK(add(&j, "b", 1, 0) == MSIM_OK);
    CHECK(msim_cal_journal_fitted(&j, "b", 2, NULL) == MSIM_OK);
    CHECK(msim_cal_journal_greet(&j, "b", cJSON_Parse("{}"), NULL) == MSIM_OK);
    CHECK_UINT(j.n_greetings, 1);
    msim_cal_journal_close(&j);
    REQUIRE(stat(path, &st) == 0 && (f = fopen(path, "r")));
    CHECK_UINT(st.st_mode & 0777, 0666 & ~mask);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    for (size_t i = 0; i < sizeof(PARTS) / sizeof(*PARTS); i++) {
        if (i < 2)
            at[strlen(PARTS[i])] = '\0'; /* over the day's first digit */
        CHECK_STR(at, PARTS[i]);
        at += strlen(PARTS[i]) + strlen("2026-11-20");
    }
    unlink(path);
}

/* What failed to be written is said, and kept nowhere. */
static void test_journal__fails_on_a_full_disk(void)
{
    struct msim_cal_journal j;
    struct msim_error err = {0};

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    j.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (j.fd >= 0) {
        CHECK_INT(msim_cal_journal_greet(&j, "b", cJSON_Parse("{}"), &err),
                  MSIM_EWRITE);
        CHECK(strstr(err.text, "an answer cannot be kept: "));
        CHECK_INT(add(&j, "b", 1, 10), MSIM_EWRITE);
        CHECK_INT(msim_cal_journal_fitted(&j, "b", 2, NULL), MSIM_EWRITE);
        CHECK_UINT(j.n + j.n_greetings + j.n_fits, 0);
    }
    msim_cal_journal_close(&j);
}

/* More than are kept of one experiment are no error. */
static void test_journal__keeps_so_many_visits(void)
{
    struct msim_cal_journal j;
    char path[64];

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    for (int i = 0; i < MSIM_CAL_VISITS + 3; i++)
        CHECK(add(&j, "b", 1, 10 + i) == MSIM_OK);
    CHECK_UINT(j.n, 1);
    CHECK_UINT(j.entries[0].timed, MSIM_CAL_VISITS);
    CHECK_UINT(j.entries[0].visits, MSIM_CAL_VISITS + 3);
    msim_cal_journal_close(&j);
    unlink(path);
}

/* As many as there may be, none of which is another's. */
static void test_journal__keeps_nothing(void)
{
    struct msim_cal_journal a, b;

    REQUIRE(msim_cal_journal_open(&a, NULL, NULL) == MSIM_OK);
    REQUIRE(msim_cal_journal_open(&b, NULL, NULL) == MSIM_OK);
    CHECK(msim_cal_journal_greet(&a, "b", cJSON_Parse("{}"), NULL) == MSIM_OK);
    CHECK(add(&a, "b", 1, 10) == MSIM_OK);
    CHECK_UINT(a.n, 1);
    CHECK_UINT(b.n, 0);
    msim_cal_journal_close(&a);
    msim_cal_journal_close(&b);
}

static void test_journal__refuses_other_files(void)
{
    struct msim_cal_journal j, second;
    struct msim_error err = {0}, locked = {0};
    struct stat st;
    char path[64];

    REQUIRE(make_path(path));
    append_text(path, "a,b,c\n1,2,3\n");
    CHECK_INT(msim_cal_journal_open(&j, path, &err), MSIM_EFORMAT);
    CHECK(strstr(err.text, "line 1"));
    unlink(path);

    /* one line without an end, which is no torn one of ours */
    REQUIRE(make_path(path));
    append_text(path, "{\"traceEvents\": []}");
    CHECK_INT(msim_cal_journal_open(&j, path, NULL), MSIM_EFORMAT);
    REQUIRE(stat(path, &st) == 0);
    CHECK_INT(st.st_size, 19);
    unlink(path);

    REQUIRE(make_path(path));
    REQUIRE(msim_cal_journal_open(&j, path, NULL) == MSIM_OK);
    CHECK_INT(msim_cal_journal_open(&second, path, &locked), MSIM_EIO);
    CHECK(strstr(locked.text, "another calibration"));
    msim_cal_journal_close(&j);
    unlink(path);
}

int main(void)
{
    RUN(test_journal__goes_on);
    RUN(test_journal__survives_a_torn_line);
    RUN(test_journal__survives_a_torn_beginning);
    RUN(test_journal__counts_an_experiment_once);
    RUN(test_journal__reads_a_line_once);
    RUN(test_journal__merges_visits);
    RUN(test_journal__counts_a_visit_once);
    RUN(test_journal__writes);
    RUN(test_journal__fails_on_a_full_disk);
    RUN(test_journal__keeps_so_many_visits);
    RUN(test_journal__keeps_nothing);
    RUN(test_journal__refuses_other_files);
    return check_summary();
}

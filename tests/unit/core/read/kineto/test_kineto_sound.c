/*
 * tests/unit/core/read/kineto/test_kineto_sound.c - records that cannot be are
 * left out, and counted; the others are read.
 */
#include "tests/unit/loaded.h"
#include "tests/unit/made_kineto.h"

/* An event with the fields that all complete events have. */
#define X(cat, name, tid, ts, dur, args)                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name                       \
    "\",\"pid\":9,\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur                  \
    ",\"args\":{" args "}}"

/* One record in twenty-one that cannot be: the twenty others are read. */
static void check_left_out(const char *first, const char *bad, const char *says)
{
    struct made m = made_trace(0, 1);
    struct msim_error err;
    struct msim_job *job;
    char *text;
    int i;

    made_add(&m, "%s", first);
    for (i = 0; i < 10; i++)
        made_op(&m, 1, "before", 1700000000 + 10 * i, 5);
    made_add(&m, "%s", bad);
    for (i = 10; i < 20; i++)
        made_op(&m, 1, "behind", 1700000000 + 10 * i, 5);
    text = made_text(&m);
    job = load_text(text, false, &err);
    made_free(&m);
    free(text);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_ops, 20);
    CHECK_INT(job->ranks[0]->ops[19].start, 190 * MSIM_PS_PER_US);
    CHECK_UINT(job->ranks[0]->n_gpu, 0);
    CHECK(!job->files[0].salvaged);
    REQUIRE(job->n_warnings == 1);
    if (!strstr(job->warnings[0], says))
        CHECK_STR(job->warnings[0], says);
    CHECK(strstr(job->warnings[0], "1 of 21 events is left out"));
    msim_job_free(job);
}

static void test_kineto_sound__leaves_out_what_cannot_be(void)
{
    /* clang-format off */
    check_left_out("", X("cpu_op", "a", "1", "1700000100", "-4", "") ",",
                   "event 11 'a': 'dur' is -4, want >= 0 us");
    check_left_out("", X("cpu_op", "a", "1", "1700000100", "-0.25", "") ",",
                   "event 11 'a': 'dur' is -1, want >= 0 us");
    check_left_out("", X("cuda_runtime", "a", "1", "-5e17", "4", "") ",",
                   "event 11 'a': 'ts' is -500000000000000000, more than");
    check_left_out("", X("cpu_op", "a", "1", "\"x\"", "4", "") ",",
                   "event 11 'a': 'ts' is x, want microseconds");
    check_left_out("", X("kernel", "k", "7", "0", "0", "") ",",
                   "event 11 'k': 'ts' and 'dur' are 0");
    check_left_out("", X("kernel", "k", "7", "9e17", "3", "") ",",
                   "event 11 'k': 'ts' is 900000000000000000, more than");
    check_left_out("", X("gpu_memcpy", "k", "7", "1700000100", "9e17", "") ",",
                   "event 11 'k': 'dur' is 900000000000000000 us, want less");
    check_left_out("", "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\"},",
                   "event 11 'a' has no 'ts'");
    /* clang-format on */
}

/* A file that begins with a time that nobody filled in: 0 is not its time. */
static void test_kineto_sound__a_stray_at_the_beginning(void)
{
    struct made m = made_trace(0, 1);
    struct msim_error err;
    struct msim_job *job;
    char *text;
    int i;

    made_op(&m, 1, "stray", 0, 5);
    for (i = 0; i < 20; i++)
        made_add(&m,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":9,"
                 "\"tid\":1,\"ts\":17000000000000%02d,\"dur\":1},",
                 i);
    text = made_text(&m);
    job = load_text(text, false, &err);
    made_free(&m);
    free(text);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_ops, 20);
    CHECK_INT(job->ranks[0]->ops[19].start, 19 * MSIM_PS_PER_US);
    REQUIRE(job->n_warnings == 1);
    CHECK(strstr(job->warnings[0], "1 of 21 events is left out"));
    msim_job_free(job);
}

/* Of 20,000 operators some are broken: only these are passed over, also where
 * a piece of the file ends, and what comes behind the list is read. Known
 * faults behind a broken record are put right. */
static void check_salvaged(const char *begin, const char *broken,
                           const char *end, int64_t rank)
{
    struct made m = {0};
    struct msim_error err;
    struct msim_job *job;

    made_add(&m, "%s", begin);
    for (int i = 0; i < 20000; i++)
        if (i % 4000 == 1000)
            made_add(&m, "%s,\n ", broken);
        else
            made_op(&m, 1, i % 4000 == 1001 ? "a\tb" : "op", 10 * i, 5);
    made_add(&m, "{\"ph\":\"M\"}%s", end);
    job = load_text(m.text, false, &err);
    CHECK(job == NULL);
    CHECK_INT(err.status, MSIM_ESYNTAX);
    CHECK(strstr(err.text, "--salvage keeps the 1000 complete events before it "
                           "and those behind it"));
    job = load_text(m.text, true, &err);
    made_free(&m);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_ops, 19995);
    CHECK_INT(job->ranks[0]->ops[19994].start,
              (int64_t)199990 * MSIM_PS_PER_US);
    CHECK_INT(job->files[0].rank, rank);
    CHECK(job->files[0].salvaged);
    REQUIRE(job->n_warnings >= 1);
    CHECK(strstr(job->warnings[0], "events beside 5 broken ones"));
    msim_job_free(job);
}

static void test_kineto_sound__salvages_what_follows(void)
{
    const char *list = "{\"traceEvents\":[";
    const char *end = "],\"distributedInfo\":{\"rank\":3}}";

    check_salvaged(list,
                   "{\"ph\":\"X\",\"name\":\"f(\"a\")\n\",\"args\":{\"b\":{}}}",
                   end, 3);
    check_salvaged(list, "{\"ph\":\"X\",\"name\":\"a\"b\",\"ts\":\"\xb9\"}",
                   end, 3);
    check_salvaged(list, "{\"ph\":\"X\",\"name\":\"C:\\U\",\"ts\":,\"dur\":3}",
                   end, 3);
    check_salvaged("[", "{\"ph\" \"X\" , \"args\":{}  }", "]", -1);
}

int main(void)
{
    RUN(test_kineto_sound__leaves_out_what_cannot_be);
    RUN(test_kineto_sound__a_stray_at_the_beginning);
    RUN(test_kineto_sound__salvages_what_follows);
    return check_summary();
}

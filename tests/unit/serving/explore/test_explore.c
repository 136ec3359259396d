/* serving/explore/explore.c and explore_command.c: what an explorer is asked
 * for, by which words, what becomes of its answers, and what it does wrong. The
 * explorer is a script that notes its words and prints a file of rows. */
#include "serving/explore/explore.h"
#include "serving/explore/explore_internal.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;
static struct msim_explored done;
static char command[256], tables[128];

/* The file's text, quotes and all; until the next call. */
static const char *text_of(const char *name)
{
    static char text[4096];
    FILE *f = fopen(made_path(name), "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    if (f)
        fclose(f);
    text[n] = '\0';
    return text;
}

/* Let the explorer answer `n` visits behind the head, within a second. */
static void put_rows(const char *head, const char *row, int n)
{
    FILE *f = fopen(made_path("rows"), "w");

    REQUIRE(f);
    fprintf(f, "%s\n", head);
    for (int i = 0; i < n; i++)
        fprintf(f, "%.6g,%s\n", (i + 1.0) / (n + 1), row);
    fclose(f);
    made_put("asked", "");
}

static void note(void *ctx, uint32_t stage, uint32_t n_stages)
{
    char *seen = ctx;
    size_t used = strlen(seen);

    snprintf(seen + used, 64 - used, "%u/%u ", stage, n_stages);
}

/* "" or what is wrong. The application of `stage`, explored for 100 requests a
 * second; it is released by the next one. */
static const char *explore(const char *stage, bool with_tables)
{
    static bool read;
    const struct msim_explore_how how = {
        .command = command,
        .tables = with_tables ? tables : NULL,
        .patience = 60,
        .seed = 1,
    };
    enum msim_status status;
    char stages[512];

    snprintf(stages, sizeof(stages),
             "'a b': {'kind': 'measured', 'call': 'queue', %s}", stage);
    if (read)
        msim_app_release(&app);
    read = made_read(&app,
                     "'arrivals': {'rate': 100}, 'classes': [{'name': 'x', "
                     "'share': 0.5}, {'name': 'y', 'share': 0.5}], ",
                     stages, "'start': 'a b'") == MSIM_OK;
    if (!CHECK(read))
        return made_error.text;
    done = (struct msim_explored){0};
    made_error = (struct msim_error){0};
    status = msim_explore_app(&app, 100, &how, &done, &made_error);
    CHECK_INT(status, made_error.status);
    return made_error.text;
}

/* What was asked, less its seeds, which are not told. */
static void check_asked(const char *want)
{
    char got[2048] = "";
    const char *text = text_of("asked"), *seed;

    for (; (seed = strstr(text, " --seed ")); text = strchr(seed, '\n') + 1) {
        size_t used = strlen(got);

        snprintf(got + used, sizeof(got) - used, "%.*s\n", (int)(seed - text),
                 text);
    }
    CHECK_STR(got, want);
}

#define ASK(rate, seconds)                                                     \
    "--stage a b --replicas 1 --rate " rate " --seconds " seconds "\n"

/* Two workers and services of 10 ms, after waits of 5. A second is asked for
 * first, at 40 visits of the 100; where fewer than 12 came, 5 and 25 of them.
 * Then 38 s, at 0.8 of 200 visits a second. */
static void test_explore__questions(void)
{
    put_rows("t_s,latency_ms,wait_ms", "15,5", 12);
    CHECK_STR(explore("'workers': 2", false), "");
    check_asked(ASK("40", "1") ASK("160", "38"));
    CHECK_INT(done.runs, 2);
    CHECK_INT(done.stages, 1);
    CHECK_REL(done.replica_seconds, 39, 1e-12);
    CHECK(!done.no_waits && done.no_sizes && !done.no_batches);
    CHECK_INT(app.stages[0].service.kind, MSIM_DIST_SAMPLES);
    CHECK_REL(app.stages[0].service.mean, 10, 1e-9);
    CHECK_REL(app.stages[0].class_factor[1], 1, 1e-9);
    CHECK_INT(app.classes[0].size.kind, MSIM_DIST_NONE);
    put_rows("t_s,latency_ms,wait_ms", "15,5", 11);
    CHECK_STR(explore("'workers': 2", false), "");
    check_asked(ASK("40", "1") ASK("40", "5") ASK("40", "25") ASK("160", "38"));
    CHECK_REL(done.replica_seconds, 69, 1e-12);
    /* 12,000 visits of 0.1 ms, of one worker, take 1.5 s; of 0.01 ms half a
     * second is the least. */
    put_rows("t_s,latency_ms,wait_ms", "0.15,0.05", 12);
    CHECK_STR(explore("'workers': 1", false), "");
    check_asked(ASK("40", "1") ASK("8000", "1.5"));
    put_rows("t_s,latency_ms,wait_ms", "0.01,0", 12);
    CHECK_STR(explore("'workers': 1", false), "");
    check_asked(ASK("40", "1") ASK("80000", "0.5"));
}

/* Without waits a latency is one of a quiet replica: 0.25 of 200. Of 12 visits
 * in a second, of two workers, none takes more than 166.7 ms. */
static void test_explore__without_waits(void)
{
    put_rows("t_s,latency_ms", "10", 12);
    CHECK_STR(explore("'workers': 2", false), "");
    check_asked(ASK("40", "1") ASK("50", "38"));
    CHECK(done.no_waits);
    CHECK_REL(app.stages[0].service.mean, 10, 1e-9);
    put_rows("t_s,latency_ms", "400", 12);
    CHECK_STR(explore("'workers': 2", false), "");
    check_asked(ASK("40", "1") ASK("3", "38"));
}

/* Batches of 8 at most, at 0.5 of a service's time, 0.25 x 8 and 0.7 x 8 of it;
 * 38 s as 0.3, 0.3 and 0.9. */
static void test_explore__batches(void)
{
    put_rows("t_s,latency_ms,wait_ms,batch", "15,5,1", 12);
    CHECK_STR(explore("'workers': 2, 'batching': {'max_batch': 8}", false), "");
    check_asked(ASK("40", "1") ASK("100", "7.6") ASK("400", "7.6")
                    ASK("1120", "22.8"));
    CHECK_INT(app.stages[0].batching.n_law, 8);
    CHECK_REL(app.stages[0].batching.law[0].batch, 1, 0);
    CHECK_REL(app.stages[0].batching.law[0].factor, 1, 1e-9);
    CHECK_REL(app.stages[0].batching.law[7].batch, 8, 0);
    CHECK(!done.no_batches);
    /* Small ones: 0.5, 1 and 1.5 at least; a law that is stated stays. */
    put_rows("t_s,latency_ms,wait_ms", "15,5", 12);
    CHECK_STR(explore("'workers': 2, 'batching': {'max_batch': 2, 'law': [[1, "
                      "1], [2, 7]]}",
                      false),
              "");
    check_asked(ASK("40", "1") ASK("100", "7.6") ASK("200", "7.6")
                    ASK("300", "22.8"));
    CHECK(done.no_batches);
    CHECK_INT(app.stages[0].batching.n_law, 2);
    CHECK_REL(app.stages[0].batching.law[1].factor, 7, 0);
    put_rows("t_s,latency_ms,wait_ms,batch", "15,5,1", 12);
    CHECK_STR(explore("'workers': 2, 'batching': {'max_batch': 2, 'law': [[1, "
                      "1], [2, 7]]}",
                      false),
              "");
    CHECK(!done.no_batches);
    CHECK_REL(app.stages[0].batching.law[1].factor, 7, 0);
    put_rows("t_s,latency_ms,wait_ms,batch", "15,5,9", 12);
    CHECK_STR(explore("'workers': 2, 'batching': {'max_batch': 8}", false),
              "what the explorer answered of stage 'a b' does not fit its "
              "batches of at most 8");
}

/* Sizes that are told are those of requests. */
static void test_explore__sizes(void)
{
    put_rows("t_s,latency_ms,wait_ms,size,class", "15,5,0.5,x\n1,25,5,1.5,y",
             12);
    CHECK_STR(explore("'workers': 2", false), "");
    CHECK(!done.no_sizes);
    CHECK_INT(app.classes[0].size.kind, MSIM_DIST_SAMPLES);
    CHECK_REL(app.classes[1].size.mean, 1, 1e-9);
    CHECK_REL(app.classes[1].size.x[0], 0.5, 1e-9);
}

/* Answers are kept in a folder, and nobody is asked for them again. */
static void test_explore__tables(void)
{
    char seen[64] = "";
    struct msim_explore_how how = {
        .tables = tables, .before = note, .ctx = seen};

    put_rows("t_s,latency_ms,wait_ms", "15,5", 12);
    CHECK_STR(explore("'workers': 2", true), "");
    check_asked(ASK("40", "1") ASK("160", "38"));
    CHECK(access(made_path("tables/a%20b,1,40.csv"), R_OK) == 0);
    CHECK(access(made_path("tables/a%20b,1,160.csv"), R_OK) == 0);
    made_put("asked", "");
    CHECK_STR(explore("'workers': 2", true), "");
    check_asked("");
    CHECK_INT(done.runs, 0);
    CHECK(done.replica_seconds == 0);
    CHECK_INT(done.stages, 1);
    /* Of tables alone all are read, 24 visits of 10 ms, and one of 22. */
    CHECK(remove(made_path("tables/a%20b,1,40.csv")) == 0);
    made_put("tables/a%20b,1,7.csv", "t_s,latency_ms,wait_ms\n0.5,22,0\n");
    made_put("tables/a%20bc,1,7.csv", "no table\n");
    made_put("tables/a%20b,1,7.txt", "no table\n");
    app.stages[0].service = (struct msim_dist){0};
    made_error = (struct msim_error){0};
    CHECK_INT(msim_explore_app(&app, 100, &how, &done, &made_error), MSIM_OK);
    CHECK_STR(made_error.text, "");
    CHECK_STR(seen, "0/1 0/1 ");
    CHECK_INT(app.stages[0].service.n, 13);
    CHECK_REL(app.stages[0].service.mean, (12 * 10 + 22) / 13.0, 1e-9);
    /* What is known is not asked for. */
    seen[0] = '\0';
    CHECK_INT(msim_explore_app(&app, 100, &how, &done, &made_error), MSIM_OK);
    CHECK_STR(seen, "");
    CHECK(remove(made_path("tables/a%20b,1,160.csv")) == 0);
    app.stages[0].service = (struct msim_dist){0};
    CHECK_INT(msim_explore_app(&app, 100, &how, &done, &made_error),
              MSIM_ELIMIT);
    CHECK_STR(made_error.text, "the explorer answered 1 visits of stage 'a b', "
                               "want 5 and more: too few to learn from");
}

static void test_explore__refuses(void)
{
    put_rows("t_s,latency_ms,wait_ms", "15,5", 4);
    CHECK_STR(explore("'workers': 2", false),
              "the explorer answered 4 visits of stage 'a b', want 5 and more: "
              "too few to learn from");
    put_rows("t_s,latency_ms,wait_ms", "15,5", 5);
    CHECK_STR(explore("'workers': 2", false), "");
    put_rows("t_s,latency_ms,wait_ms", "0,0", 12);
    explore("'workers': 2", false);
    CHECK(strncmp(made_error.text,
                  "latency_ms of all 12 visits of stage 'a b' is 0 in sh ",
                  54) == 0);
    put_rows("t_s,latency_ms", "x", 1);
    CHECK_STR(explore("'workers': 2", false),
              "line 2: latency_ms is 'x', want milliseconds from 0");
    CHECK(strncmp(made_error.file, "answer of 'sh ", 14) == 0);
    CHECK(strstr(made_error.file, " --stage a b'") != NULL);
    /* 3 x 40 visits and a thousand are far more than a second has. */
    put_rows("t_s,latency_ms", "1", 1120);
    CHECK_STR(explore("'workers': 2", false), "");
    put_rows("t_s,latency_ms", "1", 1122);
    CHECK_STR(explore("'workers': 2", false),
              "line 1123: more visits than were asked for");
}

/* As in a shell, but nothing else means anything. */
static void test_explore_command__words(void)
{
    static const struct {
        const char *text, *words;
    } CASES[] = {{"a", "a|"},
                 {" a\tb\n c ", "a|b|c|"},
                 {"'a b' \"c d\"e", "a b|c de|"},
                 {"a\\ b \\'c\\\\", "a b|'c\\|"},
                 {"'a\\b' \"a\\\"b\"", "a\\b|a\"b|"},
                 {"'' \"'\" '\"' $x * ;", "|'|\"|$x|*|;|"},
                 {"a\\", "a\\|"}};
    struct msim_explorer e;
    struct msim_error err = {0};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char got[64] = "";

        CHECK_INT(msim_explorer_init(&e, CASES[i].text, 1, &err), MSIM_OK);
        for (uint32_t k = 0; k < e.n_words; k++) {
            size_t used = strlen(got);

            snprintf(got + used, sizeof(got) - used, "%s|", e.words[k]);
        }
        CHECK_STR(got, CASES[i].words);
        msim_explorer_release(&e);
    }
    CHECK_INT(msim_explorer_init(&e, " \t", 1, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--explore' is empty, want a command");
    msim_explorer_release(&e);
    err = (struct msim_error){0};
    CHECK_INT(msim_explorer_init(&e, "a 'b", 1, &err), MSIM_EUSAGE);
    CHECK_STR(err.text, "option '--explore' has a quote that is never closed");
    msim_explorer_release(&e);
}

#define ASKED                                                                  \
    "the explorer 'sh', asked for stage 's' (3 replicas, 2.5 visits/s, 0.25 "  \
    "s), "

static void test_explore_command__faults(void)
{
    static const struct {
        const char *command, *says;
        enum msim_status status;
    } CASES[] = {
        {"sh -c 'exit 0'", "", MSIM_OK},
        {"sh -c 'exit 3'", ASKED "ended with exit code 3", MSIM_EIO},
        {"sh -c 'kill -9 $$'", ASKED "was killed by signal 9", MSIM_EIO},
        {"sh -c 'while :; do echo 1234567890; done'",
         ASKED "prints too much: it was stopped after more than 2.05 kB, want "
               "at most 2 lines",
         MSIM_ELIMIT},
        {"no-such-program-of-a-test",
         "cannot run the explorer 'no-such-program-of-a-test': No such file or "
         "directory",
         MSIM_EIO},
    };
    const struct msim_explore_question q = {.stage = "s",
                                            .replicas = 3,
                                            .rate = 2.5,
                                            .seconds = 0.25,
                                            .seed = 7,
                                            .most_rows = 2};

    made_put("answer", "what was there");
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_explorer e;
        struct msim_error err = {0};

        CHECK_INT(msim_explorer_init(&e, CASES[i].command, 60, &err), MSIM_OK);
        CHECK_INT(msim_explorer_ask(&e, &q, made_path("answer"), &err),
                  CASES[i].status);
        CHECK_STR(err.text, CASES[i].says);
        msim_explorer_release(&e);
    }
}

/* The words, no input, and what is printed; then, out of patience. */
static void test_explore_command__asks(void)
{
    const struct msim_explore_question q = {.stage = "a b",
                                            .replicas = 3,
                                            .rate = 2.5,
                                            .seconds = 0.01,
                                            .seed = 7,
                                            .most_rows = 100};
    struct msim_explorer e;
    struct msim_error err = {0};

    CHECK_INT(
        msim_explorer_init(&e, "sh -c 'cat; echo \"$0 $#: $*\"' x", 60, &err),
        MSIM_OK);
    CHECK_INT(msim_explorer_ask(&e, &q, made_path("answer"), &err), MSIM_OK);
    CHECK_STR(text_of("answer"), "x 10: --stage a b --replicas 3 --rate 2.5 "
                                 "--seconds 0.01 --seed 7\n");
    msim_explorer_release(&e);
    CHECK_INT(msim_explorer_init(&e, "sh -c 'sleep 100'", 0.02, &err), MSIM_OK);
    CHECK_INT(msim_explorer_ask(&e, &q, made_path("answer"), &err),
              MSIM_ELIMIT);
    CHECK_STR(err.text,
              "the explorer 'sh', asked for stage 'a b' (3 replicas, 2.5 "
              "visits/s, 0.01 s), has not ended in time: it was stopped after "
              "0.01 s of load and 0.02 s of --patience");
    msim_explorer_release(&e);
}

int main(void)
{
    static const char *const FILES[] = {"tables/a%20b,1,7.csv",
                                        "tables/a%20bc,1,7.csv",
                                        "tables/a%20b,1,7.txt",
                                        "tables",
                                        "app.json",
                                        "rows",
                                        "asked",
                                        "answer",
                                        "script",
                                        NULL};
    char script[512];

    made_begin();
    snprintf(script, sizeof(script), "echo \"$*\" >>%s/asked\ncat %s/rows\n",
             made_folder, made_folder);
    made_put("script", script);
    snprintf(command, sizeof(command), "sh %s/script", made_folder);
    snprintf(tables, sizeof(tables), "%s/tables", made_folder);
    RUN(test_explore_command__words);
    RUN(test_explore_command__faults);
    RUN(test_explore_command__asks);
    RUN(test_explore__questions);
    RUN(test_explore__without_waits);
    RUN(test_explore__batches);
    RUN(test_explore__sizes);
    RUN(test_explore__tables);
    RUN(test_explore__refuses);
    msim_app_release(&app);
    made_end(FILES);
    return check_summary();
}

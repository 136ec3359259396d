/* api: what libmystique.so answers is what the program prints, from one job as
 * often as asked, from many threads, and nothing is left behind. */
#include <mystique.h>

#include "tests/check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#define PREDICTIONS 100
#define LOADS       100
#define THREADS     4

static const char *const GPT2[] = {MSIM_DATA "/traces/gpt2"};
static const char A100[] = "{\"platform\": \"a100\", \"costs\": \"model\"}";
static const char H100[] = "{\"platform\": \"h100\", \"costs\": \"model\"}";

static mystique *library(void)
{
    mystique_error e;
    mystique *m;

    if (mystique_open(&m, MSIM_DATA, &e) != MYSTIQUE_OK)
        fprintf(stderr, "%s\n", e.text);
    return m;
}

static mystique_job *gpt2(const mystique *m)
{
    mystique_error e;
    mystique_job *job;

    if (mystique_load(&job, m, GPT2, 1, NULL, &e) != MYSTIQUE_OK)
        fprintf(stderr, "%s: %s\n", e.file, e.text);
    return job;
}

/* Bytes that are taken from the heap. */
static size_t taken(void)
{
    struct mallinfo2 now = mallinfo2();

    return now.uordblks + now.hblkhd;
}

/* The text of what the program prints, without times of its own run. */
static void test_mystique__predicts_as_the_program(void)
{
    const char *program = getenv("MYSTIQUE_SIM");
    mystique *m = library();
    mystique_job *job = gpt2(m);
    mystique_result *r = NULL;
    char command[4096], *printed = NULL;
    size_t length, size = 0;
    FILE *out;

    if (!program) {
        mystique_job_free(job);
        mystique_close(m);
        SKIP("no MYSTIQUE_SIM");
        return;
    }
    snprintf(command, sizeof(command),
             "MSIM_DATA='%s' '%s' --platform a100 --costs model --json '%s' "
             "2>/dev/null",
             MSIM_DATA, program, GPT2[0]);
    out = popen(command, "r");
    if (CHECK(out != NULL) && getdelim(&printed, &size, '\0', out) > 0 &&
        CHECK_INT(mystique_predict(&r, job, A100, NULL), MYSTIQUE_OK)) {
        CHECK_STR(mystique_text(r, &length), printed);
        CHECK_INT(length, strlen(printed));
    }
    CHECK_INT(out ? pclose(out) : -1, 0);
    free(printed);
    mystique_result_free(r);
    mystique_job_free(job);
    mystique_close(m);
}

/* Two platforms in turn: the first answers come again, to the byte; the heap
 * has what was taken of the job, and no platform a second time. */
static void test_mystique__predicts_often_from_one_job(void)
{
    mystique *m = library();
    mystique_job *job = gpt2(m);
    mystique_result *first[2] = {NULL, NULL};
    size_t after = 0;

    for (int i = 0; job && i < PREDICTIONS; i++) {
        mystique_result *r;

        if (!CHECK_INT(mystique_predict(&r, job, i % 2 ? H100 : A100, NULL),
                       MYSTIQUE_OK))
            break;
        if (i < 2) {
            first[i] = r;
            continue;
        }
        CHECK_STR(mystique_text(r, NULL), mystique_text(first[i % 2], NULL));
        mystique_result_free(r);
        if (i == 9)
            after = taken();
    }
    /* 90 more: a platform is megabytes, what a job keeps of a run far less. */
    CHECK(taken() < after + (1u << 20));
    mystique_job_free(job);
    mystique_close(m); /* results outlive both */
    for (int i = 0; i < 2; i++) {
        double us = 0;

        if (!first[i])
            continue;
        CHECK_INT(mystique_number(first[i], "period_us.predicted", &us),
                  MYSTIQUE_OK);
        CHECK(us > 0);
        mystique_result_free(first[i]);
    }
}

static void test_mystique__loads_without_growth(void)
{
    mystique *m;
    mystique_job *job;
    size_t after = 0;

    for (int i = 0; i < LOADS; i++) {
        m = library();
        job = gpt2(m);
        CHECK(job != NULL);
        mystique_job_free(job);
        mystique_close(m);
        if (i == 4)
            after = taken();
    }
    CHECK(taken() <= after + 4096);
}

struct worker {
    mystique_job *job;
    const char *text;
    int wrong;
};

static void *work(void *arg)
{
    struct worker *w = arg;

    for (int i = 0; i < 10; i++) {
        mystique_result *r;

        if (mystique_predict(&r, w->job, A100, NULL) != MYSTIQUE_OK ||
            strcmp(mystique_text(r, NULL), w->text) != 0)
            w->wrong++;
        mystique_result_free(r);
    }
    return NULL;
}

/* Three of one job, and one of another. */
static void test_mystique__has_threads(void)
{
    mystique *m = library();
    mystique_job *jobs[2] = {gpt2(m), gpt2(m)};
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    mystique_result *r;

    if (!CHECK_INT(mystique_predict(&r, jobs[0], A100, NULL), MYSTIQUE_OK))
        return;
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){jobs[i == 0], mystique_text(r, NULL), 0};
        CHECK_INT(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(workers[i].wrong, 0);
    }
    mystique_result_free(r);
    mystique_job_free(jobs[0]);
    mystique_job_free(jobs[1]);
    mystique_close(m);
}

static void test_mystique__answers_scenarios(void)
{
    static const char HALF[] =
        "{\"scenarios\": [{\"name\": \"half\", \"changes\": [{\"scale\": "
        "{\"select\": \"kernels\", \"factor\": 0.5}}]}]}";
    mystique *m = library();
    mystique_job *job = gpt2(m);
    mystique_result *w = NULL, *p = NULL;
    mystique_error e;
    double us[2] = {0, 1};

    CHECK_INT(mystique_whatif(&w, job, HALF, A100, &e), MYSTIQUE_OK);
    CHECK_INT(mystique_predict(&p, job,
                               "{\"platform\": \"a100\", \"costs\": "
                               "\"model\", \"scale\": [\"kernels=0.5\"]}",
                               &e),
              MYSTIQUE_OK);
    if (w && p) {
        mystique_number(w, "scenarios[0].period_us.predicted", &us[0]);
        mystique_number(p, "period_us.predicted", &us[1]);
        CHECK_REL(us[0], us[1], 1e-9);
    }
    mystique_result_free(w);
    mystique_result_free(p);
    CHECK_INT(mystique_whatif(&w, job,
                              "{\"scenarios\": [{\"name\": \"x\", "
                              "\"changes\": [{\"speedd\": 2}]}]}",
                              A100, &e),
              MYSTIQUE_INPUT);
    CHECK(w == NULL);
    CHECK_STR(e.file, "scenarios");
    CHECK(strstr(e.text, "speedd is not known") != NULL);
    mystique_job_free(job);
    mystique_close(m);
}

static void test_mystique__answers_rows(void)
{
    mystique *m = library();
    mystique_result *r = NULL;
    mystique_error e;

    if (CHECK_INT(mystique_op(&r, m, "m,n,k,dtype\n1024,1024,1024,bf16\n",
                              "{\"platform\": \"a100\"}", &e),
                  MYSTIQUE_OK)) {
        const char *text = mystique_text(r, NULL);

        CHECK(strncmp(text, "m,n,k,dtype,predicted_us,low_us,high_us,model\n",
                      46) == 0);
        CHECK(strstr(text, "\n1024,1024,1024,bf16,") != NULL);
    }
    mystique_result_free(r);
    CHECK_INT(mystique_op(&r, m, "m,n,k,dtype\n", NULL, &e), MYSTIQUE_USAGE);
    CHECK_STR(e.text, "no \"platform\" in the options, want one");
    CHECK_INT(mystique_op(&r, m, "m,n,k,dtype\n", "{\"ranks\": 2}", &e),
              MYSTIQUE_USAGE);
    CHECK_STR(e.text, "ranks is not known, want platform, clock or power_cap");
    CHECK_INT(
        mystique_op(&r, m, "m,n\n1,2,3\n", "{\"platform\": \"a100\"}", &e),
        MYSTIQUE_INPUT);
    CHECK_STR(e.file, "rows");
    CHECK_INT(mystique_op(&r, m, "a\n1\n", "{\"platform\": \"a100\"}", &e),
              MYSTIQUE_INPUT);
    CHECK_STR(e.file, "rows");
    mystique_close(m);
}

static void test_mystique__says_what_is_wrong(void)
{
    static const struct {
        const char *options;
        int status;
        const char *text;
    } WRONG[] = {
        {"{\"platfrom\": \"a100\"}", MYSTIQUE_USAGE, "did you mean platform"},
        {"{\"platform\": \"h1000\"}", MYSTIQUE_USAGE, "h1000"},
        {"{\"platform\": \"a100,h100\"}", MYSTIQUE_USAGE, "one name or file"},
        {"{\"platform\": 3}", MYSTIQUE_USAGE, "platform is 3, want"},
        {"{\"scale\": [\"kernels\"]}", MYSTIQUE_USAGE, "kernels"},
        {"{\"scale\": [1]}", MYSTIQUE_USAGE, "want an array of"},
        {"{\"iteration\": 99, \"platform\": \"a100\"}", MYSTIQUE_USAGE, "99"},
        {"{\"clock\": \"fast\"}", MYSTIQUE_USAGE, "fast"},
        {"{\"ranks\": 2.5}", MYSTIQUE_USAGE, "ranks is 2.5, want a whole"},
        {"{\"kernels\": true}", MYSTIQUE_USAGE, "kernels is not known"},
        {"{", MYSTIQUE_USAGE, "options are not JSON"},
        {"[]", MYSTIQUE_USAGE, "want one: {\"platform\": \"h100\"}"},
    };
    mystique *m = library();
    mystique_job *job = gpt2(m), *none;
    mystique_result *r;
    mystique_error e;
    double number;

    for (size_t i = 0; i < sizeof(WRONG) / sizeof(WRONG[0]); i++) {
        r = (mystique_result *)&e; /* is set to NULL */
        CHECK_INT(mystique_predict(&r, job, WRONG[i].options, &e),
                  WRONG[i].status);
        CHECK(r == NULL);
        CHECK_INT(e.status, WRONG[i].status);
        if (!CHECK(strstr(e.text, WRONG[i].text) != NULL))
            fprintf(stderr, "  '%s': %s\n", WRONG[i].options, e.text);
    }
    CHECK_INT(mystique_predict(&r, job, A100, &e), MYSTIQUE_OK);
    CHECK_INT(e.status, MYSTIQUE_OK);
    CHECK_STR(e.text, "");
    CHECK_INT(mystique_number(r, "period_us.x", &number), MYSTIQUE_USAGE);
    CHECK_INT(mystique_number(r, "ops[0].calls", &number), MYSTIQUE_OK);
    CHECK_INT(mystique_number(r, "ops[-1].calls", &number), MYSTIQUE_USAGE);
    CHECK_INT(mystique_number(r, "ops[9999].calls", &number), MYSTIQUE_USAGE);
    CHECK_INT(mystique_number(r, "ops[", &number), MYSTIQUE_USAGE);
    CHECK_INT(mystique_number(r, "..", &number), MYSTIQUE_USAGE);
    mystique_result_free(r);
    CHECK_INT(mystique_load(&none, m, GPT2, 0, NULL, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_load(&none, m, GPT2, 1, "{\"x\": 1}", &e),
              MYSTIQUE_USAGE);
    CHECK(none == NULL);
    mystique_job_free(job);
    mystique_close(m);
    CHECK_INT(mystique_open(&m, "/nowhere", &e), MYSTIQUE_USAGE);
    CHECK(m == NULL);
    CHECK(strstr(e.text, "no data folder") != NULL);
}

/* What an earlier call did not make is handed on: no call falls over it. */
static void test_mystique__takes_no_null(void)
{
    static const char *const HOLE[] = {NULL};
    mystique *m = library();
    mystique_job *job = gpt2(m), *none;
    mystique_result *r = (mystique_result *)&m; /* is set to NULL */
    mystique_error e;
    size_t length = 1;
    double number;

    CHECK_INT(mystique_open(NULL, MSIM_DATA, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_load(NULL, m, GPT2, 1, NULL, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_load(&none, NULL, GPT2, 1, NULL, &e), MYSTIQUE_USAGE);
    CHECK_STR(e.text, "m is NULL, want what mystique_open() made");
    CHECK_INT(mystique_load(&none, m, NULL, 1, NULL, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_load(&none, m, HOLE, 1, NULL, &e), MYSTIQUE_USAGE);
    CHECK(none == NULL);
    CHECK_INT(mystique_predict(NULL, job, A100, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_predict(&r, NULL, A100, &e), MYSTIQUE_USAGE);
    CHECK_STR(e.text, "job is NULL, want what mystique_load() made");
    CHECK(r == NULL);
    CHECK_INT(mystique_whatif(&r, job, NULL, A100, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_whatif(NULL, job, "{}", A100, NULL), MYSTIQUE_USAGE);
    CHECK_INT(mystique_op(&r, NULL, "m\n", A100, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_op(&r, m, NULL, A100, &e), MYSTIQUE_USAGE);
    CHECK_INT(mystique_op(NULL, m, "m\n", A100, &e), MYSTIQUE_USAGE);
    CHECK(mystique_text(NULL, &length) == NULL && length == 0);
    CHECK_INT(mystique_number(NULL, "ops", &number), MYSTIQUE_USAGE);
    if (CHECK_INT(mystique_predict(&r, job, A100, &e), MYSTIQUE_OK)) {
        CHECK_INT(mystique_number(r, NULL, &number), MYSTIQUE_USAGE);
        CHECK_INT(mystique_number(r, "ops[0].calls", NULL), MYSTIQUE_USAGE);
    }
    mystique_result_free(r);
    mystique_job_free(job);
    mystique_close(m);
}

static void test_mystique__frees_nothing(void)
{
    mystique_result_free(NULL);
    mystique_job_free(NULL);
    mystique_close(NULL);
    CHECK(strchr(mystique_version(), '.') != NULL);
}

int main(void)
{
    RUN(test_mystique__predicts_as_the_program);
    RUN(test_mystique__predicts_often_from_one_job);
    RUN(test_mystique__loads_without_growth);
    RUN(test_mystique__has_threads);
    RUN(test_mystique__answers_scenarios);
    RUN(test_mystique__answers_rows);
    RUN(test_mystique__says_what_is_wrong);
    RUN(test_mystique__takes_no_null);
    RUN(test_mystique__frees_nothing);
    return check_summary();
}

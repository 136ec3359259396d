/*
 * tests/unit/core/read/kineto/test_kineto_finish.c - the clock of a file, and
 * files that no one process writes.
 */
#include "tests/unit/loaded_kineto.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

/* A trace of `rank` with an operator at each time, in this order, whose base is
 * `base` nanoseconds. */
static char *based_text(int rank, const char *base, const char *const times[2])
{
    struct made m = made_trace(rank, 2), all = {0};
    char *text;

    for (int i = 0; i < 2 && times[i]; i++)
        made_add(&m,
                 "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,"
                 "\"tid\":1,\"ts\":%s,\"dur\":0},",
                 times[i]);
    text = made_text(&m);
    made_add(&all, "{\"baseTimeNanoseconds\":%s,%s", base, text + 1);
    free(text);
    made_free(&m);
    return all.text;
}

/* Where rank 1's first operator is behind that of rank 0, at 10 us after 0. */
static msim_ps first_behind(const char *base, const char *const times[2])
{
    char *texts[2] = {based_text(0, "0", (const char *const[]){"10", NULL}),
                      based_text(1, base, times)};
    const struct msim_job_text from[2] = {
        {"a.json", texts[0], strlen(texts[0])},
        {"b.json", texts[1], strlen(texts[1])}};
    const struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {.status = MSIM_OK};
    struct msim_job *job = NULL;
    msim_ps behind = INT64_MAX;

    CHECK_INT(msim_job_load_texts(&job, from, 2, &opt, &err), MSIM_OK);
    if (job && CHECK_UINT(job->n_ranks, 2))
        behind = job->ranks[1]->ops[0].start - job->ranks[0]->ops[0].start;
    msim_job_free(job);
    free(texts[0]);
    free(texts[1]);
    return behind;
}

/* A time is the base and what the event says, to the picosecond, also where the
 * first event of a file is not the earliest. */
static void test_kineto_finish__origins(void)
{
    static const struct {
        const char *base, *times[2];
        msim_ps behind;
    } ROWS[] = {
        {"0", {"10", NULL}, 0},
        {"0", {"10.000001", NULL}, 1},
        {"0", {"9.999999", NULL}, -1},
        {"2", {"10", NULL}, 2000},
        {"999", {"10.000999", NULL}, 999999},
        {"999", {"10.001", NULL}, 1000000},
        {"1999", {"10.999999", NULL}, 2998999},
        {"-1", {"10", NULL}, -1000},
        {"-1501", {"10.75", NULL}, -751000},
        {"1501", {"10.25", NULL}, 1751000},
        {"0", {"10.5", "9.75"}, -250000},
        {"0", {"10.5", "9"}, -1000000},
        {"0", {"10.5", "8.999999"}, -1000001},
        {"7300", {"30.25", "12.125"}, 9425000},
        /* a clock of no use: it begins at 0 */
        {"9000000000000000000", {"9223372036854775000", NULL}, 0},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++)
        CHECK_INT(first_behind(ROWS[i].base, ROWS[i].times), ROWS[i].behind);
}

/* The error of a trace, "" where it loads. */
static const char *error_of(struct made *m, struct msim_error *err)
{
    struct msim_job *job = load_made_as(m, err);

    if (job)
        err->text[0] = '\0';
    msim_job_free(job);
    return err->text;
}

#define WANT                                                                   \
    " of process 100: processes with one pid, of several hosts or runs, or "   \
    "one twice, were merged into this file; want the file of each, or a pid "  \
    "of its own for each"

static void check_error(struct made *m, const char *what)
{
    struct msim_error err;
    char want[512] = "";

    if (*what)
        snprintf(want, sizeof(want), "%s" WANT, what);
    CHECK_STR(error_of(m, &err), want);
}

/* Launches with the number of another, up to a twentieth, are of a program that
 * was recorded wrong; more than that, but for one, are of two. */
static void test_kineto_finish__launches_twice(void)
{
    static const struct {
        int launches, again;
        const char *what;
    } ROWS[] = {
        {3, 1, ""},
        {40, 2, ""},
        {39, 2, "2 of 39 launches have the correlation id of another launch"},
        {3, 2, "2 of 3 launches have the correlation id of another launch"},
        {60, 3, ""},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = made_trace(0, 1);

        for (int k = 0; k < ROWS[i].launches; k++) {
            int id = k < ROWS[i].again + 1 ? 1 : k + 1;

            made_call(&m, 1, "cudaLaunchKernel", 10 * k, 2, id);
            made_kernel(&m, 7, "k", 10 * k + 5, 2, id);
        }
        check_error(&m, ROWS[i].what);
    }
}

/* A launch inside another of its name: by as little as a microsecond; one that
 * touches it, has another name or another thread is none. */
static void test_kineto_finish__launches_inside(void)
{
    static const struct {
        int launches, inside, at, thread;
        const char *name, *what;
    } ROWS[] = {
        {38, 2, 4, 1, "cudaLaunchKernel", ""},
        {37, 2, 4, 1, "cudaLaunchKernel",
         "2 of 39 launches begin inside another of their thread"},
        {2, 1, 4, 1, "cudaLaunchKernel", ""},
        {2, 2, 4, 1, "cudaLaunchKernel",
         "2 of 4 launches begin inside another of their thread"},
        {2, 2, 5, 1, "cudaLaunchKernel", ""},
        {2, 2, 4, 2, "cudaLaunchKernel", ""},
        {2, 2, 4, 1, "cudaLaunchKernelExC", ""},
        {2, 2, 4, 1, "cudaMemcpyAsync", ""},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = made_trace(0, 1);

        for (int k = 0; k < ROWS[i].launches; k++) {
            made_call(&m, 1, "cudaLaunchKernel", 10 * k, 5, 2 * k + 1);
            made_kernel(&m, 7, "k", 10 * k + 8, 2, 2 * k + 1);
            if (k < ROWS[i].inside)
                made_call(&m, ROWS[i].thread, ROWS[i].name, 10 * k + ROWS[i].at,
                          1, 2 * k + 2);
        }
        check_error(&m, ROWS[i].what);
    }
    /* Calls that start no work may be anywhere. */
    {
        struct made m = made_trace(0, 1);

        for (int k = 0; k < 4; k++)
            made_call(&m, 1, "cudaStreamIsCapturing", k, 9, k + 1);
        check_error(&m, "");
    }
}

/* Marks of 20 us each, so that one may reach one microsecond into the next. */
static void test_kineto_finish__marks_that_cross(void)
{
    static const struct {
        int marks, crossed, by, thread;
        bool refused;
    } ROWS[] = {
        {40, 2, 2, 1, false}, /* a twentieth of all */
        {39, 2, 2, 1, true},  {39, 1, 2, 1, false},
        {4, 2, 1, 1, false},  {4, 2, 2, 1, true},
        {4, 2, 2, 2, false},  {4, 1, 2, 1, false},
        {4, 2, 0, 1, false},  {4, 2, -9, 1, false},
        {4, 2, 20, 1, false}, /* the one ends as the other: it is in it */
        {4, 2, 19, 1, true},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct made m = made_trace(0, 1);

        /* Each pair far from the next, the later of which comes first. */
        for (int k = ROWS[i].marks - 1; k >= 0; k--) {
            bool second = k % 2 && k / 2 < ROWS[i].crossed;

            made_step(&m, second ? ROWS[i].thread : 1, k,
                      second ? 100 * (k - 1) + 40 - ROWS[i].by : 100 * k,
                      k % 2 ? 20 : 40);
        }
        check_error(&m, ROWS[i].refused ? "marks of steps overlap on one thread"
                                        : "");
    }
}

int main(void)
{
    RUN(test_kineto_finish__origins);
    RUN(test_kineto_finish__launches_twice);
    RUN(test_kineto_finish__launches_inside);
    RUN(test_kineto_finish__marks_that_cross);
    return check_summary();
}

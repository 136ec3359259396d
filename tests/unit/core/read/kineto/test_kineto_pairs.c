/*
 * tests/unit/core/read/kineto/test_kineto_pairs.c - events in two halves, of
 * every column.
 */
#include "tests/unit/loaded_kineto.h"

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))
#define DEEPEST      4096
#define DEEPER       "event 4097 'a' begins inside 4096 others, want ends"

static void begin(struct made *m, const char *cat, const char *name,
                  const char *ts)
{
    made_add(m,
             "{\"ph\":\"B\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":1,"
             "\"ts\":%s,\"args\":{\"device\":0,\"stream\":7}},",
             cat, name, ts);
}

static void end(struct made *m, const char *ts)
{
    made_add(m, "{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%s},", ts);
}

/* The rows that are of a category, and how long the first and the last last. */
static uint32_t rows_of(const struct msim_trace *t, const char *cat,
                        msim_ps dur[2])
{
    uint32_t n;

#define ROWS_OF(word, column)                                                  \
    if (strstr(cat, word)) {                                                   \
        n = t->n_##column;                                                     \
        dur[0] = n ? t->column[0].dur : -1;                                    \
        dur[1] = n ? t->column[n - 1].dur : -1;                                \
        return n;                                                              \
    }
    ROWS_OF("runtime", calls)
    ROWS_OF("sync", syncs)
    ROWS_OF("kernel", gpu)
    ROWS_OF("gpu_mem", gpu)
    ROWS_OF("o", ops) /* cpu_op, user_annotation */
#undef ROWS_OF
    return 0;
}

/* What begins and has no end is no row; those beside it are as they were. */
static void test_kineto_pairs__of_every_column(void)
{
    static const char *const CATS[] = {
        "cpu_op", "user_annotation", "cuda_runtime", "cuda_sync",
        "kernel", "gpu_memcpy",      "gpu_memset"};

    for (size_t i = 0; i < LENGTH(CATS); i++) {
        struct made m = made_trace(0, 1);
        struct msim_job *job;
        msim_ps dur[2] = {-1, -1};

        begin(&m, CATS[i], "never ends", "0.5");
        for (int k = 0; k < 20; k++) {
            char ts[16];

            snprintf(ts, sizeof(ts), "%d.75", 10 + 30 * k);
            begin(&m, CATS[i], "x", ts);
            snprintf(ts, sizeof(ts), "%d.25", 12 + 31 * k);
            end(&m, ts);
        }
        job = load_made(&m);
        REQUIRE(job);
        CHECK_UINT(rows_of(job->ranks[0], CATS[i], dur), 20);
        CHECK_INT(dur[0], 1500000);
        CHECK_INT(dur[1], 19 * MSIM_PS_PER_US + 1500000);
        CHECK_UINT(job->ranks[0]->import.read, 40); /* both halves */
        CHECK(warned(job, "event 'never ends' begins and does not end"));
        msim_job_free(job);
    }
}

/* Ends of what is not read, and of nothing. */
static void test_kineto_pairs__ends(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    begin(&m, "cpu_op", "a", "1.25");
    begin(&m, "python_function", "f", "2");
    begin(&m, "overhead", "g", "2");
    end(&m, "3");
    end(&m, "4");
    end(&m, "5.75");
    end(&m, "6");
    end(&m, "7");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_ops == 1);
    CHECK_INT(job->ranks[0]->ops[0].dur, 4500000);
    CHECK_UINT(count_of(job->ranks[0], MSIM_IMPORT_END, NULL), 2);
    CHECK_UINT(count_of(job->ranks[0], MSIM_IMPORT_STRAY_END, NULL), 2);
    CHECK_UINT(job->ranks[0]->import.records, 9);
    msim_job_free(job);
}

/* An end before its begin leaves the event open. */
static void test_kineto_pairs__end_before_begin(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    for (int k = 0; k < 20; k++)
        made_op(&m, 1, "other", 100 + 10 * k, 9);
    begin(&m, "cpu_op", "a", "50.5");
    end(&m, "50.25");
    end(&m, "51.5");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_ops == 21);
    CHECK_INT(job->ranks[0]->ops[0].dur, 1000000);
    CHECK(warned(job, "'dur' is -1, want >= 0 us"));
    msim_job_free(job);
}

static void test_kineto_pairs__deepest(void)
{
    for (int more = 0; more < 2; more++) {
        struct made m = made_trace(0, 1);
        struct msim_error err;
        struct msim_job *job;
        char ts[16];

        for (int k = 0; k < DEEPEST + more; k++) {
            snprintf(ts, sizeof(ts), "%d", k);
            begin(&m, "cpu_op", "a", ts);
        }
        for (int k = DEEPEST + more; k < 2 * (DEEPEST + more); k++) {
            snprintf(ts, sizeof(ts), "%d", k);
            end(&m, ts);
        }
        job = load_made_as(&m, &err);
        if (more) {
            CHECK(job == NULL);
            CHECK(!strncmp(err.text, DEEPER, strlen(DEEPER)));
        } else if (CHECK(job != NULL)) {
            CHECK_UINT(job->ranks[0]->n_ops, DEEPEST);
            CHECK_INT(job->ranks[0]->ops[0].dur,
                      (2 * DEEPEST - 1) * (msim_ps)MSIM_PS_PER_US);
        }
        msim_job_free(job);
    }
}

int main(void)
{
    RUN(test_kineto_pairs__of_every_column);
    RUN(test_kineto_pairs__ends);
    RUN(test_kineto_pairs__end_before_begin);
    RUN(test_kineto_pairs__deepest);
    return check_summary();
}

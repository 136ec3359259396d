/*
 * tests/unit/core/read/kineto/test_kineto_memory.c - what allocators say that
 * they hold.
 */
#include "tests/unit/loaded_kineto.h"

#define TOTALS "\"Total Allocated\":300,\"Total Reserved\":400"

/* What the allocator of `pid` says at `ts`, of device `id` of a type. */
static void instant(struct made *m, int pid, const char *ts, int type, int id,
                    const char *totals)
{
    made_add(m,
             "{\"ph\":\"i\",\"name\":\"[memory]\",\"pid\":%d,\"tid\":1,"
             "\"ts\":%s,\"args\":{\"Device Type\":%d,\"Device Id\":%d%s%s}},",
             pid, ts, type, id, *totals ? "," : "", totals);
}

/* GPUs of all makers count, by PyTorch's numbers (c10/core/DeviceType.h); the
 * host is not looked at, and what else there is, is said by its number. */
static void test_kineto_memory__of_device_types(void)
{
    static const int DEVICES[] = {1, 6, 12, 13, 15, 19, 20};
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;
    int others = 0;

    made_op(&m, 1, "anchor", 0, 100);
    for (int type = -1; type < 8; type++)
        instant(&m, 9, "5", type, 0, TOTALS);
    job = load_made(&m);
    REQUIRE(job);
    t = job->ranks[0];
    CHECK_UINT(t->n_memory, 2); /* 1 and 6 */
    CHECK_UINT(count_of(t, MSIM_IMPORT_HOST_MEMORY, NULL), 1);
    for (int type = -1; type < 8; type++) {
        char name[8];

        snprintf(name, sizeof(name), "%d", type);
        CHECK_UINT(count_of(t, MSIM_IMPORT_OTHER_MEMORY, name),
                   type != 0 && type != 1 && type != 6);
    }
    CHECK_UINT(counted(t, MSIM_IMPORT_OTHER_MEMORY, "2")->us, 0);
    CHECK(warned(job, "1 allocation on devices of kind '7' is not read"));
    msim_job_free(job);
    m = made_trace(0, 1);
    made_op(&m, 1, "anchor", 0, 100);
    for (int type = 7; type < 24; type++)
        instant(&m, 9, "5", type, type, TOTALS);
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_memory == 5);
    t = job->ranks[0];
    for (uint32_t i = 0; i < 5; i++)
        CHECK_INT(t->memory[i].device, DEVICES[2 + i]);
    for (int type = 7; type < 24; type++) {
        char name[8];

        snprintf(name, sizeof(name), "%d", type);
        others += count_of(t, MSIM_IMPORT_OTHER_MEMORY, name) == 1;
    }
    CHECK_INT(others, 12);
    msim_job_free(job);
}

/* By device, then time, then their place in the file. */
static void test_kineto_memory__rows_in_order(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_op(&m, 1, "anchor", 10, 100);
    instant(&m, 9, "30", 1, 1, TOTALS);
    instant(&m, 8, "20.25", 1, 1, "\"Total Allocated\":7");
    instant(&m, 9, "40", 1, 0, "\"Total Allocated\":1,\"Total Reserved\":0");
    instant(&m, 9, "40", 1, 0, "\"Total Allocated\":0,\"Total Reserved\":2");
    instant(&m, 9, "35", 1, 0, "\"Total Reserved\":9");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_memory == 4);
    t = job->ranks[0];
    CHECK_UINT(t->import.read, 5);
    CHECK_UINT(count_of(t, MSIM_IMPORT_MEMORY_CHANGE, NULL), 1);
    CHECK_UINT(t->memory[0].allocated, 1);
    CHECK_UINT(t->memory[0].reserved, 0);
    CHECK_UINT(t->memory[1].allocated, 0);
    CHECK_UINT(t->memory[1].reserved, 2);
    CHECK_INT(t->memory[1].device, 0);
    CHECK_INT(t->memory[1].at, 30 * MSIM_PS_PER_US);
    CHECK_INT(t->memory[2].at, 10 * MSIM_PS_PER_US + 250000);
    CHECK_INT(t->memory[2].device, 1);
    CHECK_INT(t->memory[2].pid, 8);
    CHECK_UINT(t->memory[2].allocated, 7);
    CHECK_UINT(t->memory[2].reserved, MSIM_BYTES_UNKNOWN);
    CHECK_INT(t->memory[3].pid, 9);
    CHECK_UINT(t->memory[3].allocated, 300);
    CHECK_UINT(t->memory[3].reserved, 400);
    msim_job_free(job);
}

/* From nothing to a pebibyte. */
static void test_kineto_memory__totals_that_can_be(void)
{
    static const struct {
        const char *bytes;
        bool can_be;
    } ROWS[] = {{"0", true},
                {"-1", false},
                {"1125899906842624", true},
                {"1125899906842625", false}};

    for (size_t i = 0; i < 2 * sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct made m = made_trace(0, 1);
        struct msim_job *job;
        char totals[96];

        snprintf(totals, sizeof(totals),
                 i % 2 ? "\"Total Allocated\":%s,\"Total Reserved\":5"
                       : "\"Total Allocated\":5,\"Total Reserved\":%s",
                 ROWS[i / 2].bytes);
        for (int k = 0; k < 20; k++)
            made_op(&m, 1, "anchor", 10 * k, 10);
        instant(&m, 9, "5", 1, 0, totals);
        job = load_made(&m);
        REQUIRE(job);
        CHECK_UINT(job->ranks[0]->n_memory, ROWS[i / 2].can_be);
        CHECK_INT(warned(job, "event 21 '[memory]': a total is no number of "
                              "bytes that there can be"),
                  !ROWS[i / 2].can_be);
        msim_job_free(job);
    }
}

/* The days of an event's time are looked at as of any other's. */
static void test_kineto_memory__sound_times(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    for (int k = 0; k < 20; k++)
        made_op(&m, 1, "anchor", 10 * k, 10);
    instant(&m, 9, "99999999999", 1, 0, TOTALS);
    job = load_made(&m);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_memory, 0);
    CHECK(warned(job, "more than a day from the first"));
    msim_job_free(job);
}

int main(void)
{
    RUN(test_kineto_memory__of_device_types);
    RUN(test_kineto_memory__rows_in_order);
    RUN(test_kineto_memory__totals_that_can_be);
    RUN(test_kineto_memory__sound_times);
    return check_summary();
}

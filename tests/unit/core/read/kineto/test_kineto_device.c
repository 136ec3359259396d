/*
 * tests/unit/core/read/kineto/test_kineto_device.c - what ran on devices of
 * other makers, and what other tools write.
 */
#include "tests/unit/loaded_kineto.h"

/* A call of `runtime` and the kernel that it starts share an id. */
static void check_linked(const char *runtime, const char *id)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    made_op(&m, 1, "aten::mm", 0, 30);
    made_event(&m, runtime, "start", MADE_HOST, 1, 10, 2);
    made_add(&m, "\"correlation\":%s}},", id);
    made_event(&m, "kernel", "k", 0, 0, 15, 100);
    made_add(&m, "\"device\":0,\"sycl queue\":64,\"correlation\":%s}},", id);
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == 1);
    CHECK_UINT(job->ranks[0]->gpu[0].call, 0);
    CHECK_UINT(job->ranks[0]->gpu[0].op, 0);
    CHECK_INT(job->ranks[0]->streams[0].id, 64);
    CHECK_UINT(job->n_warnings, 0);
    msim_job_free(job);
}

static void test_kineto_device__runtimes(void)
{
    check_linked("xpu_runtime", "101");
    check_linked("xpu_driver", "4294967295");
    check_linked("privateuse1_runtime", "4294967296");
    check_linked("mtia_runtime", "9007199254740993");
    check_linked("privateuse1_driver", "-7");
}

/* Ids of more than 32 bits do not meet others. */
static void test_kineto_device__long_ids(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_event(&m, "cuda_runtime", "cudaLaunchKernel", MADE_HOST, 1, 20, 2);
    made_add(&m, "\"correlation\":4294967297}},");
    made_kernel(&m, 7, "near", 15, 3, 1);
    made_event(&m, "kernel", "far", 0, 7, 25, 3);
    made_add(&m, "\"device\":0,\"stream\":7,\"correlation\":4294967297}},");
    made_event(&m, "kernel", "none", 0, 7, 30, 3);
    made_add(&m, "\"device\":0,\"stream\":7,\"correlation\":-1}},");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == 3);
    CHECK_UINT(job->ranks[0]->gpu[0].call, 0);
    CHECK_UINT(job->ranks[0]->gpu[1].call, 1);
    CHECK_UINT(job->ranks[0]->gpu[2].call, MSIM_NONE);
    msim_job_free(job);
}

static void half(struct made *m, char ph, const char *name, int tid, int ts)
{
    made_add(m, "{\"ph\":\"%c\",\"pid\":0,\"tid\":%d,\"ts\":%d.25", ph, tid,
             ts);
    if (name)
        made_add(m,
                 ",\"cat\":\"kernel\",\"name\":\"%s\",\"args\":{\"device\":0,"
                 "\"stream\":%d}",
                 name, tid);
    made_add(m, "},");
}

/* An end has the name of its begin, or is the innermost's of its thread; the
 * second kernel may begin before the first one's end in the file. */
static void test_kineto_device__pairs(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    made_op(&m, 1, "aten::mm", 0, 300);
    half(&m, 'B', "a", 7, 10);
    half(&m, 'B', "other", 8, 20);
    half(&m, 'B', "b", 7, 110);
    half(&m, 'E', "a", 7, 110);
    half(&m, 'E', NULL, 7, 160);
    half(&m, 'E', NULL, 8, 30);
    made_add(&m, "{\"cat\":\"python_function\",\"name\":\"f\",\"ph\":\"B\","
                 "\"pid\":0,\"tid\":7,\"ts\":200},");
    half(&m, 'B', "c", 7, 210);
    half(&m, 'E', NULL, 7, 215);
    half(&m, 'E', NULL, 7, 220);
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == 4);
    t = job->ranks[0];
    CHECK_INT(t->gpu[0].dur, 100 * MSIM_PS_PER_US);
    CHECK_INT(t->gpu[1].dur, 50 * MSIM_PS_PER_US);
    CHECK_INT(t->gpu[2].dur, 5 * MSIM_PS_PER_US);
    CHECK_INT(t->gpu[3].dur, 10 * MSIM_PS_PER_US);
    CHECK(!warned(job, "left out"));
    msim_job_free(job);
}

/* What begins and does not end, or ends before, cannot be. */
static void test_kineto_device__pairs_without_end(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    for (int i = 0; i < 20; i++)
        made_kernel(&m, 7, "k", 10 * i, 9, 0);
    half(&m, 'B', "lost", 8, 50);
    half(&m, 'B', "a", 7, 300);
    half(&m, 'E', NULL, 7, 310);
    half(&m, 'E', NULL, 9, 310);
    job = load_made(&m);
    REQUIRE(job);
    CHECK_UINT(job->ranks[0]->n_gpu, 21);
    CHECK(warned(job, "1 of 23 events is left out"));
    CHECK(warned(job, "event 'lost' begins and does not end"));
    msim_job_free(job);
}

/* Of what is not read it is said how much there is. */
static void test_kineto_device__unread(void)
{
    struct made m = made_trace(0, 1);
    struct msim_job *job;

    made_op(&m, 1, "aten::mm", 0, 300);
    made_event(&m, "npu_op", "n", 3, 4, 20, 100);
    made_add(&m, "}},");
    made_event(&m, "npu_op", "n", 3, 4, 120, 50);
    made_add(&m, "}},");
    made_event(&m, "python_function", "f", 3, 4, 120, 50);
    made_add(&m, "}},");
    made_add(&m, "{\"ph\":\"X\",\"name\":\"x\",\"ts\":5,\"dur\":7},");
    made_add(&m, "{\"ph\":\"b\",\"cat\":\"q\",\"name\":\"x\",\"ts\":5},");
    job = load_made(&m);
    REQUIRE(job);
    CHECK_UINT(job->n_warnings, 3);
    CHECK(warned(job, "2 events of category 'npu_op' are not read (150 us)"));
    CHECK(warned(job, "1 event of no category is not read (7 us)"));
    CHECK(warned(job, "1 event of phase 'b' is not read"));
    msim_job_free(job);
}

/* Ascend's lists say by the type of a task what ran on the device. */
static void test_kineto_device__tasks(void)
{
    static const char *const TYPES[] = {"AI_CORE", "MIX_AIC", "SDMA",
                                        "EVENT_WAIT"};
    struct made m = made_trace(0, 1);
    struct msim_job *job;
    const struct msim_trace *t;

    for (int i = 0; i < 4; i++)
        made_add(&m,
                 "{\"ph\":\"X\",\"name\":\"t%d\",\"pid\":5,\"tid\":3,"
                 "\"ts\":\"%d.5\",\"dur\":8,\"args\":{\"Task Type\":\"%s\","
                 "\"Physic Stream Id\":6}},",
                 i, 10 * i, TYPES[i]);
    made_event(&m, "hpu_op", "h", 9, 3, 100, 10);
    made_add(&m, "\"Device\":\"HPU\"}},");
    job = load_made(&m);
    REQUIRE(job && job->ranks[0]->n_gpu == 4);
    t = job->ranks[0];
    CHECK_INT(t->streams[0].id, 6);
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_KERNEL);
    CHECK_INT(t->gpu[1].kind, MSIM_GPU_KERNEL);
    CHECK_INT(t->gpu[2].kind, MSIM_GPU_MEMCPY);
    CHECK_INT(t->gpu[3].kind, MSIM_GPU_KERNEL);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_kineto_device__runtimes);
    RUN(test_kineto_device__long_ids);
    RUN(test_kineto_device__pairs);
    RUN(test_kineto_device__pairs_without_end);
    RUN(test_kineto_device__unread);
    RUN(test_kineto_device__tasks);
    return check_summary();
}

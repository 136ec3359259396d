/*
 * tests/unit/replay/fleet/test_device_time.c - the time of devices by kind.
 */
#include "core/job/job.h"
#include "replay/fleet/fleet.h"
#include "tests/check.h"
#include "tests/unit/made_kineto.h"

/* The time of the devices of `m`, which is closed. */
static struct msim_device_time time_of(struct made *m, const char **absent)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_device_time d = {0};
    char *text = made_text(m);
    struct msim_job *job;

    CHECK_INT(
        msim_job_load_memory(&job, "made.json", text, strlen(text), &opt, NULL),
        MSIM_OK);
    CHECK_INT(msim_device_time_add(&d, job->ranks[0]), MSIM_OK);
    if (absent)
        *absent = msim_device_time_absent(job->ranks[0]);
    msim_job_free(job);
    free(text);
    made_free(m);
    return d;
}

/* The example of the header. */
static void test_device_time__overlap(void)
{
    struct made m = made_trace(0, 1);
    struct msim_device_time d;

    made_op(&m, 1, "aten::mm", 0, 5);
    made_call(&m, 1, "cudaLaunchKernel", 1, 1, 1);
    made_op(&m, 1, "aten::mm", 6, 5);
    made_call(&m, 1, "cudaLaunchKernel", 7, 1, 2);
    made_kernel(&m, 7, "gemm", 100, 10, 1);
    made_kernel(&m, 7, "gemm", 114, 6, 2);
    made_kernel(&m, 9, "ncclDevKernel_AllReduce", 106, 6, 3);
    d = time_of(&m, NULL);
    CHECK_UINT(d.gpus, 1);
    CHECK_UINT(d.cpus, 0);
    CHECK_REL(d.us[MSIM_FAMILY_GEMM], 14, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_COLLECTIVE], 4, 1e-12);
    CHECK_REL(d.us[MSIM_TIME_IDLE], 2, 1e-12);
    CHECK_REL(msim_device_time_total(&d), 20, 1e-12);
}

/* Three at once share by thirds; of one kind they count twice. */
static void test_device_time__three(void)
{
    struct made m = made_trace(0, 1);
    struct msim_device_time d;

    made_copy(&m, 7, "HtoD (Pinned -> Device)", 0, 9, 1, 100);
    made_copy(&m, 8, "DtoH (Device -> Pinned)", 0, 9, 2, 100);
    made_kernel(&m, 9, "ncclDevKernel_AllReduce", 0, 9, 3);
    d = time_of(&m, NULL);
    CHECK_REL(d.us[MSIM_FAMILY_COPY], 6, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_COLLECTIVE], 3, 1e-12);
    CHECK_REL(d.us[MSIM_TIME_IDLE] + 1, 1, 0);
}

/* A kernel that no operator launched goes by its name. */
static void test_device_time__names(void)
{
    struct made m = made_trace(0, 1);
    struct msim_device_time d;

    made_kernel(&m, 7, "ampere_sgemm_128x64_tn", 0, 3, 1);
    made_kernel(&m, 7, "flash_fwd_kernel", 3, 4, 2);
    made_kernel(&m, 7, "something_else", 7, 5, 3);
    d = time_of(&m, NULL);
    CHECK_REL(d.us[MSIM_FAMILY_GEMM], 3, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_ATTENTION], 4, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_BOUND], 5, 1e-12);
}

/* Without a GPU: operators without what they call, on two threads. */
static void test_device_time__cpu(void)
{
    struct made m = made_trace(0, 1);
    struct msim_device_time d;

    made_op(&m, 1, "aten::_softmax", 0, 10);
    made_op(&m, 1, "aten::unheard_of", 2, 3);
    made_op(&m, 1, "aten::mm", 20, 10);
    made_op(&m, 2, "aten::bmm", 20, 4);
    made_op(&m, 2, "aten::mkldnn_convolution", 24, 6);
    d = time_of(&m, NULL);
    CHECK_UINT(d.gpus, 0);
    CHECK_UINT(d.cpus, 1);
    CHECK_REL(d.us[MSIM_FAMILY_SOFTMAX], 10, 1e-12);
    CHECK_REL(d.us[MSIM_TIME_IDLE], 10, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_GEMM], 4 + 3, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_CONV], 3, 1e-12);
}

static void test_device_time__called(void)
{
    struct made m = made_trace(0, 1);
    struct msim_device_time d;

    made_op(&m, 1, "aten::mm", 0, 10);
    made_op(&m, 1, "aten::add", 2, 3);
    d = time_of(&m, NULL);
    CHECK_REL(d.us[MSIM_FAMILY_GEMM], 7, 1e-12);
    CHECK_REL(d.us[MSIM_FAMILY_POINTWISE], 3, 1e-12);
    CHECK_REL(msim_device_time_total(&d), 10, 1e-12);
}

static void test_device_time__absent(void)
{
    struct made m = made_trace(0, 1);
    const char *why;
    struct msim_device_time d;

    made_op(&m, 1, "aten::mm", 0, 10);
    made_call(&m, 1, "cudaLaunchKernel", 2, 1, 1);
    d = time_of(&m, &why);
    CHECK_REL(msim_device_time_total(&d) + 1, 1, 0);
    CHECK_STR(why, "its operators use a GPU, and its kernels are not recorded");
    m = made_trace(0, 1);
    made_step(&m, 1, 1, 0, 10);
    d = time_of(&m, &why);
    CHECK_REL(msim_device_time_total(&d) + 1, 1, 0);
    CHECK_STR(why, "nothing in it takes time");
}

static void test_device_time__texts(void)
{
    CHECK_STR(msim_time_kind_text(MSIM_FAMILY_GEMM), "gemm");
    CHECK_STR(msim_time_kind_text(MSIM_FAMILY_BOUND), "other");
    CHECK_STR(msim_time_kind_text(MSIM_TIME_IDLE), "idle");
}

int main(void)
{
    RUN(test_device_time__overlap);
    RUN(test_device_time__three);
    RUN(test_device_time__names);
    RUN(test_device_time__cpu);
    RUN(test_device_time__called);
    RUN(test_device_time__absent);
    RUN(test_device_time__texts);
    return check_summary();
}

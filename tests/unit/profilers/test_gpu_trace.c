/*
 * The trace of a GPU that was never there: made-up records are written and
 * read back by the reader of Kineto traces.
 */
#include "profilers/gpu_trace.h"

#include "core/job/job.h"
#include "tests/check.h"
#include "tests/trace_checks.h"

#include <stdlib.h>
#include <unistd.h>

/* Nanoseconds since 1970, as CUPTI has them. */
#define NOW UINT64_C(1763647363000000000)

static void add(struct msim_gpu_trace *t, const char *name,
                struct msim_gpu_event e)
{
    e.start_ns += NOW;
    e.end_ns += NOW;
    CHECK_INT(msim_gpu_trace_add(t, &e, name), MSIM_OK);
}

static struct msim_gpu_trace *made(void)
{
    static const struct msim_gpu_device DEVICE = {
        .id = 0,
        .memory_bytes = UINT64_C(150000000000),
        .major = 9,
        .sms = 132,
        .threads_a_block = 1024,
        .threads_an_sm = 2048,
        .registers_a_block = 65536,
        .registers_an_sm = 65536,
        .warp = 32,
        .shared_a_block = 49152,
        .shared_an_sm = 233472,
    };
    struct msim_gpu_trace *t = NULL;

    if (msim_gpu_trace_new(&t) != MSIM_OK)
        return NULL;
    t->process = 4711;
    t->cupti_version = 130001;
    CHECK_INT(msim_gpu_trace_device(t, &DEVICE, "NVIDIA H200"), MSIM_OK);
    CHECK_INT(msim_gpu_trace_device(t, &DEVICE, "NVIDIA H200"), MSIM_OK);
    return t;
}

static void drop(struct msim_gpu_trace *t)
{
    msim_strtab_free(t->strings);
    free(t->events);
    free(t);
}

/* A copy, a kernel of the runtime with the driver's call inside, a kernel of
 * the driver alone, a memset, and a wait for it all; the kernels before their
 * calls, as they come when buffers are flushed. */
static void fill(struct msim_gpu_trace *t)
{
    add(t, "void gemm<float, \"quoted\">(float *)",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_KERNEL,
                                .start_ns = 20123,
                                .end_ns = 50124,
                                .correlation = 2,
                                .context = 1,
                                .stream = 7,
                                .grid = {8, 4, 2},
                                .block = {256, 1, 1},
                                .shared_bytes = 1024,
                                .registers = 40});
    add(t, "Memcpy HtoD (Pinned -> Device)",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_COPY,
                                .start_ns = 5000,
                                .end_ns = 9000,
                                .correlation = 1,
                                .stream = 7,
                                .bytes = 100000});
    add(t, "cudaMemcpyAsync",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_CALL,
                                .start_ns = 1000,
                                .end_ns = 3000,
                                .correlation = 1,
                                .device = 4711,
                                .stream = 99});
    add(t, "cudaLaunchKernel",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_CALL,
                                .start_ns = 10000,
                                .end_ns = 14000,
                                .correlation = 2,
                                .device = 4711,
                                .stream = 99});
    add(t, "cuLaunchKernel",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_DRIVER,
                                .start_ns = 11000,
                                .end_ns = 13000,
                                .correlation = 2,
                                .device = 4711,
                                .stream = 99});
    add(t, "cuLaunchKernel",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_DRIVER,
                                .start_ns = 15000,
                                .end_ns = 16000,
                                .correlation = 3,
                                .device = 4711,
                                .stream = 99});
    add(t, "triton_fused",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_KERNEL,
                                .start_ns = 51000,
                                .end_ns = 52000,
                                .correlation = 3,
                                .stream = 7,
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1}});
    add(t, "Memset (Device)",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_SET,
                                .start_ns = 53000,
                                .end_ns = 54000,
                                .correlation = 4,
                                .stream = 8,
                                .bytes = 64});
    add(t, "cudaDeviceSynchronize",
        (struct msim_gpu_event){.kind = MSIM_GPU_EVENT_CALL,
                                .start_ns = 17000,
                                .end_ns = 60000,
                                .correlation = 5,
                                .device = 4711,
                                .stream = 99});
}

/* Write and read back; the job must be freed. */
static struct msim_job *there_and_back(const struct msim_gpu_trace *t,
                                       const char *suffix)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};
    struct msim_job *job = NULL;
    char path[64] = "msim-test-gpu-trace-XXXXXX";
    const char *paths[1] = {path};
    int fd = mkstemp(path);

    if (!CHECK(fd >= 0))
        return NULL;
    close(fd);
    unlink(path);
    memcpy(path + strlen(path), suffix, strlen(suffix) + 1);
    CHECK_INT(msim_gpu_trace_write(t, path, &err), MSIM_OK);
    CHECK_INT(msim_job_load(&job, paths, 1, &opt, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    unlink(path);
    return job;
}

static void check_read(const struct msim_job *job)
{
    const struct msim_trace *t = job->ranks[0];

    CHECK_STR(job_broken(job) ? job_broken(job) : "", "");
    /* the driver's call inside the runtime's is left out */
    REQUIRE(t->n_gpu == 4 && t->n_calls == 4);
    CHECK_UINT(t->unlinked_gpu, 1); /* nobody called for the memset */
    CHECK_INT(t->gpu[0].kind, MSIM_GPU_MEMCPY);
    CHECK_UINT(t->gpu[0].bytes, 100000);
    CHECK_STR(msim_trace_text(t, t->gpu[1].name),
              "void gemm<float, \"quoted\">(float *)");
    /* to the nanosecond, from the first event on */
    CHECK_INT(t->gpu[1].start, INT64_C(19123) * 1000);
    CHECK_INT(t->gpu[1].dur, INT64_C(30001) * 1000);
    CHECK_INT(t->calls[1].kind, MSIM_CALL_LAUNCH);
    CHECK_UINT(t->calls[1].gpu, 1);
    CHECK_UINT(t->calls[2].gpu, 2);
    CHECK_INT(t->calls[3].kind, MSIM_CALL_DEVICE_SYNC);
    REQUIRE(t->gpu[1].config != MSIM_NONE);
    CHECK_UINT(t->configs[t->gpu[1].config].grid[1], 4);
    CHECK_UINT(t->configs[t->gpu[1].config].block[0], 256);
    CHECK_UINT(t->configs[t->gpu[1].config].shared_bytes, 1024);
}

static void test_gpu_trace__is_read_back(void)
{
    struct msim_gpu_trace *t = made();
    struct msim_job *job;

    REQUIRE(t);
    CHECK_UINT(t->n_devices, 1);
    fill(t);
    for (int gzip = 0; gzip < 2; gzip++) {
        job = there_and_back(t, gzip ? ".json.gz" : ".json");
        if (CHECK(job && job->n_ranks == 1))
            check_read(job);
        msim_job_free(job);
    }
    drop(t);
}

static void test_gpu_trace__cleared(void)
{
    struct msim_gpu_trace *t = made();

    REQUIRE(t);
    fill(t);
    msim_gpu_trace_clear(t);
    CHECK_UINT(t->n_events, 0);
    CHECK_UINT(t->n_devices, 1);
    fill(t);
    CHECK_UINT(t->n_events, 9);
    drop(t);
}

static void test_gpu_trace__no_folder(void)
{
    struct msim_gpu_trace *t = made();
    struct msim_error err = {0};

    REQUIRE(t);
    CHECK_INT(msim_gpu_trace_write(t, "/no/such/folder/t.json", &err),
              MSIM_EIO);
    CHECK(err.text[0]);
    drop(t);
}

int main(void)
{
    RUN(test_gpu_trace__is_read_back);
    RUN(test_gpu_trace__cleared);
    RUN(test_gpu_trace__no_folder);
    return check_summary();
}

/*
 * profilers/cuda/cuda_backend.c - the CUDA backend's table of functions.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/cupti/cupti_trace.h"
#include "profilers/cuda/kernels/kernels.h"

#include <cupti.h>
#include <stdlib.h>
#include <string.h>

/* Which libraries it was built with. */
#ifndef MSIM_HAVE_CUBLAS
#define MSIM_HAVE_CUBLAS 0
#endif
#ifndef MSIM_HAVE_CUDNN
#define MSIM_HAVE_CUDNN 0
#endif
#ifndef MSIM_HAVE_NCCL
#define MSIM_HAVE_NCCL 0
#endif

/* ---- opening ------------------------------------------------------------- */

/* An error that is still there after it was read is the context's, and stays;
 * what a failed call left behind is gone. */
static bool usable_cuda(void *self)
{
    const struct msim_cuda *c = self;

    (void)cudaGetLastError();
    return !c->broken && cudaDeviceSynchronize() == cudaSuccess &&
           cudaGetLastError() == cudaSuccess;
}

static void close_cuda(void *self)
{
    struct msim_cuda *c = self;

    if (!usable_cuda(c))
        return; /* what a device in this state is asked for may never return */
    msim_cuda_counters_close(c);
#if MSIM_HAVE_CUBLAS
    msim_cublas_free(c->cublas);
#endif
#if MSIM_HAVE_CUDNN
    msim_cudnn_free(c->cudnn);
#endif
#if MSIM_HAVE_NCCL
    msim_nccl_free(c->nccl);
#endif
    (void)cudaFree(c->flush);
    if (c->begin)
        (void)cudaEventDestroy(c->begin);
    if (c->end)
        (void)cudaEventDestroy(c->end);
    if (c->concurrent_end)
        (void)cudaEventDestroy(c->concurrent_end);
    if (c->stream)
        (void)cudaStreamDestroy(c->stream);
    if (c->concurrent)
        (void)cudaStreamDestroy(c->concurrent);
    msim_nvml_close(c->nvml);
    free(c);
}

static enum msim_status find_device(struct msim_cuda *c, struct msim_error *err)
{
    cudaError_t e = cudaGetDeviceCount(&c->gpus);

    if (e != cudaSuccess)
        return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                         "no NVIDIA GPU to time: cudaGetDeviceCount: %s",
                         cudaGetErrorString(e));
    if (c->gpus < 1)
        return msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                         "no NVIDIA GPU to time: the driver lists none");
    MSIM_TRY(MSIM_CUDA(cudaSetDevice(0)));
    MSIM_TRY(MSIM_CUDA(cudaGetDeviceProperties(&c->device, 0)));
    MSIM_TRY(MSIM_CUDA(cudaDriverGetVersion(&c->driver)));
    return MSIM_CUDA(cudaRuntimeGetVersion(&c->runtime));
}

/* Twice the L2 cache is read, and at least 64 MiB. */
static enum msim_status make_flush(struct msim_cuda *c, struct msim_error *err)
{
    size_t cache = (size_t)c->device.l2CacheSize;
    void *memory;

    c->flush_bytes = cache < ((size_t)32 << 20) ? (size_t)64 << 20 : 2 * cache;
    MSIM_TRY(
        msim_cuda_random(&memory, c->flush_bytes, MSIM_DT_U8, 0, 256, err));
    c->flush = memory;
    return MSIM_OK;
}

static enum msim_status make_streams(struct msim_cuda *c,
                                     struct msim_error *err)
{
    MSIM_TRY(MSIM_CUDA(
        cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking)));
    MSIM_TRY(MSIM_CUDA(
        cudaStreamCreateWithFlags(&c->concurrent, cudaStreamNonBlocking)));
    MSIM_TRY(MSIM_CUDA(cudaEventCreate(&c->begin)));
    MSIM_TRY(MSIM_CUDA(cudaEventCreate(&c->end)));
    return MSIM_CUDA(cudaEventCreate(&c->concurrent_end));
}

/* Without CUPTI (another profiler has it, say) events must do. */
static void begin_cupti(struct msim_cuda *c)
{
    struct msim_error why = {0};

    c->cupti = msim_cupti_begin(false, &why) == MSIM_OK;
    if (c->cupti && cuptiGetStreamIdEx(NULL, c->stream, 0, &c->stream_id) !=
                        CUPTI_SUCCESS) {
        c->cupti = false;
        snprintf(why.text, sizeof(why.text), "cuptiGetStreamIdEx: failed");
    }
    snprintf(c->cupti_why, sizeof(c->cupti_why), "%.100s", why.text);
}

static enum msim_status open_device(struct msim_cuda *c, struct msim_error *err)
{
    char bus[32];

    MSIM_TRY(find_device(c, err));
    MSIM_TRY(make_streams(c, err));
    begin_cupti(c);
    MSIM_TRY(make_flush(c, err));
    msim_cuda_counters_open(c);
    MSIM_TRY(MSIM_CUDA(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0)));
    c->nvml = msim_nvml_open(bus);
    return MSIM_CUDA(cudaDeviceSynchronize());
}

static enum msim_status open_cuda(void **self, struct msim_error *err)
{
    struct msim_cuda *c = calloc(1, sizeof(*c));
    enum msim_status status;

    if (!c)
        return MSIM_ENOMEM;
    status = open_device(c, err);
    if (status == MSIM_OK)
        *self = c;
    else
        close_cuda(c);
    return status;
}

/* ---- what it says of itself ---------------------------------------------- */

/* What a CUDA backend may be asked for. */
static const enum msim_table TABLES[] = {
    MSIM_TABLE_GEMM,    MSIM_TABLE_ATTENTION,  MSIM_TABLE_VECTOR,
    MSIM_TABLE_CONV,    MSIM_TABLE_COLLECTIVE, MSIM_TABLE_COPY,
    MSIM_TABLE_LATENCY,
};
#define N_TABLES (sizeof(TABLES) / sizeof(*TABLES))

static bool have_table(enum msim_table t)
{
    switch (t) {
    case MSIM_TABLE_GEMM:
        return MSIM_HAVE_CUBLAS;
    case MSIM_TABLE_CONV:
        return MSIM_HAVE_CUDNN;
    case MSIM_TABLE_COLLECTIVE:
        return MSIM_HAVE_NCCL;
    case MSIM_TABLE_ATTENTION:
        return false;
    default:
        return true;
    }
}

static const char *why_not(enum msim_table t)
{
    switch (t) {
    case MSIM_TABLE_GEMM:
        return "built without cuBLAS";
    case MSIM_TABLE_CONV:
        return "built without cuDNN";
    case MSIM_TABLE_COLLECTIVE:
        return "built without NCCL";
    default:
        return "left to the torch backend, whose kernels are those in use";
    }
}

static struct msim_gpu_limits limits_of(const struct msim_cuda *c)
{
    struct msim_gpu_limits l = {
        .capability = 10 * c->device.major + c->device.minor,
        .gpus = c->gpus,
        .free_bytes = (double)c->device.totalGlobalMem,
    };
    size_t free_bytes, total;

    if (cudaMemGetInfo(&free_bytes, &total) == cudaSuccess)
        l.free_bytes = (double)free_bytes;
    return l;
}

static void write_version(struct msim_json *out, const char *key, int v)
{
    char text[32];

    snprintf(text, sizeof(text), "%d.%d", v / 1000, v % 1000 / 10);
    msim_json_text(out, key, text);
}

static void describe_device(struct msim_cuda *c, struct msim_json *out)
{
    const struct cudaDeviceProp *d = &c->device;
    struct msim_nvml_state now = msim_nvml_read(c->nvml);
    char text[32];

    msim_json_open(out, "device", '{', false);
    msim_json_text(out, "name", d->name);
    msim_json_text(out, "kind", "gpu");
    snprintf(text, sizeof(text), "%d.%d", d->major, d->minor);
    msim_json_text(out, "compute_capability", text);
    msim_json_integer(out, "sms", d->multiProcessorCount);
    msim_json_unsigned(out, "memory_bytes", d->totalGlobalMem);
    msim_json_integer(out, "l2_bytes", d->l2CacheSize);
    msim_json_integer(out, "memory_bus_bits", d->memoryBusWidth);
    msim_json_integer(out, "count", c->gpus);
    msim_nvml_describe(c->nvml, out);
    msim_nvml_write(&now, "", out);
    msim_json_close(out);
}

static void describe_libraries(struct msim_cuda *c, struct msim_json *out)
{
    char driver[96];
    uint32_t v = 0;

    msim_nvml_driver(c->nvml, driver, sizeof(driver));
    msim_json_open(out, "libraries", '{', false);
    msim_json_text(out, "driver", driver);
    write_version(out, "CUDA driver", c->driver);
    write_version(out, "CUDA runtime", c->runtime);
    if (c->cupti && cuptiGetVersion(&v) == CUPTI_SUCCESS)
        msim_json_unsigned(out, "CUPTI", v);
#if MSIM_HAVE_CUBLAS
    msim_cublas_version(out);
#endif
#if MSIM_HAVE_CUDNN
    msim_cudnn_version(out);
#endif
#if MSIM_HAVE_NCCL
    msim_nccl_version(out);
#endif
    msim_json_close(out);
}

static void describe_tables(struct msim_cuda *c, struct msim_json *out)
{
    struct msim_gpu_limits l = limits_of(c);
    char kind[64];

    msim_json_open(out, "tables", '{', false);
    for (size_t t = 0; t < N_TABLES; t++) {
        if (!have_table(TABLES[t]))
            continue;
        msim_json_open(out, msim_table_text(TABLES[t]), '[', false);
        for (uint32_t i = 0;
             msim_gpu_limits_kind(&l, TABLES[t], i, kind, sizeof(kind)); i++)
            msim_json_text(out, NULL, kind);
        msim_json_close(out);
    }
    msim_json_close(out);
    msim_json_open(out, "left_out", '{', false);
    for (size_t t = 0; t < N_TABLES; t++)
        if (!have_table(TABLES[t]))
            msim_json_text(out, msim_table_text(TABLES[t]), why_not(TABLES[t]));
    msim_json_close(out);
}

/* A few kinds, of numbers that every GPU has: ratios differ less than times. */
static void describe_concurrent(const struct msim_cuda *c,
                                struct msim_json *out)
{
    static const char *const KINDS[][4] = {
        {"gemm", "fp16", "fp32"},
        {"conv", "conv2d_fwd:fp16"},
        {"vector", "add:fp16", "softmax:fp16"},
    };

    if (c->gpus < 2 || !MSIM_HAVE_NCCL) {
        msim_json_text(out, "beside",
                       c->gpus < 2 ? "not run: 1 GPU" : "built without NCCL");
        return;
    }
    msim_json_open(out, "beside", '{', false);
    for (size_t t = 0; t < sizeof(KINDS) / sizeof(*KINDS); t++) {
        if ((t == 0 && !MSIM_HAVE_CUBLAS) || (t == 1 && !MSIM_HAVE_CUDNN))
            continue;
        msim_json_open(out, KINDS[t][0], '[', false);
        for (int i = 1; KINDS[t][i]; i++)
            msim_json_text(out, NULL, KINDS[t][i]);
        msim_json_close(out);
    }
    msim_json_close(out);
}

static void describe_cuda(void *self, struct msim_json *out)
{
    struct msim_cuda *c = self;

    describe_device(c, out);
    describe_libraries(c, out);
    describe_tables(c, out);
    if (c->gpus > 1)
        msim_json_text(out, "interconnect",
                       msim_nvml_has_nvlink(c->nvml) ? "NVLink" : "PCIe");
    msim_json_integer(out, "ranks", c->gpus);
    msim_json_text(out, "timer", c->cupti ? "cupti" : "events");
    if (!c->cupti)
        msim_json_text(out, "no_cupti", c->cupti_why);
    if (c->counters_shut)
        msim_json_text(out, "counters", c->counters_why);
    else
        msim_json_bool(out, "counters", true);
    describe_concurrent(c, out);
}

/* ---- experiments --------------------------------------------------------- */

static enum msim_status make_op(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err)
{
    switch (e->table) {
#if MSIM_HAVE_CUBLAS
    case MSIM_TABLE_GEMM:
        return msim_cuda_gemm(c, e, out, err);
#endif
#if MSIM_HAVE_CUDNN
    case MSIM_TABLE_CONV:
        return msim_cuda_conv(c, e, out, err);
#endif
    case MSIM_TABLE_VECTOR:
        return msim_cuda_vector(c, e, out, err);
    case MSIM_TABLE_COPY:
        return msim_cuda_copy(c, e, out, err);
    case MSIM_TABLE_LATENCY:
        *out = msim_cuda_empty();
        return MSIM_OK;
    default:
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no table '%s' here: %s", msim_table_text(e->table),
                         why_not(e->table));
    }
}

/* What runs beside `e`; copies of pageable memory cannot be queued. */
static enum msim_status make_concurrent(struct msim_cuda *c,
                                        const struct msim_experiment *e,
                                        struct msim_cuda_op *out,
                                        struct msim_error *err)
{
    struct msim_gpu_limits l = limits_of(c);
    struct msim_experiment other;

    MSIM_TRY(msim_experiment_read(&other, e->concurrent, err));
    if (other.concurrent || other.table == MSIM_TABLE_LATENCY ||
        (other.table == MSIM_TABLE_COPY && other.u.copy.pageable))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "that cannot run beside something");
    MSIM_TRY(msim_gpu_limits_check(&l, &other, err));
#if MSIM_HAVE_NCCL
    if (other.table == MSIM_TABLE_COLLECTIVE)
        return msim_cuda_collective_op(c, &other, out, err);
#endif
    return make_op(c, &other, out, err);
}

static enum msim_status prepare_op(struct msim_cuda *c,
                                   const struct msim_experiment *e,
                                   struct msim_case *out,
                                   struct msim_error *err)
{
    struct msim_cuda_op op = {0}, concurrent = {0};
    enum msim_status status;

    MSIM_TRY(make_op(c, e, &op, err));
    if (!e->concurrent)
        return msim_cuda_time(c, e, &op, NULL, out, err);
    status = make_concurrent(c, e, &concurrent, err);
    if (status == MSIM_OK)
        return msim_cuda_time(c, e, &op, &concurrent, out, err);
    if (op.release)
        op.release(op.state);
    return status;
}

static enum msim_status prepare_alone(struct msim_cuda *c,
                                      const struct msim_experiment *e,
                                      struct msim_case *out,
                                      struct msim_error *err)
{
    if (e->concurrent)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "nothing can run beside that");
#if MSIM_HAVE_NCCL
    if (e->table == MSIM_TABLE_COLLECTIVE)
        return msim_cuda_collective(c, e, out, err);
#endif
    return msim_cuda_latency(c, e, out, err);
}

static enum msim_status prepare_cuda(void *self, const cJSON *experiment,
                                     struct msim_case *out,
                                     struct msim_error *err)
{
    struct msim_cuda *c = self;
    struct msim_gpu_limits l = limits_of(c);
    struct msim_experiment e;
    bool alone;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    if (!have_table(e.table))
        return make_op(c, &e, NULL, err); /* says why */
    MSIM_TRY(msim_gpu_limits_check(&l, &e, err));
    alone =
        e.table == MSIM_TABLE_COLLECTIVE ||
        (e.table == MSIM_TABLE_LATENCY && e.u.latency != MSIM_LATENCY_KERNEL);
    MSIM_TRY(alone ? prepare_alone(c, &e, out, err)
                   : prepare_op(c, &e, out, err));
    MSIM_TRY(msim_cuda_wake(c, err));
    memset(&c->timed, 0, sizeof(c->timed));
    c->timed.before = msim_nvml_read(c->nvml);
    return MSIM_OK;
}

static void state_cuda(void *self, struct msim_json *out)
{
    struct msim_cuda *c = self;
    const struct msim_cuda_timed *t = &c->timed;
    /* what is sustained or counted behind the runs is not their state */
    struct msim_nvml_state after = t->seen ? t->after : msim_nvml_read(c->nvml);

    msim_nvml_write(&t->before, "_before", out);
    msim_nvml_write(&after, "_after", out);
    if (t->runs && t->event_us > 0)
        msim_json_number(out, "event_us", t->event_us / t->runs);
    if (t->seen) {
        msim_json_number(out, "cupti_us", t->cupti_us / t->seen);
        msim_json_unsigned(out, "kernels", t->kernels);
    }
}

static enum msim_status check_cuda(const cJSON *experiment, double *bytes,
                                   struct msim_error *err)
{
    struct msim_experiment e, other;

    MSIM_TRY(msim_experiment_read(&e, experiment, err));
    *bytes = msim_experiment_bytes(&e);
    if (!have_table(e.table))
        return make_op(NULL, &e, NULL, err); /* says why */
    if (!e.concurrent)
        return MSIM_OK;
    MSIM_TRY(msim_experiment_read(&other, e.concurrent, err));
    *bytes += msim_experiment_bytes(&other);
    return MSIM_OK;
}

static enum msim_status count_cuda(void *self, const struct msim_case *c,
                                   struct msim_counts *out,
                                   struct msim_error *err)
{
    (void)self;
    return msim_cuda_count_case(c, out, err);
}

static enum msim_status sustain_cuda(void *self, const struct msim_case *c,
                                     double seconds, struct msim_sustained *out,
                                     struct msim_error *err)
{
    return msim_cuda_sustain(self, c, seconds, out, err);
}

static enum msim_status together_cuda(void *self, const struct msim_case *cases,
                                      const uint32_t *order, uint32_t n,
                                      double *us, struct msim_error *err)
{
    return msim_cuda_together(self, cases, order, n, us, err);
}

const struct msim_backend MSIM_BACKEND_CUDA = {
    .name = "cuda",
    .open = open_cuda,
    .close = close_cuda,
    .describe = describe_cuda,
    .prepare = prepare_cuda,
    .state = state_cuda,
    .check = check_cuda,
    .count = count_cuda,
    .sustain = sustain_cuda,
    .together = together_cuda,
    .usable = usable_cuda,
    .apart = true,
};

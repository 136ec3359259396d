/*
 * profilers/cuda/cupti/cupti_trace.c - CUPTI's activity records as a trace.
 */
#include "profilers/cuda/cupti/cupti_trace.h"

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Records grow with versions of the toolkit; those before 13.0 are older. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 activity_kernel;
#else
typedef CUpti_ActivityKernel9 activity_kernel;
#endif
#if CUPTI_API_VERSION >= 26
typedef CUpti_ActivityMemcpy6 activity_memcpy;
#else
typedef CUpti_ActivityMemcpy5 activity_memcpy;
#endif
#if CUPTI_API_VERSION >= 22
typedef CUpti_ActivityDevice5 activity_device;
#else
typedef CUpti_ActivityDevice4 activity_device;
#endif
typedef CUpti_ActivityMemcpyPtoP4 activity_peer;
typedef CUpti_ActivityMemset4 activity_memset;

/* CUPTI clears a buffer before it fills it. What is handed over after every
 * run is little; what a whole program does is much. */
#define BUFFER_OF_RUNS    ((size_t)64 << 10)
#define BUFFER_OF_PROGRAM ((size_t)4 << 20)
#define BUFFER_ALIGN      8

/* Mutable and global, against the rule: see the header. */
static struct {
    pthread_mutex_t mutex;
    struct msim_gpu_trace *trace;
    size_t buffer_bytes; /* set before the first is asked for */
    enum msim_status status;
} collected = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Of the C++ runtime, which has no C header; NULL where it is no mangled name.
 * The text is the caller's. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length,
                     int *status);

/* ---- one record ---------------------------------------------------------- */

static void add(const struct msim_gpu_event *e, const char *name)
{
    enum msim_status status = msim_gpu_trace_add(collected.trace, e, name);

    if (status != MSIM_OK && collected.status == MSIM_OK)
        collected.status = status;
}

/* What records of kernels, copies and fills have alike. */
#define WHEN_AND_WHERE(record)                                                 \
    .start_ns = (record)->start, .end_ns = (record)->end,                      \
    .correlation = (record)->correlationId, .device = (record)->deviceId,      \
    .context = (record)->contextId, .stream = (record)->streamId,              \
    .graph = (record)->graphId, .graph_node = (record)->graphNodeId

static void add_kernel(const activity_kernel *k)
{
    struct msim_gpu_event e = {
        .kind = MSIM_GPU_EVENT_KERNEL,
        WHEN_AND_WHERE(k),
        .grid = {(uint32_t)k->gridX, (uint32_t)k->gridY, (uint32_t)k->gridZ},
        .block = {(uint32_t)k->blockX, (uint32_t)k->blockY,
                  (uint32_t)k->blockZ},
        .shared_bytes =
            (uint32_t)(k->staticSharedMemory + k->dynamicSharedMemory),
        .registers = k->registersPerThread,
    };
    const char *name = k->name ? k->name : "kernel without a name";
    char *plain = __cxa_demangle(name, NULL, NULL, NULL);

    add(&e, plain ? plain : name);
    free(plain);
}

static const char *memory_text(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
        return "Pageable";
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
        return "Pinned";
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
        return "Device";
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
        return "Array";
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
        return "Managed";
    default:
        return "Unknown";
    }
}

static const char *copy_text(unsigned kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
        return "HtoD";
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
        return "DtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
        return "HtoH";
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
        return "PtoP";
    default:
        return "DtoD";
    }
}

/* The names that PyTorch's profiler gives, "Memcpy HtoD (Pageable -> Device)":
 * readers tell copies apart by them. */
static void add_named_copy(struct msim_gpu_event *e, unsigned kind,
                           unsigned from, unsigned to)
{
    char name[64];

    e->kind = MSIM_GPU_EVENT_COPY;
    snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)", copy_text(kind),
             memory_text(from), memory_text(to));
    add(e, name);
}

static void add_copy(const activity_memcpy *m)
{
    struct msim_gpu_event e = {
        WHEN_AND_WHERE(m),
        .bytes = m->bytes,
    };

    add_named_copy(&e, m->copyKind, m->srcKind, m->dstKind);
}

static void add_peer(const activity_peer *m)
{
    struct msim_gpu_event e = {
        WHEN_AND_WHERE(m),
        .bytes = m->bytes,
    };

    add_named_copy(&e, m->copyKind, m->srcKind, m->dstKind);
}

static void add_memset(const activity_memset *m)
{
    struct msim_gpu_event e = {
        .kind = MSIM_GPU_EVENT_SET,
        WHEN_AND_WHERE(m),
        .bytes = m->bytes,
    };
    char name[64];

    snprintf(name, sizeof(name), "Memset (%s)", memory_text(m->memoryKind));
    add(&e, name);
}

/* "cudaLaunchKernel_v7000" is cudaLaunchKernel. */
static void add_call(const CUpti_ActivityAPI *a, CUpti_CallbackDomain domain)
{
    struct msim_gpu_event e = {
        .kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API ? MSIM_GPU_EVENT_CALL
                                                      : MSIM_GPU_EVENT_DRIVER,
        .start_ns = a->start,
        .end_ns = a->end,
        .correlation = a->correlationId,
        .device = a->processId,
        .stream = a->threadId,
    };
    const char *known = NULL;
    char name[128], *version;

    if (cuptiGetCallbackName(domain, a->cbid, &known) != CUPTI_SUCCESS)
        known = NULL;
    snprintf(name, sizeof(name), "%s", known ? known : "cudaUnknown");
    version = strstr(name, "_v");
    if (version && strspn(version + 2, "0123456789") == strlen(version + 2) &&
        domain == CUPTI_CB_DOMAIN_RUNTIME_API)
        *version = '\0';
    add(&e, name);
}

static void add_device(const activity_device *d)
{
    struct msim_gpu_device to = {
        .id = d->id,
        .memory_bytes = d->globalMemorySize,
        .major = d->computeCapabilityMajor,
        .minor = d->computeCapabilityMinor,
        .sms = d->numMultiprocessors,
        .threads_a_block = d->maxThreadsPerBlock,
        .threads_an_sm = d->maxWarpsPerMultiprocessor * d->numThreadsPerWarp,
        .registers_a_block = d->maxRegistersPerBlock,
        .registers_an_sm = d->maxRegistersPerMultiprocessor,
        .warp = d->numThreadsPerWarp,
        .shared_a_block = d->maxSharedMemoryPerBlock,
        .shared_an_sm = d->maxSharedMemoryPerMultiprocessor,
    };
    enum msim_status status =
        msim_gpu_trace_device(collected.trace, &to, d->name ? d->name : "GPU");

    if (status != MSIM_OK && collected.status == MSIM_OK)
        collected.status = status;
}

/* The kind tells what is behind the pointer; CUPTI aligns records to 8. */
static void add_record(const CUpti_Activity *r)
{
    const void *record = r;

    switch (r->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        add_kernel(record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        add_copy(record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        add_peer(record);
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        add_memset(record);
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        add_call(record, CUPTI_CB_DOMAIN_RUNTIME_API);
        break;
    case CUPTI_ACTIVITY_KIND_DRIVER:
        add_call(record, CUPTI_CB_DOMAIN_DRIVER_API);
        break;
    case CUPTI_ACTIVITY_KIND_DEVICE:
        add_device(record);
        break;
    default:
        break;
    }
}

/* ---- buffers ------------------------------------------------------------- */

static void CUPTIAPI give_buffer(uint8_t **buffer, size_t *size, size_t *most)
{
    *buffer = aligned_alloc(BUFFER_ALIGN, collected.buffer_bytes);
    *size = *buffer ? collected.buffer_bytes : 0;
    *most = 0;
}

static void CUPTIAPI take_buffer(CUcontext context, uint32_t stream,
                                 uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    size_t dropped = 0;

    (void)size;
    pthread_mutex_lock(&collected.mutex);
    while (collected.trace && valid > 0 &&
           cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
        add_record(record);
    if (collected.trace && cuptiActivityGetNumDroppedRecords(
                               context, stream, &dropped) == CUPTI_SUCCESS)
        collected.trace->dropped += dropped;
    pthread_mutex_unlock(&collected.mutex);
    free(buffer);
}

/* ---- the collection ------------------------------------------------------ */

static enum msim_status failed(CUptiResult r, const char *call,
                               struct msim_error *err)
{
    const char *what = NULL;

    if (cuptiGetResultString(r, &what) != CUPTI_SUCCESS || !what)
        what = "unknown error";
    return msim_fail(err, MSIM_EINTERNAL, NULL, MSIM_OFFSET_NONE, "%.*s: %s",
                     (int)strcspn(call, "("), call, what);
}

#define TRY_CUPTI(call)                                                        \
    do {                                                                       \
        CUptiResult result_ = (call);                                          \
        if (result_ != CUPTI_SUCCESS)                                          \
            return failed(result_, #call, err);                                \
    } while (0)

/* Of the driver's calls only launches: the runtime's own calls into the driver
 * are thousands, and whoever launches without the runtime (Triton, say) is
 * seen by these. */
static enum msim_status collect_calls(struct msim_error *err)
{
    static const CUpti_CallbackId LAUNCHES[] = {
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
        CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
        CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    };

    /* too late for some: the driver is asked, too (cuda_list.h) */
    (void)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE);
    TRY_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
#if CUPTI_API_VERSION >= 24
    for (size_t i = 0; i < sizeof(LAUNCHES) / sizeof(*LAUNCHES); i++)
        TRY_CUPTI(cuptiActivityEnableDriverApi(LAUNCHES[i], 1));
#else
    (void)LAUNCHES;
    TRY_CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
#endif
    return MSIM_OK;
}

/* What the device does. */
static const CUpti_ActivityKind DONE[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
};

/* Another client of CUPTI in this process (PyTorch's profiler) may have put its
 * own functions in the place of ours. */
enum msim_status msim_cupti_resume(struct msim_error *err)
{
    TRY_CUPTI(cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (size_t i = 0; i < sizeof(DONE) / sizeof(*DONE); i++)
        TRY_CUPTI(cuptiActivityEnable(DONE[i]));
    return MSIM_OK;
}

enum msim_status msim_cupti_pause(struct msim_error *err)
{
    MSIM_TRY(msim_cupti_flush(true, err));
    for (size_t i = 0; i < sizeof(DONE) / sizeof(*DONE); i++)
        TRY_CUPTI(cuptiActivityDisable(DONE[i]));
    return MSIM_OK;
}

static enum msim_status enable(bool calls, struct msim_error *err)
{
    MSIM_TRY(msim_cupti_resume(err));
    return calls ? collect_calls(err) : MSIM_OK;
}

enum msim_status msim_cupti_begin(bool calls, struct msim_error *err)
{
    struct msim_gpu_trace *t;

    MSIM_TRY(msim_gpu_trace_new(&t));
    t->process = (uint32_t)getpid();
    if (cuptiGetVersion(&t->cupti_version) != CUPTI_SUCCESS)
        t->cupti_version = 0;
    pthread_mutex_lock(&collected.mutex);
    collected.trace = t;
    collected.buffer_bytes = calls ? BUFFER_OF_PROGRAM : BUFFER_OF_RUNS;
    pthread_mutex_unlock(&collected.mutex);
    return enable(calls, err);
}

enum msim_status msim_cupti_flush(bool incomplete, struct msim_error *err)
{
    TRY_CUPTI(cuptiActivityFlushAll(
        incomplete ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0));
    return MSIM_OK;
}

struct msim_gpu_trace *msim_cupti_lock(enum msim_status *status)
{
    pthread_mutex_lock(&collected.mutex);
    *status = collected.status;
    return collected.trace;
}

void msim_cupti_unlock(void)
{
    pthread_mutex_unlock(&collected.mutex);
}

/*
 * tests/fake_gpu/fake_runtime.c - the CUDA runtime of the made-up GPU: devices,
 * memory, streams and events.
 *
 * Device memory is addresses that nobody may read: a program that does ends.
 */
#include "tests/fake_gpu/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CALL_NS   300  /* what a call takes the host that waits for nothing */
#define WAKE_NS   6000 /* from the end of what is waited for */
#define ALLOC_NS  8000
#define BLOCKS    4096
#define STREAMS   256
#define FIRST_ID  13 /* CUPTI's number of the first stream that is made */
#define DEFAULT   7  /* and of the default one */
#define PCIE      55e9
#define PAGEABLE  11e9
#define PEER_RATE 380e9

struct CUevent_st {
    uint64_t at;
    bool recorded;
};

static struct {
    int device;
    bool peers[FAKE_GPUS];
    cudaError_t last;
    struct CUstream_st legacy[FAKE_GPUS];
    struct CUstream_st *streams[STREAMS];
    uint32_t n_streams, made; /* in the table, and in all */
    struct block {
        char *at;
        size_t bytes;
        int device; /* -1: the host's */
    } blocks[BLOCKS];
    size_t used[FAKE_GPUS];
} cuda;

/* ---- calls --------------------------------------------------------------- */

/* What a call returns that cannot be made; else it goes on. */
static cudaError_t failed(const char *name, uint64_t ns, cudaError_t error)
{
    bool well;

    if (fake_is_broken())
        return cuda.last = cudaErrorIllegalAddress;
    well = fake_call(name, ns);
    if (fake_is_broken())
        return cuda.last = cudaErrorIllegalAddress;
    return well ? cudaSuccess : (cuda.last = error);
}

#define CALL(ns, error)                                                        \
    do {                                                                       \
        cudaError_t e_ = failed(__func__, ns, error);                          \
        if (e_ != cudaSuccess)                                                 \
            return e_;                                                         \
    } while (0)

static cudaError_t wrong(cudaError_t e)
{
    return cuda.last = e;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = fake_is_broken() ? cudaErrorIllegalAddress : cuda.last;

    cuda.last = cudaSuccess;
    return e;
}

const char *cudaGetErrorString(cudaError_t error)
{
    static char text[48];

    snprintf(text, sizeof(text), "made-up CUDA error %d", (int)error);
    return text;
}

/* ---- devices ------------------------------------------------------------- */

int fake_devices(void)
{
    int n = (int)fake_setting("gpus", 1);

    return n < FAKE_GPUS ? n : FAKE_GPUS;
}

int fake_current_device(void)
{
    return cuda.device;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    CALL(CALL_NS, cudaErrorNoDevice);
    *count = fake_devices();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    CALL(CALL_NS, cudaErrorInvalidDevice);
    if (device < 0 || device >= fake_devices())
        return wrong(cudaErrorInvalidDevice);
    cuda.device = device;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    CALL(CALL_NS, cudaErrorInvalidDevice);
    if (device < 0 || device >= fake_devices())
        return wrong(cudaErrorInvalidDevice);
    *p = (struct cudaDeviceProp){.totalGlobalMem = FAKE_MEMORY,
                                 .major = 9,
                                 .multiProcessorCount = FAKE_SMS,
                                 .memoryBusWidth = 5120,
                                 .l2CacheSize = (int)FAKE_L2};
    snprintf(p->name, sizeof(p->name), "%s", FAKE_NAME);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int size, int device)
{
    CALL(CALL_NS, cudaErrorInvalidDevice);
    snprintf(id, (size_t)size, "0000:%02X:00.0", device + 1);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    CALL(CALL_NS, cudaErrorInvalidValue);
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    CALL(CALL_NS, cudaErrorInvalidValue);
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    CALL(CALL_NS, cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags)
{
    (void)flags;
    CALL(CALL_NS, cudaErrorInvalidDevice);
    if (cuda.peers[peer])
        return wrong(cudaErrorPeerAccessAlreadyEnabled);
    cuda.peers[peer] = true;
    return cudaSuccess;
}

/* ---- memory -------------------------------------------------------------- */

static struct block *block_of(const void *memory)
{
    for (int i = 0; i < BLOCKS; i++)
        if (cuda.blocks[i].bytes && cuda.blocks[i].at <= (const char *)memory &&
            (const char *)memory < cuda.blocks[i].at + cuda.blocks[i].bytes)
            return &cuda.blocks[i];
    return NULL;
}

bool fake_owns(const void *memory, double bytes)
{
    const struct block *b = block_of(memory);

    if (b && b->device >= 0 &&
        (double)(b->at + b->bytes - (const char *)memory) >= bytes)
        return true;
    fprintf(stderr, "fake GPU: %.0f bytes of device memory at %p: not there\n",
            bytes, memory);
    fake_break();
    return false;
}

static struct block *new_block(size_t bytes, int device)
{
    for (int i = 0; i < BLOCKS; i++)
        if (!cuda.blocks[i].bytes) {
            cuda.blocks[i] = (struct block){NULL, bytes, device};
            return &cuda.blocks[i];
        }
    return NULL;
}

cudaError_t cudaMalloc(void **memory, size_t size)
{
    struct block *b;
    void *at;

    CALL(ALLOC_NS, cudaErrorMemoryAllocation);
    if (size == 0 || size > FAKE_MEMORY - cuda.used[cuda.device])
        return wrong(size ? cudaErrorMemoryAllocation : cudaErrorInvalidValue);
    at = mmap(NULL, size, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    b = at == MAP_FAILED ? NULL : new_block(size, cuda.device);
    if (!b)
        return wrong(cudaErrorMemoryAllocation);
    *memory = b->at = at;
    cuda.used[cuda.device] += size;
    return cudaSuccess;
}

cudaError_t cudaFree(void *memory)
{
    struct block *b;

    CALL(ALLOC_NS, cudaErrorInvalidValue);
    if (!memory)
        return cudaSuccess;
    b = block_of(memory);
    if (!b || b->at != memory || b->device < 0)
        return wrong(cudaErrorInvalidValue);
    munmap(b->at, b->bytes);
    cuda.used[b->device] -= b->bytes;
    b->bytes = 0;
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **memory, size_t size)
{
    struct block *b;

    CALL(ALLOC_NS, cudaErrorMemoryAllocation);
    *memory = malloc(size);
    b = *memory ? new_block(size, -1) : NULL;
    if (!b)
        return wrong(cudaErrorMemoryAllocation);
    b->at = *memory;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *memory)
{
    struct block *b;

    CALL(ALLOC_NS, cudaErrorInvalidValue);
    b = memory ? block_of(memory) : NULL;
    if (b)
        b->bytes = 0;
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    CALL(CALL_NS, cudaErrorInvalidValue);
    *total = FAKE_MEMORY;
    *available = FAKE_MEMORY - cuda.used[cuda.device];
    return cudaSuccess;
}

__attribute__((destructor)) static void say_leaks(void)
{
    for (int d = 0; fake_setting("leaks", 0) && d < FAKE_GPUS; d++)
        if (cuda.used[d])
            fprintf(stderr, "fake GPU: %zu bytes of device %d are not freed\n",
                    cuda.used[d], d);
}

/* ---- streams ------------------------------------------------------------- */

struct CUstream_st *fake_stream(cudaStream_t stream)
{
    struct CUstream_st *s = stream;

    if (!s) {
        s = &cuda.legacy[cuda.device];
        s->device = cuda.device;
        s->id = DEFAULT;
    }
    return s;
}

/* A stream that was made and is still there, or the default one. */
static bool is_stream(cudaStream_t stream)
{
    for (uint32_t i = 0; i < cuda.n_streams; i++)
        if (cuda.streams[i] == stream)
            return !stream->destroyed;
    return !stream;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
    struct CUstream_st *s;

    (void)flags;
    CALL(ALLOC_NS, cudaErrorMemoryAllocation);
    s = calloc(1, sizeof(*s));
    for (uint32_t i = 0; i < cuda.n_streams && cuda.n_streams == STREAMS; i++)
        if (cuda.streams[i]->destroyed) {
            free(cuda.streams[i]);
            cuda.streams[i] = cuda.streams[--cuda.n_streams];
        }
    if (!s || cuda.n_streams == STREAMS)
        return wrong(cudaErrorMemoryAllocation);
    s->device = cuda.device;
    s->id = FIRST_ID + cuda.made++;
    cuda.streams[cuda.n_streams++] = *stream = s;
    return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    CALL(ALLOC_NS, cudaErrorInvalidResourceHandle);
    if (!stream || !is_stream(stream))
        return wrong(cudaErrorInvalidResourceHandle);
    stream->destroyed = true;
    return cudaSuccess;
}

static void wait_for(uint64_t ns)
{
    if (ns > fake_now())
        fake_wait_until(ns + WAKE_NS);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    CALL(CALL_NS, cudaErrorLaunchFailure);
    if (!is_stream(stream))
        return wrong(cudaErrorInvalidResourceHandle);
    wait_for(fake_stream(stream)->free_at);
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    CALL(CALL_NS, cudaErrorLaunchFailure);
    for (uint32_t i = 0; i < cuda.n_streams; i++)
        if (cuda.streams[i]->device == cuda.device)
            wait_for(cuda.streams[i]->free_at);
    wait_for(fake_stream(NULL)->free_at);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags)
{
    struct CUstream_st *s;

    (void)flags;
    CALL(CALL_NS, cudaErrorInvalidResourceHandle);
    if (!event || !is_stream(stream))
        return wrong(cudaErrorInvalidResourceHandle);
    s = fake_stream(stream);
    if (s->free_at < event->at)
        s->free_at = event->at;
    return cudaSuccess;
}

/* ---- events -------------------------------------------------------------- */

#define EVENT_NS 500 /* that a record takes the stream */

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    CALL(CALL_NS, cudaErrorMemoryAllocation);
    *event = calloc(1, sizeof(**event));
    return *event ? cudaSuccess : wrong(cudaErrorMemoryAllocation);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    CALL(CALL_NS, cudaErrorInvalidResourceHandle);
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    struct CUstream_st *s;

    CALL(CALL_NS, cudaErrorInvalidResourceHandle);
    if (!event || !is_stream(stream))
        return wrong(cudaErrorInvalidResourceHandle);
    s = fake_stream(stream);
    event->at = (s->free_at > fake_now() ? s->free_at : fake_now()) + EVENT_NS;
    event->recorded = true;
    s->free_at = event->at;
    return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    CALL(CALL_NS, cudaErrorInvalidResourceHandle);
    return event->at > fake_now() ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    CALL(CALL_NS, cudaErrorLaunchFailure);
    wait_for(event->at);
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    CALL(CALL_NS, cudaErrorInvalidResourceHandle);
    if (!start->recorded || !end->recorded)
        return wrong(cudaErrorInvalidResourceHandle);
    if (start->at > fake_now() || end->at > fake_now())
        return wrong(cudaErrorNotReady);
    *ms = (float)(1e-6 * ((double)end->at - (double)start->at));
    return cudaSuccess;
}

/* ---- work ---------------------------------------------------------------- */

static cudaError_t put(cudaStream_t stream, const struct fake_work *w)
{
    if (!is_stream(stream))
        return wrong(cudaErrorInvalidResourceHandle);
    if (fake_is_broken())
        return wrong(cudaErrorIllegalAddress);
    fake_submit(stream, w);
    return cudaSuccess;
}

cudaError_t fake_launch(cudaStream_t stream, const struct fake_work *w)
{
    double us = fake_setting("host_us", 2.2);
    cudaError_t e = failed("cudaLaunchKernel", (uint64_t)(1e3 * us),
                           cudaErrorLaunchFailure);

    return e == cudaSuccess ? put(stream, w) : e;
}

cudaError_t cudaMemsetAsync(void *memory, int value, size_t count,
                            cudaStream_t stream)
{
    struct fake_work w = {.kind = CUPTI_ACTIVITY_KIND_MEMSET,
                          .written = (double)count,
                          .bytes = count,
                          .operand = memory,
                          .load = 0.3,
                          .from = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};

    (void)value;
    CALL(1800, cudaErrorInvalidValue);
    (void)fake_owns(memory, (double)count);
    return put(stream, &w);
}

/* What lies where; pinned memory is known, any other of the host is not. */
static CUpti_ActivityMemoryKind kind_of(const void *memory)
{
    const struct block *b = block_of(memory);

    return !b              ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE
           : b->device < 0 ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED
                           : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

static cudaError_t copy(void *to, const void *from, size_t count,
                        enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct fake_work w = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
                          .bytes = count,
                          .operand = from,
                          .load = 0.3,
                          .link_rate = PCIE,
                          .from = kind_of(from),
                          .to = kind_of(to)};

    w.copy = kind == cudaMemcpyHostToDevice   ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD
             : kind == cudaMemcpyDeviceToHost ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
                                              : CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    if (w.from == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
        w.to == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
        w.link_rate = PAGEABLE;
    if (kind != cudaMemcpyDeviceToDevice)
        w.beside = (double)count;
    if (kind != cudaMemcpyHostToDevice && fake_owns(from, (double)count))
        w.read = (double)count;
    if (kind != cudaMemcpyDeviceToHost && fake_owns(to, (double)count))
        w.written = (double)count;
    return put(stream, &w);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t count,
                       enum cudaMemcpyKind kind)
{
    cudaError_t e;

    CALL(2500, cudaErrorInvalidValue);
    e = copy(to, from, count, kind, NULL);
    wait_for(fake_stream(NULL)->free_at);
    return e;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t count,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    cudaError_t e;

    CALL(2500, cudaErrorInvalidValue);
    e = copy(to, from, count, kind, stream);
    if (e == cudaSuccess &&
        (kind_of(from) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
         kind_of(to) == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE))
        wait_for(fake_stream(stream)->free_at); /* it is staged by the host */
    return e;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
                                int from_device, size_t count,
                                cudaStream_t stream)
{
    struct fake_work w = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
                          .bytes = count,
                          .operand = from,
                          .beside = (double)count,
                          .link_rate = PEER_RATE,
                          .read = (double)count,
                          .load = 0.2,
                          .copy = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
                          .from = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                          .to = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};

    CALL(3000, cudaErrorInvalidValue);
    if (to_device >= fake_devices() || from_device >= fake_devices())
        return wrong(cudaErrorInvalidDevice);
    (void)fake_owns(from, (double)count);
    (void)fake_owns(to, (double)count);
    return put(stream, &w);
}

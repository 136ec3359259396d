/*
 * tests/fake_gpu/fake_cupti.c - CUPTI's activity records of the made-up GPU.
 *
 * A record is handed over by a flush once its activity has ended, and "late_us"
 * after that; a forced flush hands over all, and what has not ended has no
 * times, as in CUPTI.
 */
#include "tests/fake_gpu/fake.h"

#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KINDS   64
#define CALL_NS 200

struct record {
    struct fake_activity activity;
    const char *call; /* of the API; NULL: of the device */
};

static struct {
    CUpti_BuffersCallbackRequestFunc request;
    CUpti_BuffersCallbackCompleteFunc complete;
    bool enabled[KINDS];
    bool launches; /* of the driver */
    struct record *records;
    size_t n, capacity;
} cupti;

#define CALL(error)                                                            \
    do {                                                                       \
        if (!fake_call(__func__, CALL_NS))                                     \
            return (error);                                                    \
    } while (0)

/* ---- what is recorded ---------------------------------------------------- */

static void add(const struct record *r)
{
    if (cupti.n == cupti.capacity) {
        cupti.capacity = cupti.capacity ? 2 * cupti.capacity : 1024;
        cupti.records =
            realloc(cupti.records, cupti.capacity * sizeof(*cupti.records));
        if (!cupti.records)
            abort();
    }
    cupti.records[cupti.n++] = *r;
}

void fake_cupti_note(const struct fake_activity *a)
{
    struct record r = {*a, NULL};

    if (cupti.enabled[a->work.kind])
        add(&r);
}

bool fake_cupti_is_recording(void)
{
    return cupti.enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] ||
           cupti.enabled[CUPTI_ACTIVITY_KIND_MEMCPY];
}

/* Calls of the runtime, and the driver's that launch. */
static const struct {
    const char *name, *known;
    uint32_t id;
    CUpti_ActivityKind kind;
} CALLS[] = {
    {"cudaMalloc", "cudaMalloc_v3020", 20, CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaFree", "cudaFree_v3020", 22, CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaMemcpy", "cudaMemcpy_v3020", 31, CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaMemcpyAsync", "cudaMemcpyAsync_v3020", 41,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaMemsetAsync", "cudaMemsetAsync_v3020", 51,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaStreamSynchronize", "cudaStreamSynchronize_v3020", 131,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaEventRecord", "cudaEventRecord_v3020", 135,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaStreamWaitEvent", "cudaStreamWaitEvent_v3020", 147,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaDeviceSynchronize", "cudaDeviceSynchronize_v3020", 165,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cudaLaunchKernel", "cudaLaunchKernel_v7000", 211,
     CUPTI_ACTIVITY_KIND_RUNTIME},
    {"cuLaunchKernelEx", "cuLaunchKernelEx", 652, CUPTI_ACTIVITY_KIND_DRIVER},
};
#define N_CALLS (sizeof(CALLS) / sizeof(*CALLS))

void fake_cupti_note_call(const char *name, uint64_t start, uint64_t end,
                          uint32_t correlation)
{
    for (size_t i = 0; i < N_CALLS; i++) {
        bool wanted =
            cupti.enabled[CALLS[i].kind] ||
            (CALLS[i].kind == CUPTI_ACTIVITY_KIND_DRIVER && cupti.launches);
        struct record r = {{.work = {.kind = CALLS[i].kind},
                            .stream = CALLS[i].id,
                            .correlation = correlation,
                            .start = start,
                            .end = end},
                           CALLS[i].known};

        if (wanted && strcmp(CALLS[i].name, name) == 0)
            add(&r);
    }
}

/* ---- records in buffers -------------------------------------------------- */

union any_record {
    CUpti_Activity any;
    CUpti_ActivityKernel10 kernel;
    CUpti_ActivityMemcpy6 copy;
    CUpti_ActivityMemcpyPtoP4 peer;
    CUpti_ActivityMemset4 set;
    CUpti_ActivityAPI call;
};

static size_t size_of(CUpti_ActivityKind kind)
{
    switch (kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return sizeof(CUpti_ActivityMemcpyPtoP4);
    case CUPTI_ACTIVITY_KIND_MEMSET:
        return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        return sizeof(CUpti_ActivityAPI);
    default:
        return sizeof(CUpti_ActivityKernel10);
    }
}

/* What every record of the device has, under the same names. */
#define COMMON(a, ended)                                                       \
    .kind = (a)->work.kind, .deviceId = (a)->device, .contextId = 1,           \
    .streamId = (a)->stream, .correlationId = (a)->correlation,                \
    .start = (ended) ? fake_device_stamp((a)->start) : 0,                      \
    .end = (ended) ? fake_device_stamp((a)->end) : 0

static void make(union any_record *to, const struct record *r, bool ended)
{
    const struct fake_activity *a = &r->activity;
    const struct fake_work *w = &a->work;

    switch (w->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        to->copy = (CUpti_ActivityMemcpy6){
            COMMON(a, ended), .bytes = w->bytes, .copyKind = (uint8_t)w->copy,
            .srcKind = (uint8_t)w->from, .dstKind = (uint8_t)w->to};
        break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        to->peer = (CUpti_ActivityMemcpyPtoP4){
            COMMON(a, ended), .bytes = w->bytes, .copyKind = (uint8_t)w->copy,
            .srcKind = (uint8_t)w->from, .dstKind = (uint8_t)w->to};
        break;
    case CUPTI_ACTIVITY_KIND_MEMSET:
        to->set = (CUpti_ActivityMemset4){COMMON(a, ended), .bytes = w->bytes,
                                          .memoryKind = (uint16_t)w->from};
        break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
        to->call = (CUpti_ActivityAPI){.kind = w->kind,
                                       .cbid = a->stream,
                                       .start = fake_host_stamp(a->start),
                                       .end = fake_host_stamp(a->end),
                                       .processId = (uint32_t)getpid(),
                                       .threadId = (uint32_t)getpid(),
                                       .correlationId = a->correlation};
        break;
    default:
        to->kernel = (CUpti_ActivityKernel10){
            COMMON(a, ended), .name = w->name, .gridX = (int32_t)w->grid,
            .gridY = 1,       .gridZ = 1,      .blockX = (int32_t)w->block,
            .blockY = 1,      .blockZ = 1,     .registersPerThread = 32};
        break;
    }
}

static bool is_known(const struct record *r)
{
    uint64_t late = (uint64_t)(1e3 * fake_setting("late_us", 0));

    return r->activity.end + late <= fake_now();
}

/* Fill one buffer; those that are left are moved to the front. */
static void fill(uint8_t *buffer, size_t size, bool forced)
{
    size_t used = 0, kept = 0;
    union any_record one;

    for (size_t i = 0; i < cupti.n; i++) {
        const struct record *r = &cupti.records[i];
        size_t bytes = size_of(r->activity.work.kind);

        if ((!forced && !is_known(r)) || used + bytes > size) {
            cupti.records[kept++] = *r;
            continue;
        }
        make(&one, r, r->activity.end <= fake_now());
        memcpy(buffer + used, &one, bytes);
        used += bytes;
    }
    cupti.n = kept;
    cupti.complete(NULL, 0, buffer, size, used);
}

static bool has_any(bool forced)
{
    for (size_t i = 0; i < cupti.n; i++)
        if (forced || is_known(&cupti.records[i]))
            return true;
    return false;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
    bool forced = flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED;

    CALL(CUPTI_ERROR_UNKNOWN);
    while (has_any(forced)) {
        uint8_t *buffer = NULL;
        size_t size = 0, most = 0;

        if (!cupti.request)
            return CUPTI_ERROR_INVALID_OPERATION;
        cupti.request(&buffer, &size, &most);
        if (!buffer || size < sizeof(union any_record))
            return CUPTI_ERROR_UNKNOWN;
        memset(buffer, 0, size);
        fill(buffer, size, forced);
    }
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                       CUpti_Activity **record)
{
    uint8_t *next = buffer;

    CALL(CUPTI_ERROR_UNKNOWN);
    if (*record)
        next = (uint8_t *)*record + size_of((*record)->kind);
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context,
                                              uint32_t stream, size_t *dropped)
{
    (void)context;
    (void)stream;
    CALL(CUPTI_ERROR_UNKNOWN);
    *dropped = 0;
    return CUPTI_SUCCESS;
}

/* ---- what is switched on ------------------------------------------------- */

CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete)
{
    CALL(CUPTI_ERROR_UNKNOWN);
    if (fake_setting("no_cupti", 0))
        return CUPTI_ERROR_UNKNOWN;
    cupti.request = request;
    cupti.complete = complete;
    return CUPTI_SUCCESS;
}

static CUptiResult enable(CUpti_ActivityKind kind, bool on)
{
    if (kind >= KINDS)
        return CUPTI_ERROR_INVALID_KIND;
    cupti.enabled[kind] = on;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
    CALL(CUPTI_ERROR_UNKNOWN);
    return enable(kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
    CALL(CUPTI_ERROR_UNKNOWN);
    return enable(kind, false);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t on)
{
    (void)cbid;
    CALL(CUPTI_ERROR_UNKNOWN);
    cupti.launches = on;
    return CUPTI_SUCCESS;
}

/* ---- what it knows ------------------------------------------------------- */

CUptiResult cuptiGetVersion(uint32_t *version)
{
    CALL(CUPTI_ERROR_UNKNOWN);
    *version = CUPTI_API_VERSION;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
    static char is[48];

    snprintf(is, sizeof(is), "made-up CUPTI error %d", (int)result);
    *text = is;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t *ns)
{
    CALL(CUPTI_ERROR_UNKNOWN);
    *ns = fake_host_stamp(fake_now());
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
                               uint8_t per_thread, uint32_t *id)
{
    (void)context;
    (void)per_thread;
    CALL(CUPTI_ERROR_UNKNOWN);
    *id = fake_stream(stream)->id;
    return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                 const char **name)
{
    CUpti_ActivityKind kind = domain == CUPTI_CB_DOMAIN_RUNTIME_API
                                  ? CUPTI_ACTIVITY_KIND_RUNTIME
                                  : CUPTI_ACTIVITY_KIND_DRIVER;

    for (size_t i = 0; i < N_CALLS; i++)
        if (CALLS[i].id == cbid && CALLS[i].kind == kind) {
            *name = CALLS[i].known;
            return CUPTI_SUCCESS;
        }
    return CUPTI_ERROR_INVALID_PARAMETER;
}

/*
 * tests/fake_gpu/include/cupti.h - what the project uses of CUPTI, for builds
 * without CUDA: see cuda_runtime_api.h beside it. Records have all members of
 * CUDA 13.0's, with other names where nothing reads them.
 */
#if !defined(MSIM_FAKE_CALLS) && !defined(MSIM_FAKE_CUPTI_H)
#define MSIM_FAKE_CUPTI_H
#include <cuda.h>

#define CUPTIAPI
#define CUPTI_API_VERSION 130001

typedef enum {
    CUPTI_SUCCESS = 0,
    CUPTI_ERROR_INVALID_PARAMETER = 1,
    CUPTI_ERROR_INVALID_OPERATION = 7,
    CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
    CUPTI_ERROR_INVALID_KIND = 21,
    CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
    CUPTI_ERROR_UNKNOWN = 999
} CUptiResult;

typedef enum {
    CUPTI_ACTIVITY_KIND_MEMCPY = 1,
    CUPTI_ACTIVITY_KIND_MEMSET = 2,
    CUPTI_ACTIVITY_KIND_KERNEL = 3,
    CUPTI_ACTIVITY_KIND_DRIVER = 4,
    CUPTI_ACTIVITY_KIND_RUNTIME = 5,
    CUPTI_ACTIVITY_KIND_DEVICE = 8,
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
    CUPTI_ACTIVITY_KIND_MEMCPY2 = 22
} CUpti_ActivityKind;

typedef enum { CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 } CUpti_ActivityFlag;

typedef enum {
    CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
    CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
    CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2,
    CUPTI_ACTIVITY_MEMCPY_KIND_HTOA = 3,
    CUPTI_ACTIVITY_MEMCPY_KIND_ATOH = 4,
    CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
    CUPTI_ACTIVITY_MEMCPY_KIND_HTOH = 9,
    CUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10
} CUpti_ActivityMemcpyKind;

typedef enum {
    CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN = 0,
    CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE = 1,
    CUPTI_ACTIVITY_MEMORY_KIND_PINNED = 2,
    CUPTI_ACTIVITY_MEMORY_KIND_DEVICE = 3,
    CUPTI_ACTIVITY_MEMORY_KIND_ARRAY = 4,
    CUPTI_ACTIVITY_MEMORY_KIND_MANAGED = 5,
    CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC = 6,
    CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC = 7
} CUpti_ActivityMemoryKind;

typedef enum {
    CUPTI_CB_DOMAIN_DRIVER_API = 1,
    CUPTI_CB_DOMAIN_RUNTIME_API = 2
} CUpti_CallbackDomain;
typedef uint32_t CUpti_CallbackId;

enum {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel = 307,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel = 477,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch = 514,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx = 652
};

#define MSIM_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
} CUpti_Activity;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    CUpti_CallbackId cbid;
    uint64_t start, end;
    uint32_t processId, threadId, correlationId, returnValue;
} CUpti_ActivityAPI;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    uint8_t cacheConfig, sharedMemoryConfig;
    uint16_t registersPerThread;
    uint32_t partitioned[2];
    uint64_t start, end, completed;
    uint32_t deviceId, contextId, streamId;
    int32_t gridX, gridY, gridZ, blockX, blockY, blockZ;
    int32_t staticSharedMemory, dynamicSharedMemory;
    uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
    int64_t gridId;
    const char *name;
    void *reserved0;
    uint64_t queued, submitted;
    uint8_t launchType, carveout[3];
    uint32_t sharedMemoryExecuted;
    uint64_t graphNodeId;
    uint32_t shmemLimitConfig, graphId;
    void *window;
    uint32_t channelID, channelType, cluster[4];
    uint64_t localMemoryTotal_v2;
    uint32_t clusters[2];
    uint8_t isDeviceLaunched, padding3[7];
} CUpti_ActivityKernel10;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint32_t runtimeCorrelationId, pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
    uint8_t isDeviceLaunched, pad2[3];
    uint64_t copyCount;
} CUpti_ActivityMemcpy6;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    uint8_t copyKind, srcKind, dstKind, flags;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId;
    uint32_t srcDeviceId, srcContextId, dstDeviceId, dstContextId;
    uint32_t correlationId;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
} CUpti_ActivityMemcpyPtoP4;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    uint32_t value;
    uint64_t bytes, start, end;
    uint32_t deviceId, contextId, streamId, correlationId;
    uint16_t flags, memoryKind;
    uint32_t pad;
    void *reserved0;
    uint64_t graphNodeId;
    uint32_t graphId, channelID, channelType;
    uint8_t isDeviceLaunched, pad2[3];
} CUpti_ActivityMemset4;

typedef struct MSIM_RECORD {
    CUpti_ActivityKind kind;
    uint32_t flags;
    uint64_t globalMemoryBandwidth, globalMemorySize;
    uint32_t constantMemorySize, l2CacheSize, numThreadsPerWarp, coreClockRate;
    uint32_t numMemcpyEngines, numMultiprocessors, maxIPC;
    uint32_t maxWarpsPerMultiprocessor, maxBlocksPerMultiprocessor;
    uint32_t maxSharedMemoryPerMultiprocessor, maxRegistersPerMultiprocessor;
    uint32_t maxRegistersPerBlock, maxSharedMemoryPerBlock, maxThreadsPerBlock;
    uint32_t maxBlockDim[3], maxGridDim[3];
    uint32_t computeCapabilityMajor, computeCapabilityMinor, id, eccEnabled;
    char uuid[16];
    const char *name;
    uint8_t visible[8];
    uint32_t instances[2];
    char migUuid[16];
    uint32_t numa[2];
} CUpti_ActivityDevice5;

typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *size,
                                                 size_t *most);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext context,
                                                  uint32_t stream,
                                                  uint8_t *buffer, size_t size,
                                                  size_t valid);
#endif

#if defined(MSIM_FAKE_CALLS) || !defined(MSIM_FAKE_CUPTI_CALLS)
#define MSIM_FAKE_CUPTI_CALLS
CUptiResult cuptiGetVersion(uint32_t *version);
CUptiResult cuptiGetResultString(CUptiResult result, const char **text);
CUptiResult cuptiGetTimestamp(uint64_t *ns);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream,
                               uint8_t per_thread, uint32_t *id);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid,
                                 const char **name);
CUptiResult
cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                               CUpti_BuffersCallbackCompleteFunc complete);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid,
                                       CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context,
                                              uint32_t stream, size_t *dropped);
#endif

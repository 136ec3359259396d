/*
 * What profilers/cuda/cupti/cupti_range.h spells out, against the toolkit's headers,
 * when it is compiled: the sizes that the library is told, and where each
 * member lies that is read or written.
 */
#include "profilers/cuda/cupti/cupti_range.h"

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

/* Newer libraries know more members, which come last. */
#define CALL(call, theirs)                                                     \
    static_assert((size_t)MSIM_SIZE_##call <= theirs##_Params_STRUCT_SIZE,     \
                  "a smaller size: " #theirs);
#define AT(ours, member, theirs, name)                                         \
    static_assert(offsetof(struct ours, member) ==                             \
                          offsetof(theirs##_Params, name) &&                   \
                      sizeof(((struct ours *)0)->member) ==                    \
                          sizeof(((theirs##_Params *)0)->name),                \
                  "elsewhere, or of another size: " #theirs "." #name);

CALL(cuptiProfilerInitialize, CUpti_Profiler_Initialize)
AT(cupti_begin, none, CUpti_Profiler_Initialize, pPriv)

CALL(cuptiDeviceGetChipName, CUpti_Device_GetChipName)
AT(cupti_chip_name, device, CUpti_Device_GetChipName, deviceIndex)
AT(cupti_chip_name, name, CUpti_Device_GetChipName, pChipName)

CALL(cuptiProfilerDeviceSupported, CUpti_Profiler_DeviceSupported)
AT(cupti_supported, device, CUpti_Profiler_DeviceSupported, cuDevice)
AT(cupti_supported, supported, CUpti_Profiler_DeviceSupported, isSupported)
AT(cupti_supported, architecture, CUpti_Profiler_DeviceSupported, architecture)
AT(cupti_supported, sli, CUpti_Profiler_DeviceSupported, sli)
AT(cupti_supported, virtual_gpu, CUpti_Profiler_DeviceSupported, vGpu)
AT(cupti_supported, confidential, CUpti_Profiler_DeviceSupported,
   confidentialCompute)
AT(cupti_supported, mining, CUpti_Profiler_DeviceSupported, cmp)
AT(cupti_supported, wsl, CUpti_Profiler_DeviceSupported, wsl)
AT(cupti_supported, api, CUpti_Profiler_DeviceSupported, api)

CALL(cuptiProfilerGetCounterAvailability, CUpti_Profiler_GetCounterAvailability)
AT(cupti_available, context, CUpti_Profiler_GetCounterAvailability, ctx)
AT(cupti_available, image_size, CUpti_Profiler_GetCounterAvailability,
   counterAvailabilityImageSize)
AT(cupti_available, image, CUpti_Profiler_GetCounterAvailability,
   pCounterAvailabilityImage)

CALL(cuptiProfilerHostInitialize, CUpti_Profiler_Host_Initialize)
AT(cupti_host_open, profiler, CUpti_Profiler_Host_Initialize, profilerType)
AT(cupti_host_open, chip, CUpti_Profiler_Host_Initialize, pChipName)
AT(cupti_host_open, available, CUpti_Profiler_Host_Initialize,
   pCounterAvailabilityImage)
AT(cupti_host_open, host, CUpti_Profiler_Host_Initialize, pHostObject)

CALL(cuptiProfilerHostDeinitialize, CUpti_Profiler_Host_Deinitialize)
AT(cupti_host_close, host, CUpti_Profiler_Host_Deinitialize, pHostObject)

CALL(cuptiProfilerHostGetBaseMetrics, CUpti_Profiler_Host_GetBaseMetrics)
AT(cupti_host_list, host, CUpti_Profiler_Host_GetBaseMetrics, pHostObject)
AT(cupti_host_list, type, CUpti_Profiler_Host_GetBaseMetrics, metricType)
AT(cupti_host_list, names, CUpti_Profiler_Host_GetBaseMetrics, ppMetricNames)
AT(cupti_host_list, n, CUpti_Profiler_Host_GetBaseMetrics, numMetrics)

CALL(cuptiProfilerHostConfigAddMetrics, CUpti_Profiler_Host_ConfigAddMetrics)
AT(cupti_host_add, host, CUpti_Profiler_Host_ConfigAddMetrics, pHostObject)
AT(cupti_host_add, names, CUpti_Profiler_Host_ConfigAddMetrics, ppMetricNames)
AT(cupti_host_add, n, CUpti_Profiler_Host_ConfigAddMetrics, numMetrics)

CALL(cuptiProfilerHostGetConfigImageSize,
     CUpti_Profiler_Host_GetConfigImageSize)
AT(cupti_host_config_size, host, CUpti_Profiler_Host_GetConfigImageSize,
   pHostObject)
AT(cupti_host_config_size, config_size, CUpti_Profiler_Host_GetConfigImageSize,
   configImageSize)

CALL(cuptiProfilerHostGetConfigImage, CUpti_Profiler_Host_GetConfigImage)
AT(cupti_host_config, host, CUpti_Profiler_Host_GetConfigImage, pHostObject)
AT(cupti_host_config, config_size, CUpti_Profiler_Host_GetConfigImage,
   configImageSize)
AT(cupti_host_config, config, CUpti_Profiler_Host_GetConfigImage, pConfigImage)

CALL(cuptiProfilerHostGetNumOfPasses, CUpti_Profiler_Host_GetNumOfPasses)
AT(cupti_host_passes, config_size, CUpti_Profiler_Host_GetNumOfPasses,
   configImageSize)
AT(cupti_host_passes, config, CUpti_Profiler_Host_GetNumOfPasses, pConfigImage)
AT(cupti_host_passes, n, CUpti_Profiler_Host_GetNumOfPasses, numOfPasses)

CALL(cuptiProfilerHostEvaluateToGpuValues,
     CUpti_Profiler_Host_EvaluateToGpuValues)
AT(cupti_host_evaluate, host, CUpti_Profiler_Host_EvaluateToGpuValues,
   pHostObject)
AT(cupti_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues,
   pCounterDataImage)
AT(cupti_host_evaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues,
   counterDataImageSize)
AT(cupti_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues,
   rangeIndex)
AT(cupti_host_evaluate, names, CUpti_Profiler_Host_EvaluateToGpuValues,
   ppMetricNames)
AT(cupti_host_evaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues, numMetrics)
AT(cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues,
   pMetricValues)

CALL(cuptiRangeProfilerEnable, CUpti_RangeProfiler_Enable)
AT(cupti_range_enable, context, CUpti_RangeProfiler_Enable, ctx)
AT(cupti_range_enable, profiler, CUpti_RangeProfiler_Enable,
   pRangeProfilerObject)

CALL(cuptiRangeProfilerDisable, CUpti_RangeProfiler_Disable)
AT(cupti_range_plain, profiler, CUpti_RangeProfiler_Disable,
   pRangeProfilerObject)

CALL(cuptiRangeProfilerGetCounterDataSize,
     CUpti_RangeProfiler_GetCounterDataSize)
AT(cupti_range_data_size, profiler, CUpti_RangeProfiler_GetCounterDataSize,
   pRangeProfilerObject)
AT(cupti_range_data_size, names, CUpti_RangeProfiler_GetCounterDataSize,
   pMetricNames)
AT(cupti_range_data_size, n, CUpti_RangeProfiler_GetCounterDataSize, numMetrics)
AT(cupti_range_data_size, ranges, CUpti_RangeProfiler_GetCounterDataSize,
   maxNumOfRanges)
AT(cupti_range_data_size, nodes, CUpti_RangeProfiler_GetCounterDataSize,
   maxNumRangeTreeNodes)
AT(cupti_range_data_size, data_size, CUpti_RangeProfiler_GetCounterDataSize,
   counterDataSize)

CALL(cuptiRangeProfilerCounterDataImageInitialize,
     CUpti_RangeProfiler_CounterDataImage_Initialize)
AT(cupti_range_data, profiler, CUpti_RangeProfiler_CounterDataImage_Initialize,
   pRangeProfilerObject)
AT(cupti_range_data, data_size, CUpti_RangeProfiler_CounterDataImage_Initialize,
   counterDataSize)
AT(cupti_range_data, data, CUpti_RangeProfiler_CounterDataImage_Initialize,
   pCounterData)

CALL(cuptiRangeProfilerSetConfig, CUpti_RangeProfiler_SetConfig)
AT(cupti_range_config, profiler, CUpti_RangeProfiler_SetConfig,
   pRangeProfilerObject)
AT(cupti_range_config, config_size, CUpti_RangeProfiler_SetConfig, configSize)
AT(cupti_range_config, config, CUpti_RangeProfiler_SetConfig, pConfig)
AT(cupti_range_config, data_size, CUpti_RangeProfiler_SetConfig,
   counterDataImageSize)
AT(cupti_range_config, data, CUpti_RangeProfiler_SetConfig, pCounterDataImage)
AT(cupti_range_config, range, CUpti_RangeProfiler_SetConfig, range)
AT(cupti_range_config, replay, CUpti_RangeProfiler_SetConfig, replayMode)
AT(cupti_range_config, ranges, CUpti_RangeProfiler_SetConfig, maxRangesPerPass)
AT(cupti_range_config, levels, CUpti_RangeProfiler_SetConfig, numNestingLevels)
AT(cupti_range_config, first_level, CUpti_RangeProfiler_SetConfig,
   minNestingLevel)
AT(cupti_range_config, pass, CUpti_RangeProfiler_SetConfig, passIndex)
AT(cupti_range_config, level, CUpti_RangeProfiler_SetConfig, targetNestingLevel)

CALL(cuptiRangeProfilerStart, CUpti_RangeProfiler_Start)
AT(cupti_range_plain, profiler, CUpti_RangeProfiler_Start, pRangeProfilerObject)

CALL(cuptiRangeProfilerPushRange, CUpti_RangeProfiler_PushRange)
AT(cupti_range_push, profiler, CUpti_RangeProfiler_PushRange,
   pRangeProfilerObject)
AT(cupti_range_push, name, CUpti_RangeProfiler_PushRange, pRangeName)

CALL(cuptiRangeProfilerPopRange, CUpti_RangeProfiler_PopRange)
AT(cupti_range_plain, profiler, CUpti_RangeProfiler_PopRange,
   pRangeProfilerObject)

CALL(cuptiRangeProfilerStop, CUpti_RangeProfiler_Stop)
AT(cupti_range_stop, profiler, CUpti_RangeProfiler_Stop, pRangeProfilerObject)
AT(cupti_range_stop, pass, CUpti_RangeProfiler_Stop, passIndex)
AT(cupti_range_stop, level, CUpti_RangeProfiler_Stop, targetNestingLevel)
AT(cupti_range_stop, all, CUpti_RangeProfiler_Stop, isAllPassSubmitted)

CALL(cuptiRangeProfilerDecodeData, CUpti_RangeProfiler_DecodeData)
AT(cupti_range_decode, profiler, CUpti_RangeProfiler_DecodeData,
   pRangeProfilerObject)
AT(cupti_range_decode, dropped, CUpti_RangeProfiler_DecodeData,
   numOfRangeDropped)

static_assert(CUPTI_PROFILER_TYPE_RANGE_PROFILER == 0 &&
                  CUPTI_PROFILER_RANGE_PROFILING == 0 &&
                  CUPTI_METRIC_TYPE_COUNTER == 0 &&
                  (int)CUPTI_CAN ==
                      (int)CUPTI_PROFILER_CONFIGURATION_SUPPORTED &&
                  (int)CUPTI_RANGE_BY_USER == (int)CUPTI_UserRange &&
                  (int)CUPTI_REPLAY_BY_USER == (int)CUPTI_UserReplay,
              "numbers that mean something else");

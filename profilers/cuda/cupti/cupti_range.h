/*
 * profilers/cuda/cupti/cupti_range.h - the parts of CUPTI that read hardware
 * counters, spelled out and found when the program runs.
 *
 * They are the Host Profiling and the Range Profiling API, which came with
 * CUDA 12.6: headers of older toolkits lack them, that of the first wants C++,
 * and a library that lacks them must still give times. Structures as in the
 * "CUPTI API reference": each begins with its size, by which the library knows
 * its version, and a pointer that is NULL. tests/gpu/cupti_layout.cu holds them
 * against the toolkit's headers.
 */
#ifndef MSIM_PROFILERS_CUDA_CUPTI_CUPTI_RANGE_H
#define MSIM_PROFILERS_CUDA_CUPTI_CUPTI_RANGE_H
#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "GH100". */
struct cupti_chip_name {
    size_t size;
    void *none;
    size_t device;
    const char *name; /* out */
};

/* Levels: 0 not known, 1 cannot, 2 switched off, 3 can. */
struct cupti_supported {
    size_t size;
    void *none;
    CUdevice device;
    /* out */
    int supported, architecture, sli, virtual_gpu, confidential, mining, wsl;
    int api; /* in; 0: ranges */
};
enum { CUPTI_CAN = 3 };

/* Those that this machine lets be read; asked for its size first. */
struct cupti_available {
    size_t size;
    void *none;
    CUcontext context; /* NULL: the current one */
    size_t image_size; /* in and out */
    uint8_t *image;
};

/* ---- what a chip has, without one ---------------------------------------- */

struct cupti_host_open {
    size_t size;
    void *none;
    int profiler; /* 0: ranges */
    const char *chip;
    const uint8_t *available; /* NULL: all that the chip has */
    void *host;               /* out */
};

struct cupti_host_close {
    size_t size;
    void *none;
    void *host;
};

struct cupti_host_list {
    size_t size;
    void *none;
    void *host;
    int type;           /* 0: counters */
    const char **names; /* out */
    size_t n;           /* out */
};

struct cupti_host_add {
    size_t size;
    void *none;
    void *host;
    const char **names;
    size_t n;
};

struct cupti_host_config_size {
    size_t size;
    void *none;
    void *host;
    size_t config_size; /* out */
};

struct cupti_host_config {
    size_t size;
    void *none;
    void *host;
    size_t config_size;
    uint8_t *config;
};

struct cupti_host_passes {
    size_t size;
    void *none;
    size_t config_size;
    uint8_t *config;
    size_t n; /* out */
};

struct cupti_host_evaluate {
    size_t size;
    void *none;
    void *host;
    const uint8_t *data;
    size_t data_size;
    size_t range;
    const char **names;
    size_t n;
    double *values;
};

/* ---- a range of launches ------------------------------------------------- */

struct cupti_range_enable {
    size_t size;
    void *none;
    CUcontext context;
    void *profiler; /* out */
};

struct cupti_range_data_size {
    size_t size;
    void *none;
    void *profiler;
    const char **names;
    size_t n;
    size_t ranges;
    uint32_t nodes;
    size_t data_size; /* out */
};

struct cupti_range_data {
    size_t size;
    void *none;
    void *profiler;
    size_t data_size;
    uint8_t *data;
};

struct cupti_range_config {
    size_t size;
    void *none;
    void *profiler;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    int range, replay; /* as below */
    size_t ranges;     /* of a pass */
    uint16_t levels, first_level;
    size_t pass;
    uint16_t level;
};
enum { CUPTI_RANGE_BY_USER = 2, CUPTI_REPLAY_BY_USER = 3 };

struct cupti_range_push {
    size_t size;
    void *none;
    void *profiler;
    const char *name;
};

struct cupti_range_stop {
    size_t size;
    void *none;
    void *profiler;
    /* out */
    size_t pass, level;
    uint8_t all; /* passes are over */
};

struct cupti_range_decode {
    size_t size;
    void *none;
    void *profiler;
    size_t dropped; /* out */
};

/* Of calls that take nothing more: start, pop, disable. */
struct cupti_range_plain {
    size_t size;
    void *none;
    void *profiler;
};

/* Of the call that takes nothing at all. */
struct cupti_begin {
    size_t size;
    void *none;
};

/* ---- functions ----------------------------------------------------------- */

/* X(function, what it takes, the last member of that) */
#define MSIM_CUPTI_RANGE_MAP(X)                                                \
    X(cuptiProfilerInitialize, cupti_begin, none)                              \
    X(cuptiDeviceGetChipName, cupti_chip_name, name)                           \
    X(cuptiProfilerDeviceSupported, cupti_supported, api)                      \
    X(cuptiProfilerGetCounterAvailability, cupti_available, image)             \
    X(cuptiProfilerHostInitialize, cupti_host_open, host)                      \
    X(cuptiProfilerHostDeinitialize, cupti_host_close, host)                   \
    X(cuptiProfilerHostGetBaseMetrics, cupti_host_list, n)                     \
    X(cuptiProfilerHostConfigAddMetrics, cupti_host_add, n)                    \
    X(cuptiProfilerHostGetConfigImageSize, cupti_host_config_size,             \
      config_size)                                                             \
    X(cuptiProfilerHostGetConfigImage, cupti_host_config, config)              \
    X(cuptiProfilerHostGetNumOfPasses, cupti_host_passes, n)                   \
    X(cuptiProfilerHostEvaluateToGpuValues, cupti_host_evaluate, values)       \
    X(cuptiRangeProfilerEnable, cupti_range_enable, profiler)                  \
    X(cuptiRangeProfilerDisable, cupti_range_plain, profiler)                  \
    X(cuptiRangeProfilerGetCounterDataSize, cupti_range_data_size, data_size)  \
    X(cuptiRangeProfilerCounterDataImageInitialize, cupti_range_data, data)    \
    X(cuptiRangeProfilerSetConfig, cupti_range_config, level)                  \
    X(cuptiRangeProfilerStart, cupti_range_plain, profiler)                    \
    X(cuptiRangeProfilerPushRange, cupti_range_push, name)                     \
    X(cuptiRangeProfilerPopRange, cupti_range_plain, profiler)                 \
    X(cuptiRangeProfilerStop, cupti_range_stop, all)                           \
    X(cuptiRangeProfilerDecodeData, cupti_range_decode, dropped)

struct msim_cupti_range {
#define X(function, type, last) CUptiResult (*function)(struct type *);
    MSIM_CUPTI_RANGE_MAP(X)
#undef X
};

/* The size that a call is told: up to the last member, without what the
 * compiler adds for alignment. */
enum {
#define X(function, type, last)                                                \
    MSIM_SIZE_##function =                                                     \
        (int)(offsetof(struct type, last) + sizeof(((struct type *)0)->last)),
    MSIM_CUPTI_RANGE_MAP(X)
#undef X
};

/* Find them all in the library that the program was started with; false, with
 * the name of the first that it lacks. */
bool msim_cupti_range_find(struct msim_cupti_range *r, const char **missing);

#endif

/*
 * profilers/cpu/cpu_device.h - the processor that is timed.
 */
#ifndef MSIM_PROFILERS_CPU_CPU_DEVICE_H
#define MSIM_PROFILERS_CPU_CPU_DEVICE_H
#include "core/base/json.h"

struct msim_cpu_device {
    char name[128]; /* "AMD EPYC (2 cores)" */
    uint32_t cores; /* that this process may run on */
    uint64_t memory_bytes;
    uint64_t cache_bytes; /* of the last level */
    double mhz;           /* as the kernel says it at the moment; 0: unknown */
};

/* What the kernel says, with typical figures where it says nothing. */
void msim_cpu_device_find(struct msim_cpu_device *d);

/* The members of "device" in a greeting. */
void msim_cpu_device_write(const struct msim_cpu_device *d,
                           struct msim_json *out);

/* The clock now in MHz, 0 where it is not known. */
double msim_cpu_clock_mhz(void);

/* Microseconds of a clock that is never set. */
double msim_cpu_now_us(void);

#endif

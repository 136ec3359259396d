/*
 * tests/fake_gpu/fake_nvml.c - NVML of the made-up GPU: libnvidia-ml.so.1.
 *
 * A program that makes no call of CUDA's lives by its own clock, and sees a GPU
 * that is busy for another program.
 */
#include "tests/fake_gpu/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OK = 0, NOT_INITIALIZED = 1, INVALID = 2, NOT_FOUND = 6, UNKNOWN = 999 };
enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 };
enum { SLOWED_BY_POWER = 4 };

#define CALL_US 50

typedef void *device;

/* ---- one call ------------------------------------------------------------ */

/* Where it is said how long a call takes, it takes that in earnest. */
static bool call(const char *name)
{
    double us = fake_setting("nvml_us", 0);
    struct timespec t = {.tv_sec = (time_t)(us / 1e6),
                         .tv_nsec = (long)(1e3 * us) % 1000000000};

    if (us > 0)
        syscall(SYS_nanosleep, &t, NULL);
    return fake_call(name, (uint64_t)(1e3 * (us > 0 ? us : CALL_US)));
}

#define CALL()                                                                 \
    do {                                                                       \
        if (!call(__func__))                                                   \
            return UNKNOWN;                                                    \
    } while (0)

static int index_of(device d)
{
    return (int)((char *)d - (char *)NULL) - 1;
}

/* ---- functions, as in the "NVML API reference" --------------------------- */

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    CALL();
    return fake_setting("no_nvml", 0) ? UNKNOWN : OK;
}

int nvmlShutdown(void);
int nvmlShutdown(void)
{
    CALL();
    return OK;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size);
int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    CALL();
    snprintf(text, size, "FAKE");
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *n);
int nvmlDeviceGetCount_v2(unsigned *n)
{
    CALL();
    *n = (unsigned)fake_devices();
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *to);
int nvmlDeviceGetHandleByIndex_v2(unsigned i, device *to)
{
    CALL();
    *to = (char *)NULL + i + 1;
    return (int)i < fake_devices() ? OK : NOT_FOUND;
}

/* "00000000:01:00.0", or with four digits in front. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, device *to);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, device *to)
{
    const char *colon = strchr(bus, ':');
    unsigned long number = colon ? strtoul(colon + 1, NULL, 16) : 0;

    CALL();
    if (number < 1 || number > (unsigned long)fake_devices())
        return NOT_FOUND;
    *to = (char *)NULL + number;
    return OK;
}

int nvmlDeviceGetName(device d, char *name, unsigned size);
int nvmlDeviceGetName(device d, char *name, unsigned size)
{
    (void)d;
    CALL();
    snprintf(name, size, "%s", FAKE_NAME);
    return OK;
}

int nvmlDeviceGetClockInfo(device d, int which, unsigned *mhz);
int nvmlDeviceGetClockInfo(device d, int which, unsigned *mhz)
{
    CALL();
    *mhz = which == CLOCK_SM ? fake_mhz(fake_figures(index_of(d)).load) : 2619;
    return OK;
}

int nvmlDeviceGetMaxClockInfo(device d, int which, unsigned *mhz);
int nvmlDeviceGetMaxClockInfo(device d, int which, unsigned *mhz)
{
    (void)d;
    CALL();
    *mhz = which == CLOCK_SM ? FAKE_MHZ : 2619;
    return OK;
}

int nvmlDeviceGetPowerUsage(device d, unsigned *mw);
int nvmlDeviceGetPowerUsage(device d, unsigned *mw)
{
    CALL();
    *mw = (unsigned)(90e3 + 610e3 * fake_figures(index_of(d)).load);
    return OK;
}

int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj);
int nvmlDeviceGetTotalEnergyConsumption(device d, unsigned long long *mj)
{
    CALL();
    *mj = (unsigned long long)(1e3 * fake_figures(index_of(d)).joules);
    return OK;
}

int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw);
int nvmlDeviceGetEnforcedPowerLimit(device d, unsigned *mw)
{
    (void)d;
    CALL();
    *mw = 700000;
    return OK;
}

int nvmlDeviceGetTemperature(device d, int which, unsigned *celsius);
int nvmlDeviceGetTemperature(device d, int which, unsigned *celsius)
{
    (void)which;
    CALL();
    *celsius = (unsigned)(32 + 38 * fake_figures(index_of(d)).load);
    return OK;
}

int nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *bits);
int nvmlDeviceGetCurrentClocksEventReasons(device d, unsigned long long *bits)
{
    unsigned mhz;

    CALL();
    mhz = fake_mhz(fake_figures(index_of(d)).load);
    *bits = mhz > FAKE_MHZ_IDLE && mhz < FAKE_MHZ ? SLOWED_BY_POWER : 0;
    return OK;
}

int nvmlDeviceGetNvLinkState(device d, unsigned link, int *active);
int nvmlDeviceGetNvLinkState(device d, unsigned link, int *active)
{
    (void)d;
    (void)link;
    CALL();
    *active = fake_devices() > 1;
    return OK;
}

/* ---- GPM: utilisation between two samples -------------------------------- */

struct sample {
    uint64_t at;
    struct fake_figures figures;
};

struct support {
    unsigned version, supported;
};

struct metric {
    unsigned id;
    int result;
    double value;
    void *info[3];
};

struct metrics {
    unsigned version, n;
    struct sample *first, *second;
    struct metric list[98];
};

enum { SM_UTIL = 2, SM_OCCUPANCY = 3, TENSOR_UTIL = 5, DRAM_UTIL = 10 };

int nvmlGpmQueryDeviceSupport(device d, struct support *s);
int nvmlGpmQueryDeviceSupport(device d, struct support *s)
{
    (void)d;
    CALL();
    s->supported = 1;
    return OK;
}

int nvmlGpmSampleAlloc(struct sample **s);
int nvmlGpmSampleAlloc(struct sample **s)
{
    CALL();
    *s = calloc(1, sizeof(**s));
    return *s ? OK : UNKNOWN;
}

int nvmlGpmSampleFree(struct sample *s);
int nvmlGpmSampleFree(struct sample *s)
{
    CALL();
    free(s);
    return OK;
}

int nvmlGpmSampleGet(device d, struct sample *s);
int nvmlGpmSampleGet(device d, struct sample *s)
{
    CALL();
    s->at = fake_now();
    s->figures = fake_figures(index_of(d));
    return OK;
}

int nvmlGpmMetricsGet(struct metrics *m);
int nvmlGpmMetricsGet(struct metrics *m)
{
    const struct fake_figures *a = &m->first->figures, *b = &m->second->figures;
    double ns = (double)(m->second->at - m->first->at);
    double busy = ns > 0 ? 100 * (b->busy_ns - a->busy_ns) / ns : 0;
    double bytes = b->read + b->written - a->read - a->written;

    CALL();
    if (m->version != 1)
        return INVALID;
    for (unsigned i = 0; i < m->n; i++) {
        struct metric *to = &m->list[i];

        to->result = OK;
        to->value = to->id == SM_UTIL       ? busy
                    : to->id == DRAM_UTIL   ? 1e11 * bytes / ns / FAKE_BANDWIDTH
                    : to->id == TENSOR_UTIL ? busy / 2
                                            : busy / 4;
        if (to->id != SM_UTIL && to->id != SM_OCCUPANCY &&
            to->id != TENSOR_UTIL && to->id != DRAM_UTIL)
            to->result = INVALID;
    }
    return OK;
}

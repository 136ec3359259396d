/*
 * profilers/cuda/nvml.c - clocks, power and limits of a GPU.
 *
 * Functions, types and numbers as in the "NVML API reference": the interface
 * is stable across drivers, so it is spelled out here.
 */
#include "profilers/cuda/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define READ_NS    100000000 /* from one reading to the next */
#define READ_SHARE 50        /* and so many times what one takes */

typedef void *nvml_device;

enum { NVML_OK = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };

struct msim_nvml {
    void *library;
    nvml_device gpu;
    int (*stop)(void);
    int (*driver)(char *, unsigned);
    int (*clock)(nvml_device, int, unsigned *);
    int (*max_clock)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *);
    int (*power_limit)(nvml_device, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*slowed)(nvml_device, unsigned long long *);
    int (*nvlink)(nvml_device, unsigned, int *);
    int (*energy)(nvml_device, unsigned long long *);
    struct msim_nvml_state last;
    uint64_t read_at, read_ns; /* when that was, and what it took */
};

/* ISO C has no conversion from an object's pointer to a function's. */
#define FIND(n, member, symbol)                                                \
    do {                                                                       \
        void *found_ = dlsym((n)->library, symbol);                            \
        memcpy(&(n)->member, &found_, sizeof(found_));                         \
    } while (0)

static void find_all(struct msim_nvml *n)
{
    FIND(n, stop, "nvmlShutdown");
    FIND(n, driver, "nvmlSystemGetDriverVersion");
    FIND(n, clock, "nvmlDeviceGetClockInfo");
    FIND(n, max_clock, "nvmlDeviceGetMaxClockInfo");
    FIND(n, power, "nvmlDeviceGetPowerUsage");
    FIND(n, power_limit, "nvmlDeviceGetEnforcedPowerLimit");
    FIND(n, temperature, "nvmlDeviceGetTemperature");
    FIND(n, nvlink, "nvmlDeviceGetNvLinkState");
    FIND(n, energy, "nvmlDeviceGetTotalEnergyConsumption");
    FIND(n, slowed, "nvmlDeviceGetCurrentClocksEventReasons");
    if (!n->slowed) /* its name before 12.2 */
        FIND(n, slowed, "nvmlDeviceGetCurrentClocksThrottleReasons");
}

/* Starts NVML and finds the GPU. */
static bool start(struct msim_nvml *n, const char *bus_id)
{
    int (*init)(void);
    int (*by_bus)(const char *, nvml_device *);
    void *found = dlsym(n->library, "nvmlInit_v2");

    memcpy(&init, &found, sizeof(found));
    found = dlsym(n->library, "nvmlDeviceGetHandleByPciBusId_v2");
    memcpy(&by_bus, &found, sizeof(found));
    if (!init || !by_bus || init() != NVML_OK)
        return false;
    find_all(n);
    if (by_bus(bus_id, &n->gpu) == NVML_OK)
        return true;
    if (n->stop)
        n->stop();
    return false;
}

struct msim_nvml *msim_nvml_open(const char *bus_id)
{
    struct msim_nvml *n = calloc(1, sizeof(*n));

    if (!n)
        return NULL;
    n->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->library && start(n, bus_id))
        return n;
    if (n->library)
        dlclose(n->library);
    free(n);
    return NULL;
}

void msim_nvml_close(struct msim_nvml *n)
{
    if (!n)
        return;
    if (n->stop)
        n->stop();
    dlclose(n->library);
    free(n);
}

/* ---- what it is doing ---------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static struct msim_nvml_state ask(struct msim_nvml *n)
{
    struct msim_nvml_state s = {0};
    unsigned long long mj;

    if (!n->clock || n->clock(n->gpu, NVML_CLOCK_SM, &s.sm_mhz) != NVML_OK)
        s.sm_mhz = 0;
    if (!n->clock ||
        n->clock(n->gpu, NVML_CLOCK_MEMORY, &s.memory_mhz) != NVML_OK)
        s.memory_mhz = 0;
    if (!n->power || n->power(n->gpu, &s.power_mw) != NVML_OK)
        s.power_mw = 0;
    if (!n->temperature ||
        n->temperature(n->gpu, NVML_TEMPERATURE_GPU, &s.celsius) != NVML_OK)
        s.celsius = 0;
    if (!n->slowed || n->slowed(n->gpu, &s.slowed) != NVML_OK)
        s.slowed = 0;
    if (n->energy && n->energy(n->gpu, &mj) == NVML_OK)
        s.joules = 1e-3 * (double)mj;
    return s;
}

struct msim_nvml_state msim_nvml_read_now(struct msim_nvml *n)
{
    uint64_t begin;

    if (!n)
        return (struct msim_nvml_state){0};
    begin = now_ns();
    n->last = ask(n);
    n->read_at = now_ns();
    n->read_ns = n->read_at - begin;
    return n->last;
}

struct msim_nvml_state msim_nvml_read(struct msim_nvml *n)
{
    uint64_t apart = n ? READ_SHARE * n->read_ns : 0;

    if (n && n->read_at &&
        now_ns() - n->read_at < (apart > READ_NS ? apart : READ_NS))
        return n->last;
    return msim_nvml_read_now(n);
}

void msim_nvml_describe(struct msim_nvml *n, struct msim_json *out)
{
    unsigned v;

    if (!n)
        return;
    if (n->max_clock && n->max_clock(n->gpu, NVML_CLOCK_SM, &v) == NVML_OK)
        msim_json_unsigned(out, "max_sm_mhz", v);
    if (n->max_clock && n->max_clock(n->gpu, NVML_CLOCK_MEMORY, &v) == NVML_OK)
        msim_json_unsigned(out, "max_memory_mhz", v);
    if (n->power_limit && n->power_limit(n->gpu, &v) == NVML_OK)
        msim_json_number(out, "power_limit_w", v / 1000.0);
    if (n->read_ns)
        msim_json_number(out, "nvml_us", 1e-3 * (double)n->read_ns);
}

void msim_nvml_driver(struct msim_nvml *n, char *driver, unsigned size)
{
    if (!n || !n->driver || n->driver(driver, size) != NVML_OK)
        snprintf(driver, size, "unknown");
}

bool msim_nvml_has_nvlink(struct msim_nvml *n)
{
    int active = 0;

    return n && n->nvlink && n->nvlink(n->gpu, 0, &active) == NVML_OK && active;
}

static void write_figure(struct msim_json *out, const char *name,
                         const char *suffix, double v)
{
    char key[64];

    snprintf(key, sizeof(key), "%s%s", name, suffix);
    if (v > 0)
        msim_json_number(out, key, v);
}

void msim_nvml_write(const struct msim_nvml_state *s, const char *suffix,
                     struct msim_json *out)
{
    write_figure(out, "sm_mhz", suffix, s->sm_mhz);
    write_figure(out, "memory_mhz", suffix, s->memory_mhz);
    write_figure(out, "power_w", suffix, s->power_mw / 1000.0);
    write_figure(out, "celsius", suffix, s->celsius);
    write_figure(out, "slowed", suffix, (double)s->slowed);
}

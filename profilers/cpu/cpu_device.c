/*
 * profilers/cpu/cpu_device.c - the processor that is timed.
 */
#include "profilers/cpu/cpu.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TYPICAL_CACHE (32u << 20)
#define CACHE_INDEXES 8

/* The text after "NAME : " of the first such line; false where there is none.
 */
static bool cpuinfo(const char *name, char *text, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[512];
    bool found = false;

    while (f && !found && fgets(line, sizeof(line), f)) {
        char *value = strchr(line, ':');

        if (!value || strncmp(line, name, strlen(name)) != 0)
            continue;
        value += 1 + strspn(value + 1, " \t");
        value[strcspn(value, "\n")] = '\0';
        snprintf(text, size, "%s", value);
        found = true;
    }
    if (f)
        fclose(f);
    return found;
}

static uint32_t count_cores(void)
{
    cpu_set_t set;
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    return online > 0 ? (uint32_t)online : 1;
}

/* "32768K" of the cache with index `i`; 0 where there is none. */
static uint64_t cache_size(int i)
{
    char path[96], text[32] = "", *end;
    double size;
    FILE *f;

    snprintf(path, sizeof(path),
             "/sys/devices/system/cpu/cpu0/cache/index%d/"
             "size",
             i);
    f = fopen(path, "r");
    if (!f)
        return 0;
    if (!fgets(text, sizeof(text), f))
        text[0] = '\0';
    fclose(f);
    size = strtod(text, &end);
    if (*end == 'K')
        size *= 1024;
    else if (*end == 'M')
        size *= 1024 * 1024;
    return size > 0 ? (uint64_t)size : 0;
}

static uint64_t last_level_cache(void)
{
    uint64_t most = 0;

    for (int i = 0; i < CACHE_INDEXES; i++) {
        uint64_t size = cache_size(i);

        if (size > most)
            most = size;
    }
    return most ? most : TYPICAL_CACHE;
}

double msim_cpu_clock_mhz(void)
{
    char text[64];

    return cpuinfo("cpu MHz", text, sizeof(text)) ? strtod(text, NULL) : 0;
}

double msim_cpu_now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

void msim_cpu_device_find(struct msim_cpu_device *d)
{
    char model[96] = "CPU";
    long pages = sysconf(_SC_PHYS_PAGES);
    long page = sysconf(_SC_PAGE_SIZE);

    (void)cpuinfo("model name", model, sizeof(model));
    d->cores = count_cores();
    d->memory_bytes = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page
                                            : UINT64_C(1) << 30;
    d->cache_bytes = last_level_cache();
    d->mhz = msim_cpu_clock_mhz();
    snprintf(d->name, sizeof(d->name), "%s (%u core%s)", model, d->cores,
             d->cores == 1 ? "" : "s");
}

void msim_cpu_device_write(const struct msim_cpu_device *d,
                           struct msim_json *out)
{
    msim_json_open(out, "device", '{', false);
    msim_json_text(out, "name", d->name);
    msim_json_text(out, "kind", "cpu");
    msim_json_unsigned(out, "sms", d->cores);
    msim_json_unsigned(out, "threads", d->cores);
    msim_json_unsigned(out, "memory_bytes", d->memory_bytes);
    msim_json_unsigned(out, "l2_bytes", d->cache_bytes);
    if (d->mhz > 0)
        msim_json_number(out, "clock_mhz", d->mhz);
    msim_json_close(out);
}

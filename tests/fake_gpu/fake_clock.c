/*
 * tests/fake_gpu/fake_clock.c - the made-up GPU's clock, settings and faults.
 */
#include "tests/fake_gpu/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SETTINGS 32
#define CALLS    160
#define GLANCE   25 /* ns: to look at the clock */

/* Nanoseconds since 1970 at the clock's beginning: CUPTI's clock is the
 * system's, and so large that a double steps by 256 there. */
#define EPOCH UINT64_C(1800000000000000000)

enum mode { NO_FAULT, ONCE, ALWAYS, HANG, STICKY };

static struct {
    uint64_t ns;
    bool used; /* by a program that is linked with this library */
    bool broken;
    struct {
        char name[48];
        double value; /* of a fault: at which call */
        enum mode mode;
        bool seen;
    } settings[SETTINGS];
    int n_settings;
    struct {
        const char *name;
        uint64_t n;
    } calls[CALLS];
    int n_calls;
    uint32_t correlation;
} fake = {.ns = 1000000000};

/* ---- settings ------------------------------------------------------------ */

static const char *const NAMES[] = {"gpus",      "nvml_us", "late_us",
                                    "drift_ppm", "host_us", "no_fp32",
                                    "no_cupti",  "no_nvml", "leaks"};

static bool is_name(const char *name)
{
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++)
        if (strcmp(NAMES[i], name) == 0)
            return true;
    return false;
}

static void refuse(const char *setting)
{
    fprintf(stderr,
            "fake GPU: FAKE_GPU has '%s', want a setting of "
            "tests/fake_gpu/fake.h\n",
            setting);
    _exit(2);
}

static enum mode read_mode(const char *text)
{
    static const char *const MODES[] = {"", "once", "always", "hang", "sticky"};
    size_t n = strcspn(text, "@");

    for (int m = ONCE; m <= STICKY; m++)
        if (strlen(MODES[m]) == n && strncmp(MODES[m], text, n) == 0)
            return (enum mode)m;
    return NO_FAULT;
}

static void read_setting(const char *text)
{
    const char *value = strchr(text, '='), *number;
    char *end;
    int i = fake.n_settings;

    if (!value || i == SETTINGS || value - text >= 48)
        refuse(text);
    snprintf(fake.settings[i].name, 48, "%.*s", (int)(value - text), text);
    fake.settings[i].mode = read_mode(++value);
    if (is_name(fake.settings[i].name) ==
        (fake.settings[i].mode != NO_FAULT)) /* a fault is one of a call */
        refuse(text);
    number = fake.settings[i].mode ? strchr(value, '@') : value;
    fake.settings[i].value =
        !number ? 1 : strtod(number + (*number == '@'), &end);
    if (number && (*end || end == number))
        refuse(text);
    fake.n_settings++;
}

__attribute__((constructor)) static void begin(void)
{
    const char *all = getenv("FAKE_GPU");
    char copy[1024], *rest = NULL;

    snprintf(copy, sizeof(copy), "%s", all ? all : "");
    for (char *s = strtok_r(copy, ", ", &rest); s;
         s = strtok_r(NULL, ", ", &rest))
        read_setting(s);
}

double fake_setting(const char *name, double otherwise)
{
    for (int i = 0; i < fake.n_settings; i++)
        if (strcmp(fake.settings[i].name, name) == 0)
            return fake.settings[i].value;
    return otherwise;
}

/* ---- the clock ----------------------------------------------------------- */

uint64_t fake_now(void)
{
    struct timespec t;

    if (fake.used)
        return fake.ns;
    /* a program that knows NVML alone lives by its own clock */
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void fake_pass(uint64_t ns)
{
    fake.ns += ns;
}

void fake_wait_until(uint64_t ns)
{
    if (ns > fake.ns)
        fake.ns = ns;
}

uint64_t fake_host_stamp(uint64_t ns)
{
    return EPOCH + ns;
}

uint64_t fake_device_stamp(uint64_t ns)
{
    return EPOCH + ns +
           (uint64_t)(1e-6 * fake_setting("drift_ppm", 0) * (double)ns);
}

/* In the place of the C library's, in whatever is linked with this. */
int clock_gettime(clockid_t clock, struct timespec *t)
{
    uint64_t ns = fake.ns;

    if (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)
        return (int)syscall(SYS_clock_gettime, clock, t);
    fake.used = true;
    fake_pass(GLANCE);
    if (clock == CLOCK_REALTIME)
        ns = fake_host_stamp(ns);
    t->tv_sec = (time_t)(ns / 1000000000);
    t->tv_nsec = (long)(ns % 1000000000);
    return 0;
}

int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    (void)left;
    fake.used = true;
    fake_pass((uint64_t)wanted->tv_sec * 1000000000 +
              (uint64_t)wanted->tv_nsec);
    return 0;
}

/* ---- calls and faults ---------------------------------------------------- */

static uint64_t count(const char *name)
{
    int i = 0;

    while (i < fake.n_calls && strcmp(fake.calls[i].name, name) != 0)
        i++;
    if (i == fake.n_calls && i < CALLS)
        fake.calls[fake.n_calls++].name = name;
    return i < CALLS ? ++fake.calls[i].n : 0;
}

static bool is_due(int i, uint64_t number)
{
    double at = fake.settings[i].value;

    fake.settings[i].seen = true;
    return fake.settings[i].mode == ALWAYS ? (double)number >= at
                                           : (double)number == at;
}

static bool is_well(const char *name, uint64_t number)
{
    for (int i = 0; i < fake.n_settings; i++) {
        if (!fake.settings[i].mode ||
            strcmp(fake.settings[i].name, name) != 0 || !is_due(i, number))
            continue;
        while (fake.settings[i].mode == HANG)
            pause();
        fake.broken |= fake.settings[i].mode == STICKY;
        return false;
    }
    return true;
}

bool fake_call(const char *name, uint64_t ns)
{
    uint64_t start = fake.ns;

    fake.used |= strncmp(name, "nvml", 4) != 0;
    fake_pass(ns);
    fake_cupti_note_call(name, start, fake.ns, ++fake.correlation);
    return is_well(name, count(name));
}

bool fake_is_broken(void)
{
    return fake.broken;
}

void fake_break(void)
{
    fake.broken = true;
}

uint32_t fake_correlation(void)
{
    return fake.correlation;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAKE_GPU_COUNTS");
    FILE *f = path ? fopen(path, "a") : NULL;

    for (int i = 0; f && i < fake.n_calls; i++)
        fprintf(f, "%s %llu\n", fake.calls[i].name,
                (unsigned long long)fake.calls[i].n);
    if (f)
        fclose(f);
    for (int i = 0; i < fake.n_settings; i++)
        if (fake.settings[i].mode && !fake.settings[i].seen && fake.used)
            fprintf(stderr, "fake GPU: no call of '%s' was made\n",
                    fake.settings[i].name);
}

/*
 * What an interval took of the machine: figures of work that is known, and as
 * members.
 */
#include "profilers/serve_internal.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

static double cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The share of all processors' ticks that were of work since the last call;
 * NAN where the kernel does not say it. */
static double busy_since(double last[2])
{
    FILE *f = fopen("/proc/stat", "r");
    double t[8] = {0}, now[2], share;
    char line[512] = "", *at = line + 4; /* behind "cpu " */
    bool found = f && fgets(line, sizeof(line), f) && line[0] == 'c';

    if (f)
        fclose(f);
    if (!found)
        return NAN;
    for (int i = 0; i < 8; i++)
        t[i] = strtod(at, &at);
    now[0] = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    now[1] = now[0] + t[3] + t[4];
    share = now[1] > last[1] ? (now[0] - last[0]) / (now[1] - last[1]) : NAN;
    memcpy(last, now, sizeof(now));
    return share;
}

/* 64 MiB of new pages are written, and 0.3 s of the processor used, most of
 * them by a nice process, which the kernel counts by itself. */
#define BYTES (64 << 20)

static double work(void)
{
    double begin = cpu_us();
    volatile char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (!CHECK(at != MAP_FAILED))
        return 0;
    (void)madvise((void *)at, BYTES, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < BYTES; i += 4096)
        at[i] = 1;
    while (cpu_us() - begin < 1e5)
        ;
    (void)!nice(1);
    while (cpu_us() - begin < 3e5)
        ;
    return cpu_us() - begin;
}

static void test_host_metrics__of_an_interval(void)
{
    struct msim_host_metrics *m;
    struct msim_host_figures f, idle;
    double begin, used, all, busy, last[2] = {0};

    REQUIRE(msim_host_metrics_new(&m) == MSIM_OK);
    (void)busy_since(last);
    begin = cpu_us();
    used = work();
    msim_host_metrics_take(m, &f);
    busy = busy_since(last);
    all = cpu_us() - begin;
    CHECK(f.cpu_us >= used && f.cpu_us <= all + 1e5);
    CHECK(f.faults >= BYTES / 4096.0);
    CHECK(f.faults < 2 * BYTES / 4096.0);
    CHECK(f.rss_bytes > BYTES && f.rss_bytes < 64.0 * BYTES);
    CHECK(isnan(f.busy) ? isnan(busy) : fabs(f.busy - busy) < 0.1);
    msim_host_metrics_take(m, &idle); /* since the last one alone */
    CHECK(idle.cpu_us >= 0 && idle.cpu_us < 0.5 * f.cpu_us);
    CHECK(idle.faults >= 0 && idle.faults < 0.5 * f.faults);
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        CHECK(msim_host_metrics_refused(m) ? isnan(f.counters[c])
                                           : f.counters[c] > 0);
    if (msim_host_metrics_refused(m))
        CHECK(strncmp(msim_host_metrics_refused(m), "perf_event_open: ", 17) ==
              0);
    msim_host_metrics_free(m);
    msim_host_metrics_free(NULL);
}

static void check_written(const struct msim_host_figures *f, const char *want)
{
    static struct msim_json j;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out);
    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    msim_host_figures_write(f, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    CHECK_STR(text, want);
    free(text);
}

/* What is not known is left out. */
static void test_host_metrics__as_members(void)
{
    struct msim_host_figures f = {1, 2, 3, 0.5, {4, 5, 6}};

    check_written(&f, "{\"cpu_us\": 1, \"page_faults\": 2, \"rss_bytes\": 3, "
                      "\"busy\": 0.5, \"cycles\": 4, \"instructions\": 5, "
                      "\"cache_misses\": 6}\n");
    f.busy = NAN;
    f.counters[MSIM_HOST_INSTRUCTIONS] = INFINITY;
    check_written(&f, "{\"cpu_us\": 1, \"page_faults\": 2, \"rss_bytes\": 3, "
                      "\"cycles\": 4, \"cache_misses\": 6}\n");
}

int main(void)
{
    RUN(test_host_metrics__of_an_interval);
    RUN(test_host_metrics__as_members);
    return check_summary();
}

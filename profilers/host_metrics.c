/*
 * profilers/host_metrics.c - what an interval took of the machine.
 *
 * Threads of OpenMP are there before anything is watched, and a counter with
 * `inherit` counts later threads alone; so each thread has counters of its own.
 */
#include "profilers/serve_internal.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 512

struct reading {
    double cpu_us, faults;
    double busy, all; /* of the machine's processors, in ticks */
    double counters[MSIM_HOST_COUNTERS];
};

struct msim_host_metrics {
    int files[MSIM_HOST_COUNTERS][THREADS];
    uint32_t threads;
    int refused; /* errno of the first counter that could not be opened */
    char why[160];
    struct reading last;
};

/* ---- counters ------------------------------------------------------------ */

static int open_counter(pid_t thread, uint64_t number)
{
    struct perf_event_attr a = {.type = PERF_TYPE_HARDWARE,
                                .size = sizeof(a),
                                .config = number,
                                .exclude_kernel = 1,
                                .exclude_hv = 1};

    return (int)syscall(SYS_perf_event_open, &a, thread, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static void close_counters(struct msim_host_metrics *m)
{
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        for (uint32_t i = 0; i < m->threads; i++)
            if (m->files[c][i] >= 0)
                close(m->files[c][i]);
    m->threads = 0;
}

static void open_thread(struct msim_host_metrics *m, pid_t thread)
{
    static const uint64_t NUMBERS[] = {
#define X(field, number, text) number,
        MSIM_HOST_COUNTER_MAP(X)
#undef X
    };

    for (int c = 0; c < MSIM_HOST_COUNTERS; c++) {
        m->files[c][m->threads] = open_counter(thread, NUMBERS[c]);
        if (m->files[c][m->threads] < 0 && !m->refused)
            m->refused = errno;
    }
    m->threads++;
}

static void open_counters(struct msim_host_metrics *m)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *e;

    if (!tasks)
        m->refused = errno;
    while (tasks && !m->refused && m->threads < THREADS && (e = readdir(tasks)))
        if (e->d_name[0] != '.')
            open_thread(m, (pid_t)strtol(e->d_name, NULL, 10));
    if (tasks)
        closedir(tasks);
    if (!m->refused)
        return;
    snprintf(m->why, sizeof(m->why), "perf_event_open: %s%s",
             strerror(m->refused),
             m->refused == EACCES || m->refused == EPERM
                 ? "; see /proc/sys/kernel/perf_event_paranoid"
                 : "");
    close_counters(m);
}

static double count(const struct msim_host_metrics *m, int counter)
{
    uint64_t sum = 0, value;

    if (m->refused)
        return NAN;
    for (uint32_t i = 0; i < m->threads; i++)
        if (read(m->files[counter][i], &value, sizeof(value)) == sizeof(value))
            sum += value;
    return (double)sum;
}

/* ---- /proc --------------------------------------------------------------- */

/* The first `n` numbers of the first line of a file, behind a word; false where
 * there are fewer. */
static bool read_numbers(const char *path, size_t word, double *to, int n)
{
    FILE *f = fopen(path, "r");
    char line[512] = "", *at = line, *end;
    bool found = f && fgets(line, sizeof(line), f) && strlen(line) > word;

    at += found ? word : 0;
    for (int i = 0; found && i < n; i++, at = end) {
        to[i] = strtod(at, &end);
        found = end != at;
    }
    if (f)
        fclose(f);
    return found;
}

/* Ticks of all processors: those of work, and all of them. */
static void read_ticks(struct reading *r)
{
    double t[8]; /* user nice system idle iowait irq softirq steal */

    r->busy = r->all = NAN;
    if (!read_numbers("/proc/stat", strlen("cpu "), t, 8))
        return;
    r->busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
    r->all = r->busy + t[3] + t[4];
}

static double resident_bytes(void)
{
    double pages[2]; /* in all, resident */

    return read_numbers("/proc/self/statm", 0, pages, 2)
               ? pages[1] * (double)sysconf(_SC_PAGESIZE)
               : NAN;
}

static double microseconds(struct timeval t)
{
    return 1e6 * (double)t.tv_sec + (double)t.tv_usec;
}

static struct reading read_all(const struct msim_host_metrics *m)
{
    struct reading r = {.cpu_us = 0};
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    r.cpu_us = microseconds(u.ru_utime) + microseconds(u.ru_stime);
    r.faults = (double)(u.ru_minflt + u.ru_majflt);
    read_ticks(&r);
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        r.counters[c] = count(m, c);
    return r;
}

/* ---- intervals ----------------------------------------------------------- */

enum msim_status msim_host_metrics_new(struct msim_host_metrics **out)
{
    struct msim_host_metrics *m = calloc(1, sizeof(*m));

    *out = m;
    if (!m)
        return MSIM_ENOMEM;
    open_counters(m);
    m->last = read_all(m);
    return MSIM_OK;
}

void msim_host_metrics_free(struct msim_host_metrics *m)
{
    if (!m)
        return;
    close_counters(m);
    free(m);
}

const char *msim_host_metrics_refused(const struct msim_host_metrics *m)
{
    return m->refused ? m->why : NULL;
}

void msim_host_metrics_take(struct msim_host_metrics *m,
                            struct msim_host_figures *out)
{
    struct reading now = read_all(m);
    double ticks = now.all - m->last.all;

    *out = (struct msim_host_figures){
        .cpu_us = now.cpu_us - m->last.cpu_us,
        .faults = now.faults - m->last.faults,
        .rss_bytes = resident_bytes(),
        .busy = ticks > 0 ? (now.busy - m->last.busy) / ticks : NAN};
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        out->counters[c] = now.counters[c] - m->last.counters[c];
    m->last = now;
}

static void write_known(struct msim_json *out, const char *key, double value)
{
    if (isfinite(value))
        msim_json_number(out, key, value);
}

void msim_host_figures_write(const struct msim_host_figures *f,
                             struct msim_json *out)
{
    static const char *const WORDS[] = {
#define X(field, number, text) text,
        MSIM_HOST_COUNTER_MAP(X)
#undef X
    };

    write_known(out, "cpu_us", f->cpu_us);
    write_known(out, "page_faults", f->faults);
    write_known(out, "rss_bytes", f->rss_bytes);
    write_known(out, "busy", f->busy);
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        write_known(out, WORDS[c], f->counters[c]);
}

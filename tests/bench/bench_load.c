/*
 * Loading a big Kineto trace against its lower bounds, in one run:
 *
 *   plain  load / yajl's parse of the same bytes with callbacks that do nothing
 *   .gz    load / inflating the same file and doing nothing with it
 *   memory peak resident size of a load / size of the plain file
 *
 * The file is a real trace repeated: `bench_load TRACE.json[.gz] [EVENTS]`
 * writes one of about EVENTS events (a million) into a temporary folder, the
 * n-th copy shifted in time and in correlation ids so that all of it is
 * distinct, and removes it again. Every measurement runs in a process of its
 * own, best of three.
 */
#include "core/job/job.h"
#include "core/stream/input.h"
#include "tests/bench/bare_yajl.h"
#include "tests/bench/timing.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#define RUNS 3

struct text {
    char *bytes;
    size_t len, cap;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_load: %s\n", what);
    exit(1);
}

static struct text read_all(const char *path)
{
    gzFile in = gzopen(path, "rb");
    struct text t = {0};
    int n;

    if (!in)
        die("cannot open the trace");
    do {
        if (t.cap - t.len < 1 << 20) {
            t.cap = t.cap * 2 + (2 << 20);
            t.bytes = realloc(t.bytes, t.cap);
            if (!t.bytes)
                die("out of memory");
        }
        n = gzread(in, t.bytes + t.len, 1 << 20);
        if (n > 0)
            t.len += (size_t)n;
    } while (n > 0);
    gzclose(in);
    t.bytes[t.len] = '\0';
    return t;
}

/* ---- the file ----------------------------------------------------------- */

/* From the first event to past the last: the inside of traceEvents. */
static void find_events(const struct text *t, size_t *from, size_t *to)
{
    const char *key = strstr(t->bytes, "\"traceEvents\"");
    const char *open = key ? strchr(key, '[') : NULL;
    size_t end = t->len;

    if (!open)
        die("no traceEvents in it");
    while (end && t->bytes[end - 1] != ']')
        end--;
    *from = (size_t)(open - t->bytes) + 1;
    *to = end - 1;
}

/* Keys whose numbers go up from copy to copy, and by how much. */
struct shifted {
    const char *key;
    uint64_t by;
};

static size_t copy_shifted(const char *s, const char *end, FILE *out,
                           const struct shifted *keys, uint64_t copy)
{
    size_t events = 0;
    const char *from = s;

    for (; s < end; s++) {
        const struct shifted *k;

        if (*s != '"')
            continue;
        events += !strncmp(s, "\"ph\"", 4);
        for (k = keys; k->key; k++)
            if (!strncmp(s, k->key, strlen(k->key)))
                break;
        if (!k->key)
            continue;
        s += strlen(k->key);
        while (*s == ' ' || *s == ':')
            s++;
        if (!isdigit((unsigned char)*s))
            continue;
        fwrite(from, 1, (size_t)(s - from), out);
        fprintf(out, "%llu",
                strtoull(s, NULL, 10) + (unsigned long long)(k->by * copy));
        while (isdigit((unsigned char)*s))
            s++;
        from = s--;
    }
    fwrite(from, 1, (size_t)(end - from), out);
    return events;
}

/* Repeat the events of `source` until there are `want` of them. */
static size_t write_big(const struct text *source, const char *path,
                        size_t want)
{
    static const struct shifted keys[] = {{"\"ts\"", 1000000},
                                          {"\"correlation\"", 1000000},
                                          {"\"External id\"", 1000000},
                                          {"\"id\"", 1000000},
                                          {NULL, 0}};
    FILE *out = fopen(path, "wb");
    size_t from, to, events = 0;
    uint64_t copy;

    if (!out)
        die("cannot write the repeated trace");
    find_events(source, &from, &to);
    fwrite(source->bytes, 1, from, out);
    for (copy = 0; events < want; copy++) {
        if (copy)
            fputc(',', out);
        events += copy_shifted(source->bytes + from, source->bytes + to, out,
                               keys, copy);
        if (events == 0)
            die("no events in it");
    }
    fwrite(source->bytes + to, 1, source->len - to, out);
    if (fclose(out))
        die("cannot write the repeated trace");
    return events;
}

static void compress_file(const char *from, const char *to)
{
    static char buf[1 << 20];
    FILE *in = fopen(from, "rb");
    gzFile out = gzopen(to, "wb6");
    size_t n;

    if (!in || !out)
        die("cannot compress");
    while ((n = fread(buf, 1, sizeof(buf), in)) > 0)
        if (gzwrite(out, buf, (unsigned)n) != (int)n)
            die("cannot compress");
    fclose(in);
    if (gzclose(out) != Z_OK)
        die("cannot compress");
}

/* ---- what is measured --------------------------------------------------- */

/* The pieces of a file, parsed with callbacks that do nothing, or not. */
static void run_pieces(const char *path, bool parse)
{
    struct msim_error err = {0};
    struct msim_input *in = NULL;
    yajl_handle yajl = bare_yajl();
    const char *bytes;
    size_t len = 0;

    if (msim_input_open(&in, path, false, &err))
        die("cannot begin");
    do {
        if (msim_input_next(in, &bytes, &len, &err))
            die(err.text);
        if (parse && len)
            bare_parse(yajl, bytes, len);
    } while (len);
    msim_input_close(in);
    yajl_free(yajl);
}

static void run_load(const char *path, uint32_t threads)
{
    struct msim_load_options opt = {.threads = threads};
    struct msim_error err = {0};
    struct msim_job *job;

    if (msim_job_load(&job, &path, 1, &opt, &err))
        die(err.text);
    msim_job_free(job);
}

enum what { BARE, INFLATE, LOAD1, LOAD2 };

struct measure {
    double seconds;
    long rss_kb;
};

/* One run in a process of its own. */
static struct measure run_once(enum what what, const char *path)
{
    struct measure m = {0};
    int ends[2], status;
    pid_t child;

    if (pipe(ends))
        die("cannot make a pipe");
    child = fork();
    if (child == 0) {
        double begin = now();
        struct rusage usage;

        if (what == BARE || what == INFLATE)
            run_pieces(path, what == BARE);
        else
            run_load(path, what == LOAD1 ? 1 : 2);
        m.seconds = now() - begin;
        getrusage(RUSAGE_SELF, &usage);
        m.rss_kb = usage.ru_maxrss;
        if (write(ends[1], &m, sizeof(m)) != (ssize_t)sizeof(m))
            _exit(1);
        _exit(0);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &m, sizeof(m)) != (ssize_t)sizeof(m))
        die("a measurement failed");
    close(ends[0]);
    waitpid(child, &status, 0);
    return m;
}

static struct measure best(enum what what, const char *path)
{
    struct measure b = run_once(what, path), m;
    int i;

    for (i = 1; i < RUNS; i++) {
        m = run_once(what, path);
        if (m.seconds < b.seconds)
            b.seconds = m.seconds;
        if (m.rss_kb > b.rss_kb)
            b.rss_kb = m.rss_kb;
    }
    return b;
}

static void report(const char *plain, const char *gz, double mb)
{
    struct measure bare = best(BARE, plain), inflate = best(INFLATE, gz);
    struct measure p1 = best(LOAD1, plain), p2 = best(LOAD2, plain);
    struct measure g1 = best(LOAD1, gz), g2 = best(LOAD2, gz);

    printf("bare yajl        %7.3f s  %6.0f MB/s\n", bare.seconds,
           mb / bare.seconds);
    printf("inflate          %7.3f s  %6.0f MB/s\n", inflate.seconds,
           mb / inflate.seconds);
    printf("load, 1 thread   %7.3f s  %6.0f MB/s  %.2f x bare\n", p1.seconds,
           mb / p1.seconds, p1.seconds / bare.seconds);
    printf("load, 2 threads  %7.3f s  %6.0f MB/s  %.2f x bare\n", p2.seconds,
           mb / p2.seconds, p2.seconds / bare.seconds);
    printf(".gz, 1 thread    %7.3f s  %6.0f MB/s  %.2f x inflate\n", g1.seconds,
           mb / g1.seconds, g1.seconds / inflate.seconds);
    printf(".gz, 2 threads   %7.3f s  %6.0f MB/s  %.2f x inflate\n", g2.seconds,
           mb / g2.seconds, g2.seconds / inflate.seconds);
    printf("peak memory      %7.1f MB  %.2f x plain (1 thread %.1f MB)\n",
           (double)p2.rss_kb / 1024, (double)p2.rss_kb / 1024 / mb,
           (double)p1.rss_kb / 1024);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char plain[512], gz[520];
    struct text source;
    size_t events;
    FILE *f;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_load TRACE.json[.gz] [EVENTS]\n");
        return 2;
    }
    snprintf(plain, sizeof(plain), "%s/msim-bench-%ld.json", tmp ? tmp : "/tmp",
             (long)getpid());
    snprintf(gz, sizeof(gz), "%s.gz", plain);
    source = read_all(argv[1]);
    events = write_big(&source, plain,
                       argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000);
    free(source.bytes);
    compress_file(plain, gz);
    f = fopen(plain, "rb");
    if (!f || fseek(f, 0, SEEK_END))
        die("cannot read the repeated trace");
    printf("%zu events, %.1f MB\n", events, (double)ftell(f) / 1e6);
    fflush(stdout);
    report(plain, gz, (double)ftell(f) / 1e6);
    fclose(f);
    unlink(plain);
    unlink(gz);
    return 0;
}

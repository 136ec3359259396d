/*
 * Sequences of experiments on a backend that is made up: what is read, how
 * often each runs, what is answered and what refused; and what an interval took
 * of the machine, against what the kernel says before and after.
 */
#include "profilers/serve_internal.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- a backend ----------------------------------------------------------- */

struct made_case {
    double us;
    uint32_t runs;
    bool dead;
};

struct made_up {
    struct made_case cases[8];
    uint32_t n, released, together;
    enum msim_status in_a_row;
};

static struct made_up made;

static enum msim_status time_it(void *state, double *us, struct msim_error *err)
{
    struct made_case *c = state;

    if (c->dead)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE, "it died");
    *us = c->us;
    c->runs++;
    return MSIM_OK;
}

static void release_it(void *state)
{
    (void)state;
    made.released++;
}

static enum msim_status prepare(void *self, const cJSON *experiment,
                                struct msim_case *out, struct msim_error *err)
{
    const char *fails = msim_json_get_text(experiment, "fails");
    struct made_case *c = &made.cases[made.n++];

    CHECK(self == &made);
    c->us = msim_json_get_number(experiment, "us", 0);
    c->dead = msim_json_get_true(experiment, "dead");
    *out =
        (struct msim_case){.state = c, .time = time_it, .release = release_it};
    if (!fails)
        return MSIM_OK;
    if (strcmp(fails, "format") == 0)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE, "bad");
    if (strcmp(fails, "silently") == 0)
        return MSIM_ENOMODEL;
    return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE, "no %s",
                     fails);
}

static enum msim_status together(void *self, const struct msim_case *cases,
                                 const uint32_t *order, uint32_t n, double *us,
                                 struct msim_error *err)
{
    CHECK(self == &made);
    made.together++;
    *us = 0;
    for (uint32_t i = 0; i < n; i++)
        *us += ((struct made_case *)cases[order[i]].state)->us / 2;
    if (made.in_a_row == MSIM_OK)
        return MSIM_OK;
    *us = 0;
    return msim_fail(err, made.in_a_row, NULL, MSIM_OFFSET_NONE, "no room");
}

static void state(void *self, struct msim_json *out)
{
    CHECK(self == &made);
    msim_json_number(out, "mhz", 1500);
}

static const struct msim_backend APART = {
    .name = "made up", .prepare = prepare, .apart = true};
static const struct msim_backend IN_A_ROW = {.name = "made up",
                                             .prepare = prepare,
                                             .apart = true,
                                             .together = together,
                                             .state = state};
static const struct msim_backend CLOCKED = {.name = "made up",
                                            .prepare = prepare};

static enum msim_status ready(struct msim_sequence *s,
                              const struct msim_backend *b, const char *text,
                              struct msim_error *err)
{
    cJSON *o = cJSON_Parse(text);
    enum msim_status status;

    made = (struct made_up){.n = 0};
    *err = (struct msim_error){.status = MSIM_OK};
    CHECK(o);
    status = msim_sequence_ready(s, b, &made, o, err);
    cJSON_Delete(o);
    return status;
}

static char *written(const struct msim_sequence *s,
                     void (*write)(const struct msim_sequence *s,
                                   struct msim_json *out))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', false);
    write(s, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    return text;
}

/* ---- sequences ----------------------------------------------------------- */

#define TWO "\"experiments\":[{\"us\":2},{\"us\":5.0004}]"

/* Two of the first and one of the second, twice to warm up and once for each
 * time that is asked for; starts are as if they ran one after the other. */
static void test_sequence__runs_an_order(void)
{
    struct msim_sequence s;
    struct msim_error err;
    char *text;

    CHECK_INT(ready(&s, &APART,
                    "{" TWO ",\"order\":[0,1,0],\"warm_up\":2,"
                    "\"iterations\":3}",
                    &err),
              MSIM_OK);
    CHECK_UINT(s.n, 3);
    CHECK_UINT(s.n_cases, 2);
    CHECK_UINT(s.warm_up, 2);
    CHECK_UINT(s.iterations, 3);
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_OK);
    CHECK_UINT(made.cases[0].runs, 6);
    CHECK_UINT(made.cases[1].runs, 3);
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_OK); /* it is warm */
    CHECK_UINT(made.cases[0].runs, 8);
    CHECK_UINT(made.cases[1].runs, 4);
    CHECK_REL(s.us, 9.0004, 1e-12);
    CHECK_REL(s.at_us[0], 0, 0);
    CHECK_REL(s.at_us[1], 2, 1e-12);
    CHECK_REL(s.at_us[2], 7.0004, 1e-12);
    CHECK_REL(s.time_us[1], 5.0004, 1e-12);
    CHECK_REL(s.together_us, 0, 0);
    s.figures = (struct msim_host_figures){.cpu_us = 3,
                                           .faults = NAN,
                                           .rss_bytes = NAN,
                                           .busy = NAN,
                                           .counters = {NAN, NAN, NAN}};
    text = written(&s, msim_sequence_write);
    /* in nanoseconds */
    CHECK_STR(text, "{\"us\": 9, \"at_us\": [0, 2, 7], \"time_us\": [2, 5, 2], "
                    "\"cpu_us\": 3}\n");
    free(text);
    msim_sequence_release(&s);
    CHECK_UINT(made.released, 2);
    CHECK(!s.cases && !s.order && !s.metrics);
}

/* Without "apart" the clock says when each began and what all took. */
static void test_sequence__by_the_clock(void)
{
    struct msim_sequence s;
    struct msim_error err;

    CHECK_INT(ready(&s, &CLOCKED,
                    "{\"experiments\":[{\"us\":0.0}],\"order\":[0,0]}", &err),
              MSIM_OK);
    CHECK_UINT(s.warm_up, 1);
    CHECK_UINT(s.iterations, 5);
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_OK);
    CHECK_UINT(made.cases[0].runs, 4);
    CHECK(s.at_us[0] >= 0 && s.at_us[1] >= s.at_us[0] && s.us >= s.at_us[1]);
    CHECK(s.us > 0 && s.us < 60e6); /* a minute is more than anything takes */
    msim_sequence_release(&s);
}

static void test_sequence__in_a_row(void)
{
    struct msim_sequence s;
    struct msim_error err;
    char *text;

    CHECK_INT(
        ready(&s, &IN_A_ROW, "{" TWO ",\"order\":[0,0],\"warm_up\":0}", &err),
        MSIM_OK);
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_OK);
    CHECK_UINT(made.cases[0].runs, 2);
    CHECK_UINT(made.together, 1);
    CHECK_REL(s.together_us, 2, 1e-12);
    text = written(&s, msim_sequence_write);
    CHECK(strstr(text, "\"us\": 4, \"together_us\": 2, \"at_us\": [0, 2]"));
    CHECK(strstr(text, "\"state\": {\"mhz\": 1500}}"));
    free(text);
    /* an order that cannot has no such time; other failures are told */
    made.in_a_row = MSIM_ENOMODEL;
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_OK);
    CHECK_REL(s.together_us, 0, 0);
    made.in_a_row = MSIM_EIO;
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_EIO);
    CHECK_STR(err.text, "in a row: no room");
    msim_sequence_release(&s);
}

static void test_sequence__that_dies(void)
{
    struct msim_sequence s;
    struct msim_error err;

    CHECK_INT(ready(&s, &APART,
                    "{\"experiments\":[{\"us\":1,\"dead\":true}],"
                    "\"order\":[0],\"warm_up\":0}",
                    &err),
              MSIM_OK);
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_EIO);
    CHECK_STR(err.text, "it died");
    s.warm_up = 1;
    CHECK_INT(msim_sequence_run(&s, &err), MSIM_EIO);
    msim_sequence_release(&s);
}

/* All that cannot be made ready is known at once; the first is the failure. */
static void test_sequence__refused(void)
{
    struct msim_sequence s;
    struct msim_error err;
    char *text, want[256];

    CHECK_INT(ready(&s, &APART,
                    "{\"experiments\":[{\"us\":1},{\"fails\":\"fp8\"},"
                    "{\"us\":1},{\"fails\":\"silently\"}],\"order\":[0]}",
                    &err),
              MSIM_ENOMODEL);
    CHECK_STR(err.text, "experiment 1: no fp8");
    CHECK_UINT(s.n_refused, 2);
    text = written(&s, msim_sequence_write_refused);
    snprintf(want, sizeof(want),
             "{\"refused\": [{\"experiment\": 1, \"error\": \"no fp8\"}, "
             "{\"experiment\": 3, \"error\": \"%s\"}]}\n",
             msim_status_text(MSIM_ENOMODEL));
    CHECK_STR(text, want);
    free(text);
    msim_sequence_release(&s);
    CHECK_UINT(made.released, 2); /* the two that were ready */
    /* one that is wrong ends it, and is not released twice */
    CHECK_INT(ready(&s, &APART,
                    "{\"experiments\":[{\"us\":1},{\"fails\":\"format\"},"
                    "{\"us\":1}],\"order\":[0]}",
                    &err),
              MSIM_EFORMAT);
    CHECK_STR(err.text, "experiment 1: bad");
    CHECK_UINT(made.n, 2);
    msim_sequence_release(&s);
    CHECK_UINT(made.released, 1);
}

static void test_sequence__lines_that_are_wrong(void)
{
    static const char *const ROWS[][2] = {
        {"{\"order\":[0]}", "'sequence' has no 'experiments', or too many"},
        {"{\"experiments\":[],\"order\":[0]}",
         "'sequence' has no 'experiments', or too many"},
        {"{\"experiments\":{\"a\":1},\"order\":[0]}",
         "'sequence' has no 'experiments', or too many"},
        {"{" TWO "}", "'sequence' has no 'order', or one that is too long"},
        {"{" TWO ",\"order\":[]}",
         "'sequence' has no 'order', or one that is too long"},
        {"{" TWO ",\"order\":[0,2]}",
         "'sequence' has an 'order' with a number of no experiment"},
        {"{" TWO ",\"order\":[-1]}",
         "'sequence' has an 'order' with a number of no experiment"},
        {"{" TWO ",\"order\":[0.5]}",
         "'sequence' has an 'order' with a number of no experiment"},
        {"{" TWO ",\"order\":[\"0\"]}",
         "'sequence' has an 'order' with a number of no experiment"},
        {"{" TWO ",\"order\":[0],\"warm_up\":-1}",
         "'warm_up' is -1, want a whole number from 0 to 100000"},
        {"{" TWO ",\"order\":[0],\"warm_up\":100001}",
         "'warm_up' is 100001, want a whole number from 0 to 100000"},
        {"{" TWO ",\"order\":[0],\"iterations\":0}",
         "'iterations' is 0, want a whole number from 1 to 100000"},
        {"{" TWO ",\"order\":[0],\"iterations\":1.5}",
         "'iterations' is 1.5, want a whole number from 1 to 100000"},
        {"{" TWO ",\"order\":[1],\"warm_up\":100000,\"iterations\":100000}",
         ""},
        {"{" TWO ",\"order\":[1],\"warm_up\":0,\"iterations\":1}", ""},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_sequence s;
        struct msim_error err;

        CHECK_INT(ready(&s, &APART, ROWS[i][0], &err),
                  ROWS[i][1][0] ? MSIM_EFORMAT : MSIM_OK);
        CHECK_STR(err.text, ROWS[i][1]);
        msim_sequence_release(&s);
    }
}

/* ---- the machine --------------------------------------------------------- */

static void test_figures__what_is_known(void)
{
    struct msim_host_figures f = {1, 2, 3, 0.5, {4, 5, 6}};
    struct msim_sequence s = {.b = &APART, .figures = f};
    char *text = written(&s, msim_sequence_write);

    CHECK_STR(text,
              "{\"us\": 0, \"at_us\": [], \"time_us\": [], \"cpu_us\": 1, "
              "\"page_faults\": 2, \"rss_bytes\": 3, \"busy\": 0.5, "
              "\"cycles\": 4, \"instructions\": 5, \"cache_misses\": 6}\n");
    free(text);
}

static double cpu_us(double *faults)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    *faults = (double)(u.ru_minflt + u.ru_majflt);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The first `n` numbers of the first line of a file, behind a word of `skip`
 * bytes; false where there are fewer. */
static bool first_line(const char *path, size_t skip, double *to, int n)
{
    FILE *f = fopen(path, "r");
    char line[512] = "", *at = line + skip, *end;
    bool found = f && fgets(line, sizeof(line), f) && strlen(line) > skip;

    for (int i = 0; found && i < n; i++) {
        to[i] = strtod(at, &end);
        found = end != at;
        at = end;
    }
    if (f)
        fclose(f);
    return found;
}

struct stat_read {
    bool known;
    double busy, all, iowait, resident;
};

/* Ticks: user nice system idle iowait irq softirq steal. */
static struct stat_read read_stat(void)
{
    double t[8] = {0}, pages[2] = {0};
    struct stat_read r = {.known =
                              first_line("/proc/stat", strlen("cpu "), t, 8) &&
                              first_line("/proc/self/statm", 0, pages, 2)};

    for (int i = 0; i < 8; i++) {
        r.all += t[i];
        r.busy += i == 3 || i == 4 ? 0 : t[i];
    }
    r.iowait = t[4];
    r.resident = pages[1] * (double)sysconf(_SC_PAGESIZE);
    return r;
}

/* The share lies between that of the ticks inside over all outside, and the
 * other way round. The time of waiting may go back (proc(5)): then nothing is
 * known. */
static void check_share(double busy, const struct stat_read at[4])
{
    double inner = at[2].all - at[1].all, outer = at[3].all - at[0].all;

    if (!at[0].known || !(inner > 0) || at[1].iowait < at[0].iowait ||
        at[2].iowait < at[1].iowait || at[3].iowait < at[2].iowait)
        return;
    CHECK(busy >= (at[2].busy - at[1].busy) / outer - 1e-9);
    CHECK(busy <= (at[3].busy - at[0].busy) / inner + 1e-9);
}

/* 64 pages that were not there, and at least 20 ms of the processor. */
static void work(void)
{
    long page = sysconf(_SC_PAGESIZE);
    double faults, begin = cpu_us(&faults);
    char *at = mmap(NULL, 64 * (size_t)page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    REQUIRE(at != MAP_FAILED);
    for (int i = 0; i < 64; i++)
        at[i * page] = 1;
    while (cpu_us(&faults) - begin < 20e3)
        ;
    munmap(at, 64 * (size_t)page);
}

/* No less than between the two readings inside, no more than outside: `before`
 * is a reading before the last call, and becomes one before this call. */
static void check_take(struct msim_host_metrics *m, double *before,
                       double *faults_before, struct stat_read *stat_before)
{
    struct stat_read at[4] = {*stat_before, read_stat()};
    double inner, outer, inner_faults, outer_faults, begin, begin_faults;
    struct msim_host_figures f;

    begin = cpu_us(&begin_faults);
    work();
    at[2] = read_stat();
    inner = cpu_us(&inner_faults);
    msim_host_metrics_take(m, &f);
    outer = cpu_us(&outer_faults);
    at[3] = read_stat();
    check_share(f.busy, at);
    if (at[3].known)
        CHECK(f.rss_bytes >= 0.9 * at[2].resident &&
              f.rss_bytes <= 1.1 * at[3].resident);
    CHECK(f.cpu_us >= inner - begin && f.cpu_us <= outer - *before);
    CHECK(f.faults >= inner_faults - begin_faults &&
          f.faults <= outer_faults - *faults_before);
    CHECK(f.rss_bytes > 0 && f.rss_bytes < 1e12);
    CHECK(isnan(f.busy) || (f.busy >= 0 && f.busy <= 1));
    for (int c = 0; c < MSIM_HOST_COUNTERS; c++)
        CHECK(msim_host_metrics_refused(m) ? isnan(f.counters[c])
                                           : f.counters[c] >= 0);
    *before = inner;
    *faults_before = inner_faults;
    *stat_before = at[2];
}

static void test_metrics__between_calls(void)
{
    double before, faults;
    struct stat_read stat;
    struct msim_host_metrics *m;

    work(); /* what was before does not count */
    stat = read_stat();
    before = cpu_us(&faults);
    REQUIRE(msim_host_metrics_new(&m) == MSIM_OK);
    check_take(m, &before, &faults, &stat);
    check_take(m, &before, &faults, &stat); /* since the last call alone */
    if (msim_host_metrics_refused(m))
        CHECK(strstr(msim_host_metrics_refused(m), "perf_event_open: "));
    msim_host_metrics_free(m);
    msim_host_metrics_free(NULL);
}

int main(void)
{
    RUN(test_sequence__runs_an_order);
    RUN(test_sequence__by_the_clock);
    RUN(test_sequence__in_a_row);
    RUN(test_sequence__that_dies);
    RUN(test_sequence__refused);
    RUN(test_sequence__lines_that_are_wrong);
    RUN(test_figures__what_is_known);
    RUN(test_metrics__between_calls);
    return check_summary();
}

/* serving/outcome/outcome_text.c: every verdict, and a whole report. */
#include "serving/outcome/serving_outcome.h"
#include "tests/check.h"

#include <math.h>

#define N                                                                      \
    {                                                                          \
        NAN, NAN, NAN, NAN, NAN, NAN                                           \
    }

static struct msim_stage defs[] = {{.name = "web"}, {.name = "db"}};
static const struct msim_app app = {
    .stages = defs, .n_stages = 2, .n_classes = 2};
static struct msim_class_outcome c[2];
static struct msim_stage_outcome s[2];
static struct msim_serving_outcome o;
static char text[4096];

/* One class is promised something, and keeps it. */
static void begin(void)
{
    c[0] = (struct msim_class_outcome){.name = "read",
                                       .requests = 1,
                                       .e2e = N,
                                       .ttft = N,
                                       .tpot = N,
                                       .violations = NAN,
                                       .worst = NAN,
                                       .few = true};
    c[1] = (struct msim_class_outcome){.name = "write",
                                       .requests = 900,
                                       .e2e = N,
                                       .ttft = N,
                                       .tpot = N,
                                       .violations = 0.0125,
                                       .worst = 1};
    s[0] = (struct msim_stage_outcome){.name = "web"};
    s[1] = (struct msim_stage_outcome){.name = "db"};
    o = (struct msim_serving_outcome){.app = &app,
                                      .classes = c,
                                      .stages = s,
                                      .worst_class = 1,
                                      .capacity_by = MSIM_NONE,
                                      .rate = 50,
                                      .asked = 50,
                                      .promised = true};
}

static const char *report(void)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    msim_serving_text(&o, out);
    fclose(out);
    return text;
}

static const char *verdict(void)
{
    char *end = strchr(report(), '\n');

    if (end)
        *end = '\0';
    return text;
}

static void test_outcome_text__rates(void)
{
    static const struct {
        double asked, rate;
        const char *want;
    } CASES[] = {
        {50, 50.004, "50 requests/s"}, /* the same as printed */
        {50, 51.46, "50 requests/s (51.46 arrived)"},
        {NAN, 51.46, "51.46 requests/s"},
        {INFINITY, 51.46, "51.46 requests/s"},
        {50, INFINITY, "requests that come all at once"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        char want[128];

        begin();
        c[1].worst = NAN;
        o.promised = false;
        o.asked = CASES[i].asked;
        o.rate = CASES[i].rate;
        snprintf(want, sizeof(want), "%s are served; nothing was promised",
                 CASES[i].want);
        CHECK_STR(verdict(), want);
    }
}

static void test_outcome_text__verdicts(void)
{
    begin();
    c[0].few = false;
    CHECK_STR(verdict(), "every promise is kept at 50 requests/s");
    begin(); /* the first class that has too few */
    CHECK_STR(verdict(), "every promise is kept at 50 requests/s, by 1 request "
                         "of read: too few to tell");
    c[0].few = false;
    c[1].few = true;
    c[1].unfinished = 5;
    CHECK_STR(verdict(), "every promise is kept at 50 requests/s, by 905 "
                         "requests of write: too few to tell");
    c[1].worst = 1.01;
    CHECK_STR(verdict(), "the promise to write is not kept at 50 requests/s: "
                         "1.25 % are late, by 905 requests of write: too few "
                         "to tell");
    c[1].few = false;
    c[0].few = true; /* that of another class is no matter then */
    CHECK_STR(verdict(), "the promise to write is not kept at 50 requests/s: "
                         "1.25 % are late");
    c[1].worst = NAN;
    CHECK_STR(verdict(), "50 requests/s: no request to which something is "
                         "promised was measured");
    o.saturated = s[0].saturated = true;
    o.capacity_by = 1;
    o.capacity.mean = 42.125;
    CHECK_STR(verdict(), "overloaded: web cannot keep up with 50 requests/s; "
                         "capacity 42.12 requests/s, by db");
    s[1].saturated = true;
    CHECK_STR(verdict(), "overloaded: web, db cannot keep up with 50 "
                         "requests/s; capacity 42.12 requests/s, by db");
}

/* Stars at what grows with the run: latencies of requests, and queues; not at
 * intervals, services, or what is not known. */
static void test_outcome_text__report(void)
{
    char *warnings[] = {(char[]){"a"}, (char[]){"b %s"}};

    begin();
    c[1].unfinished = 3;
    c[1].throughput_rps = 10.5;
    c[1].goodput_rps = NAN;
    c[1].e2e = (struct msim_serving_figure){10, 9, 12, 2500, 8, 0.5};
    c[1].ttft.mean = 1e-3;
    c[1].tpot = (struct msim_serving_figure){1, NAN, 3, 4, NAN, NAN};
    s[0] = (struct msim_stage_outcome){.name = "a name that is much too long",
                                       .replicas = 2,
                                       .visits_per_s = 123.456,
                                       .utilisation = 0.5,
                                       .computing = 0.25,
                                       .queue = {1, 0, 0, 0, 0, 0},
                                       .self = {2, 0, 0, 0, 0, 0},
                                       .critical_share = 0.125,
                                       .capacity_rps = 1000,
                                       .counterfactual_p99 = 3,
                                       .saturated = true};
    s[1] = (struct msim_stage_outcome){.name = "db",
                                       .replicas = 10,
                                       .visits_per_s = NAN,
                                       .utilisation = NAN,
                                       .computing = NAN,
                                       .queue = N,
                                       .self = N,
                                       .critical_share = NAN,
                                       .capacity_rps = INFINITY,
                                       .counterfactual_p99 = NAN};
    o.saturated = true;
    o.warnings = warnings;
    o.n_warnings = 2;
    o.events = 123;
    o.seconds = 1.239;
    CHECK_STR(
        report(),
        "overloaded: a name that is much too long cannot keep up with 50 "
        "requests/s\n"
        "\nlatency          mean [90 %]                   p50          p90    "
        "      p99\n"
        "read: 1 requests, 0 unfinished, 0/s\n"
        "write: 900 requests, 3 unfinished, 10.5/s, goodput -/s, 1.25 % late\n"
        "  e2e      10.000 ms* [8.000 ms-500.0 us]    9.000 ms*   12.000 ms* "
        "    2.500 s*\n"
        "  TTFT        1.0 us* [---]            -            -            -\n"
        "  TPOT      1.000 ms* [---]            -    3.000 ms*    4.000 ms*\n"
        "\nstage                 replicas  visits/s  held %  busy %  queue "
        "(mean)    self (mean)  critical %  capacity/s  p99 without it\n"
        "a name that is much          2     123.5    50.0    25.0     1.000 "
        "ms*       2.000 ms        12.5        1000        3.000 ms  "
        "saturated\n"
        "db                          10         -       -       -          "
        "   -              -           -           -               -\n"
        "\n* of this run: without a steady state latencies grow with its "
        "length\n"
        "\nwarning: a\n"
        "warning: b %s\n"
        "\n123 events in 1.24 s\n");
}

int main(void)
{
    RUN(test_outcome_text__rates);
    RUN(test_outcome_text__verdicts);
    RUN(test_outcome_text__report);
    return check_summary();
}

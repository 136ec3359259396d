/* serving/watch/watch_line.c: verdicts as lines of CSV, of JSON and for people,
 * with why, for each resource. */
#include "serving/watch/watch.h"
#include "tests/check.h"

#include <math.h>

static struct msim_stage stages[] = {{.name = "web"}, {.name = "db"}};
static struct msim_app app = {.stages = stages, .n_stages = 2};
static struct msim_watch w = {.app = &app};
static char text[1024];

/* Half a minute and more of seconds as usual, at 'db' 10 ms of service, 2 on
 * the network, 3 or 5 of waiting, half of the workers held, 100 visits; then
 * three that are `times` as much. */
static void watch(double times)
{
    struct msim_second_stage s[3];

    msim_history_release(&w.history);
    REQUIRE(msim_history_init(&w.history, 2) == MSIM_OK);
    memset(&w.blame, 0, sizeof(w.blame));
    for (int i = 0; i < 43; i++) {
        double now = i < 40 ? 1 : times;

        for (int k = 0; k < 3; k++)
            for (int c = 0; c < MSIM_COUNTERS; c++)
                s[k].v[c] = NAN;
        s[1].v[MSIM_COUNTER_SELF_MS] = 10 * now;
        s[1].v[MSIM_COUNTER_NET_MS] = 2 * now;
        s[1].v[MSIM_COUNTER_WAIT_MS] = (i % 2 ? 3 : 5) * now;
        s[1].v[MSIM_COUNTER_BUSY] = 0.5 * now;
        s[1].v[MSIM_COUNTER_ARRIVALS] = 100 * now;
        msim_history_add(&w.history, s);
    }
}

static struct msim_verdict verdict(enum msim_resource r)
{
    return (struct msim_verdict){.t = 12.34567,
                                 .p_violation = 0.98765,
                                 .stage = 1,
                                 .resource = r,
                                 .lead_s = 3.14,
                                 .p99_next_ms = 250.12345};
}

/* The line for people, from "db" on. */
static const char *line(enum msim_resource r)
{
    struct msim_verdict v = verdict(r);
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    msim_watch_text_line(out, &w, &v);
    fclose(out);
    return strstr(text, "db");
}

static void test_watch_line__for_people(void)
{
    watch(1);
    (void)line(MSIM_RESOURCE_CPU);
    CHECK_STR(text, "   12.3 s  violation  99 %  p99 next    250.1 ms  db "
                    "(cpu), in 3.1 s: no stage is far from what is usual\n");
}

/* Each of these by itself is more than three standard errors. */
static void test_watch_line__says_what_is_far(void)
{
    double *z[] = {&w.blame.z_self, &w.blame.z_net, &w.blame.z_rate};

    for (int i = 0; i < 3; i++) {
        watch(1);
        *z[i] = 3;
        CHECK(strstr(line(MSIM_RESOURCE_LOAD), "no stage is far") != NULL);
        *z[i] = 3.1;
        CHECK(strstr(line(MSIM_RESOURCE_LOAD), "arrivals") != NULL);
    }
    watch(8); /* as waits of a few seconds are */
    CHECK(strstr(line(MSIM_RESOURCE_LOAD), "arrivals") != NULL);
}

static void test_watch_line__says_why(void)
{
    watch(1.8);
    w.blame.z_self = 4;
    CHECK_STR(line(MSIM_RESOURCE_NETWORK),
              "db (network), in 3.1 s: a call takes 3.6 ms on the network to "
              "'db', usually 2 ms\n");
    /* 5, 3 and 5 ms, 1.8 times, beside 4 */
    CHECK_STR(line(MSIM_RESOURCE_WORKERS),
              "db (workers), in 3.1 s: visits wait 7.8 ms at 'db', usually 4 "
              "ms, though neither arrivals nor service grew\n");
    CHECK_STR(line(MSIM_RESOURCE_LOAD),
              "db (load), in 3.1 s: arrivals at 'db' are 1.80 times as many as "
              "usual, its workers are held 90 % of the time\n");
    CHECK_STR(line(MSIM_RESOURCE_CPU),
              "db (cpu), in 3.1 s: service at 'db' takes 1.80 times as long as "
              "usual\n");
}

/* The pressure of the resource that is named, where it is far from usual. */
static void test_watch_line__says_what_presses(void)
{
    static const struct {
        enum msim_resource of;
        const char *word;
    } ROWS[] = {{MSIM_RESOURCE_CPU, "CPU"},
                {MSIM_RESOURCE_MEMORY, "memory"},
                {MSIM_RESOURCE_DISK, "I/O"}};

    for (int i = 0; i < 3; i++) {
        char want[256];

        watch(1.8);
        w.blame.z_self = 4;
        w.blame.z_psi[i] = 3;
        CHECK(strstr(line(ROWS[i].of), "pressure") == NULL);
        w.blame.z_psi[i] = 5.4;
        snprintf(want, sizeof(want),
                 "service at 'db' takes 1.80 times as long as usual, and its "
                 "pressure on %s is 5 standard errors above\n",
                 ROWS[i].word);
        CHECK(strstr(line(ROWS[i].of), want) != NULL);
        w.blame.z_psi[i] = 1e6;
        CHECK(strstr(line(ROWS[i].of), "is 99 standard errors") != NULL);
        CHECK(strstr(line(ROWS[(i + 1) % 3].of), "pressure") == NULL);
    }
}

/* What is not known: no lead; counters that are missing count as 0. */
static void test_watch_line__of_little(void)
{
    struct msim_verdict v = verdict(MSIM_RESOURCE_NETWORK);
    FILE *out = fmemopen(text, sizeof(text), "w");

    REQUIRE(out != NULL);
    watch(1);
    w.blame.z_net = 4;
    v.stage = 0;
    v.lead_s = NAN;
    msim_watch_text_line(out, &w, &v);
    fclose(out);
    CHECK_STR(text, "   12.3 s  violation  99 %  p99 next    250.1 ms  web "
                    "(network): a call takes 0 ms on the network to 'web', "
                    "usually 0 ms\n");
}

static void test_watch_line__as_csv(void)
{
    struct msim_verdict v = verdict(MSIM_RESOURCE_DISK);
    FILE *out = fmemopen(text, sizeof(text), "w");

    REQUIRE(out != NULL);
    msim_watch_csv_header(out);
    msim_watch_csv_line(out, &w, &v);
    v.lead_s = v.p99_next_ms = NAN;
    v.stage = 0;
    v.p_violation = 0;
    msim_watch_csv_line(out, &w, &v);
    fclose(out);
    CHECK_STR(text, "t,p_violation,stage,resource,lead_s,p99_next_ms\n"
                    "12.346,0.9877,db,disk,3.1,250.123\n"
                    "12.346,0.0000,web,disk,,\n");
}

static const char *json(const struct msim_verdict *v,
                        const struct msim_advice *a)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    CHECK_INT(msim_watch_json_line(out, &w, v, a), MSIM_OK);
    fclose(out);
    return text;
}

#define PLAIN_JSON                                                             \
    "{\"t\": 12.346, \"p_violation\": 0.9877, \"stage\": \"db\", "             \
    "\"resource\": \"load\", \"lead_s\": 3.1, \"p99_next_ms\": 250.123, "      \
    "\"why\": \"no stage is far from what is usual\""

/* Advice has the stages whose replicas are to change. */
static void test_watch_line__as_json(void)
{
    struct msim_verdict v = verdict(MSIM_RESOURCE_LOAD);
    int64_t replicas[] = {0, 7};
    struct msim_advice a = {.replicas = replicas, .action = MSIM_ACTION_SCALE};

    watch(1);
    CHECK_STR(json(&v, NULL), PLAIN_JSON "}\n");
    CHECK_STR(json(&v, &a), PLAIN_JSON ", \"replicas\": {\"db\": 7}, "
                                       "\"do\": \"scale\"}\n");
    replicas[0] = 1;
    CHECK(strstr(json(&v, &a), "{\"web\": 1, \"db\": 7}") != NULL);
    v.lead_s = NAN;
    CHECK(strstr(json(&v, NULL), "\"lead_s\": null") != NULL);
}

int main(void)
{
    RUN(test_watch_line__for_people);
    RUN(test_watch_line__says_what_is_far);
    RUN(test_watch_line__says_why);
    RUN(test_watch_line__says_what_presses);
    RUN(test_watch_line__of_little);
    RUN(test_watch_line__as_csv);
    RUN(test_watch_line__as_json);
    msim_history_release(&w.history);
    return check_summary();
}

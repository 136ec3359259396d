/* serving/apps/app_sweep_rules.c and app_sweep_report.c: rules on points that
 * are made up, counted by hand, and whole reports. */
#include "serving/apps/app_sweep.h"
#include "tests/unit/fake_gnuplot.h"

#include <math.h>
#include <stdlib.h>

static struct msim_suite_app apps[] = {{.name = (char[]){"chat"}},
                                       {.name = (char[]){"a,b"}}};
static struct msim_suite suite = {apps, 1};
static struct msim_app_sweep sweep;
static struct msim_app_sweep_stage stages[2][2] = {
    {{(char[]){"web"}, 0.6, 0.5}, {(char[]){"db"}, 0.4, 0.25}},
    {{(char[]){"web"}, 0.4, 0.5}, {(char[]){"db"}, 0.6, 0.25}}};
static struct msim_app_sweep_point p[6];
static struct msim_app_sweep_runs r = {&suite, &sweep, p, 4};
static struct msim_app_sweep_rule rules[MSIM_APP_SWEEP_RULES];
static char text[8192];

static void list(enum msim_app_sweep_axis axis, const char *json)
{
    cJSON_Delete((cJSON *)(uintptr_t)sweep.axes[axis]);
    sweep.axes[axis] = json ? cJSON_Parse(json) : NULL;
    sweep.n[axis] = json ? (uint32_t)cJSON_GetArraySize(sweep.axes[axis]) : 1;
}

static void end(void)
{
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        cJSON_Delete((cJSON *)(uintptr_t)sweep.axes[a]);
    sweep = (struct msim_app_sweep){0};
}

static struct msim_app_sweep_point
point(uint64_t index, double p99, double cost, double energy, double gpus)
{
    return (struct msim_app_sweep_point){.index = index,
                                         .ran = true,
                                         .feasible = true,
                                         .worst = 1,
                                         .p50_ms = p99 / 2,
                                         .p99_ms = p99,
                                         .cost_per_1000 = cost,
                                         .energy_wh_per_1000 = energy,
                                         .goodput_rps = NAN,
                                         .violations = NAN,
                                         .gpus = gpus,
                                         .stages = stages[0],
                                         .n_stages = 2};
}

/* Rates 20 and 10, with 1 and 2 replicas each. */
static void begin(void)
{
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        list(a, a == MSIM_APP_SWEEP_RATE       ? "[20, 10]"
                : a == MSIM_APP_SWEEP_REPLICAS ? "[1, 2]"
                                               : NULL);
    p[0] = point(0, 100, 4, NAN, 8);
    p[1] = point(1, 101, 8, 5, 16);
    p[2] = point(2, 50, 8, 6, 8);
    p[3] = point(3, 40, 16, 5, 16);
}

static void check_rules(const char *want)
{
    char got[128] = "";
    size_t at = 0;

    msim_app_sweep_rules(rules, &r);
    for (int i = 0; i < MSIM_APP_SWEEP_RULES; i++)
        at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%u/%u",
                               i ? " " : "", rules[i].holds, rules[i].of);
    CHECK_STR(got, want);
}

/* A hundredth is no difference. At a rate of 20 the cheapest is the fastest, at
 * 10 it is not. */
static void test_app_sweep_rules__by_hand(void)
{
    begin();
    check_rules("2/2 2/2 2/2 2/2 1/1 4/4 1/2");
    p[1].p99_ms = 101.5; /* longer with more replicas */
    check_rules("1/2 2/2 2/2 2/2 1/1 4/4 1/2");
    p[1].p99_ms = 39.7; /* and shorter than at the lower rate, but no more */
    check_rules("2/2 1/2 2/2 2/2 1/1 4/4 0/2");
    p[1].p99_ms = 39.5;
    check_rules("2/2 1/2 1/2 2/2 1/1 4/4 0/2");
    p[1].p99_ms = 50; /* half as long with twice the GPUs */
    check_rules("2/2 2/2 2/2 2/2 1/1 4/4 0/2");
    p[3].energy_wh_per_1000 = 4.9; /* 5.05 is no more than 5, 4.95 is less */
    check_rules("2/2 2/2 2/2 2/2 0/1 4/4 0/2");
    p[0].cost_per_1000 = 8.09;
    check_rules("2/2 2/2 2/2 1/2 0/1 4/4 1/2");
    p[0].cost_per_1000 = 8.08;
    check_rules("2/2 2/2 2/2 2/2 0/1 4/4 1/2");
    p[0] = point(0, 1.01, 4, NAN, 100); /* as much as the GPUs, to the digit */
    p[1] = point(1, 1, 8, 5, 100);
    check_rules("2/2 2/2 0/2 2/2 0/1 4/4 0/2");
    begin();
    p[2].stages = stages[1]; /* the slowest is not the busiest */
    p[3].n_stages = 1;
    check_rules("2/2 2/2 2/2 2/2 1/1 2/3 1/2");
    end();
}

/* What did not run has no figures; what is not feasible is compared, but it is
 * not the cheapest. */
static void test_app_sweep_rules__unknown(void)
{
    begin();
    p[2].ran = p[2].feasible = false;
    check_rules("1/1 1/1 1/1 1/1 1/1 3/3 1/1");
    begin();
    p[2].feasible = false;
    check_rules("2/2 2/2 2/2 2/2 1/1 4/4 1/1");
    begin();
    p[2].p99_ms = NAN;
    check_rules("1/1 1/1 1/1 2/2 1/1 4/4 1/1");
    begin();
    p[2].cost_per_1000 = NAN;
    check_rules("2/2 2/2 2/2 1/1 1/1 4/4 1/1");
    begin();
    p[3].cost_per_1000 = 8; /* of two that cost the same the first */
    check_rules("2/2 2/2 2/2 2/2 1/1 4/4 1/2");
    p[3].p99_ms = 50.5;
    check_rules("2/2 2/2 2/2 2/2 1/1 4/4 2/2");
    end();
}

/* The next larger number, wherever it stands; of the same application. */
static void test_app_sweep_rules__neighbours(void)
{
    begin();
    end();
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        list(a, a == MSIM_APP_SWEEP_RATE ? "[20, 5, 10]" : NULL);
    /* 5 takes 1 ms, 10 takes 3, and 20 takes 2. */
    for (uint32_t i = 0; i < 6; i++) {
        static const double P99[] = {2, 1, 3, 5, 4, 9};

        p[i] = point(i % 3, P99[i], NAN, NAN, 1);
        p[i].app = i / 3;
    }
    suite.n = 2;
    r.n = 6;
    /* of the second: 4 and 9, but then 5 */
    check_rules("0/0 0/0 2/4 0/0 0/0 6/6 0/0");
    suite.n = 1;
    r.n = 4;
    end();
}

static const char *written(void (*write)(const struct msim_app_sweep_runs *,
                                         FILE *))
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    write(&r, out);
    fclose(out);
    return text;
}

static void fill(void)
{
    begin();
    end();
    list(MSIM_APP_SWEEP_SCHEDULER, "[{\"n\": 8}]");
    list(MSIM_APP_SWEEP_PLATFORM, "[\"h100\"]");
    list(MSIM_APP_SWEEP_RATE, "[20, 10]");
    list(MSIM_APP_SWEEP_REPLICAS, NULL);
    p[0].goodput_rps = 19.5;
    p[0].violations = 0.125;
    p[0].rate = 20.25;
    p[0].pareto = p[0].cheapest = true;
    p[1].worst = 1.01;
    p[1].pareto = true;
    p[1].few = p[1].guessed = true;
    p[2] = point(0, 70, 3, 2, 4);
    p[2].app = p[3].app = 1;
    p[2].worst = NAN;
    p[2].feasible = false;
    snprintf(p[2].reason, sizeof(p[2].reason), "too slow");
    p[3] = (struct msim_app_sweep_point){.app = 1,
                                         .index = 1,
                                         .worst = NAN,
                                         .few = true,
                                         .gpus = 4,
                                         .rate = NAN,
                                         .p50_ms = NAN,
                                         .p99_ms = NAN,
                                         .goodput_rps = NAN,
                                         .violations = NAN,
                                         .cost_per_1000 = NAN,
                                         .energy_wh_per_1000 = NAN};
    snprintf(p[3].reason, sizeof(p[3].reason), "too large");
    suite.n = 2;
}

static const char TEXT[] =
    "4 points of 2 applications; the cheapest that keeps its promises, at each "
    "rate:\n"
    "\n"
    "application           rate  platform         replicas   GPUs           p99"
    "  promise   goodput/s   cost/1000     Wh/1000  scheduler\n"
    "chat                    20  h100            as stated      8    100.000 "
    "ms  kept           19.5           4           -  {\"n\":8}\n"
    "\n"
    "beaten by no other in both p99 and cost at their rate\n"
    "application           rate  platform         replicas   GPUs           p99"
    "  promise   goodput/s   cost/1000     Wh/1000  scheduler\n"
    "chat                    20  h100            as stated      8    100.000 "
    "ms  kept           19.5           4           -  {\"n\":8}\n"
    "chat                    10  h100            as stated     16    101.000 "
    "ms  broken            -           8           5  {\"n\":8}\n"
    "\n"
    "2 of 4 points are not feasible; the first, of a,b: too slow\n"
    "\n"
    "rules, and where they hold\n"
    "       1 of 1       a higher rate: the p99 is no shorter\n"
    "       1 of 1       a higher rate: 1,000 requests cost no more\n"
    "       3 of 3       most of the latency is spent in the stage whose "
    "workers are held most\n"
    "\n"
    "warning: 1 points have percentiles of fewer than 10,000 requests, want "
    "--num-requests 10000 for a p99\n"
    "\n"
    "warning: 1 points take the price or the power that their application "
    "states for another platform, want \"price_per_hour\" and \"power_w\" of "
    "theirs\n";

static const char CSV[] =
    "app,scheduler,platform,rate,replicas,feasible,reason,arrived_rps,p50_ms,"
    "p99_ms,goodput_rps,violations,kept,cost_per_1000,energy_wh_per_1000,gpus,"
    "pareto,cheapest\n"
    "chat,\"{\"\"n\"\":8}\",h100,20,,yes,,20.25,50,100,19.5,0.125,yes,4,,8,yes,"
    "yes\n"
    "chat,\"{\"\"n\"\":8}\",h100,10,,yes,,0,50.5,101,,,no,8,5,16,yes,no\n"
    "\"a,b\",\"{\"\"n\"\":8}\",h100,20,,no,too slow,0,35,70,,,,3,2,4,no,no\n"
    "\"a,b\",\"{\"\"n\"\":8}\",h100,10,,no,too large,,,,,,,,,,no,no\n";

/* Behind the program's version, which is another one day. */
static const char JSON[] =
    "\"points\": [\n"
    "    {\"app\": \"chat\", \"scheduler\": {\"n\":8}, \"platform\": \"h100\", "
    "\"rate\": 20, \"replicas\": null, \"feasible\": true, \"reason\": null, "
    "\"arrived_rps\": 20.25, \"p50_ms\": 50, \"p99_ms\": 100, \"goodput_rps\": "
    "19.5, \"violations\": 0.125, \"kept\": \"yes\", \"cost_per_1000\": 4, "
    "\"energy_wh_per_1000\": null, \"gpus\": 8, \"stages\": {\"web\": "
    "{\"critical_share\": 0.6, \"utilisation\": 0.5}, \"db\": "
    "{\"critical_share\": 0.4, \"utilisation\": 0.25}}, \"pareto\": true, "
    "\"cheapest\": true},\n"
    "    {\"app\": \"chat\", \"scheduler\": {\"n\":8}, \"platform\": \"h100\", "
    "\"rate\": 10, \"replicas\": null, \"feasible\": true, \"reason\": null, "
    "\"arrived_rps\": 0, \"p50_ms\": 50.5, \"p99_ms\": 101, \"goodput_rps\": "
    "null, \"violations\": null, \"kept\": \"no\", \"cost_per_1000\": 8, "
    "\"energy_wh_per_1000\": 5, \"gpus\": 16, \"stages\": {\"web\": "
    "{\"critical_share\": 0.6, \"utilisation\": 0.5}, \"db\": "
    "{\"critical_share\": 0.4, \"utilisation\": 0.25}}, \"pareto\": true, "
    "\"cheapest\": false},\n"
    "    {\"app\": \"a,b\", \"scheduler\": {\"n\":8}, \"platform\": \"h100\", "
    "\"rate\": 20, \"replicas\": null, \"feasible\": false, \"reason\": \"too "
    "slow\", \"arrived_rps\": 0, \"p50_ms\": 35, \"p99_ms\": 70, "
    "\"goodput_rps\": null, \"violations\": null, \"kept\": null, "
    "\"cost_per_1000\": 3, \"energy_wh_per_1000\": 2, \"gpus\": 4, \"stages\": "
    "{\"web\": {\"critical_share\": 0.6, \"utilisation\": 0.5}, \"db\": "
    "{\"critical_share\": 0.4, \"utilisation\": 0.25}}, \"pareto\": false, "
    "\"cheapest\": false},\n"
    "    {\"app\": \"a,b\", \"scheduler\": {\"n\":8}, \"platform\": \"h100\", "
    "\"rate\": 10, \"replicas\": null, \"feasible\": false, \"reason\": \"too "
    "large\", \"arrived_rps\": null, \"p50_ms\": null, \"p99_ms\": null, "
    "\"goodput_rps\": null, \"violations\": null, \"kept\": null, "
    "\"cost_per_1000\": null, \"energy_wh_per_1000\": null, \"gpus\": null, "
    "\"stages\": {}, \"pareto\": false, \"cheapest\": false}\n"
    "  ],\n"
    "  \"rules\": [\n"
    "    {\"text\": \"more replicas: the p99 is no longer\", \"holds\": 0, "
    "\"of\": 0},\n"
    "    {\"text\": \"more replicas: the p99 falls by less than the GPUs "
    "grow\", \"holds\": 0, \"of\": 0},\n"
    "    {\"text\": \"a higher rate: the p99 is no shorter\", \"holds\": 1, "
    "\"of\": 1},\n"
    "    {\"text\": \"a higher rate: 1,000 requests cost no more\", \"holds\": "
    "1, \"of\": 1},\n"
    "    {\"text\": \"a higher rate: 1,000 requests take no more energy\", "
    "\"holds\": 0, \"of\": 0},\n"
    "    {\"text\": \"most of the latency is spent in the stage whose workers "
    "are held most\", \"holds\": 3, \"of\": 3},\n"
    "    {\"text\": \"the cheapest point that can bear a rate is the fastest, "
    "too\", \"holds\": 0, \"of\": 0}\n"
    "  ],\n"
    "  \"warnings\": [\n"
    "    \"1 points have percentiles of fewer than 10,000 requests, want "
    "--num-requests 10000 for a p99\",\n"
    "    \"1 points take the price or the power that their application states "
    "for another platform, want \\\"price_per_hour\\\" and \\\"power_w\\\" of "
    "theirs\"\n"
    "  ]\n"
    "}\n";

static void as_json(const struct msim_app_sweep_runs *runs, FILE *out)
{
    CHECK_INT(msim_app_sweep_json(runs, out), MSIM_OK);
}

static void test_app_sweep_report__whole(void)
{
    fill();
    CHECK_STR(written(msim_app_sweep_text), TEXT);
    CHECK_STR(written(msim_app_sweep_csv), CSV);
    CHECK(strncmp(written(as_json), MSIM_APP_SWEEP_JSON_MARK,
                  strlen(MSIM_APP_SWEEP_JSON_MARK)) == 0);
    CHECK_STR(strstr(text, "\"points\""), JSON);
    end();
}

/* Of an application as it is, and of one that is swept by replicas. */
static void test_app_sweep_report__lines(void)
{
    begin();
    end();
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        list(a, NULL);
    suite.n = r.n = 1;
    p[0].rate = 12.345;
    p[0].worst = NAN;
    p[0].pareto = true;
    CHECK(strncmp(written(msim_app_sweep_text),
                  "1 points of 1 applications; none keeps a promise at a known "
                  "cost\n\nbeaten by no other",
                  82) == 0);
    CHECK(strstr(text, "chat                 12.35  as stated       as stated  "
                       "    8    100.000 ms  none              -           4   "
                       "        -  as stated\n") != NULL);
    CHECK(!strstr(text, "feasible") && !strstr(text, "warning"));
    end();
    for (int a = 0; a < MSIM_APP_SWEEP_AXES; a++)
        list(a, a == MSIM_APP_SWEEP_REPLICAS ? "[3]" : NULL);
    CHECK(strstr(written(msim_app_sweep_text),
                 "  as stated               3      8    100.000 ms") != NULL);
    CHECK(strstr(written(msim_app_sweep_csv), "chat,,,,3,yes,,12.345,") !=
          NULL);
    suite.n = 1;
    r.n = 4;
    end();
}

static const char CHART[] =
    "set encoding utf8\nset border 3 lc rgb '#888888'\nset tics nomirror tc rgb"
    " '#333333'\nset grid lc rgb '#dddddd'\nset key right top\nset logscale "
    "xy\n"
    "set format x '%g'\nset format y '%g'\nset xlabel 'p99, ms'\nset ylabel "
    "'cost of 1,000 requests'\nset title 'Cost and latency; full: beaten by no "
    "other at its rate'\n"
    "$a0 << MSIM_END\n50 8\nNaN NaN\nMSIM_END\n"
    "$p0 << MSIM_END\n100 4\nNaN NaN\nMSIM_END\n"
    "$a1 << MSIM_END\nNaN NaN\nMSIM_END\n"
    "$p1 << MSIM_END\nNaN NaN\nMSIM_END\n"
    "plot $a0 using 1:2 with points pt 6 ps 0.8 lc rgb \"#4477aa\" notitle, "
    "$p0 "
    "using 1:2 with points pt 7 ps 1.1 lc rgb \"#4477aa\" title \"chat\", $a1 "
    "using 1:2 with points pt 6 ps 0.8 lc rgb \"#ee6677\" notitle, $p1 using "
    "1:2 with points pt 7 ps 1.1 lc rgb \"#ee6677\" title "
    "\"a,b\"\n" FAKE_GNUPLOT_END;

/* Feasible points with both figures, above 0, those that nothing beats apart.
 */
static void test_app_sweep_report__chart(void)
{
    char path[] = P_tmpdir "/msim-chart-XXXXXX";
    struct msim_error err = {0};
    int fd = mkstemp(path);
    const char *at;
    FILE *f;

    REQUIRE(fd >= 0);
    close(fd);
    begin();
    suite.n = 2;
    p[0].pareto = true;
    p[1].feasible = false;
    p[3].cost_per_1000 = 0;
    CHECK_INT(msim_app_sweep_chart(&r, path, &err), MSIM_OK);
    CHECK_STR(err.text, "");
    f = fopen(path, "r");
    REQUIRE(f != NULL);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    CHECK_INT(unlink(path), 0);
    at = strchr(text, '\n');
    REQUIRE(at != NULL);
    CHECK(strncmp(text, "set terminal svg noenhanced size 1000,560 font ",
                  47) == 0);
    CHECK_STR(at + 1, CHART);
    suite.n = 1;
    end();
}

int main(void)
{
    if (!fake_gnuplot_begin())
        return 1;
    RUN(test_app_sweep_rules__by_hand);
    RUN(test_app_sweep_rules__unknown);
    RUN(test_app_sweep_rules__neighbours);
    RUN(test_app_sweep_report__whole);
    RUN(test_app_sweep_report__lines);
    RUN(test_app_sweep_report__chart);
    fake_gnuplot_end();
    return check_summary();
}

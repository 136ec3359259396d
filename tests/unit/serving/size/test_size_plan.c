/* serving/size/size_plan.c: a plan as text, as JSON, and each sentence of what
 * it cannot see. */
#include "serving/size/size_plan.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char UNION[] =
    "Percentiles of queues are added, as if all were long at once, which is "
    "the worst that they can have in common; services are distributions, for "
    "each class and size of request. More replicas are asked for than queues "
    "that are seldom long together would need. What is predicted is of "
    "simulated requests.";
static const char CONVOLUTION[] =
    "Distributions of stages are added in series and joined where calls run at "
    "once, for each class and size of request. Waits of different stages are "
    "taken as independent, so that the plan was tried out by simulation, and "
    "made again with less room where more requests were late there; what is "
    "predicted is of the simulation.";
static const char SEARCH[] =
    "Requests were simulated through all stages with the services that were "
    "learnt; what visits of a stage have in common with those of another, "
    "except class and size, is not seen.";

static const struct msim_app_class classes[] = {{.name = "read"},
                                                {.name = "write"}};
static struct msim_stage stages[2];
static struct msim_flow_edge edges[2];
static struct msim_app app;
static struct msim_sizing_stage of_stages[2];
static struct msim_sizing_class of_classes[2];
static struct msim_sizing sizing;
static struct msim_stage_demand load;
static struct msim_explored explored;
static const struct msim_size_plan plan = {&sizing, &load, &explored};
static char text[8192];

static void begin(void)
{
    stages[0] = (struct msim_stage){
        .name = "web", .platform = "h100", .call = MSIM_CALL_QUEUE};
    stages[1] = (struct msim_stage){.name = "db", .call = MSIM_CALL_QUEUE};
    edges[0] = (struct msim_flow_edge){.from = 0, .to = 1};
    edges[1] = edges[0];
    app = (struct msim_app){.name = "shop",
                            .currency = "EUR",
                            .classes = classes,
                            .n_classes = 2,
                            .stages = stages,
                            .n_stages = 2,
                            .edges = edges,
                            .n_edges = 2};
    of_stages[0] = (struct msim_sizing_stage){4, 50, 99, 12.5};
    of_stages[1] = (struct msim_sizing_stage){1, 0, NAN, NAN};
    of_classes[0] = (struct msim_sizing_class){0.99, 0.985, 1, 31.25};
    of_classes[1] = (struct msim_sizing_class){NAN, NAN, NAN, 7};
    sizing = (struct msim_sizing){.method = MSIM_SIZING_SEARCH,
                                  .stages = of_stages,
                                  .classes = of_classes,
                                  .cost_per_hour = 12.345,
                                  .total = 5};
    load = (struct msim_stage_demand){.app = &app, .rate = 25};
    explored =
        (struct msim_explored){.runs = 1, .replica_seconds = 40.5, .stages = 2};
}

static enum msim_status add_text(void *ctx, const char *more, size_t n)
{
    size_t used = strlen(text);

    (void)ctx;
    snprintf(text + used, sizeof(text) - used, "%.*s", (int)n, more);
    return MSIM_OK;
}

static const char *as_text(void)
{
    FILE *out = fmemopen(text, sizeof(text), "w");

    if (!CHECK(out != NULL))
        return "";
    msim_size_plan_text(&plan, out);
    fclose(out);
    return text;
}

static void test_size_plan__text(void)
{
    char want[2048];

    begin();
    snprintf(want, sizeof(want),
             "shop at 25 requests/s: 5 replicas, 12.35 EUR an hour (method "
             "search)\n\n"
             "stage                replicas     visits/s  a replica       p99 "
             "ms\n"
             "web                         4           50       12.5         "
             "12.5\n"
             "db                          1            0          0          "
             "  -\n\n"
             "class read: 99.00 %% within the limit (98.50 to 100.00), p99 "
             "31.25 ms\n"
             "explored: 2 stages in 1 runs, 40.5 replica-seconds\n\n%s\n",
             SEARCH);
    CHECK_STR(as_text(), want);
    /* What is not known, or was not done, is not told. */
    app.currency = NULL;
    sizing.cost_per_hour = 1;
    explored.runs = 0;
    snprintf(want, sizeof(want),
             "shop at 25 requests/s: 5 replicas, 1  an "
             "hour (method search)\n");
    CHECK(strncmp(as_text(), want, strlen(want)) == 0);
    CHECK(!strstr(text, "explored"));
    sizing.cost_per_hour = NAN;
    snprintf(want, sizeof(want),
             "shop at 25 requests/s: 5 replicas (method "
             "search)\n");
    CHECK(strncmp(as_text(), want, strlen(want)) == 0);
}

/* The program's, which is another one day. */
static const char *drop_version(char *json)
{
    static const char KEY[] = "\"version\": \"";
    char *at = strstr(json, KEY), *end;

    if (!at)
        return json;
    at += sizeof(KEY) - 1;
    end = strchr(at, '"');
    if (end && end > at)
        memmove(at, end, strlen(end) + 1);
    return json;
}

static void test_size_plan__json(void)
{
    static const char STAGES[] =
        "\"stages\": {\n    \"web\": {\"replicas\": 4, \"platform\": \"h100\", "
        "\"load_per_replica\": 12.5, \"percentile\": 99, \"latency_ms\": 12.5},"
        "\n    \"db\": {\"replicas\": 1, \"platform\": null, "
        "\"load_per_replica\": 0, \"percentile\": null, \"latency_ms\": null}\n"
        "  },\n";
    static const char PREDICTED[] =
        "\"predicted\": {\n    \"classes\": {\n      \"read\": {\"within\": "
        "0.99, \"low\": 0.985, \"high\": 1, \"p99_ms\": 31.25},\n      "
        "\"write\": {\"within\": null, \"low\": null, \"high\": null, "
        "\"p99_ms\": 7}\n    }\n  },\n";
    char want[4096], path[] = P_tmpdir "/msim-plan-XXXXXX";
    struct msim_error err = {0};
    char *saved = text + sizeof(text) / 2;
    int fd = mkstemp(path);
    FILE *f;

    REQUIRE(fd >= 0);
    close(fd);
    begin();
    text[0] = '\0';
    CHECK_INT(msim_size_plan_json(&plan, add_text, NULL), MSIM_OK);
    snprintf(want, sizeof(want),
             "{\n  \"schema\": \"mystique-sim/serving-plan/1\",\n  "
             "\"version\": \"\",\n  \"app\": \"shop\",\n  "
             "\"rate\": 25,\n  %s  %s  \"replicas\": 5,\n  \"cost_per_hour\": "
             "12.345,\n  \"method\": \"search\",\n  \"explored\": "
             "{\"replica_seconds\": 40.5, \"runs\": 1},\n  \"why\": \"%s\"\n}"
             "\n",
             STAGES, PREDICTED, SEARCH);
    CHECK_STR(drop_version(text), want);
    CHECK_INT(msim_size_plan_save(&plan, path, &err), MSIM_OK);
    f = fopen(path, "r");
    REQUIRE(f != NULL);
    saved[fread(saved, 1, sizeof(text) / 2 - 1, f)] = '\0';
    fclose(f);
    CHECK_STR(drop_version(saved), want);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(msim_size_plan_save(&plan, "no/such/folder/x", &err), MSIM_EIO);
}

/* What is said behind the table. */
static const char *why(void)
{
    const char *last;

    as_text();
    text[strlen(text) - 1] = '\0';
    last = strrchr(text, '\n');
    return last ? last + 1 : "";
}

static void check_why(const char *method, const char *more)
{
    char want[4096];

    snprintf(want, sizeof(want), "%s%s%s", method, *more ? " " : "", more);
    CHECK_STR(why(), want);
}

static void test_size_plan__why(void)
{
    begin();
    check_why(SEARCH, "");
    sizing.method = MSIM_SIZING_CONVOLUTION;
    check_why(CONVOLUTION, "");
    edges[1].again = 0.5; /* ... are no matter but for the union */
    edges[1].timeout_ms = 9;
    check_why(CONVOLUTION, "");
    sizing.searched = true;
    check_why(CONVOLUTION, "No sum of distributions kept the promises in that "
                           "simulation: this plan was found by search.");
    begin();
    sizing.method = MSIM_SIZING_UNION;
    edges[1].again = 0.5;
    check_why(UNION, "");
    edges[1].timeout_ms = 0.5;
    check_why(UNION, "Calls that are made again are counted as load, not as a "
                     "shorter latency.");
    begin();
    stages[1].call = MSIM_CALL_RPC; /* it calls nobody */
    check_why(SEARCH, "");
    edges[1].from = 1;
    check_why(SEARCH, "Workers that call by rpc are held until their calls "
                      "have answered; that is in their queues.");
    begin();
    stages[1].size_power = 0.5;
    check_why(SEARCH, "Services go with the size of a request in all its "
                      "stages alike.");
    begin();
    explored.no_sizes = true;
    check_why(SEARCH, "Some answers do not tell the size of requests: if what "
                      "is slow in one stage is slow in the next, more requests "
                      "are late than predicted.");
    begin();
    explored.no_waits = true;
    check_why(SEARCH, "Some answers do not tell how long visits waited: their "
                      "latency at a low load is taken for the service.");
    begin();
    explored.no_batches = true;
    check_why(SEARCH, "Some answers do not tell how many were served together: "
                      "those batches are taken to last as long as one visit.");
}

static void test_size_plan__methods(void)
{
    CHECK_STR(msim_sizing_method_text(MSIM_SIZING_UNION), "union");
    CHECK_STR(msim_sizing_method_text(MSIM_SIZING_CONVOLUTION), "convolution");
    CHECK_STR(msim_sizing_method_text(MSIM_SIZING_SEARCH), "search");
}

int main(void)
{
    RUN(test_size_plan__text);
    RUN(test_size_plan__json);
    RUN(test_size_plan__why);
    RUN(test_size_plan__methods);
    return check_summary();
}

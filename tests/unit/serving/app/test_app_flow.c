/* serving/app/app_flow.c and app_dist.c: edges and distributions at their
 * limits, in their order, and what is refused of them. */
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;

/* An application of four stages with that flow; "" or what is wrong. */
static const char *flow(const char *text)
{
    msim_app_release(&app);
    return made_read(&app, "",
                     "'a': {'kind': 'tool'}, 'b': {'kind': 'tool'}, 'cart': "
                     "{'kind': 'tool'}, 'd': {'kind': 'tool'}",
                     text) == MSIM_OK
               ? ""
               : made_error.text;
}

/* The same of one edge, from a to b. */
static const char *edge(const char *members)
{
    char text[512];

    snprintf(text, sizeof(text),
             "'start': 'a', 'edges': [{'from': 'a', 'to': 'b'%s%s}]",
             *members ? ", " : "", members);
    return flow(text);
}

static void test_app_flow__of_an_edge(void)
{
    const struct msim_flow_edge *e;

    CHECK_STR(edge(""), "");
    e = app.edges;
    CHECK_INT(e->step, 1);
    CHECK_REL(e->prob, 1, 0);
    CHECK_REL(e->copies, 1, 0);
    CHECK(!e->copies_geometric);
    CHECK_INT(e->wait, 0);
    CHECK_REL(e->again, 0, 0);
    CHECK_INT(e->most, 1);
    CHECK_REL(e->timeout_ms, 0, 0);
    CHECK_INT(e->retries, 0);
    CHECK(!e->classes);
    CHECK_STR(edge("'step': 7, 'prob': 0, 'copies': 1000, 'wait': 1000"), "");
    CHECK_INT(app.edges->step, 7);
    CHECK_REL(app.edges->prob, 0, 0);
    CHECK_REL(app.edges->copies, 1000, 0);
    CHECK_INT(app.edges->wait, 1000);
    CHECK_STR(edge("'copies': {'geometric': 2.5}, 'wait': 1000000"), "");
    CHECK_REL(app.edges->copies, 2.5, 0);
    CHECK(app.edges->copies_geometric);
    CHECK_INT(app.edges->wait, 1000000);
    CHECK_STR(edge("'copies': {'geometric': 1000}, 'wait': 'any'"), "");
    CHECK_INT(app.edges->wait, 1);
    CHECK_STR(edge("'wait': 'all', 'retry': {'timeout_ms': 3}"), "");
    CHECK_INT(app.edges->wait, 0);
    CHECK_REL(app.edges->timeout_ms, 3, 0);
    CHECK_INT(app.edges->retries, 1);
    CHECK_STR(edge("'retry': {'timeout_ms': 3, 'most': 1000}"), "");
    CHECK_INT(app.edges->retries, 1000);
    CHECK_STR(edge("'loop': {'again': 1, 'most': 1000}"), "");
    CHECK_REL(app.edges->again, 1, 0);
    CHECK_INT(app.edges->most, 1000);
    CHECK_STR(edge("'loop': {'again': 0.5}"), "");
    CHECK_INT(app.edges->most, 8);
    CHECK_INT(app.n_assumed, 1);
    CHECK_STR(app.assumed[0].path, "flow.edges[0].loop.most");
    CHECK_STR(app.assumed[0].value, "8");
}

#define EDGE "flow.edges[0]."

static void test_app_flow__refuses_edges(void)
{
    static const struct {
        const char *members, *says;
    } CASES[] = {
        {"'step': 0", EDGE "step is 0, want a whole number from 1"},
        {"'prob': 1.1", EDGE "prob is 1.1, want a number from 0 to 1"},
        {"'copies': 0", EDGE "copies is 0, want a whole number from 1"},
        {"'copies': 1001", EDGE "copies is 1001, want at most 1000"},
        {"'copies': {}",
         EDGE "copies.geometric is missing, want the mean, from 1"},
        {"'copies': {'geometric': 1001}",
         EDGE "copies.geometric is 1001, want a number from 1 to 1000"},
        {"'copies': {'geometric': 0.9}",
         EDGE "copies.geometric is 0.9, want a number from 1 to 1000"},
        {"'wait': 0", EDGE "wait is 0, want \"all\", \"any\" or how many "
                           "answers are enough"},
        {"'wait': 1.5", EDGE "wait is 1.5, want \"all\", \"any\" or how many "
                             "answers are enough"},
        {"'wait': 1000001", EDGE "wait is 1000001, want \"all\", \"any\" or "
                                 "how many answers are enough"},
        {"'wait': 'some'", EDGE "wait is \"some\", want \"all\", \"any\" or "
                                "how many answers are enough"},
        {"'wait': 2", EDGE "wait is 2, want at most the calls of its step, 1"},
        {"'loop': {}",
         EDGE "loop.again is missing, want a probability, from 0 to 1"},
        {"'loop': {'again': 1.1}",
         EDGE "loop.again is 1.1, want a number from 0 to 1"},
        {"'loop': {'again': 0.5, 'most': 1001}",
         EDGE "loop.most is 1001, want at most 1000"},
        {"'loop': {'again': 0.5, 'most': 0}",
         EDGE "loop.most is 0, want a whole number from 1"},
        {"'loop': 3", EDGE "loop is 3, want an object"},
        {"'retry': {}",
         EDGE "retry.timeout_ms is missing, want a number above 0"},
        {"'retry': {'timeout_ms': 0}",
         EDGE "retry.timeout_ms is 0, want a number above 0"},
        {"'retry': {'timeout_ms': 1, 'most': 1001}",
         EDGE "retry.most is 1001, want at most 1000"},
        {"'retry': {'timeout_ms': 1, 'most': 0}",
         EDGE "retry.most is 0, want a whole number from 1"},
        {"'classes': []", EDGE "classes is [], want names of classes"},
        {"'classes': 'all'", EDGE "classes is \"all\", want an array"},
        {"'classes': ['all', 'x']",
         EDGE "classes[1] is \"x\", want the name of a class"},
        {"'classes': [3]", EDGE "classes[0] is 3, want the name of a class"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(edge(CASES[i].members), CASES[i].says);
}

static void test_app_flow__refuses_flows(void)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"", "flow.start is missing, want the name of a stage"},
        {"'start': 'car'",
         "flow.start is \"car\", want the name of a stage, such as cart"},
        {"'start': 'zzzzzzzz'",
         "flow.start is \"zzzzzzzz\", want the name of a stage"},
        {"'start': 'a', 'edges': [{'from': 'x1', 'to': 'b'}]",
         EDGE "from is \"x1\", want the name of a stage"},
        {"'start': 'a', 'edges': [{'from': 'a'}]",
         EDGE "to is missing, want the name of a stage"},
        {"'start': 'a', 'edges': [3]", "flow.edges[0] is 3, want an object"},
        /* two calls and one: of four answers */
        {"'start': 'a', 'edges': [{'from': 'a', 'to': 'd', 'step': 2}, "
         "{'from': 'a', 'to': 'b', 'copies': 2, 'wait': 3}, {'from': 'a', "
         "'to': 'cart', 'wait': 4}]",
         "flow.edges[2].wait is 4, want at most the calls of its step, 3"},
        /* a leads into the circle, d lies behind it */
        {"'start': 'a', 'edges': [{'from': 'a', 'to': 'b'}, {'from': 'b', "
         "'to': 'cart'}, {'from': 'cart', 'to': 'b'}, {'from': 'cart', 'to': "
         "'d'}]",
         "flow.edges lead from stage 'b' back to it, want no circle: calls "
         "that are made again are a \"loop\" of their edge"},
        {"'start': 'a', 'edges': [{'from': 'd', 'to': 'd'}]",
         "flow.edges lead from stage 'd' back to it, want no circle: calls "
         "that are made again are a \"loop\" of their edge"},
        {"'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'copies': 1000}, "
         "{'from': 'b', 'to': 'cart', 'copies': 999}]",
         "flow.edges make 1e+06 visits for one request, want at most 1000000: "
         "look at copies, loops and retries"},
        /* 3 calls of 1 + 1/2 + 1/4 in half of the visits, each made 4 times,
         * 10.5; then 100,000 for each */
        {"'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'prob': 0.5, "
         "'copies': 3, 'loop': {'again': 0.5, 'most': 3}, 'retry': "
         "{'timeout_ms': 1, 'most': 3}}, {'from': 'b', 'to': 'cart', 'copies': "
         "1000}, {'from': 'cart', 'to': 'd', 'loop': {'again': 1, 'most': "
         "100}}]",
         "flow.edges make 1.06e+06 visits for one request, want at most "
         "1000000: look at copies, loops and retries"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(flow(CASES[i].text), CASES[i].says);
    CHECK_STR(flow("'start': 'a', 'edges': [{'from': 'a', 'to': 'b', 'copies': "
                   "1000}, {'from': 'b', 'to': 'cart', 'copies': 998}]"),
              "");
}

/* By stage, then step, then as they were written; a step's answers are those
 * of its own edges. */
static void test_app_flow__sorts_edges(void)
{
    uint32_t n;
    const struct msim_flow_edge *e;

    CHECK_STR(flow("'start': 'd', 'edges': [{'from': 'b', 'to': 'cart'}, "
                   "{'from': 'a', 'to': 'cart', 'step': 2}, {'from': 'a', "
                   "'to': 'cart', 'wait': 2}, {'from': 'd', 'to': 'a'}, "
                   "{'from': 'a', 'to': 'b'}]"),
              "");
    CHECK_UINT(app.start, 3);
    CHECK_UINT(app.n_edges, 5);
    e = msim_app_edges_of(&app, 0, &n);
    REQUIRE(n == 3);
    CHECK_UINT(e[0].to, 2);
    CHECK_INT(e[0].wait, 2);
    CHECK_UINT(e[1].to, 1);
    CHECK_INT(e[2].step, 2);
    (void)msim_app_edges_of(&app, 2, &n);
    CHECK_UINT(n, 0);
    (void)msim_app_edges_of(&app, 3, &n);
    CHECK_UINT(n, 1);
}

/* Classes are bits, of which there are more than one word has. */
static void test_app_flow__of_classes(void)
{
    char classes[3000] = "'classes': [";

    for (int i = 0; i < 66; i++)
        snprintf(classes + strlen(classes), sizeof(classes) - strlen(classes),
                 "%s{'name': 'c%d', 'share': 0.0151515}", i ? ", " : "", i);
    snprintf(classes + strlen(classes), sizeof(classes) - strlen(classes), "%s",
             "], ");
    msim_app_release(&app);
    REQUIRE(made_read(&app, classes,
                      "'a': {'kind': 'tool'}, 'b': {'kind': 'tool'}",
                      "'start': 'a', 'edges': [{'from': 'a', 'to': 'b', "
                      "'classes': ['c65', 'c3']}]") == MSIM_OK);
    for (uint32_t i = 0; i < 66; i++)
        CHECK_INT(msim_flow_edge_takes(app.edges, i), i == 65 || i == 3);
}

/* ---- distributions ------------------------------------------------------- */

/* The service of a stage; NULL, or what is wrong. */
static const char *service(const char *text)
{
    char stage[512];

    snprintf(stage, sizeof(stage), "'a': {'kind': 'tool', 'service': %s}",
             text);
    msim_app_release(&app);
    return made_read(&app, "", stage, "'start': 'a'") == MSIM_OK
               ? NULL
               : made_error.text;
}

static void check_dist(const char *text, enum msim_dist_kind kind, double mean,
                       double a, double b, double c)
{
    const struct msim_dist *d;

    REQUIRE(!service(text));
    d = &app.stages[0].service;
    CHECK_INT(d->kind, kind);
    CHECK_REL(d->mean, mean, 1e-12);
    CHECK_REL(d->a, a, 1e-12);
    CHECK_REL(d->b, b, 1e-12);
    if (isfinite(c))
        CHECK_REL(d->c, c, 1e-12);
}

static void test_app_dist__shapes(void)
{
    const struct msim_dist *d;

    check_dist("0", MSIM_DIST_CONSTANT, 0, 0, 0, 0);
    check_dist("3.5", MSIM_DIST_CONSTANT, 3.5, 3.5, 0, 0);
    check_dist("{'exponential': 4}", MSIM_DIST_EXPONENTIAL, 4, 4, 0, 0);
    check_dist("{'lognormal': {'mean': 4, 'cv': 100}}", MSIM_DIST_LOGNORMAL, 4,
               4, 100, 0);
    check_dist("{'gamma': {'mean': 4, 'cv': 0.5}}", MSIM_DIST_GAMMA, 4, 4, 0.5,
               0);
    check_dist("{'bimodal': {'mean': 4, 'slow': 1, 'share': 1}}",
               MSIM_DIST_BIMODAL, 4, 4, 1, 1);
    check_dist("{'pareto': {'mean': 4, 'alpha': 0.1, 'cap': 1}}",
               MSIM_DIST_PARETO, 4, 4, 0.1, 1);
    check_dist("{'pareto': {'mean': 4, 'alpha': 1.1}}", MSIM_DIST_PARETO, 4, 4,
               1.1, INFINITY);
    REQUIRE(!service("{'quantiles': [[0, 0], [0.5, 2], [1, 2]]}"));
    d = &app.stages[0].service;
    CHECK_INT(d->kind, MSIM_DIST_QUANTILES);
    REQUIRE(d->n == 3);
    CHECK_REL(d->p[1], 0.5, 0);
    CHECK_REL(d->x[1], 2, 0);
    CHECK_REL(d->mean, 1.5, 1e-12); /* even from 0 to 2, then 2 */
    REQUIRE(!service("{'samples': [0, 5, 1]}"));
    d = &app.stages[0].service;
    CHECK_INT(d->kind, MSIM_DIST_SAMPLES);
    REQUIRE(d->n == 3);
    CHECK_REL(d->x[1], 5, 0);
    CHECK_REL(d->mean, 2, 1e-12);
}

#define SERVICE "stages.a.service"
#define POINT                                                                  \
    ", want [p, x]: p from 0 to 1 and above the one before, x from 0 and not " \
    "below it"
#define SHAPES                                                                 \
    ", want a number from 0, or one of {\"exponential\": mean}, "              \
    "{\"lognormal\": {\"mean\", \"cv\"}}, {\"gamma\": {\"mean\", \"cv\"}}, "   \
    "{\"bimodal\": {\"mean\", \"slow\", \"share\"}}, {\"pareto\": {\"mean\", " \
    "\"alpha\", \"cap\"}}, {\"quantiles\": [[p, x], ...]}, {\"samples\": "     \
    "[...] or a file}"

static void test_app_dist__refuses(void)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"-1", SERVICE " is -1, want a number from 0"},
        {"'x'", SERVICE " is \"x\"" SHAPES},
        {"{}", SERVICE " is {}" SHAPES},
        {"{'exponential': -1}",
         SERVICE ".exponential is -1, want a number from 0"},
        {"{'gamma': 3}", SERVICE ".gamma is 3, want an object"},
        {"{'gamma': null}", SERVICE ".gamma.mean is missing, want a number"},
        {"{'gamma': {'cv': 1}}",
         SERVICE ".gamma.mean is missing, want a number"},
        {"{'gamma': {'mean': 1, 'cv': 101}}",
         SERVICE ".gamma.cv is 101, want a number from 0 to 100"},
        {"{'bimodal': {'mean': 1, 'slow': 0.9, 'share': 0.5}}",
         SERVICE ".bimodal.slow is 0.9, want a number from 1 to 1000000000"},
        {"{'bimodal': {'mean': 1, 'slow': 2, 'share': 1.1}}",
         SERVICE ".bimodal.share is 1.1, want a number from 0 to 1"},
        {"{'bimodal': {'mean': 1, 'slow': 2}}",
         SERVICE ".bimodal.share is missing, want a number"},
        {"{'pareto': {'mean': 1, 'alpha': 0.09, 'cap': 5}}",
         SERVICE ".pareto.alpha is 0.09, want a number from 0.1 to 1000"},
        {"{'pareto': {'mean': 1, 'alpha': 2, 'cap': 0.9}}",
         SERVICE ".pareto.cap is 0.9, want a number from 1"},
        {"{'pareto': {'mean': 1, 'alpha': 1}}",
         SERVICE ".pareto.cap is missing, want a number from 1, the largest "
                 "over the least: with alpha up to 1 there is no mean without "
                 "it"},
        {"{'quantiles': []}",
         SERVICE ".quantiles is [], want an array of [p, x]"},
        {"{'quantiles': 3}", SERVICE ".quantiles is 3, want an array"},
        {"{'quantiles': [[0.5, 1], [0.5, 2]]}",
         SERVICE ".quantiles[1] is [0.5,2]" POINT},
        {"{'quantiles': [[0.5, 1], [0.6, 0.9]]}",
         SERVICE ".quantiles[1] is [0.6,0.9]" POINT},
        {"{'quantiles': [[0.5, 1], [0.4, 2], [0.9, 3]]}",
         SERVICE ".quantiles[1] is [0.4,2]" POINT},
        {"{'quantiles': [[1.1, 1]]}", SERVICE ".quantiles[0] is [1.1,1]" POINT},
        {"{'quantiles': [[-0.1, 1]]}",
         SERVICE ".quantiles[0] is [-0.1,1]" POINT},
        {"{'quantiles': [[0.1, -1]]}",
         SERVICE ".quantiles[0] is [0.1,-1]" POINT},
        {"{'quantiles': [[0.1]]}", SERVICE ".quantiles[0] is [0.1]" POINT},
        {"{'quantiles': [[0.1, 1, 2]]}",
         SERVICE ".quantiles[0] is [0.1,1,2]" POINT},
        {"{'samples': []}", SERVICE ".samples is [], want numbers, or the name "
                                    "of a csv file"},
        {"{'samples': [1, -1]}",
         SERVICE ".samples[1] is -1, want a number from 0"},
        {"{'samples': [1, 'x']}",
         SERVICE ".samples[1] is \"x\", want a number from 0"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(service(CASES[i].text), CASES[i].says);
}

/* The column "value", or the first; a header may be a number. */
static void test_app_dist__files(void)
{
    static const struct {
        const char *csv;
        uint32_t n;
        double first, last;
    } FILES[] = {{"t,value\n9,1\n8,2\n7,4\n", 3, 1, 4},
                 {"t,v\n9,1\n8,2\n", 2, 9, 8},
                 {"5\n6\n7\n8\n", 4, 5, 8}};

    for (size_t i = 0; i < sizeof(FILES) / sizeof(*FILES); i++) {
        made_put("s.csv", FILES[i].csv);
        REQUIRE(!service("{'samples': 's.csv'}"));
        REQUIRE(app.stages[0].service.n == FILES[i].n);
        CHECK_REL(app.stages[0].service.x[0], FILES[i].first, 0);
        CHECK_REL(app.stages[0].service.x[FILES[i].n - 1], FILES[i].last, 0);
    }
    made_put("s.csv", "value\n1\n-2\n");
    CHECK_STR(service("{'samples': 's.csv'}"),
              "line 3: '-2', want a number from 0");
    CHECK_STR(made_error.file, made_path("s.csv"));
    made_put("s.csv", "value\n");
    CHECK_STR(service("{'samples': 's.csv'}"),
              "no values in it, want one a line");
    CHECK_INT(remove(made_path("s.csv")), 0);
    CHECK(service("{'samples': 's.csv'}") != NULL);
    CHECK_INT(made_error.status, MSIM_EIO);
}

int main(void)
{
    made_begin();
    RUN(test_app_flow__of_an_edge);
    RUN(test_app_flow__refuses_edges);
    RUN(test_app_flow__refuses_flows);
    RUN(test_app_flow__sorts_edges);
    RUN(test_app_flow__of_classes);
    RUN(test_app_dist__shapes);
    RUN(test_app_dist__refuses);
    RUN(test_app_dist__files);
    msim_app_release(&app);
    made_end((const char *const[]){"app.json", NULL});
    return check_summary();
}

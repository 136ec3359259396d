/* serving/app/app_arrivals.c, app_classes.c and app_read.c: what the members of
 * an application become, at their limits, and each thing that is refused. */
#include "tests/unit/serving/made_app.h"

#include <math.h>

static struct msim_app app;

#define STAGE "'a': {'kind': 'tool', 'service': 1}"
#define FLOW  "'start': 'a'"

/* An application with those members beside a stage; "" or what is wrong. */
static const char *with(const char *members)
{
    char more[3000] = "";

    msim_app_release(&app);
    if (*members)
        snprintf(more, sizeof(more), "%s, ", members);
    return made_read(&app, more, STAGE, FLOW) == MSIM_OK ? "" : made_error.text;
}

struct refused {
    const char *members, *says;
};

static void check_refused(const struct refused *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(with(cases[i].members), cases[i].says);
        CHECK_INT(made_error.status, MSIM_EFORMAT);
    }
}

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

/* ---- arrivals ------------------------------------------------------------ */

static const struct msim_arrivals *arrivals(const char *members)
{
    char text[512];

    snprintf(text, sizeof(text), "'arrivals': {%s}", members);
    CHECK_STR(with(text), "");
    return &app.arrivals;
}

static void test_app_members__arrivals(void)
{
    const struct msim_arrivals *a = arrivals("'rate': 1e-6");

    CHECK_INT(a->process, MSIM_ARRIVAL_POISSON);
    CHECK_REL(a->rate, 1e-6, 0);
    CHECK_REL(a->cv, 1, 0);
    CHECK_INT(a->n_profile, 0);
    a = arrivals("'process': 'gamma', 'rate': 3, 'cv': 0.001");
    CHECK_INT(a->process, MSIM_ARRIVAL_GAMMA);
    CHECK_REL(a->cv, 0.001, 0);
    CHECK_INT(app.n_assumed, 0);
    a = arrivals("'process': 'gamma', 'rate': 3");
    CHECK_REL(a->cv, 1, 0);
    REQUIRE(app.n_assumed == 1);
    CHECK_STR(app.assumed[0].path, "arrivals.cv");
    CHECK_STR(app.assumed[0].value, "1");
    CHECK_STR(app.assumed[0].why, "not stated");
    a = arrivals("'process': 'closed', 'concurrency': 1, 'think_ms': 7");
    CHECK_INT(a->concurrency, 1);
    CHECK_REL(a->think_ms.mean, 7, 0);
    a = arrivals("'process': 'closed', 'concurrency': 2");
    CHECK_INT(a->think_ms.kind, MSIM_DIST_NONE);
    a = arrivals("'process': 'log', 'file': 'x.csv', 'rate': 5");
    CHECK_STR(strrchr(a->log, '/'), "/x.csv");
    CHECK_REL(a->rate, 5, 0);
}

/* Bursts of twice the mean, 5 of 20 seconds, where nothing is stated; a factor
 * of (on + off) / on leaves nothing between them. */
static void test_app_members__bursts(void)
{
    const struct msim_arrivals *a = arrivals("'process': 'mmpp', 'rate': 3");

    CHECK_REL(a->factor, 2, 0);
    CHECK_REL(a->on_s, 5, 0);
    CHECK_REL(a->off_s, 15, 0);
    REQUIRE(app.n_assumed == 3);
    CHECK_STR(app.assumed[0].path, "arrivals.factor");
    CHECK_STR(app.assumed[0].value, "2");
    CHECK_STR(app.assumed[1].path, "arrivals.on_s");
    CHECK_STR(app.assumed[1].value, "5");
    CHECK_STR(app.assumed[2].path, "arrivals.off_s");
    CHECK_STR(app.assumed[2].value, "15");
    a = arrivals("'process': 'mmpp', 'rate': 3, 'factor': 4, 'on_s': 0.01, "
                 "'off_s': 0.03");
    CHECK_REL(a->factor, 4, 0);
    CHECK_REL(a->on_s, 0.01, 0);
    CHECK_INT(app.n_assumed, 0);
}

static void test_app_members__profile(void)
{
    const struct msim_arrivals *a =
        arrivals("'rate': 1, 'profile': [[0, 0], [10, 1e6], [1e9, 0.5]]");

    REQUIRE(a->n_profile == 3);
    CHECK_REL(a->profile[0].t_s, 0, 0);
    CHECK_REL(a->profile[0].factor, 0, 0);
    CHECK_REL(a->profile[1].t_s, 10, 0);
    CHECK_REL(a->profile[1].factor, 1e6, 0);
    CHECK_REL(a->profile[2].factor, 0.5, 0);
    CHECK_INT(arrivals("'rate': 1, 'profile': []")->n_profile, 0);
}

#define POINT                                                                  \
    ", want [seconds, factor of the rate]: seconds from 0 and above the ones " \
    "before, factor from 0"
#define PROFILE(points)                                                        \
    "'arrivals': {'rate': 1, 'profile': [[1, 1], " points "]}"
#define MMPP(members)       OF("mmpp", "'rate': 1, " members)
#define OF(process, member) "'arrivals': {'process': '" process "', " member "}"

static void test_app_members__refuse_arrivals(void)
{
    static const struct refused CASES[] = {
        {"'arrivals': {'rte': 1}",
         "arrivals.rte is not known, did you mean rate?"},
        {"'arrivals': {'rate': 9.9e-7}",
         "arrivals.rate is 9.9e-07, want at least one in 10^6 s"},
        {PROFILE("[1, 2]"), "arrivals.profile[1] is [1,2]" POINT},
        {PROFILE("[-1, 2]"), "arrivals.profile[1] is [-1,2]" POINT},
        {PROFILE("[2, -1]"), "arrivals.profile[1] is [2,-1]" POINT},
        {PROFILE("[2]"), "arrivals.profile[1] is [2]" POINT},
        {PROFILE("[2, 1, 1]"), "arrivals.profile[1] is [2,1,1]" POINT},
        {PROFILE("[2, 1000001]"), "arrivals.profile[1] is [2,1000001]" POINT},
        {PROFILE("[1000000001, 1]"),
         "arrivals.profile[1] is [1000000001,1]" POINT},
        {PROFILE("['2', 1]"), "arrivals.profile[1] is [\"2\",1]" POINT},
        {PROFILE("3"), "arrivals.profile[1] is 3" POINT},
        {PROFILE("[2, 0]"), "arrivals.profile[1] is [2,0], want a factor above "
                            "0 at the end, which goes on"},
        {MMPP("'factor': 4.1"),
         "arrivals.factor is 4.1, want at most (on_s + off_s) / on_s, which is "
         "4: \"rate\" is the mean of both"},
        {MMPP("'factor': 0.9"),
         "arrivals.factor is 0.9, want a number from 1 to 1000000"},
        {MMPP("'on_s': 0.009"),
         "arrivals.on_s is 0.009, want a number from 0.01 to 1000000000"},
        {MMPP("'off_s': 0.009"),
         "arrivals.off_s is 0.009, want a number from 0.01 to 1000000000"},
        {OF("gamma", "'cv': 0.0009"),
         "arrivals.cv is 0.0009, want a number from 0.001 to 100"},
        {OF("gamma", "'cv': 101"),
         "arrivals.cv is 101, want a number from 0.001 to 100"},
        {OF("constant", "'cv': 1"),
         "arrivals.cv is 1, want none: it belongs to process \"gamma\""},
        {OF("gamma", "'factor': 2"),
         "arrivals.factor is 2, want none: it belongs to process \"mmpp\""},
        {OF("gamma", "'on_s': 2"),
         "arrivals.on_s is 2, want none: it belongs to process \"mmpp\""},
        {OF("gamma", "'off_s': 2"),
         "arrivals.off_s is 2, want none: it belongs to process \"mmpp\""},
        {OF("gamma", "'concurrency': 2"),
         "arrivals.concurrency is 2, want none: it belongs to process "
         "\"closed\""},
        {OF("gamma", "'think_ms': 2"),
         "arrivals.think_ms is 2, want none: it belongs to process \"closed\""},
        {OF("gamma", "'file': 'x'"),
         "arrivals.file is \"x\", want none: it belongs to process \"log\""},
        {OF("closed", "'concurrency': 2, 'profile': [[1, 1]]"),
         "arrivals.profile is [[1,1]], want none: a log has its own times, and "
         "closed arrivals have no rate"},
        {OF("log", "'file': 'x', 'profile': [[1, 1]]"),
         "arrivals.profile is [[1,1]], want none: a log has its own times, and "
         "closed arrivals have no rate"},
        {OF("closed", "'concurrency': 2, 'rate': 1"),
         "arrivals.rate is 1, want none: it is what comes out of closed "
         "arrivals"},
        {OF("closed", "'concurrency': 0"),
         "arrivals.concurrency is 0, want a whole number from 1"},
        {OF("log", "'rate': 1"),
         "arrivals.file is missing, want the name of a request log"},
    };

    check_refused(CASES, COUNT(CASES));
}

/* ---- classes ------------------------------------------------------------- */

static void test_app_members__classes(void)
{
    const struct msim_app_class *c;

    CHECK_STR(with(""), ""); /* one, of everything */
    CHECK_INT(app.n_classes, 1);
    CHECK_STR(app.classes[0].name, "all");
    CHECK_REL(app.classes[0].share, 1, 0);
    CHECK_STR(with("'size': {'exponential': 1.0099}"), "");
    CHECK_INT(app.classes[0].size.kind, MSIM_DIST_EXPONENTIAL);
    CHECK_STR(
        with("'classes': [{'name': 'x', 'share': 0.30003, 'priority': 1000, "
             "'input_tokens': 100, 'output_tokens': 7, 'prefix': "
             "{'shared_tokens': 10, 'groups': 3, 'distinct_prompts': 5}}, "
             "{'name': 'y', 'share': 0.70006}]"),
        "");
    REQUIRE(app.n_classes == 2);
    c = app.classes;
    CHECK_REL(c[0].share, 0.30003 / 1.00009, 1e-12); /* they add up */
    CHECK_REL(c[0].share + c[1].share, 1, 1e-15);
    CHECK_INT(c[0].priority, 1000);
    CHECK_INT(c[1].priority, 0);
    CHECK_REL(c[0].input_tokens.mean, 100, 0);
    CHECK_REL(c[0].output_tokens.mean, 7, 0);
    CHECK_INT(c[0].prefix.shared_tokens, 10);
    CHECK_INT(c[0].prefix.groups, 3);
    CHECK_INT(c[0].prefix.distinct_prompts, 5);
    CHECK_STR(with("'classes': [{'name': 'x', 'share': 0.5}, {'name': 'y', "
                   "'share': 0.49995}]"),
              "");
    CHECK_REL(app.classes[0].share, 0.5 / 0.99995, 1e-12);
    CHECK_STR(with("'classes': [{'name': 'x', 'prefix': {}}]"), "");
    CHECK_REL(app.classes[0].share, 1, 0); /* alone */
    CHECK_INT(app.classes[0].prefix.groups, 1);
    CHECK_INT(app.classes[0].prefix.shared_tokens, 0);
}

#define CLASS(members) "'classes': [{'name': 'x', " members "}]"

static void test_app_members__refuse_classes(void)
{
    static const struct refused CASES[] = {
        {"'classes': []", "classes is [], want an array of 1 to 1000 classes"},
        {"'classes': [{'share': 1}]",
         "classes[0].name is missing, want a text"},
        {"'classes': [{'name': ''}]", "classes[0].name is \"\", want a text"},
        {"'classes': [3]", "classes[0] is 3, want an object"},
        {"'classes': [{'name': 'x', 'share': 0.5}, {'name': 'x', 'share': "
         "0.5}]",
         "classes[1].name is \"x\", want another name than the classes before"},
        {"'classes': [{'name': 'x', 'share': 1}, {'name': 'y'}]",
         "classes[1].share is missing, want a number from 0 to 1"},
        {"'classes': [{'name': 'x', 'share': 0.5}, {'name': 'y', 'share': "
         "0.5002}]",
         "classes[].share add up to 1.0002, want 1"},
        {CLASS("'share': 1.1"),
         "classes[0].share is 1.1, want a number from 0 to 1"},
        {CLASS("'priority': 1001"),
         "classes[0].priority is 1001, want a number from 0 to 1000"},
        {CLASS("'priority': 1.5"),
         "classes[0].priority is 1.5, want a whole number from 0"},
        {CLASS("'prefix': {'groups': 0}"),
         "classes[0].prefix.groups is 0, want a whole number from 1"},
        {CLASS("'prefix': {'shared_tokens': -1}"),
         "classes[0].prefix.shared_tokens is -1, want a whole number from 0"},
        {CLASS("'prefix': {'distinct_prompts': -1}"),
         "classes[0].prefix.distinct_prompts is -1, want a whole number from "
         "0"},
        {CLASS("'prefix': 3"), "classes[0].prefix is 3, want an object"},
        {"'size': {'exponential': 1.0101}",
         "size is {\"exponential\":1.0101}, want a distribution whose mean is "
         "1"},
        {"'size': {'exponential': 0.98}",
         "size is {\"exponential\":0.98}, want a distribution whose mean is 1"},
    };

    check_refused(CASES, COUNT(CASES));
}

/* 1,000 classes, and no more. */
static void test_app_members__many_classes(void)
{
    for (int n = 1000; n <= 1001; n++) {
        FILE *f = fopen(made_path("app.json"), "w");

        REQUIRE(f != NULL);
        fprintf(f, "{\"schema\": \"mystique-sim/app/1\", \"stages\": {\"a\": "
                   "{\"kind\": \"tool\"}}, \"flow\": {\"start\": \"a\"}, "
                   "\"classes\": [");
        for (int i = 0; i < n; i++)
            fprintf(f, "%s{\"name\": \"c%d\", \"share\": 0.001}", i ? ", " : "",
                    i);
        fputs("]}", f);
        fclose(f);
        msim_app_release(&app);
        made_error = (struct msim_error){0};
        CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
                  n > 1000 ? MSIM_EFORMAT : MSIM_OK);
        CHECK_INT(app.n_classes, n > 1000 ? 0 : 1000);
    }
    CHECK(strstr(made_error.text, "want an array of 1 to 1000 classes") !=
          NULL);
}

/* ---- promises ------------------------------------------------------------ */

#define SLO(members) "'slo': [{" members "}]"
#define XY                                                                     \
    "'classes': [{'name': 'x', 'share': 0.5}, {'name': 'y', 'share': 0.5}], "

static void test_app_members__promises(void)
{
    CHECK_STR(with(XY "'slo': [{'class': 'y', 'metric': 'e2e', 'percentile': "
                      "50, 'limit_ms': 3}, {'percentile': 99.999, 'limit_ms': "
                      "4}, {'class': 'all', 'percentile': 90, 'limit_ms': 5}]"),
              "");
    REQUIRE(app.n_promises == 3);
    CHECK_UINT(app.promises[0].cls, 1);
    CHECK_INT(app.promises[0].metric, MSIM_PROMISE_E2E);
    CHECK_REL(app.promises[0].percentile, 50, 0);
    CHECK_REL(app.promises[0].limit_ms, 3, 0);
    CHECK_UINT(app.promises[1].cls, MSIM_CLASS_ALL);
    CHECK_INT(app.promises[1].metric, MSIM_PROMISE_E2E);
    CHECK_REL(app.promises[1].percentile, 99.999, 0);
    CHECK_UINT(app.promises[2].cls, MSIM_CLASS_ALL);
    CHECK_STR(with("'slo': []"), "");
    CHECK_INT(app.n_promises, 0);
}

static void test_app_members__refuse_promises(void)
{
    static const struct refused CASES[] = {
        {XY SLO("'class': 'z', 'percentile': 99, 'limit_ms': 1"),
         "slo[0].class is \"z\", want one of classes: x, y"},
        {SLO("'percentile': 49.9, 'limit_ms': 1"),
         "slo[0].percentile is 49.9, want a number from 50 to 99.999"},
        {SLO("'percentile': 99.9991, 'limit_ms': 1"),
         "slo[0].percentile is 99.9991, want a number from 50 to 99.999"},
        {SLO("'percentile': 0.99, 'limit_ms': 1"),
         "slo[0].percentile is 0.99, want a number from 50 to 99.999: 0.99 is "
         "meant as 99"},
        {SLO("'percentile': 0.5, 'limit_ms': 1"),
         "slo[0].percentile is 0.5, want a number from 50 to 99.999"},
        {SLO("'percentile': 1, 'limit_ms': 1"),
         "slo[0].percentile is 1, want a number from 50 to 99.999"},
        {SLO("'limit_ms': 1"),
         "slo[0].percentile is missing, want a number from 50 to 99.999"},
        {SLO("'percentile': 99"),
         "slo[0].limit_ms is missing, want a number above 0"},
        {SLO("'percentile': 99, 'limit_ms': 0"),
         "slo[0].limit_ms is 0, want a number above 0"},
        {SLO("'percentile': 99, 'limit_ms': 1, 'metric': 'ttft'"),
         "slo[0].metric is \"ttft\", want \"e2e\": no stage is of kind llm"},
        {"'slo': [{'percentile': 99, 'limit_ms': 1}, {'percentile': 99, "
         "'limit_ms': 1, 'metric': 'tpot'}]",
         "slo[1].metric is \"tpot\", want \"e2e\": no stage is of kind llm"},
        {"'slo': [7]", "slo[0] is 7, want an object"},
    };

    check_refused(CASES, COUNT(CASES));
}

/* Of many classes the first 16 are named. */
static void test_app_members__names_classes(void)
{
    char members[2000] = "'classes': [";

    for (int i = 0; i < 20; i++)
        snprintf(members + strlen(members), sizeof(members) - strlen(members),
                 "%s{'name': 'k%c', 'share': 0.05}", i ? ", " : "", 'a' + i);
    snprintf(members + strlen(members), sizeof(members) - strlen(members), "%s",
             "], 'slo': [{'class': 'z', 'percentile': 99, 'limit_ms': "
             "1}]");
    CHECK_STR(with(members),
              "slo[0].class is \"z\", want one of classes: ka, kb, kc, kd, ke, "
              "kf, kg, kh, ki, kj, kk, kl, km, kn, ko, kp");
}

/* 10,000 promises, and no more. */
static void test_app_members__many_promises(void)
{
    for (int n = 10000; n <= 10001; n++) {
        FILE *f = fopen(made_path("app.json"), "w");

        REQUIRE(f != NULL);
        fputs("{\"schema\": \"mystique-sim/app/1\", \"stages\": {\"a\": "
              "{\"kind\": \"tool\"}}, \"flow\": {\"start\": \"a\"}, "
              "\"slo\": [",
              f);
        for (int i = 0; i < n; i++)
            fprintf(f, "%s{\"percentile\": 99, \"limit_ms\": 1}", i ? "," : "");
        fputs("]}", f);
        fclose(f);
        msim_app_release(&app);
        made_error = (struct msim_error){0};
        CHECK_INT(msim_app_read(&app, made_path("app.json"), &made_error),
                  n > 10000 ? MSIM_EFORMAT : MSIM_OK);
        CHECK_INT(app.n_promises, n > 10000 ? 0 : 10000);
    }
    CHECK(strstr(made_error.text, "want at most 10000 promises") != NULL);
}

/* ---- the whole ----------------------------------------------------------- */

static const char *read_text(const char *text)
{
    msim_app_release(&app);
    made_put("app.json", text);
    made_error = (struct msim_error){0};
    return msim_app_read(&app, made_path("app.json"), &made_error) == MSIM_OK
               ? ""
               : made_error.text;
}

static void test_app_members__whole(void)
{
    CHECK_STR(with("'name': 'shop', 'currency': 'EUR'"), "");
    CHECK_STR(app.name, "shop");
    CHECK_STR(app.currency, "EUR");
    CHECK_STR(app.path, made_path("app.json"));
    CHECK_STR(with(""), "");
    CHECK_STR(app.name, "");
    CHECK_STR(app.currency, "USD");
    CHECK_STR(with("'nam': 'x'"), "nam is not known, did you mean name?");
    CHECK_STR(read_text("[]"), "this is not a JSON object, want an application "
                               "(\"schema\": \"mystique-sim/app/1\")");
    CHECK_INT(made_error.status, MSIM_EFORMAT);
    CHECK(!app.path); /* nothing is held */
    CHECK_STR(read_text("{'stages': {" STAGE "}, 'flow': {" FLOW "}}"),
              "schema is missing, want \"mystique-sim/app/1\"");
    CHECK_STR(read_text("{'schema': 'mystique-sim/app/2', 'stages': {" STAGE
                        "}, 'flow': {" FLOW "}}"),
              "schema is \"mystique-sim/app/2\", want \"mystique-sim/app/1\"");
    CHECK(!app.path);
    CHECK(*read_text("{") != '\0');
    CHECK_INT(made_error.status, MSIM_ESYNTAX);
}

int main(void)
{
    made_begin();
    RUN(test_app_members__arrivals);
    RUN(test_app_members__bursts);
    RUN(test_app_members__profile);
    RUN(test_app_members__refuse_arrivals);
    RUN(test_app_members__classes);
    RUN(test_app_members__refuse_classes);
    RUN(test_app_members__many_classes);
    RUN(test_app_members__promises);
    RUN(test_app_members__refuse_promises);
    RUN(test_app_members__names_classes);
    RUN(test_app_members__many_promises);
    RUN(test_app_members__whole);
    msim_app_release(&app);
    made_end((const char *const[]){"app.json", NULL});
    return check_summary();
}

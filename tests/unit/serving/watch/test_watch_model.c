/* serving/watch/watch_model.c: what a model file must hold, and what watch
 * takes from an application. */
#include "serving/watch/watch.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

static struct msim_stage stages[] = {{.name = "web"}, {.name = "db"}};
static struct msim_app app = {
    .path = "app.json", .name = "shop", .stages = stages, .n_stages = 2};
static struct msim_watch_model m;
static struct msim_error err;

#define HEAD                                                                   \
    "{'schema': 'mystique-sim/watch-model/1', 'app': 'shop', 'horizon_s': 1, "
#define ODDS "'odds': {'said': 2, 'usually': 3, 'plus': 4, 'begin': 5}, "
#define COLUMNS                                                                \
    "'columns': [{'stage': 'db', 'feature': 'BUSY'}, {'stage': 'web', "        \
    "'feature': 'WAIT'}], "

/* A forest of one tree, which splits the last of `width` numbers at 0.5. */
static void put_forest(char *text, size_t size, const char *key, uint32_t width,
                       int ten_thousandths)
{
    size_t at = (size_t)snprintf(text, size, "'%s': {'cuts': '", key);

    for (uint32_t i = 1; i < width; i++)
        at += (size_t)snprintf(text + at, size - at, ";");
    snprintf(text + at, size - at,
             "0.5', 'splits': '%u 0 0', 'leaves': '%d 0', 'low': -9, 'high': "
             "9}",
             1 + (width - 1) * 64, ten_thousandths);
}

/* The names of `n` numbers; the one at `wrong` is another. */
static void put_features(char *text, size_t size, uint32_t n, uint32_t wrong)
{
    size_t at = (size_t)snprintf(text, size, "'features': [");

    for (uint32_t i = 0; i < n; i++)
        at += (size_t)snprintf(
            text + at, size - at, "%s'%s'", i ? ", " : "",
            i == wrong || i >= MSIM_FEATURES ? "x" : msim_feature_text(i));
    snprintf(text + at, size - at, "], ");
}

/* "" or what is refused. */
static const char *parse(const char *before, const char *features,
                         uint32_t width, uint32_t next_width,
                         const struct msim_app *of)
{
    char text[20480], violation[1024], next[1024];
    enum msim_status status;
    cJSON *json;

    put_forest(violation, sizeof(violation), "violation", width, 20000);
    put_forest(next, sizeof(next), "next", next_width, 5000);
    snprintf(text, sizeof(text), "%s%s%s, %s}", before, features, violation,
             next);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json = cJSON_Parse(text);
    if (!CHECK(json != NULL))
        return "no JSON";
    err = (struct msim_error){0};
    status = msim_watch_model_parse(&m, json, "m.json", of, &err);
    CHECK_INT(status, err.status);
    if (status != MSIM_OK) {
        CHECK_INT(status, MSIM_EFORMAT);
        CHECK_STR(err.file, "m.json");
        CHECK(!m.violation.splits && !m.next.splits && m.n_columns == 0);
    }
    cJSON_Delete(json);
    return err.text;
}

/* Numbers of single stages stand behind those of all, in the file's order. */
static void check_columns(void)
{
    double x[MSIM_WATCH_COLUMNS_MAX] = {0};
    struct msim_second_stage seconds[3] = {0};
    struct msim_history h;

    REQUIRE(msim_history_init(&h, 2) == MSIM_OK);
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < MSIM_COUNTERS; i++)
            seconds[s].v[i] = 30 * s + 2 + i * i;
    msim_history_add(&h, seconds);
    msim_watch_model_columns(&m, x, &h, 10);
    for (uint32_t i = 0; i < 2; i++) {
        double want = msim_stage_feature_of(&h, m.columns[i].stage,
                                            m.columns[i].feature, 10);

        CHECK(want != 0 && isfinite(want));
        CHECK_REL(x[MSIM_FEATURES + i], want, 0);
    }
    CHECK(x[MSIM_FEATURES - 1] == 0 && x[MSIM_FEATURES + 2] == 0);
    msim_history_release(&h);
}

/* e^0.5 times the mean of 3 s, which is 2 limits of 10 ms. */
static void test_watch_model__is_read(void)
{
    double x[MSIM_WATCH_COLUMNS_MAX] = {0};
    char features[8192];

    put_features(features, sizeof(features), MSIM_FEATURES, MSIM_NONE);
    CHECK_STR(parse(HEAD COLUMNS ODDS, features, MSIM_FEATURES + 2,
                    MSIM_FEATURES + 2, &app),
              "");
    CHECK_REL(m.horizon_s, 1, 0);
    CHECK_REL(m.odds.said, 2, 0);
    CHECK_REL(m.odds.usually, 3, 0);
    CHECK_REL(m.odds.plus, 4, 0);
    CHECK_REL(m.odds.begin, 5, 0);
    CHECK_INT(msim_watch_model_width(&m), MSIM_FEATURES + 2);
    CHECK_INT(m.columns[0].stage, 1);
    CHECK_INT(m.columns[0].feature, MSIM_STAGE_FEATURE_BUSY);
    CHECK_INT(m.columns[1].stage, 0);
    CHECK_INT(m.columns[1].feature, MSIM_STAGE_FEATURE_WAIT);
    check_columns();
    CHECK_REL(msim_forest_eval(&m.violation, x), 2, 1e-6);
    x[MSIM_FEATURES + 1] = 1;
    CHECK(msim_forest_eval(&m.violation, x) == 0);
    x[MSIM_FEATURES + 1] = 0;
    CHECK(isnan(msim_watch_model_next(&m, x, 10)));
    x[MSIM_FEATURE_P99_LOG_3S] = log(2);
    CHECK_REL(msim_watch_model_next(&m, x, 10), 20 * exp(0.5), 1e-6);
    msim_watch_model_release(&m);
    /* Of all applications; what trees say is what counts. */
    CHECK_STR(parse(HEAD, features, MSIM_FEATURES, MSIM_FEATURES, NULL), "");
    CHECK_REL(msim_watch_model_odds(&m, 7, 3), 7, 0);
    CHECK_INT(m.n_columns, 0);
    msim_watch_model_release(&m);
}

/* Numbers of e2e stand among those of stages. */
static void test_watch_model__reads_e2e(void)
{
    double x[MSIM_WATCH_COLUMNS_MAX] = {0};
    struct msim_second_stage seconds[3] = {0};
    struct msim_history h;
    char features[8192];

    put_features(features, sizeof(features), MSIM_FEATURES, MSIM_NONE);
    CHECK_STR(parse(HEAD "'columns': [{'stage': 'e2e', 'feature': 'AGE_LOG'}, "
                         "{'stage': 'db', 'feature': 'BUSY'}], ",
                    features, MSIM_FEATURES + 2, MSIM_FEATURES + 2, &app),
              "");
    REQUIRE(m.n_columns == 2 && msim_history_init(&h, 2) == MSIM_OK);
    CHECK_INT(m.columns[0].stage, 2);
    CHECK_INT(m.columns[0].feature, MSIM_E2E_FEATURE_AGE_LOG);
    seconds[1].v[MSIM_COUNTER_BUSY] = 0.3;
    seconds[2].age_s = 0.04;
    msim_history_add(&h, seconds);
    msim_watch_model_columns(&m, x, &h, 10);
    CHECK_REL(x[MSIM_FEATURES], log(4), 1e-9);
    CHECK_REL(x[MSIM_FEATURES + 1], 0.3, 1e-9);
    msim_history_release(&h);
    msim_watch_model_release(&m);
}

static void test_watch_model__refuses(void)
{
    static const struct {
        const char *before, *says;
    } CASES[] = {
        {"{", "schema is absent, want \"mystique-sim/watch-model/1\", which "
              "learn --runs writes"},
        {"{'schema': 'x/1', ", "schema is \"x/1\", want "
                               "\"mystique-sim/watch-model/1\", which learn "
                               "--runs writes"},
        {"{'schema': 'mystique-sim/watch-model/1', 'app': 'bank', ",
         "app is \"bank\", want a model of \"shop\""},
        {"{'schema': 'mystique-sim/watch-model/1', ",
         "horizon_s is no number from 1"},
        {"{'schema': 'mystique-sim/watch-model/1', 'horizon_s': 0.99, ",
         "horizon_s is no number from 1"},
        {HEAD "'odds': {'usually': 3, 'plus': 4, 'begin': 5}, ",
         "odds lacks one of the numbers said, usually, plus and begin"},
        {HEAD "'odds': {'said': 3, 'plus': 4, 'begin': 5}, ",
         "odds lacks one of the numbers said, usually, plus and begin"},
        {HEAD "'odds': {'said': 3, 'usually': 4, 'begin': 5}, ",
         "odds lacks one of the numbers said, usually, plus and begin"},
        {HEAD "'odds': {'said': 3, 'usually': 4, 'plus': 5}, ",
         "odds lacks one of the numbers said, usually, plus and begin"},
        {HEAD "'columns': [{'stage': 'db', 'feature': 'BUSY'}, {'stage': 'x', "
              "'feature': 'BUSY'}], ",
         "columns[1].stage: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        {HEAD "'columns': [{'stage': 'db', 'feature': 'x'}], ",
         "columns[0].feature: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        {HEAD "'columns': [{'stage': 'e2e', 'feature': 'BUSY'}], ",
         "columns[0].feature: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        {HEAD "'columns': [{'stage': 'db', 'feature': 'IN_FLIGHT'}], ",
         "columns[0].feature: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        {HEAD "'columns': [{'stage': 'db'}], ",
         "columns[0].feature: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        {HEAD "'columns': [{'feature': 'BUSY'}], ",
         "columns[0].stage: 'shop' has no stage and number of that name, the "
         "model is another application's"},
        /* the second forest splits a number too many */
        {HEAD, "next holds no whole trees"},
    };
    char features[8192], want[256];

    put_features(features, sizeof(features), MSIM_FEATURES, MSIM_NONE);
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++)
        CHECK_STR(parse(CASES[i].before, features, MSIM_FEATURES,
                        MSIM_FEATURES + 1, &app),
                  CASES[i].says);
    CHECK_STR(parse(HEAD COLUMNS, features, MSIM_FEATURES + 3, 1, &app),
              "violation holds no whole trees");
    CHECK_STR(parse(HEAD COLUMNS, features, MSIM_FEATURES, MSIM_FEATURES, NULL),
              "columns[0] is one too many");
    for (uint32_t wrong = 0; wrong <= MSIM_FEATURES; wrong++) {
        uint32_t n = wrong ? MSIM_FEATURES : MSIM_FEATURES - 1;
        uint32_t at = wrong ? wrong - 1 : MSIM_FEATURES - 1;

        put_features(features, sizeof(features), n, at);
        snprintf(want, sizeof(want),
                 "features[%u] is not \"%s\": the model is of another version, "
                 "learn it again",
                 at, msim_feature_text(at));
        CHECK_STR(parse(HEAD, features, 1, 1, &app), want);
    }
    put_features(features, sizeof(features), MSIM_FEATURES + 1, MSIM_NONE);
    snprintf(want, sizeof(want), "features has %d names, want %d",
             MSIM_FEATURES + 1, MSIM_FEATURES);
    CHECK_STR(parse(HEAD, features, 1, 1, &app), want);
}

/* As many columns as trees can split, and no more. */
static void test_watch_model__has_room(void)
{
    enum { MOST = MSIM_WATCH_COLUMNS_MAX - MSIM_FEATURES };

    char features[8192], before[8192], want[64];

    put_features(features, sizeof(features), MSIM_FEATURES, MSIM_NONE);
    for (uint32_t n = MOST; n <= MOST + 1; n++) {
        size_t at =
            (size_t)snprintf(before, sizeof(before), HEAD "'columns': [");

        for (uint32_t i = 0; i < n; i++)
            at += (size_t)snprintf(before + at, sizeof(before) - at,
                                   "%s{'stage': 'db', 'feature': 'WAIT'}",
                                   i ? ", " : "");
        snprintf(before + at, sizeof(before) - at, "], ");
        snprintf(want, sizeof(want), "columns[%u] is one too many", MOST);
        CHECK_STR(parse(before, features, MSIM_WATCH_COLUMNS_MAX,
                        MSIM_WATCH_COLUMNS_MAX, &app),
                  n > MOST ? want : "");
        msim_watch_model_release(&m);
    }
}

/* The first metric of e2e, ttft, tpot that is promised; its largest limit. */
static void test_watch_model__metric(void)
{
    static const struct msim_promise P[] = {
        {0, MSIM_PROMISE_TPOT, 99, 1},  {0, MSIM_PROMISE_TTFT, 99, 20},
        {0, MSIM_PROMISE_TTFT, 99, 30}, {0, MSIM_PROMISE_E2E, 99, 7},
        {0, MSIM_PROMISE_E2E, 99, 5},   {0, MSIM_PROMISE_TTFT, 99, 50}};
    static const struct {
        uint32_t n;
        enum msim_promise_metric metric;
        double limit;
    } CASES[] = {{1, MSIM_PROMISE_TPOT, 1},
                 {2, MSIM_PROMISE_TTFT, 20},
                 {3, MSIM_PROMISE_TTFT, 30},
                 {6, MSIM_PROMISE_E2E, 7}};
    struct msim_watch w = {0};

    app.promises = P;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        bool e2e = CASES[i].metric == MSIM_PROMISE_E2E;

        app.n_promises = CASES[i].n;
        err = (struct msim_error){0};
        CHECK_INT(msim_watch_metric(&app), CASES[i].metric);
        CHECK_REL(msim_watch_limit(&app), CASES[i].limit, 0);
        CHECK_INT(msim_watch_check_e2e(&app, &err),
                  e2e ? MSIM_OK : MSIM_EFORMAT);
        CHECK_STR(err.text,
                  e2e ? ""
                      : "slo has no promise with metric e2e, and counters "
                        "in csv tell of no other latency; scrapes of an "
                        "engine's metrics do");
    }
    app.n_promises = 0;
    CHECK_INT(msim_watch_check_e2e(&app, &err), MSIM_OK);
    err = (struct msim_error){0};
    CHECK_INT(msim_watch_init(&w, &app, NULL, NULL, 5, &err), MSIM_EFORMAT);
    CHECK_STR(err.text, "slo is empty, and without a limit nothing violates "
                        "it");
    msim_watch_release(&w);
}

int main(void)
{
    RUN(test_watch_model__is_read);
    RUN(test_watch_model__reads_e2e);
    RUN(test_watch_model__refuses);
    RUN(test_watch_model__has_room);
    RUN(test_watch_model__metric);
    return check_summary();
}

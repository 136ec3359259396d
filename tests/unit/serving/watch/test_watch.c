/* serving/watch/watch.c: what verdicts say of seconds that are written down,
 * with trees of one leaf each, whose odds follow what came true. */
#include "serving/watch/watch.h"
#include "tests/check.h"

#include <math.h>

#define HORIZON 5
#define LIMIT   100.0
#define SECONDS 100

static struct msim_stage stages[] = {{.name = "web", .replicas = 3}};
static const struct msim_app_class classes[] = {{.name = "all", .share = 1}};
static const struct msim_promise promises[] = {
    {MSIM_CLASS_ALL, MSIM_PROMISE_E2E, 99, LIMIT}};
static const struct msim_app app = {.promises = promises,
                                    .n_promises = 1,
                                    .classes = classes,
                                    .n_classes = 1,
                                    .stages = stages,
                                    .n_stages = 1};
static struct msim_watch w;
static struct msim_verdict v;
static double self_ms = NAN; /* of web */

/* Trees that always say so many ten-thousandths. */
static bool read_leaf(struct msim_forest *f, int ten_thousandths)
{
    char text[128];
    cJSON *json;
    enum msim_status status;

    snprintf(text, sizeof(text),
             "{\"cuts\": \"\", \"splits\": \"0\", \"leaves\": \"%d\", \"low\": "
             "-9, \"high\": 9}",
             ten_thousandths);
    json = cJSON_Parse(text);
    status = json ? msim_forest_read(f, json, MSIM_FEATURES) : MSIM_ENOMEM;
    cJSON_Delete(json);
    return CHECK_INT(status, MSIM_OK);
}

/* A second, whose 99th percentile is that. */
static void add(int t, double p99_ms)
{
    struct msim_counters_row row = {.t = t};

    for (int c = 0; c < MSIM_COUNTERS; c++)
        row.v[c] = NAN;
    row.v[MSIM_COUNTER_ARRIVALS] = 10;
    row.v[MSIM_COUNTER_P99_MS] = row.v[MSIM_COUNTER_MEAN_MS] = p99_ms;
    row.v[MSIM_COUNTER_SELF_MS] = self_ms;
    CHECK(!msim_watch_add(&w, &row, &v));
    row.v[MSIM_COUNTER_SELF_MS] = NAN;
    row.stage = 1;
    CHECK(msim_watch_add(&w, &row, &v));
    CHECK_REL(v.t, t, 1e-9);
}

static bool begin(const struct msim_watch_model *general,
                  const struct msim_watch_model *model, double horizon)
{
    return CHECK_INT(msim_watch_init(&w, &app, general, model, horizon, NULL),
                     MSIM_OK);
}

/* Is the lead of the last second that of the steeper of two lines, 0 above the
 * limit, not known where it is longer than four horizons? Which line it is: 1,
 * that of the p99; 2, that to where it is expected; 0: neither. */
static int check_lead(void)
{
    double x = w.x[MSIM_FEATURE_P99_LOG];
    double slope = w.x[MSIM_FEATURE_P99_SLOPE_5S];
    double ahead =
        (w.x[MSIM_FEATURE_P99_AHEAD_TWICE] - w.x[MSIM_FEATURE_P99_LOG_3S]) /
        HORIZON;
    double lead = -x / (slope > ahead ? slope : ahead);

    if (x > 0) {
        CHECK(v.lead_s == 0);
        return 0;
    }
    if (!(lead >= 0 && lead <= 4 * HORIZON)) {
        CHECK(isnan(v.lead_s));
        return 0;
    }
    CHECK_REL(v.lead_s, lead, 1e-9);
    return slope > ahead ? 1 : 2;
}

/* Without trees: when the p99 passes the limit. */
static void test_watch__leads(void)
{
    int lines[3] = {0};

    if (!begin(NULL, NULL, HORIZON))
        return;
    for (int t = 1; t <= SECONDS; t++) {
        add(t, t < 50 ? 40 : 40 * exp(0.03 * (t - 50)));
        CHECK(isnan(v.p_violation) && isnan(v.p99_next_ms));
        CHECK_REL(w.seconds.stages[0].v[MSIM_COUNTER_REPLICAS], 3, 0);
        lines[check_lead()]++;
    }
    /* 0.03 a second: from log(2.5) on it takes 30 seconds, of which the last
     * 20 are near enough, or some more by the other line. */
    CHECK(lines[1] + lines[2] >= 18 && lines[1] + lines[2] <= 30);
    CHECK(v.lead_s == 0);
    msim_watch_release(&w);
    /* A service that grows, before the p99 does. */
    if (!begin(NULL, NULL, HORIZON))
        return;
    memset(lines, 0, sizeof(lines));
    for (int t = 1; t <= 70; t++) {
        self_ms = t < 60 ? 20 : 20 * exp(0.1 * (t - 60));
        add(t, t % 2 ? 60 : 61);
        lines[check_lead()]++;
    }
    self_ms = NAN;
    CHECK(lines[2] > 3);
    msim_watch_release(&w);
}

/* The mean of the last `n` of `x`, and the line of least squares through them.
 */
static double mean_of(const double *x, int end, int n)
{
    double sum = 0;

    for (int i = end - n; i < end; i++)
        sum += x[i] / n;
    return sum;
}

static double slope_of(const double *x, int end, int n)
{
    double up = 0, squares = 0;

    for (int i = 0; i < n; i++) {
        up += (i - (n - 1) / 2.0) * x[end - n + i];
        squares += (i - (n - 1) / 2.0) * (i - (n - 1) / 2.0);
    }
    return up / squares;
}

/* Numbers of a p99 that is no line, the same as the mean, by their names. */
static void test_watch__numbers(void)
{
    double over[SECONDS]; /* log p99 over the limit */
    int violated = 0;

    if (!begin(NULL, NULL, HORIZON))
        return;
    for (int t = 1; t <= 40; t++) {
        double p99 = 60 + 50 * sin(0.5 * t), most = -INFINITY;

        over[t - 1] = log(p99 / LIMIT);
        violated += p99 > LIMIT;
        add(t, p99);
        if (t < 10)
            continue;
        for (int i = t - 8; i < t; i++)
            most = fmax(most, over[i]);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_LOG] - over[t - 1]) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_MOST_LOG] - over[t - 1]) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_LOG_3S] - mean_of(over, t, 3)) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_LOG_8S] - mean_of(over, t, 8)) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_LOG_MOST_8S] - most) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_P99_SLOPE_5S] - slope_of(over, t, 5)) <
              1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_VIOLATED_SHARE] - violated / (double)t) <
              1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_MEAN_LOG] - mean_of(over, t, 2)) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_MEAN_SLOPE_5S] - slope_of(over, t, 5)) <
              1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_RATE_OVER_8S]) < 1e-9);
        CHECK(fabs(w.x[MSIM_FEATURE_RATE_USUAL] - log(10)) < 1e-9);
    }
    msim_watch_release(&w);
}

/* Trees of all applications say even odds. Each second that was said to be
 * before a violation, and was none, takes a twentieth of what was said from the
 * log odds; each that was adds a twentieth of what was missing. */
static void test_watch__learns(void)
{
    struct msim_watch_model m = {.horizon_s = HORIZON, .odds = {.said = 1}};
    double said[SECONDS + 1], shift = 0;

    if (!read_leaf(&m.violation, 0) || !read_leaf(&m.next, 5000) ||
        !begin(&m, NULL, HORIZON))
        return;
    for (int t = 1; t <= SECONDS; t++) {
        bool came = false;

        add(t, t > 40 && t < 50 ? 200 : t == 60 ? 100 : 50);
        for (int k = t - HORIZON + 1; k <= t; k++)
            came |= k > 40 && k < 50;
        if (t > HORIZON)
            shift += 0.05 * (came - said[t - HORIZON]);
        said[t] = 1 - 1 / (1 + exp(shift));
        CHECK_REL(v.p_violation, said[t], 1e-9);
        if (t > 3 && t < 40)
            CHECK_REL(v.p99_next_ms, 50 * exp(0.5), 1e-6);
    }
    msim_watch_release(&w);
    /* The odds go no further than 2, either way. */
    if (!begin(&m, NULL, HORIZON))
        return;
    for (int t = 1; t <= 300; t++)
        add(t, 200);
    CHECK_REL(w.shift, 2, 1e-12);
    CHECK_REL(v.p_violation, 1 - 1 / (1 + exp(2)), 1e-9);
    w.shift = -1.99;
    for (int t = 301; t <= 340; t++)
        add(t, 50);
    CHECK(w.shift >= -2 && w.shift < -1.99);
    msim_watch_release(&w);
    /* The longest horizon that is remembered, and one that is not. */
    for (int longer = 0; longer < 2; longer++) {
        if (!begin(&m, NULL, MSIM_WATCH_HORIZON_MOST + longer))
            return;
        for (int t = 1; t <= MSIM_WATCH_HORIZON_MOST + 5; t++)
            add(t, 50);
        CHECK_INT(w.shift < 0, !longer);
        msim_watch_release(&w);
    }
    msim_forest_release(&m.violation);
    msim_forest_release(&m.next);
}

/* What trees usually say is of the seconds behind which no violation came; to
 * be at the limit is none. */
static void test_watch__knows_what_is_usual(void)
{
    struct msim_watch_model m = {.horizon_s = HORIZON,
                                 .odds = {.usually = 1, .begin = -1}};
    struct msim_watch_said mine = {0};

    if (!read_leaf(&m.violation, 20000) || !read_leaf(&m.next, 0) ||
        !begin(&m, NULL, HORIZON))
        return;
    for (int t = 1; t <= 60; t++) {
        double p99 = t == 20 ? 100 : t == 40 ? 100.5 : 50;

        add(t, p99);
        msim_watch_said_add(&mine, 2, t == 40);
        CHECK_REL(w.x[MSIM_FEATURE_PRIOR],
                  msim_watch_said_usually(&mine, HORIZON, -1), 1e-6);
    }
    /* All but 35 to 40, which one came behind or is, and the last five. */
    CHECK_REL(w.x[MSIM_FEATURE_PRIOR], ((60 - 6 - 5) * 2 - 10) / 59.0, 1e-6);
    msim_watch_release(&w);
    msim_forest_release(&m.violation);
    msim_forest_release(&m.next);
}

/* Trees of this application are asked, and know what those of all say; nothing
 * is learned beside them. */
static void test_watch__asks_its_own(void)
{
    struct msim_watch_model all = {.horizon_s = HORIZON,
                                   .odds = {.said = 0.5, .plus = 0.25}},
                            own = {.horizon_s = 2 * HORIZON,
                                   .odds = {.said = 1}};

    if (!read_leaf(&all.violation, 20000) || !read_leaf(&all.next, 3000) ||
        !read_leaf(&own.violation, 10000) || !read_leaf(&own.next, 0) ||
        !begin(&all, &own, HORIZON))
        return;
    for (int t = 1; t <= 20; t++)
        add(t, 50);
    CHECK_REL(w.x[MSIM_FEATURE_PRIOR], 0.5 * 2 + 0.25, 1e-6);
    CHECK_REL(w.x[MSIM_FEATURE_PRIOR_NEXT], 0.3, 1e-6);
    CHECK(w.shift == 0);
    /* e to 1, within ten seconds: the root of what is left within five. */
    CHECK_REL(v.p_violation, 1 - sqrt(1 / (1 + exp(1))), 1e-6);
    CHECK_REL(v.p99_next_ms, 50, 1e-6);
    msim_watch_release(&w);
    msim_forest_release(&all.violation);
    msim_forest_release(&all.next);
    msim_forest_release(&own.violation);
    msim_forest_release(&own.next);
}

int main(void)
{
    RUN(test_watch__leads);
    RUN(test_watch__numbers);
    RUN(test_watch__learns);
    RUN(test_watch__knows_what_is_usual);
    RUN(test_watch__asks_its_own);
    return check_summary();
}

/*
 * Who is to blame, on counters written down: `front` calls `store` and holds
 * its worker until that has answered. Sixty usual seconds, then ten in which
 * one thing grows; what it does to the other stage is there, too.
 */
#include "serving/watch/watch.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static const char *const FILES[] = {"app.json", NULL};

static const char MORE[] =
    "'name': 'two', 'slo': [{'class': 'all', 'metric': 'e2e', "
    "'percentile': 99, 'limit_ms': 100}], 'classes': [{'name': 'all', "
    "'share': 1}], 'arrivals': {'process': 'poisson', 'rate': 100}, ";
static const char STAGES[] =
    "'front': {'kind': 'measured', 'call': 'rpc', 'service': 2}, "
    "'store': {'kind': 'measured', 'call': 'queue', 'service': 10}";
static const char FLOW[] =
    "'start': 'front', 'edges': [{'from': 'front', 'to': 'store'}]";

/* Counters of a stage in a window; a growth of 1 a second has come to `s`. */
struct stage {
    double arrivals, busy, self, wait, net, cpu, memory, disk;
};
typedef void change(struct stage *front, struct stage *store, double s);

static void nothing(struct stage *front, struct stage *store, double s)
{
    (void)front;
    (void)store;
    (void)s;
}

/* The callee is slower: its own queue grows a little, that of its caller, whose
 * workers it holds, ten times as much. */
static void slow_memory(struct stage *front, struct stage *store, double s)
{
    store->self *= 1 + 0.1 * s;
    store->memory += 0.05 * s;
    store->wait += 0.2 * s;
    front->wait += 2 * s;
    front->busy += 0.03 * s;
}

static void slow_disk(struct stage *front, struct stage *store, double s)
{
    slow_memory(front, store, s);
    store->disk += 0.05 * s;
    store->memory -= 0.05 * s;
}

static void slow_unseen(struct stage *front, struct stage *store, double s)
{
    slow_memory(front, store, s);
    store->cpu = store->memory = store->disk = NAN;
    front->cpu = front->memory = front->disk = NAN;
}

static void far_away(struct stage *front, struct stage *store, double s)
{
    store->net += 1.5 * s;
    front->wait += 2 * s;
    front->busy += 0.03 * s;
}

static void more_arrivals(struct stage *front, struct stage *store, double s)
{
    front->arrivals *= 1 + 0.06 * s;
    store->arrivals *= 1 + 0.06 * s;
    store->busy += 0.03 * s;
    store->wait += 3 * s;
    store->cpu += 0.02 * s; /* which rises with load, too */
}

static void hung_workers(struct stage *front, struct stage *store, double s)
{
    (void)front;
    store->wait += 3 * s;
}

/* +-2 %, the same in every run. */
static double jitter(int i)
{
    return 1 + 0.02 * sin(7.0 * i);
}

static void give(struct msim_watch *w, double t, uint32_t at,
                 const struct stage *s, int i, bool psi)
{
    struct msim_counters_row r = {.t = t, .stage = at};
    struct msim_verdict v;

    r.v[MSIM_COUNTER_ARRIVALS] = s->arrivals * jitter(i + 1);
    r.v[MSIM_COUNTER_QUEUE] = s->wait * s->arrivals / 200;
    r.v[MSIM_COUNTER_BUSY] = s->busy * jitter(i + 2);
    r.v[MSIM_COUNTER_REPLICAS] = 1;
    r.v[MSIM_COUNTER_MEAN_MS] = s->self + s->wait;
    r.v[MSIM_COUNTER_P99_MS] = 3 * (s->self + s->wait);
    r.v[MSIM_COUNTER_SELF_MS] = s->self * jitter(i + 3);
    r.v[MSIM_COUNTER_WAIT_MS] = s->wait * jitter(i + 4);
    r.v[MSIM_COUNTER_PSI_CPU] = psi ? s->cpu * jitter(i + 5) : NAN;
    r.v[MSIM_COUNTER_PSI_MEM] = psi ? s->memory * jitter(i + 6) : NAN;
    r.v[MSIM_COUNTER_PSI_IO] = psi ? s->disk * jitter(i + 7) : NAN;
    r.v[MSIM_COUNTER_NET_MS] = s->net * jitter(i + 8);
    CHECK(!msim_watch_add(w, &r, &v));
}

/* The verdict of the last of `seconds` seconds. */
static struct msim_verdict watch_for(struct msim_watch *w, int seconds,
                                     change *what)
{
    struct msim_verdict v = {0};

    for (int i = 0; i < seconds * 5; i++) {
        struct stage front = {20, 0.3, 2, 0.5, 0.3, 0.05, 0.02, 0.02};
        struct stage store = {20, 0.4, 10, 1, 0.3, 0.06, 0.02, 0.02};
        struct msim_counters_row e = {.t = 0.2 * (i + 1), .stage = 2};

        if (i >= 60 * 5)
            what(&front, &store, (i - 300) / 5.0);
        give(w, e.t, 0, &front, i, !isnan(store.cpu));
        give(w, e.t, 1, &store, i + 50, !isnan(store.cpu));
        for (int c = 0; c < MSIM_COUNTERS; c++)
            e.v[c] = NAN;
        e.v[MSIM_COUNTER_ARRIVALS] = front.arrivals * jitter(i);
        e.v[MSIM_COUNTER_MEAN_MS] =
            front.self + front.wait + store.net + store.wait + store.self;
        e.v[MSIM_COUNTER_P99_MS] = 2 * e.v[MSIM_COUNTER_MEAN_MS] * jitter(i);
        e.v[MSIM_COUNTER_QUEUE] = 5;
        CHECK(msim_watch_add(w, &e, &v) == (i % 5 == 4));
    }
    return v;
}

static void check_blame(change *what, const char *stage, const char *resource)
{
    struct msim_app app;
    struct msim_watch w;
    struct msim_verdict v;

    REQUIRE(made_read(&app, MORE, STAGES, FLOW) == MSIM_OK);
    REQUIRE(msim_watch_init(&w, &app, NULL, NULL, 5, NULL) == MSIM_OK);
    v = watch_for(&w, 70, what);
    CHECK_STR(app.stages[v.stage].name, stage);
    CHECK_STR(msim_resource_text(v.resource), resource);
    CHECK_REL(v.t, 70, 1e-9);
    msim_watch_release(&w);
    msim_app_release(&app);
}

static void test_blame__goes_to_the_callee(void)
{
    check_blame(slow_memory, "store", "memory");
    check_blame(slow_disk, "store", "disk");
    check_blame(slow_unseen, "store", "cpu");
}

static void test_blame__tells_other_causes(void)
{
    check_blame(far_away, "store", "network");
    check_blame(more_arrivals, "store", "load");
    check_blame(hung_workers, "store", "workers");
}

/* Nothing grows: a mean request takes at the horizon what it takes now. */
static void test_blame__sees_nothing_in_noise(void)
{
    struct msim_app app;
    struct msim_watch w;

    REQUIRE(made_read(&app, MORE, STAGES, FLOW) == MSIM_OK);
    REQUIRE(msim_watch_init(&w, &app, NULL, NULL, 5, NULL) == MSIM_OK);
    (void)watch_for(&w, 70, nothing);
    /* 0.3 + 0.5 + 2 + 0.3 + 1 + 10 without the way to the first stage */
    CHECK_REL(w.blame.usual_ms, 13.8, 0.01);
    CHECK_REL(w.blame.ratio_now, 1, 0.01);
    CHECK_REL(w.blame.ratio_ahead, 1, 0.03);
    msim_watch_release(&w);
    msim_app_release(&app);
}

static void test_watch__wants_a_limit(void)
{
    struct msim_app app;
    struct msim_watch w;
    struct msim_error err = {0};

    REQUIRE(made_read(&app, "", STAGES, FLOW) == MSIM_OK);
    CHECK(msim_watch_init(&w, &app, NULL, NULL, 5, &err) == MSIM_EFORMAT);
    CHECK(strstr(err.text, "slo is empty") != NULL);
    msim_watch_release(&w);
    msim_app_release(&app);
}

/* e2e where it is promised, whatever else is; of that the largest limit. What
 * else is promised can be watched, but csv does not tell of it. */
static void test_watch__takes_the_promised_metric(void)
{
    struct msim_promise promises[] = {
        {.metric = MSIM_PROMISE_TPOT, .percentile = 90, .limit_ms = 50},
        {.metric = MSIM_PROMISE_TTFT, .percentile = 90, .limit_ms = 400},
        {.metric = MSIM_PROMISE_TTFT, .percentile = 99, .limit_ms = 900},
        {.metric = MSIM_PROMISE_E2E, .percentile = 99, .limit_ms = 100}};
    struct msim_app app = {.promises = promises, .n_promises = 4};

    CHECK_UINT(msim_watch_metric(&app), MSIM_PROMISE_E2E);
    CHECK_REL(msim_watch_limit(&app), 100, 0);
    CHECK(msim_watch_check_e2e(&app, NULL) == MSIM_OK);
    app.n_promises = 3;
    CHECK_UINT(msim_watch_metric(&app), MSIM_PROMISE_TTFT);
    CHECK_REL(msim_watch_limit(&app), 900, 0);
    CHECK(msim_watch_check_e2e(&app, NULL) == MSIM_EFORMAT);
}

int main(void)
{
    made_begin();
    RUN(test_blame__goes_to_the_callee);
    RUN(test_blame__tells_other_causes);
    RUN(test_blame__sees_nothing_in_noise);
    RUN(test_watch__wants_a_limit);
    RUN(test_watch__takes_the_promised_metric);
    made_end(FILES);
    return check_summary();
}

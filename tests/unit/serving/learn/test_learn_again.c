/* serving/learn/learn_observed.c and learn_again.c: what counters tell of
 * services and load, found in windows of an application that is known, and the
 * runs that are made of it. */
#include "serving/learn/learn_table.h"
#include "serving/sim/serving_run.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

#define HORIZON 5.0
#define SECONDS 240

/* Replicas of `front` go from 3 to 2 for the second third of the run. The rate
 * doubles at once in the middle. */
#define CLASSES                                                                \
    "'slo': [{'metric': 'e2e', 'percentile': 99, 'limit_ms': 160}],"           \
    "'classes': [{'name': 'a', 'share': 0.5}, {'name': 'b', 'share': 0.5}],"
#define KNOWN                                                                  \
    CLASSES "'arrivals': {'process': 'poisson', 'rate': 40,"                   \
            "'profile': [[119.99, 1], [120.01, 2]]},"
#define UNKNOWN CLASSES "'arrivals': {'process': 'poisson', 'rate': 1},"
#define FLOW                                                                   \
    "'start': 'front', 'edges': [{'from': 'front', 'to': 'db'},"               \
    "{'from': 'front', 'to': 'rank', 'step': 2}]"
#define FRONT "'front': {'kind': 'measured', 'workers': 8"
#define DB                                                                     \
    "'db': {'kind': 'measured', 'call': 'queue', 'workers': 4,"                \
    "'class_factor': {'b': 3}"
#define RANK                                                                   \
    "'rank': {'kind': 'measured', 'call': 'queue', 'replicas': 1,"             \
    "'batching': {'max_batch': 8, 'max_wait_ms': 2"
#define STATED                                                                 \
    FRONT ", 'replicas': 3, 'service': {'gamma': {'mean': 4, 'cv': 0.5}},"     \
          "'absent': [{'from_s': 80, 'until_s': 160, 'replicas': 1}]}," DB     \
          ", 'network_ms': 60,"                                                \
          "'service': {'lognormal': {'mean': 3, 'cv': 0.5}}}," RANK            \
          ", 'law': [[1, 1], [8, 2.4]]}, 'service': 20}"
#define NOT_STATED FRONT "}," DB "}," RANK "}}"

static struct msim_app known, unknown;
static struct msim_error err;
static struct msim_counters_row *rows;
static uint32_t n_rows;

static struct msim_counters_row row_of(const struct msim_window_row *w,
                                       uint32_t stage, double t)
{
    struct msim_counters_row row = {.t = t, .stage = stage};

    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        row.v[i] = NAN;
    row.v[MSIM_COUNTER_ARRIVALS] = w->arrivals;
    row.v[MSIM_COUNTER_QUEUE] = w->queue;
    row.v[MSIM_COUNTER_BUSY] = w->busy;
    if (stage < 3)
        row.v[MSIM_COUNTER_REPLICAS] = w->replicas;
    row.v[MSIM_COUNTER_P99_MS] = w->p99_ms;
    row.v[MSIM_COUNTER_SELF_MS] = w->self_ms;
    row.v[MSIM_COUNTER_NET_MS] = w->net_ms;
    return row;
}

/* The run whose counters are read; `start_s` is where its clock begins. */
static void record(double start_s)
{
    struct msim_serving *sim;
    struct msim_serving_result r;
    const struct msim_serving_how how = {
        .seconds = SECONDS, .seed = 3, .keep = MSIM_KEEP_WINDOWS};

    REQUIRE(msim_serving_new(&sim, &known, &err) == MSIM_OK);
    REQUIRE(msim_serving_run(sim, &how, &r, &err) == MSIM_OK);
    REQUIRE(r.n_windows >= SECONDS * 5);
    free(rows);
    n_rows = SECONDS * 5 * 4;
    rows = malloc(n_rows * sizeof(*rows));
    REQUIRE(rows);
    for (uint32_t i = 0; i < n_rows; i++)
        rows[i] = row_of(&r.windows[i], i % 4, start_s + (i / 4 + 1) * 0.2);
    msim_serving_free(sim);
}

/* 14,400 visits of each stage: the cv of so many is known to some per cent, the
 * skewness to a quarter. Sizes of batches are not what they are in the mean. */
static void test_learn_again__services(void)
{
    struct msim_observed o;
    bool whole;

    record(1000);
    CHECK_INT(msim_observed_make(&o, &whole, &unknown, rows, n_rows), MSIM_OK);
    CHECK(whole);
    REQUIRE(o.n == SECONDS * 5);
    CHECK_REL(o.stages[0].mean_ms, 4, 0.02);
    CHECK_REL(o.stages[0].cv, 0.5, 0.05);
    CHECK(o.stages[0].skewness > 0.4 && o.stages[0].skewness < 1.6);
    CHECK_REL(o.stages[1].mean_ms, 6, 0.03);
    /* of 3 and 9 ms: sqrt(1.25 (1 + 0.5^2) - 1) */
    CHECK_REL(o.stages[1].cv, 0.75, 0.08);
    CHECK(o.stages[1].skewness > 1);
    CHECK_REL(o.stages[1].net_ms, 60, 1e-6);
    CHECK(o.stages[0].net_ms == 0);
    /* a batch of 8 takes 2.4 times as long as one: 0.2 each visit more */
    CHECK_REL(o.stages[2].mean_ms, 20, 0.1);
    CHECK_REL(o.stages[2].slope, 0.2, 0.5);
    CHECK_REL(o.visits, 3 * 14400.0, 0.05);
    msim_observed_release(&o);
}

/* The clock begins where the run does. Rates are those of a second; they
 * follow a step within two. */
static void test_learn_again__load(void)
{
    struct msim_observed o;
    bool whole;
    double before = 0, after = 0;

    record(1000);
    CHECK_INT(msim_observed_make(&o, &whole, &unknown, rows, n_rows), MSIM_OK);
    CHECK(whole);
    CHECK(fabs(o.t[0] - 0.2) < 1e-6 && fabs(o.t[o.n - 1] - SECONDS) < 1e-6);
    for (uint32_t i = 0; i < 5 * 100; i++) {
        before += o.rate[i] / (5 * 100);
        after += o.rate[o.n - 1 - i] / (5 * 100);
    }
    CHECK_REL(before, 40, 0.05);
    CHECK_REL(after, 80, 0.05);
    CHECK(o.rate[5 * 122] > 64);
    CHECK_INT(o.stages[0].most, 3);
    CHECK(o.replicas[5 * 60 * 3] == 3 && o.replicas[5 * 120 * 3] == 2);
    msim_observed_release(&o);
}

static bool is_whole(void)
{
    struct msim_observed o;
    bool whole;

    CHECK_INT(msim_observed_make(&o, &whole, &unknown, rows, n_rows), MSIM_OK);
    msim_observed_release(&o);
    return whole;
}

/* What a run does not tell cannot be made again. */
static void test_learn_again__refuses(void)
{
    record(0);
    for (uint32_t i = 0; i < n_rows; i++)
        rows[i].t *= 5;
    CHECK(!is_whole()); /* windows of a second */
    record(0);
    rows[103].v[MSIM_COUNTER_ARRIVALS] = NAN;
    CHECK(!is_whole());
    record(0);
    for (uint32_t i = 1; i < n_rows; i += 4)
        rows[i].v[MSIM_COUNTER_SELF_MS] = NAN;
    CHECK(!is_whole());
    record(0);
    n_rows = 4 * 49; /* windows */
    CHECK(!is_whole());
    n_rows = 0;
    CHECK(!is_whole());
}

static void repeat(struct msim_runs_table *t, const struct msim_app *app,
                   double p99, double visits, uint32_t threads)
{
    *t = (struct msim_runs_table){.width = msim_runs_width(app, true)};
    record(0);
    for (uint32_t part = 4; part < 7; part += 2) {
        struct msim_observed *o = msim_vec_add(&t->observed, sizeof(*o));
        bool whole;

        REQUIRE(o);
        CHECK_INT(msim_observed_make(o, &whole, app, rows, n_rows), MSIM_OK);
        CHECK(whole);
        o->part = part;
        o->p99_ms *= p99;
    }
    err = (struct msim_error){0};
    CHECK_INT(msim_runs_repeat(t, app, NULL, HORIZON, visits, threads, &err),
              MSIM_OK);
    CHECK_STR(err.text, "");
}

/* A run of 43,200 visits three times within 2 x 3.5 of it. Each second is of
 * the part of the run that it repeats, and as late as that. */
static void test_learn_again__rows(void)
{
    struct msim_runs_table t, other;
    double late = 0, calm = 0;

    repeat(&t, &unknown, 1, 7 * 43200, 1);
    CHECK_INT(t.n_runs, 0);
    CHECK_INT(t.n_simulated, 6);
    REQUIRE(t.rows.n == 6 * SECONDS);
    for (uint32_t i = 0; i < t.rows.n; i++) {
        const struct msim_runs_row *r = msim_runs_row(&t, i);

        CHECK(r->simulated);
        CHECK_INT(r->part, i < 3 * SECONDS ? 4 : 6);
        late += r->log_p99 > 0;
        calm += r->calm;
    }
    CHECK(late > 0 && late < 0.9 * t.rows.n && calm > 0.2 * t.rows.n);
    /* copies differ, and so do runs */
    CHECK(msim_runs_row(&t, 50)->log_p99 !=
          msim_runs_row(&t, 50 + SECONDS)->log_p99);
    CHECK(msim_runs_row(&t, 50)->log_p99 !=
          msim_runs_row(&t, 50 + 3 * SECONDS)->log_p99);
    repeat(&other, &unknown, 1, 7 * 43200, 4);
    REQUIRE(other.rows.n == t.rows.n);
    CHECK(memcmp(other.x.data, t.x.data, t.x.n * sizeof(double)) == 0);
    msim_runs_table_release(&other);
    msim_runs_table_release(&t);
}

/* The mean of a stage's number over the seconds of one run. */
static double mean_of(const struct msim_runs_table *t, uint32_t first,
                      uint32_t stage, enum msim_stage_feature f)
{
    double sum = 0;

    for (uint32_t i = first; i < first + SECONDS; i++)
        sum +=
            msim_runs_x(t, i)[MSIM_FEATURES + stage * MSIM_STAGE_FEATURES + f];
    return sum / SECONDS;
}

/* The recorded run as rows. */
static void take_recorded(struct msim_runs_table *t)
{
    struct msim_watch w;

    *t = (struct msim_runs_table){.width = msim_runs_width(&unknown, true)};
    CHECK_INT(msim_watch_init(&w, &unknown, NULL, NULL, HORIZON, &err),
              MSIM_OK);
    for (uint32_t i = 0; i < n_rows; i++)
        CHECK_INT(msim_runs_take(t, &w, &rows[i]), MSIM_OK);
    msim_runs_look_ahead(t, 0, HORIZON);
    msim_watch_release(&w);
}

static double mean_p99(const struct msim_runs_table *t)
{
    double sum = 0;

    for (uint32_t i = 1; i < SECONDS; i++)
        sum += msim_runs_row(t, i)->log_p99 / (SECONDS - 1);
    return sum;
}

/* The first copy holds workers as the recorded run did (those of `front`, which
 * wait for batches, nearly so), has as many visits a
 * replica, and is as late; others have up to 8 % more or fewer of them, and
 * their replicas go at another time. */
static void test_learn_again__is_the_same(void)
{
    struct msim_runs_table t, as;
    uint32_t moved = 0, off_by_one = 0;

    repeat(&t, &unknown, 1, 7 * 43200, 1);
    take_recorded(&as);
    REQUIRE(t.rows.n == 6 * SECONDS && as.rows.n == SECONDS);
    for (uint32_t s = 0; s < 3; s++) {
        double rate = mean_of(&as, 0, s, MSIM_STAGE_FEATURE_RATE), off;

        CHECK_REL(mean_of(&t, 0, s, MSIM_STAGE_FEATURE_BUSY),
                  mean_of(&as, 0, s, MSIM_STAGE_FEATURE_BUSY),
                  s == 0 ? 0.25 : 0.06);
        CHECK(fabs(mean_of(&t, 0, s, MSIM_STAGE_FEATURE_RATE) - rate) < 0.015);
        off = fabs(mean_of(&t, 2 * SECONDS, s, MSIM_STAGE_FEATURE_RATE) - rate);
        CHECK(off > 0.02 && off < 0.1);
    }
    CHECK(fabs(mean_p99(&t) - mean_p99(&as)) < 0.1);
    for (uint32_t i = 0; i < SECONDS; i++) {
        off_by_one +=
            msim_runs_row(&t, i)->steady != msim_runs_row(&as, i)->steady;
        moved += msim_runs_row(&t, i)->steady !=
                 msim_runs_row(&t, SECONDS + i)->steady;
    }
    CHECK(off_by_one <= 4); /* both ends of two changes */
    CHECK(moved > 4);
    msim_runs_table_release(&as);
    msim_runs_table_release(&t);
}

/* Where the simulated p99 is another one the limit goes with it; where it is
 * far off, nothing is learned from it. */
static void test_learn_again__calibrates(void)
{
    struct msim_runs_table t, half;

    repeat(&t, &unknown, 1, 2.5 * 43200, 1);
    repeat(&half, &unknown, 0.8, 2.5 * 43200, 1);
    REQUIRE(t.rows.n == 2 * SECONDS && half.rows.n == t.rows.n);
    CHECK(fabs(msim_runs_row(&t, 50)->log_p99 + log(0.8) -
               msim_runs_row(&half, 50)->log_p99) < 1e-9);
    msim_runs_table_release(&half);
    msim_runs_table_release(&t);
    repeat(&t, &unknown, 3, 9 * 43200, 1);
    CHECK_INT(t.n_simulated, 0);
    CHECK_INT(t.rows.n, 0);
    msim_runs_table_release(&t);
    repeat(&t, &unknown, 1, 1.5 * 43200, 1); /* no time for one of each */
    CHECK_INT(t.n_simulated, 0);
    msim_runs_table_release(&t);
}

/* Runs of days are left out. */
static void test_learn_again__long(void)
{
    struct msim_runs_table t;
    struct msim_observed *o;

    repeat(&t, &unknown, 1, 1, 1);
    o = t.observed.data;
    o[0].t[o[0].n - 1] = 3e4;
    CHECK_INT(msim_runs_repeat(&t, &unknown, NULL, HORIZON, 9 * 43200, 1, &err),
              MSIM_OK);
    CHECK_INT(t.n_simulated, 0);
    msim_runs_table_release(&t);
}

/* A model's service is no draw that counters would tell of. */
static void test_learn_again__models(void)
{
    struct msim_runs_table t;

    unknown.stages[1].kind = MSIM_STAGE_MODEL;
    repeat(&t, &unknown, 1, 9 * 43200, 1);
    CHECK_INT(t.n_simulated, 0);
    msim_runs_table_release(&t);
    unknown.stages[1].kind = MSIM_STAGE_MEASURED;
}

int main(void)
{
    static const char *const NAMES[] = {"app.json", NULL};

    made_begin();
    CHECK_INT(made_read(&known, KNOWN, STATED, FLOW), MSIM_OK);
    CHECK_INT(made_read(&unknown, UNKNOWN, NOT_STATED, FLOW), MSIM_OK);
    CHECK_STR(made_error.text, "");
    RUN(test_learn_again__services);
    RUN(test_learn_again__load);
    RUN(test_learn_again__refuses);
    RUN(test_learn_again__rows);
    RUN(test_learn_again__is_the_same);
    RUN(test_learn_again__calibrates);
    RUN(test_learn_again__long);
    RUN(test_learn_again__models);
    msim_app_release(&known);
    msim_app_release(&unknown);
    free(rows);
    made_end(NAMES);
    return check_summary();
}

/* serving/watch/watch_history.c: counters of 300 seconds, some unknown, kept a
 * second time in plain arrays. */
#include "serving/watch/watch_model.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define SECONDS 300
#define STAGES  2 /* and e2e */

static struct msim_history h;
static double kept[STAGES + 1][MSIM_TRACKS][SECONDS];
static uint32_t now; /* seconds so far */

static uint64_t state = 1;

static double drawn(double least, double most)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return least + (most - least) * (double)(state >> 11) / 0x1p53;
}

/* A second of one stage by its counters; one in ten is not known. */
static struct msim_second_stage second(void)
{
    struct msim_second_stage s;

    for (int c = 0; c < MSIM_COUNTERS; c++)
        s.v[c] = drawn(0, 1) < 0.1 ? NAN : drawn(0.5, 20);
    s.queue_mean = drawn(0, 5);
    s.p99_most = drawn(1, 30);
    s.mean_last_ms = drawn(1, 30);
    s.rate_last = drawn(1, 30);
    s.age_s = drawn(0.01, 3);
    return s;
}

static void keep(uint32_t stage, const struct msim_second_stage *s)
{
    double self = s->v[MSIM_COUNTER_SELF_MS];
    double wait = s->v[MSIM_COUNTER_WAIT_MS];

    kept[stage][MSIM_TRACK_SELF][now] = log(self);
    kept[stage][MSIM_TRACK_NET][now] = s->v[MSIM_COUNTER_NET_MS];
    kept[stage][MSIM_TRACK_WAIT][now] = wait;
    kept[stage][MSIM_TRACK_WAIT_LOG][now] =
        log(isnan(self) ? wait : wait + self / 100);
    kept[stage][MSIM_TRACK_BUSY][now] = s->v[MSIM_COUNTER_BUSY];
    kept[stage][MSIM_TRACK_RATE][now] = log(s->v[MSIM_COUNTER_ARRIVALS]);
    kept[stage][MSIM_TRACK_QUEUE][now] = s->queue_mean;
    kept[stage][MSIM_TRACK_PSI_CPU][now] = s->v[MSIM_COUNTER_PSI_CPU];
    kept[stage][MSIM_TRACK_PSI_MEM][now] = s->v[MSIM_COUNTER_PSI_MEM];
    kept[stage][MSIM_TRACK_PSI_IO][now] = s->v[MSIM_COUNTER_PSI_IO];
    kept[stage][MSIM_TRACK_MEAN][now] = log(s->v[MSIM_COUNTER_MEAN_MS]);
    kept[stage][MSIM_TRACK_P99][now] = log(s->v[MSIM_COUNTER_P99_MS]);
    kept[stage][MSIM_TRACK_MOST][now] = log(s->p99_most);
    kept[stage][MSIM_TRACK_REPLICAS][now] = s->v[MSIM_COUNTER_REPLICAS];
    kept[stage][MSIM_TRACK_QUEUE_LAST][now] = s->v[MSIM_COUNTER_QUEUE];
    kept[stage][MSIM_TRACK_MEAN_LAST][now] = log(s->mean_last_ms);
    kept[stage][MSIM_TRACK_RATE_LAST][now] = log(s->rate_last);
    kept[stage][MSIM_TRACK_AGE][now] = log(s->age_s * 1000);
}

static void add(void)
{
    struct msim_second_stage stages[STAGES + 1];

    for (uint32_t i = 0; i <= STAGES; i++) {
        stages[i] = second();
        keep(i, &stages[i]);
    }
    msim_history_add(&h, stages);
    now++;
}

static void check_same(double got, double want)
{
    CHECK(isnan(want) ? isnan(got) : fabs(got - want) <= 1e-9 * fabs(want));
}

static double at(uint32_t stage, int track, uint32_t ago)
{
    return ago < now && ago < 128 ? kept[stage][track][now - 1 - ago] : NAN;
}

/* ---- the last seconds ---------------------------------------------------- */

/* The slope by sums about the means. */
static double slope(uint32_t stage, int track, uint32_t n)
{
    double t = 0, v = 0, tt = 0, tv = 0, known = 0;

    for (uint32_t ago = 0; ago < n; ago++)
        if (!isnan(at(stage, track, ago))) {
            t -= ago;
            v += at(stage, track, ago);
            known++;
        }
    if (known < 3)
        return 0;
    t /= known;
    v /= known;
    for (uint32_t ago = 0; ago < n; ago++)
        if (!isnan(at(stage, track, ago))) {
            tt += (-(double)ago - t) * (-(double)ago - t);
            tv += (-(double)ago - t) * (at(stage, track, ago) - v);
        }
    return tv / tt;
}

static double mean(uint32_t stage, int track, uint32_t n)
{
    double sum = 0, known = 0;

    for (uint32_t ago = 0; ago < n; ago++)
        if (!isnan(at(stage, track, ago))) {
            sum += at(stage, track, ago);
            known++;
        }
    return sum / known; /* NAN of none */
}

static void check_last(uint32_t stage, int track)
{
    const enum msim_track t = (enum msim_track)track;
    double most = NAN;

    for (uint32_t n = 1; n <= 8; n++) {
        double v = at(stage, track, n - 1);

        check_same(msim_history_at(&h, stage, t, n - 1), v);
        if (!(most >= v) && !isnan(v))
            most = v;
        check_same(msim_history_mean(&h, stage, t, n), mean(stage, track, n));
        check_same(msim_history_most(&h, stage, t, n), most);
        check_same(msim_history_slope(&h, stage, t, n), slope(stage, track, n));
    }
    check_same(msim_history_at(&h, stage, t, 127), at(stage, track, 127));
    CHECK(isnan(msim_history_at(&h, stage, t, 128)));
}

/* ---- what is usual ------------------------------------------------------- */

/* Spreads that are believed at least: a share of the median, a number. */
static const double LEAST[MSIM_TRACKS][2] = {
    [MSIM_TRACK_SELF] = {0, 0.01},     [MSIM_TRACK_NET] = {0.02, 0.005},
    [MSIM_TRACK_WAIT] = {0.1, 0.02},   [MSIM_TRACK_BUSY] = {0, 0.01},
    [MSIM_TRACK_RATE] = {0, 0.01},     [MSIM_TRACK_QUEUE] = {0.1, 0.1},
    [MSIM_TRACK_PSI_CPU] = {0, 0.005}, [MSIM_TRACK_PSI_MEM] = {0, 0.005},
    [MSIM_TRACK_PSI_IO] = {0, 0.005},  [MSIM_TRACK_MEAN] = {0, 0.01},
    [MSIM_TRACK_P99] = {0, 0.01},      [MSIM_TRACK_MOST] = {0, 0.01},
    [MSIM_TRACK_REPLICAS] = {0, 0.5},
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double middle(double *v, uint32_t n)
{
    qsort(v, n, sizeof(*v), by_value);
    return (v[(n - 1) / 2] + v[n / 2]) / 2;
}

static struct msim_usual usual(uint32_t stage, int track, uint32_t from,
                               uint32_t to)
{
    struct msim_usual u = {NAN, NAN};
    double v[SECONDS], rank, high;
    uint32_t n = 0, below;

    for (uint32_t s = from; s < to; s++)
        if (!isnan(kept[stage][track][s]))
            v[n++] = kept[stage][track][s];
    if (n < 3)
        return u;
    u.median = middle(v, n);
    rank = 0.95 * (n - 1);
    below = (uint32_t)rank;
    high = v[below];
    if (below + 1 < n)
        high += (rank - below) * (v[below + 1] - v[below]);
    for (uint32_t i = 0; i < n; i++)
        v[i] = fabs(v[i] - u.median);
    u.spread = fmax((high - u.median) / 1.645, 1.4826 * middle(v, n));
    u.spread = fmax(u.spread, LEAST[track][1]);
    u.spread = fmax(u.spread, LEAST[track][0] * fabs(u.median));
    return u;
}

/* Of all until there are 30 seconds; then every eighth, of all that are kept
 * but the last ten. */
static void check_usual(uint32_t stage, int track, struct msim_usual *want)
{
    const struct msim_usual *got =
        msim_history_usual(&h, stage, (enum msim_track)track);

    if (now <= 30)
        *want = usual(stage, track, 0, now);
    else if (now % 8 == 0)
        *want = usual(stage, track, now > 128 ? now - 128 : 0, now - 10);
    check_same(got->median, want->median);
    check_same(got->spread, want->spread);
}

/* ---- how far it is from that --------------------------------------------- */

static double shrunk(double v, double z, double noise)
{
    return v * (z * z) / (z * z + noise * noise);
}

static struct msim_deviation deviation(uint32_t stage, int track,
                                       const struct msim_usual *u,
                                       double horizon, uint32_t level,
                                       uint32_t line)
{
    struct msim_deviation d = {0};
    double of = mean(stage, track, level) - u->median, squares = 0, grows;

    if (isnan(of))
        return d;
    for (uint32_t i = 0; i < line; i++)
        squares += (i - (line - 1) / 2.0) * (i - (line - 1) / 2.0);
    grows = slope(stage, track, line);
    d.z = of * sqrt(level) / u->spread;
    d.excess = shrunk(of, d.z, level == 1 ? 4 : 2);
    d.ahead = d.excess + shrunk(grows, grows * sqrt(squares) / u->spread,
                                level == 1 ? 4 : 3) *
                             (horizon + (level == 1 ? 0 : 1));
    return d;
}

static void check_deviation(uint32_t stage, int track,
                            const struct msim_usual *u)
{
    struct msim_deviation got =
        msim_history_deviation(&h, stage, (enum msim_track)track, 7);
    struct msim_deviation slow = deviation(stage, track, u, 7, 3, 6);
    struct msim_deviation fast = deviation(stage, track, u, 7, 1, 4);

    check_same(got.z, slow.z);
    check_same(got.excess, fabs(fast.excess) > fabs(slow.excess) ? fast.excess
                                                                 : slow.excess);
    check_same(got.ahead,
               fabs(fast.ahead) > fabs(slow.ahead) ? fast.ahead : slow.ahead);
}

static void test_watch_history__of_random_counters(void)
{
    static struct msim_usual want[STAGES + 1][MSIM_TRACKS];

    REQUIRE(msim_history_init(&h, STAGES) == MSIM_OK);
    now = 0;
    for (uint32_t i = 0; i <= STAGES; i++)
        for (int t = 0; t < MSIM_TRACKS; t++) {
            want[i][t] = (struct msim_usual){NAN, NAN};
            check_last(i, t);
            check_usual(i, t, &want[i][t]);
        }
    while (now < SECONDS) {
        add();
        CHECK_UINT(h.seconds, now);
        for (uint32_t i = 0; i <= STAGES; i++)
            for (int t = 0; t < MSIM_TRACKS; t++) {
                check_last(i, t);
                check_usual(i, t, &want[i][t]);
                check_deviation(i, t, &want[i][t]);
            }
    }
    msim_history_release(&h);
    CHECK(!h.v && !h.usual);
}

/* Logarithms of nothing are not known; of counters that never change the least
 * spread is what is believed. */
static void test_watch_history__of_counters_that_stand(void)
{
    struct msim_second_stage s = {.queue_mean = 3,
                                  .p99_most = 2,
                                  .mean_last_ms = 2,
                                  .rate_last = 2,
                                  .age_s = 2};

    REQUIRE(msim_history_init(&h, 0) == MSIM_OK);
    s.v[MSIM_COUNTER_NET_MS] = 4;
    s.v[MSIM_COUNTER_WAIT_MS] = 5;
    s.v[MSIM_COUNTER_MEAN_MS] = 1;
    s.v[MSIM_COUNTER_ARRIVALS] = 7;
    s.v[MSIM_COUNTER_P99_MS] = -1;
    for (int i = 0; i < 3; i++) {
        CHECK(isnan(msim_history_usual(&h, 0, MSIM_TRACK_NET)->median));
        msim_history_add(&h, &s);
    }
    CHECK(isnan(msim_history_at(&h, 0, MSIM_TRACK_SELF, 0)));
    CHECK(isnan(msim_history_at(&h, 0, MSIM_TRACK_P99, 0)));
    CHECK_REL(msim_history_at(&h, 0, MSIM_TRACK_MEAN, 0), 0, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_NET)->median, 4, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_NET)->spread, 0.08, 1e-12);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_WAIT)->spread, 0.5, 1e-12);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_QUEUE)->spread, 0.3, 1e-12);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_MEAN)->spread, 0.01, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_REPLICAS)->spread, 0.5, 0);
    for (int t = 0; t < MSIM_TRACKS; t++)
        if (LEAST[t][0] == 0 && t != MSIM_TRACK_SELF && t != MSIM_TRACK_P99 &&
            t != MSIM_TRACK_WAIT_LOG)
            check_same(msim_history_usual(&h, 0, (enum msim_track)t)->spread,
                       LEAST[t][1]);
    CHECK_REL(msim_history_deviation(&h, 0, MSIM_TRACK_NET, 5).z, 0, 0);
    CHECK_REL(msim_history_deviation(&h, 0, MSIM_TRACK_SELF, 5).ahead, 0, 0);
    s.v[MSIM_COUNTER_NET_MS] = 0.01; /* of little, as it is */
    s.v[MSIM_COUNTER_WAIT_MS] = 0.02;
    s.queue_mean = 0.03;
    for (int i = 0; i < 5; i++) /* then of eight seconds most are so */
        msim_history_add(&h, &s);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_NET)->median, 0.01, 0);
    msim_history_release(&h);
    REQUIRE(msim_history_init(&h, 0) == MSIM_OK);
    for (int i = 0; i < 3; i++)
        msim_history_add(&h, &s);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_NET)->spread, 0.005, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_WAIT)->spread, 0.02, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_QUEUE)->spread, 0.1, 0);
    msim_history_release(&h);
}

int main(void)
{
    RUN(test_watch_history__of_random_counters);
    RUN(test_watch_history__of_counters_that_stand);
    return check_summary();
}

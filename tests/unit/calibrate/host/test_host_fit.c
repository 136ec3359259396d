/*
 * Mean times of operators on hosts that were made by hand, and the general host
 * that comes of them. Student's t at 95 % is from any table of it.
 */
#include "calibrate/host/host_fit.h"
#include "tests/check.h"

#include <math.h>

#define T95_1 6.313752
#define T95_2 2.919986
#define T95_3 2.353363
#define T95_6 1.943180

/* ---- series -------------------------------------------------------------- */

static struct msim_series series(double *v, uint32_t n)
{
    return (struct msim_series){v, n, n};
}

static void test_series__means(void)
{
    double four[] = {4, 1, 3, 2}, capped[] = {100, 1, 1}, wide[] = {6, 100, 6},
           core[] = {5, 1, 1}, wait[] = {1, 5.1, 1};
    struct msim_series s = series(four, 4), none = {NULL, 0, 0};

    CHECK_REL(msim_series_quantile(&s, 0.5), 2.5, 1e-12);
    CHECK_REL(msim_series_quantile(&s, 0), 1, 1e-12);
    CHECK_REL(four[3], 4, 0); /* sorted */
    CHECK(isnan(msim_series_quantile(&none, 0.5)));
    CHECK(isnan(msim_series_mean(&none)));
    CHECK(isnan(msim_series_core(&none)));
    s = series(capped, 3); /* at 50, which is more than ten times 1 */
    CHECK_REL(msim_series_mean(&s), 52.0 / 3, 1e-12);
    s = series(wide, 3); /* at 60 */
    CHECK_REL(msim_series_mean(&s), 24, 1e-12);
    s = series(core, 3); /* 4 x 1 + 1 is not too long */
    CHECK_REL(msim_series_core(&s), 7.0 / 3, 1e-12);
    s = series(wait, 3);
    CHECK_REL(msim_series_core(&s), 1, 1e-12);
}

/* Each operator by its own median, times and works each by theirs. */
static void test_cap__ten_times_the_median(void)
{
    struct msim_host_op ops[] = {
        {.key = 3, .self = 1000, .work = 2000},
        {.key = 0, .self = 1000, .work = 1},
        {.key = 1, .self = 6, .work = 2},
        {.key = 0, .self = 1, .work = 7},
        {.key = 1, .self = 100, .work = 2},
        {.key = 0, .self = 1, .work = 100},
        {.key = 1, .self = 6, .work = 49},
    };
    static const double SELF[] = {1000, 50, 6, 1, 60, 1, 6};
    static const double WORK[] = {2000, 1, 2, 7, 2, 70, 49};
    struct msim_host_samples s = {.ops = ops, .n_ops = 7};

    REQUIRE(msim_host_samples_cap(&s, 4) == MSIM_OK); /* no op has key 2 */
    for (int i = 0; i < 7; i++) {
        CHECK_REL(ops[i].self, SELF[i], 1e-12);
        CHECK_REL(ops[i].work, WORK[i], 1e-12);
    }
}

/* ---- the table ----------------------------------------------------------- */

static void test_table__means_by_operator(void)
{
    struct msim_host_op ops[] = {{.key = 0, .self = 10},
                                 {.key = 2, .self = 5},
                                 {.key = 0, .self = 20},
                                 {.key = 2, .self = 7}};
    struct msim_host_made made[] = {{0, MSIM_CALL_LAUNCH},
                                    {0, MSIM_CALL_MALLOC},
                                    {0, MSIM_CALL_FREE},
                                    {0, MSIM_CALL_MEMSET},
                                    {2, MSIM_CALL_LAUNCH}};
    double launch[] = {2, 2, 40, 2}, after[] = {1, 2, 3}, up[20], down[20],
           latency[20], gap[20];
    struct msim_host_samples hosts[2] = {
        {.n_ops = 0}, {.ops = ops, .n_ops = 4, .made = made, .n_made = 5}};
    struct msim_host_samples *s = &hosts[1];
    const struct msim_host_keys keys = {.n = 3};
    struct msim_host_table t;

    for (int i = 0; i < 20; i++) {
        up[i] = latency[i] = 20 - i;
        down[i] = 1 + i;
        gap[i] = i ? 1 : 100;
    }
    s->calls[MSIM_CALL_LAUNCH] = series(launch, 4);
    s->all_calls[MSIM_CALL_MALLOC] = series(up, 20);
    s->all_calls[MSIM_CALL_FREE] = series(down, 19);
    s->after[MSIM_AFTER_AUTOGRAD] = series(after, 3);
    s->latency = series(latency, 20);
    s->gap = series(gap, 20);
    REQUIRE(msim_host_table_make(&t, hosts, 2, &keys) == MSIM_OK);
    CHECK_UINT(t.n_hosts, 2);
    CHECK_UINT(t.n_keys, 3);
    /* the second host's are behind the three of the first */
    CHECK_REL(t.mean[3], 15, 1e-12);
    CHECK_REL(t.mean[4], 0, 0);
    CHECK_REL(t.mean[5], 6, 1e-12);
    CHECK_UINT(t.count[3], 2);
    CHECK_UINT(t.count[4], 0);
    CHECK_UINT(t.count[5], 2);
    /* launches alone: memory is cached, and a memset has no time here */
    CHECK_REL(t.made[3], 2.0 / 2, 1e-12);
    CHECK_REL(t.made[5], 2.0 / 2, 1e-12);
    CHECK_REL(t.call_us[1][MSIM_CALL_LAUNCH], 2, 1e-12);
    /* the tenth of 1 to 20 is between 2 and 3: (20 - 1) / 10 = 1.9 from 1 */
    CHECK_REL(t.call_us[1][MSIM_CALL_MALLOC], 2.9, 1e-12);
    CHECK(isnan(t.call_us[1][MSIM_CALL_FREE])); /* too few */
    CHECK(isnan(t.call_us[1][MSIM_CALL_MEMSET]));
    CHECK(isnan(t.after_us[1][MSIM_AFTER_OPERATOR]));
    CHECK_REL(t.after_us[1][MSIM_AFTER_AUTOGRAD], 2, 1e-12);
    CHECK_REL(t.latency_us[1], 10.5, 1e-12);
    CHECK_REL(t.gap_us[1], 1, 1e-12);
    for (int k = 0; k < 3; k++) {
        CHECK_UINT(t.count[k], 0);
        CHECK_REL(t.mean[k], 0, 0);
    }
    CHECK(isnan(t.latency_us[0]) && isnan(t.gap_us[0]));
    msim_host_table_release(&t);
    CHECK(!t.mean && !t.made && !t.count && !t.hosts);
    s->latency.n = s->gap.n = 19; /* one too few */
    REQUIRE(msim_host_table_make(&t, hosts, 2, &keys) == MSIM_OK);
    CHECK(isnan(t.latency_us[1]) && isnan(t.gap_us[1]));
    msim_host_table_release(&t);
}

/* ---- the fit ------------------------------------------------------------- */

#define KEYS  3
#define HOSTS 5

/* A table of hosts that have nothing but what a test says. */
struct made {
    double mean[HOSTS * KEYS], made[HOSTS * KEYS];
    uint32_t count[HOSTS * KEYS];
    uint8_t classes[KEYS];
    struct msim_host_keys keys;
    struct msim_host_samples hosts[HOSTS];
    struct msim_host_table t;
};

static void begin(struct made *m, uint32_t n_hosts)
{
    *m = (struct made){.keys = {.n = KEYS}};
    m->keys.classes = m->classes;
    m->t = (struct msim_host_table){.hosts = m->hosts,
                                    .keys = &m->keys,
                                    .n_hosts = n_hosts,
                                    .n_keys = KEYS,
                                    .mean = m->mean,
                                    .made = m->made,
                                    .count = m->count};
    for (int h = 0; h < HOSTS; h++) {
        for (int k = 0; k < MSIM_HOST_CALL_KINDS; k++)
            m->t.call_us[h][k] = NAN;
        for (int a = 0; a < MSIM_AFTER_KINDS; a++)
            m->t.after_us[h][a] = NAN;
        m->t.latency_us[h] = m->t.gap_us[h] = NAN;
    }
}

static void called(struct made *m, int host, int key, uint32_t n, double us)
{
    m->count[host * KEYS + key] = n;
    m->mean[host * KEYS + key] = us;
    m->made[host * KEYS + key] = us / 10;
}

/* Operators of 10 and 40 us, hosts of half and of twice the time: the product
 * of both is what was measured, and comes out again. A third host is not used.
 * Held out, each is predicted by the other at a quarter or four times. */
static void test_fit__factors_of_operators_and_hosts(void)
{
    static const bool USE[] = {true, true, false};
    struct msim_host_fit f;
    struct made m;

    begin(&m, 3);
    m.classes[1] = MSIM_HOST_COMPOSITE;
    called(&m, 0, 0, 10, 5);
    called(&m, 0, 1, 30, 20);
    called(&m, 1, 0, 30, 20);
    called(&m, 1, 1, 10, 80);
    called(&m, 2, 0, 1000, 77);
    called(&m, 2, 2, 1000, 77);
    REQUIRE(msim_host_fit_make(&f, &m.t, USE, MSIM_NONE) == MSIM_OK);
    CHECK_REL(f.speed[0], 0.5, 1e-6);
    CHECK_REL(f.speed[1], 2, 1e-6);
    CHECK(isnan(f.speed[2]));
    CHECK_REL(f.self[0], 10, 1e-6);
    CHECK_REL(f.self[1], 40, 1e-6);
    CHECK_REL(f.made[0], 1, 1e-6);
    CHECK_REL(f.made[1], 4, 1e-6);
    CHECK_REL(f.made[2], 0, 0);
    CHECK_REL(f.self[2], 0, 0); /* on no host that is used */
    /* n / (n + 10) of each host */
    CHECK_REL(f.weight[0], 0.5 + 0.75, 1e-12);
    CHECK_REL(f.weight[1], 0.75 + 0.5, 1e-12);
    CHECK_REL(f.weight[2], 0, 0);
    CHECK(msim_host_fit_knows(&f, 0));
    CHECK(!msim_host_fit_knows(&f, 2));
    CHECK_REL(f.class_self[MSIM_HOST_LEAF], 10, 1e-6);
    CHECK_REL(f.class_self[MSIM_HOST_COMPOSITE], 40, 1e-6);
    CHECK_REL(f.class_made[MSIM_HOST_COMPOSITE], 4, 1e-6);
    CHECK_REL(f.class_self[MSIM_HOST_LABEL], 0, 0);
    CHECK_REL(f.factor, pow(4, T95_2), 1e-5);
    msim_host_fit_release(&f);
    CHECK(!f.self && !f.made && !f.weight);
}

/* A class is the mean of what it knows, by weight; half a weight is enough to
 * be known. Times below 0 are none. */
static void test_fit__classes(void)
{
    static const bool USE[] = {true, true};
    struct msim_host_fit f;
    struct made m;

    begin(&m, 2);
    called(&m, 0, 0, 30, 10); /* 0.75 */
    called(&m, 0, 1, 10, 40); /* 0.5 */
    called(&m, 1, 2, 9, 7);   /* less */
    REQUIRE(msim_host_fit_make(&f, &m.t, USE, MSIM_NONE) == MSIM_OK);
    CHECK(msim_host_fit_knows(&f, 1));
    CHECK(!msim_host_fit_knows(&f, 2));
    CHECK_REL(f.class_self[MSIM_HOST_LEAF] / f.self[0], (0.75 + 0.5 * 4) / 1.25,
              1e-6);
    CHECK_REL(f.class_made[MSIM_HOST_LEAF] / f.made[0], (0.75 + 0.5 * 4) / 1.25,
              1e-6);
    msim_host_fit_release(&f);
    called(&m, 0, 0, 30, -10);
    m.classes[2] = MSIM_HOST_COMPOSITE;
    called(&m, 1, 2, 30, 7);
    REQUIRE(msim_host_fit_make(&f, &m.t, USE, MSIM_NONE) == MSIM_OK);
    CHECK_REL(f.self[0], 0, 0);
    CHECK(f.self[2] > 0);
    CHECK_REL(f.class_self[MSIM_HOST_COMPOSITE], f.self[2], 1e-12);
    msim_host_fit_release(&f);
}

static void check_figure(struct msim_host_figure f, uint32_t hosts, double us,
                         double factor)
{
    CHECK_UINT(f.hosts, hosts);
    CHECK_REL(f.us, us, 1e-6);
    CHECK_REL(f.low_us, us / factor, 1e-5);
    CHECK_REL(f.high_us, us * factor, 1e-5);
}

/* In logarithms to base 2. Launches 0 1 2 3: mean 1.5, squares 5 around it.
 * Copies 0 0 3: mean 1, squares 6; others 0 2: squares 2. These, and what one
 * host alone did, have the scatter of all kinds, 13 of 6 degrees of freedom.
 * The fifth host is left out of all, the fourth of pauses. */
static void test_fit__figures_over_hosts(void)
{
    static const bool USE[] = {true, true, true, false, true};
    static const double LAUNCH[] = {1, 2, 4, 8, 1000};
    static const double COPY[] = {1, 1, 8, NAN, 1000};
    const double e = log(2);
    struct msim_host_fit f;
    struct made m;

    begin(&m, 5);
    for (int h = 0; h < 5; h++) {
        called(&m, h, 0, 30, 10);
        m.t.call_us[h][MSIM_CALL_LAUNCH] = LAUNCH[h];
        m.t.call_us[h][MSIM_CALL_MEMCPY] = COPY[h];
    }
    m.t.call_us[0][MSIM_CALL_OTHER] = 1;
    m.t.call_us[1][MSIM_CALL_OTHER] = 4;
    m.t.call_us[2][MSIM_CALL_MEMSET] = 2;
    m.t.latency_us[0] = 2;
    m.t.latency_us[3] = 8;
    m.t.latency_us[4] = 1000;
    m.t.gap_us[1] = 0.01;
    m.t.after_us[2][MSIM_AFTER_OPERATOR] = 3;
    m.t.after_us[3][MSIM_AFTER_OPERATOR] = 9;
    m.t.after_us[4][MSIM_AFTER_OPERATOR] = 9;
    REQUIRE(msim_host_fit_make(&f, &m.t, USE, 4) == MSIM_OK);
    check_figure(f.calls[MSIM_CALL_LAUNCH], 4, pow(2, 1.5),
                 exp(T95_3 * sqrt(5.0 / 3 * 1.25) * e));
    check_figure(f.calls[MSIM_CALL_MEMCPY], 3, 2,
                 exp(T95_6 * sqrt(13.0 / 6 * 4 / 3) * e));
    check_figure(f.calls[MSIM_CALL_OTHER], 2, 2,
                 exp(T95_6 * sqrt(13.0 / 6 * 1.5) * e));
    check_figure(f.calls[MSIM_CALL_MEMSET], 1, 2,
                 exp(T95_6 * sqrt(13.0 / 6 * 2) * e));
    CHECK_UINT(f.calls[MSIM_CALL_FREE].hosts, 0);
    CHECK_REL(f.calls[MSIM_CALL_FREE].us, 0, 0);
    check_figure(f.latency, 2, 4, exp(T95_1 * sqrt(2 * 1.5) * e));
    check_figure(f.gap, 1, 0.05, 2); /* at least; a factor of two */
    check_figure(f.after[MSIM_AFTER_OPERATOR], 1, 3, 2);
    CHECK_UINT(f.after[MSIM_AFTER_AUTOGRAD].hosts, 0);
    CHECK_REL(f.factor, 1, 1e-9); /* all hosts are alike */
    msim_host_fit_release(&f);
}

/* ---- scores -------------------------------------------------------------- */

/*
 * Three operators, 2, 3 and 4 times, at 11, 8 and 2 us: 54. The first is known
 * at 10 us; the second is not, and its class has 7; the third is a label, and
 * its class has 1: 20 + 21 + 4 = 45. Calls made are 1 us each, 9 in all, of
 * which 2 + 1.5 + 1 are predicted; five pauses of 2 us are predicted at 3.
 */
static void test_evaluate__totals_and_steps(void)
{
    double self[] = {10, 20, 30}, made[] = {1, 2, 3}, weight[] = {0.5, 0.49, 3};
    struct msim_host_fit f = {
        .self = self, .made = made, .weight = weight, .factor = 1.25};
    struct msim_host_op ops[] = {
        {.key = 0, .step = 0, .self = 11}, {.key = 1, .step = 0, .self = 4},
        {.key = 2, .step = 1, .self = 8},  {.key = 0, .step = MSIM_NONE},
        {.key = 0, .step = 3, .self = 12},
    };
    struct msim_host_score v;
    struct made m;

    begin(&m, 1);
    m.classes[2] = MSIM_HOST_LABEL;
    f.class_self[MSIM_HOST_LEAF] = 7;
    f.class_self[MSIM_HOST_LABEL] = 1;
    f.class_made[MSIM_HOST_LEAF] = 0.5;
    f.class_made[MSIM_HOST_LABEL] = 0.25;
    f.after[MSIM_AFTER_OPERATOR].us = 3;
    called(&m, 0, 0, 2, 11);
    called(&m, 0, 1, 3, 8);
    called(&m, 0, 2, 4, 2);
    m.made[0] = m.made[1] = m.made[2] = 1;
    m.hosts[0].after[MSIM_AFTER_OPERATOR].n = 5;
    m.t.after_us[0][MSIM_AFTER_OPERATOR] = 2;
    m.hosts[0].ops = ops;
    m.hosts[0].n_ops = 5;
    m.hosts[0].n_steps = 4;
    REQUIRE(msim_host_evaluate(&v, &f, &m.t, 0) == MSIM_OK);
    CHECK_REL(v.self, 54, 1e-12);
    CHECK_REL(v.predicted, 45, 1e-12);
    CHECK_REL(v.whole, 54 + 9 + 10, 1e-12);
    CHECK_REL(v.whole_predicted, 45 + 4.5 + 15, 1e-12);
    CHECK(v.inside && v.whole_inside);
    /* 15 us at 17, 8 us at 1, none, 12 us at 10 */
    CHECK_UINT(v.steps, 3);
    CHECK_UINT(v.steps_inside, 2);
    CHECK_REL(v.step_error, (2.0 / 15 + 7.0 / 8 + 2.0 / 12) / 3, 1e-12);
    f.factor = 1.15; /* 45 x 1.15 is less than 54; 64.5 x 1.15 not than 73 */
    REQUIRE(msim_host_evaluate(&v, &f, &m.t, 0) == MSIM_OK);
    CHECK(!v.inside && v.whole_inside);
    CHECK_UINT(v.steps_inside, 1);
    self[0] = 30; /* 85 for 54: too much is outside, too */
    f.factor = 1.5;
    REQUIRE(msim_host_evaluate(&v, &f, &m.t, 0) == MSIM_OK);
    CHECK(!v.inside && v.whole_inside);
    m.hosts[0].n_steps = m.hosts[0].n_ops = 0;
    REQUIRE(msim_host_evaluate(&v, &f, &m.t, 0) == MSIM_OK);
    CHECK_UINT(v.steps, 0);
    CHECK(isnan(v.step_error));
}

int main(void)
{
    RUN(test_series__means);
    RUN(test_cap__ten_times_the_median);
    RUN(test_table__means_by_operator);
    RUN(test_fit__factors_of_operators_and_hosts);
    RUN(test_fit__classes);
    RUN(test_fit__figures_over_hosts);
    RUN(test_evaluate__totals_and_steps);
    return check_summary();
}

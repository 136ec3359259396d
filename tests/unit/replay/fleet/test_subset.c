/*
 * tests/unit/replay/fleet/test_subset.c - which points are chosen.
 */
#include "replay/fleet/fleet_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define DIMS 3
#define MANY 40

struct made_points {
    double at[MANY * DIMS], mass[MANY];
    uint32_t n;
};

static void add(struct made_points *m, double a, double b, double c,
                double mass)
{
    m->at[m->n * DIMS] = a;
    m->at[m->n * DIMS + 1] = b;
    m->at[m->n * DIMS + 2] = c;
    m->mass[m->n++] = mass;
}

static struct msim_points points_of(const struct made_points *m)
{
    return (struct msim_points){m->at, m->mass, m->n, DIMS};
}

/* Knuth's generator. */
static double next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 33) / 2147483648.0;
}

/* Shares of `n` points, their masses summing to 1. */
static struct made_points random_points(uint64_t seed, uint32_t n)
{
    struct made_points m = {.n = 0};
    double all = 0;

    for (uint32_t i = 0; i < n; i++) {
        double a = next(&seed), b = next(&seed), c = next(&seed);

        add(&m, a / (a + b + c), b / (a + b + c), c / (a + b + c), next(&seed));
        all += m.mass[i];
    }
    for (uint32_t i = 0; i < n; i++)
        m.mass[i] /= all;
    return m;
}

/* Three clusters; the middle of each is its second point. */
static struct made_points clusters(void)
{
    struct made_points m = {.n = 0};

    for (int c = 0; c < 3; c++)
        for (int i = -1; i <= 1; i++) {
            double at[3] = {0.1, 0.1, 0.1};

            at[c] = 0.8 + 0.05 * i;
            at[(c + 1) % 3] -= 0.05 * i;
            add(&m, at[0], at[1], at[2], c == 0 ? 0.2 : 2.0 / 30);
        }
    return m;
}

static void test_subset__one_of_each_cluster(void)
{
    struct made_points m = clusters();
    struct msim_points p = points_of(&m);
    struct msim_subset s;

    for (int way = 0; way < 2; way++) {
        CHECK_INT(
            msim_subset_choose(&s, &p, 3, way ? MSIM_SUBSET_EFFORT : 0, 3),
            MSIM_OK);
        CHECK_UINT(s.chosen[0], 1);
        CHECK_UINT(s.chosen[1], 4);
        CHECK_UINT(s.chosen[2], 7);
        CHECK_REL(s.weight[0], 0.6, 1e-4);
        CHECK_REL(s.weight[1], 0.2, 1e-4);
        CHECK_REL(s.weight[2], 0.2, 1e-4);
        CHECK(s.error < 1e-9);
        CHECK_REL(s.spread, 2.0 / 3 * 2 * 0.05 * 0.05, 1e-9);
        for (uint32_t i = 0; i < m.n; i++)
            CHECK_UINT(s.nearest[i], i / 3);
        msim_subset_release(&s);
    }
}

/* The mean counts, too: of two points as far from all others, the one with
 * whose help the mixture is nearer. */
static void test_subset__mean_decides(void)
{
    struct made_points m = {.n = 0};
    struct msim_points p;
    struct msim_subset s;

    add(&m, 0, 1, 0, 0.25);
    add(&m, 1, 0, 0, 0.25);
    add(&m, 0.4, 0.4, 0.2, 0.25);
    add(&m, 0.5, 0.5, 0, 0.25);
    p = points_of(&m);
    CHECK_INT(msim_subset_choose(&s, &p, 1, MSIM_SUBSET_EFFORT, 3), MSIM_OK);
    CHECK_UINT(s.chosen[0], 3);
    CHECK_REL(s.weight[0], 1, 0);
    CHECK(s.error > 0);
    msim_subset_release(&s);
}

static double fault(const struct msim_subset *s)
{
    return s->spread + s->error;
}

/* Exchanges seldom miss the best of all choices, and never by much. */
static void test_subset__exchange_and_all(void)
{
    int equal = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct made_points m = random_points(seed, 15);
        struct msim_points p = points_of(&m);
        struct msim_subset all, some;
        uint32_t k = 1 + (uint32_t)(seed % 5);

        CHECK_INT(msim_subset_choose(&all, &p, k, 1e9, 3), MSIM_OK);
        CHECK_INT(msim_subset_choose(&some, &p, k, 0, 3), MSIM_OK);
        CHECK(fault(&some) >= fault(&all) * (1 - 1e-9));
        CHECK(fault(&some) <= fault(&all) * 1.15);
        equal += fault(&some) <= fault(&all) * (1 + 1e-9);
        msim_subset_release(&all);
        msim_subset_release(&some);
    }
    CHECK(equal >= 55);
}

/* Starts are tried in turn by any number of threads, with one result. */
static void test_subset__threads(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct made_points m = random_points(seed, 15);
        struct msim_points p = points_of(&m);
        struct msim_subset one, some;

        CHECK_INT(msim_subset_choose(&one, &p, 4, 0, 1), MSIM_OK);
        for (uint32_t threads = 2; threads < 11; threads += 4) {
            CHECK_INT(msim_subset_choose(&some, &p, 4, 0, threads), MSIM_OK);
            CHECK(!memcmp(some.chosen, one.chosen, 4 * sizeof(*one.chosen)));
            CHECK(!memcmp(some.weight, one.weight, 4 * sizeof(*one.weight)));
            msim_subset_release(&some);
        }
        msim_subset_release(&one);
    }
}

/* Spread and error of points `a` and `b`, the mixture from a fine grid. */
static double fault_of_two(const struct made_points *m, uint32_t a, uint32_t b)
{
    const double *x = m->at + a * DIMS, *y = m->at + b * DIMS;
    double spread = 0, error = 9, mean[DIMS] = {0};

    for (uint32_t i = 0; i < m->n; i++) {
        const double *z = m->at + i * DIMS;
        double to_x = 0, to_y = 0;

        for (int d = 0; d < DIMS; d++) {
            to_x += (x[d] - z[d]) * (x[d] - z[d]);
            to_y += (y[d] - z[d]) * (y[d] - z[d]);
            mean[d] += m->mass[i] * z[d];
        }
        spread += m->mass[i] * fmin(to_x, to_y);
    }
    for (int step = 0; step <= 10000; step++) {
        double w = step / 10000.0, sum = 0;

        for (int d = 0; d < DIMS; d++) {
            double off = w * x[d] + (1 - w) * y[d] - mean[d];

            sum += off * off;
        }
        error = fmin(error, sum);
    }
    return spread + error;
}

static void test_subset__least(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct made_points m = random_points(seed, 12);
        struct msim_points p = points_of(&m);
        struct msim_subset best;
        double least = 9;

        CHECK_INT(msim_subset_choose(&best, &p, 2, 1e9, 3), MSIM_OK);
        for (uint32_t a = 0; a < m.n; a++)
            for (uint32_t b = 0; b < a; b++)
                least = fmin(least, fault_of_two(&m, a, b));
        CHECK_REL(fault(&best), least, 1e-5);
        CHECK_REL(fault_of_two(&m, best.chosen[0], best.chosen[1]), least,
                  1e-12);
        msim_subset_release(&best);
    }
}

/* The same points in another order: the same choice. */
static void test_subset__order(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct made_points m = random_points(seed, MANY), turned = {.n = 0};
        struct msim_points p = points_of(&m), q;
        struct msim_subset a, b;

        for (uint32_t i = 0; i < m.n; i++) {
            uint32_t from = (i * 7 + 3) % m.n;

            add(&turned, m.at[from * DIMS], m.at[from * DIMS + 1],
                m.at[from * DIMS + 2], m.mass[from]);
        }
        q = points_of(&turned);
        CHECK_INT(msim_subset_choose(&a, &p, 3, 1e9, 3), MSIM_OK);
        CHECK_INT(msim_subset_choose(&b, &q, 3, 1e9, 3), MSIM_OK);
        for (uint32_t c = 0; c < 3; c++) {
            bool found = false;

            for (uint32_t d = 0; d < 3; d++)
                if ((b.chosen[d] * 7 + 3) % m.n == a.chosen[c]) {
                    found = true;
                    CHECK(fabs(b.weight[d] - a.weight[c]) < 1e-4);
                }
            CHECK(found);
        }
        msim_subset_release(&a);
        msim_subset_release(&b);
    }
}

/* All points chosen: nothing is lost. Equal points: the first. */
static void test_subset__edges(void)
{
    struct made_points m = random_points(3, 6), same = {.n = 0};
    struct msim_points p = points_of(&m), q;
    struct msim_subset s;

    CHECK_INT(msim_subset_choose(&s, &p, 6, 0, 3), MSIM_OK);
    for (uint32_t i = 0; i < 6; i++) {
        CHECK_UINT(s.chosen[i], i);
        CHECK_UINT(s.nearest[i], i);
    }
    CHECK(s.spread < 1e-15 && s.error < 1e-9);
    msim_subset_release(&s);
    for (int i = 0; i < 5; i++)
        add(&same, 0.2, 0.3, 0.5, 0.2);
    q = points_of(&same);
    for (int way = 0; way < 2; way++) {
        CHECK_INT(msim_subset_choose(&s, &q, 2, way ? 1e9 : 0, 3), MSIM_OK);
        CHECK_UINT(s.chosen[0], 0);
        CHECK_UINT(s.chosen[1], 1);
        CHECK_REL(s.weight[0] + s.weight[1], 1, 1e-12);
        msim_subset_release(&s);
    }
}

int main(void)
{
    RUN(test_subset__one_of_each_cluster);
    RUN(test_subset__mean_decides);
    RUN(test_subset__exchange_and_all);
    RUN(test_subset__threads);
    RUN(test_subset__least);
    RUN(test_subset__order);
    RUN(test_subset__edges);
    return check_summary();
}

/*
 * Which jobs stand for a fleet that was made by hand: their weights, for whom
 * each stands, and how far what they are together is from the fleet.
 */
#include "replay/fleet/fleet.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define JOBS 6

struct made {
    struct msim_fleet_job jobs[JOBS];
    struct msim_fleet fleet;
};

/* Job `i` spends `a` of its time in the first kind and the rest in the second,
 * and is `weight` of the fleet. */
static void add(struct made *m, double a, double weight)
{
    struct msim_fleet_job *j = &m->jobs[m->fleet.n_jobs++];

    m->fleet.jobs = m->jobs;
    j->share[0] = a;
    j->share[1] = 1 - a;
    j->weight = weight;
    m->fleet.share[0] += weight * a;
    m->fleet.share[1] += weight * (1 - a);
}

/* All jobs stand for themselves: weights and shares are the fleet's. */
static void test_selection__of_all(void)
{
    struct made m = {.fleet = {.n_jobs = 0}};
    struct msim_selection *s;

    add(&m, 0.1, 0.2);
    add(&m, 0.5, 0.5);
    add(&m, 0.9, 0.3);
    REQUIRE(msim_selection_new(&s, &m.fleet, 3, 2) == MSIM_OK);
    CHECK_UINT(s->n, 3);
    CHECK_REL(s->share[0], m.fleet.share[0], 1e-9);
    CHECK(s->largest >= 0 && s->largest < 1e-9);
    /* what stands for most first */
    CHECK_UINT(s->chosen[0].job, 1);
    CHECK_UINT(s->chosen[1].job, 2);
    CHECK_UINT(s->chosen[2].job, 0);
    CHECK_REL(s->chosen[0].stands_for, 0.5, 1e-12);
    CHECK_REL(s->chosen[1].stands_for, 0.3, 1e-12);
    CHECK_REL(s->chosen[2].stands_for, 0.2, 1e-12);
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_UINT(s->chosen[i].jobs, 1);
        CHECK_UINT(s->chosen[s->stood_for_by[i]].job, i);
        CHECK_REL(s->distance[i], 0, 0);
    }
    msim_selection_free(s);
    msim_selection_free(NULL);
}

/*
 * Two crowds, at 0.1 and at 0.9, and two jobs: one of each. The fleet has
 * 0.25 x 0.1 + 0.15 x 0.12 + 0.6 x 0.9 = 0.583 of the first kind.
 */
static void test_selection__one_of_each_crowd(void)
{
    struct made m = {.fleet = {.n_jobs = 0}};
    struct msim_selection *s;
    uint32_t few, many;
    double sum = 0;

    add(&m, 0.1, 0.25);
    add(&m, 0.9, 0.2);
    add(&m, 0.9, 0.2);
    add(&m, 0.9, 0.2);
    add(&m, 0.12, 0.15);
    REQUIRE(msim_selection_new(&s, &m.fleet, 2, 2) == MSIM_OK);
    few = s->chosen[1].job;
    many = s->chosen[0].job;
    CHECK(many >= 1 && many <= 3);
    CHECK(few == 0 || few == 4);
    CHECK_REL(s->chosen[0].stands_for, 0.6, 1e-12);
    CHECK_UINT(s->chosen[0].jobs, 3);
    CHECK_REL(s->chosen[1].stands_for, 0.4, 1e-12);
    CHECK_UINT(s->chosen[1].jobs, 2);
    for (uint32_t i = 0; i < 5; i++)
        CHECK_UINT(s->stood_for_by[i], i == 0 || i == 4 ? 1 : 0);
    /* both kinds differ by 0.02 */
    CHECK_REL(s->distance[few == 0 ? 4 : 0], 0.02 * sqrt(2), 1e-9);
    CHECK_REL(s->distance[few], 0, 0);
    CHECK_REL(s->distance[2], 0, 0);
    /* what is said of the mixture is that of its weights */
    for (uint32_t i = 0; i < 2; i++)
        sum += s->chosen[i].weight * m.jobs[s->chosen[i].job].share[0];
    CHECK_REL(s->chosen[0].weight + s->chosen[1].weight, 1, 1e-9);
    CHECK_REL(s->share[0], sum, 1e-12);
    CHECK_REL(s->share[1], 1 - sum, 1e-9);
    /* between 0.1 or 0.12 and 0.9 lies 0.583: nothing differs */
    CHECK_REL(s->share[0], 0.583, 1e-6);
    CHECK(s->largest < 1e-6);
    msim_selection_free(s);
}

/* One job for a fleet of 0.2 and of 0.6, a quarter and three quarters: 0.5 of
 * the first kind, of which the heavier one is 0.1 off; of 0.3 in the third
 * kind, which that job alone has, 0.225 are the fleet's. */
static void test_selection__worst_kind(void)
{
    struct made m = {.fleet = {.n_jobs = 0}};
    struct msim_selection *s;

    add(&m, 0.2, 0.25);
    add(&m, 0.6, 0.75);
    m.jobs[1].share[1] = 0.1;
    m.jobs[1].share[2] = 0.3;
    m.fleet.share[1] = 0.25 * 0.8 + 0.75 * 0.1;
    m.fleet.share[2] = 0.75 * 0.3;
    REQUIRE(msim_selection_new(&s, &m.fleet, 1, 2) == MSIM_OK);
    CHECK_UINT(s->chosen[0].job, 1);
    CHECK_REL(s->chosen[0].weight, 1, 1e-12);
    CHECK_REL(s->chosen[0].stands_for, 1, 1e-12);
    CHECK_UINT(s->chosen[0].jobs, 2);
    CHECK_REL(s->share[0], 0.6, 1e-12);
    CHECK_REL(s->share[2], 0.3, 1e-12);
    CHECK_UINT(s->worst, 1); /* 0.1 for 0.275, less than the fleet */
    CHECK_REL(s->largest, 0.175, 1e-12);
    CHECK_REL(s->distance[0], sqrt(0.4 * 0.4 + 0.7 * 0.7 + 0.3 * 0.3), 1e-12);
    msim_selection_free(s);
}

/* Nothing differs from a fleet of one job: the first kind is as good as any. */
static void test_selection__of_one(void)
{
    struct made m = {.fleet = {.n_jobs = 0}};
    struct msim_selection *s;

    add(&m, 0.25, 1);
    REQUIRE(msim_selection_new(&s, &m.fleet, 1, 2) == MSIM_OK);
    CHECK_UINT(s->worst, 0);
    CHECK_REL(s->largest, 0, 0);
    msim_selection_free(s);
}

/* Equal parts are in the order of jobs. */
static void test_selection__ties(void)
{
    struct made m = {.fleet = {.n_jobs = 0}};
    struct msim_selection *s;

    for (int i = 0; i < 4; i++)
        add(&m, 0.2 * i, 0.25);
    REQUIRE(msim_selection_new(&s, &m.fleet, 4, 2) == MSIM_OK);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_UINT(s->chosen[i].job, i);
    msim_selection_free(s);
}

int main(void)
{
    RUN(test_selection__of_all);
    RUN(test_selection__one_of_each_crowd);
    RUN(test_selection__worst_kind);
    RUN(test_selection__of_one);
    RUN(test_selection__ties);
    return check_summary();
}

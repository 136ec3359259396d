/*
 * tests/unit/calibrate/collective/test_coll_covariance.c - two points that
 * differ in one thing: the correlation is that thing's.
 */
#include "calibrate/collective/coll_covariance.h"

#include "tests/check.h"

/* One component of sd 2 in the wires' regime, with a correlation of its own for
 * every attribute. */
static const struct msim_coll_process PROCESS = {
    .n_components = 1,
    .components = {{.regime = MSIM_COLL_WIRE,
                    .shape = MSIM_COLL_ROUGH,
                    .log_sd = 2,
                    .size = 3,
                    .ranks = 2,
                    .nodes = 2,
                    .gpu = 0.9,
                    .generation = 0.8,
                    .source = 0.7,
                    .stack = 0.6,
                    .mode = 0.5,
                    .collective = 0.4}}};

static struct msim_sample samples[2] = {{.framework = "one"},
                                        {.framework = "two"}};
static struct msim_coll_gpu gpus[3] = {
    {.generation = "old"}, {.generation = "old"}, {.generation = "new"}};
static struct msim_coll_group groups[2] = {{.first = &samples[0]},
                                           {.first = &samples[1]}};
static const struct msim_coll_points ALL = {.gpus = gpus, .groups = groups};

static struct msim_coll_point point(void)
{
    struct msim_coll_point p = {.wire_share = 1};

    p.work.u.coll.ranks = 8;
    p.work.u.coll.nodes = 1;
    p.work.u.coll.bytes = 1 << 20;
    p.work.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    return p;
}

static double with(const struct msim_coll_point *other)
{
    struct msim_coll_point p = point();

    return msim_coll_covariance(&PROCESS, &ALL, &p, other);
}

/* Equal points: the variance, 2 squared. */
static void test_coll_covariance__equal(void)
{
    struct msim_coll_point p = point();

    CHECK_REL(with(&p), 4, 1e-12);
}

/* Another GPU of the generation is 0.9 alike; of another generation, both
 * factors count: 0.9 x 0.8. */
static void test_coll_covariance__gpus(void)
{
    struct msim_coll_point p = point();

    p.gpu = 1;
    CHECK_REL(with(&p), 4 * 0.9, 1e-12);
    p.gpu = 2;
    CHECK_REL(with(&p), 4 * 0.9 * 0.8, 1e-12);
}

static void test_coll_covariance__attributes(void)
{
    struct msim_coll_point p = point();

    p.source = 1;
    CHECK_REL(with(&p), 4 * 0.7, 1e-12);
    p = point();
    p.group = 1;
    CHECK_REL(with(&p), 4 * 0.6, 1e-12);
    p = point();
    p.eager = true;
    CHECK_REL(with(&p), 4 * 0.5, 1e-12);
    p = point();
    p.work.u.coll.collective = MSIM_COLL_BROADCAST;
    CHECK_REL(with(&p), 4 * 0.4, 1e-12);
}

/* Three octaves of size at a length of three: one e-fold. Half of a point's
 * time in the wires: half of the covariance. */
static void test_coll_covariance__sizes_and_shares(void)
{
    struct msim_coll_point p = point();

    p.work.u.coll.bytes = 8 << 20;
    CHECK_REL(with(&p), 4 * 0.36787944117144233, 1e-12);
    p = point();
    p.wire_share = 0.5;
    CHECK_REL(with(&p), 2, 1e-12);
}

int main(void)
{
    RUN(test_coll_covariance__equal);
    RUN(test_coll_covariance__gpus);
    RUN(test_coll_covariance__attributes);
    RUN(test_coll_covariance__sizes_and_shares);
    return check_summary();
}

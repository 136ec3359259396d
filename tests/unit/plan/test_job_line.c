/*
 * tests/unit/plan/test_job_line.c - memory within a step: it comes to the peak,
 * goes back to what is always held, and follows the order of passes.
 */
#include "plan/memory/job_memory.h"
#include "tests/check.h"

#include <math.h>

/* Round numbers: 30 held, 8 of activations, 2 of loss, 5 of temporaries. */
static struct msim_memory made(void)
{
    return (struct msim_memory){.parameters = 10,
                                .gradients = 8,
                                .optimizer = 12,
                                .activations = 8,
                                .loss = 2,
                                .temporary = 5,
                                .peak = 40,
                                .most = 40};
}

static struct msim_strategy strategy(int64_t pp, int64_t batches)
{
    return (struct msim_strategy){.pp = pp, .grad_accum = batches};
}

static double most_of(const struct msim_job_line *l)
{
    double most = 0;

    for (uint32_t i = 0; i < l->n; i++) {
        const struct msim_job_line_point *p = &l->points[i];

        most =
            fmax(most, l->held + p->activations + fmax(p->loss, p->temporary));
        CHECK(!i || p->at >= l->points[i - 1].at - 1e-12);
        CHECK(p->at >= 0 && p->at <= 1);
    }
    return most;
}

/* Two micro batches of 6 units in 0.6 of the step: forward passes end at 0.1
 * and 0.4, backward ones at 0.3 and 0.6; the optimizer has the last 0.2. */
static void test_job_line__one_stage(void)
{
    struct msim_memory m = made();
    struct msim_strategy s = strategy(1, 2);
    struct msim_job_line l;

    msim_job_line_find(&l, &m, &s, 0.6, 0.2);
    CHECK_REL(l.held, 30, 1e-12);
    CHECK_REL(most_of(&l), 40, 1e-12);
    CHECK_INT(l.batches, 2);
    CHECK_INT(l.n, 1 + 2 * 4 + 4);
    CHECK_REL(l.points[1].at, 0.1, 1e-9);
    CHECK_REL(l.points[1].activations, 8, 1e-12);
    CHECK_REL(l.points[2].loss, 2, 1e-12);
    CHECK(l.points[2].temporary == 0);
    CHECK_REL(l.points[4].at, 0.3, 1e-9);
    CHECK(l.points[4].activations < 1e-12);
    CHECK_REL(l.points[5].at, 0.4, 1e-9);
    CHECK_REL(l.points[9].at, 0.8, 1e-9);
    CHECK_REL(l.points[10].temporary, 5, 1e-12);
    CHECK_REL(l.points[11].at, 1, 1e-12);
}

/* Backward takes two forwards, and three where all is computed again: two micro
 * batches of 8 units in 0.8 of the step. */
static void test_job_line__recomputes(void)
{
    static const double AT[] = {0, 0.1, 0.1, 0.1, 0.4, 0.5, 0.5, 0.5, 0.8};
    struct msim_memory m = made();
    struct msim_strategy s = strategy(1, 2);
    struct msim_job_line l;

    s.recompute = MSIM_RECOMPUTE_FULL;
    msim_job_line_find(&l, &m, &s, 0.8, 0.1);
    for (uint32_t i = 0; i < sizeof(AT) / sizeof(AT[0]); i++)
        CHECK(fabs(l.points[i].at - AT[i]) < 1e-12);
    s.recompute = MSIM_RECOMPUTE_SELECTIVE;
    msim_job_line_find(&l, &m, &s, 0.6, 0.1);
    CHECK_REL(l.points[4].at, 0.3, 1e-9);
    /* An update that is said to begin before the passes end waits for them. */
    msim_job_line_find(&l, &m, &s, 0.6, 0.7);
    CHECK_REL(l.points[9].at, 0.6, 1e-9);
}

/* Four micro batches are in flight before the first backward pass: each holds a
 * quarter. A thousand of them are drawn as 32. */
static void test_job_line__stages(void)
{
    struct msim_memory m = made();
    struct msim_strategy s = strategy(4, 1000);
    struct msim_job_line l;

    m.loss = 0;
    m.peak = 38;
    msim_job_line_find(&l, &m, &s, 0.9, 0.05);
    CHECK_REL(most_of(&l), 38, 1e-12);
    CHECK_INT(l.batches, 32);
    CHECK_REL(l.points[1].activations, 2, 1e-12);
    CHECK_REL(l.points[4].activations, 8, 1e-12);
    CHECK_REL(l.points[5].activations, 6, 1e-12);
    CHECK(l.points[l.n - 1].activations < 1e-9);
}

int main(void)
{
    RUN(test_job_line__one_stage);
    RUN(test_job_line__recomputes);
    RUN(test_job_line__stages);
    return check_summary();
}

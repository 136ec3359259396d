/* predict/whatif/deviate.c: periods while one thing deviates. */
#include "predict/whatif/whatif.h"

#include "tests/unit/made_job.h"

#include <math.h>
#include <stdlib.h>

#define FAMILY 3u

/*
 * Kernels of 10 and 90 us, one after the other, that nothing waits for: they
 * end the run. The first is of the family, from 5 us shorter to 20 us longer.
 */
struct deviating_job {
    struct made_job made;
    struct msim_outcome outcome;
    struct msim_ratio_side side;
    struct msim_deviating *job;
    double middle_us;
};

static uint32_t first_kernel(const struct msim_graph *g)
{
    uint32_t t = 0;

    while (t + 1 < g->n_tasks && g->kind[t] != MSIM_TASK_KERNEL)
        t++;
    return t;
}

static void set_up(struct deviating_job *x)
{
    struct made m = made_trace(0, 1);
    struct msim_costs *c;
    uint32_t k;

    memset(x, 0, sizeof(*x));
    made_op(&m, 1, "aten::mm", 0, 30);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 14, 2, 2);
    made_kernel(&m, 7, "k1", 15, 10, 1);
    made_kernel(&m, 7, "k2", 26, 90, 2);
    REQUIRE(made_load(&x->made, &m, 1));
    made_run(&x->made, (struct made_what){0});
    c = x->made.costs;
    k = first_kernel(x->made.graph);
    c->made_by[k] = FAMILY;
    c->low[k] = c->mid[k] - 5 * US;
    c->high[k] = c->mid[k] + 20 * US;
    x->outcome = (struct msim_outcome){.graph = x->made.graph,
                                       .mid = {.start = x->made.start,
                                               .dur = x->made.took,
                                               .lag = c->lag,
                                               .removed = c->removed},
                                       .gpu_times = true};
    x->side = (struct msim_ratio_side){
        .outcome = &x->outcome, .costs = c, .iteration = UINT32_MAX};
    REQUIRE(msim_deviating_new(&x->job, &x->side, NULL) == MSIM_OK);
    REQUIRE(msim_deviating_middle(x->job, &x->middle_us) == MSIM_OK);
}

static void clear(struct deviating_job *x)
{
    msim_deviating_free(x->job);
    made_unload(&x->made);
}

/* By how much the period is longer than the middle one, us. */
static double moved(struct deviating_job *x, const struct msim_deviations *d,
                    unsigned what, bool high)
{
    double us = 0;

    CHECK(msim_deviating_period(x->job, d, what, high, &us, NULL) == MSIM_OK);
    return us - x->middle_us;
}

static void test_deviate__family_at_its_ends(void)
{
    const struct msim_deviations d = {.separate = 1u << FAMILY};
    struct deviating_job x;

    set_up(&x);
    for (int again = 0; again < 2; again++) {
        CHECK_REL(moved(&x, &d, FAMILY, true), 20, 1e-9);
        CHECK_REL(moved(&x, &d, FAMILY, false), -5, 1e-9);
    }
    CHECK(moved(&x, &d, FAMILY + 1, true) == 0); /* no task is of it */
    clear(&x);
}

/* What was found of others holds for these families and this share alone. */
static void test_deviate__others_by_their_share(void)
{
    struct msim_deviations d = {.others = 1u << FAMILY, .share = 0.5};
    struct deviating_job x;

    set_up(&x);
    CHECK_REL(moved(&x, &d, MSIM_DEVIATE_OTHERS, true), 10, 1e-9);
    CHECK_REL(moved(&x, &d, MSIM_DEVIATE_OTHERS, false), -2.5, 1e-9);
    d.share = 0.25;
    CHECK_REL(moved(&x, &d, MSIM_DEVIATE_OTHERS, true), 5, 1e-9);
    d.others = 1u << (FAMILY + 1);
    CHECK(moved(&x, &d, MSIM_DEVIATE_OTHERS, true) == 0);
    clear(&x);
}

/* Tasks of as many families, each by 1 us more than the one before: the five
 * that may deviate most do so alone, the others together, whose roots of
 * squares are their share. */
static void test_deviate__most_alone(void)
{
    const struct msim_ratio_side *side;
    double sum = 0, squares = 0;
    struct msim_deviations d;
    struct deviating_job x;
    struct msim_costs *c;
    uint32_t n, others;

    set_up(&x);
    side = &x.side;
    c = x.made.costs;
    n = x.made.graph->n_tasks;
    REQUIRE(n > MSIM_DEVIATE_SEPARATE && n < MSIM_MADE_BY_MAX);
    others = n - MSIM_DEVIATE_SEPARATE;
    for (uint32_t t = 0; t < n; t++) {
        c->made_by[t] = (uint8_t)t;
        c->low[t] = c->mid[t];
        c->high[t] = c->mid[t] + (msim_ps)(t + 10) * US;
        sum += t < others ? t + 10.0 : 0;
        squares += t < others ? (t + 10.0) * (t + 10.0) : 0;
    }
    msim_deviations_choose(&d, &side, 1);
    CHECK_UINT(d.others, (1u << others) - 1);
    CHECK_UINT(d.separate, (1u << n) - (1u << others));
    CHECK_REL(d.share, sqrt(squares) / sum, 1e-9);
    CHECK(!d.gpu);
    c->machine.faster = 1.1;
    msim_deviations_choose(&d, &side, 1);
    CHECK(d.gpu);
    clear(&x);
}

static void test_deviate__whole_gpu(void)
{
    const struct msim_deviations d = {.gpu = true};
    struct deviating_job x;

    set_up(&x);
    x.made.costs->machine = (struct msim_whole_job_machine){1.1, 1.25};
    /* 100 us of kernels: 10 % longer, or 1 - 1/1.25 = 20 % shorter. */
    CHECK_REL(moved(&x, &d, MSIM_DEVIATE_GPU, true),
              x.made.costs->machine.slower * 100 - 100, 1e-6);
    CHECK_REL(moved(&x, &d, MSIM_DEVIATE_GPU, false),
              100 / x.made.costs->machine.faster - 100, 1e-6);
    clear(&x);
}

/* Two jobs of one graph that run by turns find what each finds alone, though
 * the family of the second may take 30 us more, and its host 1 us. */
static void test_deviate__by_turns(void)
{
    const struct msim_deviations d = {.separate = 1u << FAMILY};
    struct deviating_job x, y;
    struct msim_costs costs;
    uint32_t n, k;

    set_up(&x);
    y = x;
    n = x.made.graph->n_tasks;
    k = first_kernel(x.made.graph);
    costs = *x.made.costs;
    costs.mid = malloc(n * sizeof(*costs.mid));
    costs.high = malloc(n * sizeof(*costs.high));
    REQUIRE(costs.mid && costs.high);
    memcpy(costs.mid, x.made.costs->mid, n * sizeof(*costs.mid));
    memcpy(costs.high, x.made.costs->high, n * sizeof(*costs.high));
    costs.mid[0] += US; /* the host's first task: all starts 1 us later */
    costs.high[k] = costs.mid[k] + 30 * US;
    y.side.costs = &costs;
    REQUIRE(msim_deviating_new(&y.job, &y.side, x.job) == MSIM_OK);
    for (int high = 1; high >= 0; high--) {
        CHECK_REL(moved(&x, &d, FAMILY, high), high ? 20 : -5, 1e-9);
        CHECK_REL(moved(&y, &d, FAMILY, high), high ? 31 : -4, 1e-9);
    }
    msim_deviating_free(y.job);
    free(costs.mid);
    free(costs.high);
    clear(&x);
}

int main(void)
{
    RUN(test_deviate__family_at_its_ends);
    RUN(test_deviate__others_by_their_share);
    RUN(test_deviate__most_alone);
    RUN(test_deviate__whole_gpu);
    RUN(test_deviate__by_turns);
    return check_summary();
}

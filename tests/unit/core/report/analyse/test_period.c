/*
 * tests/unit/core/report/analyse/test_period.c - what iterations take, and
 * which of them the period is read off, on made-up times.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 8
#define NONE MSIM_TIME_NONE

/* Iterations of one rank or two, in us. */
struct steps {
    struct msim_job job;
    struct msim_graph g;
    struct msim_window windows[MOST];
    int64_t numbers[MOST];
    struct msim_range ranges[MOST];
    struct msim_took took[MOST];
    bool undrained[MOST];
    uint8_t states[MOST];
};

static void steps_new(struct steps *s, uint32_t n, uint32_t ranks)
{
    *s = (struct steps){.job.n_ranks = ranks};
    s->g.job = &s->job;
    s->g.windows = s->windows;
    s->g.iterations = s->numbers;
    s->g.n_windows = n * ranks;
    s->g.n_iterations = n;
    for (uint32_t w = 0; w < n * ranks; w++) {
        s->windows[w].iteration = w / ranks;
        s->windows[w].rank = w % ranks;
        s->numbers[w / ranks] = 5 + w / ranks;
    }
}

/* Host and GPU work of window `w` begin and end. */
static void step(struct steps *s, uint32_t w, msim_ps host, msim_ps host_end,
                 msim_ps gpu, msim_ps gpu_end)
{
    s->ranges[w] = (struct msim_range){host, host_end, gpu, gpu_end, true};
}

static void judge(struct steps *s)
{
    CHECK_INT(msim_took_find(&s->g, s->ranges, s->took), MSIM_OK);
    CHECK_INT(msim_iteration_states(&s->g, s->ranges, s->took, s->undrained,
                                    s->states),
              MSIM_OK);
}

/* The example of period.c, until a full queue holds the host back. */
static void test_states__run_up(void)
{
    static const msim_ps HOST[] = {0, 30, 60, 90, 190, 290};
    struct steps s;

    steps_new(&s, 5, 1);
    for (uint32_t i = 0; i < 5; i++)
        step(&s, i, HOST[i], HOST[i + 1], 5 + 100 * i, 105 + 100 * i);
    judge(&s);
    CHECK_INT(s.took[0].ps, NONE);
    for (uint32_t i = 1; i < 5; i++)
        CHECK_INT(s.took[i].ps, 100);
    CHECK_INT(s.took[1].more, 70);
    CHECK_INT(s.states[0], MSIM_ITERATION_FIRST);
    CHECK_INT(s.states[1], MSIM_ITERATION_RUN_UP);
    CHECK_INT(s.states[2], MSIM_ITERATION_RUN_UP);
    CHECK_INT(s.states[3], MSIM_ITERATION_SETTLED);
    CHECK_INT(s.states[4], MSIM_ITERATION_SETTLED);
}

/* The host waits each time: what lies between marks does not count, and where
 * the GPU later falls behind for once, that is no run-up. */
static void test_took__host_waits(void)
{
    struct steps s;

    steps_new(&s, 4, 1);
    step(&s, 0, 0, 100, 10, 90);
    step(&s, 1, 103, 203, 110, 200);
    step(&s, 2, 206, 300, 210, 320);
    step(&s, 3, 303, 410, 320, 400);
    judge(&s);
    CHECK_INT(s.took[1].ps, 100);
    CHECK_INT(s.took[2].ps, 114);
    CHECK_INT(s.took[3].ps, 90);
    CHECK_INT(s.took[3].more, -17);
    CHECK_INT(s.states[0], MSIM_ITERATION_FIRST);
    for (uint32_t i = 1; i < 4; i++)
        CHECK_INT(s.states[i], MSIM_ITERATION_SETTLED);
}

/* Just at the limit is settled, just above it is not. */
static void test_states__limit_of_run_up(void)
{
    struct steps s;

    steps_new(&s, 2, 1);
    step(&s, 0, 0, 1000, NONE, NONE);
    step(&s, 1, 1000, 1950, 1000, 2000);
    judge(&s);
    CHECK_INT(s.took[1].more, 50);
    CHECK_INT(s.states[1], MSIM_ITERATION_SETTLED);
    step(&s, 1, 1000, 1949, 1000, 2000);
    judge(&s);
    CHECK_INT(s.states[1], MSIM_ITERATION_RUN_UP);
}

/* A GPU that is still at the work of two iterations before. */
static void test_took__gpu_far_behind(void)
{
    struct steps s;

    steps_new(&s, 3, 1);
    step(&s, 0, 0, 10, 0, 500);
    step(&s, 1, 10, 20, 100, 200); /* another stream */
    step(&s, 2, 20, 30, 500, 600);
    judge(&s);
    CHECK_INT(s.took[1].ps, 0);
    CHECK_INT(s.took[2].ps, 100);
}

/* A recording with a hole, an empty step, and one that is cut off. */
static void test_states__holes(void)
{
    struct steps s;

    steps_new(&s, 7, 1);
    for (uint32_t i = 0; i < 7; i++)
        step(&s, i, 100 * i, 100 * i + 100, 100 * i, 100 * i + 90);
    for (uint32_t i = 2; i < 7; i++)
        s.numbers[i] += 10;
    s.ranges[4].known = false;
    s.undrained[6] = true;
    judge(&s);
    CHECK_INT(s.states[1], MSIM_ITERATION_SETTLED);
    CHECK_INT(s.states[2], MSIM_ITERATION_FIRST);
    CHECK_INT(s.states[3], MSIM_ITERATION_SETTLED);
    CHECK_INT(s.states[4], MSIM_ITERATION_EMPTY);
    CHECK_INT(s.states[5], MSIM_ITERATION_FIRST);
    CHECK_INT(s.states[6], MSIM_ITERATION_UNDRAINED);
    /* What an undrained iteration left on the GPU is not known. */
    s.undrained[5] = true;
    s.undrained[6] = false;
    judge(&s);
    CHECK_INT(s.states[6], MSIM_ITERATION_FIRST);
}

/* What takes no time is empty, unless GPU work of it is still to come. */
static void test_states__no_time(void)
{
    struct steps s;

    steps_new(&s, 2, 1);
    step(&s, 0, 0, 100, NONE, NONE);
    step(&s, 1, 100, 100, NONE, NONE);
    judge(&s);
    CHECK_INT(s.states[1], MSIM_ITERATION_EMPTY);
    step(&s, 1, 100, 100, 100, 150);
    judge(&s);
    CHECK_INT(s.took[1].ps, 50);
    CHECK_INT(s.states[1], MSIM_ITERATION_RUN_UP);
}

/* An iteration is settled where it is on every rank. */
static void test_states__worst_of_ranks(void)
{
    struct steps s;

    steps_new(&s, 2, 2);
    step(&s, 0, 0, 100, NONE, NONE);
    step(&s, 1, 5000, 5100, NONE, NONE);
    step(&s, 2, 100, 200, NONE, NONE);
    step(&s, 3, 5100, 5200, 5100, 5300);
    judge(&s);
    CHECK_INT(s.took[2].ps, 100);
    CHECK_INT(s.took[3].ps, 200);
    CHECK_INT(s.states[0], MSIM_ITERATION_FIRST);
    CHECK_INT(s.states[1], MSIM_ITERATION_RUN_UP);
}

/* Idle time counts unless nothing had been launched. */
static void test_need__without_what_was_not_launched(void)
{
    struct msim_activity v[] = {
        {400, 500, 380}, /* launched 80 after the one before had ended */
        {0, 100, NONE},   {50, 200, 10},
        {210, 300, 150}, /* launched in time: a gap of the GPU's own */
        {520, 600, 560}, /* its call was over only after it had begun */
        {700, 710, NONE},
    };
    msim_ps need;

    CHECK_INT(msim_gpu_need(v, 6, &need), MSIM_OK);
    CHECK_INT(need, 710 - 80 - 20);
    CHECK_INT(msim_gpu_need(v, 0, &need), MSIM_OK);
    CHECK_INT(need, 0);
}

int main(void)
{
    RUN(test_states__run_up);
    RUN(test_took__host_waits);
    RUN(test_states__limit_of_run_up);
    RUN(test_took__gpu_far_behind);
    RUN(test_states__holes);
    RUN(test_states__no_time);
    RUN(test_states__worst_of_ranks);
    RUN(test_need__without_what_was_not_launched);
    return check_summary();
}

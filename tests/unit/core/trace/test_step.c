/*
 * tests/unit/core/trace/test_step.c - which operators are a step's, and which
 * step stands for a run.
 */
#include "core/trace/trace_steps.h"

#include "tests/check.h"

#define COUNT(rows) (uint32_t)(sizeof(rows) / sizeof((rows)[0]))

/* Operators that begin at these moments, steps of 100 that begin at those. */
static uint32_t settled(const int64_t *ops, uint32_t n, const int64_t *steps,
                        uint32_t n_steps, bool times)
{
    struct msim_op rows[32] = {{0}};
    struct msim_step marks[8] = {{0}};
    struct msim_trace t = {.ops = rows,
                           .n_ops = n,
                           .steps = marks,
                           .n_steps = n_steps,
                           .has_times = times};
    uint32_t step = 7;

    for (uint32_t i = 0; i < n; i++) {
        rows[i].kind = MSIM_OP_OPERATOR;
        rows[i].start = times ? ops[i] : MSIM_TIME_NONE;
        rows[i].et_id = times ? 0 : (uint32_t)ops[i];
    }
    for (uint32_t i = 0; i < n_steps; i++)
        marks[i] = (struct msim_step){.start = steps[i],
                                      .dur = 100,
                                      .node_from = (uint32_t)steps[i],
                                      .node_to = (uint32_t)steps[i] + 100};
    CHECK_INT(msim_step_settled(&t, &step), MSIM_OK);
    return step;
}

/* Four, four, two, one operators: the third has half as many as most have. */
static void test_step__settled(void)
{
    static const int64_t ops[] = {1,   2,   3,   4,   101, 102,
                                  103, 104, 299, 200, 300};
    static const int64_t steps[] = {0, 100, 200, 300, 400};

    for (int times = 0; times < 2; times++) {
        CHECK_UINT(settled(ops, COUNT(ops), steps, COUNT(steps), times), 2);
        CHECK_UINT(settled(ops, COUNT(ops), steps, 2, times), 1);
        CHECK_UINT(settled(ops, COUNT(ops), steps + 4, 1, times), MSIM_NONE);
        CHECK_UINT(settled(ops, COUNT(ops), steps, 0, times), MSIM_NONE);
    }
}

/* What lies between two marks is no step's. */
static void test_step__window(void)
{
    struct msim_step marks[] = {{.start = 100, .dur = 50},
                                {.start = 200, .dur = 50}};
    struct msim_trace t = {.steps = marks, .n_steps = 2, .has_times = true};
    struct msim_step_window w = msim_step_window_of(&t, 0);

    CHECK(msim_step_holds(&w, 100) && msim_step_holds(&w, 149));
    CHECK(!msim_step_holds(&w, 99) && !msim_step_holds(&w, 150));
    CHECK_UINT(msim_step_at(&t, 149), 0);
    CHECK_UINT(msim_step_at(&t, 150), MSIM_NONE);
    CHECK_UINT(msim_step_at(&t, 200), 1);
    CHECK_UINT(msim_step_at(&t, 99), MSIM_NONE);
    w = msim_step_window_of(&t, MSIM_NONE);
    CHECK(msim_step_holds(&w, 0) && msim_step_holds(&w, 1000));
}

int main(void)
{
    RUN(test_step__settled);
    RUN(test_step__window);
    return check_summary();
}

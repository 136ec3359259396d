/*
 * tests/unit/core/trace/test_left_steps.c - steps that are none of the run:
 * why, and which are left.
 */
#include "core/trace/trace_steps.h"

#include "tests/check.h"

#include <stdlib.h>

static bool is_odd(void *of, int64_t number)
{
    (void)of;
    return number % 2 != 0;
}

/* Steps 1 to `n`. */
static struct msim_trace steps(struct msim_step *rows, uint32_t n)
{
    struct msim_trace t = {.steps = rows, .n_steps = n};

    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct msim_step){.number = i + 1};
    return t;
}

static void test_left_steps__says_why(void)
{
    struct msim_step rows[5];
    struct msim_trace t = steps(rows, 5), other = {0};

    CHECK_INT(msim_steps_keep(&t, is_odd, NULL, MSIM_LEFT_CUT), MSIM_OK);
    CHECK_STR(msim_step_numbers_of(&t).text, "1, 3, 5");
    CHECK(!msim_step_left_why(&t, 3));
    CHECK_STR(msim_step_left_why(&t, 4), "the recording ends within it");
    CHECK_INT(msim_steps_left_as(&other, &t), MSIM_OK);
    CHECK_STR(msim_step_left_why(&other, 2), "the recording ends within it");
    CHECK_STR(msim_step_numbers_of(&other).text, "none");
    free(t.left_steps);
    free(other.left_steps);
}

/* The first numbers, and the last. */
static void test_left_steps__names_many(void)
{
    struct msim_step rows[100];
    struct msim_trace t = steps(rows, 100);

    CHECK_STR(msim_step_numbers_of(&t).text, "1, 2, 3, 4, ..., 100");
    t.steps[99].number = 1;
    CHECK_INT(msim_steps_numbered(&t, 1), 2);
    CHECK_INT(msim_steps_numbered(&t, 200), 0);
}

int main(void)
{
    RUN(test_left_steps__says_why);
    RUN(test_left_steps__names_many);
    return check_summary();
}

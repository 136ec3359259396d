/*
 * tests/unit/core/turns/test_turns.c - numbers taken by threads in turn.
 */
#include "core/turns/turns.h"

#include "tests/check.h"

#define N 5000

struct seen {
    uint32_t times[N]; /* each is one worker's alone */
    uint32_t fails[2]; /* numbers that fail */
};

static enum msim_status work(struct msim_turns *t, void *ctx,
                             struct msim_error *err)
{
    struct seen *s = ctx;
    uint32_t i;

    while (msim_turns_next(t, &i)) {
        s->times[i]++;
        if (i == s->fails[0] || i == s->fails[1])
            return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                             "number %u", i);
    }
    return MSIM_OK;
}

static void test_turns__each_number_once(void)
{
    static const uint32_t THREADS[] = {0, 1, 3, 100};

    for (int k = 0; k < 4; k++) {
        struct seen s = {.fails = {N, N}};

        CHECK(msim_turns_run(N, THREADS[k], work, &s, NULL) == MSIM_OK);
        for (uint32_t i = 0; i < N; i++)
            CHECK_UINT(s.times[i], 1);
    }
}

static void test_turns__none(void)
{
    struct seen s = {.fails = {N, N}};

    CHECK(msim_turns_run(0, 4, work, &s, NULL) == MSIM_OK);
    CHECK_UINT(s.times[0], 0);
}

/* Of two failures that of the smaller number is told, whoever was first; what
 * comes behind it is not begun by one worker alone. */
static void test_turns__the_first_failure(void)
{
    for (uint32_t threads = 1; threads < 9; threads++) {
        struct seen s = {.fails = {700, 701}};
        struct msim_error err = {0};

        CHECK(msim_turns_run(N, threads, work, &s, &err) == MSIM_ECHECK);
        CHECK_STR(err.text, "number 700");
        for (uint32_t i = 0; i <= 700; i++)
            CHECK_UINT(s.times[i], 1);
        if (threads == 1)
            CHECK_UINT(s.times[701], 0);
    }
}

int main(void)
{
    RUN(test_turns__each_number_once);
    RUN(test_turns__none);
    RUN(test_turns__the_first_failure);
    return check_summary();
}

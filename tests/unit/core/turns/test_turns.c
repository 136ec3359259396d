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

static enum msim_status count_me(struct msim_turns *t, void *ctx,
                                 struct msim_error *err)
{
    uint32_t i;

    (void)err;
    __atomic_add_fetch((uint32_t *)ctx, 1, __ATOMIC_RELAXED);
    while (msim_turns_next(t, &i))
        ;
    return MSIM_OK;
}

/* As many workers as are asked for, and no more than there are numbers, or than
 * 64; one where there is nothing to do. */
static void test_turns__workers(void)
{
    static const struct {
        uint32_t n, threads, workers;
    } ROWS[] = {{0, 4, 1},     {1, 4, 1},     {2, 4, 2},     {5, 4, 4},
                {5, 0, 1},     {5, 1, 1},     {5, 2, 2},     {5, 5, 5},
                {500, 63, 63}, {500, 64, 64}, {500, 65, 64}, {63, 500, 63},
                {500, 500, 64}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        uint32_t workers = 0;

        CHECK(msim_turns_run(ROWS[i].n, ROWS[i].threads, count_me, &workers,
                             NULL) == MSIM_OK);
        CHECK_UINT(workers, ROWS[i].workers);
    }
}

int main(void)
{
    RUN(test_turns__each_number_once);
    RUN(test_turns__none);
    RUN(test_turns__the_first_failure);
    RUN(test_turns__workers);
    return check_summary();
}

/*
 * tests/unit/core/trace/test_recorded_memory.c - what a profiler recorded of
 * memory, within ranges of time.
 */
#include "core/trace/trace_columns.h"

#include "tests/check.h"

/* Two devices: 10 bytes from 100 on, for a moment 30 at 200, then 25, 20 from
 * 300; 7 from 150. */
static struct msim_memory_total ROWS[] = {
    {.at = 100, .device = 0, .allocated = 10, .reserved = 64},
    {.at = 200, .device = 0, .allocated = 30, .reserved = MSIM_BYTES_UNKNOWN},
    {.at = 200, .device = 0, .allocated = 25, .reserved = MSIM_BYTES_UNKNOWN},
    {.at = 300, .device = 0, .allocated = 20, .reserved = 48},
    {.at = 150, .device = 1, .allocated = 7, .reserved = MSIM_BYTES_UNKNOWN},
};

/* The devices that hold something in [from, to) and, if any, in [more, end). */
static struct msim_recorded_list within(struct msim_arena *arena, msim_ps from,
                                        msim_ps to, msim_ps more, msim_ps end)
{
    const struct msim_trace t = {.memory = ROWS, .n_memory = 5};
    const struct msim_time_range ranges[] = {{from, to}, {more, end}};
    struct msim_recorded_list list;

    CHECK_INT(
        msim_recorded_memory_find(&t, ranges, more < end ? 2 : 1, arena, &list),
        MSIM_OK);
    return list;
}

static void check_one(const struct msim_recorded_list *list, uint32_t i,
                      int64_t device, uint64_t allocated, uint64_t reserved)
{
    if (!CHECK(i < list->n))
        return;
    CHECK_INT(list->of[i].device, device);
    CHECK_UINT(list->of[i].allocated, allocated);
    CHECK_UINT(list->of[i].reserved, reserved);
}

/* A total holds from its time on, up to the next, which is no part of it. */
static void test_recorded_memory__holds_until_the_next(void)
{
    struct msim_arena arena;
    struct msim_recorded_list l;

    msim_arena_init(&arena);
    l = within(&arena, 0, 1000, 0, 0);

    CHECK_UINT(l.n, 2);
    check_one(&l, 0, 0, 30, 64);
    check_one(&l, 1, 1, 7, MSIM_BYTES_UNKNOWN);
    l = within(&arena, 120, 200, 0, 0);
    CHECK_UINT(l.n, 2);
    check_one(&l, 0, 0, 10, 64);
    l = within(&arena, 0, 100, 0, 0);
    CHECK_UINT(l.n, 0);
    l = within(&arena, 100, 101, 0, 0);
    CHECK_UINT(l.n, 1);
    check_one(&l, 0, 0, 10, 64);
    l = within(&arena, 200, 201, 0, 0);
    check_one(&l, 0, 0, 30, MSIM_BYTES_UNKNOWN);
    l = within(&arena, 201, 300, 0, 0);
    check_one(&l, 0, 0, 25, MSIM_BYTES_UNKNOWN);
    l = within(&arena, 300, 400, 0, 0);
    check_one(&l, 0, 0, 20, 48);
    l = within(&arena, 5000, 6000, 0, 0);
    check_one(&l, 0, 0, 20, 48);
    check_one(&l, 1, 1, 7, MSIM_BYTES_UNKNOWN);
    msim_arena_release(&arena);
}

/* Of a sum what one keeps unknown is. */
static void test_recorded_memory__sum(void)
{
    struct msim_recorded_memory of[] = {{0, 30, 64}, {1, 7, 48}};
    const struct msim_recorded_list l = {of, 2};

    CHECK_UINT(msim_recorded_memory_sum(&l).allocated, 37);
    CHECK_UINT(msim_recorded_memory_sum(&l).reserved, 112);
    of[0].reserved = MSIM_BYTES_UNKNOWN;
    CHECK_UINT(msim_recorded_memory_sum(&l).reserved, MSIM_BYTES_UNKNOWN);
}

/* Each range by itself: what is between two is of none; ranges begin anew with
 * every device. */
static void test_recorded_memory__ranges(void)
{
    struct msim_arena arena;
    struct msim_recorded_list l;

    msim_arena_init(&arena);
    l = within(&arena, 110, 120, 300, 310);

    CHECK_UINT(l.n, 2);
    check_one(&l, 0, 0, 20, 64);
    check_one(&l, 1, 1, 7, MSIM_BYTES_UNKNOWN);
    msim_arena_release(&arena);
}

int main(void)
{
    RUN(test_recorded_memory__holds_until_the_next);
    RUN(test_recorded_memory__sum);
    RUN(test_recorded_memory__ranges);
    return check_summary();
}

/*
 * tests/unit/core/base/test_evq.c - tests of core/base/evq.h.
 */
#include "core/base/evq.h"
#include "tests/check.h"

/* Whatever goes in, it comes out by time, and by number within a time. */
static void test_evq__orders_by_time_then_number(void)
{
    struct msim_event last = {INT64_MIN, 0};
    uint64_t state = 88172645463325252u;
    struct msim_evq q;

    REQUIRE(msim_evq_init(&q, 5000) == MSIM_OK);
    for (uint32_t i = 0; i < 5000; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        msim_evq_push(&q, (msim_ps)(state % 97), i * 7919 % 5000);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        struct msim_event e = msim_evq_pop(&q);

        CHECK(e.time > last.time || (e.time == last.time && e.seq > last.seq));
        last = e;
    }
    CHECK_INT(q.length, 0);
    msim_evq_release(&q);
}

/* Held at a constant length, as a simulation holds it, with negative times. */
static void test_evq__holds(void)
{
    struct msim_evq q;
    msim_ps now = -100;

    REQUIRE(msim_evq_init(&q, 3) == MSIM_OK);
    for (uint32_t i = 0; i < 3; i++)
        msim_evq_push(&q, now + i, i);
    for (uint32_t i = 0; i < 1000; i++) {
        struct msim_event e = msim_evq_pop(&q);

        CHECK(e.time >= now);
        now = e.time;
        msim_evq_push(&q, now + 1 + i % 5, e.seq);
    }
    msim_evq_release(&q);
}

/* Events moved forth and back and dropped come out where they end up. */
static void test_evq__moves_and_drops(void)
{
    uint64_t state = 88172645463325252u;
    msim_ps at[500], last = INT64_MIN;
    uint32_t left = 0;
    struct msim_evq q;

    REQUIRE(msim_evq_init(&q, 500) == MSIM_OK);
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t seq;

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        seq = (uint32_t)(state >> 40) % 500;
        at[seq] = (msim_ps)(state % 1009);
        if (state % 5 == 0)
            msim_evq_drop(&q, seq);
        else
            msim_evq_push(&q, at[seq], seq);
    }
    for (uint32_t i = 0; i < 500; i++)
        left += q.place[i] != MSIM_NONE;
    CHECK_INT(q.length, left);
    while (q.length) {
        struct msim_event e = msim_evq_pop(&q);

        CHECK(e.time >= last && e.time == at[e.seq]);
        CHECK(q.place[e.seq] == MSIM_NONE);
        last = e.time;
    }
    msim_evq_release(&q);
}

int main(void)
{
    RUN(test_evq__orders_by_time_then_number);
    RUN(test_evq__holds);
    RUN(test_evq__moves_and_drops);
    return check_summary();
}

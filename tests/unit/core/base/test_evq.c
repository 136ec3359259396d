/*
 * tests/unit/core/base/test_evq.c - tests of core/base/evq.c.
 */
#include "core/base/containers.h"
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

/* The earliest of what is pending, or NONE. */
static uint32_t earliest(const msim_ps *at, const bool *pending, uint32_t n)
{
    uint32_t best = MSIM_NONE;

    for (uint32_t i = 0; i < n; i++)
        if (pending[i] && (best == MSIM_NONE || at[i] < at[best]))
            best = i;
    return best;
}

/* Pushed, moved, dropped and popped in any order, it has what a look over all
 * of them finds; and begins anew after it was cleared half full. */
static void test_evq__is_the_least_of_all(void)
{
    uint64_t state = 88172645463325252u;
    bool pending[40] = {false};
    struct msim_evq q;
    msim_ps at[40];

    REQUIRE(msim_evq_init(&q, 40) == MSIM_OK);
    for (uint32_t i = 0; i < 100000; i++) {
        uint32_t seq, want = earliest(at, pending, 40);

        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        seq = (uint32_t)(state >> 40) % 40;
        if (state % 1000 == 0) {
            msim_evq_clear(&q);
            memset(pending, 0, sizeof(pending));
        } else if (state % 10 < 5) {
            at[seq] = (msim_ps)(state >> 8) % 50;
            pending[seq] = true;
            msim_evq_push(&q, at[seq], seq);
        } else if (state % 10 < 7) {
            pending[seq] = false;
            msim_evq_drop(&q, seq);
        } else if (want != MSIM_NONE) {
            CHECK_INT(msim_evq_first(&q).seq, want);
            CHECK_INT(msim_evq_pop(&q).seq, want);
            pending[want] = false;
        }
    }
    msim_evq_release(&q);
}

int main(void)
{
    RUN(test_evq__orders_by_time_then_number);
    RUN(test_evq__holds);
    RUN(test_evq__moves_and_drops);
    RUN(test_evq__is_the_least_of_all);
    return check_summary();
}

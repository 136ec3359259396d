/* serving/sim/sim_pool.c: what is given back is taken again, cleared; a visit
 * goes with its last reference, and then its parent. */
#include "serving/sim/serving_run_internal.h"
#include "tests/check.h"

static struct msim_serving s;

static void begin(void)
{
    msim_sim_pools_release(&s);
    memset(&s, 0, sizeof(s));
    msim_sim_pools_clear(&s);
}

static void test_sim_pool__counts_up(void)
{
    begin();
    for (uint32_t i = 0; i < 1000; i++) {
        CHECK_UINT(msim_sim_visit_take(&s), i);
        CHECK_UINT(msim_sim_call_take(&s), i);
        CHECK_UINT(msim_sim_request_take(&s), i);
        msim_sim_visit(&s, i)->key = i + 1;
        msim_sim_request(&s, i)->key = i + 2;
    }
    for (uint32_t i = 0; i < 1000; i++) { /* they moved with their content */
        CHECK_UINT(msim_sim_visit(&s, i)->key, i + 1);
        CHECK_UINT(msim_sim_request(&s, i)->key, i + 2);
    }
    CHECK_INT(s.status, MSIM_OK);
}

/* The last one given back is the first one taken, and knows nothing. */
static void test_sim_pool__takes_what_was_given(void)
{
    begin();
    for (uint32_t i = 0; i < 3; i++) {
        (void)msim_sim_request_take(&s);
        msim_sim_request(&s, i)->key = 7;
        msim_sim_request(&s, i)->next = 9;
    }
    msim_sim_request_give(&s, 1);
    msim_sim_request_give(&s, 0);
    CHECK_UINT(msim_sim_request_take(&s), 0);
    CHECK_UINT(msim_sim_request(&s, 0)->key, 0);
    CHECK_UINT(msim_sim_request(&s, 0)->next, 0);
    CHECK_UINT(msim_sim_request_take(&s), 1);
    CHECK_UINT(msim_sim_request_take(&s), 3);
    CHECK_UINT(msim_sim_request(&s, 3)->key, 0);
    CHECK_UINT(msim_sim_request(&s, 2)->key, 7);
}

static uint32_t visit(uint32_t parent, uint32_t refs, uint32_t request)
{
    uint32_t i = msim_sim_visit_take(&s);

    msim_sim_visit(&s, i)->parent = parent;
    msim_sim_visit(&s, i)->refs = refs;
    msim_sim_visit(&s, i)->request = request;
    return i;
}

/* A request's visit, which a child keeps; the request goes with it. */
static void test_sim_pool__drops_visits(void)
{
    uint32_t request, parent, child;

    begin();
    request = msim_sim_request_take(&s);
    parent = visit(MSIM_NONE, 2, request);
    child = visit(parent, 1, request);
    msim_sim_visit_drop(&s, parent); /* its answer is there */
    CHECK_UINT(s.visits.unused, MSIM_NONE);
    msim_sim_visit_drop(&s, child);
    CHECK_UINT(s.visits.unused, parent);
    CHECK_UINT(msim_sim_visit(&s, parent)->next, child);
    CHECK_UINT(msim_sim_visit(&s, child)->next, MSIM_NONE);
    CHECK_UINT(s.requests.unused, request);
    msim_sim_visit_drop(&s, MSIM_NONE); /* nobody's */
    /* a parent that something else looks at stays, and so does its request */
    request = msim_sim_request_take(&s);
    parent = visit(MSIM_NONE, 2, request);
    child = visit(parent, 1, request);
    msim_sim_visit_drop(&s, child);
    CHECK_UINT(s.visits.unused, child);
    CHECK_UINT(msim_sim_visit(&s, parent)->refs, 1);
    CHECK_UINT(s.requests.unused, MSIM_NONE);
}

static void test_sim_pool__drops_calls(void)
{
    uint32_t call, parent;

    begin();
    parent = visit(MSIM_NONE, 1, msim_sim_request_take(&s));
    call = msim_sim_call_take(&s);
    msim_sim_call(&s, call)->parent = parent;
    msim_sim_call(&s, call)->refs = 2;
    msim_sim_call_drop(&s, call);
    CHECK_UINT(s.calls.unused, MSIM_NONE);
    CHECK_UINT(s.visits.unused, MSIM_NONE);
    msim_sim_call_drop(&s, call);
    CHECK_UINT(s.calls.unused, call);
    CHECK_UINT(s.visits.unused, parent);
}

/* No more than the bits of an event can name. */
static void test_sim_pool__has_an_end(void)
{
    void *data = NULL;
    uint32_t capacity = 0;

    begin();
    s.visits.n = MSIM_SIM_WHO_MOST + 1;
    CHECK_UINT(msim_sim_visit_take(&s), MSIM_NONE);
    CHECK_INT(s.status, MSIM_ELIMIT);
    s.visits.n = 0;
    s.status = MSIM_OK;
    CHECK(msim_sim_room(&s, &data, &capacity, 0, 1));
    CHECK_UINT(capacity, 256);
    CHECK(msim_sim_room(&s, &data, &capacity, 255, 1));
    CHECK_UINT(capacity, 256);
    CHECK(msim_sim_room(&s, &data, &capacity, 256, 1));
    CHECK_UINT(capacity, 512);
    free(data);
    data = NULL;
    capacity = UINT32_MAX / 2 + 1; /* would be doubled */
    CHECK(!msim_sim_room(&s, &data, &capacity, capacity, 1));
    CHECK_INT(s.status, MSIM_ELIMIT);
    s.status = MSIM_OK;
}

/* Clear pools begin anew, on the memory that they have. */
static void test_sim_pool__is_cleared(void)
{
    uint32_t capacity;

    begin();
    for (int i = 0; i < 300; i++)
        (void)msim_sim_visit_take(&s);
    (void)msim_sim_call_take(&s);
    msim_sim_request_give(&s, msim_sim_request_take(&s));
    capacity = s.visits.capacity;
    msim_sim_visit(&s, 0)->refs = 5;
    msim_sim_pools_clear(&s);
    CHECK_UINT(s.visits.n, 0);
    CHECK_UINT(s.calls.n, 0);
    CHECK_UINT(s.requests.n, 0);
    CHECK_UINT(s.requests.unused, MSIM_NONE);
    CHECK_UINT(s.visits.capacity, capacity);
    CHECK_UINT(msim_sim_visit_take(&s), 0);
    CHECK_UINT(msim_sim_visit(&s, 0)->refs, 0);
}

int main(void)
{
    RUN(test_sim_pool__counts_up);
    RUN(test_sim_pool__takes_what_was_given);
    RUN(test_sim_pool__drops_visits);
    RUN(test_sim_pool__drops_calls);
    RUN(test_sim_pool__has_an_end);
    RUN(test_sim_pool__is_cleared);
    msim_sim_pools_release(&s);
    return check_summary();
}

/*
 * tests/unit/core/graph/test_contention.c - what tasks of one device cost each
 * other.
 *
 * Rule by rule. Times are ps.
 */
#include "tests/unit/made_contention.h"

#define OFF(m, rule) ((m).s.rules &= ~(1u << MSIM_CONTENTION_##rule))

/* ---- pipes -------------------------------------------------------------- */

/* Two equal flows of one pipe get half of it each; without the rule all. */
static void test_contention__two_flows_take_twice_as_long(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_TO_DEVICE, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_TO_HOST, 0, 1000);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 2000);
    CHECK_INT(m.took[1], 2000);
    CHECK_INT(m.held_by[1], MSIM_NONE);
    OFF(m, HOST_LINK);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1000);
    CHECK_INT(m.took[1], 1000);
}

/* Doubling a pipe frees two flows of each other and never slows one alone;
 * halving what one flow needs does not change what a pipe is. */
static void test_contention__doubling_a_link(void)
{
    static const double CAPACITY[] = {0.5, 1, 2, 4, INFINITY};
    msim_ps both_before = INT64_MAX, alone_before = INT64_MAX;
    struct made_contention m;

    for (int i = 0; i < 5; i++) {
        made_contention_init(&m);
        m.device.interconnect.capacity = CAPACITY[i];
        made_contention_add(&m, MSIM_DEMAND_TRANSFER, 0, 1000);
        made_contention_run(&m);
        CHECK(m.took[0] <= alone_before);
        CHECK(m.took[0] == 1000 || CAPACITY[i] < 1);
        alone_before = m.took[0];
        made_contention_add(&m, MSIM_DEMAND_TRANSFER, 0, 1000);
        made_contention_run(&m);
        CHECK(m.took[0] <= both_before && m.took[0] == m.took[1]);
        CHECK_INT(m.took[0], CAPACITY[i] >= 2   ? 1000
                             : CAPACITY[i] == 1 ? 2000
                                                : 4000);
        both_before = m.took[0];
    }
}

/*
 * To the device from 0, to the host from 400, weights 1 and 3: after 400 the
 * first has 600 left and runs at a quarter, the second at three quarters. That
 * ends after 600 / 0.75 = 800, at 1200; the first then has 600 - 200 left and
 * ends at 1600.
 */
static void test_contention__unequal_flows_meet_halfway(void)
{
    struct made_contention m;

    made_contention_init(&m);
    m.device.host_link.weight[0] = 0.25;
    m.device.host_link.weight[1] = 0.75;
    made_contention_add(&m, MSIM_DEMAND_TO_DEVICE, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_TO_HOST, 400, 600);
    made_contention_run(&m);
    CHECK_INT(m.start[1] + m.took[1], 1200);
    CHECK_INT(m.start[0] + m.took[0], 1600);
}

/* Collectives share the interconnect: 1000 and 500 from 0 end at 1500, 1000. */
static void test_contention__collectives_share(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 0, 500);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1500);
    CHECK_INT(m.took[1], 1000);
    OFF(m, INTERCONNECT);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1000);
    CHECK_INT(m.took[1], 500);
}

/*
 * A link carries both directions: 1000 sent beside 1000 received end at 1000. A
 * second one sent shares with the first, and so does a collective, which uses
 * both: three of 1000 then end as two of one direction do.
 */
static void test_contention__messages_go_both_ways(void)
{
    static const msim_ps ENDS[] = {1000, 2000};

    for (int more = 0; more < 2; more++)
        for (int kind = MSIM_DEMAND_TRANSFER; kind <= MSIM_DEMAND_SEND;
             kind++) {
            struct made_contention m;

            made_contention_init(&m);
            made_contention_add(&m, MSIM_DEMAND_SEND, 0, 1000);
            made_contention_add(&m, MSIM_DEMAND_RECEIVE, 0, 1000);
            if (more)
                made_contention_add(&m, (enum msim_demand_kind)kind, 0, 1000);
            made_contention_run(&m);
            CHECK_INT(m.took[0], ENDS[more]);
            CHECK_INT(m.took[1],
                      more && kind == MSIM_DEMAND_TRANSFER ? 2000 : 1000);
        }
}

/*
 * What took 1500 in the trace because half its work was shared (alone 2/3) and
 * is now by itself takes 1000.
 */
static void test_contention__alone_again(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 0, 1500);
    m.demands[0].alone = 2.0 / 3;
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1000);
}

/* ---- copy engines ------------------------------------------------------- */

/* One copy a direction at a time, in the order in which they became ready. */
static void test_contention__copies_take_turns(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_TO_DEVICE, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_TO_DEVICE, 20, 100);
    made_contention_add(&m, MSIM_DEMAND_TO_DEVICE, 10, 100);
    made_contention_run(&m);
    CHECK_INT(m.start[2], 1000);
    CHECK_INT(m.held_by[2], 0);
    CHECK_INT(m.start[1], 1100);
    CHECK_INT(m.held_by[1], 2);
    OFF(m, COPY_ENGINE);
    OFF(m, HOST_LINK);
    made_contention_run(&m);
    CHECK_INT(m.start[2], 10);
    CHECK_INT(m.start[1], 20);
}

/* Who has waited is let in before whoever comes as the engine falls free. */
static void test_contention__a_late_copy_does_not_overtake(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_TO_HOST, 1000, 100);
    made_contention_add(&m, MSIM_DEMAND_TO_HOST, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_TO_HOST, 500, 100);
    made_contention_run(&m);
    CHECK_INT(m.start[2], 1000);
    CHECK_INT(m.start[0], 1100);
    m.device.engines[1] = 2;
    OFF(m, HOST_LINK);
    made_contention_run(&m);
    CHECK_INT(m.start[2], 500);
    CHECK_INT(m.start[0], 1000);
}

/* ---- multiprocessors ---------------------------------------------------- */

/*
 * Kernel 0 takes 1000 in four waves: its last begins at 750, and there kernel
 * 1, ready at 10, and the collective 2, ready at 20, start.
 */
static void test_contention__full_device_holds_kernels(void)
{
    struct made_contention m;

    made_contention_init(&m);
    m.device.slowdown = 1;
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 10, 100);
    made_contention_add(&m, MSIM_DEMAND_ARRIVE, 20, 0);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 20, 50);
    made_contention_edge(&m, 2, 3);
    m.demands[0].tail = 0.25;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 750);
    CHECK_INT(m.start[2], 750);
    CHECK_INT(m.start[3], 750);
    CHECK_INT(m.held_by[1], 0);
    m.dur[0] = 2000; /* the last wave scales with it */
    made_contention_run(&m);
    CHECK_INT(m.start[1], 1500);
    OFF(m, SM);
    made_contention_run(&m);
    CHECK_INT(m.start[1], 10);
    CHECK_INT(m.start[2], 20);
}

/* Not held: on its own stream, of higher priority, or beside half a wave. */
static void test_contention__who_is_not_held(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 10, 100);
    m.demands[0].tail = 0.25;
    m.demands[1].first = true;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 10);
    m.demands[0].first = true;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 750);
    m.lane[1] = m.lane[0];
    made_contention_run(&m);
    CHECK_INT(m.start[1], 10);
    m.lane[1] = 1;
    m.demands[0].tail = 1;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 10);
}

/*
 * Kernels 1 (ready at 10) and 2 (at 20) wait for kernel 0 until 500. Kernel 1
 * fills the device as well, so kernel 2 waits for its last wave, 500 + 400.
 */
static void test_contention__held_kernels_start_in_order(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 10, 800);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 20, 10);
    m.demands[0].tail = m.demands[1].tail = 0.5;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 500);
    CHECK_INT(m.start[2], 900);
    CHECK_INT(m.held_by[2], 1);
}

/* ---- slowdown ----------------------------------------------------------- */

/*
 * A kernel of 1000 beside a collective that waits from 200 and transfers from
 * 400 to 600: at half its rate for 400, so 200 late. Taken out, the collective
 * slows nobody down.
 */
static void test_contention__collectives_slow_kernels(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_ARRIVE, 200, 0);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 400, 200);
    made_contention_edge(&m, 1, 2);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1200);
    CHECK_INT(m.took[2], 200);
    m.out[2] = 1;
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1000);
    m.out[2] = 0;
    OFF(m, SLOWDOWN);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1000);
}

/* A message that leaves while one arrives is two, not none. */
static void test_contention__messages_both_ways_slow_kernels(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_SEND, 400, 200);
    made_contention_add(&m, MSIM_DEMAND_RECEIVE, 400, 200);
    made_contention_run(&m);
    CHECK_INT(m.took[0], 1100);
}

/* A slowed kernel lets others in later too: last wave at (500 - 100) + 200. */
static void test_contention__slowed_kernels_drain_later(void)
{
    struct made_contention m;

    made_contention_init(&m);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 0, 1000);
    made_contention_add(&m, MSIM_DEMAND_KERNEL, 250, 10);
    made_contention_add(&m, MSIM_DEMAND_TRANSFER, 100, 200);
    m.demands[0].tail = 0.5;
    made_contention_run(&m);
    CHECK_INT(m.start[1], 600);
    CHECK_INT(m.took[0], 1100);
}

/* ---- properties --------------------------------------------------------- */

struct result {
    msim_ps *start, *took;
};

static struct result run(const struct made_graph *m)
{
    size_t n = (size_t)m->g.n_tasks + 1;
    struct result r = {malloc(n * sizeof(msim_ps)),
                       malloc(n * sizeof(msim_ps))};
    struct msim_scenario s = made_graph_scenario(m);
    struct msim_times times = {r.start, r.took, NULL};
    struct msim_engine *e;

    CHECK_INT(msim_engine_new(&e, &m->g), MSIM_OK);
    CHECK_INT(msim_engine_simulate(e, &s, &times, NULL), MSIM_OK);
    msim_engine_free(e);
    return r;
}

static void release(struct result r)
{
    free(r.start);
    free(r.took);
}

static bool equal(struct result a, struct result b, uint32_t n)
{
    return !memcmp(a.start, b.start, n * sizeof(msim_ps)) &&
           !memcmp(a.took, b.took, n * sizeof(msim_ps));
}

/* With every rule off the engine is the longest path, whoever has demands. */
static void test_contention__without_rules_is_longest_path(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint32_t n = (uint32_t)(seed * 7 % 500),
                 lanes = 1 + (uint32_t)(seed % 9);
        struct made_graph m = made_graph_new(n, lanes, seed);
        msim_ps *want = malloc(((size_t)n + 1) * sizeof(*want));
        struct result got;

        made_graph_mix(&m, seed + 1, 7);
        made_contention_random(&m, lanes, seed + 2);
        m.g.sharing->rules = 0;
        made_graph_longest(&m, want);
        got = run(&m);
        CHECK(!memcmp(got.start, want, n * sizeof(*want)));
        release(got);
        free(want);
        made_contention_random_free(&m);
    }
}

/* The edges of each task in reverse: the order in which they are listed. */
static void reverse_edges(struct made_graph *m)
{
    for (uint32_t t = 0; t < m->g.n_tasks; t++) {
        uint32_t i = m->g.edge_begin[t], k = m->g.edge_begin[t + 1];

        while (i + 1 < k) {
            struct msim_edge edge = m->g.edges[i];
            uint8_t kind = m->g.edge_kind[i];

            m->g.edges[i] = m->g.edges[--k];
            m->g.edge_kind[i] = m->g.edge_kind[k];
            m->g.edges[k] = edge;
            m->g.edge_kind[k] = kind;
            i++;
        }
    }
}

/* Same times run after run, and whatever the order of edges. */
static void test_contention__any_order_of_edges(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint32_t n = (uint32_t)(seed * 11 % 700),
                 lanes = 1 + (uint32_t)(seed % 9);
        struct made_graph m = made_graph_new(n, lanes, seed);
        struct result a, b;

        made_contention_random(&m, lanes, seed);
        a = run(&m);
        reverse_edges(&m);
        b = run(&m);
        CHECK(equal(a, b, n));
        release(a);
        release(b);
        made_contention_random_free(&m);
    }
}

/* Sharing only delays, and nobody is faster than alone. */
static void test_contention__never_faster_than_alone(void)
{
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint32_t n = (uint32_t)(seed * 11 % 700),
                 lanes = 1 + (uint32_t)(seed % 9);
        struct made_graph m = made_graph_new(n, lanes, seed);
        msim_ps *want = malloc(((size_t)n + 1) * sizeof(*want));
        struct result got;

        made_contention_random(&m, lanes, seed);
        made_graph_longest(&m, want);
        got = run(&m);
        for (uint32_t t = 0; t < n; t++)
            CHECK(got.start[t] >= want[t] && got.took[t] >= m.dur[t]);
        release(got);
        free(want);
        made_contention_random_free(&m);
    }
}

struct copy {
    msim_ps start, end;
    int side;
};

static int compare_copies(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;

    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->end > y->end) - (x->end < y->end);
}

/* The copies of device 0 in order; `*work`: what they would take alone. */
static uint32_t find_copies(const struct made_graph *m, struct result r,
                            struct copy *out, msim_ps *work)
{
    const struct msim_sharing *s = m->g.sharing;
    uint32_t n = 0;

    *work = 0;
    for (uint32_t d = 0; d < s->n_demands; d++) {
        uint32_t t = s->demands[d].task;

        if (s->demands[d].device ||
            (s->demands[d].kind != MSIM_DEMAND_TO_DEVICE &&
             s->demands[d].kind != MSIM_DEMAND_TO_HOST))
            continue;
        out[n++] = (struct copy){r.start[t], r.start[t] + r.took[t],
                                 s->demands[d].kind == MSIM_DEMAND_TO_HOST};
        *work += m->dur[t];
    }
    qsort(out, n, sizeof(*out), compare_copies);
    return n;
}

/*
 * Busy and idle make up the whole: copies of one direction do not overlap, and
 * a pipe of capacity 1 is busy for exactly the work of both directions (to a
 * ps of rounding a copy).
 */
static void test_contention__busy_and_idle_is_all(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint32_t n, lanes = 2 + (uint32_t)(seed % 9);
        struct made_graph m = made_graph_new(600, lanes, seed);
        struct copy *copies = calloc(600, sizeof(*copies));
        msim_ps busy = 0, work, last = 0, end[2] = {0, 0};
        struct result got;

        made_contention_random(&m, lanes, seed);
        got = run(&m);
        n = find_copies(&m, got, copies, &work);
        for (uint32_t i = 0; i < n; i++) {
            const struct copy *c = &copies[i];

            CHECK(c->start >= end[c->side]);
            end[c->side] = c->end;
            if (c->end > last)
                busy += c->end - (c->start > last ? c->start : last);
            last = c->end > last ? c->end : last;
        }
        CHECK(llabs(busy - work) <= (msim_ps)n);
        free(copies);
        release(got);
        made_contention_random_free(&m);
    }
}

int main(void)
{
    RUN(test_contention__two_flows_take_twice_as_long);
    RUN(test_contention__doubling_a_link);
    RUN(test_contention__unequal_flows_meet_halfway);
    RUN(test_contention__collectives_share);
    RUN(test_contention__messages_go_both_ways);
    RUN(test_contention__alone_again);
    RUN(test_contention__copies_take_turns);
    RUN(test_contention__a_late_copy_does_not_overtake);
    RUN(test_contention__full_device_holds_kernels);
    RUN(test_contention__who_is_not_held);
    RUN(test_contention__held_kernels_start_in_order);
    RUN(test_contention__collectives_slow_kernels);
    RUN(test_contention__messages_both_ways_slow_kernels);
    RUN(test_contention__slowed_kernels_drain_later);
    RUN(test_contention__without_rules_is_longest_path);
    RUN(test_contention__any_order_of_edges);
    RUN(test_contention__never_faster_than_alone);
    RUN(test_contention__busy_and_idle_is_all);
    return check_summary();
}

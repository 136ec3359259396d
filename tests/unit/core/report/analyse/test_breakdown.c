/*
 * tests/unit/core/report/analyse/test_breakdown.c - where an iteration's time
 * goes, and who waited for what, counted picosecond by picosecond.
 *
 * Two ranks of two threads and two streams each have random tasks. What the
 * sweeps of the program find is found again by asking of each instant what
 * runs in it.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"
#include "tests/unit/made_graph.h"

#define RANKS   2
#define LANES   (4 * RANKS)
#define TASKS   400
#define WINDOWS 8
#define EDGES   4
#define END     400

struct made {
    struct msim_graph g;
    struct msim_job job;
    uint8_t kind[TASKS], edge_kind[EDGES], removed[TASKS];
    uint32_t lane[TASKS], window[TASKS], by[TASKS];
    struct msim_task_ref refs[TASKS];
    msim_ps traced[TASKS], start[TASKS], dur[TASKS];
    struct msim_lane lanes[LANES];
    struct msim_window windows[WINDOWS];
    struct msim_run run;
    struct msim_binding binding;
    struct msim_window_times times[WINDOWS];
    struct msim_waits waits[WINDOWS];
};

static struct made made;

static uint32_t below(uint64_t *seed, uint32_t n)
{
    return made_random(seed) % n;
}

static uint32_t add(struct made *m, uint32_t rank, uint32_t lane, uint8_t kind,
                    msim_ps start, msim_ps dur)
{
    uint32_t t = m->g.n_tasks++;

    m->kind[t] = kind;
    m->lane[t] = lane;
    m->window[t] = MSIM_NONE;
    m->refs[t] = (struct msim_task_ref){.rank = (uint16_t)rank};
    m->start[t] = start;
    m->dur[t] = m->traced[t] = dur;
    return t;
}

static void add_lane(struct made *m, uint32_t rank, uint32_t lane,
                     uint64_t *seed)
{
    static const uint8_t HOSTS[] = {MSIM_TASK_HOST, MSIM_TASK_CALL,
                                    MSIM_TASK_GAP};
    static const uint8_t WORKS[] = {MSIM_TASK_KERNEL, MSIM_TASK_COPY,
                                    MSIM_TASK_COMM};
    bool device = lane % 4 > 1;
    msim_ps at = 5 + below(seed, 9);

    m->lanes[lane] = (struct msim_lane){.rank = rank, .device = device};
    for (uint32_t i = 0; i < 16; i++) {
        uint8_t kind = (device ? WORKS : HOSTS)[below(seed, 3)];
        msim_ps dur = below(seed, 9);

        if (kind == MSIM_TASK_COMM && below(seed, 4)) {
            add(m, rank, lane, MSIM_TASK_JOIN, at, 0);
            at += below(seed, 6);
        }
        add(m, rank, lane, kind, at, dur);
        at += dur;
        at += below(seed, 2) ? below(seed, 12) : 0;
    }
}

/* The tasks of a rank's first thread are `n` iterations. */
static void add_windows(struct made *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t r = 0; r < RANKS; r++) {
            uint32_t first = 0, at = m->g.n_windows++;

            while (m->lane[first] != 4 * r)
                first++;
            m->windows[at] =
                (struct msim_window){.first = first + 16 * i / n,
                                     .last = first + 16 * (i + 1) / n - 1,
                                     .rank = r,
                                     .iteration = i};
        }
}

static void point(struct made *m)
{
    m->job.n_ranks = RANKS;
    m->g.job = &m->job;
    m->g.kind = m->kind;
    m->g.lane = m->lane;
    m->g.window = m->window;
    m->g.edge_kind = m->edge_kind;
    m->g.traced = m->traced;
    m->g.refs = m->refs;
    m->g.lanes = m->lanes;
    m->g.windows = m->windows;
    m->run = (struct msim_run){.start = m->start, .dur = m->dur};
    m->binding.by = m->by;
}

static void make(struct made *m, uint64_t seed)
{
    memset(m, 0, sizeof(*m));
    point(m);
    m->g.n_lanes = LANES;
    for (uint32_t l = 0; l < LANES; l++)
        add_lane(m, l / 4, l, &seed);
    add(m, 0, MSIM_NONE, MSIM_TASK_JOIN, 20, 0); /* a meeting of ranks */
    for (uint32_t i = 0; i < EDGES; i++)
        m->edge_kind[i] = MSIM_EDGE_BYTE(3 * i, i % 3);
}

static struct msim_outcome outcome_of(struct made *m)
{
    return (struct msim_outcome){.graph = &m->g, .mid = m->run};
}

/* ---- classes ------------------------------------------------------------- */

static const enum msim_task_kind ORDER[] = {MSIM_TASK_KERNEL, MSIM_TASK_COMM,
                                            MSIM_TASK_COPY, MSIM_TASK_HOST};

/* What runs on a rank at an instant: a bit a class. */
static unsigned running(const struct made *m, uint32_t rank, uint32_t main,
                        msim_ps at)
{
    unsigned bits = 0;

    for (uint32_t t = 0; t < m->g.n_tasks; t++) {
        uint8_t kind = m->kind[t];
        msim_ps from = m->start[t];

        if (m->lane[t] == MSIM_NONE || m->refs[t].rank != rank)
            continue;
        if (kind == MSIM_TASK_CALL ||
            (kind == MSIM_TASK_GAP && m->lane[t] == main))
            kind = MSIM_TASK_HOST;
        if (kind == MSIM_TASK_COMM && t && m->kind[t - 1] == MSIM_TASK_JOIN &&
            m->lane[t - 1] == m->lane[t])
            from = m->start[t - 1];
        for (int c = 0; c < 4; c++)
            if (kind == ORDER[c] && from <= at && at < m->start[t] + m->dur[t])
                bits |= 1u << c;
    }
    return bits;
}

static void check_breakdown(struct made *m, const uint32_t main[RANKS])
{
    struct msim_outcome o = outcome_of(m);

    REQUIRE(msim_breakdown_find(&o, m->times) == MSIM_OK);
    for (uint32_t w = 0; w < m->g.n_windows; w++) {
        const struct msim_window_times *got = &m->times[w];
        msim_ps of[4] = {0}, hidden[2] = {0};

        for (msim_ps at = got->begin; at < got->end; at++) {
            uint32_t rank = m->windows[w].rank;
            unsigned bits = running(m, rank, main[rank], at);

            if (bits)
                of[__builtin_ctz(bits)]++;
            hidden[0] += (bits & 3) == 3;
            hidden[1] += (bits & 4) && (bits & 3);
        }
        CHECK_INT(got->compute, of[0]);
        CHECK_INT(got->communication, of[1]);
        CHECK_INT(got->copy, of[2]);
        CHECK_INT(got->host, of[3]);
        CHECK_INT(got->hidden_communication, hidden[0]);
        CHECK_INT(got->hidden_copy, hidden[1]);
    }
}

/* From when its thread comes to the first task to the end of the last. */
static void test_breakdown__iterations(void)
{
    static const uint32_t MAIN[] = {0, 4};

    for (uint64_t seed = 1; seed < 40; seed++) {
        make(&made, seed * 77);
        add_windows(&made, 1 + seed % 4);
        check_breakdown(&made, MAIN);
        for (uint32_t w = 0; w < made.g.n_windows; w++) {
            uint32_t first = made.windows[w].first, last = made.windows[w].last;
            msim_ps begin = made.start[first];

            if (first && made.lane[first - 1] == made.lane[first])
                begin = made.start[first - 1] + made.dur[first - 1];
            CHECK_INT(made.times[w].begin, begin);
            CHECK_INT(made.times[w].end, made.start[last] + made.dur[last]);
        }
    }
}

/* A thread may come to a task after it has begun: another one held it. */
static void test_breakdown__begins_early(void)
{
    uint32_t first;

    make(&made, 5);
    add_windows(&made, 2);
    made.dur[7] = made.start[8] - made.start[7] + 3;
    msim_window_bounds(&made.g, &made.run, made.times);
    CHECK_UINT(made.windows[2].first, 8);
    CHECK_INT(made.times[2].begin, made.start[8]);
    /* What another thread did before says nothing. */
    first = made.windows[1].first;
    made.start[first - 1] = made.dur[first - 1] = 0;
    msim_window_bounds(&made.g, &made.run, made.times);
    CHECK_INT(made.times[1].begin, made.start[first]);
}

/* Without marks it is all that the rank does; an empty mark takes no time. The
 * main thread is then the one that worked most, the first of equals. */
static void test_breakdown__whole(void)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        msim_ps first[RANKS] = {END, END}, last[RANKS] = {0};
        msim_ps work[LANES] = {0};
        uint32_t main[RANKS];

        make(&made, seed * 31);
        for (uint32_t r = 0; r < RANKS; r++)
            made.windows[made.g.n_windows++] = (struct msim_window){
                .first = MSIM_NONE, .last = MSIM_NONE, .rank = r};
        made.windows[made.g.n_windows++] = (struct msim_window){
            .first = MSIM_NONE, .last = MSIM_NONE, .rank = 1, .empty = true};
        for (uint32_t t = 0; t < made.g.n_tasks; t++) {
            uint32_t r = made.refs[t].rank;
            msim_ps end = made.start[t] + made.dur[t];

            if (seed % 5 == 0 && made.lane[t] % 4 < 2 &&
                made.lane[t] != MSIM_NONE)
                made.traced[t] = 3; /* then they are equal */
            if (made.lane[t] != MSIM_NONE)
                work[made.lane[t]] += made.traced[t];
            first[r] = made.start[t] < first[r] ? made.start[t] : first[r];
            last[r] = end > last[r] ? end : last[r];
        }
        made.traced[made.g.n_tasks - 1] = 1000; /* of no lane */
        for (uint32_t r = 0; r < RANKS; r++)
            main[r] = 4 * r + (work[4 * r + 1] > work[4 * r]);
        check_breakdown(&made, main);
        for (uint32_t r = 0; r < RANKS; r++) {
            CHECK_INT(made.times[r].begin, first[r]);
            CHECK_INT(made.times[r].end, last[r]);
        }
        CHECK_INT(made.times[2].begin, 0);
        CHECK_INT(made.times[2].end, 0);
    }
}

/* Times that are not known are no work; a rank without a thread has none. */
static void test_breakdown__main_lanes(void)
{
    uint32_t *main;

    make(&made, 9);
    for (uint32_t t = 0; t < made.g.n_tasks; t++)
        made.traced[t] = made.lane[t] == 1 ? 1 : MSIM_TIME_NONE;
    for (uint32_t l = 4; l < LANES; l++)
        made.lanes[l].device = true;
    main = msim_main_lanes(&made.g);
    REQUIRE(main != NULL);
    CHECK_UINT(main[0], 1);
    CHECK_UINT(main[1], MSIM_NONE);
    free(main);
}

/* ---- waits --------------------------------------------------------------- */

static void bind(struct made *m, uint64_t seed)
{
    static const uint32_t OTHERS[] = {MSIM_BY_NOTHING, MSIM_BY_SM,
                                      MSIM_BY_ENGINE,  MSIM_BY_PEER,
                                      MSIM_BY_RECORD,  MSIM_BY_UNKNOWN};

    for (uint32_t t = 0; t < m->g.n_tasks; t++) {
        uint32_t i = below(&seed, EDGES + 6);

        m->by[t] = i < EDGES ? i : OTHERS[i - EDGES];
        if (m->lane[t] != MSIM_NONE && m->lanes[m->lane[t]].device)
            m->window[t] =
                below(&seed, 3) ? below(&seed, m->g.n_windows) : MSIM_NONE;
    }
}

/* Add an instant to what windows of the rank hold it. */
static void tick(const struct made *m, struct msim_waits *want, uint32_t rank,
                 msim_ps at, unsigned hold, bool idle, bool main)
{
    for (uint32_t w = 0; w < m->g.n_windows; w++) {
        if (m->windows[w].rank != rank || at < m->times[w].begin ||
            at >= m->times[w].end)
            continue;
        if (idle)
            want[w].idle[hold]++;
        else
            want[w].host[hold]++;
        want[w].main[hold] += !idle && main;
    }
}

/* From the end of the task before it on its lane to its own begin. */
static void expect_lanes(const struct made *m, struct msim_waits *want)
{
    for (uint32_t t = 1; t < m->g.n_tasks; t++) {
        unsigned hold = msim_hold_of(&m->g, m->by[t]);
        msim_ps end = m->start[t - 1] + (m->removed[t - 1] ? 0 : m->dur[t - 1]);

        if (m->lane[t] != m->lane[t - 1] || m->lane[t] == MSIM_NONE ||
            hold == MSIM_HOLDS)
            continue;
        for (msim_ps at = end; at < m->start[t]; at++)
            if (m->lane[t] % 4 < 2)
                tick(m, want, m->refs[t].rank, at, hold, false,
                     m->lane[t] % 4 == 0);
            else if (m->window[t] != MSIM_NONE)
                want[m->window[t]].device[hold]++;
    }
}

/* An instant at which nothing runs on a rank's GPU waits for what begins next;
 * a collective's kernel runs from its arrival on. */
static void expect_idle(const struct made *m, struct msim_waits *want)
{
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (msim_ps at = 0; at < END; at++) {
            uint32_t next = MSIM_NONE;
            bool busy = false;

            for (uint32_t t = 0; t < m->g.n_tasks; t++) {
                msim_ps end = m->start[t] + (m->removed[t] ? 0 : m->dur[t]);

                if (m->lane[t] == MSIM_NONE || m->lane[t] / 4 != rank ||
                    m->lane[t] % 4 < 2)
                    continue;
                if (m->kind[t] == MSIM_TASK_JOIN)
                    end = m->start[t + 1];
                busy |= m->start[t] <= at && at < end;
                if (m->start[t] > at &&
                    (next == MSIM_NONE || m->start[t] < m->start[next]))
                    next = t;
            }
            if (!busy && next != MSIM_NONE &&
                msim_hold_of(&m->g, m->by[next]) != MSIM_HOLDS)
                tick(m, want, rank, at, msim_hold_of(&m->g, m->by[next]), true,
                     false);
        }
}

static void check_waits(struct made *m)
{
    struct msim_waits want[WINDOWS];

    memset(want, 0, sizeof(want));
    memset(m->waits, 0xff, sizeof(m->waits));
    expect_lanes(m, want);
    expect_idle(m, want);
    REQUIRE(msim_waits_find(&m->g, &m->run, &m->binding, m->times, m->waits) ==
            MSIM_OK);
    for (uint32_t w = 0; w < m->g.n_windows; w++)
        for (unsigned h = 0; h < MSIM_HOLDS; h++) {
            CHECK_INT(m->waits[w].main[h], want[w].main[h]);
            CHECK_INT(m->waits[w].host[h], want[w].host[h]);
            CHECK_INT(m->waits[w].idle[h], want[w].idle[h]);
            CHECK_INT(m->waits[w].device[h], want[w].device[h]);
        }
}

static void test_waits__of_iterations(void)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        make(&made, seed * 101);
        add_windows(&made, 1 + seed % 4);
        bind(&made, seed * 13);
        msim_window_bounds(&made.g, &made.run, made.times);
        check_waits(&made);
    }
}

/* Windows may lie in others. */
static void test_waits__of_nested_windows(void)
{
    for (uint64_t seed = 1; seed < 10; seed++) {
        make(&made, seed * 53);
        add_windows(&made, 4);
        bind(&made, seed * 3);
        for (uint32_t w = 0; w < made.g.n_windows; w++) {
            msim_ps begin = 10 * w;

            made.times[w] = (struct msim_window_times){
                .begin = begin, .end = w < RANKS ? END : begin + 9};
        }
        check_waits(&made);
    }
}

/* What is removed is over as it begins. */
static void test_waits__removed(void)
{
    for (uint64_t seed = 1; seed < 10; seed++) {
        make(&made, seed * 19);
        add_windows(&made, 2);
        bind(&made, seed * 23);
        for (uint32_t t = (uint32_t)(seed % 3); t < made.g.n_tasks; t += 3)
            made.removed[t] = 1;
        made.run.removed = made.removed;
        msim_window_bounds(&made.g, &made.run, made.times);
        check_waits(&made);
    }
}

/* ---- their words --------------------------------------------------------- */

static void test_waits__holds(void)
{
    make(&made, 3);
    CHECK_UINT(msim_hold_of(&made.g, 1), 3);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_NOTHING), MSIM_HOLDS);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_SM), MSIM_HOLD_SM);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_ENGINE), MSIM_HOLD_ENGINE);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_PEER), MSIM_HOLD_PEER);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_RECORD), MSIM_HOLD_RECORD);
    CHECK_UINT(msim_hold_of(&made.g, MSIM_BY_UNKNOWN), MSIM_HOLD_UNKNOWN);
    CHECK_STR(msim_hold_text(MSIM_EDGE_QUEUE), "launch queue full");
    CHECK_STR(msim_hold_text(MSIM_HOLD_PEER), "rank without a trace");
    CHECK_STR(msim_hold_text(MSIM_HOLD_RECORD), "start as recorded");
    CHECK_STR(msim_hold_text(MSIM_HOLD_UNKNOWN), "unknown");
    CHECK_STR(msim_hold_source(&made.g, 1),
              msim_edge_source_text(MSIM_FROM_IDS));
    CHECK(msim_hold_source(&made.g, MSIM_BY_SM) == NULL);
    CHECK(msim_hold_source(&made.g, MSIM_BY_NOTHING) == NULL);
}

int main(void)
{
    RUN(test_breakdown__iterations);
    RUN(test_breakdown__begins_early);
    RUN(test_breakdown__whole);
    RUN(test_breakdown__main_lanes);
    RUN(test_waits__of_iterations);
    RUN(test_waits__of_nested_windows);
    RUN(test_waits__removed);
    RUN(test_waits__holds);
    return check_summary();
}

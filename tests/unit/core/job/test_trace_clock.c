/*
 * tests/unit/core/job/test_trace_clock.c - one clock for all ranks.
 *
 * Each rank has collectives of one group whose kernels take 10 us; tests say
 * when they end on the rank's own clock, in us, and where its time 0 is.
 */
#include "core/job/job.h"
#include "tests/check.h"

#include <stdlib.h>

#define RANKS 4
#define MOST  8
#define US    ((msim_ps)MSIM_PS_PER_US)

struct rank {
    struct msim_trace t;
    struct msim_op ops[1];
    struct msim_call calls[MOST];
    struct msim_gpu gpu[MOST];
    struct msim_sync syncs[1];
    struct msim_step steps[1];
    struct msim_memory_total memory[1];
    struct msim_comm comms[MOST];
    struct msim_group groups[1];
};

static struct rank ranks[RANKS];
static struct msim_trace *traces[RANKS];
static struct msim_trace_clock clocks[RANKS];
static struct msim_job job;

/* `n` ranks of host "a" whose time 0 is the same. */
static void make(uint32_t n)
{
    uint32_t host = 0;

    memset(ranks, 0, sizeof(ranks));
    memset(&job, 0, sizeof(job));
    msim_arena_init(&job.arena);
    CHECK_INT(msim_strtab_new(&job.strings), MSIM_OK);
    CHECK_INT(msim_strtab_add(job.strings, "a", 1, &host), MSIM_OK);
    job.ranks = traces;
    job.n_ranks = n;
    for (uint32_t r = 0; r < n; r++) {
        struct rank *m = &ranks[r];

        m->groups[0] = (struct msim_group){.size = n};
        m->t = (struct msim_trace){.strings = job.strings,
                                   .ops = m->ops,
                                   .calls = m->calls,
                                   .gpu = m->gpu,
                                   .syncs = m->syncs,
                                   .steps = m->steps,
                                   .memory = m->memory,
                                   .comms = m->comms,
                                   .groups = m->groups,
                                   .n_groups = 1,
                                   .rank = r,
                                   .host = host,
                                   .has_times = true};
        traces[r] = &m->t;
        clocks[r] = (struct msim_trace_clock){.known = true, .us = 1000000};
    }
}

static void set_host(uint32_t rank, const char *host)
{
    CHECK_INT(
        msim_strtab_add(job.strings, host, strlen(host), &traces[rank]->host),
        MSIM_OK);
}

static void release(void)
{
    free(job.warnings);
    msim_arena_release(&job.arena);
    msim_strtab_free(job.strings);
}

static void add(uint32_t rank, uint8_t kind, int64_t sequence, msim_ps end)
{
    struct rank *m = &ranks[rank];
    uint32_t i = m->t.n_comms++;

    m->comms[i] = (struct msim_comm){
        .collective = kind, .sequence = sequence, .peer = -1, .op = MSIM_NONE};
    m->gpu[m->t.n_gpu++] = (struct msim_gpu){
        .start = end - 10 * US, .dur = 10 * US, .comm = i, .call = MSIM_NONE};
}

/* Three that end 100, 200 and 300 us after the rank's time 0 and `late`. */
static void add_three(uint32_t rank, msim_ps late)
{
    for (int i = 1; i <= 3; i++)
        add(rank, MSIM_COLL_ALL_REDUCE, -1, 100 * i * US + late);
}

static void align(void)
{
    CHECK_INT(msim_clock_align(&job, clocks), MSIM_OK);
}

/* When a rank's first collective ends, behind the first one's begin. */
static void check_at(uint32_t rank, msim_ps end, msim_ps shift)
{
    CHECK_INT(ranks[rank].gpu[0].start, end - 10 * US);
    CHECK_INT(traces[rank]->clock_shift, shift);
}

static void check_warned(uint32_t n, const char *last)
{
    CHECK_UINT(job.n_warnings, n);
    if (n && job.n_warnings == n)
        CHECK_STR(job.warnings[n - 1], last);
}

static uint64_t noted(uint32_t rank)
{
    return traces[rank]->import.rows[MSIM_IMPORT_CLOCK].n;
}

/* ---- one clock ----------------------------------------------------------- */

/* A rank alone stays as it is. */
static void test_trace_clock__alone(void)
{
    make(1);
    add_three(0, 50 * US);
    align();
    check_at(0, 150 * US, 0);
    release();
}

/* All columns move, and the earliest of all is 0. */
static void test_trace_clock__origins(void)
{
    struct rank *m = &ranks[1];

    make(2);
    add_three(0, 50 * US);
    add_three(1, 50 * US);
    clocks[1].us += 7;
    clocks[1].ps = 3;
    for (uint32_t r = 0; r < 2; r++) {
        traces[r]->n_ops = traces[r]->n_calls = traces[r]->n_syncs = 1;
        traces[r]->n_memory = traces[r]->n_steps = 1;
        ranks[r].ops[0].start = 100 * US;
        ranks[r].calls[0].start = 90 * US;
        ranks[r].syncs[0].start = 80 * US;
        ranks[r].steps[0].start = 70 * US;
        ranks[r].memory[0].at = 60 * US;
    }
    align();
    /* The first call begins at 90, and no event of work before it. */
    CHECK_INT(m->ops[0].start, 17 * US + 3);
    CHECK_INT(m->calls[0].start, 7 * US + 3);
    CHECK_INT(m->syncs[0].start, -3 * US + 3);
    CHECK_INT(m->steps[0].start, -13 * US + 3);
    CHECK_INT(m->memory[0].at, -23 * US + 3);
    CHECK_INT(m->gpu[0].start, 57 * US + 3);
    CHECK_INT(ranks[0].calls[0].start, 0);
    CHECK_INT(traces[1]->clock_shift, 0);
    check_warned(0, NULL);
    release();
}

/* The earliest may be an operator, a call or an activity. */
static void test_trace_clock__earliest(void)
{
    for (int which = 0; which < 3; which++) {
        make(2);
        add_three(0, 0);
        add_three(1, 0);
        for (uint32_t r = 0; r < 2; r++) {
            traces[r]->n_ops = traces[r]->n_calls = 1;
            ranks[r].ops[0].start = which == 0 ? 20 * US : 500 * US;
            ranks[r].calls[0].start = which == 1 ? 20 * US : 500 * US;
        }
        align();
        CHECK_INT(which == 0   ? ranks[1].ops[0].start
                  : which == 1 ? ranks[1].calls[0].start
                               : ranks[1].gpu[0].start,
                  0);
        release();
    }
}

/* On one host a clock is off from a millisecond on; between two, from half a
 * microsecond on. */
static void check_lag(msim_ps late, bool hosts, bool off, const char *said)
{
    make(2);
    if (hosts)
        set_host(1, "b");
    add_three(0, 0);
    add_three(1, late);
    align();
    check_at(0, off || late > 0 ? 10 * US : 10 * US - late, 0);
    check_at(1,
             off        ? 10 * US
             : late > 0 ? 10 * US + late
                        : 10 * US,
             off ? -late : 0);
    check_warned(off, said);
    CHECK_UINT(noted(1), off);
    CHECK_UINT(noted(0), 0);
    release();
}

static void test_trace_clock__lag(void)
{
    check_lag(999 * US, false, false, NULL);
    check_lag(-999 * US, false, false, NULL);
    check_lag(1000 * US, false, true,
              "rank 1: its clock is 1.000 ms off rank 0's; aligned on the ends "
              "of their collectives");
    check_lag(-2500 * US, false, true,
              "rank 1: its clock is -2.500 ms off rank 0's; aligned on the "
              "ends of their collectives");
    check_lag(499999, true, false, NULL);
    check_lag(500000, true, true,
              "rank 1: its clock is 0.001 ms off rank 0's; aligned on the ends "
              "of their collectives");
    check_lag(-499999, true, false, NULL);
}

/* The median counts: one that ends late does not. */
static void test_trace_clock__median(void)
{
    make(2);
    for (int i = 0; i < 5; i++) {
        add(0, MSIM_COLL_ALL_REDUCE, -1, 10000 * (i + 1) * US);
        add(1, MSIM_COLL_ALL_REDUCE, -1,
            10000 * (i + 1) * US + (i == 1 ? 9000 : 3000 + i) * US);
    }
    align();
    CHECK_INT(traces[1]->clock_shift, -3003 * US);
    release();
}

/* ---- no common clock ----------------------------------------------------- */

/* An hour apart is no common clock, nor is one that is not known. */
static void check_other(bool known, int64_t us, bool other)
{
    make(2);
    add_three(0, 0);
    add_three(1, 70 * US);
    clocks[1] = (struct msim_trace_clock){.known = known, .us = us};
    align();
    if (other) {
        check_at(0, 10 * US, 0);
        check_at(1, 10 * US, -70 * US);
        check_warned(1, "rank 1: its clock is another one than rank 0's; "
                        "aligned on the ends of their collectives");
    } else {
        CHECK_INT(traces[1]->clock_shift, -(us - 1000000 + 70) * US);
    }
    CHECK_UINT(noted(1), 1);
    release();
}

static void test_trace_clock__other_clock(void)
{
    const int64_t hour = INT64_C(3600) * 1000 * 1000;

    check_other(false, 1000000, true);
    check_other(true, 1000000 + hour, true);
    check_other(true, 1000000 - hour, true);
    check_other(true, INT64_MIN, true);
    check_other(true, 1000000 + hour - 1, false);
    check_other(true, 1000000 - hour + 1, false);
}

/* Two collectives prove nothing. On one host clocks are one all the same; of
 * two hosts, or of no known clock, it is said. */
static void check_unproved(const char *host, bool known, bool warned)
{
    make(2);
    if (host)
        set_host(1, host);
    clocks[1].known = known;
    clocks[1].us += 7;
    for (int i = 1; i < 3; i++) {
        add(0, MSIM_COLL_ALL_REDUCE, -1, 100 * i * US);
        add(1, MSIM_COLL_ALL_REDUCE, -1, 100 * i * US + 50000 * US);
    }
    align();
    check_at(1, 10 * US + 50000 * US + (known ? 7 * US : 0), 0);
    check_warned(warned, "rank 0 and rank 1 are on different clocks and share "
                         "no collective to align them by");
    CHECK_UINT(noted(1), 0);
    release();
}

static void test_trace_clock__unproved(void)
{
    check_unproved(NULL, true, false);
    check_unproved("b", true, true);
    check_unproved("", true, false); /* of no known host */
    check_unproved(NULL, false, true);
}

/* From rank to rank: 2 meets 1 alone, and has the first one's clock. */
static void test_trace_clock__passes_on(void)
{
    static int32_t members[] = {1, 2, 0, 1};

    make(3);
    for (uint32_t r = 0; r < 3; r++) {
        clocks[r].known = false;
        traces[r]->group_ranks = members;
        traces[r]->n_group_ranks = 4;
    }
    add_three(0, 0);
    add_three(1, 40 * US);
    for (uint32_t r = 0; r < 2; r++)
        ranks[r].groups[0] =
            (struct msim_group){.size = 2, .first = 2, .count = 2};
    /* Rank 1 has a second group, which rank 2 has as its first. */
    {
        static struct msim_group two[2];

        two[0] = ranks[1].groups[0];
        two[1] = (struct msim_group){.size = 2, .first = 0, .count = 2};
        traces[1]->groups = two;
        traces[1]->n_groups = 2;
        ranks[2].groups[0] = two[1];
    }
    for (int i = 4; i <= 6; i++) {
        add(1, MSIM_COLL_ALL_REDUCE, -1, 100 * i * US);
        ranks[1].comms[i - 1].group = 1;
        add(2, MSIM_COLL_ALL_REDUCE, -1, 100 * i * US + 900 * US);
    }
    align();
    check_at(0, 10 * US, 0);
    check_at(1, 10 * US, -40 * US);
    /* It ends with rank 1's at 400: 40 earlier, and 90 of all before. */
    CHECK_INT(ranks[2].gpu[0].start, (400 - 40 - 90 - 10) * US);
    check_warned(2, "rank 2: its clock is another one than rank 0's; aligned "
                    "on the ends of their collectives");
    release();
}

/* ---- which collectives --------------------------------------------------- */

/* Only kinds that all ranks end together, by kind, and by number where both
 * have some; before the first step others may have no record. */
static void test_trace_clock__matched(void)
{
    make(2);
    for (int i = 0; i < 3; i++) {
        add(0, MSIM_COLL_ALL_REDUCE, 5 + i, 1000 * (i + 1) * US);
        add(1, MSIM_COLL_ALL_REDUCE, 5 + i, 1000 * (i + 1) * US + 4000 * US);
    }
    add(1, MSIM_COLL_ALL_REDUCE, 4, 500 * US); /* the first, without a peer */
    add(1, MSIM_COLL_SEND, -1, 100 * US);
    add(0, MSIM_COLL_WAIT, -1, 100 * US);
    align();
    CHECK_INT(traces[1]->clock_shift, -4000 * US);
    release();
    make(2);
    for (int i = 0; i < 3; i++) {
        add(0, i ? MSIM_COLL_ALL_REDUCE : MSIM_COLL_BARRIER, -1,
            100 * (i + 1) * US);
        add(1, MSIM_COLL_ALL_REDUCE, -1, 100 * (i + 1) * US + 4000 * US);
    }
    align();
    CHECK_INT(traces[1]->clock_shift, 0); /* two are of one kind */
    release();
}

static void test_trace_clock__before_steps(void)
{
    for (int early = 0; early < 2; early++) {
        make(2);
        add(1, MSIM_COLL_ALL_REDUCE, -1, 600 * US);
        add_three(0, 1000 * US);
        add_three(1, 5000 * US);
        traces[1]->n_steps = 1;
        ranks[1].steps[0].start = 550 * US;
        ranks[1].gpu[0].call = 0;
        ranks[1].calls[0].start = early ? 549 * US : 550 * US;
        align();
        CHECK_INT(traces[1]->clock_shift, early ? -4000 * US : -3900 * US);
        release();
    }
}

/* Of several kernels of one call the last to end. A rank without times has
 * none to move. */
static void test_trace_clock__ends(void)
{
    make(3);
    add_three(0, 0);
    add_three(1, 0);
    add_three(2, 9000 * US);
    traces[2]->has_times = false;
    for (uint32_t i = 0; i < 3; i++) {
        ranks[1].gpu[3 + i] = ranks[1].gpu[i];
        ranks[1].gpu[3 + i].dur += 2000 * US;
    }
    traces[1]->n_gpu = 6;
    align();
    CHECK_INT(traces[1]->clock_shift, -2000 * US);
    CHECK_INT(ranks[2].gpu[0].start, 9090 * US);
    check_warned(1, "rank 1: its clock is 2.000 ms off rank 0's; aligned on "
                    "the ends of their collectives");
    release();
}

int main(void)
{
    RUN(test_trace_clock__alone);
    RUN(test_trace_clock__origins);
    RUN(test_trace_clock__earliest);
    RUN(test_trace_clock__lag);
    RUN(test_trace_clock__median);
    RUN(test_trace_clock__other_clock);
    RUN(test_trace_clock__unproved);
    RUN(test_trace_clock__passes_on);
    RUN(test_trace_clock__matched);
    RUN(test_trace_clock__before_steps);
    RUN(test_trace_clock__ends);
    return check_summary();
}

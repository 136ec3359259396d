/*
 * tests/unit/core/match/test_lost_comms.c - collectives of which a rank has no
 * record.
 *
 * A rank's calls are letters: equal ones are of one size. They lie at equal
 * distances in a span of the recording: 0 is before the first step, 1 and 3
 * are the steps, 2 and 4 are behind them.
 */
#include "core/match/lost_comms.h"
#include "core/trace/trace_columns.h"
#include "tests/check.h"

#define RANKS 3
#define MOST  32

struct rank {
    struct msim_trace t;
    struct msim_step steps[2];
    struct msim_comm comms[MOST];
    struct msim_op ops[MOST];
    struct msim_gpu gpu[MOST];
    struct msim_group groups[1];
};

static struct rank ranks[RANKS];
static struct msim_trace *traces[RANKS];
static msim_ps origins[RANKS];

static void make(void)
{
    memset(ranks, 0, sizeof(ranks));
    for (int r = 0; r < RANKS; r++) {
        struct rank *m = &ranks[r];

        for (uint32_t s = 0; s < 2; s++)
            m->steps[s] = (struct msim_step){.number = s,
                                             .start = 1000 + 2000 * s,
                                             .dur = 1000,
                                             .node_from = 1000 + 2000 * s,
                                             .node_to = 2000 + 2000 * s};
        m->groups[0] = (struct msim_group){.size = 9, .name = 5};
        m->t = (struct msim_trace){.steps = m->steps,
                                   .n_steps = 2,
                                   .comms = m->comms,
                                   .ops = m->ops,
                                   .gpu = m->gpu,
                                   .groups = m->groups,
                                   .n_groups = 1,
                                   .rank = r};
        traces[r] = &m->t;
        origins[r] = MSIM_TIME_NONE;
    }
}

static struct msim_comm *add(int rank, char letter, uint32_t place)
{
    struct rank *m = &ranks[rank];
    uint32_t i = m->t.n_comms++, op = m->t.n_ops++;

    m->ops[op] = (struct msim_op){.et_id = place};
    m->comms[i] = (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                                     .in_elems = (uint64_t)letter,
                                     .sequence = -1,
                                     .peer = -1,
                                     .op = op};
    return &m->comms[i];
}

static void call(int rank, uint32_t span, const char *letters)
{
    uint32_t n = (uint32_t)strlen(letters);

    for (uint32_t i = 0; i < n; i++)
        add(rank, letters[i], 1000 * span + 1000 * i / n);
}

static void match(uint32_t n)
{
    CHECK_INT(msim_match_lost(traces, n, n, origins), MSIM_OK);
}

/* Each digit is the number of a call, '-' none. */
static void check_numbers(int rank, const char *want)
{
    char got[MOST + 1] = "";

    for (uint32_t i = 0; i < ranks[rank].t.n_comms; i++) {
        int64_t n = ranks[rank].comms[i].sequence;

        got[i] = n < 0 ? '-' : (char)('0' + n);
    }
    CHECK_STR(got, want);
}

static void check_log(int rank, uint64_t lost, uint64_t matched)
{
    const struct msim_import_log *log = &ranks[rank].t.import;

    CHECK_UINT(log->rows[MSIM_IMPORT_LOST_COMM].n, lost);
    CHECK_UINT(log->rows[MSIM_IMPORT_COMM_MATCH].n, matched);
}

/* Where none is lost the nth is the nth, and needs no number. */
static void test_lost_comms__none(void)
{
    make();
    for (int r = 0; r < RANKS; r++)
        call(r, 1, "abc");
    match(RANKS);
    for (int r = 0; r < RANKS; r++) {
        check_numbers(r, "---");
        check_log(r, 0, 0);
    }
}

static void test_lost_comms__one_in_a_step(void)
{
    make();
    call(0, 1, "abc");
    call(1, 1, "ac");
    call(2, 1, "abc");
    for (int r = 0; r < RANKS; r++)
        call(r, 3, "de");
    match(RANKS);
    check_numbers(0, "01234");
    check_numbers(1, "0234");
    check_numbers(2, "01234");
    check_log(0, 0, 0);
    check_log(1, 1, 2); /* of the step alone */
    check_log(2, 0, 0);
}

/* One rank, two that mark other steps, and a group that only one calls. */
static void test_lost_comms__nothing_to_compare(void)
{
    make();
    call(0, 1, "abc");
    call(1, 1, "ac");
    match(1);
    check_numbers(0, "---");
    ranks[1].steps[1].number = 7;
    match(2);
    check_numbers(0, "---");
    check_numbers(1, "--");
    ranks[1].steps[1].number = 1;
    ranks[1].groups[0].size = 8;
    match(2);
    check_numbers(0, "---");
    check_numbers(1, "--");
    ranks[1].groups[0].size = 9;
    match(2);
    check_numbers(0, "012");
    check_numbers(1, "02");
}

/* Each lost another: it shows where the nth cannot be the nth. */
static void test_lost_comms__equally_many(void)
{
    make();
    call(0, 1, "ab");
    call(1, 1, "bc");
    match(2);
    check_numbers(0, "01");
    check_numbers(1, "12");
    check_log(0, 1, 2);
    check_log(1, 1, 2);
}

/* Two threads may call in another order; and what meets nothing else may be of
 * sizes that differ. */
static void test_lost_comms__another_order(void)
{
    make();
    call(0, 1, "abc");
    call(1, 1, "bac");
    match(2);
    check_numbers(0, "---");
    make();
    call(0, 1, "ab");
    call(1, 1, "cd");
    match(2);
    check_numbers(0, "--");
    check_log(0, 0, 0);
}

/* Before the first step they count from it; behind a step from its end; that
 * they differ there is no loss. */
static void test_lost_comms__outside_of_steps(void)
{
    make();
    call(0, 0, "xyz");
    call(1, 0, "z");
    call(0, 2, "pq");
    call(1, 2, "p");
    match(2);
    check_numbers(0, "-----");
    call(0, 3, "ab");
    call(1, 3, "b");
    match(2);
    check_numbers(0, "0123456");
    check_numbers(1, "236");
    check_log(0, 0, 0);
    check_log(1, 1, 1);
}

/* The group of each is its own: numbers begin at 0 in each. */
static void test_lost_comms__two_groups(void)
{
    make();
    for (int r = 0; r < 2; r++) {
        call(r, 1, r ? "aba" : "abaa");
        for (uint32_t i = 1; i < ranks[r].t.n_comms; i += 2) {
            ranks[r].comms[i].group = MSIM_NONE; /* all of one kind then */
            ranks[r].comms[i].collective = MSIM_COLL_SEND;
            ranks[r].comms[i].peer = 7;
        }
        ranks[r].t.rank = 4; /* the same end */
    }
    match(2);
    check_numbers(0, "-0-1");
    check_numbers(1, "-0-");
    check_log(1, 1, 1);
}

/* ---- times --------------------------------------------------------------- */

/* Us, on the rank's own clock; launched at `place`. */
static void run(int rank, msim_ps place, msim_ps from_us, msim_ps to_us)
{
    struct rank *m = &ranks[rank];
    static struct msim_call calls[RANKS][MOST];
    uint32_t g = m->t.n_gpu++;

    m->t.has_times = m->t.has_gpu_events = true;
    m->t.calls = calls[rank];
    calls[rank][g].start = place;
    add(rank, 'a', 0)->op = MSIM_NONE;
    m->t.n_ops = 0;
    m->gpu[g] = (struct msim_gpu){.start = from_us * MSIM_PS_PER_US,
                                  .dur = (to_us - from_us) * MSIM_PS_PER_US,
                                  .comm = m->t.n_comms - 1,
                                  .call = g};
}

/* By their launches the two are the first two; by their times, the last two:
 * rank 1 began 5000 us after rank 0. */
static void make_timed(msim_ps us)
{
    make();
    for (msim_ps i = 0; i < 3; i++)
        run(0, 1100 + 100 * i, 10000 * i, 10000 * i + us);
    for (msim_ps i = 0; i < 2; i++)
        run(1, 1100 + 100 * i, 10000 * (i + 1) - 5000,
            10000 * (i + 1) - 5000 + us);
}

static void test_lost_comms__times_on_one_clock(void)
{
    for (msim_ps us = 0; us <= 100; us += 100) {
        make_timed(us);
        origins[0] = 300 * (msim_ps)MSIM_PS_PER_US;
        origins[1] = 5300 * (msim_ps)MSIM_PS_PER_US;
        match(2);
        check_numbers(0, "012");
        check_numbers(1, "12");
        check_log(1, 1, 2);
    }
}

/* Without a common clock the ends of the nth are taken to be one. */
static void test_lost_comms__times_on_two_clocks(void)
{
    for (int without = 0; without < 2; without++) {
        make_timed(100);
        origins[without] = 0;
        match(2);
        check_numbers(0, "012");
        check_numbers(1, "01");
    }
}

/* By what the ends of the nth differ: whatever their launches say. */
static void test_lost_comms__ends_of_the_nth(void)
{
    make();
    for (msim_ps i = 0; i < 4; i++)
        run(0, 1100 + 200 * i, 10000 * i, 10000 * i + 100);
    for (msim_ps i = 0; i < 2; i++)
        run(1, 1700 + 200 * i, 10000 * i + 3000, 10000 * i + 3100);
    match(2);
    check_numbers(0, "0123");
    check_numbers(1, "01");
    make(); /* of one pair */
    run(0, 1100, 10000, 10100);
    run(0, 1700, 20000, 20100);
    run(1, 1700, 13000, 13100);
    match(2);
    check_numbers(0, "01");
    check_numbers(1, "0");
}

/* A clock that says they meet less often than the ends do is no common one. */
static void test_lost_comms__clock_that_is_off(void)
{
    make_timed(100);
    origins[0] = 0;
    origins[1] = 5000000 * (msim_ps)MSIM_PS_PER_US;
    match(2);
    check_numbers(0, "012");
    check_numbers(1, "01");
}

/* Where less than half can meet, times tell nothing: then the parts of the step
 * do. No two of rank 1's lie as far apart as two of rank 0's do. */
static void test_lost_comms__times_that_tell_nothing(void)
{
    make();
    for (msim_ps i = 0; i < 6; i++)
        run(0, 1100 + 100 * i, 100000 * i, 100000 * i + 10);
    for (msim_ps i = 0; i < 5; i++)
        run(1, 1200 + 100 * i, 7000 * i * i, 7000 * i * i + 10);
    match(2);
    check_numbers(0, "012345");
    check_numbers(1, "12345");
    check_log(1, 1, 5);
}

/* ---- numbers that are recorded ------------------------------------------- */

/* A digit is a call of that number. */
static void call_numbers(int rank, uint32_t span, const char *digits)
{
    uint32_t n = (uint32_t)strlen(digits);

    for (uint32_t i = 0; i < n; i++)
        add(rank, 'a', 1000 * span + 1000 * i / n)->sequence = digits[i] - '0';
}

static void check_recorded(const char *a, const char *b, const char *c,
                           uint64_t lost_a, uint64_t lost_b, uint64_t lost_c)
{
    const char *digits[RANKS] = {a, b, c};
    uint64_t lost[RANKS] = {lost_a, lost_b, lost_c};

    match(RANKS);
    for (int r = 0; r < RANKS; r++) {
        check_numbers(r, digits[r]);
        check_log(r, lost[r], 0);
    }
}

/* A number of a step that a rank has nowhere is lost; where most are not on all
 * ranks, or one is twice on one, they do not count the group's calls. */
static void check_numbered(const char *a, const char *b, const char *c,
                           uint64_t lost_a, uint64_t lost_b, uint64_t lost_c)
{
    make();
    call_numbers(0, 1, a);
    call_numbers(1, 1, b);
    call_numbers(2, 1, c);
    check_recorded(a, b, c, lost_a, lost_b, lost_c);
}

static void test_lost_comms__numbered(void)
{
    check_numbered("012345", "012345", "012345", 0, 0, 0);
    check_numbered("012345", "01245", "012345", 0, 1, 0);
    check_numbered("1234567", "0124567", "0123456", 1, 1, 1);
    check_numbered("012345", "012345", "02135", 0, 0, 1);
    check_numbered("0123", "0123", "01", 0, 0, 0); /* a half is not most */
    check_numbered("01234", "01234", "012", 0, 0, 2);
    check_numbered("012345", "0123345", "01234", 0, 0, 0);
    check_numbered("012345", "012345", "012346", 1, 1, 1);
}

/* Of a number that any rank calls outside of a step nobody lost it. */
static void test_lost_comms__numbered_outside_of_steps(void)
{
    make();
    for (int r = 0; r < RANKS; r++)
        call_numbers(r, 1, "01234");
    call_numbers(0, 2, "5");
    call_numbers(1, 3, "5");
    call_numbers(0, 3, "6");
    check_recorded("0123456", "012345", "01234", 0, 1, 1);
}

/* Recordings without steps need not begin and end together. */
static void test_lost_comms__numbered_without_steps(void)
{
    make();
    for (int r = 0; r < RANKS; r++)
        ranks[r].t.n_steps = 0;
    call_numbers(0, 1, "1345679");
    call_numbers(1, 1, "23456789:");
    call_numbers(2, 1, "23456789");
    /* Of all from 2 to 8 the first and the last are not everywhere. */
    check_recorded("1345679", "23456789:", "23456789", 2, 0, 0);
}

/* One call without a number: no numbers are judged, none are given. */
static void test_lost_comms__half_numbered(void)
{
    make();
    call_numbers(0, 1, "0123");
    call_numbers(1, 1, "012");
    ranks[0].comms[1].sequence = -1;
    match(2);
    check_numbers(0, "0-23");
    check_log(1, 0, 0);
}

/* ---- messages ------------------------------------------------------------ */

static void message(int rank, uint8_t kind, int32_t peer, uint32_t place,
                    int64_t sequence)
{
    struct msim_comm *c = add(rank, 'm', place);

    c->collective = kind;
    c->peer = peer;
    c->sequence = sequence;
}

/* A rank counts its messages with all others: their numbers differ by nature,
 * and are given again. */
static void test_lost_comms__numbered_messages(void)
{
    make();
    for (uint32_t i = 0; i < 3; i++)
        message(0, MSIM_COLL_SEND, 1, 1100 + 200 * i, 2 * i);
    for (uint32_t i = 0; i < 2; i++)
        message(1, MSIM_COLL_RECV, 0, 1100 + 200 * i, 7 + i);
    match(2);
    check_numbers(0, "012");
    check_numbers(1, "01");
    check_log(1, 1, 2);
    make(); /* whatever the order of the numbers of both is */
    message(0, MSIM_COLL_SEND, 1, 1100, 0);
    message(0, MSIM_COLL_SEND, 1, 1500, 2);
    message(0, MSIM_COLL_SEND, 1, 3100, 4);
    message(1, MSIM_COLL_RECV, 0, 1100, 1);
    message(1, MSIM_COLL_RECV, 0, 3100, 3);
    match(2);
    check_numbers(0, "012");
    check_numbers(1, "02");
    check_log(1, 1, 1);
}

/* One that lost all of them is an end nevertheless, if it names whom it talks
 * to at all. */
static void test_lost_comms__lost_end(void)
{
    for (int named = 0; named < 2; named++) {
        make();
        message(0, MSIM_COLL_SEND, 1, 1100, -1);
        message(0, MSIM_COLL_SEND, 1, 1200, -1);
        if (named) {
            message(1, MSIM_COLL_SEND, 2, 1100, -1);
            message(2, MSIM_COLL_RECV, 1, 1100, -1);
        }
        match(RANKS);
        check_numbers(0, named ? "01" : "--");
        check_log(0, 0, 0);
        check_log(1, named ? 2 : 0, 0);
        check_log(2, 0, 0);
    }
}

int main(void)
{
    RUN(test_lost_comms__none);
    RUN(test_lost_comms__one_in_a_step);
    RUN(test_lost_comms__nothing_to_compare);
    RUN(test_lost_comms__equally_many);
    RUN(test_lost_comms__another_order);
    RUN(test_lost_comms__outside_of_steps);
    RUN(test_lost_comms__two_groups);
    RUN(test_lost_comms__times_on_one_clock);
    RUN(test_lost_comms__times_on_two_clocks);
    RUN(test_lost_comms__ends_of_the_nth);
    RUN(test_lost_comms__clock_that_is_off);
    RUN(test_lost_comms__times_that_tell_nothing);
    RUN(test_lost_comms__numbered);
    RUN(test_lost_comms__numbered_outside_of_steps);
    RUN(test_lost_comms__numbered_without_steps);
    RUN(test_lost_comms__half_numbered);
    RUN(test_lost_comms__numbered_messages);
    RUN(test_lost_comms__lost_end);
    return check_summary();
}

/* Turns of pipeline stages: all of them together go through. */
#include "core/pipeline/pipeline_schedule.h"
#include "tests/check.h"

#define STAGES   8
#define MESSAGES 128 /* most that a stage sends one way */

/* What a stage sends one way, in its order: all goes to one other stage. */
struct link {
    struct msim_turn turns[MESSAGES]; /* as the receiver has them */
    uint64_t at[MESSAGES];            /* when each was sent */
    uint32_t sent, received;
};

/* All stages together. Times are of passes: forward 1, gradients of inputs and
 * of weights 1 each. */
struct job {
    struct msim_pipeline_schedule of[STAGES];
    struct link links[STAGES][2]; /* by sender, then way */
    uint32_t stages, chunks, at[STAGES];
    bool split;
    uint64_t busy[STAGES]; /* until when a stage runs */
    uint64_t turns;
};

static struct job make(uint32_t stages, uint32_t chunks, uint32_t batches,
                       bool split)
{
    const struct msim_pipeline p = {stages, chunks, batches, split, false};
    struct job j = {.stages = stages, .chunks = chunks, .split = split};

    for (uint32_t s = 0; s < stages; s++) {
        CHECK(msim_pipeline_schedule_make(&j.of[s], &p, s) == MSIM_OK);
        j.turns += j.of[s].n;
    }
    return j;
}

static const struct msim_turn *turn(const struct job *j, uint32_t stage)
{
    return j->at[stage] < j->of[stage].n ? &j->of[stage].turns[j->at[stage]]
                                         : NULL;
}

static void send(struct job *j, uint32_t stage, const struct msim_turn *t)
{
    uint32_t place = t->chunk * j->stages + stage;
    uint32_t to = t->back ? place - 1 : place + 1;
    struct link *link = &j->links[stage][t->back];

    CHECK(link->sent < MESSAGES);
    link->at[link->sent] = j->busy[stage];
    link->turns[link->sent++] = (struct msim_turn){MSIM_TURN_RECEIVE, t->back,
                                                   to / j->stages, t->batch};
}

/* Whether what the stage receives has been sent: then, it is the next one that
 * comes from there. */
static bool receive(struct job *j, uint32_t stage, const struct msim_turn *t)
{
    uint32_t n = j->stages, from = (stage + (t->back ? 1 : n - 1)) % n;
    struct link *link = &j->links[from][t->back];
    const struct msim_turn *u = &link->turns[link->received];

    if (link->received == link->sent)
        return false;
    CHECK_UINT(u->chunk, t->chunk);
    CHECK_UINT(u->batch, t->batch);
    if (j->busy[stage] < link->at[link->received])
        j->busy[stage] = link->at[link->received];
    link->received++;
    return true;
}

/* One turn of a stage, if it can be. */
static bool step(struct job *j, uint32_t s)
{
    const struct msim_turn *t = turn(j, s);

    if (!t || (t->kind == MSIM_TURN_RECEIVE && !receive(j, s, t)))
        return false;
    if (t->kind == MSIM_TURN_SEND)
        send(j, s, t);
    else if (t->kind != MSIM_TURN_RECEIVE)
        j->busy[s] += t->back && !j->split ? 2 : 1;
    j->at[s]++;
    return true;
}

/* The longest stage's time, once all turns are done; 0: they stand still. */
static uint64_t run(struct job *j)
{
    uint64_t end = 0, done = 0;
    bool any = true;

    while (any) {
        any = false;
        for (uint32_t s = 0; s < j->stages; s++)
            while (step(j, s))
                any = true;
    }
    for (uint32_t s = 0; s < j->stages; s++) {
        done += j->at[s];
        if (j->busy[s] > end)
            end = j->busy[s];
    }
    return done == j->turns ? end : 0;
}

static void release(struct job *j)
{
    for (uint32_t s = 0; s < j->stages; s++)
        msim_pipeline_schedule_release(&j->of[s]);
}

static uint64_t time_of(uint32_t stages, uint32_t chunks, uint32_t batches,
                        bool split)
{
    struct job j = make(stages, chunks, batches, split);
    uint64_t end = run(&j);

    release(&j);
    return end;
}

/* No two stages wait for each other, whatever their number; and nothing takes
 * longer than one pass after the other. */
static void test_schedule__never_stands_still(void)
{
    for (uint32_t stages = 1; stages <= STAGES; stages++)
        for (uint32_t chunks = 1; chunks <= 4; chunks++)
            for (uint32_t groups = 1; groups <= 3; groups++) {
                uint32_t batches = groups * stages;
                uint64_t end;

                if (stages == 1 && chunks > 1)
                    continue;
                end = time_of(stages, chunks, batches, false);
                CHECK(end >= 3 * (uint64_t)chunks * batches);
                CHECK(end < 3 * (uint64_t)chunks * batches * stages + 1);
            }
    /* Fewer micro batches than stages, and no multiple of them. */
    CHECK(time_of(4, 1, 2, false) > 0);
    CHECK(time_of(4, 1, 7, false) > 0);
}

/* 1F1B of s stages has s - 1 micro batches of bubble: (n + s - 1) x 3. */
static void test_schedule__has_the_known_bubble(void)
{
    CHECK_UINT(time_of(2, 1, 8, false), (8 + 1) * 3);
    CHECK_UINT(time_of(4, 1, 8, false), (8 + 3) * 3);
}

/* Two chunks halve it: in passes of half a stage's layers, 2 x 8 x 3 and 3 x 3
 * of bubble, instead of 2 x 3 x 3. */
static void test_schedule__interleaves(void)
{
    uint64_t end = time_of(4, 2, 8, false);

    CHECK(end >= (2 * 8 + 3) * 3);
    CHECK(end < 2 * time_of(4, 1, 8, false));
}

/* What a stage does, such as "rF0.1 F0.1 sF0.1 ". */
static void write_turns(char *text, size_t size, const struct msim_pipeline *p,
                        uint32_t stage, bool messages)
{
    static const char *const KINDS[] = {"", "w", "s", "r"};
    struct msim_pipeline_schedule s;
    size_t n = 0;

    CHECK(msim_pipeline_schedule_make(&s, p, stage) == MSIM_OK);
    for (uint32_t i = 0; i < s.n; i++)
        if (messages || s.turns[i].kind < MSIM_TURN_SEND)
            n += (size_t)snprintf(text + n, size - n, "%s%c%u.%u ",
                                  KINDS[s.turns[i].kind],
                                  s.turns[i].back ? 'B' : 'F', s.turns[i].chunk,
                                  s.turns[i].batch);
    msim_pipeline_schedule_release(&s);
}

/* The first stage of 2 with 2 chunks and 4 micro batches: a group of 2 through
 * both chunks, then one forward, one backward from the last chunk on. */
static void test_schedule__goes_in_groups(void)
{
    static const char *const WANT =
        "F0.0 F0.1 F1.0 F1.1 F0.2 B1.0 F0.3 B1.1 F1.2 B0.0 F1.3 B0.1 B1.2 B1.3 "
        "B0.2 B0.3 ";
    const struct msim_pipeline p = {.stages = 2, .chunks = 2, .batches = 4};
    char text[512] = "";

    write_turns(text, sizeof(text), &p, 0, false);
    CHECK_STR(text, WANT);
}

/* Messages as PyTorch's Schedule1F1B has them, of the second stage of 3, as
 * recorded by scripts/accuracy/parallel_captures.py: each is received right
 * before its pass, and sent right behind it. */
static void test_schedule__sends_in_order(void)
{
    static const char *const WANT =
        "rF0.0 F0.0 sF0.0 rF0.1 F0.1 sF0.1 rB0.0 B0.0 sB0.0 rF0.2 F0.2 sF0.2 "
        "rB0.1 B0.1 sB0.1 rB0.2 B0.2 sB0.2 ";
    const struct msim_pipeline p = {.stages = 3, .chunks = 1, .batches = 3};
    char text[512] = "";

    write_turns(text, sizeof(text), &p, 1, true);
    CHECK_STR(text, WANT);
}

/* A stage keeps as many micro batches as stages follow it, and its own. */
static void test_schedule__keeps_what_is_in_flight(void)
{
    struct job j = make(4, 1, 8, false);

    for (uint32_t s = 0; s < 4; s++)
        CHECK_UINT(j.of[s].kept, 4 - s);
    release(&j);
}

/* GPipe: the same bubble, and all micro batches in flight. */
static void test_schedule__goes_back_at_last(void)
{
    const struct msim_pipeline p = {4, 1, 8, false, true};
    struct job j = {.stages = 4, .chunks = 1};

    for (uint32_t s = 0; s < 4; s++) {
        CHECK(msim_pipeline_schedule_make(&j.of[s], &p, s) == MSIM_OK);
        j.turns += j.of[s].n;
        CHECK_UINT(j.of[s].kept, 8);
    }
    CHECK_UINT(run(&j), (8 + 3) * 3);
    release(&j);
}

/*
 * Gradients of weights in the gaps: of the bubble of (s - 1) x 3 a third is
 * left (Qi et al., table 2: (p - 1)(F + B - W)), and no stage has more micro
 * batches in flight than the first one has without.
 */
static void test_schedule__fills_bubbles(void)
{
    for (uint32_t stages = 2; stages <= STAGES; stages++) {
        struct job j = make(stages, 1, 2 * STAGES, true);

        for (uint32_t s = 0; s < stages; s++)
            CHECK(j.of[s].kept <= stages);
        CHECK_UINT(run(&j), 3 * 2 * STAGES + stages - 1);
        release(&j);
    }
    CHECK(time_of(4, 1, 2, true) > 0);
    CHECK(time_of(4, 1, 3, true) > 0);
}

int main(void)
{
    RUN(test_schedule__never_stands_still);
    RUN(test_schedule__has_the_known_bubble);
    RUN(test_schedule__interleaves);
    RUN(test_schedule__goes_in_groups);
    RUN(test_schedule__sends_in_order);
    RUN(test_schedule__keeps_what_is_in_flight);
    RUN(test_schedule__goes_back_at_last);
    RUN(test_schedule__fills_bubbles);
    return check_summary();
}

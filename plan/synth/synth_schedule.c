/*
 * plan/synth/synth_schedule.c - what a pipeline stage does in which order.
 */
#include "plan/synth/synth_schedule.h"

#include <stdlib.h>

/* Chunk c of stage s is number c * stages + s on a micro batch's way. */
struct pipeline {
    uint32_t stages, chunks, batches;
    uint64_t each; /* passes of one stage, forward as many as backward */
    /* When a pass ends, by place, micro batch and direction; 0: not yet. */
    uint64_t *end;
    uint64_t *next; /* of each stage: the pass that it runs next */
    uint64_t *free; /* of each stage: when its last pass ended */
};

#define FORWARD_TIME  1
#define BACKWARD_TIME 2

static uint32_t places(const struct pipeline *p)
{
    return p->stages * p->chunks;
}

static uint64_t *end_of(const struct pipeline *p, bool back, uint32_t place,
                        uint32_t batch)
{
    return &p->end[((uint64_t)place * p->batches + batch) * 2 + back];
}

/* The k-th forward or backward pass of a stage: micro batches in groups of as
 * many as there are stages, each group through all chunks. */
static struct msim_turn pass_of(const struct pipeline *p, bool back, uint64_t k)
{
    uint64_t group = (uint64_t)p->stages * p->chunks, in = k % group;
    uint32_t chunk = (uint32_t)(in / p->stages);

    if (p->chunks == 1)
        return (struct msim_turn){MSIM_TURN_RUN, back, 0, (uint32_t)k};
    return (struct msim_turn){
        MSIM_TURN_RUN, back, back ? p->chunks - 1 - chunk : chunk,
        (uint32_t)(k / group * p->stages + in % p->stages)};
}

/* Forward passes before the first backward one. */
static uint64_t ahead(const struct pipeline *p, uint32_t stage)
{
    uint64_t follow = p->stages - stage - 1;
    uint64_t n = p->chunks == 1
                     ? follow
                     : 2 * follow + (uint64_t)(p->chunks - 1) * p->stages;

    return n < p->each ? n : p->each;
}

/* The i-th pass of a stage: those ahead, then one forward, one backward, then
 * backward alone. */
static struct msim_turn nth(const struct pipeline *p, uint32_t stage,
                            uint64_t i)
{
    uint64_t first = ahead(p, stage), pairs = 2 * (p->each - first);

    if (i < first)
        return pass_of(p, false, i);
    if (i < first + pairs)
        return (i - first) % 2 ? pass_of(p, true, (i - first) / 2)
                               : pass_of(p, false, first + (i - first) / 2);
    return pass_of(p, true, i - first - pairs + pairs / 2);
}

/* When what a pass needs is there, in `*at`; false: not yet. */
static bool is_ready(const struct pipeline *p, uint32_t stage,
                     const struct msim_turn *t, uint64_t *at)
{
    uint32_t place = t->chunk * p->stages + stage;

    *at = 0;
    if (!t->back && place == 0)
        return true;
    *at = !t->back                 ? *end_of(p, false, place - 1, t->batch)
          : place + 1 == places(p) ? *end_of(p, false, place, t->batch)
                                   : *end_of(p, true, place + 1, t->batch);
    return *at != 0;
}

/* Run as many passes of a stage as can be; whether there was one. */
static bool advance(struct pipeline *p, uint32_t stage)
{
    bool any = false;

    while (p->next[stage] < 2 * p->each) {
        struct msim_turn t = nth(p, stage, p->next[stage]);
        uint64_t at;

        if (!is_ready(p, stage, &t, &at))
            break;
        if (at < p->free[stage])
            at = p->free[stage];
        p->free[stage] = at + (t.back ? BACKWARD_TIME : FORWARD_TIME);
        *end_of(p, t.back, t.chunk * p->stages + stage, t.batch) =
            p->free[stage];
        p->next[stage]++;
        any = true;
    }
    return any;
}

static void run_all(struct pipeline *p)
{
    bool any = true;

    while (any) {
        any = false;
        for (uint32_t s = 0; s < p->stages; s++)
            any |= advance(p, s);
    }
}

/* ---- one stage's turns ----------------------------------------------------
 */

/* A transfer sorts by its time, then alike on both of its ends. A pass sorts by
 * its start, behind transfers of that time. */
struct keyed {
    uint64_t time, number;
    struct msim_turn turn;
};

static int by_time(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Behind all numbers of transfers. */
#define PASSES UINT64_MAX

static uint64_t start_of(const struct pipeline *p, bool back, uint32_t place,
                         uint32_t batch)
{
    return *end_of(p, back, place, batch) -
           (back ? BACKWARD_TIME : FORWARD_TIME);
}

/* How much longer the pass takes that a stage is in at `time`. */
static uint64_t rest(const struct pipeline *p, uint32_t stage, uint64_t time)
{
    uint64_t low = 0, high = 2 * p->each; /* passes that began before it */
    struct msim_turn t;
    uint64_t end;

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        t = nth(p, stage, mid);
        if (start_of(p, t.back, t.chunk * p->stages + stage, t.batch) < time)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0)
        return 0;
    t = nth(p, stage, low - 1);
    end = *end_of(p, t.back, t.chunk * p->stages + stage, t.batch);
    return end > time ? end - time : 0;
}

#define LOOK_AHEAD 16 /* times that are tried */

/*
 * When a pass hands on what it made: from its end to the start of the one that
 * needs it, as soon as neither of both stages would have to wait long for the
 * other to end what it is in.
 */
static uint64_t meeting(const struct pipeline *p, bool back, uint32_t place,
                        uint32_t to, uint32_t batch)
{
    uint64_t from = *end_of(p, back, place, batch), best = from, least = 0;
    uint64_t until = start_of(p, back, to, batch);

    for (uint64_t t = from; t <= until && t < from + LOOK_AHEAD; t++) {
        uint64_t a = rest(p, place % p->stages, t);
        uint64_t b = rest(p, to % p->stages, t);
        uint64_t wait = a < b ? b - a : a - b;

        if (t == from || wait < least) {
            best = t;
            least = wait;
        }
    }
    return best;
}

/* What goes from `place` when its pass has ended, as this stage sees it. */
static uint64_t add_transfer(const struct pipeline *p, struct keyed *out,
                             enum msim_turn_kind kind, bool back,
                             uint32_t place, uint32_t batch)
{
    uint32_t to = back ? place - 1 : place + 1;
    uint32_t mine = kind == MSIM_TURN_SEND ? place : to;

    if (back ? place == 0 : to == places(p))
        return 0;
    *out = (struct keyed){meeting(p, back, place, to, batch),
                          ((uint64_t)back * places(p) + place) * p->batches +
                              batch,
                          {kind, back, mine / p->stages, batch}};
    return 1;
}

/* All that a stage sends and receives. */
static uint64_t add_transfers(const struct pipeline *p, uint32_t stage,
                              struct keyed *out)
{
    uint64_t n = 0;

    for (uint32_t place = 0; p->stages > 1 && place < places(p); place++)
        for (uint32_t batch = 0; batch < p->batches; batch++) {
            uint32_t before = (place + p->stages - 1) % p->stages;

            for (int back = 0; back < 2; back++) {
                if (place % p->stages == stage)
                    n += add_transfer(p, out + n, MSIM_TURN_SEND, back, place,
                                      batch);
                if ((back ? before : (place + 1) % p->stages) == stage)
                    n += add_transfer(p, out + n, MSIM_TURN_RECEIVE, back,
                                      place, batch);
            }
        }
    return n;
}

static uint64_t add_passes(const struct pipeline *p, uint32_t stage,
                           struct keyed *out)
{
    for (uint64_t i = 0; i < 2 * p->each; i++) {
        struct msim_turn t = nth(p, stage, i);

        out[i] = (struct keyed){
            start_of(p, t.back, t.chunk * p->stages + stage, t.batch), PASSES,
            t};
    }
    return 2 * p->each;
}

/* Micro batches of one chunk between forward and backward. */
static uint32_t most_kept(const struct msim_synth_schedule *s, uint32_t chunks,
                          uint32_t *in_flight)
{
    uint32_t most = 1;

    for (uint32_t c = 0; c < chunks; c++)
        in_flight[c] = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct msim_turn *t = &s->turns[i];

        if (t->kind != MSIM_TURN_RUN)
            continue;
        if (t->back)
            in_flight[t->chunk]--;
        else if (++in_flight[t->chunk] > most)
            most = in_flight[t->chunk];
    }
    return most;
}

static enum msim_status fill(struct msim_synth_schedule *s, struct pipeline *p,
                             uint32_t stage)
{
    uint64_t most = 6 * p->each, n; /* a pass receives and sends */
    struct keyed *all = calloc(most, sizeof(*all));
    uint32_t *in_flight = calloc(p->chunks, sizeof(*in_flight));

    s->turns = calloc(most, sizeof(*s->turns));
    if (!all || !in_flight || !s->turns) {
        free(all);
        free(in_flight);
        return MSIM_ENOMEM;
    }
    run_all(p);
    n = add_passes(p, stage, all);
    n += add_transfers(p, stage, all + n);
    qsort(all, n, sizeof(*all), by_time);
    for (uint64_t i = 0; i < n; i++)
        s->turns[i] = all[i].turn;
    s->n = (uint32_t)n;
    s->kept = most_kept(s, p->chunks, in_flight);
    free(all);
    free(in_flight);
    return MSIM_OK;
}

enum msim_status msim_synth_schedule_make(struct msim_synth_schedule *s,
                                          uint32_t stages, uint32_t chunks,
                                          uint32_t batches, uint32_t stage)
{
    struct pipeline p = {.stages = stages,
                         .chunks = chunks,
                         .batches = batches,
                         .each = (uint64_t)chunks * batches};
    enum msim_status status = MSIM_ENOMEM;

    *s = (struct msim_synth_schedule){0};
    p.end = calloc(2 * p.each * stages, sizeof(*p.end));
    p.next = calloc(stages, sizeof(*p.next));
    p.free = calloc(stages, sizeof(*p.free));
    if (p.end && p.next && p.free)
        status = fill(s, &p, stage);
    free(p.end);
    free(p.next);
    free(p.free);
    return status;
}

void msim_synth_schedule_release(struct msim_synth_schedule *s)
{
    free(s->turns);
}

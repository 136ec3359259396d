/*
 * core/pipeline/pipeline_schedule.c - what a pipeline stage does in which
 * order.
 */
#include "core/pipeline/pipeline_schedule.h"

#include <stdlib.h>

/* What a stage has done so far. */
struct stage {
    struct msim_turn *passes;
    uint64_t n;
    uint64_t next;    /* of its forward and backward passes, in their order */
    uint64_t weights; /* passes of those that it has run */
    uint64_t back;    /* backward passes, likewise */
    uint64_t free;    /* when the last one ended */
};

/* Chunk c of stage s is number c * stages + s on a micro batch's way. */
struct job {
    struct msim_pipeline of;
    uint64_t each; /* passes of one stage, forward as many as backward */
    /* When a pass ends, by place, micro batch and direction; 0: not yet. */
    uint64_t *end;
    struct stage *stages;
};

static uint32_t places(const struct job *j)
{
    return j->of.stages * j->of.chunks;
}

static uint64_t *end_of(const struct job *j, bool back, uint32_t place,
                        uint32_t batch)
{
    return &j->end[((uint64_t)place * j->of.batches + batch) * 2 + back];
}

/* ---- order ----------------------------------------------------------------
 */

/* The k-th forward or backward pass of a stage: micro batches in groups of as
 * many as there are stages, each group through all chunks. */
static struct msim_turn pass_of(const struct job *j, bool back, uint64_t k)
{
    uint32_t chunks = j->of.chunks, stages = j->of.stages;
    uint64_t group = (uint64_t)stages * chunks, in = k % group;
    uint32_t chunk = (uint32_t)(in / stages);

    if (chunks == 1)
        return (struct msim_turn){MSIM_TURN_RUN, back, 0, (uint32_t)k};
    return (struct msim_turn){MSIM_TURN_RUN, back,
                              back ? chunks - 1 - chunk : chunk,
                              (uint32_t)(k / group * stages + in % stages)};
}

/* Forward passes before the first backward one. */
static uint64_t ahead(const struct job *j, uint32_t stage)
{
    uint64_t follow = j->of.stages - stage - 1;
    uint64_t n = j->of.chunks == 1
                     ? follow
                     : 2 * follow + (uint64_t)(j->of.chunks - 1) * j->of.stages;

    return n < j->each && !j->of.gpipe ? n : j->each;
}

/* The i-th of forward and backward passes: those ahead, then one forward, one
 * backward, then backward alone. */
static struct msim_turn nth(const struct job *j, uint32_t stage, uint64_t i)
{
    uint64_t first = ahead(j, stage), pairs = 2 * (j->each - first);

    if (i < first)
        return pass_of(j, false, i);
    if (i < first + pairs)
        return (i - first) % 2 ? pass_of(j, true, (i - first) / 2)
                               : pass_of(j, false, first + (i - first) / 2);
    return pass_of(j, true, i - first - pairs + pairs / 2);
}

/* When what a pass needs is there; UINT64_MAX: that is not known yet. */
static uint64_t ready_at(const struct job *j, uint32_t stage,
                         const struct msim_turn *t)
{
    uint32_t place = t->chunk * j->of.stages + stage;
    uint64_t at;

    if (!t->back && place == 0)
        return 0;
    at = !t->back                 ? *end_of(j, false, place - 1, t->batch)
         : place + 1 == places(j) ? *end_of(j, false, place, t->batch)
                                  : *end_of(j, true, place + 1, t->batch);
    return at ? at : UINT64_MAX;
}

static void add(struct job *j, uint32_t stage, const struct msim_turn *t,
                uint64_t start)
{
    struct stage *s = &j->stages[stage];
    uint64_t end = start + (t->back && !j->of.split ? 2 : 1);

    s->passes[s->n++] = *t;
    s->free = end;
    if (t->kind == MSIM_TURN_WEIGHTS) {
        s->weights++;
        return;
    }
    s->next++;
    s->back += t->back;
    *end_of(j, t->back, t->chunk * j->of.stages + stage, t->batch) = end;
}

/* Run as many passes of a stage as can be; whether there was one. */
static bool advance(struct job *j, uint32_t stage)
{
    struct stage *s = &j->stages[stage];
    bool any = false;

    while (s->next < 2 * j->each) {
        struct msim_turn t = nth(j, stage, s->next);
        uint64_t at = ready_at(j, stage, &t);

        if (at == UINT64_MAX)
            break;
        add(j, stage, &t, at > s->free ? at : s->free);
        any = true;
    }
    return any;
}

/* Gradients of weights run where a stage would wait, and before a micro batch
 * more than stages would be in flight. */
static void tick(struct job *j, uint32_t stage, uint64_t now)
{
    struct stage *s = &j->stages[stage];
    struct msim_turn weights = {MSIM_TURN_WEIGHTS, true, 0,
                                (uint32_t)s->weights};
    struct msim_turn t = {0};
    uint64_t in_flight = s->next - s->back - s->weights;
    bool left = s->next < 2 * j->each, pending = s->weights < s->back, go;

    if (s->free > now)
        return;
    if (left)
        t = nth(j, stage, s->next);
    go = left && ready_at(j, stage, &t) <= now;
    if (go && !t.back && pending && in_flight >= j->of.stages)
        go = false;
    if (go)
        add(j, stage, &t, now);
    else if (pending)
        add(j, stage, &weights, now);
}

static bool is_done(const struct job *j)
{
    for (uint32_t s = 0; s < j->of.stages; s++)
        if (j->stages[s].next < 2 * j->each ||
            (j->of.split && j->stages[s].weights < j->each))
            return false;
    return true;
}

static void run_all(struct job *j)
{
    bool any = !j->of.split;

    while (any) {
        any = false;
        for (uint32_t s = 0; s < j->of.stages; s++)
            any |= advance(j, s);
    }
    for (uint64_t now = 0; j->of.split && !is_done(j); now++)
        for (uint32_t s = 0; s < j->of.stages; s++)
            tick(j, s, now);
}

/* ---- one stage's turns ----------------------------------------------------
 */

/* Does the pass receive what it begins with, or send what it made? */
static bool transfers(const struct job *j, uint32_t stage,
                      const struct msim_turn *t, enum msim_turn_kind kind)
{
    uint32_t place = t->chunk * j->of.stages + stage;
    bool ahead = (kind == MSIM_TURN_SEND) != t->back;

    return j->of.stages > 1 && t->kind == MSIM_TURN_RUN &&
           (ahead ? place + 1 < places(j) : place > 0);
}

static void put(struct msim_pipeline_schedule *s, struct msim_turn t,
                enum msim_turn_kind kind)
{
    t.kind = kind;
    s->turns[s->n++] = t;
}

/* Micro batches of one chunk between forward and the last of backward. */
static uint32_t most_kept(const struct msim_pipeline_schedule *s, bool split,
                          uint32_t *in_flight)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < s->n; i++) {
        const struct msim_turn *t = &s->turns[i];

        if (t->kind == MSIM_TURN_RUN && !t->back &&
            ++in_flight[t->chunk] > most)
            most = in_flight[t->chunk];
        if (t->back && t->kind == (split ? MSIM_TURN_WEIGHTS : MSIM_TURN_RUN))
            in_flight[t->chunk]--;
    }
    return most;
}

static enum msim_status fill(struct msim_pipeline_schedule *s,
                             const struct job *j, uint32_t stage)
{
    const struct stage *of = &j->stages[stage];
    uint32_t *in_flight = calloc(j->of.chunks, sizeof(*in_flight));

    s->turns = calloc(3 * of->n, sizeof(*s->turns));
    if (!in_flight || !s->turns) {
        free(in_flight);
        return MSIM_ENOMEM;
    }
    for (uint64_t i = 0; i < of->n; i++) {
        const struct msim_turn *t = &of->passes[i];

        if (transfers(j, stage, t, MSIM_TURN_RECEIVE))
            put(s, *t, MSIM_TURN_RECEIVE);
        put(s, *t, t->kind);
        if (transfers(j, stage, t, MSIM_TURN_SEND))
            put(s, *t, MSIM_TURN_SEND);
    }
    s->kept = most_kept(s, j->of.split, in_flight);
    free(in_flight);
    return MSIM_OK;
}

static void release(struct job *j)
{
    for (uint32_t s = 0; j->stages && s < j->of.stages; s++)
        free(j->stages[s].passes);
    free(j->stages);
    free(j->end);
}

enum msim_status msim_pipeline_schedule_make(struct msim_pipeline_schedule *s,
                                             const struct msim_pipeline *of,
                                             uint32_t stage)
{
    struct job j = {.of = *of, .each = (uint64_t)of->chunks * of->batches};
    enum msim_status status = MSIM_ENOMEM;
    bool all = true;

    *s = (struct msim_pipeline_schedule){0};
    j.end = calloc(2 * j.each * of->stages, sizeof(*j.end));
    j.stages = calloc(of->stages, sizeof(*j.stages));
    for (uint32_t i = 0; j.stages && i < of->stages; i++) {
        j.stages[i].passes = calloc(3 * j.each, sizeof(struct msim_turn));
        all &= j.stages[i].passes != NULL;
    }
    if (j.end && j.stages && all) {
        run_all(&j);
        status = fill(s, &j, stage);
    }
    release(&j);
    return status;
}

void msim_pipeline_schedule_release(struct msim_pipeline_schedule *s)
{
    free(s->turns);
}

/*
 * core/run/contention_run.c - the shared part of a run.
 */
#include "core/run/engine_internal.h"

#include "core/base/containers.h"
#include "core/graph/contention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A demand while it waits to be let in, and while it runs. */
struct active {
    double left; /* work in ps at rate 1 */
    double rate;
    msim_ps since; /* when `left` was true */
    msim_ps begun;
    msim_ps took;          /* once ended */
    uint32_t before, next; /* in the list that it is in, or NONE */
};

/* Bits of a demand that are apart from the others, so that a run does not begin
 * with a way over all of them. */
#define RUNNING 1
#define WAITING 2 /* ARRIVE: has begun, its TRANSFER has not */

/* First and last of a list through active.next. */
struct list {
    uint32_t first, last;
};

/* What runs is in lists by whom it concerns: kernels that let others in, and
 * that do not; then all else by its kind. */
#define FILLING MSIM_DEMAND_KINDS
#define LISTS   (MSIM_DEMAND_KINDS + 1)

struct device {
    struct list running[LISTS];
    struct list held; /* in the order in which they became ready */
    uint32_t n_held[MSIM_DEMAND_KINDS], n_all_held;
    uint32_t kinds_held; /* bits of kinds some of which are */
    struct msim_contention_load load;
};

/*
 * Events: the wake-up of a device (seq is its index), and the readiness or the
 * end of a demand (n_devices + its index). So a demand that was held is let in
 * before one that becomes ready at the same instant.
 */
struct msim_contention_run {
    const struct msim_graph *graph;
    const struct msim_sharing *s;
    struct msim_evq queue;
    struct msim_event soon; /* one more event, beside the queue; or NO_EVENT */
    struct active *active;
    uint8_t *states; /* of demands: RUNNING, WAITING */
    struct device *devices;
    const msim_ps *dur;
    const uint8_t *removed;
    uint32_t *held_by;
};

static const struct msim_event NO_EVENT = {INT64_MAX, UINT32_MAX};

enum msim_status msim_contention_run_new(struct msim_contention_run **out,
                                         const struct msim_graph *g)
{
    struct msim_contention_run *r = calloc(1, sizeof(*r));
    const struct msim_sharing *s = g->sharing;

    *out = NULL;
    if (!r)
        return MSIM_ENOMEM;
    r->graph = g;
    r->s = s;
    r->active = malloc(((size_t)s->n_demands + 1) * sizeof(*r->active));
    r->states = malloc((size_t)s->n_demands + 1);
    r->devices = malloc(((size_t)s->n_devices + 1) * sizeof(*r->devices));
    if (!r->active || !r->states || !r->devices ||
        msim_evq_init(&r->queue, s->n_devices + s->n_demands) != MSIM_OK) {
        msim_contention_run_free(r);
        return MSIM_ENOMEM;
    }
    *out = r;
    return MSIM_OK;
}

void msim_contention_run_free(struct msim_contention_run *r)
{
    if (!r)
        return;
    msim_evq_release(&r->queue);
    free(r->active);
    free(r->states);
    free(r->devices);
    free(r);
}

void msim_contention_run_begin(struct msim_contention_run *r,
                               const msim_ps *dur, const uint8_t *removed,
                               uint32_t *held_by)
{
    const struct list empty = {MSIM_NONE, MSIM_NONE};

    r->dur = dur;
    r->removed = removed;
    r->held_by = held_by;
    msim_evq_clear(&r->queue);
    r->soon = NO_EVENT;
    memset(r->states, 0, r->s->n_demands);
    for (uint32_t i = 0; i < r->s->n_devices; i++) {
        r->devices[i] = (struct device){.held = empty};
        for (int k = 0; k < LISTS; k++)
            r->devices[i].running[k] = empty;
    }
}

msim_ps msim_contention_run_took(const struct msim_contention_run *r,
                                 uint32_t demand)
{
    return r->active[demand].took;
}

/* ---- lists -------------------------------------------------------------- */

static void append(struct msim_contention_run *r, struct list *l, uint32_t d)
{
    r->active[d].next = MSIM_NONE;
    r->active[d].before = l->last;
    if (l->first == MSIM_NONE)
        l->first = d;
    else
        r->active[l->last].next = d;
    l->last = d;
}

static void take_out(struct msim_contention_run *r, struct list *l, uint32_t d)
{
    uint32_t before = r->active[d].before, next = r->active[d].next;

    if (before == MSIM_NONE)
        l->first = next;
    else
        r->active[before].next = next;
    if (next == MSIM_NONE)
        l->last = before;
    else
        r->active[next].before = before;
}

/* The list that a demand is in while it runs. */
static struct list *running_of(const struct msim_contention_run *r, uint32_t d)
{
    const struct msim_demand *demand = &r->s->demands[d];
    bool fills = demand->kind == MSIM_DEMAND_KERNEL && demand->tail < 1;

    return &r->devices[demand->device]
                .running[fills ? FILLING : (int)demand->kind];
}

/* ---- rates -------------------------------------------------------------- */

static uint32_t seq_of(const struct msim_contention_run *r, uint32_t d)
{
    return r->s->n_devices + d;
}

/* When a running demand will have `left` ps of its work left. */
static msim_ps time_at(const struct active *a, double left)
{
    double ps = a->left - left;
    msim_ps whole;

    if (a->rate != 1) /* most have no need of a division */
        ps /= a->rate;
    if (ps >=
        (double)MSIM_RUN_MAX) /* the engine ends a run that lasts so long */
        return a->since + MSIM_RUN_MAX;
    whole = (msim_ps)ps; /* most that run alone are whole */
    return a->since + ((double)whole == ps ? whole : (msim_ps)llround(ps));
}

/* The rate of a kind among the demands that now run. */
static double rate_of(const struct msim_contention_run *r, uint32_t device,
                      enum msim_demand_kind kind)
{
    return msim_contention_rate(r->s, device, kind, &r->devices[device].load);
}

/* Give a running demand another rate from `now` on. */
static void set_rate(struct msim_contention_run *r, uint32_t d, double rate,
                     msim_ps now)
{
    struct active *a = &r->active[d];

    if (now > a->since) {
        a->left = fmax(a->left - (double)(now - a->since) * a->rate, 0);
        a->since = now;
    }
    a->rate = rate;
    msim_evq_push(&r->queue, time_at(a, 0), seq_of(r, d));
}

/* A collective's kernel runs from ARRIVE on, if it ever transfers. */
static void arrive(struct msim_contention_run *r, uint32_t d)
{
    const struct msim_demand *transfer = &r->s->demands[d + 1];

    if (r->removed && r->removed[transfer->task])
        return;
    r->states[d] |= WAITING;
    r->devices[transfer->device].load.n[MSIM_DEMAND_ARRIVE]++;
}

static void begin_transfer(struct msim_contention_run *r, uint32_t d)
{
    const struct msim_demand *demand = &r->s->demands[d];
    struct device *dev = &r->devices[demand->device];

    dev->load.n[demand->kind]++;
    if (d > 0 && r->states[d - 1] & WAITING) {
        r->states[d - 1] &= (uint8_t)~WAITING;
        dev->load.n[MSIM_DEMAND_ARRIVE]--;
    }
}

static void rate_all(struct msim_contention_run *r, uint32_t device, int list,
                     msim_ps now)
{
    uint32_t i = r->devices[device].running[list].first;
    double rate = rate_of(r, device,
                          list == FILLING ? MSIM_DEMAND_KERNEL
                                          : (enum msim_demand_kind)list);

    for (; i != MSIM_NONE; i = r->active[i].next)
        if (r->active[i].rate != rate)
            set_rate(r, i, rate, now);
}

/* All of a list are of one kind, hence of one rate. */
static inline void rate_list(struct msim_contention_run *r, uint32_t device,
                             int list, msim_ps now)
{
    if (r->devices[device].running[list].first != MSIM_NONE)
        rate_all(r, device, list, now);
}

/*
 * What runs has changed by one demand of this kind: the others get new rates. A
 * kernel slows nothing. Copies slow copies; collectives slow each other, and
 * kernels, which all have one rate.
 */
static void rate_device(struct msim_contention_run *r, uint32_t device,
                        enum msim_demand_kind kind, msim_ps now)
{
    if (kind == MSIM_DEMAND_KERNEL)
        return;
    if (kind == MSIM_DEMAND_TO_DEVICE || kind == MSIM_DEMAND_TO_HOST) {
        rate_list(r, device, MSIM_DEMAND_TO_DEVICE, now);
        rate_list(r, device, MSIM_DEMAND_TO_HOST, now);
        return;
    }
    for (int k = MSIM_DEMAND_TRANSFER; k <= MSIM_DEMAND_RECEIVE; k++)
        rate_list(r, device, k, now);
    rate_list(r, device, MSIM_DEMAND_KERNEL, now);
    rate_list(r, device, FILLING, now);
}

/* ---- who may start ------------------------------------------------------ */

/* Do the blocks of kernel `y`, which fills a device, keep those of `x`, on
 * another stream, waiting? */
static bool fills_device(const struct msim_contention_run *r,
                         const struct msim_demand *x,
                         const struct msim_demand *y)
{
    return msim_contention_has(r->s, MSIM_CONTENTION_SM) &&
           x->first <= y->first &&
           r->graph->lane[x->task] != r->graph->lane[y->task];
}

/* The latest last wave that demand `d` has to wait for, and whose it is. */
static msim_ps multiprocessors_free(const struct msim_contention_run *r,
                                    uint32_t d, uint32_t *by)
{
    const struct msim_demand *demand = &r->s->demands[d];
    uint32_t i = r->devices[demand->device].running[FILLING].first;
    msim_ps at = MSIM_TIME_NONE;

    for (; i != MSIM_NONE; i = r->active[i].next) {
        const struct msim_demand *other = &r->s->demands[i];
        msim_ps until;

        if (!fills_device(r, demand, other))
            continue;
        until = time_at(&r->active[i], other->tail * other->alone *
                                           (double)r->dur[other->task]);
        if (until > at) {
            at = until;
            *by = i;
        }
    }
    return at;
}

/*
 * A copy waits for an end, not for a time: an engine is free once its copy has
 * ended, and end() lets the next one in. `*by`: the copy that will end first,
 * where somebody asks what held others.
 */
static msim_ps engine_free(const struct msim_contention_run *r, uint32_t d,
                           uint32_t *by)
{
    const struct msim_demand *demand = &r->s->demands[d];
    const struct device *dev = &r->devices[demand->device];
    const struct msim_shared_device *shared = &r->s->devices[demand->device];
    uint32_t i = dev->running[demand->kind].first;
    msim_ps first = INT64_MAX;

    if (dev->load.n[demand->kind] <
            shared->engines[demand->kind == MSIM_DEMAND_TO_HOST] ||
        !msim_contention_has(r->s, MSIM_CONTENTION_COPY_ENGINE))
        return MSIM_TIME_NONE;
    for (; r->held_by && i != MSIM_NONE; i = r->active[i].next) {
        msim_ps until = time_at(&r->active[i], 0);

        if (until < first) {
            first = until;
            *by = i;
        }
    }
    return INT64_MAX;
}

/* Is there a queue for one more kernel? Else one has to end first; `*by`: one
 * that runs. */
static bool has_queue(const struct msim_contention_run *r,
                      const struct msim_demand *demand, uint32_t *by)
{
    const struct device *dev = &r->devices[demand->device];
    const uint32_t *n = dev->load.n;

    if (n[MSIM_DEMAND_KERNEL] + n[MSIM_DEMAND_ARRIVE] +
            n[MSIM_DEMAND_TRANSFER] + n[MSIM_DEMAND_SEND] +
            n[MSIM_DEMAND_RECEIVE] <
        MSIM_RESIDENT_MOST)
        return true;
    for (int k = 0; k < LISTS && *by == MSIM_NONE; k++)
        *by = dev->running[k].first;
    return false;
}

/* Until when demand `d` is held up: at most `now` if it is not, INT64_MAX
 * until something ends. Notes what holds it. */
static msim_ps may_start(struct msim_contention_run *r, uint32_t d, msim_ps now)
{
    const struct msim_demand *demand = &r->s->demands[d];
    uint32_t by = MSIM_NONE;
    msim_ps at = now;

    switch (demand->kind) {
    case MSIM_DEMAND_KERNEL:
    case MSIM_DEMAND_ARRIVE:
        at = has_queue(r, demand, &by) ? multiprocessors_free(r, d, &by)
                                       : INT64_MAX;
        break;
    case MSIM_DEMAND_TO_DEVICE:
    case MSIM_DEMAND_TO_HOST:
        at = engine_free(r, d, &by);
        break;
    default:
        break;
    }
    if (at > now && by != MSIM_NONE && r->held_by)
        r->held_by[demand->task] = r->s->demands[by].task;
    return at;
}

static void start(struct msim_contention_run *r, uint32_t d, msim_ps now)
{
    const struct msim_demand *demand = &r->s->demands[d];
    struct device *dev = &r->devices[demand->device];
    struct active *a = &r->active[d];

    if (demand->kind == MSIM_DEMAND_ARRIVE)
        arrive(r, d);
    else if (msim_demand_is_transfer(demand->kind))
        begin_transfer(r, d);
    else
        dev->load.n[demand->kind]++;
    *a = (struct active){
        .left = demand->alone * (double)r->dur[demand->task],
        .rate = rate_of(r, demand->device, (enum msim_demand_kind)demand->kind),
        .since = now,
        .begun = now,
    };
    r->states[d] |= RUNNING;
    msim_evq_push(&r->queue, time_at(a, 0), seq_of(r, d));
    rate_device(r, demand->device, (enum msim_demand_kind)demand->kind, now);
    append(r, running_of(r, d), d);
}

static void hold(struct msim_contention_run *r, struct device *dev, uint32_t d)
{
    uint8_t kind = r->s->demands[d].kind;

    append(r, &dev->held, d);
    dev->n_held[kind]++;
    dev->n_all_held++;
    dev->kinds_held |= 1u << kind;
}

static void let_go(struct msim_contention_run *r, struct device *dev,
                   uint32_t d)
{
    uint8_t kind = r->s->demands[d].kind;

    take_out(r, &dev->held, d);
    dev->n_all_held--;
    if (!--dev->n_held[kind])
        dev->kinds_held &= ~(1u << kind);
}

static bool is_copy(uint8_t kind)
{
    return kind == MSIM_DEMAND_TO_DEVICE || kind == MSIM_DEMAND_TO_HOST;
}

#define COPIES (1u << MSIM_DEMAND_TO_DEVICE | 1u << MSIM_DEMAND_TO_HOST)

/* Those that wait for others of this kind, where all that wait are looked at:
 * copies wait for copies alone, and nothing else does. */
static uint32_t concerned(const struct device *dev, uint8_t kind)
{
    if (dev->n_all_held > MSIM_RESIDENT_MOST)
        return dev->kinds_held;
    return dev->kinds_held & (is_copy(kind) ? COPIES : ~COPIES);
}

/* Let in the demands of some kinds that may start now, in order, and set the
 * wake-up for the next one that may, which is no copy. One that waits for an
 * end does so for all of its kind. */
static void admit_held(struct msim_contention_run *r, uint32_t device,
                       uint32_t kinds, msim_ps now)
{
    struct device *dev = &r->devices[device];
    uint32_t left = MSIM_RESIDENT_MOST, moving = kinds, next;
    msim_ps wake = INT64_MAX;

    for (uint32_t d = dev->held.first; moving && d != MSIM_NONE && left > 0;
         d = next) {
        enum msim_demand_kind kind =
            (enum msim_demand_kind)r->s->demands[d].kind;
        msim_ps at = moving >> kind & 1 ? may_start(r, d, now) : INT64_MAX;

        next = r->active[d].next;
        if (at <= now) {
            let_go(r, dev, d);
            start(r, d, now);
            continue;
        }
        left--;
        if (at == INT64_MAX)
            moving &= ~(1u << kind);
        wake = at < wake ? at : wake;
    }
    if (!(kinds & ~COPIES))
        return;
    if (wake == INT64_MAX)
        msim_evq_drop(&r->queue, device);
    else
        msim_evq_push(&r->queue, wake, device);
}

/* What is held may move, for one of this kind has begun, waits or has ended. */
static void admit_concerned(struct msim_contention_run *r, uint32_t device,
                            enum msim_demand_kind kind, msim_ps now)
{
    uint32_t kinds = concerned(&r->devices[device], (uint8_t)kind);

    if (kinds)
        admit_held(r, device, kinds, now);
}

static void admit(struct msim_contention_run *r, uint32_t d, msim_ps now)
{
    uint32_t device = r->s->demands[d].device;
    struct device *dev = &r->devices[device];

    if (may_start(r, d, now) <= now) {
        start(r, d, now);
    } else {
        hold(r, dev, d);
    }
    admit_concerned(r, device, (enum msim_demand_kind)r->s->demands[d].kind,
                    now);
}

static void end(struct msim_contention_run *r, uint32_t d, msim_ps now)
{
    const struct msim_demand *demand = &r->s->demands[d];
    struct device *dev = &r->devices[demand->device];
    struct active *a = &r->active[d];

    take_out(r, running_of(r, d), d);
    r->states[d] &= (uint8_t)~RUNNING;
    a->took = now - a->begun;
    if (demand->kind != MSIM_DEMAND_ARRIVE)
        dev->load.n[demand->kind]--;
    rate_device(r, demand->device, (enum msim_demand_kind)demand->kind, now);
    admit_concerned(r, demand->device, (enum msim_demand_kind)demand->kind,
                    now);
}

void msim_contention_run_ready(struct msim_contention_run *r, uint32_t demand,
                               msim_ps at)
{
    /* What the event will ask for, while others pass. */
    __builtin_prefetch(&r->s->demands[demand]);
    __builtin_prefetch(&r->active[demand], 1);
    if (r->soon.seq == UINT32_MAX)
        r->soon = (struct msim_event){at, seq_of(r, demand)};
    else
        msim_evq_push(&r->queue, at, seq_of(r, demand));
}

static bool before(struct msim_event a, struct msim_event b)
{
    return (a.time < b.time) | ((a.time == b.time) & (a.seq < b.seq));
}

/* The next event. What becomes ready mostly does so at once: it does not go
 * through the queue then. */
static struct msim_event pop(struct msim_contention_run *r)
{
    struct msim_event soon = r->soon;

    if (soon.seq == UINT32_MAX)
        return msim_evq_pop(&r->queue);
    r->soon = NO_EVENT;
    if (!r->queue.length || before(soon, msim_evq_first(&r->queue)))
        return soon;
    msim_evq_push(&r->queue, soon.time, soon.seq);
    return msim_evq_pop(&r->queue);
}

uint32_t msim_contention_run_next(struct msim_contention_run *r, msim_ps *at)
{
    while (r->queue.length || r->soon.seq != UINT32_MAX) {
        struct msim_event e = pop(r);
        uint32_t d = e.seq - r->s->n_devices;

        if (e.seq < r->s->n_devices) {
            admit_held(r, e.seq, r->devices[e.seq].kinds_held, e.time);
        } else if (r->states[d] & RUNNING) {
            end(r, d, e.time);
            *at = e.time;
            return d;
        } else {
            admit(r, d, e.time);
        }
    }
    return MSIM_NONE;
}

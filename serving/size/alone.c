/*
 * serving/size/alone.c - queues and workers of one stage.
 *
 * Events are ends of services, one a worker, and batches that have waited long
 * enough, one a queue; arrivals are taken from the array as their time comes.
 */
#include "serving/size/size_plan_internal.h"

#include "core/base/containers.h"
#include "core/base/min_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_MS 1e9
#define ANY_MOST  1000000 /* queues at random: visits hardly meet there */
#define ANY_LOAD  100     /* of one of them, beyond 20 times its share */

struct list {
    uint32_t head, tail;
};

struct queue {
    struct list levels[MSIM_ALONE_LEVELS];
    uint32_t waiting, busy;
    uint32_t n_free; /* workers: free[0..n_free) */
    uint32_t *free;
};

struct alone {
    const struct msim_alone_stage *stage;
    struct msim_alone_visit *visits;
    uint32_t *next; /* of a visit in a list */
    struct queue *queues;
    uint32_t n_queues, servers; /* of a queue */
    uint32_t *free;
    uint32_t round;
    struct msim_min_tree loads; /* of queues, where the least is taken */
    struct msim_evq events;
    double now;
};

static msim_ps to_ps(double ms)
{
    return msim_whole(ms * PS_PER_MS + 0.5);
}

static void schedule(struct alone *a, double ms, uint32_t what)
{
    msim_evq_push(&a->events, to_ps(ms), what);
}

static uint32_t wake_of(const struct alone *a, const struct queue *q)
{
    return a->n_queues * a->servers + (uint32_t)(q - a->queues);
}

static void note_load(struct alone *a, const struct queue *q)
{
    if (a->loads.leaves)
        msim_min_tree_set(&a->loads, (uint32_t)(q - a->queues),
                          q->waiting + q->busy);
}

/* ---- lists --------------------------------------------------------------- */

static void append(struct alone *a, struct queue *q, uint32_t v)
{
    struct list *l = &q->levels[a->visits[v].level];

    a->next[v] = MSIM_NONE;
    if (l->head == MSIM_NONE)
        l->head = v;
    else
        a->next[l->tail] = v;
    l->tail = v;
    q->waiting++;
}

static uint32_t take(struct alone *a, struct queue *q)
{
    struct list *l = q->levels;
    uint32_t v;

    while (l->head == MSIM_NONE)
        l++;
    v = l->head;
    l->head = a->next[v];
    q->waiting--;
    return v;
}

static double oldest(const struct alone *a, const struct queue *q)
{
    double at = INFINITY;

    for (uint32_t i = 0; i < MSIM_ALONE_LEVELS; i++)
        if (q->levels[i].head != MSIM_NONE)
            at = fmin(at, a->visits[q->levels[i].head].at_ms);
    return at;
}

/* ---- service ------------------------------------------------------------- */

/* Is there a batch to begin with? Else it is looked at again in time. */
static bool is_ripe(struct alone *a, struct queue *q)
{
    double until;

    if (a->stage->most < 2 || q->waiting >= a->stage->most)
        return true;
    until = oldest(a, q) + a->stage->def->batching.max_wait_ms;
    if (to_ps(a->now) >= to_ps(until))
        return true;
    schedule(a, until, wake_of(a, q));
    return false;
}

static void begin(struct alone *a, struct queue *q)
{
    uint32_t most = a->stage->most, batch[256], n = 0;
    double factor = 0, base = 0, rest = 0, ms;

    if (most > 256)
        most = 256;
    for (; n < most && q->waiting; n++) {
        struct msim_alone_visit *v = &a->visits[batch[n] = take(a, q)];

        v->wait_ms = a->now - v->at_ms;
        base = n ? base : v->base_ms;
        factor = fmax(factor, v->factor);
        rest = fmax(rest, v->rest_ms);
    }
    ms = base * factor * a->stage->law[n - 1];
    for (uint32_t i = 0; i < n; i++) {
        a->visits[batch[i]].service_ms = ms;
        a->visits[batch[i]].batch_factor =
            (float)(factor * a->stage->law[n - 1]);
    }
    q->busy++;
    if (a->stage->def->call != MSIM_CALL_RPC)
        rest = 0;
    schedule(a, a->now + ms + rest, q->free[--q->n_free]);
}

static void begin_all(struct alone *a, struct queue *q)
{
    while (q->waiting && q->n_free && is_ripe(a, q))
        begin(a, q);
    note_load(a, q);
}

/* ---- events -------------------------------------------------------------- */

static uint32_t route(struct alone *a, const struct msim_alone_visit *v)
{
    struct msim_random r = {.key = v->key ^ 0x726f757465};

    switch (a->stage->def->routing) {
    case MSIM_ROUTING_LEAST:
        return msim_min_tree_first(&a->loads);
    case MSIM_ROUTING_ROUND:
        return a->round++ % a->n_queues;
    case MSIM_ROUTING_ANY:
        return (uint32_t)(msim_random_unit(&r) * a->n_queues);
    case MSIM_ROUTING_SHARED:
        break;
    }
    return 0;
}

static void event(struct alone *a)
{
    struct msim_event e = msim_evq_pop(&a->events);
    uint32_t workers = a->n_queues * a->servers;
    struct queue *q;

    a->now = (double)e.time / PS_PER_MS;
    if (e.seq < workers) {
        q = &a->queues[e.seq / a->servers];
        q->free[q->n_free++] = e.seq;
        q->busy--;
    } else {
        q = &a->queues[e.seq - workers];
    }
    begin_all(a, q);
}

static void run(struct alone *a, uint32_t n)
{
    for (uint32_t i = 0; i < n || a->events.length;) {
        if (a->events.length && (i == n || msim_evq_first(&a->events).time <=
                                               to_ps(a->visits[i].at_ms))) {
            event(a);
            continue;
        }
        a->now = a->visits[i].at_ms;
        {
            struct queue *q = &a->queues[route(a, &a->visits[i])];

            append(a, q, i++);
            begin_all(a, q);
        }
    }
}

static enum msim_status lay(struct alone *a, uint32_t n)
{
    uint32_t workers = a->n_queues * a->servers;

    a->queues = calloc(a->n_queues, sizeof(*a->queues));
    a->free = malloc(workers * sizeof(*a->free));
    a->next = malloc((n + 1) * sizeof(*a->next));
    if (!a->queues || !a->free || !a->next)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < workers; i++)
        a->free[i] = i;
    for (uint32_t i = 0; i < a->n_queues; i++) {
        a->queues[i].free = a->free + (size_t)i * a->servers;
        a->queues[i].n_free = a->servers;
        for (uint32_t k = 0; k < MSIM_ALONE_LEVELS; k++)
            a->queues[i].levels[k].head = MSIM_NONE;
    }
    if (a->stage->def->routing == MSIM_ROUTING_LEAST &&
        !msim_min_tree_make(&a->loads, a->n_queues))
        return MSIM_ENOMEM;
    return msim_evq_init(&a->events, workers + a->n_queues);
}

static uint32_t at_most(int64_t wanted, uint32_t most)
{
    return wanted < most ? (uint32_t)wanted : most;
}

/*
 * Queues and workers that `n` visits can tell from more: the first idle one is
 * taken, in turn or because it has least to do, so that each gets its share of
 * the visits at most. By chance a queue gets more, but not that many.
 */
static void count(struct alone *a, uint32_t n)
{
    const struct msim_stage *def = a->stage->def;
    int64_t replicas = a->stage->replicas;

    a->n_queues = 1;
    a->servers = at_most(def->workers, n);
    switch (def->routing) {
    case MSIM_ROUTING_SHARED:
        a->servers = at_most(def->workers * replicas, n);
        break;
    case MSIM_ROUTING_ANY:
        a->n_queues = at_most(replicas, ANY_MOST);
        a->servers = at_most(def->workers,
                             at_most(n, ANY_LOAD + 20 * (n / a->n_queues)));
        break;
    case MSIM_ROUTING_LEAST:
    case MSIM_ROUTING_ROUND:
        a->n_queues = at_most(replicas, n);
        a->servers = at_most(def->workers, n / a->n_queues + 1);
        break;
    }
}

enum msim_status msim_alone_run(const struct msim_alone_stage *stage,
                                struct msim_alone_visit *visits, uint32_t n)
{
    struct alone a = {.stage = stage, .visits = visits};
    enum msim_status status;

    if (!n)
        return MSIM_OK;
    count(&a, n);
    status = lay(&a, n);
    if (status == MSIM_OK)
        run(&a, n);
    msim_evq_release(&a.events);
    msim_min_tree_release(&a.loads);
    free(a.queues);
    free(a.free);
    free(a.next);
    return status;
}

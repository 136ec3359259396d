/*
 * serving/sim/serving_run_internal.h - what the files of serving/sim share; no
 * other room includes it.
 */
#ifndef MSIM_SERVING_SIM_SERVING_RUN_INTERNAL_H
#define MSIM_SERVING_SIM_SERVING_RUN_INTERNAL_H
#include "core/base/min_tree.h"
#include "core/base/status.h"
#include "core/base/units.h"
#include "serving/app/arrivals.h"
#include "serving/sim/serving_run.h"

#include <stdlib.h>

/* ---- event heap ---------------------------------------------------------- */
/*
 * What happens next in a simulation of requests.
 *
 * A 4-ary heap by (time, order): events at the same instant happen in the order
 * in which they were scheduled, so that queues stay first come, first served.
 * core/base/containers.h moves pending events and therefore keeps the place of
 * each, in an order of its own at equal times; nothing is moved here, and a
 * visit is one event after another.
 *
 * An event is one number of 128 bits, time, order and what, so that the least
 * of four children is found without a branch: which it is cannot be foreseen.
 */

/* Times are from 0 on, so that their order is that of the unsigned number. */
typedef unsigned __int128 msim_heap_event;

struct msim_event_heap {
    msim_heap_event *at;
    uint32_t n, capacity, next;
};

static inline msim_ps msim_heap_time(msim_heap_event e)
{
    return (msim_ps)(e >> 64);
}

static inline uint32_t msim_heap_what(msim_heap_event e)
{
    return (uint32_t)e;
}

/* False where memory is out, or there are too many. */
static inline bool msim_heap_grow(struct msim_event_heap *h)
{
    uint32_t wanted = h->capacity ? 2 * h->capacity : 1024;
    void *more = h->capacity < UINT32_MAX / 2
                     ? realloc(h->at, wanted * sizeof(*h->at))
                     : NULL;

    if (!more)
        return false;
    h->at = more;
    h->capacity = wanted;
    return true;
}

/* Place `e` at the hole `i` or above it. */
static inline void msim_heap_rise(msim_heap_event *at, uint32_t i,
                                  msim_heap_event e)
{
    while (i > 0 && e < at[(i - 1) / 4]) {
        at[i] = at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    at[i] = e;
}

/* False where memory is out; nothing is scheduled then. */
static inline bool msim_heap_push(struct msim_event_heap *h, msim_ps time,
                                  uint32_t what)
{
    uint64_t low = (uint64_t)h->next++ << 32 | what;

    if (h->n == h->capacity && !msim_heap_grow(h))
        return false;
    msim_heap_rise(h->at, h->n++, (msim_heap_event)(uint64_t)time << 64 | low);
    return true;
}

/* The earliest, which is taken out; there must be one. The hole goes down to
 * the end, and what was last rises from there: it is late, and seldom does. */
static inline msim_heap_event msim_heap_pop(struct msim_event_heap *h)
{
    msim_heap_event *at = h->at, top = at[0], last = at[--h->n];
    uint32_t i = 0, n = h->n, c;

    while ((c = 4 * i + 1) + 3 < n) {
        uint32_t a = c + (at[c + 1] < at[c]);
        uint32_t b = c + 2 + (at[c + 3] < at[c + 2]);
        uint32_t least = at[b] < at[a] ? b : a;

        at[i] = at[least];
        i = least;
    }
    if (c < n) {
        uint32_t least = c;

        while (++c < n)
            least = at[c] < at[least] ? c : least;
        at[i] = at[least];
        i = least;
    }
    msim_heap_rise(at, i, last);
    return top;
}

/* ---- sim ----------------------------------------------------------------- */
/*
 * The state of a simulation,.
 *
 * Visits, calls and requests lie in pools and are named by their index; a pool
 * may move when one is taken, so no pointer lives across a taking.
 *
 * A visit is kept as long as something may look at it: itself until it has
 * answered, its children, and the list of its request's critical path, each one
 * reference.
 */

#define MSIM_SIM_PS_PER_MS 1e9
#define MSIM_SIM_PS_PER_S  1e12

/* Copies of a geometric number, at most. */
#define MSIM_SIM_COPIES_MOST 1024

/* The kind of an event in the upper bits of its `what`, who in the others. */
enum msim_sim_event {
    MSIM_SIM_ARRIVE, /* the next request; of a closed loop: of a client */
    MSIM_SIM_ENTER,  /* visit */
    MSIM_SIM_SERVED, /* visit, the first of a batch */
    MSIM_SIM_WAKE,   /* queue whose batch has waited long enough */
    MSIM_SIM_RETRY,  /* call */
    MSIM_SIM_MARK,   /* the end of the warm-up or of a window */
    MSIM_SIM_STEP,   /* LLM stage */
    MSIM_SIM_CHANGE, /* stage, of whose replicas some go or come */
};
#define MSIM_SIM_WHO_BITS 29
#define MSIM_SIM_WHO_MOST ((1u << MSIM_SIM_WHO_BITS) - 1)

/* Who, of a mark; the first three are moments whose areas are kept. */
enum msim_sim_moment {
    MSIM_SIM_BEGIN, /* the end of the warm-up */
    MSIM_SIM_MIDDLE,
    MSIM_SIM_END, /* of the arrivals */
    MSIM_SIM_WINDOW,
};

/* What a draw is for: streams of one visit. */
enum msim_sim_stream {
    MSIM_SIM_STREAM_NETWORK = 1,
    MSIM_SIM_STREAM_ROUTE,
    MSIM_SIM_STREAM_LOOP,
    MSIM_SIM_STREAM_EDGE, /* and the edge's index on top */
};

struct msim_sim_visit {
    uint64_t key;   /* of its draws: hangs on the calls that led to it */
    msim_ps called; /* when its call was first made */
    msim_ps entered, started, served;
    uint64_t *hashes; /* of an LLM's prompt, while it is served */
    uint32_t stage, request;
    uint32_t parent, call; /* MSIM_NONE: of a request; without retry */
    uint32_t next;         /* of a queue, a batch, or those not in use */
    uint32_t path_next, path_last; /* the critical path behind it, itself first;
                                      path_last of the first one only */
    uint32_t queue, leader;     /* where it is served; the first of its batch */
    uint32_t batch, batch_left; /* of a leader: visits of its batch, and those
                                   that hold the worker still */
    uint32_t refs;
    uint32_t edge;    /* that made it */
    uint32_t at;      /* the edge behind the step that it waits for */
    uint32_t of_step; /* `at` of its parent when it was called */
    uint32_t need;    /* answers that its step still waits for */
    uint32_t copy;    /* of its call */
    uint32_t loop;    /* calls made before this one */
};

/* A call that is made again if it is not answered in time. */
struct msim_sim_call {
    uint64_t key;
    msim_ps called;
    uint32_t parent, edge, copy, loop, of_step;
    uint32_t attempts, refs, next;
    bool answered;
};

struct msim_sim_request {
    uint64_t key;
    double size;
    uint32_t row, cls, level, next;
    uint32_t client;             /* of a closed loop */
    struct msim_arrival arrival; /* tokens and prompts, of LLM stages */
    bool measured;
};

struct msim_sim_pool {
    void *at;
    uint32_t n, capacity; /* used so far */
    uint32_t unused;      /* the first of those given back, or MSIM_NONE */
};

struct msim_sim_list {
    uint32_t head, tail;
};

struct msim_sim_queue {
    uint32_t stage;
    uint32_t waiting, held, servers;
    uint32_t first_list; /* of its levels of priority */
    msim_ps wake;        /* pending, or MSIM_TIME_NONE */
};

/* Areas under curves, ps; and counts. */
struct msim_sim_areas {
    double held, computing, inside;
    uint64_t entered, served;
};

/* Of a window. */
struct msim_sim_window {
    uint32_t arrivals;
    double held_before; /* area */
    double wait_ps, self_ps, net_ps;
    uint32_t n_started, n_served, n_net;
    msim_ps *latency; /* of the visits that ended */
    uint32_t n_latency, capacity;
};

struct msim_sim_edge {
    const struct msim_flow_edge *def;
    uint32_t step_end; /* the edge behind its step */
    uint32_t wait;     /* of its step; 0: all */
    msim_ps timeout;   /* 0: no retry */
};

struct msim_sim_llm {
    struct msim_serving_llm of;
    struct msim_llm_times *times; /* one a replica */
    struct msim_deployment *deployment;
    uint32_t n_replicas, n_serve;  /* of the engine */
    struct msim_sim_queue *queues; /* visits that wait for a place, of those
                                      that serve */
    struct msim_sim_list *lists;
    msim_ps step_at; /* its event; MSIM_TIME_NONE: none */
};

struct msim_sim_stage {
    const struct msim_stage *def;
    struct msim_sim_llm *llm;      /* NULL: not an LLM */
    struct msim_llm_times times;   /* of a model stage; step_us NULL: not */
    struct msim_llm_chunk *chunks; /* of its batch */
    bool is_free, rpc, batching;
    uint32_t first_edge, end_edge;
    uint32_t n_queues, first_queue, round, servers;
    uint32_t up;    /* replicas that visits are sent to, the first ones */
    msim_ps change; /* when that changes next; MSIM_TIME_NONE: never */
    uint32_t max_batch;
    msim_ps max_wait;
    /* now */
    uint32_t held, computing, inside, waiting;
    struct msim_min_tree loads; /* of queues, where the least is taken */
    msim_ps touched;
    struct msim_sim_areas areas, at[3]; /* at[]: of msim_sim_moment */
    struct msim_stage_run run;
    double hold_sum;
    uint64_t n_holds;
    uint32_t sample_capacity;
    struct msim_sim_window window;
};

struct msim_sim_owned {
    void *thing;
    void (*release)(void *thing);
};

struct msim_serving {
    const struct msim_app *app;
    struct msim_serving_how how;
    enum msim_status status;
    struct msim_event_heap events;
    struct msim_sim_pool visits, calls, requests;
    struct msim_sim_stage *stages;
    struct msim_sim_edge *edges;
    struct msim_sim_queue *queues;
    uint32_t n_queues, queue_capacity;
    struct msim_sim_list *lists; /* n_levels a queue */
    uint32_t *level_of_class, n_levels;
    msim_ps now, warmup, moment[3];
    uint64_t arrived, n_events, in_flight;
    uint32_t n_changes; /* MSIM_SIM_CHANGE that are to come */
    bool arrivals_over;
    /* results */
    struct msim_served *rows;
    uint64_t row_capacity;
    struct msim_stage_run *results;
    struct msim_sim_window all; /* window of the whole */
    struct msim_window_row *windows;
    uint32_t n_windows, window_capacity;
    struct msim_span_row *spans;
    uint32_t n_spans, span_capacity;
    struct msim_sim_owned *owned;
    uint32_t n_owned, owned_capacity;
    struct msim_arrival_source *source;
    struct msim_arrival_how source_how;
    struct msim_arrival current, next;
    int64_t n_clients; /* 0: open arrivals */
    uint64_t expected; /* requests; 0: not known */
};

/* ---- sim_pool.c: what is taken and given back ---------------------------- */

/* The index of one, cleared, or MSIM_NONE with the status set. */
uint32_t msim_sim_visit_take(struct msim_serving *s);
uint32_t msim_sim_call_take(struct msim_serving *s);
uint32_t msim_sim_request_take(struct msim_serving *s);
/* One reference less; the last one gives it back, and then its parent. */
void msim_sim_visit_drop(struct msim_serving *s, uint32_t visit);
void msim_sim_call_drop(struct msim_serving *s, uint32_t call);
void msim_sim_request_give(struct msim_serving *s, uint32_t request);
void msim_sim_pools_clear(struct msim_serving *s);
void msim_sim_pools_release(struct msim_serving *s);
/* Room for element `n` of an array; false with the status set. */
bool msim_sim_room(struct msim_serving *s, void **data, uint32_t *capacity,
                   uint32_t n, size_t size);

static inline struct msim_sim_visit *msim_sim_visit(struct msim_serving *s,
                                                    uint32_t i)
{
    return (struct msim_sim_visit *)s->visits.at + i;
}

static inline struct msim_sim_call *msim_sim_call(struct msim_serving *s,
                                                  uint32_t i)
{
    return (struct msim_sim_call *)s->calls.at + i;
}

static inline struct msim_sim_request *msim_sim_request(struct msim_serving *s,
                                                        uint32_t i)
{
    return (struct msim_sim_request *)s->requests.at + i;
}

static inline void msim_sim_schedule(struct msim_serving *s, msim_ps time,
                                     enum msim_sim_event kind, uint32_t who)
{
    if (!msim_heap_push(&s->events, time,
                        (uint32_t)kind << MSIM_SIM_WHO_BITS | who))
        s->status = MSIM_ENOMEM;
}

/* A time that lies `ms` ahead of none. */
static inline msim_ps msim_sim_ps(double ms)
{
    return msim_time_after(0, ms * MSIM_SIM_PS_PER_MS + 0.5);
}

static inline uint64_t msim_sim_key(uint64_t key, uint64_t what)
{
    return msim_random_scramble((key ^ UINT64_C(0xd6e8feb86659fd93)) +
                                what * UINT64_C(0x9e3779b97f4a7c15));
}

static inline struct msim_random msim_sim_stream(uint64_t key, uint64_t what)
{
    return (struct msim_random){.key = msim_sim_key(key, what)};
}

/* ---- sim_stage.c: queues and workers ------------------------------------- */

/* The visit has reached its stage. */
void msim_sim_enter(struct msim_serving *s, uint32_t visit);
/* The service of `visit`, and of its batch, is over. */
void msim_sim_served(struct msim_serving *s, uint32_t visit);
/* A visit needs its worker no more. */
void msim_sim_release(struct msim_serving *s, uint32_t visit);
/* The first visit of a queue has waited for a batch long enough. */
void msim_sim_wake(struct msim_serving *s, uint32_t queue);
/* Whoever waits and can be served. */
void msim_sim_start(struct msim_serving *s, uint32_t queue);
/* Lay out queues for the replicas of this run; false with the status set. */
bool msim_sim_queues_lay(struct msim_serving *s);

/* ---- sim_absence.c: replicas that go and come ---------------------------- */

void msim_sim_absence_begin(struct msim_serving *s, struct msim_sim_stage *g);
void msim_sim_absence_change(struct msim_serving *s, uint32_t stage);
/* There is nobody that a visit could be sent to. */
static inline bool msim_sim_is_absent(const struct msim_sim_stage *g)
{
    return g->up == 0 && !g->is_free &&
           (g->llm || g->def->routing != MSIM_ROUTING_SHARED);
}

/* ---- sim_llm.c: engines and models --------------------------------------- */

void msim_sim_llm_begin(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t replicas);
void msim_sim_llm_enter(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t visit);
/* What happens next there: the first of the visits that are served with it, or
 * MSIM_NONE. */
uint32_t msim_sim_llm_step(struct msim_serving *s, uint32_t stage);
void msim_sim_llm_figures(struct msim_sim_stage *g);
void msim_sim_llm_free(struct msim_sim_stage *g);
/* A pass over the batch that begins with `visit`. */
double msim_sim_pass_ms(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t visit);

/* ---- sim_flow.c: calls and answers --------------------------------------- */

/* The next step of visits that have been served together, or their answers. */
void msim_sim_flow_batch(struct msim_serving *s, uint32_t visit);
void msim_sim_retry(struct msim_serving *s, uint32_t call);
/* The visit of a new request to the first stage; no time passes. */
void msim_sim_begin(struct msim_serving *s, uint32_t request);

/* ---- sim_source.c: arrivals ---------------------------------------------- */

/* Schedule the first. */
MSIM_MUST_CHECK
enum msim_status msim_sim_source_begin(struct msim_serving *s,
                                       struct msim_error *err);
/* Let `current` be the one that arrives now; false where there is none. */
bool msim_sim_source_current(struct msim_serving *s);
/* Schedule the next; false where that was the last. */
bool msim_sim_source_next(struct msim_serving *s);
/* A request has ended, and its client thinks of another. */
void msim_sim_source_ended(struct msim_serving *s,
                           const struct msim_sim_request *q);

/* ---- sim_record.c: what becomes a figure --------------------------------- */

/* Areas of a stage up to now; before what they are under changes. */
static inline void msim_sim_touch(struct msim_serving *s,
                                  struct msim_sim_stage *g)
{
    double dt = (double)(s->now - g->touched);

    if (s->now == g->touched)
        return;
    g->touched = s->now;
    g->areas.held += dt * g->held;
    g->areas.computing += dt * g->computing;
    g->areas.inside += dt * g->inside;
}

void msim_sim_note_served(struct msim_serving *s, struct msim_sim_stage *g,
                          struct msim_sim_visit *v);
/* The visit, which has answered: windows and spans. */
void msim_sim_note_visit(struct msim_serving *s,
                         const struct msim_sim_visit *v);
/* The end of a request, whose first visit has the critical path. */
void msim_sim_note_end(struct msim_serving *s, uint32_t visit);
/* The area curves now. */
void msim_sim_note_areas(struct msim_serving *s, enum msim_sim_moment m);
void msim_sim_note_window(struct msim_serving *s);
void msim_sim_note_results(struct msim_serving *s);
void msim_sim_record_clear(struct msim_serving *s);

#endif

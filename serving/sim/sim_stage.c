/*
 * serving/sim/sim_stage.c - queues, workers and batches of a stage.
 *
 * Where a visit waits, all workers of its queue are held, or a batch is not
 * full yet: whoever frees a worker, fills a batch or ends its time takes the
 * next from the queue. A list for each level of priority; nothing is preempted.
 */
#include "serving/sim/serving_run_internal.h"

#include <math.h>
#include <string.h>

/* ---- routing ------------------------------------------------------------- */

/* What a queue has to do has changed. */
static void note_load(struct msim_serving *s, uint32_t queue)
{
    const struct msim_sim_queue *q = &s->queues[queue];
    struct msim_sim_stage *g = &s->stages[q->stage];

    if (g->loads.leaves)
        msim_min_tree_set(&g->loads, queue - g->first_queue,
                          q->waiting + q->held);
}

static uint32_t route(struct msim_sim_stage *g, const struct msim_sim_visit *v)
{
    struct msim_random r;
    uint32_t i = 0;

    if (g->n_queues == 1)
        return g->first_queue;
    if (g->def->routing == MSIM_ROUTING_LEAST) {
        i = msim_min_tree_first_of(&g->loads, g->up, g->n_queues);
    } else if (g->def->routing == MSIM_ROUTING_ROUND) {
        i = g->round++ % g->up;
    } else {
        r = msim_sim_stream(v->key, MSIM_SIM_STREAM_ROUTE);
        i = (uint32_t)(msim_random_unit(&r) * g->up);
    }
    return g->first_queue + i;
}

/* ---- the lists of a queue ------------------------------------------------ */

static void append(struct msim_serving *s, struct msim_sim_queue *q,
                   uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_sim_list *l =
        &s->lists[q->first_list + msim_sim_request(s, v->request)->level];

    v->next = MSIM_NONE;
    if (l->head == MSIM_NONE)
        l->head = visit;
    else
        msim_sim_visit(s, l->tail)->next = visit;
    l->tail = visit;
    q->waiting++;
    s->stages[q->stage].waiting++;
}

/* The next one to be served; the queue must not be empty. */
static uint32_t take(struct msim_serving *s, struct msim_sim_queue *q)
{
    struct msim_sim_list *l = &s->lists[q->first_list];
    uint32_t visit;

    while (l->head == MSIM_NONE)
        l++;
    visit = l->head;
    l->head = msim_sim_visit(s, visit)->next;
    q->waiting--;
    s->stages[q->stage].waiting--;
    return visit;
}

/* When the one that has waited longest came. */
static msim_ps oldest(struct msim_serving *s, const struct msim_sim_queue *q)
{
    const struct msim_sim_list *l = &s->lists[q->first_list];
    msim_ps first = INT64_MAX;

    for (uint32_t i = 0; i < s->n_levels; i++)
        if (l[i].head != MSIM_NONE &&
            msim_sim_visit(s, l[i].head)->entered < first)
            first = msim_sim_visit(s, l[i].head)->entered;
    return first;
}

/* ---- service ------------------------------------------------------------- */

/* What the service of this visit is multiplied by. */
static double factor_of(struct msim_serving *s, const struct msim_sim_stage *g,
                        const struct msim_sim_visit *v)
{
    const struct msim_sim_request *r = msim_sim_request(s, v->request);
    double f = g->def->class_factor ? g->def->class_factor[r->cls] : 1;

    if (g->def->size_power == 1)
        return f * r->size;
    return g->def->size_power != 0 ? f * pow(r->size, g->def->size_power) : f;
}

/* The service of a batch of `n` over that of one: linear between the points,
 * and beyond the last as between the last two. */
static double law_at(const struct msim_dyn_batching *b, uint32_t n)
{
    const struct msim_law_point *p = b->law;
    uint32_t i = 1;

    if (!b->on || b->n_law == 0)
        return 1;
    if (b->n_law == 1 || n <= p[0].batch)
        return p[0].factor;
    while (i + 1 < b->n_law && p[i].batch < n)
        i++;
    return p[i - 1].factor + (n - p[i - 1].batch) *
                                 (p[i].factor - p[i - 1].factor) /
                                 (p[i].batch - p[i - 1].batch);
}

static void start(struct msim_serving *s, struct msim_sim_stage *g,
                  uint32_t queue, uint32_t visit, uint32_t n, double factor)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_random r = {.key = v->key};
    double ms = g->times.step_us
                    ? msim_sim_pass_ms(s, g, visit)
                    : msim_dist_draw(&g->def->service, &r) * factor;

    v->batch = v->batch_left = n;
    s->queues[queue].held++;
    g->held++;
    g->computing++;
    msim_sim_schedule(s, s->now + msim_sim_ps(ms), MSIM_SIM_SERVED, visit);
}

static void start_one(struct msim_serving *s, struct msim_sim_stage *g,
                      uint32_t queue, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);

    v->started = s->now;
    v->queue = queue;
    v->leader = visit;
    v->next = MSIM_NONE;
    start(s, g, queue, visit, 1, factor_of(s, g, v));
}

/* The first `n` of a queue; the longest of them decides. */
static void start_batch(struct msim_serving *s, struct msim_sim_stage *g,
                        uint32_t queue, uint32_t n)
{
    struct msim_sim_queue *q = &s->queues[queue];
    uint32_t leader = MSIM_NONE, last = MSIM_NONE;
    double factor = 0;

    for (uint32_t i = 0; i < n; i++) {
        uint32_t visit = take(s, q);
        struct msim_sim_visit *v = msim_sim_visit(s, visit);

        if (leader == MSIM_NONE)
            leader = visit;
        else
            msim_sim_visit(s, last)->next = visit;
        last = visit;
        v->started = s->now;
        v->queue = queue;
        v->leader = leader;
        v->next = MSIM_NONE;
        factor = fmax(factor, factor_of(s, g, v));
    }
    msim_sim_visit(s, leader)->refs += n - 1;
    start(s, g, queue, leader, n, factor * law_at(&g->def->batching, n));
}

static void start_batches(struct msim_serving *s, struct msim_sim_stage *g,
                          uint32_t queue)
{
    struct msim_sim_queue *q = &s->queues[queue];

    while (q->waiting && q->held < q->servers) {
        if (q->waiting < g->max_batch) {
            msim_ps due = oldest(s, q) + g->max_wait;

            if (due > s->now) {
                if (q->wake == MSIM_TIME_NONE || q->wake > due) {
                    q->wake = due;
                    msim_sim_schedule(s, due, MSIM_SIM_WAKE, queue);
                }
                return;
            }
        }
        start_batch(s, g, queue,
                    q->waiting < g->max_batch ? q->waiting : g->max_batch);
    }
}

void msim_sim_start(struct msim_serving *s, uint32_t queue)
{
    struct msim_sim_queue *q = &s->queues[queue];
    struct msim_sim_stage *g = &s->stages[q->stage];

    if (g->batching)
        start_batches(s, g, queue);
    while (!g->batching && q->waiting && q->held < q->servers)
        start_one(s, g, queue, take(s, q));
    note_load(s, queue);
}

void msim_sim_wake(struct msim_serving *s, uint32_t queue)
{
    struct msim_sim_queue *q = &s->queues[queue];
    struct msim_sim_stage *g = &s->stages[q->stage];

    if (q->wake <= s->now)
        q->wake = MSIM_TIME_NONE;
    msim_sim_touch(s, g);
    start_batches(s, g, queue);
    note_load(s, queue);
}

/* ---- a visit comes, is served, goes -------------------------------------- */

void msim_sim_enter(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_sim_stage *g = &s->stages[v->stage];
    struct msim_sim_queue *q;
    uint32_t queue;

    if (msim_sim_is_absent(g)) {
        if (g->change != MSIM_TIME_NONE)
            msim_sim_schedule(s, g->change, MSIM_SIM_ENTER, visit);
        return;
    }
    msim_sim_touch(s, g);
    v->entered = s->now;
    g->areas.entered++;
    g->window.arrivals++;
    g->inside++;
    if (g->is_free) {
        v->started = s->now;
        v->queue = MSIM_NONE;
        v->next = MSIM_NONE;
        msim_sim_schedule(s, s->now, MSIM_SIM_SERVED, visit);
        return;
    }
    if (g->llm) {
        msim_sim_llm_enter(s, g, visit);
        return;
    }
    queue = route(g, v);
    q = &s->queues[queue];
    if (!g->batching && q->held < q->servers) {
        start_one(s, g, queue, visit);
    } else {
        append(s, q, visit);
        if (g->batching)
            start_batches(s, g, queue);
    }
    note_load(s, queue);
}

/* The worker of `leader` is free. */
static void leave(struct msim_serving *s, struct msim_sim_stage *g,
                  uint32_t queue, uint32_t n, msim_ps started)
{
    struct msim_sim_queue *q = &s->queues[queue];

    msim_sim_touch(s, g);
    g->hold_sum += (double)(s->now - started);
    g->n_holds += n;
    q->held--;
    g->held--;
    msim_sim_start(s, queue);
}

void msim_sim_release(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit), *l;
    uint32_t leader = v->leader, queue = v->queue;

    if (queue == MSIM_NONE)
        return;
    l = msim_sim_visit(s, leader);
    if (--l->batch_left == 0)
        leave(s, &s->stages[v->stage], queue, l->batch, v->started);
    if (leader != visit)
        msim_sim_visit_drop(s, leader);
}

void msim_sim_served(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_sim_stage *g = &s->stages[v->stage];
    uint32_t queue = v->queue, n = 0;
    msim_ps started = v->started;

    msim_sim_touch(s, g);
    if (queue != MSIM_NONE)
        g->computing--;
    for (uint32_t i = visit; i != MSIM_NONE; n++) {
        struct msim_sim_visit *w = msim_sim_visit(s, i);

        w->served = s->now;
        msim_sim_note_served(s, g, w);
        i = w->next;
    }
    g->inside -= n;
    g->areas.served += n;
    if (!g->rpc && queue != MSIM_NONE) {
        msim_sim_visit(s, visit)->refs -= n - 1;
        leave(s, g, queue, n, started);
    }
}

/* ---- the workers of a run ------------------------------------------------ */

static int64_t replicas_of(const struct msim_serving *s, uint32_t stage)
{
    return s->how.replicas ? s->how.replicas[stage]
                           : s->app->stages[stage].replicas;
}

static bool make_room(struct msim_serving *s, uint32_t n)
{
    void *queues, *lists;

    if (n <= s->queue_capacity)
        return true;
    queues = realloc(s->queues, n * sizeof(*s->queues));
    if (queues)
        s->queues = queues;
    lists = realloc(s->lists, (size_t)n * s->n_levels * sizeof(*s->lists));
    if (lists)
        s->lists = lists;
    if (!queues || !lists) {
        s->status = MSIM_ENOMEM;
        return false;
    }
    s->queue_capacity = n;
    return true;
}

/* An LLM stage looks at its replicas itself. */
static bool make_loads(struct msim_serving *s, struct msim_sim_stage *g,
                       uint32_t n)
{
    if (g->def->routing != MSIM_ROUTING_LEAST || g->llm ||
        msim_min_tree_make(&g->loads, n))
        return true;
    s->status = MSIM_ENOMEM;
    return false;
}

static void lay_stage(struct msim_serving *s, uint32_t stage, uint32_t n)
{
    struct msim_sim_stage *g = &s->stages[stage];
    int64_t replicas = replicas_of(s, stage);
    int64_t servers = g->def->workers;

    if (g->def->routing == MSIM_ROUTING_SHARED)
        servers *= replicas;
    g->n_queues = n;
    g->first_queue = s->n_queues;
    g->run.replicas = (double)replicas;
    g->run.worker_count = (double)replicas * (double)g->def->workers;
    for (uint32_t i = 0; i < n; i++)
        s->queues[s->n_queues++] = (struct msim_sim_queue){
            .stage = stage,
            .servers = servers < UINT32_MAX ? (uint32_t)servers : UINT32_MAX,
            .first_list = (g->first_queue + i) * s->n_levels,
            .wake = MSIM_TIME_NONE};
}

bool msim_sim_queues_lay(struct msim_serving *s)
{
    uint32_t n_stages = s->app->n_stages;

    s->n_queues = 0;
    for (uint32_t i = 0; i < n_stages; i++) {
        bool shared = s->app->stages[i].routing == MSIM_ROUTING_SHARED;
        int64_t n = shared ? 1 : replicas_of(s, i);

        if (n < 1 || n > MSIM_SIM_WHO_MOST - s->n_queues) {
            s->status = MSIM_ELIMIT;
            return false;
        }
        if (!make_room(s, s->n_queues + (uint32_t)n) ||
            !make_loads(s, &s->stages[i], (uint32_t)n))
            return false;
        lay_stage(s, i, (uint32_t)n);
        if (s->stages[i].llm)
            msim_sim_llm_begin(s, &s->stages[i], (uint32_t)replicas_of(s, i));
    }
    memset(s->lists, 0xff,
           (size_t)s->n_queues * s->n_levels * sizeof(*s->lists));
    return true;
}

/*
 * serving/sim/sim_flow.c - the calls of a visit, step by step, and the answers.
 *
 * The critical path of a visit is a list: itself, then, of each of its steps,
 * the path of the answer that ended the step. The path of an answer that ended
 * nothing is dropped. Times of the path's visits, from the call to the end of
 * the service, add up to the latency of the request, to the picosecond: a
 * step's calls are made when the step before it ends.
 */
#include "serving/sim/serving_run_internal.h"

/* ---- critical paths ------------------------------------------------------ */

static void path_begin(struct msim_sim_visit *v, uint32_t visit)
{
    v->path_next = MSIM_NONE;
    v->path_last = visit;
    v->refs++;
}

/* The path of `then` goes on behind that of `first`. */
static void path_join(struct msim_serving *s, uint32_t first, uint32_t then)
{
    struct msim_sim_visit *a = msim_sim_visit(s, first);

    msim_sim_visit(s, a->path_last)->path_next = then;
    a->path_last = msim_sim_visit(s, then)->path_last;
}

static void path_drop(struct msim_serving *s, uint32_t visit)
{
    while (visit != MSIM_NONE) {
        uint32_t next = msim_sim_visit(s, visit)->path_next;

        msim_sim_visit_drop(s, visit);
        visit = next;
    }
}

/* ---- calls --------------------------------------------------------------- */

static void arrive(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_sim_stage *g = &s->stages[v->stage];
    struct msim_random r;
    double ms;

    if (g->def->network_ms.kind == MSIM_DIST_NONE || g->is_free) {
        msim_sim_enter(s, visit);
        return;
    }
    r = msim_sim_stream(v->key, MSIM_SIM_STREAM_NETWORK);
    ms = msim_dist_draw(&g->def->network_ms, &r);
    g->window.net_ps += ms * MSIM_SIM_PS_PER_MS;
    g->window.n_net++;
    msim_sim_schedule(s, s->now + msim_sim_ps(ms), MSIM_SIM_ENTER, visit);
}

/* A visit that `parent` waits for; MSIM_NONE where there is no room. */
static uint32_t child(struct msim_serving *s, uint32_t parent, uint32_t edge,
                      uint32_t copy)
{
    uint32_t visit = msim_sim_visit_take(s);
    struct msim_sim_visit *v, *p;

    if (visit == MSIM_NONE)
        return visit;
    v = msim_sim_visit(s, visit);
    p = msim_sim_visit(s, parent);
    p->refs++;
    v->parent = parent;
    v->request = p->request;
    v->edge = edge;
    v->stage = s->edges[edge].def->to;
    v->at = s->stages[v->stage].first_edge;
    v->copy = copy;
    v->of_step = p->at;
    v->call = MSIM_NONE;
    v->called = s->now;
    v->refs = 1;
    path_begin(v, visit);
    return visit;
}

/* One that is watched: `visit` is its first attempt. */
static void watch(struct msim_serving *s, uint32_t visit)
{
    uint32_t call = msim_sim_call_take(s);
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    struct msim_sim_call *c;

    if (call == MSIM_NONE)
        return;
    c = msim_sim_call(s, call);
    *c = (struct msim_sim_call){.key = v->key,
                                .called = s->now,
                                .parent = v->parent,
                                .edge = v->edge,
                                .copy = v->copy,
                                .loop = v->loop,
                                .of_step = v->of_step,
                                .refs = 2};
    v->call = call;
    msim_sim_visit(s, v->parent)->refs++;
    msim_sim_schedule(s, s->now + s->edges[v->edge].timeout, MSIM_SIM_RETRY,
                      call);
}

static void call(struct msim_serving *s, uint32_t parent, uint32_t edge,
                 uint32_t copy)
{
    uint32_t visit = child(s, parent, edge, copy);
    struct msim_sim_visit *v;

    if (visit == MSIM_NONE)
        return;
    v = msim_sim_visit(s, visit);
    v->key = msim_sim_key(msim_sim_visit(s, parent)->key,
                          (uint64_t)(edge + 1) << 32 | copy << 8);
    if (s->edges[edge].timeout)
        watch(s, visit);
    arrive(s, visit);
}

/* The same call again, after the answer `visit`, whose path it goes on. */
static void call_again(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *old = msim_sim_visit(s, visit);
    uint32_t edge = old->edge;
    uint32_t again = child(s, old->parent, edge, old->copy);
    struct msim_sim_visit *v;

    if (again == MSIM_NONE)
        return;
    old = msim_sim_visit(s, visit);
    v = msim_sim_visit(s, again);
    v->loop = old->loop + 1;
    v->key = msim_sim_key(old->key, (uint64_t)v->loop << 8);
    path_join(s, again, visit);
    if (s->edges[edge].timeout)
        watch(s, again);
    arrive(s, again);
}

void msim_sim_retry(struct msim_serving *s, uint32_t index)
{
    struct msim_sim_call *c = msim_sim_call(s, index);
    const struct msim_sim_edge *e = &s->edges[c->edge];
    const struct msim_sim_visit *p = msim_sim_visit(s, c->parent);
    struct msim_sim_visit *v;
    uint32_t visit;

    if (c->answered || !p->need || p->at != c->of_step) {
        msim_sim_call_drop(s, index);
        return;
    }
    visit = child(s, c->parent, c->edge, c->copy);
    if (visit == MSIM_NONE)
        return;
    c = msim_sim_call(s, index);
    v = msim_sim_visit(s, visit);
    v->key = msim_sim_key(c->key, ++c->attempts);
    v->called = c->called;
    v->loop = c->loop;
    v->call = index;
    c->refs++;
    if (c->attempts < e->def->retries)
        msim_sim_schedule(s, s->now + e->timeout, MSIM_SIM_RETRY, index);
    else
        msim_sim_call_drop(s, index);
    arrive(s, visit);
}

/* How often the call of `edge` is made by this visit, at once. */
static uint32_t copies_of(struct msim_serving *s,
                          const struct msim_sim_visit *v, uint32_t edge)
{
    const struct msim_flow_edge *e = s->edges[edge].def;
    struct msim_random r;
    uint32_t n = 1;

    if (!msim_flow_edge_takes(e, msim_sim_request(s, v->request)->cls))
        return 0;
    if (e->prob >= 1 && !e->copies_geometric)
        return (uint32_t)e->copies;
    r = msim_sim_stream(v->key, MSIM_SIM_STREAM_EDGE + edge);
    if (e->prob < 1 && msim_random_unit(&r) >= e->prob)
        return 0;
    if (!e->copies_geometric)
        return (uint32_t)e->copies;
    while (n < MSIM_SIM_COPIES_MOST && msim_random_unit(&r) * e->copies > 1)
        n++;
    return n;
}

/* Make the calls of the step that begins at edge `first`; how many. */
static uint32_t make_calls(struct msim_serving *s, uint32_t visit,
                           uint32_t first, uint32_t end)
{
    uint32_t n = 0;

    for (uint32_t e = first; e < end && s->status == MSIM_OK; e++) {
        uint32_t copies = copies_of(s, msim_sim_visit(s, visit), e);

        for (uint32_t k = 0; k < copies && s->status == MSIM_OK; k++)
            call(s, visit, e, k);
        n += copies;
    }
    return n;
}

/* ---- answers ------------------------------------------------------------- */

static void answer(struct msim_serving *s, uint32_t visit);

static void flow(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    uint32_t end = s->stages[v->stage].end_edge;

    while (v->at < end) {
        const struct msim_sim_edge *e = &s->edges[v->at];
        uint32_t first = v->at, n;

        v->at = e->step_end;
        n = make_calls(s, visit, first, e->step_end);
        v = msim_sim_visit(s, visit); /* the pool may have moved */
        if (n > 0) {
            v->need = e->wait > 0 && e->wait < n ? e->wait : n;
            return;
        }
    }
    answer(s, visit);
}

void msim_sim_flow_batch(struct msim_serving *s, uint32_t visit)
{
    while (visit != MSIM_NONE && s->status == MSIM_OK) {
        uint32_t next = msim_sim_visit(s, visit)->next;

        flow(s, visit);
        visit = next;
    }
}

/* Is the call to be made again? */
static bool loops(const struct msim_serving *s, const struct msim_sim_visit *v)
{
    const struct msim_flow_edge *e = s->edges[v->edge].def;
    struct msim_random r;

    if (e->again <= 0 || v->loop + 1 >= e->most)
        return false;
    r = msim_sim_stream(v->key, MSIM_SIM_STREAM_LOOP);
    return msim_random_unit(&r) < e->again;
}

/* Does anyone still wait for this answer? Of several attempts the first. */
static bool awaited(struct msim_serving *s, const struct msim_sim_visit *v)
{
    const struct msim_sim_visit *p = msim_sim_visit(s, v->parent);
    bool first = true;

    if (v->call != MSIM_NONE) {
        struct msim_sim_call *c = msim_sim_call(s, v->call);

        first = !c->answered;
        c->answered = true;
        msim_sim_call_drop(s, v->call);
    }
    return first && p->need && p->at == v->of_step;
}

static void answer(struct msim_serving *s, uint32_t visit)
{
    struct msim_sim_visit *v = msim_sim_visit(s, visit);
    uint32_t parent = v->parent;

    msim_sim_note_visit(s, v);
    if (s->stages[v->stage].rpc)
        msim_sim_release(s, visit);
    if (parent == MSIM_NONE) {
        msim_sim_note_end(s, visit);
        path_drop(s, visit);
    } else if (!awaited(s, v)) {
        path_drop(s, visit);
    } else if (loops(s, v)) {
        call_again(s, visit);
    } else if (--msim_sim_visit(s, parent)->need > 0) {
        path_drop(s, visit);
    } else {
        path_join(s, parent, visit);
        flow(s, parent);
    }
    msim_sim_visit_drop(s, visit);
}

void msim_sim_begin(struct msim_serving *s, uint32_t request)
{
    uint32_t visit = msim_sim_visit_take(s);
    struct msim_sim_visit *v;

    if (visit == MSIM_NONE)
        return;
    v = msim_sim_visit(s, visit);
    v->key = msim_sim_request(s, request)->key;
    v->request = request;
    v->parent = v->call = MSIM_NONE;
    v->stage = s->app->start;
    v->at = s->stages[v->stage].first_edge;
    v->called = s->now;
    v->refs = 1;
    path_begin(v, visit);
    msim_sim_enter(s, visit);
}

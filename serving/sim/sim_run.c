/*
 * serving/sim/sim_run.c - a simulator: made once, run many times.
 */
#include "serving/sim/serving_run_internal.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <math.h>
#include <string.h>

/* What streams of the seed are for. */
enum { STREAM_WAY = 101 };

/* ---- made once ----------------------------------------------------------- */

static void make_edges(struct msim_serving *s)
{
    const struct msim_app *app = s->app;

    for (uint32_t i = app->n_edges; i-- > 0;) {
        const struct msim_flow_edge *e = &app->edges[i];
        bool goes_on = i + 1 < app->n_edges && e[1].from == e->from &&
                       e[1].step == e->step;
        struct msim_sim_edge *m = &s->edges[i];

        m->def = e;
        m->step_end = goes_on ? m[1].step_end : i + 1;
        m->wait = goes_on ? m[1].wait : 0;
        if (e->wait > 0)
            m->wait = (uint32_t)e->wait;
        m->timeout = e->retries > 0 ? msim_sim_ps(e->timeout_ms) : 0;
    }
}

static void make_stage(struct msim_serving *s, uint32_t i)
{
    const struct msim_app *app = s->app;
    struct msim_sim_stage *g = &s->stages[i];
    uint32_t n = 0;

    g->def = &app->stages[i];
    g->rpc = g->def->call == MSIM_CALL_RPC;
    g->batching = g->def->batching.on && g->def->batching.max_batch > 1;
    g->max_batch = g->def->batching.max_batch < UINT32_MAX
                       ? (uint32_t)g->def->batching.max_batch
                       : UINT32_MAX;
    g->max_wait = msim_sim_ps(g->def->batching.max_wait_ms);
    g->first_edge = (uint32_t)(msim_app_edges_of(app, i, &n) - app->edges);
    g->end_edge = g->first_edge + n;
}

static bool is_urgent(const void *classes, uint32_t a, uint32_t b)
{
    const struct msim_app_class *c = classes;

    return c[a].priority < c[b].priority;
}

/* The distinct priorities, 0 the first to be served. */
static enum msim_status make_levels(struct msim_serving *s)
{
    const struct msim_app_class *c = s->app->classes;
    uint32_t n = s->app->n_classes;
    uint32_t *order = calloc(2u * (size_t)n, sizeof(*order));

    if (!order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    msim_sort_index(order, order + n, n, is_urgent, c);
    s->n_levels = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->n_levels += i == 0 || is_urgent(c, order[i - 1], order[i]);
        s->level_of_class[order[i]] = s->n_levels - 1;
    }
    free(order);
    return MSIM_OK;
}

static enum msim_status check(const struct msim_app *app,
                              struct msim_error *err)
{
    for (uint32_t i = 0; i < app->n_stages; i++)
        if (app->stages[i].service.kind == MSIM_DIST_NONE &&
            (app->stages[i].kind == MSIM_STAGE_MEASURED ||
             app->stages[i].kind == MSIM_STAGE_TOOL))
            return msim_fail(
                err, MSIM_EFORMAT, app->path, MSIM_OFFSET_NONE,
                "stages.%s.service: missing, want the time of a visit",
                app->stages[i].name);
    return MSIM_OK;
}

enum msim_status msim_serving_new(struct msim_serving **out,
                                  const struct msim_app *app,
                                  struct msim_error *err)
{
    struct msim_serving *s;

    *out = NULL;
    MSIM_TRY(check(app, err));
    s = calloc(1, sizeof(*s));
    if (!s)
        return MSIM_ENOMEM;
    s->app = app;
    s->stages = calloc(app->n_stages, sizeof(*s->stages));
    s->results = calloc(app->n_stages, sizeof(*s->results));
    s->edges = calloc(app->n_edges + 1u, sizeof(*s->edges));
    s->level_of_class = calloc(app->n_classes, sizeof(*s->level_of_class));
    if (!s->stages || !s->results || !s->edges || !s->level_of_class) {
        msim_serving_free(s);
        return MSIM_ENOMEM;
    }
    make_edges(s);
    for (uint32_t i = 0; i < app->n_stages; i++)
        make_stage(s, i);
    if (make_levels(s) != MSIM_OK) {
        msim_serving_free(s);
        return MSIM_ENOMEM;
    }
    *out = s;
    return MSIM_OK;
}

enum msim_status msim_serving_own(struct msim_serving *s, void *thing,
                                  void (*release)(void *thing))
{
    s->status = MSIM_OK;
    if (!msim_sim_room(s, (void **)&s->owned, &s->owned_capacity, s->n_owned,
                       sizeof(*s->owned))) {
        release(thing);
        return s->status;
    }
    s->owned[s->n_owned++] = (struct msim_sim_owned){thing, release};
    return MSIM_OK;
}

void msim_serving_free(struct msim_serving *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; s->stages && i < s->app->n_stages; i++) {
        free(s->stages[i].run.waits.value);
        free(s->stages[i].run.selves.value);
        free(s->stages[i].window.latency);
        msim_min_tree_release(&s->stages[i].loads);
        msim_sim_llm_free(&s->stages[i]);
    }
    for (uint32_t i = 0; i < s->n_owned; i++)
        s->owned[i].release(s->owned[i].thing);
    free(s->owned);
    msim_sim_pools_release(s);
    msim_arrival_source_free(s->source);
    free(s->all.latency);
    free(s->events.at);
    free(s->stages);
    free(s->results);
    free(s->edges);
    free(s->level_of_class);
    free(s->queues);
    free(s->lists);
    free(s->rows);
    free(s->windows);
    free(s->spans);
    free(s);
}

/* ---- requests ------------------------------------------------------------ */

static bool make_row(struct msim_serving *s)
{
    uint64_t wanted = s->row_capacity ? 2 * s->row_capacity : 4096;
    void *more;

    if (s->arrived < s->row_capacity)
        return true;
    if (s->how.requests > wanted)
        wanted = s->how.requests;
    more = s->arrived < UINT32_MAX ? realloc(s->rows, wanted * sizeof(*s->rows))
                                   : NULL;
    if (!more) {
        s->status = MSIM_ENOMEM;
        return false;
    }
    s->rows = more;
    s->row_capacity = wanted;
    return true;
}

static void last_arrival(struct msim_serving *s)
{
    if (!s->moment[MSIM_SIM_MIDDLE])
        msim_sim_note_areas(s, MSIM_SIM_MIDDLE);
    msim_sim_note_areas(s, MSIM_SIM_END);
    s->arrivals_over = true;
}

static void arrive(struct msim_serving *s, uint32_t client)
{
    uint32_t request;
    struct msim_sim_request *q;
    struct msim_served *row;

    if (s->arrivals_over || !make_row(s) || !msim_sim_source_current(s))
        return;
    request = msim_sim_request_take(s);
    if (request == MSIM_NONE)
        return;
    q = msim_sim_request(s, request);
    row = &s->rows[s->arrived];
    *row = (struct msim_served){.arrived = s->now,
                                .ended = MSIM_TIME_NONE,
                                .first = MSIM_TIME_NONE,
                                .cls = s->current.cls,
                                .input_tokens = s->current.input_tokens,
                                .output_tokens = s->current.output_tokens,
                                .measured = s->now >= s->warmup};
    *q = (struct msim_sim_request){
        .key = msim_random_of(s->how.seed, STREAM_WAY, s->arrived).key,
        .size = s->current.size,
        .row = (uint32_t)s->arrived,
        .cls = row->cls,
        .level = s->level_of_class[row->cls],
        .arrival = s->current,
        .client = client,
        .measured = row->measured};
    s->arrived++;
    s->in_flight++;
    s->all.arrivals++;
    if (s->arrived == s->expected / 2 && s->how.seconds <= 0)
        msim_sim_note_areas(s, MSIM_SIM_MIDDLE);
    if (!msim_sim_source_next(s))
        last_arrival(s);
    msim_sim_begin(s, request);
}

/* ---- the loop ------------------------------------------------------------ */

static void mark(struct msim_serving *s, enum msim_sim_moment what)
{
    if (what == MSIM_SIM_WINDOW) {
        msim_sim_note_window(s);
        /* what never ends does not go on for ever */
        if (s->events.n > (s->in_flight > 0 ? 0 : s->n_changes))
            msim_sim_schedule(s, s->now + msim_sim_ps(1e3 * MSIM_WINDOW_S),
                              MSIM_SIM_MARK, what);
    } else if (what == MSIM_SIM_END && !s->arrivals_over) {
        last_arrival(s);
    } else if (!s->arrivals_over) {
        msim_sim_note_areas(s, what);
    }
}

static void step(struct msim_serving *s, uint32_t stage)
{
    uint32_t first = msim_sim_llm_step(s, stage);

    if (first == MSIM_NONE)
        return;
    msim_sim_served(s, first);
    msim_sim_flow_batch(s, first);
}

static void happen(struct msim_serving *s, uint32_t what)
{
    uint32_t who = what & MSIM_SIM_WHO_MOST;

    switch ((enum msim_sim_event)(what >> MSIM_SIM_WHO_BITS)) {
    case MSIM_SIM_ARRIVE:
        arrive(s, who);
        break;
    case MSIM_SIM_ENTER:
        msim_sim_enter(s, who);
        break;
    case MSIM_SIM_SERVED:
        msim_sim_served(s, who);
        msim_sim_flow_batch(s, who);
        break;
    case MSIM_SIM_WAKE:
        msim_sim_wake(s, who);
        break;
    case MSIM_SIM_RETRY:
        msim_sim_retry(s, who);
        break;
    case MSIM_SIM_MARK:
        mark(s, (enum msim_sim_moment)who);
        break;
    case MSIM_SIM_STEP:
        step(s, who);
        break;
    case MSIM_SIM_CHANGE:
        msim_sim_absence_change(s, who);
        break;
    }
}

static void schedule_marks(struct msim_serving *s)
{
    const struct msim_serving_how *how = &s->how;

    if (how->warmup_s > 0)
        msim_sim_schedule(s, s->warmup, MSIM_SIM_MARK, MSIM_SIM_BEGIN);
    if (how->seconds > 0) {
        msim_sim_schedule(s, msim_sim_ps(500 * how->seconds), MSIM_SIM_MARK,
                          MSIM_SIM_MIDDLE);
        msim_sim_schedule(s, msim_sim_ps(1e3 * how->seconds), MSIM_SIM_MARK,
                          MSIM_SIM_END);
    }
    if (how->keep & MSIM_KEEP_WINDOWS)
        msim_sim_schedule(s, msim_sim_ps(1e3 * MSIM_WINDOW_S), MSIM_SIM_MARK,
                          MSIM_SIM_WINDOW);
}

static void begin(struct msim_serving *s, const struct msim_serving_how *how)
{
    s->how = *how;
    s->status = MSIM_OK;
    s->events.n = s->events.next = 0;
    s->now = 0;
    s->arrived = s->n_events = s->in_flight = 0;
    s->n_changes = 0;
    s->arrivals_over = false;
    s->expected = how->requests;
    s->warmup = msim_sim_ps(1e3 * how->warmup_s);
    msim_sim_pools_clear(s);
    msim_sim_record_clear(s);
    for (uint32_t i = 0; i < s->app->n_stages; i++)
        s->stages[i].is_free =
            i + 1 == how->free_stage_1 ||
            (how->only_stage_1 && i + 1 != how->only_stage_1);
    if (!msim_sim_queues_lay(s))
        return;
    for (uint32_t i = 0; i < s->app->n_stages; i++)
        msim_sim_absence_begin(s, &s->stages[i]);
    schedule_marks(s);
}

static enum msim_status too_long(const struct msim_serving *s,
                                 struct msim_error *err)
{
    return msim_fail(err, MSIM_ELIMIT, s->app->path, MSIM_OFFSET_NONE,
                     "the run goes on for more than 53 simulated days: look "
                     "at times of stages and of arrivals, or want fewer "
                     "requests");
}

enum msim_status msim_serving_run(struct msim_serving *s,
                                  const struct msim_serving_how *how,
                                  struct msim_serving_result *result,
                                  struct msim_error *err)
{
    begin(s, how);
    if (s->status == MSIM_OK)
        s->status = msim_sim_source_begin(s, err);
    while (s->status == MSIM_OK && s->events.n > 0) {
        msim_heap_event e = msim_heap_pop(&s->events);

        if (msim_heap_time(e) >= MSIM_TIME_LATEST) {
            if (s->arrivals_over && s->in_flight == 0)
                break; /* a timeout of what has been answered */
            return too_long(s, err);
        }
        s->now = msim_heap_time(e);
        s->n_events++;
        happen(s, msim_heap_what(e));
    }
    if (s->status != MSIM_OK)
        return s->status == MSIM_ELIMIT
                   ? msim_fail(err, MSIM_ELIMIT, s->app->path, MSIM_OFFSET_NONE,
                               "more visits are under way at once than can be "
                               "simulated")
                   : s->status;
    if (!s->arrivals_over)
        last_arrival(s);
    msim_sim_note_results(s);
    *result = (struct msim_serving_result){
        .requests = s->rows,
        .n_requests = s->arrived,
        .stages = s->results,
        .windows = s->windows,
        .n_windows = s->n_windows,
        .spans = s->spans,
        .n_spans = s->n_spans,
        .begin_s = (double)s->warmup / MSIM_SIM_PS_PER_S,
        .end_s = (double)s->moment[MSIM_SIM_END] / MSIM_SIM_PS_PER_S,
        .events = s->n_events};
    return MSIM_OK;
}

/* ---- what most callers want of it ---------------------------------------- */

static bool counts(const struct msim_served *r, uint32_t cls)
{
    return r->measured && (cls == MSIM_NONE || r->cls == cls);
}

double msim_serving_within(const struct msim_serving_result *r, uint32_t cls,
                           double limit_ms)
{
    uint64_t all = 0, within = 0;

    for (uint64_t i = 0; i < r->n_requests; i++) {
        const struct msim_served *q = &r->requests[i];

        if (!counts(q, cls))
            continue;
        all++;
        within +=
            q->ended != MSIM_TIME_NONE &&
            (double)(q->ended - q->arrived) <= limit_ms * MSIM_SIM_PS_PER_MS;
    }
    return all ? (double)within / (double)all : NAN;
}

uint64_t msim_serving_latencies(const struct msim_serving_result *r,
                                uint32_t cls, double *values)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < r->n_requests; i++) {
        const struct msim_served *q = &r->requests[i];

        if (!counts(q, cls) || q->ended == MSIM_TIME_NONE)
            continue;
        if (values)
            values[n] = (double)(q->ended - q->arrived) / MSIM_SIM_PS_PER_MS;
        n++;
    }
    if (values)
        qsort(values, n, sizeof(*values), msim_compare_values);
    return n;
}

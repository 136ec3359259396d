/*
 * serving/sim/sim_record.c - what happens, as figures.
 *
 * Shares and rates are areas under curves between the end of the warm-up and
 * the last arrival; figures of visits are of requests that came in that time,
 * whenever they ended.
 */
#include "serving/sim/serving_run_internal.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <math.h>
#include <string.h>

/* Values of a sample, before every second one is left out. */
#define SAMPLE_MOST (1u << 17)

/* ---- samples ------------------------------------------------------------- */

static void thin(struct msim_visit_sample *sample)
{
    for (uint32_t i = 0; 2 * i < sample->n; i++)
        sample->value[i] = sample->value[2 * i];
    sample->n = (sample->n + 1) / 2;
    sample->every *= 2;
}

/* Both samples of a stage take the same visits. */
static void sample_visit(struct msim_serving *s, struct msim_sim_stage *g,
                         msim_ps wait, msim_ps self)
{
    struct msim_visit_sample *a = &g->run.waits, *b = &g->run.selves;
    uint32_t capacity = g->sample_capacity;

    if (g->run.visits % a->every)
        return;
    if (a->n == SAMPLE_MOST) {
        thin(a);
        thin(b);
        if (g->run.visits % a->every)
            return;
    }
    if (!msim_sim_room(s, (void **)&a->value, &capacity, a->n,
                       sizeof(*a->value)) ||
        !msim_sim_room(s, (void **)&b->value, &g->sample_capacity, b->n,
                       sizeof(*b->value)))
        return;
    a->value[a->n++] = wait;
    b->value[b->n++] = self;
}

void msim_sim_note_served(struct msim_serving *s, struct msim_sim_stage *g,
                          struct msim_sim_visit *v)
{
    msim_ps wait = v->started - v->entered, self = v->served - v->started;

    if (s->how.keep & MSIM_KEEP_WINDOWS) {
        g->window.n_served++;
        g->window.wait_ps += (double)wait;
        g->window.self_ps += (double)self;
    }
    if (!msim_sim_request(s, v->request)->measured)
        return;
    if (s->how.keep & MSIM_KEEP_VISITS)
        sample_visit(s, g, wait, self);
    g->run.visits++;
    g->run.wait_ps += (double)wait;
    g->run.self_ps += (double)self;
}

/* ---- windows and spans --------------------------------------------------- */

static void note_latency(struct msim_serving *s, struct msim_sim_window *w,
                         msim_ps latency)
{
    if (msim_sim_room(s, (void **)&w->latency, &w->capacity, w->n_latency,
                      sizeof(*w->latency)))
        w->latency[w->n_latency++] = latency;
}

static void note_span(struct msim_serving *s, const struct msim_sim_visit *v,
                      msim_ps begin, msim_ps end, enum msim_span_what what)
{
    if (begin == end || s->n_spans >= MSIM_SPANS_MOST ||
        !msim_sim_room(s, (void **)&s->spans, &s->span_capacity, s->n_spans,
                       sizeof(*s->spans)))
        return;
    s->spans[s->n_spans++] = (struct msim_span_row){
        begin, end, v->stage, msim_sim_request(s, v->request)->row, what};
}

void msim_sim_note_visit(struct msim_serving *s, const struct msim_sim_visit *v)
{
    if (s->how.keep & MSIM_KEEP_WINDOWS)
        note_latency(s, &s->stages[v->stage].window, s->now - v->entered);
    if (!(s->how.keep & MSIM_KEEP_SPANS))
        return;
    note_span(s, v, v->entered, v->started, MSIM_SPAN_WAIT);
    note_span(s, v, v->started, v->served, MSIM_SPAN_SERVICE);
    note_span(s, v, v->served, s->now, MSIM_SPAN_CALLS);
}

static int compare_times(const void *a, const void *b)
{
    msim_ps x = *(const msim_ps *)a, y = *(const msim_ps *)b;

    return MSIM_ORDER(x, y);
}

/* Mean and 99th percentile of the latencies of a window, which is sorted. */
static void window_latency(struct msim_sim_window *w,
                           struct msim_window_row *row)
{
    double sum = 0, at = 0.99 * (w->n_latency - 1);
    uint32_t i = (uint32_t)at;

    row->mean_ms = row->p99_ms = NAN;
    if (w->n_latency == 0)
        return;
    qsort(w->latency, w->n_latency, sizeof(*w->latency), compare_times);
    for (uint32_t k = 0; k < w->n_latency; k++)
        sum += (double)w->latency[k];
    row->mean_ms = sum / w->n_latency / MSIM_SIM_PS_PER_MS;
    row->p99_ms = (double)w->latency[i];
    if (i + 1 < w->n_latency)
        row->p99_ms += (at - i) * (double)(w->latency[i + 1] - w->latency[i]);
    row->p99_ms /= MSIM_SIM_PS_PER_MS;
}

static void window_begin(struct msim_sim_window *w, double held)
{
    *w = (struct msim_sim_window){
        .held_before = held, .latency = w->latency, .capacity = w->capacity};
}

static void window_of_stage(struct msim_serving *s, struct msim_sim_stage *g,
                            struct msim_window_row *row)
{
    struct msim_sim_window *w = &g->window;
    double up = g->up > 0 ? g->up / g->run.replicas : 1;
    double span = MSIM_WINDOW_S * MSIM_SIM_PS_PER_S * g->run.worker_count * up;

    msim_sim_touch(s, g);
    *row = (struct msim_window_row){
        .arrivals = w->arrivals,
        .queue = g->waiting,
        .replicas = g->up,
        .busy = (g->areas.held - w->held_before) / span,
        .self_ms = w->self_ps / w->n_served / MSIM_SIM_PS_PER_MS,
        .wait_ms = w->wait_ps / w->n_served / MSIM_SIM_PS_PER_MS,
        .net_ms = w->net_ps / w->n_net / MSIM_SIM_PS_PER_MS};
    window_latency(w, row);
    window_begin(w, g->areas.held);
}

void msim_sim_note_window(struct msim_serving *s)
{
    uint32_t n = s->app->n_stages;
    struct msim_window_row *row;

    for (uint32_t i = 0; i <= n; i++) {
        if (!msim_sim_room(s, (void **)&s->windows, &s->window_capacity,
                           s->n_windows * (n + 1) + i, sizeof(*s->windows)))
            return;
        row = &s->windows[s->n_windows * (n + 1) + i];
        if (i < n) {
            window_of_stage(s, &s->stages[i], row);
            continue;
        }
        *row = (struct msim_window_row){.arrivals = s->all.arrivals,
                                        .queue = (uint32_t)s->in_flight,
                                        .busy = NAN,
                                        .self_ms = NAN,
                                        .wait_ms = NAN,
                                        .net_ms = NAN};
        window_latency(&s->all, row);
        window_begin(&s->all, 0);
    }
    s->n_windows++;
}

/* ---- the end of a request ------------------------------------------------ */

void msim_sim_note_end(struct msim_serving *s, uint32_t visit)
{
    const struct msim_sim_request *r =
        msim_sim_request(s, msim_sim_visit(s, visit)->request);
    struct msim_served *row = &s->rows[r->row];

    row->ended = s->now;
    s->in_flight--;
    if (s->how.keep & MSIM_KEEP_WINDOWS)
        note_latency(s, &s->all, s->now - row->arrived);
    for (uint32_t i = visit; i != MSIM_NONE;) {
        const struct msim_sim_visit *v = msim_sim_visit(s, i);

        row->queued += v->started - v->entered;
        if (r->measured)
            s->stages[v->stage].run.critical_ps +=
                (double)(v->served - v->called);
        i = v->path_next;
    }
    msim_sim_source_ended(s, r);
}

/* ---- the end of a run ---------------------------------------------------- */

void msim_sim_note_areas(struct msim_serving *s, enum msim_sim_moment m)
{
    s->moment[m] = s->now;
    for (uint32_t i = 0; i < s->app->n_stages; i++) {
        struct msim_sim_stage *g = &s->stages[i];

        msim_sim_touch(s, g);
        g->at[m] = g->areas;
        if (m != MSIM_SIM_BEGIN)
            g->run.backlog[m == MSIM_SIM_END] = g->waiting;
    }
}

static void finish_stage(struct msim_serving *s, struct msim_sim_stage *g,
                         double measured)
{
    struct msim_stage_run *r = &g->run;
    const struct msim_sim_areas *a = &g->at[MSIM_SIM_BEGIN];
    const struct msim_sim_areas *m = &g->at[MSIM_SIM_MIDDLE];
    const struct msim_sim_areas *z = &g->at[MSIM_SIM_END];
    double span = (double)(s->moment[MSIM_SIM_END] - s->warmup);
    double late =
        (double)(s->moment[MSIM_SIM_END] - s->moment[MSIM_SIM_MIDDLE]);

    if (span <= 0) /* nothing came after the warm-up */
        span = late = NAN;
    r->visits_per_s =
        (double)(z->entered - a->entered) / span * MSIM_SIM_PS_PER_S;
    r->held = (z->held - a->held) / span / r->worker_count;
    r->computing = (z->computing - a->computing) / span / r->worker_count;
    r->inside = (z->inside - a->inside) / span;
    r->late_held = (z->held - m->held) / late / r->worker_count;
    r->late_computing = (z->computing - m->computing) / late / r->worker_count;
    r->late_served_per_s =
        (double)(z->served - m->served) / late * MSIM_SIM_PS_PER_S;
    r->visits_per_request = (double)r->visits / measured;
    r->hold_ps = g->hold_sum / (double)g->n_holds;
}

void msim_sim_note_results(struct msim_serving *s)
{
    double measured = 0;

    for (uint64_t i = 0; i < s->arrived; i++)
        measured += s->rows[i].measured;
    for (uint32_t i = 0; i < s->app->n_stages; i++) {
        finish_stage(s, &s->stages[i], measured);
        if (s->stages[i].llm)
            msim_sim_llm_figures(&s->stages[i]);
        s->results[i] = s->stages[i].run;
    }
}

void msim_sim_record_clear(struct msim_serving *s)
{
    for (uint32_t i = 0; i < s->app->n_stages; i++) {
        struct msim_sim_stage *g = &s->stages[i];
        msim_ps *waits = g->run.waits.value, *selves = g->run.selves.value;

        g->run = (struct msim_stage_run){.waits = {waits, 0, 1},
                                         .selves = {selves, 0, 1}};
        g->areas = (struct msim_sim_areas){0};
        memset(g->at, 0, sizeof(g->at));
        g->touched = 0;
        g->held = g->computing = g->inside = g->waiting = g->round = 0;
        g->hold_sum = 0;
        g->n_holds = 0;
        window_begin(&g->window, 0);
    }
    window_begin(&s->all, 0);
    s->n_windows = s->n_spans = 0;
    memset(s->moment, 0, sizeof(s->moment));
}

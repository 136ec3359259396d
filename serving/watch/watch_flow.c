/*
 * serving/watch/watch_flow.c - mean times along the flow.
 */
#include "serving/watch/watch_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Put `s` behind all that it calls, once; the order is turned at the end. As
 * deep as the flow, which has no circles. */
static void visit(struct msim_watch_flow *f, bool *seen, uint32_t s)
{
    uint32_t n;
    const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);

    if (seen[s])
        return;
    seen[s] = true;
    for (uint32_t i = 0; i < n; i++)
        visit(f, seen, e[i].to);
    f->order[f->n++] = s;
}

enum msim_status msim_watch_flow_init(struct msim_watch_flow *f,
                                      const struct msim_app *app)
{
    bool *seen = calloc(app->n_stages, sizeof(*seen));

    *f = (struct msim_watch_flow){.app = app};
    f->order = calloc(app->n_stages, sizeof(*f->order));
    f->time = calloc(app->n_stages, sizeof(*f->time));
    f->edge_weight = calloc((size_t)app->n_edges + 1, sizeof(*f->edge_weight));
    f->reach = calloc(app->n_stages, sizeof(*f->reach));
    if (!seen || !f->order || !f->time || !f->edge_weight || !f->reach) {
        free(seen);
        return MSIM_ENOMEM;
    }
    visit(f, seen, app->start);
    for (uint32_t i = 0; i < f->n / 2; i++) {
        uint32_t s = f->order[i];

        f->order[i] = f->order[f->n - 1 - i];
        f->order[f->n - 1 - i] = s;
    }
    free(seen);
    return MSIM_OK;
}

void msim_watch_flow_release(struct msim_watch_flow *f)
{
    free(f->order);
    free(f->time);
    free(f->edge_weight);
    free(f->reach);
    memset(f, 0, sizeof(*f));
}

/* Calls that an edge makes one after the other: 1 + a + a^2 + ..., `most` of
 * them where it is a loop. */
static double calls(const struct msim_flow_edge *e, bool slow)
{
    const double SELDOM = 0.02;
    double n = 1;

    if (e->again > 0 && e->again < 1)
        n = (1 - pow(e->again, (double)e->most)) / (1 - e->again);
    else if (e->again >= 1)
        n = (double)e->most;
    return slow && e->prob >= SELDOM ? n : e->prob * n;
}

/* The end of the step that edge `i` of `n` begins. */
static uint32_t step_end(const struct msim_flow_edge *e, uint32_t i, uint32_t n)
{
    uint32_t end = i + 1;

    while (end < n && e[end].step == e[i].step)
        end++;
    return end;
}

/* The times of all stages for requests of one class. */
static double time_of_class(struct msim_watch_flow *f, uint32_t cls,
                            const double *own, const double *net, bool slow)
{
    for (uint32_t k = f->n; k-- > 0;) {
        uint32_t s = f->order[k], n;
        const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);
        double time = own[s];

        for (uint32_t i = 0, end; i < n; i = end) {
            double most = 0;

            end = step_end(e, i, n);
            for (uint32_t j = i; j < end; j++)
                if (msim_flow_edge_takes(&e[j], cls))
                    most = fmax(most, calls(&e[j], slow) *
                                          (net[e[j].to] + f->time[e[j].to]));
            time += most;
        }
        f->time[s] = time;
    }
    return f->time[f->app->start];
}

double msim_watch_flow_time(struct msim_watch_flow *f, const double *own,
                            const double *net)
{
    double sum = 0;

    for (uint32_t c = 0; c < f->app->n_classes; c++)
        sum += f->app->classes[c].share * time_of_class(f, c, own, net, false);
    return sum;
}

void msim_watch_flow_slow(struct msim_watch_flow *f, const double *own,
                          const double *net, double *times)
{
    for (uint32_t c = 0; c < f->app->n_classes; c++)
        times[c] = time_of_class(f, c, own, net, true);
}

void msim_watch_flow_visits(struct msim_watch_flow *f, uint32_t cls,
                            double *visits)
{
    memset(visits, 0, f->app->n_stages * sizeof(*visits));
    visits[f->app->start] = 1;
    for (uint32_t k = 0; k < f->n; k++) {
        uint32_t s = f->order[k], n;
        const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);

        for (uint32_t i = 0; i < n; i++)
            if (msim_flow_edge_takes(&e[i], cls))
                visits[e[i].to] += visits[s] * calls(&e[i], false);
    }
}

/* Weights of the edges of a stage in one class. A call that takes less than
 * the longest of its step still is the longest now and then: it counts with
 * the fourth power of the ratio, so at half the time for 6 %. */
static void weigh_stage(struct msim_watch_flow *f, uint32_t cls, uint32_t s,
                        const double *net, double share)
{
    uint32_t n;
    const struct msim_flow_edge *e = msim_app_edges_of(f->app, s, &n);

    for (uint32_t i = 0, end; i < n; i = end) {
        double most = 0;

        end = step_end(e, i, n);
        for (uint32_t j = i; j < end; j++)
            if (msim_flow_edge_takes(&e[j], cls))
                most = fmax(most, calls(&e[j], false) *
                                      (net[e[j].to] + f->time[e[j].to]));
        for (uint32_t j = i; j < end; j++) {
            double part, w;

            if (!msim_flow_edge_takes(&e[j], cls) || !(most > 0))
                continue;
            part =
                calls(&e[j], false) * (net[e[j].to] + f->time[e[j].to]) / most;
            w = calls(&e[j], false) * part * part * part * part;
            f->edge_weight[&e[j] - f->app->edges] += share * f->reach[s] * w;
            f->reach[e[j].to] += f->reach[s] * w;
        }
    }
}

void msim_watch_flow_weigh(struct msim_watch_flow *f, const double *own,
                           const double *net, double *weight)
{
    const struct msim_app *app = f->app;

    memset(f->edge_weight, 0, app->n_edges * sizeof(*f->edge_weight));
    memset(weight, 0, app->n_stages * sizeof(*weight));
    for (uint32_t c = 0; c < app->n_classes; c++) {
        double share = app->classes[c].share;

        (void)time_of_class(f, c, own, net, false);
        memset(f->reach, 0, app->n_stages * sizeof(*f->reach));
        f->reach[app->start] = 1;
        for (uint32_t k = 0; k < f->n; k++)
            weigh_stage(f, c, f->order[k], net, share);
        for (uint32_t s = 0; s < app->n_stages; s++)
            weight[s] += share * f->reach[s];
    }
    for (uint32_t i = 0; i < app->n_edges; i++)
        if (weight[app->edges[i].from] > 0)
            f->edge_weight[i] /= weight[app->edges[i].from];
}

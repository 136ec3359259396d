/*
 * serving/app/app.c - words of applications, and what is found by name.
 */
#include "serving/app/app.h"

#include <string.h>

#define X(name, text) text,
static const char *const KINDS[] = {MSIM_STAGE_KIND_MAP(X)};
static const char *const METRICS[] = {MSIM_PROMISE_METRIC_MAP(X)};
static const char *const PROCESSES[] = {MSIM_ARRIVAL_PROCESS_MAP(X)};
#undef X

const char *msim_stage_kind_text(enum msim_stage_kind k)
{
    return KINDS[k];
}

const char *msim_promise_metric_text(enum msim_promise_metric m)
{
    return METRICS[m];
}

const char *msim_arrival_process_text(enum msim_arrival_process p)
{
    return PROCESSES[p];
}

uint32_t msim_app_stage_find(const struct msim_app *app, const char *name)
{
    for (uint32_t i = 0; i < app->n_stages; i++)
        if (strcmp(app->stages[i].name, name) == 0)
            return i;
    return MSIM_NONE;
}

uint32_t msim_app_class_find(const struct msim_app *app, const char *name)
{
    for (uint32_t i = 0; i < app->n_classes; i++)
        if (strcmp(app->classes[i].name, name) == 0)
            return i;
    return MSIM_NONE;
}

const struct msim_flow_edge *msim_app_edges_of(const struct msim_app *app,
                                               uint32_t from, uint32_t *n)
{
    uint32_t low = 0, high = app->n_edges;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (app->edges[middle].from < from)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < app->n_edges && app->edges[low + *n].from == from;)
        ++*n;
    return app->n_edges ? app->edges + low : NULL;
}

void msim_app_release(struct msim_app *app)
{
    msim_arena_release(&app->arena);
    memset(app, 0, sizeof(*app));
}

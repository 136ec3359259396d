/*
 * serving/sim/sim_pool.c - visits, calls and requests that come and go.
 *
 * What was given back is taken again first, so that a run in a steady state
 * stays within what is in the caches, and allocates nothing.
 */
#include "serving/sim/serving_run_internal.h"

#include <string.h>

bool msim_sim_room(struct msim_serving *s, void **data, uint32_t *capacity,
                   uint32_t n, size_t size)
{
    uint32_t wanted = *capacity ? 2 * *capacity : 256;
    void *more;

    if (n < *capacity)
        return true;
    if (*capacity > UINT32_MAX / 2) {
        s->status = MSIM_ELIMIT;
        return false;
    }
    more = realloc(*data, wanted * size);
    if (!more) {
        s->status = MSIM_ENOMEM;
        return false;
    }
    *data = more;
    *capacity = wanted;
    return true;
}

/* The index of one that is not in use, or MSIM_NONE. `next` of an unused one
 * lies at `link`. */
static uint32_t take(struct msim_serving *s, struct msim_sim_pool *p,
                     size_t size, size_t link)
{
    uint32_t i = p->unused;
    char *at;

    if (i != MSIM_NONE) {
        at = (char *)p->at + i * size;
        memcpy(&p->unused, at + link, sizeof(p->unused));
        memset(at, 0, size);
        return i;
    }
    if (p->n > MSIM_SIM_WHO_MOST) {
        s->status = MSIM_ELIMIT;
        return MSIM_NONE;
    }
    if (!msim_sim_room(s, &p->at, &p->capacity, p->n, size))
        return MSIM_NONE;
    memset((char *)p->at + p->n * size, 0, size);
    return p->n++;
}

static void give(struct msim_sim_pool *p, uint32_t i, size_t size, size_t link)
{
    memcpy((char *)p->at + i * size + link, &p->unused, sizeof(p->unused));
    p->unused = i;
}

uint32_t msim_sim_visit_take(struct msim_serving *s)
{
    return take(s, &s->visits, sizeof(struct msim_sim_visit),
                offsetof(struct msim_sim_visit, next));
}

uint32_t msim_sim_call_take(struct msim_serving *s)
{
    return take(s, &s->calls, sizeof(struct msim_sim_call),
                offsetof(struct msim_sim_call, next));
}

uint32_t msim_sim_request_take(struct msim_serving *s)
{
    return take(s, &s->requests, sizeof(struct msim_sim_request),
                offsetof(struct msim_sim_request, next));
}

void msim_sim_request_give(struct msim_serving *s, uint32_t request)
{
    give(&s->requests, request, sizeof(struct msim_sim_request),
         offsetof(struct msim_sim_request, next));
}

void msim_sim_visit_drop(struct msim_serving *s, uint32_t visit)
{
    while (visit != MSIM_NONE) {
        struct msim_sim_visit *v = msim_sim_visit(s, visit);
        uint32_t parent = v->parent;

        if (--v->refs > 0)
            return;
        if (parent == MSIM_NONE)
            msim_sim_request_give(s, v->request);
        give(&s->visits, visit, sizeof(*v),
             offsetof(struct msim_sim_visit, next));
        visit = parent;
    }
}

void msim_sim_call_drop(struct msim_serving *s, uint32_t call)
{
    struct msim_sim_call *c = msim_sim_call(s, call);
    uint32_t parent = c->parent;

    if (--c->refs > 0)
        return;
    give(&s->calls, call, sizeof(*c), offsetof(struct msim_sim_call, next));
    msim_sim_visit_drop(s, parent);
}

/* Of visits that never ended. */
static void free_hashes(struct msim_serving *s)
{
    for (uint32_t i = 0; i < s->visits.n; i++)
        free(msim_sim_visit(s, i)->hashes);
}

void msim_sim_pools_clear(struct msim_serving *s)
{
    struct msim_sim_pool *pools[] = {&s->visits, &s->calls, &s->requests};

    free_hashes(s);
    for (int i = 0; i < 3; i++) {
        pools[i]->n = 0;
        pools[i]->unused = MSIM_NONE;
    }
}

void msim_sim_pools_release(struct msim_serving *s)
{
    free_hashes(s);
    free(s->visits.at);
    free(s->calls.at);
    free(s->requests.at);
}

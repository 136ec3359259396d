/*
 * serving/size/convolution.c - a plan by distributions: replicas are added
 * where one helps most, then taken away where it hurts least, as long as the
 * promises are kept. Trials change one stage and what is above it; a pass over
 * all stages corrects what they leave out.
 */
#include "serving/size/size_plan_internal.h"

#include <math.h>
#include <stdlib.h>

#define START_HELD                                                             \
    0.3 /* of workers, at first: plenty, so that what is missed                \
           least can go, wherever it is */
#define ROUNDS_MOST 12
#define COARSE      12  /* one replica of so many goes at a time, at first */
#define FINE        400 /* ... and later: large plans take no more steps */
#define STEPS_MOST  2000
#define LEAST_GAIN  1e-3 /* of what is late: below is noise */
#define LEAST_WAIT  2e-4 /* of the horizon: below there is nothing to gain */
#define LONG_WAIT   0.02 /* ... above, a queue may hide what is to gain */

struct plan {
    struct msim_latency_sum *l;
    double room;    /* late requests over what promises allow: at most */
    double late;    /* as the plan stands */
    double *worse;  /* by stage: late with one replica less; owned */
    int64_t coarse; /* one of so many replicas goes at a time */
    double *gain;   /* by stage: of one replica more, for its price; owned */
};

static uint32_t n_stages(const struct plan *p)
{
    return p->l->load->app->n_stages;
}

static bool is_visited(const struct plan *p, uint32_t s)
{
    return p->l->load->stages[s].visits > 0;
}

/* Twice: holds of the first go with the calls that were before it. */
static enum msim_status pass(struct plan *p)
{
    MSIM_TRY(msim_latency_pass(p->l));
    MSIM_TRY(msim_latency_pass(p->l));
    p->late = p->l->measure(p->l, p->l->ctx);
    return MSIM_OK;
}

static int64_t step_of(const struct plan *p, uint32_t s, int64_t part)
{
    int64_t step = p->l->replicas[s] / part;

    return step > 1 ? step : 1;
}

/* ---- more ---------------------------------------------------------------- */

/* What a request waits for stage `s`, over the longest limit. */
static double wait_share(const struct plan *p, uint32_t s)
{
    const struct msim_pmf_grid *g = &p->l->grid;

    return p->l->stages[s].wait_ms * p->l->load->stages[s].visits /
           (g->n * g->step);
}

/* What a step more of `s` gains for its price; 0 where nobody waits. */
static enum msim_status look_higher(struct plan *p, uint32_t s)
{
    int64_t step = step_of(p, s, FINE);
    double late;

    p->gain[s] = 0;
    if (!is_visited(p, s) || wait_share(p, s) < LEAST_WAIT)
        return MSIM_OK;
    MSIM_TRY(msim_latency_try(p->l, s, p->l->replicas[s] + step, false, &late));
    p->gain[s] =
        (p->late - late) / (double)step / msim_sizing_price(p->l->load->app, s);
    return MSIM_OK;
}

static uint32_t most_gain(const struct plan *p)
{
    uint32_t best = 0;

    for (uint32_t s = 1; s < n_stages(p); s++)
        if (p->gain[s] > p->gain[best])
            best = s;
    return best;
}

/* The stage that gains most; MSIM_NONE where none gains. What one gained
 * before is a fair guess: only the best guess is looked at again. */
static enum msim_status find_best(struct plan *p, uint32_t *best)
{
    for (;;) {
        uint32_t s = most_gain(p);

        *best = MSIM_NONE;
        if (!(p->gain[s] > LEAST_GAIN * p->late))
            return MSIM_OK;
        MSIM_TRY(look_higher(p, s));
        if (most_gain(p) != s || !(p->gain[s] > LEAST_GAIN * p->late))
            continue;
        *best = s;
        return MSIM_OK;
    }
}

/* The stage for which a request waits longest: where all are late, one replica
 * alone may gain nothing. */
static uint32_t find_queue(const struct plan *p)
{
    uint32_t best = MSIM_NONE;
    double most = LONG_WAIT;

    for (uint32_t s = 0; s < n_stages(p); s++) {
        double share = wait_share(p, s);

        if (is_visited(p, s) && share > most) {
            most = share;
            best = s;
        }
    }
    return best;
}

static enum msim_status add_replicas(struct plan *p, struct msim_error *err)
{
    for (uint32_t s = 0; s < n_stages(p); s++)
        p->gain[s] = p->late > p->room ? INFINITY : 0;
    for (int i = 0; i < STEPS_MOST && p->late > p->room; i++) {
        uint32_t s;

        MSIM_TRY(find_best(p, &s));
        if (s == MSIM_NONE)
            s = find_queue(p);
        if (s == MSIM_NONE)
            return msim_sizing_refuse(p->l, err);
        MSIM_TRY(msim_latency_try(
            p->l, s, p->l->replicas[s] + step_of(p, s, FINE), true, &p->late));
    }
    return MSIM_OK;
}

/* ---- fewer --------------------------------------------------------------- */

static enum msim_status look_lower(struct plan *p, uint32_t s)
{
    int64_t fewer = p->l->replicas[s] - step_of(p, s, p->coarse);

    p->worse[s] = INFINITY;
    if (!is_visited(p, s) || fewer < 1 || !msim_sizing_bears(p->l, s, fewer))
        return MSIM_OK;
    return msim_latency_try(p->l, s, fewer, false, &p->worse[s]);
}

/* The stage whose replica is missed least for its price. */
static uint32_t find_least(const struct plan *p)
{
    uint32_t best = MSIM_NONE;
    double least = INFINITY;

    for (uint32_t s = 0; s < n_stages(p); s++) {
        double loss =
            (p->worse[s] - p->late) / msim_sizing_price(p->l->load->app, s);

        if (p->worse[s] <= p->room && loss < least) {
            least = loss;
            best = s;
        }
    }
    return best;
}

/* What a stage lost before is a fair guess of what it loses now: only the best
 * guess is looked at again, until it stays the best. */
static enum msim_status take_replicas(struct plan *p)
{
    for (uint32_t s = 0; s < n_stages(p); s++)
        MSIM_TRY(look_lower(p, s));
    for (int i = 0; i < STEPS_MOST; i++) {
        uint32_t s = find_least(p);
        double guess;

        if (s == MSIM_NONE)
            return MSIM_OK;
        guess = p->worse[s];
        MSIM_TRY(look_lower(p, s));
        if (p->worse[s] > p->room ||
            (p->worse[s] > guess && find_least(p) != s))
            continue;
        MSIM_TRY(msim_latency_try(p->l, s,
                                  p->l->replicas[s] - step_of(p, s, p->coarse),
                                  true, &p->late));
        MSIM_TRY(look_lower(p, s));
        for (uint32_t k = 0; k < n_stages(p); k++)
            if (k != s && p->worse[k] < p->late)
                p->worse[k] = p->late;
    }
    return MSIM_OK;
}

/* ---- both ---------------------------------------------------------------- */

static int64_t total(const struct plan *p)
{
    int64_t n = 0;

    for (uint32_t s = 0; s < n_stages(p); s++)
        n += p->l->replicas[s];
    return n;
}

/* A pass may find that a trial promised too much: then no more is taken away,
 * in the end. */
static enum msim_status settle(struct plan *p, struct msim_error *err)
{
    for (int i = 0; i < ROUNDS_MOST; i++) {
        int64_t before = total(p);

        MSIM_TRY(add_replicas(p, err));
        if (total(p) != before) {
            MSIM_TRY(pass(p));
            if (p->late > p->room)
                continue;
        }
        before = total(p);
        p->coarse = i ? FINE : COARSE;
        if (i < ROUNDS_MOST / 2)
            MSIM_TRY(take_replicas(p));
        if (i && total(p) == before)
            return MSIM_OK;
        MSIM_TRY(pass(p));
    }
    return MSIM_OK;
}

enum msim_status msim_sizing_convolution(struct msim_latency_sum *l,
                                         double room, struct msim_error *err)
{
    struct plan p = {.l = l, .room = room};
    enum msim_status status;

    p.worse = calloc(2 * (size_t)n_stages(&p), sizeof(*p.worse));
    if (!p.worse)
        return MSIM_ENOMEM;
    p.gain = p.worse + n_stages(&p);
    status = l->replicas[0] ? MSIM_OK : msim_sizing_start(l, START_HELD);
    if (status == MSIM_OK)
        status = pass(&p);
    if (status == MSIM_OK)
        status = settle(&p, err);
    free(p.worse);
    return status;
}

/*
 * serving/sim/sim_source.c - when the next request comes, and what it is.
 *
 * Requests of open arrivals are drawn one ahead, since each is scheduled when
 * the one before it comes. A client of closed arrivals begins with a request at
 * once, and has the next a think time after the answer.
 */
#include "serving/sim/serving_run_internal.h"

#include <math.h>
#include <string.h>

static bool fits(const struct msim_arrival_how *a,
                 const struct msim_arrival_how *b)
{
    return a->rate == b->rate && a->concurrency == b->concurrency &&
           a->log == b->log;
}

/* A source for this run: the last run's, where only the seed differs. */
static enum msim_status prepare(struct msim_serving *s, struct msim_error *err)
{
    struct msim_arrival_how how = {.seed = s->how.seed,
                                   .rate = s->how.rate,
                                   .concurrency = s->how.concurrency,
                                   .log = s->how.log};

    if (s->source && fits(&how, &s->source_how)) {
        msim_arrival_source_rewind(s->source, s->how.seed);
        return MSIM_OK;
    }
    msim_arrival_source_free(s->source);
    s->source = NULL;
    s->source_how = how;
    return msim_arrival_source_new(&s->source, s->app, &how, err);
}

static msim_ps time_of(const struct msim_arrival *a)
{
    return msim_time_after(0, a->t_s * MSIM_SIM_PS_PER_S + 0.5);
}

enum msim_status msim_sim_source_begin(struct msim_serving *s,
                                       struct msim_error *err)
{
    int64_t n;

    MSIM_TRY(prepare(s, err));
    s->n_clients = n = msim_arrival_source_clients(s->source);
    if (n == 0 && !s->how.requests)
        s->expected = msim_arrival_source_count(s->source);
    if (n == 0) {
        if (!msim_arrival_source_next(s->source, &s->next))
            return MSIM_OK;
        msim_sim_schedule(s, time_of(&s->next), MSIM_SIM_ARRIVE, 0);
    }
    if (s->how.requests && n > (int64_t)s->how.requests)
        n = (int64_t)s->how.requests; /* the others never get a turn */
    for (int64_t i = 0; i < n && i < MSIM_SIM_WHO_MOST; i++)
        msim_sim_schedule(s, 0, MSIM_SIM_ARRIVE, (uint32_t)i);
    return s->status;
}

bool msim_sim_source_current(struct msim_serving *s)
{
    s->current = s->next;
    return s->n_clients == 0 ||
           msim_arrival_source_next(s->source, &s->current);
}

bool msim_sim_source_next(struct msim_serving *s)
{
    if (s->how.requests && s->arrived >= s->how.requests)
        return false;
    if (s->n_clients > 0)
        return true;
    if (!msim_arrival_source_next(s->source, &s->next))
        return false;
    msim_sim_schedule(s, time_of(&s->next), MSIM_SIM_ARRIVE, 0);
    return true;
}

void msim_sim_source_ended(struct msim_serving *s,
                           const struct msim_sim_request *q)
{
    double ms;

    if (s->n_clients == 0 || s->arrivals_over)
        return;
    ms = msim_arrival_source_think_ms(s->source, q->row);
    msim_sim_schedule(s, s->now + msim_sim_ps(ms), MSIM_SIM_ARRIVE, q->client);
}

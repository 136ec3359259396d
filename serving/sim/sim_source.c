/*
 * serving/sim/sim_source.c - when the next request comes, and what is known of
 * it.
 */
#include "serving/sim/sim.h"

#include <math.h>
#include <string.h>

enum { STREAM_GAP = 201, STREAM_THINK };

static bool is_closed(const struct msim_serving *s)
{
    return s->how.concurrency > 0 ||
           (s->how.rate <= 0 &&
            s->app->arrivals.process == MSIM_ARRIVAL_CLOSED);
}

static msim_ps gap(struct msim_serving *s)
{
    const struct msim_arrivals *a = &s->app->arrivals;
    struct msim_random r = msim_random_of(s->how.seed, STREAM_GAP, s->arrived);
    double mean = 1 / (s->how.rate > 0 ? s->how.rate : a->rate);
    double x = 1;

    if (a->process == MSIM_ARRIVAL_GAMMA && a->cv > 0)
        x = msim_random_gamma(&r, 1 / (a->cv * a->cv)) * a->cv * a->cv;
    else if (a->process != MSIM_ARRIVAL_CONSTANT)
        x = msim_random_exponential(&r);
    return msim_whole(x * mean * MSIM_SIM_PS_PER_S + 0.5);
}

enum msim_status msim_sim_source_begin(struct msim_serving *s,
                                       struct msim_error *err)
{
    int64_t n =
        s->how.concurrency ? s->how.concurrency : s->app->arrivals.concurrency;

    (void)err;
    if (!is_closed(s)) {
        msim_sim_schedule(s, gap(s), MSIM_SIM_ARRIVE, 0);
        return s->status;
    }
    for (int64_t i = 0; i < n && i < MSIM_SIM_WHO_MOST; i++)
        msim_sim_schedule(s, 0, MSIM_SIM_ARRIVE, (uint32_t)i);
    return s->status;
}

void msim_sim_source_current(struct msim_serving *s, struct msim_served *row)
{
    (void)s;
    row->cls = MSIM_NONE;
}

bool msim_sim_source_next(struct msim_serving *s)
{
    if (s->how.requests && s->arrived >= s->how.requests)
        return false;
    if (!is_closed(s))
        msim_sim_schedule(s, s->now + gap(s), MSIM_SIM_ARRIVE, 0);
    return true;
}

void msim_sim_source_ended(struct msim_serving *s,
                           const struct msim_sim_request *q)
{
    struct msim_random r = msim_random_of(s->how.seed, STREAM_THINK, q->row);

    if (is_closed(s) && !s->arrivals_over)
        msim_sim_schedule(s,
                          s->now + msim_sim_ps(msim_dist_draw(
                                       &s->app->arrivals.think_ms, &r)),
                          MSIM_SIM_ARRIVE, q->client);
}

/*
 * predict/whatif/rescale.c - the period of a prediction with other durations.
 */
#include "predict/whatif/rescale.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_rescaler_init(struct msim_rescaler *x,
                                    const struct msim_prediction_run *run)
{
    size_t n = (size_t)run->graph->n_tasks + 1;

    *x = (struct msim_rescaler){.run = run};
    x->times.start = malloc(n * sizeof(*x->times.start));
    x->times.dur = malloc(n * sizeof(*x->times.dur));
    x->states = calloc((size_t)run->graph->n_iterations + 1, 1);
    if (!x->times.start || !x->times.dur || !x->states)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_engine_new(&x->engine, run->graph));
    return msim_period_find(&run->outcome, run->iteration, x->states,
                            &x->base_us);
}

void msim_rescaler_release(struct msim_rescaler *x)
{
    msim_engine_free(x->engine);
    free(x->times.start);
    free(x->times.dur);
    free(x->states);
}

enum msim_status msim_rescaler_period(struct msim_rescaler *x,
                                      const struct msim_scale *scales,
                                      uint32_t n, double *us,
                                      struct msim_error *err)
{
    struct msim_outcome o = x->run->outcome;
    struct msim_scenario scenario;
    struct msim_costs *c;
    enum msim_status status;

    MSIM_TRY(msim_costs_scaled(&c, x->run->costs, x->run->graph, scales, n));
    scenario = (struct msim_scenario){.dur = c->mid, .removed = c->removed};
    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    status = msim_engine_simulate(x->engine, &scenario, &x->times, err);
    if (status == MSIM_OK) {
        o.mid.start = x->times.start;
        o.mid.dur = x->times.dur;
        o.mid.held_by = NULL;
        o.mid.lag = c->lag;
        o.mid.removed = c->removed;
        o.states = x->states;
        status = msim_period_find(&o, x->run->iteration, NULL, us);
    }
    msim_costs_free(c);
    return status;
}

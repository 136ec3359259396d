/*
 * predict/whatif/rescale.c - the period of a prediction with other durations.
 */
#include "predict/whatif/rescale.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_rescaler_init(struct msim_rescaler *x,
                                    const struct msim_prediction_run *run)
{
    struct msim_outcome o = run->outcome;

    *x = (struct msim_rescaler){.run = run};
    x->states = calloc((size_t)run->graph->n_iterations + 1, 1);
    if (!x->states)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_engine_new(&x->engine, run->graph));
    MSIM_TRY(msim_period_find(&run->outcome, run->iteration, x->states,
                              &x->base_us));
    o.states = x->states;
    return msim_period_finder_new(&x->finder, &o, run->iteration);
}

void msim_rescaler_release(struct msim_rescaler *x)
{
    msim_engine_free(x->engine);
    msim_period_finder_free(x->finder);
    free(x->states);
}

enum msim_status msim_rescaler_period(struct msim_rescaler *x,
                                      const struct msim_scale *scales,
                                      uint32_t n, double *us,
                                      struct msim_error *err)
{
    struct msim_scenario scenario;
    struct msim_laid laid;
    struct msim_costs *c;
    enum msim_status status;

    MSIM_TRY(msim_costs_scaled(&c, x->run->costs, x->run->graph, scales, n));
    scenario = (struct msim_scenario){.dur = c->mid, .removed = c->removed};
    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    status = msim_engine_lay(x->engine, &scenario, true, &laid, err);
    if (status == MSIM_OK) {
        const struct msim_run run = {
            .lag = c->lag, .removed = c->removed, .laid = &laid};

        status = msim_period_finder_find(x->finder, &run, us);
    }
    msim_costs_free(c);
    return status;
}

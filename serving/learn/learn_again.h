/*
 * serving/learn/learn_again.h - recorded runs, simulated again and again, as
 * further rows to learn from.
 *
 * Ten runs hold some hundred violations, of which half come at once. What the
 * flow of APP.json and the services that counters tell of (learn_observed.h) do
 * under such load can be simulated as often as there is time: with other
 * requests, some more or fewer of them, and changes of replicas at other times.
 * Each such run is of the part of the run that it repeats alone, and so is held
 * back with it.
 *
 * What counters do not tell (sizes that go with a request, services by class)
 * makes the simulated p99 another one by some factor: the limit of a simulated
 * run goes with it. Where that factor is large, the run is not understood, and
 * not repeated.
 */
#ifndef MSIM_SERVING_LEARN_LEARN_AGAIN_H
#define MSIM_SERVING_LEARN_LEARN_AGAIN_H
#include "serving/learn/learn_table.h"

/*
 * Add simulated rows to those of the runs in `t`, as its `observed` tell: as
 * many runs as `visits` visits are, and no more than 16 of each. None where the
 * application has stages whose services are no draws (models), or no run tells
 * enough. The same rows for any number of threads. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_runs_repeat(struct msim_runs_table *t,
                                  const struct msim_app *app,
                                  const struct msim_watch_model *general,
                                  double horizon_s, double visits,
                                  uint32_t threads, struct msim_error *err);

#endif

/*
 * serving/watch/watch_flow.h - how long a request takes when every visit takes
 * its mean: the longest way through each step of the flow.
 *
 *     time(s) = wait(s) + self(s) + sum over steps of
 *               max over calls of the step of n (net(to) + time(to))
 *
 * with n = probability x calls of a loop. That is no percentile; it says how
 * much of a change of one stage reaches the whole.
 */
#ifndef MSIM_SERVING_WATCH_WATCH_FLOW_H
#define MSIM_SERVING_WATCH_WATCH_FLOW_H
#include "serving/app/app.h"

struct msim_watch_flow {
    const struct msim_app *app;
    uint32_t *order;     /* stages, callers before what they call */
    uint32_t n;          /* of them: those that requests reach */
    double *time;        /* [stage]: of the last class that was asked */
    double *edge_weight; /* [edge]: see msim_watch_flow_weigh() */
    double *reach;       /* [stage]: visits of a request, while it weighs */
};

/* `app` must live as long. ENOMEM. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_watch_flow_init(struct msim_watch_flow *f,
                                      const struct msim_app *app);
void msim_watch_flow_release(struct msim_watch_flow *f);

/* The mean of all classes, by their shares, in ms; `own` (wait and self) and
 * `net` are of every stage. */
double msim_watch_flow_time(struct msim_watch_flow *f, const double *own,
                            const double *net);

/* The slow requests of each class, in ms, into `times`: those that make every
 * call of 2 % or more of the visits, since one in a hundred is a p99. */
void msim_watch_flow_slow(struct msim_watch_flow *f, const double *own,
                          const double *net, double *times);

/* How often a request of class `cls` comes to each stage one time after
 * another: calls that are made at once count as one. */
void msim_watch_flow_visits(struct msim_watch_flow *f, uint32_t cls,
                            double *visits);

/*
 * What becomes of a ms more at stage `to` on an edge, as ms of its caller, in
 * f->edge_weight: the calls made, less where another call of the step takes
 * longer. `weight` gets the same of every stage, as ms of a mean request.
 */
void msim_watch_flow_weigh(struct msim_watch_flow *f, const double *own,
                           const double *net, double *weight);

#endif

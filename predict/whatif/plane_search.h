/*
 * predict/whatif/plane_search.h - the planes by which a page computes the
 * period (core/report/page/page.h).
 *
 * Points of factors are drawn evenly; each is simulated, and where the planes
 * so far are off by more than MSIM_PLANES_OFF, a plane is made of it: its
 * slopes are differences of simulations beside it. At the end points that were
 * not seen are simulated, and the largest deviation of them is kept.
 */
#ifndef MSIM_PREDICT_WHATIF_PLANE_SEARCH_H
#define MSIM_PREDICT_WHATIF_PLANE_SEARCH_H
#include "core/report/page/page.h"
#include "predict/pipeline.h"

/* Factors that the planes are made for: ten times as fast, four times as slow.
 */
#define MSIM_PLANES_LEAST 0.1
#define MSIM_PLANES_MOST  4.0
#define MSIM_PLANES_OFF   0.003

/*
 * Fill in `out`, to be released in any case; no planes where the period is not
 * known. NETWORK is told apart where the costs know groups of work
 * (msim_predict_settings.groups). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_plane_search(struct msim_planes *out,
                                   const struct msim_prediction_run *run,
                                   struct msim_error *err);

#endif

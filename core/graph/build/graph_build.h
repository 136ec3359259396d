/*
 * core/graph/build/graph_build.h - the graph of a job from its traces.
 */
#ifndef MSIM_CORE_GRAPH_BUILD_GRAPH_BUILD_H
#define MSIM_CORE_GRAPH_BUILD_GRAPH_BUILD_H
#include "core/graph/graph.h"

/*
 * Build the graph of a job. On success `*out` is owned by the caller, refers
 * to `job`, and is released with msim_graph_free(); on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_graph_build(struct msim_graph **out, struct msim_job *job,
                                  const struct msim_graph_options *opt,
                                  struct msim_error *err);

#endif

/*
 * replay/run/write_replay.h - a replay as text, as JSON and as a trace.
 */
#ifndef MSIM_REPLAY_RUN_WRITE_REPLAY_H
#define MSIM_REPLAY_RUN_WRITE_REPLAY_H
#include "core/base/json.h"
#include "replay/run/replay_figures.h"

#define MSIM_REPLAY_SCHEMA "mystique-sim/replay/1"

struct msim_replay {
    const char *path; /* of the trace, as the user gave it */
    const struct msim_replay_plan *plan;
    const struct msim_replay_runs *runs;
    const struct msim_replay_figures *figures;
    const cJSON *greeting; /* the backend's */
    bool warm;             /* operands stayed in the caches */
};

/* For people. */
void msim_replay_write_text(const struct msim_replay *r, FILE *out);

/* Its members, into an object that is open, with the schema above;
 * docs/replay.md explains them. */
void msim_replay_write_json(const struct msim_replay *r, struct msim_json *out);

/* What the backend tells of the machine, as a member `key`. */
void msim_replay_write_system(const struct msim_replay *r, const char *key,
                              struct msim_json *out);

/*
 * As the trace events of PyTorch's profiler: each iteration is a
 * ProfilerStep#n, and each operator that was run, with those around it, an
 * event with its name and its shapes. On a GPU each element is a kernel, too.
 * The figures of the machine stand before the events, in "mystiqueSystem".
 */
void msim_replay_write_trace(const struct msim_replay *r,
                             struct msim_json *out);

#endif

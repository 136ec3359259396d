/*
 * core/run/engine.h - walk a graph with given durations.
 *
 * A static graph needs no clock: each task starts at the maximum that graph.h
 * defines, so tasks are visited in any topological order and the times are the
 * same, without a queue: in that of their numbers where all edges ascend, else
 * in the order that an engine's first run found. Only tasks that share a device
 * (core/graph/contention.h) go through a queue of events in the order of time;
 * tasks between them are still visited as soon as their start is known, those
 * that only follow each other as one (core/run/chains.c). No allocation while
 * it runs.
 *
 * Removed is not short: a removed task loses its latencies and its waiting for
 * peers, too, and keeps the order that passes through it. So without GPU work a
 * job takes what its host takes, to the picosecond.
 */
#ifndef MSIM_CORE_RUN_ENGINE_H
#define MSIM_CORE_RUN_ENGINE_H
#include "core/graph/graph.h"

/* ---- engine -------------------------------------------------------------- */

/* Durations of one scenario; the arrays are the caller's. */
struct msim_scenario {
    const msim_ps *dur; /* one a task, 0 .. RUN_MAX */
    /* Lag of every edge of a kind, or -1: as the graph has it. */
    msim_ps lag[MSIM_EDGE_KINDS];
    /* What the graph's own lags of a kind are multiplied by; 0: by 1. */
    double stretch[MSIM_EDGE_KINDS];
    /*
     * One a task, or NULL. Where it is not 0 the task is removed: it has no
     * duration, nothing delays it (edges to it have no lag, its releases do
     * not hold) and it waits for no other rank (COLLECTIVE, POINT_TO_POINT).
     * Order that passes through it (program, stream) still holds.
     */
    const uint8_t *removed;
};

struct msim_engine; /* opaque: the workspace of one thread */

/* What a run computes; one entry a task each, the arrays are the caller's. */
struct msim_times {
    msim_ps *start;
    msim_ps *dur; /* what each took; differs from the scenario's where tasks
                     share or are removed; may be NULL */
    uint32_t *held_by; /* the task that kept it from starting although all
                          predecessors had ended, or NONE; may be NULL */
};

/* Takes all memory that runs over `g` need. `*out` is the caller's; on failure
 * it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g);
void msim_engine_free(struct msim_engine *e); /* accepts NULL */

/* What engines of one graph need to know of it, found once for those that come
 * one after another, or side by side: nothing changes it. */
struct msim_course; /* opaque */

/* `g` must live as long. ENOMEM; on failure `*out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_course_new(struct msim_course **out,
                                 const struct msim_graph *g);
void msim_course_free(struct msim_course *c); /* accepts NULL */

/* msim_engine_new() by what `c` knows, which must live as long; where `c` is
 * NULL or of another graph, without it. */
MSIM_MUST_CHECK
enum msim_status msim_engine_on(struct msim_engine **out,
                                const struct msim_course *c,
                                const struct msim_graph *g);

/*
 * Simulate. ECYCLE if some tasks never became ready; `err` names them. ELIMIT
 * if the run would last longer than RUN_MAX.
 */
MSIM_MUST_CHECK
enum msim_status msim_engine_simulate(struct msim_engine *e,
                                      const struct msim_scenario *s,
                                      const struct msim_times *times,
                                      struct msim_error *err);

/*
 * A run without an entry for each task: tasks that only follow each other, most
 * of a host's, are chains (core/run/chains.c), and a run says of chains alone
 * when they start. It is the engine's, until its next run.
 */
struct msim_laid {
    const uint32_t *of_task, *first; /* a task's chain, a chain's first task */
    const msim_ps *line;   /* n_tasks + 1: as if tasks came one by one */
    const msim_ps *starts; /* of chains */
    const msim_ps *takes;  /* likewise; of a task that shares, what it took */
};

/*
 * The run of msim_engine_simulate(), told in this way. `anew`: durations of
 * tasks that share nothing differ from those of the engine's last run, and from
 * its first run on; else they are not read. Program order must have the lags
 * that the graph has. Errors likewise.
 */
MSIM_MUST_CHECK
enum msim_status msim_engine_lay(struct msim_engine *e,
                                 const struct msim_scenario *s, bool anew,
                                 struct msim_laid *laid,
                                 struct msim_error *err);

static inline msim_ps msim_laid_start(const struct msim_laid *l, uint32_t task)
{
    uint32_t c = l->of_task[task], first = l->first[c];

    return l->starts[c] + (task == first ? 0 : l->line[task] - l->line[first]);
}

static inline msim_ps msim_laid_end(const struct msim_laid *l, uint32_t task)
{
    uint32_t c = l->of_task[task];

    return l->starts[c] + (task + 1 == l->first[c + 1]
                               ? l->takes[c]
                               : l->line[task + 1] - l->line[l->first[c]]);
}

/* What a task took. */
static inline msim_ps msim_laid_took(const struct msim_laid *l, uint32_t task)
{
    uint32_t c = l->of_task[task];

    return l->first[c + 1] - l->first[c] == 1
               ? l->takes[c]
               : l->line[task + 1] - l->line[task];
}

/* ---- peers --------------------------------------------------------------- */
/*
 * Ranks whose traces are absent, and that follow this one.
 *
 * How long after this rank an absent one arrives is what the rank waited when
 * the traced run is replayed, not what a difference of two traced times says:
 * those are off by whatever the replay is. So a run without any change is the
 * same to the picosecond, whether absent ranks keep their times or follow.
 */

/*
 * Set the lags of absent ranks in a graph with MSIM_PEERS_FOLLOW: one run, as
 * traced, in which they arrive when they did. Does nothing where the graph has
 * none. `err` says why a run failed.
 */
MSIM_MUST_CHECK
enum msim_status msim_peers_follow(struct msim_graph *g,
                                   struct msim_error *err);

#endif

/*
 * predict/edit/remake.h - a basis while one edit is made: an overlay of its
 * graph, and durations. Private to the room.
 *
 * Tasks are those of the graph as it was before this edit; what is inserted is
 * behind them. Durations of the first are in `costs`, to be changed in place.
 */
#ifndef MSIM_PREDICT_EDIT_REMAKE_H
#define MSIM_PREDICT_EDIT_REMAKE_H
#include "core/graph/graph.h"
#include "predict/edit/edit.h"

/* What let a task start: an edge backwards. */
struct msim_remake_cause {
    uint32_t from, edge;
};

struct msim_remake {
    const struct msim_graph *g;
    struct msim_trace *const *ranks; /* as they are asked: other sizes */
    const struct msim_edit *edit;
    const struct msim_predict_settings *s;
    const struct msim_inputs *in;
    const struct msim_target *to;
    struct msim_error *err;
    struct msim_costs *costs;
    struct msim_overlay overlay;
    struct msim_cost_added *added; /* one an inserted task */
    uint32_t n_added, cap_added;
    uint8_t *selected; /* one a task, by the edit's select; NULL: no select */
    uint32_t *cause_begin; /* n_tasks + 1, into causes */
    struct msim_remake_cause *causes;
    uint32_t *main_lane; /* of each rank: the stream with most work */
    msim_ps *host_ps;    /* of each rank: of the host for a launch */
    struct msim_platform *platform; /* loaded for it, or NULL */
};

/* `costs` becomes the remake's. Release in any case. ENOMEM; EUSAGE where the
 * edit selects nothing. */
MSIM_MUST_CHECK
enum msim_status msim_remake_init(struct msim_remake *d,
                                  struct msim_costs *costs);
void msim_remake_release(struct msim_remake *d);

/* The graph, its groups and the durations with the edit; `*g` is NULL where the
 * graph is as it was. All are the caller's. */
MSIM_MUST_CHECK
enum msim_status msim_remake_finish(struct msim_remake *d,
                                    struct msim_graph **g,
                                    struct msim_task_groups **groups,
                                    struct msim_costs **c);

/* "the edit is refused because ...": EUSAGE. */
enum msim_status msim_remake_refuse(struct msim_remake *d, const char *fmt, ...)
    MSIM_PRINTF(2, 3);

/* ---- reading ------------------------------------------------------------- */

static inline bool msim_remake_is_gpu(const struct msim_remake *d,
                                      uint32_t task)
{
    return d->g->kind[task] >= MSIM_TASK_KERNEL &&
           d->g->kind[task] <= MSIM_TASK_COMM;
}

/* The task whose start is the start of `task`: a collective's arrival. */
uint32_t msim_remake_begin(const struct msim_remake *d, uint32_t task);

/* The host task at whose end the launch of GPU work begins, or NONE; `*lag`
 * the latency from there. */
uint32_t msim_remake_launcher(const struct msim_remake *d, uint32_t task,
                              msim_ps *lag);

/* The selected tasks that belong to one call begin at `task`, the first of
 * them; the last one's number. Selections of a class: each by itself. */
uint32_t msim_remake_call_end(const struct msim_remake *d, uint32_t task);

/* Is it the first of its call? */
bool msim_remake_call_begins(const struct msim_remake *d, uint32_t task);

/* ---- writing ------------------------------------------------------------- */

/* What is inserted beside `at`, on its lane. */
struct msim_remake_kernel {
    uint32_t at;
    bool before;
    uint32_t name; /* string */
    uint32_t op;   /* or NONE */
    msim_ps host;  /* of the host, to launch it */
    struct msim_cost_added cost;
};
MSIM_MUST_CHECK
enum msim_status msim_remake_insert(struct msim_remake *d,
                                    const struct msim_remake_kernel *k,
                                    uint32_t *id);

/* An inserted task of any place and its duration. */
MSIM_MUST_CHECK
enum msim_status msim_remake_add(struct msim_remake *d,
                                 struct msim_overlay_task t,
                                 const struct msim_cost_added *cost,
                                 uint32_t *id);

/* The host works so long before its next launch on the thread of `launcher`,
 * behind that task. */
MSIM_MUST_CHECK
enum msim_status msim_remake_add_host(struct msim_remake *d, uint32_t launcher,
                                      msim_ps host, uint32_t *id);

/* Other duration of a task; the interval becomes the cost's. */
void msim_remake_set(struct msim_remake *d, uint32_t task,
                     const struct msim_cost_added *cost);

/* The task takes no time and nobody waits for it; so does its launch, where
 * `launch`: the host's work for it. */
void msim_remake_remove(struct msim_remake *d, uint32_t task, bool launch);

/* A string of the job; 0: out of memory. */
uint32_t msim_remake_name(struct msim_remake *d, const char *text);

/* A duration that is given. */
struct msim_cost_added msim_remake_given(double us);

#endif

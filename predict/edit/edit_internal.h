/*
 * predict/edit/edit_internal.h - what the files of predict/edit share; no other
 * room includes it.
 */
#ifndef MSIM_PREDICT_EDIT_EDIT_INTERNAL_H
#define MSIM_PREDICT_EDIT_EDIT_INTERNAL_H
#include "core/graph/graph.h"
#include "predict/edit/edit.h"

/* ---- remake -------------------------------------------------------------- */
/*
 * A basis while one edit is made: an overlay of its graph, and durations.
 *
 * Tasks are those of the graph as it was before this edit; what is inserted is
 * behind them. Durations of the first are in `costs`, to be changed in place.
 */

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

/* ---- edit price ---------------------------------------------------------- */
/*
 * What an operator takes that the trace does not have, by the models of the GPU
 * that is predicted for.
 *
 *     {"aten::mm", {[1024, 512], [512, 256]}, bf16}  ->  9 us, 7 to 12
 *
 * Under measured costs that is the GPU that the traces name.
 */

/* The platform of the remake. EUSAGE where nothing names a GPU. */
MSIM_MUST_CHECK
enum msim_status msim_price_platform(struct msim_remake *d,
                                     const struct msim_platform **p);

/* All works of the operator, one after the other. EUSAGE for an operator that
 * is not known, launches nothing, or whose sizes do not fit it. */
MSIM_MUST_CHECK
enum msim_status msim_price_op(struct msim_remake *d,
                               const struct msim_edit_op *op,
                               struct msim_cost_added *cost);

/* A work by itself. */
MSIM_MUST_CHECK
enum msim_status msim_price_work(struct msim_remake *d,
                                 const struct msim_work *w,
                                 struct msim_cost_added *cost);

/* ---- edits --------------------------------------------------------------- */
/* One function a kind of edit. Each changes the remake, or refuses. */

typedef enum msim_status msim_edit_fn(struct msim_remake *d);

/* edit_tasks.c */
msim_edit_fn msim_edit_insert, msim_edit_replace, msim_edit_straggle;
/* edit_fuse.c */
msim_edit_fn msim_edit_fuse;
/* edit_quantise.c */
msim_edit_fn msim_edit_quantise;
/* edit_overlap.c */
msim_edit_fn msim_edit_overlap;

/* ---- fuse ---------------------------------------------------------------- */
/* What kinds of fusion share. */

/* The first of `n` kernels becomes one that does the work of all and takes
 * `cost`; the others are gone, and their launches. */
void msim_fuse_tasks(struct msim_remake *d, const uint32_t *tasks, uint32_t n,
                     const struct msim_cost_added *cost);

/* fuse_attention.c: products, softmax and what is between as one kernel. */
MSIM_MUST_CHECK
enum msim_status msim_fuse_attention(struct msim_remake *d);
/* fuse_optimizer.c: the many kernels of a step as PyTorch's fused ones. */
MSIM_MUST_CHECK
enum msim_status msim_fuse_optimizer(struct msim_remake *d);

#endif

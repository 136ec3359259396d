/*
 * predict/groups/task_groups.h - which family, link and part of the host the
 * work of a task is of: what `--scale family:gemm=0.9` and its like select.
 *
 * A task is in at most one group of each kind, so that groups of one kind add
 * up to the work that has such groups:
 *
 *     families        kernels, copies and communication
 *     links           copies and communication
 *     parts of the host   the host
 *
 * Example: the copy of a batch to the GPU is of family `copy` and link `h2d`;
 * the call that started it is in part `copy-calls`.
 *
 * The family of a kernel is that of the operator that launched it, or what its
 * name tells (where a law prices it, costs know better: msim_costs.made_by). A
 * stretch of the host in which several operators run is that of the topmost
 * one.
 */
#ifndef MSIM_PREDICT_GROUPS_TASK_GROUPS_H
#define MSIM_PREDICT_GROUPS_TASK_GROUPS_H
#include "core/graph/graph.h"
#include "core/run/scale.h"
#include "core/work/opmap/opmap.h"

#define MSIM_NO_GROUP ((uint8_t)255)

/* One a task; MSIM_NO_GROUP where its work has no such group. */
struct msim_task_groups {
    uint8_t *family; /* enum msim_family */
    uint8_t *link;   /* enum msim_link */
    uint8_t *part;   /* enum msim_host_part */
};

struct msim_task_groups_options {
    struct msim_works *const *works; /* one a rank */
    uint32_t ranks;                  /* as msim_cost_options */
    uint32_t gpus_a_node;
};

/* On success `*out` is owned by the caller; ENOMEM, which leaves it NULL. */
MSIM_MUST_CHECK
enum msim_status
msim_task_groups_new(struct msim_task_groups **out, const struct msim_graph *g,
                     const struct msim_task_groups_options *opt);
/*
 * The groups of a graph of `n` tasks that an overlay makes of one of `n_base`:
 * `from` as msim_graph_overlaid() gives it. What is inserted is of the family
 * of `made_by`, one a task, and of no other group. As above.
 */
MSIM_MUST_CHECK
enum msim_status msim_task_groups_overlaid(struct msim_task_groups **out,
                                           const struct msim_task_groups *base,
                                           uint32_t n_base,
                                           const uint8_t *made_by,
                                           const uint32_t *from, uint32_t n);
void msim_task_groups_free(struct msim_task_groups *t); /* accepts NULL */

#endif

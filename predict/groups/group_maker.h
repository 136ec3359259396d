/*
 * predict/groups/group_maker.h - what the files of this room share.
 */
#ifndef MSIM_PREDICT_GROUPS_GROUP_MAKER_H
#define MSIM_PREDICT_GROUPS_GROUP_MAKER_H
#include "predict/groups/task_groups.h"

struct msim_group_maker {
    const struct msim_graph *g;
    const struct msim_task_groups_options *opt;
    struct msim_task_groups *out;
};

/* Fill in one array each; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_group_families(const struct msim_group_maker *m);
MSIM_MUST_CHECK
enum msim_status msim_group_links(const struct msim_group_maker *m);
MSIM_MUST_CHECK
enum msim_status msim_group_host_parts(const struct msim_group_maker *m);

#endif

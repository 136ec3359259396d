/*
 * models/law/collective_law.c - collectives and point-to-point transfers, by
 * the fastest way to send (models/law/law.h).
 */
#include "models/law/law.h"

#include "core/base/texts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const FEATURES[] = {"log_bytes", "log_ranks", "log_nodes"};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

#define NODES "/nodes" /* at the end of a key */

static double collective_time(const struct msim_data_sheet *s,
                              const struct msim_work *w, const double *p)
{
    return msim_transfer_choose(s, w, p).us;
}

static void collective_describe(const struct msim_data_sheet *s,
                                const struct msim_work *w, double *x)
{
    (void)s;
    x[0] = log(fmax((double)w->u.coll.bytes, 1));
    x[1] = log(fmax(w->u.coll.ranks, 2));
    x[2] = log(fmax(w->u.coll.nodes, 1));
}

/*
 * All collectives over a link share one fit, so that a number of ranks which
 * one of them lacks is learned from the others. Transfers between two ranks
 * have a fit of their own. Bridges join GPUs in pairs: a larger group leaves
 * the bridge, as a group on several nodes leaves the node.
 */
void msim_collective_key(char *text, size_t size, const char *interconnect,
                         const char *algorithm, const struct msim_work *w)
{
    bool leaves_pair = w->u.coll.ranks > 2 && w->u.coll.nodes <= 1 &&
                       strstr(interconnect, "pairwise");
    bool between_two = w->u.coll.collective == MSIM_COLL_SEND ||
                       w->u.coll.collective == MSIM_COLL_RECV;

    MSIM_JOIN_TEXT(text, size, interconnect, *algorithm ? "/" : "", algorithm,
                   between_two ? "/send" : "",
                   w->u.coll.nodes > 1 ? NODES
                   : leaves_pair       ? "/beyond-pair"
                                       : "");
}

bool msim_collective_key_is_over_nodes(const char *key)
{
    const char *end = strrchr(key, '/');

    return end && msim_same_text(end, NODES);
}

static void collective_key(const struct msim_work *w, char *text, size_t size)
{
    msim_collective_key(text, size,
                        w->u.coll.interconnect ? w->u.coll.interconnect : "",
                        w->u.coll.algorithm ? w->u.coll.algorithm : "", w);
}

const struct msim_law MSIM_LAW_COLLECTIVE = {
    .name = "collective",
    .params = MSIM_TRANSFER,
    .n_params = MSIM_TRANSFER_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = N_FEATURES,
    .stack_log_sd = 0.1, /* NCCL versions: 3 to 15 % */
    .time_us = collective_time,
    .describe = collective_describe,
    .key = collective_key,
};

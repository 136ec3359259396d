/*
 * models/law/transfer.h - the ways to send the bytes of a collective or a
 * point-to-point transfer, and the time of the fastest.
 *
 * A way is an algorithm (who sends to whom, in how many steps, over which
 * wires) with a protocol (how a step is synchronised). A library takes the
 * fastest way, and so does the law:
 *
 *   time = t0 + min over ways of (hops * steps + wire / (link * efficiency))
 *
 *   algorithm  steps of r ranks        a rank's wire, over the buffer
 *   ring       2 (r - 1) or r - 1      2 (r - 1) / r or (r - 1) / r
 *   tree       2 log2 r or log2 r      2 (r - 1) / r or 1
 *   in-switch  2                       1 (the switch adds)
 *   pairwise   1 inside a node         (r - 1) / r
 *   one-shot   1                       r - 1 (each rank reads all others)
 *   two-shot   2                       2 (r - 1) / r
 *
 * Where there are two figures, the first is that of all-reduce (nccl-tests,
 * doc/PERFORMANCE.md, derives the wires). Protocols: LL sends a flag with every
 * 4 bytes and needs no fence; LL128 sends one with every 120 bytes and needs
 * NVLink; Simple has a fence in every step. Their hops are in proportion 0.6,
 * 1.9 and 3.4 (NCCL, src/graph/tuning.cc, hwLat for rings over NVLink).
 *
 * Between nodes, each node sends its share over the network cards that its
 * ranks can use. All-reduce, broadcast and reduce are a tree of nodes,
 * all-gather and reduce-scatter a ring, all-to-all a message to each rank of
 * other nodes.
 */
#ifndef MSIM_MODELS_LAW_TRANSFER_H
#define MSIM_MODELS_LAW_TRANSFER_H
#include "models/law/law.h"

enum msim_transfer_param {
    MSIM_TRANSFER_T0,
    MSIM_TRANSFER_HOP,
    MSIM_TRANSFER_LL,
    MSIM_TRANSFER_LINK,
    MSIM_TRANSFER_SWITCH,
    MSIM_TRANSFER_CROWD,
    MSIM_TRANSFER_NET_HOP,
    MSIM_TRANSFER_NET,
    MSIM_TRANSFER_PARAMS
};
extern const struct msim_param MSIM_TRANSFER[MSIM_TRANSFER_PARAMS];

/* A way and its time. */
struct msim_transfer {
    const char *algorithm, *protocol;
    double us;
};

/* The fastest way for a work of the family collective. */
struct msim_transfer msim_transfer_choose(const struct msim_data_sheet *s,
                                          const struct msim_work *w,
                                          const double *params);

/* The time of its wire inside a node at the full rate of the link,
 * microseconds. */
double msim_transfer_wire_us(const struct msim_data_sheet *s,
                             const struct msim_work *w, const double *params);

/* Whether its ranks are more than the pair of GPUs that an NVLink bridge
 * joins. */
bool msim_transfer_leaves_pair(const struct msim_data_sheet *s,
                               const struct msim_work *w);
/* Whether its ranks share a PCIe tree. */
bool msim_transfer_on_pcie(const struct msim_data_sheet *s,
                           const struct msim_work *w);

#endif

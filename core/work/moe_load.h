/*
 * core/work/moe_load.h - what the routing of tokens leaves one rank to do.
 *
 * A layer of E experts on `ep` ranks gives each of T tokens to k experts, so
 * that T k pairs are shared out; each rank has L = E / ep experts. A layer
 * waits for its slowest rank, so the load is that of the busiest one:
 *
 *   EVEN       round and round: every expert T k / E pairs, or one of the
 *              first few pairs each
 *   RANDOM     each pair to any expert: L (1 - exp(-T k / E)) of them have
 *              something to do
 *   POWER_LAW  shares drawn from a density x^-alpha: a few experts get most
 *
 * Worked example: 8 experts, k = 2, 16 tokens, one rank, EVEN: 32 pairs, 8
 * active experts of 4 pairs each, 8 tiles of any size from 4 rows up.
 */
#ifndef MSIM_CORE_WORK_MOE_LOAD_H
#define MSIM_CORE_WORK_MOE_LOAD_H
#include <stdint.h>

enum msim_routing_kind {
    MSIM_ROUTING_RANDOM,
    MSIM_ROUTING_EVEN,
    MSIM_ROUTING_POWER_LAW
};

struct msim_moe_routing {
    int64_t tokens, topk, experts, ep; /* of the layer, over all ranks */
    enum msim_routing_kind kind;
    double alpha; /* POWER_LAW: 1.01 mild, 1.2 strong */
};

/* Rows of the tiles that kernels cut each expert's tokens into. */
#define MSIM_MOE_TILES 4
extern const double MSIM_MOE_TILE[MSIM_MOE_TILES]; /* 16, 32, 64, 128 */

/* Expected values for the busiest rank; all are above 0. */
struct msim_moe_load {
    double local;                 /* experts that the rank holds */
    double pairs;                 /* (token, expert) pairs for them */
    double active;                /* experts with at least one */
    double most;                  /* pairs of the busiest expert */
    double tiles[MSIM_MOE_TILES]; /* sum of ceil(pairs / rows) over experts */
};

/* Sizes below 1 count as 1; any sizes are answered with finite figures. */
void msim_moe_load_make(struct msim_moe_load *load,
                        const struct msim_moe_routing *r);

#endif

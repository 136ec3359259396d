/*
 * core/memory/beside.c - the context of CUDA and the buffers of NCCL.
 */
#include "core/memory/life_memory.h"

#include <math.h>

#define CONNECTION (12.0 * 1024 * 1024)

/* NCCL takes a channel for every 12.5 GB/s of NVLink: 12 on a V100, 24 on an
 * A100, and not more than that; 2 over PCIe. */
#define CHANNEL_RATE   12.5e9
#define CHANNELS_LEAST 2
#define CHANNELS_MOST  24
/* Between nodes two for every network card of a GPU. */
#define CHANNELS_FAR 2
/* Messages to a peer in the node take up to 32 channels. */
#define PEER_CHANNELS_MOST 32

double msim_beside_bytes(const struct msim_beside *b)
{
    return b->context + b->nccl;
}

static double channels_of(double link, double most)
{
    return fmin(fmax(ceil(link / CHANNEL_RATE), CHANNELS_LEAST), most);
}

double msim_beside_collective(const struct msim_beside_group *g, double link)
{
    double channels =
        g->near > 1 ? channels_of(link, CHANNELS_MOST) : CHANNELS_FAR;

    if (!(g->ranks > 1))
        return 0;
    return channels * (1 + 2 * (g->ranks - 1) / g->ranks) * CONNECTION;
}

double msim_beside_messages(const struct msim_beside_group *g, double peers,
                            double link)
{
    double near = fmax(fmin(peers, g->near - 1), 0);

    if (!(g->ranks > 1))
        return 0;
    return (near * channels_of(link, PEER_CHANNELS_MOST) +
            (peers - near) * CHANNELS_FAR) *
           CONNECTION;
}

/*
 * models/law/transfer.c - the ways to send, and the fastest of them.
 */
#include "models/law/law.h"

#include "core/work/kernel_fact.h"

#include <math.h>
#include <string.h>

const struct msim_param MSIM_TRANSFER[MSIM_TRANSFER_PARAMS] = {
    [MSIM_TRANSFER_T0] = {"t0", "us", 5, 0.5, 400},
    [MSIM_TRANSFER_HOP] = {"hop", "us", 0.8, 0.02, 60},
    [MSIM_TRANSFER_LL] = {"low_latency_efficiency", "1", 0.25, 0.003, 1},
    [MSIM_TRANSFER_LINK] = {"bulk_efficiency", "1", 0.8, 0.01, 2.5},
    [MSIM_TRANSFER_SWITCH] = {"in_switch_start", "us", 15, 1, 400},
    [MSIM_TRANSFER_CROWD] = {"crowding", "1", 1, 0.01, 3},
    [MSIM_TRANSFER_NET_HOP] = {"network_hop", "latencies", 2, 0.02, 100},
    [MSIM_TRANSFER_NET] = {"network_efficiency", "1", 0.8, 0.01, 3},
};

/* Hops of a protocol over one of LL. */
static double over_ll(double hop)
{
    return hop / MSIM_FACT(NULL, NCCL_LL_HOP);
}

/* A collective with the ranks that take part. */
struct group {
    const struct msim_data_sheet *sheet;
    const double *p;
    enum msim_collective what;
    double ranks, nodes, inside; /* inside: ranks a node */
    double bytes;
    double link; /* bytes/us that one rank sends inside a node */
};

/* What the work says, or else the data sheet. */
static const char *link_name(const struct msim_data_sheet *s,
                             const struct msim_work *w)
{
    return w->u.coll.interconnect ? w->u.coll.interconnect : s->interconnect;
}

bool msim_transfer_leaves_pair(const struct msim_data_sheet *s,
                               const struct msim_work *w)
{
    return w->u.coll.ranks > 2 && strstr(link_name(s, w), "pairwise");
}

bool msim_transfer_on_pcie(const struct msim_data_sheet *s,
                           const struct msim_work *w)
{
    return strncmp(link_name(s, w), "PCIe", 4) == 0 ||
           msim_transfer_leaves_pair(s, w);
}

static struct group group_of(const struct msim_data_sheet *s,
                             const struct msim_work *w, const double *p)
{
    struct group g = {.sheet = s, .p = p, .what = w->u.coll.collective};
    bool leaves = msim_transfer_leaves_pair(s, w);
    double link = leaves ? s->pcie : s->link;
    double sharing;

    g.ranks = w->u.coll.ranks > 1 ? w->u.coll.ranks : 2;
    g.nodes = w->u.coll.nodes > 1 ? w->u.coll.nodes : 1;
    g.inside = fmax(g.ranks / g.nodes, 1);
    g.bytes = w->u.coll.bytes > 0 ? (double)w->u.coll.bytes : 1;
    g.link = link * 1e-6;
    /* Links to GPUs that take no part carry nothing. */
    if (s->mesh > 0)
        g.link *= fmin(fmax(g.inside - 1, 1), s->mesh) / s->mesh;
    /* GPUs, or bridged pairs of GPUs, share the rate of a PCIe tree. */
    sharing = leaves ? g.inside / 2 : g.inside;
    if (sharing > 2 && msim_transfer_on_pcie(s, w))
        g.link /= pow(sharing / 2, p[MSIM_TRANSFER_CROWD]);
    return g;
}

/* Whether data goes to a sum and back from it. */
static bool goes_twice(enum msim_collective c)
{
    return c == MSIM_COLL_ALL_REDUCE || c == MSIM_COLL_BARRIER;
}

static bool is_pairwise(enum msim_collective c)
{
    return c == MSIM_COLL_ALL_TO_ALL || c == MSIM_COLL_GATHER ||
           c == MSIM_COLL_SCATTER;
}

static bool is_send(enum msim_collective c)
{
    return c == MSIM_COLL_SEND || c == MSIM_COLL_RECV;
}

static bool has_tree(enum msim_collective c)
{
    return goes_twice(c) || c == MSIM_COLL_BROADCAST || c == MSIM_COLL_REDUCE;
}

/* Bytes that one of `n` members sends, over the bytes of the collective. */
static double wire_share(enum msim_collective c, double n)
{
    switch (c) {
    case MSIM_COLL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case MSIM_COLL_ALL_GATHER:
    case MSIM_COLL_REDUCE_SCATTER:
    case MSIM_COLL_ALL_TO_ALL:
    case MSIM_COLL_GATHER:
    case MSIM_COLL_SCATTER:
        return (n - 1) / n;
    case MSIM_COLL_BARRIER:
        return 0;
    default:
        return n > 1;
    }
}

static double steps_of_ring(enum msim_collective c, double n)
{
    if (is_pairwise(c) || is_send(c))
        return 1;
    return goes_twice(c) ? 2 * (n - 1) : n - 1;
}

static double steps_of_tree(enum msim_collective c, double n)
{
    return (goes_twice(c) ? 2 : 1) * log2(n);
}

static void offer(struct msim_transfer *best, const char *algorithm,
                  const char *protocol, double us)
{
    if (us < best->us)
        *best = (struct msim_transfer){algorithm, protocol, us};
}

/* Offer an algorithm with each protocol; `wire` in bytes. */
static void offer_protocols(struct msim_transfer *best, const struct group *g,
                            const char *algorithm, double steps, double wire)
{
    double hop = steps * g->p[MSIM_TRANSFER_HOP];
    double bulk = wire / (g->link * g->p[MSIM_TRANSFER_LINK]);
    double data =
        MSIM_FACT(NULL, NCCL_LL128_DATA) / MSIM_FACT(NULL, NCCL_LL128_LINE);

    offer(best, algorithm, "LL",
          hop + wire / (g->link * g->p[MSIM_TRANSFER_LL]));
    if (g->link > g->sheet->pcie * 1e-6)
        offer(best, algorithm, "LL128",
              over_ll(MSIM_FACT(NULL, NCCL_LL128_HOP)) * hop + bulk / data);
    offer(best, algorithm, "Simple",
          over_ll(MSIM_FACT(NULL, NCCL_SIMPLE_HOP)) * hop + bulk);
}

/* The all-reduce of serving stacks, in which ranks read each other's memory. */
static void offer_custom(struct msim_transfer *best, const struct group *g)
{
    double hop = g->p[MSIM_TRANSFER_HOP];
    double per_byte = 1 / (g->link * g->p[MSIM_TRANSFER_LINK]);

    offer(best, "one-shot", "direct",
          hop + (g->ranks - 1) * g->bytes * per_byte);
    offer(best, "two-shot", "direct",
          2 * hop + wire_share(g->what, g->ranks) * g->bytes * per_byte);
}

static struct msim_transfer inside_node(const struct group *g, bool custom)
{
    struct msim_transfer best = {.us = INFINITY};
    double wire = g->bytes * wire_share(g->what, g->ranks);
    const char *plain = is_send(g->what)       ? "direct"
                        : is_pairwise(g->what) ? "pairwise"
                                               : "ring";

    offer_protocols(&best, g, plain, steps_of_ring(g->what, g->ranks), wire);
    if (has_tree(g->what))
        offer_protocols(&best, g, "tree", steps_of_tree(g->what, g->ranks),
                        wire);
    if (custom && g->what == MSIM_COLL_ALL_REDUCE)
        offer_custom(&best, g);
    else if (g->sheet->in_switch && g->what == MSIM_COLL_ALL_REDUCE)
        offer(&best, "in-switch", "Simple",
              g->p[MSIM_TRANSFER_SWITCH] +
                  g->bytes / (g->link * g->p[MSIM_TRANSFER_LINK]));
    return best;
}

/* Messages one after the other between nodes. */
static double network_steps(const struct group *g)
{
    if (is_send(g->what))
        return 1;
    if (is_pairwise(g->what))
        return g->ranks - g->inside;
    return has_tree(g->what) ? steps_of_tree(g->what, g->nodes) : g->nodes - 1;
}

/* Steps inside nodes; a ring passes all ranks. */
static double steps_inside(const struct group *g)
{
    if (is_pairwise(g->what))
        return 0;
    return has_tree(g->what) ? steps_of_tree(g->what, g->inside)
                             : g->ranks - g->nodes;
}

/* Bytes/us of the network cards that the ranks of a node can use. */
static double node_rate(const struct group *g)
{
    double ranks = is_send(g->what) ? 1 : g->inside;
    double cards = fmax(ranks * g->sheet->cards_per_gpu, 1);

    return g->sheet->network * 1e-6 * cards * g->p[MSIM_TRANSFER_NET];
}

/* Bytes that a node sends to others, over the bytes of the collective. */
static double node_share(const struct group *g)
{
    double each = wire_share(g->what, g->nodes);

    return is_pairwise(g->what) ? each * g->inside : each;
}

static struct msim_transfer between_nodes(const struct group *g)
{
    struct msim_transfer best = {.us = INFINITY};
    const char *algorithm = is_send(g->what)       ? "direct"
                            : is_pairwise(g->what) ? "pairwise"
                            : has_tree(g->what)    ? "tree"
                                                   : "ring";
    double hops =
        network_steps(g) * g->p[MSIM_TRANSFER_NET_HOP] * g->sheet->latency_us;
    double net = g->bytes * node_share(g) / node_rate(g);
    double in = 0, both;

    if (g->inside > 1 && !is_send(g->what)) {
        in = g->bytes * wire_share(g->what, g->inside) /
             (g->link * g->p[MSIM_TRANSFER_LINK]);
        hops += steps_inside(g) * g->p[MSIM_TRANSFER_HOP];
    }
    both = msim_norm2(net, in, 4);
    /* half of what LL sends is flags */
    offer(&best, algorithm, "LL", hops + 2 * both);
    offer(&best, algorithm, "Simple", 2 * hops + both);
    return best;
}

struct msim_transfer msim_transfer_choose(const struct msim_data_sheet *s,
                                          const struct msim_work *w,
                                          const double *params)
{
    struct group g = group_of(s, w, params);
    struct msim_transfer best =
        g.nodes > 1 ? between_nodes(&g)
                    : inside_node(&g, w->u.coll.algorithm != NULL);

    best.us += params[MSIM_TRANSFER_T0];
    return best;
}

double msim_transfer_wire_us(const struct msim_data_sheet *s,
                             const struct msim_work *w, const double *params)
{
    struct group g = group_of(s, w, params);

    return g.bytes * wire_share(g.what, g.ranks) / g.link;
}

/*
 * models/collective.c - collectives and point-to-point transfers.
 *
 * time = min over two protocols of (start + steps * hop + wire / link), the
 * low-latency one with a cheap start and a part of the link, the bulk one with
 * a dear start and most of it. Ranks that share a PCIe tree get less of it the
 * more they are: (ranks / 2)^crowding. steps = log2(ranks); wire = bytes that
 * one rank sends by a ring: 2 (r - 1) / r of the buffer for all-reduce, (r - 1)
 * / r for all-gather, reduce-scatter and all-to-all, all of it for the rest
 * (nccl-tests, doc/PERFORMANCE.md). Between nodes the slower of the link
 * inside and the network counts.
 */
#include "models/interval.h"
#include "models/platform_data.h"

#include <math.h>
#include <string.h>

enum {
    T0,
    HOP,
    SLOW_LINK,
    BULK_START,
    LINK,
    NET_HOP,
    NET,
    SOFT,
    CROWD,
    N_PARAMS
};

static const struct msim_param PARAMS[N_PARAMS] = {
    [T0] = {"t0", "us", 8, 0.5, 400},
    [HOP] = {"hop", "us per doubling of ranks", 2, 0.01, 60},
    [SLOW_LINK] = {"low_latency_efficiency", "1", 0.25, 0.003, 2},
    [BULK_START] = {"bulk_start", "us", 12, 0.1, 400},
    [LINK] = {"bulk_efficiency", "1", 0.75, 0.01, 2.5},
    [NET_HOP] = {"network_hop", "us per doubling of nodes", 8, 0.1, 400},
    [NET] = {"network_efficiency", "1", 0.7, 0.01, 3},
    [SOFT] = {"softness", "1", 4, 1, 12},
    [CROWD] = {"crowding", "1", 0.1, 0.003, 3},
};

static const char *const FEATURES[] = {
    "log_bytes",         "log_ranks",     "log_nodes",         "log_wire",
    "log_piece",         "ranks_inside",  "is_all_reduce",     "is_all_gather",
    "is_reduce_scatter", "is_all_to_all", "is_point_to_point", "setting",
    "version",
};
#define N_FEATURES (sizeof(FEATURES) / sizeof(*FEATURES))

static double bytes_of(const struct msim_work *w)
{
    return w->u.coll.bytes > 0 ? (double)w->u.coll.bytes : 1;
}

static double ranks_of(const struct msim_work *w)
{
    return w->u.coll.ranks > 1 ? (double)w->u.coll.ranks : 2;
}

static double nodes_of(const struct msim_work *w)
{
    return w->u.coll.nodes > 1 ? (double)w->u.coll.nodes : 1;
}

/* Bytes that one rank of `r` sends, as a share of the size column. */
static double wire_share(enum msim_collective c, double r)
{
    switch (c) {
    case MSIM_COLL_ALL_REDUCE:
        return 2 * (r - 1) / r;
    case MSIM_COLL_ALL_GATHER:
    case MSIM_COLL_REDUCE_SCATTER:
    case MSIM_COLL_ALL_TO_ALL:
    case MSIM_COLL_GATHER:
    case MSIM_COLL_SCATTER:
        return (r - 1) / r;
    case MSIM_COLL_BARRIER:
        return 0;
    default:
        return 1;
    }
}

static double collective_time(const struct msim_spec *s,
                              const struct msim_work *w, const double *p)
{
    double r = ranks_of(w);
    double nodes = nodes_of(w);
    double inside = r / nodes < 2 ? 2 : r / nodes;
    double wire = bytes_of(w) * wire_share(w->u.coll.collective, r) * 1e6;
    double start = p[T0] + p[HOP] * log2(inside);
    double crowd = pow(inside / 2, p[CROWD]);
    double slow = wire * crowd / (s->link * p[SLOW_LINK]);
    double bulk = wire * crowd / (s->link * p[LINK]);

    if (nodes > 1) {
        double net = wire / (s->network * p[NET]);

        start += p[NET_HOP] * log2(nodes);
        slow = msim_norm2(slow, net / 0.5, 4);
        bulk = msim_norm2(bulk, net, 4);
    }
    bulk += p[BULK_START];
    /* A smooth minimum: protocols change over a range of sizes. */
    return start + 1 / msim_norm2(1 / slow, 1 / bulk, p[SOFT]);
}

/*
 * A number in 0..1 that stands for a text, so that trees can tell one from
 * another; 0 for none. Clusters log the same transfer under settings and
 * versions that differ tenfold; inside a node versions differ little.
 */
static double code(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    if (!text)
        return 0;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return (double)(h >> 8) / (1 << 24);
}

static void collective_describe(const struct msim_spec *s,
                                const struct msim_work *w, double *x)
{
    double r = ranks_of(w);

    (void)s;
    x[0] = log(bytes_of(w));
    x[1] = log(r);
    x[2] = log(nodes_of(w));
    x[3] = log(1 + bytes_of(w) * wire_share(w->u.coll.collective, r));
    x[4] = log(bytes_of(w) / r);
    x[5] = r / nodes_of(w);
    x[6] = w->u.coll.collective == MSIM_COLL_ALL_REDUCE;
    x[7] = w->u.coll.collective == MSIM_COLL_ALL_GATHER;
    x[8] = w->u.coll.collective == MSIM_COLL_REDUCE_SCATTER;
    x[9] = w->u.coll.collective == MSIM_COLL_ALL_TO_ALL;
    x[10] = w->u.coll.collective == MSIM_COLL_SEND ||
            w->u.coll.collective == MSIM_COLL_RECV;
    x[11] = code(w->u.coll.setting);
    x[12] = w->u.coll.nodes > 1 ? code(w->version) : 0;
}

/*
 * One cell for all collectives of a link, so that a rank count that one of
 * them lacks is learned from the others; transfers from one rank to one other
 * are a matter of their own. Bridges join GPUs in pairs: a larger group leaves
 * them, as one on several nodes leaves the node.
 */
static void make_key(char *text, size_t size, const char *interconnect,
                     const char *algorithm, const struct msim_work *w)
{
    bool leaves_pair = strstr(interconnect, "pairwise") && w->u.coll.ranks > 2;
    bool between_two = w->u.coll.collective == MSIM_COLL_SEND ||
                       w->u.coll.collective == MSIM_COLL_RECV;

    snprintf(text, size, "%s%s%s%s%s", interconnect, *algorithm ? "/" : "",
             algorithm, between_two ? "/send" : "",
             w->u.coll.nodes > 1 ? "/nodes"
             : leaves_pair       ? "/beyond-pair"
                                 : "");
}

static void collective_key(const struct msim_work *w, char *text, size_t size)
{
    make_key(text, size, w->u.coll.interconnect ? w->u.coll.interconnect : "",
             w->u.coll.algorithm ? w->u.coll.algorithm : "", w);
}

const struct msim_law MSIM_LAW_COLLECTIVE = {
    .name = "collective",
    .params = PARAMS,
    .n_params = N_PARAMS,
    .features = FEATURES,
    .n_features = N_FEATURES,
    .n_sizes = 3,
    .stack_spread = 0.1, /* NCCL versions: 3 to 15 % */
    .time_us = collective_time,
    .describe = collective_describe,
    .key = collective_key,
};

static bool collective_covers(const struct msim_platform *p,
                              const struct msim_work *w)
{
    (void)p;
    return w->family == MSIM_FAMILY_COLLECTIVE &&
           w->u.coll.collective != MSIM_COLL_UNKNOWN &&
           w->u.coll.collective != MSIM_COLL_WAIT;
}

/* The interconnect that is asked for, else the platform's; without the
 * algorithm where that has no rows. */
static bool collective_pick(const struct msim_platform *p,
                            const struct msim_work *w, struct msim_pick *out)
{
    static const char *const PREFER[] = {"nccl", NULL};
    struct msim_work like_all_to_all = *w;
    char text[6][MSIM_CELL_KEY];
    const char *keys[7];
    const char *links[2];
    size_t n = 0, n_links = 0;

    like_all_to_all.u.coll.collective = MSIM_COLL_ALL_TO_ALL;
    if (w->u.coll.interconnect)
        links[n_links++] = w->u.coll.interconnect;
    links[n_links++] = w->u.coll.nodes > 1 && *p->spec.internode
                           ? p->spec.internode
                           : p->spec.interconnect;
    for (size_t l = 0; l < n_links; l++) {
        if (w->u.coll.algorithm)
            make_key(text[n++], sizeof(text[0]), links[l], w->u.coll.algorithm,
                     w);
        make_key(text[n++], sizeof(text[0]), links[l], "", w);
        make_key(text[n++], sizeof(text[0]), links[l], "", &like_all_to_all);
    }
    for (size_t i = 0; i < n; i++)
        keys[i] = text[i];
    keys[n] = NULL;
    return msim_cell_pick(p, &MSIM_LAW_COLLECTIVE, w->framework, PREFER, keys,
                          out);
}

/* Without any rows for the link: the law with the constants that a fit starts
 * from, which are typical, and a wide interval. */
static void from_data_sheet(const struct msim_platform *p,
                            const struct msim_work *w,
                            struct msim_estimate *out)
{
    double params[N_PARAMS];

    for (size_t i = 0; i < N_PARAMS; i++)
        params[i] = PARAMS[i].start;
    out->us = collective_time(&p->spec, w, params);
    out->source = MSIM_SOURCE_LAW;
    out->family = MSIM_FAMILY_COLLECTIVE;
    msim_interval_set(out, 0, 0, 0.5);
}

static enum msim_status collective_predict(const struct msim_platform *p,
                                           const struct msim_work *w,
                                           struct msim_estimate *out)
{
    struct msim_pick pick;

    if (collective_pick(p, w, &pick))
        msim_cell_estimate(p, &pick, w, NULL, out);
    else
        from_data_sheet(p, w, out);
    return MSIM_OK;
}

static void collective_explain(const struct msim_platform *p,
                               const struct msim_work *w, FILE *out)
{
    struct msim_pick pick;

    fprintf(out,
            "law: the lesser of two protocols, start + steps * hop + wire / "
            "link\n"
            "inputs: %s of %llu bytes over %u ranks on %u nodes\n",
            msim_collective_text(w->u.coll.collective),
            (unsigned long long)w->u.coll.bytes, w->u.coll.ranks,
            w->u.coll.nodes);
    if (collective_pick(p, w, &pick))
        msim_cell_explain(p, &pick, w, out);
    else
        fprintf(out,
                "rows: none for this link; typical constants on the data "
                "sheet's %.4g GB/s\n",
                p->spec.link * 1e-9);
}

const struct msim_model MSIM_MODEL_COLLECTIVE = {
    "collective", collective_covers, collective_predict, collective_explain};

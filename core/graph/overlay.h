/*
 * core/graph/overlay.h - a graph as a what-if has it: other tasks and other
 * dependencies than the base, which stays as it is.
 *
 * An overlay is a list of differences. msim_graph_overlaid() makes a graph of
 * base and overlay, with the base's order of tasks: whoever reads a graph reads
 * that one like any other.
 *
 *     base      k1 -> k2            stream order
 *     overlay   x is inserted behind k1
 *     result    k1 -> x -> k2       who waited for k1 waits for x
 *
 * So a task that is inserted and takes no time changes no start: it begins and
 * ends when its neighbour ends, and hands on the neighbour's lags unchanged.
 * Several behind one neighbour follow each other in the order they were added;
 * so do several before one.
 *
 * Not thread-safe. Heap memory; release with msim_overlay_release().
 */
#ifndef MSIM_CORE_GRAPH_OVERLAY_H
#define MSIM_CORE_GRAPH_OVERLAY_H
#include "core/graph/graph.h"

/* Where an inserted task stands. */
enum msim_overlay_place {
    MSIM_OVERLAY_BEFORE, /* what let `at` start lets it start, and it `at` */
    MSIM_OVERLAY_AFTER,  /* what waited for `at` waits for it */
    MSIM_OVERLAY_BESIDE, /* nothing waits for it, and it for nothing, but by
                            the overlay's own edges */
};

struct msim_overlay_task {
    uint32_t at; /* task of the base; with its window and its rank */
    uint8_t place, kind;
    uint32_t lane; /* of the base, or one of the overlay's */
    uint32_t op;   /* operator that it belongs to, or NONE */
    uint32_t name; /* its own: a string of the job */
};

/* A task of the overlay in an edge: its number behind those of the base. */
struct msim_overlay_edge {
    uint32_t from, to;
    msim_ps lag;
    uint8_t kind; /* kind and source: MSIM_EDGE_BYTE */
};

struct msim_overlay {
    const struct msim_graph *base;
    struct msim_overlay_task *tasks;
    struct msim_overlay_edge *edges; /* more than those of the places */
    struct msim_lane *lanes;         /* behind those of the base */
    uint32_t n_tasks, n_edges, n_lanes, cap_tasks, cap_edges, cap_lanes;
    uint8_t *dropped; /* one an edge of the base, 1: it does not hold */
    uint32_t *lane;   /* one a task of the base: the lane that it is on */
    uint32_t *name;   /* likewise: what it is called now, 0: as it was */
};

/* Nothing differs yet. ENOMEM; release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_overlay_init(struct msim_overlay *o,
                                   const struct msim_graph *base);
void msim_overlay_release(struct msim_overlay *o);

/* One more task, edge, lane; `*id` is what edges and tasks call it. A
 * collective is one with its arrival: place it by its transfer, or by its
 * arrival before it. */
MSIM_MUST_CHECK
enum msim_status msim_overlay_add(struct msim_overlay *o,
                                  struct msim_overlay_task t, uint32_t *id);
MSIM_MUST_CHECK
enum msim_status msim_overlay_tie(struct msim_overlay *o, uint32_t from,
                                  uint32_t to, enum msim_edge_kind kind,
                                  msim_ps lag);
MSIM_MUST_CHECK
enum msim_status msim_overlay_lane(struct msim_overlay *o, uint32_t rank,
                                   uint32_t *id);

/* Does the overlay change the graph at all? */
bool msim_overlay_is_empty(const struct msim_overlay *o);

/*
 * The graph of base and overlay. `from`, one a task of it, says which task of
 * the base it is, or, from base->n_tasks on, which of the overlay. On success
 * the caller owns both (msim_graph_free(), free()); on failure they are NULL.
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_graph_overlaid(struct msim_graph **out, uint32_t **from,
                                     const struct msim_overlay *o);

#endif

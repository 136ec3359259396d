/*
 * tests/unit/made_remake.h - a graph of a few tasks made by hand, with
 * durations, and an edit that is made to it.
 *
 *     remake_new(&m, 2);
 *     k = remake_task(&m, MSIM_TASK_KERNEL, 1, 10);     lane 1, 10 ps
 *     remake_edge(&m, launch, k, MSIM_EDGE_LAUNCH, 5);
 *     if (CHECK_INT(remake_begin(&m), MSIM_OK))
 *         ... &m.d ...
 *     remake_done(&m);
 *
 * Tasks are of the first rank unless `m.refs` says otherwise; all ranks share
 * the operators and events of `m.b`, which every trace is a copy of. A task is
 * of no operator and no event until its ref says of which.
 */
#ifndef MSIM_TESTS_UNIT_MADE_REMAKE_H
#define MSIM_TESTS_UNIT_MADE_REMAKE_H
#include "predict/edit/edit_internal.h"
#include "tests/check.h"
#include "tests/unit/made_ops.h"

#define REMAKE_TASKS 48
#define REMAKE_RANKS 3
#define REMAKE_LANES 8

struct made_remake {
    struct build b;
    uint32_t topmost[BUILD_MAX];
    struct msim_stream streams[REMAKE_LANES];
    struct msim_trace traces[REMAKE_RANKS];
    struct msim_trace *ranks[REMAKE_RANKS];
    struct msim_job job;
    struct msim_graph g;
    struct msim_lane lanes[REMAKE_LANES];
    uint8_t kind[REMAKE_TASKS];
    uint32_t lane[REMAKE_TASKS], window[REMAKE_TASKS];
    struct msim_task_ref refs[REMAKE_TASKS];
    msim_ps traced[REMAKE_TASKS];
    uint32_t n_preds[REMAKE_TASKS], edge_begin[REMAKE_TASKS + 1];
    struct made_remake_edge {
        uint32_t from, to;
        enum msim_edge_kind kind;
        msim_ps lag;
    } given[2 * REMAKE_TASKS];
    struct msim_edge edges[2 * REMAKE_TASKS];
    uint8_t edge_kind[2 * REMAKE_TASKS];
    /* durations of the base */
    struct msim_costs base;
    msim_ps mid[REMAKE_TASKS], low[REMAKE_TASKS], high[REMAKE_TASKS];
    uint8_t removed[REMAKE_TASKS], source[REMAKE_TASKS], made_by[REMAKE_TASKS];
    float flops[REMAKE_TASKS];
    struct msim_limits limits[REMAKE_TASKS];
    /* what an edit is asked with */
    struct msim_edit edit;
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_error err;
    struct msim_remake d;
};

/* Lanes are the host's thread and streams 7, 8, ... of the first rank; set
 * m->lanes for others. */
static inline void remake_new(struct made_remake *m, uint32_t n_ranks)
{
    memset(m, 0, sizeof(*m));
    build_init(&m->b);
    for (uint32_t r = 0; r < REMAKE_RANKS; r++)
        m->ranks[r] = &m->traces[r];
    for (uint32_t l = 0; l < REMAKE_LANES; l++)
        m->lanes[l] = (struct msim_lane){0, l, l > 0};
    for (uint32_t l = 0; l < REMAKE_LANES; l++)
        m->streams[l].id = 6 + l;
    m->job.ranks = m->ranks;
    m->job.n_ranks = n_ranks;
    m->job.strings = m->b.strings;
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .refs = m->refs,
                               .traced = m->traced,
                               .n_preds = m->n_preds,
                               .edge_begin = m->edge_begin,
                               .edges = m->edges,
                               .edge_kind = m->edge_kind,
                               .lanes = m->lanes,
                               .n_lanes = REMAKE_LANES};
    m->base = (struct msim_costs){.mid = m->mid,
                                  .low = m->low,
                                  .high = m->high,
                                  .removed = m->removed,
                                  .source = m->source,
                                  .made_by = m->made_by,
                                  .flops = m->flops,
                                  .limits = m->limits};
}

/* From half to three halves of `mid`. */
static inline uint32_t remake_task(struct made_remake *m,
                                   enum msim_task_kind kind, uint32_t lane,
                                   msim_ps mid)
{
    uint32_t t = m->g.n_tasks++;

    if (t >= REMAKE_TASKS)
        abort();
    m->kind[t] = (uint8_t)kind;
    m->lane[t] = lane;
    m->refs[t] = (struct msim_task_ref){MSIM_NONE, MSIM_NONE, MSIM_NONE, 0, 0};
    m->mid[t] = mid;
    m->low[t] = mid / 2;
    m->high[t] = mid * 3 / 2;
    return t;
}

/* In any order; those of one task follow each other as they are given. */
static inline void remake_edge(struct made_remake *m, uint32_t from,
                               uint32_t to, enum msim_edge_kind kind,
                               msim_ps lag)
{
    uint32_t e = m->g.n_edges++;

    if (e >= 2 * REMAKE_TASKS)
        abort();
    m->given[e] = (struct made_remake_edge){from, to, kind, lag};
}

/* The remake of m->edit; the status is msim_remake_init()'s. */
static inline enum msim_status remake_begin(struct made_remake *m)
{
    struct msim_costs *costs;
    uint32_t n = 0;

    for (uint32_t t = 0; t < m->g.n_tasks; t++) {
        m->edge_begin[t] = n;
        for (uint32_t e = 0; e < m->g.n_edges; e++)
            if (m->given[e].from == t) {
                m->edges[n] =
                    (struct msim_edge){m->given[e].to, m->given[e].lag};
                m->edge_kind[n++] =
                    MSIM_EDGE_BYTE(m->given[e].kind, MSIM_FROM_ORDER);
                m->n_preds[m->given[e].to]++;
            }
    }
    m->edge_begin[m->g.n_tasks] = n;
    for (uint32_t i = 0; i < m->b.t.n_ops; i++)
        m->topmost[i] = m->b.ops[i].parent == MSIM_NONE
                            ? i
                            : m->topmost[m->b.ops[i].parent];
    m->b.t.topmost = m->topmost;
    m->b.t.streams = m->streams;
    m->b.t.n_streams = REMAKE_LANES;
    for (uint32_t r = 0; r < m->job.n_ranks; r++) {
        m->traces[r] = m->b.t;
        m->traces[r].rank = m->b.t.rank + r;
    }
    m->d = (struct msim_remake){.g = &m->g,
                                .ranks = m->ranks,
                                .edit = &m->edit,
                                .s = &m->s,
                                .in = &m->in,
                                .to = &m->to,
                                .err = &m->err};
    MSIM_TRY(msim_costs_scaled(&costs, &m->base, &m->g, NULL, 0));
    return msim_remake_init(&m->d, costs);
}

static inline void remake_done(struct made_remake *m)
{
    msim_remake_release(&m->d);
    build_release(&m->b);
}

/* The edit is of what `select` says: "kernels", "op:aten::mm". */
static inline void remake_select(struct made_remake *m, const char *select,
                                 char text[64])
{
    m->edit.selects = true;
    m->edit.chosen = select;
    snprintf(text, 64, "%s=1", select);
    CHECK_INT(msim_scale_parse(&m->edit.select, text, NULL), MSIM_OK);
}

/* Does the overlay tie the two? The lag of the edge, or -1. */
static inline msim_ps remake_tied(const struct made_remake *m, uint32_t from,
                                  uint32_t to, enum msim_edge_kind kind)
{
    for (uint32_t i = 0; i < m->d.overlay.n_edges; i++) {
        const struct msim_overlay_edge *e = &m->d.overlay.edges[i];

        if (e->from == from && e->to == to &&
            msim_edge_kind_of(e->kind) == kind)
            return e->lag;
    }
    return -1;
}

#endif

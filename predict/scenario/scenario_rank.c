/*
 * predict/scenario/scenario_rank.c - what a tenth less of each part of a job
 * would bring, most first.
 */
#include "core/graph/graph.h"
#include "core/report/write/report.h"
#include "predict/scenario/scenario.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT         320
#define NAME         200 /* of an operator; a glob is short */
#define SHOWN        23  /* that fits into the column of a report */
#define MOST_OPS     20  /* operators with the most time on the GPU */
#define MOST_HOST    10  /* and on the host */
#define MOST_STREAMS 24
#define LESS         0.9

static const char *const KINDS[] = {"kernels", "communication", "copies",
                                    "host"};
#define N_KINDS (sizeof(KINDS) / sizeof(KINDS[0]))
#define MOST_ROWS                                                              \
    (N_KINDS + MSIM_FAMILY_COUNT + MOST_STREAMS + MSIM_LINK_COUNT +            \
     MSIM_HOST_PART_COUNT + MOST_OPS + MOST_HOST)

struct ranking {
    struct msim_scenarios *out;
    const struct msim_prediction_run *run; /* of the base */
    msim_ps *by_rank;                      /* room for one a rank */
    struct msim_error *err;
};

/* ---- what is looked at --------------------------------------------------- */

/* Is the last row's selection one of those before? */
static bool is_there(const struct msim_scenarios *s, const char *text)
{
    for (uint32_t i = 0; i + 1 < s->n; i++)
        if (!strcmp(s->rows[i].scales->text, text))
            return true;
    return false;
}

/* How long all that it selects takes in one iteration, of the rank where that
 * is longest. */
static enum msim_status find_work(const struct ranking *r,
                                  struct msim_scenario_row *row)
{
    const struct msim_graph *g = r->run->graph;
    double iterations = g->n_iterations ? g->n_iterations : 1;

    MSIM_TRY(msim_scale_times(r->by_rank, row->scales, r->run->costs, g));
    for (uint32_t i = 0; i < g->job->n_ranks; i++)
        row->work_us = fmax(row->work_us, (double)r->by_rank[i] /
                                              MSIM_PS_PER_US / iterations);
    return MSIM_OK;
}

static enum msim_status name_row(struct ranking *r,
                                 struct msim_scenario_row *row,
                                 const char *select, const char *name)
{
    char *shown = msim_arena_alloc(&r->out->arena, TEXT);

    if (!shown)
        return MSIM_ENOMEM;
    snprintf(shown, TEXT, "%s", select);
    msim_format_op(shown + strlen(shown), TEXT - strlen(shown), name, SHOWN);
    row->name = shown;
    return MSIM_OK;
}

/* A scenario in which what `select` and `name` say takes a tenth less; none
 * where that is no work at all. */
static enum msim_status add(struct ranking *r, const char *group,
                            const char *select, const char *name)
{
    struct msim_scenarios *s = r->out;
    struct msim_scenario_row *row = &s->rows[s->n];
    char *text = msim_arena_alloc(&s->arena, TEXT);

    row->settings = s->base.settings;
    row->settings.totals_only = true;
    row->scales = calloc(1, sizeof(*row->scales));
    if (!text || !row->scales)
        return MSIM_ENOMEM;
    s->n++;
    snprintf(text, TEXT, "%s%.*s%s=%g", select, NAME, name,
             strlen(name) > NAME ? "*" : "", LESS);
    row->settings.scales = row->scales;
    row->settings.n_scales = 1;
    row->group = group;
    MSIM_TRY(msim_scale_parse(row->scales, text, r->err));
    MSIM_TRY(find_work(r, row));
    if (is_there(s, text) || !(row->work_us > 0)) {
        free(row->scales);
        *row = (struct msim_scenario_row){0};
        s->n--;
        return MSIM_OK;
    }
    return name_row(r, row, select, name);
}

/* Names of operators that have the most time, by the whole analysis. */
static enum msim_status add_operators(struct ranking *r)
{
    const struct msim_prediction *p = r->run->prediction;
    uint32_t host = 0;

    for (uint32_t i = 0; i < p->n_ops && i < MOST_OPS; i++)
        if (p->ops[i].us.predicted > 0)
            MSIM_TRY(add(r, "operator", "op:", p->ops[i].name));
    for (uint32_t i = 0; i < p->n_host_ops && host < MOST_HOST; i++)
        if (strcmp(p->host_ops[i].kind, "host") == 0) {
            MSIM_TRY(
                add(r, "operator on the host", "host:", p->host_ops[i].name));
            host++;
        }
    return MSIM_OK;
}

/* Streams of several ranks that have one id are one row. */
static enum msim_status add_streams(struct ranking *r)
{
    const struct msim_graph *g = r->run->graph;
    uint32_t end = r->out->n + MOST_STREAMS;
    char id[MSIM_LANE_NAME];

    for (uint32_t i = 0; i < g->n_lanes && r->out->n < end; i++) {
        if (!g->lanes[i].device)
            continue;
        msim_stream_id(id, g, i);
        MSIM_TRY(add(r, "stream", "stream:", id));
    }
    return MSIM_OK;
}

static enum msim_status add_all(struct ranking *r)
{
    for (size_t i = 0; i < N_KINDS; i++)
        MSIM_TRY(add(r, "kind", KINDS[i], ""));
    for (int i = 0; i < MSIM_FAMILY_COUNT; i++)
        MSIM_TRY(
            add(r, "family", "family:", msim_family_text((enum msim_family)i)));
    MSIM_TRY(add_streams(r));
    for (int i = 0; i < MSIM_LINK_COUNT; i++)
        MSIM_TRY(add(r, "link", "link:", msim_link_text((enum msim_link)i)));
    for (int i = 0; i < MSIM_HOST_PART_COUNT; i++)
        MSIM_TRY(add(r, "part of the host", "host-part:",
                     msim_host_part_text((enum msim_host_part)i)));
    return add_operators(r);
}

/* ---- the ranking --------------------------------------------------------- */

double msim_scenario_exposed(const struct msim_scenarios *s,
                             const struct msim_scenario_row *row)
{
    return (s->base.period.predicted - row->period.predicted) /
           ((1 - LESS) * row->work_us);
}

/* Most is brought by the smallest ratio; what has no answer comes last. */
static int by_ratio(const void *a, const void *b)
{
    const struct msim_scenario_row *x = a, *y = b;

    if ((*x->reason != 0) != (*y->reason != 0))
        return *x->reason ? 1 : -1;
    if (*x->reason)
        return strcmp(x->name, y->name);
    if (x->ratio.predicted < y->ratio.predicted)
        return -1;
    return x->ratio.predicted > y->ratio.predicted ? 1
                                                   : strcmp(x->name, y->name);
}

/* Kinds of work that the job does not have change nothing to the last
 * picosecond; a list of them helps nobody. */
static void drop_without_effect(struct msim_scenarios *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        struct msim_scenario_row *row = &s->rows[i];

        if (!*row->reason && row->period.predicted < s->base.period.predicted)
            s->rows[kept++] = *row;
        else
            free(row->scales);
    }
    s->n = kept;
}

enum msim_status
msim_scenarios_rank(struct msim_scenarios *out,
                    const struct msim_predict_settings *settings,
                    const struct msim_inputs *in, const struct msim_target *to,
                    struct msim_error *err)
{
    struct msim_prediction_run run = {0};
    struct ranking r = {
        out, &run, calloc((size_t)in->job->n_ranks + 1, sizeof(msim_ps)), err};
    enum msim_status status;

    *out = (struct msim_scenarios){
        .base = {.name = "base", .settings = *settings}, .ranked = true};
    out->base.settings.groups = true;
    /* What is done to a program is done to all of its ranks. */
    out->base.settings.peers = MSIM_PEERS_FOLLOW;
    msim_arena_init(&out->arena);
    out->rows = calloc(MOST_ROWS, sizeof(*out->rows));
    status = out->rows && r.by_rank
                 ? msim_predict(&run, &out->base.settings, in, to, err)
                 : MSIM_ENOMEM;
    out->base.settings.totals_only = true;
    if (status == MSIM_OK)
        status = add_all(&r);
    msim_prediction_run_release(&run);
    free(r.by_rank);
    if (status == MSIM_OK)
        status = msim_scenarios_run(out, in, to, err);
    if (status != MSIM_OK)
        return status;
    drop_without_effect(out);
    qsort(out->rows, out->n, sizeof(*out->rows), by_ratio);
    return MSIM_OK;
}

/*
 * calibrate/collective/coll_points.c - measured collectives as points to fit.
 */
#include "calibrate/collective/coll_fit.h"

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/base/quantile.h"
#include "core/work/kernel_fact.h"
#include "models/law/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A log's factor is the median of its times over the lower quartile of all,
 * over sizes that this many logs have; so many sizes at least.
 */
#define LOGS_MIN  3
#define SIZES_MIN 20
/* What a doubling of the ranks adds. */
#define DOUBLING_US 2
/* Time of the host for a call that a framework launches by itself. */
#define HOST_US 30

/* ---- the typical time ---------------------------------------------------- */

/*
 * Inside a node the law makes no choice between algorithms: where a library
 * changes its own follows from the points, and a bend of the law at another
 * size would only disturb.
 */
static double kernel_us(const struct msim_data_sheet *s,
                        const struct msim_work *w)
{
    double p[MSIM_TRANSFER_PARAMS];

    for (int i = 0; i < MSIM_TRANSFER_PARAMS; i++)
        p[i] = MSIM_TRANSFER[i].start;
    if (w->u.coll.nodes > 1)
        return msim_transfer_choose(s, w, p).us;
    return p[MSIM_TRANSFER_T0] + DOUBLING_US * log2(fmax(w->u.coll.ranks, 2)) +
           msim_transfer_wire_us(s, w, p) / p[MSIM_TRANSFER_LINK];
}

/* Whether calls were launched one by one, not as a graph. */
static bool is_eager(const struct msim_work *w)
{
    return w->u.coll.algorithm && strstr(w->u.coll.algorithm, "eager");
}

double msim_coll_typical_us(const struct msim_data_sheet *s,
                            const struct msim_work *w)
{
    double us = kernel_us(s, w);

    return is_eager(w) ? msim_norm2(us, HOST_US, 4) : us;
}

/* ---- points -------------------------------------------------------------- */

void msim_coll_point_fill(struct msim_coll_point *p,
                          const struct msim_coll_gpu *gpu)
{
    const struct msim_work *w = &p->work;
    const char *link = w->u.coll.interconnect;
    uint64_t what[3] = {w->u.coll.collective, w->u.coll.ranks, w->u.coll.nodes};
    double us = kernel_us(&gpu->sheet, w), host = us / HOST_US;
    struct msim_work least = *w;

    least.u.coll.bytes = 1;
    p->wire_share = fmax(1 - kernel_us(&gpu->sheet, &least) / us, 0);

    p->custom = w->u.coll.algorithm != NULL;
    p->eager = is_eager(w);
    p->on_pcie = msim_transfer_on_pcie(&gpu->sheet, w);
    p->host_share = p->eager ? 1 / (1 + pow(host, 4)) : 0;
    p->own_link = !link || strcmp(link, gpu->sheet.interconnect) == 0;
    p->source = msim_hash_text(MSIM_HASH_START, w->source ? w->source : "");
    if (!p->own_link)
        p->source = msim_hash_text(p->source, link);
    /* All-reduces of stacks are held out together. */
    if (p->custom)
        what[0] = UINT64_MAX;
    p->ranks_key = msim_hash_bytes(msim_hash_text(MSIM_HASH_START, gpu->table),
                                   what, sizeof(what));
    p->ranks_key = msim_hash_bytes(p->ranks_key, &p->source, sizeof(p->source));
    p->size_key =
        msim_hash_bytes(p->ranks_key, &w->u.coll.bytes, sizeof(uint64_t));
}

/* The nearest quarter of an octave. */
static uint64_t lattice(uint64_t bytes)
{
    return (uint64_t)llround(exp2(round(log2(fmax((double)bytes, 1)) * 4) / 4));
}

static bool same_point(const struct msim_work *a, const struct msim_work *b)
{
    return a->u.coll.collective == b->u.coll.collective &&
           a->u.coll.ranks == b->u.coll.ranks &&
           a->u.coll.nodes == b->u.coll.nodes &&
           lattice(a->u.coll.bytes) == lattice(b->u.coll.bytes);
}

static enum msim_status add_point(struct msim_coll_points *p, uint32_t group,
                                  const struct msim_work *w)
{
    struct msim_coll_point *to;

    MSIM_TRY(msim_grow((void **)&p->points, &p->cap_points, p->n_points,
                       sizeof(*p->points)));
    to = &p->points[p->n_points++];
    *to = (struct msim_coll_point){
        .work = *w, .group = group, .gpu = p->groups[group].gpu};
    to->work.u.coll.bytes = lattice(w->u.coll.bytes);
    msim_coll_point_fill(to, &p->gpus[to->gpu]);
    return MSIM_OK;
}

/* Predictions are scored by `us`; the point is fitted to us / factor. */
static enum msim_status add_target(struct msim_coll_points *p, uint32_t group,
                                   const struct msim_sample *row, double us,
                                   double factor)
{
    const struct msim_data_sheet *sheet = &p->gpus[p->groups[group].gpu].sheet;
    struct msim_coll_point *last =
        p->n_points ? &p->points[p->n_points - 1] : NULL;

    if (!last || last->group != group || !same_point(&last->work, &row->work)) {
        MSIM_TRY(add_point(p, group, &row->work));
        last = &p->points[p->n_points - 1];
    }
    MSIM_TRY(msim_grow((void **)&p->targets, &p->cap_targets, p->n_targets,
                       sizeof(*p->targets)));
    p->targets[p->n_targets++] = (struct msim_coll_target){
        .row = row, .us = us, .factor = factor, .point = p->n_points - 1};
    last->n++;
    last->y +=
        (log(us / factor / msim_coll_typical_us(sheet, &row->work)) - last->y) /
        last->n;
    return MSIM_OK;
}

/* ---- between nodes ------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static struct msim_coll_log *log_of(const struct msim_coll_points *p,
                                    uint32_t group,
                                    const struct msim_sample *row)
{
    for (uint32_t i = 0; i < p->n_logs; i++)
        if (p->logs[i].group == group &&
            same_text(p->logs[i].version, row->work.version) &&
            same_text(p->logs[i].setting, row->work.u.coll.setting))
            return &p->logs[i];
    return NULL;
}

/* Rows of one size, fastest first. */
struct same_size {
    const struct msim_sample *const *rows;
    uint32_t n;
    double *us; /* room for n */
};

static uint32_t count_logs(const struct msim_coll_points *p, uint32_t group,
                           const struct same_size *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n; i++) {
        bool first = true;

        for (uint32_t j = 0; j < i; j++)
            first &=
                log_of(p, group, s->rows[j]) != log_of(p, group, s->rows[i]);
        n += first;
    }
    return n;
}

static double quartile_of(const struct msim_coll_points *p, uint32_t group,
                          const struct same_size *s, bool all, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct msim_coll_log *of = log_of(p, group, s->rows[i]);

        if (all || !of || !of->misconfigured)
            s->us[(*n)++] = s->rows[i]->us;
    }
    return *n ? msim_quantile_between(s->us, *n, 0.25) : 0;
}

/*
 * Predictions are scored by the lower quartile over all logs; the point is
 * fitted to that of well configured ones. Where only misconfigured logs have a
 * size, their usual factor is divided out.
 */
static enum msim_status add_size(struct msim_coll_points *p, uint32_t group,
                                 const struct same_size *s)
{
    uint32_t n, n_good;
    double all = quartile_of(p, group, s, true, &n);
    double good = quartile_of(p, group, s, false, &n_good);
    const struct msim_coll_log *of = log_of(p, group, s->rows[0]);
    double factor = n_good == 0 && of ? of->factor : 1;
    struct msim_coll_point *point;

    MSIM_TRY(add_target(p, group, s->rows[0], all, factor));
    if (n_good == 0 || n_good == n)
        return MSIM_OK;
    point = &p->points[p->n_points - 1];
    point->y += log(good / all) / point->n;
    return MSIM_OK;
}

/* A log's times over the lower quartile, where enough logs have the size. */
struct log_times {
    struct msim_coll_points *p;
    uint32_t log;
    double *ratio;
    uint32_t n;
};

static enum msim_status note_ratios(void *ctx, uint32_t group,
                                    const struct same_size *s)
{
    struct log_times *t = ctx;
    uint32_t n;
    double all = quartile_of(t->p, group, s, true, &n);

    if (t->p->logs[t->log].group != group ||
        count_logs(t->p, group, s) < LOGS_MIN)
        return MSIM_OK;
    for (uint32_t i = 0; i < s->n; i++)
        if (log_of(t->p, group, s->rows[i]) == &t->p->logs[t->log])
            t->ratio[t->n++] = s->rows[i]->us / all;
    return MSIM_OK;
}

static enum msim_status add_one_size(void *ctx, uint32_t group,
                                     const struct same_size *s)
{
    return add_size(ctx, group, s);
}

/* ---- all rows ------------------------------------------------------------ */

/* Works of one group: by collective, nodes, ranks, size, time. */
static int by_size(const void *pa, const void *pb)
{
    const struct msim_sample *a = *(const struct msim_sample *const *)pa;
    const struct msim_sample *b = *(const struct msim_sample *const *)pb;
    const struct msim_work *x = &a->work, *y = &b->work;

#define ORDER(field)                                                           \
    if (x->u.coll.field != y->u.coll.field)                                    \
    return x->u.coll.field < y->u.coll.field ? -1 : 1
    ORDER(collective);
    ORDER(nodes);
    ORDER(ranks);
    ORDER(bytes);
#undef ORDER
    return MSIM_ORDER(a->us, b->us);
}

static bool same_size(const struct msim_sample *a, const struct msim_sample *b)
{
    return a->work.u.coll.collective == b->work.u.coll.collective &&
           a->work.u.coll.nodes == b->work.u.coll.nodes &&
           a->work.u.coll.ranks == b->work.u.coll.ranks &&
           a->work.u.coll.bytes == b->work.u.coll.bytes;
}

/* The rows of a group in order; the caller's. NULL: no memory. */
static const struct msim_sample **ordered(const struct msim_coll_group *c)
{
    const struct msim_sample **rows = malloc(c->n_rows * sizeof(*rows));

    for (uint32_t i = 0; rows && i < c->n_rows; i++)
        rows[i] = c->first + i;
    if (rows)
        qsort(rows, c->n_rows, sizeof(*rows), by_size);
    return rows;
}

/* Call `visit` for the rows of each size of a group. */
static enum msim_status
each_size(const struct msim_coll_points *p, uint32_t group, void *ctx,
          enum msim_status (*visit)(void *, uint32_t, const struct same_size *))
{
    const struct msim_coll_group *c = &p->groups[group];
    const struct msim_sample **rows = ordered(c);
    double *us = malloc(c->n_rows * sizeof(*us));
    enum msim_status status = rows && us ? MSIM_OK : MSIM_ENOMEM;
    uint32_t end;

    for (uint32_t i = 0; status == MSIM_OK && i < c->n_rows; i = end) {
        for (end = i + 1; end < c->n_rows && same_size(rows[i], rows[end]);)
            end++;
        status = visit(ctx, group, &(struct same_size){rows + i, end - i, us});
    }
    free(rows);
    free(us);
    return status;
}

static enum msim_status add_each(void *ctx, uint32_t group,
                                 const struct same_size *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        MSIM_TRY(add_target(ctx, group, s->rows[i], s->rows[i]->us, 1));
    return MSIM_OK;
}

static enum msim_status find_logs(struct msim_coll_points *p, uint32_t group)
{
    const struct msim_coll_group *c = &p->groups[group];

    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct msim_work *w = &c->first[i].work;
        struct msim_coll_log *of = log_of(p, group, &c->first[i]);

        if (!w->u.coll.setting)
            continue;
        if (!of) {
            MSIM_TRY(msim_grow((void **)&p->logs, &p->cap_logs, p->n_logs,
                               sizeof(*p->logs)));
            of = &p->logs[p->n_logs++];
            *of = (struct msim_coll_log){.version = w->version,
                                         .setting = w->u.coll.setting,
                                         .group = group,
                                         .factor = 1};
        }
        of->rows++;
    }
    return MSIM_OK;
}

static enum msim_status compare_log(struct msim_coll_points *p, uint32_t i)
{
    struct msim_coll_log *l = &p->logs[i];
    struct log_times t = {.p = p, .log = i};
    enum msim_status status;

    t.ratio = malloc(l->rows * sizeof(*t.ratio));
    if (!t.ratio)
        return MSIM_ENOMEM;
    status = each_size(p, l->group, &t, note_ratios);
    if (status == MSIM_OK && t.n >= SIZES_MIN)
        l->factor = msim_median(t.ratio, t.n);
    free(t.ratio);
    return status;
}

static enum msim_status fill_group(struct msim_coll_points *p, uint32_t group)
{
    uint32_t before = p->n_logs;

    if (p->groups[group].first->work.u.coll.nodes <= 1)
        return each_size(p, group, p, add_each);
    MSIM_TRY(find_logs(p, group));
    for (uint32_t i = before; i < p->n_logs; i++)
        MSIM_TRY(compare_log(p, i));
    for (uint32_t i = before; i < p->n_logs; i++)
        p->logs[i].misconfigured =
            p->logs[i].factor > MSIM_FACT(NULL, NETWORK_MISCONFIGURED);
    return each_size(p, group, p, add_one_size);
}

/* ---- GPUs and groups ----------------------------------------------------- */

static enum msim_status add_gpus(struct msim_coll_points *p,
                                 const cJSON *sheets, const char *file,
                                 struct msim_error *err)
{
    const cJSON *sheet, *table;

    cJSON_ArrayForEach(sheet, sheets)
    {
        cJSON_ArrayForEach(table,
                           cJSON_GetObjectItemCaseSensitive(sheet, "tables"))
        {
            struct msim_coll_gpu *g;

            if (!cJSON_IsString(table))
                continue;
            MSIM_TRY(msim_grow((void **)&p->gpus, &p->cap_gpus, p->n_gpus,
                               sizeof(*p->gpus)));
            g = &p->gpus[p->n_gpus++];
            *g = (struct msim_coll_gpu){
                .table = table->valuestring,
                .generation = msim_json_get_text(sheet, "generation")};
            MSIM_TRY(msim_data_sheet_read(
                &g->sheet,
                cJSON_GetObjectItemCaseSensitive(sheet, "data_sheet"), NULL,
                file, err));
        }
    }
    return MSIM_OK;
}

static uint32_t find_gpu(const struct msim_coll_points *p, const char *table)
{
    uint32_t i = 0;

    while (i < p->n_gpus && strcmp(p->gpus[i].table, table) != 0)
        i++;
    return i;
}

static enum msim_status add_groups(struct msim_coll_points *p,
                                   const struct msim_samples *s)
{
    uint32_t end;

    for (uint32_t i = 0; i < s->n; i = end) {
        uint32_t gpu = find_gpu(p, s->rows[i].gpu);

        for (end = i + 1;
             end < s->n && msim_sample_same_fit(&s->rows[i], &s->rows[end]);)
            end++;
        if (s->rows[i].law != &MSIM_LAW_COLLECTIVE || gpu == p->n_gpus)
            continue;
        MSIM_TRY(msim_grow((void **)&p->groups, &p->cap_groups, p->n_groups,
                           sizeof(*p->groups)));
        p->groups[p->n_groups++] = (struct msim_coll_group){
            .first = &s->rows[i], .n_rows = end - i, .gpu = gpu};
    }
    return MSIM_OK;
}

enum msim_status msim_coll_points_make(struct msim_coll_points *p,
                                       const struct msim_samples *samples,
                                       const cJSON *sheets,
                                       const char *sheet_file,
                                       struct msim_error *err)
{
    memset(p, 0, sizeof(*p));
    MSIM_TRY(add_gpus(p, sheets, sheet_file, err));
    MSIM_TRY(add_groups(p, samples));
    for (uint32_t i = 0; i < p->n_groups; i++)
        MSIM_TRY(fill_group(p, i));
    return MSIM_OK;
}

void msim_coll_points_release(struct msim_coll_points *p)
{
    free(p->gpus);
    free(p->groups);
    free(p->logs);
    free(p->targets);
    free(p->points);
    memset(p, 0, sizeof(*p));
}

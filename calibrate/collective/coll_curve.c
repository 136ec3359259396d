/*
 * calibrate/collective/coll_curve.c - a fit of collectives as curves over
 * sizes.
 */
#include "calibrate/collective/coll_covariance.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A curve has a point every octave, and one at each measured size. */
#define STEP 2.0
/* Numbers of ranks inside a node, and of nodes, that get an inferred curve. */
static const uint32_t RANKS[] = {2, 4, 8};
#define NODES_MAX 1024

struct making {
    struct msim_coll_fit_result *f;
    struct msim_coll_block *b;
    struct msim_coll_misses *misses; /* one for each way to hold out */
    uint32_t group, capacity;
    const struct msim_coll_point *points; /* of the group */
    uint32_t n;
    double least, most; /* bytes */
};

static void find_points(struct making *m)
{
    const struct msim_coll_points *all = m->b->all;
    uint32_t i = 0;

    while (all->points[i].group != m->group)
        i++;
    m->points = &all->points[i];
    m->least = INFINITY;
    for (; i < all->n_points && all->points[i].group == m->group; i++) {
        double bytes = (double)all->points[i].work.u.coll.bytes;

        m->n++;
        m->least = fmin(m->least, bytes);
        m->most = fmax(m->most, bytes);
    }
}

/* ---- one curve ----------------------------------------------------------- */

struct shape {
    enum msim_collective what;
    uint32_t ranks, nodes;
};

static bool has_shape(const struct msim_work *w, const struct shape *s)
{
    return w->u.coll.collective == s->what && w->u.coll.ranks == s->ranks &&
           w->u.coll.nodes == s->nodes;
}

/* Sizes of a curve: the measured ones and all octaves between them; without
 * measured ones the octaves of the group's range. `bytes` has room for all. */
static uint32_t sizes(const struct making *m, const struct shape *s,
                      double *bytes, bool *measured)
{
    double least = INFINITY, most = 0;
    uint32_t n = 0, kept = 0;

    for (uint32_t i = 0; i < m->n; i++)
        if (has_shape(&m->points[i].work, s))
            bytes[n++] = (double)m->points[i].work.u.coll.bytes;
    *measured = n > 0;
    for (uint32_t i = 0; i < n; i++) {
        least = fmin(least, bytes[i]);
        most = fmax(most, bytes[i]);
    }
    if (n == 0) {
        least = m->least;
        most = m->most;
    }
    for (double at = exp2(ceil(log2(least))); at <= most; at *= STEP)
        bytes[n++] = at;
    msim_sort_values(bytes, n);
    for (uint32_t i = 0; i < n; i++)
        if (kept == 0 || bytes[i] > bytes[kept - 1])
            bytes[kept++] = bytes[i];
    return kept;
}

/* Point `i` of a curve, with the attributes of a measured one. */
static struct msim_coll_point point_at(const struct making *m,
                                       const struct msim_curve *c, uint32_t i)
{
    struct msim_coll_point p = m->points[0];

    p.work.u.coll.collective = c->collective;
    p.work.u.coll.ranks = c->ranks;
    p.work.u.coll.nodes = c->nodes;
    p.work.u.coll.bytes = (uint64_t)c->bytes[i];
    msim_coll_point_fill(&p, &m->b->all->gpus[p.gpu]);
    return p;
}

/* Two passes: at first `us` holds log(time / typical time) and `half_width` the
 * variance, because a deviation depends on both neighbours. */
static void fill_points(struct making *m, struct msim_curve *c)
{
    const struct msim_data_sheet *sheet =
        &m->b->all->gpus[m->points[0].gpu].sheet;
    struct msim_coll_misses *misses =
        &m->misses[c->measured ? MSIM_COLL_HOLD_OUT_SIZES
                               : MSIM_COLL_HOLD_OUT_RANKS];
    double before = 0;

    for (uint32_t i = 0; i < c->n; i++) {
        struct msim_coll_point p = point_at(m, c, i);

        c->us[i] = msim_coll_block_at(m->b, &p, &c->half_width[i]);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        struct msim_coll_point p = point_at(m, c, i);
        double here = c->us[i];
        double change = i > 0 && i + 1 < c->n ? c->us[i + 1] - before : 0;

        double log_sd = msim_coll_deviation(&m->b->constants->weights,
                                            c->half_width[i], change);

        c->half_width[i] =
            msim_coll_half_width(m->b, misses, &p, log_sd, false);
        c->us[i] = exp(here) * msim_coll_typical_us(sheet, &p.work);
        before = here;
    }
}

static enum msim_status add_curve(struct making *m, const struct shape *s)
{
    size_t most = 2 * (size_t)m->n + 64;
    struct msim_curves *to = &m->f->fit.curves;
    struct msim_curve c = {
        .collective = s->what, .ranks = s->ranks, .nodes = s->nodes};
    double *bytes = malloc(3 * most * sizeof(*bytes));

    if (!bytes)
        return MSIM_ENOMEM;
    c.bytes = bytes;
    c.us = bytes + most;
    c.half_width = bytes + 2 * most;
    c.n = sizes(m, s, bytes, &c.measured);
    if (c.n == 0 || msim_grow((void **)&to->list, &m->capacity, to->n,
                              sizeof(*to->list)) != MSIM_OK) {
        free(bytes);
        return c.n ? MSIM_ENOMEM : MSIM_OK;
    }
    fill_points(m, &c);
    to->list[to->n++] = c;
    return MSIM_OK;
}

/* ---- which curves -------------------------------------------------------- */

static bool has_curve(const struct making *m, const struct shape *s)
{
    const struct msim_curves *c = &m->f->fit.curves;

    for (uint32_t i = 0; i < c->n; i++)
        if (c->list[i].collective == s->what && c->list[i].ranks == s->ranks &&
            c->list[i].nodes == s->nodes)
            return true;
    return false;
}

static enum msim_status add_new(struct making *m, struct shape s)
{
    return has_curve(m, &s) ? MSIM_OK : add_curve(m, &s);
}

static bool measures(const struct making *m, enum msim_collective what)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->points[i].work.u.coll.collective == what)
            return true;
    return false;
}

/* Whether any point of the block is of this collective. */
static bool is_known(const struct making *m, enum msim_collective what)
{
    for (uint32_t i = 0; i < m->b->n; i++)
        if (m->b->all->points[m->b->members[i]].work.u.coll.collective == what)
            return true;
    return false;
}

/* Whether other numbers of ranks are inferred. Bridges join two GPUs only, and
 * a transfer is between two. Other collectives than the measured ones are
 * inferred for NCCL, which has them all, but not for a stack of its own. */
static bool infers(const struct making *m, enum msim_collective what)
{
    const struct msim_work *w = &m->points[0].work;
    const char *link = w->u.coll.interconnect;
    bool sends = w->u.coll.collective == MSIM_COLL_SEND;

    if (sends || what == MSIM_COLL_SEND || (link && strstr(link, "pairwise")))
        return false;
    return measures(m, what) || (!m->points[0].custom && is_known(m, what));
}

static enum msim_status infer_inside(struct making *m, enum msim_collective c)
{
    for (size_t i = 0; i < sizeof(RANKS) / sizeof(*RANKS); i++)
        MSIM_TRY(add_new(m, (struct shape){c, RANKS[i], 1}));
    return MSIM_OK;
}

/* Any number of nodes, with as many ranks on each as were measured. */
static enum msim_status infer_between(struct making *m, enum msim_collective c)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct msim_work *w = &m->points[i].work;
        uint32_t inside = w->u.coll.ranks / w->u.coll.nodes;

        if (w->u.coll.collective != c)
            continue;
        for (uint32_t nodes = 2; nodes <= NODES_MAX; nodes *= 4)
            MSIM_TRY(add_new(m, (struct shape){c, inside * nodes, nodes}));
    }
    return MSIM_OK;
}

static enum msim_status add_curves(struct making *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        const struct msim_work *w = &m->points[i].work;

        MSIM_TRY(add_new(m, (struct shape){w->u.coll.collective,
                                           w->u.coll.ranks, w->u.coll.nodes}));
    }
    for (int c = MSIM_COLL_ALL_REDUCE; c < MSIM_COLL_WAIT; c++) {
        if (!infers(m, (enum msim_collective)c))
            continue;
        MSIM_TRY(m->b->fabric == MSIM_COLL_NETWORK
                     ? infer_between(m, (enum msim_collective)c)
                     : infer_inside(m, (enum msim_collective)c));
    }
    return MSIM_OK;
}

/* ---- the group ----------------------------------------------------------- */

static void fill_range(struct making *m)
{
    struct msim_fit_result *fit = &m->f->fit;

    for (uint32_t f = 0; f < MSIM_LAW_COLLECTIVE.n_sizes; f++) {
        fit->range_low[f] = INFINITY;
        fit->range_high[f] = -INFINITY;
    }
    for (uint32_t i = 0; i < fit->curves.n; i++) {
        const struct msim_curve *c = &fit->curves.list[i];
        const double at[][2] = {
            {log(c->bytes[0]), log(c->bytes[c->n - 1])},
            {log(c->ranks), log(c->ranks)},
            {log(c->nodes), log(c->nodes)},
        };

        for (uint32_t f = 0; f < MSIM_LAW_COLLECTIVE.n_sizes; f++) {
            fit->range_low[f] = fmin(fit->range_low[f], at[f][0]);
            fit->range_high[f] = fmax(fit->range_high[f], at[f][1]);
        }
    }
}

/* Errors on the rows that the fit has seen. */
static enum msim_status fill_fitted(struct making *m)
{
    const struct msim_coll_points *all = m->b->all;
    struct msim_error_summary *s = &m->f->fit.fitted;
    double *errors = malloc((size_t)all->n_targets * sizeof(*errors));
    uint32_t n = 0, last = UINT32_MAX;
    double mean = 0, variance;

    if (!errors)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < all->n_targets; i++) {
        const struct msim_coll_target *t = &all->targets[i];
        const struct msim_coll_point *p = &all->points[t->point];

        if (p->group != m->group)
            continue;
        if (t->point != last)
            mean = msim_coll_block_at(m->b, p, &variance);
        last = t->point;
        errors[n++] = fabs(
            exp(mean) * t->factor *
                msim_coll_typical_us(&all->gpus[p->gpu].sheet, &t->row->work) /
                t->us -
            1);
        s->mean += errors[n - 1];
    }
    s->mean /= n;
    s->median = msim_median(errors, n);
    s->p90 = errors[(uint32_t)(0.9 * n)];
    s->worst = errors[n - 1];
    free(errors);
    return MSIM_OK;
}

/* Scores by held-out ranks or, where there is one number only, by sizes. Where
 * no curve answers, the mean width of these intervals does. */
static void fill_score(struct making *m)
{
    struct msim_fit_result *fit = &m->f->fit;
    const struct msim_coll_score *v = &m->f->scores[MSIM_COLL_HOLD_OUT_RANKS];

    if (v->rows == 0)
        v = &m->f->scores[MSIM_COLL_HOLD_OUT_SIZES];
    fit->held_out = v->error;
    fit->coverage = v->coverage;
    fit->width = v->width;
    fit->score = v->score;
    fit->groups = v->groups;
    fit->n_bins = 1;
    fit->bins[0].upto_us = INFINITY;
    fit->bins[0].high = log(fmax(v->width, 1)) / 2;
    fit->bins[0].low = -fit->bins[0].high;
}

enum msim_status msim_coll_curves_make(struct msim_coll_fit_result *f,
                                       struct msim_coll_block *b,
                                       struct msim_coll_misses *misses,
                                       uint32_t group)
{
    struct making m = {.f = f, .b = b, .misses = misses, .group = group};

    find_points(&m);
    MSIM_TRY(add_curves(&m));
    MSIM_TRY(msim_coll_variants_make(&f->fit.curves, b->all, group));
    fill_range(&m);
    fill_score(&m);
    return fill_fitted(&m);
}

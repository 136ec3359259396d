/*
 * calibrate/collective/coll_score.c - errors and intervals of collectives held
 * back.
 */
#include "calibrate/collective/coll_score.h"

#include "calibrate/collective/coll_variant.h"
#include "core/base/quantile.h"
#include "core/work/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.9

static int by_miss(const void *pa, const void *pb)
{
    const struct msim_coll_miss *a = pa, *b = pb;

    if (a->size < b->size || a->size > b->size)
        return a->size < b->size ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

void msim_coll_misses_release(struct msim_coll_misses *m)
{
    free(m->list);
    free(m->weights);
    m->list = NULL;
    m->weights = NULL;
    m->n = 0;
}

static const struct msim_coll_point *point_of(const struct msim_coll_block *b,
                                              uint32_t target)
{
    return &b->all->points[b->all->targets[target].point];
}

/* log(measured / typical time) of a target, as points have it. */
static double measured(const struct msim_coll_block *b, uint32_t target)
{
    const struct msim_coll_target *t = &b->all->targets[target];
    const struct msim_data_sheet *s =
        &b->all->gpus[point_of(b, target)->gpu].sheet;

    return log(t->us / t->factor / msim_coll_typical_us(s, &t->row->work));
}

/* Whether a target can be judged: a transfer between two has no other number
 * of ranks, and a cluster known by one has no other either. */
static bool is_judged(const struct msim_coll_block *b, uint32_t target,
                      enum msim_coll_held_back what, uint32_t groups)
{
    const struct msim_coll_point *p = point_of(b, target);
    enum msim_collective c = p->work.u.coll.collective;

    if (!msim_coll_block_owns(b, p))
        return false;
    return what != MSIM_COLL_RANKS || groups > 1 ||
           (b->fabric != MSIM_COLL_NETWORK && c != MSIM_COLL_SEND);
}

/* Collectives and numbers of ranks that a cell has. */
static uint32_t count_groups(const struct msim_coll_points *all, uint32_t fit)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n_points; i++)
        if (all->points[i].fit == fit)
            n += i == 0 || all->points[i - 1].fit != fit ||
                 all->points[i].ranks_group != all->points[i - 1].ranks_group;
    return n;
}

/* ---- widths -------------------------------------------------------------- */

#define CHANGE_SHARE 0.25

double msim_coll_deviation(double variance, double change)
{
    return sqrt(variance + CHANGE_SHARE * CHANGE_SHARE * change * change);
}

/* Rows count the less, the further away their size is, over so many octaves,
 * and their deviation, as a logarithm; the own GPU's several times, the own
 * cell's of these again, the same collective's, and the same number of
 * ranks'. */
#define OCTAVES         3.0
#define DEVIATIONS      0.35
#define OWN_GPU         4.0
#define OWN_FIT         6.0
#define SAME_COLLECTIVE 3.0
#define SAME_RANKS      4.0
/* A normal variable counts as much as this many cells: few rows would say
 * little of how far off the next may be. */
#define PRIOR 1.0
/* Sizes next to one held back lie within so many octaves: their misses show
 * how far off it is. */
#define NEXT 1.1

static double octaves_between(const struct msim_coll_point *a,
                              const struct msim_coll_point *b)
{
    return fabs(
        log2((double)a->work.u.coll.bytes / (double)b->work.u.coll.bytes));
}

/* Was point `a` held back together with `b`, or does it show what `b` is? */
static bool knows(const struct msim_coll_point *a,
                  const struct msim_coll_point *b,
                  enum msim_coll_held_back what)
{
    return a->ranks_group == b->ranks_group &&
           (what == MSIM_COLL_RANKS || octaves_between(a, b) < NEXT);
}

static double weight_for(const struct msim_coll_miss *m,
                         const struct msim_coll_point *of,
                         const struct msim_coll_point *p, double log_deviation)
{
    double away = octaves_between(of, p) / OCTAVES +
                  fabs(m->deviation - log_deviation) / DEVIATIONS;
    double w = m->weight * exp(-away);

    w *= of->gpu == p->gpu ? OWN_GPU : 1;
    w *= of->fit == p->fit ? OWN_FIT : 1;
    w *= of->ranks_group == p->ranks_group ? SAME_RANKS : 1;
    return of->work.u.coll.collective == p->work.u.coll.collective
               ? w * SAME_COLLECTIVE
               : w;
}

/* Fills the weights; their sum. */
static double weigh(const struct msim_coll_block *b, struct msim_coll_misses *m,
                    const struct msim_coll_point *p, double deviation,
                    bool held_out)
{
    double all = 0;

    for (uint32_t i = 0; i < m->n; i++) {
        const struct msim_coll_point *of = point_of(b, m->list[i].target);

        m->weights[i] = held_out && knows(of, p, m->what)
                            ? 0
                            : weight_for(&m->list[i], of, p, log(deviation));
        all += m->weights[i];
    }
    return all;
}

double msim_coll_half_width(const struct msim_coll_block *b,
                            struct msim_coll_misses *m,
                            const struct msim_coll_point *p, double deviation,
                            bool held_out)
{
    double all, below = 0;

    if (m->what == MSIM_COLL_GPU || m->what == MSIM_COLL_CLUSTER)
        return MSIM_Z90 * deviation;
    all = weigh(b, m, p, deviation, held_out) + PRIOR;
    for (uint32_t i = 0; i < m->n; i++) {
        double size = m->list[i].size;

        below += m->weights[i];
        if (below + PRIOR * erf(size / sqrt(2)) >= INSIDE * all)
            return size * deviation;
    }
    return MSIM_Z90 * deviation;
}

/* ---- verdicts ------------------------------------------------------------ */

static void add_row(struct msim_coll_score *v, double *errors, double log_miss,
                    double half)
{
    double e = exp(-log_miss); /* predicted / measured */
    double low = e * exp(-half), high = e * exp(half);

    errors[v->rows++] = fabs(e - 1);
    v->error.mean += fabs(e - 1);
    v->coverage += fabs(log_miss) <= half;
    v->width += exp(2 * half);
    v->score += high - low + 20 * (fmax(low - 1, 0) + fmax(1 - high, 0));
}

static void finish(struct msim_coll_score *v, double *errors)
{
    uint32_t n = v->rows;

    if (n == 0)
        return;
    v->score /= v->error.mean > 0 ? v->error.mean : 1;
    v->error.mean /= n;
    v->error.median = msim_median(errors, n);
    v->error.p90 = errors[(uint32_t)(0.9 * n)];
    v->error.worst = errors[n - 1];
    v->coverage /= n;
    v->width /= n;
}

struct judging {
    struct msim_coll_fits *f;
    const struct msim_coll_block *b;
    const struct msim_coll_held *held;
    struct msim_coll_misses *misses;
    double *errors;
    double *variant; /* by target, what its version and dtype add */
};

static bool same_curve(const struct msim_coll_point *a,
                       const struct msim_coll_point *b)
{
    return a->fit == b->fit &&
           a->work.u.coll.collective == b->work.u.coll.collective &&
           a->work.u.coll.ranks == b->work.u.coll.ranks &&
           a->work.u.coll.nodes == b->work.u.coll.nodes;
}

/* The value that is known of point `i` while `at` is held back. */
static double known(const struct judging *j, uint32_t i)
{
    return j->misses->what == MSIM_COLL_SIZES ? j->b->all->points[i].y
                                              : j->held[i].mean;
}

/* How much the curve around a point changes, without knowing the point. */
static double change_at(const struct judging *j, uint32_t at)
{
    const struct msim_coll_points *all = j->b->all;
    const struct msim_coll_point *p = all->points;
    bool below = at > 0 && same_curve(&p[at - 1], &p[at]);
    bool above = at + 1 < all->n_points && same_curve(&p[at + 1], &p[at]);

    return below && above ? known(j, at + 1) - known(j, at - 1) : 0;
}

static double deviation(const struct judging *j, uint32_t target)
{
    uint32_t at = j->b->all->targets[target].point;

    return msim_coll_deviation(j->held[at].variance, change_at(j, at));
}

static double log_miss(const struct judging *j, uint32_t target)
{
    return measured(j->b, target) -
           j->held[j->b->all->targets[target].point].mean - j->variant[target];
}

/* Targets of one cell lie together. */
static void collect(struct judging *j)
{
    const struct msim_coll_points *all = j->b->all;
    struct msim_coll_misses *m = j->misses;
    uint32_t end;

    for (uint32_t i = 0; i < all->n_targets; i = end) {
        uint32_t fit = point_of(j->b, i)->fit;
        uint32_t groups = count_groups(all, fit);

        for (end = i + 1;
             end < all->n_targets && point_of(j->b, end)->fit == fit;)
            end++;
        for (uint32_t t = i; t < end; t++) {
            if (!is_judged(j->b, t, m->what, groups))
                continue;
            j->variant[t] = msim_coll_variant_log(all, t, m->what);
            m->list[m->n++] = (struct msim_coll_miss){
                .size = fabs(log_miss(j, t)) / deviation(j, t),
                .deviation = log(deviation(j, t)),
                .weight = 1.0 / (end - i),
                .target = t,
            };
        }
    }
    qsort(m->list, m->n, sizeof(*m->list), by_miss);
}

static void judge_row(struct judging *j, uint32_t target,
                      struct msim_coll_score *v, double half)
{
    const struct msim_coll_target *t = &j->b->all->targets[target];
    double us = t->us / t->factor;
    double miss = log_miss(j, target);

    add_row(v, j->errors, miss, half);
    j->f->held[j->misses->what][target] =
        msim_held_out_row_of(us, us * exp(-miss), -half, half,
                             point_of(j->b, target)->work.u.coll.ranks);
}

/* The rows of a cell, those of one point together. */
static void judge_fit(struct judging *j, uint32_t fit)
{
    const struct msim_coll_points *all = j->b->all;
    struct msim_coll_score *v = &j->f->fits[fit].verdicts[j->misses->what];
    uint32_t groups = count_groups(all, fit), last = UINT32_MAX;
    double half = 0;

    *v = (struct msim_coll_score){.groups = groups};
    for (uint32_t t = 0; t < all->n_targets; t++) {
        const struct msim_coll_point *p = point_of(j->b, t);

        if (p->fit != fit || !is_judged(j->b, t, j->misses->what, groups))
            continue;
        if (all->targets[t].point != last)
            half =
                msim_coll_half_width(j->b, j->misses, p, deviation(j, t), true);
        last = all->targets[t].point;
        judge_row(j, t, v, half);
    }
    finish(v, j->errors);
}

enum msim_status msim_coll_score_all(struct msim_coll_fits *f,
                                     const struct msim_coll_block *b,
                                     enum msim_coll_held_back what,
                                     const struct msim_coll_held *held,
                                     struct msim_coll_misses *misses)
{
    size_t n = (size_t)b->all->n_targets + 1;
    double *room = malloc(2 * n * sizeof(*room));
    struct judging j = {.f = f,
                        .b = b,
                        .held = held,
                        .misses = misses,
                        .errors = room,
                        .variant = room ? room + n : NULL};

    *misses = (struct msim_coll_misses){.what = what};
    misses->list = malloc(n * sizeof(*misses->list));
    misses->weights = malloc(n * sizeof(*misses->weights));
    if (!room || !misses->list || !misses->weights) {
        free(room);
        return MSIM_ENOMEM;
    }
    collect(&j);
    for (uint32_t i = 0; i < b->all->n_points; i++)
        if ((i == 0 || b->all->points[i].fit != b->all->points[i - 1].fit) &&
            msim_coll_block_owns(b, &b->all->points[i]))
            judge_fit(&j, b->all->points[i].fit);
    free(room);
    return MSIM_OK;
}

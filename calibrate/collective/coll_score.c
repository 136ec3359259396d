/*
 * calibrate/collective/coll_score.c - how good predictions and intervals of
 * held-out collectives are.
 */
#include "calibrate/collective/coll_covariance.h"

#include "core/base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct msim_coll_point *point_of(const struct msim_coll_block *b,
                                              uint32_t target)
{
    return &b->all->points[b->all->targets[target].point];
}

/* log(measured / typical time) of a target. */
static double measured(const struct msim_coll_block *b, uint32_t target)
{
    const struct msim_coll_target *t = &b->all->targets[target];
    const struct msim_data_sheet *s =
        &b->all->gpus[point_of(b, target)->gpu].sheet;

    return log(t->us / t->factor / msim_coll_typical_us(s, &t->row->work));
}

/* Whether a target can be scored. With its number of ranks held out, a transfer
 * between two has no other number to learn from, and neither has a cluster that
 * was measured at one number only. */
static bool is_evaluated(const struct msim_coll_block *b, uint32_t target,
                         enum msim_coll_holdout what, uint32_t holdouts)
{
    const struct msim_coll_point *p = point_of(b, target);
    enum msim_collective c = p->work.u.coll.collective;

    if (!msim_coll_block_owns(b, p))
        return false;
    return what != MSIM_COLL_HOLD_OUT_RANKS || holdouts > 1 ||
           (b->fabric != MSIM_COLL_NETWORK && c != MSIM_COLL_SEND);
}

/* Collectives and numbers of ranks that a group has. */
static uint32_t count_holdouts(const struct msim_coll_points *all,
                               uint32_t group)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n_points; i++)
        if (all->points[i].group == group)
            n += i == 0 || all->points[i - 1].group != group ||
                 all->points[i].ranks_key != all->points[i - 1].ranks_key;
    return n;
}

/* ---- scores -------------------------------------------------------------- */

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

struct evaluation {
    struct msim_coll_fits *f;
    const struct msim_coll_block *b;
    const struct msim_coll_prediction *held;
    struct msim_coll_misses *misses;
    double *errors;
    double *variant; /* by target, what its version and dtype add */
};

static bool same_curve(const struct msim_coll_point *a,
                       const struct msim_coll_point *b)
{
    return a->group == b->group &&
           a->work.u.coll.collective == b->work.u.coll.collective &&
           a->work.u.coll.ranks == b->work.u.coll.ranks &&
           a->work.u.coll.nodes == b->work.u.coll.nodes;
}

/* What is known of point `i` while a point of its curve is held out: with a
 * size held out all other sizes, else no more than their predictions. */
static double known(const struct evaluation *e, uint32_t i)
{
    return e->misses->what == MSIM_COLL_HOLD_OUT_SIZES ? e->b->all->points[i].y
                                                       : e->held[i].mean;
}

/* How much the curve changes around a point, by its neighbours alone. */
static double change_at(const struct evaluation *e, uint32_t at)
{
    const struct msim_coll_points *all = e->b->all;
    const struct msim_coll_point *p = all->points;
    bool below = at > 0 && same_curve(&p[at - 1], &p[at]);
    bool above = at + 1 < all->n_points && same_curve(&p[at + 1], &p[at]);

    return below && above ? known(e, at + 1) - known(e, at - 1) : 0;
}

static double log_sd(const struct evaluation *e, uint32_t target)
{
    uint32_t at = e->b->all->targets[target].point;

    return msim_coll_deviation(&e->b->constants->weights, e->held[at].variance,
                               change_at(e, at));
}

static double log_miss(const struct evaluation *e, uint32_t target)
{
    return measured(e->b, target) -
           e->held[e->b->all->targets[target].point].mean - e->variant[target];
}

/* The misses of all targets. Targets of one group lie together. */
static void collect(struct evaluation *e)
{
    const struct msim_coll_points *all = e->b->all;
    struct msim_coll_misses *m = e->misses;
    uint32_t end;

    for (uint32_t i = 0; i < all->n_targets; i = end) {
        uint32_t group = point_of(e->b, i)->group;
        uint32_t holdouts = count_holdouts(all, group);

        for (end = i + 1;
             end < all->n_targets && point_of(e->b, end)->group == group;)
            end++;
        for (uint32_t t = i; t < end; t++) {
            if (!is_evaluated(e->b, t, m->what, holdouts))
                continue;
            e->variant[t] = msim_coll_variant_log(all, t, m->what);
            m->list[m->n++] = (struct msim_coll_miss){
                .size = fabs(log_miss(e, t)) / log_sd(e, t),
                .log_log_sd = log(log_sd(e, t)),
                .weight = 1.0 / (end - i),
                .target = t,
            };
        }
    }
    msim_coll_misses_sort(m);
}

static void evaluate_row(struct evaluation *e, uint32_t target,
                         struct msim_coll_score *v, double half)
{
    const struct msim_coll_target *t = &e->b->all->targets[target];
    double us = t->us / t->factor;
    double miss = log_miss(e, target);

    add_row(v, e->errors, miss, half);
    e->f->held_out[e->misses->what][target] =
        msim_held_out_row_of(us, us * exp(-miss), -half, half,
                             point_of(e->b, target)->work.u.coll.ranks);
}

/* Score the rows of a group. Those of one point lie together. */
static void evaluate_group(struct evaluation *e, uint32_t group)
{
    const struct msim_coll_points *all = e->b->all;
    struct msim_coll_score *v = &e->f->fits[group].scores[e->misses->what];
    uint32_t holdouts = count_holdouts(all, group), last = UINT32_MAX;
    double half = 0;

    *v = (struct msim_coll_score){.groups = holdouts};
    for (uint32_t t = 0; t < all->n_targets; t++) {
        const struct msim_coll_point *p = point_of(e->b, t);

        if (p->group != group ||
            !is_evaluated(e->b, t, e->misses->what, holdouts))
            continue;
        if (all->targets[t].point != last)
            half = msim_coll_half_width(e->b, e->misses, p, log_sd(e, t), true);
        last = all->targets[t].point;
        evaluate_row(e, t, v, half);
    }
    finish(v, e->errors);
}

enum msim_status msim_coll_evaluate(struct msim_coll_fits *f,
                                    const struct msim_coll_block *b,
                                    enum msim_coll_holdout what,
                                    const struct msim_coll_prediction *held,
                                    struct msim_coll_misses *misses)
{
    size_t n = (size_t)b->all->n_targets + 1;
    double *room = malloc(2 * n * sizeof(*room));
    struct evaluation e = {.f = f,
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
    collect(&e);
    for (uint32_t i = 0; i < b->all->n_points; i++)
        if ((i == 0 ||
             b->all->points[i].group != b->all->points[i - 1].group) &&
            msim_coll_block_owns(b, &b->all->points[i]))
            evaluate_group(&e, b->all->points[i].group);
    free(room);
    return MSIM_OK;
}

/*
 * calibrate/collective/coll_interval.c - 90 % intervals of collectives from the
 * misses of held-out rows.
 */
#include "calibrate/collective/coll_covariance.h"

#include "core/base/containers.h"
#include "core/work/estimate.h"

#include <math.h>
#include <stdlib.h>

#define INSIDE 0.9

static int by_size(const void *pa, const void *pb)
{
    const struct msim_coll_miss *a = pa, *b = pb;

    if (a->size < b->size || a->size > b->size)
        return MSIM_ORDER(a->size, b->size);
    return MSIM_ORDER(a->target, b->target);
}

void msim_coll_misses_sort(struct msim_coll_misses *m)
{
    qsort(m->list, m->n, sizeof(*m->list), by_size);
}

void msim_coll_misses_release(struct msim_coll_misses *m)
{
    free(m->list);
    free(m->weights);
    m->list = NULL;
    m->weights = NULL;
    m->n = 0;
}

double msim_coll_deviation(const struct msim_coll_weights *weights,
                           double variance, double change)
{
    double share = weights->change_share;

    return sqrt(variance + share * share * change * change);
}

static double octaves_between(const struct msim_coll_point *a,
                              const struct msim_coll_point *b)
{
    return fabs(
        log2((double)a->work.u.coll.bytes / (double)b->work.u.coll.bytes));
}

/* Whether point `a` was held out together with `b`, or is its neighbour, whose
 * miss would tell that of `b`. */
static bool is_held_out(const struct msim_coll_point *a,
                        const struct msim_coll_point *b,
                        enum msim_coll_holdout what, double next)
{
    return a->ranks_key == b->ranks_key &&
           (what == MSIM_COLL_HOLD_OUT_RANKS || octaves_between(a, b) < next);
}

static double weight_for(const struct msim_coll_weights *w,
                         const struct msim_coll_miss *m,
                         const struct msim_coll_point *of,
                         const struct msim_coll_point *p, double log_log_sd)
{
    double away = octaves_between(of, p) / w->octaves +
                  fabs(m->log_log_sd - log_log_sd) / w->log_sd_ratio;
    double weight = m->weight * exp(-away);

    weight *= of->gpu == p->gpu ? w->own_gpu : 1;
    weight *= of->group == p->group ? w->own_group : 1;
    weight *= of->ranks_key == p->ranks_key ? w->same_ranks : 1;
    return of->work.u.coll.collective == p->work.u.coll.collective
               ? weight * w->same_collective
               : weight;
}

/* Fills the weights of all misses for point `p`; their sum. */
static double weigh(const struct msim_coll_block *b, struct msim_coll_misses *m,
                    const struct msim_coll_point *p, double log_sd,
                    bool held_out)
{
    const struct msim_coll_weights *w = &b->constants->weights;
    const struct msim_coll_points *all = b->all;
    double sum = 0;

    for (uint32_t i = 0; i < m->n; i++) {
        const struct msim_coll_point *of =
            &all->points[all->targets[m->list[i].target].point];

        m->weights[i] = held_out && is_held_out(of, p, m->what, w->next)
                            ? 0
                            : weight_for(w, &m->list[i], of, p, log(log_sd));
        sum += m->weights[i];
    }
    return sum;
}

/* A normal distribution counts as `prior` groups: few rows alone would not show
 * how far off the next one may be. */
double msim_coll_half_width(const struct msim_coll_block *b,
                            struct msim_coll_misses *m,
                            const struct msim_coll_point *p, double log_sd,
                            bool held_out)
{
    double prior = b->constants->weights.prior, all, below = 0;

    if (m->what == MSIM_COLL_HOLD_OUT_GPU ||
        m->what == MSIM_COLL_HOLD_OUT_CLUSTER)
        return MSIM_Z90 * log_sd;
    all = weigh(b, m, p, log_sd, held_out) + prior;
    for (uint32_t i = 0; i < m->n; i++) {
        double size = m->list[i].size;

        below += m->weights[i];
        if (below + prior * erf(size / sqrt(2)) >= INSIDE * all)
            return size * log_sd;
    }
    return MSIM_Z90 * log_sd;
}

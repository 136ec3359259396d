/*
 * calibrate/collective/coll_variant.c - factors of library versions and dtypes.
 */
#include "calibrate/collective/coll_covariance.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The mean is shrunk by as many rows without a difference. */
#define SHRUNK_BY 2

struct sum {
    double residuals;
    uint32_t n;
};

static bool same_variant(const struct msim_work *a, const struct msim_work *b)
{
    return a->u.coll.collective == b->u.coll.collective &&
           a->dtype == b->dtype &&
           strcmp(a->version ? a->version : "", b->version ? b->version : "") ==
               0;
}

static bool is_held_out(const struct msim_coll_point *a,
                        const struct msim_coll_point *b,
                        enum msim_coll_holdout held_out)
{
    if (held_out == MSIM_COLL_HOLD_OUT_GPU) /* a group is of one */
        return true;
    if (held_out == MSIM_COLL_HOLD_OUT_RANKS)
        return a->ranks_key == b->ranks_key;
    return held_out == MSIM_COLL_HOLD_OUT_SIZES && a->size_key == b->size_key;
}

static double residual(const struct msim_coll_points *p, uint32_t target)
{
    const struct msim_coll_target *t = &p->targets[target];
    const struct msim_coll_point *at = &p->points[t->point];

    return log(t->us /
               msim_coll_typical_us(&p->gpus[at->gpu].sheet, &t->row->work)) -
           at->y;
}

/* The first target of the group of `target`; they lie together. */
static uint32_t first_of_group(const struct msim_coll_points *p,
                               uint32_t target)
{
    uint32_t group = p->points[p->targets[target].point].group;

    while (target > 0 && p->points[p->targets[target - 1].point].group == group)
        target--;
    return target;
}

/* Residuals of the variant of `target` at sizes of `bin`. */
static struct sum add_up(const struct msim_coll_points *p, uint32_t target,
                         uint32_t bin, enum msim_coll_holdout held_out)
{
    const struct msim_coll_target *t = &p->targets[target];
    const struct msim_coll_point *at = &p->points[t->point];
    struct sum sum = {0};

    for (uint32_t i = first_of_group(p, target);
         i < p->n_targets && p->points[p->targets[i].point].group == at->group;
         i++) {
        const struct msim_work *w = &p->targets[i].row->work;

        if (msim_variant_bin(w->u.coll.bytes) != bin ||
            !same_variant(w, &t->row->work) ||
            is_held_out(&p->points[p->targets[i].point], at, held_out))
            continue;
        sum.residuals += residual(p, i);
        sum.n++;
    }
    return sum;
}

static double mean(struct sum s)
{
    return s.residuals / (s.n + SHRUNK_BY);
}

double msim_coll_variant_log(const struct msim_coll_points *p, uint32_t target,
                             enum msim_coll_holdout held_out)
{
    const struct msim_work *w = &p->targets[target].row->work;

    if (w->u.coll.nodes > 1 || !w->version)
        return 0;
    return mean(add_up(p, target, msim_variant_bin(w->u.coll.bytes), held_out));
}

static bool is_new(const struct msim_curves *c, const struct msim_work *w)
{
    for (uint32_t i = 0; i < c->n_variants; i++)
        if (c->variants[i].collective == w->u.coll.collective &&
            c->variants[i].dtype == w->dtype &&
            strcmp(c->variants[i].version, w->version) == 0)
            return false;
    return true;
}

enum msim_status msim_coll_variants_make(struct msim_curves *to,
                                         const struct msim_coll_points *p,
                                         uint32_t group)
{
    uint32_t capacity = 0;

    for (uint32_t t = 0; t < p->n_targets; t++) {
        const struct msim_work *w = &p->targets[t].row->work;
        struct msim_curve_variant *v;

        if (p->points[p->targets[t].point].group != group || !w->version ||
            w->u.coll.nodes > 1 || !is_new(to, w))
            continue;
        MSIM_TRY(msim_grow((void **)&to->variants, &capacity, to->n_variants,
                           sizeof(*to->variants)));
        v = &to->variants[to->n_variants++];
        *v = (struct msim_curve_variant){.dtype = w->dtype,
                                         .collective = w->u.coll.collective};
        snprintf(v->version, sizeof(v->version), "%s", w->version);
        for (uint32_t bin = 0; bin < MSIM_VARIANT_BINS; bin++)
            v->log_factor[bin] = mean(add_up(p, t, bin, MSIM_COLL_HOLDOUTS));
    }
    return MSIM_OK;
}

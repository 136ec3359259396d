/*
 * calibrate/collective/coll_covariance.c - the covariance of two points of
 * collectives.
 */
#include "calibrate/collective/coll_covariance.h"

#include <math.h>
#include <string.h>

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p)
{
    if (p->work.u.coll.nodes > 1)
        return MSIM_COLL_NETWORK;
    return p->on_pcie ? MSIM_COLL_PCIE : MSIM_COLL_SWITCHED;
}

/* In what two points differ. */
struct difference {
    double size, ranks, nodes; /* octaves */
    double trend;              /* product of the octaves of ranks above 4 */
    bool gpu, generation, source, stack, mode, collective;
};

/* Ranks on each node. */
static double ranks_inside(const struct msim_coll_point *p)
{
    return (double)p->work.u.coll.ranks / p->work.u.coll.nodes;
}

static struct difference difference(const struct msim_coll_points *all,
                                    const struct msim_coll_point *a,
                                    const struct msim_coll_point *b)
{
    double ra = log2(ranks_inside(a)), rb = log2(ranks_inside(b));

    return (struct difference){
        .size = fabs(
            log2((double)a->work.u.coll.bytes / (double)b->work.u.coll.bytes)),
        .ranks = fabs(ra - rb),
        .nodes =
            fabs(log2((double)a->work.u.coll.nodes / b->work.u.coll.nodes)),
        .trend = (ra - 2) * (rb - 2),
        .gpu = a->gpu != b->gpu,
        .generation = strcmp(all->gpus[a->gpu].generation,
                             all->gpus[b->gpu].generation) != 0,
        .source = a->source != b->source,
        .stack = strcmp(all->groups[a->group].first->framework,
                        all->groups[b->group].first->framework) != 0,
        .mode = a->eager != b->eager,
        .collective = a->work.u.coll.collective != b->work.u.coll.collective,
    };
}

/* A point's share (0..1) in a regime; that of BETWEEN is 1 where start and
 * transfer take equally long. */
static double regime_share(const struct msim_coll_point *p,
                           enum msim_coll_regime r)
{
    double device = 1 - p->host_share;

    switch (r) {
    case MSIM_COLL_START:
        return device * (1 - p->wire_share);
    case MSIM_COLL_WIRE:
        return device * p->wire_share;
    case MSIM_COLL_BETWEEN:
        return device * 4 * p->wire_share * (1 - p->wire_share);
    default:
        return p->host_share;
    }
}

/* Matern 3/2 or exponential: Rasmussen and Williams, 2006, section 4.2.1. */
static double size_correlation(const struct msim_coll_component *c,
                               double octaves)
{
    double z = sqrt(3) * octaves / c->size;

    return c->shape == MSIM_COLL_ROUGH ? exp(-octaves / c->size)
                                       : (1 + z) * exp(-z);
}

static double component_covariance(const struct msim_coll_component *c,
                                   const struct difference *d)
{
    double v = c->log_sd * c->log_sd * size_correlation(c, d->size);

    v *= d->gpu ? c->gpu : 1;
    v *= d->generation ? c->generation : 1;
    v *= d->source ? c->source : 1;
    v *= d->stack ? c->stack : 1;
    v *= d->mode ? c->mode : 1;
    v *= d->collective ? c->collective : 1;
    if (c->shape == MSIM_COLL_TREND)
        return v * d->trend;
    return v * exp(-d->ranks / c->ranks - d->nodes / c->nodes);
}

double msim_coll_covariance(const struct msim_coll_process *process,
                            const struct msim_coll_points *all,
                            const struct msim_coll_point *a,
                            const struct msim_coll_point *b)
{
    struct difference d = difference(all, a, b);
    double sum = 0;

    for (uint32_t i = 0; i < process->n_components; i++) {
        const struct msim_coll_component *c = &process->components[i];
        double shares = regime_share(a, c->regime) * regime_share(b, c->regime);

        if (shares > 0)
            sum += shares * component_covariance(c, &d);
    }
    return sum;
}

double msim_coll_noise(const struct msim_coll_process *process)
{
    return process->noise * process->noise;
}

/*
 * calibrate/coll_alike.c - covariances of points of collectives.
 */
#include "calibrate/coll_alike.h"

#include <math.h>
#include <string.h>

enum shape {
    SMOOTH, /* Matern 3/2 over sizes */
    ROUGH,  /* exponential */
    TREND,  /* smooth over sizes, linear in the octaves of ranks from 4 on */
    HOST    /* smooth, where the host decides */
};

struct component {
    enum shape shape;
    double deviation;
    double size, ranks, nodes; /* octaves over which it changes */
    /* Factors for what differs. */
    double gpu, generation, source, stack, mode, collective;
};

#define COMPONENTS_MOST 5

static const struct {
    double noise; /* a standard deviation of the logarithm */
    struct component components[COMPONENTS_MOST];
} FABRICS[MSIM_COLL_FABRICS] = {
    [MSIM_COLL_SWITCHED] =
        {0.031,
         {{SMOOTH, 0.58, 15.6, 3.5, 4, 0.98, 0.65, 0.45, 0.68, 0.90, 0.71},
          {ROUGH, 0.061, 1.66, 0.5, 4, 0.32, 0.001, 0.9, 0.22, 0.15, 0.18},
          {TREND, 0.081, 4.4, 3, 4, 0.90, 0.78, 0.35, 0.45, 0.76, 0.66},
          {HOST, 0.40, 8, 55, 4, 0.49, 0.5, 0.8, 0.67, 1, 1},
          {SMOOTH, 0.15, 3.6, 0.53, 4, 0.001, 0.002, 0.5, 0.87, 0.95, 0.99}}},
    [MSIM_COLL_PCIE] =
        {0.041,
         {{SMOOTH, 0.37, 10.5, 1.6, 4, 0.99, 0.65, 0.64, 0.70, 0.91, 0.82},
          {ROUGH, 0.084, 2.4, 0.22, 4, 0.32, 0.08, 0.9, 0.32, 0.27, 0.18},
          {TREND, 0.16, 6.7, 3, 4, 0.83, 0.80, 0.35, 0.98, 0.53, 0.93},
          {HOST, 0.34, 12.8, 55, 4, 0.14, 0.36, 0.8, 0.67, 1, 1},
          {SMOOTH, 0.29, 3.6, 0.68, 4, 0.001, 0.002, 0.5, 0.87, 0.98, 0.99}}},
    [MSIM_COLL_NETWORK] = {0.10,
                           {{SMOOTH, 0.50, 8, 3, 3, 1, 1, 0.4, 1, 1, 0.4},
                            {SMOOTH, 0.15, 3, 1, 1, 1, 1, 0.1, 1, 1, 0.1}}},
};

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p)
{
    if (p->work.u.coll.nodes > 1)
        return MSIM_COLL_NETWORK;
    return p->on_pcie ? MSIM_COLL_PCIE : MSIM_COLL_SWITCHED;
}

/* How two points differ. */
struct difference {
    double size, ranks, nodes; /* octaves */
    double trend;              /* product of octaves of ranks from 4 on */
    double host;               /* product of shares */
    bool gpu, generation, source, stack, mode, collective;
};

static double inside(const struct msim_coll_point *p)
{
    return (double)p->work.u.coll.ranks / p->work.u.coll.nodes;
}

static struct difference difference(const struct msim_coll_points *all,
                                    const struct msim_coll_point *a,
                                    const struct msim_coll_point *b)
{
    double ra = log2(inside(a)), rb = log2(inside(b));

    return (struct difference){
        .size = fabs(
            log2((double)a->work.u.coll.bytes / (double)b->work.u.coll.bytes)),
        .ranks = fabs(ra - rb),
        .nodes =
            fabs(log2((double)a->work.u.coll.nodes / b->work.u.coll.nodes)),
        .trend = (ra - 2) * (rb - 2),
        .host = a->host_share * b->host_share,
        .gpu = a->gpu != b->gpu,
        .generation = strcmp(all->gpus[a->gpu].generation,
                             all->gpus[b->gpu].generation) != 0,
        .source = a->source != b->source,
        .stack = strcmp(all->cells[a->cell].first->framework,
                        all->cells[b->cell].first->framework) != 0,
        .mode = a->eager != b->eager,
        .collective = a->work.u.coll.collective != b->work.u.coll.collective,
    };
}

static double over_size(const struct component *c, double octaves)
{
    double z = sqrt(3) * octaves / c->size;

    return c->shape == ROUGH ? exp(-octaves / c->size) : (1 + z) * exp(-z);
}

static double covariance(const struct component *c, const struct difference *d)
{
    double v = c->deviation * c->deviation * over_size(c, d->size);

    v *= d->gpu ? c->gpu : 1;
    v *= d->generation ? c->generation : 1;
    v *= d->source ? c->source : 1;
    v *= d->stack ? c->stack : 1;
    v *= d->mode ? c->mode : 1;
    v *= d->collective ? c->collective : 1;
    if (c->shape == TREND)
        return v * d->trend;
    v *= exp(-d->ranks / c->ranks - d->nodes / c->nodes);
    return c->shape == HOST ? v * d->host : v;
}

double msim_coll_alike(enum msim_coll_fabric f,
                       const struct msim_coll_points *all,
                       const struct msim_coll_point *a,
                       const struct msim_coll_point *b)
{
    struct difference d = difference(all, a, b);
    double sum = 0;

    for (int i = 0; i < COMPONENTS_MOST; i++) {
        const struct component *c = &FABRICS[f].components[i];

        if (c->deviation > 0)
            sum += covariance(c, &d);
    }
    return sum;
}

double msim_coll_noise(enum msim_coll_fabric f)
{
    return FABRICS[f].noise * FABRICS[f].noise;
}

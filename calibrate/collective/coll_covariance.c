/*
 * calibrate/collective/coll_covariance.c - covariances of points of
 * collectives.
 */
#include "calibrate/collective/coll_covariance.h"

#include <math.h>
#include <string.h>

enum regime { START, WIRE, BETWEEN, HOST };

enum shape {
    SMOOTH, /* Matern 3/2 over sizes */
    ROUGH,  /* exponential */
    TREND   /* smooth over sizes, linear in the octaves of ranks from 4 on */
};

struct component {
    enum regime regime;
    enum shape shape;
    double deviation;
    double size, ranks, nodes; /* octaves over which it changes */
    /* Factors for what differs. */
    double gpu, generation, source, stack, mode, collective;
};

#define COMPONENTS_MAX 8

static const struct {
    double noise; /* a standard deviation of the logarithm */
    struct component components[COMPONENTS_MAX];
} FABRICS[MSIM_COLL_FABRICS] = {
    [MSIM_COLL_SWITCHED] = {0.0295,
                            {{WIRE, SMOOTH, 0.275, 10.4, 28, 4, 0.9968, 0.88,
                              0.99, 0.9925, 0.97, 0.48},
                             {START, SMOOTH, 0.751, 16.6, 14.2, 4, 0.9916, 0.87,
                              0.09, 0.46, 0.82, 0.79},
                             {WIRE, TREND, 0.29, 13.3, 1, 4, 0.9953, 0.97, 0.97,
                              0.98, 0.9942, 0.11},
                             {START, TREND, 0.163, 0.0634, 1, 4, 0.9988, 0.9975,
                              0.055, 0.042, 0.87, 0.26},
                             {HOST, SMOOTH, 0.39, 8.24, 3.23, 4, 0.62, 0.91,
                              0.8, 0.63, 0.95, 0.95},
                             {WIRE, SMOOTH, 0.143, 141, 0.762, 4, 0.046, 0.2,
                              0.76, 0.12, 0.9969, 0.9943},
                             {BETWEEN, SMOOTH, 0.265, 1.37, 1.32, 4, 0.98, 0.24,
                              0.055, 0.072, 0.95, 0.72},
                             {BETWEEN, ROUGH, 0.0276, 3.2, 0.423, 4, 0.4, 0.3,
                              0.57, 0.2, 0.8, 0.24}}},
    [MSIM_COLL_PCIE] =
        {0.0298,
         {{WIRE, SMOOTH, 0.592, 64.2, 3.85, 4, 0.85, 0.087, 0.64, 0.9966,
           0.9992, 0.71},
          {START, SMOOTH, 0.996, 61.9, 3.68, 4, 0.98, 0.97, 0.51, 0.95, 0.95,
           0.93},
          {WIRE, TREND, 0.128, 3.81, 1, 4, 0.81, 0.068, 0.5, 0.97, 0.9984,
           0.36},
          {START, TREND, 0.0324, 1.2, 1, 4, 0.77, 0.18, 0.4, 0.52, 0.81, 0.12},
          {HOST, SMOOTH, 0.5, 7.04, 2.23, 4, 0.62, 0.62, 0.8, 0.37, 0.95, 0.95},
          {WIRE, SMOOTH, 0.176, 13.8, 0.15, 4, 0.084, 0.17, 0.5, 0.36, 0.9996,
           0.9},
          {BETWEEN, SMOOTH, 0.36, 1.78, 1.3, 4, 0.7, 0.51, 0.14, 0.83, 0.9958,
           0.52}}},
    [MSIM_COLL_NETWORK] = {0.0637,
                           {{WIRE, SMOOTH, 0.966, 15.7, 17.9, 2.04, 0.9, 0.83,
                             0.31, 0.9, 0.9, 0.92},
                            {START, SMOOTH, 0.791, 8.25, 5.74, 17.1, 0.97, 0.96,
                             0.8, 0.9, 0.9, 0.072},
                            {BETWEEN, SMOOTH, 0.463, 2, 1.14, 1.1, 0.91, 0.9,
                             0.26, 0.9, 0.9, 0.054}}},
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
        .gpu = a->gpu != b->gpu,
        .generation = strcmp(all->gpus[a->gpu].generation,
                             all->gpus[b->gpu].generation) != 0,
        .source = a->source != b->source,
        .stack = strcmp(all->fits[a->fit].first->framework,
                        all->fits[b->fit].first->framework) != 0,
        .mode = a->eager != b->eager,
        .collective = a->work.u.coll.collective != b->work.u.coll.collective,
    };
}

/* A point's share in a regime. */
static double share(const struct msim_coll_point *p, enum regime r)
{
    double device = 1 - p->host_share;

    switch (r) {
    case START:
        return device * (1 - p->wire_share);
    case WIRE:
        return device * p->wire_share;
    case BETWEEN:
        return device * 4 * p->wire_share * (1 - p->wire_share);
    default:
        return p->host_share;
    }
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
    return v * exp(-d->ranks / c->ranks - d->nodes / c->nodes);
}

double msim_coll_covariance(enum msim_coll_fabric f,
                            const struct msim_coll_points *all,
                            const struct msim_coll_point *a,
                            const struct msim_coll_point *b)
{
    struct difference d = difference(all, a, b);
    double sum = 0;

    for (int i = 0; i < COMPONENTS_MAX; i++) {
        const struct component *c = &FABRICS[f].components[i];
        double shares = share(a, c->regime) * share(b, c->regime);

        if (c->deviation > 0 && shares > 0)
            sum += shares * covariance(c, &d);
    }
    return sum;
}

double msim_coll_noise(enum msim_coll_fabric f)
{
    return FABRICS[f].noise * FABRICS[f].noise;
}

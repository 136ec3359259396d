/*
 * serving/draw/random.c - numbers of other shapes than uniform ones.
 */
#include "serving/draw/random.h"

#include "core/base/units.h"

#include <math.h>

double msim_random_exponential(struct msim_random *r)
{
    return -log(msim_random_unit(r));
}

/* Box and Muller, 1958. The second number of the pair is left: a stream has no
 * state but its counter. */
double msim_random_normal(struct msim_random *r)
{
    double length = sqrt(-2 * log(msim_random_unit(r)));

    return length * cos(2 * M_PI * msim_random_unit(r));
}

/* Marsaglia and Tsang, 2000, "A simple method for generating gamma variables".
 * Below shape 1 by their boost: of shape + 1, times a power of a uniform. */
double msim_random_gamma(struct msim_random *r, double shape)
{
    double boost = 1, d, c;

    if (shape < 1) {
        boost = pow(msim_random_unit(r), 1 / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = msim_random_normal(r), v = 1 + c * x, u;

        if (v <= 0)
            continue;
        v = v * v * v;
        u = msim_random_unit(r);
        if (log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return boost * d * v;
    }
}

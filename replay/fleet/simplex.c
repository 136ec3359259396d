/*
 * replay/fleet/simplex.c - pairwise steps to the nearest mixture.
 */
#include "replay/fleet/fleet_internal.h"

#include <math.h>

/* The squared length is above the least one by no more than twice the gap. */
#define GAP       1e-11
#define MOST_STEP 20000

/* The point of least squared length. */
static uint32_t nearest(const double *gram, uint32_t k)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < k; i++)
        if (gram[i * k + i] < gram[best * k + best])
            best = i;
    return best;
}

/* Half the gradient at the mixture: its scalar product with each point. */
static void find_gradient(const double *gram, uint32_t k, const double *weights,
                          double *gradient)
{
    for (uint32_t i = 0; i < k; i++) {
        gradient[i] = 0;
        for (uint32_t j = 0; j < k; j++)
            gradient[i] += weights[j] * gram[i * k + j];
    }
}

/* Move weight between the two points that gain most; 0: nothing to gain. */
static int step(const double *gram, uint32_t k, double *weights,
                double *gradient)
{
    uint32_t to = 0, from = UINT32_MAX;
    double gap, curve, move;

    for (uint32_t i = 0; i < k; i++) {
        if (gradient[i] < gradient[to])
            to = i;
        if (weights[i] > 0 &&
            (from == UINT32_MAX || gradient[i] > gradient[from]))
            from = i;
    }
    gap = gradient[from] - gradient[to];
    if (!(gap > GAP))
        return 0;
    curve = gram[to * k + to] + gram[from * k + from] - 2 * gram[to * k + from];
    move = curve > 0 ? fmin(gap / curve, weights[from]) : weights[from];
    weights[to] += move;
    weights[from] = move < weights[from] ? weights[from] - move : 0;
    for (uint32_t i = 0; i < k; i++)
        gradient[i] += move * (gram[i * k + to] - gram[i * k + from]);
    return 1;
}

double msim_simplex_fit(const double *gram, uint32_t k, double *weights,
                        double *gradient)
{
    double sum = 0, length = 0;

    for (uint32_t i = 0; i < k; i++)
        weights[i] = 0;
    weights[nearest(gram, k)] = 1;
    find_gradient(gram, k, weights, gradient);
    for (int i = 0; i < MOST_STEP && step(gram, k, weights, gradient); i++)
        continue;
    for (uint32_t i = 0; i < k; i++)
        sum += weights[i];
    for (uint32_t i = 0; i < k; i++)
        weights[i] /= sum;
    find_gradient(gram, k, weights, gradient);
    for (uint32_t i = 0; i < k; i++)
        length += weights[i] * gradient[i];
    return fmax(0, length);
}

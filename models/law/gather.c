/*
 * models/law/gather.c - Che's approximation, on groups of rows.
 *
 * Sums over millions of rows would take too long for an estimate. Popularity is
 * a power of a row's rank, so that it hardly changes within a group of rows of
 * nearby rank.
 */
#include "models/law/gather.h"

#include <math.h>

/* A group ends at GROWTH times its first rank: three groups for a factor of 2.
 */
#define GROUPS_MAX 256
#define GROWTH     1.25

#define HALVINGS 60

struct popularity {
    int n;
    double rows[GROUPS_MAX];  /* of each group */
    double share[GROUPS_MAX]; /* of all look-ups, of one row of the group */
};

static void popularity_make(struct popularity *p, double table, double skew)
{
    double first = 1, sum = 0;

    p->n = 0;
    while (first <= table && p->n < GROUPS_MAX) {
        double next = floor(fmin(fmax(first + 1, first * GROWTH), table + 1));
        double rows = next - first;

        p->rows[p->n] = rows;
        p->share[p->n] = pow(first + (rows - 1) / 2, -skew);
        sum += rows * p->share[p->n++];
        first = next;
    }
    for (int i = 0; i < p->n; i++)
        p->share[i] /= sum;
}

/* The expected number of distinct rows of `lookups` look-ups. */
static double distinct(const struct popularity *p, double lookups)
{
    double rows = 0;

    for (int i = 0; i < p->n; i++)
        rows -= p->rows[i] * expm1(-lookups * p->share[i]);
    return rows;
}

/* Che's characteristic time: the number of look-ups with `cached` distinct
 * rows, which is how long a row stays in the cache; by bisection. */
static double stay(const struct popularity *p, double cached)
{
    double low = 0, high = 1;

    while (distinct(p, high) < cached && high < 1e300)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (distinct(p, middle) < cached)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The share of look-ups whose row is among those of the last `last` look-ups.
 */
static double repeated(const struct popularity *p, double last)
{
    double share = 0;

    for (int i = 0; i < p->n; i++)
        share -= p->rows[i] * p->share[i] * expm1(-last * p->share[i]);
    return share;
}

double msim_gather_hits(double lookups, double table, double cached,
                        double skew)
{
    struct popularity p;
    double hits;

    if (!(lookups > 0) || !(table >= 1) || !(cached > 0))
        return 0;
    popularity_make(&p, floor(table), skew);
    hits = 1 - distinct(&p, lookups) / lookups;
    if (cached < floor(table))
        hits = fmin(hits, repeated(&p, stay(&p, cached)));
    return fmax(hits, 0);
}

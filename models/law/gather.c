/*
 * models/law/gather.c - Che's approximation, on groups of rows.
 *
 * Sums over millions of rows would take too long for an estimate. Popularity is
 * a power of a row's rank, so that it hardly changes within a group of rows of
 * nearby rank.
 */
#include "models/law/law.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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

/* The expected number of distinct rows of `lookups` look-ups; `*rises` by a
 * look-up more, if not NULL. */
static double distinct(const struct popularity *p, double lookups,
                       double *rises)
{
    double rows = 0, more = 0;

    for (int i = 0; i < p->n; i++) {
        double seen = -expm1(-lookups * p->share[i]);

        rows += p->rows[i] * seen;
        more += p->rows[i] * p->share[i] * (1 - seen);
    }
    if (rises)
        *rises = more;
    return rows;
}

/* Look-ups below `few` have fewer distinct rows than some number, those above
 * `many` have more, whatever is lost to rounding. */
struct bracket {
    double few, many;
};

/* Of a sum over groups, and more. */
#define ROUNDING (GROUPS_MAX * 16 * DBL_EPSILON)

/*
 * distinct() rises, ever more slowly, and no faster than look-ups do: Newton's
 * steps from `cached` look-ups stay below the answer and come close to it soon.
 */
static struct bracket bracket_of(const struct popularity *p, double cached)
{
    struct bracket b = {0, INFINITY};
    double at = cached, rises = 1, beyond;

    for (int i = 0; i < HALVINGS; i++) {
        double missing = cached - distinct(p, at, &rises);

        if (!(missing > ROUNDING * cached) || !(rises > 0))
            break;
        at += missing / rises;
    }
    beyond = 4 * ROUNDING * cached / rises;
    if (distinct(p, at - beyond, NULL) < (1 - ROUNDING) * cached)
        b.few = at - beyond;
    if (distinct(p, at + beyond, NULL) > (1 + ROUNDING) * cached)
        b.many = at + beyond;
    return b;
}

static bool has_fewer(const struct popularity *p, const struct bracket *b,
                      double lookups, double cached)
{
    return lookups < b->few ||
           (lookups < b->many && distinct(p, lookups, NULL) < cached);
}

/* Che's characteristic time: the number of look-ups with `cached` distinct
 * rows, which is how long a row stays in the cache; by bisection, of which most
 * is known from the bracket. */
static double stay(const struct popularity *p, double cached)
{
    const struct bracket b = bracket_of(p, cached);
    double low = 0, high = 1;

    while (high < 1e300 && has_fewer(p, &b, high, cached))
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (middle == low || middle == high)
            break;
        if (has_fewer(p, &b, middle, cached))
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

/* Where all rows are alike, a full cache has any of them with one probability.
 */
static double distinct_alike(double lookups, double table)
{
    return -table * expm1(-lookups / table);
}

static double hits_alike(double lookups, double table, double cached)
{
    double repeated = 1 - distinct_alike(lookups, table) / lookups;

    return fmin(repeated, fmin(cached / table, 1));
}

static double hits_by_groups(double lookups, double table, double cached,
                             double skew)
{
    struct popularity p;
    double hits;

    popularity_make(&p, table, skew);
    hits = 1 - distinct(&p, lookups, NULL) / lookups;
    return cached < table ? fmin(hits, repeated(&p, stay(&p, cached))) : hits;
}

double msim_gather_hits(double lookups, double table, double cached,
                        double skew)
{
    double rows = floor(table);

    if (!(lookups > 0) || !(table >= 1) || !(cached > 0))
        return 0;
    return fmax(skew == 0 ? hits_alike(lookups, rows, cached)
                          : hits_by_groups(lookups, rows, cached, skew),
                0);
}

double msim_gather_distinct(double lookups, double table, double skew)
{
    struct popularity p;
    double rows = floor(table);

    if (!(lookups > 0) || !(table >= 1))
        return 0;
    if (skew == 0)
        return distinct_alike(lookups, rows);
    popularity_make(&p, rows, skew);
    return distinct(&p, lookups, NULL);
}

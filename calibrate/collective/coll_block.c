/*
 * calibrate/collective/coll_block.c - points of collectives that are regressed
 * together.
 */
#include "calibrate/collective/coll_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many deviations off a point may be and count in full. */
#define OFF 2

bool msim_coll_block_owns(const struct msim_coll_block *b,
                          const struct msim_coll_point *p)
{
    return msim_coll_fabric_of(p) == b->fabric;
}

static enum msim_status gather(struct msim_coll_block *b)
{
    b->members = malloc(((size_t)b->all->n_points + 1) * sizeof(*b->members));
    if (!b->members)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < b->all->n_points; i++)
        if (msim_coll_block_owns(b, &b->all->points[i]))
            b->members[b->n++] = i;
    return MSIM_OK;
}

static const struct msim_coll_point *member(const struct msim_coll_block *b,
                                            uint32_t i)
{
    return &b->all->points[b->members[i]];
}

static void fill_covariances(const struct msim_coll_block *b, double *k)
{
    for (uint32_t i = 0; i < b->n; i++)
        for (uint32_t j = 0; j <= i; j++)
            k[(size_t)i * b->n + j] = k[(size_t)j * b->n + i] =
                msim_coll_covariance(b->fabric, b->all, member(b, i),
                                     member(b, j));
}

/* With covariances `k`, which stay, and the members' noise. */
static enum msim_status regress(struct msim_coll_block *b, const double *k,
                                const double *y)
{
    size_t size = (size_t)b->n * b->n * sizeof(*k);
    double *own = malloc(size);

    if (!own)
        return MSIM_ENOMEM;
    memcpy(own, k, size);
    for (uint32_t i = 0; i < b->n; i++)
        own[(size_t)i * b->n + i] += b->noise[i];
    msim_kriging_solve_release(&b->process);
    return msim_kriging_solve_init(&b->process, own, y, b->n);
}

/*
 * Noise by how far each member is off what all others say: at more than OFF
 * deviations, as much more as brings it there. (With A the inverse of the
 * covariances, a member is off by (A y)_i / A_ii, of variance 1 / A_ii.)
 */
static void weigh(struct msim_coll_block *b)
{
    double usual = msim_coll_noise(b->fabric);

    for (uint32_t i = 0; i < b->n; i++) {
        double precision = b->process.inverse[(size_t)i * b->n + i];
        double variance = fmax(1 / precision - b->noise[i], 0) + usual;
        double off = b->process.weights[i] / precision;

        b->noise[i] = usual * fmax(off * off / variance / (OFF * OFF), 1);
    }
}

static enum msim_status regress_robustly(struct msim_coll_block *b,
                                         const double *k, const double *y)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->noise[i] = msim_coll_noise(b->fabric);
    MSIM_TRY(regress(b, k, y));
    weigh(b);
    return regress(b, k, y);
}

enum msim_status msim_coll_block_make(struct msim_coll_block *b,
                                      const struct msim_coll_points *all)
{
    enum msim_status status = MSIM_ENOMEM;
    double *k, *y;

    b->all = all;
    MSIM_TRY(gather(b));
    if (b->n == 0)
        return MSIM_OK;
    k = malloc((size_t)b->n * b->n * sizeof(*k));
    y = malloc(b->n * sizeof(*y));
    b->k = malloc(b->n * sizeof(*b->k));
    b->noise = malloc(b->n * sizeof(*b->noise));
    if (k && y && b->k && b->noise) {
        fill_covariances(b, k);
        for (uint32_t i = 0; i < b->n; i++)
            y[i] = member(b, i)->y;
        status = regress_robustly(b, k, y);
    }
    free(k);
    free(y);
    return status;
}

void msim_coll_block_release(struct msim_coll_block *b)
{
    msim_kriging_solve_release(&b->process);
    free(b->members);
    free(b->noise);
    free(b->k);
    b->members = NULL;
    b->noise = NULL;
    b->k = NULL;
}

/* ---- holding back -------------------------------------------------------- */

static uint64_t group_of(const struct msim_coll_point *p,
                         enum msim_coll_held_back what)
{
    switch (what) {
    case MSIM_COLL_RANKS:
        return p->ranks_group;
    case MSIM_COLL_SIZES:
        return p->size_group;
    case MSIM_COLL_GPU:
        return p->gpu;
    default:
        return p->source + p->gpu;
    }
}

struct entry {
    uint64_t group;
    uint32_t member;
};

static int by_group(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return (a->member > b->member) - (a->member < b->member);
}

struct room {
    struct entry *entries;
    uint32_t *held;
    double *missed, *variance;
};

static void release(struct room *r)
{
    free(r->entries);
    free(r->held);
    free(r->missed);
    free(r->variance);
}

static enum msim_status hold_back_one(const struct msim_coll_block *b,
                                      const struct room *r,
                                      const struct entry *group, uint32_t m,
                                      struct msim_coll_held *held)
{
    for (uint32_t i = 0; i < m; i++)
        r->held[i] = group[i].member;
    MSIM_TRY(msim_kriging_solve_without(&b->process, r->held, m, r->missed,
                                        r->variance));
    for (uint32_t i = 0; i < m; i++) {
        uint32_t at = r->held[i];
        /* A row held back says nothing of its own noise. */
        double variance = fmax(r->variance[i] - b->noise[at], 0);

        held[b->members[at]] =
            (struct msim_coll_held){member(b, at)->y - r->missed[i],
                                    variance + msim_coll_noise(b->fabric)};
    }
    return MSIM_OK;
}

static enum msim_status hold_back_all(const struct msim_coll_block *b,
                                      enum msim_coll_held_back what,
                                      struct room *r,
                                      struct msim_coll_held *held)
{
    uint32_t end;

    for (uint32_t i = 0; i < b->n; i++)
        r->entries[i] = (struct entry){group_of(member(b, i), what), i};
    qsort(r->entries, b->n, sizeof(*r->entries), by_group);
    for (uint32_t i = 0; i < b->n; i = end) {
        end = i + 1;
        while (end < b->n && r->entries[end].group == r->entries[i].group)
            end++;
        MSIM_TRY(hold_back_one(b, r, r->entries + i, end - i, held));
    }
    return MSIM_OK;
}

enum msim_status msim_coll_block_hold_back(const struct msim_coll_block *b,
                                           enum msim_coll_held_back what,
                                           struct msim_coll_held *held)
{
    size_t n = (size_t)b->n + 1;
    struct room r = {malloc(n * sizeof(*r.entries)),
                     malloc(n * sizeof(*r.held)), malloc(n * sizeof(double)),
                     malloc(n * sizeof(double))};
    enum msim_status status = MSIM_ENOMEM;

    if (r.entries && r.held && r.missed && r.variance)
        status = hold_back_all(b, what, &r, held);
    release(&r);
    return status;
}

/* ---- any point ----------------------------------------------------------- */

double msim_coll_block_at(struct msim_coll_block *b,
                          const struct msim_coll_point *p, double *variance)
{
    double own = msim_coll_covariance(b->fabric, b->all, p, p), mean;

    for (uint32_t i = 0; i < b->n; i++)
        b->k[i] = msim_coll_covariance(b->fabric, b->all, p, member(b, i));
    mean = msim_kriging_solve_at(&b->process, b->k, own, variance);
    *variance += msim_coll_noise(b->fabric);
    return mean;
}

/*
 * calibrate/collective/coll_block.c - the points of one fabric, as one Gaussian
 * process.
 */
#include "calibrate/collective/coll_covariance.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard deviations that a point may be off and still count in full. */
#define OFF 2

static const struct msim_coll_process *
process_of(const struct msim_coll_block *b)
{
    return &b->constants->fabrics[b->fabric];
}

static double usual_noise(const struct msim_coll_block *b)
{
    return msim_coll_noise(process_of(b));
}

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
                msim_coll_covariance(process_of(b), b->all, member(b, i),
                                     member(b, j));
}

/* With covariances `k`, which stay as they are, and the members' noise. */
static enum msim_status solve(struct msim_coll_block *b, const double *k,
                              const double *y)
{
    size_t size = (size_t)b->n * b->n * sizeof(*k);
    double *own = malloc(size);

    if (!own)
        return MSIM_ENOMEM;
    memcpy(own, k, size);
    for (uint32_t i = 0; i < b->n; i++)
        own[(size_t)i * b->n + i] += b->noise[i];
    msim_kriging_solve_release(&b->kriging);
    return msim_kriging_solve_init(&b->kriging, own, y, b->n);
}

/*
 * A member that is more than OFF standard deviations off what all others
 * predict gets as much noise as makes it OFF of them. With A the inverse of the
 * covariances, a member is off by (A y)_i / A_ii, with variance 1 / A_ii.
 */
static void set_noise(struct msim_coll_block *b)
{
    double usual = usual_noise(b);

    for (uint32_t i = 0; i < b->n; i++) {
        double precision = b->kriging.inverse[(size_t)i * b->n + i];
        double variance = fmax(1 / precision - b->noise[i], 0) + usual;
        double off = b->kriging.weights[i] / precision;

        b->noise[i] = usual * fmax(off * off / variance / (OFF * OFF), 1);
    }
}

static enum msim_status solve_robustly(struct msim_coll_block *b,
                                       const double *k, const double *y)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->noise[i] = usual_noise(b);
    MSIM_TRY(solve(b, k, y));
    set_noise(b);
    return solve(b, k, y);
}

enum msim_status
msim_coll_block_init(struct msim_coll_block *b, enum msim_coll_fabric fabric,
                     const struct msim_coll_constants *constants,
                     const struct msim_coll_points *all)
{
    enum msim_status status = MSIM_ENOMEM;
    double *k, *y;

    *b = (struct msim_coll_block){
        .fabric = fabric, .constants = constants, .all = all};
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
        status = solve_robustly(b, k, y);
    }
    free(k);
    free(y);
    return status;
}

void msim_coll_block_release(struct msim_coll_block *b)
{
    msim_kriging_solve_release(&b->kriging);
    free(b->members);
    free(b->noise);
    free(b->k);
    b->members = NULL;
    b->noise = NULL;
    b->k = NULL;
}

/* ---- holding out --------------------------------------------------------- */

static uint64_t key_of(const struct msim_coll_point *p,
                       enum msim_coll_holdout what)
{
    switch (what) {
    case MSIM_COLL_HOLD_OUT_RANKS:
        return p->ranks_key;
    case MSIM_COLL_HOLD_OUT_SIZES:
        return p->size_key;
    case MSIM_COLL_HOLD_OUT_GPU:
        return p->gpu;
    default:
        return p->source + p->gpu;
    }
}

struct entry {
    uint64_t key; /* members of one key are held out together */
    uint32_t member;
};

static int by_key(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;

    if (a->key != b->key)
        return MSIM_ORDER(a->key, b->key);
    return MSIM_ORDER(a->member, b->member);
}

struct holdout {
    struct entry *entries;
    uint32_t *held;
    double *missed, *variance;
};

static void release(struct holdout *r)
{
    free(r->entries);
    free(r->held);
    free(r->missed);
    free(r->variance);
}

static enum msim_status hold_out_one(const struct msim_coll_block *b,
                                     const struct holdout *r,
                                     const struct entry *entries, uint32_t m,
                                     struct msim_coll_prediction *out)
{
    for (uint32_t i = 0; i < m; i++)
        r->held[i] = entries[i].member;
    MSIM_TRY(msim_kriging_solve_without(&b->kriging, r->held, m, r->missed,
                                        r->variance));
    for (uint32_t i = 0; i < m; i++) {
        uint32_t at = r->held[i];
        /* How noisy a held-out point is does not follow from the others. */
        double variance = fmax(r->variance[i] - b->noise[at], 0);

        out[b->members[at]] = (struct msim_coll_prediction){
            member(b, at)->y - r->missed[i], variance + usual_noise(b)};
    }
    return MSIM_OK;
}

static enum msim_status hold_out_all(const struct msim_coll_block *b,
                                     enum msim_coll_holdout what,
                                     struct holdout *r,
                                     struct msim_coll_prediction *out)
{
    uint32_t end;

    for (uint32_t i = 0; i < b->n; i++)
        r->entries[i] = (struct entry){key_of(member(b, i), what), i};
    qsort(r->entries, b->n, sizeof(*r->entries), by_key);
    for (uint32_t i = 0; i < b->n; i = end) {
        end = i + 1;
        while (end < b->n && r->entries[end].key == r->entries[i].key)
            end++;
        MSIM_TRY(hold_out_one(b, r, r->entries + i, end - i, out));
    }
    return MSIM_OK;
}

enum msim_status msim_coll_block_hold_out(const struct msim_coll_block *b,
                                          enum msim_coll_holdout what,
                                          struct msim_coll_prediction *out)
{
    size_t n = (size_t)b->n + 1;
    struct holdout r = {malloc(n * sizeof(*r.entries)),
                        malloc(n * sizeof(*r.held)), malloc(n * sizeof(double)),
                        malloc(n * sizeof(double))};
    enum msim_status status = MSIM_ENOMEM;

    if (r.entries && r.held && r.missed && r.variance)
        status = hold_out_all(b, what, &r, out);
    release(&r);
    return status;
}

/* ---- any point ----------------------------------------------------------- */

double msim_coll_block_at(struct msim_coll_block *b,
                          const struct msim_coll_point *p, double *variance)
{
    double own = msim_coll_covariance(process_of(b), b->all, p, p), mean;

    for (uint32_t i = 0; i < b->n; i++)
        b->k[i] = msim_coll_covariance(process_of(b), b->all, p, member(b, i));
    mean = msim_kriging_solve_at(&b->kriging, b->k, own, variance);
    *variance += usual_noise(b);
    return mean;
}

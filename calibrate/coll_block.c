/*
 * calibrate/coll_block.c - points of collectives that are regressed together.
 */
#include "calibrate/coll_block.h"

#include <stdlib.h>
#include <string.h>

bool msim_coll_block_owns(const struct msim_coll_block *b,
                          const struct msim_coll_point *p)
{
    return msim_coll_fabric_of(p) == b->fabric && p->custom == b->custom;
}

static bool belongs(const struct msim_coll_block *b,
                    const struct msim_coll_point *p)
{
    if (msim_coll_fabric_of(p) != b->fabric)
        return false;
    return p->custom == b->custom ||
           (b->custom && p->own_link &&
            p->work.u.coll.collective == MSIM_COLL_ALL_REDUCE);
}

static enum msim_status gather(struct msim_coll_block *b)
{
    b->members = malloc(((size_t)b->all->n_points + 1) * sizeof(*b->members));
    if (!b->members)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < b->all->n_points; i++)
        if (belongs(b, &b->all->points[i]))
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
    for (uint32_t i = 0; i < b->n; i++) {
        for (uint32_t j = 0; j < i; j++)
            k[(size_t)i * b->n + j] = k[(size_t)j * b->n + i] =
                msim_coll_alike(b->fabric, b->all, member(b, i), member(b, j));
        k[(size_t)i * b->n + i] =
            msim_coll_alike(b->fabric, b->all, member(b, i), member(b, i)) +
            msim_coll_noise(b->fabric);
    }
}

enum msim_status msim_coll_block_make(struct msim_coll_block *b,
                                      const struct msim_coll_points *all)
{
    enum msim_status status;
    double *k, *y;

    b->all = all;
    MSIM_TRY(gather(b));
    if (b->n == 0)
        return MSIM_OK;
    k = malloc((size_t)b->n * b->n * sizeof(*k));
    y = malloc(b->n * sizeof(*y));
    b->k = malloc(b->n * sizeof(*b->k));
    if (!k || !y || !b->k) {
        free(k);
        free(y);
        return MSIM_ENOMEM;
    }
    fill_covariances(b, k);
    for (uint32_t i = 0; i < b->n; i++)
        y[i] = member(b, i)->y;
    status = msim_kriging_init(&b->process, k, y, b->n);
    free(y);
    return status;
}

void msim_coll_block_release(struct msim_coll_block *b)
{
    msim_kriging_release(&b->process);
    free(b->members);
    free(b->k);
    b->members = NULL;
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
    MSIM_TRY(
        msim_kriging_without(&b->process, r->held, m, r->missed, r->variance));
    for (uint32_t i = 0; i < m; i++)
        held[b->members[r->held[i]]] = (struct msim_coll_held){
            member(b, r->held[i])->y - r->missed[i], r->variance[i]};
    return MSIM_OK;
}

static enum msim_status hold_back_all(const struct msim_coll_block *b,
                                      enum msim_coll_held_back what,
                                      struct room *r,
                                      struct msim_coll_held *held)
{
    uint32_t n = 0, end;

    for (uint32_t i = 0; i < b->n; i++)
        if (msim_coll_block_owns(b, member(b, i)))
            r->entries[n++] = (struct entry){group_of(member(b, i), what), i};
    qsort(r->entries, n, sizeof(*r->entries), by_group);
    for (uint32_t i = 0; i < n; i = end) {
        end = i + 1;
        while (end < n && r->entries[end].group == r->entries[i].group)
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
    double own = msim_coll_alike(b->fabric, b->all, p, p), mean;

    for (uint32_t i = 0; i < b->n; i++)
        b->k[i] = msim_coll_alike(b->fabric, b->all, p, member(b, i));
    mean = msim_kriging_at(&b->process, b->k, own, variance);
    *variance += msim_coll_noise(b->fabric);
    return mean;
}

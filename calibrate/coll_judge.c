/*
 * calibrate/coll_judge.c - errors and intervals of collectives held back.
 */
#include "calibrate/coll_judge.h"

#include "calibrate/coll_variant.h"
#include "models/interval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INSIDE 0.9

/* One row's miss over the deviation that was expected. */
struct miss {
    double size;   /* |log(measured / predicted)| over the deviation */
    double weight; /* one for each cell in all */
    uint32_t target, bin;
};

static int by_miss(const void *pa, const void *pb)
{
    const struct miss *a = pa, *b = pb;

    if (a->size < b->size || a->size > b->size)
        return a->size < b->size ? -1 : 1;
    return (a->target > b->target) - (a->target < b->target);
}

static const struct msim_coll_point *point_of(const struct msim_coll_block *b,
                                              uint32_t target)
{
    return &b->all->points[b->all->targets[target].point];
}

/* log(measured / typical time) of a target, as points have it. */
static double measured(const struct msim_coll_block *b, uint32_t target)
{
    const struct msim_coll_target *t = &b->all->targets[target];
    const struct msim_spec *s = &b->all->gpus[point_of(b, target)->gpu].spec;

    return log(t->us / t->factor / msim_coll_typical_us(s, &t->row->work));
}

/* Whether a target can be judged: a transfer between two has no other number
 * of ranks, and a cluster known by one has no other either. */
static bool is_judged(const struct msim_coll_block *b, uint32_t target,
                      enum msim_coll_held_back what, uint32_t groups)
{
    const struct msim_coll_point *p = point_of(b, target);
    enum msim_collective c = p->work.u.coll.collective;

    if (!msim_coll_block_owns(b, p))
        return false;
    return what != MSIM_COLL_RANKS || groups > 1 ||
           (b->fabric != MSIM_COLL_NETWORK && c != MSIM_COLL_SEND);
}

/* Collectives and numbers of ranks that a cell has. */
static uint32_t count_groups(const struct msim_coll_points *all, uint32_t cell)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < all->n_points; i++)
        if (all->points[i].cell == cell)
            n += i == 0 || all->points[i - 1].cell != cell ||
                 all->points[i].ranks_group != all->points[i - 1].ranks_group;
    return n;
}

/* ---- widths -------------------------------------------------------------- */

#define CHANGE_SHARE 0.4

uint32_t msim_coll_bin(double bytes)
{
    double bin = floor((log2(fmax(bytes, 1)) - 9) / 3);

    return (uint32_t)fmin(fmax(bin, 0), MSIM_COLL_BINS - 1);
}

double msim_coll_deviation(double variance, double change)
{
    return sqrt(variance + CHANGE_SHARE * CHANGE_SHARE * change * change);
}

/* Whose rows say how wide an interval must be. */
struct asked {
    uint32_t bin, gpu;
    uint64_t without; /* a number of ranks; 0: none */
};

#define OWN_GPU 4.0

/* A bin counts, its neighbours by half, and the own GPU several times. */
static double weight_for(const struct msim_coll_block *b, const struct miss *m,
                         const struct asked *a)
{
    uint32_t away = m->bin > a->bin ? m->bin - a->bin : a->bin - m->bin;
    const struct msim_coll_point *p = point_of(b, m->target);

    if (away > 1 || (a->without && p->ranks_group == a->without))
        return 0;
    return m->weight / (away + 1) * (p->gpu == a->gpu ? OWN_GPU : 1);
}

/* The size of miss that 90 % of the weight lies below; where there is none, a
 * normal variable's. */
static double width_for(const struct msim_coll_block *b,
                        const struct miss *sorted, uint32_t n,
                        const struct asked *a)
{
    double all = 0, below = 0;

    for (uint32_t i = 0; i < n; i++)
        all += weight_for(b, &sorted[i], a);
    for (uint32_t i = 0; all > 0 && i < n; i++) {
        below += weight_for(b, &sorted[i], a);
        if (below >= INSIDE * all)
            return sorted[i].size;
    }
    return MSIM_Z90;
}

/* ---- verdicts ------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void add_row(struct msim_coll_verdict *v, double *errors,
                    double log_miss, double half)
{
    double e = exp(-log_miss); /* predicted / measured */
    double low = e * exp(-half), high = e * exp(half);

    errors[v->rows++] = fabs(e - 1);
    v->error.mean += fabs(e - 1);
    v->coverage += fabs(log_miss) <= half;
    v->width += exp(2 * half);
    v->score += high - low + 20 * (fmax(low - 1, 0) + fmax(1 - high, 0));
}

static void finish(struct msim_coll_verdict *v, double *errors)
{
    uint32_t n = v->rows;

    if (n == 0)
        return;
    qsort(errors, n, sizeof(*errors), by_value);
    v->score /= v->error.mean > 0 ? v->error.mean : 1;
    v->error.mean /= n;
    v->error.median = errors[n / 2];
    v->error.p90 = errors[(uint32_t)(0.9 * n)];
    v->error.worst = errors[n - 1];
    v->coverage /= n;
    v->width /= n;
}

struct judging {
    struct msim_coll_fits *f;
    const struct msim_coll_block *b;
    const struct msim_coll_held *held;
    enum msim_coll_held_back what;
    struct miss *misses;
    uint32_t n;
    double *errors;
    double *variant; /* by target, what its version and dtype add */
};

static bool same_curve(const struct msim_coll_point *a,
                       const struct msim_coll_point *b)
{
    return a->cell == b->cell &&
           a->work.u.coll.collective == b->work.u.coll.collective &&
           a->work.u.coll.ranks == b->work.u.coll.ranks &&
           a->work.u.coll.nodes == b->work.u.coll.nodes;
}

/* The value that is known of point `i` while `at` is held back. */
static double known(const struct judging *j, uint32_t i)
{
    return j->what == MSIM_COLL_SIZES ? j->b->all->points[i].y
                                      : j->held[i].mean;
}

/* How much the curve around a point changes, without knowing the point. */
static double change_at(const struct judging *j, uint32_t at)
{
    const struct msim_coll_points *all = j->b->all;
    const struct msim_coll_point *p = all->points;
    bool below = at > 0 && same_curve(&p[at - 1], &p[at]);
    bool above = at + 1 < all->n_points && same_curve(&p[at + 1], &p[at]);

    return below && above ? known(j, at + 1) - known(j, at - 1) : 0;
}

static double deviation(const struct judging *j, uint32_t target)
{
    uint32_t at = j->b->all->targets[target].point;

    return msim_coll_deviation(j->held[at].variance, change_at(j, at));
}

static double log_miss(const struct judging *j, uint32_t target)
{
    return measured(j->b, target) -
           j->held[j->b->all->targets[target].point].mean - j->variant[target];
}

/* Targets of one cell lie together. */
static void collect(struct judging *j)
{
    const struct msim_coll_points *all = j->b->all;
    uint32_t end;

    for (uint32_t i = 0; i < all->n_targets; i = end) {
        uint32_t cell = point_of(j->b, i)->cell;
        uint32_t groups = count_groups(all, cell);

        for (end = i + 1;
             end < all->n_targets && point_of(j->b, end)->cell == cell;)
            end++;
        for (uint32_t t = i; t < end; t++) {
            if (!is_judged(j->b, t, j->what, groups))
                continue;
            j->variant[t] = msim_coll_variant_log(all, t, j->what);
            j->misses[j->n++] = (struct miss){
                .size = fabs(log_miss(j, t)) / deviation(j, t),
                .weight = 1.0 / (end - i),
                .target = t,
                .bin =
                    msim_coll_bin((double)point_of(j->b, t)->work.u.coll.bytes),
            };
        }
    }
    qsort(j->misses, j->n, sizeof(*j->misses), by_miss);
}

static void judge_row(struct judging *j, uint32_t target,
                      struct msim_coll_verdict *v, double half)
{
    const struct msim_coll_target *t = &j->b->all->targets[target];
    double us = t->us / t->factor;
    double miss = log_miss(j, target);

    add_row(v, j->errors, miss, half);
    j->f->held[j->what][target] =
        msim_held_row_of(us, us * exp(-miss), -half, half,
                         point_of(j->b, target)->work.u.coll.ranks);
}

/* Widths that the rows of one number of ranks of a cell are judged by. */
static void judge_ranks(struct judging *j, uint32_t cell, uint64_t group,
                        struct msim_coll_verdict *v)
{
    double width[MSIM_COLL_BINS];

    for (uint32_t bin = 0; bin < MSIM_COLL_BINS; bin++)
        width[bin] =
            width_for(j->b, j->misses, j->n,
                      &(struct asked){bin, j->b->all->cells[cell].gpu, group});
    for (uint32_t i = 0; i < j->n; i++) {
        const struct miss *m = &j->misses[i];
        const struct msim_coll_point *p = point_of(j->b, m->target);

        if (p->cell == cell && p->ranks_group == group)
            judge_row(j, m->target, v, width[m->bin] * deviation(j, m->target));
    }
}

static void judge_cell(struct judging *j, uint32_t cell)
{
    const struct msim_coll_points *all = j->b->all;
    struct msim_coll_cell_fit *f = &j->f->cells[cell];
    struct msim_coll_verdict *v = &f->verdicts[j->what];
    uint64_t last = 0;

    *v = (struct msim_coll_verdict){.groups = count_groups(all, cell)};
    for (uint32_t i = 0; i < all->n_points; i++) {
        const struct msim_coll_point *p = &all->points[i];

        if (p->cell != cell || p->ranks_group == last)
            continue;
        last = p->ranks_group;
        judge_ranks(j, cell, last, v);
    }
    finish(v, j->errors);
    for (uint32_t bin = 0; bin < MSIM_COLL_BINS; bin++)
        f->widths[j->what][bin] =
            width_for(j->b, j->misses, j->n,
                      &(struct asked){bin, all->cells[cell].gpu, 0});
}

enum msim_status msim_coll_judge(struct msim_coll_fits *f,
                                 const struct msim_coll_block *b,
                                 enum msim_coll_held_back what,
                                 const struct msim_coll_held *held)
{
    struct judging j = {.f = f, .b = b, .held = held, .what = what};
    size_t n = (size_t)b->all->n_targets + 1;

    j.misses = malloc(n * sizeof(*j.misses));
    j.errors = malloc(n * sizeof(*j.errors));
    j.variant = malloc(n * sizeof(*j.variant));
    if (!j.misses || !j.errors || !j.variant) {
        free(j.misses);
        free(j.errors);
        free(j.variant);
        return MSIM_ENOMEM;
    }
    collect(&j);
    for (uint32_t i = 0; i < b->all->n_points; i++)
        if ((i == 0 || b->all->points[i].cell != b->all->points[i - 1].cell) &&
            msim_coll_block_owns(b, &b->all->points[i]))
            judge_cell(&j, b->all->points[i].cell);
    free(j.misses);
    free(j.errors);
    free(j.variant);
    return MSIM_OK;
}

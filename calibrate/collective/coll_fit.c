/*
 * calibrate/collective/coll_fit.c - a fit of all collectives of all GPUs
 * together.
 */
#include "calibrate/collective/coll_fit.h"

#include "calibrate/collective/coll_covariance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool msim_coll_is_scored(enum msim_coll_fabric f, enum msim_coll_holdout what)
{
    if (what == MSIM_COLL_HOLD_OUT_CLUSTER)
        return f == MSIM_COLL_NETWORK;
    return what != MSIM_COLL_HOLD_OUT_GPU || f != MSIM_COLL_NETWORK;
}

/* ---- the law alone ------------------------------------------------------- */

/* A group's rows with the times of its targets. NULL: no memory. */
static struct msim_sample *target_rows(const struct msim_coll_points *p,
                                       uint32_t group, uint32_t *n)
{
    const struct msim_coll_group *c = &p->groups[group];
    struct msim_sample *rows = malloc(c->n_rows * sizeof(*rows));

    *n = 0;
    for (uint32_t i = 0; rows && i < p->n_targets; i++) {
        const struct msim_coll_target *t = &p->targets[i];

        if (p->points[t->point].group != group)
            continue;
        rows[*n] = *t->row;
        rows[*n].us = t->us / t->factor;
        rows[(*n)++].sheet = &p->gpus[c->gpu].sheet;
    }
    return rows;
}

/* A fold is whole numbers of ranks; single rows where there is one number. */
static void deal_folds(uint8_t *fold, const struct msim_sample *rows,
                       uint32_t n)
{
    uint32_t groups = 0;

    for (uint32_t i = 0; i < n; i++) {
        groups += i > 0 && rows[i].group != rows[i - 1].group;
        fold[i] = (uint8_t)(groups % MSIM_FOLDS);
    }
    for (uint32_t i = 0; groups == 0 && i < n; i++)
        fold[i] = (uint8_t)(i % MSIM_FOLDS);
}

/* The constants, and the mean error of the law alone on held-out rows. */
static enum msim_status fit_rows(struct msim_fit_result *fit,
                                 const struct msim_sample *rows,
                                 const uint8_t *fold, uint32_t n)
{
    struct msim_law_constants c;
    double sum = 0;

    MSIM_TRY(
        msim_law_fit(&fit->constants, rows[0].law, rows, fold, n, -1, false));
    for (int k = 0; k < MSIM_FOLDS; k++) {
        uint32_t held = 0;

        for (uint32_t i = 0; i < n; i++)
            held += fold[i] == k;
        if (held == 0 || held == n)
            continue;
        MSIM_TRY(msim_law_fit(&c, rows[0].law, rows, fold, n, k, false));
        for (uint32_t i = 0; i < n; i++)
            if (fold[i] == k)
                sum += fabs(msim_law_measured(&c, &rows[i]) / rows[i].us - 1);
    }
    fit->law_held_out.mean = sum / n;
    return MSIM_OK;
}

static enum msim_status fit_law(struct msim_coll_fits *f, uint32_t group)
{
    struct msim_fit_result *fit = &f->fits[group].fit;
    uint32_t n;
    struct msim_sample *rows = target_rows(&f->points, group, &n);
    uint8_t *fold = malloc((size_t)n + 1);
    enum msim_status status = MSIM_ENOMEM;

    if (rows && fold) {
        deal_folds(fold, rows, n);
        status = fit_rows(fit, rows, fold, n);
    }
    fit->rows = n;
    free(rows);
    free(fold);
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

static bool owns_group(const struct msim_coll_block *b, uint32_t group)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct msim_coll_point *p = &b->all->points[b->members[i]];

        if (p->group == group)
            return msim_coll_block_owns(b, p);
    }
    return false;
}

static enum msim_status evaluate(struct msim_coll_fits *f,
                                 const struct msim_coll_block *b,
                                 struct msim_coll_prediction *held,
                                 struct msim_coll_misses *misses)
{
    for (int what = 0; what < MSIM_COLL_HOLDOUTS; what++) {
        if (!msim_coll_is_scored(b->fabric, what))
            continue;
        MSIM_TRY(msim_coll_block_hold_out(b, what, held));
        MSIM_TRY(msim_coll_evaluate(f, b, what, held, &misses[what]));
    }
    return MSIM_OK;
}

static enum msim_status fit_all(struct msim_coll_fits *f,
                                struct msim_coll_block *b,
                                struct msim_coll_misses *misses)
{
    for (uint32_t i = 0; i < f->points.n_groups; i++) {
        if (!owns_group(b, i))
            continue;
        MSIM_TRY(fit_law(f, i));
        MSIM_TRY(msim_coll_curves_make(&f->fits[i], b, misses, i));
    }
    return MSIM_OK;
}

static enum msim_status fit_block(struct msim_coll_fits *f,
                                  struct msim_coll_block *b,
                                  struct msim_coll_prediction *held)
{
    struct msim_coll_misses misses[MSIM_COLL_HOLDOUTS] = {0};
    enum msim_status status = evaluate(f, b, held, misses);

    if (status == MSIM_OK)
        status = fit_all(f, b, misses);
    for (int what = 0; what < MSIM_COLL_HOLDOUTS; what++)
        msim_coll_misses_release(&misses[what]);
    return status;
}

static enum msim_status fit_blocks(struct msim_coll_fits *f,
                                   const struct msim_coll_constants *constants)
{
    struct msim_coll_prediction *held =
        malloc(((size_t)f->points.n_points + 1) * sizeof(*held));
    enum msim_status status = held ? MSIM_OK : MSIM_ENOMEM;

    for (int i = 0; status == MSIM_OK && i < MSIM_COLL_FABRICS; i++) {
        struct msim_coll_block b;

        status = msim_coll_block_init(&b, (enum msim_coll_fabric)i, constants,
                                      &f->points);
        if (status == MSIM_OK && b.n > 0)
            status = fit_block(f, &b, held);
        msim_coll_block_release(&b);
    }
    free(held);
    return status;
}

enum msim_status msim_coll_fit(struct msim_coll_fits *out,
                               const struct msim_samples *samples,
                               const struct msim_coll_constants *constants,
                               const cJSON *sheets, const char *sheet_file,
                               struct msim_error *err)
{
    enum msim_status status;

    MSIM_TRY(msim_coll_fits_init(out, samples, sheets, sheet_file, err));
    if (out->points.n_points == 0)
        return MSIM_OK;
    status = constants
                 ? fit_blocks(out, constants)
                 : msim_fail(err, MSIM_EUNKNOWN, NULL, MSIM_OFFSET_NONE,
                             "collectives were timed, want the constants to "
                             "fit them with (laws/collectives.json)");
    if (status != MSIM_OK)
        msim_coll_fits_release(out);
    return status;
}

/* ---- the result ---------------------------------------------------------- */

enum msim_status msim_coll_fits_init(struct msim_coll_fits *out,
                                     const struct msim_samples *samples,
                                     const cJSON *sheets,
                                     const char *sheet_file,
                                     struct msim_error *err)
{
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    status =
        msim_coll_points_make(&out->points, samples, sheets, sheet_file, err);
    if (status == MSIM_OK) {
        out->fits =
            calloc((size_t)out->points.n_groups + 1, sizeof(*out->fits));
        status = out->fits ? MSIM_OK : MSIM_ENOMEM;
    }
    for (int i = 0; status == MSIM_OK && i < MSIM_COLL_HOLDOUTS; i++) {
        out->held_out[i] = calloc((size_t)out->points.n_targets + 1,
                                  sizeof(*out->held_out[i]));
        status = out->held_out[i] ? MSIM_OK : MSIM_ENOMEM;
    }
    if (status != MSIM_OK)
        msim_coll_fits_release(out);
    return status;
}

void msim_coll_fits_release(struct msim_coll_fits *f)
{
    for (uint32_t i = 0; f->fits && i < f->points.n_groups; i++)
        msim_fit_result_release(&f->fits[i].fit);
    free(f->fits);
    for (int i = 0; i < MSIM_COLL_HOLDOUTS; i++)
        free(f->held_out[i]);
    msim_coll_points_release(&f->points);
    memset(f, 0, sizeof(*f));
}

uint32_t msim_coll_fits_find(const struct msim_coll_fits *f,
                             const struct msim_sample *first)
{
    for (uint32_t i = 0; i < f->points.n_groups; i++)
        if (f->points.groups[i].first == first)
            return i;
    return UINT32_MAX;
}

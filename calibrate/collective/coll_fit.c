/*
 * calibrate/collective/coll_fit.c - fitting all collectives together.
 */
#include "calibrate/collective/coll_fit.h"

#include "calibrate/collective/coll_block.h"
#include "calibrate/collective/coll_curve.h"
#include "calibrate/collective/coll_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Which ways of holding back a fabric is judged by. */
static bool is_judged(enum msim_coll_fabric f, enum msim_coll_held_back what)
{
    if (what == MSIM_COLL_CLUSTER)
        return f == MSIM_COLL_NETWORK;
    return what != MSIM_COLL_GPU || f != MSIM_COLL_NETWORK;
}

/* ---- the law alone -------------------------------------------------------
 */

/* A cell's rows with the times that they are judged by. */
static struct msim_sample *judged_rows(const struct msim_coll_points *p,
                                       uint32_t fit, uint32_t *n)
{
    const struct msim_coll_group *c = &p->fits[fit];
    struct msim_sample *rows = malloc(c->n_rows * sizeof(*rows));

    *n = 0;
    for (uint32_t i = 0; rows && i < p->n_targets; i++) {
        const struct msim_coll_target *t = &p->targets[i];

        if (p->points[t->point].fit != fit)
            continue;
        rows[*n] = *t->row;
        rows[*n].us = t->us / t->factor;
        rows[(*n)++].sheet = &p->gpus[c->gpu].sheet;
    }
    return rows;
}

/* Whole numbers of ranks; rows where there is one only. */
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

/* The constants, and the mean error of the law alone on rows held back. */
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
    struct msim_sample *rows = judged_rows(&f->points, group, &n);
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

static bool owns_fit(const struct msim_coll_block *b, uint32_t fit)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct msim_coll_point *p = &b->all->points[b->members[i]];

        if (p->fit == fit)
            return msim_coll_block_owns(b, p);
    }
    return false;
}

static enum msim_status judge_all(struct msim_coll_fits *f,
                                  const struct msim_coll_block *b,
                                  struct msim_coll_held *held,
                                  struct msim_coll_misses *misses)
{
    for (int what = 0; what < MSIM_COLL_HELD_BACK; what++) {
        if (!is_judged(b->fabric, what))
            continue;
        MSIM_TRY(msim_coll_block_hold_back(b, what, held));
        MSIM_TRY(msim_coll_score_all(f, b, what, held, &misses[what]));
    }
    return MSIM_OK;
}

static enum msim_status fit_all(struct msim_coll_fits *f,
                                struct msim_coll_block *b,
                                struct msim_coll_misses *misses)
{
    for (uint32_t i = 0; i < f->points.n_fits; i++) {
        if (!owns_fit(b, i))
            continue;
        MSIM_TRY(fit_law(f, i));
        MSIM_TRY(msim_coll_curves_make(&f->fits[i], b, misses, i));
    }
    return MSIM_OK;
}

static enum msim_status fit_block(struct msim_coll_fits *f,
                                  struct msim_coll_block *b,
                                  struct msim_coll_held *held)
{
    struct msim_coll_misses misses[MSIM_COLL_HELD_BACK] = {0};
    enum msim_status status;

    MSIM_TRY(msim_coll_block_make(b, &f->points));
    if (b->n == 0)
        return MSIM_OK;
    status = judge_all(f, b, held, misses);
    if (status == MSIM_OK)
        status = fit_all(f, b, misses);
    for (int what = 0; what < MSIM_COLL_HELD_BACK; what++)
        msim_coll_misses_release(&misses[what]);
    return status;
}

static enum msim_status fit_blocks(struct msim_coll_fits *f)
{
    struct msim_coll_held *held =
        malloc(((size_t)f->points.n_points + 1) * sizeof(*held));
    enum msim_status status = held ? MSIM_OK : MSIM_ENOMEM;

    for (int i = 0; status == MSIM_OK && i < MSIM_COLL_FABRICS; i++) {
        struct msim_coll_block b = {.fabric = i};

        status = fit_block(f, &b, held);
        msim_coll_block_release(&b);
    }
    free(held);
    return status;
}

enum msim_status msim_coll_fit(struct msim_coll_fits *out,
                               const struct msim_samples *samples,
                               const cJSON *sheets, const char *sheet_file,
                               struct msim_error *err)
{
    enum msim_status status;

    memset(out, 0, sizeof(*out));
    status =
        msim_coll_points_make(&out->points, samples, sheets, sheet_file, err);
    if (status == MSIM_OK) {
        out->fits = calloc((size_t)out->points.n_fits + 1, sizeof(*out->fits));
        status = out->fits ? MSIM_OK : MSIM_ENOMEM;
        for (int i = 0; status == MSIM_OK && i < MSIM_COLL_HELD_BACK; i++) {
            out->held[i] = calloc((size_t)out->points.n_targets + 1,
                                  sizeof(*out->held[i]));
            status = out->held[i] ? MSIM_OK : MSIM_ENOMEM;
        }
        if (status == MSIM_OK)
            status = fit_blocks(out);
    }
    if (status != MSIM_OK)
        msim_coll_fits_release(out);
    return status;
}

void msim_coll_fits_release(struct msim_coll_fits *f)
{
    for (uint32_t i = 0; f->fits && i < f->points.n_fits; i++)
        msim_fit_result_release(&f->fits[i].fit);
    free(f->fits);
    for (int i = 0; i < MSIM_COLL_HELD_BACK; i++)
        free(f->held[i]);
    msim_coll_points_release(&f->points);
    memset(f, 0, sizeof(*f));
}

uint32_t msim_coll_fits_find(const struct msim_coll_fits *f,
                             const struct msim_sample *first)
{
    for (uint32_t i = 0; i < f->points.n_fits; i++)
        if (f->points.fits[i].first == first)
            return i;
    return UINT32_MAX;
}

/*
 * predict/learn/fit_rows.c - the clock at which the models err least, in the
 * mean over kinds of work, where that is clearly less than at the usual clock;
 * then the factors at that clock.
 */
#include "predict/learn/learn_internal.h"

#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>

static bool counts(const struct msim_learn_split *s, uint32_t row)
{
    return s->fold[row] != s->without;
}

/* The error of the models as a logarithm at a clock: the mean over kinds of
 * each one's mean over its rows. `sums` has room for two figures a kind. */
static double off_by(const struct msim_learn_rows *rows,
                     const struct msim_learn_split *split, int clock,
                     double *sums, uint32_t kinds)
{
    double *times = sums + kinds, off = 0;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < 2 * kinds; i++)
        sums[i] = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct msim_learn_row *r = &rows->rows[i];

        if (!counts(split, i))
            continue;
        sums[r->name] += fabs(log(r->us / r->model_us[clock]));
        times[r->name]++;
    }
    for (uint32_t i = 0; i < kinds; i++) {
        off += times[i] > 0 ? sums[i] / times[i] : 0;
        seen += times[i] > 0;
    }
    return off / (seen ? seen : 1);
}

static enum msim_status find_clock(int *clock,
                                   const struct msim_learn_rows *rows,
                                   const struct msim_learn_split *split,
                                   uint32_t kinds)
{
    double *sums = calloc((size_t)2 * kinds + 1, sizeof(*sums));
    double least, usual, off;

    *clock = 0;
    if (!sums)
        return MSIM_ENOMEM;
    usual = least = off_by(rows, split, 0, sums, kinds);
    for (int c = 1; c < MSIM_LEARN_CLOCKS; c++) {
        off = off_by(rows, split, c, sums, kinds);
        if (off < least &&
            off < MSIM_FACT(NULL, EVIDENCE_CLOCK_BELIEVED) * usual) {
            least = off;
            *clock = c;
        }
    }
    free(sums);
    return MSIM_OK;
}

enum msim_status msim_learn_fit_rows(struct msim_learn_fit *out,
                                     const struct msim_learn_rows *rows,
                                     const struct msim_learn_split *split)
{
    struct msim_observation *seen = calloc((size_t)rows->n + 1, sizeof(*seen));
    uint32_t kinds = msim_strtab_count(rows->kinds), n = 0;
    enum msim_status status;

    *out = (struct msim_learn_fit){0};
    if (!seen)
        return MSIM_ENOMEM;
    status = find_clock(&out->clock, rows, split, kinds);
    for (uint32_t i = 0; i < rows->n; i++) {
        const struct msim_learn_row *r = &rows->rows[i];

        if (counts(split, i))
            seen[n++] = (struct msim_observation){r->name,
                                                  r->kin,
                                                  r->family,
                                                  r->us,
                                                  r->model_us[out->clock],
                                                  r->start_us[out->clock]};
    }
    if (status == MSIM_OK)
        status = msim_levels_fit(&out->levels, seen, n, kinds);
    free(seen);
    return status;
}

double msim_learn_us(const struct msim_learn_fit *fit,
                     const struct msim_learn_row *row)
{
    return msim_level_apply(
        msim_levels_of(&fit->levels, row->name, row->kin, row->family),
        row->model_us[fit->clock], row->start_us[fit->clock], NULL);
}

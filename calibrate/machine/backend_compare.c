/*
 * calibrate/machine/backend_compare.c - two backends on the same experiments.
 */
#include "calibrate/machine/machine_internal.h"

#include "core/base/containers.h"
#include "core/base/quantile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ratios {
    double *list; /* owned */
    uint32_t n, capacity;
};

/* Where ratios of these two belong; NULL where there is no room. */
static struct ratios *ratios_of(struct msim_cal_differences *d,
                                struct ratios *ratios,
                                const struct msim_cal_entry *a,
                                const struct msim_cal_entry *b)
{
    enum msim_table table = a->experiment.timed.table;
    struct msim_cal_difference *to;
    uint32_t i = 0;

    while (i < d->n && (d->list[i].table != table ||
                        strcmp(d->list[i].backend, a->backend) != 0 ||
                        strcmp(d->list[i].other, b->backend) != 0))
        i++;
    if (i == MSIM_CAL_DIFFERENCES)
        return NULL;
    if (i < d->n)
        return &ratios[i];
    to = &d->list[d->n++];
    *to = (struct msim_cal_difference){.table = table};
    snprintf(to->backend, sizeof(to->backend), "%s", a->backend);
    snprintf(to->other, sizeof(to->other), "%s", b->backend);
    return &ratios[i];
}

static enum msim_status add_pair(struct msim_cal_differences *d,
                                 struct ratios *ratios,
                                 const struct msim_cal_entry *a,
                                 const struct msim_cal_entry *b)
{
    struct ratios *r = ratios_of(d, ratios, a, b);

    if (!r)
        return MSIM_OK;
    MSIM_TRY(
        msim_grow((void **)&r->list, &r->capacity, r->n, sizeof(*r->list)));
    r->list[r->n++] = msim_cal_entry_us(a) / msim_cal_entry_us(b);
    return MSIM_OK;
}

/* Pairs of row `b` with the rows before it of the same experiment. */
static enum msim_status add_pairs_of(struct msim_cal_differences *d,
                                     struct ratios *ratios,
                                     const struct msim_cal_journal *j,
                                     uint32_t b)
{
    const struct msim_cal_entry *later = &j->entries[b];

    for (uint32_t a = 0; a < b; a++) {
        const struct msim_cal_entry *e = &j->entries[a];

        if (e->experiment_hash == later->experiment_hash &&
            msim_cal_entry_is_row(e) && msim_cal_entry_is_row(later) &&
            strcmp(e->backend, later->backend) != 0)
            MSIM_TRY(add_pair(d, ratios, e, later));
    }
    return MSIM_OK;
}

static enum msim_status add_pairs(struct msim_cal_differences *d,
                                  struct ratios *ratios,
                                  const struct msim_cal_journal *j)
{
    for (uint32_t i = 0; i < j->n; i++)
        MSIM_TRY(add_pairs_of(d, ratios, j, i));
    return MSIM_OK;
}

enum msim_status msim_cal_compare(struct msim_cal_differences *out,
                                  const struct msim_cal_journal *j)
{
    struct ratios ratios[MSIM_CAL_DIFFERENCES] = {{0}};
    enum msim_status status;

    out->n = 0;
    status = j->n_greetings > 1 ? add_pairs(out, ratios, j) : MSIM_OK;
    for (uint32_t i = 0; i < out->n; i++) {
        struct msim_cal_difference *d = &out->list[i];

        msim_sort_values(ratios[i].list, ratios[i].n);
        d->pairs = ratios[i].n;
        d->median = msim_quantile(ratios[i].list, ratios[i].n, 0.5);
        d->p10 = msim_quantile(ratios[i].list, ratios[i].n, 0.1);
        d->p90 = msim_quantile(ratios[i].list, ratios[i].n, 0.9);
        free(ratios[i].list);
    }
    return status;
}
